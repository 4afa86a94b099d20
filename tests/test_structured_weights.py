"""The structured estimator of tables with survey weights: oracles, and what is said."""

import numpy as np
import pytest

import reidbn as rb
from reidbn.errors import DataError
from reidbn.population import distinct_rows, weight_alike

COLUMNS = list("abc")
COMMON = 40.0  # people for whom those with an even value of the first column stand


def codes(n=500):
    rng = np.random.default_rng(21)
    mood = rng.integers(0, 4, n)
    drawn = np.column_stack([(mood * j + rng.integers(0, 5 + 4 * j, n)) for j in range(3)])
    return np.column_stack([np.unique(c, return_inverse=True)[1] for c in drawn.T])


def by_the_column(table):
    return np.where(table[:, 0] % 2 == 0, COMMON, 5.0)


def fitted(weights=None, population=None, table=None):
    table = codes() if table is None else table
    people = rb.People.from_codes(table, COLUMNS, weights=weights)
    N = round(float(weights.sum())) if population is None else population
    return rb.population.fit(people, population=N, model="structured")


def test_whoever_stands_for_many_is_told_what_a_larger_population_tells_everybody():
    """Weights that the columns tell: the chance of each is that of a sample of one in so many."""
    table = codes()
    weights = by_the_column(table)
    found = fitted(weights)
    for stands in (COMMON, 5.0):
        some = weights == stands
        plain = fitted(population=round(500 * stands)).people[some]
        told = found.people[some]
        assert (plain["class_size"] > 3).any()
        assert (plain["class_size"] == 1).any()
        for name in ("p_unique", "mean_inverse"):
            np.testing.assert_allclose(told[name], plain[name], rtol=1e-6)
    alone = (found.people["class_size"] == 1).to_numpy()
    by_hand = (found.people["p_unique"] * weights)[alone].sum()
    assert found.expected_uniques == pytest.approx(by_hand)
    low, high = found.prediction_interval()
    assert low < by_hand < high
    first, last = found.interval()
    assert first < by_hand < last
    assert last - first < high - low
    ends = found.people[alone]
    assert (ends["p_unique_low"] < ends["p_unique"]).all()
    assert (ends["p_unique"] < ends["p_unique_high"]).all()
    assert found.parts.calibrated == pytest.approx(by_hand)


def test_weights_that_are_all_alike_are_no_weights():
    for scale in (30.0, 1.0):
        found = fitted(np.full(500, scale), population=15_000)
        plain = fitted(population=15_000)
        assert found.prediction_interval() == plain.prediction_interval()
        np.testing.assert_array_equal(found.people, plain.people)
        assert any("scaled to the population" in said for said in found.warnings) == (scale == 1)


def test_others_weigh_what_the_values_and_people_alike_tell():
    table = np.repeat(codes(), 2, axis=0)  # everybody has somebody alike
    people = rb.People.from_codes(table, COLUMNS)
    ids, rows, counts = distinct_rows(people, COLUMNS)
    told = by_the_column(table)
    np.testing.assert_allclose(weight_alike(told, ids, rows, counts)[ids], told, rtol=1e-6)
    rng = np.random.default_rng(22)
    by_chance = rng.choice([5.0, COMMON], len(told))
    found = weight_alike(by_chance, ids, rows, counts)[ids]
    assert found.std() < by_chance.std() / 3  # nothing tells of it: all are near the mean
    assert found.mean() == pytest.approx(by_chance.mean(), rel=0.05)
    assert weight_alike(np.linspace(1, 2, len(told)), ids, rows, counts).min() >= 1


def test_it_says_what_the_weights_are_taken_for_and_refuses_those_below_one():
    weights = by_the_column(codes())
    said = " ".join(fitted(weights).warnings)
    assert "a random sample of those for whom they stand" in said
    assert "not used" not in said
    with pytest.raises(DataError, match=r"survey weight below 1.*trim the weights"):
        fitted(weights / 6, population=round(float(weights.sum() / 6)))
    relative = fitted(weights / 100, population=round(float(weights.sum())))
    assert any("scaled to the population of" in note for note in relative.warnings)
    assert relative.expected_uniques == pytest.approx(fitted(weights).expected_uniques, rel=1e-6)
    people = rb.People.from_codes(codes(), COLUMNS, weights=weights)
    one = rb.population.fit(people, ["a"], population=12_000, model="structured")
    assert any("not used" in note for note in one.warnings)  # class sizes alone speak


def test_strata_of_a_weighted_table_have_weights_of_their_own():
    table = codes()
    weights = by_the_column(table)
    people = rb.People.from_codes(table, COLUMNS, weights=weights)
    labels = people.labels("a").tolist()
    sizes = dict.fromkeys(labels, 6000)
    found = rb.population.fit(people, ["b", "c"], population=sizes, strata="a", model="structured")
    assert found.population == 6_000 * len(labels)
    low, high = found.prediction_interval()
    assert low < found.expected_uniques < high
