"""Many targets in one leak: the exact probability that every one of them is identified.

Letters as in [Antoniou22]: D records in classes, a leak is a uniform subset of L of them, and n
targets, drawn uniformly without replacement from D, are looked for one after the other; each is
guessed among the leaked members of the class and taken out once identified.

Within a class of which h leaked, m targets can be chosen among the leaked in h(h-1)...(h-m+1)
orders, and the guesses succeed with 1/h * 1/(h-1) * ...: the two cancel.  So every class
contributes sum_{m <= h} x^m / m!, with x marking targets and z the leaked, and

    P = [x^n z^L] prod_classes sum_h C(k,h) z^h sum_{m <= min(h,n)} x^m / m!  /  C(D,n) C(D,L)  (1)

Divided by (1 + r)^k, the class factor at z = r e^{it} is, with H ~ Binomial(k, r / (1 + r)),

    sum_m x^m / m!  P(H >= m)  E[e^{itH} | H >= m]                                            (2)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln

from reidbn.errors import TooLarge
from reidbn.theory.circle import (
    NEGLIGIBLE,
    Classes,
    Complex,
    Floats,
    Points,
    find_log_odds,
    log_binomial,
    log_coefficient,
    log_turn,
    points,
    worth_evaluating,
)

_HELD = 2_000_000  # most numbers of one kind held at once


def log_all_identified(classes: Classes, leaked: NDArray[np.int64], targets: int) -> Floats:
    """Log of equation (1) for each leak size; -inf where it cannot happen.

    >>> classes = Classes(np.array([2]), np.array([3]))
    >>> np.exp(log_all_identified(classes, np.array([4, 6]), 2)).round(6).tolist()
    [0.213333, 0.3]
    """
    D, n = classes.records, targets
    answer = np.full(leaked.shape, -np.inf)
    if n == 0:
        return np.zeros(leaked.shape)
    answer[leaked == D] = _everything_leaked(classes, n)
    open_ = np.flatnonzero((leaked >= n) & (leaked < D))
    step = max(1, _HELD // (3 * (n + 1) * classes.sizes.size))
    for start in range(0, open_.size, step):
        block = open_[start : start + step]
        answer[block] = _block(classes, leaked[block].astype(np.float64), n)
    return answer


def log_choose(D: int, n: int) -> float:
    """Ln C(D, n), term by term: n is small, D may be large."""
    i = np.arange(n)
    return float(np.log((D - i) / (i + 1)).sum())


def tails(sizes: Floats, n: int, log_odds: Floats, angle: Floats) -> tuple[Floats, Complex]:
    """The parts of equation (2): ln P(H >= m) and E[e^{itH} | H >= m], m = 0..n.

    Axes m x size x case.  From the top down, with b_h = P(H = h) and the ratio
    r_h = b_{h+1} / b_h, the share a_h = b_h / P(H >= h) obeys a_h = a_{h+1} / (a_{h+1} + r_h)
    and the mean of e^{itH} above h is a convex combination: nothing over- or underflows.
    """
    k = sizes[:, None].astype(np.float64)
    odds = np.exp(log_odds)[None, :]
    mean = k * expit(log_odds)
    reach = 12 * np.sqrt(mean * expit(-log_odds)) + 60
    certain = mean - reach > n  # P(H < n) is far below the last digit
    top = int(min(k.max(), np.where(certain, n, np.maximum(mean, n) + reach).max()))
    share = np.ones_like(mean)
    turned: Complex = np.broadcast_to(np.exp(1j * angle * (top + 1)), mean.shape).copy()
    log_above = np.full((n + 1, *mean.shape), -np.inf)
    turns = np.empty((n + 1, *mean.shape), dtype=np.complex128)
    for h in range(top, -1, -1):
        ratio = np.maximum(k - h, 0.0) / (h + 1) * odds
        rest = ratio / (share + ratio)
        share = share / (share + ratio)
        turned = share * np.exp(1j * angle * h) + rest * turned
        if h <= n:
            turns[h] = turned
        if h < n:
            with np.errstate(divide="ignore"):
                log_above[h + 1] = np.log(rest)
    turns[top + 1 :] = 1.0
    log_above[0] = 0.0
    log_above = np.cumsum(log_above, axis=0)
    modulus, argument = log_turn(log_odds, angle)
    whole = np.exp(k * modulus) * np.exp(1j * k * argument)
    return np.where(certain, 0.0, log_above), np.where(certain, whole, turns)


def _block(classes: Classes, leaked: Floats, n: int) -> Floats:
    D, sizes = classes.records, classes.sizes.astype(np.float64)
    zero = np.zeros_like(leaked)
    goal = np.clip(leaked, n + 0.2, D - 0.2)

    def weights(u: Floats) -> Floats:
        return _log_weights(tails(sizes, n, u, zero)[0])

    start = np.log((goal - n + 0.1) / (D - goal))
    scale = scale_of_targets(classes, weights(start), n)

    def log_rest(u: Floats) -> Floats:
        factors = _factors(classes, weights(u).astype(np.complex128), scale)
        return np.asarray(log_coefficient(classes, factors, n, u, zero).real)

    u, spread = find_log_odds(log_rest, D, goal, start)
    scale = scale_of_targets(classes, weights(u), n)
    centre = log_rest(u)
    total, size = np.zeros_like(leaked), np.zeros_like(leaked)
    rows = worth_evaluating(classes, points(D, spread, n), u, n)
    step = max(1, _HELD // ((n + 1) * sizes.size))
    for first in range(0, rows.case.size, step):
        part = rows.take(slice(first, first + step))
        terms = _terms(classes, part, u, scale, centre, n)
        values = part.weight * np.exp(terms - 1j * leaked[part.case] * part.angle)
        np.add.at(total, part.case, values.real)
        np.add.at(size, part.case, abs(values))
    if np.any(total < 1e-5 * size):
        raise TooLarge(
            f"the sum for {n} targets among {D} records cancels too far to keep nine digits; "
            'ask for method="simulation"'
        )
    log_total = np.log(total) + centre - n * scale
    return np.asarray(log_total - log_binomial(leaked, D, u) - log_choose(D, n))


def _terms(
    classes: Classes, rows: Points, u: Floats, scale: Floats, centre: Floats, n: int
) -> Complex:
    """Log of [x^n] at each point against the centre; -inf where a bound shows it negligible."""
    log_above, turns = tails(classes.sizes.astype(float), n, u[rows.case], rows.angle)
    with np.errstate(divide="ignore"):
        weights: Complex = np.asarray(_log_weights(log_above) + np.log(turns), dtype=np.complex128)
    sizes = np.exp(weights.real + np.arange(n + 1)[:, None, None] * scale[rows.case])
    with np.errstate(divide="ignore"):
        bound = (np.log(sizes.sum(axis=0)) * classes.counts[:, None]).sum(axis=0)
    kept = bound - centre[rows.case] > NEGLIGIBLE
    answer = np.full(rows.case.size, -np.inf, dtype=np.complex128)
    if kept.any():
        case = rows.case[kept]
        factors = _factors(classes, weights[..., kept], scale[case])
        found = log_coefficient(classes, factors, n, u[case], rows.angle[kept])
        answer[kept] = found - centre[case]
    return answer


def _log_weights(log_above: Floats) -> Floats:
    m = np.arange(len(log_above))
    return np.asarray(log_above - gammaln(m + 1)[:, None, None])


def _factors(classes: Classes, log_weights: Complex, scale: Floats) -> Iterator[Complex]:
    """Equation (2) for each size in turn, x counted in units of e^scale."""
    n = len(log_weights) - 1
    for i, size in enumerate(classes.sizes):
        m = np.arange(min(int(size), n) + 1)[:, None]
        yield np.exp(log_weights[: m.size, i] + m * scale)


def scale_of_targets(classes: Classes, log_weights: Floats, n: int) -> Floats:
    """A unit for x in which the mean number of targets is about n, by bisection of its log.

    It only keeps the numbers in range; the answer does not depend on it.
    """
    m = np.arange(n + 1)[:, None, None]
    counts = classes.counts[:, None].astype(float)
    most = float((np.minimum(classes.sizes, n) * classes.counts).sum())
    goal = min(float(n), 0.9 * most)
    low = np.full(log_weights.shape[2], -60.0)
    high = -low
    for _ in range(24):
        middle = (low + high) / 2
        logs = log_weights + m * middle
        shares = np.exp(logs - logs.max(axis=0))
        mean = ((shares * m).sum(axis=0) / shares.sum(axis=0) * counts).sum(axis=0)
        low, high = np.where(mean < goal, middle, low), np.where(mean < goal, high, middle)
    return np.asarray((low + high) / 2)


def _everything_leaked(classes: Classes, n: int) -> float:
    """Equation (1) at L = D: n! / (D)_n [x^n] prod_classes sum_{m <= k} x^m / m!."""
    factorial = gammaln(np.arange(n + 1) + 1.0)
    m = np.arange(n + 1)[:, None, None]
    log_weights = np.where(m <= classes.sizes[None, :, None], -factorial[:, None, None], -np.inf)
    scale = scale_of_targets(classes, log_weights, n)
    one = np.full(1, 40.0)  # log-odds of a record that leaks for certain
    factors = _factors(classes, log_weights.astype(np.complex128), scale)
    found = log_coefficient(classes, factors, n, one, np.zeros(1))
    return float(found.real[0] - n * scale[0] - log_choose(classes.records, n))
