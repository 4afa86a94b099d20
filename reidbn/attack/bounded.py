"""Between which values names and straight formulas lie where conditions hold, too: proved.

With conditions g_i >= 0 that are straight in their names, and any weights y_i >= 0,

    f >= min over the box of f - sum_i y_i g_i                                                (1)

The best weights are those of a linear programme.  They may be a little off: (1) holds for any, and
is worked out in rationals, so that what is said is never too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from reidbn.attack.bounds import Interval, Polynomial, polynomial, within_both
from reidbn.attack.formula import Term

FINEST = 10**6  # denominator of a weight

Straight = dict[str, Fraction]  # the factor of every name, and of "" what is added


def straight(term: Term, ranges: Mapping[str, Interval]) -> Straight | None:
    """A formula as a sum of its names; None where it is none, or reads what has no end."""
    names = term.names
    if not all(math.isfinite(end) for name in names for end in ranges[name]):
        return None
    found: Polynomial | None = polynomial(term, names, ranges)
    if found is None or any(sum(powers) > 1 for powers in found):
        return None
    return {
        next((n for n, power in zip(names, powers, strict=True) if power), ""): factor
        for powers, factor in found.items()
    }


class Narrower:
    """A box of names with conditions that hold in it."""

    def __init__(self, box: Mapping[str, Interval], conditions: Iterable[Straight]) -> None:
        self.conditions = list(conditions)
        self.names = sorted({n for g in self.conditions for n in g} - {""})
        self.box = {n: (Fraction(low), Fraction(high)) for n, (low, high) in box.items()
                    if math.isfinite(low) and math.isfinite(high)}  # fmt: skip

    def of(self, form: Straight, ends: Interval) -> Interval:
        """What a formula lies between, as a part of the ends that are known of it."""
        if form.keys().isdisjoint(self.names):
            return ends
        least, most = self._least(form), -self._least({n: -c for n, c in form.items()})
        return within_both(ends, (float(least), float(most)))

    def _least(self, form: Straight) -> Fraction:
        rest = dict(form)
        for weight, condition in zip(self._weights(form), self.conditions, strict=True):
            for name, factor in condition.items():
                rest[name] = rest.get(name, Fraction(0)) - weight * factor
        added = rest.pop("", Fraction(0))
        return added + sum(min(c * end for end in self.box[n]) for n, c in rest.items())

    def _weights(self, form: Straight) -> Sequence[Fraction]:
        from scipy.optimize import linprog

        scale = [float(max(map(abs, self.box[n]), default=1) or 1) for n in self.names]
        rows = np.array([[float(g.get(n, 0)) for n in self.names] for g in self.conditions])
        size = np.abs(rows * scale).max(axis=1)
        size[size == 0] = 1.0
        found = linprog(
            np.array([float(form.get(n, 0)) for n in self.names]) * scale,
            A_ub=-rows * scale / size[:, None],
            b_ub=np.array([float(g.get("", 0)) for g in self.conditions]) / size,
            bounds=[tuple(float(end) / s for end in self.box[n])
                    for n, s in zip(self.names, scale, strict=True)],
            method="highs",
        )  # fmt: skip
        if found.status != 0:  # no value at all meets the conditions: refused where it is asked
            return [Fraction(0)] * len(self.conditions)
        weights = np.maximum(-found.ineqlin.marginals / size, 0.0)
        return [Fraction(w).limit_denominator(FINEST) for w in weights.tolist()]
