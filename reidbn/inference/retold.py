"""The story told again, node by node, for many subjects: a second exact answer beside the engine.

Cases of the story are kept as rows: the states of the nodes that still matter, and one weight per
subject.  A node is told by splitting every case into its states, each weighed with P(state |
parents); cases that differ only in nodes that no later one depends on are added up.  No case that
the tables make impossible for everybody is followed.  With nothing added up this is enumeration
(see enumeration.py); like that it shares nothing with the exact engine but the tables: no groups
are collapsed, no tensors contracted, and the nodes come in another order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from reidbn.errors import TooLarge
from reidbn.inference.network import Array, Factor, Network

MOST_CASES = 1 << 20  # of one subject, at any one time
MOST_NAMED = 1 << 62  # combinations of states that a whole number can name
Whole = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Retold:
    """P(wanted | given) of every subject, and what it took."""

    risk: Array
    cases: int
    """The most cases that were followed at once."""
    work: int
    """Numbers that were multiplied."""


def retell(
    network: Network,
    wanted: Mapping[str, str],
    given: Mapping[str, str],
    order: Sequence[str] | None = None,
) -> Retold:
    """P(wanted | given) of every subject of a network at one setting.

    The order of telling is that of the network's shape; who asks for blocks keeps it.
    """
    order = order or best_order(network, [*wanted, *given])
    last = _last_needed(network, wanted, order)
    story = _Story(network)
    for i, node in enumerate(order):
        story.tell(node, given.get(node), lambda n, i=i: last[n] > i)  # type: ignore[misc]
    return story.told(wanted)


class _Story:
    """The cases that are followed: states by node, and weights (case x subject, or x 1)."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.states: dict[str, Whole] = {}
        self.weights: Array = np.ones((1, 1))
        self.cases = self.work = 1

    def tell(self, node: str, seen: str | None, needed: Callable[[str], bool]) -> None:
        """Split every case by the states of a node, and add up those that no longer differ.

        What was seen is the only state there is; `needed` says which nodes are depended on later.
        """
        factor, size = self.network.factors[node], self.network.size(node)
        possible = np.arange(size) if seen is None else [self.network.state_index(node, seen)]
        if len(self.weights) * len(possible) > MOST_CASES:
            raise TooLarge(
                f"telling the story node by node follows more than {MOST_CASES:,} cases at "
                f"{node}, and stops there; use the exact engine"
            )
        before = np.repeat(np.arange(len(self.weights)), len(possible))
        state = np.tile(possible, len(self.weights))
        entry = self._position(factor)[before] * size + state
        table = factor.table[:, 0].reshape(len(factor.table), -1)
        if len(table) == 1:  # the same for everybody: split and add up at once
            kept = table[0, entry] > 0
            before, state, entry = before[kept], state[kept], entry[kept]
            weights, at, chances = self.weights, before, table[0, entry]
        else:
            weights = self.weights[before] * np.ascontiguousarray(table.T)[entry]
            at, chances = np.arange(len(before)), np.ones(len(before))
            self.work += table.size + weights.size
        states = {n: s[before] for n, s in self.states.items()} | {node: state}
        left = {n: s for n, s in states.items() if needed(n)}
        if len(table) == 1 or len(left) < len(states):
            which, first = self._alike(left, len(before))
            adding = csr_array((chances, (which, at)), shape=(len(first), len(weights)))
            self.work += len(before) * weights.shape[1]
            weights, left = adding @ weights, {n: s[first] for n, s in left.items()}
        self.weights, self.states = weights, left
        self.cases = max(self.cases, len(before))

    def _alike(self, left: Mapping[str, Whole], cases: int) -> tuple[Whole, Whole]:
        """Which of the cases that are left each one becomes, and one of each."""
        if prod(self.network.size(n) for n in left) > MOST_NAMED:
            raise TooLarge(
                f"telling the story node by node keeps {len(left)} nodes in mind at once; use the "
                f"exact engine"
            )
        names = np.zeros(cases, dtype=np.int64)
        for name, state in left.items():
            names = names * self.network.size(name) + state
        _, first, which = np.unique(names, return_index=True, return_inverse=True)
        return which.reshape(-1), first

    def _position(self, factor: Factor) -> Whole:
        """The row of the node's table, for every case."""
        found = np.zeros(len(self.weights), dtype=np.intp)
        for parent in factor.parents:
            if parent in self.network.groups:
                members = self.network.groups[parent]
                state = sum(self.states[m] << j for j, m in enumerate(members))
            else:
                state = self.states[parent]
            found = found * self.network.size(parent) + state
        return found

    def told(self, wanted: Mapping[str, str]) -> Retold:
        fits = np.ones(len(self.weights), dtype=bool)
        for node, state in wanted.items():
            fits &= self.states[node] == self.network.state_index(node, state)
        part, whole = self.weights[fits].sum(axis=0), self.weights.sum(axis=0)
        risk = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
        return Retold(np.broadcast_to(risk, self.network.subjects), self.cases, self.work)


# -- the order of telling ---------------------------------------------------------------------


def best_order(network: Network, nodes: Iterable[str]) -> list[str]:
    """Every node after its parents, with few cases at any time: the best of three orders."""
    wanted = list(dict.fromkeys(nodes))
    depth = {n: len(network.ancestors([n])) for n in network.ancestors(wanted)}
    ways: list[Callable[[Sequence[str]], Sequence[str]]] = [
        lambda parents: parents,
        lambda parents: parents[::-1],
        lambda parents: sorted(parents, key=lambda p: -depth[p]),
    ]
    orders = [_order(network, wanted, way) for way in ways]
    return min(orders, key=lambda order: _cases(network, wanted, order))


def _order(
    network: Network, wanted: Sequence[str], way: Callable[[Sequence[str]], Sequence[str]]
) -> list[str]:
    """A node comes as late as it can: right before the first that depends on it."""
    found: dict[str, None] = {}
    todo = list(wanted[::-1])
    while todo:
        parents = network.members(network.factors[todo[-1]].parents)
        missing = [p for p in way(parents) if p not in found]
        if todo[-1] in found or not missing:
            found[todo.pop()] = None
        else:
            todo.append(missing[0])
    return list(found)


def _last_needed(network: Network, wanted: Iterable[str], order: Sequence[str]) -> dict[str, int]:
    """The place of the last node that depends on each, or of itself; what is wanted stays."""
    last: dict[str, int] = {}
    for i, node in enumerate(order):
        last |= dict.fromkeys((node, *network.members(network.factors[node].parents)), i)
    return last | dict.fromkeys(wanted, len(order))


def _cases(network: Network, wanted: Sequence[str], order: Sequence[str]) -> int:
    """How many cases an order follows in all, were none impossible."""
    last = _last_needed(network, wanted, order)
    alive: list[str] = []
    total = 0
    for i, node in enumerate(order):
        alive.append(node)
        total += prod(network.size(n) for n in alive)
        alive = [n for n in alive if last[n] > i]
    return total
