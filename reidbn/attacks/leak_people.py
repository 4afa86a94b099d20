"""Each person's risk in a leak of a table, whatever the attacker knows of that person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.disclosure_knowledge import chances_of
from reidbn.attacks.leak_single import LeakSize, risk
from reidbn.errors import UsageError
from reidbn.microdata.knowledge import Known, knowledge
from reidbn.microdata.masks import class_size_chunks, expected
from reidbn.microdata.table import People

if TYPE_CHECKING:
    from reidbn.attack.scenario import Scenario

Floats = NDArray[np.float64]
KnownOrScenario: TypeAlias = "Known | Scenario"
_SENSITIVE = "(sensitive)"


def risks(
    people: People,
    *,
    leaked: LeakSize,
    known: KnownOrScenario | None = None,
    sensitive: str | None = None,
    sensitive_known: float = 1.0,
) -> Floats:
    """Each person's risk in a leak of the table, in record order.

    By default the attacker knows all quasi-identifiers.  `known` makes that uncertain and the risk
    the mean over what is known, exactly: groups {name: (columns, probability)}, or a `Scenario`
    with its lists and kinds of attackers.  The value of a `sensitive` column, known with
    probability `sensitive_known`, filters the leaked class members.

    >>> people = People.from_codes([[0, 0], [0, 1], [1, 1], [1, 1]], ["age", "sex"])
    >>> risks(people, leaked=2).round(4).tolist()
    [0.5, 0.5, 0.4167, 0.4167]
    >>> risks(people, leaked=2, known={"age": ("age", 0.5)}).round(4).tolist()
    [0.3333, 0.3333, 0.3333, 0.3333]
    """
    if not 0 <= sensitive_known <= 1:
        raise UsageError(f"sensitive_known is {sensitive_known:g}; it must be a probability")
    without = _risks(people, leaked, known, None)
    if sensitive is None or sensitive_known == 0:
        return without
    filtered = _risks(people, leaked, known, sensitive)
    return np.asarray(sensitive_known * filtered + (1 - sensitive_known) * without)


def _risks(
    people: People, leaked: LeakSize, known: KnownOrScenario | None, sensitive: str | None
) -> Floats:
    if known is None:
        also = () if sensitive is None else (sensitive,)
        return _of_sizes(people, leaked, people.class_sizes([*people.quasi_identifiers, *also]))
    if isinstance(known, Mapping):
        return _over_groups(people, leaked, known, sensitive)
    return _over_scenario(people, leaked, known, sensitive)


def _over_groups(people: People, leaked: LeakSize, known: Known, sensitive: str | None) -> Floats:
    groups = dict(known) if sensitive is None else {**known, _SENSITIVE: (sensitive, 1.0)}
    what = knowledge(people, groups)
    found = []
    for rows, sizes in class_size_chunks(people, what):
        p = what.probabilities if what.is_shared else what.probabilities[rows]
        found.append(expected(_of_sizes(people, leaked, sizes), p))
    return np.concatenate(found)


def _over_scenario(
    people: People, leaked: LeakSize, scenario: Scenario, sensitive: str | None
) -> Floats:
    """Weights of all subsets of columns, from the scenario; one group per column for the sizes."""
    columns = people.quasi_identifiers
    chances, profile = chances_of(people, columns, scenario)
    groups = {name: (name, 1.0) for name in columns}
    if sensitive is not None:
        groups[_SENSITIVE] = (sensitive, 1.0)
    found = []
    for rows, sizes in class_size_chunks(people, knowledge(people, groups)):
        # With the sensitive value known, only the upper half of the subsets counts.
        values = _of_sizes(people, leaked, sizes[:, -(1 << len(columns)) :])
        weights = chances if profile is None else chances[profile[rows]]
        found.append((values * weights).sum(axis=1))
    return np.concatenate(found)


def _of_sizes(people: People, leaked: LeakSize, sizes: NDArray[Any]) -> Floats:
    """The risk for every entry, computed once per distinct class size."""
    distinct, place = np.unique(sizes, return_inverse=True)
    values = np.asarray(risk(records=len(people), leaked=leaked, class_size=distinct))
    if values.shape != distinct.shape:
        raise UsageError("leaked must be one number or one prior here, not several numbers")
    return np.asarray(values[place.reshape(sizes.shape)])
