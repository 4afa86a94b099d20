"""Formulas of derived numbers: a small grammar of our own, and what can be said of a formula.

    sum     = product { ("+" | "-") product }
    product = signed { ("*" | "/") signed }
    signed  = "-" signed | power
    power   = atom [ "^" signed ]                  so -x ^ 2 is -(x ^ 2), and 2 ^ -1 is a half
    atom    = number | name | function "(" sum { "," sum } ")" | "(" sum ")"

Names are parameters, subject columns and other numbers.  Nothing is ever evaluated as Python.
`any(p, n)` is 1 - (1 - p) ^ n with all its digits, however small p is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError, did_you_mean

Array = NDArray[np.float64]
_TOKEN = re.compile(
    r"\s*(?:(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|([^\W\d]\w*)|(\S))"
)
LAST_DIGITS = 1e-15  # of a number: so far off it may be, as it is written or worked out
NEAR = 1e-9  # of a whole number: more than any rounding that leaves a formula a value
HAIR = 1e-12  # by so much rounding may take a chance over 0 or 1, or a number over its range
_FUNCTIONS = {"min": (2, None), "max": (2, None), "exp": (1, 1), "log": (1, 1), "any": (2, 2)}
MOST_CHARACTERS = 2_000
MOST_DEPTH = 60


class FormulaError(UsageError):
    """What is wrong with a formula, and at which of its characters (from 0)."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True)
class Term:
    """One step of a formula: an operation with its arguments, a name, or a number."""

    op: str
    args: tuple[Term, ...] = ()
    name: str = ""
    number: float = 0.0
    at: int = 0

    def walk(self) -> Iterator[Term]:
        yield self
        for arg in self.args:
            yield from arg.walk()

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that is read, in order of appearance."""
        return tuple(dict.fromkeys(t.name for t in self.walk() if t.op == "name"))

    @property
    def literals(self) -> tuple[float, ...]:
        """The numbers that are written out."""
        return tuple(t.number for t in self.walk() if t.op == "number")


@cache
def parse(text: str) -> Term:
    """The formula in a text.

    >>> parse("1 - (1 - p_ill) ^ 150").names
    ('p_ill',)
    >>> parse("1 - (1 - p_ill")
    Traceback (most recent call last):
    reidbn.attack.formula.FormulaError: column 15: the bracket of column 5 is not closed
    """
    if len(text) > MOST_CHARACTERS:
        message = f"has {len(text):,} characters; a formula has at most {MOST_CHARACTERS:,}"
        raise FormulaError(message, 0)
    return _Parser(text).whole()


class _Parser:
    """Recursive descent; every complaint names the column, counted from 1."""

    def __init__(self, text: str) -> None:
        self.text, self.depth = text, 0
        self.tokens = [
            (m.start(m.lastindex or 0), m.lastindex, m[m.lastindex or 0])
            for m in _TOKEN.finditer(text)
            if m.lastindex
        ]
        self.next = 0

    def whole(self) -> Term:
        if not self.tokens:
            raise FormulaError("is empty; write a formula such as 1 - (1 - p) ^ 3", 0)
        found = self._sum()
        if self.next < len(self.tokens):
            at, kind, word = self.tokens[self.next]
            raise self._unexpected(at, kind, word)
        return found

    def _peek(self) -> str:
        if self.next >= len(self.tokens):
            return ""
        word = self.tokens[self.next][2]
        starred = word == "*" and self.next + 1 < len(self.tokens)
        if starred and self.tokens[self.next + 1][2] == "*":
            raise self._wrong(self.tokens[self.next][0], "** is written ^ here")
        return word

    def _take(self) -> tuple[int, str]:
        at, _, word = self.tokens[self.next]
        self.next += 1
        return at, word

    def _wrong(self, at: int, message: str) -> FormulaError:
        return FormulaError(f"column {at + 1}: {message}", at)

    def _unexpected(self, at: int, kind: int | None, word: str) -> FormulaError:
        if kind in (1, 2) or word == "(":
            return self._wrong(at, f'"{word}" follows without + - * / or ^ in between')
        if word == ")":
            return self._wrong(at, "closes a bracket that was never opened")
        if word in "$@":
            return self._wrong(at, f"names stand bare in a formula, without {word}")
        if word == ",":
            return self._wrong(at, "a comma stands only between the arguments of a function")
        allowed = "names, numbers, + - * / ^ ( ) and min max exp log any"
        return self._wrong(at, f'"{word}" has no meaning here; a formula holds {allowed}')

    def _sum(self) -> Term:
        found = self._product()
        while self._peek() in ("+", "-"):
            at, op = self._take()
            found = Term(op, (found, self._product()), at=at)
        return found

    def _product(self) -> Term:
        found = self._signed()
        while self._peek() in ("*", "/"):
            at, op = self._take()
            found = Term(op, (found, self._signed()), at=at)
        return found

    def _signed(self) -> Term:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            at = self.tokens[min(self.next, len(self.tokens) - 1)][0]
            raise self._wrong(at, f"is nested more than {MOST_DEPTH} deep; name a part of it")
        if self._peek() == "-":
            at, _ = self._take()
            found = Term("neg", (self._signed(),), at=at)
        else:
            found = self._power()
        self.depth -= 1
        return found

    def _power(self) -> Term:
        found = self._atom()
        if self._peek() == "^":
            at, _ = self._take()
            found = Term("^", (found, self._signed()), at=at)
        return found

    def _atom(self) -> Term:
        if not self._peek():
            raise self._wrong(len(self.text.rstrip()), "a name, a number or a bracket is missing")
        kind = self.tokens[self.next][1]
        at, word = self._take()
        if kind == 1:
            number = float(word)
            if math.isinf(number):
                raise self._wrong(at, f"{word} is not a finite number")
            return Term("number", number=number, at=at)
        if kind == 2:
            return self._called(at, word) if self._peek() == "(" else self._named(at, word)
        if word == "(":
            found = self._sum()
            self._close(at)
            return found
        if word in "+*/^)":
            raise self._wrong(at, f'a name, a number or a bracket is missing before "{word}"')
        raise self._unexpected(at, kind, word)

    def _named(self, at: int, name: str) -> Term:
        if name in _FUNCTIONS:
            raise self._wrong(at, f"{name} is a function: write {name}(...)")
        return Term("name", name=name, at=at)

    def _called(self, at: int, name: str) -> Term:
        if name not in _FUNCTIONS:
            raise self._wrong(at, f'no function "{name}"; {did_you_mean(name, _FUNCTIONS)}')
        opened, _ = self._take()
        args = [self._sum()]
        while self._peek() == ",":
            self._take()
            args.append(self._sum())
        self._close(opened)
        least, most = _FUNCTIONS[name]
        if len(args) < least or (most is not None and len(args) > most):
            wanted = f"{least}" if most == least else f"at least {least}"
            raise self._wrong(at, f"{name} takes {wanted} arguments and has {len(args)}")
        return Term(name, tuple(args), at=at)

    def _close(self, opened: int) -> None:
        if self._peek() == ")":
            self._take()
            return
        at = self.tokens[self.next][0] if self._peek() else len(self.text.rstrip())
        if self._peek() and self.tokens[self.next][2] != ",":
            raise self._unexpected(at, *self.tokens[self.next][1:])
        raise self._wrong(at, f"the bracket of column {opened + 1} is not closed")


# -- values ----------------------------------------------------------------------------------------


def evaluate(term: Term, value: Callable[[str], Any], *, strict: bool = False) -> Array:
    """The formula's value, on whole arrays; NaN or infinite where it has none.

    `strict`: none either where any(p, n) is of a p that is no chance.  A polynomial is read off
    beyond what may be, so there it goes on.
    """
    with np.errstate(all="ignore"):
        return _value(term, value, any_of_chance if strict else any_of)


def _value(term: Term, value: Callable[[str], Any], at_least_one: Callable[..., Array]) -> Array:
    if term.op == "number":
        return np.asarray(term.number)
    if term.op == "name":
        return np.asarray(value(term.name), dtype=float)
    args = [_value(arg, value, at_least_one) for arg in term.args]
    return np.asarray(at_least_one(*args) if term.op == "any" else _VALUES[term.op](*args))


def settled(
    term: Term, found: Array, values: Mapping[str, Any], terms: Mapping[str, Term]
) -> Array:
    """A formula's values `found`, whole where they are whole but for rounding: 0.07 * 100 is 7.

    What can never be has the chance 0 so, and a number of attempts is a count.

    >>> parts = {"a": np.array(0.7), "b": np.array(0.3)}
    >>> term = parse("1 - a - b")
    >>> found = evaluate(term, parts.__getitem__)
    >>> bool(found != 0), float(settled(term, found, parts, {}))
    (True, 0.0)
    """
    whole = np.rint(found)
    with np.errstate(invalid="ignore"):  # of infinities
        gap = np.abs(found - whole)
    near = (gap > 0) & (gap <= NEAR * np.maximum(np.abs(whole), 1.0))  # not where it is no number
    if not near.any():
        return found + 0.0
    return np.where(near & (gap <= rounding(term, values, terms)[1]), whole, found) + 0.0  # no -0


def rounding(
    term: Term, values: Mapping[str, Any], terms: Mapping[str, Term]
) -> tuple[Array, Array]:
    """A formula's value, and by how much the rounding of its parts may have moved it.

    `values` are those of the names in it; of some `terms` say how they came about.

    >>> value, off = rounding(parse("0.1 + a - 0.3"), {"a": 0.2}, {})
    >>> bool(value != 0), bool(abs(value) < off)
    (True, True)
    """

    @cache
    def error(name: str) -> Array:
        own = LAST_DIGITS * np.abs(value(name))
        if name not in terms:
            return np.asarray(own)
        found, off = _rounded(terms[name], value, error)
        is_own = (np.abs(found - value(name)) <= off) & (value(name) != np.rint(value(name)))
        return np.where(is_own, off, own)  # else it is held elsewhere, or taken as whole

    def value(name: str) -> Array:
        return np.asarray(values[name], dtype=float)

    with np.errstate(all="ignore"):
        return _rounded(term, value, error)


def _rounded(
    term: Term, value: Callable[[str], Array], error: Callable[[str], Array]
) -> tuple[Array, Array]:
    """The same to first order; what is divided by something that may be 0 may be anything."""
    if term.op == "number":
        return np.asarray(term.number), np.asarray(LAST_DIGITS * abs(term.number))
    if term.op == "name":
        return value(term.name), error(term.name)
    args, errors = zip(*(_rounded(arg, value, error) for arg in term.args), strict=True)
    found = np.asarray(any_of_chance(*args) if term.op == "any" else _VALUES[term.op](*args))
    off = LAST_DIGITS * np.where(np.isinf(found), 0.0, np.abs(found))  # too large to be written
    one, first = args[0], errors[0]
    if term.op in ("+", "-", "neg"):
        return found, off + sum(errors)
    if term.op in ("min", "max"):
        ends = (_VALUES[term.op](*(a + sign * e for a, e in zip(args, errors, strict=True)))
                for sign in (-1, 1))  # fmt: skip
        return found, off + np.maximum(*(np.abs(end - found) for end in ends))
    if term.op == "exp":
        return found, off + np.where(np.isinf(found), 0.0, np.exp(one + first) - found)
    if term.op == "log":
        return found, np.where(first < one, off + first / np.abs(one), np.inf)
    other, second = args[1], errors[1]
    if term.op == "*":
        return found, off + np.abs(one) * second + np.abs(other) * first
    if term.op == "/":
        share = (first + np.abs(found) * second) / np.abs(other)
        return found, np.where(second < np.abs(other), off + share, np.inf)
    base = np.abs(1 - one if term.op == "any" else one)  # else a power
    power = np.power(base, other)
    step = np.abs(np.power(base + first, other) - power)
    logs = np.where(base > 0, power * np.abs(np.log(base)) * second, 0.0)
    far = np.isinf(power) & (base > first)  # and no division by what may be 0
    return found, np.where(far, 0.0, off + step + logs)


def any_of(p: Array, n: Array) -> Array:
    """1 - (1 - p) ^ n, with all its digits for a small p.

    >>> float(any_of(np.array(1e-20), np.array(150.0)))
    1.5e-18
    """
    inside = (p >= 0) & (p < 1)
    small = -np.expm1(n * np.log1p(-np.where(inside, p, 0.0)))
    return np.asarray(np.where(inside, small, 1 - np.power(1 - p, n)))


def any_of_chance(p: Array, n: Array) -> Array:
    """The same; no value where p is no chance."""
    return np.asarray(np.where((p >= -HAIR) & (p <= 1 + HAIR), any_of(p, n), np.nan))


def _over_all(combine: Any) -> Callable[..., Any]:
    def found(*args: Array) -> Any:
        out = args[0]
        for arg in args[1:]:
            out = combine(out, arg)
        return out

    return found


_VALUES: dict[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "^": np.power,
    "neg": np.negative, "exp": np.exp, "log": np.log,
    "min": _over_all(np.minimum), "max": _over_all(np.maximum),
}  # fmt: skip


def inlined(term: Term, formulas: Mapping[str, Term]) -> Term:
    """The formula with every other number that it reads written out."""
    if term.op == "name" and term.name in formulas:
        return inlined(formulas[term.name], formulas)
    if not term.args:
        return term
    args = tuple(inlined(arg, formulas) for arg in term.args)
    return Term(term.op, args, term.name, term.number, term.at)


# -- degrees ---------------------------------------------------------------------------------------


def degree(
    term: Term, of: Callable[[str], int | None], most: Callable[[Term], int | None]
) -> int | None:
    """How often the formula multiplies something with itself; None where it is no polynomial.

    `of` has the degree of every name in it, `most` the largest value of an exponent that is always
    a whole number from 0 up, or None.
    """
    if term.op == "number":
        return 0
    if term.op == "name":
        return of(term.name)
    parts = [degree(arg, of, most) for arg in term.args]
    if all(part == 0 for part in parts):
        return 0
    if any(part is None for part in parts):
        return None
    known = [part for part in parts if part is not None]
    if term.op in ("+", "-", "neg"):
        return max(known)
    if term.op == "*":
        return sum(known)
    if term.op == "/" and known[1] == 0:
        return known[0]
    if term.op in ("^", "any") and known[1] == 0:
        times = most(term.args[1])
        return None if times is None else known[0] * times
    return None
