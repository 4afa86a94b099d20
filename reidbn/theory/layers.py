"""The layer of many subsets at once (layer.py): what all share is worked out once.

The people of a table are the same n on every subset, so P(f | f <= 3), P(F = 1 | f = 1) and
E[1/F | f] are functions of m = a + b x and s alone, and of which of `BESIDE` of layer.py a row has.
They are tabled once; on cells, a knot of x and one of `BESIDE` each, the posteriors of all subsets
are one product of matrices, and what they say another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.theory.layer import (
    BESIDE,
    FEW,
    MID_A,
    MID_B,
    OF_UNSURE,
    SD_A,
    SD_B,
    SD_S,
    CalibratedLayer,
    ends_of,
    log_likelihood,
    middle_of,
)

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Single: TypeAlias = NDArray[Any]  # in single precision
GRID = (41, 17, 9)
"""Points of a, b and ln s: all subsets share them, so they are finer than one subset's."""
STEP = 0.2  # between knots of x
TOP = 5.0  # the last knot
SURE = 6.0  # how far beyond N/n the first knot lies
FINE = 0.05  # between the values of m that are tabled
AT_ONCE = 512  # subsets
UNSURE_STEP = 0.5
DRAWS, ENDS = 1 << 19, (128, 2_000)
"""Points drawn of all posteriors, and the fewest and most of one."""
DRAWN_AT_ONCE = 1 << 23  # cells
EVEN = 0.7548776662466927  # 1/p, p^3 = p + 1: multiples of (1/p, 1/p^2) fill the square evenly


@dataclass(frozen=True, eq=False)
class SubsetLayers:
    """What the layers of many subsets say, by cell: all knots of x for each of `BESIDE` in turn."""

    n: float
    N: float
    x: Floats
    """The knots."""
    unique: Single
    """P(F = 1 | f = 1): subset x cell."""
    match: tuple[Single, ...]
    """E[1/F | f] for f of one to three: subset x cell."""
    unsure: Floats
    """By subset, as in `fit_layer`, in steps: which grid its posterior stands on."""
    drawn: NDArray[np.int32]
    """Points of that grid, drawn from its posterior: subset x draw."""

    @property
    def besides(self) -> int:
        """How many of `BESIDE` there are cells of."""
        return int(self.unique.shape[1]) // len(self.x)

    def by_draw(self) -> Iterator[tuple[NDArray[np.int64], list[tuple[Single, Single]]]]:
        """Some subsets, and by draw and cell what is said of them: subset x draw x cell.

        P(F = 1 | f = 1) and E[1/F | f], each by its layer, and, of the first third of the draws,
        were there no e.
        """
        x, third, several = self.x, self.drawn.shape[1] // 3, self.besides
        step = max(1, DRAWN_AT_ONCE // self.drawn.shape[1] // self.unique.shape[1])
        for unsure in np.unique(self.unsure):
            a, b, log_s = grid_of(float(unsure))[0]
            told = _tabled(float(unsure), x, self.n, self.N, several)
            every = CalibratedLayer(self.n, a, b, np.exp(log_s), np.ones(len(a)))
            alike = [every.all_alike(x, self.N)]
            alike += [every.match_alike(f, x, self.N) for f in range(1, FEW + 1)]
            tables = [(t.astype(np.float32), np.tile(o.astype(np.float32), several))
                      for t, o in zip(told, alike, strict=True)]  # fmt: skip
            mine = np.flatnonzero(self.unsure == unsure)
            for start in range(0, len(mine), step):
                some = mine[start : start + step]
                at = self.drawn[some]
                yield some, [(t[at], o[at[:, :third]]) for t, o in tables]

    def at(
        self, x: Single, subset: Ints, beside: NDArray[Any] | None = None
    ) -> tuple[Ints, Single]:
        """The cell before each x of a subset, counted over all, and how far beyond it x lies.

        `beside` says which of `BESIDE` it is: the first, where it is left out.
        """
        knots = len(self.x)
        place = np.clip((x - np.float32(self.x[0])) / np.float32(STEP), 0, knots - 1.001)
        cell = place.astype(np.int64)
        place -= cell.astype(np.float32)
        cell += subset * self.unique.shape[1]
        if beside is not None:
            cell += beside.astype(np.int64) * knots
        return cell, place


def read(table: Single, knot: Ints, beyond: Single) -> Single:
    """Values between knots."""
    flat = table.reshape(-1)
    low = flat.take(knot)
    told = flat[1:].take(knot)
    told -= low
    told *= beyond
    told += low
    return np.asarray(told)


def knots(n: float, N: float) -> Floats:
    """Where the layers are told: from rows that are surely unique to common ones."""
    start = -np.log(N / n) - SURE
    return np.asarray(start + STEP * np.arange(int(np.ceil((TOP - start) / STEP)) + 1))


def tally(
    x: Single, f: NDArray[Any], people: Floats, at: Floats, out: Floats,
    beside: NDArray[Any] | None = None,
) -> None:  # fmt: skip
    """Add rows to `out`, subset x cell x class size: their people, shared by the knots around x.

    `x` and `f` are subset x row, `people` how many each row stands for, `beside` as in `at`.
    """
    mask, row = np.nonzero(f <= FEW)
    place = np.clip((x[mask, row] - at[0]) / STEP, 0, len(at) - 1.001)
    low = place.astype(np.int64)
    beyond = place - low
    weight = people[row]
    if beside is not None:
        low += beside[mask, row].astype(np.int64) * len(at)
    cell = (mask * out.shape[1] + low) * FEW + f[mask, row] - 1
    flat = out.reshape(-1)
    flat += np.bincount(cell, weight * (1 - beyond), flat.size)
    flat += np.bincount(cell + FEW, weight * beyond, flat.size)


def fit_layers(
    seen: Floats, rows: Floats, n: float, sizes: Sequence[float], apart: Floats,
    unsure: Floats | None = None, at: Floats | None = None,
) -> tuple[SubsetLayers, ...]:  # fmt: skip
    """The layers of all subsets, from `tally`'s people and how many rows they are.

    One for each population of `sizes`: what the table says of (a, b, s) is the same.  Equation (3)
    of layer.py: people count as many as there are rows of one to three.  `apart` is how far the
    models are apart on each subset, `unsure` as in `fit_layer`, in steps, and `at` the knots, where
    they are not those of n and the largest population.
    """
    steps = np.zeros(len(seen)) if unsure is None else np.ceil(unsure / UNSURE_STEP)
    x = knots(n, max(sizes)) if at is None else at
    told = np.empty((len(sizes), 1 + FEW, *seen.shape[:2]), dtype=np.float32)
    drawn = np.empty((len(seen), int(np.clip(DRAWS // max(len(seen), 1), *ENDS))), dtype=np.int32)
    for step in np.unique(steps):
        some, unsure_of = np.flatnonzero(steps == step), float(step * UNSURE_STEP)
        said = [_tabled(unsure_of, x, n, N, seen.shape[1] // len(x)) for N in sizes]
        weights = _posteriors(seen[some], rows[some], n, x, apart[some], unsure_of)
        for start, weight in zip(range(0, len(some), AT_ONCE), weights, strict=True):
            here = some[start : start + AT_ONCE]
            for own, tables in zip(told, said, strict=True):
                for out, table in zip(own, tables, strict=True):
                    out[here] = weight @ table
            drawn[here] = _drawn(weight, drawn.shape[1])
    return tuple(
        SubsetLayers(n, N, x, own[0], tuple(own[1:]), steps * UNSURE_STEP, drawn)
        for N, own in zip(sizes, told, strict=True)
    )


def grid_of(unsure: float) -> tuple[Floats, Floats]:
    """Points (a, b, ln s) of the grid where a is so unsure, and the values of s."""
    axes = [np.linspace(*ends) for ends in zip(*ends_of(unsure), GRID, strict=True)]
    points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")])
    return points, np.exp(axes[2])


def spread_out(draws: int) -> tuple[Floats, Floats]:
    """Points that fill the unit square evenly, and so does each third of them in turn."""
    step = np.arange(1, draws + 1)
    one, other = ((0.5 + step * EVEN**power) % 1 for power in (1, 2))
    return np.asarray(one), np.asarray(other)


def _posteriors(
    seen: Floats, rows: Floats, n: float, x: Floats, apart: Floats, unsure: float
) -> Iterator[Floats]:
    """The posteriors of `AT_ONCE` subsets at a time: subset x point of the grid."""
    a, b, log_s = grid_of(unsure)[0]
    sd_a = np.hypot(SD_A, unsure)
    off = ((a - np.exp(2 * log_s) / 2 - MID_A) / sd_a) ** 2 + ((b - MID_B) / SD_B) ** 2
    middle = middle_of(np.maximum(apart, OF_UNSURE * unsure))
    prior = -(off + (log_s / SD_S) ** 2) / 2  # but for what depends on the subset
    likelihood = np.concatenate(
        [_likelihood(unsure, x, n, more) for more in BESIDE[: seen.shape[1] // len(x)]]
    )
    held = seen.sum(axis=(1, 2))
    share = seen.reshape(len(seen), -1) * (rows / np.maximum(held, 1e-9))[:, None]
    for start in range(0, len(seen), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        weight = share[some] @ likelihood + prior
        weight += np.outer(middle[some] / SD_S**2, log_s)
        weight -= weight.max(axis=1, keepdims=True)
        np.exp(weight, out=weight)
        weight /= weight.sum(axis=1, keepdims=True)
        yield weight


def _drawn(weight: Floats, draws: int) -> NDArray[np.int32]:
    """Points drawn from posteriors: subset x draw."""
    even, _ = spread_out(draws)
    out = np.empty((len(weight), draws), dtype=np.int32)
    for own, below in zip(out, np.cumsum(weight, axis=1), strict=True):
        own[:] = np.minimum(np.searchsorted(below, even * below[-1]), len(below) - 1)
    return out


def _likelihood(unsure: float, x: Floats, n: float, beside: float) -> Floats:
    """Log P(f | f <= 3) of one of `BESIDE`: knot and f x grid point."""
    m, own = _places(unsure, x)
    law = np.empty((FEW, len(own), len(m)))
    for size, out in enumerate(law):
        one = np.zeros((1, FEW))
        one[0, size] = 1
        for told, value in zip(out, own, strict=True):
            told[:] = log_likelihood(
                m, np.zeros(len(m)), np.full(len(m), value), (np.zeros(1), one), n, 1, beside
            )
    told = np.stack(list(_at_points(law, unsure, x)), axis=2)
    return np.ascontiguousarray(told.reshape(len(told), -1).T)


def _tabled(unsure: float, x: Floats, n: float, N: float, besides: int) -> list[Floats]:
    """By grid point and cell: P(F = 1 | f = 1), and E[1/F | f] for each f."""
    m, own = _places(unsure, x)
    plain = CalibratedLayer(n, np.zeros(len(own)), np.ones(len(own)), own, np.ones(len(own)))
    each = []
    for more in BESIDE[:besides]:
        told = [plain.p_unique(m, N, more)]
        told += [plain.mean_inverse(f, m, N, more) for f in range(1, FEW + 1)]
        each.append(list(_at_points(told, unsure, x)))
    return [np.concatenate(tables, axis=1) for tables in zip(*each, strict=True)]


def _places(unsure: float, x: Floats) -> tuple[Floats, Floats]:
    """The m = a + b x and the s that are tabled."""
    (a, b, _), own = grid_of(unsure)
    ends = a.min() + min(b.min() * x[0], b.max() * x[0]), a.max() + b.max() * x[-1]
    return np.arange(ends[0], ends[1] + FINE, FINE), own


def _at_points(tables: Iterable[Floats], unsure: float, x: Floats) -> Iterator[Floats]:
    """What is tabled by s and m, by grid point and knot: the points run through s first."""
    (a, b, _), own = grid_of(unsure)
    place = a[:: len(own), None] + b[:: len(own), None] * x
    place -= _places(unsure, x)[0][0]
    place /= FINE
    low = place.astype(np.int64)
    place -= low
    for table in tables:
        out = np.empty((len(low), len(own), len(x)))
        for k, told in enumerate(table):
            step = np.append(np.diff(told), 0.0)
            out[:, k] = step.take(low)
            out[:, k] *= place
            out[:, k] += told.take(low)
        yield out.reshape(-1, len(x))
