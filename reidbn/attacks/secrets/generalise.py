"""Making a known variable coarse until enough people are protected: the paper's way, and the best.

The variable is coarse for the attacker; the secret stays as it is.  `share` is the share of people
with p-upward privacy (of their weight, where people carry weights).

Making several known variables coarse: each by its exact optimum given the others, in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from reidbn.attacks.secrets.ask import disclosure
from reidbn.attacks.secrets.asked import (
    Blur,
    Individuals,
    Range,
    among,
    asked_of,
    auxiliaries,
    coded,
    numbers,
)
from reidbn.attacks.secrets.counts import DisclosureQuestion, threshold
from reidbn.attacks.secrets.peers import Partitioned
from reidbn.calls import refuse_misfit, typed
from reidbn.errors import UsageError, did_you_mean
from reidbn.microdata.classes import Floats, Ints, some_of
from reidbn.microdata.rows import DistinctRows, distinct_rows
from reidbn.microdata.table import People
from reidbn.theory.generalisation import (
    Layer,
    best_partitions,
    equal_width_options,
    partition_value,
    protected_in_intervals,
)

if TYPE_CHECKING:
    import pandas as pd


SMALLEST = 10
"""People that a category holds at least, unless told otherwise."""
READINGS = {
    "paper": "whole numbers from the least to the greatest value, outer categories of any width",
    "at-most": "the same, with outer categories at most as wide as the inner ones",
    "observed": "the values that occur, by rank, outer categories of any width",
    "text": "the values that occur, in the order of their text (0, 1, 10, 2), as was published",
}


@dataclass(frozen=True)
class Category:
    """Consecutive values of a variable that become one, and how many people have them."""

    first: Any
    last: Any
    people: int = 0

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


@dataclass(frozen=True, eq=False, repr=False)
class Generalisation:
    """Shares protected by number of categories, with the partition that attains each."""

    column: str
    sensitive: str
    p: float
    method: str
    table: pd.DataFrame
    """One row per number of categories: protected, share, people in the smallest category,
    partition (and the search's options).
    """
    question: DisclosureQuestion = field(default_factory=lambda: DisclosureQuestion((), 0.0))

    def partition(self, categories: int) -> tuple[Category, ...]:
        """The best partition with that many categories."""
        counts = self.table["categories"].tolist()
        if categories not in counts:
            raise UsageError(f"{categories} categories were not tried; known: {counts}")
        found: tuple[Category, ...] = self.table["partition"][counts.index(categories)]
        return found

    def __repr__(self) -> str:
        table = self.table.drop(columns="partition").to_string(index=False)
        return f"Generalisation({self.column!r} for {self.sensitive!r}, {self.method})\n{table}"


@typed
def best_generalisation(
    people: People,
    column: str,
    sensitive: str,
    *,
    categories: Iterable[int] | None = None,
    smallest: int = SMALLEST,
    p: float | str = 0.0,
    known: Sequence[str] | None = None,
    order: Sequence[Any] | None = None,
    ranges: Mapping[str, Range] | None = None,
    empty: bool = False,
    individuals: ArrayLike | None = None,
) -> Generalisation:
    """The exact best contiguous categories of one variable, for each number of categories.

    Every category holds at least `smallest` people: an optimum that puts four people alone in one
    would hand them over.  Numbers are in their own order; for text name the values in `order`.
    `ranges` makes other variables coarse at the same time, `empty` counts the attacker who knows
    nothing, and `individuals` (row numbers) are whose protection counts.

    `column` is made coarse, `sensitive` is the column with the secret; `p` is the chance of a wrong
    guess that protects nobody yet, and `known` names the columns the attacker knows.

    >>> people = People.from_codes([[0, 0], [1, 1], [2, 1], [3, 1]], ["age", "biopsy"])
    >>> best = best_generalisation(people, "age", sensitive="biopsy", smallest=1)
    >>> best.table["protected"].tolist()
    [4, 3, 2, 0]
    >>> best = best_generalisation(people, "age", sensitive="biopsy", smallest=2)
    >>> best.table["smallest"].tolist(), [str(part) for part in best.partition(2)]
    ([4, 2], ['0-1', '2-3'])
    """
    at = threshold("p", p)
    if categories is not None:
        categories = list(categories)
        refuse_misfit("best_generalisation", "categories", categories, Sequence[int])
    if smallest < 1:
        raise UsageError(f"smallest={smallest}; a category holds at least 1 person")
    asked = asked_of(people, sensitive, individuals, 0)
    line = worth_of_intervals(asked, column, sensitive, at, known, order, ranges, empty=empty)
    values = len(line.labels)
    wanted = list(range(1, values + 1)) if categories is None else sorted(set(categories))
    if not wanted or wanted[0] < 1 or wanted[-1] > values:
        raise UsageError(
            f'categories must lie in 1..{values}, the number of values of "{column}" that occur'
        )
    best = {b.categories: b for b in best_partitions(line.allowed(smallest), wanted[-1])}
    possible = [c for c in wanted if c in best]
    if not possible or (categories is not None and possible != wanted):
        most = max(best, default=0)
        raise UsageError(
            f'"{column}" cannot be cut into {wanted[-1]} categories of at least {smallest} people '
            f"({most} can be); ask for fewer, or smallest=1"
        )
    rows = [line.row(c, best[c].value, best[c].last) for c in possible]
    method = "exact optimum" + (f", {smallest} people or more each" if smallest > 1 else "")
    return _table(column, sensitive, at, method, rows, line.question)


@typed
def equal_width_search(
    people: People,
    column: str,
    sensitive: str,
    *,
    reading: str = "paper",
    p: float | str = 0.0,
    known: Sequence[str] | None = None,
    ranges: Mapping[str, Range] | None = None,
    empty: bool = False,
    individuals: ArrayLike | None = None,
) -> Generalisation:
    """The paper's own search over categories of equal inner width (its Figure 4) [Kroes21].

    For each number of categories every start value (the width of the lowest category) is tried;
    the table has the best, the first start value that attains it, and the worst.  `reading` names
    what is cut into pieces: see `READINGS`.

    `people` is the table, `sensitive` the column with the secret, `column` the one made coarse; `p`
    is the chance of a wrong guess that protects nobody yet; `known` names the columns the
    attacker knows. `ranges`, `empty` and `individuals` are as in `best_generalisation`.
    """
    if reading not in READINGS:
        raise UsageError(f'reading is "{reading}"; {did_you_mean(reading, READINGS)}')
    at = threshold("p", p)
    asked = asked_of(people, sensitive, individuals, 0)
    order = sorted(_observed(asked.people, column), key=str) if reading == "text" else None
    line = worth_of_intervals(asked, column, sensitive, at, known, order, ranges, empty=empty)
    if reading in ("paper", "at-most"):
        place, line = _whole_numbers(line, column)
    else:
        place = np.arange(len(line.labels))
    rows = []
    options = equal_width_options(place.size, outer_at_most_inner=reading == "at-most")
    for count, width, tried in options:
        if not tried:
            continue
        worth = [partition_value(line.worth, place[list(last)].tolist()) for last in tried]
        first = int(np.argmax(worth))
        searched = {
            "inner_width": width,
            "options": len(tried),
            "start": tried[first][0] + 1,
            "worst": min(worth) / line.total,
        }
        rows.append(line.row(count, worth[first], tried[first]) | searched)
    return _table(column, sensitive, at, f"equal width ({reading})", rows, line.question)


@typed
def generalisation_effect(
    people: People,
    sensitive: str,
    ranges: Mapping[str, Range],
    *,
    p: float | str = 0.0,
    known: Sequence[str] | None = None,
) -> dict[str, float]:
    """The share protected before and after variables are made coarse by any partition.

    `people` is the table, `sensitive` the column with the secret, `ranges` the partition of each
    column; `p` is the chance of a wrong guess that protects nobody yet, and `known` names
    the columns the attacker knows.

    >>> people = People.from_codes([[0, 0], [1, 1], [2, 1], [3, 1]], ["age", "biopsy"])
    >>> generalisation_effect(people, "biopsy", {"age": {0: "low", 1: "low", 2: "high", 3: "high"}})
    {'before': 0.0, 'after': 0.5}
    """
    before = disclosure(people, sensitive, known=known, p=p)
    after = disclosure(people, sensitive, known=known, p=p, ranges=ranges)
    return {"before": before.share_upward(), "after": after.share_upward()}


# The variable as a line of values, and what every interval of it is worth


@dataclass(frozen=True, eq=False)
class OrderedValues:
    """The values of a variable in order; worth[lo, hi] = weight protected as one category."""

    labels: list[Any]
    worth: Floats
    total: float
    people: Ints
    """How many people have each value."""
    question: DisclosureQuestion

    def allowed(self, smallest: int) -> Floats:
        """The worth of each interval; minus infinity for those with fewer people."""
        upto = np.concatenate([[0], np.cumsum(self.people)])
        inside = upto[None, 1:] - upto[:-1, None]
        return np.where(inside >= smallest, self.worth, -np.inf)

    def row(self, categories: int, protected: float, last: Sequence[int]) -> dict[str, Any]:
        """A row of the result: `last` holds each category's last place on the line."""
        first = [0, *(end + 1 for end in last[:-1])]
        parts = tuple(
            Category(self.labels[a], self.labels[b], int(self.people[a : b + 1].sum()))
            for a, b in zip(first, last, strict=True)
        )
        return {
            "categories": categories,
            "protected": int(protected) if float(protected).is_integer() else protected,
            "share": protected / self.total,
            "smallest": min(part.people for part in parts),
            "partition": parts,
        }


def worth_of_intervals(
    asked: Individuals,
    column: str,
    sensitive: str,
    p: float,
    known: Sequence[str] | None,
    order: Sequence[Any] | None,
    ranges: Mapping[str, Range] | None,
    *,
    empty: bool,
) -> OrderedValues:
    """How much weight each interval of the variable's values protects, if it becomes a category."""
    people, chosen = asked.people, asked.rows
    names = auxiliaries(people, sensitive, known)
    if not people.is_partition:
        raise UsageError(
            "categories are counted where values match by equality, and some values of this table "
            'match others: read it with missing="value", or take people.as_written()'
        )
    if column not in names:
        raise UsageError(f'"{column}" is not an auxiliary; {did_you_mean(column, names)}')
    among([name for name in names if name != column], "ranges", ranges)
    present = ordered_values(people, column, order)
    codes, sizes = coded(people, names, sensitive, ranges or {})
    cells = distinct_rows(codes, sizes)
    at, secret = names.index(column), len(names)
    others = [j for j in range(secret) if j != at]
    each = np.ones(len(people)) if people.weights is None else people.weights
    rows = np.arange(len(people)) if chosen is None else chosen
    weight: Floats = np.zeros(cells.rows)
    np.add.at(weight, cells.of_record[rows], each[rows])
    if p > 0 and others:
        (same, alike), _ = Partitioned(codes, sizes, tuple(others), (secret,)).weakest(secret)
        # What no subset without the variable breaks; these subsets never change.
        weight *= ((alike - same) / alike > p)[some_of(cells.of_record, cells.rows)]
    if empty:
        weight *= (cells.total - cells.peers([secret])) / cells.total > p
    where = {label: place for place, label in enumerate(present)}
    place_of_code = np.array([where.get(label, 0) for label in people.labels(column).tolist()])
    place = place_of_code[cells.codes[at]]
    layers = _layers(cells, others, secret, p)
    worth = protected_in_intervals(place, weight, cells.people, layers, values=len(present), p=p)
    held = np.bincount(place, weights=cells.people, minlength=len(present)).astype(np.int64)
    individuals = None if chosen is None else (int(chosen.size), int(chosen.sum()))
    blur = Blur(ranges or {}, {}, None)
    question = DisclosureQuestion(
        tuple(names), p, blur.words(names, empty=empty), individuals, sensitive,
        exactly=blur.exactly(names),
    )  # fmt: skip
    return OrderedValues(present, worth, float(each[rows].sum()), held, question)


def _layers(cells: DistinctRows, others: Sequence[int], secret: int, p: float) -> list[Layer]:
    """One layer per subset of the other auxiliaries; for p = 0 knowing all of them is enough."""
    sizes = range(len(others) + 1) if p > 0 else [len(others)]
    return [
        Layer(cells.classes(some).ids, cells.classes([*some, secret]).ids)
        for size in sizes
        for some in combinations(others, size)
    ]


def _observed(people: People, column: str) -> list[Any]:
    labels = people.labels(column).tolist()
    used = np.bincount(people.codes([column])[:, 0], minlength=len(labels)) > 0
    return [label for label, here in zip(labels, used.tolist(), strict=True) if here]


def ordered_values(people: People, column: str, order: Sequence[Any] | None) -> list[Any]:
    """The values of a variable that occur: as numbers rise, or as `order` has them."""
    present = _observed(people, column)
    if order is not None:
        refuse_misfit("best_generalisation", "order", order, Sequence[str | float | bool | None])
        lost = sum(value not in order for value in present)
        if lost:
            raise UsageError(f'order leaves out {lost} of the {len(present)} values of "{column}"')
        return [value for value in order if value in present]
    if None in present:
        raise UsageError(f'"{column}" has missing values; drop them, or place None in order=[...]')
    if not all(_is_number(value) for value in present):
        said = f'"{column}" holds text: say in what order its values stand, '
        raise UsageError(
            f"{said}order=[...] (order={{column: [...]}} for several columns)",
            in_shell=f"{said}--order {column}=A,B,C",
        )
    values = numbers(np.array(present, dtype=object), column)
    return [present[i] for i in np.argsort(values, kind="stable")]


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _whole_numbers(line: OrderedValues, column: str) -> tuple[Ints, OrderedValues]:
    """The line of all whole numbers from the least to the greatest value, and their places."""
    values = numbers(np.array(line.labels, dtype=object), column)
    if not (values == np.floor(values)).all():
        raise UsageError(f'"{column}" is not in whole numbers; use reading="observed"')
    every = np.arange(int(values[0]), int(values[-1]) + 1)
    place = np.searchsorted(values, every, side="right") - 1
    held = np.zeros(every.size, dtype=np.int64)
    held[(values - values[0]).astype(np.int64)] = line.people
    return place.astype(np.int64), replace(line, labels=every.tolist(), people=held)


def _table(
    column: str,
    sensitive: str,
    p: float,
    method: str,
    rows: list[dict[str, Any]],
    question: DisclosureQuestion,
) -> Generalisation:
    import pandas as pd

    return Generalisation(column, sensitive, p, method, pd.DataFrame(rows), question)


# -- making several known variables coarse ---------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class CoordinateSearch:
    """Partitions of several variables, each the exact optimum given the others."""

    sensitive: str
    p: float
    share: float
    partitions: dict[str, tuple[Category, ...]]
    ranges: dict[str, Range]
    """The same partitions as `ranges` of `disclosure` takes them."""
    steps: pd.DataFrame
    """Every step: round, variable, categories, share before and after (that step's optimum)."""

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}: {len(parts)}" for name, parts in self.partitions.items())
        return f"CoordinateSearch({self.share:.1%} protected with categories {parts})"


@typed
def generalise_several(
    people: People,
    categories: Mapping[str, int],
    sensitive: str,
    *,
    smallest: int = SMALLEST,
    p: float | str = 0.0,
    known: Sequence[str] | None = None,
    order: Mapping[str, Sequence[Any]] | None = None,
    rounds: int = 20,
) -> CoordinateSearch:
    """Several variables in turn, each cut by the exact optimum given the others' present cuts.

    Every category holds at least `smallest` people.  Starts from all variables in one category
    each.  After the first round a step can only raise the share, and the search ends with the first
    round that does not: no single variable can then be cut better.

    `categories` says how many each column gets, `sensitive` is the column with the secret; `p` is
    the chance of a wrong guess that protects nobody yet; `known` names the columns the
    attacker knows. `order` lists the values of a column of texts, `rounds` is the most that are
    made.

    >>> rows = [[0, 0, 0], [1, 0, 1], [2, 1, 1], [3, 1, 0], [3, 0, 1]]
    >>> people = People.from_codes(rows, ["age", "children", "biopsy"])
    >>> generalise_several(people, {"age": 2, "children": 2}, "biopsy", smallest=1)
    CoordinateSearch(80.0% protected with categories age: 2, children: 2)
    """
    import pandas as pd

    if len(categories) < 2:
        raise UsageError(
            "categories names fewer than two variables; use best_generalisation",
            in_shell="--together is for two columns and more; --generalise takes one",
        )
    orders = order or {}
    ranges: dict[str, Range] = {
        name: dict.fromkeys(people.labels(name).tolist(), "all") for name in categories
    }
    partitions: dict[str, tuple[Category, ...]] = {}
    steps: list[dict[str, Any]] = []
    share = generalisation_effect(people, sensitive, ranges, p=p, known=known)["after"]
    for turn in range(1, rounds + 1):
        started = share
        for name, count in categories.items():
            others = {other: spec for other, spec in ranges.items() if other != name}
            best = best_generalisation(
                people,
                name,
                sensitive,
                categories=[count],
                smallest=smallest,
                p=p,
                known=known,
                order=orders.get(name),
                ranges=others,
            )
            after = float(best.table["share"][0])
            steps.append(
                {
                    "round": turn,
                    "column": name,
                    "categories": count,
                    "before": share,
                    "after": after,
                }
            )
            if turn == 1 or after > share:
                partitions[name], share = best.partition(count), after
                ranges[name] = _as_ranges(people, name, orders.get(name), partitions[name])
        if turn > 1 and share == started:
            break
    return CoordinateSearch(
        sensitive, threshold("p", p), share, partitions, ranges, pd.DataFrame(steps)
    )


def _as_ranges(
    people: People, column: str, order: Sequence[Any] | None, parts: Sequence[Category]
) -> dict[Any, str]:
    """A range for each value of the column; values that do not occur share one of their own."""
    values = ordered_values(people, column, order)
    named: dict[Any, str] = dict.fromkeys(people.labels(column).tolist(), "(does not occur)")
    for part in parts:
        first, last = values.index(part.first), values.index(part.last)
        named |= dict.fromkeys(values[first : last + 1], str(part))
    return named
