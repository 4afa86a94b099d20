"""Do equal classes give the upper bound?  For which risks they do, and where they do not.

[Antoniou22] takes classes of one size as the worst case.  Two readings: the same number of classes
(the same mean size), and classes of at least that size (k-anonymity).
"""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

import reidbn as rb
from reidbn.theory import Classes, log_all_identified
from tests import leak_oracle as oracle


def same_number(D):
    """Tables of D records and the equal table with as many classes."""
    for classes in oracle.partitions(D):
        number = sum(classes.values())
        if D % number == 0 and len(classes) > 1:
            yield classes, {D // number: number}


def at_least(D):
    """Tables of D records and an equal table with the size of the smallest class, or smaller."""
    for classes in oracle.partitions(D):
        for k in range(1, min(classes) + 1):
            if D % k == 0 and classes != {k: D // k}:
                yield classes, {k: D // k}


@pytest.mark.parametrize("pairs", [same_number, at_least])
@pytest.mark.parametrize("D", range(2, 9))
def test_equal_classes_bound_the_chance_that_all_targets_are_identified(pairs, D):
    for (mixed, equal), n in product(pairs(D), range(1, D + 1)):
        leaked = np.arange(D + 1)
        bound = rb.leak.joint_risk(equal, leaked=leaked, targets=n)
        assert np.all(rb.leak.joint_risk(mixed, leaked=leaked, targets=n) <= bound * (1 + 1e-11))


def test_the_bound_for_all_targets_holds_in_larger_tables_too():
    """60 random tables with as many classes as an equal one; none was seen above the bound."""
    rng = np.random.default_rng(20250630)
    for _ in range(60):
        number, k = int(rng.integers(2, 12)), int(rng.integers(2, 10))
        sizes = np.full(number, k)
        for _ in range(int(rng.integers(1, 20))):
            i, j = rng.integers(0, number, 2)
            if sizes[i] > 1:
                sizes[i], sizes[j] = sizes[i] - 1, sizes[j] + 1
        mixed = Classes(*np.unique(sizes, return_counts=True))
        n = int(rng.integers(1, min(number * k, 20) + 1))
        leaked = np.arange(n, number * k + 1)
        bound = log_all_identified(Classes(np.array([k]), np.array([number])), leaked, n)
        assert np.all(log_all_identified(mixed, leaked, n) <= bound + 1e-11)


def test_merging_two_classes_lowers_the_chance_that_all_are_identified():
    """Coefficient by coefficient: sum_j C(m, j) over the splits of m is at least 1."""
    for D in range(2, 8):
        for classes in oracle.partitions(D):
            sizes = [k for k, a in classes.items() for _ in range(a)]
            for j, i in combinations(range(len(sizes)), 2):
                merged = sizes[:j] + sizes[j + 1 : i] + sizes[i + 1 :] + [sizes[i] + sizes[j]]
                after = dict(zip(*np.unique(merged, return_counts=True), strict=True))
                leaked = np.arange(D + 1)
                before = rb.leak.joint_risk(classes, leaked=leaked, targets=2)
                assert np.all(
                    rb.leak.joint_risk(after, leaked=leaked, targets=2) <= before * (1 + 1e-11)
                )


@pytest.mark.parametrize("D", [4, 6, pytest.param(8, marks=pytest.mark.slow)])
def test_with_classes_of_at_least_k_no_number_identified_is_likelier_than_with_k(D):
    for mixed, equal in at_least(D):
        for leaked, n in product(range(1, D + 1), (2, 3)):
            bound = rb.leak.number_identified(equal, leaked=leaked, targets=n)
            found = rb.leak.number_identified(mixed, leaked=leaked, targets=n)
            for m in range(1, n + 1):
                assert found.at_least(m) <= bound.at_least(m) + 1e-12


def test_with_as_many_classes_one_or_more_may_be_likelier_identified_than_with_equal_ones():
    """Four records, all leaked, two targets: 7/9 with classes of 1 and 3, 3/4 with 2 and 2."""
    mixed = oracle.every_number_identified({1: 1, 3: 1}, 4, 2)
    equal = oracle.every_number_identified({2: 2}, 4, 2)
    assert (1 - mixed[0], 1 - equal[0]) == (Fraction(7, 9), Fraction(3, 4))
    found = rb.leak.number_identified({1: 1, 3: 1}, leaked=4, targets=2)
    assert found.at_least(1) == pytest.approx(7 / 9, rel=1e-12)


def test_nor_is_the_expected_number_bounded_by_equal_classes():
    mixed, equal = (
        sum(m * p for m, p in enumerate(oracle.every_number_identified(classes, 6, 2)))
        for classes in ({2: 1, 4: 1}, {3: 2})
    )
    assert mixed > equal
    assert (mixed, equal) == (Fraction(83, 120), Fraction(31, 45))


def test_nor_is_the_risk_of_the_patient_who_is_worst_off():
    worst = rb.leak.risk(records=4, leaked=2, class_size=1)
    assert worst == 0.5
    assert worst > rb.leak.risk(records=4, leaked=2, class_size=2)
    for mixed, equal in same_number(8):
        (k,) = equal
        bound = rb.leak.risk(equal, leaked=3)
        assert rb.leak.risk(mixed, leaked=3) <= bound * (1 + 1e-12)
        assert rb.leak.risk(records=8, leaked=3, class_size=min(mixed)) > bound or min(mixed) == k
