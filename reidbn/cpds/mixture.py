"""A mixture: one of several ways holds, each with its weight."""

from __future__ import annotations

from collections.abc import Sequence
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
    draw,
    needs_probability,
    needs_reference,
)
from reidbn.cpds.rows import REST, TOLERANCE
from reidbn.errors import Problem


@dataclass(frozen=True)
class Mixture(CPD):
    """P = sum_i weight_i P_i; one weight may be `rest`."""

    kind: ClassVar[str] = "mixture"
    has_story: ClassVar[bool] = True
    weights: tuple[Ref, ...] = field(
        metadata={"story": "how often each component holds; one may be rest"}
    )
    components: tuple[CPD, ...] = field(metadata={"story": "CPDs, each with its kind"})

    def references(self) -> tuple[str, ...]:
        weights = tuple(w for w in self.weights if isinstance(w, str) and w != REST)
        return weights + tuple(r for c in self.components for r in c.references())

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
        return [1.0 - named if v is None else v for v in values]

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
