"""People who do not part into classes, made to: two approximations, by name, never silent.

Where a missing cell matches anything or a generalised value covers others, "matches" is not an
equivalence, and Pitman's partition does not apply to match counts.  What can be done:

- `finest-common-level`: per column, values linked by a chain of matches become one value, so that
  everybody is described at the finest level common to all.  Classes only grow: fewer uniques.
- `drop`: records holding a value that covers others are left out, and so are few of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.microdata.table import People

if TYPE_CHECKING:
    from reidbn.microdata.matching import Relation

Ints = NDArray[np.int64]

APPROXIMATIONS = ("finest-common-level", "drop")


def needs_approximation(people: People, columns: Sequence[str]) -> bool:
    """Whether some value of these columns matches another one."""
    relations = [people.column(name).relation for name in columns]
    return any(r is not None and any(r.neighbours) for r in relations)


def as_partition(
    people: People, columns: Sequence[str], approximation: str | None
) -> tuple[People, tuple[str, ...]]:
    """People on these columns who part into classes, and what was done to get there."""
    if people.emptied:
        parted, notes = as_partition(people.before_emptying, columns, approximation)
        return parted, (*notes, "cells were emptied: the table as it was before is taken")
    if not needs_approximation(people, columns):
        return people, ()
    if approximation is None:
        raise DataError(
            "some values match several others (a missing cell that matches anything, or a "
            "generalised value), so people do not part into classes and match counts are no class "
            'sizes; choose approximation="finest-common-level" or "drop", which are flagged in '
            'the result, or read the table with missing="value"'
        )
    if approximation not in APPROXIMATIONS:
        hint = did_you_mean(approximation, APPROXIMATIONS)
        raise UsageError(f'no approximation "{approximation}"; {hint}')
    way = _common_level if approximation == "finest-common-level" else _dropped
    return way(people, columns)


def _common_level(people: People, columns: Sequence[str]) -> tuple[People, tuple[str, ...]]:
    codes = np.array(people.codes(list(columns)))
    coarser = []
    for j, name in enumerate(columns):
        relation = people.column(name).relation
        if relation is not None and any(relation.neighbours):
            level = _components(relation)
            coarser.append(f"{name} from {relation.cardinality} to {int(level.max()) + 1}")
            codes[:, j] = level[codes[:, j]]
    parted = People.from_codes(codes, list(columns), weights=people.weights)
    note = f"approximation finest-common-level: values that match became one ({'; '.join(coarser)})"
    return parted, (note,)


def _dropped(people: People, columns: Sequence[str]) -> tuple[People, tuple[str, ...]]:
    codes = people.codes(list(columns))
    keep = np.ones(len(people), dtype=bool)
    for j, name in enumerate(columns):
        relation = people.column(name).relation
        if relation is not None:
            used = np.bincount(codes[:, j], minlength=relation.cardinality)
            keep &= ~_covering(relation, used)[codes[:, j]]
    left = int(keep.sum())
    if left == 0:
        raise DataError("every record holds a missing or generalised value; none is left to fit")
    weights = None if people.weights is None else people.weights[keep]
    parted = People.from_codes(codes[keep], list(columns), weights=weights)
    parted = replace(parted, origin=np.flatnonzero(keep))
    gone = len(people) - left
    note = f"approximation drop: {gone} of {len(people)} records with covering values left out"
    return parted, (note,)


def _components(relation: Relation) -> Ints:
    """One number for all values linked by a chain of matches."""
    level = np.full(relation.cardinality, -1, dtype=np.int64)
    found = 0
    for start in range(relation.cardinality):
        if level[start] >= 0:
            continue
        level[start] = found
        waiting = [start]
        while waiting:
            for other in relation.neighbours[waiting.pop()]:
                if level[other] < 0:
                    level[other] = found
                    waiting.append(other)
        found += 1
    return level


def _covering(relation: Relation, used: Ints) -> NDArray[np.bool_]:
    """Values to drop so that no two of the rest match: most matches first, rare ones before."""
    near = [{o for o in others if used[o]} for others in relation.neighbours]
    gone = np.zeros(relation.cardinality, dtype=bool)
    while True:
        linked = [c for c in range(relation.cardinality) if used[c] and not gone[c] and near[c]]
        if not linked:
            return gone
        worst = max(linked, key=lambda c: (len(near[c]), -int(used[c]), c))
        gone[worst] = True
        for other in near[worst]:
            near[other].discard(worst)
        near[worst] = set()
