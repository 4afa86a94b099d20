"""What an editor sees with the JSON Schema, and what a terminal sees that watches a file."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.attack import json_schema, read_yaml
from reidbn.cli import reidbn
from tests.inside import inside
from tests.random_files import random_file
from tests.random_plates import plated_file

HERE = Path(__file__).resolve().parent
# Slips that stand in one place; what other places decide is for `check` to say.
SEEN = [
    "beta_without_shape", "blank_source", "dollar_forgotten", "empty_cell", "empty_nodes",
    "endless_value", "gate_without_parents", "group_chance_above_1", "group_without_members",
    "group_without_source", "impossible_name", "negative_chance", "no_source",
    "no_source_for_a_row", "no_states", "not_a_span", "parent_twice", "per_and_each",
    "probability_above_1", "question_without_state", "reference_without_rest", "rest_below_0",
    "rest_misspelt", "row_of_three", "state_twice", "state_with_comma", "two_rests",
    "unknown_state_in_p", "weight_above_1",
]  # fmt: skip


@pytest.fixture(scope="module")
def validator():
    kind = pytest.importorskip("jsonschema").Draft202012Validator
    schema = json_schema()
    kind.check_schema(schema)
    return kind(schema)


def errors(validator, text):
    return [error.message for error in validator.iter_errors(read_yaml(text).data)]


@pytest.mark.parametrize("name", SEEN)
def test_an_editor_sees_what_is_wrong_in_one_place(validator, name):
    assert errors(validator, (HERE / "broken_models" / f"{name}.yaml").read_text(encoding="utf-8"))


def test_of_all_broken_files_most_are_seen(validator):
    texts = [p.read_text(encoding="utf-8", errors="ignore")
             for p in sorted((HERE / "broken_models").glob("*.yaml"))]  # fmt: skip
    files = [text for text in texts if isinstance(read_yaml(text).data, dict)]
    seen = [text for text in files if errors(validator, text)]
    assert len(seen) >= 95, (len(seen), len(files))


@pytest.mark.wide
def test_nothing_sound_is_refused(validator):
    rng = np.random.default_rng(20261122)
    for _ in range(60):
        for text in (random_file(rng)[0], plated_file(rng)):
            assert errors(validator, text) == [], text
    for name in rb.models():
        for expanded in (False, True):
            assert errors(validator, rb.attack.dumps(rb.load(name), expanded=expanded)) == []
    words = "schema_version: 1\nname: v\nextends: leak-single\n"
    assert errors(validator, words) == []


MEASURED = """
schema_version: 1
name: m
parameters: {{p: {{measured: {measured}}}}}
nodes: {{hit: {{cpd: {{kind: probability, p: $p}}}}}}
"""


@pytest.mark.parametrize(
    ("measured", "sound"),
    [
        ("{hits: 2, trials: 5, study: a letter}", True),
        ("[{hits: 2, trials: 5, study: a}, {hits: 3, trials: 9, study: b}]", True),
        ("[{hits: 2, trials: 5, study: a}]", True),
        ("{studies: [{hits: 2, trials: 5, study: a}], between: 1}", True),
        ("[{hits: 2, study: a}]", False),
        ("{trials: 5, study: a}", False),
        ("{hits: 2, trials: 5, studies: [{hits: 2, trials: 5, study: a}]}", False),
        ("[]", False),
    ],
)
def test_counts_behind_a_number_are_seen_as_check_sees_them(validator, measured, sound):
    text = MEASURED.format(measured=measured)
    assert (not errors(validator, text)) == sound
    refused = pytest.raises(rb.ModelError, match="measured")
    with nullcontext() if sound else refused:
        rb.loads(text)


def test_the_files_of_others_are_not_refused(validator, shared):
    for path in sorted((shared / "authored").rglob("*.yaml")):
        assert errors(validator, path.read_text(encoding="utf-8")) == [], path.name


def test_a_watched_file_is_checked_and_drawn_again_after_a_change(tmp_path, monkeypatch):
    path, picture = tmp_path / "m.yaml", tmp_path / "m.svg"
    sound = rb.attack.dumps(rb.load("breakfast"))
    path.write_text(sound)
    changes = [sound + "nonsense: 1\n", None, sound, KeyboardInterrupt]
    drawn = []

    def sleep(seconds):
        drawn.append(picture.exists() and picture.unlink() is None)
        change = changes.pop(0)
        if change is KeyboardInterrupt:
            raise KeyboardInterrupt
        if change is not None:
            path.write_text(change)

    monkeypatch.setattr(inside(reidbn.get_command(None, "check").callback), "sleep", sleep)
    found = CliRunner().invoke(reidbn, ["check", str(path), "--watch", "--draw", str(picture)])
    assert found.exit_code == 0, found.output
    assert drawn == [True, False, False, True]
    assert found.output.count("drawn: ") == 2
    assert "nonsense: is no key here" in found.output
    assert found.output.count("watching") == 3


def test_watching_refuses_what_makes_no_sense(tmp_path):
    run = CliRunner().invoke
    two = run(reidbn, ["check", "breakfast", "leak-single", "--draw", "x.svg"])
    assert "picture of one model" in str(two.exception)
    both = run(reidbn, ["check", "breakfast", "--watch", "--json"])
    assert "give one of the two" in str(both.exception)
    assert json.loads(run(reidbn, ["check", "breakfast", "--json"]).output)[0]["ok"]
