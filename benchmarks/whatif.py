"""What-if answers: one contraction and exact parts, against asking again and sampling.

    python -m benchmarks.whatif

1,000 subjects, b = 4 groups.  The peers answer the same question with the same engine: a loop of
`ask` over the 81 settings, a loop of `ask` over the tornado's ends, and pick-freeze sampling of Sobol's
indices (the engine evaluated at the draws), whose error after N draws is stated.  CPU seconds, best
of three.
"""

import itertools
import sys
from pathlib import Path

import numpy as np

import reidbn as rb
from reidbn.inference import make_case

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from attacks import SETTINGS, routes, routes_subjects

from benchmarks import best

RISK = "reidentified=yes"
GRID = {name: [0.2, 0.5, 0.8] for name in SETTINGS}
DRAWS = 4096


def loop_over_settings(attack, subjects):
    rows = itertools.product(*GRID.values())
    return [
        float(rb.ask(attack, RISK, subject=subjects, set=dict(zip(GRID, row, strict=True)))
              .probability.mean())
        for row in rows
    ]  # fmt: skip


def loop_over_ends(attack, subjects):
    return {
        name: [float(rb.ask(attack, RISK, subject=subjects, set={name: end}).probability.mean())
               for end in (0.0, 1.0)]
        for name in SETTINGS
    }  # fmt: skip


def pick_freeze(attack, subjects):
    """First-order indices from DRAWS pairs of draws: (2 + 4) x DRAWS settings."""
    case = make_case(attack, RISK, subject=subjects)
    rng = np.random.default_rng(20250601)
    a, b = ({n: rng.random(DRAWS) for n in SETTINGS} for _ in range(2))
    ya, yb = (case.answers(x).mean(axis=0) for x in (a, b))
    both = np.concatenate([ya, yb])
    middle, variance = both.mean(), both.var()  # centred: without that the error is larger
    mixed = {n: case.answers({**a, n: b[n]}).mean(axis=0) for n in SETTINGS}
    return {n: float(np.mean((yb - middle) * (mixed[n] - ya)) / variance) for n in SETTINGS}


def main():
    attack = routes(4)
    subjects = routes_subjects(1000, 4, np.random.default_rng(20250602))
    sweep, table = best(lambda: rb.sweep(attack, RISK, GRID, subject=subjects))
    asked, means = best(lambda: loop_over_settings(attack, subjects))
    assert np.abs(table["mean"] - means).max() < 1e-14
    tornado, bars = best(lambda: rb.tornado(attack, RISK, subject=subjects, threshold=0.3))
    ends, pairs = best(lambda: loop_over_ends(attack, subjects))
    assert all(abs(bars[n].at_high - pairs[n][1]) < 1e-14 for n in SETTINGS)
    exact, indices = best(lambda: rb.sobol(attack, RISK, subject=subjects))
    sampled, guesses = best(lambda: pick_freeze(attack, subjects), times=1)
    off = max(abs(guesses[n] - indices[n].first) for n in SETTINGS)
    rows = [
        ("81 settings", sweep, "ask, setting by setting", asked, "the same to 1e-14"),
        ("tornado with crossings", tornado, "ask at both ends only", ends, "the same to 1e-14"),
        ("Sobol, all 15 parts", exact, f"pick-freeze, {DRAWS:,} draws, first order", sampled,
         f"sampling is off by up to {off:.3f}"),
    ]  # fmt: skip
    print("| what | CPU s | peer | CPU s | ratio | answers |")
    print("|---|---|---|---|---|---|")
    for what, ours, peer, theirs, note in rows:
        print(f"| {what} | {ours:.4f} | {peer} | {theirs:.4f} | {theirs / ours:.0f} x | {note} |")


if __name__ == "__main__":
    main()
