"""What an attacker does for what he sees: his policy as a table, of people class by class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.protocol import Array
from reidbn.inference.asked import Asked
from reidbn.inference.deciding import Choice

if TYPE_CHECKING:
    import pandas as pd

RESULTS = ("takes", "p", "happens", "worth", "ahead", "tied", "class", "people", "decision")
"""Columns of the table beside what is seen."""


def policy_table(
    case: Asked, choices: Mapping[str, Choice], happens: Mapping[str, Array]
) -> pd.DataFrame:
    """What is done for all that ever happens; of several people, by classes treated alike."""
    import pandas as pd

    found = []
    for number, who in enumerate(_classes(case, choices, happens)):
        several = case.subjects > 1
        whose = {"class": number + 1, "people": int(_people_of(case, who))} if several else {}
        for name, choice in choices.items():
            found += [whose | row for row in _rows(case, name, choice, happens[name], who)]
    return pd.DataFrame(found)


def left_out(choices: Mapping[str, Choice], happens: Mapping[str, Array]) -> list[str]:
    """How many cases of what is seen a policy does not tell, since they never happen."""
    found = []
    for name, choice in choices.items():
        never = (happens[name] <= 0).all(axis=(0, 1))
        wide = np.broadcast_to(never, choice.policy.shape[2:-1])
        if wide.any():
            found.append(
                f"{name}: {int(wide.sum()):,} of {wide.size:,} cases of what is seen before never "
                f"happen, and are left out"
            )
    return found


def _people_of(case: Asked, subjects: NDArray[np.intp]) -> float:
    return len(subjects) if case.weights is None else float(case.weights[subjects].sum())


def _classes(
    case: Asked, choices: Mapping[str, Choice], happens: Mapping[str, Array]
) -> list[NDArray[np.intp]]:
    """Subjects of whom the same is done for all that ever happens; the largest class first."""
    parts = [np.where(happens[name] > 0, c.policy.argmax(axis=-1), -1)[:, 0]
             for name, c in choices.items()]  # fmt: skip
    parts = [p.reshape(len(p), -1) for p in parts]
    wide = [np.broadcast_to(p, (case.subjects, p.shape[1])) for p in parts]
    _, of = np.unique(np.concatenate(wide, axis=1), axis=0, return_inverse=True)
    of = of.reshape(-1)
    found = [np.flatnonzero(of == c) for c in range(int(of.max()) + 1)]
    return sorted(found, key=lambda who: -_people_of(case, who))


def _rows(
    case: Asked, name: str, choice: Choice, happens: Array, who: NDArray[np.intp]
) -> list[dict[str, Any]]:
    node = case.attack.decisions[name]
    several = {"decision": name} if len(case.attack.decisions) > 1 else {}

    def mean(values: Array) -> Array:
        rows = values[who, 0] if len(values) > 1 else values[:, 0]
        own = None if case.weights is None or len(values) == 1 else case.weights[who]
        return np.asarray(np.average(rows, axis=0, weights=own))

    policy, worth, reached = mean(choice.policy), mean(choice.worth), mean(happens)
    tied = mean(choice.tied.astype(float))
    found = []
    for at in np.ndindex(*reached.shape):
        if reached[at] <= 0:
            continue
        best = int(policy[at].argmax())
        others = np.delete(worth[at], best)
        found.append({
            **several,
            **{_column(p): _seen(case, p, i) for p, i in zip(node.parents, at, strict=True)},
            "takes": node.states[best],
            "p": float(policy[at][best]),
            "happens": float(reached[at]),
            "worth": float(worth[at][best]),
            "ahead": float(worth[at][best] - others.max()),
            "tied": bool(tied[at] > 0),
        })  # fmt: skip
    return found


def _column(seen: str) -> str:
    """The column of what is seen; one that is called like a result gets a $ in front."""
    return f"${seen}" if seen in RESULTS else seen


def _seen(case: Asked, name: str, place: int) -> str:
    attack = case.attack
    if name in attack.groups:
        known = [m for j, m in enumerate(attack.groups[name].members) if place >> j & 1]
        return ", ".join(known) or "nothing"
    sizes = {n: case.base(n) for n in attack.structural}
    return attack.variable(name, sizes).states[place]
