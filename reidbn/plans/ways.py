"""What may be done to a table: the levels of each column, and what each costs.

A node of the lattice is one level for every column.  Levels go from the one at which the column
stands to the top of its hierarchy, where every value is "*" and the column is as good as dropped.
What a node loses before anybody is left out is the sum of what its columns lose, so the losses of
all nodes are known before one of them is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge, UsageError, did_you_mean
from reidbn.microdata.classes import Codes, Ints
from reidbn.microdata.columns import Column
from reidbn.microdata.generalise import climbed
from reidbn.microdata.hierarchy import Hierarchy
from reidbn.microdata.ladders import Ladder, as_hierarchy
from reidbn.microdata.rows import DistinctRows
from reidbn.microdata.table import People

MOST_NODES = 1_000_000
Node = tuple[int, ...]
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Option:
    """One column: the levels it may be released at, and the code of each of its values there."""

    column: Column
    ladder: Hierarchy
    own: bool
    """The hierarchy is one that the caller gave."""
    levels: tuple[int, ...]
    codes: tuple[Codes, ...]
    """At each of these levels, the code of each code that the column has now."""
    counts: Ints
    """How many people have each code now."""

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def nests(self) -> bool:
        """Whether each level is made of whole groups of the one below."""
        return all(
            len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == len(set(fine.tolist()))
            for fine, coarse in zip(self.codes, self.codes[1:], strict=False)
        )

    def group_counts(self, place: int) -> Ints:
        """How many people have the value that each code has at a level."""
        groups = np.bincount(self.codes[place], self.counts).astype(np.int64)
        return groups[self.codes[place]]


def options_of(
    people: People,
    hierarchies: Mapping[str, Any] | None,
    *,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> tuple[Option, ...]:
    """The options of every quasi-identifier; one without a hierarchy is kept or dropped."""
    given = dict(hierarchies or {})
    names = people.quasi_identifiers
    for word, named in (("hierarchies", given), ("keep", keep), ("drop", drop)):
        for name in named:
            if name not in names:
                raise UsageError(
                    f'{word}: "{name}" is no quasi-identifier of the table; '
                    f"{did_you_mean(name, names)}"
                )
    if both := {*keep} & {*drop}:
        raise UsageError(f"{min(both)} is to be kept and to be dropped; name it once")
    found = []
    for j, name in enumerate(names):
        column = people.column(name)
        ladder = as_hierarchy(given[name]) if name in given else column.hierarchy
        ladder = ladder or dropped_or_kept(column)
        levels = tuple(range(column.level, ladder.levels + 1))
        if name in keep:
            levels = levels[:1]
        if name in drop:
            levels = levels[-1:]
        same = np.arange(column.cardinality, dtype=np.int32)
        codes = tuple(
            same if level == column.level else climbed(column, ladder, level, people.missing)[1]
            for level in levels
        )
        counts = np.bincount(people.table[:, j], minlength=column.cardinality)
        found.append(Option(column, ladder, name in given, levels, codes, counts))
    return tuple(found)


def dropped_or_kept(column: Column) -> Ladder:
    """The hierarchy of a column that has none: as it is, or not at all."""
    return Ladder({str(label): () for label in column.labels if label is not None} or {"-": ()})


# -- what a column loses at a level ----------------------------------------------------------------


def entropy(option: Option, place: int) -> Array:
    """Bits of each person's value that its group hides: log2(people in it / people who have it)."""
    with np.errstate(divide="ignore"):
        hidden = np.log2(option.group_counts(place)) - np.log2(np.maximum(option.counts, 1))
    return np.where(option.counts > 0, hidden, 0.0)


def granularity(option: Option, place: int) -> Array:
    """The share of the other values that each person's group covers, of those that occur."""
    occurs = option.counts > 0
    covered = np.bincount(option.codes[place], occurs)[option.codes[place]]
    return np.where(occurs, (covered - 1) / max(int(occurs.sum()) - 1, 1), 0.0)


@dataclass(frozen=True, eq=False)
class Ways:
    """All nodes, numbered in the order of `np.unravel_index`, and what each loses by itself."""

    options: tuple[Option, ...]
    cells: tuple[Array, ...]
    """Per column, levels x codes: what a person with this code loses, weighted, in 0..1 in all."""
    whole: Array
    """What a person loses who is left out, by row of the table."""
    people: int

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(option.levels) for option in self.options)

    def __len__(self) -> int:
        return prod(self.shape)

    def node(self, number: int) -> Node:
        return tuple(int(i) for i in np.unravel_index(number, self.shape))

    def number(self, node: Node) -> int:
        return int(np.ravel_multi_index(node, self.shape))

    def levels(self, node: Node) -> dict[str, int]:
        """The level of each column, as `generalise` takes them."""
        return {o.name: o.levels[i] for o, i in zip(self.options, node, strict=True)}

    def losses(self) -> Array:
        """The loss of every node when nobody is left out."""
        total = np.zeros(self.shape)
        for j, (option, cells) in enumerate(zip(self.options, self.cells, strict=True)):
            mean = cells @ option.counts / self.people
            total += mean.reshape([-1 if i == j else 1 for i in range(len(self.options))])
        return total.ravel()

    def loss(self, node: Node, table: Codes, left_out: NDArray[np.bool_]) -> float:
        """The loss of a node at which some people are left out."""
        lost = sum(float(self.cells[j][i] @ o.counts)
                   for j, (o, i) in enumerate(zip(self.options, node, strict=True)))  # fmt: skip
        gone = np.flatnonzero(left_out)
        more = self.whole[gone]
        for j, place in enumerate(node):
            more -= self.cells[j][place][table[gone, j]]
        return (lost + float(more.sum())) / self.people

    def at_least(self, node: Node, table: Codes, forced: NDArray[np.bool_], more: int) -> float:
        """The least loss of a node at which these are left out, and so many more."""
        lost = np.zeros(len(table))
        for j, place in enumerate(node):
            lost += self.cells[j][place][table[:, j]]
        further = np.sort((self.whole - lost)[~forced])[:more]
        return float((np.where(forced, self.whole, lost).sum() + further.sum()) / len(table))


SEPARABLE = {"entropy": entropy, "granularity": granularity}


def ways_of(
    people: People,
    options: tuple[Option, ...],
    loss: str,
    importance: Mapping[str, float] | None = None,
) -> Ways:
    """The lattice, with a loss between 0 (as it is) and 1 (nothing is left).

    `importance` weighs the columns; by default each counts alike.
    """
    size = prod(len(option.levels) for option in options)
    if size > MOST_NODES:
        raise TooLarge(
            f"{size:,} combinations of levels; {MOST_NODES:,} can be searched. Keep a column as it "
            f"is (keep=), drop one (drop=), or give hierarchies fewer levels"
        )
    weight = weights_of(options, importance)
    how = SEPARABLE[loss]
    cells, whole = [], np.zeros(len(people))
    for j, option in enumerate(options):
        top = _of_somebody_left_out(option, loss)
        most = float(top @ option.counts) / len(people)
        scale = weight[j] / most if most else 0.0
        levels = [how(option, place) * scale for place in range(len(option.levels))]
        cells.append(np.array(levels))
        whole += scale * top[people.table[:, j]]
    return Ways(options, tuple(cells), whole, len(people))


def _of_somebody_left_out(option: Option, loss: str) -> Array:
    """What each code loses when its person is left out: all that "*" would hide."""
    if loss == "granularity":
        return np.ones(len(option.counts))
    n = option.counts.sum()
    return np.where(option.counts > 0, np.log2(n / np.maximum(option.counts, 1)), 0.0)


def weights_of(options: tuple[Option, ...], importance: Mapping[str, float] | None) -> Array:
    """The share of each column in the loss."""
    names = [option.name for option in options]
    for name, value in (importance or {}).items():
        if name not in names:
            raise UsageError(f'importance: no column "{name}"; {did_you_mean(name, names)}')
        if not (isinstance(value, int | float) and np.isfinite(value) and value >= 0):
            raise UsageError(f"importance of {name}: give a number, 0 or more")
    weight = np.array([float((importance or {}).get(name, 1.0)) for name in names])
    if not weight.sum():
        raise UsageError("importance: every column has 0; give one some weight")
    return np.asarray(weight / weight.sum())


def sizes_at(rows: DistinctRows, options: tuple[Option, ...], node: Node) -> Ints:
    """How many people are written alike at a node, for each distinct row of the table."""
    codes = [o.codes[i] for o, i in zip(options, node, strict=True)]
    top = tuple(int(code.max()) + 1 for code in codes)
    general = tuple(
        code.take(own) if values > 1 else own  # one value parts nobody
        for code, own, values in zip(codes, rows.codes, top, strict=True)
    )
    return replace(rows, codes=general, cardinalities=top).peers(range(len(options)))
