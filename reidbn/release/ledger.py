"""A ledger of releases: a table few people apart from one that was reported prints its numbers.

Two reports of tables that differ by a person, each safe by itself, may tell of that person by their
difference.  With a ledger the second is not told: a table fewer than ten people apart from one in
the ledger prints, byte for byte, what was printed then.

What it keeps of a table is a sketch [Goodrich11], from which the records in which two tables differ
can be counted while they are few: every record is hashed with a secret of the ledger, and is added
to one cell in each of five rows.  Cells hold sums over many records, so the ledger does not say
whether a person is in a table; who has it, and knows all records but a few, can test the others
against it.  It is the custodian's own, and its owner's alone (0600).
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError
from reidbn.release.counts import BASE
from reidbn.release.writing import probe, write_text

ROWS, CELLS = 5, 128
"""Two of 18 records fall into the same five cells in 5 of 1e9 pairs of tables."""
Words = NDArray[np.uint64]
Columns = Sequence[tuple[str, Sequence[object], NDArray[Any]]]
"""Of each column its name, its values, and which of them each person has."""


@dataclass(frozen=True, eq=False)
class Sketch:
    """Sums over the records of a table, by which few differences are found."""

    counts: NDArray[np.int64]
    keys: Words
    checks: Words

    def apart(self, other: Sketch) -> int | None:
        """How many people two tables are apart (one changed record is one); None: many.

        What was added stands with +1 in its cells, what was taken away with -1: a cell that holds
        one record alone gives it up, and so on until nothing is left.
        """
        counts = (self.counts - other.counts).ravel()
        keys, checks = (self.keys ^ other.keys).ravel(), (self.checks ^ other.checks).ravel()
        more = less = 0
        while more + less <= 4 * BASE:
            alone = (np.abs(counts) == 1) & (_mixed(keys) == checks)
            found = np.flatnonzero(alone)
            if not len(found):
                break
            sign, key = int(counts[found[0]]), keys[found[0]]
            for cell in _places(np.array([key])).ravel():
                counts[cell] -= sign
                keys[cell] ^= key
                checks[cell] ^= _mixed(np.array([key]))[0]
            more, less = more + (sign > 0), less + (sign < 0)
        return max(more, less) if not (counts.any() or keys.any() or checks.any()) else None

    def to_text(self) -> str:
        """As text for a file."""
        parts = (self.counts.astype("<i8"), self.keys.astype("<u8"), self.checks.astype("<u8"))
        return _packed(b"".join(part.tobytes() for part in parts))

    @classmethod
    def of_text(cls, text: str) -> Sketch:
        """From a file."""
        raw, size = _unpacked(text), 8 * ROWS * CELLS
        parts = [raw[i * size : (i + 1) * size] for i in range(3)]
        counts = np.frombuffer(parts[0], "<i8").astype(np.int64)
        keys, checks = (np.frombuffer(part, "<u8").astype(np.uint64) for part in parts[1:])
        return cls(counts, keys, checks)


def _records(columns: Columns, secret: bytes) -> Words:
    """A word for each record, hashed with a secret."""
    many = len(columns[0][2]) if columns else 0
    records = np.zeros(many, dtype=np.uint64)
    for name, values, codes in sorted(columns, key=lambda column: column[0]):
        hashed = np.array([_word(secret, name, value) for value in values], dtype=np.uint64)
        weight = np.uint64(_word(secret, name, None) | 1)
        records = _mixed(records + hashed[codes] * weight)
    return records


def sketch(columns: Columns, secret: bytes) -> Sketch:
    """The sketch of a table's records, hashed with a secret."""
    records, many = _records(columns, secret), len(columns[0][2]) if columns else 0
    # The third of three alike is another record than the second: each is found by itself.
    kinds, inverse = np.unique(records, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.searchsorted(inverse[order], np.arange(len(kinds)))
    which = np.empty(many, dtype=np.uint64)
    which[order] = (np.arange(many) - starts[inverse[order]]).astype(np.uint64)
    keys = _mixed(records ^ _mixed(which + np.uint64(1)))
    places, size = _places(keys), ROWS * CELLS
    counts, sums, checks = np.zeros(size, np.int64), np.zeros(size, np.uint64), _mixed(keys)
    held = np.zeros(size, np.uint64)
    for row in places:
        np.add.at(counts, row, 1)
        np.bitwise_xor.at(sums, row, keys)
        np.bitwise_xor.at(held, row, checks)
    return Sketch(counts, sums, held)


def _word(secret: bytes, name: str, value: object) -> int:
    text = json.dumps([name, value is None, str(value)]).encode()
    return int.from_bytes(hashlib.blake2b(text, key=secret[:64], digest_size=8).digest(), "little")


def _mixed(words: Words) -> Words:
    """Each word's bits mixed (splitmix64)."""
    found = words + np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(found ^ (found >> np.uint64(31)))


def _places(keys: Words) -> NDArray[np.int64]:
    """The cell of each record in each row."""
    rows = [_mixed(keys ^ np.uint64(0xA5A5 + row)) % np.uint64(CELLS) for row in range(ROWS)]
    return np.array([row.astype(np.int64) + i * CELLS for i, row in enumerate(rows)])


def _packed(raw: bytes) -> str:
    return base64.b64encode(zlib.compress(raw, 9)).decode()


def _unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


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

    def text(self, kind: str) -> str:
        """What was printed, by the ending of the file."""
        return _unpacked(self.printed[kind]).decode()


@dataclass(eq=False)
class Ledger:
    """The releases of a house; made at the first."""

    path: Path
    secret: bytes = field(repr=False)
    entries: list[Released]

    def near(self, columns: Columns) -> tuple[list[tuple[int, Released]], Sketch, str]:
        """Entries of tables fewer than ten people apart, with how many; and this table's marks."""
        mine = sketch(columns, self.secret)
        named = self._named(sorted(name for name, _, _ in columns))
        found = []
        for entry in self.entries:
            if entry.columns == named:
                apart = mine.apart(Sketch.of_text(entry.sketch))
                if apart is not None and apart < BASE:
                    found.append((apart, entry))
        return found, mine, named

    def _named(self, names: object) -> str:
        text = json.dumps(names).encode()
        return hashlib.blake2b(text, key=self.secret[:64], digest_size=16).hexdigest()

    def by_column(self, columns: Columns) -> dict[str, Sketch]:
        """A sketch of each column by itself."""
        return {self._named(column[0]): sketch([column], self.secret) for column in columns}

    def shares_people(self, columns: Columns, near: Sequence[Released]) -> bool:
        """Whether another table is here that may be of the same people, or of all but a few.

        So it is where two columns, or all that both have, are fewer than ten people apart; of a
        table of two, where one is: the other may have been read otherwise (missing values).
        """
        mine = self.by_column(columns)
        for entry in self.entries:
            shared = sorted(set(mine) & set(entry.by_column))
            if entry in near or not shared:
                continue
            far = [mine[c].apart(Sketch.of_text(entry.by_column[c])) for c in shared]
            alike = sum(apart is not None and apart < BASE for apart in far)
            pair = len(shared) == 2 and len(mine) == len(entry.by_column) == 2
            if alike >= min(2, len(shared) - pair):
                return True
        return False

    def classes(self, columns: Columns, sizes: Sequence[NDArray[np.int64]]) -> list[str]:
        """A word for each way in which people stand in classes, by the size of everybody's."""
        records, found = _records(columns, self.secret), set()
        for each in sizes:
            words = np.sort(_mixed(records ^ _mixed(each.astype(np.uint64))))
            found.add(hashlib.blake2b(words.tobytes(), key=self.secret[:64]).hexdigest()[:32])
        return sorted(found)

    def add(self, columns: Columns, release: Released) -> None:
        """Keep a release."""
        texts = {kind: _packed(text.encode()) for kind, text in release.printed.items()}
        sketches = {c: mine.to_text() for c, mine in self.by_column(columns).items()}
        self.entries.append(replace(release, printed=texts, by_column=sketches))
        content = {
            "reidbn ledger": 1,
            "note": "The custodian's own: it has a secret, and marks of the tables released.",
            "secret": self.secret.hex(),
            "releases": [vars(entry) for entry in self.entries],
        }
        write_text(json.dumps(content, indent=1) + "\n", self.path, of_people=True)


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
        return Ledger(place, bytes.fromhex(content["secret"]), entries)
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
