"""One CPD on its own, outside any attack: the table it gives for named parents and numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.protocol import CPD, NO, YES, Array, Scope, Variable
from reidbn.errors import UsageError, did_you_mean, raise_problems
from reidbn.inference.network import checked


def single_table(
    cpd: CPD,
    name: str,
    states: Sequence[Hashable],
    parents: Mapping[str, Sequence[Hashable]],
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    parameters: Mapping[str, float] | None = None,
    subject: Mapping[str, Any] | None = None,
) -> Array:
    """P(state | parents) with the axes parents..., state; a group's members are yes/no parents.

    A subject column is one number, or holds one per state of its group or parents.
    """
    scope = SingleScope(name, states, parents, groups or {}, parameters or {}, subject or {})
    raise_problems(f"{cpd.kind} of {name}", cpd.problems(scope.child, scope.parents))
    scope.check_references(cpd)
    table = np.asarray(cpd.probabilities(scope), dtype=float)
    shape = (*(p.size for p in scope.parents), scope.child.size)
    return scope.spelled_out(checked(name, np.broadcast_to(table, shape)))


class SingleScope(Scope):
    """A grid of the parents' states with numbers for parameters and columns."""

    def __init__(
        self,
        name: str,
        states: Sequence[Hashable],
        parents: Mapping[str, Sequence[Hashable]],
        groups: Mapping[str, Sequence[str]],
        parameters: Mapping[str, float],
        subject: Mapping[str, Any],
    ) -> None:
        self.child = Variable(name, state_texts(name, states))
        self.order = tuple(parents)
        self.parents = _variables(parents, groups)
        self.parameters, self.subject = parameters, subject

    def state(self, parent: str) -> NDArray[np.intp]:
        axis = [p.name for p in self.parents].index(parent)
        shape = [-1 if i == axis else 1 for i in range(len(self.parents))]
        return np.arange(self.parents[axis].size).reshape(shape)

    def parameter(self, name: str) -> Array:
        return np.asarray(float(self.parameters[name]))

    def column(self, name: str) -> Array:
        values = np.asarray(self.subject[name], dtype=float)
        if values.ndim == 0:
            return values
        shape = tuple(p.size for p in self.parents)
        if values.shape == (*shape, self.child.size):  # over the node itself
            return values
        if values.shape == shape or values.shape == (int(np.prod(shape)),):
            return values.reshape(shape)
        groups = [i for i, p in enumerate(self.parents) if p.is_group]
        fitting = [i for i in groups if values.shape == (shape[i],)]
        if len(fitting) != 1:
            raise UsageError(
                f"subject column {name} has shape {values.shape}; it needs one number, or one per "
                f"configuration of the parents {shape}"
            )
        return values.reshape([-1 if i == fitting[0] else 1 for i in range(len(shape))])

    def resolve(self, name: str) -> str:
        return f"${name}" if name in self.parameters else f"@{name}"

    def check_references(self, cpd: CPD) -> None:
        """Every parameter and column that the CPD uses has a number."""
        known = {p.name for p in self.parents}
        for ref in cpd.references():
            full = ref if ref[:1] in "$@" else self.resolve(ref) if cpd.kind == "function" else ""
            room, given = ("parameters", self.parameters) if full[:1] == "$" else (
                "subject", self.subject)  # fmt: skip
            if full and ref not in known and full[1:] not in given:
                hint = did_you_mean(full[1:], given)
                raise UsageError(
                    f"{self.child.name} uses {full}: give it in {room}={{...}}; {hint}"
                )

    def spelled_out(self, table: Array) -> Array:
        """The table with one axis per parent as it was named, a group's axis split in members."""
        names: list[str] = []
        shape: list[int] = []
        for parent in self.parents:
            # Bit j of a mask is member j, so the slowest bit comes first.
            names += reversed(parent.members) if parent.is_group else [parent.name]
            shape += [2] * len(parent.members) if parent.is_group else [parent.size]
        split = table.reshape([*shape, table.shape[-1]])
        return split.transpose([*(names.index(n) for n in self.order), len(names)])


def state_texts(name: str, states: Sequence[Hashable]) -> tuple[str, ...]:
    """States as text; True and False are what Python users write for yes and no."""
    texts = tuple((YES if s else NO) if isinstance(s, bool) else str(s) for s in states)
    if len(set(texts)) != len(texts) or not texts:
        raise UsageError(f"{name}: its {len(texts)} states are not distinct names")
    return texts


def _variables(
    parents: Mapping[str, Sequence[Hashable]], groups: Mapping[str, Sequence[str]]
) -> tuple[Variable, ...]:
    """The parents as the CPD sees them: members of a group stand behind the group's name."""
    member_of = {member: group for group, members in groups.items() for member in members}
    missing = sorted(set(member_of) - set(parents))
    if missing:
        hint = did_you_mean(missing[0], parents)
        raise UsageError(f'group member "{missing[0]}" is not among the parents; {hint}')
    found: dict[str, Variable] = {}
    for parent, states in parents.items():
        texts, group = state_texts(parent, states), member_of.get(parent)
        if group is None:
            found[parent] = Variable(parent, texts)
            continue
        if texts != (NO, YES):
            raise UsageError(f"{parent} is in group {group}, so its states must be no and yes")
        found[group] = Variable(group, members=tuple(groups[group]))
    return tuple(found.values())
