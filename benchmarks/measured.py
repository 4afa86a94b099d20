"""How often the interval of a measured number holds: one study, and a new setting after several.

    python -m benchmarks.measured

Every chance is drawn from the prior that is stated, hits from it, and the central 95 % interval that a
model's parameter has is asked whether it holds the chance (of one study) or that of a setting that
nobody has studied (of several).  The spread is one standard deviation of such a simulation.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.special import polygamma

from reidbn.attack import Measured, Study, interval

ONE, SEVERAL, SEED = 20_000, 500, 20261126


def one_study(rng, trials):
    p = rng.beta(0.5, 0.5, ONE)
    hits = rng.binomial(trials, p)
    ends = {h: interval(Measured((Study(h, trials),))) for h in set(hits.tolist())}
    low, high = np.array([ends[h] for h in hits.tolist()]).T
    return ((low <= p) & (p <= high)).mean()


def settings(rng, between, count):
    """Chances of so many settings: a mean, and an sd of the log odds, from their priors."""
    mean, sd = np.clip(rng.beta(0.5, 0.5), 1e-6, 1 - 1e-6), abs(rng.normal(0, between))

    def spread(x):
        k = np.exp(x)
        return polygamma(1, mean * k) + polygamma(1, (1 - mean) * k) - sd**2

    k = np.exp(brentq(spread, -60, 80))
    return rng.beta(mean * k, (1 - mean) * k, count)


def several(rng, studies, between):
    inside = 0
    for _ in range(SEVERAL):
        *p, new = settings(rng, between, studies + 1)
        trials = rng.integers(10, 200, studies)
        found = tuple(
            Study(int(rng.binomial(t, q)), int(t)) for t, q in zip(trials, p, strict=True)
        )
        low, high = interval(Measured(found, between))
        inside += low <= new <= high
    return inside / SEVERAL


def main():
    rng = np.random.default_rng(SEED)
    print("| what | covered | spread |\n|---|---|---|")
    for trials in (5, 40, 579):
        spread = np.sqrt(0.95 * 0.05 / ONE)
        print(
            f"| one study of {trials} trials | {one_study(rng, trials):.2%} | {spread:.2%} |",
            flush=True,
        )
    for studies, between in ((3, 0.1), (3, 0.2), (3, 0.4), (3, 0.5), (3, 1.0)):
        found, spread = (
            several(np.random.default_rng([SEED, round(10 * between)]), studies, between),
            np.sqrt(0.95 * 0.05 / SEVERAL),
        )
        print(
            f"| a new setting after {studies} studies, `between` {between} | {found:.1%} | {spread:.1%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
