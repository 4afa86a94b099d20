"""The leak as graphs: pgmpy, the batched engine, enumeration and sampling, against rb.leak."""

import numpy as np
import pytest

import reidbn as rb
from reidbn.attack import dumps, loads
from reidbn.cpds import RestOfLeak, TargetClass, TargetInLeak
from reidbn.errors import ModelError

MODELS = ("leak-single", "leak-classes", "leak-targets", "leak-claims", "leak-known-secret",
          "leak-uncertain-size", "leak-homogeneous", "leak-histories", "leak-partial")  # fmt: skip
TABLES = [
    ({3: 2, 4: 1}, 3, 2),
    ({3: 2, 4: 1}, 5, 3),
    ({2: 3}, 4, 3),
    ({1: 2, 2: 3, 3: 1}, 5, 3),
    ({3: 1, 1: 1}, 3, 2),
    ({2: 2, 5: 1}, 9, 4),
    ({5: 2000}, 4000, 3),
]


@pytest.mark.parametrize("model", MODELS)
def test_every_engine_gives_every_answer(model):
    attack = rb.load(model)
    for question in attack.questions.values():
        exact, reference, listed = (
            float(rb.ask(attack, question.target, given=dict(question.given), engine=engine))
            for engine in ("exact", "pgmpy", "enumeration")
        )
        assert exact == pytest.approx(reference, rel=1e-12)
        assert exact == pytest.approx(listed, rel=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_acting_the_story_out_agrees(model):
    """False alarm in one of a million seeds, shared by the cells of a model."""
    question = next(iter(rb.load(model).questions))
    found = rb.crosscheck(model, question, draws=200_000, seed=20250620)
    assert found.passed
    assert found.decided >= 0.8


@pytest.mark.parametrize(("classes", "leaked", "targets"), TABLES)
def test_the_unrolled_network_is_the_exact_answer_for_many_targets(classes, leaked, targets):
    attack = rb.leak.as_attack(classes, leaked=leaked, targets=targets)
    joint = rb.leak.joint_risk(classes, leaked=leaked, targets=targets)
    some = rb.leak.number_identified(classes, leaked=leaked, targets=targets).at_least(1)
    for engine in ("exact", "pgmpy"):
        assert float(rb.ask(attack, "all_identified=yes", engine=engine)) == pytest.approx(
            joint, rel=1e-11
        )
        assert float(rb.ask(attack, "any_identified=yes", engine=engine)) == pytest.approx(
            some, rel=1e-11
        )


def test_every_target_has_the_risk_of_the_first_when_nobody_was_identified_before():
    attack = rb.leak.as_attack({2: 3, 4: 1}, leaked=5, targets=3)
    one = rb.leak.risk({2: 3, 4: 1}, leaked=5)
    assert float(rb.ask(attack, "identified_1=yes")) == pytest.approx(one, rel=1e-13)
    for i in (1, 2, 3):
        assert float(rb.ask(attack, f"in_leak_{i}=yes")) == pytest.approx(0.5, rel=1e-13)
        assert float(rb.ask(attack, f"identified_{i}=yes")) >= one * (1 - 1e-12)


def test_the_graph_of_a_table_follows_its_parameters():
    attack = rb.leak.as_attack({3: 2, 4: 1}, leaked=3, targets=2)
    changed = rb.ask(attack, "all_identified=yes", set={"leaked": 6, "classes_of_3": 1})
    wanted = rb.leak.joint_risk({3: 1, 4: 1}, leaked=6, targets=2)
    assert float(changed) == pytest.approx(wanted, rel=1e-12)


def test_the_graph_of_a_table_of_people_with_one_target():
    people = rb.toy_hospital().people()
    attack = rb.leak.as_attack(people, leaked=3)
    assert float(rb.ask(attack, "identified=yes")) == pytest.approx(
        rb.leak.risk(people, leaked=3), rel=1e-13
    )
    assert loads(dumps(attack)) == attack


def test_the_variations_as_graphs_equal_the_closed_forms():
    def ask(model, target, **options):
        return float(rb.ask(model, target, **options))

    for size in (0.0, 0.4, 1.0):
        mixed = size * rb.leak.risk(records=10, leaked=3, class_size=3)
        mixed += (1 - size) * rb.leak.risk(records=10, leaked=3, class_size=4)
        assert ask(
            "leak-classes", "identified=yes", set={"in_classes_of_3": size}
        ) == pytest.approx(mixed, rel=1e-13)
    for patience, rule in ((0, "guess"), (1, "only one")):
        found = rb.leak.claims(records=10_000, leaked=1_000, class_size=7, rule=rule, in_table=0.6)
        values = {"patience": patience, "leaked": 1_000, "class_size": 7, "p_in_table": 0.6}
        assert ask("leak-claims", "right=yes", set=values) == pytest.approx(found.true_positive)
        assert ask("leak-claims", "wrong=yes", set=values) == pytest.approx(found.false_positive)
        given = {"claims": "yes"}
        precision = ask("leak-claims", "right=yes", given=given, set=values)
        assert precision == pytest.approx(found.precision)
    prior = {1000: 0.5, 4000: 0.3, 8000: 0.2}
    assert ask("leak-uncertain-size", "identified=yes") == pytest.approx(
        rb.leak.risk(records=10_000, leaked=prior, class_size=5), rel=1e-13
    )
    found = rb.leak.homogeneity(records=10, leaked=4, class_size=4, alike=3)
    values = {"leaked": 4, "alike": 3, "others": 1}
    assert ask("leak-homogeneous", "disclosed=yes", set=values) == pytest.approx(found.disclosed)
    assert ask("leak-homogeneous", "one_diagnosis=yes", set=values) == pytest.approx(found.believed)
    risks = rb.leak.partial_histories(records=10, leaked=5, histories=[2, 2, 2], seen=0.2)
    assert ask(
        "leak-histories", "identified=yes", set={"leaked": 5, "copied": 0.2}
    ) == pytest.approx(risks[0], rel=1e-13)


def test_partial_knowledge_of_the_hospital_is_the_graph_with_its_class_sizes():
    people = rb.toy_hospital().people()
    chances = {"sex": 0.9, "age": 0.5, "postcode": 0.2, "ethnicity": 0.7}
    risks = rb.leak.risks(people, leaked=3, known={c: (c, p) for c, p in chances.items()})
    sizes = [[people.class_sizes([c for j, c in enumerate(chances) if mask >> j & 1])[i]
              for mask in range(16)] for i in range(10)]  # fmt: skip
    attack = rb.load("leak-partial").with_members(
        "known", [f"knows_{c}" for c in chances], probability=tuple(chances.values())
    )
    found = rb.ask(attack, "identified=yes", subject={"class_size": np.array(sizes, dtype=float)})
    assert np.ravel(found.probability) == pytest.approx(risks, rel=1e-12)


def test_a_graph_that_would_be_too_large_is_refused_with_the_way_out():
    with pytest.raises(rb.TooLarge, match="joint_risk needs no graph"):
        rb.leak.as_attack({50: 20, 60: 3}, leaked=40, targets=4)


def a_node(cpd, states=("no", "yes"), parents=()):
    return rb.Attack("a", nodes=[rb.Node("first", ("of_2", "of_3"), TargetClass((2, 3), (4, 5))),
                                 rb.Node("x", states, cpd, parents)])  # fmt: skip


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: a_node(TargetClass((2, 3), (4,)), ("of_2", "of_3")), "1 counts for 2 class sizes"),
        (lambda: a_node(TargetClass((2, 2), (4, 1)), ("of_2",)), "different whole numbers"),
        (
            lambda: a_node(TargetClass((2, 3), (4, 5), ("first",)), ("of_2", "of_3"), ("first",)),
            "the states must be of_2, of_3, same_as_1",
        ),
        (
            lambda: a_node(TargetInLeak(("frist",), "first"), parents=("first",)),
            'did you mean "first"',
        ),
        (
            lambda: a_node(RestOfLeak(9, 3, 2, (1, 1), ("first",)), ("0", "1", "2"), ("first",)),
            "2 sizes for 1 groups",
        ),
        (
            lambda: a_node(RestOfLeak(9, 3, 2, (1,), ("first",)), ("a", "b"), ("first",)),
            "the states must be 0, 1, 2",
        ),
    ],
)
def test_a_wrong_node_is_told_what_would_be_right(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_more_targets_than_records_and_leaks_larger_than_the_table_are_refused_when_asked():
    attack = rb.leak.as_attack({2: 2}, leaked=2, targets=3)
    with pytest.raises(ModelError, match="as many records as targets"):
        rb.ask(attack, "all_identified=yes", set={"classes_of_2": 1, "leaked": 1})
    with pytest.raises(ModelError, match="between 0 and the number of records"):
        rb.ask(
            attack, "all_identified=yes", set={"classes_of_2": 2, "leaked": 5}, beyond_range=True
        )
    with pytest.raises(ModelError, match="it must fit in both"):
        rb.ask(
            "leak-homogeneous",
            "disclosed=yes",
            set={"records": 5, "leaked": 2, "others": 4},
            beyond_range=True,
        )
