"""Estimates of several subsets of attributes made to agree, person by person.

Each subset of what may be known has a fit of its own, and fits do not know of each other.  But
classes only shrink when more is known: whoever is alone in the population on y is alone on every
z that contains y, and 1/F never falls.  So for one person

    P(alone on z) >= P(alone on y),   E[1/F on z] >= E[1/F on y]   for every y within z     (1)

and where the fits say otherwise the larger one is kept (`raise_to_parts`): the smallest change that
agrees with (1) and lowers nothing.  It errs, if it errs, on the side of more risk.

A model that errs to both sides alike would be made too high by that.  `settle` goes halfway between
the least that lies above everything and agrees, and the most that lies below:

    s_z = (max over y within z of v_y + min over w around z of v_w) / 2                     (2)

No function that agrees with (1) has a smaller largest change: it moves nothing by more than half of
the worst disagreement, and where v agrees it moves nothing.
"""

from __future__ import annotations

from collections.abc import Callable
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
    _along(values, _to_parts)
    return values


def settle(values: NDArray[Any]) -> NDArray[Any]:
    """Equation (2), in place; axes as there.

    >>> settle(np.array([[0.0], [0.4], [0.1], [0.2]])).ravel().round(2).tolist()
    [0.0, 0.3, 0.1, 0.3]
    """
    below = values.copy()
    _along(below, _to_wholes)
    raise_to_parts(values)
    values += below
    values *= 0.5
    return values


def _along(values: NDArray[Any], step_along: Callable[[NDArray[Any]], None]) -> None:
    subsets, people = values.shape
    inner = 1
    while inner < subsets and 2 * inner * people * values.itemsize <= IN_CACHE:
        inner *= 2
    for start in range(0, subsets, inner):
        _every_step(values[start : start + inner], step_along)
    if inner < subsets:
        width = max(1, IN_CACHE * inner // (subsets * values.itemsize))
        outer = values.reshape(subsets // inner, inner * people)
        for start in range(0, inner * people, width):
            _every_step(outer[:, start : start + width], step_along)


def _every_step(values: NDArray[Any], step_along: Callable[[NDArray[Any]], None]) -> None:
    """Axes: subset, anything; in place, one step for each factor of two."""
    step = 1
    while step < len(values):
        step_along(values.reshape(-1, 2, step, values.shape[1]))  # views, also of some columns
        step *= 2


def _to_parts(pairs: NDArray[Any]) -> None:
    np.maximum(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])


def _to_wholes(pairs: NDArray[Any]) -> None:
    np.minimum(pairs[:, 0], pairs[:, 1], out=pairs[:, 0])


def falls_within(values: Floats) -> bool:
    """Whether a value of some subset is above that of one with one attribute more."""
    step = 1
    while step < len(values):
        pairs = values.reshape(-1, 2, step)
        if (pairs[:, 0] > pairs[:, 1]).any():
            return True
        step *= 2
    return False
