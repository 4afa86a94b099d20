"""The canonical content of an attack: plain dicts and lists in the shape of a model file.

Defaults are left out, keys stand in the order in which they are best read, a whole number inside
a table is written without a fraction, and everything else keeps its full precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from reidbn.attack.evidence import Evidence, Measured
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
from reidbn.attack.prior import Prior
from reidbn.cpds.function import Function
from reidbn.cpds.protocol import CPD, NO, YES, plain
from reidbn.cpds.rows import REST, Row, Rows

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack
    from reidbn.attack.decisions import Utility

SCHEMA_VERSION = 1
Content = dict[str, Any]
_WHOLE = 2**53


_written: Callable[[CPD], Content] = methodcaller("to_dict")


def content(attack: Attack, *, cpd: Callable[[CPD], Content] = _written) -> Content:
    """What a model file of this attack holds; `cpd` says how a CPD is written."""
    return {
        "schema_version": SCHEMA_VERSION,
        **_kept(name=attack.name, title=attack.title, story=attack.story),
        **_kept(shelf=attack.shelf, sources=list(attack.sources)),
        **_kept(excluded=dict(attack.excluded), takes=list(attack.takes)),
        **_room("parameters", attack.parameters, _parameter),
        **_room("numbers", attack.numbers, _derived),
        **_kept(where=list(attack.where)),
        **_room("subject", attack.subject, _column),
        **_room("groups", attack.groups, partial(_group, cpd=cpd)),
        **_room("decisions", attack.decisions, _decision),
        **_room("utilities", attack.utilities, _utility),
        "nodes": {
            name: _node(node, cpd)
            for name, node in attack.nodes.items()
            if name not in attack.decisions
        },
        **_room("questions", attack.questions, _question),
        **_kept(example={name: _number(value) for name, value in attack.example.items()}),
    }


_PLACES = ("states", "when", "given", "to")  # where a numeral is a name


def plain_words(value: Any, key: str = "") -> Any:
    """What was read from a file, without how it was written."""
    if isinstance(value, dict):
        inner = {k: key if key in _PLACES and not isinstance(v, dict) else k
                 for k, v in value.items()}  # fmt: skip
        return {k: plain_words(v, inner[k]) for k, v in value.items()}
    if isinstance(value, list):
        return [plain_words(item, key) for item in value]
    return str(getattr(value, "text", value)) if key in _PLACES else value


def brought_up_to_date(short: Content, then: Content, now: Content) -> Content:
    """The short form of an attack that has changed, where the change is in what it says itself."""
    out = {key: value for key, value in short.items() if key not in then or key in now}
    for key in now:
        if key in short and then.get(key) == now[key]:
            continue
        if isinstance(now[key], dict):
            own, old = short.get(key, {}), then.get(key, {})
            kept = {
                name: thing for name, thing in own.items() if name not in old or name in now[key]
            }
            news = {name: thing for name, thing in now[key].items() if thing != old.get(name)}
            out |= {key: {**kept, **news}}
            if not out[key]:
                del out[key]
        elif then.get(key) != now[key]:
            out[key] = now[key]
    return out


def _kept(**entries: Any) -> Content:
    """The entries that say something."""
    return {key: value for key, value in entries.items() if value not in (None, "", [], {}, ())}


def _room(name: str, things: Any, write: Callable[[Any], Any]) -> Content:
    return {name: {key: write(thing) for key, thing in things.items()}} if things else {}


def _parameter(parameter: Parameter) -> Content:
    probability = parameter.unit == PROBABILITY
    ends: Any = parameter.range
    value: Any = parameter.value
    if probability:
        ends, value = _number(ends), _number(value)
    default = (0, 1) if probability else (value, value)
    source: str | None = parameter.source
    prior = _prior(parameter.prior) if parameter.prior else None
    behind: Content = {}
    if parameter.evidence is not None:  # what follows from it is left out
        alone = Parameter(parameter.name, unit=parameter.unit, evidence=parameter.evidence)
        default = alone.range
        behind = _behind(parameter.evidence)
        value = None if value == alone.value else value
        prior = None if parameter.prior == alone.prior else prior
        source = None if source == parameter.evidence.source and _follows(parameter) else source
    return {
        **({} if value is None else {"value": value}),
        **behind,
        **_kept(range=None if tuple(ends) == default else list(ends)),
        **({} if probability else {"unit": parameter.unit}),
        **_kept(prior=prior, source=source, story=parameter.story),
    }


def _follows(parameter: Parameter) -> bool:
    """Whether a file may leave the source out: every study or expert has a name."""
    known = parameter.evidence
    return not isinstance(known, Measured) or all(s.study for s in known.studies)


def _behind(evidence: Evidence) -> Content:
    """The studies or experts as a file has them."""
    if isinstance(evidence, Measured):
        studies = [{"hits": s.hits, "trials": s.trials, **_kept(study=s.study)}
                   for s in evidence.studies]  # fmt: skip
        between = _kept(between=_number(evidence.between))
        if len(studies) == 1 and not between:
            return {"measured": studies[0]}
        return {"measured": {"studies": studies, **between} if between else studies}
    experts = [
        {
            "expert": e.expert,
            "quantiles": {repr(level): _number(x) for level, x in e.quantiles.items()},
            **({} if e.weight == 1 else {"weight": _number(e.weight)}),
        }
        for e in evidence.experts
    ]
    pool = evidence.pool if evidence.pool != "linear" else None
    within = None if evidence.within is None else [_number(x) for x in evidence.within]
    return {"elicited": experts, **_kept(pool=pool, within=within)}


def _prior(prior: Prior) -> Content:
    numbers = {key: _number(getattr(prior, key)) for key in ("a", "b", "mode")}
    return {"kind": prior.kind, **_kept(**numbers)}


def _derived(number: Number) -> Any:
    more = _kept(unit=number.unit, range=_ends(number), source=number.source, story=number.story)
    return {"is": number.formula, **more} if more else number.formula


def _ends(thing: SubjectColumn | Number) -> list[Any] | None:
    if thing.low is None and thing.high is None:
        return None
    return [_number(thing.low), _number(thing.high)]


def _column(column: SubjectColumn) -> Content:
    per = column.per if isinstance(column.per, str) else list(column.axes)
    return _kept(per=per, each=column.each, over=column.over, unit=column.unit, range=_ends(column),
                 story=column.story)  # fmt: skip


def _group(group: Group, cpd: Callable[[CPD], Content]) -> Content:
    if group.own:
        members = {node.name: _member(node, cpd) for node in group.own}
        return {**_kept(story=group.story), "members": members, **_kept(source=group.source)}
    rows: Content = {"rows": [_row(row) for row in group.rows]}
    if len(group.rows) == 1 and not group.rows[0].when:
        rows = {"probability": _cells(group.rows[0].p)}
    return {
        **_kept(story=group.story),
        "members": list(group.members),
        **_kept(parents=list(group.parents)),
        **rows,
        **_kept(source=group.source),
    }


def _member(node: Node, cpd: Callable[[CPD], Content]) -> Any:
    """A member's own story; the chance alone where there is nothing else to say."""
    rows = node.cpd.rows if isinstance(node.cpd, Rows) else ()
    told = _node(node, cpd)
    if {*told} == {"rows"} and len(rows) == 1 and not rows[0].when:
        p = rows[0].cells((NO, YES))
        if p[0] == REST:
            return _cells(p[1])
    return told


def _node(node: Node, cpd: Callable[[CPD], Content]) -> Content:
    out = _kept(story=node.story)
    if node.states != (NO, YES):
        out["states"] = node.states if isinstance(node.states, str) else list(node.states)
    out |= _kept(parents=list(node.parents))
    if isinstance(node.cpd, Rows):
        out["rows"] = [_row(row) for row in node.cpd.rows]
    else:
        out["cpd"] = _number(cpd(node.cpd))
    tags = {key: list(getattr(node, key)) for key in ("linddun", "panoptic", "wp216", "five_safes")}
    return out | _kept(source=node.source, **tags)


def _decision(node: Node) -> Content:
    return {
        **_kept(story=node.story),
        "options": list(node.states),
        **_kept(sees=list(node.parents), source=node.source),
        **_number({k: v for k, v in node.cpd.to_dict().items() if k == "temperature"}),
    }


def _utility(utility: Utility) -> Content:
    rows = [{**_kept(when=plain(row.when)), "value": _number(row.value)} for row in utility.rows]
    said = _kept(story=utility.story, source=utility.source)
    return {"of": list(utility.of), "unit": utility.unit, "rows": rows, **said}


def _row(row: Row | GroupRow) -> Content:
    return {**_kept(when=plain(row.when)), "p": _cells(row.p)}


def _question(question: Question) -> Content:
    return {
        **_kept(target=question.target, expect=question.expect),
        **_kept(given=_number(plain(dict(question.given))), story=question.story),
    }


def _cells(p: Any) -> Any:
    return _number(plain(p))


def _number(value: Any) -> Any:
    """Whole floats as integers, at any depth."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE:
        return int(value)
    if isinstance(value, list | tuple):
        return [_number(item) for item in value]
    if isinstance(value, dict):
        return {key: _number(item) for key, item in value.items()}
    return value


# -- identity: what tells two attacks apart that cannot both be written down ---------------------


def identity(value: Any) -> Any:
    """A CPD (or a part of one) as plain content, with functions by place and code."""
    if isinstance(value, Function):
        return {"kind": value.kind, "name": value.name, "code": code_of(value.callable)}
    if is_dataclass(value) and not isinstance(value, type):
        kind = {"kind": value.kind} if isinstance(value, CPD) else {}
        return kind | {f.name: identity(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, list | tuple):
        return [identity(item) for item in value]
    if isinstance(value, dict):
        return {key: identity(item) for key, item in value.items()}
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def code_of(function: Any) -> list[str]:
    """Where a function is defined and what it does: its compiled code, defaults and closure."""
    place = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', '')}"
    code = getattr(function, "__code__", None)
    if code is None:
        return [place]
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [place, *_code(code), repr(function.__defaults__), repr(cells)]


def _code(code: Any) -> list[str]:
    constants = [c for c in code.co_consts if not hasattr(c, "co_code")]
    nested = [text for c in code.co_consts if hasattr(c, "co_code") for text in _code(c)]
    return [code.co_code.hex(), repr(code.co_names), repr(constants), *nested]
