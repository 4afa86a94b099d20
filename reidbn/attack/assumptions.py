"""What an assumption is, and which ones an answer stands on: those upstream of the question."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack

ASSUMPTION = "assumption"
_ASSUMED = re.compile(r"\b(assum(ption|ptions|ed|es)|middle setting|placeholder)\b", re.IGNORECASE)


def is_assumption(source: str) -> bool:
    """Whether a number with this source rests on somebody's choice, in whole or in part.

    The middle setting of a published grid is a choice: nobody measured it.

    >>> [is_assumption(s) for s in ("assumption: a guess", "[Xia21] Table 4, middle setting")]
    [True, True]
    >>> is_assumption("statutes; assumed for 4 of 51 states"), is_assumption("breach notice, p. 2")
    (True, False)
    """
    return bool(_ASSUMED.search(source))


def assumptions_behind(
    attack: Attack, nodes: Iterable[str], done: Iterable[str] = ()
) -> tuple[str, ...]:
    """Names of assumed parameters, groups and nodes that can move an answer about these nodes.

    What lies upstream of an intervention no longer matters.

    >>> from reidbn.attack.modelfile import load
    >>> assumptions_behind(load("breakfast"), ["overheard"])
    ('p_breakfast', 'p_overheard')
    """
    used = behind(attack, nodes, done)
    return tuple(name for name in attack.assumptions if name in used)


def behind(attack: Attack, nodes: Iterable[str], done: Iterable[str] = ()) -> frozenset[str]:
    """Names of all numbers, groups and assumed nodes that can move an answer about these nodes."""
    used: set[str] = set()
    used_nodes = attack.upstream(nodes, cut={*done})
    for name in used_nodes:
        node = attack.all_nodes[name]
        group = attack.group_of(name)
        if is_assumption(node.source):
            used.add((group or node).name)
        used |= {ref.lstrip("$") for ref in attack.behind(node.cpd)} | {*node.structural}
    if any(name in attack.decisions and name not in {*done} for name in used_nodes):
        used |= {*attack.utilities} | {ref.lstrip("$") for ref in attack.behind_utilities}
    return frozenset(used)
