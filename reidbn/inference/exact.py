"""Exact inference for many subjects and settings at once.

1. Keep only what is upstream of the targets and the evidence.
2. Fix the evidence: slice the tables.
3. Collapse the groups one after another (see groups.py).  Every table is used once, by the first
   group that touches it; the message takes its place, and may carry other groups' axes on.
4. Contract what is left, what does not depend on the subject first and only once.

Steps 3 and 4 are laid out by name and size before any number is touched, so that what does not
fit is refused first.  The result is P(targets, evidence), not normalised: P(evidence) is never
lost.  Every answer is held against the one number that is known beforehand (`Plan.joint`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from reidbn.errors import EngineError, TooLarge
from reidbn.inference.groups import collapse, joint_weights, subset_weights
from reidbn.inference.layout import Axes, Collapse, collapses
from reidbn.inference.network import (
    FAULT,
    MASS,
    Array,
    Factor,
    Network,
    check_mass,
    rounding_size,
)
from reidbn.inference.paths import by_elimination, largest
from reidbn.inference.tensors import (
    BATCH,
    DRAWN,
    SETTING,
    SUBJECT,
    Tensor,
    batched,
    contract,
    refuse_contraction,
    refuse_wide,
)

MOST_OPENED = 6  # members of a group that may be summed one by one, as any node is
A_SUM = 1 << 12  # multiplications that are as long as beginning one sum over a group
WIDE = 1 << 12  # numbers in a group's message from which on that is weighed up
SEAM = 1 << 16  # numbers in the table between what subjects share and what they do not
MOST_SUMS = 1 << 20  # times that one group is summed over: some ten seconds


class Plan:
    """One question on networks of one shape; keeps what blocks of subjects share."""

    def __init__(self, targets: Sequence[str], evidence: Mapping[str, int]) -> None:
        self.targets = tuple(targets)
        self.evidence = dict(evidence)
        self._kept: tuple[tuple[Factor, ...], Tensor] | None = None
        self._kept_weights: dict[tuple[Any, ...], tuple[tuple[Factor, ...], Array]] = {}

    def joint(self, network: Network, *, check: bool = True) -> Array:
        """P(targets, evidence): axes subject, setting (length 1 if it matters not), targets.

        Without evidence the probabilities of each subject at each setting must sum to 1.  With
        evidence nothing is known of their sum but that it is no more than 1, so the same plan first
        runs on made-up tables for which P(evidence) is known.  Both catch a table that is used
        twice, or not at all; neither catches a table that is wrong but sums to 1 (sampling does).

        `check` is False where the tables are no probabilities, as when a polynomial is read off
        beyond a range; what sums to 1 in every row still sums to 1 in all.
        """
        if self.evidence:
            _try(self, network)
        values = self.run(network)
        if check:
            self.check(network, values, None if self.evidence else 1.0)
        elif not self.evidence:
            self._check_signed(network, values)
        return values

    def _check_signed(self, network: Network, values: Array) -> None:
        """As `check`, for tables with entries below 0: rounding is a share of the largest sum."""
        names = network.ancestors(self.targets)
        try:
            self.check(network, values, 1.0)
        except EngineError:
            size = rounding_size([f.table for n, f in network.factors.items() if n in names])
            gap = np.abs(values.sum(axis=tuple(range(2, values.ndim))) - 1.0)
            if size is not None and not float(gap.max()) <= MASS * size:
                raise

    def check(self, network: Network, values: Array, expected: float | None) -> None:
        """Every target has its states, and all that can happen adds up to what it must."""
        if values.shape[2:] != tuple(network.size(t) for t in self.targets):
            raise EngineError(f"some state of {', '.join(self.targets)} is missing. {FAULT}")
        check_mass(values, expected)

    def run(self, network: Network) -> Array:
        """The joint, unchecked."""
        pool, steps = self.laid_out(network)
        for step in steps:
            tables = [pool.pop(name) for name in step.tables]
            told = [pool.pop(name) for name in (*step.free, *step.inner)]
            pool[step.name] = self._message(network, step, tables, told)
        result = self._contract(network, pool)
        observed = [t for t in self.targets if t in self.evidence]
        out = result.ordered([*BATCH, *(t for t in self.targets if t not in observed)])
        for name in observed:  # a target that is evidence: all its mass is on what was seen
            out = _spread(
                out, self.targets.index(name) + 2, network.size(name), self.evidence[name]
            )
        return out

    def laid_out(self, network: Network) -> tuple[dict[str, Tensor], list[Collapse]]:
        """The tables and the groups in their order; what does not fit is refused, undone."""
        relevant = network.ancestors([*self.targets, *self.evidence])
        factors = {n: f for n, f in network.factors.items() if n in relevant}
        few = {g: m for g, m in network.groups.items() if len(m) <= MOST_OPENED}
        asked = {*self.targets, *self.evidence}
        opened = {g for g, members in few.items() if {*members} <= asked}  # nothing to sum over
        pool, steps, left = self._pooled(network, factors, opened)
        wide = {s.group for s in steps if s.group in few and _numbers(network, s.sums) > WIDE}
        if wide:
            other = self._pooled(network, factors, opened | wide)
            if _work(network, self.targets, *other[1:]) < _work(network, self.targets, steps, left):
                pool, steps, left = other
        batch = {a: t.size(a) for t in pool.values() for a in BATCH if a in t.axes}
        self._refuse_large(network, steps, left, batch)
        return pool, steps

    def _pooled(
        self, network: Network, factors: Mapping[str, Factor], opened: set[str]
    ) -> tuple[dict[str, Tensor], list[Collapse], dict[str, Axes]]:
        """The tables, the groups in their order and what they leave; some groups opened."""
        pool = {n: self._tensor(f, network, opened) for n, f in factors.items()}
        axes = {name: t.axes for name, t in pool.items()}
        return pool, *collapses(network, axes, self.targets, self.evidence)

    def work(self, network: Network) -> int:
        """About how many multiplications it takes, of all subjects at all settings."""
        pool, steps = self.laid_out(network)
        left = {name: tensor.axes for name, tensor in pool.items()}
        for step in steps:
            left = {n: a for n, a in left.items() if n not in step.all} | {step.name: step.axes}
        return _work(network, self.targets, steps, left)

    def _tensor(self, factor: Factor, network: Network, opened: Set[str]) -> Tensor:
        """A table, with an axis for each member of a group that is opened."""
        tensor = batched(factor.table, (*factor.parents, factor.child))
        for group in sorted(opened & {*factor.parents}):
            tensor = tensor.opened(group, network.groups[group])
        for node, state in self.evidence.items():
            tensor = tensor.at(node, state)
        return tensor

    def _message(
        self, network: Network, step: Collapse, tables: Sequence[Tensor], told: Sequence[Tensor]
    ) -> Tensor:
        members = network.groups[step.group]
        fixed = {members.index(m): s for m, s in self.evidence.items() if m in members}
        sizes = [network.size(a) for a in step.outside]
        parts = []
        shape = [network.size(a) for a in step.cases]
        for case in product(*(range(n) for n in shape)):
            known = dict(zip(step.cases, case, strict=True))
            bits = fixed | {members.index(m): s for m, s in known.items() if m in members}
            parts.append(
                collapse(
                    step.group,
                    [_at_all(t, known) for t in tables],
                    self._weights(network, step, [_at_all(t, known) for t in told], sizes, case),
                    step.outside,
                    sizes,
                    bits,
                )
            )
        return _stack(parts, step.cases, shape)

    def _weights(
        self,
        network: Network,
        step: Collapse,
        told: Sequence[Tensor],
        sizes: Sequence[int],
        case: tuple[int, ...],
    ) -> Array:
        """P(subset of the free members | outside): a product, or summed over what leads to them.

        What no subject changes is found once for all blocks.
        """
        if step.is_plain:
            return subset_weights(told, step.outside, sizes)
        names = (*step.free, *step.inner)
        source = tuple(network.factors[n] for n in names if n in network.factors)
        shared = SUBJECT not in step.weights and len(source) == len(names)
        kept = self._kept_weights.get((step, case)) if shared else None
        if kept is not None and _same(kept[0], source):
            return kept[1]
        found = joint_weights(contract(told, step.weights), step.free, step.outside)
        if shared:
            self._kept_weights[step, case] = source, found
        return found

    def _contract(self, network: Network, left: Mapping[str, Tensor]) -> Tensor:
        """Contract, doing what no subject changes first, and once for all blocks."""
        stages = self._stages(network, {name: t.axes for name, t in left.items()})
        if stages is None:
            return contract(list(left.values()), self._keep)
        fixed, moving, inner, joined = stages
        source = tuple(network.factors[name] for name in fixed)
        if self._kept is None or not _same(self._kept[0], source):
            self._kept = (source, contract([left[name] for name in fixed], inner))
        return contract([self._kept[1], contract([left[n] for n in moving], joined)], self._keep)

    @property
    def _keep(self) -> Axes:
        return (*BATCH, *self.targets)

    def _stages(
        self, network: Network, left: Mapping[str, Axes]
    ) -> tuple[list[str], list[str], Axes, Axes] | None:
        """What is contracted first, what then, and the axes each hands on; None for all at once."""
        fixed = [n for n, axes in left.items() if SUBJECT not in axes and n in network.factors]
        moving = [n for n in left if n not in fixed]
        if not moving or len(fixed) < 2:
            return None
        seam = {a for n in moving for a in left[n]} | set(self._keep)
        inner = _shared([left[n] for n in fixed], seam)
        joined = _shared([left[n] for n in moving], {*inner, *self._keep})
        for axes in (inner, joined):
            if _numbers(network, [a for a in axes if a not in BATCH]) > SEAM:
                return None
        return fixed, moving, inner, joined

    def _refuse_large(
        self,
        network: Network,
        steps: Sequence[Collapse],
        left: Mapping[str, Axes],
        batch: Mapping[str, int],
    ) -> None:
        """Say no before any work is done, naming what is large."""
        tables = [*left.values(), *(axes for step in steps for axes in (step.sums, *step.told))]
        sizes = {a: network.size(a) for axes in tables for a in axes if a not in BATCH}
        sizes.update(batch)
        for step in steps:
            refuse_wide(step.axes, sizes, f"What group {step.group} tells the rest")
            what = f"How likely each subset of group {step.group} is known"
            refuse_wide(step.weights, sizes, what)
            if not step.is_plain:
                refuse_contraction(step.told, step.weights, sizes)
            sums = prod(sizes[a] for a in step.sums)
            if sums > MOST_SUMS:
                named = ", ".join(step.sums[:12])
                raise TooLarge(
                    f"group {step.group} would be summed over {sums:,} times, once for every case "
                    f"of {named}, and this stops at {MOST_SUMS:,}: let fewer nodes depend on the "
                    f"group, or on its members one by one; or {DRAWN}"
                )
        stages = self._stages(network, left)
        if stages is None:
            refuse_contraction(list(left.values()), self._keep, sizes)
            return
        fixed, moving, inner, joined = stages
        refuse_contraction([left[n] for n in fixed], inner, sizes)
        refuse_contraction([left[n] for n in moving], joined, sizes)
        refuse_contraction([inner, joined], self._keep, sizes)


def _numbers(network: Network, axes: Sequence[str]) -> int:
    return prod(network.size(a) for a in axes)


def _work(
    network: Network, targets: Sequence[str], steps: Sequence[Collapse], left: Mapping[str, Axes]
) -> int:
    """About how many multiplications it is to sum groups out, and to contract what is left."""
    sizes = {a: network.size(a) for axes in left.values() for a in axes if a not in BATCH}
    sizes |= {SUBJECT: network.subjects, SETTING: network.settings}
    out = tuple(t for t in (*BATCH, *targets) if any(t in axes for axes in left.values()))
    tables = [*left.values()]
    work = largest(tables, out, sizes, by_elimination(tables, out, sizes))[1]
    for step in steps:
        each = prod(sizes[a] for a in step.batch) << len(step.free)
        work += len(step.tables) * _numbers(network, step.sums) * max(each, A_SUM)
    return work


def _same(one: Sequence[Factor], other: Sequence[Factor]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _shared(tensors: Sequence[Axes], wanted: set[str]) -> Axes:
    return tuple(dict.fromkeys(a for axes in tensors for a in axes if a in wanted))


def _at_all(tensor: Tensor, case: Mapping[str, int]) -> Tensor:
    for axis, position in case.items():
        tensor = tensor.at(axis, position)
    return tensor


def _stack(parts: Sequence[Tensor], cases: Sequence[str], shape: Sequence[int]) -> Tensor:
    """One tensor with an axis per node that was taken case by case."""
    if not cases:
        return parts[0]
    values = np.stack([p.values for p in parts])
    return Tensor((*cases, *parts[0].axes), values.reshape(*shape, *parts[0].values.shape))


def _spread(values: Array, axis: int, size: int, position: int) -> Array:
    out = np.zeros((*values.shape[:axis], size, *values.shape[axis:]))
    out[(slice(None),) * axis + (position,)] = values
    return out


# -- a plan tried on tables whose answer is known -----------------------------------------------

_SOUND: dict[object, None] = {}  # plans that were tried before, the last few thousand
MOST_KEPT = 4096


def _try(plan: Plan, network: Network) -> None:
    """Run the plan on made-up tables in which the evidence depends on nothing.

    P(evidence) is then a product of known numbers, whatever else the network says, and no entry is
    0 or 1 by accident, so a table that is used twice cannot hide.
    """
    names = network.ancestors([*plan.targets, *plan.evidence])
    factors = {n: f for n, f in network.factors.items() if n in names}
    shapes = tuple((n, f.parents, _few(f.table.shape)) for n, f in factors.items())
    key = (plan.targets, tuple(plan.evidence.items()), shapes, tuple(network.groups.items()))
    if key in _SOUND:
        return
    rng = np.random.default_rng(0)
    expected = 1.0
    made = {}
    for name, parents, shape in shapes:
        table = rng.random(shape) + 0.25
        table /= table.sum(axis=-1, keepdims=True)
        if name in plan.evidence:
            table[...] = table[(0,) * (len(shape) - 1)]
            expected *= float(table[(0,) * (len(shape) - 1)][plan.evidence[name]])
        made[name] = Factor(name, parents, table)
    copy = Plan(plan.targets, plan.evidence)
    trial = replace(network, factors=made, subjects=2, settings=2)
    copy.check(trial, copy.run(trial), expected)
    if len(_SOUND) >= MOST_KEPT:
        _SOUND.pop(next(iter(_SOUND)))
    _SOUND[key] = None


def forget_trials() -> None:
    """Let every plan be tried again; for who changes the engine while it runs."""
    _SOUND.clear()


def _few(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Two subjects and two settings stand for any number."""
    return (min(shape[0], 2), min(shape[1], 2), *shape[2:])


def joint(network: Network, targets: Sequence[str], evidence: Mapping[str, str]) -> Array:
    """P(targets, evidence) for every subject and setting: axes subject, setting, targets."""
    positions = {node: network.state_index(node, state) for node, state in evidence.items()}
    for target in targets:
        network.state_index(target, network.states.get(target, ("",))[0])
    return Plan(targets, positions).joint(network)
