"""How likely k facts single somebody out, by definition: every subset, and fact by fact."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb, prod

import numpy as np


def as_words(sets, size):
    """Sets of facts as words of 64 bits."""
    words = max(1, -(-size // 64))
    found = np.zeros((len(sets), words), dtype=np.uint64)
    for row, one in zip(found, sets, strict=True):
        for j in one:
            row[j // 64] |= np.uint64(1 << (j % 64))
    return found


def by_subsets(sets, size, most=None):
    """U(0) .. U(most): one minus the share of k-subsets inside some set, every subset looked at."""
    sets = [frozenset(one) for one in sets]
    found = []
    for k in range((size if most is None else most) + 1):
        k = min(k, size)
        inside = sum(any(one >= set(some) for one in sets) for some in combinations(range(size), k))
        found.append(1 - Fraction(inside, comb(size, k)))
    return found


def by_frontier(sets, size):
    """The same fact by fact: how many sets of facts leave which agree sets as candidates."""
    state = Counter({(0, frozenset(range(len(sets)))): 1} if sets else {})
    for j in range(size):
        after = Counter()
        for (k, left), ways in state.items():
            after[k, left] += ways
            still = frozenset(i for i in left if j in sets[i])
            if still:
                after[k + 1, still] += ways
        state = after
    inside = Counter()
    for (k, _), ways in state.items():
        inside[k] += ways
    return [1 - Fraction(inside[k], comb(size, k)) for k in range(size + 1)]


def chance_inside(sets, chances):
    """P(the facts known, each independently, all lie inside some set), subset by subset."""
    chances, facts = [Fraction(str(p)) for p in chances], range(len(chances))
    return sum(
        prod((chances[j] if j in some else 1 - chances[j] for j in facts), start=Fraction(1))
        for k in range(len(chances) + 1)
        for some in map(set, combinations(facts, k))
        if any(set(one) >= some for one in sets)
    )
