"""A sweep through the public names: the same question asked again, one setting at a time."""

import itertools

import numpy as np
import pandas as pd
import pytest
from attacks import SETTINGS, closed_form, routes, routes_subjects
from inside import inside
from polynomials import YES_NO

import reidbn as rb
from reidbn.attack import Attack, Node, Parameter, Scenario, SubjectColumn
from reidbn.cpds import Probability
from reidbn.errors import ImpossibleEvidence, TooLarge, UsageError
from reidbn.whatif import case_of

GRID = {name: [0.2, 0.5, 0.8] for name in SETTINGS}


def asked(attack, target, **options) -> float:
    return float(rb.ask(attack, target, **options))


@pytest.fixture(scope="module")
def subjects():
    return routes_subjects(30, 3, np.random.default_rng(20250501))


def test_a_sweep_is_the_same_question_asked_at_every_combination():
    grid = {"p_c": [0.1, 0.7], "p_m": [0.0, 0.4, 1.0]}
    table = rb.sweep("adversary-routes", "risk", grid, set={"p_cu": 0.9}, given={"claims": "yes"})
    rows = list(itertools.product(grid["p_c"], grid["p_m"]))
    assert list(zip(table["p_c"], table["p_m"], strict=True)) == rows
    for row in table.itertuples():
        one = rb.ask("adversary-routes", "reidentified=yes", given={"claims": "yes"},
                     set={"p_c": row.p_c, "p_m": row.p_m, "p_cu": 0.9})  # fmt: skip
        assert row.probability == pytest.approx(float(one), abs=1e-15)
        assert row.evidence_probability == pytest.approx(row.p_c, abs=1e-15)


def test_all_81_settings_of_the_paper_for_every_subject_equal_the_closed_form(subjects):
    table = rb.sweep(routes(3), "reidentified=yes", GRID, subject=subjects, per_person=True)
    assert len(table) == 81 * 30
    found = table["probability"].to_numpy().reshape(81, 30)
    for row, setting in zip(found, itertools.product([0.2, 0.5, 0.8], repeat=4), strict=True):
        assert np.abs(row - closed_form(subjects, *setting)).max() < 1e-14
    assert table["subject"].tolist()[:31] == [*range(30), 0]
    assert table.groupby(list(SETTINGS))["probability"].mean().round(12).nunique() == 54


def test_several_subjects_are_summed_up_at_every_setting(subjects):
    table = rb.sweep(routes(3), "reidentified=yes", GRID, subject=subjects, thresholds=[0.09, 0.5])
    assert len(table) == 81
    for row, setting in zip(table.itertuples(), itertools.product([0.2, 0.5, 0.8], repeat=4),
                            strict=True):  # fmt: skip
        risk = np.sort(closed_form(subjects, *setting))
        assert row.mean == pytest.approx(risk.mean(), abs=1e-14)
        assert row.median == pytest.approx(
            risk[14], abs=1e-14
        )  # the 15th of 30: half do not exceed
        assert row.q95 == pytest.approx(risk[28], abs=1e-14)
        assert row.max == pytest.approx(risk[-1], abs=1e-14)
        assert table.loc[row.Index, "above_0.09"] == (risk > 0.09).sum()
        assert table.loc[row.Index, "above_0.5"] == (risk > 0.5).sum()
        assert row.subjects == 30


def test_a_structural_parameter_rebuilds_the_network_for_each_of_its_values():
    grid = {"class_size": range(1, 8), "leaked": [0, 4000, 10_000]}
    table = rb.sweep("leak-single", "identified=yes", grid)
    assert table["class_size"].dtype.kind == "i"
    for row in table.itertuples():
        at = {"class_size": row.class_size, "leaked": row.leaked}
        one = asked("leak-single", "identified=yes", set=at)
        assert row.probability == pytest.approx(one, rel=1e-15)


def test_a_state_that_only_larger_networks_have_is_impossible_in_the_smaller_ones():
    table = rb.sweep("leak-single", "leaked_class_size=3", {"class_size": [2, 3, 4]})
    assert table["probability"][0] == 0.0
    assert table["probability"][1] == asked("leak-single", "leaked_class_size=3",
                                            set={"class_size": 3})  # fmt: skip
    given = rb.sweep("leak-single", "identified=yes", {"class_size": [2, 3]},
                     given={"leaked_class_size": "3"}, impossible="null")  # fmt: skip
    assert given["probability"].isna().tolist() == [True, False]
    with pytest.raises(UsageError, match='leaked_class_size has no state "9"'):
        rb.sweep("leak-single", "leaked_class_size=9", {"class_size": [2, 3]})


def test_a_whole_node_gives_one_row_per_state_and_they_sum_to_one():
    table = rb.sweep(
        "leak-single", "leaked_class_size", {"leaked": [0, 5000], "class_size": [1, 3]}
    )
    assert list(table.columns[:3]) == ["leaked", "class_size", "state"]
    assert table["state"].tolist()[:4] == ["0", "1", "2", "3"]
    sums = table.groupby(["leaked", "class_size"])["probability"].sum()
    assert np.abs(sums - 1).max() < 1e-14
    answer = rb.ask("leak-single", "leaked_class_size", set={"leaked": 5000, "class_size": 3})
    last = table[(table.leaked == 5000) & (table.class_size == 3)]
    assert last["probability"].tolist() == pytest.approx([*answer.distribution.values()], abs=1e-15)


def test_a_number_of_points_is_spread_over_the_range():
    assert rb.sweep("adversary-routes", "risk", {"p_c": 5})["p_c"].tolist() == [
        0,
        0.25,
        0.5,
        0.75,
        1,
    ]
    sizes = rb.sweep("leak-single", "risk", {"class_size": 4})["class_size"]
    assert sizes.tolist() == [1, 7, 14, 20]
    every = rb.sweep("leak-single", "risk", {"class_size": 99})["class_size"]
    assert every.tolist() == list(range(1, 21))


def test_a_sweep_in_parts_is_the_same_sweep(subjects, monkeypatch):
    whole = rb.sweep(routes(3), "reidentified=yes", GRID, subject=subjects)
    states = rb.sweep("leak-single", "leaked_class_size", {"leaked": 5, "class_size": [1, 2]})
    monkeypatch.setattr(inside(rb.sweep), "MOST_NUMBERS", 60)
    monkeypatch.setattr(inside(rb.Case), "MOST_NUMBERS", 100)
    parts = rb.sweep(routes(3), "reidentified=yes", GRID, subject=subjects)
    pd.testing.assert_frame_equal(whole, parts, rtol=1e-14)
    again = rb.sweep("leak-single", "leaked_class_size", {"leaked": 5, "class_size": [1, 2]})
    pd.testing.assert_frame_equal(states, again, rtol=1e-14)


def test_a_table_of_too_many_rows_is_refused_before_it_is_computed():
    many = {k: np.repeat(v, 500, axis=0)
            for k, v in routes_subjects(1, 3, np.random.default_rng(1)).items()}  # fmt: skip
    with pytest.raises(TooLarge, match="1,000,000 settings of 500 subjects make 500,000,000 rows"):
        rb.sweep(routes(3), "reidentified=yes", {"p_c": 1000, "p_m": 1000}, subject=many,
                 per_person=True)  # fmt: skip
    with pytest.raises(TooLarge, match="settings; the most is 5,000,000"):
        rb.sweep("adversary-routes", "risk", dict.fromkeys(SETTINGS, 100))


def test_named_changes_and_scenarios_make_one_row_each():
    careful = Scenario("careful", set={"p_c": 0.1}, do={"knows_membership": "no"})
    table = rb.sweep("adversary-routes", "risk", {"today": {}, "bold": {"p_c": 0.9},
                     "learnt": {"given": {"claims": "yes"}}, "careful": careful})  # fmt: skip
    assert table["scenario"].tolist() == ["today", "bold", "learnt", "careful"]
    assert table["p_c"].tolist() == [0.5, 0.9, 0.5, 0.1]
    risk = "reidentified=yes"
    expected = [
        asked("adversary-routes", risk),
        asked("adversary-routes", risk, set={"p_c": 0.9}),
        asked("adversary-routes", risk, given={"claims": "yes"}),
        asked("adversary-routes", risk, set={"p_c": 0.1}, do={"knows_membership": "no"}),
    ]
    assert table["probability"].tolist() == pytest.approx(expected, abs=1e-15)
    plain = rb.sweep("adversary-routes", "risk", [{"name": "a", "p_c": 0.9}, {"p_m": 1}])
    assert plain["scenario"].tolist() == ["a", "2"]
    assert plain["p_m"].tolist() == [0.5, 1.0]


def test_a_scenario_that_needs_a_table_says_so():
    with pytest.raises(UsageError, match="worst-case says what is known about each person"):
        rb.sweep("adversary-routes", "risk", ["worst-case"])


def test_impossible_evidence_names_the_setting_or_leaves_a_null():
    grid = {"leaked": [4000, 0, 1000]}
    with pytest.raises(ImpossibleEvidence, match="in_leak=yes has probability 0 at leaked=0"):
        rb.sweep("leak-single", "risk", grid, given={"in_leak": "yes"})
    table = rb.sweep("leak-single", "risk", grid, given={"in_leak": "yes"}, impossible="null")
    assert table["probability"].isna().tolist() == [False, True, False]
    assert table["evidence_probability"].tolist() == pytest.approx([0.4, 0.0, 0.1])


def test_nobody_is_counted_below_a_threshold_where_the_evidence_cannot_be():
    attack = Attack(
        "two",
        parameters=[Parameter("p", 0.5)],
        subject=[SubjectColumn("chance")],
        nodes=[
            Node("a", YES_NO, Probability("$p")),
            Node("b", YES_NO, Probability("@chance", ("a",)), ("a",)),
        ],
    )
    asked = {"given": {"a": "yes"}, "subject": {"chance": [0.05, 0.5, 0.6]}, "thresholds": [0.1]}
    table = rb.sweep(attack, "b=yes", {"p": [0, 0.5]}, impossible="null", **asked)
    assert np.isnan(table["above_0.1"][0])
    assert table["above_0.1"][1] == 2


def test_another_target_is_asked_of_the_same_people_with_the_same_evidence():
    people = rb.read_table(
        rb.datasets.synthetic_patients(300, seed=1), quasi_identifiers=["sex", "state"]
    )
    result = rb.assess("adversary-routes", people, population=10_000, given={"claims": "yes"})
    whole = case_of(result)
    other = case_of(result, target={"marketer": "yes"})
    assert other.count == whole.count == 300
    assert other.query.given == {"claims": "yes"}
    table = rb.sweep(result, "marketer=yes", {"p_m": [0.5]})
    assert table["subjects"][0] == 300
    each = result.risk("marketer")  # the guess is right; they claim for sure
    assert table["mean"][0] == pytest.approx(each.mean(), abs=1e-12)


def test_a_parameter_that_is_called_like_a_result_keeps_its_own_column():
    attack = Attack("clash", parameters=[Parameter("probability", 0.5, source="x")],
                    nodes=[Node("r", YES_NO, Probability("$probability"))])  # fmt: skip
    table = rb.sweep(attack, "r=yes", {"probability": [0.1, 0.2]})
    assert table["$probability"].tolist() == table["probability"].tolist() == [0.1, 0.2]


def test_a_sweep_remembers_what_was_asked():
    attrs = rb.sweep("leak-single", "risk", {"leaked": [1]}, set={"class_size": 3}).attrs
    assert attrs["attack"] == "leak-single"
    assert attrs["question"] == "P(identified=yes)"
    assert attrs["base"]["class_size"] == 3
    assert attrs["fingerprint"] == rb.load("leak-single").fingerprint


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"leakd": [1]}, 'no parameter "leakd"; did you mean "leaked"'),
        ({"leaked": 1}, "for one value write"),
        ({"leaked": "1,2"}, "give a list of values, or a number of points"),
        ({"leaked": 0.5}, "give a list of values, or a number of points"),
        ({"leaked": ["x"]}, "leaked: expected a list of numbers"),
        ({"leaked": []}, "leaked: expected a list of numbers"),
        ({"leaked": [0.5]}, "leaked is a count of records: expected whole numbers"),
        ({}, "an empty grid"),
        ([], "an empty list of changes"),
        (3, "a grid is"),
        (None, "give a grid"),
        ([{"name": "a"}, {"name": "a"}], 'two changes are called "a"'),
        ([3], "3 is no change"),
        ({"leaked": [1, [2]]}, "leaked: expected a list of numbers"),
    ],
)
def test_a_grid_that_cannot_be_read_is_refused_with_what_would_be_right(grid, message):
    with pytest.raises(UsageError, match=message):
        rb.sweep("leak-single", "risk", grid)


def test_other_slips_of_a_sweep_are_refused_too():
    with pytest.raises(UsageError, match='no node "identifed"; did you mean "identified"'):
        rb.sweep("leak-single", "identifed=yes", {"leaked": [1]})
    with pytest.raises(UsageError, match="cannot be varied"):
        rb.sweep(3.5, "risk", {"leaked": [1]})
    with pytest.raises(UsageError, match="none is called risk: name one of all, any"):
        rb.sweep("leak-targets", None, {"leaked": [1]})
    with pytest.raises(UsageError, match='use "raise" or "null"'):
        rb.sweep("leak-single", "risk", {"leaked": [1]}, impossible="drop")
    with pytest.raises(UsageError, match="leaked=20000 lies outside its range 0 to 10000"):
        rb.sweep("leak-single", "risk", {"leaked": [20_000]})
    with pytest.raises(UsageError, match=r"p_c=1\.5 is not a probability"):
        rb.sweep("adversary-routes", "risk", {"p_c": [1.5]})
