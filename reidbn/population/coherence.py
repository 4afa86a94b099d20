"""Estimates of several subsets of attributes made to agree, person by person.

Each subset of what may be known has a fit of its own, and fits do not know of each other.  But
classes only shrink when more is known: whoever is alone in the population on y is alone on every
z that contains y, and 1/F never falls.  So for one person

    P(alone on z) >= P(alone on y),   E[1/F on z] >= E[1/F on y]   for every y within z     (1)

and where the fits say otherwise the larger one is kept: the smallest change that agrees with (1)
and lowers nothing.  It errs, if it errs, on the side of more risk.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
IN_CACHE = 1 << 20  # bytes that stay close to the processor


def raise_to_parts(values: NDArray[Any]) -> NDArray[Any]:
    """The largest of the values on all subsets of each subset, itself included; in place.

    Axes: subset (its mask), person.  One step per attribute: after step j a subset has the largest
    over its parts that differ from it in the first j attributes.  Large arrays go in pieces that
    stay in the processor's cache.  Any values in order will do, also ranks.

    >>> raise_to_parts(np.array([[0.0], [0.4], [0.1], [0.0004]])).ravel().tolist()
    [0.0, 0.4, 0.1, 0.4]
    """
    subsets, people = values.shape
    inner = 1
    while inner < subsets and 2 * inner * people * values.itemsize <= IN_CACHE:
        inner *= 2
    for start in range(0, subsets, inner):
        _raise(values[start : start + inner], 1)
    if inner < subsets:
        width = max(1, IN_CACHE * inner // (subsets * values.itemsize))
        outer = values.reshape(subsets // inner, inner * people)
        for start in range(0, inner * people, width):
            _raise(outer[:, start : start + width], 1)
    return values


def _raise(values: NDArray[Any], step: int) -> None:
    """Axes: subset, anything; in place, one step for each factor of two."""
    while step < len(values):
        pairs = values.reshape(-1, 2, step, values.shape[1])  # a view, also of some columns
        np.maximum(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
        step *= 2


def falls_within(values: Floats) -> bool:
    """Whether a value of some subset is above that of one with one attribute more."""
    step = 1
    while step < len(values):
        pairs = values.reshape(-1, 2, step)
        if (pairs[:, 0] > pairs[:, 1]).any():
            return True
        step *= 2
    return False
