"""What population models say of each person and subset, before subsets are made to agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.population.coherence import raise_to_parts
from reidbn.theory.loglinear import mean_inverse_beside

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
AT_ONCE = 1 << 15  # numbers that are looked up together


@dataclass(frozen=True, eq=False)
class Said:
    """What the models say before the subsets are made to agree.

    `p_unique[mask]` and `p_match[mask]` (for each of `sizes[mask]`) are numbers by class size.
    `share[group, row]`, where the log-linear model speaks, is the share of the people outside the
    table who are like a distinct row on a group; `spread[mask]` says on which subsets.
    """

    outside: float
    p_unique: Array
    sizes: Sequence[Ints]
    p_match: Sequence[Array]
    share: Array | None = None
    spread: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    floor: tuple[Array, Array] | None = None
    """Per group and row, the largest P(unique) and E[1/F] that one column of a group says alone."""
    bound: np.ufunc | None = None
    """np.minimum or np.maximum: combined with the numbers by class size on `bounded` subsets."""
    bounded: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    left_out: Sequence[tuple[Array, NDArray[np.bool_]]] = ()
    """Of columns that are functions of others: the share by row, and on which subsets."""

    def unique(self, rows: Any, places: NDArray[Any]) -> Array:
        """P(unique in the population | unique in the table): subset x person.

        `places` are those of each person's class size among the sizes that occur.
        """
        by_class = np.broadcast_to(self.p_unique[:, None], places.shape)
        if self.share is None:
            return by_class.copy()
        beside = self._beside(self.share, rows)
        np.exp(np.negative(beside, out=beside), out=beside)
        return self._combined(beside, by_class, rows, which=0)

    def match(self, rows: Any, places: NDArray[Any], out: Array | None = None) -> Array:
        """E[1/F]: subset x person; written to `out` where it is given."""
        by_class = np.empty(places.shape) if out is None else out
        flat = self.flat
        for some in pieces(places):
            at = places[some] + flat.start[some, None]
            flat.match.take(at, out=by_class[some], mode="clip")
        if self.share is None:
            return by_class
        size = flat.size.take(places + flat.start[:, None])
        found = mean_inverse_beside(size, self._beside(self.share, rows))
        return self._combined(found, by_class, rows, which=1)

    def places(self, sizes: NDArray[np.uint32]) -> NDArray[np.uint16]:
        """Where each class size is among those that occur: subset x person."""
        found = np.empty(sizes.shape, dtype=np.uint16)
        for mask, own in enumerate(sizes):
            found[mask] = np.searchsorted(self.sizes[mask], own)
        return found

    @cached_property
    def flat(self) -> Flat:
        """The class sizes that occur and E[1/F] of them, subset after subset."""
        each = np.array([found.size for found in self.sizes])
        match = np.concatenate(self.p_match) if len(self.p_match) else np.empty(0)
        if len(match) < each.sum():  # on some subsets nothing is said by class size
            said = self.p_match or [np.empty(0)] * each.size
            pairs = zip(said, each, strict=True)
            match = np.concatenate([own if len(own) else np.full(n, np.nan) for own, n in pairs])
        return Flat(np.cumsum(each) - each, np.concatenate(self.sizes), match)

    def _beside(self, share: Array, rows: Any) -> Array:
        """How many people outside the table are expected to be like each person, by subset."""
        share = share[:, rows]
        expected = np.empty((1 << len(share), share.shape[1]))
        expected[0] = self.outside
        for j, known in enumerate(share):
            np.multiply(expected[: 1 << j], known, out=expected[1 << j : 2 << j])
        for own, subsets in self.left_out:
            expected[subsets] /= own[rows]
        return expected

    def _combined(self, found: Array, by_class: Array, rows: Any, *, which: int) -> Array:
        """By class size where the log-linear model does not speak, within bounds, on the floor."""
        found[~self.spread] = by_class[~self.spread]
        if self.bound is not None:
            some = self.spread & self.bounded
            found[some] = self.bound(found[some], by_class[some])
        if self.floor is not None:
            single = 1 << np.arange(len(self.floor[which]))
            found[single] = np.maximum(found[single], self.floor[which][:, rows])
        return found


@dataclass(frozen=True, eq=False)
class InOrder:
    """One number per subset as its rank among 0 and all of them: short, and in order alike."""

    values: Array
    rank: NDArray[Any]

    @classmethod
    def of(cls, numbers: Array) -> InOrder:
        order, place = np.unique(numbers, return_inverse=True)
        kind = np.uint16 if order.size < 1 << 16 else np.uint32
        return cls(np.concatenate((np.zeros(1), order)), (place + 1).astype(kind))

    def told(self, alone: NDArray[np.bool_], out: Array, *, raises: bool) -> Array:
        """What is said of those alone on each subset, made to agree if it `raises`; in `out`."""
        own = alone * self.rank[:, None]
        if raises:
            raise_to_parts(own)
        for some in pieces(own):
            self.values.take(own[some], out=out[some], mode="clip")
        return out


def pieces(table: NDArray[Any]) -> list[slice]:
    """Some subsets after others: what is looked up for them stays close to the processor."""
    step = max(1, AT_ONCE // max(1, table.shape[1]))
    return [slice(start, start + step) for start in range(0, len(table), step)]


@dataclass(frozen=True, eq=False)
class Flat:
    """Numbers by class size of all subsets in one array; a subset's begin at its start."""

    start: Ints
    size: Ints
    match: Array
