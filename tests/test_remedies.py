"""Remedies speak the caller's language: Python's options in Python, the command's in the shell."""

import ast
import re
from pathlib import Path

import click
import pytest
from inside import inside

import reidbn as rb
from reidbn.cli import in_shell, main


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,sex,name,w\n50,F,a b,1\n51,M,c d,1\n50,f,e f,1\n")
    return str(path)


@pytest.mark.parametrize(
    ("words", "python", "shell"),
    [
        ("classes FILE --qi name", "allow_direct=True", "--allow-direct keeps it"),
        ("classes FILE --qi name", "as subject_id", "with --subject-id"),
        ("classes FILE --qi age --level age=1", "hierarchies=", "--hierarchy age=bands:5,10"),
        ("classes FILE --qi age --history person", "subject_id=", "name --subject-id"),
        ("subsets FILE --qi age,sex --most 1 --samples 3", "most=", "leave out --most"),
        ("assess FILE --qi age,sex", "population=N", "give --population N"),
        ("assess FILE --qi age,sex --population 300 --scenario voter-registration", "columns=",
         "--column state=YOUR_COLUMN"),
        ("population FILE --qi age --population 300 --model benedetti-franconi", "weights=",
         "needs survey weights: --weights column"),
        ("population FILE --qi age --population 4.5", "population=", "--population 4.5: need"),
    ],
)  # fmt: skip
def test_a_refusal_in_the_shell_names_the_commands_options(words, python, shell, file, capsys):
    with pytest.raises(SystemExit) as done:
        main(words.replace("FILE", file).split())
    said = capsys.readouterr().err
    assert done.value.code == 2
    assert shell in said
    assert python not in said


@pytest.mark.parametrize(
    "words",
    [
        "assess FILE --qi age,sex,w --population 300 --known sex,w --column sex=w",
        "assess FILE --qi age,sex --population 300 --unknown age,sex",
        "assess FILE --qi age,nobody", "ask nosuchmodel", "check nosuchmodel",
        "ask adversary-routes --given p=q", "linkage nofile.csv",
    ],
)  # fmt: skip
def test_a_slip_does_not_end_as_a_failed_crosscheck_does(words, file, capsys):
    """Exit code 3 says that numbers are wrong, and 1 that a gate is not kept."""
    with pytest.raises(SystemExit) as done:
        main(words.replace("FILE", file).split())
    assert done.value.code == 2, capsys.readouterr().err


def test_every_error_has_an_exit_code_of_the_table(capsys):
    codes = {error.__name__: error.exit_code for error in vars(rb.errors).values()
             if isinstance(error, type) and issubclass(error, rb.errors.ReidbnError)}  # fmt: skip
    assert {name for name, code in codes.items() if code == 3} == {
        "CrosscheckFailed",
        "EngineError",
    }
    assert {*codes.values()} == {2, 3, 4}


def test_a_refusal_in_python_keeps_pythons_options(file):
    with pytest.raises(rb.DataError, match="allow_direct=True keeps it"):
        rb.read_table(file, quasi_identifiers="name")


def test_remarks_about_a_table_name_the_commands_options(file, capsys):
    with pytest.raises(SystemExit):
        main(["classes", file, "--qi", "sex"])
    assert "; --tidy takes them as one" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ['P(missing="yes") = 1', "--missing=value", "most=3", 'a "missing=x" b', "missing==1"]
)
def test_what_is_no_option_of_the_command_stays_as_it_is(text):
    command = click.Command("classes", params=[click.Option(["--missing"])])
    assert in_shell(text, command) == text
    assert in_shell('missing="value"', None) == 'missing="value"'


def test_a_table_too_large_to_assess_is_told_what_would_fit(monkeypatch, capsys):
    from reidbn.attacks import subset_classes

    monkeypatch.setattr(inside(subset_classes), "MEMORY", 1000)
    with pytest.raises(SystemExit) as done:
        main(["assess", "synthetic:300", "--qi", "age,sex,state", "--population", "3k"])
    said = capsys.readouterr().err
    assert done.value.code == 2
    assert "leave attributes out with --without" in said
    assert "ask about some people with --individuals 1000" in said
    assert "Do not assess a part of the table" in said


REMEDY = re.compile(
    r"\b(ask|use|take|give|leave|join|make|name|estimate|choose|let|assess|generalise|share|search"
    r"|sweep|vary|raise|keep|know|look|count|check|get|need(s)? no|writes it|answer it"
    r"|method=|needs none)\b",
    re.I,
)


def texts_in(nodes):
    return " ".join(
        n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)
    )


def messages_of_limits():
    """Every message of TooLarge in the source, with the texts that it holds by name."""
    for path in sorted(Path(rb.__file__).parent.rglob("*.py")):
        if "TooLarge(" not in (source := path.read_text(encoding="utf-8")):
            continue
        tree = ast.parse(source)
        made = [node for node in tree.body if isinstance(node, ast.Assign)]
        named = {
            getattr(node.targets[0], "id", ""): texts_in(ast.walk(node.value)) for node in made
        }
        named["remedy"] = named.get("_REMEDY", "")  # a parameter, by default
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "TooLarge":
                parts = [*ast.walk(node)]
                own = [named.get(part.id, "") for part in parts if isinstance(part, ast.Name)]
                yield f"{path.name}:{node.lineno}", " ".join([texts_in(parts), *own])


def test_the_message_of_every_limit_says_what_to_do():
    found = dict(messages_of_limits())
    assert len(found) > 60
    assert not {at: said for at, said in found.items() if not REMEDY.search(said)}
    assert not REMEDY.search("a table of 5 cells; 4 can be compared")
    # A sample has smaller classes than the table, so its people look more at risk.
    sample = re.compile(r"(assess|take) a (random )?sample of the people")
    assert not [at for at, said in found.items() if sample.search(said)]
