"""Axes: a parameter's prior as points to ask the engine at, and a quadrature that stands on them.

An answer of known degree d in the parameter needs d + 1 Gauss points, and then everything is exact.
A formula, or a count with many values, is cut into pieces until a polynomial on each of them agrees
with the engine at random points; few values of a count are simply listed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from reidbn.inference.case import Case
from reidbn.inference.network import Array
from reidbn.inference.quadrature import PriorMeasure, lagrange
from reidbn.inference.responses import MOST_DEGREE, takes_whole_numbers
from reidbn.inference.search import near_the_ends

LISTED = 33  # whole numbers that are listed one by one
COUNTS = (3, 5, 9, 17)  # points tried on a piece (fewer values than the last but one: all)
CLOSE = 1e-8  # of the largest answer: what an interpolated piece may change the mean
CHECKS = 7  # random points at which a piece is checked
SAFETY = 3.0  # the error may be this much larger than at those points
MOST_POINTS = 96  # of one axis, about; what is not resolved by then shows in the stated error
FINEST = 1e-6  # of the range: the shortest piece
MOST_WHOLE = 1 << 17  # whole numbers that are all asked, to check the pieces at every one
SEED = 20250102


@dataclass(frozen=True)
class Piece:
    """An interval on which the answer is a polynomial in the parameter.

    `doubt` is above 0 where it is not quite one: about what that can change the mean.
    """

    low: float
    high: float
    points: Array
    nodes: Array
    weights: Array
    doubt: float = 0.0


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
        """About what pieces that were not resolved can change the mean."""
        return sum(p.doubt for p in self.pieces)

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

    def finer(self, count: int) -> Axis:
        """The same points, with at least `count` quadrature nodes on every piece."""
        return self._with_nodes([max(count, len(p.points)) for p in self.pieces])

    def coarser(self) -> Axis:
        """The same points, with two quadrature nodes less on every piece that can spare them."""
        return self._with_nodes([max(len(p.nodes) - 2, min(2, len(p.nodes))) for p in self.pieces])

    def _with_nodes(self, counts: list[int]) -> Axis:
        pieces = []
        for piece, count in zip(self.pieces, counts, strict=True):
            nodes, weights = self.measure.part(piece.low, piece.high).gauss(count)
            pieces.append(replace(piece, nodes=nodes, weights=weights))
        return replace(self, pieces=tuple(pieces))


def make_axis(case: Case, name: str, measure: PriorMeasure) -> Axis:
    """The axis of a parameter: exact when its degree is known or its values are few."""
    if measure.is_listed and len(measure.points) <= LISTED:
        pairs = zip(measure.points, measure.weights, strict=True)
        pieces = [Piece(x, x, np.array([x]), np.array([x]), np.array([w])) for x, w in pairs]
        return Axis(name, measure, tuple(pieces), is_exact=True)
    degree = None if takes_whole_numbers(case, name) else case.degree(name)
    if degree is not None and degree <= MOST_DEGREE:
        nodes, weights = measure.gauss(degree + 1)
        piece = Piece(measure.low, measure.high, nodes, nodes, weights)
        return Axis(name, measure, (piece,), is_exact=True)
    cutter = _Cutter(case, name, measure)
    cut = tuple(_pieces(cutter, measure))
    return Axis(name, measure, cut, is_exact=False, looked_at=cutter.looked_at)


def _pieces(cutter: _Cutter, measure: PriorMeasure) -> list[Piece]:
    """Pieces on each of which few points interpolate the answer; the worst is halved first."""
    pieces = cutter.assessed(measure.low, measure.high)
    while True:
        worst = max(pieces, key=lambda p: p.doubt)
        points = sum(len(p.points) for p in pieces)
        if worst.doubt == 0 or points > MOST_POINTS or cutter.is_finest(worst):
            return sorted(pieces, key=lambda p: p.low)
        pieces.remove(worst)
        for low, high in _halves(worst.low, worst.high, integer=measure.integer):
            pieces += cutter.assessed(low, high)


class _Cutter:
    """Asks the engine on pieces of one parameter's range.

    All values of a count are asked at once where one contraction takes them; then a piece is
    checked at every one of its values.  Otherwise it is checked at random ones, and at those near
    the ends of the range, where 1/n and its like bend.
    """

    def __init__(self, case: Case, name: str, measure: PriorMeasure) -> None:
        self.case, self.name, self.measure = case, name, measure
        self.rng = np.random.default_rng(SEED)
        self.size = 0.0  # of the largest answer so far
        self.whole = measure.integer or takes_whole_numbers(case, name)
        count = len(measure.points)
        self.knows_all = measure.is_listed and count <= min(MOST_WHOLE, case.at_once(name))
        self._asked: set[float] = set()
        self.all = case.answers({name: measure.points}) if self.knows_all else np.empty((1, 0))

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
        checks = self._checks(low, high)
        points = np.concatenate([*(t.points for t in tries), checks])
        values = self._ask(points)
        self.size = max(self.size, float(np.abs(values).max()))
        true, start = values[:, -len(checks) :], 0
        for piece in tries:
            known = values[:, start : start + len(piece.points)]
            start += len(piece.points)
            off = float(np.abs(known @ lagrange(piece.points, checks).T - true).max())
            doubt = off * float(piece.weights.sum())
            if doubt <= CLOSE * self.size:
                return [piece]
        return [replace(tries[-1], doubt=(1.0 if self.knows_all else SAFETY) * doubt)]

    def _checks(self, low: float, high: float) -> Array:
        if self.knows_all:
            every = self.measure.points
            return every[(every >= low) & (every <= high)]
        checks = self.rng.uniform(low, high, CHECKS)
        if not self.whole:
            return checks
        ends = [near_the_ends(low, high), [low, high]]
        return np.unique(np.concatenate([np.rint(checks), *ends]))

    def _ask(self, points: Array) -> Array:
        if self.knows_all:
            return self.all[:, np.searchsorted(self.measure.points, points)]
        self._asked.update(points.tolist())
        return self.case.answers({self.name: points})

    def _piece(self, low: float, high: float, count: int) -> Piece:
        nodes, weights = self.measure.part(low, high).gauss(count)
        points = np.unique(np.rint(nodes)) if self.measure.integer else nodes
        return Piece(low, high, points, nodes, weights)


def _halves(low: float, high: float, *, integer: bool) -> list[tuple[float, float]]:
    """Two halves; of a wide positive range by ratio, since such answers bend at its low end."""
    least = max(low, 1.0) if integer else low
    by_ratio = low >= 0 and least > 0 and high / least > 8
    middle = float(np.sqrt(least * high)) if by_ratio else (low + high) / 2
    if not integer:
        return [(middle, high), (low, middle)]
    middle = float(np.floor(middle))
    return [(middle + 1, high), (low, middle)]
