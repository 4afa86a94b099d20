"""One group-by, three back ends: 10,000,000 people x 12 columns from Parquet, and 64 subsets.

    python -m benchmarks.contingency           # two minutes
    python -m benchmarks.contingency --keep    # also writes results/contingency.md

"64 subsets": the contingency of six columns, then classes, uniques and largest class of all 64
subsets from its cells.  The peer is DuckDB's own GROUP BY CUBE of the six.  "12 columns" collapses
all twelve into a Parquet file within a memory limit, spilling to disk.  Seconds of wall clock and
of CPU (two threads; Spark's session and NumPy's coded people are there beforehand), peak memory of
a fresh process with its children.  All must give the same classes and uniques.
"""

import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

from benchmarks import keep

RESULTS = Path(__file__).parent / "results" / "contingency.md"
PLACE = Path(tempfile.gettempdir()) / f"reidbn-bench-{os.getuid()}"
FILE = PLACE / "ten_million.parquet"
SIZES = {"sex": 2, "age": 73, "race": 6, "state": 51, "school": 16, "married": 5,
         "work": 8, "income": 10, "house": 4, "born": 12, "kids": 6, "car": 3}  # fmt: skip
OPEN = ExitStack()
SIX = ["sex", "age", "race", "state", "school", "married"]
PEOPLE = 10_000_000


def make():
    """Correlated columns, 3 % of one missing, written once."""
    import duckdb

    PLACE.mkdir(exist_ok=True)
    if FILE.exists():
        return
    columns = []
    for j, (name, size) in enumerate(SIZES.items()):
        draw = f"(hash(i * 12 + {j}) % 1000003) / 1000003.0"
        trait = f"(hash(i * 7) % 1000003) / 1000003.0 * 0.4 + {draw} * 0.6"
        code = f"CAST(least({size - 1}, floor({size} * pow({trait}, 1.3))) AS TINYINT)"
        gone = f"CASE WHEN hash(i * 5) % 100 < 3 THEN NULL ELSE {code} END"
        columns.append(f"{gone if name == 'race' else code} AS {name}")
    with duckdb.connect() as con:
        con.sql(f"SELECT {', '.join(columns)} FROM range({PEOPLE}) t(i)").write_parquet(str(FILE))


def summed(table):
    return int(table["classes"].sum()), int(table["uniques"].sum())


def by_numpy():
    import reidbn as rb

    people = rb.read_table(FILE, quasi_identifiers=SIX)
    return lambda: summed(rb.contingency(people).subsets())


def by_duckdb():
    import reidbn as rb

    rb.contingency({"a": [1]}, ["a"])  # imports
    return lambda: summed(rb.contingency(FILE, SIX, threads=2).subsets())


def by_duckdb_with_little_memory():
    import reidbn as rb

    rb.contingency({"a": [1]}, ["a"])

    def work():
        found = rb.contingency(FILE, SIX, threads=2, memory_limit="300MB", temp_directory=PLACE)
        return summed(found.subsets())

    return work


def by_spark():
    import reidbn as rb
    from reidbn.microdata import local_session

    session = OPEN.enter_context(local_session(2))
    session.range(10).count()
    return lambda: summed(rb.contingency(FILE, SIX, engine="spark", spark=session).subsets())


def by_cube():
    import duckdb

    con = duckdb.connect(config={"threads": 2})
    names = ", ".join(SIX)
    query = f"""
        SELECT count(*) - 1, count(*) FILTER (n = 1) FROM (
          SELECT count(*) AS n FROM read_parquet('{FILE}') GROUP BY CUBE ({names}))"""
    return lambda: con.execute(query).fetchall()[0]


def collapse_all():
    import reidbn as rb

    into = PLACE / f"cells-{os.getpid()}.parquet"
    spill = PLACE / "spill"

    def work():
        rb.collapse(FILE, list(SIZES), into, memory_limit="1GB", temp_directory=spill, threads=2)
        megabytes = into.stat().st_size / 1e6
        into.unlink()
        return (round(megabytes), "MB written")

    return work


WORKS = {
    "numpy, dense cube of coded people": by_numpy,
    "duckdb, from the file": by_duckdb,
    "duckdb, memory_limit 300MB": by_duckdb_with_little_memory,
    "spark, local with 2 threads": by_spark,
    "(peer) DuckDB GROUP BY CUBE": by_cube,
    "12 columns to a file, memory_limit 1GB": collapse_all,
}


def family(pid):
    """A process and its descendants."""
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(p for child in below for p in family(int(child)))]


def peak():
    found = 0.0
    for pid in family(os.getpid()):
        status = Path(f"/proc/{pid}/status").read_text()
        if "VmHWM:" in status:
            found += int(status.split("VmHWM:")[1].split()[0]) / 1024
    return found


def burnt():
    """CPU seconds of the process and its living descendants."""
    ticks = 0
    for pid in family(os.getpid()):
        ticks += sum(
            map(int, Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])
        )
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(name):
    with OPEN:
        work = WORKS[name]()
        start, cpu = time.perf_counter(), burnt()
        result = work()
        wall, cpu = time.perf_counter() - start, burnt() - cpu
        print(f"\n{wall} {cpu} {peak()} {result[0]} {result[1]}", flush=True)


def main():
    make()
    lines = [
        "| 10,000,000 people | wall s | CPU s | peak MB | result |",
        "|---|---:|---:|---:|---|",
    ]
    told = None
    for name in WORKS:
        if name.startswith("spark") and find_spec("pyspark") is None:
            lines.append(f"| {name} | not installed | | | |")
            continue
        command = [sys.executable, "-m", "benchmarks.contingency", "--one", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        wall, cpu, most, *result = done.stdout.strip().splitlines()[-1].split(" ", 4)
        if "MB" in result[1]:
            shown = " ".join(result)
        else:
            told = told or result
            assert result == told, (name, result, told)
            shown = f"{int(result[0]):,} classes, {int(result[1]):,} uniques"
        lines.append(
            f"| {name} | {float(wall):.2f} | {float(cpu):.2f} | {float(most):.0f} | {shown} |"
        )
        print(lines[-1], flush=True)
    keep(RESULTS, "Contingency", __doc__, "\n".join(lines))


if __name__ == "__main__":
    if "--one" in sys.argv:
        measure(sys.argv[-1])
    else:
        main()
