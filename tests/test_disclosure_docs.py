"""The page about disclosure: its numbers are what comes out."""

import re
from pathlib import Path

import pytest

import reidbn as rb

PAGE = Path(__file__).parent.parent / "docs" / "disclosure.md"


@pytest.fixture(scope="module")
def cervical(real_data):
    columns = ["num_pregnancies", "smokes", "age", "biopsy"]
    return rb.read_table(real_data / "kroes" / "cervical.csv.gz", quasi_identifiers=columns)


def told(pattern):
    """The numbers in a passage of the page, whatever its line breaks."""
    found = re.search(pattern, re.sub(r"\s+", " ", PAGE.read_text()))
    assert found, pattern
    return [float(number) for number in found.groups()]


def test_the_shares_for_blurred_knowledge_are_as_told(cervical):
    numbers = told(
        r"([\d.]+) % are protected at p = 0\. If the age is known by bands of five years,"
        r" ([\d.]+) %; to within two years, ([\d.]+) %; by bands of ten, ([\d.]+) %;"
        r" to within five years, ([\d.]+) %"
    )
    options = [
        {},
        {"ranges": {"age": 5}},
        {"tolerance": {"age": 2}},
        {"ranges": {"age": 10}},
        {"tolerance": {"age": 5}},
    ]
    shares = [100 * rb.disclosure(cervical, "biopsy", **one).share_upward() for one in options]
    assert shares == pytest.approx(numbers, abs=0.05)


def test_the_scenario_is_as_told(cervical):
    (breach, full) = told(r"the chance of a breach is (\d+) % on average instead of (\d+) %")
    chances = {"age": 0.9, "num_pregnancies": 0.5, "smokes": 0.2}
    d = rb.disclosure(cervical, "biopsy", knowledge=chances)
    assert 100 * d.breach_probability.mean() == pytest.approx(breach, abs=0.5)
    assert 100 * (d.ppp_full == 0).mean() == pytest.approx(full, abs=0.5)


def test_the_table_of_categories_is_as_told(cervical):
    best = rb.best_generalisation(cervical, "age", sensitive="biopsy").table
    free = rb.best_generalisation(cervical, "age", sensitive="biopsy", smallest=1)
    paper = rb.equal_width_search(cervical, "age", sensitive="biopsy").table
    form = r"^\| (\d+) \| (\d+)(?: of 789)? \| (\d+) \| (\d+) \|$"
    rows = re.findall(form, PAGE.read_text(), re.M)
    assert len(rows) == 6
    for categories, theirs, ours, any_size in rows:
        assert best["protected"][best["categories"] == int(categories)].item() == int(ours)
        at = free.table["categories"] == int(categories)
        assert free.table["protected"][at].item() == int(any_size)
        assert paper["protected"][paper["categories"] == int(categories)].item() == int(theirs)


def test_an_optimum_does_not_put_one_woman_alone_in_a_category(cervical):
    free = rb.best_generalisation(cervical, "age", "biopsy", smallest=1).partition(4)
    assert [(str(part), part.people) for part in free] == [
        ("13", 1), ("14-70", 786), ("79", 1), ("84", 1),
    ]  # fmt: skip
    kept = rb.best_generalisation(cervical, "age", "biopsy")
    assert (kept.table["smallest"] >= 10).all()
    assert all(part.people >= 10 for part in kept.partition(4))


def test_what_a_guess_is_worth_is_as_told(cervical):
    sure, total, negative, share, lift = told(
        r"is sure about (\d+) of (\d+) women; (\d+) of these have the negative result,"
        r" which (\d+) % of the table have anyway \(lift ([\d.]+)\)"
    )
    d = rb.disclosure(cervical, "biopsy")
    by = d.by_value()
    assert (d.sure.sum(), len(d), by.loc[0, "sure"]) == (sure, total, negative)
    assert 100 * by.loc[0, "prior"] == pytest.approx(share, abs=0.5)
    assert by.loc[0, "lift"] == pytest.approx(lift, abs=0.005)
    known, nothing, others = told(
        r"The best guess is right about ([\d.]+) with everything known, ([\d.]+) with nothing,"
        r" and ([\d.]+) from the others' records alone"
    )
    assert d.best_guess.mean() == pytest.approx(known, abs=5e-4)
    assert d.best_guess_prior == pytest.approx(nothing, abs=5e-4)
    assert d.best_guess_without_own.mean() == pytest.approx(others, abs=5e-4)
    women, few, fewer = told(r"\((\d+) women, sure about (\d+), (\d+) of them by others' records")
    positive = rb.disclosure(cervical, "biopsy", sensitive_values=[1])
    assert (len(positive), positive.sure.sum(), positive.sure_without_own.sum()) == (
        women, few, fewer,
    )  # fmt: skip


def test_the_calibration_is_as_told(cervical):
    ruled_out, dirichlet, baseline = told(
        r"counts give ([\d.]+) % of the women's true results probability 0 \(infinite log-loss\);"
        r" a Dirichlet prior of weight 10 has log-loss ([\d.]+), the baseline ([\d.]+), which is"
    )
    found = rb.disclosure_calibration(cervical, "biopsy").set_index(["posterior", "strength"])
    assert 100 * found.loc[("counts", 0.0), "ruled_out"] == pytest.approx(ruled_out, abs=0.05)
    assert found.loc[("dirichlet", 10.0), "log_loss"] == pytest.approx(dirichlet, abs=5e-4)
    assert found.loc[("baseline", 0.0), "log_loss"] == pytest.approx(baseline, abs=5e-4)
    behind, error = told(r"which is ([\d.]+) behind with an error of ([\d.]+):")
    assert found.loc[("baseline", 0.0), "behind"] == pytest.approx(behind, abs=5e-4)
    assert found.loc[("baseline", 0.0), "behind_error"] == pytest.approx(error, abs=5e-4)
