"""The paper's recursion as it is written, and where it is off."""

import json
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from inside import inside

from reidbn.errors import TooLarge
from reidbn.theory import Classes, log_all_identified, log_recursion
from tests import leak_oracle as oracle


def as_classes(classes):
    return Classes(np.array(list(classes)), np.array(list(classes.values())))


def recursion(classes, L, n):
    return float(np.exp(log_recursion(as_classes(classes), np.array([L]), n)[0]))


def exact(classes, L, n):
    return float(np.exp(log_all_identified(as_classes(classes), np.array([L]), n)[0]))


@pytest.mark.parametrize("D", [1, 2, 4, 6, pytest.param(8, marks=pytest.mark.slow)])
def test_the_states_remembered_give_the_recursion_branch_by_branch(D):
    for classes, L, n in product(oracle.partitions(D), range(D + 1), range(min(D, 4) + 1)):
        wanted = float(oracle.recursion(classes, L, n))
        assert recursion(classes, L, n) == pytest.approx(wanted, rel=1e-13, abs=1e-300)


def test_it_is_exact_for_one_target_for_a_leak_of_everyone_and_for_singletons():
    for classes in ({3: 2, 1: 4}, {2: 5}, {5: 1, 4: 1}):
        D = as_classes(classes).records
        for L in range(D + 1):
            assert recursion(classes, L, 1) == pytest.approx(exact(classes, L, 1), rel=1e-13)
        for n in range(1, D + 1):
            assert recursion(classes, D, n) == pytest.approx(exact(classes, D, n), rel=1e-12)
    for L, n in product(range(1, 9), range(1, 6)):
        assert recursion({1: 8}, L, n) == pytest.approx(exact({1: 8}, L, n), rel=1e-13, abs=1e-300)


def test_equal_classes_are_never_too_low_up_to_nine_records():
    for D in range(1, 10):
        for k in (k for k in range(1, D + 1) if D % k == 0):
            for L, n in product(range(D + 1), range(1, D + 1)):
                assert recursion({k: D // k}, L, n) >= exact({k: D // k}, L, n) * (1 - 1e-12)


def test_mixed_classes_err_either_way():
    assert recursion({3: 1, 1: 1}, 3, 2) == pytest.approx(29 / 144, rel=1e-14)
    assert exact({3: 1, 1: 1}, 3, 2) == pytest.approx(5 / 24, rel=1e-14)
    assert oracle.every_leak({3: 1, 1: 1}, 3, 2) == Fraction(5, 24)
    assert recursion({7: 1, 1: 2}, 5, 4) / exact({7: 1, 1: 2}, 5, 4) == pytest.approx(
        0.83, abs=0.005
    )
    assert recursion({2: 3}, 4, 2) > exact({2: 3}, 4, 2)


def test_the_outside_values_are_met(shared):
    cases = json.loads((shared / "oracles" / "leak_multi_target.json").read_text())
    for case in cases["tiny"]:
        top, bottom = case["recursion"]
        found = recursion(Counter(case["classes"]), case["L"], case["n"])
        assert found == pytest.approx(top / bottom, rel=1e-13)
    for case in cases["paper"]:
        found = recursion({case["k"]: case["D"] // case["k"]}, case["L"], case["n"])
        assert found == pytest.approx(case["recursion"], rel=1e-12)


def test_too_many_states_are_refused_with_the_way_out(monkeypatch):
    monkeypatch.setattr(inside(log_recursion), "_MOST_STATES", 10)
    with pytest.raises(TooLarge, match='more than 10 states of the classes; method="exact"'):
        recursion({4: 10, 5: 10, 6: 10}, 60, 8)
