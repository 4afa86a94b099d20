"""What experts said of a number, as quantiles, pooled to one law.

An expert who gives quantiles x_j at levels u_j says nothing of what lies between and beyond.  Here
the normal score of the level is taken as a straight line in the log odds of the number within its
ends, from quantile to quantile, and on as it was beyond the outermost two,

    F(x) = Phi(g(t)),    t = ln((x - low) / (high - x)),    g(t_j) = Phi^-1(u_j)                (1)

so that every quantile is met, tails are those of a log-normal where x is small, and nothing lies
outside the ends.  Two quantiles make a logit-normal law.  A pool of experts is

    linear        sum_i w_i f_i                the law of an expert drawn at random
    logarithmic   prod_i f_i ^ w_i, scaled     where experts agree; tighter than each
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
NODES = 12  # Gauss points on every stretch ...
STRETCH = 0.5  # ... of at most so many normal scores of some expert
REACH = 8.2  # normal scores: beyond lie 2e-16
DROP = 37.0  # of a log density: so far below its peak lie as few
FEWEST = 8  # stretches of what falls by that
LINEAR, LOGARITHMIC = "linear", "logarithmic"


@dataclass(frozen=True)
class Opinion:
    """What one expert said, as lines from log odds to normal scores, and a weight in the pool."""

    t: Array
    z: Array
    weight: float

    @cached_property
    def slopes(self) -> Array:
        return np.diff(self.z) / np.diff(self.t)

    def _piece(self, t: Array) -> NDArray[np.intp]:
        return np.searchsorted(self.t[1:-1], t)

    def score(self, t: Array) -> Array:
        i = self._piece(t)
        return np.asarray(self.z[i] + self.slopes[i] * (t - self.t[i]))

    def log_density(self, t: Array) -> Array:
        """Of the log odds."""
        z = self.score(t)
        return np.asarray(np.log(self.slopes[self._piece(t)]) - z**2 / 2 - np.log(2 * np.pi) / 2)

    def at(self, z: float) -> float:
        """The log odds of a normal score."""
        i = int(np.searchsorted(self.z[1:-1], z))
        return float(self.t[i] + (z - self.z[i]) / self.slopes[i])


@dataclass(frozen=True)
class Pool:
    """The pooled law of some experts between two ends."""

    experts: tuple[Opinion, ...]
    low: float
    high: float
    kind: str = LINEAR

    @cached_property
    def marks(self) -> Array:
        """Stretches of log odds on which every density is smooth and no law changes much."""
        # One who is heard by a share w bends the log of a logarithmic pool by w as much.
        heard = [e.weight if self.kind == LOGARITHMIC else 1.0 for e in self.experts]
        reach = REACH / np.sqrt(heard)
        span = [(e.at(-r), e.at(r)) for e, r in zip(self.experts, reach.tolist(), strict=True)]
        marks = {t for e in self.experts for t in e.t.tolist()} | {t for ends in span for t in ends}
        knots = sorted(marks)
        if self.kind == LOGARITHMIC:
            return np.unique(np.concatenate([self._around_peak(*ends) for ends in pairwise(knots)]))
        found: list[float] = []
        for left, right in pairwise(knots):
            # No expert matters where he holds nothing.
            holding = [
                e for e, (first, last) in zip(self.experts, span, strict=True)
                if first < right and left < last
            ]  # fmt: skip
            middle = np.array((left + right) / 2)
            steepest = max((float(e.slopes[e._piece(middle)]) for e in holding), default=0.0)
            count = max(1, int(np.ceil((right - left) * steepest / STRETCH)))
            found += np.linspace(left, right, count + 1)[:-1].tolist()
        return np.array([*found, knots[-1]])

    def _around_peak(self, left: float, right: float) -> Array:
        """Stretches of a logarithmic pool between two knots, where its log is a parabola.

        However steep it is, and wherever its peak lies, all but e^-DROP of it is cut finely.
        """
        middle = np.array((left + right) / 2)
        slopes = np.array([e.slopes[e._piece(middle)] for e in self.experts])
        scores = np.array([e.score(middle) for e in self.experts])
        shares = np.array([e.weight for e in self.experts])
        bent = float(shares @ slopes**2)
        peak = float(middle - (shares * slopes) @ scores / bent)
        top = min(max(peak, left), right)  # within the knots
        beyond, drop = abs(top - peak), 2 * DROP / bent
        reach = drop / (np.sqrt(beyond**2 + drop) + beyond)
        first, last = max(left, top - reach), min(right, top + reach)
        count = max(FEWEST, int(np.ceil((last - first) * np.sqrt(bent) / STRETCH)))
        return np.array([left, *np.linspace(first, last, count + 1), right])

    def log_density(self, t: Array) -> Array:
        logs = np.array([e.log_density(t) for e in self.experts])
        shares = np.array([e.weight for e in self.experts])[:, None]
        if self.kind == LOGARITHMIC:
            return np.asarray((shares * logs).sum(axis=0))
        return np.asarray(np.logaddexp.reduce(logs + np.log(shares), axis=0))

    @cached_property
    def _nodes(self) -> tuple[Array, Array]:
        """Log odds, and weights that sum to 1; a stretch has NODES of them."""
        u, weights = np.polynomial.legendre.leggauss(NODES)
        left, width = self.marks[:-1, None], np.diff(self.marks)[:, None]
        t = (left + width * (1 + u) / 2).ravel()
        logs = self.log_density(t)
        found = np.exp(logs - logs.max()) * (width / 2 * weights).ravel()
        return t, found / found.sum()

    def _number(self, t: Array) -> Array:
        return np.asarray(self.low + (self.high - self.low) / (1 + np.exp(-t)))

    @cached_property
    def points(self) -> tuple[Array, Array]:
        """Points and weights that integrate smooth functions over the law."""
        t, weights = self._nodes
        kept = weights > 0
        return self._number(t[kept]), weights[kept]

    @cached_property
    def mean(self) -> float:
        x, weights = self.points
        return float(weights @ x)

    @cached_property
    def sd(self) -> float:
        x, weights = self.points
        return float(np.sqrt(weights @ (x - self.mean) ** 2))

    def cumulative(self, x: ArrayLike) -> Array:
        """The probability of lying at or under each point."""
        share = (np.atleast_1d(np.asarray(x, dtype=float)) - self.low) / (self.high - self.low)
        with np.errstate(divide="ignore"):
            inside = np.clip(share, 0.0, 1.0)
            t = np.clip(np.log(inside) - np.log1p(-inside), self.marks[0], self.marks[-1])
        if self.kind == LINEAR:
            from scipy.special import ndtr

            found = sum(e.weight * ndtr(e.score(t)) for e in self.experts)
        else:
            found = self._by_stretches(t)
        return np.where(share <= 0, 0.0, np.where(share >= 1, 1.0, found))

    def _by_stretches(self, t: Array) -> Array:
        """Whole stretches below, and Gauss points on what is left of the last one."""
        weights = self._nodes[1]
        below = np.concatenate([[0.0], np.cumsum(weights.reshape(-1, NODES).sum(axis=1))])
        i = np.clip(np.searchsorted(self.marks, t, side="right") - 1, 0, len(below) - 2)
        u, gauss = np.polynomial.legendre.leggauss(NODES)
        left, width = self.marks[i][:, None], (t - self.marks[i])[:, None]
        inner = left + width * (1 + u) / 2
        density = np.exp(self.log_density(inner.ravel()).reshape(inner.shape) - self._peak)
        return np.asarray(below[i] + (density * gauss * width / 2).sum(axis=1))

    @cached_property
    def _peak(self) -> float:
        """The log of what the densities have to be divided by to sum to 1."""
        nodes, weights = self._nodes
        best = int(np.argmax(weights))
        gauss = np.polynomial.legendre.leggauss(NODES)[1]
        width = np.diff(self.marks)[best // NODES] / 2 * gauss[best % NODES]
        return float(self.log_density(nodes[best : best + 1])[0] + np.log(width / weights[best]))


def pool(
    quantiles: Sequence[dict[float, float]],
    *,
    low: float,
    high: float,
    kind: str = LINEAR,
    weights: Sequence[float] | None = None,
) -> Pool:
    """The pooled law of experts' quantiles, {level: value}, between two ends.

    >>> law = pool([{0.05: 0.01, 0.5: 0.05, 0.95: 0.2}], low=0, high=1)
    >>> [round(float(u), 6) for u in law.cumulative([0.01, 0.05, 0.2])], round(law.mean, 4)
    ([0.05, 0.5, 0.95], 0.0699)
    """
    from scipy.special import ndtri

    shares = np.ones(len(quantiles)) if weights is None else np.asarray(weights, dtype=float)
    shares = shares / shares.sum()
    experts = []
    for said, share in zip(quantiles, shares.tolist(), strict=True):
        levels = sorted(said)
        x = (np.array([said[u] for u in levels]) - low) / (high - low)
        experts.append(Opinion(np.log(x) - np.log1p(-x), ndtri(np.array(levels)), share))
    return Pool(tuple(experts), low, high, kind)
