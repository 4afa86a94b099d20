"""The posterior of Pitman's parameters on a grid: parameter uncertainty, integrated out.

The prior is flat in (ln(theta + alpha), alpha) over 0 <= alpha < 1 and between the bounds beyond
which a population of N cannot tell (see `region`).  The grid follows the likelihood: Gauss-
Legendre nodes over the alpha that matter and, for each, over the phi that matter, out to a
likelihood e^-18 below the highest.

Where Pitman's parameters may lie: likelihood contours of tables, for intervals and grids.

The likelihood of one table has one hump in phi = ln(theta + alpha) for each alpha.  A contour is
two values of phi for each alpha, found by Newton's method on the signed root
sqrt(2 (max - ln L)), which is nearly straight.  phi stays between the values beyond which a
population of N people cannot tell parameters apart: theta + alpha from 1e-3/N, where all are one
class, to 1e3 N^2, where all are unique.

Many tables go together (axes: table, alpha), because a step of one table alone is mostly overhead;
each stops where it would have stopped alone, so that its numbers do not depend on the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.theory.frequencies import Packed
from reidbn.theory.gamma import log1p_sums
from reidbn.theory.pitman_fit import MaximumLikelihood, log_likelihood, typical_phi, within_classes

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


# -- where pitman's parameters may lie -------------------------------------------------------------


Ints: TypeAlias = NDArray[np.int64]

HIGHEST_ALPHA = 1 - 1e-6
_SCAN = 17
_CLOSE = 1e-7  # in log-likelihood


@dataclass(frozen=True, eq=False)
class Hump:
    """For each table and alpha: the best phi and its log-likelihood; `within` for further calls."""

    alpha: Floats
    phi: Floats
    value: Floats
    within: Floats


@dataclass(frozen=True, eq=False)
class Region:
    """The likelihoods of some tables, seen from a population of N people, around their maxima."""

    packed: Packed
    N: float
    top: MaximumLikelihood
    """The fits of these tables."""
    held_alpha: float | None = None
    """The only alpha there is, or None."""

    def take(self, rows: Ints) -> Region:
        """Some of the tables."""
        return Region(self.packed.take(rows), self.N, self.top.take(rows), self.held_alpha)

    @property
    def has_top(self) -> NDArray[np.bool_]:
        """Whether the likelihood has a finite maximum."""
        return np.isfinite(self.top.phi)

    @property
    def best_alpha(self) -> Floats:
        return self.top.alpha

    @property
    def highest(self) -> Floats:
        """The log-likelihood at its maximum, or its supremum."""
        return self.top.log_likelihood

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Smallest and largest phi of each table."""
        size = np.log(np.maximum(self.N, self.packed.n))[:, None]
        return -size - 7.0, 2 * size + 7.0

    @cached_property
    def _size(self) -> tuple[Floats, Floats]:
        """People and classes of each table, beside its alphas."""
        return self.packed.n[:, None], self.packed.classes[:, None]

    def hump(self, alpha: Floats) -> Hump:
        """The best phi for each alpha: Newton's method within a bracket."""
        within = within_classes(self.packed, alpha)
        low, high = (np.array(np.broadcast_to(bound, alpha.shape)) for bound in self.bounds)
        n, u = self._size
        # Where all are one class, or nobody shares one, there is no hump: it falls or rises all
        # the way.
        best, value = np.where(u == 1, low, high), np.empty(alpha.shape)
        flat = np.flatnonzero((u == 1) | (u == n))
        value[flat] = self._value(best[flat], alpha[flat], within[flat], rows=flat)[0]
        open_ = np.flatnonzero((u > 1) & (u < n))
        best[open_] = np.clip(
            typical_phi(n[open_], u[open_], alpha[open_]), low[open_], high[open_]
        )
        for _ in range(60):
            if not open_.size:
                break
            phi = best[open_]
            value[open_], slope, curvature = self._value(
                phi, alpha[open_], within[open_], order=2, rows=open_
            )
            a, b = np.where(slope > 0, phi, low[open_]), np.where(slope > 0, high[open_], phi)
            low[open_], high[open_] = a, b
            concave = np.minimum(curvature, -1e-12)
            new = phi - np.clip(slope / concave, -2.0, 2.0)
            new = np.where((new > a) & (new < b), new, (a + b) / 2)
            gain = slope * slope / -concave
            more = ~((gain < 1e-12) | (b - a < 1e-9)).all(axis=-1)
            open_ = open_[more]
            best[open_] = new[more]
        return Hump(alpha, best, value, within)

    def contour(self, hump: Hump, level: Floats) -> tuple[Floats, Floats]:
        """Both phi at which the log-likelihood is `level`, or the bound where it never is.

        `level` is one number for each table.
        """
        alpha, inner, within, top = (
            np.concatenate([x, x], axis=-1) for x in (hump.alpha, hump.phi, hump.within, hump.value)
        )
        edge = np.concatenate([np.broadcast_to(b, hump.phi.shape) for b in self.bounds], axis=-1)
        level = level[:, None]
        drop = np.sqrt(2 * np.maximum(top - level, 0.0))
        settled = (self._value(edge, alpha, within)[0] >= level) | (drop == 0)
        found, outer = self._guess(inner, alpha, edge, drop), edge.copy()
        open_ = np.arange(len(alpha))
        for _ in range(80):
            if not open_.size:
                break
            phi, at = found[open_], level[open_]
            value, slope = self._value(phi, alpha[open_], within[open_], rows=open_)
            inside = value >= at
            a, b = np.where(inside, phi, inner[open_]), np.where(inside, outer[open_], phi)
            inner[open_], outer[open_] = a, b
            more = ~((abs(value - at) < _CLOSE) | settled[open_]).all(axis=-1)
            root = np.sqrt(2 * np.maximum(top[open_] - value, 1e-300))
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                new = phi - (drop[open_] - root) * root / slope
            new = np.where((new - a) * (new - b) < 0, new, (a + b) / 2)
            open_ = open_[more]
            found[open_] = new[more]
        best = np.concatenate([hump.phi, hump.phi], axis=-1)
        found = np.where(drop == 0, best, np.where(settled, edge, found))
        low, high = np.split(found, 2, axis=-1)
        return low, high

    def _guess(self, phi: Floats, alpha: Floats, edge: Floats, drop: Floats) -> Floats:
        curvature = self._value(phi, alpha, 0 * phi, order=2)[2]
        far = np.sign(edge - phi) * drop / np.sqrt(np.maximum(-curvature, 1e-12))
        return np.where(abs(far) < abs(edge - phi), phi + far, (phi + edge) / 2)

    def _value(
        self,
        phi: Floats,
        alpha: Floats,
        within: Floats,
        *,
        order: int = 1,
        rows: Ints | None = None,
    ) -> tuple[Floats, ...]:
        """The log-likelihood and its first one or two derivatives in phi, of all or some tables."""
        n, u = self._size if rows is None else (size[rows] for size in self._size)
        t = np.exp(phi)
        x = np.stack([alpha / t, 1 / (t + (1 - alpha))])
        steps = np.stack([u - 1, n - 1])
        sums = log1p_sums(x, steps, order=order)
        (L1, L2), (Q1, Q2), (x1, x2) = sums[0], sums[1], x
        lost = (n - 1) * (1 - alpha) * x2
        value = (u - n) * phi - (n - 1) * np.log1p((1 - alpha) / t) + L1 - L2 + within
        slope = (u - n) - x1 * Q1 + t * x2 * x2 * Q2 + lost
        if order < 2:
            return value, slope
        R1, R2 = sums[2]
        H2 = x2 * x2 * (n - 1 - 2 * x2 * Q2 + x2 * x2 * R2)
        curvature = x1 * Q1 - x1 * x1 * R1 - t * x2 * x2 * (Q2 - x2 * R2) - t * (1 - alpha) * H2
        return value, slope, curvature

    def alpha_range(self, level: Floats) -> tuple[Floats, Floats]:
        """An interval that holds every alpha whose best phi reaches `level`, and little more.

        One for each table.
        """
        best = self.best_alpha
        if self.held_alpha is not None:
            held = np.full(best.shape, self.held_alpha)
            return held, held
        reach = 1.3 * self.top.alpha_deviation() * np.sqrt(2 * (self.highest - level))
        low, high = np.zeros(best.shape), np.full(best.shape, HIGHEST_ALPHA)
        open_ = np.arange(len(best))
        for _ in range(60):
            if not open_.size:
                break
            at, far = best[open_], reach[open_]
            start, end = np.maximum(0.0, at - far), np.minimum(HIGHEST_ALPHA, at + far)
            scan = np.linspace(start, end, _SCAN, axis=-1)
            nodes = np.sort(np.concatenate([scan, at[:, None]], axis=-1), axis=-1)
            inside = self.take(open_).hump(nodes).value >= level[open_, None]
            first = inside.argmax(axis=-1)
            last = inside.shape[-1] - 1 - inside[:, ::-1].argmax(axis=-1)
            closed = ((first > 0) | (start == 0)) & ((last < _SCAN) | (end == HIGHEST_ALPHA))
            row = np.arange(len(open_))
            a, b = nodes[row, np.maximum(first - 1, 0)], nodes[row, np.minimum(last + 1, _SCAN)]
            low[open_], high[open_] = np.where(closed, a, start), np.where(closed, b, end)
            tight = closed & (b - a > 0.3 * (end - start))
            reach[open_] = np.where(closed, np.maximum(at - a, b - at), 2 * far)
            open_ = open_[~tight]
        return low, high
