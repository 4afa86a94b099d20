"""The leak: one target, many targets, how many of them; digits and CPU time.

    python -m benchmarks.leak

CPU seconds, best of three, single-threaded.  Digits are against fifty or sixty digits of mpmath
(the tests' oracle).  The peers are scipy's hypergeometric law, the recursion of [Antoniou22] with
its states remembered and without, and acting the leak out.
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import mpmath
import numpy as np

import reidbn as rb

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import leak_oracle as oracle

from benchmarks import best

RESULTS = Path(__file__).parent / "results" / "leak.md"
MIXED = {1: 100_000, 3: 100_000, 7: 50_000, 11: 10_000, 50: 2_800}


def one_target():
    """Largest relative error of one target's risk, ours and scipy's, over leaks and classes."""
    from scipy.stats import hypergeom

    rows = []
    for D in (10**4, 10**6, 10**8, 10**9):
        ours = theirs = 0.0
        for share in (1e-4, 0.1, 0.4, 0.999):
            for k in (1, 5, 20, 200):
                L = int(share * D)
                with mpmath.workdps(50):
                    none = mpmath.fprod(mpmath.mpf(D - i - L) / (D - i) for i in range(k))
                    wanted = (1 - none) / k
                    mine = rb.leak.risk(records=D, leaked=L, class_size=k)
                    scipys = (1 - float(hypergeom.pmf(0, D, k, L))) / k
                    ours = max(ours, float(abs(mine / wanted - 1)))
                    theirs = max(theirs, float(abs(scipys / wanted - 1)))
        rows.append((f"{D:,}", f"{ours:.1e}", f"{theirs:.1e}"))
    return rows


def many_targets():
    """CPU time and digits of the exact joint risk."""
    rows = []
    for name, classes, leaked, n in [
        ("10,000 in classes of 5, L = 4,000, n = 15", {5: 2_000}, 4_000, 15),
        ("1,000,000 in classes of 5, L = 400,000, n = 15", {5: 200_000}, 400_000, 15),
        ("1,000,000 in classes of 5, L = 400,000, n = 100", {5: 200_000}, 400_000, 100),
        ("1,000,000 in five sizes, L = 300,000, n = 100", MIXED, 300_000, 100),
        ("1,000,000 in 2s and 20s, L = 2,000, n = 100", {2: 300_000, 20: 20_000}, 2_000, 100),
    ]:
        spent, found = best(
            lambda c=classes, L=leaked, n=n: rb.leak.joint_risk(c, leaked=L, targets=n, log=True)
        )
        error = float(abs(mpmath.expm1(found - oracle.sixty_digits(classes, leaked, n))))
        rows.append((name, f"{1000 * spent:.0f} ms", f"{found:.4f}", f"{error:.0e}"))
    return rows


def the_grid():
    """Figure 4b: 91 leak sizes, n = 5, 10, 15; exact, recursion, recursion without memory."""
    leaks = np.arange(1_000, 10_001, 100)
    classes = {5: 2_000}

    def run(method):
        return [
            rb.leak.joint_risk(classes, leaked=leaks, targets=n, method=method) for n in (5, 10, 15)
        ]

    exact, values = best(lambda: run("exact"))
    remembered, recursion = best(lambda: run("recursion"))
    off = max(float(np.max(abs(r / v - 1))) for r, v in zip(recursion, values, strict=True))
    branching, _ = best(lambda: oracle.recursion({5: 2_000}, 4_000, 5), 1)
    acted, found = best(
        lambda: (
            rb.leak.simulate(
                classes, leaked=4_000, targets=15, reading="from the leak", draws=100_000
            ).all_identified
        ),
        1,
    )
    inside = rb.leak.joint_risk(classes, leaked=4_000, targets=15, reading="from the leak")
    return [
        ("exact, all 273 points", f"{exact:.3f} s", "1e-13 or better"),
        ("recursion with states remembered, all 273", f"{remembered:.3f} s", f"up to {off:.1e} off"),
        ("recursion branch by branch in rationals, one point, n = 5", f"{branching:.2f} s", ""),
        ("acted out 100,000 times, one point, n = 15", f"{acted:.2f} s",
         f"{abs(found / inside - 1):.1e} off, standard error {found.standard_error / inside:.1e}"),
    ]  # fmt: skip


def how_many():
    """The whole distribution of the number identified."""
    rows = []
    for name, classes, leaked, n in [
        ("10,000 in classes of 5, n = 15", {5: 2_000}, 4_000, 15),
        ("10,000 in classes of 5, n = 100", {5: 2_000}, 4_000, 100),
        ("3,890 in five sizes, n = 8", {3: 100, 5: 300, 7: 200, 11: 50, 20: 7}, 1_945, 8),
        ("1,000,000 in classes of 5, n = 100", {5: 200_000}, 400_000, 100),
    ]:
        spent, law = best(
            lambda c=classes, L=leaked, n=n: rb.leak.number_identified(c, leaked=L, targets=n), 2
        )
        joint = rb.leak.joint_risk(classes, leaked=leaked, targets=n, log=True)
        off = abs(float(np.expm1(law.logs[-1] - joint)))
        row = (name, f"{spent:.2f} s", f"{law.mean:.4f}", f"{law.logs[-1]:.2f}", f"{off:.0e}")
        rows.append(row)
    return rows


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def main():
    parts = [
        "# The leak",
        __doc__.strip().split("\n", 1)[1].strip(),
        "## One target: largest relative error of the risk",
        table(("records", "reidbn", "scipy"), one_target()),
        "## All of many targets",
        table(("table", "CPU", "ln P", "relative error"), many_targets()),
        "## The grid of Figure 4b (D = 10,000, k = 5, L from 1,000 to 10,000 by 100)",
        table(("method", "CPU", "against the exact value"), the_grid()),
        "## How many of n targets: the whole distribution",
        table(("table", "CPU", "mean", "ln P(all)", "P(all) against the joint risk"), how_many()),
    ]
    text = "\n\n".join(parts) + "\n"
    print(text)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
