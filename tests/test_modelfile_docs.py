"""The page about model files says what is true."""

import re
from pathlib import Path

import pytest

import reidbn as rb
from reidbn.attack import json_schema
from reidbn.cpds import shipped_kinds

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "model-files.md").read_text(
    encoding="utf-8"
)
EXAMPLE = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1]


def test_the_worked_example_loads_and_is_in_the_layout_that_we_write():
    assert rb.dumps(rb.loads(EXAMPLE)) == EXAMPLE


def test_the_worked_example_answers_what_the_page_says():
    attack = rb.loads(EXAMPLE)
    by_hand = 0.1 * (0.28 / 500 + 0.42 / 20 + 0.12 / 40 + 0.18 / 2)
    risk = float(rb.ask(attack, "named=yes"))
    assert risk == pytest.approx(by_hand, rel=1e-12)
    given = float(rb.ask(attack, "named=yes", given={"knows_age": "yes"}))
    said = re.search(r"answers (0\.\d+), about 1 in (\d+); given .* it is (0\.\d+)\.", PAGE)
    assert [f"{risk:.4f}", f"{1 / risk:.0f}", f"{given:.4f}"] == list(said.groups())


def test_every_kind_is_in_the_table_with_its_fields():
    rows = dict(re.findall(r"^\| `([a-z-]+)` \|([^|]*)\|", PAGE.split("## Kinds")[1], re.MULTILINE))
    definitions = json_schema()["$defs"]
    assert set(rows) == set(shipped_kinds())
    for kind, made_of in shipped_kinds().items():
        fields = set(definitions[made_of.__name__]["properties"]) - {"kind"}
        assert set(re.findall(r"`(\w+)`", rows[kind])) == fields


def test_every_key_of_a_file_is_explained():
    for key in json_schema()["properties"]:
        assert f"`{key}`" in PAGE


def test_the_message_on_the_page_is_the_one_that_is_given():
    wrong = EXAMPLE.replace("[0.6, 0.3]", "[0.6, 0.3, 0.1]").replace(
        "parents: [known]", "parents: [knwon]"
    )
    with pytest.raises(rb.ModelError) as caught:
        rb.loads(wrong, label="visitor.yaml")
    block = PAGE.split("## When something is wrong")[1].split("```")[1].strip()
    assert str(caught.value) == block
