"""Histories: whole histories compared, against comparing them one by one."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reidbn as rb
from reidbn.errors import DataError, UsageError

ADMISSIONS = [  # person, sex, days, diagnosis: the shape of [Antoniou22] table 3
    ("a", "M", "0-5", "Cancer"), ("a", "M", "6-15", "Pneumonia"),
    ("b", "M", "0-5", "Cancer"), ("b", "M", "6-15", "Stroke"),
    ("c", "M", "6-15", "Influenza"), ("c", "M", "0-5", "Pneumonia"),
    ("d", "F", "20-25", "Cancer"), ("e", "F", "20-25", "Cancer"), ("f", "F", "20-25", "Cancer"),
]  # fmt: skip
NAMES = ("person", "sex", "days", "diagnosis")


def table(rows):
    return {name: [row[j] for row in rows] for j, name in enumerate(NAMES)}


def read(rows, **options):
    options = {"quasi_identifiers": ["sex", "days", "diagnosis"]} | options
    return rb.read_table(table(rows), subject_id="person", **options)


COMPARED = {
    "multiset": lambda records: frozenset(Counter(records).items()),
    "set": frozenset,
    "sequence": tuple,
}


def sizes_by_definition(rows, columns, mode):
    """Columns that never change within a person count once, however many records there are."""
    persons = {}
    for row in rows:
        persons.setdefault(row[0], []).append(tuple(row[NAMES.index(c)] for c in columns))
    fixed = all(len(set(records)) == 1 for records in persons.values())
    compare = COMPARED["set" if fixed else mode]
    wholes = [compare(records) for records in persons.values()]
    return [wholes.count(whole) for whole in wholes]


rows = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.just("M"), st.integers(0, 1), st.sampled_from("xyz")),
    min_size=1,
    max_size=18,
)


@pytest.mark.parametrize("mode", COMPARED)
@given(rows=rows, columns=st.sets(st.sampled_from(NAMES[1:])).map(sorted))
def test_people_are_alike_when_their_whole_histories_are(mode, rows, columns):
    people = read(rows, history=mode)
    assert people.subject_ids.tolist() == list(dict.fromkeys(row[0] for row in rows))
    assert people.class_sizes(columns).tolist() == sizes_by_definition(rows, columns, mode)
    ids, count = people.class_ids(columns)
    assert len(set(ids.tolist())) == count == people.classes(columns).count


def test_the_columns_apart_say_less_than_the_records_together():
    rows = [("p", "M", 1, "x"), ("p", "M", 2, "y"), ("q", "M", 1, "y"), ("q", "M", 2, "x")]
    people = read(rows)
    assert people.class_sizes(["days"]).tolist() == [2, 2]
    assert people.class_sizes(["diagnosis"]).tolist() == [2, 2]
    assert people.class_sizes(["days", "diagnosis"]).tolist() == [1, 1]
    assert not people.is_columnwise
    with pytest.raises(UsageError, match="days and diagnosis change"):
        people.codes()
    assert people.select(["sex", "days"]).is_columnwise
    assert people.codes(["sex", "days"]).tolist() == [[0, 0], [0, 0]]


def test_a_history_of_admissions_makes_the_classes_of_its_multisets():
    people = read(ADMISSIONS)
    assert len(people) == 6
    assert people.class_sizes(["sex", "days"]).tolist() == [3] * 6
    assert read(ADMISSIONS, history="sequence").class_sizes(["days"]).tolist() == [2, 2, 1, 3, 3, 3]
    assert people.class_sizes().tolist() == [1, 1, 1, 3, 3, 3]
    assert people.labels("days").tolist() == [("20-25",), ("0-5", "6-15")]
    assert "9 records of 6 people, compared as multisets" in people.notes


def test_person_level_columns_only_leaves_out_what_changes():
    people = read(ADMISSIONS, history="person")
    assert people.quasi_identifiers == ("sex",)
    assert people.class_sizes().tolist() == [3] * 6
    assert "left out, since they change within a person: days, diagnosis" in people.notes
    secret = read(ADMISSIONS, history="person", quasi_identifiers=["sex"], sensitive=["diagnosis"])
    assert secret.labels("diagnosis")[secret.codes("diagnosis")[0, 0]] == ("Cancer", "Pneumonia")
    with pytest.raises(DataError, match="every quasi-identifier changes"):
        read(ADMISSIONS, history="person", quasi_identifiers=["days"])


def test_rows_of_a_person_need_not_stand_together():
    apart = [ADMISSIONS[i] for i in (0, 6, 2, 1, 7, 4, 3, 8, 5)]
    people, moved = read(ADMISSIONS), read(apart)
    sizes = dict(zip(people.subject_ids, people.class_sizes(), strict=True))
    assert dict(zip(moved.subject_ids, moved.class_sizes(), strict=True)) == sizes


@given(rows=rows, data=st.data())
def test_some_people_of_a_table_stay_alike_or_not_as_they_were(rows, data):
    people = read(rows)
    keep = data.draw(st.lists(st.sampled_from(range(len(people))), min_size=1, unique=True))
    kept = people.take(keep)
    for columns in (["days"], ["days", "diagnosis"], ["sex", "days", "diagnosis"]):
        before = people.class_ids(columns)[0][keep].tolist()
        assert kept.class_sizes(columns).tolist() == [before.count(own) for own in before]
    assert kept.history is None or kept.history.lengths.tolist() == (
        people.history.lengths[keep].tolist()
    )


def test_generalised_histories_are_generalised_record_by_record():
    days = {"short": ["0-5", "6-15"], "long": ["20-25"]}
    illness = {"bad": ["Cancer", "Stroke"], "lungs": ["Pneumonia", "Influenza"]}
    people = read(ADMISSIONS, hierarchies={"days": days, "diagnosis": illness})
    coarse = people.generalise({"days": 1, "diagnosis": 1})
    up = {v: k for tree in (days, illness) for k, values in tree.items() for v in values}
    by_hand = read([(p, s, up[d], up[x]) for p, s, d, x in ADMISSIONS])
    assert coarse.class_sizes().tolist() == by_hand.class_sizes().tolist() == [1, 1, 1, 3, 3, 3]


def test_one_weight_a_person_and_one_policy_for_missing_cells():
    rows = table(ADMISSIONS[:4])
    people = rb.read_table(
        rows | {"w": [2, 2, 5, 5]}, quasi_identifiers=["sex"], subject_id="person", weights="w"
    )
    assert people.class_weights().tolist() == [7, 7]
    with pytest.raises(DataError, match="1 person has different weights"):
        rb.read_table(
            rows | {"w": [2, 3, 5, 5]}, quasi_identifiers=["sex"], subject_id="person", weights="w"
        )
    holed = [("a", "M", None, "x"), ("a", "M", 1, "x"), ("b", "M", 1, "y"), ("c", None, 1, "y")]
    assert read(holed).class_sizes().tolist() == [1, 1, 1]
    dropped = read(holed, missing="drop")
    assert dropped.subject_ids.tolist() == ["b"]
    assert dropped.dropped == 2
    with pytest.raises(DataError, match='"days" changes within a person'):
        read(holed, missing="matches-anything")
    known = read(holed, missing="matches-anything", history="person")
    assert known.class_sizes(["sex", "diagnosis"]).tolist() == [1, 2, 2]


def test_one_record_each_is_a_plain_table_with_names():
    people = read(ADMISSIONS[6:])
    assert people.history is None
    assert people.subject_ids.tolist() == ["d", "e", "f"]


def test_the_printed_groups_of_antoniou_are_the_classes_of_whole_histories(shared):
    """[Antoniou22] table 3: the label stands on the first row of each group only."""
    import pandas as pd

    printed = pd.read_csv(shared / "data" / "papers" / "antoniou_table3.csv")
    printed["group"] = printed["equivalence_group_label"].ffill()
    group = printed.groupby("patient_id", sort=False)["group"].first()
    people = rb.read_table(
        printed,
        quasi_identifiers=["sex", "age", "postcode", "ethnicity", "length_of_stay_days"],
        sensitive=["diagnosis"],
        subject_id="patient_id",
    )
    assert people.subject_ids.tolist() == group.index.tolist()
    assert people.class_sizes().tolist() == group.map(group.value_counts()).tolist()
    assert people.frequencies().sizes.tolist() == [3, 4]
    leak = pd.read_csv(shared / "data" / "papers" / "antoniou_table4.csv")
    assert len(rb.read_table(leak, quasi_identifiers=["sex", "age"], subject_id="patient_id")) == 3
