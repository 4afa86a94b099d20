"""What is lost by releasing a table otherwise: 0 as it is.

A loss of each cell by itself ("entropy", "granularity") is known of every node before one is
counted.  A loss of classes ("discernibility", "average-class") rises as the table gets coarser, so
what two columns by themselves lose bounds every node at which they are at these levels, and a node
that was counted bounds all coarser ones.  Of a function nothing is known before it is called.

But for the first kind, who is left out is those whom the targets ask for and nobody else: leaving
out more could lower such a loss, and is not looked for.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge, UsageError, did_you_mean
from reidbn.microdata.classes import Ints
from reidbn.microdata.generalise import bits_hidden, released_at
from reidbn.microdata.generalise import left_out as without
from reidbn.microdata.rows import DistinctRows
from reidbn.microdata.table import People
from reidbn.plans.regression import Regression
from reidbn.plans.ways import Array, Node, Option, Ways, sizes_at

MOST_NODES = 1_000_000  # ways of which a number each is kept
MOST_PAIRS = 2_000  # nodes that are counted for the bounds of losses of classes
Flags = NDArray[np.bool_]


# -- what a column loses at a level ----------------------------------------------------------------


def entropy(option: Option, place: int) -> Array:
    """Bits of each person's value that its group hides."""
    return bits_hidden(option.counts, option.group_counts(place))


def granularity(option: Option, place: int) -> Array:
    """The share of the other values that each person's group covers, of those that occur."""
    occurs = option.counts > 0
    covered = np.bincount(option.codes[place], occurs)[option.codes[place]]
    return np.where(occurs, (covered - 1) / max(int(occurs.sum()) - 1, 1), 0.0)


@dataclass(frozen=True, eq=False)
class Separable(Ways):
    """A loss of each cell by itself."""

    table: NDArray[Any]
    cells: tuple[Array, ...]
    """Per column, levels x codes: what a person with this code loses, weighted, in 0..1 in all."""
    whole: Array
    """What a person loses who is left out, by row of the table."""
    people: int
    tops: tuple[Array, ...]
    """Per column, what each code loses when it is not there at all."""
    weighed: str = ""
    """How columns were weighed, in words; empty where each counts alike."""

    def losses(self) -> Array:
        """The loss of every node when nobody is left out; who is left out loses no less."""
        total = np.zeros(self.shape)
        for j, mean in enumerate(self.columns_lose()):
            total += mean.reshape([-1 if i == j else 1 for i in range(len(self.options))])
        return total.ravel()

    def columns_lose(self) -> list[Array]:
        """The loss of each column at each level when nobody is left out."""
        return [cells @ option.counts / self.people
                for option, cells in zip(self.options, self.cells, strict=True)]  # fmt: skip

    def loss(self, node: Node, left_out: Flags) -> float:
        lost = sum(float(self.cells[j][i] @ o.counts)
                   for j, (o, i) in enumerate(zip(self.options, node, strict=True)))  # fmt: skip
        gone = np.flatnonzero(left_out)
        more = self.whole[gone]
        for j, place in enumerate(node):
            more -= self.cells[j][place][self.table[gone, j]]
        return (lost + float(more.sum())) / self.people

    def loss_of_cells(self, node: Node, gone: Flags) -> float:
        """What emptying these cells (people x columns) adds."""
        some = np.flatnonzero(gone.any(axis=1))
        return float((self.loss_of_each_cell(node, some) * gone[some]).sum())

    def loss_of_each_cell(self, node: Node, who: NDArray[Any]) -> Array:
        """What emptying each cell of these people adds: people x columns."""
        more = [(self.tops[j] - self.cells[j][place])[self.table[who, j]]
                for j, place in enumerate(node)]  # fmt: skip
        return np.stack(more, axis=1) / self.people

    def at_least(self, node: Node, forced: Flags, more: int) -> float:
        if not more:
            return self.loss(node, forced)
        lost = np.zeros(self.people)
        for j, place in enumerate(node):
            lost += self.cells[j][place][self.table[:, j]]
        further = np.sort((self.whole - lost)[~forced])[:more]
        return float((np.where(forced, self.whole, lost).sum() + further.sum()) / self.people)


@dataclass(frozen=True, eq=False)
class ByClasses(Ways):
    """A loss of classes: "discernibility" or "average-class"; 0 as it is, 1 at most."""

    how: str
    rows: DistinctRows
    budget: int
    """How many people may be left out."""

    @property
    def n(self) -> int:
        return self.rows.total

    def _of(self, node: Node, people: Array | None = None) -> tuple[float, float]:
        """Pairs of people who are alike, and classes: of those who are not left out."""
        rows = self.rows
        if people is not None:
            some = people > 0
            rows = replace(rows, codes=tuple(c[some] for c in rows.codes), people=people[some])
        return self._alike(rows.people, sizes_at(rows, self.options, node))

    def _alike(self, people: NDArray[Any], sizes: NDArray[Any]) -> tuple[float, float]:
        return float(people @ sizes), round(float((people / sizes).sum()))

    def _scaled(self, pairs: float, classes: float, gone: float) -> float:
        """Discernibility: each person's class, of who is left out the table [BayardoAgrawal05].

        The average class: people of the table per class that is released [LeFevre06].
        """
        n, (least, finest) = self.n, self._as_it_is
        if self.how == "discernibility":
            return (pairs + gone * n - least) / (n * n - least) if least < n * n else 0.0
        return (n / max(classes, 1) - n / finest) / (n - n / finest) if finest > 1 else 0.0

    @cached_property
    def _as_it_is(self) -> tuple[float, float]:
        sizes = self.rows.peers(range(self.rows.groups))
        return float(self.rows.people @ sizes), float(self.rows.rows)

    def _lowest(self, node: Node) -> float:
        """Whoever is left out: of a class of more than half of all, that can even be a gain."""
        sizes = sizes_at(self.rows, self.options, node)
        pairs, classes = self._alike(self.rows.people, sizes)
        r = min(self.budget, max(0, int(sizes.max()) - self.n // 2))
        gain = min(0, r * (self.n - 2 * int(sizes.max()) + r)) if r else 0
        return self._scaled(pairs + gain, classes, 0)

    def losses(self) -> Array:
        found = np.full(self.shape, -np.inf)
        places = range(len(self.shape))
        count = sum(a * b for a, b in combinations(self.shape, 2))
        for own in combinations(places, 1 if count > MOST_PAIRS or len(self.shape) < 2 else 2):
            for levels in product(*(range(self.shape[j]) for j in own)):
                at = dict(zip(own, levels, strict=True))
                low = self._lowest(tuple(at.get(j, 0) for j in places))
                here = tuple(at.get(j, slice(None)) for j in places)
                found[here] = np.maximum(found[here], low)
        return found.ravel()

    def coarser_lose(self, node: Node) -> float:
        return self._lowest(node) if all(option.nests for option in self.options) else -np.inf

    def loss(self, node: Node, left_out: Flags) -> float:
        gone = int(left_out.sum())
        people = np.bincount(self.rows.of_record[~left_out], minlength=self.rows.rows)
        return self._scaled(*self._of(node, people.astype(float) if gone else None), gone)

    def at_least(self, node: Node, forced: Flags, more: int) -> float:
        return self._lowest(node) if more else self.loss(node, forced)


@dataclass(frozen=True, eq=False)
class ByMargins(Ways):
    """How far tables that a researcher makes of the release are from those of the whole table."""

    table: NDArray[Any]
    margins: tuple[tuple[int, ...], ...]
    """Columns that are tabulated together, each in the order of the lattice."""
    budget: int

    def losses(self) -> Array:
        """Leaving out a share of people moves no table by more than that share."""
        total, everybody = np.zeros(self.shape), np.ones(len(self.table), dtype=bool)
        for own in self.margins:
            shape = [size if j in own else 1 for j, size in enumerate(self.shape)]
            apart = [
                self._apart(own, dict(zip(own, levels, strict=True)), everybody)
                for levels in product(*(range(self.shape[j]) for j in own))
            ]
            total += np.maximum(np.reshape(apart, shape) - self.budget / len(self.table), 0.0)
        return total.ravel() / len(self.margins)

    def loss(self, node: Node, left_out: Flags) -> float:
        found = [self._apart(own, {j: node[j] for j in own}, ~left_out) for own in self.margins]
        return float(np.mean(found))

    def at_least(self, node: Node, forced: Flags, more: int) -> float:
        if not more:
            return self.loss(node, forced)
        return self.loss(node, forced) - (self.budget - int(forced.sum())) / int((~forced).sum())

    def _apart(self, own: tuple[int, ...], levels: Mapping[int, int], kept: Flags) -> float:
        """Half the sum of |share in the table - share as the release tells it| over all cells.

        Of a group of values the release tells one number, which is spread evenly over those of its
        values that occur.
        """
        values = groups = np.zeros(len(self.table), dtype=np.int64)
        alike: Ints = np.zeros(1, dtype=np.int64)
        spread, width, cells = np.ones(1), 1, 1
        for j in own:
            option, column = self.options[j], self.table[:, j]
            occurs = np.flatnonzero(option.counts)
            code = option.codes[levels[j]]
            under = np.bincount(code[occurs], minlength=int(code.max()) + 1)
            values = values * len(occurs) + np.searchsorted(occurs, column)
            groups = groups * len(under) + code[column]
            alike = (alike[:, None] * len(under) + code[occurs][None, :]).ravel()
            spread = (spread[:, None] * under[code[occurs]][None, :]).ravel()
            width, cells = width * len(occurs), cells * len(under)
        truth = np.bincount(values, minlength=width) / len(self.table)
        told = np.bincount(groups[kept], minlength=cells) / int(kept.sum())
        return float(np.abs(truth - told[alike] / spread).sum() / 2)


@dataclass(frozen=True, eq=False)
class ByFunction(Ways):
    """What a function says of the people as they would be released."""

    people: People
    function: Callable[[People], float]

    def losses(self) -> Array:
        return np.full(self.size, -np.inf)

    def loss(self, node: Node, left_out: Flags) -> float:
        ladders = {o.name: o.ladder for o in self.options}
        people = without(released_at(self.people, self.levels(node), hierarchies=ladders), left_out)
        try:
            value = self.function(people)
        except Exception as problem:  # what it says may hold what somebody wrote
            raise UsageError(
                f"loss={_named(self.function)} ended in a {type(problem).__name__}; a loss takes "
                f"the people as they would be released and gives a number"
            ) from problem
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise UsageError(
                f"loss={_named(self.function)} gave a {type(value).__name__}; a loss takes the "
                f"people as they would be released and gives a number"
            )
        try:
            value = float(value)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise UsageError(f"loss={_named(self.function)} gave {value}; a loss is finite")
        return value

    def at_least(self, node: Node, forced: Flags, more: int) -> float:
        return -np.inf if more else self.loss(node, forced)


def _named(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


SEPARABLE = {"entropy": entropy, "granularity": granularity}
OF_CLASSES = ("discernibility", "average-class")
LOSSES = (*SEPARABLE, *OF_CLASSES)
MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class Margins:
    """A loss: tables that a researcher makes, such as Margins(("age", "sex"), ("race",)).

    Each names the columns of one table.  What is lost is the mean of their total variation
    distances from the same tables of all people, 0 to 1.
    """

    tables: tuple[tuple[str, ...], ...]

    def __init__(self, *tables: str | Sequence[str]) -> None:
        listed = [(t,) if isinstance(t, str | int) else t for t in tables]
        if not all(isinstance(t, Sequence) for t in listed):
            listed = []
        named = tuple(tuple(map(str, t)) for t in listed)
        if not named or not all(named) or any(len({*t}) < len(t) for t in named):
            raise UsageError('name the columns of each table: Margins(("age", "sex"), ("race",))')
        object.__setattr__(self, "tables", named)

    def __str__(self) -> str:
        return "distance of the tables " + ", ".join(" x ".join(t) for t in self.tables)

    def on(self, options: tuple[Option, ...], table: NDArray[Any], budget: int) -> ByMargins:
        """Of these columns."""
        names = [o.name for o in options]
        for name in (c for t in self.tables for c in t):
            if name not in names:
                raise UsageError(f'loss: "{name}" is no quasi-identifier; '
                                 f"{did_you_mean(name, names)}")  # fmt: skip
        margins = tuple(tuple(sorted(names.index(c) for c in t)) for t in self.tables)
        for own in margins:
            cells = prod(int((options[j].counts > 0).sum()) for j in own)
            if cells > MOST_CELLS:
                raise TooLarge(
                    f"a table of {cells:,} cells; {MOST_CELLS:,} can be compared: name tables of "
                    f"fewer columns"
                )
        return ByMargins(options, table, margins, budget)


Loss = str | Margins | Regression | Callable[[People], float]


def name_of(loss: Loss) -> str:
    """The name of a loss, checked."""
    if isinstance(loss, Margins | Regression):
        return str(loss)
    if not isinstance(loss, str):
        return _named(loss)
    if loss not in LOSSES:
        raise UsageError(
            f'no loss "{loss}" (a function of the people as they would be released is one, too); '
            f"{did_you_mean(loss, LOSSES)}"
        )
    return loss


def is_of_cells(loss: Loss) -> bool:
    """Whether it is a loss of each cell by itself."""
    return isinstance(loss, str) and loss in SEPARABLE


def ways_of(
    people: People,
    options: tuple[Option, ...],
    loss: Loss,
    importance: Mapping[str, float] | None,
    rows: DistinctRows,
    budget: int,
) -> Ways:
    """The lattice, with a loss: from 0 (as it is) to 1 (nothing is left), or a function's.

    `importance` weighs the columns; by default each counts alike.
    """
    size = prod(len(option.levels) for option in options)
    if size > MOST_NODES and not is_of_cells(loss):
        raise TooLarge(
            f"{size:,} combinations of levels; {MOST_NODES:,} can be searched for the least "
            f"{name_of(loss)}. Ask for a loss of each cell ({', '.join(SEPARABLE)}), keep a column "
            f"as it is (keep=), drop one (drop=), or give hierarchies fewer levels"
        )
    if importance and not is_of_cells(loss):
        raise UsageError(
            f"importance= weighs columns of a loss of each cell ({', '.join(SEPARABLE)}); "
            f"{name_of(loss)} has no columns"
        )
    if isinstance(loss, Margins):
        return loss.on(options, people.table, budget)
    if isinstance(loss, Regression):
        return loss.on(options, people, budget)
    if not isinstance(loss, str):
        return ByFunction(options, people, loss)
    if loss in OF_CLASSES:
        return ByClasses(options, loss, rows, budget)
    weight = weights_of(options, importance)
    how = SEPARABLE[loss]
    cells, tops, whole = [], [], np.zeros(len(people))
    for j, option in enumerate(options):
        top = _of_somebody_left_out(option, loss)
        most = float(top @ option.counts) / len(people)
        scale = weight[j] / most if most else 0.0
        levels = [how(option, place) * scale for place in range(len(option.levels))]
        cells.append(np.array(levels))
        tops.append(scale * top)
        whole += tops[-1][people.table[:, j]]
    weighed = ", ".join(f"{option.name} {share:.3g}" for option, share in zip(
        options, weight, strict=True)) if importance else ""  # fmt: skip
    return Separable(options, people.table, tuple(cells), whole, len(people), tuple(tops), weighed)


def _of_somebody_left_out(option: Option, loss: str) -> Array:
    """What each code loses when its person is left out: all that "*" would hide."""
    if loss == "granularity":
        return np.ones(len(option.counts))
    return bits_hidden(option.counts, option.counts.sum())


def weights_of(options: tuple[Option, ...], importance: Mapping[str, float] | None) -> Array:
    """The share of each column in the loss."""
    names = [option.name for option in options]
    for name, value in (importance or {}).items():
        if name not in names:
            raise UsageError(f'importance: no column "{name}"; {did_you_mean(name, names)}')
        if not (isinstance(value, int | float) and 0 <= value <= sys.float_info.max):
            raise UsageError(f"importance of {name}: give a number, 0 or more")
    weight = np.array([float((importance or {}).get(name, 1.0)) for name in names])
    if not weight.sum():
        raise UsageError("importance: every column has 0; give one some weight")
    return np.asarray(weight / weight.sum())
