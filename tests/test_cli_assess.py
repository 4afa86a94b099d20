"""reidbn assess and reidbn demo as a user types them: printed, written, refused."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from inside import inside

import reidbn as rb
from reidbn.cli import main, reidbn
from reidbn.errors import CrosscheckFailed
from reidbn.inference import crosscheck

SCENARIO = """\
schema_version: 1
kind: scenario
name: neighbour
knows:
  attributes:
    age: {chance: 0.5, source: assumption}
    sex: {chance: 0.9, source: assumption}
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "patients.csv"
    frame = rb.datasets.synthetic_patients(300, seed=4).rename(columns={"state": "residence"})
    frame.to_csv(path, index=False)
    return str(path)


def run(*words, code=0):
    if words[0] == "assess":
        words = (*words, "--rows", 50_000)
    done = CliRunner().invoke(reidbn, [str(w) for w in words])
    assert done.exit_code == code, done.output
    return done


def test_assess_prints_a_summary_and_writes_every_file(table, tmp_path):
    files = {k: tmp_path / f for k, f in {
        "--html": "r.html", "--markdown": "r.md", "--json-report": "r.json",
        "--out": "risks.parquet", "--restricted": "all.csv"}.items()}  # fmt: skip
    named = [word for pair in files.items() for word in pair]
    done = run(
        "assess", table, "--qi", "age,sex,residence,race", "--attack", "adversary-routes",
        "--scenario", "voter-registration", "--state-column", "residence", "--population", 6900000,
        "--subject-id", "patient_id", "--hierarchy", "age=bands:10", "--option", "bands:age=1",
        *named,
    )  # fmt: skip
    assert "Does not pass the rule for a public release by ema" in done.stdout
    assert "cross-check of adversary-routes: passed" in done.stdout
    assert "report:" in done.stderr
    assert "<td" in files["--html"].read_text()
    page = files["--html"].read_text()
    assert "bands" in page.split("Options compared")[-1]
    assert json.loads(files["--json-report"].read_text())["people"] == 300
    risks = pd.read_parquet(files["--out"]).set_index("subject")["overall"]
    everybody = pd.read_csv(files["--restricted"]).set_index("subject")
    assert everybody.loc[risks.index, "overall"].to_numpy() == pytest.approx(risks.to_numpy())
    assert {"main_route", "main_group"} <= set(everybody.columns)


def test_assess_takes_a_scenario_file_and_prints_json(table, tmp_path):
    (tmp_path / "neighbour.yaml").write_text(SCENARIO)
    done = run("assess", table, "--qi", "age,sex", "--scenario", tmp_path / "neighbour.yaml",
               "--population", 5000, "--json")  # fmt: skip
    found = json.loads(done.stdout)
    assert found["provenance"]["scenario"] == "neighbour"
    assert 0 < found["measures"]["overall"]["value"] < 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--population", "10"), "smaller than the table"),
        (("--population", "5000", "--scenario", "voter"), "no scenario"),
        (("--population", "5000", "--known", "age+sex"), "take a chance: age+sex=1"),
        (("--population", "5000", "--column", "state"), "ATTRIBUTE=COLUMN"),
        (("--population", "5000", "--html", "r.html", "--option", "age=1"), "NAME:COLUMN=LEVEL"),
        (("--population", "5000", "--restricted", "r.txt"), ".csv or .parquet"),
        ((), "give --population N"),
    ],
)
def test_assess_refuses_with_a_remedy(table, words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["assess", table, "--qi", "age,sex", "--rows", "50000", *words])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_fail_above_tells_by_the_exit_code(table):
    words = ("assess", table, "--qi", "age,sex", "--population", 5000)
    run(*words, "--fail-above", 0.999)
    with pytest.raises(SystemExit) as ended:
        main([str(w) for w in (*words, "--rows", 50_000, "--fail-above", 0.01)])
    assert ended.value.code == 1


@pytest.mark.wide
def test_a_safe_release_with_rare_risks_is_certified(real_data, tmp_path):
    """Risks near 1e-5 are undecided by a plain sample; that alone was called a failure."""
    page = tmp_path / "r.html"
    adult = real_data / "adult" / "adult_data.csv.gz"
    done = run("assess", adult, "--qi", "sex,race", "--scenario", "social-media",
               "--population", 150_000_000, "--html", page)  # fmt: skip
    assert "cross-check of adversary-routes: passed\n" in done.stdout
    assert "Provenance and cross-check" in page.read_text()


def test_a_failed_cross_check_is_on_top_of_the_report_and_ends_with_3(table, tmp_path, monkeypatch):
    real = inside(crosscheck).forward

    def lying(network, rows, rng, **more):
        states = real(network, rows, rng, **more)
        return {**states, "reidentified": np.zeros(rows, dtype=np.intp)}

    monkeypatch.setattr(inside(crosscheck), "forward", lying)
    page, numbers, risks = (tmp_path / n for n in ("r.html", "r.json", "risks.parquet"))
    with pytest.raises(CrosscheckFailed, match="cells agree"):
        CliRunner().invoke(
            reidbn,
            ["assess", table, "--qi", "age,sex", "--population", "5000", "--rows", "20000",
             "--html", str(page), "--json-report", str(numbers), "--out", str(risks)],
            catch_exceptions=False,
        )  # fmt: skip
    assert CrosscheckFailed.exit_code == 3
    top = page.read_text().split('<div class="verdict">')[1].split("</div>")[0]
    assert "Do not release" in top
    assert "What next?" not in top
    assert "CROSS-CHECK FAILED" in top
    assert "disagree" in top
    assert json.loads(numbers.read_text())["passes"] is False
    assert not risks.exists()


def test_the_demonstration_is_the_main_job(tmp_path):
    done = run("demo", "-o", tmp_path / "demo", "--rows", 50_000)
    assert {p.name for p in (tmp_path / "demo").iterdir()} == {"report.html", "risks.parquet"}
    for said in ("4,000 made-up patients", "cross-check of adversary-routes: passed", "report:",
                 "voter-registration against worst-case", "ten-year age bands",
                 "crosses 0.2"):  # fmt: skip
        assert said in done.stdout
    page = (tmp_path / "demo" / "report.html").read_text()
    assert "ten-year age bands" in page
    assert len(pd.read_parquet(tmp_path / "demo" / "risks.parquet")) == 4_000


def test_a_report_of_ones_own_holds_the_best_releases_for_its_rule(shell, tmp_path):
    """Each of them passes by an assessment of its own; what leaves the house tells of none."""
    asked = ["assess", "synthetic:300:1", "--qi", "age,sex", "--known", "worst-case",
             "--population", "1000000", "--check-draws", "2000", "--options", "20"]  # fmt: skip
    page = tmp_path / "own.md"
    for rule in (["--release", "controlled"], ["--threshold", "overall=0.1"]):
        code, said = shell(*asked, *rule, "--custodian", "--markdown", page)
        assert code == 1
        assert "proposed for age: " in said
        told = page.read_text().split("**Options compared**")[1].split("\n\n")[1].splitlines()[2:]
        assert "this release | does not pass" in told[0]
        assert 1 <= len(told[1:]) <= 3
        assert all(" | passes | " in line for line in told[1:])
    plan = rb.recommend(
        rb.read_table(rb.datasets.synthetic_patients(300, seed=1),
                      quasi_identifiers=["age", "sex"]),
        "adversary-routes", known="worst-case", population=10**6, target={"overall": 0.1},
        hierarchies="auto", suppress_at_most=0.02,
    )  # fmt: skip
    assert plan.best.changes in told[1]
    code, said = shell(*asked, "--markdown", page)
    assert code == 2
    assert "add --custodian" in said
    code, said = shell(*asked, "--custodian")
    assert code == 2
    assert "add --html or --markdown" in said
    code, said = shell(*asked, "--custodian", "--markdown", page, "--method", "simulation")
    assert code == 2
