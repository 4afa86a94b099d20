"""What survey weights say about the population, for every person on every subset of groups.

A record's weight says for how many people it stands.  Somebody in a class of f records whose
weights sum to W is in a class of F people, F - f negative binomial at p = f / W
[BenedettiFranconi98]:

    P(F = 1 | f = 1) = 1 / W          E[1/F | f] = theory/survey.py, (1)

Whoever is unique on some columns is alone, with the same weight, on more: the subsets agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.routes.counts import MEMORY, SubsetClasses
from reidbn.attacks.routes.population import IN_CACHE, SubsetPopulation
from reidbn.attacks.routes.said import Said
from reidbn.attacks.routes.speaking import DEFAULT_MODEL, check_model
from reidbn.errors import TooLarge, UsageError
from reidbn.microdata.table import People
from reidbn.population.structured import STRUCTURED
from reidbn.population.weights import LIGHT, WHOLE, scale_of
from reidbn.progress import progress
from reidbn.theory.survey import individual_risk

Array = NDArray[np.float64]

BY_WEIGHTS = "benedetti-franconi"
HEARS_WEIGHTS = (BY_WEIGHTS, STRUCTURED)  # models that go by survey weights
ROUNDING = 1e-14  # of decimal weights and their sum, relative


def model_for(people: People, model: str) -> str:
    """The population model of an assessment: a table with survey weights speaks by them."""
    if people.weights is not None and model in (DEFAULT_MODEL, BY_WEIGHTS):
        return BY_WEIGHTS
    if model == BY_WEIGHTS:
        raise UsageError(
            f'population_model="{model}" needs survey weights: read_table(..., weights="column")'
        )
    check_model(model)
    return model


def people_behind(people: People, model: str) -> float | None:
    """The whole people that the weights sum to, where they are numbers of people.

    A part of a person is left off: of fewer people, each is at the higher risk.
    """
    if model not in HEARS_WEIGHTS or people.weights is None or (people.weights < 1).any():
        return None
    return float(max(math.floor(_sum(people)), len(people)))


def has_part(people: People, behind: float) -> bool:
    """Whether the weights sum to more than whole people."""
    return _sum(people) - behind > ROUNDING * len(people) * behind


def _sum(people: People) -> float:
    assert people.weights is not None  # noqa: S101 - the callers looked
    return math.fsum(people.weights.tolist()) * (1 + ROUNDING)


@dataclass(frozen=True, eq=False, repr=False)
class WeightedPopulation(SubsetPopulation):
    """Survey weights in place of a model's fits; the same questions are asked of it."""

    weights: NDArray[Any] = None  # type: ignore[assignment]
    """Sum of the weights of a row's class: subset x row, never under the class's records."""

    @cached_property
    def _unique(self) -> tuple[Array, Array, Array]:
        found = 1 / self.weights
        found[0] = self.population == 1  # where nothing is known everybody fits
        people = self.classes.persons
        alone = (self.classes.sizes == 1) * people
        count = alone.sum(axis=1)
        mean = np.einsum("ij,ij->i", alone, found) / np.maximum(count, 1)
        return found.T, mean, mean

    @property
    def can_sum(self) -> bool:
        return False

    def unique_of(self, rows: NDArray[np.intp]) -> Array:
        """As `unique`."""
        return np.asarray(self._unique[0][rows])

    def match(self, rows: NDArray[np.intp]) -> Array:
        """E[1/F] of distinct rows of the table: person x subset."""
        out = np.empty((len(rows), self.classes.subsets))
        step = max(1, IN_CACHE // self.classes.subsets)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            found = individual_risk(self.classes.sizes[:, some], self.weights[:, some])
            out[start : start + step] = found.T
        out[:, 0] = 1 / self.population
        return out


def weighted_population(
    people: People, classes: SubsetClasses, population: float, individuals: NDArray[np.int64] | None
) -> WeightedPopulation:
    """The classes' sizes in the population from the weights, scaled to the population's size."""
    assert people.weights is not None  # noqa: S101 - model_for looked
    subsets, rows = classes.sizes.shape
    if subsets * rows * 8 > MEMORY:
        raise TooLarge(
            f"survey weights of {rows:,} distinct people on {subsets:,} subsets need "
            f"{subsets * rows * 8 / 2**30:.1f} GB and the limit is {MEMORY / 2**30:.0f} GB; "
            f"join attributes that are learnt together, or ask about some people with "
            f"individuals=1000"
        )
    scale, told = scale_of(people.weights, population)
    if population == people_behind(people, BY_WEIGHTS):  # their own sum, in whole people
        scale, told = 1.0, ()
    notes = [
        f"class sizes in the population are estimated from the survey weights [{BY_WEIGHTS}]",
        *told,
    ]
    person = classes.some if individuals is None else individuals[classes.some]
    weights = np.empty((subsets, rows))
    for mask in progress(range(subsets), "survey weights on every subset"):
        columns = [c for j, group in enumerate(classes.groups) if mask >> j & 1 for c in group]
        weights[mask] = scale * people.class_weights(columns)[person]
    if population == classes.records:  # nobody else is there to be alike
        notes.append(WHOLE)
        weights[:] = classes.sizes
    elif (weights < classes.sizes).any():
        notes.append(LIGHT)
        np.maximum(weights, classes.sizes, out=weights)
    nothing = np.zeros(subsets)
    return WeightedPopulation(
        model=BY_WEIGHTS,
        population=float(population),
        classes=classes,
        said=Said(population - classes.records, nothing, classes.occurring, ()),
        theta=np.full(subsets, np.nan),
        alpha=np.full(subsets, np.nan),
        status=("survey weights",) * subsets,
        fallback=np.zeros(subsets, dtype=bool),
        by=(BY_WEIGHTS,) * subsets,
        about=tuple(notes),
        weights=weights,
    )
