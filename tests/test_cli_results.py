"""`--html`, `--plot`, `--out` and their neighbours mean the same in every command about people."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from reidbn.cli import reidbn
from reidbn.errors import UsageError

TABLE = ("synthetic:300", "--qi", "age,sex,race")
COMMANDS = {
    "leak": ("leak", *TABLE, "--leaked", "50"),
    "population": ("population", *TABLE, "--population", "100000", "--model", "pitman"),
    "suda": ("subsets", *TABLE, "--suda"),
    "disclosure": ("disclosure", *TABLE, "--sensitive", "diagnosis", "--known", "age,sex"),
    "assess": ("assess", *TABLE, "--rows", "2000", "--population", "9000"),
}
HIDDEN = {"leak": "--parquet", "suda": "--parquet", "disclosure": "--own-copy"}


def run(*words):
    return CliRunner().invoke(reidbn, [str(w) for w in words], catch_exceptions=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_about_people_writes_a_report_a_picture_and_a_row_each(name, tmp_path):
    page, numbers, own = (tmp_path / f for f in ("r.html", "r.json", "own.json"))
    picture, rows = tmp_path / "r.svg", tmp_path / "r.parquet"
    done = run(*COMMANDS[name], "--quiet", "--html", page, "--json-report", numbers,
               "--plot", picture, "--out", rows)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "<h1>" in page.read_text()
    assert picture.read_text().startswith("<?xml")
    assert len(pd.read_parquet(rows)) == 300
    assert json.loads(numbers.read_text())["custodians_own_copy"] is False
    if name != "assess":
        done = run(*COMMANDS[name], "--json-report", own, "--custodian", "--json")
        assert done.exit_code == 0
        exact, printed = json.loads(own.read_text()), json.loads(done.stdout)
        assert exact["custodians_own_copy"] is True
        parts = {"population": printed.get("fit"), "leak": exact, "suda": printed,
                 "disclosure": printed.get("secrets", [None])[0]}  # fmt: skip
        printed = parts[name]
        assert all(printed[key] == exact[key] for key in ("about", "measures", "provenance"))


@pytest.mark.parametrize("name", HIDDEN)
def test_older_names_are_taken_and_hidden(name, tmp_path):
    file = tmp_path / "old.parquet"
    words = (HIDDEN[name],) if name == "disclosure" else (HIDDEN[name], file)
    assert run(*COMMANDS[name], *words).exit_code == 0
    assert name == "disclosure" or file.exists()
    assert HIDDEN[name] not in run(COMMANDS[name][0], "--help").output


def test_a_leak_without_people_has_no_page():
    named = ("leak", "--records", "100", "--class-size", "5", "--leaked", "5", "--html", "x.html")
    assert "give one" in str(run(*named).exception)
    two = ("leak", *TABLE, "--leaked", "5,50", "--html", "x.html")
    assert "one --leaked size" in str(run(*two).exception)
    plain = ("subsets", *TABLE, "--html", "x.html")
    assert "add --suda" in str(run(*plain).exception)


def test_an_option_means_the_same_in_every_command(tmp_path):
    """A file is looked at before any work, JSON is a flag, a limit a chance from 0 to 1."""
    found = {}
    for name in reidbn.list_commands(None):
        for option in reidbn.get_command(None, name).params:
            for word in {"--out", "--html", "--plot", "--json", "--fail-above"} & {*option.opts}:
                found.setdefault(word, {})[name] = option
    assert {word: len(of) for word, of in found.items()} == {
        "--out": 8, "--html": 8, "--plot": 16, "--json": 34, "--fail-above": 5,
    }  # fmt: skip
    assert all(option.is_flag for option in found["--json"].values())
    for word, ending in (("--out", ".parquet"), ("--html", ".html"), ("--plot", ".svg")):
        for name, option in found[word].items():
            taken = option.type.convert(str(tmp_path / f"x{ending}"), option, None)
            assert taken == str(tmp_path / f"x{ending}"), name
            for wrong in (tmp_path / "nowhere" / f"x{ending}", tmp_path / "x.made_up"):
                with pytest.raises(UsageError, match=r"nowhere|made_up"):
                    option.type.convert(str(wrong), option, None)
    for name, option in found["--fail-above"].items():
        of_means = {"ask", "sweep"} & {name}  # whose answer says later what its limit may be
        for wrong in ("x",) if of_means else ("x", "1.5", "-0.1"):
            with pytest.raises(UsageError, match=wrong):
                option.type.convert(wrong, option, None)
        assert option.type.convert("0.25", option, None) in (0.25, "0.25"), name
