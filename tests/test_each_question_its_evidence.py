"""A question asked of an assessment brings its own evidence; what was learnt is laid over it.

The oracle is the same model with that question as its main one, and for this the sum by hand.
"""

import numpy as np
import pandas as pd
import pytest

import reidbn as rb

MODEL = """schema_version: 1
name: m
sources: [x]
parameters:
  p: {value: 0.1, range: [0.05, 0.5], source: x}
subject:
  class_size: {per: known, unit: records, range: [1, 1000000]}
groups:
  known: {members: [knows_age, knows_sex], probability: 1, source: x}
nodes:
  in_leak: {cpd: {kind: probability, p: $p}}
  seen: {parents: [in_leak], cpd: {kind: and}}
  right: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  found: {parents: [seen, right], cpd: {kind: and}}
questions:
"""
P = 0.1
# evidence of a question, and P(in_leak | it) by hand
EVIDENCE = {
    "nothing": ("{}", P),
    "a state": ("{in_leak: yes}", 1),
    "another state": ("{in_leak: no}", 0),
    "a report": ("{in_leak: {yes: 0.1, no: 1}}", 0.1 * P / (0.1 * P + 1 - P)),
    "an event": ("{'seen=yes or in_leak=yes': yes}", 1),
}


def assessed(questions, given=None):
    text = MODEL + "".join(f"  {name}: {{target: found=yes, given: {evidence}}}\n"
                           for name, evidence in questions.items())  # fmt: skip
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"age": rng.integers(20, 40, 60), "sex": rng.choice(["m", "f"], 60)})
    people = rb.read_table(table, quasi_identifiers=["age", "sex"])
    alike = table.groupby(["age", "sex"])["sex"].transform("size")
    attack = rb.attack.loads(text)
    found = rb.assess(attack, people, scenario="worst-case", given=given)
    return found, float((1 / alike).mean())


def answers(result, question):
    """What every verb of what-if says, in numbers; without a question, of the main one."""
    asked = [] if question is None else [question]
    over = {"p": (0.05, 0.5)}
    tests = [{"target": question or "risk", "hits": 1, "trials": 20}]
    tornado = rb.tornado(result, *asked, over=over)
    spread = rb.whatif.uncertainty(result, *asked, over=over, draws=100)
    change = rb.compare(result, question, {}, {"set": {"p": 0.2}})
    return {
        "sweep": rb.sweep(result, *asked, {"p": [0.1, 0.3]})["mean"].tolist(),
        "tornado": [tornado.answer, tornado.bars[0].at_low, tornado.bars[0].at_high],
        "uncertainty": [spread.mean, spread.sd],
        "compare": [change.answer_before, change.answer_after],
        "derivatives": rb.whatif.derivatives(result, *asked, over="p")["derivative"].tolist(),
        "solve": list(rb.solve(result, question, "p", 0.03).values),
        "sobol": [rb.whatif.sobol(result, *asked, over=over).mean],
        "persons": rb.whatif.subject_uncertainty(result, *asked, over=over)["mean"].tolist(),
        "learn": [rb.learn(result, tests, over=over)["p"].mean],
    }


@pytest.mark.parametrize("main", EVIDENCE)
@pytest.mark.parametrize("other", EVIDENCE)
def test_another_question_is_not_given_the_evidence_of_the_main_one(main, other):
    result, alone = assessed({"risk": EVIDENCE[main][0], "other": EVIDENCE[other][0]})
    right = alone * EVIDENCE[other][1]
    assert result.subjects["other"].mean() == pytest.approx(right, abs=1e-12)
    table = rb.sweep(result, "other", {"p": [P]})
    assert table["mean"].item() == pytest.approx(right, abs=1e-12)
    assert rb.compare(result, "other", {}, {"set": {"p": 0.2}}).answer_before == pytest.approx(
        right
    )


@pytest.mark.parametrize("main", ["a state", "a report"])
def test_every_verb_asks_another_question_as_if_it_were_the_main_one(main):
    result, _ = assessed({"risk": EVIDENCE[main][0], "other": "{}"})
    oracle, _ = assessed({"risk": "{}"})
    found, right = answers(result, "other"), answers(oracle, None)
    for verb, numbers in right.items():
        assert found[verb] == pytest.approx(numbers, abs=1e-12), verb


@pytest.mark.parametrize("learnt", ["yes", "no", {"yes": 0.1, "no": 1}])
@pytest.mark.parametrize("own", EVIDENCE)
def test_what_was_given_to_assess_is_laid_over_the_evidence_of_another_question(own, learnt):
    if own in ("a state", "an event") and learnt == "no":
        own = "another state" if own == "a state" else "a report"  # the event and no: impossible
    questions = {"risk": "{}", "other": EVIDENCE[own][0]}
    result, alone = assessed(questions, given={"in_leak": learnt})
    chance = {"yes": 1, "no": 0}.get(
        learnt if isinstance(learnt, str) else "", EVIDENCE["a report"][1]
    )
    right = alone * (1 if own == "an event" else chance)
    assert result.subjects["other"].mean() == pytest.approx(right, abs=1e-12)
    assert rb.sweep(result, "other", {"p": [P]})["mean"].item() == pytest.approx(right, abs=1e-12)
    free = rb.sweep(result, "in_leak=yes", {"p": [P]})["mean"].item()
    assert free == pytest.approx(chance, abs=1e-12)


@pytest.mark.parametrize("main", EVIDENCE)
def test_an_event_of_ones_own_is_not_given_the_evidence_of_the_main_question(main):
    result, _ = assessed({"risk": EVIDENCE[main][0]})
    assert rb.sweep(result, "in_leak=yes", {"p": [P]})["mean"].item() == pytest.approx(P)
    assert float(rb.expect(result, "in_leak")) == pytest.approx(P)


@pytest.mark.parametrize("again", ["yes", {"yes": 0.1, "no": 1}])
@pytest.mark.parametrize("main", ["a state", "a report"])
def test_what_is_given_to_a_verb_takes_the_place_of_what_the_question_says(main, again):
    """As in rb.ask: evidence on one node is said once, and two reports are not multiplied."""
    result, alone = assessed({"risk": EVIDENCE[main][0]})
    chance = 1 if again == "yes" else EVIDENCE["a report"][1]
    found = rb.sweep(result, {"p": [P]}, given={"in_leak": again})["mean"].item()
    assert found == pytest.approx(alone * chance, abs=1e-12)


@pytest.mark.parametrize(
    ("learnt", "do", "kept"),
    [
        ({"known": ">=1"}, None, False),  # what is given does not help the other question
        ({"in_leak": "yes"}, None, True),  # it takes the place of what cannot happen
        (None, {"in_leak": "no"}, True),
        ({"known": ">=1"}, {"in_leak": "yes"}, False),
        ({"right": "yes"}, {"in_leak": "yes"}, False),
    ],
)
def test_a_question_whose_own_evidence_cannot_happen_refuses_no_other(learnt, do, kept):
    """The other question is given that he is not in the leak, in which everybody is."""
    attack = rb.attack.loads(
        MODEL + "  risk: {target: right=yes}\n  other: {target: right=yes, given: {in_leak: no}}\n"
    ).replace(parameters=[rb.attack.Parameter("p", 1.0, source="x")])
    table = pd.DataFrame({"age": [20, 20, 20, 30, 30], "sex": list("FFMMM")})
    people = rb.read_table(table, quasi_identifiers=["age", "sex"])
    asked = {"known": {"age": 0.5, "sex": 0.5}, "given": learnt, "do": do}
    found = rb.assess(attack, people, **asked)
    assert ("other" in found.subjects) is kept
    left = [n for n in found.groups.notes if n.startswith("question other is left out")]
    assert len(left) == (not kept)
    main = rb.assess(attack.replace(questions=[attack.questions["risk"]]), people, **asked)
    assert np.array_equal(found.subjects["overall"], main.subjects["overall"])
    if learnt == {"known": ">=1"}:  # by hand: of three equally likely ways to know something
        alike = np.array([[3, 3, 3, 2, 2], [2, 2, 3, 3, 3], [2, 2, 1, 2, 2]])  # age, sex, both
        by_hand = (1 / alike).mean(axis=0)
        assert found.subjects["overall"].to_numpy() == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize("learnt", [{"in_leak": "no"}, {"in_leak": {"yes": 0.5, "no": 0.2}}])
def test_evidence_that_takes_the_place_of_a_questions_own_is_said(learnt):
    """It stands under the question's name, and a verdict may be put to it."""
    found, _ = assessed({"risk": "{}", "other": "{in_leak: yes}", "same": "{seen: yes}"}, learnt)
    notes = [note for note in found.groups.notes if "takes its place" in note]
    assert [note.split(" has ")[0] for note in notes] == ["question other"]
