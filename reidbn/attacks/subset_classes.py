"""Class sizes of every person on every subset of groups: the subject data that attacks ask for.

People who are alike on all the groups share one row.  The table is laid out subset by subset
(that is how partitions are counted) and handed out as people x subsets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge
from reidbn.microdata.classes import Frequencies
from reidbn.microdata.lattice import distinct_rows, refuse_many
from reidbn.microdata.slab import every_subset
from reidbn.microdata.table import People
from reidbn.progress import progress

MEMORY = 2 * 2**30  # bytes that the table of class sizes may take
REMEDY = (
    "join attributes that are learnt together, generalise (fewer distinct people), leave "
    'attributes out with without=["..."]'
)
SOME = (
    ", or ask about some people with individuals=1000: classes are still counted among all. Do not "
    "assess a part of the table, in which every class is smaller than it is"
)


@dataclass(frozen=True, eq=False)
class SubsetClasses:
    """`sizes[mask, row]`: how many people match a distinct row on the groups of the mask."""

    groups: tuple[tuple[str, ...], ...]
    sizes: NDArray[np.uint32]
    of_person: NDArray[np.intp]
    frequencies: tuple[Frequencies, ...]
    """Of the classes on each subset, for population fits."""
    occurring: tuple[NDArray[np.int64], ...]
    """The sizes in `sizes` on each subset, each once."""
    is_partition: bool
    records: int
    """People in the table, among whom the classes were counted."""

    @property
    def rows(self) -> int:
        return int(self.sizes.shape[1])

    @property
    def people(self) -> int:
        """Those asked about: everybody, or the individuals named."""
        return len(self.of_person)


def subset_classes(
    people: People, groups: Sequence[tuple[str, ...]], individuals: NDArray[np.int64] | None = None
) -> SubsetClasses:
    """Count the classes of everybody, or of some individuals, on every union of the groups.

    Classes are counted among all people either way: a part of them would make each class smaller.
    """
    refuse_many(len(groups), remedy=REMEDY[0].upper() + REMEDY[1:])
    columns = [c for group in groups for c in group]
    partition = not any(people.column(c).relation is not None for c in columns)
    if partition and people.is_columnwise:
        return _by_partition(people, groups, individuals)
    return _by_matching(people, groups, individuals)


def _refuse_memory(rows: int, groups: int) -> None:
    if rows * 4 * (1 << groups) > MEMORY:
        need = rows * 4 * (1 << groups) / 2**30
        raise TooLarge(
            f"class sizes of {rows:,} distinct people on 2^{groups} subsets need {need:.1f} GB and "
            f"the limit is {MEMORY / 2**30:.0f} GB; {REMEDY}{SOME}"
        )


def _by_partition(
    people: People, groups: Sequence[tuple[str, ...]], individuals: NDArray[np.int64] | None
) -> SubsetClasses:
    ids = [people.class_ids(list(group)) for group in groups]
    codes = np.asfortranarray(np.column_stack([i.astype(np.int32) for i, _ in ids]))
    rows = distinct_rows(codes, [count for _, count in ids])
    followed, of_person = np.arange(rows.counts.size), rows.of_record
    if individuals is not None:
        followed, of_person = np.unique(rows.of_record[individuals], return_inverse=True)
    _refuse_memory(followed.size, len(groups))
    sizes = np.empty((1 << len(groups), followed.size), dtype=np.uint32)
    frequencies: list[Frequencies | None] = [None] * len(sizes)
    total = 1 << len(groups)
    for subset in progress(every_subset(rows), "classes on every subset", total=total):
        own = subset.row_sizes
        sizes[subset.mask] = own if individuals is None else own[followed]
        frequencies[subset.mask] = _class_frequencies(own, rows.counts)
    done = tuple(f for f in frequencies if f is not None)
    occurring = tuple(f.sizes for f in done)
    return SubsetClasses(
        tuple(groups), sizes, of_person, done, occurring, is_partition=True, records=len(people)
    )


def _class_frequencies(sizes: NDArray[np.int64], people: NDArray[np.int64]) -> Frequencies:
    """How many classes there are of each size, from the class size and people of each row."""
    alike = np.bincount(sizes, weights=people).astype(np.int64)
    values = np.flatnonzero(alike)
    return Frequencies(values, alike[values] // values)


def _by_matching(
    people: People, groups: Sequence[tuple[str, ...]], individuals: NDArray[np.int64] | None
) -> SubsetClasses:
    """Where a value may match several (or histories compare whole), subset by subset.

    Match counts are no class sizes, so population fits get the classes of the values as written.
    """
    asked = np.arange(len(people)) if individuals is None else individuals
    _refuse_memory(asked.size, len(groups))
    total = 1 << len(groups)
    sizes = np.empty((total, asked.size), dtype=np.uint32)
    written = people.as_written()
    frequencies, occurring = [], []
    for mask in progress(range(total), "matches on every subset"):
        known = [c for j, group in enumerate(groups) if mask >> j & 1 for c in group]
        matched = people.class_sizes(known)
        sizes[mask] = matched[asked]
        occurring.append(np.unique(matched).astype(np.int64))
        frequencies.append(written.frequencies(known))
    columns = [c for group in groups for c in group]
    partition = not any(people.column(c).relation is not None for c in columns)
    return SubsetClasses(
        tuple(groups), sizes, np.arange(asked.size), tuple(frequencies), tuple(occurring),
        partition, len(people),
    )  # fmt: skip
