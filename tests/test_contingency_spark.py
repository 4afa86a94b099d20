"""The Spark back end gives the cells that DuckDB gives; skipped without pyspark or Java."""

import os
import shutil
import warnings
from importlib.util import find_spec

import duckdb
import pytest
from inside import inside

import reidbn as rb
from reidbn.errors import DataError, MissingPart, UsageError
from reidbn.microdata import local_session

HAS_SPARK = find_spec("pyspark") is not None
HAS_JAVA = bool(os.environ.get("JAVA_HOME") or shutil.which("java"))
needs_spark = [
    pytest.mark.wide,  # starting it takes as long as a hundred tests
    pytest.mark.skipif(not HAS_SPARK, reason='pyspark is not here: pip install "reidbn[spark]"'),
    pytest.mark.skipif(not HAS_JAVA, reason="no Java here, so no Spark"),
    pytest.mark.filterwarnings("ignore"),
]
COLUMNS = ["sex", "age", "born", "paid", "town", "ward"]


def on_spark(test):
    for mark in needs_spark:
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def session():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with local_session(2) as session:
            yield session


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("spark") / "people.parquet"
    query = """
        SELECT CASE WHEN i % 7 = 0 THEN NULL WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex,
               CASE WHEN i % 11 = 0 THEN NULL ELSE i % 5 END AS age,
               CASE WHEN i % 13 = 0 THEN NULL
                    ELSE DATE '1990-01-01' + CAST(i % 3 AS INTEGER) END AS born,
               CASE WHEN i % 17 = 0 THEN NULL WHEN i % 19 = 0 THEN CAST('NaN' AS DOUBLE)
                    ELSE (i % 4) / 2.0 END AS paid,
               CASE WHEN i % 5 = 0 THEN '' WHEN i % 3 = 0 THEN ' Bath' ELSE 'Bath' END AS town,
               i % 2 = 0 AS ward
        FROM range(3000) t(i)
    """
    with duckdb.connect() as con:
        con.sql(query).write_parquet(str(path))
    return path


def as_rows(found):
    return [
        list(found.columns),
        [x.tolist() for x in found.labels],
        found.codes.tolist(),
        found.n.tolist(),
    ]


@on_spark
@pytest.mark.parametrize("columns", [COLUMNS, ["paid", "town"]])
def test_spark_duckdb_and_numpy_agree_cell_for_cell(parquet, session, columns):
    spark = rb.contingency(parquet, columns, engine="spark", spark=session)
    assert spark.engine == "spark"
    assert spark.records == 3000
    for engine in ("duckdb", "numpy"):
        assert as_rows(rb.contingency(parquet, columns, engine=engine)) == as_rows(spark)
    assert any(x[-1] is None for x in spark.labels if x.dtype == object)


@on_spark
def test_rows_reach_the_driver_without_arrow_too(parquet, session, monkeypatch):
    with_arrow = rb.contingency(parquet, COLUMNS, engine="spark", spark=session)
    monkeypatch.setattr(inside(local_session), "find_spec", lambda name: None)
    assert as_rows(rb.contingency(parquet, COLUMNS, engine="spark", spark=session)) == as_rows(
        with_arrow
    )


@on_spark
def test_a_dataframe_of_the_callers_session_is_counted_where_it_is(parquet, session):
    frame = session.read.parquet(str(parquet)).where("ward")
    found = rb.contingency(frame, ["sex", "age"])
    assert found.engine == "spark"
    assert found.records == 1500
    with duckdb.connect() as con:
        relation = con.read_parquet(str(parquet)).filter("ward")
        assert as_rows(rb.contingency(relation, ["sex", "age"])) == as_rows(found)


@on_spark
def test_subsets_of_spark_cells_are_the_subsets_of_the_people(parquet, session):
    found = rb.contingency(parquet, ["sex", "age", "town"], engine="spark", spark=session)
    people = rb.read_table(parquet, quasi_identifiers=["sex", "age", "town"])
    assert found.subsets().equals(rb.subsets(people))


@on_spark
def test_the_driver_listens_on_the_loopback_address_and_shows_no_page(session):
    settings = session.sparkContext.getConf()
    assert settings.get("spark.driver.bindAddress") == "127.0.0.1"
    assert settings.get("spark.driver.host") == "127.0.0.1"
    assert settings.get("spark.ui.enabled") == "false"
    assert session.sparkContext.uiWebUrl is None


@on_spark
def test_collapsed_counts_add_up_on_spark_too(parquet, session, tmp_path):
    file = rb.collapse(parquet, ["sex", "age"], tmp_path / "cells.parquet")
    again = rb.contingency(file, ["sex"], counts="n", engine="spark", spark=session)
    assert as_rows(again) == as_rows(rb.contingency(parquet, ["sex"]))


@on_spark
def test_calls_that_make_no_sense_are_refused_by_spark_too(parquet, session, tmp_path):
    with pytest.raises(UsageError, match="no column"):
        rb.contingency(parquet, ["sexx"], engine="spark", spark=session)
    with pytest.raises(UsageError, match="Parquet path"):
        rb.contingency([str(parquet)], ["sex"], engine="spark", spark=session)
    with pytest.raises(DataError, match="cannot be read"):
        rb.contingency(tmp_path / "none.parquet", ["sex"], engine="spark", spark=session)


def test_without_pyspark_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(inside(local_session), "find_spec", lambda name: None)
    with pytest.raises(MissingPart, match=r"reidbn\[spark\]"):
        rb.contingency(tmp_path / "x.parquet", ["a"], engine="spark")


def test_without_java_the_remedy_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(inside(local_session), "find_spec", lambda name: object())
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPart, match="Java"):
        rb.contingency(tmp_path / "x.parquet", ["a"], engine="spark")
