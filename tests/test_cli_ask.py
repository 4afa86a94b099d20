"""ask, draw, export and demo as a user types them: what is printed, written and returned."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import reidbn as rb
from reidbn.attack import assumptions_behind, load
from reidbn.cli import main
from reidbn.report import remarks, sentence, used_assumptions


@pytest.fixture
def run(capsys):
    """(exit code, standard output, standard error) of a command."""

    def command(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        shown = capsys.readouterr()
        return ended.value.code, shown.out, shown.err

    return command


# -- ask -------------------------------------------------------------------------------------------


def test_ask_as_it_stands_in_the_readme(run):
    code, out, err = run("ask", "leak-single", "identified=yes", "--set", "leaked=4000", "--json")
    found = json.loads(out)
    assert code == 0
    assert err == ""
    assert found["probability"] == pytest.approx(0.1844583686910847, abs=1e-12)
    assert found["question"] == "P(identified=yes)"
    assert found["set"] == {"leaked": 4000}
    assert found["assumptions"] == []
    assert found["fingerprint"] == load("leak-single").fingerprint


def test_a_scenario_is_asked_without_a_table_and_the_call_goes_before_it(run, tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(
        "schema_version: 1\nkind: scenario\nname: s\nset: {alike: 2, p_listed: 0.9}\n"
        "do: {overheard: yes}\n"
    )
    by_file = run("ask", "breakfast", "risk", "--scenario", path)
    by_hand = run("ask", "breakfast", "risk", "--set", "alike=2,p_listed=0.9",
                  "--do", "overheard=yes")  # fmt: skip
    assert by_file == by_hand
    assert float(rb.ask("breakfast", scenario=str(path), set={"alike": 3})) == pytest.approx(0.3)
    code, _, err = run("ask", "breakfast", "--scenario", path, "--most-probable")
    assert code == 2
    assert "--most-probable takes --set, --given and --do" in err
    code, _, err = run("ask", "breakfast", "--scenario", "voter-registration")
    assert code == 2
    assert "what is known about each person of a table" in err
    assert run("ask", "leak-single", "--scenario", path)[0] == 2  # which has no `alike`


def test_ask_says_one_sentence_the_evidence_and_the_assumptions(run):
    code, out, _ = run("ask", "breakfast", "identified=yes", "--given", "listed=yes")
    assert code == 0
    assert out.splitlines() == [
        "identified=yes has probability 0.02 (about 1 in 50), given that listed=yes.",
        "Probability of what is given: 0.5 (about 1 in 2)",
        "Assumptions used (4): p_breakfast = 0.5, p_overheard = 0.2, p_listed = 0.5, alike = 5",
    ]
    quiet = run("ask", "breakfast", "identified=yes", "--quiet")[1]
    assert quiet == "identified=yes has probability 0.01 (about 1 in 100).\n"


def test_what_is_set_is_an_assumption_of_the_answer_and_what_is_cut_off_is_none(run):
    """The page said "an assumption of yours" of the numbers of which the shell said "none"."""
    out = run("ask", "breakfast", "identified=yes", "--set", "alike=2,p_listed=0.9",
              "--do", "overheard=yes")[1]  # fmt: skip
    assert "when overheard=yes is brought about." in out
    assert "Set here: alike=2 and p_listed=0.9" in out
    assert "Assumptions used (2): p_listed = 0.9 (yours), alike = 2 (yours)" in out
    out = run("ask", "leak-single", "risk", "--set", "leaked=2000")[1]
    assert "Assumptions used (1): leaked = 2,000 (yours)" in out
    own = load("leak-single").parameters["leaked"].value
    out = run("ask", "leak-single", "risk", "--set", f"leaked={own:g}")[1]
    assert "Assumptions used: none" in out  # that is where it was
    attack = load("breakfast")
    assert assumptions_behind(attack, ["identified"]) == tuple(attack.assumptions)
    assert assumptions_behind(attack, ["identified"], done=["overheard"]) == ("p_listed", "alike")
    assert assumptions_behind(load("adversary-routes"), ["right_guess"]) == ("known",)
    assert assumptions_behind(load("adversary-routes"), ["claims"]) == ("p_c",)


def test_without_a_question_the_one_called_risk_is_asked(run):
    assert run("ask", "leak-single")[1].startswith("identified=yes has probability 0.184")
    assert run("ask", "breakfast", "risk_if_overheard")[1].startswith(
        "identified=yes has probability 0.1 (about 1 in 10), given that overheard=yes."
    )


def test_a_whole_node_is_asked_as_a_table(run):
    out = run("ask", "leak-single", "leaked_class_size", "--given", "identified=yes")[1]
    assert "leaked_class_size is most probably 2: 0.375 (about 1 in 2.7)" in out
    assert "0.281039" in out
    found = json.loads(run("ask", "leak-single", "leaked_class_size", "--json")[1])
    assert found["states"] == list("012345")
    assert sum(found["probability"]) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("engine", ["exact", "pgmpy", "enumeration"])
def test_every_engine_can_be_asked(run, engine):
    found = json.loads(run("ask", "leak-single", "risk", "--engine", engine, "--json")[1])
    assert found["probability"] == pytest.approx(0.1844583686910847, abs=1e-12)
    assert found["engine"] == engine


def test_a_sampled_answer_says_its_rows_and_interval(run):
    out = run(
        "ask", "leak-single", "risk", "--engine", "sampling", "--rows", "20000", "--seed", "3"
    )[1]
    assert "Sampled with 20,000 rows; 95 % interval 0.1" in out
    again = run(
        "ask", "leak-single", "risk", "--engine", "sampling", "--rows", "20000", "--seed", "3"
    )[1]
    assert out == again


def test_subject_data_come_from_the_command_line_or_a_file(run, tmp_path):
    sizes = ",".join(["4"] * 16)
    typed = run("ask", "adversary-routes", "marketer=yes", "--subject", f"class_size={sizes}",
                "--subject", "p_unique=" + ",".join(["0"] * 16), "--json")[1]  # fmt: skip
    assert json.loads(typed)["probability"] == pytest.approx(0.125, abs=1e-15)
    data = {"class_size": [[4] * 16, [2] * 16], "p_unique": [[0] * 16] * 2}
    (tmp_path / "people.json").write_text(json.dumps(data))
    out = run("ask", "adversary-routes", "marketer=yes", "--subject", tmp_path / "people.json")[1]
    assert "a mean probability of 0.188 (about 1 in 5.3) over 2 answers, the highest 0.25" in out


def test_the_exit_code_says_whether_a_threshold_is_passed(run):
    assert run("ask", "leak-single", "risk", "--fail-above", "0.09")[0] == 1
    assert run("ask", "leak-single", "risk", "--fail-above", "0.2")[0] == 0
    code, _, err = run("ask", "leak-single", "leaked_class_size", "--fail-above", "0.2")
    assert code == 2
    assert "ask for a state" in err


def test_the_most_probable_explanation_is_shown_as_a_table(run):
    out = run("ask", "leak-single", "--most-probable", "--given", "identified=yes")[1]
    assert "leaked_class_size" in out
    assert "This case makes up 0.375 (about 1 in 2.7) of what fits." in out
    assert "Nothing else fits." in run("ask", "breakfast", "--most-probable", "--given",
                                       "identified=yes")[1]  # fmt: skip
    found = json.loads(run("ask", "leak-single", "--most-probable", "--json")[1])
    assert found["case"]["identified"] == "no"
    assert run("ask", "leak-single", "risk", "--most-probable")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["leak-singel"], 2, 'did you mean "leak-single"'),
        (["leak-single", "identifed=yes"], 2, 'did you mean "identified"'),
        (["leak-single", "identified=maybe"], 2, 'has no state "maybe"'),
        (["leak-single", "risk", "--set", "leakd=3"], 2, 'did you mean "leaked"'),
        (["leak-single", "risk", "--set", "leaked"], 2, "not of the form NAME=NUMBER"),
        (["leak-single", "risk", "--set", "leaked=x"], 2, "is not a number"),
        (["leak-single", "risk", "--given", "in_leak=no,leaked_class_size=5"], 2, "probability 0"),
        (["leak-single", "risk", "--engine", "magic"], 2, "magic"),
        (["breakfast", "--do", "overheard"], 2, "not of the form node=state"),
        (["missing.yaml"], 2, "there is no such file"),
    ],
)
def test_a_mistake_ends_in_one_message_and_no_traceback(run, arguments, code, message):
    found, out, err = run("ask", *arguments)
    assert found == code
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_answers_are_said_in_words_for_reports_too():
    answer = rb.ask("leak-single", "risk", set={"leaked": [1000, 4000]})
    assert sentence(answer).startswith("identified=yes has a mean probability of 0.133")
    answer = rb.ask("breakfast", "was_it_you")
    assert remarks(answer)[0].startswith("Probability of what is given: 0.9")
    assert used_assumptions(answer) == ("p_breakfast", "p_overheard")


# -- draw and export -------------------------------------------------------------------------------


def test_draw_writes_the_picture_that_python_draws(run, tmp_path):
    path = tmp_path / "b.svg"
    assert run("draw", "breakfast", "-o", path)[:2] == (0, f"{path}\n")
    assert path.read_text() == rb.draw("breakfast").svg
    options = ["--given", "identified=yes", "--set", "class_size=3", "-o", tmp_path / "l.png"]
    found = json.loads(run("draw", "leak-single", *options, "--json")[1])
    assert found["file"].endswith("l.png")
    assert (tmp_path / "l.png").read_bytes() == rb.draw(
        "leak-single", given={"identified": "yes"}, set={"class_size": 3}, marginals=True
    ).png


def test_draw_names_the_file_after_the_model(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("draw", "marketer")[1] == "marketer.svg\n"
    assert (tmp_path / "marketer.svg").exists()


def test_export_prints_or_writes(run, tmp_path):
    out = run("export", "leak-single", "--set", "class_size=2")[1]
    assert out.startswith("// leak-single: One target, one leak\n")
    assert out.endswith("}\n")
    path = tmp_path / "leak.xdsl"
    assert run("export", "leak-single", "-o", path)[:2] == (0, f"{path}\n")
    assert rb.import_network(path).nodes["identified"].states == ("no", "yes")
    found = json.loads(run("export", "leak-single", "--format", "dot", "--json")[1])
    assert found["text"].startswith('digraph "leak-single"')


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["draw", "breakfast", "-o", "b.jpg"], "a picture is .svg, .png, .pdf or .dot"),
        (["draw", "breakfast", "-o", "missing/b.svg"], "cannot be written"),
        (["export", "breakfast", "-o", "b.net"], "the ending says no format"),
        (["export", "breakfast", "--format", "bfi"], 'did you mean "bif"'),
        (["export", "breakfast", "-o", "missing/b.bif"], "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_said(run, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err


# -- demo ------------------------------------------------------------------------------------------


def test_the_demonstration_of_the_language_writes_a_report_and_pictures(run, tmp_path):
    folder = tmp_path / "out"
    code, out, err = run("demo", "--language", "-o", folder, "--rows", "50000")
    assert code == 0
    report = (folder / "report.txt").read_text()
    assert report.strip() in out
    for said in ("identified=yes has probability 0.01 (about 1 in 100).", "0.1845",
                 "crosses 0.09 at p_c = 0.113195", "cross-check of adversary-routes: passed",
                 f"{len(rb.models())} model files read"):  # fmt: skip
        assert said in report
    assert {p.name for p in folder.iterdir()} == {
        "report.txt", "breakfast.svg", "leak-single.svg", "adversary-routes.svg", "tornado.svg",
    }  # fmt: skip
    assert "Cross-check" in err
    assert max(map(len, report.splitlines())) < 160


def test_help_and_a_quiet_question_load_nothing_heavy():
    code = (
        "import sys; sys.argv = ['reidbn', '--help']\n"
        "try:\n    from reidbn.cli import main; main()\nexcept SystemExit: pass\n"
        "heavy = {'pgmpy', 'pandas', 'scipy', 'matplotlib', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_the_module_runs_like_the_command():
    environment = {**os.environ, "NO_COLOR": "1"}
    found = subprocess.run(
        [sys.executable, "-m", "reidbn.cli", "ask", "leak-single", "identified=yes"],
        check=True, capture_output=True, text=True, env=environment, cwd=Path(__file__).parent,
    )  # fmt: skip
    assert found.stdout.startswith("identified=yes has probability 0.184 (about 1 in 5.4).")
    assert "\x1b" not in found.stdout
