"""More ways to release than can be held: a beam finds a good one, and boxes of ways say what no
other can go below.

A box holds all ways between a finest and a coarsest one.  Of a loss of each cell, each of them
loses at least the sum of what every column loses at the cheapest of its levels there.  Boxes are
taken in the order of that sum, and made smaller by what is known:

    the sum is not lower            than what the best one found loses: the box is done with
    a coarser one fails             which parts of the box are left is a box for every column, in
                                    which that column is coarser than there
    else its cheapest way           is looked at, and climbed from, every column about alike; what
                                    is left is a box for every column and side of it

No two boxes have a way in common, so that the ways are counted.  Where the search ends before it
has been through all, the lowest sum that is left is what no way left can go below: the gap is true,
and nothing is called proved.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import prod
from typing import Self

import numpy as np

from reidbn.plans.losses import Separable
from reidbn.plans.nodes import TIE, Looked
from reidbn.plans.search import COARSER_FAILS, LOSES_MORE, Certificate, Search, beside
from reidbn.plans.ways import Node

MOST_BOXES = 100_000
"""Boxes that are gone through, at most, where no time is given."""
MOST_LOOKED = 20_000
"""Ways that are looked at, at most, where no time is given."""
MOST_OPEN = 2_000_000
"""Boxes that wait, at most: about 700 MB."""
BEAM = 5
"""Ways from which the beam goes on at once."""
MOST_BEAM = 1_000
"""Ways that the beam looks at, at most."""


@dataclass(eq=False)
class WideSearch(Search):
    """What is known of the nodes of a lattice that is not held."""

    def __post_init__(self) -> None:
        assert isinstance(self.ways, Separable)  # noqa: S101 - others are refused
        self.start, self.pareto = time.monotonic(), False  # who is left out is a flag for everybody
        self.costs = [cost.tolist() for cost in self.ways.columns_lose()]
        self.failed = np.empty((0, len(self.costs)), dtype=np.int64)
        """The coarsest nodes that cannot keep the targets and answer for all finer ones."""
        self.unkept = self.failed
        """All nodes that were looked at and do not keep them."""
        self.open: list[tuple[float, Node, Node]] = []
        """Boxes that are still to be gone through: what they lose at least, and their ends."""
        self.cut = 0
        """Nodes finer than one that fails, that nobody looks at."""
        self._add((0,) * len(self.costs), self.ways.top)

    def goes_on_from(self, other: Self) -> None:
        self.failed = other.failed

    def bound_of(self, node: Node) -> float:
        return float(sum(cost[place] for cost, place in zip(self.costs, node, strict=True)))

    def has_failed(self, node: Node) -> bool:
        return bool((self.failed >= node).all(axis=1).any())

    def _learn(self, found: Looked) -> None:
        if not found.keeps:
            self.unkept = np.vstack([self.unkept, [found.node]])
        if found.finer_fail:
            others = self.failed[~(self.failed <= found.node).all(axis=1)]
            self.failed = np.vstack([others, [found.node]])

    def run(self) -> Certificate:
        self._climb(self._cheapest(*self.open[0][1:]))
        self._beam()
        return super().run()

    def _path(self, node: Node) -> list[Node]:
        """After the first, each step the column that has then lost least: all about alike.

        What fails there is coarse in every column, and so answers for most ways.
        """
        if not self.seen:
            return super()._path(node)
        steps = sorted(
            (cost[place] - cost[start], j)
            for j, (cost, start) in enumerate(zip(self.costs, node, strict=True))
            for place in range(start + 1, len(cost))
        )
        path = [node]
        for _, j in steps:
            path.append((*path[-1][:j], path[-1][j] + 1, *path[-1][j + 1 :]))
        return path

    # -- the beam ----------------------------------------------------------------------------------

    def _beam(self) -> None:
        """From the best way on, to finer ones, or finer in one column and coarser in another."""
        looks = len(self.seen) + MOST_BEAM
        beam = [] if self.best is None else [self.best]
        while beam:
            found = []
            for node in dict.fromkeys(n for one in beam for n in self._around(one.node)):
                if len(self.seen) >= looks or self.is_late():
                    return
                new = node not in self.seen and self.bound_of(node) < self.least - TIE
                if new and self._at(node):
                    found.append(self.seen[node])
            beam = sorted(found, key=lambda one: one.loss)[:BEAM]

    def _around(self, node: Node) -> Iterator[Node]:
        for finer in beside(node, self.ways.top, (-1,)):
            yield finer
            yield from (n for n in beside(finer, self.ways.top, (1,)) if n != node)

    # -- the boxes ---------------------------------------------------------------------------------

    def _pending(self) -> Iterator[Node]:
        for gone_through in count():
            full = len(self.open) > MOST_OPEN
            if self.seconds is None:
                full = full or gone_through >= MOST_BOXES or len(self.seen) >= MOST_LOOKED
            if full or not self.open or self.open[0][0] >= self.least - TIE:
                return
            _, fine, coarse = self.open[0]
            if self.is_late():
                yield fine  # which nobody looks at any more
            fails = self._coarser_that_fails(fine, coarse)
            if fails is None:
                node = self._cheapest(fine, coarse)
                if not self._is_settled(node):
                    yield node  # whose box stays open until it is settled
                    continue
            heappop(self.open)
            if fails is None:
                self._split(fine, coarse, node, node)
            else:
                inside = (self.unkept >= fine) & (self.unkept <= fails)
                self.cut += prod(f - a + 1 for a, f in zip(fine, fails, strict=True))
                self.cut -= int(inside.all(axis=1).sum())
                self._split(fine, coarse, fine, fails)

    def _cheapest(self, fine: Node, coarse: Node) -> Node:
        """The way of a box that loses least by its levels alone."""
        ends = zip(self.costs, fine, coarse, strict=True)
        return tuple(a + int(np.argmin(cost[a : b + 1])) for cost, a, b in ends)

    def _coarser_that_fails(self, fine: Node, coarse: Node) -> Node | None:
        """The part of a box that one node answers for, from its finest way on: its coarsest way.

        Of those that there are the one whose rest loses most.
        """
        some = np.minimum(self.failed[(self.failed >= fine).all(axis=1)], coarse)
        if not len(some):
            return None
        rises = np.full(some.shape, np.inf)
        for j, (cost, a, b) in enumerate(zip(self.costs, fine, coarse, strict=True)):
            least = [min(cost[place + 1 : b + 1], default=np.inf) for place in range(a, b + 1)]
            rises[:, j] = np.array(least)[some[:, j] - a] - min(cost[a : b + 1])
        return tuple(some[np.argmax(rises.min(axis=1))].tolist())

    def _split(self, fine: Node, coarse: Node, low: Node, high: Node) -> None:
        """What is left of a box without the one from low to high, which lies in it."""
        start, end = list(fine), list(coarse)
        for j in range(len(fine)):
            for a, b in ((fine[j], low[j] - 1), (high[j] + 1, coarse[j])):
                if a <= b:
                    self._add((*start[:j], a, *start[j + 1 :]), (*end[:j], b, *end[j + 1 :]))
            start[j], end[j] = low[j], high[j]

    def _add(self, fine: Node, coarse: Node) -> None:
        least = self.bound_of(self._cheapest(fine, coarse))
        if least < self.least - TIE:
            heappush(self.open, (least, fine, coarse))

    def _certificate(self, *, late: bool) -> Certificate:
        lowest = self.open[0][0] if self.open else np.inf
        is_through = lowest >= self.least - TIE
        unsure = [
            least for node, one in self.seen.items()
            if not one.is_sure and not self.has_failed(node)
            and (least := max(self.bound_of(node), one.at_least)) < self.least - TIE
        ]  # fmt: skip
        gap = self.least - min([*unsure, lowest]) if unsure or not is_through else 0.0
        left = self.ways.size - len(self.seen) - self.cut
        worse = left if is_through else 0
        return Certificate(
            self.ways.size, len(self.seen),
            {why: n for why, n in ((COARSER_FAILS, self.cut), (LOSES_MORE, worse)) if n},
            len(unsure) + left - worse, gap, time.monotonic() - self.start, late,
            too_many=not (is_through or late),
        )  # fmt: skip
