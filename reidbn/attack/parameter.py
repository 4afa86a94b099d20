"""Parameters: a value, the range it may have, its unit, a prior, and where it comes from."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.assumptions import ASSUMPTION, is_assumption
from reidbn.calls import check_fields
from reidbn.cpds.protocol import freeze_fields
from reidbn.errors import Problem

PROBABILITY = "probability"
LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Prior:
    """What is believed about a parameter: uniform, beta (on its range), triangular or choices.

    >>> p = Prior("beta", a=2, b=3)
    >>> round(p.mean(0, 1), 3), round(p.sd(0, 1), 3)
    (0.4, 0.2)
    """

    kind: str = "uniform"
    a: float | None = None
    b: float | None = None
    mode: float | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def _frozen(self, low: float, high: float) -> Any:
        from scipy import stats

        width = high - low
        if self.kind == "beta":
            return stats.beta(self.a, self.b, loc=low, scale=width)
        if self.kind == "triangular":
            assert self.mode is not None  # noqa: S101 - checked at birth
            return stats.triang((self.mode - low) / width, loc=low, scale=width)
        return stats.uniform(low, width)

    def mean(self, low: float, high: float) -> float:
        return float(self._frozen(low, high).mean())

    def sd(self, low: float, high: float) -> float:
        return float(self._frozen(low, high).std())

    def quantile(self, u: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
        return np.asarray(self._frozen(low, high).ppf(u), dtype=float)

    def cumulative(
        self, points: NDArray[np.float64], low: float, high: float
    ) -> NDArray[np.float64]:
        """The probability of lying at or under each point."""
        return np.asarray(self._frozen(low, high).cdf(points), dtype=float)

    def problems(self, low: float, high: float) -> list[str]:
        if self.kind not in ("uniform", "beta", "triangular"):
            return [f'"{self.kind}" is not a prior: use uniform, beta or triangular']
        if self.kind == "beta" and not ((self.a or 0) > 0 and (self.b or 0) > 0):
            return ["a beta prior needs a > 0 and b > 0"]
        if self.kind == "triangular" and not (self.mode is not None and low <= self.mode <= high):
            return [f"a triangular prior needs a mode between {low:.12g} and {high:.12g}"]
        if not low < high:
            return [f"a prior needs a range with some width; this one is just {low:.12g}"]
        wanted = {"uniform": "", "beta": "ab", "triangular": ("mode",)}[self.kind]
        given = [name for name in ("a", "b", "mode") if getattr(self, name) is not None]
        return [f"a {self.kind} prior takes no {name}" for name in given if name not in wanted]


@dataclass(frozen=True)
class Parameter:
    """A named number that the author, or a what-if, may change."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    unit: str = PROBABILITY
    source: str = ASSUMPTION
    prior: Prior | None = None
    story: str = ""

    def __post_init__(self) -> None:
        check_fields(self, apart=["value", "low", "high"])
        freeze_fields(self)
        probability = self.unit == PROBABILITY
        if self.low is None:
            object.__setattr__(self, "low", 0.0 if probability else self.value)
        if self.high is None:
            object.__setattr__(self, "high", 1.0 if probability else self.value)

    @property
    def range(self) -> tuple[float, float]:
        assert self.low is not None and self.high is not None  # noqa: S101, PT018 - set at birth
        return self.low, self.high

    @property
    def is_integer(self) -> bool:
        """True for counts: the value and the range are whole and the unit is no probability."""
        numbers = (self.value, *self.range)
        return self.unit != PROBABILITY and all(isinstance(x, int) for x in numbers)

    @property
    def is_assumption(self) -> bool:
        return is_assumption(self.source)

    def problems(self) -> list[Problem]:
        where = ("parameters", self.name)
        low, high = self.range
        for name, number in (("value", self.value), ("range", low), ("range", high)):
            if isinstance(number, bool) or not isinstance(number, int | float):
                return [Problem((*where, name), f"{number!r} is not a number")]
            if not abs(number) <= LARGEST:
                return [Problem((*where, name), f"{number!s:.24} is not a finite number")]
        found = self._range_problems(where)
        if not self.source.strip():
            message = 'has no source; write where it comes from, or "assumption"'
            found.append(Problem((*where, "source"), message))
        if self.prior:
            found += [Problem((*where, "prior"), text) for text in self.prior.problems(low, high)]
        return found

    def _range_problems(self, where: tuple[str, ...]) -> list[Problem]:
        low, high = self.range
        found = []
        if not low <= high:
            message = f"runs from {low:.12g} down to {high:.12g}; write the smaller end first"
            return [Problem((*where, "range"), message)]
        if not low <= self.value <= high:
            message = f"{self.value:.12g} lies outside its range {low:.12g} to {high:.12g}"
            found.append(Problem((*where, "value"), message))
        if self.unit == PROBABILITY and not (low >= 0 and high <= 1):
            message = (
                f"a probability lies between 0 and 1, but this range is {low:.12g} to {high:.12g}"
            )
            found.append(Problem((*where, "range"), message))
        return found
