"""The constrained fit: its slopes, its maximum, its statuses, and the table of pitfalls."""

import json

import mpmath as mp
import numpy as np
import pytest

from reidbn import population
from reidbn.errors import DataError, UsageError
from reidbn.theory import (
    BOUNDARY,
    INTERIOR,
    NO_MAXIMUM,
    FrequencyTable,
    Packed,
    log_likelihood,
    maximise,
    seat_people,
    slopes,
    within_classes,
)


def fit(sizes, counts, N, model="pitman"):
    return population.fit(sizes=sizes, counts=counts, population=N, model=model)


def exact_log_likelihood(sizes, counts, theta, alpha):
    """The likelihood by its definition, term by term."""
    n, u = int(np.dot(sizes, counts)), int(np.sum(counts))
    t, a = mp.mpf(theta), mp.mpf(alpha)
    total = mp.fsum(mp.log(t + i * a) for i in range(1, u))
    total -= mp.fsum(mp.log(t + i) for i in range(1, n))
    for j, f in zip(sizes, counts, strict=True):
        total += int(f) * mp.fsum(mp.log(i - a) for i in range(1, int(j)))
    return total


def random_tables(rng, how_many):
    """Tables of every shape that fits meet, degenerate ones too."""
    tables = []
    for i in range(how_many):
        kind = i % 5
        if kind < 2:
            sizes = np.unique((10 ** rng.uniform(0, rng.uniform(0, 4), 20)).astype(int))
            counts = rng.integers(1, 4, sizes.size)
            if kind:
                counts = (10 ** rng.uniform(0, 4, sizes.size) / sizes).astype(int) + 1
        elif kind == 2:
            sizes, counts = [1, 2], [rng.integers(0, 1000), rng.integers(1, 20)]
        elif kind == 3:
            sizes, counts = [1, rng.integers(2, 10_000)], [rng.integers(1, 100), 1]
        else:
            drawn = rng.zipf(rng.uniform(1.1, 3), rng.integers(2, 3000))
            sizes, counts = np.unique(drawn[drawn < 10**6], return_counts=True)
        if np.dot(sizes, counts) > 1:
            tables.append(FrequencyTable.of(sizes, counts))
    return tables


# Likelihood


def test_the_likelihood_is_its_definition():
    rng = np.random.default_rng(11)
    mp.mp.dps = 30
    for table in random_tables(rng, 25):
        if table.n > 20_000:
            continue
        alpha = float(rng.choice([0.0, 1e-7, rng.uniform(0, 0.99)]))
        phi = float(rng.uniform(-4, 14))
        exact = exact_log_likelihood(table.sizes, table.counts, mp.exp(phi) - alpha, alpha)
        packed = Packed.of([table])
        found = slopes(packed, np.array([phi]), np.array([alpha])).value[0]
        assert abs(found - exact) < 1e-11 * (abs(exact) + table.n)
        within = within_classes(packed, np.array([[alpha]]))[0]
        other = log_likelihood(table.n, table.classes, np.array([phi]), np.array([alpha]), within)
        assert abs(other[0] - exact) < 1e-11 * (abs(exact) + table.n)


def test_slopes_are_the_derivatives_of_the_definition():
    mp.mp.dps = 40
    sizes, counts = [1, 2, 3, 17, 40], [30, 12, 4, 2, 1]
    packed = Packed.of([FrequencyTable.of(sizes, counts)] * 2)
    for phi, alpha in [(2.0, 0.3), (-2.0, 0.9), (9.0, 1e-6), (4.0, 0.05)]:

        def at(p, a):
            return exact_log_likelihood(sizes, counts, mp.exp(p) - a, a)

        found = slopes(packed, np.full(2, phi), np.full(2, alpha))
        point = (mp.mpf(phi), mp.mpf(alpha))
        for name, order in [("phi", (1, 0)), ("alpha", (0, 1)), ("phi_phi", (2, 0)),
                            ("phi_alpha", (1, 1)), ("alpha_alpha", (0, 2))]:  # fmt: skip
            exact = float(mp.diff(at, point, order))
            assert getattr(found, name)[1] == pytest.approx(exact, rel=1e-9, abs=1e-9)


# Maximum


@pytest.mark.wide
def test_no_point_of_a_wide_grid_is_likelier_than_the_fit():
    rng = np.random.default_rng(12)
    tables = random_tables(rng, 300)
    top = maximise(Packed.of(tables))
    alphas = np.concatenate([[0, 1e-4], np.linspace(0.01, 0.999, 60), 1 - np.logspace(-4, -8, 5)])
    checked = 0
    for i, table in enumerate(tables):
        if top.names()[i] not in (INTERIOR, BOUNDARY):
            continue
        phi = np.linspace(-14, 2 * np.log(table.n) + 2, 120)[:, None]
        within = within_classes(Packed.of([table]), alphas[None])
        grid = log_likelihood(table.n, table.classes, phi, alphas[None, :] + 0 * phi, within)
        assert grid.max() <= top.log_likelihood[i] + 1e-9 * max(1, abs(grid.max()))
        checked += 1
    assert checked > 250


def test_fitting_many_tables_at_once_is_fitting_each():
    tables = random_tables(np.random.default_rng(13), 60)
    together = maximise(Packed.of(tables))
    for i, table in enumerate(tables):
        alone = maximise(Packed.of([table]))
        assert alone.names()[0] == together.names()[i]
        if alone.names()[0] in (INTERIOR, BOUNDARY):
            assert together.phi[i] == pytest.approx(alone.phi[0], rel=1e-8, abs=1e-8)
            assert together.alpha[i] == pytest.approx(alone.alpha[0], rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("model", ["pitman", "ewens"])
def test_the_score_is_zero_to_the_last_digits(model):
    mp.mp.dps = 40
    sizes, counts = [1, 2, 3, 9], [812, 150, 60, 9]
    found = fit(sizes, counts, 10**5, model)

    def score(order):
        point = (mp.mpf(found.theta), mp.mpf(found.alpha))
        return float(mp.diff(lambda t, a: exact_log_likelihood(sizes, counts, t, a), point, order))

    spread = found.covariance
    assert abs(score((1, 0))) * spread[0, 0] ** 0.5 < 1e-9
    if model == "pitman":
        assert abs(score((0, 1))) * spread[1, 1] ** 0.5 < 1e-9
        hessian = -np.array([[score((2, 0)), score((1, 1))], [score((1, 1)), score((0, 2))]])
        assert spread == pytest.approx(np.linalg.inv(hessian), rel=1e-6)
    else:
        assert found.alpha == 0
        assert spread[0, 0] == pytest.approx(-1 / score((2, 0)), rel=1e-6)


def test_a_large_seated_population_gives_its_parameters_back():
    rng = np.random.default_rng(14)
    for theta, alpha in [(300.0, 0.6), (5.0, 0.85), (40.0, 0.2)]:
        classes = np.bincount(seat_people(rng, 200_000, theta=theta, alpha=alpha))
        sizes, counts = np.unique(classes[classes > 0], return_counts=True)
        found = fit(sizes, counts, 10**6)
        assert found.status == INTERIOR
        miss = np.array([found.theta - theta, found.alpha - alpha])
        # chi-squared with two degrees of freedom: above 27.6 once in a million.
        assert miss @ np.linalg.inv(found.covariance) @ miss < 27.6


# Oracles


def test_oracle_samples_of_adult(shared):
    oracle = json.loads((shared / "oracles" / "population" / "adult_samples.json").read_text())
    for case in oracle["samples"]:
        table = case["freq_of_freq"]
        found = fit([int(j) for j in table], list(table.values()), case["N"])
        want = case["reference"]["pitman_mle_constrained_0_le_alpha_lt_1"]
        assert found.theta == pytest.approx(want["theta"], rel=1e-6)
        assert found.alpha == pytest.approx(want["alpha"], abs=1e-8)
        assert (found.status == BOUNDARY) == want["boundary_alpha0"]
        marginal, asymptotic = "num_uniques_exact_expectation", "num_uniques_asymptotic"
        assert found.expected_uniques_marginal == pytest.approx(want[marginal], rel=1e-6)
        assert found.expected_uniques_asymptotic == pytest.approx(want[asymptotic], rel=1e-6)
        inside = want["expected_population_uniques_in_sample"]
        assert found.expected_uniques_in_table == pytest.approx(inside, rel=1e-6)
        peer = case["arx"]["pitman"]
        if peer["interior_solution"]:
            assert found.theta == pytest.approx(peer["theta"], rel=1e-6)
            assert found.alpha == pytest.approx(peer["alpha"], abs=1e-7)
        if want["boundary_alpha0"]:
            assert found.covariance[1, 1] == 0
        else:
            deviation = np.sqrt(np.diag(found.covariance))
            assert deviation == pytest.approx([want["se_theta"], want["se_alpha"]], rel=1e-4)


def test_oracle_sweep_over_subsets_of_adult(shared):
    name = "adult_subset_sweep_part.json"
    oracle = json.loads((shared / "oracles" / "population" / name).read_text())
    tested = 0
    for case in oracle["cases"]:
        want, table = case["reference"], case["freq_of_freq"]
        if want is None:
            continue
        found = fit([int(j) for j in table], list(table.values()), case["N"])
        # The reference's interior fits have about six digits.
        assert found.theta == pytest.approx(want["theta"], rel=1e-4)
        assert found.alpha == pytest.approx(want["alpha"], abs=1e-5)
        assert found.expected_uniques_marginal == pytest.approx(want["pitman_exact"], rel=1e-4)
        tested += 1
    assert tested > 60


def test_oracle_edge_cases(shared):
    oracle = json.loads((shared / "oracles" / "population" / "adult_samples.json").read_text())
    for case in oracle["edge_cases"]:
        want, table = case["reference"], case["freq_of_freq"]
        if "theta" not in want:
            continue
        found = fit([int(j) for j in table], list(table.values()), case["N"])
        assert found.theta == pytest.approx(want["theta"], rel=1e-6)
        assert found.alpha == pytest.approx(want["alpha"], abs=1e-7)


# Pitfalls, one each


def test_all_unique_has_no_maximum_and_says_so():
    found = fit([1], [1000], 100_000)
    assert found.status == NO_MAXIMUM
    assert found.theta == np.inf
    assert found.covariance is None
    assert any("lower bound" in warning for warning in found.warnings)
    low, high = found.interval("expected_uniques")
    assert 50_000 < low < high
    assert high == pytest.approx(100_000, rel=1e-6)
    assert 0 < found.expected_uniques <= 100_000


def test_only_singles_and_pairs_is_on_the_boundary():
    found = fit([1, 2], [500, 250], 100_000)
    assert found.status == BOUNDARY
    assert found.theta == pytest.approx(1361.47, abs=0.01)
    assert found.expected_uniques_marginal == pytest.approx(1343.2, abs=0.1)


def test_all_but_one_pair_is_on_the_boundary_at_half_n_squared():
    found = fit([1, 2], [998, 1], 100_000)
    assert found.status == BOUNDARY
    assert found.theta == pytest.approx(498833.7778, rel=1e-9)


@pytest.mark.parametrize("N", [1, 1000])
def test_one_person_is_refused(N):
    with pytest.raises(UsageError, match="one person"):
        fit([1], [1], N)


def test_no_table_uniques_is_no_proof_of_no_population_uniques():
    found = fit([2, 5], [300, 10], 100_000)
    assert found.uniques == 0
    assert found.expected_uniques > 100
    assert found.p_unique_ratio is None
    assert any("no proof" in warning for warning in found.warnings)
    low, high = found.prediction_interval()
    assert 0 < low < found.expected_uniques < high


def test_no_pairs_but_triples_is_interior():
    found = fit([1, 3], [900, 30], 100_000)
    assert found.status == INTERIOR
    assert found.alpha == pytest.approx(0.9514442859557574, rel=1e-7)


@pytest.mark.parametrize("model", population.MODELS[:6])
def test_a_complete_table_returns_its_own_uniques(model):
    found = fit([1, 2, 3], [100, 150, 200], 1000, model)
    assert found.expected_uniques == pytest.approx(100, rel=1e-12)
    assert found.p_unique == pytest.approx(1, rel=1e-12)
    if model in ("pitman", "pitman-bayes", "ewens"):
        assert found.prediction_interval() == (100, 100)
        assert found.interval() == pytest.approx((100, 100))
        assert found.class_size_posterior(3).quantile(0.999) == 3


def test_a_population_smaller_than_the_table_is_refused():
    with pytest.raises(UsageError, match="smaller than the table"):
        fit([1, 2, 3], [100, 150, 200], 500)


@pytest.mark.parametrize("N", [317_000_000, 8_000_000_000, 10_000_000_000])
def test_billions_of_people(N):
    found = fit([1, 2, 3, 4], [1000, 200, 80, 30], N)
    assert found.theta == pytest.approx(2320.564668511256, rel=1e-9)
    assert found.expected_uniques_marginal == pytest.approx(2320.56, rel=1e-4)
    averaged = fit([1, 2, 3, 4], [1000, 200, 80, 30], N, "pitman-bayes")
    low, high = averaged.prediction_interval()
    assert low < averaged.expected_uniques < high <= N
    low, high = found.interval()
    assert low <= found.expected_uniques < high <= N
    law = found.class_size_posterior(1)
    assert 0 < law.p_equal < law.mean_inverse < 1
    assert sum(p for *_, p in law.bins()) == pytest.approx(1)


def test_one_giant_class_needs_a_negative_theta():
    found = fit([1, 9995], [5, 1], 100_000)
    assert found.status == INTERIOR
    assert found.theta == pytest.approx(-0.8189972189242031, rel=1e-8)
    assert found.alpha == pytest.approx(0.8967949864787593, rel=1e-8)
    # The table pins down far fewer uniques than the law of tables with these parameters.
    assert found.expected_uniques_marginal == pytest.approx(12591.66, rel=1e-5)
    assert found.expected_uniques < 100


def test_alpha_near_zero_with_sixty_million_people():
    rng = np.random.default_rng(15)
    theta, n = 800.0, 60_000_000
    # Ewens's sampling formula in the limit: about Poisson(theta/j) classes of size j, j << n.
    sizes = np.arange(1, 4000)
    counts = rng.poisson(theta / sizes)
    rest = n - int(sizes @ counts)
    large = np.sort(rng.dirichlet(np.ones(4000)) * rest).astype(int)
    large[-1] += rest - large.sum()
    found = fit(np.concatenate([sizes, large]), np.concatenate([counts, 0 * large + 1]), 10**9)
    assert found.status in (INTERIOR, BOUNDARY)
    assert found.top.rounds < 40
    assert found.alpha < 0.2
    packed = Packed.of([found.sample.table])
    at = slopes(packed, np.log([found.theta + found.alpha]), np.array([found.alpha]))
    assert abs(at.phi[0]) / np.sqrt(-at.phi_phi[0]) < 1e-6


def test_everybody_alike_is_not_identifiable():
    found = fit([500], [1], 10_000)
    assert found.status == "not identifiable"
    low, high = found.interval("expected_uniques")
    assert 0 <= low <= found.expected_uniques <= high < 1000


@pytest.mark.parametrize(
    ("sizes", "counts"),
    [([0, 1], [1, 1]), ([1, 2], [-1, 5]), ([1.5], [2]), ([1, 2], [3]), ([], []), ([1], [0]),
     (["a"], [1]), ([np.nan], [1])],
)  # fmt: skip
def test_frequencies_that_are_none_are_refused(sizes, counts):
    with pytest.raises((DataError, UsageError)):
        fit(sizes, counts, 1000)


@pytest.mark.parametrize("N", [0, -5, 10.5, np.nan, np.inf, "many", None, True, 2.0**60])
def test_a_population_that_is_none_is_refused(N):
    with pytest.raises(UsageError):
        fit([1, 2], [5, 2], N)


def test_repeated_and_unsorted_sizes_are_merged():
    one = fit([3, 1, 2, 1], [60, 400, 150, 412], 10_000)
    other = fit([1, 2, 3], [812, 150, 60], 10_000)
    assert one.theta == other.theta
    assert one.alpha == other.alpha
