"""How large a class of the table is in the population: the beta-binomial law and E[1/F | f].

Given a class of f among n people, the other N - n join it as draws from Polya's urn, so with
M = N - n

    F - f ~ BetaBinomial(M; f - alpha, theta + n - f + alpha).                           (1)

It follows by seating the newcomers as in [Pitman95], looking at one class only.

The law of a class's population size as an object: pmf, cdf, quantiles, means, draws.

With one pair of parameters it is the beta-binomial of `class_size`; over a grid of parameters it
is their mixture, the posterior predictive law.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv, betaln, gammaln

from reidbn.errors import UsageError
from reidbn.theory.gamma import like, log_ratio, log_thinning
from reidbn.theory.pitman import check_parameters, urn_growth
from reidbn.theory.region import Nodes

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
    return like(np.where(inside, log_p, -np.inf))


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
    return like(np.clip(answer, 1 / (f + M), 1 / f).reshape(shape))


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


# -- the law of a class's population size as an object ---------------------------------------------


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
