"""Slips that are legal but rarely meant: each one changes an answer, or a report, in silence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.cells import LINDDUN
from reidbn.attack.leaves import Where
from reidbn.attack.parts import Node, SubjectColumn
from reidbn.cpds.logic import Mixture
from reidbn.cpds.protocol import CPD, NO, YES
from reidbn.cpds.rows import Rows
from reidbn.errors import WARNING, Problem

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack

_PEOPLE = ("records", "people", "patients", "persons", "individuals")
_SIZES = ("of", "class_size")  # fields of CPDs that hold the size of a class
_TREE = re.compile(r"(L|I|Nr?|D|DD|U|Nc?)(\.\d+)*\Z")  # of the threat trees, such as I.2.1
# Other names of the threat types: earlier editions of LINDDUN, and common forms of the words.
_SYNONYMS = {
    "linkability": "Linking",
    "linkable": "Linking",
    "identifiability": "Identifying",
    "identification": "Identifying",
    "nonrepudiation": "Non-repudiation",
    "detectability": "Detecting",
    "disclosureofinformation": "Data disclosure",
    "informationdisclosure": "Data disclosure",
    "disclosure": "Data disclosure",
    "unawareness": "Unawareness and unintervenability",
    "contentunawareness": "Unawareness and unintervenability",
    "unintervenability": "Unawareness and unintervenability",
    "unawarenessunintervenability": "Unawareness and unintervenability",
    "noncompliance": "Non-compliance",
    "policyandconsentnoncompliance": "Non-compliance",
}


def slips(attack: Attack) -> Iterator[Problem]:
    """Everything in an attack that is probably not what its author meant."""
    for node in attack.nodes.values():
        yield from _lists(node.cpd, node, ("nodes", node.name, "cpd"))
        for i, tag in enumerate(node.linddun):
            if not is_threat_type(tag):
                message = f'"{tag}" is no LINDDUN threat type; {_nearest(tag)}'
                yield Problem(("nodes", node.name, "linddun", i), message, level=WARNING)


# -- lists whose order is easily mistaken ---------------------------------------------------------


def _lists(cpd: Any, node: Node, where: Where) -> Iterator[Problem]:
    """[$p, rest] on a yes/no node: the first cell is the chance of its first state."""
    if isinstance(cpd, Mixture):
        for i, component in enumerate(cpd.components):
            yield from _lists(component, node, (*where, "components", i))
    if not isinstance(cpd, Rows) or isinstance(node.states, str) or {*node.states} != {YES, NO}:
        return
    for i, row in enumerate(cpd.rows):
        if isinstance(row.p, tuple) and any(isinstance(cell, str) for cell in row.p):
            cells = zip(node.states, row.p, strict=True)
            meant = ", ".join(f"{state}: {_cell(cell)}" for state, cell in cells)
            message = (
                f"means {{{meant}}}, in the order of the states; "
                f"write it by name, so that no order can be mistaken"
            )
            yield Problem((*where, "rows", i, "p"), message, level=WARNING)


def _cell(cell: Any) -> str:
    return cell if isinstance(cell, str) else f"{cell:.12g}"


# -- LINDDUN --------------------------------------------------------------------------------------


def is_threat_type(tag: str) -> bool:
    """True for a LINDDUN threat type, by any of its names or its place in the threat trees.

    >>> is_threat_type("identifiability"), is_threat_type("I.2.1"), is_threat_type("Identifing")
    (True, True, False)
    """
    return _bare(tag) in _KNOWN or _TREE.match(tag) is not None


def _bare(tag: str) -> str:
    return re.sub(r"[^a-z]", "", tag.lower())


_KNOWN = {_bare(name): name for name in LINDDUN} | _SYNONYMS


def _nearest(tag: str) -> str:
    near = get_close_matches(_bare(tag), _KNOWN, n=1)
    if near:
        return f'did you mean "{_KNOWN[near[0]]}"?'
    return f"known: {', '.join(LINDDUN)}"


# -- classes that grow when more is known ---------------------------------------------------------


def holds_class_sizes(attack: Attack, column: SubjectColumn) -> bool:
    """True for a column with the number of people who match, per subset of what is known."""
    if column.per is None:
        return False
    return column.unit.strip().lower() in _PEOPLE or any(
        _is_size(node.cpd, f"@{column.name}") for node in attack.nodes.values()
    )


def _is_size(cpd: Any, ref: str) -> bool:
    if isinstance(cpd, Mixture):
        return any(_is_size(component, ref) for component in cpd.components)
    return isinstance(cpd, CPD) and any(
        f.name in _SIZES and getattr(cpd, f.name) == ref for f in fields(cpd)
    )


def growing_class(sizes: NDArray[Any], members: tuple[str, ...]) -> tuple[int, int, str] | None:
    """Where a class grows when one more member is known: both subsets, and a message.

    `sizes` has one value per subset on its last axis, in the order of a binary counter.
    """
    subsets = np.arange(sizes.shape[-1])
    for j, member in enumerate(members):
        less = subsets[(subsets >> j & 1) == 0]
        more = less | 1 << j
        grows = (sizes[..., more] > sizes[..., less] * (1 + 1e-9)).reshape(-1, len(less)).any(0)
        if grows.any():
            at = int(np.argmax(grows))
            known = [m for i, m in enumerate(members) if less[at] >> i & 1]
            besides = f"{member} is known besides {', '.join(known)}" if known else f"{member} is"
            besides += "" if known else " known"
            order = ", ".join(_subset(i, members) for i in range(min(4, len(subsets))))
            message = (
                f"a class grows when {besides}; whoever matches on more also matches on less. "
                f"The values stand in this order: {order}" + (", ..." if len(subsets) > 4 else "")
            )
            return int(less[at]), int(more[at]), message
    return None


def _subset(mask: int, members: tuple[str, ...]) -> str:
    return " with ".join(m for i, m in enumerate(members) if mask >> i & 1) or "nothing"
