"""Events with or, not and comparisons, counts of a group, and means: against plain enumeration."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn
from tests.random_events import Said, never, nodes_of
from tests.random_files import random_file
from tests.yaml_oracle import Model, cells

MODEL = """\
schema_version: 1
name: found
parameters:
  p_known: {value: 0.5, range: [0, 1], source: assumption}
  p_found: {value: 0.25, range: [0, 1], source: assumption}
groups:
  known: {members: [knows_age, knows_town, knows_job], probability: $p_known, source: assumption}
nodes:
  luck: {rows: [{p: [0.25, 0.5, 0.25]}], states: [low, mid or so, high], source: assumption}
  how_many:
    states: 0..3
    parents: [luck]
    rows:
      - {when: {luck: high}, p: [0, 0.25, 0.25, 0.5]}
      - {p: [0.5, 0.25, 0.25, 0]}
    source: assumption
  found:
    parents: [known, how_many]
    cpd: {kind: probability, p: $p_found}
  named:
    parents: [known, found]
    cpd: {kind: noisy-or, weights: 0.125}
    source: assumption
questions:
  risk: {target: named=yes}
  either: {target: "named=yes or how_many>=2"}
  count: {expect: how_many, given: {luck: high}}
  knowledge: {expect: known}
  luck_helps: {target: named=yes, given: {known: ">=2", "luck=high or how_many=3": yes}}
"""


def compare_files(files, seed, most=2_000):
    rng = np.random.default_rng(seed)
    seen = {"event": 0, "mean": 0, "impossible": 0, "never": 0}
    for _ in range(files):
        words, _ = random_file(rng)
        model, attack = Model.read(words), rb.loads(words)
        fixed = [n for n in attack.all_nodes if not attack.all_nodes[n].structural]
        for _ in range(4):
            names = [fixed[int(i)] for i in rng.integers(len(fixed), size=3)]
            names += list(model.groups)[:1]
            told = nodes_of(model, names)
            if cells(model, model.upstream(told, {})) > most:
                continue
            said = Said(rng, model, names)
            (event, holds), (given, known) = said.event(), said.event(1)
            total, evidence = model.mean(holds, told, holds=known)
            refused = ""
            try:
                seen[check(attack, event, {given: "yes"}, total, evidence, words)] += 1
            except rb.UsageError as refusal:
                refused = str(refusal)
            if refused:
                assert never(model, refused), (refused, words)
                seen["never"] += 1
                continue
            numbers = [n for n in names if n in model.groups or all(
                s.isdecimal() or s in ("no", "yes") for s in model.states(n))]  # fmt: skip
            if numbers and evidence:
                of = numbers[0]
                total, _ = model.mean(lambda w: model.number(of, w), told, holds=known)  # noqa: B023
                found = rb.expect(attack, of, given={given: "yes"})
                assert abs(float(found) - float(total / evidence)) <= 1e-12, words
                shared = rb.sweep(attack, f"expect {of}", [{}], given={given: "yes"})["mean"][0]
                assert abs(shared - float(total / evidence)) <= 1e-12, words
                seen["mean"] += 1
    return seen


def check(attack, event, given, total, evidence, words):
    if evidence == 0:
        with pytest.raises(rb.ImpossibleEvidence):
            rb.ask(attack, event, given=given)
        return "impossible"
    answer = rb.ask(attack, event, given=given)
    assert abs(float(answer) - float(total / evidence)) <= 1e-12, (words, event, given)
    assert abs(float(answer.evidence_probability) - float(evidence)) <= 1e-12
    return "event"


@pytest.mark.wide
@pytest.mark.filterwarnings("ignore:.* counts as it")  # of random files
def test_random_events_and_means_are_what_enumeration_says():
    seen = compare_files(25, seed=20261122)
    assert seen["event"] >= 30
    assert seen["mean"] >= 20


@pytest.mark.filterwarnings("ignore:.* counts as it")  # of random files
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_thousands_of_random_events_none_wrong(seed):
    assert compare_files(100, seed)["event"] >= 100


@pytest.fixture(scope="module")
def found():
    return rb.loads(MODEL)


def test_every_engine_answers_an_event_and_a_mean(found):
    for target in ("named=yes or how_many>=2", "not (known<2, luck=mid or so)", "known=1"):
        exact = float(rb.ask(found, target, given={"known": "<=2"}))
        for engine in ("pgmpy", "enumeration"):
            assert (
                abs(float(rb.ask(found, target, given="known<=2", engine=engine)) - exact) < 1e-12
            )
        low, high = rb.ask(found, target, given="known<=2", engine="sampling", seed=1,
                           draws=100_000).interval  # fmt: skip
        assert low - 0.01 < exact < high + 0.01
    mean = rb.expect(found, "how_many")
    assert float(mean) == 0.25 * 2.25 + 0.75 * 0.75
    for engine in ("pgmpy", "enumeration"):
        assert abs(float(rb.expect(found, "how_many", engine=engine)) - float(mean)) <= 1e-12
    sampled = rb.expect(found, "how_many", engine="sampling", draws=100_000, seed=1)
    assert abs(float(sampled) - float(mean)) < 6 * float(mean.sd) / 100_000**0.5  # 2 in a billion
    assert sampled.interval[0] < float(sampled) < sampled.interval[1]


def test_what_is_meant_may_be_said_in_several_ways(found):
    both = float(rb.ask(found, "how_many>=2, named=yes"))
    assert float(rb.ask(found, {"how_many": ">=2", "named": "yes"})) == both
    assert float(rb.ask(found, {"known": 2})) == float(rb.ask(found, "known=2")) == 0.375
    between = float(rb.ask(found, "named=yes", given="known>=1, known<=2"))
    assert between == float(rb.ask(found, "named=yes", given={"known>=1, known<=2": "yes"}))
    assert between == pytest.approx(
        float(rb.ask(found, "named=yes, known>=1, known<=2")) / 0.75, abs=1e-12
    )
    with pytest.raises(rb.UsageError, match="known is a group: name its members"):
        rb.ask(found, "named=yes", do={"known": "2"})


def test_an_uncertain_report_of_how_many_are_known(found):
    told = {"0": 0.1, "1": 0.2, "2": 0.4, "3": 1}
    law = dict(zip(told, (0.125, 0.375, 0.375, 0.125), strict=True))
    seen = rb.ask(found, "known=3", given={"known": told})
    total = sum(law[n] * told[n] for n in told)
    assert float(seen) == pytest.approx(0.125 / total, abs=1e-12)
    assert float(seen.evidence_probability) == pytest.approx(total, abs=1e-12)
    with pytest.raises(rb.UsageError, match="says nothing of 3"):
        rb.ask(found, "known=3", given={"known": {"0": 0.1, "1": 0.2, "2": 0.4}})
    soft = MODEL.replace('known: ">=2"', "known: {0: 0.1, 1: 0.2, 2: 0.4, 3: 1}")
    attack = rb.loads(soft)
    assert rb.loads(rb.attack.dumps(attack)) == attack
    with pytest.raises(rb.ModelError, match="each number of members known, 0 to 3; 3 is one too"):
        rb.loads(soft.replace(", 3: 1}", "}"))


def test_pictures_of_means_and_events(found, tmp_path):
    rb.draw(found, given={"known": ">=2"}, marginals=True).save(tmp_path / "a.svg")
    rb.tornado(found, "expect known").plot(tmp_path / "b.svg")
    assert "E(known)" in (tmp_path / "b.svg").read_text()
    rb.whatif.uncertainty(found, "expect known", draws=500).plot(tmp_path / "c.svg")
    rb.whatif.sobol(found, "expect known").plot(tmp_path / "d.svg")


def test_a_state_may_hold_the_words_of_events(found):
    assert float(rb.ask(found, "luck=mid or so")) == 0.5
    assert float(rb.ask(found, "luck=mid or so or luck=low")) == 0.75
    assert float(rb.ask(found, "not luck=mid or so")) == 0.5


def test_questions_of_a_file_are_kept_and_written(found):
    text = rb.attack.dumps(found)
    assert rb.loads(text) == found
    assert rb.attack.dumps(rb.loads(text)) == text
    assert float(rb.ask(found, "count")) == 2.25
    assert str(rb.ask(found, "count")) == "E(how_many | luck=high) = 2.25 (sd 0.8292)"
    assert float(rb.expect(found, "knowledge")) == 1.5
    assert rb.expect(found, "knowledge").distribution["3"] == 0.125
    assert str(rb.ask(found, "either")).startswith("P(named=yes or how_many>=2) = ")
    given = rb.ask(found, "luck_helps")
    assert given.query.known == ["known>=2", "luck=high or how_many=3"]


def test_a_mean_is_varied_in_the_units_of_its_node(found):
    known = "expect known"
    swept = rb.sweep(found, known, {"p_known": [0, 0.25, 1]})
    assert np.allclose(swept["mean"], [0, 0.75, 3], rtol=0, atol=1e-12)
    bar = rb.tornado(found, "knowledge", threshold=2)["p_known"]
    assert (bar.at_low, bar.at_high) == pytest.approx((0, 3))
    assert bar.method == "exact polynomial"
    assert bar.crossings == pytest.approx((2 / 3,))
    assert float(rb.solve(found, known, "p_known", 2)) == pytest.approx(2 / 3)
    sobol = rb.whatif.sobol(found, known, over=["p_known"])
    assert (sobol.mean, sobol.sd) == pytest.approx((1.5, 3 / 12**0.5))
    assert sobol["p_known"].total == pytest.approx(1)
    sure = rb.whatif.uncertainty(found, known, over=["p_known"], draws=4_000, seed=1)
    assert (sure.mean, sure.sd) == pytest.approx((1.5, 3 / 12**0.5))
    assert sure.quantiles[0.5].low < 1.5 < sure.quantiles[0.5].high
    slope = rb.whatif.derivatives(found, known, over=["p_known"])
    assert slope["derivative"][0] == pytest.approx(3)
    assert slope["answer"][0] == pytest.approx(1.5)
    assert rb.crosscheck(found, known, draws=20_000).passed


def test_what_if_of_an_event_stays_a_polynomial(found):
    bar = rb.tornado(found, "known>=2 or how_many=3")["p_known"]
    assert bar.method == "exact polynomial"
    assert rb.sweep(found, "known>=2", {"p_known": [0.5, 1]})["probability"].tolist() == [0.5, 1]


def test_the_most_probable_case_holds_nodes_of_the_attack_alone(found):
    case = rb.most_probable(found, {"known": ">=2", "named": "yes"}).case
    assert {*case} <= {*found.all_nodes}
    assert sum(case[m] == "yes" for m in found.groups["known"].members) >= 2


REFUSED = {
    "a mean of words": ("expect luck", {}, "its states are no numbers but low, mid or so, high"),
    "a mean of nothing": ("expect how_may", {}, 'did you mean "how_many"?'),
    "a comparison of words": ("luck>=2", {}, "the states of luck are no numbers"),
    "a comparison with a word": ("how_many>=few", {}, "compare it with a number"),
    "a group as a node": ("known=yes", {}, "say how many of its members are known"),
    "a state that is not there": ("how_many=7 or named=yes", {}, 'how_many has no state "7"'),
    "a node that is not there": ("nmaed=yes or how_many=1", {}, 'did you mean "named"?'),
    "an open bracket": ("(named=yes or how_many=1", {}, "a bracket is not closed"),
    "nothing after or": ("named=yes or", {}, "something is missing"),
    "two states of one": ("named=yes how_many>=1", {}, "named has no state"),
    "an event as evidence": ("named=yes", {"how_many>=": "yes"}, "something is missing"),
    "evidence that is no state": ("named=yes", {"how_many": ">=x"}, "compare it with a number"),
    "evidence that is no truth": ("named=yes", {"how_many=1 or luck=low": "maybe"}, "yes or no"),
}


@pytest.mark.parametrize(("target", "given", "said"), REFUSED.values(), ids=list(REFUSED))
def test_what_means_nothing_is_refused(found, target, given, said):
    with pytest.raises(rb.UsageError) as caught:
        rb.ask(found, target, given=given)
    assert said in str(caught.value)


def test_means_are_refused_where_only_probabilities_are_meant(found):
    for refused in (
        lambda: rb.compare(found, "knowledge", {}, {"p_known": 0.1}),
        lambda: rb.whatif.subject_uncertainty(found, "knowledge"),
        lambda: rb.tornado(found, "knowledge", threshold=4),
        lambda: rb.tornado(found, "knowledge", statistic="above 0.5"),
        lambda: rb.solve(found, "knowledge", "p_known", -1),
        lambda: rb.expect(found, "either"),
        lambda: rb.expect(found, "risk"),
    ):
        with pytest.raises(rb.UsageError):
            refused()


def test_a_state_that_is_a_band_is_not_cut_in_two():
    attack = rb.loads("""\
schema_version: 1
name: bands
nodes:
  size:
    states: [1, 2, 3, 5, 10]
    cpd: {kind: survey-class-size, class_size: 1, class_weight: 4}
    source: assumption
""")
    assert 0 < float(rb.ask(attack, "size>=3")) < 1
    assert float(rb.ask(attack, "size>=3")) == float(rb.ask(attack, "size>2"))
    assert float(rb.ask(attack, "size<5")) == float(rb.ask(attack, "size<=4"))
    for refused in ("size>=4", "size>3", "size<=5", "size<12"):
        with pytest.raises(rb.UsageError, match="in two"):
            rb.ask(attack, refused)
    with pytest.raises(rb.UsageError, match="has no mean"):
        rb.expect(attack, "size")


FILES = {
    "both": ("{expect: known}", "{expect: known, target: named=yes}", "stands beside target"),
    "neither": ("{expect: known}", "{story: none}", "has neither target nor expect"),
    "words": ("{expect: known}", "{expect: luck}", "the states of luck are no numbers"),
    "no node": ("{expect: known}", "{expect: knwon}", 'did you mean "known"?'),
    "an event": ("how_many>=2", "how_may>=2", 'did you mean "how_many"?'),
    "evidence": ('known: ">=2"', 'known: ">=few"', "say how many"),
    "an event given": ("luck=high or how_many=3", "luck=hihg or how_many=3", "hihg"),
}


@pytest.mark.parametrize(("old", "new", "said"), FILES.values(), ids=list(FILES))
def test_a_slip_in_a_files_question_is_told_with_its_line(old, new, said):
    assert old in MODEL
    with pytest.raises(rb.ModelError) as caught:
        rb.loads(MODEL.replace(old, new))
    assert said in str(caught.value)
    assert all(problem.line for problem in caught.value.problems)


def test_an_event_of_forty_nodes_is_answered_in_steps():
    import json

    nodes = {f"n{i}": {"cpd": {"kind": "probability", "p": 0.1}, "source": "me"} for i in range(40)}
    attack = rb.loads(json.dumps({"schema_version": 1, "name": "wide", "nodes": nodes}))
    event = " or ".join(f"n{i}=yes" for i in range(40))
    assert float(rb.ask(attack, event)) == pytest.approx(1 - 0.9**40, abs=1e-12)
    assert float(rb.ask(attack, f"not ({event})")) == pytest.approx(0.9**40, abs=1e-12)


def test_people_one_by_one():
    people = rb.read_table(rb.datasets.synthetic_patients(300, seed=1),
                           quasi_identifiers=["age", "sex", "state"])  # fmt: skip
    attack = rb.load("prosecutor")
    group = next(iter(attack.groups))
    found = rb.assess(attack, people, known={"age": 0.5, "sex": 0.5, "state": 0.5})
    means = rb.expect(found, group)
    assert len(means.people) == 300
    assert float(means) == pytest.approx(means.people["mean"].mean())
    assert float(means) == pytest.approx(1.5)
    event = next(iter(attack.questions.values())).target
    some_known = rb.expect(found, group, given=f"{group}>=1").people["mean"]
    assert np.allclose(some_known, 1.5 / (1 - 0.125), rtol=0, atol=1e-12)
    some = rb.sweep(found, f"{group}>=2 or {event}", [{}])
    assert 0.5 < some["mean"][0] < 1
    named = attack.replace(questions=[
        *attack.questions.values(),
        rb.Question("either", f"{group}>=2 or {event}"),
        rb.Question("number", expect=group),
    ])  # fmt: skip
    both = rb.assess(named, people, known={"age": 0.5, "sex": 0.5, "state": 0.5})
    assert both.risk("either").mean() == pytest.approx(some["mean"][0], abs=1e-12)
    assert float(rb.expect(both, "number")) == pytest.approx(1.5)
    assert both.crosscheck.passed


def test_members_that_all_know_are_counted_apart_or_not_at_all():
    people = rb.read_table(rb.datasets.synthetic_patients(200, seed=1),
                           quasi_identifiers=["age", "sex", "state"])  # fmt: skip
    attack = rb.load("prosecutor")
    worst = rb.assess(attack, people)  # everything is known for sure: one member stands for all
    for refused in (lambda: rb.expect(worst, "known"),
                    lambda: rb.sweep(worst, "known>=2", [{}])):  # fmt: skip
        with pytest.raises(rb.UsageError, match=r"one member here.*how_many: \{expect: known\}"):
            refused()
    questions = [*attack.questions.values(), rb.Question("many", "known>=3"),
                 rb.Question("how_many", expect="known")]  # fmt: skip
    counted = rb.assess(attack.replace(questions=questions), people)
    assert (counted.risk("many") == 1).all()
    assert float(rb.expect(counted, "how_many")) == 3
    assert np.allclose(counted.risk(), worst.risk(), rtol=0, atol=1e-12)
    given = rb.assess(attack, people, given={"known": ">=3"})
    assert np.allclose(given.risk(), worst.risk(), rtol=0, atol=1e-12)


def test_the_shell_asks_for_means_and_events(tmp_path):
    path = tmp_path / "found.yaml"
    path.write_text(MODEL)
    run = CliRunner().invoke
    told = run(reidbn, ["ask", str(path), "count"])
    assert "how_many is 2.25 on average" in told.output, told.output
    data = json.loads(run(reidbn, ["ask", str(path), "count", "--json"]).output)
    assert data["mean"] == 2.25
    assert data["distribution"] == {"0": 0, "1": 0.25, "2": 0.25, "3": 0.5}
    either = run(reidbn, ["ask", str(path), "named=yes or how_many>=2", "--given", "known>=1"])
    assert "named=yes or how_many>=2 has probability" in either.output
    assert "given that known>=1" in either.output
    swept = run(reidbn, ["sweep", str(path), "expect known", "--over", "p_known=0,1"])
    assert swept.exit_code == 0, swept.output
    assert "mean" in swept.output


@pytest.mark.parametrize("n", [2, 3, 6])
def test_a_row_may_compare_the_number_that_a_parent_has(n):
    """Written in a comparison and state by state, also where a parameter sizes the states."""
    text = """\
schema_version: 1
name: rows
parameters:
  n: {value: 4, range: [2, 9], unit: points, source: assumption, story: Points}
nodes:
  fits: {states: 0..$n, cpd: {kind: binomial, n: $n, p: 0.3}, source: assumption}
  found:
    parents: [fits]
    rows:
      - {when: {fits: ["> 2", 0]}, p: {yes: 0.9, no: rest}}
      - {p: {yes: 0.2, no: rest}}
    source: assumption
  group:
    parents: [fits]
    cpd: {kind: noisy-max, rows: [{when: {fits: "<=1"}, p: [0.4, 0.6]}]}
    source: assumption
questions: {risk: {target: found=yes}}
"""
    attack = rb.loads(text)
    assert rb.loads(rb.attack.dumps(attack)) == attack
    chances = [math.comb(n, k) * 0.3**k * 0.7 ** (n - k) for k in range(n + 1)]
    found = sum(p * (0.9 if k > 2 or k == 0 else 0.2) for k, p in enumerate(chances))
    few = 0.6 * (chances[0] + chances[1])
    for engine in ("exact", "enumeration", "pgmpy"):
        assert float(rb.ask(attack, set={"n": n}, engine=engine)) == pytest.approx(found, abs=1e-12)
        low = rb.ask(attack, "group=yes", set={"n": n}, engine=engine)
        assert float(low) == pytest.approx(few, abs=1e-12)


@pytest.mark.parametrize(
    ("model", "event", "has"),
    [
        ("jigsaw", "known>=9", "known has 3 members"),
        ("jigsaw", "known=9", "known has 3 members"),
        ("jigsaw", "named=yes or known<0", "known has 3 members"),
        ("jigsaw", "known>=3 and known<2", "known has 3 members"),
        ("family-search", "exposed>=9", "exposed has the states 0, 1, 2, 3, 4"),
        ("family-search", "not exposed>=0", "exposed has the states 0, 1, 2, 3, 4"),
    ],
)
def test_an_event_that_can_never_be_is_a_slip_and_no_answer(model, event, has):
    """It had the chance 0 and passed every gate."""
    for asked in (
        lambda: rb.ask(model, event),
        lambda: rb.sweep(model, event, [{}]),
        lambda: rb.tornado(model, event),
        lambda: rb.ask(model, "risk", given={event: "yes"}),
    ):
        with pytest.raises(rb.errors.UsageError, match=f"can never be: {has}"):
            asked()
    told = CliRunner().invoke(reidbn, ["ask", model, event, "--fail-above", "0.1"])
    assert told.exit_code != 0


def test_what_can_be_is_asked():
    assert 0 < float(rb.ask("jigsaw", "known>=3")) < 1
    assert float(rb.ask("jigsaw", "known>=0")) == pytest.approx(1)
    assert float(rb.ask("family-search", "exposed<=0 or exposed=4")) > 0
