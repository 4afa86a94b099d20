"""The number of classes a leak touches, and the mean risk that a leak turns out to have."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

import reidbn as rb
from reidbn.theory import Classes, mean_touched, touched_pmf


def test_it_is_enumerated():
    for k, number in product((1, 2, 3, 4), (1, 2, 3)):
        D = k * number
        for leaked in range(D + 1):
            counts = np.zeros(number + 1)
            for leak in combinations(range(D), leaked):
                counts[len({i // k for i in leak})] += 1
            wanted = counts / counts.sum()
            assert touched_pmf(k, number, leaked) == pytest.approx(wanted, rel=1e-10, abs=1e-15)


@pytest.mark.parametrize(("k", "number", "leaked"), [(5, 2000, 4000), (1, 500, 20), (20, 50, 999)])
def test_it_is_a_distribution_whose_mean_is_the_risk(k, number, leaked):
    pmf = touched_pmf(k, number, leaked)
    assert pmf.sum() == pytest.approx(1, abs=1e-9)
    mean = pmf @ np.arange(number + 1)
    assert mean == pytest.approx(mean_touched(Classes(np.array([k]), np.array([number])), leaked))
    assert mean / (k * number) == pytest.approx(rb.leak.risk({k: number}, leaked=leaked), rel=1e-9)


def test_the_mean_over_classes_of_several_sizes_is_the_risk_of_a_patient():
    classes = rb.leak.classes_of({3: 10, 7: 4})
    assert mean_touched(classes, 20) / 58 == pytest.approx(rb.leak.risk(classes, leaked=20))


@pytest.mark.parametrize(("k", "number"), [(4, 33), (4, 40), (5, 60)])
def test_half_of_the_records_leaked_meets_the_point_where_a_factor_is_zero(k, number):
    leaked = k * number // 2
    whole = comb(k * number, leaked)
    exact = [
        Fraction(
            comb(number, t)
            * sum((-1) ** j * comb(t, j) * comb(k * (t - j), leaked) for j in range(t + 1)),
            whole,
        )
        for t in range(number + 1)
    ]
    found = touched_pmf(k, number, leaked)  # a warning is an error
    assert np.abs(found - [float(p) for p in exact]).max() < 1e-13
