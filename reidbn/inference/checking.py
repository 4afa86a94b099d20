"""check: everything that is wrong with a model, and what is odd about it, without asking it.

Beside the checks of an attack's birth, every table is built: at the values of the parameters, at
each end of each range, and where several parameters share tables at all low ends, all high ends
and CORNERS seeded corners of their ranges (all 2^n would be too many).  A table that cannot be
built at the parameters' own values is an error, and so is one that is written for one number of
states and has to follow a parameter that changes it; a range that reaches where no table is, is a
warning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attack.build import at_file_addresses
from reidbn.attack.columns import column_shape
from reidbn.attack.explain import FileProblem, in_file
from reidbn.attack.limits import conditions_hold
from reidbn.attack.modelfile import Kinds, find, parsed, read_text, short
from reidbn.attack.parts import PROBABILITY, Node, SubjectColumn
from reidbn.attack.scenariofile import load_scenario, scenarios
from reidbn.attack.units import PERCENT
from reidbn.calls import typed
from reidbn.errors import (
    WARNING,
    ModelError,
    Problem,
    ReidbnError,
    TooLarge,
    UsageError,
)
from reidbn.inference.answers import joint
from reidbn.inference.cut import MOST, can_cut, cut_off, in_words
from reidbn.inference.lowering import Lowering, cells
from reidbn.inference.network import Array
from reidbn.inference.query import Query, asked_by, read_query
from reidbn.inference.tensors import rows_of
from reidbn.inference.values import subject_values

CORNERS = 32
MOST_CELLS = 1 << 20  # of a table that is built to be looked at
SEED = 20250101
Values = dict[str, float]


@typed
def check(what: Attack | str | os.PathLike[str], kinds: Kinds | None = None) -> tuple[Problem, ...]:
    """All problems and warnings of an attack, a model file, a scenario file or a shipped name.

    Nothing is raised for what is found: errors have `level` "error" and would stop `rb.load`,
    warnings have `level` "warning".

    `kinds` are conditional tables of your own, by name.

    >>> check("leak-single")
    ()
    """
    if isinstance(what, Attack):
        return (*what.warnings, *table_problems(what))
    if not isinstance(what, str | os.PathLike):
        raise UsageError(f"a {type(what).__name__} cannot be checked: give an attack or a file")
    try:
        if is_scenario(what):
            load_scenario(what)
            return ()
        path = find(what)
        label = short(path)
        attack, document = parsed(read_text(path), kinds, label=label, via=(path,))
    except ModelError as error:
        return error.problems or (FileProblem((), str(error), file=os.fspath(what)),)
    found = at_file_addresses([*attack.warnings, *table_problems(attack)], document)
    return tuple(in_file(document, label, found))


def is_scenario(name: str | os.PathLike[str]) -> bool:
    """A shipped scenario, or a file that says so of itself."""
    path = Path(name)
    if name in scenarios() or not path.is_file():
        return name in scenarios()
    return re.search(r"^kind: *scenario *$", read_text(path), re.MULTILINE) is not None


def table_problems(attack: Attack) -> list[Problem]:
    """What is wrong with the tables of a valid attack, at its values and over its ranges."""
    subject = _subject(attack)
    found: dict[str, Problem] = {}  # one per node: the first
    for values, nodes in _settings(attack):
        changed = {n: v for n, v in values.items() if v != attack.parameters[n].value}
        try:
            lowering = Lowering(attack, values, validate=False, nodes=set(nodes))
        except TooLarge:
            continue  # said when it is asked, with a remedy
        lowering.validate = True  # of every table, and not of settings
        for name in nodes:
            if name not in found:
                problem = _table_problem(attack, lowering, attack.all_nodes[name], subject, changed)
                if problem is not None:
                    found[name] = problem
    found |= {name: p for name, p in _of_columns(attack, subject) if name not in found}
    others = (*_cut_problems(attack, subject), *_unanswered(attack))
    return list(dict.fromkeys([*found.values(), *others]))


def _of_columns(attack: Attack, subject: Mapping[str, Array]) -> Iterator[tuple[str, Problem]]:
    """Tables at the ends of what a column may hold, the others as they are."""
    settings = list(_settings(attack)) if attack.subject else []
    for column in attack.subject.values():
        ends = [] if column.over else [e for e in (column.low, column.high) if e is not None]
        users = [n for n in attack.all_nodes.values() if f"@{column.name}" in attack.behind(n.cpd)]
        for node, end in product(users, ends):
            changed, problem = {f"@{column.name}": float(end)}, None
            tried = (v for v, nodes in settings if node.name in nodes)
            for values, others in product(tried, (subject, *_all_ends(attack, subject))):
                at = {**others, column.name: np.full_like(others[column.name], float(end))}
                try:
                    lowering = Lowering(attack, values, validate=False, nodes={node.name})
                except TooLarge:
                    continue  # said when it is asked, with a remedy
                lowering.validate = True
                found = _table_problem(attack, lowering, node, at, changed)
                if found is None:  # it goes together with other values than those that are told
                    break
                problem = problem or found
            else:
                if problem is not None:
                    yield node.name, problem


def _all_ends(attack: Attack, subject: Mapping[str, Array]) -> Iterator[Mapping[str, Array]]:
    """Every column at the low end of its range, and every one at the high end."""
    for which in ("low", "high"):
        ends = ((c.name, getattr(c, which)) for c in attack.subject.values() if not c.over)
        known = {name: end for name, end in ends if end is not None}
        yield {
            name: np.full_like(own, float(known[name])) if name in known else own
            for name, own in subject.items()
        }


def _unanswered(attack: Attack) -> Iterator[Problem]:
    """Questions that are refused when they are asked, such as of what can never be."""
    for name, question in attack.questions.items():
        said = "is refused when it is asked"
        try:
            if never := _never(*read_query(attack, asked_by(question), question.given)):
                yield Problem(("questions", name), f"{said}: {never}", level=WARNING)
        except TooLarge:
            continue  # said when it is asked, with a remedy
        except ReidbnError as why:
            yield Problem(("questions", name), f"{said}: {why}", level=WARNING)


def _never(attack: Attack, query: Query) -> str:
    """Of evidence that cannot be at the values of the parameters, that it has no chance."""
    if not query.given or attack.decisions or (attack.subject and not attack.example):
        return ""
    seen = Query((), {}, query.given, query.do)
    chance = joint(attack, seen, {}, subject_values(attack, None), validate=False, alone=True)
    if chance.any():
        return ""
    return f"the evidence {', '.join(query.known)} has probability 0"


def _cut_problems(attack: Attack, subject: Mapping[str, Array]) -> Iterator[Problem]:
    """What does not fit into states: where most is cut off, within the ranges."""
    worst: dict[str, tuple[float, str]] = {}
    own: dict[str, float] = {}
    for values, nodes in _settings(attack) if can_cut(attack, attack.all_nodes) else ():
        at = " at " + ", ".join(f"{n}={v:.12g}" for n, v in values.items()) if values else ""
        for name in attack.all_nodes:
            if {*nodes} & attack.upstream([name]):
                cut = cut_off(attack, [name], Query((name,), {}, {}, {}), values, subject, _alone)
                share = cut[name].share if name in cut else 0.0
                if not at:
                    own[name] = share
                if share > worst.get(name, (MOST, ""))[0]:
                    worst[name] = share, at
    for name, (share, at) in worst.items():
        message = in_words(attack, {name: share}, at)[0].removeprefix(f"{name}: ")
        if at and own.get(name, 0.0) > MOST:
            message += f" ({own[name]:.2g} at the values of the parameters)"
        remedy = "let the states run further" + (", or narrow a range" if at else "")
        where = (*_address(attack, attack.all_nodes[name])[:2], "states")
        yield Problem(where, f"{message}; {remedy}", level=WARNING)


def _alone(
    attack: Attack, query: Query, settings: Mapping[str, Any], subject: Mapping[str, Array]
) -> Array:
    return joint(attack, query, settings, subject, validate=False, alone=True)


# -- where to look --------------------------------------------------------------------------------


def _settings(attack: Attack) -> Iterator[tuple[Values, list[str]]]:
    """Settings within the conditions, each with the nodes whose tables it changes."""
    own = {name: float(p.value) for name, p in attack.parameters.items()}
    users = {name: _users(attack, name) for name in attack.parameters}
    yield {}, list(attack.all_nodes)
    wide = {n: p.range for n, p in attack.parameters.items() if p.range[0] < p.range[1]}
    for name, ends in wide.items():
        for end in ends:
            if end != own[name] and _holds(attack, {**own, name: end}):
                yield {name: end}, users[name]
    shared = [node for node in attack.all_nodes if sum(node in users[n] for n in wide) > 1]
    names = [n for n in wide if any(node in users[n] for node in shared)]
    for corner in _corners(len(names)) if names else ():
        values = {n: wide[n][high] for n, high in zip(names, corner, strict=True)}
        if _holds(attack, own | values):
            yield values, shared


def _corners(count: int) -> Iterable[tuple[int, ...]]:
    """All low, all high, and some of the others (all of them when they are few)."""
    first = [(0,) * count, (1,) * count]
    if count <= 5:
        rows = (tuple(i >> j & 1 for j in range(count)) for i in range(1 << count))
    else:
        rng = np.random.default_rng(SEED)
        rows = (tuple(row) for row in rng.integers(0, 2, (CORNERS, count)).tolist())
    return dict.fromkeys([*first, *rows])


def _holds(attack: Attack, values: Mapping[str, Any]) -> bool:
    return bool(conditions_hold(attack, values, 1)[0])


def _users(attack: Attack, parameter: str) -> list[str]:
    """Nodes whose table a parameter can change: by a reference, or by a number of states."""
    sized = {n.name for n in attack.nodes.values() if parameter in n.structural}
    found = []
    for node in attack.all_nodes.values():
        refers = {f"${parameter}", parameter} & {*attack.behind(node.cpd)}
        if refers or sized & {node.name, *node.parents}:
            found.append(node.name)
    return found


def _subject(attack: Attack) -> dict[str, Array]:
    """The example, or two made-up subjects at the ends of what each column may hold."""
    if attack.example or not attack.subject:
        missing = [name for name in attack.subject if name not in attack.example]
        if not missing:
            return subject_values(attack, None)
    return {name: _ends(attack, column) for name, column in attack.subject.items()}


def _ends(attack: Attack, column: SubjectColumn) -> Array:
    usual = 0.5 if column.unit == PROBABILITY else 1.0
    low = usual if column.low is None else column.low
    high = max(low, usual) if column.high is None else column.high
    shape = column_shape(attack, column)
    if column.over:
        return np.full((1, *shape), 1.0 / shape[-1])
    return np.stack([np.full(shape, float(low)), np.full(shape, float(high))])


# -- one table ------------------------------------------------------------------------------------


def _table_problem(
    attack: Attack, lowering: Lowering, node: Node, subject: Mapping[str, Array], changed: Values
) -> Problem | None:
    where = _address(attack, node)
    at = ", ".join(f"{n}={v:.12g}" for n, v in changed.items())
    shape = lowering.shape_problems(node.name)
    if shape:
        first = shape[0]
        remedy = "; narrow the range, or use a kind that follows the number of states"
        message = f"at {at} it {first.message[:1].lower()}{first.message[1:]}{remedy}"
        return replace(first, where=(*where, *first.where), message=message)
    rows = rows_of(subject)
    if rows * max(cells(part) for part in lowering.parts[node.name]) > MOST_CELLS:
        return None
    try:
        lowering.table(node.name, subject)
    except (ReidbnError, ValueError, TypeError, LookupError, ArithmeticError) as problem:
        said = str(problem).removeprefix(f"{node.name}: ").replace(" at this setting", "")
        said += _percent(attack, node)
        if not changed:
            return Problem(where, f"cannot be built at the values of the parameters: {said}")
        message = f"cannot be built at {at}, which the ranges allow: {said}. Narrow a range"
        if len(changed) > 1 or len(attack.parameters) > 1:
            message += ", or say under where: what always holds between two parameters"
        return Problem(where, message, level=WARNING)
    return None


def _address(attack: Attack, node: Node) -> tuple[str | int, ...]:
    group = attack.group_of(node.name)
    return ("groups", group.name) if group else ("nodes", node.name, "cpd")


def _percent(attack: Attack, node: Node) -> str:
    """A hint where a share was written in percent."""
    refs = (r[1:] for r in attack.behind(node.cpd) if r[:1] == "$" and r[1:] in attack.parameters)
    shares = (
        f"; {name} is written in percent: write {attack.parameters[name].value / 100:.12g}, "
        f"its range from 0 to 1, and leave its unit out"
        for name in refs
        if attack.parameters[name].unit.strip().lower() in PERCENT
    )
    return "".join(islice(shares, 1))
