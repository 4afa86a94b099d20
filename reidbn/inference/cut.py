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
from reidbn.cpds.event import Event, passes
from reidbn.cpds.protocol import CPD, NO, YES, Scope, Variable
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


class UpperEnd(float):
    """A share that is no more than this, of a question that is too large to tell it exactly."""


@dataclass(frozen=True)
class _Beyond(CPD):
    """Of a node in its last state: whether it stands for more than that; `is`: of what kind."""

    kind = "beyond"
    in_files = False
    node: Variable
    law: CPD

    def references(self) -> tuple[str, ...]:
        return self.law.references()

    def probabilities(self, scope: Scope) -> Array:
        more = _more(self.law, replace(scope, child=self.node))  # type: ignore[type-var]
        return np.stack((1.0 - more, more), axis=-1)


def _more(law: CPD, scope: Scope) -> Array:
    """P(more than the last state says, given that state), of every configuration."""
    cut, held = law.cut(scope), np.asarray(law.probabilities(scope))[..., -1]
    return np.asarray(cut / np.where(held > 0, held, 1.0))


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
    for name, worst, told in shares(attack, nodes, query, settings, subject, joint):
        if worst.max() > 0:
            found[name] = Cut(told(worst.max()), int(worst.argmax()))
    return found


def shares(
    attack: Attack,
    nodes: Iterable[str],
    query: Query,
    settings: Mapping[str, Any],
    subject: Mapping[str, Array],
    joint: Joint,
    *,
    missed: bool = False,
) -> Iterator[tuple[str, Array, type[float]]]:
    """The same at every setting (one for all, where it is the same), of the worst subject.

    With it what it is: a share, or UpperEnd where the question is too large to tell it.  `missed`:
    only of what is no hit as it stands, by which a probability may be higher.
    """
    missed = missed and bool(query.wanted)
    for name in can_cut(attack, nodes):
        if name in query.do or (missed and _makes_no_hit(attack, name, query, settings)):
            continue
        look = _below if isinstance(attack.all_nodes[name].cpd, Minus) else _beyond
        told: type[float] = float
        try:
            found = look(attack, name, query, settings, subject, joint, missed=missed)
        except TooLarge:  # it may be sampled all the same
            found, told = _bound(attack, name, query, settings, subject), UpperEnd
        except ReidbnError:
            continue  # what cannot be asked is said where it is asked
        yield name, np.nanmax(found, axis=0, initial=0.0), told


def _beyond(
    attack: Attack,
    name: str,
    query: Query,
    settings: Mapping[str, Any],
    subject: Mapping[str, Array],
    joint: Joint,
    *,
    missed: bool,
) -> Array:
    """Of a count: more than its last state; axes subject and setting."""
    scope = _scope(attack, name, settings, subject)
    last, node = scope.child.states[-1], attack.all_nodes[name]
    cut = node.cpd.cut(scope)
    if cut is None or not np.any(cut) or query.given.get(name, last) != last:
        return np.zeros((1, 1))
    law = _Beyond(scope.child, node.cpd)
    more = replace(node, name=_free(attack, name), states=(NO, YES), cpd=law)
    at_last = replace(query, given={**query.given, name: last}, wanted={}, scale=None)
    is_hit = missed and query.wanted.get(name, last) == last
    others = tuple(n for n in query.targets if n != name) if is_hit else ()
    asked = replace(at_last, targets=(more.name, *others))
    found = joint(attack.with_node(more), asked, settings, subject)
    evidence = found.sum(axis=tuple(range(2, found.ndim)))
    beyond = found[:, :, 1]
    if is_hit:
        beyond = _no_hit(beyond, attack, query, others, settings)
    if name not in query.given:
        whole = replace(at_last, targets=(name,), given=query.given)
        evidence = joint(attack, whole, settings, subject).sum(axis=-1)
    return _given(beyond, evidence)


def _bound(
    attack: Attack,
    name: str,
    query: Query,
    settings: Mapping[str, Any],
    subject: Mapping[str, Array],
) -> Array:
    """What can at most be cut off, whatever the parents are and whatever is given."""
    if isinstance(attack.all_nodes[name].cpd, Minus):
        return np.ones((1, 1))
    scope, law = _scope(attack, name, settings, subject), attack.all_nodes[name].cpd
    most = _more(law, scope) if query.given else np.asarray(law.cut(scope))
    return np.asarray(most.max(axis=tuple(range(2, most.ndim))))


def _scope(
    attack: Attack, name: str, settings: Mapping[str, Any], subject: Mapping[str, Array]
) -> GridScope:
    lowering = Lowering(attack, settings, nodes=set())
    parents = tuple(lowering.variables[p] for p in attack.all_nodes[name].parents)
    return GridScope(attack, lowering.variables[name], parents, lowering.parameters, subject)


def _below(
    attack: Attack,
    name: str,
    query: Query,
    settings: Mapping[str, Any],
    subject: Mapping[str, Array],
    joint: Joint,
    *,
    missed: bool,
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
    whole = replace(node, name=_free(attack, name), states=states)
    others = query.targets if missed else ()
    asked = replace(query, targets=(whole.name, *others), wanted={}, scale=None)
    law = joint(attack.with_node(whole), asked, settings, subject)
    evidence = law.sum(axis=tuple(range(2, law.ndim)))
    lost = law[:, :, below].sum(axis=2)
    if missed:
        lost = _no_hit(lost, attack, query, others, settings)
    return _given(lost, evidence)


def _makes_no_hit(attack: Attack, name: str, query: Query, settings: Mapping[str, Any]) -> bool:
    """Whether what lies beyond is as little a hit as the state that it counts as.

    So it is where it is read by the question alone, which asks for another state, or in tests that
    say the same of all that lies beyond: alarms < 5, of 0 to 6 and more.
    """
    if name in attack.upstream(query.given, cut=query.do) or (
        name in attack.behind_decisions and not attack.decisions.keys() <= query.do.keys()
    ):
        return False
    variable = Lowering(attack, settings, nodes=set()).variables[name]
    is_below = isinstance(attack.all_nodes[name].cpd, Minus)
    end = int(variable.numbers.argmin()) if is_below else variable.size - 1
    if name in query.wanted:
        return query.wanted[name] != variable.states[end]
    beyond = Variable(name, (variable.states[end], "-inf" if is_below else "inf"))
    relevant = attack.upstream(query.targets, cut=query.do) - query.do.keys()
    cpds = [n.cpd for n in attack.all_nodes.values() if n.name in relevant and name in n.parents]
    tests = [t for cpd in cpds if isinstance(cpd, Event) for t in cpd.tests[name]]
    return all(isinstance(cpd, Event) for cpd in cpds) and all(
        np.ptp(passes(beyond, test).astype(int)) == 0 for test in tests
    )


def _no_hit(
    joint: Array, attack: Attack, query: Query, names: tuple[str, ...], settings: Mapping[str, Any]
) -> Array:
    """What is left without the hit itself; axes subject, setting and the nodes that are asked."""
    variables = Lowering(attack, settings, nodes=set()).variables
    left = joint.sum(axis=tuple(range(2, joint.ndim)))
    if all(query.wanted[n] in variables[n].states for n in names):
        hit: Any = tuple(variables[n].states.index(query.wanted[n]) for n in names)
        left = left - joint[(slice(None), slice(None), *hit)]
    return np.asarray(np.maximum(left, 0.0))


def _free(attack: Attack, name: str) -> str:
    """A name for a node beside this one, which nothing in the attack has."""
    while name in {*attack.all_nodes, *attack.groups, *attack.settable, *attack.subject}:
        name += "_in_full"
    return name


def _is_part(
    attack: Attack, node: Node, variables: Mapping[str, Any], query: Query,
    settings: Mapping[str, Any],
) -> bool:  # fmt: skip
    """Whether what is taken away is a part of the whole, by its own law given the whole.

    Then nothing falls below the lowest state, and nobody need be asked.
    """
    whole, *less = [variables[name] for name in getattr(node.cpd, "of", ())] or [None]
    law = attack.all_nodes[less[0].name] if len(less) == 1 and not less[0].is_group else None
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
    table = table.reshape(*[1] * (len(parents) + 3 - table.ndim), *table.shape)  # rows may be alike
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
        is_known = share < 0.995 or not isinstance(share, UpperEnd)
        much = f"{share:.2g}" if share < 0.995 else "nearly all" if is_known else "an unknown share"
        much = f"at most {much}" if isinstance(share, UpperEnd) and is_known else much
        found.append(f"{name}: {much} of what can be{at} lies {where} state, and counts as it")
    return found
