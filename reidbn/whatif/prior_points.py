"""Gauss points of a prior that is weighed with more than a polynomial of low degree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from reidbn.attack.evidence import Belief, Measured
from reidbn.attack.parts import Parameter
from reidbn.attack.prior import CutPrior
from reidbn.inference.network import Array
from reidbn.theory.pooling import gauss_beta
from reidbn.whatif.priors import measure


def beta_shapes(parameter: Parameter) -> tuple[float, float] | None:
    """The shapes of a beta prior on the parameter's range; None for any other prior."""
    prior = parameter.prior
    if prior is None or prior.kind == "uniform":
        return 1.0, 1.0
    if isinstance(prior, CutPrior):
        return None
    if isinstance(prior, Belief):
        known = prior.known
        whole = parameter.range == prior.ends
        if not (whole and isinstance(known, Measured) and known.scale is None):
            return None
        (one,) = known.studies
        return one.hits + 0.5, one.trials - one.hits + 0.5
    return (
        (float(prior.a), float(prior.b)) if prior.kind == "beta" and prior.a and prior.b else None
    )


def gauss_points(
    parameter: Parameter, count: int, cuts: Sequence[float] | None = None
) -> tuple[Array, Array]:
    """Gauss points of a prior, of every part of it if it is cut, and their weights."""
    if cuts is not None and len(cuts) > 2:
        known = measure(parameter)
        parts = [known.part(a, b).gauss(count) for a, b in pairwise(cuts)]
        return np.concatenate([x for x, _ in parts]), np.concatenate([w for _, w in parts])
    shapes = beta_shapes(parameter)
    if shapes is None:
        known = measure(parameter)
        prior = parameter.prior
        if isinstance(prior, Belief):
            points, weights = prior.points(known.low, known.high, is_weighed=True)
            points, weights = replace(known, points=points, weights=weights).gauss(count)
            if np.isnan(points).any():  # so many do not fit into a law with steep parts
                each = int(np.sqrt(count))
                return prior.points(known.low, known.high, is_weighed=True, each=each)
            return points, weights
        return known.gauss(count)
    low, high = parameter.range
    x, weights = gauss_beta(np.array([shapes[0]]), np.array([shapes[1]]), count, np.ones(1))
    return low + (high - low) * x, weights
