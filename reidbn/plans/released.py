"""The released table as a file: its source with coarser columns, and some rows left out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.aside import aside
from reidbn.attacks.parquet import write_frames
from reidbn.errors import DataError, UsageError
from reidbn.microdata.classes import Codes
from reidbn.microdata.coding import tidy
from reidbn.microdata.csvfile import head_of, is_csv
from reidbn.microdata.direct import looks_direct
from reidbn.microdata.header import NO_HEADER, has_no_header, readable
from reidbn.microdata.sources import quoted, source_of
from reidbn.microdata.table import People
from reidbn.release.writing import (
    ends_in,
    runs,
    safe_cells,
    unsafe_columns,
    unsafe_names,
    write_csv,
)
from reidbn.written import counted

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.plans.plan import ReleasePlan

ENDINGS = (".csv", ".parquet")


@dataclass(frozen=True, eq=False)
class Whole:
    """A whole source, and whether its cells are texts as written in a file without types."""

    table: pd.DataFrame
    is_written: bool = False

    def coded(self, name: str) -> tuple[Codes, NDArray[Any]]:
        """A column as it would be read; one of no kind that is read by its texts."""
        cells, written = self.table[name], self.is_written
        try:
            raw = source_of({"": cells}).read([""])[""]
            return tidy(name, replace(raw, written=written), as_text=True)
        except DataError:
            return tidy(name, source_of({"": cells.astype(str)}).read([""])[""], as_text=True)


def source_frame(people: People, source: Any, path: str | os.PathLike[str]) -> Whole:
    """What people were read from, where it is at hand or named; `path` is what will be written."""
    if people.history is not None:
        raise UsageError("people with several records each cannot be written yet")
    for file in (source, people.reading.source):
        if isinstance(file, str | os.PathLike) and _one_file(file, path):
            raise UsageError(f"{path} is the table itself, which would be lost: name another file")
    source = people.reading.source if source is None else source
    if source is None:
        raise UsageError("what these people were read from is not at hand: name it, source=")
    delimiter = people.reading.delimiter
    if has_no_header(source_of(source, delimiter=delimiter)):
        raise DataError(f"the file would be headed by a person's values: {NO_HEADER}")
    return _whole_of(source, delimiter)


def written_frame(
    people: People, source: Whole, path: str | os.PathLike[str], *, keep_id: bool
) -> pd.DataFrame:
    """The people as they are released, with the other columns of their source untouched.

    Columns that name a person go, unless `keep_id`, and it is said which; and which are missing in
    every row, so that the file is not read with them.  Rows are sorted by what is written: two
    files of one table cannot be joined by where a row stands.
    """
    kind = ends_in(path, ENDINGS)
    released = released_frame(people, source.table)
    named = {} if keep_id else naming(people, source)
    if named:
        which = ", ".join(f"{name} ({why})" for name, why in named.items())
        aside(
            ("naming", *named), 1.0,
            f"left out of the file, since it names a person: {which}; keep_id=True "
            f"writes it",
        )  # fmt: skip
        released = released.drop(columns=[*named])
    if empty := without_values(people):
        which = ", ".join(f'"{name}"' for name in empty)
        aside(
            ("without values", *empty), 1.0,
            f"missing for everybody who is left in the file: {which}; whoever reads it leaves "
            f"that out of the columns",
        )  # fmt: skip
    if kind == ".csv":
        texts, names = unsafe_columns(released), unsafe_names(released.columns)
        if texts or names:
            aside(
                ("quoted", *texts, *names), 1.0,
                f"an apostrophe was put {apostrophes_in_words(texts, names)}; rb.read_table reads "
                f"all without it, and a .parquet file has all as they are",
            )  # fmt: skip
        return in_no_order(safe_cells(released))
    if source.is_written:
        released = _with_types(released, people, source)
    return in_no_order(released, of_nothing=True)


def _with_types(table: pd.DataFrame, people: People, source: Whole) -> pd.DataFrame:
    """Of a file without types what is released as it stood: columns that are read as numbers as
    numbers, cells that are read as missing as missing, and texts of columns that were looked at
    without the apostrophe that was read over.
    """
    import pandas as pd

    read, emptied = people.as_read, people.emptied
    table = table.copy()
    for name in table.columns:
        if name not in people.columns:
            codes, labels = source.coded(name)
            codes = codes[people.rows_read]
        elif people.before_emptying.column(name).level:
            continue
        else:
            codes, labels = read.table[:, read.columns.index(name)], read.labels(name)
        values = [value for value in labels.tolist() if value is not None]
        gone = (codes < 0) | (codes >= len(values)) | emptied.get(name, False)
        if values and all(isinstance(value, int | float) for value in values):
            numbers = pd.Series(np.array(values)[np.where(gone, 0, codes)])
            whole = numbers.dtype.kind == "i"
            table[name] = (numbers.astype("Int64") if whole else numbers).mask(gone)
            continue
        if values and name in people.columns:
            table[name] = np.array(values, dtype=object)[np.where(gone, 0, codes)]
        table[name] = table[name].astype("string").mask(gone)
    return table


def apostrophes(released: People, others: Sequence[str]) -> dict[str, Any]:
    """What has an apostrophe in a CSV file: columns that are released with texts that a spreadsheet
    would run, and names of columns, each with how it is written.  Of `others`, which are written
    as they stand, texts are looked at where the source is at hand.
    """
    written = released.as_written()
    texts = [
        n
        for n, codes in zip(written.columns, written.table.T, strict=True)
        if runs(written.labels(n)[np.unique(codes)])
    ]
    beside = [n for n in others if n not in written.columns]
    return {
        "texts_in": [*texts, *_that_run(released, beside)],
        "names": unsafe_names(dict.fromkeys([*written.columns, *others])),
    }


def _that_run(released: People, others: Sequence[str]) -> list[str]:
    """Of columns that nobody looked at those with such texts, in the rows that are released."""
    if released.reading.source is None:
        return []
    try:
        source = source_of(released.reading.source, delimiter=released.reading.delimiter)
        rows = released.rows_read
        names = [name for name in others if name in source.header]
        return [name for name, raw in readable(source, names).items()
                if runs(raw.values[i] for i in np.unique(raw.codes[rows]) if i >= 0)]  # fmt: skip
    except (DataError, UsageError):  # it is not there any more
        return []


def apostrophes_in_words(texts: Sequence[str], names: Mapping[str, str]) -> str:
    """Before what an apostrophe stands in a CSV file."""
    said = []
    if texts:
        said.append(
            f"before texts that a spreadsheet would run as formulas, in {', '.join(texts)}: "
            f"they start with =, +, -, @, a tab or a return"
        )
    if names:
        now = ", ".join(f"{name} is written {to}" for name, to in names.items())
        said.append(f"before names of columns that it would run: {now}")
    return ", and ".join(said)


def _one_file(file: str | os.PathLike[str], path: str | os.PathLike[str]) -> bool:
    return Path(file).exists() and Path(path).exists() and Path(file).samefile(path)


def without_values(people: People) -> list[str]:
    """Columns of which everybody's value is missing as they are released, or was emptied."""
    written = people.as_written()
    return [name for name, codes in zip(written.columns, written.table.T, strict=True)
            if all(v is None for v in written.labels(name)[np.unique(codes)])]  # fmt: skip


def write_frame(table: pd.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Write what is released, for its owner alone."""
    if Path(path).suffix.lower() == ".csv":
        return write_csv(table, path, of_people=True)
    alike = Counter(str(name).casefold() for name in table.columns)
    if twice := [str(n) for n in table.columns if not str(n) or alike[str(n).casefold()] > 1]:
        raise UsageError(
            f"a Parquet file has no two columns whose names differ by capitals alone, and none "
            f"without a name ({', '.join(map(repr, twice))}): rename them, or write a .csv file"
        )
    return Path(write_frames(path, [_without_the_unused(table)]))


def _without_the_unused(table: pd.DataFrame) -> pd.DataFrame:
    """Without categories that nobody in it has: a file counts those that went with who left."""
    import pandas as pd

    unused = {str(name): column.cat.remove_unused_categories() for name, column in table.items()
              if isinstance(column.dtype, pd.CategoricalDtype)}  # fmt: skip
    return table.assign(**unused) if unused else table


def in_no_order(table: pd.DataFrame, *, of_nothing: bool = False) -> pd.DataFrame:
    """The rows sorted by all that is written in them, so that their order tells nothing more.

    Rows that are written alike tie, and no others: the file follows from its rows, whatever order
    the source had.  An empty text is written as a missing value is, but where `of_nothing`.
    """
    import pandas as pd

    keys: list[Any] = []
    for i in reversed(range(table.shape[1])):
        column = table.iloc[:, i]
        gone = column.isna().to_numpy()
        texts = np.where(gone, "", column.astype(object).map(str).to_numpy(dtype=object))
        if of_nothing:
            keys.append(gone)
        keys.append(pd.factorize(texts, sort=True)[0])
        keys.append(pd.to_numeric(pd.Series(texts), errors="coerce").to_numpy(dtype=float))
    return table.iloc[np.lexsort(keys)].reset_index(drop=True) if keys else table


def naming(people: People, source: Whole) -> dict[str, str]:
    """Of the columns that nobody looked at, those that name a person, and how it is known.

    By the look that every column has that is read.
    """
    found, ids = {}, people.subject_ids
    for name in source.table.columns:
        if name in people.columns:
            continue
        codes, labels = source.coded(name)
        if not labels.size:
            continue
        if ids is not None and np.array_equal(labels[codes[people.rows_read]], ids):
            found[name] = "it tells persons apart"
        elif why := looks_direct(name, codes, labels):
            found[name] = why
    return found


def released_frame(people: People, source: pd.DataFrame) -> pd.DataFrame:
    """The rows of the people, with the values that are released."""
    rows, read = people.rows_read, people.as_read
    if int(rows.max()) >= len(source):
        raise DataError(
            f"the source has {counted(len(source), 'row')}, and somebody was read from row "
            f"{int(rows.max()) + 1:,}: name the table that the people were read from"
        )
    table, emptied = source.iloc[rows].reset_index(drop=True), people.emptied
    people = people.before_emptying
    for name in people.columns:
        if name not in table.columns:
            raise DataError(f'the source has no column "{name}": name what the people came from')
        column, codes = people.column(name), people.table[:, people.columns.index(name)]
        written = table[name].astype(str).to_numpy()
        was = read.table[:, read.columns.index(name)]
        pairs = set(zip(written.tolist(), was.tolist(), strict=True))
        texts = len({text for text, _ in pairs})
        if len(pairs) > texts:
            raise DataError(
                f'the source has other values of "{name}" in these rows: name the table that the '
                "people were read from"
            )
        if column.level or texts > len(np.unique(was)):
            table[name] = column.labels[codes]
        if name in emptied:  # a cell that was missing is written as these, with whom it is alike
            gone = emptied[name] | read.column(name).is_missing(was)
            table[name] = table[name].astype(object).where(~gone, None)
    return table


def _whole_of(source: Any, delimiter: str | None) -> Whole:
    """The whole source as a frame, texts as they are written."""
    import duckdb
    import pandas as pd

    if isinstance(source, pd.DataFrame):  # columns may be called by numbers
        return Whole(source.set_axis([str(name) for name in source.columns], axis=1))
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if not path.is_file():
            raise DataError(f"no file {path}")
        if is_csv(path):
            head = head_of(path, delimiter)
            frame = pd.read_csv(
                path, sep=head.mark, dtype=str, keep_default_na=False, encoding="utf-8-sig",
                skiprows=head.skip, names=head.names, header=0,
            )  # fmt: skip
            return Whole(frame, is_written=True)
        with duckdb.connect() as con:
            return Whole(_as_it_stands(con.read_parquet(str(path))))
    if isinstance(source, dict):
        return Whole(pd.DataFrame({str(name): values for name, values in source.items()}))
    if hasattr(source, "to_pandas"):  # polars, Arrow
        return Whole(source.to_pandas(integer_object_nulls=True))
    if hasattr(source, "df"):
        return Whole(_as_it_stands(source))
    raise UsageError(f"a source is a file or a frame, not a {type(source).__name__}")


_AS_TEXT: dict[str, Callable[[str], Any]] = {
    "DECIMAL": Decimal, "HUGEINT": int, "UHUGEINT": int, "DATE": date.fromisoformat
}  # fmt: skip
"""Kinds of DuckDB's for which pandas has floats, or moments, and what makes one of a text."""


def _as_it_stands(relation: Any) -> pd.DataFrame:
    """What DuckDB reads, each number and day as it is."""
    import pandas as pd

    own = zip(relation.columns, relation.types, strict=True)
    wide = {name: made for name, kind in own if (made := _AS_TEXT.get(str(kind).partition("(")[0]))}
    names = [
        f"{quoted(n)}::VARCHAR AS {quoted(n)}" if n in wide else quoted(n) for n in relation.columns
    ]
    table: pd.DataFrame = relation.project(", ".join(names)).df()
    for name, made in wide.items():
        cells = [None if pd.isna(text) else made(text) for text in table[name]]
        table[name] = pd.Series(cells, dtype=object)
    return table


def untouched_in_words(plan: ReleasePlan) -> list[str]:
    """What becomes of the columns that no rule on who is alike counts."""
    known, limited = plan.known_beside, plan.limited
    found = {
        "taken as known to nobody": [name for name in plan.untouched if name not in known],
        "known to an attacker, and in no target": [n for n in known if n not in limited],
        "known to an attacker, and in a target as what is guessed alone": [
            name for name in known if name in limited
        ],
    }
    return [
        f"{what}, and written as they are unless they name a person: {', '.join(names)}"
        for what, names in found.items()
        if names
    ]
