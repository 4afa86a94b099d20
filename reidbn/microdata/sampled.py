"""Subsets drawn at random where 2^b are too many: estimates with intervals.

T subsets are drawn from the attacker's distribution.  For one person, both 1(a = 1) and 1/a lie in
[0, 1], so with mean p their variance is at most p(1 - p), and Wilson's score interval [Wilson27]
for a share covers the mean of either at least about as often as it says:

    (p + z^2/2T +- z sqrt(p(1-p)/T + z^2/4T^2)) / (1 + z^2/T)                     (1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reidbn.errors import UsageError
from reidbn.microdata.classes import Floats, Ints
from reidbn.microdata.knowledge import Knowledge
from reidbn.microdata.subset_table import Progress, asked, progressing, tidy
from reidbn.microdata.table import People

if TYPE_CHECKING:
    import pandas as pd

_Z = 1.959963984540054  # 95 %


def wilson(mean: Floats, trials: int) -> tuple[Floats, Floats]:
    """95 % interval for the mean of values in [0, 1]: equation (1).

    >>> low, high = wilson(np.array([0.5]), 100)
    >>> float(low[0].round(4)), float(high[0].round(4))
    (0.4038, 0.5962)
    """
    share = _Z * _Z / trials
    middle = (mean + share / 2) / (1 + share)
    half = _Z * np.sqrt(mean * (1 - mean) / trials + share / (4 * trials)) / (1 + share)
    return np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)


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
    known = rng.random((samples, what.groups)) < what.probabilities
    masks = known.astype(np.int64) @ (1 << np.arange(what.groups, dtype=np.int64))
    return np.unique(masks, return_counts=True)


def sampled_people(
    people: People, what: Knowledge, *, samples: int, seed: int, progress: Progress | None
) -> pd.DataFrame:
    """Per person: `unique` and `mean_inverse`, estimated, each with `_low` and `_high`."""
    import pandas as pd

    masks, times = drawn(what, samples, seed)
    unique, inverse = np.zeros((2, len(people)))
    steps = progressing(progress, masks.size)
    for mask, draws in zip(masks.tolist(), times.tolist(), strict=True):
        next(steps, None)
        sizes = people.class_sizes(what.known_columns(mask))
        unique += draws * (sizes == 1)
        inverse += draws / sizes
    table = {}
    for name, total in (("unique", unique), ("mean_inverse", inverse)):
        mean = np.minimum(total / samples, 1.0)
        table[name] = mean
        table[f"{name}_low"], table[f"{name}_high"] = wilson(mean, samples)
    return pd.DataFrame(table)


def sampled_subsets(
    people: People, what: Knowledge, *, samples: int, seed: int, progress: Progress | None
) -> pd.DataFrame:
    """The table of subsets for the drawn ones only, with how often each was drawn."""
    masks, times = drawn(what, samples, seed)
    often = {what.subset(m): t for m, t in zip(masks.tolist(), times.tolist(), strict=True)}
    steps = progressing(progress, masks.size)
    table = tidy(people, what, asked(people, what, masks.tolist(), steps))
    table["draws"] = [often[subset] for subset in table["subset"]]
    return table
