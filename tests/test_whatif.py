"""What-if answers through the public names: tornado, solve, derivatives, compare.

Oracle: the same question asked again with `ask`, one setting at a time, and the closed form of
[Xia21]; the numerics underneath are proved in test_sensitivity.py and test_sensitivity_priors.py.
"""

import itertools
from dataclasses import dataclass
from functools import cache
from math import factorial

import numpy as np
import pandas as pd
import pytest
from attacks import SETTINGS, closed_form, routes, routes_subjects
from polynomials import YES_NO
from test_sensitivity import tied_three

import reidbn as rb
from reidbn.attack import Attack, Node, Parameter
from reidbn.cpds import Probability
from reidbn.errors import ImpossibleEvidence, UsageError
from reidbn.inference import Case, make_case

GRID = {name: [0.2, 0.5, 0.8] for name in SETTINGS}


def asked(attack, target, **options) -> float:
    return float(rb.ask(attack, target, **options))


@pytest.fixture(scope="module")
def subjects():
    return routes_subjects(30, 3, np.random.default_rng(20250501))


# -- tornado ---------------------------------------------------------------------------------


def test_a_tornado_is_the_question_asked_at_both_ends_of_every_range():
    found = rb.tornado("adversary-routes", "risk", set={"p_c": 0.3})
    swings = [bar.swing for bar in found]
    assert swings == sorted(swings, reverse=True)
    for bar in found:
        ends = [asked("adversary-routes", "risk", set={"p_c": 0.3, bar.parameter: end})
                for end in (0.0, 1.0)]  # fmt: skip
        assert (bar.at_low, bar.at_high) == pytest.approx(tuple(ends), abs=1e-15)
        assert bar.value == (0.3 if bar.parameter == "p_c" else 0.5)
        assert bar.method == "exact affine"
        assert bar.extremes == "ends"
        assert bar.source == "[Xia21] Table 4, middle setting"
        assert bar.is_assumption  # nobody measured the middle of a grid
    one = asked("adversary-routes", "risk", set={"p_c": 0.3})
    assert found.answer == pytest.approx(one, rel=1e-15)


def test_a_tornado_says_where_the_answer_crosses_a_threshold():
    found = rb.tornado("adversary-routes", "risk", threshold=0.2)
    [at] = found["p_c"].crossings
    assert asked("adversary-routes", "risk", set={"p_c": at}) == pytest.approx(0.2, abs=1e-14)
    assert found["p_m"].crossings == ()
    assert found.sentences() == [f"the answer crosses 0.2 at p_c = {at:.4g}"]
    assert "the answer crosses 0.2" in str(found)


def test_a_tied_parameter_has_its_extremes_inside():
    bar = rb.tornado(tied_three(), "r=yes")["p"]
    assert (bar.at_low, bar.at_high) == (0.4, 0.4)
    assert bar.extremes == "turning point"
    assert bar.swing == pytest.approx(0.8 * np.sqrt(3) / 18, abs=1e-14)
    assert (bar.highest_at, bar.lowest_at) == pytest.approx((0.2113249, 0.7886751), abs=1e-7)
    assert bar.method == "exact polynomial"


def test_the_tornado_of_the_leak_scans_whole_numbers_and_cuts_impossible_ranges():
    found = rb.tornado("leak-single", "risk")
    assert [bar.parameter for bar in found] == ["class_size", "leaked", "records"]
    assert {bar.method for bar in found} == {"scan"}
    assert found["records"].low == 4000
    assert "range ends at 4000" in found["records"].notes[0]
    one = asked("leak-single", "risk", set={"class_size": 1})
    assert found["class_size"].at_low == pytest.approx(one, rel=1e-15)


def test_an_end_with_impossible_evidence_shows_the_limit_and_says_so():
    bar = rb.tornado("adversary-routes", "risk", given={"claims": "yes"}, over="p_c")["p_c"]
    assert bar.at_low == pytest.approx(bar.at_high, abs=1e-13)
    assert bar.notes == ("at 0 the evidence is impossible: the limit is shown",)


def test_a_tornado_over_other_ranges_and_only_some_parameters():
    found = rb.tornado("adversary-routes", "risk", over={"p_c": (0.4, 0.6), "p_m": None})
    assert [bar.parameter for bar in found] == ["p_m", "p_c"]
    one = asked("adversary-routes", "risk", set={"p_c": 0.6})
    assert found["p_c"].at_high == pytest.approx(one, rel=1e-15)
    assert rb.tornado("adversary-routes", "risk", over="p_c,p_m")["p_m"].low == 0.0


def test_a_tornado_of_a_quantile_over_subjects(subjects):
    found = rb.tornado(routes(3), "reidentified=yes", subject=subjects, statistic="q95")
    for bar in found:
        at = {**dict.fromkeys(SETTINGS, 0.5), bar.parameter: 1.0}
        assert bar.at_high == pytest.approx(np.sort(closed_form(subjects, **at))[28], abs=1e-14)
        assert bar.method == "exact affine, scanned"
    assert "q95 of P(reidentified=yes)" in str(found)


def test_a_tornado_is_a_table_and_plain_data():
    found = rb.tornado("leak-single", "risk", threshold=0.09)
    frame = found.to_frame()
    assert frame["parameter"].tolist() == ["class_size", "leaked", "records"]
    assert {"value", "low", "high", "at_low", "at_high", "swing", "source"} <= set(frame.columns)
    plain = found.to_dict()
    assert plain["bars"][0]["crossings"] == (12.0,)
    assert "<table" in found._repr_html_()
    with pytest.raises(UsageError, match='no bar for "leakd"; did you mean "leaked"'):
        found["leakd"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"threshold": "x"}, "threshold=x is no probability"),
        ({"threshold": 1.5}, "threshold=1.5 is no probability"),
        ({"over": []}, "name at least one parameter to vary"),
        ({"statistic": "average"}, 'no statistic "average"'),
        ({"set": {"p_c": [0.1, 0.2]}}, "p_c: give one value to start from"),
        ({"set": {"p_c": 1.2}}, r"p_c=1\.2 is not a probability"),
    ],
)
def test_a_tornado_that_cannot_be_is_refused(more, message):
    with pytest.raises(UsageError, match=message):
        rb.tornado("adversary-routes", "risk", **more)


def test_a_question_without_an_answer_is_refused_by_every_call():
    how = {"given": {"marketer": "yes"}, "do": {"claims": "no"}}
    for call in (
        lambda: rb.tornado("adversary-routes", "risk", **how),
        lambda: rb.solve("adversary-routes", "risk", "p_m", 0.1, **how),
        lambda: rb.derivatives("adversary-routes", "risk", **how),
        lambda: rb.sobol("adversary-routes", "risk", **how),
        lambda: rb.compare("adversary-routes", "risk", {}, {"set": {"p_m": 1}}, **how),
    ):
        with pytest.raises(ImpossibleEvidence, match="the evidence marketer=yes has probability 0"):
            call()
    with pytest.raises(UsageError, match="draws=0: give a whole number"):
        rb.uncertainty("adversary-routes", "risk", draws=0)


def test_assumptions_are_marked():
    attack = rb.load("adversary-routes")
    guess = Parameter("p_c", 0.5, source="assumption: nobody knows")
    attack = attack.replace(parameters=attack.parameters.replace(guess))
    found = rb.tornado(attack, "risk")
    assert found["p_c"].is_assumption
    assert "(assumption)" in str(found)


# -- solve -----------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [0.08, 0.15, 0.25])
def test_a_solution_put_back_gives_the_target(target):
    found = rb.solve("adversary-routes", "risk", "p_c", target)
    assert asked("adversary-routes", "risk", set={"p_c": float(found)}) == pytest.approx(
        target, abs=1e-14
    )
    assert found.status == "crosses"
    assert found.under == ((0.0, float(found)),)
    assert (found.smallest, found.largest) == (0.0, float(found))


def test_statuses_say_when_nothing_is_crossed():
    assert rb.solve("adversary-routes", "risk", "p_c", 0.9).status == "always at or under"
    high = rb.solve("adversary-routes", "risk", "p_c", 0.01)
    assert (high.status, high.under, high.largest) == ("always above", (), None)
    flat = rb.solve("adversary-routes", "prosecutor=yes", "p_c", 0.5)
    assert flat.status == "always at or under"
    assert flat.notes == ("cannot change this answer",)
    same = asked("adversary-routes", "prosecutor=yes")
    assert rb.solve("adversary-routes", "prosecutor=yes", "p_c", same).status == "always equal"
    with pytest.raises(UsageError, match=r"no single value meets 0.01 \(always above\)"):
        float(high)


def test_a_solution_over_a_cut_range_says_so():
    found = rb.solve("leak-single", "risk", "records", 0.09)
    assert (found.low, found.smallest) == (4000, 35496)
    assert "range ends at 4000" in str(found)


def test_several_crossings_are_all_found():
    found = rb.solve(tied_three(), "r=yes", "p", 0.41)
    assert len(found.values) == 2
    for x in found.values:
        assert asked(tied_three(), "r=yes", set={"p": x}) == pytest.approx(0.41, abs=1e-14)
    assert found.under == ((0.0, found.values[0]), (found.values[1], 1.0))
    top = 0.4 + 0.4 * np.sqrt(3) / 18
    touch = rb.solve(tied_three(), "r=yes", "p", top)
    assert touch.values == pytest.approx((0.2113249,), abs=1e-6)
    low = rb.solve(tied_three(), "r=yes", "p", 0.4 - 0.4 * np.sqrt(3) / 18)
    assert low.status == "touches"
    assert low.under[0] == pytest.approx((0.7886751, 0.7886751), abs=1e-6)
    assert "touches 0.36151 at p = 0.788675" in str(low)


def test_the_smallest_class_that_keeps_the_leak_under_a_target():
    found = rb.solve("leak-single", "risk", "class_size", 0.09)
    assert found.smallest == 12
    assert asked("leak-single", "risk", set={"class_size": 12}) <= 0.09
    assert asked("leak-single", "risk", set={"class_size": 11}) > 0.09
    assert found.is_whole
    largest = rb.solve("leak-single", "risk", "leaked", 0.09).largest
    assert asked("leak-single", "risk", set={"leaked": int(largest)}) <= 0.09
    assert asked("leak-single", "risk", set={"leaked": int(largest) + 1}) > 0.09


def test_the_largest_value_that_keeps_95_per_cent_of_subjects_under_a_target(subjects):
    found = rb.solve(routes(3), "reidentified=yes", "p_c", 0.5, subject=subjects, statistic="q95")
    at = found.largest
    assert (closed_form(subjects, 0.5, 0.5, 0.5, at - 1e-9) <= 0.5).mean() >= 0.95
    assert (closed_form(subjects, 0.5, 0.5, 0.5, at + 1e-9) <= 0.5).mean() < 0.95


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("risk", "p_x", 0.1), 'no parameter "p_x"'),
        (("risk", "p_c", 1.5), "target=1.5 is no probability"),
        (("risk", "p_c", None), "target=None is no probability"),
        (("risk", None, 0.1), "name the parameter to solve for"),
        (("risk", "p_c", "0.1"), "target=0.1 is no probability"),
        (("risk", "p_c", float("nan")), "target=nan is no probability"),
    ],
)
def test_wrong_targets_are_refused(call, message):
    with pytest.raises(UsageError, match=message):
        rb.solve("adversary-routes", *call)


def test_a_parameter_without_a_range_needs_one():
    attack = Attack("fixed", parameters=[Parameter("p", 0.5, 0.5, 0.5, source="x")],
                    nodes=[Node("r", YES_NO, Probability("$p"))])  # fmt: skip
    with pytest.raises(UsageError, match=r"p has no range to search; give range="):
        rb.solve(attack, "r=yes", "p", 0.3)
    assert float(rb.solve(attack, "r=yes", "p", 0.3, range=(0, 1))) == pytest.approx(0.3)
    assert rb.tornado(attack, "r=yes").fixed == ("p",)


# -- derivatives -----------------------------------------------------------------------------


def test_derivatives_are_differences_of_affine_answers(subjects):
    table = rb.derivatives(routes(3), "reidentified=yes", subject=subjects)
    for row in table.itertuples():
        at = dict.fromkeys(SETTINGS, 0.5)
        rise = (closed_form(subjects, **{**at, row.parameter: 1.0})
                - closed_form(subjects, **{**at, row.parameter: 0.0}))  # fmt: skip
        assert row.derivative == pytest.approx(rise.mean(), abs=1e-14)
        answer = closed_form(subjects, **at).mean()
        assert row.elasticity == pytest.approx(rise.mean() * 0.5 / answer, abs=1e-13)
    each = rb.derivatives(routes(3), "reidentified=yes", subject=subjects, per_person=True)
    assert len(each) == 4 * 30
    one = rb.derivative(routes(3), "reidentified=yes", "p_c", subject=subjects)
    assert one == pytest.approx(each[each.parameter == "p_c"]["derivative"].mean(), abs=1e-14)


# -- compare ---------------------------------------------------------------------------------


def test_a_comparison_of_two_scenarios_gives_both_answers_and_the_parts_add_up():
    before = {"set": {"p_m": 0.2}}
    after = {"set": {"p_m": 0.9, "p_c": 0.1}, "do": {"unique_in_population": "no"}}
    found = rb.compare("adversary-routes", "risk", before, after)
    risk = "reidentified=yes"
    one, two = (asked("adversary-routes", risk, **change) for change in (before, after))
    assert (found.answer_before, found.answer_after) == pytest.approx((one, two), rel=1e-15)
    assert len(found.steps) == 3
    assert sum(s.share for s in found.steps) == pytest.approx(found.difference, abs=1e-14)
    assert found.ratio == found.answer_after / found.answer_before


def test_shares_are_means_over_all_orders_of_making_the_changes():
    names = {"p_m": 0.9, "p_fm": 0.1, "p_cu": 0.8, "p_c": 0.3}
    attack = rb.load("adversary-routes")
    found = rb.compare(attack, "risk", {}, {"set": names})

    @cache
    def of(made):
        return asked(attack, "risk", set={n: names[n] for n in made})

    def risk(made):
        return of(frozenset(made))

    shares = dict.fromkeys(names, 0.0)
    for order in itertools.permutations(names):
        for i, name in enumerate(order):
            shares[name] += (risk(order[: i + 1]) - risk(order[:i])) / factorial(4)
    for step in found.steps:
        name = step.change.split(":")[0]
        assert step.share == pytest.approx(shares[name], abs=1e-14)
        assert step.alone == pytest.approx(risk([name]) - risk([]), abs=1e-14)
        rest = [n for n in names if n != name]
        assert step.last == pytest.approx(risk(names) - risk(rest), abs=1e-14)


def test_evidence_that_cannot_be_combined_leaves_those_parts_empty():
    found = rb.compare("adversary-routes", "risk", {"given": {"claims": "yes"}},
                       {"set": {"p_c": 0.0}})  # fmt: skip
    after = asked("adversary-routes", "risk", set={"p_c": 0.0})
    assert found.answer_after == pytest.approx(after, rel=1e-15)
    by_change = {s.change: s for s in found.steps}
    assert by_change["p_c: 0.5 -> 0"].alone is None
    assert by_change["p_c: 0.5 -> 0"].last == pytest.approx(
        found.answer_after - asked("adversary-routes", "risk"), abs=1e-14
    )
    assert all(s.share is None for s in found.steps)
    assert "impossible" in str(found)


def test_reductions_are_paired_person_by_person_and_those_without_risk_are_left_out(subjects):
    safe = {k: v.copy() for k, v in subjects.items()}
    safe["p_known"][:4] = 0.0
    safe["class_size"][:4] = 1e12
    before, after = ({"set": {"p_c": c, "p_m": 0.0, "p_cu": 0.0}} for c in (0.8, 0.2))
    nobody = {"set": {**before["set"], "p_c": 0.0}}
    found = rb.compare(routes(3), "reidentified=yes", before, after, subject=safe)
    one, two = (closed_form(safe, 0.0, 0.5, 0.0, c) for c in (0.8, 0.2))
    cut = np.sort(1 - two / one)
    assert found.reduction["median"] == pytest.approx(cut[14], abs=1e-12)
    assert found.without_risk == 0
    none = rb.compare(routes(3), "reidentified=yes", nobody, after, subject=safe)
    assert none.without_risk == 30
    assert none.reduction == {}
    assert none.ratio is None


def test_many_changes_are_compared_alone_and_last_without_shares():
    names = [f"p{i}" for i in range(12)]
    attack = Attack("chain", parameters=[Parameter(n, 0.5, source="x") for n in names],
                    nodes=[Node(f"n{i}", YES_NO, Probability(f"$p{i}", (f"n{i - 1}",) if i else ()),
                                (f"n{i - 1}",) if i else ()) for i in range(12)])  # fmt: skip
    found = rb.compare(attack, "n11=yes", {}, {"set": dict.fromkeys(names, 1.0)})
    assert len(found.steps) == 12
    for step in found.steps:
        assert step.share is None
        assert step.alone == pytest.approx(0.5**11 - 0.5**12, abs=1e-15)
        assert step.last == pytest.approx(0.5, abs=1e-15)


# -- anything that brings its own case -------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """A result as another part of the package, or another package, may define one."""

    subject: dict
    p_c: float = 0.5
    name: str = "mine"

    def whatif_case(self) -> Case:
        ids = [f"id-{i}" for i in range(len(self.subject["p_known"]))]
        case = make_case(routes(3), "reidentified=yes", set={"p_c": self.p_c}, subject=self.subject)
        return Case(case.attack, case.query, case.settings, case.subject, labels=ids)


def test_a_result_brings_its_own_question_setting_and_subjects(subjects):
    result = Result(subjects, 0.3)
    table = rb.sweep(result, {"p_m": [0.1, 0.9]})
    for row, p_m in zip(table.itertuples(), (0.1, 0.9), strict=True):
        assert row.mean == pytest.approx(
            closed_form(subjects, p_m, 0.5, 0.5, 0.3).mean(), abs=1e-14
        )
    each = rb.sweep(result, {"p_m": [0.1]}, per_person=True)
    assert each["subject"].tolist()[:2] == ["id-0", "id-1"]
    assert rb.tornado(result)["p_c"].value == 0.3
    assert rb.tornado(result, set={"p_c": 0.6})["p_c"].value == 0.6
    assert rb.solve(result, "p_c", target=0.5, statistic="q95").statistic == "q95"
    assert rb.derivative(result, "p_m") == pytest.approx(rb.derivatives(result)["derivative"][0])
    assert rb.sobol(result).method == "exact"
    found = rb.compare(result, Result(subjects, 0.9, "other"))
    assert (found.before, found.after) == ("mine", "other")
    assert [s.change for s in found.steps] == ["p_c: 0.3 -> 0.9"]
    with pytest.raises(UsageError, match="brings its own subjects"):
        rb.sweep(result, {"p_m": [0.1]}, subject=subjects)
    assert set(found.reduction) == {"q1", "median", "q3"}
    strangers = {name: np.asarray(values)[::-1] for name, values in subjects.items()}
    one, other = (
        make_case(routes(3), "reidentified=yes", subject=s) for s in (subjects, strangers)
    )
    assert rb.compare(one, other).reduction == {}  # nothing says that row i is one person


def test_a_result_that_compares_itself_is_asked_to():
    class Own(Result):
        def compare_with(self, other):
            return ("compared", other.name)

    assert rb.compare(Own({}), Own({}, name="two")) == ("compared", "two")


def test_people_who_share_a_subject_count_as_often_as_they_are(subjects):
    of_person = np.array([0, 3, 3, 3, 7, 7, 29, 0, 12, 3])
    few = make_case(routes(3), "reidentified=yes", subject=subjects)
    shared = Case(few.attack, few.query, few.settings, few.subject, people=of_person)
    spelt = {k: v[of_person] for k, v in subjects.items()}
    alone = make_case(routes(3), "reidentified=yes", subject=spelt)
    grid = {"p_c": [0.1, 0.6], "p_m": [0.5, 1.0]}
    pd.testing.assert_frame_equal(rb.sweep(shared, grid), rb.sweep(alone, grid), rtol=1e-13)
    pd.testing.assert_frame_equal(
        rb.sweep(shared, grid, per_person=True),
        rb.sweep(alone, grid, per_person=True),
        rtol=1e-13,
    )
    for statistic in ("mean", "median", "q95", "above 0.2"):
        one, two = (rb.tornado(c, statistic=statistic)["p_c"] for c in (shared, alone))
        assert one.at_high == pytest.approx(two.at_high, rel=1e-13)
    assert rb.sobol(shared).sd == pytest.approx(rb.sobol(alone).sd, rel=1e-12)
    ratio = [rb.sobol(c, given={"claims": "yes"}, over="p_m,p_cu").sd for c in (shared, alone)]
    assert ratio[0] == pytest.approx(ratio[1], rel=1e-12)
    pd.testing.assert_frame_equal(rb.derivatives(shared, per_person=True),
                                  rb.derivatives(alone, per_person=True), rtol=1e-12)  # fmt: skip
    tables = [rb.subject_uncertainty(c, draws=50) for c in (shared, alone)]
    pd.testing.assert_frame_equal(*tables, rtol=1e-11)
    draws = [rb.uncertainty(c, draws=50).draws for c in (shared, alone)]
    assert np.abs(draws[0] - draws[1]).max() < 1e-13


# -- the calls of the documentation ----------------------------------------------------------------


def test_the_promised_calls_run_as_written():
    assert len(rb.sweep("leak-single", "identified=yes", {"leaked": [1000, 2000, 4000]})) == 3
    assert len(rb.tornado("leak-single", "identified=yes")) == 3
    for name in ("sweep", "tornado", "solve", "derivatives", "compare", "sobol", "uncertainty"):
        assert callable(getattr(rb, name))


# -- figures -----------------------------------------------------------------------------------


def test_figures_are_the_same_bytes_every_time(tmp_path):
    from reidbn.report import draw_sweep

    table = rb.sweep("adversary-routes", "risk", {"p_c": 5, "p_m": [0.2, 0.8]})
    for run in ("one", "two"):
        rb.tornado("leak-single", "risk", threshold=0.09).plot(tmp_path / f"tornado-{run}.svg")
        rb.tornado(tied_three(), "r=yes").plot(tmp_path / f"tied-{run}.svg")
        draw_sweep(table, tmp_path / f"sweep-{run}.svg", threshold=0.2)
        rb.sobol("adversary-routes", "risk").plot(tmp_path / f"sobol-{run}.svg")
        rb.uncertainty("adversary-routes", "risk", draws=500).plot(tmp_path / f"u-{run}.svg")
    for name in ("tornado", "tied", "sweep", "sobol", "u"):
        one, two = ((tmp_path / f"{name}-{run}.svg").read_bytes() for run in ("one", "two"))
        assert one == two
        assert b"<svg" in one
    text = (tmp_path / "tornado-one.svg").read_text()
    for word in ("class_size = 5", "threshold 0.09", "P(identified=yes)"):
        assert word in text


def test_a_figure_that_cannot_be_drawn_or_written_says_why(tmp_path, subjects):
    from reidbn.report import draw_sweep

    found = rb.tornado("leak-single", "risk")
    with pytest.raises(UsageError, match=r"name a file such as \.svg"):
        found.plot(tmp_path / "tornado.xyz")
    with pytest.raises(UsageError, match="cannot be written"):
        found.plot(tmp_path / "missing" / "tornado.png")
    still = rb.tornado("adversary-routes", "prosecutor=yes", over="p_c")
    with pytest.raises(UsageError, match="no parameter moves this answer"):
        still.plot()
    each = rb.sweep(routes(3), "reidentified=yes", {"p_c": 3}, subject=subjects, per_person=True)
    with pytest.raises(UsageError, match="draw a sweep of one subject"):
        draw_sweep(each)
    many = rb.sweep(routes(3), "reidentified=yes", {"p_c": 3}, subject=subjects)
    assert draw_sweep(many, tmp_path / "many.png") is not None


def test_drawing_leaves_the_settings_of_matplotlib_alone():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    rb.tornado("leak-single", "risk").plot()
    assert dict(mpl.rcParams) == before
