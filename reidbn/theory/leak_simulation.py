"""The leak acted out: draw a leak, draw the targets, guess them one after the other.

Sections 2.2 and 2.3 of [Antoniou22] as simulations, with what their text leaves open named:

- `unconditional`: the targets come from all D records; one outside the leak is never identified
  (the average of section 2.2 step 3 runs over all D patients, r = 0 outside the leak).
- `from the leak`: the targets come from the leak, as the paper's simulation of many targets has
  it.  That conditions on membership: multiply by L(L-1).../(D(D-1)...) to compare.

Members of a class are alike, so the leaked ones may be called 0..h-1 once h is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge
from reidbn.theory.circle import Classes, Floats

_HELD = 4_000_000
_MOST_CLASSES = 20_000_000
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Runs:
    """What came out: identified targets per run, and the product of the guesses' chances."""

    identified: Ints  # number of targets identified, per run
    chance: Floats  # probability that all are, given the run's leak and targets


def act_out(
    classes: Classes,
    leaked: int,
    targets: int,
    runs: int,
    rng: np.random.Generator,
    *,
    from_leak: bool,
    removed: bool = True,
) -> Runs:
    """Simulate that many leaks, each with its own targets.

    >>> rng = np.random.default_rng(1)
    >>> pairs = Classes(np.array([2]), np.array([3]))
    >>> runs = act_out(pairs, 4, 2, 100_000, rng, from_leak=False)
    >>> round(float((runs.identified == 2).mean()), 2)  # exactly 0.2133
    0.21
    """
    total = int(classes.counts.sum())
    if total > _MOST_CLASSES:
        raise TooLarge(f"{total:,} classes are too many to act out; at most {_MOST_CLASSES:,}")
    story = _Story(np.repeat(classes.sizes, classes.counts), leaked, from_leak, removed)
    block = max(1, _HELD // total)
    parts = [story.act(targets, min(block, runs - first), rng) for first in range(0, runs, block)]
    identified = np.concatenate([part.identified for part in parts])
    return Runs(identified, np.concatenate([part.chance for part in parts]))


@dataclass(frozen=True)
class _Story:
    sizes: Ints  # one entry per class
    leaked: int
    from_leak: bool
    removed: bool

    def act(self, targets: int, runs: int, rng: np.random.Generator) -> Runs:
        in_leak = rng.multivariate_hypergeometric(self.sizes, self.leaked, size=runs)
        rows = np.arange(runs)
        seen = np.full((runs, targets), -1, dtype=np.int64)  # records, then their classes, so far
        class_of = np.full((runs, targets), -1, dtype=np.int64)
        hits = np.zeros((runs, targets), dtype=bool)
        chance = np.ones(runs)
        for t in range(targets):
            seen[:, t], member = self._target(seen[:, :t], in_leak, rng)
            c = class_of[:, t] = self._class(seen[:, t])
            alike = class_of[:, :t] == c[:, None]
            h = in_leak[rows, c]
            present = member < h
            gone = (alike & hits[:, :t]).sum(axis=1) if self.removed else 0
            hits[:, t] = present & (rng.random(runs) * (h - gone) < 1)
            # The chance that all are identified follows the branch where all before were.
            before = alike.sum(axis=1) if self.removed else 0
            chance *= np.where(present, 1 / np.maximum(h - before, 1), 0.0)
        return Runs(hits.sum(axis=1), chance)

    def _target(self, seen: Ints, in_leak: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """A record not seen before in its run, from D or from the leak, and its number in class."""
        record = np.empty(len(seen), dtype=np.int64)
        member = np.empty_like(record)
        todo = np.arange(len(seen))
        while todo.size:
            drawn = rng.integers(0, int(self.sizes.sum()), todo.size)
            c = self._class(drawn)
            number = drawn - self._first[c]
            good = ~(seen[todo] == drawn[:, None]).any(axis=1)
            if self.from_leak:
                good &= number < in_leak[todo, c]
            record[todo[good]], member[todo[good]] = drawn[good], number[good]
            todo = todo[~good]
        return record, member

    def _class(self, record: Ints) -> Ints:
        return np.asarray(np.searchsorted(self._last, record, side="right"))

    @cached_property
    def _last(self) -> Ints:
        return np.cumsum(self.sizes)

    @cached_property
    def _first(self) -> Ints:
        return self._last - self.sizes
