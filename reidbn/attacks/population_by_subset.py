"""Population uniqueness on every subset of groups: one fit each, from the same class counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.subset_classes import SubsetClasses
from reidbn.theory.class_size import mean_inverse
from reidbn.theory.frequencies import Packed
from reidbn.theory.pitman import stays_unique
from reidbn.theory.pitman_fit import BOUNDARY, INTERIOR, NO_MAXIMUM, STATUSES, maximise

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SubsetPopulation:
    """Pitman's fit on every subset (by mask), and what follows for a person of the table."""

    population: float
    people: int
    theta: Array
    alpha: Array
    status: tuple[str, ...]
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
    """Fit every subset together; where a fit says nothing, the cautious end, and a note."""
    n = classes.people
    row = np.repeat(
        np.arange(len(classes.frequencies)), [f.sizes.size for f in classes.frequencies]
    )
    sizes = np.concatenate([f.sizes for f in classes.frequencies])
    counts = np.concatenate([f.counts for f in classes.frequencies])
    fits = maximise(Packed.ragged(sizes, counts, row, len(classes.frequencies)))
    status = tuple(STATUSES[i] for i in fits.status)
    usable = np.isin(fits.status, [STATUSES.index(s) for s in (INTERIOR, BOUNDARY)])
    theta = np.where(usable, fits.theta, 1.0)
    alpha = np.where(usable, fits.alpha, 0.0)
    if population == n:
        p_unique, p_match = np.ones(len(status)), 1.0 / sizes
    else:
        p_unique = np.asarray(stays_unique(n, population, theta=theta, alpha=alpha))
        p_match = np.asarray(mean_inverse(sizes, n, population, theta=theta[row], alpha=alpha[row]))
    # All unique: the likelihood rises to "everybody in the population is unique".  One class:
    # nobody is unique, and a class of n can only grow.
    no_maximum = np.array([s == NO_MAXIMUM for s in status])
    p_unique = np.where(usable, p_unique, np.where(no_maximum, 1.0, 0.0))
    p_match = np.where(usable[row], p_match, 1.0 / sizes)
    edges = np.cumsum([0, *(f.sizes.size for f in classes.frequencies)])
    parts = [slice(a, b) for a, b in pairwise(edges)]
    return SubsetPopulation(
        population=float(population),
        people=n,
        theta=np.where(usable, fits.theta, np.inf),
        alpha=alpha,
        status=status,
        p_unique=np.clip(p_unique, 0.0, 1.0),
        sizes=tuple(sizes[p] for p in parts),
        p_match=tuple(np.clip(p_match[p], 0.0, 1.0) for p in parts),
        notes=_notes(classes, status),
    )


def _notes(classes: SubsetClasses, status: tuple[str, ...]) -> tuple[str, ...]:
    notes = []
    if not classes.is_partition:
        notes.append(
            "some values match several others, so people do not fall into classes; the population "
            "fits take matches for classes, which is an approximation"
        )
    unbounded = status.count(NO_MAXIMUM)
    if unbounded:
        notes.append(
            f"on {unbounded:,} of {len(status):,} subsets everybody in the table is unique and the "
            f"fit has no finite maximum: P(unique in the population) is taken as 1, to be cautious"
        )
    return tuple(notes)
