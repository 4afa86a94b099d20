"""What may be done to a table: the levels of each column, and what each costs.

A node of the lattice is one level for every column.  Levels go from the one at which the column
stands to the top of its hierarchy, where every value is "*" and the column is as good as dropped.
What a node loses before anybody is left out is the sum of what its columns lose, so the losses of
all nodes are known before one of them is counted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError, did_you_mean
from reidbn.microdata.classes import Codes, Ints
from reidbn.microdata.columns import Column
from reidbn.microdata.generalise import climbed
from reidbn.microdata.hierarchy import Hierarchy
from reidbn.microdata.ladders import Ladder, as_hierarchy
from reidbn.microdata.rows import DistinctRows
from reidbn.microdata.table import People

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


@dataclass(frozen=True, eq=False)
class Ways(ABC):
    """All nodes, numbered in the order of `np.unravel_index`, and what each loses."""

    options: tuple[Option, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(option.levels) for option in self.options)

    @property
    def size(self) -> int:
        """How many nodes there are; more than a `len` can say where columns are many."""
        return prod(self.shape)

    @property
    def top(self) -> Node:
        """The coarsest node."""
        return tuple(n - 1 for n in self.shape)

    def node(self, number: int) -> Node:
        return tuple(int(i) for i in np.unravel_index(number, self.shape))

    def number(self, node: Node) -> int:
        return int(np.ravel_multi_index(node, self.shape))

    def levels(self, node: Node) -> dict[str, int]:
        """The level of each column, as `generalise` takes them."""
        return {o.name: o.levels[i] for o, i in zip(self.options, node, strict=True)}

    @abstractmethod
    def losses(self) -> Array:
        """What every node loses at least, whoever is left out: known before one is counted."""

    @abstractmethod
    def loss(self, node: Node, left_out: NDArray[np.bool_]) -> float:
        """The loss of a node at which these people are left out."""

    @abstractmethod
    def at_least(self, node: Node, forced: NDArray[np.bool_], more: int) -> float:
        """The least loss of a node at which these are left out, and so many more or further."""

    def coarser_lose(self, node: Node) -> float:
        """What a node and every coarser one lose at least."""
        return -np.inf


def sizes_at(rows: DistinctRows, options: tuple[Option, ...], node: Node) -> Ints:
    """How many people are written alike at a node, for each distinct row of the table."""
    codes = [o.codes[i] for o, i in zip(options, node, strict=True)]
    top = tuple(int(code.max()) + 1 for code in codes)
    general = tuple(
        code.take(own) if values > 1 else own  # one value parts nobody
        for code, own, values in zip(codes, rows.codes, top, strict=True)
    )
    return replace(rows, codes=general, cardinalities=top).peers(range(len(options)))
