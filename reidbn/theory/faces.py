r"""How likely k of a person's facts are shared with nobody else: faces of a simplicial complex.

Somebody has s facts; each other person agrees on a subset A of them (an *agree set*).  A k-subset
of the facts singles nobody out where it lies inside some agree set.  With f_k the number of such
k-subsets, the faces with k corners of the complex whose facets are the maximal agree sets,

    U(k) = 1 - f_k / C(s, k)                                                          (1)

Counting faces is #P-hard in general [Kaibel03, problem 33] and polynomial for fixed k.  The
recursion splits the faces by a pivot, as counting cliques does [Jain20]: let A be the largest set
of a family and v_1 .. v_t the facts outside A that its other sets have, rare ones first; then each
subset of some set of the family either lies in A, or has a first v_i, and lies with it in

    { B \ {v_1 .. v_i} : v_i in B }                                                   (2)

to which the recursion goes, with v_i chosen.  A leaf is (chosen, free): all subsets of `free`
together with `chosen`, counted with a sign where two or three sets are left, by inclusion and
exclusion.  Leaves add up to all f_k at once, in whole numbers, and to the chance of a random set of
facts where facts are known independently.

The recursion goes level by level, all families that have so many facts chosen at once: a family
that is not split adds one to f_k at its own level k, so that f_0 .. f_k are whole once the levels
before k are.  What the budget ends is the level, and the numbers up to it stand.

Sets are words of 64 bits: fact j is bit j % 64 of word j // 64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.theory.walk import COMPILED, walk

Words: TypeAlias = NDArray[np.uint64]
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
_CHUNK = 100_000  # sets of several families at once
_MOST_SETS = 1 << 25  # of one level that are held at once


@dataclass(frozen=True, eq=False)
class Leaves:
    """Some leaves of the recursion: the facts chosen, those free beside them, and the sign."""

    chosen: Words
    free: Words
    sign: Ints


@dataclass(eq=False)
class Budget:
    """How many families the recursion may split, how many it has, and where it came to."""

    most: int
    nodes: int = 0
    level: int = 0
    """The level up to which faces are counted."""
    unsplit: int = 0
    """The families of that level, each of them one face of so many facts."""


@dataclass(frozen=True, eq=False)
class Faces:
    """Numbers of faces f_0, f_1, .. as far as they were counted, and the families split for it."""

    size: int
    counts: tuple[int, ...]
    nodes: int

    def unique(self, k: int) -> Fraction:
        """Equation (1); more facts than there are is all of them."""
        k = min(k, self.size)
        return 1 - Fraction(self.counts[k], comb(self.size, k))


def maximal(sets: Words) -> Words:
    """The sets that lie in no other, each once; the largest first.

    >>> maximal(np.array([[3], [1], [3], [4]], dtype=np.uint64)).ravel().tolist()
    [3, 4]
    """
    if not len(sets):
        return sets
    sets = np.unique(sets, axis=0)
    sizes = _sizes(sets)
    order = np.argsort(-sizes, kind="stable")
    sets, sizes = sets[order], sizes[order]
    larger = np.searchsorted(-sizes, -sizes)  # only a larger set has another inside
    kept = np.ones(len(sets), dtype=bool)
    step = max(1, (1 << 18) // len(sets))
    for start in range(0, len(sets), step):
        some = sets[start : start + step]
        beside = sets[: larger[min(start + step, len(sets)) - 1]]
        inside = (some[:, None, 0] & ~beside[None, :, 0]) == 0
        for word in range(1, sets.shape[1]):
            inside &= (some[:, None, word] & ~beside[None, :, word]) == 0
        inside &= sizes[: len(beside)] > sizes[start : start + step, None]
        kept[start : start + step] = ~inside.any(axis=1)
    return np.ascontiguousarray(sets[kept])


def count_faces(
    sets: Words, size: int, *, deepest: int, budget: int, sifted: bool = False
) -> Faces:
    """The faces of up to `deepest` of the `size` facts inside some set, as far as the budget goes.

    `sifted` says that the sets are maximal already, the largest first.  The same numbers, with or
    without numba.

    >>> count_faces(np.array([[0b011], [0b110]], dtype=np.uint64), 3, deepest=3, budget=9).counts
    (1, 3, 2, 0)
    """
    deepest = min(deepest, size)
    largest = sets if sifted else maximal(sets)
    left = Budget(budget)
    if COMPILED:
        totals = _compiled(largest, size, deepest, left)
    else:
        totals = np.zeros((deepest + 2, size + 1), dtype=np.int64)
        for leaves in split(largest, deepest=deepest, budget=left):
            depth, free = _sizes(leaves.chosen), _sizes(leaves.free)
            found = np.bincount(depth * (size + 1) + free, leaves.sign, minlength=totals.size)
            totals += found.astype(np.int64).reshape(totals.shape)  # small whole numbers: exact
    totals[left.level, 0] += left.unsplit
    counts = [
        sum(
            int(totals[d, a]) * comb(a, k - d)
            for d in range(k + 1)
            for a in np.flatnonzero(totals[d]).tolist()
        )
        for k in range(left.level + 1)
    ]
    return Faces(size, tuple(counts), left.nodes)


def _compiled(sets: Words, size: int, deepest: int, left: Budget) -> Ints:
    """The same one by one: to the end, or else to each level in turn until the budget ends."""
    totals: Ints = np.zeros((deepest + 2, size + 1), dtype=np.int64)
    if not len(sets):
        left.level = deepest
        return totals
    left.unsplit = 1
    for stop in (deepest, *range(1, deepest)):
        found, nodes, unsplit = walk(sets, size, stop, left.most)
        fits = nodes <= left.most
        if fits:
            totals, left.nodes, left.level, left.unsplit = found, int(nodes), stop, int(unsplit)
        if fits == (stop == deepest):
            break
    return totals


def chance_of_faces(sets: Words, chances: Floats, *, budget: int) -> tuple[float, int] | None:
    """P(a random set of facts lies inside some set), fact j known with chance p_j < 1; and nodes.

    A leaf (chosen, free) has the chance prod p over chosen, prod (1 - p) over what is neither.

    >>> chance_of_faces(np.array([[1], [2]], dtype=np.uint64), np.array([0.5, 0.5]), budget=9)[0]
    0.75
    """
    width = sets.shape[1] * 64
    p = np.zeros(width)
    p[: chances.size] = chances
    with np.errstate(divide="ignore"):
        taken, missed = np.log(p), np.log1p(-p)
    taken[p == 0] = -np.inf
    left = Budget(budget)
    total = 0.0
    for leaves in split(maximal(sets), deepest=width, budget=left):
        chosen, free = unpacked(leaves.chosen), unpacked(leaves.free)
        outside = (~(chosen | free)) @ missed
        weight = np.where(chosen, taken, 0.0).sum(axis=1) + outside
        total += float((leaves.sign * np.exp(weight)).sum())
    return None if left.unsplit else (min(max(total, 0.0), 1.0), left.nodes)


def union_bound(sizes: Ints, counts: Ints, facts: int, k: int) -> Fraction:
    """How many others agree on k random facts, on average: sum of C(|A|, k) / C(s, k)."""
    k = min(k, facts)
    total = sum(int(n) * comb(int(a), k) for a, n in zip(sizes, counts, strict=True))
    return Fraction(total, comb(facts, k))


# -- the recursion ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Families:
    """Several families one after another: which set is whose, and what was chosen on the way."""

    family: Ints
    sets: Words
    chosen: Words
    """Per family."""

    def parts(self) -> Iterator[_Families]:
        """The same in pieces of whole families."""
        if len(self.sets) <= _CHUNK:
            yield self
            return
        ends = np.searchsorted(self.family, np.arange(len(self.chosen)), side="right")
        start = first = 0
        while first < len(self.chosen):
            last = int(np.searchsorted(ends, start + _CHUNK, side="right"))
            last = max(last, first + 1)
            end = int(ends[last - 1])
            yield _Families(
                self.family[start:end] - first, self.sets[start:end], self.chosen[first:last]
            )
            start, first = end, last


def split(sets: Words, *, deepest: int, budget: Budget) -> Iterator[Leaves]:
    """The leaves of all subsets of up to `deepest` facts of some set, level by level."""
    budget.level = deepest
    level = [_Families(np.zeros(len(sets), dtype=np.int64), sets, np.zeros_like(sets[:1]))]
    for depth in range(deepest + 1):
        families = sum(len(part.chosen) for part in level)
        many = sum(len(part.sets) for part in level)
        if depth == deepest or budget.nodes + families > budget.most or many > _MOST_SETS:
            budget.level, budget.unsplit = depth, families
            return
        if not families:
            return
        budget.nodes += families
        below: list[_Families] = []
        for part in level:
            children, leaves = _step(part)
            yield from leaves
            below.extend(children)
        level = [part for together in below for part in together.parts()]


def _step(here: _Families) -> tuple[list[_Families], list[Leaves]]:
    """Several families of a level split at once: what is below them, and leaves."""
    families = len(here.chosen)
    size = _sizes(here.sets)
    starts = np.searchsorted(here.family, np.arange(families))
    many = np.int64(len(size))
    best = np.maximum.reduceat(size * many + np.arange(many), starts) % many
    pivot = here.sets[best]
    leaves = [Leaves(here.chosen, pivot, np.ones(families, dtype=np.int64))]
    rest = here.sets & ~pivot[here.family]
    alive = np.flatnonzero(rest.any(axis=1))
    if not alive.size:
        return [], leaves
    of, sets, chosen, many_in = _below(here, alive, rest[alive])
    for few in (1, 2, 3):
        some = np.flatnonzero(many_in[of] == few)
        if some.size:  # sets of a family stand side by side
            leaves += _signed(chosen[of[some[::few]]], [sets[some[i::few]] for i in range(few)])
    more = many_in[of] > 3
    if not more.any():
        return [], leaves
    large = np.flatnonzero(many_in > 3)
    number = np.cumsum(many_in > 3) - 1
    return [_Families(number[of[more]], sets[more], chosen[large])], leaves


def _signed(chosen: Words, sets: list[Words]) -> list[Leaves]:
    """Families of one, two or three sets: inclusion and exclusion."""
    found = []
    for many in range(1, len(sets) + 1):
        sign = np.full(len(chosen), 1 if many % 2 else -1, dtype=np.int64)
        for some in combinations(sets, many):
            found.append(Leaves(chosen, np.bitwise_and.reduce(some), sign))
    return found


def _below(here: _Families, alive: Ints, rest: Words) -> tuple[Ints, Words, Words, Ints]:
    """Equation (2): a family for each fact outside the pivot, rare facts first.

    Whose each set is, the sets, what is chosen of each family, and how many sets it has.
    """
    width = rest.shape[1] * 64
    entry, fact = np.divmod(np.flatnonzero(unpacked(rest)), width)
    key = here.family[alive][entry] * width + fact
    degrees = np.bincount(key, minlength=len(here.chosen) * width)
    present = np.flatnonzero(degrees)
    family, degree = present // width, degrees[present]
    order = np.lexsort((present, degree, family))
    place = np.empty(len(degrees), dtype=np.int32)
    place[present[order]] = np.arange(order.size, dtype=np.int32)
    family, fact_of, degree = family[order], present[order] % width, degree[order]
    bit = np.zeros((order.size, rest.shape[1]), dtype=np.uint64)
    bit[np.arange(order.size), fact_of >> 6] = np.uint64(1) << (fact_of & 63).astype(np.uint64)
    passed = np.cumsum(bit, axis=0, dtype=np.uint64)  # no carry: each fact stands once a family
    first = np.searchsorted(family, family)
    passed -= passed[first] - bit[first]
    child = place[key]
    by_child = np.argsort(child, kind="stable")
    child = child[by_child].astype(np.int64)
    sets = here.sets[alive[entry[by_child]]] & ~passed[child]
    return child, sets, here.chosen[family] | bit, degree


def _sizes(sets: Words) -> Ints:
    return np.asarray(np.bitwise_count(sets).sum(axis=1, dtype=np.int64))


def packed(rows: NDArray[np.bool_]) -> Words:
    """Rows of yes and no as words: place i is bit i % 64 of word i // 64."""
    wide = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 64)))
    return np.ascontiguousarray(np.packbits(wide, axis=1, bitorder="little")).view(np.uint64)


def unpacked(sets: Words, count: int | None = None) -> NDArray[np.bool_]:
    """The words as rows of yes and no, the first `count` places of each."""
    wide = np.ascontiguousarray(sets).view(np.uint8)
    return np.unpackbits(wide, axis=1, count=count, bitorder="little").view(bool)
