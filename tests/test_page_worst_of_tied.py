"""The page's highest answer of policies that are worth the same, against every policy there is."""

import json

import numpy as np
import pytest
from scripts import answered, needs_browser, needs_scripts

import reidbn as rb
from tests.decision_oracle import Diagram
from tests.test_decide import small
from tests.test_page_alive import use
from tests.test_page_engine import held_of
from tests.test_worst_of_tied import SWEPT

CLOSE = 1e-12


def asked(rng):
    """A random diagram with ties and two questions, one of them with evidence."""
    words, _ = small(rng, ties=True)
    file = json.loads(words)
    given = {str(rng.choice([*file["nodes"]])): str(rng.choice(["no", "yes"]))}
    given = {n: s for n, s in given.items() if n != "e0"}
    if given:
        file["questions"]["other"] = {"target": "e0=yes", "given": given}
    return json.dumps(file)


def compared(diagrams, seed, folder):
    """How many answers were held against all policies, and how many of them another is above."""
    rng = np.random.default_rng(seed)
    jobs, wanted = [], []
    while len(jobs) < diagrams:
        words = asked(rng)
        attack, diagram = rb.loads(words), Diagram.read(words)
        try:
            held = held_of(attack)
        except rb.UsageError:  # decided together
            continue
        cases = [{"question": i, "set": {}, "see": {}, "do": {}}
                 for i in range(len(held["questions"]))]  # fmt: skip
        jobs.append({"payload": held, "cases": cases})
        ends = [_ends(diagram, q["given"]) for q in held["questions"]]
        wanted.append((words, ends, [bool(q["order"]) for q in held["questions"]]))
    checked = above = 0
    for (words, ends, ordered), found in zip(wanted, answered(jobs, folder), strict=True):
        for end, one, has_order in zip(ends, found, ordered, strict=True):
            if one["value"] is None or end is None:
                continue
            high, low = map(float, end)
            assert low - CLOSE <= one["value"] <= high + CLOSE, words
            if not has_order:
                assert one["worst"] is None
                continue
            assert one["worst"] == pytest.approx(high, abs=CLOSE), words
            checked += 1
            above += high > one["value"] + CLOSE
    return checked, above


def _ends(diagram, given):
    """The highest and the lowest answer of the best policies; None where none can show this."""
    try:
        return diagram.highest({"e0": "yes"}, dict(given))
    except ValueError:  # the largest of nothing
        return None


@needs_scripts
def test_the_page_finds_the_highest_of_tied_policies(tmp_path):
    checked, above = compared(30, 6, tmp_path)
    assert checked > 25
    assert above > 3


@needs_scripts
@pytest.mark.slow
def test_the_page_finds_the_highest_of_tied_policies_of_many(tmp_path):
    checked, above = compared(300, 7, tmp_path)
    assert checked > 250
    assert above > 30


@needs_scripts
def test_what_is_done_or_seen_beside_the_question_is_the_librarys_or_left_open(tmp_path):
    attack = rb.loads(SWEPT)
    cases = [{"question": 0, "set": {"p": 0.5, "fee": fee}, "see": see, "do": do}
             for fee in (4, 5, 6) for see, do in (({}, {}), ({}, {"way": "web"}),
                                                  ({"found": "yes"}, {}))]  # fmt: skip
    (told,) = answered([{"payload": held_of(attack), "cases": cases}], tmp_path)
    for case, found in zip(cases, told, strict=True):
        if case["see"]:
            assert found["worst"] is None
            continue
        answer = rb.ask(attack, "risk", set=case["set"], do=case["do"])
        worst = float(answer) if answer.worst is None else float(np.ravel(answer.worst)[0])
        assert found["worst"] == pytest.approx(worst, abs=CLOSE)
    assert told[3]["worst"] == pytest.approx(0.25)
    assert told[3]["value"] == pytest.approx(0.125)


@needs_browser
@pytest.mark.slow
def test_the_page_says_the_highest(tmp_path):
    file = tmp_path / "swept.yaml"
    file.write_text(SWEPT)
    (said,) = use(str(file), 'told.push(paper.querySelector(".answer .note, .note").textContent);',
                  tmp_path)  # fmt: skip
    assert "of all policies that are, the highest answer is 25.0\xa0%" in said
