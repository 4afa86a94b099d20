"""Attribute disclosure from CSV to result, every variable sensitive, all subsets, one process.

    python -m benchmarks.disclosure              # Adult and Diabetes of [Kroes21], 9 and 8 columns
    python -m benchmarks.disclosure --wide       # 14 columns of Adult too (a quarter of a minute)

CPU seconds, best of three, single-threaded.  The peer is the plain pandas loop: one group-by per
(secret, subset); it computes the least PPP and its first subset only, and its integers must equal
ours.  Without the real tables (REIDBN_DATA, or ../shared/data) a generated one of Adult's shape is
used.  Peak memory is a fresh process's.
"""

import os
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import reidbn as rb
from benchmarks import DATA, keep

RESULTS = Path(__file__).parent / "results" / "disclosure.md"
ADULT = "gender age race marital_status education native_country work_class salary occupation"
DIABETES = (
    "gender age race num_lab_procedures num_medications change_in_medications "
    "diabetes_medications readmitted"
)
SIZES = (2, 72, 5, 7, 16, 41, 7, 2, 14)


def tables():
    """Name -> (CSV file, columns)."""
    if (DATA / "kroes").is_dir():
        return {
            "Adult 30,162 x 9": (DATA / "kroes" / "adult.csv.gz", ADULT.split()),
            "Diabetes 99,493 x 8": (DATA / "kroes" / "diabetes.csv.gz", DIABETES.split()),
        }
    generator = np.random.default_rng(2021)
    columns = [(size * generator.random(30_162) ** 3).astype(int) for size in SIZES]
    path = Path(tempfile.mkdtemp()) / "generated.csv"
    header = ",".join(ADULT.split())
    np.savetxt(path, np.stack(columns, 1), fmt="%d", delimiter=",", header=header, comments="")
    return {"generated 30,162 x 9": (path, ADULT.split())}


def least(path, columns):
    """From CSV to the least PPP and its first subset, for every variable."""
    everything = rb.disclosure_all(rb.read_table(path, quasi_identifiers=columns))
    return everything, {
        name: (*d.ppp_min_fraction, d.weakest_mask) for name, d in everything.items()
    }


def complete(path, columns):
    """Also PoAC at q = 0 and 0.05, full and least, and leave-one-out in both readings."""
    everything, found = least(path, columns)
    for d in everything.values():
        found[d.secret] += (
            d.alternatives(0),
            d.alternatives(0.05),
            d.leave_one_out("full"),
            d.leave_one_out("weakest"),
        )
    return found


def pandas_loop(path, columns):
    """The least PPP and its first subset by group-by, every (secret, subset) in turn."""
    import pandas as pd

    frame = pd.read_csv(path, dtype=str, keep_default_na=False)[columns]
    frame = frame.apply(lambda column: pd.factorize(column)[0])
    one = pd.Series(np.ones(len(frame), dtype=np.int64))
    found = {}
    for secret in columns:
        others = [c for c in columns if c != secret]
        best, mask = np.full(len(frame), -1.0), np.zeros(len(frame), dtype=np.int64)
        same_at = alike_at = np.zeros(len(frame), dtype=np.int64)
        for size in range(1, len(others) + 1):
            for known in combinations(others, size):
                alike = one.groupby([frame[c] for c in known]).transform("size").to_numpy()
                same = one.groupby([frame[c] for c in (*known, secret)]).transform("size")
                share = same.to_numpy() / alike
                better = share > best
                best = np.where(better, share, best)
                bits = sum(1 << columns.index(c) for c in known)
                mask = np.where(better, bits, mask)
                same_at = np.where(better, same, same_at)
                alike_at = np.where(better, alike, alike_at)
        divisor = np.gcd(same_at, alike_at)
        found[secret] = (alike_at - same_at) // divisor, alike_at // divisor, mask
    return found


def seconds(work, *args, times=3):
    taken = []
    for _ in range(times):
        start = time.process_time()
        result = work(*args)
        taken.append(time.process_time() - start)
    return min(taken), result


def peak_megabytes(name, what):
    """Peak resident memory of a fresh process that does only this (pandas included)."""
    command = [sys.executable, "-m", "benchmarks.disclosure", "--peak", name, what]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def wide():
    """All of Adult's columns but the sampling weight."""
    path = DATA / "adult" / "adult_data.csv.gz"
    columns = (
        "age workclass education education_num marital_status occupation relationship race sex "
        "capital_gain capital_loss hours_per_week native_country income"
    )
    return path, columns.split()


def main():
    lines = [
        "| table | ours, least PPP and subset | ours, complete report | pandas loop | ratio "
        "| peak MB (least / complete) |",
        "|---|---|---|---|---|---|",
    ]
    for name, (path, columns) in tables().items():
        import pandas as pd  # the peer's import is not charged to either  # noqa: F401

        ours, (_, found) = seconds(least, path, columns)
        full, _ = seconds(complete, path, columns)
        theirs, told = seconds(pandas_loop, path, columns, times=1)
        for secret in columns:
            for mine, other in zip(found[secret], told[secret], strict=True):
                assert np.array_equal(mine, other), secret
        peaks = [peak_megabytes(name, what) for what in ("least", "complete")]
        lines.append(
            f"| {name} | {ours:.2f} s | {full:.2f} s | {theirs:.1f} s | {theirs / ours:.0f} x "
            f"| {peaks[0]:.0f} / {peaks[1]:.0f} |"
        )
        print(lines[-1], flush=True)
    if "--wide" in sys.argv and DATA.is_dir():
        taken, _ = seconds(least, *wide(), times=1)
        lines.append(
            f"| Adult 32,561 x 14 | {taken:.1f} s | | | | {peak_megabytes('wide', 'least'):.0f} |"
        )
        print(lines[-1], flush=True)
    text = "\n".join(lines)
    print(f"\n{text}")
    keep(RESULTS, "Attribute disclosure", __doc__, text)


if __name__ == "__main__":
    if "--peak" in sys.argv:
        name, what = sys.argv[sys.argv.index("--peak") + 1 :]
        source = wide() if name == "wide" else tables()[name]
        {"least": least, "complete": complete}[what](*source)
        # Not getrusage: its maximum survives from the process that started this one.
        status = Path("/proc/self/status").read_text()
        print(int(status.split("VmHWM:")[1].split()[0]) / 1024)
    else:
        main()
