"""Lowering: from an attack, parameter values and subject data to a network of dense tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attack.formula import HAIR
from reidbn.cpds.function import Function
from reidbn.cpds.protocol import CPD, Array, Part, Variable
from reidbn.errors import (
    ModelError,
    Problem,
    TooLarge,
    UsageError,
    a_dozen,
)
from reidbn.inference.deciding import Payoff, Solved, Solver, acting, even, written
from reidbn.inference.network import MOST_MEMBERS, Actor, Factor, Network, States, checked
from reidbn.inference.query import Query
from reidbn.inference.scopes import GridScope, RowScope
from reidbn.inference.tensors import BUDGET, DRAWN, rows_of
from reidbn.inference.ties import worst_of_tied
from reidbn.inference.together import numbers_together
from reidbn.inference.values import (
    check_conditions,
    check_probabilities,
    parameter_values,
    subject_values,
)

WHOLE = 1 << 16  # configurations of parents up to which a table that has steps is written whole
STEPS = 1 << 8  # the same for the exact engine, which is quicker in steps


def parts(
    attack: Attack, name: str, variables: Mapping[str, Variable], whole: int
) -> tuple[Part, ...]:
    """A node as it is lowered: one table up to `whole` configurations, else in the kind's steps."""
    node, child = attack.all_nodes[name], variables[name]
    parents = tuple(variables[p] for p in node.parents)
    found: tuple[Part, ...] = ()
    if prod(p.size for p in parents) > whole:
        found = node.cpd.parts(child, parents)
    if found and all(_has_its_columns(attack, part) for part in found):
        return found
    return (Part(child, parents, node.cpd),)


def _has_its_columns(attack: Attack, part: Part) -> bool:
    """False when a step would use a column with one value per subset of a group it does not see."""
    used = [ref[1:] for ref in attack.behind(part.cpd) if ref.startswith("@")]
    seen = {p.name for p in part.parents}
    columns = [attack.subject[c] for c in used]
    return all(seen.issuperset(c.axes) and not c.each and not c.over for c in columns)


def cells(part: Part) -> int:
    """Numbers in a part's table, of one subject at one setting."""
    return prod(v.size for v in (part.variable, *part.parents))


class Lowering:
    """Lowers one attack at given settings, for any block of subjects.

    Tables that do not depend on the subject are made once and shared by all blocks (the same
    object, so that an engine may keep what it computed from them).
    """

    def __init__(
        self,
        attack: Attack,
        settings: Mapping[str, Any] | None = None,
        *,
        validate: bool = True,
        tables: bool = True,
        nodes: set[str] | None = None,
        do: Collection[str] = (),
        whole: int = WHOLE,
    ) -> None:
        self.attack = attack
        self.given = settings
        self.decides = any(d not in do and (nodes is None or d in nodes) for d in attack.decisions)
        if nodes is not None and self.decides:
            nodes = nodes | attack.behind_decisions
        # What is set from outside has no table to be read, but where a decision is taken before.
        self.done = {*do} - (attack.behind_decisions if self.decides else {*()})
        self.parameters = parameter_values(attack, settings)
        self.validate = validate
        if validate:
            check_probabilities(attack, self.parameters)
            check_conditions(attack, self.parameters)
            if attack.numbers:
                every = attack.all_nodes.keys() if nodes is None else nodes
                cpds = attack.tables(every - self.done)
                self.parameters |= attack.derived.kept(self.parameters, cpds, settings or {})
        self.tables = tables  # without tables the network can only be sampled, at any group size
        self.wanted = nodes
        self.settings = rows_of(self.parameters)
        structural = {name: float(self._single(name)) for name in attack.structural}
        self.variables: dict[str, Variable] = {
            name: attack.variable(name, structural) for name in (*attack.all_nodes, *attack.groups)
        }
        if tables:
            self._refuse_large_groups()
        wanted = [n for n in attack.all_nodes if nodes is None or n in nodes]
        own = {name: float(attack.parameters[name].value) for name in attack.structural}
        self._resized = {name for name, value in structural.items() if value != own[name]}
        read = [n for n in wanted if n not in self.done]
        for name in read if validate and self._resized else ():
            self._refuse_misfit(name)
        self.parts = {n: parts(attack, n, self.variables, whole) for n in read} if tables else {}
        self._shared: dict[str, tuple[Factor, ...]] = {}

    @classmethod
    def of(
        cls, attack: Attack, settings: Mapping[str, Any] | None, *queries: Query, **how: Any
    ) -> Lowering:
        """Of all that these questions read."""
        read = {n for q in queries for n in attack.upstream([*q.targets, *q.given], cut=q.do)}
        done = {n for q in queries for n in q.do}
        return cls(attack, settings, nodes=read | done, do=done - read, **how)

    def _single(self, name: str) -> float:
        values = self.parameters[name]
        if len(set(values.tolist())) > 1:
            raise UsageError(f"{name} is structural: give it one value, or use sweep")
        return float(values[0])

    def _refuse_large_groups(self) -> None:
        for group in self.attack.groups.values():
            if len(group.members) > MOST_MEMBERS:
                raise TooLarge(
                    f"group {group.name} has {len(group.members)} members: exact answers sum over "
                    f"2^{len(group.members)} subsets and stop at {MOST_MEMBERS}. Join attributes "
                    f"that are learnt together into one member, or {DRAWN}"
                )

    def shape_problems(self, name: str) -> list[Problem]:
        """Why a node's CPD cannot follow a change of the number of states."""
        node = self.attack.all_nodes[name]
        family = [self.attack.all_nodes.get(n) for n in (name, *node.parents)]
        if not any(n is not None and self._resized & {*n.structural} for n in family):
            return []
        parents = tuple(self.variables[p] for p in node.parents)
        empty = [v.name for v in (self.variables[name], *parents) if v.size == 0]
        if empty:
            return [Problem((), f"has to do with {empty[0]}, which has no states then")]
        names = [ref[1:] for ref in self.attack.behind(node.cpd) if ref[:1] == "@"]
        for column in map(self.attack.subject.__getitem__, names):
            for axis in (*column.axes, *column.last):
                sized = self.attack.all_nodes.get(axis)
                if sized is not None and self._resized & {*sized.structural}:
                    message = f"uses @{column.name}, which has a value for every state of {axis}"
                    return [Problem((), f"{message}: change it in the model, with its data")]
        return node.cpd.misfits(self.variables[name], parents)

    def _refuse_misfit(self, name: str) -> None:
        misfit = self.shape_problems(name)
        if misfit:
            at = ", ".join(f"{n}={self.parameters[n][0]:.12g}" for n in sorted(self._resized))
            raise ModelError(f"{name} at {at}: {misfit[0].message}")

    def table(self, name: str, subject: Mapping[str, Array]) -> Array:
        """The checked table of one node, or of its last step."""
        tables = [f.table for f in self._factors(name, subject)]
        for part, table in zip(self.parts[name], tables, strict=True):
            self._check(name, part, table)
        return tables[-1]

    def _check(self, node: str, part: Part, table: Array) -> None:
        """Raise where a table is none, with what a Python function returned that is no chance."""
        try:
            checked(node, table)
        except ModelError as slip:
            of_people = _uses_subject(self.attack, part.cpd)
            if not isinstance(part.cpd, Function):
                if not of_people:
                    raise
                raise ModelError(  # without the number, which tells of somebody's own
                    f"{node}: P(state | parents) is no table of chances for somebody: every entry "
                    f"must lie between 0 and 1, and all states together must be 1"
                ) from None
            said = part.cpd.stray(part.variable, table, of_people=of_people)
            raise ModelError(said or str(slip)) from None

    def _refuse_large_tables(self) -> None:
        for name, steps in self.parts.items():
            for part in steps:
                numbers = cells(part) * self.settings
                if numbers > BUDGET:  # looked at closely only then
                    numbers = cells(part) * self._settings_of(part.cpd)
                if numbers > BUDGET:
                    raise TooLarge(
                        f"{name}: its table over {len(part.parents)} parents "
                        f"({a_dozen([p.name for p in part.parents])}) would hold {numbers:,} "
                        f"numbers, and this stops at {BUDGET:,}. Let some of its parents meet in a "
                        f"node of their own first, or {DRAWN}; and, or, threshold and the noisy "
                        f"gates take any number of parents",
                        numbers=numbers,
                    )
            total = sum(map(cells, steps))
            if total > BUDGET:
                raise TooLarge(
                    f"{name}: its {len(self.attack.all_nodes[name].parents):,} parents are counted "
                    f"one by one, in tables that would hold {total:,} numbers together, and this "
                    f"stops at {BUDGET:,}. Let some of its parents meet in a node of their own "
                    f"first, or {DRAWN}",
                    numbers=total,
                )

    def _settings_of(self, cpd: CPD) -> int:
        """At how many settings a table differs."""
        names = {ref.removeprefix("$") for ref in self.attack.behind(cpd)}
        return max((len(v) for n, v in self.parameters.items() if n in names), default=1)

    @property
    def numbers(self) -> int:
        """Numbers in all tables, of one subject at one setting."""
        return sum(cells(part) for steps in self.parts.values() for part in steps)

    def decided_together(self, leaning: Sequence[str] = ()) -> int:
        """Numbers that decisions which have to be tried together take, of one subject besides."""
        if not self.decides:
            return 0
        return numbers_together(self.attack, lambda name: self.variables[name].states, leaning)

    def network(
        self, subject: Mapping[str, Array], worst: Query | None = None, blocks: int = 1
    ) -> Network:
        """The network of a block of subjects, given as arrays with one row each.

        Decisions of the attacker are in it as his best policy; one that is only local is refused.
        Of policies that are tied it is, where `worst` is asked, that with the highest answer.
        `blocks` is how many networks, of other people, are to be made.
        """
        network = self.undecided(subject)
        if self.decides:
            if worst is not None:
                return worst_of_tied(self._solver(network, subject, blocks), worst)
            return self.decided(network, subject, blocks=blocks).network
        return network

    def undecided(self, subject: Mapping[str, Array]) -> Network:
        """The same before the attacker has decided: each option alike."""
        self._refuse_large_tables()
        subjects = rows_of(subject)
        factors: dict[str, Factor] = {}
        states: dict[str, tuple[str, ...]] = {}
        for name in self.attack.all_nodes:
            if self.wanted is None or name in self.wanted:
                for factor in self._factors(name, subject):
                    factors[factor.child] = factor
                states |= {p.variable.name: p.variable.states for p in self.parts.get(name, ())}
                states[name] = self.variables[name].states
        return Network(
            states=states,
            groups={g.name: g.members for g in self.attack.groups.values()},
            factors=factors,
            subjects=subjects,
            settings=self.settings,
        )

    def decided(
        self,
        network: Network,
        subject: Mapping[str, Array],
        *,
        may_be_local: bool = False,
        blocks: int = 1,
    ) -> Solved:
        """The network with what the attacker decides; without tables, by those of another."""
        if self.tables:
            solver = self._solver(network, subject, blocks)
            return replace(solver, may_be_local=may_be_local).solve()
        nodes = set(self.attack.behind_decisions)
        other = Lowering(self.attack, self.given, validate=self.validate, nodes=nodes)
        found = other.decided(other.undecided(subject), subject)
        for name in self.attack.decisions:
            factor = found.network.factors[name]
            network = written(network, name, factor.table, factor.act)
        return replace(found, network=network)

    def _solver(self, network: Network, subject: Mapping[str, Array], blocks: int) -> Solver:
        def scope(child: Variable, parents: Iterable[str]) -> GridScope:
            met = tuple(self.variables[p] for p in parents)
            found = GridScope(self.attack, child, met, self.parameters, subject)
            found.checks = self.validate
            return found

        payoffs = {}
        for utility in self.attack.utilities.values():
            child = Variable(utility.name, ("value",))
            values = utility.payoffs.values(scope(child, utility.of))
            sizes = tuple(self.variables[n].size for n in utility.of)
            values = values.reshape((1,) * (2 + len(sizes) - values.ndim) + values.shape)
            table = np.broadcast_to(values, (*values.shape[:2], *sizes))
            payoffs[utility.name] = Payoff(utility.of, table)
        heat = {}
        for name, node in self.attack.decisions.items():
            cell = getattr(node.cpd, "temperature", 0.0)
            warm = np.asarray(scope(self.variables[name], node.parents).value(cell))
            shape = (1,) * (2 + len(node.parents) - warm.ndim) + warm.shape
            heat[name] = self._checked_heat(name, warm.reshape(shape)[..., None])
        return Solver(self.attack, network, payoffs, heat, self._decider(subject), self.validate,
                      may_be_local=False, blocks=blocks)  # fmt: skip

    def _checked_heat(self, name: str, heat: Array) -> Array:
        if self.validate and not (heat >= 0).all():
            raise UsageError(f"{name}: its temperature is below 0; 0 is a rational attacker")
        return heat

    def _decider(self, subject: Mapping[str, Array]) -> Callable[[str, Array], Actor]:
        """How a decision is acted out, once there is a policy."""

        def decider(name: str, policy: Array) -> Actor:
            child = self.variables[name]
            parents = tuple(self.variables[p] for p in self.attack.nodes[name].parents)

            def seen(states: Mapping[str, States], who: States) -> list[States]:
                scope = RowScope(self.attack, child, parents, self.parameters, subject,
                                 states=states, who=who, setting=0)  # fmt: skip
                return [scope.state(p.name) for p in parents]

            return acting(policy, seen)

        return decider

    def _factors(self, name: str, subject: Mapping[str, Array]) -> tuple[Factor, ...]:
        """A node's table, or the tables of its steps; acted out, it is always the whole node."""
        if name in self._shared:
            return self._shared[name]
        if name in self.done:
            return (Factor(name, (), even([], self.variables[name].size)),)
        node = self.attack.all_nodes[name]
        parents = tuple(self.variables[p] for p in node.parents)
        if name in self.attack.decisions:
            empty = even(
                [p.size for p in parents] if self.tables else [], self.variables[name].size
            )
            return (Factor(name, node.parents, empty),)
        if self.validate:
            self._refuse_no_chances(name)
        act = self._actor(node.cpd, self.variables[name], parents, subject)
        found: tuple[Factor, ...] = (Factor(name, node.parents, np.empty((1, 1, 0)), act),)
        if self.tables:
            found = tuple(self._factor(name, part, act, subject) for part in self.parts[name])
        if not _uses_subject(self.attack, node.cpd):
            self._shared[name] = found
        return found

    def _factor(self, node: str, part: Part, act: Actor, subject: Mapping[str, Array]) -> Factor:
        child, names = part.variable.name, tuple(p.name for p in part.parents)
        scope = GridScope(self.attack, part.variable, part.parents, self.parameters, subject)
        scope.checks = self.validate
        table = full_table(part.cpd.probabilities(scope), part.parents, part.variable)
        if self.validate:
            self._check(node, part, table)
        hidden = child != node
        return Factor(child, names, table, None if hidden else act, is_hidden=hidden)

    def _refuse_no_chances(self, node: str) -> None:
        """Numbers of another unit that stand for a chance have to be one, deep in a table, too."""
        for name in self.attack.unsure_chances[node]:
            values = self.parameters[name]
            wrong = ~((values >= -HAIR) & (values <= 1 + HAIR))
            if wrong.any():
                number = self.attack.numbers.get(name)
                what = f"the number {name} = {number.formula}" if number else name
                hint = " (any(p, n) is the chance of at least one)" if number else ""
                raise ModelError(
                    f"{node}: {what} is {values[wrong][0]:.6g}, and stands for a chance there, "
                    f"between 0 and 1{hint}"
                )

    def _actor(
        self,
        cpd: CPD,
        child: Variable,
        parents: tuple[Variable, ...],
        subject: Mapping[str, Array],
    ) -> Actor:
        def act(
            rng: np.random.Generator, states: Mapping[str, States], who: States, setting: int
        ) -> States:
            scope = RowScope(
                self.attack, child, parents, self.parameters, subject,
                states=states, who=who, setting=setting,
            )  # fmt: skip
            return cpd.act(rng, scope, len(who))

        return act


def full_table(table: Array, parents: tuple[Variable, ...], child: Variable) -> Array:
    """The table with every axis present and the parent axes at full length (a view)."""
    table = np.asarray(table, dtype=float)
    axes = 3 + len(parents)
    table = table.reshape((1,) * (axes - table.ndim) + table.shape)
    wanted = (*table.shape[:2], *(p.size for p in parents), child.size)
    return np.broadcast_to(table, wanted)


def _uses_subject(attack: Attack, cpd: CPD) -> bool:
    refs = {ref.removeprefix("@") for ref in attack.behind(cpd) if not ref.startswith("$")}
    return any(name in refs for name in attack.subject)


def lower(
    attack: Attack,
    settings: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
) -> Network:
    """The network of an attack at some settings for some subjects (the example's by default).

    >>> from reidbn.attack.modelfile import load
    >>> network = lower(load("leak-single"), {"leaked": [1000, 2000]})
    >>> network.factors["leaked_class_size"].table.shape
    (1, 2, 6)
    """
    return Lowering(attack, settings).network(subject_values(attack, subject))
