"""The columns that a table fills in for an attack: a register of who provides each, by name.

    class_size     per group   people of the table who match on the known attributes
    p_unique       per group   P(unique in the population | unique in the table) on them; one row
                               where the population model says the same of everybody
    records        (scalar)    people in the table

A package adds a column with an entry point, without touching this one:

    [project.entry-points."reidbn.columns"]
    p_linked = "my_package.columns:p_linked"

where p_linked is a Provider: a function of what the table tells and of some of its distinct rows.

An attack that asks for another column gets it from `subject={...}` of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attacks.population_by_subset import SubsetPopulation
from reidbn.attacks.subset_classes import SubsetClasses
from reidbn.errors import DataError, ModelError, UsageError

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
        return self.population.unique_of(rows) if self.few else self.population.unique(rows)


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
    return values[:, -1] if provider.per_subset and not attack.groups else values


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
            raise _unknown(attack, name)
        if known[name].needs_population and told.population is None:
            raise UsageError(
                f"{attack.name} asks who is unique in the population: give population=N, the "
                f"number of people from whom the table was drawn (its own size, if it is everybody)"
            )
        if known[name].per_subset and (column.per, column.each) != (group, None):
            raise UsageError(
                f"{attack.name}: the column {name} has a number for each subset of what is known, "
                f"and what is known is the group {group}: write per: {group} in the model"
            )


def _unknown(attack: Attack, name: str) -> DataError:
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
