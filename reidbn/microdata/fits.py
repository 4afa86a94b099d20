"""Which values of two tables fit: equal ones, near ones, one within the other, or by a rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import fits
from reidbn.errors import DataError, TooLarge, UsageError
from reidbn.microdata.decimals import near
from reidbn.microdata.hierarchy import Hierarchy
from reidbn.microdata.ladders import as_hierarchy
from reidbn.microdata.matching import MOST_CELLS
from reidbn.microdata.table import People

Grid = NDArray[np.bool_]


def is_ruled(release: People, external: People, name: str, other: str, rule: Any) -> bool:
    """Whether values fit otherwise than by being equal, or by more than a number says."""
    own = _ladder(release, external, name, other)
    return own is not None if rule is None else not isinstance(rule, int | float)


def _ladder(release: People, external: People, name: str, other: str) -> Hierarchy | None:
    return release.column(name).hierarchy or external.column(other).hierarchy


def grid_of(release: People, external: People, name: str, other: str, rule: Any) -> Grid:
    """Which released values fit which external ones."""
    ours, theirs = release.labels(name).tolist(), external.labels(other).tolist()
    if len(ours) * len(theirs) > MOST_CELLS:
        raise TooLarge(f'"{name}": {len(ours)} x {len(theirs)} values; generalise the column first')
    known = [v for v in ours if v is not None], [v for v in theirs if v is not None]
    grid = np.zeros((len(ours), len(theirs)), dtype=bool)
    fits = _rule(name, _ladder(release, external, name, other), rule)
    grid[: len(known[0]), : len(known[1])] = fits(*known)
    grid[len(known[0]) :, len(known[1]) :] = True
    if release.missing == "matches-anything":
        grid[len(known[0]) :] = True
    if external.missing == "matches-anything":
        grid[:, len(known[1]) :] = True
    return grid


Fits = Callable[[list[Any], list[Any]], Grid]


def _judged(name: str, rule: Callable[[Any, Any], Any], ours: list[Any], theirs: list[Any]) -> Grid:
    """Each pair of values by the caller's own function."""
    try:
        found = [[bool(rule(a, b)) for b in theirs] for a in ours]
    except Exception as problem:  # its text may hold a person's value
        raise UsageError(
            f'match["{name}"]: the function fails on two values ({type(problem).__name__}); it '
            "takes one of each table and returns True or False"
        ) from None
    return np.array(found, dtype=bool).reshape(len(ours), len(theirs))


def _rule(name: str, own: Hierarchy | None, rule: Any) -> Fits:
    if rule is None and own is None:
        return lambda ours, theirs: _equal(name, ours, theirs)
    if isinstance(rule, int | float):
        if not 0 <= rule < 2**53:
            raise UsageError(
                f'match["{name}"] is {rule:.12g}; a tolerance is 0 or more'
                if fits(rule, float)
                else f'match["{name}"] is too large a tolerance'
            )
        return lambda ours, theirs: _near(name, ours, theirs, float(rule))
    if callable(rule):
        return lambda ours, theirs: _judged(name, rule, ours, theirs)
    ladder = as_hierarchy(rule) if rule is not None else own
    if ladder is None:
        raise UsageError(f'no rule for "{name}"')
    return lambda ours, theirs: _covering(name, ladder, ours, theirs)


def _equal(name: str, ours: list[Any], theirs: list[Any]) -> Grid:
    if ours and theirs and isinstance(ours[0], str) != isinstance(theirs[0], str):
        raise DataError(f'"{name}" is texts in one table and not in the other; convert one of them')
    place = {value: i for i, value in enumerate(theirs)}
    grid = np.zeros((len(ours), len(theirs)), dtype=bool)
    for i, value in enumerate(ours):
        if value in place:
            grid[i, place[value]] = True
    return grid


def _near(name: str, ours: list[Any], theirs: list[Any], tolerance: float) -> Grid:
    if any(isinstance(value, str) for value in (*ours, *theirs)):
        raise DataError(f'"{name}" has a tolerance and is not numbers in both tables')
    return near(ours, theirs, tolerance)


def _covering(name: str, ladder: Hierarchy, ours: list[Any], theirs: list[Any]) -> Grid:
    try:
        overlap = ladder.overlaps([*ours, *theirs])
    except DataError as problem:
        raise DataError(f'column "{name}": {problem}') from None
    grid = np.zeros((len(ours), len(theirs)), dtype=bool)
    for i in range(len(ours)):
        found = overlap(i)
        grid[i, found[found >= len(ours)] - len(ours)] = True
    return grid
