"""Partial histories: a leaked patient whose records come out only in part.

A patient of the leak has v records, and each is among the leaked ones with probability q on its
own (the further work of [Antoniou22]).  A patient is seen when at least one is, with probability
w = 1 - (1 - q)^v, and only those who are seen are candidates.  With L = D the leak is a loss of
single records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.attacks.leak_classes import checked_leak
from reidbn.attacks.leak_single import LeakSize, checked_prior
from reidbn.errors import TooLarge, UsageError
from reidbn.theory.hypergeometric import leaked_pmf

Floats = NDArray[np.float64]
_LARGEST = 400


def partial_histories(
    *, records: int, leaked: LeakSize, histories: ArrayLike, seen: float
) -> Floats:
    """Each class member's risk; `histories` holds how many records each member has.

    >>> partial_histories(records=10, leaked=3, histories=[2, 2, 3], seen=0.5).round(6).tolist()
    [0.185742, 0.185742, 0.220117]
    """
    counts = np.asarray(histories, dtype=np.float64)
    _check(counts, seen, records)
    shown = -np.expm1(counts * np.log1p(-seen)) if seen < 1 else np.where(counts > 0, 1.0, 0.0)
    if isinstance(leaked, dict) or hasattr(leaked, "items"):
        prior: Any = leaked
        parts = [p * _risks(records, L, shown) for L, p in checked_prior(prior).items()]
        return np.asarray(np.sum(parts, axis=0))
    return _risks(records, checked_leak(leaked, records), shown)


def _risks(records: int, leaked: int, shown: Floats) -> Floats:
    k = shown.size
    if leaked == 0:
        return np.zeros(k)
    distinct, place = np.unique(shown, return_inverse=True)
    if len(distinct) == 1:
        return np.full(k, _alike(records, leaked, k, float(distinct[0])))
    # The others of the class that leak, given that the target does.
    others = leaked_pmf(max(records - 1, 1), leaked - 1, k - 1, longest=k - 1)
    found = np.empty(distinct.size)
    for i, w in enumerate(distinct):
        first = int(np.argmax(shown == w))
        rivals = _seen_given_leaked(np.delete(shown, first)) @ (1 / np.arange(1, k + 1))
        found[i] = leaked / records * w * (others @ rivals)
    return np.asarray(found[place])


def _alike(records: int, leaked: int, k: int, w: float) -> float:
    """The risk of members who are all seen with the same chance.

    Of j others that leaked Binomial(j, w) are seen, and one of all who are is picked:

        E 1 / (1 + Binomial(j, w)) = (1 - (1 - w)^(j + 1)) / (j + 1) w
    """
    if w == 0:
        return 0.0
    others = leaked_pmf(max(records - 1, 1), leaked - 1, k - 1, longest=k - 1)
    j = np.arange(k) + 1.0
    some = -np.expm1(j * np.log1p(-w)) if w < 1 else np.ones(k)
    return float(leaked / records * (others @ (some / j)))


def _seen_given_leaked(shown: Floats) -> Floats:
    """P(v seen | h leaked) for members with these chances of being seen; h x v.

    Built up member by member: which h of the first j leak is uniform, so the j-th is among them
    with probability h / j.
    """
    k = shown.size
    table = np.zeros((k + 1, k + 1))
    table[0, 0] = 1.0
    for j, w in enumerate(shown, start=1):
        share = np.arange(j + 1)[:, None] / j
        with_it = np.zeros((j + 1, k + 1))
        with_it[1:] = table[:j] * (1 - w)
        with_it[1:, 1:] += table[:j, :-1] * w
        table[: j + 1] = share * with_it + (1 - share) * table[: j + 1]
    return table


def _check(counts: Floats, seen: float, records: int) -> None:
    if counts.ndim != 1 or counts.size == 0 or np.any((counts < 0) | (counts % 1 != 0)):
        raise UsageError("histories must be one whole number of records per member of the class")
    if counts.size > records:
        raise UsageError(f"histories name {counts.size} members of a table of {records} patients")
    if counts.size > _LARGEST and np.any(counts != counts[0]):
        raise TooLarge(
            f"a class of {counts.size} with histories of several lengths is too large to follow; "
            f"at most {_LARGEST}"
        )
    if not 0 <= seen <= 1:
        raise UsageError(f"seen is {seen:g}; it must be a probability")
