"""How uniqueness falls as the population behind the table grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from reidbn.calls import refuse_misfit, typed
from reidbn.errors import UsageError
from reidbn.population.pitman import PitmanFit, check_level
from reidbn.theory.pitman import stays_unique

if TYPE_CHECKING:
    import pandas as pd


@typed
def uniqueness_curve(
    fit: PitmanFit, fractions: Sequence[float] | None = None, *, level: float = 0.95
) -> pd.DataFrame:
    """P(unique in the population | unique in the table) by sampling fraction, with its band.

    The table stays; only the population behind it changes.  The band is the central interval of
    the posterior.  Columns: fraction, population, p_unique, low, high.

    `fit` is Pitman's fit, `fractions` are the sampling fractions, `level` is that of the band.
    """
    import pandas as pd

    check_level(level)
    if fractions is None:
        smallest = min(1e-5, fit.sampling_fraction / 10)
        fractions = np.geomspace(smallest, 1.0, 61).tolist()
    refuse_misfit("uniqueness_curve", "fractions", fractions, ArrayLike)
    share = np.asarray(fractions, dtype=np.float64)
    if not ((share > 0) & (share <= 1)).all():
        raise UsageError("a sampling fraction is not in (0, 1]")
    N = np.maximum(np.rint(fit.n / share), fit.n)
    point, grid = fit.nodes, fit.posterior
    at_point = stays_unique(fit.n, N[:, None], theta=point.theta, alpha=point.alpha)
    on_grid = np.asarray(stays_unique(fit.n, N[:, None], theta=grid.theta, alpha=grid.alpha))
    tail = (1 - level) / 2
    return pd.DataFrame(
        {
            "fraction": share,
            "population": N.astype(np.int64),
            "p_unique": np.asarray(at_point) @ point.weight,
            "low": [grid.quantile(row, tail) for row in on_grid],
            "high": [grid.quantile(row, 1 - tail) for row in on_grid],
        }
    )
