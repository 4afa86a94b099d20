"""Attackers who decide: 200 random influence diagrams against pyAgrum, in one run.

    python -m benchmarks.decisions

Diagrams as tests/decision_oracle.py draws them: two to eight nodes, one or two decisions, one to three
utilities.  pyAgrum's LIMID inference is given the same diagram, read from the file by itself; what
is timed is working out the best policy and its value, on a model that is loaded.  Larger ones
follow: a group of attributes, seen by the attacker, each of which may give the person away.  CPU seconds.
"""

import json
import time
from itertools import product

import numpy as np

import reidbn as rb
from tests.decision_oracle import Diagram, random_diagram

DIAGRAMS, SEED = 200, 20261125


def pyagrum(diagram):
    """The diagram in pyAgrum; None when it is not installed."""
    try:
        import pyagrum as gum
    except ImportError:
        return None
    there, nodes = gum.InfluenceDiagram(), diagram.file["nodes"]
    for name in diagram.decisions:
        there.addDecisionNode(gum.LabelizedVariable(name, name, diagram.states(name)))
    for name in nodes:
        there.addChanceNode(gum.LabelizedVariable(name, name, diagram.states(name)))
    for name in diagram.file["utilities"]:
        there.addUtilityNode(gum.LabelizedVariable(name, name, 1))
    arcs = [(d, s.get("sees", [])) for d, s in diagram.decisions.items()]
    arcs += [(n, s.get("parents", [])) for n, s in nodes.items()]
    arcs += [(u, s["of"]) for u, s in diagram.file["utilities"].items()]
    for name, parents in arcs:
        for parent in parents:
            there.addArc(parent, name)
    for name, spec in nodes.items():
        for row in spec["rows"]:
            there.cpt(name)[row.get("when") or slice(None)] = row["p"]
    for name, spec in diagram.file["utilities"].items():
        for row in spec["rows"]:
            there.utility(name)[row["when"]] = row["value"]
    return gum.ShaferShenoyLIMIDInference(there)


def timed(work):
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def wide(members):
    """An attacker who sees which of many attributes he knows, and how sure each one is."""
    names = [f"k{j}" for j in range(members)]
    nodes = {n: {"rows": [{"p": [0.75, 0.25]}], "source": "assumption"} for n in names}
    nodes["e0"] = {
        "parents": ["d0", *names],
        "rows": [{"when": dict(zip(["d0", *names], case, strict=True)),
                  "p": [1 - p, p]} for case, p in cases(names)],
        "source": "assumption",
    }  # fmt: skip
    worth = [{"when": {"d0": "yes", "e0": "yes"}, "value": 40},
             {"when": {"d0": "yes", "e0": "no"}, "value": -7},
             {"when": {"d0": "no", "e0": "yes"}, "value": 0},
             {"when": {"d0": "no", "e0": "no"}, "value": 0}]  # fmt: skip
    return json.dumps({
        "schema_version": 1, "name": "wide", "nodes": nodes,
        "decisions": {"d0": {"options": ["no", "yes"], "sees": names}},
        "utilities": {"u0": {"of": ["d0", "e0"], "unit": "euro", "rows": worth, "source": "assumption"}},
        "questions": {"risk": {"target": "e0=yes"}},
    })  # fmt: skip


def cases(names):
    for bits in product((0, 1), repeat=len(names) + 1):
        p = bits[0] * sum(bits[1:]) / (2 * len(names))
        yield ["yes" if b else "no" for b in bits], p


def by_table(text):
    """The same with full tables, as the peer has them."""
    file = json.loads(text)
    for node in file["nodes"].values():
        rows = [row["p"] for row in node.pop("rows")]
        node["cpd"] = {"kind": "table", "p": rows}
    return json.dumps(file)


def compare(texts):
    """Seconds of both, and the largest difference of the values."""
    ours = theirs = gap = 0.0
    for text in texts:
        attack, diagram = rb.loads(by_table(text)), Diagram.read(text)
        seconds, found = timed(lambda a=attack: rb.decide(a))
        ours += seconds
        engine = pyagrum(diagram)
        if engine is None:
            theirs = float("nan")
            continue
        seconds, _ = timed(engine.makeInference)
        theirs += seconds
        gap = max(gap, abs(found.value - engine.MEU()["mean"]))
    return ours, theirs, gap


def main():
    rng = np.random.default_rng(SEED)
    shapes = {f"{DIAGRAMS} random diagrams": [random_diagram(rng) for _ in range(DIAGRAMS)]}
    shapes |= {f"{m} attributes seen": [wide(m)] * 3 for m in (4, 8, 12)}
    print(
        "| diagrams | reidbn, each | pyAgrum, each | reidbn takes ... times as long | largest difference |"
    )
    print("|---|---|---|---|---|")
    for name, texts in shapes.items():
        ours, theirs, gap = compare(texts)
        n = len(texts)
        print(
            f"| {name} | {ours / n:.4f} s | {theirs / n:.4f} s | {ours / theirs:.1f} | {gap:.1e} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
