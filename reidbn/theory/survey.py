"""Individual risk from survey weights: Benedetti and Franconi's model [BenedettiFranconi98].

A class of f records with weights that sum to W has, in the population, F - f further members,
negative binomial with f successes at p = f/W.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from reidbn.errors import DataError
from reidbn.theory.gamma import like

Floats: TypeAlias = NDArray[np.float64]

_RARE = 0.4  # sampled shares below it: the recursion, above: the series
_LARGE = 100  # class sizes from here on: the series whatever the share
_TERMS = 90
_NOTHING = 1e-18


def individual_risk(class_size: ArrayLike, class_weight: ArrayLike) -> Any:
    """E[1/F | f], the chance that a match with a record of the class is the right person.

    With c = (1 - p)/p,

        E[1/F | f] = int_0^1 s^(f-1)/(1 + c s) ds,   I_{f+1} = (1/f - I_f)/c              (1)

    (substitute s = p t/(1 - q t) in int t^(f-1) E[t^K] dt).  The recursion damps errors where
    c is well above 1; elsewhere a series in 1 - p converges fast.  I_1 = ln(1 + c)/c is the
    published (p/(1-p)) ln(1/p).

    >>> round(individual_risk(3, 108.0), 8)
    0.01355297
    """
    f, p = _share(class_size, class_weight)
    answer = np.empty(f.shape)
    rare = (p < _RARE) & (f < _LARGE)
    for part, way in ((rare, _forwards), (~rare, _series)):
        if part.any():
            answer[part] = way(f[part], p[part])
    return like(answer)


def individual_risk_approximate(class_size: ArrayLike, class_weight: ArrayLike) -> Any:
    """The published short form: exact for f = 1, 2 and p/(f - (1 - p)) from f = 3 on.

    >>> round(individual_risk_approximate(3, 108.0), 8)
    0.01369863
    """
    f, p = _share(class_size, class_weight)
    exact = np.asarray(individual_risk(np.minimum(f, 2.0), np.minimum(f, 2.0) / p))
    return like(np.where(f <= 2, exact, p / (f - (1 - p))))


def class_size_cdf(size: ArrayLike, class_size: ArrayLike, share: ArrayLike) -> Floats:
    """P(F <= size | f) where F - f is negative binomial: P(K <= k) = I_p(f, k + 1).

    >>> round(float(class_size_cdf(2, 1, 0.25)), 6)  # 1/4 + 3/4 * 1/4
    0.4375
    """
    f = np.asarray(class_size, dtype=np.float64)
    joined = np.floor(np.asarray(size, dtype=np.float64)) - f
    upto = betainc(f, np.maximum(joined, 0.0) + 1, share)
    return np.asarray(np.where(joined < 0, 0.0, upto))


def _share(class_size: ArrayLike, class_weight: ArrayLike) -> tuple[Floats, Floats]:
    f, W = np.broadcast_arrays(
        np.asarray(class_size, dtype=np.float64), np.asarray(class_weight, dtype=np.float64)
    )
    if not ((f >= 1) & np.isfinite(W)).all():
        raise DataError("a class size is below 1 or a weight is not finite")
    if (f * (1 - 1e-12) > W).any():
        raise DataError(
            "the weights of a class sum to less than its records; a survey weight says how many "
            "people a record stands for and is at least 1"
        )
    return f, np.minimum(f / W, 1.0)


def _forwards(f: Floats, p: Floats) -> Floats:
    """Equation (1), over classes in the order of their sizes: those reached are done."""
    order = np.argsort(f, kind="stable")
    c = (1 - p[order]) / p[order]
    value = np.log1p(c) / c
    answer = np.empty(f.shape)
    sizes, ends = np.unique(f[order], return_counts=True)
    done = 0
    for size, end, before in zip(sizes, np.cumsum(ends), (1.0, *sizes[:-1]), strict=True):
        for k in range(int(before), int(size)):
            value = (1 / k - value) / c
        answer[order[done:end]] = value[: end - done]
        c, value, done = c[end - done :], value[end - done :], end
    return answer


def _series(f: Floats, p: Floats) -> Floats:
    """E = (p/f) sum_k (1-p)^k (k!)/((f+1)...(f+k)): all terms positive."""
    term = p / f
    total = term.copy()
    for k in range(1, _TERMS):
        term = term * (1 - p) * k / (f + k)
        total += term
        if not (term > total * _NOTHING).any():  # terms fall
            break
    return total
