"""How numbers of people are said: exactly in the house, rounded in what leaves it.

A count that one person changes tells whether that person is there.  So outside the house counts
are rounded to tens, shares come from the rounded counts, and means keep three digits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError
from reidbn.report.suppression import SMALLEST
from reidbn.report.words import people as exact_people

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Exactly:
    """Every number as it was counted: the custodian's own copy."""

    total: int
    exact = True
    smallest = 1
    limits: tuple[str, ...] = (
        "These are exact counts, small ones too: the custodian's own copy, not to be passed on.",
    )

    def count(self, count: int) -> str:
        return f"{count:,}"

    def people(self, count: int) -> str:
        return exact_people(count, self.total)

    def part(self, count: float) -> float:
        """A count as a share of the people asked about."""
        return count / self.total

    def share(self, count: int) -> str:
        return self.share_of(count / self.total)

    def share_of(self, share: float) -> str:
        return f"{100 * share:.3g} %"

    def shares(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(counts / counts.sum())

    def mean(self, value: float) -> str:
        return f"{value:.4f}"

    def fraction(self, value: float) -> str:
        return f"{value:.4f}"

    def protected(self, table: pd.DataFrame) -> pd.DataFrame:
        """The table of a generalisation."""
        return table

    def note(self, text: str) -> str:
        return text


@dataclass(frozen=True)
class Rounded:
    """Counts to tens, shares from them, means to three digits: what may leave the house.

    >>> said = Rounded(789)
    >>> said.people(566), said.people(4), said.people(788), said.mean(0.12345)
    ('570 of 790 people (72 %)', 'fewer than 10 of 790 people', 'all but fewer than 10 of 790 \
people', '0.123')
    """

    total: int
    exact = False
    smallest = SMALLEST
    limits: tuple[str, ...] = (
        f"Counts of people are rounded to tens, shares are made of the rounded counts and means "
        f"have three digits; values that fewer than {SMALLEST} people have are not named.",
    )

    def __post_init__(self) -> None:
        if self.total < 2 * SMALLEST:
            raise UsageError(
                f"a page about {self.total} people that leaves the house needs {2 * SMALLEST} or "
                "more; the custodian's own copy is own_copy=True (--own-copy)"
            )

    def _tens(self, count: float) -> int:
        return int(SMALLEST * np.floor(count / SMALLEST + 0.5))

    def count(self, count: int) -> str:
        return f"fewer than {SMALLEST}" if 0 < count < SMALLEST else f"{self._tens(count):,}"

    def people(self, count: int) -> str:
        of = f"{self._tens(self.total):,} people"
        if 0 < count < SMALLEST:
            return f"fewer than {SMALLEST} of {of}"
        if 0 < self.total - count < SMALLEST:
            return f"all but fewer than {SMALLEST} of {of}"
        return f"{self._tens(count):,} of {of} ({100 * self.part(count):.0f} %)"

    def part(self, count: float) -> float:
        return min(1.0, self._tens(count) / self._tens(self.total))

    def share(self, count: int) -> str:
        edge = 100 * SMALLEST / self._tens(self.total)
        if 0 < count < SMALLEST:
            return f"below {edge:.2g} %"
        if 0 < self.total - count < SMALLEST:
            return f"above {100 - edge:.3g} %"
        return f"{100 * self.part(count):.3g} %"

    def share_of(self, share: float) -> str:
        return self.share(round(share * self.total))

    def shares(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        tens = np.array([self._tens(count) for count in counts])
        return np.asarray(tens / max(1, tens.sum()))

    def mean(self, value: float) -> str:
        return f"{value:.3g}"

    def fraction(self, value: float) -> str:
        return f"{value:.3f}"

    def protected(self, table: pd.DataFrame) -> pd.DataFrame:
        found = table.copy()
        found["protected"] = [self._tens(x) for x in table["protected"]]
        for name in ("share", "worst"):
            if name in found:
                found[name] = [self.part(x * self.total) for x in table[name]]
        found["smallest"] = [self.count(x) for x in table["smallest"]]
        return found

    def note(self, text: str) -> str:
        """A remark with its numbers of people rounded."""
        number = re.compile(r"(\d[\d,]*)(?= (?:people|individuals|records))")
        return number.sub(lambda found: self.count(int(found[1].replace(",", ""))), text)


Said = Exactly | Rounded
