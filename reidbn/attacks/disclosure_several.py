"""Making several known variables coarse: each by its exact optimum given the others, in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reidbn.attacks.disclosure_generalise import (
    SMALLEST,
    Category,
    best_generalisation,
    generalisation_effect,
    ordered_values,
)
from reidbn.attacks.disclosure_knowledge import Range
from reidbn.attacks.disclosure_source import threshold
from reidbn.errors import UsageError
from reidbn.microdata.table import People

if TYPE_CHECKING:
    import pandas as pd


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

    >>> rows = [[0, 0, 0], [1, 0, 1], [2, 1, 1], [3, 1, 0], [3, 0, 1]]
    >>> people = People.from_codes(rows, ["age", "children", "biopsy"])
    >>> generalise_several(people, {"age": 2, "children": 2}, "biopsy", smallest=1)
    CoordinateSearch(80.0% protected with categories age: 2, children: 2)
    """
    import pandas as pd

    if len(categories) < 2:
        raise UsageError("categories names fewer than two variables; use best_generalisation")
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
