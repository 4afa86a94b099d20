"""A validated file as an Attack, and what else can be said about a file that is not valid.

When parts of a file cannot be read, stand-ins take their places, so that everything else is still
checked and nobody has to mend a file one message at a time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pydantic import ValidationError

from reidbn.attack.attack import Attack
from reidbn.attack.cells import built
from reidbn.attack.decisions import Utility
from reidbn.attack.evidence import Elicited, Evidence, Expert, Measured, Study
from reidbn.attack.explain import explain
from reidbn.attack.leaves import Where
from reidbn.attack.parts import (
    Group,
    GroupRow,
    Node,
    Number,
    Parameter,
    Question,
    SubjectColumn,
)
from reidbn.attack.prior import Prior
from reidbn.attack.schema import FileModel
from reidbn.attack.yamltext import Document, written
from reidbn.cpds.decides import Decides
from reidbn.cpds.protocol import CPD, NO, YES, Array, Scope
from reidbn.cpds.rows import REST, Row, Rows
from reidbn.errors import ModelError, Problem, ReidbnError, did_you_mean, raise_problems

_ROOMS = (
    "parameters", "numbers", "subject", "groups", "decisions", "utilities", "nodes", "questions",
)  # fmt: skip
_CHOICES = {
    "nodes": ("cpd", "rows"),
    "groups": ("probability", "rows"),
    "questions": ("target", "expect"),
}
_OUTLINE = ("states", "parents", "members")  # what the checks of other parts rely on
_OF_A_DECISION: dict[str | int, str] = {"states": "options", "parents": "sees"}
_WORDS = re.compile(r"\w+")


def build(document: Document, model: FileModel) -> tuple[Attack | None, list[Problem]]:
    """The attack, or everything that is wrong; problems have addresses as in the file."""
    data = document.data
    shape = [*_shape_problems(data, model), *_choice_problems(document)]
    if not shape:
        try:
            return _attack(model.file.model_validate(data), template=document.template), []
        except ModelError as error:
            return None, at_file_addresses(error.problems, document)
    return None, shape + _with_stand_ins(document, model, shape)


def _shape_problems(data: Any, model: FileModel) -> list[Problem]:
    try:
        model.file.model_validate(data)
    except ValidationError as error:
        return explain(error.errors(include_url=False), data, model.file)
    return []


def _choice_problems(document: Document) -> list[Problem]:
    """A node has a cpd or rows, a group a probability or rows; never both, never neither."""
    parameters = document.data.get("parameters")
    found = []
    for name, spec in parameters.items() if isinstance(parameters, dict) else ():
        if isinstance(spec, dict) and "value" in spec and spec["value"] is None:
            found.append(Problem(("parameters", name, "value"), "is empty; needed: a number"))
        elif isinstance(spec, dict):
            found += [Problem(("parameters", name), text) for text in _left_out(spec)]
    for room, (one, other) in _CHOICES.items():
        things = document.data.get(room)
        for name, thing in things.items() if isinstance(things, dict) else ():
            if not isinstance(thing, dict):
                continue
            has_one, has_other = (
                thing.get(key) is not None or (room, name, key) in document.unread
                for key in (one, other)
            )
            if room == "groups" and isinstance(thing.get("members"), dict):
                found += _own_choices(document, name, thing)
                continue
            if has_one and has_other:
                message = f"stands beside {one}; keep one of the two"
                found.append(Problem((room, name, other), message, at_key=True))
            elif not has_one and not has_other:
                found.append(Problem((room, name), f"has neither {one} nor {other}; it needs one"))
    return found


def _own_choices(document: Document, group: str, thing: Mapping[str, Any]) -> list[Problem]:
    """Members with stories of their own need nothing that the group says of all of them."""
    found = []
    for key in ("probability", "rows", "parents"):
        if thing.get(key) is not None:
            message = "stands beside members that tell their own stories; say it at each of them"
            found.append(Problem(("groups", group, key), message, at_key=True))
    for member, story in thing["members"].items():
        where: Where = ("groups", group, "members", member)
        told = [key for key in ("cpd", "rows") if isinstance(story, dict) and (
            story.get(key) is not None or (*where, key) in document.unread)]  # fmt: skip
        if len(told) > 1:
            message = "stands beside cpd; keep one of the two"
            found.append(Problem((*where, "rows"), message, at_key=True))
        elif isinstance(story, dict) and not told:
            found.append(Problem(where, "has neither cpd nor rows; it needs one"))
    return found


# -- the attack -----------------------------------------------------------------------------------


def _attack(
    file: Any, stand_ins: Mapping[str, dict[str, Any]] | None = None, *, template: Any = None
) -> Attack:
    parts: dict[str, dict[str, Any]] = {
        "parameters": {name: parameter(name, p) for name, p in file.parameters.items()},
        "numbers": {name: _derived(name, n) for name, n in file.numbers.items()},
        "subject": {name: _column(name, c) for name, c in file.subject.items()},
        "groups": {name: _group(name, g) for name, g in file.groups.items()},
        "nodes": {name: node(name, n) for name, n in file.nodes.items()},
        "decisions": {name: _decision(name, d) for name, d in file.decisions.items()},
        "utilities": {name: _utility(name, u) for name, u in file.utilities.items()},
        "questions": {name: question(name, q) for name, q in file.questions.items()},
    }
    for room, things in (stand_ins or {}).items():
        parts[room] |= things
    rooms: dict[str, Any] = {room: tuple(things.values()) for room, things in parts.items()}
    rooms["nodes"] += rooms.pop("decisions")
    words = {
        key: getattr(file, key)
        for key in ("title", "story", "sources", "where", "example", "takes", "excluded", "shelf")
    }
    return Attack(file.name, **words, **rooms, template=template)


def parameter(name: str, spec: Any) -> Parameter:
    found = [Problem(("parameters", name), text) for text in _left_out(spec.model_dump())]
    raise_problems(f"parameter {name}", found)
    low, high = spec.range or (None, None)
    prior = Prior(**spec.prior.model_dump()) if spec.prior else None
    evidence = _evidence(spec)
    value = math.nan if spec.value is None else spec.value
    source = evidence.source if evidence and spec.source is None else spec.source
    return Parameter(
        name, value, low, high, spec.unit, source, prior, spec.story, evidence=evidence
    )  # fmt: skip


def _left_out(spec: Any) -> list[str]:
    """What a parameter needs and does not have: a value and a source, or evidence that has both."""
    said = {key for key, value in spec.items() if value is not None}
    found = ["has no value"] if not said & {"value", "measured", "elicited"} else []
    if {"measured", "elicited"} <= said:
        found.append("is both measured and elicited; keep one of the two")
    if not said & {"source", "elicited"} and not _names_studies(spec.get("measured")):
        found.append('has no source (where the number comes from; "assumption" is allowed)')
    return found


def _names_studies(measured: Any) -> bool:
    """Whether every study says where it stands."""
    if isinstance(measured, dict):
        measured = measured.get("studies") or [measured]
    studies = measured if isinstance(measured, list | tuple) else []
    return bool(studies) and all(isinstance(s, dict) and s.get("study") for s in studies)


def _evidence(spec: Any) -> Evidence | None:
    if spec.measured is not None:
        told = spec.measured
        studies = told.studies if told.studies is not None else (told,)
        return Measured(tuple(Study(s.hits, s.trials, s.study) for s in studies), told.between)
    if spec.elicited is not None:
        experts = (Expert(e.expert, e.quantiles, e.weight) for e in spec.elicited)
        return Elicited(tuple(experts), spec.pool or "linear", spec.within)
    return None


def _derived(name: str, spec: Any) -> Number:
    low, high = spec.range or (None, None)
    return Number(name, getattr(spec, "is"), spec.unit, low, high, spec.source, spec.story)


def _column(name: str, spec: Any) -> SubjectColumn:
    low, high = spec.range or (None, None)
    return SubjectColumn(
        name, spec.per, spec.each, spec.unit, low, high, spec.story, over=spec.over
    )


def _group(name: str, spec: Any) -> Group:
    if isinstance(spec.members, dict):
        own = tuple(_member(member, story) for member, story in spec.members.items())
        return Group(name, tuple(spec.members), story=spec.story, source=spec.source, own=own)
    rows = (GroupRow(spec.probability),) if spec.rows is None else built(spec.rows)
    return Group(name, spec.members, rows, spec.parents, spec.story, spec.source)


def _member(name: str, spec: Any) -> Node:
    """A member's own story, or the chance that stands in its place."""
    if isinstance(spec, int | float | str):
        return Node(name, (NO, YES), Rows((Row((REST, spec)),)))
    cpd = Rows(built(spec.rows)) if spec.cpd is None else built(spec.cpd)
    return Node(name, (NO, YES), cpd, spec.parents, story=spec.story, source=spec.source)


def node(name: str, spec: Any) -> Node:
    if spec.cpd is None and spec.rows is None:
        message = "has neither cpd nor rows; it needs one"
        raise_problems(f"node {name}", [Problem(("nodes", name, "rows"), message)])
    try:
        cpd = Rows(built(spec.rows)) if spec.cpd is None else built(spec.cpd)
    except (ReidbnError, ValueError, TypeError) as error:  # a kind with checks of its own
        raise_problems(f"node {name}", [Problem(("nodes", name, "cpd"), str(error))])
    return Node(
        name,
        spec.states,
        cpd,
        spec.parents,
        story=spec.story,
        source=spec.source,
        linddun=spec.linddun,
        panoptic=spec.panoptic,
        wp216=spec.wp216,
        five_safes=spec.five_safes,
    )


def _decision(name: str, spec: Any) -> Node:
    return Node(
        name, spec.options, Decides(spec.temperature), spec.sees,
        story=spec.story, source=spec.source,
    )  # fmt: skip


def _utility(name: str, spec: Any) -> Utility:
    return Utility(name, spec.of, built(spec.rows), spec.unit, spec.source, spec.story)


def question(name: str, spec: Any) -> Question:
    return Question(name, spec.target, dict(spec.given), spec.story, spec.expect)


# -- addresses ------------------------------------------------------------------------------------


def at_file_addresses(problems: Iterable[Problem], document: Document) -> list[Problem]:
    return [replace(p, where=_moved(p.where, document)) for p in problems]


def _moved(where: Where, document: Document) -> Where:
    """The shorthands `rows:` and `probability:` stand one level higher than in the attack.

    A decision is a node of the attack, whose parts have words of their own in a file.
    """
    decisions = document.data.get("decisions")
    if where[:1] == ("nodes",) and isinstance(decisions, dict) and where[1] in decisions:
        if where[2:3] == ("cpd",):
            inner = (_OF_A_DECISION.get(w, w) for w in where[3:4])
            return ("decisions", *where[1:2], *inner)
        return ("decisions", where[1], *(_OF_A_DECISION.get(w, w) for w in where[2:]))
    thing = document.at(where[:2])
    if not isinstance(thing, dict) or len(where) < 3:
        return where
    head, rest = where[:2], where[2:]
    if head[0] == "nodes" and rest[0] == "cpd" and "rows" in thing:
        return (*head, *(rest[1:] if rest[1:2] != ("kind",) else ("rows",)))
    if head[0] == "groups" and rest[0] == "members" and isinstance(thing.get("members"), dict):
        story = thing["members"].get(rest[1]) if len(rest) > 2 else None
        if not isinstance(story, dict):
            return where[:4]
        if rest[2] == "cpd" and "rows" in story:
            return (*where[:4], *(rest[3:] if rest[3:4] != ("kind",) else ("rows",)))
    if head[0] == "groups" and rest[0] == "rows" and "probability" in thing:
        return (*head, "probability", *rest[3:])
    return where


# -- stand-ins for what cannot be read ------------------------------------------------------------


@dataclass(frozen=True)
class _Unread(CPD):
    """In place of a CPD that cannot be read: it knows what the text refers to, nothing else."""

    kind: ClassVar[str] = "unread"
    raw: Any = None

    def probabilities(self, scope: Scope) -> Array:
        raise AssertionError("a stand-in is never asked")


def _with_stand_ins(document: Document, model: FileModel, shape: list[Problem]) -> list[Problem]:
    """What is wrong besides the shape: the checks of an attack, around the parts left unread."""
    if any(_hides_everything(p) for p in shape):
        return []
    broken = {p.where[:2] for p in shape if p.where}
    data: dict[str, Any] = {k: v for k, v in document.data.items() if (k,) not in broken}
    data |= {"name": written(data.get("name", "?")), "schema_version": 1}
    stand_ins: dict[str, dict[str, Any]] = {}
    for room, name in (where for where in broken if len(where) == 2):
        thing = data.pop(str(room), None)
        if room in _ROOMS:
            data[str(room)] = {k: v for k, v in thing.items() if k != name}
            stand_in = _stand_in(str(room), str(name), thing[name])
            stand_ins.setdefault(str(room), {}).update(stand_in)
    try:
        _attack(model.file.model_validate(data), stand_ins)
    except ValidationError:
        return []
    except ModelError as error:
        return _outside(broken, _hidden(shape, document.data), error, document)
    return []


def _hides_everything(problem: Problem) -> bool:
    """Without a whole room, or the members of a group, nothing else can be judged."""
    where = problem.where
    if len(where) == 1:
        rooms = (*_ROOMS, "example")
        misspelt = problem.at_key and did_you_mean(str(where[0]), rooms).endswith("?")
        return misspelt or where[0] in rooms
    return where[:1] == ("groups",) and (len(where) == 2 or _is_outline(problem))


def _is_outline(problem: Problem) -> bool:
    key = str(problem.where[2]) if len(problem.where) > 2 else ""
    if key == "members" and isinstance((*problem.where, 0)[3], str):
        return False  # a member's own story
    misspelt = problem.at_key and did_you_mean(key, _OUTLINE).endswith("?")
    return key in _OUTLINE or misspelt


def _hidden(shape: list[Problem], data: Any) -> set[str]:
    """Names of nodes whose states or parents are not known."""
    hidden = {str(p.where[1]) for p in shape if p.where[:1] == ("nodes",) and _is_outline(p)}
    sizes = {str(p.where[1]) for p in shape if p.where[:1] == ("parameters",)}
    for name, node in data.get("nodes", {}).items():
        states = node.get("states") if isinstance(node, dict) else None
        if isinstance(states, str) and sizes & set(_WORDS.findall(states)):
            hidden.add(name)
    return hidden


def _outside(
    broken: set[Where], hidden: set[str], error: ModelError, document: Document
) -> list[Problem]:
    """The problems that are not mere consequences of what is left unread."""
    unclear = any(where[0] in ("nodes", "groups") for where in broken)
    found = []
    for problem in error.problems:
        where = problem.where
        words = {*_WORDS.findall(str(document.at(where[:2]))), *where[1:2]}
        if where[:2] in broken and where[3:4] == ("raw",):
            key = "rows" if "rows" in document.at(where[:2]) else "cpd"
            found.append(replace(problem, where=(*where[:2], key, *where[4:]), at_key=False))
            continue
        judged = where[:2] not in broken or where[2:3] in (("parents",), ("states",))
        if judged and not words & hidden and not (unclear and "never used" in problem.message):
            found.append(replace(problem, where=_moved(where, document)))
    return found


def _stand_in(room: str, name: str, thing: Any) -> dict[str, Any]:
    thing = thing if isinstance(thing, dict) else {}
    parents = _list_of_words(thing.get("parents"))
    if room == "nodes":
        states = thing.get("states", "")
        if not isinstance(states, str) or not states:
            states = _list_of_words(states) or ("no", "yes")
        raw = thing.get("cpd", thing.get("rows"))
        return {name: Node(name, states, _Unread(raw), parents, source="?")}
    if room == "groups":
        members = _list_of_words(list(thing.get("members") or ()))
        return {name: Group(name, members, (GroupRow(0.0),), parents)} if members else {}
    if room == "parameters":
        return {name: Parameter(name, 1, 1, 1, "?", "?")}
    if room in ("numbers", "utilities"):
        return {}
    if room == "decisions":
        options = _list_of_words(thing.get("options")) or ("no", "yes")
        return {name: Node(name, options, Decides(), _list_of_words(thing.get("sees")))}
    if room == "subject":
        named = {k: thing[k] for k in ("per", "each", "over") if isinstance(thing.get(k), str)}
        return {name: SubjectColumn(name, **named)}
    return {}


def _list_of_words(value: Any) -> tuple[str, ...]:
    return tuple(written(item) for item in value) if isinstance(value, list) else ()
