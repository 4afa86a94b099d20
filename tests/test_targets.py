"""Many targets: the exact answer against enumeration, rationals and sixty digits."""

import json
from collections import Counter
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import inside

from reidbn.errors import TooLarge
from reidbn.theory import Classes, find_log_odds, identified, log_all_identified
from tests import leak_oracle as oracle


def as_classes(classes):
    return Classes(np.array(list(classes)), np.array(list(classes.values())))


def log_exact(classes, L, n):
    return log_all_identified(as_classes(classes), np.atleast_1d(L), n)


def exact(classes, L, n):
    return float(np.exp(log_exact(classes, L, n)[0]))


class_tables = st.dictionaries(st.integers(1, 9), st.integers(1, 4), min_size=1, max_size=4)


@pytest.mark.parametrize("D", range(1, 7))
def test_every_table_of_up_to_six_records_equals_the_full_enumeration(D):
    for classes, L, n in product(oracle.partitions(D), range(D + 1), range(1, min(D, 4) + 1)):
        wanted = oracle.every_leak(classes, L, n)
        assert exact(classes, L, n) == pytest.approx(float(wanted), rel=1e-13, abs=0)


@pytest.mark.parametrize("D", [7, 8, pytest.param(9, marks=pytest.mark.slow)])
def test_tables_of_up_to_nine_records_equal_the_enumeration_of_sets(D):
    for classes, L in product(oracle.partitions(D), range(1, D + 1, 2)):
        for n in range(2, D + 1, 2):
            wanted = oracle.every_leak_by_sets(classes, L, n)
            assert exact(classes, L, n) == pytest.approx(float(wanted), rel=1e-13, abs=0)


def test_the_order_of_the_targets_changes_nothing_in_the_enumeration():
    for classes, L in product(oracle.partitions(5), range(6)):
        assert oracle.every_leak(classes, L, 3) == oracle.every_leak_by_sets(classes, L, 3)


@settings(max_examples=60, deadline=None)
@given(class_tables, st.data())
def test_the_circle_equals_the_generating_function_in_rationals(classes, data):
    D = as_classes(classes).records
    L, n = data.draw(st.integers(0, D)), data.draw(st.integers(1, min(D, 12)))
    wanted = oracle.generating_function(classes, L, n)
    assert exact(classes, L, n) == pytest.approx(float(wanted), rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("classes", "L", "n"),
    [
        ({5: 200_000}, 400_000, 15),
        ({5: 200_000}, 400_000, 100),
        ({4: 250_000}, 900_000, 100),
        ({1: 100_000, 3: 100_000, 7: 50_000, 11: 10_000, 50: 2_800}, 300_000, 30),
        pytest.param(
            {1: 100_000, 3: 100_000, 7: 50_000, 11: 10_000, 50: 2_800},
            300_000,
            100,
            marks=pytest.mark.slow,
        ),
        pytest.param({2: 300_000, 20: 20_000}, 2_000, 100, marks=pytest.mark.slow),
        ({2: 300_000, 20: 20_000}, 2_000, 40),
        ({3: 100, 5: 300, 7: 200, 11: 50, 20: 7}, 1945, 8),
        pytest.param({1000: 10, 2: 5000}, 3_000, 30, marks=pytest.mark.slow),
        ({300: 10, 2: 5000}, 3_000, 10),
        pytest.param({50: 2, 1: 10}, 105, 100, marks=pytest.mark.slow),
        ({20: 2, 1: 10}, 45, 40),
    ],
)
def test_nine_digits_are_kept_up_to_a_million_records_and_a_hundred_targets(classes, L, n):
    wanted = oracle.sixty_digits(classes, L, n)
    assert abs(mpmath.expm1(log_exact(classes, L, n)[0] - wanted)) < 1e-11


@pytest.mark.parametrize("classes", [{2: 300_000, 20: 20_000}, {5: 2_000}, {100: 1, 1: 20}])
def test_a_leak_of_nobody_but_the_targets_is_exact(classes):
    wanted = oracle.only_the_targets_leaked(classes, 100)
    assert abs(mpmath.expm1(log_exact(classes, 100, 100)[0] - wanted)) < 1e-11


@settings(deadline=None)
@given(class_tables, st.data())
def test_one_target_is_the_hypergeometric_risk_weighted_by_patients(classes, data):
    D = as_classes(classes).records
    L = data.draw(st.integers(0, D))
    wanted = sum(k * a / D * identified(D, L, k) for k, a in classes.items())
    assert exact(classes, L, 1) == pytest.approx(wanted, rel=1e-13, abs=0)


@settings(deadline=None)
@given(st.integers(1, 2_000), st.data())
def test_singletons_are_identified_exactly_when_they_are_all_in_the_leak(D, data):
    L, n = data.draw(st.integers(0, D)), data.draw(st.integers(1, min(D, 60)))
    wanted = np.prod([(L - i) / (D - i) for i in range(n)]) if n <= L else 0.0
    assert exact({1: D}, L, n) == pytest.approx(wanted, rel=1e-12, abs=0)


@settings(max_examples=30, deadline=None)
@given(class_tables, st.integers(1, 6))
def test_a_larger_leak_never_makes_it_less_likely_that_all_are_identified(classes, n):
    D = as_classes(classes).records
    n = min(n, D)
    risks = np.exp(log_exact(classes, np.arange(D + 1), n))
    assert np.all(np.diff(risks) >= -1e-13 * risks[1:])


def test_many_leak_sizes_at_once_equal_one_at_a_time(monkeypatch):
    classes, sizes = {3: 40, 8: 10}, np.array([0, 5, 6, 60, 61, 150, 199, 200])
    together = log_exact(classes, sizes, 6)
    assert np.allclose(together, [log_exact(classes, L, 6)[0] for L in sizes], rtol=1e-13)
    monkeypatch.setattr(inside(log_all_identified), "_HELD", 50)
    assert np.allclose(together, log_exact(classes, sizes, 6), rtol=1e-13)


def test_probabilities_too_small_for_a_float_come_as_logarithms():
    log_p = log_exact({20: 50_000}, 120, 120)[0]
    assert np.exp(log_p) == 0.0
    wanted = oracle.only_the_targets_leaked({20: 50_000}, 120)
    assert log_p == pytest.approx(float(wanted), rel=1e-13)


def test_a_circle_that_would_lose_the_digits_is_refused(monkeypatch):
    def far_away(log_rest, total, goal, start):
        return start + 3.0, np.full_like(start, 40.0)

    assert inside(log_all_identified).find_log_odds is find_log_odds
    monkeypatch.setattr(inside(log_all_identified), "find_log_odds", far_away)
    with pytest.raises(TooLarge, match="cancels too far to keep nine digits"):
        log_exact({5: 2_000}, 4_000, 5)


def test_the_outside_values_are_met(shared):
    cases = json.loads((shared / "oracles" / "leak_multi_target.json").read_text())
    for case in cases["tiny"]:
        top, bottom = case["exact"]
        found = exact(Counter(case["classes"]), case["L"], case["n"])
        assert found == pytest.approx(top / bottom, rel=1e-13)
    for case in cases["paper"]:
        found = exact({case["k"]: case["D"] // case["k"]}, case["L"], case["n"])
        assert found == pytest.approx(case["exact"], rel=1e-9)
