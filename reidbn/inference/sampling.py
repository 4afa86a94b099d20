"""Forward sampling: let every node act its story out, parents before children.

Nodes with a story draw it (the leak is drawn, the newcomers are seated); the others draw from
their table.  The generator is the caller's own: NumPy's global stream is never touched.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError
from reidbn.inference.network import Network

States = NDArray[np.intp]


def forward(
    network: Network,
    rows: int,
    rng: np.random.Generator,
    *,
    setting: int = 0,
    subject: States | None = None,
    wanted: Iterable[str] | None = None,
) -> dict[str, States]:
    """State positions of every node (or of what is upstream of `wanted`) in `rows` sampled cases.

    `subject` names the subject of each row; by default subjects are drawn uniformly.
    """
    if rows < 1:
        raise UsageError(f"cannot sample {rows} rows: need at least 1")
    if subject is None:
        subject = rng.integers(network.subjects, size=rows)
    needed = network.ancestors(wanted) if wanted is not None else set(network.factors)
    states: dict[str, States] = {}
    for name, factor in network.factors.items():
        if name in needed and not factor.is_hidden:  # a node acts whole, not in steps
            if factor.act is None:
                raise UsageError(f"{name} has a table but no way to act; lower it from an attack")
            states[name] = factor.act(rng, states, subject, setting)
    return states


def matching(
    network: Network, states: dict[str, States], wanted: dict[str, str]
) -> NDArray[np.bool_]:
    """Which sampled rows have all the wanted states."""
    keep: NDArray[np.bool_] = np.asarray(True)
    for node, state in wanted.items():
        keep = keep & (states[node] == network.state_index(node, state))
    return keep
