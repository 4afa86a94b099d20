"""Which formats there are, and which one the ending of a file name means."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from reidbn.errors import UsageError

FORMATS = ("bif", "xmlbif", "xdsl", "dot")
_SUFFIXES = {".bif": "bif", ".xml": "xmlbif", ".xmlbif": "xmlbif", ".bifxml": "xmlbif",
             ".xdsl": "xdsl", ".dot": "dot", ".gv": "dot"}  # fmt: skip


def format_of(path: Path, known: Collection[str]) -> str:
    format = _SUFFIXES.get(path.suffix.lower(), "")
    if format not in known:
        endings = ", ".join(s for s, f in _SUFFIXES.items() if f in known)
        raise UsageError(f"{path.name}: the ending says no format; use one of {endings}")
    return format
