"""Scanning a function of one number: lowest and highest values, and where it passes a target.

For what no polynomial describes: integers, sizes of state lists, quantiles over subjects.  A scan
of every allowed value proves what it says.  A scan of many, spread over the range and denser at its
ends, is refined around its peaks and dips until neighbouring values are adjacent; what it climbed
over counts among the values looked at, and between those it knows nothing.

Grids: the settings of a sweep, from lists, numbers of points, or named changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, islice
from math import prod
from typing import Any

import numpy as np

from reidbn.attack.formula import evaluate
from reidbn.attack.limits import refuse_beyond_range
from reidbn.attack.parts import Parameter
from reidbn.attack.scenario import Scenario
from reidbn.errors import TooLarge, UsageError
from reidbn.inference.asked import Asked
from reidbn.inference.network import Array
from reidbn.inference.values import parameter_values
from reidbn.inference.worst import of_worst
from reidbn.whatif.cases import Change, change
from reidbn.whatif.priors import measure
from reidbn.whatif.ranges import takes_whole_numbers

Function = Callable[[Array], Array]
LOOKED_TIED = 33  # values at which ties between policies are looked for ...
KINKS, MOST_KINKS = 4_097, 64  # ... and where formulas are looked at for kinks, and how many
REFINE = 17  # points per refinement: each one shrinks the interval eight- to sixteen-fold
FINEST = 1e-13  # of the range: where refinement of real numbers ends
Looked = list[tuple[Array, Array]]  # points and the values there


def spread(low: float, high: float, count: int, *, integer: bool) -> Array:
    """About `count` values over a range, ends included; all of them when there are no more.

    >>> spread(1, 5, 99, integer=True).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    if integer and high - low < count:
        return np.arange(low, high + 1, dtype=float)
    points = np.linspace(low, high, max(count, 2))
    return np.unique(np.rint(points)) if integer else np.unique(points)


def worst_along(case: Asked, ranges: Mapping[str, tuple[float, float]]) -> Asked:
    """The case of the worst of tied policies, where any are tied along one of these ranges."""
    points = {}
    for n, (low, high) in ranges.items() if case.decides else ():
        even = spread(low, high, LOOKED_TIED, integer=takes_whole_numbers(case, n))
        points[n] = np.unique(np.concatenate([even, _between_kinks(case, n, low, high)]))
    return of_worst(case, _that_can_be(case, *({n: at} for n, at in points.items())))


def _that_can_be(case: Asked, *looked: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
    """The settings at which every table is one; of others it is said where they are asked."""
    for settings in looked:
        names = [*settings]
        if case.refusal(settings, names) is None:
            yield {**settings}
            continue
        each = zip(*(at.tolist() for at in settings.values()), strict=True)
        kept = [case.refusal(dict(zip(names, at, strict=True)), names) is None for at in each]
        if any(kept):
            yield {n: at[kept] for n, at in settings.items()}


def _between_kinks(case: Asked, name: str, low: float, high: float) -> Array:
    """A value in every piece of a range on which no formula's min or max changes sides.

    On such a piece what options are worth is smooth: tied anywhere on a stretch of it, they are
    tied on all of it, however short it is.
    """
    derived = case.attack.derived
    if case.is_structural(name) or name in case.attack.numbers or not derived.order:
        return np.empty(0)
    points = spread(low, high, KINKS, integer=case.parameter(name).is_integer)
    known = parameter_values(case.attack, {**case.settings, name: points})
    cuts = [np.array([low, high])]
    for term in (step for n in derived.order for step in derived.terms[n].walk()):
        if term.op not in ("min", "max") or not {*term.names} <= known.keys():
            continue
        sides = [np.broadcast_to(evaluate(a, known.__getitem__), points.shape) for a in term.args]
        for one, two in combinations(sides, 2):
            gap = one - two
            turn = np.flatnonzero(np.sign(gap[1:]) != np.sign(gap[:-1]))
            share = gap[turn] / (gap[turn] - gap[turn + 1])
            cuts.append(points[turn] + (points[turn + 1] - points[turn]) * share)
    edges = np.unique(np.concatenate(cuts))
    if len(edges) > MOST_KINKS:
        return np.empty(0)
    middles = (edges[1:] + edges[:-1]) / 2
    return np.unique(np.rint(middles)) if case.parameter(name).is_integer else middles


def worst_at_draws(case: Asked, varied: Mapping[str, Parameter], seed: int) -> Asked:
    """The case of the worst of tied policies, where any are tied at some draws of the priors."""
    return of_worst(case, at_draws(case, varied, seed))


def at_draws(case: Asked, varied: Mapping[str, Parameter], seed: int) -> Iterator[dict[str, Array]]:
    """Draws of the priors at which ties between policies are looked for."""
    rng = np.random.default_rng(seed)
    drawn = {n: measure(p).draw(rng, LOOKED_TIED) for n, p in varied.items()}
    return _that_can_be(case, *([drawn] if drawn else []))


def near_the_ends(low: float, high: float) -> Array:
    """Whole numbers at 1, 2, 4, 8, ... steps from either end, where 1/n and its like bend.

    >>> near_the_ends(0, 10).tolist()
    [1.0, 2.0, 4.0, 6.0, 8.0, 9.0]
    """
    steps = 2.0 ** np.arange(max(0, int(np.ceil(np.log2(max(high - low, 1.0))))))
    points = np.unique(np.concatenate([low + steps, high - steps]))
    return np.asarray(points[(points > low) & (points < high)])


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
        values = sign * self.values
        tops = np.flatnonzero(values == values.max())
        near = zip(self.points[np.maximum(tops - 1, 0)], self.points[tops],
                   self.points[np.minimum(tops + 1, len(values) - 1)], strict=True)  # fmt: skip
        known = (i for i, around in zip(tops, near, strict=True) if self._is_fine(*around))
        where, what, _ = self._climb(int(next(known, tops[0])), sign)
        return where, what

    def with_peaks(self, most: int) -> Scan:
        """The scan and all that is looked at on the way up its peaks and down its dips."""
        if self.is_complete:
            return self
        looked: Looked = [(self.points, self.values)]
        for sign in (1.0, -1.0):
            for start in self._tops(sign, most):
                looked += self._climb(start, sign)[2]
        points, first = np.unique(np.concatenate([p for p, _ in looked]), return_index=True)
        return replace(self, points=points, values=np.concatenate([v for _, v in looked])[first])

    def _tops(self, sign: float, most: int) -> list[int]:
        """Positions of the highest points that are above a neighbour and below none."""
        values = np.concatenate([[-np.inf], sign * self.values, [-np.inf]])
        left, right = np.diff(values)[:-1], -np.diff(values)[1:]
        found = np.flatnonzero((left >= 0) & (right >= 0) & ((left > 0) | (right > 0)))
        order = np.argsort(-sign * self.values[found], kind="stable")
        return [int(i) for i in found[order][:most]]

    def _climb(self, best: int, sign: float) -> tuple[float, float, Looked]:
        """The top that is reached from one of the points, and everything looked at."""
        points, values = self.points, self.values
        looked: Looked = []
        where, what = float(points[best]), float(values[best])
        while True:
            low = float(points[max(best - 1, 0)])
            high = float(points[min(best + 1, len(points) - 1)])
            if self._is_fine(low, high, where):
                return where, what, looked
            points = np.unique(np.append(
                spread(low, high, REFINE, integer=self.integer), where))  # fmt: skip
            values = self.function(points)
            looked.append((points, values))
            best = int(np.argmax(sign * values))
            if sign * values[best] <= sign * what:  # nothing better than what is known
                best = int(np.searchsorted(points, where))
            where, what = float(points[best]), float(values[best])

    def _is_fine(self, low: float, high: float, where: float) -> bool:
        if self.integer:
            return high - where <= 1 and where - low <= 1
        return high - low <= max(FINEST * self.span, 4 * float(np.spacing(abs(where))))

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


# -- grids -----------------------------------------------------------------------------------------


MOST = 5_000_000  # settings of one sweep
MOST_CHANGES = 100_000  # that are said one by one: some seconds


def full_grid(case: Asked, grid: Mapping[str, Any]) -> dict[str, Array]:
    """Every combination of the values, the last parameter varying fastest."""
    if not grid:
        raise UsageError("an empty grid: name a parameter and its values, {name: [values]}")
    values = {name: points(case, name, given) for name, given in grid.items()}
    settings = prod(len(v) for v in values.values())
    if settings > MOST:
        sizes = " x ".join(f"{len(v):,}" for v in values.values())
        raise TooLarge(
            f"{sizes} values make {settings:,} settings; the most is {MOST:,}: take fewer values "
            f"of each, or sweep fewer parameters at a time"
        )
    refuse_beyond_range(case.attack.settable, values, beyond_range=case.beyond_range)
    mesh = np.meshgrid(*values.values(), indexing="ij")
    return {name: m.reshape(-1) for name, m in zip(values, mesh, strict=True)}


def points(case: Asked, name: str, given: Any) -> Array:
    """Values of one parameter: a list or range of them, or how many to spread over its range."""
    parameter = case.parameter(name)
    if isinstance(given, int) and not isinstance(given, bool):
        low, high = parameter.range
        if given > MOST:
            raise TooLarge(
                f"{name}: {given:,} points over its range; the most is {MOST:,}: take fewer, or "
                f"list values"
            )
        if given < 2:
            raise UsageError(
                f"{name}: {given} is read as a number of points over its range, and needs to be "
                f"2 or more; for one value write [{given}]"
            )
        if low == high:
            raise UsageError(f"{name} has no range to spread points over; list its values")
        return spread(low, high, given, integer=takes_whole_numbers(case, name))
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise UsageError(f"{name}: give a list of values, or a number of points; found {given!r}")
    try:
        values = np.asarray(list(given))
    except ValueError:  # lists of different lengths inside
        raise UsageError(f"{name}: expected a list of numbers") from None
    if values.ndim != 1 or not len(values) or values.dtype.kind not in "fiub":
        raise UsageError(f"{name}: expected a list of numbers")
    return values.astype(float)


def changes(grid: Any) -> list[Change] | None:
    """The changes of a grid that is a list of them, or {name: change}; None for a plain grid."""
    if isinstance(grid, Mapping):
        if not grid or not all(isinstance(v, Mapping | Change | Scenario) for v in grid.values()):
            return None
        return _named([change(v, str(name)) for name, v in grid.items()])
    if isinstance(grid, str) or not isinstance(grid, Iterable):
        raise UsageError("a grid is {parameter: values}, or a list of scenarios or changes")
    grid = list(islice(grid, MOST_CHANGES + 1))
    if len(grid) > MOST_CHANGES:
        raise TooLarge(
            f"more than {MOST_CHANGES:,} changes, each of which is looked at by itself: give "
            f"many settings of the same parameters as a grid, {{parameter: [values]}}"
        )
    return _named([change(v, str(i + 1)) for i, v in enumerate(grid)])


def _named(found: list[Change]) -> list[Change]:
    twice = sorted(name for name, times in Counter(c.name for c in found).items() if times > 1)
    if twice:
        raise UsageError(f'two changes are called "{twice[0]}": give each its own name')
    if not found:
        raise UsageError("an empty list of changes")
    return found
