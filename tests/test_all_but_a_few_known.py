"""A reader who knows all people but a few makes no more of a page than its counts in tens say."""

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from benchmarks.attacker_strangers import PAGES, narrowed
from reidbn.release import mean_of_counts
from reidbn.report import Telling

WIDE = [("chances", 150, 2, 0), ("every", 150, 2, 0), ("sparse", 150, 2, 0), ("linkage", 110, 2, 0),
        ("family", 110, 2, 0)]  # fmt: skip


@pytest.mark.parametrize(
    ("page", "others", "strangers", "draw"),
    [("disclosure", 100, 5, 0), ("disclosure", 150, 5, 1), ("two", 100, 2, 1), ("suda", 110, 2, 1),
     ("coarser", 150, 1, 0), ("plan", 150, 3, 0),
     *(pytest.param(*one, marks=pytest.mark.wide) for one in WIDE)],
)  # fmt: skip
def test_a_page_tells_no_more_than_its_counts(page, others, strangers, draw):
    """Means, how often guesses are right, which subset breaks most and in what order columns stand
    narrowed 24 of 24, 27 of 39, 69 of 99 and 7 of 7 counts; between what widths ages could be cut,
    what a step of a loss is, and that nobody has a risk, 5 of 26, 2 of 3 and 30 of 30."""
    many, bad = narrowed(PAGES[page](np.random.default_rng([20261124, draw]), others, strangers))
    assert bad == 0 < many


def test_a_mean_by_counts_alone_holds_the_mean_and_hangs_on_nothing_else():
    rng = np.random.default_rng(4)
    for _ in range(200):
        levels = np.sort(rng.choice(20, 4, replace=False)) / 20
        values = rng.random(int(rng.integers(90, 400))) ** rng.integers(1, 4)
        values[rng.random(len(values)) < 0.2] = rng.choice([0.0, 1.0, levels[0]])
        ends = mean_of_counts(values, levels)
        assert (ends is None) == (len(values) < 100)
        if ends is not None:
            assert ends[0] <= values.mean() <= ends[1]
            up = np.searchsorted(levels, values)  # as far up as the band goes, which tells the same
            other = np.append(levels, 1.0)[up]
            assert mean_of_counts(other, levels) == ends


@pytest.mark.parametrize("swap", [False, True])
def test_which_of_two_columns_breaks_more_is_told_by_tens(swap, tmp_path):
    """Of two that are told alike it was the one that breaks more people."""
    a = [f"a{i}" for i in range(5)] + ["x"] * 85
    b = [f"b{i}" for i in range(3)] + ["x"] * 87
    columns = {"p": b if swap else a, "q": a if swap else b, "s": ["u", "v"] * 45}
    people = rb.read_table(columns, quasi_identifiers=["p", "q"], sensitive=["s"])
    path = rb.disclosure(people, "s").report(tmp_path / "r.md")
    rows = path.read_text().partition("The subset that breaks most")[2].splitlines()
    assert rows[4].startswith("| p | 1 | under 10 |")


def test_what_remarks_there_are_is_told_of_no_table():
    """That there were remarks on a few said that some were left out."""
    telling = Telling()
    few = ["3 people suppressed", "98 % of the numbers are exact", "1 cell emptied"]
    assert telling.notes(few) == telling.notes([])
    assert telling.notes(["2,114 people suppressed"])[0] == "2,110 people suppressed"
    assert Telling(custodian=True).notes(few) == few


@pytest.mark.parametrize("somebody", [False, True])
def test_whether_anybody_has_a_value_is_in_no_remark(somebody, tmp_path):
    """One cell decides whether a code occurs, and whether a feature is known of somebody."""
    columns = {"a": ["x", "y"] * 30, "b": ["p", "q", "NA" if somebody else "p"] * 20}
    people = rb.read_table(columns, quasi_identifiers=["a", "b"], missing_values=["NA"])
    records = pd.DataFrame({"f": ["y", None] * 60, "g": [None] * 119 + ["y" if somebody else None]})
    sparse = rb.read_sparse(records)
    for result in (rb.leak.assess(people, leaked=20), rb.linkage(sparse, facts=[1])):
        for end in ("json", "md", "html"):
            told = result.report(tmp_path / f"r.{end}").read_text()
            assert "occurs in no column" not in told
            assert "known of nobody" not in told
        own = " ".join(result.remarks())
        assert somebody is not ("occurs in no column" in own or "known of nobody" in own)


def of_sparse(share, n=120):
    cells = np.random.default_rng(5).random((n, 6)) < share
    records = pd.DataFrame(np.where(cells, "y", None), columns=list("abcdef"))
    return rb.assess("linkage", rb.read_sparse(records))


def test_how_far_off_draws_may_be_is_told_of_so_many_people_alike():
    """Outwards by how many draws and people there are alone: which were drawn hangs on records."""
    drawn = [of_sparse(share)._off_told(exactly=False) for share in (0.0, 0.1, 0.5)]
    assert drawn[0] == drawn[1] == drawn[2] != {}
    for share in (0.1, 0.3, 0.6):
        result = of_sparse(share)
        for name, one in result._off_by_drawing().items():
            assert one.off <= result._at_most_off()[name]
            assert result._off_told(exactly=True)[name] == {"off": one.off, "draws": one.draws}


def test_that_nobody_has_any_risk_is_told_of_no_sparse_table():
    """One risk of all was taken to follow from classes of one: its mean was told as 0 to 0."""
    nobody = of_sparse(0.0)
    assert not nobody.risk().any()
    one = nobody._numbers(custodian=False)["measures"]["overall"]
    assert (one["at_least"], one["at_most"]) == (0.0, 0.834)
