"""Slips of a Python caller end in a sentence that says what would be right."""

import numpy as np
import pytest

import reidbn as rb
from reidbn.errors import ReidbnError, UsageError


@pytest.mark.parametrize("target", [3, ["identified=yes"]])
def test_a_target_that_is_no_text_is_refused_with_the_right_form(target):
    with pytest.raises(rb.UsageError, match='write "node=state"'):
        rb.ask("breakfast", target)


@pytest.mark.parametrize("name", ["given", "do"])
def test_evidence_that_is_a_list_is_refused_with_the_right_form(name):
    with pytest.raises(rb.UsageError, match="list is no state; write"):
        rb.ask("breakfast", "identified=yes", **{name: ["overheard"]})


def test_evidence_may_be_written_as_a_question_is():
    written = rb.ask("breakfast", "identified=yes", given="overheard=yes, listed=yes")
    mapped = rb.ask("breakfast", "identified=yes", given={"overheard": "yes", "listed": "yes"})
    assert float(written) == float(mapped) == pytest.approx(0.2)
    forced = rb.ask("breakfast", "identified=yes", do="overheard=yes")
    assert float(forced) == pytest.approx(0.1)


def test_a_function_in_the_place_of_its_name_is_told_how_to_write_it():
    with pytest.raises(rb.UsageError, match=r"for a function, Function\.of\(it\)"):
        rb.Function(lambda: 0.5)


@pytest.mark.parametrize("call", ["load", "check", "ask", "read_table", "load_scenario"])
@pytest.mark.parametrize("text", ["name: a\nnodes: {}\n", "age,sex\n34,F\n" * 90, "ab" * 3000])
def test_a_text_in_the_place_of_a_file_is_named_as_one_and_not_repeated(call, text):
    more = {"ask": {"target": "x=yes"}, "read_table": {"quasi_identifiers": ["age"]}}.get(call, {})
    with pytest.raises(ReidbnError) as refused:
        getattr(rb, call)(text, **more)
    assert "\n34" not in str(refused.value)
    if "\n" in text and call != "load_scenario":
        assert "the text of a" in str(refused.value)


def test_more_threads_than_any_machine_has_are_refused_before_they_are_made():
    table = {"age": [1, 2, 3] * 50, "sex": [0, 1, 0] * 50}
    with pytest.raises(UsageError, match="threads=20000: it must lie between 1 and 1024"):
        rb.contingency(table, ["age", "sex"], engine="duckdb", threads=20_000)


def test_numbers_in_the_place_of_a_question_to_people_are_refused():
    people = rb.datasets.synthetic_patients(120, seed=1)
    people = rb.read_table(people, quasi_identifiers=["age", "sex"])
    risks = rb.assess("prosecutor", people)
    with pytest.raises(UsageError):
        rb.tornado(risks, np.array([1.0, 2.0]))


def test_a_comparison_the_wrong_way_round_is_never_another_one():
    attack = rb.loads("""
schema_version: 1
name: k
nodes:
  kept: {states: 0..3, cpd: {kind: binomial, n: 3, p: 0.5}, source: assumption}
  band: {states: ["<2", ">2"], cpd: {kind: uniform}}
questions: {risk: {target: kept=2}}
""")
    for given in ("kept=>2", "kept=<2", "band=>2, kept=>1"):
        with pytest.raises(UsageError, match="was meant: the = of a comparison stands last"):
            rb.ask(attack, "kept=3", given=given)
    assert float(rb.ask(attack, "kept=3", given="band=>2")) == pytest.approx(1 / 8)
    for given in ("kept>2", {"kept": ">2"}):
        assert float(rb.ask(attack, "kept=3", given=given)) == pytest.approx(1)
