"""Counting peers by matching: tolerances, values that cover others, secrets "within t", samples.

Where peers are not classes, each individual is compared with every row: the columns on which a row
matches form a mask, a histogram of the masks has 2^k cells, and superset sums (the zeta transform)
turn it into the number of peers for every subset.  Exact for any match rule, at the price of
individuals x rows comparisons; the price does not grow with 2^k times the rows, so it is also the
way to ask about a few individuals of a very large table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reidbn.microdata.classes import Codes, Floats, Ints
from reidbn.microdata.masks import superset_sums
from reidbn.microdata.slab import MEMORY, WideRows
from reidbn.theory.ratios import ranks_by_size

Share = tuple[Ints, Ints]
Match = NDArray[np.bool_]


@dataclass(eq=False)
class Matched:
    """A table whose peers match by a rule: columns 0..k-1 may be known, column k is the secret."""

    codes: Codes
    cardinalities: tuple[int, ...]
    relations: Mapping[int, Match]
    """For the columns that do not match by equality: codes x codes, row = the individual's own."""
    empty: bool = False
    memory: int = MEMORY
    rows: NDArray[np.int64] | None = None
    _kept: tuple[Floats, Floats] | None = field(default=None, init=False)
    _full: tuple[Ints, Ints] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.cells, row_of = WideRows.of(self.codes, self.cardinalities)
        chosen = row_of if self.rows is None else row_of[self.rows]
        self.subjects, self._places = np.unique(chosen, return_inverse=True)
        self.known = tuple(range(len(self.cardinalities) - 1))
        self.secret = len(self.cardinalities) - 1

    def _matches(self, column: int, subjects: Ints) -> Match:
        """Subjects x rows: whether the row's value may be the subject's."""
        values = self.cells.columns[column]
        relation = self.relations.get(column)
        if relation is None:
            return np.asarray(values[subjects][:, None] == values[None, :])
        return np.asarray(relation[values[subjects]].take(values, axis=1))

    def _masks(self, cells_each: int) -> Iterator[tuple[slice, NDArray[np.int32]]]:
        """Subjects in batches, and for each the mask of every row (the secret is the top bit)."""
        each = 14 * self.cells.rows + 16 * cells_each
        batch = max(1, min(self.subjects.size, self.memory // each))
        for first in range(0, self.subjects.size, batch):
            part = slice(first, min(first + batch, self.subjects.size))
            masks = np.zeros((part.stop - first, self.cells.rows), dtype=np.int32)
            for column in range(len(self.cardinalities)):
                masks |= self._matches(column, self.subjects[part]).astype(np.int32) << column
            yield part, masks

    def _histogram(self, key: NDArray[np.integer], cells: int) -> Floats:
        """People per cell and subject; keys are 0..cells-1."""
        count = len(key)
        flat = (key + cells * np.arange(count)[:, None]).ravel()
        people = np.broadcast_to(self.cells.people, key.shape).ravel()
        table = np.bincount(flat, weights=people, minlength=count * cells)
        return table.astype(np.float64, copy=False).reshape(count, cells)

    def counts(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """For batches of subjects and every subset: peers, and peers with the own secret."""
        if self._kept is not None:
            yield slice(0, self.subjects.size), *self._kept
            return
        size = 1 << len(self.known)
        keep = self.subjects.size * size * 16 <= self.memory
        parts = []
        for part, masks in self._masks(2 * size):
            no, yes = self._histogram(masks, 2 * size).reshape(-1, 2, size).transpose(1, 0, 2)
            same = superset_sums(yes)
            alike = superset_sums(no) + same
            parts += [(alike, same)] if keep else []
            yield part, alike, same
        if keep:
            self._kept = (
                np.concatenate([a for a, _ in parts]),
                np.concatenate([s for _, s in parts]),
            )

    def _gather(self, columns: Sequence[int]) -> tuple[Ints, Ints]:
        """Peers with exactly these columns known, without the other subsets."""
        if self._full is not None and len(columns) == len(self.known):
            return self._full
        wanted = sum(1 << column for column in columns)
        found = np.empty((2, self.subjects.size))
        if wanted == 0:
            people = self._people_by_value()
            own = self.cells.columns[self.secret][self.subjects]
            found[0], found[1] = self.cells.total, (self._true_values() @ people)[own]
        else:
            for part, masks in self._masks(2):
                alike = (masks & wanted) == wanted
                found[0, part] = alike @ self.cells.people
                found[1, part] = (alike & (masks >> self.secret == 1)) @ self.cells.people
        alike, same = found[:, self._places].astype(np.int64)
        return alike, same

    # The questions of `disclosure_exact.Partitioned`, for one secret

    def others(self, secret: int) -> list[int]:
        return list(self.known)

    def alike(self, column: int, code: int) -> Ints:
        """The codes that match a value."""
        relation = self.relations.get(column)
        return np.array([code]) if relation is None else np.flatnonzero(relation[code])

    def baseline(self, secret: int) -> Floats:
        """The share of each value of the secret in the whole table."""
        return self._people_by_value() / self.cells.total

    def falsehoods(self, secret: int) -> Ints:
        """How many values that occur would be a false answer about each individual."""
        values = self.cells.columns[self.secret]
        observed = np.bincount(values, minlength=self.cardinalities[self.secret]) > 0
        true = self._true_values()
        false: Ints = (~true & observed).sum(axis=1)
        return false[values[self.subjects]][self._places]

    def _true_values(self) -> Match:
        given = self.relations.get(self.secret)
        return np.eye(self.cardinalities[self.secret], dtype=bool) if given is None else given

    def at(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints]:
        return self._gather(known)

    def _best(self, allowed: Ints) -> tuple[Share, Ints]:
        """The largest share over the allowed masks (in order of preference), and its first mask."""
        found = np.empty((3, self.subjects.size), dtype=np.int64)
        full = np.empty((2, self.subjects.size), dtype=np.int64)
        for part, alike, same in self.counts():
            # Equal fractions are equal quotients, so argmax takes the first of them.
            at = allowed[np.argmax(same[:, allowed] / alike[:, allowed], axis=1)]
            here = np.arange(len(alike))
            found[:, part] = same[here, at], alike[here, at], at
            full[:, part] = alike[:, -1], same[:, -1]
        self._full = full[0][self._places], full[1][self._places]
        divisor = np.gcd(found[0], found[1])
        share = found[:2] // divisor
        return (share[0][self._places], share[1][self._places]), found[2][self._places]

    def _people_by_value(self) -> Floats:
        values, size = self.cells.columns[self.secret], self.cardinalities[self.secret]
        people = np.bincount(values, weights=self.cells.people, minlength=size)
        return people.astype(np.float64, copy=False)

    def _by_rank(self) -> Ints:
        order = np.argsort(ranks_by_size(len(self.known)))
        return order if self.empty else order[1:]

    def weakest(self, secret: int) -> tuple[Share, Ints]:
        """The largest share over all subsets and its first subset; full knowledge on the way."""
        return self._best(self._by_rank())

    def without(self, secret: int, column: int, *, all_others: bool) -> Share:
        if all_others:
            alike, same = self._gather([c for c in self.known if c != column])
            return same, alike
        order = self._by_rank()
        return self._best(order[(order >> column) & 1 == 0])[0]

    def alternatives(self, secret: int, q: float) -> tuple[Ints, Ints]:
        """False values with a share above q: with full knowledge, and the fewest over subsets."""
        every = np.array([(1 << len(self.known)) - 1])
        if not q:
            (full,) = self._false_above(q, [every])
            return full, full
        full, fewest = self._false_above(q, [every, self._by_rank()])
        return full, fewest

    def _false_above(self, q: float, orders: Sequence[Ints]) -> list[Ints]:
        """The fewest false values above q, over each of these lists of masks."""
        size, values = 1 << len(self.known), self.cells.columns[self.secret]
        domain, false = self.cardinalities[self.secret], ~self._true_values()
        found = np.empty((len(orders), self.subjects.size), dtype=np.int64)
        for part, masks in self._masks(domain * size):
            key = (masks & (size - 1)) + size * values[None, :]
            table = superset_sums(self._histogram(key, domain * size).reshape(-1, domain, size))
            share = table / table.sum(axis=1, keepdims=True)
            own = false[values[self.subjects[part]]]
            above = ((share > q) & own[:, :, None]).sum(axis=1)
            for place, order in enumerate(orders):
                found[place, part] = above[:, order].min(axis=1)
        return list(found[:, self._places])

    def alternatives_without(self, secret: int, column: int, q: float, *, all_others: bool) -> Ints:
        """False values above q when a column is left out: the rest known, or the fewest."""
        order = self._by_rank()
        order = order[(order >> column) & 1 == 0]
        if all_others:
            order = np.array([(1 << len(self.known)) - 1 - (1 << column)])
        return self._false_above(q, [order])[0]

    def own_values(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints, Ints, Ints]:
        """Every individual's value: place of the individual, value, peers, peers who are near."""
        alike, same = self.at(secret, known)
        value = self.cells.columns[self.secret][self.subjects][self._places]
        return np.arange(alike.size), value, alike, same

    def near(self, secret: int) -> Match | None:
        """Which values of the secret count as near each other, if not only equal ones."""
        return self.relations.get(self.secret)

    def posteriors(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints, Ints, Ints]:
        """The peers' secrets, one class per distinct individual: as `Partitioned.posteriors`."""
        size, values = 1 << len(self.known), self.cells.columns[self.secret]
        wanted, domain = sum(1 << column for column in known), self.cardinalities[self.secret]
        found = []
        for part, masks in self._masks(domain):
            alike = (masks & (size - 1) & wanted) == wanted
            key = np.where(alike, values[None, :], domain)
            table = self._histogram(key, domain + 1)[:, :domain]
            owner, value = np.nonzero(table)
            found.append((owner + part.start, value, table[owner, value].astype(np.int64)))
        owner, value, people = (np.concatenate(column) for column in zip(*found, strict=True))
        return self._places, owner, value, people

    def expected(
        self, secret: int, chances: Floats, profile: Ints | None, p: float
    ) -> tuple[Floats, Floats]:
        """E[PPP] and P(PPP <= p) over what may be known."""
        if profile is None:
            chances, profile = chances[:1], np.zeros(self.codes.shape[0], dtype=np.int64)
        own = profile if self.rows is None else profile[self.rows]
        found = np.empty((2, len(chances), self.subjects.size))
        for part, alike, same in self.counts():
            ppp = (alike - same) / alike
            found[0][:, part] = chances @ ppp.T
            found[1][:, part] = chances @ (ppp <= p).T
        return found[0][own, self._places], found[1][own, self._places]

    def broken(self, secret: int, p: float) -> Floats:
        people = np.bincount(self._places, minlength=self.subjects.size)
        total = np.zeros(1 << len(self.known))
        for part, alike, same in self.counts():
            total += people[part] @ ((alike - same) / alike <= p)
        return total
