"""Files of people that were let out, and what two of them tell whoever holds both.

Rows of two files of one table can be joined: by a column that both have unchanged, by several of
them together, by luck.  The worst is taken to happen, that every row is.  Somebody is then alike
with those who stand beside them in every file: in the same class of each, and left out of the same
ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.release.marks import Sketch, Words, numbered, packed, unpacked

Ints = NDArray[np.int64]
KEPT = 16_384
"""So many rows of a file are kept as marks, the same of every file that has them."""


@dataclass(frozen=True)
class FileOut:
    """One file of people that was let out."""

    name: str
    day: str
    levels: Mapping[str, str]
    """What was done to each column, in words."""
    source: str
    """A digest of every row that the people were read from, in order."""
    columns: str
    """A digest of the names of the columns whose levels were chosen."""
    by_column: Mapping[str, str]
    """Of each column of the people in the file, a sketch."""
    marks: str
    people: int
    classes: str
    """Of each row of the source, which rows are written as it is; -1 where it is left out."""
    rules: Sequence[Mapping[str, Any]]
    """The limits that follow from who is written alike."""
    others: Sequence[str]
    """In words, the limits that do not."""

    @property
    def alike(self) -> Ints:
        return np.frombuffer(unpacked(self.classes), "<i4").astype(np.int64)

    def shared(self, other: FileOut) -> int:
        """About how many rows of the source two files share; all are counted where they are few."""
        mine, theirs = (np.frombuffer(unpacked(one.marks), "<u8") for one in (self, other))
        top = min(one.max() if len(one) == KEPT else ~np.uint64(0) for one in (mine, theirs))
        seen = int((mine <= top).sum())
        both = np.intersect1d(mine[mine <= top], theirs[theirs <= top]).size
        return round(both * self.people / max(seen, 1))

    def has_the_columns_of(self, other: FileOut, fewer: int) -> bool:
        """Whether all columns that both have, two or more, are fewer than so many people apart."""
        names = set(self.by_column) & set(other.by_column)
        far = [Sketch.of_text(self.by_column[n]).apart(Sketch.of_text(other.by_column[n]))
               for n in names]  # fmt: skip
        enough = len(names) >= min(2, len(self.by_column), len(other.by_column))
        return enough and all(apart is not None and apart < fewer for apart in far)


def marks_of(rows: Words) -> str:
    """Of the rows of a file, the marks that are kept."""
    return packed(np.sort(numbered(rows))[:KEPT].astype("<u8").tobytes())


def digest_of(rows: Words, secret: bytes) -> str:
    """A digest of all rows, in their order."""
    return hashlib.blake2b(rows.tobytes(), key=secret[:64], digest_size=16).hexdigest()


def classes_text(alike: Ints) -> str:
    """Who is written alike, as text for a file."""
    return packed(alike.astype("<i4").tobytes())


def joined(files: Sequence[Ints]) -> tuple[Ints, int | None]:
    """The class of each row that is in one of the files, for whoever holds all of them.

    And the first of the files, if any, that tells as much by itself: it has everybody, and its
    classes are no larger.
    """
    there = np.any([alike >= 0 for alike in files], axis=0)
    views = [alike[there] for alike in files]
    both = np.zeros(int(there.sum()), dtype=np.int64)
    for own in views:
        both = np.unique(both * (own.max() + 2) + own + 1, return_inverse=True)[1]
    number = int(both.max()) + 1
    alone = [i for i, own in enumerate(views) if own.min() >= 0 and np.unique(own).size == number]
    return both, alone[0] if alone else None
