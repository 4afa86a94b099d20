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
only because others were.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.blocks import risks as exact_risks
from reidbn.attacks.routes.subject_data import P_UNIQUE, RECORDS, SubjectTable
from reidbn.attacks.routes.summed import are_many, as_sums, curves, shape_by_person, shape_of
from reidbn.attacks.routes.sums import Sums

Array = NDArray[np.float64]
MOST = 2_000_000  # people up to whom every class size is looked at
ROUNDING = 1e-13


@dataclass(frozen=True)
class Direction:
    """That (1) holds of a measure, a never rises with the class, and b is not negative."""

    on_population: bool
    """Whether b > 0, so that it matters who is unique in the population."""


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
    return Direction(b > ROUNDING)


def least_risk(result: Assessment, measure: str) -> Array:
    """What a measure is of everybody if nobody were unique in the population: (1) with u = 0."""
    query, settings, table = result.questions[measure], result.inputs.set, result.subject_table
    attack, classes = result.attack, result.classes
    shape = shape_of(attack, classes, table) if are_many(classes) else None
    if shape is not None and classes.distinct is not None:
        sums = Sums(classes, None)
        group, constant = shape
        found = as_sums(attack, query, settings, group, sums.sizes, classes.records, constant)
        if found is not None:
            return np.asarray(sums.values([found[0][0]])[0][table.of_person])
    columns = {name: values for name, values in table.columns.items() if name != P_UNIQUE}
    if P_UNIQUE in table.columns:
        columns[P_UNIQUE] = np.zeros((1, classes.subsets))
    nobody = SubjectTable(columns, table.of_entry, people=table.people)
    return np.asarray(exact_risks(attack, query, settings, nobody)[table.of_person])
