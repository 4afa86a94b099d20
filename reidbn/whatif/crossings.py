"""Solve: for which values of a parameter the answer equals, or stays under, a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from reidbn.errors import UsageError
from reidbn.inference.levels import ABOVE, EQUAL, UNDER, Interval, level
from reidbn.inference.responses import Response, responses
from reidbn.inference.sensitivity import Line, spans
from reidbn.whatif.cases import Target, What, brings_case, case_of

_IS = {UNDER: "is always at or under", ABOVE: "is always above", EQUAL: "is always"}


@dataclass(frozen=True)
class Solution:
    """Where an answer meets a target as one parameter moves over its range.

    `status`  "crosses", "touches", "always at or under", "always above", or "always equal"
    `values`  where the answer equals the target; for whole numbers, which rarely hit it, the last
              ones on the side that is at or under it
    `under`   the intervals (ends included) on which the answer is at or under the target
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
        over = f"for {self.parameter} from {self.low:g} to {self.high:g}"
        if self.status in _IS:
            lines = [f"{asked} {_IS[self.status]} {self.target:g} {over}"]
        else:
            kept = " and ".join(f"{a:.6g} to {b:.6g}" for a, b in self.under)
            at = ", ".join(f"{v:.6g}" for v in self.values)
            met = f"{asked} {self.status} {self.target:g} at {self.parameter} = {at}"
            lines = [f"{met} [{self.method}]; at or under it {over}: {kept}"]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    __repr__ = __str__


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
    case.answers({})  # a question without an answer at its own values is refused first
    span = spans(case, {parameter: range})[parameter] or case.parameter(parameter).range
    if not span[0] < span[1]:
        raise UsageError(f"{parameter} has no range to search; give range=(low, high)")
    response = responses(case, [parameter], {parameter: span})[parameter]
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
    )
