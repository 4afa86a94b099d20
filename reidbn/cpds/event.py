"""What a question asks for beside the states of nodes: events and means."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.protocol import CPD, NO, YES, Array, Part, Scope, Variable, in_steps, yes_no
from reidbn.errors import UsageError

ANY, ALL = "any", "all"
NOT = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
Test = tuple[str, str]  # such as ("=", "yes") or (">=", "3")


@dataclass(frozen=True)
class Event(CPD):
    """Yes when any, or all, of some tests of its parents' states hold."""

    kind: ClassVar[str] = "event"
    in_files: ClassVar[bool] = False
    how: str = field(metadata={"references": False})
    tests: dict[str, tuple[Test, ...]] = field(metadata={"references": False})

    def probabilities(self, scope: Scope) -> Array:
        whole = np.any if self.how == ANY else np.all
        found: NDArray[np.bool_] = np.asarray(self.how == ALL)
        for parent in scope.parents:
            tests = self.tests.get(parent.name, (("=", YES),))  # a step says yes or no itself
            fits = whole([passes(parent, test) for test in tests], axis=0)[scope.state(parent.name)]
            found = found | fits if self.how == ANY else found & fits
        return yes_no(scope.child, found)

    def parts(self, child: Variable, parents: tuple[Variable, ...]) -> tuple[Part, ...]:
        def one(met: tuple[Variable, ...]) -> CPD:
            names = {p.name for p in met}
            return replace(self, tests={n: t for n, t in self.tests.items() if n in names})

        return in_steps(child, parents, (NO, YES), one, one)


def passes(variable: Variable, test: Test) -> NDArray[np.bool_]:
    """Which states of a node pass a test."""
    sign, value = test
    if sign in ("=", "!="):
        same = np.array([state == value for state in variable.states])
        return same if sign == "=" else ~same
    numbers, limit = variable.numbers, float(value)
    if sign[0] == "<":
        return numbers <= limit if sign == "<=" else numbers < limit
    return numbers >= limit if sign == ">=" else numbers > limit


@dataclass(frozen=True)
class ShareOfRange(CPD):
    """Yes with the share of the way from `low` to `high` at which its one parent's number stands.

    P(yes) is then the mean of that number, as a share of the range: what a mean has of a
    probability, so that whatever answers a probability answers a mean.
    """

    kind: ClassVar[str] = "share-of-range"
    in_files: ClassVar[bool] = False
    low: float = field(metadata={"sourced": False})
    high: float = field(metadata={"sourced": False})

    def probabilities(self, scope: Scope) -> Array:
        (of,) = scope.parents
        numbers = of.numbers
        if numbers.min() < self.low or numbers.max() > self.high:
            raise UsageError(
                f"{of.name} reaches from {numbers.min():g} to {numbers.max():g} here, further than "
                f"{self.low:g} to {self.high:g}: widen the range of the parameter that sizes it"
            )
        width = self.high - self.low
        share = (numbers - self.low) / width if width else np.zeros(len(numbers))
        return yes_no(scope.child, share[scope.state(of.name)])
