"""Case: one question about one attack, ready to be asked again with other parameter values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypedDict

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.limits import broken_condition, conditions_hold
from reidbn.attack.numbers import table_degree, without_remedy
from reidbn.attack.parts import Parameter, parse_given, parse_states
from reidbn.cpds.function import Function
from reidbn.cpds.protocol import CPD
from reidbn.errors import ImpossibleEvidence, ModelError, UsageError, did_you_mean
from reidbn.inference.answers import by_tied, cut_of, joint, load_attack
from reidbn.inference.cut import looked_at
from reidbn.inference.lowering import STEPS, Lowering, cells, parts
from reidbn.inference.network import Array
from reidbn.inference.query import Query, read_query, refuse_nothing
from reidbn.inference.tensors import rows_of
from reidbn.inference.values import check_settings, parameter_values, refuse_unknown, subject_values

MOST_NUMBERS = 1 << 22  # numbers in one array: settings are asked in blocks that stay below
DECLARED_AT, FEW = 2_048, 64  # values at which a declared degree is checked; of many people, few
LEAVE_OUT = "; leave such settings out"
Settings = Mapping[str, Any]


class Asking(TypedDict, total=False):
    """How a question is asked: what is learnt, done and set, of whom, and how freely."""

    given: Mapping[str, Any] | None
    do: Mapping[str, Any] | None
    set: Mapping[str, Any] | None
    subject: Mapping[str, Any] | None
    beyond_range: bool


@dataclass(frozen=True)
class Values:
    """P(target, evidence) and P(evidence), axes subject x setting.

    `evidence` is None when nothing is given: then the first is the answer.  `allowed` is None when
    every setting satisfies the conditions of the attack; at the others nothing was computed.
    """

    numerator: Array
    evidence: Array | None = None
    allowed: NDArray[np.bool_] | None = None  # one per setting

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Where the question has an answer."""
        found = np.ones(self.numerator.shape, dtype=bool)
        if self.evidence is not None:
            found &= self.evidence > 0
        return found if self.allowed is None else found & self.allowed

    @property
    def probability(self) -> Array:
        """The answers; NaN where the evidence is impossible, for callers that look first."""
        if self.evidence is None:
            return self.numerator
        safe = np.where(self.possible, self.evidence, 1.0)
        return np.where(self.possible, self.numerator / safe, np.nan)


class ManyPeople(Protocol):
    """Answers about people who are too many for a table of them all."""

    @property
    def subjects(self) -> int: ...

    @property
    def kinds(self) -> int:
        """How many numbers a setting takes, beside one per subject."""

    def joint(
        self, attack: Attack, query: Query, settings: Settings, *, validate: bool, averaged: bool
    ) -> tuple[Array, Array] | None:
        """P(target, evidence) and P(evidence), subject x setting; None: ask the engine.

        `averaged`: their means over people, as one subject.
        """

    def checked(self, attack: Attack, settings: Settings, nodes: set[str]) -> bool:
        """Raise what is wrong with these nodes' tables; False: look at the engine's."""


@dataclass(frozen=True)
class Asked:
    """An attack, a question, base settings and subjects.

    What-if analyses use only `parameters`, `base`, `evaluate`, `allows`, `degree`, `is_structural`
    and `matters`, so anything that offers these can be varied in the same ways.
    """

    attack: Attack
    query: Query
    settings: Mapping[str, float] = field(default_factory=dict)
    subject: Mapping[str, Any] | None = None
    labels: Sequence[Any] | None = None  # of the people (or subjects), in their order
    people: NDArray[np.intp] | None = None  # the subject of every person, when people share them
    cells: tuple[NDArray[np.intp], NDArray[np.int64]] | None = None
    """Of people counted as cells: the subject of each cell, and how many people it is."""
    beyond_range: bool = False  # values outside the declared ranges were asked for
    many: ManyPeople | None = None  # where the subjects are many
    averaged: bool = False  # the mean over people is asked for, as if it were one subject's answer
    laid: Mapping[str, Any] = field(default_factory=dict)
    """What was learnt beside the question's own evidence, as given: it holds of another, too."""
    silent: Collection[str] = ()  # parameters of stories that a scenario put aside
    worst: bool = False
    """Of policies that are worth the same to the attacker, that with the highest answer."""

    def __post_init__(self) -> None:
        check_settings(self.attack, self.settings, beyond_range=self.beyond_range)
        for name, value in parameter_values(self.attack, self.settings).items():
            if len(value) > 1:
                raise UsageError(f"{name}: give one value to start from; sweep takes lists")

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        return self.attack.parameters

    @cached_property
    def subjects(self) -> int:
        """How many answers there are at a setting."""
        return 1 if self.averaged else self._distinct

    @cached_property
    def _distinct(self) -> int:
        if self.many is not None:
            return self.many.subjects
        return rows_of(subject_values(self.attack, self.subject))

    @cached_property
    def weights(self) -> Array | None:
        """How many people each subject stands for; None when every subject is one."""
        return None if self.averaged else self._shares

    @cached_property
    def _shares(self) -> Array | None:
        if self.people is None:
            return None
        return np.bincount(self.people, minlength=self._distinct).astype(float)

    @property
    def count(self) -> int:
        """How many people there are."""
        return self._distinct if self.people is None else len(self.people)

    def each(self, values: Array) -> Array:
        """Values of the subjects (axis 0) as values of the people."""
        return values if self.people is None or self.averaged else values[self.people]

    def names(self, count: int) -> list[Any]:
        """Labels of the people, or their numbers; `count` subjects have values."""
        if self.labels is not None:
            return list(self.labels)
        return list(range(count if self.people is None else len(self.people)))

    @property
    def is_conditional(self) -> bool:
        return bool(self.query.given)

    def parameter(self, name: str) -> Parameter:
        known = self.attack.settable
        if name not in known:
            refuse_unknown(self.attack, name, self.silent)
        return known[name]

    def base(self, name: str) -> float:
        """The value that a parameter has while others are varied."""
        own = self.parameter(name).value
        if name in self.attack.numbers and name not in self.settings:
            own = float(parameter_values(self.attack, self.settings)[name][0]) + 0.0  # no -0
        return float(self.settings.get(name, own))

    def describe(self) -> str:
        return f"{self.attack.name}: {self.query.describe()}"

    def is_structural(self, name: str) -> bool:
        return name in self.attack.structural

    @cached_property
    def relevant(self) -> set[str]:
        """Nodes whose tables can change the answer."""
        named = (*self.query.targets, *self.query.given)
        return self.attack.upstream(named, cut=self.query.do)

    def holders(self, names: Sequence[str]) -> set[str]:
        """Nodes whose tables any of these parameters can change, as far as the question goes."""
        return {holder for name in names for holder in self._holders.get(name, ())}

    @cached_property
    def _holders(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for node_name, node in ((n, self.attack.all_nodes[n]) for n in self.relevant):
            for name in (*self._read_by(node.cpd), *node.structural):
                found.setdefault(name, set()).add(node_name)
        return found

    def _read_by(self, cpd: CPD) -> set[str]:
        """What a CPD refers to, through derived numbers that were not set themselves."""
        return self.attack.derived.read_by([cpd], self.settings)

    @cached_property
    def decides(self) -> bool:
        """Whether what the attacker decides has a say in the answer."""
        free = self.attack.decisions.keys() - self.query.do.keys()
        return not free.isdisjoint(self.relevant)

    def is_decided(self, name: str) -> bool:
        """Whether the parameter has a say in what the attacker decides, and that in the answer.

        The answer then jumps where he decides otherwise: it is worked out value by value.
        """
        attack = self.attack
        if not self.decides:
            return False
        if self.worst and self.holders([name]):  # which of tied policies has the highest answer
            return True
        nodes = [attack.all_nodes[n] for n in attack.behind_decisions]
        if any(name in node.structural for node in nodes):
            return True
        return any(name in self._read_by(cpd) for cpd in attack.tables(attack.behind_decisions))

    def jumps(self, name: str) -> str:
        """Why the answer may jump along a parameter, so that it is looked at value by value."""
        if self.is_decided(name):
            return "the attacker decides anew at every value"
        cpds = [self.attack.all_nodes[holder].cpd for holder in self.holders([name])]
        stepped = [c.name for c in cpds if isinstance(c, Function) and c.declared.step]
        return f"function {stepped[0]} is declared as a step" if stepped else ""

    def matters(self, name: str) -> bool:
        """True when the parameter can change the answer at all."""
        return bool(self.holders([name])) or self.is_decided(name)

    def degree(self, name: str) -> int | None:
        """Degree of the answer's numerator and denominator in a parameter; None when not known.

        Both are sums of products with one entry of every table in each product: the degrees of the
        tables that hold the parameter add up.  1 is affine; where several tables share one, 2 or
        more.
        """
        if self.is_structural(name) or self.jumps(name):
            return None
        sizes = {n: self.base(n) for n in self.attack.structural}
        total = 0
        for holder in self.relevant:
            node = self.attack.all_nodes[holder]
            parents = [self.attack.variable(p, sizes) for p in node.parents]
            degree = table_degree(self.attack, node.cpd, name, parents, self.settings)
            if degree is None:
                return None
            total += degree
        declared = self.declared_by(name)
        if declared:
            self.refuse_wrong_degree(name, total, declared)
        return total

    def declared_by(self, name: str) -> str:
        """A function of whose degree in a parameter there is its author's word alone; or none."""
        cpds = [self.attack.all_nodes[holder].cpd for holder in self.holders([name])]
        return next((c.name for c in cpds if isinstance(c, Function) and c.declared.degree), "")

    def refuse_wrong_degree(
        self, name: str, degree: int, function: str, span: tuple[float, float] | None = None
    ) -> None:
        """Raise where the answer is no such polynomial, as the author of a function says it is.

        It is looked at over the parameter's range, or a `span` of it; of many people, at few values
        for all of them and at many for some.
        """
        if span is None and (name, degree) in self._proved:
            return
        low, high = span or self.parameter(name).range
        whole = self.parameter(name).is_integer
        if low == high and not whole:
            low, high = low - 0.5, high + 0.5
        looked = [(self, DECLARED_AT)] if self._distinct <= FEW else [
            (self, FEW), (self._of_some(FEW), DECLARED_AT)]  # fmt: skip
        for case, count in looked:
            grid = np.linspace(low, high, max(count, degree + 5))
            grid = np.unique(np.rint(grid)) if whole else grid
            if len(grid) <= degree + 1:  # of so few whole numbers it is true
                return
            t = 2 * (grid - low) / (high - low) - 1
            found = case.evaluate({name: grid}, validate=False)
            for values in (found.numerator, found.evidence):
                if values is None:
                    continue
                fit = chebyshev.chebval(t, chebyshev.chebfit(t, values.T, degree))
                if not np.abs(fit - values).max() <= 1e-9 * np.abs(values).max():
                    raise UsageError(
                        f"function {function} is declared to have a degree in {name}, and the "
                        f"answer is no polynomial of degree {degree} in it: mend the degree, or "
                        f"leave it out"
                    )
        if span is None:
            self._proved.add((name, degree))

    def _of_some(self, count: int) -> Asked:
        """The same of so many of the subjects, each for itself."""
        columns = subject_values(self.attack, self.subject)
        some = np.unique(np.linspace(0, self._distinct - 1, count).astype(int))
        part = {n: v[some] if len(v) > 1 else v for n, v in columns.items()}
        return replace(self, subject=part, people=None, labels=None, many=None, averaged=False)

    @cached_property
    def _proved(self) -> set[tuple[str, int]]:
        return set()

    def unproved(self, box: Mapping[str, tuple[float, float]]) -> list[str]:
        """Derived numbers that may leave their ranges in a box of parameters, the others staying.

        So may those without a range of their own that are no straight lines in it.
        """
        derived = self.attack.derived
        read = {r.removeprefix("$") for n in self.relevant for r in
                self._read_by(self.attack.all_nodes[n].cpd)} & {*derived.order}  # fmt: skip
        if not read:
            return []
        ranges = {n: (self.base(n), self.base(n)) for n in self.parameters} | dict(box)
        ranges |= {n: (v, v) for n, v in self.settings.items() if n not in box}
        for name, values in subject_values(self.attack, self.subject).items():
            ranges[name] = float(values.min()), float(values.max())
        reach = derived.reach_over(ranges)
        held = {*self.settings, *box}
        degrees = {n: derived.degrees(n, held) for n in box}
        found = []
        for name in derived.order:
            bounded = max(map(abs, derived.allowed(name))) < np.inf
            straight = all(degrees[n][name] in (0, 1) for n in box)
            if name in read and name not in held and not (
                derived.is_proved(name, reach) and (bounded or straight)
            ):  # fmt: skip
                found.append(name)
        return found

    # -- asking ----------------------------------------------------------------------------

    def evaluate(self, changes: Settings, *, validate: bool = True) -> Values:
        """The answers at several settings: `changes` holds arrays of one length.

        Structural parameters rebuild the network once per distinct value; all others ride on the
        setting axis of one contraction.  `validate=False` also takes values outside a parameter's
        range, for reading off a polynomial.
        """
        arrays = {n: np.atleast_1d(np.asarray(v, dtype=float)) for n, v in changes.items()}
        for name in arrays:
            self.parameter(name)
        count = rows_of(arrays)
        arrays = {n: np.broadcast_to(v, count) for n, v in arrays.items()}
        numerator = np.full((self.subjects, count), np.nan)
        evidence = np.full(numerator.shape, np.nan) if self.is_conditional else None
        self._refuse_unknown_states(arrays)
        allowed = self._allowed(arrays, count) if validate else np.ones(count, dtype=bool)
        for block in self._blocks(arrays, count):
            rows = block[allowed[block]]
            if not rows.size:
                continue
            part = {n: self._shortest(n, v[rows]) for n, v in arrays.items()}
            found = self._ask({**self.settings, **part}, validate=validate)
            numerator[:, rows] = 0.0 if found is None else found[0]
            if evidence is not None:
                evidence[:, rows] = 0.0 if found is None else found[1]
        return Values(numerator, evidence, None if allowed.all() else allowed)

    def _allowed(self, arrays: Mapping[str, Array], count: int) -> NDArray[np.bool_]:
        """Where every condition between parameters holds."""
        if not self.attack.where:
            return np.ones(count, dtype=bool)
        values = parameter_values(self.attack, {**self.settings, **arrays})
        return conditions_hold(self.attack, values, count)

    def _shortest(self, name: str, values: Array) -> Array:
        same = self.is_structural(name) or bool((values == values[0]).all())
        return values[:1] if same else values

    def _blocks(self, arrays: Mapping[str, Array], count: int) -> Iterator[NDArray[np.intp]]:
        """Positions of settings that one contraction can take together."""
        structural = [arrays[n] for n in arrays if self.is_structural(n)]
        step = self._step(list(arrays))
        if not structural:
            groups = [np.arange(count)]
        else:
            _, which = np.unique(np.stack(structural), axis=1, return_inverse=True)
            which = which.reshape(-1)
            groups = [np.flatnonzero(which == g) for g in range(which.max() + 1)]
        for group in groups:
            for start in range(0, len(group), step):
                yield group[start : start + step]

    def at_once(self, name: str) -> int:
        """How many values of one parameter are asked in one contraction."""
        return 1 if self.is_structural(name) else self._step([name])

    def _step(self, names: Sequence[str]) -> int:
        """Settings per block, from the size of the tables that these parameters change."""
        sizes = {n: self.base(n) for n in self.attack.structural}
        largest = self.subjects if self.many else self._distinct
        if self.many is not None:
            largest = max(largest, 8 * self.many.kinds)
        for holder in self.holders([n for n in names if not self.is_structural(n)]):
            node = self.attack.all_nodes[holder]
            family = {n: self.attack.variable(n, sizes) for n in (holder, *node.parents)}
            steps = parts(self.attack, holder, family, STEPS)
            group = self.attack.group_of(holder)
            around = 1 << len(group.members) if group else 1
            largest = max(largest, around, *(cells(step) for step in steps))
        return max(1, MOST_NUMBERS // largest)

    def _states(self, changes: Settings) -> dict[str, tuple[str, ...]]:
        """State lists of the nodes whose states are asked for or given, at one structural value."""
        sizes = {n: self.base(n) for n in self.attack.structural}
        sizes |= {n: float(np.ravel(v)[0]) for n, v in changes.items() if n in sizes}
        named = (*self.query.wanted, *self.query.given)
        return {n: self.attack.variable(n, sizes).states for n in named}

    def _ask(self, settings: Settings, *, validate: bool) -> tuple[Array, Array] | None:
        """P(target, evidence) and P(evidence); None where the evidence is no state of its node."""
        states = self._states(settings)
        if any(s not in states[n] for n, s in self.query.given.items()):
            return None
        if self.many is not None and all(s in states[n] for n, s in self.query.wanted.items()):
            found = self.many.joint(
                self.attack, self.query, settings, validate=validate, averaged=self.averaged
            )
            if found is not None:
                return found
        values = joint(self.attack, self.query, settings, self.subject, validate=validate,
                       worst=self.worst)  # fmt: skip
        evidence = values.sum(axis=tuple(range(2, values.ndim)))
        if any(s not in states[n] for n, s in self.query.wanted.items()):
            return np.zeros_like(evidence), evidence
        index: Any = tuple(states[n].index(s) for n, s in self.query.wanted.items())
        wanted: Array = values[(slice(None), slice(None), *index)]
        if self.averaged:
            wanted = np.average(wanted, axis=0, weights=self._shares)[None]
        return wanted, evidence

    def _refuse_unknown_states(self, arrays: Mapping[str, Array]) -> None:
        """A state that its node has at none of the settings must be a slip."""
        sizing = {n: v for n, v in arrays.items() if self.is_structural(n)}
        cases = [self._states(sizing)]
        for name, values in sizing.items():
            cases += [self._states({**sizing, name: [value]}) for value in np.unique(values)]
        for node, state in (*self.query.wanted.items(), *self.query.given.items()):
            if all(state not in case[node] for case in cases):
                hint = did_you_mean(state, cases[0][node])
                raise UsageError(f'{node} has no state "{state}"; {hint}')

    def answers(self, changes: Settings, *, validate: bool = True) -> Array:
        """The probabilities at several settings; impossible evidence raises."""
        values = self.evaluate(changes, validate=validate)
        self.refuse_impossible(values, changes)
        return values.probability

    def cut_off(self, changes: Settings) -> Array:
        """By how much answers may be higher for what lies beyond states, at several settings."""
        arrays = {n: np.atleast_1d(np.asarray(v, dtype=float)) for n, v in changes.items()}
        out = np.zeros(rows_of(arrays))
        if looked_at(self.attack, self.query):
            for block in self._blocks(arrays, len(out)):
                part = {n: self._shortest(n, v[block]) for n, v in arrays.items()}
                settings = {**self.settings, **part}
                out[block] = cut_of(self.attack, self.query, settings, self.subject)
        return out

    def refuse_impossible(self, values: Values, changes: Settings) -> None:
        if values.possible.all():
            return
        if values.allowed is not None:
            settings = {**self.settings, **changes}
            broken = broken_condition(self.attack, parameter_values(self.attack, settings))
            raise UsageError(
                f"{self.attack.name}: {broken}; leave such settings out "
                f'(or, in a sweep, their cells empty: impossible="null")'
            )
        first = int(np.argmin(values.possible.all(axis=0)))
        numbers = {n: np.ravel(np.asarray(v, dtype=float)) for n, v in changes.items()}
        where = ", ".join(f"{n}={v[min(first, len(v) - 1)]:g}" for n, v in numbers.items())
        share = 1 - float(values.possible[:, first].mean())
        whose = f" for {share:.1%} of subjects" if self.subjects > 1 else ""
        at = where and f" at {where}"
        here = {**self.settings, **{n: v[min(first, len(v) - 1)] for n, v in numbers.items()}}
        off = ~values.possible[:, [first]]
        other = "" if self.worst else by_tied(self.attack, self.query, here, self.subject, off)
        raise ImpossibleEvidence(
            f"{self.attack.name}: the evidence {', '.join(self.query.known)} has probability 0"
            f"{at}{whose}{other or LEAVE_OUT}"
        )

    def refusal(self, changes: Settings, names: Sequence[str]) -> str | None:
        """What is wrong with the tables that these parameters change, at these settings, if any."""
        values = {**self.settings, **changes}
        broken = broken_condition(self.attack, parameter_values(self.attack, values))
        nodes = self.holders(names)
        if broken or not nodes:
            return broken
        try:
            if self.many is not None and self.many.checked(self.attack, values, nodes):
                return None
            columns = subject_values(self.attack, self.subject)
            lowering = Lowering(self.attack, values, nodes=nodes)
            for start in range(0, self._distinct, 1024):
                lowering.network({n: v[start : start + 1024] if len(v) > 1 else v
                                  for n, v in columns.items()})  # fmt: skip
        except (ModelError, UsageError) as problem:
            return without_remedy(self.attack.name, problem)
        return None

    # -- changing by copying ---------------------------------------------------------------

    def at(self, settings: Settings) -> Asked:
        """The same question at other base settings."""
        return replace(self, settings={**self.settings, **settings})

    def as_mean(self, statistic: str = "mean") -> Asked:
        """The mean over people asked for alone, where it is wanted: without evidence it is a
        polynomial as each answer is, and nobody's own answer is needed for it.
        """
        wanted = statistic == "mean" and not self.is_conditional and self.count > 1
        return replace(self, averaged=True) if wanted else self

    def wanting(self, state: str) -> Asked:
        """The same question about another state of its one target; "" changes nothing."""
        if not state:
            return self
        wanted = dict.fromkeys(self.query.wanted, state)
        return replace(self, query=replace(self.query, wanted=wanted))

    def asked(self, *, given: Mapping[str, Any] | None = None,
              do: Mapping[str, Any] | None = None) -> Asked:  # fmt: skip
        """The same question with more evidence and more interventions."""
        if not given and not do:
            return self
        more = parse_given({} if given is None else given)
        old = self.query
        kept = {n: s for n, s in old.given.items() if old.written.get(n, n) not in more}
        done = {**old.do, **parse_states({} if do is None else do)}
        attack, query = read_query(self.attack, dict(old.wanted), {**kept, **more}, done)
        query = replace(
            query,
            reports={**old.reports, **query.reports},
            scale=old.scale,
            written={**{n: old.written[n] for n in kept if n in old.written}, **query.written},
        )
        return replace(self, attack=attack, query=query, laid={**self.laid, **more})


Case = Asked  # the older name


def make_case(
    attack: Attack | str,
    target: Any,
    *,
    given: Mapping[str, Any] | None = None,
    do: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
    beyond_range: bool = False,
) -> Asked:
    """The case of one event asked about an attack (or the name or path of its model file)."""
    read, query = read_query(load_attack(attack), target, given, do)
    refuse_nothing(query)
    if query.is_distribution:
        raise UsageError(
            f"{query.describe()} asks for a whole distribution; name one state, "
            f"such as {query.targets[0]}={_some_state(read, query.targets[0])}"
        )
    laid = parse_given({} if given is None else given)
    return Asked(read, query, dict(set or {}), subject, beyond_range=beyond_range, laid=laid)


def _some_state(attack: Attack, node: str) -> str:
    sizes = {n: float(attack.parameters[n].value) for n in attack.structural}
    return attack.variable(node, sizes).states[-1]
