"""Curves, slopes, turning points and crossings in one parameter.

Oracle: the whole attack multiplied out as a polynomial with rational coefficients (polynomials.py),
the closed form of [Xia21], and brute force over all whole numbers.
"""

import warnings
from fractions import Fraction
from itertools import pairwise
from math import comb, sqrt

import numpy as np
import pytest
from attacks import closed_form, routes, routes_subjects
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from polynomials import YES_NO, Oracle, tied_questions

from reidbn.attack import Attack, Group, GroupRow, Node, Parameter, load
from reidbn.cpds import CPD, And, Function, NoisyOr, Probability, Row, Rows, yes_no
from reidbn.errors import ImpossibleEvidence, ModelError, UsageError
from reidbn.inference import Case, make_case, read_query
from reidbn.whatif import (
    Curve,
    Line,
    Scan,
    coefficients,
    level,
    nodes,
    quantile,
    responses,
    slopes,
    spread,
    subject_slopes,
    summary,
)

QUICK = settings(
    max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
POINTS = [Fraction(k, 7) for k in range(8)]


def oracle(attack, letter, target, given_, do):
    """N(p) and E(p) as rational polynomials."""
    values = {n: p.value for n, p in attack.parameters.items()}
    book = Oracle(attack, letter, values)
    return book.joint({**given_, **target}, do), book.joint(given_, do)


def response(case, name):
    return responses(case, [name])[name]


# -- polynomials ---------------------------------------------------------------------------


@QUICK
@given(tied_questions())
def test_the_curve_is_the_polynomial_of_the_whole_attack_multiplied_out(question):
    attack, target, given_, do = question
    top, bottom = oracle(attack, "p", target, given_, do)
    case = Case(*read_query(attack, target, given_, do))
    assert case.degree("p") is not None
    assert top.degree <= case.degree("p")
    assert bottom.degree <= case.degree("p")
    assume(bottom(Fraction(attack.parameters["p"].value)) > 0)
    curve = response(case, "p").curve
    n, e = curve.parts(np.array([float(x) for x in POINTS]))
    e = np.broadcast_to(e, n.shape)
    for i, x in enumerate(POINTS):
        assert n[0, i] == pytest.approx(float(top(x)), abs=1e-12)
        assert e[0, i] == pytest.approx(float(bottom(x)) if given_ else 1.0, abs=1e-12)


@QUICK
@given(tied_questions())
def test_slopes_are_the_derivatives_of_that_polynomial_or_ratio(question):
    attack, target, given_, do = question
    top, bottom = oracle(attack, "p", target, given_, do)
    at = Fraction(attack.parameters["p"].value)
    assume(bottom(at) > Fraction(1, 1000))
    case = Case(*read_query(attack, target, given_, do))
    exact = (top.slope(at) * bottom(at) - top(at) * bottom.slope(at)) / bottom(at) ** 2
    [found] = slopes(case, ["p"])
    assert found.slope == pytest.approx(float(exact), rel=1e-9, abs=1e-9)
    assert found.method.startswith("exact")


@QUICK
@given(tied_questions())
def test_lowest_and_highest_are_those_of_a_fine_grid_or_beyond(question):
    attack, target, given_, do = question
    top, bottom = oracle(attack, "p", target, given_, do)
    grid = [Fraction(k, 60) for k in range(61)]
    assume(all(bottom(x) > Fraction(1, 100) for x in grid))
    values = [float(top(x) / bottom(x)) for x in grid]
    line = Line(response(Case(*read_query(attack, target, given_, do)), "p"))
    extent = line.extent()
    steep = max(abs(b - a) for a, b in pairwise(values))
    assert extent.lowest <= min(values) + 1e-12
    assert extent.highest >= max(values) - 1e-12
    assert min(values) - steep <= extent.lowest + 1e-12
    assert extent.highest <= max(values) + steep + 1e-12
    for at, what in ((extent.lowest_at, extent.lowest), (extent.highest_at, extent.highest)):
        x = Fraction(at)
        assert float(top(x) / bottom(x)) == pytest.approx(what, abs=1e-12)


@pytest.mark.wide
@QUICK
@given(tied_questions(), st.integers(1, 39))
def test_crossings_are_the_roots_and_cut_the_range_rightly(question, step):
    attack, target, given_, do = question
    top, bottom = oracle(attack, "p", target, given_, do)
    grid = [Fraction(k, 60) for k in range(61)]
    assume(all(bottom(x) > Fraction(1, 100) for x in grid))
    wanted = Fraction(step, 40)
    found = level(Line(response(Case(*read_query(attack, target, given_, do)), "p")), float(wanted))
    for root in found.values:
        x = Fraction(root)
        assert abs(float(top(x) / bottom(x) - wanted)) < 1e-9
    for x in grid:
        gap = float(top(x) / bottom(x) - wanted)
        inside = any(a <= x <= b for a, b in found.under)
        if abs(gap) > 1e-9:
            assert inside == (gap < 0)


def tied_three() -> Attack:
    """Three coins with one p; R = 0.4 + 0.4 p (1-p) (1-2p), which a midpoint takes for a line."""
    rows = (
        Row(("rest", 0.8), {"a": "yes", "b": "no", "c": "no"}),
        Row(("rest", 0.0), {"a": "yes", "b": "yes", "c": "no"}),
        Row(("rest", 0.4)),
    )
    coins = [Node(n, YES_NO, Probability("$p")) for n in "abc"]
    yes = Node("r", YES_NO, Rows(rows), ("a", "b", "c"), source="made up")
    return Attack("three", parameters=[Parameter("p", 0.5, source="made up")], nodes=[*coins, yes])


def test_a_tied_parameter_that_is_affine_at_the_midpoint_is_found_out():
    case = make_case(tied_three(), "r=yes")
    ends = case.answers({"p": [0.0, 0.5, 1.0]})[0]
    assert ends[1] == pytest.approx((ends[0] + ends[2]) / 2, abs=1e-15)
    found = response(case, "p")
    assert found.method == "exact polynomial"
    extent = Line(found).extent()
    assert extent.highest == pytest.approx(0.4 + 0.4 * sqrt(3) / 18, abs=1e-14)
    assert extent.highest_at == pytest.approx((3 - sqrt(3)) / 6, abs=1e-8)
    assert extent.lowest == pytest.approx(0.4 - 0.4 * sqrt(3) / 18, abs=1e-14)
    assert level(Line(found), 0.4).values == pytest.approx((0.0, 0.5, 1.0), abs=1e-12)
    [slope] = slopes(case, ["p"])
    assert slope.slope == pytest.approx(0.4 * (1 - 6 * 0.5 + 6 * 0.25), abs=1e-14)


def test_slopes_of_the_routes_are_those_of_the_closed_form_for_every_subject():
    rng = np.random.default_rng(20250301)
    subject = routes_subjects(20, 3, rng)
    at = {"p_m": 0.3, "p_fm": 0.8, "p_cu": 0.4, "p_c": 0.2}
    case = make_case(routes(3), "reidentified=yes", set=at, subject=subject)
    for name, found in responses(case, list(at)).items():
        low, high = (closed_form(subject, **{**at, name: x}) for x in (0.0, 1.0))
        steps, method = subject_slopes(found, case.evaluate({}))
        assert method == "exact affine"
        assert np.abs(steps - (high - low)).max() < 1e-14


def test_conditional_slopes_agree_with_high_order_differences_in_rationals():
    """Sixth-order central differences at h = 1e-8, exactly rational: error below 1e-40."""
    attack = load("adversary-routes")
    case = make_case(attack, "prosecutor=yes", given={"reidentified": "yes"}, set={"p_c": 0.25})
    sizes = [Fraction(x) for x in attack.example["class_size"]]
    rho = [Fraction(x) for x in attack.example["p_unique"]]

    def both(p_m, p_c):
        half = Fraction(1, 2)
        top = bottom = Fraction(0)
        for a, r in zip(sizes, rho, strict=True):
            unique = Fraction(int(a == 1))
            lm, lu, lc = unique * p_m * half, unique * r * half, p_c / a
            top += lm / 16
            bottom += (1 - (1 - lm) * (1 - lu) * (1 - lc)) / 16
        return top / bottom

    h, quarter, half = Fraction(1, 10**8), Fraction(1, 4), Fraction(1, 2)
    weights = {1: Fraction(3, 4), 2: Fraction(-3, 20), 3: Fraction(1, 60)}
    by_m = sum(w * (both(half + k * h, quarter) - both(half - k * h, quarter)) / h
               for k, w in weights.items())  # fmt: skip
    by_c = sum(w * (both(half, quarter + k * h) - both(half, quarter - k * h)) / h
               for k, w in weights.items())  # fmt: skip
    found = {s.parameter: s for s in slopes(case, ["p_m", "p_c"])}
    assert found["p_m"].slope == pytest.approx(float(by_m), rel=1e-12)
    assert found["p_c"].slope == pytest.approx(float(by_c), rel=1e-12)
    assert found["p_c"].method == "exact ratio"


def test_evidence_that_an_end_makes_impossible_gives_the_limit_there():
    case = make_case("adversary-routes", "reidentified=yes", given={"claims": "yes"})
    found = response(case, "p_c")
    values = found.values(np.array([0.0, 0.3, 1.0]))[0]
    assert values == pytest.approx([values[1]] * 3, abs=1e-13)
    with pytest.raises(ImpossibleEvidence, match="claims=yes has probability 0 at p_c=0"):
        case.answers({"p_c": 0.0})


def test_a_group_with_one_probability_for_all_members_has_their_number_as_degree():
    for b in (2, 5, 7):
        members = tuple(f"m{j}" for j in range(b))
        attack = Attack(
            "all-known",
            parameters=[Parameter("p", 0.3, source="made up")],
            groups=[Group("g", members, (GroupRow("$p"),))],
            nodes=[Node("all_known", YES_NO, And(), ("g",))],
        )
        case = make_case(attack, "all_known=yes")
        assert case.degree("p") == b
        found = response(case, "p")
        assert found.method == "exact polynomial"
        x = np.linspace(0, 1, 11)
        assert np.abs(found.values(x)[0] - x**b).max() < 1e-14


def test_a_noisy_or_over_a_group_counts_once_per_member():
    members = ("m0", "m1", "m2")
    attack = Attack(
        "noisy",
        parameters=[Parameter("w", 0.3, source="made up")],
        groups=[Group("g", members, (GroupRow(0.5),), source="made up")],
        nodes=[Node("hit", YES_NO, NoisyOr("$w", "$w"), ("g",))],
    )
    case = make_case(attack, "hit=yes")
    assert case.degree("w") == 4
    w = 0.37
    exact = 1 - sum(comb(3, k) / 8 * (1 - w) ** (k + 1) for k in range(4))
    assert response(case, "w").values(np.array([w]))[0, 0] == pytest.approx(exact, abs=1e-15)


# -- what is no polynomial -------------------------------------------------------------------


def waits(rate):
    return 1 - np.exp(-rate)


def jumps(rate):
    return (np.asarray(rate) > 1.25) * 0.5


def formula_attack(function, low=0.0, high=3.0) -> Attack:
    return Attack(
        "formula",
        parameters=[Parameter("rate", 1.0, low, high, unit="per year", source="made up")],
        nodes=[Node("seen", YES_NO, Function(function.__name__, function), ())],
    )


def test_a_smooth_formula_is_interpolated_and_says_so():
    found = response(make_case(formula_attack(waits), "seen=yes"), "rate")
    assert found.method == "interpolated"
    assert found.error < 1e-11
    x = np.linspace(0, 3, 41)
    assert np.abs(found.values(x)[0] - waits(x)).max() < 1e-11
    [slope] = slopes(found.case, ["rate"])
    assert slope.slope == pytest.approx(np.exp(-1.0), rel=1e-9)


def test_a_jump_is_scanned_and_found_to_the_last_digits():
    found = response(make_case(formula_attack(jumps), "seen=yes"), "rate")
    assert (found.method, found.notes) == ("scan", ("not smooth",))
    result = level(Line(found), 0.3)
    assert result.values == pytest.approx((1.25,), abs=1e-9)
    assert result.under[0] == pytest.approx((0.0, 1.25), abs=1e-9)
    [slope] = slopes(found.case, ["rate"])
    assert (slope.slope, slope.method) == (0.0, "finite difference")


def test_a_parameter_without_a_range_still_has_a_slope():
    found = slopes(make_case(formula_attack(waits, 1.0, 1.0), "seen=yes"), ["rate"])[0]
    assert found.slope == pytest.approx(np.exp(-1.0), rel=1e-9)
    assert found.method == "finite difference"


class Liar(CPD):
    """A square that claims to be a straight line."""

    kind = "liar"

    def __init__(self) -> None:
        pass

    def references(self):
        return ("$p",)

    def probabilities(self, scope):
        return yes_no(scope.child, scope.value("$p") ** 2)

    def degree_held(self, name, parents):
        return 1


def test_a_kind_that_lies_about_its_degree_is_caught_by_the_check_inside():
    attack = Attack(
        "liar",
        parameters=[Parameter("p", 0.5, source="made up")],
        nodes=[Node("r", YES_NO, Liar(), ())],
    )
    case = make_case(attack, "r=yes")
    assert case.degree("p") == 1
    found = response(case, "p")
    assert found.method == "interpolated"
    assert found.values(np.array([0.3]))[0, 0] == pytest.approx(0.09, abs=1e-12)


# -- whole numbers and sizes of state lists --------------------------------------------------------


def leak_risk(records, leaked, size):
    """(1 - P(nobody of the class leaked)) / k, multiplied out in rationals."""
    none = Fraction(1)
    for i in range(size):
        none *= Fraction(max(records - leaked - i, 0), records - i)
    return (1 - none) / size


@pytest.mark.parametrize("name", ["records", "leaked", "class_size"])
@pytest.mark.parametrize("target", [0.03, 0.09, 0.19, 0.2, 0.5])
def test_whole_numbers_that_keep_the_leak_under_a_target_are_those_of_brute_force(name, target):
    base = {"records": 300, "leaked": 120, "class_size": 5}
    ranges = {"records": (120, 420), "leaked": (0, 300), "class_size": (1, 20)}
    case = make_case("leak-single", "risk", set=base)
    found = responses(case, [name], {name: ranges[name]})[name]
    assert found.method == "scan"
    low, high = ranges[name]
    values = {n: float(leak_risk(*{**base, name: n}.values())) for n in range(low, high + 1)}
    line = Line(found)
    extent = line.extent()
    assert extent.lowest == pytest.approx(min(values.values()), rel=1e-13, abs=1e-16)
    assert extent.highest == pytest.approx(max(values.values()), rel=1e-13)
    kept = {n for n, v in values.items() if v <= target + 1e-15}
    under = {n for a, b in level(line, target).under for n in range(int(a), int(b) + 1)}
    assert under == kept


def test_a_wide_range_of_whole_numbers_is_searched_without_asking_for_each():
    base = {"records": 10**7, "leaked": 10**6}
    case = make_case("leak-single", "risk", set=base, beyond_range=True)
    found = responses(case, ["leaked"], {"leaked": (0, 10**7)})["leaked"]
    result = level(Line(found), 0.09)
    last = int(result.under[0][1])
    assert float(leak_risk(10**7, last, 5)) <= 0.09 < float(leak_risk(10**7, last + 1, 5))


def test_the_slope_of_a_whole_number_is_the_difference_of_its_neighbours():
    case = make_case("leak-single", "risk")
    found = {s.parameter: s for s in slopes(case, ["leaked", "class_size"])}
    by_leaked = (leak_risk(10_000, 4001, 5) - leak_risk(10_000, 3999, 5)) / 2
    by_size = (leak_risk(10_000, 4000, 6) - leak_risk(10_000, 4000, 4)) / 2
    assert found["leaked"].slope == pytest.approx(float(by_leaked), rel=1e-9)
    assert found["class_size"].slope == pytest.approx(float(by_size), rel=1e-12)
    assert found["leaked"].method == "finite difference 3999..4001"


def test_at_the_end_of_its_range_only_one_neighbour_is_asked():
    case = make_case("leak-single", "risk", set={"class_size": 1, "leaked": 0})
    found = {s.parameter: s for s in slopes(case, ["leaked", "class_size"])}
    assert found["leaked"].method == "finite difference 0..1"
    assert found["leaked"].slope == pytest.approx(1 / 10_000, rel=1e-12)
    assert found["leaked"].elasticity is None


def test_a_range_ends_where_the_other_parameters_allow_no_more():
    case = make_case("leak-single", "risk", set={"leaked": 4000})
    found = response(case, "records")
    assert (found.low, found.high) == (4000, 100_000)
    assert "range ends at 4000, since at 100 leaked <= records does not hold" in found.notes[0]


def shared_row() -> Attack:
    row = Row({"yes": "$p", "maybe": "$q", "no": "rest"})
    return Attack(
        "shared-row",
        parameters=[Parameter("p", 0.2, source="made up"), Parameter("q", 0.3, source="made up")],
        nodes=[Node("r", ("no", "maybe", "yes"), Rows((row,)))],
    )


def test_two_parameters_of_one_row_leave_each_other_only_the_rest():
    found = response(make_case(shared_row(), "r=yes"), "p")
    assert (found.low, found.high) == pytest.approx((0.0, 0.7), abs=1e-12)
    assert found.case.refusal({"p": found.high}, ["p"]) is None
    assert found.method == "exact affine"


def test_a_base_value_that_is_not_allowed_is_refused_with_the_reason():
    case = make_case(shared_row(), "r=yes", set={"p": 0.9})
    with pytest.raises(ModelError, match=r"shared-row at p=0.9: r: rest stands .* add up to 1.2"):
        response(case, "p")


def test_a_parameter_that_cannot_matter_has_a_flat_line_and_says_so():
    case = make_case("adversary-routes", "prosecutor=yes")
    found = response(case, "p_c")
    assert found.notes == ("cannot change this answer",)
    assert Line(found).extent().swing == 0
    cut = make_case("adversary-routes", "reidentified=yes", do={"claims": "yes"})
    assert not cut.matters("p_c")
    assert cut.matters("p_m")


# -- several subjects ----------------------------------------------------------------------


def many() -> Case:
    subject = routes_subjects(37, 3, np.random.default_rng(20250302))
    return make_case(routes(3), "reidentified=yes", subject=subject)


@pytest.mark.parametrize("statistic", ["mean", "median", "q95", "max", "min"])
def test_crossings_of_a_statistic_over_subjects_meet_the_target(statistic):
    case = many()
    found = response(case, "p_c")
    line = Line(found, statistic)
    ends = line(np.array([0.0, 1.0]))
    target = float(ends.mean())
    [root] = level(line, target).values
    values = closed_form(case.subject, 0.5, 0.5, 0.5, root)
    assert float(summary(statistic)(values)) == pytest.approx(target, abs=1e-9)


def test_the_mean_over_subjects_is_exact_and_needs_no_scan():
    line = Line(response(many(), "p_c"))
    assert line.curve is not None
    assert not line.extent().is_scanned
    assert Line(response(many(), "p_c"), "q95").extent().is_scanned


def test_a_quantile_holds_its_promise_for_every_share():
    values = np.random.default_rng(20250303).random(41)
    for share in (0.0, 0.05, 0.5, 0.9, 0.95, 1.0):
        q = float(quantile(values, share))
        assert (values <= q).mean() >= share
        assert share == 0 or (values < q).mean() < share


@pytest.mark.parametrize("wrong", ["average", "q101", "above x", "above", ""])
def test_an_unknown_statistic_is_refused_with_those_there_are(wrong):
    with pytest.raises(UsageError, match=r"use mean, median, min, max|is not a number"):
        summary(wrong)


# -- the search ----------------------------------------------------------------------------


@QUICK
@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_the_peak_and_the_crossing_of_a_hill_over_many_integers_are_found(peak, width):
    low, high = 0, 10**6
    scale = float(2 * 10**6)

    def hill(x):
        return 1.0 - np.abs(np.asarray(x) - peak) / scale

    scan = Scan.over(hill, spread(low, high, 200, integer=True), integer=True)
    assert scan.highest() == (peak, 1.0)
    target = 1.0 - width / scale
    expected = [x for x in (peak - width, peak + width) if low <= x <= high]
    for left, right in scan.crossings(target):
        assert right - left == 1
        assert (hill(left) > target) != (hill(right) > target)
    assert len(scan.crossings(target)) <= len(expected)


def test_a_scan_of_reals_finds_a_smooth_peak():
    scan = Scan.over(lambda x: -((np.asarray(x) - 0.3217) ** 2), spread(0, 1, 65, integer=False),
                     integer=False)  # fmt: skip
    assert scan.highest()[0] == pytest.approx(0.3217, abs=1e-7)


def test_every_degree_of_a_curve_is_read_back_to_the_last_digits():
    rng = np.random.default_rng(20250304)
    for d in (0, 1, 2, 5, 17, 48):
        values = rng.random((3, d + 1))
        x = nodes(d, -1.0, 4.0)
        curve = Curve.through(-1.0, 4.0, values, None)
        assert np.abs(curve(x) - values).max() < 1e-12
        assert coefficients(values).shape == (d + 1, 3)


def test_no_warning_comes_from_a_question_whose_evidence_vanishes_inside():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        case = make_case("adversary-routes", "marketer=yes", given={"claims": "yes"})
        assert response(case, "p_c").values(np.linspace(0, 1, 5)).shape == (1, 5)
