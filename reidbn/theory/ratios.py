"""Exact fractions out of floating point numbers, and the first of many equal ones.

Two different fractions in (0, 1] with denominators up to n differ by at least 1/n^2 of the larger.
So as long as n^2 stays well below 2^53 a double near a/b names a/b, and there is room between
neighbours to write down something else: which subset attained it.
"""

from __future__ import annotations

from math import floor, log2

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDING_BITS = 49  # three roundings to 2^-53 each stay a quarter step below 2^-49


def tie_step(largest: int, ranks: int) -> float | None:
    """A step e such that a/b (1 - r e) orders by a/b first and by rank r < `ranks` second.

    Needs ranks * e < 1 / (2 n^2), n = `largest` denominator, and e above the rounding errors; None
    when there is no room for both.

    >>> tie_step(30_162, 512) == 2.0**-40
    True
    >>> tie_step(10**7, 2**14) is None
    True
    """
    bits = floor(2 * log2(max(largest, 2)) + log2(max(ranks, 1))) + 2
    return 2.0**-bits if bits <= _ROUNDING_BITS else None


def fractions_near(values: Floats, *, largest: int, slack: float) -> tuple[Ints, Ints]:
    """The fractions a/b, b <= `largest`, with |value - a/b| <= `slack` a/b, one for each value.

    The continued fraction of the value, stopped at the first convergent that is near enough; with
    slack < 1/(2 n^2) there is only one such fraction.

    >>> fractions_near(np.array([1/3, 0.75, 1.0]), largest=100, slack=2.0**-40)
    (array([1, 3, 1]), array([3, 4, 1]))
    """
    if 2 * slack * largest**2 >= 1:
        raise TooLarge(
            f"fractions of up to {largest} people are too close for floating point; "
            "ask for a sample of individuals (individuals=...)"
        )
    flat = np.ascontiguousarray(values, dtype=np.float64).ravel()
    num, den = np.zeros(flat.size, dtype=np.int64), np.ones(flat.size, dtype=np.int64)
    left = np.arange(flat.size)
    target = rest = flat
    p, p_before = np.ones(flat.size), np.zeros(flat.size)
    q, q_before = np.zeros(flat.size), np.ones(flat.size)
    while left.size:
        digit = np.floor(rest)
        p, p_before = digit * p + p_before, p
        q, q_before = digit * q + q_before, q
        near = np.abs(p / q - target) <= slack * (p / q)
        num[left[near]], den[left[near]] = p[near].astype(np.int64), q[near].astype(np.int64)
        on = np.flatnonzero(~near)
        if on.size and q[on].max() > 2 * largest:
            raise ValueError("a value is not within slack of any fraction with such a denominator")
        with np.errstate(divide="ignore"):
            rest = 1 / (rest - digit)[on]
        left, target, p, p_before = left[on], target[on], p[on], p_before[on]
        q, q_before = q[on], q_before[on]
    return num.reshape(values.shape), den.reshape(values.shape)


def ranks_by_size(bits: int) -> Ints:
    """The place of each mask when subsets are listed by size, then lexicographically by member.

    >>> ranks_by_size(3)             # {}, 0, 1, 01, 2, 02, 12, 012
    array([0, 1, 2, 4, 3, 5, 6, 7])
    """
    masks = np.arange(1 << bits)
    size, mirrored = np.zeros_like(masks), np.zeros_like(masks)
    for j in range(bits):
        bit = masks >> j & 1
        size += bit
        mirrored |= bit << (bits - 1 - j)
    ranks = np.empty_like(masks)
    ranks[np.lexsort((-mirrored, size))] = masks
    return ranks
