"""Curve: the answer of every subject as an exact function of one parameter.

P(target, evidence) and P(evidence) are polynomials in a parameter, so a few evaluations fix them
everywhere; they are kept as Chebyshev coefficients, which lose no digits at any degree met here.
With evidence the answer is their ratio,

    R(p) = N(p) / E(p),     R'(p) = (N'(p) E(p) - N(p) E'(p)) / E(p)^2                          (1)

and where both vanish (evidence that p = 0 makes impossible, say) R is the limit.  A factor p that
N and E share is divided out first: at p = 0 it would make a root of N - target E and close to it
leave nothing but rounding.

Responses: how the answer moves when one parameter moves and all others stay.

`method` says how each is known:

    exact affine       a straight line, fixed by two evaluations
    exact polynomial   a parameter that several tables share, fixed by degree + 1 evaluations
    exact ratio        a question with evidence: a ratio of two such polynomials
    interpolated       a smooth formula: a Chebyshev series, checked wherever looking.py looks
    as declared ...    a polynomial as the author of a function says, likewise
    scan               integers, sizes of state lists, what is not smooth: value by value

Each polynomial is checked at random interior points (a midpoint would miss p (1-p) (1-2p)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.polynomial import chebyshev as cheb
from numpy.typing import NDArray

from reidbn.errors import EngineError, ImpossibleEvidence
from reidbn.inference.asked import MOST_NUMBERS, Asked, Values
from reidbn.inference.network import FAULT, MASS, Array, as_probability, strays
from reidbn.progress import progress
from reidbn.whatif.looking import look
from reidbn.whatif.ranges import Range, allowed_range, takes_whole_numbers, where_it_can_be

NOISE = 1e-13  # below this share of the largest value a number counts as rounding noise


def nodes(degree: int, low: float, high: float) -> Array:
    """Points that fix a polynomial of this degree on an interval: its ends and what is between.

    >>> nodes(2, 0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    points = (low + high) / 2 + (high - low) / 2 * extrema(degree)
    return np.asarray(np.clip(points, low, high))


def extrema(degree: int) -> Array:
    """Where Chebyshev's polynomial of this degree is 1 or -1, increasing; 0 for degree 0."""
    k = np.arange(degree + 1)
    return np.asarray(np.sin(np.pi * (2 * k - degree) / (2 * max(degree, 1))))


def coefficients(values: Array) -> Array:
    """Chebyshev coefficients (axis 0) of the polynomials with these values at `nodes` (axis 1)."""
    degree = values.shape[1] - 1
    return np.asarray(np.linalg.solve(cheb.chebvander(extrema(degree), degree), values.T))


def value(t: Array, coefs: Array) -> Array:
    """Chebyshev series at t in [-1, 1]: subjects x points."""
    return np.asarray(cheb.chebval(t, coefs), dtype=float)


def derivative(coefs: Array) -> Array:
    """Coefficients of the derivative; one of nought for a constant."""
    found = cheb.chebder(coefs) if len(coefs) > 1 else np.zeros_like(coefs)
    return np.asarray(found, dtype=float)


def divided(coefs: Array, end: float) -> Array:
    """Coefficients of the series divided by (t - end), which is a factor of it; end is 1 or -1.

    t T_n = (T_{n+1} + T_{|n-1|}) / 2, read from the highest coefficient down.

    >>> divided(np.array([[1.0], [1.0]]), -1.0).tolist()
    [[1.0], [0.0]]
    """
    out = np.zeros((len(coefs) + 2, *coefs.shape[1:]))
    for n in range(len(coefs) - 1, 0, -1):
        out[n - 1] = 2 * (coefs[n] + end * out[n]) - out[n + 1]
    out[0] /= 2
    return out[: len(coefs)]


@dataclass(frozen=True)
class Curve:
    """N and E of every subject on [low, high]: coefficients x subjects; E is 1 without evidence."""

    low: float
    high: float
    numerator: Array
    evidence: Array

    @classmethod
    def through(cls, low: float, high: float, numerator: Array, evidence: Array | None) -> Curve:
        """The curve with these values (subjects x nodes) at the nodes of the interval."""
        bottom = np.ones((1, len(numerator))) if evidence is None else coefficients(evidence)
        return cls(low, high, coefficients(numerator), bottom)

    @property
    def subjects(self) -> int:
        return int(self.numerator.shape[1])

    @property
    def is_polynomial(self) -> bool:
        return len(self.evidence) == 1

    def position(self, points: Array) -> Array:
        """Points as positions from -1 to 1."""
        points = np.atleast_1d(np.asarray(points, dtype=float))
        return np.asarray((2 * points - self.low - self.high) / (self.high - self.low))

    def parameter(self, position: float) -> float:
        """A position from -1 to 1 as a value of the parameter."""
        return (self.low + self.high) / 2 + (self.high - self.low) / 2 * position

    def parts(self, points: Array) -> tuple[Array, Array]:
        """N and E at points: subjects x points."""
        t = self.position(points)
        return value(t, self.numerator), value(t, self.evidence)

    @cached_property
    def _reduced(self) -> tuple[Array, Array]:
        """N and E without the factors that they share at the ends of the interval."""
        top, bottom = self.numerator, self.evidence
        for end in (-1.0, 1.0):
            for _ in range(len(bottom) - 1):
                at = np.array([end])
                both = (_vanishes(value(at, top), top) & _vanishes(value(at, bottom), bottom))[:, 0]
                both &= np.abs(bottom).sum(axis=0) > 0
                if not both.any():
                    break
                top, bottom = (np.where(both, divided(c, end), c) for c in (top, bottom))
        return top, bottom

    def __call__(self, points: Array) -> Array:
        """The answer at points: subjects x points."""
        t, (above, below) = self.position(points), self._reduced
        top, bottom = value(t, above), value(t, below)
        empty = _vanishes(bottom, below)
        out = np.asarray(top / np.where(empty, 1.0, bottom))
        return self._with_limits(points, out, empty) if empty.any() else out

    def rounding(self, points: Array) -> Array:
        """By how much rounding may have moved the answer at points: subjects x points.

        Much where the evidence is far rarer than elsewhere on the interval.
        """
        above, below = self._reduced
        large, whole = (np.abs(c).sum(axis=0)[:, None] for c in (above, below))
        bottom = np.maximum(np.abs(value(self.position(points), below)), NOISE * whole)
        return np.asarray(NOISE * (large + whole) / bottom)

    def _with_limits(self, points: Array, out: Array, todo: NDArray[np.bool_]) -> Array:
        """Ratios where both vanish: of the first derivatives that do not (de l'Hopital)."""
        (top, bottom), t = self._reduced, self.position(points)
        while todo.any() and len(bottom) > 1:
            top, bottom = derivative(top), derivative(bottom)
            above, below = value(t, top), value(t, bottom)
            ready = todo & ~_vanishes(below, bottom)
            out[ready] = above[ready] / below[ready]
            todo = todo & ~ready
        if todo.any():
            raise ImpossibleEvidence("the evidence has probability 0 at every value")
        return out

    def slope(self, points: Array) -> Array:
        """dR/dp at points, equation (1): subjects x points."""
        t, scale = self.position(points), 2 / (self.high - self.low)
        above, below = self._reduced
        rise, fall = value(t, derivative(above)), value(t, derivative(below))
        bottom = value(t, below)
        return np.asarray(scale * (rise - self(points) * fall) / bottom)

    def mean(self, weights: Array | None = None) -> Curve:
        """The mean answer over subjects, which is a polynomial too when nothing is given."""
        if not self.is_polynomial:
            raise ValueError("a mean of ratios is no ratio of two polynomials")
        top = self.numerator / self.evidence
        mean = np.asarray(np.average(top, axis=1, weights=weights, keepdims=True))
        return Curve(self.low, self.high, mean, np.ones((1, 1)))

    def turning_points(self) -> Array:
        """Where the one curve's slope may vanish: a superset, ends not included."""
        top, bottom = (c[:, 0] for c in self._reduced)
        rise = cheb.chebmul(derivative(top), bottom)
        fall = cheb.chebmul(top, derivative(bottom))
        return self._roots(np.asarray(cheb.chebsub(rise, fall), dtype=float))

    def gap(self, target: float) -> tuple[Array, float]:
        """Coefficients of N - target E of the one curve, and how large its parts are.

        Its sign is that of the answer less the target.
        """
        above, below = (c[:, 0] for c in self._reduced)
        turned = -1.0 if float(value(np.array([0.0123]), below)[0]) < 0 else 1.0
        size = float(np.abs(above).sum() + target * np.abs(below).sum())
        return turned * np.asarray(cheb.chebsub(above, target * below), dtype=float), size

    def size(self, target: float, low: float, high: float) -> float:
        """How large N + target E gets on an interval, about."""
        t = self.position(np.linspace(low, high, 2 * len(self.numerator) + 1))
        above, below = (value(t, c[:, 0]) for c in self._reduced)
        return float(np.abs(above).max() + target * np.abs(below).max())

    @property
    def is_monotone(self) -> bool:
        """True when every subject's answer is proven to rise, or every one's to fall."""
        if not self.is_polynomial:
            return False
        slopes = derivative(self.numerator / self.evidence)
        reach, hair = np.abs(slopes[1:]).sum(axis=0), NOISE * np.abs(self.numerator).max()
        return bool((slopes[0] - reach >= -hair).all() or (slopes[0] + reach <= hair).all())

    def _roots(self, coefs: Array) -> Array:
        """Real roots of a polynomial within the interval, double ones once."""
        size = float(np.abs(coefs).max())
        trimmed: Array = (
            coefs[:1] if size == 0 else np.array(cheb.chebtrim(coefs, NOISE * size), float)
        )
        if len(trimmed) < 2:
            return np.empty(0)
        roots = np.asarray(cheb.chebroots(trimmed), dtype=complex)
        real = roots.real[np.abs(roots.imag) < 1e-6]
        slope = derivative(trimmed)
        for _ in range(3):  # polish: a companion matrix leaves the last digits open
            step, steep = value(real, trimmed), value(real, slope)
            flat = np.abs(steep) <= 1e-6 * np.abs(slope).sum()
            real = np.where(flat, real, real - step / np.where(flat, 1.0, steep))
        inside = np.unique(np.clip(real[np.abs(real) <= 1 + 1e-12], -1.0, 1.0))
        distinct = inside[np.diff(inside, prepend=-np.inf) > 1e-7]  # a double root splits so far
        return np.asarray((self.low + self.high) / 2 + (self.high - self.low) / 2 * distinct)


def _vanishes(values: Array, coefs: Array) -> NDArray[np.bool_]:
    """Where a series is nought but for rounding."""
    return np.asarray(np.abs(values) <= NOISE * np.abs(coefs).sum(axis=0)[:, None])


# -- responses -------------------------------------------------------------------------------------


AFFINE, POLYNOMIAL, RATIO = "exact affine", "exact polynomial", "exact ratio"
INTERPOLATED, SCAN, DIFFERENCE = "interpolated", "scan", "finite difference"
DECLARED = "as declared by the author"  # of a function, who says that it is a polynomial
EXACT = (AFFINE, POLYNOMIAL, RATIO)
CHECKS = 3  # random interior points at which a curve must hold
CLOSE = 1e-11  # of the largest value: how well it must hold there
MOST_DEGREE = 160  # beyond this a tied parameter is treated as a smooth formula
TRIES = (8, 16, 32, 64, 128)  # degrees tried for a smooth formula
SEED = 20250101


@dataclass(frozen=True)
class Response:
    """The answers of all subjects as a function of one parameter on [low, high]."""

    case: Asked
    name: str
    low: float
    high: float
    method: str
    curve: Curve | None = None
    error: float = 0.0
    checks: int = CHECKS  # values at which the curve was compared with the engine
    notes: tuple[str, ...] = field(default=())

    @property
    def base(self) -> float:
        return self.case.base(self.name)

    @property
    def is_integer(self) -> bool:
        return takes_whole_numbers(self.case, self.name)

    def over(self, low: float, high: float) -> Response:
        """The same response with its curve read on another interval."""
        assert self.curve is not None  # noqa: S101 - only curves can be read again
        points = nodes(len(self.curve.numerator) - 1, low, high)
        found = self.case.evaluate({self.name: points}, validate=False)
        curve = Curve.through(low, high, found.numerator, found.evidence)
        return replace(self, curve=curve)

    def values(self, points: Array) -> Array:
        """The answers at points: subjects x points."""
        points = np.atleast_1d(np.asarray(points, dtype=float))
        if self.curve is None:
            with where_it_can_be([self.name]):
                return self.case.answers({self.name: points})
        step = max(1, MOST_NUMBERS // self.curve.subjects)
        parts = [self._read(self.curve, points[i : i + step]) for i in range(0, len(points), step)]
        return np.concatenate(parts, axis=1)

    def _read(self, curve: Curve, points: Array) -> Array:
        """The curve at points; the engine's own answer where it strays from 0..1 for good reason.

        Digits are lost where evidence is rare, and a formula is followed only nearly.  What nothing
        explains is a fault.
        """
        found = curve(points)
        far = strays(found)
        if not far.any():
            return as_probability(found)
        known = as_probability(found, self._rounding(curve, points))
        again = far.any(axis=0)
        own = self.case.evaluate({self.name: points[again]})
        known[:, again] = np.where(own.possible, own.probability, known[:, again])
        return known

    def _rounding(self, curve: Curve, points: Array) -> Array | float:
        """How far an exact curve may be off where digits are lost; a formula's is only measured."""
        return curve.rounding(points) * (1 + self.error / NOISE) if self.method in EXACT else np.inf

    def check(self, points: Array, found: Values) -> None:
        """An exact curve goes through answers that the engine gave and checked, else it is a fault.

        A curve is read off where no table can be checked, so this is the test of it.
        """
        if self.curve is None or self.method not in EXACT:
            return
        off = np.abs(self.curve(points) - found.probability)
        slack = MASS + self._rounding(self.curve, points)
        if not ((off <= slack) | ~found.possible).all():  # also catches NaN
            worst = float(np.nanmax(np.where(found.possible, off, 0.0)))
            raise EngineError(
                f"the answer as a function of {self.name} is {worst:.3g} from the answer itself. "
                f"{FAULT}"
            )


def responses(
    case: Asked, names: Sequence[str], ranges: Mapping[str, Range | None] | None = None
) -> dict[str, Response]:
    """The responses to several parameters; all exact ones from one contraction."""
    spans = {n: (ranges or {}).get(n) or case.parameter(n).range for n in names}
    degrees = {n: _degree(case, n) for n in names if not case.declared_by(n)}
    known = {n: d for n, d in degrees.items() if d is not None}
    curves = _polynomials(case, known)
    return {
        n: _response(case, n, spans[n], known.get(n), curves.get(n))
        for n in progress(names, "parameters")
    }


def _degree(case: Asked, name: str) -> int | None:
    """The degree to interpolate at, when theory gives one; 0 for what cannot matter."""
    if not case.matters(name):
        return 0
    if takes_whole_numbers(case, name) or case.jumps(name):
        return None
    degree = case.degree(name)
    return degree if degree is not None and degree <= MOST_DEGREE else None


def _response(
    case: Asked, name: str, span: Range, degree: int | None, fitted: tuple[Curve, float] | None
) -> Response:
    (low, high), notes = allowed_range(case, name, span)
    if not case.matters(name):
        still = (*notes, "cannot change this answer")
        curve = fitted[0] if fitted else None
        return Response(case, name, low, high, AFFINE, curve, notes=still)
    if fitted and degree is not None:
        return Response(case, name, low, high, _label(case, degree), *fitted, notes=notes)
    if takes_whole_numbers(case, name) or low == high:
        return Response(case, name, low, high, SCAN, notes=notes)
    if case.jumps(name):
        return Response(case, name, low, high, SCAN, notes=(*notes, case.jumps(name)))
    if (low, high) != span and case.is_conditional:  # evidence that an end excludes has a limit
        wider, cut = allowed_range(case, name, span, evidence=False)
        smooth = _smooth(case, name, *wider)
        if smooth is not None:
            curve, error, checks, how = smooth
            return Response(case, name, *wider, how, curve, error, checks, cut)
    smooth = _smooth(case, name, low, high)
    if smooth is None:
        return Response(case, name, low, high, SCAN, notes=(*notes, "not smooth"))
    curve, error, checks, how = smooth
    return Response(case, name, low, high, how, curve, error, checks, notes)


def _label(case: Asked, degree: int) -> str:
    if case.is_conditional:
        return RATIO
    return AFFINE if degree <= 1 else POLYNOMIAL


def wide(case: Asked, name: str) -> Range:
    """An interval to read a polynomial off: wide, so that differences keep their digits."""
    low, high = case.parameter(name).range
    low, high = min(low, case.base(name)), max(high, case.base(name))
    if case.parameter(name).unit == "probability":
        return min(low, 0.0), max(high, 1.0)
    if low < high:
        return low, high
    reach = max(abs(low) / 2, 0.5)
    return low - reach, high + reach


def _polynomials(case: Asked, degrees: Mapping[str, int]) -> dict[str, tuple[Curve, float]]:
    """The curves of parameters with known degrees, one parameter at a time, in one contraction.

    A curve that fails its check is left out.
    """
    rng = np.random.default_rng(SEED)
    points: dict[str, Array] = {}
    for name, degree in degrees.items():
        low, high = wide(case, name)
        check = low + (high - low) * rng.uniform(0.02, 0.98, CHECKS)
        fixed = np.array([case.base(name)])
        points[name] = np.concatenate([nodes(degree, low, high), check]) if degree else fixed
    values = one_at_a_time(case, points, validate=False)
    found = {}
    for name, degree in degrees.items():
        curve, error = _fit(*wide(case, name), points[name], values[name], degree)
        if error <= CLOSE:
            found[name] = curve, error
    return found


def one_at_a_time(
    case: Asked, points: Mapping[str, Array], *, validate: bool = True
) -> dict[str, Values]:
    """The answers where each parameter in turn takes its points and all others stay.

    A derived number is asked by itself: held at its base, it would not follow the others.
    """
    numbers = {n: p for n, p in points.items() if n in case.attack.numbers}
    found = _in_turn(case, {n: p for n, p in points.items() if n not in numbers}, validate=validate)
    for name, at in numbers.items():
        found |= _in_turn(case, {name: at}, validate=validate)
    return {name: found[name] for name in points}


def _in_turn(case: Asked, points: Mapping[str, Array], *, validate: bool) -> dict[str, Values]:
    """The same from one contraction."""
    starts = np.cumsum([0, *(len(p) for p in points.values())])
    changes = {}
    for i, name in enumerate(points):
        column = np.full(starts[-1], case.base(name))
        column[starts[i] : starts[i + 1]] = points[name]
        changes[name] = column
    if not changes:
        return {}
    found = case.evaluate(changes, validate=validate)
    out = {}
    for i, name in enumerate(points):
        part = slice(starts[i], starts[i + 1])
        bottom = None if found.evidence is None else found.evidence[:, part]
        out[name] = Values(found.numerator[:, part], bottom)
    return out


def _fit(
    low: float, high: float, points: Array, values: Values, degree: int
) -> tuple[Curve, float]:
    """The curve through the first points, and its largest error at the rest, relative."""
    at, rest = slice(None, degree + 1), slice(degree + 1, None)
    bottom = None if values.evidence is None else values.evidence[:, at]
    curve = Curve.through(low, high, values.numerator[:, at], bottom)
    if degree + 1 == len(points):
        return curve, 0.0
    error = 0.0
    for fitted, true in zip(
        curve.parts(points[rest]), (values.numerator, values.evidence), strict=True
    ):
        if true is not None:
            size = float(np.abs(true).max()) or 1.0
            error = max(error, float(np.abs(fitted - true[:, rest]).max()) / size)
    return curve, error


def _smooth(
    case: Asked, name: str, low: float, high: float
) -> tuple[Curve, float, int, str] | None:
    """A Chebyshev series of a formula, of the first degree that holds wherever it is looked at.

    With its error, at how many values, and how the degree is known.
    """
    check = np.append(look(case, name, low, high), np.clip(case.base(name), low, high))
    true = case.evaluate({name: check})
    declared = _degree(case, name)  # else it would be no formula
    for degree in TRIES if declared is None else (declared, *TRIES):
        at = nodes(degree, low, high)
        both = _beside(case.evaluate({name: at}), true)
        curve, error = _fit(low, high, np.append(at, check), both, degree)
        if error <= CLOSE:
            how = DECLARED if degree == declared else INTERPOLATED
            return curve, error, len(check), how
    return None


def _beside(one: Values, other: Values) -> Values:
    """Answers at two sets of points as those at both."""
    top = np.concatenate([one.numerator, other.numerator], axis=1)
    if one.evidence is None or other.evidence is None:
        return Values(top)
    return Values(top, np.concatenate([one.evidence, other.evidence], axis=1))
