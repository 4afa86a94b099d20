"""Scanning a function of one number: lowest and highest values, and where it passes a target.

For what no polynomial describes: integers, sizes of state lists, quantiles over subjects.  A scan
of every allowed value (or of many, spread over the range) is refined around what it finds until
neighbouring values are adjacent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reidbn.inference.network import Array

Function = Callable[[Array], Array]
REFINE = 17  # points per refinement: each one shrinks the interval eight- to sixteen-fold
FINEST = 1e-13  # of the range: where refinement of real numbers ends


def spread(low: float, high: float, count: int, *, integer: bool) -> Array:
    """About `count` values over a range, ends included; all of them when there are no more.

    >>> spread(1, 5, 99, integer=True).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    if integer and high - low < count:
        return np.arange(low, high + 1, dtype=float)
    points = np.linspace(low, high, max(count, 2))
    return np.unique(np.rint(points)) if integer else np.unique(points)


@dataclass(frozen=True)
class Scan:
    """Values of a function at increasing points of its range."""

    function: Function
    points: Array
    values: Array
    integer: bool

    @classmethod
    def over(cls, function: Function, points: Array, *, integer: bool) -> Scan:
        points = np.unique(points)
        return cls(function, points, function(points), integer)

    @property
    def is_complete(self) -> bool:
        """Every allowed value was looked at."""
        return self.integer and bool((np.diff(self.points) <= 1).all())

    @property
    def span(self) -> float:
        return float(self.points[-1] - self.points[0])

    def highest(self) -> tuple[float, float]:
        """Where the function is highest, and how high; the first such place."""
        return self._peak(1.0)

    def lowest(self) -> tuple[float, float]:
        return self._peak(-1.0)

    def _peak(self, sign: float) -> tuple[float, float]:
        points, values = self.points, self.values
        best = int(np.argmax(sign * values))
        where, what = float(points[best]), float(values[best])
        while True:
            low = float(points[max(best - 1, 0)])
            high = float(points[min(best + 1, len(points) - 1)])
            if self._is_fine(low, high, where):
                return where, what
            points = np.unique(np.append(
                spread(low, high, REFINE, integer=self.integer), where))  # fmt: skip
            values = self.function(points)
            best = int(np.argmax(sign * values))
            if sign * values[best] <= sign * what:  # nothing better than what is known
                best = int(np.searchsorted(points, where))
            where, what = float(points[best]), float(values[best])

    def _is_fine(self, low: float, high: float, where: float) -> bool:
        if self.integer:
            return high - where <= 1 and where - low <= 1
        return high - low <= 1e-9 * max(self.span, 1e-300)

    def crossings(self, target: float) -> list[tuple[float, float]]:
        """Neighbouring values between which the function passes the target.

        The first is on one side of the target and the second on the other (or at it).
        """
        above = self.values > target
        found = []
        for i in np.flatnonzero(above[1:] != above[:-1]):
            low, high = float(self.points[i]), float(self.points[i + 1])
            found.append(self._narrow(low, high, target, above=bool(above[i])))
        return found

    def _narrow(
        self, low: float, high: float, target: float, *, above: bool
    ) -> tuple[float, float]:
        finest = 1.0 if self.integer else FINEST * max(self.span, 1e-300)
        while high - low > finest:
            points = spread(low, high, REFINE, integer=self.integer)
            if len(points) < 3:
                break
            changed = (self.function(points) > target) != above
            changed[0], changed[-1] = False, True
            first = int(np.argmax(changed))
            if (points[first - 1], points[first]) == (low, high):
                break
            low, high = float(points[first - 1]), float(points[first])
        return low, high
