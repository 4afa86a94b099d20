"""Make the documentation as plain pages that open from disk: docs/build.py [FOLDER].

docs/build.py --class FOLDER makes the teacher's page of docs/class.md for a USB stick.

Every page of docs/, the README as the front, the lessons, and a reference from the docstrings of
all public names.  Strict: a link to a file or a heading that is not there ends it.  It reads
nothing from any network, and the pages load nothing.
"""

from __future__ import annotations

import inspect
import posixpath
import re
import shutil
import sys
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

from markdown_it import MarkdownIt

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
LESSONS = HERE / "lessons"
_PRE = '<pre tabindex="0">'  # what scrolls is reached by keyboard
FRONT = "README.md"
# In the order of the menu: what it is for, then the files of docs/.
MENU = {
    "Start": ["README.md", "docs/tutorial.md", "docs/which-columns.md", "docs/which-rule.md",
              "docs/which-scenario.md", "docs/how-to.md", "docs/sent-a-page.md", "docs/limits.md",
              "docs/lessons.md", "docs/class.md"],
    "A table": ["docs/data.md", "docs/assessment.md", "docs/results.md", "docs/subsets.md",
                "docs/population.md", "docs/recommend.md",
                "docs/recommend-attacker.md"],
    "Attacks": ["docs/leak.md", "docs/disclosure.md", "docs/linkage.md", "docs/families.md",
                "docs/record-network.md"],
    "Models": ["docs/model-files.md", "docs/models.md", "docs/what-if.md", "docs/decide.md",
               "docs/pictures-and-exchange.md"],
    "How we know": ["docs/how-we-know.md", "docs/mathematics.md", "docs/truth-check.md",
                    "docs/reproduction-xia.md", "docs/reproduction-popat.md",
                    "docs/reproduction-small.md", "ARCHITECTURE.md", "models/REFERENCES.md",
                    "CHANGELOG.md"],
}  # fmt: skip
STYLE = """
body { margin: 0; font: 16px/1.55 system-ui, sans-serif;
  display: grid; grid-template-columns: 15rem minmax(0, 50rem); gap: 2.5rem; padding: 0 1.2rem }
nav { grid-area: 1 / 1 } main { grid-area: 1 / 2 } .to-menu { display: none }
nav { font-size: .88rem; padding: 1.6rem 0; position: sticky; top: 0; align-self: start;
  max-height: 100vh; overflow-y: auto; box-sizing: border-box }
nav h2 { font-size: .8rem; color: var(--quiet); margin: 1rem 0 .2rem; font-weight: 600 }
nav ul { list-style: none; margin: 0; padding: 0 } nav li { margin: .1rem 0 }
nav [aria-current] { font-weight: 600; color: var(--ink); text-decoration: none }
main { padding: 1rem 0 4rem; overflow-wrap: anywhere }
h1 { line-height: 1.25 } h2 { margin-top: 2.2rem } img { max-width: 100%; height: auto }
pre { overflow-x: auto; background: var(--wash); padding: .7rem .9rem; font-size: .85rem;
  border-left: 3px solid #5b7c99 }
code { font-size: .9em } table { border-collapse: collapse;
  font-size: .88rem } th, td { text-align: left; vertical-align: top; padding: .25rem .8rem
  .25rem 0;   border-bottom: 1px solid var(--line); overflow-wrap: normal }
@media (max-width: 52rem) { body { display: block } nav { position: static; max-height: none }
  pre { white-space: pre-wrap } th, td { font-size: .8rem; padding-right: .5rem }
  td code, td a { overflow-wrap: anywhere }
  .to-menu { display: inline-block; margin-top: 1rem } }
body:has(.alone) { display: block; max-width: 54rem; margin: 0 auto }
.alone pre { white-space: pre-wrap; overflow-wrap: anywhere }
@media print { nav, .to-menu { display: none } body { display: block } }
"""


class Site:
    """The pages on their way: their headings, and every link that has to lead somewhere."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bodies: dict[str, tuple[str, str]] = {}
        self.anchors: dict[str, set[str]] = {}
        self.links: list[tuple[str, str]] = []
        self.files: set[str] = set()
        self.words = MarkdownIt("commonmark", {"html": True}).enable("table")

    def add(self, name: str, text: str) -> None:
        """A page from Markdown; `name` is the file's place from the root of the project."""
        tokens, slugs = self.words.parse(text), set()
        title = ""
        for i, token in enumerate(tokens):
            if token.type == "heading_open":
                said = _plain(tokens[i + 1])
                title = title or said
                token.attrs["id"] = slug = _slug(said, slugs)
                slugs.add(slug)
            for child in token.children or ():
                for key in ("href", "src"):
                    if key in child.attrs:
                        child.attrs[key] = self._link(name, str(child.attrs[key]))
        body = self.words.renderer.render(tokens, self.words.options, {})
        body = body.replace("\n\n</code></pre>", "\n</code></pre>").replace("<pre>", _PRE)
        parts = body.split("<table>")
        body = parts[0] + "".join(
            f'<div class="wide" role="region" tabindex="0" aria-label="Table {i}"><table>{part}'
            for i, part in enumerate(parts[1:], start=1)
        )
        self.anchors[name] = slugs
        self.bodies[name] = title, body.replace("</table>", "</table></div>")

    def _link(self, name: str, target: str) -> str:
        """Where a link leads among the pages; what it needs is noted."""
        if re.match(r"[a-z]+:", target):
            return target
        path, hash_, anchor = target.partition("#")
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        self.links.append((name, f"{wanted}#{anchor}" if hash_ else wanted))
        if wanted not in _pages():
            self.files.add(wanted)
        return _relative(name, wanted) + (f"#{anchor}" if hash_ else "")

    def problems(self) -> list[str]:
        """Links that lead nowhere."""
        found = []
        for name, target in self.links:
            path, _, anchor = target.partition("#")
            if path in self.bodies:
                if anchor and anchor not in self.anchors[path]:
                    found.append(f"{name}: {path} has no heading #{anchor}")
            elif not (ROOT / path).exists():
                found.append(f"{name}: {path} is not there")
        return found

    def write(self) -> None:
        """All pages, and the files that they lead to."""
        for name, (title, body) in self.bodies.items():
            place = self.folder / _html(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(self._page(name, title, body), encoding="utf-8", newline="\n")
        for name in sorted(self.files):
            source, place = ROOT / name, self.folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, place, dirs_exist_ok=True,
                                ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
            elif source.parent == LESSONS:
                _lesson(source, place, "../lessons.html", "all lessons")
            else:
                shutil.copyfile(source, place)

    def _page(self, name: str, title: str, body: str) -> str:
        rooms = [n for n in self.bodies if n.startswith("reference/")]  # rb itself first
        menu = "".join(
            f"<h2>{escape(head)}</h2><ul>"
            + "".join(f"<li>{self._item(name, one)}</li>" for one in names)
            + "</ul>"
            for head, names in {**MENU, "Reference": rooms}.items()
        )
        return _framed(
            title,
            f'<main>\n<a class="to-menu" href="#pages">All pages</a>\n{body}</main>\n'
            f'<nav id="pages" aria-label="Pages">{menu}</nav>',
        )

    def _item(self, name: str, other: str) -> str:
        here = ' aria-current="page"' if other == name else ""
        title = self.bodies[other][0].partition(":")[0].partition("?")[0]
        return f'<a href="{_relative(name, other)}"{here}>{escape(title)}</a>'


def _framed(title: str, body: str) -> str:
    """A page that loads nothing but its pictures."""
    from reidbn.report import paper

    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data: file:"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{paper()}{STYLE}</style></head><body>\n"
        f"{body}</body></html>\n"
    )


def _pages() -> set[str]:
    return {name for names in MENU.values() for name in names}


def _html(name: str) -> str:
    return "index.html" if name == FRONT else re.sub(r"\.md$", ".html", name)


def _relative(name: str, target: str) -> str:
    to = _html(target) if target in _pages() or target.startswith("reference/") else target
    return posixpath.relpath(to, posixpath.dirname(_html(name)) or ".")


def _plain(token: Any) -> str:
    return "".join(c.content for c in token.children or () if c.type in ("text", "code_inline"))


def _slug(text: str, taken: set[str]) -> str:
    """The anchor of a heading, as code hosts make it."""
    slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    return next(s for s in (slug, *(f"{slug}-{i}" for i in range(1, 99))) if s not in taken)


def reference() -> dict[str, str]:
    """A page of Markdown for each room: its public names, their signatures and docstrings."""
    import reidbn as rb

    shown = {name: getattr(rb, name) for name in dir(rb) if name != "__version__"}
    rooms = {name: thing for name, thing in shown.items() if isinstance(thing, ModuleType)}
    top = [_entry(f"rb.{n}", thing) for n, thing in shown.items() if n not in rooms]
    pages = {"reference/rb.md": "\n".join(["# rb", "`import reidbn as rb`.", *top])}
    for name, room in rooms.items():
        parts = [_entry(f"rb.{name}.{n}", getattr(room, n)) for n in dir(room)
                 if not isinstance(getattr(room, n), ModuleType)]  # fmt: skip
        about = (inspect.getdoc(room) or "").partition("\n\n")[0]
        pages[f"reference/{name}.md"] = "\n".join([f"# rb.{name}", escape(about), *parts])
    return pages


def _entry(name: str, thing: Any) -> str:
    try:
        signature = re.sub(r"\breidbn(\.\w+)+\.", "", str(inspect.signature(thing)))
    except (TypeError, ValueError):
        signature = ""
    about = inspect.getdoc(thing) or ""
    lines = (
        [f"\n## {name}\n", f"```\n{name}{signature}\n```\n"] if signature else [f"\n## {name}\n"]
    )
    lines.append(f"```\n{about}\n```\n")
    return "\n".join(lines)


def build(folder: Path) -> list[str]:
    """Write the site; what is wrong with it, and then nothing is written."""
    site = Site(folder)
    for name in sorted(_pages()):
        site.add(name, (ROOT / name).read_text(encoding="utf-8"))
    missing = {p.relative_to(ROOT).as_posix() for p in HERE.glob("*.md")} - _pages()
    for name, text in reference().items():
        site.add(name.replace(".md", ".html"), text)
    problems = [f"{name}: is in no part of the menu" for name in sorted(missing)]
    problems += site.problems()
    if not problems:
        site.write()
    return problems


ON_THE_STICK = """# A class of ninety minutes: what is on this stick

| file | minute |
|---|---|
| [breakfast.html](breakfast.html), the page that answers; hidden at first | 10 to 25 |
| [cards.html](cards.html), to print on A4 and cut | 25 to 45 |
| [adversary-routes.html](adversary-routes.html), the attack of the table | 70 to 85 |
| [report.html](report.html), the report on 2,000 made-up patients | 70 to 90 |
"""


def stick(folder: Path) -> Path:
    """The teacher's page beside the files of the class: what is not on the stick is no link."""
    pages = sorted(LESSONS.glob("*.html"))
    lessons = "\n".join(f"| [{p.name}]({p.name}), to read | afterwards |" for p in pages)
    for page in pages:
        _lesson(page, folder / page.name, "index.html", "the class")
    text = (HERE / "class.md").read_text(encoding="utf-8").partition("\n")[2]
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    site = Site(folder)
    site.add("index.html", f"{ON_THE_STICK}{lessons}\n{text}")
    title, body = site.bodies["index.html"]
    made = folder / "index.html"
    page = _framed(title, f'<main class="alone">\n{body}</main>\n')
    made.write_text(page, encoding="utf-8", newline="\n")
    return made


def _lesson(source: Path, place: Path, back: str, said: str) -> None:
    """The page of a lesson, with a way back."""
    text = source.read_text(encoding="utf-8")
    text = text.replace("<nav>", f'<nav><a href="{back}">{said}</a> \u00b7 ', 1)
    place.write_text(text, encoding="utf-8", newline="\n")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--class"]:
        made = stick(Path(arguments[1]))
        print(f"{made}: copy {made.parent}/ to a USB stick and open {made.name} there")
        return 0
    folder = Path(arguments[0]) if arguments else ROOT / "site"
    problems = build(folder)
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(folder / "index.html")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
