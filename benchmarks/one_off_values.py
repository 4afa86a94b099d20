"""Where most people of a table have a value of their own: a date of birth, a street.

    python -m benchmarks.one_off_values           # four CPU minutes
    python -m benchmarks.one_off_values --keep    # also writes results/one_off_values.md

Made-up populations: so many dates; sex; and, by row of the table below, beside them a third
attribute of five values, one of forty that the date decides for four people in five ("area"), one
that the date decides ("function"), a second attribute of as many values as dates that nearly
follows from the date ("second key"), or five attributes ("wide"); dates are alike likely, but for
"skewed".  Only tables in which over half of the people have a date that nobody else of the table
has; ten draws each.  too low: tables whose truth is above the interval; factors: the estimate over
the truth, half a row of the table added to both.  The width c of the interval was chosen on other
draws of most of these kinds; log-linear has no interval.
"""

from itertools import product
from pathlib import Path

import numpy as np

from benchmarks import keep
from reidbn import population
from reidbn.microdata import People

RESULTS = Path(__file__).parent / "results" / "one_off_values.md"
SIZES = ((20_000, 150, 400), (20_000, 150, 1_500), (20_000, 150, 6_000), (20_000, 300, 1_500),
         (20_000, 300, 6_000), (20_000, 1_000, 3_000), (20_000, 1_000, 6_000),
         (20_000, 5_000, 20_000), (200_000, 2_000, 15_000), (200_000, 2_000, 60_000))  # fmt: skip
KINDS = ("sex", "sex and another", "area", "function", "second key", "wide", "skewed")
DRAWS = 10
LOW, HIGH, TRUTH, SAID, BESIDE = range(5)


def made(kind, N, dates, rng):
    """Everybody: the dates, sex, and what the kind has beside them."""
    likely = None
    if kind == "skewed":
        likely = np.arange(1, dates + 1) ** -0.6
        likely /= likely.sum()
    date, sex = rng.choice(dates, N, p=likely), rng.integers(0, 2, N)
    another = rng.choice(5, N, p=[0.6, 0.2, 0.1, 0.07, 0.03])
    area = (date * 7_919 + np.where(rng.random(N) < 0.8, 0, rng.integers(1, 40, N))) % 40
    beside = {
        "sex": [], "sex and another": [another], "skewed": [another], "area": [area],
        "function": [date % 12], "second key": [(date * 31 + rng.integers(0, 3, N)) % dates],
        "wide": [another, area, rng.integers(18, 90, N)],
    }  # fmt: skip
    return np.column_stack([date, sex, *beside[kind]])


def rows(kind, seed=20):
    """Every drawn table of a kind: the interval, the truth, what was said, and by log-linear."""
    for (N, n, dates), draw in product(SIZES, range(DRAWS)):
        rng = np.random.default_rng([seed, KINDS.index(kind), N, n, dates, draw])
        everybody = made(kind, N, dates, rng)
        truth = int((np.unique(everybody, axis=0, return_counts=True)[1] == 1).sum())
        picked = everybody[rng.choice(N, n, replace=False)]
        codes = np.column_stack([np.unique(c, return_inverse=True)[1] for c in picked.T])
        if 2 * (np.bincount(codes[:, 0]) == 1).sum() <= n:
            continue
        people = People.from_codes(codes, [f"c{j}" for j in range(codes.shape[1])])
        found = population.fit(people, population=N, model="structured")
        beside = population.fit(people, population=N, model="log-linear").expected_uniques
        half = 0.5 * N / n
        off = [(told + half) / (truth + half) for told in (found.expected_uniques, beside)]
        yield (*found.prediction_interval(), truth, *off)


def main():
    lines = ["| beside the date | tables | held | too low | structured: median, least, most | "
             "log-linear: median, least, most |", "|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    every = []
    for kind in (*KINDS, "all"):
        found = np.array(every if kind == "all" else list(rows(kind)))
        every += [] if kind == "all" else found.tolist()
        held = (found[:, LOW] <= found[:, TRUTH]) & (found[:, TRUTH] <= found[:, HIGH])
        low = (found[:, TRUTH] > found[:, HIGH]).sum()
        told = [", ".join(f"{x:.2f}" for x in (np.median(v), v.min(), v.max()))
                for v in (found[:, SAID], found[:, BESIDE])]  # fmt: skip
        lines.append(
            f"| {kind} | {len(found)} | {held.mean():.0%} | {low} | {told[0]} | {told[1]} |"
        )
    text = "\n".join(lines)
    print(text)
    keep(RESULTS, "Values that one person has", __doc__, text)


if __name__ == "__main__":
    main()
