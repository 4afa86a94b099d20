"""Where a curve is proven above a target, proven below it, or too close to tell.

N and E come from floats, so N - target E is known but for a doubt.  On a short interval its
Chebyshev coefficients c_k bound it,

    c_0 - sum_{k>0} |c_k|  <=  N - target E  <=  c_0 + sum_{k>0} |c_k|                          (1)

Halving goes on until every piece lies beyond the doubt on one side, or moves less than the doubt,
or is as short as floats are apart.  What is left undecided is said to be, with its width.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev as cheb

from reidbn.inference.network import Array
from reidbn.whatif.curve import Curve, coefficients, derivative, extrema, value

ROUNDING = 1e-14  # of the largest value: what a polynomial read off the engine may be off by
FINEST = 1e-14  # of an interval of length 2
ABOVE, BELOW, CLOSE = 1, -1, 0


class SignPiece(NamedTuple):
    """An interval, and on which side of the target the curve is there."""

    low: float
    high: float
    side: int


def sides(curve: Curve, target: float, low: float, high: float, error: float) -> list[SignPiece]:
    """The interval [low, high] in pieces, in order; neighbours differ."""
    gap, size = curve.gap(target)
    doubt = (ROUNDING + 4 * error) * size
    first, last = (float(t) for t in curve.position(np.array([low, high])))
    ends = _first_cuts(gap, doubt, first, last)
    found: list[tuple[float, float, int]] = []
    while len(ends[0]):
        lows, highs = ends
        middle, reach = _bounds(gap, lows, highs)
        side = np.where(middle - reach > doubt, ABOVE, np.where(middle + reach < -doubt, BELOW, 0))
        settled = reach <= doubt / 2  # halving would tell no more
        done = (side != 0) | settled | (highs - lows <= FINEST)
        found += zip(lows[done].tolist(), highs[done].tolist(), side[done].tolist(), strict=True)
        lows, highs = lows[~done], highs[~done]
        halves = (lows + highs) / 2
        ends = np.concatenate([lows, halves]), np.concatenate([halves, highs])
    return _merged(curve, sorted(found), low, high)


def _first_cuts(gap: Array, doubt: float, first: float, last: float) -> tuple[Array, Array]:
    """Pieces between the roots, as far as floats know them, and a little round each root."""
    if not first < last:  # an interval of one point is one piece
        return np.array([first]), np.array([last])
    trimmed = np.array(cheb.chebtrim(gap, 1e-15 * float(np.abs(gap).max())), float)
    roots = np.asarray(cheb.chebroots(trimmed), complex).real if len(trimmed) > 1 else np.empty(0)
    roots = roots[(roots > first) & (roots < last)]
    steep = np.maximum(np.abs(value(roots, derivative(gap))), 1e-300)
    width = np.clip(4 * doubt / steep, FINEST / 4, 0.1)
    cuts = np.concatenate([[first, last], roots - width, roots + width])
    cuts = np.unique(np.clip(cuts, first, last))
    return cuts[:-1], cuts[1:]


def _bounds(gap: Array, lows: Array, highs: Array) -> tuple[Array, Array]:
    """C_0 and sum |c_k| of equation (1), for every piece."""
    inside = extrema(len(gap) - 1)
    t = (lows + highs)[:, None] / 2 + (highs - lows)[:, None] / 2 * inside
    local = np.abs(coefficients(value(t, gap)))
    centre = coefficients(value(t, gap))[0]
    return centre, np.asarray(local[1:].sum(axis=0))


def _merged(
    curve: Curve, found: list[tuple[float, float, int]], low: float, high: float
) -> list[SignPiece]:
    out: list[SignPiece] = []
    for _, end, side in found:
        there = float(np.clip(curve.parameter(end), low, high))
        if out and out[-1].side == side:
            out[-1] = SignPiece(out[-1].low, there, side)
        else:
            out.append(SignPiece(out[-1].high if out else low, there, side))
    out[-1] = SignPiece(out[-1].low, high, out[-1].side)
    return out
