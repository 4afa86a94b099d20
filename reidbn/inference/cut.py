"""What does not fit into a node's states: how likely it is that something is counted as less.

A Poisson count has no end and its node does, and a difference can fall below a node's lowest state;
the last (or lowest) state then stands for all that lies beyond.  How often that happens, given what
the question is given, is said beside every answer (`tell_cut`, called where any question is put to
an engine), and by `rb.check` of the values and of the ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidbn.aside import aside
from reidbn.attack.attack import Attack
from reidbn.attack.parts import Node
from reidbn.cpds.arithmetic import Minus
from reidbn.cpds.protocol import CPD
from reidbn.errors import ReidbnError, TooLarge
from reidbn.inference.lowering import Lowering
from reidbn.inference.network import Array
from reidbn.inference.query import Query
from reidbn.inference.scopes import GridScope

MOST = 1e-6  # that may be cut off without a word beside the answer
SHOWN = 1e-9  # from which it stands in what an answer holds
Joint = Callable[[Attack, Query, Mapping[str, Any], Mapping[str, Array]], Array]


@dataclass(frozen=True)
class Cut:
    """The largest share that is cut off over subjects and settings, and at which setting."""

    share: float
    setting: int


def can_cut(attack: Attack, nodes: Iterable[str]) -> list[str]:
    """Nodes whose kind can leave something out."""
    kinds = {n: type(attack.all_nodes[n].cpd) for n in nodes}
    return [n for n, kind in kinds.items() if issubclass(kind, Minus) or kind.cut is not CPD.cut]


def looked_at(attack: Attack, query: Query) -> list[str]:
    """Nodes that have a say in the answer and can leave something out."""
    names = attack.upstream([*query.targets, *query.given], cut=query.do)
    if not names.isdisjoint(attack.decisions):  # then what the attacker expects has one, too
        names = names | attack.behind_decisions
    return can_cut(attack, sorted(names))


def tell_cut(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any],
    subject: Mapping[str, Array],
    joint: Joint,
) -> dict[str, float]:
    """Say beside the answer what is cut off, wherever it is more than MOST; every share found."""
    found = cut_off(attack, looked_at(attack, query), query, settings, subject, joint)
    varied = {n: np.atleast_1d(v) for n, v in settings.items() if np.size(v) > 1}
    for name, cut in found.items():
        if cut.share > MOST:
            at = ", ".join(f"{n}={v[cut.setting]:.6g}" for n, v in varied.items())
            words = in_words(attack, {name: cut.share}, f" at {at}" if at else "")[0]
            text = f"{attack.name}: {words}; let its states run further"
            aside((attack.name, name), cut.share, text)
    return {name: cut.share for name, cut in found.items()}


def cut_off(
    attack: Attack,
    nodes: Iterable[str],
    query: Query,
    settings: Mapping[str, Any],
    subject: Mapping[str, Array],
    joint: Joint,
) -> dict[str, Cut]:
    """P(something lies beyond the states, given what is given) of each node that can cut."""
    found = {}
    for name, worst in shares(attack, nodes, query, settings, subject, joint):
        if worst.max() > 0:
            found[name] = Cut(float(worst.max()), int(worst.argmax()))
    return found


def shares(
    attack: Attack,
    nodes: Iterable[str],
    query: Query,
    settings: Mapping[str, Any],
    subject: Mapping[str, Array],
    joint: Joint,
) -> Iterator[tuple[str, Array]]:
    """The same at every setting (one for all, where it is the same), of the worst subject."""
    for name in can_cut(attack, nodes):
        if name in query.do:
            continue
        look = _below if isinstance(attack.all_nodes[name].cpd, Minus) else _beyond
        try:
            found = look(attack, name, query, settings, subject, joint)
        except ReidbnError:
            continue  # what cannot be asked is said where it is asked
        yield name, np.nanmax(found, axis=0, initial=0.0)


def _beyond(
    attack: Attack,
    name: str,
    query: Query,
    settings: Mapping[str, Any],
    subject: Mapping[str, Array],
    joint: Joint,
) -> Array:
    """Of a count: more than its last state; axes subject and setting."""
    node = attack.all_nodes[name]
    lowering = Lowering(attack, settings, nodes=set())
    child, parents = lowering.variables[name], [lowering.variables[p] for p in node.parents]
    last = child.states[-1]
    scope = GridScope(attack, child, tuple(parents), lowering.parameters, subject)
    cut = node.cpd.cut(scope)
    if cut is None or not np.any(cut) or query.given.get(name, last) != last:
        return np.zeros((1, 1))
    held = np.asarray(node.cpd.probabilities(scope))[..., -1]
    share: Array = np.asarray(cut / np.where(held > 0, held, 1.0))  # of what the last state holds
    share = share.reshape((1,) * (2 + len(parents) - share.ndim) + share.shape)
    if any(p.is_group for p in parents):  # of a group, at most
        share, parents = share.max(axis=tuple(range(2, share.ndim))), []
    for axis, p in enumerate(parents, start=2):
        if p.name in query.given and share.shape[axis] > 1:
            share = share.take([p.states.index(query.given[p.name])], axis=axis)
    share = np.squeeze(share, tuple(2 + i for i, p in enumerate(parents) if p.name in query.given))
    free = tuple(p.name for p in parents if p.name not in query.given)
    asked = free if name in query.given else (*free, name)
    if not asked:
        return share
    whole = replace(query, targets=asked, wanted={}, scale=None)
    try:
        found = joint(attack, whole, settings, subject)
    except TooLarge:  # at most, where nothing is given
        return np.asarray(np.max(cut)).reshape(1, 1)
    evidence = found.sum(axis=tuple(range(2, found.ndim)))
    top = (found if name in query.given else found[..., -1]) * share
    return _given(top.sum(axis=tuple(range(2, top.ndim))), evidence)


def _below(
    attack: Attack,
    name: str,
    query: Query,
    settings: Mapping[str, Any],
    subject: Mapping[str, Array],
    joint: Joint,
) -> Array:
    """Of a difference: less than its lowest state, found by giving it every state."""
    node = attack.all_nodes[name]
    assert isinstance(node.cpd, Minus)  # noqa: S101 - the caller looked
    variables = Lowering(attack, settings, nodes=set()).variables
    states = node.cpd.reached(tuple(variables[p] for p in node.parents))
    lowest = variables[name].numbers.min()
    below = np.array([float(state) < lowest for state in states])
    if not below.any() or _is_part(attack, node, variables, query, settings):
        return np.zeros((1, 1))
    whole = replace(node, name=f"{name}_in_full", states=states)
    asked = replace(query, targets=(whole.name,), wanted={}, scale=None)
    law = joint(attack.with_node(whole), asked, settings, subject)
    return _given(law[..., below].sum(axis=-1), law.sum(axis=-1))


def _is_part(
    attack: Attack, node: Node, variables: Mapping[str, Any], query: Query,
    settings: Mapping[str, Any],
) -> bool:  # fmt: skip
    """Whether what is taken away is a part of the whole, by its own law given the whole.

    Then nothing falls below the lowest state, and nobody need be asked.
    """
    whole, *less = [variables[name] for name in getattr(node.cpd, "of", ())] or [None]
    law = attack.all_nodes[less[0].name] if len(less) == 1 else None
    if law is None or law.name in query.do or whole.name not in law.parents:
        return False
    parents = tuple(variables[name] for name in law.parents)
    if any(p.is_group for p in parents):
        return False
    parameters = Lowering(attack, settings, nodes=set()).parameters
    scope = GridScope(attack, less[0], parents, parameters, {})
    try:
        table = np.asarray(law.cpd.probabilities(scope))
    except KeyError:  # it is each person's own
        return False
    table = np.moveaxis(table, 2 + parents.index(whole), -2)
    beyond = whole.numbers[:, None] - less[0].numbers < variables[node.name].numbers.min()
    return not np.any(np.broadcast_to(table, (*table.shape[:-2], *beyond.shape))[..., beyond])


def _given(joint: Array, evidence: Array) -> Array:
    """The share of what fits the evidence; NaN where nothing does."""
    return np.where(evidence > 0, joint / np.where(evidence > 0, evidence, 1.0), np.nan)


def in_words(attack: Attack, cut: Mapping[str, float], at: str = "") -> list[str]:
    """One sentence for every node of which something is cut off."""
    found = []
    for name, share in cut.items():
        node = attack.all_nodes[name]
        where = "below its lowest" if node.cpd.kind == "minus" else "beyond its last"
        much = f"{share:.2g}" if share < 0.995 else "nearly all"
        much = f"at most {much}" if {*node.parents} & {*attack.groups} else much
        found.append(f"{name}: {much} of what can be{at} lies {where} state, and counts as it")
    return found
