"""The released table as a file: its source with coarser columns, and some rows left out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.attacks.parquet import write_frames
from reidbn.errors import DataError, UsageError
from reidbn.microdata.csvfile import head_of, is_csv
from reidbn.microdata.sources import source_of
from reidbn.microdata.table import People
from reidbn.release.writing import write_csv
from reidbn.written import counted

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".csv", ".parquet")


def write_released(people: People, path: str | os.PathLike[str], source: Any = None) -> Path:
    """Write the people as they are released, with every other column of their source untouched."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise UsageError(f"{path}: end the name in .csv or .parquet")
    if people.history is not None:
        raise UsageError("people with several records each cannot be written yet")
    source = people.reading.source if source is None else source
    if source is None:
        raise UsageError("what these people were read from is not at hand: name it, source=")
    released = released_frame(people, _frame_of(source))
    if Path(path).suffix.lower() == ".csv":
        return write_csv(released, path, of_people=True)
    return Path(write_frames(path, [released]))


def not_looked_at(people: People, source: Any = None) -> tuple[str, ...]:
    """The source's columns that are no quasi-identifiers: nothing is said of what they tell."""
    source = people.reading.source if source is None else source
    header = [] if source is None else source_of(source).header
    return tuple(name for name in header if name not in people.quasi_identifiers)


def released_frame(people: People, source: pd.DataFrame) -> pd.DataFrame:
    """The rows of the people, with the values that are released."""
    rows, read = people.rows_read, people.as_read
    if int(rows.max()) >= len(source):
        raise DataError(
            f"the source has {counted(len(source), 'row')}, and somebody was read from row "
            f"{int(rows.max()) + 1:,}: name the table that the people were read from"
        )
    table = source.iloc[rows].reset_index(drop=True)
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
    return table


def _frame_of(source: Any) -> pd.DataFrame:
    """The whole source as a frame, texts as they are written."""
    import pandas as pd

    if isinstance(source, pd.DataFrame):
        return source
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if not path.is_file():
            raise DataError(f"no file {path}")
        if is_csv(path):
            head = head_of(path)
            return pd.read_csv(
                path, sep=head.mark, dtype=str, keep_default_na=False, encoding="utf-8-sig",
                skiprows=head.skip, names=head.names, header=0,
            )  # fmt: skip
        return pd.read_parquet(path)
    if isinstance(source, dict):
        return pd.DataFrame(source)
    for verb in ("to_pandas", "df"):
        if hasattr(source, verb):
            return getattr(source, verb)()  # type: ignore[no-any-return]
    raise UsageError(f"a source is a file or a frame, not a {type(source).__name__}")
