"""Lessons: each is a pair of a Python file and the same notebook with outputs.

Running them takes minutes and is `make notebooks-check`; here only what can be seen at once.
"""

import ast
import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

from reidbn.lesson import EXERCISES

ROOT = Path(__file__).resolve().parent.parent
pytest.importorskip("jupytext")
_spec = importlib.util.spec_from_file_location("lessons_run", ROOT / "notebooks" / "run.py")
run = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(run)
LESSONS = run.lessons()


def test_six_lessons_stand_in_order_and_three_are_for_the_curious():
    assert [p.stem for p in LESSONS] == [
        "1_attack_model", "2_k_anonymity", "3_three_routes", "4_leak", "5_neighbours",
        "6_your_own_adversary", "7_record_network", "8_families",
        "9_the_least_change",
    ]  # fmt: skip


def test_the_lessons_ask_every_exercise_once_and_in_order():
    asked = []
    for path in LESSONS:
        last = run.read_lesson(path).cells[-1].source
        asked += [int(n) for n in re.findall(r"(\d+): \.\.\.", last)]
    assert asked == list(EXERCISES) == list(range(1, 28))


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_the_page_of_a_lesson_loads_nothing_and_opens_anywhere(path):
    page = (ROOT / "docs" / "lessons" / f"{path.stem}.html").read_text()
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert not re.search(r"(src|href)=.?(https?:)?//", page)
    for other in re.findall(r'href="(\w+)\.html"', page):
        assert other in {p.stem for p in LESSONS}
    assert len(page) < run.LARGEST


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_a_lesson_and_its_notebook_are_in_step(path):
    assert run.differences(path) == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_a_lesson_opens_with_its_question_and_ends_with_exercises_and_asserts(path):
    assert run.manners(path) == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_a_lesson_uses_the_public_names_only(path):
    """Lessons show what anybody can write: `import reidbn as rb`, and no private rooms."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert not (node.module or "").startswith("reidbn"), ast.unparse(node)
        elif isinstance(node, ast.Import):
            assert {a.name for a in node.names if a.name.startswith("reidbn")} <= {"reidbn"}


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_a_stored_notebook_tells_nothing_of_where_it_was_run(path):
    text = path.with_suffix(".ipynb").read_text()
    notebook = json.loads(text)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert set(notebook["metadata"]) == {"jupytext", "kernelspec", "language_info"}
    assert [c["id"] for c in notebook["cells"]] == [
        f"cell-{i:02d}" for i in range(len(notebook["cells"]))
    ]
    assert not re.search(r"/(home|root|work|tmp|Users)/", text)


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """A lesson of our own, in a folder of its own."""
    home = tmp_path / "notebooks"
    home.mkdir()
    monkeypatch.setattr(run, "HERE", home)

    def written(*cells):
        path = home / "small.py"
        path.write_text("\n\n".join(cells) + "\n")
        return path

    return written


GOOD = (
    "# %% [markdown]\n# # Is it?",
    "# %%\nx = 1 + 1\nassert x == 2\nx",
    "# %% [markdown]\n# ## Predict\n# ## Reflect\n# ## Exercises\n# rb.lesson.check(1)",
)


def test_a_good_lesson_is_stored_and_found_good(lesson, capsys):
    path = lesson(*GOOD)
    assert run.main(["write"]) == 0
    first = path.with_suffix(".ipynb").read_bytes()
    assert run.main(["check", "small"]) == 0
    assert run.main(["write", "small.py"]) == 0
    assert path.with_suffix(".ipynb").read_bytes() == first
    assert "small: good" in capsys.readouterr().out
    code = json.loads(first)["cells"][1]
    assert code["outputs"][0]["data"]["text/plain"] == ["2"]


def test_what_a_lesson_says_otherwise_than_its_stored_pair_is_found(lesson, capsys):
    path = lesson(*GOOD)
    assert run.main(["write"]) == 0
    pair = path.with_suffix(".ipynb")
    then = pair.read_text()
    for changed, problem in (
        ('"2.000000001"', ""),  # the last digit of another computer
        ('"2.1"', "says other than what is stored in cell 2; run: make notebooks"),
        ('"two"', "says other than what is stored in cell 2; run: make notebooks"),
    ):
        pair.write_text(then.replace('"2"', changed))
        run.main(["render"])
        capsys.readouterr()
        assert run.main(["check"]) == bool(problem)
        assert problem in capsys.readouterr().out


def test_a_failing_assert_is_named_and_nothing_is_stored(lesson, capsys):
    path = lesson(*GOOD[:1], "# %%\nassert 1 == 2, 'the claim'", *GOOD[2:])
    assert run.main(["write"]) == 1
    said = capsys.readouterr().out
    assert "a cell failed: AssertionError: the claim" in said
    assert "assert 1 == 2" in said
    assert not path.with_suffix(".ipynb").exists()


def test_what_is_out_of_step_is_found_without_running(lesson):
    path = lesson(*GOOD)
    assert run.differences(path) == ["has no notebook beside it; run: make notebooks"]
    notebook = run.read_lesson(path)
    import nbformat

    nbformat.write(notebook, path.with_suffix(".ipynb"))
    assert run.differences(path) == ["its notebook has cells that were not run"]
    notebook.cells[1].execution_count = 1
    nbformat.write(notebook, path.with_suffix(".ipynb"))
    assert run.differences(path) == []
    lesson(GOOD[0], "# %%\nx = 3\nassert x", GOOD[2])
    assert run.differences(path) == [
        "differs from its notebook from cell 2 on; run: make notebooks"
    ]
    lesson(*GOOD, "# %%\nmore = 1")
    assert run.differences(path) == [
        "differs from its notebook from cell 4 on; run: make notebooks"
    ]


def test_a_notebook_that_is_too_large_or_holds_an_error_is_found(lesson, monkeypatch):
    path = lesson(*GOOD)
    import nbformat

    notebook = run.read_lesson(path)
    notebook.cells[1].execution_count = 1
    notebook.cells[1].outputs = [
        nbformat.v4.new_output("error", ename="E", evalue="v", traceback=[])
    ]
    nbformat.write(notebook, path.with_suffix(".ipynb"))
    monkeypatch.setattr(run, "LARGEST", 100)
    found = run.differences(path)
    assert found[0] == "its notebook holds an error"
    assert "bytes; at most 100" in found[1]


def test_bad_manners_are_named(lesson):
    assert run.manners(lesson("# %%\nx = 1")) == [
        "does not open with its question", "has nothing to predict", "has nothing to reflect on",
        "has no exercises", "does not end with rb.lesson.check", "asserts nothing",
    ]  # fmt: skip


def test_an_unknown_lesson_or_command_is_refused(lesson):
    lesson(*GOOD)
    assert run.main([]) == 2
    assert run.main(["wirte"]) == 2
    with pytest.raises(SystemExit, match="no lesson large; there are small"):
        run.main(["check", "large"])


def test_addresses_do_not_make_outputs_differ():
    output = {"output_type": "stream", "text": "<thing at 0x7f0a12bc34de>"}
    assert run._plain(output)["text"] == "<thing at 0x...>"
    assert sys.modules.get("lessons_run") is None


def test_copies_to_work_in_have_no_outputs_and_are_never_written_over(lesson):
    path = lesson(*GOOD)
    assert run.main(["copy"]) == 0
    made = path.parent.parent / "lessons" / "small.ipynb"
    assert not any(c.get("outputs") for c in json.loads(made.read_text())["cells"])
    made.write_text("my work")
    assert run.main(["copy", "small"]) == 0
    assert made.read_text() == "my work"
