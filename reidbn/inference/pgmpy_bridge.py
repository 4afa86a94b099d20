"""pgmpy: the reference and the passport.  The only file that knows pgmpy; its traps end here.

pgmpy is imported on use: it takes seconds.  Each trap that this file steps around has a contract
test (tests/test_pgmpy_contract.py).
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.errors import ImpossibleEvidence, UsageError
from reidbn.inference.lowering import lower
from reidbn.inference.network import Array, Factor, Network

MOST_BITS = 16  # tables of 2^(b+1) numbers with b+1 axes: beyond this pgmpy needs gigabytes


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
    states: Sequence[str],
    parents: Mapping[str, Sequence[str]],
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


def factor_parents(network: Network, factor: Factor) -> list[str]:
    """The parents with each group spelled out in the order of its reshaped axis: last bit first."""
    names: list[str] = []
    for parent in factor.parents:
        names += reversed(network.groups[parent]) if parent in network.groups else [parent]
    return names


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
    for name, factor in network.factors.items():
        parents = factor_parents(network, factor)
        model.add_edges_from((p, name) for p in parents)
        table = factor.table[
            subject if factor.table.shape[0] > 1 else 0, setting if factor.table.shape[1] > 1 else 0
        ]
        states = {p: network.states[p] for p in parents}
        shape = [len(s) for s in states.values()] + [len(network.states[name])]
        model.add_cpds(tabular(name, network.states[name], states, table.reshape(shape)))
    check(model)
    return model


def check(model: Any) -> None:
    """pgmpy's own check, and ours at 1e-12: pgmpy lets columns be off by 0.01."""
    model.check_model()
    for cpd in model.get_cpds():
        gap = float(np.abs(cpd.get_values().sum(axis=0) - 1).max())
        if not gap <= 1e-12:
            raise UsageError(f"{cpd.variable}: a column of its table sums to 1 only within {gap:g}")


def attack_to_pgmpy(
    attack: Attack,
    *,
    set: Mapping[str, float] | None = None,
    subject: Mapping[str, Any] | None = None,
) -> Any:
    """The attack as a pgmpy model, for one subject at one setting."""
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
    evidence: Mapping[str, str],
    do: Mapping[str, str] | None = None,
) -> Array:
    """P(targets, evidence | do) by variable elimination, one axis per target.

    Targets and evidence are asked jointly: pgmpy normalises given evidence and so loses its
    probability, and answers NaN or even a plausible number when the evidence is impossible.
    """
    evidence = dict(evidence)
    if do:
        model = model.do(list(do))
        for node, state in do.items():
            states = model.get_cpds(node).state_names[node]
            point = [1.0 if s == state else 0.0 for s in states]
            model.add_cpds(tabular(node, states, {}, np.array(point)))
    asked = list(dict.fromkeys([*targets, *evidence]))
    if not asked:
        return np.asarray(1.0)
    factor = pgmpy().VariableElimination(model).query(asked, show_progress=False)
    values = np.asarray(factor.values, dtype=float)
    order = [list(factor.variables).index(a) for a in asked]
    values = values.transpose(order)
    for node, state in evidence.items():
        states = list(factor.state_names[node])
        mask = np.zeros(len(states))
        mask[states.index(state)] = 1.0
        shape = [-1 if a == node else 1 for a in asked]
        values = values * mask.reshape(shape)
    extra = tuple(i for i, a in enumerate(asked) if a not in targets)
    out: Array = values.sum(axis=extra)
    return out


def query(
    model: Any,
    targets: Sequence[str],
    evidence: Mapping[str, str] | None = None,
    do: Mapping[str, str] | None = None,
) -> tuple[Array, float]:
    """P(targets | evidence, do) and P(evidence | do) of any pgmpy model."""
    values = joint(model, targets, evidence or {}, do)
    total = float(values.sum())
    if total <= 0:
        raise ImpossibleEvidence(f"the evidence {dict(evidence or {})} has probability 0")
    return values / total, total
