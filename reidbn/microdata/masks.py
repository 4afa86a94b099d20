"""Match masks: class sizes on all subsets for any rule of matching.

A record's mask for a subject has bit j set when the record matches the subject on every column of
group j.  The record is in the subject's class on subset y exactly when its mask contains y, so
with c(z) records of mask z

    a(y) = sum_{z contains y} c(z)                                                 (1)

the superset sums (zeta transform) of 2^b counts: b 2^b additions for all subsets together.  It
needs no partition: missing cells and generalised values may match several others [Xia21].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.calls import typed
from reidbn.errors import TooLarge, UsageError
from reidbn.microdata.classes import Floats, Ints, totals
from reidbn.microdata.groups import Groups, group_rows, grouped, is_columnwise, is_product
from reidbn.microdata.knowledge import Knowledge
from reidbn.microdata.lattice import refuse_many
from reidbn.microdata.rows import DistinctRows, distinct_rows
from reidbn.microdata.slab import sizes_of_rows
from reidbn.microdata.table import People

Sizes = NDArray[np.uint32]
Match = NDArray[np.bool_]
_PAIRS = 1 << 21  # subject-record pairs compared at a time


def superset_sums(counts: ArrayLike) -> NDArray[Any]:
    """Sums over supersets along the last axis, which has one entry per subset: equation (1).

    >>> superset_sums([5, 1, 2, 4])
    array([12,  5,  6,  4])
    """
    sums = np.array(counts, order="C")
    subsets = sums.shape[-1]
    if subsets & (subsets - 1) or subsets == 0:
        raise UsageError(f"{subsets} entries are not one per subset; need a power of two")
    bit = 1
    while bit < subsets:
        halves = sums.reshape(-1, 2, bit)
        halves[:, 0] += halves[:, 1]
        bit *= 2
    return sums


def match_masks(
    rows: DistinctRows,
    places: Sequence[Sequence[int]],
    relations: Mapping[int, Match],
    subjects: Ints,
) -> NDArray[np.int32]:
    """For each subject (a distinct row) the mask of every row: subjects x rows.

    `places` are the columns of each group; a column without a relation matches by equality.
    """
    masks = np.zeros((subjects.size, rows.rows), dtype=np.int32)
    hits: dict[int, Match] = {}
    for j, group in enumerate(places):
        for place in group:
            if place not in hits:
                code, relation = rows.codes[place], relations.get(place)
                hits[place] = (
                    code[subjects][:, None] == code
                    if relation is None
                    else relation[code[subjects]].take(code, axis=1)
                )
        together = np.logical_and.reduce([hits[place] for place in group])
        masks |= together.astype(np.int32) << j
    return masks


def people_by_key(rows: DistinctRows, keys: NDArray[np.integer], cells: int) -> Floats:
    """How many people there are of each key from 0 to cells - 1, subject by subject."""
    flat = (keys + cells * np.arange(len(keys))[:, None]).ravel()
    people = np.broadcast_to(rows.people, keys.shape).ravel()
    return totals(flat, people, len(keys) * cells).reshape(-1, cells)


@typed
def class_sizes_by_mask(
    people: People,
    groups: Groups | Knowledge | None = None,
    *,
    records: slice | None = None,
    memory_limit: int = 1 << 30,
) -> Sizes:
    """Class sizes of people on every union of groups: people x 2^b, column = mask of the groups.

    `groups` = {name: columns}; by default every quasi-identifier is a group.

    `records` takes some of the people; `memory_limit` is the most bytes that the sizes may take.

    >>> people = People.from_codes([[0, 0], [0, 1], [1, 1]], ["sex", "race"])
    >>> class_sizes_by_mask(people)[0].tolist()
    [3, 2, 1, 1]
    """
    what = groups if isinstance(groups, Knowledge) else grouped(people, groups)
    refuse_many(what.groups)
    chosen = range(*(records or slice(None)).indices(len(people)))
    needed = (len(chosen) << what.groups) * 4
    if needed > memory_limit:
        raise TooLarge(
            f"{len(chosen)} people x {1 << what.groups} subsets need {needed / 1e6:.0f} MB, more "
            f"than memory_limit = {memory_limit / 1e6:.0f} MB; use class_size_chunks, or raise it"
        )
    index = np.arange(len(people))[records or slice(None)]
    if is_product(people, what):
        return _by_walk(people, what, index)
    if is_columnwise(people, what) and _masks_are_cheaper(people, what):
        return _by_masks(people, what, index)
    return _one_by_one(people, what, index)


@typed
def class_size_chunks(
    people: People, groups: Groups | Knowledge | None = None, *, chunk_bytes: int = 1 << 28
) -> Iterator[tuple[slice, Sizes]]:
    """`class_sizes_by_mask` for some people after others, each chunk within `chunk_bytes`.

    `groups` are as there.
    """
    what = groups if isinstance(groups, Knowledge) else grouped(people, groups)
    refuse_many(what.groups)
    step = max(1, chunk_bytes // (4 << what.groups))
    for start in range(0, len(people), step):
        records = slice(start, min(start + step, len(people)))
        limit = max(chunk_bytes, 4 << what.groups)
        yield records, class_sizes_by_mask(people, what, records=records, memory_limit=limit)


def _by_walk(people: People, what: Knowledge, index: Ints) -> Sizes:
    rows = group_rows(people, what)
    some, back = np.unique(rows.of_record[index], return_inverse=True)
    return sizes_of_rows(rows, some).T.take(back, axis=1).T  # subset by subset, as they are counted


def _by_masks(people: People, what: Knowledge, index: Ints) -> Sizes:
    used = list(dict.fromkeys(name for columns in what.columns for name in columns))
    rows = distinct_rows(people.codes(used), people.cardinalities(used))
    places = [[used.index(name) for name in columns] for columns in what.columns]
    relations = {j: people.matches(n) for j, n in enumerate(used) if people.column(n).relation}
    subjects, back = np.unique(rows.of_record[index], return_inverse=True)
    subsets = 1 << what.groups
    found = np.empty((subjects.size, subsets), dtype=np.uint32)
    step = max(1, min(_PAIRS // rows.rows, _PAIRS // subsets))
    for start in range(0, subjects.size, step):
        masks = match_masks(rows, places, relations, subjects[start : start + step])
        found[start : start + step] = superset_sums(people_by_key(rows, masks, subsets))
    return found[back]


def _one_by_one(people: People, what: Knowledge, index: Ints) -> Sizes:
    found = np.empty((index.size, 1 << what.groups), dtype=np.uint32)
    for mask in range(1 << what.groups):
        found[:, mask] = people.class_sizes(what.known_columns(mask))[index]
    return found


def _masks_are_cheaper(people: People, what: Knowledge) -> bool:
    """Pairs of rows on every group against people joined anew on every subset (steps, roughly)."""
    return len(people) ** 2 * what.groups < (len(people) << what.groups) * 200
