"""The graph of a record network: record, (combination,) attributes, and what is seen of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attack.parameter import Parameter
from reidbn.attack.parts import Node
from reidbn.attacks.records_table import Near, Noisy, RecordColumn, Sight
from reidbn.cpds.match import NearCopy, NoisyCopy, OneOf
from reidbn.cpds.protocol import CPD
from reidbn.cpds.rows import Lookup, Table
from reidbn.errors import DataError, UsageError
from reidbn.inference.interchange.names import node_names, state_names

SOMEONE_ELSE = "someone_else"
ELSEWHERE = "elsewhere"  # what is said of somebody in none of the classes that are listed
UNKNOWN = "unknown"  # the secret of somebody who is not in the table


@dataclass
class _Parts:
    """What the graph is made of, gathered column by column."""

    nodes: list[Node]
    parameters: list[Parameter]


def graph_of(
    columns: Mapping[str, RecordColumn],
    sights: Mapping[str, Sight],
    secrets: Sequence[str],
    population: int | None,
    others: Mapping[tuple[Any, ...], float] | None,
    name: str,
) -> tuple[Attack, dict[str, RecordColumn]]:
    """The attack, and the columns with the names that they have in it."""
    records = len(next(iter(columns.values())).codes)
    names = node_names(columns, reserved=("record", "combination", "population"))
    named = {n: replace(c, node=names[n], states=state_names(c.values)) for n, c in columns.items()}
    if population is None and others is not None:
        raise UsageError("others says who is outside the table: give population=... too")
    parts = _Parts([], [])
    if population is None:
        states = tuple(map(str, range(records)))
        parts.nodes.append(
            Node("record", states, OneOf(records), story="The record that is the target's",
                 source=f"the table: {records} records")
        )  # fmt: skip
        for column in named.values():
            parts.nodes.append(_attribute(column, "record", column.codes, column.values))
    else:
        named = _with_others(parts, named, secrets, population, others)
    for column_name, how in sights.items():
        named[column_name] = _seen(parts, named[column_name], how)
    attack = Attack(
        name,
        title=f"{records} records and what is seen of them",
        story="One record is the target's. Its attributes are as the table has them, and the "
        "attacker sees some of them, as they are, coarsened, or with mistakes.",
        nodes=parts.nodes,  # type: ignore[arg-type]
        parameters=parts.parameters,  # type: ignore[arg-type]
    )
    return attack, named


def _attribute(
    column: RecordColumn,
    parent: str,
    codes: Any,
    values: Sequence[Hashable],
    more: tuple[str, ...] = (),
) -> Node:
    """An attribute as a function of its parent; `more` are states beyond the column's own."""
    states = (*dict.fromkeys(column.states.values()), *more)
    to = tuple(column.states.get(values[c], "") if c < len(values) else more[0] for c in codes)
    story = f"{column.name} of the target"
    return Node(column.node, states, Lookup(to), (parent,), story)


# -- the target may be someone else ----------------------------------------------------------


def _with_others(
    parts: _Parts,
    named: dict[str, RecordColumn],
    secrets: Sequence[str],
    population: int,
    others: Mapping[tuple[Any, ...], float] | None,
) -> dict[str, RecordColumn]:
    """Record -> combination -> attributes, so that someone else has a combination by its share."""
    open_columns = [c for c in named.values() if c.name not in secrets]
    records = len(open_columns[0].codes) if open_columns else 0
    if not open_columns:
        raise UsageError("every column is secret: with a population, some column must be known")
    if population < records:
        raise UsageError(f"a population of {population} cannot hold a table of {records} records")
    matching = [c.name for c in open_columns if c.alike is not None]
    if matching:
        raise UsageError(
            f"values of {', '.join(matching)} match others; with a population they are compared as "
            f"they stand: use people.as_written()"
        )
    own = list(zip(*([c.value(i) for i in range(records)] for c in open_columns), strict=True))
    shares = _shares(own, others, [c.name for c in open_columns])
    cells = list(dict.fromkeys([*own, *shares]))
    rest = max(0.0, 1.0 - sum(shares.values()))
    if rest <= 1e-12:
        rest = 0.0
    else:
        cells.append((ELSEWHERE,) * len(open_columns))
    parts.parameters.append(
        Parameter("population", population, low=records, high=max(10 * population, records),
                  unit="people", source="given with the table")
    )  # fmt: skip
    states = (*map(str, range(records)), SOMEONE_ELSE)
    parts.nodes.append(
        Node("record", states, OneOf("$population"),
             story="The record that is the target's, or none of them")
    )  # fmt: skip
    table = np.zeros((records + 1, len(cells)))
    table[np.arange(records), [cells.index(cell) for cell in own]] = 1.0
    for cell, share in shares.items():
        table[records, cells.index(cell)] = share
    table[records, -1] += rest
    table[records] /= table[records].sum()
    parts.nodes.append(
        Node("combination", tuple(f"c{i}" for i in range(len(cells))), _table(table), ("record",),
             "The target's combination of attributes", "the table, and the shares of the classes")
    )  # fmt: skip
    return _columns_with_others(parts, named, secrets, cells)


def _columns_with_others(
    parts: _Parts,
    named: dict[str, RecordColumn],
    secrets: Sequence[str],
    cells: Sequence[tuple[Hashable, ...]],
) -> dict[str, RecordColumn]:
    found = {}
    place = 0
    for name, column in named.items():
        if name in secrets:
            parts.nodes.append(
                _attribute(column, "record", [*column.codes, len(column.values)], column.values,
                           (UNKNOWN,))
            )  # fmt: skip
            found[name] = column
            continue
        values = tuple(dict.fromkeys([*column.values, *(cell[place] for cell in cells)]))
        column = replace(column, values=values, states=state_names(values), alike=None)
        codes = [values.index(cell[place]) for cell in cells]
        parts.nodes.append(_attribute(column, "combination", codes, values))
        found[name] = column
        place += 1
    return found


def _shares(
    own: Sequence[tuple[Any, ...]],
    others: Mapping[tuple[Any, ...], float] | None,
    names: Sequence[str],
) -> dict[tuple[Any, ...], float]:
    """The classes' shares among those outside the table; the table's own when none are given."""
    if others is None:
        return {cell: own.count(cell) / len(own) for cell in dict.fromkeys(own)}
    shares = {}
    for cell, share in others.items():
        cell = cell if isinstance(cell, tuple) else (cell,)
        if len(cell) != len(names):
            raise DataError(f"others: a class has {len(cell)} values for {', '.join(names)}")
        if not 0 <= share <= 1:
            raise DataError(f"others: a share of {share:g}; it must lie between 0 and 1")
        shares[cell] = float(share)
    total = sum(shares.values())
    if total > 1 + 1e-9:
        raise DataError(f"others: the shares sum to {total:.12g}, more than 1")
    return shares


# -- what is seen ------------------------------------------------------------------------------


def _seen(parts: _Parts, column: RecordColumn, how: Sight) -> RecordColumn:
    """A node for what the attacker sees of a column."""
    node = node_names(
        [f"sees_{column.node}"], [n.name for n in parts.nodes] + [p.name for p in parts.parameters]
    )[f"sees_{column.node}"]
    as_it_is = {value: value for value in column.values}
    parent_states = tuple(dict.fromkeys(column.states.values()))
    own = parts.nodes[[n.name for n in parts.nodes].index(column.node)].states
    if isinstance(how, Noisy | Near):
        parts.nodes.append(
            Node(node, own, _copy(parts, column, how), (column.node,), _story(column, how))
        )
        return replace(column, sight=node, seen_as=as_it_is, seen_states=column.states)
    seen_as = _generalised(column, how) if how != "equal" else as_it_is
    states = state_names(dict.fromkeys(seen_as.values()))
    to = tuple(states[seen_as[value]] for value in column.values)
    if len(own) > len(parent_states):  # a secret that is seen: nothing is seen of someone else's
        to = (*to, UNKNOWN)
    names = tuple(dict.fromkeys(to))
    parts.nodes.append(Node(node, names, Lookup(to), (column.node,), _story(column, how)))
    return replace(column, sight=node, seen_as=seen_as, seen_states=states)


def _generalised(column: RecordColumn, how: Any) -> dict[Hashable, Hashable]:
    """What each value looks like, by a mapping or a function."""
    if callable(how):
        return {value: how(value) for value in column.values}
    if not isinstance(how, Mapping):
        raise UsageError(
            f"{column.name}: seen as {how!r}; use 'equal', None, a mapping, a function, Noisy "
            f"or Near"
        )
    missing = sum(value not in how for value in column.values)
    if missing:
        raise UsageError(f"{column.name}: the mapping says nothing about {missing} of its values")
    return {value: how[value] for value in column.values}


def _copy(parts: _Parts, column: RecordColumn, how: Noisy | Near) -> CPD:
    """A noisy copy with its number as a parameter, so that it can be varied."""
    noisy = isinstance(how, Noisy)
    name = f"{'same' if noisy else 'within'}_{column.node}"
    if isinstance(how, Noisy):
        parts.parameters.append(Parameter(name, how.same, source=how.source))
        return NoisyCopy(f"${name}")
    numbers = [float(s) for s in column.states.values() if _is_number(s)]
    span = max(numbers, default=0.0) - min(numbers, default=0.0)
    parts.parameters.append(
        Parameter(name, how.within, low=0, high=max(span, how.within), unit=column.name,
                  source=how.source)
    )  # fmt: skip
    return NearCopy(f"${name}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _story(column: RecordColumn, how: Sight) -> str:
    if isinstance(how, Noisy):
        return f"{column.name} as the attacker sees it, with mistakes"
    if isinstance(how, Near):
        return f"{column.name} as the attacker sees it, about right"
    return f"{column.name} as the attacker sees it" + (", coarser" if how != "equal" else "")


def _table(values: np.ndarray[Any, Any]) -> Table:
    return Table(tuple(map(tuple, values.tolist())))
