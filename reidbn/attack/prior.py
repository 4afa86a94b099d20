"""What is believed about a parameter, within its range."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import check_fields

LEAST = 1e-9  # of a law: a part with less of it is not believed in at all


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
            return stats.beta(float(self.a or 1), float(self.b or 1), loc=low, scale=width)
        if self.kind == "triangular":
            assert self.mode is not None  # noqa: S101 - checked at birth
            return stats.triang((self.mode - low) / width, loc=low, scale=width)
        return stats.uniform(low, width)

    @property
    def marks(self) -> NDArray[np.float64]:
        """Numbers between which a law changes little, or not at all; none of a smooth one."""
        return np.empty(0)

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
class CutPrior(Prior):
    """A prior that was stated on a `whole` range, given that the number lies in a narrower one.

    >>> c = CutPrior.of(Prior("beta", a=12.5, b=28.5), (0, 1))
    >>> round(c.mean(0, 0.4), 6)
    0.290712
    """

    whole: tuple[float, float] = (0.0, 1.0)

    @classmethod
    def of(cls, prior: Prior, whole: tuple[float, float]) -> CutPrior:
        return cls(**{f.name: getattr(prior, f.name) for f in fields(Prior)}, whole=whole)

    @property
    def law(self) -> Any:
        """The law on the whole range, as scipy has it."""
        return self._frozen(*self.whole)

    def mass(self, low: float, high: float) -> float:
        """What the whole law says of a part: from the tail in which little gets lost."""
        law = self.law
        upper = law.cdf(low) > 0.5
        return float(law.sf(low) - law.sf(high) if upper else law.cdf(high) - law.cdf(low))

    def mean(self, low: float, high: float) -> float:
        return float(self.law.expect(lambda x: x, lb=low, ub=high, conditional=True))

    def sd(self, low: float, high: float) -> float:
        m = self.mean(low, high)
        square = self.law.expect(lambda x: (x - m) ** 2, lb=low, ub=high, conditional=True)
        return float(np.sqrt(square))

    def quantile(self, u: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
        law, part = self.law, self.mass(low, high)
        if law.cdf(low) > 0.5:
            found = law.isf(law.sf(low) - np.asarray(u) * part)
        else:
            found = law.ppf(law.cdf(low) + np.asarray(u) * part)
        return np.asarray(np.clip(found, low, high), dtype=float)

    def cumulative(
        self, points: NDArray[np.float64], low: float, high: float
    ) -> NDArray[np.float64]:
        law, at = self.law, np.clip(points, low, high)
        upper = law.cdf(low) > 0.5
        below = law.sf(low) - law.sf(at) if upper else law.cdf(at) - law.cdf(low)
        return np.asarray(below / self.mass(low, high), dtype=float)

    def problems(self, low: float, high: float) -> list[str]:
        wrong = super().problems(*self.whole)
        if not wrong and not self.mass(low, high) > LEAST:
            return [
                f"its {self.kind} prior on {self.whole[0]:g} to {self.whole[1]:g} holds {low:g} to "
                f"{high:g} for next to impossible; take a range where the prior has some weight, "
                f"or give another prior for it in priors="
            ]
        return wrong
