"""What can be wrong with the questions of an attack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reidbn.attack.events import (
    States,
    has_bands,
    is_event,
    no_mean_of_bands,
    read_event,
    read_test,
    refuse_within_bands,
)
from reidbn.attack.leaves import Where
from reidbn.attack.parts import NAME, Given, Node, parse_states
from reidbn.cpds.protocol import NO, YES
from reidbn.cpds.report import left_out
from reidbn.errors import WARNING, Problem, ReidbnError, did_you_mean, which_state
from reidbn.written import few

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack


# The routes by which an assessment names its risks: questions that must be called so.
_ROUTES = ("prosecutor", "journalist", "marketer")


def question_slips(attack: Attack) -> Iterator[Problem]:
    """Questions with the name of a node, or a group, of which they ask another thing: warnings."""
    for name, question in attack.questions.items():
        what = "group" if name in attack.groups else "node"
        taken = name in attack.groups or name in attack.all_nodes
        if not taken or name in _ROUTES:
            continue
        if not question.asks_only(name):
            message = (
                f"is the name of a {what} too, and the question asks another thing: by this name "
                f"alone it is refused where both could be meant; call the question otherwise"
            )
        elif question.target and question.target.split("=")[-1].strip() != YES:
            message = (
                f"is the name of a {what} too, of which it asks one state: by this name alone ask "
                f"answers with every state, assess with {question.target}, and what takes one "
                f"chance refuses it; call the question otherwise"
            )
        else:
            continue
        yield Problem(("questions", name), message, at_key=True, level=WARNING)


@dataclass(frozen=True)
class _Names:
    """What a question may name."""

    attack: Attack
    nodes: Mapping[str, Node]
    find: States
    states: Callable[[str], tuple[str, ...]]


def question_problems(
    attack: Attack,
    nodes: Mapping[str, Node],
    find: States,
    states: Callable[[str], tuple[str, ...]],
) -> Iterator[Problem]:
    """What is wrong with an attack's questions.

    `states` are those of a node at the parameters' values, none where they are not sure; `find`
    has none where a parameter may change them.
    """
    facts = _Names(attack, nodes, find, states)
    for question in attack.questions.values():
        where = ("questions", question.name)
        targets: dict[str, str] = {}
        if question.expect:
            yield from _expected(facts, question.expect, (*where, "expect"))
        elif is_event(question.target, facts.find):
            yield from _event_problems(facts, question.target, (*where, "target"))
        else:
            try:
                targets = parse_states(question.target)
            except ReidbnError as problem:
                yield Problem((*where, "target"), str(problem))
        for node, state in targets.items():
            yield from _known_state(facts, (*where, "target"), node, state)
        for node, known in question.given.items():
            yield from _given_problems(facts, (*where, "given", node), node, known)
            if node in targets and isinstance(known, str):
                inner = (*where, "given", node)
                yield Problem(inner, f"{node} is both asked for and given", at_key=True)


def _given_problems(facts: _Names, inner: Where, node: str, known: Given) -> Iterator[Problem]:
    if isinstance(known, str) and not NAME.match(node):
        yield from _event_problems(facts, node, inner)
        if known not in (YES, NO):
            yield Problem(inner, f'an event holds or not: yes or no, not "{known}"')
        return
    try:
        if isinstance(known, str) and read_test(node, known, facts.find) is not None:
            return
    except ReidbnError as problem:
        yield Problem(inner, str(problem))
        return
    if not isinstance(known, str) and node in facts.attack.groups:
        counts = {str(i) for i in range(len(facts.attack.groups[node].members) + 1)}
        odd = sorted({*known} ^ counts)
        if odd:
            message = f"needs a likelihood for each number of members known, 0 to {len(counts) - 1}"
            yield Problem(inner, f"{message}; {few(odd)} is one too many or too few")
        return
    for state in (known,) if isinstance(known, str) else known:
        yield from _known_state(facts, inner, node, state)
    if not isinstance(known, str) and facts.states(node):
        missing = [s for s in facts.states(node) if s not in known]
        if missing:
            yield Problem(inner, left_out(node, missing))


def _expected(facts: _Names, name: str, where: Where) -> Iterator[Problem]:
    known = facts.find(name)
    if known is None:
        hint = did_you_mean(name, [*facts.nodes, *facts.attack.groups])
        yield Problem(where, f'unknown node "{name}"; {hint}')
    elif not known.has_numbers:
        states = few(known.states)
        yield Problem(where, f"the states of {name} are no numbers but {states}")
    elif name in facts.nodes and has_bands(facts.nodes[name]):
        yield Problem(where, no_mean_of_bands(name))


def _event_problems(facts: _Names, text: str, where: Where) -> Iterator[Problem]:
    try:
        event = read_event(text, facts.find, [*facts.nodes, *facts.attack.groups])
        refuse_within_bands(facts.attack, event)
    except ReidbnError as problem:
        yield Problem(where, str(problem))


def _known_state(
    facts: _Names, where: tuple[str | int, ...], node: str, state: str
) -> Iterator[Problem]:
    if node not in facts.nodes:
        yield Problem(
            where, f'unknown node "{node}"; {did_you_mean(node, facts.nodes)}', at_key=True
        )
    elif facts.states(node):
        states = facts.states(node)
        if state not in states:
            yield Problem(where, f'{node} has no state "{state}"; {which_state(state, states)}')
