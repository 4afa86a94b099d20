"""Grids: the settings of a sweep, from lists, numbers of points, or named changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

import numpy as np

from reidbn.attack.limits import refuse_beyond_range
from reidbn.attack.scenario import Scenario
from reidbn.errors import TooLarge, UsageError
from reidbn.inference.case import Case
from reidbn.inference.network import Array
from reidbn.inference.responses import takes_whole_numbers
from reidbn.inference.search import spread
from reidbn.whatif.cases import Change, change

MOST = 5_000_000  # settings of one sweep


def full_grid(case: Case, grid: Mapping[str, Any]) -> dict[str, Array]:
    """Every combination of the values, the last parameter varying fastest."""
    if not grid:
        raise UsageError("an empty grid: name a parameter and its values, {name: [values]}")
    values = {name: points(case, name, given) for name, given in grid.items()}
    settings = prod(len(v) for v in values.values())
    if settings > MOST:
        sizes = " x ".join(f"{len(v):,}" for v in values.values())
        raise TooLarge(f"{sizes} values make {settings:,} settings; the most is {MOST:,}")
    refuse_beyond_range(case.parameters, values, beyond_range=case.beyond_range)
    mesh = np.meshgrid(*values.values(), indexing="ij")
    return {name: m.reshape(-1) for name, m in zip(values, mesh, strict=True)}


def points(case: Case, name: str, given: Any) -> Array:
    """Values of one parameter: a list or range of them, or how many to spread over its range."""
    parameter = case.parameter(name)
    if isinstance(given, int) and not isinstance(given, bool):
        low, high = parameter.range
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
    return _named([change(v, str(i + 1)) for i, v in enumerate(grid)])


def _named(found: list[Change]) -> list[Change]:
    names = [c.name for c in found]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise UsageError(f'two changes are called "{twice[0]}": give each its own name')
    if not found:
        raise UsageError("an empty list of changes")
    return found
