"""Maximum likelihood for Pitman's partition, 0 <= alpha < 1, theta > -alpha; many tables at once.

Newton's method in (ln(theta + alpha), alpha) with a Hessian made negative definite, steps that
stay inside, and halving until the likelihood rises; alpha = 0 is held while the likelihood falls
away from it.  Deterministic; the stop is relative (what is left to gain), so that a table of
6e7 people converges like one of 60.

Pitman's likelihood of frequencies of frequencies, with its slopes, for many tables at once.

In t = theta + alpha > 0 the likelihood [Pitman95], [Hoshino01] reads, u classes, n people,

    ln L = sum_{j<u-1} ln(t + j alpha) - sum_{j<n-1} ln(t + 1 - alpha + j)
         + sum_j f_j sum_{i=1}^{j-1} ln(i - alpha)                                       (1)

Every sum is evaluated in time independent of n and u, without differences of large numbers:
a table of 6e7 people with alpha near 0 keeps its digits.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.theory.frequencies import STEPS, Packed
from reidbn.theory.gamma import log1p_sums

Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

INTERIOR = "interior"
BOUNDARY = "boundary"
NOT_IDENTIFIABLE = "not identifiable"
NO_MAXIMUM = "no finite maximum"
STATUSES = (INTERIOR, BOUNDARY, NOT_IDENTIFIABLE, NO_MAXIMUM)

_ROUNDS = 100
_FEW = 32  # tables that are looked at together to the end
_GAIN = 1e-12  # gain in log-likelihood that a last Newton step may have; it squares what is left
_LONGEST = 2.0  # longest step in phi


@dataclass(frozen=True, eq=False)
class MaximumLikelihood:
    """Fits of many tables: `status` numbers into STATUSES; no maximum has theta inf, alpha 0.

    `information` is minus the Hessian in (phi, alpha), phi = ln(theta + alpha).
    """

    phi: Floats
    alpha: Floats
    log_likelihood: Floats
    information: Floats
    status: NDArray[np.int8]
    rounds: int

    @property
    def theta(self) -> Floats:
        return np.exp(self.phi) - self.alpha

    def take(self, rows: NDArray[np.int64]) -> MaximumLikelihood:
        """The fits of some of the tables."""
        return MaximumLikelihood(
            self.phi[rows], self.alpha[rows], self.log_likelihood[rows],
            self.information[rows], self.status[rows], self.rounds,
        )  # fmt: skip

    def alpha_deviation(self) -> Floats:
        """Standard deviation of alpha from the information, 1 where it says nothing."""
        a, b, d = (self.information[:, i, j] for i, j in ((0, 0), (0, 1), (1, 1)))
        says = a > 0
        spread = np.where(says, d - b * b / np.where(says, a, 1.0), 0.0)
        says = (spread > 0) & (self.status < STATUSES.index(NOT_IDENTIFIABLE))
        return np.where(says, np.minimum(1.0, np.where(says, spread, 1.0) ** -0.5), 1.0)

    def names(self) -> list[str]:
        return [STATUSES[i] for i in self.status]


def maximise(tables: Packed, *, held_alpha: float | None = None) -> MaximumLikelihood:
    """The constrained maximum of each table's likelihood, and how it was reached.

    With `held_alpha` only theta is fitted: 0 is Ewens's model.

    - "interior", "boundary" (alpha = 0, Ewens's case): a maximum, found.
    - "no finite maximum": nobody shares a class; the likelihood rises to its supremum, 1, as
      theta grows.
    - "not identifiable": everybody shares one class; it rises to 1 as theta falls to -alpha,
      for every alpha.
    """
    regular = (tables.classes < tables.n) & (tables.classes > 1)
    phi, alpha = _start(tables, regular, held_alpha)
    at = slopes(tables, phi, alpha)
    open_ = regular.copy()
    rounds = 0
    rows, some = np.arange(open_.size), tables  # those still looked at: a few take long
    while open_.any() and rounds < _ROUNDS:
        rounds += 1
        if 2 * np.count_nonzero(open_[rows]) < rows.size and rows.size > _FEW:
            rows = rows[open_[rows]]
            some = tables.take(rows)
        own = at if rows.size == open_.size else at.take(rows)
        held = (alpha[rows] <= 0) & (own.alpha <= 0) if held_alpha is None else regular[rows]
        step, gain = _newton(own, held)
        last = open_[rows] & (gain < _GAIN)
        phi[rows], alpha[rows], new, moved = _advance(
            some, (phi[rows], alpha[rows]), own, step, open_[rows]
        )
        at.put(rows, new)
        open_[rows] &= ~last & moved
    status = np.where((alpha > 0) | (held_alpha is not None), 0, 1)
    status = np.where(tables.classes == tables.n, 3, np.where(tables.classes == 1, 2, status))
    return MaximumLikelihood(
        phi=np.where(status == 3, np.inf, np.where(status == 2, -np.inf, phi)),
        alpha=np.where(regular, alpha, held_alpha or 0.0),
        log_likelihood=np.where(regular, at.value, 0.0),
        information=-np.array([[at.phi_phi, at.phi_alpha], [at.phi_alpha, at.alpha_alpha]]).T,
        status=status.astype(np.int8),
        rounds=rounds,
    )


def _start(tables: Packed, regular: Mask, held: float | None) -> tuple[Floats, Floats]:
    """An alpha from the share of uniques, then phi from the number of classes."""
    n, u = np.where(regular, tables.n, 3.0), np.where(regular, tables.classes, 2.0)
    alpha = np.clip(0.9 * tables.uniques / u, 0.05, 0.9)
    if held is not None:
        alpha = np.full(n.shape, held)
    return typical_phi(n, u, alpha), alpha


def typical_phi(n: Floats | float, classes: Floats | float, alpha: Floats) -> Floats:
    """About the phi at which n people make that many classes: u = (t/alpha)((1 + n/t)^alpha - 1).

    A start for Newton's method only.
    """
    alpha = np.maximum(alpha, 0.01)
    log_u = np.log(classes)
    phi = log_u + np.zeros_like(alpha)
    for _ in range(6):
        t = np.exp(phi)
        grown = alpha * np.log1p(n / t)
        lead = -np.expm1(-grown)
        slope = 1 - alpha * n / ((n + t) * lead)
        miss = log_u - phi - grown - np.log(lead / alpha)
        phi = phi + np.clip(miss / np.maximum(slope, 0.02), -3, 3)
    return phi


def _newton(at: Slopes, held: Mask) -> tuple[tuple[Floats, Floats], Floats]:
    """An uphill step, Newton's near the top, and the gain it predicts; alpha held where so."""
    g1, g2 = at.phi, np.where(held, 0.0, at.alpha)
    a, b = at.phi_phi, np.where(held, 0.0, at.phi_alpha)
    d = np.where(held, -1.0, at.alpha_alpha)
    middle, half = (a + d) / 2, np.hypot((a - d) / 2, b)
    top = middle + half
    # |Hessian| with its small eigenvalue kept away from zero: uphill whatever its signs.
    concave = (a < 0) & (d < 0) & (a * d - b * b > 1e-10 * a * d)
    shift = np.where(concave, 0.0, top + 0.1 * (half + abs(middle)) + 1e-8)
    a, d = a - shift, d - shift
    det = a * d - b * b
    s1, s2 = (b * g2 - d * g1) / det, (b * g1 - a * g2) / det
    return (s1, s2), (g1 * s1 + g2 * s2) / 2


def _advance(
    tables: Packed, point: tuple[Floats, Floats], at: Slopes, step: tuple[Floats, Floats],
    open_: Mask,
) -> tuple[Floats, Floats, Slopes, Mask]:  # fmt: skip
    """Take the step, or the longest half of it that does not lower the likelihood."""
    phi, alpha = point
    scale = np.where(open_, _LONGEST / np.maximum(abs(step[0]), _LONGEST), 0.0)
    slack = 1e-13 * (abs(at.value) + tables.n)
    for _ in range(40):
        new_phi = phi + scale * step[0]
        new_alpha = np.clip(alpha + scale * step[1], 0.0, alpha + 0.9 * (1 - alpha))
        new = slopes(tables, new_phi, new_alpha)
        worse = open_ & ~(new.value >= at.value - slack)
        if not worse.any():
            return new_phi, new_alpha, new, open_
        scale = np.where(worse, scale / 2, scale)
    return phi, alpha, at, np.zeros_like(open_)


# -- pitman's likelihood of frequencies of frequencies, with its slopes, fo ------------------------


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

    def take(self, rows: NDArray[np.int64]) -> Slopes:
        """Those of some tables."""
        return Slopes(*(getattr(self, f.name)[rows] for f in fields(self)))

    def put(self, rows: NDArray[np.int64], some: Slopes) -> None:
        """The same with those of some tables put in their places."""
        for f in fields(self):
            getattr(self, f.name)[rows] = getattr(some, f.name)


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
