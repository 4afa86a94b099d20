"""Files are written whole or not at all: a crash or a full disk leaves the old file or the new one.

What is written goes into a private folder beside its place and takes that place, by one rename,
when every byte is on the disk.  A folder that a killed process left is removed by the next one that
writes the same name (in a checkpoint's folder by the next run); one that is being written to now is
locked and left alone.
"""

from __future__ import annotations

import csv
import errno
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from reidbn.errors import UsageError
from reidbn.written import ending

if TYPE_CHECKING:
    import pandas as pd

PARQUET = (".parquet", "")
"""How the name of a Parquet file may end."""
_PART = ".part"
_LOCK = "lock"
_UNSEEN = "lock.new"
_TRIES = 9
"""So often a folder is made that another process takes away before it is locked."""
_YOUNG = 3600.0
"""Seconds in which a lock counts as held where no system says so."""
_SIGNS, _BLANKS = ("=", "+", "-", "@"), ("\t", "\r")
"""What a spreadsheet takes for the start of a formula."""


@contextmanager
def whole(path: str | os.PathLike[str], *, of_people: bool = False) -> Iterator[Path]:
    """A path to write to; what is written there becomes `path` at the end, if nothing goes wrong.

    `of_people` is for files with a row or a mark for each person: only their owner may read them.
    """
    place = _place(path)
    if is_stream(place):
        with _said(place):
            yield place
        return
    with _said(place), _held(place.parent, _start(place)) as folder:
        made = folder / place.name
        yield made
        _synced(made, place, of_people=of_people)
        made.replace(place)
        _synced_folder(place.parent)


def ends_in(path: str | os.PathLike[str], endings: Sequence[str], what: str = "") -> str:
    """The kind of a file; refused where it is another; "" among `endings` is no ending."""
    found = ending(path)
    if found not in endings:
        wanted = " or ".join(filter(None, endings))
        raise UsageError(f"{what}{Path(path).name}: end the name in {wanted}")
    return found


def probe(*paths: str | os.PathLike[str] | None) -> None:
    """Refuse, before long work, the first path where no file could be written."""
    for path in paths:
        if path is not None:
            place = _place(path)
            if not is_stream(place):
                with _said(place):
                    folder = _private(place.parent, _start(place))
                    with suppress(FileNotFoundError):  # another process took it for a left one
                        folder.rmdir()


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a device or a pipe, such as /dev/stdout: nothing there can be lost."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def private_folder(path: str | os.PathLike[str], ending: str = "") -> Path:
    """A folder of one's own; made, for its owner alone, where it is not there yet.

    What killed processes left of files in it of such an ending is removed.
    """
    place = Path(path)
    if place.is_dir():
        probe(place / "any")
        if ending:
            _tidy(place, rf"\..*{re.escape(ending)}\.\w{{8}}")
        return place
    with _said(place):
        _place(place).mkdir(mode=0o700)
    return place


def write_text(text: str, path: str | os.PathLike[str], *, of_people: bool = False) -> Path:
    """Write a text file."""
    with whole(path, of_people=of_people) as place:
        place.write_text(text, encoding="utf-8", newline="\n")
    return Path(path)


def write_csv(
    table: pd.DataFrame, path: str | os.PathLike[str], *, of_people: bool = False
) -> Path:
    """Write a table as CSV; a text that a spreadsheet would run gets a quote before it."""
    texts = [(str(name), _texts(table.iloc[:, i])) for i, name in enumerate(table.columns)]
    for name, own in texts:
        if any("\0" in text for text in (name, *own)):
            raise UsageError(
                f'a text of column "{name}" has a character of code 0 in it, which no CSV file '
                f"can hold; write a .parquet file"
            )
    # Where nothing has to be quoted, a carriage return within a text would end a line.
    returns = any("\r" in text for name, own in texts for text in (name, *own))
    with whole(path, of_people=of_people) as place:
        safe_cells(table).to_csv(
            place, index=False, lineterminator="\n",
            quoting=csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL,
        )  # fmt: skip
    return Path(path)


def _texts(column: pd.Series) -> Iterable[str]:
    """The different texts in a column."""
    held = column.cat.categories if column.dtype.name == "category" else column
    if held.dtype.kind in "biufcmM":
        return ()
    return {text for text in held.tolist() if isinstance(text, str)}


def safe_cells(table: pd.DataFrame) -> pd.DataFrame:
    """The table with an apostrophe before each text, and name, that starts as a formula does.

    Whole numbers of which some are missing stay whole numbers.
    """
    import pandas as pd

    table = table.set_axis(_safe(table.columns), axis=1)
    for i, kind in enumerate(table.dtypes):
        if not hasattr(kind, "kind") or kind.kind not in "biufcmM":
            cells = pd.Series(_safe(table.iloc[:, i]), index=table.index, dtype=object)
            whole = pd.api.types.infer_dtype(cells) == "integer"
            table.isetitem(i, (cells if whole else cells.infer_objects()).array)
    return table


def unsafe_columns(table: pd.DataFrame) -> list[str]:
    """The columns of which `safe_cells` changes a text."""
    return [str(name) for i, name in enumerate(table.columns) if runs(table.iloc[:, i])]


def runs(values: Iterable[Any]) -> bool:
    """Whether a spreadsheet would run one of these as a formula."""
    return any(map(_is_bare, values))


def unsafe_names(names: Iterable[Any]) -> dict[str, str]:
    """Of columns those whose name `safe_cells` changes, and how it is written then."""
    names = [*names]
    return {str(n): str(to) for n, to in zip(names, _safe(names), strict=True) if n != to}


def without_apostrophes(texts: Sequence[Any]) -> list[Any]:
    """The different texts of a column as they were before `safe_cells` wrote them.

    Of one that it cannot have written, and where two would be one text then, as they are.

    >>> without_apostrophes(["'-10--1", "0-9"]), without_apostrophes(["'-1-2", "-3-4"])
    (['-10--1', '0-9'], ["'-1-2", '-3-4'])
    """
    given = [text.strip() if isinstance(text, str) else text for text in texts]
    if not any(isinstance(text, str) and text.startswith("'") for text in given):
        return given
    if runs(given):
        return given
    found = [text[1:].strip() if _is_formula(text) else text for text in given]
    return found if len(set(found)) == len(set(given)) else given


def _safe(values: Iterable[Any]) -> list[Any]:
    """An apostrophe before each text that a spreadsheet would run.

    Then one more before a text of these that has one: of two that differ, each stays itself.
    """
    values = [*values]
    if not runs(values):
        return values
    return [f"'{_at_start(text)}" if _is_formula(text) else text for text in values]


def _at_start(text: str) -> str:
    """Without the blanks before a sign that starts a formula."""
    bare = text.lstrip()
    return bare if bare.lstrip("'").startswith(_SIGNS) else text


def _is_bare(value: Any) -> bool:
    """Whether a spreadsheet would run it, as no apostrophe is before it."""
    return _is_formula(value) and not value.lstrip(" ").startswith("'")


def _is_formula(value: Any) -> bool:
    """Whether it is a text that a spreadsheet would run but for the apostrophes before it."""
    if not isinstance(value, str):
        return False
    bare, own = value.strip().lstrip("'"), value.lstrip("'")
    if not own.strip() or bare in ("+", "-"):
        return False
    if not bare.startswith(_SIGNS) and not own.startswith(_BLANKS):
        return False
    try:
        float(bare)
    except ValueError:
        return True
    return False  # -5 is a number, whoever wrote it as a text


def _place(path: str | os.PathLike[str]) -> Path:
    """Where the bytes go: a link is followed, so that it stays a link."""
    if not isinstance(path, str | os.PathLike) or not str(path):
        raise UsageError("path is the path of a file")
    try:
        if b"\0" in os.fsencode(path):
            raise UsageError("path has a character of code 0 in it; no file can be called so")
    except UnicodeEncodeError:
        raise UsageError("path has half a character in it; no file can be called so") from None
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise UsageError(f"{path}: is a folder; name a file in it")
    if not place.parent.is_dir():
        raise UsageError(f"{path}: cannot be written: its folder is not there; make it first")
    return place


@contextmanager
def _said(place: Path) -> Iterator[None]:
    """A disk's refusal in the words of the house."""
    try:
        yield
    except OSError as problem:
        kept = "; the file that was there is untouched" if place.is_file() else ""
        why = problem.strerror or type(problem).__name__
        raise UsageError(f"{place.name}: cannot be written: {why}{kept}") from None


def said_by_disk(problem: Exception) -> OSError:
    """What the disk told a library that writes by itself, where its words hold it.

    >>> said_by_disk(RuntimeError('Could not write "a": File too large')).strerror
    'File too large'
    """
    if isinstance(problem, OSError):
        return problem
    numbers = [n for n in errno.errorcode if os.strerror(n) in str(problem)]
    return OSError(numbers[0], os.strerror(numbers[0])) if numbers else OSError()


def _start(place: Path) -> str:
    """How the names of the private folders of a place begin."""
    return f".{place.name[:80]}."


def _private(home: Path, start: str) -> Path:
    """A new private folder, after those that killed processes left are gone."""
    _tidy(home, f"{re.escape(start)}.*")
    return Path(tempfile.mkdtemp(prefix=start, suffix=_PART, dir=home))


def _tidy(home: Path, name: str) -> None:
    like = re.compile(name + re.escape(_PART), re.DOTALL)
    with os.scandir(home) as beside:  # a checkpoint's folder can hold thousands
        left = [e.path for e in beside if like.fullmatch(e.name)]
    for folder in filter(os.path.isdir, left):
        _remove_if_left(Path(folder))


@contextmanager
def _held(home: Path, start: str) -> Iterator[Path]:
    """A private folder that is locked until the end, and then removed."""
    with ExitStack() as held:
        for tries in reversed(range(_TRIES)):
            folder = _private(home, start)
            held.callback(shutil.rmtree, folder, ignore_errors=True)
            try:
                held.enter_context(_locked(folder))
                break
            except (FileNotFoundError, BlockingIOError):  # it was taken for one that is left
                if not tries:
                    raise
        yield folder


@contextmanager
def held_folder(home: Path, start: str) -> Iterator[Path]:
    """A private folder for what is on its way, removed at the end, or at the next after a kill."""
    with _held(home, start) as folder:
        inside = folder / "kept"
        inside.mkdir(mode=0o700)
        yield inside


def _remove_if_left(folder: Path) -> None:
    """Remove it unless somebody holds its lock.

    An empty one may be about to get a lock: whoever made it then makes another.  One that is not
    empty has a lock from its first moment to its last.
    """
    with suppress(OSError):
        folder.rmdir()
    with suppress(OSError), ExitStack() as held:
        for lock in (folder / _UNSEEN, folder / _LOCK):  # in the order in which they come to be
            if lock.exists():
                _hold(held.enter_context(lock.open("r+")))  # an error where another process writes
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a folder: its lock is held before others can see it."""
    with (folder / _UNSEEN).open("w") as lock:
        _hold(lock)
        (folder / _UNSEEN).replace(folder / _LOCK)
        yield


def _hold(lock: IO[str]) -> None:
    try:
        import fcntl
    except ImportError:
        # Without such locks a folder looks held as long as it is young.
        if time.time() - os.fstat(lock.fileno()).st_mtime < _YOUNG and lock.mode != "w":
            raise BlockingIOError from None
    else:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _synced(made: Path, place: Path, *, of_people: bool) -> None:
    """On the disk, with the rights that it shall have."""
    if of_people:
        made.chmod(0o600)
    elif place.exists():
        made.chmod(stat.S_IMODE(place.stat().st_mode))
    with made.open("r+b") as written:
        os.fsync(written.fileno())


def _synced_folder(folder: Path) -> None:
    with suppress(OSError, AttributeError):  # not every system can open a folder
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
