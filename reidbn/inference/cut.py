"""What does not fit into a node's states: how likely it is that something is counted as less.

A Poisson count has no end and its node does, and a difference can fall below a node's lowest state;
the last (or lowest) state then stands for all that lies beyond.  How often that happens is said
beside the answer, and by `rb.check` where the values or the ranges make it more than MOST.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.cpds.arithmetic import Minus
from reidbn.cpds.protocol import CPD
from reidbn.errors import ReidbnError
from reidbn.inference import exact
from reidbn.inference.lowering import STEPS, Lowering
from reidbn.inference.network import Array
from reidbn.inference.scopes import GridScope

MOST = 1e-6  # that may be cut off without a warning of `check`
SHOWN = 1e-9  # from which it is said beside an answer


def can_cut(attack: Attack, nodes: Iterable[str]) -> list[str]:
    """Nodes whose kind can leave something out."""
    kinds = {n: type(attack.all_nodes[n].cpd) for n in nodes}
    return [n for n, kind in kinds.items() if issubclass(kind, Minus) or kind.cut is not CPD.cut]


def cut_off(
    attack: Attack,
    nodes: Iterable[str],
    settings: Mapping[str, Any],
    subject: Mapping[str, Array],
    done: Mapping[str, str] | None = None,
) -> dict[str, float]:
    """P(something lies beyond the states) of each node that can cut, at most over the subjects."""
    found = {}
    for name in can_cut(attack, nodes):
        try:
            look = _below if isinstance(attack.all_nodes[name].cpd, Minus) else _beyond
            share = 0.0 if name in (done or {}) else look(attack, name, settings, subject, done)
        except ReidbnError:
            continue  # what cannot be asked is said where it is asked
        if share > 0:
            found[name] = share
    return found


def _joint(
    attack: Attack,
    names: tuple[str, ...],
    settings: Mapping[str, Any],
    subject: Mapping[str, Array],
    done: Mapping[str, str] | None,
) -> Array:
    """P(names), and how many states each of them has at these settings."""
    needed = attack.upstream(names)
    lowering = Lowering(attack, settings, nodes=needed, whole=STEPS)
    network = lowering.network(subject)
    known = {n: s for n, s in (done or {}).items() if n in needed}
    return exact.joint(network.do(known), names, {})


def _beyond(
    attack: Attack,
    name: str,
    settings: Mapping[str, Any],
    subject: Mapping[str, Array],
    done: Mapping[str, str] | None,
) -> float:
    """Of a count: more than its last state."""
    node = attack.all_nodes[name]
    lowering = Lowering(attack, settings, nodes=set())
    parents = tuple(lowering.variables[p] for p in node.parents)
    scope = GridScope(attack, lowering.variables[name], parents, lowering.parameters, subject)
    cut = node.cpd.cut(scope)
    if cut is None:
        return 0.0
    groups = any(p.is_group for p in parents)
    if not parents or groups or not cut.any():  # of a group, at most
        return float(cut.max())
    weights = _joint(attack, node.parents, settings, subject, done)
    return float((weights * cut).sum(axis=tuple(range(2, weights.ndim))).max())


def _below(
    attack: Attack,
    name: str,
    settings: Mapping[str, Any],
    subject: Mapping[str, Array],
    done: Mapping[str, str] | None,
) -> float:
    """Of a difference: less than its lowest state, found by giving it every state."""
    node = attack.all_nodes[name]
    assert isinstance(node.cpd, Minus)  # noqa: S101 - the caller looked
    variables = Lowering(attack, settings, nodes=set()).variables
    states = node.cpd.reached(tuple(variables[p] for p in node.parents))
    lowest = variables[name].numbers.min()
    below = np.array([float(state) < lowest for state in states])
    if not below.any():
        return 0.0
    whole = replace(node, name=f"{name}_in_full", states=states)
    law = _joint(attack.with_node(whole), (whole.name,), settings, subject, done)
    return float(law[..., below].sum(axis=-1).max())


def in_words(attack: Attack, cut: Mapping[str, float], at: str = "") -> list[str]:
    """One sentence for every node of which something is cut off."""
    found = []
    for name, share in cut.items():
        node = attack.all_nodes[name]
        where = "below its lowest" if node.cpd.kind == "minus" else "beyond its last"
        found.append(f"{name}: {share:.2g} of what can be{at} lies {where} state, and counts as it")
    return found
