"""How every picture looks and is written: colours, a figure, SVG that a page can hold.

Pictures stand on their own figure, without matplotlib's global state; the colours are told apart by
colour-blind readers, and the same picture is the same bytes every time.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError
from reidbn.release.writing import whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
BLUE, ORANGE, INK, LINE = "#0072B2", "#D55E00", "#222222", "#777777"
PALE = "#BBD7E8"  # of what lies between two numbers, or was so before
SERIES = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLE: Any = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "reidbn",
    "svg.fonttype": "none",
}
WIDE = 4.7  # inches: letters of nine points stay readable on a telephone of 400 pixels
KINDS = (".svg", ".png", ".pdf")
_UNDATED: dict[str, Any] = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}}


class Assumable(Protocol):
    """A row that may stand on an assumption."""

    @property
    def is_assumption(self) -> bool: ...


@cache
def paper() -> str:
    """The style sheet that all written pages begin with: colours by day and by night."""
    return files("reidbn.report").joinpath("templates/paper.css").read_text(encoding="utf-8")


@cache
def _shown_in_notebooks() -> type[Figure]:
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that shows itself in a notebook as the SVG that a page would hold."""

        def _repr_svg_(self) -> str:
            return svg_text(self)

    return Picture


def blank(
    width: float, height: float, columns: int = 1, rows: int = 1
) -> tuple[Figure, list[Axes]]:
    """An empty picture with axes side by side, row by row; sizes in inches."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        made = _shown_in_notebooks()(figsize=(width, height), layout="constrained")
        every = [made.add_subplot(rows, columns, i + 1) for i in range(rows * columns)]
        for axes in every:  # 0.0025 and its neighbours stand apart
            axes.locator_params(axis="x", nbins=6)
        return made, every


def ramp(number: int) -> list[Any]:
    """Colours for ordered values, the least the lightest."""
    from matplotlib import colormaps

    return [colormaps["Blues"](0.6 + 0.4 * i / max(number - 1, 1)) for i in range(number)]


def end_labels(axes: Axes, named: Sequence[tuple[str, float, Any]]) -> None:
    """Names and colours beside the right ends of lines that end at these heights, kept apart."""
    there, edge = axes.transScale + axes.transLimits, axes.get_xlim()[1]
    places: list[float] = []
    ends = sorted(named, key=lambda end: end[1])
    for _, y, _ in ends:
        at = float(there.transform((edge, y))[1])
        places.append(max(at, places[-1] + 0.065) if places else at)
    beyond = max(0.0, places[-1] - 1.0) if places else 0.0
    for (name, _, colour), at in zip(ends, places, strict=True):
        axes.annotate(name, (1, at - beyond), xycoords="axes fraction", xytext=(4, 0), va="center",
                      textcoords="offset points", fontsize=8, color=colour)  # fmt: skip


def names_on_lines(axes: Axes, lines: Sequence[tuple[str, Array, Array, Any]]) -> None:
    """Every name above its line, where it is furthest from the others: name, x, y, colour.

    Not far out along the floor, where a line that has fallen says nothing, and beside upright lines
    where there is room.
    """
    axes.get_xlim(), axes.get_ylim()  # settles limits that follow the data
    there, grid = axes.transScale + axes.transLimits, np.linspace(0.0, 1.0, 201)
    drawn = [there.transform(np.column_stack([x, y])) for _, x, y, _ in lines]
    heights = [np.interp(grid, at[:, 0], at[:, 1]) for at in drawn]
    taken: list[tuple[float, float, float]] = []
    ends = [np.asarray(line.get_xdata(), dtype=float) for line in axes.lines]
    uprights = [float(there.transform((x[0], 0.0))[0]) for x in ends
                if len(x) == 2 and x[0] == x[1]]  # fmt: skip
    for i, (name, _, _, colour) in enumerate(lines):
        wide, best = 0.024 * max(map(len, name.splitlines())), (-np.inf, 0.0, 0.0)
        fallen = float(grid[np.flatnonzero(heights[i] > heights[i].min() + 0.01).max(initial=0)])
        for x in np.linspace(0.02, 0.98 - wide, 40):
            over = (grid >= x - 0.01) & (grid <= x + wide)
            y = float(heights[i][over].max()) + 0.015
            gaps = [float(np.abs(h[over] - y - 0.03).min())
                    for j, h in enumerate(heights) if j != i]  # fmt: skip
            gaps += [abs(y - v) - (0.05 if abs(y - v) >= 0.05 else 1.0)  # else one over the other
                     for u, v, w in taken if x < u + w and u < x + wide]  # fmt: skip
            slope = float(np.ptp(heights[i][over])) + max(0.0, y - 0.96)
            far = 0.1 * max(0.0, float(x) - fallen)
            far += 0.1 * any(x - 0.01 <= at <= x + wide for at in uprights)
            best = max(best, (min([0.12, *gaps]) - slope - far, float(x), y))
        taken.append((best[1], best[2], wide))
        axes.annotate(name, best[1:], xycoords="axes fraction", fontsize=8.5, color=colour,
                      va="bottom", fontweight="bold")  # fmt: skip


def said_below(axes: Axes, text: str) -> None:
    """What colours mean, in one line under the picture."""
    figure: Any = axes.figure
    lines = [line for part in text.splitlines() for line in wrap(part, _letters(axes))]
    figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=8, color=INK)


def measured_in(axes: Axes, text: str) -> None:
    """What stands along the axis below, in as many lines as the picture's width asks for."""
    axes.set_xlabel("\n".join(wrap(text, _letters(axes) - 14)))


def _letters(axes: Axes) -> int:
    """How many letters of a line fit the width of a picture."""
    figure: Any = axes.figure
    return int(16 * figure.get_figwidth())


def used_by(axes: Axes, levels: Sequence[float], users: Mapping[float, str]) -> None:
    """Upright lines at levels, each with its number and who uses it."""
    for level in levels:
        axes.axvline(level, color=LINE, lw=0.7)
        said = f"{level:g} {users.get(level, '')}".strip()
        axes.annotate(said, (level, 1), xycoords=("data", "axes fraction"), xytext=(1, 3),
                      textcoords="offset points", ha="left", va="bottom", fontsize=8, color=INK,
                      rotation=40, rotation_mode="anchor")  # fmt: skip


def threshold_line(axes: Axes, at: float, *, across: bool = False, height: float = 1.0) -> None:
    """A dashed line at a threshold, with its number: upright, or across from the left edge."""
    where = (0, at) if across else (at, height)
    (axes.axhline if across else axes.axvline)(at, color=LINE, linewidth=1, linestyle="--")
    axes.annotate(f"threshold {at:g}", where, va="bottom", fontsize=8, color=INK,
                  xycoords=("axes fraction", "data") if across else ("data", "axes fraction"),
                  ha="center" if height == 1 and not across else "left")  # fmt: skip


def starred(label: str, of: Assumable) -> str:
    """A label, with a star where it is of an assumption; `stars` says so under the picture."""
    return f"{label} *" if of.is_assumption else label


def stars(rows: Iterable[Assumable]) -> str:
    """What a star means, where a row has one."""
    return "; * assumption" if any(row.is_assumption for row in rows) else ""


def titled(axes: Axes, title: str, **more: Any) -> None:
    """A title above the left edge, in as many lines as the picture's width asks for.

    A picture of one pair of axes has it above all, from where their labels begin.
    """
    figure: Any = axes.figure
    width = int(10 * figure.get_figwidth())
    title = "\n".join(line for part in title.splitlines() for line in wrap(part, width))
    if len(figure.axes) == 1 and not more:
        figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    else:
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
    out = io.BytesIO()  # a PDF that the disk refuses to take ends in an error of its writer's own
    with rc_context(STYLE):
        figure.savefig(out, dpi=150, format=kind[1:], metadata=_UNDATED.get(kind[1:]))
    with whole(place, of_people=of_people) as made:
        made.write_bytes(out.getvalue())
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
