"""Parameters with counts or experts behind them: laws, files, and what is drawn from them."""

import re

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.optimize import brentq
from scipy.special import expit, polygamma

import reidbn as rb
from reidbn.attack import Elicited, Expert, Measured, Parameter, Study, interval

HEAD = "schema_version: 1\nname: small\nparameters:\n"
TAIL = """nodes:
  event: {rows: [{p: {yes: $p, no: rest}}]}
questions: {risk: {target: event=yes}}
"""
A, B = {0.05: 0.01, 0.5: 0.05, 0.95: 0.2}, {0.1: 0.02, 0.9: 0.3}
STUDIES = "[{hits: 12, trials: 100, study: one}, {hits: 30, trials: 120, study: two}]"


def small(spec, more=""):
    return rb.loads(f"{HEAD}  p: {{{spec}}}\n{more}{TAIL}")


def studies(*pairs, between=None):
    return Measured(tuple(Study(h, t) for h, t in pairs), between)


# -- one study -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("hits", "trials"), [(241, 579), (0, 10), (7, 7), (1, 100_000)])
def test_one_study_leaves_jeffreys_posterior(hits, trials):
    p = small(f"measured: {{hits: {hits}, trials: {trials}, study: table 2}}").parameters["p"]
    law = stats.beta(hits + 0.5, trials - hits + 0.5)
    assert p.value == pytest.approx(law.mean(), rel=1e-14)
    assert p.range == pytest.approx(tuple(law.ppf([0.025, 0.975])), rel=1e-9, abs=1e-13)
    assert p.source == f"table 2 ({hits:,} of {trials:,})"
    assert not p.is_assumption
    found = rb.whatif.uncertainty(small(f"measured: {{hits: {hits}, trials: {trials}}}, source: x"))
    assert found.method == "exact"
    assert (found.mean, found.sd) == pytest.approx((law.mean(), law.std()), rel=1e-9)


@pytest.mark.slow
def test_intervals_of_a_study_cover_as_they_say():
    """20,000 runs with p from the prior: sd 0.15 %, so 1.5 % off is ten of them."""
    rng = np.random.default_rng(20261122)
    for trials in (5, 40, 579):
        p = rng.beta(0.5, 0.5, 20_000)
        hits = rng.binomial(trials, p)
        known = {h: interval(studies((h, trials))) for h in set(hits.tolist())}
        ends = np.array([known[h] for h in hits.tolist()])
        covered = ((ends[:, 0] <= p) & (p <= ends[:, 1])).mean()
        assert abs(covered - 0.95) <= 0.015


# -- several studies -------------------------------------------------------------------------------


def by_brute_force(pairs, scale):
    """Mean, sd and P(under 0.1) for a new setting, on a plain grid of other variables."""
    angle = (np.arange(300) + 0.5) / 300 * np.pi / 2  # Beta(1/2, 1/2) is even in the arc sine
    m = np.sin(angle) ** 2
    log_k = np.linspace(-8, 24, 801)
    k = np.exp(log_k)[None, :]
    a, b = m[:, None] * k, (1 - m[:, None]) * k
    sd = np.sqrt(polygamma(1, a) + polygamma(1, b))
    slope = np.abs(np.gradient(sd, log_k, axis=1))
    logs = np.log(slope) - (sd / scale) ** 2 / 2
    for h, t in pairs:
        logs += stats.betabinom.logpmf(h, t, a, b)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = (weights * m[:, None]).sum()
    square = (weights * a * (a + 1) / (k * (k + 1))).sum()
    under = (weights * stats.beta.cdf(0.1, a, b)).sum()
    return mean, np.sqrt(square - mean**2), under


@pytest.mark.parametrize(
    ("pairs", "scale"),
    [
        (((12, 100), (30, 120), (5, 80)), 0.5),
        (((0, 10), (0, 20)), 0.5),
        (((3, 9),), 1.0),
        (((40, 60), (2, 50), (25, 30), (11, 20)), 1.5),
    ],
)
def test_several_studies_are_pooled_as_brute_force_pools_them(pairs, scale):
    law = studies(*pairs, between=scale).law
    mean, sd, under = by_brute_force(pairs, scale)
    assert law.mean == pytest.approx(mean, abs=2e-5)
    assert law.sd == pytest.approx(sd, abs=2e-4)
    assert float(law.cumulative(0.1)[0]) == pytest.approx(under, abs=5e-4)
    x, weights = law.points
    assert weights.sum() == pytest.approx(1)
    assert weights @ x == pytest.approx(law.mean, rel=1e-12)


@pytest.mark.parametrize(
    ("pairs", "scale"),
    [
        (((12, 100), (30, 120), (5, 80)), 0.5),
        (((0, 5), (0, 5)), 10.0),
        (((500_000, 1_000_000), (300_000, 1_000_000)), 0.5),
        (((0, 50),) * 20, 0.5),
    ],
)
def test_shares_of_a_pooled_law_are_those_of_its_parts_added_up(pairs, scale):
    """The parts' own shares; points, against the parts' means and mean squares."""
    law = studies(*pairs, between=scale).law
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.random(20), expit(rng.uniform(-30, 30, 40)), [0, 1e-300, 1 - 1e-16, 1],
                        rng.choice(law.a / (law.a + law.b), 20)])  # fmt: skip
    parts = [law.weights @ stats.beta.cdf(one, law.a, law.b) for one in x]
    np.testing.assert_allclose(law.cumulative(x), parts, atol=1e-12, rtol=0)
    points, weights = law.points
    for power, moment in ((1, law.mean), (2, law.mean**2 + law.sd**2)):
        assert weights @ points**power == pytest.approx(moment, abs=1e-12)


def test_few_points_stand_for_those_of_many_narrow_parts():
    """Moments, and chances of many attempts, against the gamma functions of all parts."""
    law = studies((0, 1_000_000), (3, 1_000_000), between=0.01).law
    x, weights = law.points
    assert len(law.a) > 40_000
    assert len(x) < 5_000
    assert (weights >= 0).all()
    for hits, missed in ((1, 0), (2, 0), (31, 0), (2, 1_000)):
        log = _rising(law.a, hits) + _rising(law.b, missed) - _rising(law.a + law.b, hits + missed)
        told = weights @ (x**hits * (1 - x) ** missed)
        assert told == pytest.approx(law.weights @ np.exp(log), rel=1e-11)


def _rising(a, n):
    """Log of Gamma(a + n) / Gamma(a), factor by factor."""
    return sum((np.log(a + i) for i in range(n)), np.zeros_like(a))


def test_studies_that_differ_say_less_of_a_new_setting_than_one_large_study():
    one = studies((47, 300)).law
    three = studies((12, 100), (30, 120), (5, 80)).law
    assert three.sd > 4 * one.sd
    low, high = interval(studies((12, 100), (30, 120), (5, 80)))
    assert low < 0.05 < 0.3 < high
    alike = studies((16, 100), (16, 100), (16, 100)).law
    assert one.sd < alike.sd < three.sd


@pytest.mark.slow
def test_intervals_for_a_new_setting_cover_as_they_say():
    """m, the sd and every chance from their priors; 600 runs, false alarm 1 in 1,000."""
    rng, runs, inside = np.random.default_rng(5), 600, 0
    for _ in range(runs):
        m, sd = rng.beta(0.5, 0.5), abs(rng.normal(0, 0.5))
        m = min(max(m, 1e-6), 1 - 1e-6)
        k = np.exp(
            brentq(
                lambda x, m=m, sd=sd: polygamma(1, m * np.exp(x))
                + polygamma(1, (1 - m) * np.exp(x)) - sd**2, -60, 80,
            )
        )  # fmt: skip
        p = rng.beta(m * k, (1 - m) * k, 4)
        trials = rng.integers(10, 200, 3)
        pairs = [(int(rng.binomial(t, q)), int(t)) for t, q in zip(trials, p, strict=False)]
        low, high = interval(studies(*pairs))
        inside += low <= p[3] <= high
    assert abs(inside / runs - 0.95) <= 3.3 * np.sqrt(0.95 * 0.05 / runs)


# -- experts ---------------------------------------------------------------------------------------


def density(quantiles, x, h=1e-6):
    """Of one expert's law, by differences of its levels."""
    one = Elicited((Expert("A", quantiles),)).law
    up, down = one.cumulative(x + h)[0], one.cumulative(x - h)[0]
    return (up - down) / (2 * h)


def test_an_expert_means_the_quantiles_that_were_given():
    law = Elicited((Expert("A", A),)).law
    assert law.cumulative(list(A.values())) == pytest.approx(list(A), abs=1e-14)
    assert law.cumulative([0.0, 1.0]).tolist() == [0.0, 1.0]
    mean, _ = integrate.quad(
        lambda x: 1 - law.cumulative(x)[0], 0, 1, limit=200, points=[0.05, 0.2]
    )
    assert law.mean == pytest.approx(mean, abs=1e-7)


def test_two_quantiles_make_a_logit_normal_law():
    law = Elicited((Expert("B", B),)).law
    t = [np.log(x / (1 - x)) for x in B.values()]
    sd = (t[1] - t[0]) / (stats.norm.ppf(0.9) - stats.norm.ppf(0.1))
    normal = stats.norm((t[0] + t[1]) / 2, sd)
    for x in (0.005, 0.1, 0.5, 0.8):
        assert law.cumulative(x)[0] == pytest.approx(normal.cdf(np.log(x / (1 - x))), abs=1e-13)


@pytest.mark.parametrize("pool", ["linear", "logarithmic"])
def test_experts_are_pooled(pool):
    law = Elicited((Expert("A", A, 2), Expert("B", B)), pool).law

    def pooled(x):
        one, two = density(A, x), density(B, x)
        return (2 * one + two) / 3 if pool == "linear" else (one**2 * two) ** (1 / 3)

    whole, mean = (
        integrate.quad(lambda x, k=k: x**k * pooled(x), 1e-5, 0.999, limit=300, points=[0.01, 0.05,
                       0.2])[0] for k in (0, 1))  # fmt: skip
    below = integrate.quad(pooled, 1e-5, 0.1, limit=300, points=[0.01, 0.05])[0]
    assert law.mean == pytest.approx(mean / whole, rel=2e-4)
    assert law.cumulative(0.1)[0] == pytest.approx(below / whole, abs=3e-4)


def test_a_number_that_is_no_probability_lies_within_its_ends():
    told = "elicited: [{expert: A, quantiles: {0.05: 100, 0.95: 2000}}], unit: euro"
    p = small("value: 0.5, source: x", f"  fine: {{{told}, within: [0, 10000]}}\n").parameters[
        "fine"
    ]
    assert p.range[0] * 2 > 100
    assert p.range[1] < 10_000
    law = p.evidence.law
    assert law.cumulative([100, 2000]) == pytest.approx([0.05, 0.95])
    with pytest.raises(rb.ModelError, match=r"is no probability; say within: \[LOW, HIGH\]"):
        small("value: 0.5, source: x", f"  fine: {{{told}}}\n")


def test_experts_may_speak_of_a_count():
    told = "elicited: [{expert: A, quantiles: {0.05: 10, 0.95: 40}}], within: [0, 100]"
    more = "value: 20, range: [5, 60], unit: records"
    leaked = small("value: 0.5, source: x", f"  n: {{{told}, {more}}}\n").parameters["n"]
    assert leaked.is_integer
    known = rb.whatif.measure(leaked)
    assert (known.points % 1 == 0).all()
    x, weights = leaked.evidence.law.points
    inside = (np.rint(x) >= 5) & (np.rint(x) <= 60)
    mean = (weights * np.rint(x))[inside].sum() / weights[inside].sum()
    assert known.weights @ known.points == pytest.approx(mean, abs=0.05)


# -- what draws from them --------------------------------------------------------------------------

SPECS = [
    f"measured: {STUDIES}",
    "measured: {studies: [{hits: 3, trials: 9, study: x}], between: 1}",
    f"elicited: [{{expert: A, quantiles: {A}}}, {{expert: B, quantiles: {B}}}], pool: linear",
    f"elicited: [{{expert: A, quantiles: {A}}}, {{expert: B, quantiles: {B}}}], pool: logarithmic",
]


@pytest.mark.parametrize("spec", SPECS)
def test_uncertainty_draws_from_the_evidence(spec):
    """Every 50th of the ordered draws: Kolmogorov's distance passes 2.2 / 20 once in 10,000."""
    attack = small(spec)
    law = attack.parameters["p"].evidence.law
    found = rb.whatif.uncertainty(attack, draws=20_000, seed=4)
    assert found.method == "exact"
    assert (found.mean, found.sd) == pytest.approx((law.mean, law.sd), rel=1e-6)
    assert float(rb.ask(attack, "risk")) == pytest.approx(law.mean)
    u = law.cumulative(found.draws[::50])
    assert np.abs(np.sort(u) - (np.arange(400) + 0.5) / 400).max() < 2.2 / np.sqrt(400)
    bar = rb.tornado(attack)["p"]
    assert (bar.low, bar.high) == pytest.approx(interval(attack.parameters["p"].evidence))


def test_a_narrower_range_cuts_the_law():
    attack = small(SPECS[0])
    law = attack.parameters["p"].evidence.law
    first, last = law.cumulative([0.1, 0.2])
    area, _ = integrate.quad(lambda x: law.cumulative(x)[0], 0.1, 0.2)
    mean = 0.2 - (area - first * 0.1) / (last - first)
    found = rb.whatif.uncertainty(attack, over={"p": (0.1, 0.2)}, draws=1000)
    assert found.mean == pytest.approx(mean, abs=1e-5)
    assert 0.1 <= found.draws.min() <= found.draws.max() <= 0.2
    assert "cut to 0.1 to 0.2" in found.priors["p"]


def test_sobol_and_several_of_them_are_exact():
    attack = rb.loads(
        f"{HEAD}  p: {{{SPECS[0]}}}\n  q: {{{SPECS[2]}}}\nnodes:\n"
        "  a: {rows: [{p: {yes: $p, no: rest}}]}\n"
        "  event: {parents: [a], cpd: {kind: probability, p: $q, only_if: [a]}}\n"
        "questions: {risk: {target: event=yes}}\n"
    )
    one, two = (attack.parameters[n].evidence.law for n in "pq")
    found = rb.whatif.sobol(attack)
    variance = (one.sd**2 + one.mean**2) * (two.sd**2 + two.mean**2) - (one.mean * two.mean) ** 2
    assert found.method == "exact"
    assert (found.mean, found.sd**2) == pytest.approx((one.mean * two.mean, variance), rel=1e-6)
    assert found["p"].first == pytest.approx((one.sd * two.mean) ** 2 / variance, rel=1e-6)


# -- files -----------------------------------------------------------------------------------------


ONE = "measured: {hits: 2, trials: 9}, source: notes"


@pytest.mark.parametrize("spec", [*SPECS, ONE, f"{ONE}, value: 0.3", f"{ONE}, range: [0.1, 0.9]"])
def test_files_with_evidence_are_written_as_they_are_read(spec):
    attack = small(spec)
    again = rb.loads(rb.dumps(attack))
    assert again == attack
    assert again.parameters["p"] == attack.parameters["p"]
    assert rb.dumps(again) == rb.dumps(attack)
    moved = attack.with_values({"p": 0.9}, beyond_range=True)
    assert rb.loads(rb.dumps(moved)) == moved


def test_python_says_the_same():
    p = Parameter("p", evidence=studies((12, 100), (30, 120)), source="notes")
    assert p.value == small(SPECS[0]).parameters["p"].value
    assert Measured(Study(1, 2)) == studies((1, 2))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("measured: {hits: 5, trials: 4}, source: x", "has 5 hits in 4 trials"),
        ("measured: {hits: 0, trials: 0}, source: x", "has 0 hits in 0 trials"),
        ("measured: {hits: 1.5, trials: 4}, source: x", "is 1.5; needed: a whole number"),
        ("measured: {hits: 1}, source: x", "needed: {hits: .., trials: .., study: ..}, or a list"),
        ("measured: {hits: 1, trials: 4}", "has no source"),
        ("measured: [{hits: 1, trials: 4, study: x}, {hits: 2, trials: 9}]", "has no source"),
        ("measured: {hits: 1, trials: 4}, unit: records, source: x", "the unit is records"),
        ("measured: {studies: [{hits: 1, trials: 4}], between: 40}, source: x", "between: 40"),
        ("measured: {hits: 1, trials: 4}, value: 1.5, source: x", "a probability lies between"),
        ("source: x", "has no value"),
        ("elicited: [{expert: A, quantiles: {0.5: 0.1}}]", "expert A gives 1 quantiles; two are"),
        ("elicited: [{expert: A, quantiles: {0.1: 0.5, 0.9: 0.2}}]", "that do not rise"),
        ("elicited: [{expert: A, quantiles: {0: 0.1, 0.9: 0.2}}]", "levels lie between 0 and 1"),
        ("elicited: [{expert: A, quantiles: {0.1: 0.1, 0.9: 1}}]", "within 0 and 1"),
        ("elicited: [{expert: A, quantiles: {low: 0.1}}]", "needed: levels such as 0.05"),
        (f"elicited: [{{expert: A, quantiles: {A}, weight: 0}}]", "expert A has the weight 0"),
        (f"elicited: [{{expert: A, quantiles: {A}}}], pool: mean", "needed: linear or logarithmic"),
        (f"elicited: [{{expert: A, quantiles: {A}}}], measured: {STUDIES}", "keep one of the two"),
        (f"elicited: [{{expert: A, quantiles: {A}}}], within: [0, 2]", "lies within 0 and 1"),
    ],
)
def test_what_is_wrong_is_said(spec, message):
    with pytest.raises(rb.ModelError, match=re.escape(message)):
        small(spec)


@pytest.mark.parametrize("behind", [
    "measured: {hits: 241, trials: 579, study: a letter}",
    "elicited: [{expert: A, quantiles: {0.1: 0.02, 0.9: 0.3}}]",
])  # fmt: skip
def test_a_value_beside_what_was_measured_is_an_assumption_that_check_tells(behind):
    text = """
schema_version: 1
name: beside
parameters: {p: {value: 0.05, BEHIND}}
nodes: {a: {cpd: {kind: probability, p: $p}}}
questions: {risk: {target: a=yes}}
""".replace("BEHIND", behind)
    attack = rb.loads(text)
    own = attack.parameters["p"]
    assert own.is_assumption
    assert own.source.startswith("assumption, beside ")
    (told,) = attack.warnings
    assert told.where == ("parameters", "p", "value")
    assert rb.loads(rb.attack.dumps(attack)) == attack
    plain = rb.loads(text.replace("value: 0.05, ", ""))
    assert not plain.parameters["p"].is_assumption
    moved = plain.with_values({"p": 0.05}, beyond_range=True)
    assert moved.parameters["p"].is_assumption
    assert rb.loads(rb.attack.dumps(moved)) == moved
    back = moved.with_values({"p": plain.parameters["p"].value})
    assert back.parameters["p"].source == plain.parameters["p"].source
    said = rb.loads(text.replace("0.05, ", "0.05, source: the second letter, "))
    assert not said.warnings
    assert not said.parameters["p"].is_assumption
