"""What an attacker knows about a person: attribute groups, each known with a probability.

A probability is a number, a look-up in a table of facts by the person's own values (such as their
state), or a product of these.  An optional parent makes the groups depend on one event: one
account or list (known only when the person is on it), or who is attacking.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.assumptions import ASSUMPTION
from reidbn.errors import UsageError


@dataclass(frozen=True)
class FactLookup:
    """A column of a table of facts, looked up by columns of the person's record."""

    table: str
    column: str
    by: tuple[str, ...]
    otherwise: float | None = None  # for a person whose values have no row; None refuses
    bands: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Per column: lower edges; a number is looked up as the highest edge that it reaches."""
    relative: bool = False  # a rate relative to others: a product above 1 counts as 1
    keys: tuple[str, ...] = ()  # the facts' columns for `by`; empty: they have the same names

    @property
    def fact_columns(self) -> tuple[str, ...]:
        """The columns of the facts that hold the values, in the order of `by`."""
        return self.keys or self.by


@dataclass(frozen=True, eq=False)
class ByPerson:
    """One number for each person of a table, and the row where each was read."""

    values: NDArray[np.float64]
    rows: NDArray[np.int64]

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The numbers of the people who were read at these rows."""
        order = np.argsort(self.rows, kind="stable")
        place = np.searchsorted(self.rows, rows, sorter=order)
        found = order[np.minimum(place, order.size - 1)]
        if not np.array_equal(self.rows[found], rows):
            raise UsageError("chances given one per person are for the table they were given for")
        return self.values[found]


Factor = float | FactLookup | ByPerson
Chance = tuple[Factor, ...]  # the factors are multiplied


@dataclass(frozen=True)
class InBands:
    """Known of a column only in bands of a width, such as the decade of an age."""

    of: str
    width: float


@dataclass(frozen=True)
class Known:
    """Attributes that are learnt together."""

    name: str
    columns: tuple[str, ...]
    chance: Chance = (1.0,)
    by_profile: Mapping[str, float] = field(default_factory=dict)  # with a Profile parent only
    source: str = ASSUMPTION
    optional: bool = False  # left out, and said so, when the table lacks the columns
    in_bands: InBands | None = None
    """Where the table has no column of this name: the bands of a finer one."""

    @property
    def constant(self) -> float | None:
        """The probability when it is one number for everybody."""
        p = 1.0
        for factor in self.chance:
            if not isinstance(factor, float | int):
                return None
            p *= factor
        return p


@dataclass(frozen=True)
class Listed:
    """The person is on one list or has one account; nothing is known of somebody who is not.

    `shared` keeps it as one event for all groups; otherwise each group meets it independently, as
    in [Xia21], and its chance is multiplied into each group's.
    """

    node: str = "listed"
    chance: Chance = (1.0,)
    shared: bool = False
    source: str = ASSUMPTION


@dataclass(frozen=True)
class Profile:
    """Who is attacking: states with weights; each group has one probability per state."""

    node: str
    weights: Mapping[str, float]
    source: str = ASSUMPTION


@dataclass(frozen=True)
class Knows:
    """Everything a scenario says about what is known."""

    known: tuple[Known, ...]
    parent: Listed | Profile | None = None
    group: str | None = None  # the attack's group that it fills; None: its only one
    every_column: bool = False  # every quasi-identifier of the table that is not named, for sure
