"""Pictures of a sparse table: facts a person, people a fact, the nearest other record [Popat25]."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from reidbn.errors import UsageError, did_you_mean
from reidbn.microdata.sparsity import Sparsity
from reidbn.report.style import BLUE, LINE, ORANGE, blank, names_on_lines, save, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("facts", "records", "nearest")


def figure(
    described: Sparsity, name: str = "nearest", *, path: str | PathLike[str] | None = None
) -> Figure:
    """One of three: `facts` a person (Figure 1), `records` a feature (2), `nearest` (3)."""
    if name not in NAMES:
        raise UsageError(f'no figure "{name}"; {did_you_mean(name, NAMES)}')
    sparse = described.sparse
    drawn, (axes,) = blank(6, 3.2)
    if name == "facts":
        axes.hist(sparse.facts, bins=40, color=BLUE)
        axes.set(xlabel="facts known of a person", ylabel="people")
        titled(axes, f"How many of {len(sparse.schema):,} features are known of a person")
    elif name == "records":
        axes.plot(np.sort(sparse.records)[::-1], color=BLUE)
        axes.axhline(100, color=LINE, linewidth=0.8, linestyle=":")
        axes.set(xlabel="feature, commonest first", ylabel="people", yscale="symlog")
        titled(axes, "Of how many people each feature is known")
    else:
        levels, lines = np.linspace(0, 1, 201), []
        for found, colour, label in (
            (described.nearest, BLUE, "equal values"),
            (described.nearest_present, ORANGE, "any value"),
        ):
            share = (found[:, None] > levels).mean(axis=0)
            axes.plot(levels, 100 * share, color=colour)
            lines.append((label, levels, 100 * share, colour))
        axes.set(xlabel="similarity of the nearest other record", ylabel="% of people above")
        names_on_lines(axes, lines)
        titled(axes, "How like the nearest other record is")
    return save(drawn, None if path is None else str(path), of_people=True)
