"""Survey weights brought to the population that was named: one rule for estimates and assessments.

A weight says for how many people a record stands.  Weights that sum to another number of people
(relative ones sum to the table) are scaled, so that what is said is said of the population that
was asked about.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from reidbn.errors import DataError

NEAR = 0.01
"""Weights whose sum is that near the population are taken as they are."""
LIGHT = (
    "some classes have less weight than records; they count as whole in the table, which is the "
    "cautious side"
)
WHOLE = "the table is the whole population: its survey weights are not used"

UNWEIGHTED = (
    "the survey weights were not used: this model takes people as a simple random sample; "
    "benedetti-franconi goes by the weights, and so does an assessment"
)


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
