"""Set up .venv and run the demonstration or the tests, with nothing but Python.

    python3 bootstrap.py setup | demo | test | lessons | lowest | newest

`lessons` adds a notebook server (lessons.lock) and opens the lessons in it.
`lowest` runs the tests with the oldest versions that pyproject.toml allows, `newest` with the
newest Python of this machine and the newest versions; each in an environment of its own.  With
`edges` after either only the tests of what other packages do for us are run, in a minute or two.
An environment that could not be set up ends with 3.

The Makefile calls this file too, so that the set-up is written down once.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "reidbn-setup"
NEEDED = (3, 11)


def fingerprint() -> str:
    parts = [ROOT / "requirements.lock", ROOT / "pyproject.toml"]
    return hashlib.sha256(b"".join(p.read_bytes() for p in parts)).hexdigest()


def create_venv() -> None:
    if sys.version_info < NEEDED:
        found = ".".join(map(str, sys.version_info[:2]))
        sys.exit(f"reidbn needs Python 3.11 or newer; this is Python {found}.")
    try:
        import ensurepip  # noqa: F401
        import venv
    except ImportError:
        sys.exit(
            "This Python has no venv module. On Debian or Ubuntu: "
            "apt-get install python3-venv, then run the same command again."
        )
    venv.EnvBuilder(with_pip=True).create(VENV)


def setup() -> None:
    if STAMP.exists() and STAMP.read_text() == fingerprint():
        return
    if not PYTHON.exists():
        create_venv()
    print("reidbn: installing into .venv (about a minute, once)", file=sys.stderr)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements.lock")], check=True)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "-e", str(ROOT)], check=True)
    STAMP.write_text(fingerprint())


def demo() -> int:
    setup()
    return subprocess.run([str(PYTHON), "-m", "reidbn.cli", "demo"], check=False).returncode


def test() -> int:
    setup()
    tests = [str(PYTHON), "-m", "pytest", "-n", "2"]
    return subprocess.run(tests, check=False, cwd=ROOT).returncode


def lessons() -> int:
    setup()
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if not runs(str(PYTHON), "import notebook"):
        print("reidbn: installing a notebook server into .venv (once)", file=sys.stderr)
        subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "lessons.lock")], check=True)
    subprocess.run([str(PYTHON), str(ROOT / "notebooks" / "run.py"), "copy"], check=True)
    server = [str(PYTHON), "-m", "notebook", f"--ServerApp.root_dir={ROOT / 'lessons'}"]
    server += ["--allow-root"] if os.name != "nt" and os.geteuid() == 0 else []  # in a container
    try:
        return subprocess.run(server, check=False).returncode
    except KeyboardInterrupt:  # how such a server is ended
        return 0


EDGES = [
    "cli_ask", "cli_assess", "cli_classes", "cli_leak", "cli_results", "cli_subsets", "dates",
    "drawing", "golden", "hierarchy", "interchange", "modelfile", "modelfile_errors", "numbers",
    "pgmpy_contract", "population", "public_names", "read", "sources", "subsets", "table", "whatif",
    "writing", "wrong_types",
]  # fmt: skip
"""Tests that read and write files, draw, print, parse, and ask pgmpy."""


def lowest(*tests: str) -> int:
    import tomllib  # not in a Python that is told what is needed

    found = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    pins = [re.sub(r">=([\d.]+).*", r"==\1", need) for need in found]
    return apart(".venv-lowest", sys.executable, pins, tests)


def newest(*tests: str) -> int:
    names = (f"python3.{minor}" for minor in range(19, 10, -1))
    python = next((p for p in map(shutil.which, names) if p and runs(p)), sys.executable)
    return apart(".venv-newest", python, [], tests)


def runs(python: str, words: str = "import venv") -> bool:
    done = subprocess.run([python, "-c", words], check=False, capture_output=True)
    return done.returncode == 0


def apart(name: str, python: str, pins: list[str], chosen: Sequence[str]) -> int:
    """The tests in an environment of their own; what other packages announce is not ours."""
    venv = ROOT / name
    own = venv / PYTHON.relative_to(VENV)
    pip = [str(own), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in (
        [python, "-m", "venv", "--clear", str(venv)], [*pip, "-e", f"{ROOT}[dev]", *pins],
    ):  # fmt: skip
        if subprocess.run(command, check=False).returncode:
            print(f"reidbn: {name} could not be set up", file=sys.stderr)
            return 3
    print(f"reidbn: tests with {own.parent.parent.name}, {python}", file=sys.stderr)
    quiet = ["-W", "ignore::DeprecationWarning", "-W", "ignore::FutureWarning"]
    chosen = [f"tests/test_{edge}.py" for edge in EDGES] if chosen else []
    tests = [str(own), "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *quiet, *chosen]
    return subprocess.run(tests, check=False, cwd=ROOT).returncode


def main(argv: list[str]) -> int:
    commands = {f.__name__: f for f in (setup, demo, test, lessons, lowest, newest)}
    apart_ones = argv[1:] == ["edges"] and argv[0] in ("lowest", "newest")
    if not argv or argv[0] not in commands or not (len(argv) == 1 or apart_ones):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        return commands[argv[0]](*argv[1:]) or 0
    except subprocess.CalledProcessError as problem:
        print(f"reidbn: set-up stopped: {' '.join(problem.cmd[:5])} ... failed", file=sys.stderr)
        return problem.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
