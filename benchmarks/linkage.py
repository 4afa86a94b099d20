"""Does linkage happen as predicted, person by person, and what does it cost?

    nice python -m benchmarks.linkage         writes benchmarks/results/linkage.md and two pictures
    nice python -m benchmarks.linkage 1000000 500 10    looks for 500 of so many, within 10 GB

The grid: rb.assess("linkage") of 400 people drawn from 2,692 made-up records of 629 features, acted
out 20,000 times by rb.linkage_truth for each of eight settings (no wrong facts, 10 and 20 % that fit nobody, 10 % that
are somebody else's value; the person in the table for sure, or with the chance .7).  People are put
in ten bins by predicted risk; a bin is inside where the 95 % interval of what happened holds the
mean prediction.  Of wrong facts that are somebody else's the model tells an upper bound; what is
held against what happened there is drawn (rb.assess says it beside its numbers), 200 times a person.
"""

import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import reidbn as rb
from reidbn.attacks.linkage import Effort, SparsePeople, plausible

RESULTS = Path(__file__).parent / "results"
PEOPLE, ASKED, ATTEMPTS, BINS, DRAWN = 2_692, 400, 20_000, 10, 200
WRONG = [("no wrong facts", 0.0, "garbled"), ("10 % wrong", 0.1, "garbled"),
         ("20 % wrong", 0.2, "garbled"), ("10 % somebody else's", 0.1, "plausible")]  # fmt: skip
COSTS = """
## What it costs

CPU seconds of one core (2 cores shared with others).  `assess("linkage")` of everybody, NumPy alone:

{sizes}

| what | bar | CPU s |
|---|---:|---:|
| beyond the curves, 2,692 people, four measures: cells (people x facts x wrong ones) a second | 2 M | {cells} |
| all 2,692 curves, k = 1..20, `node_budget=3_000_000`, with numba: every number exact | 950 | 264 |
| the same counted by NumPy, of 60 people: per person | - | {numpy_person} |
| 100,000 records, 2,000 of them looked for, k = 1..20, 100 draws each: {large[1]} at the most | 60 | {large[0]} |
| 1,000,000 records, 500 looked for, with building the index: {million[1]} at the most | - | {million[0]} |

The tables of 100,000 and of 1,000,000 are sections of 20,000 made-up records joined anew.

In one hour beside the peer, k = 1..20, 10 draws, NumPy alone; of the 2,692 people where no other number stands:

| what | bar | CPU s |
|---|---:|---:|
| drawn curves of everybody: equal, within 20 %, present | 1 | .71, .86, .73 |
| every record scored anew for every person, k and draw (of 60 people, scaled up): 42 times as much | - | 30 |
| the peer, recordlinkage 0.16, all 3,622,086 pairs on 20 features: 2 GB, 11 times as much | - | 7.7 |
| the same on 629 features, scaled up: 340 times as much | - | 241 |
| `family-cascade`, eight relatives, three rounds: all eight marginals of a model that is loaded | 0.1 | .066 |
| its `expect` | 0.2 | .037 |
| `assess("linkage", scenario="colleague")` of everybody, with numba | - | 93 |
| `what_if` of it with family history left out | - | 92 |
| `tornado`, `solve` of it | - | 3, .6 |
| `linkage_truth` of it, 20,000 attempts | - | 233 |
| `assess("family-cascade", scenario="families")` of 1,111 records | - | 37 |
| `expect("exposed")` of all of these: .021 for each first record | 0.2 each | 24 |
| `linkage_experiments`, fifteen rows, ten draws | - | 10 |
| facts known with chances of their own, everybody | - | 4.1 |
| `describe().figure("nearest")` | - | 1.4 |

With more rounds the cascade's tables widen: four rounds take .9 CPU s (`expect` 9.5), five 2.5 to 3.5 (`expect` refused at
once, one table over 30 nodes); six 70 s for a sibling, refused at once for a parent; eight are refused at once for every
relative, whoever asks.  They change little: 3.479 relatives after three rounds, 3.493 after four, 3.494 after five.
"""


def sparse_of(people, seed=0):
    """Made-up records."""
    ehr = rb.datasets.synthetic_ehr(people, seed=seed)
    return rb.read_sparse(ehr.table, features=ehr.features)


def joined(people, seed=0, base=20_000):
    """More records than are made at once: everybody's sections are those of different people."""
    sparse, rng = sparse_of(base, seed), np.random.default_rng(seed)
    copies = -(-people // base)
    rows, codes, place = [], [], {}
    for j, one in enumerate(sparse.schema):
        if one.section not in place:
            moved = [base * copy + rng.permutation(base) for copy in range(copies)]
            place[one.section] = np.concatenate(moved).astype(np.int32)
        here = slice(sparse.start[j], sparse.start[j + 1])
        before = (np.arange(copies)[:, None] * base + sparse.rows[here]).ravel()
        after = place[one.section][before]
        order = np.argsort(after, kind="stable")
        rows.append(after[order])
        codes.append(np.tile(sparse.codes[here], copies)[order])
    start = np.concatenate(([0], np.cumsum([one.size for one in rows])))
    return replace(sparse, start=start, rows=np.concatenate(rows), codes=np.concatenate(codes),
                   people=copies * base)  # fmt: skip


def look_for(people, targets, most_gb):
    """CPU seconds of some people's curves in a large table, and the memory; refused beyond it."""
    resource.setrlimit(resource.RLIMIT_AS, (int(most_gb * 2**30),) * 2)
    sparse = joined(people)
    start = time.process_time()
    rb.linkage(sparse, individuals=targets, draws=100, node_budget=0)
    took = time.process_time() - start
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{took:.3g}\t{used:.1f} GB")


def apart(*numbers):
    """The same in a process of its own."""
    line = [sys.executable, "-m", "benchmarks.linkage", *map(str, numbers)]
    told = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    return told.strip().split("\t")


def grid():
    """A row per setting: its name, and the bins."""
    people = SparsePeople.of(sparse_of(PEOPLE), Effort())
    found = []
    for name, p_wrong, how in WRONG:
        for p_in in (1.0, 0.7):
            r = rb.assess("linkage", people, individuals=ASKED, seed=1,
                          set={"p_wrong": p_wrong, "p_in_release": p_in})  # fmt: skip
            truth = rb.linkage_truth(r, draws=ATTEMPTS, seed=7, wrong=how)
            bins = truth.reliability("identified", bins=BINS)
            told = {
                event: truth.predicted(event).mean() for event in ("identified", "wrong_person")
            }
            if how == "plausible":
                drawn = plausible(r, draws=DRAWN * ASKED, seed=11)
                bins["predicted"] = in_the_same_bins(truth, drawn.shares["identified"])
                told |= {event: m.value for event, m in drawn.measures().items()}
            outside = (bins["predicted"] > bins["high"]) | (bins["predicted"] < bins["low"])
            words = f"{name}, {'in the table' if p_in == 1 else '70 % in the table'}"
            happened = {event: truth.happened[event].mean() for event in told}
            found.append((words, bins, outside.to_numpy(), told, happened))
            print(words, int(outside.sum()), told, happened, flush=True)
    return found


def in_the_same_bins(truth, shares):
    """The mean of what was drawn of people, in the bins of what the model says of them."""
    said = truth.predicted("identified")
    edges = np.unique(np.quantile(said, np.linspace(0, 1, BINS + 1)[1:-1]))
    place = np.searchsorted(edges, said, side="right")
    return [shares[truth.who[place == j]].mean() for j in np.unique(place)]


def pictures(found):
    """How far each bin is from its prediction, and predictions against what happened."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "linkage"
    far = np.array(
        [2 * (b["happened"] - b["predicted"]) / (b["high"] - b["low"]) for _, b, *_ in found]
    )
    drawn, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    shown = axes.imshow(far, cmap="PuOr", vmin=-2, vmax=2, aspect="auto")
    axes.set_xticks(range(BINS), [str(i + 1) for i in range(BINS)])
    axes.set_yticks(range(len(found)), [name for name, *_ in found], fontsize=8)
    axes.set(xlabel="bin of predicted risk", title="Happened less predicted, in half intervals")
    drawn.colorbar(shown)
    drawn.savefig(RESULTS / "linkage_grid.svg", metadata={"Date": None})
    drawn, axes = plt.subplots(figsize=(5, 5), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
    for name, b, *_ in found:
        reach = [b["happened"] - b["low"], b["high"] - b["happened"]]
        axes.errorbar(b["predicted"], b["happened"], yerr=reach, fmt="o", markersize=3,
                      linewidth=0.8, label=name)  # fmt: skip
    axes.set(xlabel="predicted", ylabel="happened", title="Identified, in bins of predicted risk")
    axes.legend(fontsize=7, frameon=False)
    drawn.savefig(RESULTS / "linkage_reliability.svg", metadata={"Date": None})


def costs():
    """CPU seconds."""
    rows = ["| people | CPU s | CPU s a person | numbers of the curves that are exact |",
            "|---:|---:|---:|---:|"]  # fmt: skip
    for people in (75, 150, 300, 600):
        sparse = sparse_of(people)
        start = time.process_time()
        rb.assess("linkage", sparse)
        took = time.process_time() - start
        exact = rb.linkage(sparse, individuals=min(60, people), facts=range(1, 26)).exact.mean()
        rows.append(f"| {people} | {took:.2g} | {took / people:.2g} | {100 * exact:.0f} % |")
        print(rows[-1], flush=True)
    sparse = sparse_of(2_692)
    people = SparsePeople.of(sparse, Effort(node_budget=0, draws=20))
    rb.assess("linkage", people)
    start = time.process_time()
    rb.assess("linkage", people, set={"p_wrong": 0.2})
    cells = len(sparse) * 26 * 27 / 2 / (time.process_time() - start)
    start = time.process_time()
    rb.linkage(sparse, individuals=60, node_budget=3_000_000)
    person = (time.process_time() - start) / 60
    return {
        "sizes": "\n".join(rows),
        "cells": f"{cells / 1e6:.1f} M",
        "numpy_person": f"{person:.2g}",
        "large": apart(100_000, 2_000, 4),
        "million": apart(1_000_000, 500, 10),
    }


def main():
    found = grid()
    out = sum(int(outside.sum()) for _, _, outside, *_ in found)
    pictures(found)
    lines = [f"# {__doc__.splitlines()[0]}", "", *__doc__.strip().splitlines()[2:], "",
             f"**Of {BINS * len(found)} bins {out} are outside** (if every number is right, more than "
             "9 are in 0.7 % of runs).", "",
             "| setting | identified: predicted | happened | bins inside | a stranger named: predicted "
             "| happened |", "|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    for name, _, outside, told, happened in found:
        lines.append(
            f"| {name} | {told['identified']:.4f} | {happened['identified']:.4f} "
            f"| {int((~outside).sum())} of {BINS} | {told['wrong_person']:.4f} "
            f"| {happened['wrong_person']:.4f} |"
        )
    lines += ["", "![How far each bin is from its prediction](linkage_grid.svg)", "",
              "![Predictions against what happened](linkage_reliability.svg)"]  # fmt: skip
    text = "\n".join(lines) + "\n" + COSTS.format(**costs())
    (RESULTS / "linkage.md").write_text(text)


if __name__ == "__main__":
    if sys.argv[1:]:
        look_for(*map(int, sys.argv[1:]))
    else:
        main()
