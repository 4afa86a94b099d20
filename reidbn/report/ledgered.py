"""Reports with a ledger: a table few people apart from a released one prints the same numbers."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import ReidbnWarning, UsageError
from reidbn.release.counts import BASE, Alike
from reidbn.release.ledger import Columns, Ledger, Released, opened
from reidbn.release.proof import Marked, cells, promised, protections
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
    told: Sequence[Alike],
    texts: Callable[[], tuple[dict[str, str], int, tuple[int, int]]],
    cells: NDArray[np.int64] | None = None,
) -> str:
    """The text of a report as a ledger lets it out; what is new is kept there.

    told: the classes in which its people are counted; cells: of a page, the cell of each.  texts:
    the report by the ending of its file, how it stands (Released), and of how large classes its
    verdict says that nobody, and that somebody, is in one.
    """
    table = result.table
    if table is None or not len(table):
        raise UsageError("a ledger is of tables of people, and this result has none")
    asked, made = _asked(result, options), result.made_from
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
        if ledger.shares_people(columns, [entry for _, entry in near]):
            raise UsageError(
                "a table with other columns or values was released with this ledger that may be of "
                "the same people, or of all but a few: nothing proves that the two reports "
                "together keep what each of them does. Ask of the table that was released first"
            )
        before = [entry for _, entry in near]
        classes = _counted(told, cells, ledger, columns, before, made.get("rows_fingerprint"))
        printed, standing, verdict = texts()
        if told:
            refuse_between(told[0], {verdict, *((e.verdict[0], e.verdict[1]) for e in before)})
        ledger.add(
            columns, Released(named, mine.to_text(), asked, standing, printed, {}, classes, verdict)
        )
        return printed[kind]


def _counted(
    told: Sequence[Alike], cells: NDArray[np.int64] | None, ledger: Ledger, columns: Columns,
    before: Sequence[Released], rows: str | None,
) -> list[str]:  # fmt: skip
    """By which classes people are counted; raises where this very table was told by others.

    rows: of which people alone, as a digest.  Counts of some and of others, or of all, would be
    of parts of each other.

    Reports that count by the same classes tell the same counts of these, and so are one report with
    several verdicts; classes of other columns or levels lie in each other, and of these 152 of
    1,287 marked cells lose a number (all tables of 10 to 19 people, benchmarks.attacker_nested).
    """
    mine = ledger.classes(columns, [part.sizes for part in told])
    if cells is not None:
        mine = [f"{_CELLS}{word}" for word in ledger.classes(columns, [cells])]
    some = [] if rows is None else [f"{_SOME}{rows}"]
    words = {word for entry in before for word in entry.classes}
    if before and {*some} != {word for word in words if word.startswith(_SOME)}:
        raise UsageError(
            "of this very table other individuals were released with this ledger: counts of these "
            "and of those, or of all, lie in each other. Ask it of those who were released"
        )
    pages = {word for word in words if word.startswith(_CELLS)}
    if before and not {*mine} <= words and (pages or cells is not None):
        raise UsageError(
            "this very table was released with this ledger: a page in which people stand as cells "
            "counts them in another way than a report or another page, and nothing proves that "
            "the two together keep what each of them does. Let out one of them, or the same page "
            "again"
        )
    if before and not {*mine} <= words:
        raise UsageError(
            "this very table was released with this ledger by other columns or levels, or before "
            "a ledger kept by which: counts of people alike on these and on those lie in each "
            "other, and a reader of both could make more of a suppressed one. Ask it of the "
            "columns and levels that were released"
        )
    return mine + some


_SOME, _CELLS = "individuals ", "cells "


def refuse_between(classes: Alike, verdicts: set[tuple[int, int]]) -> None:
    """Raise where several verdicts leave one number of a marked cell, or less than they say."""
    if len(verdicts) < 2:
        return
    both = replace(
        classes,
        nobody=max(nobody for nobody, _ in verdicts),
        somebody=min((s for _, s in verdicts if s), default=0),
    )
    each = [replace(classes, nobody=n, somebody=s) for n, s in verdicts]
    given = any(
        _is_one(cell, both) and not any(_is_one(cell, one) for one in each) for cell in cells(both)
    )
    if given or not all(part.is_kept for part in protections(both)):
        raise UsageError(
            "this table was released with this ledger under another threshold, and the verdicts "
            "together would tell how many people stand in small classes. Ask it with the "
            "threshold that was released"
        )


def _is_one(cell: Marked, classes: Alike) -> bool:
    least, most = promised(cell, classes)
    return least == most


def _again(kind: str, apart: int, entry: Released, texts: Any) -> str:
    """What was printed of the first table; not where that looks better than this one is."""
    if entry.standing and texts()[1] < entry.standing:
        which = f"is {counted(apart, 'person')} apart from one that" if apart else "is one that"
        what = "passed" if entry.standing > 1 else "was not said to fail"
        raise UsageError(
            f"this table {which} was released with this ledger and {what}, and does not pass "
            f"itself: its own report would tell of the people between, and that of the other "
            f"would be wrong. Make the table coarser (generalise=, suppress=), or write the "
            f"custodian's own copy"
        )
    if apart:
        warnings.warn(
            f"the table is {counted(apart, 'person')} apart from one in the ledger (fewer than "
            f"{BASE}): the report has the numbers that were printed of that one",
            ReidbnWarning,
            stacklevel=4,
        )
    return entry.text(kind)


def _columns(table: People) -> Columns:
    """The records of a table as it was read: what a table is in its release may differ by level."""
    table = table.as_read
    return [
        (name, [None if v is None else str(v) for v in table.labels(name)],
         table.codes([name])[:, 0])
        for name in table.columns
    ]  # fmt: skip


def _asked(result: Result, options: Mapping[str, Any]) -> str:
    """A digest of what was asked, and of nothing that was found."""
    rest = {
        k: _worded(v)
        for k, v in options.items()
        if k not in ("custodian", "title") and v not in (None, {})
    }
    text = json.dumps([*_of(result), rest], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _of(result: Result) -> list[Any]:
    """What a result was asked."""
    made = result.made_from
    about = {k: v for k, v in made.items() if k not in OF_THE_TABLE or k == "population"}
    question = None if "scenario" in made else str(result.question)  # of suppressed, too
    return [result.kind, result.about, question, about]


def _worded(option: Any) -> Any:
    """An option of a report: results beside it by what they were asked, under their names."""
    from reidbn.result import Result

    if isinstance(option, Result):
        return _of(option)
    if isinstance(option, Mapping):
        return {str(k): _worded(v) for k, v in option.items()}
    return str(option)
