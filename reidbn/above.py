"""Above a limit: one comparison for every gate, count and verdict, and what a limit may be.

A risk is a sum of products, and 11 times 1/11 need not be 1: what lies above a limit by no more
than rounding is at it.  Counts of people, verdicts, exit codes and curves all ask here.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.errors import UsageError

ROUNDING = 1e-12  # of a limit
SLACK = 1e-9  # of a count of people that a share is multiplied out to


def is_above(values: Any, limit: Any) -> Any:
    """Whether a risk, or each of an array, is above a limit by more than what rounding leaves.

    >>> is_above(1 / 22 + 7e-18, 1 / 22), is_above(0.0901, 0.09), is_above(1e-300, 0.0)
    (False, True, True)
    >>> is_above(-5.0, -5.0)  # a mean in the units of its node
    False
    """
    return values > limit + abs(limit) * ROUNDING


def spared(share: float, people: int) -> int:
    """How many of so many people a share of them is, rounded down.

    >>> spared(1 - 0.55, 100), spared(0.29, 100)  # which by themselves are 44.999.. and 28.999..
    (45, 29)
    """
    return floor(share * people + SLACK)


def quantile(values: NDArray[Any], q: float) -> float:
    """The lowest of some people's risks that a share q of them does not exceed.

    >>> quantile(np.arange(1.0, 101.0), 0.55)
    55.0
    """
    place = max(len(values) - 1 - spared(1 - q, len(values)), 0)
    return float(np.partition(values, place)[place])


def band_of(values: Any, edges: ArrayLike) -> NDArray[np.int64]:
    """How many edges, in rising order, each value is above.

    >>> band_of([0.0, 0.09, 1 / 22 + 7e-18], [0.0, 1 / 22, 0.09]).tolist()
    [0, 2, 1]
    """
    rounded = np.asarray(edges, dtype=np.float64) * (1 + ROUNDING)
    return np.asarray(np.searchsorted(rounded, values, side="left"), dtype=np.int64)


def refuse_no_limit(value: float, what: str, *, alike: bool = True) -> None:
    """Raise where nothing can be above a limit, or everything is; `what` says whose it is.

    `alike`: one in so many people is a way of saying it.  Whoever wrote per cent meant them.
    """
    if not 0 <= value < 1:
        meant = (
            " and 100 %"
            if what.endswith("%") and value != 1
            else f" and 1{_meant(value, alike=alike)}"
        )
        raise UsageError(f"{what}: it must lie between 0{meant}")


def _meant(value: float, *, alike: bool) -> str:
    """A limit that may be a number of people alike, or per cent."""
    if value == 1:
        return "; nothing is above 1"
    if not 1 <= value < 2**53 or (value > 100 and not alike):
        return ""
    percent = f"{value:g} per cent as {value:g}%" if value < 100 else ""
    share = ceil(1e6 / value) / 1e6  # not below 1 / value, which would ask for one more
    people = f"{value:g} people alike as {share:.6f}" if alike and value == int(value) else ""
    found = ", or ".join(part for part in (people, percent) if part)
    return f"; write {found}" if found else ""
