"""Attackers who decide: decisions are nodes whose states are options, utilities say what pays.

A decision is a node with the CPD `Decides`; it stands under `decisions:` in a model file, with
`options` for its states and `sees` for its parents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.attack.columns import use_problems
from reidbn.attack.leaves import holds_numbers
from reidbn.attack.units import Units
from reidbn.calls import check_fields
from reidbn.cpds.decides import Decides, Payoffs
from reidbn.cpds.protocol import Ref, Variable, freeze_fields
from reidbn.errors import WARNING, Problem, a_dozen, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from reidbn.attack.attack import Attack
    from reidbn.attack.parts import Node, SubjectColumn

NOT_OF = "is not among the nodes that it is of"
_COSTS = frozenset(("cost", "costs", "effort", "fee", "fine", "loss", "penalty", "price"))
_ONE = Variable("value", ("value",))


@dataclass(frozen=True)
class UtilityRow:
    """One row: for which states it holds, and what it is worth then."""

    value: Ref = field(metadata={"story": "what it is worth: a number, $parameter or @column"})
    when: dict[str, str | tuple[str, ...]] = field(
        default_factory=dict,
        metadata={"references": False, "story": "node: state, list of states, or * for any"},
    )

    def __post_init__(self) -> None:
        check_fields(self)
        freeze_fields(self)


@dataclass(frozen=True)
class Utility:
    """What the attacker wins or loses, in a unit; several are added up."""

    name: str
    of: tuple[str, ...]
    rows: tuple[UtilityRow, ...]
    unit: str
    source: str = ""
    story: str = ""

    def __post_init__(self) -> None:
        check_fields(self, instead={"of": str | Iterable[str], "rows": Iterable[UtilityRow]})
        of = (self.of,) if isinstance(self.of, str) else tuple(self.of)
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "rows", tuple(self.rows))

    @cached_property
    def payoffs(self) -> Payoffs:
        """The rows as a table is read."""
        return Payoffs.of(tuple((row.value, row.when) for row in self.rows))


def decisions_of(attack: Attack) -> Mapping[str, Node]:
    """The nodes that the attacker decides, in the order in which they are declared."""
    return {name: n for name, n in attack.nodes.items() if isinstance(n.cpd, Decides)}


def references_of(attack: Attack) -> tuple[str, ...]:
    """Every reference of the utilities, and what derived numbers among them stand on."""
    found = [r for u in attack.utilities.values() for r in attack.behind(u.payoffs)]
    return tuple(dict.fromkeys(found))


# -- what can be wrong -----------------------------------------------------------------------------


def decision_problems(
    attack: Attack, nodes: Mapping[str, Any], variable: Callable[[str], Variable | None],
    *, sound_numbers: bool,
) -> Iterator[Problem]:  # fmt: skip
    """What is wrong with utilities, and with decisions beside them.

    `variable` gives a node's states where these can be relied on.
    """
    decisions = decisions_of(attack)
    if decisions and not attack.utilities:
        name = next(iter(decisions))
        message = "is decided for no gain: say under utilities what pays, and what it costs"
        yield Problem(("nodes", name), message)
    first = next(iter(attack.utilities.values()), None)
    for utility in attack.utilities.values():
        where = ("utilities", utility.name)
        if first is not None and utility.unit != first.unit:
            message = f'is in "{utility.unit}", and {first.name} in "{first.unit}"; they are added'
            yield Problem((*where, "unit"), message)
        if not decisions:
            message = "nobody decides anything here: add a decision, or leave utilities out"
            yield Problem(where, message, at_key=True)
        if not utility.source.strip() and holds_numbers(utility.payoffs):
            message = "holds numbers without a source; say where they come from, or assumption"
            yield Problem((*where, "source"), message)
        yield from _of_problems(attack, utility, nodes)
        yield from _row_problems(utility, variable)
        yield from _reference_problems(attack, utility, sound_numbers=sound_numbers)


def decision_slips(attack: Attack) -> Iterator[Problem]:
    """What can be meant but rarely is: a decision that changes nothing, a cost that is a gain."""
    counted = attack.above(n for u in attack.utilities.values() for n in u.of)
    for name in decisions_of(attack):
        if name not in counted:
            message = "moves no utility: whatever is decided is worth the same"
            yield Problem(("nodes", name), message, at_key=True, level=WARNING)
    for name, utility in attack.utilities.items():
        worth = [_value(attack, row.value) for row in utility.rows]
        if _COSTS.isdisjoint(name.lower().split("_")) or min(worth) < 0 or not max(worth) > 0:
            continue
        row = int(np.argmax(worth))
        written = utility.rows[row].value
        message = (
            f"{written} is above 0, so the attacker gains by what is called {name}: write what it "
            f"costs him as less than 0, such as -5, or a number loss: -fine"
        )
        yield Problem(("utilities", name, "rows", row, "value"), message, level=WARNING)


def _value(attack: Attack, ref: Ref) -> float:
    """What a cell holds at the values of the parameters; 0 where that differs by person."""
    if not isinstance(ref, str):
        return float(ref)
    known = attack.settable.get(ref[1:]) if ref[:1] == "$" else None
    return 0.0 if known is None else float(known.value)


def _of_problems(attack: Attack, utility: Utility, nodes: Mapping[str, Any]) -> Iterator[Problem]:
    where = ("utilities", utility.name, "of")
    if not utility.of:
        yield Problem(where, "names no node; say of which nodes' states it is the worth")
    for i, name in enumerate(utility.of):
        if name in attack.groups:
            message = (
                f"{name} is a group; name members, or a node that counts it (a column of a "
                f"utility's rows is declared per members, and not per the group)"
            )
            yield Problem((*where, i), message)
        elif name not in nodes:
            yield Problem((*where, i), f'unknown node "{name}"; {did_you_mean(name, nodes)}')
        elif name in utility.of[:i]:
            yield Problem((*where, i), f'"{name}" is listed twice')


def _row_problems(
    utility: Utility, variable: Callable[[str], Variable | None]
) -> Iterator[Problem]:
    found = [variable(name) for name in utility.of]
    known = [v for v in found if v is not None and v.states]
    checked = utility.payoffs.problems_without_parents(_ONE)
    if len(known) == len(found) and found:
        checked = utility.payoffs.problems(_ONE, tuple(known))
    for p in checked:
        message = p.message.replace(
            "not a parent of this node", "not among the nodes that it is of"
        )
        yield replace(p, where=("utilities", utility.name, *p.where), message=message)


def _reference_problems(
    attack: Attack, utility: Utility, *, sound_numbers: bool
) -> Iterator[Problem]:
    """Names that are not there, units that cannot be added, columns that cannot be read there."""
    rooms = {"$": {*attack.parameters, *attack.numbers}, "@": {*attack.subject}}
    for i, ref in ((i, row.value) for i, row in enumerate(utility.rows)):
        if not isinstance(ref, str) or ref[:1] not in rooms:
            continue  # a number, or said by its shape
        where, name, known = (
            ("utilities", utility.name, "rows", i, "value"),
            ref[1:],
            rooms[ref[:1]],
        )
        if name not in known:
            what = "parameter" if ref[0] == "$" else "subject column"
            yield Problem(where, f'no {what} "{name}"; {did_you_mean(name, known)}')
        elif sound_numbers or name not in attack.numbers:
            unit = unit_of(attack, ref)
            if unit and Units.read(unit) != Units.read(utility.unit):
                yield Problem(where, f'{ref} is in "{unit}", and this utility in "{utility.unit}"')
            behind = attack.derived.behind(name) if name in attack.numbers else (ref,)
            for column in (attack.subject[r[1:]] for r in behind if r[0] == "@"):
                odd = use_problems(attack, column, utility.of, utility.name, NOT_OF)
                said = [_of_a_group(attack, column) or message for message in odd]
                yield from (Problem(where, message) for message in dict.fromkeys(said))


def _of_a_group(attack: Attack, column: SubjectColumn) -> str:
    """What to do with a column that holds values by what is known of a group."""
    group = next((n for n in (*column.axes, column.each) if n in attack.groups), None)
    if group is None:
        return ""
    members = attack.groups[group].members
    of = a_dozen(members)
    if column.each:
        return (
            f"@{column.name} has one value per member of {group}, and a utility is of nodes: "
            f"declare a column for each of {of}, and give each a row (or a utility) of its own"
        )
    axes = a_dozen([m for n in column.axes for m in (members[::-1] if n == group else (n,))])
    return (
        f"@{column.name} has one value per subset of {group}, and a utility is of nodes: declare "
        f"it per: [{axes}], in which its values keep their order, and name these in `of`"
    )


def unit_of(attack: Attack, ref: str) -> str:
    """The unit of what a cell refers to; "" where there is none, or no such thing."""
    if ref[:1] not in ("$", "@"):
        return ""
    room: Mapping[str, Any] = attack.subject if ref[0] == "@" else attack.parameters
    if ref[0] == "$" and ref[1:] in attack.numbers:
        return attack.derived.units[ref[1:]]
    return str(room[ref[1:]].unit) if ref[1:] in room else ""
