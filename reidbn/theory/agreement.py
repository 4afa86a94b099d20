"""Agreement of a sample with a probability, and the error that it would have caught.

Hits among n independent rows are Binomial(n, p) when p is right.  The test is two-sided and exact;
so is the answer to "which other p would have been caught".

How far a share in a sample can be from the share in the population it was drawn from.

Profile-likelihood intervals: every value of a quantity that the likelihood does not exclude.

A quantity g(theta, alpha) has the interval of its values over the region where twice the drop
of the log-likelihood is at most the chi-squared quantile with one degree of freedom.  For each
alpha the region is an interval of phi; g is monotone in phi there (every quantity here is), so
its extremes lie on the contour.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaincinv, rel_entr
from scipy.stats import binom

from reidbn.errors import UsageError
from reidbn.theory.region import Region

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
    low, high = intervals(np.array([hits]), trials, level=level)
    return float(low[0]), float(high[0])


def intervals(
    hits: NDArray[Any], trials: int, *, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same of many counts at once, each of so many trials."""
    tail = (1 - level) / 2
    inside, some = np.maximum(hits, 1), np.minimum(hits, trials - 1)
    low = np.where(hits == 0, 0.0, betaincinv(inside, trials - inside + 1, tail))
    high = np.where(hits == trials, 1.0, betaincinv(some + 1, trials - some, 1 - tail))
    return low, high


@cache
def most_off(trials: int) -> float:
    """How far from its share of so many trials a probability may lie at 95 %, whatever it is.

    >>> round(most_off(200), 4), round(most_off(1_000), 4)
    (0.0718, 0.0315)
    """
    hits = np.arange(trials + 1)
    low, high = intervals(hits, trials)
    return float(np.maximum(hits / trials - low, high - hits / trials).max())


def clustered_interval(
    hits: NDArray[Any], trials: NDArray[Any], *, level: float = 0.95
) -> tuple[float, float]:
    """The interval of a share where trials come in clusters, such as attempts on one person.

    Clopper and Pearson's at as many independent trials as say as much [KornGraubard98]: with the
    share r of M trials in G clusters, hits h_i of m_i, V = G/(G-1) sum (h_i - r m_i)^2 / M^2,

        n = min(M, r (1 - r)/V (t_{M-1}/t_{G-1})^2)                                          (1)

    t the quantiles of Student's law; where all hit or none, a cluster counts once.

    >>> right = np.array([0, 50, 0, 50])
    >>> [round(end, 3) for end in clustered_interval(right, np.full(4, 50))]
    [0.001, 0.999]
    >>> [round(end, 3) for end in interval(100, 200)]
    [0.429, 0.571]
    """
    from scipy.stats import t

    total, clusters = float(trials.sum()), len(trials)
    share, tail = float(hits.sum()) / total, (1 - level) / 2
    n = float(clusters)
    if clusters > 1 and 0 < share < 1:
        off = float(((hits - share * trials) ** 2).sum()) * clusters / (clusters - 1)
        wider = float(t.ppf(tail, clusters - 1) / t.ppf(tail, total - 1)) ** 2
        n = min(total, share * (1 - share) * total**2 / max(off * wider, 1e-300))
    x = share * n
    low = 0.0 if share == 0 else float(betaincinv(x, n - x + 1, tail))
    return low, 1.0 if share == 1 else float(betaincinv(x + 1, n - x, 1 - tail))


def mean_off(off: NDArray[Any]) -> NDArray[np.float64]:
    """How far off a mean may be, where each number is drawn apart and may be so far off.

    >>> float(mean_off(np.array([0.03, 0.04])))
    0.025
    """
    return np.asarray(np.sqrt((off**2).sum(axis=0)) / max(len(off), 1))


def mean_of_shares_interval(
    shares: NDArray[Any], weights: NDArray[Any], trials: int, *, level: float = 0.95
) -> tuple[float, float]:
    """The interval of a weighted mean of probabilities, of each of which `trials` gave a share.

    The trials of one probability count together, however many people stand behind it: with weights
    w_i that sum to 1, the largest of them w, the mean m is the mean of n = K `trials` independent
    numbers between 0 and 1, times K w, and [Hoeffding63, Theorem 1] holds for them,

        all q with n KL(m / (K w) || q) <= log(2 / (1 - level)), times K w                   (1)

    >>> [round(end, 4) for end in mean_of_shares_interval(np.zeros(2), np.ones(2), 100)]
    [0.0, 0.0183]
    """
    weights = np.asarray(weights, dtype=float) / np.sum(weights)
    scale = len(weights) * float(weights.max())
    share = float(np.asarray(shares, dtype=float) @ weights) / scale
    most = float(np.log(2 / (1 - level))) / (len(weights) * trials)

    def end(far: float) -> float:
        near = share
        for _ in range(100):  # the distance grows from the share to either end
            middle = (near + far) / 2
            apart = float(rel_entr(share, middle) + rel_entr(1 - share, 1 - middle))
            near, far = (middle, far) if apart <= most else (near, middle)
        return near

    return max(scale * end(0.0), 0.0), min(scale * end(1.0), 1.0)


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


# -- how far a share in a sample can be from the share in the population it ------------------------


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


def probability_interval(
    values: NDArray[np.float64], population: int, *, level: float
) -> tuple[float, float]:
    """Interval for a population mean of probabilities, from n values drawn without return.

    The values drawn tell of people like those drawn, and nothing of a rare kind that was missed: of
    q, the largest share that misses the sample with probability (1 - level)/2, any value may be.
    With (l, u) from Student's t, in 0..1,

        (1 - q) l   to   (1 - q) u + q                                                        (2)

    >>> low, high = probability_interval(np.zeros(100), 1_000_000, level=0.95)
    >>> low, round(high, 3)
    (0.0, 0.036)
    >>> probability_interval(np.array([0.0, 1.0, 1.0, 0.0]), 4, level=0.95)
    (0.5, 0.5)
    """
    from scipy.special import stdtrit
    from scipy.stats import norm

    n = values.size
    missed = share_interval(0, n, population, level=level)[1]
    low = high = float(values.mean())
    if n == 1:
        low, high = 0.0, 1.0
    elif n < population:
        low, high = mean_interval(values, population, level=level)
        middle, half = (low + high) / 2, (high - low) / 2
        half *= float(stdtrit(n - 1, (1 + level) / 2) / norm.ppf((1 + level) / 2))
        low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    return (1 - missed) * low, (1 - missed) * high + missed


# -- profile-likelihood intervals ------------------------------------------------------------------


Floats: TypeAlias = NDArray[np.float64]
Quantity: TypeAlias = Callable[[Floats, Floats], Floats]

_NODES = 33
_FINE = 17


def profile_interval(region: Region, quantity: Quantity, *, level: float) -> tuple[float, float]:
    """The interval of `quantity(theta, alpha)`, from the region of one table.

    Where the contour does not close before the bounds of `region`, neither does the interval.
    """
    cut = region.highest - gammaincinv(0.5, level)  # half the chi-squared quantile
    low, high = (ends[0] for ends in region.alpha_range(cut))
    nodes = np.unique(np.append(np.linspace(low, high, _NODES), region.best_alpha))
    alpha, values = _along(region, nodes, cut, quantity)
    for _ in range(2):
        extremes = (alpha[values.argmin()], alpha[values.argmax()])
        finer = np.unique([_between(nodes, at) for at in extremes])
        more_alpha, more_values = _along(region, finer, cut, quantity)
        nodes = np.union1d(nodes, finer)
        alpha = np.concatenate([alpha, more_alpha])
        values = np.concatenate([values, more_values])
    return float(values.min()), float(values.max())


def _along(region: Region, nodes: Floats, cut: Floats, quantity: Quantity) -> tuple[Floats, Floats]:
    """The alpha and the quantity at both ends of each node's interval of phi."""
    hump = region.hump(nodes[None])
    inside = hump.value[0] >= cut
    ends = np.concatenate([end[0, inside] for end in region.contour(hump, cut)])
    alpha = np.tile(nodes[inside], 2)
    return alpha, quantity(np.exp(ends) - alpha, alpha)


def _between(nodes: Floats, at: float) -> Floats:
    """Finer nodes from the neighbour below to the neighbour above."""
    i = int(np.searchsorted(nodes, at))
    return np.linspace(nodes[max(i - 1, 0)], nodes[min(i + 1, nodes.size - 1)], _FINE)
