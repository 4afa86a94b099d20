"""Faults that were found by using the product: each stays gone."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.cli import main
from reidbn.report import Telling


@pytest.fixture
def shell(capsys):
    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(w) for w in words])
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out + printed.err

    return run


@pytest.fixture
def ages(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(20, 60, 80), "sex": rng.choice(["f", "m"], 80)})
    path = tmp_path / "ages.csv"
    frame.to_csv(path, index=False)
    return path


def ages_in_bands(path, level):
    people = rb.read_table(
        path, quasi_identifiers=["age", "sex"], hierarchies={"age": rb.Bands(5, 10, 20)}
    )
    return people.generalise({"age": level}) if level else people


# -- another release ---------------------------------------------------------------------------


def test_an_option_finer_than_the_release_starts_from_the_table_as_read(ages, tmp_path, shell):
    page = tmp_path / "m.html"
    code, said = shell(
        "assess", ages, "--qi", "age,sex", "--hierarchy", "age=bands:5,10,20", "--level", "age=2",
        "--option", "finer:age=1", "--html", page, "--quiet", "--rows", 1000,
        "--population", 5000,
    )  # fmt: skip
    assert code == 0, said
    assert "finer" in page.read_text()


def test_what_if_says_the_level_of_a_column_in_the_release_not_steps_up_from_now(ages):
    for start in (1, 2):
        coarse = rb.assess("adversary-routes", ages_in_bands(ages, start), population=5000)
        for level in (0, 1, 2, 3):
            found = rb.what_if(coarse, generalise={"age": level})
            alone = rb.assess("adversary-routes", ages_in_bands(ages, level), population=5000)
            np.testing.assert_allclose(found.risk(), alone.risk(), atol=1e-12)
            told = [n for n in found.table.notes if n.startswith("age at level")]
            assert told[-1] == f"age at level {level}"


def test_going_back_to_a_finer_level_keeps_who_was_suppressed_and_for_whom_they_stood(ages):
    coarse = ages_in_bands(ages, 2)
    left = coarse.suppress(8)
    assert len(left) < len(coarse)
    fine = rb.what_if(
        rb.assess("adversary-routes", left, population=5000), generalise={"age": 0}
    ).table
    assert len(fine) == len(left)
    assert fine.share_kept == left.share_kept
    assert any("suppressed" in note for note in fine.notes)
    assert set(fine.labels("age").tolist()) <= set(range(20, 60))


def test_what_a_release_lost_is_told_of_the_table_as_read_though_another_stands_first(ages):
    coarse = rb.assess("adversary-routes", ages_in_bands(ages, 2), population=5000)
    fine = rb.what_if(coarse, generalise={"age": 0})
    lost = rb.risk_utility({"now": coarse, "fine": fine}).table["information_lost"]
    assert lost["fine"] == 0
    assert lost["now"] > 0.2


def test_an_option_that_cannot_be_is_refused_before_the_work(ages, tmp_path, shell):
    for option, word in (("a:agee=1", "agee"), ("a:age=9", "levels 0 to"), ("a:sex=1", "hierarch")):
        code, said = shell(
            "assess", ages, "--qi", "age,sex", "--hierarchy", "age=bands:5,10", "--option", option,
            "--html", tmp_path / "m.html", "--quiet",
        )  # fmt: skip
        assert code == 2
        assert word in said
        assert "passes" not in said, "nothing was assessed"
    code, said = shell("assess", ages, "--qi", "age,sex", "--option", "a:age=1", "--quiet")
    assert code == 2
    assert "--html" in said


# -- the population --------------------------------------------------------------------------------


def patients(n=400, seed=2):
    frame = rb.datasets.synthetic_patients(n, seed=seed)
    return rb.read_table(frame, quasi_identifiers=["age", "sex", "state", "race"])


def test_where_no_model_was_compared_the_recommendation_is_the_cautious_one_of_an_assessment():
    people = patients()
    table = rb.population.compare(people, population=400_000)
    said = table.set_index("model")["p_unique"]
    best = table.loc[table["recommended"], "model"].item()
    assert said[best] == max(said["log-linear"], said["pitman-bayes"])
    words = table.attrs["recommendation"]
    assert "cases on real tables" not in words
    assert "real populations from 0.005 on" in words
    assessed = rb.assess("adversary-routes", people, population=400_000).population
    assert assessed.p_unique[-1] >= said[best] * (1 - 1e-6)
    near = rb.population.compare(people, population=400 * 199)
    assert "cases on real tables" in near.attrs["recommendation"]


def test_no_share_of_real_tables_is_cited_where_none_was_sampled_so_thinly():
    table = rb.population.compare(patients(), ["age", "sex"], population=4_000_000)
    told = table.set_index("model")["remarks"].drop(["zayatz", "dankar"])  # these name the fraction
    assert not told.str.contains("real tables").any()


def test_knowing_nothing_nobody_is_unique_among_many_however_small_the_table():
    frame = pd.DataFrame({"age": [41], "sex": ["f"]})
    for weights in (None, [1000.0]):
        named = {} if weights is None else {"weights": "w"}
        people = rb.read_table(
            frame.assign(w=weights) if weights else frame, quasi_identifiers=["age", "sex"], **named
        )
        half = {"age": 0.5, "sex": 0.5}
        found = rb.assess("adversary-routes", people, known=half, population=1000)
        assert found.population.p_unique[0] == 0
        assert found.population.match(np.arange(1))[0, 0] == pytest.approx(1 / 1000)
        alone = rb.assess("adversary-routes", people, known=half, population=1)
        assert alone.population.p_unique[0] == 1


# -- words of a report -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def worst():
    return quickly(rb.assess("adversary-routes", patients(60), population=6_000))


def quickly(result):
    result.keep_crosscheck(rows=2_000)
    return result


def test_a_value_beyond_its_range_is_said_where_its_bar_and_its_draws_stand(worst, tmp_path):
    attack = worst.inputs.attack
    narrow = replace(attack.parameters["p_c"], low=0.2, high=0.6)
    attack = attack.replace(parameters=attack.parameters.replace(narrow))
    named = {"people": worst.table, "population": 6_000, "set": {"p_c": 0.9}}
    found = quickly(rb.assess(attack, **named, beyond_range=True))
    told = "p_c is 0.9, outside of 0.2 to 0.6"
    assert told in str(rb.tornado(found))
    assert told in str(rb.uncertainty(found, samples=100))
    page = found.report(tmp_path / "r.md").read_text()
    assert "0.2 to 0.6 (set to 0.9, outside of it)" in page, "at the bar"
    open_ = (
        "What the parameters leave open (not the mean of this report: p_c is set to 0.9, outside"
    )
    assert open_ in page, "at the draws"
    assert "outside of" not in str(rb.tornado(worst))


def test_odds_are_said_to_be_assumed_only_of_a_risk_that_holds_some(worst):
    def notes(result, measure):
        return " ".join(result.summary({measure: 0.7}).notes_on_the_rule(Telling()))

    assert "assum" not in notes(worst, "journalist")
    assert "The overall risk stands on 4 assumptions (p_m, " in notes(worst, "overall")
    known = rb.what_if(worst, known={"age": 0.5, "sex": 1, "state": 1, "race": 1})
    for measure in ("journalist", "journalist_match"):
        told = f"The {measure.replace('_', ' ')} risk stands on 2 assumptions"
        assert told in notes(known, measure)


OWN = """\
schema_version: 1
kind: scenario
name: worst-case
knows:
  attributes:
    age: {chance: 0.5, source: assumption}
    sex: {chance: 0.9, source: assumption}
"""


def test_a_scenario_of_the_users_own_is_not_taken_for_the_shipped_one_of_its_name(worst, tmp_path):
    (tmp_path / "own.yaml").write_text(OWN)
    own = rb.what_if(worst, scenario=str(tmp_path / "own.yaml"), unknown=["state", "race"])
    page = quickly(own).report(tmp_path / "r.md").read_text()
    assert "Worst case against scenario" in page
    assert "own scenario file" in page
    shipped = worst.report(tmp_path / "w.md").read_text()
    assert "Worst case against scenario" not in shipped
    assert "own scenario file" not in shipped
    voter = rb.what_if(worst, scenario="voter-registration", together=False)
    assert "own scenario file" not in voter.summary().told_risk(Telling())
