"""What an attacker knows about a person: attribute groups, each known with a probability.

A probability is a number, a look-up in a table of facts by the person's own values (such as their
state), or a product of these.  An optional parent makes the groups depend on one event: one
account or list (known only when the person is on it), or who is attacking.

Scenario: a named change of an attack: what is known, parameters, evidence, interventions.

A scenario may set parameters, fill the attack's group with what is known about each person (see
knows.py), give evidence, intervene, and add or replace nodes, parameters and questions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.assumptions import ASSUMPTION, is_assumption
from reidbn.attack.attack import Attack
from reidbn.attack.columns import KNOWS
from reidbn.attack.parts import Node, Parameter, Question, parse_states
from reidbn.calls import check_fields
from reidbn.cpds.protocol import YES, plain
from reidbn.differing import IN_A_CALL
from reidbn.errors import UsageError, did_you_mean


@dataclass(frozen=True)
class FactLookup:
    """A column of a table of facts, looked up by columns of the person's record."""

    table: str
    column: str
    by: tuple[str, ...]
    otherwise: float | None = None  # for a person whose values have no row; None refuses
    bands: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Per column: lower edges; a number is looked up as the highest edge that it reaches."""
    relative: bool = False  # a rate relative to others: a product above 1 counts as 1
    keys: tuple[str, ...] = ()  # the facts' columns for `by`; empty: they have the same names

    @property
    def fact_columns(self) -> tuple[str, ...]:
        """The columns of the facts that hold the values, in the order of `by`."""
        return self.keys or self.by


@dataclass(frozen=True, eq=False)
class ByPerson:
    """One number for each person of a table (`about`), in record order."""

    values: NDArray[np.float64]
    about: Any = field(repr=False, metadata={"plain": False})


Factor = float | FactLookup | ByPerson
Chance = tuple[Factor, ...]  # the factors are multiplied


@dataclass(frozen=True)
class InBands:
    """Known of a column only in bands of a width, such as the decade of an age."""

    of: str
    width: float


@dataclass(frozen=True)
class Known:
    """Attributes that are learnt together."""

    name: str
    columns: tuple[str, ...]
    chance: Chance = (1.0,)
    by_profile: Mapping[str, float] = field(default_factory=dict)  # with a Profile parent only
    source: str = ASSUMPTION
    optional: bool = False  # left out, and said so, when the table lacks the columns
    in_bands: InBands | None = None
    """The bands of a finer column; a column of the attribute's own name is known as it is."""

    @property
    def member(self) -> str:
        """The member of the attack's group that stands for it."""
        return KNOWS + "".join(c if c.isalnum() else "_" for c in self.name)

    @property
    def constant(self) -> float | None:
        """The probability when it is one number for everybody."""
        p = 1.0
        for factor in self.chance:
            if not isinstance(factor, float | int):
                return None
            p *= factor
        return p


@dataclass(frozen=True)
class Listed:
    """The person is on one list or has one account; nothing is known of somebody who is not.

    `shared` keeps it as one event for all groups; otherwise each group meets it independently, as
    in [Xia21], and its chance is multiplied into each group's.
    """

    node: str = "listed"
    chance: Chance = (1.0,)
    shared: bool = False
    source: str = ASSUMPTION


@dataclass(frozen=True)
class Profile:
    """Who is attacking: states with weights; each group has one probability per state."""

    node: str
    weights: Mapping[str, float]
    source: str = ASSUMPTION


@dataclass(frozen=True)
class SparseKnown:
    """Of a sparse table: which facts may be known, and how they are matched."""

    known: tuple[str, ...] = ()
    """Tags, sections or features; none: any fact of the person's record."""
    match: str = "equal"
    together: bool = False
    """Whether features that the feature table puts together are one fact."""
    source: str = ASSUMPTION
    guesses: int = 1
    """The attacker is content with so many records that fit best, and looks at each."""

    @property
    def in_words(self) -> str:
        """What may be known."""
        return f"any of {', '.join(sorted(self.known))}" if self.known else "any of the person's"


@dataclass(frozen=True)
class Knows:
    """Everything a scenario says about what is known."""

    known: tuple[Known, ...]
    parent: Listed | Profile | None = None
    group: str | None = None  # the attack's group that it fills; None: its only one
    every_column: bool = False  # every quasi-identifier of the table that is not named, for sure
    sparse: SparseKnown | None = None  # of a sparse table, any facts

    @property
    def on_list(self) -> tuple[Chance, ...]:
        """The chance to be on the one list that tells everything, where there is one."""
        return (self.parent.chance,) if isinstance(self.parent, Listed) else ()


# -- scenario --------------------------------------------------------------------------------------


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
        used |= set(self.looked_up_by())
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

    def looked_up_by(self) -> tuple[str, ...]:
        """The columns by which chances are looked up."""
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

    def less(
        self,
        gone: Sequence[str],
        columns: Mapping[str, str | Sequence[str]],
        without: Sequence[str],
    ) -> Scenario:
        """The scenario where nobody learns the columns `gone`; a group of nothing else goes.

        Groups `without` which it is used anyhow stay as they are, and so does what is partly gone
        of a group that `columns` has under other names.
        """
        if self.knows is None:
            return self
        placed, left = self.renamed(columns).knows, []
        for item, seen in zip(self.knows.known, placed.known if placed else (), strict=True):
            kept = tuple(c for c in seen.columns if c not in gone)
            if item.name in without or (kept and item.columns != seen.columns):
                left.append(item)
            elif kept:
                left.append(replace(item, columns=kept))
        return replace(self, knows=replace(self.knows, known=tuple(left)))

    def taking(self, settings: Mapping[str, float]) -> tuple[Scenario, dict[str, float]]:
        """With chances of what a caller said to be known set anew (p_knows_age); and the rest."""
        said, rest = [], dict(settings)
        for item in self.knows.known if self.is_said and self.knows else ():
            chance = rest.pop(f"p_{item.member}", None)
            said.append(item if chance is None else replace(item, chance=(float(chance),)))
        if self.knows is None or len(rest) == len(settings):
            return self, rest
        return replace(self, knows=replace(self.knows, known=tuple(said))), rest

    def shared(self, *, together: bool) -> Scenario:
        """One account or list for all groups (together), or each group independently [Xia21]."""
        if self.knows is None or not isinstance(self.knows.parent, Listed):
            raise UsageError(f"scenario {self.name} has no list or account that could be shared")
        parent = replace(self.knows.parent, shared=together)
        return replace(self, knows=replace(self.knows, parent=parent))

    @property
    def says_everything(self) -> bool:
        """Whether it says that every column is known, for sure, and nothing else of what is."""
        knows = self.knows
        return bool(
            knows and knows.every_column and not (self.nodes or knows.known or knows.parent)
            and knows.sparse is None
        )  # fmt: skip

    @property
    def beside_known(self) -> list[str]:
        """Its parts that say more than what is known."""
        parts = ("set", "given", "do", "parameters", "nodes", "questions")
        return [part for part in parts if getattr(self, part)]

    def on(self, attack: Attack) -> Attack:
        """The attack with the scenario's own parameters, nodes and questions.

        A parent "@success" of a scenario's node is the event that the attack is about.
        """
        if not (self.parameters or self.nodes or self.questions):
            return attack
        return attack.replace(
            parameters=attack.parameters.replace(*self.parameters),
            nodes=attack.taking(
                [self._placed(node, attack) for node in self.nodes],
                f"scenario {self.name}",
                free=True,
            ),
            questions=attack.questions.replace(*self.questions),
        )

    def _placed(self, node: Node, attack: Attack) -> Node:
        if SUCCESS not in node.parents:
            return node
        event = _success(attack, self.name)
        return replace(node, parents=tuple(event if p == SUCCESS else p for p in node.parents))

    def without_people(self) -> Scenario:
        """The scenario itself, where it says nothing of the people of a table."""
        if self.knows is not None:
            raise UsageError(
                f"scenario {self.name} says what is known about each person of a table: "
                f"it can only change an assessment of one"
            )
        return self

    # -- identity --------------------------------------------------------------------------

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content."""
        text = json.dumps(plain(self), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def is_said(self) -> bool:
        """Whether it is what a caller said in `known=`, and no scenario of a file."""
        return self.name == IN_A_CALL

    def each_of(self, people: Any) -> dict[str, list[Any]]:
        """The numbers that are each person's own, of these people, who may be a part of a table,
        by what they are the chance of.
        """
        knows = self.in_order().knows
        said = [] if knows is None else [
            *((item.columns, item.chance) for item in knows.known),
            *((("listed",), chance) for chance in knows.on_list),
        ]  # fmt: skip
        found = dict[str, list[Any]]()
        for columns, chance in said:
            for f in (f for f in chance if isinstance(f, ByPerson)):
                own = f.values[people.rows_in(f.about)]
                found.setdefault(" + ".join(columns), []).append(own)
        return found

    @property
    def _of_each(self) -> list[ByPerson]:
        return [f for chance in self._chances for f in chance if isinstance(f, ByPerson)]

    @property
    def _chances(self) -> tuple[Chance, ...]:
        if self.knows is None:
            return ()
        return (*(item.chance for item in self.knows.known), *self.knows.on_list)

    def in_order(self, *, apart: bool = False, named: Set[str] = frozenset()) -> Scenario:
        """What a caller said, however it was said: one scenario of whoever knows the same.

        What is sure stands column by column (not where how many groups are known counts: `apart`),
        other groups by what they tell beside it, in the order of the alphabet and by no other name
        (but those of which a question speaks: `named`); what nobody knows is not there.  Facts of a
        sparse table are named by the table.
        """
        if not self.is_said or self.knows is None:
            return self
        plain = [not item.by_profile and item.in_bands is None and item.member not in named
                 for item in self.knows.known]  # fmt: skip
        sure = {c for item, is_plain in zip(self.knows.known, plain, strict=True)
                if is_plain and item.constant == 1 for c in item.columns}  # fmt: skip
        found = [] if apart else [Known(c, (c,), source="") for c in sorted(sure)]
        for item, is_plain in zip(self.knows.known, plain, strict=True):
            gone = sure if is_plain and not apart else set()
            columns = tuple(sorted({*item.columns} - gone))
            if columns and (apart or not (is_plain and item.constant == 0)):
                name = item.name if item.member in named else " + ".join(columns)
                found.append(replace(item, name=name, columns=columns, source=""))
        found.sort(key=lambda item: (item.columns, item.name, *map(_in_bytes, item.chance)))
        sparse = self.knows.sparse and replace(self.knows.sparse, known=(), source="")
        return replace(self, knows=replace(self.knows, known=tuple(found), sparse=sparse))

    @property
    def told_fingerprint(self) -> str:
        """That of the content without numbers of each person, which it would help to confirm."""
        if self.knows is None or not self._of_each:
            return self.fingerprint

        def silent(part: Any) -> Any:
            none = ByPerson(np.empty(0), None)
            return replace(
                part, chance=tuple(none if isinstance(f, ByPerson) else f for f in part.chance)
            )

        parent = self.knows.parent
        parent = silent(parent) if isinstance(parent, Listed) else parent
        known = [silent(item) for item in self.knows.known]
        knows = replace(self.knows, known=tuple(known), parent=parent)
        return replace(self, knows=knows).fingerprint

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Names of what is known by assumption, and of parameters that are assumptions."""
        known = self.knows.known if self.knows else ()
        found = [k.name for k in known if is_assumption(k.source)]
        return (*found, *(p.name for p in self.parameters if p.is_assumption))


def _in_bytes(factor: Factor) -> bytes:
    """What two groups of the same columns are put in order by."""
    return factor.values.tobytes() if isinstance(factor, ByPerson) else repr(factor).encode()


def _success(attack: Attack, scenario: str) -> str:
    """The yes/no node that the attack's main question asks about."""
    main = attack.main_question
    target = parse_states(main.target) if main is not None and main.is_plain else {}
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
