"""The constants of the structured model's calibration, fitted on some real tables, held against others.

    python -m benchmarks.layer_constants           # two CPU minutes
    python -m benchmarks.layer_constants --keep    # also writes results/layer_constants.md

Equations (1) and (2) of reidbn/theory/layer.py have constants: how fast the models' error falls from rare
rows to common ones, the middle of the prior of a and b, the least of s and how it goes with how far the
models are apart, and how much further off the tenth row is.  Here they start from what they were before
any real table was looked at (no fall, a = 0, b = 1, s = .2) and go, one after the other and in ever
smaller steps, where the mean log score of P(F = 1 | f = 1) over the unique people of the tables fitted on
is better; what comes out is held against the other tables, which had no part in it.  Cases: three random
sets of three to seven attributes per table, at 1, 10 and 50 % sampled.

log score: mean over cases of -log of the chance given to what is so (less is better); factor: median
over cases with 15 true uniques in the table of what is said of their number over what is so, or the
other way round; the rest: said / so, by chance said, at 1 % sampled and above.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks import DATA, keep
from benchmarks.real_populations import tables
from reidbn import population
from reidbn.microdata import read_table
from reidbn.theory import fit_layer, together

RESULTS = Path(__file__).parent / "results" / "layer_constants.md"
LAYER = sys.modules[fit_layer.__module__]
FRACTIONS, SETS, FEW, KNOTS = (0.01, 0.1, 0.5), 3, 3, 60
NAMES = ("FALLS", "MID_A", "MID_B", "LEAST_S", "OF_APART", "UNKNOWN_SD")
BEFORE = dict(zip(NAMES, (0.0, 0.0, 1.0, 0.2, 0.3, 0.85), strict=True))
SHIPPED = {name: getattr(LAYER, name) for name in NAMES}
STEPS = dict(zip(NAMES, (0.1, 0.15, 0.1, 0.1, 0.15, 0.3), strict=True))
HALVES = (("Adult", "ATUS"), ("Diabetes", "Minnesota", "NHANES 13", "NHANES 17"))
CUTS = (0, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9, 1.001)


def cases():
    """What the layer sees of each sample, and how many of the population are like each row."""
    for name, frame, columns in tables():
        if name == "Cervical":
            continue
        people = read_table(frame[columns], quasi_identifiers=columns, missing="value")
        rng = np.random.default_rng([41, len(people)])
        for fraction in FRACTIONS:
            for _ in range(SETS):
                size = int(rng.integers(3, 8))
                at = sorted(rng.choice(columns, size, replace=False).tolist())
                rows = rng.choice(len(people), round(fraction * len(people)), replace=False)
                fit = population.fit(people.take(rows), at, population=len(people),
                                     model="structured")  # fmt: skip
                if fit.status == "calibrated" and fit.key is None:
                    F = np.zeros(len(fit.counts), dtype=np.int64)
                    F[fit.ids] = people.class_sizes(at)[rows]
                    yield one(name, fraction, fit, F)


def one(name, fraction, fit, F):
    some = fit.counts <= FEW
    forest, classes = (shares[some] for shares in fit.log_shares)
    off, f = forest - classes, fit.counts[some]
    apart = np.sqrt(np.average((off - np.average(off, weights=f)) ** 2, weights=f))
    x = together(forest, classes) + np.log(fit.n)
    return {"table": name, "fraction": fraction, "n": fit.n, "N": fit.population, "x": x, "f": f,
            "apart": float(apart), "so": F[some][f == 1] == 1}  # fmt: skip


def told(case):
    """P(F = 1 | f = 1) of the unique people."""
    x, alone = case["x"], case["f"] == 1
    layer = fit_layer(x, case["f"], case["n"], case["apart"])
    at = np.linspace(x.min() - 1e-6, x.max() + 1e-6, KNOTS)
    said = layer.weight @ layer.p_unique(at, case["N"])
    return np.clip(np.interp(x[alone], at, said), 1e-4, 1 - 1e-4)


def score(case):
    q = told(case)
    return -float(np.log(np.where(case["so"], q, 1 - q)).mean())


def with_constants(constants, work):
    for name, value in constants.items():
        setattr(LAYER, name, value)
    try:
        return work()
    finally:
        for name, value in SHIPPED.items():
            setattr(LAYER, name, value)


def mean_score(constants, some):
    return with_constants(constants, lambda: float(np.mean([score(case) for case in some])))


def fitted(some):
    """One constant after the other, there and back, in steps that get smaller."""
    now, best, steps = dict(BEFORE), mean_score(BEFORE, some), dict(STEPS)
    for _ in range(4):
        moved = False
        for name, step in steps.items():
            for way in (step, -step):
                while True:
                    new = now | {name: max(0.0, round(now[name] + way, 4))}
                    found = mean_score(new, some)
                    if found >= best - 1e-6:
                        break
                    now, best, moved = new, found, True
        if not moved:
            steps = {name: step / 2 for name, step in steps.items()}
    return now


def line(label, constants, some):
    """One row of the page: what the constants say of these cases."""
    every = with_constants(constants, lambda: [told(case) for case in some])
    off, sums = [], np.zeros((2, 3, len(CUTS) - 1))
    for case, q in zip(some, every, strict=True):
        if case["so"].sum() >= 15:
            off.append(abs(np.log2(q.sum() / case["so"].sum())))
        at = np.digitize(q, CUTS) - 1
        sums[int(case["fraction"] > FRACTIONS[0])] += np.stack([
            np.bincount(at, weights=w, minlength=len(CUTS) - 1)
            for w in (np.ones(len(q)), q, case["so"])
        ])  # fmt: skip
    cells = [f"{said / of:.3f} / {so / of:.3f}" if of > 30 else "" for of, said, so in
             np.concatenate(sums.transpose(0, 2, 1))]  # fmt: skip
    head = [label, f"{mean_score(constants, some):.4f}", f"{2 ** np.median(off):.3f}"]
    return "| " + " | ".join([*head, *cells]) + " |"


def main():
    if not (DATA / "atus_cps").is_dir():
        sys.exit("the real tables are not here: set REIDBN_DATA to their folder")
    every = list(cases())
    of = {half: [case for case in every if case["table"] in half] for half in HALVES}
    found = {half: fitted(some) for half, some in of.items()}
    lines = ["| constants | " + " | ".join(NAMES) + " |", "|---|" + "---:|" * len(NAMES)]
    rows = {"before any table": BEFORE, "shipped": SHIPPED}
    rows |= {f"fitted on {', '.join(half)}": constants for half, constants in found.items()}
    for label, constants in rows.items():
        lines.append(f"| {label} | " + " | ".join(f"{v:g}" for v in constants.values()) + " |")
    bands = [
        f"{a:g} to {min(b, 1):g}, {at}" for at in ("1 %", "10, 50 %") for a, b in pairwise(CUTS)
    ]
    for half, some in of.items():
        other = next(o for o in HALVES if o != half)
        lines += ["", f"## {', '.join(half)}: {len(some)} cases, fitted on the others", "",
                  "| constants | log score | factor | " + " | ".join(bands) + " |",
                  "|---|" + "---:|" * (len(bands) + 2)]  # fmt: skip
        lines += [line(label, constants, some) for label, constants in (
            ("before any table", BEFORE), ("shipped", SHIPPED), ("fitted on the others", found[other]),
            ("fitted on these", found[half]))]  # fmt: skip
    text = "\n".join(lines)
    print(text)
    keep(RESULTS, "Constants of the calibration, tables held back", __doc__, text)


if __name__ == "__main__":
    main()
