"""Attributes that say nothing of their own: as far as a table shows, functions of others."""

from __future__ import annotations

import numpy as np

from reidbn.theory.structure import Distinct, Floats, Ints

SHOWN = 20.0  # people who should differ, were an attribute no function of others


def determined(codes: Ints, counts: Floats) -> list[int]:
    """Attributes that the others determine, as far as the table can show; coarsest first.

    An attribute is measured to be a function of one other, or of all others, where no two people
    who agree on those differ in it, although `SHOWN` such people would, were it independent.
    """
    rows, n = Distinct(codes, counts), counts.sum()
    kept, found = list(range(codes.shape[1])), []
    for j in sorted(kept, key=lambda j: rows.values[j]):
        split = 1 - float(((rows.people[j] / n) ** 2).sum())
        others = [i for i in kept if i != j]
        if any(_follows(rows, j, some, split) for some in [*([i] for i in others), others] if some):
            kept.remove(j)
            found.append(j)
    return found


def _follows(rows: Distinct, j: int, others: list[int], split: float) -> bool:
    alone = _classes(rows, others)
    return (rows.n - alone) * split >= SHOWN and _classes(rows, [*others, j]) == alone


def _classes(rows: Distinct, attributes: list[int]) -> int:
    """How many distinct rows there are on some attributes."""
    if len(attributes) == 1:
        return rows.values[attributes[0]]
    key, room = np.zeros(len(rows.codes), dtype=np.int64), 1
    for j in attributes:
        key = key * rows.values[j] + rows.codes[:, j]
        room *= rows.values[j]
        if room > 2**40:
            used, key = np.unique(key, return_inverse=True)
            room = len(used)
    if room <= max(1 << 16, 4 * len(key)):
        return int(np.count_nonzero(np.bincount(key)))
    return int(np.unique(key).size)
