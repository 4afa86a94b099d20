"""Decisions that have to be taken together: which those are, every policy of theirs, and its price.

A decision can be solved for itself when, given what is seen and taken there, the utilities that it
can still move do not depend on how the others are taken (Lauritzen and Nilsson's extremal decisions
[LauritzenNilsson01]).  Of those that are left all policies are tried, where they are few:

    max_a sum_s max_d sum_u W(u, s, d) [a takes in u what it says]                        (1)

over the policies a of all decisions but one, which sees s and takes d; W is utility times chance,
summed for each case that all of them see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.decides import eagerness, holds_back
from reidbn.cpds.protocol import Array

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack

ROUNDING = 1e-12  # of what is added up: so near to the best is as good as the best
MOST_POLICIES = 100_000  # of all decisions but one, for one case of what all of them see
MOST_TRIED = 1 << 22  # policies times cases and options
MOST_TOGETHER = 1 << 14  # cases of all that is seen together, times options
TABLES = 10  # as large as all that they see and take together, at once


def spelled(parents: Iterable[str], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Nodes, and groups as their members, slowest bit first."""
    return [name for p in parents for name in (reversed(groups[p]) if p in groups else (p,))]


def order_of(
    attack: Attack, leaning: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The decisions that can be solved for themselves, in that order, and those that cannot.

    `leaning` are the nodes by which ties between policies are broken, if by any.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(attack.all_nodes)
    graph.add_edges_from((p, n.name) for n in attack.all_nodes.values()
                         for p in attack.parent_nodes(n))  # fmt: skip
    worth = {f"~{utility.name}": utility.of for utility in attack.utilities.values()}
    worth |= {"~": tuple(leaning)} if leaning else {}
    graph.add_edges_from((node, name) for name, of in worth.items() for node in of)
    families = {d: {d, *graph.predecessors(d)} for d in attack.decisions}
    left, found = [*attack.decisions][::-1], []
    while left:
        ready = next((d for d in left if _is_extremal(graph, d, left, families, worth)), None)
        if ready is None:
            break
        left.remove(ready)
        found.append(ready)
    return tuple(found), tuple(left)


def _is_extremal(
    graph: nx.DiGraph[str], decision: str, left: Sequence[str],
    families: Mapping[str, set[str]], worth: Iterable[str],
) -> bool:  # fmt: skip
    own = families[decision]
    others = set().union(*(families[d] for d in left if d != decision)) - own
    moved = {*nx.descendants(graph, decision)} & {*worth}
    return not others or all(
        nx.is_d_separator(graph, {utility}, others - {utility}, own) for utility in moved
    )


@dataclass(frozen=True)
class Tried:
    """All policies of decisions that have to be taken together: what each sees, and how many."""

    families: Mapping[str, Sequence[str]]
    states: Callable[[str], tuple[str, ...]]

    @classmethod
    def of(
        cls, attack: Attack, states: Callable[[str], tuple[str, ...]], decisions: Sequence[str]
    ) -> Tried:
        nodes = {d: attack.decisions[d] for d in decisions}
        groups = {name: group.members for name, group in attack.groups.items()}
        families = {d: [*sorted(spelled(n.parents, groups)), d] for d, n in nodes.items()}
        return cls(families, states)

    def size(self, name: str) -> int:
        return len(self.states(name))

    @cached_property
    def common(self) -> list[str]:
        """What all of them see: every case of it is looked at by itself."""
        first, *more = (family[:-1] for family in self.families.values())
        return [n for n in first if all(n in seen for seen in more)]

    def own(self, decision: str) -> list[str]:
        """What not all see, and the decision."""
        return [n for n in self.families[decision] if n not in self.common]

    def count(self, decision: str) -> int:
        *seen, _ = self.own(decision)
        return int(self.size(decision) ** prod(map(self.size, seen)))

    @cached_property
    def last(self) -> str:
        """The one with most policies: given the others', its best is read off case by case."""
        return max(self.families, key=self.count)

    @cached_property
    def others(self) -> list[str]:
        return [d for d in self.families if d != self.last]

    @cached_property
    def counts(self) -> list[int]:
        return [self.count(d) for d in self.others]

    @cached_property
    def left(self) -> list[str]:
        """What neither all see nor the last one."""
        names = dict.fromkeys(n for d in self.others for n in self.own(d))
        return [n for n in names if n not in self.own(self.last)]

    @property
    def shape(self) -> list[int]:
        return [self.size(n) for n in (*self.left, *self.own(self.last))]

    @property
    def are_few(self) -> bool:
        return prod(self.counts) <= min(MOST_POLICIES, MOST_TRIED // prod(self.shape))

    def cells(self, payoffs: Iterable[Sequence[str]]) -> int:
        """Numbers in the largest table that is summed up, of one person at one setting."""
        every = {*self.common, *self.left, *self.own(self.last)}
        return max(prod(map(self.size, {*every, *of})) for of in payoffs)

    def is_tried(self, payoffs: Iterable[Sequence[str]]) -> bool:
        """Whether the policies are few enough to try them all."""
        return self.cells(payoffs) <= MOST_TOGETHER and self.are_few

    @property
    def work(self) -> int:
        """Multiplications of one person at one setting."""
        return prod(map(self.size, self.common)) * prod(self.counts) * prod(self.shape)

    def policies(self, decision: str) -> Array:
        """Every policy of one: axes policy, what it sees for itself, options; eager ones first."""
        options = self.states(decision)
        *seen, _ = map(self.size, self.own(decision))
        every = [*product(eagerness(options), repeat=prod(seen))]
        return np.asarray(np.eye(len(options))[np.array(every)].reshape(-1, *seen, len(options)))

    def best(
        self, worth: Array, chance: Array, near: Array, leaning: Array | None
    ) -> tuple[NDArray[np.intp], dict[str, Array]]:
        """Row by row the policy of the others within `near` of the best that attacks most.

        With `leaning`, that with most of it.
        And where a policy as good takes another option: row x what is seen x options, of each.
        """
        names = [*self.left, *self.own(self.last)]
        k = len(names)
        operands: list[Any] = [np.ones(self.shape), [*range(k)]]
        for i, d in enumerate(self.others):
            operands += [self.policies(d), [k + i, *(names.index(n) for n in self.own(d))]]
        fits = np.einsum(*operands, [*range(k, k + len(self.others)), *range(k)])
        options = self.states(self.last)
        seen = prod(map(self.size, self.own(self.last)))
        fits = fits.reshape(prod(self.counts), -1, seen).transpose(2, 1, 0)

        def summed(table: Array, rows: NDArray[np.intp]) -> Array:
            """What the last one sees x options x row x policy of the others."""
            by_case = table[rows].reshape(len(rows), -1, seen).transpose(2, 0, 1) @ fits
            return np.asarray(by_case.reshape(-1, len(options), *by_case.shape[1:]))

        eager = eagerness(options)
        found = np.empty(len(near), dtype=np.intp)
        tied = {d: np.zeros((len(near), *self._cells(d))) for d in self.families}
        step = max(1, MOST_TRIED // (seen * prod(self.counts)))
        for start in range(0, len(near), step):
            rows = np.arange(start, min(start + step, len(near)))
            each = summed(worth, rows)
            value = each.max(axis=1).sum(axis=0)
            good = value >= value.max(axis=-1, keepdims=True) - near[rows, None]
            found[rows] = good.argmax(axis=-1)
            several = good.sum(axis=-1) > 1
            rows, each, good = rows[several], each[:, :, several], good[several]
            if not len(rows):
                continue
            as_good = each >= each.max(axis=1, keepdims=True) - near[rows, None]
            self._note_ties(tied, rows, good, as_good)
            if leaning is not None:
                most = np.where(as_good, summed(leaning, rows), -np.inf).max(axis=1).sum(axis=0)
                found[rows] = np.where(good, most, -np.inf).argmax(axis=-1)
                continue
            taken = np.array(eager)[as_good[:, eager].argmax(axis=1)][:, None]
            for weight in self._attacking(names):
                most = summed(chance * weight, rows)
                most = np.take_along_axis(most, taken, axis=1).sum(axis=(0, 1))
                most = np.where(good, most, -1.0)
                good &= most >= most.max(axis=-1, keepdims=True) - ROUNDING * len(self.families)
            found[rows] = good.argmax(axis=-1)
        return found, tied

    def _cells(self, decision: str) -> tuple[int, int]:
        """Cases of what one sees for itself, and its options."""
        *seen, options = map(self.size, self.own(decision))
        return prod(seen), options

    def _attacking(self, names: Sequence[str]) -> list[Array]:
        """Whether anybody attacks, and how eager the options are: each flat over the names."""
        calm, eager = np.ones(self.shape), np.zeros(self.shape)
        for d in self.families:
            options = self.states(d)
            rank = np.empty(len(options))
            rank[eagerness(options)] = np.linspace(1.0, 0.0, len(options))
            along = [-1 if n == d else 1 for n in names]
            calm = calm * (np.arange(len(options)) == holds_back(options)).reshape(along)
            eager = eager + rank.reshape(along)
        return [(1.0 - calm).reshape(-1), eager.reshape(-1)]

    def _note_ties(
        self, tied: Mapping[str, Array], rows: NDArray[np.intp],
        good: NDArray[np.bool_], as_good: NDArray[np.bool_],
    ) -> None:  # fmt: skip
        """Write where policies as good differ: `good` of the others, `as_good` of the last."""
        by_policy = good.reshape(len(rows), *self.counts)
        for i, d in enumerate(self.others):
            axes = tuple(j + 1 for j in range(len(self.others)) if j != i)
            policies = self.policies(d).reshape(self.counts[i], -1)
            ever = by_policy.any(axis=axes).astype(float) @ policies > 0
            tied[d][rows] = (ever.reshape(len(rows), *self._cells(d)).sum(-1) > 1)[..., None]
        ever = (as_good & good).any(axis=-1)  # what is seen x options x row
        tied[self.last][rows] = (ever.sum(axis=1) > 1).T[..., None]


def numbers_together(
    attack: Attack, states: Callable[[str], tuple[str, ...]], leaning: Sequence[str] = ()
) -> int:
    """Numbers that those who decide together take at once, of one person at one setting."""
    local = order_of(attack, leaning)[1]
    if not local:
        return 0
    tried = Tried.of(attack, states, sorted(local))
    of = [utility.of for utility in attack.utilities.values()]
    return TABLES * tried.cells([*of, leaning]) if tried.is_tried(of) else 0
