"""Every kind of CPD at a node, with the same story told in plain Python and rationals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from math import comb, prod
from typing import Any

import mpmath
import numpy as np

import reidbn as rb
from reidbn.cpds import CPD, Scope, Variable, shipped_kinds

HALF = Fraction(1, 2)
X, Y = Variable("x"), Variable("y")
KNOWN = Variable("known", members=("a", "b"))  # mask 0..3; a is bit 0
SIZE = Variable("size", tuple("01234"))
RAIN = Variable("rain", ("dry", "wet", "flood"))
ODD = Variable("odd", ("1", "4"))
PART = Variable("part", ("0", "0.1", "0.3"))
PARAMETERS = {"p": 0.125, "q": 0.75, "n": 3.0}
COLUMNS = {"class_size": [9.0, 1.0, 4.0, 1.0], "stays": [0.0, 0.5, 0.25, 1.0], "alone": 7.0}


@dataclass(frozen=True)
class Case:
    """A CPD, its place in a graph, and P(state) by hand for every configuration of the parents."""

    cpd: CPD
    by_hand: Callable[..., Any]
    parents: tuple[Variable, ...] = ()
    states: tuple[str, ...] = ("no", "yes")
    name: str = field(default="")

    @property
    def child(self) -> Variable:
        return Variable("child", self.states)

    def configurations(self) -> list[dict[str, int]]:
        names = [p.name for p in self.parents]
        ranges = [range(p.size) for p in self.parents]
        return [dict(zip(names, c, strict=True)) for c in product(*ranges)]

    def table(self) -> np.ndarray:
        """By hand: one row per configuration, one column per state."""
        rows = []
        for case in self.configurations():
            row = self.by_hand(**case)
            rows.append([1 - row, row] if isinstance(row, int | float | Fraction) else row)
        return np.array([[float(p) for p in row] for row in rows])


class AtRows(Scope):
    """Cases one per row; parents' states as vectors."""

    def __init__(self, case: Case, states: dict[str, np.ndarray]) -> None:
        self.child, self.parents, self.states = case.child, case.parents, states

    def state(self, parent: str) -> np.ndarray:
        return self.states[parent]

    def parameter(self, name: str) -> np.ndarray:
        return np.asarray(PARAMETERS[name])

    def column(self, name: str) -> np.ndarray:
        values = np.asarray(COLUMNS[name])
        return values[self.states["known"]] if values.ndim else values

    def resolve(self, name: str) -> str:
        return f"${name}" if name in PARAMETERS else f"@{name}"


class OnGrid(AtRows):
    """Every configuration at once, one axis per parent."""

    def __init__(self, case: Case) -> None:
        shape = [p.size for p in case.parents]
        grid = np.indices(shape, sparse=True) if shape else []
        super().__init__(case, dict(zip((p.name for p in case.parents), grid, strict=True)))


def at_rows(case: Case, configurations: np.ndarray) -> AtRows:
    """One row per given configuration (its position in `case.configurations()`)."""
    columns = np.array([[*c.values()] for c in case.configurations()], dtype=np.intp)
    columns = columns.reshape(len(case.configurations()), len(case.parents))
    return AtRows(
        case,
        {p.name: columns[configurations, i] for i, p in enumerate(case.parents)},
    )


def bits(mask: int) -> int:
    return mask.bit_count()


def noisy_or(leak: Any, *causes: Any) -> Fraction:
    left = 1 - Fraction(leak)
    for weight, count in causes:
        left *= (1 - Fraction(weight)) ** count
    return 1 - left


def hypergeometric(records: int, leaked: int, size: int, longest: int) -> list[Fraction]:
    ways = comb(records, leaked)
    return [Fraction(comb(size, h) * comb(records - size, leaked - h), ways) if h <= leaked else 0
            for h in range(longest + 1)]  # fmt: skip


def binomial(n: int, p: Fraction, longest: int) -> list[Fraction]:
    return [comb(n, k) * p**k * (1 - p) ** (n - k) if k <= n else Fraction(0)
            for k in range(longest + 1)]  # fmt: skip


def first_success(p: Fraction, budget: int, longest: int) -> list[Fraction]:
    each = [p * (1 - p) ** (k - 1) if k <= budget else Fraction(0) for k in range(1, longest + 1)]
    return [1 - sum(each), *each]


def poisson(mean: float, longest: int) -> list[float]:
    """In forty digits; the last state has the rest."""
    with mpmath.workdps(40):
        law = [mpmath.exp(-mean) * mpmath.mpf(mean) ** k / mpmath.factorial(k)
               for k in range(longest)]  # fmt: skip
        return [float(x) for x in (*law, 1 - sum(law))]


def near(score: Any, sd: float, states: int) -> list[float]:
    """A normal place about the score between 0 and 1, in equal parts; in forty digits."""
    with mpmath.workdps(40):
        at = [mpmath.ncdf((mpmath.mpf(i) / states - score) / sd) for i in range(states + 1)]
        return [float((b - a) / (at[-1] - at[0])) for a, b in pairwise(at)]


def highest(*causes: list[Fraction]) -> list[Fraction]:
    """Every combination of what the causes bring about, by the highest."""
    found = [Fraction(0)] * len(causes[0])
    for case in product(range(len(causes[0])), repeat=len(causes)):
        found[max(case)] += prod(p[i] for p, i in zip(causes, case, strict=True))
    return found


def only(at: int, states: int) -> list[int]:
    return [int(i == at) for i in range(states)]


@rb.cpd_function("cpd_cases.seen")
def seen(known, alone, p):
    return np.where(known > 0, p * known, 1 / alone)


@rb.cpd_function("cpd_cases.weather")
def weather(x):
    wet = 0.25 + 0.5 * x
    return np.stack([1 - wet, wet / 2, wet / 2], axis=-1)


WEATHER = ("dry", "wet", "flood")
COUNTS = ((1.0, 3.0), (0.0, 0.0), (5.0, 0.0))

CASES = {
    "and": Case(
        rb.And(), lambda x, y, known: x == 1 and y == 1 and known == 3, (X, Y, KNOWN)
    ),
    "or": Case(rb.Or(), lambda x, known: x == 1 or known > 0, (X, KNOWN)),
    "threshold": Case(
        rb.Threshold(2), lambda x, y, known: x + y + bits(known) >= 2, (X, Y, KNOWN)
    ),
    "noisy-or": Case(
        rb.NoisyOr({"x": 0.5, "known": "$p"}, leak=0.25),
        lambda x, known: noisy_or("1/4", (HALF, x), ("1/8", bits(known))),
        (X, KNOWN),
    ),
    "noisy-or, one weight": Case(
        rb.NoisyOr("$q"), lambda x, y: noisy_or(0, ("3/4", x), ("3/4", y)), (X, Y)
    ),
    "noisy-or, certain cause": Case(rb.NoisyOr(1.0, "$p"), lambda x: noisy_or("1/8", (1, x)), (X,)),
    "noisy-and": Case(
        rb.NoisyAnd({"x": 0.5, "known": "$p"}, leak=0.25),
        lambda x, known: 1 - noisy_or("1/4", (HALF, 1 - x), ("1/8", 2 - bits(known))),
        (X, KNOWN),
    ),
    "mixture": Case(
        rb.Mixture(("$p", "rest"), (rb.And(), rb.NoisyOr(0.5))),
        lambda x, y: Fraction(x * y, 8) + Fraction(7, 8) * noisy_or(0, (HALF, x), (HALF, y)),
        (X, Y),
    ),
    "mixture of a mixture": Case(
        rb.Mixture((0.25, 0.75), (rb.Mixture(("rest", 0.5), (rb.Or(), rb.And())), rb.Or())),
        lambda x, y: Fraction(1, 8) * (x and y) + Fraction(7, 8) * (x or y),
        (X, Y),
    ),
    "rows": Case(
        rb.Rows(
            (
                rb.Row({"yes": "$p", "no": "rest"}, {"rain": ("wet", "flood"), "x": "yes"}),
                rb.Row((0.5, 0.5), {"rain": "flood", "x": "*"}),
                rb.Row(("rest", 0.75)),
            )
        ),
        lambda rain, x: Fraction(1, 8) if rain and x else HALF if rain == 2 else Fraction(3, 4),
        (RAIN, X),
    ),
    "rows of three states": Case(
        rb.Rows((rb.Row({"wet": "$p", "flood": 0.25, "dry": "rest"}, {"x": "yes"}),
                 rb.Row({"flood": 1}))),
        lambda x: [Fraction(5, 8), Fraction(1, 8), Fraction(1, 4)] if x else [0, 0, 1],
        (X,),
        WEATHER,
    ),
    "rows without parents": Case(rb.Rows((rb.Row(("$q", "rest")),)), lambda: Fraction(1, 4)),
    "unique": Case(
        rb.Unique("@class_size", "@stays"), lambda known: [0, HALF, 0, 1][known], (KNOWN,)
    ),
    "unique, by a parent": Case(rb.Unique("size"), lambda size: size == 1, (SIZE,)),
    "one-over": Case(
        rb.OneOver("@class_size"),
        lambda known: Fraction(1, [9, 1, 4, 1][known]),
        (KNOWN,),
    ),
    "one-over, by a parent": Case(
        rb.OneOver("size", ("x",)),
        lambda x, size: Fraction(1, size) if x and size else 0,
        (X, SIZE),
    ),
    "share": Case(
        rb.Share("size", 4.0), lambda size: Fraction(size, 4), (SIZE,)
    ),
    "share of nothing": Case(
        rb.Share("x", "size"), lambda x, size: min(1, Fraction(x, size)) if size else 0, (X, SIZE)
    ),
    "probability": Case(
        rb.Probability("$p", ("x", "y")), lambda x, y: Fraction(x * y, 8), (X, Y)
    ),
    "probability of a column": Case(
        rb.Probability("@stays"), lambda known: [0, HALF, Fraction(1, 4), 1][known], (KNOWN,)
    ),
    "uniform": Case(rb.Uniform(), lambda: [Fraction(1, 3)] * 3, states=WEATHER),
    "hypergeometric-leak": Case(
        rb.HypergeometricLeak(20, 6, "size"),
        lambda size: hypergeometric(20, 6, size, 4),
        (SIZE,),
        tuple("01234"),
    ),
    "hypergeometric-leak, small leak": Case(
        rb.HypergeometricLeak(10, "$n", 4.0),
        lambda: hypergeometric(10, 3, 4, 5),
        (),
        tuple("012345"),
    ),
    "empirical": Case(
        rb.Empirical(COUNTS, prior=0.5),
        lambda rain: (Fraction(COUNTS[rain][1]) + HALF) / (Fraction(sum(COUNTS[rain])) + 1),
        (RAIN,),
    ),
    "empirical, two parents": Case(
        rb.Empirical(((1, 1), (1, 3), (1, 7), (0, 2))),
        lambda x, y: [HALF, Fraction(3, 4), Fraction(7, 8), 1][2 * x + y],
        (X, Y),
    ),
    "table": Case(
        shipped_kinds()["table"](((0.5, 0.25, 0.25), (0.0, 1.0, 0.0))),
        lambda x: [0, 1, 0] if x else [HALF, Fraction(1, 4), Fraction(1, 4)],
        (X,),
        WEATHER,
    ),
    "lookup": Case(
        rb.Lookup(("no", "yes", "yes")), lambda rain: rain > 0, (RAIN,)
    ),
    "count": Case(
        rb.cpd.Count(), lambda x, known, y: only(x + y + bits(known), 6), (X, KNOWN, Y),
        tuple("012345"),
    ),
    "sum": Case(
        rb.cpd.Sum(("size", "x", "odd")),
        lambda x, size, odd: only([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].index(x + size + (1, 4)[odd]), 10),
        (X, SIZE, ODD),
        tuple("0123456789"),
    ),
    "sum of parts": Case(
        rb.cpd.Sum(), lambda part, odd: only({1: 0, 1.1: 1, 1.3: 2, 4: 3, 4.1: 4, 4.3: 5}[
            round((0, 0.1, 0.3)[part] + (1, 4)[odd], 1)], 6), (PART, ODD),
        ("1", "1.1", "1.3", "4", "4.1", "4.3"),
    ),
    "minus": Case(
        rb.cpd.Minus(("size", "x", "y")), lambda x, size, y: only(max(size - x - y, 0), 5),
        (X, SIZE, Y), tuple("01234"),
    ),
    "minus, below nought": Case(
        rb.cpd.Minus(("x", "size")), lambda x, size: only(x - size + 4, 6), (X, SIZE),
        ("-4", "-3", "-2", "-1", "0", "1"),
    ),
    "max": Case(
        rb.cpd.Max(), lambda size, odd, x: only(max(size, (1, 4)[odd], x) - 1, 4),
        (SIZE, ODD, X), tuple("1234"),
    ),
    "binomial": Case(
        rb.cpd.Binomial("size", "$p"), lambda size: binomial(size, Fraction(1, 8), 5), (SIZE,),
        tuple("012345"),
    ),
    "binomial of a number": Case(
        rb.cpd.Binomial(3, "@stays"),
        lambda known: binomial(3, [Fraction(0), HALF, Fraction(1, 4), Fraction(1)][known], 3),
        (KNOWN,), tuple("0123"),
    ),
    "at-most": Case(
        rb.cpd.AtMost("size", "odd"), lambda size, odd: only(min(size, (1, 4)[odd]), 5),
        (SIZE, ODD), tuple("01234"),
    ),
    "at-most of a column": Case(
        rb.cpd.AtMost("size", "@alone"), lambda size: only(min(size, 7), 5), (SIZE,),
        tuple("01234"),
    ),
    "at-most of a parameter": Case(
        rb.cpd.AtMost("$n", "size"), lambda size: only(min(3, size), 5), (SIZE,), tuple("01234"),
    ),
    "geometric": Case(
        rb.cpd.Geometric(p="$p", budget="size"),
        lambda size: first_success(Fraction(1, 8), size, 4), (SIZE,), tuple("01234"),
    ),
    "geometric, to the last state": Case(
        rb.cpd.Geometric(p="@stays"),
        lambda known: first_success(
            [Fraction(0), HALF, Fraction(1, 4), Fraction(1)][known], 3, 3), (KNOWN,), tuple("0123"),
    ),
    "geometric, found or not": Case(
        rb.cpd.Geometric(p="$p", budget="size"), lambda size: 1 - Fraction(7, 8) ** size, (SIZE,)
    ),
    "geometric among candidates": Case(
        rb.cpd.Geometric(among="odd", budget="size"),
        lambda size, odd: [1 - Fraction(min(size, (1, 4)[odd]), (1, 4)[odd]),
                           *(Fraction(int(k <= min(size, (1, 4)[odd])), (1, 4)[odd])
                             for k in range(1, 5))],
        (SIZE, ODD), tuple("01234"),
    ),
    "geometric among candidates, found or not": Case(
        rb.cpd.Geometric(among=3.0, budget="size"), lambda size: Fraction(min(size, 3), 3), (SIZE,)
    ),
    "poisson": Case(rb.cpd.Poisson("size"), lambda size: poisson(size, 3), (SIZE,), tuple("0123")),
    "poisson of a parameter": Case(rb.cpd.Poisson("$n"), lambda: poisson(3, 12), (),
                                   tuple(map(str, range(13)))),
    "ranked": Case(
        rb.cpd.Ranked({"rain": 3.0, "x": "$n", "known": -2.0}, p=("$p", 0.25, 0.5, "$q")),
        lambda rain, x, known: (
            lambda s: [Fraction(1, 8), Fraction(1, 4), HALF, Fraction(3, 4)][min(int(s), 2)]
            + (s - min(int(s), 2)) * ([Fraction(1, 8), Fraction(1, 4), HALF, Fraction(3, 4)][
                min(int(s), 2) + 1] - [Fraction(1, 8), Fraction(1, 4), HALF][min(int(s), 2)])
        )(3 * (Fraction(3 * rain, 2) + 3 * x + 2 - bits(known)) / 8),
        (RAIN, X, KNOWN),
    ),
    "ranked, more states": Case(
        rb.cpd.Ranked({"rain": 1.0, "x": 1.0}, sd=0.25),
        lambda rain, x: near((rain / 2 + x) / 2, 0.25, 4), (RAIN, X), tuple("abcd"),
    ),
    "noisy-max": Case(
        rb.cpd.NoisyMax((
            rb.Row({"wet": 0.5, "dry": "rest"}, {"x": "yes"}),
            rb.Row((0.25, "$p", "rest"), {"rain": "wet"}),
            rb.Row({"flood": 1}, {"rain": "flood"}),
            rb.Row({"dry": "rest", "flood": 0.125}),
        )),
        lambda x, rain: highest(
            [HALF, HALF, 0] if x else [1, 0, 0],
            [[1, 0, 0], [Fraction(1, 4), Fraction(1, 8), Fraction(5, 8)], [0, 0, 1]][rain],
            [Fraction(7, 8), 0, Fraction(1, 8)],
        ),
        (X, RAIN), WEATHER,
    ),
    "function": Case(
        rb.Function("cpd_cases.seen"),
        lambda known: Fraction(bits(known), 8) if known else Fraction(1, 7),
        (KNOWN,),
    ),
    "function of three states": Case(
        rb.Function("cpd_cases.weather"),
        lambda x: [Fraction(1, 4), Fraction(3, 8), Fraction(3, 8)] if x
        else [Fraction(3, 4), Fraction(1, 8), Fraction(1, 8)],
        (X,),
        WEATHER,
    ),
}  # fmt: skip
