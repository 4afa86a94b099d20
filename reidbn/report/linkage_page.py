"""The page of a linkage: how many facts single people out, which ones, and whether it happens."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above
from reidbn.attacks.linkage.looked_into import Bin, acted_in_bins, by_fact
from reidbn.attacks.linkage.result import Linkage
from reidbn.report.counting import NOT_TOLD
from reidbn.report.page import Section, Shown
from reidbn.report.style import BLUE, LINE, WIDE, blank, end_labels, ramp, titled
from reidbn.report.telling import Telling
from reidbn.written import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Ints = NDArray[np.int64]
LEVELS = (0.5, 0.9, 0.99)


def sections(result: Linkage, telling: Telling) -> list[Section]:
    """People singled out by k facts, which facts do it, and in the own copy whether it happens."""
    n = len(result.success)
    labels = [str(k) for k in result.ks] or ["by chance"]
    counts = np.array(
        [[int(is_above(column, level).sum()) for column in result.success.T] for level in LEVELS]
    )
    rows = [
        [label, telling.mean_in_words(result.success[:, i])]
        + [telling.share(int(counts[j, i]), n) for j in range(len(LEVELS))]
        for i, label in enumerate(labels)
    ]
    last = telling.share(int(counts[1, -1]), n)
    facts = f"Any {labels[-1]} facts" if result.ks else "Facts known by chance"
    verdict = [
        f"{facts} single out {last} of {telling.counted(n)} people with a chance above 0.9.",
    ]
    told = f"The person is in the table, the facts are right; {telling.rounded(result.question)}."
    heads = ["facts known", "mean chance", *(f"people above {level:g}" for level in LEVELS)]
    picture = _picture(labels, counts, n, telling)
    return [
        Section(
            "How many facts single people out",
            text=verdict,
            answers=[("On what condition?", [told])],
            shown=[
                Shown("People singled out, by the number of facts known", heads, rows, picture,
                      "The share of people whose chance to be singled out is above some levels."),
            ],
        ),
        *_which_facts(result, telling),
        *_whether_it_happens(result, telling),
    ]  # fmt: skip


def _which_facts(result: Linkage, telling: Telling) -> list[Section]:
    """Parts of a record against numbers of facts: the chance where one of them is from there."""
    found = by_fact(result)
    if found is None:
        return []
    means = np.full((len(found.rows), len(found.ks)), np.nan)
    for row, cells in enumerate(found.each):
        for column, each in enumerate(cells):
            ends = telling.mean_ends(each) if each.size else None
            if ends is not None:
                means[row, column] = ends[1] if telling.custodian else _tenths(ends[1])
    up_to = "" if telling.custodian else "up to "
    rows = [
        [name, *(NOT_TOLD if np.isnan(mean) else f"{up_to}{mean:.3g}" for mean in line)]
        for name, line in zip(found.rows, means, strict=True)
    ]
    text = (
        "Each cell is the mean chance to be singled out of people who have such a fact, where it "
        "is among those that are known; drawn of some people. A part of a record that singles "
        "people out with few facts is the first to make coarser."
    )
    heads = ["one fact is from", *(counted(k, "fact") for k in found.ks)]
    about = "A darker cell: a higher chance to be singled out with so many facts, one from there."
    picture = _heat_map(means, rows, found.ks)
    shown = Shown("Singled out, by what one of the facts is", heads, rows, picture, about)
    return [Section("Which facts single people out", text=[text], shown=[shown])]


def _tenths(most: float) -> float:
    """A mean of part of the people as it leaves the house: the tenth above the most it can be."""
    return min(ceil(10 * most - 1e-9) / 10, 1.0)


def _whether_it_happens(result: Linkage, telling: Telling) -> list[Section]:
    """What was told of some people, against the facts drawn anew on the table's own values."""
    found = acted_in_bins(result) if telling.custodian else []
    if not found:
        return []
    rows = [
        [f"{one.predicted:.3f}", f"{one.happened:.3f}", f"{one.low:.3f} to {one.high:.3f}",
         f"{one.attempts:,}"]
        for one in found
    ]  # fmt: skip
    heads = ["predicted", "happened", "95 % interval", "attempts"]
    about = "Chances that were told against how often it happened, with 95 % intervals."
    shown = Shown("Chances that were told, and what happened", heads, rows, _against(found), about)
    text = "Facts of some people are drawn anew, and looked for cell by cell in the table."
    return [Section("Does it happen?", text=[text], shown=[shown])]


def _heat_map(
    means: NDArray[np.float64], rows: Sequence[Sequence[str]], ks: Sequence[int]
) -> Figure:
    """Cells with their numbers in them: drawn as shapes, since a page loads no picture."""
    from matplotlib import colormaps

    drawn, (axes,) = blank(WIDE, 0.9 + 0.26 * len(rows))
    shades = colormaps["Blues"].with_extremes(bad="#dddddd")
    axes.pcolormesh(means, cmap=shades, vmin=0, vmax=1, edgecolors="white", linewidth=1)
    for (row, column), mean in np.ndenumerate(means):
        colour = "white" if mean > 0.6 else "black"
        axes.text(
            column + 0.5, row + 0.5, rows[row][column + 1], ha="center", va="center", size=8,
            color=colour,
        )  # fmt: skip
    axes.set_yticks(np.arange(len(rows)) + 0.5, [name[:40] for name, *_ in rows])
    axes.set_xticks(np.arange(len(ks)) + 0.5, [str(k) for k in ks])
    axes.invert_yaxis()
    axes.set_xlabel("facts known")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    titled(axes, "Singled out, by what one of the facts is")
    return drawn


def _against(found: Sequence[Bin]) -> Figure:
    drawn, (axes,) = blank(4.2, 3.8)
    axes.plot([0, 1], [0, 1], color=LINE, linewidth=0.8)
    y = np.array([one.happened for one in found])
    ends = np.array([[one.low for one in found], [one.high for one in found]])
    axes.errorbar([one.predicted for one in found], y, yerr=np.abs(ends - y), fmt="o", color=BLUE,
                  markersize=4, linewidth=1)  # fmt: skip
    axes.set(xlabel="predicted", ylabel="happened", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    titled(axes, "Chances that were told, and what happened")
    return drawn


def _picture(labels: list[str], counts: Ints, n: int, telling: Telling) -> Figure:
    drawn, (axes,) = blank(WIDE, 3.4)
    places, ends = range(len(labels)), []
    for level, row, colour in zip(LEVELS, counts, ramp(len(LEVELS)), strict=True):
        shares = [100 * telling.portion(int(count), n) for count in row]
        axes.plot(places, shares, "o-", markersize=3.5, color=colour)
        ends.append((f"above {level:g}", shares[-1], colour))
    axes.axhline(90, color=LINE, linewidth=0.7, linestyle=":")
    step = -(-len(labels) // 12)
    axes.set_xticks(list(places)[::step], labels[::step])
    axes.set(xlabel="facts known", ylabel="% of people singled out", ylim=(0, 101))
    end_labels(axes, ends)
    titled(axes, "People singled out by a few facts")
    return drawn
