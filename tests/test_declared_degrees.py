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
        note = "q: a polynomial as the author of function declared-square declares"
        assert note in str(found)
        assert found.to_dict()["notes"] == (note,)


@rb.cpd.cpd_function("declared-of-one", degree={"q": 1})
def of_one(q, r, s):
    return q * np.abs(r - s)


def test_what_was_told_from_scattered_points_rests_on_nobodys_word():
    """Answers bend across r and s, so that all are points: no degree in q had a say in them."""
    r = {"value": 0.3, "range": [0, 1], "unit": "probability", "source": "assumption"}
    more = {"r": r, "s": {**r, "value": 0.6}}
    attack = attack_of("declared-of-one", parameters={**MODEL["parameters"], **more})
    test = [{"target": "risk", "hits": 1, "trials": 4}]
    for found in (
        rb.sobol(attack, "risk"), rb.uncertainty(attack, "risk"), rb.learn(attack, test),
        rb.sobol(attack, "risk", over=["r"]), rb.uncertainty(attack, "risk", over=["r"]),
        rb.learn(attack, test, over=["r"]),
    ):  # fmt: skip
        assert "author" not in str(found)
    for found in (
        rb.sobol(attack, "risk", over=["q"]), rb.uncertainty(attack, "risk", over=["q"]),
        rb.learn(attack, test, over=["q"]),
    ):  # fmt: skip
        assert "q: a polynomial as the author of function declared-of-one" in str(found)


def test_a_degree_that_is_wrong_for_each_is_not_hidden_by_their_sum():
    """q^2 of one and q - q^2 of another are a straight line together."""
    which = {"which": {"unit": "kind", "range": [0, 1]}}
    attack = attack_of("declared-of-some", subject=which, example={"which": 0})
    with pytest.raises(rb.UsageError, match="no polynomial of degree 1"):
        rb.whatif.subject_uncertainty(attack, "risk", subject={"which": [0, 1]})


def falling(q, r):
    return np.exp(-3 * q) * (1 + r * q) / 2


def falls_without_a_word(q, r):
    return falling(q, r)


rb.cpd.cpd_function("declared-smooth", smooth=True)(falling)
rb.cpd.cpd_function("declared-nothing")(falls_without_a_word)


def test_what_is_declared_smooth_is_a_quadrature_and_measured():
    x, w = np.polynomial.legendre.leggauss(40)
    at, shares = (x + 1) / 2, np.outer(w, w) / 4
    values = falling(at[:, None], at)
    mean = float((shares * values).sum())
    sd = float((shares * (values - mean) ** 2).sum()) ** 0.5
    methods = {}
    two = {**MODEL["parameters"], "r": {"value": 0.5, "range": [0, 1], "source": "assumption"}}
    for name in ("declared-smooth", "declared-nothing"):
        found = rb.whatif.uncertainty(attack_of(name, parameters=two), "risk", draws=500)
        methods[name] = found.method
        assert abs(found.mean - mean) <= found.error * sd + 1e-13
        assert abs(found.sd - sd) <= found.error * sd + 1e-13
    assert methods == {"declared-smooth": "quadrature", "declared-nothing": "scattered points"}
    with pytest.raises(rb.UsageError, match="what jumps is not smooth"):
        rb.cpd.cpd_function("both", smooth=True, step=True)


LIES = {
    "slant": lambda q, r: np.where(q + r > 1.3, 0.9, 0.1),
    "band": lambda q, r: np.where(np.abs(q - r) < 0.004, 0.95, q * r),
    "peak": lambda q, r: 0.2 + 0.7 * np.exp(-(((q - r) / 2e-3) ** 2)),
}


@pytest.mark.parametrize("name", LIES)
def test_what_is_wrongly_declared_smooth_is_off_by_no_more_than_it_says(name):
    rb.cpd.cpd_function(f"lies-{name}", smooth=True)(LIES[name])
    u = (np.arange(4_000) + 0.5) / 4_000
    values = LIES[name](u[:, None], u[None])
    two = {**MODEL["parameters"], "r": {"value": 0.5, "range": [0, 1], "source": "assumption"}}
    found = rb.whatif.uncertainty(attack_of(f"lies-{name}", parameters=two), "risk", draws=100)
    assert abs(found.mean - values.mean()) <= found.error * values.std() + 1e-6
    assert abs(found.sd - values.std()) <= found.error * values.std() + 1e-6


def test_a_count_of_experts_is_refused_by_name_with_what_would_be_right():
    """It was "a number of attempts of 1.00000000001"."""
    quantiles = {0.05: 2, 0.5: 4, 0.95: 8}
    n = {"elicited": [{"expert": "A", "quantiles": quantiles}], "within": [1, 12], "pool": "linear",
         "unit": "attempts", "source": "assumption"}  # fmt: skip
    content = {**MODEL, "parameters": {"n": n}, "nodes": {
        "hits": {"states": [str(i) for i in range(13)], "source": "assumption",
                 "cpd": {"kind": "binomial", "n": "$n", "p": 0.3}}},
        "questions": {"risk": {"target": "hits=1"}}}  # fmt: skip
    attack = rb.attack.loads(json.dumps(content))
    with pytest.raises(rb.errors.ModelError, match=r"\. n is asked at values that are no counts"):
        rb.whatif.uncertainty(attack, "risk", draws=100)


@rb.cpd.cpd_function("declared-spike", degree={"q": 1})
def spike(q):
    """0.9 at one value alone, that of the model, and said to be a straight line."""
    return np.where(q == 0.3, 0.9, 0.1)


def test_solve_sees_the_parameters_own_value_though_it_stands_alone():
    attack = attack_of("declared-spike")
    asked = float(rb.ask(attack, "risk"))
    assert asked == pytest.approx(0.9)
    for target in (0.1, 0.5):
        found = rb.solve(attack, "risk", "q", target)
        assert found.status == "crosses"
        (first, last), (then, end) = found.under
        assert (first, end) == (0, 1)
        assert 0.3 - 1e-9 < last < 0.3 < then < 0.3 + 1e-9


@rb.cpd.cpd_function("declared-records", degree={"n": 1, "q": 1})
def of_records(q, n):
    return q * n / 1000


@rb.cpd.cpd_function("declared-records-square", degree={"n": 1, "q": 1})
def of_records_squared(q, n):
    return q * n * n / 1e6


def test_a_degree_in_whole_numbers_is_looked_at_in_whole_numbers():
    for value, ends in ((10, [0, 100]), (1, [1, 2]), (7, [7, 7])):
        n = {"value": value, "range": ends, "unit": "records", "source": "assumption"}
        attack = attack_of("declared-records", parameters={**MODEL["parameters"], "n": n})
        bars = {b.parameter: b for b in rb.tornado(attack, "risk").bars}
        assert (bars["q"].at_low, bars["q"].at_high) == pytest.approx((0, value / 1000))
        slopes = rb.whatif.derivatives(attack, "risk", over=["q"]).derivative
        assert slopes.tolist() == pytest.approx([value / 1000])
        if ends[0] < ends[1]:
            assert bars["n"].at_high == pytest.approx(0.3 * ends[1] / 1000)
            found = rb.solve(attack, "risk", "n", 0.3 * ends[1] / 1000)
            assert found.under == ((ends[0], ends[1]),)
    n = {"value": 10, "range": [0, 100], "unit": "records", "source": "assumption"}
    lie = attack_of("declared-records-square", parameters={**MODEL["parameters"], "n": n})
    with pytest.raises(rb.UsageError, match="no polynomial of degree 1 in it"):
        rb.tornado(lie, "risk")


@rb.cpd.cpd_function("declared-sliver", degree={"q": 2})
def sliver(q):
    return np.where(np.abs(q - 0.3701) < 1e-4, 0.95, q)


def test_learn_looks_at_a_degree_closer_where_what_was_seen_leaves_little():
    """Narrower than the values at which a whole range is looked at, and a part of what is left."""
    attack = attack_of("declared-sliver")
    assert rb.learn(attack, [{"target": "a=yes", "hits": 1, "trials": 4}]).parameters
    with pytest.raises(rb.UsageError, match="no polynomial of degree 2 in it: mend the degree"):
        rb.learn(attack, [{"target": "a=yes", "hits": 370, "trials": 1000}])


@rb.cpd.cpd_function("declared-jump-of-some", degree={"q": 2})
def jump_of_some(which, q):
    return np.where((np.abs(q - 0.37) < 0.001) & (which >= 0), 0.95, q)


def test_a_degree_that_is_wrong_on_a_narrow_stretch_is_found_out_of_many_people():
    which = {"which": {"unit": "kind", "range": [0, 1000]}}
    attack = attack_of("declared-jump-of-some", subject=which, example={"which": 0})
    with pytest.raises(rb.UsageError, match="no polynomial of degree 2 in it: mend the degree"):
        rb.tornado(attack, "risk", subject={"which": np.arange(100)})
