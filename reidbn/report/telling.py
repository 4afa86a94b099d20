"""How numbers about people are told: exactly to the custodian, to base 10 to everybody else.

Outwards every count is a difference of *rounded cumulative counts*: with C(t) people above a level
t, what is told is R(C(t)), the nearest ten, and "under 10" below ten people.  A band between two
levels holds R(C(low)) - R(C(high)), the whole R(n).  Shares, curves and quantiles are worked out
from these rounded counts alone, on fixed levels, so what one table hides no other one tells: the
numbers told are a possible table themselves, and so is that table with one to four people more.

A mean of n values is a sum, and is rounded as one.  With L the upper edge of the highest band,

    told mean = round(sum / 10 L) 10 L / R(n)                                             (1)

so the mean of a yes and no is the share that is told, and no mean is finer than ten people make it.
With fewer than 100 people no mean is told.  Means of several releases side by side are told in one
step, or a finer step would turn their order round; an odd multiple of the step of the first, whose
mean is told by (1) elsewhere, so that it repeats that one more coarsely.  Of a maximum a level is
told that fewer than ten people exceed; that nobody exceeds a limit is said by the verdict alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2, log10
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above
from reidbn.report.words import one_in, people
from reidbn.result import SHARE
from reidbn.written import agree, plural, tiny

if TYPE_CHECKING:
    from reidbn.result import Measure

BASE = 10
FEWEST = 100  # people for a mean that leaves the house
NOT_TOLD = "not told"
UNDER = f"under {BASE}"
_PER_CENT = re.compile(r"\b\d{1,2} ?%")  # too few figures to work a count out from
_OF_PEOPLE = re.compile(r"(\d[\d,]*) (people|person|individual|record)s?\b")
OWN_COPY = (
    "The custodian's own copy, with exact counts and values; a report that leaves the house rounds "
    "them."
)
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
        """So many of all people, with the share; nobody and everybody are told as nearly so.

        >>> Telling().of(566, 789), Telling().of(3, 789), Telling().of(788, 789)
        ('570 of 790 people (72 %)', 'under 10 of 790 people', 'all but under 10 of 790 people')
        """
        if self.custodian:
            return people(count, total)
        whole = nearest(total)
        if count < BASE:
            return f"{UNDER} of {whole:,} people" if whole else f"{UNDER} people"
        if nearest(count) == whole:  # no edge of its own: what rounding hides stays hidden
            return f"all but {UNDER} of {whole:,} people"
        return people(nearest(count), whole)

    def verb(self, count: int, one: str, many: str) -> str:
        """The verb of a count; outwards it does not tell that it is one."""
        return agree(count, one, many) if self.custodian else many

    def share(self, count: int, total: int) -> str:
        """A share of all people, made of the counts that are told.

        >>> Telling().share(400, 4000), Telling().share(3, 4000), Telling().share(4000, 4000)
        ('10 %', 'below 0.25 %', 'above 99.8 %')
        """
        if not self.custodian:
            if total < BASE:
                return "-"
            if count < BASE:
                return f"below {100 * BASE / nearest(total):.3g} %"
            if nearest(count) == nearest(total):
                return f"above {100 - 100 * BASE / nearest(total):.3g} %"
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

    def portion(self, count: float, total: int) -> float:
        """A share as a number, for a picture and the table under it."""
        if self.custodian:
            return count / total
        return float(min(1.0, nearest(round(count)) / max(nearest(total), BASE)))

    def portions(self, counts: NDArray[np.int64]) -> Array:
        """Shares of the bands of a whole: what lies below each edge is rounded, so they add up."""
        below = np.cumsum(counts)
        if not self.custodian:
            below = nearest(below)
        return np.asarray(np.diff(below, prepend=0) / max(1, int(below[-1])))

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

    def step_beside(self, several: Sequence[Array]) -> float:
        """One step for the means of several releases, of which the first's is told by itself, too.

        >>> first, other = np.full(200, 0.1), np.full(200, 0.2)
        >>> f"{Telling().step_beside([first, other]) / Telling().step(first):g}"
        '3'
        """
        own, most = self.step(several[0]), max(map(self.step, several))
        return own * (2 * ceil((most / own - 1) / 2 - 1e-9) + 1) if own else most

    def mean_beside(self, values: Array, several: Sequence[Array]) -> str:
        """The mean of one of several releases, in words: rounded means stand as the exact ones."""
        if self.custodian or len(values) < FEWEST:
            return self.mean_in_words(values)
        step = self.step_beside(several)
        if not step:
            return "0"
        rounded = len(several[0]) / nearest(len(several[0]))  # of the first, as by (1), for all
        units = floor(float(values.mean()) * rounded / step + 0.5)
        return one_in(three_digits(units * step)) if units else f"below {step:.2g}"

    def mean_in_words(self, values: Array) -> str:
        """The mean beside its everyday form."""
        return self.derived(float(values.mean()), values)

    def mean_in_short(self, values: Array) -> str:
        """The mean as a number alone."""
        told = self.mean(values)
        return self.mean_in_words(values) if told is None else tiny(told, ".3g")

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
            above = nearest(int(is_above(values, level).sum()))
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

    def all_but_a_few(self, values: Array) -> str:
        """The largest value as the end of a sentence; outwards, a level that few people exceed."""
        if self.custodian or self.highest(values) == 1:
            return f"the highest {self.highest_in_words(values)}"
        return f"all but {UNDER} people {self.highest_in_short(values)}"

    def highest_key(self, exact: str) -> str:
        """Its name among numbers for programs: what a few exceed is not called a maximum."""
        return exact if self.custodian else "all_but_a_few"

    # -- measures of a result --------------------------------------------------------------

    def named(self, name: str, m: Measure) -> tuple[str, str]:
        """A measure's name and words; a level that a few people exceed is not called the highest.

        >>> from reidbn.result import highest_of
        >>> Telling().named("highest_risk", highest_of(np.array([0.1]), "highest risk"))
        ('all_but_a_few_risk', 'highest risk of all but a few people')
        """
        words = m.words or name.replace("_", " ")
        if self.custodian or m.told != "highest":
            return name, words
        words = words.removesuffix(" of a person").removesuffix(", highest")
        key = name.replace("highest", self.highest_key("highest"))
        return key, f"{words} of all but a few people"

    def step_of(self, m: Measure) -> float | None:
        """In what steps the number is told; None where it is not told in steps of its own."""
        if self.custodian or m.value is None:
            return None
        if m.told in ("mean", "total") and m.each is not None:
            step = self.step(m.each) * (nearest(len(m.each)) if m.told == "total" else 1)
        elif m.told == "scaled":
            step = _edge(BASE * m.scale)
        elif m.told == "ratio" and m.each is not None and m.each[1] >= BASE:
            step = BASE / float(nearest(int(m.each[1])))
        else:
            return None
        return three_digits(step) or None

    def measure(self, m: Measure) -> float | int | None:
        """The number as it is told; None is one that is not.

        >>> from reidbn.result import count_of, mean_of
        >>> Telling().measure(count_of(2114, "people")), Telling().measure(count_of(3, "people"))
        (2110, None)
        """
        if self.custodian or m.value is None or m.told == "given":
            return m.value
        if m.told == "count":
            return self.count(int(m.value))
        if m.told in ("mean", "highest", "total") and m.each is not None:
            return self._of_each(m, m.each)
        if m.told in ("ratio", "scaled"):
            return self._in_steps(m.value, m)
        return None

    def _of_each(self, m: Measure, each: Array) -> float | None:
        if m.told == "highest":
            return self.highest(each) if float(each.max()) <= 1 else None
        mean = self.mean(each)
        return mean if mean is None or m.told == "mean" else mean * nearest(len(each))

    def ends(self, m: Measure) -> tuple[float, float] | None:
        """The interval as it is told; None where an end is not."""
        if self.custodian or m.interval is None or self.measure(m) is None:
            return m.interval if self.custodian else None
        if m.told == "mean" and m.each is not None:
            ends = [self._told(end, m.each) or 0.0 for end in m.interval]
        elif m.told in ("ratio", "scaled"):
            ends = [self._in_steps(end, m) or 0.0 for end in m.interval]
        else:
            return None
        return ends[0], ends[1]

    def _in_steps(self, value: float, m: Measure) -> float | None:
        """In steps of what ten people of the table are in it."""
        if m.told == "scaled":
            step = _edge(BASE * m.scale)
        elif m.each is None or m.each[1] < BASE:
            return None
        else:
            whole = float(nearest(int(m.each[1])))
            step, value = BASE / whole, value * float(m.each[1]) / whole
        units = floor(value / step + 0.5)
        return three_digits(min(units * step, 1.0) if m.told == "ratio" else units * step) or None

    def measure_in_words(self, m: Measure) -> str:
        """The number as it is told, in words."""
        if m.value is None:
            return "undefined"
        if self.custodian or m.told == "given":
            return m.number()
        if m.told == "count":
            return self.counted(int(m.value))
        if m.unit == SHARE and m.each is not None:
            return self.share(round(m.value * len(m.each)), len(m.each))
        told = self.measure(m)
        if told is None:
            return NOT_TOLD if m.told != "mean" or m.each is None else self.mean_in_words(m.each)
        if m.told == "highest":
            return f"up to {told:g}"
        return one_in(told) if m.unit == "probability" else f"{told:,.10g}"

    def interval_in_words(self, m: Measure) -> str:
        """The interval as it is told; empty without one."""
        ends = self.ends(m)
        if ends is None:
            return ""
        if self.custodian:
            return m.between()
        if m.unit == SHARE:
            return f"{100 * ends[0]:.3g} % to {100 * ends[1]:.3g} %"
        return f"{ends[0]:,.10g} to {ends[1]:,.10g}"

    def rounded(self, text: str) -> str:
        """A text whose numbers of people are rounded outwards."""
        if self.custodian:
            return text

        def told(found: re.Match[str]) -> str:
            one = "person" if found[2] == "people" else found[2]
            return f"{self.counted(int(found[1].replace(',', '')))} {plural(one)}"

        return _OF_PEOPLE.sub(told, text)

    def noted(self, remark: str) -> str:
        """A remark; outwards its numbers of people rounded, and empty where it holds others.

        >>> Telling().noted("3 people left out"), Telling().noted("2,114 records of 5 kinds")
        ('under 10 people left out', '')
        """
        if self.custodian:
            return remark
        rest = _PER_CENT.sub("", _OF_PEOPLE.sub("", remark))
        return "" if re.search(r"\d", rest) else self.rounded(remark)

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
    if value > 1:
        ten = 10.0 ** floor(log10(value))
        return next(ten * level for level in (1, 2, 5, 10) if not is_above(value, ten * level))
    return next(level for level in LEVELS if not is_above(value, level))


def in_words(count: int | None) -> str:
    """A count as it is told."""
    return UNDER if count is None else f"{count:,}"


def how_told(telling: Telling) -> str:
    """How the numbers about people are told."""
    if telling.custodian:
        return "The custodian's own copy: every number is exact. It may not leave the house."
    return (
        f"Counts are to the nearest {BASE}, and those below {BASE} are not told; shares, curves "
        f"and quantiles are worked out from these rounded counts. A mean is told in steps of what "
        f"{BASE} people add to it, and of a maximum a level that fewer than {BASE} people exceed. "
        f"The custodian's own copy has the exact numbers."
    )
