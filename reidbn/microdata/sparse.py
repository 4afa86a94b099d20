"""Tables of mostly empty columns: what is known of each person, cell by cell [Popat25].

A null is *not known* and never matches anything.  Each column is a feature; the feature table says
what kind of value it holds and where it belongs, and what it does not say is inferred and shown.
Only the cells that hold something are kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.calls import typed
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.late import late
from reidbn.microdata.classes import Codes, Ints
from reidbn.microdata.coding import Blanks, Raw, plainly, spellings, tidy
from reidbn.microdata.columns import object_array
from reidbn.microdata.direct import refuse_direct
from reidbn.microdata.header import instead_of, refuse_long, refuse_repeated
from reidbn.microdata.hierarchy import Hierarchy
from reidbn.microdata.kinds import (
    CATEGORY,
    FORMS,
    KINDS,
    NUMBER,
    TEXT,
    YES_NO,
    are_mostly_numbers,
    kind_of,
    settled_as,
)
from reidbn.microdata.ladders import as_hierarchy
from reidbn.microdata.others import AS_ID, Others, others_of
from reidbn.microdata.sources import Source, source_of
from reidbn.written import InTheHouse, agree, counted

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Feature:
    """One column: what it holds, and where it belongs."""

    name: str
    kind: str = ""
    type: str = ""
    """How it was learnt: a survey, an observation."""
    category: str = ""
    section: str = ""
    """The part of a record that it stands in: Alcohol History, Blood Test Report."""
    tags: tuple[str, ...] = ()
    """Who has access to it, or other words to name several features by."""
    together: str = ""
    """Features with the same word here are correlated: known together, they are one fact."""
    relation: str = ""
    disease: str = ""
    field: str = ""
    """Of a family's history: whose, which illness, and what is told of it."""
    inferred: bool = False
    """Whether the kind was inferred from the values."""


_COLUMNS = tuple(f.name for f in fields(Feature))[1:-1]


@dataclass(frozen=True, eq=False)
class Sparse:
    """People by features, only the cells that hold something; made by `read_sparse`."""

    instead: ClassVar[str] = (
        'in which nobody has quasi-identifiers: ask rb.assess("linkage", sparse), and '
        "rb.whatif.protections of that what protects"
    )
    schema: tuple[Feature, ...]
    start: Ints
    """The cells of feature j are start[j] to start[j + 1]."""
    rows: Codes
    """Whose cell it is, ascending in each feature."""
    codes: Codes
    """Which of the feature's values it holds."""
    labels: tuple[NDArray[Any], ...]
    """The values of each feature, sorted."""
    people: int
    subject_ids: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()
    others: Others = field(default_factory=Others)
    """The source's columns that are no features."""
    origin: Ints | None = field(default=None, repr=False)
    """Which row of the table that was read each person is, once some are left out."""
    truth: Sparse | None = field(default=None, repr=False)
    """The table without the noise that was added (noise.py): what people know of each other."""
    noise: tuple[float, float] = (0.0, 0.0)
    """By what share of itself a number is off at most, and by how many years a year or a date."""
    noise_seed: int = 0
    """By which the noise was drawn."""
    coarse: Mapping[str, tuple[tuple[int, Hierarchy], ...]] = field(default_factory=dict)
    """The steps by which features were made coarse, and the hierarchies."""
    finest: Sparse | None = field(default=None, repr=False)
    """The same cells as they were read, once some were made coarser: finer ones start from it."""

    def __len__(self) -> int:
        return self.people

    @property
    def names(self) -> tuple[str, ...]:
        """The features, in the order of the table."""
        return tuple(one.name for one in self.schema)

    @property
    def who(self) -> NDArray[Any] | None:
        """What tells people apart: the subject's id, or the row that was read."""
        return self.origin if self.subject_ids is None else self.subject_ids

    @cached_property
    def facts(self) -> Ints:
        """How many features are known of each person."""
        return np.bincount(self.rows, minlength=self.people)

    @cached_property
    def records(self) -> Ints:
        """For how many people each feature is known."""
        return np.diff(self.start)

    @property
    def features(self) -> pd.DataFrame:
        """The feature table as it was understood: one row per feature."""
        import pandas as pd

        rows = {
            one.name: {f: getattr(one, f) for f in (*_COLUMNS, "inferred")} for one in self.schema
        }
        found = pd.DataFrame.from_dict(rows, orient="index", columns=[*_COLUMNS, "inferred"])
        found["tags"] = [" ".join(one.tags) for one in self.schema]
        found["records"] = self.records
        found["values"] = [labels.size for labels in self.labels]
        return found.rename_axis("feature")

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same cells, whatever the table was read from."""
        digest = hashlib.sha256(repr((self.schema, self.people)).encode())
        for array in (self.start, self.rows, self.codes):
            digest.update(np.ascontiguousarray(array, dtype=np.int64).tobytes())
        for labels in self.labels:
            digest.update(repr(labels.tolist()).encode())
        if self.truth is not None:
            digest.update(f"{self.noise} on {self.truth.fingerprint}".encode())
        return digest.hexdigest()[:16]

    @property
    def content(self) -> str:
        """The fingerprint: features have no order of their own."""
        return self.fingerprint

    @property
    def as_released(self) -> dict[str, Any]:
        """How many features are released, at what levels, and with how much noise."""
        share, years = self.noise
        noise = "none" if self.truth is None else f"{share:g} of numbers, {years:g} years"
        found: dict[str, Any] = {"features": len(self.schema), "noise": noise}
        coarse = {name: steps for name in self.names if (steps := self.coarse.get(name))}
        if coarse:
            found["hierarchies_fingerprint"] = hashlib.sha256(repr(coarse).encode()).hexdigest()
            found["levels"] = {n: sum(one for one, _ in steps) for n, steps in coarse.items()}
        return found

    @property
    def as_known(self) -> Sparse:
        """The cells as people know them of each other: without noise."""
        return self if self.truth is None else self.truth

    # -- naming features ---------------------------------------------------------------------------

    def named(self, what: str | Sequence[str]) -> Ints:
        """The features that words name, as places: a feature, a tag, a section, a category, a type.

        A word that names a feature is that feature, whatever else is called so.
        """
        words = [what] if isinstance(what, str) else list(what)
        found = [self._places(word) for word in words]
        return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)

    def has(self, word: str) -> bool:
        """Whether a word names any feature."""
        return len(self._found(word)) > 0

    def _found(self, word: Any) -> list[int]:
        if word in self._index:
            return [self._index[word]]
        wanted = plainly(word)
        for of in ("tags", "section", "category", "type"):
            here = [j for j, one in enumerate(self.schema) if wanted in _words(getattr(one, of))]
            if here:
                return here
        return []

    def _places(self, word: Any) -> Ints:
        here = self._found(word)
        if here:
            return np.array(here)
        words = {*self.names, *(tag for one in self.schema for tag in one.tags)}
        words |= {w for one in self.schema for w in (one.section, one.category, one.type) if w}
        raise UsageError(
            f'no feature, tag, section or category "{word}"; {did_you_mean(str(word), words)}'
        )

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

    # -- parts of it -------------------------------------------------------------------------------

    def select(self, what: str | Sequence[str]) -> Sparse:
        """Only some features, of everybody."""
        kept = self.named(what)
        gone = (name for j, name in enumerate(self.names) if j not in {*kept.tolist()})
        return replace(self._with(kept), others=self.others.more(gone))

    def drop(self, what: str | Sequence[str]) -> Sparse:
        """Without some features."""
        gone = np.isin(np.arange(len(self.schema)), self.named(what))
        if gone.all():
            raise UsageError("no feature is left; keep at least one")
        return self._with(np.flatnonzero(~gone))

    def _with(self, kept: Ints) -> Sparse:
        cells = _ranges(self.start[kept], self.start[kept + 1])
        return replace(
            self,
            schema=tuple(self.schema[j] for j in kept),
            start=np.concatenate(([0], np.cumsum(self.records[kept]))),
            rows=self.rows[cells],
            codes=self.codes[cells],
            labels=tuple(self.labels[j] for j in kept),
            truth=None if self.truth is None else self.truth._with(kept),
            finest=None if self.finest is None else self.finest._with(kept),
        )

    def take(self, rows: ArrayLike) -> Sparse:
        """Only some people, each once; features of which nobody knows anything stay."""
        wanted = np.asarray(rows)
        if wanted.dtype == bool and wanted.shape == (self.people,):
            wanted = np.flatnonzero(wanted)
        if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or not wanted.size:
            raise UsageError(
                "take needs rows: whole numbers from 0, or True and False for each person"
            )
        if wanted.min() < 0 or wanted.max() >= self.people or np.unique(wanted).size != wanted.size:
            raise UsageError(f"take needs rows from 0 to {self.people - 1}, each once")
        place = np.full(self.people, -1, dtype=np.int32)
        place[wanted] = np.arange(wanted.size)
        moved = place[self.rows]
        feature = np.repeat(np.arange(len(self.schema)), self.records)
        order = np.lexsort((moved, feature))
        order = order[moved[order] >= 0]
        counts = np.bincount(feature[order], minlength=len(self.schema))
        origin = np.arange(self.people) if self.origin is None else self.origin
        ids = self.subject_ids
        return replace(
            self,
            start=np.concatenate(([0], np.cumsum(counts))),
            rows=moved[order],
            codes=self.codes[order],
            people=int(wanted.size),
            subject_ids=None if ids is None else ids[wanted],
            origin=origin[wanted].astype(np.int64),
            truth=None if self.truth is None else self.truth.take(wanted),
            finest=None if self.finest is None else self.finest.take(wanted),
        )

    def coarser(self, hierarchies: Mapping[str, Any], *, level: int = 1) -> Sparse:
        """The values of some features one or more steps coarser: bands of years, yes or no.

        It is what an attacker knows who knows coarse facts, and what a table gives away in which
        these features were made coarse: either way people in one band agree.
        """
        self._refuse_noise()
        schema, labels, codes = list(self.schema), list(self.labels), self.codes.copy()
        coarse = dict(self.coarse)
        for word, given in hierarchies.items():
            ladder = as_hierarchy(given)
            if not 0 <= level <= ladder.levels:
                raise UsageError(f'level {level} of "{word}": it has levels 0 to {ladder.levels}')
            for j in self.named(word):
                values = _climbed(schema[j].name, ladder, labels[j].tolist(), level)
                labels[j], inverse = _distinct(values)
                cells = slice(self.start[j], self.start[j + 1])
                codes[cells] = inverse[codes[cells]]
                schema[j] = replace(schema[j], kind=CATEGORY, inferred=False)
                if level:
                    coarse[schema[j].name] = (*coarse.get(schema[j].name, ()), (level, ladder))
        finest = self if self.finest is None else self.finest
        return replace(
            self, schema=tuple(schema), labels=tuple(labels), codes=codes, finest=finest,
            coarse=coarse,
        )  # fmt: skip

    def as_in(self, other: Sparse, word: str) -> Sparse:
        """Some features with the values that they have in another release of the same people."""
        self._refuse_noise()
        schema, labels, codes = list(self.schema), list(self.labels), self.codes.copy()
        coarse = dict(self.coarse)
        places = {one.name: i for i, one in enumerate(other.schema)}
        for j in self.named(word):
            i = places[schema[j].name]
            schema[j], labels[j] = other.schema[i], other.labels[i]
            coarse[schema[j].name] = other.coarse.get(schema[j].name, ())
            cells = other.codes[other.start[i] : other.start[i + 1]]
            codes[self.start[j] : self.start[j + 1]] = cells
        return replace(self, schema=tuple(schema), labels=tuple(labels), codes=codes, coarse=coarse)

    def _refuse_noise(self) -> None:
        if self.truth is not None:
            raise UsageError("noise was added already: make values coarser first, then add noise")

    def unusual(self, share: float = 0.5) -> Sparse:
        """What is unusual of each person: cells that differ from the feature's commonest content.

        Nothing counts as a content [Popat25, 4.4.3].  Features whose commonest content has at most
        `share` of the people are left out.
        """
        if not 0 <= share < 1:
            raise UsageError(f"share={share}; it must be at least 0 and below 1")
        kept, rows = [], []
        for j, one in enumerate(self.schema):
            cells = slice(self.start[j], self.start[j + 1])
            often = np.bincount(self.codes[cells], minlength=1)
            empty = self.people - int(often.sum())
            if max(empty, int(often.max())) <= share * self.people:
                continue
            odd = np.ones(self.people, dtype=bool)
            if empty >= often.max():  # at a tie nothing is the commonest: it is the first content
                odd[:] = False
                odd[self.rows[cells]] = True
            else:
                odd[self.rows[cells][self.codes[cells] == often.argmax()]] = False
            kept.append(replace(one, kind=YES_NO, inferred=False))
            rows.append(np.flatnonzero(odd).astype(np.int32))
        sizes = [one.size for one in rows]
        cells_of = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
        return replace(
            self,
            schema=tuple(kept),
            start=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            rows=cells_of,
            codes=np.zeros(cells_of.size, dtype=np.int32),
            labels=tuple(np.array([True]) for _ in kept),
            truth=None,
            finest=None,
        )

    describe = late("reidbn.microdata.sparsity:describe")
    noisy = late("reidbn.microdata.noise:noisy")

    def __repr__(self) -> str:
        filled = self.rows.size / max(1, self.people * len(self.schema))
        return (
            f"<Sparse: {self.people:,} people x {len(self.schema):,} features, "
            f"{100 * filled:.1f} % filled, median {np.median(self.facts):g} facts a person>"
        )


def _words(of: Any) -> set[Any]:
    return {plainly(word) for word in ((of,) if isinstance(of, str) else of) if word}


def _ranges(starts: Ints, ends: Ints) -> Ints:
    """All numbers from each start up to its end, one range after another."""
    sizes = ends - starts
    shift = np.repeat(starts - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    return np.arange(int(sizes.sum())) + shift


def _climbed(name: str, ladder: Hierarchy, values: list[Any], level: int) -> list[Any]:
    try:
        return ladder.all_up(values, level)
    except DataError:
        raise
    except (ValueError, TypeError):
        raise DataError(f'column "{name}": its hierarchy cannot take its values') from None


def _distinct(values: Sequence[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Distinct values in order, and where each given one is."""
    found = sorted(set(values))
    place = {value: i for i, value in enumerate(found)}
    where = np.array([place[value] for value in values], dtype=np.int32)
    return object_array(found), where


# -- reading ---------------------------------------------------------------------------------------


@typed
def read_sparse(
    source: Any,
    *,
    features: Any = None,
    subject_id: str | None = None,
    missing_values: Any = (),
    allow_direct: bool = False,
    delimiter: str | None = None,
) -> Sparse:
    """A table of any number of mostly empty columns, one row per person.

    `source` is what rb.read_table takes.  `features` is the feature table (a file, a frame or
    columns): a column `feature`, and any of kind (yes/no, category, number, year, date, text),
    type, category, section, tags (several, apart by blanks), together, relation, disease, field.
    Only features that it names are read; without it every column is one.  Kinds that are not said
    are inferred and shown in `.features`.  Nulls, blank texts and `missing_values` are not known.
    `subject_id` tells people apart, `allow_direct` keeps columns that look as if they named a
    person, `delimiter` parts the cells of a CSV file.

    >>> sparse = read_sparse({"smokes": ["yes", None, "no"], "weight": [61.5, 70, None]})
    >>> sparse.facts.tolist(), sparse.features["kind"].tolist()
    ([2, 1, 1], ['yes/no', 'number'])
    """
    table = source_of(source, delimiter=delimiter)
    refuse_repeated(table)
    refuse_long(table)
    wanted = _wanted(table, features, subject_id, delimiter)
    ids = [] if subject_id is None else [subject_id]
    raw = table.read([*(one.name for one in wanted), *ids])
    people = raw[wanted[0].name].codes.size
    if not people:
        raise DataError(f"{table.name}: no rows; need at least one person")
    blanks = Blanks(missing_values)
    subjects = None if subject_id is None else _ids(subject_id, raw.pop(subject_id), blanks)
    schema, rows, codes, labels = [], [], [], []
    direct: dict[str, str] = {}
    for one in wanted:
        cells, values, settled = _feature(one, raw.pop(one.name), blanks)
        allowed = allow_direct or settled.kind == TEXT
        direct |= refuse_direct(one.name, cells, values, allowed=allowed)
        here = np.flatnonzero(cells >= 0)
        schema.append(settled)
        rows.append(here.astype(np.int32))
        codes.append(cells[here].astype(np.int32))
        labels.append(values)
    return Sparse(
        schema=tuple(schema),
        start=np.concatenate(([0], np.cumsum([part.size for part in rows]))).astype(np.int64),
        rows=np.concatenate(rows),
        codes=np.concatenate(codes),
        labels=tuple(labels),
        people=people,
        subject_ids=subjects,
        notes=(*_of_nobody(schema, labels), *_nearly_numbers(schema, labels), *blanks.notes),
        others=others_of(
            table.header, [f.name for f in schema], table, {subject_id: AS_ID}, direct
        ),
    )


def _of_nobody(schema: Sequence[Feature], labels: Sequence[NDArray[Any]]) -> list[str]:
    """A word on features that hold nothing; they are kept, and match nobody."""
    names = [one.name for one, values in zip(schema, labels, strict=True) if not values.size]
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    said = f"{', '.join(names[:3])}{more} {agree(len(names), 'is', 'are')} known of nobody"
    return [InTheHouse(said)] if names else []


def _nearly_numbers(schema: Sequence[Feature], labels: Sequence[NDArray[Any]]) -> list[str]:
    """A word on features taken for categories of which most values are numbers."""
    both = zip(schema, labels, strict=True)
    names = [
        one.name for one, values in both
        if one.inferred and one.kind in (CATEGORY, TEXT) and are_mostly_numbers(values.tolist())
        and values.size
    ]  # fmt: skip
    if not names:
        return []
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    taken = agree(len(names), "is taken for a category", "are taken for categories")
    return [
        f"{', '.join(names[:3])}{more} {taken}, since some values are no numbers; give the kind "
        f"{NUMBER} in a feature table to be told how many"
    ]


def _wanted(
    table: Source, features: Any, subject_id: str | None, delimiter: str | None
) -> list[Feature]:
    """The features to read, as the feature table has them."""
    if subject_id is not None and subject_id not in table.header:
        hint = instead_of(subject_id, table)
        raise UsageError(f'{table.name}: no column "{subject_id}"; {hint}')
    if features is None:
        found = [Feature(str(name)) for name in table.header if name != subject_id]
    else:
        found = _feature_table(features, delimiter)
    for one in found:
        if one.name not in table.header:
            hint = instead_of(one.name, table)
            raise DataError(
                f'the feature table names "{one.name}", and {table.name} has no such column; {hint}'
            )
        if one.name == subject_id:
            raise UsageError(f'"{subject_id}" is the subject_id, and a feature; give it one role')
    if not found:
        raise DataError(f"{table.name}: no features; need at least one column")
    return found


def _feature_table(given: Any, delimiter: str | None) -> list[Feature]:
    if getattr(getattr(given, "index", None), "name", None) == "feature":
        given = given.reset_index()
    source = source_of(given, delimiter=delimiter)
    if "feature" not in map(plainly, source.header):
        raise DataError(
            f'the feature table ({source.name}) needs a column "feature": the names of the columns'
        )
    known = _named_columns(source.header)
    raw = source.read([*known.values()])
    columns = {key: _texts(key, raw[name]) for key, name in known.items()}
    found = []
    for i, name in enumerate(columns["feature"]):
        said: dict[str, Any] = {key: columns[key][i] for key in known if key != "feature"}
        if not name:
            raise DataError(f"the feature table has no feature in row {i + 1}; name a column there")
        kind = said.get("kind", "")
        if kind and kind not in KINDS:
            raise DataError(f'feature "{name}": no kind "{kind}"; {did_you_mean(kind, KINDS)}')
        tags = tuple(dict.fromkeys(said.pop("tags", "").replace(",", " ").split()))
        found.append(Feature(name, tags=tags, **said))
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f'the feature table names "{twice}" twice; give each feature one row')
    return found


def _named_columns(header: Sequence[str]) -> dict[str, str]:
    """The columns of a feature table that are read, by what they mean; others are its author's."""
    found: dict[str, str] = {}
    for name in header:
        key = plainly(name)
        if key in ("feature", *_COLUMNS):
            if key in found:
                raise DataError(f'the feature table has two columns "{key}"; keep one')
            found[key] = name
        elif near := get_close_matches(key, _COLUMNS, n=1, cutoff=0.75):
            raise DataError(
                f'the feature table has a column "{name}"; did you mean "{near[0]}"? If it is of '
                f"your own, give it a name that is less like it"
            )
    return found


def _texts(name: str, raw: Raw) -> list[str]:
    codes, labels = tidy(name, raw, as_text=True)
    values = [*(str(value) for value in labels.tolist()), ""]
    return [values[code] for code in codes.tolist()]


def _ids(name: str, raw: Raw, blanks: Blanks) -> NDArray[Any]:
    codes, labels = tidy(name, raw, blanks, as_text=True)
    none = int((codes < 0).sum())
    if none:
        raise DataError(
            f"{counted(none, 'row')} {agree(none, 'has', 'have')} no subject in "
            f'"{name}"; give each one'
        )
    if labels.size < codes.size:
        raise DataError(
            f'the subject id "{name}" repeats in {counted(codes.size - labels.size, "row")}; a '
            "sparse table has one row per person: join a person's rows into one first"
        )
    return labels[codes]


def _feature(one: Feature, raw: Raw, blanks: Blanks) -> tuple[Codes, NDArray[Any], Feature]:
    """The codes (-1 where not known) and sorted values of a feature, and its kind settled."""
    codes, labels = tidy(one.name, raw, blanks, as_text=one.kind in (CATEGORY, TEXT))
    values = labels.tolist()
    kind = one.kind or kind_of(one.name, values, int((codes >= 0).sum()))
    settled = settled_as(kind, values)
    odd = sum(value is None for value in settled)
    if odd:
        raise DataError(
            f'feature "{one.name}": {counted(odd, "distinct value")} {agree(odd, "is", "are")} no '
            f"{kind}, {FORMS[kind]}; mend the cells, list them in missing_values, or give the "
            f"feature another kind"
        )
    found, where = (
        _distinct(settled) if settled else (np.empty(0, dtype=object), np.empty(0, np.int32))
    )
    new = np.append(where, np.int32(-1))[codes]
    if kind in (CATEGORY, TEXT):
        new, found, _ = spellings(new, found)
    return new, found, replace(one, kind=kind, inferred=not one.kind)
