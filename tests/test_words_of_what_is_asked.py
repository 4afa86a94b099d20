"""What is said is said of what was asked: headings, gates, refusals and remarks."""

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.attack import Known, Knows, Listed, Scenario
from reidbn.cli import reidbn

MODEL = """schema_version: 1
name: m
sources: [x]
takes: [listed]
subject:
  class_size: {per: known, unit: records, range: [1, 1000000]}
groups:
  known: {members: [knows_age, knows_sex], probability: 0.5, source: x}
nodes:
  listed: {rows: [{p: [0.9, 0.1]}], source: x}
  right: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  found: {parents: [listed, right], cpd: {kind: and}}
questions:
  risk: {target: found=yes}
"""


def people():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"age": rng.integers(20, 40, 30), "sex": rng.choice(["m", "f"], 30)})
    return rb.read_table(table, quasi_identifiers=["age", "sex"])


def run(words):
    return reidbn.main(args=words.split(), prog_name="reidbn", standalone_mode=False)


def test_a_sweep_of_a_whole_node_is_not_headed_by_its_first_state(capsys):
    words = "sweep leak-single leaked_class_size --over leaked=1000"
    assert run(words) == 0
    assert "P(leaked_class_size)" in capsys.readouterr().out.splitlines()[0]
    with pytest.raises(rb.errors.UsageError, match="ask for a state, such as node=yes"):
        run(f"{words} --fail-above 0.99")
    assert run("sweep leak-single leaked_class_size=1 --over leaked=1000 --fail-above 0.99") == 0


@pytest.mark.parametrize("gate", ["--fail-above 0.1", "--policy attacks=no"])
def test_the_most_probable_case_does_not_drop_a_gate_silently(gate):
    with pytest.raises(rb.errors.UsageError, match=gate.split()[0]):
        run(f"ask insider-decides --most-probable {gate}")


def test_a_number_of_somebody_that_is_no_probability_is_said_in_one_sentence():
    number = "numbers:\n  s: {is: p / 2 + 0.75, unit: probability}\n"
    text = MODEL.replace("nodes:", number + "nodes:")
    text = text.replace("subject:", "subject:\n  p: {unit: probability, range: [0, 1]}")
    text = text.replace("rows: [{p: [0.9, 0.1]}], source: x", "cpd: {kind: probability, p: $s}")
    with pytest.raises(rb.errors.ReidbnError) as caught:
        rb.ask(rb.attack.loads(text), subject={"p": [0.9], "class_size": [4, 3, 2, 1]})
    assert "is no probability for somebody" in str(caught.value)
    assert "is which" not in str(caught.value)


@pytest.mark.parametrize("shared", [True, False])
def test_a_list_for_each_attribute_apart_leaves_the_models_own_node_with_a_remark(shared):
    known = tuple(Known(c, (c,), (0.9,), source="x") for c in ("age", "sex"))
    listed = Listed(chance=(0.5,), shared=shared, source="x")
    scenario = Scenario("l", knows=Knows(known, listed))
    result = rb.assess(rb.attack.loads(MODEL), people(), scenario=scenario)
    said = "brings no listed: the model's own stands" in " ".join(result.remarks())
    assert said is not shared


def test_the_chance_of_an_attack_is_not_said_as_if_it_were_given_what_the_risk_is_given():
    attack = rb.load("insider-decides")
    assert "P(attack) = " in repr(rb.decide(attack))
    assert "without what is given" not in repr(rb.decide(attack))
    assert "without what is given, " in repr(rb.decide(attack, "caught_if_tried"))


def test_what_adds_most_says_that_the_attacker_decides_anew():
    rng = np.random.default_rng(1)
    names = ["age", "town", "job"]
    table = pd.DataFrame({name: rng.integers(0, 3, 20) for name in names})
    result = rb.assess("insider-decides", rb.read_table(table, quasi_identifiers=names),
                       known=dict.fromkeys(names, 0.5))  # fmt: skip
    result.keep_crosscheck(draws=1000)
    assert "the attacker deciding anew):" in str(result.summary())
