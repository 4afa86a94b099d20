"""The lattice of subsets: who is alike, for every set of groups that may be known.

A subset of b groups is an integer mask (bit j set: group j is known); arrays over subsets have
length 2^b and are indexed by the mask.

The walk decides one group after the other: drop it or keep it.  A node of the walk holds the
distinct rows on the groups kept so far and those still to decide, with their numbers of people.

- Dropping a group merges rows that now agree; rows are sorted with the next group to decide
  last, so rows to merge are neighbours.
- Keeping a group splits the classes on the kept groups; one stable counting sort by the kept
  group restores the order.  Somebody alone on the kept groups stays alone on every larger
  subset, and leaves the walk.
- Once the groups still to decide span few cells, all their subsets are finished at once in a
  dense block with one more slot, "any value", along each of them: a data cube [Gray97].

So a subset costs its number of classes, not of people, and less where people are alone early.
Groups with many values are decided first: the subsets are many at the end, where few are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge
from reidbn.microdata.classes import Codes, Ints, class_ids

MOST_GROUPS = 20
_NODE = 6000  # rows that take as long as the calls of one node

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rows:
    """The distinct rows of a coded table, in the walk's order, and how many people share each."""

    codes: tuple[Array, ...]
    """One array a group, in the order of the groups."""
    cardinalities: tuple[int, ...]
    counts: Ints
    of_record: Ints
    """The distinct row of each entry of the coded table."""
    order: tuple[int, ...]
    """The groups in the order in which they are decided."""

    @property
    def groups(self) -> int:
        return len(self.codes)

    @property
    def records(self) -> int:
        return int(self.counts.sum())


def distinct_rows(codes: Codes, cardinalities: Sequence[int], counts: Ints | None = None) -> Rows:
    """The distinct rows of a coded table, sorted by the last decided group first.

    With `counts` each entry of the table stands for that many people.

    >>> distinct_rows(np.array([[1, 0], [0, 1], [1, 0]], dtype=np.int32), (2, 2)).counts
    array([2, 1])
    """
    n, groups = codes.shape
    order = tuple(sorted(range(groups), key=lambda j: (-cardinalities[j], j)))
    back = list(order[::-1])
    ids, count = class_ids(codes[:, back], [cardinalities[j] for j in back])
    some = np.empty(count, dtype=np.int64)
    some[ids] = np.arange(n)
    columns = tuple(np.ascontiguousarray(codes[some, j]) for j in range(groups))
    people = np.bincount(ids, minlength=count)
    if counts is not None:
        people = np.zeros(count, dtype=np.int64)
        np.add.at(people, ids, counts)
    return Rows(columns, tuple(cardinalities), people, ids, order)


def refuse_many(groups: int) -> None:
    """Raise TooLarge when there are too many groups to visit every subset."""
    if groups > MOST_GROUPS:
        raise TooLarge(
            f"{groups} groups have 2^{groups} subsets; exact answers go up to {MOST_GROUPS} "
            "groups. Let columns that are learnt together be one group, or draw subsets at "
            "random (samples=1000), which gives estimates with intervals"
        )


@dataclass(frozen=True, eq=False)
class Block:
    """Class sizes on several subsets at once.

    `cells[c, i]` is the size of a class (0: nobody) on the subset `masks[c]`.  People alone on the
    groups kept before the block are not in it: a Gather's `alone` speaks for them.
    """

    cells: Array
    masks: Ints
    _by_subset: Ints
    _starts: Ints

    def combine(self, per_column: Array, how: np.ufunc) -> Array:
        """One number per subset of the block from one per row of `cells`."""
        combined: Array = how.reduceat(per_column[self._by_subset], self._starts)
        return combined

    def subsets(self) -> Iterator[tuple[int, Array]]:
        """Each subset of the block and the sizes of its classes."""
        for columns in np.split(self._by_subset, self._starts[1:]):
            sizes = self.cells[columns]
            yield int(self.masks[columns[0]]), sizes[sizes > 0]


@dataclass(frozen=True, eq=False)
class Gather:
    """One number per record, combined over all subsets.

    `values(block)` gives each cell's contribution, `alone[mask]` that of a person alone on the
    subset.  With `np.add` it is a sum over subsets, with `np.minimum` the least.
    """

    values: Callable[[Block], Array]
    alone: Array
    combine: np.ufunc = np.add


@dataclass(frozen=True, eq=False)
class _Level:
    """Tables over the suffixes before a group is decided, and over the columns of dense blocks.

    A suffix is a distinct row on the groups still to decide; suffixes keep the order of rows.
    """

    up: Array
    """The suffix without the group to be decided now."""
    digit: Array
    """The group's code."""


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns of dense blocks over the groups from one level on."""

    of_suffix: Array
    subset: Ints
    by_subset: Ints
    starts: Ints


class Walk:
    """One pass over all subsets of the groups; `run()` returns one array a gather, per record.

    Afterwards `classes`, `uniques` and `largest` hold one number per subset, by mask, and `alone`
    the people whom the blocks left out, each a class of one.
    """

    def __init__(
        self,
        rows: Rows,
        gathers: Sequence[Gather] = (),
        *,
        on_block: Callable[[Block], None] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        refuse_many(rows.groups)
        self.rows, self.gathers, self.on_block, self.progress = rows, gathers, on_block, progress
        self._size = [rows.cardinalities[j] for j in rows.order]
        self._span = [prod(c + 1 for c in self._size[i:]) for i in range(rows.groups + 1)]
        # A larger dense block leaves the processor's cache; many rows make up for it.
        self._room = min(max(1 << 17, 4 * rows.counts.size), 1 << 23)
        self._levels = _levels(rows)
        self._columns: dict[int, _Columns] = {}
        # Subsets are counted in the walk's order: first decided group in the highest bit.
        self._masks = _masks(rows.order)
        subsets = self._masks.size
        self._alone = [_subtree_totals(g.alone[self._masks], g.combine) for g in gathers]
        self.classes, self.uniques, self.largest = np.zeros((3, subsets), dtype=np.int64)
        self._left = np.zeros(subsets + 1, dtype=np.int64)

    def run(self) -> list[Array]:
        m = self.rows.counts.size
        counts = self.rows.counts.astype(np.int32 if self.rows.records < 1 << 31 else np.int64)
        ids = np.arange(m, dtype=np.int32)
        gathered = self._node(0, 0, np.zeros(m, dtype=np.int32), ids, counts)
        self.alone = np.empty_like(self.classes)
        self.alone[self._masks] = np.cumsum(self._left[:-1])
        self.classes += self.alone
        self.uniques += self.alone
        np.maximum(self.largest, self.alone > 0, out=self.largest)
        return [values[self.rows.of_record] for values in gathered]

    def _node(self, level: int, kept: int, kid: Array, sid: Array, counts: Array) -> list[Array]:
        """Gathered values of the node's rows: class on the kept groups, suffix, people."""
        classes = int(kid[-1]) + 1 if kid.size else 0
        cells, subsets = classes * self._span[level], 1 << (self.rows.groups - level)
        if (cells <= self._room and cells <= subsets * (kid.size + _NODE)) or subsets == 1:
            return self._finish(level, kept, kid, sid, counts)
        table = self._levels[level]
        up = table.up[sid]
        values = self._drop(level, kept, kid, up, counts)
        digit = table.digit[sid]
        by_code = np.argsort(digit, kind="stable")
        first = _changes(kid[by_code], digit[by_code])
        self._keep(level, kept, values, by_code, first, up[by_code], counts[by_code])
        return values

    def _drop(self, level: int, kept: int, kid: Array, up: Array, counts: Array) -> list[Array]:
        first = _changes(kid, up)
        starts = np.flatnonzero(first)
        merged = _run_totals(counts, starts)
        below = self._node(level + 1, kept << 1, kid[starts], up[starts], merged)
        to = np.cumsum(first, dtype=np.int32) - np.int32(1) if below else first
        return [values[to] for values in below]

    def _keep(
        self,
        level: int,
        kept: int,
        values: list[Array],
        by_code: Array,
        first: Array,
        up: Array,
        counts: Array,
    ) -> None:
        kept = kept << 1 | 1
        starts = np.flatnonzero(first)
        at = starts[_run_totals(counts, starts) == 1]
        if at.size:
            self._leave(level + 1, kept, int(at.size))
            for mine, totals, gather in zip(values, self._alone, self.gathers, strict=True):
                mine[by_code[at]] = gather.combine(mine[by_code[at]], totals[level + 1][kept])
            many = np.ones(first.size, dtype=bool)
            many[at] = False
            stay = np.flatnonzero(many)
            by_code, up, counts, first = by_code[stay], up[stay], counts[stay], first[stay]
        kid = np.cumsum(first, dtype=np.int32) - np.int32(1)
        below = self._node(level + 1, kept, kid, up, counts)
        for mine, theirs, gather in zip(values, below, self.gathers, strict=True):
            mine[by_code] = gather.combine(mine[by_code], theirs)

    def _leave(self, level: int, kept: int, people: int) -> None:
        """People alone on the kept groups: alone on all subsets below, a range of the order."""
        rest = self.rows.groups - level
        self._left[kept << rest] += people
        self._left[(kept + 1) << rest] -= people

    def _finish(self, level: int, kept: int, kid: Array, sid: Array, counts: Array) -> list[Array]:
        """All subsets below the node at once, in one dense block."""
        columns, sizes = self._columns_from(level), self._size[level:]
        low, rest = kept << len(sizes), len(sizes)
        if self.progress is not None:
            self.progress(((kept + 1) << rest) / self._masks.size)
        if kid.size == 0:
            return [np.empty(0, dtype=g.alone.dtype) for g in self.gathers]
        classes = int(kid[-1]) + 1
        flat = columns.of_suffix[sid].astype(np.int64) * classes + kid
        cells = np.zeros(self._span[level] * classes, dtype=counts.dtype)
        cells[flat] = counts
        for view, c in _axes(cells, sizes):
            np.add.reduce(view[:, :c], axis=1, out=view[:, c])
        table = cells.reshape(-1, classes)
        masks = self._masks[low + columns.subset]
        block = Block(table, masks, columns.by_subset, columns.starts)
        here = self._masks[low : low + (1 << rest)]
        self.classes[here] = block.combine(np.count_nonzero(table, axis=1), np.add)
        self.uniques[here] = block.combine(np.count_nonzero(table == 1, axis=1), np.add)
        self.largest[here] = block.combine(table.max(axis=1), np.maximum)
        if self.on_block is not None:
            self.on_block(block)
        return [_fold(gather, block, sizes)[flat] for gather in self.gathers]

    def _columns_from(self, level: int) -> _Columns:
        if level not in self._columns:
            groups = self.rows.groups
            if level == groups:
                code, subset = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
            else:
                inner, table, c = (
                    self._columns_from(level + 1),
                    self._levels[level],
                    self._size[level],
                )
                code = table.digit.astype(np.int32) * np.int32(self._span[level + 1])
                code += inner.of_suffix[table.up]
                known = inner.subset | (1 << (groups - level - 1))
                subset = np.concatenate((np.tile(known, c), inner.subset))
            by_subset = np.argsort(subset, kind="stable")
            starts = np.searchsorted(subset[by_subset], np.arange(1 << (groups - level)))
            self._columns[level] = _Columns(code, subset, by_subset, starts)
        return self._columns[level]


def _fold(gather: Gather, block: Block, sizes: Sequence[int]) -> Array:
    """Each value combined with that of "any value", along every axis: over all subsets."""
    values = np.ascontiguousarray(gather.values(block)).reshape(-1)
    for view, c in _axes(values, sizes):
        gather.combine(view[:, :c], view[:, c:], out=view[:, :c])
    return values


def _axes(flat: Array, sizes: Sequence[int]) -> Iterator[tuple[Array, int]]:
    """Views of a block as before x (values of one group, then "any value") x after."""
    before = 1
    for c in sizes:
        yield flat.reshape(before, c + 1, -1), c
        before *= c + 1


def _levels(rows: Rows) -> list[_Level]:
    change = np.zeros(rows.counts.size, dtype=bool)
    upper = np.zeros(rows.counts.size, dtype=np.int32)
    levels = []
    for group in reversed(rows.order):
        code = rows.codes[group]
        change[1:] |= code[1:] != code[:-1]
        first = np.concatenate((np.array([0]), np.flatnonzero(change)))
        narrow = np.min_scalar_type(rows.cardinalities[group] - 1)
        levels.append(_Level(upper[first], code[first].astype(narrow)))
        upper = np.cumsum(change, dtype=np.int32)
    return levels[::-1]


def _masks(order: Sequence[int]) -> Ints:
    """Masks of the subsets in the walk's order."""
    masks = np.zeros(1, dtype=np.int64)
    for group in reversed(order):
        masks = np.concatenate((masks, masks | (1 << group)))
    return masks


def _changes(one: Array, other: Array) -> NDArray[np.bool_]:
    """Where a new run of equal pairs starts."""
    first = np.ones(one.size, dtype=bool)
    np.not_equal(one[1:], one[:-1], out=first[1:])
    first[1:] |= other[1:] != other[:-1]
    return first


def _run_totals(counts: Array, starts: Ints) -> Array:
    """Sums over runs; differences of running sums take half of `np.add.reduceat`'s time."""
    upto = np.cumsum(counts, dtype=counts.dtype)
    before = (upto - counts)[starts]
    totals = np.empty_like(before)
    np.subtract(before[1:], before[:-1], out=totals[:-1])
    totals[-1:] = upto[-1:] - before[-1:]
    return totals


def _subtree_totals(values: Array, combine: np.ufunc) -> list[Array]:
    """Values over subsets in the walk's order, combined over the subtrees of every level."""
    totals = [values]
    while totals[-1].size > 1:
        totals.append(combine(totals[-1][0::2], totals[-1][1::2]))
    return totals[::-1]
