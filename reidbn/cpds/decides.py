"""A choice instead of a chance: what an attacker does is worked out from what it is worth to him.

The table of a decision is the attacker's policy, which lowering fills in.  A room that asks a
decision for its table before that is refused, so that nobody takes a choice for a chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.protocol import CPD as _CPD
from reidbn.cpds.protocol import (
    NO,
    YES,
    Array,
    Ref,
    Scope,
    Variable,
    needs_reference,
)
from reidbn.cpds.rows import Row, Rows
from reidbn.errors import Problem, UsageError


@dataclass(frozen=True)
class Decides(_CPD):
    """The states are options, and the parents what is seen before one is taken.

    With a temperature above 0 the attacker is not quite rational: an option is taken in proportion
    to exp(worth / temperature), which is in the unit of the utilities.
    """

    kind: ClassVar[str] = "decides"
    in_files: ClassVar[bool] = False  # it stands under decisions
    temperature: Ref = field(
        default=0.0, metadata={"story": "how far from rational, in the unit of the utilities"}
    )

    def probabilities(self, scope: Scope) -> Array:
        self._refuse(scope.child.name)

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        self._refuse(scope.child.name)

    @staticmethod
    def _refuse(name: str) -> NoReturn:
        raise UsageError(
            f"{name} is decided by the attacker: it has no chances before his best policy is "
            f"worked out. rb.decide(attack).attack is the attack with that policy written in"
        )

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        if len(child.states) < 2:
            return [Problem(("states",), "a decision needs at least two options")]
        where = ("temperature",)
        if isinstance(self.temperature, str):
            return needs_reference(self.temperature, *where)
        if self.temperature < 0:
            return [Problem(where, f"{self.temperature:g} is below 0; 0 is a rational attacker")]
        return []


def eagerness(options: tuple[str, ...]) -> list[int]:
    """Positions of the options, the one that goes first where several are worth the same first.

    That is `yes`, if there is one, and else the later: options stand from holding back upwards,
    which goes last wherever it stands.
    """
    order = list(range(len(options)))[::-1]
    return sorted(order, key=lambda i: (options[i] != YES, i == holds_back(options)))


def holds_back(options: tuple[str, ...]) -> int:
    """Which option is not to attack: `no`, if there is one, and else the first."""
    return options.index(NO) if NO in options else 0


@dataclass(frozen=True)
class Payoffs(Rows):
    """What each state of some nodes is worth: rows of one cell, the first that fits counts."""

    kind: ClassVar[str] = "payoffs"
    in_files: ClassVar[bool] = False

    @classmethod
    def of(cls, rows: tuple[tuple[Ref, dict[str, str | tuple[str, ...]]], ...]) -> Payoffs:
        return cls(tuple(Row((value,), when) for value, when in rows))

    def values(self, scope: Scope) -> Array:
        """What is won (or lost, below 0), without an axis of states."""
        return self.probabilities(scope)[..., 0]

    def problems_without_parents(self, child: Variable) -> list[Problem]:
        return [
            problem
            for i, row in enumerate(self.rows)
            for problem in needs_reference(row.cells(child.states)[0], "rows", i, "value")
        ]
