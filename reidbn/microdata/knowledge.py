"""What an attacker may know: groups of columns, each learnt whole, each with a probability.

Groups are learnt independently.  A subset of the b groups is a mask (bit j: group j is known);
with P_j the probability of group j,

    P(subset y) = prod_{j in y} P_j  prod_{j not in y} (1 - P_j)                  (1)

The default, every quasi-identifier its own group at 1/2, is uniform over all 2^b subsets, the
empty one included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidbn.errors import TooLarge, UsageError
from reidbn.microdata.classes import Codes, Floats, Ints
from reidbn.microdata.lattice import Rows, distinct_rows
from reidbn.microdata.table import People, checked_people

MOST_NAMED = 62

Known = Mapping[str, tuple[str | Sequence[str], Any]]
Groups = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The groups that may be known, their columns, and how likely each person's are known."""

    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    probabilities: Floats
    """One per group, or persons x groups where they differ between persons."""

    @property
    def groups(self) -> int:
        return len(self.names)

    @property
    def is_shared(self) -> bool:
        """Whether the probabilities are the same for everybody."""
        return self.probabilities.ndim == 1

    def subset_probabilities(self) -> Floats:
        """P(subset) for every mask, equation (1), where everybody shares the probabilities."""
        weights = np.ones(1)
        for p in self.probabilities:
            weights = np.concatenate((weights * (1 - p), weights * p))
        return weights

    def subset(self, mask: int) -> tuple[str, ...]:
        """The names of the groups in a subset."""
        return tuple(name for j, name in enumerate(self.names) if mask >> j & 1)

    def known_columns(self, mask: int) -> tuple[str, ...]:
        """The columns that a subset of the groups makes known, each once."""
        chosen = [self.columns[j] for j in range(self.groups) if mask >> j & 1]
        return tuple(dict.fromkeys(column for columns in chosen for column in columns))


def knowledge(people: People, known: Known | None = None) -> Knowledge:
    """The knowledge that `known` = {group: (columns, probability)} describes, checked.

    A probability is one number, or one per person.  A group that nobody's attacker can know
    (probability 0 throughout) is left out.
    """
    checked_people(people)
    if known is None:
        return knowledge(people, {name: (name, 0.5) for name in people.quasi_identifiers})
    if not isinstance(known, Mapping):
        raise UsageError("known= is a dict: {group: (columns, probability)}")
    names: list[str] = []
    columns: list[tuple[str, ...]] = []
    chances: list[Floats] = []
    for name, entry in known.items():
        if isinstance(entry, str) or not isinstance(entry, Sequence) or len(entry) != 2:
            raise UsageError(f'known["{name}"] must be (columns, probability)')
        chance = _chance(name, entry[1], len(people))
        if not chance.any():
            continue
        names.append(str(name))
        columns.append(_columns(people, name, entry[0]))
        chances.append(chance)
    if len(names) > MOST_NAMED:
        raise TooLarge(f"{len(names)} groups; a subset is a 64-bit mask of at most {MOST_NAMED}")
    if all(chance.ndim == 0 for chance in chances):
        return Knowledge(tuple(names), tuple(columns), np.array(chances, dtype=np.float64))
    spread = [np.broadcast_to(chance, len(people)) for chance in chances]
    return Knowledge(tuple(names), tuple(columns), np.stack(spread, axis=1))


def grouped(people: People, groups: Groups | None = None) -> Knowledge:
    """Groups without probabilities of their own: each column alone, or {group: columns}."""
    if groups is None:
        return knowledge(people)
    return knowledge(people, {name: (columns, 0.5) for name, columns in groups.items()})


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


def group_rows(people: People, what: Knowledge) -> Rows:
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


def _columns(people: People, name: str, columns: Any) -> tuple[str, ...]:
    wanted = people.names(columns)
    if not wanted:
        raise UsageError(f'known["{name}"] names no column; a group has at least one')
    return wanted


def _chance(name: str, value: Any, records: int) -> Floats:
    try:
        chance = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(
            f'known["{name}"]: the probability is not a number, nor one per person'
        ) from None
    if chance.ndim > 1 or (chance.ndim == 1 and chance.size != records):
        raise UsageError(
            f'known["{name}"]: {chance.size} probabilities for {records} people; '
            "give one for all, or one each"
        )
    if not ((chance >= 0) & (chance <= 1)).all():
        raise UsageError(f'known["{name}"]: a probability is outside 0..1 or not a number')
    return chance
