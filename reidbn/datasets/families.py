"""Made-up families, some of whom are in one table: own illnesses, and what is told of relatives.

Three children, two parents, four grandparents a family; of great-grandparents who are in no table
all tell the same.  Who is ill is drawn independently; what a
record tells of a relative goes through a channel: some illnesses are left out, ages are remembered
a little wrongly.  `.truth` says who is whose child, for those in the table and for those who are
not, so that an attack on relatives can be held against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import refuse_outside, typed
from reidbn.datasets.ehr import DISEASES, RELATIONS
from reidbn.limits import MOST_LISTED

if TYPE_CHECKING:
    import pandas as pd

Ints = NDArray[np.int64]
Yes = NDArray[np.bool_]
ROLES = (
    "child", "child", "child", "father", "mother", "paternal grandfather", "paternal grandmother",
    "maternal grandfather", "maternal grandmother",
)  # fmt: skip
_PREVALENCE = (0.25, 0.22, 0.12, 0.1, 0.08, 0.07, 0.06, 0.05, 0.08, 0.04, 0.03)
_OFTEN = (0.5, 0.5, 0.5, 1, 1, 1.6, 1.6, 1.6, 1.6)
_FATHER = (3, 3, 3, 5, 7, -1, -1, -1, -1)
_MOTHER = (4, 4, 4, 6, 8, -1, -1, -1, -1)
_GRANDPARENTS = slice(5, 9)
_OLDER = 8  # great-grandparents of a family: nobody's record, and told of by two generations
OUTSIDE = -1
_ONSET_KNOWN, _ONSET_TOLD, _FALSE = 0.9, 0.8, 0.005


@dataclass(frozen=True, eq=False)
class SyntheticFamilies:
    """A table of made-up people, its feature table, and who is whose child."""

    table: pd.DataFrame
    features: pd.DataFrame
    truth: pd.DataFrame
    """Everybody, in the table or not: person, family, role, row of the table (-1: not in it),
    father and mother (as persons; -1: nobody of these)."""


@dataclass(frozen=True)
class _Illness:
    """Who has which illness, from which age: people x illnesses; 0 where they have not."""

    onset: Ints

    def and_(self, others: _Illness) -> _Illness:
        """These people, and others after them."""
        return _Illness(np.vstack([self.onset, others.onset]))

    def of(self, who: Ints, strangers: _Illness) -> Ints:
        """The onsets of some people; of those outside (-1), drawn ones."""
        return np.where((who == OUTSIDE)[:, None], strangers.onset, self.onset[who])


@typed
def synthetic_families(
    families: int = 200,
    seed: int = 0,
    *,
    here: float = 0.8,
    in_release: float = 0.7,
    completeness: float = 0.9,
    told: float = 0.8,
    jitter: float = 1.0,
) -> SyntheticFamilies:
    """A table of people of so many made-up families: `.table`, `.features`, `.truth`.

    Of each family the first child is in the table; where the family goes to this hospital (`here`),
    so is each relative with the chance `in_release`.  A record tells of the family with the chance
    `told`; then of each illness with the chance `completeness`, ages off by `jitter` years
    (standard deviation).  `seed` gives other families.

    >>> found = synthetic_families(5, seed=1)
    >>> len(found.truth), found.table.shape[1] == len(found.features)
    (45, True)
    """
    refuse_outside("families", families, least=1, most=MOST_LISTED // len(ROLES))
    for name, chance in (("here", here), ("in_release", in_release), ("told", told),
                         ("completeness", completeness)):  # fmt: skip
        refuse_outside(name, chance, least=0, most=1)
    refuse_outside("jitter", jitter, least=0, most=20)
    import pandas as pd

    rng = np.random.default_rng(seed)
    role = np.tile(np.arange(len(ROLES)), families)
    first = np.repeat(np.arange(families) * len(ROLES), len(ROLES))
    father = _relative(first, np.array(_FATHER)[role])
    mother = _relative(first, np.array(_MOTHER)[role])
    born = _born(rng, families)
    female = np.where(role < 3, rng.random(role.size) < 0.5, np.isin(role, (4, 6, 8)))
    ill = _ill(rng, np.array(_OFTEN)[role], 2023 - born)
    in_table = np.repeat(rng.random(families) < here, len(ROLES))
    in_table &= rng.random(role.size) < in_release
    in_table |= role == 0
    rows = rng.permutation(np.flatnonzero(in_table))
    columns: dict[str, Any] = {
        "self: sex": np.where(female[rows], "female", "male").astype(object),
        "self: birth year": born[rows],
    }
    features = [
        {"feature": "self: sex", "kind": "category", "relation": "self", "field": "sex"},
        {"feature": "self: birth year", "kind": "year", "relation": "self", "field": "birth year"},
    ]
    everybody = np.ones(rows.size, dtype=bool)
    _told(columns, features, "self", ill.onset[rows], everybody, rng, (1.0, 0.0, 0.0, _ONSET_KNOWN))
    tells = rng.random(role.size)[rows] < told
    older = np.random.default_rng((seed, 1))
    many = families * _OLDER
    known = ill.and_(_ill(older, np.full(many, 1.6), older.integers(45, 90, many)))
    up = [_with_the_older(line, i) for i, line in enumerate((father, mother))]
    for relation in RELATIONS:
        strangers = _ill(rng, np.full(rows.size, 1.6 if "grand" in relation else 1.0),
                         rng.integers(45, 90, rows.size))  # fmt: skip
        onset = (
            _siblings(rows, first, role, ill, strangers)
            if relation == "siblings"
            else known.of(_ancestor(relation, rows, *up), strangers)
        )
        _told(columns, features, relation, onset, tells, rng,
              (completeness, _FALSE, jitter, _ONSET_TOLD))  # fmt: skip
    place = np.full(role.size, OUTSIDE)
    place[rows] = np.arange(rows.size)
    truth = pd.DataFrame({
        "person": np.arange(role.size), "family": first // len(ROLES),
        "role": np.array(ROLES, dtype=object)[role], "row": place,
        "father": father, "mother": mother,
    })  # fmt: skip
    listed = (
        pd.DataFrame(features)
        .fillna("")
        .assign(
            section=lambda t: np.where(t["relation"] == "self", "Own history", "Family History")
        )
    )
    return SyntheticFamilies(pd.DataFrame(columns), listed, truth)


def _relative(first: Ints, role: Ints) -> Ints:
    return np.where(role < 0, OUTSIDE, first + role)


def _with_the_older(line: Ints, which: int) -> Ints:
    """Everybody's father (0) or mother (1), grandparents' too; of those, nobody of the families."""
    found = line.reshape(-1, len(ROLES)).copy()
    families = np.arange(len(found))[:, None]
    found[:, _GRANDPARENTS] = line.size + _OLDER * families + 2 * np.arange(4) + which
    return np.concatenate([found.ravel(), np.full(_OLDER * len(found), OUTSIDE)])


def _born(rng: np.random.Generator, families: int) -> Ints:
    """Birth years: children 1975 to 2000, parents and grandparents before."""
    eldest = rng.integers(1975, 1995, families)
    child = eldest[:, None] + np.cumsum(rng.integers(1, 4, (families, 3)), axis=1) - 2
    parent = eldest[:, None] - rng.integers(22, 36, (families, 2))
    grand = np.repeat(parent, 2, axis=1) - rng.integers(20, 36, (families, 4))
    return np.hstack([rng.permuted(child, axis=1), parent, grand]).ravel().astype(np.int64)


def _ill(rng: np.random.Generator, often: NDArray[Any], age: Ints) -> _Illness:
    chance = np.minimum(np.outer(often, _PREVALENCE), 0.9)
    has = rng.random(chance.shape) < chance
    middle = np.minimum(50.0, 0.75 * age)[:, None]
    onset = np.clip(np.round(rng.normal(middle, 9.0, chance.shape)), 1, age[:, None])
    return _Illness(np.where(has, onset, 0).astype(np.int64))


def _ancestor(relation: str, who: Ints, father: Ints, mother: Ints) -> Ints:
    """The relative's number, person by person; -1 where it is nobody of the families."""
    steps = {"paternal": [father], "maternal": [mother]}.get(relation.split(" ")[0], [])
    steps = [*steps, father if relation.endswith("father") else mother]
    for step in steps:
        who = np.where(who == OUTSIDE, OUTSIDE, step[who])
    return who


def _siblings(who: Ints, first: Ints, role: Ints, ill: _Illness, strangers: _Illness) -> Ints:
    """The earliest onset among the other children; of parents' siblings, drawn ones."""
    found = strangers.onset.copy()
    for i, person in enumerate(who.tolist()):
        if role[person] < 3:
            others = [first[person] + k for k in range(3) if k != role[person]]
            onsets = np.where(ill.onset[others] == 0, 999, ill.onset[others]).min(axis=0)
            found[i] = np.where(onsets == 999, 0, onsets)
    return found


def _told(
    columns: dict[str, Any], features: list[dict[str, str]], relation: str, onset: Ints,
    tells: Yes, rng: np.random.Generator, channel: tuple[float, float, float, float],
) -> None:  # fmt: skip
    """What records tell of the illnesses of one relation, through the channel."""
    completeness, false, jitter, with_age = channel
    for d, disease in enumerate(DISEASES):
        true = onset[:, d] > 0
        says = rng.random(true.size) < np.where(true, completeness, false)
        age = np.where(true, onset[:, d], rng.integers(30, 75, true.size))
        age = np.maximum(np.round(age + rng.normal(0, 1, true.size) * jitter), 1).astype(np.int64)
        has = np.where(says, "yes", "no").astype(object)
        has[~tells] = None
        ages = age.astype(object)
        ages[~(tells & says & (rng.random(true.size) < with_age))] = None
        more = {"relation": relation, "disease": disease}
        columns[f"{relation}: {disease}"] = has
        columns[f"{relation}: {disease}, onset"] = ages
        features.append({"feature": f"{relation}: {disease}", "kind": "yes/no", **more,
                         "field": "has"})  # fmt: skip
        features.append({"feature": f"{relation}: {disease}, onset", "kind": "number", **more,
                         "field": "onset"})  # fmt: skip
