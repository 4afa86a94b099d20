"""The recursion of theory/faces.py one family after another: compiled where numba is there.

The same families are split in the same way, so that the same numbers are exact; without numba the
recursion of faces.py, whole levels at once, takes its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
try:
    from numba import njit
except ImportError:
    njit = None
COMPILED = njit is not None
_BITS = 64
_TWOS, _FOURS, _BYTES = 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F


def _quick(function: F) -> F:
    return function if njit is None else njit(cache=True)(function)


@_quick
def _bits(x: Any) -> Any:
    """How many bits are set, without a product that may not fit."""
    x = (x & np.uint64(_TWOS)) + ((x >> np.uint64(1)) & np.uint64(_TWOS))
    x = (x & np.uint64(_FOURS)) + ((x >> np.uint64(2)) & np.uint64(_FOURS))
    x = (x & np.uint64(_BYTES)) + ((x >> np.uint64(4)) & np.uint64(_BYTES))
    x += x >> np.uint64(8)
    x += x >> np.uint64(16)
    return np.int64((x + (x >> np.uint64(32))) & np.uint64(127))


@_quick
def _common(sets: Any, which: int) -> int:
    """How many facts those of the sets have in common whose bits are set in `which`."""
    found = 0
    for word in range(sets.shape[1]):
        x = ~np.uint64(0)
        for i in range(3):
            if which >> i & 1:
                x &= sets[i, word]
        found += _bits(x)
    return found


@_quick
def _pivot(sets: Any, many: int, into: Any) -> int:
    """The largest set, of several the last; its size."""
    best, most = 0, -1
    for i in range(many):
        size = 0
        for word in range(sets.shape[1]):
            size += _bits(sets[i, word])
        if size >= most:
            best, most = i, size
    for word in range(sets.shape[1]):
        into[word] = sets[best, word]
    return most


@_quick
def _ordered(sets: Any, many: int, pivot: Any, degree: Any, order: Any) -> int:
    """The facts outside the pivot, rare ones first; how many."""
    degree[:] = 0
    for i in range(many):
        for word in range(sets.shape[1]):
            x = sets[i, word] & ~pivot[word]
            while x:
                below = (x & (~x + np.uint64(1))) - np.uint64(1)
                degree[word * _BITS + _bits(below)] += 1
                x &= ~(below + np.uint64(1))
    found = 0
    for fact in range(degree.size):
        if degree[fact]:
            order[found] = degree[fact] * degree.size + fact
            found += 1
    order[:found].sort()
    for i in range(found):
        order[i] %= degree.size
    return found


@_quick
def _child(sets: Any, many: int, fact: int, passed: Any, into: Any) -> int:
    """The sets that have a fact, without the facts passed; how many."""
    word, bit = fact // _BITS, np.uint64(1) << np.uint64(fact % _BITS)
    passed[word] |= bit
    found = 0
    for i in range(many):
        if sets[i, word] & bit:
            for w in range(sets.shape[1]):
                into[found, w] = sets[i, w] & ~passed[w]
            found += 1
    return found


@_quick
def walk(sets: Any, size: int, stop: int, most: int) -> Any:
    """Leaves by facts chosen and free, families split, and families of the level `stop`.

    It ends where more than `most` families were split.
    """
    words = sets.shape[1]
    totals = np.zeros((stop + 2, size + 1), dtype=np.int64)
    room = np.empty((stop + 2, max(3, len(sets)), words), dtype=np.uint64)
    room[0, : len(sets)] = sets
    held = np.zeros(stop + 2, dtype=np.int64)
    held[0] = len(sets)
    passed = np.zeros((stop + 2, words), dtype=np.uint64)
    pivot = np.zeros(words, dtype=np.uint64)
    degree = np.zeros(words * _BITS, dtype=np.int64)
    order = np.zeros((stop + 2, words * _BITS), dtype=np.int64)
    facts = np.full(stop + 2, -1, dtype=np.int64)
    at = np.zeros(stop + 2, dtype=np.int64)
    nodes = unsplit = depth = 0
    if stop == 0:
        return totals, 0, 1
    while depth >= 0:
        if facts[depth] < 0:  # just come to
            nodes += 1
            if nodes > most:
                return totals, nodes, 0
            totals[depth, _pivot(room[depth], held[depth], pivot)] += 1
            facts[depth] = _ordered(room[depth], held[depth], pivot, degree, order[depth])
            at[depth], passed[depth] = 0, 0
        if at[depth] == facts[depth]:
            facts[depth] = -1
            depth -= 1
            continue
        fact = order[depth, at[depth]]
        at[depth] += 1
        below = room[depth + 1]
        many = _child(room[depth], held[depth], fact, passed[depth], below)
        if many <= 3:
            for which in range(1, 1 << many):
                odd = (which & 1) + (which >> 1 & 1) + (which >> 2)
                totals[depth + 1, _common(below, which)] += 1 if odd % 2 else -1
        elif depth + 1 == stop:
            unsplit += 1
        else:
            depth += 1
            held[depth] = many
    return totals, nodes, unsplit
