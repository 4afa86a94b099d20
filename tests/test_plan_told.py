"""What a plan says of its numbers: bounds, tied policies, quantiles, reasons, and ties of loss."""

import json
from fractions import Fraction
from math import ceil

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.above import quantile, spared
from reidbn.errors import ReidbnWarning

DECIDER = """\
schema_version: 1
name: decider
title: Decider
story: chooses between ways
sources: [assumption]
parameters:
  vx: {value: 4.0, range: [0, 100], unit: euro, source: assumption, story: s}
  vy: {value: 12.0, range: [0, 100], unit: euro, source: assumption, story: s}
subject:
  class_size: {per: known, unit: records, range: [1, 1000000], story: s}
groups:
  known: {story: s, members: [knows_a, knows_b], probability: [0.5, 0.5], source: assumption}
decisions:
  way: {story: s, options: [hold, x, y], sees: [known], source: assumption}
utilities:
  gain:
    of: [way, right]
    unit: euro
    rows:
      - {when: {way: x}, value: $vx}
      - {when: {way: y, right: yes}, value: $vy}
      - {value: 0}
    story: s
nodes:
  right:
    story: s
    parents: [known]
    cpd: {kind: one-over, of: "@class_size"}
  hit:
    story: s
    parents: [way, right]
    rows:
      - {when: {way: x, right: yes}, p: {yes: 0.9, no: rest}}
      - {when: {way: x}, p: {yes: 0.4, no: rest}}
      - {when: {way: y, right: yes}, p: {yes: 1, no: rest}}
      - {p: {yes: 0, no: rest}}
    source: assumption
  leak:
    story: s
    parents: [way]
    rows:
      - {when: {way: x}, p: {yes: 0.1, no: rest}}
      - {when: {way: y}, p: {yes: 0.6, no: rest}}
      - {p: {yes: 0.05, no: rest}}
    source: assumption
questions:
  risk: {target: hit=yes}
  second: {target: leak=yes}
  third: {target: hit=yes, given: {right: yes}}
  fourth: {target: hit=yes, given: {leak: yes}}
example:
  class_size: [100, 3, 4, 1]
"""
NINE = {"a": ["x"] * 3 + ["y"] * 3 + ["z"] * 3, "b": ["u"] * 9}
TIED = "of the policies that are worth the same to the attacker"


@pytest.fixture
def decider(tmp_path):
    (tmp_path / "decider.yaml").write_text(DECIDER)
    return rb.load(tmp_path / "decider.yaml")


@pytest.fixture
def nine():
    return rb.read_table(NINE, quasi_identifiers=["a", "b"])


@pytest.mark.parametrize("seed", [1, 33])
def test_a_number_of_the_front_is_the_risk_or_is_called_a_bound(seed):
    rng = np.random.default_rng(seed)
    table = {
        "a": [int(x) for x in rng.integers(0, 7, 30)],
        "b": [str(x) for x in rng.choice(list("uvw"), 30)],
        "s": [str(x) for x in rng.choice(list("xyz"), 30, p=[0.6, 0.3, 0.1])],
    }
    people = rb.read_table(table, quasi_identifiers=["a", "b"], sensitive="s")
    asked = {"known": {"a": 0.9, "b": 0.8}, "population": 60, "population_model": "pitman"}
    targets = [{"s": "best guess <= 70%"}, {"overall": "mean <= 0.3"}]
    plan = rb.recommend(people, "adversary-routes", target=targets, suppress_at_most=0.1,
                        hierarchies={"a": "bands:2,4"}, **asked)  # fmt: skip
    ladders = {o.name: o.ladder for o in plan._table.options}
    bounds = 0
    for row in plan.front.to_dict("records"):
        if row["keeps"]:
            continue
        levels = {name: row[name] for name in "ab" if row[name]}
        some = {name: ladders[name] for name in levels}
        released = people.generalise(levels, hierarchies=some) if levels else people
        risk = rb.assess("adversary-routes", released, **asked).risk().mean()
        told = row["the mean of overall at most 0.3"]
        assert told == pytest.approx(risk, abs=1e-9) or (row["bound"] and told < risk)
        bounds += row["bound"]
    assert bounds


@pytest.mark.parametrize(("limit", "after"), [(0.57, 17 / 30), (0.56, 41 / 90)])
def test_of_tied_policies_a_plan_tells_one_number_of_a_measure(
    decider, nine, limit, after, tmp_path
):
    """At three alike y hits in 1/3 and x in .9/3 + .4 2/3 = 17/30; both are worth 4."""
    with pytest.warns(ReidbnWarning, match="Tied: at way"):
        plan = rb.recommend(nine, decider, known="worst-case", target={"overall": limit})
    row = plan.measures.set_index("measure").loc["overall"]
    (before,), (then,) = plan.best.before.values(), plan.best.after.values()
    assert (before, then) == pytest.approx((17 / 30, after))
    assert [row.highest_before, row.mean_before] == pytest.approx([before] * 2)
    assert [row.highest_after, row.mean_after] == pytest.approx([then] * 2)
    assert [TIED in note for note in plan.notes] == [True]
    page = plan.report(tmp_path / "plan.md", custodian=True).read_text()
    assert page.count(TIED) == 1
    assert "0.3333" not in page


def warned(call, *asked, **named):
    """What a call gives that says that policies are tied."""
    with pytest.warns(ReidbnWarning, match="Tied: at way"):
        return call(*asked, **named)


def test_options_beside_a_release_are_told_of_the_policy_they_are_judged_by(
    decider, nine, tmp_path
):
    """Under y, which is taken, the highest is 1/3; under x, which is worth as much, 17/30."""
    plan = warned(rb.recommend, nine, decider, known="worst-case", target={"overall": 0.57})
    options, own = plan.options(), {"threshold": {"overall": 0.5}}  # without b it is the same
    told = rb.report.risk_utility(options, **own).table.iloc[0]
    plan.result.keep_crosscheck(draws=1_000, subjects=2)
    report = {"options": options, "custodian": True}
    path = warned(plan.result.report, tmp_path / "r.md", **report, **own)
    before = options["the table as it was"]
    assert before.taken["overall"].max() == pytest.approx(1 / 3)
    assert before.risk().max() == pytest.approx(17 / 30)
    assert [told.highest, told["mean"]] == pytest.approx([17 / 30] * 2)
    assert not told.passes
    part = path.read_text().partition("Options compared")[2].partition("\n#")[0]
    row = next(line for line in part.splitlines() if line.startswith("| the table as it was"))
    assert "does not pass" in row
    assert row.count("0.567") == 2
    assert "0.333" not in row
    assert f"What is told of risks is the highest {TIED}." in path.read_text()


def test_both_sides_of_a_sample_are_told_of_the_same_policy(decider, nine):
    asked = {"known": "worst-case", "target": {"overall": 0.9}, "sample": 1}
    with pytest.warns(ReidbnWarning, match="Tied: at way"):
        plan = rb.recommend(nine, decider, **asked)
    told = plan.sampled.set_index("measure").loc["overall"]
    assert told.tolist()[1:] == pytest.approx([17 / 30] * 3)


def test_a_quantile_is_of_the_person_that_arithmetic_names():
    for per_mille in range(500, 1000, 5):
        q = per_mille / 10 / 100
        for n in range(1, 300):
            rank = ceil(Fraction(per_mille, 1000) * n)
            assert quantile(np.arange(n, 0.0, -1), q) == rank
            assert n - spared(1 - q, n) == rank


def test_a_quantile_that_keeps_its_limit_is_told_so():
    alone = [f"u{i}" for i in range(45)]
    people = rb.read_table({"x": ["a"] * 55 + alone}, quasi_identifiers=["x"], allow_direct=True)
    plan = rb.recommend(people, "marketer", known="worst-case", target={"right": "q55 <= 0.5"})
    assert list(plan.best.after.values()) == pytest.approx([1 / 55])


def test_why_a_risk_is_higher_is_the_true_reason(decider, nine):
    """At nine alike he takes x, which hits more often than y at three."""
    plan = rb.recommend(nine, decider, known="worst-case", target="k=9", set={"vy": 13.0})
    note = next(n for n in plan.notes if n.startswith("the highest overall"))
    assert "(0.333 now, 0.456 then)" in note
    assert "the attacker decides" in note
    assert "population" not in note


def one(people):
    """All releases lose the same."""
    return 1.0


@pytest.mark.parametrize("asked", [{}, {"loss": one}, {"importance": {"b": 0}}, {"pareto": False}])
def test_of_ways_that_lose_the_same_the_table_as_it_is_comes_first(asked):
    table = {"a": ["x"] * 6 + ["y"] * 6, "b": ["u"] * 12}
    if "importance" in asked:
        table["b"] = ["u", "v"] * 6
    people = rb.read_table(table, quasi_identifiers=["a", "b"])
    plan = rb.recommend(people, target="k=3", **asked)
    assert plan.best.dropped == ()
    assert plan.certificate.is_proved


def test_nobody_more_is_left_out_for_a_finer_way_that_loses_the_same():
    table = {"a": ["x"] * 11 + ["y"], "b": ["u", "v"] * 6}
    people = rb.read_table(table, quasi_identifiers=["a", "b"])
    plan = rb.recommend(people, target="k=5", loss=one, suppress_at_most=0.1)
    assert (plan.best.dropped, plan.best.suppressed) == (("a",), 0)


def test_options_and_intervals_are_of_releases_that_differ(tmp_path):
    """A column of one value is the same kept and dropped, and was offered as another way;
    the intervals are those of the custodian's copy of a report of either table.
    """
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(20, 28, 400), "sex": rng.choice(["m", "f"], 400),
                          "land": ["x"] * 400})  # fmt: skip
    people = rb.read_table(frame, quasi_identifiers=list(frame))
    about = {"known": dict.fromkeys(frame, 0.9), "population": 8_000}
    plan = rb.recommend(people, "adversary-routes", target={"overall": "mean <= 0.015"},
                        hierarchies={"age": "bands:2,4,20,40"}, **about)  # fmt: skip

    def written(table):
        codes = table.table[:, :3].T
        return tuple(tuple(pd.factorize(column)[0].tolist()) for column in codes)

    every = [written(plan._table.released(one.node, ~one.left_out)) for one in plan.kept]
    assert len({*every}) < len(every)
    options = [written(one.table) for one in plan.options(9).values()]
    assert len(options) == len({*options})
    assert {*options} == {written(people)} | {*every} - {written(plan.apply())}
    rows = plan.intervals.set_index("measure")
    assert {"overall", "journalist_match"} <= set(rows.index)
    for when, table in (("before", people), ("after", plan.apply())):
        path = tmp_path / f"{when}.json"
        rb.assess("adversary-routes", table, **about).report(path, custodian=True)
        told = json.loads(path.read_text())["measures"]
        for name, row in rows.iterrows():
            found = [row[f"low_{when}"], row[f"high_{when}"]]
            assert found == pytest.approx(told[name]["interval"], abs=1e-12)
            assert row[f"mean_{when}"] == pytest.approx(told[name]["value"], abs=1e-12)
