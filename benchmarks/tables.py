"""Reading a table and one class-size query on it, against the usual tools.

    python -m benchmarks.tables

1.5 million synthetic patients x 12 columns; every row of the tables runs in a process of its
own, so its peak memory is its own.  CPU seconds (all threads); class sizes: best of three.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from benchmarks import best

RESULTS = Path(__file__).parent / "results" / "tables.md"
PEOPLE = 1_500_000
QI = ["age", "sex", "state", "race", "ethnicity", "education", "marital", "work", "income",
      "tenure", "birth_country", "diagnosis"]  # fmt: skip


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def write(folder):
    import duckdb

    import reidbn as rb

    frame = rb.datasets.synthetic_patients(PEOPLE, seed=1)
    con = duckdb.connect()
    con.from_df(frame.astype(dict.fromkeys(QI[1:], str))).write_parquet(str(folder / "p.parquet"))
    con.sql(f"SELECT * FROM '{folder}/p.parquet'").write_csv(str(folder / "p.csv"))
    small = con.sql(f"SELECT {', '.join(QI[:9])} FROM '{folder}/p.parquet' LIMIT 30162")
    small.write_csv(str(folder / "small.csv.gz"), compression="gzip")


def read(source, names):
    import duckdb  # noqa: F401  (imports are not timed)

    import reidbn as rb

    rb.read_table({"a": [1]}, quasi_identifiers="a")
    start = time.process_time()
    people = rb.read_table(source, quasi_identifiers=names)
    return {"seconds": time.process_time() - start, "check": len(people)}


def reading(kind, folder):
    if kind.startswith("CSV, gzip"):
        return read(folder / "small.csv.gz", QI[:9])
    if kind == "CSV":
        return read(folder / "p.csv", QI)
    if kind == "Parquet":
        return read(folder / "p.parquet", QI)
    if kind == "polars frame":
        import polars as pl

        return read(pl.read_parquet(folder / "p.parquet"), QI)
    if kind == "Arrow table":
        import pyarrow.parquet as pq

        return read(pq.read_table(folder / "p.parquet"), QI)
    if kind == "DuckDB relation":
        import duckdb

        return read(duckdb.connect().read_parquet(str(folder / "p.parquet")), QI)
    import pandas as pd

    if kind == "pandas.read_csv alone":
        start = time.process_time()
        frame = pd.read_csv(folder / "p.csv", usecols=QI)
        return {"seconds": time.process_time() - start, "check": len(frame)}
    return read(pd.read_parquet(folder / "p.parquet"), QI)


READING = ["CSV, gzip (30,162 x 9)", "CSV", "pandas.read_csv alone", "Parquet", "pandas frame",
           "polars frame", "Arrow table", "DuckDB relation"]  # fmt: skip


def by_reidbn(folder):
    import reidbn as rb

    people = rb.read_table(folder / "p.parquet", quasi_identifiers=QI)
    return best(lambda: int((people.class_sizes() == 1).sum()))


def as_categories(folder):
    import pandas as pd

    frame = pd.read_parquet(folder / "p.parquet", columns=QI)
    return frame.astype(dict.fromkeys(QI, "category"))


def by_pandas(folder):
    frame = as_categories(folder)
    return best(lambda: int((frame.groupby(QI, observed=True, sort=False).size() == 1).sum()))


def by_pandas_codes(folder):
    codes = as_categories(folder).apply(lambda c: c.cat.codes.astype("int32"))
    return best(lambda: int((codes.groupby(QI, sort=False).size() == 1).sum()))


def by_polars(folder):
    import polars as pl

    frame = pl.read_parquet(folder / "p.parquet", columns=QI)
    frame = frame.with_columns(pl.col(pl.String).cast(pl.Categorical).to_physical())
    return best(lambda: frame.group_by(QI).len().filter(pl.col("len") == 1).height)


def by_duckdb(folder):
    import duckdb

    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS SELECT * FROM '{folder}/p.parquet'")
    for name in QI[1:]:
        con.execute(f"CREATE TYPE e_{name} AS ENUM (SELECT DISTINCT {name} FROM t)")
        con.execute(f"ALTER TABLE t ALTER {name} TYPE e_{name}")
    query = f"SELECT count(*) FROM (SELECT 1 FROM t GROUP BY {', '.join(QI)} HAVING count(*) = 1)"
    return best(lambda: con.execute(query).fetchone()[0])


def by_pycanon(folder):
    import pandas as pd
    from pycanon import anonymity

    frame = pd.read_parquet(folder / "p.parquet", columns=QI)
    seconds, k = best(lambda: anonymity.k_anonymity(frame, QI), times=1)
    return seconds, f"k={k}"


COUNTING = {
    "reidbn class_sizes (per record)": by_reidbn,
    "DuckDB GROUP BY, enums": by_duckdb,
    "polars group_by, codes": by_polars,
    "pandas groupby, codes": by_pandas_codes,
    "pandas groupby, categories": by_pandas,
    "pycanon k_anonymity": by_pycanon,
}


def one(what, kind, folder):
    if what == "write":
        return write(folder)
    if what == "read":
        found = reading(kind, folder)
    else:
        seconds, check = COUNTING[kind](folder)
        found = {"seconds": seconds, "check": check}
    print(json.dumps(found | {"peak": peak()}))
    return None


def run(what, kind, folder):
    words = [sys.executable, "-m", "benchmarks.tables", what, kind, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout else None


def lines(folder):
    yield "| reading 1,500,000 x 12 (unless said) | CPU s | peak MB |"
    yield "|---|---:|---:|"
    for kind in READING:
        found = run("read", kind, folder)
        yield f"| {kind} | {found['seconds']:.2f} | {found['peak']:.0f} |"
    yield ""
    yield "| class sizes, 1,500,000 x 12 | CPU s | times reidbn | uniques |"
    yield "|---|---:|---:|---:|"
    first = None
    for kind in COUNTING:
        if kind.startswith("pycanon") and find_spec("pycanon") is None:
            continue
        found = run("count", kind, folder)
        first = first or found["seconds"]
        ratio = found["seconds"] / first
        yield f"| {kind} | {found['seconds']:.3f} | {ratio:.1f} | {found['check']} |"


if __name__ == "__main__":
    if len(sys.argv) == 4:
        one(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
    else:
        with tempfile.TemporaryDirectory() as place:
            run("write", "all", place)
            text = []
            for line in lines(Path(place)):
                print(line, flush=True)
                text.append(line)
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text("# Reading and one class-size query\n\n" + "\n".join(text) + "\n")
