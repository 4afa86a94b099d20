"""A record drawn from a table, and copies of a value that are not exact.

one-of      the person is one of n people, or somebody else    P = 1/n each, the last takes the rest
noisy-copy  the value is seen right with a probability, else any other value alike
near-copy   a number is seen as any number within a distance   [NS08] a tolerance
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.protocol import (
    CPD,
    Array,
    Ref,
    Scope,
    Variable,
    needs_parent,
    needs_probability,
)
from reidbn.errors import ModelError, Problem


@dataclass(frozen=True)
class OneOf(CPD):
    """Every state but the last with probability 1/n; the last one is whatever is left.

    With as many states as people the last state is one of them, and all are alike.
    """

    kind: ClassVar[str] = "one-of"
    has_story: ClassVar[bool] = True
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
            raise ModelError(
                f"{scope.child.name}: one of {n.min():g}, but {named} are named; "
                f"there must be at least as many"
            )
        return n

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return needs_parent(self.n, "n", parents)


@dataclass(frozen=True)
class NoisyCopy(CPD):
    """The parent's state with probability `same`; otherwise each other state alike."""

    kind: ClassVar[str] = "noisy-copy"
    has_story: ClassVar[bool] = True
    same: Ref = field(metadata={"story": "P(the value is seen as it is)"})

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
