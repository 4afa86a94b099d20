"""The search: the node with the least loss that keeps every target, and what proves it.

Nodes are taken in the order of what they lose before anybody is left out, which bounds what they
lose in all.  Two rules skip a node without looking at it:

    its loss alone is not lower     than that of the best one found, so it cannot be better
    a coarser one fails             and making it finer only splits classes, so it fails, too

The second holds where hierarchies nest and every target is about classes or an attack of which it
was shown (rising.py).  From each node that is not skipped a path leads up to the coarsest one;
halving it finds where the targets begin to be kept, and one failure there answers for every finer
node at once.

Of up to a million nodes a number is kept of each; more are gone through as they come (wide.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from reidbn.plans.nodes import TIE, Looked
from reidbn.plans.ways import Array, Node, Ways
from reidbn.progress import progress
from reidbn.written import agree, counted

COARSER_FAILS = "a coarser one cannot keep the targets"
LOSES_MORE = "its loss alone is not lower"


@dataclass(frozen=True)
class Certificate:
    """What the search looked at, why it skipped the rest, and whether that proves the best."""

    nodes: int
    counted: int
    skipped: dict[str, int]
    unsettled: int
    """Nodes of which it is not known whether they would be better."""
    gap: float
    """How much less than the best one a node that is not settled could lose, at most."""
    seconds: float
    out_of_time: bool = False
    too_many: bool = False
    """Whether there were more ways than can be gone through."""
    tried: int | None = None
    """Ways at which single cells were emptied; None where that was not allowed."""

    @property
    def is_proved(self) -> bool:
        return self.unsettled == 0 and (self.tried is None or self.gap <= TIE)

    def __str__(self) -> str:
        skips = "".join(f"; {count:,} skipped: {why}" for why, count in self.skipped.items())
        looked = f"{self.counted:,} of {self.nodes:,} ways to release were counted{skips}"
        if self.is_proved:
            return f"{looked}. No other way is better: proved."
        if self.tried is not None:
            rest = "Which of the ways that empty no cell is best is not settled"
            if not self.unsettled:
                rest = "Of the ways that empty no cell the best was found: proved"
            return (
                f"{looked}. {rest}. At {counted(self.tried, 'way')} cells were emptied by a "
                f"heuristic, which proves nothing: other cells could lose up to {self.gap:.3g} "
                f"less."
            )
        late = ", because there are more than can be gone through" if self.too_many else ""
        late = ", because the time was up" if self.out_of_time else late
        less = f"up to {self.gap:.3g} less could be lost there"
        if not np.isfinite(self.gap):
            less = "how much less could be lost there is not known"
        are = agree(self.unsettled, "is", "are")
        return f"{looked}. {self.unsettled:,} {are} not settled{late}: {less}."


@dataclass(eq=False)
class Search:
    """What is known of each node so far."""

    ways: Ways
    look: Callable[[Node], Looked]
    prunes: bool
    """Whether a node that fails may answer for the finer ones."""
    seconds: float | None = None
    pareto: bool = True
    """Whether who is left out stays at hand for the ways that are not the best."""
    best: Looked | None = None
    seen: dict[Node, Looked] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.bound: Array = self.ways.losses()
        self.fails: NDArray[np.bool_] = np.zeros(self.ways.size, dtype=bool)
        self.start = time.monotonic()

    def goes_on_from(self, other: Self) -> None:
        """What was shown to fail where people may be left out fails with everybody, too."""
        self.fails = other.fails.copy()

    @property
    def least(self) -> float:
        return float("inf") if self.best is None else self.best.loss

    def run(self) -> Certificate:
        """Look at nodes until the best one is found, or the time is up."""
        for node in progress(self._pending(), "looking at ways to release"):
            if self.is_late():
                return self._certificate(late=True)
            self._climb(node)
        self._refine()
        return self._certificate(late=False)

    def _refine(self) -> None:
        """Of ways that lose the same take the finer one: all as it is, or else level by level."""
        best, least = self.best, self.least
        while best is not None and not self.is_late():
            finest = (0,) * len(best.node)
            steps = (
                () if best.node == finest else (finest, *beside(best.node, self.ways.top, (-1,)))
            )
            finer = (self._as_good(node, best) for node in steps)
            best = next((one for one in finer if one is not None), None)
            if best is not None:
                self.best = replace(best, loss=least)

    def _as_good(self, node: Node, best: Looked) -> Looked | None:
        """A node that loses no more than the best one and leaves out no more people."""
        if self.bound_of(node) > self.least + TIE or not self._at(node):
            return None
        if self.seen[node].loss > self.least + TIE:
            return None
        found = self.seen[node] if self.pareto else self.look(node)
        assert found.left_out is not None and best.left_out is not None  # noqa: S101, PT018 - they keep
        return found if found.left_out.sum() <= best.left_out.sum() else None

    def _pending(self) -> Iterator[Node]:
        """Nodes that are not settled, the one that loses least first."""
        at_first = self.bound.copy()
        for number in np.argsort(at_first, kind="stable").tolist():
            if at_first[number] >= self.least - TIE:
                return
            node = self.ways.node(number)
            while not self._is_settled(node):
                if self.bound[number] >= self.least - TIE:
                    break
                yield node
                if self.is_late():
                    return

    def _is_settled(self, node: Node) -> bool:
        return node in self.seen or self.has_failed(node)

    def has_failed(self, node: Node) -> bool:
        """Whether it is known without a look that it cannot keep the targets."""
        return bool(self.fails[self.ways.number(node)])

    def bound_of(self, node: Node) -> float:
        """What a node loses at least."""
        return float(self.bound[self.ways.number(node)])

    def is_late(self) -> bool:
        """Whether the time is up."""
        return self.seconds is not None and time.monotonic() - self.start > self.seconds

    @property
    def left(self) -> float | None:
        """Seconds that are left; None: as many as it takes."""
        if self.seconds is None:
            return None
        return max(self.seconds - (time.monotonic() - self.start), 0.0)

    def _climb(self, node: Node) -> None:
        """Halve the way from a node to the coarsest one."""
        if not self.prunes and self.best is not None:
            self._at(node)
            return
        path = self._path(node)
        low, high = 0, len(path) - 1
        while low < high:
            middle = (low + high) // 2
            if self._at(path[middle]):
                high = middle
            else:
                low = middle + 1
            if self.is_late():
                return
        self._at(path[low])
        if not self._is_settled(node):
            self._at(node)

    def _path(self, node: Node) -> list[Node]:
        """From a node up, each step the one that loses least."""
        path = [node]
        while steps := list(beside(path[-1], self.ways.top, (1,))):
            path.append(min(steps, key=self.bound_of))
        return path

    def _at(self, node: Node) -> bool:
        """Whether a node keeps the targets, looked at once."""
        if self.has_failed(node):
            return False
        if node not in self.seen:
            found = self.look(node)
            self.seen[node] = found if self.pareto else found.without_people()
            if found.keeps and found.loss < self.least - TIE:
                self.best = found
            self._learn(found)
        return self.seen[node].keeps

    def _learn(self, found: Looked) -> None:
        """What a look says of other nodes."""
        coarser = tuple(slice(i, None) for i in found.node)
        bound = self.bound.reshape(self.ways.shape)[coarser]
        np.maximum(bound, self.ways.coarser_lose(found.node), out=bound)
        if found.finer_fail:
            finer = tuple(slice(0, i + 1) for i in found.node)
            self.fails.reshape(self.ways.shape)[finer] = True

    def _certificate(self, *, late: bool) -> Certificate:
        skipped = {}
        seen = np.zeros(self.ways.size, dtype=bool)
        seen[[self.ways.number(node) for node in self.seen]] = True
        failed = self.fails & ~seen
        worse = ~seen & ~failed & (self.bound >= self.least - TIE)
        for why, which in ((COARSER_FAILS, failed), (LOSES_MORE, worse)):
            if which.any():
                skipped[why] = int(which.sum())
        open_ = ~seen & ~failed & ~worse
        lowest = self.bound.copy()
        for node, found in self.seen.items():
            number = self.ways.number(node)
            lowest[number] = max(lowest[number], found.at_least)
            unsure = not found.is_sure and not self.fails[number]
            open_[number] = unsure and lowest[number] < self.least - TIE
        gap = self.least - float(lowest[open_].min()) if open_.any() else 0.0
        return Certificate(
            self.ways.size, len(self.seen), skipped, int(open_.sum()), gap,
            time.monotonic() - self.start, late,
        )  # fmt: skip


def beside(node: Node, top: Node, steps: Sequence[int]) -> Iterator[Node]:
    """One column by so many levels coarser (1) or finer (-1)."""
    for j, place in enumerate(node):
        for other in (place + step for step in steps):
            if 0 <= other <= top[j]:
                yield (*node[:j], other, *node[j + 1 :])
