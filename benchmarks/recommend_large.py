"""Recommend for as many people as a country has: 1,583,020 rows made up, eight columns, k = 5."""

import resource
import time
from pathlib import Path

import numpy as np

import reidbn as rb

RESULTS = Path(__file__).parent / "results" / "recommend_large.md"
PEOPLE = 1_583_020
VALUES = {"state": 50, "race": 6, "education": 16, "marital": 7, "occupation": 12, "work": 9}


def made_up():
    """Ages and sexes alike common, the other columns with a few common and many rare values."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 90, PEOPLE), rng.integers(0, 2, PEOPLE)]
    for values in VALUES.values():
        p = 1 / np.arange(1, values + 1)
        columns.append(rng.choice(values, PEOPLE, p=p / p.sum()))
    return rb.People.from_codes(
        np.stack(columns, axis=1), ["age", "sex", *VALUES], labels={"age": list(range(90))}
    )


def main():
    people = made_up()
    start = time.process_time()
    plan = rb.recommend(
        people, target="k=5", suppress_at_most=0.02, hierarchies={"age": "bands:5,10,20"}
    )
    took, proof = time.process_time() - start, plan.certificate
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert proof.is_proved
    assert plan.apply().k() >= 5
    RESULTS.write_text(
        "# The least change for 1,583,020 people\n\n"
        "Made by `python -m benchmarks recommend_large`: a made-up table, eight columns, k = 5, up "
        "to 2 % left out.\n\n"
        "| ways counted | CPU s | most memory | left out | loss |\n|---|---|---|---|---|\n"
        f"| {proof.counted:,} of {proof.nodes:,} ({proof.counted / proof.nodes:.1%}) | {took:.1f} "
        f"| {most:,.0f} MB | {plan.best.suppressed:,} | {plan.best.loss:.4f} |\n"
    )


if __name__ == "__main__":
    main()
