"""And, or, at least m, and their noisy forms: the gates of an attack tree.

A parent counts when its state is yes; a group counts once per member that is known.

A mixture: one of several ways holds, each with its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.protocol import (
    CPD,
    NO,
    YES,
    Array,
    Part,
    Ref,
    Scope,
    Variable,
    draw,
    in_steps,
    needs_parents,
    needs_probability,
    needs_reference,
    needs_weight_each,
    needs_yes_no,
    yes_no,
    yes_or_no,
)
from reidbn.cpds.rows import REST, TOLERANCE, what_is_left
from reidbn.errors import Problem
from reidbn.written import few


def _count(scope: Scope) -> Array:
    """How many of the parents (and known members of parent groups) are yes."""
    total: Array = np.asarray(0.0)
    for parent in scope.parents:
        total = total + scope.number(parent.name)
    return total


def _missing(scope: Scope, parent: Variable) -> Array:
    """How many of a parent's inputs are no."""
    return (len(parent.members) or 1) - scope.number(parent.name)


def _inputs(parents: tuple[Variable, ...]) -> int:
    return sum(len(p.members) or 1 for p in parents)


@dataclass(frozen=True)
class _Gate(CPD):
    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = needs_yes_no(child, self.kind) + needs_parents(parents, self.kind)
        for p in parents:
            if not p.is_group and set(p.states) != {"no", YES}:
                message = f"{self.kind} needs yes/no parents; {p.name} has {few(p.states)}"
                found.append(Problem(("kind",), message))
        return found

    def parts(self, child: Variable, parents: tuple[Variable, ...]) -> tuple[Part, ...]:
        return in_steps(child, parents, (NO, YES), lambda met: self, lambda met: self)


@dataclass(frozen=True)
class And(_Gate):
    """Yes when every parent is yes."""

    kind: ClassVar[str] = "and"

    def probabilities(self, scope: Scope) -> Array:
        return yes_no(scope.child, _count(scope) == _inputs(scope.parents))


@dataclass(frozen=True)
class Or(_Gate):
    """Yes when at least one parent is yes."""

    kind: ClassVar[str] = "or"

    def probabilities(self, scope: Scope) -> Array:
        return yes_no(scope.child, _count(scope) >= 1)


@dataclass(frozen=True)
class Threshold(_Gate):
    """Yes when at least `at_least` parents are yes."""

    kind: ClassVar[str] = "threshold"
    at_least: int = field(metadata={"sourced": False, "story": "how many parents have to be yes"})

    def probabilities(self, scope: Scope) -> Array:
        return yes_no(scope.child, _count(scope) >= self.at_least)

    def parts(self, child: Variable, parents: tuple[Variable, ...]) -> tuple[Part, ...]:
        def counts(met: tuple[Variable, ...]) -> tuple[str, ...]:
            most = sum(len(p.members) or len(p.states) - 1 for p in met)
            return tuple(str(i) for i in range(min(self.at_least, most) + 1))

        return in_steps(child, parents, counts, lambda met: _CountSoFar(), lambda met: self)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = super().problems(child, parents)
        inputs = _inputs(parents)
        if not 1 <= self.at_least <= inputs:
            most = "1" if inputs == 1 else f"1 to {inputs}"
            message = f"asks for {self.at_least} where {inputs} can be yes; use {most}"
            found.append(Problem(("at_least",), message))
        return found


@dataclass(frozen=True)
class _CountSoFar(CPD):
    """How many were yes up to here; the last state is "this many or more"."""

    kind: ClassVar[str] = "count-so-far"

    def probabilities(self, scope: Scope) -> Array:
        most = len(scope.child.states) - 1
        count = np.minimum(_count(scope), most)
        return np.asarray(count[..., None] == np.arange(most + 1), dtype=float)


@dataclass(frozen=True)
class _Noisy(_Gate):
    """`weights` by parent name: P(this parent alone suffices); one number serves all."""

    weights: dict[str, Ref] | tuple[Ref, ...] | Ref = field(
        default_factory=dict,
        metadata={
            "chance": True,
            "story": "parent: number or $parameter; one number serves every parent",
        },
    )
    leak: Ref = field(
        default=0.0,
        metadata={"chance": True, "story": "chance of what the parents do not explain"},
    )

    def named(self, parents: Sequence[str]) -> CPD:
        if not isinstance(self.weights, tuple) or len(self.weights) != len(parents):
            return self
        return replace(self, weights=dict(zip(parents, self.weights, strict=True)))

    def weight(self, parent: str) -> Ref:
        weights = self.weights
        assert not isinstance(weights, tuple)  # noqa: S101 - `named` has told them apart
        return weights[parent] if isinstance(weights, dict) else weights

    def degree_held(self, name: str, parents: Sequence[Variable]) -> int | None:
        """(1 - leak) prod (1 - weight): one factor for every input that may count."""
        inputs = sum(len(p.members) or 1 for p in parents if self.weight(p.name) == f"${name}")
        return inputs + (self.leak == f"${name}")

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = super().problems(child, parents) + needs_probability(self.leak, "leak")
        found += needs_reference(self.leak, "leak")
        names = [p.name for p in parents]
        if isinstance(self.weights, tuple):
            message = f"has {len(self.weights)} weights for {len(names)} parents"
            return [*found, Problem(("weights",), message)]
        if not isinstance(self.weights, dict):
            return found + _weight_problems(self.weights, "weights")
        for name, ref in self.weights.items():
            found += _weight_problems(ref, "weights", name)
        return found + needs_weight_each(self.weights, parents)

    def parts(self, child: Variable, parents: tuple[Variable, ...]) -> tuple[Part, ...]:
        own = {p.name for p in parents}

        def over(met: tuple[Variable, ...], leak: Ref) -> CPD:
            weights = {p.name: self.weight(p.name) if p.name in own else 1.0 for p in met}
            return replace(self, weights=weights, leak=leak)

        return in_steps(
            child, parents, (NO, YES), lambda met: over(met, 0.0), lambda met: over(met, self.leak)
        )

    def _chances(
        self, scope: Scope, counts: Callable[[Variable], Array]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """P(no input and no leak works), P(any does); `counts` says how many of a parent may.

        The second is not 1 minus the first: under 1e-9 that loses digits, under 1e-17 all of them.
        """
        none, log = _all_fail(scope.value(self.leak), np.asarray(1.0))
        for parent in scope.parents:
            failing, more = _all_fail(scope.value(self.weight(parent.name)), counts(parent))
            none, log = none * failing, log + more
        some = -np.expm1(log)
        return none, np.where(np.isnan(some), 1.0 - none, some)


def _all_fail(p: Array, times: Array) -> tuple[NDArray[Any], NDArray[Any]]:
    """(1 - p)^times and its logarithm; NaN for a p above 1, as when a curve is read off."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.log1p(-p)
        return (1.0 - p) ** times, np.where(times == 0, 0.0, np.maximum(times, 1) * one)


def _weight_problems(ref: Ref, *where: str) -> list[Problem]:
    return needs_reference(ref, *where) + needs_probability(ref, *where)


@dataclass(frozen=True)
class NoisyOr(_Noisy):
    """Each yes parent suffices with its own probability; `leak` is yes with no cause at all.

    P(no | parents) = (1 - leak) prod over yes parents of (1 - weight)
    """

    kind: ClassVar[str] = "noisy-or"

    def probabilities(self, scope: Scope) -> Array:
        p_no, p_yes = self._chances(scope, lambda parent: scope.number(parent.name))
        return yes_no(scope.child, p_yes, p_no)

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Toss one coin per cause that is present, and one for the leak."""
        happened = rng.random(rows) < scope.value(self.leak)
        for parent in scope.parents:
            count = np.broadcast_to(scope.number(parent.name), rows).astype(np.intp)
            w = np.broadcast_to(scope.value(self.weight(parent.name)), rows)
            happened = happened | (rng.binomial(count, w) > 0)
        return yes_or_no(scope.child, happened)


@dataclass(frozen=True)
class NoisyAnd(_Noisy):
    """Every parent is needed, but a missing one is made up for with probability 1 - weight.

    P(yes | parents) = (1 - leak) prod over no parents of (1 - weight); the leak spoils it.
    """

    kind: ClassVar[str] = "noisy-and"

    def probabilities(self, scope: Scope) -> Array:
        p_yes, p_no = self._chances(scope, lambda parent: _missing(scope, parent))
        return yes_no(scope.child, p_yes, p_no)

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Toss one coin per missing parent (blocked or made up for), and one for the leak."""
        blocked = rng.random(rows) < scope.value(self.leak)
        for parent in scope.parents:
            count = np.broadcast_to(_missing(scope, parent), rows).astype(np.intp)
            w = np.broadcast_to(scope.value(self.weight(parent.name)), rows)
            blocked = blocked | (rng.binomial(count, w) > 0)
        return np.where(blocked, scope.child.states.index("no"), scope.child.states.index(YES))


# -- a mixture -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mixture(CPD):
    """P = sum_i weight_i P_i; one weight may be `rest`."""

    kind: ClassVar[str] = "mixture"
    weights: tuple[Ref, ...] = field(
        metadata={"chance": True, "story": "how often each component holds; one may be rest"}
    )
    components: tuple[CPD, ...] = field(metadata={"story": "CPDs, each with its kind"})

    def references(self) -> tuple[str, ...]:
        weights = tuple(w for w in self.weights if isinstance(w, str) and w != REST)
        return weights + tuple(r for c in self.components for r in c.references())

    def named(self, parents: Sequence[str]) -> CPD:
        return replace(self, components=tuple(c.named(parents) for c in self.components))

    def reads_group(self, group: str) -> bool:
        return any(component.reads_group(group) for component in self.components)

    def probabilities(self, scope: Scope) -> Array:
        total: Array = np.asarray(0.0)
        for weight, component in zip(self._weights(scope), self.components, strict=True):
            total = total + weight[..., None] * component.probabilities(scope)
        return total

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Choose a component for every row, then let it act."""
        weights = np.stack([np.broadcast_to(w, rows) for w in self._weights(scope)], axis=-1)
        which = draw(rng, weights, rows)
        acted = [component.act(rng, scope, rows) for component in self.components]
        return np.choose(which, acted).astype(np.intp)

    def _weights(self, scope: Scope) -> list[Array]:
        values = [None if w == REST else np.asarray(scope.value(w)) for w in self.weights]
        named = sum((v for v in values if v is not None), np.asarray(0.0))
        return [what_is_left(scope, named, self.weights) if v is None else v for v in values]

    def degree_held(self, name: str, parents: Sequence[Variable]) -> int | None:
        parts = [component.degree(name, parents) for component in self.components]
        if None in parts:
            return None
        return (f"${name}" in self.weights) + max((p for p in parts if p is not None), default=0)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found: list[Problem] = []
        if len(self.weights) != len(self.components) or not self.weights:
            message = f"needs {len(self.components)} weights, one per component; found "
            message += str(len(self.weights))
            found.append(Problem(("weights",), message))
        for i, weight in enumerate(self.weights):
            if weight != REST:
                found += needs_reference(weight, "weights", i)
                found += needs_probability(weight, "weights", i)
        found += self._sum_problems()
        for i, component in enumerate(self.components):
            found += [
                Problem(("components", i, *p.where), p.message)
                for p in component.problems(child, parents)
            ]
        return found

    def misfits(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return [
            Problem(("components", i, *p.where), p.message)
            for i, component in enumerate(self.components)
            for p in component.misfits(child, parents)
        ]

    def _sum_problems(self) -> list[Problem]:
        if self.weights.count(REST) > 1:
            return [Problem(("weights",), "says rest more than once")]
        if all(not isinstance(w, str) for w in self.weights):
            total = float(sum(w for w in self.weights if not isinstance(w, str)))
            if abs(total - 1) > TOLERANCE:
                return [Problem(("weights",), f"sum to {total:.12g}, not 1")]
        elif REST not in self.weights:
            return [Problem(("weights",), "hold references but no rest: let one weight be rest")]
        return []
