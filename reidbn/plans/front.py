"""The ways beside the best: of those that were looked at, which none beats, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reidbn.plans.nodes import TIE
from reidbn.plans.targets import Array

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.plans.plan import ReleasePlan
    from reidbn.plans.ways import Node

OWN = ("suppressed", "cells_emptied", "loss", "keeps", "bound")
"""Columns of the table of ways beside levels and targets."""


def level_names(plan: ReleasePlan) -> dict[str, str]:
    """Under what name the level of each column stands: its own, unless something else has that."""
    taken, found = {*OWN, *map(str, plan.targets)}, {}
    for name in plan.best.levels:
        told = name
        while told in taken or (told != name and told in plan.best.levels):
            told = f"level of {told}"
        found[name] = told
    return found


def front_of(plan: ReleasePlan) -> pd.DataFrame:
    """The table of `plan.front`."""
    import pandas as pd

    rows, names = [], level_names(plan)
    for found in plan._ways:
        out, gone = found.left_out, found.emptied
        levels = plan._table.ways.levels(found.node)
        own = (
            0 if out is None else int(out.sum()),
            0 if gone is None else int(gone.sum()),
            found.loss if found.keeps else _least(plan, found.node),
            found.keeps,
            found.is_bound,
        )
        rows.append(
            {names[column]: level for column, level in levels.items()}
            | dict(zip(OWN, own, strict=True))
            | {str(t): found.values[t] for t in plan.targets}
        )
    table = pd.DataFrame(rows)
    judged = table[["loss", *(str(t) for t in plan.targets)]].to_numpy()
    better = [_beaten(row, judged) for row in judged]
    for t in plan.targets:
        table[str(t)] = table[str(t)].map(t.shown)
    return table[~np.array(better)].sort_values("loss", ignore_index=True)


def _beaten(row: Array, judged: Array) -> bool:
    """Whether another row is as low in all and lower in some, by more than sums are rounded."""
    hair = TIE * np.abs(row)
    return bool(((judged <= row + hair).all(axis=1) & (judged < row - hair).any(axis=1)).any())


def _least(plan: ReleasePlan, node: Node) -> float:
    """What a way loses at least, where that is known."""
    least = plan._search.bound_of(node)
    return least if np.isfinite(least) else float("nan")
