"""A guess among people who are alike, where the others of the population were drawn one by one.

Of `others` people each is like the target with the same chance p, so that X of them are; a guess
among those f of the table and these X is right with

    E[1/(f + X)] = int_0^1 t^(f-1) (1 - p + p t)^others dt                                   (1)

The integrand falls from t = 1 like exp(-(f - 1 + others p)(1 - t)), so that the pieces on which it
is integrated halve towards 1 until one of them holds less than a fall by e.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py

Floats: TypeAlias = NDArray[np.float64]
_AT, _WEIGHT = np.polynomial.legendre.leggauss(24)


def mean_inverse_drawn(f: Any, others: Any, p: Any) -> Floats:
    """Equation (1); f at least 1.

    >>> float(mean_inverse_drawn(1, 2, 0.5).round(12))        # 1/4 + 1/2 of 1/2 + 1/4 of 1/3
    0.583333333333
    """
    asked = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (f, others, p)))
    each, place = np.unique(np.stack([x.reshape(-1) for x in asked]), axis=1, return_inverse=True)
    f, others, p = each  # a table asks the same of many of its cells
    halvings = int(np.ceil(np.log2(np.max(f + others * p, initial=1.0)))) + 1
    ends = np.append(0.5 ** np.arange(halvings), 0.0)
    total = np.zeros(f.shape)
    for high, low in pairwise(ends.tolist()):
        for at, weight in zip(_AT, _WEIGHT, strict=True):
            u = low + (high - low) * (1 + at) / 2  # 1 - t
            told = np.exp(xlog1py(f - 1, -u) + xlog1py(others, -p * u))
            total += weight * (high - low) / 2 * told
    return np.asarray(total[place.reshape(-1)].reshape(asked[0].shape))
