"""Matching that is not equality: missing and generalised values match what they may stand for.

A `Relation` says, for one column, which coded values may belong to the same person [Xia21].
Two values of a tree (a value and its generalisation, a missing cell above all of them) match
when one lies above the other; such a column is *nested* and its values have ancestors.  With
nested columns, rows are sorted by how general their cells are, and two groups of rows are
joined on equal ancestors; otherwise rows are compared pair by pair.

Cells that were emptied before a release match one way only.  Who knows a person knows what the
cell held, and finds the rows that fit that: those that say so, and those that are empty there,

    a(y) = |{released l: for all j in y, z_lj = x_ij or z_lj is empty}|                         (1)

with x the table as it was and z as it is released.  Of one person of 30 whose age was emptied
among ten of 40, a = 1 for the one and 11 for each of the ten.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge, UsageError
from reidbn.microdata.classes import Codes, Floats, Ints, class_ids, some_of, totals

MOST_CELLS = 400_000_000
"""Largest codes x codes matrix that is written out."""
MOST_NANOSECONDS = 2e12
"""Longest that one query may be expected to take."""
_BLOCK = 20_000_000


@dataclass(frozen=True, eq=False)
class Relation:
    """Which codes of a column match which: `others[code]` lists the codes beside itself.

    Symmetric, but where cells were emptied; a code that is not a key matches itself only.
    """

    cardinality: int
    others: Mapping[int, Ints]
    own: Ints | None = None
    """Where cells were emptied: the code of what each code's person has, an emptied one's too."""

    def matrix(self) -> NDArray[np.bool_]:
        """Codes x codes: True where the two values may be the same person's."""
        if self.cardinality**2 > MOST_CELLS:
            raise TooLarge(
                f"a match matrix of {self.cardinality} x {self.cardinality} values; "
                "generalise the column first, or ask class_sizes, which does not need it"
            )
        if self.own is not None:  # row: what is known of somebody; column: what is released
            empty = self.own != np.arange(self.cardinality)
            return np.asarray((self.own[:, None] == self.own) | empty)
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


def emptied(own: Ints) -> Relation:
    """The relation of a column some of whose cells were emptied; `own` as there.

    >>> emptied(np.array([0, 1, 0])).matrix().astype(int).tolist()
    [[1, 0, 1], [0, 1, 1], [1, 0, 1]]
    """
    found = Relation(own.size, {}, own)
    match = found.matrix()
    others = {c: np.flatnonzero(match[c] & (np.arange(own.size) != c)) for c in range(own.size)}
    return Relation(own.size, others, own)


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
    mass = totals(ids, weights, count)
    rows = np.asfortranarray(codes[some_of(ids, count)])
    active = [r if r is not None and r.others else None for r in relations]
    if any(r is not None and r.own is not None for r in active):
        return _fitting(rows, mass, cardinalities, active)[ids]
    join = _Join(rows, active) if all(r is None or r.ancestors for r in active) else None
    pairs = _Pairs(rows, active)
    cheaper = min((way for way in (join, pairs) if way is not None), key=lambda way: way.cost)
    if cheaper.cost > MOST_NANOSECONDS:
        raise TooLarge(
            f"matching these rows would take some {min(cheaper.cost / 6e10, 1e9):.0f} minutes; use "
            'fewer columns, generalise to one level, or missing="value"'
        )
    return cheaper.totals(mass, cardinalities)[ids]


def _fitting(
    rows: Codes, mass: Floats, cardinalities: Sequence[int], relations: Sequence[Relation | None]
) -> Floats:
    """(1): of the rows that are empty in the same places, those alike on all others."""
    known, empty = rows.copy(order="F"), np.zeros(rows.shape, dtype=np.int32, order="F")
    for j, relation in enumerate(relations):
        if relation is not None:
            if relation.own is None:
                raise UsageError(
                    "cells of one column were emptied, and values of another match several others; "
                    'nothing says who fits both: read the table with missing="value"'
                )
            known[:, j] = relation.own[rows[:, j]]
            empty[:, j] = known[:, j] != rows[:, j]
    pattern, patterns = class_ids(empty, [2] * rows.shape[1])
    found = np.zeros(len(rows))
    for one in range(patterns):
        members = np.flatnonzero(pattern == one)
        seen = np.flatnonzero(empty[members[0]] == 0).tolist()
        key, count = class_ids(np.asfortranarray(known[:, seen]), [cardinalities[j] for j in seen])
        found += np.bincount(key[members], mass[members], minlength=count)[key]
    return found


class _Join:
    """Rows grouped by the depth of their cells; every two groups joined on equal ancestors."""

    def __init__(self, rows: Codes, relations: Sequence[Relation | None]) -> None:
        self.rows = rows
        trees = {j: r.ancestors for j, r in enumerate(relations) if r is not None}
        self.trees = {j: tree for j, tree in trees.items() if tree is not None}
        self.depths = np.zeros((len(rows), len(self.trees)), dtype=np.int32, order="F")
        for place, (j, (depth, _)) in enumerate(self.trees.items()):
            self.depths[:, place] = depth[rows[:, j]]
        spread = [int(table.shape[0]) for _, table in self.trees.values()]
        group, self.groups = class_ids(self.depths, spread)
        ends = np.cumsum(np.bincount(group))[:-1]
        self.members = np.split(np.argsort(group, kind="stable"), ends)
        # Measured: 60 microseconds for each two groups, 0.1 for each row in each group's joins.
        self.cost = 3e4 * self.groups**2 + 100.0 * len(rows) * self.groups

    def totals(self, mass: Floats, cardinalities: Sequence[int]) -> Floats:
        totals = np.zeros(len(self.rows))
        for a, left in enumerate(self.members):
            for right in self.members[a:]:
                both = left if right is left else np.concatenate([left, right])
                key, count = class_ids(self._at_common_depth(left, right, both), cardinalities)
                split = left.size
                if right is left:
                    totals[left] += np.bincount(key, mass[left], minlength=count)[key]
                    continue
                totals[left] += np.bincount(key[split:], mass[right], minlength=count)[key[:split]]
                totals[right] += np.bincount(key[:split], mass[left], minlength=count)[key[split:]]
        return totals

    def _at_common_depth(self, left: Ints, right: Ints, both: Ints) -> Codes:
        common = np.asfortranarray(self.rows[both])
        for place, (j, (_, table)) in enumerate(self.trees.items()):
            level = min(self.depths[left[0], place], self.depths[right[0], place])
            common[:, j] = table[level, common[:, j]]
        return common


class _Pairs:
    """Every row with a general cell against all rows; the others among themselves by equality."""

    def __init__(self, rows: Codes, relations: Sequence[Relation | None]) -> None:
        self.rows, self.relations = rows, relations
        general = np.zeros(len(rows), dtype=bool)
        for j, relation in enumerate(relations):
            if relation is not None:
                general |= np.isin(rows[:, j], list(relation.others))
        self.exact, self.some = ~general, np.flatnonzero(general)
        # Measured: about 10 nanoseconds a pair, most of them gone after two columns.
        fits = all(r is None or r.cardinality**2 <= MOST_CELLS for r in relations)
        self.cost = 10.0 * self.some.size * len(rows) if fits else math.inf

    def totals(self, mass: Floats, cardinalities: Sequence[int]) -> Floats:
        m = len(self.rows)
        tables = [None if r is None else r.matrix() for r in self.relations]
        order = sorted(range(len(tables)), key=lambda j: -cardinalities[j])
        totals = np.where(self.exact, mass, 0.0)
        step = max(1, _BLOCK // m)
        for start in range(0, self.some.size, step):
            block = self.some[start : start + step]
            one, two = _pairs(self.rows, block, [(j, tables[j]) for j in order])
            totals[block] = np.bincount(one, mass[two], minlength=block.size)
            back = np.bincount(two, mass[block[one]], minlength=m)
            totals[self.exact] += back[self.exact]
        return totals


def _pairs(
    rows: Codes, block: Ints, columns: Sequence[tuple[int, NDArray[np.bool_] | None]]
) -> tuple[Ints, Ints]:
    """Places in the block and rows that match: all pairs on two columns, then those left."""
    match = np.ones((block.size, len(rows)), dtype=bool)
    for j, table in columns[:2]:
        own = rows[block, j][:, None]
        match &= own == rows[:, j] if table is None else table[own, rows[:, j]]
    one, two = np.nonzero(match)
    for j, table in columns[2:]:
        a, b = rows[block[one], j], rows[two, j]
        fits = a == b if table is None else table[a, b]
        one, two = one[fits], two[fits]
    return one, two
