"""Matching that is not equality: missing and generalised values match what they may stand for.

A `Relation` says, for one column, which coded values may belong to the same person [Xia21].
Two values of a tree (a value and its generalisation, a missing cell above all of them) match
when one lies above the other; such a column is *nested* and its values have ancestors.  With
nested columns, rows are sorted by how general their cells are, and two groups of rows are
joined on equal ancestors; otherwise rows are compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge
from reidbn.microdata.classes import Codes, Floats, Ints, class_ids

MOST_CELLS = 400_000_000
"""Largest codes x codes matrix that is written out."""
MOST_STEPS = 20_000_000_000
"""Most row comparisons that one query may take."""
_BLOCK = 20_000_000


@dataclass(frozen=True, eq=False)
class Relation:
    """Which codes of a column match which: `others[code]` lists the codes beside itself.

    Symmetric; a code that is not a key matches itself only.
    """

    cardinality: int
    others: Mapping[int, Ints]

    def matrix(self) -> NDArray[np.bool_]:
        """Codes x codes: True where the two values may be the same person's."""
        if self.cardinality**2 > MOST_CELLS:
            raise TooLarge(
                f"a match matrix of {self.cardinality} x {self.cardinality} values; "
                "generalise the column first, or ask class_sizes, which does not need it"
            )
        matrix = np.eye(self.cardinality, dtype=bool)
        for code, matched in self.others.items():
            matrix[code, matched] = True
            matrix[matched, code] = True
        return matrix

    @cached_property
    def neighbours(self) -> list[set[int]]:
        found: list[set[int]] = [set() for _ in range(self.cardinality)]
        for code, matched in self.others.items():
            for other in matched.tolist():
                if other != code:
                    found[code].add(other)
                    found[other].add(code)
        return found

    @cached_property
    def ancestors(self) -> tuple[Ints, Codes] | None:
        """Each code's depth, and its ancestor at every depth; None if the values do not nest.

        Values by falling number of matches: the earlier ones that match a value must be its
        nearest one's and that one itself; then the relation is "one above the other" in a forest.
        A value with none below it is put at the full depth, as its own ancestor from there on.
        """
        near = self.neighbours
        order = sorted(range(self.cardinality), key=lambda code: -len(near[code]))
        place = np.empty(self.cardinality, dtype=np.int64)
        place[order] = np.arange(self.cardinality)
        above: list[list[int]] = [[] for _ in range(self.cardinality)]
        inner = np.zeros(self.cardinality, dtype=bool)
        for code in order:
            earlier = sorted((o for o in near[code] if place[o] < place[code]), key=place.item)
            if earlier and [*above[earlier[-1]], earlier[-1]] != earlier:
                return None
            above[code] = earlier
            inner[earlier] = True
        deepest = max(len(path) for path in above)
        table = np.empty((deepest + 1, self.cardinality), dtype=np.int32)
        for code, path in enumerate(above):
            table[:, code] = (path + [code] * (deepest + 1))[: deepest + 1]
        depth = np.array([len(path) for path in above], dtype=np.int64)
        return np.where(inner, depth, deepest), table


def wildcard(cardinality: int, code: int, given: Relation | None = None) -> Relation:
    """The relation in which one code (a missing cell) also matches every value."""
    others = dict(given.others) if given else {}
    others[code] = np.flatnonzero(np.arange(cardinality) != code)
    return Relation(cardinality, others)


def match_totals(
    codes: Codes,
    cardinalities: Sequence[int],
    relations: Sequence[Relation | None],
    weights: Floats | None = None,
) -> Floats:
    """For each record, the number (or total weight) of the records that match it in every column.

    >>> missing_is_last = wildcard(3, 2)
    >>> rows = np.array([[0, 0], [0, 1], [0, 2]], dtype=np.int32)
    >>> match_totals(rows, (1, 3), [None, missing_is_last])
    array([2., 2., 3.])
    """
    ids, count = class_ids(codes, cardinalities)
    mass = np.bincount(ids, weights=weights, minlength=count).astype(np.float64)
    first = np.empty(count, dtype=np.int64)
    first[ids[::-1]] = np.arange(ids.size)[::-1]
    rows = np.asfortranarray(codes[first])
    active = [r if r is not None and r.others else None for r in relations]
    if all(r is None or r.ancestors is not None for r in active):
        totals = _joined(rows, cardinalities, active, mass)
    else:
        totals = _compared(rows, active, mass)
    return totals[ids]


def _joined(
    rows: Codes, cardinalities: Sequence[int], relations: Sequence[Relation | None], mass: Floats
) -> Floats:
    """Rows grouped by the depth of their cells; every two groups joined on equal ancestors."""
    trees = {j: r.ancestors for j, r in enumerate(relations) if r is not None and r.ancestors}
    depths = np.zeros((rows.shape[0], len(trees)), dtype=np.int32, order="F")
    for place, (j, (depth, _)) in enumerate(trees.items()):
        depths[:, place] = depth[rows[:, j]]
    spread = [int(table.shape[0]) for _, table in trees.values()]
    group, groups = class_ids(depths, spread)
    _refuse_if_long(rows.shape[0] * groups)
    members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
    totals = np.zeros(rows.shape[0])
    for a, left in enumerate(members):
        for right in members[a:]:
            both = np.concatenate([left, right]) if right is not left else left
            common = rows[both]
            for place, (j, (_, table)) in enumerate(trees.items()):
                level = min(depths[left[0], place], depths[right[0], place])
                common[:, j] = table[level, common[:, j]]
            key, count = class_ids(np.asfortranarray(common), cardinalities)
            split = left.size
            if right is left:
                totals[left] += np.bincount(key, weights=mass[left], minlength=count)[key]
                continue
            totals[left] += np.bincount(key[split:], mass[right], minlength=count)[key[:split]]
            totals[right] += np.bincount(key[:split], mass[left], minlength=count)[key[split:]]
    return totals


def _compared(rows: Codes, relations: Sequence[Relation | None], mass: Floats) -> Floats:
    """Every row with a general cell against all rows; the others by equality."""
    m, d = rows.shape
    general = np.zeros(m, dtype=bool)
    tables: list[NDArray[np.bool_] | None] = []
    for j, relation in enumerate(relations):
        if relation is None:
            tables.append(None)
            continue
        tables.append(relation.matrix())
        general |= np.isin(rows[:, j], list(relation.others))
    some, exact = np.flatnonzero(general), ~general
    _refuse_if_long(some.size * m * d)
    totals = np.where(exact, mass, 0.0)
    step = max(1, _BLOCK // m)
    for start in range(0, some.size, step):
        block = some[start : start + step]
        match = np.ones((block.size, m), dtype=bool)
        for j, table in enumerate(tables):
            own = rows[block, j][:, None]
            match &= own == rows[:, j] if table is None else table[own, rows[:, j]]
        totals[block] = match @ mass
        totals[exact] += mass[block] @ match[:, exact]
    return totals


def _refuse_if_long(steps: int) -> None:
    if steps > MOST_STEPS:
        raise TooLarge(
            f"matching needs {steps:.1e} comparisons (limit {MOST_STEPS:.1e}); use fewer columns, "
            'generalise to nested values, or missing="value"'
        )
