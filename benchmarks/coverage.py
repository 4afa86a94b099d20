"""Coverage of the population intervals on simulated Pitman tables, with the truth known.

    python -m benchmarks.coverage           # a minute
    python -m benchmarks.coverage --keep    # also writes results/coverage.md and coverage.svg

Populations of 3,000 to 100,000 are seated one by one (theta 0.3 to 3,000 and N log-uniform, alpha
uniform in 0..0.95); the table is the first 0.5 to 50 % (log-uniform).  "uniques" is the prediction
interval of the population's uniques, "in table" that of the table's unique rows that are population
uniques, "profile" and "grid" the two confidence intervals of the expected uniques given the table,
with the true parameters.  Nominal: 95 %.  In brackets, the share of misses with the truth above.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from reidbn import population
from reidbn.theory import expected_uniques_given, interval, seat_people

RESULTS = Path(__file__).parent / "results"
TABLES = 2_000
KINDS = ("uniques", "in table", "profile", "grid")
CUTS = {
    "theta": (0.0, 3.0, 30.0, 300.0, 3e4),
    "alpha": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    "fraction": (0.0, 0.015, 0.05, 0.15, 1.0),
    "people in table": (0, 100, 500, 3_000, 10**6),
}


def one(seed):
    rng = np.random.default_rng([2025, seed])
    theta, alpha = 10 ** rng.uniform(-0.5, 3.5), rng.uniform(0, 0.95)
    N = int(10 ** rng.uniform(3.5, 5))
    n = max(int(10 ** rng.uniform(-2.3, -0.3) * N), 20)
    who = seat_people(rng, N, theta=theta, alpha=alpha)
    everybody, sampled = np.bincount(who), np.bincount(who[:n])
    sizes, counts = np.unique(sampled[sampled > 0], return_counts=True)
    fit = population.fit(sizes=sizes, counts=counts, population=N)
    expected = expected_uniques_given(
        n, N, uniques=fit.uniques, classes=fit.classes, theta=theta, alpha=alpha
    )
    truths = {
        "uniques": (everybody == 1).sum(),
        "in table": (everybody[np.unique(who[:n])] == 1).sum(),
        "profile": expected,
        "grid": expected,
    }
    found = {
        "uniques": fit.prediction_interval(),
        "in table": fit.prediction_interval("uniques_in_table"),
        "profile": fit.interval(),
        "grid": fit.interval(method="grid"),
    }
    row = {"theta": theta, "alpha": alpha, "fraction": n / N, "people in table": n}
    for kind, truth in truths.items():
        low, high = found[kind]
        row[kind], row[f"{kind} above"] = low <= truth <= high, truth > high
    return row | {"status": fit.status}


def cells(frame):
    """Rows of the table: all, by status, and by band of each of theta, alpha, fraction, n."""
    yield "all tables", frame
    for status, part in frame.groupby("status"):
        yield f"status: {status}", part
    for name, cuts in CUTS.items():
        for low, high in pairwise(cuts):
            part = frame[(frame[name] >= low) & (frame[name] < high)]
            yield f"{name} {low:g} to {high:g}", part


def table(frame):
    lines = ["| tables | number | " + " | ".join(KINDS) + " |", "|---|---:|" + "---:|" * len(KINDS)]
    for name, part in cells(frame):
        shown = []
        for kind in KINDS:
            misses = (~part[kind]).sum()
            above = part[f"{kind} above"].sum() / max(misses, 1)
            shown.append(f"{100 * part[kind].mean():.1f} % ({100 * above:.0f} %)")
        lines.append(f"| {name} | {len(part)} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def figure(frame):
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    shown = [
        (n, p) for n, p in cells(frame) if n.split()[0] in ("all", "theta", "alpha", "fraction")
    ]
    with rc_context({"font.size": 9, "svg.hashsalt": "reidbn"}):
        drawn = Figure(figsize=(7.2, 5.2), layout="constrained")
        axes = drawn.subplots(1, 2, sharey=True)
        for ax, kind, title in zip(
            axes, ("uniques", "profile"),
            ("prediction: uniques there are", "confidence: expected uniques"), strict=True,
        ):  # fmt: skip
            ax.axvspan(92, 98, color="#0072B2", alpha=0.12, lw=0)
            ax.axvline(95, color="#777777", lw=1, ls="--")
            for row, (_, part) in enumerate(reversed(shown)):
                hits = int(part[kind].sum())
                low, high = (100 * x for x in interval(hits, len(part)))
                ax.plot([low, high], [row, row], color="#0072B2", lw=1.5)
                ax.plot([100 * hits / len(part)], [row], "o", color="#D55E00", ms=4)
            ax.set(xlim=(80, 100), xlabel="covered, %")
            ax.set_title(title, loc="left", fontsize=10)
            ax.spines[["top", "right"]].set_visible(False)
        axes[0].set_yticks(range(len(shown)), [f"{n} ({len(p)})" for n, p in reversed(shown)])
        drawn.suptitle(
            f"{len(frame):,} simulated tables; band 92-98 %; bars: 95 % Clopper-Pearson",
            fontsize=9, x=0.01, ha="left",
        )  # fmt: skip
    return drawn


def main():
    frame = pd.DataFrame([one(seed) for seed in range(TABLES)])
    text = table(frame)
    print(text)
    if "--keep" in sys.argv:
        head = f"# Coverage of the population intervals\n\n{__doc__.strip()}\n\n"
        end = "\n\n![Coverage by parameter](coverage.svg)\n"
        (RESULTS / "coverage.md").write_text(head + text + end, encoding="utf-8")
        figure(frame).savefig(RESULTS / "coverage.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
