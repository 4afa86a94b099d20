"""No small counts in what leaves the house: a smallest cell, and a second one with it.

A count below the smallest cell is suppressed.  Where the total is known, one suppressed cell could
be worked out from the others, so the next smallest goes too (complementary suppression).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SMALLEST = 10


def suppressed(counts: Sequence[int], *, smallest: int = SMALLEST) -> list[int | None]:
    """Counts of a row whose total is known; None is suppressed, zeros stay.

    >>> suppressed([3, 40, 200, 0])
    [None, None, 200, 0]
    >>> suppressed([40, 200])
    [40, 200]
    """
    hidden = [0 < c < smallest for c in counts]
    if sum(hidden) == 1 or (any(hidden) and _told(counts, hidden) < smallest):
        left = [i for i, c in enumerate(counts) if c > 0 and not hidden[i]]
        if left:
            hidden[min(left, key=lambda i: (counts[i], i))] = True
    return [None if h else int(c) for c, h in zip(counts, hidden, strict=True)]


def _told(counts: Sequence[int], hidden: Sequence[bool]) -> int:
    """How many people stand behind the suppressed cells together: the total tells it."""
    return sum(c for c, h in zip(counts, hidden, strict=True) if h)


def suppressed_table(counts: NDArray[np.int64], *, smallest: int = SMALLEST) -> NDArray[np.object_]:
    """A two-way table with known margins: rows and columns are suppressed until none tells.

    >>> suppressed_table(np.array([[3, 50], [60, 70]])).tolist()
    [[None, None], [None, None]]
    """
    hidden = (counts > 0) & (counts < smallest)
    changed = True
    while changed:
        changed = False
        for axis in (0, 1):
            for i in range(counts.shape[axis]):
                row = np.take(counts, i, axis=axis)
                mask = np.take(hidden, i, axis=axis)
                if mask.sum() == 1 or 0 < row[mask].sum() < smallest:
                    left = np.flatnonzero((row > 0) & ~mask)
                    if left.size:
                        j = left[np.argmin(row[left])]
                        hidden[(i, j) if axis == 0 else (j, i)] = True
                        changed = True
    out = counts.astype(object)
    out[hidden] = None
    return out


def share(count: int, total: int, *, smallest: int = SMALLEST) -> str:
    """A share of people, unless it or its complement tells of fewer than the smallest cell.

    >>> share(1, 4000), share(400, 4000), share(3999, 4000), share(0, 4000)
    ('below 0.25 %', '10 %', 'above 99.8 %', '0 %')
    """
    edge = smallest / total
    if 0 < count < smallest:
        return f"below {100 * edge:.3g} %"
    if 0 < total - count < smallest:
        return f"above {100 * (1 - edge):.3g} %"
    return f"{100 * count / total:.3g} %"


def shown(count: int | None, *, smallest: int = SMALLEST) -> str:
    """A count for print.

    >>> shown(1200), shown(None)
    ('1,200', 'suppressed')
    """
    return "suppressed" if count is None else f"{count:,}"
