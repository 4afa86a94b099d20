"""A limit is one thing everywhere: what it may be, and who is above it."""

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.release import down
from reidbn.report import LEVELS, Telling, risk_curves


@pytest.fixture
def alike(tmp_path):
    """Twenty classes of eleven people: the overall risk of everybody is 1/22."""
    path = tmp_path / "alike.csv"
    frame = pd.DataFrame({"a": np.repeat(range(20), 11), "b": 1, "ill": ["yes", "no"] * 110})
    frame.to_csv(path, index=False)
    return path


GATES = [
    ("disclosure", "TABLE", "--qi", "a,b", "--sensitive", "ill"),
    ("leak", "TABLE", "--qi", "a,b", "--leaked", 100),
    ("assess", "TABLE", "--qi", "a,b", "--population", 1000, "--check-draws", 1000),
    ("ask", "leak-single", "risk"),
    ("sweep", "leak-single", "risk", "--over", "class_size=1,3"),
]


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate[0])
@pytest.mark.parametrize("limit", ["9", "1.5", "-1", "1", "100%"])
def test_a_gate_that_nothing_or_everything_can_pass_is_refused(gate, limit, alike, shell):
    words = [alike if word == "TABLE" else word for word in gate]
    code, said = shell(*words, "--fail-above", limit, "-q")
    assert code == 2, said
    assert "it must lie between 0 and 1" in said
    if limit == "9":
        assert "9 per cent as 9%" in said


@pytest.mark.parametrize(
    "words",
    [
        ("sweep", "leak-single", "risk", "--over", "class_size=1,3", "--threshold", 9),
        ("leak", "--records", 100, "--class-size", 5, "--leaked", 10, "--smallest-k", 9),
        ("leak", "--records", 100, "--class-size", 5, "--leaked", 10, "--in-table", 9),
        ("population", "synthetic:50", "--qi", "age", "--population", 500, "--confidence", 95),
    ],
)
def test_every_option_that_is_a_probability_is_one(words, shell):
    code, said = shell(*words)
    assert code == 2, said
    assert "it must lie between 0 and 1" in said


def test_thresholds_in_python_are_probabilities_too():
    with pytest.raises(rb.UsageError, match="from 0 to 1"):
        rb.sweep("leak-single", "risk", {"class_size": [1, 3]}, thresholds=[9])


def test_a_sweep_with_answers_that_do_not_exist_is_not_called_safe(shell):
    code, said = shell(
        "sweep", "breakfast", "identified=yes", "--over", "p_overheard=0,0.5", "--given",
        "overheard=yes", "--beyond-range", "--impossible", "null", "--fail-above", "0.5",
    )  # fmt: skip
    assert code == 2, said
    assert "judges every answer" in said


@pytest.mark.parametrize("gate", [("--threshold", "overall=1/22"), ("--fail-above", "1/22")])
def test_both_gates_say_the_same_of_a_risk_at_its_limit(gate, alike, shell):
    words = ("assess", alike, "--qi", "a,b", "--population", 1000, "--check-draws", 1000, "-q")
    code, said = shell(*words, *gate)
    assert code == 0, said


@pytest.mark.parametrize("k", [11, 12])
def test_nobody_is_above_the_very_risk_that_everybody_has(k):
    people = rb.read_table(
        pd.DataFrame({"a": np.repeat(range(6), k), "b": 1}), quasi_identifiers=["a", "b"]
    )
    found = rb.assess("adversary-routes", people, scenario="worst-case", population=6 * k)
    limit = 1 / (2 * k)
    assert found.risk().max() > limit  # by a rounding, which nobody may see
    assert found.summary({"overall": limit}).passes
    assert not found.above([limit])["overall"].item()
    assert not found.shares_above([limit])["people"].item()
    assert rb.whatif.share_above(np.sort(found.risk()), limit).value == 0


def height(axes, at):
    """What a curve shows at a risk, in percent."""
    (line,) = axes.get_lines()
    return line.get_ydata()[np.searchsorted(line.get_xdata(), at, side="right") - 1]


@pytest.mark.parametrize("custodian", [True, False])
def test_the_curve_falls_where_the_table_under_it_does(custodian):
    risk = np.repeat([1e-4, 0.05, 0.09, 1 / 3, 0.5, 1.0], [120, 40, 33, 21, 19, 12])
    axes = risk_curves({"overall": risk}, (), Telling(custodian=custodian)).axes[0]
    for level in (0.001, 0.01, 0.05, 0.09, 0.2, 0.33, 0.5):
        above = (risk > level).sum()
        exact = 100 * above / 245 if custodian else 100 * down(above) / 240
        assert height(axes, level) == pytest.approx(exact, abs=1e-12), level
    steps = axes.get_lines()[0].get_xdata()
    where = {1e-5, *risk} if custodian else {x for x in LEVELS if x >= 1e-5}
    assert set(steps.tolist()) == where
