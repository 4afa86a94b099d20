"""Parameters: a value, the range it may have, its unit, a prior, and where it comes from.

The parts of an attack: nodes, groups, subject data, questions.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from reidbn.attack.assumptions import ASSUMPTION, is_assumption
from reidbn.attack.evidence import Belief, Evidence, Measured, interval
from reidbn.attack.prior import Prior
from reidbn.calls import check_fields
from reidbn.cpds.function import Function
from reidbn.cpds.protocol import CPD, NO, YES, FrozenDict, Ref, Variable, freeze_fields, frozen
from reidbn.cpds.rows import REST, Row, Rows
from reidbn.errors import Problem, TooLarge, UsageError
from reidbn.written import is_number

PROBABILITY = "probability"
PARTS_OF_ONE = f"{PROBABILITY}|share|ratio|fraction|proportion|chance|likelihood"
# Units of what is measured and not counted: 50 of them may as well be 50.5.
_MEASURED = re.compile(
    r"[%€$£]|\w/\w|^\w+ an? \w+$|\ban? (second|minute|hour|day|week|month|quarter|year|decade)\b"
    r"|^([\w-]+[ -])?(seconds|minutes|hours|days|weeks|months|years|decades)\b"
    r"|^(weights?|scores?|nats|bits)$"
    r"|\b(per|euros?|eur|dollars?|usd|cents?|pounds?|gbp|francs?|chf|yen|percent|average|mean"
    rf"|{PARTS_OF_ONE}|rate|odds"
    r"|km|kilomet(re|er)s?|met(re|er)s?|miles?|kg|kilograms?|lit(re|er)s?)\b",
    re.IGNORECASE,
)
LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Parameter:
    """A named number that the author, or a what-if, may change."""

    name: str
    value: float = math.nan  # where it follows from the evidence
    low: float | None = None
    high: float | None = None
    unit: str = PROBABILITY
    source: str = ASSUMPTION
    prior: Prior | None = None
    story: str = ""
    evidence: Evidence | None = None

    def __post_init__(self) -> None:
        check_fields(self, apart=["value", "low", "high"])
        freeze_fields(self)
        if self.evidence is not None:
            self._follow(self.evidence)
        probability = self.unit == PROBABILITY
        if self.low is None:
            object.__setattr__(self, "low", 0.0 if probability else self.value)
        if self.high is None:
            object.__setattr__(self, "high", 1.0 if probability else self.value)

    def _follow(self, evidence: Evidence) -> None:
        """Prior, value and range as far as they are not stated."""
        new: dict[str, Any] = {}
        if not evidence.problems(self.unit):
            if self.prior is None:
                new["prior"] = Belief(evidence=evidence)
            if math.isnan(self.value):
                new["value"] = evidence.law.mean
            if self.low is None or self.high is None:
                value = new.get("value", self.value)
                low, high = interval(evidence)
                new |= {"low": min(low, value), "high": max(high, value)}
        own = f"{ASSUMPTION}, beside {evidence.source}"
        if self.is_beside_evidence and self.source == evidence.source:
            new["source"] = own
        elif self.source == own and not self.is_beside_evidence:
            new["source"] = evidence.source
        for name, found in new.items():
            object.__setattr__(self, name, found)

    @property
    def range(self) -> tuple[float, float]:
        assert self.low is not None and self.high is not None  # noqa: S101, PT018 - set at birth
        return self.low, self.high

    @property
    def is_integer(self) -> bool:
        """True for counts: the value and the range are whole and the unit is one that is counted.

        >>> Parameter("n", 50, 0, 100, unit="people").is_integer
        True
        >>> [Parameter("n", 5, 0, 9, unit=u).is_integer for u in ("euro", "people a day", "days")]
        [False, False, False]
        """
        numbers = (self.value, *self.range)
        counted = self.unit != PROBABILITY and not _MEASURED.search(self.unit)
        return counted and all(isinstance(x, int) for x in numbers)

    @property
    def is_assumption(self) -> bool:
        return is_assumption(self.source)

    @property
    def is_beside_evidence(self) -> bool:
        """Whether its value is the author's own, and not what was measured or elicited."""
        known = self.evidence
        if known is None or math.isnan(self.value) or known.problems(self.unit):
            return False
        return not math.isclose(self.value, known.law.mean, rel_tol=1e-9)

    def problems(self) -> list[Problem]:
        where = ("parameters", self.name)
        low, high = self.range
        if self.evidence is not None:
            key = "measured" if isinstance(self.evidence, Measured) else "elicited"
            found = [Problem((*where, key), text) for text in self.evidence.problems(self.unit)]
            if found:
                return found
        for name, number in (("value", self.value), ("range", low), ("range", high)):
            if not is_number(number):
                return [Problem((*where, name), f"{number!r} is not a number")]
            if not abs(number) <= LARGEST:
                return [Problem((*where, name), f"{number!s:.24} is not a finite number")]
        found = self._range_problems(where)
        if not self.source.strip():
            message = 'has no source; write where it comes from, or "assumption"'
            found.append(Problem((*where, "source"), message))
        if self.prior and not isinstance(self.prior, Belief):
            found += [Problem((*where, "prior"), text) for text in self.prior.problems(low, high)]
        return found

    def _range_problems(self, where: tuple[str, ...]) -> list[Problem]:
        low, high = self.range
        found = []
        if not low <= high:
            message = f"runs from {low:.12g} down to {high:.12g}; write the smaller end first"
            return [Problem((*where, "range"), message)]
        if not low <= self.value <= high:
            message = f"{self.value:.12g} lies outside its range {low:.12g} to {high:.12g}"
            found.append(Problem((*where, "value"), message))
        if self.unit == PROBABILITY and not (low >= 0 and high <= 1):
            message = (
                f"a probability lies between 0 and 1, but this range is {low:.12g} to {high:.12g}; "
                f"of what is none say the unit, such as unit: euro"
            )
            found.append(Problem((*where, "range"), message))
        return found


@dataclass(frozen=True)
class Number:
    """A number derived from parameters, subject columns and other numbers by a formula.

    Without a unit of its own it has the one that its formula works out in.
    """

    name: str
    formula: str
    unit: str | None = None
    low: float | None = None
    high: float | None = None
    source: str = ""
    story: str = ""

    def __post_init__(self) -> None:
        check_fields(self)

    def range_problems(self) -> list[str]:
        if self.low is not None and self.high is not None and not self.low <= self.high:
            return [f"runs from {self.low:.12g} down to {self.high:.12g}; "
                    f"write the smaller end first"]  # fmt: skip
        return []


# -- the parts of an attack ------------------------------------------------------------------------


NAME = re.compile(r"[^\W\d]\w*\Z")
MOST_STATES = 1_000_000
Given = str | Mapping[str, float]  # what is known of a node: its state, or how likely each makes it
_EVENT = re.compile(r"\b(or|and)\b\s+.*=|^\s*(not\b|\()")  # more than states with commas
_TEST = re.compile(r"\s*(\w+)\s*((?:>=|<=|!=|<|>).*)\Z")
_SIGN = re.compile(r">=|<=|!=|<|>")
_NAMED = re.compile(r"(\w+)\s*(?:\Z|[<>=!])")
_SPAN = re.compile(r"(-?\d+|\$\w+)\.\.(-?\d+|\$\w+)\Z")


@dataclass(frozen=True)
class Node:
    """One event of the story.  `states` is a list, or a span such as "0..$class_size"."""

    name: str
    states: tuple[str, ...] | str
    cpd: CPD
    parents: tuple[str, ...] = ()
    story: str = ""
    source: str = ""
    linddun: tuple[str, ...] = ()
    panoptic: tuple[str, ...] = ()
    wp216: tuple[str, ...] = ()
    five_safes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        several = str | Iterable[str]
        more = {"states": str | Iterable[Any], "parents": several, "linddun": several,
                "panoptic": several, "wp216": several, "five_safes": several}  # fmt: skip
        check_fields(self, apart=["cpd"], instead=more)
        if not isinstance(self.states, str):
            object.__setattr__(self, "states", tuple(str(s) for s in self.states))
        _several_names(self, "parents", "linddun", "panoptic", "wp216", "five_safes")
        if isinstance(self.cpd, CPD):
            object.__setattr__(self, "cpd", self.cpd.named(self.parents))

    @classmethod
    def from_function(cls, function: Any, states: tuple[str, ...] = (NO, YES), **more: Any) -> Node:
        """A node named after a Python function; its edges are read from the signature."""
        cpd = Function.of(function)
        return cls(function.__name__, tuple(states), cpd, **more)

    @property
    def structural(self) -> tuple[str, ...]:
        """Parameters that size the state list."""
        span = _SPAN.match(self.states) if isinstance(self.states, str) else None
        return tuple(end[1:] for end in span.groups() if end.startswith("$")) if span else ()

    def states_at(self, values: Mapping[str, float]) -> tuple[str, ...]:
        """The state list at given values of the structural parameters."""
        if not isinstance(self.states, str):
            return self.states
        span = _SPAN.match(self.states)
        if span is None:
            raise UsageError(f'{self.name}: "{self.states}" is no span of states such as 0..5')
        first, last = (int(values[e[1:]]) if e.startswith("$") else int(e) for e in span.groups())
        if last - first >= MOST_STATES:
            raise TooLarge(
                f'{self.name}: "{self.states}" has {last - first + 1:,} states; '
                f"at most {MOST_STATES:,} can be written out: give a narrower range, or states "
                f"that are bands of it"
            )
        return tuple(str(i) for i in range(first, last + 1))

    @property
    def is_span(self) -> bool:
        return isinstance(self.states, str) and _SPAN.match(self.states) is not None


@dataclass(frozen=True)
class SubjectColumn:
    """A column that a table fills per subject.

    `per` a group: one value per subset of the group (bit j of the index: member j is known);
    `per` nodes, and at most one group: one value per combination of their states, the last varying
    fastest; `each` a group: one value per member; neither: one value.  `over` a node: for each of
    these a distribution of that node's states.
    """

    name: str
    per: str | tuple[str, ...] | None = None
    each: str | None = None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    story: str = ""
    over: str | None = None

    def __post_init__(self) -> None:
        check_fields(self, instead={"per": str | Iterable[str] | None})
        if self.per is not None and not isinstance(self.per, str):
            names = tuple(self.per)
            object.__setattr__(self, "per", names if len(names) > 1 else (*names, None)[0])

    @property
    def axes(self) -> tuple[str, ...]:
        """The nodes and the group that it is per."""
        return (self.per,) if isinstance(self.per, str) else self.per or ()

    @property
    def last(self) -> tuple[str, ...]:
        """The node whose states it is a distribution of, if any."""
        return () if self.over is None else (self.over,)


@dataclass(frozen=True)
class GroupRow:
    """P(member is known) for some states of the group's outside parents: one for all, or a list."""

    p: Ref | tuple[Ref, ...] = field(metadata={"story": "one chance for all members, or a list"})
    when: dict[str, str | tuple[str, ...]] = field(
        default_factory=dict, metadata={"story": "parent: state, list of states, or * for any"}
    )

    def __post_init__(self) -> None:
        check_fields(self, apart=["p"])
        freeze_fields(self)
        check_fields(self)


@dataclass(frozen=True)
class Group:
    """Yes/no nodes "the attacker knows attribute j", independent given the outside parents.

    Or members with stories of their own, `own`: a node each, with parents inside and outside.
    """

    name: str
    members: tuple[str, ...]
    rows: tuple[GroupRow, ...] = ()
    parents: tuple[str, ...] = ()
    story: str = ""
    source: str = ""
    own: tuple[Node, ...] = ()

    def __post_init__(self) -> None:
        several = str | Iterable[str]
        rowed = GroupRow | Iterable[GroupRow]
        more = {"members": several, "parents": several, "rows": rowed, "own": Iterable[Node]}
        check_fields(self, instead=more)
        _several_names(self, "members", "parents")
        rows = (self.rows,) if isinstance(self.rows, GroupRow) else self.rows
        object.__setattr__(self, "rows", tuple(rows))
        if self.own:  # one of them is all of them: each then says what the rows said of it
            by_name = {node.name: node for node in self.own}
            told = [by_name.get(n) or replace(self._member(j), story="", source="")
                    for j, n in enumerate(self.members)]  # fmt: skip
            strangers = (n for name, n in by_name.items() if name not in self.members)
            object.__setattr__(self, "own", (*told, *strangers))
            object.__setattr__(self, "rows", ())
            object.__setattr__(self, "parents", ())

    def member_nodes(self) -> tuple[Node, ...]:
        """The members as ordinary nodes."""
        if self.own:
            return tuple(replace(n, source=n.source or self.source) for n in self.own)
        return tuple(self._member(j) for j in range(len(self.members)))

    @property
    def outside(self) -> tuple[str, ...]:
        """The parents of its members that are not members themselves."""
        found = (p for node in self.own for p in node.parents) if self.own else self.parents
        return tuple(dict.fromkeys(p for p in found if p not in self.members))

    def _member(self, j: int) -> Node:
        rows = []
        for row in self.rows:
            short = isinstance(row.p, tuple) and j >= len(row.p)
            p = 0.0 if short else row.p[j] if isinstance(row.p, tuple) else row.p
            rows.append(Row((REST, p), dict(row.when)))
        story = f"The attacker knows {self.members[j]}"
        return Node(self.members[j], (NO, YES), Rows(tuple(rows)), self.parents, story, self.source)

    @property
    def variable(self) -> Variable:
        return Variable(self.name, members=self.members)


@dataclass(frozen=True)
class Question:
    """A named question: a target such as "reidentified=yes", and evidence if any.

    What is known of a node is its state, or a likelihood for each of its states.  In place of a
    target, `expect` names a node whose mean is asked for, or a group: how many are known.
    """

    name: str
    target: str = ""
    given: Mapping[str, Given] = field(default_factory=dict)
    story: str = ""
    expect: str = ""

    def __post_init__(self) -> None:
        check_fields(self, instead={"target": str | Mapping[str, Any], "given": Mapping[str, Any]})
        if isinstance(self.target, Mapping):
            said = parse_states(self.target)
            text = ", ".join(f"{node}={state}" for node, state in said.items())
            object.__setattr__(self, "target", text)
        object.__setattr__(self, "given", FrozenDict(parse_given(self.given)))

    @property
    def is_plain(self) -> bool:
        """Whether its target and evidence are states of nodes, and no events."""
        if _EVENT.search(self.target):
            return False
        try:
            plain = parse_states(self.target)
        except UsageError:
            return False
        plain |= {name: told for name, told in self.given.items() if isinstance(told, str)}
        return all(NAME.match(name) and not _TEST.match(f"n{told}") for name, told in plain.items())

    def asks_only(self, name: str) -> bool:
        """Whether it asks for one state, or the mean, of this node or group, and nothing else."""
        if self.given:
            return False
        return self.expect == name or (self.is_plain and {*parse_states(self.target)} == {name})

    @property
    def names(self) -> set[str]:
        """Nodes and groups that it names, whatever the form of its target and evidence."""
        said = [self.expect, self.target, *self.given]
        return {found for text in said for found in _NAMED.findall(text)}


def _several_names(thing: Any, *names: str) -> None:
    """Tuples of names; a lone string is one name, not its letters."""
    for name in names:
        value = getattr(thing, name)
        object.__setattr__(thing, name, (value,) if isinstance(value, str) else frozen([*value]))


def parse_states(text: str | Mapping[str, str]) -> dict[str, str]:
    """Read "a=yes, b=no" (or a mapping) as states by node.

    >>> parse_states("identified=yes, in_leak=no")
    {'identified': 'yes', 'in_leak': 'no'}
    """
    if not isinstance(text, str | Mapping):
        raise UsageError(
            f'{type(text).__name__} is no state; write "node=state" or {{"node": "state"}}'
        )
    if not isinstance(text, str):
        return {str(node): _state(state) for node, state in text.items()}
    found: dict[str, str] = {}
    for part in text.split(","):
        node, equals, state = (p.strip() for p in part.partition("="))
        if not (node and equals and state):
            raise UsageError(f'"{part.strip()}" is not of the form node=state')
        if node in found:
            raise UsageError(f'"{node}" is named twice in "{text}"')
        found[node] = state
    return found


class AfterEquals(str):
    """A state as it stands after =: in kept=>2 it is no comparison, whatever it looks like."""

    __slots__ = ()


def parse_given(text: str | Mapping[str, Any]) -> dict[str, Given]:
    """Read evidence: states by node, or P(what was seen | state) for every state of a node.

    >>> parse_given("in_leak=yes, age=young:0.8,old:0.1")
    {'in_leak': 'yes', 'age': {'young': 0.8, 'old': 0.1}}
    """
    if isinstance(text, str) and _EVENT.search(text):
        return {text.strip(): YES}  # an event, which holds
    if not isinstance(text, str):
        if not isinstance(text, Mapping):
            return dict(parse_states(text))  # which refuses it
        return {str(node): _evidence(str(node), value) for node, value in text.items()}
    parts: list[str] = []
    for part in text.split(","):
        if parts and "=" not in part and ":" in part and ":" in parts[-1].partition("=")[2]:
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    found: dict[str, Given] = {}
    for part in parts:
        tested = _TEST.match(part)
        if "," in part:
            node, _, states = part.partition("=")
            pairs = [pair.rpartition(":")[::2] for pair in states.split(",")]
            value: Any = {state.strip(): p.strip() for state, p in pairs}
            if len(value) < len(pairs):
                raise UsageError(f'"{part.strip()}" names a state twice')
            named: dict[str, Given] = {node.strip(): _evidence(node.strip(), value)}
        elif tested is not None:
            named = {tested[1]: tested[2].strip()}  # such as known: ">=2"
        else:
            named = {node: AfterEquals(state) for node, state in parse_states(part).items()}
        twice = [node for node in named if node in found]
        if twice and tested is not None and isinstance(found[twice[0]], str):
            first = str(found.pop(twice[0]))  # known>=1, known<=2: both hold
            sign = "" if _SIGN.match(first) else "="
            found[f"{twice[0]}{sign}{first}, {part.strip()}"] = YES
            continue
        if twice:
            raise UsageError(f'"{twice[0]}" is named twice in "{text}"')
        found |= named
    return found


def _evidence(node: str, value: Any) -> Given:
    """A state, or likelihoods by state; whether the states are the node's is seen later."""
    if not isinstance(value, Mapping):
        return _state(value)
    found = {}
    for state, p in value.items():
        try:
            number = float(p)
        except (TypeError, ValueError):
            number = float("nan")
        if not 0 <= number <= 1:  # also what is no number
            raise UsageError(
                f"{node}: a likelihood P(what was seen | {_state(state)}) must lie between 0 and 1"
            )
        found[_state(state)] = number
    return FrozenDict(found)


def _state(state: object) -> str:
    """True and False are what Python users write for yes and no."""
    if isinstance(state, bool):
        return YES if state else NO
    return state if isinstance(state, AfterEquals) else str(state)
