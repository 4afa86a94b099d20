"""A progress bar on standard error, shown only when work takes more than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

T = TypeVar("T")
_quiet = [False]
PATIENCE = 1.0  # seconds before anything is shown


def be_quiet() -> None:
    """Show no progress for the rest of this process (`--quiet`)."""
    _quiet[0] = True


def progress(steps: Iterable[T], label: str, *, total: int | None = None) -> Iterator[T]:
    """The steps themselves; a bar appears on a terminal once a second has passed."""
    if total is None and isinstance(steps, Sized):
        total = len(steps)
    if _quiet[0] or not sys.stderr.isatty():
        yield from steps
        return
    start, bar = time.monotonic(), None
    try:
        for i, step in enumerate(steps):
            if bar is None and time.monotonic() - start > PATIENCE:
                bar = _bar(label, total)
            if bar is not None:
                bar.update(0, completed=i)
            yield step
    finally:
        if bar is not None:
            bar.stop()


def _bar(label: str, total: int | None):  # type: ignore[no-untyped-def]  # noqa: ANN202
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.add_task(label, total=total)
    bar.start()
    return bar
