"""Samples with survey weights: does the structured estimate of their population hold?

    python -m benchmarks.weighted_populations           # one CPU minute
    python -m benchmarks.weighted_populations --keep    # also writes results/weighted_populations.md

Every run draws 20,000 people from a law of drawn_populations.py and lets each of them answer with a
chance of their own, 5 % on average; the weight is one over the chance, as a survey gives it.  The
chance hangs on the first column (each value has its own, within a factor of twelve), on a stratum that
is not in the table and goes with that column (1 : 3.5 : 12), or on a stratum that goes with nothing.
The same table is fitted with its weights and as if it were a simple random sample.

held: runs whose 95 % prediction interval holds the number of unique people; above, below: the truth was
above it or below; factor: the middle and the ends of nine in ten estimates over the truth, half a row
of the table added to both; unique, match: mean over runs of what is said of the table's people over what
is so, P(unique in the population) of its unique people and 1/F of all; Brier: of the former, by person.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import reidbn as rb
from benchmarks import keep
from benchmarks.drawn_populations import LAWS, N
from reidbn import population

RESULTS = Path(__file__).parent / "results" / "weighted_populations.md"
RUNS, SAMPLED, UNLIKE = 6, 0.05, (1.0, 3.5, 12.0)
HEAD = (
    "law", "chance to answer", "weights", "runs", "held", "above", "below",
    "factor: 5 %, middle, 95 %", "unique", "match", "Brier",
)  # fmt: skip


def by_the_column(rng, values):
    return np.exp(rng.uniform(0, np.log(max(UNLIKE)), values.max() + 1))[values]


def by_a_hidden_stratum(rng, values):
    of = rng.dirichlet(np.full(3, 0.4), values.max() + 1)[values]
    stratum = (of.cumsum(axis=1) < rng.random(len(values))[:, None]).sum(axis=1).clip(0, 2)
    return np.array(UNLIKE)[stratum]


def by_nothing_else(rng, values):
    return np.array(UNLIKE)[rng.integers(0, 3, len(values))]


DESIGNS = {
    "by a column": by_the_column,
    "by a hidden stratum": by_a_hidden_stratum,
    "by nothing known": by_nothing_else,
}


def runs(law, design, seed=17):
    """With the weights and without: interval, truth, factor, and what is said of people."""
    for run in range(RUNS):
        rng = np.random.default_rng([seed, list(LAWS).index(law), list(DESIGNS).index(design), run])
        sizes = rng.integers(4, 41, int(rng.integers(3, 7)))
        everybody = np.column_stack(LAWS[law](rng, sizes))
        _, ids, held = np.unique(everybody, axis=0, return_inverse=True, return_counts=True)
        truth = int((held == 1).sum())
        likely = DESIGNS[design](rng, everybody[:, 0])
        likely = np.minimum(likely / likely.mean() * SAMPLED, 1)
        part = np.flatnonzero(rng.random(N) < likely)
        F = held[ids.ravel()][part]
        names = [f"c{j}" for j in range(len(sizes))]
        frame = pd.DataFrame(everybody[part], columns=names).astype(str)
        weighted = frame.assign(weight=1 / likely[part])
        tables = {"used": rb.read_table(weighted, quasi_identifiers=names, weights="weight"),
                  "not used": rb.read_table(frame, quasi_identifiers=names)}  # fmt: skip
        for how, people in tables.items():
            fit = population.fit(people, names, population=N, model="structured")
            low, high = fit.prediction_interval()
            alone = (fit.people["class_size"] == 1).to_numpy()
            half = 0.5 * N / len(part)
            told = fit.people["p_unique"].to_numpy()[alone]
            yield {
                "how": how, "above": truth > high, "below": truth < low,
                "factor": (fit.expected_uniques + half) / (truth + half),
                "said": told.sum(), "so": (F[alone] == 1).sum(),
                "match": fit.expected_match, "matched": (1 / F).mean(),
                "brier": float(((told - (F[alone] == 1)) ** 2).mean()) if alone.any() else 0.0,
            }  # fmt: skip


def main():
    lines = [f"| {' | '.join(HEAD)} |", f"|---|---|---|{'---:|' * (len(HEAD) - 3)}"]
    for law in LAWS:
        for design in DESIGNS:
            found = pd.DataFrame(list(runs(law, design)))
            for how, of in found.groupby("how", sort=False):
                above, below = of["above"].sum(), of["below"].sum()
                ends = ", ".join(f"{x:.2f}" for x in of["factor"].quantile([0.05, 0.5, 0.95]))
                cells = [law, design, how, len(of), f"{1 - (above + below) / len(of):.0%}", above,
                         below, ends, f"{of['said'].sum() / max(of['so'].sum(), 1):.2f}",
                         f"{of['match'].sum() / of['matched'].sum():.2f}",
                         f"{of['brier'].mean():.4f}"]  # fmt: skip
                lines.append(f"| {' | '.join(map(str, cells))} |")
                print(lines[-1], flush=True)
    keep(RESULTS, "Samples with survey weights", __doc__, "\n".join(lines))


if __name__ == "__main__":
    main()
