"""Zayatz, SNB, survey weights and log-linear models, from first principles."""

import csv
import json
from fractions import Fraction
from math import comb

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from reidbn.errors import DataError, TooLarge, UsageError
from reidbn.theory import (
    CLASSES,
    VARIANTS,
    Cells,
    FrequencyTable,
    classes_in_population,
    expected_counts,
    individual_risk,
    individual_risk_approximate,
    proportional_fit,
    risk,
    solve_snb,
    zayatz,
)

TABLE = FrequencyTable.of([1, 2, 3, 5], [812, 150, 60, 9])


# Zayatz


@pytest.mark.parametrize("N", [1337, 1338, 1400, 5000, 100_000])
def test_zayatz_in_rationals(N):
    n = TABLE.n
    h = [Fraction(int(j) * comb(N - int(j), n - 1), comb(N, n)) for j in TABLE.sizes]
    seen_once = sum(int(f) * hj for f, hj in zip(TABLE.counts, h, strict=True))
    exact = Fraction(n, N) * TABLE.uniques / seen_once
    assert zayatz(TABLE, N) == pytest.approx(float(exact), rel=1e-12)


def test_zayatz_at_ten_billion_is_finite_and_small():
    assert 0 < zayatz(TABLE, 10**10) < 1


def test_zayatz_oracles(shared):
    folder = shared / "oracles" / "population"
    cases = json.loads((folder / "adult_samples.json").read_text())["samples"]
    cases += json.loads((folder / "adult_subset_sweep_part.json").read_text())["cases"]
    assert len(cases) > 90
    for case in cases:
        table = case["freq_of_freq"]
        t = FrequencyTable.of([int(j) for j in table], list(table.values()))
        peer = case["arx"]["zayatz"]
        want = peer["num_uniques"] if isinstance(peer, dict) else peer
        got = zayatz(t, case["N"]) * t.uniques * case["N"] / t.n
        assert got == pytest.approx(want, rel=1e-9)


# Slide negative binomial


def snb_moments(K, a, b, pi):
    """E f_1, E f_2, E u, N and uniques by summing over class sizes, in thirty digits."""
    mp.mp.dps = 30
    a, b, pi = mp.mpf(a), mp.mpf(b), mp.mpf(pi)
    d, q = 1 - b, 1 - pi
    f1 = f2 = u = people = mp.mpf(0)
    p, j = b**a, 1
    while p * j * j > mp.mpf("1e-28") or j < 10:
        f1 += p * j * pi * q ** (j - 1)
        f2 += p * j * (j - 1) / 2 * pi**2 * q ** (j - 2)
        u += p * (1 - q**j)
        people += p * j
        p = p * (a + j - 1) / j * d
        j += 1
    return [float(K * x) for x in (f1, f2, u, people)] + [float(K * b**a)]


@pytest.mark.parametrize(("a", "b", "pi"), [(0.2, 0.15, 0.1), (3.0, 0.6, 0.5), (0.05, 0.04, 0.25),
                                            (1.0, 0.3, 0.02), (12.0, 0.9, 0.8)])  # fmt: skip
def test_snb_closed_forms_are_the_sums(a, b, pi):
    K, q, d = 5000, 1 - pi, 1 - b
    D = 1 - d * q
    f1, f2, u, people, uniques = snb_moments(K, a, b, pi)
    assert f1 == pytest.approx(K * pi * (b / D) ** a * (1 + a * d * q / D), rel=1e-12)
    closed = K * a * b**a * pi**2 * d * (2 - (1 - a) * d * q) / (2 * D ** (a + 2))
    assert f2 == pytest.approx(closed, rel=1e-12)
    assert u == pytest.approx(K * (1 - q * (b / D) ** a), rel=1e-12)
    assert people == pytest.approx(K * (1 + a * d / b), rel=1e-12)
    assert uniques == pytest.approx(K * b**a, rel=1e-12)


@pytest.mark.parametrize("estimator", CLASSES)
def test_a_solution_reproduces_the_table(estimator):
    N = 10_000
    found = solve_snb(TABLE, N, estimator=estimator)
    f1, f2, _, people, uniques = snb_moments(found.K, found.a, found.b, TABLE.n / N)
    assert f1 == pytest.approx(812, rel=1e-9)
    assert f2 == pytest.approx(150, rel=1e-9)
    assert found.population_uniques == pytest.approx(uniques, rel=1e-9)
    assert found.p_unique == pytest.approx(TABLE.n / N * uniques / f1, rel=1e-9)
    if estimator == "population-equation":
        assert people == pytest.approx(N, rel=1e-9)
    else:
        want = classes_in_population(TABLE, N, estimator=estimator)
        classes = found.K
        assert classes == pytest.approx(want, rel=1e-12)


def test_snb_finds_its_own_population():
    rng = np.random.default_rng(21)
    K, a, b, pi = 60_000, 0.3, 0.2, 0.4
    F = 1 + rng.negative_binomial(a, b, K)
    f = rng.binomial(F, pi)
    sizes, counts = np.unique(f[f > 0], return_counts=True)
    table, N = FrequencyTable.of(sizes, counts), int(F.sum())
    found = solve_snb(table, N, estimator="population-equation")
    truth = int((F == 1).sum())
    # Two hundred such populations have a relative standard deviation of 1.2 %; this is six.
    assert found.population_uniques == pytest.approx(truth, rel=0.07)


def test_snb_oracles(shared):
    folder = shared / "oracles" / "population"
    solved = 0
    for case in json.loads((folder / "adult_samples.json").read_text())["samples"]:
        want, table = case["reference"]["snb_corrected"], case["freq_of_freq"]
        t = FrequencyTable.of([int(j) for j in table], list(table.values()))
        found = solve_snb(t, case["N"])
        classes = found.K
        assert classes == pytest.approx(want["K_shlosser3"], rel=1e-9)
        assert found.population_uniques == pytest.approx(want["num_uniques"], rel=1e-6)
        solved += 1
    for case in json.loads((folder / "adult_subset_sweep_part.json").read_text())["cases"]:
        want, table = (case["reference"] or {}).get("snb_corrected"), case["freq_of_freq"]
        if want is not None:
            t = FrequencyTable.of([int(j) for j in table], list(table.values()))
            assert solve_snb(t, case["N"]).population_uniques == pytest.approx(want, rel=1e-6)
            solved += 1
    assert solved > 60


def test_snb_has_no_solution_without_singles_or_pairs():
    assert solve_snb(FrequencyTable.of([1, 3], [900, 30]), 10_000) is None
    assert solve_snb(FrequencyTable.of([2, 3], [900, 30]), 10_000) is None


# Survey weights


@given(f=st.integers(1, 3000), p=st.floats(1e-7, 1.0))
def test_individual_risk_is_the_hypergeometric_function(f, p):
    mp.mp.dps = 30
    exact = mp.hyp2f1(1, f, f + 1, -(1 - mp.mpf(p)) / mp.mpf(p)) / f
    assert individual_risk(f, f / p) == pytest.approx(float(exact), rel=1e-12)


def test_published_short_forms_for_one_and_two():
    p = 0.03
    c = p / (1 - p)
    assert individual_risk(1, 1 / p) == pytest.approx(c * np.log(1 / p), rel=1e-13)
    assert individual_risk(2, 2 / p) == pytest.approx(c - c**2 * np.log(1 / p), rel=1e-12)
    assert individual_risk_approximate(5, 5 / p) == pytest.approx(p / (5 - (1 - p)), rel=1e-13)


def test_a_census_has_risk_one_over_class_size():
    assert individual_risk([1, 2, 7], [1, 2, 7]) == pytest.approx([1, 1 / 2, 1 / 7])


def test_weights_that_stand_for_less_than_a_record_are_refused():
    with pytest.raises(DataError, match="at least 1"):
        individual_risk(3, 2.0)


def test_individual_risk_published_and_peer_values(shared):
    folder = shared / "oracles" / "sdc"
    unit = json.loads((folder / "small_oracles.json").read_text())["indiv_risk_unit"]
    assert individual_risk(unit["fk"], unit["Fk"]) == pytest.approx(unit["risk_exact"], abs=6e-9)
    approximate = individual_risk_approximate(unit["fk"], unit["Fk"])
    assert approximate == pytest.approx(unit["risk_approx"], abs=6e-9)
    missing = unit["with_missing"]
    assert missing["risk_exact"][0] == pytest.approx(individual_risk(3, 108.0), abs=6e-9)
    for name, column, digits in [
        ("francdat", "risk", 6e-9),
        ("practice_guide_10", "risk_9dp", 6e-10),
    ]:
        with (folder / f"{name}.csv").open() as file:
            for row in csv.DictReader(file):
                got = individual_risk(float(row["fk"]), float(row["Fk"]))
                assert got == pytest.approx(float(row[column]), abs=digits)


# Log-linear models


def some_cells(seed=31, shape=(3, 4, 2), people=60):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, k, people) for k in shape])
    for j, k in enumerate(shape):
        codes[:k, j] = np.arange(k)
    weights = rng.uniform(2, 30, people)
    rows, ids = np.unique(codes, axis=0, return_inverse=True)
    ids = ids.ravel()
    return Cells(
        codes=rows,
        cardinalities=shape,
        counts=np.bincount(ids).astype(float),
        weights=np.bincount(ids, weights=weights),
        inclusion=np.bincount(ids, weights=1 / weights),
        values=tuple(np.arange(k) * 1.5 + 1 for k in shape),
    )


def by_minimising(cells, variant, terms, effects):
    """Maximum likelihood of the Poisson model by a general optimiser on an explicit design."""
    counts, weights = (x.ravel() for x in cells.grid())
    place = np.indices(cells.cardinalities).reshape(len(cells.cardinalities), -1)
    columns = [np.ones(counts.size)]
    for term in terms:
        if effects == "values" and variant != "IPF":
            columns.append(np.prod([cells.values[j][place[j]] for j in term], axis=0))
            continue
        cell = np.ravel_multi_index(
            [place[j] for j in term], [cells.cardinalities[j] for j in term]
        )
        columns += [(cell == c).astype(float) for c in range(1, cell.max() + 1)]
    y, offset = counts, np.zeros(counts.size)
    if variant == "PML":
        y = np.rint(weights * counts.sum() / weights.sum())
    if variant == "CE":
        offset = np.log(np.divide(counts, weights, out=0 * counts, where=weights > 0) + 0.1)
    if variant == "weightedLLM":
        columns.append(weights / weights.max())
    X = np.column_stack(columns)

    def loss(beta):
        mean = np.exp(X @ beta + offset)
        return mean.sum() - y @ (X @ beta + offset), X.T @ (mean - y)

    start = np.zeros(X.shape[1])
    found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    return np.exp(X @ found.x + offset)[cells.place()]


@pytest.mark.parametrize("effects", ["categories", "values"])
@pytest.mark.parametrize("variant", [v for v in VARIANTS if v != "predictive"])
@pytest.mark.parametrize("terms", [[(0,), (1,), (2,)], [(0, 1), (1, 2)]])
def test_each_variant_is_the_maximum_of_its_likelihood(variant, terms, effects):
    cells = some_cells()
    found = expected_counts(cells, variant=variant, terms=terms, effects=effects)
    assert found == pytest.approx(by_minimising(cells, variant, terms, effects), rel=2e-5)


def test_main_effects_need_no_grid():
    rng = np.random.default_rng(32)
    codes = np.unique(rng.integers(0, 500, (300, 6)), axis=0)
    ones = np.ones(len(codes))
    cells = Cells(codes, (500,) * 6, ones, 40 * ones, ones / 40)
    assert expected_counts(cells).shape == (len(codes),)
    with pytest.raises(TooLarge, match="cells"):
        expected_counts(cells, variant="CE")


def test_proportional_fitting_keeps_the_margins():
    rng = np.random.default_rng(33)
    target = rng.integers(0, 9, (3, 4, 5)).astype(float)
    fitted = proportional_fit(target, [(0, 1), (2,)], start=np.ones(target.shape))
    assert fitted.sum(axis=2) == pytest.approx(target.sum(axis=2))
    assert fitted.sum(axis=(0, 1)) == pytest.approx(target.sum(axis=(0, 1)))


def test_risk_over_the_sample_uniques():
    cells = some_cells()
    found = risk(cells)
    alone = cells.counts == 1
    pi, mu = cells.inclusion[alone], found.expected[alone]
    v = (1 - pi) * mu / pi
    assert found.tau == pytest.approx((np.exp(-v).sum(), ((1 - np.exp(-v)) / v).sum()))
    v = (1 - pi) * mu
    shares = np.array([np.exp(-v).sum(), ((1 - np.exp(-v)) / v).sum()]) / cells.counts.size
    assert found.published_shares == pytest.approx(tuple(shares))
    assert found.tau[0] <= found.tau[1] <= alone.sum()


def test_the_poisson_model_finds_its_own_population():
    rng = np.random.default_rng(34)
    shares = [rng.dirichlet(np.ones(k)) for k in (8, 9, 10)]
    lam = 3000 * np.einsum("i,j,k->ijk", *shares)
    F = rng.poisson(lam)
    f = rng.binomial(F, 0.2)
    codes = np.argwhere(f > 0)
    counts = f[f > 0].astype(float)
    cells = Cells(codes, f.shape, counts, counts / 0.2, counts * 0.2)
    tau = risk(cells).tau
    truth = (F[f == 1] == 1).sum(), (1 / F[f == 1]).sum()
    # Standard deviations over 200 such populations: 3.9 and 2.8; these are six of them.
    assert abs(tau[0] - truth[0]) < 24
    assert abs(tau[1] - truth[1]) < 17


def test_names_of_variants_and_effects_are_checked():
    with pytest.raises(UsageError, match="weightedLLM"):
        expected_counts(some_cells(), variant="weighted")
    with pytest.raises(UsageError, match="categories or values"):
        expected_counts(some_cells(), effects="numbers")
