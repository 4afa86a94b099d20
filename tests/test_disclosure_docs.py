"""The page about disclosure: its examples run, and its numbers are what comes out."""

import doctest
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


def test_every_example_of_the_page_is_true():
    page = doctest.testfile(str(PAGE), module_relative=False)
    assert page.attempted >= 7
    assert page.failed == 0


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
    paper = rb.equal_width_search(cervical, "age", sensitive="biopsy").table
    rows = re.findall(r"^\| (\d+) \| (\d+)(?: of 789)? \| (\d+) \|$", PAGE.read_text(), re.M)
    assert len(rows) == 6
    for categories, theirs, ours in rows:
        assert best["protected"][best["categories"] == int(categories)].item() == int(ours)
        assert paper["protected"][paper["categories"] == int(categories)].item() == int(theirs)


def test_the_calibration_is_as_told(cervical):
    ruled_out, dirichlet, baseline = told(
        r"counts give ([\d.]+) % of the women's true results probability 0 \(infinite log-loss\);"
        r" a Dirichlet prior of weight 10 has log-loss ([\d.]+), the baseline ([\d.]+)\. On"
    )
    found = rb.disclosure_calibration(cervical, "biopsy").set_index(["posterior", "strength"])
    assert 100 * found.loc[("counts", 0.0), "ruled_out"] == pytest.approx(ruled_out, abs=0.05)
    assert found.loc[("dirichlet", 10.0), "log_loss"] == pytest.approx(dirichlet, abs=5e-4)
    assert found.loc[("baseline", 0.0), "log_loss"] == pytest.approx(baseline, abs=5e-4)
