"""Answers with evidence that turn within a small part of a range: the stated error holds the true
one, against closed forms and sums over midpoints."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

import reidbn as rb
from reidbn.whatif import decompose

FILE = """schema_version: 1
name: f
title: t
story: s
sources: [x]
parameters:
{parameters}
{numbers}
nodes:
  a: {{cpd: {{kind: probability, p: {p}}}, story: x, source: assumption}}
  b: {{cpd: {{kind: probability, p: {q}}}, story: x, source: assumption}}
  h: {{parents: [a, b], cpd: {{kind: or}}, story: x}}
questions: {{risk: {{target: a=yes, given: {{h: yes}}}}}}
"""


def attack(q, *ranges, prior="", number=""):
    lines = [
        f"  p{i}: {{value: {(low + high) / 2!r}, range: [{low}, {high}], source: assumption, "
        f"story: x{prior}}}"
        for i, (low, high) in enumerate(ranges)
    ]
    numbers = f'numbers:\n  n: {{is: "{number}", range: [0, 1], source: assumption}}'
    return rb.attack.loads(
        FILE.format(
            parameters="\n".join(lines),
            numbers=numbers if number else "",
            p="$n" if number else "$p0",
            q=q if isinstance(q, str) else f"{q:.9f}",
        )
    )


def holds(found, mean, sd, own=1e-12):
    """The true error, which the stated one has to hold but for what the truth itself is off."""
    true = max(abs(found.mean - mean), abs(found.sd - sd)) / sd
    assert true <= found.error + own, (found, mean, sd, true)
    return found


@cache
def midpoints(count=300_000):
    s = (np.arange(count) + 0.5) / count
    return s**3, 3 * s**2 / count  # dense at 0


@pytest.mark.parametrize("q", [0.01, 1e-4, 1e-8])
@pytest.mark.parametrize("high", [1.0, 0.074, 0.005])
def test_an_answer_that_turns_near_one_end_is_off_by_no_more_than_is_stated(high, q):
    t, weights = midpoints()
    left = q / (q + (1 - q) * high * t)  # 1 - y but for the part that p itself takes away
    left = left * (1 - high * t)
    gap = float(weights @ left)
    sd = float(np.sqrt(weights @ (left - gap) ** 2))
    at = attack(q, (0, high))
    own = 1e-6 if q < 1e-4 else 1e-9
    found = holds(rb.uncertainty(at, "risk", draws=1000), 1 - gap, sd, own)
    assert found.error < 1e-6
    both = holds(rb.sobol(at, "risk"), 1 - gap, sd, own)
    assert both["p0"].first == both["p0"].total == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("q", [0.3, 1e-5])
@pytest.mark.parametrize(("a", "b"), [(0.1, 0.5), (5, 0.05), (0.5, 5000), (500, 3)])
def test_priors_with_their_mass_at_an_end_too(a, b, q):
    t = np.linspace(-60 / min(a, 1), 60 / min(b, 1), 100_001)  # the log odds of p
    log_p, log_rest = -np.logaddexp(0, -t), -np.logaddexp(0, t)
    weights = np.exp(a * log_p + b * log_rest - np.max(a * log_p + b * log_rest))
    weights /= weights.sum()
    below = q + (1 - q) * np.exp(log_p)
    y, left = np.exp(log_p) / below, q * np.exp(log_rest) / below
    x = y if weights @ y < 0.5 else left
    sd = float(np.sqrt(weights @ (x - weights @ x) ** 2))
    mean = float(weights @ y) if x is y else 1 - float(weights @ left)
    at = attack(q, (0, 1), prior=f", prior: {{kind: beta, a: {a}, b: {b}}}")
    assert holds(rb.uncertainty(at, "risk", draws=1000), mean, sd).error < 1e-3


@pytest.mark.parametrize("last", [1.0, 1e-3])
def test_two_parameters_that_turn_together(last):
    """E of p / (p + q - p q), inner integral over p in closed form, outer on fine cells."""
    edges = np.concatenate([[0.0], 10.0 ** np.linspace(-14, 0, 400)])
    x, w = np.polynomial.legendre.leggauss(8)
    q = (edges[:-1, None] + np.diff(edges)[:, None] * (1 + x) / 2).ravel() * last
    outer = (np.diff(edges)[:, None] * w / 2).ravel()
    rest = 1 - q
    log = -np.log(q)
    mean = 1 / rest - q / rest**2 * log
    square = 1 / rest**2 - 2 * q / rest**3 * log + q**2 / rest**3 * (1 / q - 1)
    near = rest < 1e-3  # y is p to first order, with what is left of it
    mean[near] = 0.5 + rest[near] / 6
    square[near] = 1 / 3 + rest[near] / 6
    m = float(outer @ mean)
    sd = float(np.sqrt(outer @ square - m**2))
    at = attack("$p1", (0, 1), (0, last))
    found = holds(rb.sobol(at, "risk"), m, sd, own=1e-7)
    assert found.error < 1e-4
    first = float(outer @ (mean - m) ** 2) / sd**2  # of p1, brute force
    assert found["p1"].first == pytest.approx(first, abs=4 * found.error + 1e-6)
    assert found.interaction("p0", "p1") == pytest.approx(
        1 - found["p0"].first - found["p1"].first, abs=1e-12
    )


def test_one_number_that_bends_beside_evidence_needs_no_square_of_its_grid():
    at = attack(0.95, (0.2, 0.9), number="max(p0, p0*p0)*0.5")
    found = rb.sobol(at, "risk")
    assert found["p0"].first == found["p0"].total == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("width", [1e-4, 1e-6, 1e-10])
@pytest.mark.parametrize("q", [0.95, 1e-4])
def test_a_narrow_range_has_the_sd_of_its_slope(width, q):
    at = attack(q, (0.3, 0.3 + width))
    low, high = (p / (p + q - p * q) for p in (0.3, 0.3 + width))
    p = 0.3 + width / 2
    slope = q / (p + q - p * q) ** 2
    sd = slope * width / np.sqrt(12)
    found = rb.uncertainty(at, "risk", draws=1000)
    assert abs(found.sd - sd) <= (found.error + width**2 / q) * sd
    assert low <= found.mean <= high


def test_what_floats_do_not_resolve_is_said():
    found = rb.uncertainty(attack(1e-8, (0.3, 0.3 + 1e-10)), "risk", draws=1000)
    assert found.sd <= found.error  # of an sd of 0 the error is absolute
    assert "less than what can be told" in str(found)


def test_scattered_points_are_not_cut_off_after_thirty_bits():
    at = attack(0.95, (0, 0.074), number="min(p0, 0.99)")
    k, c, h = 0.05, 0.95, 0.074
    mean = (h / k - c / k**2 * np.log1p(k * h / c)) / h
    found = rb.uncertainty(at, "risk", draws=1000)
    assert abs(found.mean - mean) <= (found.error + 1e-11) * found.sd


def test_scattered_points_know_what_none_of_them_saw():
    """Where p < 1e-9 the answer turns: a ten-thousandth of what the points can see."""
    q = 1e-9
    at = attack(q, (0, 1), number="min(p0, 0.99)")
    found = rb.uncertainty(at, "risk", draws=1000)
    sd = np.sqrt(q)  # of what is missing from 1, to first order
    assert abs(found.sd - sd) <= found.error * found.sd


def test_a_steep_beta_prior_has_its_own_moments():
    at = attack(0.5, (0, 1), prior=", prior: {kind: beta, a: 500, b: 5000}")
    found = rb.uncertainty(at, "a=yes", given={}, draws=1000)
    law = stats.beta(500, 5000)
    assert found.mean == pytest.approx(law.mean(), rel=1e-12)
    assert found.sd == pytest.approx(law.std(), rel=1e-9)


def test_parts_of_a_function_of_three_are_those_of_its_definition():
    """Second-order parts by brute force: conditional means over a grid."""
    rng = np.random.default_rng(20261122)
    f, w = rng.random((4, 5, 6)), [rng.dirichlet(np.ones(n)) for n in (4, 5, 6)]
    mean, parts = decompose(f, w)
    full = np.einsum("i,j,k->ijk", *w)
    m = float((full * f).sum())
    one = np.einsum("ijk,j,k->i", f, w[1], w[2]) - m
    two = np.einsum("ijk,i,k->j", f, w[0], w[2]) - m
    pair = np.einsum("ijk,k->ij", f, w[2]) - m - one[:, None] - two[None, :]
    assert mean == pytest.approx(m, rel=1e-14)
    assert parts[1, 0, 0] == pytest.approx(float(w[0] @ one**2), rel=1e-12)
    assert parts[1, 1, 0] == pytest.approx(float(w[0] @ pair**2 @ w[1]), rel=1e-12)
