"""Where a sweep crosses a limit, in words and as numbers; and where it never does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.above import is_above
from reidbn.whatif.sweep import WORST
from reidbn.written import counted

if TYPE_CHECKING:
    import pandas as pd

MOST_STEPS = 12  # steps between settings that are told


def crossed(table: pd.DataFrame, threshold: float) -> dict[str, Any]:
    """At how many settings of a sweep the answer is above a threshold, where, and by how much.

    Of several subjects it is their mean; where policies are tied, the highest answer.
    """
    shown = _shown(table)
    answered = table[table[shown].notna()]
    said: dict[str, Any] = {"at": threshold, "of": shown, "settings": len(answered)}
    said["without_an_answer"] = len(table) - len(answered)
    if not len(answered):
        return said | {"above": 0}
    above = np.asarray(is_above(answered[shown].to_numpy(dtype=float), threshold))
    names = _varied(table, shown)
    for word, place in (
        ("lowest", answered[shown].argmin()),
        ("highest", answered[shown].argmax()),
    ):
        row = answered.iloc[int(place)]
        said[word] = float(row[shown])
        said[f"{word}_at"] = {name: _plain(row[name]) for name in names}
    steps = []
    if len(names) == 1 and answered[names[0]].dtype.kind in "iuf":
        order = np.argsort(answered[names[0]].to_numpy(), kind="stable")
        values, sides = answered[names[0]].to_numpy()[order], above[order]
        steps = [[_plain(values[i]), _plain(values[i + 1])]
                 for i in range(len(order) - 1) if sides[i] != sides[i + 1]]  # fmt: skip
    return said | {"above": int(above.sum()), "between": steps}


def crossed_in_words(said: dict[str, Any]) -> str:
    """The same as a sentence."""
    at, count, above = said["at"], said["settings"], said["above"]
    none = said["without_an_answer"]
    rest = f"; {none:,} more have no answer" if none else ""
    if not count:
        return f"No setting has an answer to hold against {at:g}."
    whose = "the answer" if said["of"] != "mean" else "the mean"
    looked = "at the one setting" if count == 1 else f"at all {count:,} settings"
    if above == 0:
        told = f"{whose} is nowhere above {at:g}: the highest is {_at(said, 'highest')}"
        return f"{told} (looked {looked}{rest}; tornado --threshold looks between them)."
    if above == count:
        return f"{whose} is above {at:g} {looked}: the lowest is {_at(said, 'lowest')}{rest}."
    told = f"{whose} is above {at:g} at {above:,} of {counted(count, 'setting')}{rest}"
    steps = said["between"]
    if steps:
        name = next(iter(said["lowest_at"]))
        some = [f"{_word(a)} and {_word(b)}" for a, b in steps[:MOST_STEPS]]
        more = f" and {len(steps) - len(some):,} more times" if len(steps) > len(some) else ""
        told += f": it crosses it between {name} = {', '.join(some)}{more}"
    ends = f"lowest {_at(said, 'lowest')}, highest {_at(said, 'highest')}"
    return f"{told} ({ends})."


def _shown(table: pd.DataFrame) -> str:
    one = "probability" in table
    return WORST if one and WORST in table else "probability" if one else "mean"


def _varied(table: pd.DataFrame, shown: str) -> list[str]:
    """The columns that say which setting it is."""
    results = [c for c in ("subjects", "probability", "mean", shown) if c in table]
    stop = min([*table.columns].index(name) for name in results)
    names = [*table.columns[:stop]]
    return [name for name in names if table[name].nunique() > 1] or names[:1]


def _at(said: dict[str, Any], word: str) -> str:
    where = ", ".join(f"{name} = {_word(value)}" for name, value in said[f"{word}_at"].items())
    return f"{said[word]:.6g} at {where}"


def _word(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    """A cell of a table as Python's own."""
    return value.item() if isinstance(value, np.generic) else value
