"""One number for many subjects: the mean, a quantile, the largest, how many are above a threshold.

A quantile is the smallest value that at least that share of the subjects do not exceed, so
"q95 <= 0.09" says that at least 95 % of them are at or below 0.09, exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from reidbn.above import is_above
from reidbn.errors import UsageError
from reidbn.inference.network import Array

Summary = Callable[..., Array]  # of values (subjects x anything) and the subjects' weights
_QUANTILE = re.compile(r"q(\d{1,2}(?:\.\d+)?|100)\Z")
_ABOVE = re.compile(r"above\s+([0-9.eE+-]+)\Z")


def quantile(values: Array, share: float, weights: Array | None = None) -> Array:
    """A quantile over subjects (axis 0), each counting as often as its weight says.

    >>> float(quantile(np.array([0.1, 0.2, 0.3, 0.4]), 0.75))
    0.3
    >>> float(quantile(np.array([0.1, 0.2, 0.3, 0.4]), 0.75, np.array([9, 1, 1, 1])))
    0.1
    """
    if weights is None:
        return np.asarray(np.quantile(values, share, axis=0, method="inverted_cdf"))
    order = np.argsort(values, axis=0)
    counted = np.cumsum(np.asarray(weights, dtype=float)[order], axis=0)
    reached = counted >= share * counted[-1] * (1 - 1e-12)
    first = np.expand_dims(np.argmax(reached, axis=0), 0)
    at = np.take_along_axis(order, first, axis=0)
    return np.asarray(np.take_along_axis(values, at, axis=0)[0])


def mean(values: Array, weights: Array | None = None) -> Array:
    """The mean over subjects (axis 0)."""
    return np.asarray(np.average(values, axis=0, weights=weights))


def share_above(values: Array, threshold: float, weights: Array | None = None) -> Array:
    """The share of subjects above a threshold; NaN where a subject has no value."""
    return mean(np.where(np.isnan(values), np.nan, is_above(values, threshold)), weights)


def summary(name: str) -> Summary:
    """The function for "mean", "median", "min", "max", "q95" or "above 0.09" (a share).

    >>> float(summary("above 0.15")(np.array([0.1, 0.2, 0.3, 0.4])))
    0.75
    """
    simple: dict[str, Summary] = {
        "mean": mean,
        "min": lambda v, w=None: np.asarray(v.min(axis=0)),
        "max": lambda v, w=None: np.asarray(v.max(axis=0)),
        "median": lambda v, w=None: quantile(v, 0.5, w),
    }
    if name in simple:
        return simple[name]
    if match := _QUANTILE.match(name):
        per_cent = float(match.group(1))
        if 0 < per_cent < 1:
            raise UsageError(
                f'the statistic "{name}" is told in per cent; did you mean "q{100 * per_cent:g}"?'
            )
        share = per_cent / 100
        return lambda v, w=None: quantile(v, share, w)
    if match := _ABOVE.match(name):
        try:
            threshold = float(match.group(1))
        except ValueError:
            raise UsageError(f'"{name}": {match.group(1)} is not a number') from None
        return lambda v, w=None: share_above(v, threshold, w)
    raise UsageError(
        f'no statistic "{name}"; use mean, median, min, max, a quantile such as q95, '
        f'or a share such as "above 0.09"'
    )
