"""Many targets in one leak: what may not be skipped, what need not be computed, what covers.

Oracle: enumeration of every leak and every set of targets in rationals (leak_oracle.py).
"""

from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from leak_oracle import every_number_identified, partitions
from scipy.stats import binom

import reidbn as rb
from reidbn.attacks import ceiling_of, classes_of, equal_classes
from reidbn.theory import missed, seconds_of_law

SMALL = [(D, classes, n) for D, n in ((5, 2), (5, 3), (6, 3)) for classes in partitions(D)]


@cache
def _enumerated(classes, L, n, removed):
    return every_number_identified(dict(classes), L, n, removed=removed)


def enumerated(classes, L, n, *, removed=True):
    return _enumerated(tuple(sorted(classes.items())), L, n, removed)


def values(classes, n, question):
    """The risk at every leak size, in rationals."""
    D, out = sum(k * c for k, c in classes.items()), []
    for L in range(D + 1):
        law = enumerated(classes, L, n)
        mean = sum(m * p for m, p in enumerate(law)) / n
        out.append({"any": 1 - law[0], "share": mean, "all": law[n]}[question])
    return out


@pytest.mark.parametrize("question", ["any", "share", "all"])
@pytest.mark.parametrize(("D", "classes", "n"), SMALL)
def test_no_leak_up_to_the_largest_is_over_the_limit(D, classes, n, question):
    exact = values(classes, n, question)
    for target in (0.1, 0.3, 0.5, 0.75):
        first = next((L for L, v in enumerate(exact) if v > Fraction(str(target))), D + 1)
        assert (
            rb.leak.largest_leak(classes, threshold=target, targets=n, question=question)
            == first - 1
        )


@pytest.mark.parametrize("question", ["any", "share"])
@pytest.mark.parametrize(("D", "classes", "n"), SMALL)
def test_the_risk_of_many_never_rises_by_more_than_its_ceiling(D, classes, n, question):
    exact = [float(v) for v in values(classes, n, question)]
    ceiling = [ceiling_of(classes_of(classes), L, n, question) for L in range(D + 1)]
    assert all(b >= a - 1e-12 for a, b in pairwise(ceiling))
    for L in range(D):
        assert exact[L + 1] - exact[L] <= ceiling[L + 1] - ceiling[L] + 1e-12


def test_a_leak_of_one_record_that_finds_a_target_is_not_overlooked():
    """36 targets in one class of 100: a single record is one of them with chance .36."""
    assert rb.leak.any_identified({100: 1}, leaked=1, targets=36) == pytest.approx(0.36, abs=1e-12)
    assert rb.leak.any_identified({100: 1}, leaked=100, targets=36) < 0.31
    assert rb.leak.largest_leak({100: 1}, threshold=0.33, targets=36, question="any") == 0


@pytest.mark.parametrize("question", ["any", "share"])
@pytest.mark.parametrize("leaked", [1, 3, 5, 6])
@pytest.mark.parametrize("n", [2, 3])
def test_from_the_smallest_k_on_no_class_size_is_over_the_limit(question, leaked, n):
    D = 6
    exact = {}
    for k in range(1, D + 1):
        made = equal_classes(D, k)
        classes = dict(zip(made.sizes.tolist(), made.counts.tolist(), strict=True))
        exact[k] = values(classes, n, question)[leaked]
    asked = {"records": D, "leaked": leaked, "targets": n, "question": question}
    for target in (0.2, 0.3, 0.4, 0.6):
        if exact[D] > Fraction(str(target)):
            with pytest.raises(rb.UsageError, match="even one class of all"):
                rb.leak.smallest_k(**asked, threshold=target)
            continue
        limit = Fraction(str(target))
        last_bad = max((k for k, v in exact.items() if v > limit), default=0)
        assert rb.leak.smallest_k(**asked, threshold=target) == last_bad + 1


def test_design_asks_for_any_of_the_targets_unless_told_otherwise():
    """All of five targets are so rarely identified that classes of one would do."""
    asked = {"records": 1_000, "leaked": 300, "target": 0.09, "targets": 5}
    assert rb.leak.smallest_k(**asked, question="all") == 1
    assert rb.leak.smallest_k(**asked) == rb.leak.smallest_k(**asked, question="any") > 10
    assert rb.leak.largest_leak({5: 200}, threshold=0.09, targets=5) < 200


@pytest.mark.parametrize("k", range(1, 15))
def test_a_larger_leak_of_one_class_makes_a_miss_likelier(k):
    """R(0 | h, t) in rationals, against `missed` and for the order that designing relies on."""
    table = missed(k, np.arange(k + 1.0), k)
    for t in range(1, k + 1):
        exact = [
            sum(
                Fraction(comb(h, T) * comb(k - h, t - T), comb(k, t)) * (1 - Fraction(1, h)) ** T
                for T in range(max(0, t - k + h), min(t, h) + 1)
            )
            for h in range(1, k + 1)
        ]
        assert exact == sorted(exact)
        assert table[1:, t] == pytest.approx([float(x) for x in exact], abs=1e-14)
    assert (table[0] == 1).all()


def expected(h, T):
    """The mean number identified of T targets in a pool of h, who leave it when identified."""
    law = {0: Fraction(1)}
    for _ in range(T):
        after: dict[int, Fraction] = {}
        for r, p in law.items():
            hit = Fraction(1, h - r)
            after[r + 1] = after.get(r + 1, 0) + p * hit
            after[r] = after.get(r, 0) + p * (1 - hit)
        law = {r: p for r, p in after.items() if p}
    return sum(r * p for r, p in law.items())


@pytest.mark.parametrize("k", range(2, 11))
def test_the_expected_number_falls_from_the_second_leaked_member_on(k):
    """What the ceiling of the share relies on, in rationals for every class of up to ten."""
    for t in range(1, k + 1):
        means = [
            sum(
                Fraction(comb(h, T) * comb(k - h, t - T), comb(k, t)) * expected(h, T)
                for T in range(max(0, t - k + h), min(t, h) + 1)
            )
            for h in range(1, k + 1)
        ]
        assert means[0] == Fraction(t, k)
        assert means[1] - means[0] == Fraction(t * (t - 1), 4 * k * (k - 1))
        assert means[1:] == sorted(means[1:], reverse=True)


# -- without the whole distribution --------------------------------------------------------------


@pytest.mark.parametrize(("D", "classes", "n"), SMALL)
def test_any_and_the_mean_without_the_distribution_are_those_of_enumeration(D, classes, n):
    for L in range(D + 1):
        for removed in (True, False):
            law = enumerated(classes, L, n, removed=removed)
            asked = {"leaked": L, "targets": n}
            mean = float(sum(m * p for m, p in enumerate(law)))
            assert rb.leak.any_identified(classes, **asked) == pytest.approx(
                float(1 - law[0]), abs=1e-10
            )
            assert rb.leak.expected_identified(classes, **asked, removed=removed) == pytest.approx(
                mean, abs=1e-12
            )


def many_sizes(number):
    """A table with heavy tails, as real ones have."""
    sizes = np.unique(np.rint(np.geomspace(1, 800, number)).astype(int))
    return {int(k): max(1, int(3000 / k**1.6)) for k in sizes}


def test_a_table_of_many_class_sizes_needs_no_distribution():
    classes = many_sizes(30)
    D = sum(k * c for k, c in classes.items())
    asked = {"leaked": D // 5, "targets": 8}
    law = rb.leak.number_identified(classes, **asked)
    assert rb.leak.any_identified(classes, **asked) == pytest.approx(law.at_least(1), rel=1e-9)
    assert rb.leak.expected_identified(classes, **asked) == pytest.approx(law.mean, rel=1e-9)
    prior = {D // 5: 0.25, D // 2: 0.75}
    mixed = [rb.leak.any_identified(classes, leaked=L, targets=8) for L in prior]
    found = rb.leak.any_identified(classes, leaked=prior, targets=8)
    assert found == pytest.approx(0.25 * mixed[0] + 0.75 * mixed[1], rel=1e-12)


def test_a_chance_of_any_that_is_tiny_keeps_its_digits():
    found = rb.leak.any_identified({1000: 1000}, leaked=2, targets=2)
    law = rb.leak.number_identified({1000: 1000}, leaked=2, targets=2)
    assert found == pytest.approx(law.at_least(1), rel=1e-9)
    assert 0 < found < 1e-5


def test_a_distribution_that_would_take_an_hour_is_refused_before_the_work():
    sizes = dict.fromkeys(range(1, 3000, 5), 3)
    D = sum(k * c for k, c in sizes.items())
    assert seconds_of_law(classes_of(sizes), D // 3, 200) > 3600
    with pytest.raises(rb.TooLarge, match=r"would take about [\d,]+ minutes; ask any_identified"):
        rb.leak.number_identified(sizes, leaked=D // 3, targets=200)


# -- the simulated interval ----------------------------------------------------------------------


@pytest.mark.parametrize(("classes", "leaked", "n", "reading", "removed"), [
    ({5: 2000}, 4000, 8, "unconditional", True),
    ({5: 2000}, 4000, 8, "from the leak", True),
    ({1: 20, 2: 30, 9: 10}, 40, 4, "unconditional", True),
    ({2: 2, 3: 1}, 5, 3, "unconditional", False),
])  # fmt: skip
def test_the_interval_of_many_targets_covers_as_often_as_it_says(
    classes, leaked, n, reading, removed
):
    """200 simulations; below the limit with probability 1e-6 if 95 % of them cover."""
    if removed:
        true = rb.leak.joint_risk(classes, leaked=leaked, targets=n, reading=reading)
    else:
        true = float(every_number_identified(classes, leaked, n, removed=False)[n])
    covered = 0
    for seed in range(200):
        options = {"reading": reading, "removed": removed, "runs": 300, "seed": seed}
        run = rb.leak.simulate(classes, leaked=leaked, targets=n, **options)
        found = run.all_identified
        assert found.high > found.low
        covered += found.low <= true <= found.high
    assert covered >= binom.ppf(1e-6, 200, 0.95)


def test_the_interval_of_what_never_happened_has_width_and_a_bound():
    run = rb.leak.simulate({5: 2000}, leaked=100, targets=15, draws=1000, seed=1)
    found = run.all_identified
    true = rb.leak.joint_risk({5: 2000}, leaked=100, targets=15)
    assert (float(found), found.low) == (0.0, 0.0)
    assert true < found.high < 1e-10
    with pytest.raises(rb.TooLarge, match="0 of 1,000 runs had room for all 15 targets"):
        rb.leak.joint_risk({5: 2000}, leaked=100, targets=15, method="simulation", draws=1000,
                           log=True)  # fmt: skip


def test_a_simulated_logarithm_has_an_interval_where_floats_end():
    asked = {"leaked": 9_000, "targets": 100}
    exact = rb.leak.joint_risk({30: 1000}, **asked, log=True)
    found = rb.leak.joint_risk({30: 1000}, **asked, method="simulation", log=True, draws=1000)
    assert exact < -300
    assert found.low < exact < found.high
    assert found.high - found.low < 0.5
