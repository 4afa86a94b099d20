"""The shipped models answer what they always did, and what a pencil says."""

import json
import re
from fractions import Fraction
from math import comb

import golden
import golden_leak
import pytest

import reidbn as rb

SIZES = [1000, 40, 480, 18, 250, 9, 120, 4, 60, 3, 30, 1, 14, 1, 7, 1]
UNIQUE = ["0", "0", "0", "0.01", "0", "0.02", "0", "0.05",
          "0", "0.06", "0", "0.1", "0", "0.25", "0", "0.6"]  # fmt: skip
HALF = Fraction(1, 2)
WITH_A_PENCIL = ["adversary-routes", "breakfast", "journalist", "leak-single", "marketer",
                 "prosecutor"]  # fmt: skip


def by_hand(model: str) -> dict[str, Fraction]:
    """The answers in rationals, from the stories and not from the graphs."""
    if model in golden_leak.MODELS:
        return golden_leak.MODELS[model]()
    U = Fraction(sum(a == 1 for a in SIZES), 16)
    J = sum(Fraction(r) for a, r in zip(SIZES, UNIQUE, strict=True) if a == 1) / 16
    M = sum(Fraction(1, a) for a in SIZES) / 16
    if model == "adversary-routes":  # mathematics, section 2, with every parameter one half
        missed = (1 - U) - HALF * (M - U) + Fraction(3, 4) * HALF * (U - HALF * J)
        return {"risk": 1 - missed, "prosecutor": U, "journalist": J, "marketer": M}
    if model == "prosecutor":
        return {"risk": U / 4, "risk_if_membership_is_known": U / 2, "unique": U}
    if model == "journalist":
        return {"risk": J / 2, "unique": J, "everything_known": Fraction("0.6") / 2}
    if model == "marketer":
        return {"risk": M / 2, "right": M, "nothing_known": Fraction(1, 2000)}
    if model == "leak-single":  # the target is in the leak and guessed among h that look alike
        none = Fraction(comb(9995, 4000), comb(10_000, 4000))
        return {"risk": (1 - none) / 5}
    overheard = HALF * Fraction(1, 5)
    here_unheard = HALF * Fraction(4, 5)
    return {
        "risk": overheard * HALF / 5,
        "risk_if_overheard": HALF / 5,
        "was_it_you": here_unheard / (1 - overheard),
    }


@pytest.mark.parametrize("model", rb.models())
def test_answers_are_the_golden_ones(model):
    kept = json.loads((golden.FOLDER / f"{model}.json").read_text(encoding="utf-8"))
    found = golden.answers(model)
    assert found["answers"].keys() == kept["answers"].keys()
    for name, answer in found["answers"].items():
        assert answer == {
            **kept["answers"][name],
            "probability": pytest.approx(kept["answers"][name]["probability"], rel=1e-12),
            "evidence_probability": pytest.approx(
                kept["answers"][name]["evidence_probability"], rel=1e-12
            ),
        }


@pytest.mark.parametrize("model", WITH_A_PENCIL)
def test_golden_answers_are_right_in_rationals(model):
    kept = json.loads((golden.FOLDER / f"{model}.json").read_text(encoding="utf-8"))["answers"]
    truth = by_hand(model)
    assert kept.keys() == truth.keys()
    for name, exact in truth.items():
        assert kept[name]["probability"] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("model", rb.models())
def test_every_shipped_model_tells_its_story_and_names_its_sources(model):
    attack = rb.load(model)
    assert attack.name == model
    assert attack.title
    assert attack.story
    assert re.search(r" Assumed: [^.]+\.$", attack.story)
    assert attack.shelf
    assert attack.sources
    assert attack.questions
    assert all(p.source and p.story for p in attack.parameters.values())
    assert all(n.story for n in attack.nodes.values())
    needed = {*attack.subject}
    assert needed == {*attack.example}


def test_breakfast_is_one_in_a_hundred_and_staying_at_home_helps():
    assert float(rb.ask("breakfast", "identified=yes")) == pytest.approx(0.01, rel=1e-12)
    assert float(rb.ask("breakfast", "identified=yes", do={"breakfast": "no"})) == 0
    alone = rb.ask("breakfast", "identified=yes", set={"alike": 1})
    assert float(alone) == pytest.approx(0.05, rel=1e-12)
