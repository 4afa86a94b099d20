"""The recursion of [Antoniou22] section 2.3 for many targets: close, but not exact.

After an identification the rest of the leak is treated as a fresh leak of L - 1 among D - 1:

    P_n(classes, L) = sum_k (k a_k / D) (1/k)(1 - P(H = 0)) P_{n-1}(classes with one k -> k-1, L-1)

with a_k classes of size k, chosen with the weight of their patients (equation (8) of the paper;
its equation (10) prints the weight of the classes, a slip).  It forgets what the first
identification tells about the class: few leaked members made it likelier.  Exact for one target,
for L = D and for classes of one; otherwise off in either direction.

The leak acted out: draw the targets, draw the leak, guess them one after the other.

Sections 2.2 and 2.3 of [Antoniou22] as simulations, with what their text leaves open named:

- `unconditional`: the targets come from all D records; one outside the leak is never identified
  (the average of section 2.2 step 3 runs over all D patients, r = 0 outside the leak).
- `from the leak`: the targets come from the leak, as the paper's simulation of many targets has
  it.  That conditions on membership: multiply by L(L-1).../(D(D-1)...) to compare.

Only the targets' classes are drawn, one after the other, each from what the classes before have
left of the leak: nobody asks about the others, so a run costs the same in a table of any size.
Members of a class are alike, so the leaked ones may be called 0..h-1 once h is drawn.

That all are identified is far too rare to be counted, and a mean of small and of rare large chances
has no honest interval.  But the orders of the targets cancel the guesses (see `targets`): with C
classes, and a class for each target drawn uniformly among these instead of by its people,

    P(all) = C^n / D (D-1) ... (D-n+1)  P(every class has at least as many leaked as were drawn) (1)

and the last is a share of runs, with the exact interval of one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge
from reidbn.theory.circle import Classes, Floats
from reidbn.theory.hypergeometric import log_none_leaked

_MOST_STATES = 500_000


def log_recursion(classes: Classes, leaked: NDArray[np.int64], targets: int) -> Floats:
    """Log of the recursion's P_n for each leak size, states remembered.

    A state is how many classes there are of each size that can be reached.

    >>> classes = Classes(np.array([2]), np.array([3]))
    >>> np.exp(log_recursion(classes, np.array([4, 6]), 2)).round(6).tolist()
    [0.224, 0.3]
    """
    D = classes.records
    sizes = sorted({int(k) - m for k in classes.sizes for m in range(targets + 1) if k > m})
    at = {size: i for i, size in enumerate(sizes)}
    start = np.zeros(len(sizes), dtype=np.int64)
    start[[at[int(k)] for k in classes.sizes]] = classes.counts
    states: dict[tuple[int, ...], Floats] = {tuple(start.tolist()): np.zeros(leaked.shape)}
    for step in range(targets):
        log_hit = _log_hit(D - step, leaked - step, sizes)
        following: dict[tuple[int, ...], Floats] = {}
        for state, log_p in states.items():
            for i, count in enumerate(state):
                if count:
                    new = _one_smaller(state, i, at.get(sizes[i] - 1))
                    term = log_p + log_hit[i] + np.log(count)
                    old = following.get(new)
                    following[new] = term if old is None else np.logaddexp(old, term)
        if len(following) > _MOST_STATES:
            raise TooLarge(
                f"the recursion for {targets} targets meets more than {_MOST_STATES:,} states of "
                'the classes; method="exact" needs none of them'
            )
        states = following
    return np.asarray(np.logaddexp.reduce(list(states.values()), axis=0))


def _log_hit(D: int, leaked: NDArray[np.int64], sizes: list[int]) -> Floats:
    """Log of (1 - P(H = 0)) / D for each size and leak size; impossible states get -inf."""
    k = np.array(sizes)[:, None]
    possible = (leaked >= 1) & (k <= D)
    some = -np.expm1(log_none_leaked(D, np.clip(leaked, 0, D), np.minimum(k, D)))
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(possible, np.log(some) - np.log(D), -np.inf))


def _one_smaller(state: tuple[int, ...], i: int, below: int | None) -> tuple[int, ...]:
    new = list(state)
    new[i] -= 1
    if below is not None:
        new[below] += 1
    return tuple(new)


# -- the leak acted out ----------------------------------------------------------------------------


_HELD = 4_000_000
_MOST_RECORDS = 1_000_000_000  # NumPy's hypergeometric sampler stops here
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
    if classes.records >= _MOST_RECORDS:
        raise TooLarge(
            f"{classes.records:,} records are too many to act out; 1e9 is the limit: ask for "
            f'method="exact"'
        )
    block = max(1, _HELD // (targets * targets))
    parts = []
    for first in range(0, runs, block):
        story = _LeakStory.drawn(classes, leaked, targets, min(block, runs - first), rng, from_leak)
        parts.append(story.guess(rng, removed=removed))
    identified = np.concatenate([part.identified for part in parts])
    return Runs(identified, np.concatenate([part.chance for part in parts]))


def share_with_room(
    classes: Classes,
    leaked: int,
    targets: int,
    runs: int,
    rng: np.random.Generator,
    *,
    removed: bool = True,
) -> int:
    """How many of the runs had room for all: the event of equation (1).

    Without `removed`, each target also names one of the leaked of its class, and all must differ.
    """
    if classes.records >= _MOST_RECORDS:
        raise TooLarge(
            f"{classes.records:,} records are too many to act out; 1e9 is the limit: ask for "
            f'method="exact"'
        )
    block, hits = max(1, _HELD // (targets * targets)), 0
    number = int(classes.counts.sum())
    last = np.cumsum(classes.counts)
    for first in range(0, runs, block):
        here = min(block, runs - first)
        class_of = rng.integers(0, number, (here, targets))
        size = classes.sizes[np.searchsorted(last, class_of, side="right")]
        class_leaked = _leaked_of(class_of, size, classes.records, leaked, rng)
        alike = class_of[:, :, None] == class_of[:, None, :]
        fits = (alike.sum(axis=2) <= class_leaked).all(axis=1)
        if not removed:
            named = np.floor(rng.random(class_of.shape) * class_leaked)
            same = (alike & (named[:, :, None] == named[:, None, :])).sum(axis=(1, 2))
            fits &= same == targets
        hits += int(fits.sum())
    return hits


def _leaked_of(
    class_of: Ints, size: Ints, records: int, leaked: int, rng: np.random.Generator
) -> Ints:
    """How many of each target's class leaked, one class after the other from what is left."""
    runs, targets = class_of.shape
    out = np.zeros_like(class_of)
    rest, left = np.full(runs, records), np.full(runs, leaked)
    for t in range(targets):
        alike = class_of == class_of[:, [t]]
        new = ~alike[:, :t].any(axis=1)
        other = np.where(new, size[:, t], 0)
        h = rng.hypergeometric(other, rest - other, left)
        rest, left = rest - other, left - h
        copied = np.take_along_axis(out, alike.argmax(axis=1)[:, None], 1)[:, 0]
        out[:, t] = np.where(new, h, copied)
    return out


@dataclass(frozen=True)
class _LeakStory:
    """The targets of some runs, runs x targets: class, leaked of the class, in the leak or not."""

    class_of: Ints
    class_leaked: Ints
    present: NDArray[np.bool_]

    @classmethod
    def drawn(
        cls,
        classes: Classes,
        leaked: int,
        targets: int,
        runs: int,
        rng: np.random.Generator,
        from_leak: bool,  # noqa: FBT001
    ) -> _LeakStory:
        """Draw targets among all records, then as much of the leak as concerns them.

        From the leak: the targets are in it, and what is left of it is a leak of the others.
        """
        record = _distinct(classes.records, runs, targets, rng)
        class_of, size, member = _places(classes, record)
        class_leaked = np.zeros_like(record)
        rest = np.full(runs, classes.records - targets * from_leak)
        left = np.full(runs, leaked - targets * from_leak)
        for t in range(targets):
            alike = class_of == class_of[:, [t]]
            new = ~alike[:, :t].any(axis=1)
            own = alike.sum(axis=1) if from_leak else 0
            other = np.where(new, size[:, t] - own, 0)
            h = rng.hypergeometric(other, rest - other, left)
            rest, left = rest - other, left - h
            copied = np.take_along_axis(class_leaked, alike.argmax(axis=1)[:, None], 1)[:, 0]
            class_leaked[:, t] = np.where(new, h + own, copied)
        present = np.ones_like(alike) if from_leak else member < class_leaked
        return cls(class_of, class_leaked, present)

    def guess(self, rng: np.random.Generator, *, removed: bool) -> Runs:
        """Look for the targets one after the other among the leaked of their class."""
        runs, targets = self.class_of.shape
        hits = np.zeros((runs, targets), dtype=bool)
        chance = np.ones(runs)
        for t in range(targets):
            alike = self.class_of[:, :t] == self.class_of[:, [t]]
            h, present = self.class_leaked[:, t], self.present[:, t]
            gone = (alike & hits[:, :t]).sum(axis=1) if removed else 0
            hits[:, t] = present & (rng.random(runs) * (h - gone) < 1)
            # The chance that all are identified follows the branch where all before were.
            before = alike.sum(axis=1) if removed else 0
            chance *= np.where(present, 1 / np.maximum(h - before, 1), 0.0)
        return Runs(hits.sum(axis=1), chance)


def _distinct(records: int, runs: int, targets: int, rng: np.random.Generator) -> Ints:
    """Different records within each run, in random order."""
    drawn = np.full((runs, targets), -1, dtype=np.int64)
    for t in range(targets):
        todo = np.arange(runs)
        while todo.size:
            drawn[todo, t] = rng.integers(0, records, todo.size)
            todo = todo[(drawn[todo, :t] == drawn[todo, t][:, None]).any(axis=1)]
    return drawn


def _places(classes: Classes, record: Ints) -> tuple[Ints, Ints, Ints]:
    """The class of each record (numbered), its size, and the record's number within it.

    Records are numbered class by class, classes size by size.
    """
    block = np.cumsum(classes.sizes * classes.counts)
    which = np.searchsorted(block, record, side="right")
    size = classes.sizes[which]
    inside = record - (block - classes.sizes * classes.counts)[which]
    before = (np.cumsum(classes.counts) - classes.counts)[which]
    return before + inside // size, size, inside % size
