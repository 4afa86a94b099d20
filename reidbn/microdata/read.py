"""Reading: from any source to People, with every rule about bad input in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.microdata.assemble import Roles, assemble
from reidbn.microdata.classes import Codes, Floats
from reidbn.microdata.coding import Blanks, Raw, spellings
from reidbn.microdata.coding import tidy as coded
from reidbn.microdata.columns import Column, instead_of, may_be_a_person
from reidbn.microdata.direct import refuse_direct
from reidbn.microdata.histories import MODES
from reidbn.microdata.ladders import as_hierarchy
from reidbn.microdata.sources import Source, source_of
from reidbn.microdata.table import MISSING_POLICIES, People
from reidbn.written import agree, counted


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
            raise UsageError(f'hierarchies name "{name}"; {did_you_mean(name, roles.all)}')

    raw = table.read(list(dict.fromkeys(wanted)))
    rows = raw[wanted[0]].codes.size
    if rows == 0:
        raise DataError(f"{table.name}: no rows; need at least one person")
    blanks = Blanks(missing_values)
    mass = _weights(weights, raw, blanks) if weights else None
    subjects = _subjects(subject_id, raw.pop(subject_id), blanks) if subject_id else None
    remarks: list[str] = []
    schema, codes = [], np.empty((rows, len(roles.all)), dtype=np.int32, order="F")
    for j, name in enumerate(roles.all):
        codes[:, j], labels = coded(name, raw.pop(name), blanks, as_text=name in ladders)
        if labels.size == 0:
            raise DataError(f'column "{name}" is missing in every row; leave it out')
        if not allow_direct:
            refuse_direct(name, labels, rows)
        plain, shorter, gone = spellings(codes[:, j], labels)
        if gone and tidy:
            codes[:, j], labels = plain, shorter
        if gone:
            remarks.append(_about_spellings(name, gone, tidy=tidy))
        schema.append(Column(name, labels, ladders.get(name)))
    people = assemble(
        codes, schema, roles, missing=missing, weights=mass, subjects=subjects, mode=history
    )
    return replace(people, notes=(*people.notes, *remarks, *blanks.notes))


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
            raise UsageError(f'{table.name}: no column "{name}"; {instead_of(name, table.header)}')
        if wanted.count(name) > 1:
            raise UsageError(f'column "{name}" is named twice; give each column one role')
    repeated = sorted({name for name in table.header if table.header.count(name) > 1})
    if repeated:
        which = "" if may_be_a_person(table.header) else f": {', '.join(repeated)}"
        raise DataError(f"{table.name}: two columns have the same name{which}; rename one")


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
