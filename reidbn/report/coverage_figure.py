"""The picture of coverage: threats down, models across."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reidbn.attack.coverage import EXCLUDED, MODELLED, Coverage
from reidbn.attack.threats import FRAMEWORKS
from reidbn.report.style import BLUE, INK, LINE, ORANGE, blank, save, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {"linddun": "LINDDUN", "wp216": "WP216", "five_safes": "Five safes"}


def draw_coverage(coverage: Coverage, path: str | Path | None = None) -> Figure:
    """A square per threat and model: filled where a node models it, hollow where it is excluded."""
    rows = list(coverage.grid().items())
    figure, (axes,) = blank(3.0 + 0.32 * len(coverage.models), 1.8 + 0.3 * len(rows))
    for y, (_, row) in enumerate(reversed(rows)):
        for x, model in enumerate(coverage.models):
            status = row[model].status
            look: dict[str, Any] = {"marker": "s", "s": 90, "linewidths": 1.2}
            if status == MODELLED:
                axes.scatter([x], [y], color=BLUE, **look)
            elif status == EXCLUDED:
                axes.scatter([x], [y], facecolors="none", edgecolors=ORANGE, **look)
            else:
                axes.scatter([x], [y], color=LINE, marker=".", s=8)
    axes.set_yticks(range(len(rows)), [name for (_, name), _ in reversed(rows)])
    axes.set_xticks(range(len(coverage.models)), coverage.models, rotation=60, ha="right")
    axes.set_xlim(-0.7, len(coverage.models) - 0.3)
    axes.set_ylim(-0.7, len(rows) - 0.3)
    borders = [i for i in range(1, len(rows)) if rows[i][0][0] != rows[i - 1][0][0]]
    for border in borders:
        axes.axhline(len(rows) - border - 0.5, color=LINE, linewidth=0.8)
    told = [framework for framework in FRAMEWORKS if any(f == framework for (f, _), _ in rows)]
    titled(axes, f"Threats that are modelled: {', '.join(_TITLES[f] for f in told)}")
    figure.supxlabel(
        "filled: by a node; hollow: excluded, with a reason; dot: neither",
        x=0.01, ha="left", fontsize=7, color=INK,
    )  # fmt: skip
    return save(figure, path)
