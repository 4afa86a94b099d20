"""Ladders: named values made general by a table or a tree of names.

Dates: made general as months, years, decades, or bands of days counted from a date.
"""

from __future__ import annotations

import calendar
import csv
import datetime
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from reidbn.calls import refuse_misfit, typed
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.limits import regular
from reidbn.microdata.classes import Ints
from reidbn.microdata.coding import numbers_of
from reidbn.microdata.csvfile import NOT_UTF8
from reidbn.microdata.hierarchy import ANY, Bands, Hierarchy, Prefix, Suffix
from reidbn.written import counted


@dataclass(frozen=True)
class Ladder(Hierarchy):
    """A table of values and their names at each level, as in ARX's CSV files.

    A value that is already more general than a level stays as it is there.  A number is found
    however its line writes it: 5 in the line of "5.0"; a text in its own line alone.

    >>> Ladder({"UK": ("Europe",), "FR": ("Europe",), "PE": ("Americas",)}).up("FR", 1)
    'Europe'
    >>> Ladder({"5.0": ("low",), "+7": ("high",)}).up(7, 1)
    'high'
    """

    rungs: Mapping[str, tuple[str, ...]]
    """Each exact value's names, from level 1 up."""
    _covers: dict[str, frozenset[str]] = field(init=False, repr=False, compare=False)
    _names: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.rungs:
            raise UsageError("a hierarchy of no values; list each value with its levels")
        for path in self.rungs.values():
            if not isinstance(path, tuple) or not all(isinstance(name, str) for name in path):
                refuse_misfit("Ladder", "the levels of a value", path, tuple[str, ...])
        names = dict(_as_high(self.rungs.items()))
        covers: dict[str, set[str]] = {}
        for value, path in names.items():
            for name in (value, *path):
                covers.setdefault(name, set()).add(value)
        _refuse_two_meanings(names, covers)
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_covers", {k: frozenset(v) for k, v in covers.items()})

    @property
    def levels(self) -> int:
        paths = self._names.values()
        top = len(next(iter(paths)))
        return top if top and {path[-1] for path in paths} == {ANY} else top + 1

    def climb(self, value: Any, level: int) -> str:
        text = self._known(value)
        if text in self._names:
            return self._names[text][level - 1]
        above = {self._names[leaf][level - 1] for leaf in self._covers[text]}
        return above.pop() if len(above) == 1 else text

    def is_general(self, value: Any) -> bool:
        text = self._known(value)
        return text == ANY or self._covers[text] != {text}

    def overlaps(self, values: Sequence[Any]) -> Callable[[int], Ints]:
        covers = [self._leaves_of(value) for value in values]
        over: dict[str, list[int]] = {}
        for i, leaves in enumerate(covers):
            for leaf in leaves:
                over.setdefault(leaf, []).append(i)

        def of(i: int) -> Ints:
            return np.array(sorted({j for leaf in covers[i] for j in over[leaf]}), dtype=np.int64)

        return of

    def _leaves_of(self, value: Any) -> frozenset[str]:
        text = self._known(value)
        return frozenset(self._names) if text == ANY else self._covers[text]

    def _known(self, value: Any) -> str:
        text = str(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            text = self._numbers.get(value, text)
        if text != ANY and text not in self._covers:
            raise DataError(
                "a value is in no level of the column's hierarchy; add a line for it "
                f"(the hierarchy has {len(self._names)} values)"
            )
        return text

    @cached_property
    def _numbers(self) -> dict[float, str]:
        """The value that each number is; raise where it may be another, or a group of others."""
        said, found = numbers_of(self._names), dict[float, str]()
        for text, number in said.items():
            first = found.setdefault(number, text)
            if self._names[first] != self._names[text]:
                raise DataError(
                    f'the lines "{first}" and "{text}" of the hierarchy say one number, at '
                    f"different levels; keep one of them"
                )
        groups = numbers_of(name for name in self._covers if name not in self._names)
        for group, number in groups.items():
            others = [leaf for leaf in self._covers[group] if said.get(leaf) != number]
            if number in found and others:
                raise DataError(
                    f'"{found[number]}" is a value of the hierarchy, and "{group}", which says the '
                    f"same number, the name of a group of other values; rename the group, such as "
                    f'"{group} (group)"'
                )
        return found


def _refuse_two_meanings(
    names: Mapping[str, tuple[str, ...]], covers: Mapping[str, set[str]]
) -> None:
    """A name is one thing: a value, or a group, and a group lies in one group only."""
    for name, leaves in covers.items():
        if name in names and name != ANY and leaves != {name}:
            raise UsageError(
                f'"{name}" is a value and also the name of a group of other values; rename the '
                f'group, such as "{name} (group)", or leave the line of the group out'
            )
    above: dict[str, str] = {}
    for path in names.values():
        for name, group in pairwise([*(name for name, _ in groupby(path)), ANY]):
            if name != ANY and above.setdefault(name, group) != group:
                raise UsageError(
                    f'the group "{name}" stands in two groups above it; give the two other names'
                )
    for j in range(max(map(len, names.values()))):
        at: dict[str, int] = Counter(path[j] for path in names.values())
        for name, held in at.items():
            if name != ANY and held < len(covers[name]):
                raise UsageError(
                    f'the group "{name}" has {counted(held, "value")} at level {j + 1} and '
                    f"{len(covers[name])} in all, so that a row that says it could be meant either "
                    f'way; give the smaller group another name, such as "{name} (level {j + 1})"'
                )


@typed
def Tree(branches: Mapping[str, Any] | Iterable[Any]) -> Ladder:
    """A hierarchy from nested names: `Tree({"Europe": ["UK", "FR"], "Americas": ["PE"]})`.

    `branches` are the nested names.  Where some branches have fewer levels than those beside them,
    what stands there stays as it is until the others are through.

    >>> Tree({"World": [{"Europe": ["UK", "PL"]}, "JP"]}).up("JP", 1)
    'JP'
    >>> Tree({"Europe": {"West": ["UK"], "East": ["PL"]}, "Asia": ["JP"]}).up("UK", 2)
    'Europe'
    """
    rungs: dict[str, tuple[str, ...]] = {}
    for leaf, path in _leaves(branches):
        if leaf in rungs:
            raise UsageError(
                "a value stands in two branches of the tree; put it in one (a tree names a group "
                'first, then its values: {"low": ["1", "2"], "high": ["3"]})'
            )
        rungs[leaf] = path
    return Ladder(rungs)


def _leaves(branch: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Each value and the names above it, all of them equally high."""
    if isinstance(branch, Mapping):
        inner = [(name, path) for name, below in branch.items() for path in _leaves(below)]
        return _as_high([(leaf, (*path, str(name))) for name, (leaf, path) in inner])
    single = isinstance(branch, str) or not getattr(branch, "shape", True)
    if isinstance(branch, Iterable) and not single:
        return _as_high([path for below in branch for path in _leaves(below)])
    return [(str(branch), ())]


def _as_high(paths: Collection[tuple[str, tuple[str, ...]]]) -> list[tuple[str, tuple[str, ...]]]:
    """Who has fewer levels keeps its last name, or is itself, until the others are through."""
    top = max((len(path) for _, path in paths), default=0)
    return [(leaf, (*path, *[(leaf, *path)[-1]] * (top - len(path)))) for leaf, path in paths]


@typed
def read_hierarchy(path: str | Path, *, delimiter: str | None = None) -> Ladder:
    """A hierarchy from a CSV file in ARX's format: value;level 1;level 2;..., no header.

    `path` is the file, `delimiter` what parts its cells (by default found in it).
    """
    try:
        text = regular(Path(path)).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path}: {NOT_UTF8}") from None
    except OSError as problem:
        raise DataError(f"{path}: {problem.strerror}") from None
    if delimiter is not None and len(delimiter) != 1:
        raise UsageError("delimiter is one character, such as ;")
    mark = delimiter or max(";,\t|", key=text.split("\n", 1)[0].count)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if row]
    rungs: dict[str, tuple[str, ...]] = {}
    for number, row in enumerate(rows, 1):
        cells = [cell.strip() for cell in row]
        if len(cells) != len(rows[0]):
            raise DataError(
                f"{path}: line {number} has {len(cells)} cells, line 1 has {len(rows[0])}"
            )
        if rungs.get(cells[0], tuple(cells[1:])) != tuple(cells[1:]):
            raise DataError(
                f"{path}: line {number} repeats a value with other levels; keep one line"
            )
        rungs[cells[0]] = tuple(cells[1:])
    try:
        return Ladder(rungs)
    except UsageError as problem:
        raise DataError(f"{path}: {problem}") from None


RULES: dict[str, Callable[..., Hierarchy]] = {"bands": Bands, "prefix": Prefix, "suffix": Suffix}


def of_rule(rule: str) -> Hierarchy | None:
    """The hierarchy that a rule names; None where it is the path of a file.

    >>> of_rule("bands:5,10").up(52, 2), of_rule("month,year").up("1970-01-31", 2)
    ('50-59', '1970')
    """
    kind, colon, numbers = rule.partition(":")
    if colon and kind in RULES:
        return RULES[kind](*_whole(numbers))
    named, _, how = rule.partition("@")
    if named.startswith("days:"):
        if not how:
            raise UsageError(f'"{rule}" counts days from no date; add @2020-01-06')
        return Dates(*_whole(named.removeprefix("days:")), start=how)
    units = [unit.strip() for unit in named.split(",")]
    if set(units) <= set(UNITS):
        if how and how not in ORDERS:
            raise UsageError(f'"{rule}"; after @ write {" or ".join(ORDERS)}')
        return Dates(*units, order=how or None)
    if Path(rule).is_file():
        return None
    hint = did_you_mean(kind, [*RULES, "days", *UNITS])
    raise UsageError(f'no file and no rule "{rule}"; {hint}')


def _whole(texts: str) -> list[int]:
    for text in (parts := [part.strip() for part in texts.split(",")]):
        if not text.isdigit():
            raise UsageError(f'"{text}" is not a whole number')
    return [int(text) for text in parts]


def as_hierarchy(given: Any) -> Hierarchy:
    """A hierarchy from what a caller writes: one, a rule, a path of a CSV file, or nested names."""
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, str):
        return of_rule(given.strip()) or read_hierarchy(given)
    if isinstance(given, Path):
        return read_hierarchy(given)
    if isinstance(given, Mapping):
        return Tree(given)
    raise UsageError(
        "a hierarchy is Bands, Dates, Prefix, Suffix, Tree, Ladder or the path of a CSV file"
    )


# -- dates -----------------------------------------------------------------------------------------


MONTHS = 12
UNITS = ("month", "year", "decade")
ORDERS = ("day-first", "month-first")
Span = tuple[int, int]  # first and last day, as ordinals
EVER: Span = (0, datetime.date.max.toordinal() + 1)


@dataclass(frozen=True)
class Dates(Hierarchy):
    """Dates by calendar, `Dates("month", "year", "decade")`, or by days from a start.

    `Dates(7, 28, start="2020-01-06")` makes weeks and four weeks counted from that Monday.  Dates
    are read as 1970-01-31, 31.01.1970, 31 Jan 1970, 31/01/1970, and, more general, 1970-01, 1970
    and 1970s; `order` is "day-first" or "month-first" where 01/02/1970 could be either and no
    other value of the column (13/02/1970) settles it.

    >>> [Dates("month", "year", "decade").up("1970-01-31", level) for level in range(5)]
    ['1970-01-31', '1970-01', '1970', '1970s', '*']
    >>> Dates(7, start="2020-01-06").up("2020-01-15", 1)
    '2020-01-13 to 2020-01-19'
    """

    units: tuple[str | int, ...]
    start: datetime.date | None
    order: str | None

    def __init__(
        self,
        *units: str | int,
        start: str | datetime.date | None = None,
        order: str | None = None,
    ) -> None:
        refuse_misfit("Dates", "order", order, str | None)
        if order is not None and order not in ORDERS:
            raise UsageError(f'order="{order}"; {did_you_mean(order, ORDERS)}')
        days = [u for u in units if isinstance(u, int | np.integer) and not isinstance(u, bool)]
        named = [UNITS.index(str(u)) for u in units if u in UNITS]
        if not units or len(units) not in (len(days), len(named)):
            raise UsageError(
                f"dates at levels {units}; give {', '.join(UNITS)}, or numbers of days with start="
            )
        if named != sorted(set(named)):
            raise UsageError(f"dates at levels {units}; each level must be coarser, as month, year")
        if days:
            Bands(*days)  # widths above 0 that nest
        if bool(days) != (start is not None):
            raise UsageError('numbers of days need start="YYYY-MM-DD", and only they take it')
        object.__setattr__(self, "units", units)
        object.__setattr__(self, "start", None if start is None else _day(start))
        object.__setattr__(self, "order", order)

    @property
    def levels(self) -> int:
        return len(self.units) + 1

    def all_up(self, values: Sequence[Any], level: int) -> list[Any]:
        """All values of a column at a level, in the order that the column settles."""
        return Hierarchy.all_up(self._settled(values), values, level)

    def _settled(self, values: Sequence[Any]) -> Dates:
        """In the order of the values that have one reading, if all of these have the same."""
        if self.order is not None:
            return self
        orders = {order for v in values if isinstance(v, str) and (order := _order_of(v.strip()))}
        if len(orders) != 1:
            return self
        return Dates(*self.units, start=self.start, order=orders.pop())

    def climb(self, value: Any, level: int) -> str:
        unit = self.units[level - 1]
        spans = self.spans(value)
        groups = {self._group(first, unit) for first, _ in spans}
        if any(last > self._last(first, unit) for first, last in spans):
            return str(value)  # more general than the level
        if len(groups) > 1:
            raise _unclear()
        return groups.pop()

    def _group(self, day: int, unit: str | int) -> str:
        date = datetime.date.fromordinal(max(day, 1))
        if unit == "month":
            return f"{date.year:04}-{date.month:02}"
        if unit == "year":
            return f"{date.year:04}"
        if unit == "decade":
            return f"{date.year // 10 * 10:04}s"
        last = self._last(day, unit)
        first = last - int(unit) + 1
        if first == last:
            return date.isoformat()
        return " to ".join(datetime.date.fromordinal(d).isoformat() for d in (first, last))

    def _last(self, day: int, unit: str | int) -> int:
        """The last day of the group that a day is in."""
        date = datetime.date.fromordinal(max(day, 1))
        if unit == "month":
            return date.replace(day=calendar.monthrange(date.year, date.month)[1]).toordinal()
        if unit == "year":
            return datetime.date(date.year, 12, 31).toordinal()
        if unit == "decade":
            return datetime.date(date.year // 10 * 10 + 9, 12, 31).toordinal()
        start = 0 if self.start is None else self.start.toordinal()
        return day + int(unit) - 1 - (day - start) % int(unit)

    def is_general(self, value: Any) -> bool:
        return any(first < last for first, last in self.spans(value))

    def overlaps(self, values: Sequence[Any]) -> Callable[[int], Ints]:
        settled = self._settled(values)
        spans = [settled.spans(value) for value in values]

        def of(i: int) -> Ints:
            if any(len(both) > 1 for both in spans):
                raise _unclear()
            low, high = np.array([both[0] for both in spans], dtype=np.int64).reshape(-1, 2).T
            return np.flatnonzero((low <= high[i]) & (high >= low[i]))

        return of

    def spans(self, value: Any) -> list[Span]:
        """The days that a value covers; two readings where day and month could be exchanged."""
        if isinstance(value, datetime.date):
            return [(value.toordinal(), value.toordinal())]
        text = re.sub(r"(?<=\d)[ T]\d{1,2}:\d\d.*$", "", str(value).strip())
        if text == ANY:
            return [EVER]
        try:
            found = _general(text) or _exact(text, self.order)
        except ValueError:  # such as 31 February
            found = []
        if not found:
            raise DataError(
                "a value is no date; write dates as YYYY-MM-DD, and what is more general as "
                "YYYY-MM, YYYY, 1970s or *"
            )
        return found


def _day(given: str | datetime.date) -> datetime.date:
    try:
        return given if isinstance(given, datetime.date) else datetime.date.fromisoformat(given)
    except (TypeError, ValueError):
        raise UsageError(f'start="{given}" is no date; write it as YYYY-MM-DD') from None


def _order_of(text: str) -> str | None:
    """Which number is the month, where only one of the two can be."""
    found = re.match(r"(\d{1,2})([-/])(\d{1,2})\2\d{4}\b", text)
    if found is None or (int(found[1]) > MONTHS) == (int(found[3]) > MONTHS):
        return None
    return "day-first" if int(found[1]) > MONTHS else "month-first"


def _unclear() -> DataError:
    return DataError(
        "a date such as 01/02/YYYY may be read day first or month first; say which: "
        'Dates(..., order="day-first") or order="month-first"'
    )


def _general(text: str) -> list[Span]:
    """The days of a decade, a year, a month, or from a date to another."""
    if found := re.fullmatch(r"([12]\d\d)0s", text):
        first = datetime.date(int(found[1]) * 10, 1, 1)
        return [(first.toordinal(), datetime.date(first.year + 9, 12, 31).toordinal())]
    if re.fullmatch(r"[12]\d{3}", text):
        year = int(text)
        return [(datetime.date(year, 1, 1).toordinal(), datetime.date(year, 12, 31).toordinal())]
    if found := re.fullmatch(r"([12]\d{3})[-/](\d{1,2})", text):
        year, month = int(found[1]), int(found[2])
        last = calendar.monthrange(year, month)[1] if 1 <= month <= 12 else 0
        first, end = datetime.date(year, month, 1), datetime.date(year, month, max(last, 1))
        return [(first.toordinal(), end.toordinal())]
    if found := re.fullmatch(r"(\d{4}-\d\d-\d\d) to (\d{4}-\d\d-\d\d)", text):
        first, end = (datetime.date.fromisoformat(part) for part in found.groups())
        return [(first.toordinal(), end.toordinal())] if first <= end else []
    return []


def _exact(text: str, order: str | None) -> list[Span]:
    """One day; two where nothing says which number is the month."""
    if found := re.fullmatch(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})", text):
        days = [datetime.date(int(found[1]), int(found[3]), int(found[4]))]
    elif found := re.fullmatch(r"(\d{1,2})[ -]?([A-Za-z]{3,9})[ -]?(\d{4})", text):
        month = _MONTHS.get(found[2][:3].lower(), 0)
        days = [datetime.date(int(found[3]), month, int(found[1]))]
    elif found := re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", text):
        days = [datetime.date(int(found[3]), int(found[2]), int(found[1]))]
    elif found := re.fullmatch(r"(\d{1,2})([-/])(\d{1,2})\2(\d{4})", text):
        one, two, year = int(found[1]), int(found[3]), int(found[4])
        pairs = {(one, two), (two, one)} if order is None else {(one, two)}
        if order == "month-first":
            pairs = {(two, one)}
        days = [datetime.date(year, m, d) for d, m in sorted(pairs) if m <= 12]
    else:
        return []
    return [(day.toordinal(), day.toordinal()) for day in days]


_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: month for month, name in enumerate(_NAMES, 1)}
