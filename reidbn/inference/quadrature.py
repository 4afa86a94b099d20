"""Quadrature: a prior as a few weighted points that give its integrals exactly.

m Gauss points integrate every polynomial of degree 2m - 1 exactly, so degree + 1 points give the
mean and the variance of a polynomial answer exactly: two points for an affine one.  They lie inside
the prior's support, so every one of them is a setting that the attack allows.

The points are the eigenvalues of the Jacobi matrix of the prior's orthogonal polynomials, which
Stieltjes' procedure finds from the prior's own fine quadrature [GolubWelsch69].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np

from reidbn.attack.parameter import Parameter, Prior
from reidbn.errors import UsageError
from reidbn.inference.network import Array

FINE = 128  # points per smooth piece of a prior: enough for 100 Gauss points
Range = tuple[float, float]
SUMMED = 4_096  # whole numbers; a part with fewer is a sum, a longer one nearly an integral
NO_PRIOR = ", no prior given"
MOST_LISTED = 200_000  # whole numbers; beyond, their prior is taken as continuous


@dataclass(frozen=True)
class PriorMeasure:
    """A prior as weighted points, fine enough to integrate anything met here.

    The weights sum to 1, or to the probability of a part.
    """

    points: Array
    weights: Array
    low: float
    high: float
    prior: Prior
    integer: bool = False
    is_listed: bool = False  # the points are all the values that there are

    def gauss(self, count: int) -> tuple[Array, Array]:
        """Gauss points and weights; the measure's own when it has no more points than that.

        >>> x, w = measure(Parameter("p", 0.5)).gauss(2)
        >>> [round(float(v), 6) for v in x], [round(float(v), 6) for v in w]
        ([0.211325, 0.788675], [0.5, 0.5])
        """
        if len(self.points) <= count:
            return self.points, self.weights
        mass, ends = self.weights.sum(), (self.points[0], self.points[-1])
        middle, reach = sum(ends) / 2, (ends[1] - ends[0]) / 2
        diagonal, beside = _jacobi((self.points - middle) / reach, self.weights / mass, count)
        matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        t, vectors = np.linalg.eigh(matrix)
        return middle + reach * t, mass * vectors[0] ** 2

    def part(self, low: float, high: float) -> PriorMeasure:
        """What the prior says of an interval within its range."""
        if self.is_listed:
            inside = (self.points >= low) & (self.points <= high)
            return replace(self, points=self.points[inside], weights=self.weights[inside])
        if self.integer:  # a whole number stands for all that is rounded to it
            edges = np.clip([low - 0.5, high + 0.5], self.low, self.high)
            if high - low < SUMMED:
                return self._summed(low, high)
            low, high = float(edges[0]), float(edges[1])
        points, weights = _continuous(self.prior, self.low, self.high, (low, high))
        return replace(self, points=points, weights=weights)

    def _summed(self, low: float, high: float) -> PriorMeasure:
        """Every whole number from low to high with its own share: a sum, not an integral."""
        points = np.arange(low, high + 1)
        edges = np.clip(np.append(points - 0.5, high + 0.5), self.low, self.high)
        weights = np.diff(self.prior.cumulative(edges, self.low, self.high))
        kept = weights > 0
        return replace(self, points=points[kept], weights=weights[kept])

    def draw(self, rng: np.random.Generator, count: int) -> Array:
        """Independent draws from the prior."""
        u = rng.random(count)
        if self.is_listed:
            return self.points[np.searchsorted(np.cumsum(self.weights)[:-1], u, side="right")]
        drawn = self.prior.quantile(u, self.low, self.high)
        return np.rint(drawn) if self.integer else drawn


def _jacobi(t: Array, weights: Array, count: int) -> tuple[Array, Array]:
    """Recurrence coefficients of the polynomials that are orthogonal under weighted points."""
    diagonal, beside = np.empty(count), np.empty(count - 1)
    before, now = np.zeros_like(t), np.ones_like(t)
    for k in range(count):
        diagonal[k] = np.sum(weights * t * now**2)
        if k + 1 < count:
            ahead = (t - diagonal[k]) * now - (beside[k - 1] * before if k else 0.0)
            beside[k] = np.sqrt(np.sum(weights * ahead**2))
            before, now = now, ahead / beside[k]
    return diagonal, beside


def measure(parameter: Parameter, prior: Prior | None = None) -> PriorMeasure:
    """The prior of a parameter (uniform over its range when it has none).

    A count takes the prior rounded to whole numbers, each end with a full share: uniform means
    that every whole number of the range is as likely.
    """
    prior = prior or parameter.prior or Prior("uniform")
    low, high = parameter.range
    if not low < high:
        raise UsageError(f"{parameter.name} has no range to vary over: it is {low:g} to {high:g}")
    wrong = prior.problems(low, high)
    if wrong:
        raise UsageError(f"{parameter.name}: {wrong[0]}")
    if parameter.is_integer and high - low < MOST_LISTED:
        return _listed(prior, low, high)
    points, weights = _continuous(prior, low, high, (low, high))
    return PriorMeasure(points, weights, low, high, prior, parameter.is_integer)


def _listed(prior: Prior, low: float, high: float) -> PriorMeasure:
    from scipy import stats

    points = np.arange(low, high + 1)
    left, width = low - 0.5, high - low + 1
    if prior.kind == "beta":
        shape = stats.beta(prior.a, prior.b, loc=left, scale=width)
    elif prior.kind == "triangular":
        shape = stats.triang(((prior.mode or low) - left) / width, loc=left, scale=width)
    else:
        shape = stats.uniform(left, width)
    weights = np.diff(shape.cdf(np.append(points - 0.5, points[-1] + 0.5)))
    kept = weights > 0
    return PriorMeasure(
        points[kept], weights[kept] / weights[kept].sum(), low, high, prior, True, True
    )


def _continuous(prior: Prior, low: float, high: float, part: Range) -> tuple[Array, Array]:
    """Points within a part of the range, and their weights: density times width."""
    width = high - low
    if prior.kind == "beta":
        left, right = ((x - low) / width for x in part)
        points, weights = _beta(prior.a or 1.0, prior.b or 1.0, left, right)
        return low + width * points, weights
    kinks = [prior.mode] if prior.kind == "triangular" and prior.mode is not None else []
    ends = [part[0], *(k for k in kinks if part[0] < k < part[1]), part[1]]
    t, fine = _legendre()
    pieces, weighed = [], []
    for a, b in pairwise(ends):
        points = a + (b - a) * (1 + t) / 2
        density = np.ones_like(t) if not kinks else 2 * _tent(prior, low, high, points)
        pieces.append(points)
        weighed.append((b - a) / width * fine / 2 * density)
    return np.concatenate(pieces), np.concatenate(weighed)


@cache
def _legendre() -> tuple[Array, Array]:
    points, weights = np.polynomial.legendre.leggauss(FINE)
    return points, weights


@cache
def _jacobi_points(at_1: float, at_0: float) -> tuple[Array, Array]:
    from scipy.special import roots_jacobi

    points, weights = roots_jacobi(FINE, at_1, at_0)
    return points, weights


def _beta(a: float, b: float, left: float, right: float) -> tuple[Array, Array]:
    """Points and weights of a part of the beta law; its poles at 0 and 1 go into the weights."""
    from scipy.special import betaln

    at_0, at_1 = a - 1 if left == 0 else 0.0, b - 1 if right == 1 else 0.0
    t, weights = _jacobi_points(at_1, at_0)
    half = (right - left) / 2
    points = left + half * (1 + t)
    rest = points ** (a - 1 - at_0) * (1 - points) ** (b - 1 - at_1)
    scale = np.exp((at_0 + at_1 + 1) * np.log(half) - betaln(a, b))
    return points, np.asarray(scale * weights * rest)


def _tent(prior: Prior, low: float, high: float, points: Array) -> Array:
    mode = prior.mode if prior.mode is not None else low
    rising = (points - low) / (mode - low) if mode > low else np.ones_like(points)
    falling = (high - points) / (high - mode) if mode < high else np.ones_like(points)
    return np.asarray(np.where(points < mode, rising, falling))


def prior_text(parameter: Parameter) -> str:
    """A prior in words.

    >>> prior_text(Parameter("p", 0.5))
    'uniform 0 to 1, no prior given'
    """
    low, high = parameter.range
    prior = parameter.prior
    if prior is None:
        return f"uniform {low:g} to {high:g}{NO_PRIOR}"
    shape = {"beta": f"({prior.a:g}, {prior.b:g})" if prior.a and prior.b else "",
             "triangular": f" around {prior.mode:g}" if prior.mode is not None else ""}  # fmt: skip
    return f"{prior.kind}{shape.get(prior.kind, '')} {low:g} to {high:g}"


def lagrange(points: Array, at: Array) -> Array:
    """The matrix that takes values at `points` to the interpolating polynomial's values at `at`."""
    scale = 4 / (points.max() - points.min()) if len(points) > 1 else 1.0
    gaps = (points[:, None] - points[None, :]) * scale
    np.fill_diagonal(gaps, 1.0)
    weights = 1 / gaps.prod(axis=1)
    away = np.asarray(at)[:, None] - points[None, :]
    hit = away == 0
    terms = weights / np.where(hit, 1.0, away)
    out = terms / terms.sum(axis=1, keepdims=True)
    rows = hit.any(axis=1)
    out[rows] = hit[rows]
    return np.asarray(out)
