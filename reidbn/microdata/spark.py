"""Spark back end of contingency, for sites that have a cluster: needs reidbn[spark] and Java.

Only the collapse is distributed: one group-by on a Parquet path or on a DataFrame of the
caller's session; the cells come to the driver as Arrow or rows, never as a pandas frame (that
turned missing values into the text 'NaN').  A session made here is local, its driver bound to
the loopback address, its web page off, and it ends with the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from reidbn.errors import DataError, MissingPart, UsageError
from reidbn.microdata.classes import Ints
from reidbn.microdata.coding import Coder, Raw, whole_numbers
from reidbn.microdata.header import instead_of
from reidbn.microdata.sources import source_of

_COUNT = "reidbn_count"


@contextmanager
def local_session(threads: int | None = None, *, memory: str = "1g") -> Iterator[Any]:
    """A local Spark session on the loopback address, without its web page, stopped at the end."""
    _need_parts()
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(f"local[{threads or '*'}]")
        .appName("reidbn")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", memory)
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    try:
        yield session
    finally:
        session.stop()


def grouped(
    source: Any, columns: Sequence[str], *, counts: str | None = None, session: Any = None
) -> tuple[Mapping[str, Raw], Ints, list[str]]:
    """Distinct raw cells of the columns, how many records are in each, and all columns' names."""
    if hasattr(source, "groupBy"):
        return _collapsed(source, columns, counts)
    if not isinstance(source, str | Path):
        raise UsageError("Spark reads a Parquet path or one of its own DataFrames")
    if session is not None:
        return _collapsed(_parquet(session, source), columns, counts)
    with local_session() as own:
        return _collapsed(_parquet(own, source), columns, counts)


def _need_parts() -> None:
    import os
    import shutil

    if find_spec("pyspark") is None:
        raise MissingPart('Spark is not installed: pip install "reidbn[spark]"')
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise MissingPart("Spark needs Java, and there is none: install a JDK or set JAVA_HOME")


def _parquet(session: Any, path: str | Path) -> Any:
    from pyspark.errors import AnalysisException

    try:
        return session.read.parquet(str(path))
    except AnalysisException:
        raise DataError(f"{Path(path).name}: cannot be read as Parquet by Spark") from None


def _collapsed(
    table: Any, columns: Sequence[str], counts: str | None
) -> tuple[Mapping[str, Raw], Ints, list[str]]:
    from pyspark.sql import functions

    for name in (*columns, *([] if counts is None else [counts])):
        if name not in table.columns:
            raise UsageError(f'no column "{name}"; {instead_of(name, table.columns)}')
    number = functions.count(functions.lit(1)) if counts is None else functions.sum(_named(counts))
    keys = [functions.col(_named(name)) for name in columns]
    cells = table.groupBy(*keys).agg(number.cast("long").alias(_COUNT))
    raw = _fetched(cells, [*columns, _COUNT])
    return raw, whole_numbers(raw.pop(_COUNT)), list(table.columns)


def _named(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _fetched(cells: Any, names: Sequence[str]) -> dict[str, Raw]:
    if hasattr(cells, "toArrow") and find_spec("pyarrow") is not None:
        return source_of(cells.toArrow()).read(names)
    rows = cells.collect()
    raw = {}
    for j, name in enumerate(names):
        values = np.empty(len(rows), dtype=object)
        values[:] = [row[j] for row in rows]
        coder = Coder()
        coder.add(values, np.array([value is None for value in values], dtype=bool))
        raw[name] = coder.finish()
    return raw
