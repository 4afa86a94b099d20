"""The pictures: what they draw is what rb.leak says, and they repeat to the byte."""

import numpy as np
import pytest

import reidbn as rb
from reidbn.report import leak_figures as figures


def lines_of(axes):
    return {line.get_label(): line.get_xydata() for line in axes.get_lines()}


def test_figure_2_draws_the_risk_for_every_class_size():
    figure = figures.risk_by_class_size(leaks=(4_000,), class_sizes=(1, 5, 12), draws=200)
    x, y = lines_of(figure.axes[0])["4,000 leaked"].T
    assert x.tolist() == [1, 5, 12]
    assert y == pytest.approx(rb.leak.risk(records=10_000, leaked=4_000, class_size=[1, 5, 12]))


def test_figure_3_shows_the_law_of_leaks_and_of_the_given_target():
    figure = figures.risk_of_a_leak(records=200, leaked=60, class_size=4, draws=300)
    left, right = figure.axes
    x, y = lines_of(left)["exact"].T
    assert y.sum() == pytest.approx(1, abs=1e-4)
    assert x @ y / 200 == pytest.approx(rb.leak.risk({4: 50}, leaked=60), abs=1e-5)
    target = rb.leak.given_target(records=200, leaked=60, class_size=4)
    heights = [bar.get_height() for bar in right.patches]
    assert heights == pytest.approx(target.probability)


def test_figure_4_draws_the_exact_curve_and_points_whose_intervals_hold_it():
    figure = figures.all_targets_by_leak(
        class_size=5, records=2_000, targets=(3,), sampled_at=(1_000,), draws=2_000, seed=1
    )
    axes = figure.axes[0]
    x, y = lines_of(axes)["3 targets"].T
    assert y == pytest.approx(rb.leak.joint_risk({5: 400}, leaked=x.astype(int), targets=3))
    (bars,) = (c for c in axes.containers if hasattr(c, "has_yerr"))
    (segment,) = bars.lines[2][0].get_segments()
    exact = rb.leak.joint_risk({5: 400}, leaked=1_000, targets=3)
    assert segment[0, 1] < exact < segment[1, 1]


def test_figure_5_has_the_equal_table_on_top():
    figure = figures.equal_and_mixed_classes(
        tables={"equal": {4: 50}, "mixed": {2: 25, 6: 25}}, targets=3, draws=200
    )
    lines = lines_of(figure.axes[0])
    assert np.all(lines["equal"][:, 1] >= lines["mixed"][:, 1] * (1 - 1e-9))


def test_the_bias_of_the_recursion_has_both_signs():
    lines = lines_of(figures.recursion_bias().axes[0])
    high, low = lines["classes 2, 2, 2, n = 2"][:, 1], lines["classes 3, 1, n = 2"][:, 1]
    assert high.max() == pytest.approx(100 * (28 / 125 * 75 / 16 - 1))
    assert low.min() == pytest.approx(100 * (29 / 144 * 24 / 5 - 1))
    assert high.min() > -1e-9
    assert low.max() < 1e-9


def test_the_curves_of_claims_are_those_of_the_rules():
    figure = figures.claim_curves(records=1_000, leaked=300, class_size=4, in_table=0.6)
    by_leak, by_size = (lines_of(axes) for axes in figure.axes)
    x, y = by_leak["only one: right"].T
    wanted = rb.leak.claims(
        records=1_000, leaked=x.astype(int), class_size=4, rule="only one", in_table=0.6
    )
    assert y == pytest.approx(wanted.true_positive)
    assert np.all(by_size["only one: precision if known in leak"][:, 1] == 1)
    guess, strict = by_size["guess: wrong"][:, 1], by_size["only one: wrong"][:, 1]
    assert np.all(guess >= strict)


def test_the_same_picture_has_the_same_bytes(tmp_path):
    paths = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for path in paths:
        figures.recursion_bias(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.slow
def test_every_picture_is_written(tmp_path):
    paths = figures.draw_all(tmp_path)
    assert [p.stem for p in paths] == list(figures.FIGURES)
    assert all(p.stat().st_size > 5_000 for p in paths)
