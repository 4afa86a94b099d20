"""Shapes on matplotlib axes: the only part of a picture that needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon
from matplotlib.path import Path

from reidbn.report.scene import Arrow, Box, Shape, Words, arrow_head, pieces

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CODES = {"M": [Path.MOVETO], "L": [Path.LINETO], "C": [Path.CURVE4] * 3}
_POINT = 0.72  # one unit of the picture is a hundredth of an inch
_ALIGN = {"start": "left", "middle": "center", "end": "right"}


def paint(axes: Axes, shapes: Sequence[Shape]) -> None:
    for order, shape in enumerate(shapes):
        if isinstance(shape, Box):
            _box(axes, shape, order)
        elif isinstance(shape, Words):
            _words(axes, shape, order)
        else:
            _arrow(axes, shape, order)


def _box(axes: Axes, box: Box, order: int) -> None:
    style = f"round,pad=0,rounding_size={box.radius}" if box.radius else "square,pad=0"
    axes.add_patch(
        FancyBboxPatch(
            (box.x, box.y), box.width, box.height, boxstyle=style,
            facecolor=box.fill, edgecolor=box.stroke, linewidth=box.line * _POINT,
            linestyle="--" if box.dashed else "-", zorder=order,
        )
    )  # fmt: skip


def _words(axes: Axes, words: Words, order: int) -> None:
    axes.text(
        words.x, words.y, words.text.replace("$", r"\$"), fontsize=words.size * _POINT,
        color=words.fill, fontweight="bold" if words.bold else "normal",
        fontstyle="italic" if words.slanted else "normal", ha=_ALIGN[words.anchor],
        va="baseline", zorder=order, family="DejaVu Sans",
    )  # fmt: skip


def _arrow(axes: Axes, arrow: Arrow, order: int) -> None:
    found = pieces(arrow)
    path = Path(
        [p for _, points in found for p in points], [c for k, _ in found for c in _CODES[k]]
    )
    axes.add_patch(
        PathPatch(path, facecolor="none", edgecolor=arrow.stroke, linewidth=arrow.line * _POINT,
                  linestyle="--" if arrow.dashed else "-", zorder=order)
    )  # fmt: skip
    axes.add_patch(
        Polygon(arrow_head(arrow), facecolor=arrow.stroke, edgecolor="none", zorder=order)
    )
