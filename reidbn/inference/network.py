"""Network: the narrow waist.  Attack and CPD code never sees an engine; engines see only this.

A `Factor` is P(child | parents) as a dense table with the axes

    subject x setting x parents ... x state

where the first two have length 1 when the table does not depend on them, and a parent *group* of
b yes/no members is one axis of length 2^b (bit j of the position: member j is yes).

Plain networks: names, states, parents and numbers, with nothing of the language left.

What every exchange format can carry.  Groups are spelled out as their members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import EngineError, ModelError, TooLarge, UsageError, did_you_mean, which_state

Array = NDArray[np.float64]
States = NDArray[np.intp]
# act(rng, states of the parents by name, subject of every row, position of the setting)
Actor = Callable[[np.random.Generator, Mapping[str, States], States, int], States]

TOLERANCE = 1e-12
MASS = 1e-9  # how far the probability of all that can happen may be from what it must be
MOST_MEMBERS = 20
FAULT = (
    "This is a fault of reidbn and not of the model, so no answer is given: please report it with "
    "the model file"
)


@dataclass(frozen=True)
class Factor:
    """P(child | parents) for every subject and setting."""

    child: str
    parents: tuple[str, ...]
    table: Array
    act: Actor | None = field(default=None, compare=False)
    is_hidden: bool = False  # a step of a wide table, which no question can name


@dataclass(frozen=True)
class Network:
    """Factors in topological order, group members included."""

    states: Mapping[str, tuple[str, ...]]
    groups: Mapping[str, tuple[str, ...]]
    factors: Mapping[str, Factor]
    subjects: int = 1
    settings: int = 1

    def size(self, name: str) -> int:
        """Length of a node's or a group's axis."""
        return 1 << len(self.groups[name]) if name in self.groups else len(self.states[name])

    def members(self, parents: Iterable[str]) -> tuple[str, ...]:
        """The parents with groups read as all their members."""
        found: list[str] = []
        for parent in parents:
            found += self.groups.get(parent, (parent,))
        return tuple(dict.fromkeys(found))

    @property
    def hidden(self) -> frozenset[str]:
        """Steps of wide tables: nodes that the author never wrote."""
        return frozenset(name for name, factor in self.factors.items() if factor.is_hidden)

    def group_of(self, node: str) -> str | None:
        return next((g for g, members in self.groups.items() if node in members), None)

    def state_index(self, node: str, state: str) -> int:
        """Position of a state, with a clear word when the node or the state is unknown."""
        if node not in self.states:
            raise UsageError(f'no node "{node}"; {did_you_mean(node, self.states)}')
        states = self.states[node]
        one = state.rpartition(":")[0]
        if state not in states and one in states:
            others = ",".join(f"{other}:P" for other in states if other != one)
            raise UsageError(
                f'{node} has no state "{state}"; if it is a likelihood, every state needs its '
                f"likelihood: {node}={state},{others}"
            )
        if state not in states:
            raise UsageError(f'{node} has no state "{state}"; {which_state(state, states)}')
        return states.index(state)

    def ancestors(self, nodes: Iterable[str]) -> set[str]:
        """The nodes and everything upstream: all that can matter for a question on them."""
        found: set[str] = set()
        todo = list(nodes)
        while todo:
            node = todo.pop()
            if node not in found:
                found.add(node)
                todo += self.members(self.factors[node].parents)
        return found

    def do(self, interventions: Mapping[str, str]) -> Network:
        """The network after interventions: the nodes are set and their edges from parents cut."""
        factors = dict(self.factors)
        for node, state in interventions.items():
            table = np.zeros((1, 1, self.size(node)) if node in self.states else (1, 1, 1))
            table[0, 0, self.state_index(node, state)] = 1.0
            index = self.state_index(node, state)
            factors[node] = Factor(node, (), table, _always(index))
        return replace(self, factors=factors)


def _always(index: int) -> Actor:
    def act(
        rng: np.random.Generator, parents: Mapping[str, States], subject: States, setting: int
    ) -> States:
        return np.full(len(subject), index, dtype=np.intp)

    return act


def checked(child: str, table: Array) -> Array:
    """The table itself, when every entry is a probability and every configuration sums to 1."""
    if table.size == 0:
        raise ModelError(f"{child}: its table is empty; is there a subject?")
    low = float(table.min())
    with np.errstate(invalid="ignore"):  # what is infinite is refused below
        mass = _mass(table)
    gap = max(float(mass.max()) - 1.0, 1.0 - float(mass.min()))
    if low >= -TOLERANCE and gap <= TOLERANCE:  # then none is above 1; false for NaN
        return table
    high = float(table.max())
    if not (low >= -TOLERANCE and high <= 1 + TOLERANCE):
        found = "NaN" if np.isnan(low) else f"{low:.6g}" if low < 0 else f"{high:.6g}"
        raise ModelError(
            f"{child}: P(state | parents) holds {found} at this setting; "
            f"every entry must lie between 0 and 1"
        )
    raise ModelError(
        f"{child}: P(state | parents) sums to 1 only within {gap:.3g}; it must within 1e-12"
    )


def _mass(table: Array) -> Array:
    """Sums over the last axis; NumPy adds up short last axes slowly, so a few go one by one."""
    if table.shape[-1] > 8:
        return np.asarray(table.sum(axis=-1))
    total = table[..., 0]
    for i in range(1, table.shape[-1]):
        total = total + table[..., i]
    return total


def check_mass(values: Array, expected: float | None = 1.0) -> None:
    """P(targets, evidence), axes subject, setting, targets, adds up to what it must for everybody.

    `expected` is None when something is given: then it is at most 1.  An answer that fails is a
    fault of the engine, and is never rounded into a probability.
    """
    parts = values.reshape(*values.shape[:2], -1)
    mass = _mass(parts)
    low, high = (0.0, 1.0) if expected is None else (expected, expected)
    slack = MASS * high
    found = float(np.min(mass)), float(np.max(mass))
    if not (low - slack <= found[0] and found[1] <= high + slack):  # also catches NaN
        worst = found[0] if not low - slack <= found[0] else found[1]
        must = "at most 1" if expected is None else f"{expected:.9g}"
        raise EngineError(
            f"the probabilities of all cases add up to {worst:.9g}; they must to {must}. {FAULT}"
        )


def rounding_size(tables: Sequence[Array]) -> float | None:
    """No sum of products of these tables is larger, signs left out; None if a row is not 1 in all.

    Every product of entries is a term of the product of the rows' sums of |entries|.
    """
    size = 1.0
    for table in tables:
        large = float(_mass(np.abs(table)).max())
        if not float(np.abs(_mass(table) - 1.0).max()) <= TOLERANCE * max(large, 1.0):
            return None
        size *= max(large, 1.0)
    return size


def strays(values: Array) -> NDArray[np.bool_]:
    """Which values are further from 0..1 than rounding takes a probability; NaN is."""
    return np.asarray(~((values >= -MASS) & (values <= 1 + MASS)))


def as_probability(values: Array, slack: Array | float = 0.0) -> Array:
    """Values that rounding took a hair below 0 or above 1, at the edge; what is further is a fault.

    `slack` is what more than MASS may be rounding, where it is known that digits were lost.

    >>> as_probability(np.array([-1e-16, 0.5, 1 + 1e-15])).tolist()
    [0.0, 0.5, 1.0]
    """
    if values.size and not (values.min() >= -MASS and values.max() <= 1 + MASS):
        beyond = np.maximum(-values, values - 1.0)
        if (beyond <= MASS + slack).all():  # false for NaN
            return np.asarray(np.clip(values, 0.0, 1.0))
        excess = np.where(np.isnan(beyond), np.inf, beyond - slack)
        worst = float(values.flat[int(np.argmax(excess))])
        raise EngineError(f"{worst:.9g} was found, which is no probability. {FAULT}")
    return np.asarray(np.clip(values, 0.0, 1.0))


# -- plain networks --------------------------------------------------------------------------------


MOST_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class PlainNode:
    """P(node | parents) as a table with the axes parents..., state."""

    name: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    table: Array

    @property
    def rows(self) -> Array:
        """One row per configuration of the parents, the last parent varying fastest."""
        return self.table.reshape(-1, len(self.states))


def spelled_out(network: Network, factor: Factor) -> tuple[str, ...]:
    """The parents with groups as their members, in the order of the table's reshaped axes.

    Bit j of a group's position is member j, so the slowest axis is the last member's.
    """
    found: list[str] = []
    for parent in factor.parents:
        found += reversed(network.groups[parent]) if parent in network.groups else [parent]
    return tuple(found)


def plain_nodes(network: Network, *, subject: int = 0, setting: int = 0) -> list[PlainNode]:
    """The network of one subject at one setting, group members as ordinary parents."""
    out = []
    for name, factor in network.factors.items():
        table = factor.table[
            subject if factor.table.shape[0] > 1 else 0, setting if factor.table.shape[1] > 1 else 0
        ]
        if table.size > MOST_CELLS:
            raise TooLarge(
                f"{name}: its table has {table.size:,} numbers when its group is spelled out, and "
                f"this stops at {MOST_CELLS:,}: leave members of the group out, or join those that "
                f"are learnt together"
            )
        parents = spelled_out(network, factor)
        states = network.states[name]
        shape = [*(len(network.states[p]) for p in parents), len(states)]
        out.append(PlainNode(name, states, parents, table.reshape(shape)))
    return out
