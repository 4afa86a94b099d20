"""Which tables a group meets, and what its message is about: by name, before any number is touched.

Every table is used once.  A group takes all tables with its axis, whether they are a child's own or
the message of a group that went before, and the tables of its free members: those that nothing else
sees but other free members.  Nodes that lead to the free members alone, such as the sources from
which attributes are learnt, go with them (`inner`): they are summed out of P(subset) before anybody
is looked at.  What a group leaves behind is one message with all other axes of what it took.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from reidbn.inference.network import Network
from reidbn.inference.tensors import BATCH, SUBJECT

Axes = tuple[str, ...]


@dataclass(frozen=True)
class Collapse:
    """One group summed out.

    `cases` are taken one by one: members that something else sees, and nodes that both the free
    members and the tables depend on.  `outside` are the free members' other parents, `others` all
    other axes of the tables.  `inner` are tables that only say more of the free members.
    """

    group: str
    tables: tuple[str, ...]
    free: tuple[str, ...]
    inner: tuple[str, ...]
    told: tuple[Axes, ...]
    """The axes of the tables of the free members, and of the inner ones, but for the cases."""
    cases: Axes
    outside: Axes
    others: Axes
    batch: Axes

    @property
    def name(self) -> str:
        """Of the message; no node can have it."""
        return f"<{self.group}>"

    @property
    def all(self) -> tuple[str, ...]:
        """Every table that it takes."""
        return (*self.tables, *self.free, *self.inner)

    @property
    def is_plain(self) -> bool:
        """Whether the free members are independent given what is outside."""
        own = {*self.free}
        return not self.inner and all(len(own & {*axes}) == 1 for axes in self.told)

    @property
    def weights(self) -> Axes:
        """The axes of P(subset), the first member's varying fastest."""
        batch = (a for a in BATCH if any(a in axes for axes in self.told))
        return (*batch, *self.outside, *reversed(self.free))

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
        for name in best.all:
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
    touched = {a for name in tables for a in pool[name]}
    free, inner = _free(network, group, pool, seen | touched)
    kept = [m for m in members if m not in free and m not in evidence]
    own = {*BATCH, group, *free, *kept}
    left = {a for name, axes in pool.items() if name not in (*free, *inner) for a in axes}
    around = [a for a in _apart([pool[n] for n in (*free, *inner)], own) if a in seen | left]
    rest = _apart([pool[name] for name in tables], own)
    shared = [a for a in around if a in touched]
    cases = (*kept, *shared)
    everything = {a for name in (*tables, *free, *inner) for a in pool[name]}
    return Collapse(
        group,
        tables,
        free,
        inner,
        told=tuple(tuple(a for a in pool[n] if a not in cases) for n in (*free, *inner)),
        cases=cases,
        outside=tuple(a for a in around if a not in shared),
        others=tuple(a for a in rest if a not in shared),
        batch=tuple(a for a in BATCH if a in everything),
    )


def _free(
    network: Network, group: str, pool: Mapping[str, Axes], blocked: set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The members that nothing else sees, and the tables that only say more of them."""
    about: dict[str, list[str]] = {}
    for name, axes in pool.items():
        for axis in axes:
            about.setdefault(axis, []).append(name)
    members = {m for g, own in network.groups.items() if g in about for m in own}
    free = [m for m in network.groups[group] if m in pool and m not in blocked]
    while True:
        own = {a for m in free for a in pool[m]}
        apart = {*network.groups} | ({SUBJECT} - own)
        others = members - {*network.groups[group]}  # their group needs their tables
        inner: set[str] = set()
        for axis in own - members - blocked - {*BATCH}:
            found = _leading(axis, pool, about, own | blocked | members, own, apart)
            inner |= set() if found & others else found - {*free}
        within = own | {a for name in inner for a in pool[name]}
        for m in free:  # such as what was seen of a member that hangs on this one
            inner |= {n for n in about[m] if within.issuperset(pool[n]) and n not in free}
        strays = [m for m in free if not {*about[m]} <= {*free} | inner]
        if not strays:
            return tuple(free), tuple(n for n in pool if n in inner)
        free = [m for m in free if m not in strays]


def _leading(
    axis: str,
    pool: Mapping[str, Axes],
    about: Mapping[str, list[str]],
    ends: set[str],
    own: set[str],
    apart: set[str],
) -> set[str]:
    """The tables that hang on an axis, where they lead nowhere else; else none."""
    found: set[str] = set()
    todo, met = [axis], {axis}
    while todo:
        for name in about[todo.pop()]:
            if not apart.isdisjoint(pool[name]):
                return set()
            found.add(name)
            for other in {*pool[name]} - met - {*BATCH}:
                met.add(other)
                if other not in ends:
                    todo.append(other)
                elif other not in own:
                    return set()
    return found


def _apart(axes: Sequence[Axes], own: set[str]) -> list[str]:
    """All the axes but the group's own, each once."""
    return list(dict.fromkeys(a for one in axes for a in one if a not in own))
