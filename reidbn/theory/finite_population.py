"""How far a share in a sample can be from the share in the population it was drawn from."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError


def share_interval(hits: int, sample: int, population: int, *, level: float) -> tuple[float, float]:
    """Exact interval for the share K/N of a population, from `hits` among n drawn without return.

    All K that neither tail of Hypergeometric(N, K, n) rejects at (1 - level)/2.  A full sample
    leaves no doubt.

    >>> [round(x, 4) for x in share_interval(10, 100, 1000, level=0.95)]
    [0.052, 0.172]
    >>> share_interval(3, 10, 10, level=0.95)
    (0.3, 0.3)
    """
    from scipy.stats import hypergeom

    if not 0 <= hits <= sample <= population or sample == 0:
        raise UsageError(f"{hits} hits in a sample of {sample} from {population} people")
    tail = (1 - level) / 2

    def first(low: int, high: int, *, above: bool) -> int:
        """Smallest K in [low, high] whose tail towards `hits` has risen above / fallen below."""
        while low < high:
            middle = (low + high) // 2
            if above:
                done = hypergeom.sf(hits - 1, population, middle, sample) > tail
            else:
                done = hypergeom.cdf(hits, population, middle, sample) <= tail
            low, high = (low, middle) if done else (middle + 1, high)
        return low

    most = population - (sample - hits)
    lowest = first(hits, most, above=True)
    highest = first(lowest, most + 1, above=False) - 1
    return lowest / population, highest / population


def mean_interval(
    values: NDArray[np.float64], population: int, *, level: float
) -> tuple[float, float]:
    """Normal interval for a population mean from n values drawn without return.

        mean +- z sqrt((1 - n/N) s^2 / n)                                                     (1)

    >>> mean_interval(np.array([0.0, 1.0, 1.0, 0.0]), 4, level=0.95)
    (0.5, 0.5)
    """
    from scipy.stats import norm

    n = values.size
    if not 1 < n <= population:
        raise UsageError(f"a mean from {n} of {population} people; need at least 2 and at most all")
    spread = sqrt((1 - n / population) * float(values.var(ddof=1)) / n)
    z = float(norm.ppf((1 + level) / 2))
    middle = float(values.mean())
    return middle - z * spread, middle + z * spread
