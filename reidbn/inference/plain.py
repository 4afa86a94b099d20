"""Plain networks: names, states, parents and numbers, with nothing of the language left.

What every exchange format can carry.  Groups are spelled out as their members.
"""

from __future__ import annotations

from dataclasses import dataclass

from reidbn.errors import TooLarge
from reidbn.inference.network import Array, Factor, Network

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
                f"this stops at {MOST_CELLS:,}"
            )
        parents = spelled_out(network, factor)
        states = network.states[name]
        shape = [*(len(network.states[p]) for p in parents), len(states)]
        out.append(PlainNode(name, states, parents, table.reshape(shape)))
    return out
