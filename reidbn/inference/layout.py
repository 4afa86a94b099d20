"""Which tables a group meets, and what its message is about: by name, before any number is touched.

Every table is used once.  A group takes all tables with its axis, whether they are a child's own or
the message of a group that went before, and the tables of its free members: those that nothing else
sees.  What it leaves behind is one message with all other axes of what it took.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from reidbn.inference.network import Network
from reidbn.inference.tensors import BATCH

Axes = tuple[str, ...]


@dataclass(frozen=True)
class Collapse:
    """One group summed out.

    `cases` are taken one by one: members that something else sees, and nodes that both the free
    members and the tables depend on.  `outside` are the free members' other parents, `others` all
    other axes of the tables.
    """

    group: str
    tables: tuple[str, ...]
    free: tuple[str, ...]
    cases: Axes
    outside: Axes
    others: Axes
    batch: Axes

    @property
    def name(self) -> str:
        """Of the message; no node can have it."""
        return f"<{self.group}>"

    @property
    def sums(self) -> Axes:
        """For every case of these the group is summed once."""
        return (*self.cases, *self.outside, *self.others)

    @property
    def axes(self) -> Axes:
        return (*self.batch, *self.sums)


def collapses(
    network: Network,
    tables: Mapping[str, Axes],
    targets: Sequence[str],
    evidence: Mapping[str, int],
) -> tuple[list[Collapse], dict[str, Axes]]:
    """The groups in the order in which they go, the smallest message first; and what is left."""
    pool = dict(tables)
    steps: list[Collapse] = []
    seen = {*targets, *evidence}
    while True:
        waiting = [g for g in network.groups if any(g in axes for axes in pool.values())]
        if not waiting:
            return steps, pool
        found = [_collapse(network, group, pool, seen, evidence) for group in waiting]
        best = min(found, key=lambda step: prod(network.size(a) for a in step.sums))
        for name in (*best.tables, *best.free):
            del pool[name]
        pool[best.name] = best.axes
        steps.append(best)


def _collapse(
    network: Network,
    group: str,
    pool: Mapping[str, Axes],
    seen: set[str],
    evidence: Mapping[str, int],
) -> Collapse:
    members = network.groups[group]
    tables = tuple(name for name, axes in pool.items() if group in axes)
    elsewhere = {a for name, axes in pool.items() for a in axes if a != name}
    free = tuple(
        m for m in members
        if m not in seen and m not in elsewhere and m in pool and m not in tables
    )  # fmt: skip
    kept = [m for m in members if m not in free and m not in evidence]
    own = {*BATCH, group, *free, *kept}
    around = _apart([pool[m] for m in free], own)
    touched = _apart([pool[name] for name in tables], own)
    shared = [a for a in around if a in touched]
    everything = {a for name in (*tables, *free) for a in pool[name]}
    return Collapse(
        group,
        tables,
        free,
        cases=(*kept, *shared),
        outside=tuple(a for a in around if a not in shared),
        others=tuple(a for a in touched if a not in shared),
        batch=tuple(a for a in BATCH if a in everything),
    )


def _apart(axes: Sequence[Axes], own: set[str]) -> list[str]:
    """All the axes but the group's own, each once."""
    return list(dict.fromkeys(a for one in axes for a in one if a not in own))
