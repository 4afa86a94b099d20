"""Reading: what other programs write, and what a missing value is called."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reidbn as rb
from reidbn.errors import DataError, UsageError

ENGINES = ("numpy", "duckdb")


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# Missing values


@pytest.mark.parametrize("given", ["NA", ["NA"], {"NA"}, (" NA ",)])
def test_one_missing_value_given_as_a_text_is_that_text_and_not_its_letters(given):
    table = {"code": ["N", "A", "NA", "N"]}
    people = rb.read_table(table, quasi_identifiers="code", missing_values=given)
    assert people.labels("code").tolist() == ["A", "N", None]
    assert people.notes == ()


@pytest.mark.parametrize("given", [999, [999], [999.0], "999", ["999"], np.array([999])])
@pytest.mark.parametrize("cells", [[5, 999, 7], [5.5, 999.0, 7.0], ["5", "999", "x"]])
def test_a_number_that_stands_for_missing_is_missing_in_columns_of_numbers_and_of_texts(
    given, cells
):
    people = rb.read_table({"a": cells}, quasi_identifiers="a", missing_values=given)
    assert people.labels("a").tolist()[-1] is None
    assert people.codes().ravel()[1] == 2
    assert people.notes == ()


def test_a_number_that_stands_for_missing_is_missing_however_a_file_writes_it(tmp_path):
    path = write(tmp_path, "a,b\n5,x\n999.0,x\n999,x\n0999,y\n")
    people = rb.read_table(path, quasi_identifiers=["a", "b"], missing_values=[999])
    assert people.labels("a").tolist() == ["0999", "5", None]


def test_a_code_for_missing_that_occurs_nowhere_is_said():
    table = {"a": ["x", "-9"], "b": [1, 2]}
    people = rb.read_table(table, quasi_identifiers=["a", "b"], missing_values=["-9", "-99", "?"])
    assert people.notes == (
        'missing value "-99" occurs in no column that was read',
        'missing value "?" occurs in no column that was read',
    )
    assert "2 notes" in repr(people)
    cells = rb.contingency(pd.DataFrame(table), ["a"], missing_values=["-99"])
    assert "occurs in no column" in repr(cells)


@pytest.mark.parametrize("engine", ENGINES)
def test_contingency_takes_missing_values_as_reading_does(engine, tmp_path):
    path = write(tmp_path, "sex,age\nF,50\n?,50\nF,999\nF,50\n,50\n")
    cells, n = rb.contingency(path, ["sex", "age"], engine=engine, missing_values=["?", 999])
    found = dict(zip(cells.astype(object).itertuples(index=False, name=None), n, strict=True))
    assert {tuple(None if v != v else v for v in row): k for row, k in found.items()} == {
        ("F", 50): 2, ("F", None): 1, (None, 50): 2,
    }  # fmt: skip
    people = rb.read_table(path, quasi_identifiers=["sex", "age"], missing_values=["?", 999])
    assert sorted(people.class_sizes().tolist()) == [1, 2, 2, 2, 2]
    dropped = rb.contingency(
        path, ["sex", "age"], engine=engine, missing_values=["?", 999], missing="drop"
    )
    assert dropped.records == 2
    with pytest.raises(UsageError, match="give missing_values= to read_table"):
        rb.contingency(people, missing_values="?")


# Hierarchies


@pytest.mark.parametrize(
    "tree",
    [
        {"Northeast": ["ME"], "Midwest": ["NE"], "NE": ["VT", "NH"]},
        {"NE": ["ME", "VT"], "Midwest": ["NE", "KS"]},
        {"NY": ["NY", "Buffalo"], "MA": ["Boston"]},
    ],
)
def test_a_tree_in_which_a_name_is_a_value_and_a_group_is_refused(tree):
    with pytest.raises(UsageError, match="is a value and also the name of a group"):
        rb.Tree(tree)


def test_a_group_that_lies_in_two_groups_is_refused():
    with pytest.raises(UsageError, match='"Other" stands in two groups'):
        rb.Tree({"Europe": {"Other": ["MT"]}, "Asia": {"Other": ["BT"]}})


def test_a_group_of_itself_alone_and_uneven_branches_are_taken(tmp_path):
    assert rb.Tree({"World": [{"Europe": ["UK"]}, {"JP": ["JP"]}]}).up("UK", 1) == "Europe"
    with pytest.raises(UsageError, match='the group "World" has 1 value at level 1 and 2 in all'):
        rb.Ladder({"UK": ("Europe", "World"), "JP": ("World",)})  # at level 1 that is JP alone
    path = write(tmp_path, "UK;UK;Europe\nFR;FR;Europe\nMC;South;Europe\n")
    assert rb.read_hierarchy(path).up("FR", 1) == "FR"
    path = write(tmp_path, "NE;Midwest\nME;NE\n")
    with pytest.raises(DataError, match=r"t.csv: \"NE\" is a value and also"):
        rb.read_hierarchy(path)


# CSV as other programs write it


@pytest.mark.parametrize(
    "text", ["a\n1\n\n2\n", "a\n\n1\n", "a\r\n1\r\n\r\n2\r\n", "a\n1\n2\n\n", "a\n1\n \t\n2\n"]
)
@pytest.mark.parametrize("read", ["read_table", *ENGINES])
def test_a_blank_line_in_a_file_of_one_column_is_refused_everywhere(text, read, tmp_path):
    path = write(tmp_path, text)
    ask = {"quasi_identifiers": "a"} if read == "read_table" else {"columns": "a", "engine": read}
    call = rb.read_table if read == "read_table" else rb.contingency
    with pytest.raises(DataError, match=r"line \d is blank, and there is one column"):
        call(path, **ask)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_quoted_blank_in_a_file_of_one_column_is_a_person_without_a_value(engine, tmp_path):
    path = write(tmp_path, 'a\n1\n""\n2\n"x\n\ny"\n')
    assert rb.read_table(path, quasi_identifiers="a").labels("a").tolist()[-1] is None
    assert rb.contingency(path, "a", engine=engine).records == 4


def test_a_file_whose_lines_end_in_carriage_returns_alone_is_refused_with_the_remedy(tmp_path):
    path = write(tmp_path, "sex,age\rF,50\rM,51\r")
    with pytest.raises(DataError, match="old Mac") as caught:
        rb.read_table(path, quasi_identifiers=["sex"])
    assert "50" not in str(caught.value)
    with pytest.raises(DataError, match="old Mac"):
        rb.contingency(path, "sex")


EXCEL = "\ufeffsep=;\r\nsex;weight;height\r\nF;70,5;1,75\r\nM;82;1,80\r\nF;70,50;1,8\r\n"


QUOTED, BARE, TABS = (
    EXCEL.replace("sep=;", '"sep=;"'), EXCEL.replace("sep=;\r\n", ""), EXCEL.replace(";", "\t")
)  # fmt: skip


@pytest.mark.parametrize("text", [EXCEL, QUOTED, BARE, TABS])
def test_csv_made_by_excel_is_read_with_its_delimiter_line_and_decimal_commas(text, tmp_path):
    path = write(tmp_path, text)
    names = ["sex", "weight", "height"]
    people = rb.read_table(path, quasi_identifiers=names)
    frame = pd.DataFrame(
        {"sex": ["F", "M", "F"], "weight": [70.5, 82, 70.5], "height": [1.75, 1.8, 1.8]}
    )
    assert people.fingerprint == rb.read_table(frame, quasi_identifiers=names).fingerprint
    engine = "numpy" if text.startswith('\ufeff"') else "duckdb"
    cells = rb.contingency(path, names, engine=engine).cells
    assert cells.equals(rb.contingency(frame, names).cells)


def test_duckdb_is_not_asked_about_a_file_of_which_it_would_make_no_rows(tmp_path):
    path = write(tmp_path, '\ufeff"sex","age"\nF,50\nM,51\n')
    with pytest.raises(DataError, match='use engine="numpy"'):
        rb.contingency(path, ["sex"])
    assert rb.contingency(path, ["sex"], engine="numpy").records == 2


def test_commas_that_may_be_thousands_or_decimals_stay_as_they_are_written(tmp_path):
    path = write(tmp_path, "a;b;c\n1,234;1.234,5;1,5\n999;7;2.5\n")
    people = rb.read_table(path, quasi_identifiers=["a", "b", "c"])
    assert people.labels("a").tolist() == ["1,234", "999"]
    assert people.labels("b").tolist() == ["1.234,5", "7"]
    assert people.labels("c").tolist() == ["1,5", "2.5"]


def test_lines_are_numbered_from_the_top_of_the_file_below_a_delimiter_line(tmp_path):
    path = write(tmp_path, "sep=;\na;b\n1;2\n3\n")
    with pytest.raises(DataError, match="line 4 has 1 cells where the header has 2"):
        rb.read_table(path, quasi_identifiers="a")


CELLS = st.lists(
    st.tuples(
        st.sampled_from(["F", " M ", "", "Ä;x", 'say "a"', "NA"]),
        st.sampled_from(["1", "2.5", "", "10", "-3"]),
    ),
    min_size=2,
    max_size=8,
)


@settings(max_examples=25, deadline=None)
@given(cells=CELLS)
def test_the_same_file_gives_the_same_people_through_every_reader(cells, tmp_path_factory):
    duckdb = pytest.importorskip("duckdb")
    polars = pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow.csv")
    if all(sex.strip() == "" for sex, _ in cells) or all(age == "" for _, age in cells):
        return
    path = tmp_path_factory.mktemp("same") / "t.csv"
    pd.DataFrame(cells, columns=["sex", "age"]).to_csv(path, index=False)
    options = arrow.ConvertOptions(
        strings_can_be_null=True, null_values=[""], column_types={"age": "float64"}
    )
    frames = {
        "ours": path,
        "pandas": pd.read_csv(path, keep_default_na=False, na_values=[""]),
        "polars": polars.read_csv(path, schema_overrides={"age": polars.Float64}),
        "duckdb": duckdb.read_csv(
            str(path), header=True, dtype={"sex": "VARCHAR", "age": "DOUBLE"}
        ),
        "arrow": arrow.read_csv(path, convert_options=options),
    }
    found = {
        name: rb.read_table(frame, quasi_identifiers=["sex", "age"]).fingerprint
        for name, frame in frames.items()
    }
    assert len(set(found.values())) == 1, found
    cells = rb.contingency(path, ["sex", "age"], engine="duckdb")
    mine = rb.contingency(rb.read_table(path, quasi_identifiers=["sex", "age"]))
    assert np.array_equal(cells.n, mine.n)
    assert np.array_equal(cells.codes, mine.codes)


# Types


def test_whole_numbers_of_128_bits_are_whole_numbers_in_every_source():
    duckdb = pytest.importorskip("duckdb")
    polars = pytest.importorskip("polars")
    numbers = [2**100, 2, None, 2]
    frame = polars.DataFrame({"a": numbers}, schema={"a": polars.Int128})
    relation = duckdb.sql(f"SELECT unnest([{2**100}::HUGEINT, 2, NULL, 2]) AS a")
    found = {
        rb.read_table(source, quasi_identifiers="a").fingerprint
        for source in (frame, relation, {"a": pd.Series(numbers, dtype=object)})
    }
    assert len(found) == 1


@pytest.mark.parametrize("kind", ["duration", "opaque"])
def test_a_type_that_cannot_be_compared_is_refused_by_name(kind):
    if kind == "duration":
        polars = pytest.importorskip("polars")
        source = polars.DataFrame({"a": [datetime.timedelta(1)]})
    else:
        source = pytest.importorskip("duckdb").sql("SELECT '12'::BIGNUM AS a")
    with pytest.raises(DataError, match="use texts, numbers, dates or true/false"):
        rb.read_table(source, quasi_identifiers="a")


def test_times_a_nanosecond_apart_are_two_times():
    times = pd.to_datetime(["2020-01-01", "2020-01-01"]) + pd.to_timedelta([0, 1])
    people = rb.read_table(pd.DataFrame({"t": times}), quasi_identifiers="t")
    assert people.k() == 1
