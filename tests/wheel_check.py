"""The wheel holds what it must, and runs with its core dependencies alone.

    python tests/wheel_check.py

Builds the wheel, looks inside, installs it into a fresh environment without any extra, and asks a
shipped model there.  Says what failed, and stops with exit code 1.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = {".yaml", ".json", ".html", ".css", ".js", ".typed", ".svg", ".txt", ".j2"}


class Failed(Exception):
    """One check did not pass; its text says which and why."""


def main() -> int:
    start = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="reidbn-wheel-") as folder:
            wheel = build(Path(folder))
            say(f"built {wheel.name} ({wheel.stat().st_size / 1024:.0f} kB)")
            names = look_inside(wheel)
            say(f"it holds {len(names)} files, the models and the schema among them")
            python = install(wheel, Path(folder))
            say("installed with the core dependencies alone")
            run_there(python, Path(folder))
    except Failed as problem:
        print(f"wheel: FAILED: {problem}", file=sys.stderr)  # noqa: T201
        return 1
    say(f"all good in {time.perf_counter() - start:.0f} s")
    return 0


def say(text: str) -> None:
    print(f"wheel: {text}", flush=True)  # noqa: T201


def build(folder: Path) -> Path:
    """The wheel, built by hatchling from this environment, without isolation."""
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        str(folder / "dist"),
    ]
    called(command, "building the wheel", cwd=ROOT)
    wheels = list((folder / "dist").glob("*.whl"))
    if len(wheels) != 1:
        raise Failed(f"the build made {len(wheels)} wheels, not one")
    return wheels[0]


def look_inside(wheel: Path) -> set[str]:
    """Every module and every data file of the package, every model, the schema, the command."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        broken = archive.testzip()
        points = [archive.read(n).decode() for n in names if n.endswith("entry_points.txt")]
    if broken:
        raise Failed(f"{broken} in the wheel is damaged")
    missing = sorted(wanted_files() - names)
    if missing:
        raise Failed(f"the wheel lacks {', '.join(missing[:8])}" + (" ..." if missing[8:] else ""))
    foreign = sorted(n for n in names if not re.match(r"reidbn(/|-[\d.]+\.dist-info/)", n))
    if foreign:
        raise Failed(f"the wheel holds what is not the package: {', '.join(foreign[:8])}")
    if not any("reidbn = reidbn.cli:main" in text for text in points):
        raise Failed("the wheel does not declare the command reidbn")
    return names


def wanted_files() -> set[str]:
    package = [p for p in (ROOT / "reidbn").rglob("*") if p.suffix in DATA | {".py"}]
    wanted = {p.relative_to(ROOT).as_posix() for p in package if "__pycache__" not in p.parts}
    models = [p for p in (ROOT / "models").rglob("*") if p.suffix in (".yaml", ".json")]
    return wanted | {f"reidbn/{p.relative_to(ROOT).as_posix()}" for p in models}


def install(wheel: Path, folder: Path) -> Path:
    """A fresh environment with the wheel and what it requires, at the locked versions."""
    place = folder / "venv"
    try:
        venv.EnvBuilder(with_pip=True).create(place)
    except (subprocess.CalledProcessError, OSError) as problem:
        raise Failed(f"making a fresh environment: {problem}") from None
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    locked = folder / "constraints.txt"
    locked.write_text("\n".join(locked_versions()) + "\n")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-compile",
           "--disable-pip-version-check"]  # fmt: skip
    called([*pip, "--constraint", str(locked), str(wheel)], "installing the wheel")
    return python


def locked_versions() -> list[str]:
    """The lock without its hashes, which pip does not take for constraints."""
    text = (ROOT / "requirements.lock").read_text()
    return re.findall(r"^([A-Za-z0-9_.\-]+==\S+(?: ;[^\\\n]*)?)", text, re.M)


def run_there(python: Path, folder: Path) -> None:
    """Import, list, ask and check, away from the checkout, and with no extra installed."""
    command = python.with_name("reidbn" + python.suffix)
    installed = called([str(python), "-m", "pip", "list", "--format=json",
                        "--disable-pip-version-check"], "listing what is installed")  # fmt: skip
    extras = extra_only() & {normal(d["name"]) for d in json.loads(installed)}
    if extras:
        raise Failed(f"core dependencies alone, yet these extras came along: {sorted(extras)}")
    where = called([str(python), "-c", "import reidbn; print(reidbn.__file__)"], "importing reidbn",
                   cwd=folder)  # fmt: skip
    if not Path(where.strip()).is_relative_to(folder):
        raise Failed(f"the fresh environment imports reidbn from elsewhere: {where.strip()}")
    everything = "import reidbn as rb\nfor name in rb.__homes__: getattr(rb, name)"
    called([str(python), "-c", everything], "importing every public name", cwd=folder)
    say("every public name imports")
    models = json.loads(called([str(command), "models", "--json"], "reidbn models", cwd=folder))
    shipped = sorted(p.stem for p in (ROOT / "models").glob("*.yaml"))
    if sorted(m["name"] for m in models) != shipped:
        raise Failed(f"reidbn models lists {len(models)} models; {len(shipped)} are shipped")
    answer = called([str(command), "ask", "leak-single", "identified=yes", "--json"], "reidbn ask",
                    cwd=folder)  # fmt: skip
    p = json.loads(answer)["probability"]
    if abs(p - 0.1844583686910847) > 1e-12:
        raise Failed(f"reidbn ask leak-single identified=yes answers {p}, not 0.1844583686910847")
    say(f"reidbn ask leak-single identified=yes: {p:.6f}")


def extra_only() -> set[str]:
    """Distributions that only an extra names; what the core needs or brings does not count."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {normal(d) for extra in project["optional-dependencies"].values() for d in extra}
    return named - {normal(d) for d in project["dependencies"]} - {"pyarrow", "markdown-it-py"}


def normal(requirement: str) -> str:
    name = re.match(r"[A-Za-z0-9_.\-]+", requirement)
    return re.sub(r"[-_.]+", "-", name.group(0) if name else "").lower()


def called(command: list[str], what: str, cwd: Path | None = None) -> str:
    """Standard output of a command, or the failure with the end of what it said."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)
    if done.returncode != 0:
        said = "\n    ".join((done.stderr or done.stdout).strip().splitlines()[-12:])
        raise Failed(f"{what} (exit code {done.returncode}):\n    {said}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
