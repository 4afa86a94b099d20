"""A question, read and checked against its attack."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reidbn.attack.attack import Attack
from reidbn.attack.events import (
    finder,
    free_name,
    has_bands,
    is_event,
    no_mean_of_bands,
    read_event,
    read_test,
    refuse_what_never_is,
    with_count,
    with_event,
)
from reidbn.attack.parts import NAME, Given, Node, Question, parse_given, parse_states
from reidbn.cpds.event import ShareOfRange
from reidbn.cpds.protocol import NO, YES
from reidbn.cpds.report import Report, left_out
from reidbn.errors import ImpossibleEvidence, UsageError, did_you_mean
from reidbn.written import few


@dataclass(frozen=True)
class Scale:
    """From a share of a range to what the range is of: `low` at 0, `high` at 1."""

    of: str  # the node or group whose mean is asked for
    node: str  # the node whose states it is the mean of
    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low

    def value(self, share: Any) -> Any:
        return self.low + self.width * share

    def share(self, value: float) -> float:
        return (value - self.low) / self.width if self.width else 0.0


@dataclass(frozen=True)
class Query:
    """Target states (or a node whose whole distribution is wanted), evidence, interventions."""

    targets: tuple[str, ...]
    wanted: Mapping[str, str]
    given: Mapping[str, str]
    do: Mapping[str, str]
    reports: Mapping[str, str] = field(default_factory=dict)  # soft evidence and events in words
    scale: Scale | None = None  # what a mean is in units of its node; the target is its share
    written: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The name under which each node of the evidence was given, where that is another."""

    @property
    def known(self) -> list[str]:
        """What is given, in words."""
        return [self.reports.get(n, f"{n}={s}") for n, s in self.given.items()]

    @property
    def asked(self) -> list[str]:
        """What is asked for, in words."""
        if self.scale is not None:
            return [self.scale.of]
        return [self.reports.get(n, f"{n}={s}") for n, s in self.wanted.items()] or [*self.targets]

    @property
    def is_distribution(self) -> bool:
        return not self.wanted

    def describe(self) -> str:
        target = ", ".join(self.asked)
        sign = "P" if self.scale is None else "E"
        given = ", ".join(self.known)
        do = ", ".join(f"do {n}={s}" for n, s in self.do.items())
        conditions = ", ".join(c for c in (given, do) if c)
        return f"{sign}({target} | {conditions})" if conditions else f"{sign}({target})"


def default_question(attack: Attack) -> str:
    """What is asked when nothing is named: the question called "risk", or the only one.

    One rule for asking, what-if, assessing and the cross-check, in Python and in the shell.
    """
    main = attack.main_question
    if main is not None:
        return main.name
    if not attack.questions:
        raise UsageError(
            f"{attack.name} has no question of its own: say what to ask, such as node=state, or "
            f"add one to the model file, such as risk: {{target: identified=yes}}"
        )
    raise UsageError(
        f"{attack.name} has several questions and none is called risk: name one of "
        f"{', '.join(attack.questions)}, or an event such as node=state"
    )


Target = Any  # "node=state", {node: state}, an event, a node, a question's name, or a Mean


def read_query(
    attack: Attack,
    target: Target | None,
    given: str | Mapping[str, Any] | None = None,
    do: str | Mapping[str, Any] | None = None,
    *,
    of_people: bool = False,
) -> tuple[Attack, Query]:
    """A question checked against the attack; soft evidence becomes explicit report nodes.

    Without a target it is the attack's default question.  Of the people of a table (`of_people`)
    fewer may be known than an event counts: then it has the chance 0, and is a slip otherwise.
    """
    before = attack
    known = parse_given({} if given is None else given)
    target, known = _named_question(attack, target, known)
    hard: dict[str, str] = {}
    words: dict[str, str] = {}
    written: dict[str, str] = {}
    for name, value in known.items():
        attack, plain, said = with_events(attack, {name: value})
        attack, states, reports = with_soft_evidence(attack, plain)
        hard, words = hard | states, words | said | reports
        written |= {node: name for node in states if node != name}
    done = parse_states({} if do is None else do)
    scale = None
    target = _mean(attack, target)
    if isinstance(target, Mean):
        attack, node, scale = with_share(attack, target.of)
        wanted = {node: YES}
    elif isinstance(target, str) and is_event(target, finder(attack)):
        attack, wanted, said = _event(attack, target)
        words |= said
    elif isinstance(target, str) and "=" not in target:
        wanted = {}
        if "," in target:
            raise UsageError(f'"{target}": ask one node as a whole, or states such as a=yes, b=no')
    else:
        wanted = parse_states(target)
    targets = tuple(wanted) or (str(target).strip(),) * bool(target)
    for node in {*targets, *hard, *done}:
        if node in attack.groups:
            raise UsageError(f"{node} is a group: name its members, such as "
                             f"{attack.groups[node].members[0]}")  # fmt: skip
        if node not in attack.all_nodes:
            alone = node in targets and not wanted  # it may be a question, too
            what = "question or node" if alone else "node"
            hint = did_you_mean(node, [*attack.all_nodes, *(attack.questions if alone else ())])
            raise UsageError(f'{attack.name} has no {what} "{node}"; {hint}')
    if not of_people:
        refuse_what_never_is(attack, before)
    return attack, Query(targets, wanted, hard, done, words, scale, written)


@dataclass(frozen=True)
class Mean:
    """The target of a question about the mean of a node's number, or of a group's count."""

    of: str


def _named_question(
    attack: Attack, target: Target | None, given: dict[str, Given]
) -> tuple[Target, dict[str, Given]]:
    """A bare word that names a question of the attack, and no node, stands for that question."""
    name = default_question(attack) if target is None else target
    if not isinstance(name, str) or (name := name.strip()) not in attack.questions:
        return target, given
    if target is not None and name in attack.all_nodes:
        refuse_two_readings(attack, name)
        return target, given
    question = attack.questions[name]
    return asked_by(question), {**question.given, **given}


def asked_by(question: Question) -> Target:
    """What a question of an attack asks for."""
    return Mean(question.expect) if question.expect else question.target


def refuse_two_readings(attack: Attack, name: str) -> None:
    """Raise where a word names a question and a node, or a group, of which it asks another thing.

    A question about one state, or the mean, of that very node is part of what the node answers.
    """
    question = attack.questions.get(name)
    if question is None or question.asks_only(name):
        return
    asked = f"expect {question.expect}" if question.expect else question.target
    known = ", ".join(_as_given(node, value) for node, value in question.given.items())
    given = f" given {known}" if known else ""
    what, plain = "group" if name in attack.groups else "node", f"expect {name}"
    if what == "node" and question.expect != name:
        sizes = {n: float(attack.parameters[n].value) for n in attack.structural}
        states = attack.variable(name, sizes).states
        plain = f"{name}={YES if YES in states else states[-1]}"
    raise UsageError(
        f"{name} is a question of {attack.name} ({asked}{given}) and a {what}: ask {plain} "
        f"for {what} {name}, or {asked}{given} for the question"
    )


def _as_given(node: str, value: Given) -> str:
    if isinstance(value, str):
        return f"{node}={value}" if NAME.match(node) else f"({node})={value}"
    return f"{node}=" + ",".join(f"{state}:{p:.12g}" for state, p in value.items())


def _mean(attack: Attack, target: Target) -> Target:
    """A mean, where one is asked for in words: "expect exposed", {"expect": "exposed"}."""
    if isinstance(target, str) and (said := re.fullmatch(r"\s*expect\s+(\w+)\s*", target)):
        return Mean(said[1])
    if isinstance(target, Mapping) and {*target} == {"expect"} and "expect" not in attack.all_nodes:
        return Mean(str(target["expect"]))
    if isinstance(target, Mapping):  # {"known": 2, "named": "yes"}: as it would be written
        find = finder(attack)
        states = parse_states(target)
        tests = {n: read_test(n, s, find) if find(n) else None for n, s in states.items()}
        if any(tests.values()):
            parts = {n: "".join(t.test) if t else f"={states[n]}" for n, t in tests.items()}
            return ", ".join(f"{name}{test}" for name, test in parts.items())
    return target


def _event(attack: Attack, text: str) -> tuple[Attack, dict[str, str], dict[str, str]]:
    """The attack with a node for an event, that it says yes, and the event in words."""
    names = [*attack.all_nodes, *attack.groups]
    event = read_event(text, finder(attack), names)
    said = " ".join(text.split())
    attack, node = with_event(attack, event, "event", said)
    return attack, {node: YES}, {node: said}


def with_events(
    attack: Attack, given: Mapping[str, Given]
) -> tuple[Attack, dict[str, Given], dict[str, str]]:
    """Evidence that is more than a state (n: ">=3", a group's count, "a=yes or b=yes") as nodes."""
    out: dict[str, Given] = {}
    words: dict[str, str] = {}
    for name, value in given.items():
        if not isinstance(value, str) and name in attack.groups:
            attack, node = with_count(attack, name)  # an uncertain report of how many are known
            out[node] = value
        elif not isinstance(value, str) or (name in attack.nodes and value in (YES, NO)):
            out[name] = value
        elif (atom := read_test(name, value, finder(attack))) is not None:
            said = f"{name}{atom.test[0]}{atom.test[1]}"
            attack, node = with_event(attack, atom, f"{name}_event", said)
            out[node], words[node] = YES, said
        elif not NAME.match(name):
            if value not in (YES, NO):
                raise UsageError(f'"{name}" holds or not: yes or no, not "{value}"')
            attack, wanted, told = _event(attack, name)
            (node,) = wanted
            out[node] = value
            words[node] = told[node] if value == YES else f"not ({told[node]})"
        else:
            out[name] = value
    return attack, out, words


def with_share(attack: Attack, name: str) -> tuple[Attack, str, Scale]:
    """The attack with a node whose P(yes) is a mean as a share of its range, and that range."""
    find = finder(attack)
    known = find(name)
    if known is None:
        hint = did_you_mean(name, [*attack.all_nodes, *attack.groups])
        raise UsageError(f'{attack.name} has no node "{name}" whose mean could be told; {hint}')
    node = name
    if known.is_group:
        attack, node = with_count(attack, name)
    elif not known.has_numbers:
        states = few(known.states)
        raise UsageError(f"{name} has no mean: its states are no numbers but {states}")
    elif name in attack.nodes and has_bands(attack.nodes[name]):
        raise UsageError(no_mean_of_bands(name))
    ends: list[float] = []
    for at in (0, 1):  # a parameter that sizes the states may move over its range
        sizes = {p: attack.parameters[p].range[at] for p in attack.structural}
        ends += attack.variable(node, sizes).numbers.tolist()
    low, high = min(ends), max(ends)
    share = Node(
        free_name(attack, f"{name}_share"), (NO, YES), ShareOfRange(low, high), (node,),
        story=f"{name} as a share of {low:g} to {high:g}",
    )  # fmt: skip
    return attack.with_node(share), share.name, Scale(name, node, low, high)


def with_soft_evidence(
    attack: Attack, given: Mapping[str, Given]
) -> tuple[Attack, dict[str, str], dict[str, str]]:
    """Evidence `node: {state: likelihood}` as a report on the node that was seen to say yes.

    P(report = yes | state) is the likelihood, so P(evidence) stays a probability.  Returned are the
    attack with its reports, the states that are given, and the reports in words.
    """
    hard: dict[str, str] = {}
    words: dict[str, str] = {}
    for node, value in given.items():
        if isinstance(value, str):
            hard[node] = value
            continue
        if node not in attack.all_nodes:
            raise UsageError(f'no node "{node}"; {did_you_mean(node, attack.all_nodes)}')
        _check_states(attack.all_nodes[node], value)
        report = Node(
            free_name(attack, f"{node}_report"), (NO, YES), Report(dict(value)), (node,),
            story=f"An uncertain report about {node}", source="evidence of the question",
        )  # fmt: skip
        attack = attack.with_node(report)
        hard[report.name] = YES
        words[report.name] = f"{node}=" + ",".join(f"{s}:{p:.12g}" for s, p in value.items())
    return attack, hard, words


def _check_states(node: Node, likelihood: Mapping[str, float]) -> None:
    """All states are named, and no others; of a span only what no parameter can change."""
    if likelihood and not any(likelihood.values()):
        raise ImpossibleEvidence(
            f"{node.name}: every likelihood is 0, so what was seen can never be"
        )
    if isinstance(node.states, str):
        odd = [state for state in likelihood if not state.lstrip("-").isdigit()]
        if odd or not likelihood:
            raise UsageError(f"{node.name} has the states {node.states}, not {', '.join(odd)}")
        return
    unknown = [state for state in likelihood if state not in node.states]
    if unknown:
        hint = did_you_mean(unknown[0], node.states)
        raise UsageError(f'{node.name} has no state "{unknown[0]}"; {hint}')
    missing = [state for state in node.states if state not in likelihood]
    if missing:
        raise UsageError(left_out(node.name, missing))


def refuse_nothing(query: Query) -> None:
    """A question has to ask for something."""
    if not query.targets:
        raise UsageError("an empty target asks for nothing; name a state, such as node=yes")
