"""Axes: a parameter's prior as points to ask the engine at, and a quadrature that stands on them.

An answer of known degree d in the parameter needs d + 1 Gauss points, and then everything is exact.
A formula, or a count with many values, is cut into pieces until a polynomial on each of them agrees
with the engine: at even shares of the prior, ever closer to both ends of every piece, and between
its points.  What is left counts as in ratios.py, (1); few values of a count are simply listed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from reidbn.inference.asked import Asked
from reidbn.inference.network import Array
from reidbn.whatif.looking import bends, inwards, looked_at
from reidbn.whatif.priors import PriorMeasure
from reidbn.whatif.ranges import takes_whole_numbers
from reidbn.whatif.scan import near_the_ends

MOST_DEGREE = 48  # of an answer that is integrated exactly
LISTED = 33  # whole numbers that are listed one by one
COUNTS = (3, 5, 9, 17)  # points tried on a piece (fewer values than the last but one: all)
CLOSE = 1e-8  # of the largest answer: what an interpolated piece may leave
JUMPS = 16  # pieces to begin with, of an answer that may jump
SAFETY = 3.0  # the error may be this much larger than at those points
MOST_POINTS = 128  # of one axis, about; what is not resolved by then shows in the stated error
FINEST = 1e-12  # of the range: the shortest piece
CANCELLED = 1e-9  # of the terms of a sum: what is left of it has too few digits
SHARE = 1 / 8  # of a piece: no less is cut off
MOST_WHOLE = 1 << 17  # whole numbers that are all asked, to check the pieces at every one


def lagrange(points: Array, at: Array) -> Array:
    """The matrix that takes values at `points` to the interpolating polynomial's values at `at`."""
    scale = 4 / (points.max() - points.min()) if len(points) > 1 else 1.0
    gaps = (points[:, None] - points[None, :]) * scale
    np.fill_diagonal(gaps, 1.0)
    weights = 1 / gaps.prod(axis=1)
    at = np.asarray(at, dtype=float)
    away = at[:, None] - points[None, :]
    hit = away == 0
    terms = weights / np.where(hit, 1.0, away)
    sums = terms.sum(axis=1, keepdims=True)
    beyond = (at < points.min()) | (at > points.max())
    beyond |= np.abs(sums[:, 0]) < CANCELLED * np.abs(terms).sum(axis=1)  # between clusters
    if beyond.any():  # there the sum cancels; 1 over the product of all gaps is the same
        sums[beyond, 0] = scale / (away[beyond] * scale).prod(axis=1)
    out = terms / sums
    rows = hit.any(axis=1)
    out[rows] = hit[rows]
    return np.asarray(out)


@dataclass(frozen=True)
class Piece:
    """An interval on which the answer is a polynomial in the parameter.

    `doubt` is how far it is from being one: the part of the piece in the norm of L2 of the priors.
    """

    low: float
    high: float
    points: Array
    nodes: Array
    weights: Array
    doubt: float = 0.0
    is_settled: bool = True
    cut: float = 0.0  # where to cut it


@dataclass(frozen=True)
class Axis:
    """One parameter: points to ask the engine at, nodes and weights to integrate with.

    For whole numbers Gauss nodes fall between the points; `to_nodes` goes from one to the other.
    """

    name: str
    measure: PriorMeasure
    pieces: tuple[Piece, ...]
    is_exact: bool
    looked_at: int = 0  # whole numbers that were looked at, when those are not all there are
    author: str = ""  # the function whose author's word its degree is

    @cached_property
    def points(self) -> Array:
        return np.concatenate([p.points for p in self.pieces])

    @cached_property
    def nodes(self) -> Array:
        return np.concatenate([p.nodes for p in self.pieces])

    @cached_property
    def weights(self) -> Array:
        return np.concatenate([p.weights for p in self.pieces])

    @property
    def doubt(self) -> float:
        """By how much mean and sd may be off, since pieces are not quite polynomials."""
        return SAFETY * float(np.sqrt(sum(p.doubt**2 for p in self.pieces)))

    @property
    def to_nodes(self) -> Array | None:
        """The matrix that takes values at the points to values at the nodes; None for the same."""
        same = len(self.points) == len(self.nodes) and bool((self.points == self.nodes).all())
        return None if same else self.basis(self.nodes)

    def basis(self, at: Array) -> Array:
        """The matrix that takes values at the points to values anywhere."""
        at = np.asarray(at, dtype=float)
        if len(self.pieces) == 1:
            return lagrange(self.pieces[0].points, at)
        out, start = np.zeros((len(at), len(self.points))), 0
        which = np.searchsorted([p.high for p in self.pieces[:-1]], at)
        for i, piece in enumerate(self.pieces):
            rows = np.flatnonzero(which == i)
            end = start + len(piece.points)
            out[rows, start:end] = lagrange(piece.points, at[rows])
            start = end
        return out


def make_axis(case: Asked, name: str, measure: PriorMeasure) -> Axis:
    """The axis of a parameter: exact when its degree is known or its values are few.

    A degree that a function's author declares is believed where it was looked at, and no proof.
    """
    if measure.is_listed and len(measure.points) <= LISTED:
        pairs = zip(measure.points, measure.weights, strict=True)
        pieces = [Piece(x, x, np.array([x]), np.array([x]), np.array([w])) for x, w in pairs]
        return Axis(name, measure, tuple(pieces), is_exact=True)
    degree = None if takes_whole_numbers(case, name) else case.degree(name)
    if degree is not None and degree <= MOST_DEGREE:
        nodes, weights = measure.gauss(degree + 1)
        piece = Piece(measure.low, measure.high, nodes, nodes, weights)
        author = case.declared_by(name)
        return Axis(name, measure, (piece,), is_exact=not author, author=author)
    cutter = _Cutter(case, name, measure)
    cut = tuple(_pieces(cutter, measure))
    return Axis(name, measure, cut, is_exact=False, looked_at=cutter.looked_at)


def _pieces(cutter: _Cutter, measure: PriorMeasure) -> list[Piece]:
    """Pieces on each of which few points interpolate the answer; the worst is cut first."""
    ends = np.linspace(measure.low, measure.high, cutter.start + 1)
    pieces = [p for low, high in pairwise(ends.tolist()) for p in cutter.assessed(low, high)]
    while True:
        left = [p for p in pieces if not p.is_settled and not cutter.is_finest(p)]
        if not left or sum(len(p.points) for p in pieces) > MOST_POINTS:
            return sorted(pieces, key=lambda p: p.low)
        worst = max(left, key=lambda p: p.doubt)
        pieces.remove(worst)
        for low, high in _halves(worst, integer=measure.integer):
            pieces += cutter.assessed(low, high)


class _Cutter:
    """Asks the engine on pieces of one parameter's range.

    All values of a count are asked at once where one contraction takes them; then a piece is
    checked at every one of its values.
    """

    def __init__(self, case: Asked, name: str, measure: PriorMeasure) -> None:
        self.case, self.name, self.measure = case, name, measure
        self.whole = measure.integer or takes_whole_numbers(case, name)
        count = len(measure.points)
        self.knows_all = measure.is_listed and count <= min(MOST_WHOLE, case.at_once(name))
        # An answer that jumps where an attacker decides otherwise is looked at closely at once.
        self.start = JUMPS if case.jumps(name) and not self.whole else 1
        self._asked: set[float] = set()
        self.seen = measure.points if self.knows_all else self._first_look()
        self.found = self._ask(self.seen, anew=True)
        self.size = float(np.abs(self.found).max())  # of the largest answer so far

    @property
    def looked_at(self) -> int:
        """How many whole numbers were looked at; 0 for all of them, and for real numbers."""
        return 0 if self.knows_all or not self.whole else len(self._asked)

    def is_finest(self, piece: Piece) -> bool:
        if self.whole:
            return piece.high - piece.low < 1
        return piece.high - piece.low <= FINEST * (self.measure.high - self.measure.low)

    def assessed(self, low: float, high: float) -> list[Piece]:
        """The piece with as few points as do, or with the doubt that is left; none if no value."""
        tries = [self._piece(low, high, count) for count in COUNTS]
        if not len(tries[0].points):
            return []
        if self.whole and high - low < COUNTS[-2]:  # short enough: all its values are points
            return [tries[-1]]
        inside = (self.seen >= low) & (self.seen <= high)
        fresh = self._checks(low, high, tries[-1].points)
        values = self._at([*(t.points for t in tries), fresh])
        checks = np.concatenate([self.seen[inside], fresh])
        true, known = np.concatenate([self.found[:, inside], values[-1]], axis=1), values[:-1]
        order = np.argsort(checks)
        checks, true = checks[order], true[:, order]
        self.size = max(self.size, float(np.abs(true).max()))
        for piece, at in zip(tries, known, strict=True):
            off = at @ lagrange(piece.points, checks).T - true
            by_cell, middles = self._cells(low, high, checks, off**2)
            doubt = float(np.sqrt(by_cell.sum()))
            if doubt <= CLOSE * self.size:
                return [replace(piece, doubt=doubt)]
        cut = float(middles @ by_cell / by_cell.sum())
        return [replace(tries[-1], doubt=doubt, is_settled=False, cut=cut)]

    def _cells(self, low: float, high: float, checks: Array, square: Array) -> tuple[Array, Array]:
        """What the answer is off, squared, in every part of a piece; of the worst subject."""
        if self.knows_all:
            weights = self.measure.part(low, high).weights
            by_cell, middles = square * weights, checks
        else:
            edges = np.concatenate([[low], checks[1:-1], [high]])
            mass = self.measure.between(edges)
            by_cell = np.maximum(square[:, 1:], square[:, :-1]) * mass
            middles = (edges[1:] + edges[:-1]) / 2
        return by_cell[by_cell.sum(axis=1).argmax()], middles

    def _first_look(self) -> Array:
        """At even shares of the prior, ever closer to both ends, and where a formula bends."""
        low, high = self.measure.low, self.measure.high
        count = looked_at(self.case)
        even = self.measure.at((np.arange(count) + 0.5) / count)
        bent = bends(self.case, self.name, low, high)
        return self._kept(low, high, np.concatenate([even, inwards(low, high), bent]))

    def _checks(self, low: float, high: float, points: Array) -> Array:
        """Values between the points of a piece, and ever closer to both of its ends."""
        if self.knows_all:
            return np.empty(0)
        ends = np.array([points[0] + low, points[-1] + high]) / 2
        between = (points[1:] + points[:-1]) / 2
        return self._kept(low, high, np.concatenate([inwards(low, high), between, ends]))

    def _kept(self, low: float, high: float, points: Array) -> Array:
        if self.whole:
            points = np.concatenate([np.rint(points), near_the_ends(low, high), [low, high]])
        points = np.unique(points)
        inside = (points >= low) & (points <= high)
        return points[inside if self.whole else inside & (points > low) & (points < high)]

    def _at(self, points: list[Array]) -> list[Array]:
        """The answers at several sets of points, asked together."""
        found = self._ask(np.concatenate(points))
        return np.split(found, np.cumsum([len(p) for p in points])[:-1], axis=1)

    def _ask(self, points: Array, *, anew: bool = False) -> Array:
        if self.knows_all and not anew:
            return self.found[:, np.searchsorted(self.seen, points)]
        if self.whole:
            self._asked.update(points.tolist())
        return self.case.answers({self.name: points})

    def _piece(self, low: float, high: float, count: int) -> Piece:
        nodes, weights = self.measure.part(low, high).gauss(count)
        points = np.unique(np.rint(nodes)) if self.measure.integer else nodes
        return Piece(low, high, points, nodes, weights)


def _halves(piece: Piece, *, integer: bool) -> list[tuple[float, float]]:
    """Two parts; of a wide positive range by ratio, since such answers bend at its low end."""
    low, high = piece.low, piece.high
    least = max(low, 1.0) if integer else low
    if low >= 0 and least > 0 and high / least > 1 / SHARE:
        middle = float(np.sqrt(least * high))
    elif integer:
        middle = (low + high) / 2
    else:
        step = SHARE * (high - low)
        middle = min(max(piece.cut, low + step), high - step)
    if not integer:
        return [(middle, high), (low, middle)]
    middle = float(np.floor(middle))
    return [(middle + 1, high), (low, middle)]
