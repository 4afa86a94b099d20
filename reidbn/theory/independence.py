"""Do attributes go together at all?  A test over all pairs, and what is so if they do not.

Of two attributes Pearson's X^2 has, with both margins held and people dealt out at random, the
mean and variance

    E = n (r-1)(c-1)/(n-1)
    V = 2n/(n-3) (v_r - w_r)(v_c - w_c) + n^2/(n-1) w_r w_c                                  (1)
    v_r = (n-r)(r-1)/(n-1),   w_r = (n sum 1/n_i - r^2)/(n-2)

r values with n_i people (a test deals people out).  With the gamma law of that mean and variance
each pair has a p-value, also of sparse pairs; where attributes are independent so are pairs, and
-2 sum log p is chi-squared with two degrees of freedom a pair [Fisher's method].
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.stats import chi2, gamma

from reidbn.theory.structure import Distinct, Floats


def independent_at(rows: Distinct) -> float:
    """The p-value of independence over all pairs of attributes: small where some go together."""
    told = [_log_tail(rows, a, b) for a, b in combinations(range(len(rows.values)), 2)]
    return float(chi2.sf(-2 * sum(told), 2 * len(told)))


def squared(rows: Distinct, a: int, b: int) -> float:
    """Pearson's X^2 of two attributes."""
    width = rows.values[b]
    used, place = np.unique(rows.codes[:, a] * width + rows.codes[:, b], return_inverse=True)
    held = np.bincount(place, rows.counts)
    alike = rows.people[a][used // width] * rows.people[b][used % width]
    return float(rows.n * ((held**2 / alike).sum() - 1))


def moments(one: Floats, other: Floats) -> tuple[float, float]:
    """Equation (1), of the people with each value of two attributes."""
    n, r, c = float(one.sum()), len(one), len(other)
    (v, w), (v2, w2) = (
        ((n - k) * (k - 1) / (n - 1), (n * float((1 / held).sum()) - k * k) / (n - 2))
        for held, k in ((one, r), (other, c))
    )
    mean = n * (r - 1) * (c - 1) / (n - 1)
    return mean, 2 * n / (n - 3) * (v - w) * (v2 - w2) + n**2 / (n - 1) * w * w2


def _log_tail(rows: Distinct, a: int, b: int) -> float:
    mean, variance = moments(rows.people[a], rows.people[b])
    if variance <= 0:
        return 0.0
    return float(gamma.logsf(squared(rows, a, b), mean**2 / variance, scale=variance / mean))


def evened(rows: Distinct, shares: list[Floats], u: float) -> Floats:
    """Log shares of rows of independent attributes, from as even as they may be to as counted.

    `shares` are each row's by attribute.  Of V values that are alike likely chance makes X^2 about
    V - 1; so of the log share's distance from -log V the part 1 - (V-1)/X^2 is sure, and the rest
    counts u, from 0 to 1.
    """
    total = np.zeros(len(rows.counts))
    for held, share in zip(rows.people, shares, strict=True):
        V = len(held)
        off = float(((held - rows.n / V) ** 2).sum()) * V / rows.n
        sure = max(0.0, 1 - (V - 1) / off) if off > 0 else 0.0
        part = sure + u * (1 - sure)
        total += part * np.log(share) - (1 - part) * np.log(V)
    return total
