"""Every answer against a second reading of the file, tests/yaml_oracle.py."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import reidbn as rb
from tests.random_files import random_file
from tests.yaml_oracle import Model, cells, read_target

ROOT = Path(__file__).resolve().parent.parent
MOST_WORLDS = 100_000
QUESTIONS_A_FILE = 8


def agrees(attack, model, target, given, do, most=MOST_WORLDS):
    """Ask both; the word says what was compared, or None when there are too many worlds."""
    order = model.upstream([*target, *given], do)
    if cells(model, order) > most:
        return None
    joint, evidence = model.ask(target, given, do)
    question = {"given": given, "do": do, "set": model.set}
    if evidence == 0:
        with pytest.raises(rb.ImpossibleEvidence):
            rb.ask(attack, target, **question)
        return "impossible"
    answer = rb.ask(attack, target, **question)
    assert abs(float(answer) - float(joint / evidence)) <= 1e-12
    assert abs(float(answer.evidence_probability) - float(evidence)) <= 1e-12
    return "evidence" if given else "plain"


def compare_files(files, seed):
    """Random files, eight questions each; what was compared, counted."""
    rng = np.random.default_rng(seed)
    seen = Counter()
    for _ in range(files):
        words, writer = random_file(rng)
        attack = rb.loads(words)
        for _ in range(QUESTIONS_A_FILE):
            model = Model.read(words, set=writer.settings())
            states = {n: model.states(n) for n in writer.states}
            target, given, do = writer.question(states)
            try:
                word = agrees(attack, model, target, given, do)
            except Exception as problem:
                problem.add_note(f"{words}\n{target=} {given=} {do=} set={model.set}")
                raise
            seen[word] += 1
            if word:
                seen[f"{len(model.groups)} groups"] += 1
    return seen


@pytest.mark.filterwarnings("ignore:.* counts as it")  # of random files
def test_random_files_are_answered_as_a_second_reading_answers_them():
    seen = compare_files(60, seed=20261122)
    assert min(seen["plain"], seen["evidence"], seen["impossible"], seen["3 groups"]) >= 10


@pytest.mark.filterwarnings("ignore:.* counts as it")  # of random files
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_ten_thousand_random_questions_none_wrong(seed):
    seen = compare_files(150, seed)
    assert seen["plain"] + seen["evidence"] + seen["impossible"] >= 1_000


MODELS = sorted(p for p in (ROOT / "models").glob("*.yaml"))


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_shipped_models_are_answered_as_a_second_reading_answers_them(path):
    words = path.read_text()
    if path.stem == "linkage-family":
        pytest.skip("two models in one: tests/test_linkage_family.py adds its cases up by hand")
    model = Model.read(words)
    if any(c.get("cpd", {}).get("kind", "rows").startswith(("target-", "rest-of"))
           for c in model.nodes.values()):  # fmt: skip
        pytest.skip("kinds of several targets in one leak: tests/leak_oracle.py reads those")
    if path.stem == "structured-population":
        pytest.skip("kinds of its own: tests/test_structured_cpds.py reads them in rationals")
    for question in model.file["questions"].values():
        given = {n: str(s) for n, s in question.get("given", {}).items()}
        mean = question.get("expect")
        states = model.states(mean) if mean else ()
        for target in [{mean: s} for s in states] or [read_target(question["target"])]:
            word = agrees(rb.load(path), model, target, given, {}, most=1_000_000)
            assert word or path.stem in ("linkage", "family-cascade"), question  # own tests
