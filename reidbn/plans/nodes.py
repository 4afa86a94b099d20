"""One node looked at: who must be left out so that every target is kept, and what is lost by it.

Who is over a limit that everybody must keep goes, and again those who are over it then, until
nobody is.  Leaving people out takes from others those who are like them, so risks only rise, and
what is left is the largest set that is safe (a set of people that is safe by
itself never loses a member).  Where a target is about the table as a whole (a mean, a quantile),
those with the highest risks go, no fewer than arithmetic asks for; whether fewer others would have
done is not known, and what the node loses at least is said beside what it loses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.above import SLACK, is_above
from reidbn.attacks.routes.assessment import OVERALL, Assessment
from reidbn.attacks.routes.changes import released
from reidbn.attacks.secrets.asked import has_secret
from reidbn.errors import EngineError, UsageError
from reidbn.microdata.classes import Codes, Ints, class_ids
from reidbn.microdata.coding import one_said
from reidbn.microdata.generalise import empty_cells, released_at
from reidbn.microdata.rows import DistinctRows, distinct_rows
from reidbn.microdata.table import People
from reidbn.plans.rising import Bounds, Direction, bounds_of
from reidbn.plans.targets import ALIKE, MEAN_GUESS, Array, Target
from reidbn.plans.ways import Node, Option, Ways, sizes_at
from reidbn.report.thresholds import worst_risk

Flags = NDArray[np.bool_]
Key = tuple[str, str]
Pair = tuple[Mapping[Key, Array], Mapping[Key, Array]]
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
    at_least: float = float("-inf")
    """What any set of people that keeps the targets here loses, beyond what the way itself does."""
    finer_fail: bool = False
    """Whether every finer node fails too, by proof."""

    is_bound: bool = False
    """Whether `values` are the most that they can be (of a node that fails: the least), and nothing
    was estimated of the population."""
    above: Mapping[Target, int] | None = None
    """Of what is assessed anew: how many stay above each limit that lets some people."""
    emptied: Flags | None = None
    """Whose cells of which columns are emptied; None: nobody's."""
    of_everybody: Looked | None = None
    """What comes of it where nobody may be left out; None: the same."""

    @property
    def keeps(self) -> bool:
        return self.left_out is not None

    def without_people(self) -> Looked:
        """The same, forgetting who is left out: what a proof needs of a way that is not taken."""
        return self if self.left_out is None else replace(self, left_out=self.left_out[:0].copy())


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
    gone: Flags | None = None
    """Cells that are emptied: people x options."""

    def but(self, **changes: Any) -> Release:
        """The same with other settings that no bound stands on."""
        found = replace(self, **changes)
        found.__dict__["bounds"] = self.bounds
        return found

    @cached_property
    def missing(self) -> Flags:
        """Cells that hold nothing to begin with: people x options."""
        none = [len(o.column.labels) - 1 if o.column.has_missing else -1 for o in self.options]
        return np.asarray(self.people.table[:, : len(none)] == np.array(none))

    @cached_property
    def secrets(self) -> dict[str, Ints]:
        """Everybody's value of each secret that a target limits.

        Texts that whoever reads the released file may take as one are one.  The largest share of
        one secret, and the mean share of one's own, are never lower so: a limit that is kept of
        these is kept of the texts as they stand, too.
        """
        names = {t.measure for t in self.targets if t.on_secret}
        return {
            name: one_said(self.people.labels(name))[self.people.codes([name])[:, 0]]
            for name in names
        }

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The attacks and scenarios that a target is about."""
        return tuple(dict.fromkeys(t.under for t in self.targets if not t.on_classes))

    @cached_property
    def bounds(self) -> dict[str, Bounds | None]:
        """Of each of these, what its measures are at least and at most at any node."""
        found = {}
        for name in self.named:
            own = {
                t.measure: self.directions[t.key]
                for t in self.targets
                if t.under == name and not t.on_classes
            }
            found[name] = bounds_of(self.bases[name], own)
        return found

    @cached_property
    def told(self) -> dict[str, Bounds]:
        """Those of them whose measures the classes tell, so that nothing has to be assessed."""
        return {
            name: found
            for name, found in self.bounds.items()
            if found is not None and not any(d.on_population for d in found.directions.values())
        }

    @cached_property
    def on_population(self) -> bool:
        """Whether it matters who is unique in the population."""
        return any(d is not None and d.on_population for d in self.directions.values())

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
        start = self.between(node, kept)
        if start is not None:
            found = self._settled(node, kept.copy(), start)
            if found is not None:
                unmet = any(not t.is_met(start[0][t.key]) for t in self.targets)
                return replace(found, of_everybody=self._failed(node, start)) if unmet else found
        found = self._counted(node, kept)
        choice = self.budget > 0 and any(t.on_secret for t in self.targets)
        if choice and not kept.all():  # whoever goes
            nobody = np.zeros(len(kept), dtype=bool)
            least = self.ways.at_least(node, nobody, 1)  # somebody has to go, and anybody may
            return replace(found, is_sure=False, finer_fail=False, at_least=least)
        return found

    def _settled(self, node: Node, kept: Flags, start: Pair) -> Looked | None:
        """What bounds alone settle: nothing is estimated of the population.

        Who is over a limit by the least that the risk can be has to go (kept changes); where too
        many have to, they have to on every finer node, too.  Where the most that it can be keeps
        every target, nobody else has to.
        """
        least, most = start
        free: tuple[Flags, int] | None = None  # who had to go, and how many more, before a choice
        while unmet := [t for t in self.targets if not t.is_met(least[t.key])]:
            plain = [t for t in unmet if not t.on_secret]
            if not plain and free is None:
                fewest = max(self._fewest(node, kept, t) for t in unmet)
                if len(kept) - int(kept.sum()) + fewest > self.budget:
                    return self._failed(node, start)
                free = ~kept, fewest
            go = self._over(plain or unmet, least)
            kept[np.flatnonzero(kept)[go]] = False
            out = len(kept) - int(kept.sum())
            more = 0 if go.any() else max(t.fewest_to_leave(least[t.key]) for t in plain or unmet)
            if out + more > self.budget:
                if free is not None:
                    return Looked(node, None, False, self.values(start[0]),
                                  is_bound=not _are_told(start))  # fmt: skip
                return self._failed(node, start)
            if not go.any():
                return None
            if not self.named:  # whole classes went, and the others are what they were
                least = most = {key: risk[~go] for key, risk in least.items()}
                continue
            between = self.between(node, kept)
            assert between is not None  # noqa: S101 - it was there for more people
            least, most = between
        if not all(t.is_met(most[t.key]) for t in self.targets):
            return None
        lost = self.ways.loss(node, ~kept)
        bound = not _are_told((least, most))
        at_least = lost if free is None else self.ways.at_least(node, *free)
        sure = lost <= at_least + TIE
        return Looked(node, ~kept, sure, self.values(most), lost, at_least, is_bound=bound)

    def _failed(self, node: Node, start: Pair) -> Looked:
        """A node that fails by bounds of everybody's measures, and every finer one with it."""
        return Looked(node, None, True, self.values(start[0]), finer_fail=self.falls,
                      is_bound=not _are_told(start))  # fmt: skip

    def _counted(self, node: Node, kept: Flags) -> Looked:
        """By assessments of those who are kept, everybody at first; who is not has to go."""
        risks = self.risks(node, kept)
        forced, more = None, 0
        whole = Looked(node, None, True, self.values(risks),
                       finer_fail=self.falls and not self.on_population)  # fmt: skip
        while unmet := [t for t in self.targets if not t.is_met(risks[t.key])]:
            go = self._over(unmet, risks)
            if forced is None and not (self.rises and go.any()):  # from here on it is a choice
                forced = ~kept
                more = max(t.fewest_to_leave(risks[t.key]) for t in unmet) if self.rises else 0
                more = max(more, 1)  # somebody has to go, and a loss may fall with who does
            if not go.any():
                go = self._highest(unmet, risks, self.classes(node, kept)[0])
            kept[np.flatnonzero(kept)[go]] = False
            if len(kept) - kept.sum() > self.budget:
                must = int((~kept if forced is None else forced).sum()) + more
                sure = must > self.budget or self.budget == 0
                fail = whole.finer_fail and sure
                return replace(whole, is_sure=sure, finer_fail=fail, of_everybody=whole)
            risks = self.risks(node, kept)
        lost = self.ways.loss(node, ~kept)
        least_lost = lost if forced is None else self.ways.at_least(node, forced, more)
        return Looked(node, ~kept, lost <= least_lost + TIE, self.values(risks), lost, least_lost,
                      of_everybody=None if kept.all() else whole)  # fmt: skip

    def values(self, risks: Mapping[Key, Array]) -> dict[Target, float]:
        return {t: t.value(risks[t.key]) for t in self.targets}

    def _over(self, unmet: Sequence[Target], risks: Mapping[Key, Array]) -> Flags:
        """Who is over a limit that everybody has to keep."""
        over = [t.beyond(risks[t.key]) for t in unmet if t.is_of_everybody]
        people = len(next(iter(risks.values())))
        return np.asarray(np.any([np.zeros(people, dtype=bool), *over], axis=0))

    def _highest(self, unmet: Sequence[Target], risks: Mapping[Key, Array], classes: Ints) -> Flags:
        """Those with the highest risks, as many as have to go at least."""
        target = max(unmet, key=lambda t: t.fewest_to_leave(risks[t.key]))
        risk = risks[target.key]
        return _highest(risk, target.fewest_to_leave(risk), classes)

    def between(self, node: Node, kept: Flags) -> Pair | None:
        """The least and the most of every measure that a target names, without a population.

        None where an attack has no such bounds.
        """
        bounds = {name: found for name, found in self.bounds.items() if found is not None}
        if len(bounds) < len(self.bounds):
            return None
        least: dict[Key, Array] = {}
        most: dict[Key, Array] = {}
        people = self.released(node, kept) if bounds else self.people
        for name, found in bounds.items():
            for measure, (low, high) in found.at(people, kept).items():
                least[name, measure], most[name, measure] = low, high
        told = self._of_classes(node, kept)
        return least | told, most | told

    def _of_classes(self, node: Node, kept: Flags) -> dict[Key, Array]:
        """What targets about people alike look at, of who is kept."""
        found: dict[Key, Array] = {}
        for t in self.targets:
            if t.on_secret:
                found[t.key] = self._secret_risk(self._codes(node, kept), kept, t)
            elif t.on_classes and t.key not in found:
                found[t.key] = 1.0 / self.sizes(node, kept)
        return found

    @cached_property
    def k(self) -> int:
        """How many have to be written alike; 0 where that is not asked for."""
        sizes = np.arange(1, len(self.people) + 1)
        alike = [t for t in self.targets if t.key[1] == ALIKE and t.is_of_everybody]
        return max((int(t.beyond(1.0 / sizes).sum()) + 1 for t in alike), default=0)

    def classes(self, node: Node, who: Any, on: Any = slice(None)) -> tuple[Ints, int]:
        """Of these people the class on some columns where no cell is emptied, and their number."""
        codes = np.asfortranarray(self._codes(node, who)[:, on])
        top = np.array([int(o.codes[i].max()) + 1 for o, i in zip(self.options, node, strict=True)])
        return class_ids(codes, top[on].tolist())

    def _codes(self, node: Node, kept: Any) -> Codes:
        """What is written of everybody who is kept, where no cell is emptied."""
        return np.stack([o.codes[i][self.people.table[kept, j]]
                         for j, (o, i) in enumerate(zip(self.options, node, strict=True))],
                        axis=1)  # fmt: skip

    def _fewest(self, node: Node, kept: Flags, target: Target) -> int:
        """At least so many must go for a limit on the best guess, whoever they are.

        Of m of f people alike with one secret, r must go: (m - r) <= limit (f - r).
        """
        if target.what == MEAN_GUESS:
            return 1
        counts = self._secrets_of(self._codes(node, kept), kept, target)[1]
        most, size, limit = counts.max(axis=1), counts.sum(axis=1), target.limit
        over = is_above(most / np.maximum(size, 1), limit)
        go = np.ceil((most - limit * size) / (1 - limit) - SLACK)
        return int(np.minimum(go, size)[over].sum())

    def released(self, node: Node, kept: Flags) -> People:
        """Those who are kept, as they would be released."""
        ladders = {o.name: o.ladder for o in self.options}
        people = released_at(self.people, self.ways.levels(node), hierarchies=ladders)
        people = empty_cells(people, self.emptied_cells)
        return people if kept.all() else people.take(kept)

    def written(self, found: Looked) -> bytes:
        """A digest of who is released and, column by column, who is written alike.

        Levels that join nobody write the same, and so does a column of one value that is dropped.
        """
        digest = hashlib.blake2b(b"" if found.emptied is None else found.emptied.tobytes())
        kept = np.ones(len(self.people), bool) if found.left_out is None else ~found.left_out
        digest.update(kept.tobytes())
        for codes in self._codes(found.node, kept).T:
            _, first, alike = np.unique(codes, return_index=True, return_inverse=True)
            digest.update(first[alike].tobytes())
        return digest.digest()

    @property
    def emptied_cells(self) -> dict[str, Flags]:
        """Of each column whose cells are emptied."""
        if self.gone is None:
            return {}
        return {o.name: own for o, own in zip(self.options, self.gone.T, strict=True) if own.any()}

    def risks(
        self, node: Node, kept: Flags, results: Mapping[str, Assessment] | None = None
    ) -> dict[Key, Array]:
        """Every measure that a target names, of each person who is kept."""
        told: dict[Key, Array] = {}
        if results is None:
            results = self._assessed_in_part(node, kept)
            people = self.released(node, kept) if self.told else self.people
            for name, found in self.told.items():
                told |= {(name, m): low for m, (low, _) in found.at(people, kept).items()}
        for t in self.targets:
            if not t.on_classes and t.key not in told and t.measure not in results[t.under].risks:
                raise UsageError(
                    f"{t}: in a changed release {t.measure} has no answer for somebody: what it "
                    f"is given can never be there. Set the limit on another measure, such as "
                    f"{OVERALL}"
                )
        own = {t.key: worst_risk(results[t.under], t.measure)[0]
               for t in self.targets if not t.on_classes and t.key not in told}  # fmt: skip
        return told | own | self._of_classes(node, kept)

    def looked_at_again(self, best: Looked) -> tuple[Looked, dict[str, Assessment]]:
        """What is recommended, assessed anew; a plan counts only where every target is kept."""
        assert best.left_out is not None  # noqa: S101 - it keeps its targets
        table = self if best.emptied is None else self.but(gone=best.emptied)
        results = table.assessed(best.node, ~best.left_out)
        risks = table.risks(best.node, ~best.left_out, results)
        for t in table.targets:
            if not t.is_met(risks[t.key]):
                raise EngineError(f"the plan found does not keep {t}; a fault of reidbn, report it")
        above = {t: int(t.beyond(risks[t.key]).sum()) for t in table.targets if t.who_may_be_above}
        return replace(best, values=table.values(risks), is_bound=False, above=above), results

    def as_it_is(self) -> dict[Target, float]:
        """Each target's number of the table before anything is done to it."""
        found = {}
        for t in self.targets:
            if t.on_secret:
                codes = self.people.table[:, : len(self.options)]
                found[t] = t.value(self._secret_risk(codes, slice(None), t))
            elif t.on_classes:
                alike = self.rows.peers(range(self.rows.groups))[self.rows.of_record]
                found[t] = t.value(1.0 / alike)
            else:
                found[t] = t.value(worst_risk(self.bases[t.under], t.measure)[0])
        return found

    def _secrets_of(self, codes: Codes, kept: Any, target: Target) -> tuple[Ints, Ints]:
        """The class of each row of codes, and how many of each class have which secret.

        Of those whose secret is there; a missing one is a value where the target says so.
        """
        own, name = self.secrets[target.measure][kept], target.measure
        values = self.people.column(name).cardinality
        top = [int(c.max()) + 1 for c in codes.T]
        ids, count = class_ids(np.ascontiguousarray(codes), top)
        counts = np.bincount(ids * values + own, minlength=count * values).reshape(count, values)
        if target.if_missing == "left-out":
            counts[:, own[~has_secret(self.people, name)[kept]]] = 0
        return ids, counts

    def _secret_risk(self, codes: Codes, kept: Any, target: Target) -> Array:
        """Of everybody the largest share of one secret among people alike, or that of their own."""
        ids, counts = self._secrets_of(codes, kept, target)
        size = np.maximum(counts.sum(axis=1), 1)
        if target.what == MEAN_GUESS:
            return np.asarray(counts[ids, self.secrets[target.measure][kept]] / size[ids])
        return np.asarray((counts.max(axis=1) / size)[ids])

    def sizes(self, node: Node, kept: Flags) -> Ints:
        """How many are written alike; empty cells are alike, emptied or missing."""
        if self.gone is not None:
            empty = [o.codes[i][-1] if o.column.has_missing else o.codes[i].max() + 1
                     for o, i in zip(self.options, node, strict=True)]  # fmt: skip
            own = [np.where(self.gone[kept, j], empty[j], o.codes[i][self.people.table[kept, j]])
                   for j, (o, i) in enumerate(zip(self.options, node, strict=True))]  # fmt: skip
            codes = np.asfortranarray(np.stack(own, axis=1), dtype=np.int32)
            ids, count = class_ids(codes, [int(c.max()) + 1 for c in codes.T])
            return np.bincount(ids, minlength=count)[ids]
        rows, of = self.rows, self.rows.of_record[kept]
        if not kept.all():
            people = np.bincount(of, minlength=rows.rows).astype(float)
            some = people > 0
            rows = replace(rows, codes=tuple(c[some] for c in rows.codes), people=people[some])
            of = (np.cumsum(some) - 1)[of]
        return sizes_at(rows, self.options, node)[of]

    def assessed(self, node: Node, kept: Flags) -> dict[str, Assessment]:
        """The assessments of those who are kept, released so."""
        if self._is_as_read(node, kept):
            return dict(self.bases)
        ladders, levels = {o.name: o.ladder for o in self.options}, self.ways.levels(node)
        return {
            n: released(base, levels, ladders, kept, emptied=self.emptied_cells)
            for n, base in self.bases.items()
        }

    def _assessed_in_part(self, node: Node, kept: Flags) -> dict[str, Assessment]:
        """Of the measures alone that targets name and the classes do not tell."""
        if self._is_as_read(node, kept):
            return dict(self.bases)
        ladders, levels = {o.name: o.ladder for o in self.options}, self.ways.levels(node)
        return {
            n: released(self.bases[n], levels, ladders, kept,
                        [t.measure for t in self.targets if t.under == n and not t.on_classes],
                        emptied=self.emptied_cells)
            for n in self.named if n not in self.told
        }  # fmt: skip

    def _is_as_read(self, node: Node, kept: Flags) -> bool:
        levels = self.ways.levels(node)
        as_it_is = bool(kept.all()) and self.gone is None
        return as_it_is and all(levels[o.name] == o.column.level for o in self.options)


def _are_told(between: Pair) -> bool:
    """Whether the least is the most."""
    return all(between[0][key] is between[1][key] for key in between[0])


def _highest(risk: Array, count: int, classes: Ints) -> Flags:
    """At least so many with the highest risks; who is written alike goes with them.

    Of those with the same risk small classes go first, and each whole: nobody is left with fewer.
    """
    count = max(count, 1)
    last = np.sort(risk)[::-1][count - 1]
    go: Flags = risk > last
    tied = np.flatnonzero(risk == last)
    sizes = np.bincount(classes)[classes[tied]]
    order = tied[np.lexsort((classes[tied], sizes))]
    of_last = classes[order[count - int(go.sum()) - 1]]
    upto = int(np.flatnonzero(classes[order] == of_last)[-1])
    go[order[: upto + 1]] = True
    return go


def rows_of(people: People, options: Sequence[Option]) -> DistinctRows:
    """The distinct rows of the quasi-identifiers, as they are written."""
    width = len(options)
    return distinct_rows(people.table[:, :width], [len(o.counts) for o in options])
