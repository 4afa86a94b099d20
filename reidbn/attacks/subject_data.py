"""Filling an attack's subject columns from a table: what each name means, and who provides it.

    class_size     per group   people of the table who match on the known attributes
    p_unique       per group   P(unique in the population | unique in the table) on them; one row
                               where the population model says the same of everybody
    p_known        each        P(the attacker knows this group), from the scenario
    records        (scalar)    people in the table

An attack that asks for another column gets it from `subject={...}` of the call.  A parameter
"records" (unit: records) is the number of people in the table too, unless the call sets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attacks.population_by_subset import SubsetPopulation
from reidbn.attacks.subset_classes import SubsetClasses
from reidbn.errors import DataError, ModelError, UsageError, did_you_mean

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SubjectTable:
    """Subject data for the distinct subjects, and which of them each person is."""

    columns: Mapping[str, Any]
    of_person: NDArray[np.intp]

    @property
    def subjects(self) -> int:
        return int(self.of_person.max()) + 1

    @cached_property
    def first(self) -> NDArray[np.intp]:
        """One person of each distinct subject."""
        return np.unique(self.of_person, return_index=True)[1]

    @property
    def counts(self) -> NDArray[np.intp]:
        """How many people each distinct subject stands for."""
        return np.bincount(self.of_person, minlength=self.subjects)


def subject_table(
    attack: Attack,
    classes: SubsetClasses,
    population: SubsetPopulation | None,
    own: Mapping[str, Array],
    given: Mapping[str, Any],
) -> SubjectTable:
    """The subject data of an attack whose group has been placed on a table."""
    _check_given(attack, classes.people, given)
    by_person = {name: np.asarray(v, dtype=float) for name, v in {**own, **given}.items()}
    of_person, first = _distinct(classes, by_person)
    columns: dict[str, Any] = {name: by_person[name][first] for name in by_person}
    for name in attack.subject:
        if name not in columns:
            columns[name] = _from_table(name, attack, classes, population, first)
    return SubjectTable(columns, of_person)


def with_records(attack: Attack, people: int, chosen: Mapping[str, float]) -> Attack:
    """The attack with its parameter "records", where it has one, at the table's size."""
    found = attack.parameters.get("records")
    if found is None or found.unit != "records" or "records" in chosen:
        return attack
    table = replace(found, value=people, low=people, high=people, prior=None, source="the table")
    try:
        return attack.replace(parameters=attack.parameters.replace(table))
    except ModelError:
        rules = "; ".join(attack.where)
        raise UsageError(
            f"{attack.name}: with the table's {people:,} people as records, {rules} does not hold; "
            f'set both: set={{"records": {people}, ...}}'
        ) from None


def _check_given(attack: Attack, people: int, given: Mapping[str, Any]) -> None:
    for name, values in given.items():
        if name not in attack.subject:
            hint = did_you_mean(name, attack.subject)
            raise UsageError(f'{attack.name} has no subject column "{name}"; {hint}')
        if len(np.atleast_1d(values)) != people:
            raise DataError(
                f'subject column "{name}" has {len(np.atleast_1d(values)):,} rows for '
                f"{people:,} people; give one per person, in record order"
            )


def _from_table(
    name: str,
    attack: Attack,
    classes: SubsetClasses,
    population: SubsetPopulation | None,
    first: NDArray[np.intp],
) -> Any:
    """A column that the table provides, for one person of each distinct subject."""
    if name == "class_size":
        rows = classes.of_person[first]
        everybody = np.array_equal(rows, np.arange(classes.rows))
        return (classes.sizes if everybody else classes.sizes[:, rows]).T
    if name == "p_unique":
        return _p_unique(attack, population, classes.of_person[first])
    if name == "records":
        return np.array([float(classes.records)])
    said = (
        f'{attack.name} needs the subject column "{name}", which no table provides. If it is the '
        f"number of people alike on what is known, call it class_size in the model; a table also "
        "provides p_unique (the class has one person of the population) and records (its rows). "
    )
    raise DataError(
        f'{said}Else give it: subject={{"{name}": values}}, a row of values per person',
        in_shell=f"{said}Else give it in Python, rb.assess(..., subject=...)",
    )


def _p_unique(attack: Attack, population: SubsetPopulation | None, rows: NDArray[np.intp]) -> Array:
    if population is None:
        raise UsageError(
            f"{attack.name} asks who is unique in the population: give population=N, the number "
            f"of people from whom the table was drawn (its own size, if it is everybody)"
        )
    return population.unique(rows)


def _distinct(
    classes: SubsetClasses, by_person: Mapping[str, Array]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Subjects alike in class sizes and in their own columns, and one person of each."""
    keys = [classes.of_person.astype(float)]
    for values in by_person.values():
        keys += list(values.reshape(len(values), -1).T)
    of_person = classes.of_person.astype(np.intp)
    for key in keys[1:]:
        _, code = np.unique(key, return_inverse=True)
        if code.max(initial=0) > 0:
            joined = of_person * (int(code.max()) + 1) + code
            _, of_person = np.unique(joined, return_inverse=True)
    _, first, of_person = np.unique(of_person, return_index=True, return_inverse=True)
    return of_person.reshape(-1), first
