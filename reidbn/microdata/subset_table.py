"""The table of subsets: classes, uniques, prior and posterior vulnerability, largest class.

Ways to the same numbers: the walk over the lattice where codes of groups are enough; one
partition after the other where people carry survey weights or only small subsets are wanted;
match masks or one question per subset where matching is not equality or histories are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from reidbn.errors import TooLarge, UsageError
from reidbn.microdata.classes import Floats, Ints
from reidbn.microdata.knowledge import (
    Knowledge,
    group_rows,
    is_product,
    overlaps,
    reading_order,
)
from reidbn.microdata.lattice import DistinctRows, refuse_many
from reidbn.microdata.masks import class_size_chunks
from reidbn.microdata.slab import every_subset
from reidbn.microdata.table import People
from reidbn.microdata.walk import Walk

if TYPE_CHECKING:
    import pandas as pd

MOST_SUBSETS = 1 << 20
Progress = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class SubsetCounts:
    """One entry per visited subset, from the people's class sizes a and survey weights w."""

    masks: Ints
    uniques: Ints
    largest: Ints
    inverses: Floats
    """sum 1/a: the number of classes, where classes part the people."""
    weighted: Floats
    """sum w/a over sum w."""


@dataclass
class SubsetTally:
    """Subsets counted one by one."""

    entries: list[tuple[int, int, int, float, float]] = field(default_factory=list)

    def add(self, mask: int, sizes: Ints, people: Ints, weights: Floats | None) -> None:
        """Count one subset from distinct rows: class size, people and survey weight of each."""
        inverse = 1.0 / sizes
        total = float(people @ inverse)
        mean = total / int(people.sum())
        if weights is not None:
            mean = float(weights @ inverse) / float(weights.sum())
        uniques = int(np.count_nonzero(sizes == 1))
        self.entries.append((mask, uniques, int(sizes.max()), total, mean))

    def counted(self) -> SubsetCounts:
        masks, uniques, largest, inverses, weighted = zip(*self.entries, strict=True)
        return SubsetCounts(
            np.array(masks, dtype=np.int64),
            np.array(uniques, dtype=np.int64),
            np.array(largest, dtype=np.int64),
            np.array(inverses),
            np.array(weighted),
        )


def subset_table(
    people: People, what: Knowledge, *, most: int | None = None, progress: Progress | None = None
) -> pd.DataFrame:
    """Every non-empty subset of the groups (of at most `most`), small ones first."""
    if what.groups == 0:
        raise UsageError("there is no group of columns to know; name at least one")
    if most is not None and most < 1:
        raise UsageError(f"most = {most}; subsets of at least one group are wanted")
    counted = _counted(people, what, most, progress)
    return tidy(what, counted, records=len(people), parted=not overlaps(people, what))


def tidy(
    what: Knowledge, counted: SubsetCounts, *, records: int, parted: bool = True
) -> pd.DataFrame:
    """The counts as a table, in reading order."""
    import pandas as pd

    order = reading_order(counted.masks, what.groups)
    masks = counted.masks[order]
    whole = np.rint(counted.inverses[order]).astype(np.int64)
    # Where values may match several others there are no classes to count.
    unknown = np.ones(masks.size, dtype=bool)
    classes = whole if parted else pd.arrays.IntegerArray(whole, unknown)
    chance = {}
    if what.stated and what.is_shared and what.probabilities.size:
        chance["chance"] = what.chances(masks)
    return pd.DataFrame(
        {
            "subset": pd.Series([what.subset(mask) for mask in masks.tolist()], dtype=object),
            "size": np.bitwise_count(masks).astype(np.int64),
            **chance,
            "classes": classes,
            "uniques": counted.uniques[order],
            "prior": np.full(masks.size, 1 / records),
            "posterior": counted.inverses[order] / records,
            "mean_inverse": counted.weighted[order],
            "largest": counted.largest[order],
        }
    )


def _counted(
    people: People, what: Knowledge, most: int | None, progress: Progress | None
) -> SubsetCounts:
    product = is_product(people, what)
    if most is None or most >= what.groups:
        refuse_many(what.groups)
        if product and people.weights is None:
            return walked(group_rows(people, what), progress)
        if not product:
            return _in_chunks(people, what, progress)
    number = sum(comb(what.groups, size) for size in range(1, (most or what.groups) + 1))
    if number > MOST_SUBSETS:
        raise TooLarge(
            f"{number} subsets of at most {most} of {what.groups} groups; "
            f"choose a smaller most= (at most {MOST_SUBSETS} subsets are counted)"
        )
    if product:
        return _parted(people, what, most, progressing(progress, number))
    chosen = (
        sum(1 << j for j in some)
        for size in range(1, min(most or what.groups, what.groups) + 1)
        for some in combinations(range(what.groups), size)
    )
    return asked(people, what, chosen, progressing(progress, number))


def progressing(progress: Progress | None, number: int) -> Iterator[None]:
    """Reports the share done each time it is advanced."""
    for done in range(number + 1):
        if progress is not None and done:
            progress(done / number)
        yield


def walked(rows: DistinctRows, progress: Progress | None) -> SubsetCounts:
    """All subsets by one walk over the lattice."""
    walk = Walk(rows, progress=progress)
    walk.run()
    classes = walk.classes[1:].astype(np.float64)
    masks = np.arange(1, classes.size + 1)
    return SubsetCounts(masks, walk.uniques[1:], walk.largest[1:], classes, classes / rows.records)


def _parted(
    people: People, what: Knowledge, most: int | None, steps: Iterator[None]
) -> SubsetCounts:
    rows = group_rows(people, what)
    weights: Floats | None = None
    if people.weights is not None:
        weights = np.bincount(rows.of_record, people.weights).astype(np.float64, copy=False)
    return parted(rows, most, steps, weights)


def parted(
    rows: DistinctRows, most: int | None, steps: Iterator[None], weights: Floats | None = None
) -> SubsetCounts:
    """Subsets counted by their slabs, one after the other; weights are per distinct row."""
    tally = SubsetTally()
    for subset in every_subset(rows, most=most):
        next(steps, None)
        if subset.mask:
            tally.add(subset.mask, subset.row_sizes, rows.counts, weights)
    return tally.counted()


def asked(
    people: People, what: Knowledge, masks: Iterable[int], steps: Iterator[None]
) -> SubsetCounts:
    """Subsets counted by asking the people for their class sizes, one subset after the other."""
    ones = np.ones(len(people), dtype=np.int64)
    tally = SubsetTally()
    for mask in masks:
        next(steps, None)
        tally.add(mask, people.class_sizes(what.known_columns(mask)), ones, people.weights)
    return tally.counted()


def _in_chunks(people: People, what: Knowledge, progress: Progress | None) -> SubsetCounts:
    subsets = 1 << what.groups
    uniques, largest = np.zeros((2, subsets), dtype=np.int64)
    inverses, weighted = np.zeros((2, subsets))
    weights = np.ones(len(people)) if people.weights is None else people.weights
    for records, sizes in class_size_chunks(people, what):
        uniques += np.count_nonzero(sizes == 1, axis=0)
        np.maximum(largest, sizes.max(axis=0), out=largest)
        inverses += (1.0 / sizes).sum(axis=0)
        weighted += weights[records] @ (1.0 / sizes)
        if progress is not None:
            progress(records.stop / len(people))
    masks = np.arange(1, subsets)
    mean = weighted[1:] / weights.sum()
    return SubsetCounts(masks, uniques[1:], largest[1:], inverses[1:], mean)
