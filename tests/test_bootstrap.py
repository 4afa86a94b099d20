"""The first command that anybody runs: what it needs, what it says when that is missing."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BOOTSTRAP = ROOT / "bootstrap.py"


@pytest.fixture
def copy(tmp_path):
    """The bootstrap beside a lock and a project file of a place without an environment."""
    for name in ("bootstrap.py", "requirements.lock", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path / "bootstrap.py"


def run(script, *arguments, before=""):
    """The script in a fresh Python, isolated, after some preparation."""
    code = (
        f"import sys, runpy\n{before}\nsys.argv = [{str(script)!r}, *{list(arguments)!r}]\n"
        f"runpy.run_path({str(script)!r}, run_name='__main__')"
    )
    return subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True)


WITHOUT = """
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {names!r}:
            raise ModuleNotFoundError('No module named ' + repr(name), name=name)
sys.meta_path.insert(0, Missing())
for name in {names!r}: sys.modules.pop(name, None)
"""


@pytest.mark.parametrize("missing", [("venv",), ("ensurepip",), ("venv", "ensurepip")])
@pytest.mark.parametrize("command", ["setup", "demo", "test"])
def test_a_python_without_venv_gets_the_word_that_helps(copy, missing, command):
    done = run(copy, command, before=WITHOUT.format(names=missing))
    assert done.returncode == 1
    assert "This Python has no venv module" in done.stderr
    assert "apt-get install python3-venv, then run the same command again" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (copy.parent / ".venv").exists()


def test_an_older_python_is_told_what_is_needed(copy):
    done = run(copy, "setup", before="sys.version_info = (3, 9, 7, 'final', 0)")
    assert done.returncode == 1
    assert "reidbn needs Python 3.11 or newer; this is Python 3.9." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [(), ("dmeo",), ("demo", "test")])
def test_anything_else_shows_what_can_be_asked(copy, arguments):
    done = run(copy, *arguments)
    assert done.returncode == 2
    assert "python3 bootstrap.py setup | demo | test | lessons | lowest | newest" in done.stderr


def test_it_needs_nothing_but_the_standard_library():
    names = {
        line.split()[1].split(".")[0]
        for line in BOOTSTRAP.read_text().splitlines()
        if line.lstrip().startswith(("import ", "from "))
    }
    assert names <= set(sys.stdlib_module_names)


def module(path):
    spec = importlib.util.spec_from_file_location("bootstrap_under_test", path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


class Calls(list):
    """Stands for subprocess.run: remembers the commands, and fails on those that hold a word."""

    def __init__(self, failing=None):
        super().__init__()
        self.failing = failing

    def __call__(self, command, *, check=False, cwd=None):
        self.append(command)
        code = 1 if self.failing and self.failing in command else 0
        if check and code:
            raise subprocess.CalledProcessError(code, command)
        return subprocess.CompletedProcess(command, code)


@pytest.fixture
def stubbed(copy, monkeypatch):
    """The module with an environment that is there, and with commands that are only noted."""
    found = module(copy)
    found.BIN.mkdir(parents=True)
    found.PYTHON.touch()

    def with_calls(failing=None):
        calls = Calls(failing)
        monkeypatch.setattr(found.subprocess, "run", calls)
        return found, calls

    return with_calls


def test_it_installs_the_hashed_lock_then_the_project_and_only_once(stubbed):
    bootstrap, calls = stubbed()
    assert bootstrap.main(["demo"]) == 0
    assert ["--require-hashes" in c for c in calls] == [True, False, False]
    assert "--no-deps" in calls[1]
    assert calls[2][1:] == ["-m", "reidbn.cli", "demo"]
    assert bootstrap.main(["test"]) == 0
    assert [c[1:3] for c in calls[3:]] == [["-m", "pytest"]]


def test_it_installs_again_when_the_lock_has_changed(stubbed):
    bootstrap, calls = stubbed()
    bootstrap.main(["setup"])
    bootstrap.main(["setup"])
    assert len(calls) == 2
    (bootstrap.ROOT / "requirements.lock").write_text("# another one\n")
    bootstrap.main(["setup"])
    assert len(calls) == 4


def test_a_set_up_that_fails_says_at_which_command_and_is_tried_again(stubbed, capsys):
    bootstrap, calls = stubbed(failing="--require-hashes")
    assert bootstrap.main(["demo"]) == 1
    assert "set-up stopped" in capsys.readouterr().err
    assert len(calls) == 1
    assert bootstrap.main(["setup"]) == 1
    assert len(calls) == 2


def test_the_exit_code_is_that_of_what_ran(stubbed):
    bootstrap, _ = stubbed(failing="pytest")
    assert bootstrap.main(["test"]) == 1


def test_a_place_that_cannot_be_set_up_is_told_apart_from_tests_that_fail(copy):
    before = "import subprocess\nsubprocess.run = lambda *a, **k: subprocess.CompletedProcess(a, 1)"
    for words in (("lowest",), ("newest", "edges")):
        done = run(copy, *words, before=before)
        assert done.returncode == 3
        assert f".venv-{words[0]} could not be set up" in done.stderr
    assert run(copy, "lowest", "all").returncode == run(copy, "setup", "edges").returncode == 2


def test_every_test_of_the_edges_is_there():
    spec = importlib.util.spec_from_file_location("bootstrap", BOOTSTRAP)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert all((ROOT / f"tests/test_{edge}.py").exists() for edge in module.EDGES)
