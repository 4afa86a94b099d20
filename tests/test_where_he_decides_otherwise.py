"""What is said where an attacker changes his mind: ends of intervals, errors, slopes."""

import re
from itertools import pairwise

import numpy as np
import pytest
from inside import inside

import reidbn as rb

SMALL = """
schema_version: 1
name: small
title: small
story: Goes where it pays
sources: [me]
parameters:
  p: {{value: {p}, range: [0, 1], prior: {{kind: beta, a: 2, b: 3}}, source: assumption}}
  w: {{value: {w}, range: [0, 100], unit: euro, prior: {{kind: uniform}}, source: assumption}}
  q: {{measured: {{hits: 30, trials: 50, study: s}}}}
decisions:
  go: {{options: [no, yes], sees: [seen], story: Goes, source: assumption}}
utilities:
  gain: {{of: [ok], unit: euro, rows: [{{when: {{ok: yes}}, value: $w}}, {{value: 0}}],
         source: assumption}}
  cost: {{of: [go], unit: euro, rows: [{{when: {{go: yes}}, value: -{cost}}}, {{value: 0}}],
         source: assumption}}
nodes:
  seen: {{cpd: {{kind: probability, p: 0.5}}, source: assumption}}
  can: {{parents: [seen],
        rows: [{{when: {{seen: yes}}, p: {{yes: $q, no: rest}}}}, {{p: {{yes: $p, no: rest}}}}]}}
  ok: {{parents: [go, can], cpd: {{kind: and}}}}
questions:
  risk: {{target: ok=yes}}
"""


def small(*, p=0.3, w=50.0, cost=15):
    return rb.attack.loads(SMALL.format(p=p, w=w, cost=cost))


def asked_at_its_ends(attack, parameter, target, ask, **how):
    """How many ends there are besides those of the range; each keeps the target, as printed too."""
    found = rb.solve(attack, *how.pop("question", ("risk",)), parameter, target=target)
    limit = target * (1 + 1e-12)
    printed = re.search(r"at or under it for .*?: (.*?)(?:, as far as|;|\n|$)", str(found))
    told = re.findall(r"[-+.\de]+", printed[1].replace(" to ", " ")) if printed else []
    for value in [*(x for piece in found.under for x in piece), *map(float, told)]:
        assert ask({parameter: value}) <= limit, (parameter, target, value)
    return len({x for piece in found.under for x in piece} - {found.low, found.high})


@pytest.mark.wide
def test_every_end_that_is_said_to_keep_the_target_keeps_it_when_asked():
    rng, ends = np.random.default_rng(20251122), 0

    def ask(s):
        return float(rb.ask(attack, "risk", set=s))

    for _ in range(2):
        attack = small(p=round(rng.uniform(0.05, 0.95), 2), w=round(rng.uniform(20, 95), 1),
                       cost=round(rng.uniform(1, 14), 1))  # fmt: skip
        for name in ("p", "w"):
            base = float(rb.ask(attack, "risk"))
            for target in (base, 0.6 * base):
                ends += asked_at_its_ends(attack, name, target, ask)
    assert ends >= 5


@pytest.mark.parametrize(
    ("name", "target"),
    [("fine", 0.0005), ("worth", 0.0004), ("effort", 0.0004), ("amusement", 0.01)],
)
def test_the_ends_of_the_insider_who_decides_keep_the_target(name, target):
    def ask(s):
        return float(rb.ask("insider-decides", "risk", set=s))

    assert asked_at_its_ends("insider-decides", name, target, ask)


def test_the_ends_of_an_assessment_keep_the_target():
    people = rb.read_table(rb.datasets.synthetic_patients(40, seed=1),
                           quasi_identifiers=["age", "sex", "state", "race"])  # fmt: skip
    result = rb.assess("insider-decides", people, scenario="voter-registration")

    def ask(s):
        return float(rb.what_if(result, set=s).risk().mean())

    target = 0.7 * ask({})
    ends = [asked_at_its_ends(result, n, target, ask, question=()) for n in ("fine",)]
    assert sum(ends)


def test_slopes_keep_the_policy_and_say_so():
    near = small(p=0.302, w=50.0)  # he goes from p = .3 on
    found = rb.whatif.derivatives(near, "risk", over=["p", "w"]).set_index("parameter")
    assert found.derivative.tolist() == pytest.approx([0.5, 0.0], abs=1e-9)
    assert found.method.str.endswith("the attacker's policy kept").all()
    at_it = rb.whatif.derivatives(small(), "risk", over="p")
    assert at_it.method.tolist() == ["finite difference, the attacker decides otherwise close by"]


def test_a_scenario_is_a_control_of_an_assessment():
    people = rb.read_table(rb.datasets.synthetic_patients(40, seed=1),
                           quasi_identifiers=["age", "sex", "state", "race"])  # fmt: skip
    result = rb.assess("insider-decides", people, scenario="voter-registration")
    found = rb.decide(result, set={"fine": 900.0})
    by_name = found.controls({"c": {"scenario": "worst-case", "cost": 1}})
    then = rb.what_if(result, scenario="worst-case", set={"fine": 900.0})
    assert by_name["risk"].item() == pytest.approx(rb.decide(then).risk, abs=1e-15)
    assert by_name["risk"].item() != pytest.approx(found.risk)


def test_a_parameter_that_only_a_function_reads_is_not_unused(tmp_path):
    (tmp_path / "fn.yaml").write_text(
        "schema_version: 1\nname: fn\ntitle: fn\nstory: fn\nsources: [me]\nparameters:\n"
        "  p_base: {value: 0.4, range: [0, 1], source: assumption}\nnodes:\n"
        "  named: {cpd: {kind: function, name: not_registered_here}, source: assumption}\n"
        "questions: {risk: {target: named=yes}}\n"
    )
    found = [str(problem) for problem in rb.check(tmp_path / "fn.yaml")]
    assert len(found) == 1
    assert "no function is registered" in found[0]


def legendre(cuts, density):
    """Gauss-Legendre points and weights of a law between break points."""
    x, w = np.polynomial.legendre.leggauss(40)
    ends = sorted({*cuts})
    at = [((a + b) / 2 + (b - a) / 2 * x, (b - a) / 2 * w)
          for a, b in pairwise(ends)]  # fmt: skip
    points = np.concatenate([a for a, _ in at])
    return points, np.concatenate([b for _, b in at]) * density(points)


def right_of_small(hits=0, trials=0):
    """Mean and sd of the answer, p, w and q after attempts, cut where he begins to go: w p = 15."""
    from scipy.stats import beta

    total = np.zeros(9)
    for w, share in zip(*legendre([0, 15, 16, 18, 22, 30, 50, 100], lambda x: 0 * x + 0.01),
                        strict=True):  # fmt: skip
        edge = min(15 / w, 1)
        p, of_p = legendre([0, edge, 1], beta(2, 3).pdf)
        q, of_q = legendre([0, 0.4, 0.5, 0.6, 0.7, 0.8, edge, 1], beta(30.5, 20.5).pdf)
        p = p[:, None]
        goes = 0.5 * (q * (q >= edge) + p * (p >= edge))
        seen = of_p[:, None] * of_q * share * goes**hits * (1 - goes) ** (trials - hits)
        total += [(seen * x).sum() for x in (np.ones(1), goes, goes**2, p, p**2, w, w**2, q, q**2)]
    means = total / total[0]
    names = ("answer", "p", "w", "q")
    return {n: (means[2 * i + 1], np.sqrt(means[2 * i + 2] - means[2 * i + 1] ** 2))
            for i, n in enumerate(names)}  # fmt: skip


def off(found, right):
    """How far a mean and an sd are off, in sds."""
    return max(abs(found[0] - right[0]), abs(found[1] - right[1])) / right[1]


def test_what_is_said_of_the_error_is_no_less_than_the_error_where_he_decides():
    # Errors are stated at 99.9 %; the points are the same at every run.
    attack, right = small(), right_of_small()["answer"]
    told = rb.whatif.uncertainty(attack, "risk", draws=2_000)
    assert off((told.mean, told.sd), right) <= told.error <= 3e-3
    split = rb.whatif.sobol(attack, "risk")
    assert off((split.mean, split.sd), right) <= split.error <= 0.01
    below = told.quantiles[0.25]
    assert below.low <= 0.2316 <= below.high  # of a million draws of the closed form


@pytest.mark.parametrize("hits", [0, 4])
def test_what_attempts_teach_is_within_its_error_where_he_decides(hits):
    right = right_of_small(hits, 20)
    found = rb.learn(small(), [{"target": "risk", "hits": hits, "trials": 20}])
    worst = max(off((found[n].mean, found[n].sd), right[n]) for n in ("p", "w", "q"))
    assert worst <= found.error <= 0.01


def test_one_parameter_alone_jumps_too():
    w = (np.arange(200_000) + 0.5) / 2_000
    answers = 0.5 * (0.3 * (w >= 50) + 30.5 / 51 * (w * 30.5 / 51 >= 15))
    base = float(rb.ask(small(w=60.0), "risk"))  # q stands at its mean
    assert base == pytest.approx(0.5 * (0.3 + 30.5 / 51))
    told = rb.whatif.uncertainty(small(), "risk", over="w", draws=100)
    assert off((told.mean, told.sd), (answers.mean(), answers.std())) <= told.error + 1e-4


def test_the_lesser_of_two_numbers_is_within_its_error():
    attack = rb.attack.loads("""
schema_version: 1
name: kink
title: kink
story: kink
sources: [me]
parameters:
  p: {value: 0.3, range: [0, 1], prior: {kind: beta, a: 2, b: 3}, source: assumption}
  r: {value: 0.5, range: [0, 1], prior: {kind: uniform}, source: assumption}
numbers: {m: {is: "min(p, r)", source: assumption}}
nodes: {b: {cpd: {kind: probability, p: $m}}}
questions: {two: {target: b=yes}}
""")
    p, of_p = legendre([0, 1], lambda x: 12 * x * (1 - x) ** 2)
    mean, square = (of_p * (p - p**2 / 2)).sum(), (of_p * (p**2 - 2 * p**3 / 3)).sum()
    right = mean, np.sqrt(square - mean**2)
    for told in (rb.whatif.uncertainty(attack, "two", draws=100), rb.whatif.sobol(attack, "two")):
        assert off((told.mean, told.sd), right) <= told.error <= 0.01


@pytest.mark.wide
def test_draws_are_as_many_as_a_model_allows_where_no_number_is_given():
    told = rb.whatif.uncertainty("insider-decides", "risk", over=["p_audit", "worth", "fine"])
    assert 1_000 <= told.samples <= 100_000
    assert "scattered points, mean and sd off by at most" in str(told)


WARNED = """
schema_version: 1
name: warned
title: warned
story: Takes the sure way where he knows little
sources: [me]
parameters:
  sure: {value: 4.0, range: [0, 100], unit: euro, source: assumption, story: a}
  prize: {value: 24.0, range: [0, 100], unit: euro, source: assumption, story: a}
subject:
  class_size: {per: known, unit: records, range: [1, 1000000], story: a}
groups:
  known: {story: a, members: [knows_a, knows_b], probability: [0.5, 0.5], source: assumption}
decisions:
  way: {story: a, options: [hold, x, y], sees: [known], source: assumption}
utilities:
  gain:
    {of: [way, right], unit: euro, story: a, rows: [{when: {way: x}, value: $sure},
     {when: {way: y, right: yes}, value: $prize}, {value: 0}]}
nodes:
  right: {story: a, parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  hit:
    story: a
    parents: [way, right]
    source: assumption
    rows: [{when: {way: x}, p: {yes: 0.5, no: rest}},
           {when: {way: y, right: yes}, p: {yes: 1, no: rest}}, {p: {yes: 0, no: rest}}]
questions:
  risk: {target: hit=yes}
example: {class_size: [900, 300, 300, 2]}
"""


def test_what_lowers_the_risk_is_told_as_a_difference(tmp_path):
    """Who knows both is right in one case of four and tries for the prize; else he hits with 0.5.

    With nothing or one known the sure way is worth more, so each adds half of 0.25 - 0.5.
    """
    codes = [[a, b] for a in range(6) for b in range(6) for _ in range(4)]
    people = rb.People.from_codes(codes, ["age", "town"])
    result = rb.assess(rb.attack.loads(WARNED), people, known="worst-case")
    assert result.risk() == pytest.approx(0.25)
    own = result.report(tmp_path / "own.md", threshold={"overall": 0.2}, custodian=True)
    assert re.findall(r"\| (?:age|town) \| (-[\d.]+) \|", own.read_text()) == ["-0.125", "-0.125"]
    out = result.report(tmp_path / "out.md", threshold={"overall": 0.2}).read_text()
    ends = re.findall(r"\| (?:age|town) \| up to (\S+) \|", out)
    assert len(ends) == 2
    assert all(float(end) >= -0.125 for end in ends)


def test_a_level_above_what_is_below_nothing_is_not_under_it():
    """Outwards "up to" holds for every mean that its two ends leave, below 0 too."""
    telling = inside(rb.report.report).Telling()
    for mean in (-0.0111, -0.035, -0.111, -0.4, -0.9, 0.0111, 0.4):
        values = np.full(300, mean)
        low, high = telling.mean_ends(values)
        assert low <= mean <= high <= telling.rough(values)
        assert not telling.roughly(values).endswith("-0")


COUNTED = """
schema_version: 1
name: counted
parameters:
  fine: {value: 5, range: [1, 9], unit: euro, source: assumption}
  k: {value: 2, range: [1, 4], unit: attempts, source: assumption}
  p: {value: 0.3, range: [0.1, 0.9], source: assumption}
numbers: {loss: "-fine", most: "max(k, 3)"}
decisions: {tries: {options: [no, yes]}}
nodes:
  right: {states: "0..4", cpd: {kind: binomial, p: $p, n: $k}, source: assumption}
  hit: {parents: [tries, right], rows: [{when: {tries: yes, right: ">=1"}, p: {yes: 1}}, {p: {no: 1}}]}
utilities:
  gain: {of: [hit], unit: euro, rows: [{when: {hit: yes}, value: 10}, {value: 0}], source: assumption}
  cost: {of: [tries], unit: euro, rows: [{when: {tries: yes}, value: $loss}, {value: 0}], source: assumption}
questions: {risk: {target: hit=yes}}
"""  # noqa: E501


def test_a_count_beside_a_derived_number_moves_by_whole_numbers():
    """He tries where 10 P(hit) is more than the fine of 5."""
    found = rb.tornado(rb.loads(COUNTED), "risk", over=["k"])
    hit = [1 - 0.7**k for k in (1, 2, 3, 4)]
    told = [p if 10 * p > 5 else 0.0 for p in hit]
    (bar,) = found.bars
    assert (bar.lowest, bar.highest) == pytest.approx((min(told), max(told)), abs=1e-12)
