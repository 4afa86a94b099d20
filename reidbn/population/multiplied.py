"""What is so if columns do not go together: shares multiplied, in a part of an interval's draws.

Where no two columns go together as far as the table shows (theory/independence.py) there is no
structure to calibrate, and the layer's e may be all error.  Three quarters of the draws are then
those of shares multiplied, of margins as even as chance allows: by counted ones people with rare
values are unique too often.  The estimate stays that of the structures, the larger: of real columns
that go together unseen the product was 5 for 97.

Draws stand on cells of alike rows, so that of each cell the mean over its rows is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.population.margins import share_alike
from reidbn.theory.frequencies import FrequencyTable
from reidbn.theory.independence import evened, independent_at
from reidbn.theory.structure import Distinct, TwoTogether
from reidbn.written import counted

Floats: TypeAlias = NDArray[np.float64]

INDEPENDENT = 0.05
"""The p-value from which on no two columns are said to go together."""
HARDLY = 1e-9
OF_STRUCTURES = 4
"""One draw in so many is of the structures, where no two columns go together."""
SHOWN = "no two columns go together as far as the table shows (a test of all pairs)"
STAYS = "the estimate stays that of structures for what a table of this size cannot show"


def no_pair(multiplied: float) -> str:
    """Of a fit, of how many unique people shares multiplied say."""
    return (
        f"{SHOWN}: if none do, about {multiplied:,.0f} people of the population are unique, as "
        f"shares multiplied say; {STAYS}, and the interval holds both"
    )


def no_pair_on(some: int, of: int) -> str:
    """The same of some subsets."""
    return (
        f"on {some:,} of {counted(of, 'subset')} with anybody unique {SHOWN}: if none do, shares "
        f"multiplied are right there, as log-linear has them, which may say several times less, or "
        f"more; {STAYS}, and the interval holds both"
    )


def none_go_together(
    rows: Distinct, every: Iterable[TwoTogether], inside: NDArray[Any] | None = None
) -> NDArray[np.bool_]:
    """Of each set of attributes, as in `independent_at`, whether no two go together."""
    return independent_at(rows, every, inside) >= INDEPENDENT


def even_shares(rows: Distinct, N: int, stand: Floats | None = None) -> Floats:
    """Log shares by attribute, as even as chance allows: attribute x row.

    With survey weights they are of the population's people, as `stand` says.
    """
    shares = (
        share_alike(held[codes].astype(np.int64), _frequencies(held), N)
        for held, codes in zip(rows.people, rows.codes.T, strict=True)
    )
    return evened(rows, shares, stand)


def of_the_table(rows: Distinct, stand: Floats, alike: Floats) -> Floats:
    """What the log of a share of the population's people is less than that of the table's.

    `alike` says for how many people those of a row stand, whose outside are n p (W - 1) of the
    table's share p and N P (W - 1)/W of the population's.
    """
    return np.log(float(rows.counts @ stand) / (rows.n * alike))


def _frequencies(people: Floats) -> FrequencyTable:
    return FrequencyTable.of(*np.unique(people.astype(np.int64), return_counts=True))


def are_plain(draws: int) -> NDArray[np.bool_]:
    """Which draws are those of shares multiplied."""
    return np.arange(draws) % OF_STRUCTURES > 0


def near_knot(place: NDArray[Any], knot: int) -> NDArray[Any]:
    """What rows count at a knot of W, of those between which they are; hardly at others."""
    return np.asarray(np.maximum(1 - np.abs(place - knot), HARDLY))


def means(total: NDArray[Any], held: NDArray[Any]) -> NDArray[Any]:
    """The mean of each cell, from what it holds; of an empty one between its neighbours'.

    Cells are the last axis; where all are empty it is 0.
    """
    cells = np.arange(held.shape[-1])
    some = held > 0
    left = np.maximum.accumulate(np.where(some, cells, -1), axis=-1)
    right = np.minimum.accumulate(np.where(some, cells, len(cells))[..., ::-1], axis=-1)[..., ::-1]
    left, right = np.where(left < 0, right, left), np.where(right == len(cells), left, right)
    left, right = np.minimum(left, cells[-1]), np.maximum(right, 0)
    beyond = (cells - left) / np.maximum(right - left, 1)
    told = total / np.where(some, held, 1)
    low, high = (
        np.take_along_axis(told, np.broadcast_to(at, told.shape), -1) for at in (left, right)
    )
    return np.asarray(low + beyond * (high - low))
