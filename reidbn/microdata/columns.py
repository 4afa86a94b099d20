"""One coded column: the values behind its codes, and which of them match."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import did_you_mean
from reidbn.microdata.hierarchy import Hierarchy
from reidbn.microdata.matching import Relation, wildcard

_DATUM = re.compile(r"[\d\s.,:/+-]*\d[\d\s.,:/+-]*")


def may_be_a_person(header: Sequence[str]) -> bool:
    """Whether a header holds numbers or dates: where a file has no header, it is a person's row.

    >>> may_be_a_person(["age", "zip5"]), may_be_a_person(["M", "1970-01-02"])
    (False, True)
    """
    return any(_DATUM.fullmatch(str(name)) for name in header)


def instead_of(name: str, header: Sequence[str]) -> str:
    """The end of a message about a column that is not there; no person's row is shown."""
    if may_be_a_person(header):
        return "the header holds numbers or dates; its cells must be the names of the columns"
    return did_you_mean(name, header)


@dataclass(frozen=True, eq=False)
class Column:
    """The values behind one column's codes: `labels[code]`; None is last where some are missing."""

    name: str
    labels: NDArray[Any]
    hierarchy: Hierarchy | None = None
    relation: Relation | None = None
    """Which codes match beside themselves; None when matching is equality."""
    level: int = 0
    """How far the column was generalised."""

    @property
    def cardinality(self) -> int:
        return int(self.labels.size)

    @property
    def has_missing(self) -> bool:
        return self.labels.dtype == object and self.labels.size > 0 and self.labels[-1] is None


def column_of(
    name: str,
    labels: NDArray[Any],
    *,
    hierarchy: Hierarchy | None = None,
    missing: str = "value",
    level: int = 0,
) -> Column:
    """A column whose relation follows from its hierarchy and from what a missing cell is."""
    values = labels.tolist()
    relation = hierarchy.relation(values) if hierarchy else None
    if missing == "matches-anything" and values and values[-1] is None and len(values) > 1:
        relation = wildcard(len(values), len(values) - 1, relation)
    return Column(name, labels, hierarchy, relation, level)


def object_array(values: Sequence[Any]) -> NDArray[Any]:
    """The values as one object array, tuples and None among them left whole."""
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array
