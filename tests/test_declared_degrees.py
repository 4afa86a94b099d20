"""A function's degree is its author's word: what rests on it does not say that it is proved."""

import json

import numpy as np
import pytest

import reidbn as rb

MODEL = {
    "schema_version": 1, "name": "declared",
    "parameters": {"q": {"value": 0.3, "range": [0, 1], "source": "assumption"}},
    "questions": {"risk": {"target": "a=yes"}},
}  # fmt: skip


@rb.cpd.cpd_function("declared-jump", degree={"q": 2})
def jump(q):
    return np.where(np.abs(q - 0.37) < 0.004, 0.95, q)


@rb.cpd.cpd_function("declared-square", degree={"q": 2})
def square(q):
    return q * q


@rb.cpd.cpd_function("declared-of-some", degree={"q": 1})
def of_some(which, q):
    """Wrong for each of two people, and right of their sum."""
    return np.where(which == 0, q * q, q - q * q)


def attack_of(name, **more):
    node = {"cpd": {"kind": "function", "name": name}, "source": "assumption"}
    return rb.attack.loads(json.dumps({**MODEL, "nodes": {"a": node}, **more}))


ASKED = {
    "tornado": lambda a: rb.tornado(a, "risk"),
    "solve": lambda a: rb.solve(a, "risk", "q", 0.35),
    "uncertainty": lambda a: rb.whatif.uncertainty(a, "risk", draws=500),
    "sobol": lambda a: rb.whatif.sobol(a, "risk"),
    "derivatives": lambda a: rb.whatif.derivatives(a, "risk"),
    "learn": lambda a: rb.learn(a, [{"target": "a=yes", "hits": 1, "trials": 4}]),
}


@pytest.mark.parametrize("verb", ASKED)
def test_a_degree_that_is_wrong_on_a_narrow_stretch_is_found_out(verb):
    """A mean of .5 was called exact; it is .5046."""
    with pytest.raises(rb.UsageError, match="no polynomial of degree 2 in it: mend the degree"):
        ASKED[verb](attack_of("declared-jump"))


@pytest.mark.parametrize("verb", ASKED)
def test_what_rests_on_a_declared_degree_is_right_and_is_not_called_exact(verb):
    found = ASKED[verb](attack_of("declared-square"))
    assert "exact" not in str(found)
    if verb == "tornado":
        (bar,) = found.bars
        assert bar.method == "as declared by the author"
        assert (bar.lowest, bar.highest) == pytest.approx((0, 1), abs=1e-12)
    if verb == "solve":
        assert "as declared by the author" in str(found)
        assert found.values == pytest.approx([0.35**0.5], abs=1e-9)
    if verb in ("uncertainty", "sobol"):
        assert found.mean == pytest.approx(1 / 3, abs=1e-12)
        assert found.sd == pytest.approx((1 / 5 - 1 / 9) ** 0.5, abs=1e-12)
        assert "q: a polynomial as the author of function declared-square declares" in str(found)
        assert found.error < 1e-9
    if verb == "learn":  # q^2 (1-q^2)^3 over a uniform prior
        mass = 1 / 3 - 3 / 5 + 3 / 7 - 1 / 9
        mean = (1 / 4 - 3 / 6 + 3 / 8 - 1 / 10) / mass
        assert found.parameters[0].mean == pytest.approx(mean, abs=1e-9)


def test_a_degree_that_is_wrong_for_each_is_not_hidden_by_their_sum():
    """q^2 of one and q - q^2 of another are a straight line together."""
    which = {"which": {"unit": "kind", "range": [0, 1]}}
    attack = attack_of("declared-of-some", subject=which, example={"which": 0})
    with pytest.raises(rb.UsageError, match="no polynomial of degree 1"):
        rb.whatif.subject_uncertainty(attack, "risk", subject={"which": [0, 1]})
