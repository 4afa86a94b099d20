"""What is believed about a parameter, within its range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import check_fields


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
