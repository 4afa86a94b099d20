"""The posterior of Pitman's parameters on a grid: parameter uncertainty, integrated out.

The prior is flat in (ln(theta + alpha), alpha) over 0 <= alpha < 1 and between the bounds beyond
which a population of N cannot tell (see `region`).  The grid follows the likelihood: Gauss-
Legendre nodes over the alpha that matter and, for each, over the phi that matter, out to a
likelihood e^-18 below the highest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.theory.likelihood import log_likelihood
from reidbn.theory.region import Region

Floats: TypeAlias = NDArray[np.float64]

_DROP = 18.0
_NEGLIGIBLE = 1e-8
_RULES = {size: np.polynomial.legendre.leggauss(size) for size in (28, 56)}
_WIDE = 0.4  # a range of alpha from here on is integrated on the finer grid


@dataclass(frozen=True, eq=False)
class Nodes:
    """Parameter values and their weights, which sum to one."""

    theta: Floats
    alpha: Floats
    weight: Floats

    @classmethod
    def single(cls, theta: float, alpha: float) -> Nodes:
        """All weight on one pair of parameters."""
        return cls(np.array([theta]), np.array([alpha]), np.ones(1))

    def mean(self, values: Floats) -> float:
        return float(self.weight @ values)

    def quantile(self, values: Floats, q: float) -> float:
        """Smallest value with at least q of the weight at or below it, smoothed between nodes."""
        order = np.argsort(values)
        weight, sorted_ = self.weight[order], values[order]
        middle = np.cumsum(weight) - weight / 2
        return float(np.interp(q, middle, sorted_))


def posterior(region: Region) -> Nodes:
    """The grid over the whole region that matters."""
    level = region.highest - _DROP
    low, high = region.alpha_range(level)
    wide = high - low > _WIDE or not region.has_top
    x, w = _RULES[56 if wide else 28]
    alpha, w_alpha = (low + (high - low) * (x + 1) / 2, w) if high > low else _one(low)
    hump = region.hump(alpha)
    start, end = region.contour(hump, level)
    width = (end - start) / 2
    phi = start + width * (x[:, None] + 1)
    n, u = float(region.table.n), float(region.table.classes)
    log_like = log_likelihood(n, u, phi, np.broadcast_to(alpha, phi.shape), hump.within)
    weight = np.exp(log_like - log_like.max()) * width * w[:, None] * w_alpha
    keep = weight > _NEGLIGIBLE * weight.max()
    weight = weight[keep] / weight[keep].sum()
    a = np.broadcast_to(alpha, phi.shape)[keep]
    return Nodes(np.exp(phi[keep]) - a, a, weight)


def _one(alpha: float) -> tuple[Floats, Floats]:
    """The rule for an alpha that is held."""
    return np.array([alpha]), np.ones(1)
