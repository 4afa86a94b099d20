"""An attack whose group tells itself how its members are learnt, for the people of a table.

Each member is a column of the table: `knows_age` or `age` is the column age.  What leads to the
members stays as the model tells it, so that parameters of a source move every attribute it shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.columns import KNOWS
from reidbn.attack.parts import Group
from reidbn.attack.scenario import Known, Knows, Scenario
from reidbn.attacks.routes.assessment import Array, Assessment
from reidbn.attacks.routes.inputs import Inputs
from reidbn.attacks.routes.subject_data import CLASS_SIZE, given_columns, not_given
from reidbn.errors import UsageError
from reidbn.inference import exact
from reidbn.inference.lowering import Lowering
from reidbn.inference.query import default_question
from reidbn.inference.sampling import forward
from reidbn.microdata.placing import Groups
from reidbn.written import agree

AS_TOLD = Scenario("as-told", title="What the model itself tells of how attributes are learnt")


def told_group(attack: Attack) -> Group | None:
    """The group whose members tell how they are learnt; of several, that of the class sizes."""
    found = [group for group in attack.groups.values() if group.own]
    if len(found) > 1 and CLASS_SIZE in attack.subject:
        found = [group for group in found if group.name in attack.subject[CLASS_SIZE].axes]
    return found[0] if len(found) == 1 else None


def as_told(group: Group) -> Knows:
    """The members as attributes of a table; how likely each is known is the model's own matter."""
    known = tuple(
        Known(_label(node.name), (_label(node.name),), (1.0,), source=node.source or "the model")
        for node in group.member_nodes()
    )
    return Knows(known, group=group.name)


def as_spoken(inputs: Inputs) -> Scenario:
    """The scenario; of a silent one what the model tells itself."""
    told = told_group(inputs.attack) if inputs.scenario.knows is None else None
    return inputs.scenario if told is None else replace(inputs.scenario, knows=as_told(told))


def set_aside(filled: Group | None, scenario: Scenario) -> list[str]:
    """A note where a scenario says what is known in place of the model."""
    if filled is None or not filled.own:
        return []
    return [
        f"how the model tells that {filled.name} is learnt is set aside: scenario {scenario.name} "
        f"says what is known"
    ]


def _label(member: str) -> str:
    return member.removeprefix(KNOWS)


def attach_told(
    attack: Attack, groups: Groups, told: Group, inputs: Inputs
) -> tuple[Attack, Groups, list[str]]:
    """The attack with the members that the table has, what is known of them, and notes.

    A member that was left out may still tell others: it is then a node like any other.
    """
    names = {_label(member): member for member in told.members}
    members = tuple(names[placed.label] for placed in groups.placed)
    left = [member for member in told.members if member not in members]
    attack, unasked = _of_those_there(attack, told.name, left, inputs) if left else (attack, [])
    own = tuple(node for node in told.own if node.name in members)
    apart = [node for node in told.member_nodes() if node.name in left]
    attack = attack.replace(
        groups=attack.groups.replace(replace(told, members=members, own=own)),
        nodes=[*attack.nodes.values(), *apart],
        example={},
    )
    chances = _chances(attack, members, inputs)
    placed = tuple(
        replace(one, member=member, p=p)
        for one, member, p in zip(groups.placed, members, chances, strict=True)
    )
    notes = [f"{_label(m)}: may be learnt, and is not matched in the table" for m in left]
    return attack, replace(groups, placed=placed, joined={}), [*notes, *unasked]


def _of_those_there(
    attack: Attack, group: str, left: list[str], inputs: Inputs
) -> tuple[Attack, list[str]]:
    """The attack without questions beside the main one that look at members who were left out."""
    counting = [name for name, q in attack.questions.items() if group in q.names]
    main = default_question(attack)
    reading = [f"column {name}" for name, c in attack.subject.items() if c.each == group]
    reading += [f"node {name}" for name in attack.counting_nodes(group)]
    reading += [f"question {main}"] if main in counting else []
    reading += ["what is given"] if group in inputs.given_names(inputs.scenario) else []
    if reading:
        said = (
            f"{attack.name} looks at all members of {group} ({reading[0]}), so none can be left "
            "out; name the column of each: "
        )
        columns = ", ".join(f'"{_label(m)}": "your_column"' for m in left)
        shell = " ".join(f"--column {_label(m)}=YOUR_COLUMN" for m in left)
        raise UsageError(f"{said}columns={{{columns}}}", in_shell=f"{said}{shell}")
    rest = {name: q for name, q in attack.questions.items() if name not in counting}
    notes = [
        f"question {name} is left out: it looks at all members of {group}, and "
        f"{', '.join(map(_label, left))} {agree(len(left), 'is', 'are')} not there"
        for name in counting
    ]
    return attack.replace(questions=rest), notes


def _chances(attack: Attack, members: tuple[str, ...], inputs: Inputs) -> list[Array]:
    """P(known) of every member: for everybody, or for each where columns of the call lead to it."""
    columns = given_columns(attack, len(inputs.people), inputs.subject)
    found = []
    for member in members:
        read = {ref for n in attack.upstream([member])
                for ref in attack.behind(attack.all_nodes[n].cpd)}  # fmt: skip
        for name in attack.subject:
            if f"@{name}" in read and name not in columns:
                decided = sorted({*attack.decisions} & attack.upstream([member]))
                raise not_given(attack, name) if not decided else _decides(member, decided[0], name)
        lowering = Lowering(attack, inputs.set, nodes=attack.upstream([member]))
        network = lowering.network(columns).do(_done(attack.upstream([member]), inputs))
        found.append(exact.joint(network, [member], {})[:, 0, 1])
    return found


def _decides(member: str, decision: str, column: str) -> UsageError:
    said = (
        f"{member} follows from the decision {decision}, and what is decided there from {column}, "
        f"which people have by what is known of them: an assessment cannot tell the one before the "
        f"other. Give {member} a chance of its own in the model, or name a scenario: "
    )
    return UsageError(f'{said}scenario="worst-case"', in_shell=f"{said}--scenario worst-case")


def _done(nodes: set[str], inputs: Inputs) -> dict[str, str]:
    return {node: state for node, state in inputs.done.items() if node in nodes}


def drawn_as_told(
    result: Assessment, who: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.intp] | None:
    """The subset known in each attempt, every story acted out; None where a scenario says it."""
    attack = result.attack
    group = told_group(attack)
    if group is None:
        return None
    needed = attack.upstream(group.members)
    lowering = Lowering(attack, result.inputs.set, tables=False)
    columns: Mapping[str, Any] = {
        name: np.asarray(result.subject_table.columns[name])
        for name in attack.subject
        if any(f"@{name}" in attack.behind(attack.all_nodes[n].cpd) for n in needed)
    }
    network = lowering.network(columns).do(_done(needed, result.inputs))
    subject = result.subject_table.of_person[who]
    states = forward(network, len(who), rng, subject=subject, wanted=group.members)
    masks = np.zeros(len(who), dtype=np.intp)
    for j, member in enumerate(group.members):
        masks |= np.broadcast_to(states[member], len(who)) << j
    return masks
