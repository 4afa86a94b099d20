"""Populations drawn from known laws, assessed: do the intervals of the journalist hold the truth?

    python -m benchmarks.assessed_populations           # five CPU minutes
    python -m benchmarks.assessed_populations --keep    # also writes results/assessed_populations.md

Every run draws a law of drawn_populations.py, 20,000 people from it, and a simple random sample of
them; `rb.assess` sees the sample alone, each attribute is known with probability one half, and the
population's model is `structured`.  Who is unique in the population is then counted, on every subset of
the attributes, and so is 1/F.

held: runs in which the 95 % interval that `population_uncertainty()` has for the mean holds what the
mean turned out to be; above, below: runs in which that was above the interval or below; width: middle of
the interval's width over the mean; factor: the middle and the ends of nine in ten means over what they
turned out to be, half a person added to both.  Of 16 runs a right interval holds 13 or more, 99 times in
100.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import reidbn as rb
from benchmarks import keep
from benchmarks.drawn_populations import LAWS, SAMPLES, N
from reidbn.attack import Known, Knows, Scenario

RESULTS = Path(__file__).parent / "results" / "assessed_populations.md"
RUNS = 16
MEASURES = ("journalist", "journalist_match")


def what_happens(everybody, rows):
    """Mean over subsets of who is unique, and of 1/F, by person of the table."""
    attributes = everybody.shape[1]
    unique, match = np.zeros((2, len(rows)))
    for mask in range(1 << attributes):
        on = [j for j in range(attributes) if mask >> j & 1]
        F = np.full(len(rows), len(everybody))
        if on:
            _, ids, held = np.unique(
                everybody[:, on], axis=0, return_inverse=True, return_counts=True
            )
            F = held[ids.ravel()[rows]]
        unique += F == 1
        match += 1 / F
    return unique / (1 << attributes), match / (1 << attributes)


def runs(law, n, seed=12):
    for run in range(RUNS):
        rng = np.random.default_rng([seed, list(LAWS).index(law), n, run])
        sizes = rng.integers(4, 41, int(rng.integers(3, 7)))
        everybody = np.column_stack(LAWS[law](rng, sizes))
        rows = rng.choice(N, n, replace=False)
        codes = [np.unique(c, return_inverse=True)[1] for c in everybody[rows].T]
        names = [f"c{j}" for j in range(len(sizes))]
        people = rb.People.from_codes(np.column_stack(codes), names)
        half = Scenario("half", knows=Knows(tuple(
            Known(c, (c,), (0.5,), source="each attribute by the toss of a coin") for c in names
        )))  # fmt: skip
        asked = rb.assess("adversary-routes", people, scenario=half, population=N,
                          population_model="structured")  # fmt: skip
        table = asked.population_uncertainty().table()
        for measure, truth in zip(MEASURES, what_happens(everybody, rows), strict=True):
            mean, low, high = table.loc[measure, ["mean", "low", "high"]]
            so = truth.mean()
            yield {"measure": measure, "above": so > high + 1e-9, "below": so < low - 1e-9,
                   "width": (high - low) / mean, "factor": (mean + 0.5 / n) / (so + 0.5 / n)}  # fmt: skip


def main():
    lines = ["| law | sampled | measure | runs | held | above | below | width | "
             "factor: 5 %, middle, 95 % |", "|---|---:|---|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for law in LAWS:
        for n in SAMPLES:
            found = pd.DataFrame(list(runs(law, n)))
            for measure, of in found.groupby("measure"):
                above, below = of["above"].sum(), of["below"].sum()
                ends = ", ".join(f"{x:.2f}" for x in of["factor"].quantile([0.05, 0.5, 0.95]))
                lines.append(
                    f"| {law} | {n / N:.0%} | {measure} | {len(of)} | "
                    f"{1 - (above + below) / len(of):.0%} | {above} | {below} | "
                    f"{of['width'].median():.2f} | {ends} |"
                )
                print(lines[-1], flush=True)
    keep(RESULTS, "Populations drawn from known laws, assessed", __doc__, "\n".join(lines))


if __name__ == "__main__":
    main()
