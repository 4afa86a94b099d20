"""Figures of population uniqueness: by sampling fraction, by class size, model by model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.population.curve import uniqueness_curve
from reidbn.population.pitman import PitmanFit
from reidbn.report.style import BLUE, INK, LINE, ORANGE, SERIES, blank, titled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_SPREAD = 20.0  # models further apart than this are drawn on a logarithmic axis


def uniqueness_figure(fit: PitmanFit, *, level: float = 0.95) -> Figure:
    """P(unique in the population | unique in the table) by sampling fraction, with its band."""
    curve = uniqueness_curve(fit, level=level)
    figure, (axes,) = blank(7.2, 3.8)
    x = 100 * curve["fraction"]
    axes.fill_between(x, 100 * curve["low"], 100 * curve["high"], color=BLUE, alpha=0.2, lw=0)
    axes.plot(x, 100 * curve["p_unique"], color=BLUE, lw=2)
    here = 100 * fit.sampling_fraction
    axes.axvline(here, color=LINE, lw=1, ls="--")
    axes.plot([here], [100 * fit.p_unique], "o", color=ORANGE, zorder=3)
    low, high = fit.interval("p_unique", level=level)
    told = f"N = {fit.population:,}: {fit.p_unique:.1%}\n({low:.1%} to {high:.1%})"
    left = here > 3
    axes.annotate(
        told, (here, 100 * fit.p_unique), xytext=(-8 if left else 8, 6),
        textcoords="offset points", ha="right" if left else "left", fontsize=8, color=INK,
    )  # fmt: skip
    _plain_log(axes)
    axes.set(
        xlim=(x.min(), 100),
        ylim=(0, 104),
        xlabel="sampling fraction, % of the population in the table",
        ylabel="% of the table's unique rows\nthat are unique in the population",
    )
    titled(axes, _title(fit, f"{level:.0%} band: parameters only"))
    return figure


def class_size_figure(fit: PitmanFit, class_sizes: tuple[int, ...] = (1, 2, 5)) -> Figure:
    """How many in the population look like somebody in a class of the table, class by class."""
    figure, (axes,) = blank(7.2, 3.8)
    largest = 1
    for f, colour in zip(class_sizes, SERIES, strict=False):
        law = fit.class_size_posterior(f)
        end = max(law.quantile(0.999), f + 1)
        sizes = np.unique(np.round(np.geomspace(f, end, 61)).astype(np.int64))
        upto = np.asarray(law.cdf(sizes))
        largest = max(largest, end)
        axes.step(
            sizes, 100 * upto, where="post", color=colour, lw=1.8,
            label=f"{f} in the table: E[1/F] = {law.mean_inverse:.3g}",
        )  # fmt: skip
    _plain_log(axes)
    axes.set(
        xlim=(1, max(largest, 10)),
        ylim=(0, 102),
        xlabel="people alike in the population, F",
        ylabel="chance that F is at most this, %",
    )
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    titled(axes, _title(fit, "class sizes in the population"))
    return figure


def models_figure(table: pd.DataFrame) -> Figure:
    """Expected population uniques by every model of `compare`, with prediction intervals."""
    shown = table[table["expected_uniques"].notna()].iloc[::-1]
    figure, (axes,) = blank(7.2, 0.9 + 0.38 * len(shown))
    for row, model in enumerate(shown.to_dict("records")):
        colour = ORANGE if model["recommended"] else BLUE
        if isinstance(model["lower"], float):
            axes.plot([model["lower"], model["upper"]], [row, row], color=colour, lw=3, alpha=0.35)
        axes.plot([model["expected_uniques"]], [row], "o", color=colour)
        axes.annotate(
            f"{model['expected_uniques']:,.0f}", (model["expected_uniques"], row), xytext=(0, 6),
            textcoords="offset points", ha="center", fontsize=8, color=INK,
        )  # fmt: skip
    names = [f"{m} (recommended)" if r else m for m, r in shown[["model", "recommended"]].values]
    axes.set_yticks(range(len(shown)), names)
    axes.set_ylim(-0.6, len(shown) - 0.2)
    reach = shown["expected_uniques"].astype(float)
    if reach.max() > _SPREAD * max(reach.min(), 1.0):
        _plain_log(axes)
    else:
        highest = shown[["upper", "expected_uniques"]].astype(float).max().max()
        axes.set_xlim(0, 1.1 * max(highest, 1.0))
    level = f"{table.attrs['level']:.0%}"
    axes.set_xlabel(f"population uniques expected; bars: {level} prediction interval")
    title = f"{table.attrs['n']:,} of {table.attrs['population']:,} people"
    titled(axes, title)
    return figure


def _plain_log(axes: Any) -> None:
    """A logarithmic axis with its numbers written out."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}")


def _title(fit: PitmanFit, what: str) -> str:
    return f"{fit.n:,} people, {fit.uniques:,} unique, {fit.model} ({fit.status}); {what}"
