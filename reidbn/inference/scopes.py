"""The two scopes in which a CPD is asked: the grid of all cases, and sampled rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.formula import evaluate, settled
from reidbn.cpds.protocol import Array, Scope, Variable

States = NDArray[np.intp]


@dataclass(eq=False)
class _Bound(Scope):
    """Child and parents of one node of one attack, with parameter and subject arrays at hand."""

    attack: Attack
    child: Variable
    parents: tuple[Variable, ...]
    parameters: Mapping[str, Array]
    subject: Mapping[str, Array]

    def resolve(self, name: str) -> str:
        is_parameter = name in self.attack.parameters or name in self.attack.numbers
        return f"${name}" if is_parameter else f"@{name}"

    def is_of_people(self, name: str) -> bool:
        derived = name in self.attack.numbers and name not in self.parameters
        return derived or super().is_of_people(name)

    def parameter(self, name: str) -> Array:
        if name in self.parameters:
            return self.setting_of(self.parameters[name])
        derived = self.attack.derived  # a number that differs from person to person
        every = derived.through([name], ())  # and all that it stands on, each worked out once
        theirs = [n for n in derived.order if n in every and n not in self.parameters]
        read = {n: self.value(self.resolve(n)) for n in every if n not in theirs}
        for n in theirs:
            read[n] = self._of_people(n, read)
        return read[name]

    def _of_people(self, name: str, read: Mapping[str, Array]) -> Array:
        """A number of which a table has a say, from all that it stands on."""
        derived = self.attack.derived
        values = evaluate(derived.terms[name], read.__getitem__, strict=self.checks)
        values = settled(derived.terms[name], values, read, derived.terms)
        return derived.checked(name, values, derived.off(name, read)) if self.checks else values

    @abstractmethod
    def setting_of(self, values: Array) -> Array:
        """Values over settings, as this scope has them."""


class GridScope(_Bound):
    """Everything at once: axes subject x setting x parents."""

    def _along(self, axis: int, values: Array) -> Array:
        shape = [1] * (2 + len(self.parents))
        shape[axis] = -1
        return values.reshape(shape)

    def _axis(self, parent: str) -> int:
        return 2 + [p.name for p in self.parents].index(parent)

    def state(self, parent: str) -> States:
        size = self.parent(parent).size
        shape = [1] * (2 + len(self.parents))
        shape[self._axis(parent)] = size
        return np.arange(size).reshape(shape)

    def setting_of(self, values: Array) -> Array:
        return self._along(1, values)

    def column(self, name: str) -> Array:
        column, values = self.attack.subject[name], self.subject[name]
        if column.each:
            return self._along(0, values[:, self.child.member_index])
        places = [self._axis(name) for name in column.axes]
        order = [0, *(1 + i for i in np.argsort(places)), *range(1 + len(places), values.ndim)]
        shape = [1] * (2 + len(self.parents)) + list(values.shape[1 + len(places) :])
        for place, length in zip((0, *places), values.shape, strict=False):
            shape[place] = length
        return values.transpose(order).reshape(shape)


@dataclass(eq=False)
class RowScope(_Bound):
    """One forward-sampled case per row: parent states are vectors, one setting, any subjects."""

    states: Mapping[str, States] = field(kw_only=True)
    who: States = field(kw_only=True)
    setting: int = field(kw_only=True)

    def state(self, parent: str) -> States:
        if parent in self.states:
            return self.states[parent]
        mask = np.zeros(len(self.who), dtype=np.intp)
        for j, member in enumerate(self.attack.groups[parent].members):
            mask |= self.states[member] << j
        return mask

    def setting_of(self, values: Array) -> Array:
        return np.asarray(values[self.setting if len(values) > 1 else 0])

    def column(self, name: str) -> Array:
        column, values = self.attack.subject[name], self.subject[name]
        who = self.who if len(values) > 1 else np.zeros_like(self.who)
        if column.each:
            return values[who, self.child.member_index]
        at: tuple[States, ...] = (who, *(self.state(name) for name in column.axes))
        return np.asarray(values[at])
