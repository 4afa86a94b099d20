"""Slips that are legal but rarely meant: each one changes an answer, or a report, in silence.

Everything that can be wrong with an attack, found at once, each with its address.

A check runs wherever the parts that it reads are sound, so one mistake does not hide another and
none is reported twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from reidbn.attack.columns import column_problems, example_problems, use_problems
from reidbn.attack.decisions import decision_problems, decision_slips, unit_of
from reidbn.attack.events import has_bands
from reidbn.attack.leaves import Where, address_of, chances, holds_numbers
from reidbn.attack.limits import condition_problems
from reidbn.attack.numbers import number_problems, number_values
from reidbn.attack.parts import NAME, Group, Node, Parameter
from reidbn.attack.plates import plate_slips
from reidbn.attack.questions import question_problems, question_slips
from reidbn.attack.threats import threat_problems
from reidbn.attack.units import PERCENT, TO_A_CHANCE, Units
from reidbn.cpds.function import Function
from reidbn.cpds.logic import Mixture
from reidbn.cpds.match import OneOver
from reidbn.cpds.protocol import CPD, NO, YES, Variable
from reidbn.cpds.rows import MeasuredShares, Rows
from reidbn.errors import WARNING, Problem, TooLarge, did_you_mean

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack


def slips(attack: Attack) -> Iterator[Problem]:
    """Everything in an attack that is probably not what its author meant."""
    for node in attack.nodes.values():
        yield from _lists(node.cpd, node, ("nodes", node.name, "cpd"))
    for parameter in attack.parameters.values():
        yield from _parts_of_one(parameter)
        if parameter.is_beside_evidence and parameter.is_assumption:
            assert parameter.evidence is not None  # noqa: S101 - it is beside it
            message = (
                f"is {parameter.value:.6g}, and what stands behind it says "
                f"{parameter.evidence.law.mean:.6g}: it counts as an assumption. Leave the value "
                f"out, or say its source"
            )
            yield Problem(("parameters", parameter.name, "value"), message, level=WARNING)
    yield from threat_problems(attack)
    yield from question_slips(attack)
    if attack.template is not None and "repeat" in attack.template:
        yield from plate_slips(attack.template["repeat"])


def _parts_of_one(parameter: Parameter) -> Iterator[Problem]:
    """2.5 people: a count by its range and its unit, and not by its value."""
    low, high = parameter.range
    if parameter.value % 1 and replace(parameter, value=low).is_integer:
        message = (
            f"is {parameter.value:.12g} {parameter.unit}, and the range is whole: write a whole "
            f"number, or the range as {float(low)} to {float(high)} where parts of one are meant"
        )
        yield Problem(("parameters", parameter.name, "value"), message, level=WARNING)


# -- lists whose order is easily mistaken ---------------------------------------------------------


def _lists(cpd: Any, node: Node, where: Where) -> Iterator[Problem]:
    """[$p, rest] on a yes/no node: the first cell is the chance of its first state."""
    if isinstance(cpd, Mixture):
        for i, component in enumerate(cpd.components):
            yield from _lists(component, node, (*where, "components", i))
    if not isinstance(cpd, Rows) or isinstance(node.states, str) or {*node.states} != {YES, NO}:
        return
    for i, row in enumerate(cpd.rows):
        if isinstance(row.p, tuple) and any(isinstance(cell, str) for cell in row.p):
            cells = zip(node.states, row.p, strict=True)
            meant = ", ".join(f"{state}: {_cell(cell)}" for state, cell in cells)
            message = (
                f"means {{{meant}}}, in the order of the states; "
                f"write it by name, so that no order can be mistaken"
            )
            yield Problem((*where, "rows", i, "p"), message, level=WARNING)


def _cell(cell: Any) -> str:
    return cell if isinstance(cell, str) else f"{cell:.12g}"


# -- everything that can be wrong with an attack, found at once, each with  ------------------------


_RESERVED = set('=,;{}"')
_ROOMS = ("parameters", "numbers", "subject", "groups", "nodes", "utilities")
_NO_SOURCE = "holds numbers without a source; say where they come from, or source: assumption"


def problems(attack: Attack) -> list[Problem]:
    """All problems of an attack."""
    facts = _Facts(attack)
    found = [*_names(attack), *(p for q in attack.parameters.values() for p in q.problems())]
    odd = number_problems(attack)
    facts.sound_numbers = not odd and not (attack.numbers and found)
    found += odd
    found += [*condition_problems(attack, sound_numbers=facts.sound_numbers)]
    found += facts.state_problems
    found += facts.parent_problems
    found += [*_cycles(facts), *column_problems(attack), *_groups(facts)]
    for node in attack.nodes.values():
        found += [*_cpd_problems(facts, node), *_node_source(node)]
    found += decision_problems(attack, facts.nodes, facts.find, sound_numbers=facts.sound_numbers)
    found += question_problems(attack, facts.nodes, facts.find, facts.states)
    found += _unused(facts)
    found += example_problems(attack, facts.has_sound_states)
    if attack.numbers and facts.sound_numbers and not any(p.where[:1] == ("where",) for p in found):
        found += number_values(attack)
    sound = all(problem.is_warning for problem in found)
    if not sound:
        return found
    unread = [p for node in facts.nodes.values() for p in _unread(facts, node)]
    return [*found, *unread, *slips(attack), *decision_slips(attack)]


class _Facts:
    """What the checks need to know, without assuming that the attack is sound."""

    def __init__(self, attack: Attack) -> None:
        self.attack = attack
        self.sound_numbers = True  # whether the derived numbers can be worked out
        self.member_of = {m: g for g in attack.groups.values() for m in g.members}
        members = [n for g in attack.groups.values() for n in g.member_nodes()]
        self.nodes = {n.name: n for n in (*members, *attack.nodes.values())}
        self.state_problems = [p for n in attack.nodes.values() for p in _states(attack, n)]
        self.parent_problems = [*_parents(attack, self.member_of, {*self.nodes, *attack.groups})]
        self._odd_states = {p.where[1] for p in self.state_problems}
        self._odd_parents = {p.where[1] for p in self.parent_problems}

    @cached_property
    def sizes(self) -> dict[str, float]:
        """Values of the parameters that size state lists."""
        known = self.attack.parameters
        return {name: known[name].value for name in self.attack.structural if name in known}

    def has_sound_states(self, name: str) -> bool:
        known = name in self.nodes or name in self.attack.groups
        return known and name not in self._odd_states

    def has_sound_family(self, node: Node) -> bool:
        """Its own states and all its parents' can be relied on."""
        names = (node.name, *node.parents)
        return not self.has_odd_parents(node) and all(self.has_sound_states(n) for n in names)

    def has_odd_parents(self, node: Node) -> bool:
        group = self.member_of.get(node.name)
        return bool({node.name, group.name if group else None} & self._odd_parents)

    def find(self, name: str) -> Variable | None:
        """A node or group by name, with no states where these are not sure."""
        if name not in self.nodes and name not in self.attack.groups:
            return None
        sized = name in self.nodes and self.nodes[name].structural
        if sized or not self.has_sound_states(name):
            return Variable(name, ())
        return self.variable(name)

    def states(self, name: str) -> tuple[str, ...]:
        return self.variable(name).states if self.has_sound_states(name) else ()

    def variable(self, name: str) -> Variable:
        if name in self.attack.groups:
            return self.attack.groups[name].variable
        group = self.member_of.get(name)
        index = group.members.index(name) if group else None
        node = self.nodes[name]
        return Variable(name, node.states_at(self.sizes), member_index=index, bands=has_bands(node))


def _names(attack: Attack) -> Iterator[Problem]:
    if not (isinstance(attack.name, str) and attack.name.strip()):
        yield Problem(("name",), "is empty; an attack needs a name")
    if not attack.nodes:
        yield Problem(("nodes",), "there are no nodes: an attack needs at least one")
    for room in (*_ROOMS, "questions"):
        for name in getattr(attack, room).twice:
            yield Problem((room, name), "is declared twice", at_key=True)
    for name, reason in attack.excluded.items():
        if not reason.strip():
            message = "is excluded without a reason; say because of what"
            yield Problem(("excluded", name), message)
    for i, name in enumerate(attack.takes):
        if name not in attack.nodes:
            hint = did_you_mean(name, attack.nodes)
            yield Problem(("takes", i), f'no node "{name}"; {hint}')
    seen: dict[str, str] = {}
    for where, name in _named(attack):
        if not NAME.match(str(name)):
            message = _no_name(str(name))
            yield Problem(where, message, at_key=True)
        elif name in seen:
            message = f'"{name}" is already the name of something in {seen[name]}'
            yield Problem(where, message, at_key=True)
        seen.setdefault(name, str(where[0]))


def _no_name(name: str) -> str:
    """What is wrong with a name."""
    if gap := re.search(r"\[(\w+)", name):
        return (
            f'"{name}": {gap[1]} is no word of `repeat` in this file; a variant of a file that '
            f"repeats says the same `repeat` again"
        )
    return f'"{name}" cannot be a name: use letters, digits and _, no digit first'


def _named(attack: Attack) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Everything that a question or a CPD can name."""
    for room in _ROOMS:
        yield from (((room, name), name) for name in getattr(attack, room))
        if room == "groups":
            for group in attack.groups.values():
                for i, member in enumerate(group.members):
                    yield ("groups", group.name, "members", member if group.own else i), member


def _states(attack: Attack, node: Node) -> Iterator[Problem]:
    where = ("nodes", node.name, "states")
    if isinstance(node.states, str):
        yield from _span_problems(attack, node)
        return
    if not node.states:
        yield Problem(where, "there are no states; leave it out for no and yes")
    seen: set[str] = set()
    for i, state in enumerate(node.states):
        if not state.strip() or state != state.strip() or set(state) & _RESERVED:
            message = f'"{state}" cannot be a state: no = , ; braces, quotes or outer blanks'
            yield Problem((*where, i), message)
        elif state in seen:
            yield Problem((*where, i), f'"{state}" is listed twice')
        seen.add(state)


def _span_problems(attack: Attack, node: Node) -> Iterator[Problem]:
    where = ("nodes", node.name, "states")
    if not node.is_span:
        message = f'"{node.states}" is neither a list of states nor a span such as 0..$class_size'
        yield Problem(where, message)
        return
    unsized = False
    for name in node.structural:
        if name in attack.numbers:
            yield Problem(where, f"${name} is a derived number; states are sized by a parameter")
            unsized = True
        elif name not in attack.parameters:
            hint = did_you_mean(name, attack.parameters)
            yield Problem(where, f'no parameter "{name}"; {hint}')
            unsized = True
        elif not attack.parameters[name].is_integer:
            message = f"${name} sizes the states, so its value and range must be whole numbers"
            yield Problem(where, f"{message} and its unit one that is counted, such as people")
            unsized = True
    if not unsized:
        values = {p: attack.parameters[p].value for p in node.structural}
        try:
            if not node.states_at(values):
                yield Problem(where, f'"{node.states}" is empty at the values of its parameters')
        except TooLarge as problem:
            yield Problem(where, str(problem).removeprefix(f"{node.name}: "))


def _parents(attack: Attack, member_of: dict[str, Group], known: set[str]) -> Iterator[Problem]:
    owners: list[tuple[Where, Node | Group]] = [
        (("nodes", n.name), n) for n in attack.nodes.values()
    ]
    for g in attack.groups.values():
        owners += [(("groups", g.name), g)]
        owners += [(("groups", g.name, "members", n.name), n) for n in g.own]
    for place, owner in owners:
        for i, parent in enumerate(owner.parents):
            where = (*place, "parents", i)
            group = member_of.get(parent)
            if parent not in known:
                hint = did_you_mean(parent, known - {owner.name})
                yield Problem(where, f'unknown node "{parent}"; {hint}')
            elif parent in owner.parents[:i]:
                yield Problem(where, f'"{parent}" is listed twice')
            elif parent in attack.groups and place[0] == "groups":
                what = "a group's" if len(place) == 2 else "a member's"
                yield Problem(where, f'"{parent}" is a group; {what} parents must be nodes')
            elif group is not None and group.name in owner.parents:
                message = f'"{parent}" is already among the members of {group.name}'
                yield Problem(where, message)


def _cycles(facts: _Facts) -> Iterator[Problem]:
    edges = {
        node.name: [p for p in facts.attack.parent_nodes(node) if p in facts.nodes]
        for node in facts.nodes.values()
    }
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as problem:
        circle = list(reversed(problem.args[1]))
        group = facts.member_of.get(circle[0])
        where: Where = ("groups", group.name) if group else ("nodes", circle[0])
        where += ("members", circle[0]) if group and group.own else ()
        message = f"the story goes in a circle: {' -> '.join(circle)}"
        yield Problem((*where, "parents"), message)


def _groups(facts: _Facts) -> Iterator[Problem]:
    for group in facts.attack.groups.values():
        where: tuple[str | int, ...] = ("groups", group.name)
        if not group.members:
            yield Problem((*where, "members"), "there are no members")
            continue
        if group.own:
            yield from _own_stories(facts, group)
            continue
        if not group.rows:
            yield Problem(where, "says nothing of how likely its members are known")
        for i, row in enumerate(group.rows):
            if isinstance(row.p, tuple) and len(row.p) != len(group.members):
                message = f"has {len(row.p)} probabilities for {len(group.members)} members"
                yield Problem((*where, "rows", i, "p"), message)
        yield from dict.fromkeys(  # members often share a row, and so its problem
            replace(p, where=(*where, *_in_group(group, j, p.where[3:])))
            for j, member in enumerate(group.member_nodes())
            for p in _cpd_problems(facts, member)
        )
        if not group.source.strip() and holds_numbers(group.rows):
            yield Problem((*where, "source"), _NO_SOURCE)


def _own_stories(facts: _Facts, group: Group) -> Iterator[Problem]:
    for node in group.own:
        where: Where = ("groups", group.name, "members", node.name)
        if node.name not in group.members:
            yield Problem(where, f"is no member of {group.name}", at_key=True)
        if node.states != (NO, YES):
            yield Problem((*where, "states"), "a member is known or not: its states are no and yes")
            continue
        for p in _cpd_problems(facts, node):
            yield replace(p, where=(*where, *p.where[2:]))
        if not (node.source or group.source).strip() and holds_numbers(node.cpd):
            yield Problem((*where, "source"), _NO_SOURCE)


def _in_group(group: Group, j: int, inner: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Where a problem of member j's own two-cell row stands in the group's rows."""
    if len(inner) >= 3 and inner[0] == "rows" and inner[2] == "p":
        shared = not isinstance(group.rows[int(inner[1])].p, tuple)
        return inner[:3] if shared else (*inner[:3], j)
    return inner


def _cpd_problems(facts: _Facts, node: Node) -> Iterator[Problem]:
    where: tuple[str | int, ...] = ("nodes", node.name, "cpd")
    if not isinstance(node.cpd, CPD):
        yield Problem(
            where, f"is a {type(node.cpd).__name__}; a CPD is needed, such as Rows or And"
        )
        return
    for problem in [*_own(facts, node), *_references(facts, node), *_fewer_than_one(facts, node)]:
        yield replace(problem, where=(*where, *problem.where))


def _fewer_than_one(facts: _Facts, node: Node) -> Iterator[Problem]:
    """A guess among fewer than one: no chance at all where the highest was meant."""
    of = str(node.cpd.of) if isinstance(node.cpd, OneOver) else ""
    known = facts.attack.parameters.get(of.removeprefix("$"))
    if known is None or not of.startswith("$"):
        return
    why = "which is no chance at all; whoever is among those alike makes them one at least: "
    if known.value < 1:
        message = f"{known.name} is {known.value:.12g}, {why}write 1 or more"
        yield Problem(("of",), message)
    elif known.range[0] < 1:
        message = f"{known.name} may be {known.range[0]:.12g}, {why}let its range start at 1"
        yield Problem(("of",), message, level=WARNING)


def _own(facts: _Facts, node: Node) -> list[Problem]:
    """What the CPD itself says about its place in the graph, as far as that is known."""
    if facts.has_sound_family(node):
        child = facts.variable(node.name)
        return node.cpd.problems(child, tuple(facts.variable(p) for p in node.parents))
    if isinstance(node.cpd, Rows) and facts.has_sound_states(node.name):
        return node.cpd.problems_without_parents(facts.variable(node.name))
    return []


def _unread(facts: _Facts, node: Node) -> Iterator[Problem]:
    """Parents that a kind which reads them by name does not name: such an arrow changes nothing."""
    cpd, attack = node.cpd, facts.attack
    says_so = isinstance(cpd, Function)  # by itself: it knows what it is called with
    if says_so or not (cpd.by_name and facts.sound_numbers and facts.has_sound_family(node)):
        return
    group = facts.member_of.get(node.name)
    if group is not None and not group.own:
        return
    at: Where = ("groups", group.name, "members", node.name) if group else ("nodes", node.name)
    where = (*at, "cpd")
    read = {*attack.behind(cpd)}
    if isinstance(cpd, Rows):
        read |= {name for row in cpd.rows for name in row.when}
    for ref in [ref for ref in read if ref.startswith("@") and ref[1:] in attack.subject]:
        read |= {*attack.subject[ref[1:]].axes}
    for name in node.parents:
        if name not in read:
            message = f"does not read its parent {name}, which changes nothing; "
            states = {*facts.variable(name).states} if name not in attack.groups else {}
            way = f"say only_if: [{name}], or " * (hasattr(cpd, "only_if") and states == {YES, NO})
            message += f"{way}leave it out"
            yield Problem((*where, "kind"), message, level=WARNING)


def _references(facts: _Facts, node: Node) -> Iterator[Problem]:
    attack = facts.attack
    known = {*attack.parameters, *attack.numbers}
    for ref in dict.fromkeys(node.cpd.references()):
        if ref.startswith("$") and ref[1:] not in known:
            message = f'no parameter "{ref[1:]}"; {did_you_mean(ref[1:], known)}'
            yield Problem(address_of(node.cpd, ref), message)
        elif ref.startswith("@"):
            yield from _column_use(facts, node, ref)
        elif facts.sound_numbers and ref.removeprefix("$") in attack.numbers:
            for behind in attack.derived.behind(ref.removeprefix("$")):
                if behind.startswith("@"):
                    yield from _column_use(facts, node, behind, through=ref)
    yield from _no_chances(facts, node)
    yield from _function_arguments(facts.attack, node, node.cpd, ())


def _no_chances(facts: _Facts, node: Node) -> Iterator[Problem]:
    """What is counted in euro, or in people, and stands in the place of a chance."""
    told = set()
    for where, ref in chances(node.cpd):
        unit = unit_of(facts.attack, ref) if facts.sound_numbers else ""
        name, made = ref[1:], facts.attack.numbers.get(ref[1:])
        if unit.strip().lower() in PERCENT and _is_above_1(facts.attack, name):
            continue  # refused where the table is built, with what to write
        if ref in told or unit == "?" or Units.read(unit).is_bare:
            continue  # ?: of a parameter that could not be read, which is said where it stands
        told.add(ref)
        way = "a chance is a number between 0 and 1 and has no unit"
        is_stated = made is None or made.unit is not None
        works = "is" if is_stated else "works out"
        remedy = "take its unit away" if is_stated else TO_A_CHANCE
        said = ref if made is None else f"{ref} = {made.formula}"
        message = f'{said} {works} in "{unit}", and stands for a chance here: {way}. '
        yield Problem(where, f"{message}If {name} is one, {remedy}", level=WARNING)


def _is_above_1(attack: Attack, name: str) -> bool:
    return name in attack.parameters and attack.parameters[name].value > 1


def _column_use(facts: _Facts, node: Node, ref: str, *, through: str = "") -> Iterator[Problem]:
    """Whether a node may use a column, which it names itself or reads through a number."""
    where = address_of(node.cpd, through or ref)
    if ref[1:] not in facts.attack.subject:
        hint = did_you_mean(ref[1:], facts.attack.subject)
        yield Problem(where, f'no subject column "{ref[1:]}"; {hint}')
    elif not facts.has_odd_parents(node):
        column = facts.attack.subject[ref[1:]]
        if isinstance(node.cpd, MeasuredShares) != (column.over is not None):
            over = f"over: {node.name}" if column.over is None else "kind: measured"
            yield Problem(where, f"{ref} goes with {over}: one distribution for each person")
        for message in use_problems(facts.attack, column, node.parents, node.name):
            yield Problem(where, message)


def _node_source(node: Node) -> Iterator[Problem]:
    if not node.source.strip() and holds_numbers(node.cpd):
        yield Problem(("nodes", node.name, "source"), _NO_SOURCE)


def _function_arguments(
    attack: Attack, node: Node, cpd: CPD, where: tuple[str | int, ...]
) -> Iterator[Problem]:
    """Arguments that mean nothing, of a function or of one among a mixture's components."""
    if isinstance(cpd, Mixture):
        for i, component in enumerate(cpd.components):
            yield from _function_arguments(attack, node, component, (*where, "components", i))
    if not isinstance(cpd, Function):
        return
    known = {*attack.parameters, *attack.numbers, *attack.subject, *node.parents}
    for argument in cpd.arguments:
        if argument not in known:
            hint = did_you_mean(argument, known)
            message = f'argument "{argument}" is no parent, parameter or subject column; {hint}'
            yield Problem((*where, "name"), message)


def _reads_unknown(cpd: CPD) -> bool:
    if isinstance(cpd, Mixture):
        return any(_reads_unknown(c) for c in cpd.components if isinstance(c, CPD))
    return isinstance(cpd, Function) and cpd.callable is None


def _unused(facts: _Facts) -> Iterator[Problem]:
    attack = facts.attack
    cpds: list[CPD] = [n.cpd for n in facts.nodes.values() if isinstance(n.cpd, CPD)]
    cpds += [utility.payoffs for utility in attack.utilities.values()]
    if any(_reads_unknown(cpd) for cpd in cpds):
        return  # a function that is not there may read anything
    used = {ref.lstrip("$@") for cpd in cpds for ref in cpd.references()} | {*attack.structural}
    if facts.sound_numbers:
        used |= {ref.lstrip("$@") for name in attack.numbers for ref in attack.derived.behind(name)}
        used |= {name for term in attack.derived.terms.values() for name in term.names}
    rooms = (("parameters", "$"), ("subject", "@"), ("numbers", "$"))
    nowhere = used - {name for room, _ in rooms for name in getattr(attack, room)}
    for room, sign in rooms if facts.sound_numbers else ():
        names = [*getattr(attack, room)]
        unused = [name for name in names if name not in used]
        meant = {near for ref in nowhere if unused for near in get_close_matches(ref, names, n=1)}
        for name in unused:
            if name not in meant:
                message = f"is never used; write {sign}{name} where it belongs"
                yield Problem((room, name), message, at_key=True, level=WARNING)
