"""Answers that bend or peak within a small part of a range, against closed forms."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, erf, expit, logit, ndtri

import reidbn as rb

HEAD = "schema_version: 1\nname: q\nsources: [s]\nparameters:\n"
PAIR = (
    HEAD
    + """
  x: {{value: .5, source: s, range: [0, 1], prior: {{kind: uniform}}}}
  y: {{value: .3, source: s, range: [0, 1], prior: {{kind: uniform}}}}
numbers: {{g: {{is: "{formula}", range: [0, 1]}}}}
nodes:
  a: {{cpd: {{kind: probability, p: $g}}, source: s}}
  b: {{cpd: {{kind: probability, p: $y}}, source: s}}
  both: {{parents: [a, b], cpd: {{kind: and}}}}
questions: {{risk: {{target: both=yes}}, alone: {{target: a=yes}}}}
"""
)
ONE = HEAD + "  p: {spec}\n{more}nodes:\n  a: {{cpd: {cpd}, source: s}}\n" \
    "questions: {{risk: {{target: a=yes}}}}\n"  # fmt: skip


def powers(n):
    """Mean of (1 - x)^n and of its square."""
    return 1 / (n + 1), 1 / (2 * n + 1)


def peak(a, c):
    """Mean of exp(-a (x - c)^2) and of its square."""
    found = []
    for k in (a, 2 * a):
        root = np.sqrt(k)
        found.append(np.sqrt(np.pi) / 2 / root * (erf(root * c) + erf(root * (1 - c))))
    return tuple(found)


def pole(w, c):
    """Mean of w^2 / (w^2 + (x - c)^2) and of its square."""
    u = np.array([-c, 1 - c]) / w
    square = (u / (1 + u**2) + np.arctan(u)) / 2
    return w * np.diff(np.arctan(u))[0], w * np.diff(square)[0]


STEEP = {
    "any(x, 400)": (1 - powers(400)[0], 1 - 2 * powers(400)[0] + powers(400)[1]),
    "any(x, 1000)": (1 - powers(1000)[0], 1 - 2 * powers(1000)[0] + powers(1000)[1]),
    "(1-x)^100000": powers(100_000),
    "x^2000": powers(2_000),
    "exp(-100000*x)": (1e-5, 0.5e-5),
    "((x-0.37)^2)^0.5": ((0.37**2 + 0.63**2) / 2, (0.37**3 + 0.63**3) / 3),
    "exp(-1000000*(x-0.7312)^2)": peak(1e6, 0.7312),
    "0.00000001/(0.00000001+(x-0.7312)^2)": pole(1e-4, 0.7312),
}


@pytest.mark.parametrize("formula", STEEP)
def test_the_stated_error_of_a_steep_answer_holds_the_true_one(formula):
    mean, square = STEEP[formula]
    attack = rb.loads(PAIR.format(formula=formula))
    sd = np.sqrt(square / 3 - (mean / 2) ** 2)
    for found in (rb.whatif.uncertainty(attack, "risk", draws=100), rb.sobol(attack, "risk")):
        slack = (found.error + 1e-9) * sd
        assert found.error < 1e-3
        assert (found.mean, found.sd) == pytest.approx((mean / 2, sd), abs=slack)
    assert found["x"].first == pytest.approx((square - mean**2) / 4 / sd**2, abs=1e-4)
    assert found["y"].first == pytest.approx(mean**2 / 12 / sd**2, abs=1e-4)


@pytest.mark.parametrize("sharp", [10**6, 10**8])
def test_a_ridge_that_runs_slantwise_is_told_with_its_error_or_not_at_all(sharp):
    attack = rb.loads(PAIR.format(formula=f"exp(-{sharp}*(x-y)^2)"))
    mean, square = (np.sqrt(np.pi / a) - 1 / a for a in (sharp, 2 * sharp))
    sd = np.sqrt(square - mean**2)
    found = rb.whatif.uncertainty(attack, "alone", draws=100)
    assert found.method == "scattered points"
    assert (found.mean, found.sd) == pytest.approx((mean, sd), abs=found.error * sd)
    if sharp > 10**6:
        with pytest.raises(rb.errors.TooLarge, match="whose uncertainty it is cannot be told"):
            rb.sobol(attack, "alone")


@pytest.mark.parametrize(("n", "cpd", "more"), [
    (1_000, "{kind: probability, p: $some}", 'numbers: {some: "any(p, 1000)"}\n'),
    (2_000, "{kind: geometric, p: $p, budget: 2000}", ""),
    (20_000, "{kind: probability, p: $none}", 'numbers: {none: "(1 - p)^20000"}\n'),
])  # fmt: skip
def test_a_posterior_close_to_an_end_is_found(n, cpd, more):
    spec = "{value: .01, source: s, range: [0, 1], prior: {kind: uniform}}"
    attack = rb.loads(ONE.format(spec=spec, cpd=cpd, more=more))
    found = rb.learn(attack, [{"target": "risk", "hits": 1, "trials": 2}])
    # (1 - (1-p)^n) (1-p)^n: beta integrals
    size, first, second = (
        np.exp(betaln(k, n + 1)) - np.exp(betaln(k, 2 * n + 1)) for k in (1, 2, 3)
    )
    mean = first / size
    sd = np.sqrt(second / size - mean**2)
    off = (found.error + 1e-8) * sd
    assert found.error < 1e-6
    assert (found["p"].mean, found["p"].sd) == pytest.approx((mean, sd), abs=off)


def test_what_never_was_is_learnt_with_its_interval():
    spec = "{measured: {hits: 0, trials: 500, study: first}}"
    attack = rb.loads(ONE.format(spec=spec, cpd="{kind: probability, p: $p}", more=""))
    found = rb.learn(attack, [{"target": "risk", "hits": 0, "trials": 40}])["p"]
    assert stats.beta(0.5, 540.5).cdf([found.low, found.high]) == pytest.approx(
        [0.025, 0.975], abs=5e-5
    )


@pytest.mark.slow
def test_pooled_counts_are_learnt_from_within_the_stated_error():
    studies = "[{hits: 12, trials: 100, study: one}, {hits: 30, trials: 120, study: two}]"
    spec = f"{{measured: {studies}}}"
    attack = rb.loads(ONE.format(spec=spec, cpd="{kind: probability, p: $p}", more=""))
    found = rb.learn(attack, [{"target": "risk", "hits": 60, "trials": 200}])
    law = attack.parameters["p"].prior.known.law
    t = np.linspace(-3, 1, 1_001)
    weights = np.diff(law.cumulative(expit(t)))
    x = expit((t[1:] + t[:-1]) / 2)
    weights *= np.exp(60 * np.log(x / 0.3) + 140 * np.log((1 - x) / 0.7))
    mean = weights @ x / weights.sum()
    assert found["p"].mean == pytest.approx(mean, abs=(found.error + 1e-4) * found["p"].sd)
    assert found.error < 1e-6
    cdf = np.cumsum(weights) / weights.sum()
    ends = np.interp([found["p"].low, found["p"].high], expit(t[1:]), cdf)
    assert ends == pytest.approx([0.025, 0.975], abs=1e-4)


@pytest.mark.parametrize(("low", "high"), [(1, 1_000_000), (2, 300_000)])
def test_every_whole_number_of_a_wide_range_counts_in_full(low, high):
    k = np.arange(low, high + 1.0)
    for kind, values in (("one-over", 1 / k), ("unique", (k == 1) * 1.0)):
        spec = f"{{value: 5, source: s, range: [{low}, {high}], unit: records}}"
        cpd = f"{{kind: {kind}, of: $p}}"
        attack = rb.loads(ONE.format(spec=spec, cpd=cpd, more=""))
        found = rb.whatif.uncertainty(attack, "risk", draws=100)
        off = (found.error + 1e-8) * values.std()
        assert (found.mean, found.sd) == pytest.approx((values.mean(), values.std()), abs=off)


def test_what_experts_said_is_cut_where_over_says():
    said = [{0.1: 0.09247, 0.25: 0.36189}, {0.1: 0.53905, 0.95: 0.55865}]
    lines = ", ".join(
        f"{{expert: {e}, weight: {w}, quantiles: {q}}}"
        for e, w, q in zip("AB", (1, 2), said, strict=True)
    )
    attack = rb.loads(
        ONE.format(spec=f"{{elicited: [{lines}], source: s}}", more="",
                   cpd="{kind: probability, p: $p}")
    )  # fmt: skip
    found = rb.whatif.uncertainty(attack, "risk", over={"p": (0.5398, 0.6501)}, draws=100)
    t = np.linspace(*logit([0.5398, 0.6501]), 400_001)
    density = 0.0
    for weight, quantiles in zip((1, 2), said, strict=True):
        z, at = ndtri([*quantiles]), logit([*quantiles.values()])
        slope = (z[1] - z[0]) / (at[1] - at[0])
        density = density + weight * slope * stats.norm.pdf(z[0] + slope * (t - at[0]))
    mean = np.trapezoid(density * expit(t), t) / np.trapezoid(density, t)
    assert found.method == "exact"
    assert found.mean == pytest.approx(mean, abs=1e-9 * found.sd + 1e-12)


def bump(x, c, w):
    return np.exp(-(((x - c) / w) ** 2))


# formula, its values, and about where and how closely it bends
NARROW = {
    "0.1 + 0.3 * exp(-((x - 0.7312) / 0.000001) ^ 2)": (
        lambda x: 0.1 + 0.3 * bump(x, 0.7312, 1e-6), 0.7312, 1e-6),
    "0.5 * x + 0.005 * exp(-((x - 0.99) / 0.0000001) ^ 2)": (
        lambda x: 0.5 * x + 0.005 * bump(x, 0.99, 1e-7), 0.99, 1e-7),
    "max(0, 0.4 * (1 - max(x - 0.1234, 0.1234 - x) / 0.00003))": (
        lambda x: np.maximum(0, 0.4 * (1 - abs(x - 0.1234) / 3e-5)), 0.1234, 3e-5),
    "min(max(0, (x - 0.274391) / 0.000000002), 0.3)": (
        lambda x: np.minimum(np.maximum(0, (x - 0.274391) / 2e-9), 0.3), 0.274391, 2e-9),
}  # fmt: skip


@pytest.mark.parametrize("formula", NARROW)
def test_a_peak_that_no_even_step_meets_is_drawn_and_solved_for(formula):
    true, c, w = NARROW[formula]
    attack = rb.loads(PAIR.format(formula=formula))
    x = np.unique(np.clip(np.append(np.linspace(0, 1, 10_001), c + w * np.linspace(-8, 8, 4_001)),
                          0, 1))  # fmt: skip
    y = 0.3 * true(x)
    bar = rb.tornado(attack, "risk", over=["x"])["x"]
    assert (bar.lowest, bar.highest) == pytest.approx((y.min(), y.max()), abs=1e-4 * y.max())
    target = 0.7 * y.max() + 0.3 * y.min()
    found = rb.solve(attack, "risk", "x", target)
    kept = np.zeros(len(x), dtype=bool)
    for low, high in found.under:
        kept |= (x >= low) & (x <= high)
    assert y[kept].max() <= target * (1 + 1e-9)
    assert kept.mean() >= 0.9 * (y <= target).mean()
    assert not found.is_proven


@pytest.mark.parametrize(("formula", "mean", "square"), [
    ("exp(-((x-0.7312)/0.000001)^2)", np.sqrt(np.pi) * 1e-6, np.sqrt(np.pi / 2) * 1e-6),
    ("min(1, max(0, 1-max(x-0.7312,0.7312-x)/0.000001))", 1e-6, 2e-6 / 3),
])  # fmt: skip
def test_a_peak_of_a_millionth_of_the_prior_is_within_the_stated_error(formula, mean, square):
    found = rb.whatif.uncertainty(rb.loads(PAIR.format(formula=formula)), "alone", draws=100)
    off = found.error * found.sd
    assert found.sd > 0
    assert (found.mean, found.sd) == pytest.approx((mean, np.sqrt(square - mean**2)), abs=off)


OF_EACH = """
schema_version: 1
name: each
parameters:
  x: {value: .5, source: s, range: [0.1, 0.9], prior: {kind: uniform}}
  y: {value: .3, source: s, range: [0.2, 0.6], prior: {kind: uniform}}
subject: {c: {range: [0, 1], unit: probability}}
numbers: {g: {is: "FORMULA", range: [0, 1]}}
nodes:
  a: {cpd: {kind: probability, p: $g}, source: s}
  b: {parents: [a], rows: [{when: {a: yes}, p: {yes: $y, no: rest}}, {p: {yes: .01, no: rest}}],
      source: s}
questions: {risk: {target: a=yes}, seen: {target: a=yes, given: {b: yes}}}
"""


@pytest.mark.parametrize("question", ["risk", pytest.param("seen", marks=pytest.mark.wide)])
@pytest.mark.parametrize(("formula", "true", "method"), [
    ("x*c", lambda x, y, c: x * c, "exact"),
    ("min(c, x*y)", lambda x, y, c: np.minimum(c, x * y), "scattered points"),
    ("1/(1+exp(-(x-c)/0.01))", lambda x, y, c: expit((x - c) / 0.01), "quadrature"),
])  # fmt: skip
def test_every_subjects_mean_and_sd_are_within_their_stated_error(formula, true, method, question):
    c, n = np.array([0.15, 0.3, 0.77]), 1_200
    share = (np.arange(n) + 0.5) / n
    x, y = 0.1 + 0.8 * share[:, None], 0.2 + 0.4 * share
    attack = rb.loads(OF_EACH.replace("FORMULA", formula))
    found = rb.subject_uncertainty(attack, question, subject={"c": c}, draws=100)
    if question == "risk":
        assert found.attrs["method"] == method
    for i, own in enumerate(c.tolist()):
        g = np.broadcast_to(true(x, y, own), (n, n))
        g = g * y / (g * y + (1 - g) * 0.01) if question == "seen" else g
        off = found.error[i] + 3e-6 * g.std()
        assert (found["mean"][i], found.sd[i]) == pytest.approx((g.mean(), g.std()), abs=off)
        assert found.error[i] < 1e-3 * g.std()
