"""The three routes for 1,000 subjects x 81 settings: the batched engine against its peers.

    python -m benchmarks.routes

A cell is one subject at one setting.  Peers: (a) a pgmpy loop that overwrites four tables and asks
again, (b) one pgmpy query with subject and setting as index nodes, (c) pyAgrum overwriting four
tables (when installed).  CPU seconds, best of three; (a) and (c) are timed on 200 cells.
"""

import itertools
import resource
import sys
import time
from pathlib import Path

import numpy as np

import reidbn as rb
from reidbn.inference import lower, pgmpy_bridge

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from attacks import SETTINGS, closed_form, routes, routes_subjects

from benchmarks import best

SUBJECTS = 1000
GRID = np.array(list(itertools.product([0.2, 0.5, 0.8], repeat=4))).T
GRID_SETTINGS = dict(zip(SETTINGS, GRID, strict=True))
CHANGING = {"member": "p_m", "prosecutor": "p_fm", "journalist": "p_cu", "claims": "p_c"}
CELLS = SUBJECTS * GRID.shape[1]


def batched(attack, subjects):
    return best(
        lambda: rb.ask(attack, "reidentified=yes", subject=subjects, set=GRID_SETTINGS).probability
    )


def one(subjects, i):
    return {name: values[i : i + 1] for name, values in subjects.items()}


def pgmpy_loop(attack, subjects, cells=200):
    """One model per subject; its four parameter tables are overwritten in place."""
    elimination = pgmpy_bridge.pgmpy().VariableElimination
    out = []
    start = time.process_time()
    for i in range(-(-cells // 81)):
        network = lower(attack, GRID_SETTINGS, one(subjects, i))
        model = pgmpy_bridge.network_to_pgmpy(network)
        for t in range(min(81, cells - i * 81)):
            for node in CHANGING:
                table = network.factors[node].table
                cpd = model.get_cpds(node)
                cpd.values[...] = np.moveaxis(table[0, t], -1, 0)
            factor = elimination(model).query(["reidentified"], show_progress=False)
            out.append(factor.values[1])
    return (time.process_time() - start) / cells, np.array(out)


def pgmpy_indexed(attack, subjects, block):
    """Subject and setting as ordinary root nodes: one query answers a block of subjects."""
    start = time.process_time()
    part = {name: values[:block] for name, values in subjects.items()}
    model = pgmpy_bridge.network_to_pgmpy_indexed(lower(attack, GRID_SETTINGS, part))
    joint = pgmpy_bridge.joint_indexed(model, ["reidentified"], {})
    p = joint[..., 1] / joint.sum(axis=-1)
    return (time.process_time() - start) / p.size, p


def pyagrum_loop(attack, subjects, cells=200):
    """As (a), with pyAgrum's lazy propagation; None when it is not installed."""
    try:
        import pyagrum as gum
    except ImportError:
        return None
    out = []
    start = time.process_time()
    for i in range(-(-cells // 81)):
        network = lower(attack, GRID_SETTINGS, one(subjects, i))
        net = gum.BayesNet()
        for name in network.factors:
            net.add(gum.LabelizedVariable(name, name, list(network.states[name])))
        for name, factor in network.factors.items():
            parents = pgmpy_bridge.spelled_out(network, factor)
            for parent in parents:
                net.addArc(parent, name)
            _fill(net, name, parents, factor.table[0, 0])
        for t in range(min(81, cells - i * 81)):
            for node in CHANGING:
                parents = pgmpy_bridge.spelled_out(network, network.factors[node])
                _fill(net, node, parents, network.factors[node].table[0, t])
            engine = gum.LazyPropagation(net)  # one that exists does not notice a changed table
            engine.makeInference()
            out.append(engine.posterior("reidentified")[1])
    return (time.process_time() - start) / cells, np.array(out)


def _fill(net, name, parents, table):
    cpt = net.cpt(name)
    ours = [*parents, name]
    values = table.reshape([2] * len(ours))
    order = [ours.index(n) for n in reversed(list(cpt.names))]
    cpt.fillWith(np.ascontiguousarray(values.transpose(order)).ravel().tolist())


def main():
    print(f"{SUBJECTS:,} subjects x {GRID.shape[1]} settings of adversary-routes, one process\n")
    header = ("groups", "engine", "cells/s", "batched is ... x faster", "largest difference")
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for b in (4, 8, 12):
        attack, subjects = routes(b), routes_subjects(SUBJECTS, b, np.random.default_rng(b))
        expected = np.stack([closed_form(subjects, *p) for p in GRID.T], axis=1)
        seconds, p = batched(attack, subjects)
        ours = seconds / CELLS
        rows = [("batched exact", ours, np.abs(p - expected).max())]
        per_cell, out = pgmpy_loop(attack, subjects)
        rows.append(("(a) pgmpy, tables overwritten", per_cell, _gap(out, expected)))
        block = {4: 1000, 8: 200, 12: 20}[b]
        per_cell, p = pgmpy_indexed(attack, subjects, block)
        rows.append((f"(b) pgmpy, index nodes, {block} subjects a query", per_cell,
                     np.abs(p - expected[:block]).max()))  # fmt: skip
        agrum = pyagrum_loop(attack, subjects)
        if agrum is not None:
            rows.append(("(c) pyAgrum, tables overwritten", agrum[0], _gap(agrum[1], expected)))
        for name, each, gap in rows:
            ratio = "" if each == ours else f"{each / ours:,.0f}"
            print(f"| {b} | {name} | {1 / each:,.0f} | {ratio} | {gap:.1e} |", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nPeak memory of the whole run, pgmpy included: {peak:,.0f} MB")


def _gap(out, expected):
    return np.abs(out - expected.ravel()[: len(out)]).max()


if __name__ == "__main__":
    main()
