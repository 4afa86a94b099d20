"""Real roots of a polynomial with rational coefficients, each one found, none made up.

Floating point cannot tell a root of multiplicity seven from a stretch that comes near nought; whole
numbers can.  P / gcd(P, P') has every root of P once, and the chain [Sturm29]

    p_0 = P,   p_1 = P',   p_{i+1} = -(p_{i-1} mod p_i)

changes sign V(x) times at x, with exactly V(a) - V(b) roots of P in (a, b]                    (1)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm

Whole = list[int]  # coefficients, lowest power first, the last one not 0; [] is the polynomial 0
Root = tuple[Fraction, Fraction]  # a root lies in (low, high], or is both of them

FINEST = Fraction(1, 2**58)  # of a root's own size: below the last digit of a float


def whole(coefs: Sequence[Fraction]) -> Whole:
    """The polynomial in whole numbers without a common factor, signs kept.

    >>> whole([Fraction(1, 2), Fraction(-1, 3), Fraction(0)])
    [3, -2]
    """
    scale = lcm(*(c.denominator for c in coefs)) if coefs else 1
    return _primitive([int(c * scale) for c in coefs])


def _primitive(coefs: Whole) -> Whole:
    out = list(coefs)
    while out and out[-1] == 0:
        out.pop()
    common = gcd(*out) if out else 1
    return [c // common for c in out]


def through(points: Sequence[Fraction], values: Sequence[Fraction]) -> list[Fraction]:
    """Coefficients of the polynomial with these values at these points (Newton's differences).

    >>> through([Fraction(0), Fraction(1), Fraction(2)], [Fraction(0), Fraction(1), Fraction(4)])
    [Fraction(0, 1), Fraction(0, 1), Fraction(1, 1)]
    """
    parts = list(values)
    for k in range(1, len(points)):
        for i in range(len(points) - 1, k - 1, -1):
            parts[i] = (parts[i] - parts[i - 1]) / (points[i] - points[i - k])
    out: list[Fraction] = []
    for point, part in zip(reversed(points), reversed(parts), strict=True):
        out = [Fraction(0), *out]
        for i in range(len(out) - 1):
            out[i] -= point * out[i + 1]
        out[0] += part
    return out


def slope(p: Whole) -> Whole:
    return _primitive([i * c for i, c in enumerate(p)][1:])


def remainder(a: Whole, b: Whole) -> Whole:
    """A mod b, times a positive number."""
    out, lead = list(a), b[-1]
    while len(out) >= len(b):
        top, shift = out[-1], len(out) - len(b)
        scale, take = (lead, top) if lead > 0 else (-lead, -top)
        out = [scale * c for c in out]
        for i, c in enumerate(b):
            out[i + shift] -= take * c
        out = _primitive(out)
    return out


def divided(a: Sequence[Fraction], b: Whole) -> list[Fraction]:
    """A / b, where b is a factor of a.

    >>> divided([Fraction(-1), Fraction(0), Fraction(1)], [1, 1])
    [Fraction(-1, 1), Fraction(1, 1)]
    """
    out, rest = [Fraction(0)] * max(len(a) - len(b) + 1, 0), list(a)
    for shift in reversed(range(len(out))):
        out[shift] = rest[shift + len(b) - 1] / b[-1]
        for i, c in enumerate(b):
            rest[i + shift] -= out[shift] * c
    return out


def common(a: Whole, b: Whole) -> Whole:
    """The greatest common divisor of two polynomials.

    >>> common([-1, 0, 1], [1, 2, 1])  # (x - 1)(x + 1) and (x + 1)^2
    [1, 1]
    """
    while b:
        a, b = b, remainder(a, b)
    return a if not a or a[-1] > 0 else [-c for c in a]


def square_free(p: Whole) -> Whole:
    """The polynomial with every root of `p`, once."""
    shared = common(p, slope(p))
    return whole(divided([Fraction(c) for c in p], shared)) if len(shared) > 1 else p


def sign_at(p: Whole, x: Fraction) -> int:
    """1, 0 or -1: the sign of p(x), in whole numbers."""
    total, power = 0, 1
    for c in reversed(p):
        total = total * x.numerator + c * power
        power *= x.denominator
    return (total > 0) - (total < 0)


def real_roots(p: Whole, low: Fraction, high: Fraction) -> list[Root]:
    """Every distinct root in [low, high], increasing, each to the last digit of a float.

    >>> [float(b) for _, b in real_roots([0, 0, 0, 1], Fraction(0), Fraction(1))]
    [0.0]
    """
    simple = square_free(p)
    found: list[Root] = [(low, low)] if sign_at(simple, low) == 0 else []
    chain = [simple, slope(simple)]
    while len(chain[-1]) > 1:
        chain.append([-c for c in remainder(chain[-2], chain[-1])])
    todo = [(low, high, _changes(chain, low), _changes(chain, high))]
    while todo:
        a, b, at_a, at_b = todo.pop()
        if at_a - at_b == 1:
            found.append(_narrowed(simple, a, b))
        elif at_a > at_b:
            middle = (a + b) / 2
            at = _changes(chain, middle)
            todo += [(middle, b, at, at_b), (a, middle, at_a, at)]
    return found


def _changes(chain: Sequence[Whole], x: Fraction) -> int:
    signs = [s for s in (sign_at(p, x) for p in chain) if s]
    return sum(a != b for a, b in pairwise(signs))


def _narrowed(p: Whole, a: Fraction, b: Fraction) -> Root:
    """The one simple root in (a, b] to the last digit, or exactly where halving meets it."""
    at_b = sign_at(p, b)
    if at_b == 0:
        return b, b
    span = b - a
    while b - a > FINEST * max(abs(a), abs(b), span * FINEST):
        middle = (a + b) / 2
        at = sign_at(p, middle)
        if at == 0:
            return middle, middle
        a, b = (a, middle) if at == at_b else (middle, b)
    guess = simplest(a, b)  # such as 1/3, which halving never meets
    return (guess, guess) if sign_at(p, guess) == 0 else (a, b)


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator from low to high.

    >>> simplest(Fraction(33, 100), Fraction(34, 100))
    Fraction(1, 3)
    """
    if low > high:
        low, high = high, low
    if high < 0:
        return -simplest(-high, -low)
    floor = low.numerator // low.denominator
    if floor == low or low <= 0:
        return Fraction(max(floor, 0))
    if floor + 1 <= high:
        return Fraction(floor + 1)
    rest = simplest(1 / (high - floor), 1 / (low - floor))
    return floor + 1 / rest
