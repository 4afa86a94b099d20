"""Local suppression: single cells are emptied of people who would have to be left out.

A second stage, and a heuristic.  At a way to release, those who would have to go are taken back
with some of their cells empty, and who is still over a limit then goes after all.  Who fits
somebody is counted by what the emptied cells held (microdata/matching.py), so an emptied cell adds
a row that fits others and takes none away: nobody who was safe without these people is over a limit
with them.  "So many alike" counts rows that are written alike, as every verdict does; too few who
are alike on the other columns are joined by people whose own class can spare them.  What was
emptied is then looked at again, cell by cell (exchange.py).

The ways that are tried begin with those that can lose least and with the best one that empties
nothing, and go on to the ways one level finer or coarser.

Who is written like too few has a cell emptied or goes, whatever else is done, but who misses a
value: others whose cells are emptied are then written like that row.  So that many cells at least,
each the one of the person that loses least, bound what a way loses where "so many alike" is asked
for; a search over these bounds says what no choice of cells can go below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import combinations, count

import numpy as np

from reidbn.microdata.classes import Ints
from reidbn.plans.exchange import Steps, grown, trimmed
from reidbn.plans.losses import Separable
from reidbn.plans.nodes import TIE, Flags, Looked, Release
from reidbn.plans.search import Certificate, Search, beside
from reidbn.plans.ways import Node
from reidbn.progress import progress

MOST_TRIED = 30
"""Ways at which cells are emptied, at most."""
MOST_TAKEN = 20 * MOST_TRIED
"""Ways that are gone through, those included that lose too much by their levels alone."""
MOST_STARTS = 5
"""Ways that can lose least from which the tries begin, of each kind."""
CELLS_EACH = (1, 2, 4)
"""Cells that may be emptied of everybody who is written like too few, of each kind of beginning."""
UNKNOWN = 1e9  # stands before the loss of a way of which nothing better is known
MOST_AT_ONCE = 3
"""Cells of one person that are emptied, at most."""


@dataclass(frozen=True, eq=False)
class Emptying:
    """What came of emptying cells."""

    found: tuple[Looked, ...]
    """The ways at which the targets are kept so, each with cells emptied."""
    tried: int
    lowest: float
    """What every way loses at least, whatever cells are emptied."""

    @property
    def best(self) -> Looked | None:
        return min(self.found, key=lambda one: one.loss, default=None)

    def certificate(self, of: Certificate, least: float) -> Certificate:
        """The certificate of the first stage, and what is known of the second."""
        return replace(of, gap=max(least - self.lowest, 0.0), tried=self.tried)


def emptied(table: Release, search: Search, cells: int) -> Emptying:
    """Ways to release with at most so many cells emptied, from the best of the search on."""
    ways, least = table.ways, search.least
    start = ways.number(ways.top if search.best is None else search.best.node)
    lowest, low = _lowest(table, search, cells)
    queue = [(-1.0, start), *low]
    heapify(queue)
    waiting = {number for _, number in queue}
    found: list[Looked] = []
    bar = progress(count(), "emptying single cells")
    tried, steps = 0, Steps.for_people(len(table.people), search.is_late, bar)
    for number in _taken(queue, search):
        next(bar)
        node, loss = ways.node(number), UNKNOWN + float(search.bound[number])
        if max(search.bound[number], bounded(table, node, cells).loss) < least - TIE:
            one, tried = at(table, node, cells, steps), tried + 1
            if one is not None and one.keeps:
                found.append(one)
                loss, least = one.loss, min(least, one.loss)
        for other in map(ways.number, beside(node, ways.top, (-1, 1))):
            if other not in waiting:
                waiting.add(other)
                heappush(queue, (loss, other))
        if tried == MOST_TRIED:
            break
    return Emptying(tuple(found), tried, lowest)


def _lowest(table: Release, search: Search, cells: int) -> tuple[float, list[tuple[float, int]]]:
    """What every way loses at least, and ways that lose least by that.

    Some have few enough who are written like too few to empty several cells of each.
    """
    nests = all(option.nests for option in table.options)
    lowest, found = float(search.bound.min()), dict[int, float]()
    for each in CELLS_EACH if table.k else ():
        look = partial(bounded, table, cells=cells // each)
        bounds = Search(table.ways, look, nests, search.left)
        proof = bounds.run()
        if each == 1 and bounds.best is not None:
            lowest = bounds.least - proof.gap
        low = sorted((one.loss, node) for node, one in bounds.seen.items() if one.keeps)
        found |= {table.ways.number(node): loss for loss, node in low[:MOST_STARTS]}
    return lowest, [(loss, number) for number, loss in found.items()]


def bounded(table: Release, node: Node, cells: int) -> Looked:
    """What a way loses at least, whatever cells are emptied and whoever goes."""
    ways, everybody = table.ways, np.ones(len(table.people), dtype=bool)
    assert isinstance(ways, Separable)  # noqa: S101 - others are refused
    alone = table.sizes(node, everybody) < table.k
    alone &= ~table.missing.any(axis=1)  # these may be joined by others whose cells are emptied
    if int(alone.sum()) > cells + table.budget:
        nests = all(option.nests for option in table.options)
        return Looked(node, None, True, {}, finer_fail=nests)
    each = ways.loss_of_each_cell(node, alone)[:, _can_be_emptied(table, node)]
    gone = ways.loss_of_each_cell(node, alone).sum(axis=1, keepdims=True)
    least = np.concatenate([each, gone], axis=1).min(axis=1)
    return Looked(node, ~everybody, True, {}, ways.loss(node, ~everybody) + float(least.sum()))


def _taken(queue: list[tuple[float, int]], search: Search) -> Iterator[int]:
    """Those beside the way that loses least first, while there is time; at least one where no way
    without empty cells was found.
    """
    for taken in range(MOST_TAKEN):
        if not queue or (search.is_late() and (taken or search.best is not None)):
            return
        yield heappop(queue)[1]


def at(table: Release, node: Node, cells: int, steps: Steps) -> Looked | None:
    """A way to release where people who would be left out are taken back with cells emptied.

    None where it needs none emptied, or where values of the way match several others.
    """
    ways, everybody = table.ways, np.ones(len(table.people), dtype=bool)
    assert isinstance(ways, Separable)  # noqa: S101 - others are refused
    plain = table.but(budget=len(everybody) - 1).look(node)
    safe = ~plain.left_out if plain.left_out is not None else ~everybody
    if safe.all() or not table.released(node, everybody).is_partition:
        return None
    choices: list[tuple[Flags, Flags] | None] = [_taken_back(table, node, safe, cells, steps)]
    if table.named:
        allowed = _can_be_emptied(table, node)
        starts = [everybody, safe] if safe.any() else [everybody]
        choices += [grown(table, node, own, allowed, cells, steps) for own in starts]
    best = Looked(node, None, False, {})
    for kept, gone in (c for c in choices if c is not None):
        if gone.any() and int((~kept).sum()) <= table.budget:
            gone = trimmed(table, node, kept, gone, steps)
            lost = ways.loss(node, ~kept) + ways.loss_of_cells(node, gone)
            if lost < best.loss:
                values = table.values(table.but(gone=gone).risks(node, kept))
                best = Looked(node, ~kept, False, values, lost, emptied=gone)
    return best


def _taken_back(
    table: Release, node: Node, kept: Flags, cells: int, steps: Steps
) -> tuple[Flags, Flags]:
    """Who is released, and which cells are emptied: those who are left out, group by group."""
    kept, gone = kept.copy(), np.zeros((len(kept), len(node)), dtype=bool)
    patterns = _patterns(table, node)
    for joined in (False, True) if table.k else (False,):
        for pattern in patterns:
            if not (kept.all() or steps.is_late()):
                left = cells - int(gone[kept].sum())
                more = _fitting(table, node, kept, gone, pattern, left, steps, joined=joined)
                gone |= more[:, None] & pattern
                kept |= more
    return kept, gone


def _can_be_emptied(table: Release, node: Node) -> Flags:
    """Columns that are there, and are not to be kept."""
    return np.array([o.levels[place] < o.ladder.levels and len(o.levels) > 1
                     for o, place in zip(table.options, node, strict=True)])  # fmt: skip


def _patterns(table: Release, node: Node) -> list[Flags]:
    """Columns that are emptied together, those that lose least first."""
    assert isinstance(table.ways, Separable)  # noqa: S101 - others are refused
    some = np.flatnonzero(_can_be_emptied(table, node)).tolist()
    each, people = np.eye(len(node), dtype=bool), len(table.people)
    lost = [table.ways.loss_of_cells(node, np.tile(own, (people, 1))) for own in each]
    found: list[Flags] = [
        np.asarray(each[list(own)].any(axis=0))
        for r in range(1, min(len(some), MOST_AT_ONCE) + 1)
        for own in combinations(some, r)
    ]
    return sorted(found, key=lambda own: (float(np.dot(own, lost)), own.tolist()))


def _fitting(
    table: Release, node: Node, kept: Flags, gone: Flags, pattern: Flags, cells: int,
    steps: Steps, *, joined: bool,
) -> Flags:  # fmt: skip
    """Of those who are left out, who can be released with these cells emptied.

    If `joined`, with people who are in and whose class can spare them, whose cells go, too.
    """
    some = _in_groups(table, node, kept, gone, pattern, cells // int(pattern.sum()), joined=joined)
    while (some & ~kept).any() and not steps.is_late():
        own = gone | (some[:, None] & pattern)
        next(steps.bar)
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
    table: Release, node: Node, kept: Flags, gone: Flags, pattern: Flags, most: int, *, joined: bool
) -> Flags:
    """Those who are left out and alike on the other columns: whole groups, the largest first, at
    most so many people; if `joined`, with as many who can be spared as it takes to be enough
    beside those who are written so already.
    """
    nobody = np.zeros(len(kept), dtype=bool)
    spare = _spared(table, node, kept, gone) if joined else nobody
    there = kept & ((gone | table.missing) == pattern).all(axis=1) if joined else nobody
    who = np.flatnonzero(there | ((~kept | spare) & ~(table.missing & pattern).any(axis=1)))
    is_out, is_there, taken = ~kept[who], there[who], nobody.copy()
    ids, count = table.classes(node, who, ~pattern)
    out = np.bincount(ids[is_out], minlength=count)
    have = np.bincount(ids[is_there], minlength=count)
    need = np.maximum(table.k - out - have, 0) * joined
    joins, can_join = np.zeros(len(who), dtype=bool), ~is_out & ~is_there
    joins[can_join] = _place(ids[can_join]) < need[ids[can_join]]
    sizes = np.bincount(ids[is_out | joins], minlength=count)
    order = np.lexsort((-sizes, need))
    alone = 1 if gone.any() else 2  # who is alone may be like somebody who was taken back before
    enough = (sizes + have)[order] >= (table.k if joined else alone)
    fits = (np.cumsum(sizes[order]) <= most) & enough
    chosen = order[fits & (out[order] > 0)]
    taken[who[np.isin(ids, chosen) & (is_out | joins)]] = True
    return taken


def _spared(table: Release, node: Node, kept: Flags, gone: Flags) -> Flags:
    """People with all their cells who are more than it takes to be enough in their class."""
    who = np.flatnonzero(kept & ~gone.any(axis=1))
    found = np.zeros(len(kept), dtype=bool)
    found[who[_place(table.classes(node, who)[0]) >= table.k]] = True
    return found


def _place(ids: Ints) -> Ints:
    """Of each the place within its class, from 0."""
    order = np.argsort(ids, kind="stable")
    sizes = np.bincount(ids)
    place = np.empty(len(ids), dtype=np.int64)
    place[order] = np.arange(len(ids)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return place
