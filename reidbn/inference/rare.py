"""Rare cases, counted on purpose: drawn often, and each kept as seldom as it really happens.

Every node is drawn from q instead of its table p: half p, half even over the states that can
happen.  A whole case x then weighs w(x) = prod_i p_i / q_i, and with M the largest weight of any
wanted case (found by max-product) a wanted case is kept with probability w/M, so that

    P(wanted and kept) = sum over wanted x of q(x) w(x) / M = P(wanted) / M                   (1)

and the number kept of n rows is Binomial(n, P(wanted)/M): the exact test of all other cells, with
every number M times larger.  What is drawn is the tables, not the stories of `act`: a rare cell
tests the elimination.  Stories are tested where they are not rare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from reidbn.errors import TooLarge
from reidbn.inference.most_probable import best_case, entries_of
from reidbn.inference.network import Array, Network, PlainNode, plain_nodes


@dataclass(frozen=True)
class RareCount:
    """Wanted cases that were kept, of so many rows; P(wanted) is `scale` times their share."""

    hits: int
    rows: int
    scale: float


def count_rare(
    networks: Sequence[Network], wanted: Mapping[str, str], rows: int, rng: np.random.Generator
) -> RareCount | None:
    """Count a rare event in networks of one subject each, drawn evenly; None if it does not help.

    The networks need tables.  A scale of 0 says that the tables make the event impossible.
    """
    try:
        upstream = [_upstream(n, wanted) for n in networks]
        largest = max(_largest_weight(n, wanted) for n in upstream)
        nodes = [plain_nodes(n) for n in upstream]
    except TooLarge:
        return None
    if largest >= 1:
        return None
    hits = 0
    shares = rng.multinomial(rows, np.full(len(networks), 1 / len(networks)))
    for network, plain, share in zip(upstream, nodes, shares.tolist(), strict=True):
        if share and largest > 0:
            weights = _weights(network, plain, wanted, share, rng)
            hits += int((rng.random(share) * largest < weights).sum())
    return RareCount(hits, rows, largest)


def _upstream(network: Network, wanted: Mapping[str, str]) -> Network:
    """The nodes that matter, so that no other one adds to the spread of the weights."""
    needed = network.ancestors(wanted)
    return replace(
        network,
        states={n: s for n, s in network.states.items() if n in needed},
        factors={n: f for n, f in network.factors.items() if n in needed},
        groups={g: m for g, m in network.groups.items() if set(m) <= needed},
    )


def tilted(table: Array) -> Array:
    """Half the table, half even over the states that can happen."""
    possible = table > 0
    return np.asarray(0.5 * table + 0.5 * possible / possible.sum(axis=-1, keepdims=True))


def _ratio(table: Array) -> Array:
    return np.where(table > 0, table / np.where(table > 0, tilted(table), 1.0), 0.0)


def _largest_weight(network: Network, wanted: Mapping[str, str]) -> float:
    """The largest w(x) of any wanted case; 0 when none can happen."""
    weighing = {n: replace(f, table=_ratio(f.table)) for n, f in network.factors.items()}
    heavy = replace(network, factors=weighing)
    return float(prod(entries_of(heavy, best_case(heavy, wanted))))


def _weights(
    network: Network,
    nodes: Sequence[PlainNode],
    wanted: Mapping[str, str],
    rows: int,
    rng: np.random.Generator,
) -> Array:
    """w(x) of sampled rows, 0 where the row is not wanted."""
    states: dict[str, np.ndarray] = {}
    weights = np.ones(rows)
    for node in nodes:
        where = tuple(states[p] for p in node.parents)
        q = np.broadcast_to(tilted(node.table)[where], (rows, len(node.states)))
        drawn = (rng.random(rows)[:, None] >= q.cumsum(axis=1)[:, :-1]).sum(axis=1)
        states[node.name] = drawn
        weights *= _ratio(node.table)[(*where, drawn)]
    for name, state in wanted.items():
        weights[states[name] != network.state_index(name, state)] = 0.0
    return weights
