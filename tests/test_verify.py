"""Every report has a seal: what was changed in it is found, and its table makes it again."""

import json

import pytest

import reidbn as rb
from reidbn.cli import main
from reidbn.release import sealed, unsealed


def run(*words):
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    return end.value.code


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A table, its leak reported from the shell in three forms, and another table."""
    folder = tmp_path_factory.mktemp("verify")
    frame = rb.datasets.synthetic_patients(300, seed=4)
    frame.to_csv(folder / "people.csv", index=False)
    frame.head(200).to_csv(folder / "other.csv", index=False)
    paths = [folder / f"r.{ending}" for ending in ("html", "md", "json")]
    asked = ("leak", folder / "people.csv", "--qi", "age,sex,race", "--leaked", 100)
    written = ("--html", paths[0], f"--markdown={paths[1]}", "--json-report", paths[2])
    assert run(*asked, *written, "-q") == 0
    return folder, paths


@pytest.mark.parametrize("i", range(3))
def test_a_report_is_verified_and_made_again_from_its_table(reports, i, capsys):
    folder, paths = reports
    assert run("verify", paths[i]) == 0
    assert "as it was written" in capsys.readouterr().out
    assert run("verify", paths[i], folder / "people.csv") == 0
    assert "it is the same" in capsys.readouterr().out
    assert run("verify", paths[i], folder / "other.csv", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["as_written"]
    assert found["differs"]
    assert [p.name for p in folder.iterdir() if p.name.startswith(".verify")] == []
    text = paths[i].read_text()
    assert str(folder) not in text
    assert "people.csv" not in text


@pytest.mark.parametrize("i", range(3))
def test_one_changed_digit_is_found_and_a_cut_page_has_no_seal(reports, i, tmp_path, capsys):
    _, paths = reports
    text = paths[i].read_text()
    changed = tmp_path / paths[i].name
    assert "300" in text
    changed.write_text(text.replace("300", "310", 1))
    assert run("verify", changed) == 1
    assert "CHANGED" in capsys.readouterr().out
    changed.write_text(text[: len(text) // 2])
    assert run("verify", changed) == 2
    assert "no seal" in capsys.readouterr().err


def test_a_report_from_python_says_what_it_was_made_from_and_not_of_whom(tmp_path, capsys):
    people = rb.read_table(rb.datasets.synthetic_patients(200, seed=4),
                           quasi_identifiers=["age", "sex"])  # fmt: skip
    found = rb.leak.assess(people, leaked=50)
    found.report(tmp_path / "r.json")
    found.report(tmp_path / "own.json", custodian=True)
    assert people.fingerprint not in (tmp_path / "r.json").read_text()
    assert people.fingerprint in str(unsealed((tmp_path / "own.json").read_text())[1])
    assert run("verify", tmp_path / "r.json", tmp_path / "people.csv") == 2
    assert "from Python" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["# a -- b > c\n", '{\n "a": 1.50\n}\n', "<p>1</p>\n"])
def test_what_is_sealed_is_unsealed(text):
    body, made_from, whole = unsealed(sealed(text, {"what": "-->--"}))
    assert whole
    assert made_from == {"what": "-->--"}
    assert body == text or json.loads(body) == json.loads(text)


# -- what anybody can write into a seal ------------------------------------------------------------

EVIL = [
    ("--out", "o.parquet"), ("--html", "h.html"), ("--markdown=m.md", ""), ("--ledger", "l.json"),
    ("--plot", "p.svg"), ("--json-report", "j.json"), ("--functions", "evil.py"),
    ("--figures", "folder"),
]  # fmt: skip


@pytest.mark.parametrize(("option", "value"), EVIL)
def test_a_command_in_a_seal_writes_and_runs_nothing(reports, option, value, tmp_path, capsys):
    folder, paths = reports
    body, made_from, _ = unsealed(paths[1].read_text())
    target = tmp_path / value if value else tmp_path / option.partition("=")[2]
    if option == "--functions":
        target.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    else:
        target.write_text("precious")
    words = [option, str(target)] if value else [f"{option.partition('=')[0]}={target}"]
    made_from["command"] = [*made_from["command"], *words]
    (tmp_path / "r.md").write_text(sealed(body, made_from))
    assert run("verify", tmp_path / "r.md", folder / "people.csv") == 2
    said = capsys.readouterr().err
    assert ("--functions" if option == "--functions" else "would write files") in said
    assert not (tmp_path / "ran").exists()
    assert option == "--functions" or target.read_text() == "precious"


@pytest.mark.parametrize("words", [
    ["page", "breakfast", "-o", "x.html", "{table}"], ["demo", "{table}"], ["nothing", "{table}"],
    ["leak", "{table}", "-o", "x"], ["recommend", "{table}", "--qi", "age", "--write", "a.csv"],
    ["assess", "{table}", "--qi", "age", "--checkpoint", "ck"],
])  # fmt: skip
def test_other_commands_are_not_run(reports, words, tmp_path, capsys, monkeypatch):
    folder, paths = reports
    monkeypatch.chdir(tmp_path)
    body, made_from, _ = unsealed(paths[1].read_text())
    (tmp_path / "r.md").write_text(sealed(body, made_from | {"command": words}))
    assert run("verify", tmp_path / "r.md", folder / "people.csv") == 2
    said = capsys.readouterr().err
    assert "is not run" in said or "No such option" in said
    assert [p.name for p in tmp_path.iterdir()] == ["r.md"]


def test_a_report_with_figures_is_made_again_without_them(reports, tmp_path, capsys):
    folder, _ = reports
    asked = ("leak", folder / "people.csv", "--qi", "age,sex", "--leaked", 100, "-q")
    assert run(*asked, "--figures", tmp_path / "fig", "--markdown", tmp_path / "r.md") == 0
    (tmp_path / "fig").rename(tmp_path / "gone")
    assert run("verify", tmp_path / "r.md", folder / "people.csv") == 0
    assert not (tmp_path / "fig").exists()


@pytest.mark.parametrize("i", range(3))
def test_a_seal_that_says_two_things_or_moves_lines_is_told_as_it_is(reports, i, tmp_path, capsys):
    _, paths = reports
    text, place = paths[i].read_text(), tmp_path / paths[i].name
    place.write_text(
        text.replace('"made_from": {', '"made_from": {"about": "x", "about": "y", ', 1)
    )
    assert run("verify", place) == 2
    assert "twice: it was changed" in capsys.readouterr().err
    body, made_from, _ = unsealed(text)
    place.write_text(sealed(body, made_from | {"about": "red\nr.md: as it was written"}))
    assert run("verify", place) == 0
    assert sum("as it was written" in x for x in capsys.readouterr().out.splitlines()) == 2
    place.write_text(sealed(body, made_from).replace('"about": "', '"about": "\\ud800', 1))
    assert run("verify", place) in (1, 2)


def test_json_that_says_two_things_of_a_key_is_changed(reports, tmp_path, capsys):
    _, paths = reports
    text = paths[2].read_text()
    (tmp_path / "r.json").write_text(text.replace("{", '{"leaked": 1, "leaked": 2,', 1))
    assert run("verify", tmp_path / "r.json") == 2
    assert "twice: it was changed" in capsys.readouterr().err


@pytest.mark.parametrize("text", [
    '{"seal": {"made_from": 5, "sha256": 3}}', '{"seal": 5}',
])  # fmt: skip
def test_a_seal_that_is_none_is_said_to_be_none(text, tmp_path, capsys):
    (tmp_path / "r.json").write_text(text)
    assert run("verify", tmp_path / "r.json") == 2
    assert "no seal" in capsys.readouterr().err


def test_nothing_in_a_markdown_report_runs_or_is_followed(tmp_path):
    odd = ["<img src=x onerror=alert(1)>", "<script>alert(2)</script>", "<!--",
           "see http://a.example or www.b.example"]  # fmt: skip
    people = rb.read_table(
        {"[l](javascript:alert(3))": [odd[i % 4] for i in range(80)], "b": ["x", "y"] * 40},
        quasi_identifiers=["[l](javascript:alert(3))", "b"])  # fmt: skip
    found = rb.assess("adversary-routes", people, known="worst-case", population=1_000)
    for custodian in (False, True):
        text = found.report(tmp_path / f"r{custodian}.md", custodian=custodian).read_text()
        body, _, whole = unsealed(text)
        assert whole
        for tag in ("<img", "<script", "<!--", "](javascript", "http://a", "www.b"):
            assert tag not in body


def test_what_the_least_change_is_does_not_tell_how_many_rare_values_there_are(tmp_path):
    """With nine single people the section was there, with eight not: "under 10" was exactly 9."""
    told = []
    for rare in range(4, 10):
        rows = [("p", "u")] * 60 + [("p", "v")] * 40 + [("q", "u")] * 30
        rows += [(f"r{i}", "u") for i in range(rare)]
        table = {"a": [a for a, _ in rows], "b": [b for _, b in rows]}
        people = rb.read_table(table, quasi_identifiers=["a", "b"])
        found = rb.assess("adversary-routes", people, known="worst-case", population=20_000)
        told.append("Releases with nobody left out" in found.report(tmp_path / "r.md").read_text())
    assert len(set(told)) == 1


def test_nor_does_it_hang_on_which_of_two_columns_is_searched_first(tmp_path):
    """Three people are too few throughout, and either column may be dropped: n rare values more."""
    told = set()
    for rare in (0, 1, 2, 4, 7, 11):
        rows = [(f"a{i}", f"b{j}") for i in range(8) for j in range(12)
                for _ in range(5 if i or j else 3)]  # fmt: skip
        rows += [(f"r{m}", "b1") for m in range(rare) for _ in range(9)]
        table = {"a": [a for a, _ in rows], "b": [b for _, b in rows]}
        people = rb.read_table(table, quasi_identifiers=["a", "b"])
        found = rb.assess("adversary-routes", people, known="worst-case", population=20_000)
        page = found.to_markdown(tmp_path / "r.md", threshold="cell-5", release="public")
        lines = page.read_text().splitlines()
        told.add(tuple(line for line in lines if "dropped" in line and "passes" in line))
    (said,) = told
    assert said
