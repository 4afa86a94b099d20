"""reidbn linkage as a user types it: what is printed, written and returned."""

import json

import pandas as pd
import pytest

import reidbn as rb
from reidbn.cli import main


@pytest.fixture
def run(capsys):
    """(exit code, standard output, standard error) of a command."""

    def command(*arguments, of="linkage"):
        with pytest.raises(SystemExit) as ended:
            main([of, *[str(a) for a in arguments]])
        shown = capsys.readouterr()
        return ended.value.code, shown.out, shown.err

    return command


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ehr")
    ehr = rb.datasets.synthetic_ehr(60, seed=0)
    ehr.table.insert(0, "who", [f"p{i}" for i in range(60)])
    ehr.table.to_csv(folder / "ehr.csv", index=False)
    ehr.features.to_csv(folder / "features.csv", index=False)
    return folder / "ehr.csv", folder / "features.csv"


def test_the_curve_of_a_file_is_that_of_python(run, files, tmp_path):
    table, features = files
    code, out, err = run(
        table, "--features", features, "--known", "colleague", "--match", "tolerance",
        "--facts", "1..4", "--subject-id", "who", "--html", tmp_path / "l.html",
        "--out", tmp_path / "l.parquet", "--json",
    )  # fmt: skip
    assert code == 0, err
    sparse = rb.read_sparse(table, features=features, subject_id="who")
    own = rb.linkage(sparse, known="colleague", match="tolerance", facts=range(1, 5))
    told = json.loads(out)
    assert [row["success"] for row in told["curve"]] == own.table()["success"].tolist()
    assert told["facts_for"]["0.9"] == own.facts_for(0.9)
    assert told["measures"] == json.loads(json.dumps(own.to_dict()["measures"]))
    assert "single people out" in (tmp_path / "l.html").read_text()
    people = pd.read_parquet(tmp_path / "l.parquet")
    assert people["facts_2"].tolist() == own.success[:, 1].tolist()
    assert people["subject"].tolist() == [f"p{i}" for i in range(60)]


def test_made_up_records_and_chances_in_words(run):
    code, out, err = run("synthetic:40", "--known", "alcohol=0.3,travel=50%", "--quiet")
    assert (code, err) == (0, "")
    assert "singled out" in out
    assert "by chance" in out
    code, out, err = run("synthetic:40", "--facts", "1,3", "--individuals", "5")
    assert code == 0
    assert "Traceback" not in err
    assert out.startswith("5 people x 629 features")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--known", "colleage"], "colleague"),
        (["--known", "alcohol=0.3,sex"], "mixes names and chances"),
        (["--facts", "one"], "write 1..20"),
        (["--otherwise", "0.1"], "otherwise"),
        (["--subject-id", "x"], "no column"),
    ],
)
def test_slips_end_in_one_sentence(run, files, options, message):
    code, _, err = run(files[0], "--features", files[1], *options)
    assert code != 0
    assert message in err
    assert "Traceback" not in err


def test_the_relatives_of_a_file_are_those_of_python(run, files, tmp_path):
    table, features = files
    code, out, err = run(
        table, "--features", features, "--rule", "strict", "--depth", "3", "--subject-id", "who",
        "--html", tmp_path / "f.html", "--out", tmp_path / "f.parquet", "--json", of="family",
    )  # fmt: skip
    assert code == 0, err
    kin = rb.read_kin(rb.read_sparse(table, features=features, subject_id="who"))
    own = rb.neighbourhood(kin, rule="strict", depth=3)
    told = json.loads(out)
    assert [row["attackable"] for row in told["relatives"]] == own.table()["attackable"].tolist()
    assert told["named"] == own.measures["named"].value == told["measures"]["named"]["value"]
    assert "gives away" in (tmp_path / "f.html").read_text()
    assert pd.read_parquet(tmp_path / "f.parquet")["named"].tolist() == own.people["named"].tolist()
    code, out, err = run(table, "--features", features, "--start", "3", of="family")
    assert code == 0, err
    assert "attackable" in out
    assert "p3" not in out
    for options in (
        ("--rule", "strict", "--completeness", "0.9"), ("--rule", "strict", "--in-release", "0.3"),
        ("--rule", "posterior", "--years", "5"),
    ):  # fmt: skip
        code, _, err = run(table, "--features", features, *options, of="family")
        assert (code, "would say nothing" in err) == (2, True)
    with pytest.raises(rb.UsageError, match="in_release= is of rule"):
        rb.neighbourhood(kin, rule="strict", in_release=0.3)
    code, _, err = run(table, "--features", features, "--depth", "0", of="family")
    assert code != 0
    assert "Traceback" not in err
