"""Contiguous categories of one ordered variable that protect the most people, exactly.

Whether a person is protected depends on the person's own category only: subsets with the variable
see that category's rows, subsets without it do not change [Kroes21].  So the number protected is a
sum over categories, W = sum_c value[first_c, last_c], and the best partition of V values into c
intervals is a dynamic programme over intervals:

    best(c, hi) = max_{lo} best(c - 1, lo - 1) + value[lo, hi]                                 (1)

The paper's own search tries interior categories of one width only (its Figure 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MEMORY = 64_000_000


@dataclass(frozen=True)
class Layer:
    """How peers are counted for one subset of the other auxiliaries: classes without and with s."""

    alike: Ints
    same: Ints


def protected_in_intervals(
    place: Ints, weight: Floats, people: Floats, layers: Sequence[Layer], *, values: int, p: float
) -> Floats:
    """value[lo, hi]: the weight of the rows in [lo, hi] that are protected when it is a category.

    Rows have a `place` 0..values-1 on the variable, and stand for `people` persons.  A row is
    protected when in every layer more than a share p of its peers inside the interval has another
    secret.  Entries with lo > hi are 0.

    >>> rows = np.array([0, 1, 1])
    >>> layer = Layer(alike=np.zeros(3, dtype=np.int64), same=np.array([0, 0, 1]))
    >>> protected_in_intervals(rows, np.ones(3), np.ones(3), [layer], values=2, p=0)
    array([[0., 3.],
           [0., 2.]])
    """
    value = np.zeros((values, values))
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(values))
    held = max(1, _MEMORY // max(1, place.size * values))
    for first in range(0, values, held):
        lows = range(first, min(first + held, values))
        fails = [np.zeros((place.size - starts[lo], values - lo), dtype=bool) for lo in lows]
        for layer in layers:
            alike, same, parent = _cumulative(place, people, layer, values)
            for lo, fail in zip(lows, fails, strict=True):
                peers = (alike[:, lo + 1 :] - alike[:, lo : lo + 1])[parent]
                other = peers - (same[:, lo + 1 :] - same[:, lo : lo + 1])
                # Where a class has nobody in the interval, no row asks.
                ppp = np.divide(other, peers, out=np.zeros_like(other), where=peers > 0)
                fail |= (ppp <= p)[layer.same[order[starts[lo] :]]]
        for lo, fail in zip(lows, fails, strict=True):
            rows = order[starts[lo] :]
            inside = place[rows, None] <= np.arange(lo, values)[None, :]
            value[lo, lo:] = weight[rows] @ (inside & ~fail)
    return value


def _cumulative(
    place: Ints, people: Floats, layer: Layer, values: int
) -> tuple[Floats, Floats, Ints]:
    """People up to each value per class, without and with the secret; the parents of the latter."""

    def up_to(ids: Ints) -> Floats:
        classes = int(ids.max()) + 1
        table = np.bincount(ids * values + place, weights=people, minlength=classes * values)
        total = np.zeros((classes, values + 1))
        np.cumsum(table.reshape(classes, values), axis=1, out=total[:, 1:])
        return total

    parent = np.empty(int(layer.same.max()) + 1, dtype=np.int64)
    parent[layer.same] = layer.alike
    return up_to(layer.alike), up_to(layer.same), parent


@dataclass(frozen=True)
class Best:
    """The best partition into a number of intervals: its value and each category's last place."""

    categories: int
    value: float
    last: tuple[int, ...]


def best_partitions(value: Floats, most: int) -> list[Best]:
    """Equation (1) for 1..`most` categories; among equals the earliest cuts, from the last on.

    Intervals worth minus infinity are not allowed; numbers of categories that need one are left
    out.

    >>> value = np.array([[0.0, 1.0, 3.0], [0.0, 2.0, 2.0], [0.0, 0.0, 1.0]])
    >>> [(b.value, b.last) for b in best_partitions(value, 3)]
    [(3.0, (2,)), (2.0, (0, 2)), (3.0, (0, 1, 2))]
    """
    values = len(value)
    if not 1 <= most <= values:
        raise UsageError(f"{most} categories of {values} values; ask for 1 to {values}")
    best = value[0].copy()
    cuts: list[Ints] = []
    found = [Best(1, float(best[-1]), (values - 1,))] if np.isfinite(best[-1]) else []
    upper = np.triu(np.ones((values, values), dtype=bool))
    for categories in range(2, most + 1):
        before = np.concatenate([[-np.inf], best[:-1]])
        total = np.where(upper, before[:, None] + value, -np.inf)
        start = total.argmax(axis=0)
        best = total[start, np.arange(values)]
        cuts.append(start)
        if np.isfinite(best[-1]):
            found.append(Best(categories, float(best[-1]), _trace(cuts, values)))
    return found


def _trace(cuts: Sequence[Ints], values: int) -> tuple[int, ...]:
    last = [values - 1]
    for start in reversed(cuts):
        last.append(int(start[last[-1]]) - 1)
    return tuple(reversed(last))


def equal_width_options(
    positions: int, *, outer_at_most_inner: bool = False
) -> Iterator[tuple[int, int, list[tuple[int, ...]]]]:
    """The paper's search over N values: (categories c, inner width b, options).

    c runs over the distinct ceil(N / i), b = ceil(N / c); the c - 2 inner categories hold exactly b
    values, the lowest any f >= 1 (the start value) and the highest the rest, both possibly more
    than b unless `outer_at_most_inner`.  An option is each category's last position.

    >>> [(c, b, options) for c, b, options in equal_width_options(4)]
    [(1, 4, [(3,)]), (2, 2, [(0, 3), (1, 3), (2, 3)]), (4, 1, [(0, 1, 2, 3)])]
    """
    for categories in sorted({ceil(positions / i) for i in range(1, positions + 1)}):
        width = ceil(positions / categories)
        if categories == 1:
            yield 1, width, [(positions - 1,)]
            continue
        inner = (categories - 2) * width
        options = []
        for first in range(1, positions - inner):
            rest = positions - inner - first
            if not outer_at_most_inner or max(first, rest) <= width:
                edges = [first - 1 + width * i for i in range(categories - 1)]
                options.append((*edges, positions - 1))
        yield categories, width, options


def partition_value(value: Floats, last: Sequence[int]) -> float:
    """The weight protected by a partition: one interval's value after the other.

    >>> partition_value(np.array([[1.0, 5.0], [0.0, 2.0]]), [0, 1])
    3.0
    """
    first = 0
    total = 0.0
    for end in last:
        if end >= first:
            total += float(value[first, end])
        first = max(first, end + 1)
    return total
