"""Calls with the wrong kind of thing: said in one sentence, before anything is made of it.

    @typed
    def ask(attack: Attack | str, target: str, *, rows: int = 1_000_000) -> Answer: ...

    ask(3, "a=yes")  ->  UsageError: ask: attack is an int; it takes an Attack or text

The annotations are what is checked.  Only what a value is, never what is in a person's record, is
told.  A hint that cannot be read here (of a library that is not imported) lets everything pass.
"""

from __future__ import annotations

import errno
import os
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from typing import Any, Literal, TypeVar, Union, Unpack, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from reidbn.aside import hearing
from reidbn.errors import ReidbnError, UsageError, did_you_mean
from reidbn.late import at_first_sight

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
# Arguments that functions judge themselves, in words of their own.
_JUDGED = frozenset(("target", "given", "do", "grid", "threshold", "what", "classes", "population"))
_SEVERAL = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
_MOST = 1_000  # members of a list or mapping that are looked at
_LONGEST = 2**128  # a whole number of a call is below; a seed may have so many bits
_ARRAY = frozenset(get_args(ArrayLike))


def typed(function: F) -> F:
    """Check what a public function is called with against its annotations.

    What has to be said beside its answer (aside.py) is said once, when it is done.
    """
    names = signature(function)

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        try:
            bound = names.bind(*arguments, **named)
        except TypeError as problem:
            raise _misfitting_call(function.__name__, names, named, problem) from None
        hints = _hints(function)
        for name, value in bound.arguments.items():
            kind, hint = names.parameters[name].kind, hints.get(name, Any)
            if kind is Parameter.VAR_KEYWORD and get_origin(hint) is Unpack:
                _refuse_unknown(function.__name__, value, names.parameters, get_args(hint)[0])
            elif name not in _JUDGED and kind not in _SEVERAL:
                refuse_misfit(function.__name__, name, value, hint)
            if name == "seed" and isinstance(value, int):
                refuse_outside("seed", value, least=0, most=_LONGEST - 1)
        with hearing():
            try:
                return function(*arguments, **named)
            except OSError as problem:
                if problem.errno != errno.ENAMETOOLONG:
                    raise
                raise UsageError(f"{function.__name__}: {_TOO_LONG}") from None

    return cast(F, called)


_TOO_LONG = "a name is too long for a file; the text of a model is read by rb.loads(text)"


def refuse_misfits_at_birth(owner: Any) -> None:
    """A class that is made with a field it does not have, or of what cannot be, says so."""
    made = owner.__init__
    if "__init__" in vars(owner) and not hasattr(made, "__wrapped__"):
        owner.__init__ = _judged_if_it_fails(made, owner.__name__, owner)


def says_misfits(owner: type[T]) -> type[T]:
    """The public methods of a class say which argument is none, where they could not answer."""
    for name, method in list(vars(owner).items()):
        is_own = isinstance(method, types.FunctionType) and not name.startswith("_")
        if is_own and not hasattr(method, "__wrapped__"):
            setattr(owner, name, _judged_if_it_fails(method, name))
    return owner


def _judged_if_it_fails(method: Any, what: str, *owners: Any) -> Any:
    """The annotations are looked at where it failed, so that nothing is paid where it does not."""

    @wraps(method)
    def called(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return method(self, *arguments, **named)
        except (TypeError, AttributeError, ValueError, LookupError, ArithmeticError) as raised:
            if isinstance(raised, ReidbnError):
                raise
            names = signature(method)
            try:
                bound = names.bind(self, *arguments, **named)
            except TypeError as problem:
                raise _misfitting_call(what, names, named, problem) from None
            hints: dict[str, Any] = {}
            for one in (*owners, method):
                hints |= _hints(one)
            for name, value in list(bound.arguments.items())[1:]:
                if names.parameters[name].kind not in _SEVERAL:
                    refuse_misfit(what, name, value, hints.get(name, Any))
            raise

    return called


at_first_sight.append(refuse_misfits_at_birth)


def together(call: str, **values: ArrayLike) -> list[np.ndarray[Any, Any]]:
    """Numbers, and arrays of one shape, side by side.

    >>> [a.tolist() for a in together("risk", leaked=[1, 2], records=10)]
    [[1, 2], [10, 10]]
    """
    arrays = {name: np.asarray(value) for name, value in values.items()}
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items() if a.ndim)
        raise UsageError(
            f"{call}: arrays of different lengths ({shapes}); give numbers, or arrays of one shape"
        ) from None


def _misfitting_call(
    function: str, names: Signature, named: Mapping[str, Any], problem: TypeError
) -> UsageError:
    """A call with an argument that is not there, too many, or too few."""
    known = [name for name in names.parameters if name != "self"]
    for name in named:
        if name == "unknown" and "known" in known:
            return UsageError(
                f'{function} takes no "unknown": say it in what is known, known='
                f'rb.microdata.knowledge(people, ..., unknown=["age"])'
            )
        if name not in known:
            return UsageError(f'{function} takes no "{name}"; {did_you_mean(name, known)}')
    return UsageError(f"{function}: {problem}; it takes {', '.join(known)}")


def renamed(**older: str) -> Callable[[F], F]:
    """Take arguments by their older words too, with the same meaning: `@renamed(rows="draws")`.

    help() and signatures show the word of today alone.
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def called(*arguments: Any, **named: Any) -> Any:
            for old in older.keys() & named.keys():
                word = older[old]
                if word in named:
                    raise UsageError(
                        f"{function.__name__}: {old} is an older word for {word}; give {word} alone"
                    )
                named[word] = named.pop(old)
            return function(*arguments, **named)

        return cast(F, called)

    return decorate


def older(word: str) -> Any:
    """A field by the word it once had, with the same value: `rows = older("draws")` in a class."""
    return property(lambda thing: getattr(thing, word), doc=f"The same as `{word}`.")


def _refuse_unknown(
    function: str, named: Mapping[str, Any], own: Mapping[str, Any], more: type
) -> None:
    """Arguments by name that stand in a dictionary type of their own (PEP 692)."""
    hints = _hints(more)
    for name, value in named.items():
        if name not in hints:
            known = [*(n for n in own if own[n].kind is not Parameter.VAR_KEYWORD), *hints]
            raise UsageError(f'{function} takes no "{name}"; {did_you_mean(name, known)}')
        if name not in _JUDGED:
            refuse_misfit(function, name, value, hints[name])


def check_fields(
    thing: Any, *, apart: Iterable[str] = (), instead: Mapping[str, Any] | None = None
) -> None:
    """Check the fields of a dataclass at its birth, but for those that are judged elsewhere.

    `instead` gives hints for fields that are born from more than what they hold later.
    """
    owner: Any = type(thing)
    hints = _hints(owner)
    for field in fields(thing):
        if field.name not in apart:
            value = getattr(thing, field.name)
            hint = (instead or {}).get(field.name) or hints.get(field.name, Any)
            refuse_misfit(owner.__name__, field.name, value, hint)


def refuse_misfit(what: str, name: str, value: Any, hint: Any) -> None:
    if not fits(value, hint):
        if get_origin(hint) is Literal and isinstance(value, str):
            raise UsageError(f'no {name} "{value}"; {did_you_mean(value, get_args(hint))}')
        instead = getattr(type(value), "instead", "")  # what a thing of the house is asked for
        for option in () if instead else get_args(hint) or (hint,):
            if hasattr(option, "remedy"):  # a thing that is made by a function of the house
                raise UsageError(f"{what}: {name}: {type(value).__name__} is {option.remedy}")
        found = described(value)
        if instead:
            found += f", {instead}"
        elif isinstance(value, Mapping | list | tuple | set | np.ndarray):
            for one in [*value][:1] if getattr(value, "shape", True) else ():
                found += f" with {described(one)} in it"
        raise UsageError(f"{what}: {name} is {found}; it takes {said(hint)}")


def fits(value: Any, hint: Any) -> bool:
    """True when a value is what a hint says, as far as can be seen.

    >>> fits({"a": 1}, Mapping[str, float]), fits(["a"], Mapping[str, float])
    (True, False)
    """
    origin, inner = _parts(hint)
    if origin in (Union, types.UnionType):
        others, ours = _options(hint)
        if ours and isinstance(value, os.PathLike) and str in others:
            return True  # where a text may stand for one of our own things, it may name a file
        is_array = len(others) < len(inner) and _is_numbers(value)
        return is_array or any(fits(value, option) for option in others)
    if origin is Literal:
        return any(type(value) is type(option) and value == option for option in inner)
    if hint is None or hint is type(None):
        return value is None
    if origin is not None:
        return _fits_several(value, origin, inner)
    if not isinstance(hint, type) or hint is object:
        return True
    if hint is float:
        return isinstance(value, int | float | np.number | np.bool_) and _is_real(value)
    if hint is int:
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return whole and abs(int(value)) < _LONGEST
    if hint is str:
        return isinstance(value, str) and "\0" not in value
    if hint is bool:
        return isinstance(value, bool | np.bool_ | int)
    try:
        return isinstance(value, hint) and _is_taken_as(hint, type(value))
    except TypeError:  # a protocol that cannot be looked at
        return True


def _is_taken_as(hint: type, kind: type) -> bool:
    """Whether a thing that says what is asked of it `instead` is named itself, and not a base."""
    owner = next((one for one in kind.__mro__ if "instead" in vars(one)), None)
    return owner is None or issubclass(hint, owner)


@cache
def _parts(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """A hint's origin and what stands in its brackets."""
    return get_origin(hint), get_args(hint)


@cache
def _options(hint: Any) -> tuple[tuple[Any, ...], bool]:
    """The options of a hint without those that are NumPy's ArrayLike; whether one is our own."""
    others = _besides_arrays(get_args(hint))
    ours = [o for o in others if isinstance(o, type) and o.__module__.startswith("reidbn.")]
    return others, bool(ours)


def _besides_arrays(options: tuple[Any, ...]) -> tuple[Any, ...]:
    """The options of a hint without those that are NumPy's ArrayLike."""
    return tuple(o for o in options if o not in _ARRAY) if _ARRAY.issubset(options) else options


def _is_numbers(value: Any) -> bool:
    """A number, or a regular array of numbers that are all there."""
    if isinstance(value, Mapping | set | str | bytes):
        return False
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError):  # ragged, or nothing that NumPy knows
        return False
    return array.dtype.kind in "biu" or (array.dtype.kind == "f" and bool(np.isfinite(array).all()))


def _is_real(value: Any) -> bool:
    """A number that a computer can hold: no complex one, and no whole number of 400 digits."""
    try:
        float(value)
    except (OverflowError, TypeError):
        return False
    return not isinstance(value, np.complexfloating)


def _fits_several(value: Any, origin: Any, inner: tuple[Any, ...]) -> bool:
    """Mappings, tuples and lists, and what is in them."""
    if not isinstance(origin, type) or issubclass(origin, np.ndarray):
        return not isinstance(origin, type) or isinstance(value, origin)
    if issubclass(origin, Mapping) and len(inner) == 1:  # things by their names, made of a list
        value = [*value.values()] if isinstance(value, Mapping) else value
        return _fits_several(value, Iterable, inner)
    if issubclass(origin, Mapping):  # what is in it is judged by name, where it is read
        return isinstance(value, Mapping) and all(fits(key, inner[0]) for key in value)
    if issubclass(origin, str | bytes) or not issubclass(origin, Iterable):
        return isinstance(value, origin)
    if isinstance(value, str | bytes | Mapping | type) or not isinstance(value, Iterable):
        return False
    if getattr(value, "ndim", 1) != 1:  # a frame or a matrix is no list
        return False
    item = inner[0] if inner else Any
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and all(fits(member, item) for member in value[:_MOST].tolist())
    if isinstance(value, set | frozenset):
        return not issubclass(origin, Sequence) and all(fits(member, item) for member in value)
    if not isinstance(value, Sequence):  # a generator: left as it is
        return True
    fixed = issubclass(origin, tuple) and inner and Ellipsis not in inner
    if fixed:
        return len(value) == len(inner) and all(map(fits, value, inner))
    return all(fits(member, item) for member in value[:_MOST])


def refuse_outside(name: str, value: float, *, least: float, most: float) -> None:
    """A number of a call (rows, a seed, a level) must lie where it can be meant."""
    if not least <= value <= most:
        raise UsageError(f"{name}={value!s:.24}: it must lie between {least:g} and {most:g}")


def described(value: Any) -> str:
    """What a value is, without what is in it.

    >>> described(3), described([1]), described(None)
    ('an int', 'a list', 'None')
    """
    if value is None:
        return "None"
    if isinstance(value, int) and abs(value) >= _LONGEST:
        return "a whole number of more digits than a computer counts with"
    if isinstance(value, str) and "\0" in value:
        return "a text with a character of code 0 in it"
    kind = type(value).__name__
    return f"an {kind}" if kind[:1].lower() in "aeio" else f"a {kind}"


_WORDS: dict[Any, str] = {
    str: "text", float: "a number", int: "a whole number", bool: "True or False",
    type(None): "None", os.PathLike: "a path",
}  # fmt: skip


def said(hint: Any) -> str:
    """A hint in words.

    >>> said(Mapping[str, float] | None)
    'a mapping {name: a number} or None'
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        others = _besides_arrays(inner)
        words = ["numbers"] if len(others) < len(inner) else []
        return " or ".join(dict.fromkeys([*words, *map(said, others)]))
    if origin is Literal:
        return " or ".join(repr(option) for option in inner)
    if hint in _WORDS or origin in _WORDS:
        return _WORDS.get(hint) or _WORDS[origin]
    if isinstance(origin, type) and issubclass(origin, Mapping) and len(inner) > 1:
        return f"a mapping {{name: {said(inner[1])}}}"
    if isinstance(origin, type) and issubclass(origin, Iterable) and inner:
        kinds = " and ".join(dict.fromkeys(said(i) for i in inner if i is not Ellipsis))
        return f"a list of {kinds}"
    if hint is Any:
        return "anything"
    if isinstance(hint, type):
        return f"an {hint.__name__}" if hint.__name__[:1] in "AEIO" else f"a {hint.__name__}"
    return str(hint).replace("typing.", "")


_READ: dict[Any, dict[str, Any]] = {}


def _hints(thing: Any) -> dict[str, Any]:
    """The annotations of a function or dataclass; one that cannot be read lets everything pass."""
    if thing in _READ:
        return _READ[thing]
    found: dict[str, Any] = {}
    owners = thing.__mro__[::-1] if isinstance(thing, type) else (thing,)
    for owner in owners:
        space = vars(sys.modules[owner.__module__]) if owner.__module__ in sys.modules else {}
        for name, text in getattr(owner, "__annotations__", {}).items():
            found[name] = _read_hint(name, text, dict(space))
    if None not in found.values():  # else read again when more of the house is there
        _READ[thing] = found
    return {name: Any if hint is None else hint for name, hint in found.items()}


def _read_hint(name: str, text: Any, space: dict[str, Any]) -> Any:
    """A hint; None where it names what no loaded file of the house has."""
    holder = type("Holder", (), {"__annotations__": {name: text}})
    while True:
        try:
            return get_type_hints(holder, globalns=space)[name]
        except NameError as problem:  # imported for the checker of types alone
            here = _of_the_house(problem.name or "")
            if here is None:
                return None
            space[problem.name or ""] = here
        except (AttributeError, TypeError):
            return Any


def _of_the_house(name: str) -> Any:
    for module in list(sys.modules):
        if module.startswith("reidbn.") and name in vars(sys.modules[module]):
            return vars(sys.modules[module])[name]
    return None
