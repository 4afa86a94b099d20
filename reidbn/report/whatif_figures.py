"""Figures of what-if results: tornado, sweep, Sobol's indices, distribution under priors.

Drawn on their own figure, without touching matplotlib's global state; colours are told apart by
colour-blind readers, and SVG files are the same bytes every time.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.calls import typed
from reidbn.errors import UsageError
from reidbn.report.style import (
    BLUE,
    INK,
    LINE,
    ORANGE,
    PALE,
    SERIES,
    WIDE,
    blank,
    end_labels,
    measured_in,
    ramp,
    said_below,
    save,
    starred,
    stars,
    threshold_line,
    titled,
)  # fmt: skip
from reidbn.whatif.learned import Learned
from reidbn.whatif.sobol import Sobol
from reidbn.whatif.tornado import Bar, Tornado
from reidbn.whatif.uncertainty import Uncertainty

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOW, HIGH = BLUE, ORANGE


@typed
def draw_tornado(tornado: Tornado, path: str | Path | None = None, *, most: int = 20) -> Figure:
    """Bars around the answer, longest first: blue from the low end of a range, orange the high.

    `tornado` has the bars, `path` is the file, `most` the number of bars drawn.
    """
    bars = [bar for bar in tornado.bars if bar.swing > 0][:most]
    if not bars:
        raise UsageError(f"{tornado.attack}: no parameter moves this answer; there is no bar")
    figure, (axes,) = blank(WIDE, 1.5 + 0.4 * len(bars))
    reach = _reach(tornado, bars)
    for row, bar in enumerate(bars):
        _draw_bar(axes, bar, len(bars) - 1 - row, tornado.answer, reach)
    axes.axvline(tornado.answer, color=INK, linewidth=1)
    if tornado.threshold is not None:
        threshold_line(axes, tornado.threshold)
    axes.set_yticks(
        range(len(bars)), [starred(f"{b.parameter} = {b.value:g}", b) for b in reversed(bars)]
    )
    axes.set_ylim(-0.6, len(bars) - 0.4)
    axes.set_xlim(*reach)
    of = "" if tornado.subjects == 1 else f"{tornado.statistic} of "
    measured_in(axes, f"{of}{tornado.question}")
    titled(axes, f"{tornado.attack}: if this assumption changes", pad=16)
    said = f"blue: low end of the range, orange: high end; line: as it is, {tornado.answer:.4g}"
    said_below(axes, f"{said}{stars(bars)}")
    return save(figure, path, of_people=tornado.subjects > 1)


def _reach(tornado: Tornado, bars: list[Bar]) -> tuple[float, float]:
    values = [v for b in bars for v in (b.lowest, b.highest)] + [tornado.answer]
    if tornado.threshold is not None:
        values.append(tornado.threshold)
    low, high = min(values), max(values)
    room = 0.14 * (high - low)
    return low - room, high + room


def _draw_bar(axes: Axes, bar: Bar, row: int, answer: float, reach: tuple[float, float]) -> None:
    """Two halves from the answer to the ends; a hatched stretch where it goes beyond both."""
    height, hair = 0.62, 0.008 * (reach[1] - reach[0])
    overlap = (bar.at_low - answer) * (bar.at_high - answer) > 0  # both ends on one side
    for end, value, colour in ((bar.low, bar.at_low, LOW), (bar.high, bar.at_high, HIGH)):
        shift = (height / 4 if colour == LOW else -height / 4) if overlap else 0.0
        thick = height / 2 if overlap else height
        axes.barh(row + shift, value - answer, left=answer, height=thick, color=colour, alpha=0.85)
        right = value > answer or (value == answer and colour == HIGH)
        axes.annotate(f"{end:g}", (value + (hair if right else -hair), row + shift), va="center",
                      ha="left" if right else "right", fontsize=7.5, color=INK)  # fmt: skip
    ends = (min(bar.at_low, bar.at_high), max(bar.at_low, bar.at_high))
    peaks = (bar.lowest_at, bar.lowest, ends[0]), (bar.highest_at, bar.highest, ends[1])
    for at, value, end in peaks:
        if abs(value - end) > 1e-12:
            axes.barh(row, value - end, left=end, height=height, fill=False, hatch="////",
                      edgecolor=LINE, linewidth=0)  # fmt: skip
            axes.plot([value], [row], marker="|", color=INK, markersize=9)
            axes.annotate(f"{at:.3g}", (value, row + 0.36), ha="center", fontsize=7, color=INK)


def draw_sweep(
    table: pd.DataFrame, path: str | Path | None = None, *, threshold: float | None = None
) -> Figure:
    """One line per combination of the other parameters over the first one that varies."""
    from matplotlib.ticker import MaxNLocator
    from pandas.api.types import is_numeric_dtype

    shown = "probability" if "probability" in table else "mean"
    if shown not in table or "subject" in table:
        raise UsageError("draw a sweep of one subject, or its summary over subjects")
    stop = list(table.columns).index("subjects" if "subjects" in table else shown)
    names = [c for c in table.columns[:stop] if table[c].nunique() > 1] or [table.columns[0]]
    figure, (axes,) = blank(WIDE, 3.4)
    axis, others = names[0], names[1:]
    groups: list[Any] = list(table.groupby(others, sort=False)) if others else [("", table)]
    colours: list[Any] = [*SERIES] * (len(groups) // len(SERIES) + 1)
    if len(others) == 1 and is_numeric_dtype(table[others[0]]):
        groups, colours = sorted(groups, key=lambda g: g[1][others[0]].iloc[0]), ramp(len(groups))
    ends: list[tuple[str, float, Any]] = []
    for (key, part), colour in zip(groups, colours, strict=False):
        keys = key if isinstance(key, tuple) else (key,)
        label = ", ".join(f"{n}={_plain(k)}" for n, k in zip(others, keys, strict=False))
        axes.plot(part[axis], part[shown], marker="o", markersize=3, color=colour)
        ends += [(label, float(part[shown].iloc[-1]), colour)] if label else []
        if {"q5", "q95"} <= set(part.columns) and not others:
            axes.fill_between(part[axis], part["q5"], part["q95"], alpha=0.15, color=SERIES[0])
            ends.append(("5 to 95 %\nof subjects", float(part["q95"].iloc[-1]), SERIES[0]))
    if threshold is not None:
        threshold_line(axes, threshold, across=True)
    if is_numeric_dtype(table[axis]) and (table[axis] % 1 == 0).all():
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(axis)
    axes.set_ylabel(f"{table.attrs.get('question', 'probability')}")
    titled(axes, str(table.attrs.get("attack", "")))
    end_labels(axes, ends)
    return save(figure, path, of_people="subjects" in table)


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float | np.number) else str(value)


@typed
def draw_sobol(sobol: Sobol, path: str | Path | None = None) -> Figure:
    """Share of the variance per parameter: by itself, and with the sets it is part of.

    `sobol` are the indices, `path` the file.
    """
    rows = list(reversed(sobol.indices))
    figure, (axes,) = blank(WIDE, 1.3 + 0.42 * len(rows))
    at = np.arange(len(rows))
    axes.barh(at, [i.total for i in rows], height=0.62, color=PALE)
    axes.barh(at, [i.first for i in rows], height=0.34, color=LOW)
    off = max(i.total_error for i in rows) >= 0.0005
    if off:
        ends = [[max(i.total - i.total_error, 0), min(i.total + i.total_error, 1)] for i in rows]
        axes.hlines(at, *zip(*ends, strict=True), color=INK, linewidth=0.8)
    axes.set_yticks(at, [starred(i.parameter, i) for i in rows])
    axes.set_xlim(0, 1)
    axes.set_xlabel(f"share of the variance of {sobol.question} (sd {sobol.sd:.3g})")
    titled(axes, f"{sobol.attack}: whose uncertainty matters")
    line = "; line: where that ends at 99.9 %" if off else ""
    said_below(axes, f"dark: by itself, light: with the sets it is part of{line}{stars(rows)}")
    return save(figure, path, of_people=sobol.subjects > 1)


def draw_learned(learned: Learned, path: str | Path | None = None) -> Figure:
    """Every parameter before and after, as its mean and two standard deviations around it.

    `learned` is what was learnt, `path` the file.
    """
    rows = list(reversed(learned.parameters))
    figure, (axes,) = blank(WIDE, 1.3 + 0.5 * len(rows))
    at = np.arange(len(rows))
    for shift, mean, sd, colour in (
        (0.14, [u.mean_before for u in rows], [u.sd_before for u in rows], PALE),
        (-0.14, [u.mean for u in rows], [u.sd for u in rows], LOW),
    ):
        axes.errorbar(mean, at + shift, xerr=2 * np.array(sd), fmt="o", color=colour)
    axes.set_yticks(at, [starred(u.parameter, u) for u in rows])
    axes.set_xlabel("value: mean and two standard deviations")
    titled(axes, f"{learned.name}: what {len(learned.tests)} test(s) taught")
    said_below(axes, f"light: before, dark: after{stars(rows)}")
    return save(figure, path)


def draw_uncertainty(
    uncertainty: Uncertainty, path: str | Path | None = None, *, threshold: float | None = None
) -> Figure:
    """The distribution of the answer under the priors, its mean, and its 5 % to 95 % range.

    `uncertainty` is the distribution, `path` the file; a `threshold` is marked.
    """
    figure, (axes,) = blank(WIDE, 3.0)
    draws = uncertainty.draws
    axes.hist(draws, bins=60, density=True, color=PALE)
    axes.axvline(uncertainty.mean, color=INK, linewidth=1.2)
    axes.annotate("mean", (uncertainty.mean, 1.0), xycoords=("data", "axes fraction"),
                  ha="center", va="bottom", fontsize=8)  # fmt: skip
    low, high = np.quantile(draws, [0.05, 0.95], method="inverted_cdf")
    axes.axvspan(low, high, color=LOW, alpha=0.08)
    if threshold is not None:
        threshold_line(axes, threshold, height=0.9)
    axes.set_yticks([])
    axes.set_xlabel(f"{uncertainty.question}; shaded: 5 % to 95 %")
    titled(axes, f"{uncertainty.attack}: under the priors", pad=14)
    return save(figure, path, of_people=uncertainty.subjects > 1)
