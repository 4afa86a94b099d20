"""reidbn classes: what it prints, writes and draws, and how it refuses."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import main, reidbn

PEOPLE = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d", "e"],
        "age": [50, 52, 57, 61, 50],
        "zip": ["94152", "94152", "94155", "94140", "?"],
        "weight": [1.5, 2, 2.5, 3, 4],
        "disease": list("xyxyx"),
    }
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    PEOPLE.to_csv(path, index=False)
    return str(path)


def run(*words, code=0):
    done = CliRunner().invoke(reidbn, words, catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout


def refused(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    said = capsys.readouterr()
    assert said.out == ""
    return stopped.value.code, said.err


def test_the_text_states_people_policy_and_numbers(table):
    text = run("classes", table, "--qi", "age,zip", "--missing-values", "?")
    assert "5 people on age, zip; a missing cell is a value of its own." in text
    assert [line.split() for line in text.splitlines() if line.startswith(("k ", "uniques"))] == [
        ["k", "1"],
        ["uniques", "5"],
    ]


def test_json_is_the_same_numbers_with_where_they_come_from(table):
    options = ["--qi", "age,zip", "--sensitive", "disease", "--missing-values", "?"]
    options += [
        "--hierarchy",
        "age=bands:10",
        "--hierarchy",
        "zip=prefix:3",
        "--level",
        "age=1,zip=1",
    ]
    found = json.loads(run("classes", table, *options, "--json"))
    people = rb.read_table(
        table, quasi_identifiers=["age", "zip"], sensitive="disease", missing_values=["?"],
        hierarchies={"age": rb.Bands(10), "zip": rb.Prefix(3)},
    ).generalise({"age": 1, "zip": 1})  # fmt: skip
    assert found["fingerprint"] == people.fingerprint
    assert (found["k"], found["classes"], found["uniques"]) == (1, 3, 2)
    assert found["mean_risk"] == pytest.approx(3 / 5)
    assert found["notes"] == ["age at level 1", "zip at level 1"]
    assert [row["people"] for row in found["histogram"]] == [2, 0, 3]


def test_values_that_match_others_are_said_to(table):
    options = ["--qi", "zip", "--missing-values", "?", "--missing", "matches-anything"]
    assert "sizes count the people who match" in run("classes", table, *options)
    found = json.loads(run("classes", table, *options, "--json"))
    assert not found["partition"]
    assert "classes" not in found
    assert found["k"] == 2


def test_each_persons_class_size_is_written_in_file_order(table, tmp_path):
    import duckdb

    out = str(tmp_path / "out.parquet")
    run(
        "classes",
        table,
        "--qi",
        "zip",
        "--subject-id",
        "id",
        "--weights",
        "weight",
        "--parquet",
        out,
    )
    found = duckdb.read_parquet(out).df()
    assert found["subject"].tolist() == list("abcde")
    assert found["class_size"].tolist() == [2, 2, 1, 1, 1]
    assert found["class_weight"].tolist() == [3.5, 3.5, 2.5, 3, 4]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_picture_is_drawn_in_the_format_asked_for(table, tmp_path, ending):
    out = tmp_path / f"out.{ending}"
    run("classes", table, "--qi", "age", "--quiet", "--plot", str(out))
    start = out.read_bytes()[:300]
    assert b"<svg" in out.read_bytes() if ending == "svg" else start.startswith(b"\x89PNG")


def test_the_bars_are_the_shares_of_people():
    from reidbn.report import class_size_figure

    people = rb.People.from_codes([[0], [0], [1], [2], [2], [2]], ["sex"])
    figure = class_size_figure(people)
    axes = figure.axes[0]
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([100 / 6, 100 / 3, 50])
    assert figure.get_suptitle() == "6 people on sex: 1 unique"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "3"]


def test_made_up_patients_need_no_file():
    found = json.loads(run("classes", "synthetic:300:7", "--qi", "age,sex,state", "--json"))
    made = rb.datasets.synthetic_patients(300, seed=7)
    assert found["people"] == 300
    assert found["classes"] == len(made[["age", "sex", "state"]].drop_duplicates())


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--qi", "agee"], 2, 'did you mean "age"'),
        (["--qi", "age", "--hierarchy", "age=band:5"], 2, 'did you mean "bands"'),
        (["--qi", "age", "--hierarchy", "age"], 2, "COLUMN=RULE"),
        (["--qi", "age", "--level", "age=x"], 2, "not a whole number"),
        (["--qi", "age", "--level", "age=1"], 2, "has no hierarchy"),
        (["--qi", "age", "--quiet", "--plot", "x.bmp"], 2, "svg or .png or .pdf"),
        (["--qi", "age", "--weights", "zip"], 2, "not numbers"),
        ([], 2, "--qi"),
    ],
)
def test_a_mistake_ends_in_one_message_and_a_code(table, capsys, words, code, said):
    with pytest.raises(SystemExit) as stopped:
        main(["classes", table, *words])
    assert stopped.value.code == code
    assert said in capsys.readouterr().err


def test_what_looks_like_a_name_is_refused_on_the_command_line_too(tmp_path, capsys):
    path = tmp_path / "named.csv"
    pd.DataFrame({"email": ["ann@example.org", "bo@example.org"]}).to_csv(path, index=False)
    code, said = refused(capsys, "classes", str(path), "--qi", "email")
    assert code == 2
    assert "direct identifier" in said
    assert "ann" not in said
    assert "uniques" in run("classes", str(path), "--qi", "email", "--allow-direct")


@pytest.mark.parametrize(
    "named",
    [
        ["--qi", "last, first", "--qi", "age,sex"],
        ["--qi", '"last, first",age,sex'],
        ["--qi", "age,sex", "--qi", '"last, first"'],
    ],
)
@pytest.mark.parametrize("command", [["classes"], ["leak", "--leaked", "2"]])
def test_a_column_whose_name_holds_a_comma_can_be_named(named, command, tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text('"last, first",age,sex\na,1,m\na,1,m\nb,2,f\n')
    with pytest.raises(SystemExit) as ended:
        main([command[0], str(path), *named, *command[1:], "--json"])
    assert not ended.value.code, capsys.readouterr().err
    if command == ["classes"]:
        found = json.loads(capsys.readouterr().out)
        assert sorted(found["quasi_identifiers"]) == ["age", "last, first", "sex"]


def test_advice_on_a_name_with_a_comma_can_be_followed(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text('"last, first",age\na,1\na,1\nb,2\n')
    with pytest.raises(SystemExit):
        main(["classes", str(path), "--qi", "last, first,age"])
    said = capsys.readouterr().err
    assert "--qi 'last, first'" in said
    with pytest.raises(SystemExit) as ended:
        main(["classes", str(path), "--qi", "last, first", "--qi", "age"])
    assert not ended.value.code


BORN = [["--known", "born, year=0.5", "--known", "sex=0.25"],
        ["--known", '"born, year"=0.5,sex=0.25'],
        ["--known", 'born="born, year":0.5,sex=0.25']]  # fmt: skip


@pytest.mark.parametrize("known", BORN)
def test_every_option_that_names_columns_can_name_one_with_a_comma(known, tmp_path, capsys):
    path = tmp_path / "t.csv"
    rows = [f"{1950 + i % 12},{'mf'[i % 2]},{'yn'[i % 3 == 0]},s{i % 4}" for i in range(48)]
    path.write_text('"born, year",sex,hiv,"town, ward"\n' + "\n".join(rows) + "\n")

    def told(*words):
        code = 0
        try:
            main([words[0], str(path), *words[1:], "--json"])
        except SystemExit as ended:
            code = ended.code
        told = capsys.readouterr()
        assert not code, told.err
        return json.loads(told.out)

    both = ["--qi", "born, year", "--qi", "sex"]
    secret = told("classes", *both, "--sensitive", "town, ward", "--sensitive", "hiv")
    assert secret["sensitive"] == ["town, ward", "hiv"]
    coarse = ["--hierarchy", "born, year=bands:3,6", "--level", "born, year=2"]
    assert told("classes", *both, *coarse)["k"] == 24 // 2
    people = rb.read_table(path, quasi_identifiers=["born, year", "sex"])
    want = rb.assess("marketer", people, known={"born, year": 0.5, "sex": 0.25}).risk().mean()
    found = told("assess", *both, "--attack", "marketer", *known)
    assert found["measures"]["overall"]["value"] == pytest.approx(want, abs=1e-12)
    sure = rb.assess("marketer", people, known=["sex"], unknown=["born, year"]).risk().mean()
    found = told("assess", *both, "--attack", "marketer", "--known", "sex", "--unknown",
                 "born, year")  # fmt: skip
    assert found["measures"]["overall"]["value"] == pytest.approx(sure, abs=1e-12)
