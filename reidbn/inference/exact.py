"""Exact inference for many subjects and settings at once.

1. Keep only what is upstream of the targets and the evidence.
2. Fix the evidence: slice the tables.
3. Collapse every group to its message (see groups.py).
4. Contract what is left, what does not depend on the subject first and only once.

The result is P(targets, evidence), not normalised: P(evidence) is never lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from reidbn.inference.groups import collapse
from reidbn.inference.network import Array, Factor, Network
from reidbn.inference.tensors import BATCH, SUBJECT, Tensor, batched, contract


class Plan:
    """One question on networks of one shape; keeps what blocks of subjects share."""

    def __init__(self, targets: Sequence[str], evidence: Mapping[str, int]) -> None:
        self.targets = tuple(targets)
        self.evidence = dict(evidence)
        self._kept: tuple[tuple[Factor, ...], Tensor] | None = None

    def joint(self, network: Network) -> Array:
        """P(targets, evidence): axes subject, setting (length 1 if it matters not), targets."""
        relevant = network.ancestors([*self.targets, *self.evidence])
        factors = [f for name, f in network.factors.items() if name in relevant]
        tensors = {f.child: self._tensor(f) for f in factors}
        plain, messages = self._without_groups(network, factors, tensors)
        result = self._contract(network, plain, messages)
        observed = [t for t in self.targets if t in self.evidence]
        out = result.ordered([*BATCH, *(t for t in self.targets if t not in observed)])
        for name in observed:  # a target that is evidence: all its mass is on what was seen
            out = _spread(
                out, self.targets.index(name) + 2, network.size(name), self.evidence[name]
            )
        return out

    def _tensor(self, factor: Factor) -> Tensor:
        tensor = batched(factor.table, (*factor.parents, factor.child))
        for node, state in self.evidence.items():
            tensor = tensor.at(node, state)
        return tensor

    def _without_groups(
        self, network: Network, factors: Sequence[Factor], tensors: dict[str, Tensor]
    ) -> tuple[dict[str, Tensor], list[Tensor]]:
        """Ordinary tensors by node, and one message per group whose children matter."""
        messages: list[Tensor] = []
        used: set[str] = set()
        for group in network.groups:
            children = [f.child for f in factors if group in f.parents]
            if children:
                free = self._free_members(network, group, factors)
                messages.append(self._message(network, group, children, free, tensors))
                used |= {*children, *free}
        return {name: t for name, t in tensors.items() if name not in used}, messages

    def _free_members(
        self, network: Network, group: str, factors: Sequence[Factor]
    ) -> tuple[str, ...]:
        """Members that only the group's children see; the others stay ordinary nodes."""
        kept = {*self.targets, *self.evidence}
        kept |= {p for f in factors for p in f.parents}
        return tuple(m for m in network.groups[group] if m not in kept)

    def _message(
        self,
        network: Network,
        group: str,
        children: Sequence[str],
        free: Sequence[str],
        tensors: Mapping[str, Tensor],
    ) -> Tensor:
        members = network.groups[group]
        kept = [m for m in members if m not in free and m not in self.evidence]
        fixed = {members.index(m): s for m, s in self.evidence.items() if m in members}
        free_tensors = [tensors[m] for m in free]
        outside = tuple(dict.fromkeys(a for t in free_tensors for a in t.axes[:-1]
                                      if a not in BATCH))  # fmt: skip
        sizes = [network.size(a) for a in outside]
        tables = [tensors[c] for c in children]
        parts = []
        for case in product((0, 1), repeat=len(kept)):
            bits = fixed | {members.index(m): s for m, s in zip(kept, case, strict=True)}
            tables_here = [_at_all(t, kept, case) for t in tables]
            parts.append(collapse(group, tables_here, free_tensors, outside, sizes, bits))
        return _stack(parts, kept)

    def _contract(
        self, network: Network, plain: Mapping[str, Tensor], messages: list[Tensor]
    ) -> Tensor:
        """Contract, doing what no subject changes first, and once for all blocks."""
        fixed = {name: t for name, t in plain.items() if SUBJECT not in t.axes}
        moving = [t for name, t in plain.items() if name not in fixed] + messages
        keep = (*BATCH, *self.targets)
        if not moving or len(fixed) < 2:
            return contract([*fixed.values(), *moving], keep)
        seam = {a for t in moving for a in t.axes} | set(keep)
        inner = _shared(list(fixed.values()), seam)
        source = tuple(network.factors[name] for name in fixed)
        if self._kept is None or not _same(self._kept[0], source):
            self._kept = (source, contract(list(fixed.values()), inner))
        joined = contract(moving, _shared(moving, {*inner, *keep}))
        return contract([self._kept[1], joined], keep)


def _same(one: Sequence[Factor], other: Sequence[Factor]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _shared(tensors: Sequence[Tensor], wanted: set[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(a for t in tensors for a in t.axes if a in wanted))


def _at_all(tensor: Tensor, axes: Sequence[str], case: Sequence[int]) -> Tensor:
    for axis, position in zip(axes, case, strict=True):
        tensor = tensor.at(axis, position)
    return tensor


def _stack(parts: Sequence[Tensor], kept: Sequence[str]) -> Tensor:
    """One tensor with an axis per kept member, from the messages of its 2^kept cases."""
    if not kept:
        return parts[0]
    values = np.stack([p.values for p in parts])
    values = values.reshape((2,) * len(kept) + parts[0].values.shape)
    return Tensor((*kept, *parts[0].axes), values)


def _spread(values: Array, axis: int, size: int, position: int) -> Array:
    out = np.zeros((*values.shape[:axis], size, *values.shape[axis:]))
    out[(slice(None),) * axis + (position,)] = values
    return out


def joint(network: Network, targets: Sequence[str], evidence: Mapping[str, str]) -> Array:
    """P(targets, evidence) for every subject and setting: axes subject, setting, targets."""
    positions = {node: network.state_index(node, state) for node, state in evidence.items()}
    for target in targets:
        network.state_index(target, network.states.get(target, ("",))[0])
    return Plan(targets, positions).joint(network)
