"""The leak: how many of a class of k records are among L records taken from D [Antoniou22]."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.protocol import CPD, Array, Ref, Scope, Variable, needs_parent
from reidbn.errors import ModelError, Problem
from reidbn.theory.hypergeometric import leaked_pmf


@dataclass(frozen=True)
class HypergeometricLeak(CPD):
    """P(h of the class leaked) = C(k,h) C(D-k,L-h) / C(D,L); the node's states are 0, 1, 2, ..."""

    kind: ClassVar[str] = "hypergeometric-leak"
    by_name: ClassVar[bool] = True
    records: Ref = field(metadata={"story": "D: records in the register"})
    leaked: Ref = field(metadata={"story": "L: records in the leak"})
    class_size: Ref = field(
        metadata={"story": "k: records that look like the target, the target included"}
    )

    def probabilities(self, scope: Scope) -> Array:
        records, leaked, class_size = self._checked(scope)
        longest = len(scope.child.states) - 1
        table: Array = leaked_pmf(records, leaked, class_size, longest=longest)
        return table

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Draw the leak: L records without replacement, counting those of the class."""
        records, leaked, class_size = (
            np.broadcast_to(v, rows).astype(np.int64) for v in self._checked(scope)
        )
        if int(records.max(initial=0)) < 1_000_000_000:
            return rng.hypergeometric(class_size, records - class_size, leaked).astype(np.intp)
        return _draw_one_by_one(rng, records, leaked, class_size)

    def _checked(self, scope: Scope) -> tuple[Array, Array, Array]:
        records, leaked, class_size = (
            np.asarray(scope.value(ref)) for ref in (self.records, self.leaked, self.class_size)
        )
        theirs = scope.read_people([self.records, self.leaked, self.class_size])
        for name, value in (("leaked", leaked), ("class size", class_size)):
            if (value > records).any() or (value < 0).any():
                told = "" if theirs else f" of {value.max():g} among {records.min():g} records"
                raise ModelError(
                    f"{scope.child.name}: a {name}{told}; it must lie between 0 and the number of "
                    "records"
                )
        longest = len(scope.child.states) - 1
        if np.minimum(class_size, leaked).max() > longest:  # no more of a class than are leaked
            told = "" if theirs else f" of up to {class_size.max():g}"
            raise ModelError(
                f"{scope.child.name}: classes{told}, but states only up to "
                f"{longest}; let the states run to the largest class size, or to the leak's"
            )
        return records, leaked, class_size

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = []
        if child.states != tuple(str(i) for i in range(len(child.states))):
            message = "the states must be 0, 1, 2, ... up to the largest class size"
            found.append(Problem(("kind",), message))
        for name in ("records", "leaked", "class_size"):
            found += needs_parent(getattr(self, name), name, parents)
        return found


def _draw_one_by_one(
    rng: np.random.Generator,
    records: NDArray[np.int64],
    leaked: NDArray[np.int64],
    class_size: NDArray[np.int64],
) -> NDArray[np.intp]:
    """Is the first of the class leaked, the second, ...: for tables beyond NumPy's sampler."""
    hits = np.zeros(records.shape, dtype=np.intp)
    for i in range(int(class_size.max(initial=0))):
        p = (leaked - hits) / np.maximum(records - i, 1)
        hits += (rng.random(records.shape) < p) & (i < class_size)
    return hits
