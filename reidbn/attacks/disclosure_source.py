"""What a result about disclosure needs from whatever counts peers, and its small parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError
from reidbn.microdata.classes import Codes, Floats, Ints
from reidbn.written import counted, read_number

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
    """What was asked, beside the secret: two numbers on one page are about the same question, or
    say so.
    """

    known: tuple[str, ...]
    p: float
    blurred: tuple[str, ...] = ()
    """Ranges, tolerances, near guesses and the attacker who knows nothing, in words."""
    individuals: tuple[int, int] | None = None
    """How many were asked about, and the sum of their row numbers; None for everybody."""

    def __str__(self) -> str:
        words = [f"p = {self.p:g}", *self.blurred]
        if self.individuals is not None:
            words.append(counted(self.individuals[0], "individual"))
        return f"{', '.join(self.known)} known; " + "; ".join(words)


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
