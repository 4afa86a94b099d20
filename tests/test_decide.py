"""Attackers who decide, against every policy there is, and what each of them means for people."""

from itertools import product
from math import prod

import numpy as np
import pytest

import reidbn as rb
from tests.decision_oracle import Diagram, random_diagram

MOST = 600  # policies, and worlds, that are tried for one diagram


def policy_of(found, diagram):
    """The policy of a result in the oracle's words."""
    out = {}
    for name, table in found.tables.items():
        sees = diagram.decisions[name].get("sees", [])
        cases = [*product(*(diagram.states(p) for p in sees))]
        taken = table[0].reshape(len(cases), -1)
        assert set(np.unique(taken)) <= {0.0, 1.0}
        options = diagram.states(name)
        out[name] = {c: options[int(row.argmax())] for c, row in zip(cases, taken, strict=True)}
    return out


def small(rng, **how):
    """A random diagram that is quickly enumerated."""
    while True:
        words = random_diagram(rng, **how)
        diagram = Diagram.read(words)
        states = {n: len(diagram.states(n)) for n in (*diagram.decisions, *diagram.file["nodes"])}
        tries = [states[d] ** prod(states[p] for p in spec.get("sees", []))
                 for d, spec in diagram.decisions.items()]  # fmt: skip
        if prod(tries) <= MOST and prod(states.values()) <= MOST:
            return words, diagram


def tried_on(diagrams, seed):
    """Random diagrams against every policy there is; how many had two decisions."""
    rng = np.random.default_rng(seed)
    two = 0
    for i in range(diagrams):
        words, diagram = small(rng, ties=i % 4 == 0)
        attack = rb.attack.loads(words)
        found = rb.decide(attack)
        best, tried = diagram.best()
        assert tried > 1
        policy = policy_of(found, diagram)
        assert found.method == "exact"
        assert diagram.value(policy) == best, words
        assert found.value == pytest.approx(float(best), abs=1e-12 * 100), words
        risk = float(diagram.chance(policy, {"e0": "yes"}))
        assert found.risk == pytest.approx(risk, abs=1e-12), words
        for engine in ("exact", "enumeration", *(["pgmpy"] if i % 10 == 0 else [])):
            assert float(rb.ask(attack, "risk", engine=engine)) == pytest.approx(risk, abs=1e-12)
        two += len(diagram.decisions) == 2
    return two


def test_the_policy_is_the_best_of_all_on_random_diagrams():
    assert tried_on(20, seed=20261122) >= 5


@pytest.mark.slow
def test_the_policy_is_the_best_of_all_on_two_hundred_random_diagrams():
    assert tried_on(200, seed=20261123) >= 50


def test_a_tie_goes_to_the_attack():
    rng = np.random.default_rng(7)
    ties = 0
    for _ in range(24):
        words, diagram = small(rng, decisions=1, ties=True)
        found = rb.decide(rb.attack.loads(words))
        policy, best = policy_of(found, diagram), found.value
        ((name, taken),) = policy.items()
        options = diagram.states(name)
        order = [o for o in options if o == "yes"] or options[::-1]
        for case, option in taken.items():
            later = order[: order.index(option)] if option in order else order
            for other in later:  # what would have gone first is worth less
                changed = {name: {**taken, case: other}}
                assert diagram.value(changed) < best - 1e-9
        if (found.policy["tied"]).any():
            ties += 1
            assert "worth the same" in str(found)
    assert ties >= 4


def test_what_forgets_is_called_local_and_no_decision_alone_betters_it():
    rng = np.random.default_rng(11)
    local = worse = 0
    for _ in range(24):
        words, diagram = small(rng, decisions=2, forgets=True)
        found = rb.decide(rb.attack.loads(words))
        best, _ = diagram.best()
        policy = policy_of(found, diagram)
        value = diagram.value(policy)
        assert found.value == pytest.approx(float(value), abs=1e-10)
        if found.method == "exact":
            assert value == best, words
            continue
        local += 1
        worse += value < best
        assert value <= best
        assert "may be worth more" in str(found)
        for name in policy:
            rest = {k: v for k, v in policy.items() if k != name}
            cases = list(policy[name])
            for taken in product(diagram.states(name), repeat=len(cases)):
                other = {name: dict(zip(cases, taken, strict=True)), **rest}
                assert diagram.value(other) <= value
    assert local >= 4
