"""The journalist's expected match: E[1 / population class size], over what may be known.

Beside [Xia21]'s journalist (unique in the population): somebody in a class of f in the table is in
a class of F >= f in the population, and a guess there is right with probability 1/F.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.parts import Node, SubjectColumn
from reidbn.attacks.routes.population import SubsetPopulation
from reidbn.attacks.routes.subject_data import CLASS_SIZE, SubjectTable
from reidbn.cpds.match import Probability
from reidbn.inference.answers import joint
from reidbn.inference.query import Query, read_query
from reidbn.progress import progress

Array = NDArray[np.float64]
NODE, COLUMN = "right_in_population", "p_match_in_population"
CELLS = 250_000  # subject x subset cells at a time: more of them cost memory and save no time


def match_question(attack: Attack, do: Mapping[str, str]) -> tuple[Attack, Query]:
    """The attack with E[1/F] as one more node beside its own, and the question about it."""
    group = attack.subject[CLASS_SIZE].axes  # without one, everything is known
    node = Node(NODE, ("no", "yes"), Probability(f"@{COLUMN}"), group)
    asked = attack.replace(
        subject=[*attack.subject.values(), SubjectColumn(COLUMN, per=group)],
        nodes=[*attack.nodes.values(), node],
    )
    return read_query(asked, {NODE: "yes"}, None, do)


@dataclass(frozen=True)
class MatchColumn:
    """E[1/F] of those subjects who are asked for: on every subset, or knowing everything."""

    population: SubsetPopulation
    rows: NDArray[np.intp]
    by_subset: bool

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, some: Any) -> Array:
        found = self.population.match(self.rows[some])
        return found if self.by_subset else found[:, -1]


def match_column(
    attack: Attack, population: SubsetPopulation, table: SubjectTable, who: Any = slice(None)
) -> MatchColumn:
    """The column of these distinct subjects."""
    rows = population.classes.of_person[table.first[who]]
    return MatchColumn(population, rows, attack.subject[CLASS_SIZE].per is not None)


def journalist_match(
    attack: Attack,
    population: SubsetPopulation,
    table: SubjectTable,
    settings: Mapping[str, float],
    do: Mapping[str, str],
) -> Array:
    """E[1/F] of every distinct subject."""
    asked, query = match_question(attack, do)
    match = match_column(attack, population, table)
    out = np.empty(table.subjects)
    step = max(1, CELLS // len(population.status))
    for start in progress(range(0, table.subjects, step), "expected match in the population"):
        block = slice(start, start + step)
        columns = table.block(block)
        columns[COLUMN] = match[block]
        values = joint(asked, query, settings, columns)
        out[block] = values[:, 0, 1]
    return out
