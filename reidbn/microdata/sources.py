"""Sources: files, frames and relations, each read once, only the named columns, as raw codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from reidbn.calls import described
from reidbn.errors import DataError, MissingPart, UsageError
from reidbn.microdata.coding import Coder, Raw
from reidbn.microdata.csvfile import code_csv, head_of, is_csv
from reidbn.progress import progress
from reidbn.written import ending

_CHUNK = 60
"""Vectors of 2,048 rows that DuckDB hands over at a time."""

_WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")


@dataclass(frozen=True)
class Source:
    """A table that has not been read: what it is called, its columns, and how to read some."""

    name: str
    header: list[str]
    read: Callable[[Sequence[str]], dict[str, Raw]]
    head: Callable[[int], Source] | None = None
    """The source of its first rows alone; None where they would be gone: of record batches."""


def source_of(given: Any, *, delimiter: str | None = None) -> Source:
    """The source that a caller's object or path is."""
    if isinstance(given, str | Path):
        return _file(Path(given), delimiter)
    home = type(given).__module__.partition(".")[0]
    if isinstance(given, Mapping):
        import pandas as pd

        try:
            return _pandas(pd.DataFrame(dict(given)))
        except ValueError:
            raise DataError("the columns given have different lengths") from None
        except TypeError:
            raise UsageError("a column is a list or an array of values, in order") from None
    kinds: dict[str, Callable[[Any], Source]] = {
        "pandas": _pandas,
        "polars": _polars,
        "pyarrow": _arrow,
        "duckdb": _relation,
        "_duckdb": _relation,
    }
    if home not in kinds:
        raise UsageError(
            f"cannot read a table from {type(given).__name__}; give a path (CSV, Parquet, Arrow), "
            "a pandas or polars frame, an Arrow table, a DuckDB relation, or columns in a dict"
        )
    return kinds[home](given)


def _file(path: Path, delimiter: str | None) -> Source:
    if "\n" in str(path):
        raise UsageError("this is the text of a table and no path: write it to a file first")
    if not path.is_file():
        raise DataError(f"no file {path}")
    if is_csv(path):
        head = head_of(path, delimiter)
        read = partial(code_csv, path, head=head)
        return Source(path.name, head.names, read,
                      lambda n: Source(path.name, head.names, partial(read, most=n)))  # fmt: skip
    if ending(path) == ".parquet":
        return _parquet(path)
    if ending(path) in (".arrow", ".feather", ".ipc"):
        if find_spec("pyarrow") is None:
            raise MissingPart(f"{path.name}: reading Arrow files needs pyarrow; or save as Parquet")
        from pyarrow import dataset

        return _arrow(dataset.dataset(path, format="feather"), name=path.name)
    if ending(path) in _WORKBOOKS:
        raise UsageError(
            f"{path.name}: a workbook is not read: save the sheet as CSV UTF-8, or give the frame "
            "that pandas.read_excel makes of it"
        )
    raise UsageError(
        f"{path.name}: cannot tell its kind; use .csv, .csv.gz, .tsv, .parquet, .arrow"
    )


# DuckDB: Parquet files, and relations

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER",
          "UBIGINT", "BOOLEAN")  # fmt: skip
_AS_IS = ("VARCHAR", "DOUBLE", "FLOAT", "DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS",
          "TIMESTAMP_NS")  # fmt: skip
_IN_MEMORY: dict[str, Any] = {
    "temp_directory": ""
}  # nothing of a table goes to a folder of DuckDB's choice
_NESTED = ("STRUCT", "MAP", "UNION", "BLOB", "BIT", "LIST", "ARRAY")


@contextmanager
def _no_values_in(name: str) -> Iterator[None]:
    """DuckDB's own messages can repeat a cell, so ours takes their place."""
    import duckdb

    try:
        yield
    except duckdb.Error as problem:
        raise DataError(f"DuckDB cannot read {name} ({type(problem).__name__})") from None


def _selection(names: Sequence[str], types: Mapping[str, str]) -> str:
    """SQL for the columns; whole numbers never pass through floats on the way out."""
    parts = []
    for j, name in enumerate(names):
        kind = types[name].upper()
        if kind.endswith("]") or kind.partition("(")[0] in _NESTED:
            raise DataError(f'column "{name}" holds lists or other compound values')
        if kind in _WHOLE:
            empty = "false" if kind == "BOOLEAN" else "0"
            parts += [
                f"coalesce({quoted(name)}, {empty}) AS c{j}",
                f"{quoted(name)} IS NULL AS n{j}",
            ]
        elif kind in _AS_IS:
            parts.append(f"{quoted(name)} AS c{j}")
        else:
            parts.append(f"CAST({quoted(name)} AS VARCHAR) AS c{j}")
    return ", ".join(parts)


def _parquet(path: Path, most: int | None = None) -> Source:
    import duckdb

    place = str(path).replace("'", "''")
    with (
        _no_values_in(f"{path.name} as Parquet"),
        duckdb.connect(config=_IN_MEMORY) as con,
    ):
        found = con.execute(f"DESCRIBE SELECT * FROM read_parquet('{place}')").fetchall()  # noqa: S608
        elements = con.execute(f"SELECT name, num_children FROM parquet_schema('{place}')")  # noqa: S608
        named = top_names(elements.fetchall())
    types = {str(row[0]): str(row[1]) for row in found}
    read_as = dict(zip(named, types, strict=False)) if len(set(named)) == len(named) else {}
    header = [*named, *list(types)[len(named) :]]

    def read(names: Sequence[str]) -> dict[str, Raw]:
        coders = {name: _coder(types[name]) for name in names}
        with (
            _no_values_in(f"{path.name} as Parquet"),
            duckdb.connect(config=_IN_MEMORY) as con,
        ):
            con.execute("SET enable_progress_bar = false")
            limit = "" if most is None else f" LIMIT {most}"
            con.execute(f"SELECT {_selection(names, types)} FROM read_parquet('{place}'){limit}")  # noqa: S608
            for chunk in progress(_chunks(con), f"reading {path.name}"):
                for j, name in enumerate(names):
                    coders[name].add(chunk[f"c{j}"], chunk.get(f"n{j}"))
        return {name: coder.finish() for name, coder in coders.items()}

    def read_named(names: Sequence[str]) -> dict[str, Raw]:
        found = read([read_as.get(name, name) for name in names])
        return {name: found[read_as.get(name, name)] for name in names}

    return Source(path.name, header, read_named, lambda n: _parquet(path, n))


def top_names(elements: Sequence[tuple[str, int | None]]) -> list[str]:
    """The columns of a Parquet file as it names them: DuckDB renames `Age` beside `age`.

    >>> top_names([("schema", 2), ("age", None), ("home", 2), ("zip", 0), ("town", 0)])
    ['age', 'home']
    """
    names, inside = [], 0
    for name, children in elements[1:]:
        if not inside:
            names.append(str(name))
        inside += (children or 0) - (1 if inside else 0)
    return names


def _chunks(con: Any) -> Iterator[Any]:
    while len(chunk := con.fetch_df_chunk(_CHUNK)):
        yield chunk


def _coder(kind: str) -> Coder:
    """A coder for a type; numbers that a float is too short for come out as text."""
    upper = kind.upper()
    return Coder(
        written=upper.startswith("DECIMAL"), whole=upper.startswith(("HUGEINT", "UHUGEINT"))
    )


def _relation(relation: Any) -> Source:
    if not hasattr(relation, "fetchnumpy") or not hasattr(relation, "project"):
        raise UsageError("give the DuckDB relation itself: con.sql('SELECT ...')")
    types = dict(zip(relation.columns, (str(t) for t in relation.types), strict=True))

    def read(names: Sequence[str]) -> dict[str, Raw]:
        with _no_values_in("the relation"):
            if find_spec("pyarrow") is None:
                return _relation_arrays(relation, names, types)
            chosen = relation.project(", ".join(map(quoted, names)))
            batches = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_record_batch
            return dict(_arrow_columns(batches(), names))

    return Source("the relation", list(types), read, lambda n: _relation(relation.limit(n)))


def _relation_arrays(
    relation: Any, names: Sequence[str], types: Mapping[str, str]
) -> dict[str, Raw]:
    arrays = relation.project(_selection(names, types)).fetchnumpy()
    found = {}
    for j, name in enumerate(names):
        coder = _coder(types[name])
        cells = arrays.pop(f"c{j}")
        null = arrays.pop(f"n{j}", None)
        if np.ma.isMaskedArray(cells):
            null, cells = np.ma.getmaskarray(cells), cells.data
        coder.add(cells, null)
        found[name] = coder.finish()
    return found


# Frames in memory


def _pandas(frame: Any) -> Source:
    import pandas as pd

    if isinstance(frame, pd.Series):
        frame = frame.to_frame()
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"the table is {described(frame)}; it takes a frame or the path of a file")

    def read(names: Sequence[str]) -> dict[str, Raw]:
        found = {}
        for name in names:
            cells = frame[next(key for key in frame.columns if str(key) == name)]  # may be no text
            if isinstance(cells.dtype, pd.CategoricalDtype):
                codes, values = cells.cat.codes.to_numpy(), cells.cat.categories
            else:
                codes, values = _factorized(name, cells)
            found[name] = Raw(np.asarray(codes, dtype=np.int32), values.tolist())
        return found

    header = [str(name) for name in frame.columns]
    return Source("the frame", header, read, lambda n: _pandas(frame.head(n)))


def _factorized(name: str, cells: Any) -> tuple[Any, Any]:
    import pandas as pd

    try:
        return pd.factorize(cells)
    except TypeError:
        raise DataError(f'column "{name}" holds lists or other compound values') from None


def _polars(frame: Any) -> Source:
    import polars as pl

    if isinstance(frame, pl.Series):
        frame = frame.to_frame()
    header = frame.collect_schema().names() if isinstance(frame, pl.LazyFrame) else frame.columns

    def read(names: Sequence[str]) -> dict[str, Raw]:
        table = frame.select(names)
        if isinstance(table, pl.LazyFrame):
            table = table.collect()
        found = {}
        for name in names:
            kind = table[name].dtype
            coder = Coder(written=kind == pl.Decimal, whole=kind in _long_integers())
            coder.add(*_polars_cells(name, table[name]))
            found[name] = coder.finish()
        return found

    return Source("the frame", list(header), read, lambda n: _polars(frame.head(n)))


def _polars_cells(name: str, series: Any) -> tuple[Any, Any]:
    import polars as pl

    if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object):
        raise DataError(f'column "{name}" holds lists or other compound values')
    null = series.is_null().to_numpy()
    if series.dtype in _long_integers():
        return series.cast(pl.String).to_numpy(), null
    if series.dtype.is_integer() or series.dtype == pl.Boolean:
        empty = False if series.dtype == pl.Boolean else 0
        return series.fill_null(empty).to_numpy(), null
    if series.dtype.is_float() or series.dtype in (pl.Date, pl.Datetime, pl.String):
        return series.to_numpy(), null
    try:
        return series.cast(pl.String).to_numpy(), null
    except pl.exceptions.PolarsError:
        raise DataError(
            f'column "{name}" holds values of type {series.dtype.base_type().__name__}; '
            "use texts, numbers, dates or true/false"
        ) from None


def _long_integers() -> tuple[Any, ...]:
    """Polars' types of whole numbers that NumPy has not; older versions lack them."""
    import polars as pl

    return tuple(getattr(pl, name) for name in ("Int128", "UInt128") if hasattr(pl, name))


def _arrow(given: Any, name: str = "the table") -> Source:
    import pyarrow as pa

    if isinstance(given, pa.RecordBatch):
        given = pa.Table.from_batches([given])
    if not hasattr(given, "schema"):
        raise UsageError("give an Arrow table, record batch, reader or data set")
    header = list(given.schema.names)

    def head(rows: int) -> Source:
        few = given.slice(0, rows) if isinstance(given, pa.Table) else given.head(rows)
        return _arrow(few, name)

    once = hasattr(given, "read_all")
    read = lambda names: dict(_arrow_columns(given, names))  # noqa: E731
    return Source(name, header, read, None if once else head)


def _arrow_columns(given: Any, names: Sequence[str]) -> Iterator[tuple[str, Raw]]:
    import pyarrow as pa

    if isinstance(given, pa.Table):
        table = given.select(list(names))
    elif hasattr(given, "to_table"):
        table = given.to_table(columns=list(names))
    else:
        table = given.read_all().select(list(names))
    for name in names:
        cells = table.column(name)
        kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise DataError(f'column "{name}" holds lists or other compound values')
        if kind == pa.time64("ns"):
            cells = pa.chunked_array([_clock(chunk) for chunk in cells.chunks], pa.string())
            kind = cells.type
        try:
            coded = cells.unify_dictionaries() if kind != cells.type else cells.dictionary_encode()
        except pa.ArrowNotImplementedError:
            raise DataError(
                f'column "{name}" holds values of a type that Arrow does not compare; '
                "use texts, numbers, dates or true/false"
            ) from None
        values = coded.chunk(0).dictionary.to_pylist() if coded.num_chunks else []
        parts = [chunk.indices.cast("int32").fill_null(-1).to_numpy() for chunk in coded.chunks]
        codes = np.concatenate(parts) if parts else np.empty(0)
        yield name, Raw(codes.astype(np.int32), values)


def _clock(chunk: Any) -> Any:
    """Times of day to the nanosecond as texts, as DuckDB writes them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = chunk.dictionary_decode() if pa.types.is_dictionary(chunk.type) else chunk
    return pc.replace_substring_regex(plain.cast(pa.string()), r"\.?0*$", "")


def quoted(name: str) -> str:
    """A column's name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'
