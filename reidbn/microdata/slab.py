"""Slabs: how many people are alike with each row, on every subset of the columns.

For measures that need a number per row and subset: risks that weigh a person's class sizes, minimal
uniques, and attribute disclosure, where a posterior given a set A of known columns needs two counts
per person, the people alike on A and those alike on A and on the secret (both class sizes, so one
table's 2^k partitions answer for every secret at once).  For numbers per subset alone, and for sums
over subsets per person, the walk over the lattice (lattice.py) is faster.

- Distinct rows are counted once and carry their number of people.
- The walk adds columns largest domain first, so that the key "class so far x new value" stays small
  enough to be counted in a table; it is sorted only where that table would dwarf the rows.
- The class sizes of 2^l subsets of the low columns are held at a time (a slab), within `memory`;
  the high columns are decided outside.  A secret among the low columns finds its partner in the
  same slab, a secret among the high ones in a second slab.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.microdata.classes import Floats, Ints, some_of, totals
from reidbn.microdata.lattice import refuse_many
from reidbn.microdata.rows import DistinctRows, Partition

MEMORY = 48_000_000
"""Bytes that slabs may take unless told otherwise."""

Counts = NDArray[np.int32]
_ALL = slice(None)
_LEAVE = 4  # rows that are alone leave once they are one in so many
_MERGE = 0.8  # rows are merged where so few are left


@dataclass(frozen=True, eq=False)
class Split:
    """Which columns a slab holds all subsets of (low, last = lowest bit), and which are outside."""

    low: tuple[int, ...]
    high: tuple[int, ...]

    @property
    def masks(self) -> Ints:
        """The column mask of each of the 2^l subsets of a slab, in the slab's order."""
        masks = np.zeros(1, dtype=np.int64)
        for column in reversed(self.low):
            masks = np.concatenate([masks, masks | 1 << column])
        return masks

    def bases(self, known: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Every subset of the high columns that can be known."""
        outside = [column for column in self.high if column in known]
        for size in range(len(outside) + 1):
            yield from combinations(outside, size)


def split(
    cells: DistinctRows,
    known: Sequence[int],
    secrets: Sequence[int],
    *,
    memory: int,
    width: int,
    rows: int | None = None,
) -> Split:
    """As many low columns as fit into the memory at `width` bytes per row and subset.

    A secret that is never known itself is a high column: its partner is always a second slab.
    """
    order = sorted(known, key=lambda j: (-cells.cardinalities[j], j))
    never = [secret for secret in secrets if secret not in known]
    fits = max(1, memory // max(1, width * (rows or cells.rows)))
    slabs = 2 if never or 1 << len(order) > fits else 1
    low = min(len(order), max(0, (fits // slabs).bit_length() - 1))
    cut = len(order) - low
    return Split(tuple(order[cut:]), (*order[:cut], *never))


def walk(
    cells: DistinctRows, low: Sequence[int], start: Partition, *, want_ids: bool
) -> Iterator[tuple[int, Partition, Floats]]:
    """Every non-empty subset of the low columns, refined depth first.

    Yields the subset's place in the slab, its partition (only where `want_ids` is to be relied
    on) and the people in each row's class.
    """
    last = len(low) - 1
    todo = [(start, 0, j) for j in range(last, -1, -1)]
    while todo:
        part, place, j = todo.pop()
        finer, sizes = cells.refine(part, low[j], want_ids=want_ids or j < last)
        here = place | 1 << (last - j)
        yield here, finer, sizes
        todo += [(finer, here, i) for i in range(last, j, -1)]


# -- every subset ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Subset:
    """The class sizes on one subset, of rows that may be merged and without some who are alone."""

    mask: int
    ids: Ints
    """The classes of the kept rows; some numbers may be nobody's."""
    people: Floats
    """By class: how many people."""
    kept: Ints | None
    """Which of the merged rows these are (None: all); the others are alone."""
    merged: int
    """How many merged rows there are."""
    of_row: Ints | None
    """The merged row of each row; None where none are merged."""

    @cached_property
    def sizes(self) -> Floats:
        """People in the classes of the kept rows."""
        return self.people.take(self.ids)

    def spread(self, values: NDArray[Any], alone: Any, rows: Any = _ALL) -> NDArray[Any]:
        """Values of the kept rows as values of (some) rows; `alone` for those who left."""
        if self.kept is not None:
            everybody = np.full(self.merged, alone, dtype=values.dtype)
            everybody[self.kept] = values
            values = everybody
        return np.asarray(values[rows if self.of_row is None else self.of_row[rows]])

    @property
    def row_sizes(self) -> Ints:
        """The people in each row's class."""
        return self.spread(self.sizes.astype(np.int64), 1)


def every_subset(rows: DistinctRows, *, most: int | None = None) -> Iterator[Subset]:
    """Every subset of at most `most` groups with its class sizes; the empty subset comes first.

    Once a group is not looked at any more, rows that differ in it alone are merged; rows that are
    alone leave, since they are alone on every larger subset.

    >>> from reidbn.microdata.rows import distinct_rows
    >>> rows = distinct_rows(np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32), (2, 2))
    >>> [(s.mask, s.row_sizes.tolist()) for s in every_subset(rows)]
    [(0, [3, 3, 3]), (1, [2, 2, 1]), (3, [1, 1, 1]), (2, [1, 2, 2])]
    """
    left = rows.groups if most is None else min(most, rows.groups)
    if left == rows.groups:
        refuse_many(rows.groups)
    cells, of_row = rows, None
    everybody = np.zeros(cells.rows, dtype=np.int64)
    yield Subset(0, everybody, np.array([float(cells.total)]), None, cells.rows, None)
    for j in range(rows.groups if left else 0):
        if j:
            fewer = cells.merged(rows.order[j:])
            if fewer.rows <= _MERGE * cells.rows:
                of_row = fewer.of_record if of_row is None else fewer.of_record.take(of_row)
                cells = fewer
        yield from _with_first(cells, of_row, rows.order[j:], left)


def _with_first(
    cells: DistinctRows, of_row: Ints | None, order: Sequence[int], left: int
) -> Iterator[Subset]:
    """The subsets that hold the first of the columns, depth first."""
    zeros = np.zeros(cells.rows, dtype=np.int64)
    todo = [(_Rest(zeros, 1, None, cells.people), 0, 0, left)]
    while todo:
        rest, mask, i, left = todo.pop()
        here = mask | 1 << order[i]
        found = Subset(here, *rest.on(cells, order[i]), rest.kept, cells.rows, of_row)
        yield found
        if left > 1 and i < len(order) - 1:
            finer = rest.finer(found)
            todo += [(finer, here, k, left - 1) for k in range(len(order) - 1, i, -1)]


@dataclass(frozen=True, eq=False)
class _Rest:
    """The rows that are not known to be alone, and their classes, numbered from 0."""

    ids: Ints
    classes: int
    kept: Ints | None
    people: Floats

    def on(self, cells: DistinctRows, column: int) -> tuple[Ints, Floats]:
        """The classes with one more column, and the people in each."""
        span = self.classes * cells.cardinalities[column]
        values = cells.codes[column]
        key = self.ids * cells.cardinalities[column]
        key += values if self.kept is None else values.take(self.kept)
        if span > 8 * key.size + 4096:
            _, key = np.unique(key, return_inverse=True)
            span = int(key.max(initial=-1)) + 1
        return key, totals(key, self.people, span)

    def finer(self, found: Subset) -> _Rest:
        """Those who stay for larger subsets."""
        key, table = found.ids, found.people
        alone = found.sizes == 1
        if np.count_nonzero(alone) * _LEAVE < alone.size:
            number = np.cumsum(table > 0) - 1
            return _Rest(number.take(key), int(number[-1]) + 1, self.kept, self.people)
        stay, several = np.flatnonzero(~alone), table > 1
        number = np.cumsum(several) - 1
        ids = number.take(key.take(stay))
        kept = stay if self.kept is None else self.kept.take(stay)
        return _Rest(ids, int(several.sum()), kept, self.people.take(stay))


def sizes_of_rows(rows: DistinctRows, wanted: Ints) -> NDArray[np.uint32]:
    """Class sizes of some distinct rows on every subset: rows x 2^b, column = mask.

    >>> from reidbn.microdata.rows import distinct_rows
    >>> rows = distinct_rows(np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32), (2, 2))
    >>> sizes_of_rows(rows, np.array([0])).tolist()
    [[3, 2, 1, 1]]
    """
    found = np.empty((1 << rows.groups, wanted.size), dtype=np.uint32)
    if 2 * wanted.size >= rows.rows:
        for subset in every_subset(rows):
            found[subset.mask] = subset.row_sizes.take(wanted)
    else:
        places = Split(rows.order, ()).masks
        slab = np.empty((places.size, wanted.size), dtype=np.int32)
        asked_slab(rows, rows.order, (), wanted, slab)
        found[places] = slab
    return found.T


# -- slabs -----------------------------------------------------------------------------------------


def class_size_slab(
    cells: DistinctRows, low: Sequence[int], fixed: Sequence[int], out: Counts
) -> None:
    """Fill `out` (subsets x rows) with the class sizes on fixed + each subset of the low ones."""
    start = cells.classes(fixed)
    out[0] = totals(start.ids, cells.people, start.classes).take(start.ids)

    for place, _, sizes in walk(cells, low, start, want_ids=False):
        out[place] = sizes


def asked_slab(
    cells: DistinctRows, low: Sequence[int], fixed: Sequence[int], asked: Ints, out: Counts
) -> None:
    """`class_size_slab` for some rows only: `out` is subsets x asked.

    On the way down, rows in nobody's class are dropped, and rows that differ only in columns that
    are not looked at any more are merged, so a few people among millions cost little.
    """
    last = len(low) - 1
    if not low:
        out[0] = _reach(cells, asked, fixed).sizes(cells, asked, None)
    for j in range(len(low)):
        cells = cells.merged([*low[j:], *fixed])
        asked = cells.of_record[asked]
        start = _reach(cells, asked, fixed)
        if j == 0:
            out[0] = start.sizes(cells, asked, None)
        todo = [(start, 0, j)]
        while todo:
            reach, place, i = todo.pop()
            here = place | 1 << (last - i)
            if i == last:
                out[here] = reach.sizes(cells, asked, low[i])
                continue
            finer = reach.refine(cells, asked, low[i])
            out[here] = finer.sizes(cells, asked, None)
            todo += [(finer, here, k) for k in range(last, i, -1)]


@dataclass(frozen=True, eq=False)
class _Reach:
    """The rows that share a class with an asked row, and the classes, numbered from 0."""

    ids: Ints
    kept: Ints | None
    """Which rows; None for all."""
    own: Ints
    """The class of each asked row."""
    people: Floats
    classes: int

    def _keys(self, cells: DistinctRows, asked: Ints, column: int) -> tuple[Ints, Ints]:
        values, size = cells.codes[column], cells.cardinalities[column]
        key = self.ids * size
        key += values if self.kept is None else values.take(self.kept)
        return key, self.own * size + values.take(asked)

    def sizes(self, cells: DistinctRows, asked: Ints, column: int | None) -> Floats:
        """The people in each asked row's class, on one more column if it is named."""
        if column is None:
            return totals(self.ids, self.people, self.classes).take(self.own)
        key, mine = self._keys(cells, asked, column)
        span = self.classes * cells.cardinalities[column]
        if span > 8 * cells.rows + 4096:
            return self.refine(cells, asked, column).sizes(cells, asked, None)
        return totals(key, self.people, span).take(mine)

    def refine(self, cells: DistinctRows, asked: Ints, column: int) -> _Reach:
        key, mine = self._keys(cells, asked, column)
        span = self.classes * cells.cardinalities[column]
        if span > 8 * cells.rows + 4096:
            wanted, own = np.unique(mine, return_inverse=True)
            place = np.minimum(np.searchsorted(wanted, key), wanted.size - 1)
            hit, classes = wanted.take(place) == key, int(wanted.size)
        else:
            here = np.zeros(span, dtype=bool)
            here[mine] = True
            number = np.cumsum(here) - 1
            hit, own, classes = here.take(key), number.take(mine), int(number[-1]) + 1
            place = number.take(key)
        if hit.all():
            return _Reach(place, self.kept, own, self.people, classes)
        stay = np.flatnonzero(hit)
        kept = stay if self.kept is None else self.kept.take(stay)
        return _Reach(place.take(stay), kept, own, self.people.take(stay), classes)


def _reach(cells: DistinctRows, asked: Ints, fixed: Sequence[int]) -> _Reach:
    zeros = np.zeros(cells.rows, dtype=np.int64)
    own = np.zeros(asked.size, dtype=np.int64)
    reach = _Reach(zeros, None, own, cells.people, 1)
    for column in sorted(fixed, key=lambda j: -cells.cardinalities[j]):
        reach = reach.refine(cells, asked, column)
    return reach


@dataclass(frozen=True, eq=False)
class ClassSlab:
    """The classes for every subset of a slab: ids per row, and people and some row per class."""

    ids: Counts
    people: list[Counts]
    row_of: list[Counts]

    @classmethod
    def fill(
        cls, cells: DistinctRows, low: Sequence[int], fixed: Sequence[int], out: Counts
    ) -> ClassSlab:
        """The classes of fixed + each subset of the low columns; ids go to `out`."""
        count = 1 << len(low)
        slab = cls(out, *([np.empty(0, dtype=np.int32)] * count for _ in range(2)))
        start = cells.classes(fixed)
        people = totals(start.ids, cells.people, start.classes)
        slab._keep(0, start, people.take(start.ids))
        for place, part, sizes in walk(cells, low, start, want_ids=True):
            slab._keep(place, part, sizes)
        return slab

    def _keep(self, place: int, part: Partition, sizes: Floats) -> None:
        row_of = some_of(part.ids, part.classes).astype(np.int32)
        self.ids[place] = part.ids
        self.row_of[place] = row_of
        self.people[place] = sizes.take(row_of).astype(np.int32)
