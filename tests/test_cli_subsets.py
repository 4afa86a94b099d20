"""reidbn subsets: what it prints, writes and draws, and how it refuses."""

import json

import duckdb
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from inside import inside

import reidbn as rb
from reidbn.cli import main, reidbn, share_bar
from reidbn.errors import UsageError
from reidbn.report import lattice_figure, uniqueness_figure

PEOPLE = pd.DataFrame(
    {"age": [50, 52, 57, 61, 50, 50], "zip": list("aabbac"), "sex": list("fmfmfm")}
)
QI = ["--qi", "age,zip,sex"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    PEOPLE.to_csv(path, index=False)
    return str(path)


def run(*words):
    done = CliRunner().invoke(reidbn, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    said = capsys.readouterr()
    assert said.out == ""
    return stopped.value.code, said.err


def library(**options):
    return rb.subsets(rb.read_table(PEOPLE, quasi_identifiers=["age", "zip", "sex"]), **options)


def test_the_text_has_a_line_for_each_number_of_attributes_and_the_riskiest_subsets(table):
    lines = run("subsets", table, *QI, "--top", "2").splitlines()
    assert lines[0].startswith("6 people on age, zip, sex; a missing cell is a value")
    assert lines[2].split()[:2] == ["1", "3"]
    assert lines[4].split()[-5:] == ["age", "+", "zip", "+", "sex"]
    assert lines[-1] == "... 5 more subsets; --out writes all"
    assert len([line for line in lines if " + " in line]) == 4


def test_json_holds_every_subset_of_the_library(table):
    found = json.loads(run("subsets", table, *QI, "--json", "--quiet"))
    assert found["people"] == 6
    wanted = library().to_dict("records")
    assert [tuple(row["subset"]) for row in found["subsets"]] == [row["subset"] for row in wanted]
    for row, want in zip(found["subsets"], wanted, strict=True):
        assert {k: v for k, v in row.items() if k != "subset"} == {
            k: v for k, v in want.items() if k != "subset"
        }


def test_json_holds_every_person_and_no_set_where_none_identifies(table):
    found = json.loads(run("subsets", table, *QI, "--json", "--per-person"))
    wanted = library(per_person=True)
    assert [row["unique"] for row in found["records"]] == wanted["unique"].tolist()
    assert found["records"][0]["smallest_identifying"] is None
    assert found["records"][0]["smallest_size"] is None
    assert found["records"][5]["smallest_identifying"] == ["zip"]


def test_people_are_summed_up_by_how_much_must_be_known(table):
    text = run("subsets", table, *QI, "--per-person", "--top", "1")
    assert "identified by  1 known                   4 people" in text
    assert "identified by no subset                  2 people" in text


def test_groups_and_their_chances_can_be_given(table):
    options = ["--known", "home=zip+sex:0.25,age:0.5", "--per-person", "--json"]
    found = json.loads(run("subsets", table, *QI, *options))
    known = {"home": (["zip", "sex"], 0.25), "age": ("age", 0.5)}
    wanted = library(per_person=True, known=known)
    assert [row["mean_inverse"] for row in found["records"]] == wanted["mean_inverse"].tolist()


def test_small_subsets_and_drawn_ones_can_be_asked_for(table):
    found = json.loads(run("subsets", table, *QI, "--most", "1", "--json"))
    assert [row["size"] for row in found["subsets"]] == [1, 1, 1]
    found = json.loads(run("subsets", table, *QI, "--samples", "50", "--seed", "3", "--json"))
    assert sum(row["draws"] for row in found["subsets"]) == 50
    text = run("subsets", table, *QI, "--samples", "50", "--per-person")
    assert "mean_inverse_low" in text


def test_the_whole_table_is_written_to_parquet(table, tmp_path):
    for options, rows in (([], 7), (["--per-person"], 6)):
        file = tmp_path / f"{rows}.parquet"
        run("subsets", table, *QI, "--parquet", str(file), *options)
        with duckdb.connect() as con:
            back = con.read_parquet(str(file)).df()
        assert len(back) == rows
    assert "smallest_identifying" in back
    assert set(back["smallest_identifying"].dropna()) == {"age", "zip"}


def test_both_pictures_are_written(table, tmp_path):
    one, two = tmp_path / "u.svg", tmp_path / "l.png"
    run("subsets", table, *QI, "--plot", str(one), "--plot-lattice", str(two))
    assert "<svg" in one.read_text()
    assert two.read_bytes().startswith(b"\x89PNG")


def test_pictures_show_the_shares_of_the_table():
    subsets = library()
    axes = uniqueness_figure(subsets).axes[0]
    (mean,) = (line for line in axes.lines if line.get_marker() == "o")
    assert list(mean.get_xdata()) == [1, 2, 3]
    by_size = subsets.groupby("size")["uniques"].mean() / 6 * 100
    np.testing.assert_allclose(mean.get_ydata(), by_size)
    strips = lattice_figure(subsets).axes[0].collections
    assert [s.get_array().size for s in strips] == [3, 3, 1]
    shares = np.sort(subsets.loc[subsets["size"] == 2, "uniques"]) / 6 * 100
    np.testing.assert_allclose(np.ravel(strips[1].get_array()), shares)
    with pytest.raises(UsageError, match=r"reidbn\.subsets"):
        lattice_figure(pd.DataFrame({"size": [1]}))


def test_mistakes_end_in_one_message(table, capsys):
    code, said = refused(capsys, "subsets", table, *QI, "--known", "home")
    assert code == 2
    assert 'scenario "home"' in said
    code, said = refused(capsys, "subsets", table, *QI, "--known", "age,sex:0.5")
    assert code == 2
    assert '"age" has no chance' in said
    code, said = refused(capsys, "subsets", table, *QI, "--known", "home=:0.5")
    assert "GROUP=A+B:CHANCE" in said
    code, said = refused(capsys, "subsets", table, *QI, "--known", "age:0.1,age:0.2")
    assert "named twice" in said
    code, said = refused(capsys, "subsets", table, *QI, "--known", "age:often")
    assert "not a number" in said
    code, said = refused(capsys, "subsets", table, *QI, "--per-person", "--plot", "x.png")
    assert "leave out --per-person" in said
    code, said = refused(capsys, "subsets", table, *QI, "--most", "0")
    assert "at least one group" in said
    for option in ("--plot", "--plot-lattice"):
        code, said = refused(capsys, "subsets", table, *QI, option, "x.bmp")
        assert code == 2
        assert "end the name in .svg or .png or .pdf" in said
    code, said = refused(capsys, "subsets", table, *QI, "--top", "-3")
    assert "-3 is not in the range" in said
    for source in ("synthetic:x", "synthetic:-5", "synthetic:5:1:2"):
        code, said = refused(capsys, "subsets", source, *QI)
        assert "write synthetic:PEOPLE" in said
    code, said = refused(capsys, "subsets", table, "--qi", "agee")
    assert 'did you mean "age"' in said


def test_a_bar_appears_only_on_a_terminal_and_after_a_second(monkeypatch):
    shown = []
    monkeypatch.setattr(inside(share_bar).sys.stderr, "isatty", lambda: True, raising=False)
    clock = iter([0.0, 0.5, 1.5, 2.0])
    monkeypatch.setattr(inside(share_bar).time, "monotonic", lambda: next(clock))

    class Bar:
        def update(self, task, *, completed):
            shown.append(completed)

        def stop(self):
            shown.append("stopped")

    monkeypatch.setattr(inside(share_bar), "_bar", lambda label: Bar())
    with share_bar("subsets") as report:
        for share in (0.1, 0.6, 1.0):
            report(share)
    assert shown == [0.6, 1.0, "stopped"]
    with share_bar("subsets", quiet=True) as report:
        assert report is None
