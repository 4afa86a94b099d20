"""From coded rows to People: missing cells, histories and matching, in that order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import DataError
from reidbn.microdata.classes import Codes, Floats, Ints
from reidbn.microdata.coding import with_missing
from reidbn.microdata.columns import Column, column_of
from reidbn.microdata.histories import History, by_person
from reidbn.microdata.table import People
from reidbn.written import agree, counted


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
