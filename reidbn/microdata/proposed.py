"""Hierarchies that are proposed for columns without one, from what their values look like.

    dates                      month, year, decade
    ages and other numbers     bands, each twice the one before (5, 10, 20 for ages)
    bands (20-29, 80+)         each with the ones next to it: two, four, ...
    codes of one length        first characters (postcodes; of numbers where the column's name says
                               so: zip, postcode, postal, plz)
    diagnoses of ICD-10        category (E11), block (E10-E14), chapter (E00-E90)
    postcodes of the UK        sector (OX12 6), district (OX12), area (OX)
    countries                  sub-region, region: names, codes of three letters, and codes of two
                               in a column whose name says country, nationality or citizenship
    other words                rare ones together: those of fewer than 10 people, then than 5 %

They are proposals: what bands mean something is for who knows the column to say.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from reidbn.aside import aside
from reidbn.calls import typed
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.microdata.classes import Ints
from reidbn.microdata.codelists import (
    ICD,
    UK_POSTCODE,
    are_countries,
    countries,
    icd_ladder,
    steps_of_uk_postcode,
)
from reidbn.microdata.hierarchy import (
    Bands,
    Hierarchy,
    Masked,
    Prefix,
    interval,
    plain_number,
)
from reidbn.microdata.ladders import Dates, Ladder, as_hierarchy
from reidbn.microdata.table import People
from reidbn.release.writing import write_text
from reidbn.written import counted

FEWEST = 4  # different values that are worth making coarser
AGES = 130
BANDS = 20  # of the narrowest ones
RARE = (10, 0.05)  # people whom a value has, and a share of all
POSTCODES = re.compile(r"(?i)zip|post.?(al|code)|plz|postleit")
"""Columns of which whole numbers are codes of places, and no amounts."""
PARTED = ("quantiles", "width")
MOST_WIDE = 1e15  # a tenth: wider bands than numbers that are told apart by ones


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
            found[name] = proposal(name, column.labels.tolist(), _counts(people, name))
    return {name: ladder for name, ladder in found.items() if ladder is not None}


@typed
def in_parts(
    people: People, column: str, parts: int | Sequence[int], *, by: str = "quantiles"
) -> Ladder:
    """A hierarchy of a column of numbers in so many parts, the finest first.

    `parts` such as [8, 4, 2], each a whole share of the one before, so that they nest.  Of `column`
    of `people`, `by` "quantiles" puts about as many people in each part (a value is never parted),
    "width" makes parts equally wide.  They end at round numbers, and the outer ones are open: no
    part is called by what a person has, but where whole numbers are neighbours (4 and 5 part at 5).

    >>> codes, ages = [[0], [1], [2], [3]], {"age": [1, 2, 3, 9]}
    >>> people = People.from_codes(codes, ["age"], labels=ages)
    >>> [in_parts(people, "age", [4, 2], by=how).up(3, 2) for how in ("quantiles", "width")]
    ['3+', '<6']
    """
    if by not in PARTED:
        raise UsageError(f'by="{by}"; {did_you_mean(by, PARTED)}')
    steps = [parts] if isinstance(parts, int) else list(parts)
    nest = all(few < many and many % few == 0 for many, few in pairwise(steps))
    if not steps or min(steps) < 2 or not nest:
        raise UsageError(
            "parts are whole numbers, each a share of the one before, such as [8, 4, 2]"
        )
    labels, counts = people.labels(column).tolist(), _counts(people, column)
    every = [(v, int(c)) for v, c in zip(labels, counts, strict=True) if v is not None]
    here = [(v, c) for v, c in every if c]  # whoever was left out moves no end
    numbers = _numbers([v for v, _ in every]) and _numbers([v for v, _ in here])
    if not numbers or min(numbers) == max(numbers):
        raise DataError(f'column "{column}" holds no different numbers; parts are of numbers')
    x, many = np.array(numbers), np.array([c for _, c in here], dtype=float)
    order = np.argsort(x, kind="stable")
    place = (x - x.min()) / (x.max() - x.min())
    if by == "quantiles":
        place[order] = (many[order].cumsum() - many[order] / 2) / max(many.sum(), 1.0)
    whole = bool((x == np.floor(x)).all())
    part = np.minimum((place * steps[0]).astype(np.int64), steps[0] - 1)
    paths: dict[str, list[str]] = {str(v): [] for v, _ in every}
    for step in steps:
        group = part // (steps[0] // step)
        ends = [(x[group == g].min(), x[group == g].max()) for g in np.unique(group)]
        cuts = [_cut(below[1], above[0], whole=whole) for below, above in pairwise(ends)]
        for value, _ in every:
            own = np.searchsorted(cuts, interval(value)[0], side="right")
            paths[str(value)].append(_part(cuts, int(own)))
    return Ladder({value: tuple(path) for value, path in paths.items()})


def _cut(below: float, above: float, *, whole: bool) -> float:
    """The roundest number near the middle that parts two values; a whole one of whole numbers."""
    middle = (below + above) / 2
    for digits in range(1, 18):
        near = float(f"{middle:.{digits}g}")
        near = math.ceil(near) if whole else near
        if below < near < above:
            return near
    return above  # of neighbours, the upper one


def _part(cuts: Sequence[float], place: int) -> str:
    """What lies between two cuts; the outer parts are open."""
    low, high = ([None, *map(plain_number, cuts), None][place + i] for i in (0, 1))
    if low is None or high is None:
        return f"<{high}" if low is None else f">={low}" if low.startswith("-") else f"{low}+"
    return f"[{low}, {high})"


@typed
def rare_together(people: People, column: str, shares: float | Sequence[float] = RARE) -> Ladder:
    """A hierarchy that joins rare values of a column as "other", level by level.

    `shares` of the `people`, or numbers of them from 2 on: values of fewer than each are one, the
    fewest first.  A single value of so few stays as it is: there is none to join it with.

    >>> people = People.from_codes([[0]] * 8 + [[1], [2]], ["c"], labels={"c": ["FR", "UK", "PE"]})
    >>> rare_together(people, "c", 0.2).up("PE", 1)
    'other'
    >>> rare_together(people, "c", 5).up("UK", 1)  # of fewer than five people
    'other'
    """
    asked = np.atleast_1d(np.asarray(shares, dtype=np.float64)).tolist()
    labels, counts = people.labels(column).tolist(), _counts(people, column)
    here = {str(v): int(c) for v, c in zip(labels, counts, strict=True) if v is not None}
    limits = _in_people(asked, here)
    known = all(0 < x < 1 or (x >= 2 and x.is_integer()) for x in asked)
    if not known or not limits or (shares is not RARE and limits != sorted(set(limits))):
        raise UsageError(
            "shares lie between 0 and 1, or are numbers of people from 2 on, the fewest first, "
            "such as [0.01, 0.05] or [10, 100]"
        )
    found = _rare_together(here, limits)
    if found is None:
        raise DataError(
            f'column "{column}" has no two values of fewer than {limits[-1]:,.10g} people each'
        )
    alone = [x for x in limits if len(_held((v for v in here if here[v] < x), here)) == 1]
    if alone:
        said = ", ".join(f"{x:,.10g}" for x in alone)
        aside(
            ("rare alone", column), 1.0,
            f'column "{column}": of fewer than {said} people is one value alone, which has none to '
            f"be joined with and stays as it is: that limit makes no level",
        )  # fmt: skip
    return found


@typed
def write_hierarchy(
    people: People, column: str, path: str | Path, *, hierarchy: Hierarchy | str | None = None
) -> Path:
    """Write the hierarchy of a column of `people` as ARX reads it: value;level 1;...;*, no header.

    `hierarchy` is one, or a rule, where the `column` has none of its own; `path` ends in .csv.  The
    file names every value that occurs, and is as restricted as the table.
    """
    ladder = people.column(column).hierarchy if hierarchy is None else as_hierarchy(hierarchy)
    if ladder is None:
        raise UsageError(f'column "{column}" has no hierarchy; give one, such as "bands:5,10"')
    if Path(path).suffix.lower() != ".csv":
        raise UsageError(f"{path}: end the name in .csv")
    if people.column(column).level:
        raise UsageError(
            f'column "{column}" was made coarser; write it of the table as it was read'
        )
    here = [v for v in people.labels(column).tolist() if v is not None]
    levels = [ladder.all_up(here, level) for level in range(ladder.levels + 1)]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(zip(*levels, strict=True))
    return write_text(text.getvalue(), path, of_people=True)


def _counts(people: People, name: str) -> Ints:
    """How many people have each value of a column."""
    codes = people.table[:, people.columns.index(name)]
    return np.bincount(codes, minlength=people.column(name).cardinality)


def steps_of(people: People, name: str, ladder: Hierarchy) -> str:
    """How many values each level of the hierarchy leaves, and what it makes of a common one."""
    every, labels = _counts(people, name), people.column(name).labels
    order = [i for i in np.argsort(-every, kind="stable") if every[i]]
    common, counts = [labels[i] for i in order], [int(every[i]) for i in order]
    before, told = ladder.all_up(common, 0), []
    for level in range(1, ladder.levels):
        after = ladder.all_up(common, level)
        shown = next((f"{a} -> {b}" for a, b in zip(before, after, strict=True) if a != b), "")
        shown = _rare(common, after, counts) or shown
        told.append(f"level {level} leaves {len({*after})}" + (f" ({shown})" if shown else ""))
        before = after
    return f"{counted(len(common), 'value')}; {', '.join([*told, f'level {ladder.levels} none'])}"


def _rare(values: Sequence[Any], after: Sequence[str], counts: Sequence[int]) -> str:
    """Of a level that joins rare values alone, how rare: all of so many people, and no others."""
    joined = [str(v) != up for v, up in zip(values, after, strict=True)]
    names = {up for up, one in zip(after, joined, strict=True) if one}
    most = max((c for c, one in zip(counts, joined, strict=True) if one), default=0)
    kept = [c for c, one in zip(counts, joined, strict=True) if not one]
    if len(names) != 1 or sum(joined) < 2 or not kept or min(kept) <= most:
        return ""
    return f"values of {counted(most, 'person')} or fewer -> {names.pop()}"


def proposal(column: str, labels: Sequence[Any], counts: Ints) -> Hierarchy | None:
    """A hierarchy for these values; None for a few, and for what is told apart by no rule.

    A level that leaves one value, as the decade does of dates of one year, says no more than the
    last, and is not proposed.
    """
    found = _by_rule(column, labels, counts)
    if found is None:
        return None
    here = [v for v, c in zip(labels, counts, strict=True) if v is not None and c]
    parts = sum(len({*found.all_up(here, i)}) > 1 for i in range(1, found.levels))
    return found if parts == found.levels - 1 else _with_levels(found, parts)


def _with_levels(ladder: Hierarchy, first: int) -> Hierarchy | None:
    """The first levels of the hierarchy, and the last; None where there are none."""
    if not first:
        return None
    if isinstance(ladder, Ladder):
        return Ladder({value: path[:first] for value, path in ladder.rungs.items()})
    if isinstance(ladder, Dates):
        return Dates(*ladder.units[:first])
    if isinstance(ladder, Bands):
        return Bands(*ladder.widths[:first], bottom=ladder.bottom, top=ladder.top)
    assert isinstance(ladder, Masked)  # noqa: S101 - no other is proposed
    return replace(ladder, keeps=ladder.keeps[:first])


def _by_rule(column: str, labels: Sequence[Any], counts: Ints) -> Hierarchy | None:
    here = [(v, int(c)) for v, c in zip(labels, counts, strict=True) if v is not None]
    values = [v for v, _ in here]
    if sum(count > 0 for _, count in here) < FEWEST:
        return None
    texts = [str(v) for v in values]
    if _are_dates(values):
        return Dates("month", "year", "decade")
    if all(ICD.fullmatch(t) for t in texts):
        return icd_ladder(texts)
    if are_countries(texts, column):
        return Ladder({t: countries()[t.casefold()] for t in texts})
    if all(UK_POSTCODE.fullmatch(t) for t in texts):
        return Ladder({t: steps_of_uk_postcode(t) for t in texts})
    numbers, length = _numbers(values), len(texts[0])
    codes = all(len(t) == length > FEWEST and re.fullmatch(r"[0-9A-Z]+", t) for t in texts)
    if codes and (numbers is None or any(t.startswith("0") for t in texts)):
        return Prefix(*range(length - 1, max(length - FEWEST, 0), -1))
    if numbers is not None and POSTCODES.search(column) and not any("." in t for t in texts):
        return _of_postcodes(texts)
    if numbers is not None:
        return _bands(numbers)
    ends = _ends(values)
    if ends is not None:
        return _with_open_ends(ends) or _neighbours(texts, ends)
    counted_here = dict(zip(texts, (c for _, c in here), strict=True))
    return _rare_together(counted_here, _in_people(RARE, counted_here))


def _of_postcodes(texts: Sequence[str]) -> Hierarchy:
    """First digits; of codes that lost the noughts before them, bands of as many values."""
    length = max(map(len, texts))
    keeps = range(length - 1, max(length - FEWEST, 0), -1)
    if all(len(t) == length for t in texts):
        return Prefix(*keeps)
    return Bands(*(10 ** (length - digits) for digits in keeps))


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
    ends = _ends(values)
    if ends is None or any(low != high for low, high in ends):
        return None
    return [low for low, _ in ends]


def _ends(values: Sequence[Any]) -> list[tuple[float, float]] | None:
    """The lowest and the highest number of each value; None where one is a word."""
    try:
        return [interval(v) for v in values]
    except DataError:
        return None


def _with_open_ends(ends: Sequence[tuple[float, float]]) -> Bands | None:
    """Bands of whole numbers of which the lowest or the highest are together already: 90+, <18."""
    numbers = [low for low, high in ends if low == high]
    low = [math.floor(end) + 1 for start, end in ends if start == -math.inf < end < math.inf]
    high = [math.ceil(start) for start, end in ends if -math.inf < start < end == math.inf]
    if len(numbers) + len(low) + len(high) < len(ends) or len(low) > 1 or len(high) > 1:
        return None
    between = all(x.is_integer() and max(low, default=x) <= x < max(high, default=math.inf)
                  for x in numbers)  # fmt: skip
    found = _bands(numbers) if between and len(numbers) > FEWEST else None
    if found is None:
        return None
    return Bands(*found.widths, bottom=low[0] if low else None, top=high[0] if high else None)


def _neighbours(texts: Sequence[str], ends: Sequence[tuple[float, float]]) -> Ladder | None:
    """Bands joined with those next to them: two, then four, ...; None where some overlap."""
    order = sorted(range(len(ends)), key=lambda i: ends[i])
    if any(ends[a][1] > ends[b][0] for a, b in pairwise(order)):
        return None
    paths: dict[str, list[str]] = {text: [] for text in texts}
    size = 2
    while (parts := len(order) // size - 1) > 0:  # what is over is of the last one
        for place, i in enumerate(order):
            part = min(place // size, parts)
            first = order[part * size]
            last = order[-1 if part == parts else part * size + size - 1]
            span = _span(ends[first][0], ends[last][1])
            paths[texts[i]].append(span or f"{texts[first]} to {texts[last]}")
        size *= 2
    return Ladder({value: tuple(path) for value, path in paths.items()})


def _span(low: float, high: float) -> str:
    """The band of whole numbers from one to another as people write it; else nothing."""
    if not all(end.is_integer() for end in (low, high) if math.isfinite(end)):
        return ""
    if math.isinf(low):
        return "" if math.isinf(high) else f"<={high:.0f}"
    return f"{low:.0f}+" if math.isinf(high) else f"{low:.0f}-{high:.0f}"


def _bands(numbers: Sequence[float]) -> Bands | None:
    low, high = min(numbers), max(numbers)
    whole = all(x.is_integer() for x in numbers)
    if whole and low >= 0 and FEWEST * 5 <= high - low <= AGES:
        return Bands(5, 10, 20)
    step = (high - low) / BANDS
    if not 0 < step < MOST_WIDE:  # one number however it is written, none that is finite, or such
        return None
    digits = math.floor(math.log10(step))
    times = next(m for m in (1, 2, 5, 10) if float(f"{m}e{digits}") >= step * (1 - 1e-9))
    if whole and float(f"{times}e{digits}") < 2:  # few whole numbers
        times, digits = 2, 0
    every = [float(f"{times * 2**i}e{digits}") for i in range(4)]  # as they are written
    widths = [w for w in every if w < high - low]
    if not widths:
        return None
    return Bands(*(int(w) if w.is_integer() else w for w in widths))


def _in_people(shares: Sequence[float], counts: Mapping[str, int]) -> list[float]:
    """Shares of people, and numbers of them, as numbers of people."""
    people = sum(counts.values())
    return [x * people if x < 1 else x for x in shares]


def _unused(values: Collection[str], level: int) -> str:
    """What joined values are called at a level; wider groups have names of their own."""
    names = chain(("other", "other values", "(other)"), (f"other ({n})" for n in count(2)))
    more = "" if level == 1 else f" (level {level})"
    return next(f"{n}{more}" for n in names if f"{n}{more}" not in values)


def _held(values: Iterable[str], counts: Mapping[str, int]) -> list[str]:
    """The values that somebody has: who was left out keeps nobody company."""
    return [value for value in values if counts[value]]


def _rare_together(counts: Mapping[str, int], limits: Sequence[float]) -> Ladder | None:
    """Values of fewer people than each limit as one; None where nothing would be joined.

    A limit that is no higher than the one before it makes no level, nor does one below which a
    single value is: "other" would be a second name of it.
    """
    paths: dict[str, list[str]] = {value: [] for value in counts}
    joined: set[str] = set()
    for limit in np.unique(np.maximum.accumulate(limits)):
        rare = {value for value, count in counts.items() if count < limit}
        if len(_held(rare, counts)) > 1 and rare != joined:
            name, joined = _unused(counts, 1 + len(next(iter(paths.values())))), rare
            for value, path in paths.items():
                path.append(name if value in rare else value)
    depth = {len(path) for path in paths.values()}.pop()
    return Ladder({v: tuple(path) for v, path in paths.items()}) if depth else None
