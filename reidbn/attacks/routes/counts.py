"""Class sizes of every person on every subset of groups: the subject data that attacks ask for.

People who are alike on all the groups share one row.  A number per row and subset is only kept
where somebody asks for all of them (`sizes`); the rest takes some rows at a time (`tiles`), with
class sizes as their places among the sizes that occur: a byte each, or two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge
from reidbn.microdata.classes import frequencies_of, some_of, totals
from reidbn.microdata.lattice import refuse_many
from reidbn.microdata.rows import DistinctRows, distinct_rows
from reidbn.microdata.slab import every_subset, sizes_of_rows
from reidbn.microdata.subsets import frequencies_of_rows
from reidbn.microdata.table import People
from reidbn.progress import progress
from reidbn.theory.frequencies import FrequencyTable

MEMORY = 2 * 2**30  # bytes that the table of class sizes may take
TILE = 1 << 29  # bytes of class sizes that are looked at together
HALVED = 1 << 27  # bytes above which a second walk costs less than their memory
REMEDY = (
    "join attributes that are learnt together, generalise (fewer distinct people), leave "
    'attributes out with without=["..."]'
)
SOME = (
    ", or ask about some people with individuals=1000: classes are still counted among all. Do not "
    "assess a part of the table, in which every class is smaller than it is"
)

Ints = NDArray[np.int64]
Places = NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class SubsetClasses:
    """How many people match each distinct row on each union of the groups."""

    groups: tuple[tuple[str, ...], ...]
    of_person: NDArray[np.intp]
    """The distinct row of each person asked about."""
    frequencies: tuple[FrequencyTable, ...]
    """Of the classes on each subset, for population fits."""
    occurring: tuple[Ints, ...]
    """The class sizes on each subset, each once, in order."""
    is_partition: bool
    records: int
    """People in the table, among whom the classes were counted."""
    rows: int
    """Distinct rows asked about."""
    distinct: DistinctRows | None = None
    """All distinct rows, where people fall into classes."""
    followed: Ints | None = None
    """Which of these are asked about; None: all."""
    matched: NDArray[np.uint32] | None = None
    """`sizes`, where a value may match several others."""
    counts: Ints | None = None
    """How many people each entry of `of_person` is, where they were counted as cells."""

    @cached_property
    def persons(self) -> NDArray[np.float64]:
        """How many of those asked about each distinct row is."""
        return totals(self.of_person, self.counts, self.rows)

    @property
    def some(self) -> Ints:
        """One of those asked about for each distinct row."""
        return some_of(self.of_person, self.rows)

    def on_column(self, people: People, column: str) -> tuple[Ints, FrequencyTable]:
        """On one column: the class size of each entry of the table, and how many of each size."""
        if self.counts is None:
            return people.class_sizes([column]), as_fitted(people).frequencies([column])
        ids, count = people.class_ids([column])
        sizes = totals(ids, self.counts, count).astype(np.int64)
        return sizes[ids], frequencies_of(sizes)

    @property
    def subsets(self) -> int:
        return 1 << len(self.groups)

    @property
    def people(self) -> int:
        """Those asked about: everybody, or the individuals named."""
        return len(self.of_person)

    @cached_property
    def sizes(self) -> NDArray[np.uint32]:
        """`sizes[mask, row]`: how many people match a distinct row on the groups of the mask."""
        if self.distinct is None:
            assert self.matched is not None  # noqa: S101 - one of the two is there
            return self.matched
        refuse_memory(self.rows, len(self.groups))
        found = np.empty((self.subsets, self.rows), dtype=np.uint32)
        for s in self._every("classes on every subset"):
            found[s.mask] = s.spread(s.sizes.astype(np.uint32), 1, self._some(slice(None)))
        return found

    def sizes_of(self, rows: NDArray[np.intp]) -> NDArray[np.uint32]:
        """The columns of `sizes` of some rows."""
        if self.distinct is None or "sizes" in self.__dict__:
            everybody = np.array_equal(rows, np.arange(self.rows))
            return self.sizes if everybody else self.sizes[:, rows]
        return sizes_of_rows(
            self.distinct, rows if self.followed is None else self.followed[rows]
        ).T

    def tiles(self) -> Iterator[Tile]:
        """All rows, as many at a time as fit; where people fall into classes.

        Tiles take turns in one place: a tile holds until the next one is asked for.
        """
        wide = np.array([found.size > 1 << 8 for found in self.occurring])
        width = int(wide.size + wide.sum())
        step = min(self.rows, max(1, TILE // width))
        tiles = max(-(-self.rows // step), 1 + (self.rows * width > HALVED))
        step = -(-self.rows // tiles)  # as many in each
        low = np.empty((int((~wide).sum()), step), dtype=np.uint8)
        high = np.empty((int(wide.sum()), step), dtype=np.uint16)
        for start in range(0, self.rows, step):
            rows = slice(start, min(start + step, self.rows))
            some = slice(0, rows.stop - start)
            tile = Tile(rows, wide, low[:, some], high[:, some])
            self._fill(tile)
            yield tile

    def _fill(self, tile: Tile) -> None:
        wide, low, high = tile.wide, tile.low, tile.high
        at = np.where(wide, np.cumsum(wide), np.cumsum(~wide)) - 1
        some = self._some(tile.rows)
        for s in self._every("class sizes of every person"):
            out = (high if wide[s.mask] else low)[at[s.mask]]
            occurring = self.occurring[s.mask]
            place = np.zeros(int(occurring[-1]) + 1, dtype=out.dtype)
            place[occurring] = np.arange(occurring.size)
            out[:] = s.spread(place.take(s.sizes.astype(np.int64)), 0, some)

    def _every(self, what: str) -> Iterator[Any]:
        assert self.distinct is not None  # noqa: S101 - the callers looked
        return iter(progress(every_subset(self.distinct), what, total=self.subsets))

    def _some(self, rows: slice) -> Any:
        return rows if self.followed is None else self.followed[rows]


@dataclass(frozen=True, eq=False)
class Tile:
    """The class sizes of some rows on every subset, as places among the sizes that occur."""

    rows: slice
    wide: NDArray[np.bool_]
    low: NDArray[np.uint8]
    high: Places

    def blocks(self, step: int) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Some rows after others, with their places: subset x row."""
        count = self.rows.stop - self.rows.start
        for start in range(0, count, step):
            part = slice(start, min(start + step, count))
            places: NDArray[Any] = np.ascontiguousarray(self.low[:, part])
            if self.wide.any():
                lower, places = places, np.empty((self.wide.size, places.shape[1]), dtype=np.uint16)
                places[~self.wide], places[self.wide] = lower, self.high[:, part]
            yield slice(self.rows.start + part.start, self.rows.start + part.stop), places


def subset_classes(
    people: People,
    groups: Sequence[tuple[str, ...]],
    individuals: Ints | None = None,
    *,
    counts: Ints | None = None,
) -> SubsetClasses:
    """Count the classes of everybody, or of some individuals, on every union of the groups.

    Classes are counted among all people either way: a part of them would make each class smaller.
    With `counts` each entry of the table stands for that many people.
    """
    refuse_many(len(groups), remedy=REMEDY[0].upper() + REMEDY[1:])
    rows = rows_on(people, groups, counts)
    if rows is None:
        return _by_matching(people, groups, individuals)
    return replace(classes_of(rows, groups, individuals), counts=counts)


def rows_on(
    people: People, groups: Sequence[tuple[str, ...]], counts: Ints | None = None
) -> DistinctRows | None:
    """The distinct rows, one code a group; None where people fall into no classes."""
    columns = [c for group in groups for c in group]
    partition = not any(people.column(c).relation is not None for c in columns)
    if not (partition and people.is_columnwise):
        return None
    ids = [people.class_ids(list(group)) for group in groups]
    codes = np.empty((len(people), len(groups)), dtype=np.int32, order="F")
    for j, (own, _) in enumerate(ids):
        codes[:, j] = own
    return distinct_rows(codes, [count for _, count in ids], counts)


def as_fitted(people: People) -> People:
    """The people as a population is fitted to them: values as they are written, none emptied.

    Who is unique in the population is not changed by what a release leaves empty.
    """
    return people.before_emptying.as_written()


def as_it_was(classes: SubsetClasses, whole: People, rows: Ints) -> SubsetClasses:
    """The same people's classes in the table before others were left out, row by row as here.

    `rows` are those asked about, in the whole table.
    """
    found = subset_classes(whole, classes.groups, rows)
    if found.distinct is None:
        return found
    followed = found.distinct.of_record[rows[classes.some]]
    return replace(found, followed=followed, of_person=classes.of_person, rows=classes.rows)


def refuse_memory(rows: int, groups: int) -> None:
    """Raise TooLarge where a number per row and subset is more than is kept."""
    if rows * 4 * (1 << groups) > MEMORY:
        need = rows * 4 * (1 << groups) / 2**30
        raise TooLarge(
            f"class sizes of {rows:,} distinct people on 2^{groups} subsets need {need:.1f} GB and "
            f"the limit is {MEMORY / 2**30:.0f} GB; {REMEDY}{SOME}"
        )


def classes_of(
    rows: DistinctRows,
    groups: Sequence[tuple[str, ...]],
    individuals: NDArray[np.int64] | None = None,
) -> SubsetClasses:
    """The classes of distinct rows that are already counted, one code a group."""
    followed, of_person = None, rows.of_record
    if individuals is not None:
        followed, of_person = np.unique(rows.of_record[individuals], return_inverse=True)
    frequencies = tuple(frequencies_of_rows(rows))
    return SubsetClasses(
        groups=tuple(groups),
        of_person=of_person,
        frequencies=frequencies,
        occurring=tuple(found.sizes for found in frequencies),
        is_partition=True,
        records=rows.total,
        rows=rows.rows if followed is None else followed.size,
        distinct=rows,
        followed=followed,
    )


def matches_on(
    people: People, groups: Sequence[tuple[str, ...]]
) -> Iterator[tuple[list[str], Ints]]:
    """The columns of every subset of the groups, and how many match each person on them."""
    for mask in range(1 << len(groups)):
        named = (c for j, group in enumerate(groups) if mask >> j & 1 for c in group)
        known = list(dict.fromkeys(named))  # groups may share columns
        yield known, people.class_sizes(known)


def _by_matching(
    people: People, groups: Sequence[tuple[str, ...]], individuals: NDArray[np.int64] | None
) -> SubsetClasses:
    """Where a value may match several (or histories compare whole), subset by subset.

    Match counts are no class sizes, so population fits get the classes of `as_fitted`.
    """
    asked = np.arange(len(people)) if individuals is None else individuals
    refuse_memory(asked.size, len(groups))
    total = 1 << len(groups)
    sizes = np.empty((total, asked.size), dtype=np.uint32)
    written = as_fitted(people)
    frequencies, occurring = [], []
    every = progress(matches_on(people, groups), "matches on every subset", total=total)
    for mask, (known, matched) in enumerate(every):
        sizes[mask] = matched[asked]
        occurring.append(np.unique(matched).astype(np.int64))
        frequencies.append(written.frequencies(known))
    columns = [c for group in groups for c in group]
    return SubsetClasses(
        groups=tuple(groups),
        of_person=np.arange(asked.size),
        frequencies=tuple(frequencies),
        occurring=tuple(occurring),
        is_partition=not any(people.column(c).relation is not None for c in columns),
        records=len(people),
        rows=asked.size,
        matched=sizes,
    )
