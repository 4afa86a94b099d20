"""The attacker's best policy, worked out on the network and written into it as tables.

Decisions, in the order in which they can be solved, each against what is solved already:

    worth(s, d) = E[utility | seen s, taken d]                                            (1)

Tables over nothing but what is seen cancel in (1) and are left out: what is seen there counts as
given, so that (1) also says what an option is worth where such a table holds the case impossible.
An option that nothing beats is taken; within rounding of the best is as good as the best, and
there `yes` goes first.  A decision can be solved for itself when, given what is seen and taken
there, the utilities that it can still move do not depend on how the others are taken
(Lauritzen and Nilsson's extremal decisions [LauritzenNilsson01]); where every one can, as with an
attacker who forgets nothing, the policy is the best there is.  Else all policies are tried where
they are few, and the best is taken:

    max_a sum_s max_d sum_u W(u, s, d) [a takes in u what it says]                        (2)

over the policies a of all decisions but one, which sees s and takes d; W is utility times chance,
summed for each case that all of them see.  Of policies that are worth the same it is the one with
the highest P(attack), then the one whose options are the most eager, decision by decision; in which
order anything was declared has no say.  Where they are too many, single policies are updated
until none is better alone, from several starts: the policy is local, may be worse than the best,
and no answer is built on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.decides import eagerness, holds_back
from reidbn.cpds.protocol import Array, draw
from reidbn.errors import EngineError, UsageError
from reidbn.inference.exact import Plan
from reidbn.inference.network import FAULT, Actor, Factor, Network, States

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack

ROUNDING = 1e-12  # of what is added up: so near to the best is as good as the best
MOST_ROUNDS = 1_000
MOST_POLICIES = 100_000  # of all decisions but one, for one case of what all of them see
MOST_TRIED = 1 << 22  # policies times cases and options
MOST_TOGETHER = 1 << 14  # cases of all that is seen together, times options


@dataclass(frozen=True)
class Payoff:
    """One utility as numbers: axes subject, setting, then the nodes that it is of."""

    of: tuple[str, ...]
    table: Array


@dataclass(frozen=True)
class Choice:
    """One decision solved: axes subject, setting, what is seen, options; 1 where it matters not."""

    policy: Array
    worth: Array
    tied: NDArray[np.bool_]
    """Whether another option was as good, by itself or in another policy of those who decide
    together: without the last axis."""


@dataclass(frozen=True)
class Solved:
    """A network with the policies in the places of the decisions, and what they are worth."""

    network: Network
    choices: Mapping[str, Choice]
    local: tuple[str, ...]
    """Decisions of which each is the best only while the others stay as they are."""
    payoffs: tuple[Payoff, ...]

    @property
    def is_exact(self) -> bool:
        """No policy is worth more."""
        return not self.local

    def value(self) -> Array:
        """What the attacker expects: axes subject, setting."""
        total = np.zeros((1, 1))
        for payoff in self.payoffs:
            p = Plan(payoff.of, {}).joint(self.network)
            lead = np.broadcast_shapes(p.shape[:2], payoff.table.shape[:2])
            total = total + (p * payoff.table).reshape(*lead, -1).sum(axis=-1)
        return total


# -- which decisions can be solved, and in which order ---------------------------------------------


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


# -- solving ---------------------------------------------------------------------------------------


@dataclass
class Solver:
    """All that is needed to solve the decisions of one network."""

    attack: Attack
    network: Network
    payoffs: Mapping[str, Payoff]
    temperatures: Mapping[str, Array]
    act: Callable[[str, Array], Actor]
    check: bool
    may_be_local: bool
    """Whether a policy than which another may be worth more is taken, and not refused."""
    leaning: Payoff | None = None
    """Of policies that are worth the same, that with most of this is taken, if it is said."""
    do: Mapping[str, str] = field(default_factory=dict)
    """What is brought about where that is looked at: the policy knows nothing of it."""

    def worth(self, decision: str, network: Network) -> tuple[Array, Array, Array]:
        """Equation (1), a chance above 0 where it says something, and how large sums can be."""
        total, chance, size = self._weighed(_family(network, decision), {decision}, network)
        total = _by_parents(network, decision, total)
        chance = _by_parents(network, decision, chance)
        size = size.reshape(*size.shape[:2], *(1 for _ in chance.shape[2:]))
        return total / np.where(chance > 0, chance, 1.0), chance.sum(axis=-1), size

    def _weighed(
        self, family: Sequence[str], decisions: Set[str], network: Network
    ) -> tuple[Array, Array, Array]:
        """Utility times chance, the chance, and how large sums can be; an axis for each node."""
        moved = [
            p for p in self.payoffs.values() if not decisions.isdisjoint(network.ancestors(p.of))
        ]
        return self._summed(family, moved or [Payoff((), np.zeros((1, 1)))], network)

    def _summed(
        self, family: Sequence[str], payoffs: Iterable[Payoff], network: Network
    ) -> tuple[Array, Array, Array]:
        total = size = np.zeros((1, 1) + (1,) * len(family))
        chance: Array | None = None
        for payoff in payoffs:
            names = [*family, *(n for n in payoff.of if n not in family)]
            p = Plan(names, {}).joint(network, check=self.check)
            place = {name: i for i, name in enumerate(names)}
            of, kept = [place[n] for n in payoff.of], [*range(len(family))]
            axes: list[Any] = [p, [..., *place.values()], payoff.table, [..., *of], [..., *kept]]
            total = total + np.einsum(*axes)
            most = np.abs(payoff.table).max(axis=tuple(range(2, payoff.table.ndim)))
            size = size + most.reshape(*most.shape, *(1 for _ in family))
            if chance is None:
                chance = p.sum(axis=tuple(range(2 + len(family), p.ndim)))
        assert chance is not None  # noqa: S101 - there is a payoff, if only one of nothing
        return total, chance, size

    def choice(self, decision: str, network: Network) -> Choice:
        """The best of one decision, all others as they are in the network."""
        trial = written(network, decision, _even(network, decision), None)
        trial = _given_what_is_seen(trial, {*_family(trial, decision)} - {decision})
        worth, known, size = self.worth(decision, trial)
        options = [worth[..., i] for i in range(worth.shape[-1])]  # few: a pass for each is quick
        best = reduce(np.maximum, options)
        near = best - ROUNDING * size[..., 0]
        leaning = self._leaning(decision, trial)
        fits = [option >= near for option in options]
        most = reduce(
            np.maximum, [np.where(f, x, -np.inf) for f, x in zip(fits, leaning, strict=True)]
        )
        policy = np.zeros((*most.shape, len(options)))
        taken, good = np.zeros(most.shape, dtype=bool), np.zeros(most.shape, dtype=np.int8)
        for i in eagerness(network.states[decision]):
            first = fits[i] & (leaning[i] >= most) & ~taken
            policy[..., i] = first
            taken |= first
            good += fits[i]
        heat = self.temperatures[decision]
        if (heat > 0).any():
            warm = np.exp((worth - best[..., None]) / np.where(heat > 0, heat, 1.0))
            soft = warm / warm.sum(axis=-1, keepdims=True)
            # What is never seen says nothing of what an option is worth there.
            policy = np.where((heat > 0) & (known[..., None] > 0), soft, policy)
        return Choice(policy, worth, (good > 1) & ~(heat[..., 0] > 0))

    def _leaning(self, decision: str, network: Network) -> list[Array]:
        """What ties between options are broken by, case by case of what is seen; or nothing."""
        if self.leaning is None or decision in self.do:
            return [np.zeros((1, 1))] * network.size(decision)
        family = _family(network, decision)
        total = self._summed(family, [self.leaning], network.do(self.do))[0]
        return [*np.moveaxis(_by_parents(network, decision, total), -1, 0)]

    def put(self, network: Network, decision: str, policy: Array) -> Network:
        return written(network, decision, policy, self.act(decision, policy))

    def solve(self) -> Solved:
        sure, local = order_of(self.attack, () if self.leaning is None else self.leaning.of)
        network, choices = self.network, {}
        is_best, tied = True, dict[str, NDArray[np.bool_]]()
        for decision in sure:
            choices[decision] = self.choice(decision, network)
            network = self.put(network, decision, choices[decision].policy)
        if local:
            network, is_best, tied = self._together(network, sorted(local))
            for decision in local:
                choice = self.choice(decision, network)
                choices[decision] = replace(
                    choice, policy=network.factors[decision].table,
                    tied=choice.tied | tied.get(decision, False),
                )  # fmt: skip
        return Solved(network, choices, () if is_best else local, tuple(self.payoffs.values()))

    def _together(
        self, network: Network, local: Sequence[str]
    ) -> tuple[Network, bool, dict[str, NDArray[np.bool_]]]:
        """Decisions that cannot be solved for themselves, whether no policy is better, and ties."""
        if any((self.temperatures[d] > 0).any() for d in local):
            raise UsageError(
                f"{self.attack.name}: {', '.join(local)} have to be decided together, since what "
                f"one sees the other does not: with a temperature there is no telling where that "
                f"settles. Let the later decision see what the earlier saw, or leave it out"
            )
        best = self._best_of_all(network, local)
        if self.leaning is not None and (best is None or not self.do.keys().isdisjoint(local)):
            raise UsageError(
                f"{self.attack.name}: options are worth the same to the attacker, and which of "
                f"them has the highest answer cannot be told, since {', '.join(local)} would have "
                f"to be tried together. Let one be worth a little more to him (a cost in the "
                f"utilities), or say which policy to answer for"
            )
        if best is None:
            if not self.may_be_local:
                self._refuse_local(local)
            return self._one_at_a_time(network, local), False, {}
        network, tied = best
        return self._settled(network, local), True, tied  # as good, and ties as of one decision

    def _best_of_all(
        self, network: Network, local: Sequence[str]
    ) -> tuple[Network, dict[str, NDArray[np.bool_]]] | None:
        """The best policy by equation (2), and ties; None where there are too many to try."""
        tried = Tried.of(network, local)
        if tried.cells(self.payoffs.values(), local) > MOST_TOGETHER or not tried.are_few:
            return None
        even = _given_what_is_seen(network, {*tried.common})
        names = [*tried.common, *tried.left, *tried.own(tried.last)]
        total, chance, size = self._weighed(names, {*local}, even)
        first = None
        if self.leaning is not None:
            first = self._summed(names, [self.leaning], even.do(self.do))[0]
        lead = np.broadcast_shapes(total.shape[:2], () if first is None else first.shape[:2])
        rows = (*lead, *(network.size(n) for n in tried.common))
        scale = prod(network.size(n) for n in (*tried.common, *local))
        near = ROUNDING * np.broadcast_to(
            size.reshape(*size.shape[:2], *(1 for _ in tried.common)), rows
        )  # fmt: skip

        def flat(table: Array) -> Array:
            table = np.broadcast_to(table, (*lead, *(network.size(n) for n in names)))
            return scale * table.reshape(prod(rows), -1)

        leaning = None if first is None else flat(first)
        which, tied = tried.best(flat(total), flat(chance), near.reshape(-1), leaning)

        def placed(d: str, table: Array) -> Array:
            """A table by case, what d sees for itself and options, by parents."""
            order = [*tried.common, *tried.own(d)]
            table = table.reshape(*rows[:2], *(network.size(n) for n in order))
            axes = [2 + order.index(n) for n in _family(network, d)]
            return _by_parents(network, d, table.transpose(0, 1, *axes))

        for d, number in zip(tried.others, np.unravel_index(which, tried.counts), strict=True):
            network = self.put(network, d, placed(d, tried.policies(d)[number]))
        network = self.put(network, tried.last, self.choice(tried.last, network).policy)
        return network, {d: placed(d, table)[..., 0] > 0 for d, table in tied.items()}

    def _refuse_local(self, local: Sequence[str]) -> None:
        """Raise: another policy may be worth more, and its risk be higher, than the one found."""
        said = (
            f"{self.attack.name}: {', '.join(local)} have to be decided together, since what one "
            f"sees the other does not, and their policies are too many to try them all: that of "
            f"{{}} is local, another may be worth more to the attacker, and its risk may be "
            f"higher. Let the later decision see what the earlier saw and did, let them see fewer "
            f"nodes, or say which policy to answer for, which is then kept whatever is asked or "
            f"set: {{}}"
        )
        raise UsageError(
            said.format("rb.decide", "attack.with_policy(...), or rb.decide(attack).attack, "
                        "which has that of rb.decide for one person written in (a table takes a "
                        "node with rows)"),
            in_shell=said.format("reidbn decide", "--policy 'DECISION=OPTION if NODE=STATE'"),
        )  # fmt: skip

    def _one_at_a_time(self, network: Network, local: Sequence[str]) -> Network:
        """Single policies updated until none is better alone; of several starts the best."""
        found: Network | None = None
        value = np.zeros((1, 1))
        for start in ("even", "eager", "timid"):
            trial = network
            for d in local if start != "even" else ():
                options = network.states[d]
                first = eagerness(options)[0] if start == "eager" else holds_back(options)
                one = np.eye(len(options))[first]
                trial = self.put(trial, d, np.broadcast_to(one, _even(network, d).shape))
            trial = self._settled(trial, local)
            worth = Solved(trial, {}, (), tuple(self.payoffs.values())).value()
            if found is None:
                found, value = trial, worth
                continue
            better = worth > value + ROUNDING * (np.abs(value) + np.abs(worth))
            for d in local:
                here, there = found.factors[d].table, trial.factors[d].table
                keep = better.reshape(*better.shape, *(1,) * (here.ndim - 2))
                found = self.put(found, d, np.where(keep, there, here))
            value = np.where(better, worth, value)
        assert found is not None  # noqa: S101 - there are three starts
        return found

    def _settled(self, network: Network, local: Sequence[str]) -> Network:
        for _ in range(MOST_ROUNDS):
            before = [network.factors[d].table for d in local]
            for d in local:
                network = self.put(network, d, self.choice(d, network).policy)
            after = [network.factors[d].table for d in local]
            if all(
                a.shape == b.shape and (a == b).all() for a, b in zip(before, after, strict=True)
            ):
                return network
        raise EngineError(f"{self.attack.name}: no policy settles. {FAULT}")


@dataclass(frozen=True)
class Tried:
    """All policies of decisions that have to be taken together: what each sees, and how many."""

    network: Network
    families: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, network: Network, decisions: Sequence[str]) -> Tried:
        families = {d: _family(network, d) for d in decisions}
        return cls(network, {d: [*sorted(family[:-1]), d] for d, family in families.items()})

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
        return int(self.network.size(decision) ** prod(map(self.network.size, seen)))

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
        return [self.network.size(n) for n in (*self.left, *self.own(self.last))]

    @property
    def are_few(self) -> bool:
        return prod(self.counts) <= min(MOST_POLICIES, MOST_TRIED // prod(self.shape))

    def cells(self, payoffs: Iterable[Payoff], decisions: Sequence[str]) -> int:
        """Numbers in the largest table that is summed up, of one person at one setting."""
        every = {*self.common, *self.left, *self.own(self.last)}
        return max(prod(map(self.network.size, {*every, *p.of})) for p in payoffs)

    def policies(self, decision: str) -> Array:
        """Every policy of one: axes policy, what it sees for itself, options; eager ones first."""
        options = self.network.states[decision]
        *seen, _ = map(self.network.size, self.own(decision))
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
        options = self.network.states[self.last]
        seen = prod(map(self.network.size, self.own(self.last)))
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
        *seen, options = map(self.network.size, self.own(decision))
        return prod(seen), options

    def _attacking(self, names: Sequence[str]) -> list[Array]:
        """Whether anybody attacks, and how eager the options are: each flat over the names."""
        calm, eager = np.ones(self.shape), np.zeros(self.shape)
        for d in self.families:
            options = self.network.states[d]
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


def chance_seen(network: Network, decision: str) -> Array:
    """P(what is seen before a decision): axes subject, setting, what is seen."""
    trial = written(network, decision, _even(network, decision), None)
    p = Plan(_family(trial, decision), {}).joint(trial)
    return np.asarray(_by_parents(network, decision, p).sum(axis=-1))


def _given_what_is_seen(network: Network, seen: Set[str]) -> Network:
    """The network with what is seen, where only that bears on it, as if it were drawn evenly."""
    factors = dict(network.factors)
    for name in seen & factors.keys():
        parents = [n for p in factors[name].parents for n in _spelled(network, p)]
        if seen >= {*parents}:
            factors[name] = Factor(name, (), even((), network.size(name)), None)
    return replace(network, factors=factors)


def _family(network: Network, decision: str) -> list[str]:
    """What is seen before a decision, groups as their members, and the decision."""
    parents = network.factors[decision].parents
    return [name for p in parents for name in _spelled(network, p)] + [decision]


def _by_parents(network: Network, decision: str, table: Array) -> Array:
    """A table over the family, with one axis for each parent."""
    sizes = [network.size(n) for n in _family(network, decision)]
    shape = [*(network.size(p) for p in network.factors[decision].parents), network.size(decision)]
    table = np.broadcast_to(table, (*table.shape[:2], *sizes))
    return table.reshape(*table.shape[:2], *shape)


# -- tables ----------------------------------------------------------------------------------------


def written(network: Network, decision: str, policy: Array, act: Actor | None) -> Network:
    """The network with a policy in the place of a decision."""
    old = network.factors[decision]
    new = Factor(decision, old.parents, policy, act)
    return replace(network, factors={**network.factors, decision: new})


def even(sizes: Sequence[int], options: int) -> Array:
    """Every option alike, whatever is seen: a place for a policy."""
    return np.full((1, 1, *sizes, options), 1.0 / options)


def _even(network: Network, decision: str) -> Array:
    sizes = [network.size(p) for p in network.factors[decision].parents]
    return even(sizes, network.size(decision))


def _spelled(network: Network, parent: str) -> list[str]:
    """A group as its members, slowest bit first."""
    return [*reversed(network.groups[parent])] if parent in network.groups else [parent]


def acting(policy: Array, states_of: Callable[..., list[States]]) -> Actor:
    """Draws an option from the policy, for whoever it is and whatever is seen."""

    def act(
        rng: np.random.Generator, states: Mapping[str, States], who: States, setting: int
    ) -> States:
        person = who if len(policy) > 1 else np.zeros_like(who)
        at = (person, np.full_like(who, setting if policy.shape[1] > 1 else 0))
        return draw(rng, policy[(*at, *states_of(states, who))], len(who))

    return act
