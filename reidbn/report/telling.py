"""How numbers about people are told: exactly to the custodian, in tens to everybody else.

Outwards every count is told as the ten that it lies in: 0 to 9 as "under 10", and 2,114 as 2,110.
Counts of one whole are told at cutoffs that fit together (`release/counts.py`); one that does not
fit is told by its neighbours, as from so many to so many.  Shares, curves, quantiles, means and
maxima are worked out from these counts alone, so what one number hides no other one tells: with
C(t) people above a level t, the mean lies between

    sum over levels of (t_next - t) C_low(t_next) / n_high  and  ... C_high(t) / n_low        (1)

which ten people at the highest level set apart, at least; both ends are told in steps of ten
people, 10 / n, the first rounded down and the second up; under chances in steps of a hundred, by
the sum alone.  Fewer than 100 people have no mean.  Of a maximum a level is told that fewer than
ten people exceed; that nobody exceeds a limit is said by the verdict alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor, log2, log10
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above, quantile
from reidbn.release.counts import (
    BASE,
    Above,
    Alike,
    Tens,
    bands,
    between,
    down,
    mean_in_steps,
    outwards,
    three_digits,
    told,
    told_number,
)
from reidbn.report.words import about, one_in, people
from reidbn.result import SHARE
from reidbn.written import agree, plural, tiny

if TYPE_CHECKING:
    from reidbn.result import Measure

FEWEST = 100  # people for a mean that leaves the house
NOT_TOLD = "not told"
_between = "{:,.10g} to {:,.10g}".format
UNDER = f"under {BASE}"
_PER_CENT = re.compile(r"\b\d{1,2} ?%")  # too few figures to work a count out from
_OF_PEOPLE = re.compile(r"(\d[\d,]*) (people|person|individual|record)s?\b")
IN_THE_HOUSE = "further remarks, with counts, are in the custodian's own copy"
OWN_COPY = (
    "The custodian's own copy, with exact counts and values; a report that leaves the house rounds "
    "them."
)
Array = NDArray[np.float64]
LEVELS = tuple(
    sorted({*(float(f"{m}e-{e}") for e in range(1, 10) for m in (1, 2, 5)), 0.09, 0.33, 1.0})
)


@dataclass(frozen=True)
class Telling:
    """The custodian's own copy, or one that may leave the house."""

    custodian: bool = False
    classes: tuple[Alike, ...] = field(default=(), compare=False, repr=False)
    """In which classes people stand: what follows from them is counted by class size."""
    by_chance: bool = False
    """Risks are means over nested classes: their mean alone is told, in steps of 100 people."""
    of_risks: bool = False  # of which a mean that follows from no class is told in such steps, too

    @property
    def of_classes(self) -> Telling:
        """How what follows from the classes alone is told, whatever is known of them."""
        return replace(self, by_chance=False)

    # -- counts ----------------------------------------------------------------------------

    def count(self, count: int | Tens) -> int | list[int] | None:
        """A count; None is a suppressed one, that may be none; two are from so many to so many."""
        if isinstance(count, Tens):
            if count.is_few:
                return None if count.high else 0
            return count.low if count.is_ten else list(count)
        return count if self.custodian else self.count(told(count))

    def count_number(self, count: int | Tens) -> dict[str, Any]:
        """A count as every JSON has a number.

        >>> Telling().count_number(2114)["at_most"], Telling().count_number(Tens(30, 59))["value"]
        (2119, None)
        """
        if not isinstance(count, Tens) and self.custodian:
            return told_number(int(count), (int(count),) * 2, "people")
        ends = count if isinstance(count, Tens) else told(count)
        found = self.count(ends)
        return told_number(found if isinstance(found, int) else None, ends, "people")

    def counted(self, count: int | Tens) -> str:
        """The same in words.

        >>> Telling().counted(2114), Telling().counted(3), Telling(custodian=True).counted(3)
        ('2,110', 'under 10', '3')
        >>> Telling().counted(Tens(30, 59))
        '30 to 59'
        """
        return in_words(self.count(count))

    def of(self, count: int | Tens, total: int) -> str:
        """So many of all people, with the share; nobody and everybody are told as nearly so.

        >>> Telling().of(566, 789), Telling().of(788, 789)
        ('560 of 780 people (70.9 % to 73 %)', 'all but under 10 of 780 people')
        """
        if not isinstance(count, Tens):
            if self.custodian:
                return people(count, total)
            count = told(count)
        whole = down(total)
        if not count.high:  # as a verdict says
            return "nobody"
        if count.is_few:
            return f"{UNDER} of {whole:,} people" if whole else f"{UNDER} people"
        if _all_but_few(count, total):
            return f"all but {UNDER} of {whole:,} people"
        if count.is_ten:
            return f"{count.low:,} of {whole:,} people ({self.share(count, total)})"
        if count.high >= whole and not count.low:
            return f"{NOT_TOLD} how many of {whole:,} people"
        if count.high >= whole:
            return f"at least {count.low:,} of {whole:,} people"
        return f"{self.counted(count)} of {whole:,} people"

    def rest(self, count: int, total: int) -> int | Tens:
        """All people but so many, by the counts that are told."""
        return total - count if self.custodian else between(told(count), told(total))

    def at_least(self, count: int) -> str:
        """A count from below alone: of groups that hold each other, which a whole is made of.

        >>> Telling().at_least(2114), Telling().at_least(3), Telling(custodian=True).at_least(3)
        ('at least 2,110', 'not told', '3')
        """
        if self.custodian or not down(count):
            return f"{count:,}" if self.custodian else NOT_TOLD
        return f"at least {down(count):,}"

    def share_at_least(self, count: int, total: int) -> str:
        """The same as a share; of all people, who may be nine more than are told."""
        if self.custodian or not down(count):
            return self.share(count, total) if self.custodian else NOT_TOLD
        return f"at least {100 * down(count) / (down(total) + BASE):.3g} %"

    def verb(self, count: int, one: str, many: str) -> str:
        """The verb of a count; outwards it does not tell that it is one."""
        return agree(count, one, many) if self.custodian else many

    def share(self, count: int | Tens, total: int, *, rest: bool = False) -> str:
        """A share of all people, made of the counts that are told.

        rest: a count of those whom another one leaves of the very same people; where a count that
        is told from so many to so many is the least, there may be nine people more of all.

        >>> Telling().share(Tens(20, 39), 37), Telling().share(Tens(24, 39), 37, rest=True)
        ('51.2 % to 100 %', '80 % to 100 %')
        >>> Telling().share(400, 4000), Telling().share(3, 4000), Telling().share(4000, 4000)
        ('9.97 % to 10.3 %', 'below 0.25 %', 'above 99.7 %')
        """
        if not isinstance(count, Tens):
            if self.custodian:
                return f"{100 * count / total:.3g} %"
            count = told(count)
        ends = self._share_ends(count, total)
        if ends is None:
            return "-"
        if not count.low and count.high > down(total) > 0:
            return NOT_TOLD
        if not rest and not count.is_ten:
            ends = count.low / (down(total) + BASE - 1), ends[1]
        near = {f"{end:.3g}" for end in ends}
        if not count.is_few and (len(near) > 1 or "1" in near):
            ends = outwards(*ends)
        low, high = (f"{100 * end:.3g} %" for end in ends)
        if count.is_few:
            return f"below {high}" if count.high else high
        if _all_but_few(count, total):
            return f"above {low}"
        return low if low == high else f"{low} to {high}"

    def _share_ends(self, count: int | Tens, total: int) -> tuple[float, float] | None:
        """Between what shares of all people a count lies, as both are told."""
        count, whole = count if isinstance(count, Tens) else told(count), down(total)
        if not whole:
            return None
        if count.is_few:
            return 0.0, BASE / whole * bool(count.high)
        if _all_but_few(count, total):
            return 1 - BASE / whole, 1.0
        if count.is_ten:
            return count.low / told(total).high, min(count.high / whole, 1.0)
        return min(count.low / whole, 1.0), min((count.high + 1) / whole, 1.0)

    def population(self, number: float, people: int, *, is_whole: bool) -> float:
        """A population; one without those for whom suppressed people stood would count these."""
        if self.custodian or is_whole:
            return number
        return three_digits(number / people * max(down(people), BASE))

    def bands(self, counts: Sequence[int]) -> list[int | list[int] | None]:
        """Counts of the bands of a whole, the riskiest first; None is a suppressed one.

        >>> Telling().bands([3, 14, 395]), Telling(custodian=True).bands([3, 14, 395])
        ([None, [1, 19], [391, 409]], [3, 14, 395])
        """
        if self.custodian:
            return [int(c) for c in counts]
        return self.in_bands([told(int(c)) for c in np.cumsum(counts)])

    def in_chain(self, counts: Sequence[int]) -> list[int | Tens]:
        """Counts of parts of a whole, none of them few, by differences of what is summed up.

        >>> Telling().in_chain([114, 44, 12])
        [Tens(low=110, high=119), Tens(low=31, high=49), Tens(low=11, high=29)]
        """
        if self.custodian:
            return list(counts)
        return list(bands([told(int(c)) for c in np.cumsum(counts)]))

    def in_bands(self, cumulative: Sequence[Tens]) -> list[int | list[int] | None]:
        """The same of cumulative counts as they are told."""
        return [self.count(band) for band in bands(cumulative)]

    def portion(self, count: float | Tens, total: int) -> float:
        """A share as a number, for a picture and the table under it."""
        if isinstance(count, Tens):
            return float(min(1.0, count.low / max(down(total), BASE)))
        if self.custodian:
            return count / total
        return self.portion(told(round(count)), total)

    def portions(self, counts: NDArray[np.int64]) -> Array:
        """Shares of the bands of a whole: what lies below each edge is rounded, so they add up."""
        below = np.cumsum(counts)
        if not self.custodian:
            below = down(below)
        return np.asarray(np.diff(below, prepend=0) / max(1, int(below[-1])))

    # -- levels of a value per person ------------------------------------------------------

    def ladder(self, values: Array) -> Above:
        """How many people are above each level, as it is told outwards."""
        return Above(np.asarray(values, dtype=np.float64), self.classes, self.by_chance)

    def above(self, values: Array, level: float) -> int | Tens:
        """How many people are above a level."""
        if self.custodian:
            return int(is_above(values, level).sum())
        return self.ladder(values).above(level)

    def alike(self, sizes: NDArray[np.int64], most: int) -> int | Tens:
        """How many people stand in classes of at most so many."""
        if self.custodian:
            return int((sizes <= most).sum())
        return self.by_size(sizes).at(most)

    def by_size(self, sizes: NDArray[np.int64]) -> Alike:
        """Classes as they are counted: the ones that were audited, where it is these."""
        return next((c for c in self.classes if np.array_equal(c.sizes, sizes)), Alike(sizes))

    def curve(self, values: Array, levels: Array) -> Array:
        """Shares above levels in percent, for a curve; outwards the most that the counts leave."""
        if self.custodian:
            counts = np.array([is_above(values, level).sum() for level in levels])
            return np.asarray(100 * counts / len(values))
        ladder, whole = self.ladder(values), max(down(len(values)), 1)
        upper = [0 if c.is_few else c.high - BASE + 1 for c in map(ladder.above, levels)]
        return np.asarray([100 * min(c / whole, 1.0) for c in upper])

    # -- means, quantiles and maxima ---------------------------------------------------------

    def mean_ends(self, values: Array, *, rest: bool = False) -> tuple[float, float] | None:
        """Between what numbers the mean lies; None where none is told.

        rest: of chances that are better the higher, by what is missing to one.
        """
        if self.custodian:
            return (float(values.mean()),) * 2
        if rest:
            missing = self.mean_ends(1 - values)
            return missing and outwards(1 - missing[1], 1 - missing[0])
        least, most = float(np.min(values)), float(np.max(values))
        if len(values) < FEWEST or least < -1 or most > 1:
            return None
        ladder = self.ladder(values)
        if self.by_chance or (self.of_risks and least >= 0 and not ladder.is_by_class):
            return mean_in_steps(values)
        low, high = ladder.mean()
        step = BASE / down(len(values))
        ends = floor(low / step + 1e-9) * step, min(ceil(high / step - 1e-9) * step, 1.0)
        return outwards(*ends)

    def mean_in_words(self, values: Array, *, rest: bool = False) -> str:
        """The mean beside its everyday form; outwards between what numbers it lies."""
        if self.custodian:
            return one_in(float(values.mean()))
        ends = self.mean_ends(values, rest=rest)
        if ends is None:
            return NOT_TOLD
        return (about if self.by_chance else _between)(*ends)

    def mean_in_short(self, values: Array, *, rest: bool = False) -> str:
        """The mean as a number alone."""
        if self.custodian:
            return tiny(float(values.mean()), ".3g")
        return self.mean_in_words(values, rest=rest)

    def roughly(self, values: Array) -> str:
        """The mean of a part of the people, or of a part of each risk; outwards a level above it.

        Parts add up to a whole that is told too: finer, they would tell more of it.
        """
        if self.custodian:
            return one_in(float(values.mean()))
        edge = self.rough(values)
        return NOT_TOLD if edge is None else f"up to {edge:g}"

    def rough(self, values: Array) -> float | None:
        """The same as a number."""
        if self.custodian:
            return float(values.mean())
        ends = None if self.by_chance else self.mean_ends(values)
        return None if ends is None else _edge(ends[1])

    def quantile_ends(self, values: Array, q: float) -> tuple[float, float]:
        """Between what levels lies what a share q of the people does not exceed."""
        if self.custodian:
            return (quantile(values, q),) * 2
        people, rest = told(len(values)), 1 - q + 1e-12
        return self._levels(values, rest * people.low + 1e-9, rest * people.high + 1e-9)

    def _levels(self, values: Array, few: float, many: float) -> tuple[float, float]:
        """From the last level that more than `many` exceed for certain to the first few do."""
        ladder, low = self.ladder(values), 0.0
        for level in (0.0, *LEVELS):
            beyond = ladder.above(level)
            if beyond.high <= few:
                return low, level
            low = level if beyond.low > many else low
        return low, 1.0

    def highest(self, values: Array) -> float:
        """The largest value; outwards, a level that fewer than ten people exceed."""
        return self.highest_ends(values)[1]

    def highest_ends(self, values: Array) -> tuple[float, float]:
        """Between what levels that lies which fewer than ten people exceed; exactly, the largest.

        >>> Telling().highest_ends(np.linspace(0, 0.3, 300))
        (0.2, 0.33)
        """
        top = float(values.max())
        if self.custodian:
            return top, top
        if len(values) < BASE:
            return 0.0, 1.0
        if top <= 1:
            return self._levels(values, BASE - 1, BASE - 1)
        level = _edge(float(np.sort(values)[-BASE]))
        return 0.0, level if self.ladder(values).above(level).is_few else 1.0

    def quantile_in_words(self, values: Array, q: float) -> str:
        """The same in words; where a few may be above any level, that it is not told.

        >>> Telling().quantile_in_words(np.zeros(120), 0.95)
        'not told: under 10 people may be above it'
        """
        found = self.quantile_ends(values, q)[1]
        if not self.custodian and (1 - q) * down(len(values)) + 1e-9 < BASE - 1:
            return f"{NOT_TOLD}: {UNDER} people may be above it"
        if self.by_chance:
            return NOT_TOLD
        return one_in(found) if self.custodian or found == 0 else f"up to {found:g}"

    def highest_in_words(self, values: Array) -> str:
        """The largest value; outwards, a level that fewer than ten people exceed."""
        exceed = f", but for {UNDER} people" if self.highest(values) < 1 else ""
        return self.highest_in_short(values) + ("" if self.custodian else exceed)

    def highest_in_short(self, values: Array) -> str:
        """The same for a column that says how it is told."""
        if self.by_chance:
            return NOT_TOLD
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

    def measure(self, m: Measure) -> float | int | None:
        """The number as it is told; None is one that is not, or by its two ends alone.

        >>> from reidbn.result import count_of, mean_of
        >>> Telling().measure(count_of(2114, "people")), Telling().measure(count_of(3, "people"))
        (2110, None)
        """
        if self.custodian or m.value is None or m.told == "given":
            return m.value
        ends = self.bounds(m)
        if ends is None or m.told not in ("count", "highest"):
            return None
        return ends[1] if m.told == "highest" else ends[0] or None

    def bounds(self, m: Measure) -> tuple[float, float] | None:
        """Between what numbers it lies, as far as it is told; None where that is not told.

        Of a mean and all that is scaled neither end is the number: the higher flatters a
        protection, and the lower a risk.

        >>> from reidbn.result import count_of
        >>> Telling().bounds(count_of(2114, "people")), Telling().bounds(count_of(3, "people"))
        ((2110, 2119), (0, 9))
        """
        if m.value is None:
            return None
        if self.custodian or m.told == "given":
            return m.value, m.value
        if m.told == "count":
            ten = told(int(m.value))
            return ten.low, ten.high
        if m.told in ("ratio", "scaled"):
            return self._in_steps(m.value, m)
        return None if m.each is None else self._bounds_of_each(m, m.each)

    def _bounds_of_each(self, m: Measure, each: Array) -> tuple[float, float] | None:
        if m.told == "highest":
            return self.highest_ends(each) if float(each.max()) <= 1 else None
        if m.told == "total":
            ends, people = self.mean_ends(each), told(len(each))
            return ends and outwards(ends[0] * people.low, ends[1] * people.high)
        if m.told not in ("mean", "rest"):
            return None
        if m.unit != SHARE:
            return self.mean_ends(each, rest=m.told == "rest")
        ends = self._share_ends(self._have(m.value or 0.0, len(each)), len(each))
        return ends and outwards(*ends)

    def _have(self, share: float, everybody: int) -> int | Tens:
        """So many people as a share of everybody, told by those who are missing."""
        return self.rest(round((1 - share) * everybody), everybody)

    def ends(self, m: Measure) -> tuple[float, float] | None:
        """The 95 % interval as it is told, not narrower than it is; None where an end is not."""
        if self.custodian or m.interval is None:
            return m.interval
        if m.told not in ("ratio", "scaled"):
            return None
        low, high = (self._in_steps(end, m) for end in m.interval)
        return None if low is None or high is None else (low[0], high[1])

    def number(self, m: Measure) -> dict[str, Any]:
        """The number as every JSON has it."""
        return told_number(self.measure(m), self.bounds(m), m.unit)

    def _in_steps(self, value: float, m: Measure) -> tuple[float, float] | None:
        """Both ends of it, in steps of what ten people of the table are in it."""
        if m.told == "scaled":
            step = _edge(BASE * m.scale)
            units = floor(value / step + 1e-9)
            low, high = outwards(units * step, (units + 1) * step)
            return low, high if m.most is None else min(high, m.most)
        if m.each is None or m.each[1] < BASE:
            return None
        whole, ten = told(int(m.each[1])), told(floor(value * float(m.each[1]) + 1e-9))
        return outwards(ten.low / whole.high, min((ten.low + BASE) / whole.low, 1.0))

    def measure_in_words(self, m: Measure) -> str:
        """The number as it is told, in words."""
        if m.value is None:
            return "undefined"
        if self.custodian or m.told == "given":
            return m.number()
        if m.told == "count":
            return self.counted(int(m.value))
        if m.unit == SHARE and m.each is not None:
            everybody = len(m.each)
            return self.share(self._have(m.value, everybody), everybody, rest=True)
        ends = self.bounds(m)
        if ends is None:
            return NOT_TOLD
        return f"up to {ends[1]:,.10g}" if m.told == "highest" else _between(*ends)

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

        def tens(found: re.Match[str]) -> str:
            one = "person" if found[2] == "people" else found[2]
            return f"{self.counted(int(found[1].replace(',', '')))} {plural(one)}"

        return _OF_PEOPLE.sub(tens, text)

    def noted(self, remark: str) -> str:
        """A remark; outwards its numbers of people rounded.

        Empty where it holds others, and of a few people: said at all it would tell of some.

        >>> Telling().noted("2,114 records left out"), Telling().noted("3 people left out")
        ('2,110 records left out', '')
        """
        if self.custodian:
            return remark
        if any(int(found[1].replace(",", "")) < BASE for found in _OF_PEOPLE.finditer(remark)):
            return ""
        rest = _PER_CENT.sub("", _OF_PEOPLE.sub("", remark))
        return "" if re.search(r"\d", rest) else self.rounded(remark)

    def notes(self, remarks: Sequence[str]) -> list[str]:
        """Those remarks that may be told, and a word where there are others."""
        told = [self.noted(remark) for remark in remarks]
        more = [] if all(told) else [IN_THE_HOUSE]
        return [*filter(None, told), *more]

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


def _all_but_few(count: Tens, total: int) -> bool:
    return count.low == down(total) or count == between(told(0), told(total))


def _edge(value: float) -> float:
    """The upper edge of the band of a value."""
    if value <= 0:
        return 0.0 - max((level for level in LEVELS if not is_above(level, -value)), default=0.0)
    if value > 1:
        ten = 10.0 ** floor(log10(value))
        return next(ten * level for level in (1, 2, 5, 10) if not is_above(value, ten * level))
    return next(level for level in LEVELS if not is_above(value, level))


def in_words(count: int | list[int] | None) -> str:
    """A count as it is told."""
    if isinstance(count, list):
        return f"{count[0]:,} to {count[1]:,}"
    return UNDER if count is None else f"{count:,}"
