"""A table written out in full: what an imported network brings along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from reidbn.cpds.protocol import CPD, Array, Scope, Variable
from reidbn.cpds.rows import TOLERANCE
from reidbn.errors import Problem


@dataclass(frozen=True)
class Table(CPD):
    """P(state | parents), one row per configuration of the parents and one number per state.

    The parents stand in their declared order, the last one varying fastest.  The numbers are used
    as they are, to the last bit, so that what is imported can be exported unchanged.
    """

    kind: ClassVar[str] = "table"
    p: tuple[tuple[float, ...], ...]

    def references(self) -> tuple[str, ...]:
        return ()

    def probabilities(self, scope: Scope) -> Array:
        row: Any = np.asarray(0)
        for parent in scope.parents:
            row = row * parent.size + scope.state(parent.name)
        out: Array = np.array(self.p, dtype=float)[row]
        return out

    def misfits(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return self.problems(child, parents)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        rows = int(np.prod([p.size for p in parents], initial=1))
        if len(self.p) != rows:
            message = f"has {len(self.p)} rows for {rows} configurations of the parents"
            return [Problem(("p",), message)]
        return [Problem(("p", i), text) for i, row in enumerate(self.p)
                for text in _row_problems(row, len(child.states))]  # fmt: skip


def _row_problems(row: tuple[float, ...], states: int) -> list[str]:
    if isinstance(row, int | float | str) or len(row) != states:
        found = len(row) if isinstance(row, tuple) else 1
        return [f"has {found} numbers for {states} states"]
    if any(isinstance(x, str) or not 0 <= x <= 1 for x in row):
        return ["holds something that is no probability: every number lies between 0 and 1"]
    total = float(sum(row))
    if abs(total - 1) > TOLERANCE:
        gap = "short" if total < 1 else "over"
        return [f"sums to {total:.12g}, not 1 ({gap} by {abs(total - 1):.6g})"]
    return []
