"""One coded column: the values behind its codes, and which of them match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import DataError
from reidbn.microdata.hierarchy import Hierarchy
from reidbn.microdata.matching import Relation, emptied, wildcard

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Emptied:
    """A cell that was emptied before the release; who knows the person knows what it held.

    It is written as an empty cell, and never shows its value.
    """

    value: Any

    def __repr__(self) -> str:
        return "*"


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
    def has_emptied(self) -> bool:
        return self.relation is not None and self.relation.own is not None

    @property
    def has_missing(self) -> bool:
        return self.labels.dtype == object and self.labels.size > 0 and self.labels[-1] is None

    def is_missing(self, codes: NDArray[Any]) -> NDArray[np.bool_]:
        """Which cells of these codes are missing."""
        return np.asarray(codes == (self.labels.size - 1 if self.has_missing else -1))


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
    if any(isinstance(v, Emptied) for v in values):
        own = _with_emptied(name, values, hierarchy, missing)
        return Column(name, labels, hierarchy, own, level)
    relation = hierarchy.relation(values) if hierarchy else None
    if missing == "matches-anything" and values and values[-1] is None and len(values) > 1:
        relation = wildcard(len(values), len(values) - 1, relation)
    return Column(name, labels, hierarchy, relation, level)


def _with_emptied(
    name: str, values: Sequence[Any], hierarchy: Hierarchy | None, missing: str
) -> Relation:
    """Each code by the value that its person has; an emptied cell fits everybody."""
    place = {v: code for code, v in enumerate(values) if not isinstance(v, Emptied)}
    plain = list(place)
    wild = missing == "matches-anything" and None in place
    if wild or (hierarchy is not None and hierarchy.relation(plain) is not None):
        raise DataError(
            f'column "{name}": cells were emptied, and others match several values; nothing says '
            f'who fits both: read the table with missing="value", and release it at one level'
        )
    own = [place[v.value] if isinstance(v, Emptied) else place[v] for v in values]
    return emptied(np.array(own, dtype=np.int64))


def with_cells(column: Column, codes: Ints) -> tuple[Column, tuple[Ints, Ints]]:
    """The column in which cells of these codes can be empty; each code there, and once emptied."""
    plain = column.labels.tolist()
    last = [None] if column.has_missing else []
    first = len(plain) - len(last)
    gone = [Emptied(plain[code]) for code in codes.tolist()]
    labels = object_array([*plain[:first], *gone, *last])
    kept = np.arange(len(plain)) + (np.arange(len(plain)) >= first) * len(gone)
    emptied_at = kept.copy()
    emptied_at[codes] = first + np.arange(len(gone))
    made = column_of(column.name, labels, hierarchy=column.hierarchy, level=column.level)
    return made, (kept, emptied_at)


def blank_cells(column: Column) -> tuple[Column, Ints]:
    """A column with emptied cells as it is written: they are empty; the new code of each."""
    labels = [v for v in column.labels.tolist() if not isinstance(v, Emptied) and v is not None]
    place = {v: code for code, v in enumerate(labels)}
    codes = [place.get(v, len(labels)) if not isinstance(v, Emptied) else len(labels)
             for v in column.labels.tolist()]  # fmt: skip
    made = Column(column.name, object_array([*labels, None]), column.hierarchy, None, column.level)
    return made, np.array(codes)


def known_cells(column: Column) -> tuple[Column, Ints]:
    """A column with what stood in the cells that were emptied; the new code of each."""
    plain = [v for v in column.labels.tolist() if not isinstance(v, Emptied)]
    place = {v: code for code, v in enumerate(plain)}
    codes = [place[v.value if isinstance(v, Emptied) else v] for v in column.labels.tolist()]
    made = column_of(
        column.name, object_array(plain), hierarchy=column.hierarchy, level=column.level
    )
    return made, np.array(codes)


def object_array(values: Sequence[Any]) -> NDArray[Any]:
    """The values as one object array, tuples and None among them left whole."""
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array
