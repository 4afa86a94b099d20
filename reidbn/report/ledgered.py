"""Reports with a ledger: a table few people apart from a released one prints the same numbers."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from reidbn.errors import ReidbnWarning, UsageError
from reidbn.release.counts import BASE
from reidbn.release.ledger import Columns, Ledger, Released, opened
from reidbn.report.telling import OF_THE_TABLE
from reidbn.written import counted

if TYPE_CHECKING:
    from reidbn.microdata.table import People
    from reidbn.result import Result


def released(
    path: str | os.PathLike[str],
    kind: str,
    result: Result,
    options: Mapping[str, Any],
    texts: Callable[[], tuple[dict[str, str], bool]],
) -> str:
    """The text of a report as a ledger lets it out; what is new is kept there.

    texts: the report by the ending of its file, and whether it is green.
    """
    table = result.table
    if table is None or not len(table):
        raise UsageError("a ledger is of tables of people, and this result has none")
    asked = _asked(result, options)
    with opened(path) as ledger:
        columns = _columns(table)
        near, mine, named = ledger.near(columns)
        same = [found for found in near if found[1].asked == asked]
        if same:
            apart, entry = min(same, key=itemgetter(0))
            return _again(kind, apart, entry, texts)
        nearest = min((found[0] for found in near), default=0)
        if nearest:
            raise UsageError(
                f"this table is {counted(nearest, 'person')} apart from one that was released with "
                f"this ledger, and nothing like this was asked of that one: a report would tell "
                f"of the people between. Ask this of the table that was released first, or ask "
                f"what was asked of it, which prints its numbers again"
            )
        return _first(kind, ledger, (mine, named, asked), texts)


def _first(kind: str, ledger: Ledger, marks: Any, texts: Any) -> str:
    mine, named, asked = marks
    printed, is_green = texts()
    ledger.add(mine, named, asked, printed, is_green=is_green)
    return str(printed[kind])


def _again(kind: str, apart: int, entry: Released, texts: Any) -> str:
    """What was printed of the first table; not where that would be green and this one is not."""
    if apart:
        if entry.is_green and not texts()[1]:
            raise UsageError(
                f"this table is {counted(apart, 'person')} apart from one that was released with "
                f"this ledger and passed, and does not pass itself: its own report would tell of "
                f"the people between, and that of the other would be wrong. Make the table coarser "
                f"(generalise=, suppress=), or write the custodian's own copy"
            )
        warnings.warn(
            f"the table is {counted(apart, 'person')} apart from one in the ledger (fewer than "
            f"{BASE}): the report has the numbers that were printed of that one",
            ReidbnWarning,
            stacklevel=4,
        )
    return entry.text(kind)


def _columns(table: People) -> Columns:
    """The records of a table as it was read: what a table is in its release may differ by level."""
    return [
        (name, [None if v is None else str(v) for v in table.labels(name)],
         table.codes([name])[:, 0])
        for name in table.columns
    ]  # fmt: skip


def _asked(result: Result, options: Mapping[str, Any]) -> str:
    """A digest of what was asked, and of nothing that was found."""
    about = {k: v for k, v in result.made_from.items() if k not in OF_THE_TABLE}
    inputs = getattr(result, "inputs", None)
    if inputs is not None:
        about["population"] = inputs.population
    question = None if inputs is not None else str(result.question)
    rest = {
        k: sorted(map(str, v)) if isinstance(v, Mapping) and k != "context" else str(v)
        for k, v in options.items()
        if k not in ("custodian", "title") and v not in (None, {})
    }
    text = json.dumps([result.kind, result.about, question, about, rest], sort_keys=True,
                      default=str)  # fmt: skip
    return hashlib.sha256(text.encode()).hexdigest()
