"""Run the lessons.

    python notebooks/run.py write [LESSON ...]    run each lesson and store it with its outputs
    python notebooks/run.py check [LESSON ...]    run each lesson and compare it with its pair

A lesson is a Python file of cells (`# %%`) and, beside it, the same as a notebook with outputs.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LARGEST = 150_000  # bytes of a stored notebook
MOST_CELLS = 40
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def lessons(names: list[str] | None = None) -> list[Path]:
    """All lessons, or those that are named."""
    found = sorted(p for p in HERE.glob("*.py") if p.name != Path(__file__).name)
    wanted = {Path(name).stem for name in names or []}
    unknown = wanted - {p.stem for p in found}
    if unknown:
        sys.exit(f"no lesson {', '.join(sorted(unknown))}; there are "
                 f"{', '.join(p.stem for p in found)}")  # fmt: skip
    return [p for p in found if not wanted or p.stem in wanted]


def read_lesson(path: Path) -> Any:
    """The cells of a Python file as a notebook without outputs."""
    import jupytext

    notebook = jupytext.read(path, fmt="py:percent")
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:02d}"
        cell["metadata"] = {}
    notebook.metadata = {
        "jupytext": {"formats": "ipynb,py:percent"},
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
    }
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def executed(notebook: Any) -> tuple[Any, list[str]]:
    """The notebook with its outputs, and what went wrong."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    problems = []
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=300,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": folder}},
            config=_local(folder),
        )
        try:
            client.execute()
        except CellExecutionError as problem:
            problems.append(
                f"a cell failed: {problem.ename}: {problem.evalue}\n{_cell_of(notebook)}"
            )
    for cell in notebook.cells:
        cell["metadata"] = {}
        if cell.cell_type == "code":
            cell["outputs"] = [_plain(o) for o in cell.outputs if o.get("name") != "stderr"]
    notebook.metadata = {
        "jupytext": {"formats": "ipynb,py:percent"},
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
    }
    return notebook, problems


def _local(folder: str) -> Any:
    """A kernel that is reached through a file, where there are such, and not over the network."""
    from traitlets.config import Config

    if os.name == "nt":
        return Config()
    return Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}})


def _plain(output: Any) -> Any:
    """An output without what differs from run to run."""
    for key in ("text", "data"):
        value = output.get(key)
        if isinstance(value, str):
            output[key] = _ADDRESS.sub("0x...", value)
        elif isinstance(value, dict):
            output[key] = {
                kind: _ADDRESS.sub("0x...", text) if isinstance(text, str) else text
                for kind, text in value.items()
            }
    return output


def _cell_of(notebook: Any) -> str:
    failed = [
        cell.source for cell in notebook.cells
        if any(o.output_type == "error" for o in cell.get("outputs", []))
    ]  # fmt: skip
    return "\n".join(f"    {line}" for line in (failed or [""])[0].splitlines()[:12])


# -- the pair ------------------------------------------------------------------------------------


def stored(path: Path) -> Any:
    """The notebook beside a lesson; None when there is none."""
    import nbformat

    pair = path.with_suffix(".ipynb")
    return nbformat.read(pair, as_version=4) if pair.exists() else None


def differences(path: Path) -> list[str]:
    """What is wrong with the stored pair of a lesson, without running anything."""
    pair = stored(path)
    if pair is None:
        return ["has no notebook beside it; run: make notebooks"]
    problems = []
    ours = [(c.cell_type, c.source) for c in read_lesson(path).cells]
    theirs = [(c.cell_type, c.source) for c in pair.cells]
    if ours != theirs:
        first = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
                     min(len(ours), len(theirs)))  # fmt: skip
        problems.append(f"differs from its notebook from cell {first + 1} on; run: make notebooks")
    code = [c for c in pair.cells if c.cell_type == "code"]
    if any(o.output_type == "error" for c in code for o in c.outputs):
        problems.append("its notebook holds an error")
    if any(c.execution_count is None for c in code):
        problems.append("its notebook has cells that were not run")
    size = path.with_suffix(".ipynb").stat().st_size
    if size > LARGEST:
        problems.append(f"its notebook has {size:,} bytes; at most {LARGEST:,}")
    return problems


def manners(path: Path) -> list[str]:
    """A lesson opens with its question, and ends with exercises; its claims are asserted."""
    cells = read_lesson(path).cells
    problems = []
    if not cells or cells[0].cell_type != "markdown" or "?" not in cells[0].source:
        problems.append("does not open with its question")
    texts = [c.source for c in cells if c.cell_type == "markdown"]
    if not any(re.search(r"^#+ .*exercise", text, re.I | re.M) for text in texts):
        problems.append("has no exercises")
    if not any(re.search(r"^\s*assert ", c.source, re.M) for c in cells if c.cell_type == "code"):
        problems.append("asserts nothing")
    if len(cells) > MOST_CELLS:
        problems.append(f"has {len(cells)} cells; at most {MOST_CELLS}")
    return problems


# -- commands ------------------------------------------------------------------------------------


def write(path: Path) -> list[str]:
    import nbformat

    notebook, problems = executed(read_lesson(path))
    if not problems:
        nbformat.write(notebook, path.with_suffix(".ipynb"))
        problems = differences(path)
    return problems + manners(path)


def check(path: Path) -> list[str]:
    _, problems = executed(read_lesson(path))
    return problems + differences(path) + manners(path)


def main(arguments: list[str]) -> int:
    commands = {"write": write, "check": check}
    if not arguments or arguments[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    failed = 0
    for path in lessons(arguments[1:]):
        start = time.perf_counter()
        problems = commands[arguments[0]](path)
        seconds = time.perf_counter() - start
        print(f"{path.stem}: {'; '.join(problems) or 'good'} ({seconds:.1f} s)", flush=True)
        failed += bool(problems)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
