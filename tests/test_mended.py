"""Faults that were found by using the product: each stays gone."""

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.cli import main


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
