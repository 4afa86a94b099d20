"""Priors in, variance and its parts out: quadrature against integrals in rationals, the closed form
of [Xia21], brute force over whole numbers, and pick-freeze sampling."""

import itertools
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from attacks import SETTINGS, closed_form, routes, routes_subjects
from hypothesis import HealthCheck, given, settings
from polynomials import YES_NO, Oracle, tied_attacks
from scipy import integrate, stats
from test_sensitivity import formula_attack, jumps, leak_risk, shared_row, tied_three, waits

from reidbn.attack import Attack, Node, Parameter, Prior
from reidbn.cpds import Probability, Row, Rows
from reidbn.errors import TooLarge, UsageError
from reidbn.inference import make_case
from reidbn.whatif import (
    Grid,
    decompose,
    estimated_quantile,
    lagrange,
    measure,
    prior_text,
    share_above,
    sobol,
    subject_uncertainty,
    uncertainty,
    with_ranges,
)

QUICK = settings(
    max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
PRIORS = {
    "p_m": Prior("beta", a=2, b=3),
    "p_fm": Prior("triangular", mode=0.2),
    "p_cu": Prior("uniform"),
    "p_c": Prior("beta", a=0.5, b=0.5),
}
MEANS = {"p_m": 2 / 5, "p_fm": 1.2 / 3, "p_cu": 1 / 2, "p_c": 1 / 2}
VARIANCES = {"p_m": 6 / 150, "p_fm": (1 + 0.04 - 0.2) / 18, "p_cu": 1 / 12, "p_c": 1 / 8}


def grid(case, over, priors=None):
    return Grid(case, with_ranges(case, over, priors))


# -- quadrature ----------------------------------------------------------------------------


def beta_moment(a, b, k):
    out = Fraction(1)
    for i in range(k):
        out *= (Fraction(a) + i) / (Fraction(a) + Fraction(b) + i)
    return out


def tent_moment(mode, k):
    """The k-th moment of the triangular law on 0..1, piece by piece."""
    c = Fraction(mode)

    def falling(x):
        return x ** (k + 1) / (k + 1) - x ** (k + 2) / (k + 2)

    rising = 2 * c ** (k + 1) / (k + 2)
    return rising + (2 * (falling(Fraction(1)) - falling(c)) / (1 - c) if c < 1 else 0)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 24])
@pytest.mark.parametrize(
    ("prior", "moment"),
    [
        (Prior("uniform"), lambda k: Fraction(1, k + 1)),
        (Prior("beta", a=2, b=3), lambda k: beta_moment(2, 3, k)),
        (Prior("beta", a=0.5, b=0.5), lambda k: beta_moment(Fraction(1, 2), Fraction(1, 2), k)),
        (Prior("triangular", mode=0.25), lambda k: tent_moment(Fraction(1, 4), k)),
        (Prior("triangular", mode=0.0), lambda k: tent_moment(0, k)),
        (Prior("triangular", mode=1.0), lambda k: tent_moment(1, k)),
    ],
    ids=lambda x: x.kind if isinstance(x, Prior) else "",
)
def test_gauss_points_give_every_moment_that_they_promise(prior, moment, count):
    points, weights = measure(Parameter("p", 0.5, source="x"), prior).gauss(count)
    assert points.min() > 0
    assert points.max() < 1
    for k in range(2 * count):
        assert float(weights @ points**k) == pytest.approx(float(moment(k)), rel=2e-13)


def test_a_count_is_as_likely_at_every_whole_number_of_its_range():
    die = measure(Parameter("die", 3, 1, 6, unit="eyes", source="x"))
    assert die.points.tolist() == [1, 2, 3, 4, 5, 6]
    assert die.weights == pytest.approx([1 / 6] * 6, abs=1e-15)
    wide = measure(Parameter("n", 3, 0, 99_999, unit="records", source="x"))
    points, weights = wide.gauss(5)
    every = [Fraction(n) for n in range(0, 100_000, 1)]
    mean = sum(every) / 100_000
    assert float(weights @ points) == pytest.approx(float(mean), rel=1e-13)
    second = Fraction(99_999 * 199_999, 6)
    assert float(weights @ points**2) == pytest.approx(float(second), rel=1e-13)


@pytest.mark.parametrize(
    "prior",
    [Prior("uniform"), Prior("beta", a=2, b=3), Prior("beta", a=0.5, b=0.5),
     Prior("beta", a=0.7, b=4), Prior("triangular", mode=2.3)],
    ids=["uniform", "beta", "arcsine", "skew", "triangular"],
)  # fmt: skip
def test_parts_of_a_prior_have_its_probabilities_and_add_up_to_its_moments(prior):
    p = Parameter("rate", 2.5, 2.0, 5.0, unit="per year", source="x")
    whole, cuts = measure(p, prior), [2.0, 2.1, 2.3, 3.7, 4.5, 5.0]
    law = {"uniform": stats.uniform(2, 3), "triangular": stats.triang(0.1, 2, 3)}.get(
        prior.kind, stats.beta(prior.a, prior.b, 2, 3) if prior.a else None
    )
    parts = [whole.part(low, high).gauss(6) for low, high in itertools.pairwise(cuts)]
    for (low, high), (points, weights) in zip(itertools.pairwise(cuts), parts, strict=True):
        assert weights.sum() == pytest.approx(law.cdf(high) - law.cdf(low), rel=1e-10)
        assert low < points.min() < points.max() < high
    full_points, full_weights = whole.gauss(8)
    for k in range(12):
        total = sum(float(w @ x**k) for x, w in parts)
        assert total == pytest.approx(float(full_weights @ full_points**k), rel=1e-11)


def test_a_huge_count_is_taken_as_continuous():
    huge = measure(Parameter("n", 3, 0, 10**9, unit="records", source="x"))
    points, weights = huge.gauss(3)
    assert float(weights @ points) == pytest.approx(5e8, rel=1e-9)
    drawn = huge.draw(np.random.default_rng(20250401), 1000)
    assert (drawn == np.rint(drawn)).all()


@pytest.mark.parametrize("name", list(PRIORS))
def test_draws_follow_the_prior(name):
    """Kolmogorov-Smirnov on 20,000 draws; a correct sampler fails with probability 1e-6."""
    p = Parameter(name, 0.5, source="x")
    drawn = measure(p, PRIORS[name]).draw(np.random.default_rng(20250402), 20_000)
    shapes = {
        "p_m": stats.beta(2, 3),
        "p_fm": stats.triang(0.2),
        "p_cu": stats.uniform(),
        "p_c": stats.beta(0.5, 0.5),
    }
    assert stats.kstest(drawn, shapes[name].cdf).pvalue > 1e-6


def test_draws_of_counts_follow_their_weights():
    p = Parameter("k", 5, 1, 20, unit="records", source="x", prior=Prior("triangular", mode=3))
    m = measure(p)
    drawn = m.draw(np.random.default_rng(20250403), 50_000)
    counts = np.bincount(drawn.astype(int), minlength=21)[1:]
    assert stats.chisquare(counts, m.weights * 50_000).pvalue > 1e-6


def test_interpolation_takes_a_polynomial_anywhere():
    rng = np.random.default_rng(20250404)
    x, at = np.sort(rng.uniform(2, 9, 7)), rng.uniform(2, 9, 20)
    coefs = rng.normal(size=7)
    at[3] = x[2]
    found = lagrange(x, at) @ np.polyval(coefs, x)
    assert found == pytest.approx(np.polyval(coefs, at), rel=1e-9)
    assert found[3] == np.polyval(coefs, x)[2]


def test_the_parts_of_a_random_table_are_those_of_conditional_means():
    """V_S by its definition: means over all other axes, lower parts taken away."""
    rng = np.random.default_rng(20250405)
    shape = (2, 3, 4)
    values, weights = rng.normal(size=shape), [rng.dirichlet(np.ones(n)) for n in shape]
    mean, parts = decompose(values, weights)
    full = np.einsum("i,j,k->ijk", *weights)
    terms = {(): np.full(shape, (values * full).sum())}
    for size in (1, 2, 3):
        for kept in combinations(range(3), size):
            conditional = values
            for axis in range(3):
                if axis not in kept:
                    conditional = np.average(conditional, axis=axis, weights=weights[axis],
                                             keepdims=True)  # fmt: skip
            lower = sum(t for s, t in terms.items() if set(s) < set(kept))
            terms[kept] = np.broadcast_to(conditional, shape) - lower
    assert mean == pytest.approx(terms[()].flat[0], abs=1e-14)
    for kept, term in terms.items():
        index = tuple(int(a in kept) for a in range(3))
        assert parts[index] == pytest.approx((term**2 * full).sum(), abs=1e-14)


# -- exact answers -------------------------------------------------------------------------


def by_corners(subject):
    """V_S = (mixed difference of R over S, the others at their means)^2 times the variances."""
    parts = {}
    for size in range(1, 5):
        for names in combinations(SETTINGS, size):
            total = 0.0
            for corner in product((0, 1), repeat=size):
                at = {**MEANS, **dict(zip(names, map(float, corner), strict=True))}
                total += (-1) ** (size - sum(corner)) * closed_form(subject, **at).mean()
            parts[names] = total**2 * np.prod([VARIANCES[n] for n in names])
    return parts


def routes_case():
    subject = routes_subjects(9, 3, np.random.default_rng(20250406))
    return make_case(routes(3), "reidentified=yes", subject=subject), subject


def test_sobol_parts_of_the_routes_are_those_of_the_closed_form_at_its_corners():
    case, subject = routes_case()
    found = sobol(case, priors=PRIORS)
    parts = by_corners(subject)
    variance = sum(parts.values())
    assert found.method == "exact"
    assert found.error == 0
    assert found.sd**2 == pytest.approx(variance, rel=1e-12)
    for names, part in parts.items():
        assert found.interaction(*names) == pytest.approx(part / variance, abs=1e-12)
    for name in SETTINGS:
        total = sum(p for names, p in parts.items() if name in names) / variance
        assert found[name].total == pytest.approx(total, abs=1e-12)
        assert found[name].first == pytest.approx(parts[(name,)] / variance, abs=1e-12)


def test_the_mean_risk_is_the_risk_at_the_prior_means():
    case, subject = routes_case()
    found = sobol(case, priors=PRIORS)
    assert found.mean == pytest.approx(closed_form(subject, **MEANS).mean(), abs=1e-14)


def test_sobol_indices_agree_with_pick_freeze_sampling():
    """60 batches of 4,000 pairs; a right index misses six standard errors about once in 1e7."""
    case, subject = routes_case()
    found = sobol(case, priors=PRIORS)
    rng = np.random.default_rng(20250407)
    shapes = {"p_m": stats.beta(2, 3), "p_fm": stats.triang(0.2),
              "p_cu": stats.uniform(), "p_c": stats.beta(0.5, 0.5)}  # fmt: skip
    firsts, totals = [], []
    for _ in range(60):
        a, b = ({n: s.ppf(rng.random(4_000)) for n, s in shapes.items()} for _ in range(2))

        def risk(at):
            one = {k: v[:, None] for k, v in subject_moments(subject).items()}
            alpha = at["p_m"] * at["p_fm"]
            inner = (1 - alpha) * (1 - at["p_c"]) * (one["u"] - at["p_cu"] * one["j"])
            return (1 - (1 - one["u"] - at["p_c"] * (one["m"] - one["u"]) + inner)).mean(axis=0)

        ya, yb = risk(a), risk(b)
        variance = np.var(np.concatenate([ya, yb]))
        row_first, row_total = [], []
        for name in SETTINGS:
            mixed = risk({**a, name: b[name]})
            row_first.append(np.mean(yb * (mixed - ya)) / variance)
            row_total.append(np.mean((ya - mixed) ** 2) / 2 / variance)
        firsts.append(row_first)
        totals.append(row_total)
    for rows, kind in ((firsts, "first"), (totals, "total")):
        mean, error = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / np.sqrt(60)
        exact = np.array([getattr(found[n], kind) for n in SETTINGS])
        assert (np.abs(mean - exact) < 6 * error).all()


def subject_moments(subject):
    """U, J and M of every subject, from the closed form at four corners."""
    u = closed_form(subject, 1, 1, 0, 0)
    j = closed_form(subject, 0, 0, 1, 0)
    return {"u": u, "j": j, "m": closed_form(subject, 0, 0, 0, 1)}


@QUICK
@given(tied_attacks())
def test_mean_and_variance_over_a_shared_parameter_are_those_of_its_polynomial(attack):
    node = list(attack.all_nodes)[-1]
    values = {n: p.value for n, p in attack.parameters.items()}
    poly = Oracle(attack, "p", values).joint({node: "yes"})
    mean = sum(c / (i + 1) for i, c in enumerate(poly.coefs))
    second = sum(c / (i + 1) for i, c in enumerate((poly * poly).coefs))
    case = make_case(attack, {node: "yes"})
    found = grid(case, {"p": None}).spread()
    assert found.mean == pytest.approx(float(mean), abs=1e-13)
    assert found.variance == pytest.approx(float(second - mean**2), abs=1e-13)
    assert found.is_exact


def test_shared_parameters_interact_as_the_product_integral_says():
    """Two parameters, each in several tables: parts from rational polynomials on a fine grid."""
    coins = [Node(n, YES_NO, Probability(f"${p}")) for n, p in
             (("a", "p"), ("b", "p"), ("c", "q"), ("d", "q"))]  # fmt: skip
    rows = (Row(("rest", 0.9), {"a": "yes", "c": "no"}), Row(("rest", "$q"), {"b": "no"}),
            Row(("rest", 0.1), {"d": "yes"}), Row(("rest", "$p")))  # fmt: skip
    attack = Attack(
        "two",
        parameters=[Parameter("p", 0.5, source="x"), Parameter("q", 0.5, source="x")],
        nodes=[*coins, Node("r", YES_NO, Rows(rows), ("a", "b", "c", "d"), source="made up")],
    )
    t, w = np.polynomial.legendre.leggauss(9)
    x = [Fraction(float(v)) for v in (1 + t) / 2]
    table = np.array([[float(Oracle(attack, "p", {"q": q}).joint({"r": "yes"})(p)) for q in x]
                      for p in x])  # fmt: skip
    mean, parts = decompose(table, [w / 2, w / 2])
    found = grid(make_case(attack, "r=yes"), {"p": None, "q": None}).spread()
    assert found.settings == (3 + 1) * (3 + 1)
    assert found.mean == pytest.approx(mean, abs=1e-13)
    assert found.parts == pytest.approx(parts, abs=1e-13)


def test_the_mean_of_a_tied_parameter_is_not_the_answer_at_its_mean():
    rising = Prior("beta", a=4, b=1)
    found = sobol(tied_three(), "r=yes", priors={"p": rising})
    exact = Fraction(2, 5) * (1 + beta_moment(4, 1, 1) - 3 * beta_moment(4, 1, 2)
                              + 2 * beta_moment(4, 1, 3))  # fmt: skip
    assert found.mean == pytest.approx(float(exact), abs=1e-14)
    at_mean = float(make_case(tied_three(), "r=yes", set={"p": 0.8}).answers({})[0, 0])
    assert abs(found.mean - at_mean) > 0.005


# -- quadrature with a stated error ----------------------------------------------------------


def test_the_parts_of_a_ratio_are_its_integrals():
    nodes = [
        Node("sick", YES_NO, Probability("$p")),
        Node("sign", YES_NO, Rows((Row(("rest", "$s"), {"sick": "yes"}), Row(("rest", 0.1)))),
             ("sick",), source="made up"),
    ]  # fmt: skip
    attack = Attack(
        "test",
        parameters=[Parameter("p", 0.3, 0.1, 0.9, source="x"),
                    Parameter("s", 0.8, 0.5, 1.0, source="x")],
        nodes=nodes,
    )  # fmt: skip

    def ratio(s, p):
        return p * s / (p * s + (1 - p) * 0.1)

    def over_both(f):
        return integrate.dblquad(f, 0.1, 0.9, 0.5, 1.0, epsabs=1e-13, epsrel=1e-13)[0] / 0.4

    quad = {"epsabs": 1e-13, "epsrel": 1e-13}

    def by_p(p):
        return (integrate.quad(ratio, 0.5, 1, args=(p,), **quad)[0] / 0.5 - mean) ** 2

    def by_s(s):
        inner = integrate.quad(lambda p: ratio(s, p), 0.1, 0.9, **quad)[0] / 0.8
        return (inner - mean) ** 2

    mean = over_both(ratio)
    variance = over_both(lambda s, p: (ratio(s, p) - mean) ** 2)
    first_p = integrate.quad(by_p, 0.1, 0.9, **quad)[0] / 0.8
    first_s = integrate.quad(by_s, 0.5, 1.0, **quad)[0] / 0.5
    found = sobol(attack, "sick=yes", given={"sign": "yes"})
    assert found.method == "quadrature"
    assert found.error < 1e-9
    assert found.mean == pytest.approx(mean, rel=1e-10)
    assert found.sd**2 == pytest.approx(variance, rel=1e-9)
    assert found["p"].first == pytest.approx(first_p / variance, rel=1e-8)
    assert found["s"].first == pytest.approx(first_s / variance, rel=1e-8)


def test_short_lists_of_whole_numbers_are_summed_one_by_one():
    base = {"records": 30, "leaked": 10, "class_size": 3}
    over = {"leaked": (0, 20), "class_size": (1, 6)}
    case = make_case("leak-single", "risk", set=base, beyond_range=True)
    found = grid(case, over).spread()
    table = np.array([[float(leak_risk(30, x, k)) for k in range(1, 7)] for x in range(21)])
    mean, parts = decompose(table, [np.full(21, 1 / 21), np.full(6, 1 / 6)])
    assert found.is_exact
    assert found.settings == 126
    assert found.mean == pytest.approx(mean, rel=1e-12)
    assert found.parts == pytest.approx(parts, abs=1e-14)


@pytest.mark.parametrize(
    ("name", "low", "high"), [("leaked", 0, 3000), ("records", 4000, 9000), ("class_size", 1, 60)]
)
def test_long_lists_of_whole_numbers_are_interpolated_within_the_stated_error(name, low, high):
    base = {"records": 4000, "leaked": 1500, "class_size": 5}
    case = make_case("leak-single", "risk", set=base)
    g = grid(case, {name: (low, high)})
    found = g.spread()
    values = np.array([float(leak_risk(*{**base, name: n}.values())) for n in range(low, high + 1)])
    assert not found.is_exact
    assert found.settings <= 0.7 * len(values)
    assert abs(found.mean - values.mean()) <= max(10 * found.error, 1e-9) * values.std()
    assert found.sd == pytest.approx(values.std(), rel=max(10 * found.error, 1e-9))
    assert found.error < 1e-3


def test_a_smooth_formula_is_integrated_to_its_stated_error():
    found = sobol(formula_attack(waits), "seen=yes")
    mean = 1 - (1 - np.exp(-3)) / 3
    second = 1 - 2 * (1 - np.exp(-3)) / 3 + (1 - np.exp(-6)) / 6
    assert found.method == "quadrature"
    assert found.mean == pytest.approx(mean, rel=1e-9)
    assert found.sd == pytest.approx(np.sqrt(second - mean**2), rel=1e-8)
    assert found.error < 1e-6


def test_a_jump_is_closed_in_on_and_what_is_left_of_it_is_in_the_stated_error():
    found = sobol(formula_attack(jumps), "seen=yes")
    mean, sd = 0.5 * 1.75 / 3, 0.5 * np.sqrt(1.75 * 1.25) / 3
    assert abs(found.mean - mean) <= found.error * sd
    assert found.sd == pytest.approx(sd, rel=found.error)
    assert 0 < found.error < 1e-4


def test_an_answer_that_bends_at_one_end_of_a_wide_range_is_cut_into_pieces():
    case = make_case("leak-single", "risk", set={"leaked": 100, "class_size": 3})
    found = grid(case, {"records": (103, 100_000)}).spread()
    values = np.array([float(leak_risk(n, 100, 3)) for n in range(103, 100_001)])
    assert found.settings < 130
    assert found.mean == pytest.approx(values.mean(), rel=1e-7)
    assert found.sd == pytest.approx(values.std(), rel=1e-7)
    assert found.error < 1e-4


# -- the distribution ----------------------------------------------------------------------


def one_coin() -> Attack:
    """R = p: the distribution of the answer is the prior itself."""
    p = Parameter("p", 0.5, source="x", prior=Prior("beta", a=2, b=5))
    return Attack("coin", parameters=[p], nodes=[Node("r", YES_NO, Probability("$p"))])


def test_intervals_of_quantiles_and_shares_hold_the_truth_as_often_as_they_say():
    """2,000 runs of 150 draws: at least 95 % coverage, refuted wrongly with probability 1e-6."""
    law, runs = stats.beta(2, 5), 2_000
    truth, above = [float(law.ppf(q)) for q in (0.05, 0.5, 0.95)], float(law.sf(0.3))
    rng = np.random.default_rng(20250410)
    hits = np.zeros(4, dtype=int)
    for _ in range(runs):
        ordered = np.sort(rng.beta(2, 5, 150))
        for i, share in enumerate((0.05, 0.5, 0.95)):
            found = estimated_quantile(ordered, share)
            hits[i] += found.low <= truth[i] <= found.high
        found = share_above(ordered, 0.3)
        hits[3] += found.low <= above <= found.high
    for count in hits:
        assert stats.binomtest(int(count), runs, 0.95, alternative="less").pvalue > 1e-6


def test_the_distribution_of_a_coin_is_its_prior():
    u = uncertainty(one_coin(), "r=yes", draws=20_000, seed=20250411, thresholds=(0.3,))
    assert stats.kstest(u.draws, stats.beta(2, 5).cdf).pvalue > 1e-6
    assert u.mean == pytest.approx(2 / 7, abs=1e-15)
    assert u.sd == pytest.approx(np.sqrt(10 / (49 * 8)), abs=1e-15)
    assert u.above[0.3].value == (u.draws > 0.3).mean()


def test_sampled_quantiles_are_those_of_the_closed_form():
    case, subject = routes_case()
    u = uncertainty(case, priors=PRIORS, draws=20_000, seed=20250408)
    m = subject_moments(subject)
    rng = np.random.default_rng(20250409)
    n = 40_000
    p = {"p_m": stats.beta(2, 3), "p_fm": stats.triang(0.2), "p_cu": stats.uniform(),
         "p_c": stats.beta(0.5, 0.5)}  # fmt: skip
    at = {k: s.ppf(rng.random(n)) for k, s in p.items()}
    u_, j, mm = (m[k].mean() for k in "ujm")
    inner = (1 - at["p_m"] * at["p_fm"]) * (1 - at["p_c"]) * (u_ - at["p_cu"] * j)
    risk = 1 - ((1 - u_) - at["p_c"] * (mm - u_) + inner)
    assert stats.ks_2samp(u.draws, risk).pvalue > 1e-6
    assert u.mean == pytest.approx(closed_form(subject, **MEANS).mean(), abs=1e-14)
    assert u.samples == 20_000


def test_the_same_seed_gives_the_same_draws_and_leaves_the_global_stream_alone():
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - to see that nobody touched it
    one, two = (uncertainty(one_coin(), "r=yes", draws=50, seed=7).draws for _ in range(2))
    other = uncertainty(one_coin(), "r=yes", draws=50, seed=8).draws
    assert (one == two).all()
    assert not (one == other).any()
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


def test_every_subject_has_the_mean_and_spread_of_the_closed_form():
    case, subject = routes_case()
    table = subject_uncertainty(case, priors=PRIORS, draws=500)
    mean = closed_form(subject, **MEANS)
    assert np.abs(table["mean"] - mean).max() < 1e-14
    for i in range(9):
        own = {k: v[i : i + 1] for k, v in subject.items()}
        variance = sum(by_corners(own).values())
        assert table["sd"][i] ** 2 == pytest.approx(variance, rel=1e-10)
    assert (table["q5"] <= table["q50"]).all()
    assert table.attrs["method"] == "exact"


def test_a_ratio_has_a_spread_for_every_subject_too():
    case, _ = routes_case()
    ratio = case.asked(given={"claims": "yes"})
    table = subject_uncertainty(ratio, over="p_m,p_cu", draws=4_000)
    whole = uncertainty(ratio, over="p_m,p_cu", draws=4_000)
    assert table["mean"].mean() == pytest.approx(whole.mean, rel=1e-12)
    g = grid(ratio, {"p_m": None, "p_cu": None})
    draws = g.draws(np.random.default_rng(0), 50)
    assert np.abs(g.at(draws) - ratio.answers(draws)).max() < 1e-13


# -- refusals ------------------------------------------------------------------------------


def test_ranges_that_meet_where_there_is_no_table_are_refused_with_the_corner():
    with pytest.raises(UsageError, match=r"the ranges of p, q meet .* \(p=1, q=1\): r: .*Narrow"):
        sobol(shared_row(), "r=yes")
    narrow = {"p": (0, 0.4), "q": (0, 0.5)}
    assert sobol(shared_row(), "r=yes", over=narrow).method == "exact"
    with pytest.raises(
        UsageError, match="the ranges of leaked, records meet where leaked <= records"
    ):
        sobol("leak-single", "risk")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"over": "p_x"}, 'no parameter "p_x"; did you mean'),
        ({"over": {"p_c": (0.5, 0.2)}}, "p_c: runs from 0.5 down to 0.2"),
        ({"over": {"p_c": 3}}, r"p_c: give its range as \(low, high\)"),
        ({"over": {"p_c": (0.5, 0.5)}}, "p_c: 0.5 is one value and no range"),
        ({"priors": {"p_c": Prior("beta", a=-1, b=2)}}, "p_c: a beta prior needs a > 0 and b > 0"),
        ({"over": "p_m", "priors": {"p_c": Prior()}}, "p_c has a prior but over= does not name it"),
        ({"priors": {"p_q": Prior()}}, 'no parameter "p_q"'),
    ],
)
def test_wrong_ranges_and_priors_are_refused(more, message):
    with pytest.raises(UsageError, match=message):
        sobol("adversary-routes", "risk", **more)


def test_a_grid_that_would_be_too_large_is_refused_with_its_sizes():
    names = [f"p{i}" for i in range(19)]
    attack = Attack(
        "many",
        parameters=[Parameter(n, 0.5, source="x") for n in names],
        nodes=[Node(f"n{i}", YES_NO, Probability(f"$p{i}", (f"n{i - 1}",) if i else ()),
                    (f"n{i - 1}",) if i else ()) for i in range(19)],
    )  # fmt: skip
    with pytest.raises(TooLarge, match=r"536,870,912 settings .*vary fewer"):
        sobol(attack, "n18=yes")
    assert sobol(attack, "n18=yes", over=names[:6]).method == "exact"
    with pytest.raises(TooLarge, match="draws of an answer with"):
        uncertainty(attack, "n18=yes", over=names[:12], draws=10**7)


def test_a_parameter_without_a_prior_is_uniform_and_says_so():
    assert prior_text(Parameter("p", 0.5, source="x")) == "uniform 0 to 1, no prior given"
    assert sobol("adversary-routes", "risk")["p_c"].prior == "uniform 0 to 1"
    assert sobol("leak-single", "risk", over={"leaked": (0, 10_000)})["leaked"].prior == (
        "uniform 0 to 10000, no prior given"
    )


def test_a_parameter_that_cannot_matter_takes_no_part():
    found = sobol("adversary-routes", "prosecutor=yes")
    assert (found["p_c"].first, found["p_c"].total) == (0.0, 0.0)
    assert found["p_m"].total > 0
    assert found.interaction("p_c", "p_m") == 0.0
