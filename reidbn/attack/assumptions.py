"""What an assumption is, and which ones an answer stands on: those upstream of the question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from reidbn.attack.leaves import holds_numbers

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack

ASSUMPTION, DERIVED = "assumption", "derived: "
_ASSUMED = re.compile(
    r"\b(assum(ption|ptions|ed|es)|guess(ed)?(?! among)|middle setting|placeholder)\b",
    re.IGNORECASE,
)


def is_assumption(source: str) -> bool:
    """Whether a number with this source rests on somebody's choice, in whole or in part.

    The middle setting of a published grid is a choice: nobody measured it.

    >>> [is_assumption(s) for s in ("assumption: a guess", "[Xia21] Table 4, middle setting")]
    [True, True]
    >>> is_assumption("statutes; assumed for 4 of 51 states"), is_assumption("breach notice, p. 2")
    (True, False)
    """
    said = source.partition("; ")[2] if source.startswith(DERIVED) else source  # no formula's names
    return bool(_ASSUMED.search(said))


def sources_of_tables(attack: Attack) -> Iterator[tuple[str, str, str]]:
    """Name, what it is and source of every group, member, node and utility that says a source.

    Told are those that hold a number, and those without one that are assumed: a rule that somebody
    chose is an assumption, too.  With parameters and derived numbers they are what is counted.
    """
    for group in attack.groups.values():
        said = [(n, n.source or group.source) for n in group.own]
        own = [(n.name, "its table", source) for n, source in said
               if source and (holds_numbers(n.cpd) or is_assumption(n.source))]  # fmt: skip
        yield from own
        if group.source and (
            holds_numbers(group.rows) or (not own and is_assumption(group.source))
        ):
            yield group.name, "its probabilities", group.source
    for node in attack.nodes.values():
        if node.source and (holds_numbers(node.cpd) or is_assumption(node.source)):
            what = "what it may be" if node.name in attack.decisions else "its table"
            yield node.name, what, node.source
    for utility in attack.utilities.values():
        if utility.source and (holds_numbers(utility.payoffs) or is_assumption(utility.source)):
            yield utility.name, f"in {utility.unit}", utility.source


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
        if is_assumption(node.source or (group.source if group else "")):
            used |= {node.name, (group or node).name}
        used |= {ref.lstrip("$") for ref in attack.behind(node.cpd)} | {*node.structural}
    if any(name in attack.decisions and name not in {*done} for name in used_nodes):
        used |= {*attack.utilities} | {ref.lstrip("$") for ref in attack.behind_utilities}
    return frozenset(used)
