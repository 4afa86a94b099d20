"""All subsets of attributes: classes and uniques of each, risk of each person, minimal uniques.

    python -m benchmarks.subsets           # three minutes; ~ is scaled up from some subsets
    python -m benchmarks.subsets --keep    # also writes results/subsets.md

CPU seconds on one core, the peers' own processes included; peak memory of a fresh process, table
and libraries included.  "times reidbn" compares with the per-record run, which gives each person's
two risks and smallest identifying subset.  reidbn.suda finds Adult's 62,809 minimal uniques.
Adult is the table of [Kroes21] where it is found (REIDBN_DATA, or ../shared/data), else a generated
one of its shape; the table of 12 columns is generated: 1,500,000 people, correlated columns of 2 to
18 values, 1,054,019 distinct rows, 62 % unique on all twelve; "fine" has independent columns of 2
to 100 values, all but unique.  Peers that do all subsets must give our counts.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks import DATA, keep

RESULTS = Path(__file__).parent / "results" / "subsets.md"
ADULT_SIZES = (2, 72, 5, 7, 16, 41, 7, 2, 14)
WIDE_SIZES = (2, 18, 6, 8, 5, 5, 12, 7, 3, 10, 5, 7)
FINE_SIZES = (73, 2, 41, 16, 100, 50, 7, 14, 9, 5, 60, 31)
PLACE = Path(tempfile.gettempdir()) / f"reidbn-bench-{os.getuid()}"


def adult():
    file = DATA / "kroes" / "adult.csv.gz"
    if file.is_file():
        import pandas as pd

        frame = pd.read_csv(file, dtype=str, keep_default_na=False)
        return np.stack([pd.factorize(frame[c], sort=True)[0] for c in frame], 1)
    rng = np.random.default_rng(2021)
    return np.stack([(size * rng.random(30_162) ** 3).astype(int) for size in ADULT_SIZES], 1)


def wide(people):
    """Correlated columns: two latent traits, cut at random shares."""
    from scipy.special import ndtr

    rng = np.random.default_rng(1)
    one, two = rng.normal(size=1_500_000), rng.normal(size=1_500_000)
    columns = []
    for j, size in enumerate(WIDE_SIZES):
        cuts = np.cumsum(np.sort(rng.dirichlet(np.full(size, 0.95)))[::-1])[:-1]
        own = rng.normal(size=1_500_000)
        trait = ndtr(0.65 * (one if j % 2 else two) + np.sqrt(1 - 0.65**2) * own)
        columns.append(np.searchsorted(cuts, trait)[:people])
    return np.stack(columns, 1)


def fine(people):
    rng = np.random.default_rng(5)
    return np.stack([rng.integers(0, size, people) for size in FINE_SIZES], 1)


TABLES = {
    "Adult, 30,162 x 9": adult,
    "30,000 x 12": lambda: wide(30_000),
    "1,500,000 x 12": lambda: wide(1_500_000),
    "1,500,000 x 12, fine": lambda: fine(1_500_000),
}


def load(table):
    """The codes, made once and kept for the processes that measure."""
    PLACE.mkdir(exist_ok=True)
    file = PLACE / f"{table.replace(' ', '').replace(',', '')}.npy"
    if not file.exists():
        np.save(file, np.asfortranarray(TABLES[table](), dtype=np.int32))
    return np.load(file)


def some_subsets(columns, number):
    """All non-empty subsets, or `number` of them drawn at random; and how many there are."""
    every = [c for k in range(1, columns + 1) for c in combinations(range(columns), k)]
    if number >= len(every):
        return every, 1.0
    return random.Random(5).sample(every, number), len(every) / number


# What is measured.  Each gives the work to time, and how much more the whole would be.


def ours(codes, per_person):
    import reidbn as rb
    from reidbn.microdata import People

    people = People.from_codes(codes)
    rb.subsets(People.from_codes(codes[:100]), per_person=per_person)  # imports

    def work():
        table = rb.subsets(people, per_person=per_person)
        if per_person:
            return round(float(table["mean_inverse"].sum()) * 2 ** codes.shape[1]) - 1
        return int(table["classes"].sum())

    return work, 1.0


def privattacks_loop(codes, number):
    import pandas as pd
    import privattacks

    names = [f"x{j}" for j in range(codes.shape[1])]
    data = privattacks.Data(dataframe=pd.DataFrame(codes, columns=names))
    attack = privattacks.Attack(data)
    chosen, scale = some_subsets(len(names), number)

    def whole():
        sizes = list(range(1, len(names) + 1))
        found = attack.posterior_vulnerability("reid", names, combinations=sizes, n_processes=1)
        column = next(c for c in found if "posterior" in c)
        return round(float(found[column].astype(float).sum()) * len(codes))

    def some():
        for subset in chosen:
            attack.posterior_vulnerability("reid", [names[j] for j in subset])

    return (whole if scale == 1.0 else some), scale


def pandas_loop(codes, number):
    import pandas as pd

    frame = pd.DataFrame(codes)
    chosen, scale = some_subsets(codes.shape[1], number)
    return lambda: sum(len(frame.groupby(list(s)).size()) for s in chosen), scale


def polars_loop(codes, number):
    import polars as pl

    frame = pl.DataFrame({f"x{j}": codes[:, j] for j in range(codes.shape[1])})
    chosen, scale = some_subsets(codes.shape[1], number)

    def work():
        return sum(frame.group_by([f"x{j}" for j in s]).len().height for s in chosen)

    return work, scale


def search(codes, _):
    import reidbn as rb
    from reidbn.microdata import People

    people = People.from_codes(codes)
    return lambda: rb.suda(people, sampling_fraction=0.01).total, 1.0


def one_query(codes, _):
    from reidbn.microdata import People

    people = People.from_codes(codes)
    return lambda: int((people.class_sizes() == 1).sum()), 1.0


WORKS = {
    "reidbn, table": lambda codes: ours(codes, per_person=False),
    "reidbn, per record": lambda codes: ours(codes, per_person=True),
    "privattacks": lambda codes: privattacks_loop(codes, 511),
    "privattacks, 12 subsets": lambda codes: privattacks_loop(codes, 12),
    "privattacks, 60 subsets": lambda codes: privattacks_loop(codes, 60),
    "pandas loop": lambda codes: pandas_loop(codes, 511),
    "pandas loop, 200 subsets": lambda codes: pandas_loop(codes, 200),
    "polars loop": lambda codes: polars_loop(codes, 511),
    "polars loop, 200 subsets": lambda codes: polars_loop(codes, 200),
    "polars loop, 40 subsets": lambda codes: polars_loop(codes, 40),
    "reidbn.suda": lambda codes: search(codes, None),
    "reidbn class_sizes": lambda codes: one_query(codes, None),
}

PLAN = [
    ("Adult, 30,162 x 9", "reidbn, per record", 5, 0.2),
    ("Adult, 30,162 x 9", "reidbn, table", 5, None),
    ("Adult, 30,162 x 9", "polars loop", 1, None),
    ("Adult, 30,162 x 9", "pandas loop", 1, None),
    ("Adult, 30,162 x 9", "privattacks", 1, None),
    ("Adult, 30,162 x 9", "reidbn.suda", 5, 0.4),
    ("30,000 x 12", "reidbn, per record", 3, 1.5),
    ("30,000 x 12", "reidbn, table", 3, None),
    ("30,000 x 12", "polars loop, 200 subsets", 1, None),
    ("30,000 x 12", "pandas loop, 200 subsets", 1, None),
    ("30,000 x 12", "privattacks, 60 subsets", 1, None),
    ("1,500,000 x 12", "reidbn, per record", 1, 75),
    ("1,500,000 x 12", "reidbn, table", 1, None),
    ("1,500,000 x 12", "polars loop, 40 subsets", 1, None),
    ("1,500,000 x 12", "privattacks, 12 subsets", 1, None),
    ("1,500,000 x 12", "reidbn class_sizes", 3, 0.25),
    ("1,500,000 x 12, fine", "reidbn, per record", 1, 75),
]


ALONE = ("reidbn.suda", "reidbn class_sizes")


def peak():
    """Peak memory of this process in MB; getrusage would remember its parent's."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


def children():
    times = os.times()
    return times.children_user + times.children_system


def measure(table, what, times):
    """Measured in this process: CPU seconds (workers' too), peak MB, what the work returned."""
    work, scale = WORKS[what](load(table))
    taken = []
    for _ in range(times):
        start = time.process_time() + children()
        result = work()
        taken.append(time.process_time() + children() - start)
    print(min(taken) * scale, peak(), scale, result)


def measured(table, what, times):
    command = [sys.executable, "-m", "benchmarks.subsets", "--one", table, what, str(times)]
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | one)
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1]
        if "ModuleNotFoundError" in reason:
            return None
        raise RuntimeError(done.stderr)
    seconds, peak, scale, result = done.stdout.split()[-4:]
    return float(seconds), float(peak), float(scale), result


def row(table, what, bar, found, base):
    seconds, peak, scale, _ = found
    about = "~" if scale > 1 else ""
    compared = "" if table not in base or what in ALONE else f"{about}{seconds / base[table]:.1f}"
    return f"| {table} | {what} | {about}{seconds:.3g} | {bar or ''} | {compared} | {peak:.0f} |"


def main():
    lines = [
        "| table | work | CPU s | bar | times reidbn | peak MB |",
        "|---|---|---:|---:|---:|---:|",
    ]
    base, counts = {}, {}
    for table, what, times, bar in PLAN:
        load(table)
        found = measured(table, what, times)
        if found is None:
            lines.append(f"| {table} | {what} | not installed | | | |")
            continue
        if what == "reidbn, per record":
            base[table] = found[0]
        if found[2] == 1.0 and what not in ALONE:
            assert counts.setdefault(table, found[3]) == found[3], (table, what)
        lines.append(row(table, what, bar, found, base))
        print(lines[-1], flush=True)
    text = "\n".join(lines)
    keep(RESULTS, "All subsets", __doc__, text)


if __name__ == "__main__":
    if "--one" in sys.argv:
        table, what, times = sys.argv[sys.argv.index("--one") + 1 :]
        measure(table, what, int(times))
    else:
        main()
