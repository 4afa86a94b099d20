"""Sums over the subsets of what is known, person by person, from as few walks as they span.

For weights w of the subsets Y and a function a of the size f of a person's class on Y,

    sum_Y w(Y) (a(f on Y) + b P(unique on Y) 1(f on Y = 1))

is a walk over the lattice of subsets (microdata/lattice.py) for a, and a pass of
`SubsetPopulation.expected` for b; both are linear in w and in a.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from reidbn.attacks.routes.counts import SubsetClasses
from reidbn.attacks.routes.population import SubsetPopulation
from reidbn.microdata.lattice import Gather, Walk

Array = NDArray[np.float64]
ROUNDING = 1e-13
CANCELS = 100.0  # how much larger than their sum multiples may be
KEPT = 1 << 27  # bytes of sums that are kept for the next question
DENSE = 1 << 22  # class sizes up to which a number each is looked up directly


@dataclass(frozen=True, eq=False)
class SubsetSum:
    """One question as (1): weights of the subsets, a(f) of every class size that occurs, and b."""

    weights: Array
    base: Array
    gain: float


class Sums:
    """Sums over subsets of every distinct row, walked for once and put together as they are asked.

    Weights and functions of class size that are combinations of those that were walked for cost no
    walk: a parameter in a table moves them along a line.
    """

    def __init__(self, classes: SubsetClasses, population: SubsetPopulation | None) -> None:
        self.classes, self.population = classes, population
        self.sizes = np.unique(np.concatenate(classes.occurring))
        self._weights: list[Array] = []
        self._bases = [np.ones(self.sizes.size)]
        self._walked: dict[tuple[int, int], Array] = {}
        self._unique: dict[int, Array] = {}

    def values(self, sums: Sequence[SubsetSum], match: Array | None = None) -> list[Array]:
        """The sum of every distinct row; last, with `match`, that of E[1/F]."""
        if len(self._walked) + len(self._unique) > KEPT // (8 * self.classes.rows):
            self._weights, self._walked, self._unique = [], {}, {}
            del self._bases[1:]
        if match is not None:
            _shares(match, self._weights)
        placed = [
            (s, _shares(s.weights, self._weights), _shares(s.base, self._bases)) for s in sums
        ]
        wanted = {(k, j) for _, one, of in placed for k in one for j in of if j}
        for k in sorted({k for k, _ in wanted}):
            self._walk(k, sorted(j for kind, j in wanted if kind == k))
        rising = sorted({k for s, one, _ in placed if s.gain for k in one})
        matched = self._ask_the_population(rising, match)
        out = []
        for s, one, of in placed:
            values = np.full(self.classes.rows, of.get(0, 0.0) * s.weights.sum())
            for k, part in one.items():
                for j, times in of.items():
                    if j:
                        values += part * times * self._walked[k, j]
                if s.gain and k in self._unique:
                    values += part * s.gain * self._unique[k]
            out.append(values)
        return out if matched is None else [*out, matched]

    def _walk(self, k: int, bases: Sequence[int]) -> None:
        """sum_Y weights[Y] a(size on Y) of every row, for several a."""
        new = [j for j in bases if (k, j) not in self._walked]
        if not new:
            return
        rows = self.classes.distinct
        assert rows is not None  # noqa: S101 - looked at before
        gathers = [_gather(self.sizes, self._bases[j], self._weights[k]) for j in new]
        found = Walk(replace(rows, of_record=np.arange(rows.rows)), gathers).run()
        some = self.classes.followed
        for j, values in zip(new, found, strict=True):
            self._walked[k, j] = values if some is None else values[some]

    def _ask_the_population(self, kinds: Sequence[int], match: Array | None) -> Array | None:
        """The sums of P(unique in the population) that are not there yet; E[1/F] with `match`."""
        new = sorted({*kinds} - {*self._unique})
        if self.population is None or not (new or match is not None):
            return None
        weights = [self._weights[k] for k in new]
        if match is not None and not (new and weights[0] is match):
            weights = [match, *weights]
        unique, matched = self.population.expected(np.stack(weights), match=match is not None)
        self._unique.update(zip(new, unique[len(weights) - len(new) :], strict=True))
        return matched if match is not None else None


class Means:
    """The means of such sums over the people, from how many classes of each size there are."""

    def __init__(
        self, classes: SubsetClasses, population: SubsetPopulation | None, sizes: NDArray[np.int64]
    ) -> None:
        self.classes, self.population, self.sizes = classes, population, sizes

    @property
    def are_known(self) -> bool:
        """Where everybody is asked about, and nobody is told more than the subset says."""
        told = self.population is None or (
            self.population.finer is None and self.population.classes is self.classes
        )
        return self.classes.followed is None and told

    @cached_property
    def _alone(self) -> Array:
        """P(alone, and unique in the population), by subset."""
        uniques = np.array([f.uniques for f in self.classes.frequencies])
        told = np.zeros(1) if self.population is None else self.population.p_unique
        return np.asarray(uniques * told / self.classes.records)

    @cached_property
    def _shares(self) -> csr_array:
        """The share of people in a class of each size, subset x size."""
        found = self.classes.frequencies
        at = np.searchsorted(self.sizes, np.concatenate([f.sizes for f in found]))
        people = np.concatenate([f.sizes * f.counts for f in found]) / self.classes.records
        starts = np.cumsum([0, *(f.sizes.size for f in found)])
        return csr_array((people, at, starts), shape=(len(found), self.sizes.size))

    def values(self, sums: Sequence[SubsetSum]) -> list[Array]:
        return [
            np.atleast_1d(s.weights @ (self._shares @ s.base + s.gain * self._alone)) for s in sums
        ]


def _shares(array: Array, span: list[Array]) -> dict[int, float]:
    """An array as multiples of some, by place; it becomes one where it cannot be told by them.

    Nor where the multiples would cancel: the sum would lose what they have in common.
    """
    for place, other in enumerate(span):
        if np.array_equal(array, other):
            return {place: 1.0}
    if span:
        columns = np.stack(span, axis=1)
        share = np.linalg.lstsq(columns, array, rcond=None)[0]
        off = np.abs(columns @ share - array)
        size = np.abs(share) @ np.abs(columns).max(axis=0)
        if off.sum() <= ROUNDING / 10 and size <= CANCELS * np.abs(array).max():
            return {place: float(times) for place, times in enumerate(share) if times}
    span.append(array)
    return {len(span) - 1: 1.0}


def _gather(sizes: NDArray[np.int64], base: Array, weights: Array) -> Gather:
    """The values of one function of class size."""
    largest = int(sizes[-1])
    dense = np.zeros(largest + 1) if largest <= DENSE else None
    if dense is not None:
        dense[sizes] = base

    def values(block: Any) -> Array:
        if dense is not None:
            found = dense.take(block.cells)
        else:
            found = base.take(np.minimum(np.searchsorted(sizes, block.cells), sizes.size - 1))
        return np.asarray(found * weights[block.masks][:, None])

    return Gather(values, weights * (base[0] if sizes[0] == 1 else 0.0))
