"""Brute force: write down every case of the whole story and add up those that fit.

The oracle of the other engines, and a lesson: it shares nothing with them but the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10, prod

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge
from reidbn.inference.network import Array, Factor, Network

MOST_CASES = 1 << 22


def cases(network: Network) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """All nodes, and one row of state positions for every case of the story."""
    names = tuple(network.factors)
    sizes = [network.size(n) for n in names]
    total = prod(sizes)
    if total > MOST_CASES:
        raise TooLarge(
            f"enumeration would write down 10^{log10(total):.0f} cases and stops at "
            f"{MOST_CASES:,}; use the exact engine"
        )
    return names, np.indices(sizes, dtype=np.intp).reshape(len(names), -1)


def joint(
    network: Network,
    targets: Sequence[str],
    evidence: Mapping[str, str],
    *,
    subject: int = 0,
    setting: int = 0,
) -> Array:
    """P(targets, evidence) of one subject at one setting, one axis per target."""
    rows, position, p = _weighed(network, evidence, subject, setting)
    shape = [network.size(t) for t in targets]
    where = np.ravel_multi_index([rows[position[t]] for t in targets], shape) if targets else 0
    flat = np.bincount(np.broadcast_to(where, p.shape), weights=p, minlength=int(np.prod(shape)))
    return np.asarray(flat.reshape(shape), dtype=float)


def _weighed(
    network: Network, evidence: Mapping[str, str], subject: int, setting: int
) -> tuple[NDArray[np.intp], dict[str, int], Array]:
    """Every case, where each node stands in it, and its probability; 0 without the evidence."""
    names, rows = cases(network)
    position = {name: i for i, name in enumerate(names)}
    p = np.ones(rows.shape[1])
    for factor in network.factors.values():
        p *= _entries(network, factor, rows, position, subject, setting)
    for node, state in evidence.items():
        p[rows[position[node]] != network.state_index(node, state)] = 0.0
    return rows, position, p


def _entries(
    network: Network,
    factor: Factor,
    rows: NDArray[np.intp],
    position: Mapping[str, int],
    subject: int,
    setting: int,
) -> Array:
    """The factor's entry in every case."""
    table = factor.table
    table = table[subject if table.shape[0] > 1 else 0, setting if table.shape[1] > 1 else 0]
    index = []
    for parent in factor.parents:
        if parent in network.groups:
            members = network.groups[parent]
            index.append(sum(rows[position[m]] << j for j, m in enumerate(members)))
        else:
            index.append(rows[position[parent]])
    entries: Array = table[(*index, rows[position[factor.child]])]
    return entries


def most_probable(
    network: Network, evidence: Mapping[str, str], *, subject: int = 0, setting: int = 0
) -> tuple[dict[str, str], float]:
    """The single most probable case that fits the evidence, and its probability P(case)."""
    rows, position, p = _weighed(network, evidence, subject, setting)
    best = int(np.argmax(p))
    return {n: network.states[n][rows[i, best]] for n, i in position.items()}, float(p[best])
