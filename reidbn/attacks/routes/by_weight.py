"""What survey weights say about the population, for every person on every subset of groups.

A record's weight says for how many people it stands.  Somebody in a class of f records whose
weights sum to W is in a class of F people, F - f negative binomial at p = f / W
[BenedettiFranconi98]:

    P(F = 1 | f = 1) = 1 / W          E[1/F | f] = theory/survey.py, (1)

Whoever is unique on some columns is alone, with the same weight, on more: the subsets agree.  Of
somebody unique that is no more than the own weight: on real tables a tenth to a half of what
happens (benchmarks/results/weighted_assessments.md), so structured.py speaks unless this is asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.routes.counts import MEMORY, SubsetClasses
from reidbn.attacks.routes.population import IN_CACHE, SubsetPopulation
from reidbn.attacks.routes.said import Said
from reidbn.errors import TooLarge
from reidbn.microdata.table import People
from reidbn.population.structured import STRUCTURED
from reidbn.population.weights import LIGHT, WHOLE, scale_of
from reidbn.progress import progress
from reidbn.theory.survey import individual_risk

Array = NDArray[np.float64]

BY_WEIGHTS = "benedetti-franconi"
HEARS_WEIGHTS = (BY_WEIGHTS, STRUCTURED)  # models that go by survey weights
ROUNDING = 1e-14  # of decimal weights and their sum, relative


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


class Kept(SubsetPopulation):
    """A number per row and subset is kept: weights are of rows, and sizes do not tell them."""

    @property
    def can_sum(self) -> bool:
        return False

    def unique_of(self, rows: NDArray[np.intp]) -> Array:
        """As `unique`."""
        return np.asarray(self._unique[0][rows])

    def _mean(self, found: Array) -> tuple[Array, Array]:
        """Of row x subset: the mean over those who are alone, and how many are, by subset."""
        alone = (self.classes.sizes == 1) * self.classes.persons
        some = alone.sum(axis=1)
        return np.einsum("sp,ps->s", alone, found) / np.maximum(some, 1), some


@dataclass(frozen=True, eq=False, repr=False)
class WeightedPopulation(Kept):
    """Survey weights in place of a model's fits; the same questions are asked of it."""

    weights: NDArray[Any] = None  # type: ignore[assignment]
    """Sum of the weights of a row's class: subset x row, never under the class's records."""

    @cached_property
    def _unique(self) -> tuple[Array, Array, Array]:
        found = 1 / self.weights.T
        found[:, 0] = self.population == 1  # where nothing is known everybody fits
        mean, _ = self._mean(found)
        return found, mean, mean

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


@dataclass(frozen=True, eq=False, repr=False)
class LargerPopulation(Kept):
    """The larger of what class sizes and what survey weights say, where no structure speaks."""

    class_weights: Array | None = None
    """As in `WeightedPopulation`; None: class sizes alone."""

    def _by_groups(self) -> tuple[Array, Array, Array]:
        said, before, after = super()._by_groups()
        if self.class_weights is None:
            return said, before, after
        found = np.maximum(said, 1 / self.class_weights.T)
        found[:, 0] = self.population == 1
        mean, some = self._mean(found)
        return found, before, np.where(some > 0, mean, after)

    def match(self, rows: NDArray[np.intp]) -> Array:
        """E[1/F] of distinct rows of the table: person x subset."""
        found = super().match(rows)
        if self.class_weights is not None:
            by_weight = individual_risk(self.classes.sizes_of(rows), self.class_weights[:, rows]).T
            np.maximum(found[:, 1:], by_weight[:, 1:], out=found[:, 1:])
        return found


def larger_of(
    found: SubsetPopulation, people: People, population: float, individuals: NDArray[Any] | None
) -> LargerPopulation:
    """What class sizes say, `found`, held to what survey weights say."""
    classes = found.classes
    weights = class_weights(people, classes, population, individuals, np.arange(classes.subsets))
    own = {each.name: getattr(found, each.name) for each in fields(SubsetPopulation)}
    own["about"] = (*_scaling(people, population)[1], *found.about)
    if _at_least(weights, classes.sizes):
        own["about"] += (LIGHT,)
    return LargerPopulation(**own, class_weights=weights)


def _at_least(weights: Array, sizes: NDArray[Any]) -> bool:
    """Whether a class had less weight than records; it has as much now."""
    light = bool((weights < sizes).any())
    if light:
        np.maximum(weights, sizes, out=weights)
    return light


def _scaling(people: People, population: float) -> tuple[float, tuple[str, ...]]:
    """As `scale_of`; where the population is their own sum in whole people, as they are."""
    assert people.weights is not None  # noqa: S101 - the callers looked
    if population == people_behind(people, BY_WEIGHTS):
        return 1.0, ()
    return scale_of(people.weights, population)


def class_weights(
    people: People,
    classes: SubsetClasses,
    population: float,
    individuals: NDArray[Any] | None,
    subsets: NDArray[Any],
) -> Array:
    """The sum of the weights of everybody's class, scaled to the population: subset x row."""
    if len(subsets) * classes.rows * 8 > MEMORY:
        raise TooLarge(
            f"survey weights of {classes.rows:,} distinct people on {len(subsets):,} subsets need "
            f"{len(subsets) * classes.rows * 8 / 2**30:.1f} GB and the limit is "
            f"{MEMORY / 2**30:.0f} GB; join attributes that are learnt together, or ask about some "
            f"people with individuals=1000"
        )
    scale, _ = _scaling(people, population)
    person = classes.some if individuals is None else individuals[classes.some]
    found = np.empty((len(subsets), classes.rows))
    steps = progress(subsets.tolist(), "survey weights on every subset")
    for out, mask in zip(found, steps, strict=True):
        columns = [c for j, group in enumerate(classes.groups) if mask >> j & 1 for c in group]
        out[:] = scale * people.class_weights(columns)[person]
    return found


def weighted_population(
    people: People, classes: SubsetClasses, population: float, individuals: NDArray[np.int64] | None
) -> WeightedPopulation:
    """The classes' sizes in the population from the weights, scaled to the population's size."""
    subsets = classes.subsets
    notes = [
        f"class sizes in the population are estimated from the survey weights [{BY_WEIGHTS}]",
        *_scaling(people, population)[1],
    ]
    weights = class_weights(people, classes, population, individuals, np.arange(subsets))
    if population == classes.records:  # nobody else is there to be alike
        notes.append(WHOLE)
        weights[:] = classes.sizes
    elif _at_least(weights, classes.sizes):
        notes.append(LIGHT)
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
