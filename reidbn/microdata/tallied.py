"""People told as cells: combinations of values with their numbers of people, from a contingency.

A file larger than memory is grouped once (contingency.py); what a risk rests on are the cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.errors import UsageError
from reidbn.microdata.classes import Codes
from reidbn.microdata.columns import Column
from reidbn.microdata.contingency import Contingency
from reidbn.microdata.table import Columns, People
from reidbn.theory.frequencies import FrequencyTable


class TalliedPeople(People):
    """People of whom each cell stands for several: one row per person, made only when asked for.

    Rows are those of the cells, one after the other.

    >>> cells = People.from_codes([[0, 0], [0, 1]], ["sex", "race"])
    >>> people = TalliedPeople(cells, np.array([3, 1]))
    >>> len(people), people.frequencies(), people.class_sizes().tolist()
    (4, FrequencyTable(n=4, classes=2, f1=1), [3, 3, 3, 1])
    """

    one_by_one: ClassVar[bool] = False
    cells: People
    """One row per cell."""
    counts: NDArray[np.int64]
    """How many people each cell is."""

    def __init__(self, cells: People, counts: NDArray[np.int64]) -> None:
        for field in fields(People):
            if field.name != "table":
                object.__setattr__(self, field.name, getattr(cells, field.name))
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "counts", counts)

    @classmethod
    def of(cls, found: Contingency) -> TalliedPeople:
        """The people whom a contingency counts; its columns are the quasi-identifiers."""
        if len(found) == 0:
            raise UsageError("the contingency has no cell; count a table with people in it")
        schema = tuple(
            Column(name, values) for name, values in zip(found.columns, found.labels, strict=True)
        )
        codes = np.asfortranarray(found.codes, dtype=np.int32)
        return cls(
            People(codes, schema, found.columns, notes=found.notes, others=found.others), found.n
        )

    @cached_property
    def table(self) -> Codes:
        """All kept columns' codes, persons x columns."""
        codes = np.asfortranarray(np.repeat(self.cells.table, self.counts, axis=0))
        codes.setflags(write=False)
        return codes

    def __len__(self) -> int:
        return int(self.counts.sum())

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the cells as values of the people."""
        return np.repeat(values, self.counts, axis=0)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the cells, and of how many people each is."""
        import hashlib

        return hashlib.sha256(
            self.cells.fingerprint.encode() + np.ascontiguousarray(self.counts).tobytes()
        ).hexdigest()

    @cached_property
    def content(self) -> str:
        return self.content_as_cells(self.columns)

    def content_as_cells(self, columns: Sequence[str]) -> str:
        return self.cells.cells_told(columns, self.counts)

    def as_written(self) -> People:
        return TalliedPeople(self.cells.as_written(), self.counts)

    def frequencies(self, columns: Columns = None) -> FrequencyTable:
        ids, count = self.cells.class_ids(columns)
        sizes = np.bincount(ids, weights=self.counts, minlength=count).astype(np.int64)
        values, counts = np.unique(sizes, return_counts=True)
        return FrequencyTable(values, counts.astype(np.int64))

    def has_the_people_of(self, other: People) -> bool:
        """Whether the other counts the same cells in the same order: a cell names nobody."""
        return other is self or (
            isinstance(other, TalliedPeople) and other.fingerprint == self.fingerprint
        )

    def take(self, rows: ArrayLike) -> People:
        return self._persons.take(rows)

    def select(self, columns: Columns) -> People:
        return TalliedPeople(self.cells.select(columns), self.counts)

    @cached_property
    def _persons(self) -> People:
        """One row per person, as they would have been read."""
        made = {f.name: getattr(self, f.name) for f in fields(People)}
        return People(**made)

    def _refused(self, *_: Any, **__: Any) -> NoReturn:
        raise UsageError(
            "people counted as cells are not changed: generalise or suppress before counting, or "
            "read the people with rb.read_table"
        )

    generalise = _refused
    suppress = _refused
