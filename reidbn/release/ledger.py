"""A ledger of releases: a table few people apart from one that was reported prints its numbers.

Two reports of tables that differ by a person, each safe by itself, may tell of that person by their
difference.  With a ledger the second is not told: a table fewer than ten people apart from one in
the ledger prints, byte for byte, what was printed then.

What it keeps of a table is a sketch (marks.py), hashed with a secret of the ledger, from which the
records in which two tables differ can be counted while they are few.  Its cells hold sums over many
records, so the ledger does not say whether a person is in a table; who has it, and knows all
records but a few, can test the others against it.  Of a file of people it keeps which rows are
written alike (files.py) and a mark of each row, so who has the ledger can test any row against it.
It is the custodian's own, and its owner's alone (0600).
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError
from reidbn.release.counts import BASE
from reidbn.release.files import FileOut
from reidbn.release.marks import (
    Columns,
    Sketch,
    mixed,
    packed,
    records_of,
    sketch,
    unpacked,
)
from reidbn.release.writing import probe, write_text

COMMONEST, MOST_OF = 32, 0.75  # values of a column that are kept, and how many make it the same


@dataclass(frozen=True)
class Released:
    """One release: the sketch of its table, what was asked, and what was printed."""

    columns: str
    sketch: str
    asked: str
    standing: int
    """2 where it says "passes", 1 where it judges nothing, 0 where it says "does not pass"."""
    printed: Mapping[str, str]
    by_column: Mapping[str, str] = field(default_factory=dict)
    """Of each column a sketch of its own, for a table that shares some columns only."""
    classes: Sequence[str] = ()
    """The classes in which people were counted: a word for the size of everybody's."""
    verdict: Sequence[int] = (0, 0)
    """Nobody, and somebody, is said to be in a class of at most so many."""
    stated: str = ""
    """A word for its title and its recipient; empty in an older ledger."""
    tells: str = ""
    """A word for all that it tells of people, whatever its title and recipient."""
    by_value: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Of each column words for its commonest values and how many have each: what else was read as
    missing leaves the others as they are."""

    def text(self, kind: str) -> str:
        """What was printed, by the ending of the file."""
        return unpacked(self.printed[kind]).decode()


@dataclass(eq=False)
class Ledger:
    """The releases of a house; made at the first."""

    path: Path
    secret: bytes = field(repr=False)
    entries: list[Released]
    files: list[FileOut] = field(default_factory=list)

    def near(self, columns: Columns) -> tuple[list[tuple[int, Released]], Sketch, str]:
        """Entries of tables so few people apart that it is known how many, with that number; and
        this table's marks.
        """
        mine = sketch(columns, self.secret)
        named = self.named(sorted(name for name, _, _ in columns))
        found = []
        for entry in self.entries:
            if entry.columns == named:
                apart = mine.apart(Sketch.of_text(entry.sketch))
                if apart is not None:
                    found.append((apart, entry))
        return found, mine, named

    def named(self, names: object) -> str:
        """A word for names of columns."""
        text = json.dumps(names).encode()
        return hashlib.blake2b(text, key=self.secret[:64], digest_size=16).hexdigest()

    def by_column(self, columns: Columns) -> dict[str, Sketch]:
        """A sketch of each column by itself."""
        return {self.named(column[0]): sketch([column], self.secret) for column in columns}

    def shares_people(self, columns: Columns, near: Sequence[Released]) -> bool:
        """Whether another table is here that may be of the same people, or of all but a few.

        So it is where two columns, or all that both have, are fewer than ten people apart; of a
        table of two, where one is.  And it is where as many people have most values of each column:
        the other was read with other missing_values.
        """
        mine, values = self.by_column(columns), self.by_value(columns)
        for entry in self.entries:
            shared = sorted(set(mine) & set(entry.by_column))
            if entry in near or not shared:
                continue
            far = [mine[c].apart(Sketch.of_text(entry.by_column[c])) for c in shared]
            alike = sum(apart is not None and apart < BASE for apart in far)
            pair = len(shared) == 2 and len(mine) == len(entry.by_column) == 2
            if alike >= min(2, len(shared) - pair):
                return True
            if entry.by_value and all(_as_many(values[c], entry.by_value[c]) for c in shared):
                return True
        return False

    def by_value(self, columns: Columns) -> dict[str, list[str]]:
        """By column a word for each of its commonest values with how many people have it."""
        found = {}
        for name, labels, codes in columns:
            counts = np.bincount(codes, minlength=len(labels))
            common = np.argsort(-counts, kind="stable")[:COMMONEST]
            found[self.named(name)] = [
                self.named([name, labels[i], int(counts[i])])[:12]
                for i in common if counts[i] and labels[i] is not None
            ]  # fmt: skip
        return found

    def classes(self, columns: Columns, sizes: Sequence[NDArray[np.int64]]) -> list[str]:
        """A word for each way in which people stand in classes, by the size of everybody's."""
        records, found = records_of(columns, self.secret), set()
        for each in sizes:
            words = np.sort(mixed(records ^ mixed(each.astype(np.uint64))))
            found.add(hashlib.blake2b(words.tobytes(), key=self.secret[:64]).hexdigest()[:32])
        return sorted(found)

    def add(self, columns: Columns, release: Released) -> None:
        """Keep a release."""
        texts = {kind: packed(text.encode()) for kind, text in release.printed.items()}
        sketches = {c: mine.to_text() for c, mine in self.by_column(columns).items()}
        kept = replace(release, by_column=sketches, by_value=self.by_value(columns))
        self.entries.append(replace(kept, printed=texts))
        self._save()

    def add_file(self, written: FileOut) -> None:
        """Keep a file of people that is let out."""
        self.files.append(written)
        self._save()

    def _save(self) -> None:
        content = {
            "reidbn ledger": 1,
            "note": "The custodian's own: it has a secret, and marks of the tables released.",
            "secret": self.secret.hex(),
            "releases": [vars(entry) for entry in self.entries],
            "files": [vars(written) for written in self.files],
        }
        write_text(json.dumps(content, indent=1) + "\n", self.path, of_people=True)


def _as_many(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether most values of one of them are had by as many people in the other."""
    return len({*one} & {*other}) >= MOST_OF * min(len(one), len(other))


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Ledger]:
    """A ledger, which no other process changes meanwhile."""
    probe(path)
    place = Path(os.path.realpath(path))
    with _held(place.parent):
        yield _read(place)


def _read(place: Path) -> Ledger:
    if not place.exists() or not place.stat().st_size:
        return Ledger(place, secrets.token_bytes(32), [])
    try:
        content = json.loads(place.read_text(encoding="utf-8"))
        entries = [_released(entry) for entry in content["releases"]]
        files = [FileOut(**written) for written in content.get("files", [])]
        return Ledger(place, bytes.fromhex(content["secret"]), entries, files)
    except (ValueError, KeyError, TypeError, OSError):
        raise UsageError(
            f"{place.name}: is no ledger of releases; name the one that earlier reports were "
            "written with, or a new file"
        ) from None


def _released(entry: dict[str, Any]) -> Released:
    """An entry; an older ledger knew green and not green, which may have judged nothing."""
    if "is_green" in entry:
        entry = {**entry, "standing": 1 + bool(entry["is_green"])}
        del entry["is_green"]
    return Released(**entry)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # a system without such locks: one process at a time is the caller's word
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
