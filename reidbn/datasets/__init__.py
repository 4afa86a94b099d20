"""Synthetic tables, and real ones fetched on request."""

from importlib import import_module
from typing import Any

_HOMES = {
    "synthetic_patients": "reidbn.datasets.patients",
    "fetch": "reidbn.datasets.fetching",
}
__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'reidbn.datasets' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
