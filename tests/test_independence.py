"""Columns that do not go together have no structure: the interval holds that too, with a word."""

import numpy as np
import pytest

import reidbn as rb
from reidbn import population
from reidbn.theory import Distinct, disagrees, independent_at, moments, squared


def distinct(columns):
    codes = np.column_stack([np.unique(c, return_inverse=True)[1] for c in np.transpose(columns)])
    rows, counts = np.unique(codes, axis=0, return_counts=True)
    return Distinct(rows, counts.astype(float))


def drawn(rng, values, n, power=0.0):
    shares = [1 / np.arange(1, k + 1) ** power for k in values]
    return np.column_stack([rng.choice(len(s), n, p=s / s.sum()) for s in shares])


def test_the_moments_are_those_of_dealing_people_out():
    rng = np.random.default_rng(1)
    columns = drawn(rng, (25, 6), 300, 0.9)
    rows, found = distinct(columns), []
    for _ in range(4_000):
        dealt = np.column_stack([columns[:, 0], rng.permutation(columns[:, 1])])
        found.append(squared(distinct(dealt), 0, 1))
    mean, variance = moments(*rows.people)
    assert np.mean(found) == pytest.approx(mean, abs=5 * np.sqrt(variance / 4_000))
    assert np.var(found) == pytest.approx(variance, rel=0.15)


@pytest.mark.parametrize(
    ("values", "power"), [((20, 20, 10), 0.0), ((60, 20, 6), 1.5), ((2,) * 5, 0.5)]
)
def test_the_test_keeps_its_level(values, power):
    """Independent columns are below .05 in about 5 % of 300 tables, sparse ones too."""
    rng = np.random.default_rng(2)
    below = [independent_at(distinct(drawn(rng, values, 250, power))) < 0.05 for _ in range(300)]
    assert not disagrees(int(np.sum(below)), 300, 0.06, level=1e-4)


def test_columns_that_go_together_are_seen():
    rng = np.random.default_rng(3)
    columns = drawn(rng, (20, 20, 10), 1_000)
    some = rng.random(1_000) < 0.3
    columns[some, 1] = columns[some, 0]
    assert independent_at(distinct(columns)) < 1e-20


def fitted(values, N, n, seed, power=0.0):
    rng = np.random.default_rng(seed)
    names = [f"c{j}" for j in range(len(values))]
    everybody = rb.People.from_codes(drawn(rng, values, N, power), names)
    table = everybody.take(rng.choice(N, n, replace=False))
    truth = int((everybody.class_sizes(names) == 1).sum())
    return truth, table, population.fit(table, population=N, model="structured")


@pytest.mark.parametrize(
    ("values", "N", "n"), [((20, 20, 10), 20_000, 1_000), ((31, 12, 2), 4_000, 400)]
)
def test_the_interval_holds_what_even_columns_multiplied_say_with_a_word(values, N, n):
    held, said = 0, 0
    for seed in range(5):
        truth, table, fit = fitted(values, N, n, seed)
        low, high = fit.prediction_interval()
        assert low <= fit.expected_uniques <= high
        held += low <= truth <= high
        if any("no two columns go together" in w for w in fit.warnings):
            said += 1
            plain = population.fit(table, population=N, model="log-linear")
            assert low <= plain.expected_uniques <= fit.expected_uniques
    assert said >= 4
    assert held >= 4
