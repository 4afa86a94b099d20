"""What attempts teach: exact sums against rationals, and what is told of them."""

import json
from fractions import Fraction
from math import comb, factorial

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import reidbn as rb
from reidbn.cli import reidbn as command

HEAD = "schema_version: 1\nname: small\nparameters:\n"
PAIR = (
    HEAD
    + """  p: {value: 0.5, source: assumption}
  q: {value: 0.5, source: assumption, prior: {kind: beta, a: 2, b: 3}}
nodes:
  a: {rows: [{p: {yes: $p, no: rest}}]}
  b: {parents: [a], rows: [{when: {a: yes}, p: {yes: $q, no: rest}}, {p: {yes: $p, no: rest}}]}
questions: {risk: {target: b=yes}}
"""
)
SINGLE = HEAD + "  p: {{{spec}}}\nnodes:\n  a: {{rows: [{{p: {{yes: $p, no: rest}}}}]}}\n" \
    "questions: {{risk: {{target: a=yes}}}}\n"  # fmt: skip


def times(a, b):
    """Polynomials in p and q as {(power of p, power of q): coefficient}."""
    out = {}
    for (i, j), x in a.items():
        for (k, m), y in b.items():
            out[i + k, j + m] = out.get((i + k, j + m), Fraction(0)) + x * y
    return out


def power(base, n):
    out = {(0, 0): Fraction(1)}
    for _ in range(n):
        out = times(out, base)
    return out


def summed(poly):
    """The polynomial's mean under p uniform and q beta(2, 3), term by term."""

    def q_moment(n):
        return Fraction(factorial(n + 1) * 12 * 2, factorial(n + 4))

    return sum(c * Fraction(1, i + 1) * q_moment(j) for (i, j), c in poly.items())


def by_rationals(hits, trials, more=((0, 0),)):
    """Moments after the test: R = p q + (1 - p) p."""
    risk = {(1, 1): Fraction(1), (1, 0): Fraction(1), (2, 0): Fraction(-1)}
    rest = {(0, 0): Fraction(1), (1, 1): Fraction(-1), (1, 0): Fraction(-1), (2, 0): Fraction(1)}
    weight = times(power(risk, hits), power(rest, trials - hits))
    whole = summed(weight)
    chance = summed(times(weight, risk)) / whole
    moments = [summed({(i + a, j + b): c for (i, j), c in weight.items()}) / whole
               for a, b in more]  # fmt: skip
    return moments, chance, whole


@pytest.mark.parametrize(("hits", "trials"), [(0, 1), (2, 5), (5, 5), (3, 12)])
def test_what_is_learnt_is_exact(hits, trials):
    found = rb.learn(rb.loads(PAIR), [{"target": "b=yes", "hits": hits, "trials": trials}])
    powers = [(1, 0), (0, 1), (2, 0), (0, 2), (1, 1)]
    (p, q, pp, qq, pq), chance, whole = by_rationals(hits, trials, powers)
    assert found.method == "exact"
    # degrees 2 and 1: ceil((2 T + 2 + 1) / 2) and ceil((T + 2 + 1) / 2) points
    assert found.settings == -(-(2 * trials + 3) // 2) * -(-(trials + 3) // 2)
    assert (found["p"].mean, found["q"].mean) == pytest.approx((float(p), float(q)), abs=1e-13)
    assert found["p"].sd ** 2 == pytest.approx(float(pp - p * p), abs=1e-13)
    assert found["q"].sd ** 2 == pytest.approx(float(qq - q * q), abs=1e-13)
    assert found.tests[0].after == pytest.approx(float(chance), abs=1e-13)
    assert found.tests[0].before == pytest.approx(float(by_rationals(0, 0)[1]), abs=1e-14)
    assert found.log_evidence == pytest.approx(float(np.log(float(whole))), abs=1e-11)
    wanted = abs(float(pq - p * q)) / (found["p"].sd * found["q"].sd)
    assert found.correlation == pytest.approx(wanted, abs=1e-9)
    assert found.filled_in == ("p",)


@pytest.mark.parametrize(
    ("spec", "a", "b"),
    [
        ("value: 0.5, source: x", 1, 1),
        ("value: 0.5, source: x, prior: {kind: beta, a: 2, b: 7}", 2, 7),
        ("measured: {hits: 3, trials: 20, study: x}", 3.5, 17.5),
    ],
)
def test_a_chance_that_is_the_answer_stays_beta(spec, a, b):
    attack = rb.loads(SINGLE.format(spec=spec))
    found = rb.learn(attack, [{"target": "risk", "hits": 3, "trials": 40}])
    law = stats.beta(a + 3, b + 37)
    assert found.method == "exact"
    assert (found["p"].mean, found["p"].sd) == pytest.approx((law.mean(), law.std()), rel=1e-12)
    ends = (found["p"].low, found["p"].high)
    assert ends == pytest.approx(tuple(law.ppf([0.025, 0.975])), rel=2e-3)
    new = found.attack.parameters["p"]
    assert (new.prior.a, new.prior.b) == pytest.approx((a + 3, b + 37), rel=1e-9)
    assert float(rb.ask(found.attack, "risk")) == pytest.approx(law.mean())
    assert rb.loads(rb.dumps(found.attack)) == found.attack
    twice = rb.learn(found.attack, [{"target": "risk", "hits": 1, "trials": 5}])
    both = [{"target": "risk", "hits": 3, "trials": 40}, {"target": "risk", "hits": 1, "trials": 5}]
    assert twice["p"].mean == pytest.approx(rb.learn(attack, both)["p"].mean, rel=1e-9)


def test_evidence_and_other_priors_are_summed_until_nothing_moves():
    attack = rb.loads(PAIR)
    test = {"target": "a=yes", "given": {"b": "yes"}, "hits": 9, "trials": 12}
    found = rb.learn(attack, [test])
    x = (np.arange(2000) + 0.5) / 2000
    p, q = np.meshgrid(x, x, indexing="ij")
    rate = p * q / (p * q + (1 - p) * p)
    weight = rate**9 * (1 - rate) ** 3 * stats.beta.pdf(q, 2, 3)
    weight /= weight.sum()
    assert found.method == "quadrature"
    assert found.error < 1e-6
    assert found["q"].mean == pytest.approx((weight * q).sum(), abs=1e-6)
    assert found["p"].mean == pytest.approx((weight * p).sum(), abs=1e-6)
    tent = rb.loads(
        SINGLE.format(spec="value: 0.5, source: x, prior: {kind: triangular, mode: 0.3}")
    )
    found = rb.learn(tent, [{"target": "risk", "hits": 30, "trials": 60}])
    weight = stats.triang.pdf(x, 0.3) * x**30 * (1 - x) ** 30
    assert found["p"].mean == pytest.approx((weight @ x) / weight.sum(), abs=1e-7)
    assert found.error <= 1e-8


def test_many_attempts_are_resolved_or_refused():
    attack = rb.loads(SINGLE.format(spec="value: 0.5, source: x"))
    found = rb.learn(attack, [{"target": "risk", "hits": 30_000, "trials": 100_000}])
    law = stats.beta(30_001, 70_001)
    assert found.method == "quadrature"
    assert (found["p"].mean, found["p"].sd) == pytest.approx((law.mean(), law.std()), rel=1e-6)
    with pytest.raises(rb.errors.TooLarge, match="leaves too little of the priors of p"):
        rb.learn(attack, [{"target": "risk", "hits": 3 * 10**8, "trials": 10**9}])


def test_a_test_may_have_circumstances_of_its_own():
    attack = rb.loads(PAIR)
    tests = [
        {"target": "b=yes", "do": {"a": "yes"}, "hits": 4, "trials": 10},
        {"target": "b=yes", "set": {"p": 0.25}, "hits": 1, "trials": 3},
    ]
    found = rb.learn(attack, tests)
    x = (np.arange(4000) + 0.5) / 4000
    rate = 0.25 * x + 0.75 * 0.25
    weight = x**4 * (1 - x) ** 6 * rate * (1 - rate) ** 2 * stats.beta.pdf(x, 2, 3)
    assert found["p"].mean == pytest.approx(0.5)  # in the table, though it cannot matter here
    assert found["q"].mean == pytest.approx((weight @ x) / weight.sum(), abs=1e-6)


def test_learning_through_a_derived_number_is_exact():
    words = PAIR.replace("nodes:", "numbers: {r: p ^ 2 * q}\nnodes:").replace("yes: $q", "yes: $r")
    found = rb.learn(rb.loads(words), [{"target": "b=yes", "hits": 1, "trials": 4}])
    assert found.method == "exact"
    x = (np.arange(1500) + 0.5) / 1500
    p, q = np.meshgrid(x, x, indexing="ij")
    rate = p * p**2 * q + (1 - p) * p
    weight = rate * (1 - rate) ** 3 * stats.beta.pdf(q, 2, 3)
    assert found["p"].mean == pytest.approx((weight * p).sum() / weight.sum(), abs=1e-6)


def test_attempts_on_people_of_a_table_teach_by_their_mean_chance():
    people = rb.read_table(
        rb.datasets.synthetic_patients(60, seed=1), quasi_identifiers=["age", "sex", "state"]
    )
    result = rb.assess("marketer", people)
    found = rb.learn(result, [{"target": "risk", "hits": 2, "trials": 9}])
    case = result.whatif_case()
    x = (np.arange(2000) + 0.5) / 2000
    rate = case.each(case.answers({"p_c": x})).mean(axis=0)
    weight = rate**2 * (1 - rate) ** 7
    assert found.method == "exact"
    assert found["p_c"].mean == pytest.approx((weight @ x) / weight.sum(), abs=1e-6)
    assert found.tests[0].before == pytest.approx(rate.mean(), abs=1e-12)


@pytest.mark.slow
def test_intervals_after_tests_cover_as_they_say():
    """2,000 worlds drawn from the priors: 95 % within 1.5 %, three standard errors."""
    rng, attack, inside = np.random.default_rng(11), rb.loads(PAIR), 0
    known = {h: rb.learn(attack, [{"target": "b=yes", "hits": h, "trials": 12}])["q"]
             for h in range(13)}  # fmt: skip
    p, q = rng.random(2000), rng.beta(2, 3, 2000)
    hits = rng.binomial(12, p * q + (1 - p) * p)
    for h, x in zip(hits.tolist(), q.tolist(), strict=True):
        inside += known[h].low <= x <= known[h].high
    assert abs(inside / 2000 - 0.95) <= 0.015


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ([], "name a test"),
        ([{"target": "risk", "hits": 3}], "test 1 says no trials"),
        ([{"target": "risk", "hits": 5, "trials": 4}], "test 1 has 5 hits in 4 trials"),
        ([{"target": "risk", "hits": 0.5, "trials": 4}], "hits and trials are whole numbers"),
        ([{"target": "risk", "hit": 3, "trials": 9}], 'no key "hit"; did you mean "hits"'),
        ([{"target": "b=maybe", "hits": 3, "trials": 9}], 'b has no state "maybe"'),
        ([{"target": "b=yes", "do": {"b": "yes"}, "hits": 3, "trials": 9}], "."),
    ],
)
def test_what_is_wrong_is_said(tests, message):
    with pytest.raises(rb.ReidbnError, match=message):
        rb.learn(rb.loads(PAIR), tests)


def test_what_cannot_be_is_refused():
    sure = PAIR.replace("{yes: $p, no: rest}}]}\n  b", "{yes: 0, no: 1}}]}\n  b")
    with pytest.raises(rb.errors.UsageError, match="can never be in this model: a=yes"):
        rb.learn(rb.loads(sure.replace("yes: $p, no: rest}}]", "yes: 0, no: 1}}]"
                 ).replace("source: assumption, prior", "source: x, prior")),
                 [{"target": "a=yes", "hits": 1, "trials": 1},
                  {"target": "b=yes", "do": {"a": "yes"}, "hits": 1, "trials": 2}])  # fmt: skip


def test_the_shell_learns_saves_and_draws(tmp_path):
    path, new, picture = (tmp_path / n for n in ("pair.yaml", "new.yaml", "learnt.svg"))
    path.write_text(PAIR)
    words = ["learn", str(path), "--test", "risk: 3/40", "--save", str(new), "--plot", str(picture)]
    said = CliRunner().invoke(command, words, catch_exceptions=False)
    assert said.exit_code == 0
    assert "small: learnt from 1 test(s) (exact)" in said.output
    found = rb.learn(rb.loads(PAIR), [{"target": "risk", "hits": 3, "trials": 40}])
    assert rb.load(new) == found.attack
    assert picture.read_text().startswith("<?xml")
    told = CliRunner().invoke(command, [*words[:4], "--over", "q", "--json"])
    assert [u["parameter"] for u in json.loads(told.output)["parameters"]] == ["q"]
    wrong = CliRunner().invoke(command, ["learn", str(path), "--test", "risk 3 of forty"])
    assert "write TARGET: HITS/TRIALS" in str(wrong.exception or wrong.output)
    assert list(found.to_frame()["parameter"]) == ["p", "q"]


def test_the_oracle_sums_to_one():
    """All outcomes of five attempts together: the rationals themselves."""
    ways = [comb(5, h) * by_rationals(h, 5)[2] for h in range(6)]
    assert sum(ways) == 1


def test_an_attack_that_learnt_from_an_event_is_a_model_file_again(tmp_path):
    """It kept the nodes of the question it was asked, which no reader knows."""
    for tests in (
        [{"target": "exposed>=2", "hits": 3, "trials": 40}],
        [{"target": "risk", "given": {"exposed": ">=1"}, "hits": 3, "trials": 40}],
    ):
        found = rb.learn("family-search", tests)
        assert {*found.attack.nodes} == {*rb.load("family-search").nodes}
        path = tmp_path / "learnt.yaml"
        rb.save(found.attack, path)
        assert rb.load(path) == found.attack
    known = {"target": "risk", "given": {"known": ">=1"}, "hits": 3, "trials": 40}
    insider = rb.learn("insider-decides", [known]).attack
    told = rb.decide("insider-decides", "identified=yes and not aim=money").attack
    for attack in (insider, told):
        assert {*attack.nodes} <= {*rb.load("insider-decides").nodes}
        rb.save(attack, tmp_path / "decided.yaml")
        assert rb.load(tmp_path / "decided.yaml") == attack
    risk = rb.ask(told, "identified=yes and not aim=money")
    assert float(risk) == pytest.approx(
        float(rb.ask("insider-decides", "identified=yes and not aim=money")), abs=1e-15
    )


@pytest.mark.parametrize(("hits", "trials"), [(3, 40), (1, 2), (9, 9)])
def test_what_is_kept_says_where_it_answers_otherwise_than_was_told(hits, trials, tmp_path):
    """The mean of the answers is not the answer at the means: both numbers, by rationals."""
    found = rb.learn(rb.loads(PAIR), [{"target": "risk", "hits": hits, "trials": trials}])
    (p, q), chance, _ = by_rationals(hits, trials, more=((1, 0), (0, 1)))
    (seen,) = found.tests
    assert seen.after == pytest.approx(float(chance), abs=1e-12)
    at_means = float(p * q + (1 - p) * p)
    assert seen.saved == pytest.approx(at_means, abs=1e-12)
    path = tmp_path / "kept.yaml"
    rb.save(found.attack, path)
    assert float(rb.ask(str(path), "risk")) == pytest.approx(at_means, abs=1e-12)
    numbers = f"{float(chance):.4g}", f"{at_means:.4g}"
    assert numbers[0] != numbers[1]
    for words in (str(found), rb.load(path).story):
        assert all(number in words for number in numbers), words
    again = rb.learn(str(path), [{"target": "risk", "hits": 1, "trials": 7}])
    assert again.attack.story.count("Learnt of") == 1
    assert "risk: 1 of 7" in again.attack.story
    assert found.to_dict()["tests"][0]["saved"] == seen.saved


def test_where_what_is_kept_answers_what_was_told_nothing_is_said():
    found = rb.learn(rb.loads(SINGLE.format(spec="value: 0.5, source: assumption")),
                     [{"target": "risk", "hits": 3, "trials": 40}])  # fmt: skip
    (seen,) = found.tests
    assert seen.saved == pytest.approx(seen.after, abs=1e-12)
    assert not seen.differs
    assert "Learnt of" not in found.attack.story
    assert "one attempt" not in str(found)


@pytest.mark.parametrize("size", ["1.0e+10", "10000000000"])  # a fraction, and a whole number
def test_a_law_of_huge_shapes_is_learnt_from_as_from_any_other(size):
    spec = f"value: 0.5, source: assumption, prior: {{kind: beta, a: {size}, b: {size}}}"
    attack = rb.loads(SINGLE.format(spec=spec))
    found = rb.learn(attack, [{"target": "risk", "hits": 3, "trials": 40}])
    law = stats.beta(1e10 + 3, 1e10 + 37)
    assert found["p"].mean == pytest.approx(law.mean(), abs=1e-14)
    assert found["p"].sd == pytest.approx(law.std(), rel=1e-4)
    assert found["p"].low == pytest.approx(law.ppf(0.025), abs=0.01 * law.std())


@pytest.mark.parametrize("shapes", ["a: 1.0e+15, b: 1.0e+14", "a: 1.0e+200, b: 1.0e+200"])
def test_a_law_without_digits_is_refused_at_once(shapes):
    """It was cut into ever smaller pieces, all of them noise, for minutes."""
    spec = f"value: 0.5, source: assumption, prior: {{kind: beta, {shapes}}}"
    attack = rb.loads(SINGLE.format(spec=spec))
    tests = [{"target": "risk", "hits": 3, "trials": 40}]
    for ask in (rb.uncertainty, rb.sobol, lambda *of: rb.learn(of[0], tests)):
        with pytest.raises(rb.UsageError, match=r"p: its beta prior .* too narrow for the digits"):
            ask(attack, "risk")
