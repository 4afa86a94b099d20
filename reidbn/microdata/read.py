"""From coded rows to People: missing cells, histories and matching, in that order.

Reading: from any source to People, with every rule about bad input in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.aside import aside
from reidbn.calls import typed
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.microdata.classes import Codes, Floats, Ints
from reidbn.microdata.coding import Blanks, Raw, may_be_codes, said_twice, spellings, with_missing
from reidbn.microdata.coding import tidy as coded
from reidbn.microdata.columns import Column, column_of
from reidbn.microdata.direct import of_several_rows, refuse_direct, tells_persons
from reidbn.microdata.header import NO_HEADER, has_no_header, instead_of, refuse_repeated
from reidbn.microdata.histories import MODES, History, by_person
from reidbn.microdata.ladders import as_hierarchy
from reidbn.microdata.others import AS_ID, others_of
from reidbn.microdata.sources import Source, source_of
from reidbn.microdata.table import MISSING_POLICIES, People, TableSource
from reidbn.written import agree, counted

KEPT = 1 << 26  # bytes of a frame up to which it is kept, to be written with changes later


@dataclass(frozen=True)
class Roles:
    """Which columns an attacker may know, and which are secret."""

    known: tuple[str, ...]
    secret: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.known, *self.secret)


@dataclass(eq=False)
class _Rows:
    """Coded rows on their way: missing cells are -1 until they are settled."""

    codes: Codes
    schema: list[Column]
    weights: Floats | None
    order: Ints | None = None
    """The file's row of each row, once they are sorted by person or some are left out."""
    owner: Ints | None = None

    def keep(self, rows: NDArray[np.bool_]) -> None:
        self.codes = np.asfortranarray(self.codes[rows])
        self.weights = None if self.weights is None else self.weights[rows]
        self.order = np.flatnonzero(rows) if self.order is None else self.order[rows]
        if self.owner is not None:
            _, self.owner = np.unique(self.owner[rows], return_inverse=True)


def assemble(
    codes: Codes,
    schema: Sequence[Column],
    roles: Roles,
    *,
    missing: str = "value",
    weights: Floats | None = None,
    subjects: tuple[Codes, NDArray[Any]] | None = None,
    mode: str = "multiset",
) -> People:
    """People from rows of codes (-1 where missing), grouped by subject where one has several."""
    rows = _Rows(codes, list(schema), weights)
    notes: list[str] = []
    if subjects is not None:
        _by_subject(rows, subjects[0].astype(np.int64))
    dropped = _drop_missing(rows) if missing == "drop" else 0
    if dropped:
        notes.append(f"{counted(dropped, 'person')} dropped for a missing cell")
    _settle(rows, missing)
    firsts = _firsts(rows)
    ids = None if subjects is None else subjects[1][subjects[0][firsts]]
    origin = None if rows.order is None else firsts
    if rows.owner is None or rows.owner[-1] + 1 == rows.owner.size:
        return People(
            rows.codes, tuple(rows.schema), roles.known, roles.secret, subject_ids=ids,
            weights=rows.weights, missing=missing, dropped=dropped, notes=tuple(notes),
            origin=origin,
        )  # fmt: skip
    people = _of_histories(rows, roles, mode, notes)
    return replace(
        people, subject_ids=ids, weights=_per_person(rows), missing=missing, dropped=dropped,
        origin=origin,
    )  # fmt: skip


def _by_subject(rows: _Rows, subjects: Ints) -> None:
    rows.order, rows.owner = by_person(subjects)
    rows.codes = np.asfortranarray(rows.codes[rows.order])
    rows.weights = None if rows.weights is None else rows.weights[rows.order]


def _firsts(rows: _Rows) -> Ints:
    """The file's row of each person's first record."""
    if rows.order is None:
        return np.arange(rows.codes.shape[0])
    if rows.owner is None:
        return rows.order
    starts = np.flatnonzero(np.diff(rows.owner, prepend=-1))
    return rows.order[starts]


def _drop_missing(rows: _Rows) -> int:
    """Leave out everybody with a missing cell, and the values that only they had."""
    bad: NDArray[np.bool_] = np.any(rows.codes < 0, axis=1)
    if rows.owner is not None:
        bad = np.bincount(rows.owner, weights=bad)[rows.owner] > 0
    if not bad.any():
        return 0
    if bad.all():
        raise DataError('every person has a missing cell; missing="drop" leaves nobody')
    before = bad.size if rows.owner is None else int(rows.owner[-1]) + 1
    rows.keep(~bad)
    for j, column in enumerate(rows.schema):
        used, rows.codes[:, j] = np.unique(rows.codes[:, j], return_inverse=True)
        rows.schema[j] = replace(column, labels=column.labels[used])
    after = rows.codes.shape[0] if rows.owner is None else int(rows.owner[-1]) + 1
    return before - after


def _settle(rows: _Rows, missing: str) -> None:
    """Missing cells become a last code labelled None, and relations follow from the labels."""
    for j, column in enumerate(rows.schema):
        rows.codes[:, j], labels = with_missing(rows.codes[:, j], column.labels)
        try:
            rows.schema[j] = column_of(
                column.name, labels,
                hierarchy=column.hierarchy, missing=missing, level=column.level,
            )  # fmt: skip
        except DataError as problem:
            raise DataError(f'column "{column.name}": {problem}') from None


def _of_histories(rows: _Rows, roles: Roles, mode: str, notes: list[str]) -> People:
    if rows.owner is None:
        raise DataError("no subject to group the rows by")
    kind = "multiset" if mode == "person" else mode
    history = History(kind, rows.owner, rows.codes, tuple(rows.schema))
    notes.append(
        f"{counted(rows.owner.size, 'record')} of {counted(history.persons, 'person')}, "
        + ("compared on columns that never change" if mode == "person" else f"compared as {mode}s")
    )
    if mode == "person":
        changing = [name for name in roles.known if history.varies(name)]
        if len(changing) == len(roles.known):
            raise DataError(
                'every quasi-identifier changes within a person; history="person" has none'
            )
        if changing:
            notes.append(f"left out, since they change within a person: {', '.join(changing)}")
        roles = Roles(tuple(n for n in roles.known if n not in changing), roles.secret)
        history = history.select(roles.all)
    return people_of_history(history, roles, tuple(notes))


def people_of_history(history: History, roles: Roles, notes: tuple[str, ...]) -> People:
    """One row per person; a column that changes within persons is coded as whole histories."""
    table = np.empty((history.persons, len(roles.all)), dtype=np.int32, order="F")
    schema = []
    for j, name in enumerate(roles.all):
        if history.varies(name) and history.schema[history.place(name)].relation is not None:
            raise DataError(
                f'column "{name}" changes within a person and has values that match others; '
                'histories match by equality: use missing="value" or history="person"'
            )
        column, table[:, j] = history.column(name)
        schema.append(column)
    return People(table, tuple(schema), roles.known, roles.secret, history=history, notes=notes)


def _per_person(rows: _Rows) -> Floats | None:
    """Each person's weight, which must be the same on all their records."""
    if rows.weights is None or rows.owner is None:
        return rows.weights
    starts = np.flatnonzero(np.diff(rows.owner, prepend=-1))
    weights = rows.weights[starts]
    wrong = np.unique(rows.owner[rows.weights != weights[rows.owner]]).size
    if wrong:
        raise DataError(
            f"{counted(wrong, 'person')} {agree(wrong, 'has', 'have')} different weights on their "
            "records; give each one weight"
        )
    return weights


# -- reading ---------------------------------------------------------------------------------------


@typed
def read_table(
    source: Any,
    *,
    quasi_identifiers: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    subject_id: str | None = None,
    weights: str | None = None,
    missing: str = "value",
    missing_values: Any = (),
    history: str = "multiset",
    hierarchies: Mapping[str, Any] | None = None,
    tidy: bool = False,
    allow_direct: bool = False,
    delimiter: str | None = None,
    identifiers: object = None,
) -> People:
    """People from a file or a frame: only the named columns are read, and coded once.

    `source` is a path (CSV, also gzip; Parquet; Arrow), a pandas or polars frame, an Arrow
    table, a DuckDB relation, or columns in a dict.  `missing` says what a missing cell is: a
    "value" of its own, one that "matches-anything", or a reason to "drop" the person; nulls,
    blank texts and `missing_values` are missing.  With `subject_id` several rows may be one
    person's history, compared as `history` says: as a "multiset" of records, a "set", a
    "sequence", or by the "person" columns only, which never change [Antoniou22].  Texts that
    differ only by capitals or blanks are told in `.notes`; `tidy=True` takes them as one.

    `quasi_identifiers` are the columns an attacker may know, `sensitive` those with secrets,
    `weights` the column of survey weights, `hierarchies` how a column may be made coarse.
    `allow_direct` keeps names and numbers that point at a person; direct `identifiers` are not
    read, so naming them is an error. `delimiter` parts the cells of a CSV file.

    >>> people = read_table({"sex": ["F", "F", "M"], "age": [50, 50, 61]},
    ...                     quasi_identifiers=["sex", "age"])
    >>> people.k(), people.class_sizes()
    (1, array([2, 2, 1]))
    """
    if identifiers is not None:
        raise UsageError(
            "identifiers= usually means direct identifiers (names, numbers), which are not read; "
            "name the columns that an attacker may know in quasi_identifiers=[...]"
        )
    _one_of("missing", missing, MISSING_POLICIES)
    _check_history(history, subject_id)
    roles = Roles(_listed(quasi_identifiers), _listed(sensitive))
    table = source_of(source, delimiter=delimiter)
    wanted = [*roles.all, *(name for name in (subject_id, weights) if name is not None)]
    _check_names(table, roles, subject_id, weights)
    ladders = {name: as_hierarchy(given) for name, given in (hierarchies or {}).items()}
    for name in ladders:
        if name not in roles.all:
            raise UsageError(
                f'a hierarchy is given for "{name}", which is none of the columns that were named '
                f"(quasi_identifiers=, sensitive=); {did_you_mean(name, roles.all)}"
            )

    raw, remarks = _read(table, wanted, missing_values, alone=subject_id is None)
    for said in remarks:
        aside(("several rows", said), 1.0, said)
    if has_no_header(table):
        aside(("no header", table.name), 1.0, NO_HEADER)
        remarks = [*remarks, NO_HEADER]
    rows = raw[wanted[0]].codes.size
    if rows == 0:
        raise DataError(f"{table.name}: no rows; need at least one person")
    blanks = Blanks(missing_values)
    mass = _weights(weights, raw, blanks) if weights else None
    subjects = _subjects(subject_id, raw.pop(subject_id), blanks) if subject_id else None
    direct: dict[str, str] = {}
    schema, codes = [], np.empty((rows, len(roles.all)), dtype=np.int32, order="F")
    for j, name in enumerate(roles.all):
        is_written = raw[name].written
        codes[:, j], labels = coded(name, raw.pop(name), blanks, as_text=name in ladders)
        if labels.size == 0:
            raise DataError(f'column "{name}" is missing in every row; leave it out')
        direct |= refuse_direct(name, codes[:, j], labels, allowed=allow_direct)
        plain, shorter, gone = spellings(codes[:, j], labels)
        if gone and tidy:
            codes[:, j], labels = plain, shorter
        if gone:
            remarks.append(_about_spellings(name, gone, tidy=tidy))
        remarks += _about_numbers(name, labels, written=is_written)
        schema.append(Column(name, labels, ladders.get(name)))
    people = assemble(
        codes, schema, roles, missing=missing, weights=mass, subjects=subjects, mode=history
    )
    notes = (*people.notes, *remarks, *blanks.notes)
    for_what = {subject_id: AS_ID, weights: "for the survey weights"}
    others = others_of(table.header, roles.all, table, for_what, direct)
    reading = TableSource(_at_hand(source), delimiter)
    return replace(people, notes=notes, others=others, reading=reading)


def _read(
    table: Source, wanted: Sequence[str], missing_values: Any, *, alone: bool
) -> tuple[dict[str, Raw], list[str]]:
    """The columns that are wanted; where each row is to stand `alone`, a word if it does not.

    Then what tells persons apart by its name is looked at, too, for repeats and nothing else.
    """
    columns = [*dict.fromkeys(wanted)]
    ids = [n for n in table.header if tells_persons(n) and n not in columns]
    if not ids or not alone or table.head is None:
        return table.read(columns), []
    try:
        raw = table.read([*columns, *ids])
    except DataError:  # also of a column that nobody asked for
        return table.read(columns), []
    found = [of_several_rows(name, raw.pop(name), Blanks(missing_values)) for name in ids]
    return raw, [said for said in found if said]


def _at_hand(source: Any) -> Any:
    """A source to write from later: a path, or a frame that is not large; else None."""
    if isinstance(source, str | Path | Mapping):
        return source
    if type(source).__module__.partition(".")[0] == "pandas":
        return source if source.memory_usage().sum() <= KEPT else None
    return None


def _about_spellings(name: str, gone: int, *, tidy: bool) -> str:
    if tidy:
        return (
            f"{name}: {counted(gone, 'spelling')} that {agree(gone, 'differs', 'differ')} from "
            f"another only by capitals or blanks {agree(gone, 'was', 'were')} made one with it"
        )
    values = f"{counted(gone, 'value')} {agree(gone, 'differs', 'differ')}"
    return (
        f"{name}: {values} from another only by capitals or blanks, which makes people look more "
        "unusual than they are; tidy=True takes them as one"
    )


def _about_numbers(name: str, labels: NDArray[Any], *, written: bool) -> list[str]:
    """Of texts that say numbers, in two ways or as codes may do in a file without types."""
    said = []
    if written and may_be_codes(labels):
        said.append(
            f"{name}: every value is written as a number, but those with an exponent are all of "
            f"the form 1E5, which may be codes, and the column is texts; if they are numbers, "
            f"write 100000 or 1.0E5"
        )
    if twice := said_twice(labels):
        said.append(
            f"{name}: {counted(twice, 'text')} {agree(twice, 'says', 'say')} a number that another "
            f"one says, too (as 5, 5.0 and 05), and texts are not taken as one: people look more "
            f"unusual than they are, and their secret less certain; write each number in one way, "
            f"or codes with a letter before them"
        )
    return said


def _one_of(what: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise UsageError(f'{what}="{given}"; {did_you_mean(given, known)}')


def _check_history(history: str, subject_id: str | None) -> None:
    """A way of comparing histories, and histories to compare."""
    _one_of("history", history, MODES)
    if history != MODES[0] and subject_id is None:
        raise UsageError(f'history="{history}" compares the rows of a person; name subject_id=')


def _listed(given: str | Sequence[str]) -> tuple[str, ...]:
    if not isinstance(given, Iterable):
        raise UsageError(f"{given} names no columns; give a name or a list of names")
    return (given,) if isinstance(given, str) else tuple(str(name) for name in given)


def _check_names(table: Source, roles: Roles, subject_id: str | None, weights: str | None) -> None:
    """Every name once, there, and in one role; no name twice in the table."""
    if not roles.known:
        raise UsageError("no quasi-identifiers; name at least one column that an attacker may know")
    wanted = [*roles.all, *(name for name in (subject_id, weights) if name is not None)]
    for name in wanted:
        if name not in table.header:
            raise UsageError(f'{table.name}: no column "{name}"; {instead_of(name, table)}')
        if wanted.count(name) > 1:
            raise UsageError(f'column "{name}" is named twice; give each column one role')
    refuse_repeated(table)


def _weights(name: str, raw: dict[str, Raw], blanks: Blanks) -> Floats:
    """Survey weights: one positive number per row."""
    codes, labels = coded(name, raw.pop(name), blanks)
    if (codes < 0).any():
        raise DataError(f'{int((codes < 0).sum())} rows have no weight in "{name}"; give each one')
    try:
        values = labels.astype(np.float64)
    except (ValueError, TypeError):
        raise DataError(f'the weights in "{name}" are not numbers') from None
    bad = ~(np.isfinite(values) & (values > 0))
    if bad.any():
        raise DataError(
            f'{int(bad[codes].sum())} weights in "{name}" are not above 0 and finite; '
            "a weight is the number of people a row stands for"
        )
    return np.asarray(values[codes], dtype=np.float64)


def _subjects(name: str, raw: Raw, blanks: Blanks) -> tuple[Codes, NDArray[Any]]:
    """The subject of each row, as codes, and the subjects' names."""
    codes, labels = coded(name, raw, blanks, as_text=True)
    if (codes < 0).any():
        raise DataError(f'{int((codes < 0).sum())} rows have no subject in "{name}"; give each one')
    return codes, labels
