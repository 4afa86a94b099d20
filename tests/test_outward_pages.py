"""The other pages that leave the house: what they leave unsaid does not come back from them."""

import numpy as np
import pytest

import reidbn as rb
from reidbn.report import Telling
from reidbn.result import rest_of

OUT = Telling()


def disclosed(sure, n=170):
    """So many people whose secret is known for sure: alone, of two who are like many others."""
    town = ["many"] * (n - sure) + [f"alone{i}" for i in range(sure)]
    secret = ["x"] * (n - sure - 60) + ["y"] * 60 + ["x"] * sure
    people = rb.read_table({"town": town, "s": secret}, quasi_identifiers=["town"], sensitive=["s"])
    return rb.disclosure(people, "s")


def sheet(result):
    return result._sheet(custodian=False)


def text(page):
    rows = [row for s in page.sections for shown in s.shown for row in shown.rows]
    return [page.colour, *page.verdict, *(str(row) for row in rows)]


def test_a_page_is_the_same_for_none_and_for_nine_who_are_given_away():
    """Both ends of the scale were counted: 160 protected of 160 said that somebody is not."""
    told = []
    for sure in (0, 1, 9):
        found = disclosed(sure, 179)
        told.append([line for line in text(sheet(found)) if "guess" not in line])
        assert found.measures["share_upward"].value == 1 - sure / 179
    assert told[0] == told[1] == told[2]
    assert "all but under 10 of 170 people keep" in told[0][1]
    assert "commonest" not in "".join(told[2])  # it was only said where somebody is sure


def test_who_is_protected_is_told_by_those_who_are_not():
    share = disclosed(12).measures["share_upward"]
    assert share.told == "rest"
    assert OUT.measure_in_words(share) == "88.8 % to 100 %"  # 151 to 169 of 170 to 179
    each = np.array([1.0] * 150 + [0.25] * 50)
    low, high = OUT.mean_ends(each, rest=True)
    missing = OUT.mean_ends(1 - each)
    assert (low, high) == pytest.approx((1 - missing[1], 1 - missing[0]), abs=1e-3)
    assert low <= each.mean() <= high
    m = rest_of(each, "protected")
    assert (OUT.measure(m), OUT.bounds(m)) == (None, (low, high))
    assert Telling(custodian=True).measure(m) == each.mean()


def test_what_columns_single_out_is_told_from_below_alone():
    """Their union is told too: with 20 singled out and under ten by one, the other had 11."""
    frame = {"a": [f"a{i}" for i in range(25)] + ["other"] * 100,
             "b": ["x"] * 60 + ["y"] * 65}  # fmt: skip
    found = rb.suda(rb.read_table(frame, quasi_identifiers=["a", "b"]))
    columns = found._sections(OUT)[1].shown[0].rows
    assert [row[1] for row in columns] == ["at least 20", "not told"]


def test_rows_of_a_table_and_a_rest_are_not_told():
    people = rb.read_table(rb.datasets.synthetic_patients(200, seed=3),
                           quasi_identifiers=["age", "sex"])  # fmt: skip
    fit = rb.population.fit(people, population=1e5)
    assert fit.measures["classes"].told == "withheld"
    fits = rb.candidates(people, people)
    assert fits.measures["fit_nobody"].told == "withheld"


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 9])
def test_an_integer_programme_makes_no_more_of_any_page_or_all_than_its_marks_say(first):
    from benchmarks.attacker_pages import main

    said = []
    counts = main(2, first, report=lambda line, **_: said.append(line))
    assert sum(found[1] for found in counts.values()) > 50
    assert sum(found[2] for found in counts.values()) == 0, said


def test_every_page_says_against_whom_it_promises_nothing():
    people = rb.read_table(
        rb.datasets.synthetic_patients(60, seed=1), quasi_identifiers=["age", "sex"],
        sensitive=["race"],
    )  # fmt: skip
    for result in (
        rb.disclosure(people, "race"),
        rb.leak.assess(people, leaked=9),
        rb.suda(people),
    ):
        for custodian in (False, True):
            page = result._sheet(custodian=custodian)
            said = " ".join(
                str(line) for s in page.sections for line in (*s.text, *s.bullets, *s.folded)
            )  # fmt: skip
            assert ("does not promise anything against them" in said) != custodian
