"""What a table says about the population, for every person on every subset of groups.

One model speaks on each subset (speaking.py says which).  Then subsets are made to agree, person by
person (population/coherence.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.routes.counts import MEMORY, SubsetClasses
from reidbn.attacks.routes.said import InOrder, Said
from reidbn.population.coherence import falls_within, raise_to_parts
from reidbn.progress import progress
from reidbn.written import counted

if TYPE_CHECKING:
    import pandas as pd


Array = NDArray[np.float64]
Ints = NDArray[np.int64]

IN_CACHE = 1 << 16  # subset x person cells that are worked on at a time
CELLS, SIDE_BY_SIDE = 1 << 18, 64  # the same in one pass, and the fewest people
EXACT = 1 << 26  # cells kept in double precision; more are kept in single, 7 digits


@dataclass(frozen=True, eq=False)
class Finer:
    """The same model on every subset of single columns, where groups hold several.

    A group is known as a whole, but what the model says of a part of it holds of the whole, too:
    else the worst case, which is one group, could say less than an attacker who knows less.
    """

    population: SubsetPopulation
    """On every subset of columns; it keeps those that are subsets of groups, in their order."""
    rows: NDArray[np.intp]
    """Each distinct row, as a distinct row of the classes by column."""

    def unique(self, rows: Any = slice(None)) -> Array:
        """P(unique in the population | unique in the table): row x subset, or 1 x subset."""
        return self.population.unique(self.rows[rows])

    def match(self, rows: NDArray[np.intp]) -> Array:
        """E[1/F]: person x subset."""
        return self.population.match(self.rows[rows])


@dataclass(frozen=True, eq=False)
class SubsetPopulation:
    """One model on every subset (by mask), and what follows for each person of the table.

    `theta`, `alpha` and `status` are those of Pitman's likelihood on the subset, whichever model
    speaks: they tell how much its class sizes say, and carry the intervals.
    """

    model: str
    population: float
    classes: SubsetClasses
    said: Said
    theta: Array
    alpha: Array
    status: tuple[str, ...]
    fallback: NDArray[np.bool_]
    """Where the likelihood has no best point."""
    by: tuple[str, ...]
    """The model that speaks on each subset."""
    about: tuple[str, ...] = ()
    finer: Finer | None = None
    kept: Ints | None = None
    """The subsets that are told for each person, where not all are wanted."""

    @property
    def people(self) -> int:
        """In the table, among whom classes were counted."""
        return self.classes.records

    def __repr__(self) -> str:
        of = f"{self.people:,} people of {self.population:,.0f}"
        return f"<{self.model} on {counted(len(self.status), 'subset')}: {of}; see .table()>"

    @property
    def statuses(self) -> Counter[str]:
        """How many subsets have which status; where nothing is known there is nothing to fit."""
        return Counter(self.status[1:])

    @cached_property
    def _unique(self) -> tuple[Array, Array, Array]:
        """Row x subset kept (one row where all are alike); means before and after, every subset."""
        found, before, after = self._by_groups()
        if self.finer is None:
            return found, before, after
        of_parts = self.finer.population
        means = of_parts.p_unique[of_parts.kept]
        return np.maximum(found, self.finer.unique()), before, np.maximum(after, means)

    def _by_groups(self) -> tuple[Array, Array, Array]:
        subsets, rows = self.classes.subsets, self.classes.rows
        uniques = np.array([uniques_of(f) for f in self.classes.frequencies], dtype=float)
        if not self._may_disagree(uniques):
            said = self.said.p_unique
            return said[None, self._told], said, said
        told = subsets if self.kept is None else len(self.kept)
        out = np.empty((rows, told), np.float64 if told * rows <= EXACT else np.float32)
        people = self.classes.persons
        raises = self._may_raise(uniques)
        sums = np.zeros((3, subsets))  # of people unique in the table; before and after
        for block in self._blocks():
            sizes, weight = self.classes.sizes[:, block], people[block]
            found = self.said.unique(block, sizes)  # whose numbers no class size changes
            alone = (sizes == 1).astype(float)
            sums[0] += alone @ weight
            np.multiply(found, alone, out=alone)
            sums[1] += alone @ weight
            if raises:
                raise_to_parts(alone)  # whoever is alone on a part is alone here: only they rise
                sums[2] += alone @ weight
                np.maximum(found, alone, out=found)
            out[block] = found[self._told].T
        sums[2] = sums[2] if raises else sums[1]
        some = np.maximum(sums[0], 1)
        before, after = (np.where(sums[0] > 0, s / some, self.said.p_unique) for s in sums[1:])
        return out, before, after

    def _may_raise(self, uniques: Array) -> bool:
        """Whether a part can say more: the log-linear model never does, one column alone may.

        So may a part without a column of which others are functions.
        """
        if self.said.share is None or self.said.bound is not None or self.said.left_out:
            return True
        floor = self.said.floor
        own = bool(uniques[~self.said.spread].any())
        return own or (floor is not None and bool(floor[0].any()))

    def _may_disagree(self, uniques: Array) -> bool:
        """Whether people of one subset differ, or a subset says less than its parts."""
        if self.said.share is not None:
            return True
        return falls_within(np.where(uniques > 0, self.said.p_unique, 0.0))

    @property
    def p_unique(self) -> Array:
        """P(unique in the population | unique in the table), by subset: the mean of its uniques."""
        return self._means[1]

    @property
    def _means(self) -> tuple[Array, Array]:
        """Per subset the mean over its uniques, before subsets were made to agree, and after."""
        if "_told_means" not in self.__dict__:
            if "_unique" in self.__dict__ or self.classes.distinct is None:
                self.__dict__["_told_means"] = self._unique[1:]
            else:
                self.expected(np.zeros((0, self.classes.subsets)), match=False)
        found: tuple[Array, Array] = self.__dict__["_told_means"]
        return found

    def expected(self, weights: Array, *, match: bool) -> tuple[Array, Array]:
        """Sums over subsets for each row, no number per row and subset being kept.

        For each row of weights (one per subset) the weighted sum of P(unique in the population)
        over the subsets on which the person is alone; and, of the first row of weights, that of
        E[1/F] over all subsets.  Where people fall into classes.
        """
        subsets, rows = self.classes.subsets, self.classes.rows
        uniques = np.array([uniques_of(f) for f in self.classes.frequencies], dtype=float)
        people = self.classes.persons
        unique, matched = np.zeros((len(weights), rows)), np.zeros(rows if match else 0)
        ranks = None if self.said.share is not None else InOrder.of(self.said.p_unique)
        raises = self._may_raise(uniques) and self._may_disagree(uniques)
        single = np.array([sizes[0] == 1 for sizes in self.classes.occurring])[:, None]
        sums = np.zeros((3, subsets))
        step = max(SIDE_BY_SIDE, CELLS // subsets)
        room = np.empty((subsets, 0))  # one for all blocks: new memory costs more than the sums
        for tile in self.classes.tiles():
            for block, places in tile.blocks(step):
                alone = (places == 0) & single
                if room.shape != places.shape:
                    room = np.empty(places.shape)
                if self.classes.followed is not None:
                    sums[0] += _by_subset(alone, people[block])
                if ranks is not None:
                    told = ranks.told(alone, room, raises=raises)
                else:
                    told = self.said.unique(block, places)
                    told *= alone
                    sums[1] += _by_subset(told, people[block])
                    if raises:
                        raise_to_parts(told)  # whoever is alone on a part is alone here
                sums[2] += _by_subset(told, people[block])
                if self.finer is not None:
                    np.maximum(told, self.finer.unique(block).T * alone, out=told)
                if len(weights):
                    unique[:, block] = _by_row(weights, told)
                if match:
                    found = raise_to_parts(self.said.match(block, places, room))
                    if self.finer is not None:
                        np.maximum(found, self.finer.match(np.arange(rows)[block]).T, out=found)
                    matched[block] = _by_row(weights[:1], found)[0]
        if self.classes.followed is None:
            sums[0] = uniques
        self._keep_means(sums)
        return unique, matched

    def _keep_means(self, sums: Array) -> None:
        """The means over uniques, from their number and the sums before and after."""
        some = np.maximum(sums[0], 1)
        before, after = (np.where(sums[0] > 0, s / some, self.said.p_unique) for s in sums[1:])
        if self.said.share is None:
            before = self.said.p_unique
        if self.finer is not None:
            of_parts = self.finer.population
            after = np.maximum(after, of_parts.p_unique[of_parts.kept])
        self.__dict__["_told_means"] = (before, after)

    def unique(self, rows: NDArray[np.intp]) -> Array:
        """P(unique in the population | unique in the table): person x subset, for distinct rows.

        One row where the model says the same of everybody.
        """
        if not self.fits:
            return self.unique_of(rows)
        found = self._unique[0]
        if len(found) == 1 or np.array_equal(rows, np.arange(len(found))):
            return found
        return found[rows]

    @property
    def can_sum(self) -> bool:
        """Whether `expected` is there to be asked."""
        return self.classes.distinct is not None

    @property
    def fits(self) -> bool:
        """Whether a number per row and subset is kept."""
        return self.classes.rows * self.classes.subsets * 4 <= MEMORY

    def unique_of(self, rows: NDArray[np.intp]) -> Array:
        """`unique` of some rows, where not everybody's is kept."""
        sizes = self.classes.sizes_of(rows)
        found = self.said.unique(rows, sizes)
        told = found * (sizes == 1)
        np.maximum(found, raise_to_parts(told), out=found)
        out = np.asarray(found[self._told].T)
        return out if self.finer is None else np.maximum(out, self.finer.unique(rows))

    def match(self, rows: NDArray[np.intp]) -> Array:
        """E[1/F] of distinct rows of the table: person x subset."""
        subsets = self.classes.subsets if self.kept is None else len(self.kept)
        out = np.empty((len(rows), subsets))
        places = self.said.places(self.classes.sizes_of(rows))
        for start in range(0, len(rows), self._step):
            some = rows[start : start + self._step]
            found = self.said.match(some, places[:, start : start + self._step])
            out[start : start + self._step] = raise_to_parts(found)[self._told].T
            if self.finer is not None:
                part = out[start : start + self._step]
                np.maximum(part, self.finer.match(some), out=part)
        return out

    @property
    def _told(self) -> Any:
        """Which subsets are told for each person."""
        return slice(None) if self.kept is None else self.kept

    @property
    def _step(self) -> int:
        return max(1, IN_CACHE // self.classes.subsets)

    def _blocks(self) -> Iterator[slice]:
        rows = self.classes.rows
        steps = range(0, rows, self._step)
        for start in progress(steps, "who is unique in the population"):
            yield slice(start, min(start + self._step, rows))

    @cached_property
    def raised(self) -> dict[int, tuple[float, float]]:
        """Subsets whose uniques were raised to what their parts say: mean before and after."""
        before, after = self._means
        moved = np.flatnonzero(after > before * (1 + 1e-6) + 1e-12)
        return {int(mask): (float(before[mask]), float(after[mask])) for mask in moved}

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What to bear in mind about these numbers."""
        if not self.raised:
            return self.about
        most = sorted(self.raised, key=lambda m: self.raised[m][0] - self.raised[m][1])[:3]
        told = "; ".join(
            f"{self.known(mask)} from {self.raised[mask][0]:.2g} to {self.raised[mask][1]:.2g}"
            for mask in most
        )
        note = (
            f"whoever is unique on some attributes is unique on more: on {len(self.raised):,} of "
            f"{len(self.status):,} subsets the chance to be unique in the population was raised to "
            f"the largest that a part of the subset says, which is the cautious side (mean of the "
            f"subset's uniques, most: {told})"
        )
        return (*self.about, note)

    def known(self, mask: int) -> str:
        """The columns that are known on a subset, in words."""
        groups = [g for j, g in enumerate(self.classes.groups) if mask >> j & 1]
        return "+".join(c for group in groups for c in group) or "nothing"

    def table(self) -> pd.DataFrame:
        """Per subset: which model speaks, the status of Pitman's likelihood, and what is said.

        `p_unique` is the mean over the table's unique people; `before` is without (1) of
        population/coherence.py.
        """
        import pandas as pd

        before, after = self._means
        return pd.DataFrame(
            {
                "known": [self.known(mask) for mask in range(len(self.status))],
                "model": self.by,
                "status": self.status,
                "uniques": [uniques_of(f) for f in self.classes.frequencies],
                "before": before,
                "p_unique": after,
            }
        )


# Not `@`: threads that wait for each other take longer than sums that come from memory anyway.
def _by_subset(table: NDArray[Any], people: Array) -> Array:
    return np.asarray(np.einsum("sp,p->s", table, people))


def _by_row(weights: Array, table: Array) -> Array:
    return np.asarray(np.einsum("ks,sp->kp", weights, table))


def uniques_of(frequencies: Any) -> int:
    return int(frequencies.counts[frequencies.sizes == 1].sum())
