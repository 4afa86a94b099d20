"""Profile-likelihood intervals: every value of a quantity that the likelihood does not exclude.

A quantity g(theta, alpha) has the interval of its values over the region where twice the drop
of the log-likelihood is at most the chi-squared quantile with one degree of freedom.  For each
alpha the region is an interval of phi; g is monotone in phi there (every quantity here is), so
its extremes lie on the contour.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from reidbn.theory.region import Region

Floats: TypeAlias = NDArray[np.float64]
Quantity: TypeAlias = Callable[[Floats, Floats], Floats]

_NODES = 33
_FINE = 17


def profile_interval(region: Region, quantity: Quantity, *, level: float) -> tuple[float, float]:
    """The interval of `quantity(theta, alpha)`, from the region of one table.

    Where the contour does not close before the bounds of `region`, neither does the interval.
    """
    cut = region.highest - gammaincinv(0.5, level)  # half the chi-squared quantile
    low, high = (ends[0] for ends in region.alpha_range(cut))
    nodes = np.unique(np.append(np.linspace(low, high, _NODES), region.best_alpha))
    alpha, values = _along(region, nodes, cut, quantity)
    for _ in range(2):
        extremes = (alpha[values.argmin()], alpha[values.argmax()])
        finer = np.unique([_between(nodes, at) for at in extremes])
        more_alpha, more_values = _along(region, finer, cut, quantity)
        nodes = np.union1d(nodes, finer)
        alpha = np.concatenate([alpha, more_alpha])
        values = np.concatenate([values, more_values])
    return float(values.min()), float(values.max())


def _along(region: Region, nodes: Floats, cut: Floats, quantity: Quantity) -> tuple[Floats, Floats]:
    """The alpha and the quantity at both ends of each node's interval of phi."""
    hump = region.hump(nodes[None])
    inside = hump.value[0] >= cut
    ends = np.concatenate([end[0, inside] for end in region.contour(hump, cut)])
    alpha = np.tile(nodes[inside], 2)
    return alpha, quantity(np.exp(ends) - alpha, alpha)


def _between(nodes: Floats, at: float) -> Floats:
    """Finer nodes from the neighbour below to the neighbour above."""
    i = int(np.searchsorted(nodes, at))
    return np.linspace(nodes[max(i - 1, 0)], nodes[min(i + 1, nodes.size - 1)], _FINE)
