"""The hypergeometric law of a leaked class, against rationals and fifty-digit arithmetic."""

from fractions import Fraction
from itertools import product
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import inside

from reidbn.errors import UsageError
from reidbn.theory import identified, leaked_pmf, log_none_leaked, none_leaked


def exact_none(D, L, k):
    """P(H = 0) multiplied out with fifty digits; shares nothing with the implementation."""
    with mpmath.workdps(50):
        few, many = min(L, k), max(L, k)
        if L + k > D:
            return mpmath.mpf(0)
        return mpmath.fprod(mpmath.mpf(D - i - many) / (D - i) for i in range(few))


def exact_pmf(D, L, k, h):
    return Fraction(comb(k, h) * comb(D - k, L - h), comb(D, L))


def relative(found, wanted):
    with mpmath.workdps(50):
        return float(abs((mpmath.mpf(found) - wanted) / wanted)) if wanted else abs(float(found))


@pytest.mark.parametrize("D", [1, 2, 5, 9])
def test_every_small_case_is_the_ratio_of_binomials(D):
    for L, k in product(range(D + 1), range(1, D + 1)):
        pmf = leaked_pmf(D, L, k, longest=D)
        wanted = [exact_pmf(D, L, k, h) if h <= k and h <= L else Fraction(0) for h in range(D + 1)]
        assert np.allclose(pmf, [float(w) for w in wanted], rtol=4e-15, atol=0)
        assert identified(D, L, k) == pytest.approx(float((1 - wanted[0]) / k), rel=1e-15)


@pytest.mark.parametrize("D", [10**4, 10**6, 10**8, 10**9])
def test_the_risk_of_one_target_keeps_fourteen_digits_up_to_a_thousand_million(D):
    rng = np.random.default_rng(20250601)
    worst = 0.0
    for share in (0.0, 1e-6, 1e-3, 0.1, 0.4, 0.5, 0.9, 0.999, 1.0):
        for k in [1, 2, 3, 5, 20, 200, *rng.integers(1, 3000, 3).tolist()]:
            L = min(D, max(1, round(share * D)))
            with mpmath.workdps(50):
                wanted = (1 - exact_none(D, L, k)) / k
            worst = max(worst, relative(identified(D, L, k), wanted))
    assert worst < 1e-14


@pytest.mark.parametrize("D", [10**4, 10**6, 10**8, 10**9])
def test_every_probability_of_the_leaked_class_size_keeps_fourteen_digits(D):
    worst = 0.0
    for L, k in product((3, D // 1000, D // 7, 2 * D // 5, D - 2), (1, 5, 20, 200)):
        pmf = leaked_pmf(D, L, k, longest=200)
        for h in range(max(0, L + k - D), min(k, L) + 1):
            with mpmath.workdps(50):
                choose = [mpmath.binomial(*pair) for pair in ((k, h), (D - k, L - h), (D, L))]
                wanted = choose[0] * choose[1] / choose[2]
            if wanted > 1e-290:
                worst = max(worst, relative(pmf[h], wanted))
    assert worst < 1e-14


def test_probabilities_below_the_range_of_a_float_keep_their_logarithm():
    with mpmath.workdps(50):
        wanted = mpmath.log(exact_none(10**6, 600_000, 3_000))
    assert none_leaked(10**6, 600_000, 3_000) == 0.0
    assert relative(log_none_leaked(10**6, 600_000, 3_000), wanted) < 1e-14


def test_a_class_that_must_be_touched_is_never_left_out():
    assert log_none_leaked(10, 8, 3) == -np.inf
    assert identified(10, 8, 3) == pytest.approx(1 / 3, rel=1e-15)
    assert identified(10, 0, 3) == 0.0


def test_an_empty_class_has_nobody_in_the_leak():
    assert none_leaked(10, 4, 0) == 1.0
    assert leaked_pmf(10, 4, 0, longest=2).tolist() == [1.0, 0.0, 0.0]


def test_arrays_broadcast_and_agree_with_single_calls():
    D, L, k = np.array([[50], [700]]), np.array([[3], [650]]), np.array([1, 4, 30])
    table = leaked_pmf(D, L, k, longest=30)
    assert table.shape == (2, 3, 31)
    for i, j in product(range(2), range(3)):
        alone = leaked_pmf(D[i, 0], L[i, 0], k[j], longest=30)
        assert np.array_equal(table[i, j], alone)
        assert identified(D, L, k)[i, j] == identified(D[i, 0], L[i, 0], k[j])


def test_working_in_small_blocks_changes_nothing(monkeypatch):
    k = np.arange(1, 400)
    whole = log_none_leaked(10_000, 300, k)
    monkeypatch.setattr(inside(log_none_leaked), "_BLOCK", 64)
    assert np.allclose(log_none_leaked(10_000, 300, k), whole, rtol=1e-14, atol=0)


@settings(deadline=None)
@given(st.integers(1, 10**9), st.floats(0, 1), st.floats(0, 1))
def test_the_law_sums_to_one_has_the_right_mean_and_is_symmetric(D, leak, size):
    L, k = round(leak * D), max(1, round(size**4 * min(D, 2_000)))
    pmf = leaked_pmf(D, L, k, longest=k)
    assert pmf.sum() == pytest.approx(1, rel=1e-13)
    assert pmf @ np.arange(k + 1) == pytest.approx(k * L / D, rel=1e-12)
    if 1 <= L <= 2_000:
        short = min(k, L) + 1
        swapped = leaked_pmf(D, k, L, longest=L)
        assert np.allclose(pmf[:short], swapped[:short], rtol=1e-11, atol=1e-300)


@settings(deadline=None)
@given(st.integers(2, 10**6), st.data())
def test_more_leaked_never_makes_identification_less_likely(D, data):
    k = data.draw(st.integers(1, min(D, 500)))
    L = data.draw(st.integers(0, D - 1))
    assert identified(D, L, k) <= identified(D, L + 1, k) * (1 + 1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, 11, 2), "leaked is 11; it must be from 0 to the number of records"),
        ((10, 4, 0), "class_size is 0; it must be 1 or more: the target is in the class"),
        ((10, 4, 12), "class_size is 12; it must be from 0 to the number of records"),
        ((0, 0, 1), "records is 0; it must be 1 or more"),
        ((10, 2.5, 2), "leaked is .*2.5.*; it must be a whole number"),
        ((10, float("nan"), 2), "leaked is .*nan.*; it must be a whole number"),
    ],
)
def test_a_wrong_count_is_refused_with_what_would_be_right(arguments, message):
    with pytest.raises(UsageError, match=message):
        identified(*arguments)


def test_a_table_too_short_for_the_class_is_refused():
    with pytest.raises(UsageError, match=r"longest=3 leaves out h .* need >= 4"):
        leaked_pmf(10, 4, 5, longest=3)
