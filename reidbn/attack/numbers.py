"""Derived numbers: formulas over parameters, subject columns and other numbers, by name.

A number has a unit (worked out from what it reads, where it states none), and a range: that which
it states, 0 to 1 for a probability, else what its formula can reach.  What is proved at reading is
never refused for its last digit; what cannot be proved is checked wherever it is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property, partial
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.assumptions import ASSUMPTION
from reidbn.attack.bounded import Narrower, Straight, straight
from reidbn.attack.bounds import EVERYTHING, Interval, enclosure, within_both
from reidbn.attack.formula import (
    HAIR,
    FormulaError,
    Term,
    degree,
    evaluate,
    inlined,
    parse,
    rounding,
    settled,
)
from reidbn.attack.parts import PROBABILITY, Number, Parameter
from reidbn.attack.units import TO_A_CHANCE, Units, units_of
from reidbn.errors import WARNING, ModelError, Problem, did_you_mean

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack
    from reidbn.cpds.protocol import CPD

Array = NDArray[np.float64]
MOST_STEPS = 4_000  # of a formula with all that it reads written out
REMEDY = "; narrow the ranges of what it reads, or its settings"
_WHOLE = ("number", "name", "+", "-", "*", "min", "max", "neg")  # what makes no parts of one
MOST_REACHED = 64  # attacks of which is kept what their conditions leave of ranges
_REACHED: dict[Hashable, dict[str, Interval]] = {}
LOGIC = (0.0, 1.0, 2.0)  # numbers that nobody has to give a source for


def without_remedy(attack: str, problem: Exception) -> str:
    """What is wrong with a number, where the attack is named and what to do is said beside it."""
    return str(problem).removeprefix(f"{attack}: ").partition(REMEDY)[0]


class Derived:
    """The derived numbers of a sound attack, and all that follows from their formulas."""

    def __init__(self, attack: Attack) -> None:
        self.attack = attack
        self.terms = {name: parse(number.formula) for name, number in attack.numbers.items()}
        self.order = tuple(_ordered(self.terms))

    def __contains__(self, name: object) -> bool:
        return name in self.terms

    @cached_property
    def _behind(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for name in self.order:
            refs: list[str] = []
            for read in self.terms[name].names:
                refs += found[read] if read in found else [self._reference(read)]
            found[name] = tuple(dict.fromkeys(refs))
        return found

    def _reference(self, name: str) -> str:
        return f"${name}" if name in self.attack.parameters else f"@{name}"

    def behind(self, name: str) -> tuple[str, ...]:
        """The parameters and columns that a number stands on, as references."""
        return self._behind[name]

    def is_per_person(self, name: str) -> bool:
        """Whether a table has a say in it."""
        return any(ref.startswith("@") for ref in self._behind[name])

    # -- values ----------------------------------------------------------------------------

    def values(self, parameters: Mapping[str, Array], given: Mapping[str, Any]) -> dict[str, Array]:
        """The numbers that no table has a say in, as arrays over settings; not yet checked.

        A number that is given keeps the value given, and what reads it follows.
        """
        known = dict(parameters)
        for name in self.order:
            if name in given:
                known[name] = np.atleast_1d(np.asarray(given[name], dtype=float))
            elif not self.is_per_person(name):
                found = np.atleast_1d(evaluate(self.terms[name], known.__getitem__))
                known[name] = settled(self.terms[name], found, known, self.terms)
        return {name: known[name] for name in self.order if name in known}

    def strictly(self, name: str, known: Mapping[str, Array], held: Container[str] = ()) -> Array:
        """The values of a number; none where any(p, n) in it is of a p that is no chance."""
        if name in held or all(step.op != "any" for step in self.terms[name].walk()):
            return known[name]
        found = np.atleast_1d(evaluate(self.terms[name], known.__getitem__, strict=True))
        return settled(self.terms[name], found, known, self.terms)

    def checked(
        self,
        name: str,
        values: Array,
        off: Callable[[], Array],
        at: Callable[[int], str] | None = None,
    ) -> Array:
        """The values of a number, refused by its name where they leave its range.

        A hair of rounding over an end is taken back; `off` says how far that may take it, and `at`
        where one of them was found.
        """
        wrong = ~self._within(name, values, off)
        if wrong.any():
            first = int(np.argmax(wrong))
            raise ModelError(self._refusal(name, float(values.flat[first]), at and at(first)))
        return np.clip(values, *self.allowed(name))

    def _within(self, name: str, values: Array, off: Callable[[], Array]) -> NDArray[np.bool_]:
        """Which values a number may have, but for a hair of rounding."""
        low, high = self.allowed(name)
        least = 1.0 if (low, high) == (0.0, 1.0) else 0.0
        hairs = (HAIR * max(abs(end), least) if math.isfinite(end) else 0.0 for end in (low, high))
        under, over = hairs
        with np.errstate(invalid="ignore"):  # of no value
            beyond = np.maximum(low - under - values, values - high - over)
        held = np.isfinite(values) & (beyond <= 0)
        return held if held.all() else np.isfinite(values) & (beyond <= np.maximum(off(), 0.0))

    def off(self, name: str, known: Mapping[str, Any]) -> Callable[[], Array]:
        """By how much rounding may have moved a number, where its parts are known."""
        return lambda: rounding(self.terms[name], known, self.terms)[1]

    def keeps(
        self, name: str, known: Mapping[str, Array], held: Container[str] = ()
    ) -> NDArray[np.bool_]:
        """At which settings a number keeps to its range; `known` are their values and its own."""
        return self._within(name, self.strictly(name, known, held), self.off(name, known))

    def _refusal(self, name: str, value: float, at: str | None) -> str:
        number = self.attack.numbers[name]
        what = f"{self.attack.name}: the number {name} = {number.formula}"
        if not math.isfinite(value):
            what += " has no value"
        elif at is None:  # somebody's own number is nobody's business
            what += f" is {self._missed(name)}"
        else:
            missed = self._missed(name)
            which = "which is " if missed.startswith("no ") else ""
            what += f" is {value:.12g}, {which}{missed}"
        what += f" at {at}" if at else " for somebody" if at is None else ""
        return f"{what}{REMEDY}"

    def _missed(self, name: str) -> str:
        low, high = self.allowed(name)
        if self.units[name] == PROBABILITY and (low, high) == (0.0, 1.0):
            return "no probability"
        return f"outside its range {low:.12g} to {high:.12g}"

    def read_by(self, cpds: Iterable[CPD], held: Container[str] = ()) -> set[str]:
        """The names that tables refer to, through numbers that are not held at a value."""
        return {*self.through((r.removeprefix("$") for c in cpds for r in c.references()), held)}

    def through(self, names: Iterable[str], held: Container[str]) -> dict[str, None]:
        """These names, and what the numbers among them read that are not held at a value."""
        todo, found = [*names], dict[str, None]()
        while todo:
            name = todo.pop(0)
            if name in self and name not in found and name not in held:
                todo += self.terms[name].names
            found[name] = None
        return found

    def kept(
        self, values: Mapping[str, Array], cpds: Iterable[CPD], held: Container[str] = ()
    ) -> dict[str, Array]:
        """The numbers that tables stand on, at settings at which they keep their ranges; refused
        at others.
        """
        read, found = self.read_by(cpds, held) if self.order else (), dict[str, Array]()
        for name in self.order:
            if name in values and name in read:
                own = self.strictly(name, values, held)
                found[name] = self.checked(
                    name, own, self.off(name, values), partial(self._at, name, values)
                )
        return found

    def _at(self, name: str, values: Mapping[str, Array], i: int) -> str:
        read = [n for n in self.terms[name].names if n in values]
        return ", ".join(
            f"{n}={values[n][i] if len(values[n]) > 1 else values[n][0]:.12g}" for n in read
        )

    # -- ranges and units ------------------------------------------------------------------

    @cached_property
    def units(self) -> dict[str, str]:
        """The unit of every number: as stated, else as it works out; "" where that is not clear."""
        return {name: unit for name, (unit, _) in self._units.items()}

    @cached_property
    def _units(self) -> dict[str, tuple[str, str]]:
        known: dict[str, Units | None] = {}
        found = {}
        rooms = (self.attack.parameters, self.attack.subject)
        for name in self.order:
            number = self.attack.numbers[name]
            for read in self.terms[name].names:
                if read not in known:
                    unit = next(room[read].unit for room in rooms if read in room)
                    known[read] = Units.read(unit)
            units, slip = units_of(self.terms[name], known)
            stated = Units.read(number.unit) if number.unit is not None else None
            if stated is not None and units is not None and stated.is_bare and not units.is_bare:
                slip = slip or f"works out in {units}, and is called a {PROBABILITY}; {TO_A_CHANCE}"
            known[name] = stated if stated is not None else units
            found[name] = number.unit if number.unit is not None else str(units or ""), slip
        return found

    def allowed(self, name: str) -> Interval:
        """Between which values a number is taken: its range, 0 to 1 of a probability."""
        number = self.attack.numbers[name]
        low, high = (0.0, 1.0) if self.units[name] == PROBABILITY else EVERYTHING
        if number.low is not None:
            low = max(low, float(number.low))
        if number.high is not None:
            high = min(high, float(number.high))
        return low, high

    @cached_property
    def reach(self) -> dict[str, Interval]:
        """Between which values every number is proved to lie, over the ranges of what it reads.

        Within them only where the conditions of the attack hold.
        """
        base: dict[str, Interval] = {n: p.range for n, p in self.attack.parameters.items()}
        for column in self.attack.subject.values():
            low = -math.inf if column.low is None else column.low
            base[column.name] = low, math.inf if column.high is None else column.high
        if not self.attack.conditions:
            return self.reach_over(base)
        formulas = tuple((name, number.formula) for name, number in self.attack.numbers.items())
        key = (tuple(base.items()), formulas, self.attack.where)
        if key not in _REACHED:  # every question in words is asked of a copy of the attack
            if len(_REACHED) >= MOST_REACHED:
                _REACHED.clear()
            _REACHED[key] = self._where(base, self.reach_over(base))
        return _REACHED[key]

    def _where(self, base: dict[str, Interval], found: dict[str, Interval]) -> dict[str, Interval]:
        """The same, narrowed by conditions that are sums of parameters and numbers.

        A number that is no such sum itself stands in them under its own name.
        """
        box = {**base, **found}
        sums: dict[str, Term] = {}
        forms: dict[str, Straight] = {}
        for name in self.order:
            form = straight(inlined(self.terms[name], sums), box)
            if form is not None:
                sums[name], forms[name] = self.terms[name], form
        gaps = [straight(inlined(c.gap, sums), box) for c in self.attack.conditions]
        bounds = Narrower(box, [gap for gap in gaps if gap])
        narrow = {n: bounds.of({n: Fraction(1)}, ends) for n, ends in box.items() if n not in sums}
        found = {n: within_both(narrow.get(n, ends), ends) for n, ends in found.items()}
        over = self.reach_over({n: ends for n, ends in narrow.items() if n in base})
        found = {n: within_both(ends, over[n]) for n, ends in found.items()}
        return found | {n: bounds.of(form, found[n]) for n, form in forms.items()}

    def reach_over(self, base: Mapping[str, Interval]) -> dict[str, Interval]:
        """The same over other ranges; a number that has one is taken to vary by itself."""
        held = {name: base[name] for name in self.order if name in base}
        base = {name: ends for name, ends in base.items() if name not in held}
        terms = {name: term for name, term in self.terms.items() if name not in held}
        ordered = frozenset(pair for c in self.attack.conditions if (pair := c.ordered))
        found: dict[str, Interval] = {}
        steps: dict[str, int] = {}
        for name in self.order:
            if name in held:
                found[name] = held[name]
                continue
            term = self.terms[name]
            steps[name] = sum(steps.get(step.name, 1) for step in term.walk())
            found[name] = enclosure(term, base | found, ordered)
            if steps[name] <= MOST_STEPS:
                other = enclosure(inlined(term, terms), {**base, **held}, ordered)
                found[name] = within_both(found[name], other)
        return found

    def is_proved(self, name: str, reach: Mapping[str, Interval] | None = None) -> bool:
        """Whether a number has a value within its range at every setting within the ranges."""
        (low, high), (least, most) = (reach or self.reach)[name], self.allowed(name)
        hair = HAIR * max(1.0, *(abs(x) for x in (least, most) if math.isfinite(x)), 0.0)
        return math.isfinite(low + high) and least - hair <= low and high <= most + hair

    @cached_property
    def settable(self) -> dict[str, Parameter]:
        """The numbers that can be set to a value of their own, as parameters are."""
        base = {n: np.array([float(p.value)]) for n, p in self.attack.parameters.items()}
        values = self.values(base, {})
        known, found = base | values, {}
        for name, value in values.items():
            number = self.attack.numbers[name]
            limits = (*self.reach[name], *self.allowed(name))
            low, high = max(limits[0], limits[2]), min(limits[1], limits[3])
            here = float(value[0])
            if self._within(name, value, self.off(name, known))[0]:  # but for a hair
                here = min(max(here, limits[2]), limits[3]) + 0.0
            low, high = (x + 0.0 if math.isfinite(x) else here for x in (low, high))  # no -0
            if name in self.whole:
                hair = HAIR * max(1.0, abs(low), abs(high))
                low, high = math.ceil(low - hair), math.floor(high + hair)
            source = f"derived: {number.formula}"
            found[name] = Parameter(
                name, here, min(low, here), max(high, here), self.units[name] or "number", source,
                story=number.story,
            )  # fmt: skip
        return found

    # -- degrees ---------------------------------------------------------------------------

    def degrees(self, parameter: str, fixed: Container[str]) -> dict[str, int | None]:
        """The degree of every number in a parameter (or in another number); None: no polynomial.

        What is fixed does not follow.  Exponents count with the largest value in their range.
        """
        found: dict[str, int | None] = {}
        for name in self.order:
            if name == parameter:
                found[name] = 1
            elif name in fixed:
                found[name] = 0
            else:
                found[name] = degree(
                    self.terms[name], lambda n: found.get(n, int(n == parameter)), self._times
                )
        return found

    def _times(self, exponent: Term) -> int | None:
        """The largest value of an exponent that is always a whole number from 0 up, else None."""
        low, high = enclosure(exponent, {n: self._range(n) for n in exponent.names})
        whole = self._adds_up(exponent, ())
        return int(high) if whole and low >= 0 and math.isfinite(high) else None

    def _adds_up(self, term: Term, whole: Container[str]) -> bool:
        """Whether a formula makes whole numbers of counts, and of numbers that are `whole`."""
        counts = self.attack.parameters
        return (
            all(number % 1 == 0 for number in term.literals)
            and all(n in whole or (n in counts and counts[n].is_integer) for n in term.names)
            and all(step.op in _WHOLE for step in term.walk())
        )

    @cached_property
    def whole(self) -> frozenset[str]:
        """Numbers that can only be whole, in units that are counted."""
        found: set[str] = set()
        for name in self.order:
            unit = self.units[name] or "number"
            counted = Parameter(name, 0, 0, 1, unit=unit).is_integer
            if counted and self._adds_up(self.terms[name], found):
                found.add(name)
        return frozenset(found)

    def _range(self, name: str) -> Interval:
        return self.attack.parameters[name].range if name in self.attack.parameters else EVERYTHING


def table_degree(
    attack: Attack, cpd: CPD, name: str, parents: Any, fixed: Container[str]
) -> int | None:
    """How often an entry of a node's table multiplies a parameter with itself; None: not known.

    A table of degree k in a number of degree d has degree k d in the parameter; several numbers in
    one table add up.
    """
    own = cpd.degree(name, parents)
    if not attack.numbers or own is None:
        return own
    total = own
    for number, deep in attack.derived.degrees(name, fixed).items():
        if number == name or deep == 0:
            continue
        held = cpd.degree(number, parents)
        if held == 0:
            continue
        if held is None or deep is None:
            return None
        total += held * deep
    return total


# -- what is wrong ---------------------------------------------------------------------------------


def _ordered(terms: Mapping[str, Term]) -> Iterable[str]:
    """The names, what is read before what reads it; else in the order of the file."""
    edges = {name: [n for n in term.names if n in terms] for name, term in terms.items()}
    return TopologicalSorter(edges).static_order()


def number_problems(attack: Attack) -> list[Problem]:
    """What is wrong with the numbers of an attack, before any is worked out."""
    found: list[Problem] = []
    terms: dict[str, Term] = {}
    for name, number in attack.numbers.items():
        where = ("numbers", name)
        try:
            terms[name] = parse(number.formula)
        except FormulaError as problem:
            found.append(Problem((*where, "is"), str(problem)))
            continue
        found += _name_problems(attack, name, terms[name])
        found += [Problem((*where, "range"), text) for text in number.range_problems()]
    if found:
        return found
    try:
        TopologicalSorter(
            {n: [x for x in t.names if x in terms] for n, t in terms.items()}
        ).prepare()
    except CycleError as problem:
        circle = [*reversed(problem.args[1])]
        message = f"the numbers go in a circle: {' -> '.join(circle)}"
        return [Problem(("numbers", circle[0], "is"), message)]
    return found


def _name_problems(attack: Attack, number: str, term: Term) -> Iterator[Problem]:
    where = ("numbers", number, "is")
    known = {*attack.parameters, *attack.subject, *attack.numbers}
    nodes = {*attack.nodes, *attack.groups, *(m for g in attack.groups.values() for m in g.members)}
    if not term.names:
        message = "reads no parameter and no column: write it under parameters, with its source"
        yield Problem(where, message)
    for step in term.walk():
        if step.op != "name" or step.name in known:
            continue
        at = f"column {step.at + 1}: "
        if step.name in nodes:
            message = (
                f"{step.name} is a node; counts and sums of nodes are kinds of nodes, not formulas"
            )
        else:
            hint = did_you_mean(step.name, known - {number})
            message = f'no parameter, column or number "{step.name}"; {hint}'
        yield Problem(where, at + message)


def number_values(attack: Attack) -> Iterator[Problem]:
    """What is wrong with numbers at the values of the parameters, and what cannot be proved."""
    derived = attack.derived
    base = {n: np.array([float(p.value)]) for n, p in attack.parameters.items()}
    known = base | derived.values(base, {})
    for name in derived.order:
        where = ("numbers", name)
        try:
            if name in known:
                found = derived.strictly(name, known)
                derived.checked(
                    name, found, derived.off(name, known), partial(derived._at, name, known)
                )
        except ModelError as problem:
            yield Problem((*where, "is"), without_remedy(attack.name, problem))
            continue
        yield from _slips(derived, name, where)


def _slips(derived: Derived, name: str, where: tuple[str, ...]) -> Iterator[Problem]:
    slip = derived._units[name][1]
    if slip:
        yield Problem((*where, "is"), slip, level=WARNING)
    number = derived.attack.numbers[name]
    odd = [x for x in derived.terms[name].literals if x not in LOGIC]
    if odd and not number.source:
        message = f"holds {odd[0]:.12g} without a source; say where it comes from"
        yield Problem((*where, "is"), message, at_key=True, level=WARNING)
    if not derived.is_proved(name):
        low, high = derived.reach[name]
        least, most = derived.allowed(name)
        reached = f"can be proved to lie only from {low:.6g} to {high:.6g}"
        wanted = "a probability" if (least, most) == (0, 1) else f"within {least:.6g} to {most:.6g}"
        if not math.isfinite(low + high) and least == -math.inf:
            wanted = "a finite number"
        message = (
            f"{reached} over the ranges of what it reads, and has to be {wanted}: "
            f"it is checked wherever it is used. Narrow a range"
        )
        yield Problem((*where, "is"), message, at_key=True, level=WARNING)


def is_assumed(number: Number) -> bool:
    """Whether a formula holds a number that nobody gave a source for."""
    odd = [x for x in parse(number.formula).literals if x not in LOGIC]
    from reidbn.attack.assumptions import is_assumption

    return is_assumption(number.source or ASSUMPTION) if odd else is_assumption(number.source)
