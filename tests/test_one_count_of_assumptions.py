"""One count of assumptions: the verdict, the register and the picture say the same."""

import json
import re

import pytest

import reidbn as rb
from reidbn.attacks import assumed, register
from reidbn.report import Telling, assumptions, threat_model


@pytest.fixture(scope="module")
def people():
    return rb.read_table(
        rb.datasets.synthetic_patients(300, seed=4),
        quasi_identifiers=["age", "sex", "state", "race"],
    )


@pytest.mark.parametrize(
    ("scenario", "columns"),
    [
        ("worst-case", {}),
        ("voter-registration", {}),
        ("social-media", {"age_decade": "age"}),
        ("who-is-attacking", {}),
        ("controlled-release", {}),
    ],
)
def test_verdict_register_and_figure_count_the_same_assumptions(people, scenario, columns):
    result = rb.assess(
        "adversary-routes", people, scenario=scenario, population=6_900_000, columns=columns
    )
    told = result.summary().assumptions
    page = assumptions(result)
    assert page.text[0].startswith(f"{len(told)} of {len(page.shown[0].rows)} entries")
    beside = threat_model(result, Telling())  # the picture
    assert page.text[0] in [line for _, lines in beside.folded for line in lines]
    names = [entry.name for entry in register(result)]
    assert len(names) == len(set(names))  # nothing is counted twice


def test_a_page_of_people_counts_as_the_report_does_and_leaves_the_models_own_chances(
    people, tmp_path
):
    """The page said "one half" of what the scenario knows for sure, and counted the model's."""
    result = rb.assess(
        "adversary-routes", people, scenario="controlled-release", population=6_900_000
    )
    text = result.page(tmp_path / "p.html", custodian=True).read_text()
    held = json.loads(re.search(r'id="held">(.*?)</script>', text, re.DOTALL)[1])
    said = [(s["name"], s["value"], s["assumed"]) for s in held["stands_on"]]
    assert said == [(e.name, e.value, e.is_assumption) for e in register(result)]
    assert sum(s["assumed"] for s in held["stands_on"]) == len(assumed(result))
    assert "one half" not in held["story"]
    assert "if they try, they know everything" in held["story"]
    assert "one half" not in " ".join(threat_model(result, Telling()).text)


def test_the_middle_settings_of_a_published_grid_are_assumptions(people):
    result = rb.assess("adversary-routes", people, population=6_900_000)
    assert {"p_m", "p_fm", "p_cu", "p_c"} <= set(assumed(result))


def test_the_account_of_a_scenario_is_counted_though_it_is_not_shared(people):
    result = rb.assess("adversary-routes", people, scenario="social-media", population=6_900_000,
                       columns={"age_decade": "age"})  # fmt: skip
    assert "account" in assumed(result)
    assert "ethnicity" not in assumed(result)  # the table has none
