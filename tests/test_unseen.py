"""What a report did not look at follows from model, table and call, and counts nobody."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.report import Telling, not_looked_at
from tests.test_result import kinds, made, people

OUT, OWN = Telling(), Telling(custodian=True)


@cache
def table(n=150, seed=2, missing=0):
    rng = np.random.default_rng(seed)
    data = {c: rng.integers(0, 4, n).astype(object) for c in ("age", "sex", "state", "illness")}
    data["age"][:missing] = None
    return rb.read_table(
        pd.DataFrame(data), quasi_identifiers=["age", "sex", "state"], sensitive=["illness"],
        missing="drop",
    )  # fmt: skip


def said(result, telling=OUT):
    return "\n".join(not_looked_at(result, telling))


def assessed(attack="adversary-routes", people=None, **asked):
    people = table() if people is None else people
    return rb.assess(attack, people, population=len(people), **asked)


def test_threats_are_those_that_no_event_of_the_model_is_about():
    base = rb.load("adversary-routes")
    text = said(assessed())
    assert "no event of adversary-routes is about: Linking, Non-repudiation" in text
    nodes = base.nodes
    tagged = base.replace(
        nodes=nodes.replace(replace(nodes["marketer"], linddun=("Linking", "Non-repudiation"))),
        excluded={"Detecting": "The register is public."},
    )
    text = said(assessed(tagged))
    assert "Linking, Non" not in text
    assert "is about: Data disclosure, " in text
    assert "Detecting, which the model adversary-routes leaves out: The register is public." in text


def test_columns_people_and_numbers_are_those_left_out():
    text = said(assessed(known=["age", "sex"], unknown=["state"]))
    assert "Columns that the attacker is taken not to know: state." in text
    assert "Secret columns, of which nothing is said here: illness." in text
    assert "not to know" not in said(assessed())
    assert "nobody measured for this release: p_m, p_fm, p_cu, p_c" in text
    measured = rb.load("adversary-routes")
    sourced = measured.parameters.replace(
        *(replace(p, source="a count of 2024") for p in measured.parameters.values())
    )
    assert "nobody measured" not in said(assessed(measured.replace(parameters=sourced)))
    still = measured.parameters.replace(replace(measured.parameters["p_m"], low=0.5, high=0.5,
                                                prior=None))  # fmt: skip
    assert "Other values of p_m: " in said(assessed(measured.replace(parameters=still)))
    assert "no range" not in text


def test_that_people_were_left_out_is_said_of_ten_and_more():
    for gone, heard in ((0, False), (9, False), (10, True), (40, True)):
        result = rb.leak.assess(table(missing=gone), leaked=20)
        assert ("people with missing cells" in said(result).lower()) is heard
        assert ("people with missing cells" in said(result, OWN).lower()) is (gone > 0)


def test_models_of_the_population_and_scenarios_are_the_others():
    text = said(assessed())
    assert "than log-linear: pitman," in text
    assert "log-linear," not in text
    assert "worst-case" not in text.partition("not asked: ")[2].partition("\n")[0]
    other = said(assessed(population_model="pitman", known=["age", "sex", "state"]))
    assert "than pitman: pitman-bayes" in other
    assert "log-linear" in other


@pytest.mark.parametrize("kind", kinds())
def test_every_result_says_it_and_counts_nobody(kind):
    result = made(kind)
    lines = not_looked_at(result, OUT)
    assert lines == not_looked_at(result, OWN)
    assert not any(char.isdigit() for char in "".join(lines))
    assert any("LINDDUN" in line for line in lines)
    assert any(line.startswith("Other questions about these people") for line in lines)
    assert result.kind == "Assessment" or "rb.assess" in lines[-1]


def test_a_sparse_table_is_told_what_can_be_asked_of_it():
    sparse = rb.read_sparse(
        {"who": [f"p{i}" for i in range(12)], "a": ["yes", "no"] * 6, "b": ["no", "yes", None] * 4},
        subject_id="who",
    )  # fmt: skip
    text = said(rb.assess("linkage", sparse))
    assert "rb.linkage" in text
    assert "rb.suda" not in text
    assert "not to know" not in text


def test_one_person_more_changes_nothing():
    both = [rb.leak.assess(people().take(range(n)), leaked=50) for n in (200, 201, 209)]
    assert len({said(one) for one in both}) == 1


def test_a_new_kind_of_result_is_about_no_threat_until_it_says_so():
    class Guess(rb.Result):
        table = None

    assert "threat types: Linking, Identifying," in said(Guess())
