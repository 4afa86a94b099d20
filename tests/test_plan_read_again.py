"""A plan's targets in the file that it wrote, as whoever holds only that file reads it.

A file of texts has no types: once whoever is written "<2" or "n/a" is left out, a column of texts
can be read as numbers, in which 5, 5.0 and +5 are one.
"""

from __future__ import annotations

import csv
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import reidbn as rb

ONE = ["5", "5.0", "+5", "5.00"], ["7", "7.0"], ["8"], ["-2", "-2.0"]
COMMAS = ["1,5", "1,50"], ["2,5", "+2,5"], ["1,234", "+1,234"], ["5", "5,0"]
OTHER = ["<2", "n/a", "05", "1e1", "1e+10", "10000000000", "2020-01-31", "31.01.2020", "x", "1.2.3",
         " 5", "12345678901234567", "'+5", "True", "1,500"]  # fmt: skip


def written_texts(rng, n):
    """A column that mixes ways to write a number, and few texts that are none."""
    of = (ONE, COMMAS)[int(rng.random() < 0.3)]
    some = [of[i] for i in rng.permutation(len(of))[: int(rng.integers(1, 4))]]
    texts = [str(rng.choice(some[int(rng.integers(len(some)))])) for _ in range(n)]
    for place in rng.permutation(n)[: int(rng.integers(0, 4))]:
        texts[place] = str(rng.choice(OTHER))
    return texts


def source(rng, frame, tmp_path):
    kind = ("csv", "frame", "parquet")[int(rng.integers(3))]
    if kind == "frame":
        return frame
    path = tmp_path / f"source.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    return path


def columns(path, names, **asked):
    """Everybody's value in each column of a file, as it is read."""
    people = rb.read_table(path, quasi_identifiers=names, **asked)
    return [people.labels(name)[people.codes([name])[:, 0]].tolist() for name in names]


def alike(path, keys, secret=None):
    """Of everybody how many are alike; of a secret the best guess, and the mean share of one's
    own, of those who have one.
    """
    found = columns(path, [*keys, secret] if secret else list(keys))
    rows = list(zip(*found[: len(keys)], strict=True))
    if secret is None:
        return min(Counter(rows).values())
    pairs = [p for p in zip(rows, found[-1], strict=True) if p[1] is not None]
    sizes, each = Counter(row for row, _ in pairs), Counter(pairs)
    best = max(Fraction(each[p], sizes[p[0]]) for p in pairs)
    return best, sum(Fraction(each[p], sizes[p[0]]) for p in pairs) / len(pairs)


@pytest.mark.filterwarnings("ignore::reidbn.errors.ReidbnWarning")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.wide] * (s > 25)) for s in range(160)]
)
def test_every_target_is_met_in_the_file_by_whoever_reads_it(seed, ending, tmp_path):
    rng = np.random.default_rng([seed, 16])
    n = int(rng.integers(10, 24))
    frame = pd.DataFrame({"g": written_texts(rng, n), "h": rng.choice(["1", "1.0", "z"], n),
                          "lab": written_texts(rng, n)})  # fmt: skip
    keys = ["g", "h"][: int(rng.integers(1, 3))]
    limit = float(rng.choice([0.4, 0.5, 0.6, 0.75, 0.9]))
    how = "mean PPP >= " if rng.random() < 0.3 else "best guess <= "
    share = 1 - limit if "PPP" in how else limit
    table = source(rng, frame, tmp_path)
    people = rb.read_table(table, quasi_identifiers=keys, sensitive="lab")
    try:
        plan = rb.recommend(people, target=["k=2", f"lab: {how}{share}"], keep=keys[:1],
                            suppress_at_most=0.6)  # fmt: skip
    except rb.errors.DataError:
        return
    path = plan.write(tmp_path / f"out.{ending}")
    there = [k for k in keys if k not in plan.best.dropped]
    assert alike(path, keys) >= 2
    best, mean = alike(path, there, "lab")
    assert (mean if "PPP" in how else best) <= limit + 1e-9
    told = plan.best.after[str(plan.targets[1])]
    assert told <= limit + 1e-9


@pytest.mark.filterwarnings("ignore::reidbn.errors.ReidbnWarning")
@pytest.mark.parametrize("seed", range(12))
def test_a_limit_on_an_attack_is_met_in_the_file_where_keys_become_numbers(seed, tmp_path):
    rng = np.random.default_rng([seed, 99])
    frame = pd.DataFrame({"g": written_texts(rng, 20), "h": rng.choice(["1", "1.0", "z"], 20)})
    frame.to_csv(tmp_path / "source.csv", index=False)
    people = rb.read_table(tmp_path / "source.csv", quasi_identifiers=["g", "h"])
    asked = {"known": {"g": 0.8, "h": 0.6}, "population": (60, 500)[seed % 2]}
    what = ("highest <= 0.3", "mean <= 0.15", "q90 <= 0.25")[seed % 3]
    plan = rb.recommend(people, "adversary-routes", target={"overall": what}, keep="g",
                        suppress_at_most=0.6, **asked)  # fmt: skip
    back = rb.read_table(plan.write(tmp_path / "out.csv"), quasi_identifiers=["g", "h"])
    assert plan.targets[0].is_met(rb.assess("adversary-routes", back, **asked).risk("overall"))


def made(tmp_path):
    rows = ["x,5", "x,5", "x,5.0", "x,5.0", "y,7", "y,7", "y,8", "y,8", "z,<2"]
    (tmp_path / "s.csv").write_text("\n".join(["g,lab", *rows]))
    return tmp_path / "s.csv"


def test_two_spellings_of_a_number_are_one_secret_of_a_plan_and_are_told(tmp_path):
    """Class x holds the number 5 alone: a half was said of it, and proved."""
    people = rb.read_table(made(tmp_path), quasi_identifiers="g", sensitive="lab")
    assert any(
        n.startswith("lab: 1 text says a number that another one says") for n in people.notes
    )
    asked = {"target": ["k=2", "lab: best guess <= 50%"], "suppress_at_most": 0.2}
    with pytest.raises(rb.errors.DataError, match="no way to release keeps"):
        rb.recommend(people, keep="g", **asked)
    plan = rb.recommend(people, **asked)
    assert plan.best.dropped == ("g",)
    assert plan.best.after[str(plan.targets[1])] == pytest.approx(4 / 9)
    said = [n for n in plan.notes if "counted as one secret" in n]
    assert len(said) == 1
    for kind in ("md", "json"):
        page = plan.report(tmp_path / f"p.{kind}", custodian=True).read_text()
        assert "counted as one secret" in page


def test_the_shell_finds_no_way_where_the_file_would_break_the_limit(shell, tmp_path):
    args = ["recommend", str(made(tmp_path)), "--qi", "g", "--sensitive", "lab", "--target", "k=2",
            "--target", "lab: best guess <= 50%", "--suppress-at-most", "20%"]  # fmt: skip
    code, said = shell(*args, "--keep", "g", "--write", str(tmp_path / "o.csv"))
    assert code == 2
    assert "no way to release keeps" in said
    assert not (tmp_path / "o.csv").exists()
    code, said = shell(*args, "--write", str(tmp_path / "o.csv"))
    assert code == 0
    assert "1 text of lab differs from another in capitals, blanks or the form of" in said
    best, _ = alike(tmp_path / "o.csv", ["g"], "lab")
    assert best <= Fraction(1, 2)


def test_texts_that_say_no_number_or_another_are_as_many_secrets(tmp_path):
    texts = ["5", "5,5", "6.5", "10", "<5", "x5", "1_0", "nan", "5 0"]
    people = rb.read_table({"g": ["a"] * 9, "lab": texts}, quasi_identifiers="g", sensitive="lab")
    assert not any("says a number" in n for n in people.notes)
    plan = rb.recommend(people, target="lab: best guess <= 20%")
    assert plan.best.after[str(plan.targets[0])] == pytest.approx(1 / 9)
    (note,) = plan.notes
    assert note.startswith("nan is counted as a lab, and many readers of a file")


SAME = [
    ("Flu", "flu", "FLU"), ("New  York", "new york"), ("caf\u00e9", "cafe\u0301", "CAF\u00c9"),
    ("stra\u00dfe", "STRASSE"), ("\uff15", "5"), (".5", "0.5", "5e-1"), ("5.", "5", "+5", "05"),
    ("1e3", "1000", "1E3", "1.0e+03"), ("1E-5", "1e-05", "0.00001"), ("-0", "0"), ("5,00", "5.0"),
    ("005.0", "5"), ("9007199254740993", "9007199254740992.0"),
    ("5%", "5.0 %", "05%", "5,0%", "0.05"),
    ("<2", "< 2"), ("5mg", "5 mg"), ("-5", "\u22125"), ("1,000", "1000", "1 000"), ("1,500", "1,5"),
    ("flu", "flu\u200b"), ("inf", "+inf", "Infinity"), ("1'500", "1500", "1_500", "1,500"),
    ("2020-01-01", "2020-1-1"), ("01/02/2020", "1/2/2020"), ("9:30", "09:30"), ("0x10", "16"),
    ("1.2.2020", "01.02.2020"), ("2020-01-01T09:30", "2020-1-1t9:30"),
    ("2020-01-01", "2020/1/1", "2020-01-01T00:00:00", "2020-01-01 00:00:00.000", "20200101"),
    ("1/2/2020", "1/2/2020 0:00"), ("2020-01-01 9:30", "2020-01-01T09:30"), ("1.500", "1500"),
    ("1.234.567", "1234567", "12,34,567"), ("\u0665\u066b\u0665", "5.5"),
    ("9:30", "09:30:00"), ("\u0665", "5"),
]  # fmt: skip


@pytest.mark.parametrize("texts", SAME)
def test_texts_that_say_one_thing_are_one_secret_of_a_limit_and_that_is_told(texts):
    """By hand: of len(texts) + 1 secrets of one person each, all but one say the same."""
    table = {"x": ["u"] * (len(texts) + 1), "s": [*texts, "Cold"]}
    people = rb.read_table(table, quasi_identifiers="x", sensitive="s")
    plan = rb.recommend(people, target={"s": "best guess <= 90%"})
    share = len(texts) / (len(texts) + 1)
    assert [*plan.best.after.values()] == pytest.approx([share])
    same = len(texts) - 1
    assert [n.startswith(f"{same} text") and "counted as one secret" in n for n in plan.notes] == [
        True
    ]
    mean = rb.recommend(people, target={"s": f"mean PPP >= {0.9 * (1 - share)}"})
    assert [*mean.best.after.values()] == pytest.approx([share**2 + (1 - share) ** 2])
    with pytest.raises(rb.errors.DataError, match="no way to release keeps"):
        rb.recommend(people, target={"s": "best guess <= 60%"})


def test_what_looks_like_a_suppressed_secret_is_one():
    table = {"x": ["u"] * 4, "s": ["*", "\uff0a", "\uff0a", "B"]}
    people = rb.read_table(table, quasi_identifiers="x", sensitive="s")
    plan = rb.recommend(people, target={"s": "best guess <= 70%"})
    assert [*plan.best.after.values()] == pytest.approx([2 / 3])


def returned(where):
    """A table in which a carriage return stands in a text, as CSV programs write one."""
    cells = {"sex": ["f", "m"] * 5, "town": ["A", "B"] * 5, "note": ["x", "y"] * 5}
    cells[where] = [f"{one}\r=1+1" for one in cells[where]]
    return cells


@pytest.mark.parametrize("where", ["sex", "town", "note"])
def test_a_carriage_return_within_a_text_ends_no_line(where, tmp_path):
    cells = returned(where)
    pd.DataFrame(cells).to_csv(tmp_path / "own.csv", index=False, quoting=csv.QUOTE_ALL)
    for source in (str(tmp_path / "own.csv"), pd.DataFrame(cells)):
        people = rb.read_table(source, quasi_identifiers=["sex", "town"])
        plan = rb.recommend(people, target="k=5")
        again = pd.read_csv(plan.write(tmp_path / "safer.csv"))
        assert len(again) == 10
        assert again.groupby(["sex", "town"]).size().min() == 5
        rows = map(tuple, again.to_numpy())
        assert sorted(rows) == sorted(zip(*cells.values(), strict=True))
        assert len(rb.read_table(tmp_path / "safer.csv", quasi_identifiers=["sex", "town"])) == 10


def test_a_carriage_return_in_a_name_ends_no_line_either(tmp_path):
    table = pd.DataFrame({"s\rx": ["f", "m"] * 5, "n": [1.5, None] * 5})
    people = rb.read_table(table, quasi_identifiers=["s\rx"])
    again = pd.read_csv(rb.recommend(people, target="k=5").write(tmp_path / "safer.csv"))
    assert again.columns.tolist() == ["s\rx", "n"]
    assert again["n"].isna().sum() == 5


def test_what_no_csv_file_holds_is_refused_with_what_does(tmp_path):
    table = pd.DataFrame({"sex": ["f", "m"] * 5, "note": ["a\0b", "c"] * 5})
    plan = rb.recommend(rb.read_table(table, quasi_identifiers=["sex"]), target="k=5")
    with pytest.raises(rb.UsageError, match=r'"note" has a character of code 0 .* \.parquet'):
        plan.write(tmp_path / "safer.csv")
    assert len(pd.read_parquet(plan.write(tmp_path / "safer.parquet"))) == 10


def test_columns_that_are_called_by_numbers_are_written(tmp_path):
    table = pd.DataFrame({0: ["f", "m"] * 5, 1: ["x", "y"] * 5})
    people = rb.read_table(table, quasi_identifiers=["0"])
    again = pd.read_csv(rb.recommend(people, target="k=5").write(tmp_path / "safer.csv"))
    assert again.columns.tolist() == ["0", "1"]
    assert again["0"].value_counts().to_dict() == {"f": 5, "m": 5}
    assert again.groupby("0")["1"].unique().map(list).to_dict() == {"f": ["x"], "m": ["y"]}


def test_a_column_is_found_again_by_what_parted_it_in_the_source(tmp_path):
    """A name with more ; than there are columns, quoted; and one that only the caller can tell."""
    for text, mark in (('age,sex,"a (b; c; d; e)"\n' + '30,F,x\n40,M,y\n' * 5, None),
                       ("age|sex|a, b, c, d\n" + "30|F|x\n40|M|y\n" * 5, "|")):  # fmt: skip
        (tmp_path / "t.csv").write_text(text)
        people = rb.read_table(tmp_path / "t.csv", quasi_identifiers=["age"], delimiter=mark)
        plan = rb.recommend(people, target="k=2")
        for source in (None, tmp_path / "t.csv"):
            again = pd.read_csv(plan.write(tmp_path / "o.csv", source=source))
            assert again.columns.tolist()[:2] == ["age", "sex"]
            assert len(again.columns) == 3


def test_parquet_keeps_every_name_or_says_so(tmp_path):
    table = pd.DataFrame({"A": [1, 2] * 5, "a": ["u", "v"] * 5})
    plan = rb.recommend(rb.read_table(table, quasi_identifiers=["A"]), target="k=2")
    with pytest.raises(rb.UsageError, match=r"'A', 'a'\): rename them, or write a .csv file"):
        plan.write(tmp_path / "o.parquet")
    assert pd.read_csv(plan.write(tmp_path / "o.csv")).columns.tolist() == ["A", "a"]


def test_numbers_that_are_one_or_that_end_nowhere_have_no_bands():
    texts = ["007", "07", "7", "7.0"] * 6
    people = rb.read_table({"x": texts, "g": ["a", "b"] * 12}, quasi_identifiers=["x", "g"])
    assert "x" not in rb.microdata.propose_hierarchies(people)
    for odd in (np.inf, 1e300):
        table = pd.DataFrame({"x": [odd, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0] * 3})
        people = rb.read_table(table, quasi_identifiers=["x"])
        assert rb.microdata.propose_hierarchies(people) == {}


def test_the_least_share_of_a_secret_is_of_those_who_have_one():
    table = {"g": ["a", "b", "c"] * 5, "s": ["flu"] * 5 + ["cold"] * 5 + [None] * 5}
    people = rb.read_table(table, quasi_identifiers=["g"], sensitive=["s"])
    for limit in (30, 49):
        with pytest.raises(rb.errors.DataError, match=r"of 2 values of s one has a share of 1/2"):
            rb.recommend(people, target={"s": f"best guess <= {limit}%"}, suppress_at_most=0.3)


@pytest.mark.parametrize("target", [{"1/class": 0.005}, {"1/class": "mean <= 0.005"}])
def test_where_all_are_alike_leaving_people_out_is_no_remedy(target):
    people = rb.read_table({"g": [1, 2] * 50}, quasi_identifiers=["g"])
    with pytest.raises(rb.errors.DataError, match="leaving people out lowers nothing"):
        rb.recommend(people, target=target, suppress_at_most=0.9)
    with pytest.raises(rb.UsageError, match=r'ema is a precedent.*write it alone, as text, "ema"'):
        rb.recommend(people, target={"ema": 0.09})


@pytest.mark.parametrize("digits", [20, 310, 5_000])
def test_a_limit_of_many_digits_is_refused(digits):
    people = rb.read_table({"sex": ["f", "m"] * 5}, quasi_identifiers=["sex"])
    with pytest.raises(rb.UsageError, match=f"k has {digits} digits"):
        rb.recommend(people, target="k=" + "9" * digits)


# -- cells that are missing, beside cells that were emptied ----------------------------------------


@pytest.mark.parametrize("missing", ["?", "NA", "  ", ""])
@pytest.mark.parametrize("kind", ["csv", "frame", "parquet"])
def test_who_is_emptied_is_alike_with_who_was_missing_in_the_file(missing, kind, tmp_path):
    """Six are missing and two of "a" are emptied: the file held 6 and 2, by whoever reads it."""
    towns = [missing] * 6 + ["a"] * 2 + ["b"] * 9 + ["c"] * 9
    table = pd.DataFrame({"town": towns, "sex": ["f"] * 26, "z": "1"})
    if kind == "csv":
        table.to_csv(tmp_path / "table.csv", index=False)
        table = tmp_path / "table.csv"
    elif kind == "parquet":
        table.to_parquet(tmp_path / "table.parquet")
        table = tmp_path / "table.parquet"
    people = rb.read_table(table, quasi_identifiers=["town", "sex"],
                           missing_values=[missing] if missing.strip() else None)  # fmt: skip
    plan = rb.recommend(people, target="k=5", hierarchies={"town": "prefix:1"},
                        empty_at_most="10%", keep="sex")  # fmt: skip
    assert plan.best.emptied == 2
    for name in ("safe.csv", "safe.parquet"):
        plan.write(tmp_path / name)
        read = (pd.read_csv(tmp_path / name, keep_default_na=False, dtype=str)
                if name.endswith("csv") else pd.read_parquet(tmp_path / name))  # fmt: skip
        assert read.groupby(["town", "sex"], dropna=False).size().min() >= 5
        assert rb.read_table(tmp_path / name, quasi_identifiers=["town", "sex"]).k() >= 5


def test_missing_cells_stay_as_they_were_where_none_is_emptied(tmp_path):
    table = {"town": ["?"] * 6 + ["a"] * 7, "sex": ["f"] * 13}
    people = rb.read_table(table, quasi_identifiers=["town", "sex"], missing_values=["?"])
    rb.recommend(people, target="k=5").write(tmp_path / "same.csv", source=table)
    assert Counter(pd.read_csv(tmp_path / "same.csv")["town"]) == {"?": 6, "a": 7}


@pytest.mark.parametrize("values", [
    [2**70 + i % 2 for i in range(20)],
    [pd.Timedelta(seconds=5, microseconds=100 * (i // 2 % 2)) for i in range(20)],
    pd.period_range("2020-01", periods=20, freq="M"),
], ids=["wide", "durations", "periods"])  # fmt: skip
def test_a_parquet_file_that_would_change_a_column_is_not_written(values, tmp_path):
    table = pd.DataFrame({"sex": ["m", "f"] * 10, "own": values})
    plan = rb.recommend(rb.read_table(table, quasi_identifiers=["sex"]), target="k=2")
    with pytest.raises(rb.UsageError, match=r"s\.parquet: the values of own are .* write \.csv"):
        plan.write(tmp_path / "s.parquet", source=table)
    assert not (tmp_path / "s.parquet").exists()
    plan.write(tmp_path / "s.csv", source=table)
    assert pd.read_csv(tmp_path / "s.csv")["own"].nunique() == len(set(values))


def test_a_measure_without_an_answer_in_a_coarser_release_says_so():
    people = rb.read_table(rb.datasets.synthetic_patients(250, seed=4),
                           quasi_identifiers=["age", "sex", "race"])  # fmt: skip
    assert "caught_if_tried" in rb.assess("insider-decides", people).risks
    with pytest.raises(rb.UsageError, match="in a changed release caught_if_tried has no answer"):
        rb.recommend(people, "insider-decides", target={"caught_if_tried": 0.04},
                     hierarchies={"age": "bands:10,20"})  # fmt: skip


def test_a_file_does_not_count_the_values_that_left(tmp_path):
    """Whose diagnosis is rare is left out; the file's metadata told how many such there were."""
    import duckdb

    told = set()
    for rare in (["Zoster"], ["Zoster", "AIDS", "Ebola"]):
        table = pd.DataFrame({"age": [30] * 40 + [40] * 40 + [90 + i for i in range(len(rare))],
                              "dx": pd.Categorical(["flu", "cold"] * 40 + rare)})  # fmt: skip
        people = rb.read_table(table, quasi_identifiers=["age"])
        plan = rb.recommend(people, target="k=5", suppress_at_most=0.05, keep=["age"])
        plan.write(tmp_path / "c.parquet", source=table)
        asked = "select stats_distinct_count from parquet_metadata(?) where path_in_schema = 'dx'"
        told.add(duckdb.execute(asked, [str(tmp_path / "c.parquet")]).fetchall()[0][0])
        assert sorted(pd.read_parquet(tmp_path / "c.parquet")["dx"].unique()) == ["cold", "flu"]
    assert len(told) == 1


# -- a ledger, and cells without a value -----------------------------------------------------------


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NaT], ids=["none", "nan", "nat"])
def test_a_column_without_any_value_goes_into_a_ledger(nothing, tmp_path):
    table = pd.DataFrame({"age": [30, 40] * 20, "sex": ["M"] * 20 + ["F"] * 20,
                          "note": [nothing] * 40})  # fmt: skip
    plan = rb.recommend(rb.read_table(table, quasi_identifiers=["age", "sex"]), target="k=5")
    for name in ("l.csv", "l.parquet"):
        plan.write(tmp_path / name, ledger=tmp_path / f"{name}.json", source=table)


@pytest.mark.parametrize("value", ["a-30", "z-40"])
def test_a_missing_cell_is_no_other_value_to_a_ledger(value, tmp_path):
    """It counted as the last of its column, and another table was let out as the same."""
    ages = pd.Series(["a-30"] * 40 + [None] * 20 + ["z-40"] * 40)
    for name, column in (("v1.csv", ages), ("v2.csv", ages.fillna(value))):
        table = pd.DataFrame({"age": column, "sex": ["F", "M"] * 50})
        people = rb.read_table(table, quasi_identifiers=["age", "sex"])
        plan = rb.recommend(people, target="k=5")
        if name == "v1.csv":
            plan.write(tmp_path / name, ledger=tmp_path / "l.json", source=table)
            continue
        with pytest.raises(rb.UsageError, match="from other columns, values or rows"):
            plan.write(tmp_path / name, ledger=tmp_path / "l.json", source=table)


def test_survey_weights_have_no_interval_and_keep_no_limit_for_sure(tmp_path, shell):
    """219 of 390 who are alone in the table are so in the population; 1 in 50 was said of each."""
    names = ["age", "sex", "race", "state", "education"]
    world = rb.datasets.synthetic_patients(20_000, seed=5)
    world.sample(400, random_state=1)[names].assign(w=50).to_csv(tmp_path / "t.csv", index=False)
    people = rb.read_table(tmp_path / "t.csv", quasi_identifiers=names, weights="w")
    how = {"population": 20_000, "population_model": "benedetti-franconi"}
    plan = rb.recommend(people, "adversary-routes", scenario="worst-case",
                        target={"journalist": "highest <= 0.03"}, **how)  # fmt: skip
    assert plan.by_estimate == ("the highest journalist at most 0.03",)
    assert "survey weights have none" in plan.report(tmp_path / "p.md").read_text()
    result = rb.assess("adversary-routes", people, scenario="worst-case", **how)
    assert not result.summary({"journalist": 0.03}).passes
    code, said = shell("assess", tmp_path / "t.csv", "--qi", ",".join(names), "--weights", "w",
                       "--population", "20000", "--population-model", "benedetti-franconi", "-q",
                       "--threshold", "journalist=0.03", "--check-draws", "1000")  # fmt: skip
    assert code == 1
    assert "By an estimate alone this passes the rule" in said
    assert "survey weights have none" in said


def test_a_table_is_not_written_over_its_ledger(tmp_path):
    people = rb.read_table({"age": [20, 21, 30, 31] * 10}, quasi_identifiers=["age"])
    plan = rb.recommend(people, target="k=5")
    table = {"age": [20, 21, 30, 31] * 10}
    plan.write(tmp_path / "one.csv", ledger=tmp_path / "led.csv", source=table)
    before = (tmp_path / "led.csv").read_bytes()
    with pytest.raises(rb.UsageError, match="written over its ledger"):
        plan.write(tmp_path / "led.csv", ledger=tmp_path / "led.csv", source=table)
    assert (tmp_path / "led.csv").read_bytes() == before
    with pytest.raises(rb.UsageError, match="a target is a bytes"):
        rb.recommend(people, target=b"k=2")
