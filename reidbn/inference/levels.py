"""Where an answer is at or under a target as one parameter moves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from reidbn.inference.sensitivity import Line

UNDER, ABOVE = "always at or under", "always above"
CROSSES, TOUCHES, EQUAL = "crosses", "touches", "always equal"
SAME = 1e-13  # of the target: answers that differ from it by less are at it
Interval = tuple[float, float]


@dataclass(frozen=True)
class Level:
    """The range of a parameter, cut where the answer meets a target.

    `values`  where the answer equals the target; for whole numbers, which rarely hit it, the last
              ones on the side that is at or under it
    `under`   the intervals, ends included, on which the answer is at or under the target
    """

    status: str
    values: tuple[float, ...]
    under: tuple[Interval, ...]


def level(line: Line, target: float) -> Level:
    """Where the answer meets a target."""
    r = line.response
    extent = line.extent()
    if max(abs(extent.lowest - target), abs(extent.highest - target)) <= SAME * target:
        return Level(EQUAL, (), ((r.low, r.high),))
    if line.curve is None:  # a scan must not take rounding for a crossing
        target *= 1 + SAME
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
    """Every border is a root; between two of them the answer stays on one side."""
    r = line.response
    roots = [(left + right) / 2 for left, right in borders]
    cuts = [r.low, *(x for x in roots if r.low < x < r.high), r.high]
    pieces = list(pairwise(cuts))
    below = (line(np.array([(a + b) / 2 for a, b in pieces])) <= target).tolist()
    points = [(x, x) for x in roots]
    under = _joined([p for p, b in zip(pieces, below, strict=True) if b] + points)
    return Level(_status(below, met=bool(roots)), tuple(roots), under)


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
