"""Quadrature of answers with evidence: more nodes where they turn, and a bound on what is left.

Such an answer y = N / D may turn within a millionth of a parameter's range, and two grids that
both miss the corner agree.  So each axis is cut until a polynomial through the answers at its nodes
meets the answers between them, from both ends of every piece inwards.  n Gauss points sum the
square of a polynomial of degree n - 1 exactly, so mean and sd that are found are those of the
interpolated answer I y, and with the norm of L2 under the priors

    |mean(I y) - mean(y)| <= ||y - I y||,    |sd(I y) - sd(y)| <= ||y - I y||                  (1)

y - I y is measured along each axis on lines through the others' priors, their tails as much as
their middles, and every part between two points counts with the larger of their distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

import numpy as np

from reidbn.inference.asked import MOST_NUMBERS
from reidbn.inference.network import Array
from reidbn.whatif.axes import Axis, lagrange
from reidbn.whatif.looking import DECADES
from reidbn.whatif.scattered import tail_draws

CLOSE = 1e-9  # sds: what one piece may leave
MOST_LINES, FEWEST_LINES = 512, 16
MOST_ON_LINES = 1 << 17  # lines of all subjects
MOST_STEPS = 600
FINEST = 1e-12  # of its place: a piece no shorter than that
DENSE = 16  # nodes of a piece; beyond, it is cut
SHARE = 1 / 8  # of a piece that is cut off at the end where it is worst
ROUNDING = 8 * float(np.finfo(float).eps)  # of a numerator or an evidence
ROUNDED = 4 * float(np.finfo(float).eps)  # of the mean: what an answer is rounded by
SAFETY = 3.0
SEED = 20250104


@dataclass(frozen=True)
class Stretch:
    """Nodes on a part of an axis; what the answer is off there, squared, and why no closer."""

    low: float
    high: float
    nodes: Array
    weights: Array
    off: float = 0.0
    noise: float = 0.0
    cut: float = 0.0  # where to cut it

    def is_settled(self, enough: float) -> bool:
        return self.off <= max(enough, self.noise)


@dataclass(frozen=True)
class AxisRule:
    """The quadrature of one axis."""

    axis: Axis
    parts: tuple[Stretch, ...] = field(repr=False)

    @cached_property
    def nodes(self) -> Array:
        return np.concatenate([p.nodes for p in self.parts])

    @cached_property
    def weights(self) -> Array:
        return np.concatenate([p.weights for p in self.parts])

    @cached_property
    def to_nodes(self) -> Array:
        return self.axis.basis(self.nodes)

    @property
    def off(self) -> float:
        return float(np.sqrt(sum(p.off + p.noise for p in self.parts)))


class Lines:
    """The mean answer over subjects along one axis, at settings of all others."""

    def __init__(
        self, axes: Sequence[Axis], which: int, top: Array, below: Array, shares: Array
    ) -> None:
        self.axis, self.shares = axes[which], shares
        others = [a for a in axes if a is not self.axis]
        cells = prod(len(a.points) for a in others)
        count = min(MOST_LINES, MOST_ON_LINES // len(shares), MOST_NUMBERS // cells)
        rng = np.random.default_rng([SEED, which])
        draws, weights = tail_draws(rng, (max(FEWEST_LINES, count) if others else 1, len(others)))
        self.weights = weights.prod(axis=1) / weights.prod(axis=1).sum()
        basis = np.ones((len(draws), 1))
        for axis, u in zip(others, draws.T, strict=True):
            part = axis.basis(axis.measure.at(u))
            basis = (basis[:, :, None] * part[:, None, :]).reshape(len(basis), -1)
        flat = (np.moveaxis(x, which + 1, -1).reshape(len(x), cells, -1) for x in (top, below))
        self.top, self.below = (np.einsum("sod,mo->smd", x, basis) for x in flat)
        self.sizes = [np.abs(x).reshape(len(x), -1).max(axis=1) for x in (top, below)]

    def at(self, points: Array) -> tuple[Array, Array]:
        """Answers at points of the axis, lines x points, and what rounding does to them."""
        basis = self.axis.basis(points).T
        value, noise = np.zeros((2, self.top.shape[1], len(points)))
        for one, share in enumerate(self.shares.tolist()):
            above, below = self.top[one] @ basis, self.below[one] @ basis
            with np.errstate(divide="ignore", invalid="ignore"):
                y = np.where(below > 0, above / below, np.nan)
                off = (self.sizes[0][one] + np.abs(y) * self.sizes[1][one]) / below
            value += share * y
            noise += share * ROUNDING * off
        return value, np.minimum(noise, 1.0)


class Quadrature:
    """Rules of all axes, made finer where answers are furthest from what is interpolated."""

    def __init__(self, axes: Sequence[Axis], top: Array, below: Array, shares: Array) -> None:
        self.lines = [
            None if _is_listed(a) else Lines(axes, i, top, below, shares)
            for i, a in enumerate(axes)
        ]
        self.rules = [self._first(i, a) for i, a in enumerate(axes)]

    def _first(self, which: int, axis: Axis) -> AxisRule:
        if self.lines[which] is None:
            return AxisRule(
                axis, tuple(Stretch(p.low, p.high, p.nodes, p.weights) for p in axis.pieces)
            )
        found = (self._part(which, axis, p.low, p.high, len(p.nodes)) for p in axis.pieces)
        return AxisRule(axis, tuple(found))

    @property
    def off(self) -> float:
        """The right-hand side of (1)."""
        return SAFETY * sum(rule.off for rule in self.rules)

    @property
    def cells(self) -> int:
        return prod(len(r.nodes) for r in self.rules)

    def refine(self, sd: float, most: int) -> None:
        """Finer where it is worst, until all is within CLOSE sds or `most` nodes are used."""
        enough = (CLOSE * sd) ** 2
        stuck: set[tuple[int, float]] = set()
        for _ in range(MOST_STEPS):
            worst = max(
                ((p.off, i, p) for i, r in enumerate(self.rules) for p in r.parts
                 if not p.is_settled(enough) and (i, p.low) not in stuck),
                key=lambda found: found[0], default=None,
            )  # fmt: skip
            if worst is None:
                return
            _, i, part = worst
            rule = self.rules[i]
            parts = self._finer(i, rule.axis, part)
            more = sum(len(p.nodes) for p in parts) - len(part.nodes)
            if parts[0] is part or self.cells // len(rule.nodes) * (len(rule.nodes) + more) > most:
                stuck.add((i, part.low))
                continue
            kept = [*(p for p in rule.parts if p is not part), *parts]
            self.rules[i] = replace(rule, parts=tuple(sorted(kept, key=lambda p: p.low)))

    def _finer(self, which: int, axis: Axis, part: Stretch) -> list[Stretch]:
        count = len(part.nodes)
        if count < DENSE:
            return [self._part(which, axis, part.low, part.high, min(2 * count, DENSE))]
        if axis.measure.is_fine:  # its points are no rule on a part of it
            return [part]
        low, cut, high = part.low, part.cut, part.high
        start = cut
        if axis.measure.integer:
            cut = float(np.floor(cut))
            start = cut + 1
        if not low < cut < high or min(cut - low, high - cut) < FINEST * max(abs(low), abs(high)):
            return [part]
        ends = [(low, cut), (start, high)]
        return [self._part(which, axis, a, b, DENSE // 2) for a, b in ends]

    def _part(self, which: int, axis: Axis, low: float, high: float, count: int) -> Stretch:
        """A part with so many nodes, and how far the answer is from what they interpolate."""
        known = axis.measure.part(low, high)
        nodes, weights = known.gauss(count)
        part = Stretch(low, high, nodes, weights)
        if not len(nodes) or (known.is_listed and len(known.points) <= count):
            return part
        checks = _checks(low, high, nodes)
        lines = self.lines[which]
        assert lines is not None  # noqa: S101
        y, noise = lines.at(np.concatenate([nodes, checks]))
        guess = y[:, :count] @ lagrange(nodes, checks).T
        off = np.abs(guess - y[:, count:])
        mass = axis.measure.between(checks)
        held = [_between(x) @ mass for x in (off**2, noise[:, count:] ** 2)]
        square, floor = (float(lines.weights @ x) for x in held)
        by_cell = lines.weights @ (_between(off**2) * mass)
        return replace(part, off=square, noise=floor, cut=_cut(low, high, checks, by_cell))


def _is_listed(axis: Axis) -> bool:
    return all(len(p.nodes) == 1 for p in axis.pieces)


def _checks(low: float, high: float, nodes: Array) -> Array:
    """Points between the nodes, and ever closer to both ends."""
    steps = (high - low) * 10.0 ** -np.arange(0.5, DECADES, 0.5)
    ends = [[low, high], low + steps, high - steps]
    between = [(nodes[1:] + nodes[:-1]) / 2, [(low + nodes[0]) / 2, (high + nodes[-1]) / 2]]
    found = np.unique(np.concatenate([*ends, *between]))
    return np.asarray(found[(found >= low) & (found <= high)])


def _between(values: Array) -> Array:
    """The larger of every two neighbours; one that is not known (0 / 0) is as its neighbour."""
    found = np.fmax(values[:, 1:], values[:, :-1])
    return np.asarray(np.where(np.isnan(found), 1.0, found))


def _cut(low: float, high: float, checks: Array, by_cell: Array) -> float:
    """Where to cut: in the middle, or near the end that is worst."""
    inside = (checks[1:] + checks[:-1]) / 2
    total = float(by_cell.sum())
    at = float(inside @ by_cell) / total if total > 0 else (low + high) / 2
    step = SHARE * (high - low)
    return (
        low + step
        if at < low + 2 * step
        else high - step
        if at > high - 2 * step
        else (low + high) / 2
    )


# -- the decomposition --------------------------------------------------------------------


def decompose(values: Array, weights: Sequence[Array]) -> tuple[float, Array]:
    """The mean of values on a product grid, and the variance part of every set of axes.

    Along each axis the values are mirrored so that the first coefficient is the mean and the others
    hold what varies; the sums of their squares are the parts.  What all have in common is taken off
    first, since a small variance would drown in the rounding of its mean.
    """
    common = float(values.flat[values.size // 2])
    values = values - common
    for axis, w in enumerate(weights):
        values, root = np.moveaxis(values, axis, 0), np.sqrt(w / w.sum())
        values = _mirrored(values * root.reshape(-1, *[1] * (values.ndim - 1)), root)
        values = np.moveaxis(values, 0, axis)
    rest_of_mean = float(values.flat[0])
    parts = values**2
    for axis in range(len(weights)):
        first = parts.take([0], axis=axis)
        rest = parts.take(range(1, parts.shape[axis]), axis=axis).sum(axis=axis, keepdims=True)
        parts = np.concatenate([first, rest], axis=axis)
    parts.flat[0] = (common + rest_of_mean) ** 2
    return common + rest_of_mean, parts


def weighed(values: Array, axes: Sequence[AxisRule | Axis]) -> Array:
    """The mean over all axes but the first."""
    for a in reversed(axes):
        values = values @ a.weights
    return values


def in_sds(off: float, parts: Array) -> float:
    sd = variance_of(parts) ** 0.5
    return off / sd if sd > 0 else off


def without_rounding(mean: float, parts: Array) -> Array:
    """The parts of the variance; none where all of it is what the answers are rounded by."""
    if variance_of(parts) ** 0.5 > ROUNDED * abs(mean):
        return parts
    none = np.zeros_like(parts)
    none.flat[0] = parts.flat[0]
    return none


def variance_of(parts: Array) -> float:
    """The variance: all parts but the squared mean."""
    return float(parts.ravel()[1:].sum())


def _mirrored(values: Array, first: Array) -> Array:
    """Values times the mirror that takes a unit vector to the first axis."""
    mirror = first.copy()
    mirror[0] -= 1
    size = float(mirror @ mirror)
    if size < 1e-30:
        return values
    return values - np.tensordot(2 / size * mirror, np.tensordot(mirror, values, axes=1), axes=0)
