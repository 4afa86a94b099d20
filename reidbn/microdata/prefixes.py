"""Prefixes: texts made general by cutting them short."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from reidbn.errors import DataError, UsageError
from reidbn.microdata.classes import Ints
from reidbn.microdata.hierarchy import ANY, Hierarchy


@dataclass(frozen=True)
class Masked(Hierarchy):
    """Texts cut short, as in ZIP codes and postcodes: `Prefix(4, 2)` makes OX12 6HU "OX12*", "OX*".

    A text with one "*" covers every text that begins and ends as it does.
    """

    keeps: tuple[int, ...]
    """How many characters each level keeps."""
    at_end: bool = False
    """Keep the last characters instead of the first: "*/1970"."""

    def __post_init__(self) -> None:
        if not all(isinstance(keep, Integral) for keep in self.keeps):
            raise UsageError(f"kept characters {self.keeps}; they must be whole numbers")
        falling = all(a > b for a, b in zip(self.keeps, self.keeps[1:], strict=False))
        if not falling or any(keep < 1 for keep in self.keeps):
            raise UsageError(
                f"kept characters {self.keeps}; each level must keep fewer, at least 1"
            )

    @property
    def levels(self) -> int:
        return len(self.keeps) + 1

    def climb(self, value: Any, level: int) -> str:
        keep = self.keeps[level - 1]
        text = str(value)
        if len(text) - text.count(ANY) < keep or (ANY in text and len(text) - 1 == keep):
            return text
        return ANY + text[-keep:] if self.at_end else text[:keep] + ANY

    def is_general(self, value: Any) -> bool:
        return ANY in str(value)

    def overlaps(self, values: Sequence[Any]) -> Callable[[int], Ints]:
        texts = [str(value) for value in values]
        if any(text.count(ANY) > 1 for text in texts):
            raise DataError('a masked value has more than one "*"; write one, as in OX12*')
        ends = [text[::-1] for text in texts] if self.at_end else texts
        if all(text.endswith(ANY) for text in ends if ANY in text):
            return _Heads(ends).meeting
        return lambda i: np.array(
            [j for j, text in enumerate(texts) if stars_meet(texts[i], text)], dtype=np.int64
        )


class _Heads:
    """Texts that are exact or end in "*", sorted so that what a head covers is one run."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.heads = [text.removesuffix(ANY) for text in texts]
        order = sorted(range(len(texts)), key=lambda i: self.heads[i])
        self.order = np.array(order, dtype=np.int64)
        self.ordered = [self.heads[i] for i in order]
        self.general: dict[str, list[int]] = {}
        for i, text in enumerate(texts):
            if ANY in text:
                self.general.setdefault(self.heads[i], []).append(i)

    def meeting(self, i: int) -> Ints:
        """Everything that begins with this general text's head, and every head that begins it."""
        head = self.heads[i]
        start = bisect_left(self.ordered, head)
        stop = bisect_left(self.ordered, head + "\U0010ffff")
        shorter = [j for cut in range(len(head)) for j in self.general.get(head[:cut], ())]
        return np.concatenate([self.order[start:stop], np.array(shorter, dtype=np.int64)])


def Prefix(*keeps: int) -> Masked:
    """Levels that keep the first so many characters: `Prefix(4, 3, 2)`.

    >>> Prefix(4, 2).up("OX12 6HU", 1)
    'OX12*'
    """
    return Masked(tuple(keeps))


def Suffix(*keeps: int) -> Masked:
    """Levels that keep the last so many characters: `Suffix(5)` makes 02/09/1970 "*/1970"."""
    return Masked(tuple(keeps), at_end=True)


def stars_meet(one: str, two: str) -> bool:
    """Whether some text fits both, each with at most one "*"."""
    if ANY not in one and ANY not in two:
        return one == two
    if ANY not in one:
        one, two = two, one
    head, _, tail = one.partition(ANY)
    if ANY not in two:
        return len(two) >= len(head) + len(tail) and two.startswith(head) and two.endswith(tail)
    head2, _, tail2 = two.partition(ANY)
    heads = head.startswith(head2) or head2.startswith(head)
    return heads and (tail.endswith(tail2) or tail2.endswith(tail))
