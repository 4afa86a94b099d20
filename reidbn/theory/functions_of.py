"""Attributes that say nothing of their own: as far as a table shows, functions of others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reidbn.theory.frequencies import FrequencyTable
from reidbn.theory.structure import Distinct, Floats, Ints

SHOWN = 20.0  # people who should differ, were an attribute no function of others
SPREAD = 10.0  # of them at least apart from crowds: in small classes, or beside the commonest value
CROWD = 20  # a class of more than this part of the table, and of more than ten, is a crowd


def determined(codes: Ints, counts: Floats) -> list[int]:
    """Attributes that the others determine, as far as the table can show; coarsest first.

    An attribute is measured to be a function of one other, or of all others, where no two people
    who agree on those differ in it, although `SHOWN` such people would, were it independent, and
    `SPREAD` of them apart from crowds: of many who have nothing nothing follows for the others.
    """
    rows = Distinct(codes, counts)
    kept, found = list(range(codes.shape[1])), []
    for j in sorted(kept, key=lambda j: rows.values[j]):
        split = _split(rows, j)
        others = [i for i in kept if i != j]
        if any(_follows(rows, j, some, split) for some in [*([i] for i in others), others] if some):
            kept.remove(j)
            found.append(j)
    return found


def smallest(tables: Sequence[FrequencyTable]) -> Ints:
    """Of each subset of groups the one without those that part nobody or are functions of others.

    The rule is that of `determined`, from the classes on every subset (by mask).

    >>> t = FrequencyTable.of  # a town, its county, a sex
    >>> both, town = t([25], [40]), t([50], [20])
    >>> smallest([t([1000], [1]), town, t([250], [4]), town, t([500], [2]), both, t([125], [8]),
    ...           both]).tolist()
    [0, 1, 2, 1, 4, 5, 6, 5]
    """
    classes = np.array([table.classes for table in tables])
    n, groups = tables[0].n, len(tables).bit_length() - 1
    split = [
        1 - float(own.counts @ (own.sizes / n) ** 2)
        for own in (tables[1 << j] for j in range(groups))
    ]
    alone = classes[1 << np.arange(groups)]
    apart = [_apart(table.sizes, table.counts) for table in tables]
    beside = [n - int(tables[1 << j].sizes.max()) for j in range(groups)]
    coarse = sorted(np.flatnonzero(alone > 1).tolist(), key=lambda j: (alone[j], j))
    kept = np.arange(len(tables)) & sum(1 << j for j in coarse)
    for j in coarse:
        others = kept & ~(1 << j)
        by_one = sum(
            1 << i
            for i in range(groups)
            if i != j
            and (n - alone[i]) * split[j] >= SHOWN
            and _is_spread(apart[1 << i] * split[j], beside[j], alone[i])
            and classes[1 << i | 1 << j] == alone[i]
        )
        by_all = ((n - classes[others]) * split[j] >= SHOWN) & (classes[kept] == classes[others])
        for y in np.flatnonzero(by_all).tolist():
            told = apart[others[y]] * split[j]
            by_all[y] = _is_spread(told, beside[j], classes[others[y]])
        kept = np.where((others > 0) & ((others & by_one > 0) | by_all), others, kept)
    return kept


def columns_kept(
    groups: Sequence[Sequence[int]], codes: Ints, counts: Floats, tables: Sequence[FrequencyTable]
) -> NDArray[np.bool_]:
    """Which columns of a subset of groups say something of their own: column x subset.

    `groups` are columns of `codes`, distinct rows that `counts` people have; those of a group may
    be functions of each other, and of one column of another group.
    """
    group_of = np.array([k for k, group in enumerate(groups) for _ in group], dtype=np.int64)
    known = smallest(tables) >> np.arange(len(groups))[:, None] & 1 > 0
    kept = known[group_of]
    if len(group_of) == len(groups):
        return kept
    rows = Distinct(codes, counts)
    kept[np.array(rows.values) == 1] = False
    for group in groups:
        some = [j for j in group if rows.values[j] > 1]
        for j in determined(codes[:, some], counts) if len(some) > 1 else ():
            kept[some[j]] = False
    for j in sorted(range(len(group_of)), key=lambda j: rows.values[j]):
        split = _split(rows, j)
        for i in np.flatnonzero(group_of != group_of[j]).tolist():
            if rows.values[j] > 1 and _follows(rows, j, [i], split):
                kept[j] &= ~kept[i]
    return kept


def _split(rows: Distinct, j: int) -> float:
    """How likely two people differ in an attribute."""
    return 1 - float(((rows.people[j] / rows.n) ** 2).sum())


def _follows(rows: Distinct, j: int, others: list[int], split: float) -> bool:
    alone = _classes(rows, others)
    if (rows.n - alone) * split < SHOWN or _classes(rows, [*others, j]) != alone:
        return False
    _, place = np.unique(rows.codes[:, others], axis=0, return_inverse=True)
    sizes = np.bincount(place.ravel(), weights=rows.counts)
    told = _apart(sizes, np.ones(len(sizes))) * split
    return _is_spread(told, rows.n - float(rows.people[j].max()), alone)


def _apart(sizes: Floats | Ints, counts: Floats | Ints) -> float:
    """How many people have somebody before them in their class, of classes that are no crowds."""
    small = sizes <= max(10.0, float(sizes @ counts) / CROWD)
    return float((sizes[small] - 1) @ counts[small])


def _is_spread(apart: float, beside: float, classes: float) -> bool:
    """Whether enough should differ in small classes, or of those without the commonest value."""
    return apart >= SPREAD or beside - (classes - 1) >= SPREAD


def _classes(rows: Distinct, attributes: list[int]) -> int:
    """How many distinct rows there are on some attributes."""
    if len(attributes) == 1:
        return rows.values[attributes[0]]
    key, room = np.zeros(len(rows.codes), dtype=np.int64), 1
    for j in attributes:
        key = key * rows.values[j] + rows.codes[:, j]
        room *= rows.values[j]
        if room > 2**40:
            used, key = np.unique(key, return_inverse=True)
            room = len(used)
    if room <= max(1 << 16, 4 * len(key)):
        return int(np.count_nonzero(np.bincount(key)))
    return int(np.unique(key).size)
