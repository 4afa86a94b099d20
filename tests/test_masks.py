"""Match masks and superset sums: any rule of matching, all subsets, against counting by hand."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import inside

import reidbn as rb
from reidbn.errors import UsageError
from reidbn.microdata import (
    People,
    class_size_chunks,
    expected,
    frequencies_by_mask,
    grouped,
    superset_sums,
)


def frame_with_gaps(seed, n=30, d=4):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (n, d)).astype(object)
    values[rng.random((n, d)) < 0.15] = None
    return pd.DataFrame(values, columns=[f"c{j}" for j in range(d)])


def wildcard_people(seed, n=30, d=4):
    frame = frame_with_gaps(seed, n, d)
    people = rb.read_table(frame, quasi_identifiers=list(frame), missing="matches-anything")
    return people, frame.to_numpy()


def fits(a, b):
    return a is None or b is None or a == b


def size_by_hand(rows, i, places):
    return sum(all(fits(rows[i][p], row[p]) for p in places) for row in rows)


# Superset sums


@given(b=st.integers(0, 6), seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_superset_sums_are_sums_over_supersets(b, seed):
    counts = np.random.default_rng(seed).integers(0, 9, 1 << b)
    wanted = [sum(counts[z] for z in range(1 << b) if z & y == y) for y in range(1 << b)]
    assert superset_sums(counts).tolist() == wanted


def test_superset_sums_of_twenty_groups_are_exact():
    b = 20
    counts = np.zeros(1 << b, dtype=np.int64)
    rng = np.random.default_rng(1)
    some = rng.integers(0, 1 << b, 1000)
    np.add.at(counts, some, 1)
    sums = superset_sums(counts)
    for y in rng.integers(0, 1 << b, 50).tolist():
        assert sums[y] == ((some & y) == y).sum()
    assert sums[0] == 1000


def test_superset_sums_work_along_the_last_axis():
    two = np.array([[5, 1, 2, 4], [0, 0, 0, 1]])
    assert superset_sums(two).tolist() == [[12, 5, 6, 4], [1, 1, 1, 1]]
    with pytest.raises(UsageError, match="power of two"):
        superset_sums([1, 2, 3])


def test_expected_values_over_subsets_are_weighted_sums():
    rng = np.random.default_rng(3)
    values, shared, own = rng.random((5, 8)), rng.random(3), rng.random((5, 3))
    for p in (shared, own):
        each = np.broadcast_to(p, (5, 3))
        wanted = np.zeros(5)
        for y in range(8):
            inside = np.array([bool(y >> j & 1) for j in range(3)])
            wanted += values[:, y] * np.where(inside, each, 1 - each).prod(axis=1)
        np.testing.assert_allclose(expected(values, p), wanted, rtol=1e-14)


# Class sizes by mask


@pytest.mark.parametrize("seed", range(5))
def test_missing_cells_that_match_anything_are_counted_on_every_subset(seed):
    people, rows = wildcard_people(seed)
    assert not people.is_partition
    sizes = rb.class_sizes_by_mask(people)
    for mask in range(16):
        places = [j for j in range(4) if mask >> j & 1]
        wanted = [size_by_hand(rows, i, places) for i in range(len(rows))]
        assert sizes[:, mask].tolist() == wanted


def test_masks_and_one_question_per_subset_agree(monkeypatch):
    people, _ = wildcard_people(11)
    one = rb.class_sizes_by_mask(people)
    monkeypatch.setattr(inside(rb.class_sizes_by_mask), "_masks_are_cheaper", lambda *_: False)
    assert (rb.class_sizes_by_mask(people) == one).all()


def test_subjects_are_compared_in_batches_of_any_length(monkeypatch):
    people, _ = wildcard_people(12)
    one = rb.class_sizes_by_mask(people)
    monkeypatch.setattr(inside(rb.class_sizes_by_mask), "_PAIRS", 1)
    assert (rb.class_sizes_by_mask(people) == one).all()


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_where_matching_is_equality_masks_and_partitions_agree(seed):
    rng = np.random.default_rng(seed)
    people = People.from_codes(rng.integers(0, 3, (rng.integers(1, 40), 4)), list("abcd"))
    groups = {"ab": ["a", "b"], "bc": ["b", "c"], "d": "d"}
    by_masks = inside(rb.class_sizes_by_mask)._by_masks
    by_masks = by_masks(people, grouped(people, groups), np.arange(len(people)))
    assert (by_masks == rb.class_sizes_by_mask(people, groups)).all()


def test_a_group_matches_when_all_its_columns_do():
    people, rows = wildcard_people(4)
    sizes = rb.class_sizes_by_mask(people, {"left": ["c0", "c1"], "right": ["c1", "c3"]})
    for mask, places in enumerate([[], [0, 1], [1, 3], [0, 1, 3]]):
        assert sizes[:, mask].tolist() == [size_by_hand(rows, i, places) for i in range(len(rows))]


def test_generalised_values_match_what_they_cover():
    frame = pd.DataFrame(
        {"age": ["50", "51", "50-54", "60", "*"], "sex": ["f", "f", "f", "m", "m"]}
    )
    tree = rb.Tree({"*": {"50-54": ["50", "51"], "60-64": ["60"]}})
    people = rb.read_table(frame, quasi_identifiers=["age", "sex"], hierarchies={"age": tree})
    sizes = rb.class_sizes_by_mask(people)
    assert sizes[:, 1].tolist() == [3, 3, 4, 2, 5]
    assert sizes[:, 3].tolist() == [2, 2, 3, 2, 2]


def test_histories_are_compared_whole_on_every_subset():
    frame = pd.DataFrame(
        {
            "id": [1, 1, 2, 2, 3, 3, 4],
            "day": ["a", "b", "a", "b", "a", "b", "a"],
            "ward": ["x", "y", "y", "x", "x", "y", "x"],
            "sex": ["f", "f", "f", "f", "m", "m", "f"],
        }
    )
    people = rb.read_table(frame, quasi_identifiers=["day", "ward", "sex"], subject_id="id")
    assert not people.is_columnwise
    sizes = rb.class_sizes_by_mask(people)
    columns = ["day", "ward", "sex"]
    for mask in range(8):
        known = [c for j, c in enumerate(columns) if mask >> j & 1]
        assert sizes[:, mask].tolist() == people.class_sizes(known).tolist()
    # 1 and 2 agree on the days and on the wards, but not on the days' wards.
    assert sizes[0].tolist()[:4] == [4, 3, 3, 2]
    table = rb.subsets(people)
    both = table[table["subset"].map(lambda s: s == ("day", "ward"))].iloc[0]
    assert both["classes"] == people.classes(["day", "ward"]).count == 3
    assert rb.subsets(people, per_person=True)["smallest_identifying"].tolist()[3] == ("day",)


def test_chunks_of_people_make_up_the_whole():
    people, _ = wildcard_people(5)
    plain = People.from_codes(np.random.default_rng(1).integers(0, 3, (57, 4)))
    for table in (people, plain):
        whole = rb.class_sizes_by_mask(table)
        parts = list(class_size_chunks(table, chunk_bytes=7 * 16 * 4))
        assert [p[0].start for p in parts] == list(range(0, len(table), 7))
        assert (np.concatenate([sizes for _, sizes in parts]) == whole).all()
        some = rb.class_sizes_by_mask(table, records=slice(3, 9))
        assert (some == whole[3:9]).all()


# What the subsets say


def test_the_table_has_no_classes_where_values_match_several_others():
    people, rows = wildcard_people(6)
    table = rb.subsets(people)
    assert table["classes"].isna().all()
    assert table.attrs["matching"] == "any value that may be the same"
    assert table.attrs["missing"] == "matches-anything"
    every = [p for size in range(1, 5) for p in combinations(range(4), size)]
    for places, row in zip(every, table.itertuples(), strict=True):
        sizes = [size_by_hand(rows, i, places) for i in range(len(rows))]
        assert row.uniques == sizes.count(1)
        assert row.largest == max(sizes)
        assert row.posterior == pytest.approx(sum(1 / a for a in sizes) / len(sizes))


def test_per_person_risk_follows_the_match_rule_too():
    people, rows = wildcard_people(7, n=20)
    own = np.random.default_rng(1).random(20)
    known = {f"c{j}": (f"c{j}", own if j == 2 else 0.3) for j in range(4)}
    table = rb.subsets(people, per_person=True, known=known)
    for i, row in enumerate(table.itertuples()):
        unique = mean = 0.0
        smallest = None
        for size in range(5):
            for places in combinations(range(4), size):
                chance = [own[i] if j == 2 else 0.3 for j in range(4)]
                weight = np.prod([p if j in places else 1 - p for j, p in enumerate(chance)])
                a = size_by_hand(rows, i, places)
                unique += weight * (a == 1)
                mean += weight / a
                if a == 1 and smallest is None:
                    smallest = tuple(f"c{j}" for j in places)
        assert row.unique == pytest.approx(unique)
        assert row.mean_inverse == pytest.approx(mean)
        assert row.smallest_identifying == smallest


def test_small_subsets_and_drawn_ones_follow_the_match_rule_too():
    people, rows = wildcard_people(8)
    most = rb.subsets(people, most=2)
    assert len(most) == 10
    for row in most.itertuples():
        places = [int(name[1]) for name in row.subset]
        assert row.uniques == [size_by_hand(rows, i, places) for i in range(30)].count(1)
    drawn = rb.subsets(people, draws=20, seed=1)
    full = rb.subsets(people).set_index("subset")
    for row in drawn.itertuples():
        if row.subset:
            assert row.uniques == full.loc[[row.subset], "uniques"].iloc[0]


def test_weights_follow_the_match_rule_too():
    frame = frame_with_gaps(9)
    frame["w"] = np.random.default_rng(2).random(30) + 0.5
    columns = ["c0", "c1", "c2", "c3"]
    people = rb.read_table(
        frame, quasi_identifiers=columns, weights="w", missing="matches-anything"
    )
    rows, w = frame[columns].to_numpy(), frame["w"].to_numpy()
    for row in rb.subsets(people).itertuples():
        places = [int(name[1]) for name in row.subset]
        inverses = [1 / size_by_hand(rows, i, places) for i in range(30)]
        assert row.mean_inverse == pytest.approx(w @ inverses / w.sum())


def test_class_frequencies_ask_the_people_where_histories_are_compared():
    frame = pd.DataFrame({"id": [1, 1, 2, 3], "day": list("abab"), "ward": list("xyxy")})
    people = rb.read_table(frame, quasi_identifiers=["day", "ward"], subject_id="id")
    for mask, found in enumerate(frequencies_by_mask(people)):
        known = [c for j, c in enumerate(["day", "ward"]) if mask >> j & 1]
        assert found.counts.tolist() == people.frequencies(known).counts.tolist()


# Against values made elsewhere


def test_missing_keys_match_anything_as_sdcmicro_counts_them():
    # sdcMicro's own test of individual risk with missing keys: 1/frequency of eight records.
    keys = [[2, 3, 1], [3, 3, 3], [2, 3, None], [2, 3, 2], [3, 3, 1], [3, 3, 1], [1, 4, None],
            [None, 3, 1]]  # fmt: skip
    frame = pd.DataFrame(keys, columns=["a", "b", "c"], dtype=object)
    people = rb.read_table(frame, quasi_identifiers=["a", "b", "c"], missing="matches-anything")
    assert rb.class_sizes_by_mask(people)[:, 7].tolist() == [3, 1, 4, 2, 3, 3, 1, 5]


@pytest.mark.parametrize("name", ["cervical", "adult2000", "diabetes2000"])
def test_class_sizes_on_all_subsets_give_the_outside_attribute_disclosure(shared, name):
    oracle = np.load(shared / "oracles" / "disclosure" / f"{name}.npz")
    codes = oracle["codes"]
    sizes = rb.class_sizes_by_mask(People.from_codes(codes)).astype(np.int64)
    d = codes.shape[1]
    subsets = np.arange(1, 1 << d)
    for secret in range(d):
        bit = 1 << secret
        without = subsets[(subsets & bit) == 0]
        full = (1 << d) - 1 - bit
        assert (sizes[:, full] == oracle["peers_max_aux"][:, secret]).all()
        others = sizes[:, without] - sizes[:, without | bit]
        assert (others[:, without == full][:, 0] == oracle["npp_max_aux"][:, secret]).all()
        least = (others / sizes[:, without]).min(axis=1)
        wanted = oracle["ppp_min_num"][:, secret] / oracle["ppp_min_den"][:, secret]
        np.testing.assert_array_equal(least, wanted)
