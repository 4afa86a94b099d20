"""The risk is the question of that name, or there is none: no other takes its place."""

import json

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.attacks import drivers
from reidbn.cli import reidbn

MODEL = """schema_version: 1
name: m
sources: [x]
parameters:
  p: {value: 0.1, source: x}
subject:
  class_size: {per: known, unit: records, range: [1, 1000000]}
groups:
  known: {members: [knows_age, knows_sex], probability: 0.5, source: x}
nodes:
  x: {cpd: {kind: probability, p: $p}}
  right: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  found: {parents: [x, right], cpd: {kind: and}}
questions:
"""
TOGETHER, APART = "home=age+sex:0.5", "age=0.5,sex=0.5"
COUNTED = {
    "event": "  risk: {target: 'right=yes and known>=2'}\n",
    "evidence": "  risk: {target: right=yes, given: {known: '>=2'}}\n",
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    return pd.DataFrame({"age": rng.integers(20, 60, 90), "sex": rng.choice(["m", "f"], 90)})


@pytest.fixture(scope="module")
def people(table):
    return rb.read_table(table, quasi_identifiers=["age", "sex"])


def called(tmp_path, table, model, known, *gate):
    (tmp_path / "m.yaml").write_text(MODEL + model)
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ["assess", str(tmp_path / "t.csv"), "--qi", "age,sex", "--attack"]
    words += [str(tmp_path / "m.yaml"), "--known", known, "--check-draws", "1000", *gate]
    return reidbn.main(args=words, prog_name="reidbn", standalone_mode=False)


MAIN = "  risk: {target: right=yes, given: {knows_age: yes}}\n  with_x: {target: found=yes}\n"


@pytest.mark.parametrize("gate", [["--fail-above", "0.1"], ["--threshold", "overall=0.1"]])
def test_no_other_question_takes_the_name_of_the_risk_that_is_left_out(tmp_path, table, gate):
    assert called(tmp_path, table, MAIN, APART, *gate) == 1
    said = "the risk is question risk, which cannot be asked here: the scenario has no knows_age"
    with pytest.raises(rb.errors.UsageError, match=said) as caught:
        called(tmp_path, table, MAIN, TOGETHER, *gate)
    assert "with_x" in str(caught.value)


def test_another_question_that_is_left_out_leaves_the_risk_as_it_is(people):
    attack = rb.attack.loads(MODEL + MAIN.replace("risk", "y").replace("with_x", "risk"))
    result = rb.assess(attack, people, known={"home": (["age", "sex"], 0.5)})
    assert [*result.measures] == ["overall"]
    assert "question y is left out" in " ".join(result.groups.notes)


@pytest.mark.parametrize("kind", COUNTED)
def test_a_risk_about_a_count_does_not_count_two_attributes_as_one(people, kind):
    attack = rb.attack.loads(MODEL + COUNTED[kind])
    assert rb.assess(attack, people, known={"age": 0.5, "sex": 0.5}).risk().mean() > 0.05
    with pytest.raises(rb.errors.UsageError, match="home would count as one") as caught:
        rb.assess(attack, people, known={"home": (["age", "sex"], 0.5)})
    assert "age=0.5,sex=0.5" in str(caught.value)


def test_another_question_about_a_count_says_what_counts_as_one(people):
    attack = rb.attack.loads(MODEL + "  risk: {target: right=yes}\n  both: {target: 'known>=2'}\n")
    result = rb.assess(attack, people, known={"home": (["age", "sex"], 0.5)})
    assert "home (age, sex) counts as one" in " ".join(result.remarks())
    with pytest.raises(rb.errors.UsageError, match="would count as one"):
        rb.assess(attack, people, known={"home": (["age", "sex"], 0.5)}, given={"known": ">=2"})


DECIDES = """decisions:
  tries: {options: [no, yes], sees: [known], source: x}
utilities:
  gain: {of: [tries, right], unit: euro, source: x,
         rows: [{when: {tries: yes, right: yes}, value: 9}, {value: 0}]}
"""


@pytest.mark.parametrize("decides", ["", DECIDES])
def test_a_risk_given_that_something_is_known_is_told_without_what_each_attribute_adds(
    tmp_path, table, people, decides, capsys
):
    """The drivers asked with nothing known, and summary, report and command ended there."""
    question = "  risk: {target: right=yes, given: {known: '>=1'}}\n"
    result = rb.assess(rb.attack.loads(MODEL + question + decides), people,
                       known={"age": 0.5, "sex": 0.5})  # fmt: skip
    alike = [
        1 / table.groupby(by)["sex"].transform("size") for by in (["age", "sex"], "age", "sex")
    ]
    assert result.risk().mean() == pytest.approx(float(sum(alike).mean()) / 3)
    result.keep_crosscheck(draws=1000)
    said = "hat each attribute adds is not told: the overall risk is given known>=1"
    assert said in str(result.summary())
    assert said in result.to_markdown(tmp_path / "r.md").read_text()
    with pytest.raises(rb.errors.ImpossibleEvidence, match="cannot be where less is known"):
        drivers(result)
    code = called(tmp_path, table, question + decides, APART, "--fail-above", "0.9", "--json",
                  "--restricted", str(tmp_path / "r.csv"))  # fmt: skip
    assert code == int(result.risk().max() > 0.9)
    told = json.loads(capsys.readouterr().out)
    assert said in told["attributes_untold"]
    assert told["attributes"] == []


def test_what_each_attribute_adds_says_what_it_takes_away_of_the_question(people):
    asked = {
        "given": "  risk: {target: right=yes, given: {knows_age: yes}}\n",
        "": "  risk: {target: right=yes}\n",
    }
    for given, question in asked.items():
        result = rb.assess(
            rb.attack.loads(MODEL + question), people, known={"age": 0.5, "sex": 0.5}
        )
        found = drivers(result)
        said = "where less is known knows_age=yes is taken away, too"
        assert (said in found.method) == bool(given)
        assert found.nothing + found.mean.sum() == pytest.approx(result.risk().mean(), abs=1e-12)
