"""Local suppression: single cells are emptied of people who would have to be left out.

A second stage, and a heuristic.  At a way to release, those who would have to go are taken back
with some of their cells empty, and who is still over a limit then goes after all.  Who fits
somebody is counted by what the emptied cells held (microdata/matching.py), so an emptied cell adds
a row that fits others and takes none away: nobody who was safe without these people is over a limit
with them.  "So many alike" counts rows that are written alike, as every verdict does.

The ways that are tried begin with the best one that empties nothing and go on to the ways one level
finer or coarser, the one that loses least first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import combinations

import numpy as np

from reidbn.microdata.classes import class_ids
from reidbn.plans.losses import Separable
from reidbn.plans.nodes import TIE, Flags, Looked, Release
from reidbn.plans.search import Certificate, Search
from reidbn.plans.ways import Node
from reidbn.progress import progress

MOST_TRIED = 60
"""Ways at which cells are emptied, at most."""
MOST_TAKEN = 10 * MOST_TRIED
"""Ways that are gone through, those included that lose too much by their levels alone."""
UNKNOWN = 1e9  # stands before the loss of a way of which nothing better is known
MOST_AT_ONCE = 3
"""Cells of one person that are emptied, at most."""


@dataclass(frozen=True, eq=False)
class Emptying:
    """What came of emptying cells."""

    found: tuple[Looked, ...]
    """The ways at which the targets are kept so, each with cells emptied."""
    tried: int

    @property
    def best(self) -> Looked | None:
        return min(self.found, key=lambda one: one.loss, default=None)

    def certificate(self, of: Certificate, search: Search, least: float) -> Certificate:
        """The certificate of the first stage, and what is known of the second: what a way loses
        by its levels alone.
        """
        gap = max(least - float(search.bound.min()), 0.0)
        return replace(of, gap=gap, tried=self.tried)


def emptied(table: Release, search: Search, cells: int) -> Emptying:
    """Ways to release with at most so many cells emptied, from the best of the search on."""
    ways, least = table.ways, search.least
    top = tuple(n - 1 for n in ways.shape)
    start = ways.number(top if search.best is None else search.best.node)
    queue, waiting = [(-1.0, start)], {start}
    found: list[Looked] = []
    tried = 0
    for number in progress(_taken(queue, search), "emptying single cells", total=MOST_TAKEN):
        node, loss = ways.node(number), UNKNOWN + float(search.bound[number])
        if search.bound[number] < least - TIE:
            one, tried = at(table, node, cells), tried + 1
            if one is not None and one.keeps:
                found.append(one)
                loss, least = one.loss, min(least, one.loss)
        for other in map(ways.number, _beside(node, top)):
            if other not in waiting:
                waiting.add(other)
                heappush(queue, (loss, other))
        if tried == MOST_TRIED:
            break
    return Emptying(tuple(found), tried)


def _taken(queue: list[tuple[float, int]], search: Search) -> Iterator[int]:
    """Those beside the way that loses least first; at least one, and while there is time."""
    for _ in range(MOST_TAKEN):
        if not queue:
            return
        yield heappop(queue)[1]
        if search.is_late():
            return


def _beside(node: Node, top: Node) -> Iterator[Node]:
    """One level finer or coarser in one column."""
    for j, place in enumerate(node):
        for other in (place - 1, place + 1):
            if 0 <= other <= top[j]:
                yield (*node[:j], other, *node[j + 1 :])


def at(table: Release, node: Node, cells: int) -> Looked | None:
    """A way to release where people who would be left out are taken back with cells emptied.

    None where it needs none emptied, or where values of the way match several others.
    """
    everybody = len(table.people)
    plain = table.but(budget=everybody - 1).look(node)
    kept = ~plain.left_out if plain.left_out is not None else np.zeros(everybody, dtype=bool)
    if kept.all() or not table.released(node, np.ones(everybody, dtype=bool)).is_partition:
        return None
    gone = np.zeros((everybody, len(node)), dtype=bool)
    for pattern in _patterns(table, node):
        more = _fitting(table, node, kept, gone, pattern, cells - int(gone[kept].sum()))
        if more.any():
            gone |= more[:, None] & pattern
            kept |= more
        if kept.all():
            break
    if not gone.any() or everybody - int(kept.sum()) > table.budget:
        return Looked(node, None, False, {})
    ways = table.ways
    assert isinstance(ways, Separable)  # noqa: S101 - others are refused
    loss = ways.loss(node, ~kept) + ways.loss_of_cells(node, gone)
    return Looked(
        node, ~kept, False, table.values(table.but(gone=gone).risks(node, kept)), loss, emptied=gone
    )


def _patterns(table: Release, node: Node) -> list[Flags]:
    """Columns that are emptied together, those that lose least first."""
    assert isinstance(table.ways, Separable)  # noqa: S101 - others are refused
    some: list[int] = []
    each, people = np.eye(len(node), dtype=bool), len(table.people)
    for j, option in enumerate(table.options):
        is_there = option.levels[node[j]] < option.ladder.levels
        if is_there and len(option.levels) > 1:  # what is to be kept is kept
            some.append(j)
    lost = [table.ways.loss_of_cells(node, np.tile(own, (people, 1))) for own in each]
    found: list[Flags] = [
        np.asarray(each[list(own)].any(axis=0))
        for r in range(1, min(len(some), MOST_AT_ONCE) + 1)
        for own in combinations(some, r)
    ]
    return sorted(found, key=lambda own: (float(np.dot(own, lost)), own.tolist()))


def _fitting(
    table: Release, node: Node, kept: Flags, gone: Flags, pattern: Flags, cells: int
) -> Flags:
    """Of those who are left out, who can be released with these cells emptied."""
    joins = bool(gone.any())  # who is alone may be like somebody who was taken back before
    some = _in_groups(table, node, ~kept, pattern, cells // int(pattern.sum()), 1 if joins else 2)
    while some.any():
        own = gone | (some[:, None] & pattern)
        both = kept | some
        risks = table.but(gone=own).risks(node, both)
        back = some[both]  # among those who are released
        over = np.zeros(int(both.sum()), dtype=bool)
        for t in table.targets:
            risk = risks[t.key]
            if t.is_of_everybody:
                over |= t.beyond(risk)
            elif not t.is_met(risk):
                own_risk = np.where(back, risk, -np.inf)
                most = np.sort(own_risk)[::-1][min(t.fewest_to_leave(risk), int(back.sum())) - 1]
                over |= back & (own_risk >= most)
        if not over.any():
            return some
        if (over & ~back).any():
            break
        some[np.flatnonzero(both)[over]] = False
    return np.zeros(len(kept), dtype=bool)


def _in_groups(
    table: Release, node: Node, left_out: Flags, pattern: Flags, most: int, fewest: int
) -> Flags:
    """Those who are alike on the other columns: whole groups, the largest first, at most so many
    people, in groups of at least `fewest`.
    """
    who = np.flatnonzero(left_out)
    others = np.flatnonzero(~pattern).tolist()
    codes = np.stack(
        [table.options[j].codes[node[j]][table.people.table[who, j]] for j in others], axis=1
    ) if others else np.zeros((who.size, 0), dtype=np.int32)  # fmt: skip
    ids, count = class_ids(
        np.asfortranarray(codes), [int(table.options[j].codes[node[j]].max()) + 1 for j in others]
    )
    sizes = np.bincount(ids, minlength=count)
    order = np.argsort(-sizes, kind="stable")
    fits = (np.cumsum(sizes[order]) <= most) & (sizes[order] >= fewest)
    found = np.zeros(len(left_out), dtype=bool)
    found[who[np.isin(ids, order[fits])]] = True
    return found
