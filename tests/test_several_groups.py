"""Several groups in one story: a node between them, members that lead to other groups' members.

Every table is used once, whatever the groups share; the oracle is enumeration (1e-12: sums of a
few thousand products).  The mass of every answer is held against what it must be.
"""

from dataclasses import replace

import numpy as np
import pytest
from attacks import YES_NO, random_questions, routes, routes_subjects
from hypothesis import HealthCheck, given, settings

import reidbn as rb
from reidbn.attack import Attack, Group, GroupRow, Node, SubjectColumn
from reidbn.cpds import Or, Probability, Threshold
from reidbn.errors import EngineError
from reidbn.inference import Lowering, ask, enumeration, exact, lower, most_probable, subject_values
from reidbn.report import one_in


def two_groups(chance: float = 0.6) -> Attack:
    """At least three of four attributes, two learnt at home and two at work, are known."""
    return Attack(
        "two-groups",
        groups=[
            Group("home", ("age", "sex"), (GroupRow((chance, 0.3)),), source="assumption"),
            Group("work", ("job", "pay"), (GroupRow((0.5, 0.4)),), source="assumption"),
        ],
        nodes=[Node("enough", YES_NO, Threshold(3), ("home", "work"), source="assumption")],
    )


def at_least_three(*p: float) -> float:
    return sum(
        np.prod([x if case >> j & 1 else 1 - x for j, x in enumerate(p)])
        for case in range(16)
        if case.bit_count() >= 3
    )


def test_a_node_with_two_groups_as_parents_is_no_more_likely_than_certain():
    answer = ask(two_groups(), "enough=yes")
    assert abs(float(answer) - at_least_three(0.6, 0.3, 0.5, 0.4)) <= 1e-15
    seen = ask(two_groups(), "age=yes", given={"enough": "yes"})
    known = 0.6 * (at_least_three(1, 0.3, 0.5, 0.4))
    assert abs(float(seen) - known / at_least_three(0.6, 0.3, 0.5, 0.4)) <= 1e-15


def test_a_tornado_over_two_groups_stays_within_what_can_be():
    attack = two_groups()
    group = replace(attack.groups["home"], rows=(GroupRow("$p"),))
    attack = attack.replace(
        groups=[group, attack.groups["work"]],
        parameters=[rb.Parameter("p", 0.5, source="assumption")],
    )
    bar = rb.tornado(attack, "enough=yes").bars[0]
    ends = sorted((at_least_three(0, 0, 0.5, 0.4), at_least_three(1, 1, 0.5, 0.4)))
    assert (bar.lowest, bar.highest) == pytest.approx(ends, abs=1e-12)


def chained(b: int = 2) -> Attack:
    """Three groups in a row: members of one lead to members of the next, all share a child."""
    names = {g: tuple(f"{g}{j}" for j in range(b)) for g in "abc"}
    first = (GroupRow(0.4),)
    return Attack(
        "chained",
        groups=[
            Group("a", names["a"], first, source="assumption"),
            Group("b", names["b"], (GroupRow(0.9, {"a0": "yes"}), GroupRow(0.2)), ("a0",),
                  source="assumption"),
            Group("c", names["c"], (GroupRow(0.7, {"a0": "yes", "b0": "no"}), GroupRow(0.1)),
                  ("a0", "b0"), source="assumption"),
        ],
        subject=[SubjectColumn("q", per="c")],
        nodes=[
            Node("all", YES_NO, Threshold(3), ("c", "a", "b")),
            Node("some", YES_NO, Probability("@q", ("b1",)), ("c", "b1")),
            Node("end", YES_NO, Or(), ("all", "some", "a1")),
        ],
        example={"q": np.linspace(0.1, 0.9, 1 << b).tolist()},
    )  # fmt: skip


@pytest.mark.parametrize("engine", ["pgmpy", "enumeration"])
@pytest.mark.parametrize(
    ("given_", "do"),
    [({}, {}), ({"a0": "no"}, {}), ({"end": "yes", "c1": "yes"}, {}), ({}, {"b0": "yes"}),
     ({"some": "no", "b1": "yes"}, {"a0": "yes"})],
)  # fmt: skip
def test_groups_in_a_row_with_evidence_and_interventions_on_members(engine, given_, do):
    for target in ("end=yes", "c0=yes", "a0=no, all=yes", "b0=yes"):
        if not set(do) & {t.partition("=")[0] for t in target.split(", ")}:
            one, other = (
                ask(chained(), target, given=given_, do=do, engine=e) for e in ("exact", engine)
            )
            assert abs(float(one) - float(other)) <= 1e-12
            assert abs(one.evidence_probability - other.evidence_probability) <= 1e-12


def test_sampling_the_cross_check_and_the_most_probable_case_take_several_groups():
    attack = chained()
    # 100,000 rows: five standard errors, wrong in one run of a million
    sampled = ask(attack, "end=yes", given={"c1": "yes"}, engine="sampling", draws=100_000, seed=5)
    p = float(ask(attack, "end=yes", given={"c1": "yes"}))
    rows = 100_000 * float(sampled.evidence_probability)
    assert abs(float(sampled) - p) <= 5 * np.sqrt(p * (1 - p) / rows)
    assert rb.crosscheck(attack, "end=yes", draws=20_000, seed=6).passed
    assert rb.crosscheck(two_groups(), "enough=yes", draws=20_000, seed=6).passed
    found = most_probable(attack, {"end": "yes"})
    case, p = enumeration.most_probable(lower(attack), {"end": "yes"})
    assert found.probability == pytest.approx(p, abs=1e-15)
    assert found.case == case


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
@given(random_questions())
@pytest.mark.wide
def test_random_stories_with_several_groups_equal_enumeration(case):
    attack, targets, seen, do = case
    network = lower(attack).do(do)
    steps = Lowering(attack, whole=1).network(subject_values(attack, None)).do(do)
    brute = enumeration.joint(network, targets, seen)
    for one in (network, steps):  # tables whole, and gates in steps
        assert np.abs(exact.joint(one, targets, seen)[0, 0] - brute).max() <= 1e-12


def test_many_subjects_between_two_groups_equal_one_at_a_time():
    attack = two_groups()
    attack = attack.replace(
        subject=[SubjectColumn("p", each="home"), SubjectColumn("c", per="work")],
        groups=[replace(attack.groups["home"], rows=(GroupRow("@p"),)), attack.groups["work"]],
        nodes=[*attack.nodes.values(), Node("hit", YES_NO, Probability("@c", ("enough",)),
                                            ("work", "enough"))],
    )  # fmt: skip
    rng = np.random.default_rng(8)
    subjects = {"p": rng.random((50, 2)), "c": rng.random((50, 4))}
    for seen in ({}, {"age": "yes"}, {"enough": "no"}):
        together = ask(attack, "hit=yes", given=seen, subject=subjects).probability[:, 0]
        for i in (0, 17, 49):
            one = {n: v[i] for n, v in subjects.items()}
            alone = ask(attack, "hit=yes", given=seen, subject=one, engine="enumeration")
            assert abs(together[i] - float(alone)) <= 1e-12


# -- the mass of every answer --------------------------------------------------------------------


def counts_twice(monkeypatch):
    """As it once was between two groups: a child's table enters the message again."""
    real = exact.collapse
    monkeypatch.setattr(
        exact, "collapse", lambda group, tables, *rest: real(group, [*tables, *tables], *rest)
    )


def forgets(monkeypatch):
    """The last table is not multiplied in."""
    real = exact.contract
    monkeypatch.setattr(exact, "contract", lambda tensors, keep: real(tensors[1:], keep))


@pytest.mark.parametrize("fault", [counts_twice, forgets])
@pytest.mark.parametrize(
    "seen", [{}, {"some": "yes"}, {"a0": "no"}, {"a0": "yes", "c1": "no", "all": "yes"}]
)
def test_an_engine_that_uses_a_table_twice_or_not_at_all_gives_no_answer(monkeypatch, fault, seen):
    ask(chained(), "end", given=seen)
    exact.forget_trials()
    fault(monkeypatch)
    with pytest.raises(EngineError, match="fault of reidbn and not of the model"):
        ask(chained(), "end", given=seen)
    exact.forget_trials()


def test_a_fault_that_evidence_of_many_subjects_would_hide_is_found(monkeypatch):
    attack, subjects = routes(3), routes_subjects(40, 3, np.random.default_rng(2))
    exact.forget_trials()
    counts_twice(monkeypatch)
    with pytest.raises(EngineError):
        ask(attack, "reidentified=yes", given={"knows_1": "yes"}, subject=subjects)
    exact.forget_trials()


def test_a_number_above_one_is_never_called_certain():
    with pytest.raises(EngineError, match=r"1\.1232"):
        one_in(1.1232)
    assert one_in(1.0) == "1 (certain)"
