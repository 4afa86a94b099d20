"""Kinds of tables that the page works out by formulas of its own, as kinds.js has them.

A formula is exported as its kind and its cells; a cell is a number, a parameter or derived number,
the number of a parent's state, or what a table says of one person (numbers, by states of parents).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attack.formula import Term
from reidbn.cpds.decides import Payoffs
from reidbn.cpds.event import Event, ShareOfRange
from reidbn.cpds.leak import HypergeometricLeak
from reidbn.cpds.logic import NoisyAnd, NoisyOr
from reidbn.cpds.match import OneOver, Probability, Share, Uniform, Unique
from reidbn.cpds.protocol import CPD, Array, Part, Ref
from reidbn.cpds.rows import REST, Rows
from reidbn.cpds.structured import StructuredMatch, StructuredUniqueness
from reidbn.cpds.targets import RestOfLeak, TargetClass, TargetClassLeaked
from reidbn.cpds.trials import EXACT, AtMost, Binomial, Geometric, Poisson
from reidbn.errors import UsageError

Json = Any


class NoFormula(Exception):
    """The page has no formula for this table; the text says why."""


@dataclass(frozen=True)
class TableCells:
    """The cells of one table as the page reads them."""

    attack: Attack
    part: Part
    subject: Mapping[str, Array]

    def of(self, ref: Ref) -> Json:
        """A number, `$parameter`, `@column` or parent."""
        if not isinstance(ref, str):
            return float(ref)
        if ref.startswith("$"):
            return self._named(ref[1:])
        if ref.startswith("@"):
            return self._column(ref[1:])
        return {"n": self.place(ref)}

    def place(self, parent: str) -> int:
        """Which of the parents it is."""
        return [p.name for p in self.part.parents].index(parent)

    def _named(self, name: str) -> Json:
        attack = self.attack
        if name in attack.numbers and attack.derived.is_per_person(name):
            low, high = attack.derived.allowed(name)
            term = attack.derived.terms[name]
            return {"t": term_of(term, self._leaf), "in": [finite(low), finite(high)]}
        return {"p": name}

    def _leaf(self, name: str) -> Json:
        return self._column(name) if name in self.attack.subject else self._named(name)

    def _column(self, name: str) -> Json:
        column, values = self.attack.subject[name], self.subject[name][0]
        if column.over:
            raise NoFormula(f"@{name} is a distribution for each person")
        if column.each:
            index = self.part.variable.member_index
            if index is None:
                raise NoFormula(f"@{name} has a value for each member")
            return float(values[index])
        if not column.axes:
            return float(values)
        return {"c": np.ravel(values).tolist(), "x": [self.place(a) for a in column.axes],
                "s": list(values.shape)}  # fmt: skip


def finite(end: float) -> float | None:
    """An end of a range, None where there is none."""
    return float(end) if np.isfinite(end) else None


def term_of(term: Term, leaf: Callable[[str], Json]) -> Json:
    """A formula as lists, the operation first."""
    if term.op == "number":
        return term.number
    if term.op == "name":
        return leaf(term.name)
    return [term.op, *(term_of(arg, leaf) for arg in term.args)]


def closed(cells: TableCells) -> Json:
    """The formula of a part's table; NoFormula where the page has none for it."""
    cpd = cells.part.cpd
    made = _KINDS.get(type(cpd))
    if made is None:
        raise NoFormula(f"{cpd.kind} has no formula in the page")
    try:
        return {"kind": cpd.kind, **made(cpd, cells)}
    except UsageError as problem:  # such as a column that is not there
        raise NoFormula(str(problem)) from None


def has_formula(cpd: CPD) -> bool:
    """Whether the page may have one."""
    return type(cpd) in _KINDS


def _only_if(cpd: Any, cells: TableCells) -> list[int]:
    return [cells.place(name) for name in cpd.only_if]


def _noisy(cpd: Any, cells: TableCells) -> dict[str, Json]:
    weights = [cells.of(cpd.weight(p.name)) for p in cells.part.parents]
    return {"weights": weights, "leak": cells.of(cpd.leak)}


def _rows(cpd: Any, cells: TableCells) -> dict[str, Json]:
    rows = []
    for row in cpd.rows:
        when = [row.words(p.name) for p in cells.part.parents]
        if isinstance(row.p, dict):
            held: Json = {state: _cell(cell, cells) for state, cell in row.p.items()}
        else:
            held = [_cell(cell, cells) for cell in row.p]
        rows.append({"when": [None if w is None else list(w) for w in when], "p": held})
    return {"rows": rows}


def _cell(cell: Ref, cells: TableCells) -> Json:
    return REST if cell == REST else cells.of(cell)


def _binomial(cpd: Any, cells: TableCells) -> dict[str, Json]:
    if cells.part.variable.size > EXACT:
        raise NoFormula(f"of more than {EXACT:,} attempts the page has no formula")
    return {"n": cells.of(cpd.n), "p": cells.of(cpd.p)}


def _event(cpd: Any, cells: TableCells) -> dict[str, Json]:
    tests = [cpd.tests.get(p.name, (("=", "yes"),)) for p in cells.part.parents]
    return {"how": cpd.how, "tests": [[list(t) for t in each] for each in tests]}


def _cells(cells: TableCells, **refs: Ref | None) -> dict[str, Json]:
    return {name: None if ref is None else cells.of(ref) for name, ref in refs.items()}


def _geometric(cpd: Any, cells: TableCells) -> dict[str, Json]:
    return _cells(cells, p=cpd.p, among=cpd.among, budget=cpd.budget)


def _rest_of_leak(cpd: Any, cells: TableCells) -> dict[str, Json]:
    return {
        **_cells(cells, records=cpd.records, leaked=cpd.leaked, size=cpd.class_size),
        "others": [cells.of(ref) for ref in cpd.other_sizes],
        "leaks": [cells.place(name) for name in cpd.other_leaked],
    }


def _target_class(cpd: Any, cells: TableCells) -> dict[str, Json]:
    return {
        "sizes": [*cpd.sizes],
        "counts": [cells.of(ref) for ref in cpd.counts],
        "earlier": [cells.place(name) for name in cpd.earlier],
    }


def _target_class_leaked(cpd: Any, cells: TableCells) -> dict[str, Json]:
    found = {**_target_class(cpd, cells), "leaked": cells.of(cpd.leaked)}
    return found | {"classes": [cells.place(name) for name in cpd.classes]}


def _structured(cpd: Any, cells: TableCells) -> dict[str, Json]:
    shares = []
    for name, by_class in cpd.shares.items():
        group = bit = None
        if name in cpd.known:
            member = cpd.known[name]
            group, bit = next((i, p.members.index(member)) for i, p in enumerate(cells.part.parents)
                              if member in p.members)  # fmt: skip
        by = [_shares(by_class[of], cells) for of in cpd.classes]
        shares.append({"at": cells.place(name), "group": group, "bit": bit, "by": by})
    numbers = _cells(cells, size=cpd.class_size, records=cpd.records, population=cpd.population,
                     times=cpd.times, power=cpd.power)  # fmt: skip
    return {**numbers, "classes": _shares(cpd.classes, cells), "shares": shares}


def _shares(told: Mapping[str, Ref], cells: TableCells) -> list[Json]:
    found = [[name, _cell(ref, cells)] for name, ref in told.items()]
    if any(isinstance(cell, dict) and "p" not in cell for _, cell in found):
        raise NoFormula("its shares differ from person to person")
    return found


_KINDS: dict[type[CPD], Callable[[Any, TableCells], dict[str, Json]]] = {
    Probability: lambda cpd, cells: {"p": cells.of(cpd.p), "only": _only_if(cpd, cells)},
    OneOver: lambda cpd, cells: {"of": cells.of(cpd.of), "only": _only_if(cpd, cells)},
    Unique: lambda cpd, cells: {"of": cells.of(cpd.of), "stays": cells.of(cpd.stays)},
    Share: lambda cpd, cells: {
        "part": cells.of(cpd.part), "whole": cells.of(cpd.whole),
        "free": not {cpd.part, cpd.whole} & {p.name for p in cells.part.parents},
    },
    Uniform: lambda cpd, cells: {},
    HypergeometricLeak: lambda cpd, cells: {
        "records": cells.of(cpd.records), "leaked": cells.of(cpd.leaked),
        "size": cells.of(cpd.class_size),
    },
    NoisyOr: _noisy,
    NoisyAnd: _noisy,
    Rows: _rows,
    Payoffs: _rows,
    Binomial: _binomial,
    Geometric: _geometric,
    Poisson: lambda cpd, cells: {"mean": cells.of(cpd.mean)},
    AtMost: lambda cpd, cells: _cells(cells, of=cpd.of, most=cpd.most),
    RestOfLeak: _rest_of_leak,
    TargetClass: _target_class,
    TargetClassLeaked: _target_class_leaked,
    StructuredUniqueness: _structured,
    StructuredMatch: _structured,
    Event: _event,
    ShareOfRange: lambda cpd, cells: {"low": cpd.low, "high": cpd.high},
}  # fmt: skip
