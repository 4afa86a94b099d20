"""Formulas that are not proved to keep their range: looked at, answered, and said; or refused."""

import warnings

import numpy as np
import pytest

import reidbn as rb

MODEL = """
schema_version: 1
name: unproved
parameters:
  a: {value: 0.3, range: [0, 1], source: assumption}
  b: {value: 0.4, range: [0, 1], source: assumption}
  c: {value: 0.2, range: [0, 1], source: assumption}
numbers:
  f: "%s"
nodes:
  x: {cpd: {kind: probability, p: $f}}
questions: {risk: {target: x=yes}}
"""

# What they are on average over uniform numbers, by hand.
MEANS = {
    "max(a, b) - min(a, b)": 1 / 3,
    "4 * a * (1 - a)": 2 / 3,
    "a + b - max(a, b)": 1 / 3,
    "a * max(b, c) + (1 - a) * min(b, c)": 1 / 2,
    "min(a + b, 2 - a - b)": 2 / 3,
    "16 * a^2 * (1 - a)^2": 8 / 15,
}


def said(attack, ask):
    """An answer, and the one thing that is said beside it."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", rb.errors.ReidbnWarning)
        found = ask(attack, "risk")
    return found, [str(w.message) for w in heard if "not proved" in str(w.message)]


@pytest.mark.parametrize("formula", MEANS)
def test_what_keeps_its_range_is_answered_and_said_to_be_seen_and_not_proved(formula):
    attack = rb.loads(MODEL % formula)
    found, (words,) = said(attack, lambda *of: rb.uncertainty(*of, draws=2_000))
    assert found.mean == pytest.approx(MEANS[formula], abs=3e-5)
    assert words.startswith("f = ")
    assert any("is not proved to keep to what its tables take" in note for note in found.notes)
    found, _ = said(attack, rb.sobol)
    assert found.mean == pytest.approx(MEANS[formula], abs=3e-5)
    assert "is not proved to keep" in str(found)


def test_what_is_proved_says_nothing():
    for formula in ("min(a, b)", "a + b - a * b", "max(0, a + b - 1)"):
        assert said(rb.loads(MODEL % formula), lambda *of: rb.uncertainty(*of, draws=100))[1] == []


@pytest.mark.parametrize(
    ("formula", "where"),
    [("4.0001 * a * (1 - a)", "a=0.49"), ("max(a, b) - min(a, b) + 0.00001", "a="),
     ("a * b * 1.000001", "a=1, b=1"),
     ("min(1.5, 1.5 * exp(0 - ((a - 0.123) * 2000)^2))", "a=0.12"),
     ("max(a - b, b - a) * 1.01", "a=0, b=1"), ("1.02 - max(a, b, c)", "a=")],
)  # fmt: skip
def test_what_leaves_its_range_somewhere_is_refused_with_where(formula, where):
    attack = rb.loads(MODEL % formula)
    for ask in (rb.uncertainty, rb.sobol):
        with pytest.raises(rb.UsageError, match=f"which is no probability at {where}"):
            ask(attack, "risk")


def test_random_formulas_are_answered_where_a_fine_grid_finds_nothing_wrong():
    """Made of min, max, sums and products; the grid is this test's own."""
    rng = np.random.default_rng(3)
    grid = np.meshgrid(*[np.linspace(0, 1, 41)] * 3, indexing="ij")
    names = dict(zip("abc", grid, strict=True))

    def formula(depth):
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([*"abc", "0.5"])
        one, two = formula(depth - 1), formula(depth - 1)
        return rng.choice([f"min({one}, {two})", f"max({one}, {two})", f"({one} * {two})",
                           f"(1 - {one})", f"({one} + {two} - {one} * {two})",
                           f"(2 * {one} * (1 - {two}))", f"max({one} - {two}, 0)"])  # fmt: skip

    answered = refused = 0
    while answered < 12 or refused < 4:
        text = formula(3)
        if not {*"abc"} & {*text}:
            continue
        every = eval(text.replace("min", "np.minimum").replace("max", "np.maximum"),  # noqa: S307
                     {"np": np, **names})  # fmt: skip
        low, high = float(np.min(every)), float(np.max(every))
        try:
            attack = rb.loads(MODEL % text)
        except rb.ModelError:  # at the values of the file it is none
            continue
        try:
            found, _ = said(attack, lambda *of: rb.uncertainty(*of, draws=500))
        except rb.UsageError:
            found = None
        if found is None:
            assert low < 0 or high > 1, (text, low, high)
            refused += 1
            continue
        assert low >= -1e-9, (text, low)
        assert high <= 1 + 1e-9, (text, high)
        weights = np.ones(41)
        weights[[0, -1]] = 0.5
        weights /= weights.sum()
        wanted = np.einsum("ijk,i,j,k", np.broadcast_to(every, (41,) * 3), *[weights] * 3)
        assert found.mean == pytest.approx(wanted, abs=2e-3), text
        answered += 1


def test_a_count_that_stands_for_a_chance_is_named_with_its_formula(tmp_path):
    (tmp_path / "m.yaml").write_text("""\
schema_version: 1
name: m
parameters:
  p_one: {value: 0.01, range: [0, 0.2], source: assumption}
  n: {value: 12, range: [0, 60], unit: people, source: assumption}
numbers: {p_any: p_one * n}
nodes:
  told: {cpd: {kind: probability, p: $p_any}}
""")
    assert float(rb.ask(tmp_path / "m.yaml", "told=yes")) == pytest.approx(0.12)
    with pytest.raises(rb.ModelError, match=r"p_any = p_one \* n is 1.2, .*any\(p, n\)"):
        rb.ask(tmp_path / "m.yaml", "told=yes", set={"p_one": 0.1})


def test_a_number_that_has_no_say_in_a_question_stops_nothing():
    """Only `b` stands on `odd`, which is more than 1 where p is small."""
    attack = rb.loads("""
schema_version: 1
name: unread
parameters:
  p: {value: 0.3, prior: {kind: beta, a: 3, b: 7}, source: assumption}
  q: {value: 0.2, range: [0.1, 0.9], source: assumption}
numbers: {odd: {is: "1 / (p + 2*q + 0.4) - 0.1", source: assumption}}
nodes:
  a: {cpd: {kind: probability, p: $p}}
  b: {cpd: {kind: probability, p: $odd}}
questions: {risk: {target: a=yes}}
""")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert float(rb.ask(attack, "risk", set={"p": 0})) == 0
        assert rb.sweep(attack, "risk", {"p": [0, 0.5]})["probability"].tolist() == [0, 0.5]
        assert rb.uncertainty(attack, "risk", draws=100).mean == pytest.approx(0.3)
        assert rb.sobol(attack, "risk").mean == pytest.approx(0.3)
        learnt = rb.learn(attack, [{"target": "a=yes", "hits": 2, "trials": 9}])
        assert learnt.attack.parameters["p"].value == pytest.approx(5 / 19)
        bars = rb.tornado(attack, "risk")
        assert (bars["p"].low, bars["p"].high, bars["q"].swing) == (0, 1, 0)
        asked = rb.tornado(attack, "b=yes")["p"]
    assert asked.low == pytest.approx(1 / 1.1 - 0.8)
    (note,) = asked.notes
    assert note.endswith("1.15, which is no probability at p=0, q=0.2")
    for refused in (lambda: rb.ask(attack, "b=yes", set={"p": 0}),
                    lambda: rb.draw(attack, set={"p": 0}),
                    lambda: rb.uncertainty(attack, "b=yes", draws=100)):  # fmt: skip
        with pytest.raises(rb.ReidbnError, match="no probability at p=0, q=0"):
            refused()


def test_a_number_behind_what_the_attacker_gains_is_held_to_its_range():
    attack = rb.loads("""
schema_version: 1
name: gains
parameters: {fine: {value: 2, range: [0, 9], unit: euro, source: assumption}}
numbers: {loss: {is: "-fine", unit: euro, range: [-5, 0]}}
nodes: {named: {parents: [tries], rows: [{when: {tries: yes}, p: {yes: 0.4, no: rest}},
                                         {p: {yes: 0, no: rest}}], source: assumption}}
decisions: {tries: {options: [no, yes]}}
utilities:
  cost: {of: [tries], unit: euro, rows: [{when: {tries: yes}, value: $loss}, {value: 0}]}
  gain: {of: [named], unit: euro, source: assumption,
         rows: [{when: {named: yes}, value: 8}, {value: 0}]}
questions: {risk: {target: named=yes}}
""")
    assert float(rb.ask(attack, "risk")) == pytest.approx(0.4)
    with pytest.raises(rb.ReidbnError, match="outside its range -5 to 0 at fine=8"):
        rb.ask(attack, "risk", set={"fine": 8})
