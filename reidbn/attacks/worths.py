"""What each group adds to everybody's risk, over all sets of groups in one pass.

Of a person the attack sees the class of what is known, and nothing else (summed.py):

    v(S) = sum_Y P(Y) g(size on Y and S, P(unique) on Y and S)                               (1)

is the risk when only groups in S can be known, since what never is known falls out of Y.  So every
v, and every Shapley value, is a weighted sum of one row of numbers per person, g on each subset.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import factorial

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attacks.population_by_subset import SubsetPopulation
from reidbn.attacks.subject_data import SubjectTable
from reidbn.attacks.subset_classes import SubsetClasses
from reidbn.attacks.summed import Array, agrees, as_sums, shape_of
from reidbn.cpds.protocol import NO
from reidbn.inference.query import Query
from reidbn.progress import progress

IN_CACHE = 1 << 20  # person x subset cells at a time


def shapley_values(
    attack: Attack,
    query: Query,
    settings: Mapping[str, float],
    classes: SubsetClasses,
    population: SubsetPopulation | None,
    table: SubjectTable,
) -> tuple[Array, Array] | None:
    """Each group's Shapley value, subject x group, and the risk where nothing is known.

    None for attacks of another shape, and where the exact engine says otherwise of some people.
    """
    found = None if query.given else shape_of(attack, classes, table)
    if found is None:
        return None
    group, constant = found
    sizes = np.unique(np.concatenate(classes.occurring))
    told = as_sums(attack, query, settings, group, sizes, classes.records, constant)
    if told is None:
        return None
    risk = told[0]
    b = len(group.members)
    half = sum(1 << j for j in range(0, b, 2))
    known = _when_only(risk.weights)
    wanted = np.column_stack((known @ _shares(b), known[:, [0, half, -1]]))
    out = np.empty((classes.rows, b + 3))
    step = max(1, IN_CACHE >> b)
    for start in progress(range(0, classes.rows, step), "what each attribute adds"):
        rows = np.arange(start, min(start + step, classes.rows))
        own = classes.sizes_of(rows).T
        values = risk.base[np.searchsorted(sizes, own)]
        if risk.gain and population is not None:
            values = values + risk.gain * (own == 1) * population.unique(rows)
        out[rows] = values @ wanted
    never = {m: NO for j, m in enumerate(group.members) if not half >> j & 1}
    asked = {
        "half": Query(query.targets, query.wanted, {}, {**query.do, **never}),
        "all": query,
    }
    said = {"half": out[:, b + 1], "all": out[:, b + 2]}
    if not agrees(attack, asked, settings, classes, population, constant, said):
        return None
    return out[:, :b], out[:, b]


def _when_only(weights: Array) -> Array:
    """P(Y and S = y): subset y x set S."""
    every = np.arange(weights.size)
    return np.stack(
        [np.bincount(every & s, weights=weights, minlength=weights.size) for s in every], axis=1
    )


def _shares(b: int) -> Array:
    """How much v(S) counts in the Shapley value of each group: set S x group."""
    found = np.zeros((1 << b, b))
    for s in range(1 << b):
        for j in range(b):
            if not s >> j & 1:
                size = s.bit_count()
                weight = factorial(size) * factorial(b - size - 1) / factorial(b)
                found[s | 1 << j, j] += weight
                found[s, j] -= weight
    return found
