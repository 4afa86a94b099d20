"""Quadrature: a prior as a few weighted points that give its integrals exactly.

m Gauss points integrate every polynomial of degree 2m - 1 exactly, so degree + 1 points give the
mean and the variance of a polynomial answer exactly: two points for an affine one.  They lie inside
the prior's support, so every one of them is a setting that the attack allows.

The points are the eigenvalues of the Jacobi matrix of the prior's orthogonal polynomials, which
Stieltjes' procedure finds from the prior's own fine quadrature [GolubWelsch69].
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from reidbn.attack.parameter import Parameter, Prior
from reidbn.errors import UsageError
from reidbn.inference.network import Array

FINE = 128  # points per smooth piece of a prior: enough for 100 Gauss points
MOST_LISTED = 200_000  # whole numbers; beyond, their prior is taken as continuous


@dataclass(frozen=True)
class Measure:
    """A prior as weighted points, fine enough to integrate anything met here; weights sum to 1."""

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
        middle, reach = (self.low + self.high) / 2, (self.high - self.low) / 2
        diagonal, beside = _jacobi((self.points - middle) / reach, self.weights, count)
        matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        t, vectors = np.linalg.eigh(matrix)
        return middle + reach * t, vectors[0] ** 2

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


def measure(parameter: Parameter, prior: Prior | None = None) -> Measure:
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
    points, weights = _continuous(prior, low, high)
    return Measure(points, weights / weights.sum(), low, high, prior, parameter.is_integer)


def _listed(prior: Prior, low: float, high: float) -> Measure:
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
    return Measure(points[kept], weights[kept] / weights[kept].sum(), low, high, prior, True, True)


def _continuous(prior: Prior, low: float, high: float) -> tuple[Array, Array]:
    if prior.kind == "beta":
        from scipy.special import roots_jacobi

        t, weights = roots_jacobi(FINE, (prior.b or 1) - 1, (prior.a or 1) - 1)
        return low + (high - low) * (1 + t) / 2, weights
    ends = [low, high]
    if prior.kind == "triangular" and prior.mode is not None:
        ends = sorted({low, prior.mode, high})
    t, fine = np.polynomial.legendre.leggauss(FINE)
    pieces, weights = [], []
    for left, right in pairwise(ends):
        points = left + (right - left) * (1 + t) / 2
        pieces.append(points)
        density = np.ones_like(t) if prior.kind == "uniform" else _tent(prior, low, high, points)
        weights.append((right - left) * fine * density)
    return np.concatenate(pieces), np.concatenate(weights)


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
        return f"uniform {low:g} to {high:g}, no prior given"
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
