"""The attacker's best policy, worked out on the network and written into it as tables.

Decisions, in the order in which they can be solved, each against what is solved already:

    worth(s, d) = E[utility | seen s, taken d]                                            (1)

An option that nothing beats is taken; within rounding of the best is as good as the best, and
there `yes` goes first.  A decision can be solved for itself when, given what is seen and taken
there, the utilities that it can still move do not depend on how the others are taken
(Lauritzen and Nilsson's extremal decisions [LauritzenNilsson01]); where every one can, as with an
attacker who forgets nothing, the policy is the best there is.  Else single policies are updated
until none is better alone, from several starts, and the policy may be worse than the best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from reidbn.cpds.decides import eagerness, holds_back
from reidbn.cpds.protocol import Array, draw
from reidbn.errors import EngineError, UsageError
from reidbn.inference.exact import Plan
from reidbn.inference.network import FAULT, Actor, Factor, Network, States

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack

ROUNDING = 1e-12  # of what is added up: so near to the best is as good as the best
MOST_ROUNDS = 1_000


@dataclass(frozen=True)
class Payoff:
    """One utility as numbers: axes subject, setting, then the nodes that it is of."""

    of: tuple[str, ...]
    table: Array


@dataclass(frozen=True)
class Choice:
    """One decision solved: axes subject, setting, what is seen, options."""

    policy: Array
    worth: Array
    reached: Array  # P(what is seen), without the last axis
    tied: Array  # whether another option was as good, without the last axis


@dataclass(frozen=True)
class Solved:
    """A network with the policies in the places of the decisions, and what they are worth."""

    network: Network
    choices: Mapping[str, Choice]
    is_exact: bool
    payoffs: tuple[Payoff, ...]

    def value(self) -> Array:
        """What the attacker expects: axes subject, setting."""
        total = np.zeros((1, 1))
        for payoff in self.payoffs:
            p = Plan(payoff.of, {}).joint(self.network)
            total = total + (p * payoff.table).reshape(*_lead(p, payoff.table), -1).sum(axis=-1)
        return total


def _lead(*tables: Array) -> tuple[int, ...]:
    return np.broadcast_shapes(*(t.shape[:2] for t in tables))


# -- which decisions can be solved, and in which order ---------------------------------------------


def order_of(attack: Attack) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The decisions that can be solved for themselves, in that order, and those that cannot."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(attack.all_nodes)
    graph.add_edges_from((p, n.name) for n in attack.all_nodes.values()
                         for p in attack.parent_nodes(n))  # fmt: skip
    worth = {f"~{utility.name}": utility.of for utility in attack.utilities.values()}
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

    def worth(self, decision: str, network: Network) -> tuple[Array, Array, Array]:
        """Equation (1), P(what is seen), and how large what is added up can be."""
        factor = network.factors[decision]
        apart = [_spelled(network, p) for p in factor.parents]
        family = [name for names in apart for name in names] + [decision]
        moved = [p for p in self.payoffs.values() if decision in network.ancestors(p.of)]
        total = size = np.zeros((1, 1) + (1,) * len(family))
        chance: Array | None = None
        for payoff in moved or [Payoff((), np.zeros((1, 1)))]:
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
        shape = [*(network.size(p) for p in factor.parents), network.size(decision)]
        total, chance = (
            np.broadcast_to(t, (*t.shape[:2], *(network.size(n) for n in family)))
            .reshape(*t.shape[:2], *shape)
            for t in (total, chance)
        )  # fmt: skip
        size = size.reshape(*size.shape[:2], *(1 for _ in shape))
        return total / np.where(chance > 0, chance, 1.0), chance.sum(axis=-1), size

    def choice(self, decision: str, network: Network) -> Choice:
        """The best of one decision, all others as they are in the network."""
        trial = written(network, decision, _even(network, decision), None)
        worth, reached, size = self.worth(decision, trial)
        best = worth.max(axis=-1, keepdims=True)
        good = worth >= best - ROUNDING * size
        order = eagerness(network.states[decision])
        first = np.argmax(good[..., order], axis=-1)
        policy = np.eye(len(order))[np.asarray(order)[first]]
        heat = self.temperatures[decision]
        if (heat > 0).any():
            warm = np.exp((worth - best) / np.where(heat > 0, heat, 1.0))
            soft = warm / warm.sum(axis=-1, keepdims=True)
            # What is never seen says nothing of what an option is worth there.
            policy = np.where((heat > 0) & (reached[..., None] > 0), soft, policy)
        return Choice(policy, worth, reached, good.sum(axis=-1) > 1)

    def put(self, network: Network, decision: str, policy: Array) -> Network:
        return written(network, decision, policy, self.act(decision, policy))

    def solve(self) -> Solved:
        sure, local = order_of(self.attack)
        network, choices = self.network, {}
        for decision in sure:
            choices[decision] = self.choice(decision, network)
            network = self.put(network, decision, choices[decision].policy)
        if local:
            network = self._one_at_a_time(network, local)
            for decision in local:
                choices[decision] = replace(
                    self.choice(decision, network), policy=network.factors[decision].table
                )
        return Solved(network, choices, not local, tuple(self.payoffs.values()))

    def _one_at_a_time(self, network: Network, local: Sequence[str]) -> Network:
        """Single policies updated until none is better alone; of several starts the best."""
        if any((self.temperatures[d] > 0).any() for d in local):
            raise UsageError(
                f"{self.attack.name}: {', '.join(local)} have to be decided together, since what "
                f"one sees the other does not: with a temperature there is no telling where that "
                f"settles. Let the later decision see what the earlier saw, or leave it out"
            )
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
            worth = Solved(trial, {}, False, tuple(self.payoffs.values())).value()
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
