"""Which values parameters may have: their declared ranges, and the conditions of `where`.

A range is the author's word on what is believable, so a value beyond it is refused unless the
caller insists.  A condition such as `leaked <= records` is part of the story and always holds.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.bounds import enclosure
from reidbn.attack.formula import (
    FormulaError,
    Term,
    evaluate,
    inlined,
    parse,
    rounding,
)
from reidbn.attack.parts import PROBABILITY, Parameter
from reidbn.errors import Problem, UsageError, did_you_mean

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack

Array = NDArray[np.float64]
PRINTED = 1e-11  # of an end of a range: by so much its printed form may lie beyond it
_FORM = re.compile(r"([^<>=]+)(<=|>=|<|>)([^<>=]+)\Z")
_BARE = re.compile(r"\$(?=[^\W\d])")  # a name with the $ that it has in cells
_WRITE = (
    "write one comparison (<, <=, >, >=) of parameters, numbers or formulas of them, such as "
    "leaked <= records"
)


@dataclass(frozen=True)
class Condition:
    """One comparison of two formulas over parameters and numbers, most often of two names."""

    left: Term
    sign: str
    right: Term
    text: str

    @classmethod
    def read(cls, text: str) -> Condition:
        """The condition in a text.

        >>> Condition.read("leaked <= records").names
        ('leaked', 'records')
        >>> print(Condition.read("p_mail+p_call<=1"))
        p_mail+p_call <= 1
        """
        found = _FORM.match(_BARE.sub("", text))
        if found is None:
            raise UsageError(f'"{text}" is no condition: {_WRITE}')
        try:
            left, right = parse(found[1].strip()), parse(found[3].strip())
        except FormulaError as problem:
            raise UsageError(f'"{text}" is no condition: {problem}; {_WRITE}') from None
        if not (left.names or right.names):
            raise UsageError(f'"{text}" is no condition: {_WRITE}')
        return cls(left, found[2], right, f"{found[1].strip()} {found[2]} {found[3].strip()}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.left.names, *self.right.names)))

    @property
    def gap(self) -> Term:
        """What is never below 0 where it holds."""
        sides = (self.right, self.left) if self.sign in ("<", "<=") else (self.left, self.right)
        return Term("-", sides)

    @property
    def ordered(self) -> tuple[str, str] | None:
        """Two names of which the first is never above the second, if that is what it says."""
        if self.left.op != "name" or self.right.op != "name":
            return None
        pair = self.left.name, self.right.name
        return pair if self.sign in ("<", "<=") else (pair[1], pair[0])

    def holds(
        self, values: Mapping[str, Any], terms: Mapping[str, Term] | None = None
    ) -> NDArray[np.bool_]:
        """Where it holds, for values (or arrays over settings) of the parameters and numbers.

        Sides that are alike but for the rounding of their parts, those of the numbers' own `terms`
        included, are taken to be the same.  A side without a value holds nothing.

        >>> 0.3 < 0.1 + 0.2, bool(Condition.read("0.3 < a + b").holds({"a": 0.1, "b": 0.2}))
        (True, False)
        """
        gap, off = rounding(self.gap, values, terms or {})
        held = np.asarray(gap > off if self.is_strict else gap >= -off)
        return held & np.isfinite(off)

    def slack(self, values: Mapping[str, Any]) -> Array:
        """By how much it holds; 0 where it has no value."""
        found = evaluate(self.gap, values.__getitem__, strict=True)
        return np.where(np.isfinite(found), found, 0.0)

    @property
    def is_strict(self) -> bool:
        return self.sign in ("<", ">")

    def stands_on(self, attack: Attack, held: Container[str]) -> tuple[str, ...]:
        """The parameters that have a say in it, and derived numbers held at a value."""
        found = attack.derived.through(self.names, held)
        return tuple(n for n in found if n not in attack.numbers or n in held)

    def lowest(
        self, attack: Attack, held: Container[str], box: Mapping[str, tuple[float, float]]
    ) -> float:
        """What its gap is at least, everywhere in a box of what it stands on; proved."""
        terms = {n: t for n, t in attack.derived.terms.items() if n not in held}
        return enclosure(inlined(self.gap, terms), box)[0]

    def is_kept_by(self, gap: float) -> bool:
        """Whether it holds where its gap is at least so much."""
        return gap > 0 if self.is_strict else gap >= 0

    def __str__(self) -> str:
        return self.text


def condition_problems(attack: Attack, *, sound_numbers: bool = True) -> Iterator[Problem]:
    """What is wrong with the conditions of an attack, or with its values under them."""
    known = _values(attack, sound_numbers=sound_numbers) if attack.where else {}
    terms = attack.derived.terms if sound_numbers and attack.where else {}
    for i, text in enumerate(attack.where):
        where = ("where", i)
        try:
            condition = Condition.read(text)
        except UsageError as problem:
            yield Problem(where, str(problem))
            continue
        unknown = [name for name in condition.names if name not in known]
        if unknown:
            yield Problem(where, _unknown(attack, unknown[0]))
            continue
        named = {name: known[name] for name in condition.names}
        if None not in named.values() and not condition.holds(known, terms):
            yield Problem(where, f"{condition} does not hold at {_at(named)}")


def _values(attack: Attack, *, sound_numbers: bool) -> dict[str, Any]:
    """The values of parameters and numbers; None for what cannot be told."""
    found: dict[str, Any] = {
        name: p.value if isinstance(p.value, int | float) else None
        for name, p in attack.parameters.items()
    }
    if not sound_numbers or None in found.values():
        return found | dict.fromkeys(attack.numbers)
    return {name: np.ravel(value)[0] for name, value in with_numbers(attack, found).items()}


def _unknown(attack: Attack, name: str) -> str:
    if name in attack.subject or name in attack.numbers:
        return f"{name} differs from person to person; a condition is about parameters"
    members = (node.name for group in attack.groups.values() for node in group.member_nodes())
    if name in {*attack.nodes, *attack.groups, *members}:  # the graph may not be sound yet
        return f"{name} is a node; a condition is about parameters and derived numbers"
    return f'no parameter "{name}"; {did_you_mean(name, [*attack.parameters, *attack.numbers])}'


def with_numbers(attack: Attack, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of the parameters, with those of the numbers that follow from them."""
    if not attack.numbers:
        return values
    return {**values, **attack.derived.values(values, values)}


def broken_condition(attack: Attack, values: Mapping[str, Any]) -> str | None:
    """The first condition that does not hold at some setting, and where; None when all hold."""
    values = with_numbers(attack, values) if attack.conditions else values
    broken = first_broken(attack, values)
    if broken is None:
        return None
    condition, first = broken
    named = {n: np.atleast_1d(np.asarray(values[n], float)) for n in condition.names}
    at = {n: float(v[min(first, len(v) - 1)]) for n, v in named.items()}
    return f"{condition} does not hold at {_at(at)}"


def first_broken(attack: Attack, values: Mapping[str, Any]) -> tuple[Condition, int] | None:
    """The first condition that does not hold, and at which of the settings; `values` are of all."""
    for condition in attack.conditions:
        held = np.atleast_1d(condition.holds(values, attack.derived.terms))
        if not held.all():
            return condition, int(np.argmin(held))
    return None


def conditions_hold(
    attack: Attack, values: Mapping[str, Array], settings: int
) -> NDArray[np.bool_]:
    """Which of the settings satisfy every condition."""
    held = np.ones(settings, dtype=bool)
    values = with_numbers(attack, values) if attack.conditions else values
    for condition in attack.conditions:
        held &= condition.holds(values, attack.derived.terms)
    return held


def _at(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name}={value:.12g}" for name, value in values.items())


def refuse_beyond_range(
    parameters: Mapping[str, Parameter], settings: Mapping[str, Any], *, beyond_range: bool
) -> None:
    """Values outside a declared range are an error, unless the caller asks for them.

    A parameter that is no probability and has no range of its own may have any value.
    """
    for name, given in settings.items():
        unit, (low, high) = parameters[name].unit, parameters[name].range
        if np.asarray(given).dtype.kind not in "fiu":
            continue  # what is no number is refused where it is read
        values = np.ravel(np.asarray(given, dtype=float))
        never = values[(values < 0) | (values > 1)]
        if unit == PROBABILITY and never.size:
            message = f"{name}={never[0]:.12g} is not a probability: it must lie between 0 and 1"
            raise UsageError(message)
        hair = PRINTED * max(abs(low), abs(high))  # an end is told in twelve digits
        outside = values[(values < low - hair) | (values > high + hair)]
        if low < high and outside.size and not beyond_range:
            said = (
                f"{name}={outside[0]:.12g} lies outside its range {low:.12g} to {high:.12g} "
                f"({unit}); to ask it all the same, "
            )
            raise UsageError(
                f"{said}beyond_range=True (--beyond-range)", in_shell=f"{said}--beyond-range"
            )
