"""Intervals: against dense grids, against simulation, and their coverage."""

from functools import partial

import numpy as np
import pytest
from scipy.special import gammaincinv

from reidbn import population
from reidbn.theory import (
    FrequencyTable,
    Nodes,
    Packed,
    Realised,
    Region,
    disagrees,
    expected_uniques_given,
    log_likelihood,
    maximise,
    mean_inverse,
    mean_inverse_over,
    posterior,
    posteriors,
    seat_people,
    stays_unique,
    within_classes,
)

TABLES = {
    "interior": ([1, 2, 3, 9], [812, 150, 60, 9], 100_000),
    "small": ([1, 2, 3], [40, 6, 2], 3_000),
    "boundary": ([1, 2, 3, 5], [812, 150, 60, 9], 100_000),
    "near full": ([1, 2, 4, 30], [300, 80, 30, 5], 900),
}


def dense(fit, low_phi, high_phi, size=700):
    """The log-likelihood on a dense grid of its whole domain."""
    phi = np.linspace(low_phi, high_phi, size)[:, None]
    alpha = np.concatenate([[0.0], np.linspace(0, 1 - 1e-6, size)[1:]])[None, :]
    table = fit.sample.table
    within = within_classes(fit.region.packed, alpha)
    phi, alpha = np.broadcast_arrays(phi, alpha)
    value = log_likelihood(table.n, table.classes, phi, alpha, np.broadcast_to(within, phi.shape))
    return np.exp(phi) - alpha, alpha, value


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("quantity", ["expected_uniques", "p_unique", "alpha"])
def test_profile_intervals_hold_what_a_likelihood_ratio_test_accepts(name, quantity):
    sizes, counts, N = TABLES[name]
    fit = population.fit(sizes=sizes, counts=counts, population=N)
    low, high = fit.interval(quantity, level=0.9)
    theta, alpha, value = dense(fit, *((-6, 9) if name == "small" else (-2, 9)))
    accepted = value >= fit.log_likelihood - gammaincinv(0.5, 0.9)
    g = fit._quantity(quantity)(theta, alpha)[accepted]
    wide = high - low
    assert g.min() >= low - 1e-6 * wide
    assert g.max() <= high + 1e-6 * wide
    # The grid's own spacing is the rest.
    assert g.min() == pytest.approx(low, abs=0.02 * wide)
    assert g.max() == pytest.approx(high, abs=0.02 * wide)


def test_grids_of_many_tables_together_are_the_grids_of_each():
    """Tables with nobody alone, with everybody alone, and of one class among them."""
    rng = np.random.default_rng(31)
    tables = [FrequencyTable.of([1], [40]), FrequencyTable.of([40], [1])]
    for _ in range(40):
        sizes = np.unique(rng.integers(1, 10 ** rng.integers(1, 4), rng.integers(1, 7)))
        tables.append(FrequencyTable.of(sizes, rng.integers(1, 300, sizes.size)))
    packed, N = Packed.of(tables), 10_000_000.0
    together = list(posteriors(Region(packed, N, maximise(packed))))
    assert len(together) == len(tables)
    for table, found in zip(tables, together, strict=True):
        own = Packed.of([table])
        alone = posterior(Region(own, N, maximise(own)))
        assert found.weight.size == alone.weight.size
        for quantity in (stays_unique, partial(mean_inverse, 1)):
            means = [
                at.mean(quantity(table.n, int(N), theta=at.theta, alpha=at.alpha))
                for at in (found, alone)
            ]
            assert means[0] == pytest.approx(means[1], rel=1e-8, abs=1e-11)


def test_class_sizes_walked_together_match_as_each_alone():
    rng = np.random.default_rng(32)
    for _ in range(60):
        n = int(10 ** rng.uniform(0, 4))
        N = n + int(10 ** rng.uniform(0, 7)) * int(rng.random() < 0.9)
        alpha = rng.uniform(0, 0.99, 50) * (rng.random(50) < 0.8)
        at = {"theta": 10 ** rng.uniform(-3, 9, 50) - alpha / 2 * (n > 1), "alpha": alpha}
        at["theta"] = np.maximum(at["theta"], -alpha * 0.99 + 1e-9)
        weight = rng.dirichlet(np.ones(50))
        sizes = rng.integers(1, min(n, 200) + 1, 30)
        each = mean_inverse(sizes[:, None], n, N, **at) @ weight
        found = mean_inverse_over(sizes, n, N, **at, weight=weight)
        assert found == pytest.approx(each, rel=1e-13)


@pytest.mark.parametrize("name", TABLES)
def test_the_posterior_grid_is_the_dense_posterior(name):
    sizes, counts, N = TABLES[name]
    fit = population.fit(sizes=sizes, counts=counts, population=N, model="pitman-bayes")
    low, high = (float(bound[0, 0]) for bound in fit.region.bounds)
    theta, alpha, value = dense(fit, low, high, size=900)
    weight = np.exp(value - value.max())
    weight[:, [0, -1]] /= 2  # the trapezoid's ends
    weight /= weight.sum()
    for quantity in ("expected_uniques", "p_unique", "alpha"):
        exact = float((weight * fit._quantity(quantity)(theta, alpha)).sum())
        assert fit._mean(quantity) == pytest.approx(exact, rel=2e-4)


def test_the_interval_is_closed_at_full_knowledge_and_widens_with_the_level():
    fit = population.fit(sizes=[1, 2], counts=[400, 90], population=5_000)
    narrow, wide = fit.interval(level=0.5), fit.interval(level=0.99)
    assert wide[0] < narrow[0] < fit.expected_uniques < narrow[1] < wide[1]
    grid = fit.interval(method="grid")
    assert grid[0] < fit.expected_uniques < grid[1]
    inner, outer = fit.prediction_interval(level=0.5), fit.prediction_interval(level=0.99)
    assert outer[0] < inner[0] < inner[1] < outer[1]


@pytest.mark.parametrize(
    ("sizes", "counts", "N", "theta", "alpha"),
    [([1, 2, 5], [50, 10, 3], 1500, 20.0, 0.5), ([1, 20], [5, 1], 1500, 2.0, 0.0),
     ([1], [100], 120, 50.0, 0.3), ([3, 4, 5], [1, 1, 1], 1000, 0.5, 0.2),
     ([1, 2], [900, 50], 1010, 4000.0, 0.2)],
)  # fmt: skip
def test_the_law_of_realised_uniques_against_growing_the_population(sizes, counts, N, theta, alpha):
    rng = np.random.default_rng(41)
    trials = 20_000
    table = FrequencyTable.of(sizes, counts)
    classes = np.full(trials, float(table.classes))
    ones = np.full(trials, float(table.uniques))
    for m in range(table.n, N):
        point = rng.random(trials) * (m + theta)
        founds = point < theta + classes * alpha
        joins = ~founds & (point < theta + classes * alpha + ones * (1 - alpha))
        classes += founds
        ones += founds
        ones -= joins
    law = Realised.of(table.n, N, table.uniques, table.classes, Nodes.single(theta, alpha))
    error = 5 * ones.std() / trials**0.5  # once in two million
    assert abs(ones.mean() - law.mean) < error
    assert ones.var() == pytest.approx(law.variance, rel=0.06)
    for q in (0.025, 0.5, 0.975):
        at = law.quantile(q)
        assert (ones <= at).mean() >= q - 0.015
        assert (ones < at).mean() <= q + 0.015
    drawn = law.sample(rng, trials)
    assert abs(drawn.mean() - law.mean) < error
    assert drawn.var() == pytest.approx(law.variance, rel=0.1)


def test_survivors_of_the_table_against_growing_the_population():
    rng = np.random.default_rng(42)
    trials, n, N, theta, alpha, f1 = 20_000, 60, 400, 8.0, 0.4, 30
    alive = np.full(trials, float(f1))
    for m in range(n, N):
        alive -= rng.random(trials) * (m + theta) < alive * (1 - alpha)
    law = Realised.of_table(n, N, f1, Nodes.single(theta, alpha))
    assert abs(alive.mean() - law.mean) < 5 * alive.std() / trials**0.5
    assert alive.var() == pytest.approx(law.variance, rel=0.06)
    assert (alive <= law.quantile(0.9)).mean() >= 0.885
    assert law.quantile(1.0) <= f1


def drawn_case(seed):
    """A Pitman population of random parameters, a table from it, and what there is to find."""
    rng = np.random.default_rng([2024, seed])
    theta, alpha = 10 ** rng.uniform(-0.5, 3.5), rng.uniform(0, 0.95)
    N = int(10 ** rng.uniform(3.5, 5))
    n = max(int(10 ** rng.uniform(-2.3, -0.3) * N), 20)
    who = seat_people(rng, N, theta=theta, alpha=alpha)
    everybody, sampled = np.bincount(who), np.bincount(who[:n])
    sizes, counts = np.unique(sampled[sampled > 0], return_counts=True)
    fit = population.fit(sizes=sizes, counts=counts, population=N)
    expected = expected_uniques_given(
        n, N, uniques=fit.uniques, classes=fit.classes, theta=theta, alpha=alpha
    )
    inside = int((everybody[np.unique(who[:n])] == 1).sum())
    return fit, int((everybody == 1).sum()), expected, inside


def covered(seeds):
    found = {"prediction": 0, "in table": 0, "profile": 0, "grid": 0}
    for seed in seeds:
        fit, uniques, expected, inside = drawn_case(seed)
        low, high = fit.prediction_interval()
        found["prediction"] += low <= uniques <= high
        low, high = fit.prediction_interval("uniques_in_table")
        found["in table"] += low <= inside <= high
        for method in ("profile", "grid"):
            low, high = fit.interval(method=method)
            found[method] += low <= expected <= high
    return found


@pytest.mark.wide
def test_intervals_cover_on_simulated_tables():
    found = covered(range(100))
    for hits in found.values():
        assert not disagrees(hits, 100, 0.95, level=1e-3)


@pytest.mark.slow
def test_prediction_intervals_cover_92_to_98_percent_of_800_simulated_tables():
    found = covered(range(1000, 1800))
    assert 0.92 * 800 <= found["prediction"] <= 0.98 * 800
    assert 0.92 * 800 <= found["in table"] <= 0.98 * 800
    assert 0.92 * 800 <= found["profile"] <= 0.98 * 800
    assert 0.92 * 800 <= found["grid"] <= 0.98 * 800


def test_the_uniqueness_curve_runs_through_the_fit():
    fit = population.fit(sizes=[1, 2, 3, 9], counts=[812, 150, 60, 9], population=100_000)
    curve = population.uniqueness_curve(fit, [1e-4, fit.sampling_fraction, 0.3, 1.0])
    assert curve["p_unique"].iloc[1] == pytest.approx(fit.p_unique)
    assert curve["p_unique"].iloc[-1] == 1
    assert (np.diff(curve["p_unique"]) > 0).all()
    assert (curve["low"] <= curve["p_unique"]).all()
    assert (curve["p_unique"] <= curve["high"]).all()
    nodes = fit.nodes
    far = stays_unique(fit.n, fit.n * 10_000, theta=nodes.theta[0], alpha=nodes.alpha[0])
    assert curve["p_unique"].iloc[0] == pytest.approx(far, rel=1e-9)


def test_a_rehearsal_predicts_a_seated_table_from_its_parts():
    rng = np.random.default_rng(43)
    classes = np.bincount(seat_people(rng, 5_000, theta=120.0, alpha=0.5))
    sizes, counts = np.unique(classes[classes > 0], return_counts=True)
    fit = population.fit(sizes=sizes, counts=counts, population=50_000)
    found = fit.rehearse(seed=1)
    assert found.part == 500
    assert found.counted == fit.uniques
    assert found.ratio == pytest.approx(1, abs=0.35)
    assert found.held >= 3
    assert fit.rehearse(seed=1) == found
    with pytest.raises(population.fitting.UsageError, match="too small"):
        population.fit(sizes=[1, 2], counts=[50, 10], population=5_000).rehearse()
