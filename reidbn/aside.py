"""What has to be said beside an answer: once in a call, however often it was met on the way.

with hearing():               # every public call does so (calls.py)
aside(key, .2, "...")     # anything below, at every setting that it looks at
aside(key, .7, "...")
asides()                    # the gravest of each key, for the notes of a result
in_passing(key, 3, "...")   # of the work and not of its result, so that no note has it
# the outermost call says them as warnings
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Hashable
from contextvars import ContextVar
from types import TracebackType

from reidbn.errors import ReidbnWarning


class _Passing(tuple[Hashable]):
    """The key of what is said of the work."""


_HEARD: ContextVar[hearing | None] = ContextVar("heard", default=None)


class hearing:  # noqa: N801 - reads as a word of the language, as suppress() does
    """Gathers what is said beside answers while it is open."""

    def __init__(self) -> None:
        self.gravest: dict[Hashable, tuple[float, str]] = {}

    @property
    def texts(self) -> tuple[str, ...]:
        kept = {k: text for k, (_, text) in self.gravest.items() if not isinstance(k, _Passing)}
        return tuple(kept.values())

    def keep(self, key: Hashable, weight: float, text: str) -> None:
        if key not in self.gravest or weight > self.gravest[key][0]:
            self.gravest[key] = weight, text

    def __enter__(self) -> hearing:
        self._outer = _HEARD.get()
        self._token = _HEARD.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        _HEARD.reset(self._token)
        if kind is not None:
            return  # nothing was answered
        for key, (weight, text) in self.gravest.items():
            if self._outer is None:
                _warn(text)
            else:
                self._outer.keep(key, weight, text)


def aside(key: Hashable, weight: float, text: str) -> None:
    """Say something beside an answer; of one key only what weighs most is passed on."""
    heard = _HEARD.get()
    if heard is None:
        _warn(text)
    else:
        heard.keep(key, weight, text)


def in_passing(key: Hashable, weight: float, text: str) -> None:
    """Say something of the work, such as what it costs: beside an answer, and in no result."""
    aside(_Passing((key,)), weight, text)


def asides() -> tuple[str, ...]:
    """What has been said beside the answers of this call."""
    heard = _HEARD.get()
    return () if heard is None else heard.texts


def _warn(text: str) -> None:
    """A warning that points to the line outside the house."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("reidbn."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, ReidbnWarning, stacklevel=level)
