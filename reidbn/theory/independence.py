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

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, gamma

from reidbn.theory.structure import Distinct, Floats, TwoTogether

LEAST = -1e9  # the logarithm of a tail that is nothing; times no such pair it is nothing, too


def independent_at(
    rows: Distinct, every: Iterable[TwoTogether], inside: NDArray[Any] | None = None
) -> Floats:
    """The p-value of independence over all pairs of attributes: small where some go together.

    `every` are the pairs; of several sets of attributes `inside` says, set x attribute, what is in
    each.
    """
    attributes = len(rows.values)
    some = np.ones((1, attributes)) if inside is None else inside.astype(np.float64)
    told = np.zeros((attributes, attributes))
    for two in every:
        told[two.first, two.second] = max(_log_tail(rows, two), LEAST)  # one may follow from one
    count = some.sum(axis=1)
    both = ((some @ told) * some).sum(axis=1)
    return np.asarray(chi2.sf(-2 * both, count * (count - 1)))


def squared(rows: Distinct, two: TwoTogether) -> float:
    """Pearson's X^2 of two attributes."""
    one, other = two.values
    alike = rows.people[two.first][one] * rows.people[two.second][other]
    return float(rows.n * ((two.people**2 / alike).sum() - 1))


def moments(one: Floats, other: Floats) -> tuple[float, float]:
    """Equation (1), of the people with each value of two attributes."""
    n, r, c = float(one.sum()), len(one), len(other)
    (v, w), (v2, w2) = (
        ((n - k) * (k - 1) / (n - 1), (n * float((1 / held).sum()) - k * k) / (n - 2))
        for held, k in ((one, r), (other, c))
    )
    mean = n * (r - 1) * (c - 1) / (n - 1)
    return mean, 2 * n / (n - 3) * (v - w) * (v2 - w2) + n**2 / (n - 1) * w * w2


def _log_tail(rows: Distinct, two: TwoTogether) -> float:
    mean, variance = moments(rows.people[two.first], rows.people[two.second])
    if variance <= 0:
        return 0.0
    return float(gamma.logsf(squared(rows, two), mean**2 / variance, scale=variance / mean))


def evened(rows: Distinct, shares: Iterable[Floats], stand: Floats | None = None) -> Floats:
    """Log shares by attribute, as even as chance allows: attribute x row.

    `shares` are each row's by attribute.  Of V values that are alike likely chance makes X^2 about
    V - 1; so of the log share's distance from -log V the part 1 - (V-1)/X^2 is sure, and the rest
    is left out.  Where those of each row `stand` for so many people, even are the values of these,
    and n in X^2 is as many people as would say as much, (sum w)^2 / sum w^2.
    """
    worth = np.ones(len(rows.counts)) if stand is None else stand
    each = rows.counts * worth
    total, told = float(each.sum()), []
    n = total**2 / float(each @ worth)
    for j, share in enumerate(shares):
        held, V = rows.people[j], rows.values[j]
        stood = np.bincount(rows.codes[:, j], each, V) / total
        off = float(((stood - 1 / V) ** 2).sum()) * V * n
        sure = max(0.0, 1 - (V - 1) / off) if off > 0 else 0.0
        of = np.log(share) + np.log(stood * rows.n / held)[rows.codes[:, j]]
        told.append(sure * of - (1 - sure) * np.log(V))
    return np.stack(told)
