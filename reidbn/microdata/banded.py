"""A table as an attacker sees it who knows a column in bands only, such as the decade of an age.

The records that match somebody of 34 are then all those whose released value may be an age of 30 to
39.  Where every person behind a released value was in one band, the value stands for that band;
where they were in several (the table says 20 to 59), the value is coarser than what is known, and
is matched as it stands.  Both never count more people alike than there are; where released bands
cross the known ones (60 to 74 and 75 to 89 against the seventies) they count fewer, and say so.
A missing value that matches anything goes on to do so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import DataError
from reidbn.microdata.columns import Column, column_of, object_array
from reidbn.microdata.decimals import bands
from reidbn.microdata.table import People

CROSSES = (
    "; released values that reach over several of these bands are matched as they are released, so "
    "people may have more alike than are counted, and never fewer: their risk may be lower"
)
OLDEST = 130  # years
_DATE = re.compile(r"(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4})(?:[ T].*)?")
FEWEST = 3  # bands that numbers must reach, or they may be codes of groups already


def seen(people: People, bands: Mapping[str, float]) -> People:
    """The people with each named column in bands of this width."""
    for name, width in bands.items():
        found = _in_bands(people, name, width)
        if found is not None:
            column, codes = found
            table = np.array(people.table, order="F")
            place = people.columns.index(name)
            table[:, place] = codes
            schema = (*people.schema[:place], column, *people.schema[place + 1 :])
            people = replace(people, table=table, schema=schema)
    return people


def can_be_banded(people: People, name: str, width: float, *, most: float = np.inf) -> bool:
    """Whether a column is of numbers that reach over several bands, and can be seen in them."""
    return why_not_banded(people, name, width, most=most) is None


def is_finer(people: People, name: str, width: float) -> bool:
    """Whether a column is of numbers that bands of this width would take together."""
    numbers = _numbers(people.as_read.labels(name))
    if numbers is None or not can_be_banded(people, name, width):
        return False
    return bool((numbers[np.isfinite(numbers)] % width != 0).any())


def why_not_banded(people: People, name: str, width: float, *, most: float = np.inf) -> str | None:
    """What keeps a column from being seen in bands; None where nothing does."""
    numbers = _numbers(people.as_read.labels(name))
    if numbers is None or not FEWEST * width <= np.nanmax(numbers) <= most * width:
        if numbers is None or not np.nanmax(numbers) < FEWEST * width:
            return f"its values are not numbers over several bands of {width:g}"
        return (
            f"its numbers stay under {FEWEST * width:g} ({FEWEST} bands of {width:g}) and could be "
            f"codes of groups; where they are not, release it in these bands, rb.Bands({width:g})"
        )
    if people.history is not None and people.history.varies(name):
        return "it changes within a person's history"
    if not _matches_by_equality(people, name):
        return "its released values match several others"
    return None


def refuse_dates(people: People, name: str, what: str, width: float) -> None:
    """Raise where bands of a number are known, and the column holds dates."""
    labels = [str(v) for v in people.as_read.labels(name).tolist() if v is not None]
    if labels and all(_DATE.fullmatch(label) for label in labels):
        start = (
            f"{what} is known in bands of {width:g}, and {name} holds dates, which nobody knows by "
            "it: write the number (an age in years) as a column of its own and name that one, or "
        )
        raise DataError(
            f'{start}leave it out: without=["{what}"], unknown=["{name}"]',
            in_shell=f"{start}leave it out: --without {what} --unknown {name}",
        )


def refuse_no_ages(column: str, edges: Sequence[float], values: NDArray[Any]) -> None:
    """Raise where a look-up by bands of age meets numbers that are no ages: all would be oldest."""
    numbers = _numbers(values)
    if max(edges) > OLDEST or numbers is None or not np.nanmax(numbers) > OLDEST:
        return
    raise DataError(
        f"the scenario looks up ages, and {column} holds numbers above {OLDEST}, which would count "
        "as the oldest: a year of birth or months are no age in years; a code of a missing age is "
        "named when the table is read, missing_values=[...]",
        in_shell=f"the scenario looks up ages, and {column} holds numbers above {OLDEST}, which "
        "would count as the oldest: a year of birth or months are no age in years; a code of a "
        "missing age is named: --missing-values CODE",
    )


def _matches_by_equality(people: People, name: str) -> bool:
    """Whether a value matches itself alone, and a missing one perhaps all."""
    column = people.column(name)
    last = column.cardinality - 1
    wild = people.missing == "matches-anything" and column.has_missing
    return column.relation is None or (wild and set(column.relation.others) <= {last})


def _numbers(labels: NDArray[Any]) -> NDArray[np.float64] | None:
    """The labels as numbers, missing ones as NaN; None where one is something else."""
    try:
        found = np.array([np.nan if v is None else float(str(v)) for v in labels.tolist()])
    except ValueError:
        return None
    return found if np.isfinite(found).any() else None


def _in_bands(people: People, name: str, width: float) -> tuple[Column, NDArray[np.int32]] | None:
    if not can_be_banded(people, name, width):
        return None
    original, released = people.as_read, people.column(name)
    numbers = _numbers(original.labels(name))
    assert numbers is not None  # noqa: S101 - can_be_banded looked
    band = bands(numbers, width)[original.table[:, original.columns.index(name)]]
    codes = people.table[:, people.columns.index(name)]
    lowest = np.full(released.cardinality, np.inf)
    highest = np.full(released.cardinality, -np.inf)
    known = ~np.isnan(band)
    np.minimum.at(lowest, codes[known], band[known])
    np.maximum.at(highest, codes[known], band[known])
    hidden = np.zeros(released.cardinality, dtype=bool)  # values behind which somebody is missing
    hidden[codes[~known]] = True
    one_band = (lowest == highest) & ~hidden
    if released.has_missing:
        one_band[-1] = False
    keys = [
        f"{low * width:g} to below {(low + 1) * width:g}" if one else label
        for low, one, label in zip(lowest, one_band, released.labels.tolist(), strict=True)
    ]
    labels = sorted(dict.fromkeys(keys), key=lambda label: label is None)  # missing is last
    place = {label: code for code, label in enumerate(labels)}
    new = np.array([place[key] for key in keys], dtype=np.int32)
    shown = object_array(labels)
    if labels[-1] is not None and not released.has_missing:
        return Column(name, shown), new[codes]
    return column_of(name, shown, missing=people.missing), new[codes]


def reaches_over(people: People, name: str, width: float) -> bool:
    """Whether a released value stands for people of several bands."""
    found = _in_bands(people, name, width)
    return found is not None and bool({*found[0].labels.tolist()} & {*_written(people, name)})


def _written(people: People, name: str) -> list[Any]:
    return [label for label in people.labels(name).tolist() if label is not None]
