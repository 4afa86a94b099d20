"""Columns that do not go together have no structure: the interval holds that too, with a word."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn import population
from reidbn.attack import Known, Knows, Scenario
from reidbn.theory import (
    Distinct,
    disagrees,
    evened,
    independent_at,
    moments,
    pair,
    pairs,
    squared,
)


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
        told = distinct(dealt)
        found.append(squared(told, pair(told, 0, 1)))
    mean, variance = moments(*rows.people)
    assert np.mean(found) == pytest.approx(mean, abs=5 * np.sqrt(variance / 4_000))
    assert np.var(found) == pytest.approx(variance, rel=0.15)


@pytest.mark.parametrize(
    ("values", "power"), [((20, 20, 10), 0.0), ((60, 20, 6), 1.5), ((2,) * 5, 0.5)]
)
def test_the_test_keeps_its_level(values, power):
    """Independent columns are below .05 in about 5 % of 300 tables, sparse ones too."""
    rng = np.random.default_rng(2)
    tables = (distinct(drawn(rng, values, 250, power)) for _ in range(300))
    below = [float(independent_at(rows, pairs(rows))[0]) < 0.05 for rows in tables]
    assert not disagrees(int(np.sum(below)), 300, 0.06, level=1e-4)


def test_columns_that_go_together_are_seen():
    rng = np.random.default_rng(3)
    columns = drawn(rng, (20, 20, 10), 1_000)
    some = rng.random(1_000) < 0.3
    columns[some, 1] = columns[some, 0]
    rows = distinct(columns)
    assert independent_at(rows, pairs(rows)) < 1e-20


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
            alone = fit.counts == 1
            stay = np.exp(-(N - n) * np.exp(fit.independent[alone])).sum() * N / n
            assert any(f"about {stay:,.0f} people" in w for w in fit.warnings)
            assert low <= stay <= high
            plain = population.fit(table, population=N, model="log-linear")
            assert low <= plain.expected_uniques <= fit.expected_uniques
    assert said >= 4
    assert held >= 4


def assessed(table, N, weights=None):
    """Each column known with one half."""
    half = Scenario("half", knows=Knows(tuple(
        Known(c, (c,), (0.5,), source="the toss of a coin") for c in table.quasi_identifiers
    )))  # fmt: skip
    return rb.assess("adversary-routes", table, scenario=half, population=N,
                     population_model="structured")  # fmt: skip


def who_is_unique(everybody, rows):
    """Being unique in the population, counted: the mean over people and subsets."""
    attributes, found = everybody.shape[1], []
    for size in range(1, attributes + 1):
        for on in combinations(range(attributes), size):
            _, ids, F = np.unique(everybody[:, on], axis=0, return_inverse=True, return_counts=True)
            found.append((F[ids.ravel()[rows]] == 1).mean())
    return sum(found) / 2**attributes


@pytest.mark.parametrize(("values", "n"), [((20, 20, 10), 1_000), ((100, 100), 1_000)])
def test_an_assessment_of_even_columns_holds_what_is_counted_with_a_word(values, n):
    N, held, said = 20_000, 0, 0
    for seed in range(6):
        rng = np.random.default_rng([77, seed])
        everybody = drawn(rng, values, N)
        rows = rng.choice(N, n, replace=False)
        names = [f"c{j}" for j in range(len(values))]
        table = rb.People.from_codes(everybody[rows], names)
        result = assessed(table, N)
        ends = result.population_uncertainty().table().loc["journalist"]
        assert ends["low"] <= ends["mean"] <= ends["high"]
        held += ends["low"] <= who_is_unique(everybody, rows) <= ends["high"]
        said += any("no two columns go together" in note for note in result.notes)
    assert held >= 5  # 3 and 4 where the interval is that of structures alone
    assert said >= 5


def test_a_fit_and_an_assessment_say_the_same_of_every_subset():
    """Two columns go together, two others with nothing: who says so is the same test."""
    rng = np.random.default_rng(5)
    columns = drawn(rng, (12, 12, 9, 7), 600, 0.4)
    some = rng.random(600) < 0.4
    columns[some, 1] = columns[some, 0]
    table = rb.People.from_codes(columns, list("abcd"))
    result = assessed(table, 12_000)
    found = result.population.structured.independent
    for mask in range(16):
        on = [c for j, c in enumerate("abcd") if mask >> j & 1]
        if len(on) < 2:
            assert not found[mask]
            continue
        fit = population.fit(table, on, population=12_000, model="structured")
        assert found[mask] == (fit.independent is not None)
        assert found[mask] == any("no two columns go together" in w for w in fit.warnings)
    assert 0 < found.sum() < 11
    uniques = np.array([f.uniques for f in result.population.classes.frequencies])
    told = f"on {(found & (uniques > 0)).sum()} of"
    assert any(note.startswith(told) for note in result.notes)
    fits = population.fit_subsets(table, population=12_000, model="structured")
    assert any(note.startswith(told) for note in fits.notes)


def test_weights_that_are_alike_leave_even_shares_as_they_were():
    rng = np.random.default_rng(6)
    rows = distinct(drawn(rng, (9, 5), 300, 0.3))
    shares = [held[codes] / rows.n for held, codes in zip(rows.people, rows.codes.T, strict=True)]
    alike = evened(rows, shares, np.full(len(rows.counts), 7.0))
    np.testing.assert_allclose(alike, evened(rows, shares), rtol=1e-12)


@pytest.mark.parametrize("n", [pytest.param(200, marks=pytest.mark.slow), 1_000])
def test_the_interval_of_weights_holds_even_columns_with_a_word(n):
    """Half of a column's values were drawn three times as often, and weights say so."""
    N, held, said, of_mean = 20_000, 0, 0, 0
    for seed in range(3):
        rng = np.random.default_rng([77, seed])
        everybody = drawn(rng, (20, 20, 10), N)
        often = everybody[:, 2] < 5
        chance = np.where(often, 3.0, 1.0)
        rows = rng.choice(N, n, replace=False, p=chance / chance.sum())
        frame = pd.DataFrame(everybody[rows], columns=list("abc")).astype(str)
        each = [group.sum() / group[rows].sum() for group in (often, ~often)]
        frame["weight"] = np.where(often[rows], *each)
        table = rb.read_table(frame, quasi_identifiers=list("abc"), weights="weight")
        fit = population.fit(table, population=N)
        low, high = fit.prediction_interval()
        truth = (np.unique(everybody, axis=0, return_counts=True)[1] == 1).sum()
        held += low <= truth <= high
        said += any("no two columns go together" in w for w in fit.warnings)
        of_people = fit.people
        assert of_people["p_unique"].between(of_people["p_unique_low"], 1).all()
        assert of_people["p_unique_high"].between(of_people["p_unique"], 1).all()
        ends = assessed(table, N).population_uncertainty().table().loc["journalist"]
        of_mean += ends["low"] <= who_is_unique(everybody, rows) <= ends["high"]
    assert held >= 2  # none of 3 where the interval is that of structures alone
    assert said >= 2
    assert of_mean >= 2


@pytest.mark.parametrize("model", ["structured", "log-linear"])
def test_no_more_are_unique_than_the_population_has(model):
    """Weights that sum to nearly the population are taken as they are: here to .9 % more."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 6, (900, 16))).astype(str).add_prefix("c")
    names, weight = list(frame), rng.uniform(5, 15, 900)
    frame["weight"] = weight * 9_080 / weight.sum()
    table = rb.read_table(frame, quasi_identifiers=names, weights="weight")
    fit = population.fit(table, population=9_000, model=model)
    assert fit.expected_uniques == 9_000
    assert "9,000 of the 9,000 people" in fit.explain() or "makes 9,000 pop" in fit.explain()
    if model == "structured":
        assert fit.prediction_interval()[1] == 9_000
        assert fit.interval()[1] <= 9_000
        assert "about 9,000 people" in fit.explain()
