"""What a derived number can be is what it can be where the conditions of `where` hold.

The oracle goes through every corner that the ranges and conditions have, in rationals.
"""

from fractions import Fraction
from itertools import combinations
from math import ceil, floor

import numpy as np
import pytest

import reidbn as rb

FILE = """
schema_version: 1
name: bounded
parameters:
  a: {{value: 2, range: [0, 10], unit: records, source: assumption}}
  b: {{value: 3, range: [-5, 8], unit: records, source: assumption}}
  c: {{value: 4, range: [1, 20], unit: records, source: assumption}}
  p: {{value: 0.5, range: [0, 1], source: assumption}}
numbers: {{{numbers}}}
where: [{where}]
nodes: {{x: {{cpd: {{kind: probability, p: $p}}}}}}
questions: {{risk: {{target: x=yes}}}}
"""
NAMES, BASE, RANGES = "abc", (2, 3, 4), ((0, 10), (-5, 8), (1, 20))


def _formula(factors, added):
    said = [f"{x} * {n}" for x, n in zip(factors, NAMES, strict=True)]
    return " + ".join([*said, str(added)])


def _value(factors, added, at):
    return sum(Fraction(x) * y for x, y in zip(factors, at, strict=True)) + added


def _corners(conditions):
    """Every corner of the box, cut by conditions that are never below 0."""
    planes = list(conditions)
    for i, (low, high) in enumerate(RANGES):
        unit = [int(j == i) for j in range(3)]
        planes += [(unit, -low), ([-u for u in unit], high)]
    for three in combinations(planes, 3):
        at = _solved([[Fraction(x) for x in factors] + [Fraction(-d)] for factors, d in three])
        if at is not None and all(_value(*plane, at) >= 0 for plane in planes):
            yield at


def _solved(rows):
    """Three equations by elimination; None where they have no one answer."""
    for i in range(3):
        pivot = next((r for r in range(i, 3) if rows[r][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(3):
            if r != i:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[3] for row in rows]


@pytest.mark.parametrize("seed", range(60))
def test_a_sum_reaches_exactly_what_the_corners_say(seed):
    rng = np.random.default_rng(seed)
    conditions = []
    while len(conditions) < int(rng.integers(1, 4)):
        factors, added = rng.integers(-3, 4, 3).tolist(), int(rng.integers(-12, 13))
        if any(factors) and _value(factors, added, BASE) >= 0:
            conditions.append((factors, added))
    factors = rng.integers(-3, 4, 3).tolist()
    factors[seed % 3] = 1
    where = ", ".join(f'"{_formula(*c)} >= 0"' for c in conditions)
    numbers = f'n: "{_formula(factors, 1)}", half: "n / 2 + b", bent: "n * half + c"'
    found = rb.loads(FILE.format(numbers=numbers, where=where)).settable
    corners = list(_corners(conditions))
    told = [_value(factors, 1, at) for at in corners]
    assert found["n"].range == (ceil(min(told)), floor(max(told)))  # of counts: whole
    halves = [x / 2 + at[1] for x, at in zip(told, corners, strict=True)]
    assert found["half"].range == pytest.approx((float(min(halves)), float(max(halves))), abs=1e-9)
    low, high = found["bent"].range
    between = rng.dirichlet([0.3] * len(corners), 200) @ np.array(corners, dtype=float)
    n = between @ factors + 1
    bent = n * (n / 2 + between[:, 1]) + between[:, 2]
    assert (low - 1e-9 <= bent).all()
    assert (bent <= high + 1e-9).all()


def test_what_is_no_sum_is_bounded_under_its_own_name():
    numbers = 'share: "a / c", half: "share / 2 + 0.1"'
    attack = rb.loads(FILE.format(numbers=numbers, where='"share <= 0.75", "a <= c"'))
    assert attack.settable["share"].range == (0, 0.75)
    assert attack.settable["half"].range == pytest.approx((0.1, 0.475))


def test_conditions_that_nothing_meets_or_that_are_no_sums_leave_the_ranges():
    attack = rb.loads(FILE.format(numbers='kept: "c - a"', where='"a * b <= c + 3"'))
    assert attack.settable["kept"].range == (-9, 20)


def test_a_probability_that_a_condition_proves_is_no_warning(tmp_path):
    text = FILE.format(numbers='both: "p + q"', where='"p + q <= 1"').replace("$p}", "$both}")
    text = text.replace("  p: {", "  q: {value: 0.2, source: assumption}\n  p: {")
    assert "can be proved" in _checked(text.replace("p + q <= 1", "p <= 1"), tmp_path)
    assert "can be proved" not in _checked(text, tmp_path)
    bar = rb.tornado(rb.loads(text), "risk")["both"]
    assert (bar.low, bar.high) == (0, 1)


def _checked(text, folder):
    (folder / "bounded.yaml").write_text(text)
    return " ".join(map(str, rb.check(folder / "bounded.yaml")))


def test_a_bar_ends_where_its_number_does():
    text = FILE.format(numbers='kept: "c - a", seen: "kept / c"', where='"a <= c", "c <= 12"')
    found = rb.tornado(rb.loads(text.replace("$p}", "$seen}")), "risk")
    assert (found["kept"].low, found["kept"].high) == (0, 4)  # of four: more is no share
    assert (found["seen"].lowest, found["seen"].highest) == (0, 1)


APART = """
schema_version: 1
name: apart
parameters:
  p: {value: 0.95, range: [0, 1], source: assumption}
  n: {value: 6, range: [0, 6], unit: tries, source: assumption}
where: ["CONDITION"]
nodes:
  a: {cpd: {kind: probability, p: $p}}
  c: {parents: [a], source: assumption,
      rows: [{when: {a: yes}, p: {yes: 0.1, no: rest}}, {p: {yes: 0.9, no: rest}}]}
  many: {states: 0..6, cpd: {kind: binomial, n: $n, p: $p}}
questions: {risk: {target: c=yes}, some: {target: many>=1}}
"""


@pytest.mark.parametrize(
    "condition",
    ["p * (1 - p) <= 0.1", "(p - 0.5) ^ 2 >= 0.15", "min(p, 1 - p) <= 0.1127016653792583",
     "exp(0 - (p - 0.5) ^ 2) <= 0.8607079764250578"],
)  # fmt: skip
def test_a_condition_that_holds_at_both_ends_alone_cuts_the_range_between(condition):
    attack = rb.loads(APART.replace("CONDITION", condition))
    end = 0.5 + 0.15**0.5
    for question, target in (("risk", 0.5), ("risk", 0.15), ("some", 0.9)):
        found = rb.solve(attack, question, "p", target)
        assert found.low == pytest.approx(end, abs=1e-8)
        assert all(end - 1e-8 <= v for piece in found.under for v in piece)
        for value in found.values:
            rb.ask(attack, question, set={"p": value})
        assert "holds again at 0.11" in " ".join(found.notes)
    bar = rb.tornado(attack, "risk", threshold=0.5)["p"]
    assert bar.crossings == ()
    assert bar.low == pytest.approx(end, abs=1e-8)


def test_counts_are_cut_at_the_number_before_a_condition_breaks():
    attack = rb.loads(APART.replace("CONDITION", "n * (6 - n) <= 5"))
    bar = rb.tornado(attack, "some")["n"]
    assert (bar.low, bar.high) == (5, 6)
    assert "holds again at 1" in bar.notes[0]


def test_what_is_not_proved_of_a_condition_is_looked_at_and_said():
    attack = rb.loads(APART.replace("CONDITION", "min(p * p, p) <= p * p"))
    found = rb.solve(attack, "risk", "p", 0.5)
    assert (found.low, found.high) == (0, 1)
    assert any("seen to hold at" in note for note in found.notes)


def test_a_condition_on_what_follows_from_a_number_cuts_the_bar_of_that_number():
    attack = rb.loads("""
schema_version: 1
name: follows
parameters: {p: {value: 0.1, source: assumption}, c: {value: 0.5, source: assumption}}
numbers: {q: "p * 1", s: "1 - q"}
where: ["(s - 0.5) ^ 2 >= 0.01"]
nodes: {a: {cpd: {kind: probability, p: $q}}, b: {cpd: {kind: probability, p: $c}}}
questions: {risk: {target: a=yes}}
""")
    bars = rb.tornado(attack, "risk")
    assert (bars["q"].low, bars["q"].high) == pytest.approx((0, 0.4))
    assert (bars["p"].low, bars["p"].high) == pytest.approx((0, 0.4))
    assert rb.solve(attack, "risk", "q", 0.45).status == "always at or under"
    assert rb.tornado(attack, "b=yes", set={"s": 0.9})["c"].swing == 1
