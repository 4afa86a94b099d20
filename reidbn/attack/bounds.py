"""Between which values a formula lies when its names lie in ranges: proved, never sampled.

Three proofs, and what holds is where they meet.  Interval arithmetic follows the formula; it is
quick, and too wide where a name stands twice, as in p + (1 - p) q.  A polynomial with every name at
most to the power of one is largest and smallest at corners of the box.  Any other polynomial lies
between the smallest and the largest of its Bernstein coefficients on the box,

    p(x) = sum_i c_i x^i = sum_k b_k B_k,n(x),    b_k = sum_(i <= k) C(k, i) / C(n, i) c_i       (1)

since the B_k,n are never negative and sum to 1.  Polynomials are multiplied out in rationals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import product

import numpy as np

from reidbn.attack.formula import Term

Interval = tuple[float, float]
EVERYTHING: Interval = (-math.inf, math.inf)
CROSSED = 1e-13  # by which rounding lets the ends of two enclosures cross
MOST_TERMS = 1_024  # coefficients of a polynomial that is multiplied out
MOST_DEGREE = 24  # of one name in it
Powers = tuple[int, ...]
Polynomial = dict[Powers, Fraction]


def enclosure(
    term: Term, ranges: Mapping[str, Interval], ordered: frozenset[tuple[str, str]] = frozenset()
) -> Interval:
    """Between which values the formula lies; infinite where that is not known.

    `ordered` holds pairs (a, b) of names with a <= b wherever anything is asked.

    >>> from reidbn.attack.formula import parse
    >>> enclosure(parse("p + (1 - p) * q"), {"p": (0, 1), "q": (0, 1)})
    (0.0, 1.0)
    >>> enclosure(parse("4 * p * (1 - p)"), {"p": (0, 1)})
    (0.0, 2.0)
    """
    if any(not _is_chance(s.args[0], ranges, ordered) for s in term.walk() if s.op == "any"):
        return EVERYTHING
    found = interval(term, ranges, ordered)
    names = term.names
    read = [step.name for step in term.walk() if step.op == "name"]
    # A name that stands once makes interval arithmetic exact: nothing to gain.
    repeated = found is None or len(read) > len(names)
    if repeated and all(math.isfinite(end) for name in names for end in ranges[name]):
        poly = polynomial(term, names, ranges)
        if poly is not None:
            exact = _bernstein(poly, names, ranges)
            found = exact if found is None else within_both(found, exact)
    return EVERYTHING if found is None or not found[0] <= found[1] else found


def _is_chance(
    term: Term, ranges: Mapping[str, Interval], ordered: frozenset[tuple[str, str]]
) -> bool:
    low, high = enclosure(term, ranges, ordered)
    return low >= -CROSSED and high <= 1 + CROSSED


def within_both(one: Interval, other: Interval) -> Interval:
    """What lies in two enclosures of one number; ends that crossed by rounding are exchanged.

    >>> within_both((0.1, 0.3), (0.2, 0.5)), within_both((0.5, 0.5), (0.5 + 1e-16 * 2, 0.6))
    ((0.2, 0.3), (0.5, 0.5000000000000002))
    """
    low, high = max(one[0], other[0]), min(one[1], other[1])
    crossed = high < low <= high + CROSSED * max(1.0, abs(low), abs(high))
    return (high, low) if crossed else (low, high)


# -- interval arithmetic ---------------------------------------------------------------------------


def interval(
    term: Term, ranges: Mapping[str, Interval], ordered: frozenset[tuple[str, str]] = frozenset()
) -> Interval | None:
    """Between which values a step lies; None where it may have no value at all."""
    if term.op == "number":
        return term.number, term.number
    if term.op == "name":
        low, high = ranges[term.name]
        return float(low), float(high)
    parts = [interval(arg, ranges, ordered) for arg in term.args]
    args = [part for part in parts if part is not None]
    found = _operation(term.op, args) if len(args) == len(parts) else None
    if found is None or math.isnan(found[0]) or math.isnan(found[1]):
        return None
    if term.op == "/" and args[0][0] >= 0 and args[1][0] > 0:
        below = (term.args[0].name, term.args[1].name) in ordered  # 0 <= a <= b and 0 < b
        found = found[0], min(found[1], 1.0) if below else found[1]
    return found


def _operation(op: str, args: list[Interval]) -> Interval | None:
    lows, highs = [a[0] for a in args], [a[1] for a in args]
    if op in ("min", "max"):
        pick = min if op == "min" else max
        return pick(lows), pick(highs)
    if op in ("exp", "log"):
        return _curved(op, lows[0], highs[0])
    if op == "neg":
        return -highs[0], -lows[0]
    return _OF_TWO[op](*args)


def _curved(op: str, low: float, high: float) -> Interval | None:
    with np.errstate(all="ignore"):
        function = np.exp if op == "exp" else np.log
        return None if op == "log" and low <= 0 else (float(function(low)), float(function(high)))


def _hull(values: Iterable[float]) -> Interval:
    found = list(values)
    return min(found), max(found)


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def _quotient(top: Interval, bottom: Interval) -> Interval | None:
    if bottom[0] <= 0 <= bottom[1]:
        return None
    return _hull(_times(a, 0.0 if math.isinf(b) else 1 / b) for a in top for b in bottom)


def _power(base: Interval, exponent: Interval) -> Interval | None:
    """Of a base that is never negative, or to a whole power that is written out."""
    low, high = base
    with np.errstate(all="ignore"):
        if low > 0 or (low == 0 and exponent[0] >= 0):
            return _hull(float(np.power(a, b)) for a in base for b in exponent)
        if exponent[0] != exponent[1] or exponent[0] < 0 or exponent[0] % 1:
            return None
        ends = [float(np.power(end, exponent[0])) for end in base]
        if exponent[0] % 2 or high <= 0 or exponent[0] == 0:
            return _hull(ends)
        return 0.0, max(ends)


def _any(chance: Interval, times: Interval) -> Interval | None:
    if not 0 <= chance[0] <= chance[1] <= 1:
        return None
    found = _power((1 - chance[1], 1 - chance[0]), times)
    return None if found is None else (1 - found[1], 1 - found[0])


_OF_TWO: dict[str, Callable[[Interval, Interval], Interval | None]] = {
    "+": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "-": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "*": lambda a, b: _hull(_times(x, y) for x in a for y in b),
    "/": _quotient,
    "^": _power,
    "any": _any,
}


# -- polynomials -----------------------------------------------------------------------------------


def polynomial(
    term: Term, names: tuple[str, ...], ranges: Mapping[str, Interval]
) -> Polynomial | None:
    """The formula multiplied out; None where it is no polynomial, or too long a one.

    A name whose range is one number counts as that number.
    """
    if term.op == "number":
        return _constant(Fraction(term.number), names)
    if term.op == "name":
        low, high = ranges[term.name]
        if low == high:
            return _constant(Fraction(low), names)
        return {tuple(int(name == term.name) for name in names): Fraction(1)}
    parts = [polynomial(arg, names, ranges) for arg in term.args]
    if any(part is None for part in parts):
        return None
    return _combined(term.op, [part for part in parts if part is not None], names)


def _combined(op: str, parts: list[Polynomial], names: tuple[str, ...]) -> Polynomial | None:
    one = _constant(Fraction(1), names)
    if op == "+":
        return _added(parts[0], parts[1], 1)
    if op == "-":
        return _added(parts[0], parts[1], -1)
    if op == "neg":
        return _added({}, parts[0], -1)
    if op == "*":
        return _product(parts[0], parts[1])
    if op not in ("/", "^", "any"):
        return None
    fixed = _number(parts[1])
    if op == "/":
        return _scaled(parts[0], 1 / fixed) if fixed else None
    if fixed is None or fixed.denominator != 1 or not 0 <= fixed <= MOST_DEGREE:
        return None
    if op == "^":
        return _raised(parts[0], int(fixed), one)
    left = _raised(_added(one, parts[0], -1), int(fixed), one)
    return None if left is None else _added(one, left, -1)


def _constant(value: Fraction, names: tuple[str, ...]) -> Polynomial:
    return {(0,) * len(names): value} if value else {}


def _number(poly: Polynomial) -> Fraction | None:
    """The number that it is, if it is one."""
    if not poly:
        return Fraction(0)
    (powers, value), *more = poly.items()
    return None if more or any(powers) else value


def _added(a: Polynomial, b: Polynomial, sign: int) -> Polynomial:
    out = dict(a)
    for powers, value in b.items():
        out[powers] = out.get(powers, Fraction(0)) + sign * value
    return {powers: value for powers, value in out.items() if value}


def _scaled(a: Polynomial, by: Fraction) -> Polynomial:
    return {powers: value * by for powers, value in a.items()}


def _product(a: Polynomial, b: Polynomial) -> Polynomial | None:
    if len(a) * len(b) > 8 * MOST_TERMS:
        return None
    out: Polynomial = {}
    for one, x in a.items():
        for two, y in b.items():
            powers = tuple(i + j for i, j in zip(one, two, strict=True))
            out[powers] = out.get(powers, Fraction(0)) + x * y
    high = max((power for powers in out for power in powers), default=0)
    if len(out) > MOST_TERMS or high > MOST_DEGREE:
        return None
    return {powers: value for powers, value in out.items() if value}


def _raised(base: Polynomial, times: int, one: Polynomial) -> Polynomial | None:
    found: Polynomial | None = one
    for _ in range(times):
        found = None if found is None else _product(found, base)
    return found


def _bernstein(
    poly: Polynomial, names: tuple[str, ...], ranges: Mapping[str, Interval]
) -> Interval:
    """The smallest and largest Bernstein coefficient on the box, equation (1), a hair outwards."""
    degrees = [max((powers[j] for powers in poly), default=0) for j in range(len(names))]
    sizes = [d + 1 for d in degrees]
    if math.prod(sizes) > MOST_TERMS:
        return EVERYTHING
    grid = np.zeros(sizes, dtype=object)
    grid += Fraction(0)
    for powers, value in poly.items():
        grid[powers] = value
    for axis, name in enumerate(names):
        matrix = _to_bernstein(degrees[axis], *map(Fraction, ranges[name]))
        grid = np.moveaxis(np.tensordot(matrix, grid, axes=(1, axis)), 0, axis)
    low, high = min(grid.flat), max(grid.flat)
    return float(low), float(high)


def _to_bernstein(degree: int, low: Fraction, high: Fraction) -> np.ndarray:
    """From coefficients of x^i to Bernstein coefficients on [low, high]."""
    width = high - low
    out = np.zeros((degree + 1, degree + 1), dtype=object)
    out += Fraction(0)
    for i, k in product(range(degree + 1), repeat=2):
        # x = low + width t; t^j has coefficient C(i, j) low^(i-j) width^j, and b_k as in (1).
        terms = (
            Fraction(math.comb(k, j), math.comb(degree, j))
            * math.comb(i, j) * low ** (i - j) * width**j
            for j in range(min(i, k) + 1)
        )  # fmt: skip
        out[k, i] = sum(terms, Fraction(0))
    return out
