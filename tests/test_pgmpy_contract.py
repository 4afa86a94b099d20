"""pgmpy 1.1's traps, each shown to be there, and our bridge shown to step around it.

When a trap is mended upstream its first half fails here: then the step around it can go.
"""

import contextlib
import io
import logging
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from reidbn.attack import Attack, Node, Parameter
from reidbn.cpds import REST, Row, Rows
from reidbn.errors import ImpossibleEvidence, ModelError, UsageError
from reidbn.inference import enumeration, lower, pgmpy_bridge, sampling

YN = ("no", "yes")


def model_of(edges, **tables_by_node):
    """A pgmpy model from P(yes | parents) per node, parents in the order of the edges."""
    model = pgmpy_bridge.pgmpy().DiscreteBayesianNetwork()
    model.add_nodes_from(tables_by_node)
    model.add_edges_from(edges)
    for name, p_yes in tables_by_node.items():
        parents = {a: YN for a, b in edges if b == name}
        p = np.array(p_yes, dtype=float).reshape((2,) * len(parents))
        model.add_cpds(pgmpy_bridge.tabular(name, YN, parents, np.stack([1 - p, p], axis=-1)))
    return model


def ask_pgmpy(model, targets, evidence=None):
    return pgmpy_bridge.pgmpy().VariableElimination(model).query(
        targets, evidence=evidence, show_progress=False
    ).values  # fmt: skip


# -- impossible evidence ---------------------------------------------------------------------


def test_evidence_of_probability_zero_gets_a_plausible_posterior_from_pgmpy():
    model = model_of([("a", "b")], a=0.0, b=[0.1, 0.5])
    assert ask_pgmpy(model, ["b"], {"a": "yes"}) == pytest.approx([0.5, 0.5])
    with pytest.raises(ImpossibleEvidence):
        pgmpy_bridge.query(model, ["b"], {"a": "yes"})


def test_a_zero_factor_within_the_evidence_is_dropped_by_pgmpy():
    model = model_of([("a", "b"), ("a", "c")], a=0.0, b=[0.0, 0.0], c=[0.1, 0.5])
    impossible = {"a": "no", "b": "yes"}
    assert ask_pgmpy(model, ["c"], impossible) == pytest.approx([0.9, 0.1])
    with pytest.raises(ImpossibleEvidence):
        pgmpy_bridge.query(model, ["c"], impossible)


def test_impossible_evidence_can_also_come_back_as_nan():
    model = model_of([("a", "b")], a=0.6, b=[0.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(ask_pgmpy(model, ["a"], {"b": "yes"})).all()
    with pytest.raises(ImpossibleEvidence):
        pgmpy_bridge.query(model, ["a"], {"b": "yes"})


def test_the_bridge_gives_the_probability_of_the_evidence_too():
    model = model_of([("a", "b")], a=0.25, b=[0.1, 0.5])
    values, p_evidence = pgmpy_bridge.query(model, ["a"], {"b": "yes"})
    assert p_evidence == pytest.approx(0.75 * 0.1 + 0.25 * 0.5, abs=1e-15)
    assert values[1] == pytest.approx(0.25 * 0.5 / p_evidence, abs=1e-15)


def test_large_joint_answers_go_by_the_chain_rule_to_the_same_numbers(monkeypatch):
    edges = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    model = model_of(edges, a=0.3, b=[0.1, 0.9], c=[0.2, 0.6], d=[0.1, 0.4, 0.7, 0.95])
    whole = pgmpy_bridge.joint(model, ["a", "b"], {"b": "yes", "d": "no"})
    impossible = pgmpy_bridge.joint(
        model_of([("a", "b")], a=0.0, b=[0.5, 0.5]), ["b"], {"a": "yes"}
    )
    monkeypatch.setattr(pgmpy_bridge, "MOST_JOINT", 1)
    assert pgmpy_bridge.joint(model, ["a", "b"], {"b": "yes", "d": "no"}) == pytest.approx(
        whole, abs=1e-16
    )
    assert whole[:, 0].tolist() == [0, 0]
    chained = pgmpy_bridge.joint(model_of([("a", "b")], a=0.0, b=[0.5, 0.5]), ["b"], {"a": "yes"})
    assert chained.tolist() == impossible.tolist() == [0, 0]


# -- checks that pass what is wrong ----------------------------------------------------------


def test_check_model_passes_columns_that_do_not_sum_to_one():
    model = model_of([("a", "b")], a=0.6, b=[0.1, 0.5])
    model.get_cpds("a").values[0] = 0.395
    assert model.check_model()
    with pytest.raises(UsageError, match=r"sums to 1 only within 0\.005"):
        pgmpy_bridge.check(model)


def test_a_tables_values_stay_writable_after_the_check():
    model = model_of([("a", "b")], a=0.6, b=[0.1, 0.5])
    model.get_cpds("a").values[...] = 9
    assert model.get_cpds("a").values.max() == 9
    with pytest.raises((UsageError, ValueError)):
        pgmpy_bridge.check(model)


def test_the_exported_tables_are_copies():
    attack = tiny()
    network = lower(attack)
    model = pgmpy_bridge.network_to_pgmpy(network)
    model.get_cpds("late").values[...] = 9
    assert network.factors["late"].table.max() <= 1
    assert attack.to_pgmpy().get_cpds("late").values.max() <= 1


def test_swapped_parents_of_equal_size_pass_silently_and_ours_are_named():
    attack = tiny()
    straight = np.array(attack.to_pgmpy().get_cpds("late").get_values())
    swapped = pgmpy_bridge.pgmpy().TabularCPD(
        "late", 2, straight, evidence=["alarm", "rain"], evidence_card=[2, 2],
        state_names={"late": list(YN), "alarm": list(YN), "rain": list(YN)},
    )  # fmt: skip
    model = attack.to_pgmpy()
    model.add_cpds(swapped)
    assert model.check_model()
    wrong = ask_pgmpy(model, ["late"])[1]
    right = ask_pgmpy(attack.to_pgmpy(), ["late"])[1]
    assert right == pytest.approx(
        float(enumeration.joint(lower(attack), ["late"], {})[1]), abs=1e-15
    )
    assert abs(wrong - right) > 0.01


def test_get_evidence_lists_the_parents_backwards_and_ours_come_in_order():
    model = tiny().to_pgmpy()
    cpd = model.get_cpds("late")
    assert cpd.get_evidence() == ["alarm", "rain"]
    assert cpd.variables[1:] == ["rain", "alarm"]
    found = next(n for n in pgmpy_bridge.tables(model) if n.name == "late")
    assert found.parents == ("rain", "alarm")
    assert found.table.tolist() == lower(tiny()).factors["late"].table[0, 0].tolist()


# -- identity and copies ---------------------------------------------------------------------


def test_models_with_other_numbers_are_equal_to_pgmpy_and_not_to_us():
    one, other = tiny(0.1).to_pgmpy(), tiny(0.9).to_pgmpy()
    assert one == other
    assert hash(one) == hash(other)
    assert tiny(0.1) != tiny(0.9)
    assert tiny(0.1).fingerprint != tiny(0.9).fingerprint


def test_copies_of_tabular_cpds_lose_their_class_so_ours_are_plain():
    tabular_cpd = pgmpy_bridge.pgmpy().TabularCPD

    class Mine(tabular_cpd):
        pass

    mine = Mine("a", 2, [[0.4], [0.6]], state_names={"a": list(YN)})
    assert type(mine.copy()) is tabular_cpd
    exported = Rows((Row((REST, "$p")),)).to_pgmpy("a", YN, parameters={"p": 0.6})
    assert type(exported) is tabular_cpd
    assert exported.copy().get_values().tolist() == [[0.4], [0.6]]


# -- interventions ---------------------------------------------------------------------------


def test_causal_inference_is_wrong_with_evidence_and_ours_is_the_mutilated_model():
    from pgmpy.inference import CausalInference

    p_w = [0.2, 0.7]
    p_y = [0.1, 0.4, 0.5, 0.9]  # parents u, x
    model = model_of(
        [("u", "x"), ("u", "y"), ("x", "y"), ("y", "w")], u=0.7, x=[0.1, 0.8], y=p_y, w=p_w
    )
    theirs = CausalInference(model).query(
        ["y"], do={"x": "yes"}, evidence={"w": "yes"}, show_progress=False
    )
    p = 0.3 * p_y[1] + 0.7 * p_y[3]  # P(y | do x) by hand
    by_hand = p * p_w[1] / (p * p_w[1] + (1 - p) * p_w[0])
    ours, _ = pgmpy_bridge.query(model, ["y"], {"w": "yes"}, do={"x": "yes"})
    assert ours[1] == pytest.approx(by_hand, abs=1e-15)
    assert abs(float(theirs.values[1]) - by_hand) > 0.05


def test_an_intervention_on_several_nodes_at_once_is_right():
    model = model_of(
        [("a", "b"), ("b", "c"), ("a", "c")], a=0.3, b=[0.2, 0.9], c=[0.1, 0.4, 0.6, 0.8]
    )
    values, p = pgmpy_bridge.query(model, ["c"], {}, do={"a": "no", "b": "yes"})
    assert p == pytest.approx(1, abs=1e-15)
    order = model.get_cpds("c").variables[1:]
    expected = [0.1, 0.4, 0.6, 0.8][{("b", "a"): 2, ("a", "b"): 1}[tuple(order)]]
    assert values[1] == pytest.approx(expected, abs=1e-15)


# -- noise: warnings, bars, the global generator, downloads -----------------------------------


def test_a_seed_resets_numpys_global_generator_and_our_sampler_leaves_it_alone():
    model = tiny().to_pgmpy()
    np.random.seed(1)  # noqa: NPY002 - the trap itself
    untouched = np.random.get_state()[1].copy()  # noqa: NPY002
    sampling.forward(lower(tiny()), 100, np.random.default_rng(5))
    pgmpy_bridge.query(model, ["late"], {"rain": "yes"})
    assert (np.random.get_state()[1] == untouched).all()  # noqa: NPY002
    model.simulate(3, seed=7, show_progress=False)
    assert not (np.random.get_state()[1] == untouched).all()  # noqa: NPY002


def test_belief_propagation_fails_on_a_graph_in_two_pieces_and_elimination_does_not():
    from pgmpy.inference import BeliefPropagation

    model = model_of([], a=0.9, b=0.8)
    with pytest.raises(ValueError, match="sepset"):
        BeliefPropagation(model).query(["a"], show_progress=False)
    assert pgmpy_bridge.joint(model, ["a", "b"], {}) == pytest.approx(
        np.outer([0.1, 0.9], [0.2, 0.8]), abs=1e-16
    )


@pytest.mark.wide
def test_importing_inference_warns_and_the_bridge_keeps_quiet():
    code = "import warnings; warnings.simplefilter('error', FutureWarning); {}"
    loud = "import pgmpy.inference"
    quiet = "from reidbn.inference import pgmpy_bridge; pgmpy_bridge.pgmpy()"
    found = [
        subprocess.run([sys.executable, "-c", code.format(c)], capture_output=True, text=True)
        for c in (loud, quiet)
    ]
    assert "FutureWarning" in found[0].stderr
    assert found[1].returncode == 0
    assert found[1].stderr == ""


def test_replacing_a_table_is_logged_by_pgmpy_and_not_through_the_bridge():
    logger = logging.getLogger("pgmpy")
    pgmpy_bridge.pgmpy()
    assert logger.level == logging.ERROR


def test_progress_bars_are_the_default_and_the_bridge_shows_none():
    model = tiny().to_pgmpy()
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        model.simulate(2)
    assert "%" in err.getvalue()
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        pgmpy_bridge.query(model, ["late"], {"rain": "yes"}, do={"alarm": "no"})
    assert err.getvalue() == ""


def test_example_models_want_the_network_and_nothing_here_uses_them():
    folder = os.path.dirname(os.path.dirname(__file__))
    for place, _, files in os.walk(os.path.join(folder, "reidbn")):
        for name in files:
            if name.endswith(".py"):
                with open(os.path.join(place, name)) as file:
                    assert "example_models" not in file.read(), name


def test_torch_is_no_part_of_this_installation():
    pgmpy_bridge.pgmpy()
    assert "torch" not in sys.modules


def test_whole_numbers_and_booleans_become_strings_in_pgmpys_files_and_ours_say_what_they_were():
    from pgmpy.readwrite import BIFReader, BIFWriter

    from reidbn.inference.interchange import read_network

    model = pgmpy_bridge.pgmpy().DiscreteBayesianNetwork()
    model.add_nodes_from(["size", "flag"])
    model.add_cpds(
        pgmpy_bridge.tabular("size", [1, 2], {}, np.array([0.3, 0.7])),
        pgmpy_bridge.tabular("flag", [False, True], {}, np.array([0.4, 0.6])),
    )
    again = BIFReader(string=str(BIFWriter(model))).get_model()
    assert again.get_cpds("size").state_names["size"] == ["1", "2"]
    assert again.get_cpds("flag").state_names["flag"] == ["False", "True"]
    found = read_network(model)
    assert found.states["size"] == {"1": 1, "2": 2}
    assert found.states["flag"] == {"no": False, "yes": True}


# -- our own questions to anybody's model -----------------------------------------------------


def test_an_unknown_node_or_state_gets_one_clear_word():
    model = model_of([("a", "b")], a=0.6, b=[0.1, 0.5])
    with pytest.raises(UsageError, match='no node "c"'):
        pgmpy_bridge.query(model, ["c"])
    with pytest.raises(UsageError, match='b has no state "maybe"'):
        pgmpy_bridge.query(model, ["a"], {"b": "maybe"})
    with pytest.raises(UsageError, match='no node "c"'):
        pgmpy_bridge.query(model, ["a"], {}, do={"c": "yes"})


def test_a_model_without_all_its_tables_is_refused():
    model = model_of([("a", "b")], a=0.6, b=[0.1, 0.5])
    model.remove_cpds("b")
    with pytest.raises(ModelError, match="the pgmpy model is not complete: No CPD"):
        pgmpy_bridge.tables(model)


def test_only_a_pgmpy_model_is_taken_for_one():
    with pytest.raises(UsageError, match="this is a dict"):
        pgmpy_bridge.tables({})


def tiny(p_rain=0.3):
    """rain and alarm lead to late; the two parents have equal sizes and unequal effects."""
    late = Rows((
        Row((REST, 0.95), {"rain": "yes", "alarm": "no"}),
        Row((REST, 0.6), {"rain": "yes"}),
        Row((REST, 0.4), {"alarm": "no"}),
        Row((REST, 0.05)),
    ))  # fmt: skip
    return Attack(
        "tiny",
        nodes=[
            Node("rain", YN, Rows((Row((REST, "$p_rain")),))),
            Node("alarm", YN, Rows((Row((0.2, 0.8)),)), source="assumption"),
            Node("late", YN, late, ("rain", "alarm"), source="assumption"),
        ],
        parameters=[Parameter("p_rain", p_rain)],
    )
