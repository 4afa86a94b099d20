"""What a plan writes as CSV is read back as what it was, whatever a spreadsheet makes of it."""

from __future__ import annotations

import json
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reidbn as rb
from reidbn.microdata import Raw, tidy
from reidbn.release import safe_cells, without_apostrophes

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
SIGNS = st.text("'=+-@\t\r ,5a\n", min_size=1, max_size=4)


def labels(texts, *, written):
    """The value of each cell that is read, None where it is missing."""
    raw = Raw(np.arange(len(texts), dtype=np.int32), list(texts), written=written)
    codes, found = tidy("c", raw, as_text=True)
    return [None if c < 0 else found[c] for c in codes]


def same_classes(one, two):
    return (np.equal.outer(one, one) == np.equal.outer(two, two)).all()


@given(st.lists(SIGNS, min_size=1, max_size=6, unique=True))
def test_any_texts_that_differ_are_written_apart_and_read_apart(texts):
    """No two become one, no one becomes two, and none is left that a spreadsheet would run."""
    texts = [*texts, "word"]  # of numbers alone 5 and +5 are one
    read = labels(texts, written=False)
    ids = np.array([-1 if v is None else read.index(v) for v in read])
    every = read if len({*read}) < len(read) else texts  # as a plan writes a column
    cells = safe_cells(pd.DataFrame({"c": pd.Series(every, dtype=object)}))["c"].tolist()
    for text in cells:
        if isinstance(text, str) and text.startswith(FORMULAS) and text.strip():
            core = text.strip().lstrip("'")  # a number, or a sign alone
            assert core in ("+", "-") or np.isfinite(float(core))
    back = labels([text if isinstance(text, str) else "" for text in cells], written=True)
    again = np.array([-1 if v is None else back.index(v) for v in back])
    assert same_classes(ids, again)


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["'-10--1", "0-9"], ["-10--1", "0-9"]),
        (["'-10--1", "-20--11"], ["'-10--1", "-20--11"]),  # nobody put it there for all of them
        (["'=a", "''=a"], ["=a", "'=a"]),
        (["'a", "O'=b"], ["'a", "O'=b"]),
        (["'-5", "-5"], ["'-5", "-5"]),
        (["'\tx", "x"], ["'\tx", "x"]),  # two that would be one
    ],
)
def test_only_an_apostrophe_against_formulas_is_read_over(texts, found):
    assert without_apostrophes(texts) == found


def some_table(rng, n):
    """Columns of every kind, and a hierarchy of each."""
    words = np.array(["=sum", "+44 20", "-a", "@home", "\tx", "plain", "'-b", "O'Neil", "-", "+"])
    low = float(rng.choice([-200, -33, 0]))
    numbers = rng.integers(low, low + 90, n)
    decimals = np.round(rng.normal(0, 20, n), 1)
    days = [date(1999, 12, 1) + timedelta(days=int(d)) for d in rng.integers(0, 900, n)]
    own = {str(w).strip(): [str(w)[:1].strip() or "tab"] for w in words}
    tree = rb.microdata.Ladder({
        v: (f"{g[0]}group" if g[0] in "=+-@" else "rest",) for v, g in own.items()
    })  # fmt: skip
    width = int(rng.choice([2, 5, 7]))
    frame = pd.DataFrame({
        "-n": numbers, "d": decimals, "day": [d.isoformat() for d in days],
        "w": rng.choice(words, n),
    })  # fmt: skip
    ladders = {
        "-n": rb.microdata.Bands(width, width * 2, width * 4, start=int(rng.integers(-3, 4))),
        "d": rb.microdata.Bands(2.5, 5, 20),
        "day": rb.microdata.Dates("month", "year", "decade"),
        "w": tree,
    }
    return frame, ladders


@pytest.mark.filterwarnings("ignore::reidbn.errors.ReidbnWarning")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("seed", range(30))
def test_a_written_file_can_be_made_coarser_again(seed, ending, tmp_path):
    """Its classes, as it stands and at every coarser level, are those of the plan's people."""
    rng = np.random.default_rng([16, seed])
    frame, ladders = some_table(rng, 120)
    if seed % 2:
        frame.to_csv(tmp_path / "source.csv", index=False)
    source = tmp_path / "source.csv" if seed % 2 else frame
    names = list(frame)
    people = rb.read_table(source, quasi_identifiers=names, hierarchies=ladders)
    most = {n: int(rng.integers(0, ladders[n].levels)) for n in names}
    plan = rb.recommend(people, target="k=2", suppress_at_most=0.95, drop=names)
    coarse = people.generalise(most)
    object.__setattr__(plan, "apply", lambda: coarse)
    path = plan.write(tmp_path / f"out.{ending}", source)
    header = pd.read_csv(path, nrows=0).columns if ending == "csv" else names
    first = "'-n" if ending == "csv" else "-n"
    assert list(header) == [first, *names[1:]]
    back = rb.read_table(path, quasi_identifiers=names, hierarchies=ladders)
    for more in range(3):
        levels = {n: max(most[n], min(most[n] + more, ladders[n].levels)) for n in names}
        one = people.generalise(levels)
        two = back.generalise(levels)
        assert sorted(one.class_sizes()) == sorted(two.class_sizes())
        for n in names:  # and every column reads the same
            of = [sorted(map(str, p.labels(n)[p.codes([n])[:, 0]])) for p in (one, two)]
            assert of[0] == of[1]


def table(tmp_path):
    frame = pd.DataFrame(
        {"-age": [-12, -13, -3, -4, 5, 8] * 20, "=x": ["a"] * 120, "m": ["\tq", "r"] * 60}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_apostrophes_are_said_of_names_and_of_texts_wherever_a_plan_is_told(tmp_path):
    people = rb.read_table(table(tmp_path), quasi_identifiers=["-age"],
                           hierarchies={"-age": "bands:10"})  # fmt: skip
    plan = rb.recommend(people, target="k=40")
    assert plan.best.levels == {"-age": 1}
    with pytest.warns(rb.errors.ReidbnWarning) as said:
        plan.write(tmp_path / "a.csv")
    text = " ".join(str(one.message) for one in said)
    assert "in -age, m: they start with =, +, -, @, a tab or a return" in text
    assert "-age is written '-age, =x is written '=x" in text
    written = pd.read_csv(tmp_path / "a.csv", dtype=str)
    assert list(written) == ["'-age", "'=x", "m"]
    assert {*written["'-age"]} == {"'-20--11", "'-10--1", "0-9"}
    assert {*written["m"]} == {"'\tq", "r"}
    names = {"-age": "'-age", "=x": "'=x"}
    assert plan.to_dict()["csv_apostrophes"] == {"texts_in": ["-age", "m"], "names": names}
    for custodian in (False, True):
        page = plan.report(tmp_path / "p.md", custodian=custodian).read_text()
        assert "-age is written '-age" in page.replace("\\", "")
        assert ("in -age, m: they start with" in page.replace("\\", "")) == custodian
        found = json.loads(plan.report(tmp_path / "p.json", custodian=custodian).read_text())
        assert found["csv_apostrophes"]["names"] == names
        assert ("texts_in" in found["csv_apostrophes"]) == custodian


@pytest.mark.parametrize("as_frame", [False, True])
def test_every_column_with_an_apostrophe_is_named_and_read_again_by_its_own_name(
    tmp_path, as_frame
):
    """A secret and a column that nobody looks at have them in the file, and were not named."""
    frame = pd.DataFrame({"=sum": ["=1+1", "ok"] * 20, "s": ["=z", "y", "x", "w"] * 10,
                          "u": ["@me", "-5"] * 20, "v": ["-5", "7"] * 20})  # fmt: skip
    frame.to_csv(tmp_path / "t.csv", index=False)
    people = rb.read_table(frame if as_frame else tmp_path / "t.csv", quasi_identifiers=["=sum"],
                           sensitive=["s"])  # fmt: skip
    plan = rb.recommend(people, target="k=3")
    names = {"=sum": "'=sum"}
    assert plan.csv_apostrophes == {"texts_in": ["=sum", "s", "u"], "names": names}
    with pytest.warns(rb.errors.ReidbnWarning, match="apostrophe .* in =sum, s, u: "):
        path = plan.write(tmp_path / "o.csv")
    assert path.read_text().startswith("'=sum,s,u,v")
    again = rb.read_table(path, quasi_identifiers=["=sum"], sensitive=["s"])
    assert again.labels("=sum").tolist() == ["=1+1", "ok"]
    assert again.labels("s").tolist() == ["=z", "w", "x", "y"]
    counted = rb.contingency(path, ["=sum", "u"], engine="duckdb")
    assert counted.labels[0].tolist() == ["=1+1", "ok"]
    with pytest.raises(rb.UsageError, match='did you mean "=sum"'):
        rb.read_table(path, quasi_identifiers=["'=sum"])


def test_the_shell_says_them_too(shell, tmp_path):
    path = table(tmp_path)
    args = ["recommend", str(path), "--qi=-age", "--hierarchy=-age=bands:10", "--target", "k=40"]
    code, said = shell(*args, "--json")
    assert code == 0
    found = json.loads(said[said.index("{") :])
    assert found["csv_apostrophes"]["names"] == {"-age": "'-age", "=x": "'=x"}


def test_a_plain_table_has_no_word_of_apostrophes(tmp_path):
    people = rb.read_table(rb.datasets.synthetic_patients(200, seed=1),
                           quasi_identifiers=["age", "sex"])  # fmt: skip
    plan = rb.recommend(people, target="k=2", hierarchies={"age": "bands:10"})
    assert plan.to_dict()["csv_apostrophes"] == {"texts_in": [], "names": {}}
    assert "apostrophe" not in plan.report(tmp_path / "p.md", custodian=True).read_text()


def test_a_missing_value_is_missing_as_it_is_written_and_as_it_was(tmp_path):
    (tmp_path / "t.csv").write_text("a\n'--\n'-x\ny\n")
    for code in ("--", "'--"):
        people = rb.read_table(tmp_path / "t.csv", quasi_identifiers=["a"], missing_values=code)
        assert set(people.labels("a")) == {"-x", "y", None}
