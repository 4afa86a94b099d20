"""CSV files: a check that every line has as many cells as the header, then fast coding.

pandas pads short lines with blanks without a word, and that would be a wrong number; so the
bytes are scanned first (delimiters and line ends outside quotes, 5 ns a byte), and pandas only
codes a file whose every line fits.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import DataError, UsageError
from reidbn.limits import BOMB, MOST_UNPACKED
from reidbn.microdata.coding import Coder, Raw
from reidbn.progress import progress
from reidbn.release.writing import without_apostrophes
from reidbn.written import ending

SUFFIXES = (".csv", ".tsv", ".txt")
_BLOCK = 1 << 22
_ROWS = 100_000
_LONGEST = 1 << 20
"""Bytes of a header line; one that is longer has no line ends."""
NOT_UTF8 = (
    "not UTF-8 text; save it as UTF-8 (Excel: Save As, CSV UTF-8; elsewhere: "
    "iconv -f WINDOWS-1252 -t UTF-8)"
)
_SEP = re.compile(r"sep=(.)", re.I)


def is_csv(path: Path) -> bool:
    return ending(path.with_suffix("") if _is_packed(path) else path) in SUFFIXES


def _is_packed(path: Path) -> bool:
    return ending(path) == ".gz"


@dataclass(frozen=True)
class Head:
    """What the first lines of a file say: the columns, the delimiter, and where the header is."""

    names: list[str]
    mark: str
    skip: int = 0
    """Lines before the header: Excel's `sep=;`."""
    quoted_after_mark: bool = False
    """Whether a byte mark and a quote come first; of such a file DuckDB makes no rows."""


def head_of(path: Path, delimiter: str | None = None) -> Head:
    """The column names and the delimiter, by default the one the header line has most of.

    Names stand without the apostrophe that keeps a spreadsheet from running them, as texts do.
    """
    if delimiter is not None and len(delimiter.encode()) != 1:
        raise UsageError(f"delimiter {delimiter!r}; use one character, such as , ; or a tab")
    with _bytes(path) as stream:
        first = stream.readline(_LONGEST)
        line = _text(path, first)
        said = _SEP.fullmatch(line.strip(' "'))
        if said:
            delimiter = delimiter or said[1]
            line = _text(path, stream.readline(_LONGEST))
    if not line.strip():
        raise DataError(f"{path.name}: the first line is empty; it must name the columns")
    mark = delimiter or max(",;\t|", key=re.sub(r'"(?:[^"]|"")*"', "", line).count)
    names = without_apostrophes(next(csv.reader([line], delimiter=mark)))
    return Head(names, mark, int(said is not None), first.startswith(codecs.BOM_UTF8 + b'"'))


def _text(path: Path, line: bytes) -> str:
    """A line of the file's beginning without its end."""
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise DataError(f"{path.name}: {NOT_UTF8}") from None
    if "\r" in text or len(line) == _LONGEST:
        raise DataError(
            f"{path.name}: its lines do not end in a line feed (old Mac files end in a carriage "
            "return alone); save it again as CSV UTF-8"
        )
    return text


def code_csv(
    path: Path, names: Sequence[str], head: Head, most: int | None = None
) -> dict[str, Raw]:
    """The wanted columns, coded; every cell as it is written, a blank one as missing.

    `most` rows are read, and then lines are not looked at beforehand.
    """
    import pandas as pd

    header = head.names
    rows = check_lines(path, head) if most is None else most
    if rows == 0:
        raise DataError(f"{path.name}: a header and no rows; need at least one person")
    places = [header.index(name) for name in names]
    coders = [Coder(written=True) for _ in names]
    read = 0
    try:
        # dtype="category" is twice as fast and reads "01" as 1; texts kept as objects stay texts.
        with pd.read_csv(
            path, sep=head.mark, skiprows=head.skip, header=0, usecols=places,
            names=[str(i) for i in range(len(header))],
            dtype=object, na_filter=False, index_col=False, encoding="utf-8", engine="c",
            compression="gzip" if _is_packed(path) else None, chunksize=_ROWS,
            nrows=most,
        ) as chunks:  # fmt: skip
            for chunk in progress(chunks, f"reading {path.name}", total=-(-rows // _ROWS)):
                read += len(chunk)
                for coder, place in zip(coders, places, strict=True):
                    coder.add(chunk[str(place)].to_numpy())
    except UnicodeDecodeError:
        raise DataError(f"{path.name}: {NOT_UTF8}") from None
    except (pd.errors.ParserError, ValueError):
        raise DataError(f"{path.name}: cannot be read as CSV; check its quotes") from None
    if most is None and read != rows:
        raise DataError(f"{path.name}: {rows} lines but {read} rows; check its quotes")
    return {name: coder.finish() for name, coder in zip(names, coders, strict=True)}


def refuse_bomb(path: Path) -> None:
    """A small file that unpacks to more than any table: its first part tells."""
    if _is_packed(path) and path.stat().st_size * 1032 > MOST_UNPACKED:  # the most gzip can
        with path.open("rb") as packed, gzip.GzipFile(fileobj=packed) as stream:
            unpacked = sum(len(stream.read(_BLOCK)) for _ in range(16))
            if unpacked > BOMB * packed.tell():
                raise DataError(
                    f"{path.name}: unpacks to more than {BOMB} times its size, as no table does; "
                    "unpack it and look, then give the unpacked file"
                )


@contextmanager
def _bytes(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, uncompressed; a damaged file is said to be one."""
    try:
        refuse_bomb(path)
        with gzip.open(path, "rb") if _is_packed(path) else path.open("rb") as stream:
            yield cast("IO[bytes]", stream)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(f"{path.name}: the compressed file is damaged or cut short") from None


def check_lines(path: Path, head: Head) -> int:
    """How many data lines there are, each with as many cells as the header; blank lines apart."""
    scan = _Scan(len(head.names), ord(head.mark), path.name, lines=head.skip)
    with _bytes(path) as stream:
        for _ in range(head.skip):
            stream.readline()
        scan.read(stream.read(_BLOCK).removeprefix(codecs.BOM_UTF8))
        while block := stream.read(_BLOCK):
            scan.read(block)
    return scan.finish() - 1


@dataclass
class _Scan:
    """Counts the cells of each line of a stream of bytes, quotes respected."""

    cells: int
    mark: int
    name: str
    lines: int = 0
    full: int = 0
    """Lines that are not blank."""
    held: bytes = b""
    """The line that a block ended in."""

    def read(self, block: bytes) -> None:
        if b"\0" in block:
            raise DataError(f"{self.name}: holds NUL bytes; it is not UTF-8 text")
        text = self.held + block
        data = np.frombuffer(text, dtype=np.uint8)
        end = data == 10
        inside = _inside_quotes(data) if b'"' in text else None
        stop = end | (data == self.mark)
        stops = np.flatnonzero(stop if inside is None else stop & ~inside)
        ends = np.flatnonzero(end[stops])
        if ends.size:
            if inside is not None:
                self._refuse_stray(data[: int(stops[ends[-1]]) + 1], stops[ends])
            if text.count(b"\r") > text.count(b"\r\n"):
                self._refuse_lone_return(data[: int(stops[ends[-1]]) + 1], inside, stops[ends])
            self._count(data, stops[ends], np.diff(ends, prepend=-1))
            self.held = text[int(stops[ends[-1]]) + 1 :]
        else:
            self.held = text

    def _refuse_stray(self, data: NDArray[np.uint8], at: NDArray[Any]) -> None:
        """A quote inside a bare cell is read one way by some and another way by others."""
        quotes = np.flatnonzero(data == 34)
        opening, closing = quotes[0::2], quotes[1::2]
        before = data[opening - 1]
        first = (opening == 0) | (before == self.mark) | (before == 10) | (before == 34)
        after = data[closing + 1]
        last = (after == self.mark) | (after == 10) | (after == 13) | (after == 34)
        stray = np.concatenate([opening[~first], closing[~last]])
        if stray.size:
            line = self.lines + int(np.searchsorted(at, stray.min())) + 1
            raise DataError(
                f"{self.name}: line {line} has a quote inside a cell that is not quoted; "
                "put the cell in quotes and double the ones inside"
            )

    def _refuse_lone_return(
        self, data: NDArray[np.uint8], inside: NDArray[np.bool_] | None, at: NDArray[Any]
    ) -> None:
        """A carriage return alone ends a line for some programs and none for others."""
        alone = (data[:-1] == 13) & (data[1:] != 10)
        if inside is not None:
            alone &= ~inside[: alone.size]
        if alone.any():
            line = self.lines + int(np.searchsorted(at, int(np.argmax(alone)))) + 1
            raise DataError(
                f"{self.name}: line {line} holds a carriage return alone, which old Mac files end "
                "their lines with; save it again as CSV UTF-8"
            )

    def _count(self, data: NDArray[np.uint8], at: NDArray[Any], cells: NDArray[Any]) -> None:
        if self.cells == 1:
            self._refuse_blank(data, at)
        length = np.diff(at, prepend=-1) - 1
        blank = (length == 0) | ((length == 1) & (data[at - 1] == 13))
        wrong = np.flatnonzero((cells != self.cells) & ~blank)
        if wrong.size:
            raise DataError(
                f"{self.name}: line {self.lines + int(wrong[0]) + 1} has "
                f"{int(cells[wrong[0]])} cells where the header has {self.cells}; "
                "quote cells that hold the delimiter"
            )
        self.lines += at.size
        self.full += int(at.size - blank.sum())

    def _refuse_blank(self, data: NDArray[np.uint8], at: NDArray[Any]) -> None:
        """Where there is one column, a blank line is a person to some programs and not to others.

        pandas and Arrow drop it, DuckDB and polars count a person without a value.
        """
        written = np.cumsum(~np.isin(data, np.frombuffer(b" \t\r\n", dtype=np.uint8)))[at]
        blank = np.flatnonzero(np.diff(written, prepend=0) == 0)
        if blank.size:
            raise DataError(
                f"{self.name}: line {self.lines + int(blank[0]) + 1} is blank, and there is one "
                'column: write "" there for a person without a value, or delete the line'
            )

    def finish(self) -> int:
        if self.held:
            self.read(b"\n")
        if self.held:
            raise DataError(f"{self.name}: a quote that opens is never closed")
        return self.full


def _inside_quotes(data: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Bytes after an odd number of quotes; a doubled quote opens and closes again."""
    inside: NDArray[np.bool_] = np.logical_xor.accumulate(data == 34)
    return inside
