"""The cross-check keeps its promises: few false alarms, planted errors caught, doubt admitted.

Rates: each stochastic test here states the probability with which a correct program fails it.
"""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from attacks import routes, routes_subjects
from inside import inside
from scipy.stats import binom

import reidbn as rb
from reidbn.attack import Attack, Node, Parameter
from reidbn.cpds import HypergeometricLeak, OneOver, Row, Rows, Share
from reidbn.errors import CrosscheckFailed, UsageError
from reidbn.inference import Counted, count_rare, crosscheck, enumeration, lower
from reidbn.theory import clustered_interval, detectable, disagrees, interval, tell_apart


@pytest.mark.parametrize("p", [0.002, 0.3, 0.97])
def test_a_right_probability_is_rejected_no_more_often_than_promised(p):
    # Exact: the total mass of the rejected counts.
    trials, level = 400, 0.05
    rejected = [h for h in range(trials + 1) if disagrees(h, trials, p, level=level)]
    assert binom.pmf(rejected, trials, p).sum() <= level


def test_a_share_of_attempts_on_the_same_people_has_its_interval():
    """Of 2,000 bins 95 % should hold; below 93 or above 97.5 % in one of some 10^4 runs at most."""
    rng, held, naive, bins = np.random.default_rng(98), 0, 0, 2_000
    for _ in range(bins):
        chances, trials = rng.beta(0.5, 2.0, 60), 1 + rng.poisson(300, 60)
        hits = rng.binomial(trials, chances)
        for_people = clustered_interval(hits, trials)
        for_attempts = interval(int(hits.sum()), int(trials.sum()))
        held += for_people[0] <= 0.2 <= for_people[1]
        naive += for_attempts[0] <= 0.2 <= for_attempts[1]
    assert 0.93 <= held / bins <= 0.975
    assert naive / bins < 0.3
    once = rng.integers(0, 2, 500)  # one attempt on each person: no more than attempts say
    assert clustered_interval(once, np.ones(500)) == pytest.approx(
        interval(int(once.sum()), 500), rel=0.01
    )
    assert clustered_interval(np.zeros(9, int), np.full(9, 90)) == interval(0, 9)


@pytest.mark.parametrize(("trials", "p"), [(1000, 0.5), (1000, 0.01), (50_000, 0.2)])
def test_an_error_of_the_stated_size_is_caught_19_times_in_20(trials, p):
    level = 1e-6
    error = detectable(trials, p, level=level)
    counts = np.arange(trials + 1)
    rejected = np.array([disagrees(int(h), trials, p, level=level) for h in counts])
    for wrong in (p + error, p - error):
        if 0 <= wrong <= 1:
            assert binom.pmf(counts[rejected], trials, wrong).sum() >= 0.95 - 1e-9


def test_the_stated_size_is_the_smallest_one():
    trials, p, level = 1000, 0.3, 1e-3
    error = detectable(trials, p, level=level) - 0.002
    counts = np.arange(trials + 1)
    rejected = np.array([disagrees(int(h), trials, p, level=level) for h in counts])
    power = [binom.pmf(counts[rejected], trials, p + e).sum() for e in (error, -error)]
    assert min(power) < 0.95


def test_intervals_cover_as_often_as_they_say():
    trials = 60
    for p in (0.02, 0.4):
        covered = [
            h for h in range(trials + 1) if interval(h, trials)[0] <= p <= interval(h, trials)[1]
        ]
        assert binom.pmf(covered, trials, p).sum() >= 0.95


def test_rare_cases_are_not_called_decided():
    assert not tell_apart(1_000_000, 1e-6, level=1e-8)
    assert tell_apart(1_000_000, 1e-3, level=1e-8)
    assert tell_apart(1_000_000, 0.0, level=1e-8)
    assert not tell_apart(0, 0.5, level=1e-8)
    assert not tell_apart(40, 0.5, level=1e-8)


def leak(k: int = 4) -> Attack:
    return Attack(
        "leak",
        parameters=[
            Parameter("records", 40, 10, 100, "records"),
            Parameter("leaked", 12, 0, 40, "records"),
            Parameter("class_size", k, 1, 10, "records"),
        ],
        nodes=[
            Node("h", "0..$class_size", HypergeometricLeak("$records", "$leaked", "$class_size")),
            Node("in_leak", ("no", "yes"), Share("h", "$class_size"), ("h",)),
            Node("identified", ("no", "yes"), OneOver("h", ("in_leak",)), ("in_leak", "h")),
        ],
    )


def test_a_right_attack_passes_and_says_what_it_would_have_caught():
    # Fails for a correct program with probability 1e-6.
    check = crosscheck(leak(), "identified=yes", draws=50_000, seed=3)
    assert check.passed
    assert check.references["pgmpy"] <= 1e-12
    assert check.references["enumeration"] <= 1e-12
    assert "would be caught" in str(check)


class Biased(HypergeometricLeak):
    """Draws its leak a little too large: a wrong story beside a right table."""

    kind: ClassVar[str] = "biased"
    extra: ClassVar[float] = 0.0

    def act(self, rng, scope, rows):
        drawn = super().act(rng, scope, rows)
        more = (rng.random(rows) < self.extra) & (drawn < 4)
        return drawn + more


def test_a_wrong_story_is_caught():
    attack = leak()
    node = attack.nodes["h"]
    cpd = Biased("$records", "$leaked", "$class_size")
    Biased.extra = 0.03
    with pytest.raises(CrosscheckFailed, match="disagree"):
        crosscheck(
            attack.with_node(replace(node, cpd=cpd)), "identified=yes", draws=100_000, seed=4
        )


def test_a_planted_error_of_the_claimed_size_is_caught(monkeypatch):
    """One table entry moved by the size that the run claims to catch, 20 seeds: at least 16 caught.

    P(fewer than 16 of 20) < 0.26 % when each is caught with probability 0.95.
    """
    attack = Attack(
        "entry",
        nodes=[
            Node("a", ("no", "yes"), Rows((Row((0.5, "rest")),)), source="assumption"),
            Node(
                "b",
                ("no", "yes"),
                Rows((Row(("rest", 0.30), {"a": "yes"}), Row(("rest", 0.10)))),
                ("a",),
                source="assumption",
            ),
        ],
    )
    honest = crosscheck(attack, "b=yes", draws=20_000, seed=1)
    cell = next(c for c in honest.cells if c.what == "P(b=yes | a=yes)")
    error = cell.would_catch * 1.02  # the number of matching rows varies a little from seed to seed
    real = inside(crosscheck).forward

    def lying(network, rows, rng, **more):
        states = real(network, rows, rng, **more)
        flip = (states["a"] == 1) & (states["b"] == 0) & (rng.random(rows) < error / 0.7)
        return {**states, "b": np.where(flip, 1, states["b"])}

    monkeypatch.setattr(inside(crosscheck), "forward", lying)
    caught = 0
    for seed in range(20):
        try:
            crosscheck(attack, "b=yes", draws=20_000, seed=seed)
        except CrosscheckFailed:
            caught += 1
    assert caught >= 16


def test_evidence_is_checked_among_the_rows_that_fit():
    check = crosscheck(leak(), "h=2", given={"identified": "yes"}, draws=50_000, seed=5)
    cells = {c.what: c for c in check.cells}
    assert cells["P(h=2 | identified=yes)"].draws < check.draws
    assert check.passed


def test_many_subjects_are_checked_by_tenths_and_one_by_one():
    # Fails for a correct program with probability 1e-6.
    attack, subjects = routes(3), routes_subjects(200, 3, np.random.default_rng(8))
    check = crosscheck(
        attack, "reidentified=yes", subject=subjects, rows=60_000, seed=8, subjects=30
    )
    names = [c.what for c in check.cells]
    assert sum("tenth" in n for n in names) == 10
    assert sum("risk of a subject" in n for n in names) == 30
    assert {n.split("(")[1].split(",")[0] for n in names if "subject (" in n} == {
        "highest",
        "median",
        "random",
    }
    assert check.references["pgmpy on 30 subjects"] <= 1e-12
    assert check.decided >= 0.8


RARE = dict.fromkeys(("p_m", "p_fm", "p_cu", "p_c"), 1e-5)


def test_the_mean_risk_of_a_cross_check_is_over_people_and_not_over_distinct_rows():
    attack, subjects = routes(3), routes_subjects(40, 3, np.random.default_rng(8))
    people = np.repeat(np.arange(40), np.where(np.arange(40) < 5, 100, 1))
    check = crosscheck(attack, "reidentified=yes", subject=subjects, people=people, draws=20_000)
    risk = rb.ask(attack, "reidentified=yes", subject=subjects).probability.ravel()
    mean = next(c for c in check.cells if c.what.startswith("mean risk of all"))
    assert mean.exact == pytest.approx(risk[people].mean(), rel=1e-12)
    assert abs(mean.exact - risk.mean()) > 0.01


def test_rare_risks_are_counted_where_they_are_not_rare():
    # Fails for a correct program with probability 1e-6.
    attack, subjects = routes(3), routes_subjects(200, 3, np.random.default_rng(8))
    check = crosscheck(attack, "reidentified=yes", subject=subjects, draws=20_000, set=RARE)
    assert check.passed
    assert check.decided == 1
    assert str(check).splitlines()[0] == "cross-check of routes: passed"
    assert all(c.would_catch < max(c.exact, 1e-12) for c in check.cells)


def test_a_wrong_rare_risk_is_caught_by_the_sample_alone():
    """Risks near 1e-5, raised by half; a rare cell catches a quarter 19 times in 20."""
    attack, subjects = routes(3), routes_subjects(200, 3, np.random.default_rng(8))
    risk = rb.ask(attack, "reidentified=yes", subject=subjects, set=RARE).probability.ravel()
    assert 0 < risk.max() < 1e-4
    check = crosscheck(attack, "reidentified=yes", subject=subjects, draws=20_000, set=RARE,
                       printed=1.5 * risk, must_agree=False)  # fmt: skip
    assert check.failed
    assert len(check.disagreements) > 20


def test_a_rare_event_is_counted_without_bias():
    """Kept rows against the enumerated probability; false alarm 1e-6 in all."""
    rng = np.random.default_rng(11)
    network = lower(leak(), {"leaked": 1})
    for state in ("1", "3"):
        exact = float(enumeration.joint(network, ["h"], {})[int(state)])
        found = count_rare([network], {"h": state}, 100_000, rng)
        if exact == 0:
            assert found.scale == 0
        else:
            assert not disagrees(found.hits, found.rows, exact / found.scale, level=1e-6)
    twice = [lower(leak(), {"leaked": n}) for n in (2, 3)]
    exact = np.mean([enumeration.joint(n, ["h"], {})[2] for n in twice])
    found = count_rare(twice, {"h": "2"}, 100_000, rng)
    assert not disagrees(found.hits, found.rows, exact / found.scale, level=1e-6)


def test_an_impossible_event_that_is_called_possible_is_a_disagreement():
    cell = Counted("x", 1e-7, 0, 1000, 0.0).judged(1e-8)
    assert cell.verdict == "disagrees"
    assert Counted("x", 0.0, 0, 1000, 0.0).judged(1e-8).verdict == "agrees"


def test_undecided_is_not_failed_and_the_first_line_says_how_much_was_decided(monkeypatch):
    attack, subjects = routes(3), routes_subjects(200, 3, np.random.default_rng(8))
    monkeypatch.setattr(inside(crosscheck), "count_rare", lambda *_: None)  # nothing helps
    check = crosscheck(attack, "reidentified=yes", subject=subjects, draws=1000, set={
        "p_m": 0.001, "p_fm": 0.001, "p_cu": 0.001, "p_c": 0.2}, level=1e-3)  # fmt: skip
    assert 0 < check.decided < 1
    assert check.passed
    assert not check.failed
    share = int(100 * check.decided)
    assert f"passed, with {share} % decided: nothing disagrees" in str(check).splitlines()[0]


def test_the_same_seed_gives_the_same_cells_and_leaves_numpys_stream_alone():
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - the global stream must not move
    one, other = (crosscheck(leak(), "identified=yes", draws=5000, seed=9) for _ in range(2))
    assert one.cells == other.cells
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002


def test_calls_that_cannot_decide_are_refused():
    with pytest.raises(UsageError, match="at least 1,000"):
        crosscheck(leak(), "identified=yes", draws=10)
    with pytest.raises(UsageError, match='no state "maybe"'):
        crosscheck(leak(), "identified=maybe")
    with pytest.raises(UsageError, match="one setting at a time"):
        crosscheck(leak(), "identified=yes", set={"leaked": [1, 2]})


def test_a_cross_check_given_what_cannot_happen_is_refused_and_not_failed():
    words = """
schema_version: 1
name: never
nodes:
  a: {source: assumption, cpd: {kind: probability, p: 0}}
  b: {parents: [a], source: assumption, cpd: {kind: probability, p: 0.5, only_if: [a]}}
"""
    attack = rb.loads(words)
    with pytest.raises(rb.ImpossibleEvidence, match="a=yes has probability 0"):
        crosscheck(attack, "b=yes", given={"a": "yes"}, draws=1000)


@pytest.mark.parametrize("people", [1, 5])
def test_what_is_asked_of_a_node_that_is_given_is_no_false_alarm(people):
    """Seldom given: there the cells are counted again where evidence and target meet."""
    attack = rb.loads("""\
schema_version: 1
name: given
subject: {size: {unit: records, range: [1, 1000]}}
nodes:
  tries: {rows: [{p: {yes: 0.01, no: rest}}], source: assumption}
  named: {parents: [tries], cpd: {kind: one-over, of: "@size", only_if: [tries]}}
""")
    sizes = np.array([2.0, 3, 4, 5, 6])[:people]
    for named in ("yes", "no"):
        given = {"tries": "yes", "named": "yes"}
        found = rb.crosscheck(attack, f"named={named}", given=given, subject={"size": sizes},
                              draws=2_000, seed=1)  # fmt: skip
        assert not found.failed
