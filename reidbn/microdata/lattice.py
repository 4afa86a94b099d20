"""The walk over the lattice of subsets: class sizes on all of them, from merged and split rows.

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
from reidbn.microdata.classes import Ints
from reidbn.microdata.rows import DistinctRows

MOST_GROUPS = 20
_NODE = 6000  # rows that take as long as the calls of one node

Array = NDArray[Any]


_REMEDY = (
    "Let columns that are learnt together be one group, or draw subsets at random "
    "(draws=1000), which gives estimates with intervals"
)


def refuse_many(groups: int, *, remedy: str = _REMEDY) -> None:
    """Raise TooLarge when there are too many groups to visit every subset."""
    if groups > MOST_GROUPS:
        raise TooLarge(
            f"{groups} groups have 2^{groups} subsets; exact answers go up to {MOST_GROUPS} "
            f"groups. {remedy}"
        )


@dataclass(frozen=True, eq=False)
class Block:
    """Class sizes on several subsets at once.

    `cells[c, i]` is the size of a class (0: nobody) on the subset `masks[c]`.  People alone on the
    groups kept before the block are not in it.
    """

    cells: Array
    masks: Ints
    at: Ints
    """Where each of the node's rows is among the cells, laid flat, with all groups kept."""
    sizes: tuple[int, ...]
    """Cardinalities of the block's groups: its columns are before x (values, "any") x after."""
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
class LatticeNode:
    """Distinct rows on the groups kept so far and those still to decide."""

    level: int
    """How many groups have been decided."""
    kept: int
    """Which of them are kept: the last decided in the lowest bit."""
    kid: Array
    """Each row's class on the kept groups; rows are sorted by it, then by suffix."""
    sid: Array
    """Each row's suffix: its values on the groups still to decide."""
    counts: Array
    """How many people each row is."""

    @property
    def classes(self) -> int:
        return int(self.kid[-1]) + 1 if self.kid.size else 0


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns of dense blocks over the groups from one level on."""

    of_suffix: Array
    subset: Ints
    by_subset: Ints
    starts: Ints


class Lattice:
    """The moves of a walk over all subsets of the groups: drop a group, keep it, finish at once."""

    def __init__(self, rows: DistinctRows) -> None:
        refuse_many(rows.groups)
        self.rows = rows
        self.size = tuple(rows.cardinalities[j] for j in rows.order)
        self.span = [prod(c + 1 for c in self.size[i:]) for i in range(rows.groups + 1)]
        self.masks = _masks(rows.order)
        """Masks in the walk's order: first decided group in the highest bit."""
        # A larger dense block leaves the processor's cache; many rows make up for it.
        self._room = min(max(1 << 17, 4 * rows.rows), 1 << 23)
        self.up, self.digit = _suffixes(rows)
        self._columns: dict[int, _Columns] = {}

    def root(self) -> LatticeNode:
        m = self.rows.rows
        counts = self.rows.people.astype(np.int32 if self.rows.total < 1 << 31 else np.int64)
        return LatticeNode(0, 0, np.zeros(m, dtype=np.int32), np.arange(m, dtype=np.int32), counts)

    def below(self, node: LatticeNode) -> slice:
        """The subsets below a node: a range of the walk's order."""
        rest = self.rows.groups - node.level
        return slice(node.kept << rest, (node.kept + 1) << rest)

    def is_last(self, node: LatticeNode) -> bool:
        """Whether all subsets below the node are best finished at once."""
        cells, subsets = node.classes * self.span[node.level], 1 << (self.rows.groups - node.level)
        few = cells <= self._room and cells <= subsets * (node.kid.size + _NODE)
        return few or subsets == 1

    def drop(self, node: LatticeNode) -> tuple[LatticeNode, NDArray[np.bool_]]:
        """The node without its next group, and where each of its rows starts among these."""
        up = self.up[node.level][node.sid]
        first = _changes(node.kid, up)
        starts = np.flatnonzero(first)
        counts = _run_totals(node.counts, starts)
        return LatticeNode(
            node.level + 1, node.kept << 1, node.kid[starts], up[starts], counts
        ), first

    def keep(self, node: LatticeNode) -> tuple[LatticeNode, Ints, Ints]:
        """The node with its next group, without people who are then alone.

        Also the rows that each of its rows is, and the rows of those people.
        """
        digit = self.digit[node.level][node.sid]
        by_code = np.argsort(digit, kind="stable")
        first = _changes(node.kid[by_code], digit[by_code])
        counts = node.counts[by_code]
        starts = np.flatnonzero(first)
        at = starts[_run_totals(counts, starts) == 1]
        alone = by_code[at]
        if at.size:
            several = np.ones(first.size, dtype=bool)
            several[at] = False
            stay = np.flatnonzero(several)
            by_code, counts, first = by_code[stay], counts[stay], first[stay]
        kid = np.cumsum(first, dtype=np.int32) - np.int32(1)
        sid = self.up[node.level][node.sid[by_code]]
        return LatticeNode(node.level + 1, node.kept << 1 | 1, kid, sid, counts), by_code, alone

    def block(self, node: LatticeNode) -> Block:
        """Class sizes on all subsets below the node, each as a marginal sum."""
        columns, classes = self._columns_from(node.level), node.classes
        sizes = self.size[node.level :]
        flat = columns.of_suffix[node.sid].astype(np.int64) * classes + node.kid
        cells = np.zeros(self.span[node.level] * classes, dtype=node.counts.dtype)
        cells[flat] = node.counts
        for view, c in axes(cells, sizes):
            np.add.reduce(view[:, :c], axis=1, out=view[:, c])
        masks = self.masks[self.below(node)][columns.subset]
        table = cells.reshape(-1, classes)
        return Block(table, masks, flat, sizes, columns.by_subset, columns.starts)

    def _columns_from(self, level: int) -> _Columns:
        if level not in self._columns:
            groups = self.rows.groups
            code, subset = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
            if level < groups:
                inner = self._columns_from(level + 1)
                code = self.digit[level].astype(np.int32) * np.int32(self.span[level + 1])
                code += inner.of_suffix[self.up[level]]
                known = inner.subset | (1 << (groups - level - 1))
                subset = np.concatenate((np.tile(known, self.size[level]), inner.subset))
            by_subset = np.argsort(subset, kind="stable")
            starts = np.searchsorted(subset[by_subset], np.arange(1 << (groups - level)))
            self._columns[level] = _Columns(code, subset, by_subset, starts)
        return self._columns[level]


def axes(flat: Array, sizes: Sequence[int]) -> Iterator[tuple[Array, int]]:
    """Views of a block as before x (values of one group, then "any value") x after."""
    before = 1
    for c in sizes:
        yield flat.reshape(before, c + 1, -1), c
        before *= c + 1


def _suffixes(rows: DistinctRows) -> tuple[list[Array], list[Array]]:
    """For each level and each suffix there: the suffix without the next group, and its code.

    A suffix is a distinct row on the groups still to decide; suffixes keep the order of rows.
    """
    change = np.zeros(rows.rows, dtype=bool)
    upper = np.zeros(rows.rows, dtype=np.int32)
    up, digit = [], []
    for group in reversed(rows.order):
        code = rows.codes[group]
        change[1:] |= code[1:] != code[:-1]
        first = np.concatenate((np.array([0]), np.flatnonzero(change)))
        up.append(upper[first])
        digit.append(code[first].astype(np.min_scalar_type(rows.cardinalities[group] - 1)))
        upper = np.cumsum(change, dtype=np.int32)
    return up[::-1], digit[::-1]


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


# -- the walk over the lattice of subsets ----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Gather:
    """One number per record, combined over all subsets.

    `values(block)` gives each cell's contribution, `alone[mask]` that of a person alone on the
    subset.  With `np.add` it is a sum over subsets, with `np.minimum` the least.
    """

    values: Callable[[Block], Array]
    alone: Array
    combine: np.ufunc = np.add


class Walk:
    """One pass over all subsets of the groups; `run()` returns one array a gather, per record.

    Afterwards `classes`, `uniques` and `largest` hold one number per subset, by mask, and `alone`
    the people whom the blocks left out, each a class of one.
    """

    def __init__(
        self,
        rows: DistinctRows,
        gathers: Sequence[Gather] = (),
        *,
        on_block: Callable[[Block], None] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self.lattice = Lattice(rows)
        self.rows, self.gathers, self.on_block, self.progress = rows, gathers, on_block, progress
        masks = self.lattice.masks
        self._totals = [_subtree_totals(g.alone[masks], g.combine) for g in gathers]
        self.classes, self.uniques, self.largest = np.zeros((3, masks.size), dtype=np.int64)
        self._left = np.zeros(masks.size + 1, dtype=np.int64)

    def run(self) -> list[Array]:
        gathered = self._visit(self.lattice.root())
        self.alone = np.empty_like(self.classes)
        self.alone[self.lattice.masks] = np.cumsum(self._left[:-1])
        self.classes += self.alone
        self.uniques += self.alone
        np.maximum(self.largest, self.alone > 0, out=self.largest)
        return [values[self.rows.of_record] for values in gathered]

    def _visit(self, node: LatticeNode) -> list[Array]:
        """Gathered values of the node's rows, over all subsets below it."""
        if self.lattice.is_last(node):
            return self._finish(node)
        child, first = self.lattice.drop(node)
        values = self._visit(child)
        if values:
            to = np.cumsum(first, dtype=np.int32) - np.int32(1)
            values = [theirs[to] for theirs in values]
        child, rows, alone = self.lattice.keep(node)
        if alone.size:
            self._leave(child, alone, values)
        below = self._visit(child)
        for mine, theirs, gather in zip(values, below, self.gathers, strict=True):
            mine[rows] = gather.combine(mine[rows], theirs)
        return values

    def _leave(self, child: LatticeNode, alone: Array, values: list[Array]) -> None:
        """People alone on the kept groups are alone on all subsets below."""
        below = self.lattice.below(child)
        self._left[below.start] += alone.size
        self._left[below.stop] -= alone.size
        for mine, totals, gather in zip(values, self._totals, self.gathers, strict=True):
            mine[alone] = gather.combine(mine[alone], totals[child.level][child.kept])

    def _finish(self, node: LatticeNode) -> list[Array]:
        """All subsets below the node at once, in one dense block."""
        below = self.lattice.below(node)
        if self.progress is not None:
            self.progress(below.stop / self.lattice.masks.size)
        if node.kid.size == 0:
            return [np.empty(0, dtype=g.alone.dtype) for g in self.gathers]
        block = self.lattice.block(node)
        here, cells = self.lattice.masks[below], block.cells
        self.classes[here] = block.combine(np.count_nonzero(cells, axis=1), np.add)
        self.uniques[here] = block.combine(np.count_nonzero(cells == 1, axis=1), np.add)
        self.largest[here] = block.combine(cells.max(axis=1), np.maximum)
        if self.on_block is not None:
            self.on_block(block)
        return [_folded(gather, block)[block.at] for gather in self.gathers]


def _folded(gather: Gather, block: Block) -> Array:
    """Each value combined with that of "any value", along every axis: over all subsets."""
    values = np.ascontiguousarray(gather.values(block)).reshape(-1)
    for view, c in axes(values, block.sizes):
        gather.combine(view[:, :c], view[:, c:], out=view[:, :c])
    return values


def _subtree_totals(values: Array, combine: np.ufunc) -> list[Array]:
    """Values over subsets in the walk's order, combined over the subtrees of every level."""
    totals = [values]
    while totals[-1].size > 1:
        totals.append(combine(totals[-1][0::2], totals[-1][1::2]))
    return totals[::-1]
