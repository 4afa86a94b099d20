"""How numbers of people are said: exactly in the house, rounded in what leaves it.

A count that one person changes tells whether that person is there.  So outside the house counts
are rounded to tens, and shares are made of the rounded counts.  A mean over people is a count over
people, too (the mean of 0 and 1 is a share), so it is rounded in the same steps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError
from reidbn.report.telling import BASE
from reidbn.report.words import people as exact_people
from reidbn.written import agree, counted, plural

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Exactly:
    """Every number as it was counted: the custodian's own copy."""

    total: int
    exact = True
    smallest = 1
    values = "values of the secret"
    limits: tuple[str, ...] = (
        "These are exact counts, small ones too: the custodian's own copy, not to be passed on.",
    )

    def count(self, count: int) -> str:
        return f"{count:,}"

    def people(self, count: int) -> str:
        return exact_people(count, self.total)

    def verb(self, count: int, one: str, many: str) -> str:
        """The verb of so many."""
        return agree(count, one, many)

    def part(self, count: float) -> float:
        """A count as a share of the people asked about."""
        return count / self.total

    def share(self, count: int) -> str:
        return self.share_of(count / self.total)

    def share_of(self, share: float) -> str:
        return f"{100 * share:.3g} %"

    def shares(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(counts / counts.sum())

    def value(self, mean: float) -> float:
        """A mean over the people asked about."""
        return mean

    def mean(self, value: float) -> str:
        return f"{value:.4f}"

    def among(self, posterior: float, prior: float, people: int) -> tuple[str, str]:
        """Mean posterior and lift of some people."""
        return f"{posterior:.4f}", f"{posterior / prior:.3g}"

    def percent(self, share: float) -> str:
        return f"{100 * share:.3g} %"

    def fraction(self, value: float) -> str:
        return f"{value:.4f}"

    def protected(self, table: pd.DataFrame) -> pd.DataFrame:
        """The table of a generalisation."""
        return table

    def note(self, text: str) -> str:
        return text

    def rarer(self, values: int) -> str:
        return f"{counted(values, 'rarer value')} {agree(values, 'is', 'are')} not shown."


@dataclass(frozen=True)
class Rounded:
    """Counts to tens, shares and means from them: what may leave the house.

    >>> said = Rounded(789)
    >>> said.people(566), said.people(4), said.people(788), said.mean(0.12345)
    ('570 of 790 people (72 %)', 'fewer than 10 of 790 people', 'all but fewer than 10 of 790 \
people', '0.127')
    """

    total: int
    exact = False
    smallest = BASE
    values = f"values of the secret that {BASE} people or more have"
    limits: tuple[str, ...] = (
        "Counts of people are rounded to tens, and shares and means are made of the rounded "
        f"counts; values that fewer than {BASE} people have are not named.",
    )

    def __post_init__(self) -> None:
        if self.total < 2 * BASE:
            raise UsageError(
                f"a page about {self.total} people that leaves the house needs {2 * BASE} or "
                "more; the custodian's own copy is own_copy=True (--own-copy)"
            )

    def _tens(self, count: float) -> int:
        return int(BASE * np.floor(count / BASE + 0.5))

    def count(self, count: int) -> str:
        return f"fewer than {BASE}" if 0 < count < BASE else f"{self._tens(count):,}"

    def people(self, count: int) -> str:
        of = f"{self._tens(self.total):,} people"
        if 0 < count < BASE:
            return f"fewer than {BASE} of {of}"
        if 0 < self.total - count < BASE:
            return f"all but fewer than {BASE} of {of}"
        return f"{self._tens(count):,} of {of} ({100 * self.part(count):.0f} %)"

    def verb(self, _: int, __: str, many: str) -> str:
        """The verb, which does not tell that it is one."""
        return many

    def part(self, count: float) -> float:
        return min(1.0, self._tens(count) / self._tens(self.total))

    def share(self, count: int) -> str:
        edge = 100 * BASE / self._tens(self.total)
        if 0 < count < BASE:
            return f"below {edge:.2g} %"
        if 0 < self.total - count < BASE:
            return f"above {100 - edge:.3g} %"
        return f"{100 * self.part(count):.3g} %"

    def share_of(self, share: float) -> str:
        return self.share(round(share * self.total))

    def shares(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Shares of a row of counts: what lies below each edge is rounded, so they add up to 1."""
        below = [self._tens(count) for count in np.cumsum(counts)]
        return np.asarray(np.diff(below, prepend=0) / max(1, below[-1]))

    def value(self, mean: float) -> float:
        return self.part(mean * self.total)

    def mean(self, value: float) -> str:
        return f"{self.value(value):.3g}"

    def among(self, posterior: float, prior: float, people: int) -> tuple[str, str]:
        """Of few people only the fifth that the posterior lies in, and no lift."""
        if people < 10 * BASE:
            low = min(0.8, int(5 * posterior) / 5)
            return f"{low:g} to {low + 0.2:.1g}", ""
        few = Rounded(people).value(posterior)
        return f"{few:.3g}", f"{few / self.value(prior):.2g}"

    def percent(self, share: float) -> str:
        return f"{100 * share:.0f} %"

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

    def rarer(self, values: int) -> str:
        return f"Rarer values are not shown; those of fewer than {BASE} people never are."

    def note(self, text: str) -> str:
        """A remark with its numbers of people rounded."""
        number = re.compile(r"(\d[\d,]*) (people|person|individual|record)s?\b")

        def told(found: re.Match[str]) -> str:
            one = "person" if found[2] == "people" else found[2]
            return f"{self.count(int(found[1].replace(',', '')))} {plural(one)}"

        return number.sub(told, text)


Said = Exactly | Rounded
