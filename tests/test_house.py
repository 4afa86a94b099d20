"""The rooms: imports point down only, modules stay short, every citation is in REFERENCES.md."""

import ast
import re
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "reidbn"
# From the ground up; a module may import from its own room and from rooms before it.
ROOMS = [
    "late", "limits", "progress", "errors", "written", "above", "aside", "calls", "release",
    "differing", "result",
    "theory", "cpds", "attack", "inference", "microdata", "population", "attacks", "whatif",
    "report", "page", "plans", "datasets", "lesson", "cli",
]  # fmt: skip
MODULES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted(Path(__file__).parent.glob("*.py"))
BENCHMARKS = sorted((ROOT / "benchmarks").glob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def name_of(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


@cache
def imported(path: Path) -> frozenset[str]:
    """What a module imports, inside functions too; what only types need is not imported."""
    tree, found = ast.parse(path.read_text()), set()
    package = name_of(path) if path.name == "__init__.py" else name_of(path).rpartition(".")[0]
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level]
            module = ".".join([*above, node.module or ""]) if node.level else node.module or ""
            found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset(name for name in found if name.startswith("reidbn."))


def doors(path: Path) -> set[str]:
    """The late doors of a module."""
    return set(re.findall(r"[\"'](reidbn(?:\.\w+)+:\w+)[\"']", path.read_text()))


def imports(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imported(path)}


# Verbs of a value whose work is done in a room above, or in a later module of its own room.
DOORS = {
    "attack/attack.py": {
        "reidbn.attack.modelfile:save",
        "reidbn.attack.frontier:frontier",
        "reidbn.page.sheet:page",
        "reidbn.inference.policies:with_policy",
        "reidbn.inference.pgmpy_bridge:attack_to_pgmpy",
    },
    "attack/coverage.py": {"reidbn.report.coverage_figure:draw_coverage"},
    "attacks/routes/assessment.py": {
        "reidbn.attacks.routes.changes:compare_assessments",
        "reidbn.attacks.routes.drawn:off_by_drawing",
        "reidbn.attacks.routes.drawn:at_most_off",
        "reidbn.attacks.routes.drawn:remarks",
        "reidbn.attacks.routes.drivers:drivers",
        "reidbn.attacks.routes.enclosed:enclosed",
        "reidbn.attacks.routes.explained:explain",
        "reidbn.attacks.routes.explained:write_explained",
        "reidbn.attacks.routes.readings:population_uncertainty",
        "reidbn.attacks.routes.readings:write_restricted",
        "reidbn.report.assessment_report:numbers",
        "reidbn.report.assessment_sure:intervals",
        "reidbn.attacks.linkage.plausible:remarks",
        "reidbn.report.assessment_report:report",
        "reidbn.report.assessment_report:write_html",
        "reidbn.report.assessment_report:write_json",
        "reidbn.report.assessment_report:write_markdown",
        "reidbn.page.sheet:page_of_people",
        "reidbn.plans.beside:best_beside",
        "reidbn.report.summary:summarise",
        "reidbn.whatif.uncertainty:uncertainty",
    },
    "attacks/secrets/result.py": {
        "reidbn.attacks.secrets.ask:disclosure_crosscheck",
        "reidbn.attacks.secrets.measures:measures",
        "reidbn.report.disclosure_page:sheet",
    },
    "whatif/decide.py": {"reidbn.report.decision_figures:draw_decision"},
    "cpds/protocol.py": {"reidbn.inference.pgmpy_bridge:cpd_to_pgmpy"},
    "attacks/family/neighbourhood.py": {"reidbn.attacks.family.checked:check"},
    "attacks/family/kin.py": {"reidbn.attacks.family.neighbourhood:family_experiments"},
    "microdata/sparse.py": {"reidbn.microdata.sparsity:describe", "reidbn.microdata.noise:noisy"},
    "microdata/sparsity.py": {"reidbn.report.sparse_figures:figure"},
    "microdata/table.py": {
        "reidbn.microdata.generalise:compared_with",
        "reidbn.microdata.generalise:generalise",
        "reidbn.microdata.generalise:missing_rates",
        "reidbn.microdata.generalise:suppress",
        "reidbn.microdata.generalise:suppression_rate",
    },
    "population/pitman.py": {"reidbn.population.rehearsal:rehearse"},
    "result.py": {
        "reidbn.report.page:numbers_of",
        "reidbn.report.page:sheet_of",
        "reidbn.report.page:write_plot",
        "reidbn.report.page:write_report",
    },
    "whatif/learned.py": {"reidbn.report.whatif_figures:draw_learned"},
    "whatif/tornado.py": {"reidbn.report.whatif_figures:draw_tornado"},
    "whatif/uncertainty.py": {"reidbn.report.whatif_figures:draw_uncertainty"},
    "whatif/sobol.py": {"reidbn.report.whatif_figures:draw_sobol"},
}


def test_every_late_door_is_listed():
    """But those of results to the sections of their pages, which every result has."""
    pages = re.compile(r"reidbn\.report\.\w+:(\w+_)?sections")
    found = {
        str(p.relative_to(PACKAGE)): {d for d in doors(p) if not pages.fullmatch(d)}
        for p in MODULES
        if p.name != "late.py"
    }
    assert {p: d for p, d in found.items() if d} == DOORS


def test_no_module_imports_another_by_a_string():
    allowed = {"late.py", "cpds/registry.py", "cli/__init__.py"}
    found = {str(p.relative_to(PACKAGE)) for p in MODULES if "import_module" in p.read_text()}
    assert found <= allowed


def test_no_circle_of_imports():
    names = {name_of(p): p for p in MODULES}
    graph = nx.DiGraph()
    for name, path in names.items():
        graph.add_edges_from((name, other) for other in imported(path) & set(names) - {name})
    circles = [sorted(c) for c in nx.strongly_connected_components(graph) if len(c) > 1]
    assert circles == []


# -- faces: what may be used of a room from outside (late.py) --------------------------------------

FACES = [name_of(p) for p in MODULES if p.name == "__init__.py"]


def written(path: Path) -> set[str]:
    """The names that a module gives to something of its own."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return found


@pytest.mark.parametrize("room", FACES)
def test_a_face_names_what_is_written_where_it_says(room):
    module = import_module(room)
    for name, home in module.__homes__.items():
        thing = getattr(module, name)
        if home and room != "reidbn":
            place = import_module(f"{room}.{home}")
            assert thing is getattr(place, name)
            assert name in written(Path(place.__file__)), f"{room}.{home} only imports {name}"


@pytest.mark.parametrize("room", FACES)
def test_a_face_names_a_thing_once(room):
    path = PACKAGE.joinpath(*room.split(".")[1:], "__init__.py")
    tables = [
        {ast.literal_eval(k): ast.literal_eval(v) for k, v in zip(d.keys, d.values, strict=True)}
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "face"
        for d in call.args[1:]
    ]
    assert 1 <= len(tables) <= 2  # what is shown, what is found
    names = Counter(name for table in tables for names in table.values() for name in names.split())
    assert [name for name, times in names.items() if times > 1] == []


def test_a_file_that_is_loaded_does_not_hide_the_name_of_its_room():
    import_module("reidbn.inference.crosscheck")
    assert callable(import_module("reidbn.inference").crosscheck)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_package_itself_imports_from_files_where_types_are_seen(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module in FACES:
            homes = import_module(node.module).__homes__
            assert not [a.name for a in node.names if homes.get(a.name)]


def deep(path: Path) -> list[str]:
    """What a test names of the package that is neither public nor on the face of a room."""
    rooms = {room(p) for p in MODULES if p.parent != PACKAGE}
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reidbn"):
            if node.module in FACES:
                room_of = import_module(node.module)
                homes = {*room_of.__homes__, *room_of.__all__}
                found += [f"{node.module}.{a.name}" for a in node.names if a.name not in homes]
            elif room(PACKAGE / node.module.removeprefix("reidbn.").replace(".", "/")) in rooms:
                found.append(node.module)
        elif isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name.startswith("reidbn.")]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = re.findall(r"\breidbn\.(\w+)\.\w+", node.value)
            found += [f"reidbn.{name}. in a string" for name in names if name in rooms]
    return found


@pytest.mark.parametrize("path", TESTS + BENCHMARKS, ids=lambda p: p.name)
def test_tests_and_benchmarks_know_the_package_by_its_faces(path):
    if path.name != Path(__file__).name:
        assert deep(path) == [], "name it on the face of its room, reidbn/ROOM/__init__.py"


def test_no_class_name_stands_twice():
    names = Counter(
        node.name
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down_only(path):
    here = room(path)
    if here in {"__init__", "__main__"}:
        return
    above = ROOMS[ROOMS.index(here) + 1 :]
    assert not imports(path) & set(above)


@pytest.mark.parametrize("path", MODULES + TESTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_stays_under_600_lines(path):
    assert len(path.read_text().splitlines()) <= 600


def test_only_the_bridge_knows_pgmpy():
    knows = [p.name for p in MODULES if re.search(r"^\s*(from|import) pgmpy", p.read_text(), re.M)]
    assert set(knows) <= {"pgmpy_bridge.py"}


def test_every_citation_is_in_the_references():
    listed = set(
        re.findall(
            r"^- \[([A-Za-z]+\d\d|KAnonCourse)\]",
            (ROOT / "models" / "REFERENCES.md").read_text(),
            re.M,
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


def test_only_files_with_a_purpose_stand_in_the_package():
    """Whatever lies in the folder ships in the wheel: an editor's copy would, too."""
    known = {".py", ".html", ".js", ".css", ".json", ".yaml"}
    strays = {
        str(path.relative_to(ROOT))
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        if path.suffix not in known and path.name != "py.typed"
    }
    assert strays == set()
