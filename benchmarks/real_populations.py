"""Population uniqueness on seven real tables whose populations are known: every model.

    python -m benchmarks.real_populations           # about 1,400 cases, a quarter of a CPU hour
    python -m benchmarks.real_populations --quick   # about 180 cases, two CPU minutes
    python -m benchmarks.real_populations --part 400  # so many of them, drawn at random
    python -m benchmarks.real_populations --keep    # also writes results/real_populations.md
    python -m benchmarks.real_populations --columns # every column alone: results/real_columns.md

Populations: Adult, ATUS-CPS, Diabetes-130 (first encounters), the Minnesota breast cancer families,
NHANES 2013-14 and 2017-18, and the cervical cancer table, from the folder REIDBN_DATA or
../shared/data.  A case is a random subset of a table's attributes, of each size in turn, and a
simple random sample of its people at a fraction that gives at least 100 (20 of the small table).

error: median |log2(estimate/truth)| over cases with at least 50 true uniques; 2x, 10x: cases off by
more than that factor; held: cases whose 95 % prediction interval holds the truth, where a model has
one.  Cases with fewer true uniques are told apart: mean |estimate - truth|, and held.

"structured" is held with the structural constants (s0, c) of its interval fitted on the other
tables; "as shipped" is what a user gets.  Coverage is tested against 95 % with cases of one table
(of one subset, within a table) taken as alike as they turned out: binomial tails of the misses over
the design effect, Holm's correction over all tables and fractions.  Brier: of P(F = 1 | f = 1) per
person, against the best constant of each case, which nobody knows beforehand.
"""

import sys
import time
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.stats import binom

from benchmarks import DATA, keep
from reidbn import population
from reidbn.errors import ReidbnError
from reidbn.microdata import read_table

RESULTS = Path(__file__).parent / "results" / "real_populations.md"
FRACTIONS = (0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75)
MODELS = ("structured", "log-linear", "pitman-bayes", "pitman", "ewens", "zayatz", "snb", "dankar")
S = MODELS[0]
LADDER = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Structural standard deviations at which each interval is taken; others lie between."""
BIG, MANY = 50, 100
COLUMNS = """# Uniqueness on one column

Every column alone of the real tables of [real_populations.md](real_populations.md), from .5 to 75 %
sampled: in how many cases the 95 % prediction interval holds the true number of unique people.
Made by `python -m benchmarks.real_populations --columns`.  The interval's lower end was chosen after
seeing most of these columns."""
Q_CUTS = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97, 1.001)
F_CUTS = (1, 2, 3, 4, 6, 11, 31, 101, np.inf)


def tables():
    """Name, people, attributes."""
    yield "Adult", pd.read_csv(DATA / "adult" / "adult_data.csv.gz").dropna(), [
        "sex", "age", "race", "marital_status", "education", "native_country", "workclass",
        "occupation", "hours_per_week"]  # fmt: skip
    yield "ATUS", pd.read_parquet(DATA / "atus_cps" / "atus_cps_2003_2016.parquet"), [
        "age", "sex", "state", "race", "hispanic", "edu", "marital", "tenure", "famincome",
        "occupation"]  # fmt: skip
    encounters = pd.read_parquet(DATA / "diabetes130" / "diabetes130.parquet")
    yield "Diabetes", encounters.drop_duplicates("patient"), [
        "age", "gender", "race", "admission_type_id", "discharge_disposition_id",
        "admission_source_id", "time_in_hospital", "payer_code", "medical_specialty",
        "num_lab_procedures", "number_diagnoses"]  # fmt: skip
    families = pd.read_csv(DATA / "minnbreast" / "minnbreast.csv.gz")
    yield "Minnesota", families.assign(endage=families["endage"].round()), [
        "sex", "yob", "endage", "education", "marstat", "everpreg", "parity", "cancer", "nbreast",
        "bcpc"]  # fmt: skip
    for year in ("2013_2014", "2017_2018"):
        name = f"nhanes_{year}"
        yield f"NHANES {year[2:4]}", pd.read_parquet(DATA / name / f"{name}.parquet"), [
            "RIDAGEYR", "RIAGENDR", "RIDRETH3", "DMDBORN4", "DMDEDUC2", "DMDMARTL", "DMDHHSIZ",
            "INDHHIN2", "DMDCITZN"]  # fmt: skip
    cervical = pd.read_csv(DATA / "kroes" / "cervical.csv.gz")
    yield "Cervical", cervical, list(cervical.columns)


def grid(quick):
    """Table, people, attributes and fraction of every case."""
    per = 1 if quick else 4
    for name, frame, columns in tables():
        people = read_table(frame[columns], quasi_identifiers=columns, missing="value")
        least = MANY if len(people) > 10 * MANY else MANY // 5
        for size in range(1, len(columns) + 1):
            if quick and size % 2:
                continue
            every = list(combinations(columns, size))
            rng = np.random.default_rng([7, size, len(people)])
            for at in sorted(rng.choice(len(every), min(per, len(every)), replace=False)):
                for fraction in FRACTIONS:
                    if round(fraction * len(people)) >= least:
                        yield name, people, list(every[at]), fraction


def cases(quick, part):
    """Those of the grid, or so many of them drawn at random; and how many the grid has."""
    every = list(grid(quick))
    some = np.sort(np.random.default_rng(5).permutation(len(every))[:part])
    rows = [next(samples(name, people, columns, [fraction]))
            for name, people, columns, fraction in (every[i] for i in some)]  # fmt: skip
    return pd.DataFrame(rows), len(every)


def samples(name, people, columns, fractions, models=MODELS):
    F = people.class_sizes(columns)
    at = "+".join(columns)
    for fraction in fractions:
        rng = np.random.default_rng([99, int(fraction * 1000), *map(ord, at)])
        picked = rng.choice(len(people), round(fraction * len(people)), replace=False)
        row = {"table": name, "fraction": fraction, "subset": at, "attributes": len(columns),
               "truth": int((F == 1).sum()), "n": len(picked)}  # fmt: skip
        yield row | one(people.take(picked), columns, len(people), F[picked], models)


def one(table, columns, N, F, models):
    row = {"true match": (1 / F).mean()}
    for model in models:
        start = time.process_time()
        fit = population.fit(table, columns, population=N, model=model)
        row[model] = asked(lambda fit=fit: fit.expected_uniques)
        row[f"low {model}"], row[f"high {model}"] = asked(fit.prediction_interval, (np.nan, np.nan))
        row[f"seconds {model}"] = time.process_time() - start
        if model == S:
            row |= of_persons(fit, F) | of_parts(fit)
    return row


def asked(what, without=np.nan):
    try:
        return what()
    except ReidbnError:
        return without


def of_persons(fit, F):
    """Scores and reliability of what is said of each person."""
    each = fit.people
    q, match, f = (each[c].to_numpy() for c in ("p_unique", "mean_inverse", "class_size"))
    alone, happened = f == 1, F[f == 1] == 1
    q = q[alone]
    share = happened.mean() if len(q) else 0.0
    return {
        "status": fit.status, "alone": len(q), "match": match.mean(),
        "brier": ((q - happened) ** 2).sum(), "constant": len(q) * share * (1 - share),
        "q": told(q, q, happened, Q_CUTS), "f": told(f, match, 1 / F, F_CUTS),
    }  # fmt: skip


def told(of, predicted, happened, cuts):
    at = np.digitize(of, cuts) - 1
    return np.stack([np.bincount(at, weights=w, minlength=len(cuts) - 1)
                     for w in (np.ones(len(of)), predicted, happened)])  # fmt: skip


def of_parts(fit):
    if fit.parts is None:
        return {}
    pi = fit.sampling_fraction
    fixed = [(sd / np.sqrt(1 - pi), 0.0) for sd in LADDER]
    ends = np.array([fit.prediction_interval(spread=spread) for spread in fixed])
    return {"parts": fit.parts, "a": fit.layer.mean[0], "b": fit.layer.mean[1],
            "s": fit.layer.mean[2], "ladder": ends}  # fmt: skip


# -- the structural constants, each table's from the others ----------------------------------------


def spread_of(frame):
    """s0 and c of the largest Gaussian likelihood of the log errors."""
    known = frame[frame["parts"].notna()]
    pi = known["fraction"].to_numpy()
    parts = known["parts"]
    own = np.array([p.layer**2 + p.sampling**2 for p in parts])
    apart = np.array([p.apart for p in parts])
    missed = np.log(known["truth"] + 0.5 / pi) - np.log(known[S].astype(float) + 0.5 / pi)

    def cost(at):
        variance = own + at[0] ** 2 * (1 - pi) + (at[1] * apart) ** 2 + 1e-8
        return float((missed**2 / variance + np.log(variance)).sum())

    return np.abs(minimize(cost, (0.05, 0.8), method="Nelder-Mead").x)


def left_out(frame):
    """Intervals with the constants of the other tables; and those constants."""
    frame, constants = frame.copy(), {}
    frame["low shipped"], frame["high shipped"] = frame[f"low {S}"], frame[f"high {S}"]
    for name in frame["table"].unique():
        constants[name] = spread_of(frame[frame["table"] != name])
        for i in frame.index[(frame["table"] == name) & frame["parts"].notna()]:
            row = frame.loc[i]
            fixed, apart = constants[name]
            sd = np.hypot(fixed * np.sqrt(1 - row["fraction"]), apart * row["parts"].apart)
            for j, end in enumerate(("low", "high")):
                frame.loc[i, f"{end} {S}"] = np.round(np.interp(sd, LADDER, row["ladder"][:, j]))
    return frame, constants | {"all": spread_of(frame)}


# -- coverage --------------------------------------------------------------------------------------


def held(part, model):
    known = part[part[f"low {model}"].notna()]
    return (known[f"low {model}"] <= known["truth"]) & (known["truth"] <= known[f"high {model}"])


def rejected_at(missed, cluster):
    """Two-sided level at which 95 % is rejected, misses of one cluster being alike."""
    n, expected = len(missed), 0.05
    beyond = (missed - expected).groupby(cluster).sum()
    design = max(1.0, float((beyond**2).sum()) / (n * expected * (1 - expected)))
    trials, misses = round(n / design), round(missed.sum() / design)
    tail = min(binom.cdf(misses, trials, expected), binom.sf(misses - 1, trials, expected))
    return min(1.0, 2 * tail), n / design


def coverage(frame):
    rows = []
    for name, part in frame.groupby("table"):
        rows.append((name, part, *rejected_at(1.0 - held(part, S), part["subset"])))
    for fraction, part in frame.groupby("fraction"):
        rows.append((f"{fraction:.1%}", part, *rejected_at(1.0 - held(part, S), part["table"])))
    order = np.argsort([level for _, _, level, _ in rows])
    holm, worst = {}, 0.0
    for place, i in enumerate(order):
        worst = max(worst, min(1.0, rows[i][2] * (len(rows) - place)))
        holm[i] = worst
    lines = ["| cases of | cases | held | as shipped | as many as | level | Holm |",
             "|---|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for i, (name, part, level, size) in enumerate(rows):
        lines.append(
            f"| {name} | {len(part)} | {held(part, S).mean():.1%} | "
            f"{held(part, 'shipped').mean():.1%} | {size:.0f} | {level:.3f} | {holm[i]:.3f} |"
        )
    return lines


# -- pages -----------------------------------------------------------------------------------------


def error(part, model):
    known = part[part[model].notna() & (part["truth"] >= BIG)]
    return np.log2(np.maximum(known[model].astype(float), 1e-9) / known["truth"])


def percent(value):
    return "" if np.isnan(value) else f"{value:.1%}"


def by(frame, key, name, models=MODELS):
    lines = [f"| {name} | model | cases | error | bias | 2x | 10x | held | fewer than 50: cases | "
             "mean distance | held |", "|---|---|" + "---:|" * 9]  # fmt: skip
    groups = [("all", frame)] if key is None else list(frame.groupby(key))
    for label, part in groups:
        small = part[part["truth"] < BIG]
        for model in models:
            e, large = error(part, model), part[part["truth"] >= BIG]
            off = (small[model].astype(float) - small["truth"]).abs().mean()
            label = f"{label:.1%}" if isinstance(label, float) else label
            lines.append(
                f"| {label} | {model} | {len(e)} | {e.abs().median():.2f} | {e.median():+.2f} | "
                f"{(e.abs() > 1).sum()} | {(e.abs() > np.log2(10)).sum()} | "
                f"{percent(held(large, model).mean())} | {len(small)} | {off:.1f} | "
                f"{percent(held(small, model).mean())} |"
            )
    return lines


def brier(frame):
    lines = [
        "| table | fraction | unique people | Brier | best constant |",
        "|---|---:|---:|---:|---:|",
    ]
    for (name, fraction), part in frame[frame["truth"] >= BIG].groupby(["table", "fraction"]):
        people = part["alone"].sum()
        if people:
            lines.append(f"| {name} | {fraction:.1%} | {people:,.0f} | "
                         f"{part['brier'].sum() / people:.4f} | "
                         f"{part['constant'].sum() / people:.4f} |")  # fmt: skip
    return lines


def reliability(frame, column, cuts, name):
    lines = [f"| {name} | " + " | ".join(f"{f:.1%}" for f in FRACTIONS) + " |",
             "|---|" + "---:|" * len(FRACTIONS)]  # fmt: skip
    sums = {f: part[column].sum() for f, part in frame.groupby("fraction")}
    for i, (low, high) in enumerate(pairwise(cuts)):
        cells = []
        for fraction in FRACTIONS:
            people, predicted, happened = sums.get(fraction, np.zeros((3, len(cuts))))[:, i]
            cells.append(
                f"{predicted / people:.3f} / {happened / people:.3f}" if people > 30 else ""
            )
        lines.append(f"| {low:g} to {high:g} | " + " | ".join(cells) + " |")
    return lines


def layers(frame):
    lines = ["| fraction | a | b | s |", "|---|---:|---:|---:|"]
    for fraction, part in frame.groupby("fraction"):
        cells = [f"{part[v].median():.2f} ({part[v].quantile(.25):.2f} to "
                 f"{part[v].quantile(.75):.2f})" for v in "abs"]  # fmt: skip
        lines.append(f"| {fraction:.1%} | " + " | ".join(cells) + " |")
    return lines


def page(frame, constants, of):
    large, small = frame[frame["truth"] >= BIG], frame[frame["truth"] < BIG]
    e = error(frame, S).abs()
    head = [
        f"{'The quick grid: ' * ('--quick' in sys.argv)}{len(frame):,} "
        f"{f'of the {of:,} cases of the grid, drawn at random' if len(frame) < of else 'cases'}, "
        f"{len(large):,} of them with at least {BIG} true uniques.",
        f"structured: median error {e.median():.3f}, more than a factor of two off in "
        f"{(e > 1).sum()} ({(e > 1).mean():.1%}), of ten in {(e > np.log2(10)).sum()}; interval "
        f"held in {held(large, S).mean():.1%} (as shipped {held(large, 'shipped').mean():.1%}), "
        f"of small truths in {held(small, S).mean():.1%} "
        f"({held(small, 'shipped').mean():.1%}).",
    ]
    spread = ["| left out | s0 | c |", "|---|---:|---:|"]
    spread += [f"| {name} | {s0:.3f} | {c:.3f} |" for name, (s0, c) in constants.items()]
    matched = np.log2(frame["match"] / frame["true match"]).abs().median()
    sections = {
        "Every model": by(frame, None, "cases"),
        "By sampling fraction": by(frame, "fraction", "sampled", MODELS[:3] + MODELS[-1:]),
        "By table (structured)": by(frame, "table", "table", MODELS[:1]),
        "By number of attributes (structured)": by(frame, "attributes", "attributes", MODELS[:1]),
        "Structural constants, each from the other tables": spread,
        "Coverage of the 95 % prediction interval (structured)": coverage(frame),
        "Brier score per person against the best constant": brier(frame),
        "Predicted and happened, by P(F = 1 | f = 1)": reliability(frame, "q", Q_CUTS, "predicted"),
        f"Predicted and happened, E[1/F] by class size in the table (median error of a case's "
        f"mean {matched:.3f})": reliability(frame, "f", F_CUTS, "class size"),
        "The layer's parameters, median and quartiles": layers(frame),
        "CPU seconds of one case": [f"{m}: {frame[f'seconds {m}'].mean():.2f} mean, "
                                    f"{frame[f'seconds {m}'].max():.2f} most\n" for m in MODELS],
    }  # fmt: skip
    text = "\n\n".join(f"## {title}\n\n" + "\n".join(lines) for title, lines in sections.items())
    return "\n\n".join([*head, text])


def columns_alone():
    """Every column of every table, at every fraction: who is unique on one attribute."""
    for name, frame, columns in tables():
        people = read_table(frame[columns], quasi_identifiers=columns, missing="value")
        least = MANY if len(people) > 10 * MANY else MANY // 5
        wanted = [f for f in FRACTIONS if round(f * len(people)) >= least]
        for column in columns:
            yield from samples(name, people, [column], wanted, models=(S, "pitman-bayes"))


def page_of_columns(frame):
    frame["table's uniques"] = np.where(frame["alone"] > 0, "some", "none")
    lines = [f"{len(frame)} cases, {(frame['truth'] > 0).sum()} of them with true uniques.", "",
             "| sampled | unique in the table | cases | structured held | pitman-bayes held | "
             "truth below pitman-bayes |", "|---:|---|---:|---:|---:|---:|"]  # fmt: skip
    for (fraction, uniques), part in [
        (("all", "all"), frame),
        *frame.groupby(["fraction", "table's uniques"]),
    ]:
        low = (part["truth"] < part["low pitman-bayes"]).sum()
        told = fraction if fraction == "all" else f"{fraction:.1%}"
        lines.append(f"| {told} | {uniques} | {len(part)} | {held(part, S).mean():.1%} | "
                     f"{held(part, 'pitman-bayes').mean():.1%} | {low} |")  # fmt: skip
    return "\n".join(lines)


def main():
    if not (DATA / "atus_cps").is_dir():
        sys.exit("the real tables are not here: set REIDBN_DATA to their folder")
    if "--columns" in sys.argv:
        text = page_of_columns(pd.DataFrame(columns_alone()))
        print(text)
        RESULTS.with_name("real_columns.md").write_text(f"{COLUMNS}\n\n{text}\n", encoding="utf-8")
        return
    part = int(sys.argv[sys.argv.index("--part") + 1]) if "--part" in sys.argv else None
    frame, of = cases("--quick" in sys.argv, part)
    text = page(*left_out(frame), of)
    print(text)
    keep(RESULTS, "Population uniqueness on real tables", __doc__, text)


if __name__ == "__main__":
    main()
