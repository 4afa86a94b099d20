"""Counts of many parents, and a jigsaw of three sources, against pgmpy and pyAgrum.

    python -m benchmarks.means

Counts, OR and noisy-or of 40 and 200 parents: CPU seconds, with nothing to compare to, since no
peer takes such a node without being told its steps.  The jigsaw: 12 attributes that three sources
show, 1,000 people x 81 settings of four of its numbers; a cell is one person at one setting.  Peers
ask cell by cell, each with a model of its own, on six cells.  CPU seconds, best of three of ours.
"""

import itertools
import time

import numpy as np

import reidbn as rb
from benchmarks import best
from reidbn.attack import Attack, Group, Node, Parameter, SubjectColumn
from reidbn.inference import lower, pgmpy_bridge

YES_NO = ("no", "yes")
SOURCES = ("facebook", "linkedin", "newspaper")
MEMBERS, PEOPLE, CELLS = 12, 1000, 6
GRID = np.array(list(itertools.product([0.2, 0.5, 0.8], repeat=4))).T
MOVED = dict(zip(("p_facebook", "p_linkedin", "p_newspaper", "w0_facebook"), GRID, strict=True))


def wide(n, cpd, states=YES_NO):
    causes = [Node(f"c{i}", YES_NO, rb.cpd.Probability(0.01 + i / 1000), source="assumption")
              for i in range(n)]  # fmt: skip
    goal = Node("goal", states, cpd, tuple(c.name for c in causes), source="assumption")
    return Attack("wide", nodes=[*causes, goal])


def jigsaw():
    """Each source shows each attribute with a chance of its own."""
    weights = {f"w{j}_{s}": 0.1 + 0.05 * j for j in range(MEMBERS) for s in SOURCES}
    own = [
        Node(f"a{j}", YES_NO, rb.cpd.NoisyOr({f"on_{s}": f"$w{j}_{s}" for s in SOURCES}),
             tuple(f"on_{s}" for s in SOURCES))
        for j in range(MEMBERS)
    ]  # fmt: skip
    numbers = weights | dict.fromkeys((f"p_{s}" for s in SOURCES), 0.3)
    return Attack(
        "jigsaw",
        parameters=[Parameter(n, v, source="assumption") for n, v in numbers.items()],
        groups=[Group("known", tuple(n.name for n in own), own=own, source="assumption")],
        subject=[SubjectColumn("size", per="known", unit="records")],
        nodes=[*(Node(f"on_{s}", YES_NO, rb.cpd.Probability(f"$p_{s}")) for s in SOURCES),
               Node("named", YES_NO, rb.cpd.OneOver("@size"), ("known",))],
    )  # fmt: skip


def class_sizes(rng):
    """Every attribute divides a class by one to four."""
    divisor, masks = rng.integers(1, 5, (PEOPLE, MEMBERS)), np.arange(1 << MEMBERS)
    sizes = np.full((PEOPLE, 1 << MEMBERS), 4.0**MEMBERS)
    for j in range(MEMBERS):
        sizes /= np.where(masks >> j & 1, divisor[:, [j]], 1)
    return np.maximum(np.round(sizes), 1)


def pgmpy_cells(attack, sizes):
    """A few cells by variable elimination, models made anew as the tables change."""
    start, out = time.process_time(), []
    for t in range(CELLS):
        settings = {n: v[t : t + 1] for n, v in MOVED.items()}
        model = pgmpy_bridge.network_to_pgmpy(lower(attack, settings, {"size": sizes[:1]}))
        query = pgmpy_bridge.pgmpy().VariableElimination(model).query
        out.append(query(["named"], show_progress=False).values[1])
    return (time.process_time() - start) / CELLS, np.array(out)


def pyagrum_cells(attack, sizes):
    """The same with lazy propagation; None when it is not installed."""
    try:
        import pyagrum as gum
    except ImportError:
        return None
    from benchmarks.routes import _fill

    start, out = time.process_time(), []
    for t in range(CELLS):
        settings = {n: v[t : t + 1] for n, v in MOVED.items()}
        network = lower(attack, settings, {"size": sizes[:1]})
        net = gum.BayesNet()
        for name in network.factors:
            net.add(gum.LabelizedVariable(name, name, list(network.states[name])))
        for name, factor in network.factors.items():
            parents = pgmpy_bridge.spelled_out(network, factor)
            for parent in parents:
                net.addArc(parent, name)
            _fill(net, name, parents, factor.table[0, 0])
        engine = gum.LazyPropagation(net)
        engine.makeInference()
        out.append(engine.posterior("named")[1])
    return (time.process_time() - start) / CELLS, np.array(out)


def main():
    print("| node | 40 parents | 200 parents |\n|---|---|---|")
    for name, cpd in (("or", rb.cpd.Or()), ("noisy-or", rb.cpd.NoisyOr(0.3)),
                      ("count", rb.cpd.Count())):  # fmt: skip
        row = []
        for n in (40, 200):
            states = tuple(map(str, range(n + 1))) if name == "count" else YES_NO
            attack = wide(n, cpd, states)
            row.append(best(lambda a=attack, s=states: rb.ask(a, f"goal={s[1]}"))[0])
        print(f"| {name} | {row[0]:.4f} s | {row[1]:.4f} s |", flush=True)
    attack, sizes = jigsaw(), class_sizes(np.random.default_rng(1))
    seconds, found = best(
        lambda: rb.ask(attack, "named=yes", subject={"size": sizes}, set=MOVED).probability
    )
    each = seconds / found.size
    print("\n| engine | cells/s | ours is ... x faster | largest difference |\n|---|---|---|---|")
    print(f"| reidbn | {1 / each:,.0f} | | |", flush=True)
    for name, peer in (("pgmpy", pgmpy_cells), ("pyAgrum", pyagrum_cells)):
        told = peer(attack, sizes)
        if told is not None:
            gap = np.abs(told[1] - found[0, :CELLS]).max()
            print(
                f"| {name} | {1 / told[0]:,.1f} | {told[0] / each:,.0f} | {gap:.1e} |", flush=True
            )


if __name__ == "__main__":
    main()
