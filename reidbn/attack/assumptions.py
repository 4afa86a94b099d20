"""Which assumptions an answer stands on: those upstream of what is asked, given or done."""

from __future__ import annotations

from collections.abc import Iterable

from reidbn.attack.attack import Attack
from reidbn.attack.parameter import ASSUMPTION


def assumptions_behind(
    attack: Attack, nodes: Iterable[str], done: Iterable[str] = ()
) -> tuple[str, ...]:
    """Names of assumed parameters, groups and nodes that can move an answer about these nodes.

    What lies upstream of an intervention no longer matters.

    >>> from reidbn.attack.modelfile import load
    >>> assumptions_behind(load("breakfast"), ["overheard"])
    ('p_breakfast', 'p_overheard')
    """
    upstream = _upstream(attack, nodes, {*done})
    used: set[str] = set()
    for name in upstream:
        node = attack.all_nodes[name]
        group = attack.group_of(name)
        owner = group or node
        if owner.source.strip().lower().startswith(ASSUMPTION):
            used.add(owner.name)
        used |= {ref.lstrip("$") for ref in node.cpd.references()} | {*node.structural}
    return tuple(name for name in attack.assumptions if name in used)


def _upstream(attack: Attack, nodes: Iterable[str], done: set[str]) -> set[str]:
    found: set[str] = set()
    todo = list(nodes)
    while todo:
        name = todo.pop()
        if name not in found and name not in done:
            found.add(name)
            todo += attack.parent_nodes(attack.all_nodes[name])
    return found
