"""Filling an attack's subject columns from a table (columns.py says who provides each).

    p_known        each        P(the attacker knows this group), from the scenario

A parameter "records" (unit: records) is the number of people in the table too, unless the call sets
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.parts import Group
from reidbn.attacks.columns import RECORDS, Told, filled, refuse_unprovided
from reidbn.attacks.population_by_subset import SubsetPopulation
from reidbn.attacks.subset_classes import MEMORY, SubsetClasses
from reidbn.errors import DataError, ModelError, UsageError, did_you_mean

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SubjectTable:
    """Subject data for the distinct subjects, and which of them each person is."""

    columns: Mapping[str, Any]
    """Read only when asked for where they hold a number per row and subset."""
    of_entry: NDArray[np.intp]
    """The subject of each entry of the table: a person, or a cell of several."""
    some: Callable[[NDArray[np.intp]], dict[str, Any]] | None = None
    """The columns of some subjects, made anew."""
    is_kept: bool = True
    """Whether the columns of everybody can be held."""
    people: NDArray[np.int64] | None = None
    """How many people each entry is; None: one."""
    given: frozenset[str] = frozenset()
    """Columns that the call gave: no table says anything of them."""

    @cached_property
    def of_person(self) -> NDArray[np.intp]:
        """The subject of each person."""
        return self.of_entry if self.people is None else np.repeat(self.of_entry, self.people)

    @property
    def subjects(self) -> int:
        return int(self.of_entry.max()) + 1

    def block(self, part: slice) -> dict[str, Any]:
        """The columns of some subjects; one row where all are alike."""
        if self.some is not None and not self.is_kept:
            return self.some(np.arange(self.subjects)[part])
        return {name: v[part] if len(v) > 1 else v for name, v in self.columns.items()}

    @cached_property
    def first(self) -> NDArray[np.intp]:
        """One entry of each distinct subject."""
        return np.unique(self.of_entry, return_index=True)[1]

    @property
    def counts(self) -> NDArray[np.intp]:
        """How many people each distinct subject stands for."""
        found = np.bincount(self.of_entry, self.people, minlength=self.subjects)
        return found.astype(np.intp)


def subject_table(
    attack: Attack,
    classes: SubsetClasses,
    population: SubsetPopulation | None,
    own: Mapping[str, Array],
    given: Mapping[str, Any],
    group: Group | None,
) -> SubjectTable:
    """The subject data of an attack whose group, if any, has been placed on a table."""
    _check_given(attack, classes.people, given)
    by_person = {name: np.asarray(v, dtype=float) for name, v in {**own, **given}.items()}
    refuse_unprovided(
        attack, None if group is None else group.name, Told(classes, population), by_person
    )
    of_person, first = _distinct(classes, by_person)
    own_columns = {name: by_person[name][first] for name in by_person}

    def whole(name: str) -> Any:
        if name in own_columns:
            return own_columns[name]
        return filled(attack, name, Told(classes, population), classes.of_person[first])

    def some(subjects: NDArray[np.intp]) -> dict[str, Any]:
        told, rows = Told(classes, population, few=True), classes.of_person[first[subjects]]
        return {
            name: own_columns[name][subjects]
            if name in own_columns
            else filled(attack, name, told, rows)
            for name in attack.subject
        }

    kept = classes.rows * classes.subsets * 4 <= MEMORY
    columns = Lazy(tuple(attack.subject), whole)
    return SubjectTable(
        columns, of_person, some, kept, people=classes.counts, given=frozenset(given)
    )


class Lazy(Mapping[str, Any]):
    """Columns by name, each made when it is first read."""

    def __init__(self, names: tuple[str, ...], make: Callable[[str], Any]) -> None:
        self._names, self._make = names, make
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def with_records(attack: Attack, people: int, chosen: Mapping[str, float]) -> Attack:
    """The attack with its parameter "records", where it has one, at the table's size."""
    found = attack.parameters.get(RECORDS)
    if found is None or found.unit != RECORDS or RECORDS in chosen:
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
