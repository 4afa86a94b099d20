"""The layer of many subsets at once (layer.py): what all share is worked out once.

The people of a table are the same n on every subset, so P(f | f <= 3), P(F = 1 | f = 1) and
E[1/F | f] are functions of m = a + b x and s alone.  They are tabled once; on knots of x the
posteriors of all subsets are one product of matrices, and what they say another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.theory.layer import (
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
    """What the layers of many subsets say, by knot of x."""

    n: float
    N: float
    x: Floats
    """The knots."""
    unique: Single
    """P(F = 1 | f = 1): subset x knot."""
    match: tuple[Single, ...]
    """E[1/F | f] for f of one to three: subset x knot."""
    unsure: Floats
    """By subset, as in `fit_layer`, in steps: which grid its posterior stands on."""
    drawn: NDArray[np.int32]
    """Points of that grid, drawn from its posterior: subset x draw."""

    @property
    def knots(self) -> int:
        return int(self.unique.shape[1])

    def by_draw(self) -> Iterator[tuple[NDArray[np.int64], list[tuple[Single, Single]]]]:
        """Some subsets, and by draw and knot what is said of them: subset x draw x knot.

        P(F = 1 | f = 1) and E[1/F | f], each by its layer, and, of the first third of the draws,
        were there no e.
        """
        x, third = self.x, self.drawn.shape[1] // 3
        step = max(1, DRAWN_AT_ONCE // (self.drawn.shape[1] * len(x)))
        for unsure in np.unique(self.unsure):
            points, own = grid_of(float(unsure))
            told = _tabled(points, own, x, self.n, self.N)[1:]
            a, b, log_s = points
            every = CalibratedLayer(self.n, a, b, np.exp(log_s), np.ones(len(a)))
            alike = [every.all_alike(x, self.N)]
            alike += [every.match_alike(f, x, self.N) for f in range(1, FEW + 1)]
            tables = [(t.astype(np.float32), o.astype(np.float32))
                      for t, o in zip(told, alike, strict=True)]  # fmt: skip
            mine = np.flatnonzero(self.unsure == unsure)
            for start in range(0, len(mine), step):
                some = mine[start : start + step]
                at = self.drawn[some]
                yield some, [(t[at], o[at[:, :third]]) for t, o in tables]

    def at(self, x: Single) -> tuple[NDArray[np.int32], Single]:
        """The knot before each x, counted over all subsets, and how far beyond it x lies."""
        place = np.clip((x - np.float32(self.x[0])) / np.float32(STEP), 0, self.knots - 1.001)
        knot = place.astype(np.int32)
        place -= knot
        knot += (np.arange(len(x), dtype=np.int32) * self.knots)[:, None]
        return knot, place


def read(table: Single, knot: NDArray[np.int32], beyond: Single) -> Single:
    """Values between knots."""
    flat = table.reshape(-1)
    low = flat.take(knot)
    return np.asarray(low + (flat.take(knot + 1) - low) * beyond)


def knots(n: float, N: float) -> Floats:
    """Where the layers are told: from rows that are surely unique to common ones."""
    start = -np.log(N / n) - SURE
    return np.asarray(start + STEP * np.arange(int(np.ceil((TOP - start) / STEP)) + 1))


def tally(x: Single, f: NDArray[Any], people: Floats, at: Floats, out: Floats) -> None:
    """Add rows to `out`, subset x knot x class size: their people, shared by the knots around x.

    `x` and `f` are subset x row, `people` how many each row stands for.
    """
    mask, row = np.nonzero(f <= FEW)
    place = np.clip((x[mask, row] - at[0]) / STEP, 0, len(at) - 1.001)
    low = place.astype(np.int64)
    beyond = place - low
    weight = people[row]
    cell = (mask * len(at) + low) * FEW + f[mask, row] - 1
    flat = out.reshape(-1)
    flat += np.bincount(cell, weight * (1 - beyond), flat.size)
    flat += np.bincount(cell + FEW, weight * beyond, flat.size)


def fit_layers(
    seen: Floats, rows: Floats, n: float, N: float, apart: Floats, unsure: Floats | None = None,
    at: Floats | None = None,
) -> SubsetLayers:  # fmt: skip
    """The layers of all subsets, from `tally`'s people and how many rows they are.

    Equation (3) of layer.py: people count as many as there are rows of one to three.  `apart` is
    how far the models are apart on each subset, `unsure` as in `fit_layer`, in steps, and `at` the
    knots, where they are not those of n and N.
    """
    steps = np.zeros(len(seen)) if unsure is None else np.ceil(unsure / UNSURE_STEP)
    x = knots(n, N) if at is None else at
    told = [np.empty((len(seen), len(x)), dtype=np.float32) for _ in range(1 + FEW)]
    drawn = np.empty((len(seen), int(np.clip(DRAWS // max(len(seen), 1), *ENDS))), dtype=np.int32)
    for step in np.unique(steps):
        some = np.flatnonzero(steps == step)
        out = [table[some] for table in (drawn, *told)]
        _fitted(seen[some], rows[some], n, N, x, apart[some], float(step * UNSURE_STEP), out)
        for table, values in zip((drawn, *told), out, strict=True):
            table[some] = values
    return SubsetLayers(n, N, x, told[0], tuple(told[1:]), steps * UNSURE_STEP, drawn)


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


def _fitted(
    seen: Floats, rows: Floats, n: float, N: float, x: Floats, apart: Floats, unsure: float,
    told: Sequence[NDArray[Any]],
) -> None:  # fmt: skip
    """Into `told`: points drawn from the posteriors, P(F = 1 | f = 1), E[1/F | f]."""
    points, own = grid_of(unsure)
    a, b, log_s = points
    sd_a = np.hypot(SD_A, unsure)
    off = ((a - np.exp(2 * log_s) / 2 - MID_A) / sd_a) ** 2 + ((b - MID_B) / SD_B) ** 2
    middle = middle_of(np.maximum(apart, OF_UNSURE * unsure))
    prior = -(off + (log_s / SD_S) ** 2) / 2  # but for what depends on the subset
    likelihood, unique, *match = _tabled(points, own, x, n, N)
    held = seen.sum(axis=(1, 2))
    share = seen.reshape(len(seen), -1) * (rows / np.maximum(held, 1e-9))[:, None]
    even, _ = spread_out(told[0].shape[1])
    for start in range(0, len(seen), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        weight = share[some] @ likelihood + prior
        weight += np.outer(middle[some] / SD_S**2, log_s)
        weight -= weight.max(axis=1, keepdims=True)
        np.exp(weight, out=weight)
        weight /= weight.sum(axis=1, keepdims=True)
        for out, values in zip(told[1:], (unique, *match), strict=True):
            out[some] = weight @ values
        np.cumsum(weight, axis=1, out=weight)
        for out, below in zip(told[0][some], weight, strict=True):
            out[:] = np.minimum(np.searchsorted(below, even * below[-1]), len(below) - 1)


def _tabled(points: Floats, own: Floats, x: Floats, n: float, N: float) -> list[Floats]:
    """By grid point and knot: log P(f | f <= 3) for each f, P(F = 1 | f = 1), E[1/F | f]."""
    a, b, log_s = points
    ends = a.min() + min(b.min() * x[0], b.max() * x[0]), a.max() + b.max() * x[-1]
    m = np.arange(ends[0], ends[1] + FINE, FINE)
    plain = CalibratedLayer(n, np.zeros(len(own)), np.ones(len(own)), own, np.ones(len(own)))
    law = np.empty((FEW, len(own), len(m)))
    for size in range(FEW):
        one = np.zeros((1, FEW))
        one[0, size] = 1
        for k, value in enumerate(own):
            law[size, k] = log_likelihood(
                m, np.zeros(len(m)), np.full(len(m), value), (np.zeros(1), one), n, 1
            )
    tables = [*law, plain.p_unique(m, N)]
    tables += [plain.mean_inverse(f, m, N) for f in range(1, FEW + 1)]
    place = (a[:, None] + b[:, None] * x - m[0]) / FINE
    low = np.clip(place.astype(np.int64), 0, len(m) - 2)
    beyond = place - low
    which = np.searchsorted(np.log(own), log_s - 1e-9)[:, None]
    read = [t[which, low] + (t[which, low + 1] - t[which, low]) * beyond for t in tables]
    likelihood = np.stack(read[:FEW], axis=2).reshape(len(a), -1)
    return [np.ascontiguousarray(likelihood.T), *read[FEW:]]
