"""The classes of a leaked table, however they are given: {size: how many}, people, or counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reidbn.errors import UsageError
from reidbn.microdata.classes import Frequencies
from reidbn.microdata.table import People
from reidbn.theory.circle import Classes

ClassesLike = Mapping[int, int] | People | Frequencies | Classes
"""{class size: number of classes}, a table of people, or the frequencies of its class sizes."""


def classes_of(given: ClassesLike) -> Classes:
    """The distinct class sizes and how many classes there are of each.

    >>> classes_of({5: 2000}).records
    10000
    """
    if isinstance(given, Classes):
        return given
    if isinstance(given, People):
        if not given.is_partition:
            raise UsageError(
                "values of this table match others, so its people do not fall into classes; "
                "give {size: count}, or drop or generalise the people whose values match others"
            )
        given = given.classes().frequencies()
    if isinstance(given, Frequencies):
        return Classes(given.sizes.astype(np.int64), given.counts.astype(np.int64))
    if not isinstance(given, Mapping):
        raise UsageError(
            f"classes are {type(given).__name__}; give {{class size: number of classes}}, "
            "such as {5: 2000}, or a table read with rb.read_table"
        )
    return _checked(given)


def equal_classes(records: int, class_size: int) -> Classes:
    """Classes of at least that size that take up all records, as equal as can be.

    >>> equal_classes(11, 3)
    Classes(sizes=array([3, 4]), counts=array([1, 2]))
    """
    if not 1 <= class_size <= records:
        raise UsageError(f"class_size is {class_size}; it must be from 1 to {records} records")
    number = records // class_size
    size, larger = divmod(records, number)
    pairs = [(size, number - larger), (size + 1, larger)]
    sizes, counts = zip(*[pair for pair in pairs if pair[1]], strict=True)
    return Classes(np.array(sizes), np.array(counts))


def _checked(given: Mapping[int, int]) -> Classes:
    pairs = sorted((_whole(k, "a class size"), _whole(a, "a count")) for k, a in given.items())
    wrong = [k for k, _ in pairs if k < 1]
    if wrong:
        raise UsageError(f"a class size is {wrong[0]}; it must be 1 or more")
    kept = [(k, a) for k, a in pairs if a]
    if not kept:
        raise UsageError("there are no classes; give {class size: number of classes}")
    if any(a < 0 for _, a in kept):
        raise UsageError("a number of classes is negative; it must be 0 or more")
    sizes, counts = zip(*kept, strict=True)
    return Classes(np.array(sizes, dtype=np.int64), np.array(counts, dtype=np.int64))


def _whole(value: Any, what: str) -> int:
    number = float(value)
    if number != int(number):
        raise UsageError(f"{what} is {number:g}; it must be a whole number")
    return int(number)


def checked_leak(leaked: Any, records: int) -> int:
    """A leak size as a whole number from 0 to the number of records."""
    size = _whole(leaked, "leaked")
    if not 0 <= size <= records:
        raise UsageError(f"leaked is {size}; it must be from 0 to {records} records")
    return size


def checked_targets(targets: Any, records: int) -> int:
    """A number of targets as a whole number from 1 to the number of records."""
    number = _whole(targets, "targets")
    if not 1 <= number <= records:
        raise UsageError(f"targets is {number}; it must be from 1 to {records} records")
    return number
