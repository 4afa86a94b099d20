"""The table of subsets: classes, uniques, prior and posterior vulnerability, largest class.

Ways to the same numbers: the walk over the lattice where codes of groups are enough; one
partition after the other where people carry survey weights or only small subsets are wanted;
match masks or one question per subset where matching is not equality or histories are compared.

Subsets drawn at random where 2^b are too many: estimates with intervals.

T subsets are drawn from the attacker's distribution.  For one person 1(a = 1) is yes or no: its
mean has the exact binomial interval [ClopperPearson34].  1/a lies in (0, 1]: by Hoeffding's bound
[Hoeffding63] its mean p is, with probability at least 1 - delta, among those with

    T ( m ln(m/p) + (1-m) ln((1-m)/(1-p)) ) <= ln(2/delta),      m the mean drawn       (1)

Both cover the true mean at least as often as they say, whatever the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from reidbn.errors import TooLarge, UsageError
from reidbn.microdata.classes import Floats, Ints, totals
from reidbn.microdata.groups import group_rows, is_product, overlaps, reading_order
from reidbn.microdata.knowledge import Knowledge
from reidbn.microdata.lattice import Walk, refuse_many
from reidbn.microdata.masks import class_size_chunks
from reidbn.microdata.rows import DistinctRows
from reidbn.microdata.slab import every_subset
from reidbn.microdata.table import People

if TYPE_CHECKING:
    import pandas as pd


MOST_SUBSETS = 1 << 20
Progress = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class SubsetCounts:
    """One entry per visited subset, from the people's class sizes a and survey weights w."""

    masks: Ints
    uniques: Ints
    largest: Ints
    inverses: Floats
    """sum 1/a: the number of classes, where classes part the people."""
    weighted: Floats
    """sum w/a over sum w."""


@dataclass
class SubsetTally:
    """Subsets counted one by one."""

    entries: list[tuple[int, int, int, float, float]] = field(default_factory=list)

    def add(self, mask: int, sizes: Ints, people: Floats, weights: Floats | None) -> None:
        """Count one subset from distinct rows: class size, people and survey weight of each."""
        inverse = 1.0 / sizes
        total = float(people @ inverse)
        mean = total / int(people.sum())
        if weights is not None:
            mean = float(weights @ inverse) / float(weights.sum())
        uniques = int(np.count_nonzero(sizes == 1))
        self.entries.append((mask, uniques, int(sizes.max()), total, mean))

    def counted(self) -> SubsetCounts:
        masks, uniques, largest, inverses, weighted = zip(*self.entries, strict=True)
        return SubsetCounts(
            np.array(masks, dtype=np.int64),
            np.array(uniques, dtype=np.int64),
            np.array(largest, dtype=np.int64),
            np.array(inverses),
            np.array(weighted),
        )


def subset_table(
    people: People, what: Knowledge, *, most: int | None = None, progress: Progress | None = None
) -> pd.DataFrame:
    """Every non-empty subset of the groups (of at most `most`), small ones first."""
    if what.groups == 0:
        raise UsageError("there is no group of columns to know; name at least one")
    if most is not None and most < 1:
        raise UsageError(f"most = {most}; subsets of at least one group are wanted")
    counted = _counted(people, what, most, progress)
    return tidy(what, counted, records=len(people), parted=not overlaps(people, what))


def tidy(
    what: Knowledge, counted: SubsetCounts, *, records: int, parted: bool = True
) -> pd.DataFrame:
    """The counts as a table, in reading order."""
    import pandas as pd

    order = reading_order(counted.masks, what.groups)
    masks = counted.masks[order]
    whole = np.rint(counted.inverses[order]).astype(np.int64)
    # Where values may match several others there are no classes to count.
    unknown = np.ones(masks.size, dtype=bool)
    classes = whole if parted else pd.arrays.IntegerArray(whole, unknown)
    chance = {"chance": what.chances(masks)} if what.stated and what.probabilities.size else {}
    return pd.DataFrame(
        {
            "subset": pd.Series([what.subset(mask) for mask in masks.tolist()], dtype=object),
            "size": np.bitwise_count(masks).astype(np.int64),
            **chance,
            "classes": classes,
            "uniques": counted.uniques[order],
            "prior": np.full(masks.size, 1 / records),
            "posterior": counted.inverses[order] / records,
            "mean_inverse": counted.weighted[order],
            "largest": counted.largest[order],
        }
    )


def _counted(
    people: People, what: Knowledge, most: int | None, progress: Progress | None
) -> SubsetCounts:
    product = is_product(people, what)
    if most is None or most >= what.groups:
        refuse_many(what.groups)
        if product and people.weights is None:
            return walked(group_rows(people, what), progress)
        if not product:
            return _in_chunks(people, what, progress)
    number = sum(comb(what.groups, size) for size in range(1, (most or what.groups) + 1))
    if number > MOST_SUBSETS:
        raise TooLarge(
            f"{number} subsets of at most {most} of {what.groups} groups; "
            f"choose a smaller most= (at most {MOST_SUBSETS} subsets are counted)"
        )
    if product:
        return _parted(people, what, most, progressing(progress, number))
    chosen = (
        sum(1 << j for j in some)
        for size in range(1, min(most or what.groups, what.groups) + 1)
        for some in combinations(range(what.groups), size)
    )
    return asked(people, what, chosen, progressing(progress, number))


def progressing(progress: Progress | None, number: int) -> Iterator[None]:
    """Reports the share done each time it is advanced."""
    for done in range(number + 1):
        if progress is not None and done:
            progress(done / number)
        yield


def walked(rows: DistinctRows, progress: Progress | None) -> SubsetCounts:
    """All subsets by one walk over the lattice."""
    walk = Walk(rows, progress=progress)
    walk.run()
    classes = walk.classes[1:].astype(np.float64)
    masks = np.arange(1, classes.size + 1)
    return SubsetCounts(masks, walk.uniques[1:], walk.largest[1:], classes, classes / rows.total)


def _parted(
    people: People, what: Knowledge, most: int | None, steps: Iterator[None]
) -> SubsetCounts:
    rows = group_rows(people, what)
    weights: Floats | None = None
    if people.weights is not None:
        weights = totals(rows.of_record, people.weights, rows.rows)
    return parted(rows, most, steps, weights)


def parted(
    rows: DistinctRows, most: int | None, steps: Iterator[None], weights: Floats | None = None
) -> SubsetCounts:
    """Subsets counted by their slabs, one after the other; weights are per distinct row."""
    tally = SubsetTally()
    for subset in every_subset(rows, most=most):
        next(steps, None)
        if subset.mask:
            tally.add(subset.mask, subset.row_sizes, rows.people, weights)
    return tally.counted()


def asked(
    people: People, what: Knowledge, masks: Iterable[int], steps: Iterator[None]
) -> SubsetCounts:
    """Subsets counted by asking the people for their class sizes, one subset after the other."""
    ones = np.ones(len(people))
    tally = SubsetTally()
    for mask in masks:
        next(steps, None)
        tally.add(mask, people.class_sizes(what.known_columns(mask)), ones, people.weights)
    return tally.counted()


def _in_chunks(people: People, what: Knowledge, progress: Progress | None) -> SubsetCounts:
    subsets = 1 << what.groups
    uniques, largest = np.zeros((2, subsets), dtype=np.int64)
    inverses, weighted = np.zeros((2, subsets))
    weights = np.ones(len(people)) if people.weights is None else people.weights
    for records, sizes in class_size_chunks(people, what):
        uniques += np.count_nonzero(sizes == 1, axis=0)
        np.maximum(largest, sizes.max(axis=0), out=largest)
        inverses += (1.0 / sizes).sum(axis=0)
        weighted += weights[records] @ (1.0 / sizes)
        if progress is not None:
            progress(records.stop / len(people))
    masks = np.arange(1, subsets)
    mean = weighted[1:] / weights.sum()
    return SubsetCounts(masks, uniques[1:], largest[1:], inverses[1:], mean)


# -- subsets drawn at random where 2^b are too many ------------------------------------------------


_MISS = 0.05  # of the intervals may miss


def binomial_interval(hits: Ints, trials: int) -> tuple[Floats, Floats]:
    """95 % interval for a share [ClopperPearson34].

    >>> low, high = binomial_interval(np.array([5]), 10)
    >>> float(low[0].round(4)), float(high[0].round(4))
    (0.1871, 0.8129)
    """
    from scipy.special import betaincinv

    count = np.arange(trials + 1)
    low, high = np.zeros(trials + 1), np.ones(trials + 1)
    low[1:] = betaincinv(count[1:], trials - count[1:] + 1, _MISS / 2)
    high[:-1] = betaincinv(count[:-1] + 1, trials - count[:-1], 1 - _MISS / 2)
    return low[hits], high[hits]


def bounded_interval(mean: Floats, trials: int) -> tuple[Floats, Floats]:
    """95 % interval for the mean of values in [0, 1]: equation (1), by halving.

    >>> low, high = bounded_interval(np.array([0.5]), 100)
    >>> float(low[0].round(4)), float(high[0].round(4))
    (0.3667, 0.6333)
    """
    room = np.log(2 / _MISS) / trials
    return _edge(mean, room, np.zeros_like(mean)), _edge(mean, room, np.ones_like(mean))


def _edge(mean: Floats, room: float, far: Floats) -> Floats:
    """The farthest p between the mean and `far` that (1) still allows, rounded outwards."""
    from scipy.special import rel_entr

    near = mean.copy()
    for _ in range(40):
        p = (near + far) / 2
        inside = rel_entr(mean, p) + rel_entr(1 - mean, 1 - p) <= room
        near, far = np.where(inside, p, near), np.where(inside, far, p)
    return far


def drawn(what: Knowledge, samples: int, seed: int) -> tuple[Ints, Ints]:
    """Distinct subsets among `samples` draws, and how often each came."""
    if samples < 1:
        raise UsageError(f"samples = {samples}; draw at least one subset")
    if not what.is_shared:
        raise UsageError(
            "the probabilities differ between people, so no subset is drawn for all; "
            "give one probability per group, or use at most 20 groups and no draws="
        )
    rng = np.random.default_rng(seed)
    chances = what.probabilities
    if what.kinds is not None:
        chances = chances[rng.choice(what.kinds.size, samples, p=what.kinds / what.kinds.sum())]
    known = rng.random((samples, what.groups)) < chances
    if what.listed is not None:
        known &= (rng.random(samples) < what.listed)[:, None]
    masks = known.astype(np.int64) @ (1 << np.arange(what.groups, dtype=np.int64))
    return np.unique(masks, return_counts=True)


def sampled_people(
    people: People, what: Knowledge, *, samples: int, seed: int, progress: Progress | None
) -> pd.DataFrame:
    """Per person: `unique` and `mean_inverse`, estimated, each with `_low` and `_high`."""
    import pandas as pd

    masks, times = drawn(what, samples, seed)
    hits = np.zeros(len(people), dtype=np.int64)
    inverse = np.zeros(len(people))
    steps = progressing(progress, masks.size)
    for mask, draws in zip(masks.tolist(), times.tolist(), strict=True):
        next(steps, None)
        sizes = people.class_sizes(what.known_columns(mask))
        hits += draws * (sizes == 1)
        inverse += draws / sizes
    mean = np.minimum(inverse / samples, 1.0)
    unique_low, unique_high = binomial_interval(hits, samples)
    mean_low, mean_high = bounded_interval(mean, samples)
    return pd.DataFrame(
        {
            "unique": hits / samples,
            "unique_low": unique_low,
            "unique_high": unique_high,
            "mean_inverse": mean,
            "mean_inverse_low": mean_low,
            "mean_inverse_high": mean_high,
        }
    )


def sampled_subsets(
    people: People, what: Knowledge, *, samples: int, seed: int, progress: Progress | None
) -> pd.DataFrame:
    """The table of subsets for the drawn ones only, with how often each was drawn."""
    masks, times = drawn(what, samples, seed)
    often = {what.subset(m): t for m, t in zip(masks.tolist(), times.tolist(), strict=True)}
    steps = progressing(progress, masks.size)
    counted = asked(people, what, masks.tolist(), steps)
    table = tidy(what, counted, records=len(people), parted=not overlaps(people, what))
    table["draws"] = [often[subset] for subset in table["subset"]]
    return table
