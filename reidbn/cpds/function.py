"""A CPD as a Python function of parents, parameters and subject data.

    @cpd_function("matches")
    def matches(known, class_size, p_error):
        return (1 - p_error) * (class_size == 1)

Its argument names are the edges: an argument that names a node or a group is a parent (its state
read as a number; yes is 1; a group is the number of known members), one that names a parameter or
a subject column is that.  It receives whole arrays and must be vectorised.  For a yes/no node it
returns P(yes); otherwise P(state) with the states on the last axis.  A model file stores only the
registered name: no code is ever read from a file.

What the author knows of it may be declared: its degree in a parameter, or that it is smooth, which
what-if goes by as far as it is not gainsaid; that it is a step, so that answers are scanned; or
that it is written for one case at a time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar
from weakref import WeakSet

import numpy as np

from reidbn.aside import in_passing
from reidbn.calls import described, typed
from reidbn.cpds.protocol import CPD, NO, YES, Array, Scope, Variable, yes_no
from reidbn.errors import ModelError, Problem, UsageError, did_you_mean

_REGISTERED: dict[str, Callable[..., Any]] = {}
_DECLARED: dict[str, Declared] = {}
_STEADY: WeakSet[Callable[..., Any]] = WeakSet()
"""Functions that were asked twice, and returned the same."""
SCALAR_CALLS = 10_000  # cases of a function for one at a time from which its cost is told


@dataclass(frozen=True)
class Declared:
    """What the author of a function says of it."""

    degree: Mapping[str, int] = field(default_factory=dict)
    smooth: bool = False
    step: bool = False
    scalar: bool = False


_UNDECLARED = Declared()


@typed
def cpd_function(
    name: str,
    *,
    degree: Mapping[str, int] | None = None,
    smooth: bool = False,
    step: bool = False,
    scalar: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function under a name, so that attacks that use it can be saved and loaded.

    `degree` says how often it multiplies a parameter with itself, {"p_looks": 1}: what-if answers
    are then those of that polynomial, and checked.  `smooth` says that it neither jumps nor has an
    edge, so that a quadrature is believed as far as it is measured; without, it is held against
    scattered points.  `step` says that it jumps, so that what-if looks value by value.  `scalar`
    says that it takes one number for each argument (`if` and `and` may be used); it is called case
    by case, which is slow.
    """
    declared = Declared(dict(degree or {}), smooth, step, scalar)
    if degree and (step or min(degree.values()) < 0):
        raise UsageError(f"function {name}: a degree is a whole number from 0, and a step has none")
    if smooth and step:
        raise UsageError(f"function {name}: what jumps is not smooth; say smooth or step")

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        known = _REGISTERED.get(name)
        if known is not None and _place(known) != _place(function):
            raise ModelError(f'a different function is already registered as "{name}"')
        _REGISTERED[name], _DECLARED[name] = function, declared
        return function

    return register


def _place(function: Callable[..., Any]) -> tuple[str, str]:
    return function.__module__, getattr(function, "__qualname__", type(function).__qualname__)


_ARRAYS = (
    "it is called with whole arrays (every parent state, person and setting at once) and must be "
    "vectorised"
)
_ONE_BY_ONE = "it is called case by case, with one number for each argument"
_LONGEST = 200  # letters of what an exception says


def _failure(problem: Exception, how: str, *, of_people: bool) -> str:
    """What went wrong in a function, and what to write; of people's data never a value."""
    said = str(problem)
    if how == _ARRAYS and "truth value of an array" in said:
        return (
            f"asks whether an array is true: {_ARRAYS}. Write np.where(condition, a, b) for "
            f"`a if condition else b`, & and | for `and` and `or`, np.minimum for min"
        )
    one = "can be converted to Python scalar" in said or "only length-1 arrays" in said
    if how == _ARRAYS and one:
        return f"uses an array as one number: {_ARRAYS}. Write np.exp for math.exp, and so on"
    own = "" if of_people or not said.strip() else f": {said.strip().splitlines()[0][:_LONGEST]}"
    return f"stopped with {_a(type(problem).__name__)}{own}; {how}"


def _a(word: str) -> str:
    return f"an {word}" if word[:1] in "AEIO" else f"a {word}"


def _fits(found: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(found, wanted) == wanted
    except ValueError:
        return False


@dataclass(frozen=True)
class Function(CPD):
    """P(state | parents) computed by a registered function, or by one given in Python."""

    kind: ClassVar[str] = "function"
    by_name: ClassVar[bool] = True
    name: str = field(metadata={"story": "the name it was registered under with @cpd_function"})
    function: Callable[..., Any] | None = field(default=None, metadata={"file": False})

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise UsageError("Function takes the registered name; for a function, Function.of(it)")
        super().__post_init__()

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Function:
        """The CPD of a Python function; registered functions keep their registered name."""
        for name, known in _REGISTERED.items():
            if known is function:
                return cls(name)
        if not callable(function) or not hasattr(function, "__name__"):
            raise UsageError(f"{described(function)} is no function with a name; def one")
        return cls(function.__name__, function)

    @property
    def callable(self) -> Callable[..., Any] | None:
        return self.function or _REGISTERED.get(self.name)

    @property
    def arguments(self) -> tuple[str, ...]:
        function = self.callable
        try:
            return tuple(inspect.signature(function).parameters) if function else ()
        except ValueError:
            raise UsageError(
                f"function {self.name} does not say what its arguments are; write one with def"
            ) from None

    def references(self) -> tuple[str, ...]:
        return self.arguments

    def probabilities(self, scope: Scope) -> Array:
        function = self.callable
        if function is None:  # the attack was checked at birth; the registry changed since
            raise ModelError(f'no function is registered as "{self.name}"')
        result, wanted = self._called(function, scope)
        yes_or_no = set(scope.child.states) == {"no", YES}
        if not _fits(result.shape if yes_or_no else result.shape[:-1], wanted):
            raise ModelError(
                f"{scope.child.name}: function {self.name} returned shape {result.shape} for "
                f"arguments that make {wanted} together; {self._how}"
            )
        if yes_or_no:
            return yes_no(scope.child, result)
        k = len(scope.child.states)
        if result.shape[-1:] != (k,):
            raise ModelError(
                f"{scope.child.name}: function {self.name} returned shape {result.shape}; "
                f"the last axis must hold the {k} states"
            )
        return result

    def _called(self, function: Callable[..., Any], scope: Scope) -> tuple[Array, tuple[int, ...]]:
        """What the function returns, and the shape that its arguments make together."""
        arguments = [self._argument(scope, a) for a in self.arguments]
        shape = np.broadcast_shapes(*(np.shape(a) for a in arguments))
        try:
            found = self._returned(function, arguments)
            anew = found if function in _STEADY else self._returned(function, arguments)
        except Exception as problem:  # whatever a function of the user's may raise
            of_people = any(scope.is_of_people(name) for name in self.arguments)
            said = _failure(problem, self._how, of_people=of_people)
            raise self._error(scope, said) from (None if of_people else problem)
        result = self._numbers(scope, found)
        if not np.array_equal(result, self._numbers(scope, anew), equal_nan=True):
            said = "returns something else each time: what it returns is to depend on its arguments"
            raise self._error(scope, f"{said} alone (no random draws)")
        with suppress(TypeError):  # what no weak reference may be made to is asked twice each time
            _STEADY.add(function)
        if self.declared.scalar:
            result = result.reshape(*shape, *result.shape[1:])
        return result, shape

    def _returned(self, function: Callable[..., Any], arguments: list[Array]) -> Any:
        if self.declared.scalar:
            return self._one_by_one(function, arguments)
        return function(*arguments)

    def _error(self, scope: Scope, said: str) -> ModelError:
        return ModelError(f"{scope.child.name}: function {self.name} {said}")

    @property
    def _how(self) -> str:
        return _ONE_BY_ONE if self.declared.scalar else _ARRAYS

    def _numbers(self, scope: Scope, found: Any) -> Array:
        """What was returned as an array; refused where it is none."""
        if found is None or (isinstance(found, list) and any(one is None for one in found)):
            raise self._error(scope, "returned nothing (None): each of its ways ends in a return")
        try:
            return np.asarray(found, dtype=float)
        except (TypeError, ValueError):
            what = "no number" if self.declared.scalar else "no array of numbers"
            raise self._error(scope, f"returned something that is {what}: {self._how}") from None

    def _one_by_one(self, function: Callable[..., Any], arguments: list[Array]) -> list[Any]:
        """What a function for one case at a time returns, case after case."""
        cases = np.broadcast_arrays(*arguments)
        count = cases[0].size if cases else 1
        if count >= SCALAR_CALLS:
            in_passing(
                self.name,
                count,
                f"function {self.name} is called {count:,} times, case by case; written for whole "
                f"arrays (np.where for if) it would be called once",
            )
        if not cases:
            return [function()]
        return [function(*case) for case in zip(*(c.ravel().tolist() for c in cases), strict=True)]

    def stray(self, child: Variable, table: Array, *, of_people: bool) -> str:
        """What it returned that is no chance of a yes/no node; nothing where that is not the slip.

        What it made of a column of people is not told.
        """
        if {*child.states} != {NO, YES}:
            return ""
        returned = table[..., child.states.index(YES)]
        worst = float(returned.flat[np.argmax(np.abs(returned - 0.5))])  # NaN is taken first
        if 0 <= worst <= 1:
            return ""
        what = "NaN" if np.isnan(worst) else f"{worst:.6g}"
        if of_people:
            what = "something"
        return f"{child.name}: function {self.name} returned {what}; P(yes) lies between 0 and 1"

    @property
    def declared(self) -> Declared:
        """What its author says of it."""
        is_own = self.function is None or self.function is _REGISTERED.get(self.name)
        return _DECLARED.get(self.name, _UNDECLARED) if is_own else _UNDECLARED

    def degree_held(self, name: str, parents: Sequence[Variable]) -> int | None:
        return self.declared.degree.get(name)

    def _argument(self, scope: Scope, name: str) -> Array:
        if any(p.name == name for p in scope.parents):
            return scope.number(name)
        return scope.value(scope.resolve(name))

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        function = self.callable
        if function is None:
            message = (
                f'no function is registered as "{self.name}"; '
                f"import the module that registers it first, or name its file in the shell: "
                f"--functions FILE.py"
                + (f" ({did_you_mean(self.name, _REGISTERED)})" if _REGISTERED else "")
            )
            return [Problem(("name",), message)]
        unused = [p.name for p in parents if p.name not in self.arguments]
        return [Problem(("name",), f"does not read its parent {name}") for name in unused]

    def to_dict(self) -> dict[str, Any]:
        if self.name not in _REGISTERED or (self.function not in (None, _REGISTERED[self.name])):
            raise ModelError(
                f'function "{self.name}" is not registered, so it cannot be saved: '
                f'put @rb.cpd.cpd_function("{self.name}") above it'
            )
        return {"kind": self.kind, "name": self.name}
