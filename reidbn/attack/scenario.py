"""Scenario: a named change of an attack: what is known, parameters, evidence, interventions.

A scenario may set parameters, fill the attack's group with what is known about each person (see
knows.py), give evidence, intervene, and add or replace nodes, parameters and questions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from reidbn.attack.assumptions import is_assumption
from reidbn.attack.attack import Attack
from reidbn.attack.knows import Chance, FactLookup, InBands, Known, Knows, Listed
from reidbn.attack.parameter import Parameter
from reidbn.attack.parts import Node, Question, parse_states
from reidbn.calls import check_fields
from reidbn.cpds.protocol import YES, plain
from reidbn.errors import UsageError, did_you_mean

SUCCESS = "@success"  # among a scenario's parents: the event that the attack is about
Facts = Mapping[str, Mapping[str, Sequence[Any]]]


@dataclass(frozen=True)
class Scenario:
    """A named change; frozen, changed by copying."""

    name: str
    title: str = ""
    story: str = ""
    source: str = ""
    set: Mapping[str, float] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)
    do: Mapping[str, str] = field(default_factory=dict)
    knows: Knows | None = None
    facts: Facts = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    nodes: tuple[Node, ...] = ()
    questions: tuple[Question, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)

    def __repr__(self) -> str:
        known = self.knows.known if self.knows else ()
        said = f": {', '.join(k.name for k in known)}" if known else ""
        return f"<Scenario {self.name}{said}>"

    # -- changing by copying ---------------------------------------------------------------

    def renamed(self, columns: Mapping[str, str | Sequence[str]]) -> Scenario:
        """The scenario with its attributes (and the columns it looks up by) under other names."""
        if not columns or self.knows is None:
            return self
        used = {k.name for k in self.knows.known} | {c for k in self.knows.known for c in k.columns}
        used |= set(self._looked_up_by())
        used |= {k.in_bands.of for k in self.knows.known if k.in_bands}
        for name in columns:
            if name not in used:
                raise UsageError(
                    f'scenario {self.name} has no attribute "{name}"; {did_you_mean(name, used)}'
                )
        known = tuple(
            replace(
                k,
                columns=_renamed_columns(k, columns),
                chance=_renamed(k.chance, columns),
                in_bands=_renamed_bands(k, columns),
            )
            for k in self.knows.known
        )
        parent = self.knows.parent
        if isinstance(parent, Listed):
            parent = replace(parent, chance=_renamed(parent.chance, columns))
        return replace(self, knows=replace(self.knows, known=known, parent=parent))

    def _looked_up_by(self) -> tuple[str, ...]:
        assert self.knows is not None  # noqa: S101 - callers checked
        chances = [k.chance for k in self.knows.known]
        if isinstance(self.knows.parent, Listed):
            chances.append(self.knows.parent.chance)
        return tuple(
            c for chance in chances for f in chance if isinstance(f, FactLookup) for c in f.by
        )

    def without(self, names: Sequence[str]) -> Scenario:
        """The scenario without some attribute groups."""
        if not names or self.knows is None:
            return self
        have = [k.name for k in self.knows.known]
        for name in names:
            if name not in have and self.knows.every_column:
                said = f"scenario {self.name} knows every column; where one is not known, say "
                raise UsageError(f'{said}unknown=["{name}"]', in_shell=f"{said}--unknown {name}")
            if name not in have:
                hint = did_you_mean(name, have)
                raise UsageError(f'scenario {self.name} knows no "{name}"; {hint}')
        left = tuple(k for k in self.knows.known if k.name not in names)
        return replace(self, knows=replace(self.knows, known=left))

    def shared(self, *, together: bool) -> Scenario:
        """One account or list for all groups (together), or each group independently [Xia21]."""
        if self.knows is None or not isinstance(self.knows.parent, Listed):
            raise UsageError(f"scenario {self.name} has no list or account that could be shared")
        parent = replace(self.knows.parent, shared=together)
        return replace(self, knows=replace(self.knows, parent=parent))

    def on(self, attack: Attack) -> Attack:
        """The attack with the scenario's own parameters, nodes and questions.

        A parent "@success" of a scenario's node is the event that the attack is about.
        """
        if not (self.parameters or self.nodes or self.questions):
            return attack
        return attack.replace(
            parameters=attack.parameters.replace(*self.parameters),
            nodes=attack.nodes.replace(*(self._placed(node, attack) for node in self.nodes)),
            questions=attack.questions.replace(*self.questions),
        )

    def _placed(self, node: Node, attack: Attack) -> Node:
        if SUCCESS not in node.parents:
            return node
        event = _success(attack, self.name)
        return replace(node, parents=tuple(event if p == SUCCESS else p for p in node.parents))

    # -- identity --------------------------------------------------------------------------

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content."""
        text = json.dumps(plain(self), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Names of what is known by assumption, and of parameters that are assumptions."""
        known = self.knows.known if self.knows else ()
        found = [k.name for k in known if is_assumption(k.source)]
        return (*found, *(p.name for p in self.parameters if p.is_assumption))


def _success(attack: Attack, scenario: str) -> str:
    """The yes/no node that the attack's main question asks about."""
    main = attack.main_question
    target = {} if main is None else parse_states(main.target)
    if main is None or main.given or len(target) != 1 or set(target.values()) != {YES}:
        several = "none of its questions is called risk" if attack.questions else "it has none"
        asked = several if main is None else f"its question {main.name} is not so"
        raise UsageError(
            f"scenario {scenario} builds on the event that {attack.name} is about, a question such "
            f"as risk: {{target: reidentified=yes}} without evidence; {asked}"
        )
    return next(iter(target))


def _renamed_columns(known: Known, columns: Mapping[str, str | Sequence[str]]) -> tuple[str, ...]:
    if known.name in columns:
        return _listed(columns[known.name])
    return tuple(c for old in known.columns for c in _listed(columns.get(old, old)))


def _renamed_bands(known: Known, columns: Mapping[str, str | Sequence[str]]) -> InBands | None:
    """A column that was named for the attribute, or for the finer one, takes the finer one's place.

    Whether it can be put into bands is asked of the table.
    """
    if known.in_bands is None:
        return None
    named = _listed(columns.get(known.name, columns.get(known.in_bands.of, known.in_bands.of)))
    return replace(known.in_bands, of=named[0]) if len(named) == 1 else None


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _renamed(chance: Chance, columns: Mapping[str, str | Sequence[str]]) -> Chance:
    return tuple(
        replace(
            f,
            by=tuple(c for old in f.by for c in _listed(columns.get(old, old))),
            keys=f.fact_columns,
        )
        if isinstance(f, FactLookup)
        else f
        for f in chance
    )
