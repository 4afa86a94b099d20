"""What is tallied over every (secret, subset) while the slabs of class sizes pass by.

The engine hands each tally the two counts of a person: `alike` = people alike on A, and `same` =
those who share the secret as well, as arrays (subsets of A) x (rows).  Each tally keeps a few
numbers per person, so nothing of size 2^k x people outlives a slab.

What a result about disclosure needs from whatever counts peers, and its small parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above
from reidbn.errors import TooLarge, UsageError
from reidbn.microdata.classes import Codes, Floats, Ints
from reidbn.microdata.knowledge import Knowledge, sure_of
from reidbn.microdata.rows import DistinctRows
from reidbn.microdata.slab import (
    MEMORY,
    Counts,
    Split,
    asked_slab,
    class_size_slab,
    split,
)
from reidbn.theory.ratios import fractions_near, ranks_by_size, tie_step
from reidbn.written import counted, read_number

_ROWS = 512  # per step: 2^9 subsets of them are 2 MB, which the processor's cache holds


@dataclass(frozen=True, eq=False)
class SlabStep:
    """Some rows, and the subsets of one slab: who is alike, and which columns are low or fixed."""

    rows: slice
    masks: Ints
    alike: Floats
    low: tuple[int, ...]
    unknown: tuple[int, ...]
    """High columns that none of these subsets holds."""


class Tally(Protocol):
    """Something kept per person (or per subset) over all subsets."""

    def start(self, step: SlabStep) -> Any:
        """What `add` needs of a slab for every secret: an array subsets x rows."""

    def add(self, secret: int, step: SlabStep, half: Half) -> None:
        """Take in all subsets of the slab that do not hold the secret."""


@dataclass(frozen=True, eq=False)
class Half:
    """The subsets of a slab without a secret, as (higher columns, lower columns) x rows."""

    masks: Ints
    alike: Floats
    same: Floats
    started: Any
    columns: tuple[int, ...]
    """The low columns of these subsets, highest bit first."""


def _halves(step: SlabStep, secret: int, started: Any, partner: Floats | None) -> Half:
    if partner is not None:
        return Half(step.masks, step.alike, partner, started, step.low)
    place = step.low.index(secret)
    below = len(step.low) - 1 - place

    def part(array: NDArray[Any], known: int) -> NDArray[Any]:
        return array.reshape(1 << place, 2, 1 << below, *array.shape[1:])[:, known]

    rest = step.low[:place] + step.low[place + 1 :]
    own = part(started, 0)
    return Half(part(step.masks, 0), part(step.alike, 0), part(step.alike, 1), own, rest)


def tally(
    cells: DistinctRows,
    known: Sequence[int],
    secrets: Sequence[int],
    tallies: Sequence[Tally],
    *,
    memory: int = MEMORY,
    asked: Ints | None = None,
) -> None:
    """Show every (secret, subset of the known columns) to every tally, slab by slab.

    With `asked`, the tallies see these rows only; their peers are still counted among all.
    """
    rows = cells.rows if asked is None else asked.size
    parts = split(cells, known, secrets, memory=memory, width=4, rows=rows)

    def fill(fixed: tuple[int, ...], out: Counts) -> None:
        if asked is None:
            class_size_slab(cells, parts.low, fixed, out)
        else:
            asked_slab(cells, parts.low, fixed, asked, out)

    base = np.empty((1 << len(parts.low), rows), dtype=np.int32)
    partner = np.empty_like(base) if set(parts.high) & set(secrets) else None
    for fixed in parts.bases(known):
        fill(fixed, base)
        inside = [secret for secret in secrets if secret in parts.low]
        _pass(parts, fixed, inside, tallies, base, None)
        for secret in secrets:
            if partner is not None and secret in parts.high and secret not in fixed:
                fill((*fixed, secret), partner)
                _pass(parts, fixed, [secret], tallies, base, partner)


def _pass(
    parts: Split,
    fixed: tuple[int, ...],
    secrets: Sequence[int],
    tallies: Sequence[Tally],
    base: Counts,
    partner: Counts | None,
) -> None:
    masks = parts.masks | sum(1 << column for column in fixed)
    unknown = tuple(column for column in parts.high if column not in fixed)
    for first in range(0, base.shape[1] if secrets else 0, _ROWS):
        rows = slice(first, min(first + _ROWS, base.shape[1]))
        step = SlabStep(rows, masks, base[:, rows].astype(np.float64), parts.low, unknown)
        same = None if partner is None else partner[:, rows].astype(np.float64)
        for one in tallies:
            started = one.start(step)
            for secret in secrets:
                one.add(secret, step, _halves(step, secret, started, same))


class _Scratch:
    """One buffer that is reused, because fresh pages cost more than the arithmetic on them."""

    def __init__(self) -> None:
        self._flat = np.empty(0)

    def like(self, array: NDArray[Any]) -> Floats:
        if self._flat.size < array.size:
            self._flat = np.empty(array.size)
        return self._flat[: array.size].reshape(array.shape)


@dataclass(eq=False)
class Weakest:
    """The largest share of peers with the person's own secret, and the first subset that has it.

    Shares carry the subset's rank as a small step down, so that the plain maximum is the first
    maximising subset, by size and then by column (`theory.ratios`).  Where the table is too large
    for that, a second round finds the first subset among those that attain the maximum.
    """

    people: int
    rows: int
    columns: int
    secrets: Sequence[int]
    known: Sequence[int]
    empty: bool = False
    leave_one_out: bool = False
    best: dict[int, Floats] = field(init=False)
    without: dict[tuple[int, int], Floats] = field(init=False)

    def __post_init__(self) -> None:
        self.ranks = ranks_by_size(self.columns)
        self.step = tie_step(self.people, self.ranks.size)
        self.best = {secret: np.zeros(self.rows) for secret in self.secrets}
        pairs = [(s, v) for s in self.secrets for v in self.known if v != s and self.leave_one_out]
        self.without = {pair: np.zeros(self.rows) for pair in pairs}
        self._product, self._factor = _Scratch(), _Scratch()
        self._read: tuple[int, tuple[Ints, Ints]] | None = None

    def start(self, step: SlabStep) -> Floats:
        down = 1 - self.ranks[step.masks] * (self.step or 0.0)
        factor = self._factor.like(step.alike)
        np.divide(down[:, None], step.alike, out=factor)
        if not self.empty:
            factor[step.masks == 0] = 0
        return factor

    def add(self, secret: int, step: SlabStep, half: Half) -> None:
        share = self._product.like(half.same)
        np.multiply(half.same, half.started, out=share)
        if self.leave_one_out:
            top = self._tree(secret, step, half, share)
        else:
            top = share.reshape(-1, share.shape[-1]).max(axis=0)
        best = self.best[secret][step.rows]
        np.maximum(best, top, out=best)

    def _tree(self, secret: int, step: SlabStep, half: Half, share: Floats) -> Floats:
        """The maximum, and on the way the maximum over the subsets without each other column."""
        rest = share.reshape(1 << len(half.columns), share.shape[-1])
        for column in half.columns:
            no, yes = rest[: len(rest) // 2], rest[len(rest) // 2 :]
            self._raise(secret, column, step, no.max(axis=0))
            rest = np.maximum(no, yes, out=no)
        for column in step.unknown:
            if column in self.known and column != secret:
                self._raise(secret, column, step, rest[0])
        top: Floats = rest[0]
        return top

    def _raise(self, secret: int, column: int, step: SlabStep, top: Floats) -> None:
        best = self.without[secret, column][step.rows]
        np.maximum(best, top, out=best)

    def shares(self, values: Floats) -> tuple[Ints, Ints]:
        """The shares as exact fractions: own secret / peers, reduced."""
        slack = self.ranks.size * self.step if self.step else 2.0**-50
        return fractions_near(values, largest=self.people, slack=slack)

    def shares_of_best(self, secret: int) -> tuple[Ints, Ints]:
        """The largest share of each row for a secret, read once."""
        if self._read is None or self._read[0] != secret:
            self._read = secret, self.shares(self.best[secret])
        return self._read[1]

    def masks(self, secret: int, share: tuple[Ints, Ints]) -> Ints:
        """The first weakest subset of each row, read back out of the shares."""
        if self.step is None:
            raise TooLarge("the ranks did not fit into the shares; ask `First`")
        rank = np.rint((1 - self.best[secret] * share[1] / share[0]) / self.step).astype(np.int64)
        by_rank = np.empty_like(self.ranks)
        by_rank[self.ranks] = np.arange(self.ranks.size)
        return by_rank[rank]


@dataclass(eq=False)
class First:
    """The first subset whose share attains a given maximum: the second round of `Weakest`."""

    best: dict[int, Floats]
    columns: int
    empty: bool = False
    rank: dict[int, Ints] = field(init=False)

    def __post_init__(self) -> None:
        self.ranks = ranks_by_size(self.columns)
        self.rank = {s: np.full(b.size, self.ranks.size) for s, b in self.best.items()}

    def start(self, step: SlabStep) -> Floats:
        return step.alike

    def add(self, secret: int, step: SlabStep, half: Half) -> None:
        attained = half.same >= half.alike * (self.best[secret][step.rows] * (1 - 2.0**-49))
        if not self.empty:
            attained &= (half.masks != 0)[..., None]
        ranks = np.where(attained, self.ranks[half.masks][..., None], self.ranks.size)
        own = self.rank[secret][step.rows]
        np.minimum(own, ranks.reshape(-1, own.size).min(axis=0), out=own)

    def masks(self, secret: int) -> Ints:
        by_rank = np.empty_like(self.ranks)
        by_rank[self.ranks] = np.arange(self.ranks.size)
        return by_rank[self.rank[secret]]


@dataclass(eq=False)
class Breaks:
    """For each subset, how many people it breaks: PPP = (alike - same) / alike <= p."""

    people: Floats
    p: float
    columns: int
    secrets: Sequence[int]
    broken: dict[int, Floats] = field(init=False)

    def __post_init__(self) -> None:
        self.broken = {secret: np.zeros(1 << self.columns) for secret in self.secrets}
        self._ppp = _Scratch()

    def start(self, step: SlabStep) -> Floats:
        return step.alike

    def add(self, secret: int, step: SlabStep, half: Half) -> None:
        ppp = self._ppp.like(half.same)
        np.subtract(half.alike, half.same, out=ppp)
        np.divide(ppp, half.alike, out=ppp)
        self.broken[secret][half.masks] += ~is_above(ppp, self.p) @ self.people[step.rows]


@dataclass(eq=False)
class Expected:
    """Means over what an attacker may know: E[PPP], and P(PPP <= p), per person.

    `chance[secret]` is P(A = mask) for each profile of people (profiles x 2^k, zero where A holds
    the secret); `profile` the profile of each row.
    """

    chance: dict[int, Floats]
    profile: Ints
    p: float
    ppp: dict[int, Floats] = field(init=False)
    breach: dict[int, Floats] = field(init=False)

    def __post_init__(self) -> None:
        self.ppp = {secret: np.zeros(self.profile.size) for secret in self.chance}
        self.breach = {secret: np.zeros(self.profile.size) for secret in self.chance}
        self._ppp = _Scratch()

    def start(self, step: SlabStep) -> Floats:
        return step.alike

    def add(self, secret: int, step: SlabStep, half: Half) -> None:
        own = self.chance[secret][self.profile[step.rows]]
        chance = np.moveaxis(own[:, half.masks], 0, -1)
        ppp = self._ppp.like(half.same)
        np.subtract(half.alike, half.same, out=ppp)
        np.divide(ppp, half.alike, out=ppp)
        over = tuple(range(ppp.ndim - 1))
        self.breach[secret][step.rows] += (chance * ~is_above(ppp, self.p)).sum(axis=over)
        self.ppp[secret][step.rows] += (chance * ppp).sum(axis=over)


# -- what a result about disclosure needs from whatever counts peers, and i ------------------------


Reading = Literal["full", "weakest"]
Kept = tuple[NDArray[np.int32], ...]
"""Counts as a result keeps them: half the size, widened when handed out."""


class PeerCounter(Protocol):
    """Whatever counts peers: by equality (`Partitioned`), by a match rule (`Matched`), or where the
    secret is a history (`Histories`).
    """

    codes: Codes

    def others(self, secret: int) -> list[int]: ...
    def alike(self, column: int, code: int) -> Ints: ...
    def baseline(self, secret: int) -> Floats: ...
    def falsehoods(self, secret: int) -> Ints: ...
    def at(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints]: ...
    def weakest(self, secret: int) -> tuple[tuple[Ints, Ints], Ints]: ...
    def without(self, secret: int, column: int, *, all_others: bool) -> tuple[Ints, Ints]: ...
    def alternatives(self, secret: int, q: float) -> tuple[Ints, Ints]: ...
    def alternatives_without(
        self, secret: int, column: int, q: float, *, all_others: bool
    ) -> Ints: ...
    def own_values(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints, Ints, Ints]: ...
    def near(self, secret: int) -> NDArray[np.bool_] | None: ...
    def posteriors(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints, Ints, Ints]: ...
    def expected(
        self, secret: int, chances: Floats, profile: Ints | None, p: float
    ) -> tuple[Floats, Floats]: ...
    def broken(self, secret: int, p: float) -> Floats: ...


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """PPP with one auxiliary unknown, auxiliaries x individuals, and what knowing it takes away."""

    reading: str
    columns: tuple[str, ...]
    npp: NDArray[np.int32]
    peers: NDArray[np.int32]
    level: Floats
    """PPP of each individual with nothing left out."""

    @property
    def ppp(self) -> Floats:
        return self.npp / self.peers

    @property
    def gain(self) -> Floats:
        """How much PPP each person keeps by keeping the auxiliary unknown; may be below 0."""
        return self.ppp - self.level


@dataclass(frozen=True, eq=False)
class AlternativesLeftOut:
    """PoAC with one auxiliary unknown, auxiliaries x individuals."""

    reading: str
    columns: tuple[str, ...]
    alternatives: NDArray[np.int32]
    falsehoods: Ints
    """How many false values there are for each individual."""
    level: Floats
    """PoAC of each individual with nothing left out."""

    @property
    def poac(self) -> Floats:
        return np.asarray(self.alternatives / np.maximum(self.falsehoods, 1))

    @property
    def gain(self) -> Floats:
        """How much PoAC each person keeps by keeping the auxiliary unknown."""
        return self.poac - self.level


@dataclass(frozen=True)
class DisclosureQuestion:
    """What was asked: two numbers on one page are about the same question, or say so."""

    known: tuple[str, ...]
    p: float
    blurred: tuple[str, ...] = ()
    """Ranges, tolerances, near guesses and the attacker who knows nothing, in words."""
    individuals: tuple[int, int] | None = None
    """How many were asked about, and the sum of their row numbers; None for everybody."""
    secret: str = ""
    """What is to be learnt; empty where whoever asks says it."""
    beside: tuple[str, ...] = field(default=(), compare=False)
    """What some of the numbers rest on and others do not: q, and the chances of what is known."""
    exactly: tuple[str, ...] = field(default=(), repr=False)
    """Ranges by name, which the words only count; never shown, since they hold values."""
    said: Knowledge = field(default_factory=lambda: sure_of(()), compare=False, repr=False)
    """What is known, with its chances."""

    @property
    def in_order(self) -> DisclosureQuestion:
        """The same, in whatever order its columns were named."""
        return replace(self, known=tuple(sorted(self.known)), blurred=tuple(sorted(self.blurred)))

    def told(self, q: float) -> dict[str, Any]:
        """What may be known, with its chances, and what else was asked."""
        rest = replace(self.in_order, known=(), beside=())
        beside = f"{rest}, p = {self.p:.17g}, q = {q:.17g}"
        return {**self.said.told, "on": sorted(self.known), "beside": beside}

    def __str__(self) -> str:
        words = [f"p = {self.p:g}", *self.blurred, *self.beside]
        if self.individuals is not None:
            words.append(counted(self.individuals[0], "individual"))
        known = f"{', '.join(self.known)} known; " + "; ".join(words)
        return f"{self.secret} given {known}" if self.secret else known


def kept(*counts: Ints) -> Kept:
    return tuple(count.astype(np.int32) for count in counts)


def nullable(values: Floats | None, undefined: NDArray[np.bool_]) -> Any:
    """A nullable column: null where the value is undefined, never NaN."""
    import pandas as pd

    numbers = np.zeros(undefined.size) if values is None else np.array(values)
    return pd.arrays.FloatingArray(numbers, mask=undefined.copy())


NAMED = {"certain": 0.0, "nearly-certain": 0.05, "more-likely-than-not": 0.5}
"""Thresholds p by what they call a breach: a guess drawn from the peers is right with 1 - p."""


def threshold(name: str, value: float | str) -> float:
    """A threshold in [0, 1), as a number, as "5 %", or by its name.

    >>> threshold("p", "nearly-certain"), threshold("p", "5%")
    (0.05, 0.05)
    """
    number = _number(name, value) if isinstance(value, str) else value
    if not 0 <= number < 1:
        raise UsageError(f"{name} is {value}; a threshold lies in [0, 1)")
    return float(number)


def _number(name: str, text: str) -> float:
    if name == "p" and text in NAMED:
        return NAMED[text]
    try:
        return float(read_number(text, name))
    except UsageError:
        names = f"; or one of {', '.join(NAMED)}" if name == "p" else ', or "joint" for q'
        raise UsageError(
            f'{name} is "{text}", not a number in [0, 1){names} (thresholds such as "ema" are '
            "about singling out a person, not about a secret)"
        ) from None
