"""Scenario files: read whole, every problem at once, every shipped one usable."""

from collections.abc import Mapping

import numpy as np
import pytest

import reidbn as rb
from reidbn.attack import (
    FactLookup,
    Known,
    Knows,
    Listed,
    Scenario,
    load_scenario,
    read_facts,
    scenarios,
    scenarios_folder,
)

UNSPOKEN = {  # what the scenario says nothing about, or gives the table under another name
    "social-media": ["education", "marital"],
    "voter-registration": ["education", "marital", "income"],
    "voter-registration-by-group": ["education", "marital", "income"],
}
COLUMNS = ["age", "sex", "state", "race", "ethnicity", "education", "marital", "income"]


@pytest.fixture(scope="module")
def people():
    frame = rb.datasets.synthetic_patients(400, seed=5)
    return rb.read_table(frame, quasi_identifiers=COLUMNS, sensitive=["diagnosis"])


@pytest.mark.parametrize("name", scenarios())
def test_every_shipped_scenario_assesses_the_synthetic_patients(name, people):
    knows = load_scenario(name).knows
    if name == "families":  # tests/test_cascade.py
        return
    if knows is not None and knows.sparse is not None:
        ehr = rb.datasets.synthetic_ehr(30, seed=1)
        sparse = rb.read_sparse(ehr.table, features=ehr.features)
        result = rb.assess("linkage", sparse, scenario=name, individuals=[3])
        assert 0 < result.risk()[0] < 1
        return
    result = rb.assess(
        "adversary-routes", people, scenario=name, population=6_900_000,
        unknown=UNSPOKEN.get(name, ()),
    )  # fmt: skip
    risk = result.risk()
    assert ((risk >= 0) & (risk <= 1)).all()
    assert result.inputs.scenario.story


@pytest.mark.parametrize("name", scenarios())
def test_every_shipped_scenario_says_where_its_numbers_come_from(name):
    scenario = load_scenario(name)
    assert scenario.source
    for known in scenario.knows.known if scenario.knows else ():
        assert known.source
    sourced = {f"${one.name}" for one in scenario.parameters if one.source}
    for node in scenario.nodes:
        said = [row.p for row in node.cpd.rows] if node.cpd.kind == "rows" else [(None,)]
        each = [p for one in said for p in (one.values() if isinstance(one, Mapping) else one)]
        sure = {*each} <= {0, 1}
        from_parameter = node.cpd.kind == "probability" and node.cpd.p in sourced
        assert node.source or node.cpd.kind == "and" or sure or from_parameter


def test_facts_are_probabilities_and_cover_the_51_states():
    lists = read_facts(scenarios_folder() / "voter-lists.csv")
    assert len(set(lists["state"])) == 102  # 50 states and D.C., abbreviated and in full
    for column in ("birth_year", "sex", "race", "party"):
        assert set(lists[column]) <= {"0", "1"}
    for column in ("listed_2008", "listed_2016", "listed_2018"):
        assert all(0 <= float(x) < 1 for x in lists[column])
    dakota = [float(x) for s, x in zip(lists["state"], lists["listed_2008"], strict=True)
              if s in ("ND", "North Dakota")]  # fmt: skip
    assert dakota == [0.0, 0.0]


def test_a_number_is_looked_up_as_the_edge_of_its_band(people):
    facts = {"t": {"age": ["0", "40"], "p": [0.25, 0.75]}}
    look = FactLookup("t", "p", ("age",), bands={"age": (0, 40)})
    scenario = Scenario("x", knows=Knows((Known("sex", ("sex",), (look,)),)), facts=facts)
    result = rb.assess(
        "adversary-routes", people, scenario=scenario, population=5000,
        unknown=[c for c in COLUMNS if c != "sex"],
    )  # fmt: skip
    ages = people.labels("age")[people.codes(["age"])[:, 0]].astype(int)
    assert np.array_equal(result.groups.placed[0].p, np.where(ages >= 40, 0.75, 0.25))


def test_relative_rates_are_capped_at_one_and_others_are_refused(people):
    facts = {"t": {"sex": ["female", "male"], "p": [1.5, 0.5]}}
    for relative in (True, False):
        look = FactLookup("t", "p", ("sex",), relative=relative)
        scenario = Scenario("x", knows=Knows((Known("age", ("age",), (0.8, look)),)), facts=facts)
        call = {"scenario": scenario, "unknown": COLUMNS[1:], "population": 5000}
        if relative:
            result = rb.assess("adversary-routes", people, **call)
            assert set(np.round(result.groups.placed[0].p, 12)) == {1.0, 0.4}
        else:
            with pytest.raises(rb.ModelError, match=r"age: the probability of \d+ people is not"):
                rb.assess("adversary-routes", people, **call)


def test_one_shared_list_raises_the_voter_risk(people):
    apart = rb.assess(
        "adversary-routes", people, scenario="voter-registration", population=6_900_000,
        unknown=UNSPOKEN["voter-registration"],
    )  # fmt: skip
    together = rb.what_if(apart, together=True)
    assert together.risk().mean() > 1.1 * apart.risk().mean()


BROKEN = """schema_version: 1
kind: scenario
name: broken
knows:
  list: {node: listed, chance: {table: lost, column: p, by: [state]}, source: s}
  attributes:
    age: {chance: 1.5, source: s}
    sex: {chance: {table: here, column: prob, by: [state]}, source: s}
    race: {by_profile: {insider: 1}, source: s}
facts: {here: facts.csv, gone: nowhere.csv, up: ../facts.csv}
"""


def test_all_problems_of_a_scenario_file_are_reported_with_line_and_column(tmp_path):
    (tmp_path / "facts.csv").write_text("# made up\nstate,p\nAL,0.5\n")
    (tmp_path / "broken.yaml").write_text(BROKEN)
    with pytest.raises(rb.ModelError) as caught:
        load_scenario(tmp_path / "broken.yaml")
    text = str(caught.value)
    assert "has 6 problems" in text
    for part in (
        'broken.yaml:5:32: knows.list.chance: no table "lost" under facts',
        "broken.yaml:7:19: knows.attributes.age.chance: 1.5 is not a probability",
        'facts.csv has no column "prob"',
        "the scenario has no profile",
        "there is no file nowhere.csv beside the scenario",
        "the file must stand beside the scenario",
    ):
        assert part in text, text


HEAD = "schema_version: 1\nkind: scenario\nname: s\nstory: t\nsource: assumption\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("- a", "is no scenario file"),
        ("schema_version: 1\nname: x\n", "kind"),
        ("schema_version: 1\nkind: scenario\nname: x\nknow: {}\n", 'did you mean "knows"'),
        ("schema_version: 1\nkind: scenario\nname: x\nset: {p_m: high}\n", "needed: a number"),
        (f"{HEAD}numbers: {{z: 1 - p}}\n", "s.yaml:6:1: numbers: belongs in a model file"),
        (f"{HEAD}repeat: {{who: [a, b]}}\n", "s.yaml:6:1: repeat: belongs in a model file"),
        (f"{HEAD}use: [{{model: x}}]\n", "s.yaml:6:1: use: belongs in a model file"),
        (f"{HEAD}decisions: {{}}\n", r"s.yaml:6:1: decisions: .*\(extends: its name\)"),
        (
            f"{HEAD}nodes:\n  in_[who]: {{parents: [a], cpd: {{kind: and}}}}\n",
            r"s.yaml:7:3: nodes.in_\[who\]: a scenario is not repeated",
        ),
        (
            f"{HEAD}nodes:\n  any: {{parents: ['in_*'], cpd: {{kind: or}}}}\n",
            r"s.yaml:7:19: nodes.any.parents\[0\]: a scenario is not repeated",
        ),
    ],
)
def test_other_mistakes_in_a_scenario_file_are_explained(text, message, tmp_path):
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(rb.ModelError, match=message):
        load_scenario(tmp_path / "s.yaml")


def test_a_ragged_table_of_facts_is_refused(tmp_path):
    (tmp_path / "facts.csv").write_text("state,p\nAL,0.5,3\n")
    with pytest.raises(rb.ModelError, match="row 2 has 3 cells for 2 columns"):
        read_facts(tmp_path / "facts.csv")


def test_a_scenario_that_extends_another_is_that_one_changed(people, tmp_path):
    head = "schema_version: 1\nkind: scenario\nname: mine\nextends: {}\n"
    (tmp_path / "mine.yaml").write_text(head.format("voter-registration") + "set: {p_c: 0.3}\n")
    (tmp_path / "other.yaml").write_text(head.format("mine.yaml") + "do: {unique_in_table: 'no'}\n")
    shipped = rb.load_scenario("voter-registration")
    mine, other = (rb.load_scenario(tmp_path / f"{name}.yaml") for name in ("mine", "other"))
    assert (mine.name, mine.title, mine.knows) == ("mine", shipped.title, shipped.knows)
    assert (mine.facts, mine.set, other.set) == (shipped.facts, {"p_c": 0.3}, {"p_c": 0.3})
    assert (mine.do, other.do) == ({}, {"unique_in_table": "no"})
    unknown = [
        c for c in people.quasi_identifiers if c not in ("age", "sex", "state", "race", "ethnicity")
    ]
    how = {"population": 6_900_000, "unknown": unknown}
    told = rb.assess("adversary-routes", people, scenario=mine, **how)
    wanted = rb.assess("adversary-routes", people, scenario=shipped, set={"p_c": 0.3}, **how)
    assert np.array_equal(told.risk(), wanted.risk())
    for name, why in (
        ("other.yaml", "extends: mine.yaml extends this one in turn"),
        ("voter-registratio", 'did you mean "voter-registration"'),
        ("../mine.yaml", "nor a file beside this one"),
    ):
        (tmp_path / "mine.yaml").write_text(head.format(name))
        with pytest.raises(rb.UsageError, match=why):
            rb.load_scenario(tmp_path / "mine.yaml")


def test_a_scenario_without_a_list_cannot_be_shared():
    with pytest.raises(rb.UsageError, match="no list or account"):
        load_scenario("worst-case").shared(together=True)
    assert isinstance(load_scenario("social-media").knows.parent, Listed)


def test_a_scenario_reads_the_derived_numbers_and_plates_of_its_model(tmp_path):
    attack = rb.loads("""\
schema_version: 1
name: family
repeat: {who: [ann, bob]}
parameters: {p: {value: 0.5, source: assumption}}
numbers: {z: "1 - (1 - p) ^ 2"}
nodes:
  in_[who]: {cpd: {kind: probability, p: $z}}
  any: {parents: ["in_*"], cpd: {kind: or}}
questions: {risk: {target: any=yes}}
""")
    (tmp_path / "s.yaml").write_text(
        HEAD
        + """\
nodes:
  tries: {parents: [in_ann], cpd: {kind: probability, p: $z, only_if: [in_ann]}}
questions: {tried: {target: tries=yes}}
"""
    )
    both = load_scenario(tmp_path / "s.yaml").on(attack)
    assert float(rb.ask(both, "tried")) == 0.75**2
    assert float(rb.ask(both, "tried", set={"p": 0.2})) == pytest.approx(0.36**2, abs=1e-15)
