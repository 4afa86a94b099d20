"""What kind of value a feature of a sparse table holds, and each value as one of that kind."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from reidbn.microdata.coding import plainly
from reidbn.written import is_number

YES_NO, CATEGORY, NUMBER, YEAR, DATE, TEXT = "yes/no", "category", "number", "year", "date", "text"
KINDS = (YES_NO, CATEGORY, NUMBER, YEAR, DATE, TEXT)
_YES = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}
_DIGITS = {**_YES, "1": True, "0": False}
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?")
FORMS = {
    YES_NO: "such as yes or no", CATEGORY: "a word", TEXT: "a text", DATE: "such as 1980-01-31",
    NUMBER: "such as 1060.5, without a comma", YEAR: "a whole number such as 1981",
}  # fmt: skip
"""How values of a kind are written."""
_MANY = 50  # distinct values from which words that hardly repeat are text and no category


def kind_of(name: str, values: Sequence[Any], known: int) -> str:
    """The kind that a feature's values look like; a feature of nobody is a category."""
    if not values:
        return CATEGORY
    first = values[0]
    if isinstance(first, bool) or all(isinstance(v, str) and plainly(v) in _YES for v in values):
        return YES_NO
    if isinstance(first, int | float):
        whole = all(isinstance(v, int) and 1800 <= v <= 2200 for v in values)
        return YEAR if whole and "year" in name.lower() else NUMBER
    if isinstance(first, datetime.date):
        return DATE
    return TEXT if len(values) > _MANY and len(values) > known / 2 else CATEGORY


def _number(value: Any) -> int | float | None:
    if isinstance(value, str):  # of a frame that was read as text
        with suppress(ValueError):
            value = int(value) if value.strip().isdecimal() else float(value)
    right = is_number(value)
    return value if right and abs(value) < float("inf") else None


def _date(value: Any) -> datetime.date | None:
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    if not isinstance(value, str) or not _DAY.fullmatch(value.strip()):
        return None
    try:
        return datetime.date.fromisoformat(value.strip()[:10])
    except ValueError:
        return None


def _year(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal():  # of a frame that was read as text
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


_SETTLE: dict[str, Any] = {
    YES_NO: lambda value: _DIGITS.get(plainly(str(value))),
    CATEGORY: lambda value: value if isinstance(value, bool) else str(value),
    TEXT: str,
    NUMBER: _number,
    YEAR: _year,
    DATE: _date,
}


def are_mostly_numbers(values: Sequence[Any]) -> bool:
    """Whether half of some texts, or more, are numbers.

    >>> are_mostly_numbers(["61", "1,060", "63"]), are_mostly_numbers(["a", "63", "b"])
    (True, False)
    """
    texts = [value for value in values if isinstance(value, str)]
    return 2 * sum(_number(text) is not None for text in texts) >= max(len(texts), 1)


def settled_as(kind: str, values: Sequence[Any]) -> list[Any]:
    """Each value as one of this kind; None where it is none."""
    return [_SETTLE[kind](value) for value in values]
