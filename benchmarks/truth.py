"""Is the predicted risk what happens?  Real populations, tables drawn from them, real matching.

    python -m benchmarks.truth            writes docs/truth-check.md and its figure

Needs the Adult and ATUS-CPS tables (REIDBN_DATA or ../shared/data).
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import reidbn as rb
from reidbn.attack.knows import Known, Knows
from reidbn.attack.scenario import Scenario
from reidbn.attacks.truth import truth_check

ROOT = Path(__file__).resolve().parent.parent
FRACTIONS = (0.01, 0.1, 0.5)
SEEDS = (1, 2, 3)
ROUTES = ("prosecutor", "marketer", "journalist", "journalist_match")
COLOURS = dict(zip(FRACTIONS, ("#D55E00", "#0072B2", "#009E73"), strict=True))


def populations():
    place = Path(os.environ.get("REIDBN_DATA", ROOT.parent / "shared" / "data"))
    if not (place / "atus_cps").is_dir():
        sys.exit("the real tables are not here: set REIDBN_DATA to their folder")
    adult = pd.read_csv(place / "kroes" / "adult.csv.gz")
    atus = pd.read_parquet(place / "atus_cps" / "atus_cps_2003_2016.parquet")
    atus = atus[atus["yob"] < 1978]
    names = [c for c in adult.columns if c not in ("salary", "occupation")][:7]
    survey = ["yob", "sex", "state", "race", "edu", "marital", "hispanic"]
    return {
        "Adult": rb.read_table(adult, quasi_identifiers=names),
        "ATUS-CPS": rb.read_table(atus, quasi_identifiers=survey),
    }


def half_known(people):
    known = tuple(Known(c, (c,), (0.5,), source="assumption") for c in people.quasi_identifiers)
    return Scenario("each-at-one-half", knows=Knows(known))


def study():
    for name, population in populations().items():
        for fraction in FRACTIONS:
            for seed in SEEDS:
                rng = np.random.default_rng(seed)
                n = round(fraction * len(population))
                rows = np.sort(rng.choice(len(population), n, replace=False))
                check = truth_check(population, rows, scenario=half_known(population), seed=seed)
                print(name, fraction, seed, flush=True)
                yield name, fraction, seed, check


def covered(table):
    return int(((table["predicted"] >= table["low"]) & (table["predicted"] <= table["high"])).sum())


def main():
    tables, uniqueness = [], []
    for name, fraction, seed, check in study():
        for route in ROUTES:
            found = check.reliability(route)
            found.insert(0, "route", route)
            tables.append(found.assign(population=name, fraction=fraction, seed=seed))
        uniqueness.append(check.uniqueness().assign(population=name, fraction=fraction, seed=seed))
    bins, subsets = pd.concat(tables), pd.concat(uniqueness)
    draw(bins, subsets, ROOT / "docs" / "truth-check.png")
    text = page(bins, subsets)
    (ROOT / "docs" / "truth-check.md").write_text(text)
    print(text)


def page(bins, subsets):
    lines = [HEAD, "", "| population | sampled | route | bins | predicted inside the 95 % interval | "
             "mean predicted | mean happened |", "|---|---|---|---|---|---|---|"]  # fmt: skip
    for (name, fraction, route), group in bins.groupby(
        ["population", "fraction", "route"], sort=False
    ):
        weight = group["attempts"]
        mean = [np.average(group[c], weights=weight) for c in ("predicted", "happened")]
        lines.append(
            f"| {name} | {fraction:.0%} | {route} | {len(group)} | {covered(group)} | "
            f"{mean[0]:.4f} | {mean[1]:.4f} |"
        )
    lines += ["", SUBSETS, "", "| population | sampled | subsets x seeds | inside the interval | "
              "median log2(predicted/true) | within a factor of 2 | more than 2x too low |",
              "|---|---|---|---|---|---|---|"]  # fmt: skip
    for (name, fraction), group in subsets.groupby(["population", "fraction"], sort=False):
        some = group[(group["uniques"] >= 20) & (group["true"] > 0)]
        ratio = np.log2(some["predicted"] / some["true"])
        lines.append(
            f"| {name} | {fraction:.0%} | {len(some)} | {covered(some)} | {ratio.median():+.2f} | "
            f"{(ratio.abs() <= 1).mean():.0%} | {(ratio < -1).mean():.0%} |"
        )
    worst = subsets[(subsets["uniques"] >= 50) & (subsets["true"] > 0)].copy()
    worst["off"] = np.log2(worst["predicted"] / worst["true"])
    lines += ["", "Where it fails most (at least 50 uniques):", "",
              "| population | sampled | known | status | predicted | true | uniques |",
              "|---|---|---|---|---|---|---|"]  # fmt: skip
    worst = worst.sort_values("off", key=lambda x: -x.abs(), kind="stable")
    worst = worst.drop_duplicates(["population", "fraction", "known"])
    for row in worst.head(10).itertuples():
        lines.append(
            f"| {row.population} | {row.fraction:.0%} | {row.known} | {row.status} | "
            f"{row.predicted:.3f} | {row.true:.3f} | {row.uniques} |"
        )
    return "\n".join(lines) + "\n"


HEAD = """# Is the predicted risk what happens?

A table is drawn from a real population; reidbn sees the table alone (and the population's size).
Then the attack is acted out by real matching, 200,000 attempts per table: each attribute is known
with probability one half, the class is looked up in the table and in the population, guesses are
made.  Attempts are put in ten bins by the person's predicted risk; a prediction is right when it
lies in the 95 % interval of the bin's share (about 95 of 100 bins should be).  Three tables per
population and fraction.  Made by `python -m benchmarks.truth`; nothing here was tuned.

![Reliability of every route](truth-check.png)

The prosecutor's and the marketer's routes depend on the table alone, and the prediction is exact.
The journalist's routes rest on an estimate of the population from the table; the table below shows
how far that carries."""
SUBSETS = """P(unique in the population | unique in the table), by subset of what is known: Pitman's fit on
the table against the truth, for subsets with at least 20 unique people."""


def draw(bins, subsets, path):
    figure = Figure(figsize=(11, 6.4), layout="constrained")
    axes = figure.subplots(2, 4)
    for row, name in enumerate(bins["population"].unique()):
        for place, route in zip(axes[row], ("marketer", "journalist", "journalist_match"),
                                strict=False):  # fmt: skip
            part = bins[(bins["population"] == name) & (bins["route"] == route)]
            for fraction, group in part.groupby("fraction"):
                spread = np.abs(group[["low", "high"]].to_numpy().T - group["happened"].to_numpy())
                place.errorbar(np.maximum(group["predicted"], 1e-5),
                               np.maximum(group["happened"], 1e-5), yerr=spread, fmt="o", ms=3,
                               lw=0.8, color=COLOURS[fraction], label=f"{fraction:.0%} sampled")  # fmt: skip
            place.set_title(f"{name}: {route.replace('_', ' ')}", fontsize=9)
            _diagonal(place, 1e-5)
            place.set(xlabel="predicted risk", ylabel="share re-identified")
        place = axes[row][3]
        part = subsets[(subsets["population"] == name) & (subsets["uniques"] >= 20)]
        for fraction, group in part.groupby("fraction"):
            place.plot(np.maximum(group["predicted"], 1e-4), np.maximum(group["true"], 1e-4), ".",
                       ms=3, color=COLOURS[fraction])  # fmt: skip
        place.set_title(f"{name}: uniqueness by subset", fontsize=9)
        _diagonal(place, 1e-4)
        place.set(xlabel="predicted share still unique", ylabel="true share")
    axes[0][0].legend(fontsize=7, frameon=False)
    figure.savefig(path, dpi=100, metadata={"Software": None})


def _diagonal(axes, low):
    axes.plot([low, 1], [low, 1], color="#777777", lw=0.8)
    axes.set(xscale="log", yscale="log", xlim=(low, 1), ylim=(low, 1))
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
