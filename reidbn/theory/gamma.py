"""Ratios of gamma functions and the sums behind them, without the usual cancellation.

Differences of `gammaln` keep five to six digits at 3e8 and three at 1e12, and
`scipy.special.poch` overflows for long products.  The series here keep about fourteen
digits from 1e-3 to 1e25.  Everything broadcasts.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import binom, digamma, gammaln, zeta

Floats: TypeAlias = NDArray[np.float64]

_SHIFT = 20
_BERNOULLI = (1.0, -1 / 2, 1 / 6, 0.0, -1 / 30, 0.0, 1 / 42, 0.0, -1 / 30, 0.0, 5 / 66, 0.0,
              -691 / 2730, 0.0, 7 / 6)  # fmt: skip
_TERMS = 13
_SMALL = 0.05
_K = np.arange(1.0, _TERMS + 1)
_OVER_K = 1 / _K
_NODES, _NODE_WEIGHTS = (x / 2 for x in np.polynomial.legendre.leggauss(8))
_NODES = _NODES + 0.5
# Row k: coefficients in 1/m of sum_{j<m} j^k / m^(k+1), from Faulhaber's formula.
_POWER_SUMS = np.array(
    [
        [binom(k + 1, i) * _BERNOULLI[i] / (k + 1) if i <= k else 0.0 for i in range(_TERMS + 2)]
        for k in range(_TERMS + 2)
    ]
)


def log_ratio(z: ArrayLike, a: ArrayLike) -> Any:
    """Log of Gamma(z + a) / Gamma(z) for z > 0 and z + a > 0.

        ln G(z+a)/G(z) = (z - 1/2) ln(1 + a/z) + a ln(z+a) - a + S(z+a) - S(z)           (1)

    with Stirling's S(w) = 1/(12 w) - 1/(360 w^3) + ..., after z is moved above 20 by
    -ln(1 + a/z) per step.

    >>> round(log_ratio(3e8, 0.25), 13)
    4.8798232578426
    """
    z, a = np.broadcast_arrays(np.asarray(z, dtype=np.float64), np.asarray(a, dtype=np.float64))
    low = np.minimum(z, z + a) < _SHIFT
    if not low.any():
        return like(_stirling_ratio(z, a))
    moved = np.where(low, z + _SHIFT, z)
    answer = np.asarray(_stirling_ratio(moved, a))
    steps = z[low][:, None] + np.arange(_SHIFT)
    answer[low] -= np.log1p(a[low][:, None] / steps).sum(axis=1)
    return like(answer)


def log_ratio_slope(z: ArrayLike, a: ArrayLike) -> Any:
    """Derivative of `log_ratio` in z, digamma(z + a) - digamma(z), for z >= 20 and z + a >= 20.

        ln(1 + a/z) + T(z+a) - T(z),   T(w) = -1/(2 w) - 1/(12 w^2) + 1/(120 w^4) - ...   (2)

    >>> round(log_ratio_slope(1e15, 0.5) * 1e15, 12)
    0.5
    """
    z, a = np.asarray(z, dtype=np.float64), np.asarray(a, dtype=np.float64)
    p, q = 1 / z, 1 / (z + a)
    s = p * p + q * q
    even = 1 / 12 - s / 120 + (s * s - p * p * q * q) / 252 - s * (s * s - 2 * p * p * q * q) / 240
    return like(np.asarray(np.log1p(a / z) + a * p * q * (0.5 + (p + q) * even)))


def log_thinning(start: ArrayLike, steps: ArrayLike, loss: ArrayLike) -> Floats:
    """Log of prod_{m<steps} (start + m - loss)/(start + m): nobody joins, step after step.

    >>> round(float(np.exp(log_thinning(4.0, 2.0, 1.0))), 12)  # 3/4 * 4/5
    0.6
    """
    first, steps, loss = np.broadcast_arrays(
        *(np.asarray(x, dtype=np.float64) for x in (start, steps, loss))
    )
    z = first - loss
    near = (steps < _SMALL * z) & (z >= _SHIFT)
    if not near.any():
        return np.asarray(log_ratio(z, loss) - log_ratio(z + steps, loss), dtype=np.float64)
    # Close to one a difference of logarithms cancels: integrate its slope over the few steps.
    answer = np.asarray(log_ratio(z, loss) - log_ratio(z + np.where(near, 1.0, steps), loss))
    few = steps[near]
    slope = log_ratio_slope(z[near][:, None] + few[:, None] * _NODES, loss[near][:, None])
    answer[near] = -(slope @ _NODE_WEIGHTS) * few
    return answer


def log1p_sums(x: ArrayLike, m: ArrayLike, *, order: int = 2) -> tuple[Floats, ...]:
    """The sums of ln(1 + j x), j / (1 + j x) and (j / (1 + j x))^2 over j = 0..m-1.

    The first is a log-likelihood, the other two its first and (minus its) second derivative in
    x; `order` says up to which.  For m x below 0.05 a power series with Faulhaber's sums; above
    it log-gamma, digamma and trigamma at 1/x, where they no longer cancel.

    >>> [round(float(s), 12) for s in log1p_sums(0.5, 3)]  # ln 1.5 + ln 2, 1/1.5 + 2/2, ...
    [1.098612288668, 1.666666666667, 1.444444444444]
    """
    x, m = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(m, dtype=np.float64))
    small = x * m < _SMALL
    if small.all():
        return _by_series(x, m, order)
    if not small.any():
        return _by_gamma(x, m, order)
    sums = tuple(np.empty(x.shape) for _ in range(order + 1))
    for part, way in ((small, _by_series), (~small, _by_gamma)):
        for whole, piece in zip(sums, way(x[part], m[part], order), strict=True):
            whole[part] = piece
    return sums


def _by_series(x: Floats, m: Floats, order: int) -> tuple[Floats, ...]:
    y = -x * m
    sigma = _powers(1 / np.maximum(m, 1.0), _TERMS + 2) @ _POWER_SUMS.T  # sum j^k / m^(k+1)
    series = _powers(y, _TERMS) * sigma[..., 1:-1]
    logs = (series @ _OVER_K) * (-y * m)
    if order < 2:
        return logs, series.sum(axis=-1) * m**2
    second = ((_powers(y, _TERMS) * sigma[..., 2:]) @ _K) * m**3
    return logs, series.sum(axis=-1) * m**2, second


def _powers(y: Floats, count: int) -> Floats:
    """1, y, y^2, ... on a last axis; repeated products, ten times faster than `**`."""
    table = np.empty((*y.shape, count))
    table[...] = y[..., None]
    table[..., 0] = 1.0
    return np.multiply.accumulate(table, axis=-1)


def _by_gamma(x: Floats, m: Floats, order: int) -> tuple[Floats, ...]:
    z = 1 / x
    end = z + m
    far = z >= _SHIFT
    w, v = np.where(far, z, _SHIFT), np.where(far, end, _SHIFT + m)
    logs = (v - 0.5) * np.log1p(m / w) - m + _stirling_tail(w, m)
    if not far.all():
        logs = np.where(far, logs, gammaln(end) - gammaln(z) + m * np.log(x))
    inverse = z * (digamma(end) - digamma(z))  # sum 1/(1+jx)
    first = (m - inverse) * z
    if order < 2:
        return logs, first
    squares = z * z * (zeta(2.0, z) - zeta(2.0, end))  # sum 1/(1+jx)^2
    return logs, first, (first - (inverse - squares) * z) * z


def _stirling_ratio(z: Floats, a: Floats) -> Floats:
    body = (z - 0.5) * np.log1p(a / z) + a * np.log(z + a) - a
    return np.asarray(body + _stirling_tail(z, a), dtype=np.float64)


def _stirling_tail(z: Floats, a: Floats) -> Floats:
    """S(z + a) - S(z), factored so that a small a keeps its relative precision."""
    p, q = 1 / z, 1 / (z + a)
    s, pq = p * p + q * q, p * q
    third = s + pq  # (q^3 - p^3) / (q - p), and so on
    fifth = s * s + pq * (s - pq)
    seventh = s * s * third - pq * pq * (2 * s + pq)
    tail = 1 / 12 - third / 360 + fifth / 1260 - seventh / 1680
    return np.asarray(-a * pq * tail, dtype=np.float64)


def like(values: Any) -> Any:
    """A plain number for plain numbers, an array for arrays."""
    values = np.asarray(values)
    return float(values) if values.ndim == 0 else values
