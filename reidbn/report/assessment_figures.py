"""Figures of an assessment: risk by route, before and after, what adds most, options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reidbn.report.style import (
    BLUE,
    INK,
    LINE,
    ORANGE,
    SERIES,
    WIDE,
    blank,
    measured_in,
    names_on_lines,
    said_below,
    starred,
    stars,
    threshold_line,
    titled,
    used_by,
)
from reidbn.report.telling import LEVELS, Telling
from reidbn.report.thresholds import PRESETS
from reidbn.whatif.tornado import Tornado

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Ends = Mapping[str, Sequence[tuple[float, float] | None]]
USERS = {t.value: t.name for t in reversed(PRESETS.values())}  # of several the first
"""Which precedent has a number; they are about 1/class, not about the risk of an attack."""
LEFT = 1e-5  # where the axis of risks begins
FINEST = 400  # steps in a tenfold that can be told apart in a picture
NEAR = 0.06  # of a picture's width or height, within which numbers of points would touch
DASHES = ("-.", "--", ":", (0, (5, 1, 1, 1, 1, 1)), "-")


def risk_curves(
    risks: dict[str, Array],
    thresholds: Sequence[float],
    telling: Telling,
    users: Mapping[float, str] | None = None,
) -> Figure:
    """The share of people whose risk is above each value, by measure: lower curves are safer.

    A curve falls at the very risks that people have.  Outwards it is drawn from rounded counts at
    fixed levels, so that no small one can be read off: it falls at the level above those risks.
    users: who uses a threshold, in place of the first precedent that does.
    """
    figure, (axes,) = blank(WIDE, 3.6)
    drawn = []
    for (name, values), colour, dash in zip(risks.items(), SERIES, DASHES, strict=False):
        levels = steps_of(values) if telling.custodian else np.array(LEVELS)
        levels = np.unique([LEFT, *levels[(levels > LEFT) & (levels <= 1)], 1.0])
        wide, dash = (2.4, "-") if name == "overall" or len(risks) == 1 else (1.4, dash)
        shares = telling.curve(values, levels)
        axes.step(levels, shares, where="post", color=colour, ls=dash, lw=wide)
        corners = np.repeat(levels, 2)[1:], np.repeat(shares, 2)[:-1]
        drawn.append((name.replace("_", " "), *corners, colour))
    axes.set_xscale("log")
    axes.set(xlim=(LEFT, 1), ylim=(0, 108), xlabel="risk", ylabel="% of people above it")
    axes.set_yticks(range(0, 101, 20))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.5f}".rstrip("0").rstrip("."))
    used_by(axes, thresholds, {**USERS, **(users or {})})
    if len(risks) > 1:
        names_on_lines(axes, drawn)
    return figure


def steps_of(values: Array) -> Array:
    """Each risk that people have; of those that no picture tells apart, the highest."""
    found = np.unique(values[values > LEFT])
    place = np.floor(FINEST * np.log10(found))
    return np.asarray(found[np.diff(place, append=np.inf) > 0])


def told_bars(tornado: Tornado, ends: Ends, here: tuple[float, float] | None) -> Figure | None:
    """A pair of bars for each parameter; None where nothing is told.

    Between the ends of each lies the answer where its range begins, and where it ends.
    """
    rows = [bar for bar in tornado if bar.swing > 0 and any(ends[bar.parameter])]
    if not rows:
        return None
    figure, (axes,) = blank(WIDE, 1.4 + 0.46 * len(rows))
    if here is not None:
        axes.axvspan(*here, color=LINE, alpha=0.25, lw=0)
    for row, bar in enumerate(rows):
        at = (bar.low, bar.high)
        for value, told, up, colour in zip(at, ends[bar.parameter], (-1, 1), (BLUE, ORANGE),
                                           strict=True):  # fmt: skip
            if told is None:
                continue
            y = row + 0.19 * up
            axes.barh(y, told[1] - told[0], left=told[0], height=0.3, color=colour, ec=colour)
            axes.annotate(f"at {value:g}", (told[1], y), xytext=(4, 0), va="center", fontsize=7.5,
                          textcoords="offset points", color=INK)  # fmt: skip
    if tornado.threshold is not None:
        threshold_line(axes, tornado.threshold)
    axes.set_yticks(range(len(rows)), [starred(f"{b.parameter} = {b.value:g}", b) for b in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.use_sticky_edges = False
    axes.margins(x=0.14)
    measured_in(axes, f"{tornado.statistic} of {tornado.question}")
    titled(axes, f"{tornado.attack}: if this assumption changes", pad=16)
    said = f"blue: low end of the range, orange: high end; grey: as it is{stars(rows)}"
    said_below(axes, f"Somewhere within a bar lies the {tornado.statistic}.\n{said}")
    return figure


def attribute_bars(
    labels: Sequence[str], values: Sequence[float], said: Sequence[str], method: str
) -> Figure:
    """What each attribute group adds to the mean risk; outwards a level above it."""
    figure, (axes,) = blank(WIDE, 0.7 + 0.3 * len(labels))
    rows = np.arange(len(labels))[::-1]
    bars = axes.barh(rows, values, color=SERIES[0], height=0.7)
    axes.bar_label(bars, said, padding=3, fontsize=8)
    axes.set_yticks(rows, labels)
    axes.set_xlabel(f"added to the mean risk ({method})")
    axes.set_xlim(1.2 * min(0.0, *values), max(*values, 1e-12) * 1.2)
    return figure


def heat_map(table: NDArray[np.object_], bands: Sequence[str], before: str, after: str) -> Figure:
    """People by their risk before (columns) and after (rows); an empty cell is suppressed."""
    figure, (axes,) = blank(WIDE, 4.0)
    counts = np.array([[0 if c is None else c for c in row] for row in table], dtype=float)
    shade = np.log1p(counts)
    edges = np.arange(len(bands) + 1) - 0.5
    axes.pcolormesh(edges, edges, shade, cmap="Blues", vmax=max(shade.max(), 1e-9))
    for i, row in enumerate(table):
        for j, count in enumerate(row):
            if count:
                dark = shade[i, j] > 0.6 * shade.max()
                axes.text(j, i, f"{count:,}", ha="center", va="center", fontsize=8,
                          color="white" if dark else INK)  # fmt: skip
    axes.set_xticks(range(len(bands)), bands, rotation=30, ha="right")
    axes.set_yticks(range(len(bands)), bands)
    axes.set(xlabel=f"risk under {before}", ylabel=f"risk under {after}")
    axes.spines[:].set_visible(False)
    return figure


def options_figure(
    names: Sequence[str], risk: Sequence[float], loss: Sequence[float], beyond: str
) -> Figure:
    """Each option's share of people beyond the limit against its loss of information."""
    figure, (axes,) = blank(WIDE, 3.4)
    axes.scatter(loss, risk, color=SERIES[0], zorder=3)
    near: list[tuple[float, float, list[str]]] = []  # numbers of points that touch stand together
    wide, high = (max(max(values) - min(values), 1e-9) for values in (loss, risk))
    for i, (x, y) in enumerate(zip(loss, risk, strict=True), start=1):
        there = (
            at for at in near if abs(at[0] - x) <= NEAR * wide and abs(at[1] - y) <= NEAR * high
        )
        if at := next(there, None):
            at[2].append(f"{i}")
        else:
            near.append((x, y, [f"{i}"]))
    for x, y, numbers in near:
        axes.annotate(", ".join(numbers), (x, y), xytext=(5, 4), fontsize=8,
                      textcoords="offset points")  # fmt: skip
    said_below(axes, "\n".join(f"{i} {name}" for i, name in enumerate(names, start=1)))
    axes.set(xlabel="information lost, % of the bits of all columns", ylabel=f"% of {beyond}")
    axes.margins(0.15)
    return figure
