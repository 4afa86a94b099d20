"""Shares of a variance by picking and freezing: answers at all mixtures of two points.

Where an answer jumps or bends, the cells of a grid say little of whose uncertainty it is: an edge
may sit in a corner that has one cell.  Two independent points of the priors are mixed instead: f_m
is the answer where the parameters whose bit of m is set are the second point's.  For every set T

    c(T) = E f_m f_(m xor not T) = E[f]^2 + sum_(U in T) V_U,
    V_S = sum_(T in S) (-1)^(|S| - |T|) c(T)

averaged over all mixtures m, so that a total is the average of squared differences,
total_i = E (f_m - f_(m xor i))^2 / 2 [Sobol01] [Saltelli10].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, log10

import numpy as np

from reidbn.inference.network import Array
from reidbn.whatif.ratios import variance_of
from reidbn.whatif.scattered import WithError, at_most, estimate

DIGITS = 4  # of a share, where its error leaves so many


@dataclass(frozen=True)
class Spread:
    """The answer over the priors: mean, variance and its parts, one per set of parameters.

    `parts` has one axis per parameter, of length 2: part [1, 0, 1] belongs to the first and third.
    `error` is what mean and sd are off by, relative to the standard deviation (0 when exact).
    `each` holds what every repeat of scattered points found, as shares of the variance of all, and
    `off` what is wrong with the answer itself, in sds; of a quadrature it is all of the error.
    """

    names: tuple[str, ...]
    mean: float
    parts: Array
    is_exact: bool
    error: float
    settings: int
    notes: tuple[str, ...] = ()
    each: tuple[Array, ...] = ()
    off: float = 0.0

    @property
    def variance(self) -> float:
        return variance_of(self.parts)

    @property
    def sd(self) -> float:
        return float(np.sqrt(max(self.variance, 0.0)))

    def share(self, names: Sequence[str]) -> WithError:
        """V_S / Var for exactly this set of parameters."""
        index = tuple(int(n in names) for n in self.names)
        return self._told(lambda parts: float(parts[index]))

    def total(self, name: str) -> WithError:
        """The share of the variance in which a parameter has any part."""
        axis = self.names.index(name)
        return self._told(lambda parts: float(parts.take(1, axis=axis).sum()))

    def _told(self, part: Callable[[Array], float]) -> WithError:
        """A share of the variance, and what it is off by."""
        if self.variance <= 0:
            return WithError(0.0, 0.0)
        share, error = part(self.parts) / self.variance, of_a_share(self.off)
        if self.each:  # part and rest at their worst: few points that say all move both alike
            own = np.array([part(p) for p in self.each])
            rest = np.array([variance_of(p) for p in self.each]) - own
            error += abs(1 - share) * estimate(share, own).error
            error += abs(share) * estimate(1 - share, rest).error
        return WithError(min(max(share, 0.0), 1.0), error)


def parts_of(answers: Array) -> Array:
    """The variance part of every set of parameters (bit i of its place: the i-th) of 2^d x points.

    The first, of no parameter, is 0.
    """
    count = len(answers)
    places = np.arange(count)
    values = answers - answers.mean()
    parts = np.array([(values * values[places ^ kept]).mean() for kept in places[::-1]])
    step = 1
    while step < count:  # what a set makes beyond its subsets
        pairs = parts.reshape(-1, 2, step)
        pairs[:, 1] -= pairs[:, 0]
        step *= 2
    parts[0] = 0.0
    return parts


def of_a_share(off: float) -> float:
    """What a share of the variance is off by where the answer is off by so many sds (root mean
    square): norms of its parts are off by as much, and so is the sd.
    """
    return ((1 + off) / (1 - off)) ** 2 - 1 if off < 1 else float("inf")


def share_text(share: float, error: float) -> str:
    """A share with as many digits as its error leaves.

    >>> share_text(0.31551, 0.0031), share_text(0.31551, 1e-9)
    ('0.316 ± 0.004', '0.3155')
    """
    if error < 0.5 * 10.0**-DIGITS:
        return f"{share:.{DIGITS}f}"
    digits = min(DIGITS, max(1, -floor(log10(float(at_most(error))) + 1e-9)))
    return f"{share:.{digits}f} ± {at_most(error)}"
