"""What a plan's page that leaves the house tells of how many people were left out.

The reader knows how plans are made and has the JSON of the page; tables that print the same are
looked for by brute force.
"""

import json
from collections import defaultdict

import numpy as np
import pytest

import reidbn as rb

LADDER = {"age": rb.Tree({"ab": ["a", "b"], "cd": ["c"]})}


def told(counts, k, share, path, **more):
    """The JSON that leaves, and how many people were left out."""
    people = rb.read_table({"age": np.repeat([*"abc"], counts)}, quasi_identifiers=["age"])
    try:
        plan = rb.recommend(
            people, target=f"k={k}", hierarchies=LADDER, suppress_at_most=share, **more
        )
    except rb.DataError:
        return None
    plan.report(path)
    numbers = json.loads(path.read_text())
    plan.report(path.with_suffix(".md"))
    return json.dumps(numbers, sort_keys=True), path.with_suffix(".md").read_text(), plan


@pytest.mark.slow
@pytest.mark.parametrize(("k", "share"), [(2, 0.2), (3, 0.3), (5, 0.5)])
def test_a_plans_page_excludes_no_number_of_people_left_out(k, share, tmp_path):
    """All 1,320 tables of 10 to 19 people with three values.  The loss, told in steps of ten
    people's share, excluded numbers of every such mark: of a rare value one person holds more."""
    same, most, marks = defaultdict(set), defaultdict(int), 0
    for n in range(10, 20):
        for a in range(n + 1):
            for b in range(n - a + 1):
                found = told((a, b, n - a - b), k, share, tmp_path / "p.json")
                if found is None:
                    continue
                numbers, _, plan = found
                assert json.loads(numbers)["suppressed"] is None
                same[numbers].add(plan.best.suppressed)
                marks += 1
    for numbers, can in same.items():
        at = json.loads(numbers)["levels"]["age"]
        most[at] = max(can)
        assert can == set(range(max(can) + 1)), (at, can)
    assert most[0] >= k - 1
    assert marks > 1_000


def test_no_example_of_a_level_tells_which_value_is_commoner(tmp_path):
    """40 of 20 and 43 of 21 are known, three more are not: "such as 20" told that all were 20.

    And the first value that ten people have told of those before it that nine have each.
    """
    told = set()
    for three in (["20"] * 3, ["20", "20", "21"], ["20", "21", "21"]):
        ages = ["20"] * 40 + ["21"] * 43 + ["30"] * 30 + ["31"] * 12 + three
        ladder = {"age": rb.microdata.Bands(2, 10, 100)}
        people = rb.read_table({"age": ages}, quasi_identifiers=["age"])
        plan = rb.recommend(people, target="k=41", suppress_at_most=0.05, hierarchies=ladder)
        body = plan.report(tmp_path / "p.md").read_text()
        told.add(next(line for line in body.splitlines() if line.startswith("| age |")))
        assert "such as 2" in plan.report(tmp_path / "p.md", custodian=True).read_text()
    assert told == {"| age | level 1 of 4 |"}


@pytest.mark.parametrize("loss", ["entropy", "granularity"])
@pytest.mark.parametrize("many", [40, 2_000])
def test_the_loss_of_a_plan_does_not_count_those_who_are_left_out(loss, many, tmp_path):
    """One to nine people with a rare value: their share of a column's bits is far more than of
    its people.  Whoever holds the file knows how many stay, and each number is possible still."""
    pages = set()
    for rare in range(1, 10):
        counts = (many, many + 7, rare)
        numbers, page, plan = told(counts, 10, 0.5, tmp_path / "p.json", loss=loss)
        assert plan.best.suppressed == rare
        pages.add((numbers, page))
    assert len(pages) == 1
    assert ("% of what the table says" in page) is (many > 50)
    assert str(len(plan.apply())) not in page


def test_the_example_of_a_level_is_of_cells_that_are_written(tmp_path):
    """Ten of eleven emptied cells were 18: "such as 18 -> 15-19" told what the blanks are."""
    people = rb.read_table({"age": [18] * 10 + [*range(20, 40)] * 6, "sex": ["f"] * 130},
                           quasi_identifiers=["age", "sex"])  # fmt: skip
    plan = rb.recommend(people, target="ema", hierarchies={"age": "bands:5,10"},
                        empty_at_most="6%", keep="sex")  # fmt: skip
    released = plan.apply()
    assert released.emptied["age"][:10].all()
    for custodian in (False, True):
        body = plan.report(tmp_path / "p.md", custodian=custodian).read_text()
        (line,) = (line for line in body.splitlines() if line.startswith("| age | level"))
        assert "18" not in line
        assert ("such as" in line) is custodian
        assert ("11 single cells emptied" in body) is custodian
        assert "some single cells emptied" in body or custodian
