"""What protects from attackers who decide: they decide anew where less can be known."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.attacks import drivers

TEAM = """
schema_version: 1
name: team
subject: {class_size: {per: known, unit: records, range: [1, 1000000]}}
groups: {known: {members: [knows_age, knows_sex], probability: [0.6, 0.3], source: assumption}}
decisions:
  first: {options: ["no", "yes"], sees: [knows_age]}
  second: {options: ["no", "yes"], sees: [SEEN]}
nodes:
  right: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  by_first: {parents: [first, right], cpd: {kind: and}}
  by_second: {parents: [second, right], cpd: {kind: and}}
  done: {parents: [by_first, by_second], cpd: {kind: or}}
utilities:
  gain:
    of: [first, second, knows_age]
    unit: euro
    source: assumption
    rows:
      - {when: {first: "yes", second: "no", knows_age: "yes"}, value: 10}
      - {when: {first: "yes"}, value: -100}
      - {when: {second: "yes"}, value: 1}
      - {value: 0}
questions: {risk: {target: "done=yes"}}
example: {class_size: [60, 20, 30, 3]}
"""
CHANCES = {"age": 0.6, "sex": 0.0001}
ALIKE = {(0, 0): 40, (0, 1): 20, (1, 0): 2, (1, 1): 2}  # by what is known: age, sex


@pytest.fixture(scope="module", params=["knows_sex", "knows_age", "known"])
def result(request):
    table = pd.DataFrame({"age": np.arange(40) % 20, "sex": np.arange(40) % 2})
    people = rb.read_table(table, quasi_identifiers=["age", "sex"])
    attack = rb.attack.loads(TEAM.replace("SEEN", request.param))
    return rb.assess(attack, people, known=CHANCES)


def best_pair(result, chances):
    """The best pair of policies, tried one by one: the risk, and its part of each attacker."""
    sees = result.attack.decisions["second"].parents[0]
    best, told = -np.inf, None
    for first, second in product(product((0, 1), repeat=2), product((0, 1), repeat=4)):
        worth, happens = 0.0, np.zeros(3)
        for (age, sex), alike in ALIKE.items():
            p = 1.0
            for name, known in (("age", age), ("sex", sex)):
                p *= chances[name] if known else 1 - chances[name]
            one, two = (
                first[age],
                second[{"knows_sex": sex, "knows_age": age}.get(sees, 2 * age + sex)],
            )
            worth += p * ((10 if age and not two else -100) if one else two)
            happens += p * np.array([one or two, one, two]) / alike
        if worth > best:
            best, told = worth, happens
    return told


def test_less_known_is_decided_anew(result):
    """Not knowing the age left 5e-06: the other attacker was kept from trying in his place."""
    found = result.explain(0)
    left = {some: best_pair(result, {**CHANCES, **dict.fromkeys(some, 0.0)})[0]
            for n in range(3) for some in combinations(CHANCES, n)}  # fmt: skip
    assert found.risk == pytest.approx(left[()], abs=1e-12)
    for name in CHANCES:
        assert found.hidden[name] == pytest.approx(left[name,], abs=1e-12)
    nothing = left["age", "sex"]
    assert found.nothing == pytest.approx(nothing, abs=1e-12)
    adds = (left[()] - left["age",] + left["sex",] - nothing) / 2
    assert found.facts["age"] == pytest.approx(adds, abs=1e-12)
    everybody = drivers(result)
    assert everybody.mean.sum() + everybody.nothing == pytest.approx(result.risk().mean())
    assert everybody.by_subject[0] == pytest.approx([*found.facts.values()], abs=1e-12)
    assert found.method == everybody.method == "exact Shapley value, the attacker deciding anew"


def test_less_known_is_as_the_same_table_assessed_without_it():
    """Where what is known can be left out of the model as it stands."""
    rng = np.random.default_rng(1)
    names = ["age", "town", "job"]
    table = pd.DataFrame({name: rng.integers(0, 3, 20) for name in names})
    people = rb.read_table(table, quasi_identifiers=names)
    base = rb.load("insider-decides")
    blind = replace(base.nodes["attacks"], parents=("aim",))
    blind = base.replace(nodes=base.nodes.replace(blind))
    for attack in (base, blind):
        known = dict(zip(names, (0.9, 0.5, 0.2), strict=True))
        result = rb.assess(attack, people, known=known, set={"p_audit": 0.03})
        for row in (0, 7):
            found = result.explain(row)
            for name in names:
                fewer = {n: p for n, p in known.items() if n != name}
                other = rb.what_if(result, known=fewer, unknown=[name])
                assert found.hidden[name] == pytest.approx(other.risk()[row], abs=1e-12)


def test_a_closed_route_leaves_the_higher_of_one_who_learns_of_it_and_one_who_does_not():
    words = TEAM.replace("SEEN", "knows_sex")
    words = words.replace("of: [first, second, knows_age]", "of: [by_first, by_second]")
    rows = """
      - {when: {by_first: "yes", by_second: "yes"}, value: 0}
      - {when: {by_first: "yes"}, value: 10}
      - {when: {by_second: "yes"}, value: 1}
"""
    words = (
        words[: words.index("    rows:") + 10] + rows + words[words.index("      - {value: 0}") :]
    )
    table = pd.DataFrame({"age": np.arange(40) % 20, "sex": np.arange(40) % 2})
    people = rb.read_table(table, quasi_identifiers=["age", "sex"])
    result = rb.assess(rb.attack.loads(words), people, known=CHANCES)
    found = result.explain(0)
    assert found.routes["by_second"] == 0
    unaware = rb.what_if(result, do={"by_first": "no"}).risk()[0]
    assert unaware == 0
    # who learns of it leaves the field to the other, who succeeds as the first did
    assert found.closed["by_first"] == pytest.approx(found.risk, abs=1e-12)


def test_where_nothing_is_known_it_is_never_below_0():
    """It said -1.11e-16: what is left of a sum that is 0."""
    table = pd.DataFrame({"age": np.arange(40) % 20, "sex": np.arange(40) % 2})
    people = rb.read_table(table, quasi_identifiers=["age", "sex"])
    words = TEAM.replace("SEEN", "knows_sex")
    for value in (1, -1):
        words = words.replace('second: "yes"}, value: 1', f'second: "yes"}}, value: {value}')
        for age in (0.6, 0.3, 0.7):
            result = rb.assess(rb.attack.loads(words), people, known={"age": age, "sex": 0.07})
            for row in range(4):
                nothing = result.explain(row).nothing
                assert nothing == 0 if value < 0 else nothing > 0
