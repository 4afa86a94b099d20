"""Quadrature: a prior as a few weighted points that give its integrals exactly.

m Gauss points integrate every polynomial of degree 2m - 1 exactly, so degree + 1 points give the
mean and the variance of a polynomial answer exactly: two points for an affine one.  They lie inside
the prior's support, so every one of them is a setting that the attack allows.

The points are the eigenvalues of the Jacobi matrix of the prior's orthogonal polynomials, which
Stieltjes' procedure finds from the prior's own fine quadrature [GolubWelsch69].

Axes: a parameter's prior as points to ask the engine at, and a quadrature that stands on them.

An answer of known degree d in the parameter needs d + 1 Gauss points, and then everything is exact.
A formula, or a count with many values, is cut into pieces until a polynomial on each of them agrees
with the engine at random points; few values of a count are simply listed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

from reidbn.attack.evidence import Belief
from reidbn.attack.parts import Parameter
from reidbn.attack.prior import CutPrior, Prior
from reidbn.errors import UsageError
from reidbn.inference.asked import Asked
from reidbn.inference.network import Array
from reidbn.whatif.curve import takes_whole_numbers
from reidbn.whatif.scan import near_the_ends

MOST_DEGREE = 48  # of an answer that is integrated exactly
FINE = 128  # points per smooth piece of a prior: enough for 100 Gauss points
Range = tuple[float, float]
SUMMED = 4_096  # whole numbers; a part with fewer is a sum, a longer one nearly an integral
RESOLVED = 1e-13  # of a law that is cut: what halving a piece of it may change
POLES = 200  # a shape of a beta law, above which it is too steep for Gauss points of its own
NO_PRIOR = ", no prior given"
MOST_LISTED = 200_000  # whole numbers; beyond, their prior is taken as continuous


@dataclass(frozen=True)
class PriorMeasure:
    """A prior as weighted points, fine enough to integrate anything met here.

    The weights sum to 1, or to the probability of a part.
    """

    points: Array
    weights: Array
    low: float
    high: float
    prior: Prior
    integer: bool = False
    is_listed: bool = False  # the points are all the values that there are
    is_fine: bool = False  # the points stand for evidence, wherever they are cut

    def gauss(self, count: int) -> tuple[Array, Array]:
        """Gauss points and weights; the measure's own when it has no more points than that.

        >>> x, w = measure(Parameter("p", 0.5)).gauss(2)
        >>> [round(float(v), 6) for v in x], [round(float(v), 6) for v in w]
        ([0.211325, 0.788675], [0.5, 0.5])
        """
        if len(self.points) <= count:
            return self.points, self.weights
        mass, ends = self.weights.sum(), (self.points[0], self.points[-1])
        middle, reach = sum(ends) / 2, (ends[1] - ends[0]) / 2
        diagonal, beside = _jacobi((self.points - middle) / reach, self.weights / mass, count)
        matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        t, vectors = np.linalg.eigh(matrix)
        return middle + reach * t, mass * vectors[0] ** 2

    @cached_property
    def off(self) -> float:
        """By how much the points' own mass, mean and sd are off, in sds: where a law is steep."""
        if self.is_listed or self.is_fine or self.prior.kind != "beta":
            return 0.0
        mean = self.prior.mean(self.low, self.high)
        sd = self.prior.sd(self.low, self.high)
        centred = self.points - mean
        found = [self.weights.sum() - 1, self.weights @ centred / sd,
                 np.sqrt(self.weights @ centred**2) / sd - 1]  # fmt: skip
        return float(np.abs(found).max())

    def part(self, low: float, high: float) -> PriorMeasure:
        """What the prior says of an interval within its range."""
        if self.is_listed or self.is_fine:
            inside = (self.points >= low) & (self.points <= high)
            return replace(self, points=self.points[inside], weights=self.weights[inside])
        if self.integer:  # a whole number stands for all that is rounded to it
            edges = np.clip([low - 0.5, high + 0.5], self.low, self.high)
            if high - low < SUMMED:
                return self._summed(low, high)
            low, high = float(edges[0]), float(edges[1])
        points, weights = _continuous(self.prior, self.low, self.high, (low, high))
        return replace(self, points=points, weights=weights)

    def _summed(self, low: float, high: float) -> PriorMeasure:
        """Every whole number from low to high with its own share: a sum, not an integral."""
        points = np.arange(low, high + 1)
        edges = np.clip(np.append(points - 0.5, high + 0.5), self.low, self.high)
        weights = np.diff(self.prior.cumulative(edges, self.low, self.high))
        kept = weights > 0
        return replace(self, points=points[kept], weights=weights[kept])

    def draw(self, rng: np.random.Generator, count: int) -> Array:
        """Independent draws from the prior."""
        return self.at(rng.random(count))

    def at(self, u: Array) -> Array:
        """The prior's quantiles: where these shares of it lie below."""
        if self.is_listed:
            return self.points[np.searchsorted(np.cumsum(self.weights)[:-1], u, side="right")]
        drawn = self.prior.quantile(u, self.low, self.high)
        lost = np.isnan(drawn)  # far out in a tail, where no root was found
        drawn = np.where(lost, np.where(u < 0.5, self.low, self.high), drawn)
        return np.rint(drawn) if self.integer else drawn


def _jacobi(t: Array, weights: Array, count: int) -> tuple[Array, Array]:
    """Recurrence coefficients of the polynomials that are orthogonal under weighted points."""
    diagonal, beside = np.empty(count), np.empty(count - 1)
    before, now = np.zeros_like(t), np.ones_like(t)
    for k in range(count):
        diagonal[k] = np.sum(weights * t * now**2)
        if k + 1 < count:
            ahead = (t - diagonal[k]) * now - (beside[k - 1] * before if k else 0.0)
            beside[k] = np.sqrt(np.sum(weights * ahead**2))
            before, now = now, ahead / beside[k]
    return diagonal, beside


def measure(parameter: Parameter, prior: Prior | None = None) -> PriorMeasure:
    """The prior of a parameter (uniform over its range when it has none).

    A count takes the prior rounded to whole numbers, each end with a full share: uniform means
    that every whole number of the range is as likely.
    """
    prior = prior or parameter.prior or Prior("uniform")
    low, high = parameter.range
    if not low < high:
        raise UsageError(f"{parameter.name} has no range to vary over: it is {low:g} to {high:g}")
    wrong = prior.problems(low, high)
    if wrong:
        raise UsageError(f"{parameter.name}: {wrong[0]}")
    if isinstance(prior, Belief):
        return _of_evidence(prior, low, high, integer=parameter.is_integer)
    if parameter.is_integer and high - low < MOST_LISTED:
        return _listed(prior, low, high)
    points, weights = _continuous(prior, low, high, (low, high))
    return PriorMeasure(points, weights, low, high, prior, parameter.is_integer)


def _of_evidence(prior: Belief, low: float, high: float, *, integer: bool) -> PriorMeasure:
    """Counts and experts have laws of their own; a count takes each law rounded."""
    points, weights = prior.points(low, high)
    if not integer:
        return PriorMeasure(points, weights, low, high, prior, is_fine=True)
    whole, which = np.unique(np.rint(points), return_inverse=True)
    shares = np.bincount(which, weights=weights).astype(float)
    return PriorMeasure(
        np.asarray(whole, dtype=float), shares, low, high, prior, integer=True, is_listed=True
    )


def _listed(prior: Prior, low: float, high: float) -> PriorMeasure:
    from scipy import stats

    points = np.arange(low, high + 1)
    first, last = prior.whole if isinstance(prior, CutPrior) else (low, high)
    left, width = first - 0.5, last - first + 1
    if prior.kind == "beta":
        shape = stats.beta(prior.a, prior.b, loc=left, scale=width)
    elif prior.kind == "triangular":
        shape = stats.triang(((prior.mode or first) - left) / width, loc=left, scale=width)
    else:
        shape = stats.uniform(left, width)
    weights = np.diff(shape.cdf(np.append(points - 0.5, points[-1] + 0.5)))
    kept = weights > 0
    return PriorMeasure(
        points[kept], weights[kept] / weights[kept].sum(), low, high, prior, True, True
    )


def _continuous(prior: Prior, low: float, high: float, part: Range) -> tuple[Array, Array]:
    """Points within a part of the range, and their weights: density times width."""
    if isinstance(prior, CutPrior):
        return _of_cut(prior, low, high, part)
    width = high - low
    if prior.kind == "beta" and (prior.a or 1.0) + (prior.b or 1.0) >= POLES:
        return _of_cut(CutPrior.of(prior, (low, high)), low, high, part)
    if prior.kind == "beta":
        left, right = ((x - low) / width for x in part)
        points, weights = _beta(prior.a or 1.0, prior.b or 1.0, left, right)
        return low + width * points, weights
    kinks = [prior.mode] if prior.kind == "triangular" and prior.mode is not None else []
    ends = [part[0], *(k for k in kinks if part[0] < k < part[1]), part[1]]
    t, fine = _legendre()
    pieces, weighed = [], []
    for a, b in pairwise(ends):
        points = a + (b - a) * (1 + t) / 2
        density = np.ones_like(t) if not kinks else 2 * _tent(prior, low, high, points)
        pieces.append(points)
        weighed.append((b - a) / width * fine / 2 * density)
    return np.concatenate(pieces), np.concatenate(weighed)


def _of_cut(prior: CutPrior, low: float, high: float, part: Range) -> tuple[Array, Array]:
    """The same of a law that is cut: pieces so short that halving them changes nothing."""
    mass = prior.mass(low, high)
    marks = prior.quantile(np.array(_levels(prior)), low, high).tolist()
    if prior.kind == "triangular" and prior.mode is not None:
        marks.append(prior.mode)
    ends = [part[0], *(m for m in sorted(set(marks)) if part[0] < m < part[1]), part[1]]
    least = FINEST**2 * (high - low)
    todo = [(a, b, *_piece(prior, a, b)) for a, b in pairwise(ends)]
    pieces, weighed = [], []
    while todo:
        a, b, points, weights = todo.pop()
        middle = (a + b) / 2
        halves = [(x, y, *_piece(prior, x, y)) for x, y in ((a, middle), (middle, b))]
        off = abs(weights.sum() - sum(h[3].sum() for h in halves))
        if off > RESOLVED * mass and b - a > least:
            todo += halves
        else:
            pieces.append(points)
            weighed.append(weights / mass)
    order = np.argsort(together := np.concatenate(pieces))
    return together[order], np.concatenate(weighed)[order]


def _levels(prior: CutPrior) -> list[float]:
    """Where a law is cut to begin with: around its mass, unless a pole's own points see to that."""
    shapes = (prior.a, prior.b) if prior.kind == "beta" and prior.a and prior.b else (POLES, POLES)
    below = [1e-9, 1e-3] if shapes[0] >= POLES else []
    above = [1 - 1e-3, 1 - 1e-9] if shapes[1] >= POLES else []
    return [*below, 0.5, *above] if below and above else below + above


def _piece(prior: CutPrior, low: float, high: float) -> tuple[Array, Array]:
    """Gauss points of a piece of a law on its whole range; poles of a beta go into the weights."""
    start, width = prior.whole[0], prior.whole[1] - prior.whole[0]
    ends = [(low, prior.whole[0], prior.a), (high, prior.whole[1], prior.b)]
    at_pole = any(x == end and (shape or POLES) < POLES for x, end, shape in ends)
    steep = max(prior.a or 0.0, prior.b or 0.0) >= POLES
    if prior.kind == "beta" and prior.a and prior.b and (at_pole or not steep):
        points, weights = _beta(prior.a, prior.b, (low - start) / width, (high - start) / width)
        return start + width * points, weights
    t, fine = _legendre()
    points = low + (high - low) * (1 + t) / 2
    return points, np.asarray((high - low) / 2 * fine * prior.law.pdf(points))


@cache
def _legendre() -> tuple[Array, Array]:
    points, weights = np.polynomial.legendre.leggauss(FINE)
    return points, weights


@cache
def _jacobi_points(at_1: float, at_0: float) -> tuple[Array, Array]:
    from scipy.special import roots_jacobi

    points, weights = roots_jacobi(FINE, at_1, at_0)
    return points, weights


def _beta(a: float, b: float, left: float, right: float) -> tuple[Array, Array]:
    """Points and weights of a part of the beta law; its poles at 0 and 1 go into the weights."""
    from scipy.special import betaln, xlog1py, xlogy

    at_0 = a - 1 if left == 0 and a < POLES else 0.0
    at_1 = b - 1 if right == 1 and b < POLES else 0.0
    t, weights = _jacobi_points(at_1, at_0)
    half = (right - left) / 2
    points = left + half * (1 + t)
    rest = xlogy(a - 1 - at_0, points) + xlog1py(b - 1 - at_1, -points)
    scale = (at_0 + at_1 + 1) * np.log(half) - betaln(a, b)
    return points, np.asarray(weights * np.exp(scale + rest))


def _tent(prior: Prior, low: float, high: float, points: Array) -> Array:
    mode = prior.mode if prior.mode is not None else low
    rising = (points - low) / (mode - low) if mode > low else np.ones_like(points)
    falling = (high - points) / (high - mode) if mode < high else np.ones_like(points)
    return np.asarray(np.where(points < mode, rising, falling))


def prior_text(parameter: Parameter) -> str:
    """A prior in words.

    >>> prior_text(Parameter("p", 0.5))
    'uniform 0 to 1, no prior given'
    """
    low, high = parameter.range
    prior = parameter.prior
    if isinstance(prior, Belief):
        cut = "" if (low, high) == prior.ends else f", cut to {low:g} to {high:g}"
        return f"{prior.words()}{cut}"
    if prior is None:
        return f"uniform {low:g} to {high:g}{NO_PRIOR}"
    shape = {"beta": f"({prior.a:g}, {prior.b:g})" if prior.a and prior.b else "",
             "triangular": f" around {prior.mode:g}" if prior.mode is not None else ""}  # fmt: skip
    first, last = prior.whole if isinstance(prior, CutPrior) else (low, high)
    cut = f", cut to {low:g} to {high:g}" if isinstance(prior, CutPrior) else ""
    return f"{prior.kind}{shape.get(prior.kind, '')} {first:g} to {last:g}{cut}"


def cut_to(parameter: Parameter, low: float, high: float) -> tuple[float, float, Prior | None]:
    """What a parameter's own prior says within a range: cut where it is narrower, never moved."""
    prior = parameter.prior
    if prior is None or isinstance(prior, Belief):
        return low, high, prior
    whole = parameter.range
    first, last = max(low, whole[0]), min(high, whole[1])
    if first > last:
        raise UsageError(
            f"{parameter.name}: its {prior.kind} prior lies between {whole[0]:g} and {whole[1]:g}, "
            f"and over= asks for {low:g} to {high:g}; name a range that meets it, or give another "
            f"prior for it in priors="
        )
    uncut = (first, last) == whole or prior.kind == "uniform"
    return first, last, prior if uncut else CutPrior.of(prior, whole)


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
    if beyond.any():  # there the sum cancels; 1 over the product of all gaps is the same
        sums[beyond, 0] = scale / (away[beyond] * scale).prod(axis=1)
    out = terms / sums
    rows = hit.any(axis=1)
    out[rows] = hit[rows]
    return np.asarray(out)


# -- axes ------------------------------------------------------------------------------------------


LISTED = 33  # whole numbers that are listed one by one
COUNTS = (3, 5, 9, 17)  # points tried on a piece (fewer values than the last but one: all)
CLOSE = 1e-8  # of the largest answer: what an interpolated piece may change the mean
CHECKS = 7  # random points at which a piece is checked
JUMPS = 16  # pieces to begin with, of an answer that may jump
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


def make_axis(case: Asked, name: str, measure: PriorMeasure) -> Axis:
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


def even_axis(name: str, measure: PriorMeasure, count: int) -> Axis:
    """About so many cells of equal shares of the prior, in each of which the answer is one number.

    Where edges run slantwise across the axes, nothing finer along one of them helps.
    """
    at = measure.at((np.arange(count) + 0.5) / count)
    points, shares = np.unique(at, return_counts=True)
    between = (points[1:] + points[:-1]) / 2
    ends = [measure.low, *between.tolist(), measure.high]
    pieces = tuple(
        Piece(low, high, np.array([x]), np.array([x]), np.array([w / count]))
        for low, high, x, w in zip(ends, ends[1:], points.tolist(), shares.tolist(), strict=False)
    )
    return Axis(name, measure, pieces, is_exact=False)


def _pieces(cutter: _Cutter, measure: PriorMeasure) -> list[Piece]:
    """Pieces on each of which few points interpolate the answer; the worst is halved first."""
    ends = np.linspace(measure.low, measure.high, cutter.start + 1)
    pieces = [p for low, high in pairwise(ends.tolist()) for p in cutter.assessed(low, high)]
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

    def __init__(self, case: Asked, name: str, measure: PriorMeasure) -> None:
        self.case, self.name, self.measure = case, name, measure
        self.rng = np.random.default_rng(SEED)
        self.size = 0.0  # of the largest answer so far
        self.whole = measure.integer or takes_whole_numbers(case, name)
        count = len(measure.points)
        self.knows_all = measure.is_listed and count <= min(MOST_WHOLE, case.at_once(name))
        # An answer that jumps where an attacker decides otherwise is looked at closely at once.
        self.start = JUMPS if case.jumps(name) and not self.whole else 1
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
