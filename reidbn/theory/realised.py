"""The number of population uniques there will turn out to be, as against its expectation.

Its factorial moments given the table are exact (`pitman.factorial_moments_given`); the law
between them is taken from the family with two of them that fits: negative binomial where the
variance exceeds the mean, binomial where it falls short, Poisson between.  Over a grid of
parameters the laws are mixed, so that parameter uncertainty is in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaincc, ndtr

from reidbn.theory.gamma import log_thinning
from reidbn.theory.pitman import factorial_moments_given
from reidbn.theory.region import Nodes

Floats: TypeAlias = NDArray[np.float64]

_EVEN = 0.1  # skewness below it: Edgeworth's normal form, within 1e-4 of the law
_POISSON = 1e-7  # relative gap between variance and mean below which they count as equal


@dataclass(frozen=True, eq=False)
class Realised:
    """A mixture of laws of a count: the predictive distribution of the number of uniques."""

    mean_at: Floats
    variance_at: Floats
    weight: Floats
    lowest: int
    highest: int

    @classmethod
    def of(cls, n: int, N: int, uniques: int, classes: int, nodes: Nodes) -> Realised:
        """The predictive law given a table of n people with f_1 uniques and u classes."""
        m1, m2 = factorial_moments_given(
            n, N, uniques=uniques, classes=classes, theta=nodes.theta, alpha=nodes.alpha
        )
        new = N - n
        return cls(
            mean_at=m1,
            variance_at=np.maximum(m2 + m1 - m1 * m1, 0.0),
            weight=nodes.weight,
            lowest=max(0, uniques - new),
            highest=uniques + new,
        )

    @classmethod
    def of_table(cls, n: int, N: int, uniques: int, nodes: Nodes) -> Realised:
        """The law of how many of the table's f_1 uniques stay unique."""
        at = [
            np.exp(log_thinning(nodes.theta + n, float(N - n), k * (1 - nodes.alpha)))
            if uniques >= k
            else np.zeros(nodes.weight.size)
            for k in (1, 2)
        ]
        m1, m2 = uniques * at[0], uniques * (uniques - 1) * at[1]
        return cls(
            mean_at=m1,
            variance_at=np.maximum(m2 + m1 - m1 * m1, 0.0),
            weight=nodes.weight,
            lowest=max(0, uniques - (N - n)),
            highest=uniques,
        )

    @property
    def mean(self) -> float:
        return float(self.weight @ self.mean_at)

    @property
    def variance(self) -> float:
        spread = self.variance_at + (self.mean_at - self.mean) ** 2
        return float(self.weight @ spread)

    def cdf(self, count: float) -> float:
        """P(at most `count` uniques)."""
        if count < self.lowest:
            return 0.0
        if count >= self.highest:
            return 1.0
        s = float(np.floor(count))
        below = _lattice_cdf(s, self.mean_at, self.variance_at)
        mirrored = self._mirrored
        if mirrored.any():
            lost, variance = self.highest - self.mean_at[mirrored], self.variance_at[mirrored]
            below[mirrored] = 1 - _lattice_cdf(self.highest - s - 1, lost, variance)
        return float(self.weight @ below)

    @cached_property
    def _mirrored(self) -> NDArray[np.bool_]:
        """Laws narrower than Poisson near the highest count: there the lost ones are counted."""
        lost = self.highest - self.mean_at
        return (self.variance_at < self.mean_at) & (lost < self.mean_at)

    def quantile(self, q: float) -> int:
        """Smallest count with at least q of the probability at or below it."""
        low, high = self.lowest - 1, self.highest
        start = _bisect(self._roughly, q, low, high)
        step = max(1, abs(start) // 100)
        while start - step > low and self.cdf(start - step) >= q:
            high, start, step = start - step, start - step, 2 * step
        low = max(low, start - step)
        start, step = max(start, low + 1), max(1, abs(start) // 100)
        while start + step < high and self.cdf(start + step) < q:
            low, start, step = start + step, start + step, 2 * step
        return _bisect(self.cdf, q, low, min(high, start + step))

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        """Draws of the count; laws narrower than Poisson are drawn as rounded normals."""
        chosen = rng.choice(self.weight.size, size=count, p=self.weight)
        mirrored, variance = self._mirrored[chosen], self.variance_at[chosen]
        mean = self.mean_at[chosen]
        mean = np.where(mirrored, self.highest - mean, mean)
        drawn = np.rint(rng.normal(mean, np.sqrt(variance)))
        over = (variance > mean * (1 + _POISSON)) & (mean > 0)
        shape = mean[over] ** 2 / (variance[over] - mean[over])
        drawn[over] = rng.poisson(rng.gamma(shape, mean[over] / shape))
        drawn = np.where(mirrored, self.highest - drawn, drawn)
        return np.clip(drawn, self.lowest, self.highest)

    def _roughly(self, count: float) -> float:
        """The cdf by normal laws throughout: quick, and near enough to start from."""
        variance = np.maximum(self.variance_at, 1e-300)
        return float(self.weight @ ndtr((count + 0.5 - self.mean_at) / np.sqrt(variance)))


def _bisect(cdf: Callable[[float], float], q: float, low: int, high: int) -> int:
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if cdf(middle) >= q else (middle, high)
    return high


def _lattice_cdf(s: float, mean: Floats, variance: Floats) -> Floats:
    mean = np.maximum(mean, 1e-300)
    wide = abs(2 * variance / mean - 1) < _EVEN * np.sqrt(variance)
    answer = np.empty(mean.shape)
    answer[wide] = _normal_cdf(s, mean[wide], variance[wide])
    if not wide.all():
        answer[~wide] = _counting_cdf(s, mean[~wide], variance[~wide])
    return answer


def _normal_cdf(s: float, mean: Floats, variance: Floats) -> Floats:
    """Edgeworth's form of the same law; its skewness is (2 variance/mean - 1)/deviation."""
    deviation = np.sqrt(variance)
    z = (s + 0.5 - mean) / deviation
    skewness = (2 * variance / mean - 1) / deviation
    tilt = skewness / 6 * (z * z - 1) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    return np.asarray(np.clip(ndtr(z) - tilt, 0.0, 1.0), dtype=np.float64)


def _counting_cdf(s: float, mean: Floats, variance: Floats) -> Floats:
    gap = variance / mean - 1
    answer = gammaincc(s + 1, mean)
    over, under = gap > _POISSON, gap < -_POISSON
    if over.any():
        m, p = mean[over], 1 / (1 + gap[over])
        answer[over] = betainc(m * p / (1 - p), s + 1, p)
    if under.any():
        m, p = mean[under], -gap[under]
        trials = m / p
        inside = trials > s
        q = betainc(np.where(inside, trials - s, 1.0), s + 1, 1 - p)
        answer[under] = np.where(inside, q, 1.0)
    return np.asarray(answer, dtype=np.float64)
