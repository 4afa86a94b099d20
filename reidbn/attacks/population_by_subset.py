"""Population uniqueness on every subset of groups: one fit each, from the same class counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.subset_classes import SubsetClasses
from reidbn.population.subsets import SubsetFits, fit_tables
from reidbn.theory.class_size import mean_inverse

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SubsetPopulation:
    """Pitman's fit on every subset (by mask), and what follows for a person of the table."""

    population: float
    people: int
    theta: Array
    alpha: Array
    status: tuple[str, ...]
    fallback: NDArray[np.bool_]
    """Where the likelihood has no best point and the posterior mean stands in."""
    p_unique: Array
    """P(unique in the population | unique in the table)."""
    sizes: tuple[NDArray[np.int64], ...]
    """The class sizes that occur on each subset."""
    p_match: tuple[Array, ...]
    """E[1 / population class size] for each of them."""
    notes: tuple[str, ...]

    @property
    def statuses(self) -> Mapping[str, int]:
        """How many subsets have which status."""
        return Counter(self.status)


def subset_population(classes: SubsetClasses, population: float) -> SubsetPopulation:
    """Fit every subset together; where there is no best point, the posterior mean, and a note."""
    n = classes.records
    fits = fit_tables(classes.frequencies, int(population))
    each = [found.size for found in classes.occurring]
    row = np.repeat(np.arange(len(each)), each)
    sizes = np.concatenate(classes.occurring)
    if population == n:  # the table is the population: nothing is left to estimate
        p_unique, p_match = np.ones(len(each)), 1.0 / sizes
    else:
        p_unique, p_match = fits.p_unique, _expected_match(fits, sizes, row)
    edges = np.cumsum([0, *each])
    parts = [slice(a, b) for a, b in pairwise(edges)]
    return SubsetPopulation(
        population=float(population),
        people=n,
        theta=fits.theta,
        alpha=fits.alpha,
        status=fits.status,
        fallback=fits.fallback,
        p_unique=np.clip(p_unique, 0.0, 1.0),
        sizes=tuple(sizes[p] for p in parts),
        p_match=tuple(np.clip(p_match[p], 0.0, 1.0) for p in parts),
        notes=_notes(classes, fits.fallback),
    )


def _expected_match(fits: SubsetFits, sizes: NDArray[np.int64], row: NDArray[np.intp]) -> Array:
    """E[1/F] of every class size: in one go where the fit is a point, else over its posterior."""
    point = ~fits.fallback[row]
    at = row[point]
    out = np.empty(sizes.size)
    out[point] = mean_inverse(
        sizes[point], fits.n, fits.N, theta=fits.theta[at], alpha=fits.alpha[at]
    )
    for mask in np.unique(row[~point]):
        out[row == mask] = fits.mean_inverse(int(mask), sizes[row == mask])
    return out


def _notes(classes: SubsetClasses, fallback: NDArray[np.bool_]) -> tuple[str, ...]:
    notes = []
    if not classes.is_partition:
        notes.append(
            "some values match several others, so people do not fall into classes; the population "
            "fits compare values as they are written (approximation as-written)"
        )
    open_ended = int(fallback[1:].sum())  # where nothing is known there is nothing to fit
    if open_ended:
        notes.append(
            f"on {open_ended:,} of {fallback.size:,} subsets everybody or nobody in the table is "
            f"unique and the fit has no best point: the posterior mean, which leans on its prior, "
            f"stands in"
        )
    return tuple(notes)
