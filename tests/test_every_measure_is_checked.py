"""The cross-check of an assessment compares every number that is printed."""

from dataclasses import replace

import numpy as np
import pytest

import reidbn as rb
from reidbn.errors import CrosscheckFailed


@pytest.fixture(scope="module")
def people():
    return np.random.default_rng(3).integers(0, 4, (40, 3))


@pytest.mark.parametrize("counted", ["people", "cells"])
@pytest.mark.parametrize(
    "asked",
    [
        {"known": {"a": 0.2, "b": 0.9, "c": 0.1}},
        {"known": {"a": 0.2, "b": 0.9, "c": 0.1}, "population_model": "pitman"},
        {"scenario": "controlled-release", "do": {"motive": "high"}},
    ],
)
def test_one_wrong_number_of_any_measure_fails_the_check(people, counted, asked):
    table = rb.People.from_codes(people, ["a", "b", "c"])
    if counted == "cells":
        table = rb.contingency(table)
    result = rb.assess("adversary-routes", table, population=120, **asked)
    assert "journalist_match" in result.risks
    checked = result.check(draws=1_000, subjects=1).compared
    assert checked.measures == tuple(result.risks)
    assert checked.differing == 0
    for measure, risks in result.risks.items():
        values = risks.copy()
        wrong = int(values.argmax())
        values[wrong] *= 1 - 1e-6
        alike = int(result.subject_table.counts[wrong])
        planted = replace(result, risks={**result.risks, measure: values})
        with pytest.raises(CrosscheckFailed, match=f"overall: {alike} differ"):
            planted.check(draws=1_000, subjects=1)


def test_the_expected_match_of_one_kind_of_people_is_checked():
    people = rb.People.from_codes(np.zeros((5, 2), dtype=int), ["a", "b"])
    result = rb.assess("adversary-routes", people, population=50)
    assert not result.check(draws=1_000).failed
    planted = replace(result, risks={**result.risks, "journalist_match": np.array([0.3])})
    with pytest.raises(CrosscheckFailed, match="overall: 5 differ"):
        planted.check(draws=1_000)


def test_the_expected_match_of_an_attack_without_a_group_is_checked():
    people = rb.People.from_codes(np.random.default_rng(3).integers(0, 4, (40, 2)), ["a", "b"])
    story = """\
schema_version: 1
name: guess
subject:
  class_size: {unit: records, range: [1, 1000000]}
  p_unique: {unit: probability, range: [0, 1]}
nodes:
  alone: {cpd: {kind: unique, of: "@class_size", stays: "@p_unique"}}
questions:
  risk: {target: alone=yes}
"""
    result = rb.assess(rb.loads(story), people, population=120)
    assert result.check(draws=1_000, subjects=1).compared.measures == tuple(result.risks)
    wrong = 0.99 * result.risks["journalist_match"]
    planted = replace(result, risks={**result.risks, "journalist_match": wrong})
    with pytest.raises(CrosscheckFailed, match="overall: 40 differ"):
        planted.check(draws=1_000, subjects=1)
