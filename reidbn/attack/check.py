"""Everything that can be wrong with an attack, found at once, each with its address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.attack.parts import NAME, Group, Node, SubjectColumn, parse_states
from reidbn.cpds.protocol import CPD, YES, Variable
from reidbn.cpds.rows import REST
from reidbn.errors import Problem, ReidbnError, did_you_mean

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack

_RESERVED = set('=,;{}"')


def problems(attack: Attack) -> list[Problem]:
    """All problems; later checks run only when the earlier ones leave something to check."""
    found = [*_names(attack), *(p for q in attack.parameters.values() for p in q.problems())]
    found += _states(attack)
    found += _parents(attack)
    if found:
        return found
    found = [*_cycles(attack)]
    if found:
        return found
    found = [*_columns(attack), *_groups(attack)]
    for node in attack.nodes.values():
        found += _cpd_problems(attack, node)
    found += _questions(attack)
    found += _unused(attack)
    return found or [*_example(attack)]


def _names(attack: Attack) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    rooms = ("parameters", "subject", "groups", "nodes")
    if not attack.nodes:
        yield Problem(("nodes",), "there are no nodes")
    for room in rooms:
        catalogue = getattr(attack, room)
        for name in catalogue.twice:
            yield Problem((room, name), "is declared twice")
        named = [(name, (room, name)) for name in catalogue]
        if room == "groups":
            named += [(m, (room, g.name, "members")) for g in catalogue.values() for m in g.members]
        for name, where in named:
            if not NAME.match(str(name)):
                message = f'"{name}" cannot be a name: use letters, digits and _'
                yield Problem(where, message)
            elif name in seen:
                message = f'"{name}" is also the name of something in {seen[name]}'
                yield Problem(where, message)
            seen[name] = room


def _states(attack: Attack) -> Iterator[Problem]:
    for node in attack.nodes.values():
        where = ("nodes", node.name, "states")
        if isinstance(node.states, str):
            yield from _span_problems(attack, node)
            continue
        if not node.states:
            yield Problem(where, "there are no states")
        for state in node.states:
            if not state.strip() or state != state.strip() or set(state) & _RESERVED:
                yield Problem(where, f'"{state}" cannot be a state: no = , ; braces or quotes')
        for state in sorted({s for s in node.states if node.states.count(s) > 1}):
            yield Problem(where, f'"{state}" is listed twice')


def _span_problems(attack: Attack, node: Node) -> Iterator[Problem]:
    where = ("nodes", node.name, "states")
    if not node.is_span:
        yield Problem(where, f'"{node.states}" is neither a list nor a span such as 0..$class_size')
        return
    unknown = [p for p in node.structural if p not in attack.parameters]
    for name in unknown:
        yield Problem(where, f'no parameter "{name}"; {did_you_mean(name, attack.parameters)}')
    fractional = [p for p in node.structural if p not in unknown
                  and not attack.parameters[p].is_integer]  # fmt: skip
    for name in fractional:
        message = f"${name} sizes the states, so its value and range must be whole numbers"
        yield Problem(where, message)
    if not unknown and not fractional:
        values = {p: attack.parameters[p].value for p in node.structural}
        if not node.states_at(values):
            yield Problem(where, f'"{node.states}" is empty at the values of its parameters')


def _parents(attack: Attack) -> Iterator[Problem]:
    members = {m for g in attack.groups.values() for m in g.members}
    known = {*attack.nodes, *attack.groups, *members}
    owners: list[tuple[str, Node | Group]] = [("nodes", n) for n in attack.nodes.values()]
    owners += [("groups", g) for g in attack.groups.values()]
    for room, owner in owners:
        for i, parent in enumerate(owner.parents):
            where = (room, owner.name, "parents", i)
            if parent not in known:
                hint = did_you_mean(parent, known - {owner.name})
                yield Problem(where, f'unknown node "{parent}"; {hint}')
            elif owner.parents.count(parent) > 1 and owner.parents.index(parent) != i:
                yield Problem(where, f'"{parent}" is listed twice')
            elif parent in attack.groups and room == "groups":
                yield Problem(where, f'"{parent}" is a group; a group\'s parents must be nodes')
            elif parent in members and attack.group_of(parent) is not owner:
                group = attack.group_of(parent)
                if group and group.name in owner.parents:
                    message = f'"{parent}" is already among the members of {group.name}'
                    yield Problem(where, message)


def _cycles(attack: Attack) -> Iterator[Problem]:
    members = [n for g in attack.groups.values() for n in g.member_nodes()]
    edges = {n.name: attack.parent_nodes(n) for n in (*members, *attack.nodes.values())}
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as problem:
        path = " -> ".join(reversed(problem.args[1]))
        yield Problem(("nodes",), f"the story goes in a circle: {path}")


def _columns(attack: Attack) -> Iterator[Problem]:
    for column in attack.subject.values():
        for field in ("per", "each"):
            group = getattr(column, field)
            if group is not None and group not in attack.groups:
                message = f'no group "{group}"; {did_you_mean(group, attack.groups)}'
                yield Problem(("subject", column.name, field), message)
        if column.per and column.each:
            yield Problem(("subject", column.name), "has both per and each; keep one")


def _groups(attack: Attack) -> Iterator[Problem]:
    for group in attack.groups.values():
        where: tuple[str | int, ...] = ("groups", group.name)
        if not group.members:
            yield Problem((*where, "members"), "there are no members")
            continue
        for i, row in enumerate(group.rows):
            if isinstance(row.p, tuple) and len(row.p) != len(group.members):
                message = f"has {len(row.p)} probabilities for {len(group.members)} members"
                yield Problem((*where, "rows", i, "p"), message)
        for problem in _cpd_problems(attack, group.member_nodes()[0]):
            inner = [part for part in problem.where[3:] if part != "cpd"]
            if len(inner) == 4 and inner[2] == "p":
                inner = inner[:3]
            yield Problem((*where, *inner), problem.message)
        if not group.source and any(_numbers(row.p) for row in group.rows):
            yield Problem((*where, "source"), _NO_SOURCE)


def _cpd_problems(attack: Attack, node: Node) -> Iterator[Problem]:
    where: tuple[str | int, ...] = ("nodes", node.name, "cpd")
    values = {name: attack.parameters[name].value for name in attack.structural}
    child = attack.variable(node.name, values)
    parents = tuple(attack.variable(p, values) for p in node.parents)
    own = list(node.cpd.problems(child, parents))
    for ref in dict.fromkeys(node.cpd.references()):
        if ref.startswith("$") and ref[1:] not in attack.parameters:
            message = f'no parameter "{ref[1:]}"; {did_you_mean(ref[1:], attack.parameters)}'
            own.append(Problem(_address(node.cpd, ref), message))
        elif ref.startswith("@"):
            own += _column_use(attack, node, ref)
    if node.cpd.kind == "function":
        own += _function_arguments(attack, node)
    for problem in own:
        yield Problem((*where, *problem.where), problem.message)
    if not node.source and attack.group_of(node.name) is None and _numbers(node.cpd):
        yield Problem(("nodes", node.name, "source"), _NO_SOURCE)


_NO_SOURCE = 'holds numbers without a source; add one (source: assumption, if it is one)'


def _column_use(attack: Attack, node: Node, ref: str) -> Iterator[Problem]:
    where = _address(node.cpd, ref)
    if ref[1:] not in attack.subject:
        hint = did_you_mean(ref[1:], attack.subject)
        yield Problem(where, f'no subject column "{ref[1:]}"; {hint}')
        return
    column: SubjectColumn = attack.subject[ref[1:]]
    group = attack.group_of(node.name)
    if column.per and column.per not in node.parents:
        message = f"{ref} has one value per subset of {column.per}, which is no parent of this node"
        yield Problem(where, message)
    if column.each and (group is None or group.name != column.each):
        message = f"{ref} has one value per member of {column.each}: only its members may use it"
        yield Problem(where, message)


def _function_arguments(attack: Attack, node: Node) -> Iterator[Problem]:
    known = {*attack.parameters, *attack.subject, *node.parents}
    for argument in node.cpd.references():
        if argument not in known:
            hint = did_you_mean(argument, known)
            message = f'argument "{argument}" is no parent, parameter or subject column; {hint}'
            yield Problem(("name",), message)


def _address(value: Any, ref: str) -> tuple[str | int, ...]:
    """Where in a CPD a reference stands."""
    for where, leaf in _leaves(value):
        if leaf == ref:
            return where
    return ()


def _leaves(value: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    pairs: list[tuple[str | int, Any]]
    if is_dataclass(value) and not isinstance(value, type):
        pairs = [(f.name, getattr(value, f.name)) for f in fields(value)]
    elif isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, tuple | list):
        pairs = list(enumerate(value))
    else:
        yield (), value
        return
    for key, item in pairs:
        for where, leaf in _leaves(item):
            yield (key, *where), leaf


def _numbers(value: CPD | Any) -> bool:
    """Does it hold a number that somebody must have got from somewhere?"""
    return any(isinstance(leaf, float) and leaf not in (0.0, 1.0) for _, leaf in _leaves(value))


def _questions(attack: Attack) -> Iterator[Problem]:
    for question in attack.questions.values():
        where = ("questions", question.name)
        for key, states in (("target", question.target), ("given", question.given)):
            try:
                named = parse_states(states)
            except ReidbnError as problem:
                yield Problem((*where, key), str(problem))
                continue
            for node, state in named.items():
                yield from _known_state(attack, (*where, key), node, state)


def _known_state(
    attack: Attack, where: tuple[str | int, ...], node: str, state: str
) -> Iterator[Problem]:
    if node not in attack.all_nodes:
        yield Problem(where, f'unknown node "{node}"; {did_you_mean(node, attack.all_nodes)}')
        return
    values = {name: attack.parameters[name].value for name in attack.structural}
    variable: Variable = attack.variable(node, values)
    if state not in variable.states:
        hint = did_you_mean(state, variable.states)
        yield Problem(where, f'{node} has no state "{state}"; {hint}')


def _unused(attack: Attack) -> Iterator[Problem]:
    used = {ref.removeprefix("$") for n in attack.all_nodes.values() for ref in n.cpd.references()}
    used |= set(attack.structural)
    for name in attack.parameters:
        if name not in used:
            yield Problem(("parameters", name), f"is never used; write ${name} where it belongs")


def _example(attack: Attack) -> Iterator[Problem]:
    for name, value in attack.example.items():
        where = ("example", name)
        if name not in attack.subject:
            hint = did_you_mean(name, attack.subject)
            yield Problem(where, f'no subject column "{name}"; {hint}')
            continue
        column = attack.subject[name]
        wanted = column_shape(attack, column)
        found = np.shape(value)
        if found != wanted:
            yield Problem(where, f"has shape {found}; {describe_shape(attack, column)}")
        elif not np.isfinite(np.asarray(value, dtype=float)).all():
            yield Problem(where, "holds a value that is not a finite number")


def column_shape(attack: Attack, column: SubjectColumn) -> tuple[int, ...]:
    """The shape of one subject's value in a column."""
    if column.per:
        return (1 << len(attack.groups[column.per].members),)
    if column.each:
        return (len(attack.groups[column.each].members),)
    return ()


def describe_shape(attack: Attack, column: SubjectColumn) -> str:
    shape = column_shape(attack, column)
    if column.per:
        return f"it needs {shape[0]} values, one per subset of {column.per}"
    if column.each:
        return f"it needs {shape[0]} values, one per member of {column.each}"
    return "it needs a single number"


__all__ = ["REST", "YES", "column_shape", "describe_shape", "problems"]
