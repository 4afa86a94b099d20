"""A word that names a question and a node is answered only where both mean the same."""

import re

import pytest

import reidbn as rb
from reidbn.cli import main
from reidbn.errors import UsageError

HEAD = """schema_version: 1
name: q
title: t
story: s
sources: [me]
parameters:
  p: {value: 0.2, prior: {kind: uniform}, source: x, story: who looks}
groups:
  known: {members: [a, b], probability: [0.5, 0.25], source: x}
nodes:
  looks: {cpd: {kind: probability, p: $p}, source: x}
  named: {parents: [known, looks], cpd: {kind: and}}
  n: {states: 0..2, parents: [a, b], cpd: {kind: count}}
questions:
"""
CLASH = """  named: {target: named=yes, given: {looks: yes}}
  n: {expect: n, given: {named: yes}}
  known: {expect: known, given: {named: yes}}
"""
SAME = """  named: {target: named=yes}
  n: {expect: n}
"""


def written(place, questions):
    path = place / "q.yaml"
    path.write_text(HEAD + questions)
    return path


VERBS = {
    "ask": lambda a, q: rb.ask(a, q),
    "ask, with blanks": lambda a, q: rb.ask(a, f" {q} "),
    "sweep": lambda a, q: rb.sweep(a, q, {"p": [0.5]}),
    "tornado": lambda a, q: rb.tornado(a, q, over="p"),
    "solve": lambda a, q: rb.solve(a, q, "p", 0.1),
    "compare": lambda a, q: rb.compare(a, q, {}, {"set": {"p": 0.3}}),
    "expect": lambda a, q: rb.expect(a, q),
    "learn": lambda a, q: rb.learn(a, [{"target": q, "hits": 1, "trials": 9}]),
    "uncertainty": lambda a, q: rb.uncertainty(a, q, draws=100),
    "crosscheck": lambda a, q: rb.crosscheck(a, q, draws=1000),
}


@pytest.mark.parametrize("verb", VERBS)
def test_two_readings_are_refused_and_both_spelled(tmp_path, verb):
    attack = rb.load(written(tmp_path, CLASH))
    with pytest.raises(UsageError) as caught:
        VERBS[verb](attack, "named")
    assert "named=yes for node named" in str(caught.value)
    assert "named=yes given looks=yes for the question" in str(caught.value)


def test_shipped_routes_and_the_shell(capsys):
    routes = rb.load("adversary-routes")
    for name, event in (("prosecutor", "unique_in_table=yes"), ("marketer", "right_guess=yes")):
        said = f"ask {name}=yes for node {name}, or {event} for the question"
        with pytest.raises(UsageError, match=re.escape(said)):
            rb.ask(routes, name)
        with pytest.raises(SystemExit) as left:
            main(["ask", "adversary-routes", name])
        assert left.value.code == 2
        assert said in " ".join(capsys.readouterr().err.split())
    assert "P(" in str(rb.ask(routes, "prosecutor=yes"))


def test_means_of_a_node_and_a_group(tmp_path):
    attack = rb.load(written(tmp_path, CLASH))
    with pytest.raises(UsageError, match="expect n given named=yes for the question"):
        rb.expect(attack, "n")
    with pytest.raises(UsageError, match="expect known for group known"):
        rb.expect(attack, "known")
    for verb in (rb.expect, rb.ask):  # as the refusal spells it
        assert float(verb(attack, "expect n")) == pytest.approx(0.75)
        assert float(verb(attack, "expect known", given={"named": "yes"})) == pytest.approx(2)


def test_a_call_without_a_name_asks_the_question_and_not_the_node(tmp_path):
    only = rb.load(written(tmp_path, "  named: {target: named=yes, given: {looks: yes}}\n"))
    assert float(rb.ask(only)) == pytest.approx(0.5 * 0.25, abs=1e-12)


def test_the_same_meaning_needs_no_refusal(tmp_path):
    path = written(tmp_path, SAME)
    attack = rb.load(path)
    assert rb.check(path) == ()
    assert rb.ask(attack, "named").distribution["yes"] == pytest.approx(0.025, abs=1e-12)
    assert float(rb.expect(attack, "n")) == pytest.approx(0.75, abs=1e-12)


def test_check_warns_and_a_picture_shows_the_node(tmp_path):
    path = written(tmp_path, CLASH)
    found = [p for p in rb.check(path) if "call the question otherwise" in str(p)]
    assert [p.where for p in found] == [("questions", n) for n in ("named", "n", "known")]
    assert all(p.is_warning for p in found)
    rb.draw(rb.load(path), marginals=True)
