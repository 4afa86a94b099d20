"""How the command line reads numbers, grids, states and subject data."""

import json
import os
import subprocess
import sys

import click
import pytest

import reidbn as rb
from reidbn.cli import (
    number,
    print_table,
    read_grid,
    read_settings,
    read_states,
    read_subject,
    reidbn,
)


def test_whole_numbers_stay_whole_and_fractions_fractions():
    found = read_settings(["k=5", "p=0.5,q=1e-3", "r = 40_000"])
    assert found == {"k": 5, "p": 0.5, "q": 0.001, "r": 40_000}
    assert [type(v) for v in found.values()] == [int, float, float, int]


def test_grids_are_lists_or_spans():
    assert read_grid(["k=1,2,4"]) == {"k": [1, 2, 4]}
    assert read_grid(["p=0:1:3", "q=0.2,0.5"]) == {"p": [0, 0.5, 1], "q": [0.2, 0.5]}
    assert read_grid(["n=0:100:5"]) == {"n": [0, 25, 50, 75, 100]}
    assert read_grid(["p=0.1:0.3:3"])["p"][-1] == 0.3


def test_states_may_come_together_or_one_by_one():
    assert read_states(["a=yes", "b=no, c=3"], "--given") == {"a": "yes", "b": "no", "c": "3"}
    assert read_states([], "--do") == {}


def test_subject_data_come_as_numbers_or_as_a_file(tmp_path):
    path = tmp_path / "me.json"
    path.write_text(json.dumps({"class_size": [9, 1]}))
    assert read_subject([]) is None
    assert read_subject(["age=7", str(path)]) == {"age": 7, "class_size": [9, 1]}


@pytest.mark.parametrize(("call", "message"), [
    (lambda: read_settings(["k"]), '--set: "k" is not of the form NAME=NUMBER'),
    (lambda: read_settings(["k="]), '--set: "k=" is not of the form NAME=NUMBER'),
    (lambda: read_settings(["k=many"]), '--set k: "many" is not a number'),
    (lambda: read_settings(["k=nan"]), "--set k: nan is not a finite number"),
    (lambda: read_settings(["k=1", "k=2"]), "--set: k is named twice"),
    (lambda: read_grid(["k=1:2"]), '--set k: "1:2" is not from:to:count, such as 0:1:11'),
    (lambda: read_grid(["k=1:2:1"]), '--set k: "1:2:1" is not from:to:count, such as 0:1:11'),
    (lambda: read_grid(["k=1,,2"]), '--set k: "" is not a number'),
    (lambda: read_states(["a"], "--given"), '"a" is not of the form node=state'),
    (lambda: read_states(["a=yes", "a=no"], "--given"), "--given: a is named twice"),
    (lambda: read_subject(["nowhere.json"]),
     "--subject nowhere.json: cannot be read: No such file or directory"),
    (lambda: number("1:2", "--fail-above"),
     '--fail-above: "1:2" is not a number; write it as 0.05, 5%, 300000 or 300k'),
])  # fmt: skip
def test_what_cannot_be_read_is_said_with_what_would_be_right(call, message):
    with pytest.raises(rb.UsageError) as caught:
        call()
    assert str(caught.value) == message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("text", ["[1, 2]", "{", "7"])
def test_a_subject_file_must_hold_an_object(tmp_path, text):
    path = tmp_path / "me.json"
    path.write_text(text)
    with pytest.raises(rb.UsageError, match=r"is not JSON|must hold an object"):
        read_subject([str(path)])


def test_tables_show_brackets_as_they_are_and_are_not_cut(capsys):
    title = "[Xia21] " + "a long title " * 8
    print_table(("source", "count"), [(title, 12), ("[bold]", 3)])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert any(line.startswith(" " + title.strip()) or title.strip() in line for line in lines)
    assert any("[bold]" in line and line.endswith("3") for line in lines)


def renamed():
    """Each option that has two words, with the command it is of."""
    for name in reidbn.list_commands(None):
        command = reidbn.get_command(None, name)
        for option in command.params:
            words = [word for word in option.opts if word.startswith("--")]
            if len(words) > 1:
                yield pytest.param(name, words, option.is_flag, id=f"{name} {words[1]}")


RENAMED = list(renamed())


@pytest.mark.parametrize(("command", "words", "is_flag"), RENAMED)
@pytest.mark.parametrize("glued", [True, False])
def test_an_older_and_a_newer_word_of_one_option_are_not_given_together(
    command, words, is_flag, glued
):
    """The last of them counted, and nothing was said."""
    given = [part for word in words for part in _said(word, is_flag, glued)]
    with pytest.raises(rb.UsageError, match=f"{words[0]} and {words[1]} are one option"):
        reidbn.main(args=[command, *given], prog_name="reidbn", standalone_mode=False)


def _said(word, is_flag, glued):
    if is_flag:
        return [word]
    return [f"{word}=5"] if glued else [word, "5"]


def test_every_renamed_option_is_looked_at():
    found = {param.values[0] + param.values[1][1] for param in renamed()}
    assert {"sweep--per-subject", "ask--rows", "assess--own-copy", "leak--parquet"} <= found


def options_of_all_commands():
    context = click.Context(reidbn)
    for name in reidbn.list_commands(context):
        for option in reidbn.get_command(context, name).params:
            if isinstance(option, click.Option):
                yield pytest.param(name, option, id=f"{name} {option.opts[0]}")


@pytest.mark.parametrize(("command", "option"), [*options_of_all_commands()])
def test_no_option_that_is_given_twice_keeps_its_last_value_alone(command, option):
    """Two --threshold judged the last; --sensitive hiv --sensitive flu spoke of flu alone."""
    said = [[option.opts[0]] if option.is_flag else [option.opts[0], word] for word in "ab"]
    if not option.multiple:
        with pytest.raises(rb.UsageError, match=f"{option.opts[0]}.* is named twice"):
            reidbn.main(args=[command, *said[0], *said[1]], prog_name="x", standalone_mode=False)
        return
    if option.expose_value:
        found = reidbn.get_command(click.Context(reidbn), command)
        context = found.make_context(command, said[0] + said[1], resilient_parsing=True)
        kept = context.params[option.name]
        assert kept == "a,b" or kept == ("a", "b")


@pytest.mark.parametrize("pair", [["--together", "--apart"], ["--html=a.html", "--html=b.html"]])
def test_two_words_against_each_other_are_not_settled_by_the_last(pair):
    with pytest.raises(rb.UsageError, match="named twice"):
        reidbn.main(args=["assess", "t.csv", *pair], prog_name="x", standalone_mode=False)


@pytest.mark.parametrize("words", [
    "classes synthetic:9 --qi age --hierarchy age=bands:5,10 --level age=1 --level age=2",
    "population synthetic:9 --qi age,sex --strata sex --population F=99 --population M=9,F=90",
    "decide insider-decides --control p_audit=0.2:5 --control p_audit=0.2:900",
])  # fmt: skip
def test_a_name_that_is_given_twice_is_not_settled_by_the_last(words):
    with pytest.raises(rb.UsageError, match="named twice"):
        reidbn.main(args=words.split(), prog_name="reidbn", standalone_mode=False)


def test_a_subject_file_does_not_write_over_what_was_said(tmp_path):
    path = tmp_path / "me.json"
    path.write_text('{"class_size": 9}')
    with pytest.raises(rb.UsageError, match="class_size is named twice"):
        read_subject(["class_size=1", str(path)])


def test_no_fault_of_its_own_ends_as_a_gate_that_judged(monkeypatch, capsys):
    from reidbn.cli import main

    def fails(context):
        raise RuntimeError("of its own")

    monkeypatch.setattr(reidbn, "invoke", fails)
    with pytest.raises(SystemExit) as ended:
        main(["leak", "--classes", "2:5", "--leaked", "2", "--fail-above", ".5"])
    assert ended.value.code == 70
    assert "no gate has judged" in capsys.readouterr().err


def test_a_pipe_that_is_closed_ends_as_no_gate_does():
    words = ["leak", "--classes", "2:5", "--leaked", "2", "--fail-above", ".99"]
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "reidbn", *words], stdout=write, stderr=subprocess.PIPE
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
