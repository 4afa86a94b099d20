"""Pitman's partition: what a table of n people says about the N of the population.

Letters as in [Pitman95] and [Hoshino01]: people are seated one by one; with m seated, the
next joins a class of j with probability (j - alpha)/(m + theta) and founds a class with
probability (theta + k alpha)/(m + theta), k the classes so far; 0 <= alpha < 1 and
theta > -alpha; alpha = 0 is Ewens's case.  The table is the first n people, so everything
about the population follows by seating the other N - n.  All functions broadcast.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.errors import UsageError
from reidbn.theory.gamma import like, log_ratio, log_thinning

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


def log_stays_unique(n: ArrayLike, N: ArrayLike, *, theta: ArrayLike, alpha: ArrayLike) -> Any:
    """Log of `stays_unique`; its relative precision is kept where it is close to zero."""
    n, N, theta, alpha = _seats(n, N, theta, alpha)
    return like(log_thinning(n + theta, N - n, 1 - alpha))


def stays_unique(n: ArrayLike, N: ArrayLike, *, theta: ArrayLike, alpha: ArrayLike) -> Any:
    """Probability that a person unique among n is still unique among N.

    A class of one among m people is joined by the next with probability (1 - alpha)/(m + theta)
    [Pitman95], so

        R = prod_{m=n}^{N-1} (m + theta + alpha - 1)/(m + theta)                          (1)

    >>> round(stays_unique(5, 12, theta=0.5, alpha=0.25), 12)
    0.501211564171
    """
    return like(np.exp(log_stays_unique(n, N, theta=theta, alpha=alpha)))


def expected_uniques(N: ArrayLike, *, theta: ArrayLike, alpha: ArrayLike) -> Any:
    """Expected number of population uniques, before any table is seen.

    By (1) with n = 1 for each of N exchangeable people: N R(1, N).

    >>> round(expected_uniques(12, theta=0.5, alpha=0.25), 12)
    1.378331801471
    """
    return like(np.asarray(N) * stays_unique(1.0, N, theta=theta, alpha=alpha))


def expected_uniques_asymptotic(N: ArrayLike, *, theta: ArrayLike, alpha: ArrayLike) -> Any:
    """The usual large-N form, Gamma(1 + theta)/Gamma(alpha + theta) N^alpha [Hoshino01].

    Above `expected_uniques` by a factor of about (1 + theta/N)^(1 - alpha): for comparison only.

    >>> round(expected_uniques_asymptotic(12, theta=0.5, alpha=0.25), 6)
    1.346035
    """
    theta, alpha = np.asarray(theta, dtype=np.float64), np.asarray(alpha, dtype=np.float64)
    return like(np.exp(log_ratio(theta + alpha, 1 - alpha)) * np.asarray(N) ** alpha)


def expected_uniques_given(
    n: ArrayLike,
    N: ArrayLike,
    *,
    uniques: ArrayLike,
    classes: ArrayLike,
    theta: ArrayLike,
    alpha: ArrayLike,
) -> Any:
    """Expected number of population uniques given a table with f_1 uniques and u classes.

    Each of the f_1 stays unique with probability R; each of the N - n newcomers founds a class
    as the first of them with probability (theta + u alpha)/(n + theta) and stays alone:

        R [f_1 + (N - n)(theta + u alpha)/(n + theta + alpha - 1)]                        (2)

    >>> round(expected_uniques_given(5, 12, uniques=2, classes=3, theta=0.5, alpha=0.25), 9)
    1.925707589
    """
    n, N, theta, alpha = _seats(n, N, theta, alpha)
    old = np.exp(log_thinning(n + theta, N - n, 1 - alpha))
    new = (N - n) * (theta + np.asarray(classes) * alpha) / (n + theta + alpha - 1)
    return like(old * (np.asarray(uniques) + new))


def factorial_moments_given(
    n: ArrayLike,
    N: ArrayLike,
    *,
    uniques: ArrayLike,
    classes: ArrayLike,
    theta: ArrayLike,
    alpha: ArrayLike,
) -> tuple[Floats, Floats]:
    """First two factorial moments of the number of population uniques given a table.

    With A of the f_1 old uniques and B newcomers alone in the end, and M = N - n,

        E[(A)_i (B)_j] = (f_1)_i (M)_j prod_{l<j} (theta + (u+l) alpha)/(n + theta + l)
                         prod_{m=n+j}^{N-1} (m + theta - (i+j)(1-alpha))/(m + theta)      (3)

    (falling factorials): by exchangeability the j newcomers come first and found classes, and
    then nobody joins any of the i + j.  E[(S)_r] = sum_i C(r, i) E[(A)_i (B)_{r-i}].
    """
    n, N, theta, alpha, f1, u = _seats(n, N, theta, alpha, uniques, classes)
    M = N - n
    moments = []
    for r, binomials in ((1, (1, 1)), (2, (1, 2, 1))):
        total = np.zeros(n.shape)
        for i, weight in enumerate(binomials):
            j = r - i
            ways = np.ones(n.shape)
            for step in range(i):
                ways = ways * np.maximum(f1 - step, 0)
            for step in range(j):
                ways = ways * np.maximum(M - step, 0) * (theta + (u + step) * alpha)
                ways = ways / (n + theta + step)
            alive = ways > 0
            log_alone = log_thinning(
                np.where(alive, n + j + theta, 2.0 * r),
                np.where(alive, M - j, 0.0),
                np.where(alive, r * (1 - alpha), 0.5),
            )
            total = total + weight * ways * np.exp(log_alone)
        moments.append(total)
    return moments[0], moments[1]


def seat_people(rng: np.random.Generator, N: int, *, theta: float, alpha: float) -> Ints:
    """Seat N people as the story says: the class of each, numbered by its founder.

    Each newcomer points at somebody seated before, uniformly; the first person carries the mass
    1 + theta.  Pointing at a founder ends in an own class with probability alpha, at the first
    person with (alpha + theta)/(1 + theta); otherwise the newcomer joins the class pointed at:
    over a class of j that makes (j - alpha)/(m + theta).  Nobody waits for the one before, so
    the whole population is seated in about ln N sweeps.

    >>> len(seat_people(np.random.default_rng(1), 8, theta=1.0, alpha=0.5))
    8
    """
    check_parameters(theta, alpha)
    seated = np.arange(N, dtype=np.float64)
    # The last N - 1 masses are 1; the first's is 1 + theta: draw a point of 0..m + theta.
    point = rng.random(N) * (seated + theta)
    parent = np.maximum(np.floor(point - theta), 0).astype(np.int64)
    parent = np.minimum(parent, np.maximum(np.arange(N) - 1, 0))
    first = parent == 0
    coin = rng.random(N) < np.where(first, (alpha + theta) / (1 + theta), alpha)
    founder = _founders(parent, coin)
    root = np.where(founder, np.arange(N), parent)
    while True:
        jumped = root[root]
        if np.array_equal(jumped, root):
            return root
        root = jumped


def urn_growth(
    rng: np.random.Generator,
    class_size: ArrayLike,
    n: ArrayLike,
    N: ArrayLike,
    *,
    theta: ArrayLike,
    alpha: ArrayLike,
) -> Ints:
    """Draw population sizes of classes of the given table sizes, each on its own.

    Seen from one class the newcomers are draws from Polya's urn: first the share p ~
    Beta(f - alpha, theta + n - f + alpha), then Binomial(N - n, p).
    """
    f = np.asarray(class_size, dtype=np.float64)
    n, N, theta, alpha = _seats(n, N, theta, alpha)
    a, b = np.broadcast_arrays(f - alpha, theta + n - f + alpha)
    share = rng.beta(a, b)
    joined = rng.binomial(np.broadcast_to(N - n, share.shape).astype(np.int64), share)
    return np.asarray(f + joined, dtype=np.int64)


def check_parameters(theta: ArrayLike, alpha: ArrayLike) -> None:
    """Refuse parameters outside 0 <= alpha < 1, theta > -alpha."""
    theta, alpha = np.asarray(theta), np.asarray(alpha)
    if not ((alpha >= 0) & (alpha < 1)).all():
        raise UsageError("alpha lies outside [0, 1); Pitman's partition needs 0 <= alpha < 1")
    if not (np.isfinite(theta) & (theta > -alpha)).all():
        raise UsageError("theta is not above -alpha; Pitman's partition needs theta > -alpha")


def _founders(parent: Ints, coin: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Who founds a class: the first person, and whoever points at a founder with luck."""
    # 0 no, 1 yes, 2 not known yet; each sweep settles one more generation.
    state = np.where(coin, 2, 0).astype(np.int8)
    state[0] = 1
    state[parent == 0] = coin[parent == 0]
    state[0] = 1
    open_ = np.flatnonzero(state == 2)
    while open_.size:
        above = state[parent[open_]]
        known = above != 2
        state[open_[known]] = above[known]
        open_ = open_[~known]
    return np.equal(state, 1)


def _seats(n: ArrayLike, N: ArrayLike, *others: ArrayLike) -> tuple[Floats, ...]:
    arrays = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (n, N, *others)))
    if not ((arrays[0] >= 1) & (arrays[0] <= arrays[1])).all():
        raise UsageError(
            f"n={arrays[0].flat[0]:g} people cannot be a sample of N={arrays[1].flat[0]:g}: "
            "need 1 <= n <= N"
        )
    check_parameters(arrays[2], arrays[3])
    return tuple(arrays)
