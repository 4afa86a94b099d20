"""Log-linear Poisson models of a table's cells [SkinnerHolmes98]: six variants.

The sample count of cell k is Poisson with mean mu_k, log-linear in the attributes, and the
population's is Poisson with mean lambda_k = mu_k/pi_k, so that the people of the cell outside
the sample are Poisson with mean v_k = (1 - pi_k) lambda_k, and over the cells with one record

    tau_1 = sum exp(-v_k)                 expected sample uniques that are population uniques
    tau_2 = sum (1 - exp(-v_k))/v_k       expected correct matches of sample uniques     (1)

A population unique is in the sample with probability pi_k, so that the population's uniques are
estimated by the sample's, each counted 1/pi_k times,

    U = sum exp(-v_k)/pi_k                over the cells with one record                 (2)

The widely used implementation [Templ17] enters mu_k itself for lambda_k and divides by the
number of occupied cells; `Risk.published_shares` are these two figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import ModelError, TooLarge, UsageError, did_you_mean

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Terms: TypeAlias = Sequence[tuple[int, ...]]

VARIANTS = ("predictive", "default", "CE", "PML", "weightedLLM", "IPF")
_MOST_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class Cells:
    """The occupied cells of a table: their codes, records, weights and inclusion chances."""

    codes: Ints
    cardinalities: tuple[int, ...]
    counts: Floats
    weights: Floats
    """Sum of the survey weights of the cell's records."""
    inclusion: Floats
    """Sum of 1/weight over the cell's records: for one record, its chance to be sampled."""
    values: tuple[Floats, ...] | None = None
    """The codes' values as numbers, for `effects="values"`."""
    shares: tuple[Floats, ...] | None = None
    """Per column, each value's share of the people outside the table, for "predictive"."""

    def grid(self) -> tuple[Floats, Floats]:
        """Counts and weights over all cells, the empty ones too."""
        cells = prod(self.cardinalities)
        if cells > _MOST_CELLS:
            raise TooLarge(
                f"the attributes span {cells:,} cells; this variant looks at every one and "
                f"stops at {_MOST_CELLS:,}: use fewer attributes, or main effects by default or PML"
            )
        place = self.place()
        whole = np.zeros((2, cells))
        whole[0, place], whole[1, place] = self.counts, self.weights
        counts, weights = whole.reshape(2, *self.cardinalities)
        return counts, weights

    def place(self) -> Ints:
        """Where the occupied cells are in the flattened grid."""
        return np.asarray(np.ravel_multi_index(tuple(self.codes.T), self.cardinalities))


@dataclass(frozen=True, eq=False)
class Risk:
    """What a log-linear model says of the sample uniques."""

    variant: str
    expected: Floats
    """mu_k of the occupied cells."""
    p_unique: Floats
    """exp(-v_k) of the cells with one record."""
    mean_inverse: Floats
    """(1 - exp(-v_k))/v_k of the cells with one record."""
    expected_uniques: float
    """Equation (2)."""
    outside: Floats
    """v_k of the occupied cells."""
    published_shares: tuple[float, float]

    @property
    def tau(self) -> tuple[float, float]:
        """Equation (1)."""
        return float(self.p_unique.sum()), float(self.mean_inverse.sum())


def risk(
    cells: Cells,
    *,
    variant: str = "default",
    terms: Terms | None = None,
    effects: str = "categories",
) -> Risk:
    """Fit a variant and read the risk of the sample uniques off it.

    - predictive: main effects with the shares of values that the cells bring, which know that the
      table has not seen every value of an attribute; default takes the table's own shares.
    - default: maximum likelihood. IPF: the same by iterative proportional fitting.
    - CE: with the offset ln(count/weight + 0.1) [CloggEliason87].
    - PML: pseudo maximum likelihood, on the rounded, rescaled weights instead of counts.
    - weightedLLM: the cell's weight as one more predictor.

    `terms` are the sets of columns that interact (default: each on its own); `effects` says
    whether a column's codes are categories or enter by their numeric values.
    """
    mu = expected_counts(cells, variant=variant, terms=terms, effects=effects)
    single = cells.counts == 1
    chance = np.minimum(cells.inclusion / cells.counts, 1.0)
    outside = (1 - chance) * mu / chance
    pi, v = chance[single], outside[single]
    published = (1 - pi) * mu[single]
    shares = np.exp(-published).sum(), _share_matched(published).sum()
    occupied = cells.counts.size
    return Risk(
        variant=variant,
        expected=mu,
        p_unique=np.exp(-v),
        mean_inverse=_share_matched(v),
        expected_uniques=float((np.exp(-v) / pi).sum()),
        outside=outside,
        published_shares=(float(shares[0] / occupied), float(shares[1] / occupied)),
    )


def expected_counts(
    cells: Cells,
    *,
    variant: str = "default",
    terms: Terms | None = None,
    effects: str = "categories",
) -> Floats:
    """mu_k of the occupied cells under a variant."""
    if variant not in VARIANTS:
        raise UsageError(f'no variant "{variant}"; {did_you_mean(variant, VARIANTS)}')
    if effects not in ("categories", "values"):
        raise UsageError(f'effects is "{effects}"; it must be categories or values')
    if variant == "predictive":
        if cells.shares is None or terms is not None or effects != "categories":
            raise UsageError(
                'variant "predictive" has main effects of categories alone; use variant="default"'
            )
        return _predictive(cells, cells.shares)
    columns = len(cells.cardinalities)
    terms = [(j,) for j in range(columns)] if terms is None else [tuple(t) for t in terms]
    if effects == "values" and variant != "IPF":
        return _by_values(cells, variant, terms)
    plain = all(len(t) == 1 for t in terms) and len(terms) == columns
    if plain and variant in ("default", "IPF", "PML"):
        return _independent(cells, _rescaled(cells) if variant == "PML" else cells.counts)
    counts, weights = cells.grid()
    if variant == "weightedLLM":
        fitted = _with_covariate(counts, weights, terms)
    else:
        target = _rescaled(cells, weights) if variant == "PML" else counts
        fitted = proportional_fit(target, terms, start=_offset(counts, weights, variant))
    return np.asarray(fitted.ravel()[cells.place()], dtype=np.float64)


def proportional_fit(target: Floats, terms: Terms, *, start: Floats) -> Floats:
    """Maximum likelihood of a hierarchical model: scale margins in turn until all agree.

    A `start` other than one is an offset: its log enters the model with coefficient one.

    >>> proportional_fit(np.array([[4.0, 0.0], [2.0, 6.0]]), [(0,), (1,)], start=np.ones((2, 2)))
    array([[2., 2.],
           [4., 4.]])
    """
    fitted: Floats = np.array(start, dtype=np.float64) * (target.sum() / start.sum())
    axes = [tuple(a for a in range(target.ndim) if a not in term) for term in terms]
    wanted = [target.sum(axis=a, keepdims=True) for a in axes]
    for _ in range(5_000):
        worst = 0.0
        for over, goal in zip(axes, wanted, strict=True):
            have = fitted.sum(axis=over, keepdims=True)
            worst = max(worst, float(abs(have - goal).max() / max(goal.max(), 1.0)))
            fitted *= np.divide(goal, have, out=np.zeros_like(goal), where=have > 0)
        if worst < 1e-13:
            return fitted
    return fitted


def _independent(cells: Cells, target: Floats) -> Floats:
    """Main effects alone have a closed form, n prod of the margins' shares; no grid needed."""
    total = target.sum()
    mu: Floats = np.full(cells.counts.shape, total, dtype=np.float64)
    for j, cardinality in enumerate(cells.cardinalities):
        margin = np.bincount(cells.codes[:, j], weights=target, minlength=cardinality)
        mu = mu * (margin[cells.codes[:, j]] / total)
    return np.asarray(mu, dtype=np.float64)


def _predictive(cells: Cells, shares: Sequence[Floats]) -> Floats:
    """The number of records times the product of the shares."""
    mu: Floats = np.full(cells.counts.shape, cells.counts.sum(), dtype=np.float64)
    for j, share in enumerate(shares):
        mu = mu * share[cells.codes[:, j]]
    return mu


def _rescaled(cells: Cells, weights: Floats | None = None) -> Floats:
    """Weights scaled to sum to the number of records, rounded, as published for PML."""
    scale = cells.counts.sum() / cells.weights.sum()
    return np.asarray(np.rint((cells.weights if weights is None else weights) * scale))


def _offset(counts: Floats, weights: Floats, variant: str) -> Floats:
    if variant != "CE":
        return np.ones_like(counts)
    share = np.divide(counts, weights, out=np.zeros_like(counts), where=weights > 0)
    return share + 0.1


def _with_covariate(counts: Floats, weights: Floats, terms: Terms) -> Floats:
    """Proportional fitting with exp(beta w) as the start, beta where the fit's weight agrees."""
    w = weights / weights.max()
    goal = float((w * counts).sum())

    def at(beta: float) -> tuple[float, Floats]:
        fitted = proportional_fit(counts, terms, start=np.exp(beta * w))
        return float((w * fitted).sum()) - goal, fitted

    low, high = -1.0, 1.0
    while at(low)[0] > 0 and low > -500:
        low *= 2
    while at(high)[0] < 0 and high < 500:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        miss, fitted = at(middle)
        if abs(miss) < 1e-12 * max(goal, 1.0) or middle in (low, high):
            break
        low, high = (middle, high) if miss < 0 else (low, middle)
    return fitted


def _by_values(cells: Cells, variant: str, terms: Terms) -> Floats:
    """The same variants with the columns' numeric values as predictors, by Newton's method."""
    if cells.values is None:
        raise UsageError('effects="values" needs columns of numbers; use effects="categories"')
    counts, weights = (x.ravel() for x in cells.grid())
    mesh = np.meshgrid(*cells.values, indexing="ij")
    columns = [prod((mesh[j].ravel() for j in term), start=np.ones(counts.size)) for term in terms]
    if variant == "weightedLLM":
        columns.append(weights)
    target = _rescaled(cells, weights) if variant == "PML" else counts
    offset = np.log(_offset(counts, weights, variant))
    return _poisson_regression(np.column_stack(columns), target, offset)[cells.place()]


def _poisson_regression(predictors: Floats, target: Floats, offset: Floats) -> Floats:
    """Fitted means of a Poisson regression with a logarithmic link."""
    centred = predictors - predictors.mean(axis=0)
    spread = centred.std(axis=0)
    X = np.column_stack([np.ones(target.size), centred[:, spread > 0] / spread[spread > 0]])
    beta = np.zeros(X.shape[1])
    beta[0] = np.log(target.sum() / np.exp(offset).sum())
    for _ in range(200):
        mu = np.exp(X @ beta + offset)
        step = np.linalg.lstsq(X.T @ (X * mu[:, None]), X.T @ (target - mu), rcond=None)[0]
        beta = beta + step / max(1.0, float(abs(step).max()))
        if abs(step).max() < 1e-12:
            return np.asarray(np.exp(X @ beta + offset), dtype=np.float64)
    raise ModelError("the Poisson regression did not settle; leave out an attribute or a term")


_DEEP, _SHALLOW, _LARGE = 16, 4, 64.0


def mean_inverse_beside(f: NDArray[Any], v: Floats) -> Floats:
    """E[1/(f + X)] for a Poisson number X of people outside the table, mean v.

    For f = 1 this is (1 - exp(-v))/v.  Else the Stieltjes transform of the Poisson law at -f, by
    the continued fraction of its orthogonal (Charlier) polynomials,

        1/(f + v - v/(f + v + 1 - 2v/(f + v + 2 - ...)))                                     (3)

    with 16 levels, or 4 where f + v >= 64: right to 7 digits.

    >>> mean_inverse_beside(np.array([1, 2]), np.array([3.0, 3.0])).round(8)
    array([0.31673764, 0.22775412])
    """
    v = np.asarray(v, dtype=np.float64)
    at = f + v
    out = _fraction(at, v, _SHALLOW)
    near = (at < _LARGE) & (f > 1)
    out[near] = _fraction(at[near], v[near], _DEEP)
    alone = f == 1
    out[alone] = _share_matched(v[alone])
    return out


def _fraction(at: Floats, v: Floats, depth: int) -> Floats:
    """Equation (3) from its last level to its first."""
    level = at + depth
    for k in range(depth, 0, -1):
        np.divide(k * v, level, out=level)
        np.subtract(at + (k - 1), level, out=level)
    return np.reciprocal(level, out=level)


def _share_matched(v: Floats) -> Floats:
    """(1 - exp(-v))/v, 1 at v = 0."""
    return np.where(v > 0, -np.expm1(-v) / np.where(v > 0, v, 1.0), 1.0)
