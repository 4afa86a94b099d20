"""Ranges, tolerances and bands of decimals hold what they say, against fractions."""

from fractions import Fraction

import numpy as np
import pytest

import reidbn as rb


def tenths(rng, n):
    digits = int(rng.integers(1, 4))
    return [f"{int(v)}e-{digits}" for v in rng.integers(-40, 400, n)], digits


@pytest.mark.parametrize("seed", range(12))
def test_ranges_tolerances_and_near_guesses_are_in_the_numbers_that_are_written(seed):
    """Peers of everybody, counted from the texts."""
    rng = np.random.default_rng((seed, 7))
    n = 60
    texts, digits = tenths(rng, n)
    width = Fraction(int(rng.integers(1, 30)), 10**digits)
    table = {"town": rng.integers(0, 4, n), "dose": [float(t) for t in texts]}
    by_dose = rb.read_table({**table, "sick": rng.integers(0, 2, n)}, quasi_identifiers=["dose"],
                            sensitive=["sick"])  # fmt: skip
    by_town = rb.read_table(table, quasi_identifiers=["town"], sensitive=["dose"])
    ranges = rb.disclosure(by_dose, "sick", ranges={"dose": float(width)})
    tolerance = rb.disclosure(by_dose, "sick", tolerance={"dose": float(width)})
    within = rb.disclosure(by_town, "dose", within=float(width))
    own, town = [Fraction(t) for t in texts], table["town"]
    for i in range(n):
        close = [abs(x - own[i]) <= width for x in own]
        assert ranges.peers_full[i] == sum(x // width == own[i] // width for x in own)
        assert tolerance.peers_full[i] == sum(close)
        nearby = sum(c and t == town[i] for c, t in zip(close, town, strict=True))
        assert within.peers_full[i] - within.npp_full[i] == nearby


def test_records_within_a_tolerance_are_those_that_are_so_far_apart_as_written():
    ours = rb.read_table({"dose": [0.6, 0.1, 1.1]}, quasi_identifiers=["dose"])
    theirs = rb.read_table({"dose": [0.8, 0.3, 0.9, 0.4]}, quasi_identifiers=["dose"])
    found = rb.candidates(ours, theirs, match={"dose": 0.2})
    near = [[abs(a - b) <= 2 for b in (8, 3, 9, 4)] for a in (6, 1, 11)]
    assert found.people["candidates"].tolist() == [sum(row) for row in near]
