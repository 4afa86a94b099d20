"""Truncated power series, many at once: coefficients on the first axis, cases on the others.

The coefficient of z^L of a generating function, summed round a circle that suits it.

A leak of exactly L of D records couples the classes.  With z marking a leaked record they become
independent, each member leaked with probability p = r / (1 + r) on the circle |z| = r, and

    [z^L] G = (1/N) sum_j G(r e^{i t_j}) r^-L e^{-i L t_j},   t_j = 2 pi j / N             (1)

which is exact when N exceeds the degree, and as good as exact when N is a dozen standard
deviations.  With r where the mean number leaked is L (the saddle) almost nothing cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from reidbn.theory.frequencies import numbered

Series = NDArray[Any]


def multiply(f: Series, g: Series, degree: int) -> Series:
    """Product of two series up to the given degree.

    >>> multiply(np.array([1.0, 1.0]), np.array([1.0, 2.0, 1.0]), 3).tolist()
    [1.0, 3.0, 3.0, 1.0]
    """
    if len(f) > len(g):
        f, g = g, f
    length = min(len(f) + len(g) - 1, degree + 1)
    shape = np.broadcast_shapes(f.shape[1:], g.shape[1:])
    product = np.zeros((length, *shape), dtype=np.result_type(f, g))
    for i in range(min(len(f), length)):
        product[i : i + len(g)] += f[i] * g[: length - i]
    return product


def power(f: Series, exponent: int, degree: int) -> Series:
    """A series to a whole power, by repeated squaring: no division, so no zero can harm.

    A constant term of exactly 1 stays exactly 1, and then the relative error grows with the
    logarithm of the exponent only (otherwise with the exponent itself).

    >>> power(np.array([1.0, 1.0]), 5, 3).tolist()
    [1.0, 5.0, 10.0, 10.0]
    """
    result: Series | None = None
    while exponent:
        if exponent & 1:
            result = f if result is None else multiply(result, f, degree)
        exponent >>= 1
        if exponent:
            f = multiply(f, f, degree)
    return np.ones((1, *f.shape[1:]), dtype=f.dtype) if result is None else result[: degree + 1]


# -- the coefficient of z^l of a generating function, summed round a circle ------------------------


Floats = NDArray[np.float64]
Complex = NDArray[np.complex128]

NEGLIGIBLE = -50.0  # log of what a point may be without being evaluated
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)


class Classes(NamedTuple):
    """Distinct class sizes and how many classes there are of each."""

    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def records(self) -> int:
        return int((self.sizes * self.counts).sum())

    def largest(self, number: int) -> int:
        """Records in the `number` largest classes."""
        taken, total = 0, 0
        for size, count in sorted(zip(self.sizes, self.counts, strict=True), reverse=True):
            here = min(int(count), number - taken)
            taken, total = taken + here, total + here * int(size)
        return total


@dataclass(frozen=True)
class Points:
    """Points of the upper half circle for several leak sizes: one row each."""

    case: NDArray[np.intp]  # which leak size the row belongs to
    angle: Floats
    weight: Floats  # 2 / N for a point that stands for its mirror image as well

    def take(self, chosen: NDArray[np.bool_] | slice) -> Points:
        return Points(self.case[chosen], self.angle[chosen], self.weight[chosen])


def points(total: int, spread: Floats, extra: int) -> Points:
    """Enough points for a law of the given standard deviations on 0..total.

    Twelve standard deviations leave an aliasing error of about e^-70; `extra` is how far the
    targets can shift the law.
    """
    number = np.minimum(total + 1, np.ceil(12 * spread) + extra + 24).astype(np.intp)
    half = number // 2 + 1
    case = np.repeat(np.arange(number.size), half)
    j = numbered(half)
    own_mirror = (j == 0) | (2 * j == number[case])
    weight = np.where(own_mirror, 1.0, 2.0) / number[case]
    return Points(case, 2 * np.pi * j / number[case], weight)


def log_turn(log_odds: Floats, angle: Floats) -> tuple[Floats, Floats]:
    """Log-modulus and argument of 1 + p (e^{i t} - 1), a member's factor on the circle.

    |1 + p (e^{i t} - 1)|^2 = 1 - 4 p (1 - p) sin^2(t/2), so nothing cancels near t = 0.
    """
    p, q = expit(log_odds), expit(-log_odds)
    half = np.sin(angle / 2) ** 2
    with np.errstate(divide="ignore"):
        modulus = 0.5 * np.log1p(-np.minimum(4 * p * q * half, 1.0))
    return modulus, np.arctan2(p * np.sin(angle), 1 - 2 * p * half)


def find_log_odds(
    log_rest: Callable[[Floats], Floats], total: int, goal: Floats, start: Floats
) -> tuple[Floats, Floats]:
    """The circle on which the mean number leaked is `goal`, and the spread there.

    The generating function is (1 + r)^total times the rest; its mean number leaked is the
    derivative of its log by ln r, increasing.  A third of a standard deviation is near enough.
    """
    u = start.copy()
    spread = np.ones_like(u)
    for _ in range(80):
        p, q = expit(u), expit(-u)
        step = 0.3 / np.sqrt(total * p * q + 1)
        low, middle, high = log_rest(u - step), log_rest(u), log_rest(u + step)
        mean = total * p + (high - low) / (2 * step)
        variance = np.maximum(total * p * q + (high - 2 * middle + low) / step**2, 1e-6)
        spread = np.sqrt(variance)
        gap = goal - mean
        near = abs(gap) <= 0.3 * spread
        if near.all():
            break
        u = np.where(near, u, u + np.clip(gap / variance, -1.0, 1.0))
    return u, spread


def worth_evaluating(classes: Classes, rows: Points, log_odds: Floats, targets: int) -> Points:
    """Leave out points where even the classes without any target make the product negligible."""
    free = classes.records - classes.largest(targets)
    modulus, _ = log_turn(log_odds[rows.case], rows.angle)
    bound = np.where(modulus < 0, free * np.maximum(modulus, -1e300), 0.0)
    return rows.take(bound > NEGLIGIBLE)


def log_coefficient(
    classes: Classes, factors: Iterable[Complex], degree: int, log_odds: Floats, angle: Floats
) -> Complex:
    """Log of [x^degree] of the product of the factors, each to the power of its count.

    A factor's constant term is (1 + p (e^{it} - 1))^k, a class without targets.  Where that is not
    small the factor is divided by it: the constant is then 1 exactly, and its power is taken as a
    logarithm that keeps its digits.
    """
    modulus, argument = log_turn(log_odds, angle)
    log_constant = np.zeros(np.shape(log_odds), dtype=np.complex128)
    product = np.ones((1, *log_constant.shape), dtype=np.complex128)
    for size, count, factor in zip(classes.sizes, classes.counts, factors, strict=True):
        divided = size * modulus > np.log(0.5)
        factor = factor / np.where(divided, factor[0], 1.0)
        factor[0] = np.where(divided, 1.0, factor[0])
        product = multiply(product, power(factor, int(count), degree), degree)
        log_constant += np.where(divided, size * count * (modulus + 1j * argument), 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(product[degree]) + log_constant)


def log_binomial(leaked: Floats, total: int, log_odds: Floats) -> Floats:
    """Log of the binomial probability C(D, L) p^L (1 - p)^(D - L), for 0 < L < D [Loader00].

    The deviance and the Stirling remainders are small where the large logarithms would cancel.
    """
    L, M = leaked, total - leaked
    deviance = _deviance(L, total * expit(log_odds)) + _deviance(M, total * expit(-log_odds))
    remainder = _stirling(np.asarray(float(total))) - _stirling(L) - _stirling(M)
    return np.asarray(remainder - deviance - 0.5 * np.log(2 * np.pi * L * (M / total)))


def _deviance(x: Floats, mean: Floats) -> Floats:
    """X ln(x / mean) + mean - x, also where x and mean nearly agree."""
    v = (x - mean) / (x + mean)
    series = (x - mean) * v
    term = 2 * x * v
    for j in range(1, 14):
        term = term * v * v
        series = series + term / (2 * j + 1)
    with np.errstate(divide="ignore", over="ignore"):
        plain = x * np.log(x / mean) + mean - x
    return np.where(abs(v) < 0.1, series, plain)


def _stirling(x: Floats) -> Floats:
    """Ln x! minus Stirling's ln(sqrt(2 pi x) (x/e)^x), for x >= 1; shifted above 16 first."""
    x = np.asarray(x, dtype=np.float64)
    shift = np.zeros_like(x)
    while np.any(x < 16):
        small = x < 16
        # stirling(x) = stirling(x + 1) + (x + 1/2) ln(1 + 1/x) - 1
        shift = np.where(small, shift + (x + 0.5) * np.log1p(1 / x) - 1, shift)
        x = np.where(small, x + 1, x)
    total = np.zeros_like(x)
    for coefficient in reversed(_STIRLING):
        total = total / (x * x) + coefficient
    return np.asarray(shift + total / x)
