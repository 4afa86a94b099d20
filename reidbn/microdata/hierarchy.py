"""Hierarchies: how a value is made more general, level by level, and what it then covers.

Level 0 is the value itself; each level above is coarser; the last one is "*".  A hierarchy
also says when two values, each exact or general, may be the same person's: when what they
cover overlaps [Xia21].

Bands: numbers made general as intervals.

Prefixes: texts made general by cutting them short.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np

from reidbn.calls import typed
from reidbn.errors import DataError, UsageError
from reidbn.microdata.classes import Ints
from reidbn.microdata.decimals import as_written
from reidbn.microdata.matching import Relation

ANY = "*"
"""The value that covers all others: the top of every hierarchy."""


class Hierarchy(ABC):
    """Levels of generality for one column."""

    @property
    @abstractmethod
    def levels(self) -> int:
        """The highest level, at which every value is "*"."""

    @abstractmethod
    def climb(self, value: Any, level: int) -> Any:
        """The value at a level between 1 and the one below the top."""

    @abstractmethod
    def overlaps(self, values: Sequence[Any]) -> Callable[[int], Ints]:
        """For one of the values (by place): the places of those whose cover overlaps its own."""

    @abstractmethod
    def is_general(self, value: Any) -> bool:
        """Whether the value stands for several."""

    def up(self, value: Any, level: int) -> Any:
        """The value at a level: 0 as it is, the top "*"; a missing one is missing below the top."""
        if not 0 <= level <= self.levels:
            raise UsageError(f"level {level}; this hierarchy has levels 0 to {self.levels}")
        if level == self.levels:
            return ANY
        return value if level == 0 or value in (None, ANY) else self.climb(value, level)

    def all_up(self, values: Sequence[Any], level: int) -> list[Any]:
        """All values of a column at a level."""
        return [self.up(value, level) for value in values]

    def relation(self, labels: Sequence[Any]) -> Relation | None:
        """Which of the labels match which; None when each matches only itself."""
        exact = [i for i, label in enumerate(labels) if label is not None]
        overlap = self.overlaps([labels[i] for i in exact])
        place = np.array(exact, dtype=np.int64)
        others: dict[int, Ints] = {}
        for i, code in enumerate(exact):
            if self.is_general(labels[code]):
                matched = place[overlap(i)]
                matched = matched[matched != code]
                if matched.size:
                    others[code] = matched
        return Relation(len(labels), others) if others else None


# -- bands -----------------------------------------------------------------------------------------


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
        if not all(isinstance(w, Real) and 0 < w < 2**53 for w in widths):
            raise UsageError(f"bands have widths {widths}; each must be a number above 0")
        for small, large in pairwise(widths):
            if as_written(large) % as_written(small):
                raise UsageError(
                    f"bands of {large} do not hold whole bands of {small}; each has to be a "
                    f"multiple of the one before, such as bands:{small},{2 * small}"
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
            return f"{plain_number(self.top)}+"
        if self.bottom is not None and high < self.bottom:
            return f"<{plain_number(self.bottom)}"
        if math.isinf(low):
            return str(value)
        first, last = self._around(low, width)
        if high >= last:
            return str(value)
        first = first if self.bottom is None else max(first, self.bottom)
        last = last if self.top is None else min(last, self.top)
        return _band(first, last, whole=whole and low.is_integer() and high.is_integer())

    def _around(self, low: float, width: float) -> tuple[float, float]:
        """The ends of the band that a number is in: 0.3 begins [0.3, 0.4), as it is written."""
        if low.is_integer() and float(self.start).is_integer() and float(width).is_integer():
            first = self.start + (int(low) - int(self.start)) // int(width) * width
            return first, first + width
        start, wide = as_written(float(self.start)), as_written(float(width))
        begins = start + (as_written(low) - start) // wide * wide
        return float(begins), float(begins + wide)

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


def plain_number(number: float) -> str:
    """Without an exponent, so that it is read back as a number.

    >>> plain_number(2e-05), plain_number(3.0)
    ('0.00002', '3')
    """
    return str(int(number)) if float(number).is_integer() else np.format_float_positional(number)


def _band(first: float, last: float, *, whole: bool) -> str:
    """The band first <= x < last, in whole numbers where it can be."""
    if whole and float(first).is_integer() and float(last).is_integer():
        return (
            f"{plain_number(first)}-{plain_number(last - 1)}"
            if last - 1 > first
            else plain_number(first)
        )
    return f"[{plain_number(first)}, {plain_number(last)})"


# -- prefixes --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Masked(Hierarchy):
    """Texts cut short, as in ZIP codes and postcodes: `Prefix(4, 2)` makes OX12 6HU "OX12*", "OX*".

    A text with one "*" covers every text that begins and ends as it does.
    """

    keeps: tuple[int, ...]
    """How many characters each level keeps."""
    at_end: bool = False
    """Keep the last characters instead of the first: "*/1970"."""

    def __post_init__(self) -> None:
        if not all(isinstance(keep, Integral) for keep in self.keeps):
            raise UsageError(f"kept characters {self.keeps}; they must be whole numbers")
        falling = all(a > b for a, b in zip(self.keeps, self.keeps[1:], strict=False))
        if not falling or any(keep < 1 for keep in self.keeps):
            raise UsageError(
                f"kept characters {self.keeps}; each level must keep fewer, at least 1"
            )

    @property
    def levels(self) -> int:
        return len(self.keeps) + 1

    def climb(self, value: Any, level: int) -> str:
        keep = self.keeps[level - 1]
        text = str(value)
        if len(text) - text.count(ANY) < keep or (ANY in text and len(text) - 1 == keep):
            return text
        return ANY + text[-keep:] if self.at_end else text[:keep] + ANY

    def is_general(self, value: Any) -> bool:
        return ANY in str(value)

    def overlaps(self, values: Sequence[Any]) -> Callable[[int], Ints]:
        texts = [str(value) for value in values]
        if any(text.count(ANY) > 1 for text in texts):
            raise DataError('a masked value has more than one "*"; write one, as in OX12*')
        ends = [text[::-1] for text in texts] if self.at_end else texts
        if all(text.endswith(ANY) for text in ends if ANY in text):
            return _Heads(ends).meeting
        return lambda i: np.array(
            [j for j, text in enumerate(texts) if stars_meet(texts[i], text)], dtype=np.int64
        )


class _Heads:
    """Texts that are exact or end in "*", sorted so that what a head covers is one run."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.heads = [text.removesuffix(ANY) for text in texts]
        order = sorted(range(len(texts)), key=lambda i: self.heads[i])
        self.order = np.array(order, dtype=np.int64)
        self.ordered = [self.heads[i] for i in order]
        self.general: dict[str, list[int]] = {}
        for i, text in enumerate(texts):
            if ANY in text:
                self.general.setdefault(self.heads[i], []).append(i)

    def meeting(self, i: int) -> Ints:
        """Everything that begins with this general text's head, and every head that begins it."""
        head = self.heads[i]
        start = bisect_left(self.ordered, head)
        stop = bisect_left(self.ordered, head + "\U0010ffff")
        shorter = [j for cut in range(len(head)) for j in self.general.get(head[:cut], ())]
        return np.concatenate([self.order[start:stop], np.array(shorter, dtype=np.int64)])


@typed
def Prefix(*keeps: int) -> Masked:
    """Levels that keep the first so many characters: `Prefix(4, 3, 2)`.

    `keeps` are the numbers of characters, one for each level.

    >>> Prefix(4, 2).up("OX12 6HU", 1)
    'OX12*'
    """
    return Masked(tuple(keeps))


@typed
def Suffix(*keeps: int) -> Masked:
    """Levels that keep the last so many characters: `Suffix(5)` makes 02/09/1970 "*/1970".

    `keeps` are the numbers of characters, one for each level.
    """
    return Masked(tuple(keeps), at_end=True)


def stars_meet(one: str, two: str) -> bool:
    """Whether some text fits both, each with at most one "*"."""
    if ANY not in one and ANY not in two:
        return one == two
    if ANY not in one:
        one, two = two, one
    head, _, tail = one.partition(ANY)
    if ANY not in two:
        return len(two) >= len(head) + len(tail) and two.startswith(head) and two.endswith(tail)
    head2, _, tail2 = two.partition(ANY)
    heads = head.startswith(head2) or head2.startswith(head)
    return heads and (tail.endswith(tail2) or tail2.endswith(tail))
