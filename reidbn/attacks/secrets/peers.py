"""Counting peers by equality: all secrets and all subsets of a whole table at once.

Counting peers by matching: tolerances, values that cover others, secrets "within t", samples.

Where peers are not classes, each individual is compared with every row: the columns on which a row
matches form a mask, a histogram of the masks has 2^k cells, and superset sums (the zeta transform)
turn it into the number of peers for every subset.  Exact for any match rule, at the price of
individuals x rows comparisons; the price does not grow with 2^k times the rows, so it is also the
way to ask about a few individuals of a very large table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above
from reidbn.attacks.secrets.counts import Breaks, Expected, First, Weakest, tally
from reidbn.attacks.secrets.readings import alternatives_at, fewest_alternatives
from reidbn.microdata.classes import Codes, Floats, Ints
from reidbn.microdata.masks import Match, match_masks, people_by_key, superset_sums
from reidbn.microdata.rows import distinct_rows
from reidbn.microdata.slab import MEMORY
from reidbn.theory.ratios import ranks_by_size

_FEW = 4
"""Asking about fewer than one row in this many is cheaper for these rows alone."""
Share = tuple[Ints, Ints]
"""Exact shares as reduced fractions: peers with the person's own secret, and all peers."""


@dataclass(eq=False)
class Partitioned:
    """A table whose peers are classes, asked about some secrets given some known columns.

    Columns are numbers here; bit j of a mask is column j.  Everything is computed when it is first
    asked for, for all secrets in one walk, and kept per distinct row.
    """

    codes: Codes
    cardinalities: tuple[int, ...]
    known: tuple[int, ...]
    secrets: tuple[int, ...]
    empty: bool = False
    memory: int = MEMORY
    rows: NDArray[np.int64] | None = None
    """The individuals asked about; None for everybody."""
    _kept: Weakest | None = None
    _masks: dict[int, Ints] = field(default_factory=dict)
    _left_out: dict[int, Weakest] = field(default_factory=dict)
    _sizes: dict[int, NDArray[np.int32]] = field(default_factory=dict)
    _fewest: dict[float, dict[int, NDArray[np.int32]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cells = distinct_rows(self.codes, self.cardinalities)
        own = self.cells.of_record
        self._row = own if self.rows is None else own[self.rows]
        self._asked, self._places = _few(self._row, self.cells.rows)

    @property
    def columns(self) -> int:
        return len(self.cardinalities)

    def others(self, secret: int) -> list[int]:
        """What may be known when this is the secret."""
        return [column for column in self.known if column != secret]

    def alike(self, column: int, code: int) -> Ints:
        """The codes that count as the same value."""
        return np.array([code])

    def near(self, secret: int) -> None:
        """No value of the secret stands for another."""

    def spread(self, values: NDArray[np.integer]) -> Ints:
        """Values per distinct row as values per individual."""
        return values[self._row].astype(np.int64, copy=False)

    def _told(self, values: NDArray[np.integer]) -> Ints:
        """Values per row that the walk was asked about as values per individual."""
        return values[self._places].astype(np.int64, copy=False)

    @property
    def _rows_asked(self) -> int:
        return self.cells.rows if self._asked is None else self._asked.size

    def baseline(self, secret: int) -> Floats:
        """The share of each value of the secret in the whole table."""
        values, size = self.cells.codes[secret], self.cardinalities[secret]
        return np.bincount(values, weights=self.cells.people, minlength=size) / self.cells.total

    def falsehoods(self, secret: int) -> Ints:
        """How many other values of the secret occur in the table."""
        observed = np.count_nonzero(np.bincount(self.cells.codes[secret]))
        return np.full(self._row.size, observed - 1, dtype=np.int64)

    def at(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints]:
        """With exactly these columns known: how many peers, and how many share the secret."""
        return self.spread(self._peers(known)), self.spread(self._peers([*known, secret]))

    def _peers(self, known: Sequence[int]) -> NDArray[np.int32]:
        """Class sizes on a subset, remembered: neighbouring questions share many subsets."""
        mask = sum(1 << column for column in known)
        if mask not in self._sizes:
            if len(self._sizes) * 4 * self.cells.rows > self.memory // 4:
                self._sizes.clear()
            self._sizes[mask] = self.cells.peers(known).astype(np.int32)
        return self._sizes[mask]

    def weakest(self, secret: int) -> tuple[Share, Ints]:
        """The largest share of peers with the own secret over all subsets, and its first subset."""
        if self._kept is None:
            self._walk()
        kept = cast(Weakest, self._kept)
        share = kept.shares_of_best(secret)
        mask = self._masks[secret] if self._masks else kept.masks(secret, share)
        return (self._told(share[0]), self._told(share[1])), self._told(mask)

    def _walk(self) -> None:
        cells, known, secrets = self.cells, self.known, self.secrets
        kept = Weakest(cells.total, self._rows_asked, self.columns, secrets, known, self.empty)
        tally(cells, known, secrets, [kept], memory=self.memory, asked=self._asked)
        if kept.step is None:
            first = First(kept.best, self.columns, self.empty)
            tally(cells, known, secrets, [first], memory=self.memory, asked=self._asked)
            self._masks = {secret: first.masks(secret) for secret in secrets}
        self._kept = kept

    def without(self, secret: int, column: int, *, all_others: bool) -> Share:
        """Own secret's share when a column is left out.

        `all_others` known, or else the largest over the non-empty subsets of all others.
        """
        if all_others:
            rest = [c for c in self.others(secret) if c != column]
            alike, same = self.at(secret, rest)
            return same, alike
        if secret not in self._left_out:
            self._walk_without(secret)
        kept = self._left_out[secret]
        values, best = kept.without[secret, column], kept.best[secret]
        same, alike = (part.copy() for part in kept.shares_of_best(secret))
        # Where the weakest subset does not hold the column, it is the weakest without it too.
        other = np.flatnonzero(values != best)
        same[other], alike[other] = kept.shares(values[other])
        return self._told(same), self._told(alike)

    def _walk_without(self, secret: int) -> None:
        """One walk for as many secrets, from this one on, as half of the memory holds."""
        cells, known = self.cells, self.known
        each = 8 * self._rows_asked * len(known)
        start = self.secrets.index(secret)
        some = self.secrets[start : start + max(1, self.memory // 2 // each)]
        kept = Weakest(
            cells.total, self._rows_asked, self.columns, some, known, self.empty,
            leave_one_out=True,
        )  # fmt: skip
        self._left_out = {}
        tally(cells, known, some, [kept], memory=self.memory // 2, asked=self._asked)
        self._left_out = dict.fromkeys(some, kept)

    def alternatives(self, secret: int, q: float) -> tuple[Ints, Ints]:
        """False values above q: with full knowledge, and the fewest over all subsets."""
        full = self.spread(alternatives_at(self.cells, self.others(secret), secret, q))
        if q == 0 and not self.empty:
            return full, full
        if q not in self._fewest:
            self._fewest[q] = fewest_alternatives(
                self.cells, self.known, self.secrets, q, empty=self.empty, memory=self.memory
            )
        return full, self.spread(self._fewest[q][secret])

    def alternatives_without(self, secret: int, column: int, q: float, *, all_others: bool) -> Ints:
        """False values above q when a column is left out: the rest known, or the fewest."""
        rest = [c for c in self.others(secret) if c != column]
        if all_others or (q == 0 and not self.empty):
            return self.spread(alternatives_at(self.cells, rest, secret, q))
        found = fewest_alternatives(
            self.cells, rest, [secret], q, empty=self.empty, memory=self.memory
        )
        return self.spread(found[secret])

    def own_values(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints, Ints, Ints]:
        """Every individual's value: place of the individual, value, peers, peers who have it."""
        alike, same = self.at(secret, known)
        return np.arange(alike.size), self.spread(self.cells.codes[secret]), alike, same

    def posteriors(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints, Ints, Ints]:
        """The peers' secrets, class by class: class of each individual; class, value, people."""
        cells, coarse = self.cells, self.cells.classes(known)
        pair = coarse.ids * self.cardinalities[secret] + cells.codes[secret]
        entry, place = np.unique(pair, return_inverse=True)
        people = np.bincount(place, weights=cells.people).astype(np.int64)
        owner, value = np.divmod(entry, self.cardinalities[secret])
        return self.spread(coarse.ids), owner, value, people

    def expected(
        self, secret: int, chances: Floats, profile: Ints | None, p: float
    ) -> tuple[Floats, Floats]:
        """E[PPP] and P(PPP <= p) over what may be known."""
        cells, places, asked = self.cells, self._places, self._asked
        of_row = np.zeros(self._rows_asked, dtype=np.int64)
        if profile is not None:
            table = np.column_stack([self.codes, profile.astype(np.int32)])
            cells = distinct_rows(table, (*self.cardinalities, int(profile.max()) + 1))
            rows = cells.of_record if self.rows is None else cells.of_record[self.rows]
            asked, places = _few(rows, cells.rows)
            of_row = cells.codes[-1] if asked is None else cells.codes[-1][asked]
        mean = Expected({secret: chances}, of_row, p)
        tally(cells, self.others(secret), [secret], [mean], memory=self.memory, asked=asked)
        return mean.ppp[secret][places], mean.breach[secret][places]

    def broken(self, secret: int, p: float) -> Floats:
        """For each subset (by mask), how many people have PPP <= p when exactly it is known."""
        people = np.bincount(self._places, minlength=self._rows_asked).astype(np.float64)
        breaks = Breaks(people, p, self.columns, [secret])
        tally(self.cells, self.others(secret), [secret], [breaks], memory=self.memory,
              asked=self._asked)  # fmt: skip
        return breaks.broken[secret]


def _few(row: Ints, rows: int) -> tuple[Ints | None, Ints]:
    """The rows that matter, if they are few among all, and each individual's place among them."""
    if row.size * _FEW >= rows:
        return None, row
    asked, place = np.unique(row, return_inverse=True)
    return asked, place


# -- counting peers by matching --------------------------------------------------------------------


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
        self.cells = distinct_rows(self.codes, self.cardinalities)
        own = self.cells.of_record
        chosen = own if self.rows is None else own[self.rows]
        self.subjects, self._places = np.unique(chosen, return_inverse=True)
        self.known = tuple(range(len(self.cardinalities) - 1))
        self.secret = len(self.cardinalities) - 1

    def _masks(self, cells_each: int) -> Iterator[tuple[slice, NDArray[np.int32]]]:
        """Subjects in batches, and for each the mask of every row (the secret is the top bit)."""
        each = 14 * self.cells.rows + 16 * cells_each
        batch = max(1, min(self.subjects.size, self.memory // each))
        for first in range(0, self.subjects.size, batch):
            part = slice(first, min(first + batch, self.subjects.size))
            columns = [(column,) for column in range(self.cells.groups)]
            yield part, match_masks(self.cells, columns, self.relations, self.subjects[part])

    def counts(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """For batches of subjects and every subset: peers, and peers with the own secret."""
        if self._kept is not None:
            yield slice(0, self.subjects.size), *self._kept
            return
        size = 1 << len(self.known)
        keep = self.subjects.size * size * 16 <= self.memory
        parts = []
        for part, masks in self._masks(2 * size):
            sums = superset_sums(people_by_key(self.cells, masks, 2 * size))
            alike, same = sums[:, :size], sums[:, size:]
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
            own = self.cells.codes[self.secret][self.subjects]
            found[0], found[1] = self.cells.total, (self._true_values() @ people)[own]
        else:
            for part, masks in self._masks(2):
                alike = (masks & wanted) == wanted
                found[0, part] = alike @ self.cells.people
                found[1, part] = (alike & (masks >> self.secret == 1)) @ self.cells.people
        alike, same = found[:, self._places].astype(np.int64)
        return alike, same

    # The questions of `Partitioned`, for one secret

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
        values = self.cells.codes[self.secret]
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
        values, size = self.cells.codes[self.secret], self.cardinalities[self.secret]
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
        size, values = 1 << len(self.known), self.cells.codes[self.secret]
        domain, false = self.cardinalities[self.secret], ~self._true_values()
        found = np.empty((len(orders), self.subjects.size), dtype=np.int64)
        for part, masks in self._masks(domain * size):
            key = (masks & (size - 1)) + size * values[None, :]
            table = superset_sums(
                people_by_key(self.cells, key, domain * size).reshape(-1, domain, size)
            )
            share = table / table.sum(axis=1, keepdims=True)
            own = false[values[self.subjects[part]]]
            above = (is_above(share, q) & own[:, :, None]).sum(axis=1)
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
        value = self.cells.codes[self.secret][self.subjects][self._places]
        return np.arange(alike.size), value, alike, same

    def near(self, secret: int) -> Match | None:
        """Which values of the secret count as near each other, if not only equal ones."""
        return self.relations.get(self.secret)

    def posteriors(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints, Ints, Ints]:
        """The peers' secrets, one class per distinct individual: as `Partitioned.posteriors`."""
        size, values = 1 << len(self.known), self.cells.codes[self.secret]
        wanted, domain = sum(1 << column for column in known), self.cardinalities[self.secret]
        found = []
        for part, masks in self._masks(domain):
            alike = (masks & (size - 1) & wanted) == wanted
            key = np.where(alike, values[None, :], domain)
            table = people_by_key(self.cells, key, domain + 1)[:, :domain]
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
            found[1][:, part] = chances @ ~is_above(ppp, p).T
        return found[0][own, self._places], found[1][own, self._places]

    def broken(self, secret: int, p: float) -> Floats:
        people = np.bincount(self._places, minlength=self.subjects.size)
        total = np.zeros(1 << len(self.known))
        for part, alike, same in self.counts():
            total += people[part] @ ~is_above((alike - same) / alike, p)
        return total
