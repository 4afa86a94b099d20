"""What pages told beside their marks, and raw errors of methods: found from outside."""

import json

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.report import Telling, population_figures
from reidbn.theory import interval
from tests.outward_attacker import partitions


def _table(sizes):
    cells = [f"v{i}" for i, size in enumerate(sizes) for _ in range(size)]
    return rb.read_table(pd.DataFrame({"a": cells}), quasi_identifiers=["a"], allow_direct=True)


def _pages(asked, tables, folder):
    """The different pages of these tables, without their seals."""
    found = set()
    for sizes in tables:
        result = asked(_table(sizes))
        written = json.loads(result.report(folder / "r.json").read_text())
        written.pop("seal")
        lines = result.report(folder / "r.md").read_text().splitlines()
        found.add((json.dumps(written), "\n".join(x for x in lines if "reidbn-seal" not in x)))
    return found


@pytest.mark.parametrize(("leaked", "chance"), [(4, 0.5), (7, 0.9)])
def test_a_leak_under_chances_tells_no_counts_of_risks(tmp_path, leaked, chance):
    """Of 10 to 19 people it said "under 10" of two or three, by the levels of a mixture."""
    tables = [sizes for n in (10, 11, 12) for sizes in partitions(n)]
    pages = _pages(
        lambda p: rb.leak.assess(p, leaked=leaked, known={"a": chance}), tables, tmp_path
    )
    assert len(pages) == 1
    people = rb.read_table(
        rb.datasets.synthetic_patients(400, seed=1), quasi_identifiers=["age", "sex"]
    )
    found = rb.leak.assess(people, leaked=40, known={"age": 0.5, "sex": 1.0})
    outwards, own = (
        found.report(tmp_path / "l.md", custodian=custodian).read_text()
        for custodian in (False, True)
    )
    assert "known with chances" in outwards
    assert "above 0.05" not in outwards
    assert "above 0.05" in own
    sure = rb.leak.assess(people, leaked=40, known=["age"])
    assert "above 0.05" in sure.report(tmp_path / "s.md").read_text()


@pytest.mark.parametrize("model", ["pitman", "ewens", "structured"])
def test_an_estimate_does_not_say_who_of_nearly_all_is_not_unique(tmp_path, model):
    """A whole number beside a decimal one said that nobody was; others said 4 of "under 10"."""
    tables = [s for n in (10, 11, 12, 13) for s in partitions(n) if s.count(1) >= 10]
    pages = _pages(lambda p: rb.population.fit(p, population=1_000, model=model), tables, tmp_path)
    assert len(pages) == 1
    for sizes in ((1,) * 60, (2, 2) + (1,) * 58, (5,) + (1,) * 57):
        found = rb.population.fit(_table(sizes), population=5_000, model=model)
        told = json.loads(found.report(tmp_path / "f.json").read_text())["measures"]
        assert {*told} <= {"population", "people", "uniques"}
        assert found.expected_uniques > 0
    ordinary = rb.population.fit(_table((2,) * 15 + (1,) * 40), population=5_000, model=model)
    told = json.loads(ordinary.report(tmp_path / "o.json").read_text())["measures"]
    assert told["expected_uniques"]["at_most"] <= 5_000


def test_models_side_by_side_are_no_picture_of_it(tmp_path):
    table = rb.population.compare(_table((2, 2) + (1,) * 60), population=5_000)
    with pytest.raises(rb.errors.UsageError, match="custodian's own"):
        population_figures.models_figure(table, Telling())
    assert population_figures.models_figure(table)


def test_methods_say_which_argument_is_none():
    attack = rb.load("breakfast")
    people = rb.read_table(
        rb.datasets.synthetic_patients(60, seed=1), quasi_identifiers=["age", "sex"]
    )
    plan = rb.recommend(people, target="k=2", suppress_at_most=0.5)
    for call, word in (
        (lambda: plan.named(1), "one is an int"),
        (lambda: plan.assessed(most=None, of=people), "most is None"),
        (lambda: people.cells_told(attack), "columns is an Attack"),
        (lambda: people.cells_told(np.ones((2, 2))), "columns is"),
        (lambda: attack.behind(-1), "cpd is an int"),
        (lambda: attack.parent_nodes(int), "node is a type"),
        (lambda: attack.upstream(1), "nodes is an int"),
        (lambda: attack.variable(), "missing"),
        (lambda: attack.tables(0.5), "nodes is a float"),
    ):
        with pytest.raises(rb.errors.UsageError, match=word):
            call()


def test_the_worst_case_of_a_page_under_chances_is_told_by_classes(tmp_path):
    """It was drawn as 100 % above every risk, and told as 0 to all people in every row."""
    people = rb.read_table(
        rb.datasets.synthetic_patients(2_000, seed=0),
        quasi_identifiers=["age", "sex", "state", "race"],
    )
    asked = {"population": 6_900_000}
    r = rb.assess("adversary-routes", people, scenario="voter-registration", **asked)
    page = r.report(tmp_path / "r.md").read_text()
    assert "**People by overall risk: the worst case**" in page
    assert "0 to 2,009" not in page
    high = (
        rb.assess("adversary-routes", people, scenario="worst-case", **asked).risk() > 0.33
    ).sum()
    (row,) = [line for line in page.splitlines() if line.startswith("| above 0.33 |")]
    low, _, top = row.split("|")[2].strip().replace(",", "").partition(" to ")
    assert int(low) <= high <= int(top or int(low) + 9)


@pytest.mark.parametrize("model", ["pitman", "ewens", "pitman-bayes"])
def test_of_a_table_of_people_alike_others_may_be_unique(model):
    """(0, 0), where of 50 unique in 5,000 a sample of 200 holds none in one of eight."""
    fit = rb.population.fit(sizes=[200], counts=[1], population=5_000, model=model)
    low, high = fit.prediction_interval()
    assert low == 0
    assert (1 - 200 / 5_000) ** high >= 0.025 > (1 - 200 / 5_000) ** (high + 1)
    assert "each of them" not in fit.explain()
    whole = rb.population.fit(sizes=[200], counts=[1], population=200, model=model)
    assert whole.prediction_interval() == (0, 0)


def test_an_attack_acted_out_has_the_interval_of_its_attempts():
    """Each person counted once: 60,000 attempts on twelve people said "up to .26" of none."""
    cells = {f"c{j}": [(i * (j + 2) + j) % 3 for i in range(12)] for j in range(4)}
    truth = rb.linkage_truth(rb.assess("linkage", rb.read_sparse(cells)), draws=5_000, seed=1)
    table = truth.table()
    for event, hits in truth.happened.items():
        assert (table.low[event], table.high[event]) == interval(int(hits.sum()), 5_000)
    for row in truth.reliability("identified").itertuples():
        hits = round(row.happened * row.attempts)
        assert (row.low, row.high) == interval(hits, row.attempts)


def test_of_an_empty_column_no_kind_is_asked():
    """Nobody's onset is told: the column was taken for a category and refused."""
    told = {"feature": ["a", "b", "c"], "relation": ["self", "father", "self"],
            "disease": ["asthma"] * 3, "field": ["has", "has", "onset"]}  # fmt: skip
    cells = {"a": ["yes", "no", "yes"], "b": [None, "yes", "yes"], "c": [None] * 3}
    assert len(rb.read_kin(rb.read_sparse(cells, features=told))) == 3
    cells["c"] = ["mild", "bad", None]
    with pytest.raises(rb.errors.DataError, match="onset is of the kind number"):
        rb.read_kin(rb.read_sparse(cells, features=told))


def test_a_question_names_a_chance_of_each_persons_own():
    people = rb.read_table(
        rb.datasets.synthetic_patients(60, seed=1), quasi_identifiers=["age", "sex"]
    )
    known = {"age": np.linspace(0, 1, 60), "sex": 0.5}
    said = rb.assess("adversary-routes", people, known=known, population=5_000).question
    assert "age by a chance of each person's own, sex 0.5" in said
    with pytest.raises(rb.errors.DataError, match=r"rb\.microdata\.knowledge"):
        rb.leak.risks(people, leaked=10, known="voter-registration")
