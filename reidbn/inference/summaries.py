"""One number for many subjects: the mean, a quantile, the largest, how many are above a threshold.

A quantile is the smallest value that at least that share of the subjects do not exceed, so
"q95 <= 0.09" says that at least 95 % of them are at or below 0.09, exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from reidbn.errors import UsageError
from reidbn.inference.network import Array

Summary = Callable[[Array], Array]
_QUANTILE = re.compile(r"q(\d{1,2}(?:\.\d+)?|100)\Z")
_ABOVE = re.compile(r"above\s+([0-9.eE+-]+)\Z")


def quantile(values: Array, share: float | Array) -> Array:
    """Quantiles over subjects (axis 0).

    >>> float(quantile(np.array([0.1, 0.2, 0.3, 0.4]), 0.75))
    0.3
    """
    return np.asarray(np.quantile(values, share, axis=0, method="inverted_cdf"))


def summary(name: str) -> Summary:
    """The function for "mean", "median", "min", "max", "q95" or "above 0.09" (a share).

    >>> float(summary("above 0.15")(np.array([0.1, 0.2, 0.3, 0.4])))
    0.75
    """
    simple: dict[str, Summary] = {
        "mean": lambda v: np.asarray(v.mean(axis=0)),
        "min": lambda v: np.asarray(v.min(axis=0)),
        "max": lambda v: np.asarray(v.max(axis=0)),
        "median": lambda v: quantile(v, 0.5),
    }
    if name in simple:
        return simple[name]
    if match := _QUANTILE.match(name):
        share = float(match.group(1)) / 100
        return lambda v: quantile(v, share)
    if match := _ABOVE.match(name):
        try:
            threshold = float(match.group(1))
        except ValueError:
            raise UsageError(f'"{name}": {match.group(1)} is not a number') from None
        return lambda v: np.asarray((v > threshold).mean(axis=0))
    raise UsageError(
        f'no statistic "{name}"; use mean, median, min, max, a quantile such as q95, '
        f'or a share such as "above 0.09"'
    )
