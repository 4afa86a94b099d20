"""Where most people of a table have a value of their own: a date of birth, a street.

    python -m benchmarks.one_off_values           # half a CPU minute
    python -m benchmarks.one_off_values --keep    # also writes results/one_off_values.md

Made-up populations: so many dates, all alike likely; sex; and in every other row a third attribute
of five values.  "Alone": people of the table whose date nobody else of the table has.  What of the
attribute the table has not seen is most of it, and no structure can be read off such a table: the
structured model says so where over half of the people are alone, and is not recommended there.
"""

import sys
from itertools import product
from pathlib import Path

import numpy as np

from reidbn import population
from reidbn.microdata import People

RESULTS = Path(__file__).parent / "results" / "one_off_values.md"
SAMPLES = ((20_000, 150), (20_000, 300), (20_000, 1_000), (20_000, 5_000), (200_000, 2_000))
DATES = (100, 400, 1_500, 6_000)  # of 20,000 people; of more people, as many more


def rows():
    for (N, n), dates, more in product(SAMPLES, DATES, (0, 1)):
        rng = np.random.default_rng(dates + n)
        columns = [rng.integers(0, dates * N // 20_000, N), rng.integers(0, 2, N),
                   rng.choice(5, N, p=[0.6, 0.2, 0.1, 0.07, 0.03])]  # fmt: skip
        everybody = np.column_stack(columns[: 2 + more])
        truth = int((np.unique(everybody, axis=0, return_counts=True)[1] == 1).sum())
        picked = everybody[rng.choice(N, n, replace=False)]
        codes = np.column_stack([np.unique(c, return_inverse=True)[1] for c in picked.T])
        people = People.from_codes(codes, [f"c{j}" for j in range(codes.shape[1])])
        alone = (np.bincount(codes[:, 0]) == 1).sum() / n
        found = population.fit(people, population=N, model="structured")
        low, high = found.prediction_interval()
        beside = population.fit(people, population=N, model="log-linear").expected_uniques
        yield N, n, dates, 2 + more, alone, truth, found.expected_uniques, low, high, beside


def main():
    lines = ["| population | table | dates | attributes | alone | truth | structured | 95 % interval "
             "| holds | log-linear |", "|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|"]  # fmt: skip
    for N, n, dates, attributes, alone, truth, said, low, high, beside in rows():
        lines.append(f"| {N:,} | {n:,} | {dates:,} | {attributes} | {alone:.0%} | {truth:,} | "
                     f"{said:,.0f} | {low:,} to {high:,} | {'yes' if low <= truth <= high else 'no'}"
                     f" | {beside:,.0f} |")  # fmt: skip
    text = "\n".join(lines)
    print(text)
    if "--keep" in sys.argv:
        head = f"# Values that one person has\n\n{__doc__.strip()}\n\n"
        RESULTS.write_text(f"{head}{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
