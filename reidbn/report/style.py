"""How every picture looks and is written: colours, a figure, SVG that a page can hold.

Pictures stand on their own figure, without matplotlib's global state; the colours are told apart by
colour-blind readers, and the same picture is the same bytes every time.
"""

from __future__ import annotations

import hashlib
import io
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reidbn.errors import UsageError
from reidbn.release.writing import whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, INK, LINE = "#0072B2", "#D55E00", "#222222", "#777777"
SERIES = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLE: Any = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "reidbn",
    "svg.fonttype": "none",
}
KINDS = (".svg", ".png", ".pdf")
_UNDATED: dict[str, Any] = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}}


@cache
def _shown_in_notebooks() -> type[Figure]:
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that shows itself in a notebook as the SVG that a page would hold."""

        def _repr_svg_(self) -> str:
            return svg_text(self)

    return Picture


def blank(width: float, height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """An empty picture with axes side by side; sizes in inches."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        made = _shown_in_notebooks()(figsize=(width, height), layout="constrained")
        return made, [made.add_subplot(1, columns, i + 1) for i in range(columns)]


def titled(axes: Axes, title: str, **more: Any) -> None:
    """A title above the left edge."""
    axes.set_title(title, loc="left", fontsize=10, **more)


def save(figure: Figure, path: str | Path | None, *, of_people: bool = False) -> Figure:
    """Write the figure when a path is given; the same figure gives the same bytes."""
    if path is None:
        return figure
    from matplotlib import rc_context

    place = Path(path)
    kind = place.suffix.lower()
    if kind not in KINDS:
        raise UsageError(f"{place.name}: name a file such as .svg, .png or .pdf")
    with rc_context(STYLE), whole(place, of_people=of_people) as made:
        figure.savefig(made, dpi=150, format=kind[1:], metadata=_UNDATED.get(kind[1:]))
    return figure


def svg_text(figure: Figure) -> str:
    """The figure as the text of an SVG file."""
    from matplotlib import rc_context

    out = io.StringIO()
    with rc_context(STYLE):
        figure.savefig(out, format="svg", metadata=_UNDATED["svg"])
    return out.getvalue()


def svg_of(figure: Figure, title: str, description: str) -> str:
    """The figure as an SVG element that a screen reader can name."""
    return inline(svg_text(figure), title, description)


def inline(svg: str, title: str, description: str = "") -> str:
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
