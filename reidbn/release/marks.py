"""Marks of a table's records, hashed with a secret: what a ledger keeps in place of them.

A sketch [Goodrich11] lets the records in which two tables differ be counted while they are few:
every record is added to one cell in each of five rows.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.release.counts import BASE

ROWS, CELLS = 5, 128
"""Two of 18 records fall into the same five cells in 5 of 1e9 pairs of tables."""
MOST = 4 * BASE + 1  # records in which two tables differ that are looked for
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
        held = ((counts != 0) | (keys != 0)).reshape(ROWS, CELLS).sum(axis=1)
        if held.max() > MOST:  # each record has one cell in a row
            return None
        while more + less < MOST:
            alone = (np.abs(counts) == 1) & (mixed(keys) == checks)
            found = np.flatnonzero(alone)
            if not len(found):
                break
            sign, key = int(counts[found[0]]), keys[found[0]]
            for cell in _places(np.array([key])).ravel():
                counts[cell] -= sign
                keys[cell] ^= key
                checks[cell] ^= mixed(np.array([key]))[0]
            more, less = more + (sign > 0), less + (sign < 0)
        return max(more, less) if not (counts.any() or keys.any() or checks.any()) else None

    def to_text(self) -> str:
        """As text for a file."""
        parts = (self.counts.astype("<i8"), self.keys.astype("<u8"), self.checks.astype("<u8"))
        return packed(b"".join(part.tobytes() for part in parts))

    @classmethod
    def of_text(cls, text: str) -> Sketch:
        """From a file."""
        raw, size = unpacked(text), 8 * ROWS * CELLS
        parts = [raw[i * size : (i + 1) * size] for i in range(3)]
        counts = np.frombuffer(parts[0], "<i8").astype(np.int64)
        keys, checks = (np.frombuffer(part, "<u8").astype(np.uint64) for part in parts[1:])
        return cls(counts, keys, checks)


def records_of(columns: Columns, secret: bytes) -> Words:
    """A word for each record, hashed with a secret."""
    many = len(columns[0][2]) if columns else 0
    records = np.zeros(many, dtype=np.uint64)
    for name, values, codes in sorted(columns, key=lambda column: column[0]):
        hashed = np.array([word_of(secret, name, value) for value in values], dtype=np.uint64)
        weight = np.uint64(word_of(secret, name, None) | 1)
        records = mixed(records + hashed[codes] * weight)
    return records


def sketch(columns: Columns, secret: bytes) -> Sketch:
    """The sketch of a table's records, hashed with a secret."""
    keys = numbered(records_of(columns, secret))
    places, size = _places(keys), ROWS * CELLS
    counts, sums, checks = np.zeros(size, np.int64), np.zeros(size, np.uint64), mixed(keys)
    held = np.zeros(size, np.uint64)
    for row in places:
        np.add.at(counts, row, 1)
        np.bitwise_xor.at(sums, row, keys)
        np.bitwise_xor.at(held, row, checks)
    return Sketch(counts, sums, held)


def numbered(records: Words) -> Words:
    """A word for each record, where the third of three alike is another than the second."""
    kinds, inverse = np.unique(records, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.searchsorted(inverse[order], np.arange(len(kinds)))
    which = np.empty(len(records), dtype=np.uint64)
    which[order] = (np.arange(len(records)) - starts[inverse[order]]).astype(np.uint64)
    return mixed(records ^ mixed(which + np.uint64(1)))


def word_of(secret: bytes, name: str, value: object) -> int:
    text = json.dumps([name, value is None, str(value)]).encode()
    return int.from_bytes(hashlib.blake2b(text, key=secret[:64], digest_size=8).digest(), "little")


def mixed(words: Words) -> Words:
    """Each word's bits mixed (splitmix64)."""
    found = words + np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(found ^ (found >> np.uint64(31)))


def _places(keys: Words) -> NDArray[np.int64]:
    """The cell of each record in each row."""
    rows = [mixed(keys ^ np.uint64(0xA5A5 + row)) % np.uint64(CELLS) for row in range(ROWS)]
    return np.array([row.astype(np.int64) + i * CELLS for i, row in enumerate(rows)])


def packed(raw: bytes) -> str:
    """Bytes as text for a file."""
    return base64.b64encode(zlib.compress(raw, 9)).decode()


def unpacked(text: str) -> bytes:
    """Bytes from a file."""
    return zlib.decompress(base64.b64decode(text))
