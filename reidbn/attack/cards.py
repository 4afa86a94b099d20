"""What a picture of an attack says: one card per node and per group, and the numbers' sources.

Only words and numbers; how they look is for DOT and `reidbn.report.drawing` to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from reidbn.attack.assumptions import ASSUMPTION, DERIVED, is_assumption, sources_of_tables
from reidbn.attack.attack import Attack
from reidbn.attack.numbers import is_assumed
from reidbn.attack.parts import Group, Node
from reidbn.cpds.arithmetic import Minus
from reidbn.cpds.protocol import CPD, Ref
from reidbn.cpds.ranks import NoisyMax, Ranked
from reidbn.cpds.rows import Row

Values = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Card:
    """One box: a node, a group with its members, or a utility."""

    name: str
    story: str
    rule: str
    numbers: tuple[str, ...]  # "p_m = 0.5" for every parameter that it uses
    members: tuple[str, ...] = ()
    kind: str = "chance"  # or "decision", or "utility"
    each: tuple[tuple[str, str], ...] = ()
    """Of a plate drawn once: the words that it stands for, and the nodes."""

    @property
    def is_group(self) -> bool:
        return bool(self.members)


@dataclass(frozen=True)
class Edge:
    """From one card to another; `member` names the group's members when not all are meant."""

    start: str
    end: str
    member: str = ""


@dataclass(frozen=True)
class SourceLine:
    """One line of the list of numbers: what it is, its value, and where it comes from."""

    name: str
    value: str
    source: str
    times: int = 1
    """How many numbers the line stands for, of what is written once for several."""

    @property
    def is_assumption(self) -> bool:
        return is_assumption(self.source)


def cards(attack: Attack, values: Values | None = None) -> list[Card]:
    """The cards, parents before children; `values` are the parameters' at some setting."""
    seen: dict[str, Card] = {}
    for node in attack.all_nodes.values():
        group = attack.group_of(node.name)
        if group is None:
            seen[node.name] = _node_card(attack, node, values)
        elif group.name not in seen:
            seen[group.name] = _group_card(attack, group, values)
    for u in attack.utilities.values():
        numbers = _numbers(attack, [r[1:] for r in attack.behind(u.payoffs)], values)
        seen[u.name] = Card(u.name, u.story, f"worth in {u.unit}", numbers, kind="utility")
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(seen)
    graph.add_edges_from((edge.start, edge.end) for edge in edges(attack))
    declared = {name: i for i, name in enumerate(seen)}
    return [seen[name] for name in nx.lexicographical_topological_sort(graph, declared.__getitem__)]


def edges(attack: Attack) -> list[Edge]:
    """The arrows between cards."""
    found = []
    above = {node.name: node.parents for node in attack.nodes.values()}
    above |= {group.name: group.outside for group in attack.groups.values()}
    above |= {utility.name: utility.of for utility in attack.utilities.values()}
    for owner, parents in above.items():
        starts: dict[str, list[str]] = {}
        for parent in parents:
            group = attack.group_of(parent)
            members = starts.setdefault(group.name if group else parent, [])
            members += [parent] if group else []
        found += [Edge(start, owner, ", ".join(names)) for start, names in starts.items()]
    return found


def sources(attack: Attack, values: Values | None = None) -> list[SourceLine]:
    """Every number of the attack and where it comes from."""
    found = []
    for p in attack.parameters.values():
        low, high = p.range
        value = _value(attack, p.name, values)
        span = "" if low == high else f" ({low:,.12g} to {high:,.12g})"
        unit = "" if p.unit == "probability" else f" {p.unit}"
        changed = values is not None and float(values[p.name][0]) != p.value
        source = f"set here; the file says {p.value:,.12g}, {p.source}" if changed else p.source
        found.append(SourceLine(p.name, f"{value}{unit}{span}", source))
    for number in attack.numbers.values():
        per_person = attack.derived.is_per_person(number.name)
        unit = attack.derived.units[number.name]
        unit = "" if unit in ("", "probability") else f" {unit}"
        value = "per person" if per_person else f"{_value(attack, number.name, values)}{unit}"
        said = number.source or (f"{ASSUMPTION}: a number in it" if is_assumed(number) else "")
        source = "; ".join(filter(None, [f"{DERIVED}{number.formula}", said]))
        found.append(SourceLine(number.name, value, source))
    found += [SourceLine(name, what, source) for name, what, source in sources_of_tables(attack)]
    for column in attack.subject.values():
        found.append(SourceLine(column.name, "per person", "the table of people"))
    return found


def _node_card(attack: Attack, node: Node, values: Values | None) -> Card:
    names = [*(r.removeprefix("$") for r in node.cpd.references()), *node.structural]
    kind = "decision" if node.name in attack.decisions else "chance"
    rule = f"decides: {', '.join(node.states)}" if kind == "decision" else _rule(attack, node.cpd)
    return Card(node.name, node.story, rule, _numbers(attack, names, values), kind=kind)


def _group_card(attack: Attack, group: Group, values: Values | None) -> Card:
    names = [r.removeprefix("$") for m in group.member_nodes() for r in m.cpd.references()]
    first = group.rows[0].p if group.rows else None
    single = len(group.rows) == 1 and isinstance(first, int | float)
    each = f"each known with {first:g}" if single else ""
    return Card(group.name, group.story, each, _numbers(attack, names, values), group.members)


def _numbers(attack: Attack, names: list[str], values: Values | None) -> tuple[str, ...]:
    known = [attack.settable[name] for name in dict.fromkeys(names) if name in attack.settable]
    return tuple(
        f"{p.name} = {_value(attack, p.name, values)}{' (assumed)' * _assumed(attack, p.name)}"
        for p in known
    )


def _assumed(attack: Attack, name: str) -> bool:
    """Whether a number is an assumption, or derived from one."""
    behind = attack.derived.behind(name) if name in attack.numbers else ()
    names = [name, *(ref.removeprefix("$") for ref in behind)]
    return any(attack.settable[n].is_assumption for n in names if n in attack.settable)


def _value(attack: Attack, name: str, values: Values | None) -> str:
    value = attack.settable[name].value if values is None else float(values[name][0])
    return f"{value:,.12g}"


def _rule(attack: Attack, cpd: CPD) -> str:
    """The kind and what it reads, such as "one-over: of leaked_class_size, if in_leak"."""
    rows = getattr(cpd, "rows", ())
    if isinstance(cpd, NoisyMax):
        return f"{cpd.kind}: leak" if any(not row.when for row in rows) else cpd.kind
    if isinstance(cpd, Minus) and cpd.of:
        return f"{cpd.kind}: {cpd.of[0]} less {', '.join(cpd.of[1:])}"
    if isinstance(rows, tuple) and rows and isinstance(rows[0], Row):
        return "rows" if len(rows) > 1 else "probability"
    words = _turned(attack, cpd) if isinstance(cpd, Ranked) else []
    words += [w for field in fields(cpd) for w in _words(field.name, getattr(cpd, field.name),
                                                         field.default)]  # fmt: skip
    return f"{cpd.kind}: {', '.join(words)}" if words else cpd.kind


def _turned(attack: Attack, cpd: Ranked) -> list[str]:
    """Which parents lower a ranked node; of a weight that may be on either side of 0 no sign."""
    ends = {name: _ends(attack, weight) for name, weight in cpd.weights.items()}
    if any(low < 0 < high for low, high in ends.values()):
        return ["by the sign of each weight"]
    falls = [name for name, (low, _) in ends.items() if low < 0]
    return [f"falls with {' and '.join(falls)}"] if falls else []


def _ends(attack: Attack, ref: Ref) -> tuple[float, float]:
    """Between which ends a number lies; of a column, or a derived number, what may be."""
    if not isinstance(ref, str):
        return float(ref), float(ref)
    found = attack.parameters.get(ref[1:])
    column = attack.subject.get(ref[1:])
    if found is not None:
        return found.range
    low, high = (None, None) if column is None else (column.low, column.high)
    return -inf if low is None else low, inf if high is None else high


def _words(field: str, value: object, default: object) -> list[str]:
    """What one field of a CPD says, if it is short."""
    if field == "only_if" and isinstance(value, tuple) and value:
        return [f"if {' and '.join(map(str, value))}"]
    if not isinstance(value, str | int | float) or value == default or value == "":
        return []
    text = value.lstrip("$@") if isinstance(value, str) else f"{value:g}"
    return [text] if field in ("p", text) else [f"{field.replace('_', ' ')} {text}"]
