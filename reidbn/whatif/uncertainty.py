"""The distribution of an answer when its parameters have priors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from reidbn.above import is_above
from reidbn.aside import asides
from reidbn.attack.parts import Parameter
from reidbn.attack.prior import Prior
from reidbn.attacks.routes.arguments import probabilities_of
from reidbn.calls import refuse_outside, renamed, typed
from reidbn.errors import TooLarge, UsageError
from reidbn.inference.asked import MOST_NUMBERS, Asked, Asking
from reidbn.inference.counted import counted_nodes
from reidbn.inference.network import Array
from reidbn.late import late
from reidbn.limits import MOST_DRAWS
from reidbn.whatif.cases import Target, What, case_of, outside, row_by_row
from reidbn.whatif.looking import numbers_of
from reidbn.whatif.priors import NO_PRIOR, prior_text
from reidbn.whatif.ranges import where_it_can_be
from reidbn.whatif.ratios import ROUNDED
from reidbn.whatif.scan import worst_at_draws
from reidbn.whatif.scattered import (
    SCATTERED,
    ScatteredPoints,
    asked_at,
    each_at,
    error_in_sds,
    is_rough,
    method_words,
)
from reidbn.whatif.sensitivity import Over
from reidbn.whatif.sobol import COARSE, Grid
from reidbn.whatif.varied import held, varied_of

if TYPE_CHECKING:
    import pandas as pd


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
THRESHOLDS = (0.05, 0.09, 0.1, 0.2, 0.33)
MOST_WORK = 1 << 32  # draws x grid cells x subjects
DRAWS, FEWEST = 100_000, 1_000  # where no number is given
FLAT = 1e-12  # of the mean: an sd that is nothing
LEVEL = 0.95  # of the intervals for Monte-Carlo error


@dataclass(frozen=True)
class SampledNumber:
    """A number from sampling, and the interval that holds the true one with probability 0.95."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Uncertainty:
    """The distribution of the answer under independent priors.

    Mean and standard deviation come from quadrature (exact when `method` says so), or, where an
    attacker decides or a number is the lesser of two, from scattered points, with the error that is
    left in sds; quantiles and shares above thresholds from `samples` seeded draws, with their
    Monte-Carlo intervals.
    `priors` holds every prior in words; `filled_in` names the parameters that had none, and were
    taken as uniform over their ranges.
    """

    attack: str
    question: str
    mean: float
    sd: float
    method: str
    error: float
    quantiles: dict[float, SampledNumber]
    above: dict[float, SampledNumber]
    samples: int
    seed: int
    priors: dict[str, str]
    draws: Array
    filled_in: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    subjects: int = 1

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: its value and its interval."""
        import pandas as pd

        rows = [{"figure": "mean", "value": self.mean}, {"figure": "sd", "value": self.sd}]
        rows += [{"figure": f"q{100 * q:g}", **asdict(e)} for q, e in self.quantiles.items()]
        rows += [{"figure": f"P(above {t:g})", **asdict(e)} for t, e in self.above.items()]
        return pd.DataFrame(rows, columns=["figure", "value", "low", "high"])

    def to_dict(self) -> dict[str, Any]:
        """What was asked and found, as plain values."""
        out = {k: v for k, v in asdict(self).items() if k != "draws"}
        out["quantiles"] = {f"{q:g}": asdict(e) for q, e in self.quantiles.items()}
        out["above"] = {f"{t:g}": asdict(e) for t, e in self.above.items()}
        return out

    plot = late("reidbn.report.whatif_figures:draw_uncertainty")

    def __str__(self) -> str:
        head = f"{self.attack}: {self.question}"
        how = method_words(self.method, self.error, self.sd)
        lines = [f"{head}: mean {self.mean:.6g}, sd {self.sd:.6g} ({how})"]
        for q, e in self.quantiles.items():
            lines.append(f"  {100 * q:g} % quantile {e.value:.5g} ({e.low:.5g} to {e.high:.5g})")
        for t, e in self.above.items():
            lines.append(f"  above {t:g}: {e.value:.4f} ({e.low:.4f} to {e.high:.4f})")
        lines.append(f"  {self.samples:,} draws, seed {self.seed}")
        if self.filled_in:
            taken = ", ".join(
                f"{n} {self.priors[n].removesuffix(NO_PRIOR)}" for n in self.filled_in
            )
            lines.append(f"  no prior given, so filled in: {taken}")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    __repr__ = __str__


@renamed(samples="draws")
@typed
def uncertainty(
    what: What,
    target: Target | None = None,
    *,
    over: Over = None,
    priors: Mapping[str, Prior] | None = None,
    draws: int | None = None,
    seed: int = 0,
    quantiles: Iterable[float] = QUANTILES,
    thresholds: Iterable[float] = THRESHOLDS,
    **asked: Unpack[Asking],
) -> Uncertainty:
    """The distribution of the answer (its mean over subjects, if several) under priors.

    `asked` is how it is asked: given, do, set, subject and beyond_range, as in rb.ask.

    `what` is an attack, a name or file of one, or a result; `target` is the event, by default the
    attack's own question. `over` names the parameters that vary, or gives them ranges; without it
    all vary that are not set. So many
    `draws` (without, 100,000, or fewer of a large model) from `seed` give the `quantiles` and the
    chances of an answer above each of the `thresholds`.

    >>> u = uncertainty("adversary-routes", "risk", draws=1000)
    >>> round(u.mean, 4), u.method
    (0.1613, 'exact')
    """
    case = case_of(what, target, means=True, **asked)
    scale = case.query.scale
    varied = varied_of(case, over, priors)
    check_samples(1 if draws is None else draws, seed)
    case = worst_at_draws(case, varied, seed)
    with where_it_can_be(varied):
        found = _of_grid(case, varied, draws, seed)
        if found is None or found.is_coarse:
            other = _of_points(case, varied, draws, seed)
            found = other if found is None or other.is_better(found) else found
    drawn, mean, sd = np.sort(found.drawn), found.mean, found.sd
    draws = len(drawn)
    if scale is not None:  # the share of a range, in the units of that range
        drawn, mean, sd = scale.value(drawn), scale.value(mean), sd * scale.width
        thresholds = () if thresholds is THRESHOLDS else thresholds
    else:
        thresholds = probabilities_of(thresholds, "thresholds")
    return Uncertainty(
        attack=case.attack.name,
        question=case.query.describe(),
        mean=mean,
        sd=sd,
        method=found.method,
        error=found.error,
        quantiles={float(q): estimated_quantile(drawn, q) for q in quantiles},
        above={float(t): share_above(drawn, t) for t in thresholds},
        samples=draws,
        seed=seed,
        priors={name: prior_text(p) for name, p in varied.items()},
        draws=drawn,
        subjects=case.count,
        filled_in=tuple(name for name, p in varied.items() if p.prior is None),
        notes=(
            *(note for n, p in varied.items() for note in outside(n, case.base(n), *p.range)),
            *found.notes,
            *held(case, varied),
            *asides(),
            *(
                f"the counts behind {n} are taken as they are: rb.ask tells how sure they are"
                for n in counted_nodes(case.attack, case.attack.upstream(case.query.targets))
            ),
        ),
    )


@dataclass(frozen=True)
class _Spread:
    """Mean, sd and draws of the mean answer over subjects."""

    mean: float
    sd: float
    method: str
    error: float
    drawn: Array
    notes: tuple[str, ...] = ()

    @property
    def off(self) -> float:
        """By how much mean and sd may be off; an error is in sds where there is one."""
        return self.error * (self.sd or 1.0)

    @property
    def is_flat(self) -> bool:
        return self.sd <= FLAT * abs(self.mean)

    @property
    def is_coarse(self) -> bool:
        return self.off > (FLAT * abs(self.mean) if self.is_flat else COARSE * self.sd)

    def is_better(self, than: _Spread) -> bool:
        """Whether points that are scattered say more than a quadrature, or gainsay it."""
        if than.is_flat:
            return not self.is_flat
        return self.error < than.error or self.sd - self.off > than.sd + than.off


def _of_grid(
    case: Asked, varied: Mapping[str, Parameter], draws: int | None, seed: int
) -> _Spread | None:
    """From a quadrature; None where edges run across it, or where it would be too large."""
    if is_rough(case, varied):
        return None
    try:
        grid = Grid(case.as_mean(), varied)
    except TooLarge:
        return None
    spread = grid.spread()
    draws = _most(draws, grid.numerator.size)
    method = "exact" if spread.is_exact else "quadrature"
    drawn = _mean_draws(grid, draws, seed)
    return _Spread(spread.mean, spread.sd, method, spread.error, drawn, spread.notes)


def _of_points(
    case: Asked, varied: Mapping[str, Parameter], draws: int | None, seed: int
) -> _Spread:
    """From the engine's own answers at scattered points, and at the draws."""
    points = ScatteredPoints([case.as_mean()], varied)
    both = points.moments(case.as_mean(), varied)
    work = numbers_of(case)
    draws = _most(draws, work, min(DRAWS, points.count))
    _refuse_many(draws, work, len(varied))
    rng = np.random.default_rng(seed)
    at = {name: known.draw(rng, draws) for name, known in points.measures.items()}
    error = error_in_sds([both])
    return _Spread(both[0].value, both[1].value, SCATTERED, error,
                  asked_at(case.as_mean(), at, draws))  # fmt: skip


def _most(draws: int | None, numbers: int, most: int = DRAWS) -> int:
    """The draws that were asked for; else as many as a model of that size allows."""
    return max(FEWEST, min(most, MOST_WORK // 16 // numbers)) if draws is None else draws


def _refuse_many(draws: int, work: int, parameters: int) -> None:
    """Raise where the draws, or the answers at them, have no room or take hours."""
    most = min(MOST_WORK // work, MOST_DRAWS // max(parameters, 1))
    if draws > most:
        raise TooLarge(
            f"{draws:,} draws of an answer with {work:,} numbers and {parameters} parameters are "
            f"too many; take draws={max(1, most):,}, or vary fewer parameters"
        )


def _mean_draws(grid: Grid, samples: int, seed: int) -> Array:
    """The mean answer over subjects at seeded draws of the priors."""
    _refuse_many(samples, grid.numerator.size, len(grid.axes))
    draws = grid.draws(np.random.default_rng(seed), samples)
    total = np.zeros(samples)
    step = max(1, MOST_NUMBERS // samples)
    for start in range(0, len(grid.numerator), step):
        part = slice(start, start + step)
        total += grid.shares[part] @ grid.at(draws, part)
    return total


def check_samples(samples: int, seed: int) -> None:
    if not isinstance(samples, int | np.integer) or samples < 1:
        raise UsageError(f"draws={samples}: give a whole number of draws, at least one draw")
    refuse_outside("draws", samples, least=1, most=MOST_WORK)
    refuse_outside("seed", seed, least=0, most=2**128 - 1)


def estimated_quantile(ordered: Array, share: float) -> SampledNumber:
    """A sample quantile; its interval is two order statistics around it (binomial, any law)."""
    from scipy.stats import binom

    if not 0 <= share <= 1:
        raise UsageError(f"{share:g} is no quantile: it must lie between 0 and 1")
    n, tail = len(ordered), (1 - LEVEL) / 2
    value = ordered[min(n - 1, max(0, int(np.ceil(n * share)) - 1))]
    low = int(binom.ppf(tail, n, share)) - 1
    high = int(binom.ppf(1 - tail, n, share))
    return SampledNumber(
        float(value), float(ordered[max(low, 0)]), float(ordered[min(high, n - 1)])
    )


def share_above(ordered: Array, threshold: float) -> SampledNumber:
    """The share of draws above a threshold, with the exact binomial interval [ClopperPearson34]."""
    from scipy.stats import beta

    n, tail = len(ordered), (1 - LEVEL) / 2
    hits = int(is_above(ordered, threshold).sum())
    low = float(beta.ppf(tail, hits, n - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - tail, hits + 1, n - hits)) if hits < n else 1.0
    return SampledNumber(hits / n, low, high)


@renamed(samples="draws")
@typed
def subject_uncertainty(
    what: What,
    target: Target | None = None,
    *,
    over: Over = None,
    priors: Mapping[str, Prior] | None = None,
    draws: int = 2_000,
    seed: int = 0,
    quantiles: Iterable[float] = (0.05, 0.5, 0.95),
    **asked: Unpack[Asking],
) -> pd.DataFrame:
    """One row per subject: mean and sd of their answer under priors, and sampled quantiles.

    `error` is what the mean and the sd of the row are off by at most.
    All subjects share the same draws, so their differences are not blurred by sampling.
    `asked` is how it is asked: given, do, set, subject and beyond_range, as in rb.ask.

    `what` is an attack, a name or file of one, or a result; `target` is the event, by default the
    attack's own question. `over` and `priors` are as in `uncertainty`; `seed` gives other draws.
    """
    import pandas as pd

    check_samples(draws, seed)
    case = case_of(what, target, **asked)
    varied = varied_of(case, over, priors)
    case = worst_at_draws(case, varied, seed)
    shares = np.array(list(quantiles), dtype=float)
    for share in shares.tolist():
        refuse_outside("a quantile", share, least=0, most=1)
    each = _each(case, varied)
    if each.grid is None:
        found = each_at(case, varied, draws, seed)
        parts, draws = [np.quantile(found, shares, axis=1, method="inverted_cdf")], found.shape[1]
    else:
        drawn = each.grid.draws(np.random.default_rng(seed), draws)
        step = max(1, MOST_NUMBERS // draws)
        parts = [
            np.quantile(
                each.grid.at(drawn, slice(i, i + step)), shares, axis=1, method="inverted_cdf"
            )
            for i in range(0, len(each.mean), step)
        ]
    rows = zip(shares, np.concatenate(parts, axis=1), strict=True)
    values = {"mean": each.mean, "sd": each.sd, "error": each.off}
    out = pd.DataFrame(row_by_row(case, **values, **{f"q{100 * q:g}": row for q, row in rows}))
    out.attrs.update(samples=draws, seed=seed, method=each.method)
    return out


@dataclass(frozen=True)
class _Each:
    """Mean and sd of every subject's answer, and what both are off by at most."""

    mean: Array
    sd: Array
    off: Array
    method: str
    grid: Grid | None = None

    @property
    def is_coarse(self) -> bool:
        return bool((self.off > np.maximum(COARSE * self.sd, FLAT * np.abs(self.mean))).any())


def _each(case: Asked, varied: Mapping[str, Parameter]) -> _Each:
    """From a quadrature; from scattered points where there is none, or they say more."""
    found = None if is_rough(case, varied) else _each_of_grid(case, varied)
    if found is not None and not found.is_coarse:
        return found
    points = ScatteredPoints([case], varied)
    other = _Each(*points.moments_of_each(case, varied), SCATTERED)
    return found if found is not None and found.off.max() <= other.off.max() else other


def _each_of_grid(case: Asked, varied: Mapping[str, Parameter]) -> _Each | None:
    try:
        grid = Grid(case, varied)
    except TooLarge:
        return None
    mean, sd = grid.moments()
    floor = ROUNDED * np.maximum(np.abs(mean), sd)
    if grid.is_exact:
        return _Each(mean, sd, floor, "exact", grid)
    off = floor + grid.off
    if grid.evidence is not None:  # which is of their mean: each one's own is held against points
        others = ScatteredPoints([case], varied).moments_of_each(case, varied)
        apart = np.maximum(np.abs(mean - others[0]), np.abs(sd - others[1]))
        off = np.maximum(off, apart + others[2])
    return _Each(mean, sd, off, "quadrature", grid)
