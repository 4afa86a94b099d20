"""An uncertain report about one node: what soft evidence on it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from reidbn.cpds.protocol import CPD, Array, Scope, yes_no
from reidbn.errors import UsageError
from reidbn.written import few


@dataclass(frozen=True)
class Report(CPD):
    """Yes with the likelihood of the state that its one parent is in.

    Every state needs one, also where a parameter has changed how many states there are.
    """

    kind: ClassVar[str] = "report"
    in_files: ClassVar[bool] = False
    likelihood: dict[str, float] = field(metadata={"story": "P(the report | state), by state"})

    def probabilities(self, scope: Scope) -> Array:
        about = scope.parents[0]
        missing = [state for state in about.states if state not in self.likelihood]
        if missing:
            raise UsageError(left_out(about.name, missing))
        likelihood = np.array([self.likelihood[state] for state in about.states])
        return yes_no(scope.child, likelihood[scope.state(about.name)])


def left_out(node: str, missing: list[str]) -> str:
    """What is wrong with soft evidence that says nothing of some states."""
    shown = few(missing)
    return (
        f"the evidence on {node} says nothing of {shown}: give every state its likelihood "
        f"P(what was seen | state), 0 where that is impossible"
    )
