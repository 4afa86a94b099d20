"""A layered layout of a small directed graph, in plain Python: boxes in rows, arrows downwards.

1. Rows: every box below its parents; a box without parents moves down to its first child.
2. A long arrow passes through the rows between as a narrow channel, so it meets no box.
3. Order within the rows: barycentre sweeps, the order with the fewest crossings is kept.
4. Places: least squares along the arrows, subject to the order and the gaps (each row solved
   exactly by pooling neighbours).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise

Point = tuple[float, float]
_SWEEPS, _ROUNDS = 12, 60
_CHANNEL = 12.0  # width of a long arrow on its way through a row


@dataclass(frozen=True)
class Placed:
    """A box's place."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """Where the boxes are, and for each edge the straight pieces between which it bends."""

    boxes: Mapping[str, Placed]
    routes: Sequence[tuple[Point, ...]]  # pairs of points: out of a row, into the next
    width: float
    height: float


@dataclass
class _Vertex:
    """A box, or the channel of a long edge through one row."""

    row: int
    width: float
    height: float = 0.0
    x: float = 0.0  # of its middle
    channel: bool = False


def layered(
    sizes: Mapping[str, tuple[float, float]],
    edges: Sequence[tuple[str, str]],
    *,
    gap_x: float = 28,
    gap_y: float = 52,
) -> Layout:
    """Places for boxes of the given sizes; the edges must not go in a circle."""
    if not sizes:
        return Layout({}, [], 0, 0)
    rows = _rows(sizes, edges)
    vertices = [_Vertex(rows[n], *size) for n, size in sizes.items()]
    number = {name: i for i, name in enumerate(sizes)}
    paths = [_path(vertices, number[a], number[b]) for a, b in edges]
    links = [(u, v) for path in paths for u, v in pairwise(path)]
    order = _ordered(vertices, links)
    _place(vertices, links, order, gap_x)
    tops, heights = _heights(vertices, order, gap_y)
    boxes = {
        name: Placed(v.x - v.width / 2, tops[v.row], v.width, v.height)
        for name, v in zip(sizes, vertices, strict=False)
    }
    routes = _routes(vertices, paths, tops, heights)
    width = max(v.x + v.width / 2 for v in vertices)
    return Layout(boxes, routes, width, tops[-1] + heights[-1])


def _rows(sizes: Iterable[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    parents: dict[str, list[str]] = {name: [] for name in sizes}
    children: dict[str, list[str]] = {name: [] for name in sizes}
    for a, b in edges:
        parents[b].append(a)
        children[a].append(b)
    order = list(TopologicalSorter(parents).static_order())
    row: dict[str, int] = {}
    for name in order:
        row[name] = max((row[p] + 1 for p in parents[name]), default=0)
    for name in reversed(order):
        if not parents[name]:
            row[name] = min((row[c] - 1 for c in children[name]), default=row[name])
    lowest = min(row.values())
    return {name: r - lowest for name, r in row.items()}


def _path(vertices: list[_Vertex], start: int, end: int) -> list[int]:
    """The edge as a path through one new channel per row that it crosses."""
    path = [start]
    for row in range(vertices[start].row + 1, vertices[end].row):
        vertices.append(_Vertex(row, _CHANNEL, channel=True))
        path.append(len(vertices) - 1)
    return [*path, end]


# -- the order within the rows -----------------------------------------------------------------


def _ordered(vertices: list[_Vertex], links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """For every row its vertices from left to right."""
    up: list[list[int]] = [[] for _ in vertices]
    down: list[list[int]] = [[] for _ in vertices]
    for u, v in links:
        down[u].append(v)
        up[v].append(u)
    order: list[list[int]] = [[] for _ in range(max(v.row for v in vertices) + 1)]
    for i, vertex in enumerate(vertices):
        order[vertex.row].append(i)
    best, fewest = [list(row) for row in order], _crossings(order, down)
    for sweep in range(_SWEEPS):
        rows = range(1, len(order)) if sweep % 2 == 0 else range(len(order) - 2, -1, -1)
        for r in rows:
            _by_neighbours(order, r, up if sweep % 2 == 0 else down)
        _swapped(order, up, down)
        found = _crossings(order, down)
        if found < fewest:
            best, fewest = [list(row) for row in order], found
    return best


def _by_neighbours(order: list[list[int]], r: int, neighbours: list[list[int]]) -> None:
    """Sort a row by the mean position of its neighbours in the row before."""
    place = {v: i for row in order for i, v in enumerate(row)}

    def key(v: int) -> float:
        near = [place[u] for u in neighbours[v]]
        return sum(near) / len(near) if near else place[v]

    order[r].sort(key=key)


def _swapped(order: list[list[int]], up: list[list[int]], down: list[list[int]]) -> None:
    """Swap neighbours in a row wherever that removes crossings."""
    place = {v: i for row in order for i, v in enumerate(row)}
    for row in order:
        for i in range(len(row) - 1):
            a, b = row[i], row[i + 1]
            now = _pair(a, b, up, place) + _pair(a, b, down, place)
            if _pair(b, a, up, place) + _pair(b, a, down, place) < now:
                row[i], row[i + 1] = b, a
                place[a], place[b] = i + 1, i


def _pair(left: int, right: int, near: list[list[int]], place: Mapping[int, int]) -> int:
    return sum(place[u] > place[v] for u in near[left] for v in near[right])


def _crossings(order: Sequence[Sequence[int]], down: list[list[int]]) -> int:
    place = {v: i for row in order for i, v in enumerate(row)}
    return sum(
        _pair(row[i], row[j], down, place)
        for row in order
        for i in range(len(row))
        for j in range(i + 1, len(row))
    )


# -- places ------------------------------------------------------------------------------------


def _place(
    vertices: list[_Vertex],
    links: Sequence[tuple[int, int]],
    order: Sequence[Sequence[int]],
    gap: float,
) -> None:
    """Least squares of the horizontal lengths; channels pull harder: long arrows are straight."""
    near: list[list[tuple[int, float]]] = [[] for _ in vertices]
    for u, v in links:
        channels = vertices[u].channel + vertices[v].channel
        weight = (1.0, 2.0, 8.0)[channels]
        near[u].append((v, weight))
        near[v].append((u, weight))
    for row in order:
        _spread([0.0] * len(row), [1.0] * len(row), [vertices[v] for v in row], gap)
    for turn in range(_ROUNDS):
        for row in order if turn % 2 == 0 else reversed(order):
            wanted, weights = [], []
            for v in row:
                total = sum(w for _, w in near[v])
                mean = (
                    sum(vertices[u].x * w for u, w in near[v]) / total if total else vertices[v].x
                )
                wanted.append(mean)
                weights.append(total or 1e-3)
            _spread(wanted, weights, [vertices[v] for v in row], gap)
    left = min(v.x - v.width / 2 for v in vertices)
    for vertex in vertices:
        vertex.x -= left


def _spread(
    wanted: Sequence[float], weights: Sequence[float], row: Sequence[_Vertex], gap: float
) -> None:
    """The places nearest to the wanted ones that keep the order and the gaps.

    With the gaps taken off, that is isotonic regression: neighbours out of order are pooled.
    """
    offsets, at = [], 0.0
    for i, vertex in enumerate(row):
        if i:
            at += row[i - 1].width / 2 + gap + vertex.width / 2
        offsets.append(at)
    pools: list[list[float]] = []  # mean, weight, count
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        pools.append([want - offset, weight, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, w, n = pools.pop()
            last = pools[-1]
            last[0] = (last[0] * last[1] + mean * w) / (last[1] + w)
            last[1] += w
            last[2] += n
    means = [mean for mean, _, n in pools for _ in range(int(n))]
    for vertex, mean, offset in zip(row, means, offsets, strict=True):
        vertex.x = mean + offset


def _heights(
    vertices: list[_Vertex], order: Sequence[Sequence[int]], gap: float
) -> tuple[list[float], list[float]]:
    tops, heights, y = [], [], 0.0
    for row in order:
        tops.append(y)
        heights.append(max(vertices[v].height for v in row))
        y += heights[-1] + gap
    return tops, heights


# -- arrows ------------------------------------------------------------------------------------


def _routes(
    vertices: list[_Vertex],
    paths: Sequence[Sequence[int]],
    tops: Sequence[float],
    heights: Sequence[float],
) -> list[tuple[Point, ...]]:
    """For each edge: where it leaves a box, the ends of every bend, where it arrives."""
    leave = _ports(vertices, [(p[0], p[1]) for p in paths])
    arrive = _ports(vertices, [(p[-1], p[-2]) for p in paths])
    routes = []
    for path, x_out, x_in in zip(paths, leave, arrive, strict=True):
        first = vertices[path[0]]
        points = [(x_out, tops[first.row] + first.height),
                  (x_out, tops[first.row] + heights[first.row])]  # fmt: skip
        for v in path[1:-1]:
            x, row = vertices[v].x, vertices[v].row
            points += [(x, tops[row]), (x, tops[row] + heights[row])]
        routes.append((*points, (x_in, tops[vertices[path[-1]].row])))
    return routes


def _ports(vertices: list[_Vertex], ends: Sequence[tuple[int, int]]) -> list[float]:
    """Where edges touch a box: spread along it in the order of where they go."""
    touching: dict[int, list[int]] = {}
    for i, (here, _) in enumerate(ends):
        touching.setdefault(here, []).append(i)
    x = [0.0] * len(ends)
    for here, which in touching.items():
        box = vertices[here]
        step = min(26.0, 0.7 * box.width / len(which))
        ranked = sorted(which, key=lambda i: (vertices[ends[i][1]].x, i))
        for k, i in enumerate(ranked):
            x[i] = box.x + (k - (len(which) - 1) / 2) * step
    return x
