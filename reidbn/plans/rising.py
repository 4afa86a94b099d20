"""Which way a risk moves when a table gets coarser or smaller: shown for the attack, not assumed.

Of an attack that sees a person's class alone (attacks/routes/summed.py),

    risk = sum_Y P(Y) (a(f) + b u 1(f = 1))                                                   (1)

with f the size of the person's class on the known subset Y, and u the chance that somebody unique
in the table is unique in the population.  P(Y) is of the person, whatever is released.  A coarser
table has larger classes, a smaller one has smaller ones.  So where a(1) >= a(2) >= ... >= a(n) and
b >= 0, each looked at by the exact engine,

    coarser, with u left away (its least)       no person's risk is higher
    somebody left out                           no other person's risk is lower,

since u is estimated from the table as it was before anybody was left out, and is 0 for who is alone
only because others were.  And without an estimate of u every risk lies between (1) with u = 0 and
(1) with u = 1 (`Bounds`), which settles most ways to release: the estimate is most of their cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.counts import matches_on, rows_on
from reidbn.attacks.routes.subject_data import RECORDS
from reidbn.attacks.routes.summed import AGREES, curves, shape_by_person, subset_chances
from reidbn.microdata.lattice import Gather, Walk
from reidbn.microdata.rows import DistinctRows
from reidbn.microdata.slab import every_subset
from reidbn.microdata.table import People

Array = NDArray[np.float64]
MOST = 2_000_000  # people up to whom every class size is looked at
ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class Direction:
    """That (1) holds of a measure, a never rises with the class, and b is not negative."""

    base: Array
    """a(1), a(2), ..., a(n)."""
    gain: float
    """b."""

    @property
    def on_population(self) -> bool:
        """Whether b > 0, so that it matters who is unique in the population."""
        return self.gain > ROUNDING


def direction_of(base: Assessment, measure: str) -> Direction | None:
    """Which way a measure moves; None where that is not shown."""
    query, attack, inputs = base.questions.get(measure), base.attack, base.inputs
    if query is None or query.given or inputs.method != "exact" or len(base) > MOST:
        return None
    if base.groups.bands:
        return None  # a released value over two bands is a class of its own, smaller than a band
    records = inputs.attack.parameters.get(RECORDS)
    if RECORDS in attack.subject or (records is not None and RECORDS not in inputs.set):
        return None  # how many people there are is seen by itself
    shape = shape_by_person(attack, base.subject_table)
    if shape is None or {*query.targets} & attack.upstream(shape[0].members):
        return None
    group, constant, own = shape
    some = {
        name: np.ones((1, 1)) if attack.subject[name].each else base.subject_table.columns[name][:1]
        for name in own
    }
    sizes = np.arange(1, len(base.inputs.people) + 1)
    told = curves(attack, query, inputs.set, group, sizes, len(sizes), {**constant, **some})
    if told is None:
        return None
    a, b = told[0][0, 0], float(told[1][0, 0])
    if (np.diff(a) > ROUNDING).any() or b < -ROUNDING:
        return None
    return Direction(a, b)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Measures of one attack as (1), with u = 0 and with u = 1, for any release of the table."""

    base: Assessment
    directions: Mapping[str, Direction]
    weights: Mapping[str, Array]
    """P(Y) for each measure, profile x subset."""
    profile: NDArray[np.intp]
    """Of each person: people who are known alike share one."""

    def at(self, people: People, kept: NDArray[np.bool_]) -> dict[str, tuple[Array, Array]]:
        """The least and the most that each measure is of these people, who were kept."""
        rows = rows_on(people, self.base.groups.columns)
        alike = all(len(chances) == 1 for chances in self.weights.values())
        if rows is not None and alike:
            return self._walked(rows)
        known = self.profile[kept]
        if rows is None:  # a value may match several others
            matched = (sizes for _, sizes in matches_on(people, self.base.groups.columns))
            return self._one_by_one(known, enumerate(matched))
        kinds = int(known.max()) + 1
        both, of = np.unique(rows.of_record * kinds + known, return_inverse=True)
        row, known = np.divmod(both, kinds)
        found = self._one_by_one(known, (
            (s.mask, s.spread(s.sizes.astype(np.int64), 1, row)) for s in every_subset(rows)
        ))  # fmt: skip
        return {m: (low[of], high[of]) for m, (low, high) in found.items()}

    def _curves(self, measure: str) -> list[Array]:
        """What a class of each size adds, with u = 0 and, where it matters, with u = 1."""
        one = self.directions[measure]
        found = [np.append(0.0, one.base)]
        if one.on_population:
            found.append(found[0].copy())
            found[1][1] += one.gain
        return found

    def _walked(self, rows: DistinctRows) -> dict[str, tuple[Array, Array]]:
        gathers = [
            _gather(curve, self.weights[m][0]) for m in self.directions for curve in self._curves(m)
        ]
        sums = iter(Walk(rows, gathers).run())
        return self._paired({m: [next(sums) for _ in self._curves(m)] for m in self.directions})

    def _one_by_one(
        self, known: NDArray[np.intp], sizes: Iterable[tuple[int, NDArray[Any]]]
    ) -> dict[str, tuple[Array, Array]]:
        """Where what is known differs from person to person: subset by subset."""
        curves = {m: self._curves(m) for m in self.directions}
        found = {m: [np.zeros(known.size) for _ in some] for m, some in curves.items()}
        for mask, own in sizes:
            for m, sums in found.items():
                chances = self.weights[m][:, mask]
                chance = chances[known] if len(chances) > 1 else chances
                for total, curve in zip(sums, curves[m], strict=True):
                    total += chance * curve[own]
        return self._paired(found)

    @staticmethod
    def _paired(sums: Mapping[str, list[Array]]) -> dict[str, tuple[Array, Array]]:
        return {m: (found[0], found[-1]) for m, found in sums.items()}


def bounds_of(base: Assessment, directions: Mapping[str, Direction | None]) -> Bounds | None:
    """Bounds of these measures at every release; None where one of them has no such shape."""
    shown = {m: d for m, d in directions.items() if d is not None}
    shape = shape_by_person(base.attack, base.subject_table)
    if shape is None or len(shown) < len(directions) or not shown:
        return None
    group, constant, own = shape
    table, settings, attack = base.subject_table, base.inputs.set, base.attack
    first, profile = _profiles([np.asarray(table.columns[n]) for n in own], table.of_person)
    columns = {n: v[first] if len(v) > 1 else v
               for n in own for v in [np.asarray(table.columns[n])]}  # fmt: skip
    weights = {}
    for m in shown:
        query = base.questions[m]
        chances = subset_chances(attack, query, settings, group, {**constant, **columns})
        if chances is None:
            return None
        weights[m] = np.broadcast_to(chances, (len(first), chances.shape[1]))
    made = Bounds(base, shown, weights, profile)
    told = made.at(base.inputs.people, np.ones(len(profile), dtype=bool))
    for m, (low, high) in told.items():  # held against the assessment that is there
        risk = base.risk(m)
        if (low > risk + AGREES).any() or (risk > high + AGREES).any():
            return None
    return made


def _profiles(own: Sequence[Array], of_person: NDArray[np.intp]) -> tuple[Any, NDArray[np.intp]]:
    """One subject of each kind that is known alike, and the kind of each person."""
    differ = [values.reshape(len(values), -1) for values in own if len(values) > 1]
    if not differ:
        return np.zeros(1, dtype=np.intp), np.zeros(len(of_person), dtype=np.intp)
    _, first, kind = np.unique(
        np.concatenate(differ, axis=1), axis=0, return_index=True, return_inverse=True
    )
    return first, kind.ravel()[of_person]


def _gather(curve: Array, weights: Array) -> Gather:
    def values(block: Any) -> Array:
        return np.asarray(curve.take(block.cells) * weights[block.masks][:, None])

    return Gather(values, weights * curve[1])
