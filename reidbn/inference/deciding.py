"""The attacker's best policy, worked out on the network and written into it as tables.

Decisions, in the order in which they can be solved, each against what is solved already:

    worth(s, d) = E[utility | seen s, taken d]                                            (1)

Tables over nothing but what is seen cancel in (1) and are left out: what is seen there counts as
given, so that (1) also says what an option is worth where such a table holds the case impossible.
An option that nothing beats is taken; within rounding of the best is as good as the best, and
there `yes` goes first.  Where every decision can be solved for itself, as with an attacker who
forgets nothing, the policy is the best there is.  Else all policies of those that cannot are tried
where they are few (`together`), and the best is taken.  Of policies that are worth the same it is
the one with the highest P(attack), then the one whose options are the most eager, decision by
decision; in which order anything was declared has no say.  Where they are too many, single policies
are updated until none is better alone, from several starts: the policy is local, may be worse than
the best, and no answer is built on it.  What either takes is known before, and refused where it is
too much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.decides import eagerness, holds_back
from reidbn.cpds.protocol import Array, draw
from reidbn.errors import EngineError, TooLarge, UsageError
from reidbn.inference.exact import Plan
from reidbn.inference.network import FAULT, Actor, Factor, Network, States
from reidbn.inference.together import ROUNDING, Tried, order_of, spelled
from reidbn.limits import MOST_DECIDED
from reidbn.progress import progress

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack

MOST_ROUNDS = 1_000
STARTS = "even", "eager", "timid"  # from which single policies are updated


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
    blocks: int = 1
    """How many such networks, of other people, are to be solved."""

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
        """The best of all policies, and ties; None where there are too many to try."""
        tried = Tried.of(self.attack, network.states.__getitem__, local)
        if not tried.is_tried([payoff.of for payoff in self.payoffs.values()]):
            return None
        self._refuse_long(network, tried.work * self._lead(network), local)
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

    def _lead(self, network: Network) -> int:
        """How many people times settings differ in what has a say in the decisions."""
        payoffs = [*self.payoffs.values(), *([self.leaning] if self.leaning else [])]
        names = network.ancestors([*self.attack.decisions, *(n for p in payoffs for n in p.of)])
        tables = [f.table for n, f in network.factors.items() if n in names]
        shapes = [table.shape[:2] for table in (*tables, *(p.table for p in payoffs))]
        return prod(map(max, zip(*shapes, strict=True)))

    def _refuse_long(self, network: Network, work: int, local: Sequence[str]) -> None:
        """Refuse before it is begun what would take hours."""
        if work * self.blocks <= MOST_DECIDED:
            return
        said = (
            f"{self.attack.name}: {', '.join(local)} have to be decided together, since what one "
            f"sees the other does not, which takes about {work * self.blocks:,} multiplications "
            f"for {network.subjects * self.blocks:,} people at {network.settings:,} settings, and "
            f"this stops at {MOST_DECIDED:,}; ask at fewer settings, let the later decision see "
            f"what the earlier saw and did, or say which policy to answer for"
        )
        raise TooLarge(
            f"{said}: take attack.with_policy(...)",
            in_shell=f"{said}: take --policy 'DECISION=OPTION if NODE=STATE'",
        )

    def _one_at_a_time(self, network: Network, local: Sequence[str]) -> Network:
        """Single policies updated until none is better alone; of several starts the best."""
        own = network  # in which everybody may be treated otherwise
        for d in local:
            table = _even(network, d)
            lead = network.subjects, network.settings
            own = written(own, d, np.broadcast_to(table, (*lead, *table.shape[2:])), None)
        asked = [dict.fromkeys([*_family(network, d), *payoff.of])
                 for d in local for payoff in self.payoffs.values()]  # fmt: skip
        rounds = 2 * len(STARTS)  # at least: the second says that nothing changes any more
        self._refuse_long(network, rounds * sum(Plan([*a], {}).work(own) for a in asked), local)
        found: Network | None = None
        value = np.zeros((1, 1))
        for start in progress(STARTS, "what the attackers decide, one after another"):
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


def chance_seen(network: Network, decision: str) -> Array:
    """P(what is seen before a decision): axes subject, setting, what is seen."""
    trial = written(network, decision, _even(network, decision), None)
    p = Plan(_family(trial, decision), {}).joint(trial)
    return np.asarray(_by_parents(network, decision, p).sum(axis=-1))


def _given_what_is_seen(network: Network, seen: Set[str]) -> Network:
    """The network with what is seen, where only that bears on it, as if it were drawn evenly."""
    factors = dict(network.factors)
    for name in seen & factors.keys():
        if seen >= {*spelled(factors[name].parents, network.groups)}:
            factors[name] = Factor(name, (), even((), network.size(name)), None)
    return replace(network, factors=factors)


def _family(network: Network, decision: str) -> list[str]:
    """What is seen before a decision, groups as their members, and the decision."""
    return [*spelled(network.factors[decision].parents, network.groups), decision]


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


def acting(policy: Array, states_of: Callable[..., list[States]]) -> Actor:
    """Draws an option from the policy, for whoever it is and whatever is seen."""

    def act(
        rng: np.random.Generator, states: Mapping[str, States], who: States, setting: int
    ) -> States:
        person = who if len(policy) > 1 else np.zeros_like(who)
        at = (person, np.full_like(who, setting if policy.shape[1] > 1 else 0))
        return draw(rng, policy[(*at, *states_of(states, who))], len(who))

    return act
