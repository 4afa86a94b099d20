"""The slide negative binomial model of class sizes [ChenKeller98], with its equations derived.

K classes of size F = 1 + NegBin(a, b), P(F = j) = C(a+j-2, j-1) b^a d^(j-1), d = 1 - b; every
person is in the table with probability pi = n/N, independently.  With q = 1 - pi, D = 1 - d q,
the generating function of F gives

    E f_1 = K pi (b/D)^a (1 + a d q/D)                                                   (1)
    E f_2 = K a b^a pi^2 d (2 - (1-a) d q) / (2 D^(a+2))                                 (2)
    E u   = K (1 - q (b/D)^a)                                                            (3)
    N     = K (1 + a d/b)                                                                (4)
    population uniques = K b^a.                                                          (5)

(2)/(1) leaves a quadratic in a for each b, so that one equation in b remains.

Zayatz's estimator: the table's class sizes taken for the population's [Zayatz91].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.theory.frequencies import FrequencyTable
from reidbn.theory.gamma import log_ratio

Floats: TypeAlias = NDArray[np.float64]

CLASSES = ("modified-shlosser", "shlosser", "population-equation")
_LOGITS = np.linspace(-100.0, 25.0, 2001)


@dataclass(frozen=True)
class SNB:
    """A solution of (1) and (2): the number of classes in the population, and the law of F."""

    K: float
    a: float
    b: float
    pi: float

    @property
    def population_uniques(self) -> float:
        """Equation (5)."""
        return float(self.K * self.b**self.a)

    @property
    def p_unique(self) -> float:
        """P(F = 1 | f = 1) = pi b^a K / E f_1 = D^a / (1 + a d q/D)."""
        dq = (1 - self.b) * (1 - self.pi)
        D = 1 - dq
        return float(D**self.a / (1 + self.a * dq / D))


def classes_in_population(table: FrequencyTable, N: int, *, estimator: str) -> float:
    """How many classes the population has: Shlosser's estimator or its modified form.

        shlosser            K = u + f_1 A/B,           A = sum q^i f_i, B = sum i pi q^(i-1) f_i
        modified-shlosser   K = u + f_1 (C/E)(A/B)^2,  C = sum i pi^2 (1-pi^2)^(i-1) f_i,
                                                       E = sum q^i ((1+pi)^i - 1) f_i

    Both overstate K at small pi, even where the model is true.

    >>> t = FrequencyTable.of([1, 2, 3, 5], [812, 150, 60, 9])
    >>> round(classes_in_population(t, 10_000, estimator="shlosser"), 6)
    5266.450559
    """
    i, f = table.sizes.astype(np.float64), table.counts.astype(np.float64)
    pi = table.n / N
    q = 1 - pi
    A, B = q**i @ f, (i * pi * q ** (i - 1)) @ f
    if table.uniques == 0 or q == 0:
        return float(table.classes)
    if estimator == "shlosser":
        return float(table.classes + table.uniques * A / B)
    C = (i * pi**2 * (1 - pi**2) ** (i - 1)) @ f
    E = ((1 - pi**2) ** i - q**i) @ f
    return float(table.classes + table.uniques * (C / E) * (A / B) ** 2)


def solve_snb(table: FrequencyTable, N: int, *, estimator: str = "modified-shlosser") -> SNB | None:
    """The (a, b) that give the table's f_1 and f_2, or None where none does.

    Of several solutions the one whose expected number of classes (3) is nearest the table's.

    >>> fit = solve_snb(FrequencyTable.of([1, 2, 3, 5], [812, 150, 60, 9]), 10_000)
    >>> round(fit.population_uniques, 3)
    3256.956
    """
    f1, f2, pi = float(table.uniques), float(table.of_size(2)), table.n / N
    if f1 == 0 or f2 == 0 or pi >= 1:
        return None
    fixed = None
    if estimator != "population-equation":
        fixed = classes_in_population(table, N, estimator=estimator)
    x = _LOGITS
    miss = _miss(x, f1, f2, pi, N, fixed)
    crossing = np.flatnonzero(np.sign(miss[:-1]) * np.sign(miss[1:]) < 0)
    found = [_bisect(x[i], x[i + 1], f1, f2, pi, N, fixed) for i in crossing]
    solutions = [_at(root, f1, f2, pi, N, fixed) for root in found]
    if not solutions:
        return None
    return min(solutions, key=lambda s: abs(_expected_classes(s) - table.classes))


def _expected_classes(snb: SNB) -> float:
    q = 1 - snb.pi
    return float(snb.K * (1 - q * (snb.b / (snb.pi + snb.b * q)) ** snb.a))


def _shape(x: Floats, f1: float, f2: float, pi: float) -> tuple[Floats, Floats, Floats]:
    """b, d and the positive root a of (2)/(1) at b = 1/(1 + e^-x)."""
    b, d, q = 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(x)), 1 - pi
    D = pi + b * q
    ratio = f2 / f1
    square = pi * q * d * d
    linear = pi * d * (2 - d * q) - 2 * ratio * D * d * q
    constant = 2 * ratio * D * D
    # The root that stays accurate whichever sign `linear` has.
    root = np.sqrt(linear * linear + 4 * square * constant)
    with np.errstate(divide="ignore"):
        a = np.where(linear > 0, 2 * constant / (linear + root), (root - linear) / (2 * square))
    return b, d, a


def _miss(x: Floats, f1: float, f2: float, pi: float, N: int, K: float | None) -> Floats:
    """Log of E f_1 over f_1 at b = 1/(1 + e^-x)."""
    b, d, a = _shape(x, f1, f2, pi)
    D = pi + b * (1 - pi)
    classes = N * b / (b + a * d) if K is None else K
    log_b = -np.log1p(np.exp(-x))
    spread = np.log1p(a * d * (1 - pi) / D)
    return np.asarray(np.log(classes * pi / f1) + a * (log_b - np.log(D)) + spread)


def _bisect(
    low: float, high: float, f1: float, f2: float, pi: float, N: int, K: float | None
) -> float:
    start = _miss(np.array([low]), f1, f2, pi, N, K)[0]
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        value = _miss(np.array([middle]), f1, f2, pi, N, K)[0]
        low, high = (middle, high) if (value > 0) == (start > 0) else (low, middle)
    return (low + high) / 2


def _at(x: float, f1: float, f2: float, pi: float, N: int, K: float | None) -> SNB:
    b, d, a = (float(v[0]) for v in _shape(np.array([x]), f1, f2, pi))
    return SNB(K=N * b / (b + a * d) if K is None else K, a=a, b=b, pi=pi)


# -- zayatz's estimator ----------------------------------------------------------------------------


def zayatz(table: FrequencyTable, N: int) -> float:
    """P(unique in the population | unique in the table), 0 when nobody is unique in the table.

    With f_j classes of size j and h_j = j C(N-j, n-1)/C(N, n), the chance that exactly one
    of j is among the n drawn,

        P(F = 1 | f = 1) = (n/N) f_1 / sum_j f_j h_j                                      (1)

    Biased upwards at small sampling fractions, where the table's classes look smaller than
    the population's.

    >>> round(zayatz(FrequencyTable.of([1, 2, 3, 5], [812, 150, 60, 9]), 100_000), 9)
    0.612433922
    """
    if table.uniques == 0:
        return 0.0
    n, j = float(table.n), table.sizes.astype(np.float64)
    possible = j <= N - n + 1
    j, f = j[possible], table.counts[possible]
    # C(N-j, n-1)/C(N, n) = (n/N) prod_{i<j} (N-n-i+1)/(N-i)
    log_h = np.log(j) + log_ratio(N - n - j + 2, j - 1) - log_ratio(N - j + 1, j - 1)
    return float(table.uniques / (f @ np.exp(log_h)))
