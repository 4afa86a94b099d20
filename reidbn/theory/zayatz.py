"""Zayatz's estimator: the table's class sizes taken for the population's [Zayatz91]."""

from __future__ import annotations

import numpy as np

from reidbn.theory.frequencies import FrequencyTable
from reidbn.theory.gamma import log_ratio


def zayatz(table: FrequencyTable, N: int) -> float:
    """P(unique in the population | unique in the table), 0 when nobody is unique in the table.

    With f_j classes of size j and h_j = j C(N-j, n-1)/C(N, n), the chance that exactly one
    of j is among the n drawn,

        P(F = 1 | f = 1) = (n/N) f_1 / sum_j f_j h_j                                      (1)

    Biased upwards at small sampling fractions, where the table's classes look smaller than
    the population's.

    >>> round(zayatz(FrequencyTable.of([1, 2, 3, 5], [812, 150, 60, 9]), 100_000), 9)
    0.612433922
    """
    if table.uniques == 0:
        return 0.0
    n, j = float(table.n), table.sizes.astype(np.float64)
    possible = j <= N - n + 1
    j, f = j[possible], table.counts[possible]
    # C(N-j, n-1)/C(N, n) = (n/N) prod_{i<j} (N-n-i+1)/(N-i)
    log_h = np.log(j) + log_ratio(N - n - j + 2, j - 1) - log_ratio(N - j + 1, j - 1)
    return float(table.uniques / (f @ np.exp(log_h)))
