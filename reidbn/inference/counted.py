"""How sure an answer is that stands on counts: the interval of a `measured` node's shares.

Given counts n of the states, and a prior of `prior` a state, the shares follow a Dirichlet law with
n + prior; DRAWS of them are asked as if they were so many people, in one go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attack.parts import PROBABILITY
from reidbn.cpds.rows import MeasuredShares
from reidbn.inference.network import Array
from reidbn.inference.query import Query

DRAWS, SEED, LEVEL = 4_000, 20250101, 0.95
FEWEST = 200  # draws that an interval is told of: five beyond either end
Joint = Callable[[Attack, Query, Mapping[str, Any], Mapping[str, Array]], Array]


def counted_nodes(attack: Attack, nodes: Iterable[str]) -> list[str]:
    """Nodes whose shares stand on counts."""
    kinds = {name: attack.all_nodes[name].cpd for name in nodes}
    return sorted(
        n for n, cpd in kinds.items() if isinstance(cpd, MeasuredShares) and cpd.counts is not None
    )


def by_counts(
    attack: Attack,
    names: Iterable[str],
    query: Query,
    settings: Mapping[str, Any],
    columns: Mapping[str, Array],
    joint: Joint,
) -> Array:
    """P(targets, evidence) at DRAWS of the shares of these nodes: draw x 1 x targets."""
    rng = np.random.default_rng(SEED)
    drawn = dict(columns)
    for name in names:
        node = attack.all_nodes[name]
        assert isinstance(node.cpd, MeasuredShares)  # noqa: S101 - the caller looked
        column = attack.subject[str(node.cpd.counts)[1:]]
        shares = rng.gamma(columns[column.name] + node.cpd.prior, size=(
            DRAWS, *columns[column.name].shape[1:]))  # fmt: skip
        drawn[column.name] = shares / shares.sum(axis=-1, keepdims=True)
        told = replace(column, unit=PROBABILITY, low=0.0, high=1.0)
        attack = attack.replace(
            nodes=attack.nodes.replace(replace(node, cpd=MeasuredShares(p=node.cpd.counts))),
            subject=attack.subject.replace(told),
            example={},
        )
    return joint(attack, query, settings, drawn)


def interval(wanted: Array, given: Array) -> tuple[tuple[float, float] | None, float]:
    """The middle of the answers at all draws at which what is given can be, and their share.

    An attacker who decides may never do what is given at the others.  None of few draws.
    """
    can = given > 0
    share = float(can.mean())
    if can.sum() < FEWEST:
        return None, share
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(wanted[can] / given[can], [tail, 1 - tail])
    return (float(low), float(high)), share
