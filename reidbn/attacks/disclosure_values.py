"""The false values that stay plausible: how many other secrets a person's peers offer [Kroes21].

For a person with secret s_i and known values a_i, PP_v = #{v, a_i} / #{a_i}, and

    alternatives = #{v != s_i : PP_v > q},     PoAC_q = alternatives / (|dom(s)| - 1)          (1)

with dom(s) the values that occur in the table.  Counted by class: the classes of A + s inside a
class of A are exactly its values of the secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.microdata.classes import Ints
from reidbn.microdata.slab import MEMORY, ClassSlab, WideRows, split

Alternatives = dict[int, NDArray[np.int32]]
_WIDTH = 8  # bytes per row and subset of a slab of classes: 7.2 on Adult, 7.6 on Diabetes


def alternatives_at(cells: WideRows, known: Sequence[int], secret: int, q: float) -> Ints:
    """Equation (1)'s count for each row, with all these columns known.

    >>> one, two = np.array([0, 0, 0, 1]), np.array([0, 1, 2, 1])
    >>> cells = WideRows((one, two), (2, 3), np.array([2.0, 1.0, 1.0, 1.0]))
    >>> alternatives_at(cells, [0], 1, q=0.25)         # shares 1/2, 1/4, 1/4: strictly above
    array([0, 1, 1, 0])
    """
    coarse, fine = cells.classes(known), cells.classes([*known, secret])
    row_of = np.empty(fine.classes, dtype=np.int64)
    row_of[fine.ids] = np.arange(cells.rows)
    alike = np.bincount(coarse.ids, weights=cells.people)
    same = np.bincount(fine.ids, weights=cells.people)
    return _alternatives(coarse.ids.take(row_of), alike, same, q).take(fine.ids).astype(np.int64)


def _alternatives(
    parent: NDArray[np.integer], alike: NDArray[Any], same: NDArray[Any], q: float
) -> NDArray[np.int32]:
    """For each class of A + s inside its parent class of A, how many of its siblings exceed q."""
    if q == 0:
        return (np.bincount(parent, minlength=alike.size).take(parent) - 1).astype(np.int32)
    # The quotient, correctly rounded, and not a product: 1/20 must not exceed q = 0.05.
    above = same / alike.take(parent) > q
    count = np.bincount(parent, weights=above, minlength=alike.size).take(parent)
    count -= above
    return count.astype(np.int32)


def fewest_alternatives(
    cells: WideRows,
    known: Sequence[int],
    secrets: Sequence[int],
    q: float,
    *,
    empty: bool = False,
    memory: int = MEMORY,
) -> Alternatives:
    """The smallest number of alternatives over all subsets of the known columns, row by row.

    With q = 0 more knowledge can only remove alternatives, so full knowledge attains it; otherwise
    every (secret, subset) is visited.
    """
    if q == 0:
        full = {s: [c for c in known if c != s] for s in secrets}
        return {s: alternatives_at(cells, full[s], s, 0).astype(np.int32) for s in secrets}
    fewest = {s: np.full(cells.rows, np.iinfo(np.int32).max, dtype=np.int32) for s in secrets}
    parts = split(cells, known, secrets, memory=memory, width=_WIDTH)
    base_ids = np.empty((1 << len(parts.low), cells.rows), dtype=np.int32)
    partner_ids = np.empty_like(base_ids) if set(parts.high) & set(secrets) else None
    for fixed in parts.bases(known):
        base = ClassSlab.fill(cells, parts.low, fixed, base_ids)
        skip = set() if fixed or empty else {0}
        for secret in secrets:
            if secret in parts.low:
                bit = 1 << (len(parts.low) - 1 - parts.low.index(secret))
                places = [i for i in range(len(base.people)) if not i & bit and i not in skip]
                _lower(fewest[secret], base, base, [(i, i | bit) for i in places], q)
            elif partner_ids is not None and secret not in fixed:
                partner = ClassSlab.fill(cells, parts.low, (*fixed, secret), partner_ids)
                places = [i for i in range(len(base.people)) if i not in skip]
                _lower(fewest[secret], base, partner, [(i, i) for i in places], q)
    return fewest


def _lower(
    fewest: NDArray[np.int32],
    base: ClassSlab,
    partner: ClassSlab,
    pairs: Sequence[tuple[int, int]],
    q: float,
) -> None:
    buffer = np.empty_like(fewest)
    for without, with_secret in pairs:
        parent = base.ids[without].take(partner.row_of[with_secret])
        count = _alternatives(parent, base.people[without], partner.people[with_secret], q)
        # "clip" only skips the bounds check; ids are in range by construction.
        np.take(count, partner.ids[with_secret], out=buffer, mode="clip")
        np.minimum(fewest, buffer, out=fewest)
