"""Which formats there are, and which one the ending of a file name means.

Reading a network of another tool as an attack of exact tables.

Writing an attack, for one subject at one setting, in a format that other tools read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attack.modelfile import load
from reidbn.attack.parts import Node
from reidbn.calls import typed
from reidbn.cpds.rows import TOLERANCE, Table
from reidbn.errors import DataError, ModelError, UsageError, did_you_mean
from reidbn.inference.interchange.bif import read_bif, write_bif
from reidbn.inference.interchange.dot import write_dot
from reidbn.inference.interchange.names import safe_for_attacks
from reidbn.inference.interchange.xdsl import read_xdsl, write_xdsl
from reidbn.inference.interchange.xmlbif import read_xmlbif, write_xmlbif
from reidbn.inference.lowering import lower
from reidbn.inference.network import PlainNode, plain_nodes
from reidbn.inference.policies import GIVEN, OF_TIED, refuse_undecided
from reidbn.inference.values import check_settings, parameter_values
from reidbn.limits import regular
from reidbn.release.writing import write_text

FORMATS = ("bif", "xmlbif", "xdsl", "dot")
_SUFFIXES = {".bif": "bif", ".xml": "xmlbif", ".xmlbif": "xmlbif", ".bifxml": "xmlbif",
             ".xdsl": "xdsl", ".dot": "dot", ".gv": "dot"}  # fmt: skip


def format_of(path: Path, known: Collection[str]) -> str:
    format = _SUFFIXES.get(path.suffix.lower(), "")
    if format not in known:
        endings = ", ".join(s for s, f in _SUFFIXES.items() if f in known)
        raise UsageError(f"{path.name}: the ending says no format; use one of {endings}")
    return format


# -- reading a network of another tool as an attack of exact tables --------------------------------


_READERS = {"bif": read_bif, "xmlbif": read_xmlbif, "xdsl": read_xdsl}


@dataclass(frozen=True)
class Imported:
    """An imported attack, and what had to be renamed: new name -> what it was."""

    attack: Attack
    names: Mapping[str, Hashable]
    states: Mapping[str, Mapping[str, Hashable]]


@typed
def import_network(source: Any, *, name: str | None = None, normalise: bool = False) -> Attack:
    """A BIF, XMLBIF or XDSL file, or a pgmpy model, as an Attack of exact tables.

    Names that cannot stand in an attack are changed; the attack's story lists them.

    `source` is the file or model, `name` the attack's name; `normalise` makes rows that do not
    quite add up to 1 do so.
    """
    return read_network(source, name=name, normalise=normalise).attack


@typed
def read_network(source: Any, *, name: str | None = None, normalise: bool = False) -> Imported:
    """Like `import_network`, with the renamed names beside the attack."""
    nodes, where = _nodes(source)
    safe = safe_for_attacks([_summing_to_one(n, where, normalise=normalise) for n in nodes])
    origin = f"imported from {where}"
    attack = Attack(
        name=name or (Path(source).stem if isinstance(source, str | Path) else "imported"),
        title=f"Imported from {where}",
        story=f"Renamed: {safe}" if str(safe) else "",
        sources=(origin,),
        nodes=[
            Node(n.name, n.states, Table(tuple(map(tuple, n.rows.tolist()))), n.parents,
                 story=f'Called "{safe.names[n.name]}" there' if n.name in safe.names else "",
                 source=origin)
            for n in safe.nodes
        ],  # type: ignore[arg-type]
    )  # fmt: skip
    return Imported(attack, safe.names, safe.states)


def _nodes(source: Any) -> tuple[list[PlainNode], str]:
    if not isinstance(source, str | Path):
        from reidbn.inference.pgmpy_bridge import tables

        return tables(source), "a pgmpy model"
    path = Path(source)
    format = format_of(path, _READERS)
    try:
        text = regular(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"no file {path}") from None
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path.name} is not UTF-8 text") from None
    return _READERS[format](text, path.name), path.name


def _summing_to_one(node: PlainNode, where: str, *, normalise: bool) -> PlainNode:
    rows = node.rows
    totals = rows.sum(axis=1)
    if not (np.isfinite(rows).all() and (rows >= 0).all() and (totals > 0).all()):
        raise ModelError(
            f"{where}: the table of {node.name} holds something that is no probability"
        )
    gap = float(np.abs(totals - 1).max())
    if gap <= TOLERANCE:
        return node
    if not normalise:
        raise ModelError(
            f"{where}: the probabilities of {node.name} sum to 1 only within {gap:.3g}; they must "
            f"within 1e-12, or be rescaled with normalise=True"
        )
    table = (rows / totals[:, None]).reshape(node.table.shape)
    return PlainNode(node.name, node.states, node.parents, table)


# -- writing an attack, for one subject at one setting, in a format that ot ------------------------


_WRITERS: dict[str, Callable[..., str]] = {
    "bif": write_bif, "xmlbif": write_xmlbif, "xdsl": write_xdsl,
}  # fmt: skip


@typed
def export(
    attack: Attack | str,
    path: str | Path,
    format: str | None = None,
    *,
    set: Mapping[str, float] | None = None,
    subject: Mapping[str, Any] | None = None,
    beyond_range: bool = False,
) -> Path:
    """Write an attack, for one subject at one setting, as a file for other tools.

    `path` is the file and `format` bif, xmlbif, xdsl or dot (by default what the path ends in).
    `set` gives parameters values, `beyond_range` also takes those outside declared ranges, and
    `subject` is what a table says of one person.
    """
    path = Path(path)
    text = export_text(attack, format or format_of(path, FORMATS), set=set, subject=subject,
                       beyond_range=beyond_range)  # fmt: skip
    return write_text(text, path)


@typed
def export_text(
    attack: Attack | str,
    format: str,
    *,
    set: Mapping[str, float] | None = None,
    subject: Mapping[str, Any] | None = None,
    beyond_range: bool = False,
) -> str:
    """What `export` writes.

    >>> print(export_text("leak-single", "bif", set={"class_size": 1}).splitlines()[-2])
        ( yes, 1 ) 0.0, 1.0;
    """
    if format not in FORMATS:
        raise UsageError(f'no format "{format}"; {did_you_mean(format, FORMATS)}')
    attack = load(attack)
    check_settings(attack, set, beyond_range=beyond_range, all_numbers=True)
    if format == "dot":
        return write_dot(attack, parameter_values(attack, set))
    refuse_undecided(attack, f"a {format} file as it is written here")
    network = lower(attack, set, subject)
    if network.subjects > 1 or network.settings > 1:
        raise UsageError(
            f"a file holds one subject at one setting; got {network.subjects} subjects and "
            f"{network.settings} settings"
        )
    return _WRITERS[format](plain_nodes(network), title=attack.name, notes=_notes(attack, set))


def _notes(attack: Attack, settings: Mapping[str, float] | None) -> list[str]:
    """Where the numbers come from: no format can carry parameters, so they stand in comments."""
    values = parameter_values(attack, settings)
    notes = [f"{attack.name}: {attack.title}" if attack.title else attack.name,
             f"written by reidbn {metadata.version('reidbn')}"]  # fmt: skip
    for p in attack.parameters.values():
        low, high = p.range
        source = "changed" if values[p.name][0] != p.value else p.source
        notes.append(
            f"parameter {p.name} = {values[p.name][0]:.12g} ({low:.12g} to {high:.12g} {p.unit}); "
            f"source: {source}"
        )
    for number in attack.numbers.values():
        value = f"{values[number.name][0]:.12g}" if number.name in values else "per person"
        source = "; changed" if number.name in (settings or {}) else ""
        notes.append(f"number {number.name} = {number.formula} = {value}{source}")
    given = (n.name for n in attack.nodes.values() if GIVEN in n.story)
    notes += [f"{name}: decided by the attacker, here by a {GIVEN.strip('()')}" for name in given]
    notes += [f"{n.name}: {OF_TIED}" for n in attack.nodes.values() if OF_TIED in n.story]
    if attack.subject:
        notes.append(f"subject data of one person: {', '.join(attack.subject)}")
    return [" ".join(note.split()) for note in notes]
