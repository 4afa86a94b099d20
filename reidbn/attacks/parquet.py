"""Parquet files of risks, written part by part so that no table need be whole in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reidbn.attacks.arguments import place_of
from reidbn.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


def write_frames(path: Any, frames: Iterable[pd.DataFrame]) -> Path:
    """Write frames of the same columns, one after the other, as one Parquet file."""
    import duckdb

    place = Path(place_of(path, "path"))
    if not place.parent.is_dir():
        raise UsageError(f"cannot write {place.name}: its folder is not there")
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        try:
            with duckdb.connect(f"{folder}/parts.duckdb") as con:
                for i, frame in enumerate(frames):
                    con.register("part", frame)
                    made = "create table risks as" if i == 0 else "insert into risks"
                    con.execute(f"{made} select * from part")  # noqa: S608 - two fixed words
                    con.unregister("part")
                con.table("risks").write_parquet(str(place))
        except (duckdb.Error, OSError) as problem:
            raise UsageError(f"cannot write {place.name}: {type(problem).__name__}") from None
    return place
