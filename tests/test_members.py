"""Members of a group that have stories of their own: parents inside and outside, exact subsets.

Random files of them go through tests/random_files.py; here stories with an answer by hand.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.attack import Attack, Group, GroupRow, Node, Parameter, SubjectColumn
from reidbn.cpds import NoisyOr, OneOver, Or, Probability, cpd_function
from reidbn.inference import ask, exact, lower, most_probable
from tests.inside import inside

YES_NO = ("no", "yes")
TOLD = """
schema_version: 1
name: told
parameters:
  age_fb: {value: 0.5, source: assumption}
  bd_li: {value: 0.3, source: assumption}
  p_town: {value: 0.2, source: assumption}
subject:
  class_size: {per: known, unit: records, range: [1, 1000000]}
groups:
  known:
    members:
      knows_age:
        parents: [on_facebook, knows_birth_date]
        cpd: {kind: noisy-or, weights: [$age_fb, 1]}
      knows_birth_date:
        parents: [on_linkedin]
        cpd: {kind: probability, p: $bd_li, only_if: [on_linkedin]}
      knows_town: $p_town
nodes:
  on_facebook: {cpd: {kind: probability, p: 0.6}, source: assumption}
  on_linkedin: {cpd: {kind: probability, p: 0.25}, source: assumption}
  named: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
questions:
  risk: {target: named=yes}
  facebook: {target: on_facebook=yes, given: {named: yes}}
example: {class_size: [900, 120, 60, 60, 300, 4, 2, 2]}
"""
SIZES = [900, 120, 60, 60, 300, 4, 2, 2]


def worlds(seen=None):
    """Every case with its chance, from the story: facebook, linkedin, and what is known."""
    for fb, li, age, birth, town in product((0, 1), repeat=5):
        p_birth = Fraction(3, 10) * li
        p_age = 1 if birth else Fraction(1, 2) * fb
        p = [Fraction(3, 5), Fraction(1, 4), p_age, p_birth, Fraction(1, 5)]
        p = np.prod([q if x else 1 - q for q, x in zip(p, (fb, li, age, birth, town), strict=True)])
        case = {"fb": fb, "age": age, "birth": birth}
        if all(case[k] == v for k, v in (seen or {}).items()):
            yield case, p, Fraction(1, SIZES[age + 2 * birth + 4 * town])


@pytest.mark.parametrize("engine", ["exact", "pgmpy", "enumeration"])
def test_who_knows_the_birth_date_knows_the_age(engine):
    attack = rb.loads(TOLD)
    assert not attack.warnings
    risk = sum(p * q for _, p, q in worlds())
    found = [
        ("named=yes", {}, risk),
        ("on_facebook=yes", {"named": "yes"},
         sum(c["fb"] * p * q for c, p, q in worlds()) / risk),
        ("knows_age=yes", {"knows_birth_date": "yes"}, Fraction(1)),
        ("named=yes", {"knows_birth_date": "no"}, sum(p * q for _, p, q in worlds({"birth": 0}))
         / sum(p for _, p, _ in worlds({"birth": 0}))),
        ("knows_birth_date=yes", {"named": "yes", "knows_age": "yes"},
         sum(c["birth"] * p * q for c, p, q in worlds({"age": 1}))
         / sum(p * q for _, p, q in worlds({"age": 1}))),
    ]  # fmt: skip
    for target, given, expected in found:
        answer = rb.ask(attack, target, given=given, engine=engine)
        assert float(answer) == pytest.approx(float(expected), abs=1e-15)
    alone = rb.ask(attack, do={"knows_birth_date": "yes"}, engine=engine)
    assert float(alone) == pytest.approx(0.8 / 60 + 0.2 / 2, abs=1e-15)


def test_every_room_takes_them():
    attack = rb.loads(TOLD)
    assert rb.loads(rb.dumps(attack)) == attack
    assert rb.dumps(rb.loads(rb.dumps(attack))) == rb.dumps(attack)
    assert rb.check(attack) == ()
    assert rb.crosscheck(attack, draws=20_000, seed=1).passed
    assert rb.crosscheck(attack, "facebook", draws=20_000, seed=1).passed
    assert "knows_birth_date" in rb.draw(attack).dot
    assert {*attack.assumptions} >= {"age_fb", "bd_li", "p_town", "on_facebook"}
    bars = {b.parameter: b.method for b in rb.tornado(attack).bars}
    assert bars == dict.fromkeys(("age_fb", "bd_li", "p_town"), "exact affine")
    case, p = most_probable(attack, {"named": "yes"}), max(p * q for _, p, q in worlds())
    assert case.probability == pytest.approx(float(p), rel=1e-12)
    sampled = rb.ask(attack, engine="sampling", draws=200_000, seed=2)
    low, high = sampled.interval
    assert low - 0.002 < float(sum(p * q for _, p, q in worlds())) < high + 0.002


def test_the_order_of_members_counts_and_that_of_nodes_does_not():
    lines = TOLD.split("\n")
    at = lines.index("      knows_town: $p_town")
    moved = [x for i, x in enumerate(lines) if i != at]
    moved.insert(lines.index("    members:") + 1, "      knows_town: $p_town")
    assert rb.loads("\n".join(moved)) != rb.loads(TOLD)


def test_an_assumption_of_a_member_is_one_behind_the_answer():
    text = TOLD.replace("knows_town: $p_town", "knows_town: {rows: [{p: [0.8, 0.2]}], "
                        "source: assumption}")  # fmt: skip
    attack = rb.loads(text.replace("  p_town: {value: 0.2, source: assumption}\n", ""))
    assert "knows_town" in attack.assumptions
    assert "knows_town" in rb.attack.assumptions_behind(attack, ["named"])
    assert "knows_town" not in rb.attack.assumptions_behind(attack, ["knows_age"])


def test_rows_of_the_group_fill_the_members_that_say_nothing_in_python():
    own = Node("b", YES_NO, Or(), ("a",))
    group = Group("g", ("a", "b"), (GroupRow(0.25),), own=[own], source="assumption")
    assert [n.name for n in group.own] == ["a", "b"]
    attack = Attack("both", groups=[group], nodes=[Node("any", YES_NO, rb.cpd.And(), ("g",))])
    assert float(ask(attack, "any=yes")) == 0.25
    with pytest.raises(rb.ModelError, match="is no member of g"):
        Attack("x", groups=[Group("g", ("a",), own=[own, Node("a", YES_NO, Or(), ("b",))])],
               nodes=[Node("any", YES_NO, rb.cpd.And(), ("g",))])  # fmt: skip
    with pytest.raises(rb.ModelError, match="says nothing of how likely"):
        Attack("x", groups=[Group("g", ("a",))], nodes=[Node("any", YES_NO, Or(), ("g",))])


def test_a_member_may_be_a_function_of_others():
    @cpd_function("test_members.told")
    def told(a, p):
        return a * p

    group = Group("g", ("a", "b"), own=[
        Node("a", YES_NO, Probability(0.5)),
        Node("b", YES_NO, rb.cpd.Function("test_members.told")),
    ], source="assumption")  # fmt: skip
    attack = Attack("f", groups=[group], parameters=[Parameter("p", 0.25, source="assumption")],
                    nodes=[Node("both", YES_NO, rb.cpd.And(), ("g",))])  # fmt: skip
    assert attack.all_nodes["b"].parents == ("a",)
    assert float(ask(attack, "both=yes")) == 0.125


# -- many sources and many members -----------------------------------------------------------------


def jigsaw(members: int, sources: int = 3, *, chain: bool = False) -> Attack:
    """Each source shows each attribute with a chance of its own; one may tell the next."""
    names = tuple(f"s{i}" for i in range(sources))
    own = []
    for j in range(members):
        weights = {s: (1 + i + j) / (4 + members + sources) for i, s in enumerate(names)}
        if chain and j:
            weights[f"a{j - 1}"] = 0.5
        own.append(Node(f"a{j}", YES_NO, NoisyOr(weights), tuple(weights)))
    group = Group("known", tuple(f"a{j}" for j in range(members)), own=own, source="assumption")
    nodes = [Node(s, YES_NO, Probability("$p"), source="assumption") for s in names]
    return Attack(
        "jigsaw",
        groups=[group],
        parameters=[Parameter("p", 0.25, source="assumption")],
        subject=[SubjectColumn("size", per="known", unit="records")],
        nodes=[*nodes, Node("named", YES_NO, OneOver("@size"), ("known",))],
    )


def subset_chances(attack: Attack, members: int, p: float) -> np.ndarray:
    """P(subset) one case of the sources and one subset at a time."""
    own, sources = attack.groups["known"].own, [n for n in attack.nodes if n != "named"]
    out = np.zeros(1 << members)
    for case in product((0, 1), repeat=len(sources)):
        chance = np.prod([p if x else 1 - p for x in case])
        there = dict(zip(sources, case, strict=True))
        for mask in range(1 << members):
            q = chance
            state = there | {f"a{j}": mask >> j & 1 for j in range(members)}
            for j, node in enumerate(own):
                none = np.prod([1 - w for s, w in node.cpd.weights.items() if state[s]])
                q = q * (1 - none if mask >> j & 1 else none)
            out[mask] += q
    return out


@pytest.mark.parametrize("chain", [False, True])
def test_many_people_and_settings_at_once(chain):
    attack = jigsaw(6, chain=chain)
    rng = np.random.default_rng(7)
    sizes = np.sort(rng.integers(1, 60, (50, 64)), axis=1)[:, ::-1].astype(float)
    order = np.argsort([(m.bit_count(), m) for m in range(64)], axis=0)[:, 0]
    data = np.empty((50, 64))
    for mask in range(64):  # a class never grows with what is known
        less = [data[:, mask & ~(1 << j)] for j in range(6) if mask >> j & 1]
        data[:, mask] = np.minimum.reduce([sizes[:, order[mask]], *less])
    p = np.array([0.1, 0.25, 0.9])
    found = ask(attack, "named=yes", subject={"size": data}, set={"p": p}).probability
    for t, x in enumerate(p):
        expected = (1 / data) @ subset_chances(attack, 6, x)
        assert np.abs(found[:, t] - expected).max() <= 1e-14
    given = ask(attack, "s0=yes", subject={"size": data}, given={"named": "yes", "a2": "yes"})
    one = ask(attack, "s0=yes", subject={"size": data[:1]}, given={"named": "yes", "a2": "yes"},
              engine="enumeration")  # fmt: skip
    assert given.probability[0, 0] == pytest.approx(float(one), abs=1e-14)


def test_what_leads_to_members_alone_is_summed_once_for_all_people(monkeypatch):
    attack = jigsaw(5)
    data = {"size": np.full((40, 32), 3.0)}
    calls = []
    weights = inside(exact.joint).joint_weights
    monkeypatch.setattr(inside(exact.joint), "joint_weights",
                        lambda *a: calls.append(1) or weights(*a))  # fmt: skip
    monkeypatch.setattr(inside(ask), "at_once", lambda *_, **__: 10)
    assert float(ask(attack, "named=yes", subject=data).probability[0, 0]) == pytest.approx(1 / 3)
    assert len(calls) == 1


def test_twenty_members_are_held_and_more_are_refused_with_a_remedy():
    attack = jigsaw(20, sources=2)
    sizes = np.maximum(2.0 ** (10.0 - np.bitwise_count(np.arange(1 << 20))), 1.0)
    found = float(ask(attack, "named=yes", subject={"size": sizes}))
    assert 1 / 1024 < found < 1
    with pytest.raises(rb.errors.TooLarge, match=r"stop at 20. Join attributes .* estimate it"):
        ask(jigsaw(21, sources=2), "named=yes", subject={"size": np.ones(1 << 21)})


def test_more_structure_than_can_be_held_is_refused_before_work(monkeypatch):
    """Twenty accounts that other nodes see, too: 2^20 cases of them for every subset."""
    names = tuple(f"s{i}" for i in range(20))
    own = [Node(f"a{i}", YES_NO, Probability(0.5, (s,)), (s,)) for i, s in enumerate(names)]
    group = Group("known", tuple(n.name for n in own), own=own, source="assumption")
    attack = Attack(
        "wide",
        groups=[group],
        nodes=[
            *(Node(s, YES_NO, Probability(0.5), source="assumption") for s in names),
            Node("named", YES_NO, Or(), ("known",)),
            *(Node(f"l{s}", YES_NO, Or(), (s, "named")) for s in names),
            Node("all", YES_NO, rb.cpd.And(), tuple(f"l{s}" for s in names)),
        ],
    )
    monkeypatch.setattr(exact, "contract", None)
    monkeypatch.setattr(exact, "collapse", None)
    with pytest.raises(rb.errors.TooLarge, match=r"each subset of group known is .*sampling"):
        ask(attack, "all=yes")


def test_the_network_is_the_same_to_every_engine():
    network = lower(rb.loads(TOLD))
    assert network.factors["knows_age"].parents == ("on_facebook", "knows_birth_date")
    assert network.members(("known",)) == ("knows_age", "knows_birth_date", "knows_town")


BESIDE = """schema_version: 1
name: beside
subject: {size: {per: theirs, unit: records, range: [1, 9]}}
groups:
  theirs: {members: [age], parents: [looks], probability: 0.25, source: x}
  ours:
    members:
      town: {parents: [looks, age], cpd: {kind: noisy-or, weights: {looks: 0.25, age: 0.5}}}
      year: {parents: [looks, age], cpd: {kind: and}}
    source: x
nodes:
  looks: {cpd: {kind: probability, p: 0.5}, source: x}
  right: {parents: [ours], cpd: {kind: threshold, at_least: 1}}
  named: {parents: [right, theirs], cpd: {kind: one-over, of: "@size", only_if: [right]}}
questions: {risk: {target: named=yes}}
example: {size: [4, 2]}
"""


def test_a_member_that_leads_to_another_group_stays_with_its_own():
    """Its table went with the other group, and its own was summed as if nothing decided it."""
    attack = rb.loads(BESIDE)
    found = [float(rb.ask(attack, "risk", engine=e)) for e in ("exact", "enumeration")]
    assert found[0] == pytest.approx(found[1], abs=1e-14)


def test_what_is_set_of_stories_that_a_scenario_puts_aside_is_said(tmp_path):
    """`jigsaw has no parameter "age_linkedin"`, which it has."""
    rng = np.random.default_rng(1)
    table = {"age": rng.integers(20, 30, 40).astype(str), "sex": rng.choice([*"fm"], 40),
             "town": rng.choice([*"abc"], 40)}  # fmt: skip
    people = rb.read_table(pd.DataFrame(table), quasi_identifiers=[*table])
    told = rb.assess("jigsaw", people, set={"age_linkedin": 0.2})
    plain = rb.assess("jigsaw", people, scenario="worst-case")
    for found in (
        rb.what_if(told, scenario="worst-case"),
        rb.assess("jigsaw", people, scenario="worst-case", set={"age_linkedin": 0.2}),
    ):
        assert found.risk().tolist() == plain.risk().tolist()
        assert any("age_linkedin was set and has no say here" in note for note in found.notes)
        assert not found.posed
        assert rb.what_if(found, unknown="age").risk().mean() < found.risk().mean()
        for varied in (
            lambda of: rb.sweep(of, {"age_linkedin": [0.1, 0.2]}),
            lambda of: rb.tornado(of, over={"age_linkedin": (0.1, 0.2)}),
            lambda of: rb.solve(of, parameter="age_linkedin", target=0.5),
        ):
            with pytest.raises(rb.errors.UsageError, match="age_linkedin has no say here"):
                varied(found)
    assert len(rb.sweep(told, {"age_linkedin": [0.1, 0.2]})) == 2
    grid = {"p_facebook": [0.1, 0.9]}
    assert rb.sweep(told, "overall", grid).equals(rb.sweep(told, grid=grid))  # its summary's word
    with pytest.raises(rb.errors.UsageError, match='no question or node "overal"'):
        rb.sweep(told, "overal", grid)
    with pytest.raises(rb.errors.UsageError, match='no parameter "age_linkedn"'):
        rb.assess("jigsaw", people, scenario="worst-case", set={"age_linkedn": 0.2})
    said = 'no parameter "p_age"; of what may be known, nothing can be varied.*known='
    with pytest.raises(rb.errors.UsageError, match=said):  # sure facts are one member
        rb.what_if(plain, set={"p_age": 0.5})
    with pytest.raises(rb.errors.UsageError, match='did you mean "p_linkedin"'):
        rb.what_if(plain, set={"p_linkdin": 0.5})
