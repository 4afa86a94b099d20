"""Names beside lines: kept apart, in order, and shades that say the order."""

import numpy as np
import pandas as pd

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
