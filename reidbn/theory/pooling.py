"""Studies with counts as what is believed of a chance in a new setting.

One study of h hits in T trials leaves the beta law with shapes h + 1/2 and T - h + 1/2, Jeffreys'
prior brought up to date.  Several studies differ by more than chance: study i has a chance p_i of
its own,

    p_i ~ Beta(m k, (1 - m) k),    h_i ~ Binomial(T_i, p_i),    m ~ Beta(1/2, 1/2)              (1)

and the sd of the log odds between studies, s^2 = psi'(m k) + psi'((1 - m) k), has a half-normal
prior of a stated scale.  With the p_i integrated out each study counts with its beta-binomial,

    C(T, h) B(h + m k, T - h + (1 - m) k) / B(m k, (1 - m) k)                                   (2)

m and s are integrated over a grid, once.  A new setting has a chance of its own, too: its law is
the mixture of Beta(m k, (1 - m) k) over what is left of m and s, and not that of m.  The
density of thousands of beta laws is smooth in log odds: shares and points come from pieces of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.theory.gamma import log_ratio

Array = NDArray[np.float64]
SDS = 48  # points for the sd between studies ...
MEANS = 48  # ... and at least for the mean, at each of them
FINE = 1 / 40  # of how far the mean is known: an sd between studies that is as good as none
INNER = 16  # points for a chance, at each of both: exact to degree 31
REACH = 8.5  # scales: beyond lies 2e-17 of a half-normal law
STEPS = 9  # of Newton, to the last digits, ...
SETTLED = 1e-8  # ... after a step in logs so short: the next one would be its square
DEPTH = 30.0  # logs below the peak, where a point no longer counts
LEAST = 1e-10  # weight, likewise
ENDS = -40.0, 36.0  # log odds: numbers beyond are as good as 0 and 1
PIECE, PARTS = 0.5, 64  # of log odds, and of the middles of all parts: pieces of a density at first
NODES = 16  # on each piece ...
CLOSE = 1e-13  # ... that is halved until its share of the law is told to this ...
HALVED = 10  # ... or so often
MOST_PIECED = 1 << 14  # parts: more are so narrow that pieces of them would be too many
THIN = 0.01  # log odds: parts as narrow need half the points for their 16 digits
STRETCHES = 256  # of log odds, on each of which few points stand for all
BLOCK = 16  # points at once, for which narrow parts are left out ...
NARROW, FAR = 200, 20.0  # ... whose shapes are larger and which lie so many sds away


@dataclass(frozen=True)
class BetaMixture:
    """A mixture of beta laws, by weight."""

    a: Array
    b: Array
    weights: Array

    @cached_property
    def mean(self) -> float:
        return float(self.weights @ (self.a / (self.a + self.b)))

    @cached_property
    def sd(self) -> float:
        n = self.a + self.b
        second = self.a * (self.a + 1) / (n * (n + 1))
        return float(np.sqrt(max(float(self.weights @ second) - self.mean**2, 0.0)))

    def cumulative(self, x: ArrayLike) -> Array:
        """The probability of lying at or under each point."""
        from scipy.special import logit

        points: Array = np.atleast_1d(np.asarray(x, dtype=float))
        if not self._is_pieced:
            return self._below(points)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.asarray(logit(points))
        inside = (t > ENDS[0]) & (t < ENDS[1])
        found = np.empty_like(t)
        found[inside] = self._pieces.below(t[inside])
        found[~inside] = self._below(points[~inside])
        return found

    @property
    def _is_pieced(self) -> bool:
        return 1 < len(self.a) <= MOST_PIECED

    def _below(self, points: Array) -> Array:
        """Added up over the parts, which takes long where both are many."""
        from scipy.special import betainc, logit

        low, high = self._ends
        with np.errstate(divide="ignore", invalid="ignore"):
            odds, found = np.asarray(logit(points)), np.empty(len(points))
        for i, (t, one) in enumerate(zip(odds, points, strict=True)):
            near = (low <= t) & (high >= t) | np.isinf(t)
            shares = self.weights[near] @ betainc(self.a[near], self.b[near], one)
            found[i] = shares + self.weights[(high < t) & ~near].sum()
        return found

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        """The log odds between which a part lies; all there are, where it is not narrow."""
        middles, widths = np.log(self.a) - np.log(self.b), np.sqrt(1 / self.a + 1 / self.b)
        reach = np.where(np.minimum(self.a, self.b) > NARROW, FAR * widths, np.inf)
        return middles - reach, middles + reach

    @cached_property
    def _pieces(self) -> Pieces:
        """The density between the ends, on pieces so short that their nodes tell it."""
        middles = np.log(self.a) - np.log(self.b)
        order = np.argsort(middles)
        levels = np.searchsorted(np.cumsum(self.weights[order]), np.linspace(0, 1, PARTS))
        marks = middles[order][np.minimum(levels, len(order) - 1)]
        count = round((ENDS[1] - ENDS[0]) / PIECE)
        even, between = np.linspace(*ENDS, count + 1), np.clip(marks, *ENDS).round(6)
        edges = np.unique(np.append(even, between))
        start = float(self._below(np.exp(ENDS[:1]))[0])
        sizes = self.a * np.log1p(self.b / self.a) + self.b * np.log1p(self.a / self.b)
        rounding = float(np.finfo(float).eps * (self.weights @ sizes))
        return Pieces.of(self.log_density, edges, start, rounding)

    marks: ClassVar[Array] = np.empty(0)  # where the density is not smooth

    def log_density(self, t: Array) -> Array:
        """Of the log odds."""
        from scipy.special import gammaln

        odds = np.asarray(t, dtype=float)
        small, large = np.minimum(self.a, self.b), np.maximum(self.a, self.b)
        scale = gammaln(small) - log_ratio(large, small)  # betaln is 1e-8 off at (31, 1e7)
        known = np.stack([-self.a, -self.b, np.log(self.weights) - scale], axis=1)
        low, high = self._ends
        found, order = np.empty(len(odds)), np.argsort(odds)
        for here in np.array_split(order, max(1, -(-len(order) // BLOCK))):
            at = odds[here]
            near = (low <= at[-1]) & (high >= at[0]) if len(at) else []
            some = known[near] if np.any(near) else known
            logs = some @ np.stack([np.logaddexp(0, -at), np.logaddexp(0, at), np.ones_like(at)])
            top = logs.max(axis=0)
            found[here] = top + np.log(np.exp(logs - top).sum(axis=0))
        return found

    @cached_property
    def points(self) -> tuple[Array, Array]:
        """Points and weights that integrate smooth functions over the law."""
        if self._is_pieced:
            return self._pieces.points
        if len(self.a) == 1:
            return gauss_beta(self.a, self.b, 4 * INNER, self.weights)
        narrow = np.sqrt(1 / self.a + 1 / self.b) < THIN
        x, weights = (np.concatenate(some) for some in zip(*(
            gauss_beta(self.a[here], self.b[here], count, self.weights[here])
            for here, count in ((narrow, INNER // 2), (~narrow, INNER)) if here.any()
        ), strict=True))  # fmt: skip
        return _fewer(x, weights)


@dataclass(frozen=True)
class Pieces:
    """A density in log odds on pieces, and what lies below the first."""

    edges: Array
    density: Array  # pieces x nodes
    start: float

    @classmethod
    def of(cls, log_density: Callable[[Array], Array], edges: Array, start: float,
           rounding: float) -> Pieces:  # fmt: skip
        """Pieces are halved until the halves' nodes find what the whole's nodes foretell.

        What a density is rounded by, relative to it, is no reason to go on.
        """
        u, shares = _nodes()
        ahead = _interpolating(np.concatenate([(u - 1) / 2, (u + 1) / 2]))
        ends, found = np.stack([edges[:-1], edges[1:]], axis=1), []
        values = _density(log_density, ends)
        for _ in range(HALVED):
            middle = ends.mean(axis=1)
            halves = np.stack([ends[:, 0], middle, middle, ends[:, 1]], axis=1).reshape(-1, 2)
            finer = _density(log_density, halves)
            finest = finer.reshape(len(ends), -1)
            off = np.abs(finest - values @ ahead.T) - 4 * rounding * finest
            open_ = np.repeat(off @ np.tile(shares, 2) * np.diff(ends)[:, 0] / 4 > CLOSE, 2)
            found.append((halves[~open_], finer[~open_]))
            ends, values = halves[open_], finer[open_]
            if not len(ends):
                break
        all_ends, density = (np.concatenate(part) for part in
                             zip(*found, (ends, values), strict=True))  # fmt: skip
        order = np.argsort(all_ends[:, 0])
        return cls(np.append(all_ends[order, 0], edges[-1]), density[order], start)

    @cached_property
    def _sums(self) -> Array:
        """What lies below every edge."""
        shares = self.density @ _nodes()[1] * np.diff(self.edges) / 2
        return self.start + np.append(0.0, np.cumsum(shares))

    def below(self, t: Array) -> Array:
        """The probability of lying under log odds between the first edge and the last."""
        i = np.searchsorted(self.edges, t, side="right") - 1
        width = np.diff(self.edges)[i]
        u, shares = _nodes()
        reach = 2 * (t - self.edges[i]) / width  # of -1 .. 1, on which the nodes are
        at = -1 + reach[:, None] * (1 + u) / 2
        part = _interpolating(at.ravel()).reshape(*at.shape, NODES) @ self.density[i][:, :, None]
        found = self._sums[i] + part[..., 0] @ shares * reach / 2 * width / 2
        return np.clip(found, 0.0, 1.0)

    @property
    def points(self) -> tuple[Array, Array]:
        """The nodes as numbers between 0 and 1, and their weights; what is beyond is at ends."""
        u, shares = _nodes()
        half = np.diff(self.edges)[:, None] / 2
        t = np.concatenate([ENDS[:1], (self.edges[:-1, None] + half * (1 + u)).ravel(), ENDS[1:]])
        inner = (half * self.density * shares).ravel()
        weights = np.concatenate([[self.start], inner, [max(1 - self._sums[-1], 0.0)]])
        kept = weights > 0
        return 1 / (1 + np.exp(-t[kept])), weights[kept] / weights[kept].sum()


@cache
def _nodes() -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(NODES)


def _fewer(x: Array, weights: Array) -> tuple[Array, Array]:
    """Few points that integrate on each short stretch what so many do: exact to degree 2 NODES - 1,
    by the Jacobi matrix of what stands there [GolubWelsch69].
    """
    from scipy.linalg import eigh_tridiagonal
    from scipy.special import logit

    order = np.argsort(x)
    x, weights = x[order], weights[order]
    t = np.clip(logit(x), *ENDS)
    place = np.floor((t - t[0]) / (t[-1] - t[0]) * STRETCHES)
    edges = [0, *(np.flatnonzero(np.diff(place)) + 1).tolist(), len(x)]
    found = []
    for start, stop in pairwise(edges):
        at, w = x[start:stop], weights[start:stop]
        whole, low, width = w.sum(), at[0], at[-1] - at[0]
        if len(at) > NODES and whole > 0 and width > 0:
            u, vectors = eigh_tridiagonal(*jacobi(2 * (at - low) / width - 1, w / whole, NODES))
            at, w = low + width * (1 + u) / 2, whole * vectors[0] ** 2
        found.append((at, w))
    return np.concatenate([at for at, _ in found]), np.concatenate([w for _, w in found])


def jacobi(t: Array, weights: Array, count: int) -> tuple[Array, Array]:
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


def _density(log_density: Callable[[Array], Array], ends: Array) -> Array:
    """At the nodes of every piece."""
    half = np.diff(ends) / 2
    return np.exp(log_density((ends[:, :1] + half * (1 + _nodes()[0])).ravel())).reshape(-1, NODES)


def _interpolating(u: Array) -> Array:
    """The matrix that takes values at the nodes to those of their polynomial at other points."""
    at = np.polynomial.legendre.legvander(u, NODES - 1)
    nodes, shares = _nodes()
    back = np.polynomial.legendre.legvander(nodes, NODES - 1) * shares[:, None]
    return np.asarray(at * (np.arange(NODES) + 0.5) @ back.T)


def beta(a: float, b: float) -> BetaMixture:
    return BetaMixture(np.array([a]), np.array([b]), np.ones(1))


def pooled(hits: ArrayLike, trials: ArrayLike, *, scale: float) -> BetaMixture:
    """The law of the chance in a new setting, after several studies, equations (1) and (2).

    >>> law = pooled([12, 30, 5], [100, 120, 80], scale=0.5)
    >>> round(law.mean, 4), [round(float(x), 3) for x in law.cumulative([0.05, 0.5])]
    (0.1632, [0.07, 0.989])
    """
    h, t = (np.asarray(x, dtype=float) for x in (hits, trials))
    least = min(scale / 8, FINE * _sd_of_the_mean(h, t))
    u, weights = np.polynomial.legendre.leggauss(SDS)
    rest_of = (REACH * scale - least) / 2
    sds = np.append(least, least + rest_of * (1 + u))  # the first for all that are smaller
    log_prior = np.log(np.append(least, rest_of * weights)) - (sds / scale) ** 2 / 2
    grids = [
        _means(h, t, sd, log) for sd, log in zip(sds.tolist(), log_prior.tolist(), strict=True)
    ]
    m, rest, k, logs = (np.concatenate(part) for part in zip(*grids, strict=True))
    found = np.exp(logs - logs.max())
    kept = found > LEAST
    m, rest, k, found = m[kept], rest[kept], k[kept], found[kept]
    return BetaMixture(m * k, rest * k, found / found.sum())


def _sd_of_the_mean(h: Array, t: Array) -> float:
    """About how far the log odds of m are known, were the studies alike."""
    a, b = h.sum() + 0.5, (t - h).sum() + 0.5
    return float(np.sqrt(1 / a + 1 / b))


def _means(h: Array, t: Array, sd: float, log_prior: float) -> tuple[Array, ...]:
    """m, 1 - m, k and the logs of their weights on even log odds of m, at one sd.

    Steps as short as the sd keep the beta laws from standing apart like the teeth of a comb.
    """
    low, high = -80.0, 80.0
    for count in (81, 41, 41):  # closer and closer around the peak
        x = np.linspace(low, high, count)
        logs = _log_posterior(x, sd, h, t)[1]
        inside = np.flatnonzero(logs > logs.max() - DEPTH)
        low, high = x[max(inside[0] - 1, 0)], x[min(inside[-1] + 1, count - 1)]
    step = min(sd, (high - low) / MEANS)
    x = np.linspace(low, high, int(np.ceil((high - low) / step)) + 1)
    k, logs = _log_posterior(x, sd, h, t)
    m, rest = np.exp(-np.logaddexp(0, -x)), np.exp(-np.logaddexp(0, x))
    return m, rest, k, logs + np.log(x[1] - x[0]) + log_prior


def _log_posterior(x: Array, sd: float, h: Array, t: Array) -> tuple[Array, Array]:
    """Values of k, and the log of (2) over all studies times the prior of m, at log odds x of m."""
    log_m, log_rest = -np.logaddexp(0, -x), -np.logaddexp(0, x)
    m, rest = np.exp(log_m), np.exp(log_rest)
    k = _concentration(m, rest, sd)
    a, b = m * k, rest * k
    logs = (log_m + log_rest) / 2  # Beta(1/2, 1/2) in log odds
    for hits, trials in zip(h.tolist(), t.tolist(), strict=True):
        logs = logs + _rising(a, hits) + _rising(b, trials - hits) - _rising(k, trials)
    return k, logs


def _rising(a: Array, n: float) -> Array:
    """Log of Gamma(a + n) / Gamma(a), with its digits where a is large."""
    return np.asarray(log_ratio(a, np.full_like(a, n)), dtype=float)


def _concentration(m: Array, rest: Array, sd: float) -> Array:
    """The k at which log odds differ by this sd: psi'(m k) + psi'((1 - m) k) falls in k.

    Newton's steps in logs, where the fall is between 1 and 2 and close to straight.
    """
    from scipy.special import polygamma

    log_k = np.log1p(1 / sd**2) - np.log(np.minimum(m, rest)) * min(1.0, 2 / (1 + sd))
    for _ in range(STEPS):
        k = np.exp(log_k)
        spread = polygamma(1, m * k) + polygamma(1, rest * k)
        fall = -(m * polygamma(2, m * k) + rest * polygamma(2, rest * k)) * k / spread
        step = (np.log(spread) - 2 * np.log(sd)) / fall
        log_k = log_k + step
        if np.abs(step).max() < SETTLED:
            break
    return np.asarray(np.exp(log_k))


def gauss_beta(a: Array, b: Array, count: int, shares: Array) -> tuple[Array, Array]:
    """Gauss points of every beta law at once, from its Jacobi matrix [GolubWelsch69]."""
    n = np.arange(count)[:, None]
    c = 2 * n + a + b
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = (n * (n + a + b - 1) * 2 + a * (a + b - 2)) / (c * (c - 2))
        middle = np.where(n == 0, a / (a + b), middle)
        square = n * (n + a - 1) * (n + b - 1) * (n + a + b - 2)
        beside = square / ((c - 1) * (c - 2) ** 2 * (c - 3))
        first = a * b / ((a + b) ** 2 * (a + b + 1))
        beside = np.where(n == 1, first, beside)
    if len(a) == 1:
        from scipy.linalg import eigh_tridiagonal

        x, vectors = eigh_tridiagonal(middle[:, 0], np.sqrt(beside[1:, 0]))
        return np.clip(x, 0.0, 1.0), shares[0] * vectors[0] ** 2
    matrix = np.zeros((len(a), count, count))
    here = np.arange(count)
    matrix[:, here, here] = middle.T
    matrix[:, here[1:], here[:-1]] = matrix[:, here[:-1], here[1:]] = np.sqrt(beside[1:].T)
    x, vectors = np.linalg.eigh(matrix)
    weights = shares[:, None] * vectors[:, 0, :] ** 2
    order = np.argsort(x, axis=None)
    return np.clip(x.ravel()[order], 0.0, 1.0), weights.ravel()[order]
