"""The recursion of [Antoniou22] section 2.3 for many targets: close, but not exact.

After an identification the rest of the leak is treated as a fresh leak of L - 1 among D - 1:

    P_n(classes, L) = sum_k (k a_k / D) (1/k)(1 - P(H = 0)) P_{n-1}(classes with one k -> k-1, L-1)

with a_k classes of size k, chosen with the weight of their patients (equation (8) of the paper;
its equation (10) prints the weight of the classes, a slip).  It forgets what the first
identification tells about the class: few leaked members made it likelier.  Exact for one target,
for L = D and for classes of one; otherwise off in either direction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge
from reidbn.theory.circle import Classes, Floats
from reidbn.theory.hypergeometric import log_none_leaked

_MOST_STATES = 500_000


def log_recursion(classes: Classes, leaked: NDArray[np.int64], targets: int) -> Floats:
    """Log of the recursion's P_n for each leak size, states remembered.

    A state is how many classes there are of each size that can be reached.

    >>> classes = Classes(np.array([2]), np.array([3]))
    >>> np.exp(log_recursion(classes, np.array([4, 6]), 2)).round(6).tolist()
    [0.224, 0.3]
    """
    D = classes.records
    sizes = _reachable(classes.sizes, targets)
    at = {size: i for i, size in enumerate(sizes)}
    start = np.zeros(len(sizes), dtype=np.int64)
    start[[at[int(k)] for k in classes.sizes]] = classes.counts
    states: dict[tuple[int, ...], Floats] = {tuple(start.tolist()): np.zeros(leaked.shape)}
    for step in range(targets):
        log_hit = _log_hit(D - step, leaked - step, sizes)
        following: dict[tuple[int, ...], Floats] = {}
        for state, log_p in states.items():
            for i, count in enumerate(state):
                if count:
                    new = _one_smaller(state, i, at.get(sizes[i] - 1))
                    term = log_p + log_hit[i] + np.log(count)
                    old = following.get(new)
                    following[new] = term if old is None else np.logaddexp(old, term)
        if len(following) > _MOST_STATES:
            raise TooLarge(
                f"the recursion for {targets} targets meets more than {_MOST_STATES:,} states of "
                'the classes; method="exact" needs none of them'
            )
        states = following
    return np.asarray(np.logaddexp.reduce(list(states.values()), axis=0))


def _log_hit(D: int, leaked: NDArray[np.int64], sizes: list[int]) -> Floats:
    """Log of (1 - P(H = 0)) / D for each size and leak size; impossible states get -inf."""
    k = np.array(sizes)[:, None]
    possible = (leaked >= 1) & (k <= D)
    some = -np.expm1(log_none_leaked(D, np.clip(leaked, 0, D), np.minimum(k, D)))
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(possible, np.log(some) - np.log(D), -np.inf))


def _one_smaller(state: tuple[int, ...], i: int, below: int | None) -> tuple[int, ...]:
    new = list(state)
    new[i] -= 1
    if below is not None:
        new[below] += 1
    return tuple(new)


def _reachable(sizes: NDArray[np.int64], targets: int) -> list[int]:
    reached = {int(k) - m for k in sizes for m in range(targets + 1) if k > m}
    return sorted(reached)
