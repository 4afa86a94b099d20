"""Events: what a question may ask for beside the states of nodes.

    found_mother=yes or found_father=yes        not (a=yes and b=low)        exposed>=3, known<2

`and`, or a comma, binds closer than `or`; `not` closer still.  `<`, `<=`, `>`, `>=` compare states
that are numbers, and how many members of a group are known.  A state may hold any of these words:
the longest state of its node that fits is what is meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reidbn.attack.parts import AfterEquals, Node, parse_states
from reidbn.cpds.arithmetic import AskedCount
from reidbn.cpds.event import ALL, ANY, NOT, Event, ShareOfRange, Test, passes
from reidbn.cpds.protocol import CPD, NO, YES, Variable
from reidbn.cpds.report import Report
from reidbn.errors import UsageError, did_you_mean, which_state
from reidbn.written import few

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack

EVERYTHING_SURE = "knows_for_sure"  # the member that stands for several which all know for sure
_SIGNS = re.compile(r"\bor\b|\band\b|\bnot\b|[<>()]|!=", re.IGNORECASE)
_ATOM = re.compile(r"\s*(\w+)\s*(>=|<=|!=|=|<|>)\s*")
_WORD = re.compile(r"\s*(\bor\b|\band\b|\bnot\b|,|\(|\))", re.IGNORECASE)
_END = re.compile(r"\s*(?:$|,|\)|\bor\b|\band\b)", re.IGNORECASE)
_TESTED = re.compile(r"(>=|<=|!=|<|>)\s*(.+)\Z")
_FORM = "an event is such as a=yes or b=yes, not a=yes, n>=3"
States = Callable[[str], Variable | None]


@dataclass(frozen=True)
class Atom:
    """One node (or how many of a group) against one state or number."""

    node: str
    test: Test


@dataclass(frozen=True)
class Junction:
    """Any, or all, of some events."""

    how: str
    parts: tuple[Atom | Junction, ...]


def names_in(text: str) -> tuple[str, ...]:
    """The nodes and groups that a target names, whatever its form.

    >>> names_in("a=yes or not (b=no, n>=3)")
    ('a', 'b', 'n')
    """
    return tuple(dict.fromkeys(found[1] for found in _ATOM.finditer(text)))


def is_event(text: str, find: States) -> bool:
    """Whether a target is more than states of nodes, as "a=yes, b=no" is."""
    if not _SIGNS.search(text):
        names = names_in(text)
        return any((known := find(name)) is not None and known.is_group for name in names)
    try:
        plain = parse_states(text)
    except UsageError:
        return True
    return not all(
        (known := find(node)) is not None and state in known.states for node, state in plain.items()
    )


def read_event(text: str, find: States, names: Iterable[str] = ()) -> Atom | Junction:
    """The event in a text; `find` gives the node or group of a name, or None."""
    for name in names_in(text):
        if find(name) is None:
            raise UsageError(f'unknown node "{name}"; {did_you_mean(name, names)}')
    return _EventReader(text, find).read()


def read_test(name: str, text: str, find: States) -> Atom | None:
    """Evidence such as known: ">=2"; None where it is a state."""
    known = find(name)
    tested = _TESTED.match(text)
    if known is None or (not known.is_group and (text in known.states or tested is None)):
        return None
    if tested and isinstance(text, AfterEquals):
        return _checked(known, "=", text)
    sign, value = (tested[1], tested[2].strip()) if tested else ("=", text)
    return _checked(known, sign, value)


class _EventReader:
    def __init__(self, text: str, find: States) -> None:
        self.text, self.find, self.at = text, find, 0

    def read(self) -> Atom | Junction:
        found = self._any(negated=False)
        if self.text[self.at :].strip():
            raise self._slip()
        return found

    def _slip(self) -> UsageError:
        rest = self.text[self.at :].strip()
        where = f'"{rest}" was not understood' if rest else "something is missing at the end"
        return UsageError(f'"{self.text}": {where}; {_FORM}')

    def _word(self, *wanted: str) -> bool:
        found = _WORD.match(self.text, self.at)
        if found is None or found[1].lower() not in wanted:
            return False
        self.at = found.end()
        return True

    def _any(self, *, negated: bool) -> Atom | Junction:
        parts = [self._all(negated=negated)]
        while self._word("or"):
            parts.append(self._all(negated=negated))
        return _joined(ALL if negated else ANY, parts)

    def _all(self, *, negated: bool) -> Atom | Junction:
        parts = [self._one(negated=negated)]
        while self._word("and", ","):
            parts.append(self._one(negated=negated))
        return _joined(ANY if negated else ALL, parts)

    def _one(self, *, negated: bool) -> Atom | Junction:
        atom = _ATOM.match(self.text, self.at)
        if atom is None and self._word("not"):
            return self._one(negated=not negated)
        if atom is None and self._word("("):
            found = self._any(negated=negated)
            if not self._word(")"):
                raise UsageError(f'"{self.text}": a bracket is not closed; {_FORM}')
            return found
        if atom is None:
            raise self._slip()
        known = self.find(atom[1])
        if known is None:  # a word of a state, before which something is missing
            raise self._slip()
        self.at = atom.end()
        return _checked(known, NOT[atom[2]] if negated else atom[2], self._state(known))

    def _state(self, known: Variable) -> str:
        """The longest state of the node that stands here, or what stands before the next word."""
        rest = self.text[self.at :]
        fits = [s for s in known.states if rest.startswith(s) and _END.match(rest, len(s))]
        if fits:
            state = max(fits, key=len)
        else:
            state = re.split(r"[,)]|\s+or\b|\s+and\b", rest, maxsplit=1, flags=re.IGNORECASE)[0]
        self.at += len(state)
        if not state.strip():
            raise self._slip()
        return state.strip()


def _joined(how: str, parts: list[Atom | Junction]) -> Atom | Junction:
    if len(parts) == 1:
        return parts[0]
    flat: list[Atom | Junction] = []
    for part in parts:
        flat += part.parts if isinstance(part, Junction) and part.how == how else [part]
    return Junction(how, tuple(flat))


def _checked(known: Variable, sign: str, value: str) -> Atom:
    """A test that means something of this node."""
    name = known.name
    if known.is_group:
        if not value.isdecimal():
            raise UsageError(
                f"{name} is a group: say how many of its members are known, such as {name}>=2, not "
                f'"{value}"'
            )
        return Atom(name, (sign, value))
    if sign in ("=", "!="):
        if value not in known.states and not (not known.states and value.isdecimal()):
            raise UsageError(f'{name} has no state "{value}"; {which_state(value, known.states)}')
        return Atom(name, (sign, value))
    if known.states and not known.is_numeric:
        states = few(known.states)
        raise UsageError(
            f"{name} {sign} {value}: the states of {name} are no numbers but {states}; "
            f"name one, such as {name}={known.states[-1]}"
        )
    try:
        float(value)
    except ValueError:
        raise UsageError(f'{name} {sign} "{value}": compare it with a number') from None
    return Atom(name, (sign, value))


# -- an event as nodes of the attack ---------------------------------------------------------------


def finder(attack: Attack) -> States:
    """Nodes and groups of an attack by name; one whose states a parameter sizes has any number."""
    values = {name: float(attack.parameters[name].value) for name in attack.structural}

    def find(name: str) -> Variable | None:
        if name not in attack.groups and name not in attack.all_nodes:
            return None
        found = attack.variable(name, values)
        is_open = name in attack.nodes and attack.nodes[name].structural
        return Variable(name, ()) if is_open else found

    return find


def with_event(
    attack: Attack, event: Atom | Junction, wanted: str, said: str
) -> tuple[Attack, str]:
    """The attack with a yes/no node that says whether an event holds, and that node's name."""
    refuse_within_bands(attack, event)
    attack, name = _placed(attack, event, wanted)
    return attack.with_node(replace(attack.nodes[name], story=said)), name


def with_count(attack: Attack, group: str) -> tuple[Attack, str]:
    """The attack with a node that says how many members of a group are known."""
    if EVERYTHING_SURE in attack.groups[group].members:
        raise UsageError(
            f"{group} holds what is known for sure as one member here, so its members cannot be "
            f"counted: give the model such a question (as how_many: {{expect: {group}}}), which "
            f"keeps them apart, and assess it again"
        )
    states = tuple(str(i) for i in range(len(attack.groups[group].members) + 1))
    for node in attack.nodes.values():  # a node of the author's may be set while nothing is known
        if isinstance(node.cpd, AskedCount) and node.parents == (group,):
            return attack, node.name
    name = free_name(attack, f"{group}_count")
    made = Node(name, states, AskedCount(), (group,), story=f"How many of {group} are known")
    return attack.with_node(made), name


def as_written(attack: Attack) -> Attack:
    """The attack without the nodes that a question added, of which no file can hold some."""
    added = Event | ShareOfRange | Report | AskedCount
    kept = [n for n in attack.nodes.values() if not isinstance(n.cpd, added)]
    return attack if len(kept) == len(attack.nodes) else attack.replace(nodes=kept)


def _placed(attack: Attack, event: Atom | Junction, wanted: str) -> tuple[Attack, str]:
    parts = event.parts if isinstance(event, Junction) else (event,)
    tests: dict[str, list[Test]] = {}
    for part in parts:
        if isinstance(part, Junction):
            attack, node = _placed(attack, part, wanted)
            test = ("=", YES)
        else:
            node, test = part.node, part.test
            if node in attack.groups:
                attack, node = with_count(attack, node)
        tests.setdefault(node, []).append(test)
    how = event.how if isinstance(event, Junction) else ALL
    cpd = Event(how, {node: tuple(found) for node, found in tests.items()})
    name = free_name(attack, wanted)
    made = Node(name, (NO, YES), cpd, tuple(tests), story="Part of an event that was asked about")
    return attack.with_node(made), name


def _atoms(event: Atom | Junction) -> Iterator[Atom]:
    for part in event.parts if isinstance(event, Junction) else (event,):
        yield from _atoms(part) if isinstance(part, Junction) else (part,)


def has_bands(node: Node) -> bool:
    """Whether a state stands for all numbers up to the next."""
    cpds = (node.cpd, *getattr(node.cpd, "components", ()))
    return any(cpd.has_bands for cpd in cpds if isinstance(cpd, CPD))


def no_mean_of_bands(name: str) -> str:
    return f"{name} has no mean: each of its states stands for all sizes up to the next"


def refuse_within_bands(attack: Attack, event: Atom | Junction) -> None:
    """A state that stands for all numbers up to the next cannot be cut in two."""
    for atom in _atoms(event):
        node = attack.nodes.get(atom.node)
        sign, value = atom.test
        if node is None or not has_bands(node) or isinstance(node.states, str):
            continue
        edge = float(value) + (1 if sign in (">", "<=") else 0)
        edges = [float(s) for s in node.states]
        if sign not in ("=", "!=") and edge > edges[0] and edge not in edges:
            raise UsageError(
                f"{atom.node}{sign}{value} cuts a state of {atom.node} in two: each stands for all "
                f"sizes up to the next; its states begin at {few(node.states, 8)}"
            )


def refuse_what_never_is(attack: Attack, before: Attack) -> None:
    """Raise where an event that was asked about since has a part that no state of a node meets."""
    for name in (n for n in attack.nodes if n not in before.nodes):
        cpd = attack.nodes[name].cpd
        if not isinstance(cpd, Event):
            continue
        for parent, tests in cpd.tests.items():
            node = attack.all_nodes[parent]
            if node.structural:  # at another value of its parameter it may have the state
                continue
            variable = attack.variable(parent, {})
            fits = np.array([passes(variable, test) for test in tests])
            if cpd.how == ALL:
                fits = np.broadcast_to(np.logical_and.reduce(fits), fits.shape)
            never = [test for test, fit in zip(tests, fits, strict=True) if not fit.any()]
            if never:
                group = node.parents[0] if isinstance(node.cpd, AskedCount) else ""
                said = " and ".join(f"{group or parent}{sign}{value}" for sign, value in never)
                has = f"{len(attack.groups[group].members)} members" if group else (
                    f"the states {_listed(variable.states)}")  # fmt: skip
                raise UsageError(f"{said} can never be: {group or parent} has {has}")


def _listed(states: tuple[str, ...]) -> str:
    return ", ".join(states) if len(states) <= 6 else f"{states[0]}, {states[1]} to {states[-1]}"


def free_name(attack: Attack, wanted: str) -> str:
    """A name that nothing of the author's has."""
    taken = {*attack.all_nodes, *attack.groups, *attack.parameters, *attack.subject}
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name
