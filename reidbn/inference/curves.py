"""Curve: the answer of every subject as an exact function of one parameter.

P(target, evidence) and P(evidence) are polynomials in a parameter, so a few evaluations fix them
everywhere; they are kept as Chebyshev coefficients, which lose no digits at any degree met here.
With evidence the answer is their ratio,

    R(p) = N(p) / E(p),     R'(p) = (N'(p) E(p) - N(p) E'(p)) / E(p)^2                          (1)

and where both vanish (evidence that p = 0 makes impossible, say) R is the limit.  A factor p that
N and E share is divided out first: at p = 0 it would make a root of N - target E and close to it
leave nothing but rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import chebyshev as cheb
from numpy.typing import NDArray

from reidbn.errors import ImpossibleEvidence
from reidbn.inference.network import Array

NOISE = 1e-13  # below this share of the largest value a number counts as rounding noise


def nodes(degree: int, low: float, high: float) -> Array:
    """Points that fix a polynomial of this degree on an interval: its ends and what is between.

    >>> nodes(2, 0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    points = (low + high) / 2 + (high - low) / 2 * extrema(degree)
    return np.asarray(np.clip(points, low, high))


def extrema(degree: int) -> Array:
    """Where Chebyshev's polynomial of this degree is 1 or -1, increasing; 0 for degree 0."""
    k = np.arange(degree + 1)
    return np.asarray(np.sin(np.pi * (2 * k - degree) / (2 * max(degree, 1))))


def coefficients(values: Array) -> Array:
    """Chebyshev coefficients (axis 0) of the polynomials with these values at `nodes` (axis 1)."""
    degree = values.shape[1] - 1
    return np.asarray(np.linalg.solve(cheb.chebvander(extrema(degree), degree), values.T))


def value(t: Array, coefs: Array) -> Array:
    """Chebyshev series at t in [-1, 1]: subjects x points."""
    return np.asarray(cheb.chebval(t, coefs), dtype=float)


def derivative(coefs: Array) -> Array:
    """Coefficients of the derivative; one of nought for a constant."""
    found = cheb.chebder(coefs) if len(coefs) > 1 else np.zeros_like(coefs)
    return np.asarray(found, dtype=float)


def divided(coefs: Array, end: float) -> Array:
    """Coefficients of the series divided by (t - end), which is a factor of it; end is 1 or -1.

    t T_n = (T_{n+1} + T_{|n-1|}) / 2, read from the highest coefficient down.

    >>> divided(np.array([[1.0], [1.0]]), -1.0).tolist()
    [[1.0], [0.0]]
    """
    out = np.zeros((len(coefs) + 2, *coefs.shape[1:]))
    for n in range(len(coefs) - 1, 0, -1):
        out[n - 1] = 2 * (coefs[n] + end * out[n]) - out[n + 1]
    out[0] /= 2
    return out[: len(coefs)]


@dataclass(frozen=True)
class Curve:
    """N and E of every subject on [low, high]: coefficients x subjects; E is 1 without evidence."""

    low: float
    high: float
    numerator: Array
    evidence: Array

    @classmethod
    def through(cls, low: float, high: float, numerator: Array, evidence: Array | None) -> Curve:
        """The curve with these values (subjects x nodes) at the nodes of the interval."""
        bottom = np.ones((1, len(numerator))) if evidence is None else coefficients(evidence)
        return cls(low, high, coefficients(numerator), bottom)

    @property
    def subjects(self) -> int:
        return int(self.numerator.shape[1])

    @property
    def is_polynomial(self) -> bool:
        return len(self.evidence) == 1

    def position(self, points: Array) -> Array:
        """Points as positions from -1 to 1."""
        points = np.atleast_1d(np.asarray(points, dtype=float))
        return np.asarray((2 * points - self.low - self.high) / (self.high - self.low))

    def parameter(self, position: float) -> float:
        """A position from -1 to 1 as a value of the parameter."""
        return (self.low + self.high) / 2 + (self.high - self.low) / 2 * position

    def parts(self, points: Array) -> tuple[Array, Array]:
        """N and E at points: subjects x points."""
        t = self.position(points)
        return value(t, self.numerator), value(t, self.evidence)

    @cached_property
    def _reduced(self) -> tuple[Array, Array]:
        """N and E without the factors that they share at the ends of the interval."""
        top, bottom = self.numerator, self.evidence
        for end in (-1.0, 1.0):
            for _ in range(len(bottom) - 1):
                at = np.array([end])
                both = (_vanishes(value(at, top), top) & _vanishes(value(at, bottom), bottom))[:, 0]
                both &= np.abs(bottom).sum(axis=0) > 0
                if not both.any():
                    break
                top, bottom = (np.where(both, divided(c, end), c) for c in (top, bottom))
        return top, bottom

    def __call__(self, points: Array) -> Array:
        """The answer at points: subjects x points."""
        t, (above, below) = self.position(points), self._reduced
        top, bottom = value(t, above), value(t, below)
        empty = _vanishes(bottom, below)
        out = np.asarray(top / np.where(empty, 1.0, bottom))
        return self._with_limits(points, out, empty) if empty.any() else out

    def rounding(self, points: Array) -> Array:
        """By how much rounding may have moved the answer at points: subjects x points.

        Much where the evidence is far rarer than elsewhere on the interval.
        """
        above, below = self._reduced
        large, whole = (np.abs(c).sum(axis=0)[:, None] for c in (above, below))
        bottom = np.maximum(np.abs(value(self.position(points), below)), NOISE * whole)
        return np.asarray(NOISE * (large + whole) / bottom)

    def _with_limits(self, points: Array, out: Array, todo: NDArray[np.bool_]) -> Array:
        """Ratios where both vanish: of the first derivatives that do not (de l'Hopital)."""
        (top, bottom), t = self._reduced, self.position(points)
        while todo.any() and len(bottom) > 1:
            top, bottom = derivative(top), derivative(bottom)
            above, below = value(t, top), value(t, bottom)
            ready = todo & ~_vanishes(below, bottom)
            out[ready] = above[ready] / below[ready]
            todo = todo & ~ready
        if todo.any():
            raise ImpossibleEvidence("the evidence has probability 0 at every value")
        return out

    def slope(self, points: Array) -> Array:
        """dR/dp at points, equation (1): subjects x points."""
        t, scale = self.position(points), 2 / (self.high - self.low)
        above, below = self._reduced
        rise, fall = value(t, derivative(above)), value(t, derivative(below))
        bottom = value(t, below)
        return np.asarray(scale * (rise - self(points) * fall) / bottom)

    def mean(self, weights: Array | None = None) -> Curve:
        """The mean answer over subjects, which is a polynomial too when nothing is given."""
        if not self.is_polynomial:
            raise ValueError("a mean of ratios is no ratio of two polynomials")
        top = self.numerator / self.evidence
        mean = np.asarray(np.average(top, axis=1, weights=weights, keepdims=True))
        return Curve(self.low, self.high, mean, np.ones((1, 1)))

    def turning_points(self) -> Array:
        """Where the one curve's slope may vanish: a superset, ends not included."""
        top, bottom = (c[:, 0] for c in self._reduced)
        rise = cheb.chebmul(derivative(top), bottom)
        fall = cheb.chebmul(top, derivative(bottom))
        return self._roots(np.asarray(cheb.chebsub(rise, fall), dtype=float))

    def gap(self, target: float) -> tuple[Array, float]:
        """Coefficients of N - target E of the one curve, and how large its parts are.

        Its sign is that of the answer less the target.
        """
        above, below = (c[:, 0] for c in self._reduced)
        turned = -1.0 if float(value(np.array([0.0123]), below)[0]) < 0 else 1.0
        size = float(np.abs(above).sum() + target * np.abs(below).sum())
        return turned * np.asarray(cheb.chebsub(above, target * below), dtype=float), size

    def size(self, target: float, low: float, high: float) -> float:
        """How large N + target E gets on an interval, about."""
        t = self.position(np.linspace(low, high, 2 * len(self.numerator) + 1))
        above, below = (value(t, c[:, 0]) for c in self._reduced)
        return float(np.abs(above).max() + target * np.abs(below).max())

    @property
    def is_monotone(self) -> bool:
        """True when every subject's answer is proven to rise, or every one's to fall."""
        if not self.is_polynomial:
            return False
        slopes = derivative(self.numerator / self.evidence)
        reach, hair = np.abs(slopes[1:]).sum(axis=0), NOISE * np.abs(self.numerator).max()
        return bool((slopes[0] - reach >= -hair).all() or (slopes[0] + reach <= hair).all())

    def _roots(self, coefs: Array) -> Array:
        """Real roots of a polynomial within the interval, double ones once."""
        size = float(np.abs(coefs).max())
        trimmed: Array = (
            coefs[:1] if size == 0 else np.array(cheb.chebtrim(coefs, NOISE * size), float)
        )
        if len(trimmed) < 2:
            return np.empty(0)
        roots = np.asarray(cheb.chebroots(trimmed), dtype=complex)
        real = roots.real[np.abs(roots.imag) < 1e-6]
        slope = derivative(trimmed)
        for _ in range(3):  # polish: a companion matrix leaves the last digits open
            step, steep = value(real, trimmed), value(real, slope)
            flat = np.abs(steep) <= 1e-6 * np.abs(slope).sum()
            real = np.where(flat, real, real - step / np.where(flat, 1.0, steep))
        inside = np.unique(np.clip(real[np.abs(real) <= 1 + 1e-12], -1.0, 1.0))
        distinct = inside[np.diff(inside, prepend=-np.inf) > 1e-7]  # a double root splits so far
        return np.asarray((self.low + self.high) / 2 + (self.high - self.low) / 2 * distinct)


def _vanishes(values: Array, coefs: Array) -> NDArray[np.bool_]:
    """Where a series is nought but for rounding."""
    return np.asarray(np.abs(values) <= NOISE * np.abs(coefs).sum(axis=0)[:, None])
