"""Counts that may leave the house: in whole tens, rounded down, at cutoffs that fit together.

A count is told as the ten that it lies in, 0 to 9 ("under 10"), 10 to 19, and so on.  Counts that
are told of one whole must fit together: with C(t) people in classes of at most t, and C(t) told for
some cutoffs t, the people in classes of a to b, between two of them, are what sums of numbers of
a..b can be.  A reader who knows that asks which C still have an answer.

*All cutoffs but one leave every answer.*  Let every C(t) be the lower end of its ten, plus the same
i in 0..9.  Between two cutoffs stand then a multiple of ten of people, which a class of a or more
can make up where a <= 10 (any ten numbers in a row hold a multiple of a), and where a is a multiple
of ten and b + 1 >= 2a.  So each C can be any of ten numbers; with i = 0 up to a cutoff and v after
it, what lies between two cutoffs in one ten can be any v that classes can make up.  `CUTOFFS` are
such.  Only 10 (fewer than 11 alike, the cutoff of most precedents) is followed by a = 11, and a
class of 11 to 19 alone does not fit after the last of a ten: where C(10) and C(19) lie in one ten
or in two that follow each other, C(10) is told as either.  Other cutoffs are told by the two
neighbours that are in the list, and so tell nothing more.  The integer programme of `proof.py`
proves it again for the numbers that are printed.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, isclose, log10
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above

BASE = 10
WIDTH = BASE - 1
STEP = 100
"""People in whose steps at least a sum of risks is told that follows from no class, and ..."""
PART = 0.05
"""... the part of all people (benchmarks.attacker_chances)."""
APART = STEP + BASE
"""People for the mean of what follows from no class."""
LOOSE, AFTER = 10, 19
NOT_BESIDE = frozenset((3, 4, 6, 7, 8, 9))
"""Cutoffs at which coarser classes are not told beside all cutoffs of the classes within them: over
all tables of 10 to 19 people and all coarser classes no mark of either is narrowed without them,
and 152 of 1,287 are with them (benchmarks.attacker_nested)."""
Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Law = Callable[[int, Ints], Array]
"""What classes of each size have in a table of so many people: less the larger; empty where there
can be no such table."""


def cutoffs(most: int) -> list[int]:
    """The class sizes up to which people are counted, where there are so many people at most.

    >>> cutoffs(309)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 19, 49, 99, 199]
    """
    found = [*range(1, LOOSE + 1), AFTER]
    ten = 10
    while ten < most:
        found += [5 * ten - 1, 10 * ten - 1, 20 * ten - 1]
        ten *= 10
    return [c for c in found if c <= most]


def down(count: Any) -> Any:
    """To whole tens, rounded down.

    >>> [down(n) for n in (0, 9, 10, 19, 2114)]
    [0, 0, 10, 10, 2110]
    """
    return count // BASE * BASE


class Tens(NamedTuple):
    """What a count may be, as far as it is told."""

    low: int
    high: int

    @property
    def is_ten(self) -> bool:
        """Whether it is told as one ten."""
        return self.high - self.low == WIDTH

    @property
    def is_few(self) -> bool:
        """Whether it is marked "under 10"."""
        return self.high < BASE


def told(count: Any) -> Tens:
    """The ten that a count lies in.

    >>> told(2114)
    Tens(low=2110, high=2119)
    """
    low = int(down(count))
    return Tens(low, low + WIDTH)


def between(above: Tens, below: Tens) -> Tens:
    """What lies between two cumulative counts, the smaller first.

    >>> between(told(3), told(17)), between(told(13), told(17))
    (Tens(low=1, high=19), Tens(low=0, high=9))
    """
    return Tens(max(below.low - above.high, 0), below.high - above.low)


@dataclass(frozen=True, eq=False)
class Alike:
    """How many people stand in classes of at most so many, as it is told."""

    sizes: Ints
    """The size of each person's class."""
    without: frozenset[int] = frozenset()
    """Cutoffs that are not told by themselves."""
    somebody: int = 0
    """A verdict says that somebody is in a class of at most so many."""
    nobody: int = 0
    """It says that nobody is: wherever they would be counted, they are told as none."""
    law: Law | None = None
    """By which a value follows from the size of a class and from how many people there are."""
    laws: tuple[Law, ...] = ()
    """All by which it may follow, for a reader who is not told which one is meant."""

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def _below(self) -> Ints:
        return np.cumsum(np.bincount(self.sizes, minlength=2))

    def exactly(self, cutoff: int) -> int:
        """How many there are."""
        return int(self._below[min(max(cutoff, 0), len(self._below) - 1)])

    @cached_property
    def all(self) -> Tens:
        """All people."""
        return told(len(self))

    @cached_property
    def cutoffs(self) -> list[int]:
        """The cutoffs that are told by themselves; by the number of people as it is told."""
        return [c for c in cutoffs(self.all.high) if c not in self.without]

    @property
    def end(self) -> int:
        """A size of class that all are below."""
        return self.all.high + 1

    def at(self, cutoff: int) -> Tens:
        """People in classes of at most so many."""
        if cutoff < 1:
            return Tens(0, WIDTH)
        if cutoff <= self.nobody:
            return Tens(0, 0)
        if cutoff > self.all.high:
            return self.all
        if cutoff in self.cutoffs:
            return self._own(cutoff)
        before = max((c for c in self.cutoffs if c < cutoff), default=0)
        after = min((c for c in self.cutoffs if c > cutoff), default=self.end)
        return Tens(self.at(before).low if before else 0, self.at(after).high)

    def _own(self, cutoff: int) -> Tens:
        if cutoff != LOOSE:
            return told(self.exactly(cutoff))
        next_one = min((c for c in self.cutoffs if c > LOOSE), default=self.end)
        after = told(self.exactly(next_one))
        if after.low - down(self.exactly(cutoff)) > BASE:
            return told(self.exactly(cutoff))
        before = down(self.exactly(max((c for c in self.cutoffs if c < cutoff), default=0)))
        return Tens(max(int(before), after.low - BASE), after.high)


@dataclass(frozen=True, eq=False)
class Above:
    """How many people have more than each level, and their mean, as these are told.

    A value that follows from the size of a person's class is counted by class size, at the cutoffs
    of `Alike`; any other by itself.  Where it follows from the number of people too, of which only
    the ten is told, the class from which on it is above a level is not told either: people are
    then counted from the lowest to the highest cutoff over all numbers in that ten.
    """

    values: Array
    classes: Sequence[Alike] = field(default_factory=tuple)
    is_kept_back: bool = False
    """Nothing is told of how many are above a level, from nobody to everybody: not even that values
    follow from classes in this very table, which tells how coarser classes lie."""

    @cached_property
    def _sorted(self) -> Array:
        return np.sort(np.asarray(self.values, dtype=np.float64))

    @cached_property
    def _link(self) -> tuple[Alike, Ints, Array] | None:
        for classes in self.classes:
            if len(classes) == len(self.values):
                found = _by_size(self.values, classes.sizes)
                if found is not None:
                    return classes, *found
        return None

    @cached_property
    def _lawful(self) -> tuple[Alike, list[int], list[tuple[Array, Array]]] | None:
        """The classes of a law, cutoffs, and by number of people the values at and beyond each."""
        for classes in self.classes:
            if classes.law is None or len(classes) != len(self.values):
                continue
            sizes, where = np.unique(classes.sizes, return_inverse=True)
            found = classes.law(len(classes), sizes)[where]
            if np.allclose(found, self.values, rtol=1e-9, atol=0):
                return classes, *_of_law(classes, classes.laws or (classes.law,))
        return None

    @property
    def is_by_class(self) -> bool:
        """Whether a value follows from the size of a class that people are counted by."""
        return self._lawful is not None or self._link is not None

    @property
    def ends(self) -> tuple[Above, ...]:
        """What is told of by classes: these values."""
        return (self,)

    def anybody(self, level: float) -> bool | None:
        """Whether anybody has more than that; None where it is not told."""
        return None if self.is_kept_back else bool(is_above(self.values, level).any())

    def last_above(self, level: float) -> int:
        """The largest class whose people have more than that; 0 where it follows from none."""
        if self.is_kept_back or self._link is None:
            return 0
        return cutoff_of(level, *self._link[1:])

    def above(self, level: float) -> Tens:
        """People above a level."""
        if self.is_kept_back:
            return Tens(0, told(len(self.values)).high)
        if self._lawful is not None and level >= 0:
            return _by_law(level, *self._lawful)
        if self._link is not None and level >= 0:
            classes, sizes, values = self._link
            cutoff = cutoff_of(level, sizes, values)
            if not cutoff and classes.at(1).low >= BASE:
                return Tens(0, 0)  # it is told that some are alone, and they have no more
            return classes.at(cutoff)
        found = self._sorted
        least = np.searchsorted(found, level, side="right")
        while least < len(found) and not is_above(found[least], level):
            least += 1  # above it by rounding alone
        return told(len(found) - int(least))

    def mean(self) -> tuple[float, float]:
        """The least and the largest mean that the counts at all levels leave; of chances.

        With C(t) people above t the sum is the integral of C over t, and every C is told.
        """
        positive, negative = self._parts()
        low, high = positive
        less, more = negative
        return low - more, high - less

    def _parts(self) -> tuple[tuple[float, float], tuple[float, float]]:
        if self._sorted[0] >= 0:
            return self._integral(), (0.0, 0.0)
        parts = [Above(np.maximum(sign * self._sorted, 0)) for sign in (1, -1)]
        return parts[0]._integral(), parts[1]._integral()

    def _integral(self) -> tuple[float, float]:
        whole = told(len(self.values))
        levels = [0.0, *FINE, 1.0]
        counts = [self.above(t) for t in levels]
        low = high = 0.0
        for i, (t, beyond) in enumerate(pairwise(levels)):
            most = (counts[i].high + bool(counts[i].high)) / max(whole.low, 1)
            high += (beyond - t) * min(most, 1.0)
            low += (beyond - t) * counts[i + 1].low / (whole.high + 1)
        return low, high


@dataclass(frozen=True, eq=False)
class Enclosed:
    """How many people have more than each level, of values between two that follow from classes.

    Nothing is told but what the classes say: the least and the most that the values can be.
    """

    least: Above
    most: Above
    is_kept_back = is_by_class = False

    @property
    def follows(self) -> bool:
        """Whether both ends follow from classes."""
        return self.least.is_by_class and self.most.is_by_class

    @property
    def ends(self) -> tuple[Above, ...]:
        """What is told of by classes."""
        return self.least, self.most

    def anybody(self, level: float) -> bool | None:
        """Whether anybody has more than that; None where the classes do not say it."""
        least, most = (end.anybody(level) for end in self.ends)
        return least if least is most else None

    def above(self, level: float) -> Tens:
        """People above a level."""
        return Tens(self.least.above(level).low, self.most.above(level).high)

    def mean(self) -> tuple[float, float]:
        """The least and the largest mean that the counts at all levels leave."""
        return self.least.mean()[0], self.most.mean()[1]


FINE = [float(f"{m}e-{e}") for e in range(6, 0, -1)
        for m in (1, 1.12, 1.25, 1.4, 1.6, 1.8, 2, 2.24, 2.5, 2.8, 3.15, 3.55, 4, 4.5, 5, 5.6, 6.3,
                  7.1, 8, 9)]  # fmt: skip
"""Levels between which a mean is worked out, a ninth apart."""


def _by_size(values: Array, sizes: Ints) -> tuple[Ints, Array] | None:
    """The value of each class size, where there is one and larger classes have no more."""
    order = np.argsort(sizes, kind="stable")
    sizes, values = sizes[order], np.asarray(values, dtype=np.float64)[order]
    if len(values) == 0 or values.min() < 0:
        return None
    first = np.concatenate([[0], np.flatnonzero(np.diff(sizes)) + 1])
    low, high = np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)
    slack = 1e-9 * np.maximum(high, 1e-300)
    if (high - low > slack).any() or (np.diff(high) > slack[1:]).any():
        return None
    return sizes[first], high


def _of_law(classes: Alike, laws: Sequence[Law]) -> tuple[list[int], list[tuple[Array, Array]]]:
    cutoffs = [0, *classes.cutoffs]
    at = np.array(cutoffs)
    ends = []
    for n in range(max(classes.all.low, 1), classes.all.high + 1):  # larger ones are all people
        for law in laws:
            here, beyond = (law(n, np.clip(s, 1, n)) for s in (at, at + 1))
            if len(here):
                ends.append((here, beyond))
    return cutoffs, ends


def _by_law(level: float, classes: Alike, cutoffs: list[int], ends: Any) -> Tens:
    """From the people up to the lowest cutoff to those up to the highest, over all that may be."""
    low, high = len(cutoffs), 0
    for here, beyond in ends:
        low = min(low, int(is_above(here[1:], level).sum()))
        high = max(high, int(is_above(beyond, level).sum()))
    if not high and classes.at(1).low >= BASE:
        return Tens(0, 0)  # as below
    last = cutoffs[high] if high < len(cutoffs) else classes.end
    return Tens(classes.at(cutoffs[low]).low, classes.at(last).high)


def cutoff_of(level: float, sizes: Ints, values: Array) -> int:
    """The largest class whose people would have more than that, seen or not.

    Between sizes that are seen the value is taken to be linear in 1/size, and beyond them in
    proportion to it: so are one-over-the-class and all that an attack makes of it.

    >>> cutoff_of(0.05, np.array([1, 5, 40]), np.array([1.0, 0.2, 0.025]))
    19
    """
    above = np.flatnonzero(is_above(values, level))
    last = int(above[-1]) if len(above) else -1
    here = int(sizes[last]) if last >= 0 else 0
    if last + 1 < len(sizes):
        after, end = float(values[last + 1]), int(sizes[last + 1])
        near = (float(values[last]), here) if here > 1 else None
        unseen = range(here + 1, end)  # the larger, the less
        return here + bisect(
            unseen, False, key=lambda s: not is_above(_value_at(s, near, (after, end)), level)
        )
    reach = int(values[-1] * here / level * (1 - 1e-12)) if level > 0 else 1 << 62
    return max(here, reach)


def _value_at(size: int, near: tuple[float, int] | None, far: tuple[float, int]) -> float:
    value, end = far
    if near is None:
        return value * end / size
    first, start = near
    weight = (1 / size - 1 / end) / (1 / start - 1 / end)
    return value + weight * (first - value)


def bands(cumulative: Sequence[Tens]) -> Iterator[Tens]:
    """What lies between cumulative counts, the first from nobody on."""
    before = None
    for here in cumulative:
        yield here if before is None else between(before, here)
        before = here


def three_digits(value: float) -> float:
    """To three digits.

    >>> three_digits(0.123456), three_digits(0.0)
    (0.123, 0.0)
    """
    return round(value, 2 - floor(log10(abs(value)))) if value else 0.0


def outwards(low: float, high: float) -> tuple[float, float]:
    """Two ends to three digits, between which lies whatever lay between them before.

    >>> outwards(0.123556, 0.123656), outwards(-0.0450049, 0.0)
    ((0.123, 0.124), (-0.0451, 0.0))
    """
    return _to_three(low, floor), _to_three(high, ceil)


def _to_three(value: float, whole: Callable[[float], int]) -> float:
    near = three_digits(value)
    if isclose(near, value, rel_tol=1e-12):
        return near
    unit = 10.0 ** (floor(log10(abs(value))) - 2)
    return three_digits(whole(value / unit) * unit)


def mean_in_steps(risks: Array) -> tuple[float, float] | None:
    """Between what numbers a mean lies, by the step that the sum over people lies in.

    >>> mean_in_steps(np.full(2_000, 0.177)), mean_in_steps(np.ones(104))
    ((0.149, 0.2), None)
    """
    people = told(len(risks))
    if people.low < APART:
        return None
    step = max(STEP, PART * people.low)
    steps = floor(float(np.sum(risks)) / step + 1e-9)
    low, high = step * steps, step * (steps + 1)
    return outwards(  # of a sum below nothing the fewer people make the lower mean
        max(low / (people.high if low > 0 else people.low), -1.0),
        min(high / (people.low if high > 0 else people.high), 1.0),
    )


def mean_of_counts(values: Array, up_to: Sequence[float]) -> tuple[float, float] | None:
    """Between what numbers a mean of chances lies, by the people counted up to some levels alone.

    With F(t) people up to t and F told at the levels, the mean is one less the integral of F / n.

    >>> mean_of_counts(np.full(200, 0.3), [0.0, 0.25, 0.5]), mean_of_counts(np.ones(99), [0.5])
    ((0.238, 0.522), None)
    """
    whole = told(len(values))
    if whole.low < STEP:
        return None
    counts = [told(int((~is_above(values, t)).sum())) for t in up_to]
    ends = [(0.0, Tens(0, 0)), *zip(up_to, counts, strict=True), (1.0, whole)]
    wide = [after - before for (before, _), (after, _) in pairwise(ends)]
    most = sum(w * min(c.high / whole.low, 1.0) for w, (_, c) in zip(wide, ends[1:], strict=True))
    least = sum(w * c.low / whole.high for w, (_, c) in zip(wide, ends, strict=False))
    return outwards(1 - most, 1 - least)


def told_number(
    value: float | None, ends: tuple[float | None, float | None] | None, unit: str
) -> dict[str, Any]:
    """A number as every JSON has it: itself, where it is told, and both its ends."""
    low, high = ends or (None, None)
    return {"value": value, "at_least": low, "at_most": high, "unit": unit}
