"""Exchange: which cells are emptied, looked at one after the other.

For limits on risks whose cell is emptied is a choice of its own: it takes nobody away who fits
somebody, and adds a row for others, so that the cells of people who are safe may be the ones to
empty.  `grown` empties, one after the other, the cell that takes most of what is over the limits
for what it loses.  `trimmed` gives cells back that need not be empty.  Both are heuristics, each
look is a count of the whole table, and there is an end to looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.microdata.classes import class_ids
from reidbn.plans.losses import Separable
from reidbn.plans.nodes import Flags, Release
from reidbn.plans.ways import Node
from reidbn.population.structured import STRUCTURED

MOST_LOOKS = 2_000
"""How often a table is counted for exchanges, at most."""
MOST_COUNTED = 2_000_000
"""People who are counted in all of these looks."""
OF_AN_ASSESSMENT = 10  # looks that are worth one at risks which the classes do not tell
OF_LAYERS = 50  # that one is worth under the structured model, which fits every subset's layers
OF_CLASSES = 0.1  # that classes alone are


@dataclass
class Steps:
    """Looks that are left, and whether the time is up."""

    left: float
    is_late: Callable[[], bool]
    bar: Iterator[Any]
    """What is shown of them."""

    @classmethod
    def for_people(cls, people: int, is_late: Callable[[], bool], bar: Iterator[Any]) -> Steps:
        return cls(min(MOST_LOOKS, MOST_COUNTED / people), is_late, bar)

    def look(self, table: Release, node: Node, kept: Flags, gone: Flags) -> float:
        """What is over the limits with these cells emptied; 0 where every target is kept."""
        next(self.bar)
        assessed = [table.bases[name].inputs for name in table.named if name not in table.told]
        structured = sum(i.population_model == STRUCTURED for i in assessed)
        cost = OF_LAYERS * structured + OF_AN_ASSESSMENT * (len(assessed) - structured)
        self.left -= max(cost + len(table.told), OF_CLASSES)
        risks = table.but(gone=gone).risks(node, kept)
        return sum(t.excess(risks[t.key]) for t in table.targets)

    @property
    def are_over(self) -> bool:
        return self.left <= 0 or self.is_late()


def grown(
    table: Release, node: Node, kept: Flags, allowed: Flags, cells: int, steps: Steps
) -> tuple[Flags, Flags] | None:
    """Cells of these people, emptied one after the other until every target is kept."""
    assert isinstance(table.ways, Separable)  # noqa: S101 - others are refused
    lost = table.ways.loss_of_each_cell(node, np.ones(len(kept), dtype=bool))
    gone = np.zeros((len(kept), len(node)), dtype=bool)
    if steps.are_over:
        return None
    over = steps.look(table, node, kept, gone)
    alike = _alike(table, node, np.flatnonzero(kept), gone)
    columns = np.flatnonzero(allowed).tolist()
    queue = [(-np.inf, n, j) for n in range(len(alike)) for j in columns]
    while over > 0:
        if not queue or steps.are_over or int(gone.sum()) == cells:
            return None
        _, n, j = heappop(queue)
        free = alike[n][~(gone | table.missing)[alike[n], j]]
        if not free.size:
            continue
        i = free[np.argmin(lost[free, j])]
        gone[i, j] = True
        less = steps.look(table, node, kept, gone)
        gain = (over - less) / (lost[i, j] + 1e-12)
        if gain > 0 and (not queue or gain >= -queue[0][0]):
            over = less
        else:
            gone[i, j] = False
        if gain > 0:
            heappush(queue, (-gain, n, j))
    return kept, gone


def trimmed(table: Release, node: Node, kept: Flags, gone: Flags, steps: Steps) -> Flags:
    """What has to stay empty: of people alike at once, then of each, what loses most first."""
    assert isinstance(table.ways, Separable)  # noqa: S101 - others are refused
    some = np.flatnonzero(gone.any(axis=1))
    lost = np.zeros(gone.shape)
    lost[some] = table.ways.loss_of_each_cell(node, some)
    gone = gone.copy()
    for groups in (_alike(table, node, some, gone), list(some[:, None])):
        pieces = [(own, j) for own in groups for j in np.flatnonzero(gone[own[0]]).tolist()]
        for own, j in sorted(pieces, key=lambda one: -float(lost[one[0], one[1]].sum())):
            if steps.are_over:
                return gone
            gone[own, j] = False
            if steps.look(table, node, kept, gone) > 0:
                gone[own, j] = True
    return gone


def _alike(table: Release, node: Node, who: NDArray[Any], gone: Flags) -> list[NDArray[Any]]:
    """People whose rows and whose emptied cells are the same."""
    ids = table.classes(node, who)[0].astype(np.int32)
    both = np.column_stack([ids, gone[who]]).astype(np.int32)
    of, count = class_ids(np.asfortranarray(both), [int(c.max(initial=0)) + 1 for c in both.T])
    order = np.argsort(of, kind="stable")
    return np.split(who[order], np.cumsum(np.bincount(of, minlength=count))[:-1])
