"""Every kind of CPD: its table equals the one by hand, and acting it out agrees with its table."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cpd_cases import CASES, COUNTS, SIZE, WEATHER, Case, OnGrid, X, at_rows
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import reidbn as rb
from reidbn.cpds import CPD, Variable, shipped_kinds
from reidbn.theory import detectable, disagrees

KINDS = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
ROWS = 40_000
FALSE_ALARM = 1e-6  # of a whole run over all kinds
YES_NO = ("no", "yes")
ACTING = {name: case for name, case in CASES.items() if type(case.cpd).act is not CPD.act}


def acted(case: Case, seed: int) -> list[tuple[int, int, float]]:
    """Hits, trials and the probability by hand, for every configuration and state."""
    rng = np.random.default_rng(seed)
    table = case.table()
    which = np.arange(ROWS) % len(table)
    drawn = case.cpd.act(rng, at_rows(case, which), ROWS)
    assert drawn.shape == (ROWS,)
    return [
        (int((drawn[which == i] == j).sum()), int((which == i).sum()), float(table[i, j]))
        for i in range(len(table))
        for j in range(table.shape[1])
    ]


@KINDS
def test_the_table_is_the_one_by_hand(case):
    shape = [p.size for p in case.parents] + [len(case.states)]
    found = np.broadcast_to(case.cpd.probabilities(OnGrid(case)), shape)
    np.testing.assert_allclose(found.reshape(case.table().shape), case.table(), rtol=0, atol=1e-14)


@KINDS
def test_rows_and_grid_say_the_same(case):
    which = np.random.default_rng(1).integers(len(case.configurations()), size=200)
    found = np.broadcast_to(case.cpd.probabilities(at_rows(case, which)), (200, len(case.states)))
    np.testing.assert_allclose(found, case.table()[which], rtol=0, atol=1e-14)


@KINDS
def test_a_sound_cpd_has_no_problems(case):
    assert case.cpd.problems(case.child, case.parents) == []


@KINDS
def test_acting_out_agrees_with_the_table_by_hand(case):
    """All kinds are right and this fails: probability <= 1e-6 (Bonferroni over all cells)."""
    cells = sum(c.table().size for c in CASES.values())
    for hits, trials, p in acted(case, seed=20250401):
        assert not disagrees(hits, trials, p, level=FALSE_ALARM / cells)


def test_a_story_that_is_off_by_what_can_be_detected_is_caught():
    """The leak is planted so that one cell is off by its detectable error; missed: 1e-6."""
    case = CASES["noisy-or"]
    level = FALSE_ALARM / case.table().size
    trials = ROWS // len(case.table())
    error = detectable(trials, 0.75, level=level, miss=1e-6)
    assert error < 0.066
    wrong = replace(case, cpd=replace(case.cpd, leak=0.25 - error))
    hits, n, p = acted(wrong, seed=20250402)[0]  # no cause is present: P(no) = 1 - leak
    assert (n, p) == (trials, 0.75)
    assert disagrees(hits, n, p, level=level)


def test_kinds_with_a_story_act_and_do_not_read_their_table(monkeypatch):
    for case in ACTING.values():
        if case.cpd.kind == "mixture":
            continue  # its components act, some of them by their tables
        kind = type(case.cpd)
        monkeypatch.setattr(kind, "probabilities", None)
        which = np.arange(60) % len(case.configurations())
        drawn = case.cpd.act(np.random.default_rng(0), at_rows(case, which), 60)
        assert set(drawn) <= set(range(len(case.states)))
        monkeypatch.undo()


def test_there_is_a_case_for_every_kind():
    elsewhere = {  # by oracles of their own: test_uniqueness_cpds, test_leak_models, ...
        "measured",
        "near-copy",
        "noisy-copy",
        "one-of",
        "pitman-class-size",
        "pitman-match",
        "pitman-uniqueness",
        "structured-match",
        "structured-uniqueness",
        "rest-of-leak",
        "survey-class-size",
        "target-class",
        "target-class-leaked",
        "target-in-leak",
        "target-picked",
    }
    assert {*shipped_kinds()} - {case.cpd.kind for case in CASES.values()} == elsewhere


def test_every_kind_is_known_by_its_name():
    for name, kind in shipped_kinds().items():
        assert kind.kind == name


# -- stories in particular ------------------------------------------------------------------------


def test_the_leak_can_be_acted_out_in_tables_beyond_numpys_sampler():
    """D = 3e9: hits are close to Binomial(k, L/D); by hand from the recursion over the class."""
    case = Case(
        rb.HypergeometricLeak(3_000_000_000, 1_500_000_000, "size"),
        lambda size: [binom.pmf(h, size, 0.5) for h in range(5)],
        (SIZE,),
        tuple("01234"),
    )
    cells = acted(case, seed=7)
    for hits, trials, p in cells:
        assert not disagrees(hits, trials, p, level=FALSE_ALARM / len(cells))


def test_a_leak_larger_than_the_register_is_refused():
    case = replace(CASES["hypergeometric-leak"], cpd=rb.HypergeometricLeak(20, 21, "size"))
    with pytest.raises(rb.ModelError, match="a leaked of 21 among 20 records"):
        case.cpd.probabilities(OnGrid(case))


def test_a_class_larger_than_the_state_list_is_refused():
    case = replace(CASES["hypergeometric-leak"], states=tuple("0123"))
    with pytest.raises(rb.ModelError, match="classes of up to 4, but states only up to 3"):
        case.cpd.probabilities(OnGrid(case))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=4), st.floats(0, 1))
def test_noisy_and_is_noisy_or_seen_from_the_other_side(weights, leak):
    """P_and(yes | parents) = P_or(no | parents turned round)."""
    names = [f"x{i}" for i in range(len(weights))]
    parents = tuple(Variable(name) for name in names)
    by_name = dict(zip(names, weights, strict=True))
    tables = []
    for kind in (rb.NoisyOr, rb.NoisyAnd):
        case = Case(kind(by_name, leak), lambda **_: 0, parents)
        shape = [2] * (len(names) + 1)
        tables.append(np.broadcast_to(case.cpd.probabilities(OnGrid(case)), shape))
    turned = np.flip(tables[0], axis=tuple(range(len(names))))
    np.testing.assert_allclose(tables[1][..., 1], turned[..., 0], rtol=0, atol=1e-12)


@given(st.integers(1, 6), st.integers(1, 6))
def test_a_threshold_of_one_is_or_and_of_all_is_and(count, members):
    parents = (*(Variable(f"x{i}") for i in range(count)),
               Variable("g", members=tuple(f"m{j}" for j in range(members))))  # fmt: skip
    for same, gate in ((1, rb.Or()), (count + members, rb.And())):
        one = Case(rb.Threshold(same), lambda **_: 0, parents)
        other = Case(gate, lambda **_: 0, parents)
        np.testing.assert_array_equal(
            one.cpd.probabilities(OnGrid(one)), other.cpd.probabilities(OnGrid(other))
        )


# -- from data ------------------------------------------------------------------------------------


def test_counts_are_read_off_a_table():
    rain = ["dry"] * 4 + ["flood"] * 5
    late = ["no"] + ["yes"] * 3 + ["no"] * 5
    table = pd.DataFrame({"rain": rain, "late": late})
    states = {"rain": WEATHER, "late": YES_NO}
    found = rb.Empirical.from_table(table, "late", ("rain",), states=states, prior=0.5)
    assert found == rb.Empirical(COUNTS, prior=0.5)


def test_a_value_outside_the_states_is_counted_and_not_shown():
    table = pd.DataFrame({"late": ["no", "secret", "secret"]})
    with pytest.raises(rb.DataError) as caught:
        rb.Empirical.from_table(table, "late", states={"late": YES_NO})
    assert str(caught.value) == "late: 2 rows hold a value that is not among its states"


# -- functions ------------------------------------------------------------------------------------


def test_a_function_node_reads_its_edges_from_the_signature():
    def late(rain, p_late, distance):
        return np.minimum(1, p_late * rain * distance)

    attack = rb.Attack(
        "lateness",
        parameters=[rb.Parameter("p_late", 0.25)],
        subject=[rb.SubjectColumn("distance")],
        nodes=[rb.Node("rain", WEATHER, rb.Uniform()), rb.Node.from_function(late)],
        example={"distance": 1.5},
    )
    assert attack.nodes["late"].parents == ("rain",)
    assert attack.parent_nodes(attack.nodes["late"]) == ("rain",)
    answer = rb.ask(attack, "late=yes", given={"rain": "flood"})
    assert float(answer) == pytest.approx(0.75, rel=1e-12)
    assert float(rb.ask(attack, "late=yes")) == pytest.approx((0 + 0.375 + 0.75) / 3, rel=1e-12)


def test_a_function_of_a_group_reads_how_many_members_are_known():
    def told(known):
        return known / 2

    attack = rb.Attack(
        "told",
        groups=[rb.Group("known", ("a", "b"), rb.GroupRow(0.5), source="assumption")],
        nodes=[rb.Node.from_function(told)],
    )
    assert attack.parent_nodes(attack.nodes["told"]) == ("a", "b")
    assert float(rb.ask(attack, "told=yes")) == pytest.approx(0.5, rel=1e-12)


def test_a_function_with_the_wrong_shape_says_which_and_what():
    case = replace(CASES["function of three states"], states=("dry", "wet"))
    with pytest.raises(rb.ModelError, match="returned shape"):
        case.cpd.probabilities(OnGrid(case))


def test_two_functions_cannot_share_a_registered_name():
    with pytest.raises(rb.ModelError, match='already registered as "cpd_cases'):

        @rb.cpd_function("cpd_cases.seen")
        def other(x):
            return x


def test_registering_the_same_function_again_is_fine():
    """A notebook cell that is run twice defines its function twice."""
    for _ in range(2):

        @rb.cpd_function("test_cpds.again")
        def again(x):
            return x / 2

    case = Case(rb.Function("test_cpds.again"), lambda x: x / 2, (X,))
    np.testing.assert_array_equal(case.cpd.probabilities(OnGrid(case)).reshape(2, 2), case.table())


# -- frozen values --------------------------------------------------------------------------------


@KINDS
def test_a_cpd_can_be_hashed_compared_and_pickled(case):
    again = pickle.loads(pickle.dumps(case.cpd))  # noqa: S301 - our own bytes
    assert again == case.cpd
    assert hash(again) == hash(case.cpd)


def test_a_cpd_cannot_be_changed():
    cpd = rb.NoisyOr({"x": 0.5}, leak=0.25)
    with pytest.raises(AttributeError):
        cpd.leak = 0.5
    with pytest.raises(TypeError, match="cannot be changed"):
        cpd.weights["x"] = 0.9
    rows = rb.Rows([rb.Row([0.5, 0.5], {"x": ["yes"]})])
    assert rows == rb.Rows((rb.Row((0.5, 0.5), {"x": ("yes",)}),))
    with pytest.raises(TypeError, match="cannot be changed"):
        rows.rows[0].when["x"] = "no"
