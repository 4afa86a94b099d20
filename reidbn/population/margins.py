"""How many people outside the table share one attribute's value with a person of the table.

A value held by c of n people is not held by c/n of the population: of an attribute with many
values (a date, a postcode) the table has seen few, and each of those too often.  Pitman's partition
of the attribute's values says how often the next person has it [Pitman95],

    P(next person has the value) = (c - alpha) / (n + theta)                                (1)

averaged over the posterior of theta and alpha.  Attributes whose values the table has all seen
keep c/n to within a few people.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.theory.class_law import mean_inverse
from reidbn.theory.frequencies import FrequencyTable, Packed
from reidbn.theory.pitman import stays_unique
from reidbn.theory.pitman_fit import maximise
from reidbn.theory.region import Nodes, Region, posterior, posteriors

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

ENOUGH = 5  # values that one person has, for a column's own class sizes to be heard
UNSEEN = 0.5  # of a row: an answer of less is as good as one of that


def posterior_of(values: FrequencyTable, population: int) -> Nodes:
    """Pitman's posterior of one attribute's values; a scenario and its variants ask it again."""
    return _posterior_of(tuple(values.sizes.tolist()), tuple(values.counts.tolist()), population)


def posteriors_of(tables: Iterable[FrequencyTable], population: float) -> list[Nodes]:
    """The same of several; those that are alike are looked at once, and all together."""
    place: dict[tuple[bytes, bytes], int] = {}
    distinct: list[FrequencyTable] = []
    of = []
    for table in tables:
        key = table.sizes.tobytes(), table.counts.tobytes()
        if key not in place:
            place[key] = len(distinct)
            distinct.append(table)
        of.append(place[key])
    packed = Packed.of(distinct)
    found = list(posteriors(Region(packed, float(population), maximise(packed))))
    return [found[at] for at in of]


@lru_cache(maxsize=256)
def _posterior_of(sizes: tuple[int, ...], counts: tuple[int, ...], population: int) -> Nodes:
    packed = Packed.of([FrequencyTable.of(sizes, counts)])
    return posterior(Region(packed, float(population), maximise(packed)))


def alone_on(values: FrequencyTable, population: int) -> float:
    """P(nobody else in the population has a value that one person of the table has)."""
    at = posterior_of(values, population)
    return at.mean(stays_unique(values.n, population, theta=at.theta, alpha=at.alpha))


def left_unique(values: FrequencyTable, standing: float, population: int) -> float:
    """How many people of the population one attribute alone leaves unique, by its class sizes.

    `standing` is for how many those of the table stand who have a value of their own; 0 where they
    are too few to be heard.
    """
    return 0.0 if values.uniques < ENOUGH else standing * alone_on(values, population)


def contradicts(alone: float, said: float, fraction: float, *, times: float = 2.0) -> bool:
    """Whether what one attribute leaves unique speaks against what is `said` of several.

    Whoever learns more finds no fewer; twice as many is beyond what two estimates differ by.
    """
    return alone > times * said + UNSEEN / fraction


def match_on(class_sizes: Ints, values: FrequencyTable, population: int) -> Floats:
    """E[1/F] of people whose value is held by `class_sizes` people of the table."""
    at = posterior_of(values, population)
    sizes, place = np.unique(class_sizes, return_inverse=True)
    found = mean_inverse(
        sizes[:, None].astype(float), values.n, population, theta=at.theta, alpha=at.alpha
    )
    return np.asarray((found @ at.weight)[place.reshape(-1)])


def share_alike(class_sizes: Ints, values: FrequencyTable, population: int) -> Floats:
    """Equation (1) for people whose value is held by `class_sizes` people of the table.

    `values` says how many values are held by how many people.  An attribute with one value parts
    nobody: everybody shares it.

    >>> sexes = FrequencyTable.of([480, 520], [1, 1])
    >>> share_alike(np.array([480, 520]), sexes, 100_000).round(3)
    array([0.48, 0.52])
    >>> dates = FrequencyTable.of([1, 2], [960, 20])
    >>> float(share_alike(np.array([1]), dates, 100_000)[0] * 1000) < 0.1
    True
    """
    if values.classes == 1:
        return np.ones(len(class_sizes))
    if population <= values.n:
        return np.asarray(class_sizes / values.n)
    nodes = posterior_of(values, population)
    sizes, place = np.unique(class_sizes, return_inverse=True)
    share = (sizes[:, None] - nodes.alpha) / (values.n + nodes.theta)
    return np.asarray(np.clip(share @ nodes.weight, 0.0, 1.0)[place.reshape(-1)])
