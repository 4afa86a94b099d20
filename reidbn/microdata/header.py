"""Names of columns: in a file without a header these are a person's row, and not shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.microdata.coding import Raw, tidy
from reidbn.microdata.direct import LOOKED_AT
from reidbn.microdata.sources import Source, source_of

_COLUMNS = 200
_DATUM = re.compile(r"[\d\s.,:/+-]*\d[\d\s.,:/+-]*|[A-Z]\d\d\.\d\w*|[^@\s]+@[^@\s]+\.\w+")
"""A number or a date, a diagnosis (ICD-10), an e-mail address."""
_NOT = {"", "no", "n", "none", "not", "false", "0", "other", "else", "unknown", "na", "nan"}
"""What a column holds for those who are not what it is called: `asthma` holds asthma and no."""
NO_HEADER = (
    "names of columns stand among the values of their own columns: where a file has no header, "
    "these are a person's, who is then missing; write the columns' names into its first line, and "
    "call no column like one of its values"
)


def may_be_a_person(header: Sequence[str], first: Source | None = None) -> bool:
    """Whether a header may be a person's row: its names are data, or values of their columns.

    The values are looked at in the `first` rows of a source, where there are any.

    >>> may_be_a_person(["age", "zip5"]), may_be_a_person(["M", "1970-01-02"])
    (False, True)
    """
    return any(_DATUM.fullmatch(str(name)) for name in header) or has_no_header(first)


def has_no_header(table: Source | None) -> bool:
    """Whether names of columns are values of these very columns, as where a file has no header.

    >>> from reidbn.microdata.sources import source_of
    >>> has_no_header(source_of({"F": ["M", "F"], "Ohio": ["Utah", "Iowa"]}))
    True
    >>> has_no_header(source_of({"sex": ["M", "F"], "asthma": ["asthma", "no"]}))
    False
    """
    if table is None or table.head is None:
        return False
    first = table.head(LOOKED_AT)
    plain = [str(i) for i in range(len(first.header) + 1)]
    if first.header in (plain[:-1], plain[1:]):  # a frame without names: the places of its columns
        return False
    once = [name for name, times in Counter(first.header).items() if times == 1]
    raw = readable(first, once[:_COLUMNS])
    return any(_is_a_value(name, column) for name, column in raw.items())


def _is_a_value(name: str, column: Raw) -> bool:
    try:
        _, values = tidy(name, column)
    except DataError:
        return False
    found = {str(value).strip().lower() for value in values.tolist()}
    own = str(name).strip().lower()
    return own in found and bool(found - {own} - _NOT)


def readable(first: Source, names: Sequence[str]) -> dict[str, Raw]:
    """Those of the columns that can be read."""
    try:
        return first.read(names) if names else {}
    except DataError:
        half = len(names) // 2
        parts = (names[:half], names[half:]) if half else ()
        return {name: raw for part in parts for name, raw in readable(first, part).items()}


def instead_of(name: str, table: Source | Sequence[str], given: Any = None) -> str:
    """The end of a message about a column that is not there; no person's row is shown.

    Of a table that another programme has opened, `given` is where its first rows stand.
    """
    first = table if isinstance(table, Source) else first_rows(given)
    header = table.header if isinstance(table, Source) else table
    if may_be_a_person(header):
        return (
            "the header holds numbers, dates or codes; its cells must be the names of the columns"
        )
    if has_no_header(first):
        return NO_HEADER
    return did_you_mean(name, header)


def first_rows(given: Any) -> Source | None:
    """A source by which the first rows can be looked at; None of several files, or of Spark's."""
    try:
        return None if given is None else source_of(given)
    except (DataError, UsageError):
        return None


def refuse_repeated(table: Source) -> None:
    """No two columns of one name, which may be a value; where they stand is told."""
    name, times = Counter(table.header).most_common(1)[0] if table.header else ("", 0)
    if times > 1:
        places = [str(i) for i, other in enumerate(table.header, start=1) if other == name]
        which = f"columns {' and '.join(places)}"
        raise DataError(f"{table.name}: two columns have the same name: {which}; rename one")


_FACT = {"feature", "variable", "attribute", "fact", "item", "code", "concept", "measurement"}


def refuse_long(table: Source) -> None:
    """No rows of one fact each, where rows are to be people: columns of a fact's name and value."""
    words = {name.strip().casefold() for name in table.header}
    named = sorted(words & _FACT)
    if named and "value" in words and len(words) <= 4:
        raise DataError(
            f'{table.name}: the columns "{named[0]}" and "value" look as if each row were one fact '
            "of a person, and a sparse table has a row per person and a column per fact: "
            f"frame.pivot(index=..., columns={named[0]!r}, values='value').reset_index() makes it; "
            "where each row is a person, call these columns something else"
        )
