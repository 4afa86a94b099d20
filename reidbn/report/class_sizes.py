"""The picture of class sizes: how many people share their row with how many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.microdata.classes import bands_of_sizes
from reidbn.microdata.table import Columns, People
from reidbn.report.style import blank, titled
from reidbn.written import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def class_size_figure(people: People, columns: Columns = None) -> Figure:
    """People by the size of their class: a bar per band of sizes, the unique ones on the left."""
    names = people.names(columns)
    table = bands_of_sizes(people.class_sizes(names))
    figure, (axes,) = blank(7.2, 3.6)
    shares = table["share"].to_numpy() * 100
    bars = axes.bar(np.arange(len(table)), shares, color="#4c78a8", width=0.85)
    bars[0].set_color("#e45756" if table["smallest"].iloc[0] == 1 else "#4c78a8")
    axes.bar_label(bars, [_percent(s) for s in shares], padding=2, fontsize=9)
    axes.set_xticks(np.arange(len(table)), [_band(row) for row in table.itertuples()])
    axes.set_xlabel("people alike" if people.is_partition else "people who match")
    axes.set_ylabel("% of people")
    axes.set_ylim(0, max(shares) * 1.15)
    titled(axes, _title(people, names, table))
    return figure


def _title(people: People, names: tuple[str, ...], table: Any) -> str:
    known = ", ".join(names) if len(names) <= 6 else f"{len(names)} attributes"
    alone = int(table["people"].iloc[0]) if table["smallest"].iloc[0] == 1 else 0
    return f"{counted(len(people), 'person')} on {known}: {alone:,} unique"


def _band(row: Any) -> str:
    return f"{row.smallest}" + (f"\u2013{row.largest}" if row.largest > row.smallest else "")


def _percent(share: float) -> str:
    return "0" if share == 0 else f"{share:.1f}" if share >= 0.1 else "<0.1"
