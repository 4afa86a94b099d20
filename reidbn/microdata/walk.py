"""The walk over the lattice of subsets: class sizes on all of them, from merged and split rows.

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

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from reidbn.microdata.lattice import Array, Block, DistinctRows, Lattice, LatticeNode, axes


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
