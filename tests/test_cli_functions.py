"""--functions: code is named on the command line, never in a model file."""

import json
import warnings

import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn
from tests.inside import inside

MODEL = """
schema_version: 1
name: own
parameters:
  p: {value: 0.2, range: [0, 1], source: assumption}
  limit: {value: 3.5, range: [0, 9], unit: records, source: assumption}
nodes:
  a: {cpd: {kind: probability, p: $p}}
  b: {parents: [a], cpd: {kind: function, name: NAME}}
questions: {risk: {target: b=yes}}
"""
CODE = """
import numpy as np
import reidbn as rb

SHARE = 0.5


@rb.cpd.cpd_function("own-declared", degree={"p": 2})
def declared(a, p):
    return a * p * p


@rb.cpd.cpd_function("own-step", step=True)
def stepped(a, limit):
    return np.where(limit > 2.25, SHARE, 0.0) * a


@rb.cpd.cpd_function("own-boast", degree={"p": 1})
def boast(a, p):
    return a * p * p * p


def own_scalar(a, p):
    return SHARE if a == 1 and p > 0 else 0.0
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "own_functions.py").write_text(CODE)

    def model(name):
        path = tmp_path / f"{name}.yaml"
        path.write_text(MODEL.replace("NAME", name))
        return str(path)

    return model, str(tmp_path / "own_functions.py")


def run(*words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.errors.ReidbnWarning)
        return CliRunner().invoke(reidbn, [*words])


@pytest.mark.parametrize(
    ("name", "answer"), [("own-declared", 0.008), ("own-step", 0.1), ("own_scalar", 0.1)]
)
def test_a_function_of_the_file_is_used(files, name, answer):
    model, code = files
    found = run("ask", model(name), "risk", "--json", "--functions", code)
    assert found.exit_code == 0, found.output
    assert json.loads(found.output)["probability"] == pytest.approx(answer, abs=1e-15)


def test_a_declared_degree_is_taken_as_such_a_step_is_scanned_and_a_wrong_degree_is_found_out(
    files,
):
    model, code = files
    told = {}
    for name, over in (("own-declared", "p"), ("own-step", "limit")):
        found = run("tornado", model(name), "risk", "--over", over, "--json", "--functions", code)
        assert found.exit_code == 0, found.output
        (bar,) = json.loads(found.output)["bars"]
        told[name] = bar["method"]
        if name == "own-step":
            assert (bar["lowest"], bar["highest"]) == (0.0, 0.1)
    assert told["own-declared"] == "as declared by the author"
    assert told["own-step"].startswith("scan")
    for command in ("tornado", "uncertainty"):
        found = run(command, model("own-boast"), "risk", "--over", "p", "--functions", code)
        assert isinstance(found.exception, rb.UsageError)
        assert "no polynomial of degree 2" in str(found.exception)


def test_what_is_no_file_of_functions_is_refused(files, tmp_path):
    model, _ = files
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "empty.py").write_text("x = 1")
    for path, said in (("broken.py", "ZeroDivisionError"), ("empty.py", "defines no function"),
                       ("none.py", "no such Python file")):  # fmt: skip
        found = run("ask", model("own-step"), "risk", "--functions", str(tmp_path / path))
        assert isinstance(found.exception, rb.UsageError)
        assert said in str(found.exception)


def test_a_function_for_one_case_tells_what_it_costs(files):
    model, code = files
    run("check", model("own_scalar"), "--functions", code)
    with pytest.warns(rb.errors.ReidbnWarning, match="case by case"):
        rb.sweep(rb.load(model("own_scalar")), "risk", {"p": [i / 20_000 for i in range(20_000)]})


def test_what_a_function_costs_is_said_once_a_call_and_in_no_result(files, monkeypatch):
    model, code = files
    run("check", model("own_scalar"), "--functions", code)
    monkeypatch.setattr(inside(rb.cpd.cpd_function), "SCALAR_CALLS", 2)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = rb.sweep(rb.load(model("own_scalar")), "risk", {"p": [0.1, 0.2, 0.3]})
        many = rb.tornado(rb.load(model("own_scalar")), "risk")
    said = [str(one.message) for one in heard if "case by case" in str(one.message)]
    assert len(said) == 2
    assert not [note for note in (*found.attrs.get("notes", ()), *many.notes) if "called" in note]


SLIPS = {
    "def own_slip(a, p):\n    return p / 0\n":
        "stopped with a ZeroDivisionError: float division by zero; it is called case by case",
    "def own_slip(a, p):\n    return 1.5\n": "returned 1.5; P(yes) lies between 0 and 1",
    "def own_slip(a, p):\n    if a:\n        return p\n": "returned nothing (None)",
    "def own_slip(a, p):\n    return float('nan')\n": "returned NaN",
    "def own_slip(a, p):\n    return float('inf')\n": "returned inf",
    "def own_slip(a, p):\n    return 'often'\n": "returned something that is no number: it is",
    "def own_slip(a, age):\n    raise ValueError(f'{age} is too old')\n":
        "stopped with a ValueError; it is called case by case",
    "def own_slip(a, older):\n    raise ValueError(f'{older} is too old')\n":
        "stopped with a ValueError; it is called case by case",
    "def own_slip(a, age):\n    return age\n": "returned something; P(yes) lies between 0 and 1",
}  # fmt: skip


@pytest.mark.parametrize("code", SLIPS)
def test_a_slip_in_a_function_is_said_as_it_is_and_without_a_value_of_anybody(tmp_path, code):
    name = f"own_slip_{[*SLIPS].index(code)}"
    (tmp_path / "slip.py").write_text(code.replace("own_slip", name))
    text = MODEL.replace("NAME", name) + "subject: {age: {unit: years}}\nexample: {age: 81.25}\n"
    text += "numbers: {older: {is: age + 1, unit: years}}\n"
    (tmp_path / "m.yaml").write_text(text)
    found = run("check", str(tmp_path / "m.yaml"), "--functions", str(tmp_path / "slip.py"))
    assert f"function {name} {SLIPS[code]}" in found.output
    assert not {"81.25", "82.25", "vectorised", "-0.5"} & {*found.output.replace(";", " ").split()}


def test_a_file_that_is_no_python_file_is_said_to_be_none(files):
    model, _ = files
    found = run("check", model("own-step"), "--functions", model("own-step"))
    assert "it is no Python file; name one that ends in .py" in str(found.exception)


def test_a_model_file_names_no_code(files):
    _, code = files
    text = MODEL.replace("NAME", "own-step")
    text = text.replace("name: own", f"functions: {code}\nname: own", 1)
    with pytest.raises(rb.ModelError, match="functions"):
        rb.attack.loads(text)


def test_a_table_given_to_check_is_told_the_commands_for_tables_and_none_of_its_rows(tmp_path):
    table = tmp_path / "registry.csv"
    table.write_text("Smith,1970-01-02\nJones,1980-03-04\n")
    said = "is a table, and check is for models and scenarios: reidbn subsets"
    with pytest.raises(rb.UsageError, match=said) as refused:
        CliRunner().invoke(reidbn, ["check", str(table)], catch_exceptions=False)
    assert "Smith" not in str(refused.value)


def test_a_page_takes_a_file_of_functions_and_holds_their_tables_and_no_python(files, tmp_path):
    """ "No such option --functions. Did you mean --population?" """
    model, code = files
    page = tmp_path / "page.html"
    found = run("page", model("own-declared"), "risk", "-o", str(page), "--functions", code)
    assert found.exit_code == 0, found.output
    text = page.read_text()
    assert "own_functions" not in text
    assert "a * p * p" not in text
    rb.load(model("own-declared")).page(tmp_path / "same.html", "risk")
    assert (tmp_path / "same.html").read_text() == text
