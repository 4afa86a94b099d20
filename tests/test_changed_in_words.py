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


TOGETHER = {"g": (["age", "sex"], 0.4), "race": 0.6}
ASKED = {
    "assess": lambda t, known: rb.assess("prosecutor", t, known=known),
    "leak": lambda t, known: rb.leak.assess(t, leaked=30, known=known),
    "disclosure": lambda t, known: rb.disclosure(t, "diagnosis", known=known),
    "candidates": lambda t, known: rb.candidates(t, t, known=known),
}


@pytest.fixture(scope="module")
def of_three():
    frame = rb.datasets.synthetic_patients(PEOPLE, seed=1)
    return rb.read_table(
        frame, quasi_identifiers=["age", "sex", "race"], sensitive=["diagnosis"], subject_id=None
    )


def numbers(result):
    return {name: round(float(m.value), 12) for name, m in result.measures.items()}


@pytest.mark.parametrize("function", ASKED)
def test_a_column_that_nobody_knows_leaves_the_rest_of_its_group(of_three, function):
    ask = ASKED[function]
    before = ask(of_three, TOGETHER)
    after = rb.what_if(before, unknown="age")
    anew = ask(of_three, {"g": ("sex", 0.4), "race": 0.6, "age": 0})
    assert numbers(after) == numbers(anew)
    lower = ask(of_three, {"race": 0.6, "age": 0, "sex": 0})
    assert numbers(lower) != numbers(anew)
    (said,) = after.changed
    assert said in ("unknown: nothing -> age", "known columns: age, race, sex -> race, sex")
    both = rb.what_if(after, unknown="sex")
    assert numbers(both) == numbers(lower)
    assert numbers(rb.what_if(before, unknown=["sex", "age"])) == numbers(lower)


def test_a_group_that_was_left_out_may_lose_its_columns(of_three):
    before = rb.assess("prosecutor", of_three, known={"a": ("age", 0.4), "sex": 0.5, "race": 0.6})
    after = rb.what_if(rb.what_if(before, without="a", unknown="age"), unknown="race")
    alone = rb.assess("prosecutor", of_three, known={"sex": 0.5, "age": 0, "race": 0})
    np.testing.assert_array_equal(after.risk(), alone.risk())


def test_the_remedy_for_an_attribute_of_columns_together_says_what_goes_with_it(of_two, tmp_path):
    path = tmp_path / "both.yaml"
    path.write_text(
        "schema_version: 1\nkind: scenario\nname: both\ntitle: Both\nstory: Both at once.\n"
        "knows:\n  attributes:\n"
        "    g: {columns: [age, sex], chance: 0.4, source: assumption}\n"
    )
    before = rb.assess("prosecutor", of_two, scenario=rb.load_scenario(path))
    with pytest.raises(rb.UsageError, match=r'nobody knows "sex", either: .* known='):
        rb.what_if(before, unknown="age")
    kept = rb.what_if(before, known={"sex": 0.4}, unknown="age")  # as it says
    rows = rb.assess("prosecutor", of_two, known={"sex": 0.4, "age": 0}).risk()
    np.testing.assert_array_equal(kept.risk(), rows)


def test_another_release_is_said_once_and_always(of_three):
    """By its level where that changed; else that it is another one."""
    before = rb.assess("prosecutor", of_three, known=TOGETHER)
    bands = {width: {"age": rb.Bands(width)} for width in (10, 20)}
    first = rb.what_if(before, set={"p_knows_g": 0.5}, generalise={"age": 1}, hierarchies=bands[10])
    assert {*first.changed} == {"p_knows_g: 0.4 -> 0.5", "level of age: 0 -> 1"}
    other = rb.what_if(before, set={"p_knows_g": 0.5}, generalise={"age": 1}, hierarchies=bands[20])
    words, numbers = rb.compare(first, other).differs, abs(other.risk() - first.risk())
    assert numbers.max() > 0
    assert words
    again = rb.what_if(first, generalise={"age": 1}, hierarchies=bands[20])
    assert abs(again.risk() - first.risk()).max() > 0
    assert again.changed
