"""Experts who lie apart, and are sure: what is drawn, scattered and learnt of their pool.

The oracle knows normal scores and log odds alone: an expert's cumulative is the normal one of a
line, the pool's their weighed sum, and its integrals are sums over each expert's own scores.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import binom, expit, log_ndtr, logit, ndtr, ndtri

import reidbn as rb
from reidbn.attack import Elicited, Expert, Parameter

LAWS = {
    "two": ([{0.05: 0.02, 0.95: 0.03}, {0.05: 0.29999, 0.95: 0.30001}], [2, 1]),
    "three": ([{0.05: 0.0001, 0.95: 0.00010001}, {0.05: 0.01, 0.95: 0.010001},
               {0.05: 0.5, 0.95: 0.50001}], [1, 1, 1]),
    "far": ([{0.05: 0.0999, 0.95: 0.1001}, {0.05: 0.8999, 0.95: 0.9001}], [1, 3]),
    "bent": ([{0.01: 0.1, 0.5: 0.1001, 0.99: 0.9}], [1]),
    "steep": ([{0.3: 0.001, 0.5: 0.001001, 0.95: 0.99}], [1]),
    "unheard": ([{0.05: 0.1, 0.95: 0.2}, {0.05: 0.29999, 0.95: 0.30001}], [99, 1]),
    "plain": ([{0.05: 0.01, 0.5: 0.05, 0.95: 0.2}, {0.1: 0.02, 0.9: 0.3}], [1, 2]),
}  # fmt: skip
MODEL = """schema_version: 1
name: apart
parameters:
  t: {elicited: [EXPERTS], source: s}
nodes:
  a: {cpd: {kind: probability, p: $t}}
  n: {states: 0..12, cpd: {kind: binomial, n: 12, p: $t}, source: s}
  x: {parents: [n], rows: [{when: {n: ">=1"}, p: {yes: 1}}, {p: {no: 1}}]}
  z: {parents: [a], rows: [{when: {a: yes}, p: {yes: 0.5, no: rest}}, {p: {yes: 0.001, no: rest}}],
      source: s}
questions:
  risk: {target: a=yes}
  any: {target: x=yes}
  given: {target: a=yes, given: {z: yes}}
"""


def experts(name):
    return tuple(
        Expert(f"e{i}", said, w) for i, (said, w) in enumerate(zip(*LAWS[name], strict=True))
    )


def prior_of(known):
    return Parameter("t", evidence=known).prior


def model(name):
    said = ", ".join(
        f"{{expert: {e.expert}, quantiles: {dict(e.quantiles)}, weight: {e.weight}}}"
        for e in experts(name)
    )
    return rb.loads(MODEL.replace("EXPERTS", said))


def lines(said):
    z, t = ndtri(np.array(sorted(said))), logit(np.array([said[u] for u in sorted(said)]))
    return z, t, np.diff(t) / np.diff(z)


def cumulative(name, x):
    found, (said, weights) = 0.0, LAWS[name]
    for one, weight in zip(said, weights, strict=True):
        z, t, rise = lines(one)
        i = np.clip(np.searchsorted(t[1:-1], logit(x)), 0, len(rise) - 1)
        found = found + weight / sum(weights) * ndtr(z[i] + (logit(x) - t[i]) / rise[i])
    return found


def mean_of(name, g):
    """By 30 Gauss points on each fortieth of an expert's normal scores."""
    u, gauss = np.polynomial.legendre.leggauss(30)
    found, (said, weights) = 0.0, LAWS[name]
    for one, weight in zip(said, weights, strict=True):
        z, t, rise = lines(one)
        edges = np.unique(np.concatenate([np.linspace(-9, 9, 721), z]))
        half = np.diff(edges)[:, None] / 2
        s = edges[:-1, None] + half * (1 + u)
        i = np.clip(np.searchsorted(z[1:-1], s), 0, len(rise) - 1)
        mass = half * gauss * np.exp(-(s**2) / 2) / np.sqrt(2 * np.pi)
        found += weight / sum(weights) * float((mass * g(expit(t[i] + (s - z[i]) * rise[i]))).sum())
    return found


@pytest.mark.parametrize("name", LAWS)
def test_quantiles_are_met_whatever_lies_between_experts(name):
    u = np.concatenate([[1e-11, 1e-6], np.random.default_rng(1).random(5_000), [1 - 1e-6]])
    belief = prior_of(Elicited(experts(name)))
    x = belief.quantile(u, 0.0, 1.0)
    assert np.abs(cumulative(name, x) - u).max() <= 1e-9
    low, high = x[2:].min(), x[2:].max()
    cut = belief.quantile(np.array([0.25, 0.75]), low, high)
    ends = cumulative(name, np.array([low, high]))
    assert cumulative(name, cut) == pytest.approx(ends[0] + [0.25, 0.75] * np.diff(ends), abs=1e-9)


@pytest.mark.parametrize("name", ["two", "three", "far", "unheard"])
def test_a_logarithmic_pool_of_straight_lines_is_normal_in_log_odds(name):
    said, weights = LAWS[name]
    shares = np.array(weights) / sum(weights)
    z, t, rise = zip(*(lines(one) for one in said), strict=True)
    k = shares / np.array(rise)[:, 0] ** 2
    peak = k @ np.array([a[0] - b[0] * r[0] for a, b, r in zip(t, z, rise, strict=True)]) / k.sum()
    sd = k.sum() ** -0.5
    law = prior_of(Elicited(experts(name), pool="logarithmic")).known.law
    scores = np.array([-5.0, -2, -1, 0, 0.5, 3])
    off = 1e-5 if name == "three" else 1e-9  # scores of 100,000 are rounded to so much
    assert ndtri(law.cumulative(expit(peak + sd * scores))) == pytest.approx(scores, abs=off)
    p = expit(peak)
    mean = p + sd**2 / 2 * p * (1 - p) * (1 - 2 * p)
    assert law.mean == pytest.approx(mean, abs=max(off, sd**2) * sd)
    assert law.sd == pytest.approx(sd * p * (1 - p), rel=max(off, sd))
    u = np.random.default_rng(2).random(2_000)
    quantile = prior_of(Elicited(experts(name), pool="logarithmic")).quantile(u, 0.0, 1.0)
    assert ndtr((logit(quantile) - peak) / sd) == pytest.approx(u, abs=off)


def test_a_logarithmic_pool_of_bent_lines_is_met_piece_by_piece():
    said = [LAWS["steep"][0][0], LAWS["bent"][0][0], {0.05: 0.29999, 0.95: 0.30001}]
    known = tuple(Expert(f"e{i}", one) for i, one in enumerate(said))
    law = prior_of(Elicited(known, pool="logarithmic")).known.law
    knots = np.unique(np.concatenate([[-30.0], *(lines(one)[1] for one in said), [30.0]]))
    masses, edges = [], []
    for left, right in pairwise(knots):  # a normal law cut to each piece
        k = gradient = level = 0.0
        middle = (left + right) / 2
        for z, t, rise in map(lines, said):
            i = np.clip(np.searchsorted(t[1:-1], middle), 0, len(rise) - 1)
            score = z[i] + (middle - t[i]) / rise[i]
            k, gradient = k + rise[i] ** -2 / 3, gradient + score / rise[i] / 3
            level += (-np.log(rise[i]) - score**2 / 2) / 3
        peak, top = middle - gradient / k, level + gradient**2 / k / 2
        a, b = (left - peak) * k**0.5, (right - peak) * k**0.5
        a, b = (-b, -a) if a > 0 else (a, b)  # on the side where digits are kept
        inside = log_ndtr(b) + np.log1p(-np.exp(log_ndtr(a) - log_ndtr(b)))
        masses.append(top + inside - np.log(k) / 2)
        edges.append(right)
    masses = np.exp(np.array(masses) - np.logaddexp.reduce(masses))
    found = law.cumulative(expit(np.array(edges[:-1])))
    assert found == pytest.approx(np.cumsum(masses)[:-1], abs=1e-6)  # large scores are rounded
    assert ((masses > 0.01).sum()) >= 2


@pytest.mark.parametrize(("name", "limit"), [("two", 0.1), ("three", 0.3), ("far", 0.5)])
def test_shares_above_a_limit_are_those_of_the_pool(name, limit):
    found = rb.whatif.uncertainty(model(name), "risk", draws=4_000, thresholds=[limit])
    true = 1 - cumulative(name, limit)
    assert found.above[limit].value == pytest.approx(true, abs=4 * 0.5 / np.sqrt(4_000))
    for level, one in found.quantiles.items():
        below = cumulative(name, np.array([one.low - 1e-9, one.high + 1e-9]))
        assert below[0] <= level <= below[1]


@pytest.mark.parametrize("name", ["three", "bent", "steep"])
def test_scattered_points_are_no_further_off_than_they_say(name):
    def given(t):
        return t * 0.5 / (t * 0.5 + (1 - t) * 0.001)

    mean = mean_of(name, given)
    sd = mean_of(name, lambda t: (given(t) - mean) ** 2) ** 0.5
    found = rb.whatif.uncertainty(model(name), "given", draws=1_000)
    assert abs(found.mean - mean) <= found.error * sd
    assert abs(found.sd - sd) <= found.error * sd
    assert found.error <= 1e-3


@pytest.mark.parametrize(
    ("name", "hits", "trials"), [("far", 30, 40), ("three", 3, 10), ("bent", 3, 10)]
)
def test_what_is_learnt_lies_where_experts_hold_something(name, hits, trials):
    def seen(t):
        rate = -np.expm1(12 * np.log1p(-t))
        return binom(trials, hits) * rate**hits * (1 - rate) ** (trials - hits)

    (u,) = rb.learn(model(name), [{"target": "any", "hits": hits, "trials": trials}]).parameters
    whole = mean_of(name, seen)
    mean = mean_of(name, lambda t: seen(t) * t) / whole
    sd = (mean_of(name, lambda t: seen(t) * (t - mean) ** 2) / whole) ** 0.5
    assert (u.mean, u.sd) == pytest.approx((mean, sd), rel=1e-6)
    for end, level in ((u.low, 0.025), (u.high, 0.975)):
        below = mean_of(name, lambda t, end=end: seen(t) * (t <= end)) / whole
        assert below == pytest.approx(level, abs=0.003)


@pytest.mark.parametrize("target", ["a=yes", "any"])
def test_what_experts_hold_for_next_to_impossible_is_refused_in_words(target):
    with pytest.raises(
        rb.errors.TooLarge, match=r"too little of the priors of t to be told.*: check"
    ):
        rb.learn(model("two"), [{"target": target, "hits": 100_000, "trials": 100_000}])
    said = MODEL.replace("EXPERTS", "{expert: A, quantiles: {0.05: 0.2999, 0.95: 0.3001}}")
    with pytest.raises(
        rb.errors.TooLarge, match=r"too little of the priors of t to be told.*: check"
    ):
        rb.learn(rb.loads(said), [{"target": target, "hits": 0, "trials": 100_000}])


def test_an_answer_of_high_degree_is_told_with_experts_far_apart():
    def any_of(t):
        return -np.expm1(12 * np.log1p(-t))

    mean = mean_of("three", any_of)
    found = rb.whatif.uncertainty(model("three"), "any", draws=1_000)
    assert found.mean == pytest.approx(mean, rel=1e-9)
    assert rb.whatif.sobol(model("three"), "any")["t"].total == pytest.approx(1)


def test_a_range_of_which_experts_hold_nothing_is_refused():
    with pytest.raises(rb.UsageError, match=r"t: what stands behind it holds .* for next"):
        rb.whatif.uncertainty(model("two"), "risk", over={"t": (0.1, 0.2)})
