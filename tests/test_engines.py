"""The engines share nothing but the tables; here they must say the same.

Oracle: enumeration writes every case down; pgmpy eliminates variables; the exact engine collapses
groups and contracts.  Tolerance 1e-12: sums of at most a few thousand products near 1e-16.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from attacks import SETTINGS, closed_form, random_attacks, random_questions, routes, routes_subjects
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inside import inside

from reidbn.attack import Attack, Group, GroupRow, Node, Parameter, SubjectColumn
from reidbn.cpds import OneOver, Or, Row, Rows
from reidbn.errors import DataError, ImpossibleEvidence, TooLarge, UsageError
from reidbn.inference import (
    ask,
    enumeration,
    exact,
    joint,
    lower,
    pgmpy_bridge,
    read_query,
)

QUICK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
GRID = np.array(list(itertools.product([0.2, 0.5, 0.8], repeat=4))).T


@QUICK
@given(random_questions())
def test_exact_equals_enumeration_on_random_attacks(case):
    attack, targets, given_, do = case
    network = lower(attack).do(do)
    ours = exact.joint(network, targets, given_)[0, 0]
    assert np.abs(ours - enumeration.joint(network, targets, given_)).max() <= 1e-12


@settings(QUICK, max_examples=25)
@given(random_questions())
def test_exact_equals_pgmpy_on_random_attacks(case):
    attack, targets, given_, do = case
    model = pgmpy_bridge.network_to_pgmpy(lower(attack))
    theirs = pgmpy_bridge.joint(model, targets, given_, do)
    ours = exact.joint(lower(attack).do(do), targets, given_)[0, 0]
    assert np.abs(ours - theirs).max() <= 1e-12


@QUICK
@given(random_questions())
def test_the_law_of_total_probability_holds(case):
    attack, targets, given_, do = case
    network = lower(attack).do(do)
    whole = exact.joint(network, targets, {})[0, 0]
    if given_:
        node = next(iter(given_))
        parts = [
            exact.joint(network, targets, {node: state})[0, 0] for state in network.states[node]
        ]
        assert np.abs(sum(parts) - whole).max() <= 1e-12
    assert abs(whole.sum() - 1) <= 1e-12


@QUICK
@given(random_attacks())
def test_intervening_on_a_root_is_observing_it(attack):
    root = next(n for n in attack.all_nodes.values() if not n.parents)
    leaf = list(attack.all_nodes)[-1]
    network = lower(attack)
    state = root.states[0]
    seen = exact.joint(network, [leaf], {root.name: state})[0, 0]
    if seen.sum() > 0 and leaf != root.name:
        done = exact.joint(network.do({root.name: state}), [leaf], {})[0, 0]
        assert np.abs(seen / seen.sum() - done).max() <= 1e-12


@QUICK
@given(random_attacks())
def test_a_barren_leaf_changes_nothing(attack):
    last = list(attack.all_nodes)[-1]
    states = attack.all_nodes[last].states
    leaf = Node(
        "leaf",
        ("no", "yes"),
        Rows((Row((0.3, "rest"), {last: states[0]}), Row((1, 0)))),
        (last,),
        source="assumption",
    )
    before = exact.joint(lower(attack), [last], {})
    after = exact.joint(lower(attack.with_node(leaf)), [last], {})
    assert np.array_equal(before, after)


@settings(QUICK, max_examples=30)
@given(random_attacks(), st.randoms(use_true_random=False))
def test_the_order_in_which_nodes_are_declared_changes_nothing(attack, random):
    nodes = list(attack.nodes.values())
    random.shuffle(nodes)
    again = attack.replace(nodes=nodes)
    last = list(attack.all_nodes)[-1]
    one, other = (exact.joint(lower(a), [last], {}) for a in (attack, again))
    assert np.abs(one - other).max() <= 1e-12


@pytest.mark.parametrize("b", [1, 2, 4, 7])
def test_authored_routes_equal_the_closed_form_for_every_subject_and_setting(b):
    attack, subjects = routes(b), routes_subjects(40, b, np.random.default_rng(20260101 + b))
    answer = ask(
        attack, "reidentified=yes", subject=subjects, set=dict(zip(SETTINGS, GRID, strict=True))
    )
    expected = np.stack([closed_form(subjects, *point) for point in GRID.T], axis=1)
    assert answer.probability.shape == (40, 81)
    assert np.abs(answer.probability - expected).max() <= 1e-12


def test_the_answer_does_not_depend_on_how_subjects_are_blocked(monkeypatch):
    attack, subjects = routes(5), routes_subjects(37, 5, np.random.default_rng(5))
    whole = ask(attack, "reidentified=yes", subject=subjects).probability
    monkeypatch.setattr(inside(ask), "MEMORY", 100_000)
    monkeypatch.setattr(inside(exact.collapse), "BLOCK", 64)
    parts = ask(attack, "reidentified=yes", subject=subjects).probability
    assert np.abs(whole - parts).max() <= 1e-15


@pytest.mark.parametrize(
    ("given_", "do"),
    [
        ({"knows_1": "yes"}, {}),
        ({}, {"knows_0": "no"}),
        ({"knows_0": "no", "right_guess": "yes"}, {"claims": "yes"}),
        ({"reidentified": "yes"}, {}),
    ],
)
def test_evidence_and_interventions_on_single_members_equal_enumeration(given_, do):
    attack, subjects = routes(3), routes_subjects(1, 3, np.random.default_rng(7))
    for target in ("reidentified=yes", "knows_2=yes", "knows_2=yes, unique=yes"):
        one, other = (
            ask(attack, target, given=given_, do=do, subject=subjects, engine=engine)
            for engine in ("exact", "enumeration")
        )
        assert abs(float(one) - float(other)) <= 1e-12
        assert abs(one.evidence_probability - other.evidence_probability) <= 1e-12


def profile_attack(b: int) -> Attack:
    """Who is attacking decides what is known: a group with an outside parent."""
    members = tuple(f"knows_{j}" for j in range(b))
    insider = tuple(0.9 - 0.05 * j for j in range(b))
    return Attack(
        "profiles",
        subject=[SubjectColumn("class_size", per="known"), SubjectColumn("p_known", each="known")],
        groups=[
            Group(
                "known",
                members,
                (GroupRow(insider, {"profile": "insider"}), GroupRow("@p_known")),
                ("profile",),
                source="assumption",
            )
        ],
        nodes=[
            Node(
                "profile",
                ("insider", "neighbour"),
                Rows((Row((0.2, "rest")),)),
                source="assumption",
            ),
            Node(
                "guess",
                ("no", "yes"),
                OneOver("@class_size"),
                ("known",),
            ),
            Node(
                "success",
                ("no", "yes"),
                Rows(
                    (
                        Row((0.1, "rest"), {"guess": "yes", "profile": "insider"}),
                        Row((0.6, "rest"), {"guess": "yes"}),
                        Row((1, 0)),
                    )
                ),
                ("guess", "profile"),
                source="assumption",
            ),
        ],
    )


def test_a_profile_above_eight_groups_equals_enumeration():
    attack = profile_attack(8)
    rng = np.random.default_rng(11)
    subjects = {
        "class_size": routes_subjects(3, 8, rng)["class_size"],
        "p_known": rng.random((3, 8)),
    }
    _, query = read_query(attack, "success=yes", {"knows_3": "yes"})
    ours = joint(attack, query, None, subjects)
    for i in range(3):
        network = lower(attack, None, {k: v[i] for k, v in subjects.items()})
        brute = enumeration.joint(network, query.targets, query.given)
        assert np.abs(ours[i, 0] - brute).max() <= 1e-12
    back = ask(attack, "profile=insider", given={"success": "yes"}, subject=subjects)
    network = lower(attack, None, {k: v[0] for k, v in subjects.items()})
    brute = enumeration.joint(network, ["profile"], {"success": "yes"})
    assert abs(back.probability[0, 0] - brute[0] / brute.sum()) <= 1e-12


def test_settings_on_the_group_itself_equal_one_setting_at_a_time():
    attack = routes(3)
    group = replace(attack.groups["known"], rows=(GroupRow("$p_known"),))
    attack = attack.replace(
        groups=[group],
        parameters=[*attack.parameters.values(), Parameter("p_known", 0.5)],
        subject=[c for c in attack.subject.values() if c.name != "p_known"],
    )
    subjects = routes_subjects(4, 3, np.random.default_rng(12))
    subjects.pop("p_known")
    grid = {"p_known": [0.1, 0.6, 1.0], "p_c": [0.9, 0.5, 0.0]}
    together = ask(attack, "reidentified=yes", subject=subjects, set=grid).probability
    for t in range(3):
        point = {name: values[t] for name, values in grid.items()}
        alone = ask(attack, "reidentified=yes", subject=subjects, set=point).probability
        assert np.abs(together[:, t] - alone[:, 0]).max() <= 1e-15


def test_a_swapped_parent_axis_is_caught():
    table = np.array([[[0.9, 0.1], [0.6, 0.4]], [[0.3, 0.7], [0.2, 0.8]]])
    attack = Attack(
        "swap",
        nodes=[
            Node("a", ("no", "yes"), Rows((Row((0.8, "rest")),)), source="assumption"),
            Node("b", ("no", "yes"), Rows((Row((0.3, "rest")),)), source="assumption"),
            Node(
                "c",
                ("no", "yes"),
                Rows(
                    tuple(
                        Row(tuple(table[i, j].tolist()), {"a": x, "b": y})
                        for i, x in enumerate(("no", "yes"))
                        for j, y in enumerate(("no", "yes"))
                    )
                ),
                ("a", "b"),
                source="assumption",
            ),
        ],
    )
    network = lower(attack)
    right = exact.joint(network, ["c"], {})[0, 0]
    factor = network.factors["c"]
    swapped = replace(factor, table=factor.table.swapaxes(2, 3))
    wrong = replace(network, factors={**network.factors, "c": swapped})
    assert np.abs(exact.joint(wrong, ["c"], {})[0, 0] - right).max() > 0.05
    assert np.abs(enumeration.joint(wrong, ["c"], {}) - right).max() > 0.05


def test_impossible_evidence_raises_and_is_named():
    attack = routes(2)
    subjects = {"class_size": [9.0] * 4, "p_unique": [0.0] * 4, "p_known": [0.5, 0.5]}
    for engine in ("exact", "pgmpy", "enumeration"):
        with pytest.raises(ImpossibleEvidence, match="unique=yes has probability 0"):
            ask(
                attack, "reidentified=yes", given={"unique": "yes"}, subject=subjects, engine=engine
            )


def test_soft_evidence_is_a_report_node_and_weighs_the_states():
    attack, subjects = routes(2), routes_subjects(1, 2, np.random.default_rng(3))
    answer = ask(
        attack, "knows_0=yes", given={"knows_0": {"yes": 0.9, "no": 0.3}}, subject=subjects
    )
    p = subjects["p_known"][0, 0]
    assert abs(answer.evidence_probability - (0.9 * p + 0.3 * (1 - p))) <= 1e-12
    assert abs(float(answer) - 0.9 * p / (0.9 * p + 0.3 * (1 - p))) <= 1e-12


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"target": "reidentifed=yes"}, UsageError, 'did you mean "reidentified"'),
        ({"target": "reidentified=maybe"}, UsageError, 'no state "maybe"'),
        ({"target": "reidentified=yes", "set": {"p_x": 1}}, UsageError, 'no parameter "p_x"'),
        ({"target": "reidentified=yes", "set": {"p_m": "high"}}, UsageError, "p_m: expected"),
        ({"target": "reidentified=yes", "set": {"p_m": 1.2}}, UsageError, "p_m=1.2 is not a prob"),
        ({"target": "reidentified=yes", "engine": "magic"}, UsageError, 'no engine "magic"'),
        ({"target": "reidentified=yes", "subject": {}}, UsageError, "needs subject data"),
        (
            {"target": "reidentified=yes", "subject": {"class_size": [1, 2, 3]}},
            (UsageError, DataError),
            "needs subject data|shape",
        ),
    ],
)
def test_mistaken_calls_say_what_would_be_right(call, error, message):
    subjects = routes_subjects(1, 2, np.random.default_rng(3))
    call = {"subject": subjects, **call}
    with pytest.raises(error, match=message):
        ask(routes(2), call.pop("target"), **call)


def test_twenty_one_groups_are_refused_with_a_way_out_and_can_be_sampled():
    attack = Attack(
        "wide",
        groups=[Group("known", tuple(f"k{j}" for j in range(21)), (GroupRow(0.1),), source="x")],
        nodes=[Node("any", ("no", "yes"), Or(),
                    ("known",))],
    )  # fmt: skip
    with pytest.raises(TooLarge, match="estimate it with"):
        ask(attack, "any=yes")
    answer = ask(attack, "any=yes", engine="sampling", draws=40_000, seed=2)
    low, high = answer.interval
    assert low <= 1 - 0.9**21 <= high


def test_a_joint_question_is_the_product_rule():
    attack, subjects = routes(2), routes_subjects(1, 2, np.random.default_rng(9))
    both = float(ask(attack, "unique=yes, member=yes", subject=subjects))
    one = float(ask(attack, "unique=yes", subject=subjects))
    rest = float(ask(attack, "member=yes", given={"unique": "yes"}, subject=subjects))
    assert abs(both - one * rest) <= 1e-12


def test_a_node_asked_as_a_whole_gives_its_distribution():
    attack, subjects = routes(2), routes_subjects(1, 2, np.random.default_rng(9))
    answer = ask(attack, "member", subject=subjects, set={"p_m": 0.25})
    assert answer.distribution == {"no": 0.75, "yes": 0.25}
    with pytest.raises(UsageError, match="distribution"):
        float(answer)
