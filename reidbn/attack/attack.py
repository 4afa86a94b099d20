"""An ordered, immutable collection of named things.

Attack: an adversary's story as a graph.  Frozen, valid at birth, changed by copying.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from reidbn.attack.assumptions import is_assumption, sources_of_tables
from reidbn.attack.decisions import Utility, decisions_of, references_of
from reidbn.attack.leaves import chances
from reidbn.attack.limits import Condition, refuse_beyond_range
from reidbn.attack.parts import (
    PROBABILITY,
    Group,
    GroupRow,
    Node,
    Number,
    Parameter,
    Question,
    SubjectColumn,
)
from reidbn.calls import check_fields, described, refuse_misfit, says_misfits, typed
from reidbn.cpds.function import Function
from reidbn.cpds.protocol import CPD, Ref, Variable, frozen
from reidbn.errors import Problem, UsageError, did_you_mean, raise_problems
from reidbn.late import late

if TYPE_CHECKING:
    import networkx as nx

    from reidbn.attack.numbers import Derived


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Catalogue(Mapping[str, T], Generic[T]):
    """Things by name, in the order they were declared; an unknown name says what there is.

    `twice` lists names that were given more than once, for the owner to report.
    """

    __slots__ = ("_items", "twice", "what")

    def __init__(self, things: Iterable[T] = (), *, what: str = "thing") -> None:
        things = tuple(things)
        self._items = {thing.name: thing for thing in things}
        times = Counter(thing.name for thing in things)
        self.twice = tuple(sorted(name for name, number in times.items() if number > 1))
        self.what = what

    def __getitem__(self, name: str) -> T:
        try:
            return self._items[name]
        except KeyError:
            hint = did_you_mean(name, self._items)
            raise UnknownName(f'no {self.what} "{name}"; {hint}') from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def replace(self, *things: T) -> Catalogue[T]:
        """A copy with some things replaced or added."""
        merged = {**self._items, **{thing.name: thing for thing in things}}
        return Catalogue(merged.values(), what=self.what)

    def __repr__(self) -> str:
        return f"{{{', '.join(self._items)}}}"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Catalogue) and list(self.items()) == list(other.items())

    __hash__ = None  # type: ignore[assignment]


class UnknownName(UsageError, KeyError):
    """A name that the catalogue does not hold."""

    def __str__(self) -> str:
        return str(self.args[0])


# -- attack ----------------------------------------------------------------------------------------


_WHAT: dict[str, tuple[str, type]] = {
    "parameters": ("parameter", Parameter),
    "numbers": ("derived number", Number),
    "subject": ("subject column", SubjectColumn),
    "groups": ("group", Group),
    "nodes": ("node", Node),
    "utilities": ("utility", Utility),
    "questions": ("question", Question),
}


@says_misfits
@dataclass(frozen=True, eq=False)
class Attack:
    """Parameters, subject data, groups and nodes; everything the engines need, and the story."""

    name: str
    nodes: Catalogue[Node]
    parameters: Catalogue[Parameter] = field(default_factory=Catalogue)
    groups: Catalogue[Group] = field(default_factory=Catalogue)
    subject: Catalogue[SubjectColumn] = field(default_factory=Catalogue)
    questions: Catalogue[Question] = field(default_factory=Catalogue)
    example: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    story: str = ""
    sources: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    """Conditions that parameters always satisfy, such as "leaked <= records"."""
    numbers: Catalogue[Number] = field(default_factory=Catalogue)
    """Numbers derived from parameters and subject columns by formulas."""
    takes: tuple[str, ...] = ()
    """Nodes that a scenario may bring: its node of that name then stands for the attack's own."""
    excluded: Mapping[str, str] = field(default_factory=dict)
    """Threats that the attack is not about, each with the reason."""
    shelf: str = ""
    """The group of models that it stands with, such as "insiders"."""
    utilities: Catalogue[Utility] = field(default_factory=Catalogue)
    """What the attacker wins and loses, where he decides: see `decisions`."""
    template: Mapping[str, Any] | None = field(default=None, repr=False)
    """What the file says, where it is shorter than the attack: with plates, or another model."""

    def __post_init__(self) -> None:
        several = str | Iterable[str]
        check_fields(
            self,
            apart=["name", *_WHAT],
            instead={"sources": several, "where": several, "takes": several},
        )
        for room in _WHAT:
            object.__setattr__(self, room, _catalogue(self.name, room, getattr(self, room)))
        object.__setattr__(self, "nodes", self._with_edges_of_functions(self.nodes))
        object.__setattr__(self, "groups", self._with_edges_of_members(self.groups))
        object.__setattr__(self, "example", frozen(dict(self.example)))
        object.__setattr__(self, "excluded", frozen(dict(self.excluded)))
        object.__setattr__(self, "sources", tuple(self.sources))
        takes = (self.takes,) if isinstance(self.takes, str) else self.takes
        object.__setattr__(self, "takes", tuple(map(str, takes)))
        where = (self.where,) if isinstance(self.where, str) else self.where
        object.__setattr__(self, "where", tuple(map(str, where)))
        from reidbn.attack.check import problems

        raise_problems(f"attack {self.name}", problems(self))

    @cached_property
    def warnings(self) -> tuple[Problem, ...]:
        """What can be meant but rarely is, such as a parameter that is never used.

        `rb.check` tells these and what only building every table can show.
        """
        from reidbn.attack.check import problems

        return tuple(problems(self))

    def _with_edges_of_functions(self, nodes: Catalogue[Node]) -> Catalogue[Node]:
        """A function's arguments that are nodes or groups are its node's parents."""
        members = {m for g in self.groups.values() for m in g.members}
        known = set(nodes) | set(self.groups) | members
        changed = [n for n in (_with_edges(n, known) for n in nodes.values()) if n is not None]
        if nodes.twice or not changed:
            return nodes
        return nodes.replace(*changed)

    def _with_edges_of_members(self, groups: Catalogue[Group]) -> Catalogue[Group]:
        """The same for members with stories of their own."""
        known = set(self.nodes) | {m for g in groups.values() for m in g.members}
        changed = []
        for group in groups.values():
            own = tuple(_with_edges(n, known) or n for n in group.own)
            changed += [replace(group, own=own)] if own != group.own else []
        return groups if groups.twice or not changed else groups.replace(*changed)

    @property
    def main_question(self) -> Question | None:
        """What the attack is about: the question named "risk", or the only one; else none."""
        only = next(iter(self.questions.values()), None) if len(self.questions) == 1 else None
        return self.questions.get("risk") or only

    # -- the graph -------------------------------------------------------------------------

    @cached_property
    def all_nodes(self) -> Catalogue[Node]:
        """Every node, group members included, parents before children."""
        members = [n for g in self.groups.values() for n in g.member_nodes()]
        plain_nodes = {n.name: n for n in (*members, *self.nodes.values())}
        edges = {n.name: self.parent_nodes(n) for n in plain_nodes.values()}
        order = TopologicalSorter(edges).static_order()
        return Catalogue((plain_nodes[name] for name in order), what="node")

    def parent_nodes(self, node: Node) -> tuple[str, ...]:
        """The node's parents, with a group read as all its members."""
        found: list[str] = []
        for parent in node.parents:
            found += self.groups[parent].members if parent in self.groups else (parent,)
        return tuple(dict.fromkeys(found))

    @cached_property
    def decisions(self) -> Mapping[str, Node]:
        """The nodes that the attacker decides, by name."""
        return decisions_of(self)

    @cached_property
    def behind_utilities(self) -> tuple[str, ...]:
        """Every reference of the utilities, through derived numbers."""
        return references_of(self)

    @cached_property
    def behind_decisions(self) -> frozenset[str]:
        """Every node that has a say in what the attacker decides, decisions included."""
        worth = [name for utility in self.utilities.values() for name in utility.of]
        return frozenset(self.above([*self.decisions, *worth]))

    def upstream(self, nodes: Iterable[str], *, cut: Container[str] = ()) -> set[str]:
        """The nodes and everything that they depend on, but for nodes set from outside.

        A decision depends on all that it is taken for, as that is before anything is set.
        """
        found = self.above(nodes, cut)
        decided = any(name in found and name not in cut for name in self.decisions)
        return found | self.behind_decisions if decided else found

    def above(self, nodes: Iterable[str], cut: Container[str] = ()) -> set[str]:
        """The nodes and their ancestors, but for those of nodes set from outside."""
        found: set[str] = set()
        todo = list(nodes)
        while todo:
            name = todo.pop()
            if name not in found and name not in cut:
                found.add(name)
                todo += self.parent_nodes(self.all_nodes[name])
        return found

    def group_of(self, member: str) -> Group | None:
        """The group that a node is a member of."""
        return next((g for g in self.groups.values() if member in g.members), None)

    @cached_property
    def structural(self) -> tuple[str, ...]:
        """Parameters that size a state list: changing one rebuilds the network."""
        return tuple(dict.fromkeys(p for n in self.nodes.values() for p in n.structural))

    @cached_property
    def derived(self) -> Derived:
        """The derived numbers, in the order in which they are worked out."""
        from reidbn.attack.numbers import Derived

        return Derived(self)

    @cached_property
    def settable(self) -> Mapping[str, Parameter]:
        """What may be given another value: parameters, and numbers that no table has a say in."""
        return {**self.parameters, **self.derived.settable} if self.numbers else self.parameters

    def tables(self, nodes: Collection[str]) -> list[CPD]:
        """The tables of nodes; where the attacker decides among them, his gains and costs, too."""
        found = [self.all_nodes[name].cpd for name in nodes]
        decides = not self.decisions.keys().isdisjoint(nodes)
        return found + ([u.payoffs for u in self.utilities.values()] if decides else [])

    def behind(self, cpd: CPD) -> tuple[str, ...]:
        """Every reference of a CPD, and what the derived numbers among them stand on.

        A function names what it reads without a sign: here it has the one of a model file.
        """
        refs = tuple(map(self._signed, cpd.references()))
        if not self.numbers:
            return refs
        found = [r for ref in refs for r in (ref, *self._stands_on(ref.removeprefix("$")))]
        return tuple(dict.fromkeys(found))

    @cached_property
    def unsure_chances(self) -> Mapping[str, tuple[str, ...]]:
        """Of every node what stands for a chance there and may be none: derived numbers, and
        parameters in another unit.
        """
        unsure = {name for name, p in self.settable.items()
                  if name in self.numbers or p.unit != PROBABILITY}  # fmt: skip
        found = {}
        for name, node in self.all_nodes.items():
            refs = dict.fromkeys(ref.removeprefix("$") for _, ref in chances(node.cpd))
            found[name] = tuple(ref for ref in refs if ref in unsure)
        return found

    @cached_property
    def columns_read(self) -> frozenset[str]:
        """The subject columns that a node, a utility or a derived number reads."""
        read = {ref for node in self.all_nodes.values() for ref in self.behind(node.cpd)}
        read |= {*self.behind_utilities, *(r for n in self.numbers for r in self._stands_on(n))}
        return frozenset(name for name in self.subject if f"@{name}" in read)

    def _signed(self, ref: str) -> str:
        if ref in self.parameters or ref in self.numbers:
            return f"${ref}"
        return f"@{ref}" if ref in self.subject else ref

    def _stands_on(self, name: str) -> tuple[str, ...]:
        return self.derived.behind(name) if name in self.derived else ()

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions of `where`, read."""
        return tuple(Condition.read(text) for text in self.where)

    def variable(self, name: str, values: Mapping[str, float]) -> Variable:
        """A node or group as CPDs see it, at given structural values."""
        if name in self.groups:
            return self.groups[name].variable
        group = self.group_of(name)
        index = group.members.index(name) if group else None
        return Variable(name, self.all_nodes[name].states_at(values), member_index=index)

    def graph(self) -> nx.DiGraph[str]:
        """The nodes and edges as a networkx graph; node attributes hold story, states, parents."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph(name=self.name)
        for node in self.all_nodes.values():
            states = node.states if isinstance(node.states, str) else ", ".join(node.states)
            graph.add_node(
                node.name, story=node.story, states=states, kind=node.cpd.kind, source=node.source
            )
        graph.add_edges_from((p, n.name) for n in self.all_nodes.values()
                             for p in self.parent_nodes(n))  # fmt: skip
        return graph

    def counts_members(self, group: str) -> bool:
        """Whether a node or a question reads how many members of the group, or which, are known."""
        asked = any(group in question.names for question in self.questions.values())
        return asked or bool(self.counting_nodes(group))

    def counting_nodes(self, group: str) -> list[str]:
        """The nodes that read how many members of the group, or which, are known."""
        readers = [node for node in self.nodes.values() if group in node.parents]
        return [node.name for node in readers if node.cpd.reads_group(group)]

    # -- changing by copying ---------------------------------------------------------------

    def replace(self, **changes: Any) -> Attack:
        """A copy with whole fields replaced."""
        own = [each.name for each in fields(self)]
        for name in changes:
            if name not in own:
                raise UsageError(f'an attack has no field "{name}"; {did_you_mean(name, own)}')
        return replace(self, **changes)

    @typed
    def with_values(self, values: Mapping[str, float], *, beyond_range: bool = False) -> Attack:
        """A copy whose parameters have other values; `beyond_range=True` widens their ranges."""
        derived = [name for name in values if name in self.numbers]
        if derived:
            raise UsageError(
                f"{derived[0]} is derived ({self.numbers[derived[0]].formula}); change what it "
                f"stands on, or ask with set={{...}}"
            )
        refuse_beyond_range(self.parameters, values, beyond_range=beyond_range)
        changed = [_moved(self.parameters[name], value) for name, value in values.items()]
        return replace(self, parameters=self.parameters.replace(*changed))

    def taking(self, nodes: Iterable[Node], who: str, *, free: bool) -> tuple[Node, ...]:
        """The attack's nodes with those of a scenario, which stand for its own where it takes them.

        `free` lets them stand for any, where the attack does not say which it takes.
        """
        new = {node.name: node for node in nodes}
        for name in [n for n in new if n in self.nodes]:
            if name not in self.takes and not (free and not self.takes):
                raise UsageError(
                    f'{who} brings a node "{name}", and {self.name} has one of its '
                    f"own; takes: [{name}] in the model lets the other stand for it"
                )
            own, other = self.nodes[name].states, new[name].states
            if name in self.takes and own != other:
                said = [s if isinstance(s, str) else ", ".join(s) for s in (own, other)]
                raise UsageError(
                    f"{self.name} takes {name} with the states {said[0]}, in this order; "
                    f"{who} brings {said[1]}"
                )
        return (*(new.pop(n.name, n) for n in self.nodes.values()), *new.values())

    @typed
    def with_node(self, *nodes: Node) -> Attack:
        """A copy with nodes added or replaced."""
        refuse_misfit("with_node", "nodes", nodes, tuple[Node, ...])
        return replace(self, nodes=self.nodes.replace(*nodes))

    @typed
    def with_members(
        self,
        group: str,
        members: Iterable[str],
        *,
        probability: Ref | tuple[Ref, ...] | None = None,
        example: Mapping[str, Any] | None = None,
    ) -> Attack:
        """A copy whose group has other members; what was said of the old ones is dropped.

        That is example data of the group, and questions that name a member who is gone.
        """
        old = self.groups[group]
        members = tuple(members)
        if probability is None:
            own = tuple(node for node in old.own if node.name in members)
            new = replace(old, members=members, own=own)
        else:
            rows = (GroupRow(probability),)
            new = replace(old, members=members, rows=rows, parents=(), own=())
        sized = {c.name for c in self.subject.values() if group in (*c.axes, c.each)}
        kept = {k: v for k, v in self.example.items() if k not in sized}
        if example is None and sized & set(self.example):
            kept = {}
        gone = {*old.members} - {*new.members}
        questions = [q for q in self.questions.values() if not gone & q.names]
        return self.replace(
            groups=self.groups.replace(new),
            questions=questions,
            example={**kept, **(example or {})},
        )

    # -- identity --------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The canonical content: what a model file holds."""
        from reidbn.attack.content import content

        return content(self)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical content; in what order things were declared does not matter.

        What has an order of its own counts: states, parents, members, rows.  Functions count by
        where they are defined and by their code.
        """
        from reidbn.attack.content import content, identity

        text = json.dumps(content(self, cpd=identity), sort_keys=True)
        ordered = {g.name: g.members for g in self.groups.values() if g.own}  # keys in the content
        text += json.dumps(ordered, sort_keys=True) if ordered else ""
        return hashlib.sha256(text.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attack) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return int(self.fingerprint[:15], 16)

    # -- engines and views (the rooms above) -------------------------------------------------

    to_pgmpy = late("reidbn.inference.pgmpy_bridge:attack_to_pgmpy")
    save = late("reidbn.attack.modelfile:save")
    page = late("reidbn.page.sheet:page")
    with_policy = late("reidbn.inference.policies:with_policy")
    frontier = late("reidbn.attack.frontier:frontier")

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Names of all that is assumed: parameters, derived numbers, groups, nodes, utilities."""
        from reidbn.attack.numbers import is_assumed

        named = [p.name for p in self.parameters.values() if p.is_assumption]
        named += [n.name for n in self.numbers.values() if is_assumed(n)]
        told = sources_of_tables(self)
        return (*named, *(name for name, _, source in told if is_assumption(source)))

    def __repr__(self) -> str:
        counts = (len(self.all_nodes), len(self.parameters), len(self.assumptions))
        return "<Attack {}: {} nodes, {} parameters, {} assumptions>".format(self.name, *counts)


def _with_edges(node: Node, known: Container[str]) -> Node | None:
    """The node with its function's arguments as parents; None where it has its parents."""
    if not isinstance(node.cpd, Function) or node.parents:
        return None
    return replace(node, parents=tuple(a for a in node.cpd.arguments if a in known))


def _catalogue(attack: str, room: str, things: Any) -> Catalogue[Any]:
    """The things of a room by name, whether they came as a list, a mapping or a catalogue."""
    what, kind = _WHAT[room]
    if isinstance(things, str | bytes) or not isinstance(things, Iterable):
        found = described(things)
        raise UsageError(f"attack {attack}: {room} is {found}; it takes {kind.__name__}s")
    if not isinstance(things, Catalogue):
        things = tuple(things.values() if isinstance(things, Mapping) else things)
    for thing in things.values() if isinstance(things, Catalogue) else things:
        if not isinstance(thing, kind):
            found = type(thing).__name__
            raise UsageError(f"attack {attack}: {room} holds a {found}; it takes {kind.__name__}s")
    if not isinstance(things, Catalogue):
        return Catalogue(things, what=what)
    things.what = what
    return things


def _moved(parameter: Parameter, value: float) -> Parameter:
    low, high = parameter.range
    return replace(parameter, value=value, low=min(low, value), high=max(high, value))
