"""pgmpy: the reference and the passport.  The only file that knows pgmpy; its traps end here.

pgmpy is imported on use: it takes seconds.  Each trap that this file steps around has a contract
test (tests/test_pgmpy_contract.py).
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.calls import typed
from reidbn.cpds.protocol import CPD
from reidbn.errors import ImpossibleEvidence, ModelError, TooLarge, UsageError, did_you_mean
from reidbn.inference.lowering import lower
from reidbn.inference.network import Array, Network, PlainNode, plain_nodes, spelled_out
from reidbn.inference.policies import refuse_undecided
from reidbn.inference.single import single_table
from reidbn.inference.tensors import SETTING, SUBJECT
from reidbn.inference.values import check_settings

MOST_BITS = 16  # tables of 2^(b+1) numbers with b+1 axes: beyond this pgmpy needs gigabytes
MOST_CELLS = 1 << 26  # numbers in one table
MOST_JOINT = 1 << 18  # numbers in one answer over targets and evidence


@cache
def pgmpy() -> Any:
    """The parts of pgmpy that are used, imported without its warnings and progress bars."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # importing its inference warns about its own modules
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.inference import VariableElimination
        from pgmpy.models import DiscreteBayesianNetwork
    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    return SimpleNamespace(
        TabularCPD=TabularCPD,
        VariableElimination=VariableElimination,
        DiscreteBayesianNetwork=DiscreteBayesianNetwork,
    )


def tabular(
    name: str,
    states: Sequence[Hashable],
    parents: Mapping[str, Sequence[Hashable]],
    table: Array,
) -> Any:
    """A TabularCPD from a table with the axes parents..., state."""
    values = np.moveaxis(table, -1, 0).reshape(len(states), -1)
    return pgmpy().TabularCPD(
        name,
        len(states),
        values,
        evidence=list(parents) or None,
        evidence_card=[len(s) for s in parents.values()] or None,
        state_names={name: list(states), **{p: list(s) for p, s in parents.items()}},
    )


def network_to_pgmpy(network: Network, *, subject: int = 0, setting: int = 0) -> Any:
    """A checked DiscreteBayesianNetwork of one subject at one setting."""
    for group, members in network.groups.items():
        if len(members) > MOST_BITS and any(group in f.parents for f in network.factors.values()):
            raise UsageError(
                f"group {group} has {len(members)} members; pgmpy would need tables of "
                f"2^{len(members) + 1} numbers, so this export stops at {MOST_BITS} members"
            )
    model = pgmpy().DiscreteBayesianNetwork()
    model.add_nodes_from(network.factors)
    for node in plain_nodes(network, subject=subject, setting=setting):
        model.add_edges_from((p, node.name) for p in node.parents)
        states = {p: network.states[p] for p in node.parents}
        model.add_cpds(tabular(node.name, node.states, states, node.table))
    check(model)
    return model


def cpd_to_pgmpy(
    cpd: CPD,
    name: str,
    states: Sequence[Hashable],
    parents: Mapping[str, Sequence[Hashable]] | None = None,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    parameters: Mapping[str, float] | None = None,
    subject: Mapping[str, Any] | None = None,
) -> Any:
    """One CPD as a TabularCPD, for anybody's pgmpy model; parents in order, each with its states.

    `groups` says which yes/no parents make up a group that this CPD reads.

    >>> from reidbn.cpds.logic import NoisyOr
    >>> cpd = NoisyOr(weights="$w", leak=0.1).to_pgmpy(
    ...     "alarm", ["no", "yes"], {"smoke": ["no", "yes"]}, parameters={"w": 0.5})
    >>> cpd.get_values().round(12).tolist()
    [[0.9, 0.45], [0.1, 0.55]]
    """
    parents = parents or {}
    table = single_table(
        cpd, name, states, parents, groups=groups, parameters=parameters, subject=subject
    )
    return tabular(name, states, parents, table)


def network_to_pgmpy_indexed(network: Network) -> Any:
    """All subjects and settings in one model: two uniform root nodes say which one is meant.

    Plates as nodes: a table that depends on the subject (or the setting) gets that node as its
    first parent, and one query answers for everybody (`joint_indexed`).
    """
    plates = {SUBJECT: network.subjects, SETTING: network.settings}
    _refuse_large(network, plates)
    states = {**network.states, **{plate: tuple(map(str, range(n))) for plate, n in plates.items()}}
    model = pgmpy().DiscreteBayesianNetwork()
    model.add_nodes_from([*plates, *network.factors])
    for plate, n in plates.items():
        model.add_cpds(tabular(plate, states[plate], {}, np.full(n, 1 / n)))
    for name, factor in network.factors.items():
        over = [p for axis, p in enumerate(plates) if factor.table.shape[axis] > 1]
        parents = [*over, *spelled_out(network, factor)]
        model.add_edges_from((p, name) for p in parents)
        shape = [len(states[p]) for p in parents] + [len(states[name])]
        table = factor.table.reshape(shape)
        model.add_cpds(tabular(name, states[name], {p: states[p] for p in parents}, table))
    check(model)
    return model


def joint_indexed(model: Any, targets: Sequence[str], evidence: Mapping[str, str]) -> Array:
    """P(targets, evidence) of every subject at every setting: axes subject, setting, targets."""
    values = joint(model, [SUBJECT, SETTING, *targets], evidence)
    scaled: Array = values * values.shape[0] * values.shape[1]
    return scaled


def _refuse_large(network: Network, plates: Mapping[str, int]) -> None:
    for name, factor in network.factors.items():
        if factor.table.size > MOST_CELLS:
            raise TooLarge(
                f"{name}: its table holds {factor.table.size:,} numbers for "
                f"{plates[SUBJECT]:,} subjects and {plates[SETTING]:,} settings, and this stops "
                f"at {MOST_CELLS:,}; take the subjects in blocks"
            )


def check(model: Any) -> None:
    """Pgmpy's own check, and ours at 1e-12: pgmpy lets columns be off by 0.01."""
    model.check_model()
    for cpd in model.get_cpds():
        gap = float(np.abs(cpd.get_values().sum(axis=0) - 1).max())
        if not gap <= 1e-12:
            raise UsageError(f"{cpd.variable}: a column of its table sums to 1 only within {gap:g}")


@typed
def attack_to_pgmpy(
    attack: Attack,
    *,
    set: Mapping[str, float] | None = None,
    subject: Mapping[str, Any] | None = None,
    beyond_range: bool = False,
) -> Any:
    """A checked pgmpy DiscreteBayesianNetwork of one subject at one setting."""
    check_settings(attack, set, beyond_range=beyond_range)
    refuse_undecided(attack, "a pgmpy model")
    network = lower(attack, set, subject)
    if network.subjects > 1 or network.settings > 1:
        raise UsageError(
            f"a pgmpy model holds one subject at one setting; got {network.subjects} subjects and "
            f"{network.settings} settings"
        )
    return network_to_pgmpy(network)


def joint(
    model: Any,
    targets: Sequence[str],
    evidence: Mapping[str, Hashable],
    do: Mapping[str, Hashable] | None = None,
) -> Array:
    """P(targets, evidence | do) by variable elimination, one axis per target.

    Targets and evidence are asked jointly: pgmpy normalises given evidence and so loses its
    probability, and answers NaN or even a plausible number when the evidence is impossible.
    """
    evidence = dict(evidence)
    if do:
        for node in do:
            _states(model, node)
        model = model.do(list(do))
        for node, state in do.items():
            own = _states(model, node)
            point = np.zeros(len(own))
            point[_position(node, own, state)] = 1.0
            model.add_cpds(tabular(node, own, {}, point))
    asked = list(dict.fromkeys([*targets, *evidence]))
    states = {node: _states(model, node) for node in asked}
    at = {node: _position(node, states[node], state) for node, state in evidence.items()}
    if not asked:
        return np.asarray(1.0)
    if prod(len(s) for s in states.values()) > MOST_JOINT:
        return _joint_by_chain(model, targets, evidence, states)
    values = _ask(model, asked, {})
    for node, position in at.items():
        mask = np.zeros(len(states[node]))
        mask[position] = 1.0
        values = values * mask.reshape([-1 if a == node else 1 for a in asked])
    extra = tuple(i for i, a in enumerate(asked) if a not in targets)
    out: Array = values.sum(axis=extra)
    return out


def _joint_by_chain(
    model: Any,
    targets: Sequence[str],
    evidence: Mapping[str, Hashable],
    states: Mapping[str, list[Hashable]],
) -> Array:
    """The same where the joint table would be too large: P(e1) P(e2 | e1) ... P(targets | e).

    Every condition is known to be possible before it is used.
    """
    p = 1.0
    seen: dict[str, Hashable] = {}
    for node, state in evidence.items():
        if p > 0:
            p *= float(_ask(model, [node], seen)[states[node].index(state)])
            seen[node] = state
    free = [t for t in targets if t not in evidence]
    shape = [len(states[t]) for t in targets]
    out = np.zeros(shape)
    if p > 0:
        index = [states[t].index(evidence[t]) if t in evidence else slice(None) for t in targets]
        out[tuple(index)] = p * (_ask(model, free, seen) if free else 1.0)
    return out


def _ask(model: Any, asked: Sequence[str], evidence: Mapping[str, Hashable]) -> Array:
    """One variable elimination, with the axes in the order asked and the model's own states."""
    infer = pgmpy().VariableElimination(model)
    factor = infer.query(list(asked), evidence=dict(evidence) or None, show_progress=False)
    values = np.asarray(factor.values, dtype=float)
    found: Array = values.transpose([list(factor.variables).index(a) for a in asked])
    return found


def _states(model: Any, node: Hashable) -> list[Hashable]:
    if node not in model.nodes():
        hint = did_you_mean(str(node), map(str, model.nodes()))
        raise UsageError(f'the pgmpy model has no node "{node}"; {hint}')
    return list(model.get_cpds(node).state_names[node])


def _position(node: Hashable, states: list[Hashable], state: Hashable) -> int:
    if state not in states:
        hint = did_you_mean(str(state), map(str, states))
        raise UsageError(f'{node} has no state "{state}"; {hint}')
    return states.index(state)


def query(
    model: Any,
    targets: Sequence[str],
    evidence: Mapping[str, Hashable] | None = None,
    do: Mapping[str, Hashable] | None = None,
) -> tuple[Array, float]:
    """P(targets | evidence, do) and P(evidence | do) of any pgmpy model."""
    values = joint(model, targets, evidence or {}, do)
    total = float(values.sum())
    if total <= 0:
        raise ImpossibleEvidence(f"the evidence {dict(evidence or {})} has probability 0")
    return values / total, total


def tables(model: Any) -> list[PlainNode]:
    """Every node of a pgmpy model with its states, parents and table, parents before children.

    Parents are read from `variables[1:]`: `get_evidence()` gives them in reversed order.
    """
    if not isinstance(model, pgmpy().DiscreteBayesianNetwork):
        found = type(model).__name__
        raise UsageError(f"expected a pgmpy DiscreteBayesianNetwork; this is a {found}")
    try:
        model.check_model()
    except (ValueError, AttributeError, KeyError) as problem:
        raise ModelError(f"the pgmpy model is not complete: {problem}") from None
    out = []
    for node in TopologicalSorter({n: model.get_parents(n) for n in model}).static_order():
        cpd = model.get_cpds(node)
        names = {v: tuple(cpd.state_names[v]) for v in cpd.variables}
        table = np.moveaxis(np.asarray(cpd.values, dtype=float), 0, -1)
        out.append(PlainNode(node, names[node], tuple(cpd.variables[1:]), table))
    return out
