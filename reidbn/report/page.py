"""A report as sections of sentences, lists, figures and tables; written as HTML or Markdown.

The HTML is one file without any outside part, the same bytes for the same result: figures are
inline SVG with a name and a description, and every figure has its table.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from reidbn.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NUMBERLESS = ("-", "suppressed", "never", "not seen", "not told", "under 10")
SAFE, UNSAFE = "#2a9d8f", "#c1440e"


@dataclass(frozen=True)
class Shown:
    """A figure (or none) and the table under it."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    svg: str = ""

    def is_text(self, column: int) -> bool:
        """Columns of words stand to the left, columns of numbers to the right."""
        numbers = [_is_number(str(row[column])) for row in self.rows]
        return sum(numbers) * 2 < len(numbers)


@dataclass(frozen=True)
class Section:
    """A part of the report."""

    title: str
    text: Sequence[str] = ()
    bullets: Sequence[str] = ()
    shown: Sequence[Shown] = ()
    details: Sequence[Shown] = ()
    """Long tables that open on a click."""


@dataclass(frozen=True)
class Page:
    """The whole report."""

    title: str
    colour: str
    verdict: Sequence[str]
    sections: Sequence[Section] = field(default_factory=tuple)


def _is_number(cell: str) -> bool:
    """A number, what stands for one, or a bound on one."""
    return cell[:1].isdigit() or cell in NUMBERLESS or cell.startswith(("below ", "up to "))


def html(page: Page) -> str:
    """The page as one self-contained HTML file."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("reidbn.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return templates.get_template("page.html").render(page=page)


def markdown(page: Page) -> str:
    """The page as Markdown; figures are left out, their tables stay."""
    lines = [f"# {page.title}", ""]
    lines += [f"> {sentence}" for sentence in page.verdict]
    for number, section in enumerate(page.sections, start=1):
        lines += ["", f"## {number}. {section.title}", ""]
        lines += [f"{sentence}\n" for sentence in section.text]
        lines += [f"- {bullet}" for bullet in section.bullets]
        for shown in (*section.shown, *section.details):
            lines += ["", f"**{shown.caption}**", ""]
            lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in (shown.heads,)]
            lines += ["|" + "---|" * len(shown.heads)]
            lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in shown.rows]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def write(text: str, path: str | Path) -> Path:
    """Write a page."""
    if not isinstance(path, str | PathLike):
        raise UsageError("path is the path of a file")
    place = Path(path)
    try:
        place.write_text(text, encoding="utf-8", newline="\n")
    except OSError as problem:
        raise UsageError(f"{place}: cannot be written: {problem.strerror}") from None
    return place


def svg_of(figure: Figure, title: str, description: str) -> str:
    """The figure as an SVG element that a screen reader can name."""
    from matplotlib import rc_context

    out = io.StringIO()
    with rc_context({"svg.hashsalt": "reidbn", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return inline(out.getvalue(), title, description)


def inline(svg: str, title: str, description: str) -> str:
    """An SVG file as an element of a page: named, described, with ids of its own."""
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    own = "f" + hashlib.sha256(title.encode()).hexdigest()[:8]
    svg = re.sub(r'(\bid="|url\(#|href="#|aria-labelledby=")', rf"\g<1>{own}-", svg)
    head, rest = svg.split(">", 1)
    head = re.sub(r'\s(role|aria-label|aria-labelledby|width|height)="[^"]*"', "", head)
    rest = re.sub(r"\s*<(title|desc)\b[^>]*>.*?</\1>", "", rest, count=2, flags=re.DOTALL)
    named = (
        f'{head} role="img" aria-labelledby="{own}-title {own}-desc">'
        f'<title id="{own}-title">{escape(title)}</title>'
        f'<desc id="{own}-desc">{escape(description)}</desc>'
    )
    return named + rest
