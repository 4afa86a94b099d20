"""The law of a class's population size as an object: pmf, cdf, quantiles, means, draws.

With one pair of parameters it is the beta-binomial of `class_size`; over a grid of parameters it
is their mixture, the posterior predictive law.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv, betaln

from reidbn.errors import UsageError
from reidbn.theory.class_size import log_class_size_pmf, mean_inverse
from reidbn.theory.gamma import log_thinning
from reidbn.theory.pitman import urn_growth
from reidbn.theory.posterior import Nodes

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

_SUMMED = 160  # newcomers up to here are summed one by one
_X, _W = np.polynomial.legendre.leggauss(96)
_NEGLIGIBLE = 1e-17


@dataclass(frozen=True, eq=False)
class ClassSizePosterior:
    """The distribution of F, the population size of a class of f in the table.

    >>> law = ClassSizePosterior(1, 5, 12, Nodes.single(0.5, 0.25))
    >>> round(law.mean_inverse, 6), round(law.p_equal, 6), law.quantile(0.5)
    (0.694618, 0.501212, 1)
    """

    f: int
    n: int
    N: int
    nodes: Nodes

    def __post_init__(self) -> None:
        if not 1 <= self.f <= self.n <= self.N:
            raise UsageError(
                f"a class of {self.f} among n={self.n} of N={self.N}; need 1 <= class <= n <= N"
            )

    @property
    def newcomers(self) -> int:
        return self.N - self.n

    @property
    def support(self) -> tuple[int, int]:
        """Smallest and largest possible size."""
        return self.f, self.f + self.newcomers

    @cached_property
    def mean(self) -> float:
        """E[F | f] = f + (N - n)(f - alpha)/(theta + n)."""
        share = (self.f - self.nodes.alpha) / (self.nodes.theta + self.n)
        return self.f + self.newcomers * self.nodes.mean(share)

    @cached_property
    def mean_inverse(self) -> float:
        """E[1/F | f], exactly: the journalist's chance on such a record."""
        theta, alpha = self.nodes.theta, self.nodes.alpha
        return self.nodes.mean(mean_inverse(self.f, self.n, self.N, theta=theta, alpha=alpha))

    @cached_property
    def p_equal(self) -> float:
        """P(F = f): nobody else in the population is alike."""
        total, loss = self.nodes.theta + self.n, self.f - self.nodes.alpha
        return self.nodes.mean(np.exp(log_thinning(total, float(self.newcomers), loss)))

    def pmf(self, size: ArrayLike) -> Floats:
        """P(F = size), pointwise."""
        F = np.asarray(size, dtype=np.float64)[..., None]
        theta, alpha = self.nodes.theta, self.nodes.alpha
        log_p = log_class_size_pmf(F, self.f, self.n, self.N, theta=theta, alpha=alpha)
        return np.asarray(np.exp(log_p) @ self.nodes.weight)

    def cdf(self, size: ArrayLike) -> Floats:
        """P(F <= size), pointwise."""
        asked = np.floor(np.asarray(size, dtype=np.float64)) - self.f
        joined = np.clip(asked, 0, self.newcomers).astype(np.int64).ravel()
        values, place = np.unique(joined, return_inverse=True)
        answer = np.array([self._cdf_of(int(k)) for k in values])[place].reshape(asked.shape)
        return np.where(asked < 0, 0.0, np.where(asked >= self.newcomers, 1.0, answer))

    def quantile(self, q: float) -> int:
        """Smallest size with at least q of the probability at or below it."""
        if not 0 <= q <= 1:
            raise UsageError(f"q={q:g} is not a probability; need 0 <= q <= 1")
        low, high = -1, min(self.newcomers, 1)
        while high < self.newcomers and self._cdf_of(high) < q:
            low, high = high, min(2 * high, self.newcomers)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._cdf_of(middle) >= q else (middle, high)
        return self.f + high

    def interval(self, level: float = 0.95) -> tuple[int, int]:
        """Sizes between which F lies with the given probability."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def bins(self, *, longest: int = 64, growth: float = 1.25) -> list[tuple[int, int, float]]:
        """Sizes in bins (smallest, largest, probability), which add up to one.

        Every size on its own for the first `longest`, then bins that grow by `growth` to the end
        of the support, so that a population of 1e10 makes a few score of rows.
        """
        first, last = self.support
        starts = list(range(first, min(first + longest, last + 1)))
        step = 1.0
        while starts[-1] + int(step) <= last:
            starts.append(starts[-1] + int(step))
            step = max(1.0, (starts[-1] - first) * (growth - 1))
        upto = self.cdf([start - 1 for start in starts[1:]] + [last])
        mass = np.diff(upto, prepend=0.0)
        ends = [start - 1 for start in starts[1:]] + [last]
        return [(a, b, float(p)) for a, b, p in zip(starts, ends, mass, strict=True)]

    def sample(self, rng: np.random.Generator, count: int) -> Ints:
        """Draw population sizes by the urn."""
        chosen = rng.choice(self.nodes.weight.size, size=count, p=self.nodes.weight)
        theta, alpha = self.nodes.theta[chosen], self.nodes.alpha[chosen]
        return urn_growth(rng, self.f, self.n, self.N, theta=theta, alpha=alpha)

    @cached_property
    def _first(self) -> Floats:
        """The cdf of the first few newcomers, summed."""
        few = min(self.newcomers, _SUMMED)
        return np.cumsum(self.pmf(self.f + np.arange(few + 1)))

    @cached_property
    def _last(self) -> Floats:
        """One less the cdf, of the last few newcomers, summed."""
        few = min(self.newcomers, _SUMMED)
        return np.cumsum(self.pmf(self.f + self.newcomers - np.arange(few)))

    def _cdf_of(self, joined: int) -> float:
        if joined >= self.newcomers:
            return 1.0
        if joined < self._first.size:
            return float(min(self._first[joined], 1.0))
        left = self.newcomers - joined
        if left <= self._last.size:
            return float(max(1 - self._last[left - 1], 0.0))
        return self._by_quadrature(joined)

    def _by_quadrature(self, k: int) -> float:
        """P(K <= k) = int g(p) P(Binomial(M, p) <= k) dp, g the (mixture of) Beta densities.

        The binomial's step is nearly sharp at p = k/M: below it all of g counts, above none, and
        only the step itself, where g has any weight, is integrated by Gauss's rule.
        """
        M, (a, b) = self.newcomers, self._shapes
        centre, width = (k + 0.5) / M, 9 * np.sqrt((k + 1.0) * (M - k)) / M**1.5
        low = max(centre - width, 0.0)
        start, end = max(low, self._reach[0]), min(centre + width, 1.0, self._reach[1])
        whole = self.nodes.mean(betainc(a, b, min(max(low, 0.0), 1.0)))
        if end <= start:
            return float(min(whole, 1.0))
        half = (end - start) / 2
        p = start + half * (_X[:, None] + 1)
        density = np.exp((a - 1) * np.log(p) + (b - 1) * np.log1p(-p) - self._log_beta)
        step = betainc(float(M - k), k + 1.0, 1 - p[:, 0])
        inside = half * (_W * step) @ (density @ self.nodes.weight)
        return float(np.clip(whole + inside, 0.0, 1.0))

    @cached_property
    def _shapes(self) -> tuple[Floats, Floats]:
        a = self.f - self.nodes.alpha
        return a, self.nodes.theta + self.n - a

    @cached_property
    def _log_beta(self) -> Floats:
        return np.asarray(betaln(*self._shapes), dtype=np.float64)

    @cached_property
    def _reach(self) -> tuple[float, float]:
        """Shares outside which no component has any weight."""
        a, b = self._shapes
        low = float(betaincinv(a, b, _NEGLIGIBLE).min())
        return low, float(1 - betaincinv(b, a, _NEGLIGIBLE).min())
