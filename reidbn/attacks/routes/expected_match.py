"""The journalist's expected match: E[1 / population class size], over what may be known.

Beside [Xia21]'s journalist (unique in the population): somebody in a class of f in the table is in
a class of F >= f in the population, and a guess there is right with probability 1/F.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.parts import Node, SubjectColumn
from reidbn.attacks.routes.population import SubsetPopulation
from reidbn.attacks.routes.subject_data import CLASS_SIZE, SubjectTable
from reidbn.cpds.match import Probability
from reidbn.inference.answers import joint
from reidbn.inference.query import read_query
from reidbn.progress import progress

Array = NDArray[np.float64]
NODE, COLUMN = "right_in_population", "p_match_in_population"
CELLS = 250_000  # subject x subset cells at a time: more of them cost memory and save no time


def journalist_match(
    attack: Attack,
    population: SubsetPopulation,
    table: SubjectTable,
    settings: Mapping[str, float],
    do: Mapping[str, str],
) -> Array:
    """E[1/F] of every distinct subject, as one more node beside the attack's own."""
    group = attack.subject[CLASS_SIZE].per  # without one, everything is known
    node = Node(NODE, ("no", "yes"), Probability(f"@{COLUMN}"), (group,) if group else ())
    asked = attack.replace(
        subject=[*attack.subject.values(), SubjectColumn(COLUMN, per=group)],
        nodes=[*attack.nodes.values(), node],
    )
    _, query = read_query(asked, {NODE: "yes"}, None, do)
    rows = population.classes.of_person[table.first]
    out = np.empty(table.subjects)
    step = max(1, CELLS // len(population.status))
    for start in progress(range(0, table.subjects, step), "expected match in the population"):
        block = slice(start, start + step)
        columns = table.block(block)
        match = population.match(rows[block])
        columns[COLUMN] = match if group else match[:, -1]
        values = joint(asked, query, settings, columns)
        out[block] = values[:, 0, 1]
    return out
