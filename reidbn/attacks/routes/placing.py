"""An attack's questions when a scenario has put other members into its group.

A question may name members of the group: `given: {knows_age: yes}`.  A scenario brings its own
members, and joins those that are known to everybody for sure.  So each question is translated

    a member that is still there                          as it stands
    a member that is now part of `knows_for_sure`         that one, in the same state
    all members of the model's group in one state         all members of the scenario in that state

and where that is not possible it is left out, with a note that names it.

The group of an attack filled with what is known of the people of a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.assumptions import ASSUMPTION
from reidbn.attack.attack import Attack
from reidbn.attack.columns import KNOWS
from reidbn.attack.parts import (
    Given,
    Group,
    GroupRow,
    Node,
    Parameter,
    Question,
    SubjectColumn,
    parse_states,
)
from reidbn.attack.scenario import ByPerson, InBands, Known, Knows, Listed, Profile, Scenario
from reidbn.attack.scenariofile import load_scenario
from reidbn.attacks.routes.inputs import Inputs
from reidbn.attacks.routes.subject_data import RECORDS, providers
from reidbn.cpds.match import Probability
from reidbn.cpds.rows import Row, Rows
from reidbn.differing import IN_A_CALL
from reidbn.errors import UsageError, did_you_mean
from reidbn.inference.query import default_question
from reidbn.microdata.knowledge import Knowledge, is_scenario, knowledge
from reidbn.microdata.placing import Groups, Placed, refuse_unnamed
from reidbn.microdata.table import People
from reidbn.written import agree

States = Mapping[str, Given]


class NamedOtherwise(UsageError):
    """An attack that names what is known cannot be asked about who knows otherwise."""


class _LeftOut(Exception):
    """Why a question cannot be asked."""


def translated(
    attack: Attack, members: Iterable[str], joined: Mapping[str, str], group: Group
) -> tuple[list[Question], list[str]]:
    """The attack's questions for a group with these members, and notes on what was changed.

    `joined` says which member now stands for one that was joined with others.
    """
    new = tuple(members)
    kept, notes = [], []
    for question in attack.questions.values():
        if question.expect or not question.is_plain:  # kept as it is, or not at all
            gone = sorted(question.names & {*group.members} - {*new})
            if gone:
                notes.append(f"question {question.name} is left out: the scenario has no {gone[0]}")
            else:
                kept.append(question)
            continue
        try:
            target = _states(parse_states(question.target), new, joined, group)
            given = _states(question.given, new, joined, group)
        except _LeftOut as why:
            notes.append(f"question {question.name} is left out: {why}")
            continue
        if (target, given) == (parse_states(question.target), dict(question.given)):
            kept.append(question)
            continue
        written = ", ".join(f"{node}={state}" for node, state in target.items())
        kept.append(replace(question, target=written, given=given))
        if _names_all(question.given, group, new) or _names_all(
            parse_states(question.target), group, new
        ):
            notes.append(
                f"question {question.name} names every group of the model; here it is about "
                f"everything that the scenario may know"
            )
    return kept, notes


def _states(
    states: States, new: tuple[str, ...], joined: Mapping[str, str], group: Group
) -> dict[str, Given]:
    """The states of a question by the members that are there now."""
    if _names_all(states, group, new):
        state = states[group.members[0]]
        others = {node: s for node, s in states.items() if node not in group.members}
        return {**others, **dict.fromkeys(new, state)}
    found: dict[str, Given] = {}
    for node, state in states.items():
        name = node
        if node in group.members and node not in new:
            if node not in joined:
                raise _LeftOut(f"the scenario has no {node}")
            name = joined[node]
        if found.setdefault(name, state) != state:
            raise _LeftOut(f"{node} is learnt together with others, which it holds in other states")
    return found


def _names_all(states: States, group: Group, new: tuple[str, ...]) -> bool:
    """Whether all members of the model's group are named, in one state, and some are gone."""
    gone = any(m not in new for m in group.members)
    return gone and len({states.get(m) for m in group.members} - {None}) == 1 and all(
        m in states for m in group.members
    )  # fmt: skip


def refuse_other_risk(before: Attack, after: Attack, notes: Iterable[str]) -> None:
    """Raise where the question that the risk is cannot be asked any more: another took its name."""
    asked = default_question(before)
    if asked in after.questions:
        return
    start = f"question {asked} is left out: "
    why = next((note.removeprefix(start) for note in notes if note.startswith(start)), "")
    others = [name for name in after.questions if name in before.questions]
    ask = f"; or ask about {others[0]} by calling that question risk" if others else ""
    raise NamedOtherwise(
        f"{before.name}: the risk is question {asked}, which cannot be asked here: {why}. Let what "
        f"is known name each of its attributes by itself{ask}"
    )


def counted_as_one(attack: Attack, group: Group, groups: Groups, given: Iterable[str]) -> list[str]:
    """Notes on what holds several columns and is one where the attack counts what is known.

    Refused where the risk is about that count and the model has the columns apart: fewer would be
    known than it means.  `given` are names in the evidence that the risk is given.
    """
    of_risk = {*given, *attack.questions[default_question(attack)].names}
    notes = []
    for one in groups.placed:
        own = [c for c in one.columns if {c, f"{KNOWS}{c}"} & {*group.members}]
        if len(own) > 1 and group.name in of_risk:
            raise NamedOtherwise(
                f"{attack.name}: the risk is about how many of {group.name} are known, and "
                f"{one.label} would count as one, though the model counts {' and '.join(own)} "
                f"apart: let each be known by itself, such as {'=0.5,'.join(own)}=0.5"
            )
        if len(one.columns) > 1:
            notes.append(
                f"{one.label} ({', '.join(one.columns)}) counts as one where it is counted how "
                f"many of {group.name} are known"
            )
    return notes


def own_node_stands(attack: Attack, scenario: Scenario) -> list[str]:
    """A remark where a model takes a node from a scenario, and the scenario's list brings none."""
    parent = scenario.knows.parent if scenario.knows is not None else None
    if not isinstance(parent, Listed) or parent.shared or parent.node not in attack.takes:
        return []
    return [
        f"the list of {scenario.name} is one for each attribute apart, so it brings no "
        f"{parent.node}: the model's own stands, with its own chance for everybody"
    ]


def refuse_dependants(attack: Attack, group: Group, new: Iterable[str]) -> None:
    """Nodes that hang on one member alone cannot be kept when that member goes."""
    gone = {*group.members} - {*new}
    hanging = {n.name: sorted(gone & {*n.parents}) for n in attack.nodes.values()}
    for node, parents in hanging.items():
        if parents:
            here = parents[0]
            plain = here.removeprefix(KNOWS)
            remedy = f'let the scenario name a group "{plain}"'
            if plain == here:
                remedy = f'call that member {KNOWS}{here} in the model, as a scenario that names "'
                remedy += f'{here}" does'
            raise NamedOtherwise(
                f'{attack.name}: node "{node}" depends on "{here}" alone, which the scenario does '
                f'not have; {remedy}, or let "{node}" depend on the whole group "{group.name}"'
            )


# -- the group of an attack filled with what is known of the people of a ta ------------------------


Array = NDArray[np.float64]


SAID = f"{ASSUMPTION}: said in the call"
TITLE = "What the caller says is known"
SURE = "worst case: known for sure"
WITH_GROUP = "an attack with a group, such as adversary-routes"
NO_GROUP = (
    "the attack has no group of attributes: it is about somebody who knows every quasi-identifier, "
    "and what each of them adds is not told"
)


def scenario_of(people: People, known: Any) -> Scenario:
    """`known=` as the scenario of an assessment; groups of which no chance is said are known."""
    if not isinstance(known, Knowledge) and is_scenario(known, people):
        return load_scenario(known)
    what = knowledge(people, known)
    for name, columns in (*zip(what.names, what.columns, strict=True), *what.never):
        for column in columns:
            if column not in people.quasi_identifiers:
                hint = did_you_mean(column, people.quasi_identifiers)
                raise UsageError(
                    f'known["{name}"]: {column} is no quasi-identifier, and an attack is about '
                    f"those; {hint} (where the attacker may know it, read the table with it among "
                    "them)"
                )
    return Scenario(IN_A_CALL, title=TITLE, knows=_of_knowledge(what, people))


def _of_knowledge(what: Knowledge, people: People) -> Knows:
    """What was read already, said again as a scenario says it."""
    parent: Listed | Profile | None = None
    kinds = [f"kind {i + 1}" for i in range(0 if what.kinds is None else what.kinds.size)]
    if what.kinds is not None:
        parent = Profile("attacker", dict(zip(kinds, what.kinds.tolist(), strict=True)), SAID)
    elif what.listed is not None:
        parent = Listed(chance=(_factor(what.listed, people),), shared=True, source=SAID)
    said = SAID if what.stated else SURE
    what = what if what.stated else what.sure()
    found = []
    for j, (name, columns) in enumerate(zip(what.names, what.columns, strict=True)):
        source = what.sources[j] if what.sources else said
        banded = [InBands(c, what.bands[c]) for c in columns if c in what.bands]
        item = Known(name, columns, source=source, in_bands=banded[0] if banded else None)
        p = what.probabilities[..., j]
        if kinds:
            item = replace(item, by_profile=dict(zip(kinds, p.tolist(), strict=True)))
        else:
            item = replace(item, chance=(_factor(p, people),))
        found.append(item)
    found += [
        Known(name, columns, (0.0,), dict.fromkeys(kinds, 0.0), said)
        for name, columns in what.never
    ]
    return Knows(tuple(found), parent)


def _factor(chance: Array, people: People) -> float | ByPerson:
    if chance.size == 1 or (chance == chance[0]).all():  # one number: what-if can move it
        return float(chance.reshape(-1)[0])
    return ByPerson(chance, people)


def attach(
    attack: Attack, groups: Groups, old: Group | None, people: People
) -> tuple[Attack, dict[str, Array], list[str]]:
    """The attack whose group `old` holds these members, the subject data they need, and notes.

    Without a group it stays as it is, and everything must be known.  A probability that is the same
    for everybody becomes a parameter "p_<member>", so that what-if questions can move it; one that
    differs is a subject column.
    """
    if old is None:
        _refuse_less(attack, groups, people)
        return attack.replace(example={}), {}, [NO_GROUP]
    name, members = old.name, tuple(p.member for p in groups.placed)
    refuse_dependants(attack, old, members)
    questions, notes = translated(attack, members, groups.joined, old)
    subject: dict[str, Array] = {}
    parameters: list[Parameter] = []
    columns: list[SubjectColumn] = []
    nodes: list[Node] = []
    if isinstance(groups.parent, Profile):
        rows = _profile_rows(groups, groups.parent)
        whose = Rows((Row(tuple(map(float, groups.parent.weights.values()))),))
        nodes.append(
            Node(groups.parent.node, tuple(groups.parent.weights), whose, (), "Who is attacking",
                 groups.parent.source)
        )  # fmt: skip
    else:
        cells = tuple(_cell(p, j, groups, subject, parameters) for j, p in enumerate(groups.placed))
        rows = (GroupRow(cells),)
        if subject:
            columns.append(SubjectColumn("p_known", each=name, unit="probability", low=0, high=1))
    if isinstance(groups.parent, Listed) and groups.parent_p is not None:
        nodes.append(_listed_node(groups.parent, groups.parent_p, subject, parameters, columns))
        node = groups.parent.node
        rows = (replace(rows[0], when={node: "yes"}), GroupRow(0.0))
    parents = tuple(n.name for n in nodes)
    source = "; ".join(dict.fromkeys(p.source for p in groups.placed))
    new = Group(name, members, rows, parents, old.story, source)
    used = {c.name for c in attack.subject.values()} & {c.name for c in columns}
    return (
        attack.replace(
            groups=attack.groups.replace(new),
            parameters=[*_still_used(attack, name), *parameters],
            subject=[*(c for c in attack.subject.values() if c.name not in used), *columns],
            nodes=attack.taking(nodes, "what is known", free=False),
            questions=questions,
            example={},
        ),
        subject,
        notes,
    )


def group_to_fill(attack: Attack, group: str | None) -> Group | None:
    """The attack's group that a scenario fills: the one it names, or the only one.

    None where the attack has columns alone, which then are those of who knows everything.  Where no
    column has a say in its answer, nothing of the table would, and a verdict would be about nobody.
    """
    if (attack.groups or attack.subject) and not _reads_a_table(attack):
        why = _one_answer(attack)
        how = "a column such as class_size, the records alike on what is known"
        raise UsageError(
            f"{why}: ask it with rb.ask, give it {how}, or assess {WITH_GROUP}",
            in_shell=f"{why}: ask it with reidbn ask {attack.name}, give it {how}, or assess "
            f"{WITH_GROUP}",
        )
    if not attack.groups and attack.subject and group is None:
        return None
    if not attack.groups and attack.subject:
        raise UsageError(
            f'{attack.name} has no group "{group}"; leave group out of what the scenario knows'
        )
    if not attack.groups:
        why = _one_answer(attack)
        raise UsageError(
            f"{why}: ask it with rb.ask, or assess {WITH_GROUP}",
            in_shell=f"{why}: ask it with reidbn ask {attack.name}, or assess {WITH_GROUP}",
        )
    if group is not None:
        if group not in attack.groups:
            hint = did_you_mean(group, attack.groups)
            raise UsageError(f'{attack.name} has no group "{group}" for the scenario; {hint}')
        return attack.groups[group]
    if len(attack.groups) != 1:
        raise NamedOtherwise(
            f"{attack.name} has the groups {', '.join(attack.groups)}; say in the scenario which "
            f"one it fills: knows: {{group: {next(iter(attack.groups))}}}"
        )
    return next(iter(attack.groups.values()))


def _reads_a_table(attack: Attack) -> bool:
    """Whether a column other than the table's size has a say in the main question."""
    main = attack.main_question
    if main is None or not attack.subject:
        return bool(attack.subject)
    asked = [m for n in main.names for m in getattr(attack.groups.get(n), "members", (n,))]
    behind = attack.upstream(n for n in asked if n in attack.all_nodes)
    read = {ref for n in behind for ref in attack.behind(attack.all_nodes[n].cpd)}
    read |= {*attack.behind_utilities} if behind & {*attack.decisions} else set()
    return any(ref.startswith("@") and ref != f"@{RECORDS}" for ref in read)


def _one_answer(attack: Attack) -> str:
    """Why a table has nothing to say in an attack."""
    main = attack.main_question
    where = f" behind its question {main.name}" if main and attack.subject else ""
    lacks = f"no column{where} that a table could fill, so whoever is alike there changes nothing"
    if not attack.groups and not attack.subject:
        lacks = (
            "no group of attributes that a scenario could fill and no column that a table could, "
            "so it has one answer for everybody"
        )
    said = f"{attack.name} has {lacks}"
    names = [name for name in providers() if name in attack.parameters]
    if not names:
        return said
    listed = " and ".join(names)
    parameters = agree(len(names), "is a parameter", "are parameters")
    return f"{said} ({listed} {parameters} there, and no column that a table fills)"


def _refuse_less(attack: Attack, groups: Groups, people: People) -> None:
    """Raise where an attack without a group is asked about who may not know everything."""
    sure = {c for p in groups.placed if (p.p == 1).all() for c in p.columns}
    less = [c for c in people.quasi_identifiers if c not in sure or c in groups.bands]
    if not less and (groups.parent_p is None or (groups.parent_p == 1).all()):
        return
    what = f"may not know {', '.join(less)} (or only in bands)" if less else "may know nothing"
    raise UsageError(
        f"{attack.name} has no group of attributes that a scenario could fill, so it is about "
        f"somebody who knows every quasi-identifier, and in this scenario the attacker {what}: "
        f"leave what nobody knows out of the table's quasi-identifiers (quasi_identifiers=[...]), "
        f"ask for the worst case, or assess {WITH_GROUP}"
    )


def refuse_silence(
    attack: Attack,
    groups: Groups,
    filled: Group | None,
    people: People,
    scenario: Scenario,
    *,
    without: Sequence[str],
    unknown: Sequence[str],
) -> tuple[str, ...]:
    """Refuse columns of which nothing is said; notes on those that are said to be unknown."""
    if filled is None:
        _refuse_less(attack, groups, people)
    return refuse_unnamed(people, scenario, groups, without=without, unknown=unknown)


def _still_used(attack: Attack, group: str) -> list[Parameter]:
    """Parameters but those that only the replaced group used."""
    used = {r for n in attack.nodes.values() for r in attack.behind(n.cpd)}
    used |= {f"${name}" for name in attack.structural} | {*attack.behind_utilities}
    used |= {r for name in attack.numbers for r in attack.derived.behind(name)}
    used |= {f"${name}" for condition in attack.conditions for name in condition.names}
    for other in attack.groups.values():
        if other.name != group:
            used |= {r for n in other.member_nodes() for r in attack.behind(n.cpd)}
    return [p for p in attack.parameters.values() if f"${p.name}" in used]


def _cell(
    placed: Placed,
    j: int,
    groups: Groups,
    subject: dict[str, Array],
    parameters: list[Parameter],
) -> float | str:
    """A member's cell: a sure number, a parameter, or the subject column of all members."""
    if len(placed.p) == 1:
        value = float(placed.p[0])
        if value in (0.0, 1.0):
            return value
        name = f"p_{placed.member}"
        story = f"The attacker knows {placed.label}"
        parameters.append(Parameter(name, value, 0.0, 1.0, source=placed.source, story=story))
        return f"${name}"
    people = len(placed.p)
    table = subject.setdefault("p_known", np.zeros((people, len(groups.placed))))
    table[:, j] = placed.p
    return "@p_known"


def _listed_node(
    parent: Listed,
    p: Array,
    subject: dict[str, Array],
    parameters: list[Parameter],
    columns: list[SubjectColumn],
) -> Node:
    story = "The person is on the list, or has the account"
    if len(p) == 1:
        name = f"p_{parent.node}"
        parameters.append(Parameter(name, float(p[0]), 0.0, 1.0, source=parent.source, story=story))
        return Node(parent.node, ("no", "yes"), Probability(f"${name}"), (), story, parent.source)
    column = f"p_{parent.node}"
    subject[column] = p
    columns.append(SubjectColumn(column, unit="probability", low=0, high=1, story=story))
    return Node(parent.node, ("no", "yes"), Probability(f"@{column}"), (), story, parent.source)


def _profile_rows(groups: Groups, profile: Profile) -> tuple[GroupRow, ...]:
    return tuple(
        GroupRow(tuple(float(p.p[i, 0]) for p in groups.placed), {profile.node: state})
        for i, state in enumerate(profile.weights)
    )


def without_say(inputs: Inputs, attack: Attack) -> tuple[Inputs, list[str]]:
    """The inputs without what was set of stories that the scenario put aside; and a word of it."""
    gone = [n for n in inputs.set if n in inputs.attack.settable and n not in attack.settable]
    if not gone:
        return inputs, []

    def left(of: Mapping[str, float]) -> dict[str, float]:
        return {name: value for name, value in of.items() if name not in gone}

    told = (
        f"{', '.join(gone)} was set and has no say here: the scenario {inputs.scenario.name} says "
        "what is known in place of the stories that read it"
    )
    return replace(inputs, set=left(inputs.set), said=left(inputs.said)), [told]
