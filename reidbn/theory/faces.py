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

Sets are words of 64 bits: fact j is bit j % 64 of word j // 64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
_CHUNK = 100_000  # sets of several families at once


@dataclass(frozen=True, eq=False)
class Leaves:
    """Some leaves of the recursion: the facts chosen, those free beside them, and the sign."""

    chosen: Words
    free: Words
    sign: Ints


@dataclass(eq=False)
class Budget:
    """How many nodes the recursion may still visit, and how many it has."""

    most: int
    nodes: int = 0

    @property
    def is_spent(self) -> bool:
        return self.nodes > self.most


@dataclass(frozen=True, eq=False)
class Faces:
    """The numbers of faces f_0 .. f_deepest, whole numbers, and the nodes that were visited."""

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
    sets = sets[np.argsort(-_sizes(sets), kind="stable")]
    kept = np.ones(len(sets), dtype=bool)
    step = max(1, (1 << 22) // len(sets))
    for start in range(0, len(sets), step):
        some = sets[start : start + step]
        inside = np.ones((len(some), len(sets)), dtype=bool)
        for word in range(sets.shape[1]):
            inside &= (some[:, None, word] & ~sets[None, :, word]) == 0
        inside[np.arange(len(some)), start + np.arange(len(some))] = False
        kept[start : start + step] = ~inside.any(axis=1)
    return np.ascontiguousarray(sets[kept])


def count_faces(
    sets: Words, size: int, *, deepest: int, budget: int, sifted: bool = False
) -> Faces | None:
    """The faces of up to `deepest` of the `size` facts inside some set; None beyond the budget.

    `sifted` says that the sets are maximal already, the largest first.

    >>> count_faces(np.array([[0b011], [0b110]], dtype=np.uint64), 3, deepest=3, budget=9).counts
    (1, 3, 2, 0)
    """
    deepest = min(deepest, size)
    totals = np.zeros((deepest + 1, size + 1), dtype=object)
    left = Budget(budget)
    largest = sets if sifted else maximal(sets)
    for leaves in split(largest, deepest=deepest, budget=left):
        depth, free = _sizes(leaves.chosen), _sizes(leaves.free)
        at = depth * (size + 1) + free
        found = np.zeros(totals.size, dtype=np.int64)
        np.add.at(found, at, leaves.sign)
        totals += found.reshape(totals.shape)
    if left.is_spent:
        return None
    counts = [
        sum(
            int(totals[d, a]) * comb(a, k - d)
            for d in range(k + 1)
            for a in np.flatnonzero(totals[d]).tolist()
        )
        for k in range(deepest + 1)
    ]
    return Faces(size, tuple(counts), left.nodes)


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
    return None if left.is_spent else (min(max(total, 0.0), 1.0), left.nodes)


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
    depth: int

    def parts(self) -> Iterator[_Families]:
        """The same in pieces of whole families."""
        ends = np.searchsorted(self.family, np.arange(len(self.chosen)), side="right")
        start = first = 0
        while first < len(self.chosen):
            last = int(np.searchsorted(ends, start + _CHUNK, side="right"))
            last = max(last, first + 1)
            end = int(ends[last - 1])
            yield _Families(
                self.family[start:end] - first, self.sets[start:end], self.chosen[first:last],
                self.depth,
            )  # fmt: skip
            start, first = end, last


def split(sets: Words, *, deepest: int, budget: Budget) -> Iterator[Leaves]:
    """The leaves of all subsets of up to `deepest` facts of some set; stops beyond the budget."""
    if not len(sets):
        return
    root = _Families(
        np.zeros(len(sets), dtype=np.int64), sets, np.zeros((1, sets.shape[1]), np.uint64), 0
    )
    waiting = [root]
    while waiting:
        here = waiting.pop()
        budget.nodes += len(here.chosen)
        if budget.is_spent:
            return
        below, leaves = _step(here, deepest)
        yield from leaves
        if below is not None:
            waiting.extend(below.parts())


def _step(here: _Families, deepest: int) -> tuple[_Families | None, list[Leaves]]:
    """One step of the recursion in several families at once: what is below them, and leaves."""
    families = len(here.chosen)
    size = _sizes(here.sets)
    starts = np.searchsorted(here.family, np.arange(families))
    many = np.int64(len(size))
    best = np.maximum.reduceat(size * many + np.arange(many), starts) % many
    pivot = here.sets[best]
    leaves = [Leaves(here.chosen, pivot, np.ones(families, dtype=np.int64))]
    if here.depth == deepest:
        return None, leaves
    rest = here.sets & ~pivot[here.family]
    alive = rest.any(axis=1)
    left = np.bincount(here.family[alive], minlength=families)
    few = left[here.family] <= 2
    leaves += _few(here, alive & few, left, pivot)
    alive &= ~few
    if not alive.any():
        return None, leaves
    return _below(here, np.flatnonzero(alive), rest[alive]), leaves


def _few(here: _Families, some: NDArray[np.bool_], left: Ints, pivot: Words) -> list[Leaves]:
    """Families of which one or two sets are left beside the pivot: inclusion and exclusion."""
    found = []
    one = np.flatnonzero(some & (left[here.family] == 1))
    if one.size:
        of, b = here.family[one], here.sets[one]
        found += [_signed(here, of, b, 1), _signed(here, of, b & pivot[of], -1)]
    two = np.flatnonzero(some & (left[here.family] == 2))
    if two.size:  # sets of a family stand side by side
        of, b, c = here.family[two[::2]], here.sets[two[::2]], here.sets[two[1::2]]
        a = pivot[of]
        found += [_signed(here, of, part, 1) for part in (b, c, a & b & c)]
        found += [_signed(here, of, part, -1) for part in (a & b, a & c, b & c)]
    return found


def _signed(here: _Families, of: Ints, free: Words, sign: int) -> Leaves:
    return Leaves(here.chosen[of], free, np.full(of.size, sign, dtype=np.int64))


def _below(here: _Families, alive: Ints, rest: Words) -> _Families:
    """Equation (2): a family for each fact outside the pivot, rare facts first."""
    width = rest.shape[1] * 64
    entry, fact = np.nonzero(unpacked(rest))
    key = here.family[alive][entry] * width + fact
    present, inverse, degree = np.unique(key, return_inverse=True, return_counts=True)
    family = present // width
    order = np.lexsort((present, degree, family))
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    family, fact_of = family[order], present[order] % width
    bit = np.zeros((order.size, rest.shape[1]), dtype=np.uint64)
    bit[np.arange(order.size), fact_of >> 6] = np.uint64(1) << (fact_of & 63).astype(np.uint64)
    passed = np.cumsum(bit, axis=0, dtype=np.uint64)  # no carry: each fact stands once a family
    first = np.searchsorted(family, family)
    passed -= passed[first] - bit[first]
    child = place[inverse]
    by_child = np.argsort(child, kind="stable")
    child = child[by_child]
    sets = here.sets[alive[entry[by_child]]] & ~passed[child]
    return _Families(child, sets, here.chosen[family] | bit, here.depth + 1)


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
