"""Noise on a sparse table: numbers, years and dates that are released a little off.

Each cell is moved by itself, evenly within its reach: a number by a share of itself, a year or a
date by so many years.  What people know of each other stays what it was; the noise is known to be
there, so that a fact fits every cell that noise may have made out of it, the person's own for sure.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from fractions import Fraction
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import refuse_outside, typed
from reidbn.errors import UsageError
from reidbn.limits import MOST_CHECKED
from reidbn.microdata.columns import object_array
from reidbn.microdata.kinds import DATE, NUMBER, YEAR
from reidbn.microdata.sparse import Sparse

NOISY = (NUMBER, YEAR, DATE)
_DAYS = Fraction(1461, 4)  # in a year


@typed
def noisy(sparse: Sparse, share: float = 0.2, *, years: float = 0, seed: int = 0) -> Sparse:
    """The table as it is released with noise on its numbers, years and dates.

    Every number of `sparse` is moved by at most a `share` of itself (0 stays 0), every year and
    date by at most so many `years`, evenly and by itself; `seed` draws how far.  Other values stay.
    Whoever looks in it knows the values as they were, and that there is noise.

    >>> from reidbn.microdata.sparse import read_sparse
    >>> table = read_sparse({"weight": [60, 80, None], "smokes": ["yes", "no", "no"]})
    >>> off = table.noisy(0.1)
    >>> [bool(54 <= off.labels[0][0] <= 66), off.labels[1].tolist(), off.truth is table]
    [True, [False, True], True]
    """
    refuse_outside("share", share, least=0, most=0.9)
    refuse_outside("years", years, least=0, most=100)
    refuse_outside("seed", seed, least=0, most=MOST_CHECKED)
    if sparse.truth is not None:
        raise UsageError("the table has noise already; add it once, to the table as it was read")
    labels, codes = list(sparse.labels), sparse.codes.copy()
    for j, one in enumerate(sparse.schema):
        # each feature's own: its noise is the same whatever is left out, or coarse, beside it
        rng = np.random.default_rng((seed, 3, crc32(one.name.encode())))
        here = slice(sparse.start[j], sparse.start[j + 1])
        if (
            one.kind not in NOISY
            or not sparse.labels[j].size
            or not (share, years)[one.kind != NUMBER]
        ):
            continue
        moved = _moved(one.kind, sparse.labels[j][codes[here]], share, years, rng)
        found, where = np.unique(moved, return_inverse=True)
        labels[j], codes[here] = object_array(found.tolist()), where.astype(np.int32)
    note = "numbers, years and dates are released with noise; a fact fits what noise may have made"
    return replace(
        sparse, labels=tuple(labels), codes=codes, truth=sparse,
        noise=(float(share), float(years)), noise_seed=seed, notes=(*sparse.notes, note),
    )  # fmt: skip


def _moved(
    kind: str, values: NDArray[Any], share: float, years: float, rng: np.random.Generator
) -> NDArray[Any]:
    """Values after noise, each within its reach."""
    if kind == NUMBER:
        true = values.astype(np.float64)
        return np.asarray(true + true * rng.uniform(-share, share, len(values)))
    if kind == YEAR:
        most = int(years)
        return np.asarray(values.astype(np.int64) + rng.integers(-most, most + 1, len(values)))
    most = int(Fraction(str(years)) * _DAYS)
    days = [value.toordinal() for value in values.tolist()]
    moved = np.clip(np.array(days) + rng.integers(-most, most + 1, len(days)), 1, None)
    return object_array([datetime.date.fromordinal(int(day)) for day in moved])
