"""What a result about disclosure needs from whatever counts peers, and its small parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError
from reidbn.microdata.classes import Codes, Floats, Ints

Reading = Literal["full", "weakest"]
Kept = tuple[NDArray[np.int32], ...]
"""Counts as a result keeps them: half the size, widened when handed out."""


class Source(Protocol):
    """Whatever counts peers: by equality (`Partitioned`) or by a match rule (`Matched`)."""

    codes: Codes

    def others(self, secret: int) -> list[int]: ...
    def alike(self, column: int, code: int) -> Ints: ...
    def baseline(self, secret: int) -> Floats: ...
    def falsehoods(self, secret: int) -> Ints: ...
    def at(self, secret: int, known: Sequence[int]) -> tuple[Ints, Ints]: ...
    def weakest(self, secret: int) -> tuple[tuple[Ints, Ints], Ints]: ...
    def without(self, secret: int, column: int, *, all_others: bool) -> tuple[Ints, Ints]: ...
    def alternatives(self, secret: int, q: float) -> tuple[Ints, Ints]: ...
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


def kept(*counts: Ints) -> Kept:
    return tuple(count.astype(np.int32) for count in counts)


def nullable(values: Floats | None, undefined: NDArray[np.bool_]) -> Any:
    """A nullable column: null where the value is undefined, never NaN."""
    import pandas as pd

    numbers = np.zeros(undefined.size) if values is None else np.array(values)
    return pd.arrays.FloatingArray(numbers, mask=undefined.copy())


def threshold(name: str, value: float) -> float:
    if not 0 <= value < 1:
        raise UsageError(f"{name} is {value}; a threshold lies in [0, 1)")
    return float(value)
