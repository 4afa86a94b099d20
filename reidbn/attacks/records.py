"""The record network: one graph under class sizes, disclosure, leaks and linkage.

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

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attacks.records_graph import graph_of
from reidbn.attacks.records_table import RecordColumn, Sight, columns_of
from reidbn.cpds.protocol import Array
from reidbn.errors import TooLarge, UsageError, did_you_mean
from reidbn.inference.answer import Answer
from reidbn.inference.answers import ask

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.microdata.table import People

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
        return ask(self.attack, target, given=given, engine=self.engine)

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


def record_network(
    table: pd.DataFrame | People | Mapping[str, Sequence[Any]],
    *,
    seen: Mapping[str, Sight] | Sequence[str] | None = None,
    secret: Sequence[str] = (),
    population: int | None = None,
    others: Mapping[tuple[Any, ...], float] | None = None,
    engine: str = "exact",
    name: str = "records",
) -> RecordNetwork:
    """A table of up to a few hundred records as an attack that every engine answers.

    `seen` says how the attacker sees each column: "equal", a mapping or function to what is seen,
    `Noisy`, `Near`, or None; by default every column that is not secret is seen as it is.
    With a `population`, the target may be someone else; `others` gives the shares of the classes
    among those (the table's own shares when left out).

    >>> net = record_network({"age": [30, 30, 41], "ill": ["flu", "flu", "no"]}, secret=["ill"])
    >>> net.class_size(0), net.match(0), net.ppp(0, ["age"], "ill")
    (2, 0.5, 0.0)
    """
    secret = (secret,) if isinstance(secret, str) else tuple(secret)
    columns, own_secrets = columns_of(table)
    secrets = secret or own_secrets
    for column in (*secrets, *(seen or ())):
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
    return {n: how for n, how in seen.items() if how is not None and how != "not seen"}
