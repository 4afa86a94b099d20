"""Ladders: named values made general by a table or a tree of names."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from reidbn.errors import DataError, UsageError
from reidbn.microdata.classes import Ints
from reidbn.microdata.csvfile import NOT_UTF8
from reidbn.microdata.hierarchy import ANY, Hierarchy


@dataclass(frozen=True)
class Ladder(Hierarchy):
    """A table of values and their names at each level, as in ARX's CSV files.

    A value that is already more general than a level stays as it is there.

    >>> Ladder({"UK": ("Europe",), "FR": ("Europe",), "PE": ("Americas",)}).up("FR", 1)
    'Europe'
    """

    rungs: Mapping[str, tuple[str, ...]]
    """Each exact value's names, from level 1 up."""
    _covers: dict[str, frozenset[str]] = field(init=False, repr=False, compare=False)
    _names: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.rungs:
            raise UsageError("a hierarchy of no values; list each value with its levels")
        top = max(len(names) for names in self.rungs.values())
        names = {
            value: (*path, *[path[-1] if path else value] * (top - len(path)))
            for value, path in self.rungs.items()
        }
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
        if text != ANY and text not in self._covers:
            raise DataError(
                "a value is in no level of the column's hierarchy; add a line for it "
                f"(the hierarchy has {len(self._names)} values)"
            )
        return text


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


def Tree(branches: Mapping[str, Any] | Iterable[Any]) -> Ladder:
    """A hierarchy from nested names: `Tree({"Europe": ["UK", "FR"], "Americas": ["PE"]})`.

    >>> Tree({"Europe": {"West": ["UK"], "East": ["PL"]}, "Asia": ["JP"]}).up("UK", 2)
    'Europe'
    """
    rungs: dict[str, tuple[str, ...]] = {}
    for leaf, path in _leaves(branches, ()):
        if leaf in rungs:
            raise UsageError("a value stands in two branches of the tree; put it in one")
        rungs[leaf] = path
    return Ladder(rungs)


def _leaves(branch: Any, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(branch, Mapping):
        for name, inner in branch.items():
            yield from _leaves(inner, (str(name), *above))
    elif isinstance(branch, Iterable) and not isinstance(branch, str):
        for inner in branch:
            yield from _leaves(inner, above)
    else:
        yield str(branch), above


def read_hierarchy(path: str | Path, *, delimiter: str | None = None) -> Ladder:
    """A hierarchy from a CSV file in ARX's format: value;level 1;level 2;..., no header."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path}: {NOT_UTF8}") from None
    except OSError as problem:
        raise DataError(f"{path}: {problem.strerror}") from None
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


def as_hierarchy(given: Any) -> Hierarchy:
    """A hierarchy from what a caller writes: one, a path of a CSV file, or nested names."""
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, str | Path):
        return read_hierarchy(given)
    if isinstance(given, Mapping):
        return Tree(given)
    raise UsageError(
        "a hierarchy is Bands, Dates, Prefix, Suffix, Tree, Ladder or the path of a CSV file"
    )
