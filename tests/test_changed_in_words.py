"""What `.changed` says is done to the first question, each change once, gives the second."""

import numpy as np
import pytest

import reidbn as rb

PEOPLE = 120


def two_attributes(folder, name, one, two):
    """A scenario of two attributes with these chances, each said of a column of its own name."""
    path = folder / f"{name}.yaml"
    path.write_text(
        f"""schema_version: 1
kind: scenario
name: {name}
title: Two attributes
story: Somebody may know two things.
knows:
  attributes:
    a: {{columns: [p], chance: {one}, source: assumption}}
    b: {{columns: [q], chance: {two}, source: assumption}}
"""
    )
    return rb.load_scenario(path)


@pytest.fixture(scope="module")
def of_two():
    frame = rb.datasets.synthetic_patients(PEOPLE, seed=1)[["age", "sex"]]
    return rb.read_table(frame, quasi_identifiers=["age", "sex"])


STRAIGHT, CROSSED = {"p": "age", "q": "sex"}, {"p": "sex", "q": "age"}


@pytest.mark.parametrize("chance", [None, 0.9])
def test_said_changes_made_by_themselves_give_the_same_answer(of_two, tmp_path, chance):
    """What `.changed` says is done to the first question word by word, and nothing else."""
    named = two_attributes(tmp_path, "named", 0.2, 0.7)
    before = rb.assess("prosecutor", of_two, scenario=named, columns=STRAIGHT)
    said = {} if chance is None else {"p_knows_a": chance}
    after = rb.what_if(before, columns=CROSSED, set=said)
    told = [words.split(": ") for words in after.changed]
    to = {what: change.split(" -> ")[1] for what, change in told}
    columns = {what.removeprefix("column "): new for what, new in to.items() if "column" in what}
    chances = {what: float(new) for what, new in to.items() if what.startswith("p_")}
    assert {*to} == {"column p", "column q", *said}
    assert chances == said
    again = rb.what_if(before, columns=columns, set=chances)
    assert abs(again.risk() - before.risk()).max() > 0.01
    np.testing.assert_array_equal(again.risk(), after.risk())


def test_a_chance_of_other_groups_is_named_by_its_columns(of_two):
    two, one, sure = (
        rb.assess("prosecutor", of_two, known={**known, "sex": 1})
        for known in ({"g": ("age", 0.5), "h": ("age", 0.2)}, {"h": ("age", 0.6)}, {"age": 1})
    )
    said = rb.what_if(two, known={"h": ("age", 0.6), "sex": 1})
    assert said.changed == ("chance of age: 0.2 and 0.5 -> 0.6",)
    assert rb.what_if(one, known={"k": ("age", 0.1), "sex": 1}).changed == (
        "chance of age: 0.6 -> 0.1",
    )
    assert rb.what_if(sure, known={"k": ("age", 0.1), "sex": 1}).changed == ("p_knows_k: 1 -> 0.1",)
    assert rb.what_if(two, set={"p_knows_h": 0.3}).changed == ("p_knows_h: 0.2 -> 0.3",)
    turned = rb.what_if(two, known={"g": ("age", 0.2), "h": ("age", 0.5), "sex": 1})
    np.testing.assert_allclose(turned.risk(), two.risk(), atol=1e-15)
    assert turned.changed == ()
