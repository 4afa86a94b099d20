"""Assessments of large tables: CPU seconds and memory, each in a process of its own.

    python -m benchmarks.assess_sums

Synthetic patients, groups known independently with probability 1/2, population_model="pitman", a
population given, every measure; "before" is what the code took that kept a number per person and
subset (measured on the same tables; with a dash where it refused).  The last line is from a Parquet
file, counting included.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import reidbn as rb
from reidbn.attack import Known, Knows, Scenario

TWELVE = ["age", "sex", "state", "race", "ethnicity", "education", "marital", "work", "income",
          "tenure", "birth_country", "diagnosis"]  # fmt: skip
EIGHT = ["age", "sex", "state", "race", "education", "work", "birth_country", "diagnosis"]
SIXTEEN = [*TWELVE, "e1", "e2", "e3", "e4"]
TABLES = {
    "1,000,000 x 8": (1_000_000, EIGHT, 19.9, 1_810, "6 s, 700 MB"),
    "3,000,000 x 8": (3_000_000, EIGHT, None, None, "answered"),
    "30,000 x 12": (30_000, TWELVE, 37.1, 1_462, "5 s"),
    "30,000 x 16": (30_000, SIXTEEN, None, None, "40 s, 1 GB"),
}
MANY = "40,000,000 x 4 from Parquet"


def used():
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime, found.ru_maxrss / 1024


def assessed(name):
    records, columns, *_ = TABLES[name]
    frame = rb.datasets.synthetic_patients(records, seed=1)[TWELVE]
    rng = np.random.default_rng(5)
    for j, values in enumerate([3, 6, 10, 25]):
        frame[f"e{j + 1}"] = rng.zipf(1.6, records) % values
    people = rb.read_table(frame, quasi_identifiers=columns)
    del frame
    known = tuple(Known(c, (c,), (0.5,), source="assumption") for c in columns)
    start, _ = used()
    rb.assess("adversary-routes", people, scenario=Scenario("half", knows=Knows(known)),
              population=300_000_000, population_model="pitman")  # fmt: skip
    return used()[0] - start, used()[1]


def from_parquet(path):
    cells = rb.contingency(path, ["age", "sex", "state", "race"])
    rb.assess("adversary-routes", cells, scenario="worst-case", population=10**8)
    return used()


def write_parquet(path):
    import duckdb

    duckdb.sql(f"""copy (
        select (abs(hash(i)) % 97)::int as age,
               case when hash(i + 7) % 2 = 0 then 'F' else 'M' end as sex,
               's' || ((hash(i + 13) % 51) * (hash(i + 17) % 51) // 51) as state,
               'r' || (hash(i + 19) % 3 * (hash(i + 23) % 3)) as race
        from range(40000000) t(i)) to '{path}' (format parquet)""")


def one(*args):
    command = [sys.executable, "-m", "benchmarks.assess_sums", *args]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(out[0]), float(out[1])


def main():
    if len(sys.argv) > 1:
        name = sys.argv[1]
        seconds, memory = from_parquet(sys.argv[2]) if name == MANY else assessed(name)
        print(f"{seconds:.2f} {memory:.0f}")
        return
    print("| table | CPU s | before | ratio | peak memory, MB | before | bar |")
    print("|---|---|---|---|---|---|---|")
    for name, (_, _, before, memory_before, bar) in TABLES.items():
        seconds, memory = one(name)
        ratio = "-" if before is None else f"{before / seconds:.1f} x"
        print(f"| {name} | {seconds:.1f} | {before or '-'} | {ratio} | {memory:,.0f} | "
              f"{memory_before or '-'} | {bar} |", flush=True)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "people.parquet")
        write_parquet(path)
        seconds, memory = one(MANY, path)
    print(f"| {MANY} | {seconds:.1f} | - | - | {memory:,.0f} | - | 5 s, 500 MB |")


if __name__ == "__main__":
    main()
