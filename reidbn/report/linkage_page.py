"""The page of a linkage: how many facts single people out, and of how many people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above
from reidbn.attacks.linkage.result import Linkage
from reidbn.report.page import Section, Shown
from reidbn.report.style import LINE, WIDE, blank, end_labels, ramp, titled
from reidbn.report.telling import Telling

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Ints = NDArray[np.int64]
LEVELS = (0.5, 0.9, 0.99)


def sections(result: Linkage, telling: Telling) -> list[Section]:
    """One picture: the share of people who are singled out by k facts with some chance."""
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
        )
    ]  # fmt: skip


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
