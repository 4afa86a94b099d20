"""Contingency: every back end against counting by hand, cell for cell, missing included."""

import datetime
import gzip
from collections import Counter

import duckdb
import numpy as np
import pandas as pd
import pytest
from inside import inside

import reidbn as rb
from reidbn.errors import DataError, TooLarge, UsageError
from reidbn.microdata import People, collapse

COLUMNS = ["sex", "age", "born", "paid", "town"]


def frame(n=400, seed=1):
    """Texts, whole numbers, dates, decimals and blanks, each with missing cells."""
    rng = np.random.default_rng(seed)
    gone = rng.random((n, 5)) < 0.1
    day = datetime.date(1990, 1, 1)
    columns = {
        "sex": rng.choice(["f", "m"], n).astype(object),
        "age": rng.integers(0, 5, n).astype(object),
        "born": np.array([day + datetime.timedelta(int(d)) for d in rng.integers(0, 3, n)], object),
        "paid": rng.choice([1.5, 2.25, 3.0], n).astype(object),
        "town": rng.choice(["Åre", "Bath", "", " Bath "], n).astype(object),
    }
    for j, name in enumerate(COLUMNS):
        columns[name][gone[:, j]] = None
    return pd.DataFrame(columns)


def plain(value):
    """What a cell means: blank texts are missing, whole numbers are integers."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, float):
        return None if np.isnan(value) else int(value) if value.is_integer() else value
    return value


def by_hand(table, columns):
    rows = zip(*(table[c].tolist() for c in columns), strict=True)
    return Counter(tuple(plain(v) for v in row) for row in rows)


def as_counter(found):
    cells, n = found
    rows = zip(*(cells[c].tolist() for c in cells), strict=True)
    return Counter(
        dict(zip((tuple(plain(v) for v in row) for row in rows), n.tolist(), strict=True))
    )


def as_rows(found):
    return [
        list(found.columns),
        [x.tolist() for x in found.labels],
        found.codes.tolist(),
        found.n.tolist(),
    ]


def write_parquet(path, query):
    with duckdb.connect() as con:
        con.sql(query).write_parquet(str(path))
    return path


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("cells") / "people.parquet"
    table = frame()
    rows = zip(*([None if v != v else v for v in table[c].tolist()] for c in COLUMNS), strict=True)
    kinds = "(sex VARCHAR, age INTEGER, born DATE, paid DOUBLE, town VARCHAR)"
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t {kinds}")
        con.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [list(row) for row in rows])
        con.table("t").write_parquet(str(path))
    return path


@pytest.mark.parametrize("columns", [COLUMNS, ["sex"], ["town", "age"], ["paid", "born"]])
def test_numpy_and_duckdb_agree_cell_for_cell_with_counting_by_hand(parquet, columns):
    wanted = by_hand(frame(), columns)
    numpy_frame = rb.contingency(frame(), columns)
    numpy_file = rb.contingency(parquet, columns, engine="numpy")
    duck_file = rb.contingency(parquet, columns)
    people = rb.contingency(rb.read_table(frame(), quasi_identifiers=columns, allow_direct=True))
    with duckdb.connect() as con:
        relation = rb.contingency(con.read_parquet(str(parquet)), columns)
    assert (numpy_frame.engine, duck_file.engine, relation.engine) == ("numpy", "duckdb", "duckdb")
    for found in (numpy_frame, numpy_file, duck_file, people, relation):
        assert as_counter(found) == wanted
        assert as_rows(found) == as_rows(duck_file)
        assert found.records == 400


def test_csv_files_are_read_as_written_by_both(tmp_path):
    text = "id,code,n\n1,01,5\n2,1,7\n3,01,\n4,,5\n5,1 ,7\n"
    plain_file, packed = tmp_path / "a.csv", tmp_path / "a.csv.gz"
    plain_file.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    for path in (plain_file, packed):
        for engine in ("numpy", "duckdb"):
            found = rb.contingency(path, ["code", "n"], engine=engine)
            assert as_counter(found) == {("01", 5): 1, ("1", 7): 2, ("01", None): 1, (None, 5): 1}


def test_several_files_are_one_table(tmp_path):
    for name, rows in (("a", "1,x\n2,y\n"), ("b", "1,x\n")):
        (tmp_path / f"{name}.csv").write_text("i,c\n" + rows)
    both = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for source in (both, tmp_path / "*.csv", str(tmp_path / "*.csv")):
        assert as_counter(rb.contingency(source, ["i", "c"])) == {(1, "x"): 2, (2, "y"): 1}
    (tmp_path / "c.csv").write_text("i,d\n1,x\n")
    with pytest.raises(DataError, match=r"c\.csv has other columns than a\.csv"):
        rb.contingency(tmp_path / "*.csv", ["i"])


def test_rows_with_a_missing_cell_can_be_left_out(parquet):
    wanted = Counter({k: n for k, n in by_hand(frame(), ["sex", "town"]).items() if None not in k})
    people = rb.read_table(frame(), quasi_identifiers=["sex", "town"])
    for source in (frame(), parquet, people):
        found = rb.contingency(source, ["sex", "town"], missing="drop")
        assert as_counter(found) == wanted
        assert found.records == wanted.total()


def test_a_cube_and_a_sort_count_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    people = People.from_codes(rng.integers(0, 9, (500, 4)))
    cube = rb.contingency(people)
    monkeypatch.setattr(inside(rb.contingency), "_DENSE", 0)
    monkeypatch.setattr(inside(rb.contingency), "_BATCH", 7)
    by_sort = rb.contingency(people)
    assert as_rows(cube) == as_rows(by_sort)
    assert as_rows(cube.marginal(["x2", "x0"])) == as_rows(rb.contingency(people, ["x2", "x0"]))


def test_wide_domains_are_sorted_not_spread_out():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 60_000, (300, 4))
    found = rb.contingency(People.from_codes(codes))
    assert as_counter(found) == Counter(map(tuple, codes.tolist()))


@pytest.mark.parametrize("columns", [["sex"], ["town", "sex"], ["paid", "age", "born"]])
def test_marginal_sums_are_the_contingency_of_fewer_columns(parquet, columns):
    whole = rb.contingency(parquet, COLUMNS)
    assert as_rows(whole.marginal(columns)) == as_rows(rb.contingency(parquet, columns))
    assert whole.frequencies(columns).n == 400


def test_the_subsets_of_the_cells_are_the_subsets_of_the_people(parquet):
    people = rb.read_table(frame(), quasi_identifiers=COLUMNS)
    wanted = rb.subsets(people)
    for engine in ("numpy", "duckdb"):
        found = rb.contingency(parquet, COLUMNS, engine=engine).subsets()
        pd.testing.assert_frame_equal(found, wanted, check_flags=False)
    small = rb.contingency(parquet, COLUMNS).subsets(most=2)
    pd.testing.assert_frame_equal(small, wanted[wanted["size"] <= 2], check_flags=False)


def test_cells_can_be_written_to_a_file_and_counted_on(parquet, tmp_path):
    file = collapse(
        parquet, COLUMNS, tmp_path / "cells.parquet", memory_limit="200MB",
        temp_directory=tmp_path / "spill", threads=1,
    )  # fmt: skip
    for engine in ("numpy", "duckdb"):
        again = rb.contingency(file, ["sex", "age"], counts="n", engine=engine)
        assert as_rows(again) == as_rows(rb.contingency(parquet, ["sex", "age"]))
        assert again.records == 400


def test_duckdb_keeps_within_a_memory_limit_by_spilling(tmp_path):
    query = "SELECT i % 1000 AS a, i // 7 AS b, hash(i) % 50 AS c FROM range(2000000) t(i)"
    path = write_parquet(tmp_path / "wide.parquet", query)
    file = collapse(
        path, ["a", "b", "c"], tmp_path / "cells.parquet", memory_limit="60MB",
        temp_directory=tmp_path / "spill", threads=2,
    )  # fmt: skip
    with duckdb.connect() as con:
        cells = con.read_parquet(str(file))
        records = cells.sum("n").fetchall()[0][0]
        distinct = con.read_parquet(str(path)).distinct()
        assert (len(cells), records) == (len(distinct), 2_000_000)


def test_too_little_memory_is_an_error_with_a_remedy(tmp_path):
    path = write_parquet(tmp_path / "wide.parquet", "SELECT i AS a FROM range(3000000) t(i)")
    with pytest.raises(DataError, match="collapse"):
        rb.contingency(path, ["a"], memory_limit="8MB", temp_directory=tmp_path / "none")


def test_a_people_table_that_is_not_there_column_by_column_is_refused():
    histories = pd.DataFrame({"id": [1, 1, 2], "a": list("xyx"), "b": list("pqp")})
    people = rb.read_table(histories, quasi_identifiers=["a", "b"], subject_id="id")
    with pytest.raises(UsageError, match="history"):
        rb.contingency(people)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"columns": ["sexx"]}, 'did you mean "sex"'),
        ({"columns": ["sex", "sex"]}, "name each once"),
        ({"columns": []}, "at least one"),
        ({"columns": None}, "name the columns"),
        ({"columns": ["sex"], "engine": "duck"}, 'did you mean "duckdb"'),
        ({"columns": ["sex"], "missing": "dropp"}, 'did you mean "drop"'),
        ({"columns": ["sex"], "counts": "weight"}, 'no column "weight"'),
        ({"columns": ["sex"], "memory_limit": "lots"}, "settings"),
    ],
)
@pytest.mark.parametrize("engine", ["numpy", "duckdb"])
def test_a_call_that_makes_no_sense_is_refused(parquet, options, says, engine):
    if engine == "numpy" and "memory_limit" in options:
        return
    with pytest.raises(UsageError, match=says):
        rb.contingency(parquet, **{"engine": engine, **options})


def test_settings_belong_to_a_relations_own_connection(parquet):
    with duckdb.connect() as con, pytest.raises(UsageError, match="set memory_limit"):
        rb.contingency(con.read_parquet(str(parquet)), ["sex"], memory_limit="1GB")


def test_files_that_cannot_be_read_are_refused_without_showing_their_lines(tmp_path):
    ragged, other = tmp_path / "r.csv", tmp_path / "x.parquet"
    ragged.write_text("a,b\n1,2\nsecret,3,4\n")
    other.write_text("not parquet")
    with pytest.raises(DataError) as problem:
        rb.contingency(ragged, ["a"])
    assert "secret" not in str(problem.value)
    assert "as many cells as the header" in str(problem.value)
    with pytest.raises(DataError, match="Parquet"):
        rb.contingency(other, ["a"])
    with pytest.raises(DataError, match="no file"):
        rb.contingency(tmp_path / "none.parquet", ["a"])
    with pytest.raises(DataError, match="no file matches"):
        rb.contingency(tmp_path / "no*.csv", ["a"])
    with pytest.raises(UsageError, match="all of one kind"):
        rb.contingency([ragged, other], ["a"])


def test_counts_must_be_whole_numbers(tmp_path):
    bad = pd.DataFrame({"a": [1, 2], "n": [1.5, 2.0]})
    with pytest.raises(DataError, match="whole numbers"):
        rb.contingency(bad, ["a"], counts="n")
    people = People.from_codes([[0]])
    with pytest.raises(UsageError, match="count as one"):
        rb.contingency(people, counts="n")


def test_an_existing_file_is_not_written_over(parquet, tmp_path):
    with pytest.raises(UsageError, match="exists"):
        collapse(parquet, ["sex"], parquet)
    with pytest.raises(UsageError, match="name the counts otherwise"):
        collapse(parquet, ["sex"], tmp_path / "x.parquet", counts="sex")


def test_more_than_twenty_columns_have_too_many_subsets():
    wide = rb.contingency(People.from_codes(np.eye(22, dtype=int)))
    with pytest.raises(TooLarge, match="subsets"):
        wide.subsets()
    assert len(wide.subsets(most=1)) == 22


def test_a_contingency_names_its_cells_and_records():
    table = rb.contingency(People.from_codes([[0, 1], [0, 1], [1, 0]], ["sex", "race"]))
    assert repr(table) == "Contingency(2 cells of 3 records on sex, race)"
    with pytest.raises(UsageError, match="did you mean"):
        table.marginal("rac")


def test_a_frame_in_memory_is_not_for_duckdb():
    for source in (frame(5), {"sex": ["f"]}):
        with pytest.raises(UsageError, match="DuckDB collapses files and relations"):
            rb.contingency(source, ["sex"], engine="duckdb")


def test_cells_are_not_written_into_a_folder_that_is_not_there(parquet, tmp_path):
    with pytest.raises(UsageError, match="its folder is not there"):
        collapse(str(parquet), ["sex"], tmp_path / "nowhere" / "cells.parquet")


@pytest.mark.parametrize("engine", ["numpy", "duckdb"])
def test_a_file_without_a_header_shows_nobody(engine, tmp_path):
    (tmp_path / "bare.csv").write_text("50,zanzibar7731\n61,x\n")
    with pytest.raises(UsageError, match="must be the names of the columns") as caught:
        rb.contingency(str(tmp_path / "bare.csv"), ["zanzibar"], engine=engine)
    assert "7731" not in str(caught.value)


def test_columns_that_differ_by_capitals_only_are_refused_by_name_where_duckdb_reads(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,Age,sex\n1,1,f\n1,2,f\n2,1,m\n")
    with pytest.raises(DataError, match="differ by capitals only"):
        rb.contingency(path, ["age"])
    _, n = rb.contingency(path, ["age", "Age"], engine="numpy")
    assert n.tolist() == [1, 1, 1]


def test_files_that_duckdb_does_not_read_are_counted_as_the_table_that_they_hold(tmp_path):
    feather = pytest.importorskip("pyarrow.feather")
    frame = rb.datasets.synthetic_patients(200, seed=2)[["age", "sex"]]
    feather.write_feather(frame, str(tmp_path / "people.arrow"))
    found, whole = (rb.contingency(t, ["age", "sex"]) for t in (tmp_path / "people.arrow", frame))
    assert np.array_equal(found.codes, whole.codes)
    assert np.array_equal(found.n, whole.n)
    with pytest.raises(rb.errors.UsageError, match="DuckDB reads"):
        rb.contingency(tmp_path / "people.arrow", ["age", "sex"], engine="duckdb")
