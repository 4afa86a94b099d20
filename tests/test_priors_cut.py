"""A range that is asked for cuts a prior; it never moves it."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import reidbn as rb

TEXT = """
schema_version: 1
name: o
parameters:
  p: {value: 0.3, source: assumption, prior: {kind: beta, a: 2, b: 5}}
nodes:
  hit: {cpd: {kind: probability, p: $p}}
questions: {risk: {target: hit=yes}}
"""
BETA = "{kind: beta, a: 2, b: 5}"
LAWS = [
    ("{kind: beta, a: 12.5, b: 28.5}", stats.beta(12.5, 28.5), (0, 0.4)),
    ("{kind: beta, a: 0.5, b: 0.5}", stats.beta(0.5, 0.5), (0.2, 1)),
    ("{kind: beta, a: 1200, b: 2800.5}", stats.beta(1200, 2800.5), (0.1, 0.31)),
    ("{kind: beta, a: 3, b: 2}", stats.beta(3, 2), (0.9, 0.99)),
    ("{kind: beta, a: 2, b: 30}", stats.beta(2, 30), (0.3, 1)),
    ("{kind: triangular, mode: 0.3}", stats.triang(0.3), (0.2, 0.5)),
    ("{kind: triangular, mode: 0.3}", stats.triang(0.3), (0.4, 0.9)),
    ("{kind: uniform}", stats.uniform(), (0.2, 0.5)),
]


def truncated(law, ends, f):
    """The mean of f under a law given that it lies between two ends, by adaptive quadrature."""
    middle = [law.ppf(0.001), law.median(), law.ppf(0.999), 0.3]
    marks = sorted({*ends, *(x for x in middle if ends[0] < x < ends[1])})
    parts = [
        (quad(lambda x: f(x) * law.pdf(x), *p, epsrel=1e-9)[0], quad(law.pdf, *p, epsrel=1e-9)[0])
        for p in pairwise(marks)
    ]
    top, bottom = np.sum(parts, axis=0)
    return top / bottom


@pytest.mark.parametrize(("prior", "law", "ends"), LAWS)
def test_a_narrower_range_cuts_a_prior(prior, law, ends):
    attack = rb.loads(TEXT.replace(BETA, prior))
    mean = truncated(law, ends, lambda x: x)
    sd = truncated(law, ends, lambda x: (x - mean) ** 2) ** 0.5
    over = {"p": ends}
    sobol = rb.sobol(attack, "risk", over=over)
    sure = rb.uncertainty(attack, "risk", over=over, draws=4_000)
    learned = rb.learn(attack, [{"target": "risk", "hits": 5, "trials": 20}], over=over)
    told = learned["p"]
    found = [(x.mean, x.sd) for x in (sobol, sure)] + [(told.mean_before, told.sd_before)]
    np.testing.assert_allclose(found, [(mean, sd)] * 3, rtol=1e-7)
    assert sobol.notes == learned.notes == ()

    def seen(x):
        return x**5 * (1 - x) ** 15

    after = truncated(law, ends, lambda x: x * seen(x) * 1e6) / truncated(
        law, ends, lambda x: seen(x) * 1e6
    )
    assert told.mean == pytest.approx(after, rel=1e-6)
    assert ends[0] <= told.low < told.high <= ends[1]
    assert ends[0] <= sure.draws.min() < sure.draws.max() <= ends[1]
    below = law.cdf(ends[0])
    shares = (law.cdf(sure.draws) - below) / (law.cdf(ends[1]) - below)
    assert stats.kstest(shares, "uniform").pvalue > 1e-6  # false alarm: 8 in a million


def test_a_prior_that_was_cut_is_told_so():
    found = rb.uncertainty(rb.loads(TEXT), "risk", over={"p": (0.3, 0.4)}, draws=100)
    assert found.priors == {"p": "beta(2, 5) 0 to 1, cut to 0.3 to 0.4"}


def test_the_same_belief_as_counts_and_as_a_prior_gives_the_same():
    counts = TEXT.replace(
        f"value: 0.3, source: assumption, prior: {BETA}",
        "measured: {hits: 12, trials: 40, study: s}",
    )
    belief = TEXT.replace(BETA, "{kind: beta, a: 12.5, b: 28.5}")
    over = {"p": (0, 0.4)}
    one, other = (
        rb.sobol(rb.loads(t), "risk", over=over, beyond_range=True) for t in (counts, belief)
    )
    assert (one.mean, one.sd) == pytest.approx((other.mean, other.sd), rel=1e-5)


def test_a_wider_range_keeps_a_prior_and_one_apart_is_refused():
    attack = rb.loads(TEXT.replace("value: 0.3,", "value: 0.3, range: [0, 0.6],"))
    wide = rb.sobol(attack, "risk", over={"p": (0, 0.9)}, beyond_range=True)
    assert wide.mean == pytest.approx(0.6 * 2 / 7, rel=1e-12)
    assert wide["p"].prior == "beta(2, 5) 0 to 0.6"
    with pytest.raises(rb.UsageError, match=r"lies between 0 and 0\.6.*priors="):
        rb.sobol(attack, "risk", over={"p": (0.7, 0.9)}, beyond_range=True)
    with pytest.raises(rb.UsageError, match=r"next to impossible.*priors="):
        rb.sobol(rb.loads(TEXT.replace(BETA, "{kind: beta, a: 200, b: 500}")), "risk",
                 over={"p": (0.9, 1)})  # fmt: skip


def test_a_prior_that_is_given_with_a_range_is_laid_over_it():
    given = {"p": rb.attack.Prior("beta", a=2, b=5)}
    found = rb.sobol(rb.loads(TEXT), "risk", over={"p": (0, 0.5)}, priors=given)
    assert found.mean == pytest.approx(0.5 * 2 / 7, rel=1e-12)


def test_whole_numbers_are_cut_as_well():
    text = TEXT.replace("probability, p: $p", "one-over, of: $n").replace(
        "p: {value: 0.3,", "n: {value: 3, range: [1, 9], unit: records,"
    )
    found = rb.sobol(rb.loads(text), "risk", over={"n": (2, 5)})
    shares = np.diff(stats.beta(2, 5).cdf(np.arange(10) / 9))[1:5]
    assert found.mean == pytest.approx(float(shares @ (1 / np.arange(2, 6)) / shares.sum()))
