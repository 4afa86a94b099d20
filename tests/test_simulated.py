"""Assessments that were acted out: shares of draws with intervals, and no verdict on them."""

import json

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.theory import mean_of_shares_interval


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two classes of 100: everybody's overall risk is 0.5/100."""
    table = tmp_path_factory.mktemp("two") / "two.csv"
    pd.DataFrame({"sex": ["F", "M"] * 100}).to_csv(table, index=False)
    return table, rb.read_table(str(table), quasi_identifiers=["sex"])


@pytest.fixture(scope="module")
def acted(two):
    return rb.assess("adversary-routes", two[1], population=200, method="simulation", draws=10)


@pytest.mark.parametrize(
    "asked",
    [
        lambda r: r.summary({"overall": 0.004}), lambda r: r.summary("ema"), lambda r: r.above(0.1),
        lambda r: r.shares_above(), lambda r: r.report("r.html"), lambda r: r.to_json("r.json"),
        lambda r: r.plot("r.png"), lambda r: r.page("r.html"), lambda r: r.drivers(),
        lambda r: rb.tornado(r), lambda r: r.uncertainty(), lambda r: rb.compare(r, r),
        lambda r: r.to_restricted("r.csv"), lambda r: r.population_uncertainty(),
        lambda r: rb.what_if(r, set={"p_c": 0.1}).summary(),
    ],
)  # fmt: skip
def test_of_few_draws_whoever_was_never_hit_keeps_no_limit(acted, asked):
    """A gate put to a share of draws: with 10 draws nobody is hit and every limit is kept."""
    with pytest.raises(rb.UsageError, match=r'share of 10 draws.* method="exact"'):
        asked(acted)


def test_a_plan_proves_nothing_by_draws(two):
    with pytest.raises(rb.UsageError, match="stands on exact risks"):
        rb.recommend(two[1], "adversary-routes", known=["sex"], population=200,
                     target={"overall": "highest <= 0.004"}, method="simulation")  # fmt: skip


def test_each_share_of_draws_has_its_interval_and_a_mean_that_of_the_draws_shared(two, acted):
    """200 people are two kinds: the interval of the mean is that of 20 draws, not of 2,000."""
    people = acted.subjects
    assert (people["overall_low"] <= 0.005).all()
    assert (people["overall_high"] >= 0.3).all()  # nobody of 10 tells little: 0.31
    low, high = acted.measures["overall"].interval
    assert low <= 0.005
    assert high > 0.16  # of 20 draws without a hit the end is 1 - 0.05^(1/20) or more
    assert acted.measures["journalist_match"].interval is None  # it is a sum
    told = acted.to_dict()["measures"]["overall"]["interval"]
    assert told == [low, high]
    assert "those alike have one share of draws together" in " ".join(acted.remarks())
    with pytest.raises(rb.UsageError, match="leave one of the two out"):
        rb.assess("adversary-routes", two[1], method="simulation", individuals=20)


def test_the_interval_of_a_mean_of_shares_holds_the_mean():
    """Missed by a right interval in at most 5 % of runs: more than 90 of 1,000 with P < 1e-6."""
    rng = np.random.default_rng(20250611)
    p, weights = np.array([0.001, 0.02, 0.3, 0.9]), np.array([50.0, 30.0, 15.0, 5.0])
    mean, missed = float(p @ weights / weights.sum()), 0
    for _ in range(1_000):
        low, high = mean_of_shares_interval(rng.binomial(40, p) / 40, weights, 40)
        missed += not low <= mean <= high
    assert missed <= 90
    assert mean_of_shares_interval(np.ones(3), np.ones(3), 50)[1] == 1


def test_a_check_of_few_draws_is_no_pass(two, acted):
    """Shares of 10 draws may be half off unseen: neither passed nor "0 differ" alone is said."""
    check = acted.check(draws=20_000)
    assert not check.passed
    assert not check.failed
    assert check.status.startswith("undecided: the numbers shown are shares of 10 draws each")
    assert "an error below" in str(check)
    many = rb.assess("adversary-routes", two[1], population=200, method="simulation", draws=9_000)
    assert many.check(draws=20_000).passed


def test_the_command_refuses_gates_beside_a_simulation_and_prints_intervals(two, shell):
    words = (two[0], "--qi", "sex", "--population", "200", "--method", "simulation",
             "--check-draws", "20000")  # fmt: skip
    for gate in (("--threshold", "overall=0.004"), ("--fail-above", "0.004"),
                 ("--release", "public"), ("--html", "r.html")):  # fmt: skip
        code, err = shell("assess", *words, *gate)
        assert (code, "shares of draws" in err) == (2, True)
    code, out = shell("assess", *words, "--json")
    told = json.loads(out)["mean_risk"]["overall"]
    assert code == 0
    assert told["low"] <= 0.005 <= told["high"]
    code, out = shell("assess", *words)
    assert "95 % interval" in out
    assert "undecided" in out
