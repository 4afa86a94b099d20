"""Numbers made of the parents' states: how many, how many in all, what is left, the largest.

count   how many parents are yes; a group counts once per member that is known
sum     the parents' numbers added up
minus   the first, less all others; never less than the node's lowest state
max     the largest of the parents' numbers

Of many parents a running number is all that matters: `parts` carries it from parent to parent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.protocol import (
    CPD,
    NO,
    YES,
    Array,
    Part,
    Scope,
    Variable,
    in_steps,
    needs_parents,
)
from reidbn.errors import Problem, a_dozen, did_you_mean
from reidbn.written import few

MOST_NUMBERS = 100_000  # that a running number may come to
MANY, FEW = 48, 15  # parents that are counted one after another; and by digits, a few at a time
DIGITS = 9


@dataclass(frozen=True)
class _Arithmetic(CPD):
    of: tuple[str, ...] = field(
        default=(), metadata={"story": "the parents in order, left out where it is all of them"}
    )
    step: ClassVar[Any]
    least: ClassVar[bool] = False  # whether what lies below the lowest state counts as that state

    def _ordered(self, parents: tuple[Variable, ...]) -> tuple[Variable, ...]:
        by_name = {p.name: p for p in parents}
        return tuple(by_name[name] for name in self.of) if self.of else parents

    def reads_group(self, group: str) -> bool:
        return True

    def probabilities(self, scope: Scope) -> Array:
        numbers = [scope.number(p.name) for p in self._ordered(scope.parents)]
        place = _place(scope.child, _rounded(reduce(self.step, numbers)))
        table = np.zeros((*place.shape, scope.child.size))
        np.put_along_axis(table, place[..., None], 1.0, axis=-1)
        return table

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Work every case out, and look up the state that is called what came out."""
        names = [p.name for p in self._ordered(scope.parents)]
        columns = [np.broadcast_to(scope.number(name), rows) for name in names]
        values, of_row = np.unique(_rounded(reduce(self.step, columns)), return_inverse=True)
        place = {number: i for i, number in enumerate(_rounded(scope.child.numbers).tolist())}
        lowest = min(place) if self.least else -np.inf
        return np.asarray(
            np.array([place[max(x, lowest)] for x in values.tolist()], np.intp)[of_row]
        )

    def parts(self, child: Variable, parents: tuple[Variable, ...]) -> tuple[Part, ...]:
        running = replace(self, of=())

        def states(met: tuple[Variable, ...]) -> tuple[str, ...]:
            return running.reached(met)

        return in_steps(
            child, self._ordered(parents), states, lambda met: running, lambda met: running
        )

    def reached(self, parents: tuple[Variable, ...]) -> tuple[str, ...]:
        """Every number that can come out of these parents, as states."""
        return tuple(f"{x:.12g}" for x in self._reachable(self._ordered(parents)).tolist())

    def _reachable(self, parents: tuple[Variable, ...]) -> Array:
        """Every number that can come out, in order."""
        found = np.unique(parents[0].numbers)
        for parent in parents[1:]:
            numbers = np.unique(parent.numbers)
            if found.size * numbers.size > MOST_NUMBERS * 64:
                return found[:0]
            found = np.unique(_rounded(self.step(found[:, None], numbers)))
        return found[:0] if found.size > MOST_NUMBERS else found

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = needs_parents(parents, self.kind) + self._of_problems(parents)
        for parent in parents:
            if not self._takes(parent):
                states = few(parent.states)
                message = f"{self.kind} needs {self.needed}; {parent.name} has {states}"
                found.append(Problem(("kind",), message))
        if child.is_group or not child.is_numeric:
            states = few(child.states)
            message = f"{self.kind} needs states that are numbers; this node has {states}"
            found.append(Problem(("kind",), message))
        return found or self._state_problems(child, self._ordered(parents))

    needed: ClassVar[str] = "parents whose states are numbers"

    @staticmethod
    def _takes(parent: Variable) -> bool:
        return parent.has_numbers

    def _of_problems(self, parents: tuple[Variable, ...]) -> list[Problem]:
        names, found = [p.name for p in parents], []
        for i, name in enumerate(self.of):
            if name not in names:
                hint = did_you_mean(name, names)
                if "*" in name:
                    hint = "* stands for several among parents alone; left out, `of` is all of them"
                found.append(Problem(("of", i), f'"{name}" is not a parent of this node; {hint}'))
            elif name in self.of[:i]:
                found.append(Problem(("of", i), f'"{name}" is listed twice'))
        for name in names if self.of and not found else ():
            if name not in self.of:
                found.append(Problem(("of",), f"does not read its parent {name}"))
        return found

    def misfits(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return self._state_problems(child, self._ordered(parents))

    def _state_problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        """Every number that can come out is a state."""
        numbers = self._reachable(parents)
        if not numbers.size:
            message = f"more than {MOST_NUMBERS:,} numbers can come out: let fewer parents meet"
            return [Problem(("kind",), message)]
        states = _rounded(child.numbers)
        below = numbers < states.min() if self.least else np.zeros(numbers.size, dtype=bool)
        missing = numbers[~below & ~np.isin(numbers, states)]
        if not missing.size:
            return []
        low = max(numbers[0], 0) if self.least else numbers[0]
        whole = bool((numbers == np.floor(numbers)).all()) and low >= 0
        remedy = (
            f"let the states be {low:.12g}..{numbers[-1]:.12g}"
            if whole
            else f"list every number from {low:.12g} to {numbers[-1]:.12g} that can come out"
        )
        every = a_dozen(child.states)
        message = f"{missing[0]:.12g} can come out, which is none of the states {every}; {remedy}"
        return [Problem(("kind",), message)]


def _rounded(values: Any) -> Array:
    """Numbers as they are written: 0.1 and 0.2 make 0.3."""
    return np.asarray(np.round(values, DIGITS))


def _place(child: Variable, values: Array) -> NDArray[np.intp]:
    """The position of each number among the states; what is below them is at the lowest."""
    states = _rounded(child.numbers)
    order = np.argsort(states, kind="stable")
    found = np.searchsorted(states[order], values)
    return np.asarray(order[np.minimum(found, child.size - 1)], dtype=np.intp)


@dataclass(frozen=True)
class Count(_Arithmetic):
    """How many parents are yes; of a group, how many members are known."""

    kind: ClassVar[str] = "count"
    step: ClassVar[Any] = np.add
    needed: ClassVar[str] = "yes/no parents"

    @staticmethod
    def _takes(parent: Variable) -> bool:
        return parent.is_group or set(parent.states) == {YES, NO}

    def parts(self, child: Variable, parents: tuple[Variable, ...]) -> tuple[Part, ...]:
        """Many parents are counted by digits, so that no step is a table over all counts."""
        own = self._ordered(parents)
        if len(own) <= MANY or any(p.is_group for p in own):
            return Sum().parts(child, own)
        found: list[Part] = []
        low, high = self._few(child, own[:FEW], 0, found), None
        for i, start in enumerate(range(FEW, len(own), FEW), start=1):
            met = (low, self._few(child, own[start : start + FEW], i, found))
            low = Variable(f"{child.name}~low{i}", _upto(FEW))
            carried = Variable(f"{child.name}~carried{i}", _upto(1))
            found += [Part(low, met, _Digit()), Part(carried, met, _Carried())]
            if high is not None:
                most = Variable(f"{child.name}~high{i}", _upto(i))
                found.append(Part(most, (high, carried), Sum()))
                carried = most
            high = carried
        assert high is not None  # noqa: S101 - there are many
        return (*found, Part(child, (low, high), _BothDigits()))

    @staticmethod
    def _few(child: Variable, parents: tuple[Variable, ...], i: int, found: list[Part]) -> Variable:
        """How many of a few parents are yes, as a hidden node; its steps join those found."""
        own = Variable(f"{child.name}~few{i}", _upto(len(parents)))
        found += Sum().parts(own, parents) or (Part(own, parents, Sum()),)
        return own


@dataclass(frozen=True)
class AskedCount(Count):
    """The count that a question adds, which stands for its group: nobody sets or writes it."""


def _upto(most: int) -> tuple[str, ...]:
    return tuple(map(str, range(most + 1)))


@dataclass(frozen=True)
class _Digit(_Arithmetic):
    """The last digit of a sum, to the base FEW + 1."""

    kind: ClassVar[str] = "digit"
    step: ClassVar[Any] = staticmethod(lambda a, b: (a + b) % (FEW + 1))


@dataclass(frozen=True)
class _Carried(_Arithmetic):
    """What a sum of two digits carries to the next."""

    kind: ClassVar[str] = "carried"
    step: ClassVar[Any] = staticmethod(lambda a, b: (a + b) // (FEW + 1))


@dataclass(frozen=True)
class _BothDigits(_Arithmetic):
    """The number of two digits, the lower one first."""

    kind: ClassVar[str] = "whole"
    step: ClassVar[Any] = staticmethod(lambda low, high: low + (FEW + 1) * high)


@dataclass(frozen=True)
class Sum(_Arithmetic):
    """The parents' numbers added up; yes is 1, and a group is how many members are known."""

    kind: ClassVar[str] = "sum"
    step: ClassVar[Any] = np.add


@dataclass(frozen=True)
class Minus(_Arithmetic):
    """The first parent's number less all others', and never less than the lowest state."""

    kind: ClassVar[str] = "minus"
    step: ClassVar[Any] = np.subtract
    least: ClassVar[bool] = True

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        if len(parents) > 1 and not self.of:
            message = "does not say what is taken from what: of: [the whole, what is taken away]"
            return [Problem(("kind",), message)]
        return super().problems(child, parents)


@dataclass(frozen=True)
class Max(_Arithmetic):
    """The largest of the parents' numbers."""

    kind: ClassVar[str] = "max"
    step: ClassVar[Any] = np.maximum
