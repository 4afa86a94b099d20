"""A column of a small table as a node: its values, its states, and what counts as alike."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import DataError, UsageError

MISSING = "(missing)"


@dataclass(frozen=True)
class Noisy:
    """The attacker sees the right value with probability `same`, else any other."""

    same: float
    source: str = "assumption"


@dataclass(frozen=True)
class Near:
    """The attacker sees a number that is at most `within` from the right one."""

    within: float
    source: str = "assumption"


Sight = str | None | Mapping[Any, Any] | Callable[[Any], Any] | Noisy | Near


@dataclass(frozen=True)
class RecordColumn:
    """Values, the code of each record, and the names of its nodes and states in the attack."""

    name: str
    values: tuple[Hashable, ...]
    codes: NDArray[np.intp]
    alike: NDArray[np.bool_] | None = None  # which values match which; None means equal ones
    node: str = ""
    states: Mapping[Hashable, str] = field(default_factory=dict)
    sight: str | None = None  # the node of what the attacker sees of it
    seen_as: Mapping[Hashable, Hashable] = field(default_factory=dict)  # value: what is seen
    seen_states: Mapping[Hashable, str] = field(default_factory=dict)

    def value(self, record: int) -> Hashable:
        return self.values[int(self.codes[record])]

    def state(self, value: Any) -> str:
        """The state of a value of this column."""
        return _state_of(self.states, value, self.name)

    def evidence(self, record: int) -> str | dict[str, float]:
        """The record's value; as a likelihood when other values match it too."""
        if self.alike is None:
            return self.states[self.value(record)]
        matching = self.alike[int(self.codes[record])]
        return {self.states[v]: float(m) for v, m in zip(self.values, matching, strict=True)}

    def looks_like(self, record: int) -> str | dict[str, float]:
        """What the attacker sees of this record when nothing is mistaken."""
        if self.alike is not None and self.seen_states == self.states:
            return self.evidence(record)
        return self.seen_states[self.seen_as[self.value(record)]]

    def seen_evidence(self, value: Any) -> str | dict[str, float]:
        """A value that is seen, a set of values, or likelihoods by value, as evidence."""
        if isinstance(value, set | frozenset):
            value = dict.fromkeys(value, 1.0)
        if isinstance(value, Mapping):
            given = {_state_of(self.seen_states, v, self.name): float(p) for v, p in value.items()}
            return {state: given.get(state, 0.0) for state in self.seen_states.values()}
        return _state_of(self.seen_states, value, self.name)


def _state_of(states: Mapping[Hashable, str], value: Any, name: str) -> str:
    if value in states:
        return states[value]
    for known, state in states.items():
        if str(known) == str(value):
            return state
    # No did-you-mean here: the values belong to people.
    raise UsageError(f"nobody has that value of {name}; it is one of {len(states)} other values")


def columns_of(table: Any) -> tuple[dict[str, RecordColumn], tuple[str, ...]]:
    """The columns of a DataFrame, a mapping or `People`, and which of them are secret."""
    if hasattr(table, "quasi_identifiers"):
        return _of_people(table)
    found = {str(name): _of_values(str(name), list(table[name])) for name in table}
    lengths = {len(c.codes) for c in found.values()}
    if not found or lengths == {0}:
        raise DataError("the table is empty; a record network needs at least one record")
    if len(lengths) > 1:
        raise DataError(f"the columns have different lengths: {sorted(lengths)}")
    return found, ()


def _of_values(name: str, raw: Sequence[Any]) -> RecordColumn:
    values = [MISSING if v is None or v != v else v for v in raw]
    values = [v.item() if hasattr(v, "item") else v for v in values]
    try:
        different = sorted(set(values))
    except TypeError:  # values of several types, or missing ones among numbers
        different = sorted(set(values), key=lambda v: (type(v).__name__, v))
    place = {v: i for i, v in enumerate(different)}
    codes = np.array([place[v] for v in values], dtype=np.intp)
    return RecordColumn(name, tuple(different), codes)


def _of_people(people: Any) -> tuple[dict[str, RecordColumn], tuple[str, ...]]:
    if people.history is not None and not people.is_columnwise:
        raise DataError("a record network takes one row per person; these people have histories")
    found = {}
    for name in people.columns:
        codes = people.codes([name])[:, 0].astype(np.intp)
        labels = [MISSING if v is None else v for v in people.labels(name).tolist()]
        relation = people.column(name).relation
        alike = None if relation is None else np.asarray(people.matches(name), dtype=bool)
        found[name] = RecordColumn(name, tuple(labels), codes, alike)
    return found, tuple(people.sensitive)
