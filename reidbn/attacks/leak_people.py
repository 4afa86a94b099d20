"""Each person's risk in a leak of a table, whatever the attacker knows of that person."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.leak_single import LeakSize, risk
from reidbn.errors import UsageError
from reidbn.microdata.knowledge import Knowledge, Known, knowledge
from reidbn.microdata.masks import class_size_chunks
from reidbn.microdata.subsets import expectations
from reidbn.microdata.table import People

Floats = NDArray[np.float64]
_SENSITIVE = "(sensitive)"


def risks(
    people: People,
    *,
    leaked: LeakSize,
    known: Known | None = None,
    sensitive: str | None = None,
    sensitive_known: float = 1.0,
) -> Floats:
    """Each person's risk in a leak of the table, in record order.

    By default the attacker knows all quasi-identifiers.  `known` makes that uncertain and the risk
    the mean over what is known, exactly: whatever rb.knowledge takes, also a scenario with its
    lists and kinds of attackers; columns of which no chance is said are known.  The value of a
    `sensitive` column, known with probability `sensitive_known`, filters the leaked class members.

    >>> people = People.from_codes([[0, 0], [0, 1], [1, 1], [1, 1]], ["age", "sex"])
    >>> risks(people, leaked=2).round(4).tolist()
    [0.5, 0.5, 0.4167, 0.4167]
    >>> risks(people, leaked=2, known={"age": ("age", 0.5)}).round(4).tolist()
    [0.3333, 0.3333, 0.3333, 0.3333]
    """
    if not 0 <= sensitive_known <= 1:
        raise UsageError(f"sensitive_known is {sensitive_known:g}; it must be a probability")
    what = knowledge(people, known)
    people, what = what.seen(people), what if what.stated else what.sure()
    without = _risks(people, leaked, what, None)
    if sensitive is None or sensitive_known == 0:
        return without
    filtered = _risks(people, leaked, what, sensitive)
    return np.asarray(sensitive_known * filtered + (1 - sensitive_known) * without)


def _risks(people: People, leaked: LeakSize, what: Knowledge, sensitive: str | None) -> Floats:
    """The mean over what is known; a sensitive value is known beside it, also off a list."""
    also = () if sensitive is None else people.names([sensitive])
    if what.is_sure:
        columns = tuple(dict.fromkeys((*what.used, *also)))
        return _of_sizes(people, leaked, people.class_sizes(columns))
    if not also:
        return _expected(people, leaked, what)
    names, columns_of = (*what.names, _SENSITIVE), (*what.columns, also)
    if what.listed is None:
        sure = np.ones((*what.probabilities.shape[:-1], 1))
        p = np.concatenate((what.probabilities, sure), axis=-1)
        with_it = replace(what, names=names, columns=columns_of, probabilities=p)
        return _expected(people, leaked, with_it)
    with_it = Knowledge(names, columns_of, np.ones(len(names)))
    found = []
    for rows, sizes in class_size_chunks(people, with_it):
        # The last group: with it known, only the upper half of the subsets counts.
        values = _of_sizes(people, leaked, sizes[:, -(1 << what.groups) :])
        found.append(what.expected(values, rows))
    return np.concatenate(found)


def _expected(people: People, leaked: LeakSize, what: Knowledge) -> Floats:
    values = np.full(len(people) + 1, np.nan)

    def of_size(sizes: NDArray[Any], _: NDArray[np.int64]) -> Floats:
        """The risk at each class size, asked once each."""
        new = np.unique(sizes)
        new = new[(new > 0) & np.isnan(values[new])]
        if new.size:
            values[new] = _of_sizes(people, leaked, new)
        return values.take(sizes)

    return expectations(people, [of_size], known=what)[0]


def _of_sizes(people: People, leaked: LeakSize, sizes: NDArray[Any]) -> Floats:
    """The risk for every entry, computed once per distinct class size."""
    distinct, place = np.unique(sizes, return_inverse=True)
    values = np.asarray(risk(records=len(people), leaked=leaked, class_size=distinct))
    if values.shape != distinct.shape:
        raise UsageError("leaked must be one number or one prior here, not several numbers")
    return np.asarray(values[place.reshape(sizes.shape)])
