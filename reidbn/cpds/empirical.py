"""Tables read off data: counts from a table of records, and look-ups by the parent's state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reidbn.cpds.protocol import CPD, Array, Scope, Variable
from reidbn.errors import DataError, Problem

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Empirical(CPD):
    """P(state | parents) = (count + prior) / (row total + states x prior).

    `counts` has one row per parent configuration (parents in their declared order, the last one
    varying fastest) and one column per state.  With no prior a configuration that was never seen
    is an error: there is nothing to read off.
    """

    kind: ClassVar[str] = "empirical"
    counts: tuple[tuple[float, ...], ...] = field(
        metadata={"story": "one row per parent configuration"}
    )
    prior: float = field(default=0.0, metadata={"story": "added to every count"})

    def probabilities(self, scope: Scope) -> Array:
        table = np.asarray(self.counts, dtype=float) + self.prior
        table = table / table.sum(axis=1, keepdims=True)
        row: Any = np.asarray(0)
        for parent in scope.parents:
            row = row * parent.size + scope.state(parent.name)
        out: Array = table[row]
        return out

    def misfits(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return self.problems(child, parents)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        rows = int(np.prod([p.size for p in parents], initial=1))
        if len(self.counts) != rows:
            message = f"needs {rows} rows, one per configuration of the parents; found "
            message += str(len(self.counts))
            return [Problem(("counts",), message)]
        found = []
        for i, row in enumerate(self.counts):
            if len(row) != len(child.states):
                message = f"needs {len(child.states)} counts, one per state; found {len(row)}"
                found.append(Problem(("counts", i), message))
            elif min(row) < 0 or sum(row) + self.prior <= 0:
                message = "has no case, or a negative count; give a prior above 0 or drop the case"
                found.append(Problem(("counts", i), message))
        return found

    @classmethod
    def from_table(
        cls,
        table: pd.DataFrame,
        node: str,
        parents: tuple[str, ...] = (),
        *,
        states: dict[str, tuple[str, ...]],
        prior: float = 0.0,
    ) -> Empirical:
        """Count the rows of a DataFrame; `states` gives the states of the node and its parents.

        >>> import pandas as pd
        >>> t = pd.DataFrame({"rain": ["no", "no", "yes"], "late": ["no", "yes", "yes"]})
        >>> Empirical.from_table(t, "late", ("rain",),
        ...     states={"rain": ("no", "yes"), "late": ("no", "yes")}).counts
        ((1.0, 1.0), (0.0, 1.0))
        """
        index = np.zeros(len(table), dtype=np.intp)
        for column in (*parents, node):
            code = {state: i for i, state in enumerate(states[column])}
            values = [code.get(str(v), -1) for v in table[column]]
            if -1 in values:
                missed = values.count(-1)
                raise DataError(
                    f"{column}: {missed} rows hold a value that is not among its states"
                )
            index = index * len(code) + np.array(values, dtype=np.intp)
        sizes = [len(states[c]) for c in (*parents, node)]
        counts = np.bincount(index, minlength=int(np.prod(sizes))).reshape(-1, sizes[-1])
        return cls(tuple(tuple(float(c) for c in row) for row in counts), prior)


@dataclass(frozen=True)
class Lookup(CPD):
    """The state is a function of one parent: `states[i]` for the parent's i-th state."""

    kind: ClassVar[str] = "lookup"
    to: tuple[str, ...] = field(metadata={"story": "this state for each state of the parent"})

    def references(self) -> tuple[str, ...]:
        return ()

    def probabilities(self, scope: Scope) -> Array:
        code = {state: i for i, state in enumerate(scope.child.states)}
        target = np.array([code[state] for state in self.to])
        out: Array = np.eye(len(code))[target[scope.state(scope.parents[0].name)]]
        return out

    def misfits(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return self.problems(child, parents)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        if len(parents) != 1 or parents[0].is_group:
            return [Problem(("kind",), "lookup needs exactly one parent node")]
        if len(self.to) != parents[0].size:
            message = f"needs {parents[0].size} entries, one per state of its parent; found "
            message += str(len(self.to))
            return [Problem(("to",), message)]
        unknown = sorted(set(self.to) - set(child.states))
        if unknown:
            return [Problem(("to",), f'no state "{unknown[0]}" in this node')]
        return []
