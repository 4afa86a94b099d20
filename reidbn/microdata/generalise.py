"""Generalise, suppress, compare: what a coarser table would look like, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.calls import typed
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.microdata.classes import Codes
from reidbn.microdata.columns import Column, Emptied, column_of, object_array, with_cells
from reidbn.microdata.hierarchy import Hierarchy
from reidbn.microdata.ladders import as_hierarchy
from reidbn.microdata.read import Roles, people_of_history
from reidbn.microdata.table import Columns, People
from reidbn.written import counted

if TYPE_CHECKING:
    import pandas as pd


@typed
def generalise(
    people: People, levels: Mapping[str, int], *, hierarchies: Mapping[str, Any] | None = None
) -> People:
    """The same people with each named column at a level of its hierarchy.

    >>> people = People.from_codes([[0], [1], [2]], ["age"], labels={"age": [50, 52, 61]})
    >>> ladders = {"age": {"50s": [50, 52], "60s": [61]}}
    >>> generalise(people, {"age": 1}, hierarchies=ladders).k()
    1
    """
    given = {name: as_hierarchy(ladder) for name, ladder in (hierarchies or {}).items()}
    for name in (*levels, *given):
        if name not in people.columns:
            raise UsageError(f'no column "{name}"; {did_you_mean(name, people.columns)}')
    history = people.history
    schema = list(history.schema if history else people.schema)
    table = np.array(history.records if history else people.table, order="F")
    for j, column in enumerate(schema):
        if column.name in levels:
            ladder = _ladder(column, given.get(column.name))
            level = _checked(column, levels[column.name], ladder)
            schema[j], new = climbed(column, ladder, level, people.missing)
            table[:, j] = new[table[:, j]]
    notes = (*people.notes, *(f"{name} at level {level}" for name, level in levels.items()))
    whole = people.before
    before = None if whole is None else generalise(whole, levels, hierarchies=hierarchies)
    if history is None:
        return replace(
            people, table=table, schema=tuple(schema), notes=notes, original=people.as_read,
            before=before,
        )  # fmt: skip
    rebuilt = people_of_history(
        replace(history, records=table, schema=tuple(schema)),
        Roles(people.quasi_identifiers, people.sensitive),
        notes,
    )
    return replace(
        people, table=rebuilt.table, schema=rebuilt.schema, history=rebuilt.history, notes=notes,
        original=people.as_read, before=before,
    )  # fmt: skip


def released_at(
    people: People, levels: Mapping[str, int], *, hierarchies: Mapping[str, Any] | None = None
) -> People:
    """The same people with each named column released at a level, finer ones than now included.

    Where a level is under the one that the table stands at, the table as it was read is taken
    again, and columns that are not named go back up to the level at which they stand.
    """
    stand = {column.name: column for column in people.schema if column.level}
    if not any(name in stand and level < stand[name].level for name, level in levels.items()):
        return generalise(people, levels, hierarchies=hierarchies)
    if people.original is None:
        raise UsageError(
            f"{' and '.join(name for name in levels if name in stand)}: the table as it was read "
            "is not kept; start from it"
        )
    ladders: dict[str, Any] = {name: column.hierarchy for name, column in stand.items()}
    ladders |= hierarchies or {}
    again = generalise(
        people.as_read, {name: column.level for name, column in stand.items()} | dict(levels),
        hierarchies=ladders,
    )  # fmt: skip
    told = tuple(f"{column.name} at level " for column in people.schema)
    before = [note for note in people.notes if not note.startswith(told)]
    levels_now = [note for note in again.notes if note.startswith(told)]
    notes, whole = (*before, *levels_now), people.before
    if people.emptied:
        again = empty_cells(again, people.emptied)
    if whole is not None:
        whole = released_at(whole, levels, hierarchies=hierarchies)
    return replace(again, notes=notes, share_kept=people.share_kept, before=whole)


def _ladder(column: Column, given: Hierarchy | None) -> Hierarchy:
    ladder = given or column.hierarchy
    if ladder is None:
        raise UsageError(
            f'column "{column.name}" has no hierarchy; give one: '
            f'hierarchies={{"{column.name}": rb.microdata.Bands(5, 10)}} '
            "(or Prefix, Tree, a CSV file)"
        )
    return ladder


def _checked(column: Column, level: int, ladder: Hierarchy) -> int:
    if not isinstance(level, int | np.integer) or not 0 <= level <= ladder.levels:
        raise UsageError(f'level {level} of "{column.name}": it has levels 0 to {ladder.levels}')
    if level < column.level:
        raise UsageError(
            f'"{column.name}" is already at level {column.level}; start from the table as it was '
            "read: people.as_read.generalise(...)"
        )
    return level


def climbed(column: Column, ladder: Hierarchy, level: int, missing: str) -> tuple[Column, Codes]:
    """The column at a level, and the new code of each old one; the order of values is kept.

    An emptied cell stays one, but where the column is dropped.
    """
    places: dict[Any, int] = {}
    values = column.labels.tolist()
    own = [v.value if isinstance(v, Emptied) else v for v in values]
    try:
        ups = ladder.all_up(own, level)
        if level < ladder.levels:
            ups = [Emptied(up) if isinstance(v, Emptied) else up
                   for up, v in zip(ups, values, strict=True)]  # fmt: skip
        new = [places.setdefault(value, len(places)) for value in ups]
        labels = object_array(list(places)) if level else column.labels
        found = column_of(column.name, labels, hierarchy=ladder, missing=missing, level=level)
    except DataError as problem:
        raise DataError(f'column "{column.name}": {problem}') from None
    return found, np.array(new, dtype=np.int32)


def left_out(people: People, who: NDArray[np.bool_], why: str = "") -> People:
    """The people without some of them, who stood for a share of the population."""
    if not (why or who.any()):
        return people
    kept = people.take(~who)
    note = f"{counted(int(who.sum()), 'person')} suppressed{why}"
    mass = [len(p) if p.weights is None else float(p.weights.sum()) for p in (kept, people)]
    share = people.share_kept * mass[0] / mass[1]
    return replace(kept, notes=(*people.notes, note), share_kept=share, before=people.whole)


@typed
def empty_cells(people: People, where: Mapping[str, ArrayLike]) -> People:
    """The same people with some cells emptied, as they are released by local suppression.

    `where` names rows of each column (numbers, or a mask).  Who knows somebody knows what the cell
    held: alike are then the rows that say so or are empty there, and of one person of 30 whose age
    is emptied among ten of 40 that is one row.  A released file alone does not tell this.  A cell
    that is missing stays as it is.

    `people` have one row each, and values that match themselves alone.

    >>> people = People.from_codes([[0], [1], [1]], ["age"])
    >>> empty_cells(people, {"age": [0]}).class_sizes()
    array([1, 3, 3])
    """
    if people.history is not None:
        raise UsageError("cells of people with several records each cannot be emptied yet")
    table, schema, cells = np.array(people.table, order="F"), list(people.schema), 0
    for name, rows in where.items():
        if name not in people.quasi_identifiers:
            raise UsageError(
                f'"{name}" is no quasi-identifier; {did_you_mean(name, people.quasi_identifiers)}'
            )
        j, gone = people.columns.index(name), _named(people, rows)
        if schema[j].has_missing:  # there is nothing to empty
            gone &= table[:, j] != len(schema[j].labels) - 1
        if schema[j].relation is not None:
            raise UsageError(
                f'cells of "{name}" were emptied, or its values match several others: name all '
                f'cells at once; read with missing="value", and release the column at one level'
            )
        if gone.any():
            schema[j], (kept, empty) = with_cells(schema[j], np.unique(table[gone, j]))
            table[:, j] = np.where(gone, empty[table[:, j]], kept[table[:, j]])
            cells += int(gone.sum())
    if not cells:
        return people
    note = f"{counted(cells, 'cell')} emptied"
    found = replace(people, table=table, schema=tuple(schema), original=people.as_read,
                    notes=(*people.notes, note))  # fmt: skip
    if people.before is None:
        return found
    rows, whole = people.rows_of_whole, len(people.before)
    wide = {name: np.isin(np.arange(whole), rows[_named(people, own)])
            for name, own in where.items()}  # fmt: skip
    return replace(found, before=empty_cells(people.before, wide))


def _named(people: People, rows: ArrayLike) -> NDArray[np.bool_]:
    """Who is meant by row numbers, or by a mask, checked."""
    found = np.zeros(len(people), dtype=bool)
    found[people._rows(rows)] = True
    return found


@typed
def suppress(people: People, k: int, columns: Columns = None, *, may_match: bool = False) -> People:
    """The largest part of the people in which everybody has at least k alike, counted in it.

    Alike are rows that are written alike, as a verdict counts them: with k = 5 the rule of five
    alike is kept.  `may_match=True` counts whoever may match, as `k()` and `class_sizes()` do: a
    missing or general value then needs no other like it.
    """
    left = safe(people, k, columns, may_match=may_match)
    if not left.any():
        raise DataError(f"nobody is left among {k} alike; generalise before suppressing")
    alike = "who may match" if may_match and not people.is_partition else "alike"
    return left_out(people, ~left, f", so that each has {k} {alike}")


def safe(
    people: People, k: int, columns: Columns = None, *, may_match: bool = False
) -> NDArray[np.bool_]:
    """Who is left when those with fewer than k alike go, again and again until nobody must.

    Classes of a partition go as wholes, once.  Where values match several others, whoever goes
    takes a match from others, who may now have too few.  Sizes only fall, so a set of people that
    is safe by itself never loses a member: what is left is the largest such set, and unique.
    """
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise UsageError(f"k = {k}; give a whole number of people alike, at least 1")
    left = np.arange(len(people))
    people = people if may_match else people.as_written()
    part = people
    while left.size:
        enough = part.class_sizes(columns) >= k
        if enough.all():
            break
        left = left[enough]
        if left.size:
            part = people.take(left)
    found = np.zeros(len(people), dtype=bool)
    found[left] = True
    return found


@typed
def suppression_rate(
    people: People, k: int, columns: Columns = None, *, may_match: bool = False
) -> float:
    """The share of people who must go so that each of the others has at least k alike."""
    return float((~safe(people, k, columns, may_match=may_match)).mean())


@typed
def missing_rates(people: People, columns: Columns = None) -> dict[str, float]:
    """The share of cells that are missing or "*", for each column."""
    rates = {}
    for name in people.names(columns):
        column = people.column(name)
        hidden = [i for i, v in enumerate(column.labels.tolist())
                  if v is None or v == "*" or isinstance(v, Emptied)]  # fmt: skip
        codes = people.table[:, people.columns.index(name)]
        rates[name] = float(np.isin(codes, hidden).mean())
    return rates


@dataclass(frozen=True, eq=False)
class TablesCompared:
    """Two tables of the same people side by side."""

    risk: pd.DataFrame
    """One row per measure: before, after."""
    columns: pd.DataFrame
    """One row per column: its level, values and bits of information, before and after."""
    fingerprints: tuple[str, str]

    def __repr__(self) -> str:
        return f"{self.risk.to_string()}\n\n{self.columns.to_string()}"


@typed
def compared_with(after: People, before: People, columns: Columns = None) -> TablesCompared:
    """Class measures and the information left, before (another table of the people) and after."""
    import pandas as pd

    names = before.names(columns)
    sides = {"before": before, "after": after}
    measures = {
        side: pd.Series(_measures(people, names, len(before)), dtype=object)
        for side, people in sides.items()
    }
    rows = {
        name: {
            f"{what} {side}": value
            for what in ("level", "values", "bits")
            for side, people in sides.items()
            for value in [_of_column(people, name)[what]]
        }
        for name in names
    }
    return TablesCompared(
        pd.DataFrame(measures),
        pd.DataFrame.from_dict(rows, orient="index"),
        (before.fingerprint, after.fingerprint),
    )


def _measures(people: People, names: tuple[str, ...], started: int) -> dict[str, float]:
    sizes = people.class_sizes(names)
    found: dict[str, float] = {
        "people": len(people),
        "share left out": 1 - len(people) / started,
        "k": int(sizes.min()),
        "uniques": int((sizes == 1).sum()),
        "mean risk": float((1 / sizes).mean()),
        "share in classes below 5": float((sizes < 5).mean()),
    }
    return found


def _of_column(people: People, name: str) -> dict[str, float]:
    column = people.column(name)
    counts = np.bincount(people.table[:, people.columns.index(name)], minlength=column.cardinality)
    return {"level": column.level, "values": int((counts > 0).sum()), "bits": bits(counts)}


def bits(counts: NDArray[Any]) -> float:
    """Shannon information of a column, sum_v -p_v log2 p_v.

    >>> bits(np.array([2, 1, 1]))
    1.5
    """
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum()) + 0.0


def bits_hidden(have: NDArray[Any], among: Any) -> NDArray[np.float64]:
    """Of each value the bits that its group hides: log2(people in it / people who have it).

    Who is left out, and whose cell is emptied, is hidden among all.
    """
    hidden = np.log2(np.maximum(among, 1)) - np.log2(np.maximum(have, 1))
    return np.where(have > 0, hidden, 0.0)
