"""The page about assessments names every scenario; the survey table runs as written."""

import re
from pathlib import Path

import pandas as pd
import pytest
from inside import inside

import reidbn as rb
from reidbn.attack import load_scenario
from reidbn.attacks import risks

PAGE = Path(__file__).parent.parent / "docs" / "assessment.md"


def test_every_shipped_scenario_is_on_the_page_and_its_own_example_loads(tmp_path):
    text = PAGE.read_text()
    for name in rb.scenarios():
        assert f"`{name}`" in text
    (tmp_path / "neighbour.yaml").write_text(re.search(r"```yaml\n(.*?)```", text, re.S)[1])
    assert load_scenario(tmp_path / "neighbour.yaml").name == "neighbour"


def test_the_survey_table_goes_through_every_step(real_data, tmp_path):
    survey = pd.read_parquet(real_data / "atus_cps" / "atus_cps_2003_2016.parquet")
    survey = survey[survey["yob"] < 1978].sample(2_000, random_state=1)
    survey = survey.rename(columns={"hispanic": "ethnicity"})
    people = rb.read_table(
        survey,
        quasi_identifiers=["age", "sex", "state", "race", "ethnicity"],
        subject_id="person",
    )
    half = dict.fromkeys(("p_m", "p_fm", "p_cu", "p_c"), 0.5)
    result = rb.assess(
        "adversary-routes", people, scenario="worst-case", population=100_000_000, set=half
    )
    assert result.subjects.index.tolist() == survey["person"].tolist()
    result.keep_crosscheck(draws=50_000)
    result.to_html(tmp_path / "report.html")
    voter = rb.what_if(result, scenario="voter-registration")
    table = rb.compare(result, voter).table
    assert (table["median"] > 0).all()
    grid = {name: [0.2, 0.5, 0.8] for name in half}
    assert len(rb.sweep(result, grid)) == 81
    assert result.crosscheck.passed


def test_a_killed_run_goes_on_from_its_finished_blocks(tmp_path, monkeypatch):
    people = rb.read_table(
        rb.datasets.synthetic_patients(300, seed=2), quasi_identifiers=["age", "sex", "state"]
    )
    folder = tmp_path / "blocks"
    whole = rb.assess("adversary-routes", people, population=5_000)
    rb.assess("adversary-routes", people, population=5_000, checkpoint=folder)
    kept = sorted(folder.glob("*.npy"))
    assert kept
    monkeypatch.setattr(inside(risks), "_risk", lambda *_: pytest.fail("asked again"))
    again = rb.assess("adversary-routes", people, population=5_000, checkpoint=folder)
    assert (again.risk() == whole.risk()).all()
