"""Bands: numbers made general as intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from reidbn.errors import DataError, UsageError
from reidbn.microdata.classes import Ints
from reidbn.microdata.hierarchy import ANY, Hierarchy


@dataclass(frozen=True)
class Bands(Hierarchy):
    """Numbers in bands of growing width: `Bands(5, 10, 20)` makes 52 "50-54", "50-59", "40-59".

    Each width must be a multiple of the one before, so that bands nest.  `top` makes every
    value from there on "90+", `bottom` every value below it "<20", at every level.  A band that
    none of a level's bands holds stays as it is.

    >>> [Bands(5, 10, top=90).up(age, 1) for age in (52, 94)]
    ['50-54', '90+']
    """

    widths: tuple[float, ...]
    start: float
    bottom: float | None
    top: float | None

    def __init__(
        self,
        *widths: float,
        start: float = 0,
        bottom: float | None = None,
        top: float | None = None,
    ) -> None:
        if not all(isinstance(w, Real) and w > 0 for w in widths):
            raise UsageError(f"bands have widths {widths}; each must be a number above 0")
        for small, large in pairwise(widths):
            if large % small:
                raise UsageError(
                    f"bands of {large} do not hold whole bands of {small}; use a multiple"
                )
        for name, value in {"widths": widths, "start": start, "bottom": bottom, "top": top}.items():
            object.__setattr__(self, name, value)

    @property
    def levels(self) -> int:
        return len(self.widths) + 1

    def climb(self, value: Any, level: int, *, whole: bool = True) -> str:
        width = self.widths[level - 1]
        low, high = interval(value)
        if self.top is not None and low >= self.top:
            return f"{_plain(self.top)}+"
        if self.bottom is not None and high < self.bottom:
            return f"<{_plain(self.bottom)}"
        if math.isinf(low):
            return str(value)
        first = self.start + math.floor((low - self.start) / width) * width
        last = first + width
        if high >= last:
            return str(value)
        first = first if self.bottom is None else max(first, self.bottom)
        last = last if self.top is None else min(last, self.top)
        return _band(first, last, whole=whole and low.is_integer() and high.is_integer())

    def all_up(self, values: Sequence[Any], level: int) -> list[Any]:
        """One way of writing a band: where any value has a fraction, 70 is in [70, 80) too."""
        ends = {end for v in values if v is not None for end in interval(v)}
        whole = all(end.is_integer() for end in ends if math.isfinite(end))
        found = super().all_up(values, level)
        if whole or not 0 < level < self.levels:
            return found
        kept = zip(values, found, strict=True)
        return [n if v is None or n == ANY else self.climb(v, level, whole=False) for v, n in kept]

    def is_general(self, value: Any) -> bool:
        low, high = interval(value)
        return low < high

    def overlaps(self, values: Sequence[Any]) -> Callable[[int], Ints]:
        ends = np.array([interval(value) for value in values], dtype=np.float64).reshape(-1, 2)
        low, high = ends.T
        return lambda i: np.flatnonzero((low <= high[i]) & (high >= low[i]))


_NUMBER = r"\s*([-+]?\d+(?:\.\d+)?)\s*"
_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")
_FORMS: tuple[tuple[re.Pattern[str], Callable[[list[float]], tuple[float, float]]], ...] = (
    (re.compile(_NUMBER), lambda x: (x[0], x[0])),
    (re.compile(rf"{_NUMBER}(?:-|\u2013|\.\.|to){_NUMBER}"), lambda x: (x[0], x[1])),
    (re.compile(rf"\[{_NUMBER}[,;-]{_NUMBER}\]"), lambda x: (x[0], x[1])),
    (re.compile(rf"\[{_NUMBER}[,;-]{_NUMBER}[)\[]"), lambda x: (x[0], math.nextafter(x[1], x[0]))),
    (re.compile(rf"\({_NUMBER}[,;-]{_NUMBER}\]"), lambda x: (math.nextafter(x[0], x[1]), x[1])),
    (re.compile(rf"<{_NUMBER}"), lambda x: (-math.inf, math.nextafter(x[0], -math.inf))),
    (re.compile(rf"(?:<=|≤){_NUMBER}"), lambda x: (-math.inf, x[0])),
    (re.compile(rf">{_NUMBER}"), lambda x: (math.nextafter(x[0], math.inf), math.inf)),
    (re.compile(rf"(?:>=|≥){_NUMBER}|{_NUMBER}\+"), lambda x: (x[0], math.inf)),
)


def interval(value: Any) -> tuple[float, float]:
    """The ends of the numbers that a value covers, both included.

    >>> interval("50-54"), interval("80+"), interval(7)
    ((50.0, 54.0), (80.0, inf), (7.0, 7.0))
    """
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        return float(value), float(value)
    text = str(value)
    if text.strip() == ANY:
        return -math.inf, math.inf
    for form, ends in _FORMS:
        found = form.fullmatch(text)
        if found:
            low, high = ends([float(x) for x in found.groups() if x is not None])
            if low <= high:
                return low, high
    comma = "; write decimals with a point" if _COMMA.fullmatch(text) else ""
    raise DataError(
        "a value is neither a number nor a band; write bands as 50-54, [50, 55), <30, 80+ or *"
        f"{comma}"
    )


def _plain(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _band(first: float, last: float, *, whole: bool) -> str:
    """The band first <= x < last, in whole numbers where it can be."""
    if whole and float(first).is_integer() and float(last).is_integer():
        return f"{_plain(first)}-{_plain(last - 1)}" if last - 1 > first else _plain(first)
    return f"[{_plain(first)}, {_plain(last)})"
