"""A picture as a list of shapes, written as SVG or painted as PNG; the same bytes every time."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle, its corners rounded when `radius` is above 0."""

    x: float
    y: float
    width: float
    height: float
    fill: str = "none"
    stroke: str = "none"
    line: float = 1.0
    radius: float = 0.0
    dashed: bool = False


@dataclass(frozen=True)
class Words:
    """A line of text; y is its baseline, x its start, middle or end."""

    x: float
    y: float
    text: str
    size: float = 12.0
    fill: str = "#1f2937"
    bold: bool = False
    slanted: bool = False
    anchor: str = "start"


@dataclass(frozen=True)
class Arrow:
    """Straight pieces and bends in turn, with a head at the end, which points down."""

    points: tuple[Point, ...]
    stroke: str = "#475569"
    line: float = 1.4
    dashed: bool = False


Shape = Box | Words | Arrow
_HEAD = 8.0  # length of an arrow's head


@dataclass(frozen=True)
class Scene:
    """Shapes on a white sheet, with the words that a screen reader speaks."""

    width: float
    height: float
    shapes: Sequence[Shape]
    title: str
    description: str
    key: str  # makes the identifiers in the SVG unique in a page of several pictures

    def svg(self) -> str:
        """The picture as a self-contained SVG text."""
        w, h = _n(self.width), _n(self.height)
        ids = f"reidbn-{self.key}-title reidbn-{self.key}-desc"
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" '
            f'height="{h}" role="img" aria-labelledby="{ids}" font-family="{FONT}">',
            f'<title id="reidbn-{self.key}-title">{escape(self.title)}</title>',
            f'<desc id="reidbn-{self.key}-desc">{escape(self.description)}</desc>',
            f'<rect width="{w}" height="{h}" fill="#ffffff"/>',
        ]
        for shape in self.shapes:
            lines += _svg_shape(shape)
        return "\n".join([*lines, "</svg>"]) + "\n"

    def png(self, scale: float = 2.0) -> bytes:
        """The picture as PNG, painted by matplotlib; `scale` 2 is for sharp screens."""
        from matplotlib.figure import Figure

        from reidbn.report.painting import paint

        figure = Figure(figsize=(self.width / 100, self.height / 100), dpi=100 * scale)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, self.width)
        axes.set_ylim(self.height, 0)
        axes.axis("off")
        paint(axes, self.shapes)
        out = io.BytesIO()
        figure.savefig(out, format="png", metadata={"Software": None, "Title": self.title})
        return out.getvalue()


def _svg_shape(shape: Shape) -> list[str]:
    if isinstance(shape, Box):
        dashes = ' stroke-dasharray="5 3"' if shape.dashed else ""
        return [
            f'<rect x="{_n(shape.x)}" y="{_n(shape.y)}" width="{_n(shape.width)}" '
            f'height="{_n(shape.height)}" rx="{_n(shape.radius)}" fill="{shape.fill}" '
            f'stroke="{shape.stroke}" stroke-width="{_n(shape.line)}"{dashes}/>'
        ]
    if isinstance(shape, Words):
        weight = ' font-weight="bold"' if shape.bold else ""
        slant = ' font-style="italic"' if shape.slanted else ""
        anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
        return [
            f'<text x="{_n(shape.x)}" y="{_n(shape.y)}" font-size="{_n(shape.size)}" '
            f'fill="{shape.fill}"{weight}{slant}{anchor}>{escape(shape.text)}</text>'
        ]
    dashes = ' stroke-dasharray="5 3"' if shape.dashed else ""
    path = " ".join(f"{c}{' '.join(f'{_n(x)} {_n(y)}' for x, y in p)}" for c, p in pieces(shape))
    head = " ".join(f"{_n(x)},{_n(y)}" for x, y in arrow_head(shape))
    return [
        f'<path d="{path}" fill="none" stroke="{shape.stroke}" '
        f'stroke-width="{_n(shape.line)}"{dashes}/>',
        f'<polygon points="{head}" fill="{shape.stroke}"/>',
    ]


def pieces(arrow: Arrow) -> list[tuple[str, list[Point]]]:
    """The arrow's line as path commands: straight within a row, a bend between two rows."""
    points = list(arrow.points)
    points[-1] = (points[-1][0], points[-1][1] - _HEAD + 1)  # the head covers the rest
    found: list[tuple[str, list[Point]]] = [("M", [points[0]])]
    for i in range(1, len(points)):
        (x1, y1), (x2, y2) = points[i - 1], points[i]
        if i % 2:
            found.append(("L", [(x2, y2)]))
        else:
            middle = (y1 + y2) / 2
            found.append(("C", [(x1, middle), (x2, middle), (x2, y2)]))
    return found


def arrow_head(arrow: Arrow) -> list[Point]:
    x, y = arrow.points[-1]
    return [(x, y), (x - 4, y - _HEAD), (x + 4, y - _HEAD)]


def _n(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
