"""Designing backwards, and what it costs, against plain search and hand-made tables."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reidbn as rb


@settings(deadline=None)
@given(st.integers(1, 60), st.data(), st.sampled_from([0.05, 0.09, 0.33]))
def test_the_smallest_k_is_the_first_that_a_plain_search_finds(records, data, target):
    leaked = data.draw(st.integers(0, records))
    risks = [rb.leak.risk(records=records, leaked=leaked, class_size=k)
             for k in range(1, records + 1)]  # fmt: skip
    low_enough = [k for k, risk in enumerate(risks, 1) if risk <= target * (1 + 1e-13)]
    if low_enough:
        found = rb.leak.smallest_k(records=records, leaked=leaked, threshold=target)
        assert found == low_enough[0]
    else:
        with pytest.raises(rb.UsageError, match="even one class of all"):
            rb.leak.smallest_k(records=records, leaked=leaked, threshold=target)


@pytest.mark.parametrize("question", ["all", "any", "share"])
def test_with_several_targets_the_risk_holds_at_k_and_not_at_k_minus_one(question):
    asked = {"records": 300, "leaked": 90, "targets": 4}
    target = {"all": 1e-4, "any": 0.2, "share": 0.05}[question]
    k = rb.leak.smallest_k(**asked, threshold=target, question=question)
    curve = rb.leak.k_curve(**asked, class_sizes=range(1, k + 5), question=question)
    risks = dict(zip(curve["class_size"], curve["risk"], strict=True))
    assert risks[k] <= target < risks[k - 1]
    assert all(risk > target for size, risk in risks.items() if size < k)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 60), st.data(), st.sampled_from([0.05, 0.09, 0.33]))
def test_the_largest_leak_is_the_last_that_a_plain_search_finds(records, data, target):
    k = data.draw(st.integers(1, records))
    risks = rb.leak.risk(records=records, leaked=np.arange(records + 1), class_size=k)
    wanted = int(np.flatnonzero(risks <= target * (1 + 1e-13))[-1])
    assert rb.leak.largest_leak(records=records, class_size=k, threshold=target) == wanted


def test_the_largest_leak_holds_for_classes_and_for_several_targets():
    classes = {3: 20, 7: 20}
    cases = [(0.02, {}), (1e-3, {"targets": 3, "question": "all"}), (0.02, {"targets": 3})]
    for target, options in cases:
        L = rb.leak.largest_leak(classes, threshold=target, **options)
        n = options.get("targets", 1)
        question = options.get("question", "any" if n > 1 else "all")

        def value(leaked, n=n, question=question):
            if question == "any":
                return rb.leak.number_identified(classes, leaked=leaked, targets=n).at_least(1)
            return rb.leak.joint_risk(classes, leaked=leaked, targets=n)

        assert value(L) <= target < value(L + 1)
    assert rb.leak.largest_leak({5: 4}, threshold=1) == 20


def test_the_curve_of_diminishing_returns_falls_ever_more_slowly():
    curve = rb.leak.k_curve(records=10_000, leaked=4_000)
    assert curve["risk"].iloc[0] == pytest.approx(0.4)
    assert (curve["drop"].iloc[1:] > 0).all()
    assert curve["risk"].iloc[0] - curve["drop"].sum() == pytest.approx(curve["risk"].iloc[-1])
    assert (np.diff(curve["drop"].iloc[1:]) < 0).all()


def test_equal_classes_share_out_what_is_left_over():
    for records, k in [(10, 3), (11, 4), (7, 5), (12, 4), (1, 1)]:
        classes = rb.leak.equal_classes(records, k)
        assert classes.records == records
        assert classes.sizes.min() >= k
        assert np.ptp(classes.sizes) <= 1
        assert classes.counts.sum() == records // k


def test_information_loss_of_a_table_made_by_hand():
    before = rb.read_table({"age": [50, 52, 55, 61], "sex": list("FFMM")},
                           quasi_identifiers=["age", "sex"])  # fmt: skip
    halves = before.generalise({"age": 1}, hierarchies={"age": {"50s": [50, 52, 55], "60s": [61]}})
    loss = rb.leak.information_loss(halves, before=before)
    # Classes: {50s F} 2, {50s M} 1, {60s M} 1; age lost log2 3 for three patients of 2 bits each,
    # sex nothing of 1 bit each: 3 log2 3 of 4 x 2 + 4 x 1 bits.
    assert loss.discernibility == 6
    assert loss.average_class_size == pytest.approx(4 / 3)
    assert loss.non_uniform_entropy == pytest.approx(3 * np.log2(3) / 12)
    assert rb.leak.non_uniform_entropy(before, before) == 0
    nothing = before.generalise(
        {"age": 1, "sex": 1},
        hierarchies={"age": {"*": [50, 52, 55, 61]}, "sex": {"*": ["F", "M"]}},
    )
    assert rb.leak.non_uniform_entropy(before, nothing) == pytest.approx(1)


def test_people_left_out_cost_a_table_each():
    before = rb.People.from_codes([[0], [0], [1]], ["a"])
    kept = before.suppress(2)
    loss = rb.leak.information_loss(kept, before=before)
    assert loss.discernibility == 4 + 3
    bits = 2 * np.log2(3 / 2) + np.log2(3)  # of which who is left out lost all that were hers
    assert rb.leak.non_uniform_entropy(before, kept) == pytest.approx(np.log2(3) / bits)
    other = rb.People.from_codes([[0], [1]], ["a"])
    with pytest.raises(rb.DataError, match="3 people before and 2 after"):
        rb.leak.non_uniform_entropy(before, other)


def test_variants_of_a_table_stand_side_by_side():
    rng = np.random.default_rng(20250611)
    table = pd.DataFrame({"age": rng.integers(20, 60, 200), "sex": rng.integers(0, 2, 200)})
    before = rb.read_table(table, quasi_identifiers=["age", "sex"],
                           hierarchies={"age": rb.Bands(5, 10, 20)})  # fmt: skip
    variants = {f"age {level}": before.generalise({"age": level}) for level in range(4)}
    found = rb.leak.trade_off(variants, leaked=60, targets=3, before=before)
    assert list(found.index) == list(variants)
    assert (found["risk"].diff().iloc[1:] < 0).all()
    assert (found["non_uniform_entropy"].diff().iloc[1:] > 0).all()
    assert (found["discernibility"].diff().iloc[1:] > 0).all()
    assert found.loc["age 0", "risk"] == pytest.approx(rb.leak.risk(before, leaked=60))
    assert (found["all"] <= found["any"]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: rb.leak.smallest_k(records=9, leaked=3, threshold=0),
            "threshold is 0; it must be",
        ),
        (
            lambda: rb.leak.smallest_k(records=9, leaked=3, threshold=0.1, question="none"),
            'no question "none"',
        ),
        (lambda: rb.leak.largest_leak(threshold=0.1, records=9), "give classes, or records and"),
        (lambda: rb.leak.equal_classes(9, 10), "class_size is 10; it must be from 1 to 9"),
        (lambda: rb.leak.trade_off({}, leaked=3), "there are no variants"),
        (lambda: rb.leak.information_loss({3: 2}, k=0), "need k >= 1"),
    ],
)
def test_a_wrong_call_is_told_what_would_be_right(call, message):
    with pytest.raises(rb.UsageError, match=message):
        call()


def test_a_table_whose_values_overlap_has_no_classes():
    people = rb.read_table({"age": ["50", None, "50"]}, quasi_identifiers=["age"],
                           missing="matches-anything")  # fmt: skip
    with pytest.raises(rb.UsageError, match="do not fall into classes"):
        rb.leak.risk(people, leaked=1)
    assert rb.leak.risks(people, leaked=2).shape == (3,)


def test_a_risk_that_is_the_limit_itself_keeps_it():
    """One of {1: 1, 2: 2} leaked: exactly 1/5.  Sums of floats made it more."""
    for size, leaked in product(range(2, 9), range(1, 18)):
        classes = {1: 1, size: 2}
        records = 1 + 2 * size
        if leaked > records:
            continue
        missed = [
            Fraction(comb(records - k, leaked), comb(records, leaked)) for k in (1, size, size)
        ]
        limit = float(sum(1 - m for m in missed) / records)
        assert rb.leak.largest_leak(classes, threshold=limit) >= leaked
