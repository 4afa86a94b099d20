"""One node looked at: who must be left out so that every target is kept, and what is lost by it.

Who is over a limit that everybody must keep goes, and again those who are over it then, until
nobody is.  Leaving people out takes from others those who are like them, so risks only rise, and
what is left is the largest set that is safe (a set of people that is safe by
itself never loses a member).  Where a target is about the table as a whole (a mean, a quantile),
those with the highest risks go, no fewer than arithmetic asks for; whether fewer others would have
done is not known, and the node is then said to be looked at, not solved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.changes import released
from reidbn.microdata.classes import Ints
from reidbn.microdata.rows import DistinctRows, distinct_rows
from reidbn.microdata.table import People
from reidbn.plans.targets import ALIKE, Array, Target
from reidbn.plans.ways import Node, Option, Ways, sizes_at

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Looked:
    """What came of looking at a node."""

    node: Node
    left_out: Flags | None
    """Who is left out, in record order; None where the targets cannot be kept within the budget."""
    is_sure: bool
    """Whether that is the fewest, or that none will do, by proof."""
    values: Mapping[Target, float]
    """Each target's number for those who are left; of a node that fails, with nobody left out."""
    loss: float = float("inf")

    @property
    def keeps(self) -> bool:
        return self.left_out is not None


@dataclass(frozen=True, eq=False)
class Release:
    """The people, the ways to release them, the targets, and how many may be left out."""

    people: People
    options: tuple[Option, ...]
    ways: Ways
    targets: tuple[Target, ...]
    base: Assessment | None
    budget: int
    rows: DistinctRows
    rises: bool
    """Whether leaving people out is known to lower nobody's risk."""

    def look(self, node: Node) -> Looked:
        """Leave out whom the targets ask for, and say what is lost."""
        kept = np.ones(len(self.people), dtype=bool)
        sure, first = True, None
        while True:
            risks = self.risks(node, kept)
            values = {t: t.value(risks[t.measure]) for t in self.targets}
            first = first or values
            go, exact = self._who_goes(risks)
            if go is None:
                lost = self.ways.loss(node, self.people.table, ~kept)
                return Looked(node, ~kept, sure, values, lost)
            sure = sure and exact
            left = int(kept.sum()) - int(go.sum())
            if len(kept) - left > self.budget or left == 0:
                return Looked(node, None, self.budget == 0 or (self.rises and sure), first)
            kept[np.flatnonzero(kept)[go]] = False

    def _who_goes(self, risks: Mapping[str, Array]) -> tuple[Flags | None, bool]:
        """Who is to be left out next, and whether any safe set must leave them out."""
        unmet = [t for t in self.targets if not t.is_met(risks[t.measure])]
        if not unmet:
            return None, True
        for_all = [t for t in unmet if t.is_of_everybody]
        if for_all:
            go = np.any([t.beyond(risks[t.measure]) for t in for_all], axis=0)
            return go, self.rises
        target = max(unmet, key=lambda t: t.fewest_to_leave(risks[t.measure]))
        risk = risks[target.measure]
        fewest = target.fewest_to_leave(risk)
        if fewest > self.budget - (len(self.people) - len(risk)):
            return np.ones(len(risk), dtype=bool), self.rises and len(risk) == len(self.people)
        return _highest(risk, fewest), False

    def risks(self, node: Node, kept: Flags) -> dict[str, Array]:
        """Every measure that a target names, of each person who is kept."""
        wanted = {t.measure for t in self.targets}
        found: dict[str, Array] = {}
        if ALIKE in wanted:
            found[ALIKE] = 1.0 / self._sizes(node, kept)
        if wanted - {ALIKE}:
            assert self.base is not None  # noqa: S101 - asked for with the targets
            result = self.assessed(node, kept)
            found |= {name: result.risk(name) for name in wanted - {ALIKE}}
        return found

    def _sizes(self, node: Node, kept: Flags) -> Ints:
        rows, of = self.rows, self.rows.of_record[kept]
        if not kept.all():
            people = np.bincount(of, minlength=rows.rows).astype(float)
            some = people > 0
            rows = replace(rows, codes=tuple(c[some] for c in rows.codes), people=people[some])
            of = (np.cumsum(some) - 1)[of]
        return sizes_at(rows, self.options, node)[of]

    def assessed(self, node: Node, kept: Flags) -> Assessment:
        """The assessment of those who are kept, released so."""
        assert self.base is not None  # noqa: S101 - the caller looked
        ladders = {o.name: o.ladder for o in self.options}
        return released(self.base, self.ways.levels(node), ladders, kept)


def _highest(risk: Array, count: int) -> Flags:
    """At least so many with the highest risks; who has the same risk goes with them."""
    order = np.sort(risk)[::-1]
    go: Flags = risk >= order[max(count, 1) - 1]
    return go


def rows_of(people: People, options: Sequence[Option]) -> DistinctRows:
    """The distinct rows of the quasi-identifiers, as they are written."""
    width = len(options)
    return distinct_rows(people.table[:, :width], [len(o.counts) for o in options])
