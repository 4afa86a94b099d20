"""Names beside lines: kept apart, in order, and shades that say the order."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.report import Telling, draw_sweep, risk_curves


def _names(axes):
    return [t for t in axes.texts if "=" in t.get_text()]


def test_an_axis_of_whole_numbers_has_whole_numbers():
    axes = draw_sweep(rb.sweep("breakfast", "identified=yes", {"alike": [1, 2, 4]})).axes[0]
    assert axes.get_legend() is None
    assert all(float(t).is_integer() for t in axes.get_xticks())


def test_end_labels_stand_apart_in_the_order_of_their_lines():
    at = pd.DataFrame({"x": np.tile([1, 2, 3], 4), "of": np.repeat([4, 1, 3, 2], 3)})
    at["probability"] = 0.5 + at["of"] * 1e-4
    axes = draw_sweep(at).axes[0]
    names = sorted(_names(axes), key=lambda t: t.xy[1])
    assert [t.get_text() for t in names] == ["of=1", "of=2", "of=3", "of=4"]
    assert np.diff([t.xy[1] for t in names]).min() > 0.06
    light = [sum(t.get_color()[:3]) for t in names]
    assert light == sorted(light, reverse=True)
    assert max(t.xy[1] for t in names) <= 1


def test_a_line_that_has_fallen_is_named_where_it_falls():
    rng = np.random.default_rng(2)
    risks = {"high": rng.uniform(0, 1, 500), "gone": np.where(rng.random(500) < 0.4, 3e-4, 0.0)}
    axes = risk_curves(risks, [0.09], Telling(custodian=True)).axes[0]
    (gone,) = (t for t in axes.texts if t.get_text() == "gone")
    assert gone.xy[0] <= np.log10(3e-4 / 1e-5) / 5 + 0.05  # of the axis from 0.00001 to 1


@pytest.mark.parametrize("seed", range(4))
def test_no_name_of_a_curve_stands_on_the_line_of_a_threshold_where_there_is_room(seed):
    rng = np.random.default_rng(seed)
    alone = rng.random(400) < rng.uniform(0.3, 0.8)
    risks = {"prosecutor": np.where(alone, 1.0, 0.0), "marketer": rng.uniform(0.3, 1, 400),
             "overall": np.where(alone, 0.6, 0.2)}  # fmt: skip
    figure = risk_curves(risks, [0.05, 0.09, 0.2, 0.33], Telling(custodian=seed % 2 == 0))
    figure.draw_without_rendering()
    axes = figure.axes[0]
    uprights = [axes.transData.transform((at, 0))[0] for at in (0.05, 0.09, 0.2, 0.33)]
    named = [t for t in axes.texts if t.get_text() in risks]
    assert len(named) == 3
    for word in named:
        box = word.get_window_extent()
        assert not any(box.x0 <= at <= box.x1 for at in uprights), word.get_text()


@pytest.mark.parametrize("names", [3, 4])
def test_no_name_of_a_curve_stands_on_another_where_all_run_along_the_top(names):
    every = ("prosecutor", "journalist", "marketer", "overall")[-names:]
    risks = {name: np.full(400, 0.8 if name == "overall" else 1.0) for name in every}
    risks["journalist"] = np.linspace(0.95, 0.99, 400)
    figure = risk_curves(risks, [0.05, 0.09, 0.2, 0.33], Telling(custodian=True))
    figure.draw_without_rendering()
    boxes = [t.get_window_extent() for t in figure.axes[0].texts if t.get_text() in risks]
    assert len(boxes) == len(risks)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize("most", [0.1, 0.125, 0.2, 0.5, 0.9])
def test_ticks_of_a_tornado_stand_apart_and_what_it_says_is_not_cut(most):
    """Small answers have long numbers beside the axis."""
    found = rb.tornado("breakfast", "identified=yes", set={"p_listed": most})
    figure = found.plot()
    figure.draw_without_rendering()
    axes, wide = figure.axes[0], figure.bbox.width
    ticks = [t.get_window_extent() for t in axes.get_xticklabels() if t.get_text()]
    inside = [b for b in ticks if b.x0 >= 0 and b.x1 <= wide]
    assert all(a.x1 + 2 < b.x0 for a, b in pairwise(sorted(inside, key=lambda b: b.x0)))
    said = [axes.xaxis.label, figure._supxlabel]
    assert all(
        t.get_window_extent().x0 >= -1 and t.get_window_extent().x1 <= wide + 1 for t in said
    )
    assert "line: as it is" in figure._supxlabel.get_text().replace("\n", " ")
