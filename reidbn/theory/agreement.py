"""Agreement of a sample with a probability, and the error that it would have caught.

Hits among n independent rows are Binomial(n, p) when p is right.  The test is two-sided and exact;
so is the answer to "which other p would have been caught".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv
from scipy.stats import binom

_ROUNDING = 1e-9  # how far beyond 0 or 1 a probability may be


def disagrees(hits: int, trials: int, p: float, *, level: float) -> bool:
    """Reject `hits ~ Binomial(trials, p)`; a correct p is rejected with probability <= level.

    >>> disagrees(520, 1000, 0.5, level=0.05), disagrees(560, 1000, 0.5, level=0.05)
    (False, True)
    """
    return bool(disagree(np.array([hits]), trials, np.array([p]), level=level)[0])


def disagree(
    hits: NDArray[Any], trials: int, p: NDArray[np.float64], *, level: float
) -> NDArray[np.bool_]:
    """The same of many counts at once, each of so many trials."""
    # No probability, or NaN: no sample can agree.
    none = ~((p >= -_ROUNDING) & (p <= 1 + _ROUNDING))
    if trials == 0:
        return none
    p = np.where(none, 0.0, np.clip(p, 0.0, 1.0))
    tail = np.minimum(binom.cdf(hits, trials, p), binom.sf(hits - 1, trials, p))
    return np.asarray(none | (2 * tail < level))


def detectable(trials: int, p: float, *, level: float, miss: float = 0.05) -> float:
    """Smallest error in p that `disagrees` catches with probability >= 1 - miss, either way.

    With u the first count that is rejected from above, P(hits >= u | p') = I_p'(u, n-u+1), so the
    smallest p' that is caught is a quantile of the beta law; likewise from below.

    >>> round(detectable(1_000_000, 0.5, level=1e-6), 4)
    0.0033
    """
    if trials == 0:
        return 1.0
    p = min(max(p, 0.0), 1.0)
    high = _first_rejected(trials, p, level)
    low = trials - _first_rejected(trials, 1 - p, level)  # hits and misses swapped
    up = betaincinv(high, trials - high + 1, 1 - miss) - p if high <= trials else 1 - p
    down = p - betaincinv(low + 1, trials - low, miss) if low >= 0 else p
    return float(max(up, down))


def _first_rejected(trials: int, p: float, level: float) -> int:
    """The smallest count u with 2 P(hits >= u) < level; trials + 1 when there is none."""
    u = int(binom.isf(level / 2, trials, p)) + 1
    while u <= trials and 2 * binom.sf(u - 1, trials, p) >= level:
        u += 1
    while u > 0 and 2 * binom.sf(u - 2, trials, p) < level:
        u -= 1
    return u


def interval(hits: int, trials: int, *, level: float = 0.95) -> tuple[float, float]:
    """The Clopper-Pearson interval: it covers the true probability at least `level` of the time.

    >>> low, high = interval(30, 1000)
    >>> round(low, 4), round(high, 4)
    (0.0203, 0.0426)
    """
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high


def tell_apart(trials: int, p: float, *, level: float, worth: float = 0.05) -> bool:
    """Can this many rows say anything?  At least ten hits and ten misses are expected (or p is 0
    or 1, where a single one decides), and an error of `worth` would be caught.
    """
    if trials == 0:
        return False
    rare = trials * min(p, 1 - p) < 10
    if rare and 1e-12 < p < 1 - 1e-12:
        return False
    return bool(np.less_equal(detectable(trials, p, level=level), worth))
