"""Visit every subset with its partition: the class of each distinct row, and the class sizes.

For measures that need to know who is in which class (attribute disclosure, minimal uniques);
for measures of class sizes alone the walk (walk.py) is faster.  Depth first
over the subsets: adding group j splits each class by j's code,

    label' = label * cardinality_j + code_j                                       (1)

renumbered only when the numbers would spread out, so one count of integers does each subset.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reidbn.microdata.classes import Ints, class_ids
from reidbn.microdata.lattice import Array, Rows, refuse_many

_SPREAD = 8  # labels per row that are still counted without sorting


@dataclass(frozen=True, eq=False)
class Partition:
    """The classes of the distinct rows on one subset of the groups.

    `labels[row]` is the row's class and `sizes[label]` its number of people; some labels may stand
    for nobody (size 0).
    """

    subset: int
    labels: Ints
    sizes: Ints

    @property
    def row_sizes(self) -> Ints:
        """The class size of each distinct row."""
        return self.sizes[self.labels]

    @property
    def classes(self) -> int:
        return int(np.count_nonzero(self.sizes))


def partitions(rows: Rows, *, most: int | None = None) -> Iterator[Partition]:
    """Every subset of at most `most` groups with its partition; the empty subset comes first.

    >>> from reidbn.microdata.lattice import distinct_rows
    >>> rows = distinct_rows(np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32), (2, 2))
    >>> [(p.subset, p.classes) for p in partitions(rows)]
    [(0, 1), (1, 2), (3, 3), (2, 2)]
    """
    left = rows.groups if most is None else min(most, rows.groups)
    if left == rows.groups:
        refuse_many(rows.groups)
    counts = None if bool((rows.counts == 1).all()) else rows.counts.astype(np.float64)
    everybody = np.zeros(rows.counts.size, dtype=np.int64)
    root = Partition(0, everybody, np.array([rows.records]))
    yield from _below(rows, counts, root, 0, left)


def refine(rows: Rows, partition: Partition, group: int) -> Partition:
    """The partition with one more group known."""
    counts = rows.counts.astype(np.float64)
    return _refine(rows, counts, _packed(partition), group)


def _below(
    rows: Rows, counts: Array | None, partition: Partition, place: int, left: int
) -> Iterator[Partition]:
    yield partition
    if left == 0 or place == rows.groups:
        return
    packed = _packed(partition)
    for further in range(place, rows.groups):
        finer = _refine(rows, counts, packed, rows.order[further])
        yield from _below(rows, counts, finer, further + 1, left - 1)


def _refine(rows: Rows, counts: Array | None, packed: Partition, group: int) -> Partition:
    cardinality, codes = rows.cardinalities[group], rows.codes[group]
    domain = packed.sizes.size * cardinality
    if domain <= max(_SPREAD * codes.size, 1 << 12):
        labels = packed.labels * cardinality
        labels += codes
    else:
        pair = np.stack((packed.labels, codes), axis=1)
        labels, domain = class_ids(pair, (packed.sizes.size, cardinality))
    sizes = np.bincount(labels, weights=counts, minlength=domain)
    whole = sizes if sizes.dtype == np.int64 else sizes.astype(np.int64)
    return Partition(packed.subset | 1 << group, labels, whole)


def _packed(partition: Partition) -> Partition:
    """The same partition without labels that stand for nobody."""
    present = partition.sizes > 0
    if np.count_nonzero(present) == present.size:
        return partition
    rank = np.cumsum(present) - 1
    return Partition(partition.subset, rank[partition.labels], partition.sizes[present])
