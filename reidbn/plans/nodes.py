"""One node looked at: who must be left out so that every target is kept, and what is lost by it.

Who is over a limit that everybody must keep goes, and again those who are over it then, until
nobody is.  Leaving people out takes from others those who are like them, so risks only rise, and
what is left is the largest set that is safe (a set of people that is safe by
itself never loses a member).  Where a target is about the table as a whole (a mean, a quantile),
those with the highest risks go, no fewer than arithmetic asks for; whether fewer others would have
done is not known, and what the node loses at least is said beside what it loses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.changes import released
from reidbn.microdata.classes import Ints
from reidbn.microdata.rows import DistinctRows, distinct_rows
from reidbn.microdata.table import People
from reidbn.plans.rising import Direction, least_risk
from reidbn.plans.targets import ALIKE, Array, Target
from reidbn.plans.ways import Node, Option, Ways, sizes_at

Flags = NDArray[np.bool_]
Key = tuple[str, str]
TIE = 1e-12  # losses that differ by less are the same


@dataclass(frozen=True, eq=False)
class Looked:
    """What came of looking at a node."""

    node: Node
    left_out: Flags | None
    """Who is left out, in record order; None where the targets cannot be kept within the budget."""
    is_sure: bool
    """Whether nothing is lost less here, or that none will do, by proof."""
    values: Mapping[Target, float]
    """Each target's number for those who are left; of a node that fails, with nobody left out."""
    loss: float = float("inf")
    at_least: float = 0.0
    """What any set of people that keeps the targets here loses."""
    finer_fail: bool = False
    """Whether every finer node fails too, by proof."""

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
    bases: Mapping[str, Assessment]
    """The table as it is under each attack and scenario."""
    budget: int
    rows: DistinctRows
    directions: Mapping[Key, Direction | None]
    """Which way the measure of each target moves, where that is shown."""

    @cached_property
    def rises(self) -> bool:
        """Whether leaving people out is known to lower nobody's risk."""
        return all(d is not None for d in self.directions.values())

    @cached_property
    def falls(self) -> bool:
        """Whether a coarser table is known to raise nobody's risk, the population left away."""
        nest = all(option.nests for option in self.options)
        return nest and self.rises

    def look(self, node: Node) -> Looked:
        """Leave out whom the targets ask for, and say what is lost."""
        kept = np.ones(len(self.people), dtype=bool)
        results = self.assessed(node, kept)
        risks = at_start = self.risks(node, kept, results)
        forced, more = None, 0
        while unmet := [t for t in self.targets if not t.is_met(risks[t.key])]:
            go = self._over(unmet, risks)
            if forced is None and not (self.rises and go.any()):  # from here on it is a choice
                forced = ~kept
                if self.rises:
                    more = max(t.fewest_to_leave(risks[t.key]) for t in unmet)
            if not go.any():
                go = self._highest(unmet, risks)
            kept[np.flatnonzero(kept)[go]] = False
            if len(kept) - kept.sum() > self.budget:
                must = int((~kept if forced is None else forced).sum()) + more
                sure = must > self.budget or self.budget == 0
                fail = self._finer_fail(at_start, results, sure=sure)
                return Looked(node, None, sure, self._values(at_start), finer_fail=fail)
            risks = self.risks(node, kept)
        lost = self.ways.loss(node, self.people.table, ~kept)
        least = (
            lost if forced is None else self.ways.at_least(node, self.people.table, forced, more)
        )
        return Looked(node, ~kept, lost <= least + TIE, self._values(risks), lost, least)

    def _values(self, risks: Mapping[Key, Array]) -> dict[Target, float]:
        return {t: t.value(risks[t.key]) for t in self.targets}

    def _over(self, unmet: Sequence[Target], risks: Mapping[Key, Array]) -> Flags:
        """Who is over a limit that everybody has to keep."""
        over = [t.beyond(risks[t.key]) for t in unmet if t.is_of_everybody]
        people = len(next(iter(risks.values())))
        return np.asarray(np.any([np.zeros(people, dtype=bool), *over], axis=0))

    def _highest(self, unmet: Sequence[Target], risks: Mapping[Key, Array]) -> Flags:
        """Those with the highest risks, as many as have to go at least."""
        target = max(unmet, key=lambda t: t.fewest_to_leave(risks[t.key]))
        risk = risks[target.key]
        return _highest(risk, target.fewest_to_leave(risk))

    def _finer_fail(
        self, risks: Mapping[Key, Array], results: Mapping[str, Assessment], *, sure: bool
    ) -> bool:
        """Whether every finer node fails as this one does with nobody left out, by proof.

        Where it matters who is unique in the population, as many have to go on a finer table as
        are over their limits here if nobody were.
        """
        on_population = [key for key, d in self.directions.items() if d and d.on_population]
        if not self.falls or not on_population:
            return self.falls and sure
        least = {**risks, **{(name, m): least_risk(results[name], m) for name, m in on_population}}
        unmet = [t for t in self.targets if not t.is_met(least[t.key])]
        go = [int(self._over(unmet, least).sum())]
        return max(go + [t.fewest_to_leave(least[t.key]) for t in unmet]) > self.budget

    def risks(
        self, node: Node, kept: Flags, results: Mapping[str, Assessment] | None = None
    ) -> dict[Key, Array]:
        """Every measure that a target names, of each person who is kept."""
        results = self.assessed(node, kept) if results is None else results
        own = {t.key: results[t.under].risk(t.measure) for t in self.targets if not t.on_classes}
        if any(t.on_classes for t in self.targets):
            own["", ALIKE] = 1.0 / self._sizes(node, kept)
        return own

    def _sizes(self, node: Node, kept: Flags) -> Ints:
        rows, of = self.rows, self.rows.of_record[kept]
        if not kept.all():
            people = np.bincount(of, minlength=rows.rows).astype(float)
            some = people > 0
            rows = replace(rows, codes=tuple(c[some] for c in rows.codes), people=people[some])
            of = (np.cumsum(some) - 1)[of]
        return sizes_at(rows, self.options, node)[of]

    def assessed(self, node: Node, kept: Flags) -> dict[str, Assessment]:
        """The assessments of those who are kept, released so."""
        if kept.all() and not any(node):
            return dict(self.bases)
        ladders = {o.name: o.ladder for o in self.options}
        levels = self.ways.levels(node)
        return {name: released(base, levels, ladders, kept) for name, base in self.bases.items()}


def _highest(risk: Array, count: int) -> Flags:
    """At least so many with the highest risks; who has the same risk goes with them."""
    order = np.sort(risk)[::-1]
    go: Flags = risk >= order[max(count, 1) - 1]
    return go


def rows_of(people: People, options: Sequence[Option]) -> DistinctRows:
    """The distinct rows of the quasi-identifiers, as they are written."""
    width = len(options)
    return distinct_rows(people.table[:, :width], [len(o.counts) for o in options])
