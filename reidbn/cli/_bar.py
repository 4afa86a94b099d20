"""A progress bar for work that reports the share it has done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from reidbn.progress import PATIENCE


@contextmanager
def share_bar(label: str, *, quiet: bool = False) -> Iterator[Callable[[float], None] | None]:
    """Gives a function of the share done; a bar appears on a terminal once a second has passed."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    start = time.monotonic()
    shown: list[Any] = []

    def report(share: float) -> None:
        if not shown and time.monotonic() - start > PATIENCE:
            shown.append(_bar(label))
        if shown:
            shown[0].update(0, completed=share)

    try:
        yield report
    finally:
        for bar in shown:
            bar.stop()


def _bar(label: str) -> Any:
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.add_task(label, total=1.0)
    bar.start()
    return bar
