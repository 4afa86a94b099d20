"""Derived numbers: formulas against rationals, proofs of ranges, degrees, and every room."""

import ast
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reidbn as rb
from reidbn.attack import enclosure, evaluate, parse
from reidbn.attacks import register
from tests.yaml_oracle import Model

NAMES = ("p", "q", "r")
HEAD = "schema_version: 1\nname: small\n"


def small(numbers, cell="$n", more="", parameters=NAMES):
    """One yes/no node whose chance is a number."""
    declared = "".join(f"  {x}: {{value: 0.25, source: assumption}}\n" for x in parameters)
    told = "".join(f"  {name}: {spec}\n" for name, spec in numbers.items())
    return (
        f"{HEAD}parameters:\n{declared}{more}numbers:\n{told}nodes:\n"
        f"  event: {{rows: [{{p: {{yes: {cell}, no: rest}}}}]}}\n"
        "questions: {risk: {target: event=yes}}\n"
    )


# -- values: our grammar against Python's, in rationals --------------------------------------------


@st.composite
def formulas(draw, depth=4):
    """The text of a formula without exp, log and division by what may be 0."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from([*NAMES, "1", "2", "0.5", ".25", "3e-1"]))
    a, b = draw(formulas(depth - 1)), draw(formulas(depth - 1))
    n = draw(st.integers(0, 4))
    forms = [
        f"{a} + {b}", f"{a}-{b}", f"({a}) * ({b})", f"-({a}) ^ {n}", f"({a}) ^ {n}", f"-{a}",
        f"({a}) / 4", f"({a}) / (1 + ({b}) ^ 2)", f"min({a}, {b})", f"max({a},{b}, 1/2)",
        f"any({a}, {n})", f"2 ^ -{n} * ({a})", f"-2 ^ 2 + {b}",
    ]  # fmt: skip
    return draw(st.sampled_from(forms))


class NoChanceError(Exception):
    """any(p, n) of what is no chance."""


def exactly(words, values):
    """The same text read by Python, in rationals."""

    def go(step):
        if isinstance(step, ast.Constant):
            return Fraction(str(step.value))
        if isinstance(step, ast.Name):
            return values[step.id]
        if isinstance(step, ast.UnaryOp):
            return -go(step.operand)
        if isinstance(step, ast.Call):
            args = [go(a) for a in step.args]
            by_name = {"min": min, "max": max}
            if step.func.id == "any" and not 0 <= args[0] <= 1:
                raise NoChanceError
            return by_name[step.func.id](args) if step.func.id in by_name else (
                1 - (1 - args[0]) ** int(args[1]))  # fmt: skip
        left, right = go(step.left), go(step.right)
        op = type(step.op)
        if op is ast.Pow:
            return left ** int(right)
        return {ast.Add: left + right, ast.Sub: left - right, ast.Mult: left * right}.get(
            op
        ) if op is not ast.Div else left / right  # fmt: skip

    return go(ast.parse(words.replace("^", "**"), mode="eval").body)


SIXTEENTHS = st.builds(lambda i: Fraction(i, 16), st.integers(0, 16))


@given(formulas(), st.fixed_dictionaries(dict.fromkeys(NAMES, SIXTEENTHS)))
@settings(max_examples=300, deadline=None)
def test_a_formula_has_the_value_that_rationals_have(words, values):
    found = float(evaluate(parse(words), lambda n: np.array(float(values[n])), strict=True))
    try:
        true = exactly(words, values)
    except NoChanceError:
        assert not np.isfinite(found) or "^ 0" in words  # which is 1 of everything
        return
    sizes = [abs(exactly(w, values)) for w in (words,)]
    assert abs(found - float(true)) <= 1e-12 * max(1.0, *map(float, sizes)) * 1e3


@given(formulas(), st.fixed_dictionaries(dict.fromkeys(NAMES, SIXTEENTHS)))
@settings(max_examples=200, deadline=None)
def test_a_formula_never_leaves_the_range_that_is_proved(words, values):
    low, high = enclosure(parse(words), dict.fromkeys(NAMES, (0.0, 1.0)))
    try:
        true = float(exactly(words, values))
    except NoChanceError:
        assert (low, high) == (-np.inf, np.inf)
        return
    hair = 1e-9 * max(1.0, abs(true))
    assert low - hair <= true <= high + hair


@pytest.mark.parametrize(
    ("words", "low", "high"),
    [
        ("p + (1 - p) * q", 0, 1),  # corners: every name at most to the power of one
        ("p * q + (1 - p) * (1 - q)", 0, 1),
        ("p * (1 - q) - q * (1 - p)", -1, 1),
        ("p ^ 2 * (3 - 2 * p)", 0, 1),  # Bernstein: 0, 0, 1, 1
        ("1 - (1 - p) ^ 150", 0, 1),  # interval arithmetic
        ("any(p, 150) * q", 0, 1),
        ("max(p, q) - min(p, q)", -1, 1),
        ("exp(-p)", math.exp(-1), 1),
        ("(p - 0.5) ^ 2", 0, 0.25),
    ],
)
def test_ranges_are_proved(words, low, high):
    found = enclosure(parse(words), {"p": (0, 1), "q": (0, 1)})
    assert found == pytest.approx((low, high), abs=1e-15)


@pytest.mark.parametrize(
    "words",
    ["max(log(p), 2)", "0 * (1 / p)", "min(1, exp((p - q) ^ (q - 2)))", "any(2 * p, q) ^ 0"],
)
def test_what_may_have_no_value_is_never_proved(words):
    assert enclosure(parse(words), {"p": (0, 1), "q": (0, 1)}) == (-np.inf, np.inf)


def test_what_is_proved_is_not_refused_for_its_last_digit():
    attack = rb.loads(small({"n": "p + (1 - p) * q + 0 * r"}))
    assert not [p for p in rb.check(attack) if "proved" in p.message]
    ps = np.random.default_rng(7).random(2000)
    found = rb.sweep(attack, "risk", {"p": ps, "q": [1.0]})["probability"]
    assert found.max() <= 1
    assert found.min() >= 1 - 1e-12


def test_any_keeps_the_digits_of_small_chances():
    attack = rb.loads(small({"n": "any(p, 150) + 0 * q * r"}))
    for p in (1e-18, 1e-12, 3e-7, 0.01, 1.0):
        true = 1 - (1 - Fraction(p)) ** 150
        found = float(rb.ask(attack, "risk", set={"p": p}))
        assert found == pytest.approx(float(true), rel=1e-14)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("1 - (1 - p", "column 11: the bracket of column 5 is not closed"),
        ("p q", 'column 3: "q" follows without + - * / or ^ in between'),
        ("p ** 2", "column 3: ** is written ^ here"),
        ("$p", "column 1: names stand bare in a formula, without $"),
        ("p +", "column 4: a name, a number or a bracket is missing"),
        ("p * / 2", 'column 5: a name, a number or a bracket is missing before "/"'),
        ("p)", "column 2: closes a bracket that was never opened"),
        ("any(p)", "column 1: any takes 2 arguments and has 1"),
        ("mx(p, 2)", 'column 1: no function "mx"; did you mean "max"?'),
        ("exp + p", "column 1: exp is a function: write exp(...)"),
        ("p < 1", 'column 3: "<" has no meaning here'),
        ("__import__('os')", 'column 1: no function "__import__"'),
        ("p.real", 'column 2: "." has no meaning here'),
        ("p, q", "column 2: a comma stands only between the arguments of a function"),
        ("1 - pp", 'column 5: no parameter, column or number "pp"'),
        ("1 - event", "column 5: event is a node; counts and sums of nodes are kinds of nodes"),
        ("0.5", "reads no parameter and no column: write it under parameters, with its source"),
        ("1e999 * p", "column 1: 1e999 is not a finite number"),
        ("(" * 70 + "p" + ")" * 70, "is nested more than 60 deep"),
        ("p + 1", "is 1.25, which is no probability at p=0.25"),
        ("log(p - 0.25)", "has no value at p=0.25"),
    ],
)
def test_what_is_wrong_is_said_with_its_column(words, message):
    with pytest.raises(rb.ModelError, match=re.escape(message)) as error:
        rb.loads(small({"n": f'"{words}"'}))
    assert "numbers.n" in str(error.value)


@given(st.text(alphabet="pq12.+-*/^(),$ anymixe", max_size=30))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_formula_or_is_refused(words):
    try:
        found = parse(words)
    except rb.errors.UsageError as problem:
        said = str(problem)
    else:
        said = f"column {found.at}"
    assert "column" in said or "empty" in said


def test_a_circle_of_numbers_is_refused_by_name():
    numbers = {"n": "1 - m", "m": "k * p", "k": "n ^ 2 + q + r"}
    with pytest.raises(rb.ModelError, match="the numbers go in a circle: n -> m -> k -> n") as e:
        rb.loads(small(numbers))
    assert len(e.value.problems) == 1


# -- what cannot be proved is checked where it is used ---------------------------------------------


def test_what_cannot_be_proved_warns_and_is_refused_where_it_leaves_its_range():
    attack = rb.loads(small({"n": "p + q + 0 * r"}))
    (warning,) = [p for p in rb.check(attack) if p.where == ("numbers", "n", "is")]
    assert "can be proved to lie only from 0 to 2" in warning.message
    assert float(rb.ask(attack, "risk", set={"p": 0.75})) == 1.0
    message = "the number n = p [+] q [+] 0 [*] r is 1.05, which is no probability at p=0.8, q=0.25"
    with pytest.raises(rb.ModelError, match=message):
        rb.ask(attack, "risk", set={"p": 0.8})
    bar = rb.tornado(attack, "risk")["p"]
    assert bar.high == pytest.approx(0.75)
    assert "range ends at 0.75" in bar.notes[0]
    with pytest.raises(rb.UsageError, match=r"is [0-9.]+, which is no probability"):
        rb.uncertainty(attack, "risk", over=["p", "q"], draws=10)


HUMP = small({"n": "4.1 * p * (1 - p) + 0 * r"}).replace(
    "[{p: {yes: $n, no: rest}}]}", "[{p: {yes: $n, no: rest}}]}\n"
    "  both: {parents: [event], cpd: {kind: probability, p: $q, only_if: [event]}}",
)  # fmt: skip


def test_a_number_that_leaves_its_range_in_the_middle_is_found():
    """At both ends all is well, and times q = 1/4 no answer shows it."""
    attack = rb.loads(HUMP)
    bar = rb.tornado(attack, "both=yes")["p"]
    assert bar.high == pytest.approx(0.5 - np.sqrt(0.25 - 1 / 4.1), abs=1e-6)
    assert bar.highest == pytest.approx(0.25, abs=1e-6)
    assert "range ends at" in bar.notes[0]
    for over in (["p"], ["p", "q"]):
        with pytest.raises(rb.errors.UsageError, match=r"is 1[0-9.]+, which is no probability"):
            rb.whatif.uncertainty(attack, "both=yes", over=over, draws=10)
    assert rb.whatif.uncertainty(attack, "both=yes", over={"p": (0.1, 0.3)}, draws=10)
    with pytest.raises(rb.ModelError, match=r"n = .* is 1\.025, which is no probability at p=0\.5"):
        rb.sweep(attack, "both=yes", {"p": [0.4, 0.5]})


def test_a_condition_between_parameters_proves_a_share():
    more = (
        "  leaked: {value: 5, range: [0, 10], unit: records, source: assumption}\n"
        "  records: {value: 10, range: [5, 20], unit: records, source: assumption}\n"
    )
    share = small({"n": "leaked / records + 0 * p * q * r"}, more=more)
    assert any("proved" in p.message for p in rb.check(rb.loads(share)))
    attack = rb.loads(share.replace("numbers:", 'where: ["leaked <= records"]\nnumbers:'))
    assert not any("proved" in p.message for p in rb.check(attack))
    with pytest.raises(rb.UsageError, match="leaked <= records does not hold at leaked=10"):
        rb.ask(attack, "risk", set={"leaked": 10, "records": 9})


def test_a_sum_of_unlike_units_is_a_warning_and_a_unit_is_worked_out():
    more = "  fine: {value: 100, unit: euro, source: assumption}\n"
    attack = rb.loads(
        small({"n": "p * q * r", "loss": '"-fine * p"', "odd": "fine + p"}, more=more)
    )
    assert attack.derived.units["loss"] == "euro"
    assert attack.derived.units["n"] == "probability"
    said = [p.message for p in rb.check(attack)]
    assert "column 6: adds euro to probability" in said


def test_a_literal_without_a_source_counts_as_an_assumption():
    told = rb.loads(small({"n": '{is: "any(p, 150) * q * r", source: "survey of 2020, p. 5"}'}))
    assert "n" not in told.assumptions
    untold = rb.loads(small({"n": "any(p, 150) * q * r"}))
    assert "n" in untold.assumptions
    assert any("holds 150 without a source" in p.message for p in rb.check(untold))
    assert "n" in rb.attack.assumptions_behind(untold, ["event"])


# -- what-if stays exact ---------------------------------------------------------------------------

CHAIN = (
    HEAD
    + """parameters:
  p: {value: 0.3, source: assumption}
  q: {value: 0.6, source: assumption}
numbers:
  twice: 1 - (1 - p) ^ 2
  deep: {is: twice ^ 3 * q + (1 - q) * p, unit: probability}
nodes:
  a: {rows: [{p: {yes: $deep, no: rest}}]}
  b: {parents: [a], rows: [{when: {a: yes}, p: {yes: $twice, no: rest}}, {p: {yes: $p, no: rest}}]}
  c: {parents: [a, b], cpd: {kind: noisy-or, weights: {a: $deep, b: $q}, leak: $twice}}
questions: {risk: {target: c=yes}}
"""
)


def test_degrees_multiply_through_and_what_if_is_exact():
    attack = rb.loads(CHAIN)
    case = rb.whatif.case_of(attack, "risk")
    # a: 6; b: max(2, 1) and its cells are apart, so 2 + 1; c: deep 6 and twice 2, all in one cell.
    assert case.degree("p") == 6 + 3 + 8
    assert case.degree("q") == 1 + 0 + 2
    assert case.degree("twice") == 3 + 1 + 4
    assert case.degree("deep") == 2
    bars = rb.tornado(attack, "risk")
    assert {b.parameter for b in bars} == {"p", "q", "twice", "deep"}
    assert {b.method for b in bars} == {"exact polynomial"}
    for b in bars:
        for end, told in ((b.low, b.at_low), (b.high, b.at_high)):
            asked = rb.ask(attack, "risk", set={b.parameter: end})
            assert told == pytest.approx(float(asked), abs=1e-13)
    for name in ("p", "q"):
        response = rb.whatif.responses(case, [name])[name]
        for x in (Fraction(1, 7), Fraction(9, 11)):
            joint, _ = Model.read(CHAIN, set={name: x}).ask({"c": "yes"})
            assert float(response.values(np.array([float(x)]))[0, 0]) == pytest.approx(
                float(joint), abs=1e-13
            )


def test_150_acquaintances_are_an_exact_polynomial():
    attack = rb.loads(small({"n": "any(p, 150) * q * r"}))
    bar = rb.tornado(attack, "risk")["p"]
    assert bar.method == "exact polynomial"
    found = rb.solve(attack, "risk", "p", 0.03)
    assert float(rb.ask(attack, "risk", set={"p": found.values[0]})) == pytest.approx(0.03)


def test_an_exponent_that_may_grow_counts_with_the_largest_it_may_be():
    more = "  n: {value: 2, range: [0, 7], unit: people, source: assumption}\n"
    attack = rb.loads(small({"m": "any(p, n) * q * r"}, cell="$m", more=more))
    case = rb.whatif.case_of(attack, "risk")
    assert case.degree("p") == 7
    assert case.degree("n") is None
    assert case.degree("q") == 1
    found = rb.whatif.sobol(attack, "risk", over=["p", "n"])
    total = [1 - (1 - Fraction(i, 3000)) ** n for n in range(8) for i in range(0, 3001, 3)]
    assert found.mean == pytest.approx(float(sum(total) / len(total)) / 16, abs=1e-3)


def test_uncertainty_is_exact_through_a_number_and_numbers_have_no_prior():
    attack = rb.loads(CHAIN)
    found = rb.whatif.uncertainty(attack, "risk", draws=100)
    grid = [Fraction(2 * i + 1, 40) for i in range(20)]
    mean = sum(
        Model.read(CHAIN, set={"p": x, "q": y}).ask({"c": "yes"})[0]
        for x in grid
        for y in (Fraction(2 * i + 1, 10) for i in range(5))
    ) / (20 * 5)
    assert found.method == "exact"
    assert found.mean == pytest.approx(float(mean), abs=2e-3)
    with pytest.raises(rb.UsageError, match=r"deep is derived .* vary p, q"):
        rb.whatif.uncertainty(attack, "risk", over=["deep"], draws=10)


# -- a number can be held at a value ---------------------------------------------------------------


def test_a_number_that_is_set_no_longer_follows():
    attack = rb.loads(CHAIN)
    one, two = (rb.ask(attack, "risk", set={"twice": 0.5, "p": p}) for p in (0.1, 0.1))
    assert float(one) == float(two)
    deep = 0.5**3 * 0.6 + 0.4 * 0.1
    b = 0.5 * deep + 0.1 * (1 - deep)
    held = rb.ask(attack, "b=yes", set={"twice": 0.5, "p": 0.1})
    assert float(held) == pytest.approx(b, abs=1e-15)
    with pytest.raises(rb.UsageError, match=r"twice=1\.5 is not a probability"):
        rb.ask(attack, "risk", set={"twice": 1.5})
    assert rb.sweep(attack, "risk", {"deep": [0, 0.5, 1]})["probability"].is_monotonic_increasing
    with pytest.raises(rb.UsageError, match='has no parameter "twise"; did you mean "twice"'):
        rb.ask(attack, "risk", set={"twise": 0.5})


def test_a_copy_has_no_other_value_for_what_follows():
    with pytest.raises(rb.errors.UsageError, match=r"twice is derived .* ask with set="):
        rb.loads(CHAIN).with_values({"twice": 0.5})


def test_comparing_tells_a_number_that_one_side_holds():
    attack = rb.loads(CHAIN)
    one = rb.whatif.case_of(attack, "risk")
    two = rb.whatif.case_of(attack, "risk", set={"twice": 0.9})
    found = rb.compare(one, two)
    assert [s.change.split(":")[0] for s in found.steps] == ["twice"]
    assert found.answer_after - found.answer_before == pytest.approx(found.steps[0].alone)


# -- columns ---------------------------------------------------------------------------------------

PEOPLE = (
    HEAD
    + """parameters:
  p_try: {value: 0.5, source: assumption}
subject:
  class_size: {per: known, unit: records, range: [1, 1000]}
  skill: {each: known, unit: probability, range: [0, 1]}
numbers:
  hit: {is: p_try / class_size, unit: probability}
  known_well: skill ^ 2 * p_try
groups:
  known: {members: [age, town], probability: $known_well}
nodes:
  found: {parents: [known], cpd: {kind: probability, p: $hit}}
questions: {risk: {target: found=yes}}
example: {class_size: [100, 10, 20, 2], skill: [0.5, 1]}
"""
)


def test_a_number_may_differ_by_person_by_subset_and_by_member():
    attack = rb.loads(PEOPLE)
    age, town = Fraction(1, 8), Fraction(1, 2)
    sizes = (100, 10, 20, 2)
    chances = ((1 - age) * (1 - town), age * (1 - town), (1 - age) * town, age * town)
    true = sum(p / (2 * k) for p, k in zip(chances, sizes, strict=True))
    assert float(rb.ask(attack, "risk")) == pytest.approx(float(true), abs=1e-15)
    assert float(Model.read(PEOPLE).ask({"found": "yes"})[0]) == pytest.approx(float(true))
    for engine in ("enumeration", "pgmpy"):
        assert float(rb.ask(attack, "risk", engine=engine)) == pytest.approx(float(true), abs=1e-12)
    assert not rb.crosscheck(attack, "risk", draws=20_000, seed=3).failed
    assert rb.tornado(attack, "risk")["p_try"].method == "exact polynomial"
    with pytest.raises(rb.UsageError, match="hit differs from person to person"):
        rb.ask(attack, "risk", set={"hit": 0.1})
    people = {"class_size": [[4, 2, 2, 1], [8, 8, 8, 8]], "skill": [[1, 1], [0, 0]]}
    own = np.asarray(rb.ask(attack, "risk", subject=people).probability)
    alone = [
        float(rb.ask(attack, "risk", subject={k: [v[i]] for k, v in people.items()}).probability)
        for i in (0, 1)
    ]
    assert own.ravel() == pytest.approx(alone, abs=1e-15)


def test_a_persons_value_is_never_told():
    words = PEOPLE.replace("p_try / class_size", "p_try * 3 * class_size / class_size - 0 * p_try")
    attack = rb.loads(words.replace("p_try: {value: 0.5", "p_try: {value: 0.25"))
    with pytest.raises(rb.ModelError, match="for somebody") as error:
        rb.ask(attack, "risk", set={"p_try": 0.5})
    assert not re.search(r"\b(100|1\.5)\b", str(error.value))


def test_a_column_of_a_group_behind_a_number_needs_that_group():
    words = PEOPLE.replace("questions:", "  odd: {cpd: {kind: probability, p: $hit}}\nquestions:")
    with pytest.raises(rb.ModelError, match="@class_size has one value per subset of known, which"):
        rb.loads(words)


def test_an_assessment_works_a_number_out_for_everybody():
    attack = rb.load("adversary-routes")
    people = rb.read_table(
        rb.datasets.synthetic_patients(60, seed=1), quasi_identifiers=["age", "sex", "state"]
    )
    number = rb.attack.Number("right", "1 / class_size", unit="probability")
    guess = rb.cpd.Probability("$right")
    node = rb.Node("right_guess", ("no", "yes"), guess, attack.nodes["right_guess"].parents)
    other = attack.replace(
        numbers=[number], nodes=attack.nodes.replace(node), questions=[attack.questions["risk"]]
    )
    one, two = (rb.assess(a, people, population=1000) for a in (attack, other))
    entry = next(e for e in register(two) if e.name == "right")
    assert entry.source == "derived: 1 / class_size"
    assert entry.value == "differs by person probability"
    risks = one.people["overall"].to_numpy()
    assert two.people["overall"].to_numpy() == pytest.approx(risks, abs=1e-12)


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [CHAIN, PEOPLE])
def test_files_with_numbers_are_written_as_they_are_read(words):
    attack = rb.loads(words)
    again = rb.loads(rb.dumps(attack))
    assert again == attack
    assert rb.dumps(again) == rb.dumps(attack)
    other = attack.replace(
        numbers=[rb.attack.Number(n.name, f"0 + {n.formula}") for n in attack.numbers.values()]
    )
    assert other != attack


def test_a_short_form_a_long_form_and_python_are_one():
    short, long = (rb.loads(small({"n": form})) for form in ("p * q * r", '{is: "p * q * r"}'))
    assert short == long
    assert rb.attack.Number("n", "p * q * r") == short.numbers["n"]


def test_numbers_stand_in_the_drawing_and_in_what_is_exported():
    attack = rb.loads(CHAIN)
    assert "derived: 1 - (1 - p) ^ 2" in rb.draw(attack).svg
    from reidbn.inference.interchange import export_text

    assert "number twice = 1 - (1 - p) ^ 2 = 0.51" in export_text(attack, "bif")


def test_a_function_may_read_a_number():
    def event(n):
        return n / 2

    attack = rb.loads(small({"n": "p * q * r"}))
    node = rb.Node.from_function(event)
    own = attack.replace(nodes=[node])
    assert float(rb.ask(own, "event=yes")) == pytest.approx(0.25**3 / 2)
    assert rb.whatif.case_of(own, "event=yes").matters("p")


def test_a_condition_may_compare_formulas():
    words = small({"n": "p + q + 0 * r"}).replace(
        "numbers:", 'where: ["p + q <= 1", "n >= 0.1"]\nnumbers:'
    )
    attack = rb.loads(words)
    with pytest.raises(rb.UsageError, match=r"p [+] q <= 1 does not hold at p=0.8, q=0.25"):
        rb.ask(attack, "risk", set={"p": 0.8})
    found = rb.sweep(attack, "risk", {"p": [0.5, 0.8]}, impossible="null")["probability"]
    assert found[0] == 0.75
    assert np.isnan(found[1])
    with pytest.raises(rb.UsageError, match="does not hold"):
        rb.whatif.uncertainty(attack, "risk", over=["p", "q"], draws=10)
    narrow = {"p": (0.1, 0.5), "q": (0.1, 0.5)}
    assert rb.whatif.uncertainty(attack, "risk", over=narrow, draws=10).method == "exact"
    with pytest.raises(rb.ModelError, match=r"n >= 0\.1 does not hold at n=0"):
        rb.loads(words.replace("0.25", "0"))


CONTRACT = """schema_version: 1
name: contract
parameters:
  p_ill: {value: 0.001, source: assumption}
  fine: {value: 1000, unit: euro, source: assumption}
  leaked: {value: 4, range: [1, 5], unit: records, source: assumption}
  records: {value: 9, range: [5, 10], unit: records, source: assumption}
  p_confirms: {measured: {hits: 241, trials: 579}, source: "..."}
  p_tries: {elicited: [{expert: A, quantiles: {0.05: 0.01, 0.5: 0.05, 0.95: 0.2}}, {expert: B,
    quantiles: {0.1: 0.02, 0.9: 0.3}}], pool: linear, source: "..."}
numbers:
  p_any: {is: "1 - (1 - p_ill) ^ 150", story: At least one of 150 acquaintances is ill}
  loss: "-fine"                               # short form
where: ["leaked <= records"]
nodes:
  tries: {cpd: {kind: probability, p: $p_tries}}
  known: {parents: [tries], cpd: {kind: probability, p: $p_any, only_if: [tries]}}
  named: {parents: [known], cpd: {kind: probability, p: $p_confirms, only_if: [known]}}
  leak: {cpd: {kind: share, part: $leaked, whole: $records}}
questions: {risk: {target: named=yes}}
"""


def test_the_words_of_the_contract_load_as_they_stand():
    attack = rb.loads(CONTRACT)
    means = [attack.parameters[n].value for n in ("p_tries", "p_confirms")]
    chance = means[0] * means[1] * (1 - 0.999**150)
    assert float(rb.ask(attack, "risk")) == pytest.approx(chance, rel=1e-12)
    assert attack.derived.units["loss"] == "euro"
    assert rb.loads(rb.dumps(attack)) == attack
    found = rb.whatif.uncertainty(attack, "risk", over=["p_tries", "p_confirms"], draws=1000)
    assert found.mean == pytest.approx(chance, rel=1e-9)
    swings = {bar.parameter for bar in rb.tornado(attack, "risk") if bar.swing > 0}
    assert swings == {"p_tries", "p_confirms", "p_ill", "p_any"}


@pytest.mark.parametrize("voter", [0.3, 0.30487804878, 0.1 + 0.2])
def test_a_number_that_does_not_move_is_proved_though_its_enclosures_cross_by_rounding(voter):
    attack = rb.attack.loads(f"""
schema_version: 1
name: x
title: t
story: s
sources: [me]
parameters:
  p_any: {{value: 0.37, range: [0, 1], source: assumption}}
  p_phone: {{value: 0.5, range: [0.2, 0.9], source: assumption}}
  p_voter: {{value: {voter!r}, range: [0, 1], source: assumption}}
  other: {{value: 0.5, range: [0, 1], source: assumption}}
numbers:
  p_both: "p_any + (1 - p_any) * p_voter * (1 - p_phone)"
nodes:
  a: {{cpd: {{kind: probability, p: $p_both}}}}
  b: {{cpd: {{kind: probability, p: $other}}}}
  hit: {{parents: [a, b], cpd: {{kind: and}}}}
questions: {{risk: {{target: hit=yes}}}}
""")
    found = rb.whatif.uncertainty(attack, "risk", over={"other": None}, draws=200)
    both = 0.37 + 0.63 * voter * 0.5
    assert found.mean == pytest.approx(both * 0.5, rel=1e-9)


def test_no_range_of_a_derived_number_ends_at_minus_nought():
    attack = rb.attack.loads("""
schema_version: 1
name: m
parameters:
  fine: {value: 0, range: [0, 100], unit: euro, source: assumption}
  p: {value: 0.5, source: assumption}
numbers: {loss: "-fine", less: "p / (2 - loss)"}
nodes:
  a: {cpd: {kind: probability, p: $less}, source: assumption}
questions: {risk: {target: a=yes}}
""")
    bar = next(b for b in rb.tornado(attack).bars if b.parameter == "loss")
    assert (bar.low, bar.high, bar.value) == (-100, 0, 0)
    assert "-0.0" not in str((bar.low, bar.high, bar.value))
    assert "-100..0:" in str(rb.tornado(attack))
