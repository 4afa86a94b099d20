"""How likely combinations of values are on every subset of attributes: one fit for all subsets.

The forest and the latent classes of structure.py, for a person who is one of t people alike on a
subset y of groups of attributes, those t left out:

    H_forest   as of a fit to y alone, since the pairs of y are those of the whole table
    H_classes  the classes of the whole table, summed over what is not in y:

        H(x_y) = sum_h (N_h - t r_h + a)/(n - t + K a) prod_{j in y} P_jh                      (1)

P_jh is that of equation (2) of structure.py, with t for f and r_h for r_xh.  r_h is the person's
chance to be in the class h, from all that the table knows: that is what people like them put into
the class.  For somebody alone on y (t = 1) the person is left out exactly.

What a subset has of attributes on which most people have a value of their own (equation 4 of
structure.py) multiplies both.

All subsets at once: half of the groups are multiplied out for one axis, half for the other, and the
sum over h is a product of matrices for each person.  A subset is a whole number: bit j set means
group j is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from reidbn.theory.layer import BESIDE, which_beside
from reidbn.theory.structure import (
    CLASS_PRIOR,
    PRIOR,
    STARTS,
    Distinct,
    Floats,
    Ints,
    LatentClasses,
    TwoTogether,
    conditional,
    outwards,
    pairs,
    several_classes,
    share_of_own,
    spanning,
    together,
)

Single: TypeAlias = NDArray[Any]  # in single precision
MOST_LEFT_OUT = 3
"""The most people that are left out."""
LEAST = 1e-37  # the smallest share in single precision


def told_alone(rows: Distinct) -> tuple[int, ...]:
    """Attributes whose values have no neighbours: who holds one is all that tells of it."""
    return tuple(j for j in rows.shared if not rows.widths(j))


def rarest(rows: Distinct) -> Floats:
    """How many others hold the rarest of each row's values, of attributes that are told alone."""
    held = [rows.people[j][rows.codes[:, j]] for j in told_alone(rows)]
    return np.asarray(np.min([np.full(len(rows.counts), np.inf), *held], axis=0) - rows.counts)


@dataclass(frozen=True, eq=False)
class Marginals:
    """Shares of rows on every subset of groups of attributes."""

    rows: Distinct
    groups: tuple[tuple[int, ...], ...]
    """The attributes of each group that part people."""
    wanted: Ints
    """The subsets whose shares are asked for; the others have those of subsets among them."""
    classes: tuple[LatentClasses, ...]

    @classmethod
    def of(
        cls, rows: Distinct, groups: Sequence[Sequence[int]], wanted: Ints, *, seed: int = 0
    ) -> Marginals:
        """Fit the latent classes."""
        fitted = several_classes(rows, np.random.default_rng(seed))
        return cls(rows, tuple(tuple(group) for group in groups), wanted, fitted)

    @property
    def subsets(self) -> int:
        return 1 << len(self.groups)

    def attributes(self, mask: int) -> list[int]:
        """The attributes of a subset."""
        return [j for i, group in enumerate(self.groups) if mask >> i & 1 for j in group]

    def log_rank(self, some: Ints, people: NDArray[Any]) -> Single:
        """log(nH) of both models together: subset wanted x row.

        `people` says of how many people alike each row is one, up to `MOST_LEFT_OUT` are left out.
        """
        forest, classes = self.both(some, people)
        return np.asarray(together(forest, classes) + np.float32(np.log(self.rows.n)))

    def both(self, some: Ints, people: NDArray[Any]) -> tuple[Single, Single]:
        """Log H by the forest and by the latent classes: subset wanted x row."""
        alike = [people == t for t in range(2, MOST_LEFT_OUT)]
        alike.append(people >= MOST_LEFT_OUT)
        forest, classes = self._by_forest(some, alike), self._by_classes(some, alike)
        if self.rows.own:
            of_keys = self._by_keys(some, alike)
            forest += of_keys
            classes += of_keys
        return forest, classes

    @cached_property
    def besides(self) -> int:
        """How many of `BESIDE` of layer.py can occur: one, where no value is held by so few."""
        most = len(BESIDE) - 1 + MOST_LEFT_OUT
        held = np.concatenate([np.zeros(0), *(self.rows.people[j] for j in told_alone(self.rows))])
        return len(BESIDE) if ((held > 1) & (held <= most)).any() else 1

    def beside(self, some: Ints, people: NDArray[Any]) -> NDArray[np.int8]:
        """Which of `BESIDE` rows have: subset wanted x row; `people` are as in `log_rank`."""
        many = np.int8(len(BESIDE) + MOST_LEFT_OUT + 1)
        held = np.full((self.subsets, len(some)), many, dtype=np.int8)
        for i, group in enumerate(self.groups):
            least = np.full(len(some), many, dtype=np.int8)
            for j in set(group) & set(told_alone(self.rows)):
                of_value = np.minimum(self.rows.people[j], many).astype(np.int8)
                np.minimum(least, of_value[self.rows.codes[some, j]], out=least)
            np.minimum(held[: 1 << i], least, out=held[1 << i : 2 << i])
        held = held[self.wanted]
        held -= np.minimum(people, MOST_LEFT_OUT).astype(np.int8)
        return which_beside(held)

    # -- the forest --------------------------------------------------------------------------------

    @cached_property
    def pairs(self) -> list[TwoTogether]:
        """Every two attributes, those of the largest mutual information first."""
        return pairs(self.rows)

    @cached_property
    def _plan(self) -> tuple[csr_array, tuple[int | tuple[int, int], ...]]:
        """Which roots and which pairs, parent first, each subset multiplies."""
        place: dict[int | tuple[int, int], int] = {}
        found: list[int] = []
        starts = [0]
        for mask in self.wanted.tolist():
            inside = [j for j in self.attributes(mask) if (j,) not in self.rows.own]
            for child, edge in outwards(inside, spanning(self.pairs, inside)):
                key: int | tuple[int, int] = child
                if edge is not None:
                    key = (edge.first if edge.second == child else edge.second, child)
                found.append(place.setdefault(key, len(place)))
            starts.append(len(found))
        shape = (len(self.wanted), max(1, len(place)))
        ones = np.ones(len(found), dtype=np.float32)
        return csr_array((ones, found, starts), shape), tuple(place)

    @cached_property
    def _factors(self) -> tuple[NDArray[np.int32], Single]:
        """The cell of each row, root or pair x row; and the log share of each cell, t x cell."""
        by_ends = {(p.first, p.second): p for p in self.pairs}
        cells = np.empty((len(self._plan[1]), len(self.rows.counts)), dtype=np.int32)
        told: list[list[Floats]] = []
        start = 0
        for at, key in zip(cells, self._plan[1], strict=True):
            if isinstance(key, int):
                of_row, people = self.rows.codes[:, key], self.rows.people[key]
                told.append([np.log(self.rows.shares(key, np.arange(len(people)), without))
                             for without in _left_out(people)])  # fmt: skip
            else:
                edge = by_ends[min(key), max(key)]
                made = conditional(self.rows, edge, parent=key[0])
                of_row, people = edge.of_row, edge.people
                told.append([made.log(without) for without in _left_out(people)])
            at[:] = of_row
            at += start
            start += len(people)
        none = np.zeros((MOST_LEFT_OUT, 0))
        return cells, np.concatenate([none, *told], axis=1).astype(np.float32)

    @cached_property
    def keys(self) -> tuple[tuple[int, ...], ...]:
        """The attributes, of each subset wanted, on which most people have a value of their own."""
        return tuple(self.rows.key(self.attributes(mask)) for mask in self.wanted.tolist())

    @cached_property
    def _key_shares(self) -> tuple[Ints, Ints, csc_array, Single]:
        """Which key each subset has (-1: none); where the cells of each begin; which cell each row
        has, key x row, 0 where nobody else has those values; and log share of each cell, t x cell.
        """
        used = sorted(set(self.keys) - {()})
        place = {key: at for at, key in enumerate(used)}
        first, told, rows, keys, cells = [0], [], [], [], []
        for at, key in enumerate(used):
            some, _, people = self.rows.alike_on(key)
            sizes, cell = np.unique(people, return_inverse=True)
            sizes = np.concatenate((np.ones(1), sizes))
            told.append([share_of_own(self.rows.own[key], sizes, self.rows.n, without)
                         for without in _left_out(sizes)])  # fmt: skip
            rows.append(some)
            keys.append(np.full(len(some), at))
            cells.append(cell.reshape(-1) + 1)
            first.append(first[-1] + len(sizes))
        found = np.concatenate(cells).astype(np.int32), tuple(map(np.concatenate, (keys, rows)))
        where = csc_array(found, shape=(len(used), len(self.rows.counts)))
        of = np.array([place.get(key, -1) for key in self.keys])
        return of, np.array(first[:-1]), where, np.concatenate(told, axis=1).astype(np.float32)

    def _by_keys(self, some: Ints, alike: Sequence[NDArray[np.bool_]]) -> Single:
        """Log share of what each subset has of them: subset wanted x row."""
        out = np.zeros((len(self.wanted), len(some)), dtype=np.float32)
        if not any(self.keys):
            return out
        of, first, where, told = self._key_shares
        have = np.flatnonzero(of >= 0)
        at = (where[:, some].toarray() + first[:, None])[of[have]]
        found = told[0].take(at)
        for more, others in zip(told[1:], alike, strict=True):
            np.copyto(found, more.take(at), where=others[have])
        out[have] = found
        return out

    def _by_forest(self, some: Ints, alike: Sequence[NDArray[np.bool_]]) -> Single:
        cells, told = self._factors
        if not len(cells):
            return np.zeros((len(self.wanted), len(some)), dtype=np.float32)
        at = cells[:, some]
        out, *others = (self._plan[0] @ logs.take(at) for logs in told)
        for found, where in zip(others, alike, strict=True):
            np.copyto(out, found, where=where)
        return np.asarray(out)

    # -- latent classes ----------------------------------------------------------------------------

    def _by_classes(self, some: Ints, alike: Sequence[NDArray[np.bool_]]) -> Single:
        """Log H of equation (1)."""
        every = len(self.wanted) == self.subsets
        half = len(self.groups) // 2
        most: list[Floats] = []
        for t in range(1, MOST_LEFT_OUT + 1):
            weight, factors = self._by_group(some, t)
            if t == 1:  # what all are divided by, so that products stay representable
                most = [factor.max(axis=1) for factor in factors]
            single = [(f / m[:, None]).astype(np.float32)
                      for f, m in zip(factors, most, strict=True)]  # fmt: skip
            low = _products(single[:half], weight.astype(np.float32))
            high = _products(single[half:], np.ones(weight.shape, dtype=np.float32))
            found = high @ low.transpose(0, 2, 1)  # person x (subset of high, subset of low)
            found = found.reshape(len(some), -1).T
            if not every:
                found = found[self.wanted]
            if t == 1:
                out = np.ascontiguousarray(found)
            else:
                np.copyto(out, found, where=alike[t - 2])
        np.maximum(out, LEAST, out=out)
        np.log(out, out=out)
        scale = np.zeros((self.subsets, len(some)), dtype=np.float32)
        for i, own in enumerate(most):
            np.add(scale[: 1 << i], np.log(own), out=scale[1 << i : 2 << i], casting="same_kind")
        out += scale if every else scale[self.wanted]
        return out

    def _by_group(self, some: Ints, t: int) -> tuple[Floats, list[Floats]]:
        """The weight of each class, and by group its factor: person x class."""
        codes, n = self.rows.codes[some], self.rows.n
        own = [each.chances(codes) * t for each in self.classes]
        left = [np.maximum(each.held - r, 0) for each, r in zip(self.classes, own, strict=True)]
        weight = np.concatenate(
            [(N + CLASS_PRIOR) / (STARTS * (n - t + CLASS_PRIOR * N.shape[1])) for N in left],
            axis=1,
        )
        under = np.concatenate(left, axis=1) + PRIOR
        together = np.concatenate(own, axis=1)
        factors = []
        for group in self.groups:
            product = np.ones(under.shape)
            for j in group:
                if (j,) in self.rows.own:
                    continue
                people = self.rows.people[j][codes[:, j]]
                left_out = np.minimum(t, people)
                lent, part, back = self.rows.lent_to_classes(j, codes[:, j], left_out)
                held = self._tables[j][codes[:, j]]
                held -= together
                np.maximum(held, 0, out=held)
                held += lent[:, None]
                held /= under
                held *= part[:, None]
                held += back[:, None]
                product *= held
            factors.append(product)
        return weight, factors

    @cached_property
    def _tables(self) -> dict[int, Floats]:
        """By attribute: people by value and class, of all starts."""
        starts = zip(*(each.tables for each in self.classes), strict=True)
        made = (np.concatenate(tables, axis=1) for tables in starts)
        return dict(zip(self.rows.shared, made, strict=True))


def _left_out(people: Floats) -> list[Floats]:
    """How many of some cells' people are left out, by t."""
    return [np.minimum(t, people) for t in range(1, MOST_LEFT_OUT + 1)]


def _products(factors: Sequence[Single], start: Single) -> Single:
    """The product over every subset of some factors: person x subset x class."""
    out = np.empty((len(start), 1 << len(factors), start.shape[1]), dtype=np.float32)
    out[:, 0] = start
    for j, factor in enumerate(factors):
        np.multiply(out[:, : 1 << j], factor[:, None], out=out[:, 1 << j : 2 << j])
    return out
