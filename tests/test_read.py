"""Reading: every source gives the same people."""

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import inside

import reidbn as rb
from reidbn.errors import DataError
from reidbn.microdata import code_csv, source_of
from tests.tables import write

PRIVATE = "zanzibar7731"

FRAME = pd.DataFrame(
    {
        "name": ["Ann A", "Bob B", "Cy C", "Di D", "Ed E"],
        "sex": ["F", "M", None, "F", "M"],
        "age": [50, 51, 50, None, 61],
        "zip": ["01234", "1234", "01234", "01234", ""],
        "income": [1.5, 2.0, 2.5, 1.5, float("nan")],
        "born": pd.to_datetime(["1970-01-02", "1960-05-01", None, "1970-01-02", "1955-12-31"]),
        "veteran": pd.array([True, False, None, True, True], dtype="boolean"),
    }
)
QI = ["sex", "age", "zip", "income", "born", "veteran"]


def duckdb_relation(frame):
    import duckdb

    return duckdb.from_df(frame)  # of the connection that stays


def parquet(frame, folder):
    frame.to_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def arrow_file(frame, folder):
    import pyarrow as pa
    from pyarrow import feather

    feather.write_feather(pa.Table.from_pandas(frame), str(folder / "t.arrow"))
    return folder / "t.arrow"


def polars_frame(frame, folder):
    import polars as pl

    return pl.read_parquet(parquet(frame, folder))


def arrow_table(frame, folder):
    import pyarrow.parquet as pq

    return pq.read_table(parquet(frame, folder))


SOURCES = {
    "pandas": lambda f, d: f,
    "pandas categories": lambda f, d: f.astype({"sex": "category", "zip": "category"}),
    "parquet": parquet,
    "arrow file": arrow_file,
    "arrow table": arrow_table,
    "arrow batches": lambda f, d: arrow_table(f, d).to_reader(max_chunksize=2),
    "arrow dictionaries": lambda f, d: arrow_table(f.astype({"zip": "category"}), d),
    "polars": polars_frame,
    "polars lazy": lambda f, d: polars_frame(f, d).lazy(),
    "polars categories": lambda f, d: polars_frame(f.astype({"zip": "category"}), d),
    "duckdb": lambda f, d: duckdb_relation(f),
    "dict": lambda f, d: {c: f[c].tolist() for c in f},
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_people(kind, tmp_path):
    people = rb.read_table(SOURCES[kind](FRAME, tmp_path), quasi_identifiers=QI)
    same = rb.read_table(FRAME, quasi_identifiers=QI)
    assert people.fingerprint == same.fingerprint
    assert people.labels("age").tolist() == [50, 51, 61, None]
    assert people.labels("zip").tolist() == ["01234", "1234", None]
    assert people.labels("born").tolist()[0].isoformat() == "1955-12-31"
    assert people.codes(["sex", "zip"]).tolist() == [[0, 0], [1, 1], [2, 0], [0, 0], [1, 2]]


def test_a_duckdb_relation_reads_the_same_without_pyarrow(monkeypatch):
    same = rb.read_table(FRAME, quasi_identifiers=QI)
    monkeypatch.setattr(inside(source_of), "find_spec", lambda name: None)
    people = rb.read_table(duckdb_relation(FRAME), quasi_identifiers=QI)
    assert people.fingerprint == same.fingerprint


@pytest.mark.parametrize("ending", ["t.csv", "t.csv.gz", "t.tsv"])
def test_a_csv_file_reads_like_the_frame(ending, tmp_path):
    path = tmp_path / ending
    FRAME.to_csv(path, index=False, sep="\t" if ending.endswith("tsv") else ",")
    some = ["sex", "age", "zip", "income"]
    people = rb.read_table(path, quasi_identifiers=some)
    assert people.fingerprint == rb.read_table(FRAME, quasi_identifiers=some).fingerprint


def test_csv_reads_semicolons_byte_marks_crlf_quotes_and_blank_lines(tmp_path):
    text = '\ufeffsex;"job; title";age\r\nF;"clerk; ""b""";50\r\n\r\n M ;"two\r\nlines";7\r\nF;x;50'
    people = rb.read_table(write(tmp_path, text), quasi_identifiers=["sex", "job; title", "age"])
    assert people.labels("job; title").tolist() == ['clerk; "b"', "two\r\nlines", "x"]
    assert people.labels("sex").tolist() == ["F", "M"]
    assert people.labels("age").tolist() == [7, 50]
    assert people.class_sizes(["sex", "age"]).tolist() == [2, 1, 2]


def test_csv_keeps_words_that_others_take_for_missing(tmp_path):
    text = "country,code\nNA,None\nNA,NaN\nnull,?\n,\n"
    people = rb.read_table(write(tmp_path, text), quasi_identifiers=["country", "code"])
    assert people.labels("country").tolist() == ["NA", "null", None]
    asked = rb.read_table(
        tmp_path / "t.csv", quasi_identifiers=["country", "code"], missing_values=["NA", "?"]
    )
    assert asked.labels("country").tolist() == ["null", None]
    assert asked.labels("code").tolist() == ["NaN", "None", None]


def test_dates_and_times_are_dates_unless_one_has_a_time_of_day():
    from datetime import UTC, date, datetime

    days = {"d": [date(1970, 1, 2), datetime(1970, 1, 2)]}
    assert rb.read_table(days, quasi_identifiers="d").labels("d").tolist() == [date(1970, 1, 2)]
    times = {"d": [date(1970, 1, 2), datetime(1970, 1, 2, 5)]}
    assert rb.read_table(times, quasi_identifiers="d").labels("d").tolist() == [
        datetime(1970, 1, 2), datetime(1970, 1, 2, 5)
    ]  # fmt: skip
    mixed = {"d": [datetime(1970, 1, 2, 5, tzinfo=UTC), datetime(1970, 1, 2)]}
    with pytest.raises(DataError, match="time zone"):
        rb.read_table(mixed, quasi_identifiers="d")


def test_a_number_may_stand_for_missing_in_every_source(tmp_path):
    frame = pd.DataFrame({"age": [50, -9, 51], "x": [0.5, -9.0, 1.5]})
    for kind in ("pandas", "polars", "duckdb"):
        people = rb.read_table(
            SOURCES[kind](frame, tmp_path), quasi_identifiers=["age", "x"], missing_values=["-9"]
        )
        assert people.labels("age").tolist() == [50, 51, None]
        assert people.labels("x").tolist() == [0.5, 1.5, None]


def test_equal_numbers_written_differently_are_one_value(tmp_path):
    people = rb.read_table(write(tmp_path, "age,x\n50,a\n50.0,a\n7,a\n"), quasi_identifiers=["age"])
    assert people.labels("age").tolist() == [7, 50]
    assert people.class_sizes().tolist() == [2, 2, 1]


@pytest.mark.parametrize("quoting", ["QUOTE_ALL", "QUOTE_MINIMAL"])
@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\0\r"),
                                       max_size=4)] * 2), min_size=1, max_size=8),
)  # fmt: skip
def test_any_csv_codes_to_its_own_stripped_texts(quoting, cells, tmp_path_factory):
    import csv

    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, quoting=getattr(csv, quoting), lineterminator="\n")
        writer.writerows([("left", "right"), *(("a" + a, "b" + b) for a, b in cells)])
    people = rb.read_table(path, quasi_identifiers=["left", "right"], allow_direct=True)
    codes = people.codes()
    got = [
        tuple(people.labels(c)[codes[i, j]] for j, c in enumerate(("left", "right")))
        for i in range(len(people))
    ]
    assert got == [(("a" + a).strip(), ("b" + b).strip()) for a, b in cells]


def test_a_csv_block_boundary_inside_a_quoted_line_changes_nothing(tmp_path, monkeypatch):
    path = write(tmp_path, 'a,b\n"x,\n""1",2\n"y",3\n' * 1 + '"z\n,",4\n')
    whole = rb.read_table(path, quasi_identifiers=["a", "b"])
    monkeypatch.setattr(inside(code_csv), "_ROWS", 2)
    for size in range(1, 12):
        monkeypatch.setattr(inside(code_csv), "_BLOCK", size)
        assert rb.read_table(path, quasi_identifiers=["a", "b"]).fingerprint == whole.fingerprint


def test_only_named_columns_enter():
    people = rb.read_table(FRAME, quasi_identifiers=["sex"], sensitive=["income"])
    assert people.columns == ("sex", "income")
    assert "Ann" not in repr(vars(people))


def test_pandas_drops_records_with_a_missing_key_and_we_do_not():
    sexes = ["F", None, "M", None, None]
    by_pandas = pd.DataFrame({"sex": sexes}).groupby("sex").size().sum()
    people = rb.read_table({"sex": sexes}, quasi_identifiers="sex")
    assert by_pandas == 2
    assert people.frequencies().n == 5
    assert people.class_sizes().tolist() == [1, 3, 1, 3, 3]


@pytest.mark.parametrize(
    ("policy", "sizes"), [("value", [1, 1, 1]), ("matches-anything", [2, 2, 3]), ("drop", [1, 1])]
)
def test_what_a_missing_cell_is_follows_the_stated_policy(policy, sizes):
    rows = {"sex": ["M"] * 3, "school": ["done", "not", None], "job": ["yes"] * 3}
    people = rb.read_table(rows, quasi_identifiers=list(rows), missing=policy)
    assert people.class_sizes().tolist() == sizes
    assert people.missing == policy
    assert people.dropped == (policy == "drop")
    assert people.is_partition == (policy != "matches-anything")


def test_weights_are_numbers_above_zero_and_add_up_in_classes():
    rows = {"sex": ["F", "F", "M"], "w": [1.5, 2.0, 10.0]}
    people = rb.read_table(rows, quasi_identifiers=["sex"], weights="w")
    assert people.class_weights().tolist() == [3.5, 3.5, 10.0]
    assert people.columns == ("sex",)
    for bad in (-1.0, 0.0, float("inf"), float("nan"), None):
        with pytest.raises(DataError, match="weight"):
            rb.read_table(rows | {"w": [1.0, 1.0, bad]}, quasi_identifiers=["sex"], weights="w")
    with pytest.raises(DataError, match="not numbers"):
        rb.read_table(rows | {"w": ["a", "b", "c"]}, quasi_identifiers=["sex"], weights="w")


def test_large_whole_numbers_stay_apart(tmp_path):
    big = pd.DataFrame({"number": pd.array([2**53, 2**53 + 1, None], dtype="Int64")})
    for kind in ("pandas", "parquet", "polars", "duckdb", "arrow table"):
        people = rb.read_table(SOURCES[kind](big, tmp_path), quasi_identifiers="number")
        assert people.labels("number").tolist() == [2**53, 2**53 + 1, None]


def test_weights_with_many_digits_are_read_from_text(tmp_path):
    path = write(tmp_path, "sex,w\nF,8155463.0123456789\nF,1e3\n")
    people = rb.read_table(path, quasi_identifiers="sex", weights="w")
    assert people.weights.tolist() == [8155463.0123456789, 1000.0]


def test_types_of_duckdb_without_a_like_in_numpy_are_read_as_they_are_written():
    import duckdb

    cells = "1.10::DECIMAL(4,2) AS price, 'UNION [x]'::ENUM('BIT', 'UNION [x]') AS kind, "
    cells += "'10:30:00'::TIME AS hour, 12::HUGEINT AS big, 9::UBIGINT AS long"
    people = rb.read_table(
        duckdb.sql(f"SELECT {cells}"),
        quasi_identifiers=["price", "kind", "hour", "big", "long"],
    )
    assert [people.labels(c)[0] for c in people.columns] == [1.1, "UNION [x]", "10:30:00", 12, 9]


def test_a_relation_that_fails_says_so_without_its_cells():
    import duckdb

    relation = duckdb.values([PRIVATE]).project("col0::INTEGER AS x")
    with pytest.raises(DataError, match="ConversionException") as caught:
        rb.read_table(relation, quasi_identifiers="x")
    assert PRIVATE not in str(caught.value)


def test_a_million_distinct_numbers_are_coded_not_refused():
    values = np.random.default_rng(20250301).permutation(1_000_000) * 3
    people = rb.read_table({"income": values}, quasi_identifiers="income")
    assert people.cardinalities() == (1_000_000,)
    assert people.classes().uniques == 1_000_000


def test_reading_imports_no_optional_part():
    import subprocess

    code = (
        "import sys, reidbn as rb; rb.read_table({'a': [1, 1]}, quasi_identifiers='a'); "
        "print([m for m in ('polars', 'duckdb', 'matplotlib', 'pgmpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_published_table_of_adult_is_reproduced(real_data):
    names = ["age", "workclass", "education", "marital_status", "occupation", "race", "sex",
             "native_country", "income"]  # fmt: skip
    people = rb.read_table(
        real_data / "adult" / "adult_data.csv.gz", quasi_identifiers=names, missing="drop"
    )
    classes = people.classes()
    assert (classes.records, classes.count, classes.uniques) == (30162, 19502, 15512)
    assert people.dropped == 32561 - 30162


@given(
    st.lists(st.one_of(st.integers(-3, 3), st.sampled_from([2**53, 2**60 + 1, 2**70]))),
    st.lists(
        st.floats(-3, 3) | st.sampled_from([float("nan"), float("inf"), 0.0, -0.0, 2.0, 1e300])
    ),
)
def test_numbers_of_one_type_are_coded_as_one_by_one(whole, real):
    from reidbn.microdata import Raw, tidy

    for values in (whole, real):
        raw = Raw(np.arange(len(values), dtype=np.int32), values)
        fast, labels = tidy("x", raw)
        slow, same = tidy("x", Raw(raw.codes, [*values, None]))
        assert fast.tolist() == slow.tolist()
        assert labels.tolist() == same.tolist()
        assert labels.dtype == same.dtype or not labels.size


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"age,sex\r30,F\r40,M\r", "do not end in a line feed"),
        (b"age,sex\n30,F\r40,M\n", "line 2 holds a carriage return alone"),
        (b"age,sex\r\n30,F\r\n40,M\r50,F\r\n", "line 3 holds a carriage return alone"),
        (b"age\n30\r40\n30\n", "line 2 holds a carriage return alone"),
    ],
)
def test_a_carriage_return_that_alone_ends_a_line_is_named(content, said, tmp_path):
    path = tmp_path / "old-mac.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=said):
        rb.read_table(path, quasi_identifiers=["age"])


def test_a_carriage_return_inside_quotes_is_part_of_a_cell(tmp_path):
    path = tmp_path / "quoted.csv"
    path.write_bytes(b'age,note\n30,"a\rb"\n30,c\n')
    assert rb.read_table(path, quasi_identifiers=["age"]).k() == 2


def test_exponents_that_may_be_codes_are_told_where_all_else_is_a_number(tmp_path):
    def notes(*values):
        (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{v},a\n" for v in values))
        people = rb.read_table(tmp_path / "t.csv", quasi_identifiers=["x", "y"])
        return [n for n in people.notes if n.startswith("x: ")]

    assert "write 100000 or 1.0E5" in notes("1E5", "0.5", "2")[0]
    assert not notes("1E5", "2E7")
    assert not notes("1E5", "1F6")
    assert not notes("1.0E5", "0.5", "2")


def test_what_statistics_programs_write_of_fractions_has_bands(tmp_path):
    """SAS and Oracle write .5, Excel 1E-05: one such cell made texts of the column."""
    for values in ((".5", ".75", "1.5", "2.25"), ("1E-05", "0.5", "1.5", "2")):
        (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{v},a\n" for v in values * 3))
        people = rb.read_table(tmp_path / "t.csv", quasi_identifiers=["x"])
        coarse = people.generalise({"x": 1}, hierarchies={"x": rb.microdata.Bands(1)})
        assert sorted(coarse.class_sizes()) == sorted([6] * 6 + [3] * 6)
