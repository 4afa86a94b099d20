"""What the telling of a report costs on real tables: counts by class size, beside plain tens.

    python -m benchmarks.telling_cost [sets]

Random sets of two to five columns of three real tables (REIDBN_DATA, or ../shared/data), of 300 and
3,000 of their people and of all.  Plain: every count by itself in tens, rounded down, under 10
marked.  As told: at cutoffs that fit together, audited under the verdict of ema.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

import reidbn as rb
from reidbn.release import Alike, audited
from reidbn.report import SIZES, Telling, alike_in_bands

TABLES = {
    "adult": "age workclass education marital_status occupation relationship race sex "
             "native_country",
    "diabetes130": "race gender age admission_type_id medical_specialty time_in_hospital "
                   "payer_code",
    "cervical": "",
}  # fmt: skip
K = 11


def codes_of(name):
    os.environ.setdefault("REIDBN_DATA", str(Path(__file__).parents[2] / "shared" / "data"))
    frame = rb.datasets.fetch(name)
    columns = TABLES[name].split() or [c for c in frame.columns if frame[c].nunique() > 1][:9]
    return frame[columns].astype(str).apply(lambda c: c.factorize()[0]).to_numpy()


def cost(codes):
    """Counts by class size, plain and as told."""
    _, ids, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    sizes = counts[ids.ravel()]
    fails = bool((sizes < K).any())
    plain = Alike(sizes, nobody=0 if fails else K - 1, somebody=K - 1 if fails else 0)
    start = time.process_time()
    audit = audited(plain)
    took, told = time.process_time() - start, audit.classes
    ends = [told.at(c) for c in plain.cutoffs]
    exact = [plain.exactly(c) for c in plain.cutoffs]
    in_bands = np.diff([0, *(plain.exactly(high or plain.end) for _, high in SIZES)])
    telling = Telling(classes=(told,))
    bands, (low, high) = alike_in_bands(sizes, telling), telling.ladder(1 / sizes).mean()
    return {
        "counts": len(ends),
        "pooled": len(told.without),
        "not proved": audit.left,
        "over two tens": sum(t.high - t.low > 9 for t in ends),
        "from the truth, plain": sum(x % 10 for x in exact),
        "from the truth, told": sum(x - t.low for x, t in zip(exact, ends, strict=True)),
        "bands": len(bands),
        "bands marked, plain": int((in_bands < 10).sum()),
        "bands marked, told": sum(b is None for b in bands),
        "bands from so many to so many": sum(isinstance(b, list) for b in bands),
        "ends of the mean apart": high - low,
        "CPU seconds": took,
    }


def main(sets=30):
    for name in TABLES:
        table = codes_of(name)
        for people in sorted({300, min(3_000, len(table)), len(table)}):
            rng = np.random.default_rng([20261123, people])
            found = []
            for _ in range(sets):
                rows = rng.permutation(len(table))[:people]
                columns = rng.permutation(table.shape[1])[: int(rng.integers(2, 6))]
                found.append(cost(table[rows][:, columns]))
            total = {key: round(float(sum(f[key] for f in found)), 3) for key in found[0]}
            print(f"{name}, {people:,} people, {sets} sets of columns: {total}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
