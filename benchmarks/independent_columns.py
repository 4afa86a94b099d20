"""Columns that do not go together: do the intervals of `structured` hold the truth?

    python -m benchmarks.independent_columns           # three CPU minutes
    python -m benchmarks.independent_columns --keep    # also writes results/independent_columns.md

Every run draws a population of independent columns, whose values are alike likely or as rank^-power, and
a sample of it: simple random (survey weights: no), or one in which half of the last column's values
are drawn three times as often, with weights that say so (yes).  fit: `rb.population.fit` on all columns
and the population uniques, counted; journalist and match: the means that `rb.assess` tells where each
column is known with one half, and what happens to the table's people, counted on every subset.

Medians over runs; said: runs in which a warning says that no two columns go together; held: runs whose
95 % interval holds the truth.  The test behind the warning is wrong in one table in twenty.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import reidbn as rb
from benchmarks import keep
from benchmarks.assessed_populations import MEASURES, what_happens
from reidbn.attack import Known, Knows, Scenario

RESULTS = Path(__file__).parent / "results" / "independent_columns.md"
CASES = (
    ((20, 20, 10), 0.0, 20_000, 1_000), ((20, 20, 10), 0.0, 20_000, 200),
    ((50, 50), 0.0, 20_000, 1_000), ((100, 100), 0.0, 20_000, 1_000),
    ((10,) * 4, 0.0, 20_000, 1_000), ((10,) * 4, 0.0, 20_000, 400),
    ((60, 20, 6), 0.5, 20_000, 2_000), ((60, 20, 6), 0.5, 20_000, 400),
    ((60, 20, 6), 1.0, 20_000, 1_000), ((31, 12, 2), 0.0, 4_000, 400),
)  # fmt: skip
WEIGHTED = (CASES[0], CASES[4], CASES[9])
RUNS, RUNS_WEIGHTED = 6, 3
WORD = "no two columns go together"


def drawn(rng, values, power, N):
    shares = [1 / np.arange(1, k + 1) ** power for k in values]
    return np.column_stack([rng.choice(len(s), N, p=s / s.sum()) for s in shares])


def sampled(rng, everybody, n, names, *, weighted):
    """The rows that are drawn, and the table that is seen."""
    often = everybody[:, -1] < (everybody[:, -1].max() + 1) / 2
    chance = np.where(often & weighted, 3.0, 1.0)
    rows = rng.choice(len(everybody), n, replace=False, p=chance / chance.sum())
    frame = pd.DataFrame(everybody[rows], columns=names).map(lambda code: f"v{code:03d}")
    if weighted:
        each = [group.sum() / group[rows].sum() for group in (often, ~often)]
        frame["weight"] = np.where(often[rows], *each)
    return rows, rb.read_table(
        frame, quasi_identifiers=names, weights="weight" if weighted else None
    )


def runs(case, *, weighted):
    values, power, N, n = case
    names = [f"c{j}" for j in range(len(values))]
    half = Scenario("half", knows=Knows(tuple(
        Known(c, (c,), (0.5,), source="each attribute by the toss of a coin") for c in names
    )))  # fmt: skip
    for run in range(RUNS_WEIGHTED if weighted else RUNS):
        rng = np.random.default_rng([21, CASES.index(case), weighted, run])
        everybody = drawn(rng, values, power, N)
        rows, table = sampled(rng, everybody, n, names, weighted=weighted)
        fit = rb.population.fit(table, population=N, model="structured")
        truth = (np.unique(everybody, axis=0, return_counts=True)[1] == 1).sum()
        said = any(WORD in warning for warning in fit.warnings)
        yield "fit", truth, fit.expected_uniques, *fit.prediction_interval(), said
        asked = rb.assess("adversary-routes", table, scenario=half, population=N,
                          population_model="structured")  # fmt: skip
        told = asked.population_uncertainty().table()
        said = any(WORD in note for note in asked.notes)
        for measure, happened in zip(MEASURES, what_happens(everybody, rows), strict=True):
            yield measure, happened.mean(), *told.loc[measure, ["mean", "low", "high"]], said


def main():
    lines = ["| independent columns | of | drawn | weights | asked | truth | estimate | interval | "
             "said | held |", "|---|---:|---:|---|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    for case, weighted in [*((c, False) for c in CASES), *((c, True) for c in WEIGHTED)]:
        values, power, N, n = case
        law = f"by rank^-{power:g}" if power else "even"
        names = ["asked", "truth", "mean", "low", "high", "said"]
        found = pd.DataFrame(runs(case, weighted=weighted), columns=names)
        found["held"] = found["truth"].between(found["low"] - 1e-9, found["high"] + 1e-9)
        for asked, of in found.groupby("asked", sort=False):
            middle = of[["truth", "mean", "low", "high"]].median()
            truth, mean, low, high = (f"{v:,.0f}" if asked == "fit" else f"{v:.2g}" for v in middle)
            lines.append(
                f"| {' x '.join(map(str, values))}, {law} | {N:,} | {n:,} | "
                f"{'yes' if weighted else 'no'} | {asked.removeprefix('journalist_')} | {truth} | "
                f"{mean} | {low} to {high} | {of['said'].sum()} of {len(of)} | {of['held'].sum()} |"
            )
            print(lines[-1], flush=True)
    keep(RESULTS, "Columns that do not go together", __doc__, "\n".join(lines))


if __name__ == "__main__":
    main()
