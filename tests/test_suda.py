"""Minimal sample uniques against exhaustive search, and scores against published tables."""

import csv
import json
from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.errors import TooLarge, UsageError
from reidbn.microdata import People

# Rows, scores and column shares: three records printed with sdcMicro's own tests.
THREE = [[2, 0, 0], [1, 3, 6], [1, 0, 0]]

# The practice guide's ten survey records (Benschop and Welch, tables 4.1 and 4.5).
GUIDE = [
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Primary incomplete", "Non-LF"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Rural", "Female", "Secondary complete", "Unemployed"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Urban", "Female", "Primary complete", "Non-LF"),
    ("Urban", "Male", "Post-secondary", "Unemployed"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
]
KEYS = ["residence", "gender", "education", "labor"]


def guide():
    return rb.read_table(pd.DataFrame(GUIDE, columns=KEYS), quasi_identifiers=KEYS)


def by_exhaustion(rows, fits=lambda a, b: a == b):
    """Each row's minimal unique column sets, smallest first, by comparing row with row."""
    found = []
    for row in rows:
        mine: list[tuple[int, ...]] = []
        for size in range(1, len(row) + 1):
            for places in combinations(range(len(row)), size):
                if any(set(m) <= set(places) for m in mine):
                    continue
                if sum(all(fits(row[p], other[p]) for p in places) for other in rows) == 1:
                    mine.append(places)
        found.append(mine)
    return found


def test_three_records_have_the_published_scores_and_column_shares():
    found = rb.suda(People.from_codes(THREE, ["a", "b", "c"]))
    assert found.score.tolist() == [2, 4, 2]
    assert found.column_contributions() == {"a": 0.5, "b": 0.375, "c": 0.375}
    assert found.minimal_uniques(0) == [("a",)]
    assert found.minimal_uniques(1) == [("b",), ("c",)]
    assert found.minimal_uniques(2) == [("a", "b"), ("a", "c")]


def test_the_practice_guide_is_reproduced_under_both_scores():
    elliot = rb.suda(guide(), sampling_fraction=0.01)
    assert elliot.score.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    wanted = [0, 0, 0.004986797661, 0, 0.01138300651, 0, 0.004986797661, 0.009166678869, 0, 0]
    # The outside values were computed in single precision.
    np.testing.assert_allclose(elliot.dis_score, wanted, rtol=1e-6)
    ihsn = rb.suda(guide(), score="ihsn", sampling_fraction=0.01)
    assert ihsn.score.tolist() == [0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0]
    wanted = [0, 0, 0.005120313, 0, 0.010702061, 0, 0.005120313, 0.008775093, 0, 0]
    np.testing.assert_allclose(ihsn.dis_score, wanted, rtol=1e-6)


def test_dis_is_the_share_of_right_unique_matches():
    # Four uniques, six people in three pairs, one in a hundred sampled.
    found = rb.suda(guide(), sampling_fraction=0.01)
    assert found.dis == pytest.approx(4 * 0.01 / (4 * 0.01 + 6 * 0.99))
    assert rb.suda(guide()).dis_score is None
    everybody = rb.suda(guide(), sampling_fraction=1.0)
    assert everybody.dis == 1.0
    assert sorted(set(everybody.dis_score.tolist())) == [0.0, 1.0]


def test_people_with_doubles_have_no_minimal_unique_and_no_score():
    found = rb.suda(People.from_codes([[0, 1], [0, 1]]), sampling_fraction=0.1)
    assert found.total == 0
    assert found.score.tolist() == [0, 0]
    assert found.dis_score.tolist() == [0, 0]
    assert found.to_frame()["smallest_size"].isna().all()


def test_the_book_example_is_reproduced(shared):
    with open(shared / "oracles" / "sdc" / "suda_book_8.csv") as file:
        rows = list(csv.DictReader(file))
    names = ["age", "gender", "income", "education"]
    frame = pd.DataFrame(rows)[names]
    found = rb.suda(rb.read_table(frame, quasi_identifiers=names), sampling_fraction=0.1)
    assert found.score.tolist() == [float(r["suda_score"]) for r in rows]
    wanted = [float(r["dis_suda_f010"]) for r in rows]
    np.testing.assert_allclose(found.dis_score, wanted, rtol=1e-6, atol=1e-12)
    for j, name in enumerate(names):
        assert found.contributions[:, j].tolist() == [float(r[f"contrib_{name}"]) for r in rows]


def test_the_published_guide_file_says_the_same_as_the_table_above(shared):
    with open(shared / "oracles" / "sdc" / "practice_guide_10.csv") as file:
        rows = list(csv.DictReader(file))
    assert [tuple(r[k] for k in KEYS) for r in rows] == GUIDE
    found = rb.suda(guide(), sampling_fraction=0.01)
    assert found.score.tolist() == [float(r["suda_score"]) for r in rows]
    wanted = [float(r["dis_suda_original_scores"]) for r in rows]
    np.testing.assert_allclose(found.dis_score, wanted, rtol=1e-6)
    three = json.loads((shared / "oracles" / "sdc" / "small_oracles.json").read_text())
    assert three["suda_three_rows"]["rows_abc"] == THREE


@pytest.mark.parametrize("seed", range(10))
def test_minimal_uniques_are_those_of_an_exhaustive_search(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, rng.integers(2, 5), (rng.integers(2, 40), rng.integers(1, 6)))
    people = People.from_codes(codes)
    found = rb.suda(people)
    m = codes.shape[1]
    for i, sets in enumerate(by_exhaustion(codes.tolist())):
        names = [tuple(f"x{p}" for p in places) for places in sets]
        assert sorted(found.minimal_uniques(i)) == sorted(names)
        assert found.score[i] == sum(factorial(m - len(s)) for s in sets)
        assert found.counts[i].tolist() == [sum(len(s) == k for s in sets) for k in range(m + 1)]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_search_of_small_sets_finds_the_small_ones_with_the_weights_of_its_limit(most):
    rng = np.random.default_rng(30 + most)
    codes = rng.integers(0, 3, (30, 5))
    found = rb.suda(People.from_codes(codes), most=most)
    for i, sets in enumerate(by_exhaustion(codes.tolist())):
        small = [s for s in sets if len(s) <= most]
        assert len(found.minimal_uniques(i)) == len(small)
        weight = sum(np.prod([5 - i for i in range(len(s), most + 1)]) for s in small)
        assert found.score[i] == weight


def test_missing_cells_that_match_anything_make_fewer_minimal_uniques():
    rng = np.random.default_rng(5)
    values = rng.integers(0, 3, (25, 4)).astype(object)
    values[rng.random((25, 4)) < 0.1] = None
    frame = pd.DataFrame(values, columns=list("abcd"))
    people = rb.read_table(frame, quasi_identifiers=list("abcd"), missing="matches-anything")
    found = rb.suda(people)
    fits = lambda a, b: a is None or b is None or a == b  # noqa: E731
    for i, sets in enumerate(by_exhaustion(values.tolist(), fits)):
        assert sorted(found.minimal_uniques(i)) == sorted(tuple("abcd"[p] for p in s) for s in sets)
    assert found.total < rb.suda(people.as_written()).total


def test_the_chance_of_identification_follows_from_the_minimal_uniques():
    # E[1(a = 1)] is the probability that the known subset contains one of them.
    rng = np.random.default_rng(6)
    people = People.from_codes(rng.integers(0, 3, (40, 5)))
    found = rb.suda(people)
    unique = rb.subsets(people, per_person=True)["unique"]
    for i in range(40):
        sets = [set(s) for s in found.minimal_uniques(i)]
        hits = 0
        for mask in range(32):
            known = {f"x{j}" for j in range(5) if mask >> j & 1}
            hits += any(s <= known for s in sets)
        assert unique[i] == hits / 32


def test_forty_columns_can_be_searched_for_small_sets():
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 6, (50, 40))
    found = rb.suda(People.from_codes(codes), most=2)
    i = int(found.score.argmax())
    assert found.minimal_uniques(i) == [
        tuple(f"x{p}" for p in places)
        for size in (1, 2)
        for places in combinations(range(40), size)
        if (codes[:, places] == codes[i, places]).all(axis=1).sum() == 1
        and not (size == 2 and any((codes[:, [p]] == codes[i, [p]]).sum() == 1 for p in places))
    ]


def test_adult_has_as_many_minimal_uniques_as_sdcmicro_finds(real_data):
    people = rb.read_table(
        real_data / "kroes" / "adult.csv.gz",
        quasi_identifiers=[
            "gender", "age", "race", "marital_status", "education", "native_country",
            "work_class", "occupation", "salary",
        ],
    )  # fmt: skip
    found = rb.suda(people)
    assert found.total == 62_809
    assert (found.counts.sum(axis=1) > 0).sum() == 15_512


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"score": "elliott"}, 'did you mean "elliot"'),
        ({"most": 0}, r"need 1\.\.3"),
        ({"most": 4}, r"need 1\.\.3"),
        ({"sampling_fraction": 0.0}, "at most 1"),
        ({"sampling_fraction": 1.5}, "at most 1"),
        ({"columns": ["z"]}, "no column"),
        ({"columns": []}, "no column to search"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(options, says):
    with pytest.raises(UsageError, match=says):
        rb.suda(People.from_codes(THREE, ["a", "b", "c"]), **options)


def test_a_search_beyond_the_limits_is_refused_with_the_remedy():
    wide = People.from_codes(np.eye(60, dtype=int))
    with pytest.raises(TooLarge, match=r"2\^60"):
        rb.suda(wide)
    with pytest.raises(TooLarge, match="smaller most="):
        rb.suda(wide, most=5)
    with pytest.raises(TooLarge, match=r"smaller sets \(most=\)"):
        rb.suda(wide, most=3, memory_limit=1000)


def test_results_read_as_tables():
    table = rb.suda(guide(), sampling_fraction=0.01).to_frame()
    assert table["minimal_uniques"].tolist() == [0, 0, 1, 0, 4, 0, 1, 3, 0, 0]
    assert table["smallest_size"].tolist()[4] == 1
    assert list(table) == ["minimal_uniques", "smallest_size", "score", "dis_score"]
    assert repr(rb.suda(guide())) == "Suda(9 minimal sample uniques of 4 people, elliot)"


def test_too_many_columns_are_refused_with_a_remedy_that_suda_has():
    with pytest.raises(TooLarge, match=r"most=3") as caught:
        rb.suda(People.from_codes(np.eye(22, dtype=int)))
    assert "samples=" not in str(caught.value)


@pytest.mark.parametrize("person", [-1, 3])
def test_a_person_who_is_not_there_is_refused_not_called_safe(person):
    with pytest.raises(UsageError, match=f"people are 0 to 2; asked for {person}"):
        rb.suda(People.from_codes(THREE)).minimal_uniques(person)
