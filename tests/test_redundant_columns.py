"""A column that is a function of others parts nobody, and no model counts it."""

import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn import population
from reidbn.microdata import People
from reidbn.theory import FrequencyTable, columns_kept, determined, smallest

N = 20_000
BASE = ["band", "home", "zip"]
MORE = {
    "copy": lambda f: "n" + f["zip"],
    "state": lambda f: "s" + f["zip"].str[1:].astype(int).mod(10).astype(str),
    "district": lambda f: (f["zip"].str[-1].astype(int) + f["home"].astype(int)) // 4,  # of two
}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    share = 1 / np.arange(1, 61) ** 0.7
    zips = rng.choice(60, 1_000, p=share / share.sum())
    found = pd.DataFrame({"zip": [f"z{v}" for v in zips], "band": rng.integers(0, 20, 1_000)})
    found["home"] = rng.integers(0, 6, 1_000).astype(str)
    return found.assign(**{name: make(found) for name, make in MORE.items()})


def of(frame, columns):
    return rb.read_table(frame[list(columns)], quasi_identifiers=list(columns))


@pytest.mark.parametrize("more", [["copy"], ["state"], ["copy", "state"], ["district"], [*MORE]])
def test_a_fit_leaves_it_out_and_says_so(frame, more):
    plain, fit = (
        population.fit(of(frame, columns), population=N, model="log-linear")
        for columns in (BASE, [*BASE, *more])
    )
    assert fit.expected_uniques == pytest.approx(plain.expected_uniques)
    assert fit.expected_match == pytest.approx(plain.expected_match)
    for name in ("p_unique", "mean_inverse"):
        assert fit.people[name].to_numpy() == pytest.approx(plain.people[name].to_numpy())
    assert any("a function of the other columns" in w for w in fit.warnings)
    assert not any("a function of" in w for w in plain.warnings)


def test_a_published_variant_has_every_column_as_published(frame):
    plain, fit = (
        population.fit(of(frame, c), population=N, model="log-linear", variant="default")
        for c in (BASE, [*BASE, "state"])
    )
    assert fit.expected_uniques > 1.2 * plain.expected_uniques


def test_an_attribute_and_its_copy_are_one_attribute(frame):
    table = population.compare(of(frame, ["zip", "copy", "state"]), population=N)
    assert table.loc[table["recommended"], "model"].item() == "pitman-bayes"
    said = table.loc[table["model"] == "log-linear", "remarks"].item()
    assert "one attribute" in said


def test_of_every_two_models_compared_none_counts_it(frame):
    told = [
        population.compare(of(frame, c), population=N).set_index("model")
        for c in (BASE, [*BASE, "copy", "state"])
    ]
    for model in ("log-linear", "structured"):
        one, other = (float(t.loc[model, "expected_uniques"]) for t in told)
        assert one == pytest.approx(other, rel=1e-9 if model == "log-linear" else 0.1)


@pytest.mark.parametrize(
    "groups", [[*BASE, "copy", "state"], [("zip", "home"), "copy", ("state", "band")]]
)
def test_an_assessment_leaves_it_out_on_every_subset(frame, groups):
    """A reader may know any columns: of each subset the population is as without the functions."""
    columns = [*BASE, "copy", "state"]
    people = of(frame, columns)
    known = dict.fromkeys(groups, 0.5)
    found = rb.assess("adversary-routes", people, population=N, known=known).population
    apart = dict.fromkeys(BASE, 0.5)
    plain = rb.assess("adversary-routes", of(frame, BASE), population=N, known=apart)
    plain = plain.population.table()
    told = {frozenset(known.split("+")): p for known, p in
            zip(plain["known"], plain["before"], strict=True)}  # fmt: skip
    for known, model, said in found.table()[["known", "model", "before"]].itertuples(index=False):
        some = set(known.split("+"))
        if "copy" in some or "zip" in some:
            some = some - {"copy", "state"} | {"zip"}
        if "state" in some or "nothing" in some:
            continue
        assert said == pytest.approx(told[frozenset(some)]), known
        assert model == ("log-linear" if len(some) > 1 else "pitman-bayes")
    assert any(re.match("(copy|zip), state: in this table a function", n) for n in found.notes)


@pytest.mark.parametrize("model", ["log-linear", "structured"])
def test_an_assessment_of_all_columns_together_says_so(frame, model):
    told = [
        rb.assess("adversary-routes", of(frame, c), scenario="worst-case", population=N,
                  population_model=model)
        for c in (BASE, [*BASE, "copy", "state"])
    ]  # fmt: skip
    plain, more = (a.subjects["journalist"].mean() for a in told)
    assert more == pytest.approx(plain, rel=1e-4 if model == "log-linear" else 0.25)
    assert any("a function of the other columns" in n for n in told[1].population.notes)
    assert not any("a function of" in n for n in told[0].population.notes)


@pytest.mark.parametrize("seed", range(6))
def test_the_smallest_subset_is_what_is_left_by_columns(seed):
    """The classes on every subset say what the rows themselves do."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, [12, 5, 3], (400, 3))
    more = [base[:, 0] // 2, base[:, 0] * 5 + base[:, 1], base[:, 1] * 3 + base[:, 2]]
    codes = np.column_stack([base, *more])[:, rng.permutation(6)]
    people = People.from_codes(codes.tolist(), [f"c{j}" for j in range(6)])
    masks = [[j for j in range(6) if mask >> j & 1] for mask in range(64)]
    tables = [FrequencyTable.of([400], [1])]
    tables += [people.frequencies([f"c{j}" for j in some]) for some in masks[1:]]
    kept = smallest(tables)
    for mask in range(3, 64):
        some = masks[mask]
        rows, place = np.unique(codes[:, some], axis=0, return_inverse=True)
        rows = np.column_stack([np.unique(c, return_inverse=True)[1] for c in rows.T])
        left = determined(rows, np.bincount(place.ravel()).astype(float))
        expected = [j for i, j in enumerate(some) if i not in left]
        assert masks[kept[mask]] == expected
    every = columns_kept([(j,) for j in range(6)], np.zeros((1, 0), int), np.ones(1), tables)
    assert (every == (kept >> np.arange(6)[:, None] & 1 > 0)).all()


def test_of_groups_no_column_is_lost_with_its_copies():
    rng = np.random.default_rng(9)
    zips = rng.integers(0, 30, 500)
    codes = np.column_stack([zips, rng.integers(0, 3, 500), zips[:], zips // 5, zips * 0])
    rows, place = np.unique(codes, axis=0, return_inverse=True)
    people = People.from_codes(codes.tolist(), ["zip", "sex", "copy", "state", "land"])
    names, groups = people.names(None), [[0, 1], [2, 3, 4]]
    tables = [FrequencyTable.of([500], [1])]
    for known in (s for size in (1, 2) for s in combinations(groups, size)):
        tables.append(people.frequencies([names[j] for g in known for j in g]))
    kept = columns_kept(groups, rows, np.bincount(place.ravel()).astype(float), tables)
    assert kept[:, 1].tolist() == [True, True, False, False, False]
    assert kept[:, 2].tolist() == [False, False, True, False, False]
    assert kept[:, 3].sum() == 2
    assert kept[1, 3]
