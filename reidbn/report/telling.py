"""How numbers about people are told: exactly to the custodian, in tens to everybody else.

Outwards every count is told as the ten that it lies in: 0 to 9 as "under 10", and 2,114 as 2,110.
Counts of one whole are told at cutoffs that fit together (`release/counts.py`); one that does not
fit is told by its neighbours, as from so many to so many.  Shares, curves, quantiles, means and
maxima are worked out from these counts alone, so what one number hides no other one tells: with
C(t) people above a level t, the mean lies between

    sum over levels of (t_next - t) C_low(t_next) / n_high  and  ... C_high(t) / n_low        (1)

which ten people at the highest level set apart, at least; both ends are told in steps of ten
people, 10 / n, the first rounded down and the second up.  Fewer than 100 people have no mean.  The
mean of what follows from no class is told in steps of a hundred people, by the sum alone.  Of risks
that follow from none it is told how many are above a level as far as the classes say it: between
those who are where each risk is the least that its class leaves, and those who are where it is the
most.  Of a maximum a level is
told that fewer than ten people exceed; that nobody exceeds a limit is said by the verdict alone.
"""

from __future__ import annotations

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
    Enclosed,
    Tens,
    down,
    mean_in_steps,
    mean_of_counts,
    outwards,
    three_digits,
    told,
    told_number,
)
from reidbn.report.counting import NOT_TOLD, UNDER, Array, Counting
from reidbn.report.words import about, one_in
from reidbn.result import SHARE
from reidbn.written import tiny

if TYPE_CHECKING:
    from reidbn.result import Measure

FEWEST = 100  # people for a mean that leaves the house
_between = "{:,.10g} to {:,.10g}".format
LEVELS = tuple(
    sorted({*(float(f"{m}e-{e}") for e in range(1, 10) for m in (1, 2, 5)), 0.09, 0.33, 1.0})
)


@dataclass(frozen=True)
class Telling(Counting):
    """The custodian's own copy, or one that may leave the house."""

    classes: tuple[Alike, ...] = field(default=(), compare=False, repr=False)
    """In which classes people stand: what follows from them is counted by class size."""
    kept_back: str = ""
    """Why of risks the mean alone is told, in steps of 100 people; empty where more is."""
    of_risks: bool = False
    """Of what follows from no class the same is told: whoever knows all else could work it out."""
    enclosed: tuple[tuple[Array, Array, Array], ...] = field(default=(), compare=False, repr=False)
    """Risks that follow from no class, each with the least and the most that the classes leave."""

    @property
    def of_classes(self) -> Telling:
        """How what follows from the classes alone is told, whatever is known of them."""
        return replace(self, kept_back="")

    # -- levels of a value per person ------------------------------------------------------

    def ladder(self, values: Array) -> Above | Enclosed:
        """How many people are above each level, as it is told outwards."""
        own = Above(np.asarray(values, dtype=np.float64), self.classes, bool(self.kept_back))
        if own.is_kept_back or not self.of_risks:
            return own
        for risk, *both in self.enclosed:
            if risk is values or np.array_equal(risk, values):
                found = Enclosed(*(Above(ends, self.classes) for ends in both))
                return found if found.follows else replace(own, is_kept_back=True)
        return own if own.is_by_class else replace(own, is_kept_back=True)

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

    def mean_ends(
        self, values: Array, *, rest: bool = False, up_to: Sequence[float] = ()
    ) -> tuple[float, float] | None:
        """Between what numbers the mean lies; None where none is told.

        rest: of chances that are better the higher, by what is missing to one; up_to: levels up to
        which people are counted on the page, which then tells all that the mean does.
        """
        if self.custodian:
            return (float(values.mean()),) * 2
        if up_to:
            return mean_of_counts(values, up_to)
        if rest:
            missing = self.mean_ends(1 - values)
            return missing and outwards(1 - missing[1], 1 - missing[0])
        least, most = float(np.min(values)), float(np.max(values))
        if len(values) < FEWEST or least < -1 or most > 1:
            return None
        ladder = self.ladder(values)
        if isinstance(ladder, Above) and (ladder.is_kept_back or not ladder.is_by_class):
            return mean_in_steps(values)
        low, high = ladder.mean()
        step = BASE / down(len(values))
        ends = floor(low / step + 1e-9) * step, min(ceil(high / step - 1e-9) * step, 1.0)
        steps = None if isinstance(ladder, Above) else mean_in_steps(values)
        return outwards(
            *(ends if steps is None else (max(ends[0], steps[0]), min(ends[1], steps[1])))
        )

    def mean_in_words(
        self, values: Array, *, rest: bool = False, up_to: Sequence[float] = ()
    ) -> str:
        """The mean beside its everyday form; outwards between what numbers it lies."""
        if self.custodian:
            return one_in(float(values.mean()))
        ends = self.mean_ends(values, rest=rest, up_to=up_to)
        if ends is None:
            return NOT_TOLD
        return (about if self.kept_back else _between)(*ends)

    def mean_in_short(
        self, values: Array, *, rest: bool = False, up_to: Sequence[float] = ()
    ) -> str:
        """The mean as a number alone."""
        if self.custodian:
            return tiny(float(values.mean()), ".3g")
        return self.mean_in_words(values, rest=rest, up_to=up_to)

    def roughly(self, values: Array) -> str:
        """The mean of a part of the people, or of a part of each risk; outwards a level above it.

        Parts add up to a whole that is told too: finer, they would tell more of it.
        """
        if self.custodian:
            return one_in(float(values.mean()))
        edge = self.rough(values)
        return NOT_TOLD if edge is None else f"up to {edge:g}"

    def mean_of_part(self, values: Array, whole: Array, people: int | list[int] | None) -> str:
        """The mean of some of all people; outwards no more than what is told of all leaves it.

        Fewer than ten of all exceed a level that is told, so no more of so many people do: the
        mean of them is that level at most, and 1 for fewer than ten.  A bound of 1 bounds nothing.
        """
        if self.custodian or (edge := self.rough(values)) is None:
            return self.roughly(values)
        least, top = people[0] if isinstance(people, list) else people or 0, self.highest(whole)
        if least >= BASE:
            edge = min(edge, _edge(top + (1 - top) * (BASE - 1) / least))
        return f"up to {edge:g}" if edge < 1 else f"{NOT_TOLD}: too few people"

    def rough(self, values: Array) -> float | None:
        """The same as a number."""
        if self.custodian:
            return float(values.mean())
        ends = None if self.kept_back else self.mean_ends(values)
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
        if self.kept_back:
            return NOT_TOLD
        return one_in(found) if self.custodian or found == 0 else f"up to {found:g}"

    def highest_in_words(self, values: Array) -> str:
        """The largest value; outwards, a level that fewer than ten people exceed."""
        exceed = f", but for {UNDER} people" if self.highest(values) < 1 else ""
        return self.highest_in_short(values) + ("" if self.custodian else exceed)

    def highest_in_short(self, values: Array) -> str:
        """The same for a column that says how it is told."""
        if self.kept_back:
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
        if m.told == "ends" and m.each is not None:
            return int(m.each[0]), int(m.each[1])
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
            return self.mean_ends(each, rest=m.told == "rest", up_to=m.up_to)
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


def _edge(value: float) -> float:
    """The upper edge of the band of a value."""
    if value <= 0:
        return 0.0 - max((level for level in LEVELS if not is_above(level, -value)), default=0.0)
    if value > 1:
        ten = 10.0 ** floor(log10(value))
        return next(ten * level for level in (1, 2, 5, 10) if not is_above(value, ten * level))
    return next(level for level in LEVELS if not is_above(value, level))
