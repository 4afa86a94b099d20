"""Estimators beside Pitman's: Zayatz, the slide negative binomial, and Dankar's choice.

Fit one model to one table: the door to the room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reidbn.calls import typed
from reidbn.errors import UsageError, did_you_mean
from reidbn.microdata.again import asked_again
from reidbn.microdata.table import People
from reidbn.population.matched import fit_loglinear, fit_survey, fit_truth
from reidbn.population.pitman import PITMAN_MODELS, fit_pitman
from reidbn.population.result import Chosen, Uniqueness, number_or_none
from reidbn.population.sample import Sample, refuse_those_left, sample_of
from reidbn.population.strata import StratifiedFit
from reidbn.population.structured import STRUCTURED
from reidbn.population.structured_fitting import fit_structured
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
class DankarFit(Chosen):
    """Dankar's rule: which estimator to believe at this sampling fraction [Dankar12].

    At most 10 % sampled: Pitman where its maximum is interior, else Zayatz.  Above: the smaller of
    SNB and Zayatz, Zayatz where SNB has no solution.  (The cut and the fallback are those of the
    ARX tool, whose SNB never returns a value, so that it always falls back.)
    """

    @property
    def model(self) -> str:
        return "dankar"


def fit_zayatz(sample: Sample) -> ZayatzFit:
    return ZayatzFit(sample)


def fit_snb(sample: Sample, *, classes: str = "modified-shlosser") -> SNBFit:
    """SNB with K from `modified-shlosser`, `shlosser` or the `population-equation`."""
    if classes not in CLASSES:
        raise UsageError(f'no estimator of classes "{classes}"; {did_you_mean(classes, CLASSES)}')
    return SNBFit(sample, solve_snb(sample.table, sample.N, estimator=classes))


def fit_dankar(sample: Sample) -> DankarFit:
    """Apply the rule."""
    by_zayatz = fit_zayatz(sample)
    if sample.fraction <= SMALL_FRACTION:
        by_pitman = fit_pitman(sample, model="pitman")
        return DankarFit(sample, by_pitman if by_pitman.status == INTERIOR else by_zayatz)
    candidates: list[Any] = [fit_snb(sample), by_zayatz]
    able = [fit for fit in candidates if number_or_none(fit, "expected_uniques") is not None]
    return DankarFit(sample, min(able, key=lambda fit: float(fit.expected_uniques)))


# -- fit one model to one table --------------------------------------------------------------------


_OTHERS: Mapping[str, Callable[..., Uniqueness]] = {
    "zayatz": fit_zayatz,
    "snb": fit_snb,
    "dankar": fit_dankar,
    "benedetti-franconi": fit_survey,
    "log-linear": fit_loglinear,
    STRUCTURED: fit_structured,
    "truth": fit_truth,
}
MODELS = (*PITMAN_MODELS, *_OTHERS)
_OPTIONS = {
    "snb": ("classes",),
    "log-linear": ("variant", "interactions", "effects"),
}


@asked_again
@typed
def fit(
    people: People | None = None,
    columns: str | Sequence[str] | None = None,
    *,
    population: Any,
    sizes: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    model: str | None = None,
    approximation: str | None = None,
    strata: str | None = None,
    **options: Any,
) -> Any:
    """Estimate population uniqueness from a table of people, or from frequencies of frequencies.

    `population` is the number of people the table was drawn from, or their own table (People),
    which "truth" needs; with `strata` (a column) it maps each stratum to its number of people.
    `columns` are the attributes the attacker knows, default the quasi-identifiers.
    `approximation` ("finest-common-level" or "drop") is needed where values match several others.
    Options: `classes` of "snb"; `variant`, `interactions`, `effects` of "log-linear".

    `sizes` and `counts` say how many classes there are of each size, in place of people; `model` is
    the name of the model ("pitman" without one, and "structured" where people have survey weights),
    and `options` are those of that model.

    >>> fit(sizes=[1, 2, 3, 9], counts=[812, 150, 60, 9], population=100_000)
    <pitman (interior): p_unique=0.1085, 6,452.1 population uniques expected>
    """
    if model is None:
        weighted = people is not None and people.weights is not None
        model = STRUCTURED if weighted else "pitman"
    if strata is not None:
        return _by_stratum(people, columns, population, model, approximation, strata, options)
    sample = sample_of(
        people, columns, sizes=sizes, counts=counts, population=population,
        approximation=approximation,
    )  # fmt: skip
    return fit_sample(replace(sample, settings=_said(options, approximation)), model, **options)


def _said(options: Mapping[str, Any], approximation: str | None) -> dict[str, str]:
    """What was asked of the model, in words."""
    said = {"approximation": approximation, **options}
    return {name: str(value) for name, value in said.items() if value is not None}


def fit_sample(sample: Sample, model: str, **options: Any) -> Uniqueness:
    """Fit a model by name."""
    if model not in MODELS:
        raise UsageError(f'no model "{model}"; {did_you_mean(model, MODELS)}')
    known = _OPTIONS.get(model, ())
    for name in options:
        if name not in known:
            raise UsageError(f'model "{model}" has no option "{name}"; {did_you_mean(name, known)}')
    if model in PITMAN_MODELS:
        return fit_pitman(sample, model=model)
    return _OTHERS[model](sample, **options)


def _by_stratum(
    people: People | None,
    columns: str | Sequence[str] | None,
    population: Any,
    model: str,
    approximation: str | None,
    strata: str,
    options: Mapping[str, Any],
) -> StratifiedFit:
    if people is None or not isinstance(population, Mapping):
        raise UsageError("strata= needs a table of people and population={stratum: people, ...}")
    refuse_those_left(people)
    if people.share_kept < 1:  # a part of those who are left
        raise UsageError(
            "people of this table were suppressed, and not equally many in every stratum; fit by "
            "strata before suppressing"
        )
    names = [name for name in people.names(columns) if name != strata]
    codes = people.codes([strata])[:, 0]
    labels = people.labels(strata).tolist()
    present = [code for code in range(len(labels)) if (codes == code).any()]
    missing = [code for code in present if labels[code] not in population]
    if missing:
        raise UsageError(
            f"population has no number for {len(missing)} of the {len(present)} strata in the "
            f"table; give one for every value of {strata}"
        )
    parts = {}
    for code in present:
        if int((codes == code).sum()) < 2:
            raise UsageError(
                f'the stratum "{labels[code]}" has one person in the table, which says nothing '
                "about its population: join it with another, or leave strata= out"
            )
        own = sample_of(
            people.take(np.flatnonzero(codes == code)), names, sizes=None, counts=None,
            population=population[labels[code]], approximation=approximation,
        )  # fmt: skip
        parts[labels[code]] = fit_sample(own, model, **options)
    whole = sample_of(
        people, [*names, strata], sizes=None, counts=None,
        population=int(sum(part.population for part in parts.values())),
        approximation=approximation,
    )  # fmt: skip
    settings = {**_said(options, approximation), "strata": strata}
    return StratifiedFit(replace(whole, notes=(), settings=settings), strata, parts)
