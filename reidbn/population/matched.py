"""Estimates that need the table itself: survey weights, log-linear models, and the truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import DataError, UsageError
from reidbn.microdata.classes import class_ids, some_of, totals
from reidbn.microdata.table import People
from reidbn.population.cautious import is_uncompared, uncompared
from reidbn.population.margins import share_alike
from reidbn.population.result import Uniqueness
from reidbn.population.sample import Sample, of_functions, of_louder
from reidbn.population.weights import LIGHT
from reidbn.theory.frequencies import FrequencyTable
from reidbn.theory.loglinear import Cells, Risk, mean_inverse_beside, risk
from reidbn.theory.survey import individual_risk
from reidbn.written import agree, counted

PREDICTIVE = "predictive"
WITHIN_TWO = ((0.0, 88), (0.0075, 92), (0.03, 95), (0.08, 96), (0.2, 98), (0.6, 100))
"""By sampling fraction, from: % of the estimates on real tables that were within a factor of two
(benchmarks/results/two_populations.md)."""

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class SurveyFit(Uniqueness):
    """Individual risk from survey weights [BenedettiFranconi98]."""

    persons: People

    @property
    def model(self) -> str:
        return "benedetti-franconi"

    @property
    def status(self) -> str:
        return "closed form"

    @cached_property
    def class_weights(self) -> Floats:
        """Sum of the weights of each person's class, scaled to the population: the estimate of F.

        Never below the class's records.
        """
        return np.maximum(self._weighed, self.sample.class_sizes)

    @cached_property
    def _weighed(self) -> Floats:
        sizes = self.sample.class_sizes.astype(np.float64)
        if self.sample.is_complete:
            return sizes
        return self.sample.weighing[0] * self.persons.class_weights(list(self.sample.columns))

    @cached_property
    def individual_risk(self) -> Floats:
        """E[1/F | f] of each person, exactly."""
        return np.asarray(individual_risk(self.sample.class_sizes, self.class_weights))

    @cached_property
    def p_unique(self) -> float:
        """P(F = 1 | f = 1) = 1/weight, averaged over the table's unique rows."""
        alone = self.sample.class_sizes == 1
        return float((1 / self.class_weights[alone]).mean()) if alone.any() else 0.0

    @property
    def expected_reidentifications(self) -> float:
        """Sum of the individual risks."""
        return float(self.individual_risk.sum())

    def _each(self) -> dict[str, Floats]:
        unique = np.where(self.sample.class_sizes == 1, 1 / self.class_weights, 0.0)
        return {"p_unique": unique, "mean_inverse": self.individual_risk}

    @property
    def expected_match(self) -> float:
        """Mean of the individual risks."""
        return float(self.individual_risk.mean())

    def _of_weights(self) -> tuple[str, ...]:
        light = (self._weighed < self.sample.class_sizes * (1 - 1e-12)).any()
        return (*self.sample.weighing[1], *([LIGHT] if light else []))


@dataclass(frozen=True, eq=False, repr=False)
class LogLinearFit(Uniqueness):
    """A log-linear Poisson model of the cells: `predictive`, or a published variant by name."""

    variant: str
    found: Risk
    counts: Floats
    """People of the table in each occupied cell."""

    @property
    def model(self) -> str:
        return "log-linear"

    @property
    def status(self) -> str:
        return self.variant

    @property
    def p_unique(self) -> float:
        """Mean over the table's unique rows of P(F = 1 | f = 1)."""
        return float(self.found.p_unique.mean()) if self.uniques else 0.0

    @property
    def expected_uniques(self) -> float:
        """The table's unique rows that stay unique, each counted 1/(its chance to be sampled)."""
        return min(self.found.expected_uniques, float(self.population))

    @cached_property
    def expected_match(self) -> float:
        """Mean over the table's people of E[1/F | f]: the journalist's chance of a right match."""
        f = self.counts
        return float(f @ mean_inverse_beside(f, self.found.outside)) / self.n

    def _each(self) -> dict[str, Floats]:
        columns = _columns(self.sample, self.variant)
        ids, _ = _people(self.sample, self.model).class_ids(columns)
        outside = self.found.outside
        unique = np.where(self.counts == 1, np.exp(-outside), 0.0)
        return {
            "p_unique": unique[ids],
            "mean_inverse": mean_inverse_beside(self.counts, outside)[ids],
        }

    @property
    def tau(self) -> tuple[float, float]:
        """Expected population uniques and expected correct matches among the unique rows."""
        return self.found.tau

    @property
    def published_shares(self) -> tuple[float, float]:
        """The two shares as the widely used implementation reports them."""
        return self.found.published_shares

    def _of_weights(self) -> tuple[str, ...]:
        return self.sample.stands[1]

    def _remarks(self) -> list[str]:
        trust = (
            "the model's fit is taken on trust; main effects alone overlook how attributes go "
            "together"
        )
        if self.variant != PREDICTIVE or self.sample.is_complete:
            return [trust]
        found = list(self._of_record(trust))
        if self.sample.functions:
            found.insert(0, of_functions(self.sample.functions))
        if self.contradicted is not None:
            found.append(of_louder(*self.contradicted) + ': believe model="pitman-bayes"')
        return found

    def _of_record(self, trust: str) -> list[str]:
        if self.sample.parting < 2:
            return [
                "one attribute leaves this model nothing to multiply, and its uniques are too few: "
                'believe model="pitman-bayes"'
            ]
        if is_uncompared(self.sample.n, self.sample.N):
            return [f"{trust}; {uncompared(self.sample.n, self.sample.N)}"]
        good = [share for start, share in WITHIN_TWO if self.sampling_fraction >= start][-1]
        return [f"{trust}: on real tables {good} % of such estimates were within a factor of two"]


@dataclass(frozen=True, eq=False, repr=False)
class Truth(Uniqueness):
    """Exact risk by matching the table with the population's [Xia21]."""

    population_sizes: Ints
    """F of each person of the table."""
    population_uniques: int

    def _of_weights(self) -> tuple[str, ...]:
        return ()  # everybody is counted

    @property
    def model(self) -> str:
        return "truth"

    @property
    def status(self) -> str:
        return "counted"

    @property
    def p_unique(self) -> float:
        """Share of the table's unique rows that are unique in the population."""
        alone = self.sample.class_sizes == 1
        return float((self.population_sizes[alone] == 1).mean()) if alone.any() else 0.0

    def _in_words(self) -> Iterator[str]:
        stay = int(((self.sample.class_sizes == 1) & (self.population_sizes == 1)).sum())
        yield (
            f"{self.population_uniques:,} of the {self.population:,} people of the population are "
            f"unique, counted in its own table; of the {self.uniques:,} who are unique among the "
            f"{self.n:,} of this one {stay:,} are."
        )

    @property
    def expected_uniques(self) -> float:
        """The population's unique rows, counted."""
        return float(self.population_uniques)

    def _each(self) -> dict[str, Floats]:
        alone = (self.sample.class_sizes == 1) & (self.population_sizes == 1)
        return {"p_unique": alone.astype(np.float64), "mean_inverse": 1 / self.population_sizes}

    @property
    def expected_match(self) -> float:
        """Mean of 1/F over the people of the table: the journalist's success."""
        return float((1 / self.population_sizes).mean())


def fit_survey(sample: Sample) -> SurveyFit:
    people = _people(sample, "benedetti-franconi")
    if people.weights is None:
        raise UsageError(
            'benedetti-franconi needs survey weights: read_table(..., weights="column")'
        )
    return SurveyFit(sample, people)


def fit_loglinear(
    sample: Sample,
    *,
    variant: str | None = None,
    interactions: Sequence[Sequence[str]] | None = None,
    effects: str = "categories",
) -> LogLinearFit:
    """Fit a variant; `interactions` are the sets of columns that go together.

    Without a variant it is `predictive`, or "default" where interactions or effects are named.
    """
    if variant is None:
        plain = interactions is None and effects == "categories"
        variant = PREDICTIVE if plain else "default"
    people = _people(sample, "log-linear")
    columns = _columns(sample, variant)
    terms = None
    if interactions is not None:
        terms = [tuple(columns.index(c) for c in people.names(list(s))) for s in interactions]
    cells = _cells(people, columns, sample, predictive=variant == PREDICTIVE)
    found = risk(cells, variant=variant, terms=terms, effects=effects)
    return LogLinearFit(sample, variant, found, cells.counts)


def _columns(sample: Sample, variant: str) -> list[str]:
    """The columns that are multiplied: of those that are functions of others, as published."""
    left_out = sample.functions if variant == PREDICTIVE else ()
    return [c for c in sample.columns if c not in left_out]


def fit_truth(sample: Sample) -> Truth:
    """Count, for everybody in the table, who in the population's table is alike."""
    people = _people(sample, "truth")
    if sample.register is None:
        raise UsageError("truth needs the population's table: population=read_table(...)")
    if sample.notes:
        raise UsageError("truth matches exact values; it does not go with an approximation")
    columns = list(sample.columns)
    everybody = _on_labels(people, sample.register, columns)
    ids, count = class_ids(everybody, [int(everybody[:, j].max()) + 1 for j in range(len(columns))])
    in_register = np.bincount(ids[: len(sample.register)], minlength=count)
    F = in_register[ids[len(sample.register) :]]
    lost = int((sample.class_sizes > F).sum())
    if lost:
        raise DataError(
            f"{counted(lost, 'person')} of the table {agree(lost, 'is', 'are')} in a class with "
            "fewer people in the population's table; the table must be a part of the population"
        )
    return Truth(sample, F, int((in_register == 1).sum()))


def _people(sample: Sample, model: str) -> People:
    if sample.people is None:
        raise UsageError(f"{model} needs the table of people; sizes and counts alone will not do")
    return sample.people


def _on_labels(people: People, register: People, columns: list[str]) -> Any:
    """Codes of the register's rows, then the table's, on common labels."""
    both = []
    for name in columns:
        known = {label: code for code, label in enumerate(register.labels(name).tolist())}
        mine = [known.setdefault(label, len(known)) for label in people.labels(name).tolist()]
        own = np.array(mine, dtype=np.int32)[people.codes([name])[:, 0]]
        both.append(np.concatenate([register.codes([name])[:, 0], own]))
    return np.asfortranarray(np.column_stack(both).astype(np.int32))


def _cells(people: People, columns: list[str], sample: Sample, *, predictive: bool) -> Cells:
    ids, count = people.class_ids(columns)
    weights = sample.stands[0]
    codes = people.codes(columns)
    present, compact = [], np.empty((len(people), len(columns)), dtype=np.int64)
    for j, name in enumerate(columns):
        used, compact[:, j] = np.unique(codes[:, j], return_inverse=True)
        present.append(people.labels(name)[used])
    return Cells(
        codes=compact[some_of(ids, count)],
        cardinalities=tuple(len(values) for values in present),
        counts=totals(ids, None, count),
        weights=totals(ids, weights, count),
        inclusion=totals(ids, 1 / weights, count),
        values=_numbers(present),
        shares=tuple(_shares(column, sample.N) for column in compact.T) if predictive else None,
    )


def _shares(codes: Ints, N: int) -> Floats:
    """Each value's share of the people outside the table."""
    held = np.bincount(codes)
    sizes, counts = np.unique(held, return_counts=True)
    return share_alike(held, FrequencyTable.of(sizes, counts), N)


def _numbers(present: list[NDArray[Any]]) -> tuple[Floats, ...] | None:
    try:
        return tuple(np.asarray(values, dtype=np.float64) for values in present)
    except (TypeError, ValueError):
        return None
