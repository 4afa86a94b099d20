"""Attribute disclosure as a result: laws, verdicts, scenarios, samples, readings, bad calls."""

import json
from fractions import Fraction
from math import exp, log

import disclosure_by_hand as by_hand
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import inside
from scipy.stats import hypergeom

import reidbn as rb
from reidbn.attack import Known, Knows, Listed, Profile
from reidbn.attacks import Partitioned, tally
from reidbn.cli import main
from reidbn.errors import TooLarge, UsageError
from reidbn.microdata import People
from reidbn.theory import fractions_near, mean_interval, ranks_by_size, share_interval, tie_step


def people_like(seed, rows=200, sizes=(6, 4, 3, 2)):
    generator = np.random.default_rng(seed)
    columns = [generator.integers(0, size, rows) for size in sizes]
    columns[-1] = (columns[0] + generator.integers(0, 3, rows)) % sizes[-1]
    return People.from_codes(np.stack(columns, 1), ["age", "job", "town", "sick"][: len(sizes)])


# Laws of the paper


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_more_knowledge_never_adds_plausible_peers(seed):
    """NPP and PoAC at q = 0 are least at full knowledge; PPP is zero somewhere iff it is there."""
    people = people_like(seed)
    for d in rb.disclosure_all(people).values():
        assert np.array_equal(d.ppp_min == 0, d.npp_full == 0)
        full, fewest = d.alternatives(0)
        assert np.array_equal(full, fewest)
        assert (d.ppp_min <= d.ppp_full).all()


def test_ppp_itself_is_not_monotone():
    """Table 1, option 2, first person: 1/2 with sex and age known, 1/3 with sex alone [Kroes21]."""
    people = rb.read_table(
        {
            "diagnosis": ["cancer", "cancer", "cancer", "arthrosis", "diabetes"],
            "sex": ["f", "m", "f", "m", "f"],
            "age": ["45-54", "35-44", "35-44", "55-64", "45-54"],
        },
        quasi_identifiers=["sex", "age"],
        sensitive=["diagnosis"],
    )
    d = rb.disclosure(people, sensitive="diagnosis")
    assert d.ppp_full[0] == 1 / 2
    assert (d.ppp_min[0], d.weakest_subset[0]) == (pytest.approx(1 / 3), ("sex",))


def test_a_binary_secret_has_an_alternative_exactly_where_it_has_a_plausible_peer():
    d = rb.disclosure(people_like(4), "sick")
    assert np.array_equal(d.poac_full == 1, d.ppp_full > 0)


# Verdicts and what a result holds


def test_subjects_has_the_promised_columns_in_record_order():
    people = people_like(5)
    d = rb.disclosure(people, sensitive="sick")
    table = d.subjects
    assert list(table)[:6] == [
        "ppp_full", "ppp_min", "npp_full", "poac_full", "poac_min", "weakest_subset",
    ]  # fmt: skip
    assert np.array_equal(table["ppp_min"], d.ppp_min)
    assert list(table["weakest_subset"]) == [",".join(names) for names in d.weakest_subset]
    assert not table.isna().any().any()
    assert np.allclose(table["posterior_max"], 1 - table["ppp_min"], atol=0)


def test_thresholds_are_strict_and_can_be_changed_later():
    d = rb.disclosure(people_like(6), "age", p=0.5)
    values = np.unique(d.ppp_min)
    middle = float(values[len(values) // 2])
    assert d.share_upward(p=middle) == (d.ppp_min > middle).mean()
    assert d.share_upward() == (d.ppp_min > 0.5).mean()
    shares = [d.share_downward(q=q) for q in (0, 0.05, 0.2, 0.5)]
    assert shares == sorted(shares, reverse=True)
    assert d.joint_q() == 0.5 / 5
    assert rb.disclosure(people_like(6), "age", p=0.5, q="joint").q == 0.5 / 5


def test_a_constant_secret_is_said_to_be_one_and_is_never_nan():
    people = People.from_codes([[0, 0], [1, 0], [1, 0]], ["age", "sick"])
    d = rb.disclosure(people, "sick", q=0.1)
    assert d.status == "constant"
    assert d.ppp_full.tolist() == d.ppp_min.tolist() == [0, 0, 0]
    assert d.poac() == (None, None)
    assert d.subjects["poac_min"].isna().all()
    assert d.subjects["poac_min"].to_list() == [pd_na()] * 3
    assert (d.share_upward(), d.share_downward()) == (0, 0)
    assert d.joint_q(0.3) == 0
    assert rb.disclosure_all(people)["age"].status == "measured"


def pd_na():
    import pandas as pd

    return pd.NA


def test_weights_count_in_shares_and_not_among_peers():
    codes = [[0, 0], [0, 1], [1, 0]]
    plain = rb.disclosure(People.from_codes(codes, ["age", "sick"]), "sick")
    heavy = rb.disclosure(People.from_codes(codes, ["age", "sick"], weights=[1, 1, 8]), "sick")
    assert np.array_equal(plain.ppp_min_fraction, heavy.ppp_min_fraction)
    assert plain.share_upward() == 2 / 3
    assert heavy.share_upward() == 0.2


def test_breaks_counts_the_people_each_subset_breaks():
    people = people_like(7, rows=40)
    d = rb.disclosure(people, "sick", p=0.25)
    table = [tuple(row) for row in people.codes(people.columns)]
    names = list(d.known)
    for row in d.breaks().to_dict("records"):
        known = [names.index(name) for name in row["subset"]]
        assert row["broken"] == sum(
            by_hand.ppp(table, i, 3, known) <= Fraction(1, 4) for i in range(len(table))
        )
    assert len(d.breaks()) == 2 ** len(names) - 1


def test_labels_that_nobody_has_are_not_false_values():
    """dom(s) is what occurs in the table: a part of a table may have lost some values."""
    people = People.from_codes([[0, 0], [1, 1], [1, 2], [0, 2]], ["age", "sick"])
    part = people.take([1, 2, 3])
    assert rb.disclosure(part, "sick").falsehoods.tolist() == [1, 1, 1]


# What is known: scenarios, ranges


def test_a_group_is_learnt_together_and_people_may_differ_in_their_chances():
    people = people_like(8, rows=60)
    own = np.where(np.arange(60) % 2, 0.25, 0.75)
    d = rb.disclosure(people, "sick", knowledge={"home": (["age", "town"], own), "job": 0.5})
    table = [tuple(row) for row in people.codes(people.columns)]
    for i in range(60):
        mean = sum(
            (own[i] if group else 1 - own[i])
            * 0.5
            * float(by_hand.ppp(table, i, 3, ([0, 2] if group else []) + ([1] if job else [])))
            for group in (0, 1)
            for job in (0, 1)
        )
        assert d.expected_ppp[i] == pytest.approx(mean, abs=1e-12)


def test_a_scenario_with_one_shared_list_is_the_mixture_of_all_and_nothing():
    people = people_like(9, rows=60)
    known = tuple(Known(name, (name,), (0.5,)) for name in ("age", "job"))

    def scenario(parent):
        return rb.Scenario("test", knows=Knows(known, parent=parent))

    def asked(what):
        known = rb.knowledge(people, what, unknown=["town"], sensitive="sick")
        return rb.disclosure(people, "sick", knowledge=known)

    free = asked(scenario(None))
    same = rb.disclosure(people, "sick", knowledge={"age": 0.5, "job": 0.5})
    assert np.allclose(free.expected_ppp, same.expected_ppp, atol=1e-12)
    listed = asked(scenario(Listed(chance=(0.4,), shared=True)))
    baseline = 1 - free.prior
    assert np.allclose(listed.expected_ppp, 0.4 * free.expected_ppp + 0.6 * baseline, atol=1e-12)
    profiles = Profile("who", {"friend": 0.25, "stranger": 0.75})
    by = {"friend": 0.5, "stranger": 0.0}
    mixed = rb.Scenario(
        "test", knows=Knows(tuple(Known(k.name, k.columns, (1.0,), by) for k in known), profiles)
    )
    found = asked(mixed)
    assert np.allclose(found.expected_ppp, 0.25 * free.expected_ppp + 0.75 * baseline, atol=1e-12)


def test_in_a_scenario_for_all_secrets_nobody_learns_the_secret_itself():
    people = people_like(10, rows=60)
    scenario = rb.Scenario("all", knows=Knows(tuple(Known(n, (n,)) for n in people.columns)))
    for name, d in rb.disclosure_all(people, knowledge=scenario).items():
        assert np.allclose(d.expected_ppp, d.ppp_full, atol=1e-12), name


def test_a_range_is_the_same_as_a_coarser_column():
    people = people_like(11)
    age = people.codes(["age"])[:, 0]
    coarse = People.from_codes(
        np.stack([age // 2, *people.codes(["job", "town", "sick"]).T], axis=1),
        ["age", "job", "town", "sick"],
    )
    told = rb.disclosure(coarse, "sick")
    for spec in (2, [2, 4], {0: "a", 1: "a", 2: "b", 3: "b", 4: "c", 5: "c"}):
        d = rb.disclosure(people, "sick", ranges={"age": spec})
        assert np.array_equal(d.ppp_min_fraction, told.ppp_min_fraction)
        assert np.array_equal(d.weakest_mask, told.weakest_mask)


def test_missing_cells_that_match_anything_are_peers_of_everybody():
    people = rb.read_table(
        {"age": ["1", "", "2", "1"], "town": ["x", "x", "y", "y"], "sick": ["n", "y", "n", "y"]},
        quasi_identifiers=["age", "town"],
        sensitive=["sick"],
        missing="matches-anything",
    )
    d = rb.disclosure(people, "sick")
    assert d.peers_full.tolist() == [2, 2, 1, 1]
    assert d.npp_full.tolist() == [1, 1, 0, 0]
    # Knowing the age alone, the first person's peers are rows 0, 1, 3: two of three say "y".
    assert d.ppp_min.tolist() == [0.5, 0.5, 0, 0]


# Samples of individuals


def test_a_sample_asks_about_some_people_among_the_peers_of_all():
    people = people_like(12, rows=3000)
    everybody = rb.disclosure(people, "sick", q=0.1)
    rows = np.array([5, 17, 2500])
    some = rb.disclosure(people, "sick", q=0.1, individuals=rows)
    assert np.array_equal(some.ppp_min, everybody.ppp_min[rows])
    assert np.array_equal(some.weakest_mask, everybody.weakest_mask[rows])
    assert np.array_equal(some.alternatives(), np.array(everybody.alternatives())[:, rows])
    assert some.subjects.index.tolist() == rows.tolist()


def test_exact_intervals_from_samples_hold_the_truth_as_often_as_they_say():
    """500 samples at level 90 %: an exact interval misses in at most 10 % (false alarm < 1e-6)."""
    people = people_like(13, rows=400, sizes=(40, 4, 3, 2))
    truth = rb.disclosure(people, "sick").share_upward()
    assert 0.1 < truth < 0.9
    missed = 0
    verdicts = rb.disclosure(people, "sick").upward()
    generator = np.random.default_rng(14)
    for _ in range(500):
        hits = int(verdicts[generator.choice(400, 60, replace=False)].sum())
        low, high = share_interval(hits, 60, 400, level=0.9)
        missed += not low <= truth <= high
    assert missed <= 87  # Binomial(500, 0.1) exceeds 87 with probability 6e-8
    d = rb.disclosure(people, "sick", individuals=60, seed=3)
    low, high = d.interval("upward", level=0.9)
    assert low <= d.share_upward() <= high
    assert d.interval("ppp_min")[0] < d.ppp_min.mean() < d.interval("ppp_min")[1]
    everybody = rb.disclosure(people, "sick")
    assert everybody.interval("upward") == (truth, truth)


@pytest.mark.parametrize(("hits", "n", "population"), [(0, 5, 20), (5, 5, 20), (3, 10, 12)])
def test_the_share_interval_is_every_share_that_neither_tail_rejects(hits, n, population):
    kept = [
        k
        for k in range(population + 1)
        if hypergeom.sf(hits - 1, population, k, n) > 0.025
        and hypergeom.cdf(hits, population, k, n) > 0.025
    ]
    low, high = share_interval(hits, n, population, level=0.95)
    assert (low, high) == (min(kept) / population, max(kept) / population)


def test_a_mean_from_everybody_has_no_width():
    values = np.arange(7.0)
    assert mean_interval(values, 7, level=0.95) == (3.0, 3.0)
    low, high = mean_interval(values, 70, level=0.95)
    spread = 1.959963984540054 * np.sqrt(0.9 * values.var(ddof=1) / 7)
    assert (low, high) == pytest.approx((3 - spread, 3 + spread), abs=1e-12)


# The same posterior by other names


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_diversity_and_closeness_are_what_their_papers_define(seed):
    people = people_like(seed, rows=30, sizes=(3, 2, 2, 4))
    found = rb.disclosure(people, "sick").readings(["age", "job"])
    matched = rb.disclosure(people, "sick", tolerance={"age": 0}).readings(["age", "job"])
    table = [tuple(row) for row in people.codes(people.columns)]
    domain = sorted({row[3] for row in table})
    base = [sum(row[3] == v for row in table) / 30 for v in domain]
    for i in range(30):
        alike = by_hand.peers(table, i, [0, 1])
        share = [sum(row[3] == v for row in alike) / len(alike) for v in domain]
        assert found.peers[i] == len(alike)
        assert found.distinct[i] == sum(x > 0 for x in share)
        entropy = exp(-sum(x * log(x) for x in share if x))
        assert found.entropy[i] == pytest.approx(entropy, abs=1e-12)
        assert found.largest_share[i] == max(share)
        apart = [x - y for x, y in zip(share, base, strict=True)]
        assert found.distance[i] == pytest.approx(sum(map(abs, apart)) / 2, abs=1e-12)
        moved = sum(abs(sum(apart[: j + 1])) for j in range(len(apart)))
        moved /= max(1, len(domain) - 1)
        assert found.ordered_distance[i] == pytest.approx(moved, abs=1e-12)
    for reading in ("peers", "distinct", "entropy", "largest_share", "distance"):
        one, two = getattr(found, reading), getattr(matched, reading)
        assert np.allclose(one, two, atol=1e-12, rtol=0)
    worst = (found.peers.min(), found.distinct.min(), found.distance.max())
    assert (found.k, found.l, found.t) == worst


# Fractions and first subsets hidden in floating point


@given(st.integers(1, 10**6), st.data())
@settings(max_examples=200, deadline=None)
def test_a_double_near_a_fraction_names_it(largest, data):
    b = data.draw(st.integers(1, largest))
    a = data.draw(st.integers(1, b))
    step = tie_step(largest, 1 << 8)
    rank = data.draw(st.integers(0, 255)) if step else 0
    value = a / b * (1 - rank * (step or 0))
    slack = 256 * step if step else 2.0**-50
    num, den = fractions_near(np.array([value]), largest=largest, slack=slack)
    assert Fraction(int(num[0]), int(den[0])) == Fraction(a, b)
    if step:
        assert round((1 - value * int(den[0]) / int(num[0])) / step) == rank


@pytest.mark.parametrize("largest", [1, 2, 3, 7, 64])
def test_every_rank_of_every_small_fraction_is_read_back(largest):
    """Small tables have wide steps: the last ranks lie farthest from their fraction."""
    count = 1 << 9
    step = tie_step(largest, count)
    fractions = sorted({Fraction(a, b) for b in range(1, largest + 1) for a in range(1, b + 1)})
    for fraction in fractions:
        values = float(fraction) * (1 - np.arange(count) * step)
        num, den = fractions_near(values, largest=largest, slack=count * step)
        assert (num == fraction.numerator).all()
        assert (den == fraction.denominator).all()


def test_ranks_list_subsets_by_size_and_then_by_column():
    listed = [(), *by_hand.subsets(range(5))]
    ranks = ranks_by_size(5)
    assert [ranks[sum(1 << j for j in some)] for some in listed] == list(range(32))


def test_tables_too_large_for_hidden_ranks_take_a_second_round(monkeypatch):
    people = people_like(15)
    told = rb.disclosure_all(people)
    told_masks = {name: d.weakest_mask for name, d in told.items()}
    monkeypatch.setattr(inside(tally), "tie_step", lambda largest, ranks: None)
    codes, sizes = people.codes(people.columns), people.cardinalities(people.columns)
    plain = Partitioned(codes, sizes, (0, 1, 2, 3), (0, 1, 2, 3))
    for j, name in enumerate(people.columns):
        share, mask = plain.weakest(j)
        assert np.array_equal(mask, told_masks[name])
        assert np.array_equal(share[1], told[name].ppp_min_fraction[1])


# Bad calls


def test_bad_calls_say_what_would_be_right():
    people = people_like(16)
    with pytest.raises(UsageError, match='did you mean "sick"'):
        rb.disclosure(people, "sik")
    with pytest.raises(UsageError, match="cannot be known"):
        rb.disclosure(people, "sick", known=["age", "sick"])
    with pytest.raises(UsageError, match=r"\[0, 1\)"):
        rb.disclosure(people, "sick", p=1.0)
    with pytest.raises(UsageError, match="joint"):
        rb.disclosure(people, "sick", q="both")
    with pytest.raises(UsageError, match="cannot be known"):
        rb.disclosure(people, "sick", knowledge={"sick": 0.5})
    with pytest.raises(UsageError, match=r"outside 0\.\.1"):
        rb.disclosure(people, "sick", knowledge={"age": 1.5})
    with pytest.raises(UsageError, match="one each"):
        rb.disclosure(people, "sick", knowledge={"age": [0.5, 0.5]})
    with pytest.raises(UsageError, match="both a range and a tolerance"):
        rb.disclosure(people, "sick", ranges={"age": 2}, tolerance={"age": 1})
    with pytest.raises(UsageError, match="200 people"):
        rb.disclosure(people, "sick", individuals=201)
    with pytest.raises(UsageError, match="no scenario was given"):
        _ = rb.disclosure(people, "sick").expected_ppp
    with pytest.raises(UsageError, match="at least two auxiliaries"):
        rb.disclosure(people, "sick", known=["age"]).leave_one_out()
    with pytest.raises(UsageError, match="at least two columns"):
        rb.disclosure_all(people, columns=["age"])
    many = People.from_codes(np.zeros((2, 22), dtype=int))
    with pytest.raises(TooLarge, match=r"known=\["):
        rb.disclosure(many, "x0")


def test_text_cannot_be_within_a_tolerance_and_the_message_shows_no_value():
    people = rb.read_table(
        {"town": ["Avonlea", "Bree"], "sick": [0, 1]}, quasi_identifiers=["town", "sick"]
    )
    with pytest.raises(UsageError, match="holds text") as refused:
        rb.disclosure(people, "sick", tolerance={"town": 1})
    assert "Avonlea" not in str(refused.value)
    with pytest.raises(UsageError, match="says nothing about 1") as refused:
        rb.disclosure(people, "sick", ranges={"town": {"Avonlea": "A"}})
    assert "Bree" not in str(refused.value)


def test_histories_that_hang_together_are_refused_with_a_way_out():
    table = {
        "id": [1, 1, 2], "code": ["a", "b", "a"], "town": ["x", "y", "x"], "sick": [0, 0, 1],
    }  # fmt: skip
    people = rb.read_table(
        table, quasi_identifiers=["code", "town"], sensitive=["sick"], subject_id="id"
    )
    for ask in (lambda: rb.disclosure(people, "sick"), lambda: rb.disclosure_all(people)):
        with pytest.raises(UsageError, match=r"keep one of these in known=\["):
            ask()
    assert rb.disclosure(people, "sick", known=["code"]).npp_full.tolist() == [0, 0]


def test_without_the_own_record_a_table_of_one_person_says_nothing_and_not_zero(tmp_path, capsys):
    one = rb.read_table({"age": [30], "ill": ["flu"]}, quasi_identifiers="age", sensitive="ill")
    d = rb.disclosure(one, "ill", known=["age"])
    assert np.isnan(d.ppp_without_own).all()
    assert np.isnan(d.best_guess_without_own).all()
    (tmp_path / "one.csv").write_text("age,ill\n30,flu\n")
    with pytest.raises(SystemExit):
        main(
            [
                "disclosure",
                str(tmp_path / "one.csv"),
                "--qi",
                "age",
                "--sensitive",
                "ill",
                "--json",
                "--own-copy",
                "--html",
                str(tmp_path / "one.html"),
            ]
        )
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found["secrets"][0]["mean_ppp_without_own_record"] is None
    page = (tmp_path / "one.html").read_text()
    assert "undefined" in page
    assert ">nan<" not in page
    two = rb.read_table({"age": [30, 40], "ill": ["flu", "cold"]}, quasi_identifiers="age",
                        sensitive="ill")  # fmt: skip
    assert rb.disclosure(two, "ill", known=["age"]).ppp_without_own.tolist() == [1.0, 1.0]


def test_named_values_choose_who_is_asked_about_and_all_own_values_of_a_history_are_counted():
    rows = [(1, "flu"), (1, "gout"), (2, "flu"), (2, "cold"), (3, "flu"), (3, "cold")]
    table = {"id": [r[0] for r in rows], "age": [30] * 6, "ill": [r[1] for r in rows]}
    people = rb.read_table(table, quasi_identifiers="age", sensitive="ill", subject_id="id")
    d = rb.disclosure(people, "ill", known=["age"], sensitive_values=["gout"])
    assert d.rows.tolist() == [0]
    # Everybody has had flu, which is sure of person 1; gout alone would leave 2 of 3 in doubt.
    assert d.ppp_full.tolist() == [0.0]
