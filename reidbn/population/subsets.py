"""Fits on every subset of attribute groups at once, for attacks that weigh all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError, did_you_mean
from reidbn.progress import progress
from reidbn.theory.class_law import mean_inverse, mean_inverse_over
from reidbn.theory.frequencies import FrequencyTable, Packed
from reidbn.theory.pitman import expected_uniques_given, stays_unique
from reidbn.theory.pitman_fit import NO_MAXIMUM, NOT_IDENTIFIABLE, STATUSES, maximise
from reidbn.theory.region import Nodes, Region, posteriors

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

ESTIMATES = ("maximum likelihood", "posterior")
_WITHOUT_POINT = (NO_MAXIMUM, NOT_IDENTIFIABLE)
_TOGETHER = 128  # tables whose expectations are taken in one go
_MOST_KEPT = 500_000
_KEPT: ContextVar[dict[bytes, Floats] | None] = ContextVar("fits kept", default=None)


@contextmanager
def fits_kept() -> Iterator[None]:
    """Within, each table is fitted once, and what came of it is taken where it comes again.

    Ways to release a table share most of their subsets, and who is left out changes none of them.
    """
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


@dataclass(frozen=True, eq=False, repr=False)
class SubsetFits:
    """Pitman's model on every subset; arrays are indexed by the mask (bit j: group j is known).

    `fallback[mask]` says where maximum likelihood has no point (everybody unique, everybody alike)
    and the posterior mean stands in, which varies smoothly with the table.
    """

    N: int
    tables: tuple[FrequencyTable, ...]
    theta: Floats
    alpha: Floats
    status: tuple[str, ...]
    fallback: NDArray[np.bool_]
    p_unique: Floats
    """P(unique in the population | unique in the table)."""
    expected_uniques: Floats
    nodes: tuple[Nodes, ...]
    """Parameters (one pair or a grid) that the expectations of each subset are taken over; none
    where `match` was asked for, since thousands of grids are large, and within `fits_kept`."""
    match: tuple[Floats, ...]
    """E[1/F | f] for the class sizes that were asked for, by subset."""
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.tables)

    @property
    def n(self) -> int:
        return self.tables[0].n

    @cached_property
    def statuses(self) -> Mapping[str, int]:
        """How many subsets have which status."""
        return Counter(self.status)

    def mean_inverse(self, mask: int, class_sizes: Ints) -> Floats:
        """E[1/F | f] on one subset for class sizes f."""
        at = self.nodes[mask]
        return mean_inverse_over(
            class_sizes, self.n, self.N, theta=at.theta, alpha=at.alpha, weight=at.weight
        )

    def __repr__(self) -> str:
        found = ", ".join(f"{count} {status}" for status, count in self.statuses.items())
        return f"<Pitman fits on {len(self)} subsets, n={self.n}, N={self.N}: {found}>"


def fit_tables(
    tables: Sequence[FrequencyTable],
    population: int,
    *,
    estimate: str = "maximum likelihood",
    sizes: Sequence[Ints] | None = None,
    notes: tuple[str, ...] = (),
) -> SubsetFits:
    """Fit many tables of the same people at once; equal tables are fitted once.

    With `sizes`, class sizes for each table, E[1/F | f] of them is found on the way.
    """
    if estimate not in ESTIMATES:
        raise UsageError(f'no estimate "{estimate}"; {did_you_mean(estimate, ESTIMATES)}')
    unique, place = _distinct(tables)
    asked = None if sizes is None else _asked(sizes, place, len(unique))
    kept = _KEPT.get()
    if kept is None or sizes is not None:
        made, nodes, found = _fitted(unique, population, estimate, asked)
    else:
        made, nodes, found = _taken(unique, population, estimate, kept), [], []
    theta, alpha, status, share, total = made[place].T
    match: tuple[Floats, ...] = ()
    if sizes is not None and asked is not None:
        match = tuple(
            found[i][np.searchsorted(asked[i], own)] for i, own in zip(place, sizes, strict=True)
        )
    named = [STATUSES[int(i)] for i in status]
    no_point = np.isin(named, _WITHOUT_POINT)
    return SubsetFits(
        N=population,
        tables=tuple(unique[i] for i in place),
        theta=theta,
        alpha=alpha,
        status=tuple(named),
        fallback=no_point,
        p_unique=share,
        expected_uniques=total,
        nodes=tuple(nodes[i] for i in place) if nodes else (),
        match=match,
        notes=(*notes, *_remarks(no_point)),
    )


def _taken(
    tables: Sequence[FrequencyTable], population: int, estimate: str, kept: dict[bytes, Floats]
) -> Floats:
    """Rows of `_fitted`, those that are known already as they were found."""
    asked = f"{population} {estimate} ".encode()
    keys = [
        blake2b(asked + t.sizes.tobytes() + t.counts.tobytes(), digest_size=16).digest()
        for t in tables
    ]
    new = [i for i, key in enumerate(keys) if key not in kept]
    made = np.empty((len(tables), 5))
    if new:
        made[new] = _fitted([tables[i] for i in new], population, estimate, None)[0]
    for i in set(range(len(tables))).difference(new):
        made[i] = kept[keys[i]]
    if len(kept) < _MOST_KEPT:
        kept.update((keys[i], made[i].copy()) for i in new)
    return made


def _fitted(
    tables: Sequence[FrequencyTable], population: int, estimate: str, asked: list[Ints] | None
) -> tuple[Floats, list[Nodes], list[Floats]]:
    """Of each table theta, alpha, status, P_unique and expected uniques; its parameters; E[1/F]."""
    packed = Packed.of(tables)
    top = maximise(packed)
    no_point = np.isin(top.status, [STATUSES.index(s) for s in _WITHOUT_POINT])
    averaged = no_point | (estimate == "posterior")
    region = Region(packed, float(population), top).take(np.flatnonzero(averaged))
    grids = posteriors(region)
    nodes: list[Nodes] = []
    share, total = np.empty(len(tables)), np.empty(len(tables))
    found: list[Floats] = [np.empty(0)] * len(tables)
    for start in progress(range(0, len(tables), _TOGETHER), "population fits"):
        rows = np.arange(start, min(start + _TOGETHER, len(tables)))
        some = [
            next(grids) if averaged[i] else Nodes.single(float(top.theta[i]), float(top.alpha[i]))
            for i in rows
        ]
        share[rows], total[rows] = _expectations(packed.take(rows), population, some)
        if asked is None:
            nodes += some
        else:
            found[start : start + len(rows)] = _matches(
                tables[0].n, population, some, [asked[i] for i in rows]
            )
    return np.column_stack([top.theta, top.alpha, top.status, share, total]), nodes, found


def _distinct(
    tables: Sequence[FrequencyTable],
) -> tuple[list[FrequencyTable], Ints]:
    """Each table once, and which of them every table is."""
    distinct: dict[bytes, int] = {}
    unique: list[FrequencyTable] = []
    place = np.empty(len(tables), dtype=np.int64)
    for mask, table in enumerate(tables):
        key = table.sizes.tobytes() + table.counts.tobytes()
        if key not in distinct:
            distinct[key] = len(unique)
            unique.append(table)
        place[mask] = distinct[key]
    return unique, place


def _asked(sizes: Sequence[Ints], place: Ints, tables: int) -> list[Ints]:
    """The class sizes asked of each distinct table, in order."""
    own: list[list[Ints]] = [[] for _ in range(tables)]
    for i, some in zip(place.tolist(), sizes, strict=True):
        own[i].append(some)
    return [np.unique(np.concatenate(each)) for each in own]


def _matches(n: int, N: int, nodes: Sequence[Nodes], sizes: Sequence[Ints]) -> list[Floats]:
    """E[1/F | f] of some tables: in one go where the fit is a point, else over its posterior."""
    out = [np.empty(0)] * len(nodes)
    points = [i for i, item in enumerate(nodes) if item.weight.size == 1]
    if points:
        each = [sizes[i].size for i in points]
        theta, alpha = (
            np.repeat([getattr(nodes[i], name)[0] for i in points], each)
            for name in ("theta", "alpha")
        )
        f = np.concatenate([sizes[i] for i in points])
        at_points = mean_inverse(f, n, N, theta=theta, alpha=alpha)
        for i, own in zip(points, np.split(at_points, np.cumsum(each)[:-1]), strict=True):
            out[i] = own
    for i, at in enumerate(nodes):
        if at.weight.size > 1:
            out[i] = mean_inverse_over(
                sizes[i], n, N, theta=at.theta, alpha=at.alpha, weight=at.weight
            )
    return out


def _expectations(packed: Packed, N: int, nodes: Sequence[Nodes]) -> tuple[Floats, Floats]:
    """P_unique and expected uniques of every table, all nodes in one go."""
    row = np.repeat(np.arange(len(nodes)), [item.weight.size for item in nodes])
    theta = np.concatenate([item.theta for item in nodes])
    alpha = np.concatenate([item.alpha for item in nodes])
    weight = np.concatenate([item.weight for item in nodes])
    n, u, f1 = packed.n[row], packed.classes[row], packed.uniques[row]
    share = stays_unique(n, N, theta=theta, alpha=alpha)
    total = expected_uniques_given(n, N, uniques=f1, classes=u, theta=theta, alpha=alpha)
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    return np.add.reduceat(weight * share, starts), np.add.reduceat(weight * total, starts)


def _remarks(fallback: NDArray[np.bool_]) -> tuple[str, ...]:
    count = int(fallback.sum())
    if not count:
        return ()
    return (
        f"on {count:,} of {fallback.size:,} subsets everybody or nobody is unique and maximum "
        "likelihood has no finite point; the posterior mean, which leans on its prior, stands in",
    )
