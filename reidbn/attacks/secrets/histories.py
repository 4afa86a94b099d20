"""Counting peers whose secret is a history: several records, several values, one person.

What is disclosed about a person with several records is a value, not the whole history: with H_i
the values in person i's records and the peers of A those alike on A,

    P_v(A) = #{peers whose history contains v} / #{peers},  PPP(A) = 1 - max_{v in H_i} P_v(A)  (1)

so three people alike whose records all hold cancer are disclosed, whatever else they hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above
from reidbn.errors import UsageError
from reidbn.microdata.classes import Codes, Floats, Ints, some_of
from reidbn.microdata.histories import History
from reidbn.microdata.rows import Partition, distinct_rows
from reidbn.microdata.slab import Split, walk
from reidbn.theory.frequencies import numbered
from reidbn.theory.ratios import ranks_by_size

Share = tuple[Ints, Ints]


def value_sets(history: History, column: str, missing: Sequence[int]) -> tuple[Ints, Ints, int]:
    """Person and value code of each value that a person's records hold, once; how many values.

    Codes in `missing` are no values.
    """
    place = history.place(column)
    size = history.schema[place].cardinality
    keep = ~np.isin(history.records[:, place], missing)
    key = np.unique(history.owner[keep] * size + history.records[keep, place])
    return key // size, key % size, size


@dataclass(eq=False)
class Histories:
    """A table whose secret is a set of values: columns 0..k-1 may be known, column k is the secret.

    `owner` and `value` list every person's values; every person has one at least.
    """

    codes: Codes
    """The known columns' codes."""
    cardinalities: tuple[int, ...]
    owner: Ints
    value: Ints
    values: int
    empty: bool = False
    rows: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        self.known = tuple(range(len(self.cardinalities)))
        self.secret = len(self.cardinalities)
        kind, kinds = _kinds_of_sets(self.owner, self.value, len(self.codes))
        table = np.column_stack([self.codes, kind.astype(np.int32)])
        self.cells = distinct_rows(table, (*self.cardinalities, kinds))
        own = self.cells.of_record
        self._places = own if self.rows is None else own[self.rows]
        example = some_of(own, self.cells.rows)
        begins = np.searchsorted(self.owner, example)
        held = np.searchsorted(self.owner, example, side="right") - begins
        self._first = np.cumsum(held) - held
        within = np.arange(int(held.sum())) - np.repeat(self._first, held)
        self._of = np.repeat(np.arange(self.cells.rows), held)
        self._value = self.value[np.repeat(begins, held) + within]

    # What one subset says

    def _entries(self, part: Partition) -> tuple[Floats, Ints]:
        """People in each (class, value) cell that occurs, and each listed value's cell."""
        key = part.ids[self._of] * self.values + self._value
        entry, place = np.unique(key, return_inverse=True)
        people = np.bincount(place, weights=self.cells.people[self._of], minlength=entry.size)
        self._entry = entry
        return people.astype(np.float64, copy=False), place

    def _counts(self, part: Partition) -> tuple[Ints, Ints]:
        """Of each kind of person: peers, and those who share its most widely shared value."""
        people, place = self._entries(part)
        alike = np.bincount(part.ids, weights=self.cells.people)[part.ids]
        same = np.maximum.reduceat(people[place], self._first)
        return alike.astype(np.int64), same.astype(np.int64)

    def _subsets(self, without: int | None = None) -> Iterator[tuple[int, Partition]]:
        """Every subset that may be known, as mask and partition."""
        rest = [c for c in self.known if c != without]
        low = tuple(sorted(rest, key=lambda c: -self.cardinalities[c]))
        masks = Split(low, ()).masks
        start = self.cells.classes([])
        if self.empty:
            yield 0, start
        for place, part, _ in walk(self.cells, low, start, want_ids=True):
            yield int(masks[place]), part

    # The questions of `Partitioned`, for one secret

    def others(self, secret: int) -> list[int]:
        return list(self.known)

    def alike(self, column: int, code: int) -> NoReturn:
        raise UsageError(
            "the record network holds one value per person; a history's counts are not in it"
        )

    def near(self, secret: int) -> None:
        return None

    def spread(self, values: NDArray[np.integer]) -> Ints:
        return values[self._places].astype(np.int64, copy=False)

    def baseline(self, secret: int) -> Floats:
        """The share of people whose records hold each value; they may add up to more than 1."""
        people = np.bincount(
            self._value, weights=self.cells.people[self._of], minlength=self.values
        )
        return people / self.cells.total

    def falsehoods(self, secret: int) -> Ints:
        observed = np.unique(self._value).size
        return self.spread(observed - np.bincount(self._of, minlength=self.cells.rows))

    def at(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints]:
        alike, same = self._counts(self.cells.classes(known))
        return self.spread(alike), self.spread(same)

    def weakest(self, secret: int) -> tuple[Share, Ints]:
        return self._best(None)

    def without(self, secret: int, column: int, *, all_others: bool) -> Share:
        if all_others:
            alike, same = self.at(secret, [c for c in self.known if c != column])
            return same, alike
        return self._best(column)[0]

    def _best(self, without: int | None) -> tuple[Share, Ints]:
        """The largest share over the subsets, and the first subset that has it."""
        ranks = ranks_by_size(len(self.known))
        same, alike = np.zeros((2, self.cells.rows), dtype=np.int64)
        alike += 1
        first = np.full(self.cells.rows, ranks.size, dtype=np.int64)
        for mask, part in self._subsets(without):
            peers, own = self._counts(part)
            ahead = own * alike - same * peers
            better = (ahead > 0) | ((ahead == 0) & (ranks[mask] < first))
            same[better], alike[better], first[better] = own[better], peers[better], ranks[mask]
        by_rank = np.argsort(ranks)
        divisor = np.gcd(same, alike)
        share = self.spread(same // divisor), self.spread(alike // divisor)
        return share, self.spread(by_rank[first])

    def alternatives(self, secret: int, q: float) -> tuple[Ints, Ints]:
        full = self.spread(self._false_above(self.cells.classes(self.known), q))
        if q == 0 and not self.empty:
            return full, full
        return full, self._fewest(q, None)

    def alternatives_without(self, secret: int, column: int, q: float, *, all_others: bool) -> Ints:
        if all_others:
            rest = [c for c in self.known if c != column]
            return self.spread(self._false_above(self.cells.classes(rest), q))
        return self._fewest(q, column)

    def _fewest(self, q: float, without: int | None) -> Ints:
        fewest = np.full(self.cells.rows, self.values, dtype=np.int64)
        for _, part in self._subsets(without):
            np.minimum(fewest, self._false_above(part, q), out=fewest)
        return self.spread(fewest)

    def _false_above(self, part: Partition, q: float) -> Ints:
        """How many values that a person does not have more than q of the peers have."""
        people, place = self._entries(part)
        classes = self._entry // self.values
        alike = np.bincount(part.ids, weights=self.cells.people)
        above = is_above(people / alike[classes], q)
        every = np.bincount(classes, weights=above, minlength=part.classes)[part.ids]
        own = np.add.reduceat(above[place].astype(np.int64), self._first)
        return np.asarray(every.astype(np.int64) - own)

    def posteriors(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints, Ints, Ints]:
        """Class of each individual; class, value and people of every (class, value)."""
        part = self.cells.classes(known)
        people, _ = self._entries(part)
        owner, value = np.divmod(self._entry, self.values)
        return self.spread(part.ids), owner, value, people.astype(np.int64)

    def own_values(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints, Ints, Ints]:
        """Every individual's values: place of the individual, value, peers, peers who have it."""
        part = self.cells.classes(known)
        people, place = self._entries(part)
        alike = np.bincount(part.ids, weights=self.cells.people)[part.ids]
        held = np.diff(np.append(self._first, self._of.size))[self._places]
        first = self._first[self._places]
        within = numbered(held)
        listed = np.repeat(first, held) + within
        individual = np.repeat(np.arange(self._places.size), held)
        peers = alike[self._places][individual].astype(np.int64)
        return individual, self._value[listed], peers, people[place][listed].astype(np.int64)

    def expected(
        self, secret: int, chances: Floats, profile: Ints | None, p: float
    ) -> tuple[Floats, Floats]:
        own = np.zeros(len(self.codes), dtype=np.int64) if profile is None else profile
        own = own if self.rows is None else own[self.rows]
        mean, breach = np.zeros((2, self._places.size))
        again = replace(self, empty=True)
        for mask, part in again._subsets():
            alike, same = again._counts(part)
            ppp = ((alike - same) / alike)[self._places]
            mean += chances[own, mask] * ppp
            breach += chances[own, mask] * ~is_above(ppp, p)
        return mean, breach

    def broken(self, secret: int, p: float) -> Floats:
        people = np.bincount(self._places, minlength=self.cells.rows)
        found = np.zeros(1 << len(self.known))
        for mask, part in self._subsets():
            alike, same = self._counts(part)
            found[mask] = people @ ~is_above((alike - same) / alike, p)
        return found


def _kinds_of_sets(owner: Ints, value: Ints, persons: int) -> tuple[Ints, int]:
    """Persons with the same set of values have the same number."""
    lengths = np.bincount(owner, minlength=persons)
    starts = np.cumsum(lengths) - lengths
    kind, count = np.empty(persons, dtype=np.int64), 0
    for length in np.unique(lengths).tolist():
        some = np.flatnonzero(lengths == length)
        rows = value[starts[some][:, None] + np.arange(length)]
        _, own = np.unique(rows, axis=0, return_inverse=True)
        kind[some] = own.reshape(-1) + count
        count += int(own.max()) + 1
    return kind, count
