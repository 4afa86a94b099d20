"""Truncated power series, many at once: coefficients on the first axis, cases on the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Series = NDArray[Any]


def multiply(f: Series, g: Series, degree: int) -> Series:
    """Product of two series up to the given degree.

    >>> multiply(np.array([1.0, 1.0]), np.array([1.0, 2.0, 1.0]), 3).tolist()
    [1.0, 3.0, 3.0, 1.0]
    """
    if len(f) > len(g):
        f, g = g, f
    length = min(len(f) + len(g) - 1, degree + 1)
    shape = np.broadcast_shapes(f.shape[1:], g.shape[1:])
    product = np.zeros((length, *shape), dtype=np.result_type(f, g))
    for i in range(min(len(f), length)):
        product[i : i + len(g)] += f[i] * g[: length - i]
    return product


def power(f: Series, exponent: int, degree: int) -> Series:
    """A series to a whole power, by repeated squaring: no division, so no zero can harm.

    A constant term of exactly 1 stays exactly 1, and then the relative error grows with the
    logarithm of the exponent only (otherwise with the exponent itself).

    >>> power(np.array([1.0, 1.0]), 5, 3).tolist()
    [1.0, 5.0, 10.0, 10.0]
    """
    result: Series | None = None
    while exponent:
        if exponent & 1:
            result = f if result is None else multiply(result, f, degree)
        exponent >>= 1
        if exponent:
            f = multiply(f, f, degree)
    return np.ones((1, *f.shape[1:]), dtype=f.dtype) if result is None else result[: degree + 1]
