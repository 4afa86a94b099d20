"""The custodian's own file: every person's risk, and through which route and attribute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reidbn.attacks.arguments import place_of
from reidbn.attacks.assessment import OVERALL, Assessment
from reidbn.attacks.drivers import most_exposed
from reidbn.attacks.parquet import write_frames
from reidbn.errors import UsageError


def write_restricted(result: Assessment, path: Any, measure: str = OVERALL) -> Path:
    """Write all people, highest risk first, keyed by the subject's id; CSV or Parquet."""
    place = Path(place_of(path, "path"))
    if place.suffix not in (".csv", ".parquet"):
        raise UsageError(f"{place.name}: end the name in .csv or .parquet")
    table = most_exposed(result, len(result), measure).reset_index(names="subject")
    if place.suffix == ".parquet":
        return write_frames(place, [table])
    try:
        table.to_csv(place, index=False, lineterminator="\n")
    except OSError as problem:
        raise UsageError(f"cannot write {place.name}: {problem.strerror}") from None
    return place
