"""The most probable explanation: the single whole case that fits the evidence best.

Max-product elimination: a node is taken out by keeping, for every configuration of its
neighbours, its best state and what that is worth; then the states are read off backwards.
Tables are scaled by powers of two only, so no number is rounded that plain products would keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.modelfile import load
from reidbn.calls import typed
from reidbn.cpds.event import Event
from reidbn.errors import ImpossibleEvidence, TooLarge, UsageError
from reidbn.inference.answers import joint
from reidbn.inference.lowering import lower
from reidbn.inference.network import Array, Network, plain_nodes
from reidbn.inference.query import read_query
from reidbn.inference.tensors import Tensor, contract
from reidbn.inference.values import check_settings

MOST_CELLS = 1 << 24  # numbers in the largest table on the way


@dataclass(frozen=True)
class Explanation:
    """The best case, its probability, and its share of all cases that fit the evidence."""

    case: Mapping[str, str]
    probability: float
    evidence_probability: float

    @property
    def posterior(self) -> float:
        """P(case | evidence)."""
        return self.probability / self.evidence_probability

    def to_dict(self) -> dict[str, Any]:
        return {
            "case": dict(self.case),
            "probability": self.probability,
            "evidence_probability": self.evidence_probability,
            "posterior": self.posterior,
        }

    def __str__(self) -> str:
        case = ", ".join(f"{node}={state}" for node, state in self.case.items())
        return f"{case} ({self.posterior:.4g} of all that fits)"


@typed
def most_probable(
    attack: Attack | str,
    given: Mapping[str, Any] | None = None,
    *,
    do: Mapping[str, Any] | None = None,
    set: Mapping[str, float] | None = None,
    subject: Mapping[str, Any] | None = None,
    beyond_range: bool = False,
) -> Explanation:
    """How it most probably came about, given the evidence: one state for every node.

    `attack` is one or its name. `do` is what is brought about, `set` gives parameters values,
    `subject` is what a table says of one person; `beyond_range` also takes values outside declared
    ranges.

    >>> found = most_probable("leak-single", {"identified": "yes"})
    >>> found.case["leaked_class_size"], round(found.posterior, 6)
    ('2', 0.374812)
    """
    own = load(attack)
    attack, query = read_query(own, {}, given, do)
    check_settings(attack, set, beyond_range=beyond_range)
    network = lower(attack, set, subject).do(query.do)
    if network.subjects > 1 or network.settings > 1:
        raise UsageError(
            f"one subject at one setting has a most probable case; got {network.subjects} subjects "
            f"and {network.settings} settings"
        )
    chance = chancy_steps(network)
    case = best_case(network, query.given, summed=chance)
    entries = entries_of(network, case, summed=chance)
    hidden = network.hidden
    asked = {n for n in query.reports if isinstance(attack.nodes[n].cpd, Event)}
    asked = {*attack.upstream(asked)} - {*own.all_nodes}
    case = {node: state for node, state in case.items() if node not in hidden | asked}
    evidence = 1.0
    if query.given:
        evidence = float(joint(attack, query, set, subject).reshape(()))
    if min(entries) <= 0 or evidence <= 0:  # a product of many small ones may vanish in floats
        named = ", ".join(query.known)
        raise ImpossibleEvidence(f"{attack.name}: the evidence {named} has probability 0")
    return Explanation(case, prod(entries), evidence)


def chancy_steps(network: Network) -> list[str]:
    """Hidden steps that chance decides: no part of a case, so they are summed over."""
    return [n for n in network.hidden if not np.isin(network.factors[n].table, (0.0, 1.0)).all()]


def entries_of(
    network: Network, case: Mapping[str, str], summed: Sequence[str] = ()
) -> list[float]:
    """P(state | parents' states) of every node in a case; their product is P(case)."""
    entries, chains = [], []
    for node in plain_nodes(network):
        names = (*node.parents, node.name)
        fixed = {n: network.state_index(n, case[n]) for n in names if n not in summed}
        table = _Table.of(node.table, names, fixed)
        if table.axes:
            chains.append(Tensor(table.axes, table.values))
        else:
            entries.append(float(table.values))
    return [*entries, float(contract(chains, ()).values)] if chains else entries


def best_case(
    network: Network, evidence: Mapping[str, str], summed: Sequence[str] = ()
) -> dict[str, str]:
    """The most probable states of all nodes but those that are summed over, groups spelled out."""
    fixed = {node: network.state_index(node, state) for node, state in evidence.items()}
    room = _Room(network)
    for node in plain_nodes(network):
        room.put(_Table.of(node.table, (*node.parents, node.name), fixed))
    for name in room.order(summed):
        product = room.take_product(name)
        axis = product.axes.index(name)
        rest = product.axes[:axis] + product.axes[axis + 1 :]
        room.put(_Table(rest, product.values.sum(axis=axis)))
    taken: list[tuple[str, tuple[str, ...], NDArray[np.intp]]] = []
    left = [n for n in network.states if n not in fixed and n not in summed]
    for name in room.order(left):
        product = room.take_product(name)
        axis = product.axes.index(name)
        rest = product.axes[:axis] + product.axes[axis + 1 :]
        taken.append((name, rest, product.values.argmax(axis=axis)))
        room.put(_Table(rest, product.values.max(axis=axis)))
    states = dict(fixed)
    for name, rest, best in reversed(taken):
        states[name] = int(best[tuple(states[a] for a in rest)])
    return {name: network.states[name][states[name]] for name in network.states if name in states}


@dataclass(frozen=True)
class _Table:
    axes: tuple[str, ...]
    values: Array

    @classmethod
    def of(cls, values: Array, axes: tuple[str, ...], fixed: Mapping[str, int]) -> _Table:
        index = tuple(fixed[a] if a in fixed else slice(None) for a in axes)
        return cls(tuple(a for a in axes if a not in fixed), np.asarray(values[index]))


class _Room:
    """The tables that are left, found by the nodes that they are about."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.about: dict[str, list[_Table]] = {name: [] for name in network.states}

    def put(self, table: _Table) -> None:
        for axis in table.axes:
            self.about[axis].append(table)

    def cost(self, name: str) -> int:
        """Numbers in the table that taking this node out would make."""
        axes = {a for t in self.about[name] for a in t.axes}
        return prod(self.network.size(a) for a in axes)

    def order(self, names: Sequence[str]) -> Iterator[str]:
        """The nodes, always the one next whose table is smallest; ties by name, so runs agree."""
        known = {name: self.cost(name) for name in names}
        queue = [(cost, name) for name, cost in known.items()]
        heapify(queue)
        while known:
            cost, name = heappop(queue)
            if known.get(name) != cost:
                continue  # taken out, or its cost has changed since
            if cost > MOST_CELLS:
                raise TooLarge(
                    f"the most probable case needs a table of {cost:,} numbers and this stops at "
                    f"{MOST_CELLS:,}; give more evidence, or make groups smaller"
                )
            del known[name]
            near = {a for t in self.about[name] for a in t.axes} & known.keys()
            yield name
            for other in sorted(near):
                known[other] = self.cost(other)
                heappush(queue, (known[other], other))

    def take_product(self, name: str) -> _Table:
        """All tables about a node, multiplied and taken away.

        Scaled by a power of two, so that long products do not vanish and none is rounded.
        """
        tables = list(self.about[name])
        axes = tuple(dict.fromkeys(a for t in tables for a in t.axes))
        for axis in axes:
            self.about[axis] = [
                t for t in self.about[axis] if all(t is not gone for gone in tables)
            ]
        values: Array = np.ones([self.network.size(a) for a in axes])
        for table in tables:
            turned = table.values.transpose(np.argsort([axes.index(a) for a in table.axes]))
            shape = [self.network.size(a) if a in table.axes else 1 for a in axes]
            values = values * turned.reshape(shape)
        top = values.max(initial=0.0)
        return _Table(axes, np.ldexp(values, -np.frexp(top)[1]) if top > 0 else values)
