"""Distinct rows: a coded table with each row once, and how many people it is.

All counting of classes starts here: the walk over the lattice (lattice.py), the slabs (slab.py) and
match masks (masks.py) see people only as distinct rows.  Numbers of people are doubles, because
that is what sums by class take; they are whole, and exact up to 2^53.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.microdata.classes import Floats, Ints, class_ids, some_of, totals

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Partition:
    """The class of each row, numbered from 0 without gaps, and how many there are."""

    ids: Ints
    classes: int


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of a coded table, sorted by `order`'s last group first."""

    codes: tuple[Array, ...]
    """One array a group (a column, or columns that are learnt together)."""
    cardinalities: tuple[int, ...]
    people: Floats
    """How many people share each row."""
    of_record: Ints
    """The distinct row of each entry of the coded table."""

    @property
    def groups(self) -> int:
        return len(self.codes)

    @property
    def rows(self) -> int:
        return int(self.people.size)

    @property
    def total(self) -> int:
        """How many people: n."""
        return int(self.people.sum())

    @property
    def _dense(self) -> int:
        """Up to so many classes, empty ones too, are counted in one array."""
        return 8 * self.rows + 4096

    @property
    def order(self) -> tuple[int, ...]:
        """The groups in the order in which they are decided: many values first."""
        return _order(self.cardinalities)

    def merged(self, groups: Sequence[int]) -> DistinctRows:
        """Rows alike on these groups made one, the other groups empty; `of_record` is per row here.

        >>> rows = distinct_rows(np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32), (2, 2))
        >>> fewer = rows.merged([0])
        >>> fewer.people[fewer.of_record]
        array([2., 2., 1.])
        """
        table = np.stack([self.codes[j] for j in groups]).T
        fewer = distinct_rows(table, [self.cardinalities[j] for j in groups], self.people)
        codes = [np.empty(0, dtype=table.dtype)] * self.groups
        for j, column in zip(groups, fewer.codes, strict=True):
            codes[j] = column
        return replace(fewer, codes=tuple(codes), cardinalities=self.cardinalities)

    def peers(self, known: Sequence[int]) -> Ints:
        """For each row, how many people agree with it on the known groups (itself included).

        >>> distinct_rows(np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32), (2, 2)).peers([0])
        array([2, 2, 1])
        """
        most = self._dense
        key, span = np.zeros(self.rows, dtype=np.int64), 1
        for group in sorted(known, key=lambda j: self.cardinalities[j]):
            values = self.cardinalities[group]
            if span * values > most and span > 1:
                number = np.cumsum(np.bincount(key, minlength=span) > 0)
                key, span = (number - 1).take(key), int(number[-1])
            if values > 1:
                key *= values
                key += self.codes[group]
                span *= values
            if span > most:
                found, key = np.unique(key, return_inverse=True)
                span = found.size
        return totals(key, self.people, span).take(key).astype(np.int64)

    def classes(self, known: Sequence[int]) -> Partition:
        """The partition of the rows on the known groups."""
        part = Partition(np.zeros(self.rows, dtype=np.int64), 1)
        for group in sorted(known, key=lambda j: -self.cardinalities[j]):
            part, _ = self.refine(part, group)
        return part

    def refine(
        self, part: Partition, group: int, *, want_ids: bool = True
    ) -> tuple[Partition, Floats]:
        """The partition refined by one more group, and the people in each row's class."""
        span = part.classes * self.cardinalities[group]
        key = part.ids * self.cardinalities[group]
        key += self.codes[group]
        if span > self._dense:
            values, key = np.unique(key, return_inverse=True)
            span = values.size
        table = totals(key, self.people, span)
        sizes = table.take(key)
        if not want_ids:
            return part, sizes
        number = np.cumsum(table > 0)
        return Partition((number - 1).take(key), int(number[-1])), sizes


def distinct_rows(
    codes: Array, cardinalities: Sequence[int], counts: Array | None = None
) -> DistinctRows:
    """The distinct rows of a coded table; with `counts` each entry is that many people.

    >>> distinct_rows(np.array([[1, 0], [0, 1], [1, 0]], dtype=np.int32), (2, 2)).people
    array([2., 1.])
    """
    back = list(_order(cardinalities)[::-1])
    ids, count = class_ids(codes[:, back], [cardinalities[j] for j in back])
    some = some_of(ids, count)
    columns = tuple(np.ascontiguousarray(column[some]) for column in codes.T)
    sizes = tuple(int(c) for c in cardinalities)
    return DistinctRows(columns, sizes, totals(ids, counts, count), ids)


def _order(cardinalities: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(range(len(cardinalities)), key=lambda j: (-cardinalities[j], j)))
