"""The most probable case equals the best of all cases written down, and goes beyond that size."""

import numpy as np
import pytest
from attacks import random_attacks
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import inside

import reidbn as rb
from reidbn.attack import Attack, Node, load, models
from reidbn.cpds import Table
from reidbn.errors import ImpossibleEvidence, TooLarge, UsageError
from reidbn.inference import best_case, entries_of, enumeration, lower, most_probable


@pytest.mark.wide
@settings(max_examples=150, deadline=None)
@given(attack=random_attacks(), data=st.data())
def test_it_is_as_probable_as_the_best_case_of_all(attack, data):
    network = lower(attack)
    nodes = data.draw(st.lists(st.sampled_from(sorted(network.states)), max_size=3, unique=True))
    evidence = {n: data.draw(st.sampled_from(network.states[n])) for n in nodes}
    _, best = enumeration.most_probable(network, evidence)
    if best == 0:
        with pytest.raises(ImpossibleEvidence):
            most_probable(attack, evidence)
        return
    found = most_probable(attack, evidence)
    assert found.probability == pytest.approx(best, rel=1e-12)
    assert {n: found.case[n] for n in evidence} == evidence
    total = float(enumeration.joint(network, [], evidence))
    assert found.posterior == pytest.approx(best / total, rel=1e-12)
    assert set(found.case) == set(network.states)


TOO_MANY = ("linkage", "family-cascade", "linkage-family")  # 10^9 cases and more


@pytest.mark.parametrize("model", [m for m in models() if m not in TOO_MANY])
def test_shipped_models_are_explained_as_by_writing_down_every_case(model):
    attack = load(model)
    network = lower(attack)
    last = list(attack.nodes)[-1]
    for state in network.states[last]:
        case, best = enumeration.most_probable(network, {last: state})
        found = most_probable(model, {last: state})
        assert found.probability == pytest.approx(best, rel=1e-12)
        assert np.prod(entries_of(network, case)) == pytest.approx(best, rel=1e-12)


def test_an_intervention_is_no_evidence_about_its_causes():
    seen = most_probable("leak-single", {"in_leak": "yes"}, set={"leaked": 100})
    done = most_probable("leak-single", do={"in_leak": "yes"}, set={"leaked": 100})
    assert seen.case["leaked_class_size"] == "1"
    assert done.case["leaked_class_size"] == "0"
    assert done.evidence_probability == 1.0


def test_soft_evidence_counts_by_its_likelihood():
    found = most_probable("breakfast", {"identified": {"no": 0.0, "yes": 0.5}})
    assert found.case["identified"] == "yes"
    assert found.case["identified_report"] == "yes"
    p = float(rb.ask("breakfast", "identified=yes"))
    assert found.evidence_probability == pytest.approx(p * 0.5, rel=1e-12)


def chain(n, flip):
    """A chain of n nodes each of which copies the one before, with a chance to flip."""
    rows = ((1 - flip, flip), (flip, 1 - flip))
    nodes = [Node("x0", ("no", "yes"), Table(((0.4, 0.6),)), source="made up")]
    nodes += [
        Node(f"x{i}", ("no", "yes"), Table(rows), (f"x{i - 1}",), source="made up")
        for i in range(1, n)
    ]
    return Attack("chain", nodes=nodes)


def test_a_chain_of_three_thousand_nodes_is_explained_exactly_far_beyond_enumeration():
    """Viterbi by hand: with one end seen, the cheapest story has one flip or the rarer start."""
    n = 3000
    attack = chain(n, 0.3)
    case = best_case(lower(attack), {f"x{n - 1}": "no"})
    # Copying "no" all along costs 0.4; starting with yes and flipping once costs 0.6 * 0.3 / 0.7.
    assert set(case.values()) == {"no"}
    other = best_case(lower(chain(n, 0.45)), {f"x{n - 1}": "no"})
    flips = sum(other[f"x{i}"] != other[f"x{i - 1}"] for i in range(1, n))
    assert 0.6 * 0.45 / 0.55 > 0.4
    assert (other["x0"], flips) == ("yes", 1)


def test_a_group_of_fourteen_is_explained_though_no_case_list_would_fit():
    attack = load("adversary-routes")
    members = tuple(f"knows_{i}" for i in range(14))
    sizes = np.maximum(1, 5000 // (1 + np.bitwise_count(np.arange(1 << 14)).astype(int) ** 3))
    large = attack.with_members(
        "known", members, probability=0.6,
        example={"class_size": sizes, "p_unique": np.full(1 << 14, 0.25)},
    )  # fmt: skip
    with pytest.raises(TooLarge):
        enumeration.cases(lower(large))
    found = most_probable(large, {"unique_in_table": "no"})
    assert found.case["reidentified"] == "no"
    # The more is known the likelier, but with all fourteen known the class has one record.
    assert (sizes[-1], sizes[(1 << 13) - 1]) == (1, 2)
    assert sum(found.case[m] == "yes" for m in members) == 13
    assert 0 < found.posterior < 1


def test_bad_calls_get_a_clear_word():
    with pytest.raises(UsageError, match='no node "identifed"; did you mean "identified"'):
        most_probable("leak-single", {"identifed": "yes"})
    with pytest.raises(UsageError, match='has no state "maybe"'):
        most_probable("leak-single", {"identified": "maybe"})
    with pytest.raises(UsageError, match="2 settings"):
        most_probable("leak-single", set={"leaked": [1, 2]})
    with pytest.raises(ImpossibleEvidence, match="identified=yes has probability 0"):
        most_probable("leak-single", {"identified": "yes"}, set={"leaked": 0})


def test_a_table_that_would_not_fit_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(inside(most_probable), "MOST_CELLS", 8)
    with pytest.raises(TooLarge, match=r"needs a table of \d+ numbers"):
        most_probable("adversary-routes")


def test_it_says_itself_in_one_line_and_as_data():
    found = most_probable("leak-single", {"identified": "yes"})
    assert str(found).startswith("leaked_class_size=2, in_leak=yes, identified=yes (0.37")
    assert found.to_dict()["case"]["leaked_class_size"] == "2"
    assert found.to_dict()["posterior"] == found.posterior
