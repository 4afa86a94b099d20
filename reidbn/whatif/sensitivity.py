"""Sensitivity: slopes, extremes and crossings of an answer in one parameter.

Slopes are exact wherever the answer is a polynomial or a ratio of two; an integer has none, so the
difference of its neighbours stands in for it, labelled as such.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reidbn.attack.limits import refuse_beyond_range
from reidbn.errors import UsageError
from reidbn.inference.asked import MOST_NUMBERS, Asked, Values
from reidbn.inference.network import Array, as_probability, strays
from reidbn.whatif.curve import (
    DIFFERENCE,
    EXACT,
    Curve,
    Response,
    coefficients,
    derivative,
    nodes,
    responses,
    value,
    wide,
)
from reidbn.whatif.looking import look
from reidbn.whatif.ranges import Range, allowed_range, takes_whole_numbers
from reidbn.whatif.scan import Scan, near_the_ends, spread
from reidbn.whatif.summaries import Summary, mean, summary

POINTS = 257  # of a first scan over real numbers
INTEGERS = 2_000  # a range with no more integers is scanned whole ...
MOST_WHOLE = 1 << 17  # ... and one of so many, as long as one contraction takes them all
PEAKS = 8  # peaks, and as many dips, that a scan with gaps climbs
REBUILDS = 65  # a size of a state list rebuilds the network, so fewer
Over = Mapping[str, Range | None] | Sequence[str] | str | None
NEARER = 6  # times that it is tried ten times closer, where it strays between its points by ...
SMOOTH = 1e-9  # ... more than this share of the largest answer
POLICY_KEPT = "the attacker's policy kept"
POLICY_JUMPS = "the attacker decides otherwise close by"
LOCAL = 8  # degree of the local fit behind a finite difference


@dataclass(frozen=True)
class Slope:
    """d(answer)/d(parameter) at the base value; elasticity is the relative form, p R'(p) / R(p)."""

    parameter: str
    value: float
    answer: float
    slope: float
    method: str

    @property
    def elasticity(self) -> float | None:
        """Per cent of the answer per per cent of the parameter; None when the answer is 0."""
        return self.slope * self.value / self.answer if self.answer else None


def slopes(case: Asked, names: Sequence[str]) -> list[Slope]:
    """The slope of the mean answer over subjects in each parameter."""
    answers, scale = base_answers(case), case.query.scale
    answer = float(mean(answers.probability, case.weights)[0])
    answer = answer if scale is None else scale.value(answer)
    found = responses(case, names)
    out = []
    for name, response in found.items():
        steps, method = subject_slopes(response, answers)
        slope = float(mean(steps, case.weights)) * unit(case)
        out.append(Slope(name, case.base(name), answer, slope, method))
    return out


def unit(case: Asked) -> float:
    """How much of what is asked for a share of its range is: 1 for a probability."""
    return 1.0 if case.query.scale is None else case.query.scale.width


def base_answers(case: Asked) -> Values:
    """The answers at the parameters' own values; a question that has none is refused."""
    found = case.evaluate({})
    case.refuse_impossible(found, {})
    return found


def subject_slopes(response: Response, answers: Values) -> tuple[Array, str]:
    """The slope of every subject's answer at the base value, and how it was found."""
    base = np.array([response.base])
    response.check(base, answers)
    if response.curve is not None:
        return response.curve.slope(base)[:, 0], response.method
    case, name = response.case, response.name
    if takes_whole_numbers(case, name):
        return _per_step(case, name)
    return _local(case, name)


def _per_step(case: Asked, name: str) -> tuple[Array, str]:
    """The difference between the neighbours of an integer, per step."""
    base = case.base(name)
    (low, high), _ = allowed_range(case, name, (base - 1, base + 1))
    if low == high:
        raise UsageError(f"{name}={base:g} has no neighbour to compare with")
    values = case.answers({name: np.array([low, high])})
    return (values[:, 1] - values[:, 0]) / (high - low), f"{DIFFERENCE} {low:g}..{high:g}"


def _local(case: Asked, name: str) -> tuple[Array, str]:
    """The slope of a polynomial through points close to the base value.

    So close that it goes through other points between them, too: that no jump or kink is among
    them, where an attacker decides otherwise.
    """
    base, (first, last) = case.base(name), wide(case, name)
    reach = 1e-2 * (max(abs(base), 1e-3 * (last - first)) or 1.0)
    for _ in range(NEARER):
        (low, high), _notes = allowed_range(case, name, (base - reach, base + reach))
        if low == high:
            raise UsageError(f"{name}={base:g} has no neighbour to compare with")
        at = nodes(LOCAL, low, high)
        between = np.append((at[1:] + at[:-1]) / 2, base)
        values = case.answers({name: np.concatenate([at, between])})
        series = coefficients(values[:, : len(at)])
        t = (2 * between - low - high) / (high - low)
        off = np.abs(value(t, series) - values[:, len(at) :]).max()
        is_whole = off <= SMOOTH * np.abs(values).max()
        if is_whole:
            break
        reach /= 10
    method = DIFFERENCE
    if case.is_decided(name):
        method += f", {POLICY_KEPT if is_whole else POLICY_JUMPS}"
    elif not is_whole:
        method += ", over a jump or a kink"
    return value(t[-1:], derivative(series))[:, 0] * 2 / (high - low), method


@dataclass(frozen=True)
class Extent:
    """Lowest and highest answer over a range, and where."""

    lowest: float
    lowest_at: float
    highest: float
    highest_at: float
    is_scanned: bool

    @property
    def swing(self) -> float:
        return self.highest - self.lowest


class Line:
    """A response summed up over subjects: one number at every value of the parameter.

    `at_most`: with what is cut off of the states that it stands on, by which it may be higher.
    """

    def __init__(
        self, response: Response, statistic: str = "mean", *, at_most: bool = False
    ) -> None:
        self.at_most = at_most
        self.response, self.statistic = response, statistic
        self._summary: Summary = summary(statistic)
        self._read = _on_its_range(response)
        self.curve = None if at_most else _one_curve(self._read, statistic)

    def __call__(self, points: Array) -> Array:
        points = np.atleast_1d(np.asarray(points, dtype=float))
        response = self.response
        if self.curve is not None:
            found = self.curve(points)[0]
            if not strays(found).any():
                return as_probability(found)
            response = self._read  # which tells lost digits from a fault, for every subject
        step = max(1, MOST_NUMBERS // response.case.subjects)
        weights = response.case.weights
        parts = [
            self._summary(self._with_cut(points[i : i + step], response.values), weights)
            for i in range(0, len(points), step)
        ]
        return np.asarray(np.concatenate(parts))

    def _with_cut(self, points: Array, values: Callable[[Array], Array]) -> Array:
        if not self.at_most:
            return values(points)
        beyond = self.response.case.cut_off({self.response.name: points})
        return np.minimum(values(points) + beyond, 1.0)

    @property
    def method(self) -> str:
        """How the line is known: what sums up exact curves of many subjects has to be scanned.

        A scan that left values out says how many it looked at.
        """
        own = self.response.method
        if self.curve is not None:
            return own
        if self.response.curve is not None:
            return f"{own}, scanned"
        return own if self.is_proven else f"{own} of {self.looked_at:,} values"

    @property
    def integer(self) -> bool:
        return self.response.is_integer and self.response.curve is None

    @property
    def is_exact(self) -> bool:
        """One polynomial, or a ratio of two."""
        return self.curve is not None and self.response.method in EXACT

    @property
    def is_proven(self) -> bool:
        """What holds at the values looked at holds between them."""
        if self.curve is not None:
            return self.is_exact
        exact = self.response.curve is not None and self.response.method in EXACT
        exact = exact and not self.at_most
        monotone = exact and self.response.curve is not None and self.response.curve.is_monotone
        return monotone or self.scan.is_complete

    @property
    def looked_at(self) -> int:
        """At how many values of the parameter the answer was looked at."""
        if self.curve is None:
            return len(self.scan.points)
        return len(self.curve.numerator) + self.response.checks

    def over(self, low: float, high: float) -> Curve:
        """The one curve, read again on an interval."""
        curve = _one_curve(self.response.over(low, high), self.statistic)
        assert curve is not None  # noqa: S101 - there is one on the whole range
        return curve

    def at_end(self, end: float) -> float:
        """The engine's own answer at an end of the range; the limit where it has none."""
        found = self.response.case.evaluate({self.response.name: np.array([end])})
        self._read.check(np.array([end]), found)
        return self._told(end, found)

    def asked(self, value: float) -> float:
        """The engine's own answer anywhere, as when it is asked with this value set."""
        return self._told(value, self.response.case.evaluate({self.response.name: [value]}))

    def _told(self, value: float, found: Values) -> float:
        if not found.possible.all():
            return float(self(np.array([value]))[0])
        told = self._with_cut(np.array([value]), lambda _: found.probability)
        return float(self._summary(told, self.response.case.weights)[0])

    @cached_property
    def scan(self) -> Scan:
        """The values looked at: all there are, or many and those on the way to the peaks."""
        r, peaks = self.response, 1
        low, high, base = r.low, r.high, np.array([r.base])
        base = base[(base >= low) & (base <= high)]
        if not self.integer:
            points = spread(low, high, POINTS, integer=False)
            points = np.append(points, look(r.case, r.name, low, high))
        elif r.case.is_structural(r.name):
            points = spread(low, high, REBUILDS, integer=True)
        else:
            most = max(INTEGERS, min(MOST_WHOLE, r.case.at_once(r.name)))
            points, peaks = spread(low, high, most, integer=True), PEAKS
            if len(points) <= high - low:
                points = spread(low, high, INTEGERS, integer=True)
                points = np.append(points, near_the_ends(low, high))
        points = np.append(points, base)
        return Scan.over(self, points, integer=self.integer).with_peaks(peaks)

    def extent(self) -> Extent:
        """Lowest and highest: at the ends, or at a turning point between them."""
        if self.curve is None:
            inner = np.array([self.scan.lowest()[0], self.scan.highest()[0]])
        else:
            inner = self.curve.turning_points()
        r = self.response
        inner = inner[(inner > r.low) & (inner < r.high)]
        points = np.array([r.low, r.high, *inner])
        values = self(points)
        low, high = _first_best(values, -1.0), _first_best(values, 1.0)
        return Extent(
            float(values[low]), float(points[low]), float(values[high]), float(points[high]),
            is_scanned=self.curve is None,
        )  # fmt: skip

    def crossings(self, target: float) -> list[tuple[float, float]]:
        """Neighbours among the values looked at between which the answer passes the target."""
        return self.scan.crossings(target)


def _on_its_range(response: Response) -> Response:
    """An exact curve read on the response's own range, when that is much the narrower one.

    On all of 0..1 an answer of 1e-18 is lost in the rounding of answers near 1.
    """
    curve, width = response.curve, response.high - response.low
    if curve is None or response.method not in EXACT or len(curve.numerator) == 1:
        return response
    is_narrow = 0 < width < (curve.high - curve.low) / 4
    return response.over(response.low, response.high) if is_narrow else response


def _first_best(values: Array, sign: float) -> int:
    """The best of the two ends, unless a later value beats it by more than rounding."""
    best = int(np.argmax(sign * values))
    end = int(np.argmax(sign * values[:2]))
    return end if abs(values[best] - values[end]) <= 1e-13 * np.abs(values).max() else best


def _one_curve(response: Response, statistic: str) -> Curve | None:
    """The one curve that says it all: a single subject's, or the mean of polynomials."""
    curve = response.curve
    if curve is None or statistic.startswith("above"):
        return None
    if curve.subjects == 1:
        return curve
    if statistic == "mean" and curve.is_polynomial:
        return curve.mean(response.case.weights)
    return None


def spans(case: Asked, over: Over) -> dict[str, Range | None]:
    """Which parameters to vary, and over which ranges: all, names, or name: (low, high)."""
    if over is None:
        return dict.fromkeys(case.parameters)
    if isinstance(over, str):
        over = [name.strip() for name in over.split(",")]
    named = over if isinstance(over, Mapping) else dict.fromkeys(over)
    if not named:
        raise UsageError("name at least one parameter to vary, or leave over= out for all")
    return {str(name): _range(case, str(name), ends) for name, ends in named.items()}


def _range(case: Asked, name: str, ends: object) -> Range | None:
    case.parameter(name)
    if ends is None:
        return None
    try:
        low, high = (float(end) for end in ends)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise UsageError(f"{name}: give its range as (low, high)") from None
    if not low <= high:
        raise UsageError(f"{name}: runs from {low:g} down to {high:g}; write the smaller end first")
    refuse_beyond_range(case.attack.settable, {name: [low, high]}, beyond_range=case.beyond_range)
    if takes_whole_numbers(case, name) and not (low.is_integer() and high.is_integer()):
        raise UsageError(f"{name} is a count: its range must be whole numbers")
    if low == high:
        raise UsageError(
            f'{name}: {low:.12g} is one value and no range; set it: set={{"{name}": {low:.12g}}}',
            in_shell=f"{name}: {low:.12g} is one value and no range; --set {name}={low:.12g}",
        )
    return low, high
