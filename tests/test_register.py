"""A register of the user's own: a table of chances by any columns, as a scenario."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.cli import main
from reidbn.errors import DataError, ModelError, UsageError

PAGE = Path(__file__).parent.parent / "docs" / "assessment.md"
FRAME = pd.DataFrame(
    {
        "region": ["north", "north", "south", "south", "south", "north"] * 5,
        "age": [17, 40, 18, 70, 33, 64, 20, 51, 17, 44] * 3,
        "sex": ["f", "m", "m"] * 10,
    }
)
QI = ["region", "age", "sex"]


@pytest.fixture
def canton(tmp_path):
    text = re.search(r"```\n(# Population register.*?)```", PAGE.read_text(), re.S)[1]
    path = tmp_path / "canton.csv"
    path.write_text(text)
    return path


def assess(scenario, frame=FRAME, qi=QI, unknown=("region",)):
    people = rb.read_table(frame, quasi_identifiers=qi)
    return people, rb.assess(
        "adversary-routes", people, scenario=scenario, population=5000, unknown=unknown
    )


def test_the_register_of_the_page_is_looked_up_by_region_and_age(canton):
    people, result = assess(f"register:{canton}")
    listed = {("north", True): 0.97, ("south", True): 0.91}
    p = np.array(
        [listed.get((r, a >= 18), 0.0) for r, a in zip(FRAME.region, FRAME.age, strict=True)]
    )
    shows_age = (FRAME.region == "north").to_numpy()
    known = np.where(shows_age, 1 / people.class_sizes(["age", "sex"]),
                     1 / people.class_sizes(["sex"]))  # fmt: skip
    assert result.risk("marketer") == pytest.approx(p * known + (1 - p) / 30, abs=1e-12)
    assert result.inputs.scenario.source.startswith("Population register of the canton")
    assert not result.inputs.scenario.assumptions


def test_every_attribute_on_its_own_where_the_call_says_so(canton):
    _, result = assess(rb.load_scenario(f"register:{canton}").shared(together=False))
    assert result.groups.parent is None


def test_a_register_may_be_a_data_frame_and_its_source_is_an_assumption_if_not_told(canton):
    frame = pd.read_csv(canton, comment="#")
    _, ours = assess(rb.register(frame))
    _, theirs = assess(f"register:{canton}")
    assert np.array_equal(ours.subjects, theirs.subjects)
    assert ours.inputs.scenario.assumptions == ("age", "sex")
    assert not rb.register(frame, source="the canton, 2024").assumptions


def test_a_register_without_keys_is_the_same_for_everybody():
    people, result = assess(
        rb.register({"listed": [0.5], "shows age": [0.4], "shows sex": [1]}, source="s")
    )
    both, sex = people.class_sizes(["age", "sex"]), people.class_sizes(["sex"])
    expected = 0.5 * (0.4 / both + 0.6 / sex) + 0.5 / 30
    assert result.risk("marketer") == pytest.approx(expected, abs=1e-12)


def test_a_person_of_whom_the_register_says_nothing_is_an_error(canton):
    west = FRAME.assign(region="west")
    with pytest.raises(DataError, match=r"30 people have a region x age with no row") as caught:
        assess(f"register:{canton}", west)
    assert "register:FILE" not in str(caught.value)


def test_a_column_that_the_register_lacks_may_be_added_to_its_table(canton):
    frame = FRAME.assign(school="x")
    people = rb.read_table(frame, quasi_identifiers=[*QI, "school"])
    said = 'If the register shows it, add the column "shows school" to its table'
    with pytest.raises(UsageError, match=said) as caught:
        rb.assess("marketer", people, scenario=f"register:{canton}", unknown=["region"])
    assert "--unknown" in caught.value.in_shell
    assert said in caught.value.in_shell


def test_a_column_that_the_register_does_not_show_is_to_be_said_unknown(canton):
    with pytest.raises(UsageError, match="says nothing about region"):
        assess(f"register:{canton}", unknown=())


def test_the_refusal_of_the_voter_lists_names_the_register():
    people = rb.read_table(FRAME, quasi_identifiers=["age", "sex"])
    with pytest.raises(DataError, match="register:FILE") as caught:
        rb.assess("adversary-routes", people, scenario="voter-registration", population=5000)
    assert "--scenario register:FILE.csv" in caught.value.in_shell
    assert "--column state=YOUR_COLUMN" in caught.value.in_shell
    abroad = rb.read_table(FRAME.rename(columns={"region": "state"}),
                           quasi_identifiers=["age", "sex", "state"])  # fmt: skip
    with pytest.raises(DataError, match="register:FILE"):
        rb.assess("adversary-routes", abroad, scenario="voter-registration", population=5000)


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ({"listed": [0.5]}, ModelError, "is no register: it needs a column listed"),
        ({"shows age": [1]}, ModelError, "is no register"),
        ({"region": ["a"], "listed": [1.5], "shows age": [1]}, ModelError, "has 1.5; a chance"),
        ({"region": ["a"], "listed": ["x"], "shows age": [1]}, ModelError, "row 1 is not a number"),
        (
            {"region": ["a", "A"], "listed": [1, 1], "shows age": [1, 1]},
            ModelError,
            "row 2 repeats",
        ),
        ({"listed": [1, 1], "shows age": [1, 1]}, ModelError, "no column to look them up by"),
        ({"age from": ["old"], "listed": [1], "shows age": [1]}, ModelError, "lower edges"),
        ({"listed": [1, 1], "shows age": [1]}, UsageError, "one length"),
        ([0.5], UsageError, "a CSV file, a dict of columns or a data frame"),
        ("nowhere.csv", UsageError, "cannot be read"),
    ],
)
def test_a_table_that_is_no_register_is_refused_with_what_would_be_right(table, error, message):
    with pytest.raises(error, match=message):
        rb.register(table)


def test_the_bare_word_register_says_what_is_needed(capsys):
    with pytest.raises(UsageError, match=r'scenario="register:chances\.csv"'):
        rb.load_scenario("register")
    with pytest.raises(SystemExit):
        main(["assess", "synthetic:50", "--qi", "age", "--scenario", "register"])
    assert "--scenario register:chances.csv" in capsys.readouterr().err


def test_the_shell_takes_a_register(canton, tmp_path):
    FRAME.to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(SystemExit) as ended:
        main(["assess", str(tmp_path / "people.csv"), "--qi", "region,age,sex", "--population",
              "5000", "--rows", "100000", "--unknown", "region", "--scenario",
              f"register:{canton}"])  # fmt: skip
    assert ended.value.code == 0
