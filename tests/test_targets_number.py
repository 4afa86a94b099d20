"""How many targets are identified: enumerated, acted out, and beside the joint risk."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from reidbn.theory import (
    Classes,
    act_out,
    identified,
    log_all_identified,
    log_number_identified,
    support,
)
from tests import leak_oracle as oracle


def as_classes(classes):
    return Classes(np.array(list(classes)), np.array(list(classes.values())))


def law(classes, L, n, *, removed=True):
    return np.exp(log_number_identified(as_classes(classes), L, n, removed=removed))


@pytest.mark.parametrize("D", [1, 2, 3, 4, pytest.param(6, marks=pytest.mark.slow)])
def test_what_can_and_what_cannot_happen_is_known_beforehand(D):
    for classes, L, n in product(oracle.partitions(D), range(D + 1), range(1, D + 1)):
        p = oracle.every_number_identified(classes, L, n)
        possible = [m for m, x in enumerate(p) if x > 0]
        assert support(as_classes(classes), L, n) == (possible[0], possible[-1])
        assert len(possible) == possible[-1] - possible[0] + 1
        assert [x > 0 for x in law(classes, L, n)] == [x > 0 for x in p]


def test_the_order_in_which_targets_are_looked_for_changes_nothing():
    for classes, L in product(oracle.partitions(4), range(5)):
        for n, removed in product((2, 3), (True, False)):
            ordered = oracle.every_number_identified(classes, L, n, removed=removed, ordered=True)
            assert ordered == oracle.every_number_identified(classes, L, n, removed=removed)


class_tables = st.dictionaries(st.integers(1, 8), st.integers(1, 4), min_size=1, max_size=4)


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize("D", [1, 2, 3, 4, pytest.param(6, marks=pytest.mark.slow)])
def test_every_small_table_equals_the_enumeration_of_guesses(D, removed):
    for classes, L, n in product(oracle.partitions(D), range(D + 1), range(1, min(D, 3) + 1)):
        wanted = [float(p) for p in oracle.every_number_identified(classes, L, n, removed=removed)]
        assert law(classes, L, n, removed=removed) == pytest.approx(wanted, rel=1e-12, abs=1e-18)


@settings(max_examples=40, deadline=None)
@given(class_tables, st.booleans(), st.data())
def test_it_is_a_distribution_and_its_last_value_is_the_joint_risk(classes, removed, data):
    D = as_classes(classes).records
    L, n = data.draw(st.integers(0, D)), data.draw(st.integers(1, min(D, 12)))
    p = law(classes, L, n, removed=removed)
    assert p.sum() == pytest.approx(1, rel=1e-12)
    if removed:
        joint = np.exp(log_all_identified(as_classes(classes), np.array([L]), n)[0])
        assert p[-1] == pytest.approx(joint, rel=1e-10, abs=1e-300)


@pytest.mark.parametrize(
    ("classes", "L", "n"),
    [
        ({5: 2_000}, 4_000, 15),
        pytest.param({5: 2_000}, 4_000, 100, marks=pytest.mark.slow),
        ({5: 2_000}, 4_000, 40),
        ({3: 100, 5: 300, 7: 200, 11: 50, 20: 7}, 1945, 8),
        ({1: 300, 200: 3, 50: 10}, 700, 20),
        ({5: 200_000}, 3, 3),
    ],
)
def test_the_far_tail_keeps_its_digits(classes, L, n):
    logs = log_number_identified(as_classes(classes), L, n)
    joint = log_all_identified(as_classes(classes), np.array([L]), n)[0]
    assert logs[-1] == pytest.approx(joint, abs=1e-9)
    assert np.exp(logs).sum() == pytest.approx(1, rel=1e-11)
    assert np.isfinite(logs).all()


@settings(deadline=None, max_examples=30)
@given(class_tables, st.data())
def test_when_nobody_is_removed_the_expected_number_is_n_times_one_risk(classes, data):
    D = as_classes(classes).records
    L, n = data.draw(st.integers(0, D)), data.draw(st.integers(1, min(D, 8)))
    one = sum(k * a / D * identified(D, L, k) for k, a in classes.items())
    p = law(classes, L, n, removed=False)
    assert p @ np.arange(n + 1) == pytest.approx(n * one, rel=1e-11, abs=1e-15)


@settings(deadline=None, max_examples=30)
@given(class_tables, st.data())
def test_removing_the_identified_only_helps_the_attacker(classes, data):
    D = as_classes(classes).records
    L, n = data.draw(st.integers(0, D)), data.draw(st.integers(1, min(D, 8)))
    m = np.arange(n + 1)
    assert law(classes, L, n) @ m >= law(classes, L, n, removed=False) @ m - 1e-12


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 60), st.data())
def test_singletons_are_a_hypergeometric_draw(D, data):
    L, n = data.draw(st.integers(0, D)), data.draw(st.integers(1, min(D, 20)))
    wanted = hypergeom.pmf(np.arange(n + 1), D, L, n)
    assert law({1: D}, L, n) == pytest.approx(wanted, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize("classes", [{5: 20}, {1: 10, 4: 10, 25: 2}])
def test_acting_the_leak_out_agrees_with_the_distribution(classes, removed):
    """Each of 7 counts is rejected with probability 1e-7 when right: once in a million runs."""
    rng = np.random.default_rng(20250602)
    runs, L, n = 200_000, 40, 6
    result = act_out(as_classes(classes), L, n, runs, rng, from_leak=False, removed=removed)
    for m, p in enumerate(law(classes, L, n, removed=removed)):
        hits = int((result.identified == m).sum())
        tail = min(binom.cdf(hits, runs, p), binom.sf(hits - 1, runs, p))
        assert 2 * tail > 1e-7


def test_targets_from_the_leak_are_the_unconditional_ones_given_membership():
    """Four standard errors of the mean of the chances: wrong once in 16,000 seeds; seed fixed."""
    rng = np.random.default_rng(20250603)
    classes, L, n = {3: 10, 6: 5}, 30, 4
    result = act_out(as_classes(classes), L, n, 200_000, rng, from_leak=True)
    D = as_classes(classes).records
    member = np.prod([(L - i) / (D - i) for i in range(n)])
    wanted = np.exp(log_all_identified(as_classes(classes), np.array([L]), n)[0]) / member
    error = result.chance.std() / np.sqrt(result.chance.size)
    assert abs(result.chance.mean() - wanted) < 4 * error
    assert abs((result.identified == n).mean() - wanted) < 4 * np.sqrt(wanted / 200_000)


def test_the_chance_of_a_run_averages_to_the_joint_risk_when_targets_come_from_everyone():
    rng = np.random.default_rng(20250604)
    result = act_out(as_classes({2: 3, 3: 2}), 8, 3, 200_000, rng, from_leak=False)
    wanted = float(oracle.every_leak_by_sets({2: 3, 3: 2}, 8, 3))
    error = result.chance.std() / np.sqrt(result.chance.size)
    assert abs(result.chance.mean() - wanted) < 4 * error
    assert error < 0.002


def test_the_simulation_repeats_with_its_seed_whatever_the_number_of_blocks_is():
    first, second = (
        act_out(as_classes({5: 20}), 40, 3, 500, np.random.default_rng(7), from_leak=True)
        for _ in range(2)
    )
    assert np.array_equal(first.identified, second.identified)
    assert first.identified.shape == first.chance.shape == (500,)


def test_nobody_is_identified_in_an_empty_leak_and_nothing_is_asked_of_no_target():
    assert law({5: 4}, 0, 3).tolist() == [1, 0, 0, 0]
    assert law({5: 4}, 7, 0).tolist() == [1]
