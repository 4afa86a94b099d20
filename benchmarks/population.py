"""Population uniqueness: one fit, everything about it, and fits on every subset.

    python -m benchmarks.population           # half a minute
    python -m benchmarks.population --keep    # also writes results/population.md

CPU milliseconds on one core, median of many runs, after a first one.  Adult is the table of
[Kroes21] where it is found (REIDBN_DATA, or ../shared/data), else a generated one of its shape;
the 603,240 people are 20 copies of it with a tenth of all cells redrawn.  "fit" is Pitman's model
from frequencies of frequencies; "all of it" adds covariance, exact expectations, the confidence
interval (profile likelihood), the prediction interval (grid), E[1/F | f] for every class size and
the law of a class of one.  "one step" is a single Newton step, digamma and trigamma of every class
size by SciPy, as a yardstick.  ATUS-CPS: 40,000 people, 12 attributes, 4,096 subsets, frequencies
included.
"""

import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import digamma, zeta

from benchmarks import DATA, keep
from reidbn import population
from reidbn.microdata import People

RESULTS = Path(__file__).parent / "results" / "population.md"
ADULT = ["sex", "age", "race", "marital_status", "education", "native_country", "workclass"]
ATUS = ["yob", "sex", "state", "race", "hispanic", "edu", "marital", "work_class",
        "famincome_gt50k", "country_born", "tenure", "region"]  # fmt: skip


def adult():
    file = DATA / "adult" / "adult_data.csv.gz"
    if file.is_file():
        frame = pd.read_csv(file).dropna()
        return np.column_stack([pd.factorize(frame[c])[0] for c in ADULT])
    rng = np.random.default_rng(2021)
    return np.column_stack(
        [(k * rng.random(30_162) ** 3).astype(int) for k in (2, 72, 5, 7, 16, 41, 7)]
    )


def copies(codes, times):
    rng = np.random.default_rng(1)
    big = np.tile(codes, (times, 1))
    for j in range(big.shape[1]):
        redrawn = rng.random(len(big)) < 0.1
        big[redrawn, j] = rng.permutation(big[:, j])[redrawn]
    return big


def subset_people():
    file = DATA / "atus_cps" / "atus_cps_2003_2016.parquet"
    if file.is_file():
        frame = pd.read_parquet(file).sample(40_000, random_state=1)
        codes = [pd.factorize(frame[c], use_na_sentinel=False)[0] for c in ATUS]
        return People.from_codes(np.column_stack(codes), ATUS)
    rng = np.random.default_rng(3)
    sizes = (60, 2, 51, 4, 2, 8, 5, 5, 3, 2, 3, 4)
    return People.from_codes(
        np.column_stack([(k * rng.random(40_000) ** 2).astype(int) for k in sizes])
    )


def cpu(work, runs):
    work()
    spent = []
    for _ in range(runs):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return 1e3 * float(np.median(spent))


def everything(sizes, counts, N):
    fit = population.fit(sizes=sizes, counts=counts, population=N)
    law = fit.class_size_posterior(1)
    return (
        fit.covariance, fit.expected_uniques, fit.expected_uniques_in_table, fit.p_unique,
        fit.interval(), fit.prediction_interval(), fit.mean_inverse(sizes), law.p_equal, law.mean,
    )  # fmt: skip


def step(sizes, counts):
    return digamma(sizes - 0.5) @ counts, zeta(2.0, sizes - 0.5) @ counts


def rows():
    codes = adult()
    sample = codes[np.random.default_rng(0).choice(len(codes), 3_016, replace=False)]
    for name, table, N, bar in (
        ("Adult, 3,016 sampled", sample, 30_162, ""),
        ("Adult, 30,162", codes, 1_000_000, "1"),
        ("Adult x 20, 603,240", copies(codes, 20), 10_000_000, "3"),
    ):
        f = People.from_codes(table).frequencies()
        args = {"sizes": f.sizes, "counts": f.counts, "population": N}
        fit = cpu(lambda a=args: population.fit(**a), 200)
        whole = cpu(lambda a=args: everything(a["sizes"], a["counts"], a["population"]), 40)
        yard = cpu(lambda t=f: step(t.sizes, t.counts), 200)
        yield name, "fit", f"{fit:.2f}", bar
        yield name, "all of it", f"{whole:.1f}", "20"
        yield name, f"one step over {f.sizes.size} class sizes", f"{yard:.3f}", ""
    people = subset_people()
    for estimate in ("maximum likelihood", "posterior"):
        start = time.process_time()
        fits = population.fit_subsets(people, population=6_900_000, estimate=estimate)
        spent = 1e3 * (time.process_time() - start)
        yield "40,000 x 12", f"{len(fits):,} subsets, {estimate}", f"{spent:,.0f}", "20,000"


def main():
    lines = ["| table | work | CPU ms | bar |", "|---|---|---:|---:|"]
    for row in rows():
        lines.append("| " + " | ".join(row) + " |")
        print(lines[-1], flush=True)
    keep(RESULTS, "Population uniqueness: speed", __doc__, "\n".join(lines))


if __name__ == "__main__":
    main()
