"""Published adversaries of the library: by hand, and as they had to be written before.

The files before are in shared/authored; where that is absent, only the hand speaks.
"""

from fractions import Fraction
from itertools import product
from math import comb

import pytest

import reidbn as rb

# Of each model: its file before, and the questions there by their names here.
BEFORE = {
    "el-emam-context": ("el-emam", {"risk": "risk", "weak": "weak"}),
    "jigsaw": ("jigsaw", {"risk": "risk", "src": "src"}),
    "netflix": ("netflix", {"risk": "risk", "r": "r"}),
    "mobility": ("mobility", {"risk": "risk", "n": "n"}),
    "composition": ("composition", {"risk": "risk"}),
    "budget": ("budget", {"risk": "risk"}),
    "motivated-intruder": ("motivated-intruder", {"risk": "risk", "which": "which"}),
}


def parts(*numbers: str) -> list[Fraction]:
    return [Fraction(x) for x in numbers]


def asked(attack, name):
    question = attack.questions[name]
    return float(rb.ask(attack, question.target, given=dict(question.given)))


@pytest.mark.parametrize("model", BEFORE)
def test_the_answers_are_those_of_the_file_before(model, authored):
    before, names = BEFORE[model]
    old = rb.load(authored / f"{before}.yaml")
    for new_name, old_name in names.items():
        assert asked(rb.load(model), new_name) == pytest.approx(asked(old, old_name), abs=1e-12)


def binomial(n: int, p: Fraction) -> list[Fraction]:
    return [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def el_emam():
    """Nobody tries: no attempt, no ill acquaintance, no breach."""
    rows = [parts("0.05", "0.1", "0.15"), parts("0.2", "0.25", "0.3"), parts("0.4", "0.5", "0.6")]
    none_ill = Fraction(comb(99_000, 150), comb(100_000, 150))
    motives = parts("0.5", "0.3", "0.2")
    attempt = [sum(m * p for m, p in zip(motives, row, strict=True)) for row in rows]
    tries = [1 - (1 - a) * none_ill * Fraction("0.73") for a in attempt]
    overall = sum(c * t for c, t in zip(parts("0.2", "0.5", "0.3"), tries, strict=True))
    return {"risk": overall / 11, "weak": tries[2] / 11}


def jigsaw():
    town = {(1, 1, 1): "0.97", (1, 1, 0): "0.9", (1, 0, 1): "0.95", (0, 1, 1): "0.9",
            (1, 0, 0): "0.7", (0, 1, 0): "0.6", (0, 0, 1): "0.5", (0, 0, 0): "0"}  # fmt: skip
    sizes = [9000, 120, 4500, 60, 300, 4, 150, 2]
    risk = paper = Fraction(0)
    for case in product((0, 1), repeat=3):
        p = Fraction(1)
        for there, chance in zip(case, parts("0.6", "0.3", "0.05"), strict=True):
            p *= chance if there else 1 - chance
        known = []
        for weights in (("0.5", "0.3", "0.9"), ("1", "0.9", "1")):
            missed = Fraction(1)
            for there, w in zip(case, parts(*weights), strict=True):
                missed *= 1 - w if there else 1
            known.append(1 - missed)
        known.append(Fraction(town[case]))
        for subset in range(8):
            q = p
            for j, chance in enumerate(known):
                q *= chance if subset >> j & 1 else 1 - chance
            risk += q / sizes[subset]
            paper += case[2] * q / sizes[subset]
    return {"risk": risk, "src": paper / risk}


def netflix():
    fits = binomial(8, Fraction("0.9"))
    risk = sum(fits[6:]) * Fraction("0.9")
    runner = dict(zip((3, 4, 5, 6), parts("0.6", "0.3", "0.08", "0.02"), strict=True))
    first = sum(binomial(7, Fraction("0.9"))[5:]) * Fraction("0.9") * Fraction("0.9")
    two = sum(p * sum(fits[k + 2 :]) for k, p in runner.items())
    return {"risk": risk, "r": first / risk, "by_two": two}


def mobility():
    p = Fraction("0.6")
    unique = [Fraction(x) for x in ("0", "0", "0.5", "0.5", "0.95", "0.95", "0.95")]
    risk = sum(a * b for a, b in zip(binomial(6, p), unique, strict=True))
    first = p * sum(a * b for a, b in zip(binomial(5, p), unique[1:], strict=True))
    return {"risk": risk, "n": first / risk}


def composition():
    left = parts("0.66", "0.26", "0.06", "0.015", "0.004", "0.0008", "0.0001")
    left.append(1 - sum(left))
    found = sum(p / (k + 1) for k, p in enumerate(left))
    # E[1 / (1 + B)] of a binomial of n: (1 - (1 - p)^(n + 1)) / ((n + 1) p)
    each = (1 - Fraction("0.95") ** 8) / (8 * Fraction("0.05"))
    return {
        "risk": Fraction("0.3") * found + Fraction("0.7") / 8,
        "if_each_by_itself": each,
    }


def budget():
    tried = [Fraction(1, 4)] * 4
    return {
        "risk": sum(p * Fraction(t, 12) for t, p in enumerate(tried)),
        "at_once": Fraction(3, 4) / 12,
    }


def motivated_intruder():
    g, r, s, t = parts("0.3", "0.15", "0.3", "0.1")
    risk = r + (1 - r) * (1 - g) * (s + (1 - s) * (1 - g) * t)
    return {"risk": risk, "which": r / risk}


HANDS = {f.__name__.replace("_", "-"): f for f in (jigsaw, netflix, mobility, composition, budget,
                                                   motivated_intruder)}  # fmt: skip
HANDS["el-emam-context"] = el_emam


@pytest.mark.parametrize("model", HANDS)
def test_the_answers_are_those_of_a_pencil(model):
    attack, truth = rb.load(model), HANDS[model]()
    assert {*truth} == {*attack.questions}
    for name, expected in truth.items():
        assert asked(attack, name) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("model", HANDS)
def test_other_engines_the_drawing_and_check_take_it(model):
    attack = rb.load(model)
    assert rb.check(model) == ()
    assert attack.shelf
    assert f"Shelf: {attack.shelf}" in rb.draw(attack).svg
    check = rb.crosscheck(attack, attack.main_question.target, draws=5_000, seed=1)
    assert check.passed


def test_the_library_shows_its_shelves():
    from click.testing import CliRunner

    from reidbn.cli import reidbn

    ran = CliRunner().invoke(reidbn, ["models", "--json"])
    assert '"shelf": "linkage"' in ran.stdout
    text = rb.dumps(rb.load("jigsaw"))
    assert "shelf: linkage" in text
    assert rb.loads(text.replace("shelf: linkage\n", "")) != rb.loads(text)


def test_one_number_of_a_source_moves_all_that_it_shows():
    """Before, age by Facebook stood in one row of seven, and a tornado understated it."""
    bars = {b.parameter: b for b in rb.tornado("jigsaw", "named=yes").bars}
    for name in ("age_facebook", "p_newspaper"):
        at = [float(rb.ask("jigsaw", set={name: x})) for x in (0.0, 1.0)]
        assert (bars[name].lowest, bars[name].highest) == pytest.approx((min(at), max(at)))
    assert rb.load("jigsaw").parameters["p_newspaper"].source == "assumption"
