"""A leak of a real table: what it tells about secrets, and what parts of histories do.

The homogeneity attack and partial histories of [Antoniou22], for every person of a table at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.leak_histories import partial_histories
from reidbn.attacks.leak_single import Homogeneity, LeakSize, checked_prior, homogeneity
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.microdata.table import People

Floats = NDArray[np.float64]


def homogeneity_risks(people: People, *, leaked: LeakSize, sensitive: str) -> Homogeneity:
    """What a leak tells about each person's secret: `homogeneity`, as arrays in record order.

    Somebody whose secret is missing has none to lose: nothing is disclosed or believed of them.
    And they protect nobody: they are counted as if they shared the target's secret, whatever that
    is, so with missing secrets the numbers are upper bounds.

    >>> people = People.from_codes([[0, 0], [0, 0], [0, 1], [1, 0]], ["age", "flu"],
    ...                            sensitive=["flu"])
    >>> homogeneity_risks(people, leaked=2, sensitive="flu").disclosed.round(4).tolist()
    [0.3333, 0.3333, 0.1667, 0.5]
    """
    named = people.quasi_identifiers
    if sensitive not in people.columns or sensitive in named:
        hint = did_you_mean(sensitive, [c for c in people.columns if c not in named])
        raise UsageError(f'no sensitive column "{sensitive}"; {hint}')
    if not people.is_partition:
        raise UsageError(
            "values of this table match others, so its people do not fall into classes; drop or "
            "generalise the people whose values match others"
        )
    if people.history is not None and people.history.varies(sensitive):
        raise DataError(
            f'column "{sensitive}" changes within a person, and each of several values is a secret '
            "of its own: give a table with one row per person for this question"
        )
    ids, count = people.class_ids()
    size = np.bincount(ids, minlength=count)[ids]
    column = people.column(sensitive)
    lacks = people.codes([sensitive])[:, 0] == column.cardinality - 1
    lacks &= column.has_missing
    unknown = np.bincount(ids, weights=lacks, minlength=count)[ids]
    alike = np.where(lacks, 1, people.class_sizes([*named, sensitive]) + unknown)
    parts = leaked if isinstance(leaked, Mapping) else {_one(leaked): 1.0}
    sums = [np.zeros(len(people)) for _ in range(4)]
    for L, p in checked_prior(parts).items():
        found = homogeneity(records=len(people), leaked=L, class_size=size, alike=alike)
        told = (found.disclosed, found.believed, found.identified, found.either)
        for total, value in zip(sums, told, strict=True):
            total += p * value
    disclosed, believed, identified, either = sums
    return Homogeneity(
        np.where(lacks, 0.0, disclosed), np.where(lacks, 0.0, believed), identified,
        np.where(lacks, identified, either),
    )  # fmt: skip


def history_risks(people: People, *, leaked: LeakSize, seen: float) -> Floats:
    """Each person's risk where a leaked person's records come out only in part, in record order.

    Each record of a leaked person is among those that came out with probability `seen`; a person
    of whom none did is no candidate.  Without several records per person, each has one.

    >>> people = People.from_codes([[0], [0], [1], [1]], ["age"])
    >>> history_risks(people, leaked=2, seen=0.5).round(4).tolist()
    [0.2292, 0.2292, 0.2292, 0.2292]
    """
    if not people.is_partition:
        raise UsageError(
            "values of this table match others, so its people do not fall into classes; drop or "
            "generalise the people whose values match others"
        )
    lengths = np.ones(len(people)) if people.history is None else people.history.lengths
    ids, _ = people.class_ids()
    order = np.lexsort((lengths, ids))
    cuts = np.flatnonzero(np.diff(ids[order])) + 1
    known: dict[tuple[float, ...], Floats] = {}
    out = np.empty(len(people))
    for members in np.split(order, cuts):
        histories = tuple(float(v) for v in lengths[members])  # in order, so alike classes agree
        if histories not in known:
            known[histories] = partial_histories(
                records=len(people), leaked=leaked, histories=histories, seen=seen
            )
        out[members] = known[histories]
    return out


def _one(leaked: Any) -> int:
    if np.ndim(leaked):
        raise UsageError("leaked must be one number or one prior here, not several numbers")
    return int(leaked)
