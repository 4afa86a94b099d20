"""Figures of population uniqueness: by sampling fraction, by class size, model by model.

The page of a population estimate: how many of a table's unique people are so outside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.errors import UsageError
from reidbn.population.curve import uniqueness_curve
from reidbn.population.pitman import PitmanFit
from reidbn.population.result import Uniqueness, nearly_all_alone
from reidbn.population.structured import StructuredFit
from reidbn.release.counts import told
from reidbn.report.counting import NOT_TOLD, UNDER
from reidbn.report.page import Section, Shown, bars, ends_in_words
from reidbn.report.style import BLUE, INK, LINE, ORANGE, SERIES, WIDE, blank, names_on_lines, titled
from reidbn.report.telling import Telling
from reidbn.result import Measure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


_SPREAD = 20.0  # models further apart than this are drawn on a logarithmic axis


def uniqueness_figure(fit: PitmanFit, *, level: float = 0.95) -> Figure:
    """P(unique in the population | unique in the table) by sampling fraction, with its band."""
    curve = uniqueness_curve(fit, level=level)
    figure, (axes,) = blank(WIDE, 3.4)
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


def class_size_figure(fit: Uniqueness, class_sizes: tuple[int, ...] = (1, 2, 5)) -> Figure:
    """How many in the population look like somebody in a class of the table, class by class."""
    figure, (axes,) = blank(WIDE, 3.4)
    largest, lines = 1, []
    for f, colour in zip(class_sizes, SERIES, strict=False):
        law = fit.class_size_posterior(f)
        end = max(law.quantile(0.999), f + 1)
        sizes = np.unique(np.round(np.geomspace(f, end, 61)).astype(np.int64))
        upto = np.asarray(law.cdf(sizes))
        largest = max(largest, end)
        axes.step(sizes, 100 * upto, where="post", color=colour, lw=1.8)
        name = f"{f} in the table\nE[1/F] = {law.mean_inverse:.3g}"
        lines.append((name, sizes.astype(float), 100 * upto, colour))
    _plain_log(axes)
    axes.set(
        xlim=(1, max(largest, 10)),
        ylim=(0, 102),
        xlabel="people alike in the population, F",
        ylabel="chance that F is at most this, %",
    )
    names_on_lines(axes, lines)
    titled(axes, _title(fit, "class sizes in the population"))
    return figure


EXACT = Telling(custodian=True)


def models_figure(table: pd.DataFrame, telling: Telling = EXACT) -> Figure:
    """Expected population uniques by every model of `compare`, with prediction intervals."""
    if not telling.custodian and nearly_all_alone(table.attrs["n"], table.attrs["uniques"]):
        raise UsageError(
            "nearly everybody is unique in the table, and the estimates would say who is not: the "
            "picture is the custodian's own; add --custodian"
        )
    shown = _told_models(table[table["expected_uniques"].notna()].iloc[::-1], telling)
    figure, (axes,) = blank(WIDE, 0.9 + 0.38 * len(shown))
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
    population = telling.number_above(table.attrs["population"], table.attrs["n"])
    everybody = UNDER if population is None else f"{population:,}"
    title = f"{telling.counted(table.attrs['n'])} of {everybody} people"
    titled(axes, title)
    return figure


def _told_models(table: pd.DataFrame, telling: Telling) -> pd.DataFrame:
    """The models' numbers as they are told: in steps of what ten people of the table stand for."""
    up, found = table.attrs["population"] / table.attrs["n"], table.copy()
    for row, model in zip(table.index, table.to_dict("records"), strict=True):
        for name in ("expected_uniques", "lower", "upper"):
            if isinstance(model[name], float):
                m = Measure(
                    model[name], unit="people", told="scaled", scale=up,
                    most=max(table.attrs["population"], told(table.attrs["n"]).high),
                )  # fmt: skip
                found.loc[row, name] = (telling.bounds(m) or (0.0, 0.0))[name != "lower"]
    return found


def _plain_log(axes: Any) -> None:
    """A logarithmic axis with its numbers written out."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}")


def _title(fit: Uniqueness, what: str) -> str:
    return f"{fit.n:,} people, {fit.uniques:,} unique, {fit.model} ({fit.status}); {what}"


# -- the page of a population estimate -------------------------------------------------------------


def sections(result: Uniqueness, telling: Telling) -> list[Section]:
    """The told numbers as bars; the custodian's copy has the curve by sampling fraction, too."""
    found = result.measures
    share, everybody = found["p_unique"], ends_in_words(found["population"], telling)
    people, unique = (ends_in_words(found[name], telling) for name in ("people", "uniques"))
    chance, between = telling.measure_in_words(share), telling.interval_in_words(share)
    if chance == NOT_TOLD:
        likely = f"how likely a unique one is unique among all {everybody} is not told"
        if share.value is not None and nearly_all_alone(result.n, result.uniques):
            likely += ": the estimate would say who of nearly all is not alone"
    else:
        sure = ", as is its 95 % interval" if between == chance else f", {between} at 95 %"
        likely = (
            f"a unique one is unique among all {everybody} with probability {chance}"
            f"{sure if between else ''}"
        )
    by = f"{result.model}: {result.status}" if telling.custodian else result.model
    verdict = [f"Of {people} people in the table {unique} are unique in it; {likely} ({by})."]
    names = ("uniques", "expected_uniques_in_table", "expected_uniques")
    shown = [name for name in names if name in found]
    told = [ends_in_words(found[name], telling) for name in shown]
    labels = [found[name].words for name in shown]
    values = [telling.bounds(found[name]) for name in shown]
    texts = [f"{ends[1]:,.0f}" for ends in values if ends] if telling.custodian else told
    title = f"Unique in the table and among {everybody} people"
    picture = bars(labels, values, texts, "people", title)
    rows = [[label, said] for label, said in zip(labels, told, strict=True)]
    heads, ends = ["what", "people"], [telling.interval_in_words(found[name]) for name in shown]
    if any(end not in ("", said) for end, said in zip(ends, told, strict=True)):
        heads.append("95 % interval")
        rows = [[*row, end or "-"] for row, end in zip(rows, ends, strict=True)]
    return [
        Section(
            "How many people are unique in the population",
            text=verdict,
            shown=[
                Shown("People who are unique", heads, rows, picture,
                      "Unique in the table, and of these and of all people in the population.")
            ],
        ),
        *(_closer(result) if telling.custodian else []),
    ]  # fmt: skip


def _closer(fit: Uniqueness) -> list[Section]:
    """What the custodian sees beside."""
    if isinstance(fit, StructuredFit):
        return [_by_structure(fit)]
    return [_by_fraction(fit)] if isinstance(fit, PitmanFit) else []


def _by_structure(fit: StructuredFit) -> Section:
    """What each structure says alone, and where the interval's width comes from."""
    parts = fit.parts
    told = (
        ("forest of pairs", parts.forest),
        ("latent classes", parts.latent_classes),
        ("both together", parts.mixture),
        ("calibrated on the table's singles, pairs and triples", parts.calibrated),
    )
    shares = zip(("calibration", "sampling", "structure"), parts.shares, strict=True)
    return Section(
        "By structure",
        text=[
            f"Structures disagree by a factor of {parts.disagreement:.2f}.",
            "Of the interval's width (variance of the logarithm): "
            + ", ".join(f"{name} {share:.0%}" for name, share in shares)
            + ".",
        ],
        shown=[
            Shown("Population uniques by structure", ("structure", "people"),
                  [[name, f"{value:,.0f}"] for name, value in told])
        ],
    )  # fmt: skip


def _by_fraction(fit: PitmanFit) -> Section:
    """What the estimate would say of other populations, exactly."""
    from reidbn.population.curve import uniqueness_curve
    from reidbn.report.population_figures import uniqueness_figure

    curve = uniqueness_curve(fit)
    told = curve.iloc[:: max(1, len(curve) // 10)][["fraction", "p_unique", "low", "high"]]
    rows = [
        [f"{100 * sampled:.3g} %", f"{unique:.4g}", f"{low:.4g} to {high:.4g}"]
        for sampled, unique, low, high in told.to_numpy(dtype=float).tolist()
    ]
    return Section(
        "By sampling fraction",
        text=["The share of the table's unique rows that are unique in other populations."],
        shown=[
            Shown("Uniqueness by sampling fraction", ("sampled", "unique", "95 % interval"), rows,
                  uniqueness_figure(fit), "Less is unique where the population is larger.")
        ],
    )  # fmt: skip
