"""The false values that stay plausible: how many other secrets a person's peers offer [Kroes21].

For a person with secret s_i and known values a_i, PP_v = #{v, a_i} / #{a_i}, and

    alternatives = #{v != s_i : PP_v > q},     PoAC_q = alternatives / (|dom(s)| - 1)          (1)

with dom(s) the values that occur in the table.  Counted by class: the classes of A + s inside a
class of A are exactly its values of the secret.

The best guesser: how often the value that most peers have is right [Kroes21].

PPP is the probability that a guess drawn from the peers is wrong; whoever wants to be right does
not draw.  With p_v the shares of the secret's values among the peers the best guess is right with

    max_v p_v                                                                                  (1)

and where a guess within t of the secret counts, with max_g sum_{v near g} p_v.

Other names for what the peers' secrets look like: diversity, closeness, (alpha, k).

With p_v the shares of the secret's values among a person's peers and q_v those in the whole table:

    distinct l   number of values with p_v > 0                      [Machanavajjhala07]        (1)
    entropy l    exp(-sum_v p_v ln p_v)                             [Machanavajjhala07]        (2)
    alpha        max_v p_v, with k the number of peers              [Wong06]                   (3)
    t            distance of p from q: (1/2) sum_v |p_v - q_v|; for values in order,
                 sum_i |sum_{v <= i} (p_v - q_v)| / (m - 1)         [Li07]                     (4)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above
from reidbn.microdata.classes import Floats, Ints, some_of, totals
from reidbn.microdata.rows import DistinctRows
from reidbn.microdata.slab import MEMORY, ClassSlab, split

if TYPE_CHECKING:
    import pandas as pd


Alternatives = dict[int, NDArray[np.int32]]
_WIDTH = 8  # bytes per row and subset of a slab of classes: 7.2 on Adult, 7.6 on Diabetes


def alternatives_at(cells: DistinctRows, known: Sequence[int], secret: int, q: float) -> Ints:
    """Equation (1)'s count for each row, with all these columns known.

    >>> from reidbn.microdata.rows import distinct_rows
    >>> people = np.array([[0, 0], [0, 0], [0, 1], [0, 2], [1, 1]], dtype=np.int32)
    >>> cells = distinct_rows(people, (2, 3))
    >>> alternatives_at(cells, [0], 1, q=0.25)[cells.of_record]   # shares 1/2, 1/4, 1/4: above
    array([0, 0, 1, 1, 0])
    """
    coarse, fine = cells.classes(known), cells.classes([*known, secret])
    parent = coarse.ids.take(some_of(fine.ids, fine.classes))
    alike = totals(coarse.ids, cells.people, coarse.classes)
    same = totals(fine.ids, cells.people, fine.classes)
    return _alternatives(parent, alike, same, q).take(fine.ids).astype(np.int64)


def _alternatives(
    parent: NDArray[np.integer], alike: NDArray[Any], same: NDArray[Any], q: float
) -> NDArray[np.int32]:
    """For each class of A + s inside its parent class of A, how many of its siblings exceed q."""
    if q == 0:
        return (np.bincount(parent, minlength=alike.size).take(parent) - 1).astype(np.int32)
    # The quotient, correctly rounded, and not a product: 1/20 must not exceed q = 0.05.
    above = is_above(same / alike.take(parent), q)
    count = np.bincount(parent, weights=above, minlength=alike.size).take(parent)
    count -= above
    return count.astype(np.int32)


def fewest_alternatives(
    cells: DistinctRows,
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


# -- the best guesser ------------------------------------------------------------------------------


_CELLS = 4_000_000


def guess_values(place: Ints, owner: Ints, value: Ints, people: Ints) -> Ints:
    """The people of the commonest value in each individual's class.

    `place` is the class of each individual; `owner`, `value`, `people` list the classes' values.

    >>> owner, value, people = np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([3, 1, 2])
    >>> guess_values(np.array([0, 1]), owner, value, people)
    array([3, 2])
    """
    top = np.zeros(int(owner.max()) + 1, dtype=np.int64)
    np.maximum.at(top, owner, people)
    return top[place]


def guess_ties(owner: Ints, people: Ints) -> Ints:
    """How many values are the commonest of each class.

    >>> guess_ties(np.array([0, 0, 1]), np.array([3, 3, 2])).tolist()
    [2, 1]
    """
    top = np.zeros(int(owner.max()) + 1, dtype=np.int64)
    np.maximum.at(top, owner, people)
    return np.bincount(owner[people == top[owner]], minlength=top.size)


def guess_near(
    place: Ints, owner: Ints, value: Ints, people: Ints, near: NDArray[np.bool_]
) -> Ints:
    """The people of each individual's class about whom the best guess is near enough."""
    classes, domain = int(owner.max()) + 1, len(near)
    top = np.zeros(classes, dtype=np.int64)
    step = max(1, _CELLS // domain)
    for first in range(0, classes, step):
        here = np.flatnonzero((owner >= first) & (owner < first + step))
        table = np.zeros((min(step, classes - first), domain))
        table[owner[here] - first, value[here]] = people[here]
        top[first : first + step] = (table @ near.T).max(axis=1)
    return top[place]


def guess_alone(place: Ints, owner: Ints, value: Ints, people: Ints, own: Ints) -> Floats:
    """How often the commonest value of the others is each individual's own; ties are drawn.

    Taking one record away, a person's value is the commonest of the others only if it was the only
    commonest one before: ahead by two or more it stays so, ahead by one it ties with the second.

    >>> guess_alone(np.zeros(3, dtype=np.int64), np.array([0, 0]), np.array([0, 1]),
    ...             np.array([2, 1]), np.array([0, 0, 1]))
    array([0.5, 0.5, 0. ])
    """
    classes = int(owner.max()) + 1
    first, second, winner = np.zeros((3, classes), dtype=np.int64)
    np.maximum.at(first, owner, people)
    is_top = people == first[owner]
    winner[owner[is_top]] = value[is_top]
    tops = np.bincount(owner[is_top], minlength=classes)
    np.maximum.at(second, owner[~is_top], people[~is_top])
    seconds = np.bincount(owner[~is_top & (people == second[owner])], minlength=classes)
    success = np.where(first - 1 > second, 1.0, 0.0)
    tied = (first - 1 == second) & (second > 0)
    success[tied] = 1 / (1 + seconds[tied])
    success[tops > 1] = 0
    return np.where(winner[place] == own, success[place], 0.0)


# -- other names for what the peers' secrets look like ---------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Readings:
    """One number per individual for each reading, and the table's worst of each."""

    peers: Ints
    distinct: Ints
    entropy: Floats
    largest_share: Floats
    distance: Floats
    ordered_distance: Floats | None
    """None where the secret's values are not numbers."""

    @property
    def k(self) -> int:
        return int(self.peers.min())

    @property
    def l(self) -> int:  # noqa: E743 - the name it has
        """Distinct l-diversity."""
        return int(self.distinct.min())

    @property
    def entropy_l(self) -> float:
        return float(self.entropy.min())

    @property
    def alpha(self) -> float:
        """The largest share that one value has in any class."""
        return float(self.largest_share.max())

    @property
    def t(self) -> float:
        """t-closeness with all values equally far apart."""
        return float(self.distance.max())

    @property
    def ordered_t(self) -> float | None:
        """t-closeness with values as far apart as their ranks."""
        return None if self.ordered_distance is None else float(self.ordered_distance.max())

    @cached_property
    def table(self) -> pd.DataFrame:
        import pandas as pd

        columns = {
            "peers": self.peers,
            "distinct_l": self.distinct,
            "entropy_l": self.entropy,
            "alpha": self.largest_share,
            "t": self.distance,
        }
        if self.ordered_distance is not None:
            columns["ordered_t"] = self.ordered_distance
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        return (
            f"Readings(k={self.k}, l={self.l}, entropy l={self.entropy_l:.3g}, "
            f"alpha={self.alpha:.3g}, t={self.t:.3g})"
        )


def readings_of(
    place: Ints, owner: Ints, value: Ints, people: Ints, base: Floats, numbers: Floats | None
) -> Readings:
    """The readings of every class, from its values and how many people have each.

    `place` is the class of each individual; `owner`, `value`, `people` list the classes' values;
    `base` is q, and `numbers` the values themselves, where they have an order.

    >>> readings_of(np.array([0, 1]), np.array([0, 0, 1]), np.array([0, 1, 1]),
    ...             np.array([1, 1, 2]), np.array([0.25, 0.75]), None)
    Readings(k=2, l=1, entropy l=1, alpha=1, t=0.25)
    """
    classes = int(owner.max()) + 1
    peers = np.bincount(owner, weights=people, minlength=classes)
    share = people / peers[owner]
    entropy = np.exp(-np.bincount(owner, weights=share * np.log(share), minlength=classes))
    largest = np.zeros(classes)
    np.maximum.at(largest, owner, share)
    near = np.bincount(owner, weights=np.abs(share - base[value]), minlength=classes)
    here = np.bincount(owner, weights=base[value], minlength=classes)
    distance = (near + 1 - here) / 2
    ordered = None
    if numbers is not None:
        ordered = _ordered(owner, value, share, base, numbers, classes)[place]
    return Readings(
        peers[place].astype(np.int64),
        np.bincount(owner, minlength=classes)[place].astype(np.int64),
        entropy[place],
        largest[place],
        distance[place],
        ordered,
    )


def _ordered(
    owner: Ints, value: Ints, share: Floats, base: Floats, numbers: Floats, classes: int
) -> Floats:
    """Equation (4) for values in order, with the values that occur as its steps."""
    occur = np.flatnonzero(base > 0)
    occur = occur[np.argsort(numbers[occur], kind="stable")]
    rank = np.full(base.size, -1)
    rank[occur] = np.arange(occur.size)
    if occur.size == 1:
        return np.zeros(classes)
    target = np.cumsum(base[occur])
    found = np.empty(classes)
    step = max(1, _CELLS // occur.size)
    for first in range(0, classes, step):
        last = min(first + step, classes)
        here = np.flatnonzero((owner >= first) & (owner < last))
        table = np.zeros((last - first, occur.size))
        table[owner[here] - first, rank[value[here]]] = share[here]
        gap = np.abs(np.cumsum(table, axis=1) - target)
        found[first:last] = gap.sum(axis=1) / (occur.size - 1)
    return found
