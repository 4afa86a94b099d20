"""Every broken model file and call says where, what was found, and what would be right."""

import json
from itertools import pairwise

import broken
import pytest
from click.testing import CliRunner
from inside import inside

import reidbn as rb
from reidbn.attack import models_folder
from reidbn.cli import reidbn

FILES = sorted(broken.FOLDER.glob("*.yaml"))
YES_NO = ("no", "yes")
HALF = rb.Rows((rb.Row((0.5, 0.5)),))


@pytest.fixture(autouse=True)
def no_registered_functions(monkeypatch):
    monkeypatch.setattr(inside(rb.cpd_function), "_REGISTERED", {})


def test_the_corpus_is_large_enough_to_mean_something():
    assert len(FILES) >= 210


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_broken_file_says_what_is_wrong_with_it(path):
    expected = path.with_suffix(".txt").read_text(encoding="utf-8")
    assert broken.message(path) == expected


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_problem_points_at_a_line_that_is_there(path):
    with pytest.raises(rb.ModelError) as caught:
        rb.load(path)
    assert caught.value.exit_code == 2
    assert caught.value.problems
    for problem in caught.value.problems:
        if problem.line:
            lines = path.read_text(encoding="utf-8").split("\n")
            assert problem.source == lines[problem.line - 1]
            assert 1 <= problem.column <= len(problem.source) + 1


def attack(**changes):
    return rb.Attack("a", **{"nodes": [rb.Node("n", YES_NO, HALF, source="me")], **changes})


CALLS = {
    "a file that is not there": (
        lambda tmp: rb.load(tmp / "nowhere.yaml"),
        rb.ModelError,
        "TMP/nowhere.yaml: there is no such file",
    ),
    "a folder": (
        lambda tmp: rb.load(tmp),
        rb.ModelError,
        "TMP: is a folder; name a file in it",
    ),
    "a misspelt shipped model": (
        lambda tmp: rb.load("leak-singel"),
        rb.UsageError,
        'no file and no shipped model is called "leak-singel"; did you mean "leak-single"?',
    ),
    "a scenario in place of an attack": (
        lambda tmp: rb.load(models_folder() / "scenarios" / "worst-case.yaml"),
        rb.ModelError,
        f"{models_folder()}/scenarios/worst-case.yaml: "
        "is a scenario; it goes with an attack and is none itself",
    ),
    "a file far too large": (
        lambda tmp: rb.load(_large(tmp)),
        rb.ModelError,
        "TMP/large.yaml: cannot be read: it has 4,000,001 bytes; at most 4,000,000 are read",
    ),
    "text with a mistake": (
        lambda tmp: rb.loads("schema_version: 1\nname: a\nnodes: {n: {cpd: {kind: unifrm}}}\n"),
        rb.ModelError,
        "<text> has 1 problem\n"
        '<text>:3:25: nodes.n.cpd.kind: no CPD kind "unifrm"; did you mean "uniform"?\n'
        "    3 | nodes: {n: {cpd: {kind: unifrm}}}\n"
        "      |                         ^",
    ),
    "a kind that is no CPD": (
        lambda tmp: rb.loads("schema_version: 1\n", kinds={"mine": int}),
        rb.ModelError,
        'CPD kind "mine" is not a subclass of reidbn.CPD',
    ),
    "saving an unregistered function": (
        lambda tmp: rb.save(attack(nodes=[rb.Node.from_function(_sunny)]), tmp / "x.yaml"),
        rb.ModelError,
        'function "_sunny" is not registered, so it cannot be saved: '
        'put @rb.cpd.cpd_function("_sunny") above it',
    ),
    "saving where nothing can be saved": (
        lambda tmp: rb.save(attack(), tmp / "no" / "x.yaml"),
        rb.UsageError,
        "TMP/no/x.yaml: cannot be written: its folder is not there; make it first",
    ),
    "an unknown parameter of an attack": (
        lambda tmp: rb.load("leak-single").parameters["leakd"],
        rb.UsageError,
        'no parameter "leakd"; did you mean "leaked"?',
    ),
    "an unknown node of an attack": (
        lambda tmp: rb.load("leak-single").nodes["idntified"],
        rb.UsageError,
        'no node "idntified"; did you mean "identified"?',
    ),
    "an attack without nodes": (
        lambda tmp: rb.Attack("a", nodes=[]),
        rb.ModelError,
        "attack a has 1 problem\n  nodes  there are no nodes: an attack needs at least one",
    ),
    "a node that is no node": (
        lambda tmp: rb.Attack("a", nodes=["n"]),
        rb.UsageError,
        "attack a: nodes holds a str; it takes Nodes",
    ),
    "a CPD that is no CPD": (
        lambda tmp: attack(nodes=[rb.Node("n", YES_NO, "and")]),
        rb.ModelError,
        "attack a has 1 problem\n  nodes.n.cpd  is a str; a CPD is needed, such as Rows or And",
    ),
    "a node declared twice": (
        lambda tmp: attack(nodes=[rb.Node("n", YES_NO, rb.Uniform())] * 2),
        rb.ModelError,
        "attack a has 1 problem\n  nodes.n  is declared twice",
    ),
    "a value that is no number": (
        lambda tmp: attack(parameters=[rb.Parameter("p", "0.5")]),
        rb.ModelError,
        "attack a has 1 problem and 1 warning\n"
        "  parameters.p.value  '0.5' is not a number\n"
        "  parameters.p  warning: is never used; write $p where it belongs",
    ),
    "a function of something unknown": (
        lambda tmp: attack(nodes=[rb.Node.from_function(_late)]),
        rb.ModelError,
        "attack a has 1 problem\n"
        '  nodes._late.cpd.name  argument "wether" is no parent, parameter or subject column; '
        "there are none",
    ),
    "a row that is a single number": (
        lambda tmp: attack(nodes=[rb.Node("n", YES_NO, rb.Rows((rb.Row(0.5),)), source="me")]),
        rb.ModelError,
        "attack a has 1 problem\n"
        "  nodes.n.cpd.rows[0].p  must be a list or a mapping of the states no, yes",
    ),
    "several problems of several parts": (
        lambda tmp: attack(
            nodes=[
                rb.Node("n", YES_NO, rb.Rows((rb.Row((0.5, 0.4)),)), ("m",)),
                rb.Node("o", YES_NO, rb.And(), ("n",)),
            ],
            questions=[rb.Question("q", "o=perhaps")],
        ),
        rb.ModelError,
        "attack a has 4 problems\n"
        '  nodes.n.parents[0]  unknown node "m"; known: o\n'
        "  nodes.n.cpd.rows[0].p  sums to 0.9, not 1 (short by 0.1)\n"
        "  nodes.n.source  holds numbers without a source; say where they come from, "
        "or source: assumption\n"
        '  questions.q.target  o has no state "perhaps"; known: no, yes',
    ),
}


def _large(tmp):
    path = tmp / "large.yaml"
    path.write_bytes(b"#" * 4_000_001)
    return path


def _sunny():
    return 0.5


def _late(wether):
    return 0.5 * wether


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_says_what_is_wrong_with_it(name, tmp_path):
    call, kind, expected = CALLS[name]
    with pytest.raises(kind) as caught:
        call(tmp_path)
    assert str(caught.value).replace(str(tmp_path), "TMP") == expected


def test_a_slip_of_the_hand_is_told_where_it_is_and_what_was_meant(tmp_path):
    """`value:0.4` was reported at the line after it; OR, 0,4 and 2/5 got no example."""
    text = """\
schema_version: 1
name: v
story: x
parameters:
  p:
    value: VALUE
    range: [0, 1]
    source: assumption
nodes:
  a: {cpd: {kind: probability, p: $p}}
  b: {parents: [a], cpd: {kind: or}}
"""

    def told(before, after):
        (tmp_path / "v.yaml").write_text(text.replace(before, after).replace("VALUE", "0.4"))
        return {p.line: p.message for p in rb.check(tmp_path / "v.yaml")}

    assert told("x", "x") == {}
    assert told(" VALUE", "0.4") == {6: "a blank is missing after the colon"}
    assert told("VALUE", "0,4")[6].endswith("needed: a number, such as 0.4")
    assert told("VALUE", "2/5")[6].endswith("needed: a number, such as 0.4")
    assert told("VALUE", "2/0")[6].endswith("needed: a number")
    assert told("VALUE", "1,000")[6].endswith("needed: a number")  # which of two is meant
    assert told("kind: or", "kind: OR")[11] == 'no CPD kind "OR"; did you mean "or"?'


def test_a_message_never_shows_a_line_that_is_wider_than_a_screen():
    text = "schema_version: 1\nname: a\nnodes: {n: {cpd: {kind: uniform}}}\n"
    long = text + "example: {" + ", ".join(f"c{i}: {i}" for i in range(400)) + "}\n"
    with pytest.raises(rb.ModelError) as caught:
        rb.loads(long)
    assert len(caught.value.problems) == 400
    shown = str(caught.value).splitlines()
    assert all(len(line) <= 120 for line in shown)
    for before, caret in pairwise(shown):
        if caret.strip(" |") == "^" and "c399" in before:
            assert before[caret.index("^") :].startswith("c399")


def test_deep_nesting_ends_in_a_message():
    with pytest.raises(rb.ModelError, match="nested more than 24 levels"):
        rb.loads("schema_version: 1\nname: a\nnodes: " + "[" * 1_000_000 + "\n")


# -- the command line -----------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(reidbn, [str(a) for a in arguments], standalone_mode=False)


def test_check_lists_the_problems_of_all_files_and_ends_with_3():
    paths = [broken.FOLDER / f"{name}.yaml" for name in ("row_short", "empty", "unknown_parent")]
    result = run("check", "breakfast", *paths)
    assert result.return_value == 2
    assert "breakfast: 5 nodes, 4 parameters, 4 assumptions" in result.stdout
    for path in paths:
        problems = path.with_suffix(".txt").read_text(encoding="utf-8").splitlines()[-3:]
        for line in problems:
            assert line.replace(path.name, str(path)) in result.stdout
    assert "3 problems in 3 files" in result.stderr


def test_check_in_json_has_one_entry_per_file():
    path = broken.FOLDER / "row_short.yaml"
    result = run("check", "--json", "breakfast", path, "no-such-model")
    good, bad, missing = json.loads(result.stdout)
    assert good == {
        "file": "breakfast",
        "ok": True,
        "name": "breakfast",
        "summary": "5 nodes, 4 parameters, 4 assumptions",
        "problems": [],
        "warnings": [],
    }
    assert bad["ok"] is False
    assert bad["problems"][0]["line"] == 11
    assert bad["problems"][0]["address"] == "nodes.finds.rows[0].p"
    assert bad["problems"][0]["message"] == "sums to 0.95, not 1 (short by 0.05)"
    assert missing["problems"][0]["line"] is None
    assert result.return_value == 2


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_the_command_line_never_ends_in_a_traceback(path):
    result = run("check", path)
    assert result.exception is None
    assert result.return_value == 2


def test_a_question_named_like_its_node_is_warned_of_where_the_two_answers_differ():
    """`ask` told every state, `assess` took the question, and `tornado` refused the word."""
    text = """
schema_version: 1
name: m
nodes:
  sells: {states: [leave, keep, sell], rows: [{p: [0.5, 0.25, 0.25]}], source: assumption}
  caught: {cpd: {kind: probability, p: 0.5}, source: assumption}
questions: {sells: {target: sells=sell}, caught: {target: caught=yes}}
"""
    warned = [p for p in rb.attack.loads(text).warnings if p.where[0] == "questions"]
    assert [p.where for p in warned] == [("questions", "sells")]
    assert "assess with sells=sell" in warned[0].message
    caught = rb.attack.loads(text.replace("caught=yes", "caught=no")).warnings
    assert ("questions", "caught") in [p.where for p in caught]


def test_what_can_come_out_is_told_beside_all_states_and_weights_with_what_they_are_of():
    text = """
schema_version: 1
name: m
nodes:
  a: {cpd: {kind: probability, p: 0.5}, source: assumption}
  b: {cpd: {kind: probability, p: 0.5}, source: assumption}
  c: {cpd: {kind: probability, p: 0.5}, source: assumption}
  n: {parents: [a, b, c], states: 0..2, cpd: {kind: count}}
questions: {risk: {target: a=yes}}
"""
    with pytest.raises(rb.ModelError, match="3 can come out, which is none of the states 0, 1, 2;"):
        rb.attack.loads(text)
    ranked = text.replace("{kind: count}", "{kind: ranked, weights: [1], sd: 0.1}")
    with pytest.raises(rb.ModelError, match=r"weights: is a list; .*\(parent: weight; below 0"):
        rb.attack.loads(ranked)
