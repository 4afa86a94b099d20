"""Subsets drawn at random where 2^b are too many: estimates with intervals.

T subsets are drawn from the attacker's distribution.  For one person 1(a = 1) is yes or no: its
mean has the exact binomial interval [ClopperPearson34].  1/a lies in (0, 1]: by Hoeffding's bound
[Hoeffding63] its mean p is, with probability at least 1 - delta, among those with

    T ( m ln(m/p) + (1-m) ln((1-m)/(1-p)) ) <= ln(2/delta),      m the mean drawn       (1)

Both cover the true mean at least as often as they say, whatever the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reidbn.errors import UsageError
from reidbn.microdata.classes import Floats, Ints
from reidbn.microdata.knowledge import Knowledge, overlaps
from reidbn.microdata.subset_table import Progress, asked, progressing, tidy
from reidbn.microdata.table import People

if TYPE_CHECKING:
    import pandas as pd

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
            "give one probability per group, or use at most 20 groups and no samples="
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
