"""Matching: unique or not, one in so many, a share of a class.

unique      yes when the class has size 1            [Xia21] X_ud
one-over    yes with probability 1 / class size      [Xia21] X_s, 0 for an empty class
share       yes with probability part / whole        [Antoniou22] in the leak: h / k
probability yes with a probability that is given     (a number, $parameter or @column)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.protocol import (
    CPD,
    NO,
    YES,
    Array,
    Ref,
    Scope,
    Variable,
    needs_parent,
    needs_probability,
    needs_yes_no,
    yes_no,
)
from reidbn.errors import ModelError, Problem, did_you_mean


def _only_if(scope: Scope, conditions: tuple[str, ...], p: Array) -> Array:
    """The probability p while every condition is yes, else 0."""
    for parent in conditions:
        p = np.where(scope.number(parent) == 1, p, 0.0)
    return np.asarray(p)


def _only_if_problems(conditions: tuple[str, ...], parents: tuple[Variable, ...]) -> list[Problem]:
    found = []
    by_name = {p.name: p for p in parents}
    for i, name in enumerate(conditions):
        if name not in by_name:
            message = f'"{name}" is not a parent of this node; {did_you_mean(name, by_name)}'
            found.append(Problem(("only_if", i), message))
        elif by_name[name].is_group or set(by_name[name].states) != {YES, NO}:
            message = f"only_if needs yes/no parents, which {name} is not"
            found.append(Problem(("only_if", i), message))
    return found


@dataclass(frozen=True)
class Unique(CPD):
    """Yes when the class `of` has exactly one record; then with probability `stays`."""

    kind: ClassVar[str] = "unique"
    of: Ref = field(metadata={"story": "the class size: @column, $parameter or a parent"})
    stays: Ref = field(
        default=1.0, metadata={"story": "chance that a class of one counts as unique"}
    )

    def probabilities(self, scope: Scope) -> Array:
        return yes_no(
            scope.child, np.where(scope.value(self.of) == 1, scope.value(self.stays), 0.0)
        )

    def degree_held(self, name: str, parents: Sequence[Variable]) -> int | None:
        return None if self.of == f"${name}" else 1

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = needs_yes_no(child, self.kind) + needs_parent(self.of, "of", parents)
        return (
            found
            + needs_parent(self.stays, "stays", parents)
            + needs_probability(self.stays, "stays")
        )


@dataclass(frozen=True)
class OneOver(CPD):
    """Yes with probability 1 / size: a guess within the class, while `only_if` parents are yes."""

    kind: ClassVar[str] = "one-over"
    has_story: ClassVar[bool] = True
    of: Ref = field(metadata={"story": "the number of candidates: @column, $parameter or a parent"})
    only_if: tuple[str, ...] = field(default=(), metadata={"story": "parents that must be yes"})

    def probabilities(self, scope: Scope) -> Array:
        size = np.asarray(scope.value(self.of))
        guess = np.where(size >= 1, 1.0 / np.maximum(size, 1), 0.0)
        return yes_no(scope.child, _only_if(scope, self.only_if, guess))

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Guess one of the class at random; the target is number 0."""
        size = np.broadcast_to(scope.value(self.of), rows)
        guess = np.floor(rng.random(rows) * np.maximum(size, 1))
        hit = _only_if(scope, self.only_if, (guess == 0) & (size >= 1)) > 0
        return np.where(hit, scope.child.states.index(YES), scope.child.states.index("no"))

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = needs_yes_no(child, self.kind) + needs_parent(self.of, "of", parents)
        return found + _only_if_problems(self.only_if, parents)


@dataclass(frozen=True)
class Share(CPD):
    """Yes with probability part / whole: the target is among the part."""

    kind: ClassVar[str] = "share"
    has_story: ClassVar[bool] = True
    part: Ref = field(metadata={"story": "how many are inside"})
    whole: Ref = field(metadata={"story": "how many there are"})

    def probabilities(self, scope: Scope) -> Array:
        part, whole = scope.value(self.part), scope.value(self.whole)
        if not {self.part, self.whole} & {p.name for p in scope.parents}:
            self._refuse_more_than_whole(scope, part, whole)
        # Configurations with part > whole have probability 0; they still need a legal row.
        ratio = np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 0.0)
        return yes_no(scope.child, np.clip(ratio, 0.0, 1.0))

    def _refuse_more_than_whole(self, scope: Scope, part: Array, whole: Array) -> None:
        """Where no parent says either, there is no configuration of probability 0 to excuse it."""
        wrong = ~((part >= 0) & (part <= whole))  # also catches NaN
        if wrong.any():
            raise ModelError(
                f"{scope.child.name}: the part ({self.part}) is below 0 or larger than the whole "
                f"({self.whole}); a share lies between 0 and 1"
            )

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Number the whole at random; the target is inside when its number is within the part."""
        whole = np.broadcast_to(scope.value(self.whole), rows)
        number = np.floor(rng.random(rows) * np.maximum(whole, 1))
        inside = (number < scope.value(self.part)) & (whole > 0)
        return np.where(inside, scope.child.states.index(YES), scope.child.states.index("no"))

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = needs_yes_no(child, self.kind) + needs_parent(self.part, "part", parents)
        return found + needs_parent(self.whole, "whole", parents)


@dataclass(frozen=True)
class Probability(CPD):
    """Yes with a given probability, and only while every `only_if` parent is yes."""

    kind: ClassVar[str] = "probability"
    p: Ref = field(metadata={"story": "the chance: a number, $parameter, @column or a parent"})
    only_if: tuple[str, ...] = field(default=(), metadata={"story": "parents that must be yes"})

    def probabilities(self, scope: Scope) -> Array:
        return yes_no(scope.child, _only_if(scope, self.only_if, scope.value(self.p)))

    def degree_held(self, name: str, parents: Sequence[Variable]) -> int | None:
        return 1

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = needs_yes_no(child, self.kind) + needs_parent(self.p, "p", parents)
        found += needs_probability(self.p, "p")
        return found + _only_if_problems(self.only_if, parents)


@dataclass(frozen=True)
class Uniform(CPD):
    """Every state alike."""

    kind: ClassVar[str] = "uniform"

    def probabilities(self, scope: Scope) -> Array:
        k = len(scope.child.states)
        return np.full(k, 1.0 / k)
