"""Assessments of attacks whose group tells itself how its members are learnt.

By hand: every case of the sources and of what is known, classes counted in the table's own values.
"""

import json
from itertools import product

import numpy as np
import pytest
from inside import inside

import reidbn as rb
from reidbn.attacks import act_out, drivers, subset_classes, summed

QI = ["age", "sex", "state", "race"]
TEXT = """
schema_version: 1
name: told
parameters:
  facebook: {value: 0.6, source: assumption}
  linkedin: {value: 0.3, source: assumption}
  p_race: {value: 0.2, source: assumption}
  age_fb: {value: 0.5, source: assumption}
  state_li: {value: 0.3, source: assumption}
subject:
  class_size: {per: known, unit: records, range: [1, 1000000]}
groups:
  known:
    members:
      knows_age: {parents: [on_facebook, knows_state], cpd: {kind: noisy-or, weights: [$age_fb, 1]}}
      sex: 1
      knows_state: {parents: [on_linkedin], cpd: {kind: probability, p: $state_li, only_if: [on_linkedin]}}
      knows_race: $p_race
nodes:
  on_facebook: {cpd: {kind: probability, p: $facebook}}
  on_linkedin: {cpd: {kind: probability, p: $linkedin}}
  marketer: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  prosecutor: {parents: [known], cpd: {kind: unique, of: "@class_size"}}
questions:
  risk: {target: marketer=yes}
  marketer: {target: marketer=yes}
  prosecutor: {target: prosecutor=yes}
  on_linkedin: {target: marketer=yes, given: {on_linkedin: yes}}
  state_known: {target: marketer=yes, given: {knows_state: yes}}
"""  # noqa: E501


def frame(records=300):
    return rb.datasets.synthetic_patients(records, seed=1)


def people(records=300, **more):
    return rb.read_table(frame(records), quasi_identifiers=QI, **more)


def by_hand(table, *, facebook=0.6, linkedin=0.3, never=()):
    """P(marketer right), P(unique), and those joint with the two events given."""
    found = {name: np.zeros(len(table)) for name in ("risk", "unique", "li", "state")}
    mass = {"li": 0.0, "state": 0.0}
    for fb, li, age, state, race in product((0, 1), repeat=5):
        p_state = 0 if "state" in never else 0.3 * li
        p_age = 0 if "age" in never else 1 if state else 0.5 * fb
        p_race = 0 if "race" in never else 0.2
        pairs = [(facebook, fb), (linkedin, li), (p_age, age), (p_state, state), (p_race, race)]
        p = np.prod([q if x else 1 - q for q, x in pairs])
        known = [c for c, x in zip(QI, (age, "sex" not in never, state, race), strict=True) if x]
        size = table.groupby(known)[QI[0]].transform("size") if known else len(table)
        right = p / np.broadcast_to(size, len(table))
        found["risk"] += right
        found["unique"] += p * (np.broadcast_to(size, len(table)) == 1)
        found["li"] += right * li
        found["state"] += right * state
        mass = {"li": mass["li"] + p * li, "state": mass["state"] + p * state}
    for name, chance in mass.items():
        found[name] = found[name] / chance if chance else found[name]
    return found


def test_everybody_s_risk_is_the_sum_over_what_is_known_of_them():
    result = rb.assess(rb.loads(TEXT), people())
    table = frame()
    expected = by_hand(table)
    for measure, name in (("overall", "risk"), ("prosecutor", "unique"), ("on_linkedin", "li"),
                          ("state_known", "state")):  # fmt: skip
        np.testing.assert_allclose(result.risk(measure), expected[name], rtol=0, atol=1e-14)
    assert result.inputs.scenario.name == "as-told"
    assert [p.member for p in result.groups.placed] == ["knows_age", "sex", "knows_state",
                                                        "knows_race"]  # fmt: skip
    chances = [float(p.p[0]) for p in result.groups.placed]
    assert chances == pytest.approx([0.09 + 0.91 * 0.3, 1, 0.09, 0.2], abs=1e-15)
    assert result.keep_crosscheck(draws=20_000).passed
    assert result.check(draws=60_000, seed=1).passed


def test_summed_over_subsets_it_is_the_same(monkeypatch):
    whole = rb.assess(rb.loads(TEXT), people())
    monkeypatch.setattr(inside(summed), "FROM", 0)
    monkeypatch.setattr(inside(subset_classes), "TILE", 3000)
    one = rb.assess(rb.loads(TEXT), people())
    assert "sizes" in whole.classes.__dict__
    for measure in ("overall", "prosecutor", "state_known"):
        np.testing.assert_allclose(one.risk(measure), whole.risk(measure), rtol=0, atol=1e-14)
    text = TEXT.replace("  on_linkedin: {target: marketer=yes, given: {on_linkedin: yes}}\n", "")
    assert "sizes" not in rb.assess(rb.loads(text), people()).classes.__dict__


def test_what_if_moves_the_source_and_with_it_all_that_it_shows():
    result = rb.assess(rb.loads(TEXT), people())
    sure = rb.what_if(result, set={"facebook": 1.0})
    np.testing.assert_allclose(sure.risk(), by_hand(frame(), facebook=1.0)["risk"], atol=1e-14)
    done = rb.what_if(result, do={"on_linkedin": "no"})
    np.testing.assert_allclose(done.risk(), by_hand(frame(), linkedin=0.0)["risk"], atol=1e-14)
    bars = {b.parameter: b for b in rb.tornado(result).bars}
    assert bars["linkedin"].method == "exact affine"
    assert bars["linkedin"].highest == pytest.approx(by_hand(frame(), linkedin=1.0)["risk"].mean())


def test_the_attack_acted_out_on_the_table_agrees():
    """Real matching, 40,000 attempts; a false alarm in one of a million."""
    assert act_out(rb.assess(rb.loads(TEXT), people()), draws=40_000, seed=4).agrees


def test_a_chance_derived_from_a_column_is_acted_out_person_by_person():
    text = TEXT.replace("subject:\n", "subject:\n  fame: {unit: probability, range: [0, 1]}\n")
    text = text.replace("groups:\n", 'numbers:\n  p_seen: "fame * 0.8"\ngroups:\n')
    text = text.replace("knows_race: $p_race", "knows_race: $p_seen")
    fame = np.linspace(0, 1, 300)
    result = rb.assess(rb.loads(text), people(), subject={"fame": fame})
    assert act_out(result, draws=40_000, seed=4).agrees  # a false alarm in one of a million


def test_what_each_attribute_adds_is_by_never_knowing_it():
    result = rb.assess(rb.loads(TEXT), people(60))
    found = drivers(result)
    order = ["age", "sex", "state", "race"]
    worth = {
        s: by_hand(frame(60), never=[c for j, c in enumerate(order) if not s >> j & 1])["risk"]
        for s in range(16)
    }
    weights = {0: 1 / 4, 1: 1 / 12, 2: 1 / 12, 3: 1 / 4}
    for j in range(4):
        shapley = sum(
            weights[s.bit_count()] * (worth[s | 1 << j] - worth[s])
            for s in range(16)
            if not s >> j & 1
        )
        assert found.mean[j] == pytest.approx(shapley.mean(), abs=1e-14)


def test_a_scenario_says_what_is_known_in_place_of_the_model_and_a_note_says_so():
    result = rb.assess(rb.loads(TEXT), people(), scenario="worst-case")
    assert any("how the model tells that known is learnt is set aside" in n for n in
               result.groups.notes)  # fmt: skip
    size = frame().groupby(QI)["age"].transform("size")
    np.testing.assert_allclose(result.risk(), 1 / size, atol=1e-15)
    told = rb.assess(rb.loads(TEXT), people())
    assert not any("set aside" in n for n in told.groups.notes)
    assert rb.what_if(told, scenario="worst-case").risk().mean() == result.risk().mean()


def test_columns_of_other_names_and_what_the_table_lacks():
    other = frame().rename(columns={"state": "home"})
    table = rb.read_table(other, quasi_identifiers=["age", "sex", "home", "race"])
    attack = rb.loads(TEXT)
    with pytest.raises(rb.DataError, match=r'columns=\{"state": "your_column"\}'):
        rb.assess(attack, table)
    found = rb.assess(attack, table, columns={"state": "home"})
    np.testing.assert_allclose(found.risk(), by_hand(frame())["risk"], atol=1e-14)
    with pytest.raises(rb.UsageError, match="says nothing about diagnosis"):
        rb.assess(attack, rb.read_table(frame(), quasi_identifiers=[*QI, "diagnosis"]))


def test_a_member_left_out_still_tells_the_others():
    """Whoever knows the state knows the age, though the state itself is matched with nothing."""
    found = rb.assess(rb.loads(TEXT), people(), without=["state"])
    expected = np.zeros(300)
    table = frame()
    for age, race in product((0, 1), repeat=2):
        p_age = 0.09 + 0.91 * 0.3
        p = (p_age if age else 1 - p_age) * (0.2 if race else 0.8)
        known = ["sex", *["age"] * age, *["race"] * race]
        expected += p / table.groupby(known)["age"].transform("size").to_numpy()
    np.testing.assert_allclose(found.risk(), expected, atol=1e-14)
    assert "state: may be learnt, and is not matched in the table" in found.groups.notes


def test_chances_of_each_person_come_in_a_column_of_the_call():
    text = TEXT.replace("subject:", "subject:\n  p_li: {unit: probability, range: [0, 1]}")
    text = text.replace("p: $linkedin", 'p: "@p_li"')
    text = text.replace("  linkedin: {value: 0.3, source: assumption}\n", "")
    p = np.linspace(0, 1, 300)
    found = rb.assess(rb.loads(text), people(), subject={"p_li": p},
                      without=[], do=None)  # fmt: skip
    low, high = (by_hand(frame(), linkedin=x)["risk"] for x in (0.0, 1.0))
    np.testing.assert_allclose(found.risk(), low + p * (high - low), atol=1e-14)
    assert found.groups.placed[2].p.shape == (300,)


@pytest.mark.wide
def test_the_report_and_the_command_take_it(tmp_path):
    from click.testing import CliRunner

    from reidbn.cli import reidbn

    model, table = tmp_path / "told.yaml", tmp_path / "t.csv"
    model.write_text(TEXT)
    frame(60)[QI].to_csv(table, index=False)
    asked = [str(table), "--qi", ",".join(QI), "--attack", str(model)]
    result = rb.assess(rb.loads(TEXT), people(60))
    text = result.to_markdown(tmp_path / "report.md").read_text()
    assert "What the attacker may know" in text
    assert "as-told" in text
    ran = CliRunner().invoke(reidbn, ["assess", *asked, "--json"])
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert f"{result.risk().mean():.4f}"[:6] in json.dumps(told)


SIDE = '  how_many: {expect: known}\n  much: {target: "known>=3"}\n'


def test_side_questions_that_count_members_are_not_asked_where_one_is_not_there():
    """The remedy that was named ("leave it out") was refused in turn, for questions beside."""
    table = people()
    plain = rb.assess(rb.loads(TEXT), table, without=["race"])
    found = rb.assess(rb.loads(TEXT + SIDE), table, without=["race"])
    assert {*found.risks} == {*plain.risks}
    assert all((found.risks[name] == plain.risks[name]).all() for name in plain.risks)
    said = [note for note in found.groups.notes if "is left out: it looks at all" in note]
    assert said == [
        f"question {name} is left out: it looks at all members of known, and race is not there"
        for name in ("how_many", "much")
    ]
    assert "much" in rb.assess(rb.loads(TEXT + SIDE), table).risks  # all four are there


@pytest.mark.parametrize(
    ("text", "more", "why"),
    [
        (TEXT.replace("{target: marketer=yes}", '{target: "marketer=yes or known>=3"}'), {},
         "question risk"),
        (TEXT, {"given": {"known": ">=3"}}, "what is given"),
        (TEXT.replace("questions:", "  many: {parents: [known], states: 0..4, cpd: {kind: count}}\n"
                      "questions:"), {}, "node many"),
    ],
)  # fmt: skip
def test_a_count_of_members_that_is_asked_for_names_who_counts_and_a_way_out(text, more, why):
    said = rf'all members of known \({why}\), so none .*columns=\{{"race": "your_column"\}}'
    with pytest.raises(rb.UsageError, match=said) as found:
        rb.assess(rb.loads(text), people(), without=["race"], **more)
    assert "--column race=YOUR_COLUMN" in found.value.in_shell
