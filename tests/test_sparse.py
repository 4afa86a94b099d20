"""Sparse tables: what is read, who agrees with whom, and how sparse it is, against plain loops."""

import datetime
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sparse_oracle import agrees, random_table

import reidbn as rb
from reidbn.microdata import Bands, agreement, members, patterns

PRINTED = {  # [Popat25, Table 1]: the features of each part of a record
    "Personal": 7, "Sleep": 1, "Physical Activity": 15, "Food habits": 5, "Alcohol History": 12,
    "Travel History": 5, "Social & Personal History": 15, "Allergies": 6,
    "Current Medications": 80, "Past Medical History": 56, "Past Surgical History": 9,
    "Family History": 231, "Anthropometric Data": 5, "Investigation Comments": 18, "Vitals": 4,
    "Systemic Examination": 8, "General Examination": 13, "Blood Test Report": 136,
    "Radiographs/Spirometry": 3,
}  # fmt: skip


@pytest.mark.parametrize("mode", ["equal", "tolerance", "present"])
@pytest.mark.parametrize("seed", range(3))
def test_who_agrees_is_what_the_definition_says(mode, seed):
    cells, sparse, kinds = random_table(seed)
    found = agreement(sparse, mode)
    for i in range(len(sparse)):
        facts, sets = found.sets(i)
        assert facts.tolist() == [j for j in range(len(kinds)) if cells[f"f{j}"][i] is not None]
        expected = [
            [
                r != i and agrees(mode, kinds[j], cells[f"f{j}"][i], cells[f"f{j}"][r])
                for r in range(len(sparse))
            ]
            for j in facts
        ]
        assert members(sets, len(sparse)).tolist() == expected
        masks, counts = patterns(sets, len(sparse), i)
        columns = [tuple(column) for column in np.array(expected, dtype=bool).T.tolist()]
        del columns[i]  # of the others
        told = {
            tuple(bool(int(mask[0]) >> t & 1) for t in range(facts.size)): int(count)
            for mask, count in zip(masks, counts, strict=True)
        }
        assert told == {c: columns.count(c) for c in set(columns)}


def test_a_fifth_of_a_number_is_told_as_it_is_written():
    """Pairs right on the border, of which floats misjudge many."""
    values = [round(0.1 * i, 1) for i in range(1, 120)]
    sparse = rb.read_sparse({"x": values})
    found = agreement(sparse, "tolerance")
    floats_err = 0
    for i, a in enumerate(values):
        _, sets = found.sets(i)
        near = members(sets, len(values))[0]
        expected = [
            abs(Fraction(str(b)) - Fraction(str(a))) <= Fraction(str(a)) / 5 for b in values
        ]
        expected[i] = False
        assert near.tolist() == expected
        plain = [abs(b - a) <= 0.2 * a for b in values]
        plain[i] = False
        floats_err += plain != expected
    assert floats_err > 0  # the rule is worth having


def test_what_is_unusual_is_what_differs_from_the_commonest_content():
    table = {"a": [1, None, None, None], "b": [2, 2, 2, None], "c": [3, 3, 4, 4]}
    odd = rb.read_sparse(table).unusual(0.5)
    assert odd.names == ("a", "b")  # of c nothing is content of more than half
    assert [odd.rows[odd.start[j] : odd.start[j + 1]].tolist() for j in (0, 1)] == [[0], [3]]
    found = agreement(rb.read_sparse(table), "modal")
    assert found.match == "modal"
    assert found.sparse.names == odd.names


def test_facts_that_belong_together_are_one_fact():
    features = pd.DataFrame({"feature": ["a", "b", "c"], "together": ["x", "", "x"]})
    sparse = rb.read_sparse({"a": [1, 1, 1], "b": [5, 5, 6], "c": [2, 2, None]}, features=features)
    found = agreement(sparse, together=True)
    assert found.facts == ((0, 2), (1,))
    facts, sets = found.sets(0)
    assert facts.tolist() == [0, 1]
    assert members(sets, 3).tolist() == [[False, True, False], [False, True, False]]
    assert members(found.sets(2)[1], 3).tolist() == [[True, True, False], [False, False, False]]


def test_coarse_values_agree_in_one_band():
    sparse = rb.read_sparse({"age": [31, 34, 36], "x": ["a", "b", "b"]})
    coarse = sparse.coarser({"age": Bands(5)})
    assert members(agreement(coarse, "tolerance").sets(0)[1], 3)[0].tolist() == [False, True, False]
    assert coarse.features.loc["age", "values"] == 2


def test_the_made_up_records_have_the_printed_counts(real_data):
    """Table 1, row by row as it was transcribed."""
    printed = pd.read_csv(real_data / "papers" / "popat_table1.csv")
    rows = printed[printed["feature"] != "Total"]
    assert dict(zip(rows["feature"], rows["count"], strict=True)) == PRINTED
    found = rb.datasets.synthetic_ehr(5, seed=1).features
    counts = found.groupby(["type", "category", "section"]).size()
    for row in rows.itertuples():
        assert counts[row.type, row.category, row.feature] == row.count


def test_the_made_up_records_are_as_sparse_as_the_paper_says():
    ehr = rb.datasets.synthetic_ehr(1_000, seed=0)
    assert ehr.table.shape == (1_000, 629)
    assert ehr.features["section"].value_counts().to_dict() == PRINTED
    sparse = rb.read_sparse(ehr.table, features=ehr.features)
    assert 70 < np.median(sparse.facts) < 110
    assert sparse.facts.max() < 200  # "fewer than 200 of 629"
    assert np.array_equal(sparse.facts, ehr.table.notna().sum(axis=1))
    found = sparse.describe(targets=200, seed=3)
    assert found.share_sparse(0.4) < 0.02
    assert rb.datasets.synthetic_ehr(20, seed=4).table.equals(
        rb.datasets.synthetic_ehr(20, seed=4).table
    )


def test_the_nearest_record_is_found_by_equation_1():
    cells, sparse, kinds = random_table(5)
    found = sparse.describe()
    for i in range(len(sparse)):
        alike, present = [], []
        for r in range(len(sparse)):
            pairs = [(cells[f"f{j}"][i], cells[f"f{j}"][r]) for j in range(len(kinds))]
            either = max(1, sum(a is not None or b is not None for a, b in pairs))
            if r != i:
                alike.append(sum(a is not None and a == b for a, b in pairs) / either)
                present.append(sum(None not in pair for pair in pairs) / either)
        assert found.nearest[i] == pytest.approx(max(alike), abs=1e-6)
        assert found.farthest[i] == pytest.approx(min(alike), abs=1e-6)
        assert found.nearest_present[i] == pytest.approx(max(present), abs=1e-6)
    assert found.share_sparse(0.4, as_printed=True) <= found.share_sparse(0.4)
    assert len(found.figure("nearest").axes) == 1
    assert "nearest other record" in str(found)
    with pytest.raises(rb.errors.UsageError, match="did you mean"):
        found.figure("neares")


def test_kinds_are_inferred_and_shown():
    sparse = rb.read_sparse(
        {
            "who": ["a", "b", "c"], "smokes": ["Yes", "no", None], "town": [" Bonn", "bonn", "Ulm"],
            "birth year": [1970, 1980, None], "weight": [61.5, 70, None],
            "seen": [datetime.datetime(2020, 1, 1, 9, 30), datetime.datetime(2020, 1, 1, 11), None],
            "nobody": [None, None, None],
        },
        subject_id="who",
    )  # fmt: skip
    shown = sparse.features
    assert shown["kind"].tolist() == ["yes/no", "category", "year", "number", "date", "category"]
    assert shown["inferred"].all()
    assert shown["values"].tolist() == [2, 2, 2, 2, 1, 0]  # one town however written, one day
    assert shown["records"].tolist() == [2, 3, 2, 2, 2, 0]
    assert sparse.notes == ("nobody is known of nobody",)
    assert sparse.who.tolist() == ["a", "b", "c"]


def test_features_are_named_by_name_tag_section_and_category():
    ehr = rb.datasets.synthetic_ehr(30, seed=2)
    sparse = rb.read_sparse(ehr.table, features=ehr.features)
    names = np.array(sparse.names)
    for word, section in (("alcohol", "Alcohol History"), ("family history", "Family History")):
        assert set(names[sparse.named(word)]) == set(
            ehr.features.loc[ehr.features["section"] == section, "feature"]
        )
    assert sparse.named("Lifestyle").size == 53
    assert sparse.named(["Vitals", "Vitals: pulse"]).size == 4
    assert len(sparse.drop("Family History").schema) == 629 - 231
    again = rb.read_sparse(ehr.table, features=sparse.features)  # what it shows can be given
    assert again.select("colleague").names == sparse.select("colleague").names
    with pytest.raises(rb.errors.UsageError, match='"alcohol"'):
        sparse.named("alcohl")


def test_some_people_alone():
    cells, sparse, _ = random_table(7)
    some = sparse.take([4, 2, 9])
    assert some.who.tolist() == [4, 2, 9]
    assert some.take([2, 0]).who.tolist() == [9, 4]
    for j, labels in enumerate(some.labels):
        here = slice(some.start[j], some.start[j + 1])
        held = {r: labels[c] for r, c in zip(some.rows[here], some.codes[here], strict=True)}
        told = {new: cells[f"f{j}"][old] for new, old in enumerate([4, 2, 9])}
        assert held == {new: value for new, value in told.items() if value is not None}
    assert sparse.take(range(30)).fingerprint == sparse.fingerprint != some.fingerprint


@pytest.mark.parametrize(
    ("source", "more", "message"),
    [
        ({"a": [1, 2]}, {"features": {"name": ["a"]}}, 'needs a column "feature"'),
        ({"a": [1, 2]}, {"features": {"feature": ["b"]}}, 'names "b"'),
        ({"a": [1, 2]}, {"features": {"feature": ["a"], "kind": ["nubmer"]}}, '"number"'),
        ({"a": ["x", "7"]}, {"features": {"feature": ["a"], "kind": ["number"]}}, "1 distinct val"),
        ({"a": [1, 2]}, {"features": {"feature": ["a", "a"]}}, '"a" twice'),
        ({"a": [1, 2], "i": ["p", "p"]}, {"subject_id": "i"}, "repeats in 1 row"),
        ({"a": [1, 2], "i": ["p", None]}, {"subject_id": "i"}, "1 row has no subject"),
        ({"email": ["a@b.de", "c@d.de"]}, {}, "direct identifier"),
        ({"a": [1, "x"]}, {}, "mixes"),
        ({"a": []}, {}, "no rows"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_with_a_remedy(source, more, message):
    with pytest.raises((rb.errors.DataError, rb.errors.UsageError), match=message) as caught:
        rb.read_sparse(source, **more)
    assert "a@b.de" not in str(caught.value)


@pytest.mark.slow
def test_a_real_sparse_table_is_read(real_data):
    place = real_data / "nhanes_2013_2014"
    sparse = rb.read_sparse(
        place / "nhanes_2013_2014.parquet", features=place / "codebook.csv",
        missing_values=[], allow_direct=True,
    )  # fmt: skip
    assert (len(sparse), len(sparse.schema)) == (10_175, 813)
    frame = pd.read_parquet(place / "nhanes_2013_2014.parquet", columns=list(sparse.names))
    assert np.array_equal(sparse.facts, frame.notna().sum(axis=1))


def test_rows_of_one_fact_each_are_no_people():
    long = {"person": [1, 1, 2], "Feature": ["asthma", "age", "age"], "value": ["yes", "41", "62"]}
    with pytest.raises(rb.DataError, match=r'"feature" and "value" .* frame\.pivot') as problem:
        rb.read_sparse(long)
    assert "asthma" not in str(problem.value)
    assert "41" not in str(problem.value)
    wide = {"value": [1, 2], "weight": [61, 70]}
    assert rb.read_sparse(wide).names == ("value", "weight")


def test_numbers_that_were_read_as_text_are_numbers_where_the_feature_table_says_so():
    told = {"feature": ["a"], "kind": ["number"]}
    texts = rb.read_sparse({"a": ["41", None, " 41.5", "41.0"]}, features=told)
    numbers = rb.read_sparse({"a": [41, None, 41.5, 41.0]}, features=told)
    assert texts.codes.tolist() == numbers.codes.tolist()
    assert texts.labels[0].tolist() == numbers.labels[0].tolist()
    with pytest.raises(rb.DataError, match="is no number"):
        rb.read_sparse({"a": ["41", "4l"]}, features=told)
    assert rb.read_sparse({"a": ["041", "41"]}).features["kind"].tolist() == ["category"]
