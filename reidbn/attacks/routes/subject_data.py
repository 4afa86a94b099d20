"""The columns that a table fills in for an attack: a register of who provides each, by name.

    class_size     per group   people of the table who match on the known attributes
    p_unique       per group   P(one person of the population is like that), on them: 0 for whoever
                               is not alone in the table; one row where the model says the same of
                               everybody and the attack asks it of those alone only (a unique gate)
    records        (scalar)    people in the table
    p_known        each        P(the attacker knows this group), from the scenario

A package adds a column with an entry point, without touching this one:

    [project.entry-points."reidbn.columns"]
    p_linked = "my_package.columns:p_linked"

where p_linked is a Provider: a function of what the table tells and of some of its distinct rows.

An attack that asks for another column gets it from `subject={...}` of the call.  A parameter
"records" (unit: records) is the number of people in the table too, unless the call sets it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.metadata import entry_points
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.columns import column_shape, counts_people, describe_shape, named_order, shaped
from reidbn.attack.parts import Group
from reidbn.attacks.family.columns import FAMILY
from reidbn.attacks.linkage.columns import COLUMNS
from reidbn.attacks.routes.counts import MEMORY, SubsetClasses
from reidbn.attacks.routes.population import SubsetPopulation
from reidbn.cpds.match import Unique
from reidbn.errors import DataError, ModelError, UsageError, did_you_mean
from reidbn.inference.values import subject_column

Rows = NDArray[np.intp]
CLASS_SIZE, P_UNIQUE, RECORDS = "class_size", "p_unique", "records"


@dataclass(frozen=True, eq=False)
class Told:
    """What a table tells of its distinct rows, subset by subset of the groups that are known."""

    classes: SubsetClasses
    population: SubsetPopulation | None = None
    few: bool = False
    """Whether only some rows are asked about, so that a number for everybody is not made."""

    @property
    def records(self) -> int:
        """People in the table, among whom classes are counted."""
        return self.classes.records

    def sizes(self, rows: Rows) -> NDArray[Any]:
        """Class sizes, row x subset; the last subset is everything."""
        if self.few:
            return self.classes.sizes_of(rows).T
        everybody = np.array_equal(rows, np.arange(self.classes.rows))
        return (self.classes.sizes if everybody else self.classes.sizes[:, rows]).T

    def unique(self, rows: Rows) -> NDArray[np.float64]:
        """P(unique in the population | unique in the table), row x subset or one row for all."""
        assert self.population is not None  # noqa: S101 - a provider says that it needs one
        found = self.population.unique_of(rows) if self.few else self.population.unique(rows)
        was = self.population.classes
        if was is self.classes:
            return found
        alone = Told(was, few=self.few).sizes(rows) == 1  # who is like somebody left out is not
        return np.asarray(found * alone)


@dataclass(frozen=True)
class Provider:
    """Fills one column: `fill(told, rows)` has a number for each row and subset, or one row.

    Where the column is no matter of what is known (`per_subset=False`), a number for each row, or
    one.  `meaning` ends the sentence "a table provides it: ...".
    """

    fill: Callable[[Told, Rows], NDArray[Any]]
    meaning: str
    per_subset: bool = True
    needs_population: bool = False


SHIPPED: dict[str, Provider] = {
    CLASS_SIZE: Provider(Told.sizes, "the number of people alike on what is known"),
    P_UNIQUE: Provider(
        Told.unique, "the class has one person of the population", needs_population=True
    ),
    RECORDS: Provider(
        lambda told, _: np.array([float(told.records)]), "the table's rows", per_subset=False
    ),
}


@cache
def providers() -> Mapping[str, Provider]:
    """Every column that a table provides: those shipped, and those of installed packages."""
    found = dict(SHIPPED)
    for point in entry_points(group="reidbn.columns"):
        if point.name in found:
            raise ModelError(f'an installed package redefines the subject column "{point.name}"')
        provider = point.load()
        if not isinstance(provider, Provider):
            raise ModelError(f'subject column "{point.name}": its entry point is no Provider')
        found[point.name] = provider
    return found


def on_population(attack: Attack, given: Collection[str] = ()) -> tuple[str, ...]:
    """The attack's columns that a population model fills, but those that the call gave."""
    known = providers()
    return tuple(
        name
        for name in attack.subject
        if name in known and known[name].needs_population and name not in given
    )


def filled(attack: Attack, name: str, told: Told, rows: Rows) -> NDArray[Any]:
    """One column of the attack for these rows; where it has no group, as if everything is known."""
    provider = providers()[name]
    values = provider.fill(told, rows)
    if name == P_UNIQUE and not _asks_of_those_alone(attack):
        values = values * (told.sizes(rows) == 1)
    return values[:, -1] if provider.per_subset and not attack.groups else values


def _asks_of_those_alone(attack: Attack) -> bool:
    """Whether all that reads p_unique is a gate that is shut for classes of more than one."""
    column = f"@{P_UNIQUE}"
    readers = [node.cpd for node in attack.all_nodes.values() if column in attack.behind(node.cpd)]
    gates = all(isinstance(cpd, Unique) and cpd.of == f"@{CLASS_SIZE}" for cpd in readers)
    return gates and column not in attack.behind_utilities


def as_needed(attack: Attack, given: Collection[str], population: float | None) -> Attack:
    """The attack without columns that nothing reads and that neither call nor table fill."""
    known = providers()
    filled = {n for n in known if population is not None or not known[n].needs_population}
    kept = {*attack.columns_read, *given, *filled}
    if {*attack.subject} <= kept:
        return attack
    return attack.replace(subject=[c for c in attack.subject.values() if c.name in kept])


def refuse_unprovided(
    attack: Attack, group: str | None, told: Told, given: Collection[str]
) -> None:
    """Raise where a column is neither given nor provided by the table, with what would help.

    `group` is the one that the scenario filled, over whose subsets numbers are told.
    """
    known = providers()
    for name, column in attack.subject.items():
        if name in given:
            continue
        if name not in known:
            raise not_given(attack, name)
        if known[name].needs_population and told.population is None:
            raise UsageError(
                f"{attack.name} asks who is unique in the population: give population=N, the "
                f"number of people from whom the table was drawn (its own size, if it is everybody)"
            )
        if known[name].per_subset and (column.per, column.each, column.over) != (group, None, None):
            raise UsageError(
                f"{attack.name}: the column {name} has a number for each subset of what is known, "
                f"and what is known is the group {group}: write per: {group} in the model"
            )


def not_given(attack: Attack, name: str) -> DataError:
    if name in COLUMNS:
        return DataError(
            f'{attack.name} needs the subject column "{name}", which a sparse table provides: read '
            f"it with rb.read_sparse(source, features=...), and assess that; or give it: "
            f'subject={{"{name}": values}}, a row of values per person'
        )
    if name in FAMILY:
        return DataError(
            f'{attack.name} needs the subject column "{name}", which records that tell of '
            f"relatives provide: kin = rb.read_kin(rb.read_sparse(source, features=...)), and "
            f'assess that; or give it: subject={{"{name}": values}}, a value per person'
        )
    known = dict(providers())
    size = known.pop(CLASS_SIZE).meaning
    also = [f"{other} ({one.meaning})" for other, one in known.items()]
    said = (
        f'{attack.name} needs the subject column "{name}", which no table provides. If it is '
        f"{size}, call it {CLASS_SIZE} in the model; a table also provides "
        f"{', '.join(also[:-1])} and {also[-1]}. "
    )
    return DataError(
        f'{said}Else give it: subject={{"{name}": values}}, a row of values per person',
        in_shell=f"{said}Else give it in Python, rb.assess(..., subject=...)",
    )


# -- filling an attack's subject columns from a table (columns.py says who  ------------------------


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

    def of_subjects(self, some: NDArray[np.intp]) -> dict[str, Any]:
        """The columns of these subjects."""
        if self.some is not None:
            return self.some(some)
        return {name: v[some] if len(v) > 1 else v for name, v in self.columns.items()}

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
    for name in {*own} - {*given}:
        own_columns[name] = _one_row(own_columns[name])

    made = _Made(attack, classes, population, own_columns, first)
    kept = classes.rows * classes.subsets * 4 <= MEMORY
    columns = Lazy(tuple(attack.subject), made.whole)
    return SubjectTable(
        columns, of_person, made.some, kept, people=classes.counts, given=frozenset(given)
    )


@dataclass(frozen=True)
class _Made:
    """Columns as they are asked for; of a class, so that an assessment can be pickled."""

    attack: Attack
    classes: SubsetClasses
    population: SubsetPopulation | None
    own: Mapping[str, Array]
    first: NDArray[np.intp]

    def whole(self, name: str) -> Any:
        if name in self.own:
            return self.own[name]
        told = Told(self.classes, self.population)
        return filled(self.attack, name, told, self.classes.of_person[self.first])

    def some(self, subjects: NDArray[np.intp]) -> dict[str, Any]:
        told = Told(self.classes, self.population, few=True)
        rows = self.classes.of_person[self.first[subjects]]
        return {
            name: (self.own[name][subjects] if len(self.own[name]) > 1 else self.own[name])
            if name in self.own
            else filled(self.attack, name, told, rows)
            for name in self.attack.subject
        }


def _one_row(values: Array) -> Array:
    """A number that is the same of everybody, once: what stands on it is then worked out once."""
    alike = values.ndim == 1 and len(values) > 1 and bool((values == values[0]).all())
    return values[:1] if alike else values


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


def stands_on_the_table(attack: Attack, name: str) -> bool:
    """Whether a column tells of the other people of a table, so that a release changes it."""
    own = (*providers(), *COLUMNS, *FAMILY)
    return name in own or counts_people(attack, attack.subject[name])


def given_columns(attack: Attack, people: int, given: Mapping[str, Any]) -> dict[str, Array]:
    """The columns of the call, checked: a row for every person, named values in the model's order.

    `attack` has the members that the table has.
    """
    found = {}
    for name, values in given.items():
        if name in attack.subject and len(np.atleast_1d(np.asarray(values))) == people:
            many = np.asarray(named_order(attack, attack.subject[name], values))
            wanted = column_shape(attack, attack.subject[name])
            if people > 1 and shaped(many, wanted, rows=True) is None:
                raise DataError(
                    f'subject column "{name}" has shape {many.shape} for {people:,} people; '
                    f"{describe_shape(attack, attack.subject[name])}, for each of them"
                )
            values = subject_column(attack, name, many)
        found[name] = np.asarray(values, dtype=float)
    _check_given(attack, people, found)
    return found


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
