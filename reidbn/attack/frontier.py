"""Where the people of a table meet an attack: what a table says reaches the rest through here."""

from __future__ import annotations

from dataclasses import dataclass

from reidbn.attack.attack import Attack
from reidbn.attack.parts import parse_states


@dataclass(frozen=True)
class Frontier:
    """The nodes whose chances differ from person to person, and those that the rest sees of them.

    Given the states of `faces` a person's table says nothing more about any node outside.
    """

    inside: tuple[str, ...]
    """Nodes that read what a table says, groups of these, and all that lead to them."""
    faces: tuple[str, ...]
    """Those of them that nodes outside depend on, or that a question asks about."""
    parameters: tuple[str, ...]
    """Parameters behind what is inside: moving one moves everybody's chances there."""
    columns: tuple[str, ...]
    """The subject columns that are read."""


def frontier(attack: Attack) -> Frontier:
    """Where the people of a table meet the attack; empty where a table says nothing to it.

    >>> from reidbn.attack.modelfile import load
    >>> load("adversary-routes").frontier().faces
    ('unique_in_table', 'unique_in_population', 'right_guess')
    """
    columns = {n: _columns(attack, n) for n in attack.all_nodes}
    readers = {n for n, read in columns.items() if read}
    for name in tuple(readers):  # what a group's classes say holds of the group
        node = attack.all_nodes[name]
        for group in attack.groups.values():
            if group.name in node.parents or name in group.members:
                readers |= {*group.members}
    inside = attack.above(readers)
    asked = {
        name
        for question in attack.questions.values()
        if question.is_plain and not question.expect
        for name in (*parse_states(question.target), *question.given)
    }
    seen = {p for n in attack.all_nodes.values() if n.name not in inside
            for p in attack.parent_nodes(n)}  # fmt: skip
    seen |= asked | {n for u in attack.utilities.values() for n in u.of}
    ordered = [n for n in attack.all_nodes if n in inside]
    held = [attack.all_nodes[n] for n in ordered]
    behind = {r[1:] for n in held for r in attack.behind(n.cpd) if r.startswith("$")}
    behind |= {p for n in held for p in n.structural}
    declared = [*attack.nodes, *attack.all_nodes]
    return Frontier(
        tuple(ordered),
        tuple(dict.fromkeys(n for n in declared if n in inside and n in seen)),
        tuple(p for p in attack.parameters if p in behind),
        tuple(c for c in attack.subject if any(c in read for read in columns.values())),
    )


def _columns(attack: Attack, name: str) -> set[str]:
    refs = attack.behind(attack.all_nodes[name].cpd)
    return {ref[1:] for ref in refs if ref.startswith("@")}
