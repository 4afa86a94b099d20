"""A Bayesian network learnt from the table: a tree, rooted at the secret [ChowLiu68].

Among all trees it has the highest likelihood: the maximum spanning tree of the mutual information
of every two variables.  Each row of a table P(x | u) is smoothed with a Dirichlet prior at the
variable's own distribution m (with half a person more per value), (n_xu + a m_x) / (n_u + a), so
nothing is ever impossible.
The posterior of the secret given any known columns is exact, by messages towards the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from reidbn.microdata.classes import Codes, Floats, Ints

_ROWS = 256


@dataclass(frozen=True, eq=False)
class SecretTree:
    """A tree of conditional tables; `tables[c]` has axes (parent's value, own value)."""

    names: tuple[str, ...]
    secret: int
    parent: tuple[int, ...]
    """Parent of each variable; -1 for the secret, the root."""
    prior: Floats
    tables: dict[int, Floats]

    @classmethod
    def learn(
        cls,
        codes: Codes,
        cardinalities: Sequence[int],
        names: Sequence[str],
        secret: int,
        *,
        strength: float = 1.0,
    ) -> SecretTree:
        """The tree of greatest mutual information; `strength` is the Dirichlet prior's weight a."""
        parent = spanning_tree(mutual_information(codes, cardinalities), secret)
        margins = [margin(codes[:, j], size) for j, size in enumerate(cardinalities)]
        tables = {}
        for child, above in enumerate(parent):
            if above >= 0:
                counts = _counts(codes, above, child, cardinalities)
                seen = counts.sum(axis=1, keepdims=True)
                tables[child] = (counts + strength * margins[child]) / (seen + strength)
        return cls(tuple(names), secret, parent, margins[secret], tables)

    @cached_property
    def children(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {j: [] for j in range(len(self.parent))}
        for child, above in enumerate(self.parent):
            if above >= 0:
                found[above].append(child)
        return found

    @cached_property
    def below(self) -> dict[int, int]:
        """The variables at and below each one, as a mask."""
        found: dict[int, int] = {}

        def go(node: int) -> int:
            found[node] = 1 << node | sum(go(child) for child in self.children[node])
            return found[node]

        go(self.secret)
        return found

    def posterior(self, codes: Codes, known: Sequence[int]) -> Floats:
        """P(secret = v | the known values), people x values.

        >>> rows = np.array([[0, 0], [0, 0], [1, 1], [1, 0]], dtype=np.int32)
        >>> tree = SecretTree.learn(rows, (2, 2), ("sex", "sick"), 1, strength=1.0)
        >>> tree.posterior(rows[:1], [0]).round(3).tolist()
        [[0.854, 0.146]]
        """
        mask = sum(1 << j for j in known)
        parts = [
            self._posterior(codes[first : first + _ROWS], mask, {})
            for first in range(0, len(codes), _ROWS)
        ]
        return np.concatenate(parts)

    def least_other(self, codes: Codes, known: Sequence[int]) -> tuple[Floats, Ints]:
        """Per person the least posterior of *not* having the own secret, over non-empty subsets.

        And the first subset that attains it (to 1e-12), by size and then by column.
        """
        masks = [
            sum(1 << j for j in some)
            for size in range(1, len(known) + 1)
            for some in combinations(known, size)
        ]
        least, at = np.full(len(codes), np.inf), np.zeros(len(codes), dtype=np.int64)
        for first in range(0, len(codes), _ROWS):
            rows = slice(first, min(first + _ROWS, len(codes)))
            part, memo = codes[rows], dict[tuple[int, int], Floats]()
            for mask in masks:
                other = 1 - self._own(self._posterior(part, mask, memo), part)
                better = other < least[rows] - 1e-12
                at[rows] = np.where(better, mask, at[rows])
                least[rows] = np.where(better, other, least[rows])
        return least, at

    def own_share(self, codes: Codes, known: Sequence[int]) -> Floats:
        """The posterior of each person's own secret."""
        return self._own(self.posterior(codes, known), codes)

    def _own(self, posterior: Floats, codes: Codes) -> Floats:
        own: Floats = np.take_along_axis(posterior, codes[:, self.secret, None], axis=1)[:, 0]
        return own

    def _posterior(self, codes: Codes, mask: int, memo: dict[tuple[int, int], Floats]) -> Floats:
        joint = np.broadcast_to(self.prior, (len(codes), self.prior.size)).copy()
        for child in self.children[self.secret]:
            if mask & self.below[child]:
                joint *= self._message(child, codes, mask & self.below[child], memo)
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    def _message(
        self, node: int, codes: Codes, mask: int, memo: dict[tuple[int, int], Floats]
    ) -> Floats:
        """P(what is known at and below the node | the parent's value), people x parent's values."""
        if (node, mask) in memo:
            return memo[node, mask]
        table, own = self.tables[node], codes[:, node]
        inside = [child for child in self.children[node] if mask & self.below[child]]
        messages = [self._message(c, codes, mask & self.below[c], memo) for c in inside]
        if mask >> node & 1:
            found = table[:, own].T.copy()
            for message in messages:
                found *= np.take_along_axis(message, own[:, None], axis=1)
        else:
            product = messages[0]
            for message in messages[1:]:
                product = product * message
            found = product @ table.T
        memo[node, mask] = found
        return found

    def to_pgmpy(self) -> Any:
        """The same network as a checked pgmpy DiscreteBayesianNetwork; states are code numbers."""
        from reidbn.inference.pgmpy_bridge import check, pgmpy, tabular

        model = pgmpy().DiscreteBayesianNetwork()
        model.add_nodes_from(self.names)
        sizes = {child: table.shape[1] for child, table in self.tables.items()}
        sizes[self.secret] = self.prior.size
        states = {j: [str(code) for code in range(size)] for j, size in sizes.items()}
        for j, above in enumerate(self.parent):
            if above < 0:
                model.add_cpds(tabular(self.names[j], states[j], {}, self.prior))
            else:
                model.add_edge(self.names[above], self.names[j])
                over = {self.names[above]: states[above]}
                model.add_cpds(tabular(self.names[j], states[j], over, self.tables[j]))
        check(model)
        return model


def margin(column: Codes, size: int) -> Floats:
    """The distribution of a column, with half a person more for each value: none is impossible.

    >>> margin(np.array([0, 0, 1]), 3).round(3)
    array([0.556, 0.333, 0.111])
    """
    counts = np.bincount(column, minlength=size) + 0.5
    return np.asarray(counts / counts.sum())


def _counts(codes: Codes, one: int, two: int, sizes: Sequence[int]) -> Floats:
    key = codes[:, one].astype(np.int64) * sizes[two] + codes[:, two]
    table = np.bincount(key, minlength=sizes[one] * sizes[two]).astype(np.float64)
    return table.reshape(sizes[one], sizes[two])


def mutual_information(codes: Codes, sizes: Sequence[int]) -> Floats:
    count = len(sizes)
    found = np.zeros((count, count))
    for one, two in combinations(range(count), 2):
        joint = _counts(codes, one, two, sizes) / len(codes)
        apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        seen = joint > 0
        information = float((joint[seen] * np.log(joint[seen] / apart[seen])).sum())
        found[one, two] = found[two, one] = information
    return found


def spanning_tree(weight: Floats, root: int) -> tuple[int, ...]:
    """Each variable's parent in the maximum spanning tree, grown from the root (Prim)."""
    count = len(weight)
    parent, reach = np.full(count, root), weight[root].copy()
    inside = np.zeros(count, dtype=bool)
    inside[root] = True
    for _ in range(count - 1):
        new = int(np.where(inside, -np.inf, reach).argmax())
        inside[new] = True
        closer = ~inside & (weight[new] > reach)
        parent[closer], reach[closer] = new, weight[new][closer]
    parent[root] = -1
    return tuple(parent.tolist())
