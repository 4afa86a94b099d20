"""A rounded two-way table whose margins are the rounded counts that are told elsewhere.

Cells rounded each on their own would not add up to the margins of the one-way tables, and the
difference would tell small cells.  Here every cell is a multiple of the base, the sums are exactly
the margins, and the cells are as near to the counts as that allows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def fitted_table(
    counts: NDArray[np.int64], rows: Sequence[int], columns: Sequence[int], base: int
) -> NDArray[np.int64]:
    """Multiples of the base nearest to the counts, with these margins (which share one sum).

    >>> fitted_table(np.array([[3, 52], [61, 74]]), [60, 130], [60, 130], 10).tolist()
    [[0, 60], [60, 70]]
    """
    from scipy.optimize import linprog

    shape = counts.shape
    target = counts.ravel() / base
    size = target.size
    # Whole cells x, and slack s >= |x - target|; minimise the slack.
    which = np.arange(size).reshape(shape)
    sums = np.zeros((sum(shape), 2 * size))
    for i in range(shape[0]):
        sums[i, which[i]] = 1
    for j in range(shape[1]):
        sums[shape[0] + j, which[:, j]] = 1
    wanted = np.concatenate([rows, columns]) / base
    eye = np.eye(size)
    near = np.block([[eye, -eye], [-eye, -eye]])
    found = linprog(
        np.concatenate([np.zeros(size), np.ones(size)]),
        A_ub=near,
        b_ub=np.concatenate([target, -target]),
        A_eq=sums,
        b_eq=wanted,
        integrality=np.concatenate([np.ones(size), np.zeros(size)]),
    )
    return np.asarray(base * np.rint(found.x[:size]).astype(np.int64).reshape(shape))
