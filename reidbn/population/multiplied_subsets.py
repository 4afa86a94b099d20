"""Shares multiplied, on every subset whose columns do not go together (multiplied.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.microdata.rows import DistinctRows
from reidbn.microdata.slab import sizes_of_rows
from reidbn.population.multiplied import (
    HARDLY,
    are_plain,
    even_shares,
    means,
    near_knot,
    none_go_together,
    of_the_table,
)
from reidbn.population.standing import Stands
from reidbn.theory.layer import FEW
from reidbn.theory.layers import SubsetLayers
from reidbn.theory.loglinear import mean_inverse_beside
from reidbn.theory.marginals import Marginals

Floats: TypeAlias = NDArray[np.float64]
Single: TypeAlias = NDArray[Any]  # in single precision
Ints: TypeAlias = NDArray[np.int64]

LOOKED_AT = 1 << 19  # subset x row cells
BLOCK = 1 << 18  # that are worked on at a time


@dataclass(frozen=True, eq=False)
class MultipliedSubsets:
    """Rows of one to three people on the subsets whose columns do not go together."""

    place: Ints
    """Of each subset asked for, its place among those; -1: some of its columns go together, or
    nobody is in a small class."""
    count: int
    cell: Ints
    """The cell before each row, counted over all of those subsets."""
    beyond: Single
    size: NDArray[Any]
    """The row's class size."""
    people: Floats
    stand: Single
    """Where the row is between the knots of W; 0 where all stand for as many."""
    shares: Floats
    """The log of the row's share."""

    @classmethod
    def of(
        cls, marginals: Marginals, rows: DistinctRows, layers: SubsetLayers, which: Ints,
        stands: Stands | None = None,
    ) -> MultipliedSubsets:  # fmt: skip
        """Look at some rows; `which` are the subsets, among those asked for."""
        inside = inside_of(marginals)[which].astype(np.float64)
        own = None if stands is None else stands.own
        shares = even_shares(marginals.rows, int(layers.N), own)
        some = np.random.default_rng(0).permutation(rows.rows)
        some = some[: max(1, LOOKED_AT // len(inside))]
        found: list[tuple[NDArray[Any], ...]] = []
        step = max(1, BLOCK // marginals.subsets)
        for start in range(0, len(some), step):
            here = some[start : start + step]
            sizes = sizes_of_rows(rows, here).T[marginals.wanted]
            f = np.minimum(sizes, FEW + 1).astype(np.int8)
            x = marginals.log_rank(here, f)[which]
            few = f[which] <= FEW
            subset, row = np.nonzero(few)
            beside = marginals.beside(here, f)[which][few] if layers.besides > 1 else None
            cell, beyond = layers.at(x[few], subset, beside)
            even = (inside @ shares[:, here])[few]
            stand = np.zeros(len(row))
            if stands is not None:
                stand = stands.place[:, here][which][few]
                alike = stands.alike(here)[which][few]
                even += of_the_table(marginals.rows, stands.own, alike)
            size, people = f[which][few], rows.people[here][row]
            found.append((subset, cell, beyond, size, people, stand, even))
        subset, cell, beyond, size, people, stand, even = (
            np.concatenate(each) for each in zip(*found, strict=True)
        )
        place = np.full(len(marginals.wanted), -1)
        seen = np.bincount(subset, minlength=len(which)) > 0
        place[which[seen]] = np.flatnonzero(seen)
        return cls(place, len(which), cell, beyond, size, people, stand, even)

    def tables(self, layers: SubsetLayers, knot: int = 0) -> list[Single]:
        """P(F = 1 | f = 1) and E[1/F | f], at a knot of W: subset x cell."""
        cells = layers.unique.shape[1]
        beside = (layers.N - layers.n) * np.exp(self.shares)
        told = [np.exp(-beside)]
        told += [mean_inverse_beside(np.full(beside.shape, f), beside) for f in range(1, FEW + 1)]
        near = self.people * near_knot(self.stand, knot)
        return [self._by_cell(each, near, max(k, 1), cells) for k, each in enumerate(told)]

    def _by_cell(self, told: Floats, near: Floats, f: int, cells: int) -> Single:
        """Means over rows of classes of f, and hardly of others."""
        weight = near * np.where(self.size == f, 1.0, HARDLY)
        low, high = weight * (1 - self.beyond), weight * self.beyond
        shape, every = (self.count, cells), self.count * cells

        def total(value: Any) -> Floats:
            own = np.bincount(self.cell, low * value, every)
            own += np.bincount(self.cell + 1, high * value, every)
            return np.asarray(own, dtype=np.float64).reshape(shape)

        return np.asarray(means(total(told), total(1.0)), dtype=np.float32)

    def draw(self, drawn: Single, some: Ints, table: Single) -> tuple[Ints, Single]:
        """Which of some subsets those are, and their draws, subset x draw x cell, in most of which
        shares are multiplied.
        """
        mine = self.place[some] >= 0
        mixed = drawn[mine]
        mixed[:, are_plain(drawn.shape[1])] = table[self.place[some[mine]], None]
        return some[mine], mixed


def inside_of(marginals: Marginals) -> NDArray[np.bool_]:
    """Which attributes each subset asked for has."""
    inside = np.zeros((len(marginals.wanted), len(marginals.rows.values)), dtype=bool)
    for own, mask in zip(inside, marginals.wanted.tolist(), strict=True):
        own[marginals.attributes(mask)] = True
    return inside


def independent_subsets(marginals: Marginals) -> NDArray[np.bool_]:
    """Of each subset asked for, whether no two of its columns go together as far as is shown.

    Values of which most people have one of their own can show nothing.
    """
    inside, shared = inside_of(marginals), marginals.rows.shared
    own = np.ones(inside.shape[1], dtype=bool)
    own[list(shared)] = False
    asked = ~(inside & own).any(axis=1)
    found = np.zeros(len(inside), dtype=bool)
    if asked.any():
        found[asked] = none_go_together(marginals.rows, marginals.pairs, inside[asked])
    return found
