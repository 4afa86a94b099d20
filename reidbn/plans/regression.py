"""A loss: how far a regression that somebody will run is off when it is made of the release.

Least squares with a constant, everybody alike.  A column of numbers or bands is a number, a band
its middle (an open one, 90+, the end that it has); missing ones are 0 with a column that says so.
Any other column is a column of zeros and ones for each of its values, a missing one among them.  An
outcome of two values is 0 and 1.

With y^ what the table as it is says of each of its n people and y' what the release says of who is
released, and of who is left out its mean outcome, since it says nothing of them,

    loss = sum (y' - y^)^2 / sum (y - mean y)^2, 1 at most                                      (1)

1, too, where the outcome is not released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import isfinite, prod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.microdata.classes import class_ids
from reidbn.microdata.generalise import climbed
from reidbn.microdata.hierarchy import ANY, Bands, interval
from reidbn.microdata.table import People
from reidbn.plans.ways import Array, Node, Option, Ways

MOST_FITTED = 2_000  # regressions that are made for bounds
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Regression:
    """A loss: how far a least-squares regression made of the release is off.

    `formula` names the outcome and the columns that it is told from, such as
    Regression("income ~ age + sex").  What is lost is the mean squared difference between what it
    says of each person and what the same regression says that is made of the table as it is, as a
    share of how much the outcome differs from person to person: 0 to 1.
    """

    formula: str

    def __post_init__(self) -> None:
        sides = self.formula.split("~") if isinstance(self.formula, str) else []
        if len(sides) != 2 or not sides[0].strip() or not all(t.strip() for t in self.told_from):
            raise UsageError(
                'name the outcome and the columns that it is told from: Regression("income ~ age + '
                'sex")'
            )
        names = [self.outcome, *self.told_from]
        if len({*names}) < len(names):
            raise UsageError(f"regression {self.formula}: a column is named twice")

    @property
    def outcome(self) -> str:
        return self.formula.split("~")[0].strip()

    @property
    def told_from(self) -> tuple[str, ...]:
        return tuple(term.strip() for term in self.formula.split("~")[1].split("+"))

    def __str__(self) -> str:
        return f"error of the regression {self.outcome} ~ {' + '.join(self.told_from)}"

    def on(self, options: tuple[Option, ...], people: People, budget: int) -> ByRegression:
        """Of these columns."""
        for name in (self.outcome, *self.told_from):
            if name not in people.columns:
                hint = did_you_mean(name, people.columns)
                raise UsageError(
                    f'loss: "{name}" is none of the columns that were read; to read it, name it, '
                    f'sensitive=["{name}"]. A regression adds columns up, "income ~ age + sex"; '
                    f"{hint}"
                )
        return ByRegression(options, people, self, budget)


@dataclass(frozen=True, eq=False)
class ByRegression(Ways):
    """How far a regression made of the release is off: 0 as it is, 1 at most."""

    people: People
    regression: Regression
    budget: int

    def losses(self) -> Array:
        """Without people left out each is known by the levels of the columns that it names."""
        found = np.full(self.shape, 0.0)
        named = (self.regression.outcome, *self.regression.told_from)
        own = [j for j, option in enumerate(self.options) if option.name in named]
        if self.budget or prod(self.shape[j] for j in own) > MOST_FITTED:
            return found.ravel()
        nobody = np.zeros(len(self.people), dtype=bool)
        for levels in product(*(range(self.shape[j]) for j in own)):
            at = dict(zip(own, levels, strict=True))
            here = tuple(at.get(j, slice(None)) for j in range(len(self.shape)))
            found[here] = self.loss(tuple(at.get(j, 0) for j in range(len(self.shape))), nobody)
        return found.ravel()

    def loss(self, node: Node, left_out: Flags) -> float:
        y, whole = self._as_it_is
        about = float(((y - y.mean()) ** 2).sum())
        told = self._told(node, ~left_out)
        if told is None:
            return 1.0
        return min(float(((told - whole) ** 2).sum()) / about, 1.0)

    def at_least(self, node: Node, forced: Flags, more: int) -> float:
        return 0.0 if more else self.loss(node, forced)

    @cached_property
    def _as_it_is(self) -> tuple[Array, Array]:
        """Everybody's outcome, and what the regression says of them."""
        y = self._outcome(None)
        if not np.ptp(y):
            raise DataError(
                f"loss: everybody has the same {self.regression.outcome}, and no regression tells "
                f"it: name another outcome"
            )
        return y, self._fitted(y, None, np.ones(len(y), dtype=bool))

    def _told(self, node: Node, kept: Flags) -> Array | None:
        """What the release says of each; None where the outcome is not in it."""
        place = self._place(self.regression.outcome, node)
        if place is not None and not np.ptp(self._codes(self.regression.outcome, place)):
            return None
        return self._fitted(self._outcome(place), node, kept)

    def _fitted(self, y: Array, node: Node | None, kept: Flags) -> Array:
        """Least squares over the distinct rows of those who are kept, as often as each is there."""
        places = [None if node is None else self._place(n, node) for n in self.regression.told_from]
        codes, parts = [], []
        for name, place in zip(self.regression.told_from, places, strict=True):
            codes.append(self._codes(name, place))
            parts.append(self._columns(name, place))
        table = np.asfortranarray(np.stack(codes, axis=1)[kept], dtype=np.int32)
        ids, count = class_ids(table, [len(part) for part in parts])
        first = np.zeros(count, dtype=np.intp)
        first[ids] = np.arange(len(ids))
        x = np.hstack([np.ones((count, 1)),
                       *(p[c] for p, c in zip(parts, table[first].T, strict=True))])  # fmt: skip
        people = np.bincount(ids, minlength=count)
        means = np.bincount(ids, y[kept], minlength=count) / people
        root = np.sqrt(people)
        found = x @ np.linalg.lstsq(x * root[:, None], means * root, rcond=None)[0]
        told = np.full(len(y), y[kept].mean())
        told[kept] = found[ids]
        return told

    def _place(self, name: str, node: Node) -> int | None:
        """The place of a column's level; None of a column that is released as it is."""
        names = [option.name for option in self.options]
        return node[names.index(name)] if name in names else None

    def _codes(self, name: str, place: int | None) -> NDArray[Any]:
        codes = self.people.table[:, self.people.columns.index(name)]
        return codes if place is None else self._option(name).codes[place][codes]

    def _option(self, name: str) -> Option:
        return next(option for option in self.options if option.name == name)

    def _labels(self, name: str, place: int | None) -> list[Any]:
        """What each code stands for at a level."""
        column = self.people.column(name)
        level = column.level if place is None else self._option(name).levels[place]
        if level != column.level:
            column = climbed(column, self._option(name).ladder, level, self.people.missing)[0]
        return list(column.labels.tolist())

    def _outcome(self, place: int | None) -> Array:
        """Everybody's outcome as a number."""
        name = self.regression.outcome
        labels, codes = self._labels(name, place), self._codes(name, place)
        there = np.unique(codes)
        if any(labels[code] is None for code in there):
            raise UsageError(
                f"loss: {name} is missing for some people; leave them out, or name another outcome"
            )
        numbers = self._numbers(name, labels)
        if numbers is None and len(there) == 2:
            numbers = (np.arange(len(labels)) == there[1]).astype(float)
        if numbers is None:
            raise UsageError(
                f"loss: {name} is neither numbers, nor bands, nor one of two values, at every "
                f"level that it may be released at: keep it as it is (keep=), or name an outcome "
                f"that is"
            )
        return np.asarray(numbers[codes])

    def _columns(self, name: str, place: int | None) -> Array:
        """The numbers that stand for each code, a row each; of a scale on which none is large."""
        if (name, place) not in self._stand_for:
            labels = self._labels(name, place)
            numbers, missing = self._numbers(name, labels), [label is None for label in labels]
            self._stand_for[name, place] = np.eye(len(labels))
            if numbers is not None:
                numbers = (numbers - numbers.mean()) / (numbers.std() or 1.0)
                numbers[missing] = 0.0
                self._stand_for[name, place] = np.stack([numbers, missing], axis=1)
        return self._stand_for[name, place]

    @cached_property
    def _stand_for(self) -> dict[tuple[str, int | None], Array]:
        return {}

    def _numbers(self, name: str, labels: Sequence[Any]) -> Array | None:
        """Middles of numbers and bands, 0 of what is missing or not there; None of others."""
        column = self.people.column(name)
        ladders = [option.ladder for option in self.options if option.name == name]
        plain = [v for v in column.labels.tolist() if v is not None]
        is_number = all(isinstance(v, Real) and not isinstance(v, bool) for v in plain)
        if not is_number and not any(isinstance(ladder, Bands) for ladder in ladders):
            return None
        try:
            return np.array([0.0 if v in (None, ANY) else _middle(v) for v in labels])
        except DataError:
            return None


def _middle(value: Any) -> float:
    """The middle of a band, or the end that it has."""
    ends = [end for end in interval(value) if isfinite(end)]
    return sum(ends) / len(ends)
