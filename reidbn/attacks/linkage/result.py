"""Linkage: everybody's curve, and what it was asked of.

curve = rb.linkage(sparse, known="random", match="equal", facts=range(1, 21))
curve.table(), curve.facts_for(0.9), curve.report("linkage.html")
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.linkage.curves import Curves
from reidbn.attacks.linkage.truth import Chosen, acted_out, chosen
from reidbn.errors import CrosscheckFailed, UsageError
from reidbn.late import late
from reidbn.microdata.sparse import Sparse
from reidbn.release.counts import down
from reidbn.result import Drawn, Measure, Result, by_person, count_of, digest, mean_of
from reidbn.theory.agreement import disagree, mean_off, most_off, probability_interval
from reidbn.written import agree, counted

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
LEVEL = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Linkage(Result):
    """For every person and number of facts, the chance that these single out the record."""

    _model: ClassVar[str] = "linkage"

    sparse: Sparse
    ks: tuple[int, ...]
    """How many facts are known, column by column; empty where that is a matter of chance."""
    success: Floats
    """People x numbers of facts."""
    exact: NDArray[np.bool_]
    """Which of them are exact; the others are drawn."""
    low: Floats
    high: Floats
    """The 95 % interval of what is drawn; of what is exact, the value itself."""
    held: NDArray[np.int64]
    """How many facts that may be known each person has."""
    knows: str
    curves: Curves
    nodes: NDArray[np.int64] = field(repr=False)
    individuals: NDArray[np.int64] | None = None
    drawn: bool = False
    chances: Mapping[str, float] = field(default_factory=dict)
    """The chances of facts that are known by chance, by the names that they were given by."""

    @property
    def asked_of(self) -> Sparse:
        """The people it was asked of."""
        return self.sparse

    def _asked_exactly(self) -> tuple[Any, ...]:
        """Which facts may be known, by whatever names and in whatever order they were named."""
        c, every = self.curves, len(self.curves.agreement.facts)
        allowed = np.ones(every, dtype=bool) if c.allowed is None else c.allowed
        weights = np.ones(every) if c.weights is None else c.weights / c.weights.max()
        by_chance = () if c.chances is None else (c.chances,)
        return (np.array([c.order]), allowed, weights, *by_chance)

    def _asked_about(self) -> NDArray[np.int64] | None:
        return self.individuals

    def _settings(self) -> dict[str, Any]:
        """How facts are matched and taken together, and how curves are found."""
        c = self.curves
        by, within = c.agreement, ""
        if by.match == "tolerance":
            within = f", numbers to within {by.tolerance:g} of themselves and {by.years:g} years"
        return {
            "facts_together": len(by.facts) < len(by.fact_of),
            "matched": by.match + within,
            "how many facts": list(self.ks) or "by chance",
            "facts known": "by chance" if self.curves.chances is not None else self.knows,
            **{f"chance of {name}": p for name, p in self.chances.items()},
            "curves": "exact" if self.exact.all() else f"{c.draws:,} draws from seed {c.seed}",
        }

    @property
    def asked(self) -> str:
        """When the attacker succeeds; which facts are known, and how, stands among the settings."""
        return f"success: {self._rule}"

    @property
    def question(self) -> str:
        """What is known, how it is matched, and when the attacker succeeds."""
        facts = f"facts known: {self.knows}"
        return f"{facts}; matched: {self.curves.agreement.match}; success: {self._rule}"

    @property
    def _rule(self) -> str:
        c = self.curves
        return {
            "best": "no other record fits as many facts",
            "threshold": "no other record fits as many facts",
            "lineup": f"at most {c.lineup} fit as many facts",
            "guess": "a guess among those that fit best is right",
            "separated": f"no other record fits more than {float(c.share):g} of the facts",
            "eccentricity": f"the best score stands out by {c.phi:g} standard deviations",
        }[c.rule]

    @property
    def is_of_one_question(self) -> bool:
        """Whether it was asked about other facts, likeness, rule or people than by default."""
        c = self.curves
        apart = len(c.agreement.facts) == len(c.agreement.fact_of)
        usual = (self.knows, c.agreement.match, c.rule) == ("random", "equal", "best")
        return not usual or not apart or self.individuals is not None

    @property
    def about(self) -> str:
        """The event: somebody's record is singled out by this rule."""
        return f"a record is singled out: {self._rule}"

    @property
    def names(self) -> list[str]:
        """What the columns are called: facts_5 and so on, or `known`."""
        return [f"facts_{k}" for k in self.ks] or ["known"]

    def _people(self) -> pd.DataFrame:
        columns = {name: self.success[:, i] for i, name in enumerate(self.names)}
        return by_person(
            {"facts_held": self.held, **columns}, self.sparse, self.individuals
        )  # fmt: skip

    def interval(self, column: int) -> tuple[float, float] | None:
        """The 95 % interval of the mean over people: of what is drawn, and of people drawn.

        `column` is that of the number of facts.  None where every cell is exact and everybody was
        asked about.
        """
        if self.curves.order == "optimal":  # nothing is drawn: what is not exact lies in bounds
            return self._between_bounds(column)
        mean = float(self.success[:, column].mean())
        drawn = self._off_by_drawing().get(self.names[column])
        slack = 0.0 if drawn is None else drawn.off
        low = high = mean
        if self.drawn:
            low, high = probability_interval(self.success[:, column], len(self.sparse), level=0.95)
        elif not slack:
            return None
        return max(low - slack, 0.0), min(high + slack, 1.0)

    def _off_by_drawing(self) -> dict[str, Drawn]:
        """People's curves are drawn apart; what an attacker chooses is not drawn."""
        if self.curves.order == "optimal":
            return {}
        off = mean_off((self.high - self.low) / 2).tolist()
        each = zip(self.names, off, self.success.T, strict=True)
        return {name: Drawn(own, digest(curve)) for name, own, curve in each if own}

    def _at_most_off(self) -> dict[str, float]:
        if self.curves.order == "optimal":
            return {}
        n = max(int(down(len(self.sparse))), 1)
        return dict.fromkeys(self.names, most_off(self.curves.draws) / sqrt(n))

    def _between_bounds(self, column: int) -> tuple[float, float] | None:
        ends = self.low[:, column], self.high[:, column]
        if self.drawn:
            low, high = (probability_interval(end, len(self.sparse), level=0.95) for end in ends)
            return low[0], high[1]
        return (
            None if self.exact[:, column].all() else (float(ends[0].mean()), float(ends[1].mean()))
        )

    def _measures(self) -> dict[str, Measure]:
        found = {"people": count_of(len(self.sparse), "people in the table")}
        for i, name in enumerate(self.names):
            known = f"{counted(self.ks[i], 'fact')} known" if self.ks else "facts known by chance"
            found[name] = mean_of(
                self.success[:, i], f"singled out, {known}", per_person=True,
                interval=self.interval(i),
            )  # fmt: skip
        return found

    def table(self) -> pd.DataFrame:  # type: ignore[override]
        """One row per number of facts: the share of people singled out, its interval, exactness."""
        import pandas as pd

        rows = []
        for i in range(self.success.shape[1]):
            mean = float(self.success[:, i].mean())
            low, high = self.interval(i) or (mean, mean)
            rows.append(
                {
                    "success": mean, "low": low, "high": high,
                    "exact": float(self.exact[:, i].mean()),
                    "above 0.9": float((self.success[:, i] > 0.9).mean()),
                    "all facts": float((self.held <= self.ks[i]).mean()) if self.ks else 1.0,
                }
            )  # fmt: skip
        index = pd.Index(self.ks or ["by chance"], name="facts")
        return pd.DataFrame(rows, index=index)

    def facts_for(self, level: float) -> int | None:
        """The first number of facts asked about by which more than `level` of people are singled
        out, on average; None where none is.
        """
        if not 0 <= level <= 1:
            raise UsageError(f"level={level}; it is a share of people, from 0 to 1")
        if not self.ks:
            raise UsageError("how many facts are known is a matter of chance here; read .success")
        above = np.flatnonzero(self.success.mean(axis=0) > level)
        return self.ks[int(above[0])] if above.size else None

    def remarks(self) -> tuple[str, ...]:
        """Of the table, of what is exact, and of whom nothing is known."""
        said = [*self.sparse.notes]
        if not self.exact.all():
            share = 100 * float(self.exact.mean())
            said.append(
                f"{share:.3g} % of the numbers are exact, the others "
                + (
                    "the most that the best facts may give (.low is what the best facts found give)"
                    if self.curves.order == "optimal"
                    else f"drawn {self.curves.draws:,} times each, with 95 % intervals"
                )
                + "; a larger node_budget counts more of them"
            )
        if drawn := self._off_by_drawing():
            off = ceil(100 * max(one.off for one in drawn.values()))
            said.append(f"by what is drawn, a mean over people is at most {off} % away (at 95 %)")
        if (self.held == 0).any():
            many = int((self.held == 0).sum())
            said.append(
                f"of {counted(many, 'person')} no fact that may be known is in the table: "
                + (
                    "everybody fits them alike"
                    if self.curves.rule in ("lineup", "guess")
                    else "they are never singled out"
                )
            )
        if self.curves.agreement.left_out:
            said.append(self.curves.agreement.left_out)
        if self.curves.agreement.match in ("present", "modal"):
            said.append(
                "presence tells people apart only where what is recorded depends on the person; "
                "where cells are missing by design of a questionnaire it hardly does"
            )
        return tuple(said)

    def check(self, *, draws: int = 200, individuals: int = 30, seed: int = 0) -> CheckedLinkage:
        """Some people's curves found anew, fact by fact against the table; raises.

        `individuals` of them are chosen from `seed`, and so many `draws` of facts made for each;
        of an attacker who chooses the facts the choice is made again, and of the best one every
        choice is tried where there are not more of them than `draws`.
        """
        rng = np.random.default_rng(seed)
        if not self.ks or self.curves.weights is not None:
            raise UsageError(
                "a check draws any so many facts, each as likely as the others, and here facts "
                'are weighted or known by chance; check the curve of known="random"'
            )
        people = np.arange(len(self.sparse)) if self.individuals is None else self.individuals
        some = rng.choice(len(people), min(individuals, len(people)), replace=False)
        cells = len(some) * len(self.ks)
        if self.curves.order != "random":
            for row in some.tolist():
                self._check_choice(row, chosen(self.curves, int(people[row]), draws, rng))
            return CheckedLinkage(cells, 0, seed)
        for row in some.tolist():
            hits = acted_out(self.curves, int(people[row]), draws, rng)
            near = np.clip(hits / draws, self.low[row], self.high[row])
            if disagree(hits, draws, near, level=LEVEL / cells).any():
                raise CrosscheckFailed(
                    f"curves drawn anew {draws:,} times disagree with what was counted; this is a "
                    "fault of reidbn, please report it"
                )
        return CheckedLinkage(cells, draws, seed)

    def _check_choice(self, row: int, found: list[Chosen]) -> None:
        """Raise where what was told of a person is not what the facts chosen anew give."""
        for i, (chance, every) in enumerate(found):
            low = self.low[row, i] if every else 0.0
            if not low - 1e-9 <= chance <= self.high[row, i] + 1e-9:
                raise CrosscheckFailed(
                    f"facts chosen anew against the table disagree with what was told of "
                    f"{counted(self.ks[i], 'fact')}; this is a fault of reidbn, please report it"
                )

    _sections = late("reidbn.report.linkage_page:sections")

    def __repr__(self) -> str:
        first = self.facts_for(0.9) if self.ks else None
        place = -1 if first is None else self.ks.index(first)
        facts = counted(self.ks[place], "fact") if self.ks else "facts known by chance"
        verb = agree(self.ks[place] if self.ks else 2, "singles", "single")
        return (
            f"<Linkage of {len(self.success):,} people: {facts} {verb} out "
            f"{100 * self.success[:, place].mean():.3g} %, "
            f"{100 * self.exact.mean():.3g} % of the numbers exact>"
        )


@dataclass(frozen=True)
class CheckedLinkage:
    """How many numbers were found anew; none disagrees.  No draws: the facts are chosen."""

    cells: int
    draws: int
    seed: int

    def __str__(self) -> str:
        if not self.draws:
            return f"{self.cells:,} numbers found anew, choice by choice: agree"
        return (
            f"{self.cells:,} numbers drawn anew {self.draws:,} times each (seed {self.seed}): agree"
        )
