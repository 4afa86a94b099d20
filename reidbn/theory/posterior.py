"""The posterior of Pitman's parameters on a grid: parameter uncertainty, integrated out.

The prior is flat in (ln(theta + alpha), alpha) over 0 <= alpha < 1 and between the bounds beyond
which a population of N cannot tell (see `region`).  The grid follows the likelihood: Gauss-
Legendre nodes over the alpha that matter and, for each, over the phi that matter, out to a
likelihood e^-18 below the highest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.theory.likelihood import log_likelihood
from reidbn.theory.region import Region

Floats: TypeAlias = NDArray[np.float64]

_DROP = 18.0
_NEGLIGIBLE = 1e-8
_TOGETHER = 128  # tables whose grids are sought together
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


def posteriors(region: Region) -> Iterator[Nodes]:
    """The grid over the whole region that matters, of each table in turn."""
    for start in range(0, len(region.packed), _TOGETHER):
        rows = np.arange(start, min(start + _TOGETHER, len(region.packed)))
        yield from _some(region.take(rows))


def posterior(region: Region) -> Nodes:
    """The grid of the only table."""
    (nodes,) = posteriors(region)
    return nodes


def _some(region: Region) -> list[Nodes]:
    """Grids of a few tables: on the finer rule where the range of alpha is wide."""
    level = region.highest - _DROP
    low, high = region.alpha_range(level)
    wide = (high - low > _WIDE) | ~region.has_top
    found: dict[int, Nodes] = {}
    for size in (28, 56):
        rows = np.flatnonzero(wide == (size == 56))
        if rows.size:
            grids = _grids(region.take(rows), level[rows], low[rows], high[rows], size)
            found.update(zip(rows.tolist(), grids, strict=True))
    return [found[i] for i in range(len(wide))]


def _grids(region: Region, level: Floats, low: Floats, high: Floats, size: int) -> Iterator[Nodes]:
    """Grids of tables that take the same rule."""
    x, w = _RULES[size]
    low, high = low[:, None], high[:, None]
    held = region.held_alpha is not None
    alpha, w_alpha = (low, np.ones(1)) if held else (low + (high - low) * (x + 1) / 2, w)
    hump = region.hump(alpha)
    start, end = region.contour(hump, level)
    for i, (n, u) in enumerate(zip(region.packed.n, region.packed.classes, strict=True)):
        width = (end[i] - start[i]) / 2
        phi = start[i] + width * (x[:, None] + 1)
        at = np.broadcast_to(alpha[i], phi.shape)
        log_like = log_likelihood(float(n), float(u), phi, at, hump.within[i])
        weight = np.exp(log_like - log_like.max()) * width * w[:, None] * w_alpha
        keep = weight > _NEGLIGIBLE * weight.max()
        a, weight = at[keep], weight[keep] / weight[keep].sum()
        yield Nodes(np.exp(phi[keep]) - a, a, weight)
