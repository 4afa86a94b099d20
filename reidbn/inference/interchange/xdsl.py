"""XDSL: the files of GeNIe and SMILE.

In `probabilities` the states of the node vary fastest, then the last parent, and the first parent
is slowest: for parents "either bronc" the four P(yes) of a GeNIe-written Asia file read .1 .8 .7
.9.  Identifiers start with a letter; what a name was is kept in a comment, and GeNIe shows the
node's own name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from reidbn.errors import ModelError
from reidbn.inference.interchange.names import Originals, kept, safe_for_files
from reidbn.inference.interchange.xmlbif import comment, numbers, parsed
from reidbn.inference.network import PlainNode

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 110, 48, 40, 60  # of a node on GeNIe's canvas


def write_xdsl(nodes: Sequence[PlainNode], *, title: str, notes: Sequence[str]) -> str:
    """The nodes as XDSL, with a place on the canvas for each."""
    safe = safe_for_files(nodes, letter_first=True)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', *(f"<!-- {comment(n)} -->" for n in notes)]
    identifier = re.sub(r"\W+", "_", title, flags=re.ASCII).strip("_") or "network"
    identifier = identifier if identifier[0].isalpha() else f"n{identifier}"
    lines += [f'<smile version="1.0" id="{identifier}" numsamples="10000" discsamples="10000">',
              "  <nodes>"]  # fmt: skip
    for old, node in zip(nodes, safe.nodes, strict=True):
        lines.append(f'    <cpt id="{node.name}">')
        lines += [f"      <!-- {note} -->" for note in kept(old, node)]
        lines += [f'      <state id="{state}" />' for state in node.states]
        if node.parents:
            lines.append(f"      <parents>{' '.join(node.parents)}</parents>")
        values = " ".join(repr(float(p)) for p in node.table.reshape(-1))
        lines += [f"      <probabilities>{values}</probabilities>", "    </cpt>"]
    lines += ["  </nodes>", "  <extensions>"]
    lines.append(f'    <genie version="1.0" app="reidbn" name={quoteattr(title)} '
                 'faultnameformat="nodestate">')  # fmt: skip
    places = _places(safe.nodes)
    for old, node in zip(nodes, safe.nodes, strict=True):
        lines += [
            f'      <node id="{node.name}">',
            f"        <name>{escape(old.name)}</name>",
            '        <interior color="e5f6f7" />',
            '        <outline color="000080" />',
            '        <font color="000000" name="Arial" size="8" />',
            f"        <position>{' '.join(map(str, places[node.name]))}</position>",
            "      </node>",
        ]
    return "\n".join([*lines, "    </genie>", "  </extensions>", "</smile>"]) + "\n"


def _places(nodes: Sequence[PlainNode]) -> dict[str, tuple[int, int, int, int]]:
    """Left, top, right and bottom: every node one row below its lowest parent."""
    rows: dict[str, int] = {}
    used: dict[int, int] = {}
    places = {}
    for node in nodes:
        row = rows[node.name] = max((rows[p] + 1 for p in node.parents), default=0)
        column = used[row] = used.get(row, -1) + 1
        left = 20 + column * (_WIDTH + _GAP_X)
        top = 20 + row * (_HEIGHT + _GAP_Y)
        places[node.name] = (left, top, left + _WIDTH, top + _HEIGHT)
    return places


def read_xdsl(text: str, where: str) -> list[PlainNode]:
    """The nodes of an XDSL text that holds chance nodes with plain tables."""
    found = parsed(text, where, comments=True).find("nodes")
    if found is None:
        raise ModelError(f"{where}: no nodes element; is this XDSL?")
    states: dict[str, tuple[str, ...]] = {}
    nodes, originals = [], Originals()
    for cpt in found:
        if _is_comment(cpt):
            continue
        name = cpt.get("id", "")
        if cpt.tag != "cpt":
            raise ModelError(f"{where}: {name} is a {cpt.tag} node; only plain cpt nodes are read")
        states[name] = tuple(state.get("id", "") for state in cpt.findall("state"))
        for note in filter(_is_comment, cpt):
            originals.note(name, note.text or "")
        nodes.append(_node(cpt, name, states, where))
    return originals.restore(nodes)


def _is_comment(element: ElementTree.Element) -> bool:
    return not isinstance(element.tag, str)  # the tag of a comment is the function that makes one


def _node(
    cpt: ElementTree.Element, name: str, states: dict[str, tuple[str, ...]], where: str
) -> PlainNode:
    parents = tuple((cpt.findtext("parents") or "").split())
    for variable in (name, *parents):
        if not states.get(variable):
            raise ModelError(f'{where}: {name}: no node "{variable}" with states above it')
    shape = [len(states[v]) for v in (*parents, name)]
    table = numbers(cpt.findtext("probabilities") or "", shape, f"{where}: {name}")
    return PlainNode(name, states[name], parents, table)
