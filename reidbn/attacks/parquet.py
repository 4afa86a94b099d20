"""Parquet files of risks, written part by part so that no table need be whole in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from glob import glob
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reidbn.attacks.routes.arguments import place_of
from reidbn.errors import DataError, UsageError
from reidbn.microdata.sources import quoted
from reidbn.release.writing import PARQUET, ends_in, is_stream, said_by_disk, whole
from reidbn.written import agree, counted

if TYPE_CHECKING:
    import pandas as pd

_EVERY_CELL: dict[str, Any] = {"pandas_analyze_sample": 2**62}
"""Of a column of Python's objects each cell says the kind: from a thousand cells DuckDB takes 1.5
for 2 where these are whole numbers."""


def write_frames(path: Any, frames: Iterable[pd.DataFrame]) -> Path:
    """Write frames of the same columns, one after the other, as one Parquet file."""
    import duckdb

    place = _place(path)
    with whole(place, of_people=True) as made:
        try:
            with duckdb.connect(_beside(made), config=_settings(made)) as con:
                for i, frame in enumerate(frames):
                    into = "create table risks as" if i == 0 else "insert into risks"
                    try:
                        con.register("part", frame)
                        con.execute(f"{into} select * from part")  # noqa: S608 - two fixed words
                    except duckdb.NotImplementedException:
                        raise _not_held(place, frame, _without_a_kind(con, frame)) from None
                    con.unregister("part")
                    if i == 0:
                        held = con.table("risks")
                        for name, kind in zip(held.columns, held.types, strict=True):
                            if str(kind) in _NOT_HELD:
                                raise _not_held(place, frame, name)
                con.table("risks").write_parquet(str(made))
        except (duckdb.IOException, OSError) as problem:
            raise said_by_disk(problem) from None
        except duckdb.Error as problem:
            raise UsageError(f"cannot write {place.name}: {type(problem).__name__}") from None
    return place


_NOT_HELD = ("HUGEINT", "UHUGEINT", "INTERVAL")
"""Kinds of DuckDB's that a Parquet file of its own rounds: beyond 64 bits, below a millisecond."""


def _without_a_kind(con: Any, frame: pd.DataFrame) -> Any:
    """The first column of which DuckDB knows no kind."""
    import duckdb

    for name in frame.columns:
        try:
            con.from_df(frame[[name]]).limit(0).fetchall()
        except duckdb.NotImplementedException:
            return name
    return frame.columns[0]


def _not_held(place: Path, frame: pd.DataFrame, name: Any) -> UsageError:
    return UsageError(
        f"{place.name}: the values of {name} are of a kind ({frame[name].dtype}) that a Parquet "
        f"file would not hold as they are; write .csv, or make {name} texts first"
    )


def _beside(made: Path) -> str:
    """Where parts are put together: in the private folder of the file; for a pipe in memory."""
    return ":memory:" if is_stream(made) else str(made.with_suffix(".duckdb"))


def _settings(made: Path) -> dict[str, Any]:
    """Nothing of people is spilled but to the private folder of the file."""
    return _EVERY_CELL | {"temp_directory": "" if is_stream(made) else str(made.parent)}


def write_joined(
    path: Any, cells: pd.DataFrame, source: Any, on: Sequence[str], *, people: str
) -> Path:
    """Write every row of Parquet files with the columns of its cell, in order, as one file.

    The column `people` says how many rows each cell has; it is checked, and not written.
    """
    import duckdb

    place = _place(path)
    if is_stream(place):
        raise UsageError(f"{place.name} is no file: what is written is read again; name a file")
    files = [str(one) for one in ([source] if isinstance(source, str | PathLike) else source)]
    if place.resolve() in {Path(found).resolve() for one in files for found in glob(one)}:
        raise UsageError(
            f"{place.name} is the source itself, which would be lost; write to another file"
        )
    new = [name for name in cells.columns if name not in (*on, people)]
    same = " and ".join(f"s.{quoted(n)} is not distinct from c.{quoted(n)}" for n in on)
    risks = ", ".join(f"c.{quoted(n)}" for n in new)
    keys = ", ".join(map(quoted, on))
    with whole(place, of_people=True) as made:
        try:
            with duckdb.connect(config=_settings(made)) as con:
                # One thread, and the cells looked up row by row: the rows keep their order.
                con.execute("set threads = 1")
                con.execute("set disabled_optimizers = 'join_order, build_side_probe_side'")
                con.register("cells", cells)
                rows = _parquet(con, files)
                both = [name for name in new if name in rows.columns]
                if both:
                    raise UsageError(
                        f"the source has a column {both[0]} already; rename it, so that the risk "
                        f"of that name can stand beside it"
                    )
                con.register("source", rows)
                joined = con.sql(
                    f"select s.*, {risks} from source s left join cells c on {same}"  # noqa: S608
                )
                joined.write_parquet(str(made))
                found = con.read_parquet(str(made))
                without = found.filter(f"{quoted(new[0])} is null").count("*").fetchall()[0][0]
                rows_of = f"select {keys}, count(*) as rows_found from source group by all"  # noqa: S608
                other = con.sql(
                    f"select count(*) from cells c left join ({rows_of}) s on {same} "  # noqa: S608
                    f"where coalesce(s.rows_found, 0) <> c.{quoted(people)}"
                ).fetchall()[0][0]
        except (duckdb.Error, OSError) as problem:
            raise UsageError(
                f"cannot write {place.name} from the source: {type(problem).__name__}"
            ) from None
        if without:
            raise DataError(
                f"{counted(without, 'row')} of the source {agree(without, 'is', 'are')} in none of "
                f"the cells, so nothing is written: "
                f"give the files that were counted, with missing cells as nulls and values as the "
                f"cells have them"
            )
        if other:
            raise DataError(
                f"{counted(other, 'cell')} {agree(other, 'has', 'have')} another number of rows in "
                f"the source than were counted, so nothing is written: the risks are those of the "
                f"table that was counted; give all of its files, and no others"
            )
    return place


def _place(path: Any) -> Path:
    place = Path(place_of(path, "path"))
    ends_in(place, PARQUET)
    return place


def _parquet(con: Any, files: Sequence[str]) -> Any:
    import duckdb

    try:
        return con.read_parquet(list(files))
    except duckdb.Error:
        raise DataError(
            f"{', '.join(Path(one).name for one in files)}: cannot be read as Parquet; source= "
            f"takes the Parquet files that were counted"
        ) from None
