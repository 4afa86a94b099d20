"""Synthetic patients: adults drawn one attribute after another from published shares.

    state, group -> age -> sex -> education -> marital -> work -> income -> tenure
    group, age -> birth_country          age, sex -> diagnosis

Each arrow is one small table in `shares` with its source.  Nobody in the table exists; what
holds for it holds for no real person, but how unique its people are is like the real thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import refuse_outside, typed
from reidbn.datasets import shares
from reidbn.limits import MOST_DRAWS

if TYPE_CHECKING:
    import pandas as pd

Ints = NDArray[np.int64]


@typed
def synthetic_patients(n: int = 10_000, seed: int = 1) -> pd.DataFrame:
    """A table of n made-up adult patients: thirteen columns, one row each.

    `seed` gives other people.

    >>> synthetic_patients(3, seed=7).columns.tolist()[:6]
    ['patient_id', 'age', 'sex', 'state', 'race', 'ethnicity']
    """
    refuse_outside("n", n, least=1, most=MOST_DRAWS)
    import pandas as pd

    rng = np.random.default_rng(seed)
    codes = _drawn(rng, n)
    values: dict[str, Any] = {"patient_id": rng.permutation(n) + 100_000_001}
    values["age"] = codes.pop("age").astype(np.int16)
    for name, labels in _labels().items():
        values[name] = pd.Categorical.from_codes(codes[name], pd.Index(list(labels)))
    return pd.DataFrame(values)


def _labels() -> dict[str, tuple[str, ...]]:
    return {
        "sex": shares.SEXES,
        "state": shares.STATES,
        "race": shares.RACES,
        "ethnicity": ("not Hispanic", "Hispanic"),
        "education": shares.EDUCATION,
        "marital": shares.MARITAL,
        "work": shares.WORK,
        "income": shares.INCOME,
        "tenure": shares.TENURE,
        "birth_country": _countries(),
        "diagnosis": shares.DIAGNOSES,
    }


def _drawn(rng: np.random.Generator, n: int) -> dict[str, Ints]:
    """Codes of every attribute, each drawn given those before it."""
    place = _pick(rng, shares.STATE_AND_GROUP, np.zeros(n, dtype=np.int64))
    state, group = np.divmod(place, len(shares.GROUPS))
    hispanic = group == shares.GROUPS.index("Hispanic")
    of_hispanic = _pick(rng, shares.RACE_OF_HISPANIC, np.zeros(n, dtype=np.int64))
    race = np.where(hispanic, of_hispanic, np.minimum(group, len(shares.RACES) - 1))
    band = _pick(rng, shares.BAND, group)
    age = _ages(rng, band)
    sex = _pick(rng, shares.SEX, band)
    education = _pick(rng, shares.SCHOOL, group, band)
    schooling = np.array(shares.SCHOOLING)[education]
    marital = _pick(rng, shares.MARRIAGE, sex, band, group)
    married = (marital == 0).astype(np.int64)
    work = _pick(rng, shares.JOB, sex, band, schooling)
    working = np.array(shares.WORKING)[work]
    third = np.searchsorted([35, 65], age, side="right")
    income = _pick(rng, shares.EARNING, schooling, working, married, third)
    tenure = _pick(rng, shares.HOME, band, income, married)
    return {
        "age": age,
        "sex": sex,
        "state": state,
        "race": race,
        "ethnicity": hispanic.astype(np.int64),
        "education": education,
        "marital": marital,
        "work": work,
        "income": income,
        "tenure": tenure,
        "birth_country": _born(rng, group, band),
        "diagnosis": _pick(rng, shares.ILLNESS, sex, band),
    }


def _pick(rng: np.random.Generator, table: NDArray[np.float64], *given: Ints) -> Ints:
    """For each person a state of the table's last axis, from the row that is given.

    One search for all: row r's cumulated shares lie between r and r + 1.
    """
    width = table.shape[-1]
    rows = table.reshape(-1, width)
    row = np.zeros(given[0].size, dtype=np.int64)
    if table.ndim > 1:
        row = np.ravel_multi_index(given, table.shape[:-1])
    ends = np.cumsum(rows, axis=1)
    ends[:, -1] = 1.0
    ends += np.arange(len(rows))[:, None]
    drawn = np.searchsorted(ends.ravel(), row + rng.random(row.size), side="right")
    # A sum rounded up to the next whole number would land in the next row.
    state: Ints = np.minimum(drawn - row * width, width - 1)
    return state


def _ages(rng: np.random.Generator, band: Ints) -> Ints:
    """A single year of age within each band, by the share of every year."""
    ages = np.arange(shares.BANDS[0], shares.BANDS[0] + shares.AGE.size)
    inside = np.searchsorted(shares.BANDS, ages, side="right") - 1
    table = np.where(inside == np.arange(len(shares.BANDS))[:, None], shares.AGE, 0.0)
    year = _pick(rng, table / table.sum(axis=1, keepdims=True), band)
    return np.asarray(ages[year], dtype=np.int64)


def _countries() -> tuple[str, ...]:
    abroad = sorted({name for counts in shares.COUNTRIES for name in counts})
    return ("United States", *abroad)


def _born(rng: np.random.Generator, group: Ints, band: Ints) -> Ints:
    names = _countries()
    counts = np.array([[own.get(name, 0) for name in names] for own in shares.COUNTRIES], float)
    where: Ints = _pick(rng, counts / counts.sum(axis=1, keepdims=True), group)
    abroad = _pick(rng, shares.ABROAD, group, band)
    return where * abroad
