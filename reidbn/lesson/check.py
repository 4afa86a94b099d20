"""check: whether an answer to an exercise of the lessons is right, and a hint where it is not.

The right answer, and the usual wrong ones, are worked out by the library when they are asked for
(answers.py); nothing is printed here that would give the answer away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from reidbn.calls import typed
from reidbn.errors import UsageError
from reidbn.lesson.answers import EXERCISES, Exercise

NEAR = 0.005  # of the answer: three digits are enough, and of a chance the three after the point
A_WORD = "An answer is one number or one word."
NOT_YET = "Exercise {}: no answer yet. {}"


@dataclass(frozen=True)
class Checked:
    """What was said of an answer."""

    exercise: int
    right: bool
    words: str

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return self.words

    __repr__ = __str__


@typed
def check(exercise: int, answer: Any = None) -> Checked:
    """Whether the answer to an exercise is right; a hint where it is not.

    `exercise` is its number: three to a lesson, lesson 1 has 1 to 3.  `answer` is a number (three
    digits are enough; a count is whole), a word, or what the library answered; without it the
    question is said again.
    """
    if exercise not in EXERCISES:
        raise UsageError(f"exercises are 1 to {max(EXERCISES)}, three to a lesson")
    asked = EXERCISES[exercise]
    if answer is None or answer is ...:
        return Checked(exercise, right=False, words=NOT_YET.format(exercise, asked.asks))
    given = _plain(answer)
    if given is None:
        return Checked(exercise, right=False, words=f"Exercise {exercise}: not yet. {A_WORD}")
    if _right(given, asked.answer()) or given in asked.also:
        return Checked(exercise, right=True, words=f"Exercise {exercise}: right. {asked.so}")
    return Checked(
        exercise, right=False, words=f"Exercise {exercise}: not yet. {_hint(asked, given)}"
    )


def _hint(asked: Exercise, given: float | str) -> str:
    for wrong, hint in asked.usual:
        if _same(given, wrong()):
            return hint
    right = asked.answer()
    if isinstance(right, str) != isinstance(given, str):
        return f"The answer is a {'name' if isinstance(right, str) else 'number'}."
    if isinstance(right, float) and isinstance(given, float):
        if asked.is_probability and (not 0 <= given <= 1 or _right(given / 100, right)):
            return "A probability lies between 0 and 1; per cents are divided by 100."
        return f"That is too {'large' if given > right else 'small'}. {asked.hint}"
    return asked.hint


def _plain(answer: Any) -> float | str | None:
    """A number, a word in small letters, or nothing that can be an answer."""
    if isinstance(answer, str):
        return answer.strip().lower()
    if isinstance(answer, bool | np.bool_):
        return None
    convert: Callable[[Any], float] = float
    try:
        number = convert(answer)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def _right(given: float | str, right: float | str) -> bool:
    """Whether it is the answer, as the lessons print it; what is counted is counted exactly."""
    if isinstance(given, str) or isinstance(right, str):
        return given == right
    if right.is_integer():
        return abs(given - right) <= 1e-9 * abs(right)
    return _same(given, right) or (abs(right) >= 0.01 and given == round(right, 3))


def _same(given: float | str, right: float | str) -> bool:
    if isinstance(given, str) or isinstance(right, str):
        return given == right
    return abs(given - right) <= NEAR * abs(right) and (right != 0 or given == 0)
