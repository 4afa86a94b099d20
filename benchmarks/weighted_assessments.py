"""Tables with survey weights, assessed: which model of the population is nearer to what happens?

    python -m benchmarks.weighted_assessments           # three CPU minutes
    python -m benchmarks.weighted_assessments --keep    # also writes results/weighted_assessments.md
    python -m benchmarks.weighted_assessments --tiny    # large populations, .1 % and less of them

Six real tables are taken for populations (30,000 people of each, drawn at random, or all), and 20,000
people each of the laws of drawn_populations.py.  Everybody answers with a chance of their own, 1, 10 or
50 % on average, and the weight is one over it: by the weights that a survey gave its own people (Adult's
and ATUS-CPS's, so that whom that survey took less often answers less often), by a column, or by a
stratum that is not in the table (weighted_populations.py).  Three to seven attributes, drawn at random;
each is known with probability one half.  Who is unique in the population, and 1/F, are then counted on
every subset.

said/happened: of the journalist's mean over runs, and of that of a right match; least, most: of a run,
half a person of the table added to both; off: mean distance of what was said and what happened of the
journalist, people in ten bins of what was said; held: runs whose 95 % interval of the mean
(`population_uncertainty()`) holds what it turned out to be.  log-linear, the default of tables without
weights, was given the table without them.

--tiny: populations of a million drawn from the same laws, and 228 million adults of the American
Community Survey in 12,000 cells of five attributes, of whom 500 and 5,000 answer.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import reidbn as rb
from benchmarks import DATA, drawn_populations, keep
from benchmarks.drawn_populations import LAWS
from benchmarks.real_populations import tables
from benchmarks.weighted_populations import DESIGNS
from reidbn.attack import Known, Knows, Scenario

RESULTS = Path(__file__).parent / "results" / "weighted_assessments.md"
FRACTIONS, LEAST, MOST = (0.01, 0.1, 0.5), 100, 30_000
MODELS = ("structured", "benedetti-franconi", "log-linear")
FITS = ("structured", "log-linear")
OWN = {"Adult": "fnlwgt", "ATUS": "weight"}
BY = ("by a column", "by a hidden stratum")
MEASURES = ("journalist", "journalist_match")


def answering(rng, likely, share):
    """Who answers, and the weights: one over the chance, which is `share` on average."""
    chance = np.minimum(likely / likely.mean() * share, 1.0)
    for _ in range(20):
        chance = np.minimum(chance * share / chance.mean(), 1.0)
    rows = np.flatnonzero(rng.random(len(chance)) < chance)
    return rows, 1 / chance[rows]


def what_happens(everybody, names, rows):
    """Mean over subsets of who is unique, and of 1/F, by person of the table."""
    unique, match = np.zeros((2, len(rows)))
    for mask in range(1 << len(names)):
        on = [c for j, c in enumerate(names) if mask >> j & 1]
        F = everybody.class_sizes(on)[rows] if on else np.full(len(rows), len(everybody))
        unique += F == 1
        match += 1 / F
    return unique / (1 << len(names)), match / (1 << len(names))


def half(names):
    return Scenario("half", knows=Knows(tuple(
        Known(c, (c,), (0.5,), source="each attribute by the toss of a coin") for c in names
    )))  # fmt: skip


def asked(codes, names, weights, N, model):
    """The assessment of a sample by a model; log-linear does without the weights."""
    if model == "log-linear":
        weights = None
    people = rb.People.from_codes(codes, names, weights=weights)
    return rb.assess("adversary-routes", people, scenario=half(names), population=N,
                     population_model=model)  # fmt: skip


def off(said, so):
    """Mean distance of said and happened, people in ten bins of what was said."""
    parts = np.array_split(np.argsort(said, kind="stable"), 10)
    return sum(abs(said[p].mean() - so[p].mean()) * len(p) for p in parts) / len(said)


def one(codes, names, weights, N, truth, at):
    """What every model says of one sample."""
    for model in MODELS:
        start = time.process_time()
        result = asked(codes, names, weights, N, model)
        row = {**at, "model": model, "n": len(codes), "seconds": time.process_time() - start}
        told = None
        if model == "structured":
            told = result.population_uncertainty().table()
        for measure, so in zip(MEASURES, truth, strict=True):
            said = np.asarray(result.risk(measure))
            row |= {f"said {measure}": said.mean(), f"so {measure}": so.mean(),
                    f"off {measure}": off(said, so)}  # fmt: skip
            if told is not None:
                low, high = told.loc[measure, ["low", "high"]]
                row[f"held {measure}"] = low - 1e-9 <= so.mean() <= high + 1e-9
        yield row


def fitted(codes, names, weights, N, F, truth, at):
    """The number of population uniques by the fits that go by weights: estimate, interval, truth."""
    people = rb.People.from_codes(codes, names, weights=weights)
    row = {**at, "n": len(codes), "truth": truth}
    for model in FITS:
        fit = rb.population.fit(people, names, population=N, model=model)
        alone = fit.people["class_size"].to_numpy() == 1
        row |= {model: fit.expected_uniques, f"said {model}": fit.people["p_unique"][alone].sum(),
                "so": (F[alone] == 1).sum()}  # fmt: skip
        if model == "structured":
            low, high = fit.prediction_interval()
            row["held"] = low <= truth <= high
    return row


def compact(codes):
    return np.column_stack([np.unique(c, return_inverse=True)[1] for c in codes.T])


def sampled(everybody, names, likely, rng, at, share):
    """One sample of a population, asked of every model."""
    rows, weights = answering(rng, likely, share)
    if len(rows) < LEAST:
        return
    truth = what_happens(everybody, names, rows)
    codes = compact(everybody.codes(names)[rows])
    yield from one(codes, names, weights, len(everybody), truth, at)
    F = everybody.class_sizes(names)
    yield fitted(codes, names, weights, len(everybody), F[rows], int((F == 1).sum()), at)


def real():
    for place, (name, frame, columns) in enumerate(tables()):
        if name == "Cervical":
            continue
        frame = frame.sample(min(len(frame), MOST), random_state=1)
        people = rb.read_table(frame[columns], quasi_identifiers=columns, missing="value")
        for fraction in FRACTIONS:
            rng = np.random.default_rng([23, place, int(fraction * 1000)])
            names = sorted(rng.choice(columns, int(rng.integers(3, 8)), replace=False).tolist())
            if name in OWN:
                design, likely = "own", 1 / np.maximum(frame[OWN[name]].to_numpy(float), 1.0)
            else:
                design = BY[place % 2]
                likely = DESIGNS[design](rng, compact(people.codes(names[:1]))[:, 0])
            at = {"population": name, "design": design, "fraction": fraction}
            yield from sampled(people, names, likely, rng, at, fraction)


def drawn():
    for place, law in enumerate(LAWS):
        for fraction in FRACTIONS:
            rng = np.random.default_rng([29, place, int(fraction * 1000)])
            sizes = rng.integers(4, 41, int(rng.integers(3, 7)))
            values = np.column_stack(LAWS[law](rng, sizes))
            names = [f"c{j}" for j in range(len(sizes))]
            likely = DESIGNS[BY[place % 2]](rng, values[:, 0])
            at = {"population": law, "design": BY[place % 2], "fraction": fraction}
            people = rb.People.from_codes(compact(values), names)
            yield from sampled(people, names, likely, rng, at, fraction)


def tiny(runs=1):
    drawn_populations.N = 1_000_000
    for law in LAWS:
        for n in (500, 5_000):
            for run in range(runs):
                rng = np.random.default_rng([31, list(LAWS).index(law), n, run])
                sizes = rng.integers(4, 41, int(rng.integers(3, 7)))
                values = np.column_stack(LAWS[law](rng, sizes))
                names = [f"c{j}" for j in range(len(sizes))]
                likely = DESIGNS[BY[0]](rng, values[:, 0])
                at = {"population": law, "design": BY[0], "fraction": n / 1e6}
                people = rb.People.from_codes(compact(values), names)
                yield from sampled(people, names, likely, rng, at, n / 1e6)
    cells = pd.read_csv(DATA / "acs_poststrat" / "acs_2014_2018_citizens18plus_cells.csv.gz")
    names, held = list(cells.columns[:-1]), cells["n"].to_numpy()
    values = np.column_stack([np.unique(cells[c], return_inverse=True)[1] for c in names])
    N = int(held.sum())
    for n in (500, 5_000):
        for run in range(runs):
            rng = np.random.default_rng([37, n, run])
            likely = DESIGNS[BY[0]](rng, values[:, 0])  # by state, as surveys do
            chance = likely * n / (likely @ held)
            rows = np.repeat(np.arange(len(held)), rng.poisson(held * chance))
            unique, match = np.zeros((2, len(rows)))
            for mask in range(1 << len(names)):
                on = [j for j in range(len(names)) if mask >> j & 1]
                ids = np.unique(values[:, on], axis=0, return_inverse=True)[1].ravel() if on else 0
                F = np.bincount(ids, held)[ids][rows] if on else np.full(len(rows), N)
                unique += F == 1
                match += 1 / F
            truth = unique / 32, match / 32
            at = {"population": "ACS", "design": "by a column", "fraction": n / N}
            yield from one(compact(values[rows]), names, 1 / chance[rows], N, truth, at)


def page_of_fits(frame):
    lines = ["| population | sampled | runs | model | factor: least, middle, most | "
             "unique: said/so | held |", "|---|---:|---:|---|---:|---:|---:|"]  # fmt: skip
    every = [(("all", f), part) for f, part in frame.groupby("fraction")]
    for (name, fraction), part in [
        *every, *frame.groupby(["population", "fraction"], sort=False)
    ]:  # fmt: skip
        rest = 0.5 / fraction
        for model in FITS:
            factor = (part[model].astype(float) + rest) / (part["truth"] + rest)
            held = f"{int(part['held'].sum())} of {len(part)}" if model == "structured" else ""
            lines.append(
                f"| {name} | {fraction:.1%} | {len(part)} | {model} | {factor.min():.2f}, "
                f"{factor.median():.2f}, {factor.max():.2f} | "
                f"{part[f'said {model}'].sum() / max(part['so'].sum(), 1):.2f} | {held} |"
            )
    return "\n".join(lines)


OF_FITS = """`rb.population.fit` on all the attributes of the same samples, with the weights: factor: the
estimate over the true number of unique people, half a row of the table added to both; unique: sum of
P(unique in the population) of the table's unique people over how many of them are; held: runs whose 95 %
prediction interval holds the truth."""
HEAD = ["population", "sampled", "runs", "model", "journalist: said/happened", "least", "most", "off",
        "held", "match: said/happened", "least", "most", "off", "held", "seconds"]  # fmt: skip


def page(frame):
    lines = [f"| {' | '.join(HEAD)} |", "|---|---:|---:|---|" + "---:|" * (len(HEAD) - 4)]
    every = [((kind, f), part) for f, part in frame.groupby("fraction")
             for kind in ["all"]] if frame["fraction"].nunique() <= 3 else []  # fmt: skip
    for (name, fraction), part in [
        *every, *frame.groupby(["population", "fraction"], sort=False)
    ]:  # fmt: skip
        for model, of in part.groupby("model", sort=False):
            cells = [
                name,
                f"{fraction:.2g}" if fraction < 0.001 else f"{fraction:.1%}",
                len(of),
                model,
            ]
            for measure in MEASURES:
                said, so = of[f"said {measure}"], of[f"so {measure}"]
                each = (said + 0.5 / of["n"]) / (so + 0.5 / of["n"])
                told = of[f"held {measure}"].dropna().astype(bool)
                cells += [
                    f"{said.mean() / so.mean():.2f}" if so.any() else f"{said.mean():.2g}/0",
                    f"{each.min():.2f}", f"{each.max():.2f}", f"{of[f'off {measure}'].mean():.4f}",
                    f"{int(told.sum())} of {len(told)}" if len(told) else "",
                ]  # fmt: skip
            cells.append(f"{of['seconds'].mean():.1f}")
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main():
    if not (DATA / "atus_cps").is_dir():
        sys.exit("the real tables are not here: set REIDBN_DATA to their folder")
    parts = {"Under half a percent": tiny} if "--tiny" in sys.argv else {
        "Real tables": real, "Drawn populations": drawn}  # fmt: skip
    text = ""
    for title, part in parts.items():
        rows = []
        for row in part():
            rows.append(row)
            print(
                {k: v if isinstance(v, str) else round(float(v), 5) for k, v in row.items()},
                flush=True,
            )
        told = page(pd.DataFrame([r for r in rows if "model" in r]))
        text += f"\n## {title}\n\n{told}\n"
        if fits := [r for r in rows if "truth" in r]:
            text += f"\n{OF_FITS}\n\n{page_of_fits(pd.DataFrame(fits))}\n"
    print(text)
    keep(RESULTS, "Tables with survey weights, assessed", __doc__, text.strip("\n"))


if __name__ == "__main__":
    main()
