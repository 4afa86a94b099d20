"""A file of people beside those of the same people that were let out before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.errors import UsageError
from reidbn.microdata.classes import class_ids
from reidbn.plans.targets import Target
from reidbn.release.counts import BASE
from reidbn.release.files import FileOut, classes_text, digest_of, joined, marks_of
from reidbn.release.ledger import Ledger
from reidbn.release.marks import records_of
from reidbn.written import counted

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.microdata.table import People
    from reidbn.plans.plan import ReleasePlan

SECOND = (
    "A second, different file of the same people can be joined with this one, row by row, by what "
    "both have unchanged, and who holds both knows more than either tells: give every recipient "
    "the same file, or hold each against those before it (ledger=)"
)
"""Of a file that is in no ledger."""
_REMEDY = (
    "Give this recipient that same file too; or, before anything leaves, write one file that keeps "
    "the rules of both (name both as targets) and give it to everybody"
)


def let_out(
    plan: ReleasePlan, released: People, source: pd.DataFrame, path: Path, ledger: Ledger
) -> str:
    """Keep a file in a ledger, and say how it stands beside those of the same people, if any.

    Refused where whoever holds them all, and joins every row, would see a rule broken.
    """
    mine = _of(plan, released, source, path, ledger)
    near = [one for one in ledger.files if _same_people(mine, one)]
    if not near:
        ledger.add_file(mine)
        return ""
    for one in near:
        if one.source != mine.source or one.columns != mine.columns:
            raise UsageError(
                f"{_told(one)} was let out with this ledger and may have people of this table; it "
                f"was made from other columns, values or rows, so nothing proves what the two tell "
                f"together. {_REMEDY}: from the same table, read with the same columns. Where they "
                f"are other people, keep a ledger of their own for them"
            )
    files = [*near, mine]
    both, finest = joined([one.alike for one in files])
    sizes = np.bincount(both)[both]
    if finest is not None and files[finest] is not mine:  # it is out, and tells all of this one
        if not any(_is_same(one, mine) for one in near):
            ledger.add_file(mine)
        said = f"whoever holds all of them knows what {files[finest].name} tells, no more"
        if broken := _broken([mine], sizes):
            said += f": {' and '.join(broken)} holds for who has this file alone"
        if mine.others:
            said += f"; of who has more than this file nothing proves {' and '.join(mine.others)}"
        return f"beside {_names(near)}: {said}"
    _refuse_broken(files, sizes, near if finest is not None else files)
    ledger.add_file(mine)
    if finest is not None:
        return (
            f"beside {_names(near)}: whoever holds all of them knows what this file tells, no "
            f"more, and the rules of all are kept"
        )
    return (
        f"beside {_names(near)}: joined row by row, {int(sizes.min())} or more are alike, and the "
        f"rules of all are kept"
    )


def _broken(files: Sequence[FileOut], sizes: Any) -> list[str]:
    """The rules of these files on who is alike that do not hold where so many are."""
    rules = {Target(**rule) for one in files for rule in one.rules}
    return sorted(str(rule) for rule in rules if not rule.is_met(1 / sizes))


def _refuse_broken(files: Sequence[FileOut], sizes: Any, open_: Sequence[FileOut]) -> None:
    """Raise where a rule on who is alike breaks, or where a limit of `open_` is not known to hold.

    Of a last file that tells all that all tell its own limits hold.
    """
    broken = _broken(files, sizes)
    others = [text for one in open_ for text in one.others]
    if not broken and not others:
        return
    what = f"{counted(int((sizes == 1).sum()), 'person')} of {len(sizes):,} would be alone"
    smallest = int(sizes.min())
    if smallest > 1:
        what = f"the fewest alike of {counted(len(sizes), 'person')} would be {smallest}"
    why = (
        f", which breaks {' and '.join(broken)}"
        if broken
        else f"; nothing proves that {' and '.join(dict.fromkeys(others))} still holds"
    )
    raise UsageError(
        f"let out with this ledger before: {_names(files[:-1])}. Who holds that and this one and "
        f"joins them row by row, as columns that both have unchanged allow, sees every version of "
        f"everybody: {what}{why}. {_REMEDY}"
    )


def _of(
    plan: ReleasePlan, released: People, source: pd.DataFrame, path: Path, ledger: Ledger
) -> FileOut:
    """What a ledger keeps of a file."""
    import pandas as pd

    columns = {}
    for name in source.columns:
        texts = source[name].astype(str).mask(source[name].isna(), "").to_numpy(dtype=object)
        codes, values = pd.factorize(texts, sort=True)  # a missing cell is a value, too
        columns[str(name)] = (str(name), values.tolist(), codes)
    rows, there = records_of([*columns.values()], ledger.secret), released.rows_read
    shown = released.as_written()
    ids, _ = class_ids(shown.codes(), shown.cardinalities())
    alike = np.full(len(source), -1, dtype=np.int64)
    alike[there] = ids
    known = [columns[name] for name in released.quasi_identifiers]
    about = plan.targets
    return FileOut(
        Path(path).name,
        datetime.now(UTC).date().isoformat(),
        plan.best.told_levels,
        digest_of(rows, ledger.secret),
        ledger.named(sorted(released.quasi_identifiers)),
        {name: sketch.to_text() for name, sketch in ledger.by_column(known).items()},
        marks_of(rows[there]),
        len(released),
        classes_text(alike),
        [asdict(t) for t in about if t.on_classes and not t.on_secret],
        [str(t) for t in about if not t.on_classes or t.on_secret],
    )


def _same_people(mine: FileOut, other: FileOut) -> bool:
    """Whether two files may have people in common: ten rows, or columns nearly the same."""
    return (
        mine.source == other.source
        or mine.shared(other) >= BASE
        or mine.has_the_columns_of(other, BASE)
    )


def _is_same(one: FileOut, mine: FileOut) -> bool:
    return one.levels == mine.levels and np.array_equal(one.alike, mine.alike)


def _told(one: FileOut) -> str:
    levels = ", ".join(f"{name} {what}" for name, what in one.levels.items())
    return f"{one.name} ({one.day}; {levels or 'every column as it is'})"


def _names(files: Sequence[FileOut]) -> str:
    return " and ".join(_told(one) for one in files)
