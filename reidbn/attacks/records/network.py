"""A column of a small table as a node: its values, its states, and what counts as alike.

The graph of a record network: record, (combination,) attributes, and what is seen of them.

The record network: one graph under class sizes, disclosure, leaks and linkage.

    record --> attribute --> what the attacker sees of it

`record` is uniform over the records of a table, every attribute is a function of it, and what the
attacker sees is equal to an attribute, a generalisation of it or a noisy copy.  Then

    P(record = i | seen) = 1 / class size      [Xia21] 1/a, [Antoniou22] 1/h, [KAnonCourse] 1/k
    P(secret != s_i | known) = PPP             [Kroes21]
    P(record | a noisy copy) = a linkage score [Popat25], [NS08]

and nobody has to count: every number is an ordinary query.  For a few hundred records it is the
reference for all counting code.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.parts import Node, Parameter
from reidbn.calls import described, refuse_misfit, typed
from reidbn.cpds.match import NearCopy, NoisyCopy, OneOf
from reidbn.cpds.protocol import CPD, Array, is_numeral
from reidbn.cpds.rows import Lookup, Table
from reidbn.errors import DataError, TooLarge, UsageError, did_you_mean
from reidbn.inference.answer import Answer
from reidbn.inference.answers import ask
from reidbn.inference.interchange.names import node_names, state_names
from reidbn.microdata.table import People, refuse_emptied

if TYPE_CHECKING:
    import pandas as pd


MISSING = "(missing)"


@dataclass(frozen=True)
class Noisy:
    """The attacker sees the right value with probability `same`, else any other."""

    same: float
    source: str = "assumption"


@dataclass(frozen=True)
class Near:
    """The attacker sees a number that is at most `within` from the right one."""

    within: float
    source: str = "assumption"


Sight = str | None | Mapping[Any, Any] | Callable[[Any], Any] | Noisy | Near


@dataclass(frozen=True)
class RecordColumn:
    """Values, the code of each record, and the names of its nodes and states in the attack."""

    name: str
    values: tuple[Hashable, ...]
    codes: NDArray[np.intp]
    alike: NDArray[np.bool_] | None = None  # which values match which; None means equal ones
    node: str = ""
    states: Mapping[Hashable, str] = field(default_factory=dict)
    sight: str | None = None  # the node of what the attacker sees of it
    seen_as: Mapping[Hashable, Hashable] = field(default_factory=dict)  # value: what is seen
    seen_states: Mapping[Hashable, str] = field(default_factory=dict)

    def value(self, record: int) -> Hashable:
        return self.values[int(self.codes[record])]

    def state(self, value: Any) -> str:
        """The state of a value of this column."""
        return _state_of(self.states, value, self.name)

    def evidence(self, record: int) -> str | dict[str, float]:
        """The record's value; as a likelihood when other values match it too."""
        if self.alike is None:
            return self.states[self.value(record)]
        matching = self.alike[int(self.codes[record])]
        return {self.states[v]: float(m) for v, m in zip(self.values, matching, strict=True)}

    def looks_like(self, record: int) -> str | dict[str, float]:
        """What the attacker sees of this record when nothing is mistaken."""
        if self.alike is not None and self.seen_states == self.states:
            return self.evidence(record)
        return self.seen_states[self.seen_as[self.value(record)]]

    def seen_evidence(self, value: Any) -> str | dict[str, float]:
        """A value that is seen, a set of values, or likelihoods by value, as evidence."""
        if isinstance(value, set | frozenset):
            value = dict.fromkeys(value, 1.0)
        if isinstance(value, Mapping):
            given = {_state_of(self.seen_states, v, self.name): float(p) for v, p in value.items()}
            return {state: given.get(state, 0.0) for state in self.seen_states.values()}
        return _state_of(self.seen_states, value, self.name)


def _state_of(states: Mapping[Hashable, str], value: Any, name: str) -> str:
    if value in states:
        return states[value]
    for known, state in states.items():
        if str(known) == str(value):
            return state
    # No did-you-mean here: the values belong to people.
    raise UsageError(f"nobody has that value of {name}; it is one of {len(states)} other values")


def columns_of(table: Any) -> tuple[dict[str, RecordColumn], tuple[str, ...]]:
    """The columns of a DataFrame, a mapping or `People`, and which of them are secret."""
    if hasattr(table, "quasi_identifiers"):
        return _of_people(table)
    if not isinstance(table, Mapping) and getattr(table, "ndim", 0) != 2:
        raise UsageError(f"the table is {described(table)}; it takes a frame, a mapping or People")
    if not hasattr(table, "columns"):
        refuse_misfit("record_network", "table", table, Mapping)
        for name, values in table.items():
            refuse_misfit("record_network", f"column {name}", values, Sequence[Any])
    found = {str(name): _of_values(str(name), list(table[name])) for name in table}
    lengths = {len(c.codes) for c in found.values()}
    if not found or lengths == {0}:
        raise DataError("the table is empty; a record network needs at least one record")
    if len(lengths) > 1:
        raise DataError(f"the columns have different lengths: {sorted(lengths)}")
    return found, ()


def _of_values(name: str, raw: Sequence[Any]) -> RecordColumn:
    try:
        values = [MISSING if v is None or v != v else v for v in raw]
        values = [v.item() if hasattr(v, "item") else v for v in values]
        kinds = set(values)
    except (TypeError, ValueError):  # a list cannot be looked up, and an array is not one value
        raise DataError(
            f'column "{name}" has cells that hold a list or an array; each must hold one value: a '
            f"text, a number, or none"
        ) from None
    try:
        different = sorted(kinds)
    except TypeError:  # values of several types, or missing ones among numbers
        different = sorted(kinds, key=_by_type)
    place = {v: i for i, v in enumerate(different)}
    codes = np.array([place[v] for v in values], dtype=np.intp)
    return RecordColumn(name, tuple(different), codes)


def _by_type(value: Any) -> tuple[str, Any]:
    return type(value).__name__, value if isinstance(value, int | float | str) else str(value)


def _of_people(people: Any) -> tuple[dict[str, RecordColumn], tuple[str, ...]]:
    if people.history is not None and not people.is_columnwise:
        raise DataError("a record network takes one row per person; these people have histories")
    if not people.names(people.columns):  # refused of a sparse table
        raise DataError("the table has no columns; a record network needs at least one")
    refuse_emptied(people, "a record network")
    found = {}
    for name in people.columns:
        codes = people.codes([name])[:, 0].astype(np.intp)
        labels = [MISSING if v is None else v for v in people.labels(name).tolist()]
        relation = people.column(name).relation
        alike = None if relation is None else np.asarray(people.matches(name), dtype=bool)
        found[name] = RecordColumn(name, tuple(labels), codes, alike)
    return found, tuple(people.sensitive)


# -- the graph of a record network -----------------------------------------------------------------


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
    others: Mapping[Any, float] | None,
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
    others: Mapping[Any, float] | None,
) -> dict[str, RecordColumn]:
    """Record -> combination -> attributes, so that someone else has a combination by its share."""
    refuse_misfit("record_network", "population", population, int)
    if others is not None:
        refuse_misfit("record_network", "others", [*others.values()], Sequence[float])
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
    others: Mapping[Any, float] | None,
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
    seen_as = as_it_is if _is_equal(how) else _generalised(column, how)
    states = state_names(dict.fromkeys(seen_as.values()))
    to = tuple(states[seen_as[value]] for value in column.values)
    if len(own) > len(parent_states):  # a secret that is seen: nothing is seen of someone else's
        to = (*to, UNKNOWN)
    names = tuple(dict.fromkeys(to))
    parts.nodes.append(Node(node, names, Lookup(to), (column.node,), _story(column, how)))
    return replace(column, sight=node, seen_as=seen_as, seen_states=states)


def _is_equal(how: Sight) -> bool:
    return isinstance(how, str) and how == "equal"  # an array is unequal to it cell by cell


def _generalised(column: RecordColumn, how: Any) -> dict[Hashable, Hashable]:
    """What each value looks like, by a mapping or a function."""
    if callable(how):
        return {value: how(value) for value in column.values}
    if not isinstance(how, Mapping):
        said = repr(how) if isinstance(how, str) else f"a {type(how).__name__}"
        raise UsageError(
            f"{column.name}: seen as {said}; use 'equal', None, a mapping, a function, Noisy "
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
    refuse_misfit("Near", "within", how.within, float)
    numbers = [float(s) for s in column.states.values() if is_numeral(s)]
    span = max(numbers, default=0.0) - min(numbers, default=0.0)
    parts.parameters.append(
        Parameter(name, how.within, low=0, high=max(span, how.within), unit=column.name,
                  source=how.source)
    )  # fmt: skip
    return NearCopy(f"${name}")


def _story(column: RecordColumn, how: Sight) -> str:
    if isinstance(how, Noisy):
        return f"{column.name} as the attacker sees it, with mistakes"
    if isinstance(how, Near):
        return f"{column.name} as the attacker sees it, about right"
    return f"{column.name} as the attacker sees it" + ("" if _is_equal(how) else ", coarser")


def _table(values: np.ndarray[Any, Any]) -> Table:
    return Table(tuple(map(tuple, values.tolist())))


# -- the record network ----------------------------------------------------------------------------


MOST_RECORDS = 500
Known = Sequence[str] | None


@dataclass(frozen=True)
class RecordNetwork:
    """A table as an attack; records are counted from 0 in the table's order."""

    attack: Attack
    columns: Mapping[str, RecordColumn]
    records: int
    secrets: tuple[str, ...] = ()
    engine: str = "exact"

    def to_pgmpy(self) -> Any:
        """The network as a pgmpy model."""
        return self.attack.to_pgmpy()

    # -- what an attacker concludes -----------------------------------------------------------

    def posterior(self, seen: Mapping[str, Any]) -> Array:
        """P(record | what is seen), in the table's order; someone else, if any, comes last.

        `seen` gives for a column the value that is seen, a set of values one of which is the
        right one, or a likelihood per value.
        """
        given = {}
        for name, value in seen.items():
            column = self._column(name)
            if column.sight is None:
                raise UsageError(f"the attacker does not see {name}; say how in seen={{...}}")
            given[column.sight] = column.seen_evidence(value)
        return self._posterior(given)

    def match(self, record: int, known: Known = None) -> float:
        """P(the attacker's guess is this record | it looks as it is): 1 / class size for equal."""
        given = {}
        for name in self._known(known, sight=True):
            column = self._column(name)
            given[str(column.sight)] = column.looks_like(self._checked(record))
        return float(self._posterior(given)[record])

    def class_size(self, record: int, known: Known = None) -> int:
        """How many records match this one on the known columns, itself included."""
        p = self._posterior(self._evidence(record, known))[: self.records]
        return round(float(p.sum() / p[record]))

    def class_sizes(self, known: Known = None) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The class size of every record."""
        return np.array([self.class_size(i, known) for i in range(self.records)], dtype=np.int64)

    def k(self, known: Known = None) -> int:
        """The smallest class [KAnonCourse]."""
        return int(self.class_sizes(known).min())

    # -- what an attacker learns about a secret ----------------------------------------------

    def ppp(self, record: int, known: Known, secret: str) -> float:
        """P(the secret is another than this record's | known): plausible deniability [Kroes21]."""
        return 1.0 - self.pp(record, known, secret, self._column(secret).value(record))

    def pp(self, record: int, known: Known, secret: str, value: Any) -> float:
        """P(secret = value | the known columns are as this record's) [Kroes21]."""
        column = self._column(secret)
        if known is not None and secret in known:
            raise UsageError(f"{secret} cannot be known and secret at once")
        known = [name for name in self._known(known) if name != secret]
        given = self._evidence(record, known)
        return float(self._ask({column.node: column.state(value)}, given))

    def prior(self, secret: str) -> dict[Hashable, float]:
        """P(secret) before anything is known: the baseline."""
        column = self._column(secret)
        found = self._ask(column.node, {}).distribution
        return {value: found[state] for value, state in column.states.items()}

    # -- how it is asked -------------------------------------------------------------------------

    def _ask(self, target: str | Mapping[str, str], given: Mapping[str, Any]) -> Answer:
        answer = ask(self.attack, target, given=given, engine=self.engine)
        assert isinstance(answer, Answer)  # noqa: S101 - no question here is about a mean
        return answer

    def _posterior(self, given: Mapping[str, Any]) -> Array:
        return np.asarray(self._ask("record", given).probability)

    def _evidence(self, record: int, known: Known) -> dict[str, Any]:
        record = self._checked(record)
        return {c.node: c.evidence(record) for c in (self._column(n) for n in self._known(known))}

    def _known(self, known: Known, *, sight: bool = False) -> list[str]:
        if known is None:
            return [n for n, c in self.columns.items()
                    if n not in self.secrets and not (sight and c.sight is None)]  # fmt: skip
        return [known] if isinstance(known, str) else list(known)

    def _column(self, name: str) -> RecordColumn:
        if name not in self.columns:
            raise UsageError(f'no column "{name}"; {did_you_mean(name, self.columns)}')
        return self.columns[name]

    def _checked(self, record: int) -> int:
        if not 0 <= record < self.records:
            raise UsageError(f"no record {record}: they are numbered 0 to {self.records - 1}")
        return record

    @cached_property
    def uniques(self) -> int:
        """How many records are alone in their class."""
        return int((self.class_sizes() == 1).sum())

    def __repr__(self) -> str:
        return f"<RecordNetwork of {self.records} records: {', '.join(self.columns)}>"


@typed
def record_network(
    table: pd.DataFrame | People | Mapping[str, Sequence[Any]],
    *,
    seen: Mapping[str, Sight] | Sequence[str] | None = None,
    secret: Sequence[str] = (),
    population: int | None = None,
    others: Mapping[Any, float] | None = None,
    engine: str = "exact",
    name: str = "records",
) -> RecordNetwork:
    """A table of up to a few hundred records as an attack that every engine answers.

    `seen` says how the attacker sees each column: "equal", a mapping or function to what is seen,
    `Noisy`, `Near`, or None; by default every column that is not secret is seen as it is.
    With a `population`, the target may be someone else; `others` gives the shares of the classes
    among those (the table's own shares when left out).

    `name` is the attack's name.

    >>> net = record_network({"age": [30, 30, 41], "ill": ["flu", "flu", "no"]}, secret=["ill"])
    >>> net.class_size(0), net.match(0), net.ppp(0, ["age"], "ill")
    (2, 0.5, 0.0)
    """
    secret = (secret,) if isinstance(secret, str) else tuple(secret)
    columns, own_secrets = columns_of(table)
    secrets = secret or own_secrets
    for column in (*secrets, *(() if seen is None else seen)):
        if column not in columns:
            raise UsageError(f'no column "{column}"; {did_you_mean(column, columns)}')
    records = len(next(iter(columns.values())).codes)
    if records > MOST_RECORDS:
        raise TooLarge(
            f"a record network of {records:,} records; it is meant for up to {MOST_RECORDS}. "
            f"Take a part of the table, or count: rb.read_table(...).class_sizes()"
        )
    sights = _sights(columns, seen, secrets)
    attack, columns = graph_of(columns, sights, secrets, population, others, name)
    return RecordNetwork(attack, columns, records, secrets, engine)


def _sights(
    columns: Mapping[str, RecordColumn],
    seen: Mapping[str, Sight] | Sequence[str] | None,
    secrets: Sequence[str],
) -> dict[str, Sight]:
    if seen is None:
        return {n: "equal" for n in columns if n not in secrets}
    if not isinstance(seen, Mapping):
        return dict.fromkeys([seen] if isinstance(seen, str) else seen, "equal")
    return {
        n: how
        for n, how in seen.items()
        if how is not None and not (isinstance(how, str) and how == "not seen")
    }
