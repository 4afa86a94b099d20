"""An attack's questions when a scenario has put other members into its group.

A question may name members of the group: `given: {knows_age: yes}`.  A scenario brings its own
members, and joins those that are known to everybody for sure.  So each question is translated

    a member that is still there                          as it stands
    a member that is now part of `knows_for_sure`         that one, in the same state
    all members of the model's group in one state         all members of the scenario in that state

and where that is not possible it is left out, with a note that names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from reidbn.attack.attack import Attack
from reidbn.attack.parts import Given, Group, Question, parse_states
from reidbn.errors import UsageError

States = Mapping[str, Given]


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


def refuse_dependants(attack: Attack, group: Group, new: Iterable[str]) -> None:
    """Nodes that hang on one member alone cannot be kept when that member goes."""
    gone = {*group.members} - {*new}
    hanging = {n.name: sorted(gone & {*n.parents}) for n in attack.nodes.values()}
    for node, parents in hanging.items():
        if parents:
            here = parents[0]
            raise UsageError(
                f'{attack.name}: node "{node}" depends on "{here}" alone, which the scenario does '
                f'not have; let the scenario name a group "{here.removeprefix("knows_")}", or let '
                f'"{node}" depend on the whole group "{group.name}"'
            )
