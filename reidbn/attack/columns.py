"""Subject data of an attack: what shape a column has, and everything that can be wrong with one.

A column holds for each person one value, or one for each member of a group, or one for each
combination of states of the nodes (and of at most one group) that it is `per`; a column `over` a
node holds a distribution of that node's states for each of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.parts import PROBABILITY, SubjectColumn
from reidbn.cpds.logic import Mixture
from reidbn.cpds.protocol import CPD
from reidbn.errors import DataError, Problem, did_you_mean
from reidbn.written import few

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack

SHARES = 1e-9  # that shares of all states may be from 1
_PEOPLE = ("records", "people", "patients", "persons", "individuals")
KNOWS = "knows_"  # a member knows_age tells whether age is known
_SIZES = ("of", "class_size")  # fields of CPDs that hold the size of a class


# -- the shape of a column ------------------------------------------------------------------------


def column_shape(attack: Attack, column: SubjectColumn) -> tuple[int, ...]:
    """The shape of one subject's value in a column."""
    if column.each and not column.axes:
        return (len(attack.groups[column.each].members),)
    return tuple(_size(attack, name) for name in (*column.axes, *column.last))


def _size(attack: Attack, name: str) -> int:
    """How many subsets a group has, or a node states, at the parameters' own values."""
    if name in attack.groups:
        return 1 << len(attack.groups[name].members)
    node = attack.nodes.get(name)
    if node is None:
        return 2  # a member: known or not
    return len(node.states_at({p: attack.parameters[p].value for p in node.structural}))


def describe_shape(attack: Attack, column: SubjectColumn) -> str:
    shape = column_shape(attack, column)
    if column.each and not column.axes:
        return f"it needs {shape[0]} values, one per member of {column.each}"
    if not shape:
        return "it needs a single number"
    what = {n: "subset" if n in attack.groups else "state" for n in (*column.axes, *column.last)}
    if len(shape) == 1:
        return f"it needs {shape[0]} values, one per {' '.join(_of(what))}"
    return f"it needs {prod(shape):,} values ({' x '.join(map(str, shape))}), the last of " + (
        f"{', '.join(_of(what))} varying fastest"
    )


def _of(what: dict[str, str]) -> list[str]:
    return [f"{kind} of {name}" for name, kind in what.items()]


def shaped(value: Any, wanted: tuple[int, ...], rows: bool = False) -> NDArray[Any] | None:  # noqa: FBT001, FBT002
    """A value of a column in its shape, whether it was nested or written in one line."""
    found = np.asarray(value)
    lead = found.shape[:1] if rows else ()
    if found.shape == (*lead, *wanted):
        return found
    flat = found.shape == (*lead, prod(wanted)) and len(wanted) > 1
    return found.reshape(*lead, *wanted) if flat else None


def named_order(attack: Attack, column: SubjectColumn, value: Any) -> Any:
    """Values whose columns are named (a frame's, or a series of one subject), in the model's order.

    Bare values, and columns numbered 0, 1, 2, ..., stand in that order already.
    """
    names = getattr(value, "columns", None)
    if names is None and len(column_shape(attack, column)) == 1 and np.ndim(value) == 1:
        names = getattr(value, "index", None)
    if names is None or callable(names) or [*names] == [*range(len(names))]:
        return value
    said, wanted = [str(n) for n in names], _names(attack, column)
    plain = [name.replace(KNOWS, "") for name in wanted]
    if {*plain} == {*said}:  # knows_age is what is known of age
        wanted = plain
    if len(wanted) > 1 and len(said) == len(wanted) and {*said} == {*wanted}:
        return np.asarray(value)[..., [said.index(name) for name in wanted]]
    if not wanted:
        if len(said) == 1:
            return np.asarray(value).reshape(-1)
        raise DataError(f"subject column {column.name}: {describe_shape(attack, column)}")
    fit = sum(name in wanted for name in said)
    raise DataError(
        f"subject column {column.name}: {fit} of its {len(said)} named columns fit; name them "
        f"{few(wanted, 8)}, each once and in any order, "
        f"or give the values in that order and without names (.to_numpy())"
    )


def _names(attack: Attack, column: SubjectColumn) -> list[str]:
    """What each of one subject's values is called; empty where there is one value."""
    if column.each and not column.axes:
        return [*attack.groups[column.each].members]
    return [", ".join(one) for one in product(*(_called(attack, n) for n in
                                                (*column.axes, *column.last)))
            if one]  # fmt: skip


def _called(attack: Attack, name: str) -> list[str]:
    if name in attack.groups:
        members = attack.groups[name].members
        return [_subset(i, members) for i in range(1 << len(members))]
    node = attack.nodes.get(name)
    if node is None:
        return ["no", "yes"]
    return [*node.states_at({p: attack.parameters[p].value for p in node.structural})]


def is_share(column: SubjectColumn) -> bool:
    """Whether a column over a node holds shares, and not counts."""
    return column.unit in ("", PROBABILITY)


def stray_share(values: NDArray[Any]) -> str | None:
    """Why some values are no distributions; None where they are."""
    gap = np.abs(np.asarray(values, dtype=float).sum(axis=-1) - 1.0).max(initial=0.0)
    return None if gap <= SHARES else f"shares that are 1 in all only within {gap:.2g}"


def holds_class_sizes(attack: Attack, column: SubjectColumn) -> bool:
    """True for a column with the number of people who match, per subset of what is known."""
    if column.over or not any(name in attack.groups for name in column.axes):
        return False
    return counts_people(attack, column)


def counts_people(attack: Attack, column: SubjectColumn) -> bool:
    """True for a column that counts people, in whatever shape: another table has other numbers."""
    return (
        column.unit.strip().lower() in _PEOPLE
        or (column.over is not None and not is_share(column))
        or any(_is_size(node.cpd, f"@{column.name}") for node in attack.nodes.values())
    )


def _is_size(cpd: Any, ref: str) -> bool:
    if isinstance(cpd, Mixture):
        return any(_is_size(component, ref) for component in cpd.components)
    return isinstance(cpd, CPD) and any(
        f.name in _SIZES and getattr(cpd, f.name) == ref for f in fields(cpd)
    )


def grown(
    attack: Attack, column: SubjectColumn, values: NDArray[Any], most: int | None = None
) -> tuple[int, str] | None:
    """Where a class grows when more is known: the position of a value, and a message.

    `most` members are looked at, where a slip would show among the first already.
    """
    group = next(attack.groups[name] for name in column.axes if name in attack.groups)
    axis = values.ndim - len(column.axes) + column.axes.index(group.name)
    sizes = np.moveaxis(values, axis, -1)
    members = group.members[:most]
    found = growing_class(sizes[..., : 1 << len(members)], members)
    return found and (found[1] if len(column.axes) == 1 else 0, found[2])


def growing_class(sizes: NDArray[Any], members: tuple[str, ...]) -> tuple[int, int, str] | None:
    """Where a class grows when one more member is known: both subsets, and a message.

    `sizes` has one value per subset on its last axis, in the order of a binary counter.
    """
    subsets = np.arange(sizes.shape[-1])
    for j, member in enumerate(members):
        less = subsets[(subsets >> j & 1) == 0]
        more = less | 1 << j
        grows = (sizes[..., more] > sizes[..., less] * (1 + 1e-9)).reshape(-1, len(less)).any(0)
        if grows.any():
            at = int(np.argmax(grows))
            known = [m for i, m in enumerate(members) if less[at] >> i & 1]
            besides = f"{member} is known besides {', '.join(known)}" if known else f"{member} is"
            besides += "" if known else " known"
            order = ", ".join(_subset(i, members) for i in range(min(4, len(subsets))))
            message = (
                f"a class grows when {besides}; whoever matches on more also matches on less. "
                f"The values stand in this order: {order}" + (", ..." if len(subsets) > 4 else "")
            )
            return int(less[at]), int(more[at]), message
    return None


def _subset(mask: int, members: tuple[str, ...]) -> str:
    return " with ".join(m for i, m in enumerate(members) if mask >> i & 1) or "nothing"


# -- everything that can be wrong with a column ---------------------------------------------------


def column_problems(attack: Attack) -> Iterator[Problem]:
    """What is wrong with the declaration of columns."""
    members = {m for g in attack.groups.values() for m in g.members}
    nodes = {*attack.nodes, *members}
    for column in attack.subject.values():
        where = ("subject", column.name)
        yield from _axis_problems(attack, column, nodes)
        if column.each is not None and column.each not in attack.groups:
            hint = did_you_mean(column.each, attack.groups)
            yield Problem((*where, "each"), f'no group "{column.each}"; {hint}')
        if column.over is not None and column.over not in attack.nodes:
            yield Problem((*where, "over"), f'no node "{column.over}"; '
                          f"{did_you_mean(column.over, nodes)}")  # fmt: skip
        for other in ("per", "over"):
            if column.each and getattr(column, other):
                message = f"stands beside {other}; keep one of them"
                yield Problem((*where, "each"), message)
        ends = (column.low, column.high)
        if None not in ends and not ends[0] <= ends[1]:  # type: ignore[operator]
            message = (
                f"runs from {ends[0]:.12g} down to {ends[1]:.12g}; write the smaller end first"
            )
            yield Problem((*where, "range"), message)


def _axis_problems(attack: Attack, column: SubjectColumn, nodes: set[str]) -> Iterator[Problem]:
    groups = [name for name in column.axes if name in attack.groups]
    for i, name in enumerate(column.axes):
        where = ("subject", column.name, "per", *(() if isinstance(column.per, str) else (i,)))
        if name not in nodes and name not in attack.groups:
            hint = did_you_mean(name, [*attack.groups, *nodes])
            yield Problem(where, f'no group or node "{name}"; {hint}')
        elif name in column.axes[:i] or name == column.over:
            yield Problem(where, f'"{name}" is listed twice')
        elif name in groups[1:]:
            yield Problem(where, f"{name} is a second group beside {groups[0]}; at most one")
        elif any(name in attack.groups[group].members for group in groups):
            yield Problem(where, f"{name} is already told by the subsets of {groups[0]}")


def use_problems(
    attack: Attack,
    column: SubjectColumn,
    parents: tuple[str, ...],
    node: str,
    otherwise: str = "is no parent of this node",
) -> Iterator[str]:
    """Why a node with these parents cannot use a column that is per, each or over something.

    `otherwise` says what one that is not among the parents is.
    """
    ref = f"@{column.name}"
    known = {*attack.groups, *attack.nodes, *(m for g in attack.groups.values() for m in g.members)}
    for name in column.axes:
        if name in known and name not in parents:
            what = "subset" if name in attack.groups else "state"
            yield f"{ref} has one value per {what} of {name}, which {otherwise}"
    if column.over in attack.nodes and column.over != node:
        yield f"{ref} is a distribution of {column.over}: only that node may use it"
    group = next((g for g in attack.groups.values() if node in g.members), None)
    if column.each in attack.groups and (group is None or group.name != column.each):
        yield f"{ref} has one value per member of {column.each}: only its members may use it"


def example_problems(attack: Attack, sound: Callable[[str], bool]) -> Iterator[Problem]:
    """What is wrong with the example; `sound` says whose states can be relied on."""
    for name, value in attack.example.items():
        where = ("example", name)
        if name not in attack.subject:
            hint = did_you_mean(name, attack.subject)
            yield Problem(where, f'no subject column "{name}"; {hint}', at_key=True)
            continue
        column = attack.subject[name]
        empty = {name for name, group in attack.groups.items() if not group.members}
        about = {*column.axes, *column.last, *({column.each} - {None})}
        there = column.each is None or column.each in attack.groups
        if there and not about & empty and all(sound(str(n)) for n in about):
            yield from _example_values(attack, column, value, where)


def _example_values(
    attack: Attack, column: SubjectColumn, value: Any, where: tuple[str | int, ...]
) -> Iterator[Problem]:
    try:
        found, wanted = np.shape(value), column_shape(attack, column)
    except ValueError:
        yield Problem(where, f"has rows of different lengths; {describe_shape(attack, column)}")
        return
    values = shaped(value, wanted)
    if values is None:
        count = " x ".join(map(str, found)) + " values" if found else "a single number"
        yield Problem(where, f"has {count}; {describe_shape(attack, column)}")
        return
    numbers = np.asarray(values, dtype=float).ravel()
    low = -np.inf if column.low is None else column.low
    high = np.inf if column.high is None else column.high
    wrong = np.flatnonzero(~np.isfinite(numbers) | (numbers < low) | (numbers > high))
    for i in wrong[:3].tolist():
        inner = (*where, *map(int, np.unravel_index(i, found))) if found else where
        yield Problem(inner, f"must be a number from {low:.12g} to {high:.12g}")
    if not wrong.size and column.over and is_share(column) and stray_share(values) is not None:
        yield Problem(where, f"{stray_share(values)}; {describe_shape(attack, column)}")
    if not wrong.size and holds_class_sizes(attack, column):
        grows = grown(attack, column, np.asarray(values, dtype=float))
        if grows:
            yield Problem((*where, grows[0]) if len(found) == 1 else where, grows[1])
