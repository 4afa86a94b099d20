"""Reading a network of another tool as an attack of exact tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attack.parts import Node
from reidbn.calls import typed
from reidbn.cpds.rows import TOLERANCE, Table
from reidbn.errors import DataError, ModelError, UsageError
from reidbn.inference.interchange.bif import read_bif
from reidbn.inference.interchange.formats import format_of
from reidbn.inference.interchange.names import safe_for_attacks
from reidbn.inference.interchange.xdsl import read_xdsl
from reidbn.inference.interchange.xmlbif import read_xmlbif
from reidbn.inference.plain import PlainNode

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
    """
    return read_network(source, name=name, normalise=normalise).attack


def read_network(source: Any, *, name: str | None = None, normalise: bool = False) -> Imported:
    """Like `import_network`, with the renamed names beside the attack."""
    nodes, where = _nodes(source)
    safe = safe_for_attacks([_summing_to_one(n, where, normalise=normalise) for n in nodes])
    origin = f"imported from {where}"
    attack = Attack(
        name=name or _plain_name(source),
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
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"no file {path}") from None
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


def _plain_name(source: Any) -> str:
    return Path(source).stem if isinstance(source, str | Path) else "imported"
