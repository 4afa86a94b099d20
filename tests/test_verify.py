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
