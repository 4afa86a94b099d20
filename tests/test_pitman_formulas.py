"""Closed forms of Pitman's partition against rationals, mpmath and seating people one by one."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import prod

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seating import class_law, followed_class, seatings

from reidbn.errors import UsageError
from reidbn.theory import (
    ClassSizePosterior,
    Nodes,
    disagrees,
    expected_uniques,
    expected_uniques_asymptotic,
    expected_uniques_given,
    factorial_moments_given,
    log1p_sums,
    log_class_size_pmf,
    log_ratio,
    log_ratio_slope,
    log_stays_unique,
    log_thinning,
    mean_inverse,
    seat_people,
    stays_unique,
    urn_growth,
)

_PAIRS = [("1/2", "1/4"), ("-1/8", "1/4"), ("3", "0"), ("-1/5", "9/10"), ("40", "2/3")]
PARAMETERS = [(Fraction(theta), Fraction(alpha)) for theta, alpha in _PAIRS]


def numbers(theta, alpha):
    return {"theta": float(theta), "alpha": float(alpha)}


# Gamma ratios and sums


def test_log_gamma_ratios_keep_fourteen_digits_from_1e_3_to_1e15():
    rng = np.random.default_rng(1)
    mp.mp.dps = 60
    for _ in range(400):
        z = 10 ** rng.uniform(-3, 15)
        a = rng.choice([rng.uniform(0, 1), 10 ** rng.uniform(-12, 0), 10 ** rng.uniform(0, 12)])
        exact = mp.loggamma(mp.mpf(z) + mp.mpf(a)) - mp.loggamma(mp.mpf(z))
        # Near its zero (z about 1) the ratio's logarithm is small against its parts.
        size = max(abs(exact), a * max(1, abs(mp.log(z))) / 100)
        assert abs(log_ratio(z, a) - exact) < 1e-13 * size


def test_a_tiny_step_keeps_its_relative_precision():
    mp.mp.dps = 60
    for z in (0.7, 25.0, 3e8, 1e15):
        exact = mp.psi(0, mp.mpf(z)) * mp.mpf("1e-20")
        assert abs(log_ratio(z, 1e-20) / exact - 1) < 1e-12


@pytest.mark.parametrize("z", [20.5, 1e3, 3e8, 1e15])
def test_slope_of_log_ratio(z):
    mp.mp.dps = 50
    exact = mp.psi(0, mp.mpf(z) + mp.mpf("0.25")) - mp.psi(0, mp.mpf(z))
    assert abs(log_ratio_slope(z, 0.25) / exact - 1) < 1e-13


def test_log1p_sums_against_direct_summation():
    rng = np.random.default_rng(2)
    mp.mp.dps = 50
    for _ in range(150):
        m, x = int(10 ** rng.uniform(0, 3)), 10 ** rng.uniform(-14, 6)
        j, X = [mp.mpf(i) for i in range(m)], mp.mpf(x)
        exact = (
            mp.fsum(mp.log1p(i * X) for i in j),
            mp.fsum(i / (1 + i * X) for i in j),
            mp.fsum((i / (1 + i * X)) ** 2 for i in j),
        )
        for got, want, tolerance in zip(log1p_sums(x, m), exact, (1e-12, 1e-11, 1e-9), strict=True):
            assert abs(got - want) <= tolerance * abs(want) + 1e-14 * (m == 1)


@pytest.mark.parametrize(
    ("start", "steps", "loss"), [(4, 9, 1), (60, 2, Fraction(1, 3)), (1000, 40, 2)]
)
def test_thinning_is_the_product_it_says(start, steps, loss):
    exact = prod((Fraction(start) + m - loss) / (start + m) for m in range(steps))
    assert np.exp(log_thinning(float(start), steps, float(loss))) == pytest.approx(
        float(exact), rel=1e-14
    )


# Uniques


@pytest.mark.parametrize(("theta", "alpha"), PARAMETERS)
def test_stays_unique_multiplied_out(theta, alpha):
    for n, N in [(1, 1), (1, 9), (5, 12), (30, 31), (100, 180)]:
        exact = prod((m + theta + alpha - 1) / (m + theta) for m in range(n, N))
        assert stays_unique(n, N, **numbers(theta, alpha)) == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize(("theta", "alpha"), PARAMETERS)
@pytest.mark.parametrize("sizes", [(1,), (1, 1, 3), (2, 2), (1, 1), (1, 4, 1)])
def test_moments_of_population_uniques_over_all_seatings(sizes, theta, alpha):
    n, N = sum(sizes), 9
    ones = sizes.count(1)
    seated = seatings(sizes, N, theta, alpha)
    uniques = [(classes.count(1), p) for classes, p in seated.items()]
    first = sum(s * p for s, p in uniques)
    second = sum(s * (s - 1) * p for s, p in uniques)
    given_table = {"uniques": ones, "classes": len(sizes), **numbers(theta, alpha)}
    assert expected_uniques_given(n, N, **given_table) == pytest.approx(float(first), rel=1e-12)
    got = factorial_moments_given(n, N, **given_table)
    assert got[0] == pytest.approx(float(first), rel=1e-12)
    assert got[1] == pytest.approx(float(second), rel=1e-12)
    if sizes == (1,):
        assert expected_uniques(N, **numbers(theta, alpha)) == pytest.approx(
            float(first), rel=1e-12
        )


def test_the_usual_asymptotic_form_is_too_high_by_the_known_factor():
    theta, alpha, N = 5562.0, 0.0, 30162
    ratio = expected_uniques_asymptotic(N, theta=theta, alpha=alpha) / expected_uniques(
        N, theta=theta, alpha=alpha
    )
    assert ratio == pytest.approx((1 + theta / N) ** (1 - alpha), rel=1e-3)


def test_a_complete_table_has_its_own_uniques():
    args = {"uniques": 17, "classes": 40, "theta": 3.0, "alpha": 0.5}
    assert expected_uniques_given(90, 90, **args) == 17
    first, second = factorial_moments_given(90, 90, **args)
    assert (float(first), float(second)) == (17.0, 17.0 * 16.0)


@pytest.mark.parametrize("theta", [0.5, 3e4, 1e12])
@pytest.mark.parametrize("alpha", [0.0, 1e-9, 0.3, 0.999])
def test_eight_billion_people_keep_their_digits(theta, alpha):
    mp.mp.dps = 50
    t, a = mp.mpf(theta), mp.mpf(alpha)
    for n in (2, 40_000, 60_000_000):
        exact = (
            mp.loggamma(8 * 10**9 + t - 1 + a) - mp.loggamma(n + t - 1 + a)
            + mp.loggamma(n + t) - mp.loggamma(8 * 10**9 + t)
        )  # fmt: skip
        got = log_stays_unique(n, 8e9, theta=theta, alpha=alpha)
        assert abs(got / exact - 1) < 1e-11


@given(
    n=st.integers(1, 10**6),
    more=st.integers(0, 10**9),
    alpha=st.floats(0, 0.95),
    theta=st.floats(1e-3, 1e9),
)
def test_a_larger_population_never_makes_uniqueness_likelier(n, more, alpha, theta):
    near, far = (stays_unique(n, n + k, theta=theta, alpha=alpha) for k in (more, more + 1))
    assert 0 <= far <= near * (1 + 1e-12)


def test_parameters_and_sizes_out_of_range_are_refused():
    for n, N, theta, alpha in [(5, 4, 1, 0), (0, 4, 1, 0), (2, 4, -0.5, 0.5), (2, 4, 1, 1.0),
                               (2, 4, 1, -0.1), (2, 4, np.inf, 0)]:  # fmt: skip
        with pytest.raises(UsageError):
            stays_unique(n, N, theta=theta, alpha=alpha)


# Class sizes


@pytest.mark.parametrize(("theta", "alpha"), PARAMETERS)
@pytest.mark.parametrize(("f", "n", "N"), [(1, 1, 6), (1, 5, 12), (3, 5, 12), (5, 5, 9), (2, 7, 7)])
def test_the_class_size_law_is_the_urn(f, n, N, theta, alpha):
    law = class_law(f, n, N, theta, alpha)
    assert law == followed_class(f, n, N, theta, alpha)
    got = np.exp(log_class_size_pmf(f + np.arange(N - n + 1), f, n, N, **numbers(theta, alpha)))
    assert got == pytest.approx([float(p) for p in law], rel=1e-12)
    exact = float(sum(p / (f + K) for K, p in enumerate(law)))
    assert mean_inverse(f, n, N, **numbers(theta, alpha)) == pytest.approx(exact, rel=1e-12)
    whole = ClassSizePosterior(f, n, N, Nodes.single(float(theta), float(alpha)))
    assert whole.mean == pytest.approx(
        float(sum((f + K) * p for K, p in enumerate(law))), rel=1e-12
    )
    assert whole.p_equal == pytest.approx(float(law[0]), rel=1e-12)
    assert whole.mean_inverse == pytest.approx(exact, rel=1e-12)


def summed_mean_inverse(f, n, N, theta, alpha):
    """Sum over every population size, in fifty digits."""
    M, t, al = N - n, mp.mpf(theta), mp.mpf(alpha)
    a, b = f - al, t + n - f + al
    p = mp.exp(mp.loggamma(b + M) - mp.loggamma(b) + mp.loggamma(a + b) - mp.loggamma(a + b + M))
    total = mp.mpf(0)
    for K in range(M + 1):
        total += p / (f + K)
        if K < M:
            p = p * (M - K) * (a + K) / ((K + 1) * (b + M - K - 1))
    return total


def test_mean_inverse_summed_in_fifty_digits():
    rng = np.random.default_rng(3)
    mp.mp.dps = 50
    for _ in range(120):
        n, M = int(10 ** rng.uniform(0, 4)), int(10 ** rng.uniform(0, 3.3))
        f = min(n, int(10 ** rng.uniform(0, 2.5)))
        alpha = float(rng.choice([0.0, rng.uniform(0, 1)]))
        theta = -alpha + 10 ** rng.uniform(-2, 8)
        exact = summed_mean_inverse(f, n, n + M, theta, alpha)
        assert abs(mean_inverse(f, n, n + M, theta=theta, alpha=alpha) / exact - 1) < 2e-12


def test_mean_inverse_obeys_its_recursion_at_ten_billion():
    n, N, theta, alpha = 30_000, 10**10, 300.0, 0.6
    f = np.arange(1, 500)
    e = mean_inverse(f, n, N, theta=theta, alpha=alpha)
    c, M = theta + n - 1, N - n
    left = f[:-1] * (c - f[:-1] + alpha) * e[:-1] + (f[:-1] + M + 1) * (f[:-1] - alpha) * e[1:]
    assert left == pytest.approx(c, rel=1e-9)
    assert (np.diff(e) < 0).all()


def test_the_cdf_of_a_large_population_is_that_of_its_summed_law():
    rng = np.random.default_rng(4)
    for _ in range(25):
        n, M = int(10 ** rng.uniform(1, 4)), int(10 ** rng.uniform(3, 4.7))
        f, alpha = min(n, int(10 ** rng.uniform(0, 3))), rng.uniform(0, 0.95)
        law = ClassSizePosterior(f, n, n + M, Nodes.single(10 ** rng.uniform(-1, 5), alpha))
        upto = np.cumsum(law.pmf(f + np.arange(M + 1)))
        assert upto[-1] == pytest.approx(1, abs=1e-10)
        at = rng.integers(0, M + 1, 8)
        assert law.cdf(f + at) == pytest.approx(upto[at], abs=1e-9)
        for q in (0.025, 0.5, 0.975):
            assert law.quantile(q) == f + int(np.searchsorted(upto, q - 1e-9))


def test_bins_of_a_class_size_add_up_to_one_even_for_ten_billion():
    law = ClassSizePosterior(3, 30_000, 10**10, Nodes.single(300.0, 0.6))
    bins = law.bins()
    assert sum(p for *_, p in bins) == pytest.approx(1, abs=1e-12)
    assert bins[0][0] == 3
    assert bins[-1][1] == law.support[1]
    assert all(before[1] + 1 == after[0] for before, after in pairwise(bins))
    assert len(bins) < 200


def test_a_mixture_of_parameters_is_the_mixture_of_laws():
    one, two = Nodes.single(2.0, 0.1), Nodes.single(50.0, 0.7)
    mix = Nodes(np.array([2.0, 50.0]), np.array([0.1, 0.7]), np.array([0.25, 0.75]))
    parts = [ClassSizePosterior(2, 50, 900, nodes) for nodes in (one, two)]
    whole = ClassSizePosterior(2, 50, 900, mix)
    for name in ("mean", "mean_inverse", "p_equal"):
        a, b = (getattr(part, name) for part in parts)
        assert getattr(whole, name) == pytest.approx(0.25 * a + 0.75 * b, rel=1e-12)
    size = np.array([2, 5, 60, 700])
    expected = 0.25 * parts[0].pmf(size) + 0.75 * parts[1].pmf(size)
    assert whole.pmf(size) == pytest.approx(expected, rel=1e-12)


# Acted out


@pytest.mark.parametrize(("theta", "alpha"), [(-0.2, 0.5), (2.0, 0.0), (1.5, 0.7)])
def test_seating_people_has_the_exact_law_of_partitions(theta, alpha):
    rng = np.random.default_rng(20250101)
    trials = 20_000
    seen = Counter()
    for _ in range(trials):
        classes = np.bincount(seat_people(rng, 5, theta=theta, alpha=alpha))
        seen[tuple(sorted(classes[classes > 0].tolist()))] += 1
    exact = seatings(
        (1,), 5, Fraction(theta).limit_denominator(), Fraction(alpha).limit_denominator()
    )
    assert set(seen) <= set(exact)
    for classes, p in exact.items():
        assert not disagrees(seen[classes], trials, float(p), level=1e-6 / len(exact))


def test_agrees_with_seating_people_one_by_one():
    rng = np.random.default_rng(20250102)
    n, N, theta, alpha, trials = 5, 40, 2.0, 0.3, 20_000
    seats = np.arange(n, N)
    alone = (rng.random((trials, N - n)) >= (1 - alpha) / (seats + theta)).all(axis=1)
    p = stays_unique(n, N, theta=theta, alpha=alpha)
    assert not disagrees(int(alone.sum()), trials, p, level=1e-6)


def test_the_urn_draws_the_class_size_law():
    rng = np.random.default_rng(20250103)
    f, n, N, theta, alpha, trials = 2, 10, 60, 1.5, 0.4, 40_000
    law = ClassSizePosterior(f, n, N, Nodes.single(theta, alpha))
    drawn = urn_growth(rng, np.full(trials, f), n, N, theta=theta, alpha=alpha)
    for size in range(2, 12):
        hits = int((drawn == size).sum())
        assert not disagrees(hits, trials, float(law.pmf(size)), level=1e-6 / 20)
    sampled = law.sample(rng, trials)
    for size in range(2, 12):
        hits = int((sampled <= size).sum())
        assert not disagrees(hits, trials, float(law.cdf(size)), level=1e-6 / 20)


def test_a_planted_error_in_the_seating_is_caught():
    rng = np.random.default_rng(20250104)
    trials = 20_000
    alone = sum(
        np.bincount(seat_people(rng, 6, theta=1.0, alpha=0.35))[0] == 1 for _ in range(trials)
    )
    right = stays_unique(1, 6, theta=1.0, alpha=0.35)
    wrong = stays_unique(1, 6, theta=1.0, alpha=0.30)
    assert not disagrees(int(alone), trials, right, level=1e-6)
    assert disagrees(int(alone), trials, wrong, level=1e-3)
