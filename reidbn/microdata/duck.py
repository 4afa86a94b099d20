"""DuckDB back end of contingency: files and relations, within a memory limit, on disk if need be.

The group-by runs in DuckDB with `preserve_insertion_order = false` and spills to its temporary
directory.  What comes back is coded by the same rules as every other source.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from reidbn.calls import refuse_misfit, refuse_outside, typed
from reidbn.errors import DataError, UsageError
from reidbn.microdata.classes import Ints
from reidbn.microdata.coding import Raw, whole_numbers
from reidbn.microdata.csvfile import check_lines, head_of, is_csv, refuse_bomb
from reidbn.microdata.header import instead_of
from reidbn.microdata.sources import quoted, source_of, top_names
from reidbn.release.writing import held_folder, private_folder, said_by_disk, whole
from reidbn.written import ending

MOST_THREADS = 1_024
_COUNT = "reidbn_count"
SAME_BUT_CAPITALS = (
    "two columns have the same name, or names that differ by capitals only, which DuckDB does not "
    'tell apart; rename one, or use engine="numpy"'
)


def grouped(
    source: Any,
    columns: Sequence[str],
    *,
    counts: str | None = None,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
    threads: int | None = None,
) -> tuple[Mapping[str, Raw], Ints, list[str]]:
    """Distinct raw cells of the columns, how many records are in each, and all columns' names."""
    with _connection(memory_limit, temp_directory, threads) as con:
        table, is_text = _table(con, source, memory_limit or temp_directory or threads)
        header = list(table.columns)
        _check(header, [*columns, *([] if counts is None else [counts])], source)
        cells = table.aggregate(_selection(columns, counts, _COUNT), _listed(columns))
        if table is not source:  # in our own connection: group before anything is handed over
            with _failures():
                cells.create(_COUNT)
            cells = con.table(_COUNT)
        raw = source_of(cells).read([*columns, _COUNT])
    n = whole_numbers(raw.pop(_COUNT))
    found = {name: replace(r, written=r.written or is_text) for name, r in raw.items()}
    return found, n, header


@typed
def collapse(
    source: Any,
    columns: Sequence[str],
    into: str | Path,
    *,
    counts: str = "n",
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
    threads: int | None = None,
) -> Path:
    """Write distinct combinations and their counts to a Parquet file, never holding them all.

    For more cells than memory holds: `contingency(file, some_columns, counts="n")` counts on.

    `source` and `columns` are as in rb.contingency, and so are `memory_limit`, `temp_directory` and
    `threads`; the cells go into the file `into`, their counts to a column named by `counts`.
    """
    place = Path(into)
    if place.exists():
        raise UsageError(f"{place.name} exists; name a new file to write to")
    if not len(columns):
        raise UsageError("columns= names no column; give those by which people may be alike")
    if not counts:
        raise UsageError("counts= is the name of a column; give one or leave it at n")
    if counts in columns:
        raise UsageError(f'a column is called "{counts}"; name the counts otherwise: counts=')
    with _connection(memory_limit, temp_directory, threads) as con:
        table, _ = _table(con, source, memory_limit or temp_directory or threads)
        _check(table.columns, columns, source)
        cells = table.aggregate(_selection(columns, None, counts), _listed(columns))
        with whole(place, of_people=True) as made, _failures():
            cells.write_parquet(str(made))
    return place


@contextmanager
def _connection(
    memory_limit: str | None, temp_directory: str | Path | None, threads: int | None
) -> Iterator[Any]:
    import duckdb

    config: dict[str, Any] = {"preserve_insertion_order": False}
    if memory_limit is not None:
        config["memory_limit"] = memory_limit
    if threads is not None:
        refuse_outside("threads", threads, least=1, most=MOST_THREADS)
        config["threads"] = threads
    with _spill(temp_directory) as folder:
        try:
            con = duckdb.connect(config={**config, "temp_directory": folder})
        except duckdb.Error as problem:
            raise UsageError(f"DuckDB does not take these settings: {problem}") from None
        with con:
            con.execute("SET enable_progress_bar = false")
            yield con


@contextmanager
def _spill(chosen: str | Path | None) -> Iterator[str]:
    """A folder of our own for what memory does not hold: for its owner alone, and then removed.

    What a killed process left is removed by the next one that spills there.
    """
    place = Path(tempfile.gettempdir()) if chosen is None else private_folder(chosen)
    with ExitStack() as held:
        try:
            folder = held.enter_context(held_folder(place, "reidbn-spill-"))
        except OSError as problem:
            raise UsageError(f"temp_directory: cannot be written: {problem.strerror}") from None
        yield str(folder)


def reads(file: Path) -> bool:
    """Whether a file is of a kind that DuckDB collapses."""
    return is_csv(file) or ending(file) == ".parquet"


def _table(con: Any, source: Any, settings: object) -> tuple[Any, bool]:
    """The relation that a source is, and whether its values are texts of a file without types."""
    if type(source).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
        if settings:
            raise UsageError(
                "a relation keeps the settings of its connection: set memory_limit, "
                "temp_directory and threads there"
            )
        return source, False
    if not isinstance(source, str | Path | list | tuple):
        raise UsageError(
            f"DuckDB collapses files and relations, not {type(source).__name__}: leave engine= "
            "to its default, or write a Parquet file first"
        )
    if not isinstance(source, str | Path):
        refuse_misfit("contingency", "source", source, Sequence[str | Path])
    paths = [Path(p) for p in ([source] if isinstance(source, str | Path) else source)]
    if not paths:
        raise UsageError("no file to read; give a path or a list of paths")
    files = [found for path in paths for found in _matching(path)]
    if all(is_csv(file) for file in files):
        for file in files:
            refuse_bomb(file)
        return _csv(con, files), True
    if all(file.is_dir() or (reads(file) and not is_csv(file)) for file in files):
        return _parquet(con, files), False
    raise UsageError("DuckDB reads .csv, .csv.gz, .tsv and .parquet files, all of one kind")


def _matching(path: Path) -> list[Path]:
    if "*" in path.name:
        found = sorted(path.parent.glob(path.name))
        if not found:
            raise DataError(f"no file matches {path.name}")
        return found
    if not (path.is_file() or path.is_dir()):
        raise DataError(f"no file {path.name}")
    return [path]


def _parquet(con: Any, files: Sequence[Path]) -> Any:
    import duckdb

    names = [str(f / "*.parquet" if f.is_dir() else f) for f in files]
    try:
        first = con.execute(
            "SELECT name, num_children FROM parquet_schema(?) WHERE file_name = ("
            "SELECT min(file_name) FROM parquet_schema(?))", [names[0], names[0]],
        ).fetchall()  # fmt: skip
        header = top_names(first)
        if len({name.lower() for name in header}) < len(header):
            raise DataError(f"{files[0].name}: {SAME_BUT_CAPITALS}")
        return con.read_parquet(names)
    except duckdb.Error:
        raise DataError(f"{files[0].name}: cannot be read as Parquet") from None


def _csv(con: Any, files: Sequence[Path]) -> Any:
    """CSV with the header's delimiter and every cell a text: nothing about values is guessed."""
    head = head_of(files[0])
    header = head.names
    for file in files:
        if head_of(file) != head:
            raise DataError(f"{file.name} has other columns than {files[0].name}")
        if head.quoted_after_mark:
            raise DataError(
                f"{file.name}: begins with a byte mark and a quote, which DuckDB does not read; "
                'use engine="numpy", or save the file as UTF-8 without a byte mark'
            )
        if len(header) == 1:
            check_lines(file, head)
    if len(set(header)) != len(header):
        raise DataError(f"{files[0].name}: two columns have the same name; rename one")
    if len({name.lower() for name in header}) != len(header):
        raise DataError(f"{files[0].name}: {SAME_BUT_CAPITALS}")
    return con.read_csv(
        [str(file) for file in files],
        header=True,
        sep=head.mark,
        skiprows=head.skip,
        auto_detect=False,
        columns=dict.fromkeys(header, "VARCHAR"),
        quotechar='"',
        escapechar='"',
    )


def _check(there: Sequence[str], wanted: Sequence[str], source: Any) -> None:
    for name in wanted:
        if name not in there:
            raise UsageError(f'no column "{name}"; {instead_of(name, there, source)}')


def _selection(columns: Sequence[str], counts: str | None, name: str) -> str:
    number = "count(*)" if counts is None else f"sum({quoted(counts)})"
    return f"{_listed(columns)}, CAST({number} AS BIGINT) AS {quoted(name)}"


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(quoted(name) for name in columns)


@contextmanager
def _failures() -> Iterator[None]:
    """Says what went wrong without DuckDB's words: they may hold a person's line."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise DataError(
            "the cells need more memory than memory_limit: raise it, name a temp_directory with "
            "room, or write the cells to a file with collapse(source, columns, into)"
        ) from None
    except duckdb.Error as problem:
        why = said_by_disk(problem).strerror if isinstance(problem, duckdb.IOException) else None
        if why is not None:
            raise UsageError(
                f"the disk refused what DuckDB writes: {why}; write to a disk with room, and name "
                "a temp_directory on one"
            ) from None
        kind = type(problem).__name__.removesuffix("Exception")
        raise DataError(
            f"DuckDB stopped reading ({kind}); in CSV files every line must have as many cells "
            "as the header, in UTF-8"
        ) from None
