"""Contingency: the distinct combinations of some columns with their numbers of records.

    contingency(columns) -> (cells, n)

One group-by, and all that larger tables need: the counts on any subset of the columns are its
marginal sums (the sum-out of a factor), so only this step ever sees the records.  Three back
ends give the same cells in the same order, missing values included:

- "numpy": coded people or a frame in memory; a dense cube where the product of cardinalities
  allows it, else one sort of fused keys;
- "duckdb": files and relations, also larger than memory (duck.py);
- "spark": a cluster's Parquet files or DataFrame (spark.py, needs reidbn[spark]).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import refuse_outside, typed
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.microdata.classes import (
    Codes,
    Ints,
    class_ids,
    frequencies_of,
    some_of,
    totals,
)
from reidbn.microdata.coding import Blanks, Raw, tidy, whole_numbers, with_missing
from reidbn.microdata.direct import refuse_direct
from reidbn.microdata.header import first_rows, instead_of
from reidbn.microdata.knowledge import Knowledge
from reidbn.microdata.lattice import refuse_many
from reidbn.microdata.others import Others, others_of
from reidbn.microdata.rows import distinct_rows
from reidbn.microdata.sources import source_of
from reidbn.microdata.subset_table import Progress, parted, progressing, walked
from reidbn.microdata.subset_table import tidy as subset_frame
from reidbn.microdata.table import People, refuse_emptied
from reidbn.theory.frequencies import FrequencyTable
from reidbn.written import counted

if TYPE_CHECKING:
    import pandas as pd

ENGINES = ("numpy", "duckdb", "spark")
MISSING = ("value", "drop")
_DENSE = 1 << 24  # cells of a cube that is counted without sorting, whatever the records
_BATCH = 1 << 20


@dataclass(frozen=True, eq=False, repr=False)
class Contingency:
    """Cells (combinations that occur, sorted, missing last) and how many records are in each.

    >>> from reidbn.microdata.table import People
    >>> table = contingency(People.from_codes([[0, 1], [0, 1], [1, 0]], ["sex", "race"]))
    >>> cells, n = table
    >>> cells.values.tolist(), n.tolist()
    ([[0, 1], [1, 0]], [2, 1])
    """

    columns: tuple[str, ...]
    labels: tuple[NDArray[Any], ...]
    """The values behind each column's codes; None is last where some are missing."""
    codes: Codes
    """Cells x columns, sorted by the first column, then the second, ..."""
    n: Ints
    engine: str
    notes: tuple[str, ...] = ()
    """What was found on the way, in words."""
    others: Others = field(default_factory=Others)
    """The source's other columns, which were not counted by."""

    def __post_init__(self) -> None:
        for array in (self.codes, self.n):
            array.setflags(write=False)

    def __iter__(self) -> Iterator[Any]:
        """`cells, n = table`."""
        yield self.cells
        yield self.n

    def __len__(self) -> int:
        return int(self.n.size)

    @property
    def records(self) -> int:
        """How many records the cells were counted from."""
        return int(self.n.sum())

    @property
    def cells(self) -> pd.DataFrame:
        """The values of the cells, one row each; missing values are None."""
        import pandas as pd

        cells = {}
        for j, (name, labels) in enumerate(zip(self.columns, self.labels, strict=True)):
            cells[name] = pd.Series(labels[self.codes[:, j]], dtype=labels.dtype)
        return pd.DataFrame(cells)

    @typed
    def marginal(self, columns: str | Sequence[str]) -> Contingency:
        """The contingency of fewer columns: the others summed out."""
        wanted = (columns,) if isinstance(columns, str) else tuple(columns)
        for name in wanted:
            if name not in self.columns:
                raise UsageError(f'no column "{name}"; {did_you_mean(name, self.columns)}')
        places = [self.columns.index(name) for name in wanted]
        labels = tuple(self.labels[j] for j in places)
        found = _collapsed(wanted, labels, self.codes[:, places], self.n, self.engine)
        return replace(found, others=self.others.more(n for n in self.columns if n not in wanted))

    @typed
    def frequencies(self, columns: str | Sequence[str] | None = None) -> FrequencyTable:
        """How many cells have each number of records (f_j)."""
        return frequencies_of(self.n if columns is None else self.marginal(columns).n)

    @typed
    def subsets(self, *, most: int | None = None, progress: Progress | None = None) -> pd.DataFrame:
        """The table of subsets that `reidbn.subsets` makes of the records themselves."""
        what = Knowledge(self.columns, tuple((c,) for c in self.columns), np.empty(0))
        cardinalities = [max(labels.size, 1) for labels in self.labels]
        rows = distinct_rows(self.codes, cardinalities, self.n)
        if most is not None:
            refuse_outside("most", most, least=1, most=len(self.columns))
        if most is None or most >= len(self.columns):
            refuse_many(len(self.columns))
            counted = walked(rows, progress)
        else:
            counted = parted(rows, most, progressing(progress, 0))
        return subset_frame(what, counted, records=self.records)

    def __repr__(self) -> str:
        names = ", ".join(self.columns)
        said = "".join(f"; {note}" for note in self.notes)
        cells, records = counted(len(self), "cell"), counted(self.records, "record")
        return f"Contingency({cells} of {records} on {names}{said})"


@typed
def contingency(
    source: Any,
    columns: str | Sequence[str] | None = None,
    *,
    engine: str | None = None,
    counts: str | None = None,
    missing: str = "value",
    missing_values: Any = (),
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
    threads: int | None = None,
    spark: Any = None,
) -> Contingency:
    """The distinct combinations of the columns in a source, with their numbers of records.

    `source` is People, a frame, a path or list of paths (CSV, Parquet, also with *), a DuckDB
    relation or a Spark DataFrame.  With `counts` each row stands for as many records as that
    column says, so that a collapsed file can be collapsed further.  `missing="drop"` leaves out
    rows with a missing cell; nulls, blank texts and `missing_values` are missing, as when people
    are read.  DuckDB keeps within `memory_limit` ("2GB") and spills to `temp_directory`; Spark
    runs in the session `spark`, or in a local one.

    `engine` is numpy, duckdb or spark (by default what suits the source); `threads` is how many
    DuckDB may use.
    """
    wanted = _wanted(source, columns)
    if missing not in MISSING:
        raise UsageError(f'missing="{missing}"; {did_you_mean(missing, MISSING)}')
    blanks = Blanks(missing_values)
    engine = engine or default_engine(source)
    if engine not in ENGINES:
        raise UsageError(f'no engine "{engine}"; {did_you_mean(engine, ENGINES)}')
    if isinstance(source, People):
        if counts is not None:
            raise UsageError("counts= names a column of a file or frame; people count as one each")
        if blanks:
            raise UsageError("people have their missing values: give missing_values= to read_table")
        return _of_people(source, wanted, missing)
    raw, n, header = _raw(
        source, wanted, engine, counts, memory_limit, temp_directory, threads, spark
    )
    found = settle(wanted, raw, n, engine, missing=missing, blanks=blanks)
    looked_at = wanted if counts is None else (*wanted, counts)
    seen = dict(found.others.seen)
    return replace(found, others=others_of(header, looked_at, first_rows(source), seen=seen))


def default_engine(source: Any) -> str:
    """The back end for a source: frames in memory stay there, files that DuckDB reads go to it."""
    home = type(source).__module__.partition(".")[0]
    if home == "pyspark":
        return "spark"
    in_memory = isinstance(source, People | Mapping) or home in ("pandas", "polars", "pyarrow")
    if isinstance(source, str | Path) and Path(source).is_file():
        from reidbn.microdata.duck import reads

        in_memory = not reads(Path(source))
    return "numpy" if in_memory else "duckdb"


def settle(
    columns: Sequence[str],
    raw: Mapping[str, Raw],
    n: Ints,
    engine: str,
    *,
    missing: str,
    blanks: Blanks,
) -> Contingency:
    """Raw cells made the same for every back end: values tidied, equal cells merged, sorted."""
    labels: list[NDArray[Any]] = []
    direct: dict[str, str] = {}
    codes = np.empty((n.size, len(columns)), dtype=np.int32, order="F")
    for j, name in enumerate(columns):
        codes[:, j], values = tidy(name, raw[name], blanks)
        labels.append(values)
        direct |= refuse_direct(name, codes[:, j], values, n, allowed=True)
    if missing == "drop":
        whole = (codes >= 0).all(axis=1)
        codes, n = np.asfortranarray(codes[whole]), n[whole]
    for j in range(len(columns)):
        codes[:, j], labels[j] = with_missing(codes[:, j], labels[j])
    table = _collapsed(tuple(columns), tuple(labels), codes, n, engine)
    return replace(table, notes=tuple(blanks.notes), others=Others(seen=tuple(direct.items())))


def _wanted(source: Any, columns: str | Sequence[str] | None) -> tuple[str, ...]:
    if isinstance(source, People):
        return source.names(columns)
    if columns is None:
        raise UsageError("name the columns to count: contingency(source, [...])")
    wanted = (columns,) if isinstance(columns, str) else tuple(columns)
    if not wanted or len(set(wanted)) != len(wanted):
        raise UsageError(f"columns {list(wanted)}; name each once, at least one")
    return wanted


def _raw(
    source: Any,
    wanted: Sequence[str],
    engine: str,
    counts: str | None,
    memory_limit: str | None,
    temp_directory: str | Path | None,
    threads: int | None,
    spark: Any,
) -> tuple[Mapping[str, Raw], Ints, list[str]]:
    """The columns as the back end gives them, records of each row, and all columns' names."""
    if engine == "duckdb":
        from reidbn.microdata.duck import grouped

        return grouped(
            source,
            wanted,
            counts=counts,
            memory_limit=memory_limit,
            temp_directory=temp_directory,
            threads=threads,
        )
    if engine == "spark":
        from reidbn.microdata.spark import grouped as grouped_by_spark

        return grouped_by_spark(source, wanted, counts=counts, session=spark)
    table = source_of(source)
    for name in (*wanted, *([] if counts is None else [counts])):
        if name not in table.header:
            raise UsageError(f'no column "{name}"; {instead_of(name, table)}')
    for name in wanted:
        if table.header.count(name) > 1:
            raise DataError(f"{table.name}: two columns have the same name; rename one")
    raw = table.read([*wanted, *([] if counts is None else [counts])])
    rows = raw[wanted[0]].codes.size
    n = np.ones(rows, dtype=np.int64) if counts is None else whole_numbers(raw[counts])
    return raw, n, table.header


def _of_people(people: People, columns: Sequence[str], missing: str) -> Contingency:
    refuse_emptied(people, "contingency", columns)
    codes, labels = people.codes(columns), [people.labels(name) for name in columns]
    if missing == "drop":
        gone = [len(x) - 1 if len(x) and x[-1] is None else -1 for x in labels]
        codes = np.asfortranarray(codes[(codes != np.array(gone)).all(axis=1)])
    found = _collapsed(tuple(columns), tuple(labels), codes, None, "numpy")
    return replace(found, others=people.others.more(n for n in people.columns if n not in columns))


def _collapsed(
    columns: tuple[str, ...],
    labels: tuple[NDArray[Any], ...],
    codes: Codes,
    n: Ints | None,
    engine: str,
) -> Contingency:
    """Equal rows of codes merged and sorted; labels that no row has left are dropped."""
    spread = [max(x.size, 1) for x in labels]
    domain = int(np.prod([float(c) for c in spread]))
    if domain <= max(_DENSE, 4 * codes.shape[0]):
        cells, counts = _dense(codes, spread, n, domain)
    else:
        ids, count = class_ids(codes, spread)
        cells = np.asfortranarray(codes[some_of(ids, count)])
        counts = totals(ids, n, count).astype(np.int64)
    used = []
    for j, values in enumerate(labels):
        present = np.zeros(values.size, dtype=bool)
        present[cells[:, j]] = True
        cells[:, j] = (np.cumsum(present) - 1)[cells[:, j]]
        used.append(_plain(values[present]))
    return Contingency(columns, tuple(used), cells, counts, engine)


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """An array of numbers where nothing else is left, as `tidy` makes it."""
    kept = values.tolist()
    if values.dtype != object or not kept or kept[-1] is None:
        return values
    numbers = isinstance(kept[0], int | float) and all(abs(value) < 2**63 for value in kept)
    return np.array(kept) if numbers else values


def _dense(codes: Codes, spread: Sequence[int], n: Ints | None, domain: int) -> tuple[Codes, Ints]:
    """All possible cells counted in one cube, some records at a time."""
    cube = np.zeros(domain, dtype=np.int64)
    step = max(_BATCH, 2 * domain)
    for start in range(0, codes.shape[0], step):
        key = np.zeros(min(step, codes.shape[0] - start), dtype=np.int64)
        for j, c in enumerate(spread):
            key *= c
            key += codes[start : start + step, j]
        if n is None:
            cube += np.bincount(key, minlength=domain)
        else:
            np.add.at(cube, key, n[start : start + step])
    occupied = np.flatnonzero(cube)
    cells = np.empty((occupied.size, len(spread)), dtype=np.int32, order="F")
    left = occupied
    for j in range(len(spread) - 1, -1, -1):
        left, cells[:, j] = np.divmod(left, spread[j])
    return cells, cube[occupied]
