"""Where an answer is at or under a target as one parameter moves.

What is said of a whole interval is proven: by looking at every value there is, or by the curve
with the rounding that its numbers may hold (signs.py).  Where that leaves something open, small
networks are multiplied out in whole numbers (rationals.py), which finds every root, multiple ones
too; in others the interval is read again by itself, and the ends are asked directly.  What is open
even then is `undecided`.  Scans with gaps and interpolated formulas speak of the values looked at.

Solve: for which values of a parameter the answer equals, or stays under, a target.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from itertools import pairwise
from typing import Any, Unpack

import numpy as np

from reidbn.above import is_above
from reidbn.aside import asides
from reidbn.calls import typed
from reidbn.errors import UsageError
from reidbn.inference.asked import Asking
from reidbn.inference.cut import MOST, SHOWN, looked_at
from reidbn.inference.worst import say_tied
from reidbn.theory.real_roots import Whole, real_roots, sign_at, whole
from reidbn.whatif.cases import Target, What, brings_case, case_of, check_mean
from reidbn.whatif.curve import Curve, Response, responses
from reidbn.whatif.rationals import rational_parts, written
from reidbn.whatif.scan import spread
from reidbn.whatif.scattered import at_most
from reidbn.whatif.sensitivity import REBUILDS, Line, base_answers, spans
from reidbn.whatif.signs import ABOVE as OVER
from reidbn.whatif.signs import BELOW, CLOSE, SignPiece, sides
from reidbn.written import counted

UNDER, ABOVE = "always at or under", "always above"
CROSSES, TOUCHES, EQUAL = "crosses", "touches", "always equal"
UNDECIDED = "undecided"
SEEN = {UNDER: "at or under at all values looked at", ABOVE: "above at all values looked at",
        EQUAL: "equal at all values looked at"}  # fmt: skip
SAME = 1e-13  # of the target: answers that differ from it by less are at it
POINT = 1e-12  # of the range: an undecided interval that is shorter is a root ...
DIGITS = 1e-7  # ... as is one that is shorter than this share of where it lies
NEAR = 1e-5  # of the range: wider than that a turning point says little of where a touch is
ZOOMS = 12
STEP = 1e-15  # of the range: how far an end moves at first that does not hold
Interval = tuple[float, float]


@dataclass(frozen=True)
class Level:
    """The range of a parameter, cut where the answer meets a target.

    `values`     where the answer equals the target; for whole numbers, which rarely hit it, the
                 last ones on the side that is at or under it
    `under`      the intervals, ends included, on which the answer is at or under the target
    `undecided`  the intervals on which it is too close to the target to tell
    `is_proven`  False where something may hide between the values that were looked at
    """

    status: str
    values: tuple[float, ...]
    under: tuple[Interval, ...]
    undecided: tuple[Interval, ...] = ()
    is_proven: bool = True


def _asked(line: Line, target: float, found: Level) -> Level:
    """Every end of what is at or under the target, asked for itself and moved inwards until it is.

    A root is found only so nearly, and where an attacker changes his mind that decides.
    """
    if found.status in (EQUAL, SEEN[EQUAL]):
        return found
    moved: dict[float, float] = {}
    under = []
    for low, high in found.under:
        first, last = (_kept_end(line, target, a, b) for a, b in ((low, high), (high, low)))
        if first is None or last is None or first > last:
            continue
        moved |= {low: first, high: last}
        under.append((first, last))
    values = tuple(moved.get(v, v) for v in found.values)
    return replace(found, under=tuple(under), values=values)


def _kept_end(line: Line, target: float, end: float, other: float) -> float | None:
    """The first value from an end towards the other that keeps the target; None: there is none."""
    if not is_above(line.asked(end), target):
        return end
    step = 1.0 if line.integer else max(STEP * (line.response.high - line.response.low),
                                        2 * float(np.spacing(abs(end))))  # fmt: skip
    while step < abs(other - end):
        at = end + step if other > end else end - step
        if not is_above(line.asked(at), target):
            return at
        step *= 2
    return other if other != end and not is_above(line.asked(other), target) else None


def level(line: Line, target: float) -> Level:
    """Where the answer meets a target."""
    found = _level(line, target)
    if line.is_proven:
        return found
    return replace(found, status=SEEN.get(found.status, found.status), is_proven=False)


def _level(line: Line, target: float) -> Level:
    r = line.response
    extent = line.extent()
    if max(abs(extent.lowest - target), abs(extent.highest - target)) <= SAME * target:
        return Level(EQUAL, (), ((r.low, r.high),))
    if line.curve is not None:
        return _of_pieces(_pieces(line, line.curve, target))
    target *= 1 + SAME  # a scan must not take rounding for a crossing
    borders = line.crossings(target)
    return _whole(line, target, borders) if line.integer else _real(line, target, borders)


def _whole(line: Line, target: float, borders: list[Interval]) -> Level:
    """Every border is a pair of neighbours, one on each side of the target."""
    starts = [line.response.low, *(right for _, right in borders)]
    ends = [*(left for left, _ in borders), line.response.high]
    below = line(np.array(starts)) <= target
    under = tuple(p for p, b in zip(zip(starts, ends, strict=True), below, strict=True) if b)
    at_border = {x for pair in borders for x in pair}
    values = sorted({x for piece in under for x in piece if x in at_border})
    return Level(_status(below.tolist(), met=False), tuple(values), under)


def _real(line: Line, target: float, borders: list[Interval]) -> Level:
    """Every border is a root, as near as a scan comes."""
    r = line.response
    roots = [(left + right) / 2 for left, right in borders]
    pieces = list(pairwise([r.low, *roots, r.high]))
    first = bool(line(np.array([r.low]))[0] <= target)
    below = [first == (i % 2 == 0) for i in range(len(pieces))]  # be it of one value alone
    points = [(x, x) for x in roots]
    under = _joined([p for p, b in zip(pieces, below, strict=True) if b] + points)
    return Level(_status(below, met=bool(roots)), tuple(roots), under)


# -- curves --------------------------------------------------------------------------------------


def _pieces(line: Line, curve: Curve, target: float) -> list[SignPiece]:
    """The range in order: proven sides, roots as points, and what stays undecided."""
    r = line.response
    pieces = sides(curve, target, r.low, r.high, r.error)
    if any(_is_open(p, line) for p in pieces) and line.is_exact:
        touches = _touches(line, curve, target, pieces)
        exact = _rational(line, target, touches)
        if exact is not None:
            return exact
        pieces = [q for p in pieces for q in _touched(p, touches)]
        pieces = _fused([q for p in pieces for q in _zoomed(line, curve, target, p, ZOOMS)])
    return _with_ends(line, target, _pointed(pieces, line))


def _touches(
    line: Line, curve: Curve, target: float, pieces: list[SignPiece]
) -> dict[SignPiece, float]:
    """Open pieces between two of one side in which the answer turns at the target; and where."""
    turns = curve.turning_points()
    turns = turns[np.abs(line(turns) - target) <= SAME * target] if len(turns) else turns
    found = {}
    for before, piece, after in zip(pieces, pieces[1:], pieces[2:], strict=False):
        inside = turns[(turns > piece.low) & (turns < piece.high)]
        is_near = piece.high - piece.low <= NEAR * (line.response.high - line.response.low)
        if is_near and _is_open(piece, line) and before.side == after.side and len(inside):
            found[piece] = float(inside[len(inside) // 2])
    return found


def _touched(piece: SignPiece, touches: dict[SignPiece, float]) -> list[SignPiece]:
    if piece not in touches:
        return [piece]
    at = touches[piece]
    return [SignPiece(at, at, CLOSE)]


def _is_open(piece: SignPiece, line: Line) -> bool:
    """Undecided, and too wide for a root."""
    r = line.response
    point = max(POINT * (r.high - r.low), DIGITS * min(abs(piece.low), abs(piece.high)))
    return piece.side == CLOSE and piece.high - piece.low > point


def _pointed(pieces: list[SignPiece], line: Line) -> list[SignPiece]:
    """Short undecided pieces as the points they stand for; at an end of the range, that end."""
    out, r = list(pieces), line.response
    for i, piece in enumerate(pieces):
        if piece.side == CLOSE and not _is_open(piece, line):
            at = next((x for x in (r.low, r.high) if x in piece[:2]), (piece.low + piece.high) / 2)
            out[i] = SignPiece(at, at, CLOSE)
            if i:
                out[i - 1] = out[i - 1]._replace(high=at)
            if i + 1 < len(out):
                out[i + 1] = out[i + 1]._replace(low=at)
    return out


def _zoomed(
    line: Line, curve: Curve, target: float, piece: SignPiece, times: int
) -> list[SignPiece]:
    """An undecided piece read again by itself, as long as the answers there are much smaller."""
    if not (_is_open(piece, line) and times):
        return [piece]
    if curve.size(target, piece.low, piece.high) > curve.size(target, curve.low, curve.high) / 4:
        return [piece]
    finer = line.over(piece.low, piece.high)
    parts = sides(finer, target, piece.low, piece.high, line.response.error)
    return [q for p in parts for q in _zoomed(line, finer, target, p, times - 1)]


def _fused(pieces: list[SignPiece]) -> list[SignPiece]:
    out: list[SignPiece] = []
    for piece in pieces:
        if out and out[-1].side == piece.side:
            out[-1] = SignPiece(out[-1].low, piece.high, piece.side)
        else:
            out.append(piece)
    return out


def _with_ends(line: Line, target: float, pieces: list[SignPiece]) -> list[SignPiece]:
    """Where an end of the range is undecided, the engine's own answer there decides it."""
    for place, end in ((0, line.response.low), (-1, line.response.high)):
        piece = pieces[place]
        if piece.side == CLOSE:
            gap = line.at_end(end) - target
            side = CLOSE if abs(gap) <= SAME * target else OVER if gap > 0 else BELOW
            point = [SignPiece(end, end, side)]
            rest = [] if piece.low == piece.high else [piece]
            pieces = point + rest + pieces[1:] if place == 0 else pieces[:-1] + rest + point
    return pieces


def _rational(line: Line, target: float, touches: dict[SignPiece, float]) -> list[SignPiece] | None:
    """The pieces in whole numbers, with every root; None where the network is too large.

    Two roots, or none, within a hair of where the answer turns at the target are a touch.
    """
    r = line.response
    parts = rational_parts(r.case, r.name)
    if parts is None:
        return None
    gap, evidence = _gap(*parts, written(target))
    if not gap:
        return [SignPiece(r.low, r.high, BELOW)]
    low, high = written(r.low), written(r.high)
    roots = [b for _, b in real_roots(gap, low, high)]
    for piece, at in touches.items():
        inside = [x for x in roots if piece.low < x < piece.high]
        if len(inside) != 1:
            roots = sorted({*roots, Fraction(at)} - {*inside})
    out: list[SignPiece] = []
    for a, b in pairwise(sorted({low, *roots, high})):
        middle = (a + b) / 2
        out += [SignPiece(float(a), float(a), CLOSE)] if a in roots else []
        side = sign_at(gap, middle) * sign_at(evidence, middle)
        out.append(SignPiece(float(a), float(b), side))
    return [*out, SignPiece(r.high, r.high, CLOSE)] if high in roots else out


def _gap(top: Whole, bottom: Whole, target: Fraction) -> tuple[Whole, Whole]:
    """N - target E, and E."""
    longest = max(len(top), len(bottom))
    n, e = (Whole(p) + [0] * (longest - len(p)) for p in (top, bottom))
    gap = [a * target.denominator - b * target.numerator for a, b in zip(n, e, strict=True)]
    return whole([Fraction(c) for c in gap]), bottom


def _of_pieces(pieces: list[SignPiece]) -> Level:
    points = [p.low for p in pieces if p.side == CLOSE and p.low == p.high]
    undecided = [p for p in pieces if p.side == CLOSE and p.low < p.high]
    under = [(p.low, p.high) for p in pieces if p.side == BELOW] + [(x, x) for x in points]
    between = [
        (b.low + b.high) / 2
        for a, b, c in zip(pieces, pieces[1:], pieces[2:], strict=False)
        if b in undecided and a.side * c.side < 0
    ]
    below = [p.side == BELOW for p in pieces if p.side != CLOSE]
    status = _status(below, met=bool(points))
    if undecided and status != CROSSES:
        status = UNDECIDED
    values = tuple(sorted({*points, *between}))
    return Level(status, values, _joined(under), tuple((p.low, p.high) for p in undecided))


def _joined(intervals: list[Interval]) -> tuple[Interval, ...]:
    """Intervals that meet as one."""
    out: list[Interval] = []
    for low, high in sorted(intervals):
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(high, out[-1][1]))
        else:
            out.append((low, high))
    return tuple(out)


def _status(below: list[bool], *, met: bool) -> str:
    if all(below):
        return UNDER
    if any(below):
        return CROSSES
    return TOUCHES if met else ABOVE


# -- solve -----------------------------------------------------------------------------------------


_IS = {UNDER: "is always at or under", ABOVE: "is always above", EQUAL: "is always"}
_SEEN = {SEEN[UNDER]: "is at or under", SEEN[ABOVE]: "is above", SEEN[EQUAL]: "is"}


@dataclass(frozen=True)
class Solution:
    """Where an answer meets a target as one parameter moves over its range.

    `status`     "crosses", "touches", "always at or under", "always above", or "always equal";
                 "at or under (or above, or equal) at all values looked at" where something could
                 hide between them; "undecided" where rounding leaves it open
    `values`     where the answer equals the target; for whole numbers, which rarely hit it, the
                 last ones on the side that is at or under it
    `under`      the intervals (ends included) on which the answer is at or under the target
    `undecided`  the intervals on which the answer is too close to the target to tell
    `added`      of a probability: what lies beyond states that it stands on, at most; it is added
                 to the answer, as if it were a hit
    `is_proven`  what is said holds for every value of the range, not only for the `looked_at`
    """

    attack: str
    question: str
    parameter: str
    target: float
    statistic: str
    status: str
    values: tuple[float, ...]
    under: tuple[Interval, ...]
    low: float
    high: float
    is_whole: bool
    method: str
    notes: tuple[str, ...] = ()
    undecided: tuple[Interval, ...] = ()
    is_proven: bool = True
    looked_at: int = 0
    added: float = 0.0

    @property
    def largest(self) -> float | None:
        """The largest value that keeps the answer at or under the target; None when none does."""
        return self.under[-1][1] if self.under else None

    @property
    def smallest(self) -> float | None:
        """The smallest value that keeps the answer at or under the target; None when none does."""
        return self.under[0][0] if self.under else None

    def __float__(self) -> float:
        if len(self.values) != 1:
            found = ", ".join(f"{v:g}" for v in self.values) or self.status
            raise UsageError(
                f"{self.parameter}: no single value meets {self.target:g} ({found}); use .values"
            )
        return self.values[0]

    def to_dict(self) -> dict[str, Any]:
        """What was asked and found, as plain values."""
        return {**asdict(self), "smallest": self.smallest, "largest": self.largest}

    def __str__(self) -> str:
        of = "" if self.statistic == "mean" else f"{self.statistic} of "
        asked = f"{self.attack}: {of}{self.question}"
        if self.added:
            asked += f", with what is cut off (at most {at_most(self.added)}) counted as a hit,"
        over = f"for {self.parameter} from {self._told(self.low)} to {self._told(self.high)}"
        if self.status in _IS:
            line = f"{asked} {_IS[self.status]} {self.target:g} {over}"
        elif self.status in _SEEN:
            at = f"at all {counted(self.looked_at, 'value')} looked at"
            line = f"{asked} {_SEEN[self.status]} {self.target:g} {at} {over} [{self.method}]"
        else:
            line = f"{asked} {self._met()} [{self.method}]; at or under it {over}: {self._kept()}"
            if not self.is_proven:
                line += f", as far as the {counted(self.looked_at, 'value')} looked at show"
        open_ = " and ".join(self._interval(i) for i in self.undecided)
        if open_:
            line += f"; undecided from {open_}, where it is within rounding of {self.target:g}"
        return "\n".join([line, *(f"  {note}" for note in self.notes)])

    def _met(self) -> str:
        """Where the answer meets the target; a crossing within an undecided interval is that."""
        at, said = self.parameter, []
        for v in self.values:
            around = [i for i in self.undecided if i[0] < v < i[1]]
            said.append(f"from {self._interval(around[0])}" if around else self._told(v))
        if self.status == UNDECIDED:
            return f"is not decided against {self.target:g}"
        where = f"at {at} = {', '.join(said)}"
        if said and said[0].startswith("from"):
            where = f"somewhere {', '.join(said)}"
        return f"{self.status} {self.target:g} {where}"

    def _kept(self) -> str:
        return " and ".join(self._within(i) for i in self.under) or "nowhere for certain"

    def _within(self, ends: Interval) -> str:
        """An interval rounded inwards: what is printed keeps the target, too."""
        if self.is_whole or ends[0] == ends[1]:
            return self._interval(ends)
        for digits in (6, 9, 12, 15):
            low, high = _rounded(ends[0], digits, up=True), _rounded(ends[1], digits, up=False)
            if low <= high:
                return f"{low:.{digits}g} to {high:.{digits}g}"
        return f"{ends[0]!r} to {ends[1]!r}"

    def _interval(self, ends: Interval) -> str:
        return f"{self._told(ends[0])} to {self._told(ends[1])}"

    def _told(self, value: float) -> str:
        """A count in full, any other number to six digits."""
        return f"{value:.0f}" if self.is_whole else f"{value:.6g}"

    __repr__ = __str__


def _rounded(value: float, digits: int, *, up: bool) -> float:
    """A number of so many digits, and never beyond `value`."""
    mode = ROUND_CEILING if up else ROUND_FLOOR
    return float(Context(prec=digits, rounding=mode).create_decimal(repr(value)))


@typed
def solve(
    what: What,
    question: Target | None = None,
    parameter: str | None = None,
    target: float | None = None,
    *,
    range: Interval | None = None,
    statistic: str = "mean",
    **asked: Unpack[Asking],
) -> Solution:
    """Every value of a parameter, within its range, at which the answer equals a target.

    For several subjects a `statistic` over them is solved for: "q95" and 0.09 asks for the values
    that keep 95 % of subjects at or under 0.09.
    `asked` is how it is asked: given, do, set, subject and beyond_range, as in rb.ask.

    `what` is an attack, a name or file of one, or a result; `question` is the event, by default the
    attack's own.

    >>> s = solve("leak-single", "identified=yes", "class_size", 0.09)
    >>> s.smallest, s.status
    (12.0, 'crosses')
    """
    if brings_case(what) and parameter is None and isinstance(question, str):
        question, parameter = None, question
    if parameter is None:
        raise UsageError("name the parameter to solve for")
    case = case_of(what, question, means=True, **asked).as_mean(statistic)
    scale = case.query.scale
    if scale is not None:
        target = check_mean(scale, statistic, target, "target")
    if not isinstance(target, int | float | np.number) or not 0 <= target <= 1:
        raise UsageError(f"target={target} is no probability: it must lie between 0 and 1")
    if say_tied(case) or case.is_decided(parameter):  # what stays under it does under all of them
        case = replace(case, worst=True)
    answers = base_answers(case)
    span = spans(case, {parameter: range})[parameter] or case.parameter(parameter).range
    if not span[0] < span[1]:
        raise UsageError(f"{parameter} has no range to search; give range=(low, high)")
    response = responses(case, [parameter], {parameter: span})[parameter]
    response.check(np.array([response.base]), answers)
    found = solution(response, float(target), statistic)
    return found if scale is None else replace(found, target=scale.value(found.target))


def solution(response: Response, target: float, statistic: str = "mean") -> Solution:
    """Where a response meets a target."""
    case, (least, most) = response.case, beyond(response)
    if case.query.scale is not None:
        if most > MOST:
            cut = ", ".join(looked_at(case.attack, case.query))
            raise UsageError(
                f"{case.query.describe()} leaves out what lies beyond the last states of "
                f"{cut} (at most {at_most(most)} of what can be), and "
                f"nothing says how much more that is: let their states run further"
            )
        least = most = 0.0
    is_even = most - least <= MOST and most <= target  # then the target bears it
    line = Line(response, statistic, at_most=not is_even)
    met = target - most if is_even else target
    found = _asked(line, met, level(line, met))
    return Solution(
        attack=case.attack.name,
        question=case.query.describe(),
        parameter=response.name,
        target=target,
        statistic=statistic,
        status=found.status,
        values=found.values,
        under=found.under,
        low=response.low,
        high=response.high,
        is_whole=line.integer,
        method=line.method,
        notes=(*response.notes, *asides()),
        undecided=found.undecided,
        is_proven=found.is_proven,
        looked_at=line.looked_at,
        added=most if most > SHOWN else 0.0,
    )


def beyond(response: Response) -> Interval:
    """How much of an answer may lie beyond the states that it stands on: least and most of it."""
    case, name = response.case, response.name
    if not looked_at(case.attack, case.query):
        return 0.0, 0.0
    points = spread(response.low, response.high, REBUILDS, integer=response.is_integer)
    found = case.cut_off({name: points})
    return float(found.min()), float(found.max())
