"""XMLBIF 0.3: the same as BIF in XML; read exactly by most Bayesian network tools."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import numpy as np

from reidbn.errors import ModelError
from reidbn.inference.interchange.names import Originals, kept, safe_for_files
from reidbn.inference.network import PlainNode

# No DOCTYPE: its grammar stops pyAgrum's parser, and no reader needs it.
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'


def write_xmlbif(nodes: Sequence[PlainNode], *, title: str, notes: Sequence[str]) -> str:
    """The nodes as XMLBIF; `notes` become comments.

    In a TABLE the states of the node vary fastest, then the last GIVEN; the first is slowest.
    """
    safe = safe_for_files(nodes)
    lines = [_HEAD, *(f"<!-- {comment(note)} -->" for note in notes)]
    lines += ['<BIF VERSION="0.3">', "<NETWORK>", f"<NAME>{escape(title)}</NAME>"]
    for old, node in zip(nodes, safe.nodes, strict=True):
        lines += ['<VARIABLE TYPE="nature">', f"  <NAME>{node.name}</NAME>"]
        lines += [f"  <OUTCOME>{state}</OUTCOME>" for state in node.states]
        lines += [f"  <PROPERTY>{note}</PROPERTY>" for note in kept(old, node)]
        lines.append("</VARIABLE>")
    for node in safe.nodes:
        lines += ["<DEFINITION>", f"  <FOR>{node.name}</FOR>"]
        lines += [f"  <GIVEN>{parent}</GIVEN>" for parent in node.parents]
        numbers = "\n    ".join(" ".join(repr(float(p)) for p in row) for row in node.rows)
        lines += [f"  <TABLE>\n    {numbers}\n  </TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"


def read_xmlbif(text: str, where: str) -> list[PlainNode]:
    """The nodes of an XMLBIF text; `where` names it in errors."""
    root = parsed(text, where)
    network = root if root.tag == "NETWORK" else root.find("NETWORK")
    if network is None:
        raise ModelError(f"{where}: no NETWORK element; is this XMLBIF?")
    states: dict[str, tuple[str, ...]] = {}
    originals = Originals()
    for variable in network.findall("VARIABLE"):
        name = _text(variable, "NAME", where)
        outcomes = [*variable.findall("OUTCOME"), *variable.findall("VALUE")]
        states[name] = tuple(_content(o) for o in outcomes)
        for note in variable.findall("PROPERTY"):
            originals.note(name, _content(note))
    definitions = [*network.findall("DEFINITION"), *network.findall("PROBABILITY")]
    nodes = [_node(d, states, where) for d in definitions]
    defined = {n.name for n in nodes}
    for name in states:
        if name not in defined:
            raise ModelError(f"{where}: no DEFINITION of {name}")
    return originals.restore(nodes)


def _node(
    definition: ElementTree.Element, states: dict[str, tuple[str, ...]], where: str
) -> PlainNode:
    name = _text(definition, "FOR", where)
    parents = tuple(_content(given) for given in definition.findall("GIVEN"))
    for variable in (name, *parents):
        if not states.get(variable):
            raise ModelError(f'{where}: DEFINITION of {name}: no VARIABLE "{variable}" with states')
    shape = [len(states[v]) for v in (*parents, name)]
    table = definition.find("TABLE")
    words = "" if table is None else _content(table)
    return PlainNode(name, states[name], parents, numbers(words, shape, f"{where}: {name}"))


def numbers(words: str, shape: Sequence[int], where: str) -> np.ndarray:
    """Blank-separated numbers as a table of the given shape, the last axis fastest."""
    try:
        values = np.array([float(word) for word in words.split()])
    except ValueError:
        raise ModelError(f"{where}: its table holds something that is no number") from None
    if values.size != np.prod(shape):
        raise ModelError(
            f"{where}: its table has {values.size} numbers; {np.prod(shape)} belong here"
        )
    return values.reshape(shape)


def parsed(text: str, where: str, *, comments: bool = False) -> ElementTree.Element:
    """The root of an XML text; one that declares entities is refused, whatever they are for."""
    if re.search(r"<!ENTITY", text):
        raise ModelError(f"{where}: declares XML entities, which a network has no use for")
    builder = ElementTree.TreeBuilder(insert_comments=comments)
    try:
        parser = ElementTree.XMLParser(target=builder, encoding="utf-8")  # noqa: S314
        return ElementTree.fromstring(text.encode(), parser)  # noqa: S314 - no entities in it
    except ElementTree.ParseError as problem:
        raise ModelError(f"{where}:{problem.position[0]}: not well-formed XML: {problem}") from None


def comment(text: str) -> str:
    """A text that may stand in an XML comment."""
    return escape(re.sub(r"-(?=-|$)", "- ", text))


def _content(element: ElementTree.Element) -> str:
    return "".join(element.itertext()).strip()


def _text(element: ElementTree.Element, tag: str, where: str) -> str:
    found = element.find(tag)
    if found is None or not _content(found):
        raise ModelError(f"{where}: a {element.tag} has no {tag}")
    return _content(found)
