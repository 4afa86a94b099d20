"""Quadrature: a prior as a few weighted points that give its integrals exactly.

m Gauss points integrate every polynomial of degree 2m - 1 exactly, so degree + 1 points give the
mean and the variance of a polynomial answer exactly: two points for an affine one.  They lie inside
the prior's support, so every one of them is a setting that the attack allows.

The points are the eigenvalues of the Jacobi matrix of the prior's orthogonal polynomials, which
Stieltjes' procedure finds from the prior's own fine quadrature [GolubWelsch69].
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
from reidbn.inference.network import Array
from reidbn.theory.pooling import jacobi

FINE = 128  # points per smooth piece of a prior: enough for 100 Gauss points
Range = tuple[float, float]
SUMMED = 4_096  # whole numbers; a part with fewer is a sum, a longer one nearly an integral
SHORTEST = 1e-12  # of a range: a piece of a law that is cut is no shorter
MOST_PIECES = 2_048  # of a law that is cut
LOST = 1e-3  # sds, or of a law: what its points may leave out
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
        with np.errstate(all="ignore"):
            diagonal, beside = jacobi((self.points - middle) / reach, self.weights / mass, count)
        if not np.isfinite([*diagonal, *beside]).all():  # a steep law does not hold so many
            return np.full(count, np.nan), np.full(count, np.nan)
        matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        t, vectors = np.linalg.eigh(matrix)
        return middle + reach * t, mass * vectors[0] ** 2

    @property
    def ends(self) -> Range:
        """Between what the law runs: a whole number stands for all that is rounded to it."""
        half = 0.5 if self.integer and not (self.is_listed or self.is_fine) else 0.0
        return self.low - half, self.high + half

    @property
    def marks(self) -> Array:
        """Numbers within the range between which experts change little, or hold nothing."""
        found = self.prior.marks
        return found[(found > self.low) & (found < self.high)]

    @cached_property
    def off(self) -> float:
        """By how much the points' own mass, mean and sd are off, in sds: where a law is steep."""
        if self.is_listed or self.is_fine or self.prior.kind != "beta":
            return 0.0
        mean, sd = self.prior.mean(*self.ends), self.prior.sd(*self.ends)
        centred = self.points - mean
        found = [self.weights.sum() - 1, self.weights @ centred / sd,
                 np.sqrt(self.weights @ centred**2) / sd - 1]  # fmt: skip
        return float(np.abs(found).max())

    def below(self, points: Array) -> Array:
        """The probability of lying at or under each point."""
        if self.is_listed:
            sums = np.append(0.0, np.cumsum(self.weights))
            return np.asarray(sums[np.searchsorted(self.points, points, side="right")])
        rounded = np.floor(points) + 0.5 if self.integer else points
        return self.prior.cumulative(np.asarray(rounded), *self.ends)

    def between(self, points: Array) -> Array:
        """The probability of every interval between points; the first point is in the first."""
        reached = self.below(points)
        if self.integer:
            reached[:1] = self.below(points[:1] - 1)
        return np.asarray(np.diff(reached))

    def part(self, low: float, high: float) -> PriorMeasure:
        """What the prior says of an interval within its range."""
        if self.is_listed or self.is_fine:
            inside = (self.points >= low) & (self.points <= high)
            return replace(self, points=self.points[inside], weights=self.weights[inside])
        if self.integer:
            if high - low < SUMMED:
                return self._summed(low, high)
            low, high = low - 0.5, high + 0.5
        points, weights = _continuous(self.prior, *self.ends, (low, high))
        return replace(self, points=points, weights=weights)

    def _summed(self, low: float, high: float) -> PriorMeasure:
        """Every whole number from low to high with its own share: a sum, not an integral."""
        points = np.arange(low, high + 1)
        edges = np.append(points - 0.5, high + 0.5)
        weights = np.diff(self.prior.cumulative(edges, *self.ends))
        kept = weights > 0
        return replace(self, points=points[kept], weights=weights[kept])

    def draw(self, rng: np.random.Generator, count: int) -> Array:
        """Independent draws from the prior."""
        return self.at(rng.random(count))

    def at(self, u: Array) -> Array:
        """The prior's quantiles: where these shares of it lie below."""
        if self.is_listed:
            return self.points[np.searchsorted(np.cumsum(self.weights)[:-1], u, side="right")]
        drawn = self.prior.quantile(u, *self.ends)
        lost = np.isnan(drawn)  # far out in a tail, where no root was found
        drawn = np.where(lost, np.where(u < 0.5, self.low, self.high), drawn)
        return np.clip(np.rint(drawn), self.low, self.high) if self.integer else drawn


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
    if isinstance(prior, CutPrior) and parameter.is_integer:
        prior = replace(prior, whole=(prior.whole[0] - 0.5, prior.whole[1] + 0.5))
    half = 0.5 if parameter.is_integer else 0.0
    ends = low - half, high + half
    try:
        points, weights = _continuous(prior, *ends, ends)
        found = PriorMeasure(points, weights, low, high, prior, parameter.is_integer)
        is_whole = abs(weights.sum() - 1) <= LOST
        if not (is_whole and (isinstance(prior, CutPrior) or found.off <= LOST)):
            raise UsageError(_too_narrow(prior))
    except UsageError as problem:
        raise UsageError(f"{parameter.name}: {problem}") from None
    return found


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
        shape = stats.beta(float(prior.a or 1), float(prior.b or 1), loc=left, scale=width)
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
    least = SHORTEST * (high - low)
    todo = [(a, b, *_piece(prior, a, b)) for a, b in pairwise(ends)]
    pieces: list[Array] = []
    weighed: list[Array] = []
    while todo:
        if len(pieces) + len(todo) > MOST_PIECES:
            raise UsageError(_too_narrow(prior))
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


def _too_narrow(prior: Prior) -> str:
    return (
        f"its beta prior ({prior.a:g}, {prior.b:g}) is too narrow for the digits that a number "
        f"has: leave the prior out, so that its value stands alone, or give smaller shapes (up to "
        f"1e12 or so)"
    )


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
