"""People and their classes: against counting by the definition, and under harmless changes."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import inside

import reidbn as rb
from reidbn.errors import DataError, UsageError
from reidbn.microdata import People, class_ids, class_sizes
from tests.tables import KANON_PEOPLE, as_columns, coded, sizes_by_definition


@given(coded())
def test_class_sizes_are_counts_of_equal_rows(rows):
    people = People.from_codes(rows)
    sizes = sizes_by_definition(rows)
    classes = Counter(map(tuple, rows.tolist()))
    assert people.class_sizes().tolist() == sizes
    assert people.k() == min(sizes)
    found = people.classes()
    assert (found.count, found.uniques) == (len(classes), sum(n == 1 for n in classes.values()))
    assert found.largest == max(sizes)
    assert found.mean_risk == pytest.approx(np.mean([1 / s for s in sizes]), rel=1e-12)
    f = people.frequencies()
    assert dict(zip(f.sizes.tolist(), f.counts.tolist(), strict=True)) == Counter(classes.values())
    assert (f.n, f.classes, f.uniques) == (len(rows), found.count, found.uniques)


@given(coded(), st.data())
def test_classes_on_some_columns_are_those_of_the_table_cut_to_them(rows, data):
    people = People.from_codes(rows)
    some = data.draw(st.lists(st.sampled_from(people.columns), unique=True))
    cut = rows[:, [people.columns.index(name) for name in some]]
    assert people.class_sizes(some).tolist() == sizes_by_definition(cut)
    assert people.select(some).class_sizes().tolist() == sizes_by_definition(cut)
    assert people.codes(some).tolist() == cut.tolist()
    assert people.codes(some).flags.f_contiguous
    assert not people.codes(some).flags.writeable


@given(coded(), st.sampled_from([1, 3, 7, 62]))
def test_class_numbers_are_the_same_however_few_bits_a_key_may_have(rows, bits):
    """With few bits the columns are renumbered on the way, as they are when products overflow."""
    people = People.from_codes(rows)
    expected = np.unique(rows, axis=0, return_inverse=True)[1].ravel().tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inside(class_ids), "_BITS", bits)
        ids, count = people.class_ids()
        assert people.class_sizes().tolist() == sizes_by_definition(rows)
    assert ids.tolist() == expected
    assert count == max(expected) + 1


@pytest.mark.parametrize("cardinality", [3, 2**11, 2**20, 2**31 - 1])
def test_every_size_of_domain_is_counted_alike(cardinality):
    """Dense counting, packed sorting, and sorting by reference, on the same 6-column rows."""
    rng = np.random.default_rng(20250302)
    values = rng.integers(0, cardinality, 3)
    rows = values[rng.integers(0, 3, (500, 6))].astype(np.int32)
    cards = (cardinality,) * 6
    expected = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    ids, count = class_ids(rows, cards)
    assert (ids == expected).all()
    assert count == expected.max() + 1
    assert (class_sizes(rows, cards) == np.bincount(expected)[expected]).all()


@given(coded(), st.randoms(use_true_random=False))
def test_the_order_of_records_columns_and_codes_changes_no_class(rows, random):
    people = People.from_codes(rows)
    order = list(range(len(rows)))
    random.shuffle(order)
    assert people.take(order).class_sizes().tolist() == people.class_sizes()[order].tolist()
    columns = list(people.columns)
    random.shuffle(columns)
    assert people.class_sizes(columns).tolist() == people.class_sizes().tolist()
    names = list(range(4))
    random.shuffle(names)
    assert People.from_codes(np.array(names)[rows]).class_sizes().tolist() == (
        people.class_sizes().tolist()
    )


@given(coded())
def test_a_constant_column_changes_nothing_and_a_doubled_table_doubles_every_class(rows):
    sizes = People.from_codes(rows).class_sizes()
    constant = np.column_stack([rows, np.zeros(len(rows), dtype=np.int32)])
    assert People.from_codes(constant).class_sizes().tolist() == sizes.tolist()
    twice = People.from_codes(np.vstack([rows, rows])).class_sizes()
    assert twice.tolist() == [*(2 * sizes), *(2 * sizes)]


@given(coded(), st.data())
def test_one_more_column_never_makes_a_class_larger(rows, data):
    people = People.from_codes(rows)
    some = data.draw(st.lists(st.sampled_from(people.columns), unique=True))
    for name in set(people.columns) - set(some):
        assert (people.class_sizes([*some, name]) <= people.class_sizes(some)).all()


def test_the_empty_subset_is_one_class_of_everybody():
    people = People.from_codes([[0], [1], [2]])
    assert people.class_sizes([]).tolist() == [3, 3, 3]
    assert people.classes([]).count == 1


def test_the_course_tables_have_k_one_two_and_three_with_their_classes():
    """[KAnonCourse] tables 2 to 4: exact, only the year of birth, only the gender."""
    names = ["DoB", "Gender", "Disease"]
    exact = rb.read_table(
        as_columns(KANON_PEOPLE, names), quasi_identifiers=names[:2], sensitive="Disease"
    )
    hidden = exact.generalise(
        {"DoB": 1, "Gender": 1},
        hierarchies={"DoB": rb.Suffix(5), "Gender": rb.Tree({"*": ["M", "F"]})},
    )
    no_date = exact.generalise({"DoB": 2}, hierarchies={"DoB": rb.Suffix(5)})
    assert exact.k() == 1
    assert exact.classes().uniques == 6
    assert hidden.k() == 2
    assert hidden.labels("DoB").tolist() == ["*/1960", "*/1970"]
    assert partition(hidden.class_ids()[0]) == partition([0, 0, 1, 1, 0, 0])
    assert no_date.k() == 3
    assert partition(no_date.class_ids()[0]) == partition([0, 1, 1, 1, 0, 0])


def partition(labels):
    groups = {}
    for i, label in enumerate(labels):
        groups.setdefault(int(label), []).append(i)
    return sorted(groups.values())


@pytest.mark.parametrize("number", [2, 3, 4])
def test_the_course_tables_as_printed_have_their_printed_classes(shared, number):
    import pandas as pd

    table = pd.read_csv(shared / "data" / "papers" / f"kanon_course_table{number}.csv")
    people = rb.read_table(table, quasi_identifiers=["DoB", "Gender"])
    assert people.k() == table["k_of_table"][0]
    assert partition(people.class_ids()[0]) == partition(table["class"])


def test_the_practice_guide_table_has_its_published_counts_and_weights(shared):
    import pandas as pd

    table = pd.read_csv(shared / "oracles" / "sdc" / "practice_guide_10.csv")
    keys = ["residence", "gender", "education", "labor"]
    people = rb.read_table(table, quasi_identifiers=keys, weights="weight")
    assert people.class_sizes().tolist() == table["fk"].tolist()
    assert people.class_weights() == pytest.approx(table["Fk"].to_numpy(), abs=1e-9)


def test_missing_keys_that_match_anything_count_as_sdcmicro_counts_them(shared):
    unit = json.loads((shared / "oracles" / "sdc" / "small_oracles.json").read_text())[
        "indiv_risk_unit"
    ]
    for keys, risks in (
        (unit["keys"], unit["risk_no_weights"]),
        (unit["with_missing"]["keys"], unit["with_missing"]["risk_no_weights"]),
    ):
        people = rb.read_table(
            as_columns(keys, ["a", "b", "c"]) | {"w": unit["weights"]},
            quasi_identifiers=["a", "b", "c"], weights="w", missing="matches-anything",
        )  # fmt: skip
        assert 1 / people.class_sizes() == pytest.approx(risks, abs=5e-6)
    exact = rb.read_table(
        as_columns(unit["keys"], ["a", "b", "c"]) | {"w": unit["weights"]},
        quasi_identifiers=["a", "b", "c"], weights="w",
    )  # fmt: skip
    assert exact.class_sizes().tolist() == unit["fk"]
    assert exact.class_weights().tolist() == unit["Fk"]


def test_the_histogram_counts_every_class_and_record_once():
    rng = np.random.default_rng(20250303)
    people = People.from_codes(rng.geometric(0.2, (2000, 1)) - 1)
    table = people.classes().histogram()
    sizes = Counter(people.table[:, 0].tolist()).values()
    for row in table.itertuples():
        inside = [s for s in sizes if row.smallest <= s <= row.largest]
        assert (row.classes, row.people) == (len(inside), sum(inside))
    assert table["people"].sum() == 2000
    assert table["share"].sum() == pytest.approx(1)


def test_take_and_drop_agree_and_keep_what_belongs_to_each_person():
    people = rb.read_table(
        {"a": ["x", "y", "x", "z"], "w": [1, 2, 3, 4], "id": ["p", "q", "r", "s"]},
        quasi_identifiers="a", weights="w", subject_id="id",
    )  # fmt: skip
    kept = people.take([3, 0])
    assert kept.subject_ids.tolist() == ["s", "p"]
    assert kept.weights.tolist() == [4, 1]
    assert kept.labels("a")[kept.codes()[:, 0]].tolist() == ["z", "x"]
    assert people.drop([1, 2]).subject_ids.tolist() == ["p", "s"]
    assert people.drop(np.array([False, True, True, False])).fingerprint == (
        people.take([0, 3]).fingerprint
    )
    with pytest.raises(DataError, match="no person is left"):
        people.drop([0, 1, 2, 3])
    with pytest.raises(UsageError, match=r"outside 0\.\.3"):
        people.take([4])
    with pytest.raises(UsageError, match="one each"):
        people.take([True, False])


def test_people_cannot_be_changed():
    people = People.from_codes([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="read-only"):
        people.table[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        people.labels("x0")[0] = 5
    with pytest.raises(AttributeError):
        people.missing = "drop"


def test_the_fingerprint_follows_the_content_only():
    one = rb.read_table({"a": [1, 2], "b": [3, 3]}, quasi_identifiers=["a"])
    again = rb.read_table({"b": [9, 9], "a": [1, 2]}, quasi_identifiers=["a"])
    assert one.fingerprint == again.fingerprint
    for other in (
        rb.read_table({"a": [2, 1]}, quasi_identifiers=["a"]),
        rb.read_table({"a": ["1", "2"]}, quasi_identifiers=["a"]),
        rb.read_table({"a": [1, 2]}, quasi_identifiers=["a"], missing="drop"),
        rb.read_table({"z": [1, 2]}, quasi_identifiers=["z"]),
    ):
        assert other.fingerprint != one.fingerprint


def test_a_wrong_column_is_named_with_the_nearest_right_one():
    people = People.from_codes([[0, 1]], ["sex", "age"])
    with pytest.raises(UsageError, match='did you mean "age"'):
        people.class_sizes(["agee"])
    with pytest.raises(UsageError, match="twice"):
        people.class_sizes(["age", "age"])


@pytest.mark.slow
def test_a_table_of_two_million_classes_is_counted_right():
    rng = np.random.default_rng(20250304)
    rows = rng.integers(0, 2**20, (2_000_000, 4)).astype(np.int32)
    rows[1_000_000:] = rows[:1_000_000]
    people = People.from_codes(rows)
    assert (people.class_sizes() % 2 == 0).all()
    assert people.classes().count == len(np.unique(rows, axis=0))


@settings(max_examples=25, deadline=None)
@given(coded(most_rows=8, most_columns=3))
def test_one_over_class_size_is_the_posterior_of_the_record_network(rows):
    """A uniform record and its attributes: P(record | attributes), by elimination."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

    n, d = rows.shape
    network = DiscreteBayesianNetwork([("record", f"x{j}") for j in range(d)])
    network.add_cpds(TabularCPD("record", n, [[1 / n]] * n))
    for j in range(d):
        table = (rows[:, j] == np.arange(5)[:, None]).astype(float)
        network.add_cpds(TabularCPD(f"x{j}", 5, table, ["record"], [n]))
    sizes = People.from_codes(rows).class_sizes()
    for i in range(n):
        seen = {f"x{j}": int(rows[i, j]) for j in range(d)}
        found = VariableElimination(network).query(["record"], seen, show_progress=False)
        assert found.values[i] == pytest.approx(1 / sizes[i], abs=1e-12)
