"""What stands behind a parameter: counts of studies, or quantiles of experts.

The value, the prior, the range and the source follow.  What enters a model is what is expected in
the setting that is modelled: of several studies, the mean over settings, and not of any one study.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.prior import LEAST, Prior
from reidbn.calls import check_fields
from reidbn.cpds.protocol import freeze_fields

Array = NDArray[np.float64]
LEVEL = 0.95  # of the interval that is the range, where none is stated
BETWEEN = 0.5  # scale of the half-normal prior of the sd between studies, in log odds
POOLS = ("linear", "logarithmic")
SHARES, STRETCH = 129, 0.25  # of a law, and log odds, that its density is cut to ...
NODES = 12  # ... with so many Gauss points on each ...
BEYOND = 20.0  # ... and so many log odds beyond all but 1e-9 of it
TABLE = 2_001  # points of the table by which quantiles of a smooth law are drawn
BEYOND_ENDS = 1e-9  # of a law, beyond either end of that table, ...
LARGEST, LARGEST_BELOW = 690.0, 36.0  # ... which goes no further than numbers above 0 and below 1
TAIL = 1e-12  # of a law, that is not told apart at either end
SAME = 1e-12  # normal scores: between marks no further apart lies nothing
HALVED = 60  # steps at most to a quantile, ...
RESOLVED, ROUNDED = 1e-13, 4e-15  # ... whose level, or log odds, is known so well


class Law(Protocol):
    """A law of a number, as the theory has it."""

    @property
    def mean(self) -> float: ...
    @property
    def sd(self) -> float: ...
    @property
    def points(self) -> tuple[Array, Array]: ...
    @property
    def marks(self) -> Array: ...
    def log_density(self, t: Array) -> Array: ...
    def cumulative(self, x: Any) -> Array: ...


@dataclass(frozen=True)
class Study:
    """So many hits in so many trials, and where that stands."""

    hits: int
    trials: int
    study: str = ""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Measured:
    """Studies that counted; `between` is the scale of the half-normal prior of their sd.

    One study without `between` speaks of its own setting, several of a new one.

    >>> one = Measured((Study(241, 579),))
    >>> round(one.law.mean, 4), [round(x, 3) for x in interval(one)]
    (0.4164, [0.377, 0.457])
    """

    studies: tuple[Study, ...]
    between: float | None = None
    ends: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def __post_init__(self) -> None:
        studies = (self.studies,) if isinstance(self.studies, Study) else tuple(self.studies)
        object.__setattr__(self, "studies", studies)
        check_fields(self)

    @property
    def scale(self) -> float | None:
        """Of the half-normal prior; None when the one study speaks for itself."""
        return BETWEEN if self.between is None and len(self.studies) > 1 else self.between

    @property
    def law(self) -> Law:
        return _measured(self)

    @property
    def source(self) -> str:
        """The studies by name, with their counts."""
        return "; ".join(
            f"{s.study or 'a study without a name'} ({s.hits:,} of {s.trials:,})"
            for s in self.studies
        )

    def problems(self, unit: str) -> list[str]:
        if unit != "probability":
            return [f"counts measure a probability, and the unit is {unit}"]
        if not self.studies:
            return ["names no study; write hits and trials"]
        wrong = [s for s in self.studies if not (0 <= s.hits <= s.trials and s.trials > 0)]
        if wrong:
            return [f"has {wrong[0].hits:,} hits in {wrong[0].trials:,} trials"]
        if self.between is not None and not 0.001 <= self.between <= 10:
            return [f"between: {self.between:g} is the scale of an sd in log odds, such as 0.5"]
        return []

    def words(self) -> str:
        if self.scale is None:
            (one,) = self.studies
            return f"beta({one.hits + 0.5:g}, {one.trials - one.hits + 0.5:g}), measured"
        return (
            f"a new setting after {len(self.studies)} studies, sd between them in log odds "
            f"half-normal({self.scale:g})"
        )


@dataclass(frozen=True)
class Expert:
    """One expert's quantiles, {level: value}, and a weight in the pool."""

    expert: str
    quantiles: Mapping[float, float] = field(default_factory=dict)
    weight: float = 1.0

    def __post_init__(self) -> None:
        told = {float(level): float(value) for level, value in dict(self.quantiles).items()}
        object.__setattr__(self, "quantiles", told)
        freeze_fields(self)


@dataclass(frozen=True)
class Elicited:
    """Quantiles that experts gave, pooled; the number lies `within` two ends (0 and 1)."""

    experts: tuple[Expert, ...]
    pool: str = "linear"
    within: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        experts = (self.experts,) if isinstance(self.experts, Expert) else tuple(self.experts)
        object.__setattr__(self, "experts", experts)
        if self.within is not None:
            object.__setattr__(self, "within", tuple(self.within))
        check_fields(self)

    @property
    def ends(self) -> tuple[float, float]:
        low, high = self.within or (0.0, 1.0)
        return float(low), float(high)

    @property
    def law(self) -> Law:
        return _elicited(self)

    @property
    def source(self) -> str:
        """Whose word it is."""
        return f"elicited from {', '.join(e.expert for e in self.experts)}"

    def problems(self, unit: str) -> list[str]:
        if unit != "probability" and self.within is None:
            return ["is no probability; say within: [LOW, HIGH] between which ends it lies"]
        low, high = self.ends
        if not low < high:
            return [f"within runs from {low:g} down to {high:g}; write the smaller end first"]
        if unit == "probability" and not 0 <= low < high <= 1:
            return [f"a probability lies within 0 and 1, and not {low:g} to {high:g}"]
        if self.pool not in POOLS:
            return [f'"{self.pool}" is no pool: use linear or logarithmic']
        if not self.experts:
            return ["names no expert"]
        return [text for e in self.experts for text in _said_badly(e, low, high)]

    def words(self) -> str:
        return f"{self.pool} pool of {', '.join(e.expert for e in self.experts)}"


Evidence = Measured | Elicited


@lru_cache(maxsize=256)
def _measured(known: Measured) -> Law:
    from reidbn.theory.pooling import beta, pooled

    if known.scale is None:
        (one,) = known.studies
        return beta(one.hits + 0.5, one.trials - one.hits + 0.5)
    hits, trials = [s.hits for s in known.studies], [s.trials for s in known.studies]
    return pooled(hits, trials, scale=known.scale)


@lru_cache(maxsize=256)
def _elicited(known: Elicited) -> Law:
    from reidbn.theory.elicited import pool

    said = [dict(e.quantiles) for e in known.experts]
    weights = [e.weight for e in known.experts]
    low, high = known.ends
    return pool(said, low=low, high=high, kind=known.pool, weights=weights)


def _said_badly(expert: Expert, low: float, high: float) -> list[str]:
    said = sorted(expert.quantiles.items())
    who = f"expert {expert.expert}"
    if len(said) < 2:
        return [f"{who} gives {len(said)} quantiles; two are needed at least"]
    if not expert.weight > 0:
        return [f"{who} has the weight {expert.weight:g}; needed: a number above 0"]
    if not (said[0][0] > 0 and said[-1][0] < 1):
        return [f"{who} gives a quantile at {said[0][0]:g} or {said[-1][0]:g}; levels lie between "
                f"0 and 1, and the ends are the parameter's range"]  # fmt: skip
    if not (low < said[0][1] and said[-1][1] < high):
        return [f"{who} gives quantiles from {said[0][1]:g} to {said[-1][1]:g}; they have to lie "
                f"within {low:g} and {high:g}"]  # fmt: skip
    if any(b <= a for (_, a), (_, b) in pairwise(said)):
        return [f"{who} gives quantiles that do not rise with their levels"]
    return []


@dataclass(frozen=True)
class Belief(Prior):
    """The prior that evidence makes, between the ends within which the number lies."""

    kind: str = "evidence"
    evidence: Evidence | None = None

    @property
    def known(self) -> Evidence:
        assert self.evidence is not None  # noqa: S101 - made from evidence
        return self.evidence

    @property
    def ends(self) -> tuple[float, float]:
        return self.known.ends

    @cached_property
    def _table(self) -> tuple[Array, Array]:
        """Normal scores of levels, and the log odds (within the ends) that they stand at.

        At the law's own marks, where it has some: both ends of every stretch without mass are kept.
        """
        from scipy.special import ndtri

        grid = self.known.law.marks if self._is_marked else self._even()
        levels = np.clip(self.known.law.cumulative(self._number(grid)), TAIL, 1 - TAIL)
        z = np.maximum.accumulate(ndtri(levels))
        rises = np.diff(z) > SAME
        kept = np.append(rises, True) | np.append(True, rises)
        return z[kept], grid[kept]

    @property
    def _is_marked(self) -> bool:
        return len(self.known.law.marks) > 0

    def _even(self) -> Array:
        """Even log odds between which all but 1e-9 of the law lies at either end.

        The law's own points are too few for that: from theirs the ends are sought outwards.
        """
        x, weights = self.known.law.points
        low, high = self.ends
        share = np.clip((x - low) / (high - low), 1e-300, 1 - 1e-16)
        order = np.argsort(share)
        reach = np.searchsorted(np.cumsum(weights[order]), [1e-9, 1 - 1e-9])
        first, last = share[order][np.clip(reach, 0, len(x) - 1)]
        ends = [
            self._outwards(float(np.log(share) - np.log1p(-share)), sign)
            for share, sign in ((first, -1), (last, 1))
        ]
        return np.linspace(ends[0], ends[1], TABLE)

    def _outwards(self, start: float, sign: int) -> float:
        """The first log odds from a start beyond which no more than 1e-9 of the law lies."""
        t = np.clip(start + sign * np.append(0.0, 1.3 ** np.arange(25.0)), -LARGEST, LARGEST_BELOW)
        below = self.known.law.cumulative(self._number(t))
        met = np.flatnonzero((below if sign < 0 else 1 - below) <= BEYOND_ENDS)
        return float(t[met[0] if len(met) else -1])

    @property
    def marks(self) -> Array:
        return self._number(self._table[1]) if self._is_marked else np.empty(0)

    def _number(self, t: Array) -> Array:
        low, high = self.ends
        return np.asarray(low + (high - low) / (1 + np.exp(-t)))

    def _levels(self, low: float, high: float) -> tuple[float, float]:
        """The levels of a range that the law is cut to."""
        first, last = self.known.law.cumulative(np.array([low, high], dtype=float))
        return float(first), float(last)

    def mean(self, low: float, high: float) -> float:
        x, weights = self.points(low, high)
        return float(weights @ x)

    def sd(self, low: float, high: float) -> float:
        x, weights = self.points(low, high)
        return float(np.sqrt(weights @ (x - weights @ x) ** 2))

    def points(
        self, low: float, high: float, *, is_weighed: bool = False, each: int = NODES
    ) -> tuple[Array, Array]:
        """Points and weights of the law, cut to a range.

        Where it `is_weighed` with more than a polynomial, those of its parts are too few; then
        `each` stretch of it has so many.
        """
        if low <= self.ends[0] and high >= self.ends[1] and not is_weighed:
            return self.known.law.points
        return _stretched(self, low, high, each)

    def quantile(self, u: Array, low: float, high: float) -> Array:
        from scipy.special import ndtri

        first, last = self._levels(low, high)
        level = np.clip(first + np.asarray(u, dtype=float) * (last - first), TAIL, 1 - TAIL)
        z, t = self._table
        score = ndtri(level)
        found = np.interp(score, z, t)
        if self._is_marked:
            i = np.clip(np.searchsorted(z, score), 1, len(z) - 1)
            found = self._solved(level, found, t[i - 1], t[i])
        return np.clip(self._number(found), low, high)

    def _solved(self, level: Array, start: Array, left: Array, right: Array) -> Array:
        """The log odds below which so much lies: Newton's steps, and halves where they lead away.

        One mark is no more than half a normal score of an expert from the next, so few are needed.
        """
        law, t = self.known.law, start.copy()
        open_ = np.flatnonzero(right > left)
        left, right = left.copy(), right.copy()
        for _ in range(HALVED):
            here, want = t[open_], level[open_]
            off = law.cumulative(self._number(here)) - want
            left[open_] = np.where(off < 0, here, left[open_])
            right[open_] = np.where(off < 0, right[open_], here)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                new = here - off / np.exp(law.log_density(here))
            inside = (new > left[open_]) & (new < right[open_])
            new = np.where(inside, new, (left[open_] + right[open_]) / 2)
            met = np.abs(off) <= RESOLVED * np.minimum(want, 1 - want)
            met |= np.abs(new - here) <= ROUNDED * np.maximum(1.0, np.abs(here))
            t[open_] = np.where(met, here, new)
            open_ = open_[~met]
            if not len(open_):
                break
        return t

    def cumulative(self, points: Array, low: float, high: float) -> Array:
        first, last = self._levels(low, high)
        return np.clip((self.known.law.cumulative(points) - first) / (last - first), 0.0, 1.0)

    def words(self) -> str:
        return self.known.words()

    def problems(self, low: float, high: float) -> list[str]:
        if not low < high:
            return [f"a prior needs a range with some width; this one is just {low:.12g}"]
        first, last = self.ends
        if low < first or high > last:
            return [f"runs from {low:.12g} to {high:.12g}, and lies within {first:.12g} and "
                    f"{last:.12g}"]  # fmt: skip
        below, most = self._levels(low, high)
        if not most - below > LEAST:
            return [
                f"what stands behind it holds {low:g} to {high:g} for next to impossible; take a "
                f"range that has some weight, or give another prior for it in priors="
            ]
        return []


@lru_cache(maxsize=64)
def _stretched(belief: Belief, low: float, high: float, nodes: int = NODES) -> tuple[Array, Array]:
    """Gauss points and weights of a law within a range, from its density in log odds.

    Its marks, even shares of it and even log odds are the ends of stretches.
    """
    z, t = belief._table
    first, last = belief.ends
    with np.errstate(divide="ignore"):
        odds = np.log([low - first, high - first]) - np.log([last - low, last - high])
    ends = np.where(np.isinf(odds), [t[0] - BEYOND, t[-1] + BEYOND], odds)
    even = np.interp(np.linspace(z[0], z[-1], SHARES), z, t)
    across = np.linspace(ends[0], ends[1], max(SHARES, int((ends[1] - ends[0]) / STRETCH)))
    marks = np.concatenate([even, across, belief.known.law.marks])
    edges = np.unique(marks[(marks >= ends[0]) & (marks <= ends[1])])
    u, gauss = np.polynomial.legendre.leggauss(nodes)
    at = (edges[:-1, None] + np.diff(edges)[:, None] * (1 + u) / 2).ravel()
    logs = belief.known.law.log_density(at)
    weights = np.exp(logs - logs.max()) * (np.diff(edges)[:, None] * gauss).ravel()
    return np.clip(belief._number(at), low, high), weights / weights.sum()


@lru_cache(maxsize=256)
def interval(evidence: Evidence, level: float = LEVEL) -> tuple[float, float]:
    """The central interval of what evidence says."""
    from scipy.optimize import brentq

    low, high = evidence.ends
    found = [
        brentq(lambda x, u=u: float(evidence.law.cumulative(x)[0]) - u, low, high, xtol=1e-14)
        for u in ((1 - level) / 2, (1 + level) / 2)
    ]
    return float(found[0]), float(found[1])
