"""The numbers and references inside a CPD, with their addresses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from reidbn.written import is_number

Where = tuple[str | int, ...]


def leaves(value: Any) -> Iterator[tuple[Where, Any]]:
    """Every number or text inside dataclasses, mappings and sequences.

    Fields that hold sizes rather than estimates say so with `metadata={"sourced": False}`.
    """
    pairs: list[tuple[str | int, Any]]
    if is_dataclass(value) and not isinstance(value, type):
        pairs = [(f.name, getattr(value, f.name)) for f in fields(value)
                 if f.metadata.get("sourced", True)]  # fmt: skip
    elif isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, tuple | list):
        pairs = list(enumerate(value))
    else:
        yield (), value
        return
    for key, item in pairs:
        for where, leaf in leaves(item):
            yield (key, *where), leaf


def chances(value: Any) -> Iterator[tuple[Where, str]]:
    """Every reference that stands for a chance: in fields that say `metadata={"chance": True}`."""
    if isinstance(value, tuple | list):
        found: list[tuple[Where, Any]] = [((i,), item) for i, item in enumerate(value)]
    elif is_dataclass(value) and not isinstance(value, type):
        found = []
        for f in fields(value):
            item = getattr(value, f.name)
            if f.metadata.get("chance"):
                yield from (((f.name, *where), leaf) for where, leaf in leaves(item)
                            if isinstance(leaf, str))  # fmt: skip
            else:
                found.append(((f.name,), item))
    else:
        return
    for at, item in found:
        yield from (((*at, *where), ref) for where, ref in chances(item))


def address_of(value: Any, ref: str) -> Where:
    """Where in a CPD a reference stands first."""
    return next((where for where, leaf in leaves(value) if leaf == ref), ())


def holds_numbers(value: Any) -> bool:
    """True when it holds a number that somebody got from somewhere (0 and 1 are logic)."""
    return any(is_number(leaf) and leaf not in (0, 1) for _, leaf in leaves(value))
