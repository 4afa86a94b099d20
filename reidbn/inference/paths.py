"""In which order tables are multiplied, and how large the largest of them gets on the way.

opt_einsum's own path joins two tables at a time by what that costs at once; on long stories it can
walk into tables that nobody can hold.  Taking the nodes out one by one, always the one whose table
is smallest, is the second way; the better of the two is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import prod

Axes = tuple[str, ...]
Path = list[tuple[int, ...]]


def largest(
    tables: Sequence[Axes], out: Axes, sizes: Mapping[str, int], path: Sequence[tuple[int, ...]]
) -> tuple[Axes, int]:
    """The axes of the largest table that is made on a path, and all multiplications of it."""
    left = [frozenset(axes) for axes in tables]
    uses = _uses(left)
    widest, most, work = tuple(sorted(out)), prod(sizes[a] for a in out), 0
    for positions in path:
        taken = [left.pop(i) for i in sorted(positions, reverse=True)]
        work += prod(sizes[a] for a in frozenset().union(*taken))
        made = _joined(taken, uses, out)
        left.append(made)
        numbers = prod(sizes[a] for a in made)
        if numbers > most:
            widest, most = tuple(sorted(made)), numbers
    return widest, work


def by_elimination(tables: Sequence[Axes], out: Axes, sizes: Mapping[str, int]) -> Path:
    """A path that takes the axes out one by one, always the one whose table is smallest."""
    room = _Path(tables, out, sizes)
    costs = {a: room.cost(a) for a in room.about if a not in out}
    queue = [(cost, axis) for axis, cost in costs.items()]
    heapify(queue)
    while costs:
        cost, axis = heappop(queue)
        if costs.get(axis) != cost:
            continue  # taken out, or its cost has changed since
        del costs[axis]
        near = {a for i in room.about[axis] for a in room.left[i]} & costs.keys()
        room.join(room.about[axis])
        for other in sorted(near):
            costs[other] = room.cost(other)
            heappush(queue, (costs[other], other))
    room.join(set(room.left))
    return room.path


class _Path:
    """The tables that are left, by number, and the path so far."""

    def __init__(self, tables: Sequence[Axes], out: Axes, sizes: Mapping[str, int]) -> None:
        self.left = {i: frozenset(axes) for i, axes in enumerate(tables)}
        self.about: dict[str, set[int]] = {}
        for i, axes in self.left.items():
            for axis in axes:
                self.about.setdefault(axis, set()).add(i)
        self.out, self.sizes = out, sizes
        self.order = list(self.left)  # as opt_einsum counts them: what is made comes last
        self.path: Path = []

    def numbers(self, axes: Iterable[str]) -> int:
        return prod(self.sizes[a] for a in axes)

    def cost(self, axis: str) -> int:
        """Numbers in the product of all tables about an axis."""
        return self.numbers({a for i in self.about[axis] for a in self.left[i]})

    def join(self, tables: set[int]) -> None:
        """Multiply some tables, small ones first; what nothing else is about is summed out."""
        queue = sorted(tables, key=lambda i: (self.numbers(self.left[i]), i))
        while len(queue) > 1:
            pair = queue[:2]
            made = max(self.order) + 1
            self.path.append((self.order.index(pair[0]), self.order.index(pair[1])))
            both = frozenset(a for i in pair for a in self.left[i])
            for i in pair:
                for axis in self.left.pop(i):
                    self.about[axis].discard(i)
                self.order.remove(i)
            self.left[made] = frozenset(a for a in both if self.about[a] or a in self.out)
            for axis in self.left[made]:
                self.about[axis].add(made)
            self.order.append(made)
            queue = [made, *queue[2:]]


def _uses(tables: Sequence[frozenset[str]]) -> dict[str, int]:
    """How many tables are about each axis."""
    found: dict[str, int] = {}
    for axes in tables:
        for axis in axes:
            found[axis] = found.get(axis, 0) + 1
    return found


def _joined(taken: Sequence[frozenset[str]], uses: dict[str, int], out: Axes) -> frozenset[str]:
    """The axes of the product of some tables, without those that nothing else is about."""
    for axes in taken:
        for axis in axes:
            uses[axis] -= 1
    made = frozenset(a for axes in taken for a in axes if uses[a] or a in out)
    for axis in made:
        uses[axis] += 1
    return made
