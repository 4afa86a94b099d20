"""Pitman's likelihood of frequencies of frequencies, with its slopes, for many tables at once.

In t = theta + alpha > 0 the likelihood [Pitman95], [Hoshino01] reads, u classes, n people,

    ln L = sum_{j<u-1} ln(t + j alpha) - sum_{j<n-1} ln(t + 1 - alpha + j)
         + sum_j f_j sum_{i=1}^{j-1} ln(i - alpha)                                       (1)

Every sum is evaluated in time independent of n and u, without differences of large numbers:
a table of 6e7 people with alpha near 0 keeps its digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.theory.frequencies import STEPS, Packed
from reidbn.theory.gamma import log1p_sums

Floats: TypeAlias = NDArray[np.float64]

_STEP = np.arange(1.0, STEPS + 1)


@dataclass(frozen=True, eq=False)
class Slopes:
    """The log-likelihood and its first and second derivatives in phi = ln t and alpha."""

    value: Floats
    phi: Floats
    alpha: Floats
    phi_phi: Floats
    phi_alpha: Floats
    alpha_alpha: Floats


def slopes(tables: Packed, phi: Floats, alpha: Floats) -> Slopes:
    """Everything Newton's method needs, at one (phi, alpha) for each table."""
    c0, c1, c2 = _within_classes(tables, alpha)
    t, m1, m2 = np.exp(phi), tables.classes - 1, tables.n - 1
    x1 = alpha / t
    w = t + (1 - alpha)
    x2 = 1 / w
    (L1, L2), (Q1, Q2), (R1, R2) = log1p_sums(np.array([x1, x2]), np.array([m1, m2]))
    a = x2 * Q2
    H1 = x2 * (m2 - a)  # sum of 1/(w + j)
    H2 = x2 * x2 * (m2 - 2 * a + x2 * x2 * R2)  # sum of 1/(w + j)^2
    q = x1 * Q1
    r = x1 * x1 * R1
    seats = (t * x2) * a + m2 * (1 - alpha) * x2  # m2 - t H1, kept positive
    spread = t * x2 * x2 * (Q2 - x2 * R2) + t * (1 - alpha) * H2  # t H1 - t^2 H2
    return Slopes(
        value=(m1 - m2) * phi - m2 * np.log1p((1 - alpha) / t) + L1 - L2 + c0,
        phi=(m1 - m2) - q + seats,
        alpha=Q1 / t + H1 - c1,
        phi_phi=q - r - spread,
        phi_alpha=(x1 * R1 - Q1) / t - t * H2,
        alpha_alpha=H2 - R1 / (t * t) - c2,
    )


def log_likelihood(
    n: Floats | float, classes: Floats | float, phi: Floats, alpha: Floats, within: Floats
) -> Floats:
    """Equation (1) at many (phi, alpha); `within` is that of `within_classes`."""
    t = np.exp(phi)
    L1 = log1p_sums(alpha / t, classes - 1, order=1)[0]
    L2 = log1p_sums(1 / (t + (1 - alpha)), n - 1, order=1)[0]
    seats = (classes - n) * phi - (n - 1) * np.log1p((1 - alpha) / t)
    return np.asarray(seats + L1 - L2 + within, dtype=np.float64)


def within_classes(tables: Packed, alpha: Floats) -> Floats:
    """Last sum of (1) at many alpha for each table: what the sizes say of alpha alone.

    Axes of `alpha`: table, value.
    """
    total = np.einsum("ijs,is->ij", np.log(_STEP - alpha[..., None]), tables.above)
    if tables.tail_sizes.size:
        ends = _gamma_slopes(tables.tail_sizes[:, None] - alpha[tables.tail_row])[0]
        first = np.flatnonzero(np.diff(tables.tail_row, prepend=-1))
        total[tables.tail_row[first]] += np.add.reduceat(
            ends * tables.tail_counts[:, None], first, axis=0
        )
        total -= _gamma_slopes(STEPS + 1 - alpha)[0] * tables.tail_classes[:, None]
    return np.asarray(total, dtype=np.float64)


def _within_classes(tables: Packed, alpha: Floats) -> tuple[Floats, Floats, Floats]:
    """The last sum of (1) with the two sums it leads to, one alpha for each table."""
    left = _STEP - alpha[:, None]
    inverse = tables.above / left
    c0 = np.einsum("ij,ij->i", tables.above, np.log(left))
    c1, c2 = inverse.sum(axis=1), (inverse / left).sum(axis=1)
    if tables.tail_sizes.size:
        ends = _gamma_slopes(tables.tail_sizes - alpha[tables.tail_row])
        starts = _gamma_slopes(STEPS + 1 - alpha)
        for total, end, start in zip((c0, c1, c2), ends, starts, strict=True):
            total += tables.tail_sum(end) - start * tables.tail_classes
    return c0, c1, c2


def _gamma_slopes(w: Floats) -> tuple[Floats, Floats, Floats]:
    """Log-gamma, digamma and minus trigamma for w above STEPS, less a constant."""
    r = 1 / w
    r2 = r * r
    log = np.log(w)
    value = (w - 0.5) * log - w + r * (1 / 12 - r2 * (1 / 360 - r2 * (1 / 1260 - r2 / 1680)))
    first = log - 0.5 * r - r2 * (1 / 12 - r2 * (1 / 120 - r2 * (1 / 252 - r2 / 240)))
    second = r * (1 + 0.5 * r + r2 * (1 / 6 - r2 * (1 / 30 - r2 * (1 / 42 - r2 / 30))))
    return value, first, -second
