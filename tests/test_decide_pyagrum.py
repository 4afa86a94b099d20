"""Attackers who decide against pyAgrum's influence diagrams: skipped where it is not installed."""

import json

import numpy as np
import pytest

import reidbn as rb
from tests.decision_oracle import Diagram, random_diagram

pytestmark = pytest.mark.filterwarnings("ignore")  # raised in its C++, a warning kills the process
gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")


def theirs(diagram):
    """The diagram in pyAgrum, read from the file by itself: the best value there."""
    there = gum.InfluenceDiagram()
    nodes = diagram.file["nodes"]
    for name in diagram.decisions:
        there.addDecisionNode(gum.LabelizedVariable(name, name, diagram.states(name)))
    for name in nodes:
        there.addChanceNode(gum.LabelizedVariable(name, name, diagram.states(name)))
    for name in diagram.file["utilities"]:
        there.addUtilityNode(gum.LabelizedVariable(name, name, 1))
    for name, spec in diagram.decisions.items():
        for parent in spec["sees"]:
            there.addArc(parent, name)
    for name, spec in nodes.items():
        for parent in spec["parents"]:
            there.addArc(parent, name)
        for row in spec["rows"]:
            there.cpt(name)[row["when"] or slice(None)] = row["p"]
    for name, spec in diagram.file["utilities"].items():
        for parent in spec["of"]:
            there.addArc(parent, name)
        for row in spec["rows"]:
            there.utility(name)[row["when"]] = row["value"]
    inference = gum.ShaferShenoyLIMIDInference(there)
    inference.makeInference()
    return inference.MEU()["mean"]


@pytest.mark.wide
def test_the_best_value_is_pyagrums_on_two_hundred_random_diagrams():
    rng = np.random.default_rng(20261124)
    two = 0
    for _ in range(200):
        words = random_diagram(rng)
        diagram = Diagram.read(words)
        found = rb.decide(rb.attack.loads(json.dumps(json.loads(words))))
        assert found.method == "exact"
        assert found.value == pytest.approx(theirs(diagram), abs=1e-9), words
        two += len(diagram.decisions) == 2
    assert two >= 50
