"""A number that is no probability is refused or said, never brought to the edge in silence."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from attacks import YES_NO
from inside import inside

import reidbn as rb
from reidbn.attack import Attack, FactLookup, Node
from reidbn.attacks import subset_population
from reidbn.cpds import Share
from reidbn.errors import EngineError, ModelError
from reidbn.inference import AGREES, DISAGREES, Cell
from reidbn.microdata import chance_of
from reidbn.theory import disagrees


def of_the_register(part) -> Attack:
    return Attack(
        "register",
        parameters=[
            rb.Parameter("listed", part, unit="people", source="assumption", low=0, high=500),
            rb.Parameter("people", 100, unit="people", source="assumption", low=1, high=200),
        ],
        nodes=[Node("inside", YES_NO, Share("$listed", "$people"), (), source="assumption")],
    )


def test_a_part_larger_than_its_whole_is_no_certainty():
    assert float(rb.ask(of_the_register(25), "inside=yes")) == 0.25
    assert float(rb.ask(of_the_register(100), "inside=yes")) == 1.0
    with pytest.raises(ModelError, match="larger than the whole"):
        rb.ask(of_the_register(120), "inside=yes")
    bar = rb.tornado(of_the_register(25), "inside=yes", over="listed")["listed"]
    assert bar.high == 100
    assert "range ends at 100" in bar.notes[0]


@pytest.mark.parametrize("p", [1.1232, -0.01, float("nan")])
def test_no_sample_agrees_with_what_is_no_probability(p):
    assert disagrees(1000, 1000, p, level=1e-6)
    assert disagrees(0, 1000, p, level=1e-6)
    assert disagrees(0, 0, p, level=1e-6)
    assert Cell("inside", p, 1000, 1000, 1e-6).verdict == DISAGREES


def test_a_hair_above_one_agrees_with_what_always_happens():
    assert Cell("inside", 1 + 1e-15, 10**6, 10**6, 1e-6).verdict == AGREES
    assert Cell("inside", 0.2 * (1 + 1e-15), 10**6, 10**6, 1e-6, scale=0.2).verdict == AGREES
    assert Cell("inside", 0.25, 10**6, 10**6, 1e-6, scale=0.2).verdict == DISAGREES


def test_a_law_of_the_number_identified_that_does_not_add_up_is_no_answer(monkeypatch):
    home = inside(rb.leak.number_identified)
    real = home.log_number_identified
    monkeypatch.setattr(home, "log_number_identified", lambda *a, **k: real(*a, **k) + 1e-4)
    with pytest.raises(EngineError, match=r"add up to 1\.0001"):
        rb.leak.number_identified({5: 20}, leaked=40, targets=3)


def test_a_chance_of_nobody_above_one_is_not_a_chance_of_anybody_of_zero(monkeypatch):
    monkeypatch.setattr(inside(rb.leak.number_identified), "RARE", -1.0)
    monkeypatch.setattr(inside(rb.leak.number_identified), "log_none_identified", lambda *a: 0.05)
    with pytest.raises(EngineError, match="no probability"):
        rb.leak.any_identified({5: 20}, leaked=40, targets=3)


def test_a_joint_risk_above_one_is_no_answer(monkeypatch):
    home = inside(rb.leak.joint_risk)
    monkeypatch.setattr(home, "log_all_identified", lambda c, L, n: 0.1 + 0.0 * L)
    with pytest.raises(EngineError, match="no probability"):
        rb.leak.joint_risk({5: 20}, leaked=40, targets=3)


def test_a_chance_to_match_above_one_is_no_answer(monkeypatch):
    home = inside(subset_population)
    real = home.fit_tables

    def too_sure(*tables, **more):
        fits = real(*tables, **more)
        return replace(fits, match=[np.full_like(match, 1.2) for match in fits.match])

    monkeypatch.setattr(home, "fit_tables", too_sure)
    frame = pd.DataFrame({"age": [1, 1, 2, 3] * 20, "sex": list("fmff") * 20})
    people = rb.read_table(frame, quasi_identifiers=["age", "sex"])
    with pytest.raises(EngineError, match=r"1\.2"):
        rb.assess("journalist", people, population=10_000, population_model="pitman")


def test_a_relative_chance_that_comes_out_above_one_is_said():
    people = rb.read_table(pd.DataFrame({"race": list("abbb")}), quasi_identifiers=["race"])
    facts = {"rates": {"race": ["a", "b"], "rate": [1.5, 0.5]}}
    chance = (0.8, FactLookup("rates", "rate", ("race",), relative=True))
    notes: list[str] = []
    assert chance_of(chance, people, facts, "race", notes).tolist() == [1.0, 0.4, 0.4, 0.4]
    assert notes == [
        "race: a relative chance times the others comes to more than 1 (1 of 4 people, at most "
        "1.2), and counts as 1"
    ]
    notes.clear()
    chance_of((0.5, chance[1]), people, facts, "race", notes)
    assert not notes


TWO = """
schema_version: 1
name: hidden
parameters:
  p: {value: 0.7, source: assumption}
  r: {value: 0.6, source: assumption}
  size: {value: 999, range: [0, 5000], unit: records, source: assumption}
numbers: {fit: {is: "size * 0.001", unit: records, source: assumption},
          odd: {is: "p + r", unit: times, source: assumption}}
nodes:
  b: {cpd: {kind: probability, p: 0.5}, source: assumption}
  a: NODE
questions: {risk: {target: TARGET}}
"""


@pytest.mark.parametrize(
    ("node", "question", "message"),
    [
        ("{source: assumption, cpd: {kind: mixture, weights: [$p, $r, rest], components: "
         "[{kind: probability, p: 0.2}, {kind: probability, p: 0.4}, {kind: probability, p: 1}]}}",
         "a=yes", "rest stands beside chances that add up to 1.3"),
        ("{source: assumption, cpd: {kind: mixture, weights: [$odd, rest], components: "
         "[{kind: probability, p: 0.2}, {kind: probability, p: 0.4}]}}",
         "a=yes", r"the number odd = p \+ r is 1.3, and stands for a chance"),
        ("{states: [n, s, l], parents: [b], source: assumption, cpd: {kind: noisy-max, rows: "
         "[{when: {b: yes}, p: {s: $p, l: $r, n: rest}}]}}",
         "a=l", "rest stands beside chances that add up to 1.3"),
        ("{parents: [b], cpd: {kind: noisy-or, weights: [$odd]}}",
         "a=yes", "is 1.3, and stands for a chance"),
        ("{cpd: {kind: geometric, p: $odd, budget: 3}, source: assumption}",
         "a=yes", "stands for a chance"),
        ("{cpd: {kind: one-over, of: $fit}}", "a=yes", "one over a number of 0.999"),
    ],
)  # fmt: skip
def test_what_is_no_chance_deep_in_a_table_is_refused_where_the_table_looks_sound(
    node, question, message, tmp_path
):
    text = TWO.replace("NODE", node).replace("TARGET", question)
    (tmp_path / "hidden.yaml").write_text(text)
    attack = rb.loads(text)
    for engine in ("exact", "sampling"):
        with pytest.raises(rb.ReidbnError, match=message):
            rb.ask(attack, "risk", engine=engine, draws=100)
    told = " ".join(map(str, rb.check(tmp_path / "hidden.yaml")))
    assert "cannot be built at the values" in told


def test_one_over_is_nothing_for_nobody_and_a_guess_from_one_on():
    text = TWO.replace("NODE", "{cpd: {kind: one-over, of: $fit}}").replace("TARGET", "a=yes")
    attack = rb.loads(text)
    found = [float(rb.ask(attack, "risk", set={"size": n})) for n in (0, 1000, 4000)]
    assert found == pytest.approx([0, 1, 0.25])
    with pytest.raises(rb.ReidbnError, match=r"one over a number of 0\.5"):
        rb.sweep(attack, "risk", {"size": [500, 1000]})


def test_any_of_what_is_no_chance_has_no_value():
    text = TWO.replace("p + r", "any(p + r, 2)").replace("unit: times", "unit: probability")
    text = text.replace("NODE", "{cpd: {kind: probability, p: $odd}}").replace("TARGET", "a=yes")
    with pytest.raises(rb.ModelError, match=r"has no value at p=0\.7, r=0\.6"):
        rb.loads(text)
    found = rb.loads(text.replace("r: {value: 0.6", "r: {value: 0.2"))
    assert float(rb.ask(found, "risk")) == pytest.approx(0.99)
    with pytest.raises(rb.ReidbnError, match="has no value"):
        rb.ask(found, "risk", set={"r": 0.6})
    bar = rb.tornado(found, "risk")["r"]
    assert bar.high == pytest.approx(0.3)
