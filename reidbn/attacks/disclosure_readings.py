"""Other names for what the peers' secrets look like: diversity, closeness, (alpha, k).

With p_v the shares of the secret's values among a person's peers and q_v those in the whole table:

    distinct l   number of values with p_v > 0                      [Machanavajjhala07]        (1)
    entropy l    exp(-sum_v p_v ln p_v)                             [Machanavajjhala07]        (2)
    alpha        max_v p_v, with k the number of peers              [Wong06]                   (3)
    t            distance of p from q: (1/2) sum_v |p_v - q_v|; for values in order,
                 sum_i |sum_{v <= i} (p_v - q_v)| / (m - 1)         [Li07]                     (4)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from reidbn.microdata.classes import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

_CELLS = 4_000_000


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
