"""What is said where an attacker changes his mind: ends of intervals, errors, slopes."""

import re

import numpy as np
import pytest

import reidbn as rb

SMALL = """
schema_version: 1
name: small
title: small
story: Goes where it pays
sources: [me]
parameters:
  p: {{value: {p}, range: [0, 1], prior: {{kind: beta, a: 2, b: 3}}, source: assumption}}
  w: {{value: {w}, range: [0, 100], unit: euro, prior: {{kind: uniform}}, source: assumption}}
  q: {{measured: {{hits: 30, trials: 50, study: s}}}}
decisions:
  go: {{options: [no, yes], sees: [seen], story: Goes, source: assumption}}
utilities:
  gain: {{of: [ok], unit: euro, rows: [{{when: {{ok: yes}}, value: $w}}, {{value: 0}}],
         source: assumption}}
  cost: {{of: [go], unit: euro, rows: [{{when: {{go: yes}}, value: -{cost}}}, {{value: 0}}],
         source: assumption}}
nodes:
  seen: {{cpd: {{kind: probability, p: 0.5}}, source: assumption}}
  can: {{parents: [seen],
        rows: [{{when: {{seen: yes}}, p: {{yes: $q, no: rest}}}}, {{p: {{yes: $p, no: rest}}}}]}}
  ok: {{parents: [go, can], cpd: {{kind: and}}}}
questions:
  risk: {{target: ok=yes}}
"""


def small(*, p=0.3, w=50.0, cost=15):
    return rb.attack.loads(SMALL.format(p=p, w=w, cost=cost))


def asked_at_its_ends(attack, parameter, target, ask, **how):
    """How many ends there are besides those of the range; each keeps the target, as printed too."""
    found = rb.solve(attack, *how.pop("question", ("risk",)), parameter, target=target)
    limit = target * (1 + 1e-12)
    printed = re.search(r"at or under it for .*?: (.*?)(?:, as far as|;|\n|$)", str(found))
    told = re.findall(r"[-+.\de]+", printed[1].replace(" to ", " ")) if printed else []
    for value in [*(x for piece in found.under for x in piece), *map(float, told)]:
        assert ask({parameter: value}) <= limit, (parameter, target, value)
    return len({x for piece in found.under for x in piece} - {found.low, found.high})


def test_every_end_that_is_said_to_keep_the_target_keeps_it_when_asked():
    rng, ends = np.random.default_rng(20251122), 0

    def ask(s):
        return float(rb.ask(attack, "risk", set=s))

    for _ in range(2):
        attack = small(p=round(rng.uniform(0.05, 0.95), 2), w=round(rng.uniform(20, 95), 1),
                       cost=round(rng.uniform(1, 14), 1))  # fmt: skip
        for name in ("p", "w"):
            base = float(rb.ask(attack, "risk"))
            for target in (base, 0.6 * base):
                ends += asked_at_its_ends(attack, name, target, ask)
    assert ends >= 5


@pytest.mark.parametrize(
    ("name", "target"),
    [("fine", 0.0005), ("worth", 0.0004), ("effort", 0.0004), ("amusement", 0.01)],
)
def test_the_ends_of_the_insider_who_decides_keep_the_target(name, target):
    def ask(s):
        return float(rb.ask("insider-decides", "risk", set=s))

    assert asked_at_its_ends("insider-decides", name, target, ask)


def test_the_ends_of_an_assessment_keep_the_target():
    people = rb.read_table(rb.datasets.synthetic_patients(40, seed=1),
                           quasi_identifiers=["age", "sex", "state", "race"])  # fmt: skip
    result = rb.assess("insider-decides", people, scenario="voter-registration")

    def ask(s):
        return float(rb.what_if(result, set=s).risk().mean())

    target = 0.7 * ask({})
    ends = [asked_at_its_ends(result, n, target, ask, question=()) for n in ("fine",)]
    assert sum(ends)


def test_slopes_keep_the_policy_and_say_so():
    near = small(p=0.302, w=50.0)  # he goes from p = .3 on
    found = rb.whatif.derivatives(near, "risk", over=["p", "w"]).set_index("parameter")
    assert found.derivative.tolist() == pytest.approx([0.5, 0.0], abs=1e-9)
    assert found.method.str.endswith("the attacker's policy kept").all()
    at_it = rb.whatif.derivatives(small(), "risk", over="p")
    assert at_it.method.tolist() == ["finite difference, the attacker decides otherwise close by"]


def test_a_scenario_is_a_control_of_an_assessment():
    people = rb.read_table(rb.datasets.synthetic_patients(40, seed=1),
                           quasi_identifiers=["age", "sex", "state", "race"])  # fmt: skip
    result = rb.assess("insider-decides", people, scenario="voter-registration")
    found = rb.decide(result, set={"fine": 900.0})
    by_name = found.controls({"c": {"scenario": "worst-case", "cost": 1}})
    then = rb.what_if(result, scenario="worst-case", set={"fine": 900.0})
    assert by_name["risk"].item() == pytest.approx(rb.decide(then).risk, abs=1e-15)
    assert by_name["risk"].item() != pytest.approx(found.risk)


def test_a_parameter_that_only_a_function_reads_is_not_unused(tmp_path):
    (tmp_path / "fn.yaml").write_text(
        "schema_version: 1\nname: fn\ntitle: fn\nstory: fn\nsources: [me]\nparameters:\n"
        "  p_base: {value: 0.4, range: [0, 1], source: assumption}\nnodes:\n"
        "  named: {cpd: {kind: function, name: not_registered_here}, source: assumption}\n"
        "questions: {risk: {target: named=yes}}\n"
    )
    found = [str(problem) for problem in rb.check(tmp_path / "fn.yaml")]
    assert len(found) == 1
    assert "no function is registered" in found[0]
