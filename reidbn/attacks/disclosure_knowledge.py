"""How exactly an attacker knows a value, and P(subset) of the columns that may be known.

- `ranges`: a column known only as the range that its value lies in;
- `tolerance`: a column known to within plus or minus t, so that peers need not be equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError
from reidbn.microdata.classes import Floats, Ints
from reidbn.microdata.knowledge import Knowledge

Range = float | Sequence[float] | Mapping[Any, Any]


def numbers(labels: NDArray[Any], column: str) -> Floats:
    """The values behind a column's codes as numbers; a missing value is nan, near to nothing."""
    try:
        return np.array([np.nan if x is None else float(x) for x in labels], dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(
            f'column "{column}" holds text; a tolerance or a range by width needs numbers '
            "(a mapping value -> range works for any column)"
        ) from None


def ranges_of(labels: NDArray[Any], column: str, spec: Range) -> Ints:
    """The range of each code, numbered from 0: by width, by first values, or by a mapping.

    >>> ranges_of(np.array([13, 18, 29, 30]), "age", 10), ranges_of(np.arange(4), "age", [1, 3])
    (array([0, 0, 1, 2]), array([0, 1, 1, 2]))
    """
    if isinstance(spec, Mapping):
        lost = sum(label not in spec for label in labels)
        if lost:
            raise UsageError(
                f'ranges["{column}"] says nothing about {lost} of the column\'s {len(labels)} '
                "values; name a range for each"
            )
        named: dict[Any, int] = {}
        return np.array([named.setdefault(spec[x], len(named)) for x in labels], dtype=np.int64)
    values = numbers(labels, column)
    if isinstance(spec, Sequence | np.ndarray):
        cuts = np.asarray(spec, dtype=np.float64)
        if cuts.size == 0 or np.any(np.diff(cuts) <= 0):
            raise UsageError(f'ranges["{column}"] must list rising first values, such as [18, 65]')
        place: NDArray[Any] = np.searchsorted(cuts, values, side="right")
    else:
        if not spec > 0:
            raise UsageError(f'ranges["{column}"] is a width of {spec}; it must be above 0')
        place = np.floor(values / spec)
    place = np.where(np.isnan(values), np.inf, place)
    return np.unique(place, return_inverse=True)[1]


def near_matrix(labels: NDArray[Any], column: str, width: float) -> NDArray[np.bool_]:
    """Codes x codes: whether two values of a numeric column are at most `width` apart.

    >>> near_matrix(np.array([1, 3, 4]), "age", 2).astype(int).tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """
    if not width >= 0:
        raise UsageError(f'the tolerance of "{column}" is {width}; it must be 0 or more')
    values = numbers(labels, column)
    near = np.abs(values[:, None] - values[None, :]) <= width
    np.fill_diagonal(near, val=True)
    return near


def chances_of(people: int, known: Sequence[str], what: Knowledge) -> tuple[Floats, Ints | None]:
    """P(A) for every subset of the known columns, per profile, and each person's profile.

    Columns in no group are never known, and a column in two groups is known when either is.  The
    profile is None when everybody has the same chances.

    >>> what = Knowledge(("age", "sex"), (("age",), ("sex",)), np.array([0.5, 0.25]))
    >>> chances_of(2, ["age", "sex"], what)[0].round(3).tolist()
    [[0.375, 0.375, 0.125, 0.125]]
    """
    groups = [sum(1 << known.index(c) for c in columns) for columns in what.columns]
    size = 1 << len(known)
    if what.kinds is not None:
        each = _independent(groups, what.probabilities, size)
        table: Floats = what.kinds[None, :] @ each
    elif what.probabilities.ndim == 1:
        table = _independent(groups, what.probabilities[None, :], size)
    else:
        rows, kind = np.unique(what.probabilities, axis=0, return_inverse=True)
        return _on_list(_independent(groups, rows, size), kind.reshape(-1), what, people)
    return _on_list(table, None, what, people)


def _on_list(
    table: Floats, profile: Ints | None, what: Knowledge, people: int
) -> tuple[Floats, Ints | None]:
    """The chances where all groups hang on one list: nothing is known of who is not on it."""
    if what.listed is None:
        return table, profile
    on, which = np.unique(what.listed, return_inverse=True)
    mixed = on[:, None, None] * table
    mixed[:, :, 0] += (1 - on)[:, None]
    if on.size == 1:
        return mixed[0], profile
    place = which.reshape(-1) * len(table) + (0 if profile is None else profile)
    pairs, profile = np.unique(np.broadcast_to(place, people), return_inverse=True)
    return mixed.reshape(-1, table.shape[1])[pairs], profile.reshape(-1)


def _independent(groups: Sequence[int], table: Floats, size: int) -> Floats:
    """P(A) of independent groups (masks), one row per row of probabilities."""
    masks = np.arange(size)
    chances = np.zeros((len(table), size))
    chances[:, 0] = 1
    for j, bits in enumerate(groups):
        learnt = np.zeros_like(chances)
        np.add.at(learnt.T, masks | bits, chances.T)
        chances = chances * (1 - table[:, j : j + 1]) + learnt * table[:, j : j + 1]
    return chances
