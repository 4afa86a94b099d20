"""How many members of a class are in a leak: the hypergeometric law, to the last digits.

Letters as in [Antoniou22]: a leak is a uniform subset of L of the D records, and H of the
k members of a class are in it.  Everything broadcasts over arrays of D, L and k.

How many classes a leak touches, and with it a leak's own mean risk.

Once a leak is seen, the risk of a patient in it is 1/h, and 0 outside it; over the D patients
(section 2.2 of [Antoniou22], step 3) the sum over a touched class is h * 1/h = 1, so

    mean risk of a leak = (classes touched) / D                                       (1)

With z marking the leaked, and each class touched or not, for a classes of equal size k

    P(t touched) = C(a, t) [z^L] ((1+z)^k - 1)^t / C(D, L)                            (2)
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, logit

from reidbn.errors import UsageError
from reidbn.theory.circle import Classes, log_binomial, log_turn, points
from reidbn.theory.gamma import like

Floats: TypeAlias = NDArray[np.float64]

_BLOCK = 1 << 21  # most numbers held at once


def log_none_leaked(records: ArrayLike, leaked: ArrayLike, class_size: ArrayLike) -> Any:
    """Log of the probability that no member of the class is in the leak.

        ln P(H = 0) = sum_{i < min(k, L)} ln(1 - max(k, L) / (D - i))                    (1)

    (k and L are interchangeable: class and leak are two subsets that must not meet.)

    >>> round(log_none_leaked(10_000, 4_000, 5), 12)
    -2.554795052284
    """
    D, L, k = _counts(records, leaked, class_size)
    shape = D.shape
    few, many = np.minimum(k, L).ravel(), np.maximum(k, L).ravel()
    total = D.ravel()
    answer = np.where(few + many > total, -np.inf, 0.0)
    todo = np.flatnonzero((few + many <= total) & (few > 0))
    todo = todo[np.argsort(few[todo])]
    while todo.size:
        rows = max(1, int(_BLOCK // few[todo[-1]]))
        block, todo = todo[-rows:], todo[:-rows]
        answer[block] = _log_product(total[block], few[block], many[block])
    return like(answer.reshape(shape))


def none_leaked(records: ArrayLike, leaked: ArrayLike, class_size: ArrayLike) -> Any:
    """Probability that no member of the class is in the leak.

    >>> round(none_leaked(10_000, 4_000, 5), 12)
    0.077708156545
    """
    return like(np.exp(log_none_leaked(records, leaked, class_size)))


def identified(records: ArrayLike, leaked: ArrayLike, class_size: ArrayLike) -> Any:
    """Probability that a target is in the leak and picked among the leaked of the class.

    P(in leak | H) = H / k and P(picked | in leak, H) = 1 / H [Antoniou22], so

        P = (1/k) sum_{h >= 1} P(H = h) = (1 - P(H = 0)) / k                             (2)

    >>> round(identified(10_000, 4_000, 5), 15)
    0.184458368691085
    """
    log_none = log_none_leaked(records, leaked, class_size)
    k = np.asarray(class_size, dtype=np.float64)
    _check(k >= 1, "class_size", k, "1 or more: the target is in the class")
    return like(0.0 - np.expm1(log_none) / k)


def leaked_pmf(
    records: ArrayLike, leaked: ArrayLike, class_size: ArrayLike, *, longest: int
) -> Floats:
    """P(H = h) for h = 0..longest, on a last axis after the broadcast ones.

    Started at the mode, continued both ways by the ratio of neighbours, normalised:

        P(h+1) / P(h) = (k - h)(L - h) / ((h + 1)(D - k - L + h + 1))                    (3)

    so that nothing over- or underflows on the way and no large logarithms cancel.

    >>> leaked_pmf(10, 3, [1, 3], longest=3).round(6).tolist()
    [[0.7, 0.3, 0.0, 0.0], [0.291667, 0.525, 0.175, 0.008333]]
    """
    D, L, k = (x[..., None] for x in _counts(records, leaked, class_size))
    low, high = np.maximum(0, L + k - D), np.minimum(k, L)
    if np.any(high > longest):
        raise UsageError(
            f"longest={longest} leaves out h up to the class size or the leak's; "
            f"need >= {high.max():g}"
        )
    mode = np.clip(np.floor((k + 1) * (L + 1) / (D + 2)), low, high)
    h = np.arange(longest, dtype=np.float64)
    up = (k - h) * (L - h)
    down = (h + 1) * (D - k - L + h + 1)
    rising, falling = (h >= mode) & (h < high), (h < mode) & (h >= low)
    weight = np.ones((*np.broadcast_shapes(up.shape, down.shape)[:-1], longest + 1))
    ratio = np.divide(up, down, out=np.where(h < mode, 1.0, 0.0) + 0 * up, where=rising)
    np.cumprod(ratio, axis=-1, out=weight[..., 1:])
    ratio = np.divide(down, up, out=np.where(h < mode, 0.0, 1.0) + 0 * up, where=falling)
    weight[..., :-1] *= np.cumprod(ratio[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True), dtype=np.float64)


def _log_product(D: Floats, few: Floats, many: Floats) -> Floats:
    """Equation (1) for one block of elements; the terms in slices of bounded size."""
    answer = np.zeros(D.shape)
    longest = int(few.max())
    step = max(1, _BLOCK // D.size)
    for start in range(0, longest, step):
        i = np.arange(start, min(start + step, longest), dtype=np.float64)
        left = D[:, None] - i
        used = i < few[:, None]
        gap = np.where(used, left - many[:, None], 1.0)
        share = np.where(used, many[:, None] / left, 0.0)
        # Near 1 the share has lost what log1p needs; the gap is an exact integer.
        term = np.where(share > 0.5, np.log(gap / np.where(used, left, 1.0)), np.log1p(-share))
        answer += term.sum(axis=-1)
    return answer


def _counts(records: ArrayLike, leaked: ArrayLike, class_size: ArrayLike) -> tuple[Floats, ...]:
    """D, L and k as whole numbers in float64 (exact below 2**53), broadcast and in range."""
    named = {"records": records, "leaked": leaked, "class_size": class_size}
    arrays = {name: np.asarray(value, dtype=np.float64) for name, value in named.items()}
    for name, values in arrays.items():
        wrong = ~np.isfinite(values) | (values != np.floor(values)) | (abs(values) > 2.0**53)
        if wrong.any():
            raise UsageError(
                f"{name} is {float(values[wrong].flat[0])!r}; it must be a whole number"
            )
    try:
        D, L, k = np.broadcast_arrays(*arrays.values())
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise UsageError(f"arrays that do not go together: {shapes}") from None
    _check(D >= 1, "records", D, "1 or more")
    _check((L >= 0) & (L <= D), "leaked", L, "from 0 to the number of records")
    _check((k >= 0) & (k <= D), "class_size", k, "from 0 to the number of records")
    return D, L, k


def _check(right: NDArray[np.bool_], name: str, values: Floats, wanted: str) -> None:
    if not right.all():
        raise UsageError(f"{name} is {values[~right].flat[0]:g}; it must be {wanted}")


# -- how many classes a leak touches, and with it a leak's own mean risk ---------------------------


def mean_touched(classes: Classes, leaked: int) -> float:
    """Expected number of classes with at least one leaked record.

    >>> round(mean_touched(Classes(np.array([3, 4]), np.array([2, 1])), 3), 6)
    2.25
    """
    none = np.asarray(none_leaked(classes.records, leaked, classes.sizes))
    return float(classes.counts @ (1 - none))


def touched_pmf(class_size: int, number: int, leaked: int) -> Floats:
    """P(t of `number` equal classes are touched), t = 0..number: equation (2).

    >>> touched_pmf(2, 3, 2).round(6).tolist()
    [0.0, 0.2, 0.8, 0.0]
    """
    t = np.arange(number + 1)
    records = class_size * number
    if leaked in (0, records):
        return np.asarray(t == (number if leaked else 0), dtype=np.float64)
    u = np.array([float(logit(leaked / records))])
    spread = np.sqrt(np.array([leaked * (records - leaked) / records]))
    rows = points(records, spread, number)
    modulus, argument = log_turn(np.full(rows.case.size, u[0]), rows.angle)
    with np.errstate(divide="ignore"):
        # A class untouched has z^0: its share of the factor at this radius is real.
        log_none = -class_size * np.log1p(np.exp(u[0]))
        # Modulus and turn apart: at z = -1 the one is 0, and its log times the other NaN.
        whole = np.exp(class_size * modulus) * np.exp(1j * class_size * argument)
        log_some = np.log(whole - np.exp(log_none))
    choices = gammaln(number + 1) - gammaln(t + 1) - gammaln(number - t + 1)
    fixed = choices - float(log_binomial(np.array([float(leaked)]), records, u)[0])
    found = np.zeros(number + 1)
    for angle, weight, log_one in zip(rows.angle, rows.weight, log_some, strict=True):
        touched = np.where(t > 0, t * np.where(np.isfinite(log_one), log_one, 0), 0)
        value = np.exp(fixed + touched + (number - t) * log_none - 1j * leaked * angle)
        found += weight * np.where((t > 0) & ~np.isfinite(log_one), 0, value.real)
    return np.asarray(np.maximum(found, 0.0))
