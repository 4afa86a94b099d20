"""A plan: the best way to release a table that was found, what it costs, and what proves it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.aside import aside
from reidbn.attacks.routes.assessment import Assessment
from reidbn.calls import says_misfits, typed
from reidbn.errors import UsageError, a_dozen
from reidbn.microdata.generalise import empty_cells, generalise, left_out
from reidbn.microdata.table import People
from reidbn.plans.losses import ByFunction
from reidbn.plans.nodes import TIE, Looked, Release
from reidbn.plans.released import apostrophes, source_frame, write_frame, written_frame
from reidbn.plans.search import Certificate, Search
from reidbn.plans.targets import MEAN_GUESS, Array, Target
from reidbn.plans.together import let_out
from reidbn.plans.ways import Node
from reidbn.release.ledger import opened
from reidbn.report.assessment_sure import BY_ESTIMATE, highest_of_estimate
from reidbn.report.options import ByLoss
from reidbn.report.thresholds import risk_told
from reidbn.report.unseen import read_alone
from reidbn.written import agree, counted

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MOST_SAID = 3  # limits, and columns, in a sentence
KINDS = ("mean", "low", "high")  # of a number and its interval
Risks = tuple[Array, str]  # of everybody, and what to say of them


@dataclass(frozen=True, eq=False)
class Way:
    """One way to release the table that keeps every target."""

    levels: Mapping[str, int]
    """Of each column, 0 as it was read; the highest is dropped."""
    dropped: tuple[str, ...]
    suppressed: int
    """How many people are left out."""
    loss: float
    """0: as it is; 1: nothing is left."""
    before: Mapping[str, float]
    after: Mapping[str, float]
    """Each target's number, in its own words, as it is and as it would be released."""
    emptied: int = 0
    """How many single cells are emptied."""
    above: Mapping[str, int] = field(default_factory=dict)
    """Of each target that is a mean, a quantile or a share: how many people stay above it."""

    @property
    def changes(self) -> str:
        """What is done to the columns."""
        levels = ", ".join(f"{name} {what}" for name, what in self.told_levels.items())
        return levels or "every column as it is"

    @property
    def told_levels(self) -> dict[str, str]:
        """Of each column that is changed, how."""
        return {
            name: "dropped" if name in self.dropped else f"at level {level}"
            for name, level in self.levels.items()
            if level or name in self.dropped
        }

    def __str__(self) -> str:
        out = counted(self.suppressed, "person") if self.suppressed else "nobody"
        cells = f"{counted(self.emptied, 'cell')} emptied, " if self.emptied else ""
        return f"{self.changes}, {cells}{out} left out: loss {self.loss:.4g}"


@says_misfits
@dataclass(frozen=True, eq=False)
class ReleasePlan:
    """What to do to a table so that every target is kept, and what is lost by it."""

    people: People
    targets: tuple[Target, ...]
    loss: str
    certificate: Certificate
    _table: Release
    _search: Search
    _found: Looked
    results: Mapping[str, Assessment]
    """The assessments of what is released, by attack and scenario; empty where none was named."""
    drawn_of: int
    """How many people the table had before a sample was drawn; all of them without one."""
    _as_read: Mapping[str, Assessment]
    _emptied: tuple[Looked, ...] = ()
    """Ways at which cells were emptied."""

    @property
    def loss_told(self) -> str:
        """The loss in words: a report's "information lost" counts the bits of all columns."""
        said = ": mean of the columns' shares of bits lost" if self.loss == "entropy" else ""
        weighed = getattr(self._table.ways, "weighed", "")
        return f"{self.loss}{said}{weighed and f', weighed by importance ({weighed})'}"

    @property
    def is_share(self) -> bool:
        """Whether the loss is 0 as it is and 1 at most; a function's has a scale of its own."""
        return not isinstance(self._table.ways, ByFunction)

    @property
    def is_sample(self) -> bool:
        return len(self.people) < self.drawn_of

    @cached_property
    def sampled(self) -> pd.DataFrame:
        """What drawing a sample does to the mean of every measure: two sides, one row each.

        `all_released`: the table as it was read.  `per_released`: of those who are released, whose
        risk is higher, since fewer are like them.  `per_original`: of all whom the table had, who
        are mostly at no risk now; somebody who is not drawn has none.
        """
        import pandas as pd

        share = (len(self.people) - self.best.suppressed) / self.drawn_of
        rows = [
            {
                "under": name or after.attack.name,
                "measure": measure,
                "all_released": float(risk_told(self._as_read[name], measure)[0].mean()),
                "per_released": (mean := float(self._risks[name, measure][1][0].mean())),
                "per_original": mean * share,
            }
            for name, after in self.results.items()
            for measure in after.risks
            if measure in self._as_read[name].risks
        ]
        columns = ["under", "measure", "all_released", "per_released", "per_original"]
        return pd.DataFrame(rows, columns=columns)

    @property
    def result(self) -> Assessment | None:
        """The (first) assessment of what is released; None where no attack was named."""
        return next(iter(self.results.values()), None)

    @property
    def highest(self) -> dict[str, int]:
        """The level of each column at which it is dropped."""
        return {o.name: o.ladder.levels for o in self._table.options}

    @cached_property
    def best(self) -> Way:
        """The way to release that loses least."""
        return self._choice(self._found)

    def _choice(self, found: Looked) -> Way:
        levels = self._table.ways.levels(found.node)
        out = np.zeros(len(self.people), bool) if found.left_out is None else found.left_out
        before = self._at_start
        return Way(
            levels, _dropped(self._table, found.node), int(out.sum()), found.loss,
            {str(t): t.shown(before[t]) for t in self.targets},
            {str(t): t.shown(found.values[t]) for t in self.targets},
            0 if found.emptied is None else int(found.emptied.sum()),
            {str(t): n for t, n in (found.above or {}).items()},
        )  # fmt: skip

    @property
    def has_front(self) -> bool:
        """Whether the other ways that were looked at are at hand."""
        return self._search.pareto

    @property
    def _ways(self) -> tuple[Looked, ...]:
        if not self.has_front:
            raise UsageError(
                "this plan keeps its best way alone, as with pareto=False, or of more than a "
                "million combinations of levels: ask rb.recommend without pareto=False, with keep= "
                "or drop= for some columns, for the front, its picture and options beside the best"
            )
        return (*self._search.seen.values(), *self._emptied)

    @cached_property
    def _at_start(self) -> dict[Target, float]:
        return self._table.as_it_is()

    @cached_property
    def _risks(self) -> dict[tuple[str, str], tuple[Risks, Risks]]:
        """Everybody's risk by attack and measure before and after, and what to say of ties.

        Of policies that are tied the highest, as targets are judged.
        """
        return {
            (name, measure): (
                risk_told(self._table.bases[name], measure),
                risk_told(after, measure),
            )
            for name, after in self.results.items()
            for measure in after.risks
            if measure in self._table.bases[name].risks
        }

    @cached_property
    def measures(self) -> pd.DataFrame:
        """Every measure of every attack and scenario that was named, before and after.

        One row each: its highest and its mean over those who are in the table, and then in what is
        released.  Also of an attack that no target is about.  Where policies are worth the same to
        the attacker, of the one under which a person's risk is highest.
        """
        import pandas as pd

        rows = [
            {
                "under": name or self.results[name].attack.name,
                "measure": measure,
                **{f"{kind}_{when}": float(how(risk))
                   for when, (risk, _) in zip(("before", "after"), both, strict=True)
                   for kind, how in (("highest", np.max), ("mean", np.mean))},
            }
            for (name, measure), both in self._risks.items()
        ]  # fmt: skip
        columns = ["under", "measure", "highest_before", "mean_before", "highest_after",
                   "mean_after"]  # fmt: skip
        return pd.DataFrame(rows, columns=columns)

    @cached_property
    def intervals(self) -> pd.DataFrame:
        """The 95 % interval of each mean that stands on an estimate of the population.

        Before and after, as reports tell it.  Others are of the people of the table, and have none.
        """
        import pandas as pd

        from reidbn.report.telling import Telling

        said = Telling(custodian=True)
        ends = {name: [one._intervals(said) for one in (self._table.bases[name], after)]
                for name, after in self.results.items()}  # fmt: skip
        rows = [
            {"under": name or self.results[name].attack.name, "measure": measure}
            | {f"{kind}_{when}": number
               for when, (risk, _), told in zip(("before", "after"), both, ends[name], strict=True)
               for kind, number in zip(KINDS, (risk.mean(), *told[measure]), strict=True)}
            for (name, measure), both in self._risks.items()
            if all(measure in told for told in ends[name])
        ]  # fmt: skip
        columns = [f"{kind}_{when}" for when in ("before", "after") for kind in KINDS]
        return pd.DataFrame(rows, columns=["under", "measure", *columns])

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What was said of each person, of which policies risks are told, what is worse and why."""
        from reidbn.plans.left_out import about_secrets

        given = dict.fromkeys(
            f"{name} was given in the call (subject=), and is taken to hold of the release, too"
            for base in self._table.bases.values()
            for name in base.inputs.subject
        )
        tied = dict.fromkeys(said for both in self._risks.values() for _, said in both if said)
        named = zip(self._risks, self.measures.iterrows(), strict=True)
        worse = (
            f"the highest {row.measure.replace('_', ' ')} under {row.under} is higher than it was "
            f"({row.highest_before:.3g} now, {row.highest_after:.3g} then): {self._why(name)}"
            for (name, _), (_, row) in named
            if row.highest_after > row.highest_before + TIE
        )
        known = (f"{target}: {BY_ESTIMATE}" for target in self.by_estimate)
        return (*given, *about_secrets(self), *tied, *known, *worse)

    @cached_property
    def by_estimate(self) -> tuple[str, ...]:
        """The targets that are kept by an estimate of the population, but not surely at its end."""
        risks = {t: highest_of_estimate(self.results[t.under], t.measure)
                 for t in self.targets if not t.on_classes}  # fmt: skip
        return tuple(str(t) for t, risk in risks.items() if risk is not None and not t.is_met(risk))

    def _why(self, name: str) -> str:
        """Why a risk can be higher in what is released."""
        after = self.results[name]
        why = []
        if after.population is not None:
            why.append("who is unique in the population is estimated anew of the changed table")
        if after.attack.decisions:
            why.append("the attacker decides by what is released, and may decide otherwise")
        if self.best.suppressed:
            why.append("fewer people are like those who stay")
        return " and ".join(why) or "under this attack more people alike can be a higher risk"

    @cached_property
    def front(self) -> pd.DataFrame:
        """Of the ways that were looked at, those of which no other loses less and is safer.

        One row each, sorted by loss: the level of each column, how many people are left out and
        cells emptied, the loss, and the number of each target, as in `best.after`.  The level of a
        column that is called like one of these, such as loss, is "level of loss".  `keeps` says
        whether every target is kept: a way that keeps one may fail another.  Of the ways that were
        looked at alone: the search passes by what is known without a look.  Where `bound` is
        True a way was settled without an estimate of the population, and its numbers are the most
        that they can be, or the least where it fails.
        """
        from reidbn.plans.front import front_of

        return front_of(self)

    @cached_property
    def binding(self) -> pd.DataFrame:
        """For each column that is made coarser: what its next finer level would break.

        One row per column and target: the number that the target would have with nobody more left
        out, and for how many of those who are released it would be broken; `breaks` says whether
        it would be.  Of a limit on a mean `people` are those whose own risk is above it.
        """
        import pandas as pd

        node, out = self._found.node, self._found.left_out
        assert out is not None  # noqa: S101 - a plan keeps its targets
        rows, table = [], self._table.but(gone=self._found.emptied)
        for j, option in enumerate(table.options):
            if not node[j]:
                continue
            finer = (*node[:j], node[j] - 1, *node[j + 1 :])
            risks = table.risks(finer, ~out)
            for t in self.targets:
                risk = risks[t.key]
                met = t.is_met(risk)
                rows.append(
                    {
                        "column": option.name,
                        "level": option.levels[node[j] - 1],
                        "target": str(t),
                        "value": t.shown(t.value(risk)),
                        "people": 0 if met else int(t.beyond(risk).sum()),
                        "breaks": not met,
                    }
                )
        columns = ["column", "level", "target", "value", "people", "breaks"]
        return pd.DataFrame(rows, columns=columns)

    @cached_property
    def left_out(self) -> pd.DataFrame:
        """Of each column the groups that lose more people than falls on them; the custodian's own.

        One row each: how many are left out, how many there are, and how many it would be if leaving
        out fell on everybody alike.
        """
        from reidbn.plans.left_out import left_out

        return left_out(self)

    @cached_property
    def with_everybody(self) -> ReleasePlan | None:
        """The best way that leaves out nobody and empties no cell; None where none was found.

        It is searched for as this plan was, for as long.
        """
        from reidbn.plans.left_out import with_everybody

        return with_everybody(self)

    def options(self, most: int = 3) -> dict[str, Assessment]:
        """The table as it is, and the ways that lose least after the best, in this order (`by`).

        For `result.report(path, options=plan.options())`, which then holds so many ways, the best
        among them, under the first attack and scenario.  Of the ways that were looked at, those
        that keep every target by an assessment of their own.
        """
        self._refuse_no_attack()
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise UsageError(f"most={most}; give a whole number of ways, 1 or more")
        first = next(iter(self.results))
        found = {"the table as it was": self._table.bases[first]}
        return ByLoss.of(found | self.assessed(most - 1, without_best=True), self.loss_told)

    @property
    def kept(self) -> list[Looked]:
        """The ways that were looked at and keep every target: the best, and those that lose least
        after it.
        """
        others = [one for one in self._ways if one is not self._found and one.keeps]
        return [self._found, *sorted(others, key=lambda one: one.loss)]

    def named(self, one: Looked) -> str:
        """What a way does, in words; of whom it leaves out, not how many."""
        out = ", some people left out" if one.left_out is not None and one.left_out.any() else ""
        out += ", some cells emptied" if one.emptied is not None else ""
        return self._choice(one).changes + out

    def assessed(
        self, most: int, of: Assessment | None = None, *, without_best: bool = False
    ) -> dict[str, Assessment]:
        """So many of the ways, each assessed under the first attack, or as `of` is.

        Those of which that says that every target is kept; of ways that write the same the first.
        """
        if of is None:
            self._refuse_no_attack()
        first = "" if of is not None else next(iter(self.results))
        bases = self._table.bases if of is None else {"": of}
        found: dict[str, Assessment] = {}
        best, *others = self.kept
        told = {self._table.written(best)} if without_best else set()
        for one in others if without_best else (best, *others):
            if len(found) >= most:
                break
            if (digest := self._table.written(one)) in told:
                continue
            told.add(digest)
            assert one.left_out is not None  # noqa: S101 - it keeps its targets
            so = replace(self._table, gone=one.emptied, bases=bases)
            results = so.assessed(one.node, ~one.left_out)
            risks = so.risks(one.node, ~one.left_out, results)
            if all(t.is_met(risks[t.key]) for t in self.targets):
                found[self.named(one)] = results[first]
        return found

    def _refuse_no_attack(self) -> None:
        """Raise where there is nothing to assess ways by."""
        if not self.results:
            raise UsageError(
                "options are compared by their risk under an attack: name one in rb.recommend"
            )

    def apply(self) -> People:
        """The people as they would be released; what is known of each stays what it is."""
        ladders = {o.name: o.ladder for o in self._table.options}
        changed = {n: level for n, level in self.best.levels.items()
                   if level != self.people.column(n).level}  # fmt: skip
        people = generalise(self.people, changed, hierarchies={n: ladders[n] for n in changed})
        assert self._found.left_out is not None  # noqa: S101 - a plan keeps its targets
        cells = self._table.but(gone=self._found.emptied).emptied_cells
        return left_out(empty_cells(people, cells), self._found.left_out)

    @typed
    def write(
        self,
        path: str | os.PathLike[str],
        source: Any = None,
        *,
        keep_id: bool = False,
        ledger: str | os.PathLike[str] | None = None,
    ) -> Path:
        """Write the table as it would be released, every other column as it stands in the source.

        `source` is what the people were read from, a file or a frame, where it is not at hand any
        more, and is never written over.  Rows of those who are left out are not written; `path`
        ends in .csv or .parquet.  Columns that were not named as quasi-identifiers are written as
        they are (`untouched`), but for those that name a person (the `subject_id` of the table,
        names, running numbers), which are left out with a word; `keep_id` writes them, too.
        Columns that are missing for everybody who is left are named: the file is read without them.
        Rows are sorted by what they say.

        A second, different file of the same people can be joined with this one by what both have
        unchanged.  With a `ledger` (a file of the house's own) it is refused where those who are
        then alike are fewer than its rules or the first one's ask for.
        """
        if ledger is not None and os.path.abspath(path) == os.path.abspath(ledger):
            raise UsageError("the table would be written over its ledger; name another file")
        released = self.apply()
        whole = source_frame(released, source, path)
        table = written_frame(released, whole, path, keep_id=keep_id)
        if ledger is None:
            return write_frame(table, path)
        with opened(ledger) as book:
            said = let_out(self, released, whole.table, Path(path), book)
            written = write_frame(table, path)
        if said:
            aside(("let out", said), 1.0, said)
        return written

    @property
    def least_by(self) -> str:
        """What "least" is measured in, and among which ways."""
        kept = " and ".join(map(str, self.targets))
        return (
            f"Least is measured by {self.loss_told}, among ways that keep {kept} and leave out no "
            f"more than was allowed: another target, loss or share to leave out has another least."
        )

    @property
    def untouched(self) -> tuple[str, ...]:
        """Columns of the source that no attack looked at: names and numbers of people, say."""
        return (*self.people.sensitive, *self.people.others.names)

    @cached_property
    def csv_apostrophes(self) -> dict[str, Any]:
        """Before what an apostrophe stands in a CSV file: columns with such texts, and names."""
        return apostrophes(self.apply(), self.untouched)

    @property
    def known_beside(self) -> tuple[str, ...]:
        """Those of them that an attacker of a target goes by: with them nothing is promised."""
        of = (read_alone(r) for r in self.results.values() if isinstance(r, Assessment))
        return tuple(dict.fromkeys(name for names in of for name in names))

    @property
    def limited(self) -> tuple[str, ...]:
        """The secrets that a target limits."""
        return tuple(dict.fromkeys(t.measure for t in self.targets if t.on_secret))

    @typed
    def report(self, path: str | os.PathLike[str], *, custodian: bool = False) -> Path:
        """Write the page of the plan as .html, .md or .json.

        What leaves the house says what was done; `custodian` adds every number.  The release's own
        risks are `plan.result.report(path)`.
        """
        from reidbn.plans.page import write_plan

        return write_plan(self, Path(path), custodian=custodian)

    @typed
    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """The ways that were looked at by loss and by each target; the custodian's own."""
        from reidbn.plans.page import front_figure
        from reidbn.report.style import save

        return save(front_figure(self), None if path is None else Path(path), of_people=True)

    def still_above(self, target: Target) -> str:
        """How many people stay above a limit that lets some; nothing of one that lets nobody."""
        above = self.best.above.get(str(target))
        if above is None:
            return ""
        released = counted(len(self.people) - self.best.suppressed, "person")
        return f"; {above:,} of {released} released {agree(above, 'is', 'are')} above it"

    def explain(self) -> str:
        """What to do and why, in two sentences."""
        before, after = self.best.before, self.best.after
        parts = [
            f"{t} ({t.told(before[str(t)])} now, {t.told(after[str(t)])} then{self.still_above(t)})"
            for t in self.targets[:MOST_SAID]
        ]
        if more := len(self.targets) - len(parts):
            parts.append(counted(more, "other limit"))
        drawn = f"Of {len(self.people):,} people drawn from {self.drawn_of:,}: " * self.is_sample
        finer, known = "; ".join(self._finer[:MOST_SAID]), self.known_beside
        proof = ("no other way that was allowed is better: proved" if self.certificate.is_proved
                 else "whether another way is better is not settled (.certificate)")  # fmt: skip
        said = f"One level finer, {finer}; {proof}" if finer else f"{proof[0].upper()}{proof[1:]}"
        if self.by_estimate:
            said += f". {' and '.join(self.by_estimate[:MOST_SAID])}: {BY_ESTIMATE}"
        if known:
            said += f". It is not kept with {a_dozen(known)} beside, known to an attacker"
        return f"{drawn}To keep {' and '.join(parts)}: {self.best}. {said}."

    @property
    def _finer(self) -> list[str]:
        """Of each column what one level finer would break, most people first."""
        means = {str(t) for t in self.targets if t.what in ("mean", MEAN_GUESS)}
        rows = [row for row in self.binding.to_dict(orient="records") if row["breaks"]]
        found: dict[str, list[str]] = {}
        for row in sorted(rows, key=lambda row: -row["people"]):
            who = "" if row["target"] in means else f" for {counted(row['people'], 'person')}"
            column = f"{row['column']} at level {row['level']}"
            found.setdefault(column, []).append(f"{row['target']}{who}")
        return [
            f"{column} would break {' and '.join(targets[:MOST_SAID])}"
            + (f" and {counted(len(targets) - MOST_SAID, 'other')}" if targets[MOST_SAID:] else "")
            for column, targets in found.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain numbers and words; exact, for the custodian."""
        best, proof = self.best, self.certificate
        return {
            "targets": [str(t) for t in self.targets],
            "levels": dict(best.levels), "columns_dropped": list(best.dropped),
            "by_estimate": list(self.by_estimate),
            "untouched": list(self.untouched), "known_beside": list(self.known_beside),
            "csv_apostrophes": self.csv_apostrophes,
            "suppressed": best.suppressed, "left_out": self.left_out.to_dict(orient="records"),
            "cells_emptied": best.emptied, "people": len(self.people), "drawn_of": self.drawn_of,
            "sampled": self.sampled.to_dict(orient="records") if self.is_sample else [],
            "loss": {"name": self.loss, "value": best.loss, "measured_by": self.loss_told},
            "before": dict(best.before), "after": dict(best.after),
            "people_above": dict(best.above), "notes": list(self.notes),
            "measures": self.measures.to_dict(orient="records"),
            "certificate": {
                "nodes": proof.nodes, "counted": proof.counted, "skipped": proof.skipped,
                "unsettled": proof.unsettled, "gap": proof.gap, "proved": proof.is_proved,
                "seconds": proof.seconds, "cells_emptied_at": proof.tried,
            },
        }  # fmt: skip

    def __str__(self) -> str:
        return self.explain()

    __repr__ = __str__


def _dropped(table: Release, node: Node) -> tuple[str, ...]:
    pairs = zip(table.options, node, strict=True)
    return tuple(o.name for o, i in pairs if o.levels[i] == o.ladder.levels)
