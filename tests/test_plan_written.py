"""The written table: what is no change stays as it was, whatever kind of table it came from."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pandas as pd
import pytest

import reidbn as rb

BIG = 2**60 + 1  # no float is this number
N = 60


def people_frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 14, N),
            "number": BIG + rng.integers(0, 3, N),
            "rare": pd.array([None if x == 0 else int(x) for x in rng.integers(0, 5, N)], "Int64"),
            "share": rng.choice([1.5, 2.0, 3.25], N),
            "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 3, N), "D"),
            "kind": pd.Categorical(rng.integers(1, 4, N)),
            "nights": rng.integers(0, 50, N),
        }
    )


def source_of(frame: pd.DataFrame, kind: str, tmp_path):
    if kind == "frame":
        return frame
    frame = frame.assign(kind=frame.kind.astype(int), day=frame.day.dt.date)
    if kind == "csv":
        frame.to_csv(tmp_path / "source.csv", index=False)
        return tmp_path / "source.csv"
    duckdb.sql("select * from frame").write_parquet(str(tmp_path / "source.parquet"))
    if kind == "polars":
        return pytest.importorskip("polars").read_parquet(tmp_path / "source.parquet")
    return tmp_path / "source.parquet"


def texts(frame: pd.DataFrame, gone: dict[str, np.ndarray]) -> list[tuple[str, ...]]:
    """Every row as it should be written, emptied cells as nothing."""
    days = frame.day.dt.strftime("%Y-%m-%d")
    columns = []
    for name in frame:
        own = days if name == "day" else frame[name]
        text = np.array(["" if pd.isna(v) else str(v) for v in own], dtype=object)
        columns.append(np.where(gone.get(name, np.zeros(N, bool)), "", text))
    return sorted(map(tuple, np.array(columns).T))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["frame", "csv", "parquet", "polars"])
def test_whole_numbers_with_emptied_cells_are_whole_numbers(kind, ending, tmp_path):
    frame = people_frame()
    source = source_of(frame, kind, tmp_path)
    names = [name for name in frame if name != "nights"]
    people = rb.read_table(source, quasi_identifiers=names)
    gone = {name: np.arange(N) % 8 == j for j, name in enumerate(names)}
    plan = rb.recommend(rb.microdata.empty_cells(people, {}), target="k=2", suppress_at_most=0.9)
    emptied = rb.microdata.empty_cells(people, gone)
    object.__setattr__(plan, "apply", lambda: emptied)  # cells of every kind, whatever is best
    path = plan.write(tmp_path / f"out.{ending}", source)
    if ending == "csv":
        found = pd.read_csv(path, dtype=str, keep_default_na=False)
        assert sorted(found.itertuples(index=False, name=None)) == texts(frame, gone)
    elif kind != "csv":
        cells = duckdb.read_parquet(str(path))
        kinds = dict(zip(cells.columns, map(str, cells.types), strict=True))
        assert {kinds[n] for n in ("age", "number", "rare")} <= {"INTEGER", "BIGINT"}
        rows = [["" if v is None else str(v).removesuffix(" 00:00:00") for v in row]
                for row in cells.fetchall()]  # fmt: skip
        assert sorted(map(tuple, rows)) == texts(frame, gone)
    back = rb.read_table(path, quasi_identifiers=names)
    assert back.k() == emptied.as_written().k()
    assert sorted(back.class_sizes()) == sorted(emptied.as_written().class_sizes())


def test_a_column_of_objects_is_told_by_every_cell(tmp_path):
    """From a thousand cells that are whole numbers DuckDB takes 1.5 for 2."""
    values: list[object] = [1] * 5_000
    values[777] = 1.5
    frame = pd.DataFrame({"dose": pd.Series(values, dtype=object), "sex": ["m", "f"] * 2_500})
    people = rb.read_table(frame, quasi_identifiers=["sex"])
    rb.recommend(people, target="k=5").write(tmp_path / "out.parquet", frame)
    found = duckdb.read_parquet(str(tmp_path / "out.parquet"))
    assert found.aggregate("max(dose), sum(dose)").fetchall() == [(1.5, 5_000.5)]


def test_decimals_and_days_of_a_parquet_file_stay_what_they_are(tmp_path):
    made = duckdb.sql(
        "select (i % 2)::int as sex, (i % 7)::decimal(5, 2) + 0.10 as dose, "
        "date '2020-02-01' + (i % 3)::int as day, case when i % 5 = 0 then null else i end as n "
        "from range(40) t(i)"
    )
    made.write_parquet(str(tmp_path / "source.parquet"))
    people = rb.read_table(tmp_path / "source.parquet", quasi_identifiers=["sex"])
    plan = rb.recommend(people, target="k=5")
    found = duckdb.read_parquet(str(plan.write(tmp_path / "out.parquet")))
    assert sorted(map(str, found.fetchall())) == sorted(map(str, made.fetchall()))
    assert [str(t).split("(")[0] for t in found.types] == ["INTEGER", "DECIMAL", "DATE", "BIGINT"]
    lines = plan.write(tmp_path / "out.csv").read_text().splitlines()
    assert lines[1] == "0,0.10,2020-02-01,"


def test_the_table_itself_is_never_written_over(tmp_path):
    """It lost the rows that were left out, the ids and the dates without a word."""
    path = tmp_path / "p.csv"
    pd.DataFrame({"age": [*range(20), *range(20)], "sex": list("ab") * 20}).to_csv(path)
    people = rb.read_table(path, quasi_identifiers=["age", "sex"])
    plan = rb.recommend(people, target="k=2", hierarchies={"age": "bands:5,10"})
    before = path.read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    copy = tmp_path / "copy.csv"
    copy.write_bytes(before)
    for where, source in ((path, None), (link, None), (path, copy), (copy, copy)):
        with pytest.raises(rb.UsageError, match="is the table itself, which would be lost"):
            plan.write(where, source)
    assert path.read_bytes() == copy.read_bytes() == before
    assert plan.write(tmp_path / "new.csv").is_file()


def test_texts_that_a_csv_file_has_with_an_apostrophe_are_said(tmp_path):
    marks = ["-", "+", "A", "+44 20"] * 30
    pd.DataFrame({"age": [30, 40] * 60, "mark": marks}).to_csv(tmp_path / "t.csv", index=False)
    people = rb.read_table(tmp_path / "t.csv", quasi_identifiers=["age"])
    plan = rb.recommend(people, target="k=5")
    with pytest.warns(rb.errors.ReidbnWarning, match="apostrophe .* in mark: "):
        plan.write(tmp_path / "a.csv")
    plan.write(tmp_path / "a.parquet")
    read = pd.read_csv(tmp_path / "a.csv")["mark"]
    assert {*read} == {"-", "+", "A", "'+44 20"}
    assert {*pd.read_parquet(tmp_path / "a.parquet")["mark"]} == {*marks}


def test_the_loss_is_told_with_the_weights_that_it_has(tmp_path):
    people = rb.read_table(rb.datasets.synthetic_patients(400, seed=1),
                           quasi_identifiers=["age", "sex"])  # fmt: skip
    how = {"target": "k=5", "hierarchies": {"age": "bands:5,10,20"}}
    plain, plan = rb.recommend(people, **how), rb.recommend(people, **how, importance={"age": 3})
    said = "weighed by importance (age 0.75, sex 0.25)"
    assert plan.loss_told.endswith(said)
    assert "importance" not in plain.loss_told
    for custodian in (False, True):
        text = plan.report(tmp_path / "p.html", custodian=custodian).read_text()
        assert said in text
        found = json.loads(plan.report(tmp_path / "p.json", custodian=custodian).read_text())
        assert found["loss"]["measured_by"].endswith(said)


def kinds_of(path):
    cells = duckdb.read_parquet(str(path))
    return dict(zip(cells.columns, map(str, cells.types), strict=True))


def typeless(tmp_path):
    """A file of texts that has numbers in every way that a column of numbers may be written."""
    rng = np.random.default_rng(11)
    columns = {
        "age": [str(x) for x in rng.integers(20, 80, 200)],
        "dose": [str(x) for x in rng.choice(["5.0", "5", "5.50", "1e-05"], 200)],
        "weight": [str(x) for x in rng.choice(["61.5", "72.0", ""], 200)],
        "nights": [str(x) for x in rng.choice(["3", "12", "", "-1"], 200)],
        "ward": [str(x) for x in rng.choice(["007", "011", "7"], 200)],
        "lab": [str(x) for x in rng.choice(["5", "5.0", "<2", ""], 200)],
        "key": [str(10**16 + x) for x in rng.integers(0, 9, 200)],
        "note": [str(x) for x in rng.choice(["a", " b ", ""], 200)],
        "share": [f"0.{x}" for x in rng.integers(1, 10, 200)],
    }
    frame = pd.DataFrame(columns)
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv", frame


def test_numbers_of_a_csv_file_are_numbers_in_parquet_and_texts_stay_texts(tmp_path):
    """Every column that was not made coarser was a text."""
    path, frame = typeless(tmp_path)
    names = ["age", "dose", "weight", "ward"]
    people = rb.read_table(path, quasi_identifiers=names, sensitive="lab", missing_values=["72.0"])
    plan = rb.recommend(people, target="k=2", suppress_at_most=0.9, keep=names)
    out = plan.write(tmp_path / "o.parquet")
    assert kinds_of(out) == dict.fromkeys(frame, "VARCHAR") | dict.fromkeys(
        ["age", "nights"], "BIGINT"
    ) | dict.fromkeys(["dose", "weight", "share"], "DOUBLE")
    kept = frame.iloc[plan.apply().rows_read]
    found = pd.read_parquet(out)
    for name in ("ward", "lab", "key", "note"):
        texts = sorted(text for text in kept[name] if text)
        assert sorted(found[name].dropna()) == texts
    for name, gone in (("nights", ""), ("weight", "72.0"), ("share", "")):
        numbers = sorted(float(text) for text in kept[name] if text not in ("", gone))
        assert sorted(found[name].dropna().astype(float)) == numbers
    back = rb.read_table(out, quasi_identifiers=names, sensitive="lab")
    released = plan.apply()
    for name in (*names, "lab"):
        one, two = (p.labels(name)[p.codes([name])[:, 0]].tolist() for p in (released, back))
        assert sorted(one, key=repr) == sorted(two, key=repr)
    assert sorted(back.class_sizes()) == sorted(released.class_sizes())


def test_a_text_that_was_kept_from_running_is_written_to_parquet_as_it_was_read(tmp_path):
    (tmp_path / "t.csv").write_text("n,s\n" + "'-10--1,'-x\n0-9,y\n" * 6)
    how = {"quasi_identifiers": ["n"], "hierarchies": {"n": "bands:10,20"}}
    plan = rb.recommend(rb.read_table(tmp_path / "t.csv", **how), target="k=2")
    out = plan.write(tmp_path / "o.parquet")
    assert rb.read_table(out, **how).labels("n").tolist() == ["-10--1", "0-9"]
    assert {*pd.read_parquet(out)["s"]} == {"'-x", "y"}  # nobody looked at it


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_written_file_is_assessed_as_the_plan_says(ending, tmp_path):
    rb.datasets.synthetic_patients(400, seed=1).to_csv(tmp_path / "t.csv", index=False)
    names = ["age", "sex", "state", "race"]
    asked = {"scenario": "voter-registration", "population": 400}
    people = rb.read_table(tmp_path / "t.csv", quasi_identifiers=names)
    plan = rb.recommend(people, "adversary-routes", target={"overall": "mean <= 0.9"}, **asked)
    with pytest.warns(rb.errors.ReidbnWarning, match="names a person"):
        out = plan.write(tmp_path / f"o.{ending}")
    found = rb.assess("adversary-routes", rb.read_table(out, quasi_identifiers=names), **asked)
    for measure in plan.result.risks:
        np.testing.assert_allclose(
            sorted(found.risk(measure)), sorted(plan.result.risk(measure)), atol=1e-12
        )


def test_emptied_cells_of_numbers_are_missing_numbers(tmp_path):
    path, frame = typeless(tmp_path)
    frame.assign(nothing="").to_csv(path, index=False)
    people = rb.read_table(path, quasi_identifiers=["dose", "ward"])
    plan = rb.recommend(people, target="k=2", keep="ward")
    emptied = rb.microdata.empty_cells(people, {"dose": np.arange(200) % 3 == 0})
    object.__setattr__(plan, "apply", lambda: emptied)
    out = plan.write(tmp_path / "o.parquet")
    kinds, found = kinds_of(out), pd.read_parquet(out)
    assert (kinds["dose"], kinds["nothing"]) == ("DOUBLE", "VARCHAR")
    assert (found["dose"].isna().sum(), found["nothing"].isna().sum()) == (67, 200)
    left = [float(text) for text in frame["dose"][np.arange(200) % 3 != 0]]
    assert sorted(found["dose"].dropna()) == sorted(left)
    back = rb.read_table(out, quasi_identifiers=["dose", "ward"])
    assert sorted(back.class_sizes()) == sorted(emptied.as_written().class_sizes())
