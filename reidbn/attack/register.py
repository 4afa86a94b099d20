"""Tables of facts: CSV files beside a scenario, with what stands in them by key.

A register of your own as a scenario: a table of chances, by any columns.

One row per kind of person.  The column `listed` is the chance to be on the register; `shows age` is
the chance that the register shows the age of somebody who is on it; every other column is a key, a
value that the person's own must equal.  A key `age from` holds the lower edges of bands.

    # Population register of the canton, as of 2024; reading room, visited in May
    region,age from,listed,shows age,shows sex
    north,0,0,1,1
    north,18,0.97,1,1
    south,0,0,0,1
    south,18,0.91,0,1
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reidbn.attack.assumptions import ASSUMPTION
from reidbn.attack.scenario import Chance, FactLookup, Known, Knows, Listed, Scenario
from reidbn.calls import refuse_misfit, typed
from reidbn.errors import ModelError, UsageError
from reidbn.limits import regular

_SEP = re.compile(r"sep=(.)", re.I)
_FRACTION = re.compile(r"\s*[-+]?(?:0,\d+|\d+,(?!\d{3}\s*$)\d+)\s*")  # 1,234 may be a thousand


def read_facts(path: Path) -> dict[str, list[Any]]:
    """A table of facts by column; lines that start with # are its sources.

    As Excel writes it, too: with semicolons, decimal commas, a line sep=; and empty rows.
    """
    try:
        text = regular(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(f"{path.name} is not written in UTF-8; save it as CSV UTF-8") from None
    lines = [x for x in text.splitlines() if x.strip() and not x.lstrip('"').startswith("#")]
    said = _SEP.fullmatch(lines[0].strip(' "')) if lines else None
    lines = lines[1:] if said else lines
    mark = said[1] if said else max(",;\t", key=lines[0].count) if lines else ","
    rows = [row for row in csv.reader(lines, delimiter=mark) if any(x.strip() for x in row)]
    if mark != ",":
        rows = [[x.replace(",", ".") if _FRACTION.fullmatch(x) else x for x in r] for r in rows]
    if len(rows) < 2:
        raise ModelError(f"{path.name} holds no rows")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise ModelError(
                f"{path.name}: row {number} has {len(row)} cells for {len(rows[0])} columns"
            )
    names = [name.strip() for name in rows[0]]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f'{path.name} has two columns "{name}"; give each its own name')
    return {name: [row[j] for row in rows[1:]] for j, name in enumerate(names)}


def values_by_key(
    table: Mapping[str, Sequence[object]], column: str, by: Sequence[str], name: str
) -> dict[tuple[str, ...], float]:
    """A column of a table of facts by its keys, which are compared as text; each stands once.

    >>> values_by_key({"state": ["AL", "AK"], "p": ["0.5", 1]}, "p", ["state"], "lists")
    {('al',): 0.5, ('ak',): 1.0}
    """
    found: dict[tuple[str, ...], float] = {}
    for row, value in enumerate(table[column], start=1):
        key = tuple(as_key(table[c][row - 1]) for c in by)
        if key in found:
            raise ModelError(
                f"{name}: row {row} repeats the {' x '.join(by)} of an earlier row, and it is not "
                f"known which of the two holds; keep one, or look {column} up by more columns"
            )
        try:
            found[key] = float(str(value))
        except ValueError:
            found[key] = float("nan")
        if not abs(found[key]) < float("inf"):
            raise ModelError(f"{name}: {column} of row {row} is not a number")
    return found


def as_key(value: object) -> str:
    """How a value stands in a table of facts: as text, whole numbers without a fraction.

    A blank cell of a table is a blank of the facts.
    """
    if value is None or value != value:  # NaN alone differs from itself
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().casefold()


# -- a register of your own as a scenario ----------------------------------------------------------


REGISTER = "register"
LISTED, SHOWS, FROM = "listed", "shows ", " from"
FORM = (
    "a column listed (the chance to be on it), columns such as shows age (the chance that it shows "
    "the age), and the columns to look these up by"
)


@typed
def register(table: Any, *, source: str = "") -> Scenario:
    """The scenario of a register whose chances stand in a CSV file, a dict or a data frame.

    All attributes meet the register as one event; `.shared(together=False)` lets each meet it on
    its own.

    `table` has a column for each attribute and the chances; `source` says where they are from.

    >>> own = register({"listed": [0.9], "shows age": [1], "shows sex": [0.5]}, source="visited")
    >>> [known.name for known in own.knows.known]
    ['age', 'sex']
    """
    refuse_misfit("register", "source", source, str)
    if isinstance(table, str | os.PathLike):
        columns, name, written = _read(Path(table))
    else:
        columns, name, written = _columns(table), REGISTER, ""
    source = source or written or f"{ASSUMPTION}: {name} does not say where its numbers come from"
    shown = [c for c in columns if c.startswith(SHOWS) and c[len(SHOWS) :].strip()]
    if LISTED not in columns or not shown:
        lacks = (
            f'no column "{LISTED}"'
            if LISTED not in columns
            else f'no column that starts with "{SHOWS}"'
        )
        raise ModelError(f"{name} is no register: it needs {FORM}; it has {lacks}")
    keys = [c for c in columns if c != LISTED and c not in shown]
    columns = {**columns, **{c: _edges(columns[c], c, name) for c in keys if c.endswith(FROM)}}
    _check(columns, keys, [LISTED, *shown], name)
    known = tuple(
        Known(
            column[len(SHOWS) :].strip(),
            (column[len(SHOWS) :].strip(),),
            _chance(column, keys, columns),
            source=source,
            optional=True,
        )
        for column in shown
    )
    parent = Listed(LISTED, _chance(LISTED, keys, columns), shared=True, source=source)
    return Scenario(
        REGISTER,
        title=f"A register: {name}",
        story="Whoever is on the register can be looked up there, with what it shows.",
        source=source,
        knows=Knows(known, parent),
        facts={REGISTER: columns} if keys else {},
    )


def _read(path: Path) -> tuple[dict[str, list[Any]], str, str]:
    """The table of a file, the file's name, and what its lines that start with # say."""
    try:
        columns = read_facts(path)
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read: {problem.strerror}") from None
    notes = [line.lstrip('"') for line in lines]
    said = " ".join(x.lstrip("# ").rstrip('"; \t,') for x in notes if x.startswith("#"))
    return columns, path.name, said


def _columns(table: Any) -> dict[str, list[Any]]:
    """The columns of a dict or of a data frame."""
    if hasattr(table, "to_dict") and not isinstance(table, Mapping):
        table = table.to_dict("list")
    if not isinstance(table, Mapping) or not all(
        isinstance(values, Sequence) and not isinstance(values, str) for values in table.values()
    ):
        raise UsageError(
            f"a register is a CSV file, a dict of columns or a data frame, with {FORM}"
        )
    columns = {str(name): list(values) for name, values in table.items()}
    if len({len(values) for values in columns.values()}) != 1 or not next(iter(columns.values())):
        raise UsageError("the columns of a register need one length, of at least one row")
    return columns


def _edges(values: Sequence[Any], column: str, name: str) -> list[float | None]:
    """The lower edges of bands; None where the row is about a blank."""
    try:
        return [float(str(value)) if as_key(value) else None for value in values]
    except ValueError:
        raise ModelError(
            f'{name}: "{column}" holds lower edges of bands; one is no number'
        ) from None


def _check(
    columns: Mapping[str, Sequence[Any]], keys: Sequence[str], chances: Sequence[str], name: str
) -> None:
    if not keys and len(columns[LISTED]) > 1:
        raise ModelError(f"{name} has several rows and no column to look them up by")
    for column in chances:
        for value in values_by_key(columns, column, keys, name).values():
            if not 0 <= value <= 1:
                raise ModelError(f'{name}: "{column}" has {value:g}; a chance is from 0 to 1')


def _chance(column: str, keys: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> Chance:
    if not keys:
        return (float(str(columns[column][0])),)
    bands = {
        key: tuple(sorted({edge for edge in columns[key] if edge is not None}))
        for key in keys
        if key.endswith(FROM)
    }
    by = tuple(key.removesuffix(FROM) for key in keys)
    return (FactLookup(REGISTER, column, by, bands=bands, keys=tuple(keys)),)


def is_register(name: str) -> bool:
    """Whether a scenario's name asks for a register: "register", or "register:FILE"."""
    return name == REGISTER or name.startswith(f"{REGISTER}:")


def named_register(name: str) -> Scenario:
    """The register of "register:FILE"."""
    path = name.partition(":")[2]
    if not path:
        raise UsageError(
            f'a register is a table of your own: scenario="register:chances.csv", or '
            f"rb.attack.register(table); it needs {FORM}",
            in_shell=f"a register is a table of your own: --scenario register:chances.csv; it "
            f"needs {FORM}",
        )
    return register(path)
