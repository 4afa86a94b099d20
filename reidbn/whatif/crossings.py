"""Solve: for which values of a parameter the answer equals, or stays under, a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from reidbn.calls import typed
from reidbn.errors import UsageError
from reidbn.inference.levels import ABOVE, EQUAL, SEEN, UNDECIDED, UNDER, Interval, level
from reidbn.inference.responses import Response, responses
from reidbn.inference.sensitivity import Line, base_answers, spans
from reidbn.whatif.cases import Target, What, brings_case, case_of
from reidbn.written import counted

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
        return {**asdict(self), "smallest": self.smallest, "largest": self.largest}

    def __str__(self) -> str:
        of = "" if self.statistic == "mean" else f"{self.statistic} of "
        asked = f"{self.attack}: {of}{self.question}"
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
        return " and ".join(self._interval(i) for i in self.under) or "nowhere for certain"

    def _interval(self, ends: Interval) -> str:
        return f"{self._told(ends[0])} to {self._told(ends[1])}"

    def _told(self, value: float) -> str:
        """A count in full, any other number to six digits."""
        return f"{value:.0f}" if self.is_whole else f"{value:.6g}"

    __repr__ = __str__


@typed
def solve(
    what: What,
    question: Target | None = None,
    parameter: str | None = None,
    target: float | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    do: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
    range: Interval | None = None,
    statistic: str = "mean",
    beyond_range: bool = False,
) -> Solution:
    """Every value of a parameter, within its range, at which the answer equals a target.

    For several subjects a `statistic` over them is solved for: "q95" and 0.09 asks for the values
    that keep 95 % of subjects at or under 0.09.

    >>> s = solve("leak-single", "identified=yes", "class_size", 0.09)
    >>> s.smallest, s.status
    (12.0, 'crosses')
    """
    if brings_case(what) and parameter is None and isinstance(question, str):
        question, parameter = None, question
    if parameter is None:
        raise UsageError("name the parameter to solve for")
    if not isinstance(target, int | float | np.number) or not 0 <= target <= 1:
        raise UsageError(f"target={target} is no probability: it must lie between 0 and 1")
    case = case_of(
        what, question, given=given, do=do, set=set, subject=subject, beyond_range=beyond_range
    )
    answers = base_answers(case)
    span = spans(case, {parameter: range})[parameter] or case.parameter(parameter).range
    if not span[0] < span[1]:
        raise UsageError(f"{parameter} has no range to search; give range=(low, high)")
    response = responses(case, [parameter], {parameter: span})[parameter]
    response.check(np.array([response.base]), answers)
    return solution(response, float(target), statistic)


def solution(response: Response, target: float, statistic: str = "mean") -> Solution:
    """Where a response meets a target."""
    line = Line(response, statistic)
    found = level(line, target)
    return Solution(
        attack=response.case.attack.name,
        question=response.case.query.describe(),
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
        notes=response.notes,
        undecided=found.undecided,
        is_proven=found.is_proven,
        looked_at=line.looked_at,
    )
