"""The attack language in Python: frozen, valid at birth, changed by copying, equal by content."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest
from attacks import random_attacks
from hypothesis import given, settings
from hypothesis import strategies as st

import reidbn as rb

YES_NO = ("no", "yes")


def visit(**changes) -> rb.Attack:
    """A visitor who may be told, and guesses."""
    parts = {
        "parameters": [
            rb.Parameter("p_told", 0.3, 0.1, 0.6, source="panel of 5"),
            rb.Parameter("alike", 4, 1, 10, "people"),
        ],
        "nodes": [
            rb.Node("told", YES_NO, rb.Probability("$p_told"), story="somebody tells"),
            rb.Node("guess", YES_NO, rb.OneOver("$alike")),
            rb.Node("found", YES_NO, rb.And(), ("told", "guess")),
        ],
        "questions": [rb.Question("risk", "found=yes")],
    }
    return rb.Attack("visit", **{**parts, **changes})


# -- frozen ---------------------------------------------------------------------------------------


def test_nothing_in_an_attack_can_be_changed():
    attack = visit(example={}, story="x")
    with pytest.raises(AttributeError):
        attack.story = "another"
    with pytest.raises(AttributeError):
        attack.nodes["told"].story = "another"
    with pytest.raises(AttributeError):
        attack.parameters["p_told"].value = 1.0
    with pytest.raises(TypeError):
        attack.nodes["told"] = None
    with pytest.raises(TypeError, match="cannot be changed"):
        attack.questions["risk"].given["told"] = "yes"


def test_what_was_given_can_change_afterwards_without_touching_the_attack():
    parents = ["told", "guess"]
    sizes = np.array([3.0, 1.0])
    more = [
        rb.Node("more", YES_NO, rb.Or(), parents),
        rb.Node("one", YES_NO, rb.Unique("@size"), "g"),
    ]
    attack = visit(
        subject=[rb.SubjectColumn("size", per="g")],
        groups=[rb.Group("g", ["a"], rb.GroupRow(1))],
        nodes=[*visit().nodes.values(), *more],
        example={"size": sizes},
    )
    parents.append("found")
    sizes[0] = 99
    assert attack.nodes["more"].parents == ("told", "guess")
    assert attack.example["size"] == (3, 1)


def test_a_lone_name_is_one_parent_and_not_its_letters():
    node = rb.Node("n", YES_NO, rb.Or(), "told", linddun="Identifying")
    assert node.parents == ("told",)
    assert node.linddun == ("Identifying",)


# -- changed by copying ---------------------------------------------------------------------------


def test_other_values_make_another_attack():
    attack = visit()
    changed = attack.with_values({"p_told": 0.5, "alike": np.int64(2)})
    assert attack.parameters["p_told"].value == 0.3
    assert changed.parameters["p_told"].value == 0.5
    assert changed.parameters["alike"].value == 2
    assert changed.parameters["alike"].is_integer
    assert changed != attack
    assert changed.with_values({"p_told": 0.3, "alike": 4}) == attack


def test_a_value_beyond_the_range_is_asked_for_and_widens_it():
    with pytest.raises(rb.UsageError, match=r"p_told=0\.9 lies outside its range 0.1 to 0.6"):
        visit().with_values({"p_told": 0.9})
    changed = visit().with_values({"p_told": 0.9}, beyond_range=True)
    assert changed.parameters["p_told"].range == (0.1, 0.9)
    with pytest.raises(rb.UsageError, match=r"p_told=1.5 is not a probability"):
        visit().with_values({"p_told": 1.5}, beyond_range=True)
    with pytest.raises(rb.UsageError, match='no parameter "p_tld"; did you mean "p_told"'):
        visit().with_values({"p_tld": 0.5})


def test_a_node_can_be_added_or_replaced():
    attack = visit()
    either = attack.with_node(rb.Node("found", YES_NO, rb.Or(), ("told", "guess")))
    assert float(rb.ask(either, "found=yes")) == pytest.approx(1 - 0.7 * 0.75, rel=1e-12)
    with_more = attack.with_node(rb.Node("sells", YES_NO, rb.Or(), ("found",)))
    assert float(rb.ask(with_more, "sells=yes")) == pytest.approx(0.075, rel=1e-12)
    assert list(attack.nodes) == ["told", "guess", "found"]


def test_replacing_a_node_must_leave_a_valid_attack():
    with pytest.raises(rb.ModelError, match=r'no parameter "p_tld"; did you mean "p_told"'):
        visit().with_node(rb.Node("told", YES_NO, rb.Probability("$p_tld")))


def test_a_parameter_that_is_no_longer_used_is_a_warning_and_no_error():
    changed = visit().with_node(rb.Node("told", YES_NO, rb.Probability(1)))
    told = "parameters.p_told  warning: is never used; write $p_told where it belongs"
    assert [str(w) for w in changed.warnings] == [told]
    assert visit().warnings == ()


def test_a_group_can_get_other_members():
    attack = rb.load("marketer")
    small = attack.with_members("known", ["knows_age"], example={"class_size": [10, 2]})
    assert small.groups["known"].members == ("knows_age",)
    assert list(small.questions) == ["risk", "right"]
    assert float(rb.ask(small, "right_guess=yes")) == pytest.approx((0.1 + 0.5) / 2, rel=1e-12)
    certain = attack.with_members("known", ["a", "b"], probability=(1.0, 0.0))
    assert certain.example == {}
    answer = rb.ask(certain, "right_guess=yes", subject={"class_size": [9, 4, 3, 1]})
    assert float(answer) == pytest.approx(1 / 4, rel=1e-12)


# -- identity -------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(random_attacks(), st.randoms(use_true_random=False))
def test_the_order_of_declaration_does_not_matter(attack, random):
    """Nodes, groups and columns are known by name; states, parents and members have an order."""

    def shuffled(things):
        things = list(things.values())
        random.shuffle(things)
        return things

    rooms = ("nodes", "groups", "subject")
    other = attack.replace(**{room: shuffled(getattr(attack, room)) for room in rooms})
    assert other == attack
    assert hash(other) == hash(attack)
    assert other.fingerprint == attack.fingerprint


def test_what_has_an_order_of_its_own_counts():
    attack = visit()
    turned = attack.with_node(rb.Node("found", YES_NO, rb.And(), ("guess", "told")))
    assert turned != attack
    assert float(rb.ask(turned, "found=yes")) == float(rb.ask(attack, "found=yes"))


def test_every_part_of_the_content_counts():
    attack = visit()
    told = attack.nodes["told"]
    others = [
        attack.replace(name="other"),
        attack.replace(title="other"),
        attack.replace(story="other"),
        attack.replace(sources=["other"]),
        attack.replace(questions=[]),
        attack.with_values({"p_told": 0.30000000000000004}),
        attack.with_node(rb.Node("told", YES_NO, told.cpd, story="another")),
        attack.with_node(rb.Node("told", ("yes", "no"), told.cpd, story=told.story)),
        attack.with_node(rb.Node("told", YES_NO, told.cpd, story=told.story, source="x")),
        attack.replace(parameters=[
            attack.parameters["p_told"], rb.Parameter("alike", 4, 1, 11, "people")]),
    ]  # fmt: skip
    assert len({other.fingerprint for other in [attack, *others]}) == len(others) + 1


def test_whole_numbers_are_the_same_however_they_are_written():
    one = visit(nodes=[*visit().nodes.values(), rb.Node("sure", YES_NO, rb.Probability(1))])
    same = visit(nodes=[*visit().nodes.values(), rb.Node("sure", YES_NO, rb.Probability(1.0))])
    assert one == same


def test_an_attack_is_equal_to_nothing_else():
    assert visit() != "visit"
    assert len({visit(), visit()}) == 1


def test_copies_and_pickles_are_equal():
    attack = visit(example={})
    for again in (copy.copy(attack), copy.deepcopy(attack), pickle.loads(pickle.dumps(attack))):  # noqa: S301
        assert again == attack
        assert hash(again) == hash(attack)
        assert float(rb.ask(again, "found=yes")) == pytest.approx(0.075, rel=1e-12)


def test_functions_count_by_their_code():
    def attack(function):
        return rb.Attack("f", nodes=[rb.Node("n", YES_NO, rb.Function("n", function))])

    def half():
        return 0.5

    def other():
        return 0.25

    other.__qualname__ = half.__qualname__
    assert attack(half) == attack(half)
    assert attack(half) != attack(other)


def test_functions_count_by_what_they_close_over():
    def constant(value):
        def n():
            return value

        return rb.Attack("f", nodes=[rb.Node.from_function(n)])

    assert constant(0.5) == constant(0.5)
    assert constant(0.5) != constant(0.25)


# -- views ----------------------------------------------------------------------------------------


def test_all_nodes_stand_after_their_parents():
    attack = rb.load("adversary-routes")
    order = list(attack.all_nodes)
    assert len(order) == 13
    for node in attack.all_nodes.values():
        assert all(order.index(p) < order.index(node.name) for p in attack.parent_nodes(node))


def test_the_graph_is_a_networkx_graph_with_stories():
    graph = visit().graph()
    assert isinstance(graph, nx.DiGraph)
    assert set(graph.edges) == {("told", "found"), ("guess", "found")}
    assert graph.nodes["told"]["story"] == "somebody tells"
    assert graph.nodes["found"]["kind"] == "and"
    routes = rb.load("adversary-routes").graph()
    assert set(routes.predecessors("right_guess")) == {
        "knows_birth", "knows_sex", "knows_race", "knows_state",
    }  # fmt: skip


def test_parameters_have_a_range_a_source_and_a_kind():
    parameters = rb.load("adversary-routes").parameters
    p_m = parameters["p_m"]
    assert (p_m.value, p_m.low, p_m.high) == (0.5, 0, 1)
    assert p_m.source == "[Xia21] Table 4, middle setting"
    assert p_m.is_assumption  # nobody measured the middle of a grid
    assert visit().parameters["alike"].is_assumption
    assert visit().parameters["alike"].is_integer
    assert not visit().parameters["p_told"].is_integer


def test_assumptions_are_counted():
    assert rb.load("breakfast").assumptions == ("p_breakfast", "p_overheard", "p_listed", "alike")
    assert rb.load("adversary-routes").assumptions == ("p_m", "p_fm", "p_cu", "p_c", "known")
    assert visit().assumptions == ("alike",)
    guessed = visit(nodes=[
        *visit().nodes.values(),
        rb.Node("luck", YES_NO, rb.Rows([rb.Row((0.9, 0.1))]), source="Assumption, by the author"),
    ])  # fmt: skip
    assert guessed.assumptions == ("alike", "luck")
    assert repr(guessed) == "<Attack visit: 4 nodes, 2 parameters, 2 assumptions>"


def test_structural_parameters_size_the_states():
    attack = rb.load("leak-single")
    assert attack.structural == ("class_size",)
    assert attack.variable("leaked_class_size", {"class_size": 2}).states == ("0", "1", "2")


# -- priors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("prior", "mean", "variance"), [
    (rb.Prior(), 0.5, 1 / 12),
    (rb.Prior("beta", a=2, b=3), 0.4, 0.04),
    (rb.Prior("triangular", mode=0.25), 1.25 / 3, (1 + 0.25**2 - 0.25) / 18),
])  # fmt: skip
def test_priors_have_the_moments_of_the_books_on_any_range(prior, mean, variance):
    """Uniform 1/2, 1/12; beta a/(a+b), ab/((a+b)^2 (a+b+1)); triangular (1+m)/3, (1+m^2-m)/18."""
    assert prior.mean(0, 1) == pytest.approx(mean, rel=1e-12)
    assert prior.sd(0, 1) == pytest.approx(variance**0.5, rel=1e-12)
    if prior.kind != "triangular":
        assert prior.mean(2, 6) == pytest.approx(2 + 4 * mean, rel=1e-12)
        assert prior.sd(2, 6) == pytest.approx(4 * variance**0.5, rel=1e-12)


def test_quantiles_of_a_prior_stay_in_its_range():
    u = np.array([0.0, 0.25, 0.5, 1.0])
    np.testing.assert_allclose(rb.Prior().quantile(u, 1, 3), [1, 1.5, 2, 3], rtol=1e-12)
    for prior in (rb.Prior("beta", a=0.5, b=9), rb.Prior("triangular", mode=2)):
        values = prior.quantile(np.linspace(0, 1, 101), 1, 3)
        assert (np.diff(values) >= 0).all()
        assert values.min() == pytest.approx(1)
        assert values.max() == pytest.approx(3)


@pytest.mark.parametrize(("prior", "message"), [
    (rb.Prior("normal"), '"normal" is not a prior'),
    (rb.Prior("beta", a=1), "a beta prior needs a > 0 and b > 0"),
    (rb.Prior("triangular", mode=0.7), "a triangular prior needs a mode between 0.1 and 0.6"),
    (rb.Prior("uniform", a=1), "a uniform prior takes no a"),
])  # fmt: skip
def test_a_prior_that_cannot_be_is_refused(prior, message):
    with pytest.raises(rb.ModelError, match=message):
        visit(parameters=[rb.Parameter("p_told", 0.3, 0.1, 0.6, prior=prior)])


# -- groups ---------------------------------------------------------------------------------------


def test_members_of_a_group_are_nodes_like_any_other():
    attack = rb.Attack(
        "spy",
        groups=[rb.Group(
            "known", ("age", "town"),
            [rb.GroupRow((0.9, 0.5), {"insider": "yes"}), rb.GroupRow(0.1)],
            parents=("insider",), source="assumption",
        )],
        nodes=[
            rb.Node("insider", YES_NO, rb.Probability(0.2), source="assumption"),
            rb.Node("both", YES_NO, rb.And(), ("known",)),
            rb.Node("town_or_insider", YES_NO, rb.Or(), ("town", "insider")),
        ],
    )  # fmt: skip
    assert float(rb.ask(attack, "age=yes")) == pytest.approx(0.2 * 0.9 + 0.8 * 0.1, rel=1e-12)
    assert float(rb.ask(attack, "both=yes")) == pytest.approx(0.2 * 0.45 + 0.8 * 0.01, rel=1e-12)
    insider = rb.ask(attack, "insider=yes", given={"age": "yes"})
    assert float(insider) == pytest.approx(0.18 / 0.26, rel=1e-12)
    either = rb.ask(attack, "town_or_insider=yes")
    assert float(either) == pytest.approx(0.2 + 0.8 * 0.1, rel=1e-12)
    assert attack.group_of("age").name == "known"
    assert attack.group_of("insider") is None


def test_states_of_a_question_may_be_python_booleans():
    assert rb.Question("q", "found=yes", {"told": True}).given == {"told": "yes"}


@pytest.mark.parametrize("unit", ["euro", "US dollars", "%", "percent", "facts on average", "km"])
def test_a_quantity_that_is_measured_takes_parts_of_one(unit):
    """A fee of 50 euro could not be 50.5, and `learn` left it out in silence."""
    fee = rb.Parameter("fee", 50, 0, 100, unit=unit)
    assert not fee.is_integer
    assert rb.Parameter("n", 50, 0, 100, unit="people").is_integer
