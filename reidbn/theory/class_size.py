"""How large a class of the table is in the population: the beta-binomial law and E[1/F | f].

Given a class of f among n people, the other N - n join it as draws from Polya's urn, so with
M = N - n

    F - f ~ BetaBinomial(M; f - alpha, theta + n - f + alpha).                           (1)

It follows by seating the newcomers as in [Pitman95], looking at one class only.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from reidbn.errors import UsageError
from reidbn.theory.gamma import log_ratio, log_thinning
from reidbn.theory.pitman import check_parameters

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

_SERIES_FROM = 64  # class sizes from here on: an asymptotic series good to 1e-15
_FEW = 2_000  # newcomers up to here can be summed over one by one
_CELLS = 500_000  # most numbers held at once
_NO_ALPHA = 1e-20


def log_class_size_pmf(
    F: ArrayLike, f: ArrayLike, n: ArrayLike, N: ArrayLike, *, theta: ArrayLike, alpha: ArrayLike
) -> Any:
    """Log of the probability that a class of f in the table has F in the population.

    With K = F - f joining, a = f - alpha, b = theta + n - f + alpha,

        P = C(M, K) B(a + K, b + M - K) / B(a, b)                                         (2)

    >>> round(float(np.exp(log_class_size_pmf(1, 1, 5, 12, theta=0.5, alpha=0.25))), 12)
    0.501211564171
    """
    F, f, n, N, theta, alpha = _arrays(F, f, n, N, theta, alpha)
    K, M = F - f, N - n
    inside = (K >= 0) & (K <= M)
    log_p = _log_pmf(np.where(inside, K, 0.0), M, f - alpha, theta + n - f + alpha)
    return _like(np.where(inside, log_p, -np.inf))


def mean_inverse(
    f: ArrayLike, n: ArrayLike, N: ArrayLike, *, theta: ArrayLike, alpha: ArrayLike
) -> Any:
    """The journalist's chance on a class of f: E[1/F | f] under (1), exactly.

    A class of one has, with c = theta + n - 1,

        E[1/F | 1] = (c / (alpha (M+1))) (Gamma(c+M+1+alpha) Gamma(c) /
                                          (Gamma(c+M+1) Gamma(c+alpha)) - 1)               (3)

    and integrating 1 = f q I_f + (f+M+1) p I_{f+1}, I_f = int t^{f-1} (q + p t)^M dt, over the
    urn's share p gives the recursion in f that the other sizes are found by,

        f (c - f + alpha) e_f + (f + M + 1)(f - alpha) e_{f+1} = c                        (4)

    forwards or backwards, whichever damps errors; from f = 64 on by the series

        e_f = sum_k (-1)^k (1+alpha)_k prod_{i<=k} (c - i)/((f-alpha-1-i)(c+M-i))         (5)

    and where (4) damps errors only beyond some f, by summing (2) there and going both ways.

    >>> round(mean_inverse(1, 5, 12, theta=0.5, alpha=0.25), 12)
    0.694617939505
    """
    f, n, N, theta, alpha = _arrays(f, n, N, theta, alpha)
    shape = f.shape
    f, n, N, theta, alpha = (x.ravel() for x in (f, n, N, theta, alpha))
    M, c = N - n, theta + n - 1
    answer = np.empty(f.shape)
    one, large = f == 1, f >= _SERIES_FROM
    ahead = (c <= M) | (M > _FEW)
    back = c > M + 2 * _SERIES_FROM
    ahead &= ~back
    small = ~(one | large)
    neither = small & ~(back | ahead)
    for part, way in ((one, _of_one), (large, _by_series), (small & back, _backwards),
                      (small & ahead, _forwards), (neither, _both_ways)):  # fmt: skip
        if part.any():
            answer[part] = way(f[part], M[part], c[part], alpha[part])
    return _like(np.clip(answer, 1 / (f + M), 1 / f).reshape(shape))


def mean_inverse_over(
    sizes: ArrayLike, n: int, N: int, *, theta: Floats, alpha: Floats, weight: Floats
) -> Floats:
    """The mean of E[1/F | f] over weighted parameters, for each of some class sizes f.

    The same numbers as `mean_inverse`, in one walk along (4) for all sizes, where it goes forwards.

    >>> at = {"theta": np.array([0.5, 2.0]), "alpha": np.array([0.25, 0.5])}
    >>> mean_inverse_over([1, 3], 5, 12, **at, weight=np.array([0.5, 0.5])).round(12)
    array([0.75664749, 0.18463235])
    """
    f, place = np.unique(np.asarray(sizes, dtype=np.float64), return_inverse=True)
    M, c = float(N - n), theta + n - 1
    few = f[f < _SERIES_FROM]
    ahead = bool(((c <= M) | (M > _FEW)).all() and (c <= M + 2 * _SERIES_FROM).all())
    found = np.empty(f.size)
    if few.size and ahead and f[0] >= 1:
        _arrays(few[-1], n, N, theta, alpha)  # refuses what is no sample
        e = _of_one(np.ones_like(c), np.full_like(c, M), c, alpha)
        wanted = iter(enumerate(few.tolist()))
        at, size = next(wanted)
        for k in range(1, int(few[-1]) + 1):
            if k == size:
                found[at] = np.clip(e, 1 / (k + M), 1 / k) @ weight
                at, size = next(wanted, (at, 0.0))
            e = (c - k * (c - k + alpha) * e) / ((k + M + 1) * (k - alpha))
    else:
        few = f[:0]
    if few.size < f.size:
        rest = mean_inverse(f[few.size :, None], n, N, theta=theta, alpha=alpha)
        found[few.size :] = rest @ weight
    return np.asarray(found[place.reshape(-1)])


def _of_one(f: Floats, M: Floats, c: Floats, alpha: Floats) -> Floats:
    """Equation (3); at alpha = 0 its limit, (c/(M+1)) (psi(c+M+1) - psi(c))."""
    gap = np.maximum(alpha, _NO_ALPHA)
    # n = 1 with theta <= 0 has c <= 0: its first term set apart keeps every argument positive.
    low = c <= 0
    start, steps = np.where(low, c + 1, c), np.where(low, M, M + 1)
    total = start * np.expm1(-log_thinning(start + gap, steps, gap)) / gap
    total = np.where(low, 1 + (c + alpha) / (c + 1) * total, total)
    return np.asarray(total / (M + 1), dtype=np.float64)


def _both_ways(f: Floats, M: Floats, c: Floats, alpha: Floats) -> Floats:
    """Equation (4) both ways from the class size at which it turns, which is summed over."""
    cases, place = np.unique(np.stack([M, c, alpha], axis=1), axis=0, return_inverse=True)
    M, c, alpha = cases.T
    turn = np.clip(np.floor((c - M) / 2), 1, _SERIES_FROM - 1)
    e = np.zeros((_SERIES_FROM + 1, turn.size))
    e[turn.astype(np.int64), np.arange(turn.size)] = _by_sum(turn, M, c, alpha)
    for k in range(1, _SERIES_FROM):
        later = (c - k * (c - k + alpha) * e[k]) / ((k + M + 1) * (k - alpha))
        e[k + 1] = np.where(turn <= k, later, e[k + 1])
    for k in range(_SERIES_FROM - 1, 0, -1):
        # Below the turn c - k is positive; above, the value is not used.
        earlier = (c - (k + M + 1) * (k - alpha) * e[k + 1]) / (k * np.maximum(c - k + alpha, 1.0))
        e[k] = np.where(turn > k, earlier, e[k])
    return np.asarray(e[f.astype(np.int64), place.ravel()])


def _by_sum(f: Floats, M: Floats, c: Floats, alpha: Floats) -> Floats:
    answer = np.empty(f.shape)
    step = max(1, _CELLS // (int(M.max()) + 1))
    for start in range(0, f.size, step):
        part = slice(start, start + step)
        K = np.arange(M[part].max() + 1)
        size, new, alone = f[part, None], M[part, None], alpha[part, None]
        log_p = _log_pmf(np.minimum(K, new), new, size - alone, c[part, None] + 1 - size + alone)
        log_p = np.where(new >= K, log_p, -np.inf)
        weight = np.exp(log_p - log_p.max(axis=1, keepdims=True))
        answer[part] = (weight / (size + K)).sum(axis=1) / weight.sum(axis=1)
    return answer


def _by_series(f: Floats, M: Floats, c: Floats, alpha: Floats) -> Floats:
    """Equation (5), alternating: cut where the terms are smallest."""
    a = f - alpha
    term = c / ((a - 1) * (c + M))
    total = term.copy()
    for k in range(1, _SERIES_FROM // 2 - 2):
        term = term * -(alpha + k) * (c - k) / ((a - 1 - k) * (c + M - k))
        total += term
    return total


def _forwards(f: Floats, M: Floats, c: Floats, alpha: Floats) -> Floats:
    e = _of_one(f, M, c, alpha)
    answer = np.empty(f.shape)
    for k in range(1, int(f.max()) + 1):
        answer[f == k] = e[f == k]
        e = (c - k * (c - k + alpha) * e) / ((k + M + 1) * (k - alpha))
    return answer


def _backwards(f: Floats, M: Floats, c: Floats, alpha: Floats) -> Floats:
    e = _by_series(np.full(f.shape, float(_SERIES_FROM)), M, c, alpha)
    answer = np.empty(f.shape)
    for k in range(_SERIES_FROM - 1, int(f.min()) - 1, -1):
        e = (c - (k + M + 1) * (k - alpha) * e) / (k * (c - k + alpha))
        answer[f == k] = e[f == k]
    return answer


def _log_pmf(K: Floats, M: Floats, a: Floats, b: Floats) -> Floats:
    """Equation (2), neighbours paired so that each logarithm spans few steps."""
    left = M - K
    over_members = log_ratio(left + 1, K) - log_ratio(left + b, K + a)
    over_others = log_ratio(left + 1, b - 1) - log_ratio(M + 1, b + a - 1)
    joined = np.where(b < K + a, over_others, over_members)
    return np.asarray(log_ratio(b, a) - gammaln(a) + log_ratio(K + 1, a - 1) + joined)


def _arrays(*values: ArrayLike) -> tuple[Floats, ...]:
    """Broadcast (f, n, N, theta, alpha), or (F, f, n, ...), with f, n, N in order."""
    arrays = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in values))
    f, n, N, theta, alpha = arrays[-5:]
    if not ((f >= 1) & (f <= n) & (n <= N)).all():
        raise UsageError("a class size is not in 1..n, or n not in 1..N; need 1 <= f <= n <= N")
    check_parameters(theta, alpha)
    return tuple(arrays)


def _like(values: Any) -> Any:
    """A plain number for plain numbers, an array for arrays."""
    values = np.asarray(values)
    return float(values) if values.ndim == 0 else values
