"""What names a person: one look, for columns that are read and for those that are written."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import reidbn as rb

N = 300
RNG = np.random.default_rng(16)
ORDER = RNG.permutation(N)
WORDS = ["none", *(f"remark {i}" for i in range(N))]
COLUMNS = {
    "leading zeros": [f"{i:08d}" for i in 7919 * (ORDER + 1)],
    "decimal commas": [f"{i // 100},{i % 100:02d}" for i in 1000 + ORDER],
    "thousands": [f"{1 + i // 1000},{i % 1000:03d}" for i in 1000 + ORDER],
    "decimal points": [f"{i / 100:.2f}" for i in 1000 + ORDER],
    "running number": [str(i + 1) for i in ORDER],
    "long number": [str(123_456_789 + 10_007 * i) for i in ORDER],
    "amount": [str(17 * i) for i in ORDER],
    "days": [f"{1 + i % 28:02d}.{1 + i % 12:02d}.{1900 + i % 97}" for i in ORDER],
    "text": [f"P{i:05d}" for i in ORDER],
    "text, some alike": [f"P{i % 200:05d}" for i in ORDER],
    "text, some missing": [f"P{i:05d}" if i % 3 else "" for i in ORDER],
    "text, some coded missing": [f"P{i:05d}" if i % 3 else "NA" for i in ORDER],
    "mail": [f"p{i}@example.org" for i in ORDER],
    "town": [f"town {i % 20}" for i in ORDER],
    "blank": [""] * N,
}
DIRECT = {"leading zeros", "thousands", "running number", "long number", "text",
          "text, some missing", "text, some coded missing", "mail"}  # fmt: skip


def sources(folder):
    """The same table as a file with commas, with semicolons, as a frame of texts and typed."""
    table = pd.DataFrame({"sex": ["F", "M"] * (N // 2), **COLUMNS})
    table.to_csv(folder / "commas.csv", index=False)
    table.to_csv(folder / "semicolons.csv", index=False, sep=";")
    typed = table.drop(columns="blank")
    for name in ("running number", "long number", "amount", "decimal points"):
        typed[name] = pd.to_numeric(typed[name])
    typed.to_parquet(folder / "typed.parquet", index=False)
    return {
        "commas": folder / "commas.csv",
        "semicolons": folder / "semicolons.csv",
        "texts": table,
        "typed": typed,
        "parquet": folder / "typed.parquet",
    }


def refused(source, name):
    try:
        rb.read_table(source, quasi_identifiers=name)
    except rb.errors.DataError as problem:
        return "direct identifier" in str(problem)
    return False


@pytest.mark.parametrize("kind", ["commas", "semicolons", "texts", "typed", "parquet"])
def test_what_is_left_out_of_a_file_is_what_is_refused_when_it_is_read(kind, tmp_path):
    source = sources(tmp_path)[kind]
    people = rb.read_table(source, quasi_identifiers="sex")
    plan = rb.recommend(people, target="k=2")
    with pytest.warns(rb.errors.ReidbnWarning, match="names a person"):
        written = list(pd.read_csv(plan.write(tmp_path / "o.csv")))
    there = [name for name in COLUMNS if kind not in ("typed", "parquet") or name != "blank"]
    left_out = {name for name in there if name not in written}
    assert left_out == {name for name in there if refused(source, name)}
    if kind == "texts":  # of which a frame says that they are texts
        assert left_out == DIRECT | {"amount", "decimal commas", "decimal points"}
    elif kind in ("typed", "parquet"):
        assert left_out == DIRECT | {"decimal commas"}
    else:
        assert left_out == DIRECT


NUMBERS = [
    "id", "ID", "Patient", "patient_id", "Patient No", "patientnbr", "MRN", "case number",
    "case_id", "Insurance_No", "insurance number", "subject_id", "participant id", "person_id",
    "record_id", "encounter_id", "Fallnummer", "Patientennummer", "uuid", "ID-Nr.", "NHS No",
]  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_a_column_called_like_a_number_of_persons_is_neither_read_nor_written(name, tmp_path):
    table = pd.DataFrame({name: np.arange(80) % 60 * 31, "sex": ["F", "M"] * 40})
    with pytest.raises(rb.errors.DataError, match="by its name"):
        rb.read_table(table, quasi_identifiers=name)
    table.to_csv(tmp_path / "t.csv", index=False)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        people = rb.read_table(tmp_path / "t.csv", quasi_identifiers="sex")
        rb.recommend(people, target="k=2").write(tmp_path / "o.csv")
    assert f"names a person: {name} (by its name)" in "".join(str(w.message) for w in said)
    assert list(pd.read_csv(tmp_path / "o.csv")) == ["sex"]


@pytest.mark.parametrize(
    "name",
    ["hospital", "hospital_id", "case", "subject", "visit_number", "person_no", "household_id",
     "insurance", "age", "idiom", "caste", "record", "records", "member_count", "valid"],
)  # fmt: skip
def test_a_column_that_names_no_person_is_read_and_written(name, tmp_path):
    table = pd.DataFrame({name: np.arange(80) % 7, "sex": ["F", "M"] * 40})
    assert rb.read_table(table, quasi_identifiers=name).notes == ()
    people = rb.read_table(table, quasi_identifiers="sex")
    rb.recommend(people, target="k=2").write(tmp_path / "o.csv")
    assert set(pd.read_csv(tmp_path / "o.csv")) == {name, "sex"}


def repeated(how, folder):
    """A table of 90 rows of 60 patients, some of them without a number."""
    rows = {
        "patient_id": [None if i % 30 == 7 else f"x{i % 60}" for i in range(90)],
        "sex": ["F", "M"] * 45,
    }
    if how == "dict":
        return rows
    frame = pd.DataFrame(rows)
    if how == "csv":
        frame.to_csv(folder / "t.csv", index=False)
        return folder / "t.csv"
    frame.to_parquet(folder / "t.parquet")
    return folder / "t.parquet"


@pytest.mark.parametrize("how", ["dict", "csv", "parquet"])
def test_where_rows_are_no_persons_it_is_said(how, tmp_path):
    source = repeated(how, tmp_path)
    distinct = {i % 60 for i in range(90) if i % 30 != 7}
    with pytest.warns(rb.errors.ReidbnWarning, match=f"{len(distinct)} values in 87 rows") as said:
        people = rb.read_table(source, quasi_identifiers="sex")
    assert [str(w.message) for w in said] == list(people.notes)
    assert 'name it, subject_id="patient_id"' in people.notes[0]
    assert "x1" not in people.notes[0]
    assert people.columns == ("sex",)  # nothing of it is kept


def test_a_column_of_persons_without_repeats_or_named_as_subject_is_no_news(tmp_path):
    rows = {"patient_id": [*range(40)], "sex": ["F", "M"] * 20}
    assert rb.read_table(rows, quasi_identifiers="sex").notes == ()
    twice = {"patient_id": [*range(20)] * 2, "sex": ["F", "M"] * 20}
    people = rb.read_table(twice, quasi_identifiers="sex", subject_id="patient_id")
    assert len(people) == 20
    assert not any("somebody else" in note for note in people.notes)


def test_a_column_of_persons_that_cannot_be_read_stops_nobody():
    rows = pd.DataFrame({"id": [[1], [2], [2]], "sex": ["F", "M", "F"]})
    assert rb.read_table(rows, quasi_identifiers="sex").notes == ()


def test_a_reader_that_is_read_once_is_read_once():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"id": [b"1", b"2", b"2"], "sex": ["F", "M", "F"]})
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert len(rb.read_table(reader, quasi_identifiers="sex")) == 3


def test_the_shell_says_once_that_rows_are_no_persons(shell, tmp_path):
    source = repeated("csv", tmp_path)
    code, said = shell("classes", str(source), "--qi", "sex")
    assert code == 0
    assert said.count("as if each row were somebody else") == 1
    assert "--subject-id patient_id" in said


def long_fractions():
    """As many digits as a program writes, some with an exponent."""
    values = np.r_[np.linspace(36.0, 41.0, 290), np.geomspace(1e-9, 3e-5, 10)]
    return pd.DataFrame({"fever": values, "sex": ["f", "m"] * 150})


def read_by(kind, frame, folder):
    """The values of the column by each reader."""
    path = folder / f"t.{'parquet' if 'parquet' in kind else 'csv'}"
    if kind == "decimals":
        frame = frame.assign(fever=[Decimal(repr(value)) for value in frame.fever.tolist()])
    elif "parquet" in kind:
        frame.to_parquet(path)
    elif kind != "frame":
        frame.to_csv(path, index=False)
    source = frame if kind in ("frame", "decimals") else path
    if kind.endswith("duckdb"):
        return rb.contingency(source, ["fever", "sex"], engine="duckdb").labels[0]
    return rb.read_table(source, quasi_identifiers=["fever", "sex"]).labels("fever")


READERS = ("frame", "decimals", "parquet", "csv", "csv by duckdb", "parquet by duckdb")


@pytest.mark.parametrize("kind", READERS)
def test_fractions_of_many_digits_are_numbers_by_every_reader(kind, tmp_path):
    frame = long_fractions()
    labels = read_by(kind, frame, tmp_path)
    assert labels.dtype == np.float64
    assert labels.tolist() == sorted(frame.fever.tolist())


def test_fractions_of_many_digits_have_bands_and_name_nobody(tmp_path):
    frame = long_fractions()
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = rb.read_table(tmp_path / "t.csv", quasi_identifiers=["fever"])
    assert table.k() == 1
    coarse = table.generalise({"fever": 1}, hierarchies={"fever": rb.microdata.Bands(5)})
    assert coarse.class_sizes(["fever"]).min() > 1
    sparse = rb.read_sparse(tmp_path / "t.csv")
    assert "number" in str(sparse.schema[0].kind)
    frame["code"] = [f"x{value:.12f}" for value in frame.fever]
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(rb.errors.DataError, match="a text of its own"):
        rb.read_table(tmp_path / "t.csv", quasi_identifiers=["code"])


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["0.30000000000000004", "0.3", "1e-05"], [1e-05, 0.3, 0.30000000000000004]),
        (["2.50", "2.5000000000000000000", "1e+05"], [2.5, 100_000]),
        (["36,70000000000000284", "36,5"], [36.5, 36.7]),
        (["0.300000000000000001", "0.300000000000000002"], None),  # one float, and two numbers
        (["1234567890123456", "2"], None),
        (["1e5", "2"], None),
        (["1E5", "2E7"], None),
        (["1E5", "1F6"], None),
        ([".5", "-.5", "5.", "2"], [-0.5, 0.5, 2, 5]),
        (["+.5", "0.25"], [0.25, 0.5]),
        (["1E-05", "0.5", "1e5"], [1e-05, 0.5, 100_000]),
        (["6.02E23", "1E+05", "2"], [2, 100_000, 6.02e23]),
        ([",5", "1,25"], [0.5, 1.25]),
        (["5,", "1,25"], None),
        (["00.5", "2"], None),
        ([".", "2"], None),
        (["1E5.5", "2"], None),
        (["1e+999", "2"], None),
        (["007", "2"], None),
    ],
)
def test_what_is_written_as_a_number_is_one_where_no_two_become_one(texts, values, tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame({"x": texts, "y": "a"}).to_csv(path, index=False)
    read = rb.read_table(path, quasi_identifiers=["x"]).labels("x")
    for labels in (read, rb.contingency(path, ["x"], engine="duckdb").labels[0]):
        assert labels.tolist() == (sorted(texts) if values is None else values)
