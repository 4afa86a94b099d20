"""The leak as a user meets it: every answer against enumeration, a closed form or the story."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reidbn as rb
from reidbn.attack import Known, Knows, Listed
from reidbn.theory import disagrees
from tests import leak_oracle as oracle


def test_the_calls_of_the_documentation_give_their_numbers():
    assert rb.leak.risk(records=10_000, leaked=4_000, class_size=5) == pytest.approx(
        0.1844583686910847, rel=1e-15
    )
    joint = rb.leak.joint_risk({5: 2000}, leaked=4_000, targets=15)
    assert joint == pytest.approx(9.715426e-12, rel=1e-6)
    recursion = rb.leak.joint_risk({5: 2000}, leaked=4_000, targets=15, method="recursion")
    assert recursion == pytest.approx(9.768395e-12, rel=1e-6)
    mixed = {3: 100, 5: 300, 7: 200, 11: 50, 20: 7}
    assert 0 < rb.leak.joint_risk(mixed, leaked=1945, targets=8) < 1e-6
    assert rb.leak.smallest_k(records=10_000, leaked=4_000, threshold=0.09) == 12


def people_of(classes):
    """A table with these class sizes: one column that names the class."""
    return rb.People.from_codes(np.array(oracle.members(classes))[:, None], ["class"])


@settings(deadline=None, max_examples=40)
@given(st.dictionaries(st.integers(1, 8), st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_a_table_of_people_and_its_class_sizes_are_the_same_question(classes, data):
    people = people_of(classes)
    leaked = data.draw(st.integers(0, len(people)))
    assert rb.leak.risk(people, leaked=leaked) == pytest.approx(
        rb.leak.risk(classes, leaked=leaked), rel=1e-14, abs=0
    )
    assert rb.leak.risks(people, leaked=leaked).mean() == pytest.approx(
        rb.leak.risk(classes, leaked=leaked), rel=1e-13, abs=0
    )


def test_arrays_of_leaks_and_class_sizes_broadcast():
    grid = rb.leak.risk(records=1000, leaked=np.array([[10], [400]]), class_size=[1, 5, 20])
    assert grid.shape == (2, 3)
    assert grid[1, 2] == rb.leak.risk(records=1000, leaked=400, class_size=20)
    assert rb.leak.risk({5: 200}, leaked=[0, 400, 1000]) == pytest.approx(
        [0, rb.leak.risk({5: 200}, leaked=400), 0.2]
    )
    joint = rb.leak.joint_risk({5: 200}, leaked=[2, 400], targets=3)
    assert joint[0] == 0
    assert joint[1] == pytest.approx(rb.leak.joint_risk({5: 200}, leaked=400, targets=3), rel=1e-13)


def test_an_uncertain_leak_is_the_mean_over_its_sizes():
    prior = {2: 0.25, 4: 0.5, 6: 0.25}
    for ask in (
        lambda L: rb.leak.risk(records=10, leaked=L, class_size=3),
        lambda L: rb.leak.risk({3: 2, 4: 1}, leaked=L),
        lambda L: rb.leak.joint_risk({3: 2, 4: 1}, leaked=L, targets=2),
        lambda L: rb.leak.number_identified({3: 2, 4: 1}, leaked=L, targets=2).exactly(1),
        lambda L: rb.leak.risks(people_of({3: 2, 4: 1}), leaked=L).sum(),
        lambda L: rb.leak.partial_histories(records=10, leaked=L, histories=[1, 2], seen=0.3)[1],
    ):
        assert ask(prior) == pytest.approx(sum(p * ask(L) for L, p in prior.items()), rel=1e-12)
    independent = {
        L: float(p) for L, p in enumerate(np.random.default_rng(1).dirichlet(np.ones(11)))
    }
    assert 0 < rb.leak.risk(records=10, leaked=independent, class_size=2) < 1


def test_a_leak_of_each_record_on_its_own_is_a_binomial_prior():
    q, D, k = 0.3, 40, 6
    from scipy.stats import binom

    prior = {L: float(binom.pmf(L, D, q)) for L in range(D + 1)}
    assert rb.leak.risk(records=D, leaked=prior, class_size=k) == pytest.approx(
        (1 - (1 - q) ** k) / k, rel=1e-12
    )


def test_a_given_targets_risk_is_enumerated():
    D, L, k = 7, 3, 3
    found = rb.leak.given_target(records=D, leaked=L, class_size=k)
    seen = dict.fromkeys([0.0, 1 / 3, 0.5, 1.0], 0)
    for leak in combinations(range(D), L):
        h = sum(i < k for i in leak)
        seen[1 / h if 0 in leak else 0.0] += 1
    assert found.probability == pytest.approx([n / 35 for n in seen.values()], rel=1e-13)
    assert found.risk.tolist() == list(seen)
    assert found.mean == pytest.approx(rb.leak.risk(records=D, leaked=L, class_size=k), rel=1e-13)
    assert found.at_least(0.5) == pytest.approx((seen[0.5] + seen[1.0]) / 35)
    inside = rb.leak.given_target(records=D, leaked=L, class_size=k, reading="from the leak")
    assert inside.probability == pytest.approx(np.array(list(seen.values())[1:]) / 15, rel=1e-13)
    assert inside.mean * L / D == pytest.approx(found.mean, rel=1e-13)


def test_known_secrets_filter_the_class():
    table = pd.DataFrame({"age": [1, 1, 1, 1, 2, 2], "ill": list("aabbab")})
    people = rb.read_table(table, quasi_identifiers=["age"], sensitive=["ill"])
    known = rb.leak.risks(people, leaked=3, sensitive="ill")
    sizes = [2, 2, 2, 2, 1, 1]
    wanted = [rb.leak.risk(records=6, leaked=3, class_size=k) for k in sizes]
    assert known == pytest.approx(wanted)
    half = rb.leak.risks(people, leaked=3, sensitive="ill", sensitive_known=0.5)
    assert half == pytest.approx((known + rb.leak.risks(people, leaked=3)) / 2)
    chance = {"age": ("age", 0.5)}
    partly = rb.leak.risks(people, leaked=3, known=chance, sensitive="ill")
    no_age = rb.leak.risk(records=6, leaked=3, class_size=3)
    assert partly == pytest.approx((known + no_age) / 2)


def test_partly_known_attributes_are_the_mean_over_what_is_known():
    rng = np.random.default_rng(20250610)
    people = rb.People.from_codes(rng.integers(0, 3, (60, 3)), ["a", "b", "c"])
    known = {"a": ("a", 0.9), "rest": (["b", "c"], 0.4)}
    wanted = np.zeros(60)
    for with_a, with_rest in product([True, False], repeat=2):
        columns = ["a"] * with_a + ["b", "c"] * with_rest
        weight = (0.9 if with_a else 0.1) * (0.4 if with_rest else 0.6)
        sizes = people.class_sizes(columns)
        wanted += weight * rb.leak.risk(records=60, leaked=20, class_size=sizes)
    assert rb.leak.risks(people, leaked=20, known=known) == pytest.approx(wanted, rel=1e-13)
    certain = {name: (name, 1.0) for name in "abc"}
    assert rb.leak.risks(people, leaked=20, known=certain) == pytest.approx(
        rb.leak.risks(people, leaked=20), rel=1e-14
    )


def test_a_scenario_says_what_is_known():
    people = rb.toy_hospital().people()
    known = (Known("body", ("sex", "age"), (0.9,)), Known("home", ("postcode",), (0.2,)))
    groups = {"body": (["sex", "age"], 0.9), "home": ("postcode", 0.2)}

    def scenario(parent=None):
        some = rb.Scenario("some", knows=Knows(known, parent))
        return rb.knowledge(people, some, unknown=["ethnicity"])

    with pytest.raises(rb.errors.UsageError, match=r'unknown=\["ethnicity"\]'):
        rb.leak.risks(people, leaked=3, known=rb.Scenario("some", knows=Knows(known)))

    for extra in ({}, {"sensitive": "diagnosis", "sensitive_known": 0.4}):
        apart = rb.leak.risks(people, leaked=3, known=groups, **extra)
        found = rb.leak.risks(people, leaked=3, known=scenario(), **extra)
        assert found == pytest.approx(apart, rel=1e-13)
        nothing = {"body": (["sex", "age"], 1e-300)}
        unknown = rb.leak.risks(people, leaked=3, known=nothing, **extra)
        listed = scenario(Listed(chance=(0.3,), shared=True))
        found = rb.leak.risks(people, leaked=3, known=listed, **extra)
        assert found == pytest.approx(0.3 * apart + 0.7 * unknown, rel=1e-12)
    certain = rb.leak.risks(people, leaked=3, known=rb.load_scenario("worst-case"))
    assert certain == pytest.approx(rb.leak.risks(people, leaked=3), rel=1e-13)


def test_a_homogeneous_class_is_enumerated():
    for D, k, s, L in [(7, 3, 2, 3), (6, 4, 1, 2), (6, 4, 4, 3), (5, 5, 3, 4), (4, 2, 1, 4)]:
        disclosed = believed = picked = either = 0.0
        leaks = list(combinations(range(D), L))
        for leak in leaks:
            h, alike = sum(i < k for i in leak), sum(i < s for i in leak)  # target 0, alike 0..s-1
            same = h == alike and h > 0
            believed += same
            disclosed += same and 0 in leak
            hit = 1 / h if 0 in leak else 0.0
            picked += hit
            either += 1 if same and 0 in leak else hit
        found = rb.leak.homogeneity(records=D, leaked=L, class_size=k, alike=s)
        values = (found.disclosed, found.believed, found.identified, found.either)
        wanted = [v / len(leaks) for v in (disclosed, believed, picked, either)]
        assert values == pytest.approx(wanted, rel=1e-12, abs=1e-15)
    assert rb.leak.homogeneity(records=9, leaked=0, class_size=3, alike=2).either == 0


def test_partial_histories_are_enumerated():
    """Every leak, every pattern of who is seen; shares nothing with the recursion."""
    D, L, histories, q = 6, 3, [0, 1, 2, 4], 0.3
    shown = [1 - (1 - q) ** v for v in histories]
    wanted = np.zeros(4)
    for leak in combinations(range(D), L):
        inside = [i for i in leak if i < 4]
        for pattern in product([True, False], repeat=len(inside)):
            p = np.prod(
                [shown[i] if s else 1 - shown[i] for i, s in zip(inside, pattern, strict=True)]
            )
            seen = [i for i, s in zip(inside, pattern, strict=True) if s]
            for i in seen:
                wanted[i] += p / len(seen)
    found = rb.leak.partial_histories(records=D, leaked=L, histories=histories, seen=q)
    assert found == pytest.approx(wanted / 20, rel=1e-12, abs=0)


@settings(deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.floats(0, 1), st.data())
def test_the_risks_of_a_class_with_histories_sum_to_the_chance_that_one_is_seen(
    histories, seen, data
):
    D = len(histories) + data.draw(st.integers(0, 50))
    L = data.draw(st.integers(0, D))
    risks = rb.leak.partial_histories(records=D, leaked=L, histories=histories, seen=seen)
    whole = rb.leak.partial_histories(records=D, leaked=L, histories=histories, seen=1)
    k = len(histories)
    assert whole == pytest.approx(rb.leak.risk(records=D, leaked=L, class_size=k), rel=1e-11)
    if len(set(histories)) == 1:
        from scipy.stats import hypergeom

        h = np.arange(k + 1)
        none = hypergeom.pmf(h, D, k, L) @ (1 - seen) ** (h * float(histories[0]))
        assert risks.sum() == pytest.approx(1 - none, rel=1e-9, abs=1e-12)
    assert risks.sum() <= 1 + 1e-12


@pytest.mark.parametrize("reading", ["unconditional", "from the leak"])
def test_the_simulation_brackets_the_exact_joint_risk(reading):
    """The counts are rejected once in a million seeds if the exact value is right."""
    classes = {3: 4, 5: 4}
    found = rb.leak.simulate(classes, leaked=16, targets=3, reading=reading, draws=200_000, seed=5)
    exact = rb.leak.joint_risk(classes, leaked=16, targets=3, reading=reading)
    assert not disagrees(int(found.counts[3]), found.draws, exact, level=1e-6)
    estimate = rb.leak.joint_risk(
        classes, leaked=16, targets=3, method="simulation", reading=reading, draws=200_000, seed=5
    )
    assert estimate == found.all_identified
    assert abs(estimate - exact) < 5 * estimate.standard_error
    assert estimate.low < estimate < estimate.high
    assert estimate.reading == reading
    assert "95 %" in repr(estimate)


def test_the_two_readings_differ_by_the_chance_of_membership():
    inside = rb.leak.joint_risk({4: 5}, leaked=8, targets=3, reading="from the leak")
    everyone = rb.leak.joint_risk({4: 5}, leaked=8, targets=3)
    assert everyone == pytest.approx(inside * (8 * 7 * 6) / (20 * 19 * 18), rel=1e-13)
    log = rb.leak.joint_risk({4: 5}, leaked=8, targets=3, log=True)
    assert np.exp(log) == pytest.approx(everyone, rel=1e-13)


def test_how_many_are_identified_has_all_its_readings():
    found = rb.leak.number_identified({3: 2, 4: 1}, leaked=5, targets=3)
    p = found.probabilities
    assert found.mean == pytest.approx(p @ [0, 1, 2, 3])
    assert found.standard_deviation == pytest.approx(np.sqrt(p @ [0, 1, 4, 9] - found.mean**2))
    assert found.at_least(0) == pytest.approx(1)
    assert found.share(0.5) == pytest.approx(p[2] + p[3])
    assert found.share(1 / 3) == pytest.approx(1 - p[0])
    table = found.table()
    assert table["at_least"].tolist() == pytest.approx([found.at_least(m) for m in range(4)])
    small = rb.leak.number_identified({2: 2, 3: 1}, leaked=4, targets=2).probabilities
    wanted = [float(x) for x in oracle.every_number_identified({2: 2, 3: 1}, 4, 2)]
    assert small == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rb.leak.risk(leaked=3), "give records and class_size, or classes such as"),
        (lambda: rb.leak.risk({3: 1}, records=3, leaked=1), "not both"),
        (lambda: rb.leak.risk({0: 1}, leaked=1), "a class size is 0; it must be 1 or more"),
        (lambda: rb.leak.risk({}, leaked=1), "there are no classes"),
        (lambda: rb.leak.risk({2: -1}, leaked=1), "a number of classes is negative"),
        (lambda: rb.leak.risk([3, 3], leaked=1), "classes are list; give {class size"),
        (lambda: rb.leak.risk({3: 1}, leaked=9), "leaked is 9; it must be from 0 to"),
        (lambda: rb.leak.risk({3: 1}, leaked={1: 0.4, 2: 0.4}), "prior .* sums to 0.8"),
        (lambda: rb.leak.joint_risk({3: 1}, leaked=2, targets=4), "targets is 4; .* 1 to 3"),
        (lambda: rb.leak.joint_risk({3: 1}, leaked=4, targets=1), "leaked is 4; .* 0 to 3"),
        (lambda: rb.leak.joint_risk({3: 2}, leaked=2, targets=1, method="fast"), "no method"),
        (
            lambda: rb.leak.joint_risk({3: 2}, leaked=2, targets=1, reading="from leak"),
            'did you mean "from the leak"',
        ),
        (
            lambda: rb.leak.joint_risk({3: 2}, leaked=2, targets=3, reading="from the leak"),
            "3 targets cannot come from a leak of 2",
        ),
        (lambda: rb.leak.simulate({3: 2}, leaked=[1, 2]), "one number to be acted out"),
        (lambda: rb.leak.simulate({3: 2}, leaked=1, draws=0), "draws=0"),
        (lambda: rb.leak.number_identified({3: 2}, leaked=[1, 2], targets=2), "one number"),
        (
            lambda: rb.leak.number_identified({3: 2}, leaked=1, targets=2).exactly(3),
            "number is 3; it must be from 0 to 2 targets",
        ),
        (lambda: rb.leak.between(5, 3), "no leak size between 5 and 3"),
        (
            lambda: rb.leak.homogeneity(records=9, leaked=3, class_size=3, alike=4),
            "alike must be from 1",
        ),
        (
            lambda: rb.leak.partial_histories(records=9, leaked=3, histories=[1.5], seen=0.1),
            "one whole number of records per member",
        ),
        (lambda: rb.leak.given_target(records=9, leaked=0, class_size=2, reading="from the leak"),
         "empty leak"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_told_what_would_be_right(call, message):
    with pytest.raises(rb.UsageError, match=message):
        call()


def test_more_targets_than_can_be_followed_are_refused_with_the_way_out():
    with pytest.raises(rb.TooLarge, match='method="simulation"'):
        rb.leak.joint_risk({5: 2000}, leaked=4_000, targets=501)
