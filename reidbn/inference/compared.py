"""Cells of a cross-check: one probability, counted in a sample, with a verdict.

People compared one by one: every number that is printed against a second exact answer.

Distinct subjects are told again (see retold.py), block by block, from tables of their own.  Where
that would take more than the work allowed, it is done for some: those looked at anyway, the highest
and the lowest risks, the rarest subjects, and a random rest; how many people that is, is said.

A printed number is wrong where it is off by more than `RELATIVE` of the second one (and by more
than rounding, `ABSOLUTE`).  Numbers that were simulated are shares of trials: such a number is
wrong where so many successes would be seen in less than `level` of runs, split over all numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.calls import older
from reidbn.errors import TooLarge
from reidbn.inference.lowering import Lowering
from reidbn.inference.network import Array, Network
from reidbn.inference.query import Query
from reidbn.inference.retold import Retold, best_order, retell
from reidbn.progress import progress
from reidbn.theory.agreement import detectable, disagree, disagrees, tell_apart

AGREES, DISAGREES, TOO_RARE = "agrees", "disagrees", "too rare to tell"
ROUNDING = 1e-12


@dataclass(frozen=True)
class Cell:
    """P(what) computed exactly, and how often it happened among the rows that count."""

    what: str
    exact: float
    hits: int
    draws: int
    level: float
    negligible: float = 0.0
    scale: float = 1.0
    """The share of hits times this is the probability (see rare.py); 0: it cannot happen."""
    trials = older("draws")

    @property
    def sampled(self) -> float | None:
        """The sampled share; None when no row counts."""
        return self.scale * self.hits / self.draws if self.draws else None

    @property
    def _share(self) -> float:
        """The share of hits that is expected; rounding may take it over 1, and no more."""
        share = self.exact / self.scale
        return 1.0 if 1 < share <= 1 + ROUNDING else share

    @property
    def verdict(self) -> str:
        if self.scale == 0:
            return AGREES if self.exact <= ROUNDING else DISAGREES
        if disagrees(self.hits, self.draws, self._share, level=self.level):
            return DISAGREES
        if self.would_catch <= self.negligible:
            return AGREES
        return AGREES if tell_apart(self.draws, self._share, level=self.level) else TOO_RARE

    @property
    def would_catch(self) -> float:
        """The smallest error in the probability that this cell catches 19 times out of 20."""
        if self.scale == 0:
            return 0.0
        return self.scale * detectable(self.draws, self._share, level=self.level)

    def to_dict(self) -> dict[str, object]:
        return {
            "what": self.what,
            "exact": self.exact,
            "sampled": self.sampled,
            "draws": self.draws,
            "rows": self.draws,  # the older word
            "verdict": self.verdict,
            "would_catch": self.would_catch,
        }


@dataclass(frozen=True)
class Counted:
    """A probability with its count, before the level is split over all cells."""

    what: str
    exact: float
    hits: int
    draws: int
    scale: float = 1.0

    def judged(self, level: float, negligible: float = 0.0) -> Cell:
        """The cell at its share of the level; an error of `negligible` is worth no row."""
        return Cell(self.what, self.exact, self.hits, self.draws, level, negligible, self.scale)


# -- people compared one by one --------------------------------------------------------------------


RELATIVE = 1e-9
WORTH = 0.05  # an error in a share of draws that has to be seen
ABSOLUTE = 1e-15
WORK = 1 << 29  # numbers multiplied: about a second
BLOCK = 1 << 20  # numbers in one array
FEWEST = 8  # subjects at a time, however many cases there are
Whole = NDArray[np.intp]


@dataclass(frozen=True)
class Printed:
    """A question and its answers as they were shown, one per distinct subject.

    `trials` is 0 where they are exact, or the number that each is a share of.
    """

    query: Query
    values: Array
    trials: int = 0


@dataclass(frozen=True)
class Compared:
    """How many of how many people were compared one by one, and how many of them differ."""

    people: int
    of: int
    differing: int
    largest_difference: float
    measures: tuple[str, ...]
    draws: int = 0
    """Of numbers that are shares of so many draws; 0: they are exact."""
    unseen: float = 0.0
    """Of such shares, the error up to which none is seen."""

    @property
    def is_blunt(self) -> bool:
        """Whether so few draws say nothing of the numbers."""
        return self.unseen > WORTH

    @property
    def is_all(self) -> bool:
        return self.people == self.of

    def __str__(self) -> str:
        return f"{self.people:,} of {self.of:,} people compared one by one"

    def in_words(self) -> str:
        """A line of the cross-check."""
        if not self.people:
            return f"{self}: the story has too many cases to tell it again"
        picked = "every one" if self.is_all else f"{self.people:,}"
        chosen = "" if self.is_all else " (the highest, the lowest, the rarest, a random rest)"
        head = (
            f"{picked} of {self.of:,} people{chosen} compared one by one with a second exact "
            f"answer, {', '.join(self.measures)}"
        )
        if self.draws:
            return (
                f"{head}: {self.differing:,} differ by more than shares of {self.draws:,} draws "
                f"may; they are up to {self.largest_difference:.2g} off, and an error below "
                f"{self.unseen:.2g} would not be seen"
            )
        return (
            f"{head}: {self.differing:,} differ, largest difference {self.largest_difference:.2g}"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "people": self.people,
            "of": self.of,
            "differing": self.differing,
            "largest_difference": self.largest_difference,
            "measures": list(self.measures),
            **({"draws": self.draws, "unseen": self.unseen} if self.draws else {}),
        }


def compare(
    attack: Attack,
    settings: Mapping[str, Any] | None,
    columns: Mapping[str, Array],
    shown: Mapping[str, Printed],
    people: Whole,
    *,
    level: float,
    work: int = WORK,
    seed: int = 0,
) -> Compared:
    """Every number shown against the story told again; for some people where it takes too long.

    `people` says which subject each person is.  The last question shown is the main one: the
    people with its highest and lowest answers are compared in any case.
    """
    risk = [*shown.values()][-1].values
    counts = np.bincount(people, minlength=len(risk))
    stories = _Stories(attack, settings, columns, [p.query for p in shown.values()])
    few = np.arange(min(2, len(risk)))
    try:
        tried = stories.tell(few)
    except TooLarge:
        return Compared(0, len(people), 0, 0.0, tuple(shown))
    most = max(1, len(few) * work // sum(t.work for t in tried))
    picks = people_to_compare(risk, counts, most, np.random.default_rng(seed))
    split = level / (len(picks) * len(shown))
    step = max(FEWEST, BLOCK // max(t.cases for t in tried))
    differs = np.zeros(len(risk), dtype=bool)
    largest = 0.0
    for start in progress(range(0, len(picks), step), "people compared one by one"):
        block = picks[start : start + step]
        for printed, told in zip(shown.values(), stories.tell(block), strict=True):
            values = printed.values[block]
            differs[block] |= _wrong(values, printed.trials, told.risk, split)
            largest = max(largest, float(np.abs(values - told.risk).max()))
    draws = max(printed.trials for printed in shown.values())
    return Compared(
        draws=draws,
        unseen=detectable(draws, 0.5, level=split) if draws else 0.0,
        people=int(counts[picks].sum()),
        of=len(people),
        differing=int(counts[differs].sum()),
        largest_difference=largest,
        measures=tuple(shown),
    )


def _wrong(values: Array, trials: int, exact: Array, level: float) -> NDArray[np.bool_]:
    """Which numbers cannot be these answers; NaN is none."""
    if trials:
        return disagree(np.rint(values * trials), trials, exact, level=level)
    return ~(np.abs(values - exact) <= RELATIVE * exact + ABSOLUTE)


class _Stories:
    """The questions of one attack, told for any block of subjects."""

    def __init__(
        self,
        attack: Attack,
        settings: Mapping[str, Any] | None,
        columns: Mapping[str, Array],
        queries: Sequence[Query],
    ) -> None:
        self.lowering = Lowering.of(attack, settings, *queries)
        self.columns, self.queries = columns, queries
        self.orders: dict[int, list[str]] = {}

    def tell(self, subjects: Whole) -> list[Retold]:
        """The answers of these subjects, one array per question."""
        own = {n: v[subjects] if len(v) > 1 else v for n, v in self.columns.items()}
        network = self.lowering.network(own)
        return [self._told(i, q, network.do(q.do)) for i, q in enumerate(self.queries)]

    def _told(self, i: int, query: Query, network: Network) -> Retold:
        if i not in self.orders:
            self.orders[i] = best_order(network, [*query.wanted, *query.given])
        return retell(network, query.wanted, query.given, self.orders[i])


def people_to_compare(risk: Array, counts: Whole, most: int, rng: np.random.Generator) -> Whole:
    """All subjects, or a quarter each of the highest, lowest and rarest and a random rest."""
    subjects = len(risk)
    if most >= subjects:
        return np.arange(subjects)
    quarter = -(-most // 4)
    order = np.argsort(risk, kind="stable")
    rarest = np.lexsort((rng.random(subjects), counts))
    wanted = [order[::-1][:quarter], order[:quarter], rarest[:quarter], rng.permutation(subjects)]
    found = np.concatenate(wanted)
    _, first = np.unique(found, return_index=True)
    return np.sort(found[np.sort(first)][:most])
