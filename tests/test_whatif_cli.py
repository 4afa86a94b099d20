"""The what-if commands: the same numbers as the calls, as text and as JSON, and clear refusals."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import main, reidbn


def run(*words: str):
    """A command's output, its exit code from the command itself."""
    return CliRunner().invoke(reidbn, list(words), standalone_mode=False, catch_exceptions=False)


def as_json(*words: str):
    return json.loads(run(*words, "--json").output)


def refused(capsys, *words: str) -> str:
    """The one message of a command that fails by the user's mistake."""
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    assert stop.value.code == 2
    text = capsys.readouterr()
    assert text.out == ""
    assert "Traceback" not in text.err
    return text.err


def test_sweep_prints_the_table_of_the_call():
    found = as_json("sweep", "leak-single", "identified=yes", "--over", "leaked=1000,2000,4000")
    table = rb.sweep("leak-single", "identified=yes", {"leaked": [1000, 2000, 4000]})
    assert [row["probability"] for row in found["rows"]] == table["probability"].tolist()
    assert found["question"] == "P(identified=yes)"
    shown = run("sweep", "leak-single", "identified=yes", "--over", "leaked=1000,2000,4000").output
    assert "0.184458" in shown


def test_sweep_reads_spans_bare_names_evidence_and_interventions():
    words = ("sweep", "adversary-routes", "risk", "--over", "p_c=0:1:3", "--over", "p_m",
             "--set", "p_cu=0.2", "--do", "unique_in_table=yes")  # fmt: skip
    found = as_json(*words)
    table = rb.sweep("adversary-routes", "risk", {"p_c": [0, 0.5, 1], "p_m": 11},
                     set={"p_cu": 0.2}, do={"unique_in_table": "yes"})  # fmt: skip
    assert [row["probability"] for row in found["rows"]] == table["probability"].tolist()
    assert len(table) == 33


def test_impossible_evidence_stops_a_sweep_or_leaves_an_empty_cell(capsys):
    words = ["sweep", "adversary-routes", "risk", "--over", "p_c=0:1:3", "--given", "claims=yes"]
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2
    assert "claims=yes has probability 0 at p_c=0" in capsys.readouterr().err
    rows = as_json(*words, "--impossible", "null")["rows"]
    assert [row["probability"] is None for row in rows] == [True, False, False]


@pytest.mark.parametrize("more", [(), ("--per-person",)])
def test_a_sweep_of_people_is_for_its_owner_alone(more, tmp_path):
    """Means and largest risks of people, and a row of each, were readable by everybody as CSV."""
    csv, of_one, file = (tmp_path / name for name in ("s.csv", "one.csv", "s.json"))
    file.write_text(json.dumps({"class_size": [[1] * 16, [3] * 16]}))
    words = ("sweep", "marketer", "risk", "--over", "p_c=.1,.2")
    assert run(*words, "--subject", str(file), *more, "--csv", str(csv)).exit_code == 0
    assert csv.stat().st_mode & 0o777 == 0o600
    assert run(*words, "--csv", str(of_one)).exit_code == 0
    assert of_one.stat().st_mode & 0o077


def test_sweep_writes_csv_and_parquet_and_draws(tmp_path):
    words = (
        "sweep",
        "leak-single",
        "risk",
        "--over",
        "leaked=1000,4000",
        "--over",
        "class_size=2,3",
    )
    csv, parquet, svg = (str(tmp_path / f"s.{kind}") for kind in ("csv", "parquet", "svg"))
    assert run(*words, "--csv", csv, "--parquet", parquet, "--plot", svg).output == ""
    table = rb.sweep("leak-single", "risk", {"leaked": [1000, 4000], "class_size": [2, 3]})
    pd.testing.assert_frame_equal(pd.read_csv(csv), table)
    pd.testing.assert_frame_equal(pd.read_parquet(parquet), table)
    assert "class_size=2" in (tmp_path / "s.svg").read_text()


def test_sweep_exits_with_1_above_a_threshold():
    words = ("sweep", "leak-single", "risk", "--over", "leaked=1000,4000", "--fail-above")
    assert run(*words, "0.1").return_value == 1
    assert run(*words, "0.2").return_value == 0


def test_tornado_prints_bars_crossings_and_notes():
    shown = run("tornado", "leak-single", "risk", "--threshold", "0.09").output
    assert "the answer crosses 0.09 at class_size = 12" in shown
    assert "range ends at 4000" in shown
    found = as_json("tornado", "adversary-routes", "risk", "--over", "p_c=0:0.5,p_m")
    call = rb.tornado("adversary-routes", "risk", over={"p_c": (0, 0.5), "p_m": None})
    assert [bar["swing"] for bar in found["bars"]] == [bar.swing for bar in call]


def test_tornado_draws(tmp_path):
    place = tmp_path / "t.png"
    run("tornado", "adversary-routes", "risk", "--plot", str(place))
    assert place.read_bytes()[:4] == b"\x89PNG"


def test_derivatives_solve_and_compare_print_what_the_calls_say():
    found = as_json("derivatives", "leak-single", "risk", "--over", "leaked")
    assert found[0]["derivative"] == rb.derivative("leak-single", "risk", "leaked")
    solved = as_json("solve", "leak-single", "risk", "class_size", "0.09")
    assert (solved["smallest"], solved["status"]) == (12.0, "crosses")
    narrow = as_json("solve", "leak-single", "risk", "class_size", "0.09", "--range", "1:8")
    assert (narrow["status"], narrow["largest"]) == ("always above", None)
    compared = as_json("compare", "adversary-routes", "risk", "--then-set", "p_c=0.2",
                       "--then-do", "claims=no")  # fmt: skip
    call = rb.compare("adversary-routes", "risk", {}, {"set": {"p_c": 0.2}, "do": {"claims": "no"}})
    assert compared["difference"] == call.difference
    assert [s["change"] for s in compared["steps"]] == [s.change for s in call.steps]


def test_sobol_and_uncertainty_print_what_the_calls_say():
    found = as_json("sobol", "adversary-routes", "risk")
    call = rb.sobol("adversary-routes", "risk")
    assert found["method"] == "exact"
    assert [i["total"] for i in found["indices"]] == [i.total for i in call.indices]
    assert len(found["pairs"]) == 6
    spread = as_json("uncertainty", "adversary-routes", "risk", "--samples", "500", "--seed", "3",
                     "--threshold", "0.2")  # fmt: skip
    same = rb.uncertainty("adversary-routes", "risk", draws=500, seed=3, thresholds=(0.2,))
    assert spread["quantiles"]["0.95"]["value"] == same.quantiles[0.95].value
    assert list(spread["above"]) == ["0.2"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sweep", "leak-single", "risk", "--over", "leked"), 'did you mean "leaked"?'),
        (("sweep", "leak-single", "risk"), "Missing option '--over'"),
        (("sweep", "leak-single", "risk", "--over", "leaked=a"), '"a" is not a number'),
        (("sweep", "leak-single", "risk", "--over", "leaked=1:2"), "is not from:to:count"),
        (("sweep", "leak-single", "risk", "--over", "leaked", "--over", "leaked=1"), "named twice"),
        (("sweep", "leak-single", "risk", "--over", "leaked=1", "--csv", "/no/x.csv"), "x.csv"),
        (("tornado", "leak-single", "risk", "--over", "leaked=x"), "NAME or NAME=LOW:HIGH"),
        (("tornado", "leak-single", "risk", "--over", "leaked=a:b"), "is not LOW:HIGH"),
        (("tornado", "leak-single", "risk", "--over", "leaked,leaked"), "named twice"),
        (("tornado", "leak-single", "risk", "--statistic", "best"), 'no statistic "best"'),
        (("tornado", "leak-single", "risk", "--threshold", "2"), "is no probability"),
        (("solve", "leak-single", "risk", "class_size", "much"), "is not a number"),
        (("solve", "leak-single", "risk", "clas_size", "0.1"), 'did you mean "class_size"?'),
        (("compare", "leak-single", "risk"), "nothing changes"),
        (("sobol", "leak-single", "risk"), "Narrow them"),
        (("uncertainty", "adversary-routes", "risk", "--samples", "0"), "at least one draw"),
        (("tornado", "leak-single", "risk", "--plot", "x.abc"), "end the name in .svg"),
    ],
)
def test_slips_end_in_one_message(capsys, words, message):
    assert message in refused(capsys, *words)
