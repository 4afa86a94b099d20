"""A file without a header: its first line is a person's, and is shown by nothing."""

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.cli import main

FIRST = ("Quimby", "Zanzibar", "teal", "gout")
NAMES = ["name", "city", "colour", "ill"]


def people(n=60, names=NAMES):
    rng = np.random.default_rng(7)
    held = (("Zanzibar", "Oslo"), ("teal", "red"), ("flu", "none"))
    rows = [(f"n{i}", *(str(rng.choice(v)) for v in held)) for i in range(n)]
    return pd.DataFrame([FIRST, *rows], columns=names)


@pytest.fixture
def headless(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people().to_csv("t.csv", index=False, header=False)
    return "t.csv"


@pytest.mark.parametrize(
    "words",
    [
        "classes t.csv --qi city",
        "assess t.csv",
        "assess t.csv --qi city",
        "disclosure t.csv --qi city --sensitive ill",
        "subsets t.csv --qi city",
        "population t.csv --qi city --population 900",
        "leak t.csv --qi city --leaked 10",
        "recommend t.csv --qi city --target ema",
        "page adversary-routes --assess t.csv --qi city --custodian -o x.html",
    ],
)
def test_no_command_shows_the_first_line(headless, words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    assert ended.value.code == 2
    said = "".join(capsys.readouterr())
    assert not [value for value in FIRST if value in said], said


@pytest.mark.parametrize(
    "read",
    [
        lambda t: rb.read_table(t, quasi_identifiers=["city"]),
        lambda t: rb.contingency(t, ["city"]),
        lambda t: rb.contingency(t, ["city"], engine="numpy"),
        lambda t: rb.microdata.collapse(t, ["city"], "cells.parquet"),
        lambda t: rb.read_sparse(t, subject_id="city"),
    ],
    ids=["people", "cells", "cells by numpy", "cells into a file", "sparse"],
)
def test_no_call_shows_the_first_line(headless, read):
    with pytest.raises((rb.errors.UsageError, rb.errors.DataError), match="has no header") as found:
        read(headless)
    assert not [value for value in FIRST if value in str(found.value)]


def test_what_is_named_after_a_value_is_told_and_nothing_beside_it(headless):
    with pytest.warns(rb.errors.ReidbnWarning, match="no header"):
        read = rb.read_table(headless, quasi_identifiers=["Zanzibar"])
    assert "column 1, column 3" in str(read.others.in_words)
    plan = rb.recommend(read, target="k=2")
    assert not {"Quimby", "teal", "gout"} & {*plan.untouched}
    with pytest.raises(rb.errors.DataError, match="headed by a person's values"):
        plan.write("safer.csv")


@pytest.mark.parametrize("n", [8, 30])
def test_first_lines_of_made_up_words_are_known_as_such(n):
    """Of random tables of four columns; two people alike in a value are enough."""
    table = rb.datasets.synthetic_patients(2_000, seed=4)
    words = table[["sex", "state", "race", "marital", "work", "tenure", "diagnosis"]]
    rng = np.random.default_rng(n)
    for _ in range(40):
        some = words.iloc[rng.choice(len(words), n), rng.choice(7, 4, replace=False)]
        rest = some.iloc[1:].set_axis(some.iloc[0].tolist(), axis=1)
        if len({*rest.columns}) < 4:
            continue
        again = any(rest.columns[j] in rest.iloc[:, j].tolist() for j in range(4))
        if not again:
            continue
        with pytest.raises(rb.errors.UsageError, match="has no header"):
            rb.read_table(rest, quasi_identifiers=["nothing"])


@pytest.mark.parametrize(
    "table",
    [
        people(),
        people().assign(asthma=["asthma", "no"] * 30 + ["asthma"]),
        people().set_axis(range(4), axis=1),
        pd.DataFrame(np.arange(40).reshape(10, 4) % 3),
    ],
    ids=["words", "called as what it holds", "numbered", "numbered numbers"],
)
def test_a_header_is_a_header(table, recwarn):
    read = rb.read_table(table, quasi_identifiers=[str(table.columns[1])], allow_direct=True)
    assert not [w for w in recwarn if "header" in str(w.message)]
    assert "header" not in str(read.notes)


@pytest.mark.parametrize(
    "name", ["Vorname", "Nach-Name", "Prénom", "Cognome", "apellidos", "AHV-Nr"]
)
def test_names_are_known_in_other_languages_too(tmp_path, name):
    table = people().rename(columns={"name": name})
    read = rb.read_table(table, quasi_identifiers=["city"])
    assert dict(read.others.pointing) == {name: "by its name"}
    with pytest.raises(rb.errors.DataError, match="direct identifier"):
        rb.read_table(table, quasi_identifiers=[name])
