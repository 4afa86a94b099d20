"""Frequencies of frequencies: how many classes there are of each size, one table or many.

All that Pitman's likelihood needs of a table is f_j, the number of classes of size j.  `Packed`
holds many tables at once, ragged, so that thousands are fitted together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.errors import DataError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

LARGEST = 1e15
STEPS = 15  # classes up to this size + 1 are summed step by step, larger ones by a series


@dataclass(frozen=True, eq=False)
class FrequencyTable:
    """Checked frequencies of frequencies: f_j = `counts[i]` classes of size j = `sizes[i]`."""

    sizes: Ints
    counts: Ints

    @classmethod
    def of(cls, sizes: ArrayLike, counts: ArrayLike) -> FrequencyTable:
        """Check, drop empty sizes, merge repeated ones and sort.

        >>> FrequencyTable.of([2, 1, 3], [4, 7, 0])
        FrequencyTable(n=15, classes=11, f1=7)
        """
        j, f = _whole(sizes, "sizes"), _whole(counts, "counts")
        if j.shape != f.shape or j.ndim != 1:
            raise DataError(f"{j.size} sizes and {f.size} counts; need one count for each size")
        if (j < 1).any() or (f < 0).any():
            raise DataError("a size is below 1 or a count below 0; sizes start at 1, counts at 0")
        j, f = j[f > 0], f[f > 0]
        if j.size == 0:
            raise DataError("no class at all; need at least one size with a count above 0")
        if (np.diff(j) <= 0).any():
            j, place = np.unique(j, return_inverse=True)
            f = np.bincount(place, weights=f).astype(np.int64)
        return cls(j, f)

    @property
    def n(self) -> int:
        """People in the table."""
        return int(self.sizes @ self.counts)

    @property
    def classes(self) -> int:
        """Distinct rows, u."""
        return int(self.counts.sum())

    @property
    def uniques(self) -> int:
        """Rows that occur once, f_1."""
        return self.of_size(1)

    def of_size(self, j: int) -> int:
        """Classes of size j, f_j."""
        place = int(np.searchsorted(self.sizes, j))
        found = place < self.sizes.size and self.sizes[place] == j
        return int(self.counts[place]) if found else 0

    def __repr__(self) -> str:
        return f"FrequencyTable(n={self.n}, classes={self.classes}, f1={self.uniques})"


@dataclass(frozen=True, eq=False)
class Packed:
    """Many tables, as the likelihood reads them."""

    n: Floats
    classes: Floats
    uniques: Floats
    above: Floats
    """Tables x STEPS: how many classes are larger than 1, 2, ..., STEPS."""
    tail_sizes: Floats
    """Sizes above STEPS + 1 of all tables, one after the other."""
    tail_counts: Floats
    tail_row: Ints
    tail_classes: Floats
    """How many such classes each table has."""

    def __len__(self) -> int:
        return int(self.n.size)

    @classmethod
    def of(cls, tables: Sequence[FrequencyTable]) -> Packed:
        lengths = np.array([table.sizes.size for table in tables])
        sizes = np.concatenate([table.sizes for table in tables])
        counts = np.concatenate([table.counts for table in tables])
        return cls.ragged(sizes, counts, np.repeat(np.arange(len(tables)), lengths), len(tables))

    @classmethod
    def ragged(cls, sizes: Ints, counts: Ints, row: Ints, tables: int) -> Packed:
        """From sizes and counts of all tables in a row, and which table each belongs to."""
        j, f = sizes.astype(np.float64), counts.astype(np.float64)
        n = _total(row, j * f, tables)
        width = STEPS + 2
        cell = row * (width + 1) + np.minimum(sizes, width)
        by_size = _total(cell, f, tables * (width + 1)).reshape(tables, width + 1)
        upto = np.cumsum(by_size, axis=1, dtype=np.float64)
        tail = sizes > STEPS + 1
        return cls(
            n=n,
            classes=upto[:, -1],
            uniques=by_size[:, 1],
            above=upto[:, -1:] - upto[:, 1:-2],
            tail_sizes=j[tail],
            tail_counts=f[tail],
            tail_row=row[tail],
            tail_classes=by_size[:, -1],
        )

    def take(self, rows: Ints) -> Packed:
        """Some of the tables, in this order, each at most once."""
        place = np.full(len(self), -1)
        place[rows] = np.arange(rows.size)
        tail = np.flatnonzero(place[self.tail_row] >= 0)
        tail = tail[np.argsort(place[self.tail_row[tail]], kind="stable")]
        return Packed(
            self.n[rows], self.classes[rows], self.uniques[rows], self.above[rows],
            self.tail_sizes[tail], self.tail_counts[tail], place[self.tail_row[tail]],
            self.tail_classes[rows],
        )  # fmt: skip

    def tail_sum(self, values: Floats) -> Floats:
        """Sum of count x value over each table's large classes."""
        if len(self) == 1:
            return np.array([values @ self.tail_counts])
        return _total(self.tail_row, values * self.tail_counts, len(self))


def _total(place: Ints, values: Floats, length: int) -> Floats:
    """Sum of the values that fall in each place."""
    return np.bincount(place, weights=values, minlength=length).astype(np.float64, copy=False)


def _whole(values: ArrayLike, name: str) -> Ints:
    given = np.asarray(values)
    if given.dtype.kind not in "iuf" or not (np.floor(given) == given).all():
        raise DataError(f"{name} hold something that is not a whole number; need counts of people")
    if given.size and not abs(given).max() <= LARGEST:
        raise DataError(f"{name} hold a number beyond {LARGEST:.0e}; need counts of people")
    return np.asarray(given, dtype=np.int64)


def numbered(lengths: Ints) -> Ints:
    """0, 1, ... within each of runs of these lengths.

    >>> numbered(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
