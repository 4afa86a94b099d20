"""How far what is drawn of a sparse table may be off: told by its share in a risk."""

import json
from math import exp, factorial

import numpy as np
import pytest
from sparse_oracle import random_table

import reidbn as rb
from reidbn.attacks.linkage import Effort, SparsePeople
from reidbn.attacks.routes import is_undecided, off_of_each

ODD = """
schema_version: 1
name: odd
parameters: {mean_facts: {value: 2, range: [1, 15], unit: facts, source: assumption}}
subject: {alone: {per: right, unit: probability, range: [0, 1]}}
nodes:
  right: {states: 0..20, cpd: {kind: poisson, mean: $mean_facts}}
  best: {parents: [right], cpd: {kind: probability, p: "@alone"}}
  few:
    parents: [right]
    rows: [{when: {right: 1}, p: {yes: 1}}, {when: {right: 2}, p: {yes: 1}}, {p: {no: 1}}]
  named_as_few:
    parents: [few, best]
    rows: [{when: {few: yes, best: yes}, p: {yes: 1}}, {when: {few: no, best: no}, p: {yes: 1}},
           {p: {no: 1}}]
questions: {risk: {target: named_as_few=yes}}
"""


@pytest.fixture(scope="module")
def sparse():
    return random_table(8, people=30, features=9)[1]


def drawn(sparse, seed, model="linkage", draws=100, **asked):
    people = SparsePeople.of(sparse, Effort(node_budget=0, draws=draws, seed=seed))
    return rb.assess(model, people, **asked)


def printed(ended):
    """The JSON that a command printed; its notes come after it."""
    return json.JSONDecoder().raw_decode(ended[1])[0]


def shares(most, mean=2.0):
    known = [exp(-mean) * mean**k / factorial(k) for k in range(most)]
    return np.array([*known, 1 - sum(known)])


def off_by(sparse, slopes, draws=100):
    """How far a sum of slopes x numbers of a curve may be off at its further end: people x k."""
    curve = rb.linkage(sparse, facts=range(1, 21), node_budget=0, draws=draws)
    up, down = curve.high - curve.success, curve.success - curve.low
    higher = np.where(slopes > 0, up, down)
    both = ((np.abs(slopes) * one).sum(axis=1) for one in (higher, up + down - higher))
    return np.maximum(*both)


def test_a_number_of_a_curve_counts_by_its_share_in_the_risk(sparse):
    """By the law of how many facts are right, in closed form; numbers that lower a risk as well."""
    r = drawn(sparse, 0, rb.loads(ODD))
    ways = np.where(np.arange(1, 21) <= 2, 1, -1)
    expected = off_by(sparse, (shares(20)[1:] * ways)[None, :])
    assert expected.max() > 0.02
    assert off_of_each(r, "overall") == pytest.approx(expected, abs=1e-9)
    mean = np.sqrt((expected**2).sum()) / 30
    assert r._off_by_drawing()["overall"].off == pytest.approx(mean, abs=1e-9)
    some = drawn(sparse, 0, rb.loads(ODD), individuals=[4, 7])
    assert off_of_each(some, "overall") == pytest.approx(expected[[4, 7]], abs=1e-9)


def test_who_is_seldom_in_the_table_is_seldom_off(sparse):
    """Nobody's chance is further off than their share of the curve: a tenth of it in the table."""
    often, seldom = (drawn(sparse, 0, set={"p_in_release": p}) for p in (1.0, 0.1))
    for measure in ("overall", "more_opened"):
        assert off_of_each(seldom, measure) == pytest.approx(0.1 * off_of_each(often, measure))
    strangers = [drawn(sparse, 0, set={"p_in_release": p}) for p in (0.0, 0.9)]
    wide, narrow = (off_of_each(r, "wrong_person") for r in strangers)
    assert narrow == pytest.approx(0.1 * wide)
    assert not off_of_each(strangers[0], "overall").any()


def test_of_what_is_drawn_of_two_models_of_one_table_each_has_its_own(sparse):
    people = SparsePeople.of(sparse, Effort(node_budget=0, draws=100))
    first = rb.assess(rb.loads(ODD), people)
    second = rb.assess("linkage", people)
    assert off_of_each(second, "wrong_person").min() > 0
    assert off_of_each(first, "overall").max() > 0


def test_evidence_that_rests_on_a_curve_makes_a_share_of_what_may_be_rare(sparse):
    """Of P(few facts | best) a number may be off by more than it is off of its own curve."""
    model = rb.loads(ODD.replace("target: named_as_few=yes", "target: few=yes, given: {best: yes}"))
    curve, w = rb.linkage(sparse, facts=range(1, 21), node_budget=0, draws=100), shares(20)
    some = np.flatnonzero(curve.success @ w[1:] > 0.05)
    r, chance = drawn(sparse, 0, model, individuals=some), curve.success[some]
    told = chance @ w[1:]
    assert r.risk() == pytest.approx(chance[:, :2] @ w[1:3] / told)
    lean = (np.arange(1, 21) <= 2)[None, :] - r.risk()[:, None]  # dr/dU_k = w_k lean / told
    slopes = np.zeros(curve.success.shape)
    slopes[some] = w[1:] * lean / told[:, None]
    expected = off_by(sparse, slopes)[some]
    assert off_of_each(r, "overall") == pytest.approx(expected, rel=0.5)
    assert r._at_most_off() == {"overall": 1.0}


@pytest.mark.wide
def test_what_is_told_to_be_off_covers_what_happens_and_is_not_many_times_wider(sparse):
    model = rb.loads(ODD.replace("target: named_as_few=yes", "target: best=yes"))
    truth = rb.assess(model, SparsePeople.of(sparse, Effort(node_budget=10**6)))
    assert truth._off_by_drawing() == {}  # counted to the last
    inside, each, told, happened = 0, [], [], []
    for seed in range(60):
        r = drawn(sparse, seed, model)
        off = r._off_by_drawing()["overall"].off
        error = r.risk().mean() - truth.risk().mean()
        inside += abs(error) <= off
        each.append((np.abs(r.risk() - truth.risk()) <= off_of_each(r, "overall")).mean())
        told.append(off)
        happened.append(error)
    spread = 1.96 * np.sqrt(np.mean(np.square(happened)))
    assert inside >= 52  # of 60; fewer in 0.4 % of runs, were it 95 %
    assert np.mean(each) > 0.95
    assert np.mean(told) < 3 * spread


@pytest.mark.wide
def test_nobody_is_absent_and_no_fact_is_wrong_so_no_stranger_is_named(sparse, tmp_path):
    sure = {"p_in_release": 1, "p_wrong": 0}
    right = {"p_wrong": 0}
    for asked in ({"set": sure}, {"set": right, "given": {"in_release": "yes"}},
                  {"set": right, "do": {"in_release": "yes"}}):  # fmt: skip
        r = drawn(sparse, 0, **asked)
        assert not r.risk("wrong_person").any()
        assert not off_of_each(r, "wrong_person").any()
        assert not is_undecided(r, "wrong_person", 0.001)
    page = r.report(tmp_path / "r.md", threshold={"wrong_person": 0.001}).read_text()
    assert "the limit is kept" in page
    r = drawn(sparse, 0, set={"p_in_release": 1})  # a wrong fact may be a stranger's
    page = r.report(tmp_path / "r.md", threshold={"wrong_person": 0.001}).read_text()
    assert "the limit is kept" not in page


def test_files_say_what_drawing_alone_may_do_as_python_says_it(sparse, tmp_path, shell):
    one, other = (rb.linkage(sparse, facts=[1, 2], node_budget=0, draws=50, seed=s) for s in (0, 1))
    with pytest.warns(rb.errors.ReidbnWarning):
        told = one.compare(other)
    files = [str(r.report(tmp_path / f"{i}.json", custodian=True))
             for i, r in enumerate((one, other))]  # fmt: skip
    rows = printed(shell("compare", *files, "--json"))
    assert [row["measure"] for row in rows] == list(told.index)
    assert [row["drawing"] for row in rows] == pytest.approx(told["drawing"].tolist())
    text = shell("compare", *files)[1]
    assert text.split("difference")[-1].split()[0] == "drawing"
    same = printed(shell("compare", files[0], files[0], "--json"))
    assert all("drawing" not in row for row in same)


def test_how_far_a_curve_may_be_off_is_said_in_words(sparse, shell, tmp_path):
    curve = rb.linkage(sparse, facts=[2, 3], node_budget=0, draws=50)
    most = max(one.off for one in curve._off_by_drawing().values())
    said = f"a mean over people is at most {int(np.ceil(100 * most))} % away (at 95 %)"
    assert any(said in note for note in curve.remarks())
    exact = rb.linkage(sparse, facts=[2, 3])
    assert not any("away" in note for note in exact.remarks())
    options = ("synthetic:40", "--facts", "2,6", "--node-budget", "0", "--draws", "50",
               "--individuals", "9")  # fmt: skip
    code, said = shell("linkage", *options)
    assert code == 0
    assert "a mean over people is at most" in said
    told = printed(shell("linkage", *options, "--json"))
    assert {*told["drawn"]} == {"facts_2", "facts_6"}
    assert any("a mean over people is at most" in note for note in told["remarks"])


@pytest.mark.wide
def test_protections_say_how_far_each_risk_may_be_off(sparse, shell):
    r = drawn(sparse, 0, individuals=[3, 4, 5])
    found = rb.whatif.protections(r)
    assert found.attrs["off"] == r._off_by_drawing()["overall"].off > 0
    room = rb.what_if(r, scenario="access-controlled")._off_by_drawing()["overall"].off
    assert found.loc["access in a secure room", "off"] == pytest.approx(room)
    assert room < 0.1 * found.attrs["off"]  # its share in the risk
    options = ("synthetic:30", "--protections", "--individuals", "3")
    code, said = shell("linkage", *options)
    assert code == 0, said
    assert "off: how far the risk may be away (at 95 %); a sample's by who is in the 5" in said
    told = printed(shell("linkage", *options, "--json"))
    rows = {row["protection"]: row for row in told["protections"]}
    assert rows["a sample of 50 % is released"]["off"] > 0
    assert len(told["samples"]["risks"]) == 5


def test_numbers_that_the_table_fills_are_left_out_of_the_call_and_filled_for_each_release(sparse):
    curve = rb.linkage(sparse, facts=range(1, 26)).success
    alone = np.concatenate([np.zeros((30, 1)), curve], axis=1)
    for name, values in (("alone", alone), ("facts_held", np.full(30, 3.0))):
        r = rb.assess("linkage", sparse, subject={name: values})
        with pytest.raises(rb.UsageError, match=f"leave {name} out of subject=, and the table"):
            rb.whatif.protections(r)
        assert rb.what_if(r, set={"p_wrong": 0.2}).risk().max() > 0
    found = rb.whatif.protections(rb.assess("linkage", sparse))  # the remedy
    assert found.loc["a sample of 50 % is released", "risk"] > 0
