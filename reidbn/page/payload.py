"""What a page holds of an attack: graph, tables, parameters, questions, as plain lists."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from reidbn.attack.attack import Attack
from reidbn.attack.cards import SourceLine, sources
from reidbn.attack.formula import HAIR, Term, parse
from reidbn.attack.limits import Condition
from reidbn.attack.modelfile import cited
from reidbn.attack.parts import PROBABILITY, Question
from reidbn.attack.repeated import folded_sources
from reidbn.attacks.routes.register import Entry
from reidbn.cpds.logic import Mixture
from reidbn.cpds.protocol import CPD, YES, Part, Ref, Variable
from reidbn.cpds.ranks import NoisyMax
from reidbn.cpds.rows import REST
from reidbn.errors import ImpossibleEvidence, TooLarge, UsageError
from reidbn.inference.answer import Answer
from reidbn.inference.answers import ask, joint
from reidbn.inference.counted import counted_nodes
from reidbn.inference.cut import MOST, can_cut, cut_off, in_words
from reidbn.inference.lowering import Lowering
from reidbn.inference.query import Query, read_query, refuse_nothing
from reidbn.inference.together import order_of
from reidbn.inference.values import check_settings, parameter_values, subject_values
from reidbn.page.closed import Json, TableCells, closed, finite, term_of
from reidbn.page.forms import Forms, states_of
from reidbn.page.people import Behind

PEOPLES = "it is part of what is worked out for every person of the table"
MOST_CORNERS = 4  # parameters whose ends are tried together
MOST_STEPS = 5_000_000  # products of one pass over the network: what a page does without a wait
FORMAT = 1


@dataclass(frozen=True)
class Start:
    """Where a page starts: values, what is seen and done, and whose table it is about."""

    set: Mapping[str, float]
    given: Mapping[str, Any]
    do: Mapping[str, str]
    subject: Mapping[str, Any] | None


def payload(
    attack: Attack, target: Any, start: Start, people: Behind | None = None
) -> dict[str, Json]:
    """All that a page has to know to answer for itself, or for the people behind it."""
    own = attack
    attack, asked = _questions(attack, target, people)
    check_settings(attack, start.set)
    if people is None:
        subject = subject_values(attack, start.subject)
        if any(len(v) > 1 for v in subject.values()):
            raise UsageError(
                "a page is about one person of the model's columns; of the people of a table, "
                "assess them and write the page of that"
            )
        forms = Forms(attack, dict(start.set), subject)
    else:
        stays = dict.fromkeys(people.frontier.parameters, PEOPLES)
        subject = {}
        forms = Forms(
            attack, dict(start.set), {}, frozen=stays, apart=frozenset(people.frontier.inside)
        )
    cover, everything = _within_reach(forms, people), asked
    if cover is not None:
        attack, asked = _cut_down(attack, asked, cover)
        forms = Forms(attack, dict(start.set), subject)
    left_out = [q["name"] or q["asked"] for q in everything if q not in asked]
    if people is None:
        asked = [{**q, "counts": _by_counts(own, target, q, start)} for q in asked]
    left_out += [n for n in own.all_nodes if n not in attack.all_nodes]
    asked = [{**q, "order": _order(attack, q)} for q in asked] if attack.decisions else asked
    tables = [entry for name in attack.all_nodes for entry in _tables(forms, name)]
    stands_on = folded_sources(own, sources(own)) if people is None else people.stands_on
    found: dict[str, Json] = {
        "format": FORMAT,
        "name": own.name,
        "title": own.title or own.name,
        "story": own.story if people is None else people.story,
        "sources": [*own.sources, *cited([*own.sources, *(s.source for s in stands_on)])],
        "shelf": own.shelf,
        "print": own.fingerprint[:12],
        "mark": _mark(own, people),
        "parameters": [_parameter(forms, name) for name in attack.parameters],
        "numbers": _numbers(attack),
        "where": [_condition(c) for c in (*attack.conditions, *_deep_in_tables(attack))],
        "groups": {g.name: [*g.members] for g in attack.groups.values()},
        "nodes": [_node(own, attack, name) for name in attack.all_nodes],
        "tables": tables,
        "decisions": _decisions(forms),
        "utilities": [_utility(forms, name) for name in attack.utilities],
        "questions": asked,
        "start": _start(own, attack, start),
        "stands_on": [
            {
                "name": s.name,
                "what": _what(own, s) + _held_in(people, s.name),
                "value": _value(own, s),
                "source": s.source,
                "assumed": s.is_assumption,
                **({"times": s.times} if isinstance(s, SourceLine) and s.times > 1 else {}),
            }
            for s in stands_on
        ],
        "columns": [] if people is None else people.columns(),
        "example": bool(own.subject),
        "cut": _cut(own if cover is None else attack, forms, subject),
        "people": None if people is None else people.to_dict(),
        "cover": cover,
        "left_out": left_out,
    }
    return found


def _mark(attack: Attack, people: Behind | None) -> str:
    """What a line of this page is known by: its model, and what it tells of people."""
    told = "" if people is None else json.dumps(people.to_dict(), sort_keys=True)
    return hashlib.sha256(f"{attack.fingerprint}{told}".encode()).hexdigest()[:12]


def _held_in(people: Behind | None, name: str) -> str:
    """By what name the table has an attribute, where it is another."""
    columns = dict(people.known).get(name, (name,)) if people is not None else (name,)
    return "" if " + ".join(columns) == name else f" (column {', '.join(columns)})"


def _what(attack: Attack, line: Entry | SourceLine) -> str:
    """What a number is about, in words."""
    if isinstance(line, Entry):
        return "" if line.what == line.name else line.what.removesuffix(f" ({line.name})")
    for room in (attack.parameters, attack.numbers, attack.all_nodes, attack.groups,
                 attack.utilities, attack.subject):  # fmt: skip
        if line.name in room:
            return str(room[line.name].story)
    return ""


def _value(attack: Attack, line: Entry | SourceLine) -> str:
    """A number as it is written; of a chance with its range, wherever it stands."""
    p = attack.parameters.get(line.name)
    number = line.value.removesuffix(f" {PROBABILITY}")
    if p is None or p.unit != PROBABILITY or number == line.value or p.range[0] == p.range[1]:
        return line.value
    return f"{number} ({p.range[0]:g} to {p.range[1]:g})"


# -- questions -----------------------------------------------------------------------------------


def _questions(attack: Attack, target: Any, people: Behind | None) -> tuple[Attack, list[Json]]:
    """The questions, what was asked first; events and means become nodes.

    Of people only those are kept that the page's frontier can answer.
    """
    wanted: list[tuple[str, Any, Mapping[str, Any], str]] = []
    if target is not None and not (isinstance(target, str) and target in attack.questions):
        wanted.append(("", target, {}, ""))
        main = ""
    else:
        own = attack.main_question
        main = target if target is not None else own.name if own is not None else ""
    ordered = sorted(attack.questions.values(), key=lambda q: q.name != main)
    wanted += [(q.name, _target(q), q.given, q.story) for q in ordered]
    if not wanted:
        raise UsageError(
            f"{attack.name} has no question of its own: say what the page is to ask, such as "
            f"node=state"
        )
    plain = attack.replace(questions=())  # a node may have a question's name
    found = []
    for name, what, given, story in wanted:
        after, query = read_query(plain, what, given)
        refuse_nothing(query)
        if query.is_distribution:
            if not name:
                raise UsageError("a page asks for a state or a mean: name one, such as node=yes")
            continue
        if people is not None and not _is_answered(after, query, people):
            if not name:
                raise UsageError(f"{what}: a page of people has summed out what that asks about")
            continue
        plain = after
        found.append(_question(attack, name, query, story))
    if not found:
        raise UsageError(f"{attack.name}: none of its questions asks for a state or a mean")
    return plain, found


def _by_counts(attack: Attack, target: Any, question: Json, start: Start) -> Json:
    """The 95 % interval of an answer that stands on counts, where the page starts."""
    if question["scale"] is not None or not counted_nodes(attack, attack.all_nodes):
        return None
    given, do = dict(start.given), dict(start.do)
    try:
        told = ask(attack, question["name"] or target, given=given, do=do, set=dict(start.set),
                   subject=start.subject)  # fmt: skip
    except ImpossibleEvidence:  # the page says so itself
        return None
    if not isinstance(told, Answer) or told.tied or told.by_counts_share < 1:
        return None  # the page has no words for those
    return None if told.by_counts is None else [float(end) for end in told.by_counts]


def _is_answered(attack: Attack, query: Query, people: Behind) -> bool:
    """Whether a question needs nothing of people but their faces."""
    frontier = people.frontier
    hidden = {*frontier.inside} - {*frontier.faces}
    named = attack.above([*query.targets, *query.given], cut=frontier.faces)
    return named.isdisjoint(hidden)


def _target(question: Question) -> Any:
    return f"expect {question.expect}" if question.expect else question.target


def _said(attack: Attack, query: Query) -> str:
    """What is asked for in the words of the model, where it is one event's story."""
    asked = " and ".join(query.asked)
    ((name, state), *more) = query.wanted.items()
    node = attack.all_nodes.get(name)
    if more or query.scale is not None or node is None or not node.story:
        return asked
    return node.story.rstrip(".") + ("" if state == YES else f": {state}")


def _question(attack: Attack, name: str, query: Query, story: str) -> Json:
    scale = None
    if query.scale is not None:
        scale = {"of": query.scale.of, "low": query.scale.low, "high": query.scale.high}
    return {
        "name": name, "story": story, "said": _said(attack, query),
        "asked": " and ".join(query.asked), "known": query.known,
        "wanted": dict(query.wanted), "given": dict(query.given), "scale": scale,
        "by": {node: query.written.get(node, node) for node in query.given},
    }  # fmt: skip


# -- parameters and numbers ------------------------------------------------------------------------


def _parameter(forms: Forms, name: str) -> Json:
    p = forms.attack.parameters[name]
    low, high = p.range
    return {
        "name": name, "value": forms.start(name), "own": float(p.value), "low": float(low),
        "high": float(high), "unit": p.unit, "source": p.source, "story": p.story,
        "assumed": p.is_assumption, "whole": p.is_integer, "chance": p.unit == PROBABILITY,
        "frozen": forms.frozen.get(name), "stops": forms.stops.get(name),
    }  # fmt: skip


def _numbers(attack: Attack) -> list[Json]:
    found = []
    for name in attack.derived.order if attack.numbers else ():
        if attack.derived.is_per_person(name):
            continue
        low, high = attack.derived.allowed(name)
        term = term_of(attack.derived.terms[name], lambda n: {"p": n})
        found.append({"name": name, "is": attack.numbers[name].formula, "t": term,
                      "in": [finite(low), finite(high)],
                      "chance": attack.derived.units[name] == PROBABILITY})  # fmt: skip
    return found


def _condition(condition: Any) -> Json:
    left, right = (term_of(side, lambda n: {"p": n}) for side in (condition.left, condition.right))
    return {"left": left, "sign": condition.sign, "right": right, "text": str(condition)}


def _deep_in_tables(attack: Attack) -> Iterator[Condition]:
    """What has to hold within tables that look sound where it does not: chances that are none,
    and chances beside `rest` in a mixture or a noisy-max.
    """
    known = attack.settable
    for node in attack.nodes.values():
        for ref in attack.unsure_chances[node.name]:
            if known[ref].unit != PROBABILITY:
                yield _at_most_one([f"${ref}"])
                least = Term("number", number=-HAIR)
                yield Condition(Term("name", name=ref), ">=", least, f"{ref} >= 0")
        for named in _beside_rest(node.cpd) if isinstance(node.cpd, Mixture | NoisyMax) else ():
            if named and all(not isinstance(ref, str) or ref[1:] in known for ref in named):
                yield _at_most_one(named)


def _beside_rest(cpd: CPD) -> Iterator[list[Ref]]:
    """The chances of every row, and of every mixture, that say rest of what they leave."""
    if isinstance(cpd, Mixture):
        yield from ([w for w in cpd.weights if w != REST],) if REST in cpd.weights else ()
        for component in cpd.components:
            yield from _beside_rest(component)
    for row in getattr(cpd, "rows", ()):
        cells = [*(row.p.values() if isinstance(row.p, Mapping) else row.p)]
        if REST in cells:
            yield [cell for cell in cells if cell != REST]


def _at_most_one(refs: Sequence[Ref]) -> Condition:
    said = " + ".join(ref[1:] if isinstance(ref, str) else f"{ref:.12g}" for ref in refs)
    return Condition(parse(said), "<=", Term("number", number=1 + HAIR), f"{said} <= 1")


# -- nodes and tables ------------------------------------------------------------------------------


def _node(own: Attack, attack: Attack, name: str) -> Json:
    node = attack.all_nodes[name]
    group = attack.group_of(name)
    return {
        "name": name, "states": states_of(attack, name), "story": node.story,
        "source": node.source, "parents": [*attack.parent_nodes(node)],
        "group": group.name if group else None, "helper": name not in own.all_nodes,
        "decides": name in attack.decisions,
    }  # fmt: skip


def _tables(forms: Forms, name: str) -> list[Json]:
    if name in forms.attack.decisions or name in forms.apart:
        return []
    found = []
    for part in forms.parts(name):
        entry: dict[str, Json] = {
            "child": part.variable.name,
            "parents": [v.name for v in part.parents],
            "form": forms.form(part),
        }
        if part.variable.name != name:
            entry["states"] = [*part.variable.states]
        found.append(entry)
    return found


def _decisions(forms: Forms) -> list[Json]:
    attack = forms.attack
    if not attack.decisions:
        return []
    sure, local = order_of(attack)
    if local:
        raise UsageError(
            f"{attack.name}: {', '.join(local)} have to be decided together, which a page cannot "
            f"do; rb.decide(attack).attack is the attack with his policy written in, "
            f"which is then kept whatever is set on the page"
        )
    found = []
    for name in sure:
        node = attack.nodes[name]
        part = _part(forms, name, node.parents)
        heat = TableCells(attack, part, forms.subject).of(getattr(node.cpd, "temperature", 0.0))
        found.append({"name": name, "sees": [*node.parents], "heat": heat})
    return found


def _order(attack: Attack, question: Json) -> list[str]:
    """In which order decisions are solved where ties go to the highest answer; none: together."""
    sure, local = order_of(attack, [*question["wanted"], *question["given"]])
    return [] if local else [*sure]


def _utility(forms: Forms, name: str) -> Json:
    utility = forms.attack.utilities[name]
    own = forms.lowering.variables
    part = Part(Variable(name, ("value",)), tuple(own[n] for n in utility.of), utility.payoffs)
    form = closed(TableCells(forms.attack, part, forms.subject))
    return {"name": name, "of": [*utility.of], "unit": utility.unit, "story": utility.story,
            "form": form}  # fmt: skip


def _part(forms: Forms, name: str, parents: tuple[str, ...]) -> Part:
    own = forms.lowering.variables
    return Part(own[name], tuple(own[p] for p in parents), forms.attack.nodes[name].cpd)


_OF_SCRIPTS = frozenset((
    "constructor", "toString", "toLocaleString", "valueOf", "hasOwnProperty", "isPrototypeOf",
    "propertyIsEnumerable", "undefined", "__proto__", "__defineGetter__", "__defineSetter__",
    "__lookupGetter__", "__lookupSetter__",
))  # fmt: skip
"""What every object of a script has, so that nothing can be looked up by such a name."""


def _refuse_names(attack: Attack) -> None:
    names = [*attack.all_nodes, *attack.settable, *attack.groups, *attack.subject]
    names += [s for n in attack.all_nodes.values() if not isinstance(n.states, str)
              for s in n.states]  # fmt: skip
    found = next((name for name in names if name in _OF_SCRIPTS), None)
    if found:
        raise UsageError(f"a page cannot hold the name {found}, which scripts use: rename it")


def _start(own: Attack, attack: Attack, start: Start) -> Json:
    check_settings(attack, start.set, beyond_range=True, all_numbers=True)  # every node is shown
    _refuse_names(own)
    for name, state in {**start.given, **start.do}.items():
        if name not in own.all_nodes or name not in attack.all_nodes or not isinstance(state, str):
            raise UsageError(
                f"{name}: a page starts from states of nodes; ask a question with that evidence"
            )
        structural = {n: float(parameter_values(attack, start.set)[n][0])
                      for n in attack.structural}  # fmt: skip
        states = attack.variable(name, structural).states
        if state not in states:
            raise UsageError(f'{name} has no state "{state}"; it has {", ".join(states[:6])}')
    return {"see": dict(start.given), "do": dict(start.do)}


def _cut(attack: Attack, forms: Forms, subject: Mapping[str, Any]) -> list[str]:
    """What is cut off of counts anywhere that the sliders go, before anything is seen."""
    found: dict[str, float] = {}
    for name in can_cut(attack, (n for n in attack.all_nodes if n not in forms.apart)):
        query = Query((name,), {}, {}, {})
        cpds = [attack.all_nodes[n].cpd for n in attack.above([name])]
        behind = {ref[1:] for cpd in cpds for ref in attack.behind(cpd) if ref.startswith("$")}
        moving = [p for p in attack.parameters if p in behind and p not in forms.frozen]
        ends = [(forms.start(p), *attack.parameters[p].range) for p in moving[:MOST_CORNERS]]
        for values in product(*ends):
            at = {**forms.settings, **dict(zip(moving, values, strict=False))}
            cut = cut_off(attack, [name], query, at, subject, _alone)
            found[name] = max([found.get(name, 0.0), *(c.share for c in cut.values())])
    large = {name: share for name, share in found.items() if share > MOST}
    return [f"{words}." for words in in_words(attack, large, " where the sliders go")]


def _alone(attack: Attack, query: Query, settings: Any, columns: Mapping[str, Any]) -> Any:
    return joint(attack, query, settings, columns, validate=False, alone=True)


# -- what it costs ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cost:
    """What it costs to sum out the nodes above some."""

    scopes: Mapping[str, list[set[str]]]  # of the tables of each node
    sizes: Mapping[str, float]
    also: tuple[set[str], ...]

    @classmethod
    def of(cls, forms: Forms, people: Behind | None) -> _Cost:
        attack = forms.attack
        at = {p: attack.parameters[p].range[1] for p in attack.structural if p not in forms.frozen}
        lowering = Lowering(attack, {**forms.settings, **at}, validate=False, tables=False)
        sizes = {name: float(lowering.variables[name].size) for name in attack.all_nodes}
        scopes: dict[str, list[set[str]]] = {}
        for name in attack.all_nodes:
            if name in attack.decisions:
                scopes[name] = [{name, *attack.parent_nodes(attack.nodes[name])}]
            elif name not in forms.apart:
                found = scopes.setdefault(name, [])
                for part in forms.parts(name):
                    sizes.setdefault(part.variable.name, float(part.variable.size))
                    above = [{*p.members} or {p.name} for p in part.parents]
                    found.append({part.variable.name}.union(*above))
        return cls(scopes, sizes, ({*people.frontier.faces},) if people is not None else ())

    def steps(self, names: Iterable[str]) -> float:
        """Products of one pass over the tables of some nodes."""
        own = [scope for name in names for scope in self.scopes.get(name, ())]
        return _summing([*own, *self.also], self.sizes)


def _within_reach(forms: Forms, people: Behind | None) -> list[str] | None:
    """The last nodes of what a page can sum over, one after the other; None where all go at once.

    Of a network that is too large at once every node may still be in reach with what is above it.
    """
    attack, cost = forms.attack, _Cost.of(forms, people)
    steps = cost.steps(attack.all_nodes)
    if steps <= MOST_STEPS:
        return None
    found: list[str] = []
    total = 0.0
    if not attack.decisions and people is None:
        left = [*attack.all_nodes]
        above = {n: {*attack.parent_nodes(attack.all_nodes[n])} for n in left}
        leads = Counter(parent for parents in above.values() for parent in parents)
        while ends := [n for n in left if n not in found and not leads[n]]:
            own = cost.steps(attack.above([ends[0]]))
            if own <= MOST_STEPS / 4:
                found.append(ends[0])
                total += own
            else:
                left.remove(ends[0])
                leads.subtract(above[ends[0]])
    if not found or total > MOST_STEPS:
        raise TooLarge(
            f"{attack.name}: a page would sum over {steps:,.0f} cases at every move of a slider, "
            f"and this stops at {MOST_STEPS:,}; make a page of a smaller model (fewer events that "
            f"lead to one, fewer members of a group, a narrower range of what sizes states)"
        )
    return found


def _cut_down(attack: Attack, asked: list[Json], cover: list[str]) -> tuple[Attack, list[Json]]:
    """The attack and its questions without what a page has no time to sum over."""
    kept = attack.above(cover)
    mine = [q for q in asked if kept.issuperset({*q["wanted"], *q["given"]})]
    if not asked or asked[0] not in mine:
        raise TooLarge(
            f"{attack.name}: {asked[0]['asked']} needs more sums than a page has time for at every "
            f"move of a slider; ask it with rb.ask or rb.sweep, or make a page of one of its parts"
        )
    return part_of(attack, kept), mine


def part_of(attack: Attack, kept: set[str]) -> Attack:
    """The attack with some of its nodes, and no question."""
    nodes = [n for n in attack.nodes.values() if n.name in kept]
    groups = [g for g in attack.groups.values() if kept.issuperset(g.members)]
    return attack.replace(nodes=nodes, groups=groups, questions=())


def _summing(scopes: list[set[str]], sizes: Mapping[str, float]) -> float:
    """Products in summing out one variable after another, the cheapest first (as engine.js)."""
    about: dict[str, list[set[str]]] = {}
    for scope in scopes:
        for name in scope:
            about.setdefault(name, []).append(scope)

    def cost(name: str) -> float:
        return float(prod(sizes[n] for n in set().union(*about[name])))

    total, costs = 0.0, {name: cost(name) for name in sorted(about)}
    while costs:
        best = min(costs, key=lambda name: (costs[name], name))
        total += costs.pop(best)
        gone = about.pop(best)
        met = set().union(*gone) - {best}
        for name in met:
            about[name] = [s for s in about[name] if best not in s] + [met]
        costs |= {name: cost(name) for name in met}
    return total
