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
from reidbn.attack import Known, Knows, Scenario
from reidbn.attacks import truth_check

ROOT = Path(__file__).resolve().parent.parent
FRACTIONS = (0.01, 0.1, 0.5)
SEEDS = (1, 2, 3)
ROUTES = ("prosecutor", "marketer", "journalist", "journalist_match")
MODELS = (
    "log-linear",
    "structured",
    "pitman-bayes",
    "pitman",
)  # the default of an assessment first
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
                for model in MODELS:
                    check = truth_check(population, rows, scenario=half_known(population),
                                        population_model=model, seed=seed)  # fmt: skip
                    print(name, fraction, seed, model, flush=True)
                    yield name, fraction, seed, model, check


def covered(table):
    return int(((table["predicted"] >= table["low"]) & (table["predicted"] <= table["high"])).sum())


def main():
    tables, uniqueness = [], []
    for name, fraction, seed, model, check in study():
        at = {"population": name, "fraction": fraction, "seed": seed, "assumed": model}
        for route in ROUTES:
            tables.append(check.reliability(route).assign(route=route, **at))
        uniqueness.append(check.uniqueness().assign(**at))
    every, everywhere = pd.concat(tables), pd.concat(uniqueness)
    bins = every[every["assumed"] == MODELS[0]]
    subsets = everywhere[everywhere["assumed"] == MODELS[0]]
    draw(bins, subsets, ROOT / "docs" / "truth-check.png")
    text = page(bins, subsets, models(every, everywhere))
    (ROOT / "docs" / "truth-check.md").write_text(text)
    print(text)


def models(bins, subsets):
    """Of each model: how far its journalist is off, by bin of predicted risk and by subset."""
    lines = ["| sampled | model | journalist, mean | off | inside | match, mean | off | inside | "
             "subsets within 2x | more than 2x too low |", "|---|---|" + "---:|" * 8]  # fmt: skip
    for fraction, at in bins.groupby("fraction"):
        for model in MODELS:
            cells = [f"{fraction:.0%}", model]
            for route in ROUTES[2:]:
                part = at[(at["assumed"] == model) & (at["route"] == route)]
                off = (part["predicted"] - part["happened"]).abs()
                mean = [np.average(part[c], weights=part["attempts"])
                        for c in ("predicted", "happened")]  # fmt: skip
                cells += [f"{mean[0]:.4f} ({mean[1]:.4f})",
                          f"{np.average(off, weights=part['attempts']):.4f}",
                          f"{covered(part)} of {len(part)}"]  # fmt: skip
            some = subsets[(subsets["fraction"] == fraction) & (subsets["assumed"] == model)]
            ratio = told(some)
            cells += [f"{(ratio.abs() <= 1).mean():.0%}", f"{(ratio < -1).mean():.0%}"]
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def told(subsets):
    """log2 of predicted over true, where enough people are unique to tell."""
    some = subsets[(subsets["uniques"] >= 20) & (subsets["true"] > 0)]
    return np.log2(np.maximum(some["predicted"], 1e-9) / some["true"])


def page(bins, subsets, by_model):
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
        ratio = told(group)
        lines.append(
            f"| {name} | {fraction:.0%} | {len(some)} | {covered(some)} | {ratio.median():+.2f} | "
            f"{(ratio.abs() <= 1).mean():.0%} | {(ratio < -1).mean():.0%} |"
        )
    worst = subsets[(subsets["uniques"] >= 50) & (subsets["true"] > 0)].copy()
    worst["off"] = np.log2(np.maximum(worst["predicted"], 1e-9) / worst["true"])
    lines += ["", "Where it fails most (at least 50 uniques):", "",
              "| population | sampled | known | model | predicted | true | uniques |",
              "|---|---|---|---|---|---|---|"]  # fmt: skip
    worst = worst.sort_values("off", key=lambda x: -x.abs(), kind="stable")
    worst = worst.drop_duplicates(["population", "fraction", "known"])
    for row in worst.head(10).itertuples():
        lines.append(
            f"| {row.population} | {row.fraction:.0%} | {row.known} | {row.model} | "
            f"{row.predicted:.3f} | {row.true:.3f} | {row.uniques} |"
        )
    lines += ["", CHOSEN, "", *by_model]
    return "\n".join(lines) + "\n"


HEAD = """# Is the predicted risk what happens?

A table is drawn from a real population; reidbn sees the table alone (and the population's size).
Then the attack is acted out by real matching, 200,000 attempts per table: each attribute is known
with probability one half, the class is looked up in the table and in the population, guesses are
made.  Attempts are put in ten bins by the person's predicted risk; a prediction is right when it
lies in the 95 % interval of the bin's share, attempts on one person being alike (about 95 of 100
bins should be).  Three tables per
population and fraction.  Made by `python -m benchmarks.truth`.  No number was tuned on it but
those of the structured model (how far models are off was fitted on samples of six tables, Adult and ATUS-CPS
among them), and the default model of the population was chosen after seeing the last table.

![Reliability of every route](truth-check.png)

The prosecutor's and the marketer's routes depend on the table alone, and the prediction is exact.
The journalist's routes rest on an estimate of the population from the table; the table below shows
how far that carries."""
SUBSETS = """P(unique in the population | unique in the table), by subset of what is known: the mean of what was
said of the table's unique people against the truth, for subsets with at least 20 of them."""
CHOSEN = """The same attempts under other models of the population (`population_model=`), both populations
together.  Mean: predicted (happened); off: mean distance of predicted and happened over the bins,
which is what the default was chosen by; inside: bins whose prediction lies in the 95 % interval of
what happened.  Attempts on one person are not independent: people are the clusters of the
interval."""


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
