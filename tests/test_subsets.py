"""Every subset: the walk, the slabs and the tables against counting by hand."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import inside

import reidbn as rb
from reidbn.errors import TooLarge, UsageError
from reidbn.microdata import (
    Gather,
    People,
    Walk,
    distinct_rows,
    every_subset,
    expectations,
    frequencies_by_mask,
    grouped,
    inverse,
    is_unique,
    knowledge,
    sizes_of_rows,
)


def random_people(seed, *, most_records=40, most_columns=5, most_values=5, weights=False):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, most_records)), int(rng.integers(1, most_columns + 1))
    codes = np.stack([rng.integers(0, rng.integers(1, most_values + 1), n) for _ in range(d)], 1)
    mass = rng.random(n) + 0.1 if weights else None
    return People.from_codes(codes, [f"c{j}" for j in range(d)], weights=mass)


def size_by_hand(rows, i, places):
    """How many rows agree with row i on the places: counted one by one."""
    return sum(all(row[p] == rows[i][p] for p in places) for row in rows)


def all_subsets(d):
    return [places for size in range(1, d + 1) for places in combinations(range(d), size)]


# The table


@pytest.mark.parametrize("seed", range(12))
def test_the_table_of_subsets_is_what_counting_by_hand_gives(seed):
    people = random_people(seed)
    rows = people.codes().tolist()
    n, d = len(rows), len(rows[0])
    table = rb.subsets(people)
    assert [tuple(s) for s in table["subset"]] == [
        tuple(f"c{p}" for p in places) for places in all_subsets(d)
    ]
    for places, row in zip(all_subsets(d), table.itertuples(), strict=True):
        sizes = [size_by_hand(rows, i, places) for i in range(n)]
        assert row.size == len(places)
        assert row.classes == len({tuple(r[p] for p in places) for r in rows})
        assert row.uniques == sizes.count(1)
        assert row.largest == max(sizes)
        assert row.prior == 1 / n
        assert row.posterior == pytest.approx(float(sum(Fraction(1, a) for a in sizes) / n))
        assert row.mean_inverse == row.posterior


@pytest.mark.parametrize("seed", range(4))
def test_survey_weights_weigh_the_mean_and_nothing_else(seed):
    people = random_people(seed, weights=True)
    rows, w = people.codes().tolist(), people.weights
    plain = rb.subsets(People.from_codes(people.codes(), people.columns))
    table = rb.subsets(people)
    for places, row in zip(all_subsets(len(rows[0])), table.itertuples(), strict=True):
        inverses = [1 / size_by_hand(rows, i, places) for i in range(len(rows))]
        assert row.mean_inverse == pytest.approx(float(w @ inverses / w.sum()))
    same = ["subset", "size", "classes", "uniques", "prior", "largest"]
    assert table[same].equals(plain[same])


def test_small_subsets_alone_can_be_asked_of_many_columns():
    rng = np.random.default_rng(7)
    people = People.from_codes(rng.integers(0, 3, (60, 25)))
    table = rb.subsets(people, most=2)
    assert len(table) == 25 + 300
    one = table[table["subset"].map(lambda s: s == ("x3", "x11"))].iloc[0]
    assert one["classes"] == people.classes(["x3", "x11"]).count
    assert one["uniques"] == people.classes(["x3", "x11"]).uniques


# Per person


def by_hand(people, known):
    """Expectations in rationals over every subset of the groups, and the smallest subset."""
    rows = people.codes(people.columns).tolist()
    where = {name: j for j, name in enumerate(people.columns)}
    names = list(known)
    results = []
    for i in range(len(rows)):
        unique = mean = Fraction(0)
        smallest = None
        for size in range(len(names) + 1):
            for chosen in combinations(range(len(names)), size):
                places = {where[c] for j in chosen for c in known[names[j]][0]}
                weight = Fraction(1)
                for j, name in enumerate(names):
                    p = known[name][1]
                    p = Fraction(p[i] if isinstance(p, list) else p)
                    weight *= p if j in chosen else 1 - p
                a = size_by_hand(rows, i, places)
                unique += weight * (a == 1)
                mean += weight * Fraction(1, a)
                if a == 1 and smallest is None:
                    smallest = tuple(names[j] for j in chosen)
        results.append((float(unique), float(mean), smallest))
    return results


def check_per_person(people, known, given):
    table = rb.subsets(people, per_person=True, known=given)
    for row, (unique, mean, smallest) in zip(
        table.itertuples(), by_hand(people, known), strict=True
    ):
        assert row.unique == pytest.approx(unique, abs=1e-12)
        assert row.mean_inverse == pytest.approx(mean, abs=1e-12)
        assert row.smallest_identifying == smallest
        if smallest is None:
            assert table["smallest_size"].isna()[row.Index]
        else:
            assert row.smallest_size == len(smallest)


@pytest.mark.parametrize("seed", range(8))
def test_per_person_risk_by_default_is_uniform_over_subsets_and_counts_the_empty_one(seed):
    people = random_people(seed, most_records=25, most_columns=4)
    known = {c: ([c], Fraction(1, 2)) for c in people.columns}
    check_per_person(people, known, None)


@pytest.mark.parametrize("seed", range(6))
def test_groups_of_several_columns_are_learnt_together_and_may_share_a_column(seed):
    rng = np.random.default_rng(100 + seed)
    people = People.from_codes(rng.integers(0, 3, (20, 4)), list("abcd"))
    known = {"home": (["a", "b"], 0.25), "work": (["b", "c"], 0.75), "d": (["d"], 0.5)}
    check_per_person(people, known, known)


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_may_differ_between_people(seed):
    rng = np.random.default_rng(200 + seed)
    people = People.from_codes(rng.integers(0, 3, (18, 3)), list("abc"))
    each = rng.choice([0.0, 0.25, 0.5, 1.0], 18).tolist()
    known = {"a": (["a"], each), "b": (["b"], 0.5), "c": (["c"], 0.125)}
    given = {name: (columns, np.array(p)) for name, (columns, p) in known.items()}
    check_per_person(people, known, given)


def test_equal_probabilities_for_everybody_are_one_probability():
    people = random_people(3, most_records=30)
    one = {c: (c, 0.3) for c in people.columns}
    many = {c: (c, np.full(len(people), 0.3)) for c in people.columns}
    a, b = (rb.subsets(people, per_person=True, known=k) for k in (one, many))
    np.testing.assert_allclose(a["unique"], b["unique"], atol=1e-14)
    np.testing.assert_allclose(a["mean_inverse"], b["mean_inverse"], atol=1e-14)


def test_somebody_alone_in_the_table_is_identified_by_nothing_at_all():
    table = rb.subsets(People.from_codes([[0, 1]]), per_person=True)
    assert table["smallest_identifying"].tolist() == [()]
    assert table["smallest_size"].tolist() == [0]
    assert table["unique"].tolist() == [1.0]


def test_a_group_that_cannot_be_known_identifies_nobody():
    people = People.from_codes([[0, 0], [1, 0], [2, 1]], ["id", "sex"])
    table = rb.subsets(people, per_person=True, known={"id": ("id", 0.0), "sex": ("sex", 1.0)})
    assert table["unique"].tolist() == [0.0, 0.0, 1.0]
    assert table["smallest_identifying"].tolist() == [None, None, ("sex",)]


def test_any_function_of_class_size_and_subset_has_an_exact_expectation():
    people = random_people(11)
    b = len(people.columns)
    rho = np.random.default_rng(5).random(1 << b)
    found = expectations(people, [lambda sizes, masks: (sizes == 1) * rho[masks][:, None]])[0]
    sizes = rb.class_sizes_by_mask(people)
    np.testing.assert_allclose(found, ((sizes == 1) * rho).mean(axis=1), atol=1e-14)


# The kernel


@given(seed=st.integers(0, 10**6), node=st.sampled_from([0, 6000]))
@settings(max_examples=60, deadline=None)
def test_the_walk_and_the_slabs_agree_on_every_subset(seed, node):
    people = random_people(seed, most_records=60, most_columns=6)
    rows = distinct_rows(people.codes(), people.cardinalities())
    walk = Walk(rows)
    with pytest.MonkeyPatch.context() as patch:
        # 0: nodes all the way down; 6000: mostly blocks
        patch.setattr(inside(Walk), "_NODE", node)
        walk.run()
    seen = set()
    for s in every_subset(rows):
        seen.add(s.mask)
        columns = [c for j, c in enumerate(people.columns) if s.mask >> j & 1]
        classes = people.classes(columns)
        assert walk.classes[s.mask] == classes.count
        assert walk.uniques[s.mask] == classes.uniques
        assert walk.largest[s.mask] == classes.largest
        assert (s.row_sizes[rows.of_record] == people.class_sizes(columns)).all()
    assert seen == set(range(1 << rows.groups))


@pytest.mark.parametrize("room", [1, 1 << 17])
def test_nodes_and_dense_blocks_gather_the_same_sums(room):
    rng = np.random.default_rng(1)
    codes = np.asfortranarray(rng.integers(0, 4, (400, 5)), dtype=np.int32)
    rows = distinct_rows(codes, (4,) * 5)
    weight = rng.random(32)
    gather = Gather(lambda b: weight[b.masks][:, None] / np.maximum(b.cells, 1), weight)
    walk = Walk(rows, [gather])
    walk.lattice._room = room
    found = walk.run()[0]
    wanted = np.zeros(400)
    for s in every_subset(rows):
        wanted += weight[s.mask] / s.row_sizes[rows.of_record]
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


@given(seed=st.integers(0, 10**6), leave=st.sampled_from([1, 4, 1000]),
       merge=st.sampled_from([0.0, 0.8, 1.0]))  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_chosen_rows_have_the_sizes_of_their_classes(seed, leave, merge):
    people = random_people(seed, most_records=60, most_columns=6)
    rows = distinct_rows(people.codes(), people.cardinalities())
    some = np.random.default_rng(seed).permutation(rows.rows)[: 1 + seed % 9]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inside(sizes_of_rows), "_LEAVE", leave)
        patch.setattr(inside(sizes_of_rows), "_MERGE", merge)
        found = sizes_of_rows(rows, some)
        everybody = sizes_of_rows(rows, np.arange(rows.rows))
    for mask in range(1 << rows.groups):
        columns = [c for j, c in enumerate(people.columns) if mask >> j & 1]
        assert (everybody[rows.of_record, mask] == people.class_sizes(columns)).all()
    assert (found == everybody[some]).all()


def test_every_subset_stops_at_the_number_of_groups_asked_for():
    people = random_people(2, most_columns=5)
    rows = distinct_rows(people.codes(), people.cardinalities())
    sizes = [s.mask.bit_count() for s in every_subset(rows, most=2)]
    assert sorted(sizes) == sorted(
        m.bit_count() for m in range(1 << rows.groups) if m.bit_count() <= 2
    )


def test_wide_columns_are_counted_by_sorting_and_agree():
    rng = np.random.default_rng(4)
    people = People.from_codes(rng.integers(0, 70_000, (3000, 3)))
    table = rb.subsets(people)
    for row in table.itertuples():
        assert row.uniques == people.classes(row.subset).uniques
        assert row.classes == people.classes(row.subset).count
    rows = distinct_rows(people.codes(), people.cardinalities())
    for s in every_subset(rows):
        columns = [f"x{j}" for j in range(3) if s.mask >> j & 1]
        assert (s.row_sizes[rows.of_record] == people.class_sizes(columns)).all()


def test_a_table_of_two_million_classes_is_counted():
    n = 2_000_000
    people = People.from_codes(np.stack([np.arange(n) // 2, np.arange(n) % 2], 1), ["id", "sex"])
    table = rb.subsets(people).set_index("subset")
    assert table["classes"].tolist() == [1_000_000, 2, 2_000_000]
    assert table["uniques"].tolist() == [0, 0, 2_000_000]
    assert table["largest"].tolist() == [2, 1_000_000, 1]
    risks = rb.subsets(people, per_person=True)
    assert set(risks["smallest_size"]) == {2}
    assert np.allclose(risks["unique"], 0.25)


@pytest.mark.parametrize("seed", range(4))
def test_frequencies_by_mask_are_those_of_each_subset(seed):
    people = random_people(seed + 40)
    for mask, found in enumerate(frequencies_by_mask(people)):
        columns = [c for j, c in enumerate(people.columns) if mask >> j & 1]
        wanted = people.frequencies(columns)
        assert found.sizes.tolist() == wanted.sizes.tolist()
        assert found.counts.tolist() == wanted.counts.tolist()


# Properties


def risk(people):
    return rb.subsets(people, per_person=True)


seeds = st.integers(0, 10**6)


@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_the_order_of_people_does_not_matter(seed):
    people = random_people(seed)
    order = np.random.default_rng(seed).permutation(len(people))
    shuffled = People.from_codes(people.codes()[order], people.columns)
    a, b = risk(people), risk(shuffled)
    np.testing.assert_allclose(a["unique"].to_numpy()[order], b["unique"], atol=1e-14)
    assert [a["smallest_identifying"][i] for i in order] == b["smallest_identifying"].tolist()


@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_the_names_of_values_do_not_matter(seed):
    people = random_people(seed)
    codes = people.codes().copy()
    rng = np.random.default_rng(seed)
    for j, c in enumerate(people.cardinalities()):
        codes[:, j] = rng.permutation(c)[codes[:, j]]
    other = People.from_codes(codes, people.columns)
    assert rb.subsets(people).equals(rb.subsets(other))


@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_a_constant_column_changes_no_risk(seed):
    people = random_people(seed, most_columns=4)
    wider = People.from_codes(
        np.column_stack([people.codes(), np.zeros(len(people), dtype=int)]), [*people.columns, "k"]
    )
    a, b = risk(people), risk(wider)
    np.testing.assert_allclose(a["unique"], b["unique"], atol=1e-13)
    np.testing.assert_allclose(a["mean_inverse"], b["mean_inverse"], atol=1e-13)
    assert a["smallest_identifying"].tolist() == b["smallest_identifying"].tolist()


@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_twins_protect_each_other_and_nobody_is_worse_off(seed):
    people = random_people(seed)
    twin = np.random.default_rng(seed).integers(len(people))
    codes = np.vstack([people.codes(), people.codes()[twin]])
    before, after = risk(people), risk(People.from_codes(codes, people.columns))
    assert after["unique"][twin] == after["unique"].iloc[-1] == 0
    assert after["smallest_identifying"][twin] is None
    others = after["unique"].to_numpy()[:-1]
    assert (others <= before["unique"].to_numpy() + 1e-14).all()


@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_finer_values_never_lower_a_risk(seed):
    people = random_people(seed)
    codes = people.codes().copy()
    codes[:, 0] //= 2
    coarse, fine = risk(People.from_codes(codes, people.columns)), risk(people)
    assert (fine["unique"] >= coarse["unique"] - 1e-14).all()
    assert (fine["mean_inverse"] >= coarse["mean_inverse"] - 1e-14).all()


# Bad calls


def test_more_than_twenty_groups_are_refused_and_sampling_is_offered():
    people = People.from_codes(np.zeros((3, 21), dtype=int))
    for call in (
        lambda: rb.subsets(people),
        lambda: rb.subsets(people, per_person=True),
        lambda: rb.class_sizes_by_mask(people),
        lambda: Walk(distinct_rows(people.codes(), people.cardinalities())),
    ):
        with pytest.raises(TooLarge, match=r"2\^21 subsets.*draws=1000"):
            call()


def test_a_matrix_beyond_the_memory_limit_is_refused_with_the_remedy():
    people = People.from_codes(np.zeros((100, 3), dtype=int))
    assert rb.class_size_matrix(people, [["x0"], ["x1", "x2"]]).shape == (100, 2)
    with pytest.raises(TooLarge, match="memory_limit"):
        rb.class_size_matrix(people, [["x0"]], memory_limit=100)
    with pytest.raises(TooLarge, match="class_size_chunks"):
        rb.class_sizes_by_mask(people, memory_limit=100)


@pytest.mark.parametrize(
    ("known", "says"),
    [
        ({"a": "x0"}, "no column"),
        ({"a": ("x0", 1.5)}, "outside 0..1"),
        ({"a": ("x0", float("nan"))}, "not a number"),
        ({"a": ("x0", "often")}, "not a number"),
        ({"a": ("x0", [0.5, 0.5])}, "2 probabilities for 3 people"),
        ({"a": ("x9", 0.5)}, "no column"),
        ({"a": ([], 0.5)}, "names no column"),
        ({}, "is empty"),
    ],
)
def test_knowledge_that_makes_no_sense_is_refused(known, says):
    people = People.from_codes([[0, 0], [0, 1], [1, 1]])
    with pytest.raises(UsageError, match=says):
        rb.subsets(people, known=known)


def test_results_say_what_they_were_computed_from():
    people = random_people(1)
    table = rb.subsets(people)
    assert table.attrs["records"] == len(people)
    assert table.attrs["missing"] == "value"
    assert table.attrs["fingerprint"] == people.fingerprint


def test_progress_ends_at_one_and_never_goes_back():
    people = random_people(9, most_records=40)
    for known in (None, {"c0": ("c0", np.linspace(0, 1, len(people)))}):
        seen = []
        rb.subsets(people, per_person=True, known=known, progress=seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == 1.0


# Sampling


@pytest.mark.wide
def test_sampled_intervals_cover_the_exact_risk_at_least_as_often_as_they_say():
    rng = np.random.default_rng(20260101)
    people = People.from_codes(rng.integers(0, 4, (40, 6)))
    exact, trials = risk(people), 300
    hits = {"unique": np.zeros(40), "mean_inverse": np.zeros(40)}
    for seed in range(trials):
        drawn = rb.subsets(people, per_person=True, draws=60, seed=seed)
        for name, covered in hits.items():
            covered += (drawn[f"{name}_low"] <= exact[name]) & (
                exact[name] <= drawn[f"{name}_high"]
            )
            assert (drawn[f"{name}_high"] - drawn[f"{name}_low"] < 0.4).all()
    # P(Binomial(300, 0.95) < 264) = 5e-7 for each of the 80 counts.
    for covered in hits.values():
        assert (covered >= 264).all()


def test_intervals_of_half_the_length_are_caught():
    from reidbn.microdata import binomial_interval

    hits = np.random.default_rng(6).binomial(60, 0.3, 300)
    low, high = binomial_interval(hits, 60)
    middle = (low + high) / 2
    for shrink, fine in ((1.0, True), (0.5, False)):
        covered = np.abs(0.3 - middle) <= shrink * (high - low) / 2
        assert bool(covered.sum() >= 264) == fine


def test_sampling_answers_for_more_than_twenty_groups():
    people = People.from_codes(np.random.default_rng(2).integers(0, 3, (50, 30)))
    per_person = rb.subsets(people, per_person=True, draws=50, seed=1)
    assert (per_person["unique"] > 0.9).all()
    table = rb.subsets(people, draws=50, seed=1)
    assert table["draws"].sum() == 50
    assert (table["size"] > 3).all()


def test_sampling_refuses_probabilities_that_differ_between_people():
    people = People.from_codes([[0], [1]])
    with pytest.raises(UsageError, match="one probability per group"):
        rb.subsets(people, per_person=True, known={"a": ("x0", [0.1, 0.2])}, draws=5)


# Against the real table


def test_adult_has_the_classes_that_other_tools_count(real_data):
    import gzip

    with gzip.open(real_data / "kroes" / "adult.csv.gz", "rt") as file:
        head, *rows = (line.rstrip("\n").split(",") for line in file)
    codes = np.stack([np.unique(c, return_inverse=True)[1] for c in zip(*rows, strict=True)], 1)
    people = People.from_codes(codes, head)
    table = rb.subsets(people)
    assert len(table) == 511
    assert table["classes"].iloc[-1] == 19_502
    assert table["uniques"].iloc[-1] == 15_512
    # Eight quasi-identifiers: 18,109 classes, 14,021 uniques, marketer's risk 0.60039.
    eight = table[table["subset"].map(lambda s: len(s) == 8 and "salary" not in s)].iloc[0]
    assert (eight["classes"], eight["uniques"]) == (18_109, 14_021)
    assert round(eight["posterior"], 5) == 0.60039
    assert table["classes"].sum() == 2_079_039 - 1


def test_groups_are_named_by_their_keys():
    people = People.from_codes(np.eye(3, dtype=int), list("abc"))
    what = grouped(people, {"both": ["a", "b"], "c": "c"})
    assert what.subset(3) == ("both", "c")
    assert what.known_columns(1) == ("a", "b")
    assert knowledge(people).subset_probabilities().tolist() == [0.125] * 8


def test_the_risks_of_the_three_routes_are_named():
    sizes, masks = np.array([[1, 2, 4]]), np.array([0])
    assert is_unique(sizes, masks).tolist() == [[True, False, False]]
    assert inverse(sizes, masks).tolist() == [[1.0, 0.5, 0.25]]


@pytest.mark.parametrize(
    "call",
    [
        rb.subsets,
        rb.suda,
        lambda table: rb.class_size_matrix(table, [("sex",)]),
        lambda table: rb.candidates(table, table),
    ],
)
def test_a_table_that_was_not_read_is_refused_with_the_remedy(call):
    with pytest.raises(UsageError, match=r"dict is not a table of people; .*rb\.read_table"):
        call({"sex": ["f", "m"]})


def test_knowledge_of_no_column_and_draws_of_small_subsets_are_refused():
    people = People.from_codes([[0, 0], [0, 1]])
    with pytest.raises(UsageError, match='no column "a"'):
        rb.subsets(people, known=["a"])
    for per_record in (False, True):
        with pytest.raises(UsageError, match="leave out most="):
            rb.subsets(people, per_person=per_record, draws=10, most=1)


@pytest.mark.parametrize("values", [(1, 2, 3), (40, 1, 50, 3), (3000, 2000, 900), (700, 2, 700, 2)])
def test_peers_are_those_counted_row_by_row_however_many_values_there_are(values):
    """Products of few values are counted in one array, larger ones are numbered anew first."""
    rng = np.random.default_rng(8)
    codes = np.stack([rng.integers(0, v, 400) for v in values], axis=1).astype(np.int32)
    codes[200:] = codes[rng.integers(0, 200, 200)]
    rows = distinct_rows(codes, values)
    for known in (range(len(values)), [0], [len(values) - 1, 0], []):
        _, of, sizes = np.unique(codes[:, list(known)], axis=0, return_inverse=True,
                                 return_counts=True)  # fmt: skip
        np.testing.assert_array_equal(rows.peers(known)[rows.of_record], sizes[of.ravel()])
