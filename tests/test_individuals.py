"""Asking about some people of a table: their classes are those among everybody."""

import json

import numpy as np
import pytest
from inside import inside

import reidbn as rb
from reidbn.attacks import subset_classes
from reidbn.cli import main
from reidbn.theory import probability_interval

TABLE = rb.datasets.synthetic_patients(600, seed=8)
QI = ["age", "sex", "state", "race"]


def people_of(missing):
    table = TABLE.copy()
    if missing == "matches-anything":
        gone = np.random.default_rng(1).random(600) < 0.1
        table["age"] = table["age"].astype(object).mask(gone)
    return rb.read_table(table, quasi_identifiers=QI, missing=missing, subject_id="patient_id")


@pytest.mark.parametrize("missing", ["value", "matches-anything"])
@pytest.mark.parametrize("scenario", ["worst-case", "voter-registration"])
def test_some_peoples_risks_are_those_they_have_among_everybody(missing, scenario):
    people = people_of(missing)
    options = {"scenario": scenario, "population": 60_000}
    everybody = rb.assess("adversary-routes", people, **options)
    some = rb.assess("adversary-routes", people, individuals=40, seed=3, **options)
    rows = some.inputs.individuals
    assert rows.size == 40 == len(some)
    assert some.subjects.index.tolist() == people.subject_ids[rows].tolist()
    assert tuple(some.measures) == tuple(everybody.measures)
    for measure in some.measures:
        assert some.risk(measure) == pytest.approx(everybody.risk(measure)[rows], rel=1e-12)
    again = rb.what_if(some, set={"p_c": 0.1})
    whole = rb.what_if(everybody, set={"p_c": 0.1})
    assert again.risk() == pytest.approx(whole.risk()[rows], rel=1e-12)
    part = rb.assess("adversary-routes", people.take(rows), **options)
    assert part.risk("prosecutor").mean() > 1.1 * some.risk("prosecutor").mean()  # what not to do


def test_rows_may_be_named_and_columns_of_ones_own_are_cut_to_them():
    people = people_of("value")
    rows = [5, 3, 599]
    everybody = rb.assess("prosecutor", people)
    some = rb.assess("prosecutor", people, individuals=rows)
    assert some.risk().tolist() == everybody.risk()[rows].tolist()
    assert "drawn" not in repr(some)
    assert "3 people (of 600)" in repr(some)
    assert "low" not in some.shares_above([0.1])


def test_the_share_above_a_threshold_has_an_interval_that_holds_the_truth():
    """95 % intervals: 40 of them miss more than 8 times with probability below 1e-3."""
    people = people_of("value")
    everybody = rb.assess("prosecutor", people)
    true = float((everybody.risk() > 0.1).mean())
    misses = 0
    for seed in range(40):
        row = rb.assess("prosecutor", people, individuals=60, seed=seed).shares_above([0.1]).iloc[0]
        misses += not row["low"] <= true <= row["high"]
    assert misses <= 8


def test_a_verdict_or_a_report_about_everybody_is_refused_of_some(tmp_path):
    some = rb.assess("prosecutor", people_of("value"), individuals=10)
    for call in (
        some.summary,
        lambda: some.to_html(tmp_path / "r.html"),
        lambda: some.to_markdown(tmp_path / "r.md"),
        lambda: some.to_json(tmp_path / "r.json"),
    ):
        with pytest.raises(rb.UsageError, match="10 of 600 people were asked about"):
            call()
    assert not list(tmp_path.iterdir())


def test_a_table_too_large_is_assessed_by_asking_about_some(monkeypatch):
    people = people_of("value")
    monkeypatch.setattr(inside(subset_classes), "MEMORY", 1_000)
    with pytest.raises(rb.TooLarge, match="individuals=1000"):
        rb.assess("prosecutor", people)
    assert len(rb.assess("prosecutor", people, individuals=20)) == 20


def test_some_people_are_asked_about_in_the_shell(capsys):
    words = ["assess", "synthetic:600", "--qi", ",".join(QI), "--attack", "prosecutor",
             "--individuals", "50", "--rows", "50000"]  # fmt: skip
    with pytest.raises(SystemExit) as done:
        main([*words, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert done.value.code == 0
    assert found["individuals"] == 50
    assert found["people"] == 600
    assert found["low_above"] <= found["share_above"] <= found["high_above"]
    with pytest.raises(SystemExit) as done:
        main([*words, "--fail-above", "0.5"])
    assert done.value.code == 2
    assert "--fail-above is about everybody" in capsys.readouterr().err


@pytest.mark.parametrize(
    "risks",
    [np.repeat([0.0, 1.0], [990, 10]), np.repeat([0.0, 1.0], [10, 990]), 1 / np.arange(1, 1001)],
)
@pytest.mark.parametrize("drawn", [2, 20, 100, 500])
def test_the_interval_of_a_mean_risk_allows_for_rare_people_who_were_not_drawn(risks, drawn):
    """95 % intervals: 100 of them miss more than 15 times with probability below 1e-4."""
    rng, missed = np.random.default_rng(1), 0
    for _ in range(100):
        low, high = probability_interval(rng.choice(risks, drawn, replace=False), 1000, level=0.95)
        assert 0 <= low < high <= 1
        missed += not low <= risks.mean() <= high
    assert missed <= 15


def test_nobody_unique_among_those_drawn_is_not_told_as_nobody_in_the_table():
    """Ten unique people in a thousand, none of them among fifty: 0 to 0 was the interval."""
    records = np.append(np.zeros(990, dtype=int), np.arange(1, 11))[:, None]
    people = rb.People.from_codes(records, ["a"])
    some = rb.assess("prosecutor", people, individuals=50, seed=1)
    assert some.inputs.individuals.max() < 990
    low, high = some.measures["unique"].interval
    assert low == 0
    assert 0.01 <= high < 0.1
