"""Several studies pooled, against a published pool of the same counts.

Fourteen studies of hyperdynamic therapy [Pritz 1997, Neurosurgery Quarterly 7, 273; counts as in
Zhou et al. 1999, Statistics in Medicine 18, 557].  Zhang 2019 (Chinese Journal of Evidence-Based
Pediatrics 14, 123; its abstract) pools such studies with normal log odds between them: by maximum
likelihood .798 (.692 to .875) with variance .589, by Bayes .799 (.693 to .897) with variance .919,
for a typical setting.  That these are its counts is shown here: the first fit comes out.
"""

import numpy as np
import pytest
from scipy import optimize
from scipy.special import betaln, digamma, expit, polygamma
from scipy.stats import beta

from reidbn.attack import Measured, Study, interval

HITS = np.array([16, 10, 4, 43, 10, 25, 13, 12, 22, 4, 5, 18, 58, 6])
TRIALS = np.array([17, 12, 8, 58, 10, 42, 14, 12, 41, 5, 6, 23, 68, 10])
LIKELIHOOD = {"pooled": 0.798, "low": 0.692, "high": 0.875, "variance": 0.589}
BAYES = {"pooled": 0.799, "low": 0.693, "high": 0.897, "variance": 0.919}


def test_the_counts_are_those_of_the_published_pool():
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)

    def minus_log(values):
        odds = values[0] + np.exp(values[1]) * nodes
        logs = -HITS[:, None] * np.logaddexp(0, -odds)
        logs = logs - (TRIALS - HITS)[:, None] * np.logaddexp(0, odds)
        top = logs.max(axis=1)
        return -(top + np.log(np.exp(logs - top[:, None]) @ (weights / weights.sum()))).sum()

    found = optimize.minimize(minus_log, [1.0, 0.0])
    error = 1.96 * np.sqrt(found.hess_inv[0, 0])
    assert np.exp(2 * found.x[1]) == pytest.approx(LIKELIHOOD["variance"], abs=5e-4)
    told = expit(found.x[0] + error * np.array([0, -1, 1]))
    assert told == pytest.approx([LIKELIHOOD[w] for w in ("pooled", "low", "high")], abs=1e-3)


def law(between):
    """The documented model, summed by itself: shapes of the beta law of settings, and weights.

    Log odds of the mean and the log of the concentration are even; the density of the sd between
    settings goes with its slope.
    """
    mean = expit(np.linspace(-2.5, 4.5, 161)[:, None])
    k = np.exp(np.linspace(-2, 9, 221)[None, :])
    a, b = mean * k, (1 - mean) * k
    variance = polygamma(1, a) + polygamma(1, b)
    slope = (polygamma(2, a) * mean + polygamma(2, b) * (1 - mean)) * k
    logs = -variance / 2 / between**2 + np.log(-slope / 2 / np.sqrt(variance))
    logs = logs + np.log(mean * (1 - mean)) / 2
    for h, t in zip(HITS, TRIALS, strict=True):
        logs = logs + betaln(a + h, b + t - h) - betaln(a, b)
    weights = np.exp(logs - logs.max())
    return a, b, variance, weights / weights.sum()


def quantiles(values, weights):
    order = np.argsort(values, axis=None)
    sums = np.cumsum(weights.ravel()[order])
    return np.interp([0.025, 0.975], sums, values.ravel()[order])


@pytest.mark.parametrize(("between", "published"), [(0.5, LIKELIHOOD), (1.0, BAYES)])
def test_a_pool_of_studies_is_the_published_one_within_what_its_priors_say(between, published):
    a, b, variance, weights = law(between)
    studies = tuple(Study(int(h), int(t)) for h, t in zip(HITS, TRIALS, strict=True))
    ends = interval(Measured(studies, between=between))
    below = [float((beta.cdf(end, a, b) * weights).sum()) for end in ends]
    assert below == pytest.approx([0.025, 0.975], abs=1e-4)  # the model's own, of a new setting
    typical = expit(digamma(a) - digamma(b))  # which the publication calls the pooled one
    assert (typical * weights).sum() == pytest.approx(published["pooled"], abs=0.01)
    low, high = quantiles(typical, weights)
    assert low == pytest.approx(published["low"], abs=0.01)
    assert high == pytest.approx(published["high"], abs=0.01)
    assert (variance * weights).sum() == pytest.approx(published["variance"], rel=0.15)
    assert ends[0] < low < high < ends[1]  # what enters a model is less sure than the mean
