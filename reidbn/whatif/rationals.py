"""An answer as a polynomial with rational coefficients, for networks small enough.

Engines give floats, and a polynomial through floats has lost what makes a root a double one.  Here
every entry of every table is read as a fraction, the simplest that its float cannot be told from
(0.3 is 3/10), as a polynomial in the parameter; the network is then multiplied out in whole
numbers.  A table that is not, exactly, a polynomial of the degree that its kind declares, a
network that is too large and an answer that the engine does not confirm all give None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.numbers import table_degree
from reidbn.inference.asked import Asked
from reidbn.inference.lowering import Lowering
from reidbn.inference.network import Network, PlainNode, plain_nodes
from reidbn.inference.values import subject_values
from reidbn.theory.real_roots import Whole, common, divided, simplest, through, whole

MOST_WORK = 100_000  # multiplications of whole numbers, over all points
MOST_ENTRIES = 1_500  # of all tables: each is read as a fraction at a few points
MOST_DEGREE = 16
CLOSE = Fraction(1, 2**51)  # relative: two units in a float's last place
AGREES = 1e-12  # how near the engine's own answer has to be, of the largest

Objects = NDArray[Any]  # arrays of Python's whole numbers, or of fractions
Table = tuple[tuple[str, ...], Objects]


def fraction(x: float) -> Fraction:
    """The simplest fraction that a float cannot be told from.

    >>> fraction(0.3), fraction(1 - 0.9)
    (Fraction(3, 10), Fraction(1, 10))
    """
    exact = Fraction(float(x))
    return simplest(exact * (1 - CLOSE), exact * (1 + CLOSE)) if exact else exact


def written(x: float) -> Fraction:
    """A number as it was written: 0.2 is one fifth."""
    return Fraction(repr(float(x)))


def rational_parts(case: Asked, name: str) -> tuple[Whole, Whole] | None:
    """N and E of the one subject's answer N(p) / E(p), without common factors; None if not known.

    E is a number when nothing is given.
    """
    degree = case.degree(name)
    if degree is None or degree > MOST_DEGREE or case.count != 1:
        return None
    at_zero = _network(case, name, 0.0)
    if sum(f.table.size for f in at_zero.factors.values()) > MOST_ENTRIES:
        return None
    tables = _tables(case, name, at_zero)
    if tables is None:
        return None
    points = [Fraction(i) for i in range(degree + 2)]  # one more than needed: a check
    found = [_at(case, tables, at_zero, x) for x in points]
    if any(pair is None for pair in found):
        return None
    tops, bottoms = zip(*(pair for pair in found if pair is not None), strict=True)
    top, bottom = through(points, tops), through(points, bottoms)
    if top[-1] or bottom[-1] or not any(bottom) or not _confirmed(case, name, top, bottom):
        return None
    return _reduced(top, bottom)


def _network(case: Asked, name: str, value: float) -> Network:
    settings = {**case.settings, name: value}
    lowering = Lowering.of(case.attack, settings, case.query, validate=False)
    return lowering.network(subject_values(case.attack, case.subject)).do(case.query.do)


def _reduced(top: list[Fraction], bottom: list[Fraction]) -> tuple[Whole, Whole]:
    """Both in whole numbers, on one scale, with what they share divided out."""
    shared = common(whole(top), whole(bottom))
    above, below = (divided(coefs, shared) for coefs in (top, bottom))
    scale = lcm(*(c.denominator for c in (*above, *below)))
    return [int(c * scale) for c in above], [int(c * scale) for c in below]


# -- tables as polynomials ---------------------------------------------------------------------


def _tables(case: Asked, name: str, at_zero: Network) -> dict[str, list[Objects]] | None:
    """The tables' coefficients in the parameter, lowest power first; None if not exact."""
    out: dict[str, list[Objects]] = {}
    others: dict[Fraction, dict[str, PlainNode]] = {}
    for plain in plain_nodes(at_zero):
        node = case.attack.all_nodes[plain.name]
        sizes = {n: case.base(n) for n in case.attack.structural}
        parents = [case.attack.variable(p, sizes) for p in node.parents]
        degree: int | None = 0
        if plain.name not in case.query.do:
            degree = table_degree(case.attack, node.cpd, name, parents, case.settings)
        if degree is None:
            return None
        points = _points(degree)
        for x in points:
            if x not in others:
                others[x] = {p.name: p for p in plain_nodes(_network(case, name, float(x)))}
        coefs = _fitted(points, [_fractions(others[x][plain.name]) for x in points])
        if coefs is None:
            return None
        out[plain.name] = coefs
    return out


def _points(degree: int) -> list[Fraction]:
    """Points that fix a polynomial, and one to check it: 0, 1, then halves, quarters, ..."""
    if degree == 0:
        return [Fraction(0)]
    parts = 2
    while parts < degree + 1:
        parts *= 2
    grid = [Fraction(i, parts) for i in range(parts + 1)]
    return sorted(grid, key=lambda x: (x.denominator, x))[: degree + 2]


def _fitted(points: Sequence[Fraction], values: Sequence[Objects]) -> list[Objects] | None:
    if len(points) == 1:
        return [values[0]]
    flat = np.stack([v.reshape(-1) for v in values])
    fits = [through(points, list(column)) for column in flat.T]
    if any(fit[-1] for fit in fits):  # the point that was to check
        return None
    return [
        np.array([fit[k] for fit in fits], dtype=object).reshape(values[0].shape)
        for k in range(len(points) - 1)
    ]


def _fractions(node: PlainNode) -> Objects:
    """A table's entries as fractions; every row sums to 1 exactly."""
    rows = []
    for row in node.rows.tolist():
        found = [fraction(x) for x in row]
        largest = max(range(len(found)), key=lambda i: (found[i].denominator, abs(found[i])))
        found[largest] += 1 - sum(found)
        rows.append(found)
    return np.array(rows, dtype=object).reshape(node.table.shape)


# -- multiplying out ---------------------------------------------------------------------------


def _at(
    case: Asked, tables: dict[str, list[Objects]], network: Network, x: Fraction
) -> tuple[Fraction, Fraction] | None:
    """P(target, evidence) and P(evidence) at one value of the parameter."""
    scale = 1
    there: list[Table] = []
    for plain in plain_nodes(network):
        values = np.array(Fraction(0), dtype=object)
        for coef in reversed(tables[plain.name]):
            values = values * x + coef
        denominator = lcm(*(v.denominator for v in values.flat))
        scale *= denominator
        numbers = np.array([int(v * denominator) for v in values.flat], dtype=object)
        there.append(((*plain.parents, plain.name), numbers.reshape(values.shape)))
    seen = {n: network.state_index(n, s) for n, s in case.query.given.items()}
    wanted = {n: network.state_index(n, s) for n, s in case.query.wanted.items()}
    if any(seen.get(n, i) != i for n, i in wanted.items()):
        top: int | None = 0
    else:
        top = _summed(there, seen | wanted)
    bottom = _summed(there, seen) if seen else scale
    if top is None or bottom is None:
        return None
    return Fraction(top, scale), Fraction(bottom, scale)


def _summed(tables: Sequence[Table], fixed: dict[str, int]) -> int | None:
    """The sum over all cases that agree with what is fixed; None when that is too much work."""
    todo = [_sliced(table, fixed) for table in tables]
    work = 0
    while True:
        axes = {a for names, _ in todo for a in names}
        if not axes:
            return int(prod(int(v) for _, v in todo))
        sizes = {a: v.shape[names.index(a)] for names, v in todo for a in names}
        best = min(axes, key=lambda a: (_cost(a, todo, sizes), a))
        work += _cost(best, todo, sizes) * (MOST_DEGREE + 2)
        if work > MOST_WORK:
            return None
        touched = [t for t in todo if best in t[0]]
        todo = [t for t in todo if best not in t[0]] + [_joined(touched, best)]


def _sliced(table: Table, fixed: dict[str, int]) -> Table:
    names, values = table
    where: Any = tuple(fixed.get(n, slice(None)) for n in names)
    return tuple(n for n in names if n not in fixed), np.asarray(values[where], dtype=object)


def _cost(axis: str, tables: Iterable[Table], sizes: dict[str, int]) -> int:
    around = {a for names, _ in tables if axis in names for a in names}
    return prod(sizes[a] for a in around)


def _joined(tables: Sequence[Table], axis: str) -> Table:
    """The product of the tables, summed over one axis."""
    names = [axis, *dict.fromkeys(a for t, _ in tables for a in t if a != axis)]
    out: Any = 1
    for axes, values in tables:
        ordered = np.transpose(values, [axes.index(a) for a in names if a in axes])
        shape = iter(ordered.shape)
        out = out * ordered.reshape([next(shape) if a in axes else 1 for a in names])
    return tuple(names[1:]), np.asarray(out.sum(axis=0), dtype=object)


def _confirmed(case: Asked, name: str, top: Sequence[Fraction], bottom: Sequence[Fraction]) -> bool:
    """The engine's own answers within the range agree."""
    low, high = case.parameter(name).range
    points = np.unique([low, (low + high) / 2, (2 * low + high) / 3, high, case.base(name)])
    found = case.evaluate({name: points}, validate=False)
    parts = [(top, found.numerator[0])]
    parts += [] if found.evidence is None else [(bottom, found.evidence[0])]
    for coefs, values in parts:
        size = max(float(np.abs(values).max()), 1e-300)
        for x, value in zip(points, values, strict=True):
            true = sum(c * Fraction(float(x)) ** i for i, c in enumerate(coefs))
            if abs(float(true) - float(value)) > AGREES * size:
                return False
    return True
