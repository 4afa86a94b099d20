"""Every kind of CPD at a node, with the same story told in plain Python and rationals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np

import reidbn as rb
from reidbn.cpds import CPD, Scope, Variable, shipped_kinds

HALF = Fraction(1, 2)
X, Y = Variable("x"), Variable("y")
KNOWN = Variable("known", members=("a", "b"))  # mask 0..3; a is bit 0
SIZE = Variable("size", tuple("01234"))
RAIN = Variable("rain", ("dry", "wet", "flood"))
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
