"""Run the lessons.

    python notebooks/run.py write [LESSON ...]    run each lesson and store it with its outputs
    python notebooks/run.py check [LESSON ...]    run each lesson; what it says is compared
    python notebooks/run.py render [LESSON ...]   make the page of each stored lesson anew
    python notebooks/run.py copy [LESSON ...]     copies to work in, without outputs, in lessons/

A lesson is a Python file of cells (`# %%`), beside it the same as a notebook with outputs, and in
docs/lessons the same as a page that opens anywhere, without a server and without a network.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
import zlib
from math import isclose
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LARGEST = 150_000  # bytes of a stored notebook
MOST_CELLS = 40
PARTS = {
    "Predict": "has nothing to predict",
    "Reflect": "has nothing to reflect on",
    "Exercises": "has no exercises",
}
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")


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
            said = [_plain(o) for o in cell.outputs if o.get("name") != "stderr"]
            cell["outputs"] = _joined(said)
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


def _joined(outputs: list[Any]) -> list[Any]:
    """What is printed in one go is one output, however it arrived."""
    found: list[Any] = []
    for output in outputs:
        if found and output.output_type == found[-1].output_type == "stream":
            found[-1]["text"] += output["text"]
        else:
            found.append(output)
    return found


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
    folder = pages()
    page = None if folder is None else folder / f"{path.stem}.html"
    if page and (not page.exists() or page.read_text(encoding="utf-8") != page_of(path)):
        problems.append("its page in docs/lessons is of another run; run: make notebooks")
    size = path.with_suffix(".ipynb").stat().st_size
    if size > LARGEST:
        problems.append(f"its notebook has {size:,} bytes; at most {LARGEST:,}")
    return problems


def manners(path: Path) -> list[str]:
    """A lesson opens with its question, has its parts, and asserts its claims."""
    cells = read_lesson(path).cells
    problems = []
    if not cells or cells[0].cell_type != "markdown" or "?" not in cells[0].source:
        problems.append("does not open with its question")
    texts = "\n".join(c.source for c in cells if c.cell_type == "markdown")
    for title, problem in PARTS.items():
        if not re.search(rf"^## {title}\b", texts, re.M):
            problems.append(problem)
    if not cells or "rb.lesson.check(" not in cells[-1].source:
        problems.append("does not end with rb.lesson.check")
    if not any(re.search(r"^\s*assert ", c.source, re.M) for c in cells if c.cell_type == "code"):
        problems.append("asserts nothing")
    if len(cells) > MOST_CELLS:
        problems.append(f"has {len(cells)} cells; at most {MOST_CELLS}")
    return problems


# -- the page ------------------------------------------------------------------------------------


def pages() -> Path | None:
    """Where the pages are kept; None where lessons stand by themselves."""
    folder = HERE.parent / "docs" / "lessons"
    return folder if folder.is_dir() else None


STYLE = """
body { max-width: 54rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif }
h1 { line-height: 1.2 } main > p, main > ul, main > ol { max-width: 46rem }
@media (max-width: 54rem) { pre { white-space: pre-wrap; overflow-wrap: anywhere } }
pre { overflow-x: auto; font-size: .85rem; padding: .6rem .8rem; border-radius: 4px;
  margin: .4rem 0 }
pre.code { background: var(--wash); border-left: 3px solid #5b7c99 }
pre.said { border: 1px solid var(--line); white-space: pre-wrap }
pre.columns { white-space: pre; width: max-content; margin: 0 }
div.said { margin: .4rem 0 } div.said svg { height: auto }
table { border-collapse: collapse; font-size: .85rem; border: 0 } th, td { padding: .15rem .5rem;
  text-align: right; border: 0; border-bottom: 1px solid var(--line) } nav { font-size: .9rem }
@media print { pre, pre.columns { white-space: pre-wrap; width: auto; break-inside: avoid }
  nav { display: none } }
"""


_COLUMNS = re.compile(r"\S {3,}\S.*\n.*\S {3,}\S")
"""Two lines that hold columns."""


def page_of(path: Path) -> str:
    """The stored lesson as one HTML page that loads nothing."""
    from html import escape

    from markdown_it import MarkdownIt

    from reidbn.report import paper

    words = MarkdownIt("commonmark", {"html": False}).enable("table")
    cells = stored(path).cells
    title = cells[0].source.splitlines()[0].lstrip("# ")
    parts = []
    for cell in cells:
        if cell.cell_type == "markdown":
            parts.append(words.render(cell.source))
            continue
        parts.append(f'<pre class="code" tabindex="0">{escape(cell.source)}</pre>')
        shown = (_shown(out, f"Output {i}") for i, out in enumerate(cell.outputs, len(parts)))
        parts += shown
    links = " · ".join(
        f'<a href="{p.stem}.html">{p.stem.replace("_", " ")}</a>' for p in lessons() if p != path
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{paper()}{STYLE}</style></head><body>\n"
        f"<nav>{links}</nav>\n<main>\n" + "\n".join(parts) + "\n</main></body></html>\n"
    )


def _shown(output: Any, name: str) -> str:
    """An output in the richest of its forms that a page can hold; `name` is what it is read as."""
    from html import escape

    found = output.get("data", {})
    for kind in ("image/svg+xml", "text/html"):
        if kind in found:
            text = re.sub(r"<style.*?</style>", "", found[kind], flags=re.DOTALL)
            text = _own_ids(re.sub(r"^(<[?!][^>]*>\s*)+", "", text).strip())
            return f'<div class="said" role="region" tabindex="0" aria-label="{name}">{text}</div>'
    if "image/png" in found:
        return f'<img alt="" src="data:image/png;base64,{found["image/png"].strip()}">'
    said = output.get("text") or found.get("text/plain", "")
    if _COLUMNS.search(said):  # what stands in columns scrolls, and is not broken
        return (
            f'<div class="said" role="region" tabindex="0" aria-label="{name}">'
            f'<pre class="columns">{escape(said)}</pre></div>'
        )
    return f'<pre class="said">{escape(said)}</pre>'


def _own_ids(text: str) -> str:
    """Identifiers of a picture, kept apart from those of the other pictures of the page."""
    own = f"o{zlib.crc32(text.encode()):08x}-"
    text = re.sub(r'\bid="|url\(#|href="#', lambda m: m[0] + own, text)
    return re.sub(r'(aria-labelledby=")([^"]*)',
                  lambda m: m[1] + " ".join(own + name for name in m[2].split()), text)  # fmt: skip


def render(path: Path) -> list[str]:
    """Make the page of a lesson anew."""
    folder = pages()
    if folder is not None:
        text = page_of(path)
        (folder / f"{path.stem}.html").write_text(text, encoding="utf-8", newline="\n")
    return []


def copy(path: Path) -> list[str]:
    """A copy of a lesson to work in; one that is there already is somebody's work, and stays."""
    import nbformat

    place = HERE.parent / "lessons" / f"{path.stem}.ipynb"
    place.parent.mkdir(exist_ok=True)
    if not place.exists():
        nbformat.write(read_lesson(path), place)
    return []


# -- commands ------------------------------------------------------------------------------------


def write(path: Path) -> list[str]:
    import nbformat

    notebook, problems = executed(read_lesson(path))
    if not problems:
        nbformat.write(notebook, path.with_suffix(".ipynb"))
        problems = render(path) + differences(path)
    return problems + manners(path)


def check(path: Path) -> list[str]:
    notebook, problems = executed(read_lesson(path))
    return (problems or moved(path, notebook)) + differences(path) + manners(path)


def moved(path: Path, notebook: Any) -> list[str]:
    """What a lesson says now and its stored pair does not: its numbers are those of other code."""
    pairs = zip(notebook.cells, stored(path).cells, strict=False) if stored(path) else []
    cells = [i for i, (now, then) in enumerate(pairs, 1) if not _alike(_said(now), _said(then))]
    return [f"says other than what is stored in cell {i}; run: make notebooks" for i in cells[:1]]


def _said(cell: Any) -> str:
    """The words and numbers that a cell has put out; a picture is none."""
    found = [o.get("text") or o.get("data", {}).get("text/plain", "")
             for o in cell.get("outputs", [])]  # fmt: skip
    return re.sub(r"\s+|<Figure[^>]*>", " ", " ".join(map(str, found))).strip()


def _alike(now: str, then: str) -> bool:
    """The same words, and numbers that differ by no more than another computer's last digits."""
    ours, theirs = (_NUMBER.split(text) for text in (now, then))
    values = ([float(x) for x in _NUMBER.findall(text)] for text in (now, then))
    near = (isclose(a, b, rel_tol=1e-6) for a, b in zip(*values, strict=False))
    return ours == theirs and all(near)


def main(arguments: list[str]) -> int:
    commands = {"write": write, "check": check, "render": render, "copy": copy}
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
