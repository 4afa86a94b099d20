"""Counting peers by equality: all secrets and all subsets of a whole table at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.disclosure_tally import Breaks, Expected, First, Weakest, tally
from reidbn.attacks.disclosure_values import alternatives_at, fewest_alternatives
from reidbn.microdata.classes import Codes, Floats, Ints
from reidbn.microdata.slab import MEMORY, WideRows

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
        self.cells, self.row_of = WideRows.of(self.codes, self.cardinalities)
        self._row = self.row_of if self.rows is None else self.row_of[self.rows]
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
        values, size = self.cells.columns[secret], self.cardinalities[secret]
        return np.bincount(values, weights=self.cells.people, minlength=size) / self.cells.total

    def falsehoods(self, secret: int) -> Ints:
        """How many other values of the secret occur in the table."""
        observed = np.count_nonzero(np.bincount(self.cells.columns[secret]))
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
        return np.arange(alike.size), self.spread(self.cells.columns[secret]), alike, same

    def posteriors(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints, Ints, Ints]:
        """The peers' secrets, class by class: class of each individual; class, value, people."""
        cells, coarse = self.cells, self.cells.classes(known)
        pair = coarse.ids * self.cardinalities[secret] + cells.columns[secret]
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
            cells, row_of = WideRows.of(self.codes, self.cardinalities, apart=profile)
            rows = row_of if self.rows is None else row_of[self.rows]
            asked, places = _few(rows, cells.rows)
            of_row = np.empty(cells.rows, dtype=np.int64)
            of_row[row_of] = profile
            of_row = of_row if asked is None else of_row[asked]
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
