"""Bands of decimals hold what they say, and proposed levels nest."""

import itertools
import random
from fractions import Fraction
from math import floor

import numpy as np
import pytest

import reidbn as rb
from reidbn.microdata import interval, plain_number


def band(value, width, start):
    """The ends of the band that a fraction is in."""
    low = start + floor((value - start) / width) * width
    return low, low + width


def test_the_band_of_a_decimal_by_fractions():
    """0.3 was in [0.2, 0.30000000000000004), and 0.6 stayed as it is."""
    draw = random.Random(16)  # noqa: S311 - no secret
    for _ in range(3_000):
        digits = draw.randint(0, 6)
        width = Fraction(draw.randint(1, 30), 10**digits)
        start = Fraction(draw.randint(-20, 20), 10**digits)
        value = Fraction(draw.randint(-500, 500), 10 ** draw.randint(0, 6))
        low, high = band(value, width, start)
        said = rb.Bands(float(width), start=float(start)).up(float(value), 1)
        if low.denominator == high.denominator == value.denominator == 1:
            assert interval(said) == (float(low), float(high - 1))
        else:
            assert said == f"[{plain_number(float(low))}, {plain_number(float(high))})"


def test_bands_of_decimals_nest_where_their_widths_do():
    tenths = [x / 10 for x in range(-12, 40)]
    ladder = rb.Bands(0.1, 0.3, 0.6, 1.2)
    for level, fine in ((1, 0.1), (2, 0.3), (3, 0.6)):
        groups = {}
        for value in tenths:
            groups.setdefault(ladder.up(value, level), set()).add(ladder.up(value, level + 1))
        assert all(len(above) == 1 for above in groups.values())
        assert len(groups) == len({floor(Fraction(str(v)) / Fraction(str(fine))) for v in tenths})
    with pytest.raises(rb.UsageError, match=r"bands of 0\.5 do not hold whole bands of 0\.2"):
        rb.Bands(0.2, 0.5)


def test_tenths_fall_into_their_own_bands_in_a_table():
    people = rb.read_table({"x": [i / 10 for i in range(12)] * 5}, quasi_identifiers=["x"])
    coarse = people.generalise({"x": 1}, hierarchies={"x": rb.Bands(0.2)})
    assert len({*coarse.labels("x")}) == 6
    assert {*coarse.class_sizes()} == {10}
    assert rb.microdata.Bands(0.5).overlaps(["[0, 0.5)", "[0.5, 1)"])(0).tolist() == [0]


KINDS = {
    "amounts": lambda rng, n: np.round(rng.lognormal(3, 3, n), 2).tolist(),
    "powers": lambda rng, n: (10.0 ** rng.integers(-9, 9, n)).tolist(),
    "small": lambda rng, n: (rng.random(n) * 1e-5).tolist(),
    "near": lambda rng, n: (1e6 + np.round(rng.random(n), 4) * 1e-2).tolist(),
    "below": lambda rng, n: rng.integers(-50, 50, n).tolist(),
    "first of the month": lambda rng, n: [f"{y}-{m:02}-01" for y, m in zip(
        rng.integers(1950, 2010, n), rng.integers(1, 13, n), strict=True)],
    "words": lambda rng, n: rng.choice([f"w{i}" for i in range(9)], n).tolist(),
    "open": lambda rng, n: ["90+" if x >= 90 else str(x) for x in rng.integers(20, 100, n)],
}  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", KINDS)
def test_every_proposed_level_is_of_whole_groups_of_the_last_whatever_the_order_of_rows(kind, seed):
    rng = np.random.default_rng([17, seed])
    values = KINDS[kind](rng, int(rng.integers(20, 150)))
    named = {"quasi_identifiers": ["v"], "allow_direct": True}
    people = rb.read_table({"v": values}, **named)
    ladder = rb.microdata.propose_hierarchies(people).get("v")
    mixed = rb.read_table({"v": [values[i] for i in rng.permutation(len(values))]}, **named)
    assert rb.microdata.propose_hierarchies(mixed).get("v") == ladder
    if ladder is None:
        assert kind == "words"
        return
    labels = people.labels("v").tolist()
    levels = [ladder.all_up(labels, level) for level in range(ladder.levels + 1)]
    sizes = [len({*map(str, level)}) for level in levels]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes.count(1) == 1
    for fine, coarse in itertools.pairwise(levels):
        assert len({*zip(map(str, fine), coarse, strict=True)}) == len({*map(str, fine)})
    if kind not in ("first of the month", "words"):
        for level in levels[1:-1]:
            ends = sorted({interval(label) for label in level})
            assert all(a[1] < b[0] for a, b in itertools.pairwise(ends))
            for value, label in zip(labels, level, strict=True):
                (low, high), (first, last) = interval(value), interval(label)
                assert first <= low <= high <= last


def test_a_proposal_with_fewer_levels_keeps_its_open_end():
    """Levels of 90+ lost it where the widest band left one value."""
    values = [str(x) for x in range(62, 79)] + ["79+"]
    people = rb.read_table({"v": values * 3}, quasi_identifiers=["v"])
    ladder = rb.microdata.propose_hierarchies(people)["v"]
    for level in range(1, ladder.levels):
        assert ladder.up("79+", level) == "79+"
        assert "79" not in ladder.up("78", level).split("-")


@pytest.mark.parametrize("by", ["quantiles", "width"])
def test_of_a_column_with_fractions_no_part_ends_at_a_value(by):
    """Where whole numbers are neighbours the upper one parts them, in columns of whole numbers."""
    rng = np.random.default_rng(5)
    values = [*np.round(rng.normal(0, 3, 60) * 2) / 2, 11.0, 12.0]
    people = rb.read_table({"v": values * 2}, quasi_identifiers=["v"])
    ladder = rb.microdata.in_parts(people, "v", [20, 10, 5], by=by)
    had = {float(v) for v in people.labels("v")}
    for level in (1, 2, 3):
        for label in {*ladder.all_up(people.labels("v").tolist(), level)}:
            low, high = interval(label)
            ends = {low, np.nextafter(high, np.inf)}
            assert not ends & had, label
