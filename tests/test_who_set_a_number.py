"""A number that the caller or a scenario set says so, and goes when what it was set for goes."""

import pytest

import reidbn as rb
from reidbn.attack import load_scenario
from reidbn.attacks import assumed, register
from reidbn.report import Telling, threat_model

SCENARIO = """\
schema_version: 1
kind: scenario
name: {name}
title: A neighbour
{more}
knows:
  attributes:
    age: {{chance: {age}, source: "log book"}}
    sex: {{chance: 1, source: "{sex}"}}
"""


@pytest.fixture(scope="module")
def people():
    table = rb.datasets.synthetic_patients(120, seed=5)
    return rb.read_table(table, quasi_identifiers=["age", "sex"])


@pytest.fixture
def written(tmp_path):
    def write(name, more="", age=0.6, sex="seen on the street"):
        path = tmp_path / f"{name}.yaml"
        path.write_text(SCENARIO.format(name=name, more=more, age=age, sex=sex), encoding="utf-8")
        return load_scenario(str(path))

    return write


def _assess(attack, people, **more):
    return rb.assess(attack, people, population=90_000, **more)


def _sources(result):
    return {entry.name: entry.source for entry in register(result)}


def test_a_number_that_the_caller_set_does_not_cite_the_source_of_another_number(people):
    result = _assess("leak-partial", people, set={"leaked": 7})
    assert _sources(result)["leaked"] == "assumption: set for this assessment in place of 3"
    assert assumed(result) == ("leaked",)
    assert result.summary().assumptions == ("leaked",)
    same = _assess("leak-partial", people, set={"leaked": 3})
    assert _sources(same)["leaked"] == "[Antoniou22] Table 4, L = 3"
    assert not assumed(same)


def test_a_number_that_a_scenario_set_cites_the_scenario(people, written):
    plain = _assess("adversary-routes", people, scenario=written("n", "set: {p_m: 1}"))
    assert _sources(plain)["p_m"] == "assumption: set by scenario n, in place of 0.5"
    sourced = written("n", "set: {p_m: 1}\nsource: minutes of 3 May")
    cited = _assess("adversary-routes", people, scenario=sourced)
    assert _sources(cited)["p_m"] == "scenario n, in place of 0.5: minutes of 3 May"
    assert "p_m" not in assumed(cited)


def test_another_scenario_takes_what_the_first_one_set_with_it(people, written):
    here, sure = written("here", "set: {p_m: 0}"), written("sure", "set: {p_m: 1}")
    first = _assess("adversary-routes", people, scenario=here)
    for other in (sure, load_scenario("worst-case"), written("silent")):
        moved = rb.what_if(first, scenario=other)
        fresh = _assess("adversary-routes", people, scenario=other)
        assert moved.risk().tolist() == fresh.risk().tolist()
    said = _assess("adversary-routes", people, scenario=here, set={"p_m": 0.25})
    kept = rb.what_if(said, scenario=sure)
    assert kept.inputs.set["p_m"] == 0.25  # what the caller says stands above every scenario


def test_a_chance_of_the_scenario_that_was_set_does_not_stop_the_report(people, written):
    result = _assess("adversary-routes", people, scenario=written("n"),
                       set={"p_knows_age": 0.1})  # fmt: skip
    worst = rb.what_if(result, scenario="worst-case")
    fresh = _assess("adversary-routes", people)
    assert worst.risk().tolist() == fresh.risk().tolist()


def test_the_threat_model_shows_the_chance_that_was_set(people, written):
    result = _assess("adversary-routes", people, scenario=written("n"), set={"p_knows_age": 0.1})
    age = threat_model(result, Telling(custodian=True)).details[0].rows[0]
    assert age[2].startswith("0.1 ")
    assert age[3] == "assumption: set for this assessment in place of 0.6"


def test_attributes_that_are_known_for_sure_keep_every_source(people, written):
    result = _assess("adversary-routes", people, scenario=written("n", age=1, sex="assumption"))
    assert _sources(result)["age + sex"] == "log book; assumption"
    assert "age + sex" in assumed(result)


def test_the_account_of_a_scenario_shows_the_chance_that_was_set(people):
    account = load_scenario("social-media").shared(together=True)
    result = _assess("adversary-routes", people, scenario=account, set={"p_account": 0.25})
    entry = next(e for e in register(result) if e.name == "account")
    assert entry.value == "0.25"
    assert entry.source.startswith("assumption: set for this assessment in place of ")
    asked = _assess("adversary-routes", people, scenario=account)
    rows, before = (
        threat_model(r, Telling(custodian=True)).details[0].rows for r in (result, asked)
    )
    was = asked.attack.parameters["p_account"].value
    assert [float(r[2].split()[0]) for r in rows] == pytest.approx(
        [float(b[2].split()[0]) * 0.25 / was for b in before], rel=0.01
    )
