"""What goes to pgmpy: whole attacks, single CPDs for anybody's model, plates as index nodes."""

from itertools import product

import networkx as nx
import numpy as np
import pytest
from attacks import SETTINGS, closed_form, random_attacks, routes, routes_subjects
from conftest import undecided
from cpd_cases import CASES, COLUMNS, PARAMETERS
from hypothesis import given, settings
from hypothesis import strategies as st

import reidbn as rb
from reidbn.attack import load, models
from reidbn.cpds import REST, And, HypergeometricLeak, NoisyOr, OneOver, Or, Row, Rows, Unique
from reidbn.errors import ImpossibleEvidence, ModelError, TooLarge, UsageError
from reidbn.inference import enumeration, exact, lower, pgmpy_bridge

YN = ("no", "yes")


# -- one CPD for anybody's model -----------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_cpd_becomes_a_tabular_cpd_with_the_numbers_by_hand(name):
    case = CASES[name]
    parents, groups, turned = {}, {}, []
    for variable in case.parents:
        if variable.is_group:
            groups[variable.name] = variable.members
            turned += list(reversed(variable.members))
            parents |= dict.fromkeys(reversed(variable.members), YN)
        else:
            parents[variable.name] = variable.states
    cpd = case.cpd.to_pgmpy(
        "child", case.states, parents, groups=groups, parameters=PARAMETERS, subject=COLUMNS
    )
    assert type(cpd) is pgmpy_bridge.pgmpy().TabularCPD
    assert cpd.variables == ["child", *parents]
    assert cpd.state_names == {
        "child": list(case.states),
        **{p: list(s) for p, s in parents.items()},
    }
    assert pytest.approx(case.table(), abs=1e-15) == cpd.get_values().T


def test_our_cpds_stand_in_a_model_that_pgmpy_users_build_themselves():
    model = pgmpy_bridge.pgmpy().DiscreteBayesianNetwork(
        [("size", "guess"), ("lazy one", "guess"), ("guess", "hit")]
    )
    booleans = [False, True]
    model.add_cpds(
        pgmpy_bridge.tabular("size", ["1", "2", "4"], {}, np.array([0.5, 0.25, 0.25])),
        pgmpy_bridge.tabular("lazy one", booleans, {}, np.array([0.75, 0.25])),
        OneOver("size").to_pgmpy(
            "guess", booleans, {"size": ["1", "2", "4"], "lazy one": booleans}
        ),
        NoisyOr("$w").to_pgmpy("hit", YN, {"guess": booleans}, parameters={"w": 0.8}),
    )
    pgmpy_bridge.check(model)
    values, _ = pgmpy_bridge.query(model, ["hit"])
    assert values[1] == pytest.approx(0.8 * (0.5 + 0.125 + 0.0625), abs=1e-15)
    values, p = pgmpy_bridge.query(model, ["size"], {"guess": True})
    assert p == pytest.approx(0.6875, abs=1e-15)
    assert values[0] == pytest.approx(0.5 / 0.6875, abs=1e-15)


def test_parents_stay_in_the_order_in_which_they_were_given():
    rows = Rows((Row((REST, 0.9), {"a": "yes", "b": "no"}), Row((REST, 0.1))))
    one = rows.to_pgmpy("c", YN, {"a": YN, "b": YN})
    other = rows.to_pgmpy("c", YN, {"b": YN, "a": YN})
    assert (one.variables, other.variables) == (["c", "a", "b"], ["c", "b", "a"])
    assert one.get_values()[1].tolist() == [0.1, 0.1, 0.9, 0.1]
    assert other.get_values()[1].tolist() == [0.1, 0.9, 0.1, 0.1]


def test_members_of_a_group_may_stand_in_any_order_and_keep_their_bits():
    """Bit j of a subset is member j of the group, wherever its parent stands."""
    sizes = [9, 3, 5, 1]  # nothing, a, b, both
    for order in (("a", "b"), ("b", "a")):
        parents, groups = dict.fromkeys(order, YN), {"known": ("a", "b")}
        kind = OneOver("@size")
        cpd = kind.to_pgmpy("hit", YN, parents, groups=groups, subject={"size": sizes})
        p = cpd.values[1]
        at = {(a, b): p[(a, b) if order == ("a", "b") else (b, a)] for a in (0, 1) for b in (0, 1)}
        assert [at[0, 0], at[1, 0], at[0, 1], at[1, 1]] == pytest.approx([1 / s for s in sizes])


def test_a_column_may_have_one_value_per_configuration_of_the_parents():
    cpd = Unique("@size").to_pgmpy("u", YN, {"a": YN, "b": ("x", "y", "z")},
                                   subject={"size": [[1, 2, 3], [4, 1, 1]]})  # fmt: skip
    assert cpd.get_values()[1].tolist() == [1, 0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: NoisyOr("$w").to_pgmpy("x", YN, {"a": YN}), UsageError, r"x uses \$w"),
        (lambda: NoisyOr("$w").to_pgmpy("x", YN, {"a": YN}, parameters={"v": 1}), UsageError,
         r"give it in parameters=\{...\}"),
        (lambda: OneOver("@s").to_pgmpy("x", YN), UsageError, r"give it in subject=\{...\}"),
        (lambda: And().to_pgmpy("x", ("a", "b"), {"p": YN}), ModelError,
         "needs the states no and yes"),
        (lambda: Or().to_pgmpy("x", YN), ModelError, "at least one parent"),
        (lambda: OneOver("size").to_pgmpy("x", YN, {"sise": ("1",)}), ModelError, 'mean "sise"'),
        (lambda: OneOver("@s").to_pgmpy("x", YN, {"a": YN}, groups={"g": ("b",)}, subject={"s": 1}),
         UsageError, 'group member "b" is not among the parents'),
        (lambda: OneOver("@s").to_pgmpy("x", YN, {"a": ("0", "1")}, groups={"g": ("a",)},
                                        subject={"s": 1}), UsageError, "must be no and yes"),
        (lambda: OneOver("@s").to_pgmpy("x", YN, {"a": YN}, subject={"s": [1, 2, 3]}), UsageError,
         r"subject column s has shape \(3,\)"),
        (lambda: Or().to_pgmpy("x", (True, "yes"), {"a": YN}), UsageError, "not distinct"),
        (lambda: NoisyOr("$w").to_pgmpy("x", YN, {"a": YN}, parameters={"w": 1.5}), ModelError,
         "must lie between 0 and 1"),
    ],
)  # fmt: skip
def test_what_is_missing_or_wrong_is_said_in_one_line(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_leak_chain_in_pgmpy_gives_the_published_risk():
    states = [str(h) for h in range(6)]
    leak = HypergeometricLeak("$D", "$L", 5).to_pgmpy(
        "h", states, parameters={"D": 10_000, "L": 4_000}
    )
    p_none = float(leak.get_values()[0, 0])
    assert (1 - p_none) / 5 == pytest.approx(0.1844583686910847, abs=1e-15)


# -- whole attacks -------------------------------------------------------------------------------


@pytest.mark.parametrize("model", undecided())
def test_every_shipped_model_becomes_a_checked_pgmpy_model(model):
    attack = load(model)
    found = attack.to_pgmpy()
    assert found.check_model()
    whole = nx.DiGraph(found.edges())
    whole.add_nodes_from(found.nodes())
    for step in [name for name in found.nodes() if "~" in name]:  # of a gate of many parents
        whole.add_edges_from(product(whole.predecessors(step), [*whole.successors(step)]))
        whole.remove_node(step)
    assert set(whole.nodes()) == set(attack.all_nodes)
    assert set(whole.edges()) == set(attack.graph().edges())


def test_attacks_go_to_pgmpy_at_any_setting_for_any_subject():
    attack = load("adversary-routes")
    model = attack.to_pgmpy(
        set={"p_c": 0.2}, subject={"class_size": np.full(16, 4.0), "p_unique": np.zeros(16)}
    )
    assert model.get_cpds("claims").get_values().tolist() == [[0.8], [0.2]]
    values, _ = pgmpy_bridge.query(model, ["reidentified"])
    assert values[1] == pytest.approx(0.25 * 0.2, abs=1e-15)
    with pytest.raises(UsageError, match="2 settings"):
        attack.to_pgmpy(set={"p_c": [0.2, 0.3]})


def test_a_group_that_pgmpy_could_not_hold_is_refused_with_its_size():
    attack = load("adversary-routes")
    members = [f"knows_{i}" for i in range(17)]
    large = attack.with_members(
        "known", members, example={"class_size": np.ones(1 << 17), "p_unique": np.ones(1 << 17)}
    )
    with pytest.raises(UsageError, match="17 members"):
        large.to_pgmpy()


@settings(max_examples=40, deadline=None)
@given(attack=random_attacks(), data=st.data())
def test_random_attacks_agree_with_enumeration_given_evidence_and_interventions(attack, data):
    network = lower(attack)
    nodes = sorted(network.states)
    target = data.draw(st.sampled_from(nodes))
    chosen = data.draw(st.lists(st.sampled_from(nodes), max_size=2, unique=True))
    evidence = {n: data.draw(st.sampled_from(network.states[n])) for n in chosen if n != target}
    cut = data.draw(st.sampled_from([None, *nodes]))
    do = {cut: data.draw(st.sampled_from(network.states[cut]))} if cut and cut != target else {}
    evidence = {n: s for n, s in evidence.items() if n not in do}
    wanted = enumeration.joint(network.do(do), [target], evidence)
    model = pgmpy_bridge.network_to_pgmpy(network)
    if wanted.sum() <= 0:
        with pytest.raises(ImpossibleEvidence):
            pgmpy_bridge.query(model, [target], evidence, do)
        return
    values, p = pgmpy_bridge.query(model, [target], evidence, do)
    assert values * p == pytest.approx(wanted, abs=1e-12)


def test_a_model_read_back_has_the_same_tables():
    network = lower(load("adversary-routes"))
    model = pgmpy_bridge.network_to_pgmpy(network)
    found = {n.name: n for n in pgmpy_bridge.tables(model)}
    assert found["claims"].table.tolist() == network.factors["claims"].table[0, 0].tolist()
    assert found["right_guess"].parents == tuple(reversed(network.groups["known"]))


# -- plates as nodes -----------------------------------------------------------------------------


def test_one_query_with_index_nodes_answers_for_every_subject_and_setting():
    rng = np.random.default_rng(20250401)
    attack, subjects = routes(3), routes_subjects(7, 3, rng)
    values = rng.random((4, 5))
    network = lower(attack, dict(zip(SETTINGS, values, strict=True)), subjects)
    model = pgmpy_bridge.network_to_pgmpy_indexed(network)
    found = pgmpy_bridge.joint_indexed(model, ["reidentified"], {})
    assert found.shape == (7, 5, 2)
    wanted = [[closed_form(subjects, *values[:, t])[i] for t in range(5)] for i in range(7)]
    assert found[..., 1] == pytest.approx(np.array(wanted), abs=1e-14)
    batched = exact.joint(network, ["reidentified"], {"claims": "yes"})
    assert pgmpy_bridge.joint_indexed(model, ["reidentified"], {"claims": "yes"}) == pytest.approx(
        np.broadcast_to(batched, (7, 5, 2)), abs=1e-14
    )


def test_index_nodes_are_parents_of_what_depends_on_them_only():
    network = lower(routes(2), {"p_c": [0.1, 0.9]}, routes_subjects(3, 2, np.random.default_rng(1)))
    model = pgmpy_bridge.network_to_pgmpy_indexed(network)
    children = {p: sorted(model.get_children(p)) for p in ("<subject>", "<setting>")}
    assert children["<setting>"] == ["claims"]
    assert "claims" not in children["<subject>"]
    assert {"unique", "right_guess", "knows_0", "knows_1"} <= set(children["<subject>"])


@pytest.mark.parametrize("model", undecided())
def test_every_shipped_model_answers_alike_with_index_nodes(model):
    attack = load(model)
    target = list(attack.nodes)[-1]
    network = lower(attack)
    found = pgmpy_bridge.joint_indexed(pgmpy_bridge.network_to_pgmpy_indexed(network), [target], {})
    assert found == pytest.approx(exact.joint(network, [target], {}), abs=1e-13)


def test_too_many_subjects_at_once_are_refused_before_memory_is_gone(monkeypatch):
    monkeypatch.setattr(pgmpy_bridge, "MOST_CELLS", 100)
    network = lower(routes(3), None, routes_subjects(20, 3, np.random.default_rng(2)))
    with pytest.raises(TooLarge, match="take the subjects in blocks"):
        pgmpy_bridge.network_to_pgmpy_indexed(network)


@pytest.mark.wide
def test_an_attack_asked_through_pgmpy_equals_the_exact_engine():
    for model in models():
        target = list(load(model).nodes)[-1]
        state = load(model).all_nodes[target].states
        state = state[-1] if not isinstance(state, str) else "1"
        question = f"{target}={state}"
        assert float(rb.ask(model, question, engine="pgmpy")) == pytest.approx(
            float(rb.ask(model, question)), abs=1e-12
        )
