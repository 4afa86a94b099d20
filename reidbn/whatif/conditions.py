"""How far a parameter may move before a condition of `where` no longer holds.

A condition may hold at both ends of a range and not between them.  It is proved piece by piece;
where that fails it is looked at, closely.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from reidbn.attack.limits import broken_condition, conditions_hold
from reidbn.inference.asked import Asked
from reidbn.inference.lowering import parameter_values
from reidbn.inference.network import Array

PIECES, CLOSELY = 256, 65  # of a range; values of a piece of which there is no proof
MOST_WHOLE = 1 << 17  # whole numbers that are all looked at


def where_holds(
    case: Asked, name: str, end: float, *, whole: bool
) -> tuple[float, tuple[str, ...]]:
    """The last value from the base towards an end up to which every condition holds; and why."""
    base = case.base(name)
    if not case.attack.conditions or end == base or _is_proved(case, name, base, end):
        return end, ()
    looked = 0
    if whole and abs(end - base) <= MOST_WHOLE:
        step = 1.0 if end > base else -1.0
        pieces, is_all = [np.append(np.arange(base, end, step), end)], True
    else:
        ends = np.linspace(base, end, PIECES + 1).tolist()
        unproved = [(a, b) for a, b in pairwise(ends) if not _is_proved(case, name, a, b)]
        pieces, is_all = [np.linspace(a, b, CLOSELY) for a, b in unproved], False
    for points in pieces:
        points = np.rint(points) if whole else points
        looked += len(points)
        bad = np.flatnonzero(~_holds(case, name, points))
        if len(bad):
            good = base if bad[0] == 0 else points[bad[0] - 1]
            return _cut(case, name, float(good), float(points[bad[0]]), end, whole=whole)
    said = f"{name}: conditions are not proved and were seen to hold at {looked:,} values"
    return end, () if is_all else (said,)


def _is_proved(case: Asked, name: str, one: float, other: float) -> bool:
    """Whether every condition holds between two values of a parameter, the others staying."""
    held = {*case.settings, name}
    for condition in case.attack.conditions:
        names = condition.stands_on(case.attack, held)
        box = {n: (case.base(n), case.base(n)) for n in names}
        if name in box:
            box[name] = min(one, other), max(one, other)
            if not condition.is_proved(case.attack, held, box):
                return False
    return True


def _holds(case: Asked, name: str, points: Array) -> np.ndarray:
    values = parameter_values(case.attack, {**case.settings, name: points})
    return conditions_hold(case.attack, values, len(points))


def _at(case: Asked, name: str, value: float) -> bool:
    return bool(_holds(case, name, np.array([value]))[0])


def last_allowed(
    is_allowed: Callable[[float], bool], good: float, bad: float, *, whole: bool
) -> tuple[float, float]:
    """Bisect between a value that is allowed and one that is not; the last, and the next that is
    not.  The last is told in nine digits, where these are allowed.
    """
    finest = 1.0 if whole else 1e-12 * max(abs(good), abs(bad))
    while abs(bad - good) > finest:
        middle = (good + bad) / 2
        middle = float(np.floor(middle)) if whole else middle
        good, bad = (middle, bad) if is_allowed(middle) else (good, middle)
    tidy = float(f"{good:.9g}")
    return tidy if is_allowed(tidy) else good, bad


def _cut(
    case: Asked, name: str, good: float, bad: float, end: float, *, whole: bool
) -> tuple[float, tuple[str, ...]]:
    """The last value before one that breaks a condition, and whether others hold it beyond."""
    kept, bad = last_allowed(lambda x: _at(case, name, x), good, bad, whole=whole)
    at = bad if _at(case, name, end) else end
    values = parameter_values(case.attack, {**case.settings, name: at})
    broken = broken_condition(case.attack, values)
    said = f"range ends at {kept:.6g}, since at {at:.9g} {broken}"
    beyond = np.linspace(bad, end, PIECES * 4 + 1)
    beyond = np.unique(np.rint(beyond)) if whole else beyond
    again = beyond[_holds(case, name, beyond)]
    if len(again):
        nearest = float(again[np.abs(again - bad).argmin()])
        said += f"; it holds again at {nearest:.6g}: set {name} there to see that part"
    return kept, (said,)
