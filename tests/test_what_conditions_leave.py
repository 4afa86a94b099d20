"""Conditions and numbers that leave parts of a range: which part is told, and to the last digit."""

from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

import reidbn as rb
from reidbn.page import Start, payload
from tests.scripts import answered, needs_scripts
from tests.test_worst_of_tied import SWEPT

FILE = """
schema_version: 1
name: parts
parameters:
  a: {{value: {a}, range: [0, 1], unit: probability, source: assumption}}
  b: {{value: 0.1, range: [0, 1], unit: probability, source: assumption}}
  n: {{value: {n}, range: [0, 40], unit: records, source: assumption}}
numbers: {{twice: {{is: "any(b, n)", source: assumption}}}}
where: ["{where}"]
nodes:
  x: {{cpd: {{kind: probability, p: $a}}}}
  y: {{cpd: {{kind: probability, p: $twice}}}}
  z: {{parents: [x, y], cpd: {{kind: or}}}}
questions: {{risk: {{target: z=yes}}}}
"""


def file(where, a=0.3, n=3):
    return rb.loads(FILE.format(where=where, a=a, n=n))


# -- a range beyond a gap --------------------------------------------------------------------------


def allowed_part(span, gap, base):
    """The part of a span, beyond a gap or not, that is nearest to a base outside it."""
    (low, high), (first, last) = span, gap
    if base < low:
        if first < low < last:
            low = last
        return (low, min(high, first) if low <= first else high)
    if first < high < last:
        high = first
    return (max(low, last) if high >= last else low, high)


@pytest.mark.parametrize("seed", range(40))
def test_a_range_without_the_base_is_entered_where_it_is_allowed(seed):
    rng = np.random.default_rng(seed)
    first, last = sorted(rng.uniform(0.15, 0.85, 2).round(3).tolist())
    base = float(rng.choice([first / 2, (1 + last) / 2]).round(4))
    span = tuple(sorted(rng.uniform(0, 1, 2).round(3).tolist()))
    if span[0] <= base <= span[1]:
        span = (span[0], base - 1e-3) if base > last else (base + 1e-3, span[1])
    if span[0] >= span[1]:
        return
    attack = file(f"(a - {first}) * (a - {last}) >= 0", a=base)
    low, high = allowed_part(span, (first, last), base)
    if low > high:
        for ask in (lambda: rb.solve(attack, "risk", "a", target=0.4, range=span),
                    lambda: rb.tornado(attack, "risk", over={"a": span})):  # fmt: skip
            with pytest.raises(rb.UsageError, match=r"no value of a from .* does not hold at a="):
                ask()
        return
    bar = rb.tornado(attack, "risk", over={"a": span})["a"]
    assert (bar.low, bar.high) == pytest.approx((low, high), abs=1e-8)
    assert low - 1e-13 <= bar.low <= bar.high <= high + 1e-13
    found = rb.solve(attack, "risk", "a", target=0.4, range=span)
    for end in (x for piece in found.under for x in piece):
        assert low - 1e-13 <= end <= high + 1e-13


@pytest.mark.parametrize(
    "span", [(lo, hi) for lo in range(7, 32, 3) for hi in range(lo + 2, 36, 4)]
)
def test_so_is_a_range_of_whole_numbers(span):
    attack = file("(n - 8.5) * (n - 21) >= 0")
    inside = [n for n in range(span[0], span[1] + 1) if n <= 8 or n >= 21]
    if not inside:
        with pytest.raises(rb.UsageError, match="no value of n from"):
            rb.tornado(attack, "risk", over={"n": span})
        return
    kept = [n for n in inside if (n <= 8) == (inside[0] <= 8)]
    bar = rb.tornado(attack, "risk", over={"n": span})["n"]
    assert (bar.low, bar.high) == (kept[0], kept[-1])


# -- the last digit of a condition -----------------------------------------------------------------


FOUR = """
schema_version: 1
name: four
parameters:
  a: {{value: {a}, source: assumption}}
  b: {{value: {b}, source: assumption}}
  c: {{value: {c}, source: assumption}}
  d: {{value: {d}, source: assumption}}
where: ["{where}"]
nodes: {{x: {{cpd: {{kind: probability, p: $a}}}}}}
questions: {{risk: {{target: x=yes}}}}
"""
SUMS = [
    ("a + b + c + d <= 1", True), ("a + b + c + d < 1", False), ("1 - a - b - c - d >= 0", True),
    ("1 > a + b + c + d", False), ("100 * (a + b + c + d) <= 100.000001", True),
    ("a + b + c + d <= 0.99999999", False), ("1e-9 * (a + b + c + d) <= 1e-9", True),
    ("1e-9 * (a + b + c + d) <= 0.99999999e-9", False),
]  # fmt: skip


@pytest.mark.parametrize(("where", "holds"), SUMS)
def test_a_sum_that_is_the_limit_is_within_it_however_it_is_rounded(where, holds):
    rng, over, seen = np.random.default_rng(5), 0, 0
    while over < 3 or seen < 20:
        said = np.diff([0, *sorted(rng.integers(0, 101, 3)), 100]) / 100
        parts = dict(zip("abcd", said.tolist(), strict=True))
        assert sum(Fraction(str(x)) for x in parts.values()) == 1
        over, seen = over + (sum(said.tolist()) > 1), seen + 1
        if seen > 20 and sum(said.tolist()) <= 1:
            continue
        text = FOUR.format(where=where, **parts)
        if holds:
            assert float(rb.ask(rb.loads(text), "risk")) == parts["a"]
        else:
            with pytest.raises(rb.ModelError, match="does not hold at"):
                rb.loads(text)


@pytest.mark.parametrize(("where", "a", "b"), [("3*b <= a", 0.3, 0.1), ("a - b*3 >= 0", 0.3, 0.1),
                                               ("a * b <= 0.03", 0.3, 0.1)])  # fmt: skip
def test_so_are_products_everywhere_they_are_looked_at(where, a, b):
    attack = file(where, a=a)
    assert float(rb.ask(attack, "risk", set={"b": b})) == pytest.approx(1 - 0.7 * 0.9**3)
    bar = rb.tornado(attack, "risk")["b"]
    assert bar.high == pytest.approx(0.1, rel=1e-12)
    with pytest.raises(rb.UsageError, match="does not hold"):
        rb.ask(attack, "risk", set={"b": b + 1e-9})


@needs_scripts
def test_and_in_a_page(tmp_path):
    attack = file("3*b <= a")
    cases = [{"set": {"a": 0.3, "b": b, "n": 3}, "question": 0, "see": {}, "do": {}}
             for b in (0.1, 0.1 + 1e-9)]  # fmt: skip
    (told,) = answered(
        [{"payload": payload(attack, "risk", Start({}, {}, {}, None)), "cases": cases}], tmp_path
    )
    assert told[0]["value"] == pytest.approx(1 - 0.7 * 0.9**3, abs=1e-12)
    assert told[1] == {"refused": "condition"}


# -- uncertainty under conditions ------------------------------------------------------------------


def test_a_condition_that_holds_at_every_whole_number_is_no_hindrance():
    attack = file("(n - 4) * (n - 5) >= 0")  # not at 4.5, which no number of records is
    found = rb.uncertainty(attack, "risk", over={"n": (0, 9)}, draws=2000)
    exact = sum(1 - 0.7 * 0.9**n for n in range(10)) / 10
    assert found.mean == pytest.approx(exact, abs=1e-12)
    assert not [note for note in found.notes if "not proved" in note]
    with pytest.raises(rb.UsageError, match=r"\(n - 4\) \* \(n - 6\) >= 0 does not hold \(n=5\)"):
        rb.uncertainty(file("(n - 4) * (n - 6) >= 0"), "risk", over={"n": (0, 9)}, draws=2000)


def test_one_without_a_proof_is_looked_at_and_that_is_said():
    attack = file("exp(a * (1 - a) * b) - a * (1 - a) * b >= 1")
    with pytest.warns(rb.errors.ReidbnWarning, match="is not proved to hold all over"):
        found = rb.uncertainty(attack, "risk", over=["a", "b"], draws=2000)
    assert any("is not proved to hold all over these ranges" in note for note in found.notes)
    spike = file("1 - 2 * exp(-((a - 0.61) * 40) ^ 2) >= 0")  # it fails from .589 to .631
    with pytest.raises(rb.UsageError, match=r"does not hold \(a=0\.(59|6)"):
        rb.uncertainty(spike, "risk", over=["a"], draws=2000)


# -- numbers, their ranges and who reads them ------------------------------------------------------

SPIKE = """
schema_version: 1
name: spike
parameters:
  a: {value: 0.2, range: [0, 1], unit: probability, source: assumption}
  b: {value: 0.3, range: [0, 1], unit: probability, source: assumption}
numbers:
  q: {is: "0.5 + 0.6*exp(-((a-0.6123)*WIDTH)^2)", unit: probability, source: assumption}
nodes:
  x: {cpd: {kind: probability, p: $q}}
  w: {cpd: {kind: probability, p: $b}}
  z: {parents: [x, w], cpd: {kind: or}}
questions: {risk: {target: z=yes}}
"""


@pytest.mark.parametrize("width", [30, 300, 3000])
def test_where_a_number_leaves_its_range_for_a_moment_bars_end(width):
    attack = rb.loads(SPIKE.replace("WIDTH", str(width)))
    leaves = 0.6123 - np.sqrt(np.log(1.2)) / width
    bars = rb.tornado(attack, "risk")
    assert bars["a"].high == pytest.approx(leaves, abs=1e-8)
    assert any("is no probability" in n for n in bars["a"].notes)
    assert bars["b"].highest == pytest.approx(1)
    assert all(end <= leaves + 1e-8 for piece in
               rb.solve(attack, "risk", "a", target=0.99).under for end in piece)  # fmt: skip


READ = """
schema_version: 1
name: read
parameters:
  a: {value: 0.1, range: [0, 1], unit: probability, source: assumption}
numbers: {many: {is: "a * 8", unit: probability, source: assumption}}
nodes:
  x: {cpd: {kind: probability, p: $a}}
  y: {parents: [x], cpd: {kind: probability, p: $many}}
  z: {parents: [x, y], cpd: {kind: or}}
questions: {risk: {target: z=yes}}
"""


def test_a_table_that_is_set_from_outside_is_not_read():
    attack = rb.loads(READ)
    for state, p in (("yes", 1.0), ("no", 0.3)):
        how = {"set": {"a": 0.3}, "do": {"y": state}}
        for engine in ("exact", "pgmpy", "enumeration"):
            assert float(rb.ask(attack, "risk", engine=engine, **how)) == pytest.approx(p)
        near = rb.ask(attack, "risk", engine="sampling", draws=4000, **how)
        assert float(near) == pytest.approx(p, abs=0.05)
        assert rb.crosscheck(attack, "risk", draws=4000, **how).passed
        swept = rb.sweep(attack, "risk", {"a": [0.1, 0.3, 0.5]}, do={"y": state})
        assert swept["probability"].tolist() == pytest.approx(
            [1.0] * 3 if p == 1 else [0.1, 0.3, 0.5]
        )
        bar = rb.tornado(attack, "risk", do={"y": state})["a"]
        assert (bar.low, bar.high) == (0, 1)
    for how in ({}, {"do": {"x": "yes"}}, {"given": {"y": "yes"}}):
        with pytest.raises(rb.ModelError, match="many = a"):
            rb.ask(attack, "risk", set={"a": 0.3}, **how)


def test_the_printed_end_of_a_range_is_in_it():
    rng, beyond = np.random.default_rng(7), 0
    for low, high in rng.uniform([0, 0.2], [0.1, 1], (20, 2)).tolist():
        attack = rb.loads(READ.replace("[0, 1]", f"[{low!r}, {high!r}]").replace("* 8", "^ 3"))
        end = attack.settable["many"].range[1]
        printed = float(f"{end:.12g}")
        beyond += printed > end
        found = rb.ask(attack, "risk", set={"many": printed})
        assert float(found) == pytest.approx(0.1 + 0.9 * printed)
    with pytest.raises(rb.UsageError, match="outside its range"):
        rb.ask(attack, "risk", set={"many": end * (1 + 1e-9)})
    assert beyond > 3
    for value in (1 + 1e-12, -1e-15):
        with pytest.raises(rb.UsageError, match="is not a probability"):
            rb.ask(attack, "risk", set={"a": value})


# -- what is said of people ------------------------------------------------------------------------

OWN = """
schema_version: 1
name: own
subject: {share: {range: [0, 3], unit: number}}
parameters: {a: {value: 0.7, range: [0, 1], unit: probability, source: assumption}}
nodes:
  x: {states: [low, high, none], source: assumption, rows: [{p: CELLS}]}
  y: {parents: [x], source: assumption, rows: [{when: {x: high}, p: [0, 1]}, {p: [1, 0]}]}
questions: {risk: {target: y=yes}}
"""


@pytest.mark.parametrize(
    "cells",
    ["{low: '@share', high: $a, none: rest}", "{low: rest, high: '@share', none: '@share'}"],
)
def test_a_persons_own_chance_is_not_in_the_message(cells):
    attack = rb.loads(OWN.replace("CELLS", cells))
    own = {"share": [0.20125, 0.61357]}
    with pytest.raises(rb.ModelError, match="somebody") as told:
        rb.ask(attack, "risk", subject=own)
    for text in ("0.20125", "0.61357", "1.31357", "1.3136", "1.22714", "1.2271"):
        assert text not in str(told.value)


# -- tied policies compared ------------------------------------------------------------------------


TOLL = reduce(lambda text, change: text.replace(*change, 1), [
    ("fee: {", "toll: {value: 30, range: [0, 40], unit: euro, source: assumption}, fee: {"),
    ('loss: "-fee"', 'loss: "-fee", paid: "-toll"'), ("value: -30}", "value: $paid}"),
    ("target: known=yes", "target: found=yes"),
], SWEPT)  # fmt: skip


@pytest.mark.filterwarnings("ignore:Tied")
@pytest.mark.parametrize("fees", [(5, 6), (6, 5), (5, 4), (4, 6)])
def test_parts_of_a_difference_add_up_under_tied_policies(fees):
    """By phone .5 p, on the web .25 p; at a fee of 5 both are worth the same, and .5 p counts."""
    chance = {4: 0.25, 5: 0.5, 6: 0.5}
    at = [{"set": {"fee": fee, "p": p}} for fee, p in zip(fees, (0.5, 0.2), strict=True)]
    found = rb.compare(rb.loads(SWEPT), "risk", *at)
    one, two = (chance[fee] for fee in fees)
    assert (found.answer_before, found.answer_after) == pytest.approx((0.5 * one, 0.2 * two))
    alone = {step.change.partition(":")[0]: step for step in found.steps}
    assert alone["p"].alone == pytest.approx((0.2 - 0.5) * one)
    assert alone["fee"].alone == pytest.approx(0.5 * (two - one))
    assert alone["p"].last == pytest.approx((0.2 - 0.5) * two)
    assert sum(s.share for s in found.steps) == pytest.approx(found.difference, abs=1e-12)


@pytest.mark.filterwarnings("ignore:Tied")
def test_so_do_they_where_only_a_step_between_is_tied():
    """Web pays 25 - fee and phone 50 - toll: at a fee of 5 and a toll of 30 both pay 20."""
    attack = rb.loads(TOLL)
    for before, after in (((4, 30), (5, 31)), ((5, 31), (6, 29)), ((5, 29), (4, 30))):
        at = [{"set": {"fee": fee, "toll": toll}} for fee, toll in (before, after)]
        found = rb.compare(attack, "risk", *at)

        def answer(fee, toll):
            return 0.25 if 25 - fee > 50 - toll else 0.5  # the worst of both where they pay alike

        assert (found.answer_before, found.answer_after) == pytest.approx(
            (answer(*before), answer(*after)))  # fmt: skip
        told = {step.change.partition(":")[0]: step for step in found.steps}
        assert told["fee"].alone == pytest.approx(answer(after[0], before[1]) - answer(*before))
        assert told["toll"].alone == pytest.approx(answer(before[0], after[1]) - answer(*before))
        assert sum(s.share for s in found.steps) == pytest.approx(found.difference, abs=1e-12)


# -- wide ranges and narrow gaps -------------------------------------------------------------------

WIDE = """
schema_version: 1
name: wide
parameters:
  a: {{value: 0.9, range: [0, 1], source: assumption}}
  n: {{value: {n}, range: [1, {high}], unit: people, source: assumption}}
numbers: {{q: {{is: "a / n", source: assumption}}}}
where: ["{where}"]
nodes: {{x: {{cpd: {{kind: probability, p: $q}}}}}}
questions: {{risk: {{target: x=yes}}}}
"""


@pytest.mark.parametrize("seed", range(30))
def test_a_gap_of_a_few_whole_numbers_in_a_range_of_millions_is_found(seed):
    rng = np.random.default_rng(seed)
    high = int(10 ** rng.uniform(2, 9))
    at, reach = int(rng.integers(2, high)), int(rng.integers(1, 40))
    gap = [n for n in range(at - 7, at + 8) if (n - at) ** 2 < reach and 1 <= n <= high]
    base = int(rng.integers(1, high + 1))
    if base in gap or not 1 < gap[0] <= gap[-1] < high:
        return
    attack = rb.loads(WIDE.format(n=base, high=high, where=f"(n - {at}) ^ 2 >= {reach}"))
    kept = (1, gap[0] - 1) if base < at else (gap[-1] + 1, high)
    bar = rb.tornado(attack, "risk")["n"]
    assert (bar.low, bar.high) == kept
    other = gap[-1] + 1 if base < at else gap[0] - 1
    (said,) = [note for note in bar.notes if "it holds again at" in note]
    assert f"it holds again at {other}:" in said
    found = rb.solve(attack, "risk", "n", target=0.9 / kept[1])
    assert (found.largest, found.low, found.high) == (kept[1], *kept)
    with pytest.raises(rb.UsageError, match="does not hold"):
        rb.uncertainty(attack, "risk", over=["n"], draws=2000)


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("at", [0.41, 0.7318])
def test_so_is_one_of_real_numbers(at, width):
    attack = file(f"(a - {at}) ^ 2 >= {width**2!r}", a=0.3)
    bar = rb.tornado(attack, "risk")["a"]
    assert bar.high == pytest.approx(at - width, abs=1e-8)
    assert bar.high <= at - width + 1e-13
    with pytest.raises(rb.UsageError, match="does not hold"):
        rb.sobol(attack, "risk", over=["a", "b"])


DERIVED = [
    ("left >= 0", True), ("left > 0", False), ("some > 1 - d - 1e-9", True),
    ("some >= 1 - d", True),
    ("(some + d - 1) * 1000000 <= 0", True), ("max(left, 0) <= 0", True),
    ("left ^ 2 > 0", False), ("log(some + d) >= 0", True), ("left >= 1e-9", False),
]  # fmt: skip


@pytest.mark.parametrize(("where", "holds"), DERIVED)
def test_rounding_in_numbers_that_follow_is_no_hindrance_either(where, holds):
    numbers = 'numbers: {left: "1 - a - b - c - d", some: "a + b + c", p: "a * left"}\nwhere:'
    for parts in ((0.07, 0.49, 0.33, 0.11), (0.7, 0.2, 0.1, 0), (0.29, 0.58, 0.12, 0.01)):
        text = FOUR.format(where=where, **dict(zip("abcd", parts, strict=True)))
        text = text.replace("where:", numbers).replace("p: $a", "p: $p")
        if holds:
            attack = rb.loads(text)
            assert 0 <= float(rb.ask(attack, "risk")) < 1e-16
            assert all(b.low >= 0 and min(b.at_low, b.at_high, b.lowest) >= 0
                       for b in rb.tornado(attack, "risk"))  # fmt: skip
        else:
            with pytest.raises(rb.ModelError, match="does not hold at"):
                rb.loads(text)


@needs_scripts
def test_a_page_rounds_as_the_library_does(tmp_path):
    numbers = 'numbers: {left: "1 - a - b - c - d", some: "a + b + c", p: "a * left"}\nwhere:'
    jobs, wanted = [], []
    for where in (text for text, _ in [*SUMS, *DERIVED]):
        text = FOUR.format(where=where, a=0.1, b=0.1, c=0.1, d=0.1).replace("where:", numbers)
        try:
            attack = rb.loads(text)
        except rb.ModelError:  # it does not hold where the page would start
            continue
        held = payload(attack, "risk", Start({}, {}, {}, None))
        for parts in ((0.07, 0.49, 0.33, 0.11), (0.7, 0.2, 0.1, 0.0), (0.5, 0.2, 0.1, 0.1)):
            said = dict(zip("abcd", parts, strict=True))
            try:
                wanted.append(float(rb.ask(attack, "risk", set=said)))
            except rb.UsageError:
                wanted.append(None)
            case = {"set": said, "question": 0, "see": {}, "do": {}}
            jobs.append({"payload": held, "cases": [case]})
    told = [one.get("value") for (one,) in answered(jobs, tmp_path)]
    assert [x is None for x in told] == [x is None for x in wanted]
    assert 3 < wanted.count(None) < len(wanted) - 10


# -- gaps that are narrow beside their range, or flat ----------------------------------------------

FLAT = """
schema_version: 1
name: flat
parameters:
  g: {{value: {value}, range: [1, {high}], unit: {unit}, source: assumption}}
numbers: {{q: {{is: "1 / (1 + g / 1000)", source: assumption}}}}
where: ["{where}"]
nodes: {{x: {{cpd: {{kind: probability, p: $q}}}}}}
questions: {{risk: {{target: x=yes}}}}
"""
NARROW = [
    ("5.0", "1.0e12", "euro", "(g - 5000.5) ^ 2 >= 10000", 4900.5, 5100.5),
    ("5.0", "1.0e8", "euro", "(g - 50.3) ^ 2 >= 0.0001", 50.29, 50.31),
    ("5.0", "1.0e6", "euro", "(g - 50.3) ^ 2 >= 0.00000001", 50.2999, 50.3001),
    ("5", "100000000", "people", "g * exp(-g / 1000000) <= 367879.4", 999_526, 1_000_474),
    ("5", "100000000", "people", "g / 1000000 + 1000000 / g >= 2.000001", 999_000, 1_001_001),
    ("5.5", "1000.0", "euro", "(log(g) - 2) ^ 2 > 0.000000009", 7.388355, 7.389757),
]


@pytest.mark.parametrize(("value", "high", "unit", "where", "last", "again"), NARROW)
def test_a_gap_that_is_narrow_or_flat_is_found(value, high, unit, where, last, again):
    attack = rb.loads(FLAT.format(value=value, high=high, unit=unit, where=where))
    bar = rb.tornado(attack, "risk")["g"]
    assert bar.high == pytest.approx(last, rel=1e-6)
    assert any(f"holds again at {again:.12g}"[:20] in note for note in bar.notes)
    with pytest.raises(rb.UsageError, match="does not hold"):
        rb.ask(attack, "risk", set={"g": round((last + again) / 2, 4 if unit == "euro" else None)})
    with pytest.raises(rb.UsageError, match=r"Narrow them: over="):
        rb.uncertainty(attack, "risk", over=["g"], draws=1000)
    assert rb.solve(attack, "risk", "g", target=0.999).high == pytest.approx(last, rel=1e-6)


# -- rounding of a whole formula -------------------------------------------------------------------

BRANCHES = """
schema_version: 1
name: branches
parameters:
  p: {{value: {p}, range: [0, 1], source: assumption}}
  many: {{value: 50000000, range: [1, 100000000], unit: records, source: assumption}}
where: ["{where}"]
nodes: {{x: {{cpd: {{kind: probability, p: $p}}}}}}
questions: {{risk: {{target: x=yes}}}}
"""


@pytest.mark.parametrize(("where", "p", "holds"), [
    ("min(p, many ^ 2) <= 0.4", 0.4, True), ("min(p, many ^ 2) <= 0.4", 0.5, False),
    ("min(p, 1e30) >= 0.5", 0.1, False), ("min(p, 1e30) >= 0.5", 0.5, True),
    ("max(p, -(many * many)) < 0.5", 0.4999, True), ("max(p, -(10 ^ 18)) >= 0.5", 0.1, False),
    ("log(p - 0.5) <= 3", 0.5, False), ("1 / (p - 0.5) ^ 2 >= 3", 0.5, False),
    ("1 / (p - 0.5) ^ 2 >= 3", 0.4, True), ("0.1 / (1 - p - 0.1) >= 5", 0.9, False),
    ("0.1 / (1 - p - 0.1) >= 5", 0.89, True), ("exp(many) >= 0", 0.5, True),
])  # fmt: skip
def test_only_what_rounding_can_move_is_forgiven(where, p, holds):
    text = BRANCHES.format(where=where, p=p)
    if holds:
        assert float(rb.ask(rb.loads(text), "risk")) == p
    else:
        with pytest.raises(rb.ModelError, match="does not hold at"):
            rb.loads(text)


OWN_ENDS = """
schema_version: 1
name: ends
parameters:
  a: {{value: {a}, range: [0, 1000.0], unit: {unit}, source: assumption}}
  b: {{value: 1.0, range: [0, 1000.0], unit: {unit}, source: assumption}}
numbers:
  d: {{is: "{d}", unit: {unit}, range: [{low}, {high}], source: assumption}}
  q: {{is: "{q}", unit: probability, source: assumption}}
nodes: {{x: {{cpd: {{kind: probability, p: $q}}}}}}
questions: {{risk: {{target: x=yes}}}}
"""


@pytest.mark.parametrize("high", ["100.0", "1.0e9", "1.0e12"])
@pytest.mark.parametrize(("low", "b"), [("1.0", 100.0005), ("0", 100.0005), ("0.001", 99.99905)])
@needs_scripts
def test_an_end_of_a_number_is_an_end_however_far_the_other(low, b, high, tmp_path):
    """a - b is b's 1e-6 beyond the end: no rounding of numbers of a hundred, in page or library."""
    attack = rb.loads(OWN_ENDS.format(
        a=100.0, unit="euro", d="a - b" if low != "1.0" else "a - b + 1", low=low, high=high,
        q="0.0005 / (d + 0.0005)"))  # fmt: skip
    with pytest.raises(rb.ModelError, match="outside its range"):
        rb.ask(attack, "risk", set={"b": b})
    held = payload(attack, "risk", Start({}, {}, {}, None))
    cases = [{"set": {"a": 100.0, "b": x}, "question": 0, "see": {}, "do": {}} for x in (b, 1.0)]
    (told,) = answered([{"payload": held, "cases": cases}], tmp_path)
    assert told[0] == {"refused": "outside"}
    assert told[1]["value"] == pytest.approx(float(rb.ask(attack, "risk")), abs=1e-12)


REST = """
schema_version: 1
name: rest
parameters:
  a: {value: 0.07, source: assumption}
  b: {value: 0.49, source: assumption}
  c: {value: 0.33, source: assumption}
  d: {value: 0.11, source: assumption}
nodes:
  y: {states: [s1, s2, s3, s4, s5], source: assumption,
      rows: [{p: {s1: $a, s2: $b, s3: $c, s4: $d, s5: rest}}]}
questions: {risk: {target: y=s5}}
"""


@needs_scripts
def test_what_rest_leaves_is_never_below_nought(tmp_path):
    attack = rb.loads(REST)
    for engine in ("exact", "enumeration", "pgmpy"):
        assert float(rb.ask(attack, "risk", engine=engine)) == 0
    assert rb.crosscheck(attack, "risk", draws=2000).passed
    for bar in rb.tornado(attack, "risk"):
        assert min(bar.at_low, bar.at_high, bar.lowest) == 0
    found = rb.solve(attack, "risk", "a", 0)
    assert found.largest == pytest.approx(0.07)
    both = rb.compare(attack, "risk", {}, {"set": {"a": 0.05}})
    assert (both.answer_before, both.ratio) == (0, None)
    held = payload(attack, "risk", Start({}, {}, {}, None))
    case = {"set": dict(zip("abcd", (0.07, 0.49, 0.33, 0.11), strict=True)), "question": 0,
            "see": {}, "do": {}}  # fmt: skip
    ((told,),) = answered([{"payload": held, "cases": [case]}], tmp_path)
    assert told["value"] == 0


def test_evidence_that_cannot_be_somewhere_is_answered_with_ranges():
    text = FLAT.format(value=5, high=9, unit="people", where="g <= 9")
    text = text.replace("1 / (1 + g / 1000)", "(g - 3) ^ 2 / 36")
    text = text.replace("x: {cpd", "y: {parents: [x], cpd: {kind: probability, p: 0.5}, "
                        "source: assumption}, x: {cpd").replace("x=yes", "y=yes")  # fmt: skip
    for ask in (rb.uncertainty, rb.sobol, rb.tornado):
        with pytest.raises(rb.errors.ImpossibleEvidence, match=r'over={"g": \(low, high\)}'):
            ask(rb.loads(text), "risk", given={"x": "yes"})
    with pytest.raises(rb.UsageError, match="5 is one value and no range"):
        rb.tornado(rb.loads(text), "risk", over={"g": (5, 5)})
