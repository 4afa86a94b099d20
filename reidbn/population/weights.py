"""Survey weights brought to the population that was named: one rule for estimates and assessments.

A weight says for how many people a record stands.  Weights that sum to another number of people
(relative ones sum to the table) are scaled, so that what is said is said of the population that
was asked about.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import DataError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

NEAR = 0.01
"""Weights whose sum is that near the population are taken as they are."""
LIGHT = (
    "some classes have less weight than records; they count as whole in the table, which is the "
    "cautious side"
)
WHOLE = "the table is the whole population: its survey weights are not used"

UNWEIGHTED = (
    "the survey weights were not used: this model takes people as a simple random sample; "
    "structured, log-linear and benedetti-franconi go by the weights, and so does an assessment"
)
WEIGHTED = (
    "the survey weights say for how many people each stands: people of the same values are taken "
    "for a random sample of those for whom they stand, so that whoever stays away for a reason "
    "that goes with rare values, and with neither the columns nor the weight, is not allowed for"
)
BACK = 5.0  # people of the mean weight who stand beside those of each value


def scale_of(weights: NDArray[Any], population: float) -> tuple[float, tuple[str, ...]]:
    """What to multiply the weights by, and a note where that is not 1.

    >>> import numpy as np
    >>> scale_of(np.array([1.0, 3.0]), 400)
    (100.0, ('the weights sum to 4; they are scaled to the population of 400',))
    """
    total = float(weights.sum())
    if not total > 0:
        raise DataError("the survey weights sum to 0; a weight says for how many a record stands")
    if abs(population / total - 1) <= NEAR:
        return 1.0, ()
    told = f"{total:,.1f}".removesuffix(".0")
    return population / total, (
        f"the weights sum to {told}; they are scaled to the population of {population:,.0f}",
    )


def weight_alike(weights: Floats, ids: Ints, codes: Ints, counts: Ints) -> Floats:
    """By distinct row, the mean weight of those of the table who are like its people.

    A person's own weight need not be that of others alike.  What the values tell of it is a sum of
    effects of each; of what is left, classes of two and more tell how much people alike share:

        W = base + k (mean of the row - base),  k = f r / (1 + (f - 1) r),
        r = 1 - (variance within rows)/(variance around the base)

    Weights that are a function of the columns have r = 1, others 0.  Where no two are alike,
    r = 1: everybody's own.
    """
    middle = float(weights.mean())
    mean = np.bincount(ids, weights) / counts
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import lsmr

    rows, attributes = codes.shape
    starts = np.cumsum([0, *(codes.max(axis=0) + 1)])
    at = codes + starts[:-1]
    root = np.sqrt(counts.astype(np.float64))
    ends = np.arange(rows + 1) * attributes
    design = csr_array((np.repeat(root, attributes), at.ravel(), ends), (rows, int(starts[-1])))
    effects = lsmr(design, root * (mean - middle), damp=np.sqrt(BACK), atol=1e-10, btol=1e-10)[0]
    base = middle + effects[at].sum(axis=1)
    several = counts[ids] > 1
    within = ((weights - mean[ids])[several] ** 2).sum()
    free = float((counts[counts > 1] - 1).sum())
    around = ((weights - base[ids])[several] ** 2).mean() if free else 0.0
    r = float(np.clip(1 - within / free / around, 0, 1)) if around > 0 else 1.0
    share = counts * r / (1 + (counts - 1) * r)
    return np.asarray(np.maximum(base + share * (mean - base), 1.0))
