"""Claim rules against enumeration, and what follows from them."""

from itertools import combinations

import numpy as np
import pytest

import reidbn as rb

RULES = {"guess": 99, "only one": 1, 0.5: 2, 0.4: 2, 1 / 3: 3}


def enumerated(D, L, k, most, in_table):
    """Right, wrong member, not in leak, not in table, over every leak; target 0 of 0..k-1."""
    counts = np.zeros(4)
    leaks = list(combinations(range(D), L))
    for leak in leaks:
        h = sum(i < k for i in leak)
        if not 1 <= h <= most:
            continue
        inside = 0 in leak
        counts += [in_table * inside / h, in_table * inside * (1 - 1 / h),
                   in_table * (not inside), 1 - in_table]  # fmt: skip
    return counts / len(leaks)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("in_table", [1.0, 0.7])
def test_every_outcome_of_a_claim_is_enumerated(rule, in_table):
    for D, L, k in [(7, 3, 3), (6, 6, 2), (8, 2, 5), (5, 0, 2), (4, 1, 1)]:
        found = rb.leak.claims(records=D, leaked=L, class_size=k, rule=rule, in_table=in_table)
        wanted = enumerated(D, L, k, RULES[rule], in_table)
        values = (found.true_positive, found.wrong_member, found.not_in_leak, found.not_in_table)
        assert values == pytest.approx(wanted, rel=1e-12, abs=1e-15)
        assert found.claimed == pytest.approx(wanted.sum(), rel=1e-12, abs=1e-15)
        assert found.in_leak == pytest.approx(in_table * L / D)


def test_a_claim_on_a_class_of_k_is_right_once_in_k_whatever_the_rule():
    k = np.arange(1, 30)
    for rule in RULES:
        found = rb.leak.claims(records=1000, leaked=300, class_size=k, rule=rule)
        assert found.precision == pytest.approx(1 / k, rel=1e-12)
        doubtful = rb.leak.claims(records=1000, leaked=300, class_size=k, rule=rule, in_table=0.4)
        assert doubtful.precision == pytest.approx(0.4 / k, rel=1e-12)


def test_who_knows_that_the_target_is_in_the_leak_gains_from_waiting_for_one_candidate():
    options = {"records": 1000, "leaked": 100, "class_size": 8, "known_in_leak": True}
    guess = rb.leak.claims(**options)
    sure = rb.leak.claims(**options, rule="only one")
    assert sure.precision == 1
    assert guess.precision < 1
    assert sure.recall < guess.recall
    assert guess.recall == pytest.approx(
        rb.leak.risk(records=1000, leaked=100, class_size=8) / 0.1, rel=1e-12
    )


def test_among_classes_of_several_sizes_a_stricter_rule_is_more_often_right():
    classes = {1: 50, 4: 50, 20: 40}
    strict, loose = (
        rb.leak.claims(classes, leaked=300, rule=rule) for rule in ("only one", "guess")
    )
    assert strict.precision > loose.precision
    assert strict.recall < loose.recall
    one_by_one = [rb.leak.claims(records=1050, leaked=300, class_size=k) for k in classes]
    share = [k * a / 1050 for k, a in classes.items()]
    assert loose.true_positive == pytest.approx(
        sum(w * c.true_positive for w, c in zip(share, one_by_one, strict=True)), rel=1e-13
    )


def test_guessing_is_the_risk_of_the_leak():
    leaks = np.arange(0, 1001, 100)
    found = rb.leak.claims({5: 200}, leaked=leaks)
    assert found.true_positive == pytest.approx(rb.leak.risk({5: 200}, leaked=leaks), rel=1e-13)
    assert found.precision[0] == found.recall[0] == 0
    assert list(found.table()["precision"]) == list(found.precision)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "never"}, "it takes 'guess' or 'only one' or a number"),
        ({"rule": 0}, "no rule 0"),
        ({"in_table": 1.5}, "in_table is 1.5; it must be a probability"),
        ({"in_table": 0.5, "known_in_leak": True}, "leave in_table at 1"),
        ({"known_in_leak": True, "leaked": 0}, "empty leak"),
        ({"records": None}, "give records and class_size"),
    ],
)
def test_a_wrong_rule_is_told_what_would_be_right(options, message):
    with pytest.raises(rb.UsageError, match=message):
        rb.leak.claims(**{"records": 9, "leaked": 3, "class_size": 2, **options})
