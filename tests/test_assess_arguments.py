"""Wrong types in the calls of an assessment end in the product's own errors."""

import numpy as np
import pytest

import reidbn as rb
from reidbn.attacks import act_out
from reidbn.errors import ReidbnError, UsageError


@pytest.fixture(scope="module")
def people():
    return rb.read_table(
        rb.datasets.synthetic_patients(60, seed=5), quasi_identifiers=["age", "sex"]
    )


@pytest.fixture(scope="module")
def result(people):
    return rb.assess("adversary-routes", people, population=500)


ASSESS = [
    ("attack", 5), ("attack", None), ("people", None), ("scenario", 5),
    ("scenario", ["worst-case"]),
    ("population", "many"), ("population", float("nan")), ("population", True),
    ("set", ["p_m"]), ("set", {"p_m": "high"}), ("set", {"p_m": None}),
    ("set", {"p_m": [0.1, 0.2]}),
    ("set", {3: 1}), ("set", {"p_m": float("nan")}),
    ("do", ["a"]), ("do", {"claims": 3}), ("given", 5), ("given", {"claims": 5}),
    ("subject", 5), ("subject", {"p_unique": ["a"] * 60}), ("subject", {"p_unique": None}),
    ("subject", {"p_unique": [[0.1, float("nan")]] * 60}),
    ("columns", ["age"]), ("columns", {"age": 5}), ("columns", {"age": None}),
    ("without", 5), ("unknown", [5]), ("method", 5), ("trials", 0), ("trials", "x"),
    ("trials", 1.5),
    ("seed", -1), ("seed", "x"), ("checkpoint", 5), ("histories", "yes"), ("beyond_range", 1),
]  # fmt: skip


@pytest.mark.parametrize(("argument", "value"), ASSESS, ids=lambda x: repr(x)[:24])
def test_assess_refuses_what_it_cannot_take(argument, value, people):
    call = {"attack": "adversary-routes", "people": people, "population": 500, argument: value}
    if argument == "columns":
        call["scenario"] = "social-media"
    with pytest.raises(ReidbnError):
        rb.assess(call.pop("attack"), call.pop("people"), **call)


def test_numbers_about_people_are_given_one_per_person_and_by_one_way(people, result):
    with pytest.raises(
        UsageError, match=r'every one of the 60 people.*"p_unique": \[number\] \* 60'
    ):
        rb.assess("adversary-routes", people, population=500, subject={"p_unique": 0.1})
    with pytest.raises(UsageError, match=r'subject column of the model.*subject=\{"p_unique": one'):
        rb.assess("adversary-routes", people, population=500, columns={"p_unique": "p_unique"})
    with pytest.raises(UsageError, match=r'subject column of the model.*subject=\{"p_unique": one'):
        rb.what_if(result, columns={"p_unique": "age"})


WHAT_IF = [
    {"generalise": ["age"]}, {"generalise": {"age": 1}, "hierarchies": [1]}, {"suppress": "x"},
    {"suppress": 0}, {"together": "x"}, {"population": "x"}, {"set": 3}, {"scenario": 3}, {"do": 3},
    {"columns": 3}, {"without": 3}, {"unknown": 3},
]  # fmt: skip


@pytest.mark.parametrize("call", WHAT_IF, ids=str)
def test_what_if_refuses_what_it_cannot_take(call, result):
    with pytest.raises(ReidbnError):
        rb.what_if(result, **call)


ASKED = {
    "no assessment": lambda r: rb.what_if(None),
    "no such measure": lambda r: r.risk("nope"),
    "measure by number": lambda r: r.risk(3),
    "threshold as text": lambda r: r.above(["x"]),
    "threshold that is no number": lambda r: r.above([float("nan")]),
    "threshold in percent": lambda r: r.above([9]),
    "count below one": lambda r: r.most_at_risk(0),
    "count as text": lambda r: r.most_at_risk("x"),
    "rows as text": lambda r: r.check(draws="x"),
    "subjects as text": lambda r: r.check(subjects="x"),
    "case of no measure": lambda r: r.whatif_case("nope"),
    "compare with a number": lambda r: r.compare_with(3),
    "reduction of no measure": lambda r: rb.compare(r, r).reduction("nope"),
    "level as text": lambda r: r.population_uncertainty("x"),
    "parquet to a number": lambda r: r.to_parquet(5),
    "restricted to a number": lambda r: r.to_restricted(5),
    "page to a number": lambda r: r.to_html(5),
    "attempts as text": lambda r: act_out(r, draws="x"),
    "scenario by number": lambda r: rb.load_scenario(5),
}


@pytest.mark.parametrize("name", ASKED)
def test_an_assessment_refuses_what_it_cannot_answer(name, result):
    with pytest.raises(ReidbnError):
        ASKED[name](result)


def test_evidence_and_interventions_may_be_written_as_in_the_shell(people, result):
    one = rb.assess("adversary-routes", people, population=500, do="claims=no")
    other = rb.what_if(result, do={"claims": "no"})
    assert np.array_equal(one.risk(), other.risk())
    assert result.above(0.2).index.tolist() == [0.2]


def test_suppression_of_a_table_of_which_only_some_were_asked_about_is_refused(people):
    some = rb.assess("adversary-routes", people, population=500, individuals=20)
    with pytest.raises(UsageError, match="assess all people, not some"):
        rb.what_if(some, suppress=2)


def test_the_risks_of_some_rows_stand_beside_these_rows_and_not_the_first_ones(tmp_path):
    import pandas as pd

    table = rb.read_table({"age": [20, 20, 20, 50, 61, 61]}, quasi_identifiers="age")
    everybody = rb.assess("marketer", table)
    some = rb.assess("marketer", table, individuals=[4, 3, 0])
    assert some.subjects.index.tolist() == [4, 3, 0]
    pd.testing.assert_frame_equal(
        some.subjects, everybody.subjects.loc[[4, 3, 0]], check_names=False
    )
    assert some.most_at_risk(1).index.tolist() == [3]
    some.to_parquet(tmp_path / "some.parquet")
    assert pd.read_parquet(tmp_path / "some.parquet")["subject"].tolist() == [4, 3, 0]
    per_person = rb.sweep(some, {"p_c": [0.5]}, per_person=True)
    assert per_person["subject"].tolist() == [4, 3, 0]


def test_a_risk_stands_beside_the_row_of_the_source_where_rows_were_left_out(tmp_path):
    import pandas as pd

    ages = {"age": [None, 20, 20, 20, 50, 61, 61], "ill": list("abababa")}
    dropped = rb.read_table(ages, quasi_identifiers="age", sensitive="ill", missing="drop")
    result = rb.assess("marketer", dropped)
    assert result.people.index.tolist() == [1, 2, 3, 4, 5, 6]
    fewer = rb.what_if(result, suppress=2)
    assert fewer.people.index.tolist() == [1, 2, 3, 5, 6]
    fewer.to_parquet(tmp_path / "fewer.parquet")
    written = pd.read_parquet(tmp_path / "fewer.parquet")
    assert written["subject"].tolist() == [1, 2, 3, 5, 6]
    assert rb.assess("marketer", dropped, individuals=[3, 0]).people.index.tolist() == [4, 1]
    assert rb.disclosure(dropped, "ill").people.index.tolist() == [1, 2, 3, 4, 5, 6]
    assert rb.leak.assess(dropped, leaked=2).people.index.tolist() == [1, 2, 3, 4, 5, 6]
