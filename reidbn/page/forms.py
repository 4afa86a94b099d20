"""How the page works out every table, and which parameters have to stay where they are.

A table is one of

    a formula      closed.py, and the same in kinds.js: any value, other numbers of states too
    a polynomial   of proven degree in what it holds: tables at as many points as that needs
    stops          whatever bends in a way nobody has proven, a step say: the parameter moves only
                   from stop to stop, and at each of them the table is the library's own
    numbers        what no parameter moves

What none of these can do stays: the parameter is frozen, with the reason.  Nothing is read off
between points without a proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attack.numbers import table_degree
from reidbn.attack.parts import Parameter
from reidbn.cpds.function import Function
from reidbn.cpds.protocol import Array, Part
from reidbn.errors import ReidbnError
from reidbn.inference.lowering import STEPS, Lowering, cells, full_table, parts
from reidbn.inference.network import checked
from reidbn.inference.scopes import GridScope
from reidbn.inference.values import parameter_values
from reidbn.page.closed import Json, NoFormula, TableCells, closed, has_formula

MOST_CELLS = 200_000  # of one table that a parameter sizes
MOST_HELD = 3_000  # numbers of one table over the points or stops of its parameters
MOST_STOPS, FEWEST_STOPS = 101, 9
CLOSE = 1e-12  # between a table and its polynomial, at every point that was tried
TRIED, LOOKED = 24, 2_048  # ... at so many; of a function, whose degree is its author's word


@dataclass
class Forms:
    """The forms of all tables of an attack, for one subject and at start values of parameters."""

    attack: Attack
    settings: Mapping[str, float]
    subject: Mapping[str, Array]
    frozen: dict[str, str] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()
    """Nodes whose tables the page does not hold: what people bring."""
    stops: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, p in self.attack.parameters.items():
            if p.range[0] == p.range[1]:
                self.frozen[name] = ""  # it has one value, and nothing is to be said of it
        for name in self.attack.structural:
            if name not in self.frozen:
                reason = self._stiff(name)
                if reason:
                    self.frozen[name] = reason
        self._choose_stops()

    # -- at the values from which the page starts ------------------------------------------------

    @cached_property
    def lowering(self) -> Lowering:
        return Lowering(self.attack, dict(self.settings), validate=False, whole=STEPS)

    def parts(self, name: str) -> tuple[Part, ...]:
        """The tables of a node: one, or its kind's steps."""
        if self.sized_by(name):
            node, own = self.attack.all_nodes[name], self.lowering.variables
            return (Part(own[name], tuple(own[p] for p in node.parents), node.cpd),)
        return parts(self.attack, name, self.lowering.variables, STEPS)

    def sized_by(self, name: str) -> tuple[str, ...]:
        """Parameters that may move and size the states of a node or of a parent of it."""
        sizes = self._sizes(name)
        return tuple(p for p in self.attack.structural if p in sizes and p not in self.frozen)

    def start(self, name: str) -> float:
        """The value from which a parameter starts."""
        return float(self.settings.get(name, self.attack.parameters[name].value))

    # -- parameters that size states --------------------------------------------------------------

    def _stiff(self, name: str) -> str:
        """Why a parameter that sizes states cannot move in the page; empty where it can."""
        sized = [n for n in self.attack.all_nodes if name in self._sizes(n)]
        low, high = self.attack.parameters[name].range
        at = {p: self.attack.parameters[p].range[1] for p in self.attack.structural}
        for value in (low, high):
            try:
                other = Lowering(self.attack, {**self.settings, **at, name: value}, validate=False,
                                 tables=False)  # fmt: skip
            except ReidbnError as problem:
                return str(problem)
            for node in sized:
                parents = tuple(other.variables[p] for p in self.attack.all_nodes[node].parents)
                part = Part(other.variables[node], parents, self.attack.all_nodes[node].cpd)
                reason = self._stiff_table(node, part, other)
                if reason:
                    return reason
        return ""

    def _sizes(self, node: str) -> set[str]:
        own = self.attack.all_nodes[node]
        family = [self.attack.all_nodes.get(n) for n in (node, *own.parents)]
        return {p for n in family if n is not None for p in n.structural}

    def _stiff_table(self, node: str, part: Part, lowering: Lowering) -> str:
        """Why one table cannot follow another number of states."""
        if node in self.attack.decisions:
            return f"it changes the options of {node}, or what is seen there"
        if not has_formula(part.cpd):
            return (
                f"it changes how many states {node} has to do with, and the page has no formula "
                f"for its kind, {part.cpd.kind}"
            )
        try:
            closed(TableCells(self.attack, part, self.subject))
        except NoFormula as problem:
            return f"it changes how many states {node} has to do with: {problem}"
        misfit = lowering.shape_problems(node)
        if misfit:
            return f"{node} {misfit[0].message}"
        if cells(part) > MOST_CELLS:
            return f"the table of {node} would hold {cells(part):,} numbers at the end of its range"
        return ""

    # -- what a table moves with -----------------------------------------------------------------

    def roots(self, part: Part) -> tuple[str, ...]:
        """The parameters behind a table that may move."""
        refs = self.attack.behind(part.cpd)
        names = (r[1:] for r in refs if r.startswith("$") and r[1:] in self.attack.parameters)
        return tuple(dict.fromkeys(n for n in names if n not in self.frozen))

    def _levers(self, part: Part) -> dict[str, tuple[int | None, float, float]]:
        """What a table holds that moves: its degree there and its range.

        These are parameters and derived numbers; where a number differs from person to person, the
        parameters behind it.
        """
        attack, derived = self.attack, self.attack.derived
        held = dict.fromkeys(
            s[1:] for s in map(self._signed, part.cpd.references()) if s.startswith("$")
        )
        each = any(n in attack.numbers and derived.is_per_person(n) for n in held)
        if each:
            return {n: (table_degree(attack, part.cpd, n, part.parents, ()), *self._range(n))
                    for n in self.roots(part)}  # fmt: skip
        moving = {*self.roots(part)}
        found = {}
        for name in held:
            behind = derived.behind(name) if name in attack.numbers else (f"${name}",)
            if moving & {r[1:] for r in behind}:
                found[name] = (part.cpd.degree(name, part.parents), *self._range(name))
        return found

    def _signed(self, ref: str) -> str:
        known = ref in self.attack.parameters or ref in self.attack.numbers
        return f"${ref}" if known else ref

    def _range(self, name: str) -> tuple[float, float]:
        if name in self.attack.parameters:
            return self.attack.parameters[name].range
        low, high = self.attack.derived.reach[name]
        least, most = self.attack.derived.allowed(name)
        return max(low, least), min(high, most)

    # -- tables -----------------------------------------------------------------------------------

    def table(self, part: Part, settings: Mapping[str, Any], *, check: bool = True) -> Array:
        """The library's own table: axes setting, parents, states."""
        values = parameter_values(self.attack, {**self.settings, **settings})
        scope = GridScope(self.attack, part.variable, part.parents, values, self.subject)
        scope.checks = check
        found = full_table(part.cpd.probabilities(scope), part.parents, part.variable)
        if check:
            checked(part.variable.name, found)
        return np.asarray(found[0])

    def form(self, part: Part) -> Json:
        """How the page works out a table."""
        moving = bool(self.roots(part)) or bool(self._is_sized(part))
        if moving and has_formula(part.cpd):
            try:
                return closed(TableCells(self.attack, part, self.subject))
            except NoFormula:
                pass
        if not self.roots(part):
            return still(self.table(part, {})[0])
        found = self._polynomial(part)
        return self._at_stops(part) if found is None else found

    def _is_sized(self, part: Part) -> tuple[str, ...]:
        name = part.variable.name
        return self.sized_by(name) if name in self.attack.all_nodes else ()

    def _polynomial(self, part: Part) -> Json | None:
        """The table at points of all that it holds, where every degree is proven."""
        levers = self._levers(part)
        points = []
        for degree, low, high in levers.values():
            if degree is None or not np.isfinite(low + high) or low >= high:
                return None
            points.append(_chebyshev(degree + 1, low, high))
        if cells(part) * prod(map(len, points)) > MOST_HELD:
            return None
        try:
            tables = self._over(part, dict(zip(levers, points, strict=True)), check=False)
        except ReidbnError:
            return None
        form = {"kind": "polynomial", "of": [*levers], "at": [p.tolist() for p in points],
                "held": flat(tables)}  # fmt: skip
        return form if self._is_right(part, levers, points, tables) else None

    def _over(self, part: Part, points: Mapping[str, Any], *, check: bool = True) -> Array:
        """Tables over all combinations of some values, the last name's varying fastest."""
        grid = np.meshgrid(*points.values(), indexing="ij")
        settings = {n: g.ravel() for n, g in zip(points, grid, strict=True)}
        count = prod(len(p) for p in points.values())
        found = self.table(part, settings, check=check)
        return np.broadcast_to(found, (count, *found.shape[1:]))

    def _is_right(
        self, part: Part, levers: Mapping[str, Any], points: list[Array], tables: Array
    ) -> bool:
        """Whether the polynomial is the table wherever that was tried."""
        rng = np.random.default_rng(0)
        shaped = tables.reshape(*map(len, points), -1)
        tried = LOOKED if isinstance(part.cpd, Function) else TRIED
        for _ in range(tried):
            at = {n: rng.uniform(low, high) for n, (_, low, high) in levers.items()}
            found = shaped
            for value, own in zip(at.values(), points, strict=True):
                found = np.tensordot(_weights(value, own), found, axes=(0, 0))
            try:
                wanted = self.table(part, at, check=False)[0].ravel()
            except ReidbnError:
                return False
            if not np.abs(found - wanted).max() <= CLOSE:
                return False
        return True

    # -- stops ----------------------------------------------------------------------------------

    def _choose_stops(self) -> None:
        """Stops for the parameters of tables that bend in a way nobody has proven."""
        for name in self.attack.all_nodes:
            if name in self.attack.decisions or name in self.apart:
                continue
            for part in self.parts(name):
                if has_formula(part.cpd) and self._has_formula(part):
                    continue
                if self.roots(part) and self._polynomial(part) is None:
                    self._stop(part)

    def _has_formula(self, part: Part) -> bool:
        try:
            closed(TableCells(self.attack, part, self.subject))
        except NoFormula:
            return False
        return True

    def _stop(self, part: Part) -> None:
        """Give every parameter of a table stops, as many as the page can hold; freeze the rest."""
        kind = part.cpd.name if isinstance(part.cpd, Function) else part.cpd.kind
        names = [*self.roots(part)]
        while names:
            each = int((MOST_HELD / cells(part)) ** (1 / len(names)))
            if each >= FEWEST_STOPS:
                break
            last = names.pop()
            self.frozen[last] = (
                f"nobody has proven how the table of {part.variable.name} ({kind}) bends with it, "
                f"and the page has no room for that table at every setting"
            )
            self.stops.pop(last, None)
        for name in names:
            found = _stops(self.attack.parameters[name], self.start(name), min(each, MOST_STOPS))
            known = self.stops.get(name)
            if known is None or len(found) < len(known):
                self.stops[name] = found

    def _at_stops(self, part: Part) -> Json:
        """The table at all stops; None where the library refuses a setting."""
        names = self.roots(part)
        lists = {n: self.stops[n] for n in names}
        try:
            held: list[Json] = flat(self._over(part, lists))
        except ReidbnError:
            held = self._one_by_one(part, lists)
        return {"kind": "stops", "of": [*names], "at": [*lists.values()], "held": held}

    def _one_by_one(self, part: Part, lists: Mapping[str, list[float]]) -> list[Json]:
        held: list[Json] = []
        for values in product(*lists.values()):
            try:
                held += flat(self.table(part, dict(zip(lists, values, strict=True))))
            except ReidbnError:
                held += [None] * cells(part)
        return held


def _stops(p: Parameter, here: float, most: int) -> list[float]:
    low, high = p.range
    if p.is_integer:
        step = max(1, -(-int(high - low) // (most - 2)))
        found = {*range(int(low), int(high) + 1, step), int(high), int(here)}
        return [float(x) for x in sorted(found)]
    even = {float(f"{x:.10g}") for x in np.linspace(low, high, most - 1)}
    return sorted({x for x in even if low <= x <= high} | {low, high, here})


def _chebyshev(count: int, low: float, high: float) -> Array:
    """Points that crowd at the ends, both ends among them."""
    if count == 1:
        return np.array([low])
    at = np.cos(np.pi * np.arange(count)[::-1] / (count - 1))
    found = low + (high - low) * (1 + at) / 2
    found[0], found[-1] = low, high
    return found


def _weights(x: float, points: Array) -> Array:
    """What each point counts for at x: Lagrange's polynomials."""
    found = np.ones(len(points))
    for i, own in enumerate(points):
        others = np.delete(points, i)
        found[i] = np.prod((x - others) / (own - others))
    return found


def flat(values: Any) -> list[Json]:
    """Numbers in a row, whole ones without a point."""
    found = np.ravel(values).tolist()
    return [int(x) if float(x).is_integer() and abs(x) < 2**53 else x for x in found]


def still(table: Array) -> Json:
    """A table that nothing moves; where each row has one sure state, the position of that state."""
    rows = table.reshape(-1, table.shape[-1])
    if ((rows == 0) | (rows == 1)).all():
        return {"kind": "sure", "held": np.argmax(rows, axis=1).tolist()}
    return {"kind": "still", "held": flat(rows)}


def states_of(attack: Attack, name: str) -> Json:
    """The states of a node: a list, or the ends of a span, which may be parameters."""
    states = attack.all_nodes[name].states
    if not isinstance(states, str):
        return [*states]
    first, _, last = states.partition("..")
    return {"span": [_end(first), _end(last)]}


def _end(text: str) -> Json:
    text = text.strip()
    return {"p": text[1:]} if text.startswith("$") else int(text)
