"""How numbers about people are told: exactly to the custodian, to base 10 to everybody else.

Outwards every count is a difference of *rounded cumulative counts*: with C(t) people above a level
t, what is told is R(C(t)), the nearest ten, and "under 10" below ten people.  A band between two
levels holds R(C(low)) - R(C(high)), the whole R(n).  Shares, curves and quantiles are worked out
from these rounded counts alone, on fixed levels, so what one table hides no other one tells: the
numbers told are a possible table themselves, and so is that table with one to four people more.

A mean of n values is a sum, and is rounded as one.  With L the upper edge of the highest band,

    told mean = round(sum / 10 L) 10 L / R(n)                                             (1)

so the mean of a yes and no is the share that is told, and no mean is finer than ten people make it.
With fewer than 100 people no mean is told.  Of a maximum a level is told that fewer than ten people
exceed; that nobody exceeds a limit is said by the verdict alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.report.words import one_in, people

BASE = 10
FEWEST = 100  # people for a mean that leaves the house
NOT_TOLD = "not told"
UNDER = f"under {BASE}"
Array = NDArray[np.float64]
LEVELS = tuple(
    sorted({*(float(f"{m}e-{e}") for e in range(1, 10) for m in (1, 2, 5)), 0.09, 0.33, 1.0})
)


def nearest(count: Any) -> Any:
    """To the nearest ten.

    >>> [nearest(n) for n in (0, 4, 5, 14, 15, 2114)]
    [0, 0, 10, 10, 20, 2110]
    """
    return (count + BASE // 2) // BASE * BASE


@dataclass(frozen=True)
class Telling:
    """The custodian's own copy, or one that may leave the house."""

    custodian: bool = False

    # -- counts ----------------------------------------------------------------------------

    def count(self, count: int) -> int | None:
        """A cumulative count; None is a suppressed one, which may be none at all."""
        if self.custodian:
            return count
        return nearest(count) if count >= BASE else None

    def counted(self, count: int) -> str:
        """The same in words.

        >>> Telling().counted(2114), Telling().counted(3), Telling(custodian=True).counted(3)
        ('2,110', 'under 10', '3')
        """
        return in_words(self.count(count))

    def of(self, count: int, total: int) -> str:
        """So many of all people, with the share."""
        if self.custodian:
            return people(count, total)
        whole = nearest(total)
        if count < BASE:
            return f"{UNDER} of {whole:,} people"
        return people(nearest(count), whole) if whole else f"{UNDER} people"

    def share(self, count: int, total: int) -> str:
        """A share of all people, made of the counts that are told.

        >>> Telling().share(400, 4000), Telling().share(3, 4000), Telling().share(0, 4000)
        ('10 %', 'below 0.25 %', 'below 0.25 %')
        """
        if not self.custodian:
            if total < BASE:
                return "-"
            if count < BASE:
                return f"below {100 * BASE / nearest(total):.3g} %"
            count, total = nearest(count), nearest(total)
        return f"{100 * count / total:.3g} %"

    def population(self, number: float, people: int, *, is_whole: bool) -> float:
        """A population; one without those for whom suppressed people stood would count these."""
        if self.custodian or is_whole:
            return number
        return three_digits(number / people * max(nearest(people), BASE))

    def bands(self, counts: Sequence[int]) -> list[int | None]:
        """Counts of the bands of a whole, the riskiest first; None is a suppressed one.

        >>> Telling().bands([3, 14, 395]), Telling(custodian=True).bands([3, 14, 395])
        ([None, 20, 390], [3, 14, 395])
        """
        if self.custodian:
            return [int(c) for c in counts]
        told = np.diff([nearest(int(c)) for c in np.cumsum([0, *counts])])
        return [self.count(int(counts[0])), *(int(c) or None for c in told[1:])]

    def steps(self, counts: NDArray[np.int64], total: int) -> Array:
        """Shares in percent, for a curve."""
        if self.custodian:
            return np.asarray(100 * counts / total)
        return np.asarray(100 * nearest(counts) / max(nearest(total), 1))

    # -- means, quantiles and maxima ---------------------------------------------------------

    def mean(self, values: Array) -> float | None:
        """The mean over people, equation (1); None where too few people make it.

        >>> yes = np.array([1.0] * 3 + [0.0] * 397)
        >>> Telling().mean(yes), Telling(custodian=True).mean(yes)
        (None, 0.0075)
        """
        return self._told(float(values.mean()), values)

    def _told(self, mean: float, values: Array) -> float | None:
        """A mean of people whose values these are, or were."""
        if self.custodian:
            return mean
        step = self.step(values)
        units = floor(abs(mean) * len(values) / (step * nearest(len(values))) + 0.5) if step else 0
        return three_digits(float(np.copysign(units * step, mean))) if units else None

    def step(self, values: Array) -> float:
        """What ten people in the top band add to the mean; 0 where no mean is told in steps."""
        if self.custodian or len(values) < FEWEST:
            return 0.0
        return BASE * _edge(float(np.abs(values).max())) / float(nearest(len(values)))

    def mean_in_words(self, values: Array) -> str:
        """The mean beside its everyday form."""
        return self.derived(float(values.mean()), values)

    def mean_in_short(self, values: Array) -> str:
        """The mean as a number alone."""
        told = self.mean(values)
        return self.mean_in_words(values) if told is None else f"{told:.3g}"

    def derived(self, mean: float, values: Array) -> str:
        """Another mean of the same people (over draws, say), in the same steps."""
        told, step = self._told(mean, values), self.step(values)
        if told is None:
            return f"below {step:.2g}" if step else NOT_TOLD if len(values) < FEWEST else "0"
        return one_in(told) if told >= 0 else f"{told:.3g}"

    def quantile(self, values: Array, q: float) -> float:
        """What a share q of the people does not exceed; outwards, the edge of its band."""
        if self.custodian:
            return float(np.quantile(values, q, method="inverted_cdf"))
        whole = nearest(len(values)) or 1
        for level in (0.0, *LEVELS):
            above = nearest(int((values > level).sum()))
            if above <= (1 - q) * whole + 1e-9:
                return level
        return 1.0

    def highest(self, values: Array) -> float:
        """The largest value; outwards, a level that fewer than ten people exceed."""
        if self.custodian:
            return float(values.max())
        if len(values) < BASE:
            return 1.0
        return _edge(float(np.sort(values)[-BASE]))

    def quantile_in_words(self, values: Array, q: float) -> str:
        found = self.quantile(values, q)
        return one_in(found) if self.custodian or found == 0 else f"up to {found:g}"

    def highest_in_words(self, values: Array) -> str:
        """The largest value; outwards, a level that fewer than ten people exceed."""
        exceed = f", but for {UNDER} people" if self.highest(values) < 1 else ""
        return self.highest_in_short(values) + ("" if self.custodian else exceed)

    def highest_in_short(self, values: Array) -> str:
        """The same for a column that says how it is told."""
        found = self.highest(values)
        return one_in(found) if self.custodian else f"up to {found:g}"

    def highest_key(self, exact: str) -> str:
        """Its name among numbers for programs: what a few exceed is not called a maximum."""
        return exact if self.custodian else "all_but_a_few"

    def lost(self, share: float, bits: float, count: int) -> float | None:
        """Information lost, as a share of so many bits of so many people.

        Outwards in steps of what ten people's cells may hold, log2(count) bits each, at least.
        """
        if self.custodian or share in (0.0, 1.0):
            return share
        if count < FEWEST:
            return None
        step = _edge(BASE * log2(count) / bits)
        return three_digits(floor(share / step + 0.5) * step)

    @property
    def highest_head(self) -> str:
        """The head of such a column."""
        return "highest" if self.custodian else "all but a few"


def three_digits(value: float) -> float:
    """To three digits.

    >>> three_digits(0.123456), three_digits(0.0)
    (0.123, 0.0)
    """
    return round(value, 2 - floor(log10(abs(value)))) if value else 0.0


def _edge(value: float) -> float:
    """The upper edge of the band of a value."""
    if value <= 0:
        return 0.0
    return next((level for level in LEVELS if value <= level), float(ceil(value)))


def in_words(count: int | None) -> str:
    """A count as it is told."""
    return UNDER if count is None else f"{count:,}"
