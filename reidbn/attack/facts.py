"""Tables of facts: CSV files beside a scenario, with what stands in them by key."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reidbn.errors import ModelError

_SEP = re.compile(r"sep=(.)", re.I)
_FRACTION = re.compile(r"\s*[-+]?(?:0,\d+|\d+,(?!\d{3}\s*$)\d+)\s*")  # 1,234 may be a thousand


def read_facts(path: Path) -> dict[str, list[Any]]:
    """A table of facts by column; lines that start with # are its sources.

    As Excel writes it, too: with semicolons, decimal commas, a line sep=; and empty rows.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
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
