"""A policy that was given or decided for one person: told with the answer, and of nobody else."""

import json

import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn


def run(*words):
    return CliRunner().invoke(reidbn, list(words), standalone_mode=False, catch_exceptions=False)


@pytest.fixture(scope="module")
def people():
    return rb.read_table(rb.datasets.synthetic_patients(40, seed=1),
                         quasi_identifiers=["age", "sex", "state", "race"])  # fmt: skip


def test_a_policy_of_the_example_is_not_that_of_a_table(people, tmp_path):
    decided = rb.decide("insider-decides").attack
    with pytest.raises(rb.UsageError, match="decided for one person") as told:
        rb.assess(decided, people, scenario="voter-registration")
    assert "take the model itself" in str(told.value)
    rb.save(decided, tmp_path / "decided.yaml")  # a file of it is no way around
    with pytest.raises(rb.UsageError, match="decided for one person"):
        rb.assess(str(tmp_path / "decided.yaml"), people, scenario="voter-registration")
    several = {"class_size": [[9] * 8, [3] * 8]}
    with pytest.raises(rb.UsageError, match="decided for one person"):
        rb.ask(decided, "risk", subject=several)
    for policy in ({"attacks": "yes"}, rb.decide("insider-decides")):
        assert float(rb.ask("insider-decides", "risk", policy=policy)) > 0
    assert float(rb.ask(decided, "risk")) == float(rb.ask("insider-decides", "risk"))


def test_a_policy_that_depends_on_no_person_is_that_of_everybody():
    attack = rb.load("insider-decides")
    text = rb.dumps(attack).replace("kind: one-over", "kind: probability")
    blind = rb.loads(text.replace('of: "@class_size"', "p: 0.02")
                     .replace("A guess among the matching records is right",
                              "A guess is right\n    source: assumption"))  # fmt: skip
    assert blind != attack
    decided = rb.decide(blind).attack
    assert rb.ask(decided, "risk", subject={"class_size": [[9] * 8, [3] * 8]}).probability.size == 2


TWO = """
schema_version: 1
name: two
title: two
story: two
sources: [me]
decisions:
  first: {options: [no, yes], story: First, source: assumption}
  then: {options: [no, yes], sees: [first], story: Then, source: assumption}
utilities:
  gain: {of: [ok], unit: euro, rows: [{when: {ok: yes}, value: 5}, {value: 0}], source: assumption}
nodes:
  luck: {cpd: {kind: probability, p: 0.3}, source: assumption}
  ok: {parents: [first, then, luck], cpd: {kind: and}}
questions: {risk: {target: ok=yes}}
"""


def test_an_answer_says_the_policy_that_was_given(tmp_path):
    file = tmp_path / "two.yaml"
    file.write_text(TWO)
    answer = rb.ask(str(file), "risk", policy={"first": True})
    assert answer.policy == {"first": "yes"}
    words = "under the policy first=yes (then as he decides best)"
    assert repr(answer) == str(answer) == f"P(ok=yes) = 0.3 (about 1 in 3.333), {words}"
    assert "under" not in str(rb.ask(str(file), "risk"))
    both = rb.ask(str(file), "risk", policy={"first": "yes", "then": "no"})
    assert str(both).endswith("under the policy first=yes and then=no")
    assert rb.ask(str(file), "risk", policy=rb.decide(str(file))).policy == {
        "first": "as rb.decide found", "then": "as rb.decide found",
    }  # fmt: skip
    call = ["ask", str(file), "risk", "--policy", "first=yes"]
    assert words in run(*call, "--fail-above", "0.5").output
    told = json.loads(run(*call, "--json").output)
    assert (told["policy"], told["decided"]) == ({"first": "yes"}, ["then"])
    assert words in told["sentence"]


def test_a_gate_of_an_answer_is_said_with_the_digits_that_decide_it(tmp_path):
    file = tmp_path / "two.yaml"
    file.write_text(TWO.replace("p: 0.3", "p: 0.060417"))
    for value, (limit, told, code) in {
        "0.060417": ("0.0604", "0.060417", 1),
        "0.0604170000004": ("0.060417", "0.0604170000004", 1),
        "0.06": ("0.06", "0.06", 0),
    }.items():
        file.write_text(TWO.replace("p: 0.3", f"p: {value}"))
        done = run("ask", str(file), "risk", "--fail-above", limit)
        ends = "the command ends with exit code 1" if code else "it is kept"
        assert f"--fail-above {limit}: the highest answer is {told}: {ends}." in done.output
        assert done.return_value == code
        done = run("ask", str(file), "risk", "--json", "--fail-above", limit)
        assert json.loads(done.output)["fail_above"]["exceeded"] == bool(code)
    over = ("sweep", "leak-single", "risk", "--over", "leaked=1000,4000", "--fail-above", "0.1")
    done = run(*over)
    assert "--fail-above 0.1: the highest answer is " in done.output
    assert done.return_value == 1
    told = json.loads(run(*over, "--json").output)
    assert {*told["fail_above"]} == {"limit", "found", "exceeded"}
    assert told["fail_above"]["exceeded"]


TIE = """
schema_version: 1
name: tie
title: tie
story: By phone or on the web, which pay alike
sources: [me]
decisions:
  way: {options: [no, phone, web], story: Which way, source: assumption}
utilities:
  gain: {of: [found], unit: euro, source: assumption,
         rows: [{when: {found: yes}, value: 100}, {value: 0}]}
  cost: {of: [way], unit: euro, source: assumption,
         rows: [{when: {way: phone}, value: -PHONE}, {when: {way: web}, value: -5}, {value: 0}]}
nodes:
  found: {parents: [way], source: assumption, rows: [
    {when: {way: phone}, p: {yes: 0.5, no: 0.5}},
    {when: {way: web}, p: {yes: 0.25, no: 0.75}}, {p: {yes: 0, no: 1}}]}
questions: {risk: {target: found=yes}}
"""


def test_an_answer_under_one_of_tied_policies_says_that_they_are(tmp_path):
    file = tmp_path / "tie.yaml"
    for phone, tied in ((30, ("way",)), (31, ())):
        file.write_text(TIE.replace("PHONE", str(phone)))
        answer = rb.ask(str(file), "risk")
        assert answer.tied == tied
        assert float(answer) == 0.25  # by phone it is .5
        assert ("tied" in answer.to_dict()) == bool(tied)
        done = run("ask", str(file), "risk", "--fail-above", "0.3")
        assert ("Tied: at way another option is worth the same" in done.output) == bool(tied)
    assert rb.ask(str(file), "risk", policy={"way": "phone"}).tied == ()
