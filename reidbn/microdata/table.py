"""People: one coded, immutable table with one row per person.

Every value is coded once as an integer 0..cardinality-1 in the sorted order of the values;
everything after works on the codes.  Wherever a method takes `columns`, None means the
quasi-identifiers, and the empty list is the attacker who knows nothing: one class of all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.calls import refuse_misfit, says_misfits, typed
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.late import late
from reidbn.microdata import classes as counting
from reidbn.microdata.classes import Codes, Floats, Ints, TableClasses
from reidbn.microdata.columns import Column, blank_cells, known_cells, object_array
from reidbn.microdata.hierarchy import Bands
from reidbn.microdata.histories import History
from reidbn.microdata.matching import Relation, match_totals
from reidbn.microdata.others import Others
from reidbn.theory.frequencies import FrequencyTable

Columns = str | Sequence[str] | None
MISSING_POLICIES = ("value", "matches-anything", "drop")


@dataclass(frozen=True, eq=False)
class TableSource:
    """One reading of a table; the caller's own path or frame, where it is still at hand.

    It is never shown, copied or kept on disk: it may name people.
    """

    source: Any = field(default=None, repr=False)
    delimiter: str | None = None
    """What parts the cells of its CSV files, as it was said."""

    def __reduce__(self) -> tuple[type[TableSource], tuple[()]]:
        return TableSource, ()


@says_misfits
@dataclass(frozen=True, eq=False, repr=False)
class People:
    """A table of people: coded columns, the roles they play, and the classes they make.

    >>> people = People.from_codes([[0, 1], [0, 1], [1, 0]], ["sex", "race"])
    >>> people.k(), people.class_sizes(), people.class_sizes(["sex"])
    (1, array([2, 2, 1]), array([2, 2, 1]))
    """

    table: Codes
    """All kept columns' codes, persons x columns, Fortran order, read-only."""
    schema: tuple[Column, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    subject_ids: NDArray[Any] | None = None
    weights: Floats | None = None
    missing: str = "value"
    """What a missing cell is: a "value", "matches-anything", or "drop" (no such rows are left)."""
    dropped: int = 0
    """How many persons the policy "drop" left out."""
    history: History | None = None
    """The records behind the persons, where some have several."""
    notes: tuple[str, ...] = field(default=())
    """What was done to the table on its way here, in words, for reports."""
    origin: Ints | None = None
    """The source's row, from 0, of each person's first record; None: person i is row i."""
    original: People | None = None
    """The same people as they were read, where values were generalised since."""
    remedy: ClassVar[str] = (
        "not a table of people; make one: people = rb.read_table(source, quasi_identifiers=[...])"
    )
    one_by_one: ClassVar[bool] = True
    fills: ClassVar[tuple[str, ...]] = ()  # columns of an attack that only such people have
    """Whether row i is somebody, and not any one of those who are counted in a cell."""
    share_kept: float = 1.0
    """The share that suppress() left of the people, or of all for whom they stand by weight."""
    before: People | None = field(default=None, repr=False)
    """The table before people were left out, with the values that are released now."""
    others: Others = field(default_factory=Others)
    """The source's other columns."""
    reading: TableSource = field(default_factory=TableSource)
    """One thing for all tables that were made from one reading."""

    def __post_init__(self) -> None:
        names = (*self.quasi_identifiers, *self.sensitive)
        if names != tuple(column.name for column in self.schema) or len(set(names)) != len(names):
            raise DataError("the columns are not the quasi-identifiers, then the sensitive ones")
        if self.table.shape[1] != len(names):
            raise DataError(f"{self.table.shape[1]} coded columns for {len(names)} names")
        for array in (
            self.table,
            self.weights,
            self.subject_ids,
            self.origin,
            *(c.labels for c in self.schema),
        ):
            if array is not None:
                array.setflags(write=False)

    @classmethod
    @typed
    def from_codes(
        cls,
        codes: ArrayLike,
        names: Sequence[str] | None = None,
        *,
        sensitive: Sequence[str] = (),
        labels: Mapping[str, Sequence[Any]] | None = None,
        weights: ArrayLike | None = None,
    ) -> People:
        """People from an array of codes; cardinalities are the labels' or the highest code + 1."""
        given = np.asarray(codes)
        if given.ndim != 2 or given.shape[0] == 0:
            raise DataError(f"codes have shape {given.shape}; need persons x columns, at least one")
        if given.shape[1] and int(given.min()) < 0:
            raise DataError("codes start at 0; found a negative one")
        columns = list(names) if names is not None else [f"x{j}" for j in range(given.shape[1])]
        if len(columns) != given.shape[1]:
            raise DataError(f"{given.shape[1]} coded columns for {len(columns)} names")
        order = [c for c in columns if c not in sensitive] + list(sensitive)
        if set(order) != set(columns):
            raise UsageError(
                f"sensitive names a column that is not there; the columns are {columns}"
            )
        schema = []
        for name in order:
            own = (labels or {}).get(name)
            top = int(given[:, columns.index(name)].max()) + 1
            values = np.arange(top) if own is None else object_array(own)
            if values.size < top:
                raise DataError(
                    f'column "{name}" has codes up to {top - 1} and {values.size} labels'
                )
            schema.append(Column(name, values))
        table = np.asfortranarray(given[:, [columns.index(c) for c in order]], dtype=np.int32)
        known = tuple(c for c in order if c not in sensitive)
        mass = None if weights is None else np.array(weights, dtype=np.float64)
        return cls(table, tuple(schema), known, tuple(sensitive), weights=mass)

    # What is there

    def __len__(self) -> int:
        return int(self.table.shape[0])

    @property
    def columns(self) -> tuple[str, ...]:
        """All kept columns: the quasi-identifiers, then the sensitive ones."""
        return (*self.quasi_identifiers, *self.sensitive)

    @typed
    def names(self, columns: Columns = None) -> tuple[str, ...]:
        """The column names that `columns` stands for, checked."""
        if columns is None:
            return self.quasi_identifiers
        refuse_misfit("people", "columns", columns, str | Sequence[str])
        wanted = (columns,) if isinstance(columns, str) else tuple(columns)
        for name in wanted:
            if name not in self.columns:
                raise UsageError(f'no column "{name}"; {did_you_mean(str(name), self.columns)}')
        if len(set(wanted)) != len(wanted):
            raise UsageError(f"a column is named twice in {list(wanted)}; name each once")
        return wanted

    @typed
    def column(self, name: str) -> Column:
        return self._column(self.names([name])[0])

    def _column(self, name: str) -> Column:
        """One that is there."""
        return self.schema[self.columns.index(name)]

    @typed
    def codes(self, columns: Columns = None) -> Codes:
        """Codes of the columns, persons x columns, int32, Fortran order, read-only."""
        wanted = self.names(columns)
        if len(self._changing(wanted)) > 1:
            raise UsageError(
                f"{' and '.join(self._changing(wanted))} change within a person's history, and "
                "their codes apart do not say which values stood together; use class_ids"
            )
        return self._coded(wanted)

    def _coded(self, wanted: Sequence[str]) -> Codes:
        places = [self.columns.index(name) for name in wanted]
        if places == list(range(len(places))):
            return self.table[:, : len(places)]
        chosen = np.asfortranarray(self.table[:, places])
        chosen.setflags(write=False)
        return chosen

    def _changing(self, names: Sequence[str]) -> list[str]:
        """Those of the columns whose codes are whole histories."""
        return [name for name in names if self.history and self.history.varies(name)]

    @typed
    def cardinalities(self, columns: Columns = None) -> tuple[int, ...]:
        """How many values each column has; codes run below it."""
        return tuple(self.column(name).cardinality for name in self.names(columns))

    @typed
    def labels(self, column: str) -> NDArray[Any]:
        """The values behind the codes of one column, sorted; None, last, where some are missing."""
        return self.column(column).labels

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content: roles, policy, labels, codes and weights, in record order."""
        return self._digest(list(self.quasi_identifiers), list(self.sensitive), list)

    @cached_property
    def content(self) -> str:
        """The same, in whatever order its columns were named."""
        return self._digest(sorted(self.quasi_identifiers), sorted(self.sensitive), sorted)

    def _digest(
        self, known: list[str], secret: list[str], ordered: Callable[..., list[Any]]
    ) -> str:
        digest = hashlib.sha256()
        mode = self.history.mode if self.history else None
        digest.update(repr([known, secret, self.missing, mode]).encode())
        schema = self.history.schema if self.history else self.schema
        columns = ordered((column.name, j) for j, column in enumerate(schema))
        for name, j in columns:
            digest.update(repr((name, schema[j].labels.tolist(), _alike(schema[j]))).encode())
        table = self.history.records if self.history else self.table
        table = table if ordered is list else table[:, [j for _, j in columns]]
        digest.update(np.ascontiguousarray(table.T).view(np.uint8).data)
        for array in (self.weights, self.history.owner if self.history else None):
            digest.update(b"" if array is None else array.tobytes())
        return digest.hexdigest()

    def content_as_cells(self, columns: Sequence[str]) -> str:
        """That of how many people hold each combination of these columns, in whatever order."""
        by_row = self.history is not None or self.weights is not None
        return self.content if by_row else self.cells_told(columns)

    def cells_told(self, columns: Sequence[str], counts: Ints | None = None) -> str:
        """SHA-256 of the cells of these columns, in one order, and of how many people each is."""
        held, labels = [], []
        for name in sorted(columns):
            used, codes = np.unique(self.codes([name])[:, 0], return_inverse=True)
            held.append(codes.astype(np.int32).reshape(-1))
            labels.append((name, self.labels(name)[used].tolist()))
        every = np.stack(held, axis=1)
        ids, count = counting.class_ids(every, [len(own) for _, own in labels])
        cells = every[counting.some_of(ids, count)]
        sizes = np.bincount(ids, weights=counts, minlength=count).astype(np.int64)
        order = np.lexsort(cells.T)
        digest = hashlib.sha256(repr(labels).encode())
        digest.update(np.ascontiguousarray(cells[order]).tobytes() + sizes[order].tobytes())
        return digest.hexdigest()

    # Parts of it

    @typed
    def take(self, rows: ArrayLike) -> People:
        """The people of these rows (numbers or a mask), in that order; labels and codes stay."""
        index = self._rows(rows)
        if index.size == 0:
            raise DataError("no person is left; keep at least one")
        table = np.asfortranarray(self.table[index])
        weights = None if self.weights is None else self.weights[index]
        ids = None if self.subject_ids is None else self.subject_ids[index]
        history = None if self.history is None else self.history.take(index)
        origin = self.rows_read[index]
        original = None if self.original is None else self.original.take(index)
        return replace(
            self, table=table, weights=weights, subject_ids=ids, history=history, origin=origin,
            original=original, before=None,
        )  # fmt: skip

    def has_the_people_of(self, other: People) -> bool:
        """Whether both hold the same people in the same order.

        By their subject ids where both have them, else by the rows they were read from in one
        reading, or in two of the same content.  Row i of one table is not row i of another.
        """
        checked_people(other)
        if len(self) != len(other):
            return False
        if self.subject_ids is not None and other.subject_ids is not None:
            return np.array_equal(self.subject_ids, other.subject_ids)
        if not np.array_equal(self.rows_read, other.rows_read):
            return False
        one = self.reading is other.reading
        return one or self.as_read.fingerprint == other.as_read.fingerprint

    def rows_in(self, other: People) -> Ints:
        """Where in another table each of these people stands; refused where that is not known.

        By their subject ids where both have them, else by the rows of one reading.
        """
        if self.has_the_people_of(other):
            return np.arange(len(self))
        mine, theirs = self.subject_ids, other.subject_ids
        if mine is None or theirs is None:
            mine, theirs = self.rows_read, other.rows_read
        place = {who: row for row, who in enumerate(theirs.tolist())}
        found = [place.get(who, -1) for who in mine.tolist()]
        by_id = mine is self.subject_ids
        if -1 in found or not (by_id or self.reading is other.reading):
            raise UsageError(
                "a chance for each person is about the people of the table that it was given for, "
                "and nothing says that these are among them: say what is known of these (known=), "
                "or read both tables with subject_id=, the column that names each person"
            )
        return np.array(found, dtype=np.int64)

    @typed
    def drop(self, rows: ArrayLike) -> People:
        """Everybody but these rows (numbers or a mask)."""
        keep = np.ones(len(self), dtype=bool)
        keep[self._rows(rows)] = False
        return self.take(np.flatnonzero(keep))

    def _rows(self, rows: ArrayLike) -> Ints:
        refuse_misfit("people", "rows", rows, ArrayLike)
        index = np.atleast_1d(np.asarray(rows))
        if index.ndim != 1 or (index.size and index.dtype.kind == "f"):
            raise UsageError("people: rows is a list of row numbers, or of True and False")
        if index.dtype == bool:
            if index.shape != (len(self),):
                raise UsageError(f"a mask of {index.size} for {len(self)} people; need one each")
            return np.flatnonzero(index)
        if index.size and (index.min() < -len(self) or index.max() >= len(self)):
            raise UsageError(f"a row number is outside 0..{len(self) - 1}")
        return index.astype(np.int64)

    @typed
    def select(self, columns: Columns) -> People:
        """Only these columns, each in its role."""
        wanted = self.names(columns)
        known = tuple(name for name in wanted if name in self.quasi_identifiers)
        secret = tuple(name for name in wanted if name in self.sensitive)
        schema = tuple(self.column(name) for name in (*known, *secret))
        table = self._coded([*known, *secret])
        before = None if self.before is None else self.before.select(wanted)
        gone = tuple(name for name in self.columns if name not in wanted)
        return replace(
            self, table=table, schema=schema, quasi_identifiers=known, sensitive=secret,
            before=before, others=self.others.more(gone),
        )  # fmt: skip

    # Coarser

    @property
    def as_read(self) -> People:
        """The same people with the values that they were read with."""
        return self if self.original is None else self.original

    @property
    def whole(self) -> People:
        """The table before suppress() left people out; the table itself where nobody was."""
        return self if self.before is None else self.before

    @property
    def as_released(self) -> dict[str, Any]:
        """What was done to the table that was read; digests where values could be told."""
        read = self.whole.as_read
        found: dict[str, Any] = {"original_fingerprint": read.fingerprint}
        if self.missing != "value":  # told by itself: the records are the same
            same = replace(read, missing="value")
            found = {"original_fingerprint": same.fingerprint, "missing": self.missing}
        if coarse := [column for column in self.schema if column.level]:
            ladders = repr([column.hierarchy for column in coarse])
            found["levels"] = {column.name: column.level for column in coarse}
            found["hierarchies_fingerprint"] = hashlib.sha256(ladders.encode()).hexdigest()
            bands = {
                c.name: f"{c.hierarchy.widths[c.level - 1]:g} wide"
                for c in coarse
                if isinstance(c.hierarchy, Bands) and c.level < c.hierarchy.levels
            }
            found |= {"bands": bands} if bands else {}
        if self.emptied:
            found["cells_emptied"] = sum(int(cells.sum()) for cells in self.emptied.values())
        if self.before is not None:
            found["suppressed"] = len(self.before) - len(self)
        if self.weights is not None:
            found["weighted"] = True
            found["weights_fingerprint"] = hashlib.sha256(self.weights.tobytes()).hexdigest()
        return found

    @property
    def rows_of_whole(self) -> Ints:
        """The row of each person in `whole`."""
        if self.before is None:
            return np.arange(len(self))
        rows, order = self.before.rows_read, np.argsort(self.before.rows_read, kind="stable")
        return np.asarray(order[np.searchsorted(rows[order], self.rows_read)])

    @property
    def rows_read(self) -> Ints:
        """The source's row, from 0, of each person's first record."""
        return np.arange(len(self)) if self.origin is None else self.origin

    @property
    def who(self) -> NDArray[Any] | None:
        """Who each row is: the subject's id, or the source's row where rows were left out.

        None where row i is the source's row i.
        """
        if self.subject_ids is not None or self.origin is None:
            return self.subject_ids
        return None if np.array_equal(self.origin, np.arange(len(self))) else self.origin

    def as_written(self) -> People:
        """The same people with every value equal to itself only: matching becomes a partition.

        Cells that were emptied are alike, as whoever reads the release finds them.
        """
        people = self._recoded(blank_cells)
        schema = tuple(replace(column, relation=None) for column in people.schema)
        policy = "value" if self.missing == "matches-anything" else self.missing
        before = None if self.before is None else self.before.as_written()
        return replace(people, schema=schema, missing=policy, before=before)

    @property
    def before_emptying(self) -> People:
        """The same people with what stood in the cells that were emptied."""
        return self._recoded(known_cells)

    @property
    def emptied(self) -> dict[str, NDArray[np.bool_]]:
        """Of each column with cells that were emptied before the release, whose."""
        return {
            column.name: column.relation.own[codes] != codes
            for column, codes in zip(self.schema, self.table.T, strict=True)
            if column.relation is not None and column.relation.own is not None
        }

    def _recoded(self, how: Callable[[Column], tuple[Column, Ints]]) -> People:
        """The same people, columns with emptied cells in other codes."""
        if not any(column.has_emptied for column in self.schema):
            return self
        schema, table = list(self.schema), np.array(self.table, order="F")
        for j, column in enumerate(schema):
            if column.has_emptied:
                schema[j], new = how(column)
                table[:, j] = new[table[:, j]]
        before = None if self.before is None else self.before._recoded(how)
        return replace(self, table=table, schema=tuple(schema), before=before)

    generalise = late("reidbn.microdata.generalise:generalise")
    suppress = late("reidbn.microdata.generalise:suppress")
    suppression_rate = late("reidbn.microdata.generalise:suppression_rate")
    missing_rates = late("reidbn.microdata.generalise:missing_rates")
    compared_with = late("reidbn.microdata.generalise:compared_with")

    # Classes

    @property
    def is_partition(self) -> bool:
        """Whether matching is equality, so that classes part the people.

        False when missing cells match anything or a generalised value covers others.
        """
        return not self._overlapping(self.columns)

    @property
    def is_columnwise(self) -> bool:
        """Whether people alike on each of several columns are alike on them together.

        False only for histories that change in two or more columns: the multiset of a person's
        records says more than the multisets of its columns.  `codes` of two such columns
        refuses; `class_ids` and `class_sizes` answer for any columns.
        """
        return len(self._changing(self.columns)) < 2

    @typed
    def matches(self, column: str) -> NDArray[np.bool_]:
        """Which coded values of a column may be the same person's: codes x codes.

        A row is what is known of somebody, a column what is released; symmetric, unless cells were
        emptied before the release, which fit everybody, and who knows what stood in them finds
        those who have that.  Equal values match; a missing cell under "matches-anything" matches
        every value, and a generalised value every value whose cover overlaps its own [Xia21].
        """
        found = self.column(column)
        return (found.relation or Relation(found.cardinality, {})).matrix()

    def _overlapping(self, names: Sequence[str]) -> list[str]:
        """Those of the columns in which different values may match."""
        return [name for name in names if self._column(name).relation is not None]

    def _keys(self, names: Sequence[str]) -> tuple[Codes, list[int], list[Relation | None]]:
        """Codes, cardinalities and relations, with histories of several columns as one column."""
        changing = self._changing(names)
        plain = [name for name in names if name not in changing or len(changing) < 2]
        codes = self._coded(plain)
        columns = [self._column(name) for name in plain]
        cards = [column.cardinality for column in columns]
        relations = [column.relation for column in columns]
        if self.history and len(changing) > 1:
            ids, count = self.history.ids(changing)
            codes = np.asfortranarray(np.column_stack([codes, ids.astype(np.int32)]))
            cards, relations = [*cards, count], [*relations, None]
        return codes, cards, relations

    @typed
    def class_ids(self, columns: Columns = None) -> tuple[Ints, int]:
        """The class of each person, numbered from 0, and how many classes there are."""
        names = self.names(columns)
        if self._overlapping(names):
            raise UsageError(
                f"values of {', '.join(self._overlapping(names))} match others, so people do not "
                "fall into classes; use class_sizes, or as_written() to compare values as texts"
            )
        codes, cards, _ = self._keys(names)
        return counting.class_ids(codes, cards)

    @typed
    def class_sizes(self, columns: Columns = None) -> Ints:
        """How many people match each person (at least 1, the person), in record order."""
        names = self.names(columns)
        codes, cards, relations = self._keys(names)
        if self._overlapping(names):
            return np.rint(match_totals(codes, cards, relations)).astype(np.int64)
        return counting.class_sizes(codes, cards)

    @typed
    def class_weights(self, columns: Columns = None) -> Floats:
        """Sum of the survey weights of the people who match each person, in record order."""
        if self.weights is None:
            return self.class_sizes(columns).astype(np.float64)
        names = self.names(columns)
        codes, cards, relations = self._keys(names)
        if self._overlapping(names):
            return match_totals(codes, cards, relations, self.weights)
        ids, count = counting.class_ids(codes, cards)
        total = np.bincount(ids, weights=self.weights, minlength=count).astype(np.float64)
        return total[ids]

    @typed
    def k(self, columns: Columns = None) -> int:
        """The smallest number of people alike: k-anonymity's k [KAnonCourse]."""
        return int(self.class_sizes(columns).min())

    @typed
    def classes(self, columns: Columns = None) -> TableClasses:
        """The classes on the columns: `count`, `uniques`, `k`, `mean_risk`, `histogram()`."""
        ids, count = self.class_ids(columns)
        return TableClasses(self.names(columns), ids, np.bincount(ids, minlength=count))

    @typed
    def frequencies(self, columns: Columns = None) -> FrequencyTable:
        """How many classes there are of each size: `.sizes`, `.counts` (f_j)."""
        return self.classes(columns).frequencies()

    def __repr__(self) -> str:
        secret = f"; sensitive {', '.join(self.sensitive)}" if self.sensitive else ""
        known = ", ".join(self.quasi_identifiers)
        count = len(self.notes)
        notes = f"; {count} note{'s' * (count > 1)} in .notes" if count else ""
        return f"People({len(self)}: {known}{secret}; missing={self.missing!r}{notes})"


def _alike(column: Column) -> object:
    """Which values a hierarchy makes alike: with none of them the table is the same without it.

    Cells that were emptied are known by what stood in them.
    """
    if column.relation is not None and column.relation.own is not None:
        return column.relation.own.tolist()
    if column.hierarchy is None or column.relation is None:
        return None
    return [(code, others.tolist()) for code, others in sorted(column.relation.others.items())]


def checked_people(given: Any) -> People:
    """The people given; a frame, a path or anything else is refused with the remedy."""
    if not isinstance(given, People):
        raise UsageError(f"{type(given).__name__} is {People.remedy}")
    return given


def refuse_emptied(people: People, what: str, columns: Sequence[str] | None = None) -> None:
    """Raise where cells (of these columns) were emptied, for what does not count so."""
    if named := [name for name in people.emptied if columns is None or name in columns]:
        raise UsageError(
            f"cells of {', '.join(named)} were emptied before the release, and {what} does not "
            f"count who fits those: take the table as it was (people.before_emptying), or rows as "
            f"they are written (people.as_written())"
        )
