"""Estimators beside Pitman's: Zayatz, the slide negative binomial, and Dankar's choice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reidbn.errors import UsageError, did_you_mean
from reidbn.population.pitman import fit_pitman
from reidbn.population.result import Array, Uniqueness, number_or_none
from reidbn.population.sample import Sample
from reidbn.theory.pitman_fit import INTERIOR
from reidbn.theory.species import CLASSES, SNB, solve_snb, zayatz

SMALL_FRACTION = 0.1
"""Dankar's cut: Pitman up to here, the smaller of SNB and Zayatz above."""


@dataclass(frozen=True, eq=False, repr=False)
class ZayatzFit(Uniqueness):
    """The table's class sizes taken for the population's [Zayatz91]."""

    @property
    def model(self) -> str:
        return "zayatz"

    @property
    def status(self) -> str:
        return "closed form" if self.uniques else "no uniques"

    @cached_property
    def p_unique(self) -> float:
        return zayatz(self.sample.table, self.population)

    @property
    def expected_uniques(self) -> float:
        """The uniques of the table that stay unique, scaled up by N/n."""
        return self.expected_uniques_in_table / self.sampling_fraction

    def _remarks(self) -> list[str]:
        if self.uniques == 0:
            return ["nobody is unique in the table: its 0 is no estimate"]
        if self.sampling_fraction < 0.25 and not self.sample.is_complete:
            return [
                "Zayatz's estimate is biased upwards at small sampling fractions: on real tables "
                "about 2 times too high at 5 % sampled and 4 to 10 times at 1 %"
            ]
        return []


@dataclass(frozen=True, eq=False, repr=False)
class SNBFit(Uniqueness):
    """The slide negative binomial model [ChenKeller98], with the correct equations."""

    classes_from: str
    solution: SNB | None

    @property
    def model(self) -> str:
        return "snb"

    @property
    def status(self) -> str:
        return "solved" if self.solution or self.sample.is_complete else "no solution"

    @property
    def p_unique(self) -> float:
        if self.sample.is_complete:
            return 1.0
        return self._solved().p_unique

    @property
    def expected_uniques(self) -> float:
        """K b^a."""
        if self.sample.is_complete:
            return float(self.uniques)
        return self._solved().population_uniques

    def _solved(self) -> SNB:
        if self.solution is None:
            raise UsageError(
                "the SNB equations have no solution for this table's f_1 and f_2; "
                'use model="pitman" or "zayatz"'
            )
        return self.solution

    def _remarks(self) -> list[str]:
        if self.sampling_fraction < SMALL_FRACTION and self.solution:
            return ["its estimate of the number of classes is too high at small sampling fractions"]
        return []


@dataclass(frozen=True, eq=False, repr=False)
class DankarFit(Uniqueness):
    """Dankar's rule: which estimator to believe at this sampling fraction [Dankar12].

    At most 10 % sampled: Pitman where its maximum is interior, else Zayatz.  Above: the smaller of
    SNB and Zayatz, Zayatz where SNB has no solution.  (The cut and the fallback are those of the
    ARX tool, whose SNB never returns a value, so that it always falls back.)
    """

    chosen: Uniqueness

    @property
    def model(self) -> str:
        return "dankar"

    @property
    def status(self) -> str:
        return f"{self.chosen.model}: {self.chosen.status}"

    @property
    def p_unique(self) -> float:
        return self.chosen.p_unique

    @property
    def expected_uniques(self) -> float:
        return self.chosen.expected_uniques

    def interval(
        self, quantity: str = "expected_uniques", *, level: float = 0.95
    ) -> tuple[float, float]:
        return self.chosen.interval(quantity, level=level)

    def prediction_interval(self, *, level: float = 0.95) -> tuple[int, int]:
        return self.chosen.prediction_interval(level=level)

    def _each(self) -> dict[str, Array]:
        return self.chosen._each()

    def _remarks(self) -> list[str]:
        return self.chosen._remarks()


def fit_zayatz(sample: Sample) -> ZayatzFit:
    return ZayatzFit(sample)


def fit_snb(sample: Sample, *, classes: str = "modified-shlosser") -> SNBFit:
    """SNB with K from `modified-shlosser`, `shlosser` or the `population-equation`."""
    if classes not in CLASSES:
        raise UsageError(f'no estimator of classes "{classes}"; {did_you_mean(classes, CLASSES)}')
    return SNBFit(sample, classes, solve_snb(sample.table, sample.N, estimator=classes))


def fit_dankar(sample: Sample) -> DankarFit:
    """Apply the rule."""
    by_zayatz = fit_zayatz(sample)
    if sample.fraction <= SMALL_FRACTION:
        by_pitman = fit_pitman(sample, model="pitman")
        return DankarFit(sample, by_pitman if by_pitman.status == INTERIOR else by_zayatz)
    candidates: list[Any] = [fit_snb(sample), by_zayatz]
    able = [fit for fit in candidates if number_or_none(fit, "expected_uniques") is not None]
    return DankarFit(sample, min(able, key=lambda fit: float(fit.expected_uniques)))
