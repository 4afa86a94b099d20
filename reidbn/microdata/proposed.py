"""Hierarchies that are proposed for columns without one, from what their values look like.

    dates                      month, year, decade
    ages and other numbers     bands, each twice the one before (5, 10, 20 for ages)
    codes of one length        first characters (postcodes)
    diagnoses of ICD-10        category (E11), chapter (E00-E90)
    other words                rare ones together: those of fewer than 5 % of people, then 20 %

They are proposals: what bands mean something is for who knows the column to say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from reidbn.calls import typed
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.microdata.classes import Ints
from reidbn.microdata.hierarchy import Bands, Hierarchy, Prefix, interval
from reidbn.microdata.ladders import Dates, Ladder
from reidbn.microdata.table import People

FEWEST = 4  # different values that are worth making coarser
AGES = 130
BANDS = 20  # of the narrowest ones
SHARES = (0.05, 0.2)
_ICD = re.compile(r"([A-TV-Z]\d[0-9A-B])(?:\.?[0-9A-Z]{1,4})?|(U\d\d)(?:\.?\d)?")
# [WHO10] chapters I to XXII, ends included; the clinical modification ends some a little later.
_CHAPTERS = (
    ("A00", "B99"), ("C00", "D49"), ("D50", "D89"), ("E00", "E90"), ("F00", "F99"), ("G00", "G99"),
    ("H00", "H59"), ("H60", "H95"), ("I00", "I99"), ("J00", "J99"), ("K00", "K95"), ("L00", "L99"),
    ("M00", "M99"), ("N00", "N99"), ("O00", "O9B"), ("P00", "P96"), ("Q00", "Q99"), ("R00", "R99"),
    ("S00", "T98"), ("U00", "U99"), ("V00", "Y99"), ("Z00", "Z99"),
)  # fmt: skip


@typed
def propose_hierarchies(
    people: People, columns: str | Sequence[str] | None = None
) -> dict[str, Hierarchy]:
    """A hierarchy for each quasi-identifier of `people` (or these `columns`) that could use one.

    >>> people = People.from_codes([[a] for a in range(20, 60)], ["age"])
    >>> propose_hierarchies(people)
    {'age': Bands(widths=(5, 10, 20), start=0, bottom=None, top=None)}
    """
    names = people.quasi_identifiers if columns is None else columns
    names = (names,) if isinstance(names, str) else tuple(names)
    found: dict[str, Hierarchy | None] = {}
    for name in names:
        if name not in people.columns:
            raise UsageError(f'no column "{name}"; {did_you_mean(name, people.columns)}')
        column = people.column(name)
        if column.hierarchy is None:
            found[name] = proposal(column.labels.tolist(), _counts(people, name))
    return {name: ladder for name, ladder in found.items() if ladder is not None}


def _counts(people: People, name: str) -> Ints:
    """How many people have each value of a column."""
    codes = people.table[:, people.columns.index(name)]
    return np.bincount(codes, minlength=people.column(name).cardinality)


def steps_of(people: People, name: str, ladder: Hierarchy) -> str:
    """What the hierarchy makes of the column's most common value, level by level."""
    common = people.column(name).labels[int(_counts(people, name).argmax())]
    every = [ladder.all_up([common], level)[0] for level in range(ladder.levels + 1)]
    return " -> ".join(map(str, every))


def proposal(labels: Sequence[Any], counts: Ints) -> Hierarchy | None:
    """A hierarchy for these values; None for a few, and for what is told apart by no rule."""
    here = [(v, int(c)) for v, c in zip(labels, counts, strict=True) if v is not None]
    values = [v for v, _ in here]
    if sum(count > 0 for _, count in here) < FEWEST:
        return None
    texts = [str(v) for v in values]
    if _are_dates(values):
        return Dates("month", "year", "decade")
    if all(_ICD.fullmatch(t) for t in texts):
        return Ladder({t: (t[:3], _chapter(t)) for t in texts})
    numbers, length = _numbers(values), len(texts[0])
    codes = all(len(t) == length > FEWEST and re.fullmatch(r"[0-9A-Z]+", t) for t in texts)
    if codes and (numbers is None or any(t.startswith("0") for t in texts)):
        return Prefix(*range(length - 1, max(length - FEWEST, 0), -1))
    if numbers is not None:
        return _bands(numbers)
    return _rare_together(dict(zip(texts, (c for _, c in here), strict=True)))


def _are_dates(values: Sequence[Any]) -> bool:
    if not all(isinstance(v, str) and re.search(r"\d{4}", v) and re.search(r"\D", v)
               for v in values) and not all(hasattr(v, "toordinal") for v in values):  # fmt: skip
        return False
    try:
        Dates("year").all_up(list(values), 1)
    except DataError:
        return False
    return True


def _numbers(values: Sequence[Any]) -> list[float] | None:
    """The values as numbers; None where they are words, or bands already."""
    try:
        ends = [interval(v) for v in values]
    except DataError:
        return None
    return [low for low, _ in ends] if all(low == high for low, high in ends) else None


def _bands(numbers: Sequence[float]) -> Bands | None:
    low, high = min(numbers), max(numbers)
    whole = all(x.is_integer() for x in numbers)
    if whole and low >= 0 and FEWEST * 5 <= high - low <= AGES:
        return Bands(5, 10, 20)
    step = (high - low) / BANDS
    size = 10.0 ** math.floor(math.log10(step))
    width = next(m * size for m in (1, 2, 5, 10) if m * size >= step * (1 - 1e-9))
    if whole and width < 2:  # few whole numbers
        width = 2.0
    widths = [width * 2**i for i in range(4) if width * 2**i < high - low]
    if not widths:
        return None
    return Bands(*(int(w) if float(w).is_integer() else w for w in widths))


def _chapter(code: str) -> str:
    ends = [pair for pair in _CHAPTERS if pair[0] <= code[:3] <= pair[1]]
    return "-".join(ends[0]) if ends else f"{code[0]} (no chapter)"


def _rare_together(counts: dict[str, int]) -> Ladder | None:
    """Values of fewer than a share of people as one; None where nothing would be joined."""
    people = sum(counts.values())
    name = next(n for n in ("other", "other values", "(other)") if n not in counts)
    paths: dict[str, list[str]] = {value: [] for value in counts}
    for share in SHARES:
        rare = {value for value, count in counts.items() if count < share * people}
        if len(rare) > 1 and [value in rare for value in counts] != [
            bool(path) and path[-1] == name for path in paths.values()
        ]:
            for value, path in paths.items():
                path.append(name if value in rare else value)
    depth = {len(path) for path in paths.values()}.pop()
    return Ladder({v: tuple(path) for v, path in paths.items()}) if depth else None
