"""The groups of what may be known at the people of a table: codes, distinct rows, and whether one
code per group says who is alike on several; subsets of groups in reading order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from reidbn.microdata.classes import Codes, Ints
from reidbn.microdata.knowledge import EVEN, Knowledge, knowledge
from reidbn.microdata.rows import DistinctRows, distinct_rows
from reidbn.microdata.table import People

Groups = Mapping[str, str | Sequence[str]]


def grouped(people: People, groups: Groups | None = None) -> Knowledge:
    """Groups without probabilities of their own: each column alone, or {group: columns}."""
    if groups is None:
        return knowledge(people)
    return knowledge(people, {name: (columns, EVEN) for name, columns in groups.items()})


def group_codes(people: People, what: Knowledge) -> tuple[Codes, tuple[int, ...]]:
    """One code per person and group, equal where all columns of the group are, and their ranges."""
    coded = np.empty((len(people), what.groups), dtype=np.int32, order="F")
    ranges = []
    for j, columns in enumerate(what.columns):
        if len(columns) == 1:
            coded[:, j] = people.codes(columns)[:, 0]
            ranges.append(people.cardinalities(columns)[0])
        else:
            coded[:, j], count = people.class_ids(columns)
            ranges.append(count)
    return coded, tuple(ranges)


def group_rows(people: People, what: Knowledge) -> DistinctRows:
    """The distinct rows of people on the groups."""
    return distinct_rows(*group_codes(people, what))


def overlaps(people: People, what: Knowledge) -> bool:
    """Whether some value of a group's columns matches several others."""
    used = {name for columns in what.columns for name in columns}
    return any(people.column(name).relation is not None for name in used)


def is_columnwise(people: People, what: Knowledge) -> bool:
    """Whether people alike on each of several groups are alike on them together."""
    used = {name for columns in what.columns for name in columns}
    history = people.history
    return history is None or sum(history.varies(name) for name in used) < 2


def is_product(people: People, what: Knowledge) -> bool:
    """Whether one code per group says who is alike on every union of groups."""
    return is_columnwise(people, what) and not overlaps(people, what)


def reading_order(masks: Ints, groups: int) -> Ints:
    """Places that sort masks by number of groups, then in the order of the groups.

    >>> reading_order(np.array([3, 2, 1, 0]), 2).tolist()
    [3, 2, 1, 0]
    """
    return np.lexsort((-mirrored(masks, groups), np.bitwise_count(masks)))


def mirrored(masks: Ints, groups: int) -> Ints:
    """Masks with the first group in the highest bit: larger comes first in reading order."""
    first = np.zeros_like(masks)
    for j in range(groups):
        first |= ((masks >> j) & 1) << (groups - 1 - j)
    return first
