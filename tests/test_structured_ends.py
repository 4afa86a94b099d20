"""Where the structured estimator's intervals end, and what a model in its place says of itself."""

import re

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn import population

FRAME = rb.datasets.synthetic_patients(90, seed=3)


def cells(n, k, rng):
    """People of k cells that are alike likely, by two attributes."""
    at = rng.integers(0, k, n)
    return pd.DataFrame({"a": (at // 5).astype(str), "b": (at % 5).astype(str)})


def of_cells(n, k, N, seed=0):
    people = rb.read_table(cells(n, k, np.random.default_rng(seed)), quasi_identifiers=["a", "b"])
    return population.fit(people, population=N, model="structured")


@pytest.mark.parametrize(("n", "N"), [(1_000, 6_900_000), (1_000, 100_000), (1_000, 4_000)])
def test_of_nobody_unique_the_ends_are_none_and_what_chance_may_have_left_out(n, N):
    """None of U uniques is in the table with chance (1-pi)^U, which is .025 at the upper end."""
    fit = of_cells(n, 60, N)
    assert fit.uniques == 0
    assert fit.expected_uniques == 0
    low, high = fit.prediction_interval()
    assert low == 0
    assert high == pytest.approx(np.log(0.025) / np.log1p(-n / N), rel=0.12)  # of 4,000 draws


@pytest.mark.parametrize("N", [10_000, 10**7, 10**9])
def test_the_estimate_lies_in_its_interval_however_large_the_population(N):
    fit = of_cells(300, 60, N, seed=4)
    low, high = fit.prediction_interval()
    assert low <= fit.expected_uniques <= high
    assert low == 0


@pytest.mark.parametrize("strata", [1, 5, 20])
def test_what_the_table_has_nobody_like_is_counted_once_over_all_strata(strata):
    rng = np.random.default_rng(strata)
    frame = cells(200 * strata, 50, rng)
    frame["state"] = np.repeat([f"s{k}" for k in range(strata)], 200)
    people = rb.read_table(frame, quasi_identifiers=["a", "b", "state"])
    sizes = {f"s{k}": 20_000 for k in range(strata)}
    fit = population.fit(people, population=sizes, strata="state", model="structured")
    low, high = fit.prediction_interval()
    assert low == 0  # and nobody is unique: 400 people a cell
    assert 0.8 * 367 < high < 1.2 * 367
    assert low <= fit.expected_uniques <= high


def test_strata_are_drawn_each_on_their_own():
    """But for the structures' error, which they share: the same table twice is two samples."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({c: rng.integers(0, k, 500) for c, k in (("a", 40), ("b", 30))})
    twice = pd.concat([frame.assign(half=0), frame.assign(half=1)])
    people = rb.read_table(twice, quasi_identifiers=["a", "b", "half"])
    fit = population.fit(people, population={0: 3_000, 1: 3_000}, strata="half", model="structured")
    rng = np.random.default_rng(1)
    one, other = (p._drawn(rng, 2_000, realised=True) for p in fit.parts.values())
    assert np.corrcoef(one, other)[0, 1] < 0.9


def instead():
    """A fit in which each other model speaks."""
    small = rb.read_table(FRAME, quasi_identifiers=["age", "sex", "race"])
    one = rb.read_table(rb.datasets.synthetic_patients(200, seed=2), quasi_identifiers=["age"])
    yield population.fit(small, population=9_000, model="structured")
    yield population.fit(one, population=9_000, model="structured")
    yield population.fit(one, population=200, model="structured")


@pytest.mark.parametrize("which", range(3))
def test_another_model_in_its_place_tells_of_everybody_what_the_structured_one_does(which):
    fit = list(instead())[which]
    assert fit.parts is None
    assert fit.to_dict()["parts"] is None
    assert fit.to_dict()["prediction_interval"] == list(fit.prediction_interval())
    people = fit.people
    ends = people[["p_unique_low", "p_unique", "p_unique_high"]].to_numpy()
    assert (np.diff(ends, axis=1) >= 0).all()
    assert (ends[people["class_size"] > 1] == 0).all()
    if which < 2:
        assert (ends[people["class_size"] == 1, 0] < ends[people["class_size"] == 1, 2]).all()


def test_a_small_part_of_strata_has_ends_too():
    frame = rb.datasets.synthetic_patients(400, seed=5)
    frame["house"] = np.repeat([0, 1], [350, 50])
    people = rb.read_table(frame, quasi_identifiers=["age", "sex", "race", "house"])
    sizes = {0: 9_000, 1: 3_000}
    fit = population.fit(people, population=sizes, strata="house", model="structured")
    assert fit.parts[1].parts is None
    assert not fit.people.isna().any().any()


@pytest.mark.parametrize("model", ["structured", "pitman-bayes"])
def test_the_interval_of_the_warning_is_the_prediction_interval(model):
    wide = rb.read_table(FRAME, quasi_identifiers=["sex", "race"])
    small = rb.read_table(FRAME, quasi_identifiers=["age", "sex", "race"])
    asked = [(wide, 9_000), (small, 9_000), (small, 90_000), (small, 9_000_000)]
    told = 0
    for people, N in asked:
        fit = population.fit(people, population=N, model=model)
        low, high = fit.prediction_interval()
        said = [re.search(r"interval runs from ([\d,]+) to ([\d,]+)", w) for w in fit.warnings]
        for found in filter(None, said):
            told += 1
            assert [int(v.replace(",", "")) for v in found.groups()] == [low, high]
        assert (high > 10 * max(low, 1)) == any(said)
    assert told
