"""Histories: persons with several records each, compared whole [Antoniou22].

Two persons are alike on some columns when the multisets of their records, cut to those
columns, are equal (or the sets, or the sequences in file order).  A multiset of records says
more than the multisets of its columns: (a, x), (b, y) differs from (a, y), (b, x).  A column
that changes within nobody is the person's own, and does not tell how many records there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reidbn.microdata.classes import Codes, Ints, class_ids, some_of
from reidbn.microdata.columns import Column
from reidbn.theory.frequencies import numbered

MODES = ("multiset", "set", "sequence", "person")


@dataclass(frozen=True, eq=False)
class History:
    """The records behind the persons: sorted by person, in file order within each."""

    mode: str
    owner: Ints
    """The person of each record, 0.. in person order, every person at least once."""
    records: Codes
    schema: tuple[Column, ...]

    @property
    def persons(self) -> int:
        return int(self.owner[-1]) + 1

    @property
    def lengths(self) -> Ints:
        """How many records each person has."""
        return np.bincount(self.owner).astype(np.int64)

    def place(self, name: str) -> int:
        return next(j for j, column in enumerate(self.schema) if column.name == name)

    @cached_property
    def changing(self) -> frozenset[str]:
        """The columns in which any person's records differ."""
        same = self.owner[1:] == self.owner[:-1]
        differs = self.records[1:] != self.records[:-1]
        changes = (differs & same[:, None]).any(axis=0)
        return frozenset(c.name for c, yes in zip(self.schema, changes, strict=True) if yes)

    def varies(self, name: str) -> bool:
        return name in self.changing

    def ids(self, names: Sequence[str]) -> tuple[Ints, int]:
        """The class of each person's history on the columns, and how many classes there are.

        Persons of one length are compared as rows of that many record numbers, sorted within
        the person unless the order counts.
        """
        places = [self.place(name) for name in names]
        cards = [self.schema[j].cardinality for j in places]
        record, kinds = class_ids(self.records[:, places], cards)
        owner, record = self._arranged(record, kinds)
        lengths = np.bincount(owner, minlength=self.persons)
        starts = np.cumsum(lengths) - lengths
        ids = np.empty(self.persons, dtype=np.int64)
        count = 0
        for length in np.unique(lengths).tolist():
            some = np.flatnonzero(lengths == length)
            rows = record[starts[some][:, None] + np.arange(length)]
            own, classes = class_ids(rows.astype(np.int32), [kinds] * length)
            ids[some] = own + count
            count += classes
        return ids, count

    def _arranged(self, record: Ints, kinds: int) -> tuple[Ints, Ints]:
        if self.mode == "sequence":
            return self.owner, record
        key = self.owner * kinds + record
        key = np.unique(key) if self.mode == "set" else np.sort(key)
        return key // kinds, key % kinds

    def column(self, name: str) -> tuple[Column, NDArray[np.int32]]:
        """One column per person: as it is if it never varies, else coded histories."""
        column = self.schema[self.place(name)]
        if not self.varies(name):
            starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
            return column, self.records[starts, self.place(name)]
        ids, count = self.ids([name])
        example = some_of(ids, count)
        labels = np.empty(count, dtype=object)
        owner, codes = self._arranged(
            self.records[:, self.place(name)].astype(np.int64), column.cardinality
        )
        starts = np.searchsorted(owner, np.arange(self.persons + 1))
        values = column.labels.tolist()
        for code, person in enumerate(example.tolist()):
            own = codes[starts[person] : starts[person + 1]].tolist()
            labels[code] = tuple(values[c] for c in own)
        return Column(name, labels), ids.astype(np.int32)

    def take(self, persons: Ints) -> History:
        """The histories of these persons, in that order."""
        lengths = self.lengths
        starts = np.cumsum(lengths) - lengths
        chosen = lengths[persons]
        within = numbered(chosen)
        rows = np.repeat(starts[persons], chosen) + within
        owner = np.repeat(np.arange(persons.size), chosen)
        return replace(self, owner=owner, records=np.asfortranarray(self.records[rows]))

    def select(self, names: Sequence[str]) -> History:
        places = [self.place(name) for name in names]
        schema = tuple(self.schema[j] for j in places)
        return replace(self, records=np.asfortranarray(self.records[:, places]), schema=schema)


def by_person(subject_codes: Ints) -> tuple[Ints, Ints]:
    """Record numbers sorted by person, and each one's person; persons in order of appearance.

    >>> by_person(np.array([7, 3, 7]))
    (array([0, 2, 1]), array([0, 0, 1]))
    """
    values, first, inverse = np.unique(subject_codes, return_index=True, return_inverse=True)
    rank = np.empty(values.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(values.size)
    owner = rank[inverse]
    order = np.argsort(owner, kind="stable")
    return order, owner[order]
