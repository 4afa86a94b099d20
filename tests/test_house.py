"""The rooms: imports point down only, modules stay short, every citation is in REFERENCES.md."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "reidbn"
# From the ground up; a module may import from its own room and from rooms before it.
ROOMS = ["errors", "calls", "theory", "cpds", "attack", "inference", "microdata", "population",
         "attacks", "whatif", "report", "datasets", "cli"]  # fmt: skip
MODULES = sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {name.split(".")[1] for name in found if name.startswith("reidbn.")}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down_only(path):
    here = room(path)
    if here not in ROOMS:
        return
    above = ROOMS[ROOMS.index(here) + 1 :]
    assert not imports(path) & set(above)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_stays_under_600_lines(path):
    assert len(path.read_text().splitlines()) <= 600


def test_only_the_bridge_knows_pgmpy():
    knows = [p.name for p in MODULES if re.search(r"^\s*(from|import) pgmpy", p.read_text(), re.M)]
    assert set(knows) <= {"pgmpy_bridge.py"}


def test_every_citation_is_in_the_references():
    listed = set(
        re.findall(
            r"^- \[([A-Za-z]+\d\d|KAnonCourse)\]", (ROOT / "REFERENCES.md").read_text(), re.M
        )
    )
    cited = set()
    for path in MODULES:
        cited |= set(re.findall(r"\[([A-Z][A-Za-z]+\d\d|KAnonCourse)\]", path.read_text()))
    assert cited <= listed, f"not in REFERENCES.md: {sorted(cited - listed)}"


def test_nothing_pulls_torch():
    text = (ROOT / "requirements.lock").read_text() + (ROOT / "pyproject.toml").read_text()
    assert not re.search(r"^\s*\"?(torch|nvidia|cuda)", text, re.M | re.I)


def test_the_lock_names_no_address():
    assert "://" not in (ROOT / "requirements.lock").read_text()
