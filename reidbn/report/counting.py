"""Counts of people as they are told: exactly to the custodian, in tens to everybody else.

Outwards every count is told as the ten that it lies in: 0 to 9 as "under 10", and 2,114 as 2,110.
Counts of one whole are told at cutoffs that fit together (`release/counts.py`); one that does not
fit is told by its neighbours, as from so many to so many.  Shares are worked out from these counts
alone.  What is told of risks and other values is in `telling.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.release.counts import (
    BASE,
    STEP,
    Tens,
    bands,
    between,
    down,
    outwards,
    three_digits,
    told,
    told_number,
)
from reidbn.report.words import people
from reidbn.written import InTheHouse, agree, plural

NOT_TOLD = "not told"
UNDER = f"under {BASE}"
_OF_PEOPLE = re.compile(r"(\d[\d,]*) (people|person|individual|record)s?\b")
IN_THE_HOUSE = (
    "remarks on few people, and those with other numbers, are in the custodian's own copy, where "
    "there are any"
)
OWN_COPY = (
    "The custodian's own copy, with exact counts and values; a report that leaves the house rounds "
    "them."
)
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Counting:
    """Counts in the custodian's own copy, or in one that may leave the house."""

    custodian: bool = False

    def count(self, count: int | Tens) -> int | list[int] | None:
        """A count; None is a suppressed one, that may be none; two are from so many to so many."""
        if isinstance(count, Tens):
            if count.is_few:
                return None if count.high else 0
            return count.low if count.is_ten else list(count)
        return count if self.custodian else self.count(told(count))

    def count_number(self, count: int | Tens) -> dict[str, Any]:
        """A count as every JSON has a number.

        >>> Counting().count_number(2114)["at_most"], Counting().count_number(Tens(30, 59))["value"]
        (2119, None)
        """
        if not isinstance(count, Tens) and self.custodian:
            return told_number(int(count), (int(count),) * 2, "people")
        ends = count if isinstance(count, Tens) else told(count)
        found = self.count(ends)
        return told_number(found if isinstance(found, int) else None, ends, "people")

    def rank(self, count: int) -> int:
        """Where it stands in a list, the largest first: outwards those told alike are equal.

        >>> sorted([3, 14, 17, 25], key=Counting().rank)
        [25, 14, 17, 3]
        """
        return -int(count if self.custodian else down(count))

    def counted(self, count: int | Tens) -> str:
        """The same in words.

        >>> Counting().counted(2114), Counting().counted(3), Counting(custodian=True).counted(3)
        ('2,110', 'under 10', '3')
        >>> Counting().counted(Tens(30, 59))
        '30 to 59'
        """
        return in_words(self.count(count))

    def of(self, count: int | Tens, total: int) -> str:
        """So many of all people, with the share; nobody and everybody are told as nearly so.

        >>> Counting().of(566, 789), Counting().of(788, 789)
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

        >>> Counting().at_least(2114), Counting().at_least(3), Counting(custodian=True).at_least(3)
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

        >>> Counting().share(Tens(20, 39), 37), Counting().share(Tens(24, 39), 37, rest=True)
        ('51.2 % to 100 %', '80 % to 100 %')
        >>> Counting().share(400, 4000), Counting().share(3, 4000), Counting().share(4000, 4000)
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

    def number_above(self, number: float, count: int, *, of: int | None = None) -> float | None:
        """A number that was said, that is no less than a count: of the same ten, as that is told.

        Said exactly it would leave out of the count's ten what is above it.  One that so many
        people (`of`) make up, each a part that a reader may know, is told of those who are counted.
        None is a few.

        >>> Counting().number_above(23, 20), Counting().number_above(5, 3)
        (20, None)
        >>> Counting().number_above(31, 23), Counting().number_above(1030, 103, of=103)
        (31, 1000.0)
        """
        if self.tells_exactly(number, count, of=of):
            return number
        if of is not None:
            scaled = number / of * max(down(count), BASE)
            number = three_digits(scaled) if scaled >= STEP else round(scaled)
        return number if number > told(count).high else down(count) or None

    def tells_exactly(self, number: float, count: int, *, of: int | None = None) -> bool:
        """Whether such a number is told as it was said; it may be what it is told as all the same.

        >>> [Counting().tells_exactly(number, 20) for number in (20, 23, 30)]
        [False, False, True]
        """
        return self.custodian or (of is None and number > told(count).high)

    def bands(self, counts: Sequence[int]) -> list[int | list[int] | None]:
        """Counts of the bands of a whole, the riskiest first; None is a suppressed one.

        >>> Counting().bands([3, 14, 395]), Counting(custodian=True).bands([3, 14, 395])
        ([None, [1, 19], [391, 409]], [3, 14, 395])
        """
        if self.custodian:
            return [int(c) for c in counts]
        return self.in_bands([told(int(c)) for c in np.cumsum(counts)])

    def in_chain(self, counts: Sequence[int]) -> list[int | Tens]:
        """Counts of parts of a whole, none of them few, by differences of what is summed up.

        >>> Counting().in_chain([114, 44, 12])
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

        Empty where it holds others, and of a few people or of nobody: said at all it would tell of
        some, or of none.

        >>> Counting().noted("2,114 records left out"), Counting().noted("3 people left out")
        ('2,110 records left out', '')
        """
        if self.custodian:
            return remark
        if isinstance(remark, InTheHouse):
            return ""
        if any(int(found[1].replace(",", "")) < BASE for found in _OF_PEOPLE.finditer(remark)):
            return ""
        return "" if re.search(r"\d", _OF_PEOPLE.sub("", remark)) else self.rounded(remark)

    def notes(self, remarks: Sequence[str]) -> list[str]:
        """Those remarks that may be told; that there are others is said of every table alike."""
        told = filter(None, map(self.noted, remarks))
        return [*told, *([] if self.custodian else [IN_THE_HOUSE])]


def _all_but_few(count: Tens, total: int) -> bool:
    return count.low == down(total) or count == between(told(0), told(total))


def in_words(count: int | list[int] | None) -> str:
    """A count as it is told."""
    if isinstance(count, list):
        return f"{count[0]:,} to {count[1]:,}"
    return UNDER if count is None else f"{count:,}"
