"""Rehearsal: the model on a part of the table, to predict the table, whose uniques are known.

If Pitman's model misses the table from a part of it, it will miss the population from the table.
On real tables with a quarter or more of the population the two misses went together
(docs/population.md); in small tables the rehearsal is mostly noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reidbn.calls import refuse_outside, renamed, typed
from reidbn.errors import UsageError
from reidbn.limits import MOST_ROUNDS
from reidbn.population.pitman import PitmanFit, fit_pitman
from reidbn.theory.frequencies import FrequencyTable
from reidbn.written import counted

SMALLEST_PART = 60


@dataclass(frozen=True)
class Rehearsal:
    """Uniques of the table: predicted from parts of it, and counted."""

    part: int
    """People in each part."""
    predicted: tuple[float, ...]
    held: int
    """In how many of the parts the 95 % prediction interval held the count."""
    counted: int

    @property
    def ratio(self) -> float:
        """Mean prediction over the count; above 1 the model promises too many uniques."""
        return float(np.mean(self.predicted)) / max(self.counted, 1)

    def __repr__(self) -> str:
        return (
            f"<Rehearsal from {len(self.predicted)} parts of {self.part:,}: "
            f"{np.mean(self.predicted):,.1f} uniques predicted, {self.counted:,} counted "
            f"(ratio {self.ratio:.2f}), {counted(self.held, 'interval')} held the count>"
        )


@renamed(repeats="draws")
@typed
def rehearse(
    fit: PitmanFit, *, fraction: float | None = None, draws: int = 5, seed: int = 0
) -> Rehearsal:
    """Predict this table's own uniques from parts of it, to see whether the model suits it.

    `fit` is the estimate, `fraction` the share of the table in a part: by default that of the table
    in the population, but at least a tenth and 60 people, below which a part says little. So many
    `draws` of parts are made from `seed`.
    """
    n, table = fit.n, fit.sample.table
    if fraction is not None:
        refuse_outside("fraction", fraction, least=0, most=1)
    refuse_outside("draws", draws, least=1, most=MOST_ROUNDS)
    share = max(fit.sampling_fraction, 0.1, SMALLEST_PART / n) if fraction is None else fraction
    part = round(share * n)
    if not 2 <= part < n or (fraction is None and part > n / 2 and fit.sampling_fraction < 0.5):
        raise UsageError(f"a table of {n} people is too small to be predicted from a part of it")
    rng = np.random.default_rng(seed)
    classes = np.repeat(table.sizes, table.counts)
    predicted, held = [], 0
    for _ in range(draws):
        left = rng.multivariate_hypergeometric(classes, part, method="marginals")
        sizes, counts = np.unique(left[left > 0], return_counts=True)
        smaller = replace(
            fit.sample, table=FrequencyTable.of(sizes, counts), N=n, people=None, columns=(),
            register=None,
        )  # fmt: skip
        again = fit_pitman(smaller, model=fit.model)
        predicted.append(again.expected_uniques)
        low, high = again.prediction_interval()
        held += low <= fit.uniques <= high
    return Rehearsal(part, tuple(predicted), held, fit.uniques)
