"""Which values parameters may have: their declared ranges, and the conditions of `where`.

A range is the author's word on what is believable, so a value beyond it is refused unless the
caller insists.  A condition such as `leaked <= records` is part of the story and always holds.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.parts import PROBABILITY, Parameter
from reidbn.errors import Problem, UsageError, did_you_mean

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack

Array = NDArray[np.float64]
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt,
}  # fmt: skip
_FORM = re.compile(r"\s*\$?([^\s<>=]+)\s*(<=|>=|<|>)\s*\$?([^\s<>=]+)\s*\Z")
_EXAMPLE = "leaked <= records"


@dataclass(frozen=True)
class Condition:
    """One comparison of two parameters, or of a parameter with a number."""

    left: str | float
    sign: str
    right: str | float

    @classmethod
    def read(cls, text: str) -> Condition:
        """The condition in a text.

        >>> Condition.read("leaked <= records")
        Condition(left='leaked', sign='<=', right='records')
        """
        found = _FORM.match(text)
        sides = [_side(found[1]), _side(found[3])] if found else []
        if found is None or not any(isinstance(side, str) for side in sides):
            raise UsageError(
                f'"{text}" is no condition: write one comparison (<, <=, >, >=) of two parameters, '
                f"or of a parameter and a number, such as {_EXAMPLE}"
            )
        return cls(sides[0], found[2], sides[1])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(side for side in (self.left, self.right) if isinstance(side, str))

    def holds(self, values: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Where it holds, for values (or arrays over settings) of the parameters."""
        left, right = (values[s] if isinstance(s, str) else s for s in (self.left, self.right))
        return np.asarray(_SIGNS[self.sign](np.asarray(left, float), np.asarray(right, float)))

    def __str__(self) -> str:
        return f"{_shown(self.left)} {self.sign} {_shown(self.right)}"


def _side(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _shown(side: str | float) -> str:
    return side if isinstance(side, str) else f"{side:.12g}"


def condition_problems(attack: Attack) -> Iterator[Problem]:
    """What is wrong with the conditions of an attack, or with its values under them."""
    for i, text in enumerate(attack.where):
        where = ("where", i)
        try:
            condition = Condition.read(text)
        except UsageError as problem:
            yield Problem(where, str(problem))
            continue
        unknown = [name for name in condition.names if name not in attack.parameters]
        if unknown:
            hint = did_you_mean(unknown[0], attack.parameters)
            yield Problem(where, f'no parameter "{unknown[0]}"; {hint}')
            continue
        named = {name: attack.parameters[name].value for name in condition.names}
        numbers = all(isinstance(v, int | float) for v in named.values())
        if numbers and not condition.holds(named):
            yield Problem(where, f"{condition} does not hold at {_at(named)}")


def broken_condition(attack: Attack, values: Mapping[str, Any]) -> str | None:
    """The first condition that does not hold at some setting, and where; None when all hold."""
    for condition in attack.conditions:
        named = {n: np.atleast_1d(np.asarray(values[n], float)) for n in condition.names}
        held = np.broadcast_to(condition.holds(named), max(len(v) for v in named.values()))
        if not held.all():
            first = int(np.argmin(held))
            at = {n: float(v[min(first, len(v) - 1)]) for n, v in named.items()}
            return f"{condition} does not hold at {_at(at)}"
    return None


def conditions_hold(
    attack: Attack, values: Mapping[str, Array], settings: int
) -> NDArray[np.bool_]:
    """Which of the settings satisfy every condition."""
    held = np.ones(settings, dtype=bool)
    for condition in attack.conditions:
        held &= condition.holds(values)
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
        outside = values[(values < low) | (values > high)]
        if low < high and outside.size and not beyond_range:
            said = (
                f"{name}={outside[0]:.12g} lies outside its range {low:.12g} to {high:.12g} "
                f"({unit}); to ask it all the same, "
            )
            raise UsageError(
                f"{said}beyond_range=True (--beyond-range)", in_shell=f"{said}--beyond-range"
            )
