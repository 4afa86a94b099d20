"""What solve, tornado and sobol say is true: multiple roots, tiny targets, peaks between values.

Oracle: attacks of d tied coins whose answer is a polynomial written down beforehand,

    t + c prod (p - r)^m  =  sum_k b_k C(d, k) p^k (1 - p)^(d - k),    b_k = P(yes | k heads)

so that every root, its multiplicity and every sign are known in rationals; and brute force over
whole numbers.
"""

import re
from fractions import Fraction
from itertools import pairwise, product
from math import comb, prod

import numpy as np
import pytest
from inside import inside

import reidbn as rb
from reidbn.attack import Attack, Node, Parameter, SubjectColumn
from reidbn.cpds import And, Function, OneOver, Probability, Row, Rows
from reidbn.theory import common, real_roots, simplest, square_free
from reidbn.whatif import level

YES_NO = ("no", "yes")
F = Fraction


def tied(count, answer, parents, *, low=0.0, high=1.0):
    """`count` coins of chance p, and the node that answers."""
    p = Parameter("p", (low + high) / 2, low=low, high=high, source="made up")
    coins = [Node(f"c{i}", YES_NO, Probability("$p")) for i in range(count)]
    return Attack("tied", parameters=[p], nodes=[*coins, Node("r", YES_NO, answer, parents,
                                                              source="made up")])  # fmt: skip


def all_of(count, **span):
    return tied(count, And(), tuple(f"c{i}" for i in range(count)), **span)


def parity(count):
    """A chain of exclusive ors: (1 - (1 - 2p)^count) / 2, which is 1/2 only at 1/2."""
    p = Parameter("p", 0.5, source="made up")
    nodes = [Node(f"c{i}", YES_NO, Probability("$p")) for i in range(count)]
    before = "c0"
    for i in range(1, count):
        coin, name = f"c{i}", f"x{i}" if i + 1 < count else "r"
        same = [Row((1.0, 0.0), {before: s, coin: s}) for s in YES_NO]
        rows = Rows((*same, Row((0.0, 1.0))))
        nodes.append(Node(name, YES_NO, rows, (before, coin), source="made up"))
        before = name
    return Attack("parity", parameters=[p], nodes=nodes)


def bernstein(degree, factors, target, size):
    """B_k of t + c prod (p - r)^m, c as large as keeps every b_k within size of t."""
    coefs = [F(1)]
    for r, m in factors:
        for _ in range(m):
            low, high = [F(0), *coefs], [*coefs, F(0)]
            coefs = [a - r * b for a, b in zip(low, high, strict=True)]
    coefs += [F(0)] * (degree + 1 - len(coefs))
    b = [sum(F(comb(k, i), comb(degree, i)) * coefs[i] for i in range(k + 1))
         for k in range(degree + 1)]  # fmt: skip
    scale = size / max(abs(x) for x in b)
    scale = F(2) ** (scale.numerator.bit_length() - scale.denominator.bit_length() - 1)
    return [target + scale * x for x in b], scale


def coin_count(b):
    """The attack in which r is yes with chance b_k when k of the coins are heads."""
    degree = len(b) - 1
    parents = tuple(f"c{i}" for i in range(degree))
    rows = [
        Row(("rest", float(b[case.count("yes")])), dict(zip(parents, case, strict=True)))
        for case in product(YES_NO, repeat=degree)
    ]
    return tied(degree, Rows(tuple(rows)), parents)


def random_polynomial(rng):
    """Roots with multiplicities, inside, at the ends and outside; their answer; its signs."""
    degree = int(rng.integers(2, 6))
    choices = [F(0), F(1), F(1, 2), F(1, 4), F(3, 8), F(3, 2), F(-1, 2), F(1, 3), F(2, 3)]
    factors, left = [], degree
    while left and rng.random() < 0.9:
        r, m = choices[rng.integers(len(choices))], int(rng.integers(1, left + 1))
        factors.append((r, m))
        left -= m
    sign = F(1) if rng.random() < 0.5 else F(-1)
    target = F(1, 4) if rng.random() < 0.7 else F(1, 2)
    b, scale = bernstein(degree, factors or [(F(3, 2), 1)], F(0), F(1, 4))
    b, scale = [target + sign * x for x in b], sign * scale

    def gap(x):
        return scale * prod((x - r) ** m for r, m in (factors or [(F(3, 2), 1)]))

    return b, float(target), gap, sorted({r for r, _ in factors if 0 <= r <= 1})


def truth(gap, roots):
    """The status, from the signs between the roots."""
    cuts = sorted({F(0), *roots, F(1)})
    signs = [gap((a + b) / 2) for a, b in pairwise(cuts)]
    if all(s <= 0 for s in signs):
        return "always at or under"
    if any(s < 0 for s in signs):
        return "crosses"
    return "touches" if roots else "always above"


def check_intervals(found, gap):
    """No interval says what is false; what is not decided says so."""
    places = {F(i, 60) for i in range(61)} | {F(x) for pair in found.under for x in pair}
    for x in places:
        inside = any(a <= x <= b for a, b in found.under)
        is_open = any(a <= x <= b for a, b in found.undecided)
        if abs(gap(x)) > F(1, 10**9) and not is_open:
            assert inside == (gap(x) < 0)


@pytest.mark.parametrize("seed", range(60))
def test_every_root_of_a_random_polynomial_is_found_and_none_made_up(seed):
    b, target, gap, roots = random_polynomial(np.random.default_rng(20250401 + seed))
    found = rb.solve(coin_count(b), "r=yes", "p", target)
    assert found.status == truth(gap, roots)
    assert found.values == pytest.approx([float(r) for r in roots], abs=1e-12)
    assert (found.undecided, found.is_proven) == ((), True)
    check_intervals(found, gap)


@pytest.mark.parametrize("seed", range(60))
def test_without_whole_numbers_what_is_not_proven_is_undecided(seed, monkeypatch):
    monkeypatch.setattr(inside(level), "rational_parts", lambda case, name: None)
    b, target, gap, roots = random_polynomial(np.random.default_rng(20250401 + seed))
    found = rb.solve(coin_count(b), "r=yes", "p", target)
    assert found.status in (truth(gap, roots), "undecided")
    check_intervals(found, gap)
    for r in roots:
        near = [x for x in found.values if abs(x - r) < 1e-6]
        assert near or any(a <= r <= b for a, b in found.undecided)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60, 600))
def test_every_root_of_hundreds_of_polynomials_is_found(seed, monkeypatch):
    test_every_root_of_a_random_polynomial_is_found_and_none_made_up(seed)
    test_without_whole_numbers_what_is_not_proven_is_undecided(seed, monkeypatch)


# -- the three models by name --------------------------------------------------------------------


def test_three_coins_are_never_all_heads_where_the_chance_is_nought():
    found = rb.solve(all_of(3), "r=yes", "p", 0.0)
    assert (found.status, found.values, found.under) == ("touches", (0.0,), ((0.0, 0.0),))
    assert "at or under it for p from 0 to 1: 0 to 0" in str(found)


def test_the_parity_of_seven_coins_is_even_odds_only_at_one_half():
    found = rb.solve(parity(7), "r=yes", "p", 0.5)
    assert (found.values, found.undecided) == ((0.5,), ())
    assert found.under == ((0.0, 0.5),)
    bar = rb.tornado(parity(7), "r=yes", threshold=0.5)["p"]
    assert bar.crossings == (0.5,)


def test_a_root_of_multiplicity_nineteen_is_undecided_with_its_width():
    """Beyond what is multiplied out in whole numbers: the crossing lies in the interval named."""
    found = rb.solve(parity(19), "r=yes", "p", 0.5)
    [(low, high)] = found.undecided
    assert low < 0.5 < high
    assert 0.01 < high - low < 0.3
    assert abs((1 - 2 * low) ** 19) < 1e-11
    assert found.status == "crosses"
    assert found.under[-1][1] <= low
    said = re.search(r"crosses 0.5 somewhere from (\S+) to (\S+) \[", str(found))
    assert float(said[1]) < 0.5 < float(said[2])
    assert "where it is within rounding of 0.5" in str(found)
    told = rb.tornado(parity(19), "r=yes", threshold=0.5).sentences()
    assert re.fullmatch(r"the answer crosses 0.5 at p = 0.[34]\d* to 0.[56]\d*", told[0])


@pytest.mark.parametrize("target", [1e-18, 8e-18, 1e-15, 2.7e-14, 1e-12])
@pytest.mark.parametrize("whole", [True, False])
def test_tiny_targets_over_a_tiny_range_are_met_where_the_cube_root_is(target, whole, monkeypatch):
    if not whole:
        monkeypatch.setattr(inside(level), "rational_parts", lambda case, name: None)
    found = rb.solve(all_of(3, low=1e-6, high=1e-4), "r=yes", "p", target)
    within = 1.0001e-6 < target ** (1 / 3) < 0.9999e-4
    if within:
        assert found.values == pytest.approx((target ** (1 / 3),), rel=1e-7)
        assert found.status == "crosses"
    else:
        assert found.status in ("touches", "always at or under")
    bar = rb.tornado(all_of(3, low=1e-6, high=1e-4), "r=yes")["p"]
    assert (bar.lowest, bar.highest) == pytest.approx((1e-18, 1e-12), rel=1e-9)


@pytest.mark.parametrize("target", [0.0, 1e-18, 1e-15])
def test_tiny_targets_are_met_without_whole_numbers_on_the_whole_range(target, monkeypatch):
    """The interval that is left open is read again by itself, where its answers are not lost."""
    monkeypatch.setattr(inside(level), "rational_parts", lambda case, name: None)
    found = rb.solve(all_of(3), "r=yes", "p", target)
    assert found.largest == pytest.approx(target ** (1 / 3), abs=1e-9)
    assert found.largest**3 <= target * (1 + 1e-6)


# -- whole numbers -------------------------------------------------------------------------------


def one_over(high, value=5000):
    n = Parameter("n", value, low=0, high=high, unit="records", source="made up")
    return Attack("one-over", parameters=[n], nodes=[Node("hit", YES_NO, OneOver("$n"))])


def test_a_narrow_peak_of_a_count_is_not_always_under_the_target():
    found = rb.solve(one_over(100_000), "hit=yes", "n", 0.2)
    assert found.status == "crosses"
    assert found.under == ((0, 0), (5, 100_000))
    assert (found.is_proven, found.looked_at) == (True, 100_001)
    assert rb.tornado(one_over(100_000), "hit=yes", threshold=0.2)["n"].crossings == (0, 5)


def test_a_range_too_wide_to_look_at_whole_says_how_many_values_were_looked_at():
    found = rb.solve(one_over(10**9), "hit=yes", "n", 0.2)
    assert found.under == ((0, 0), (5, 10**9))
    assert not found.is_proven
    assert f"as far as the {found.looked_at:,} values looked at show" in str(found)
    under = rb.solve(one_over(10**9), "hit=yes", "n", 1.0)
    assert under.status == "at or under at all values looked at"
    assert f"at or under 1 at all {under.looked_at:,} values looked at" in str(under)
    assert "always" not in str(under)
    bar = rb.tornado(one_over(10**9), "hit=yes", threshold=0.2)["n"]
    assert (bar.is_proven, bar.highest_at) == (False, 1)
    assert bar.method == f"scan of {found.looked_at:,} values"


def spike(n):
    return np.where(n == 77_777, 0.9, 0.1)


def test_one_value_among_a_hundred_thousand_is_seen():
    n = Parameter("n", 5, low=0, high=100_000, unit="records", source="made up")
    a = Attack("spike", parameters=[n], nodes=[Node("hit", YES_NO, Function.of(spike))])
    found = rb.solve(a, "hit=yes", "n", 0.5)
    assert found.under == ((0, 77_776), (77_778, 100_000))
    bar = rb.tornado(a, "hit=yes")["n"]
    assert (bar.highest, bar.highest_at) == (0.9, 77_777)
    told = rb.sobol(a, "hit=yes")
    p = 1 / 100_001
    assert told.mean == pytest.approx(0.1 + 0.8 * p, rel=1e-9)
    assert told.sd == pytest.approx(0.8 * np.sqrt(p * (1 - p)), rel=1e-3)


@pytest.mark.parametrize("high", [40, 1_000, 100_000, 300_000])
def test_sobol_of_a_count_knows_its_mean_and_spread_within_the_error_it_states(high):
    n = np.arange(1, high + 1)
    values = np.append(0.0, 1 / n)
    told = rb.sobol(one_over(high, 7), "hit=yes")
    assert abs(told.mean - values.mean()) <= max(told.error * told.sd, 1e-12)
    assert told.sd == pytest.approx(values.std(), rel=max(2 * told.error, 1e-9))
    assert told.error < 1e-3
    assert (told.notes == ()) == (high <= 100_000)


def test_sobol_says_which_counts_it_did_not_look_at_whole():
    told = rb.sobol(one_over(10**9), "hit=yes")
    assert re.search(r"n: [\d,]+ of its 1,000,000,001 values were looked at", str(told))
    assert str(rb.uncertainty(one_over(10**9), "hit=yes", draws=100)).endswith("interpolated")


def two(p, n):
    return np.where(n >= 1, p / np.maximum(n, 1), 0.0)


def test_shares_of_a_chance_and_a_count_together_are_those_of_the_product():
    """R = p f(n) with p uniform: variances multiply out by hand."""
    n = Parameter("n", 7, low=0, high=50_000, unit="records", source="made up")
    p = Parameter("p", 0.5, source="made up")
    a = Attack("two", parameters=[p, n], nodes=[Node("hit", YES_NO, Function.of(two))])
    f = np.append(0.0, 1 / np.arange(1, 50_001))
    mean, second = f.mean(), (f**2).mean()
    total = second / 3 - (mean / 2) ** 2
    told = rb.sobol(a, "hit=yes")
    assert told.mean == pytest.approx(mean / 2, rel=1e-4)
    assert told.sd == pytest.approx(np.sqrt(total), rel=1e-4)
    assert told["n"].first == pytest.approx((second - mean**2) / 4 / total, rel=1e-4)
    assert told["p"].first == pytest.approx(mean**2 / 12 / total, rel=1e-3)


# -- many subjects, formulas, words --------------------------------------------------------------


def test_a_quantile_over_people_is_always_only_where_every_curve_rises():
    from attacks import routes, routes_subjects

    subject = routes_subjects(40, 3, np.random.default_rng(20250402))
    found = rb.solve(routes(3), "reidentified=yes", "p_c", 0.999, subject=subject, statistic="q95")
    assert (found.status, found.is_proven) == ("always at or under", True)
    rows = Rows((Row(("rest", "@height"), {"c0": "yes", "c1": "no"}), Row((1.0, 0.0))))
    coins = [Node(f"c{i}", YES_NO, Probability("$p")) for i in range(2)]
    bump = Attack(
        "bump", parameters=[Parameter("p", 0.5, source="made up")],
        nodes=[*coins, Node("r", YES_NO, rows, ("c0", "c1"), source="made up")],
        subject=[SubjectColumn("height", low=0, high=1)],
    )  # fmt: skip
    found = rb.solve(bump, "r=yes", "p", 0.3, subject={"height": [0.5, 0.7]}, statistic="max")
    assert found.status == "at or under at all values looked at"


def needle(x):
    return 0.2 + 0.6 * np.exp(-(((x - 0.345678) * 3e4) ** 2))


def test_a_formula_is_always_under_nothing_that_was_only_looked_at():
    x = Parameter("x", 0.5, low=0.0, high=1.0, unit="years", source="made up")
    a = Attack("needle", parameters=[x], nodes=[Node("hit", YES_NO, Function.of(needle))])
    found = rb.solve(a, "hit=yes", "x", 0.5)
    assert "always" not in str(found)
    assert not found.is_proven


def test_uncertainty_says_which_priors_were_filled_in():
    told = rb.uncertainty("leak-single", "risk", over={"class_size": None}, draws=50)
    assert told.filled_in == ("class_size",)
    assert "no prior given, so filled in: class_size uniform 1 to 20" in str(told)
    given = rb.uncertainty("adversary-routes", "risk", draws=50)
    assert given.filled_in == ()
    assert "filled in" not in str(given)


# -- the algebra ---------------------------------------------------------------------------------


def test_a_polynomial_without_its_repeated_roots_has_each_of_them_once():
    cube = [-1, 3, -3, 1]
    assert square_free(cube) in ([-1, 1], [1, -1])
    assert common(cube, [1, -2, 1]) == [1, -2, 1]
    roots = real_roots([0, 0, 0, -1, 3], F(0), F(1))
    assert roots == [(F(0), F(0)), (F(1, 3), F(1, 3))]


@pytest.mark.parametrize(("low", "high", "best"), [
    (F(1, 3), F(1, 3), F(1, 3)), (F(-34, 100), F(-33, 100), F(-1, 3)), (F(-1, 2), F(1, 2), F(0)),
    (F(29, 10), F(31, 10), F(3)), (F(0), F(1, 7), F(0)),
])  # fmt: skip
def test_the_simplest_fraction_of_an_interval(low, high, best):
    assert simplest(low, high) == best


@pytest.mark.parametrize(
    ("target", "status"), [(0.01, "always at or under"), (1e-4, "always above")]
)
def test_a_range_that_a_condition_leaves_one_value_of_can_be_solved(
    target: float, status: str
) -> None:
    """P(yes) = p1^2 p0 at p1 <= p0 = p1's least value: a range of one point, not a crash."""
    attack = rb.loads(
        """
schema_version: 1
name: tied
title: Tied
story: Two coins of one kind, and one of another
parameters:
  p0: {value: 0.1, range: [0.1, 0.9], source: assumption, story: one}
  p1: {value: 0.1, range: [0.1, 0.9], source: assumption, story: other}
where: ["p1 <= p0"]
nodes:
  a: {story: a, source: s, rows: [{p: {yes: $p1, no: rest}}]}
  b: {story: b, source: s, rows: [{p: {yes: $p1, no: rest}}]}
  c: {story: c, source: s, rows: [{p: {yes: $p0, no: rest}}]}
  all: {story: all, parents: [a, b, c], cpd: {kind: and}}
questions:
  risk: {target: all=yes}
"""
    )
    found = rb.solve(attack, "risk", "p1", target)
    assert found.status == status
    bars = {
        bar["parameter"]: bar
        for bar in rb.tornado(attack, threshold=target).to_frame().to_dict("records")
    }
    assert bars["p1"]["at_low"] == bars["p1"]["at_high"] == pytest.approx(0.001)
