"""Matching: unique or not, one in so many, a share of a class.

unique      yes when the class has size 1            [Xia21] X_ud
one-over    yes with probability 1 / class size      [Xia21] X_s, 0 for an empty class
share       yes with probability part / whole        [Antoniou22] in the leak: h / k
probability yes with a probability that is given     (a number, $parameter or @column)

A record drawn from a table, and copies of a value that are not exact.

one-of      the person is one of n people, or somebody else    P = 1/n each, the last takes the rest
noisy-copy  the value is seen right with a probability, else any other value alike
near-copy   a number is seen as any number within a distance   [NS08] a tolerance
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
    yes_or_no,
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
    by_name: ClassVar[bool] = True
    of: Ref = field(metadata={"story": "the class size: @column, $parameter or a parent"})
    stays: Ref = field(
        default=1.0,
        metadata={"chance": True, "story": "chance that a class of one counts as unique"},
    )

    def probabilities(self, scope: Scope) -> Array:
        size = np.asarray(scope.value(self.of))
        odd = ~((size >= 0) & (size == np.rint(size)))  # also catches NaN
        if odd.any() and scope.checks and str(self.of).startswith("$"):
            told = "" if scope.read_people([self.of]) else f" of {float(size[odd].flat[0])}"
            raise ModelError(
                f"{scope.child.name}: a class{told}; its size is a whole number of records. Of a "
                "mean, ask what may be unique at each size, in a node of sizes"
            )
        return yes_no(scope.child, np.where(size == 1, scope.value(self.stays), 0.0))

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
    by_name: ClassVar[bool] = True
    of: Ref = field(metadata={"story": "the number of candidates: @column, $parameter or a parent"})
    only_if: tuple[str, ...] = field(default=(), metadata={"story": "parents that must be yes"})

    def probabilities(self, scope: Scope) -> Array:
        size = self._size(scope)
        guess = np.where(size >= 1, 1.0 / np.maximum(size, 1), 0.0)
        return yes_no(scope.child, _only_if(scope, self.only_if, guess))

    def _size(self, scope: Scope) -> Array:
        size = np.asarray(scope.value(self.of))
        wrong = ~((size == 0) | (size >= 1))  # also catches NaN
        if wrong.any() and scope.checks:
            found = size[wrong].flat[0]
            told = "" if scope.read_people([self.of]) else f" of {found:.6g}"
            raise ModelError(
                f"{scope.child.name}: one over a number{told}; candidates are 0 (nobody), or 1 "
                f"and more"
            )
        return size

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Guess one of the class at random; the target is number 0."""
        size = np.broadcast_to(self._size(scope), rows)
        guess = np.floor(rng.random(rows) * np.maximum(size, 1))
        hit = _only_if(scope, self.only_if, (guess == 0) & (size >= 1)) > 0
        return yes_or_no(scope.child, hit)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = needs_yes_no(child, self.kind) + needs_parent(self.of, "of", parents)
        return found + _only_if_problems(self.only_if, parents)


@dataclass(frozen=True)
class Share(CPD):
    """Yes with probability part / whole: the target is among the part."""

    kind: ClassVar[str] = "share"
    by_name: ClassVar[bool] = True
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
        return yes_or_no(scope.child, inside)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = needs_yes_no(child, self.kind) + needs_parent(self.part, "part", parents)
        return found + needs_parent(self.whole, "whole", parents)


@dataclass(frozen=True)
class Probability(CPD):
    """Yes with a given probability, and only while every `only_if` parent is yes."""

    kind: ClassVar[str] = "probability"
    by_name: ClassVar[bool] = True
    p: Ref = field(
        metadata={
            "chance": True,
            "story": "the chance: a number, $parameter, @column or a parent",
        }
    )
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
    by_name: ClassVar[bool] = True

    def probabilities(self, scope: Scope) -> Array:
        k = len(scope.child.states)
        return np.full(k, 1.0 / k)


# -- a record drawn from a table, and copies of a value that are not exact -------------------------


@dataclass(frozen=True)
class OneOf(CPD):
    """Every state but the last with probability 1/n; the last one is whatever is left.

    With as many states as people the last state is one of them, and all are alike.
    """

    kind: ClassVar[str] = "one-of"
    by_name: ClassVar[bool] = True
    n: Ref = field(metadata={"story": "How many there are in all"})

    def probabilities(self, scope: Scope) -> Array:
        n = self._checked(scope)
        each = np.repeat((1.0 / n)[..., None], len(scope.child.states), axis=-1)
        each[..., -1] = (n - (each.shape[-1] - 1)) / n
        return each

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Number everybody and draw one; those beyond the named states are the last state."""
        n = np.broadcast_to(self._checked(scope), rows)
        number = np.floor(rng.random(rows) * n)
        return np.minimum(number, len(scope.child.states) - 1).astype(np.intp)

    def _checked(self, scope: Scope) -> Array:
        n = np.asarray(scope.value(self.n), dtype=float)
        named = len(scope.child.states) - 1
        if (n < max(named, 1)).any():
            few = "fewer" if scope.read_people([self.n]) else f"{n.min():g}"
            raise ModelError(
                f"{scope.child.name}: one of {few}, but {named} are named; there must be at least "
                "as many"
            )
        return n

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return needs_parent(self.n, "n", parents)


@dataclass(frozen=True)
class NoisyCopy(CPD):
    """The parent's state with probability `same`; otherwise each other state alike."""

    kind: ClassVar[str] = "noisy-copy"
    same: Ref = field(metadata={"chance": True, "story": "P(the value is seen as it is)"})

    def probabilities(self, scope: Scope) -> Array:
        k = len(scope.child.states)
        same = np.asarray(scope.value(self.same))[..., None]
        equal = np.eye(k, dtype=bool)[scope.state(scope.parents[0].name)]
        if k == 1:
            return np.ones(np.broadcast_shapes(same.shape, equal.shape))
        return np.where(equal, same, (1.0 - same) / (k - 1))

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """See the value, or mistake it for another one at random."""
        k = len(scope.child.states)
        state = np.broadcast_to(scope.state(scope.parents[0].name), rows)
        if k == 1:
            return state.astype(np.intp)
        wrong = rng.random(rows) >= scope.value(self.same)
        shift = rng.integers(1, k, size=rows)
        return np.where(wrong, (state + shift) % k, state).astype(np.intp)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return (
            _copies_one_parent(self.kind, child, parents)
            + needs_parent(self.same, "same", parents)
            + needs_probability(self.same, "same")
        )


@dataclass(frozen=True)
class NearCopy(CPD):
    """Any state whose number is at most `within` away from the parent's, all alike."""

    kind: ClassVar[str] = "near-copy"
    within: Ref = field(metadata={"story": "The largest difference that may be seen"})

    def probabilities(self, scope: Scope) -> Array:
        numbers = scope.child.numbers
        within = np.asarray(scope.value(self.within))[..., None]
        seen = np.abs(numbers - scope.number(scope.parents[0].name)[..., None]) <= within
        out: Array = seen / seen.sum(axis=-1, keepdims=True)
        return out

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = _copies_one_parent(self.kind, child, parents)
        if not found and not child.is_numeric:
            found.append(Problem(("kind",), f"{self.kind} needs states that are numbers"))
        if not isinstance(self.within, str) and self.within < 0:
            found.append(Problem(("within",), f"{self.within:g} is no distance: use 0 or more"))
        return found + needs_parent(self.within, "within", parents)


def _copies_one_parent(kind: str, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
    if len(parents) != 1 or parents[0].is_group:
        return [Problem(("kind",), f"{kind} needs exactly one parent node")]
    if parents[0].states != child.states:
        return [Problem(("kind",), f"{kind} needs the same states as its parent {parents[0].name}")]
    return []
