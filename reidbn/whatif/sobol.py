"""Which parameter's uncertainty makes the answer uncertain: Sobol's decomposition by quadrature.

With independent priors the answer splits into a mean, one term per parameter, one per pair, ...,
each with mean 0 and uncorrelated with the others [Sobol01],

    R = sum_S R_S,   Var R = sum_S V_S,   first_i = V_i / Var,   total_i = sum_{S with i} V_S / Var

On the product of the parameters' Gauss points every V_S is a finite sum: with d + 1 points for a
parameter in which the answer has degree d it is *exact* (two points for an affine one), and so are
the mean and the variance.  Ratios (questions with evidence) and smooth formulas are resolved on
more points, and the error that is left is measured and stated.  Where it jumps or bends the engine
is asked at scattered points instead, two at a time (frozen.py), and every share has an interval.

Sobol's indices: whose uncertainty makes the answer uncertain [Sobol01].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from reidbn.aside import asides
from reidbn.attack.parts import Parameter
from reidbn.attack.prior import Prior
from reidbn.calls import refuse_outside, typed
from reidbn.errors import TooLarge, UsageError
from reidbn.inference.asked import MOST_NUMBERS, Asked, Asking
from reidbn.inference.network import Array, as_probability, strays
from reidbn.late import late
from reidbn.whatif.axes import Axis, make_axis
from reidbn.whatif.boxes import check_box
from reidbn.whatif.cases import Target, What, case_of
from reidbn.whatif.frozen import Spread, parts_of, share_text
from reidbn.whatif.looking import numbers_of
from reidbn.whatif.priors import measure, prior_text
from reidbn.whatif.ranges import where_it_can_be
from reidbn.whatif.ratios import (
    ROUNDED,
    AxisRule,
    Quadrature,
    decompose,
    in_sds,
    variance_of,
    weighed,
    without_rounding,
)
from reidbn.whatif.scan import worst_at_draws
from reidbn.whatif.scattered import (
    SCATTERED,
    ScatteredPoints,
    WithError,
    at_most,
    is_rough,
    method_words,
    moments,
    tail_draws,
)
from reidbn.whatif.sensitivity import Over
from reidbn.whatif.varied import held, varied_of

if TYPE_CHECKING:
    import pandas as pd


CHECKS = 24  # random settings at which the interpolated answer is compared with the engine's ...
MOST_CHECKS, FEWEST_CHECKS = 4_096, 64  # ... where the points do not fix it by theory ...
CHECK_WORK = 1 << 26  # ... that take so many numbers
COARSE = 1e-3  # sds that a quadrature leaves, beyond which scattered points may do better
FLAT = 1e-6  # of the mean: an sd that is nothing
TOLD = 1 / 3  # sds beyond which no share of the variance is told
ROUNDING = 1e-11  # an exact answer differs by no more than this at a random setting
MOST_CELLS = 1 << 18  # settings of the full grid
MOST_KEPT = 1 << 27  # answers of all distinct people on the full grid
MOST_FINE = 1 << 20  # cells of the finer grid on which ratios are taken
SAFETY = 3.0  # what two grids differ by is so many times smaller than their error, at most
MOST_ALL = 1 << 27  # of all subjects, ...
FEWEST_FINE = 1 << 14  # ... though so many for each
SEED = 20250101


class Grid:
    """The answers on the full product of the axes' points, and all that follows from them."""

    def __init__(self, case: Asked, priors: Mapping[str, Parameter]) -> None:
        self.case = case
        measures = {n: measure(p) for n, p in priors.items()}
        check_box(case, {n: (m.low, m.high) for n, m in measures.items()})
        self.axes = [make_axis(case, n, m) for n, m in measures.items() if case.matters(n)]
        self.shape = tuple(len(a.points) for a in self.axes)
        if prod(self.shape) > MOST_CELLS:
            sizes = ", ".join(f"{a.name} {len(a.points)}" for a in self.axes)
            raise TooLarge(
                f"the grid would have {prod(self.shape):,} settings ({sizes}); the most is "
                f"{MOST_CELLS:,}: vary fewer parameters, or narrower ranges"
            )
        self.numerator, self.evidence = self._evaluate()
        weights = np.ones(len(self.numerator)) if case.weights is None else case.weights
        self.shares = weights / weights.sum()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.axes)

    @property
    def is_exact(self) -> bool:
        """True when the answer is a polynomial that these points fix, by theory and by check."""
        by_theory = self.evidence is None and all(a.is_exact for a in self.axes)
        return by_theory and self.distance <= ROUNDING

    def _evaluate(self) -> tuple[Array, Array | None]:
        """P(target, evidence) and P(evidence): subjects x points of every axis."""
        numbers = self.case.subjects * prod(self.shape)
        if numbers > MOST_KEPT:
            raise TooLarge(
                f"{prod(self.shape):,} settings of {self.case.subjects:,} distinct people need "
                f"{numbers * 8 / 2**30:.1f} GB: vary fewer parameters, ask without evidence, or "
                f"assess some of the people (individuals=1000)"
            )
        mesh = np.meshgrid(*(a.points for a in self.axes), indexing="ij")
        changes = {a.name: m.reshape(-1) for a, m in zip(self.axes, mesh, strict=True)}
        found = self.case.evaluate(changes)
        shape = (-1, *self.shape)
        bottom = None if found.evidence is None else found.evidence.reshape(shape)
        if bottom is not None and (bottom <= 0).any():
            self.case.refuse_impossible(found, changes)
        return found.numerator.reshape(shape), bottom

    # -- the decomposition -----------------------------------------------------------------

    def spread(self) -> Spread:
        """Mean, variance and Sobol's parts of the mean answer over subjects."""
        axes = self._rules
        mean, parts = decompose(self._mean_at_nodes(axes), [a.weights for a in axes])
        parts = without_rounding(mean, parts)
        error = 0.0 if self.is_exact else in_sds(self.off, parts)
        floor = in_sds(ROUNDED * max(abs(mean), variance_of(parts) ** 0.5), parts)
        floor += sum(10 * a.measure.off for a in self.axes)
        if floor > ROUNDING or error:
            error += floor
        return Spread(
            self.names, mean, parts, self.is_exact, error, prod(self.shape), self.notes, off=error
        )

    @property
    def off(self) -> float:
        """By how much mean and sd of the mean answer may be off."""
        ratio = 0.0 if self._quadrature is None else self._quadrature.off
        return ratio + max(self.distance, float(np.hypot.reduce([a.doubt for a in self.axes])))

    @property
    def declared(self) -> tuple[str, ...]:
        """Which degrees are somebody's word."""
        return tuple(
            f"{a.name}: a polynomial as the author of function {a.author} declares"
            for a in self.axes
            if a.author
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Which counts were not looked at in full, and which degrees are somebody's word."""
        return self.declared + tuple(
            f"{a.name}: {a.looked_at:,} of its {a.measure.high - a.measure.low + 1:,.0f} values "
            f"were looked at, and what lies between is interpolated"
            for a in self.axes
            if a.looked_at
        )

    def moments(self) -> tuple[Array, Array]:
        """Mean and standard deviation of every subject's answer."""
        axes = self._rules
        first, second = [], []
        for values in self._at_nodes(axes):
            shape = (-1, *[1] * len(axes))
            mean, size = weighed(values, axes), len(values)
            mean += weighed(values - mean.reshape(shape), axes)
            first.append(mean)
            second.append(weighed((values - mean.reshape(shape)) ** 2, axes).reshape(size))
        return np.concatenate(first), np.sqrt(np.concatenate(second))

    @cached_property
    def _quadrature(self) -> Quadrature | None:
        """For ratios as many nodes as they need and memory allows; for others the axes' own."""
        if self.evidence is None:
            return None
        found = Quadrature(self.axes, self.numerator, self.evidence, self.shares)
        start = decompose(self._mean_at_nodes(found.rules), [r.weights for r in found.rules])[1]
        most = max(FEWEST_FINE, min(MOST_FINE, MOST_ALL // len(self.shares)))
        found.refine(variance_of(start) ** 0.5, most)
        return found

    @property
    def _rules(self) -> Sequence[AxisRule | Axis]:
        return self.axes if self._quadrature is None else self._quadrature.rules

    def _at_nodes(self, axes: Sequence[AxisRule | Axis]) -> Iterator[Array]:
        """The answers at the nodes of the quadrature, a block of subjects at a time."""
        matrices = [a.to_nodes for a in axes]
        cells = prod(len(a.nodes) for a in axes)
        for rows in _blocks(len(self.numerator), MOST_NUMBERS // cells):
            top = _along(self.numerator[rows], matrices)
            yield top if self.evidence is None else top / _along(self.evidence[rows], matrices)

    def _mean_at_nodes(self, axes: Sequence[AxisRule | Axis]) -> Array:
        """The mean answer over subjects at every node."""
        total, start = np.zeros([len(a.nodes) for a in axes]), 0
        for values in self._at_nodes(axes):
            total += np.tensordot(self.shares[start : start + len(values)], values, axes=1)
            start += len(values)
        return total

    # -- anywhere between the points ---------------------------------------------------------

    def draws(self, rng: np.random.Generator, count: int) -> dict[str, Array]:
        """Independent draws of every parameter from its prior."""
        return {a.name: a.measure.draw(rng, count) for a in self.axes}

    def at(self, draws: Mapping[str, Array], subjects: slice = slice(None)) -> Array:
        """The answers at any settings within the ranges: subjects x settings."""
        count = len(next(iter(draws.values()))) if draws else 1
        cells = prod(self.shape)
        top = self.numerator[subjects].reshape(-1, cells)
        bottom = None if self.evidence is None else self.evidence[subjects].reshape(-1, cells)
        out = np.empty((len(top), count))
        for rows in _blocks(count, MOST_NUMBERS // cells):
            basis = np.ones((rows.stop - rows.start, 1))
            for axis in self.axes:
                part = axis.basis(draws[axis.name][rows])
                basis = (basis[:, :, None] * part[:, None, :]).reshape(len(basis), -1)
            below = None if bottom is None else bottom @ basis.T
            part = top @ basis.T if below is None else top @ basis.T / below
            lost = self._lost(top, below, basis) if strays(part).any() else 0.0
            out[:, rows] = as_probability(part, lost)
        return out

    def over(self, points: Mapping[str, Array]) -> Array:
        """The mean answer over subjects on the product of some points of every axis."""
        matrices: list[Array | None] = [a.basis(points[a.name]) for a in self.axes]
        if self.evidence is None:
            found = _along(np.tensordot(self.shares, self.numerator, axes=1)[None], matrices)[0]
        else:
            found = np.zeros([len(points[a.name]) for a in self.axes])
            if found.size * len(self.shares) > MOST_KEPT:
                raise TooLarge(
                    f"{found.size:,} settings of {len(self.shares):,} distinct people with "
                    f"evidence are too many: vary fewer parameters"
                )
            for one, share in enumerate(self.shares.tolist()):
                top, below = (_along(x[one : one + 1], matrices)[0]
                              for x in (self.numerator, self.evidence))  # fmt: skip
                found += share * top / below
        return as_probability(found, np.inf if strays(found).any() else 0.0)

    def _lost(self, top: Array, below: Array | None, basis: Array) -> Array:
        """By how much interpolation may have moved the answers.

        Rounding, more where the evidence is rare; between points that do not fix the answer by
        anything, and how far that is has been measured and is stated.
        """
        if not all(a.is_exact for a in self.axes):
            return np.full(1, np.inf)
        rounding = ROUNDING * np.outer(np.abs(top).max(axis=1) + 1, np.abs(basis).sum(axis=1))
        return np.asarray(rounding if below is None else rounding / np.abs(below))

    @cached_property
    def distance(self) -> float:
        """How far interpolated answers are from the engine's at random settings.

        The largest error where the points fix the answer; else its root mean square over the priors
        and their tails, which bounds what mean and sd are off (ratios.py, equation (1)).
        """
        rng = np.random.default_rng(SEED)
        if not self.axes:
            return 0.0
        if all(a.is_exact for a in self.axes):
            draws = self.draws(rng, CHECKS)
            return float(np.abs(self.at(draws) - self.case.answers(draws)).max())
        work = max(self.numerator.size, numbers_of(self.case))
        count = int(np.clip(CHECK_WORK // work, FEWEST_CHECKS, MOST_CHECKS))
        u, weights = tail_draws(rng, (count, len(self.axes)))
        draws = {a.name: a.measure.at(x) for a, x in zip(self.axes, u.T, strict=True)}
        square = (self.at(draws) - self.case.answers(draws)) ** 2
        found = np.average(square, axis=1, weights=weights.prod(axis=1))
        return SAFETY * float(np.sqrt(found.max()))


def _along(values: Array, matrices: Sequence[Array | None]) -> Array:
    """Apply one matrix along each axis after the first."""
    for axis, matrix in enumerate(matrices, start=1):
        if matrix is not None:
            values = np.moveaxis(np.tensordot(matrix, values, axes=(1, axis)), 0, axis)
    return values


def _blocks(count: int, step: int) -> Iterator[slice]:
    step = max(1, step)
    return (slice(i, min(i + step, count)) for i in range(0, count, step))


# -- sobol's indices -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Index:
    """One parameter's part in the variance: by itself (first), and in all it is part of (total).

    Each is a share of the variance, and off by at most its error.
    """

    parameter: str
    prior: str
    first: float
    total: float
    first_error: float
    total_error: float
    source: str
    is_assumption: bool


@dataclass(frozen=True)
class Sobol:
    """The variance of the answer under independent priors, split over parameters and their sets.

    `method` is "exact" (the answer is a polynomial, and the quadrature exact), "quadrature", or
    "scattered points" where the answer jumps or bends.  `error` is what mean and sd may be off by,
    relative to the sd; every share has its own error.
    """

    attack: str
    question: str
    mean: float
    sd: float
    indices: tuple[Index, ...]
    method: str
    error: float
    settings: int
    spread: Spread
    beside: tuple[str, ...] = ()
    subjects: int = 1

    def __getitem__(self, parameter: str) -> Index:
        for index in self.indices:
            if index.parameter == parameter:
                return index
        raise UsageError(f'no index for "{parameter}": it was not varied')

    def __iter__(self) -> Iterator[Index]:
        return iter(self.indices)

    @typed
    def interaction(self, *parameters: str) -> float:
        """The share of the variance that exactly this set of parameters makes together."""
        for name in parameters:
            _ = self[name]
        inside = [n for n in parameters if n in self.spread.names]
        return self.spread.share(inside).value if len(inside) == len(parameters) else 0.0

    @typed
    def interactions(self, order: int = 2) -> pd.DataFrame:
        """Every set of `order` parameters, its share and what that may be off by, largest first."""
        import pandas as pd

        refuse_outside("order", order, least=1, most=len(self.spread.names))
        sets = [*combinations(self.spread.names, order)]
        shares = [self.spread.share(names) for names in sets]
        rows = [
            {"parameters": " x ".join(names), "share": x.value, "error": x.error}
            for names, x in zip(sets, shares, strict=True)
        ]
        table = pd.DataFrame(rows, columns=["parameters", "share", "error"])
        return table.sort_values("share", ascending=False, kind="stable", ignore_index=True)

    def to_frame(self) -> pd.DataFrame:
        """One row per parameter, largest total first."""
        import pandas as pd

        return pd.DataFrame([asdict(i) for i in self.indices])

    def to_dict(self) -> dict[str, Any]:
        """What was asked and found, as plain values."""
        plain = {
            k: getattr(self, k) for k in self.__dataclass_fields__ if k not in ("spread", "beside")
        }
        pairs = self.interactions().to_dict("records") if len(self.spread.names) > 1 else []
        own = {"notes": self.beside} if self.beside else {}
        return {**plain, "indices": [asdict(i) for i in self.indices], "pairs": pairs, **own}

    plot = late("reidbn.report.whatif_figures:draw_sobol")

    @property
    def notes(self) -> tuple[str, ...]:
        """What the error cannot know of, and what was said beside the answers."""
        return (*self.spread.notes, *self.beside)

    def __str__(self) -> str:
        how = method_words(self.method, self.error, self.sd)
        lines = [f"{self.attack}: {self.question}: mean {self.mean:.6g}, sd {self.sd:.6g} ({how})"]
        width = max(len(i.parameter) for i in self.indices)
        for i in self.indices:
            first, total = share_text(i.first, i.first_error), share_text(i.total, i.total_error)
            lines.append(f"  {i.parameter:<{width}}  first {first}  total {total}  ({i.prior})")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    __repr__ = __str__


@typed
def sobol(
    what: What,
    target: Target | None = None,
    *,
    over: Over = None,
    priors: Mapping[str, Prior] | None = None,
    **asked: Unpack[Asking],
) -> Sobol:
    """Sobol's indices of every parameter under independent priors, without sampling.

    A parameter without a prior counts as uniform over its range, and the result says so.  What is
    set is held, unless `over` or a prior of `priors` names it.  For several subjects the answer is
    their mean.
    `asked` is how it is asked: given, do, set, subject and beyond_range, as in rb.ask.

    `what` is an attack, a name or file of one, or a result; `target` is the event, by default the
    attack's own question.

    >>> s = sobol("adversary-routes", "risk")
    >>> s.method, round(s["p_c"].total, 3)
    ('exact', 0.894)
    """
    case = case_of(what, target, means=True, **asked)
    varied = varied_of(case, over, priors)
    case = worst_at_draws(case, varied, SEED)
    with where_it_can_be(varied):
        spread = _told(case, varied)
    scale = case.query.scale
    if scale is not None:  # the share of a range, in the units of that range
        parts = spread.parts * scale.width**2
        spread = replace(spread, mean=scale.value(spread.mean), parts=parts)
    indices = [_index(case, name, varied[name], spread) for name in varied]
    return Sobol(
        attack=case.attack.name,
        question=case.query.describe(),
        mean=spread.mean,
        sd=spread.sd,
        indices=tuple(sorted(indices, key=lambda i: -i.total)),
        method="exact" if spread.is_exact else SCATTERED if spread.each else "quadrature",
        error=spread.error,
        settings=spread.settings,
        spread=spread,
        beside=(*held(case, varied), *asides()),
        subjects=case.count,
    )


def _told(case: Asked, varied: Mapping[str, Parameter]) -> Spread:
    """The decomposition; from scattered points where a quadrature is too coarse, or too large."""
    try:
        found = None if is_rough(case, varied) else Grid(case.as_mean(), varied).spread()
    except TooLarge:
        found = None
    if found is None:
        found = _of_points(case, varied)
    elif found.error > COARSE:
        try:
            other = _of_points(case, varied)
        except TooLarge:
            other = found
        found = other if other.error < found.error else found
    off = found.error * (found.sd or 1.0)
    if off > max(TOLD * found.sd, FLAT * abs(found.mean)):
        raise TooLarge(
            f"{case.attack.name}: whose uncertainty it is cannot be told: the answer bends or "
            f"peaks within so small a part of the priors that its sd (about {found.sd:.2g}) may be "
            f"off by {at_most(off)}; narrow the ranges (over={{name: (low, high)}}) to where it "
            f"does, or ask rb.whatif.uncertainty for mean and sd"
        )
    if found.error >= 1:  # nothing varies by as much as can be told
        return found
    worst = max((x.error for n in found.names for x in (found.share([n]), found.total(n))),
                default=0.0)  # fmt: skip
    if worst > TOLD:
        raise TooLarge(
            f"{case.attack.name}: whose uncertainty it is cannot be told: a share of the variance "
            f"may be off by {at_most(min(worst, 1.0))}; vary fewer parameters, narrow their ranges "
            f"(over={{name: (low, high)}}), or ask rb.whatif.uncertainty for mean and sd"
        )
    return found


def _of_points(case: Asked, varied: Mapping[str, Parameter]) -> Spread:
    """The engine's own answers at scattered points: mean, sd and shares, each with its error."""
    points = ScatteredPoints([case], varied, mixed=True)
    names = tuple(points.at)
    answers = points.mixed_answers(case)
    mean, sd = moments(answers.reshape(points.repeats, -1))
    unseen = points.unseen(case, names, answers)
    shape = (2,) * len(names)
    each = [parts_of(x).reshape(shape, order="F") for x in answers]
    parts = np.asarray(np.mean(each, axis=0))
    found = variance_of(parts)
    told = found > 0 and sd.value > 0 and all(variance_of(x) > 0 for x in each)
    parts *= sd.value**2 / found if told else 0.0
    parts.flat[0] = mean.value**2
    off = unseen + max(mean.error, sd.error) + ROUNDED * max(abs(mean.value), sd.value)
    error = (off / sd.value if told else off) + sum(10 * m.off for m in points.measures.values())
    return Spread(
        names, mean.value, parts, is_exact=False, error=error, settings=answers.size,
        each=tuple(x / found for x in each) if told else (),
        off=(unseen + ROUNDED * max(abs(mean.value), sd.value)) / (sd.value or 1.0),
    )  # fmt: skip


def _index(case: Asked, name: str, parameter: Parameter, spread: Spread) -> Index:
    first = total = WithError(0.0, float(spread.error >= 1))
    if name in spread.names and spread.error < 1:
        first, total = spread.share([name]), spread.total(name)
    return Index(
        parameter=name,
        prior=prior_text(parameter),
        first=first.value,
        total=total.value,
        first_error=first.error,
        total_error=total.error,
        source=case.parameter(name).source,
        is_assumption=parameter.is_assumption,
    )
