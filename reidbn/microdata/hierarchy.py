"""Hierarchies: how a value is made more general, level by level, and what it then covers.

Level 0 is the value itself; each level above is coarser; the last one is "*".  A hierarchy
also says when two values, each exact or general, may be the same person's: when what they
cover overlaps [Xia21].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reidbn.errors import UsageError
from reidbn.microdata.classes import Ints
from reidbn.microdata.matching import Relation

ANY = "*"
"""The value that covers all others: the top of every hierarchy."""


class Hierarchy(ABC):
    """Levels of generality for one column."""

    @property
    @abstractmethod
    def levels(self) -> int:
        """The highest level, at which every value is "*"."""

    @abstractmethod
    def climb(self, value: Any, level: int) -> Any:
        """The value at a level between 1 and the one below the top."""

    @abstractmethod
    def overlaps(self, values: Sequence[Any]) -> Callable[[int], Ints]:
        """For one of the values (by place): the places of those whose cover overlaps its own."""

    @abstractmethod
    def is_general(self, value: Any) -> bool:
        """Whether the value stands for several."""

    def up(self, value: Any, level: int) -> Any:
        """The value at a level: 0 as it is, the top "*"; a missing one stays missing."""
        if not 0 <= level <= self.levels:
            raise UsageError(f"level {level}; this hierarchy has levels 0 to {self.levels}")
        if level == 0 or value is None:
            return value
        return ANY if level == self.levels or value == ANY else self.climb(value, level)

    def all_up(self, values: Sequence[Any], level: int) -> list[Any]:
        """All values of a column at a level."""
        return [self.up(value, level) for value in values]

    def relation(self, labels: Sequence[Any]) -> Relation | None:
        """Which of the labels match which; None when each matches only itself."""
        exact = [i for i, label in enumerate(labels) if label is not None]
        overlap = self.overlaps([labels[i] for i in exact])
        place = np.array(exact, dtype=np.int64)
        others: dict[int, Ints] = {}
        for i, code in enumerate(exact):
            if self.is_general(labels[code]):
                matched = place[overlap(i)]
                matched = matched[matched != code]
                if matched.size:
                    others[code] = matched
        return Relation(len(labels), others) if others else None
