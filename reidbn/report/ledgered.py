"""Reports with a ledger: a table few people apart from a released one prints the same numbers."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from reidbn.differing import OF_THE_TABLE
from reidbn.errors import ReidbnWarning, UsageError
from reidbn.release.counts import BASE, Alike
from reidbn.release.ledger import Released, opened
from reidbn.release.marks import Columns
from reidbn.release.proof import Marked, cells, promised, protections
from reidbn.report.telling import Telling
from reidbn.written import counted

if TYPE_CHECKING:
    from reidbn.microdata.table import People
    from reidbn.result import Result

Texts = tuple[dict[str, str], int, tuple[int, int], str]


def released(
    path: str | os.PathLike[str],
    kind: str,
    result: Result,
    options: Mapping[str, Any],
    telling: Telling,
    texts: Callable[[], Texts],
) -> str:
    """The text of a report as a ledger lets it out; what is new is kept there.

    texts: the report by the ending of its file, how it stands (Released), of how large classes
    its verdict says that nobody, and that somebody, is in one, and a digest of all that it tells of
    people: the same numbers may leave once more under another title or for another recipient.
    """
    table = result.table
    if table is None or not len(table):
        raise UsageError("a ledger is of tables of people, and this result has none")
    asked, told = _asked(result, options), telling.classes
    # a verdict is on the columns that were looked at, and names the others of its file
    stated = digest([*(options.get(name) or None for name in _STATED), *sorted(table.others.names)])
    with opened(path) as ledger:
        # whoever has no secret is not asked about, and of the table that is released all the same
        asked_about = _columns(table)
        given = result.table_given
        whole = [] if given is None or len(given) == len(table) else [_columns(given)]
        tables = [(each, *ledger.near(each)) for each in (*whole, asked_about)]
        every_one = [found for _, every, *_ in tables for found in every]
        near = [found for found in every_one if found[0] < BASE]
        same = [found for found in near if found[1].asked == asked]
        if same:
            for_it = [found for found in same if found[1].stated in ("", stated)]
            apart, entry = min(for_it or same, key=itemgetter(0))
            if for_it:
                return _again(kind, apart, entry, texts)
            printed = _restated(apart, entry, texts)
            ledger.add(tables[0][0], replace(entry, printed=printed, stated=stated))
            return printed[kind]
        nearest = min((found[0] for found in near), default=0)
        if nearest:
            raise _refused(
                f"this table is {counted(nearest, 'person')} apart from one that was released with "
                f"this ledger, and nothing like this was asked of that one: a report would tell "
                f"of the people between. Ask this of the table that was released first, or ask "
                f"what was asked of it, which prints its numbers again."
            )
        before = [entry for _, entry in near]
        if any(ledger.shares_people(each, before) for each, *_ in tables):
            raise _refused(
                "a table with other columns or values was released with this ledger that may be of "
                "the same people, or of all but a few: nothing proves that the two reports "
                "together keep what each of them does. Ask of the table that was released first."
            )
        words = [
            _tells_of(result, options, telling, asked),
            *ledger.classes(asked_about, [p.sizes for p in told]),
        ]
        if any(list(entry.classes) != words for entry in before):
            raise _refused(_OTHERS + ("" if table.whole.weights is None else _WEIGHTS))
        printed, standing, verdict, tells = texts()
        _refuse_other_changes(result, standing, before)
        if told:
            refuse_between(told[0], {verdict, *((e.verdict[0], e.verdict[1]) for e in before)})
        _warn_of_both(min((found[0] for found in every_one if found[0] >= BASE), default=0))
        for each, _, mine, named in tables:  # those who are asked about are a table of their own
            ledger.add(each, Released(named, mine.to_text(), asked, standing, printed, {}, words,
                                      verdict, stated, tells))  # fmt: skip
        return printed[kind]


def _warn_of_both(apart: int) -> None:
    """A table ten or more people apart is another one to a ledger: its reader may have both."""
    if apart:
        warnings.warn(
            f"the table is {apart} people apart from one in the ledger: each report is safe by "
            f"itself, and who reads both can make more of suppressed counts of those between. Give "
            f"out one of them, or each to readers who cannot have the other.",
            ReidbnWarning,
            stacklevel=4,
        )


def _tells_of(result: Result, options: Mapping[str, Any], telling: Telling, asked: str) -> str:
    """What a report's numbers tell of; a report that tells of the same may stand beside it.

    Counts by one set of classes (these columns at these levels, known for sure) are told at cutoffs
    that fit together, and all reports by it are one report with several verdicts, audited together.
    Whatever tells of more is told once: with a chance between 0 and 1 a risk is a mean over the
    classes of every part of the columns; a secret parts every class; results beside a report,
    minimal uniques, fits of a population, and a page's cells are of other classes.  A measure that
    does not follow from the class alone (a journalist's match) says the same in every report of
    its own question, which may then have another verdict.
    """
    columns, table = result.sure_columns, result.table
    beside = {k for k, v in options.items() if v not in (None, {}, False)} - _OF_VERDICTS
    if columns is None or table is None or beside:
        return asked
    follows = all(
        m.told in ("given", "count") or (m.each is not None and telling.ladder(m.each).is_by_class)
        for m in result.measures.values()
    )
    released = {k: v for k, v in table.as_released.items() if k not in OF_THE_TABLE}
    about = [sorted(columns), released, None if follows else _of(result)]
    return digest(about)


def digest(content: Any) -> str:
    """A word for what JSON can say."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


_STATED = ("title", "context")  # the caller's own words, which tell of nobody in the table
_OF_VERDICTS = {"threshold", "release", "custodian", *_STATED}
_OTHERS = (
    "this very table was released with this ledger, and the two reports together would tell of "
    "more than one set of classes (the same columns and levels, all known for sure): classes lie "
    "in each other, and a reader of both could make more of a suppressed count. What has left the "
    "house stays its one report. Before anything leaves, ask for what belongs together in one "
    "report (several secrets; other releases as options)."
)
_WEIGHTS = (
    " Survey weights are a part of what is asked: with one of them changed it is another question."
)
_OWN = "The same {} in place of {} writes the custodian's own copy, which stays in the house"


def _refused(why: str) -> UsageError:
    """Why a report does not leave, and the call that may be made in its place."""
    return UsageError(
        f"{why} {_OWN.format('call with custodian=True', 'ledger=')}",
        in_shell=f"{why} {_OWN.format('command with --custodian', '--ledger FILE')}",
    )


def _refuse_other_changes(result: Result, standing: int, before: list[Released]) -> None:
    """Raise where two verdicts would each tell who fails it in coarser tables, at its own size."""
    table = result.table
    names = [] if table is None else table.quasi_identifiers
    ladders = [table.column(name).hierarchy for name in names if table is not None]
    judged = [standing, *(entry.standing for entry in before)]
    if (len(names) > 1 or any(ladders)) and judged[0] != 1 and set(judged[1:]) - {1}:
        raise _refused(
            "this table was released with this ledger under another threshold, and each report "
            "tells what its own threshold finds where a column is left out or coarser: a reader of "
            "both could make more of a suppressed count. Ask with the threshold that was released."
        )


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
        raise _refused(
            "this table was released with this ledger under another threshold, and the verdicts "
            "together would tell how many people stand in small classes. Ask it with the "
            "threshold that was released."
        )


def _is_one(cell: Marked, classes: Alike) -> bool:
    least, most = promised(cell, classes)
    return least == most


def _again(kind: str, apart: int, entry: Released, texts: Any) -> str:
    """What was printed of the first table; not where that looks better than this one is."""
    if entry.standing and texts()[1] < entry.standing:
        which = f"is {counted(apart, 'person')} apart from one that" if apart else "is one that"
        what = "passed" if entry.standing > 1 else "was not said to fail"
        raise _refused(
            f"this table {which} was released with this ledger and {what}, and does not pass "
            f"itself: its own report would tell of the people between, and that of the other "
            f"would be wrong. Make the table coarser (generalise=, suppress=)."
        )
    if apart:
        warnings.warn(
            f"the table is {counted(apart, 'person')} apart from one in the ledger (fewer than "
            f"{BASE}): what is written has the numbers that were printed of that one",
            ReidbnWarning,
            stacklevel=4,
        )
    return entry.text(kind)


def _restated(apart: int, entry: Released, texts: Callable[[], Texts]) -> dict[str, str]:
    """The same numbers of the same table under another title or for another recipient."""
    under = "under another title, for another recipient or from a file with other columns beside"
    if apart:
        raise _refused(
            f"this was asked of a table {counted(apart, 'person')} apart and released with this "
            f"ledger {under}: the numbers of that table are printed again as that report stated "
            f"them alone. Pass that report on, or ask with its title, recipient and columns."
        )
    printed, _, _, tells = texts()
    if tells != entry.tells:
        raise _refused(
            f"this was asked of this table and released with this ledger {under}, and now its "
            f"numbers or words would be others (another version of reidbn, or another hierarchy). "
            f"Pass that report on, or ask with its title, recipient and columns, which prints it "
            f"again."
        )
    return printed


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
        if k not in ("custodian", *_STATED) and v not in (None, {})
    }
    return digest([*_of(result), rest])


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
