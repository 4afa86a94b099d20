"""Cases that never happen are not told as what the attacker does: by decide, rules and page."""

import json
from itertools import product

import numpy as np
import pytest
from scripts import answered, needs_browser, needs_scripts

import reidbn as rb
from tests.decision_oracle import Diagram
from tests.test_decide import policy_of, small
from tests.test_page_alive import use
from tests.test_page_engine import held_of


def with_impossible(rng, **how):
    """A random diagram of which some chances are 0 or 1."""
    words, _ = small(rng, **how)
    file = json.loads(words)
    for node in file["nodes"].values():
        for row in node["rows"]:
            if rng.random() < 0.4:
                row["p"] = [1.0, 0.0] if rng.random() < 0.7 else [0.0, 1.0]
    words = json.dumps(file)
    return words, Diagram.read(words)


def cases_of(diagram, name):
    sees = diagram.decisions[name].get("sees", [])
    return sees, [*product(*(diagram.states(p) for p in sees))]


def looked_at(diagrams, seed):
    """Random diagrams against all worlds; how many cases never happen, and differ from the rest."""
    rng = np.random.default_rng(seed)
    never = told = 0
    for i in range(diagrams):
        words, diagram = with_impossible(rng, forgets=i % 3 == 0)
        found = rb.decide(rb.loads(words))
        policy, table = policy_of(found, diagram), found.policy
        for name in diagram.decisions:
            sees, cases = cases_of(diagram, name)
            rows = table[table["decision"] == name] if "decision" in table else table
            said = {tuple(row[p] for p in sees): row for row in rows.to_dict("records")}
            assert len(said) == len(rows)
            for case in cases:
                p = diagram.chance(policy, dict(zip(sees, case, strict=True)))
                if sees and not p:
                    assert case not in said, words
                    never += 1
                else:
                    assert said[case]["happens"] == pytest.approx(float(p), abs=1e-12), words
                    assert said[case]["takes"] == policy[name][case]
        assert {*found.never} <= {*found.rules}
        for rule in found.never:
            name, _, rest = rule.partition("=")
            event = dict(s.split("=") for s in rest.split(" if ")[1].split(", "))
            assert diagram.chance(policy, event) == 0, words
            told += 1
        possible = [r for r in found.rules if r not in found.never]
        for name in diagram.decisions:
            mine = [r for r in possible if r.startswith(f"{name}=")]
            for rule in mine[:-1]:
                event = dict(s.split("=") for s in rule.split(" if ")[1].split(", "))
                assert diagram.chance(policy, event) > 0, words
            taken = {
                policy[name][c]
                for c in cases_of(diagram, name)[1]
                if diagram.chance(policy, dict(zip(cases_of(diagram, name)[0], c, strict=True)))
            }
            assert mine[-1].split("=")[1] in taken  # what is said of all else does happen
        again = rb.ask(rb.loads(words), "risk", policy="; ".join(found.rules))
        assert float(again) == pytest.approx(found.risk, abs=1e-12)
    return never, told


def test_a_policy_tells_what_happens_and_how_often_on_random_diagrams():
    never, told = looked_at(40, seed=1)
    assert never > 20
    assert told > 5


@pytest.mark.slow
def test_a_policy_tells_what_happens_and_how_often_on_many():
    never, told = looked_at(400, seed=2)
    assert never > 200
    assert told > 50


def test_an_aim_that_nobody_has_is_told_as_such():
    found = rb.decide("insider-decides", set={"p_greedy": 0.0})
    assert len(found.policy) == 16
    assert not (found.policy["aim"] == "money").any()
    assert len(found.never) == 4
    words = str(found)
    assert "8 of 24 cases of what is seen before never happen" in words
    assert "what never happens (what he would do, if it did): attacks=yes if aim=money" in words
    told = found.to_dict()
    assert told["rules_never_used"] == [*found.never]
    assert rb.decide("insider-decides").never == ()
    assert "rules_never_used" not in rb.decide("insider-decides").to_dict()
    # and what is done to him is what happens: in the rules as in the answer
    risk = rb.ask("insider-decides", "risk", set={"p_greedy": 0.0}, do={"aim": "money"})
    given = rb.ask("insider-decides", "risk", do={"aim": "money"}, policy="; ".join(found.rules))
    assert float(risk) == pytest.approx(float(given), abs=1e-12)
    assert float(risk) > 0


@needs_scripts
def test_the_page_knows_what_happens_as_the_library_does(tmp_path):
    rng = np.random.default_rng(5)
    jobs, wanted = [], []
    while len(jobs) < 25:
        words, diagram = with_impossible(rng)
        attack = rb.loads(words)
        policy = policy_of(rb.decide(attack), diagram)
        jobs.append({"payload": held_of(attack), "cases": [
            {"question": 0, "set": {}, "see": {}, "do": {}}]})  # fmt: skip
        wanted.append((words, {
            name: [float(diagram.chance(policy, dict(zip(sees, case, strict=True))))
                   for case in cases]
            for name in diagram.decisions for sees, cases in [cases_of(diagram, name)]
        }))  # fmt: skip
    for (words, chances), (found,) in zip(wanted, answered(jobs, tmp_path), strict=True):
        assert found["happens"].keys() == chances.keys()
        for name, own in chances.items():
            assert found["happens"][name] == pytest.approx(own, abs=1e-12), words


@pytest.mark.slow
@needs_browser
def test_a_page_leaves_out_what_cannot_happen_and_counts_it(tmp_path):
    body = """
      const head = () => paper.querySelector("#decisions h3").textContent;
      const rows = () => paper.querySelectorAll("#decisions li").length;
      told.push(head(), rows());
      type($("p-p_greedy"), 0, "input"); told.push(head(), rows());
    """
    first, all_of_them, then, left = use("insider-decides", body, tmp_path)
    assert (first, all_of_them) == ("attacks: no in 20 of 24 cases, yes in 4 of 24 cases", 24)
    assert then == "attacks: no in 16 of 16 cases, yes in 0 of 16 cases; 8 more cannot happen"
    assert left == 16
