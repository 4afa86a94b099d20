"""Where an answer is looked at along one parameter, before a curve or a quadrature is believed.

Even steps alone miss what peaks or bends between two of them.  Such a place lies in a formula: a
derived number is enclosed by interval arithmetic, and what an enclosure leaves open beyond the
values at the ends of a piece is halved, widest first, until nothing is.  So a peak is found
however narrow, where the formula says it.  In what is no formula (a function in Python, a kind of
table) that which lies between two of the even steps is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from heapq import heappop, heappush

import numpy as np

from reidbn.attack.bounds import interval
from reidbn.attack.formula import Term, inlined
from reidbn.attack.numbers import MOST_STEPS
from reidbn.inference.asked import Asked
from reidbn.inference.lowering import STEPS, cells, parts
from reidbn.inference.network import Array
from reidbn.inference.values import subject_values

LOOKED, FEWEST_LOOKED = 2_048, 64  # even steps of a range or a prior ...
LOOK_WORK = 1 << 24  # ... that take so many numbers
DECADES = 13  # of a range or a prior, that are looked at from either end
OPEN = 1 / 512  # of how far a formula's values are apart: what an enclosure may leave open
SAME = 1e-12  # of the largest value, likewise
FINEST = 1e-14  # of a range: the shortest piece
STEPS_READ = 1 << 15  # steps of a formula that are enclosed, in all, ...
FEWEST_HALVED = 256  # ... and pieces of a formula that are halved, at least
ROWS = 4  # people whose own formulas are looked at


def looked_at(case: Asked) -> int:
    """How many even steps a case is looked at."""
    return int(np.clip(LOOK_WORK // numbers_of(case), FEWEST_LOOKED, LOOKED))


def numbers_of(case: Asked) -> int:
    """About how many numbers one setting takes: the largest table, for every subject."""
    attack = case.attack
    sizes = {n: case.base(n) for n in attack.structural}
    most = 1
    for name in case.relevant | (attack.behind_decisions if case.decides else set()):
        family = {n: attack.variable(n, sizes) for n in (name, *attack.all_nodes[name].parents)}
        group = attack.group_of(name)
        around = 1 << len(group.members) if group else 1
        most = max(most, around, *(cells(step) for step in parts(attack, name, family, STEPS)))
    return most * replace(case, averaged=False).subjects


def inwards(low: float, high: float) -> Array:
    """Values ever closer to both ends of an interval."""
    steps = (high - low) * 10.0 ** -np.arange(0.25, DECADES, 0.25)
    return np.concatenate([low + steps, high - steps])


def refuse_wrong_degrees(case: Asked, left: Mapping[str, tuple[float, float, float]]) -> None:
    """Raise where a degree is wrong that an author declared, around what is `left` of the ranges.

    Of each parameter that is low, mean and high; a sliver between the steps of a whole range weighs
    much where little else is left of it.
    """
    for name, (low, _, high) in left.items():
        degree = case.degree(name) if case.declared_by(name) else None
        if degree is not None and low < high:
            ends = case.parameter(name).range
            span = max(ends[0], 2 * low - high), min(ends[1], 2 * high - low)
            others = case.at({n: mean for n, (_, mean, _) in left.items() if n != name})
            others.refuse_wrong_degree(name, degree, case.declared_by(name), span)


def levels_of(count: int, level: float) -> Array:
    """Even shares of a law, ever less of it at both ends, and most around those that are told."""
    small = 10.0 ** -np.linspace(3, 12, 37)
    near = (1 - level) / 2 + np.linspace(-1, 1, 33) / count
    return np.unique(np.concatenate([np.linspace(0, 1, count), small, 1 - small, near, 1 - near]))


def look(case: Asked, name: str, low: float, high: float) -> Array:
    """Values inside a range: even steps, ever closer to its ends, and where a formula bends."""
    even = np.linspace(low, high, looked_at(case))
    points = np.unique(np.concatenate([even, inwards(low, high), bends(case, name, low, high)]))
    return np.asarray(points[(points > low) & (points < high)])


def bends(case: Asked, name: str, low: float, high: float) -> Array:
    """Values around which a formula peaks, bends or jumps, however closely."""
    found = [np.empty(0)]
    most = max(FEWEST_HALVED, looked_at(case))
    for term, fixed in _formulas(case, name):
        count = min(most, STEPS_READ // sum(1 for _ in term.walk()))
        found.append(_opened(term, fixed, name, (low, high), count))
    return np.unique(np.concatenate(found))


def _formulas(case: Asked, name: str) -> Iterator[tuple[Term, dict[str, float]]]:
    """The formulas that the answer reads and that are no polynomial, and what stays in them."""
    derived, held = case.attack.derived, {*case.settings, name}
    if not derived.order:
        return
    degrees = derived.degrees(name, held)
    nodes = (case.attack.all_nodes[holder] for holder in case.holders([name]))
    read = {ref.removeprefix("$") for node in nodes for ref in node.cpd.references()}
    terms = {n: t for n, t in derived.terms.items() if n not in held}
    fixed = {n: case.base(n) for n in (*case.parameters, *case.settings)}
    columns = subject_values(case.attack, case.subject)
    for number in sorted(read & terms.keys()):
        term = inlined(terms[number], terms)
        if degrees[number] is not None or sum(1 for _ in term.walk()) > MOST_STEPS:
            continue
        own = {n: v.reshape(len(v), -1)[:, 0] for n, v in columns.items() if n in term.names}
        count = max((len(v) for v in own.values()), default=1)
        for row in np.unique(np.linspace(0, count - 1, ROWS).astype(int)).tolist():
            yield term, fixed | {n: float(v[row % len(v)]) for n, v in own.items()}


def _opened(
    term: Term, fixed: dict[str, float], name: str, ends: tuple[float, float], count: int
) -> Array:
    """The ends of pieces on which a formula lies between its values at their ends, nearly."""
    low, high = ends
    still = {n: (v, v) for n, v in fixed.items()}

    def between(a: float, b: float) -> tuple[float, float]:
        return interval(term, {**still, name: (a, b)}) or (-np.inf, np.inf)

    def at(x: float) -> float:
        first, last = between(x, x)
        return (first + last) / 2 if np.isfinite(first + last) else np.nan

    values = {low: at(low), high: at(high)}
    pieces: list[tuple[float, float, float]] = []

    def add(a: float, b: float) -> None:
        first, last = between(a, b)
        inside = np.fmin(values[a], values[b]) - first, last - np.fmax(values[a], values[b])
        heappush(pieces, (-np.nan_to_num(max(inside), nan=np.inf, posinf=np.inf), a, b))

    add(low, high)
    seen = [v for v in values.values() if np.isfinite(v)]
    least, most = min(seen, default=0.0), max(seen, default=0.0)
    for _ in range(count):
        if not pieces:
            break
        left, a, b = heappop(pieces)
        if -left <= max(OPEN * (most - least), SAME * max(abs(least), abs(most))):
            break
        middle = (a + b) / 2
        if b - a <= FINEST * (high - low) or not a < middle < b:
            continue
        values[middle] = at(middle)
        if np.isfinite(values[middle]):
            least, most = min(least, values[middle]), max(most, values[middle])
        add(a, middle)
        add(middle, b)
    return np.array(sorted(values))
