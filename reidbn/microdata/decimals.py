"""Numbers as they are written: 0.8 and 0.6 are 0.2 apart, where floats say a little more."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import lcm
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def as_written(number: Any) -> Fraction:
    """The very number that a decimal, a whole number or a fraction says.

    >>> as_written(0.8) - as_written(0.6) == as_written(0.2)
    True
    >>> as_written(Fraction(1, 3))
    Fraction(1, 3)
    """
    if isinstance(number, np.bool_):
        number = int(number)
    return Fraction(number if isinstance(number, Rational) else Decimal(str(number)))


def in_whole(*lists: Sequence[Fraction]) -> list[NDArray[Any]]:
    """Several lists of numbers as whole multiples of one unit, so that they can be compared.

    >>> in_whole([as_written(0.8), as_written(0.6)], [as_written(0.25)])
    [array([16, 12]), array([5])]
    """
    unit = lcm(*(x.denominator for some in lists for x in some))
    found = [[int(x * unit) for x in some] for some in lists]
    largest = max((abs(x) for some in found for x in some), default=0)
    kind = np.int64 if largest < 2**62 else object
    return [np.array(some, dtype=kind) for some in found]


def bands(numbers: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """In which band of a width each number is, from nothing on: 0.3 is the third of 0.1.

    What is no number, or endless, stays as it is.

    >>> bands(np.array([0.3, 0.29, -0.1, np.nan]), 0.1).tolist()
    [3.0, 2.0, -1.0, nan]
    """
    found = numbers.copy()
    known = np.isfinite(numbers)
    if np.isinf(width):
        return np.where(known, 0.0, found)
    own, wide = in_whole(_each(numbers[known]), [as_written(width)])
    found[known] = (own // wide).astype(np.float64)
    return found


def near(ours: ArrayLike, theirs: ArrayLike, width: float) -> NDArray[np.bool_]:
    """Ours x theirs: whether two numbers are at most so far apart; of what is none, never.

    >>> near([0.8, np.nan], [0.6, 0.59], 0.2).tolist()
    [[True, False], [False, False]]
    """
    one, two = (np.asarray(numbers, dtype=np.float64) for numbers in (ours, theirs))
    found = np.zeros((len(one), len(two)), dtype=bool)
    a, b = np.isfinite(one), np.isfinite(two)
    if np.isinf(width):
        return np.asarray(a[:, None] & b)
    own, others, wide = in_whole(_each(one[a]), _each(two[b]), [as_written(width)])
    found[np.ix_(a, b)] = np.abs(own[:, None] - others) <= wide
    return found


def _each(numbers: Iterable[Any]) -> list[Fraction]:
    return [as_written(x) for x in numbers]
