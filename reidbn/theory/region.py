"""Where Pitman's parameters may lie: likelihood contours of one table, for intervals and grids.

The likelihood of one table has one hump in phi = ln(theta + alpha) for each alpha.  A contour is
two values of phi for each alpha, found by Newton's method on the signed root
sqrt(2 (max - ln L)), which is nearly straight.  phi stays between the values beyond which a
population of N people cannot tell parameters apart: theta + alpha from 1e-3/N, where all are one
class, to 1e3 N^2, where all are unique.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.theory.frequencies import FrequencyTable, Packed
from reidbn.theory.gamma import log1p_sums
from reidbn.theory.likelihood import within_classes
from reidbn.theory.pitman_fit import MaximumLikelihood, typical_phi

Floats: TypeAlias = NDArray[np.float64]

HIGHEST_ALPHA = 1 - 1e-6
_SCAN = 17
_CLOSE = 1e-7  # in log-likelihood


@dataclass(frozen=True, eq=False)
class Hump:
    """For each alpha: the best phi and its log-likelihood, and `within` for further calls."""

    alpha: Floats
    phi: Floats
    value: Floats
    within: Floats


@dataclass(frozen=True, eq=False)
class Region:
    """The likelihood of one table, seen from a population of N people, around its maximum."""

    table: FrequencyTable
    N: float
    top: MaximumLikelihood
    """The fit of this one table."""
    held_alpha: float | None = None
    """The only alpha there is, or None."""

    @cached_property
    def packed(self) -> Packed:
        return Packed.of([self.table])

    @property
    def has_top(self) -> bool:
        """Whether the likelihood has a finite maximum."""
        return bool(np.isfinite(self.top.phi[0]))

    @property
    def best_alpha(self) -> float:
        return float(self.top.alpha[0])

    @property
    def highest(self) -> float:
        """The log-likelihood at its maximum, or its supremum."""
        return float(self.top.log_likelihood[0])

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest phi."""
        size = float(np.log(max(self.N, self.table.n)))
        return -size - 7.0, 2 * size + 7.0

    def hump(self, alpha: Floats) -> Hump:
        """The best phi for each alpha: Newton's method within a bracket."""
        within = within_classes(self.packed, alpha)
        low, high = (np.full(alpha.shape, bound) for bound in self.bounds)
        n, u = float(self.table.n), float(self.table.classes)
        if u in (1.0, n):  # no hump: the likelihood falls or rises all the way
            phi = low if u == 1 else high
            return Hump(alpha, phi, self._value(phi, alpha, within)[0], within)
        phi = np.clip(typical_phi(n, u, alpha), *self.bounds)
        for _ in range(60):
            value, slope, curvature = self._value(phi, alpha, within, order=2)
            low, high = np.where(slope > 0, phi, low), np.where(slope > 0, high, phi)
            concave = np.minimum(curvature, -1e-12)
            new = phi - np.clip(slope / concave, -2.0, 2.0)
            new = np.where((new > low) & (new < high), new, (low + high) / 2)
            gain = slope * slope / -concave
            if ((gain < 1e-12) | (high - low < 1e-9)).all():
                break
            phi = new
        return Hump(alpha, phi, value, within)

    def contour(self, hump: Hump, level: float) -> tuple[Floats, Floats]:
        """Both phi at which the log-likelihood is `level`, or the bound where it never is."""
        alpha, inner, within, top = (
            np.tile(x, 2) for x in (hump.alpha, hump.phi, hump.within, hump.value)
        )
        edge = np.repeat(self.bounds, hump.phi.size)
        drop = np.sqrt(2 * np.maximum(top - level, 0.0))
        settled = (self._value(edge, alpha, within)[0] >= level) | (drop == 0)
        phi, outer = self._guess(inner, alpha, edge, drop), edge
        for _ in range(80):
            value, slope = self._value(phi, alpha, within)
            inside = value >= level
            inner, outer = np.where(inside, phi, inner), np.where(inside, outer, phi)
            if ((abs(value - level) < _CLOSE) | settled).all():
                break
            root = np.sqrt(2 * np.maximum(top - value, 1e-300))
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                new = phi - (drop - root) * root / slope
            good = (new - inner) * (new - outer) < 0
            phi = np.where(good, new, (inner + outer) / 2)
        phi = np.where(drop == 0, np.tile(hump.phi, 2), np.where(settled, edge, phi))
        ends = phi.reshape(2, -1)
        return ends[0], ends[1]

    def _guess(self, phi: Floats, alpha: Floats, edge: Floats, drop: Floats) -> Floats:
        curvature = self._value(phi, alpha, 0 * phi, order=2)[2]
        far = np.sign(edge - phi) * drop / np.sqrt(np.maximum(-curvature, 1e-12))
        return np.where(abs(far) < abs(edge - phi), phi + far, (phi + edge) / 2)

    def _value(
        self, phi: Floats, alpha: Floats, within: Floats, *, order: int = 1
    ) -> tuple[Floats, ...]:
        """The log-likelihood and its first one or two derivatives in phi."""
        n, u = float(self.table.n), float(self.table.classes)
        t = np.exp(phi)
        x = np.stack([alpha / t, 1 / (t + (1 - alpha))])
        steps = np.array([[u - 1], [n - 1]])
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

    def alpha_range(self, level: float) -> tuple[float, float]:
        """An interval that holds every alpha whose best phi reaches `level`, and little more."""
        best = self.best_alpha
        if self.held_alpha is not None:
            return self.held_alpha, self.held_alpha
        reach = 1.3 * self.top.alpha_deviation(0) * np.sqrt(2 * (self.highest - level))
        for _ in range(60):
            low, high = max(0.0, best - reach), min(HIGHEST_ALPHA, best + reach)
            nodes = np.unique(np.append(np.linspace(low, high, _SCAN), best))
            inside = np.flatnonzero(self.hump(nodes).value >= level)
            first, last = inside[0], inside[-1]
            if (first > 0 or low == 0) and (last < nodes.size - 1 or high == HIGHEST_ALPHA):
                low, high = nodes[max(first - 1, 0)], nodes[min(last + 1, nodes.size - 1)]
                if high - low > 0.3 * (nodes[-1] - nodes[0]):
                    break
                reach = max(best - low, high - best)
            else:
                reach *= 2
        return float(low), float(high)
