"""One count of assumptions: the verdict, the register and the picture say the same."""

import json
import re

import numpy as np
import pytest
from random_files import random_file
from random_plates import plated_file

import reidbn as rb
from reidbn.attack import cards, folded
from reidbn.attacks import assumed, register
from reidbn.report import Telling, assumptions, threat_model
from tests.inside import inside

sources, folded_sources = inside(cards).sources, inside(folded).folded_sources


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
    assert said == [
        (e.name, e.value.replace(" probability", " (0 to 1)"), e.is_assumption)
        for e in register(result)
    ]
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


BY_HAND = {
    "sweeney-voter": {"zip_right", "birth", "sex"},  # members with numbers of their own
    "insider-decides": {"p_audit", "worth", "amusement", "fine", "effort", "p_curious", "p_greedy",
                        "known", "attacks"},
    "mobility": {"p_point", "points"},
    "leak-known-secret": {"p_known", "alike"},
}  # fmt: skip


def counted(attack, tmp_path):
    """The assumptions of one model: its own, those of its list, and those of picture and page."""
    lines = sources(attack)
    own = [line.name for line in lines if line.is_assumption]
    page = attack.page(tmp_path / "p.html").read_text()
    held = json.loads(re.search(r'id="held">(.*?)</script>', page, re.DOTALL)[1])
    on_page = sum(s.get("times", 1) for s in held["stands_on"] if s["assumed"])
    picture = re.search(r"Numbers and where they come from \((\w+) assumption", rb.draw(attack).svg)
    in_picture = 0 if picture is None or picture[1] == "no" else int(picture[1])
    return list(attack.assumptions), own, on_page, in_picture


@pytest.mark.parametrize("name", [*BY_HAND, "family-cascade", "linkage-family", "leak-single"])
def test_a_model_its_list_its_picture_and_its_page_count_the_same(name, tmp_path):
    attack = rb.load(name)
    names, own, on_page, in_picture = counted(attack, tmp_path)
    assert sorted(names) == sorted(own)
    assert len(names) == len(set(names)) == in_picture == on_page
    assert {*names} == BY_HAND.get(name, {*names})


PLATED = """
schema_version: 1
name: plated
repeat: {kin: [father, mother, sister, brother, aunt, uncle, cousin, niece, nephew, son, child]}
parameters: {guess: {value: 0.5, source: "Smith 2020, p. 3"}}
numbers:
  twice: "guess / 2"
  odd: "guess * 0.125"
nodes:
  tested_[kin]: {cpd: {kind: probability, p: 0.2}, source: assumption}
  found_[kin]:
    parents: ["tested_[kin]"]
    cpd: {kind: probability, p: $odd, only_if: ["tested_[kin]"]}
  other_[kin]: {cpd: {kind: probability, p: $twice}}
  any: {parents: ["found_*", "other_*"], cpd: {kind: or}}
questions: {risk: {target: any=yes}}
"""


def test_what_is_written_once_for_several_counts_for_each_and_a_name_is_no_source(tmp_path):
    """A parameter called guess made every formula over it an assumption of the list alone."""
    attack = rb.loads(PLATED)
    names, own, on_page, in_picture = counted(attack, tmp_path)
    assert len(names) == 12  # a table for each of eleven, and a number in a formula
    assert sorted(names) == sorted(own)
    assert (on_page, in_picture) == (12, 12)
    assert len(folded_sources(attack, sources(attack))) < len(sources(attack))
    assert "odd" in names
    assert not {"guess", "twice"} & {*names}


def test_every_random_file_counts_its_assumptions_once():
    rng = np.random.default_rng(12)
    assumed_tables = 0
    for i in range(40):
        text = random_file(rng)[0] if i % 2 else plated_file(rng)
        attack = rb.loads(text)
        own = [line.name for line in sources(attack) if line.is_assumption]
        assert sorted(own) == sorted(attack.assumptions), text
        folded = folded_sources(attack, sources(attack))
        assert sum(s.times for s in folded if s.is_assumption) == len(own)
        assumed_tables += len(own) - sum(p.is_assumption for p in attack.parameters.values())
    assert assumed_tables > 20
