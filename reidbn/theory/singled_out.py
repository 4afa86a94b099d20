"""The chance that k facts single somebody out, by drawing them.

One random order of a person's facts gives every k at once: others who agree on all of the first k
facts only become fewer, and k facts single the person out from the first k at which nobody is
left.  Where that nearly always happens, failures are drawn where they lie [KarpLuby83]: with A_1 ..
A_m the agree sets, draw A_i with chance C(|A_i|, k) / T, T their sum, and k facts of it; a draw
counts where no A_j with j < i has these facts too.  Each failing set of facts is counted at one i
alone, so that

    P(k facts single nobody out) = P(a draw counts) T / C(s, k)                               (1)
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.theory.faces import packed, unpacked

Words: TypeAlias = NDArray[np.uint64]
Ints: TypeAlias = NDArray[np.int64]
_AT_ONCE = 1 << 24  # words of sets at once


def drawn_orders(rng: np.random.Generator, facts: int, most: int, draws: int) -> Ints:
    """The first `most` of `facts` facts in random order, one row a draw."""
    return np.argsort(rng.random((draws, facts)), axis=1)[:, : min(most, facts)]


def left_over(sets: Words, orders: Ints) -> Ints:
    """How many agree on all of the first 1, 2, .. facts of each order: draws x facts.

    `sets` has, fact by fact, who agrees, as words.

    >>> left_over(np.array([[0b011], [0b110]], dtype=np.uint64), np.array([[0, 1]])).tolist()
    [[2, 1]]
    """
    draws, most = orders.shape
    found = np.empty((draws, most), dtype=np.int64)
    step = max(1, _AT_ONCE // max(1, most * sets.shape[1]))
    for start in range(0, draws, step):
        here = sets[orders[start : start + step]]
        np.bitwise_and.accumulate(here, axis=1, out=here)
        found[start : start + step] = np.bitwise_count(here).sum(axis=2, dtype=np.int64)
    return found


def best_scores(sets: Words, orders: Ints) -> tuple[Ints, Ints]:
    """The most that anybody agrees on of the first 1, 2, .. facts of each order; how many do.

    Scores are added up for 64 people at once, one word for each binary digit.  Where nobody agrees
    on anything (0), how many says nothing.

    >>> best_scores(np.array([[0b011], [0b110]], dtype=np.uint64), np.array([[0, 1]]))[0].tolist()
    [[1, 2]]
    """
    draws, most = orders.shape
    digits = np.zeros((most.bit_length(), draws, sets.shape[1]), dtype=np.uint64)
    best = np.zeros((draws, most), dtype=np.int64)
    many = np.zeros((draws, most), dtype=np.int64)
    for place in range(most):
        carry = sets[orders[:, place]]
        here = digits[: (place + 1).bit_length()]
        for digit in here:
            carried = digit & carry
            digit ^= carry
            carry = carried
        among = np.full_like(here[0], ~np.uint64(0))
        for power in reversed(range(len(here))):
            some = here[power] & among
            found = some.any(axis=1)
            np.copyto(among, some, where=found[:, None])
            best[:, place] |= found.astype(np.int64) << power
        many[:, place] = np.bitwise_count(among).sum(axis=1, dtype=np.int64)
    return best, many


def failures_by_union(
    agree: Words, size: int, k: int, *, draws: int, rng: np.random.Generator
) -> tuple[int, Fraction]:
    """Equation (1): how many draws count, and T / C(s, k); k at most `size`.

    `agree` has the agree sets as words over the facts.
    """
    sizes = np.bitwise_count(agree).sum(axis=1, dtype=np.int64)
    kept = np.flatnonzero(sizes >= k)
    if not kept.size:
        return 0, Fraction(0)
    agree, sizes = agree[kept], sizes[kept]
    ways = {int(a): comb(int(a), k) for a in np.unique(sizes)}
    total = sum(ways[int(a)] for a in sizes)
    shares = {a: float(Fraction(w, total)) for a, w in ways.items()}
    chances = np.array([shares[int(a)] for a in sizes])
    which = rng.choice(len(sizes), size=draws, p=chances / chances.sum())
    inside = unpacked(agree, size)
    keys = np.where(inside[which], rng.random((draws, size)), 2.0)
    facts = np.argpartition(keys, k - 1, axis=1)[:, :k]
    have = packed(inside.T)
    hits = 0
    step = max(1, _AT_ONCE // max(1, k * have.shape[1]))
    for start in range(0, draws, step):
        all_of = np.bitwise_and.reduce(have[facts[start : start + step]], axis=1)
        hits += int((_first(all_of) == which[start : start + step]).sum())
    return hits, Fraction(total, comb(size, k))


def _first(sets: Words) -> Ints:
    """The first member of each set that has one."""
    word = (sets != 0).argmax(axis=1)
    bits = sets[np.arange(len(sets)), word]
    lowest = bits & (~bits + np.uint64(1))
    return np.asarray(word * 64 + np.bitwise_count(lowest - np.uint64(1)), dtype=np.int64)
