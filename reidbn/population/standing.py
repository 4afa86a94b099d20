"""For how many people those of each row stand, on every subset of columns: survey weights.

W of weights.py, the mean weight of those alike, is worked out by class while the classes are
counted: a class's sums and its values' effects say it of all its people at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge
from reidbn.microdata.rows import DistinctRows
from reidbn.microdata.slab import Subset, every_subset
from reidbn.population.margins import UNSEEN
from reidbn.population.weights import ToldByValues
from reidbn.progress import progress
from reidbn.theory.layer import FEW
from reidbn.theory.layers import SubsetLayers
from reidbn.theory.marginals import Marginals
from reidbn.theory.survey import individual_risk

Floats: TypeAlias = NDArray[np.float64]
Single: TypeAlias = NDArray[Any]  # in single precision
Ints: TypeAlias = NDArray[np.int64]

KNOTS = 7
MOST_PLACES = 1 << 28  # row x subset cells
TOGETHER = 1 << 20  # cells whose large classes are looked up at once


@dataclass(frozen=True, eq=False)
class Stands:
    """For how many people those of each row stand, on every subset, and what follows."""

    sizes: Floats
    """Knots of the population, were everybody of the table like one row."""
    own: Floats
    """For how many people those of each row stand, on average."""
    layers: tuple[SubsetLayers, ...]
    """What is said where everybody stands for that many."""
    place: Single
    """Where each row is between the knots: subset wanted x row."""
    of_large: bool
    """Whether, of classes of more than `FEW`, `place` is less than 0: minus E[1/F | f] itself."""

    def alike(self, rows: Ints) -> Floats:
        """For how many people those of each row stand: subset wanted x row."""
        beside = np.log(self.sizes / self.layers[0].n - 1)
        return 1 + np.exp(np.interp(self.place[:, rows], np.arange(len(self.sizes)), beside))


def between(place: Single, knots: int) -> tuple[Ints, Single]:
    """The knot before each place, and how far beyond it that is."""
    low = np.minimum(place.astype(np.int64), knots - 2)
    return low, place - low.astype(np.float32)


@dataclass(eq=False)
class _OnSubset:
    """W - 1 on a subset: of its classes, and of those who are alone and left."""

    out: Single
    """By distinct row; filled in at last."""
    subset: Subset
    ids: Ints
    """The class of each row that is kept."""
    left: Ints
    by_class: Floats
    alone: Floats
    people: Floats
    """By class."""
    large: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Classes of more than `FEW`, where they are told apart."""

    def fill(self, match: Floats) -> None:
        """`match` is E[1/F | f] of the large classes."""
        self.by_class[self.large] = -match
        own, values = self.subset, self.by_class.take(self.ids)
        if own.kept is not None:
            everybody = np.empty(own.merged)
            everybody[own.kept], everybody[self.left] = values, self.alone
            values = everybody
        self.out[:] = values if own.of_row is None else values.take(own.of_row)


def places(
    marginals: Marginals, rows: DistinctRows, weights: Floats, *, of_large: bool
) -> tuple[Floats, Single]:
    """Knots of n W and where each row is between them, as in `Stands`."""
    if len(marginals.wanted) * rows.rows > MOST_PLACES:
        raise TooLarge(
            f"survey weights of {rows.rows:,} distinct people on {len(marginals.wanted):,} subsets "
            f"are more than {MOST_PLACES:,} numbers; join attributes that are learnt together, "
            f'leave attributes out with without=["..."], or ask benedetti-franconi'
        )
    told = ToldByValues.of(weights, rows.of_record, marginals.rows.codes, rows.people)
    place = np.empty((len(marginals.wanted), rows.rows), dtype=np.float32)
    least, waiting, low, high = UNSEEN / rows.total, list[_OnSubset](), np.inf, 0.0
    for found in _each(marginals, rows, told, least, place):
        ends = (found.by_class, found.alone)
        low = min(low, *(float(v.min(initial=np.inf)) for v in ends))
        high = max(high, *(float(v.max(initial=0.0)) for v in ends))
        found.large = np.flatnonzero(found.people > FEW) if of_large else found.large
        waiting.append(found)
        if len(waiting) * rows.rows > TOGETHER:
            _fill(waiting)
            waiting.clear()
    _fill(waiting)
    steps = np.geomspace(low, high, KNOTS if low < high else 2)
    per_step = (len(steps) - 1) / np.log(high / low) if low < high else 0.0
    for own in place:
        some = np.flatnonzero(own > 0)
        told_of = np.log(own.take(some))
        told_of -= np.float32(np.log(low))
        told_of *= np.float32(per_step)
        own[some] = np.clip(told_of, 0, len(steps) - 1, out=told_of)
    return np.asarray(rows.total * (1 + steps)), place


def _each(
    marginals: Marginals, rows: DistinctRows, told: ToldByValues, least: float, place: Single
) -> Iterator[_OnSubset]:
    """The subsets that are wanted, one after the other."""
    at = dict(zip(marginals.wanted.tolist(), place, strict=True))
    joined, merged = None, told.held
    for subset in progress(every_subset(rows), "survey weights", total=1 << rows.groups):
        if subset.mask not in at:
            continue
        if subset.of_row is not joined:
            joined = subset.of_row
            merged = told.held if joined is None else told.held.by(joined, subset.merged)
        present = np.flatnonzero(subset.people)
        number = np.zeros(len(subset.people), dtype=np.int64)
        number[present] = np.arange(len(present))
        ids = number.take(subset.ids)
        kept, left = merged, np.zeros(0, dtype=np.int64)
        if subset.kept is not None:
            kept, gone = merged.some(subset.kept), np.ones(subset.merged, dtype=np.bool_)
            gone[subset.kept] = False
            left = np.flatnonzero(gone)
        classes = kept.by(ids, len(present))
        each = told.alike(marginals.attributes(subset.mask), classes, merged.some(left))
        by_class, alone = (np.maximum(w - 1, least) for w in each)
        yield _OnSubset(at[subset.mask], subset, ids, left, by_class, alone, classes.people)


def _fill(waiting: Sequence[_OnSubset]) -> None:
    """Write what was found of some subsets."""
    size = [found.people.take(found.large) for found in waiting]
    beside = [found.by_class.take(found.large) for found in waiting]
    ends = np.cumsum([len(own) for own in size])[:-1]
    f = np.concatenate([np.zeros(0), *size])
    match = individual_risk(f, f * (1 + np.concatenate([np.zeros(0), *beside])))
    for found, own in zip(waiting, np.split(np.asarray(match), ends), strict=True):
        found.fill(own)
