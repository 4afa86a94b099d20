"""Population uniqueness from the values, not from class sizes alone: the structured estimator.

Two models of how attributes go together say how common each row is, the row's own people left out
(theory/structure.py); a layer calibrated on the table's singles, pairs and triples turns that into
P(F = 1 | f = 1) and E[1/F | f] of each person (theory/layer.py).  With q_i the former, pi = n/N and
people exchangeable, the population's uniques are estimated by

    U = sum q_i / pi                                                                         (1)

The interval has three parts.  Layer: the posterior of its parameters, of two thirds of the draws as
they are and of a third without the errors e of single rows, of which a rare few would stay unique
however common the rest is.  Sampling: which people
happened to be drawn; a unique row of the table is one of Gamma(1) such, and of these the table has
a share pi, so the population's other uniques are Poisson with mean sum Gamma_i q_i (1-pi)/pi.  Of
rows that the table has nobody like there may be none, or as many as leave one more person unseen:
so the lower end is of these draws, the upper one of those with another Gamma(1), which is
ln .025 / ln(1-pi) where nobody is unique.  Structure: a log-normal factor with

    sd^2 = s0^2 (1-pi) + (c D)^2                                                             (2)

D the standard deviation of the log answers of both models, their mixture and the calibrated one:
where structures disagree, nobody knows.  s0 and c are fitted on real tables, each from the others
(benchmarks/results/real_populations.md).

Where no two columns go together as far as the table shows, three quarters of the draws are those of
shares multiplied (multiplied.py).

Survey weights take the place of N/n.  The layer is calibrated on the table as it is: n p are those
of the table who are like a row.  Each stands for W people, W the mean weight of those alike
(weights.py), so that outside n p (W - 1) are alike, in place of (N - n) p; and a unique row whose
person stands for w counts w times in (1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError, did_you_mean
from reidbn.population.margins import UNSEEN, contradicts
from reidbn.population.multiplied import are_plain, means, near_knot, no_pair
from reidbn.population.pitman import PitmanFit, check_level, fit_pitman
from reidbn.population.remarks import of_width
from reidbn.population.result import Uniqueness, ends_of
from reidbn.population.sample import of_functions, of_louder, of_one_offs
from reidbn.population.weights import WEIGHTED
from reidbn.theory.frequencies import FrequencyTable
from reidbn.theory.gamma import like
from reidbn.theory.layer import (
    BESIDE,
    FEW,
    CalibratedLayer,
    mean_inverse_common,
)
from reidbn.theory.pitman import stays_unique
from reidbn.theory.region import Nodes
from reidbn.theory.species import zayatz
from reidbn.theory.structure import together
from reidbn.written import agree, counted

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

STRUCTURED = "structured"
SPREAD = (0.015, 0.785)
"""s0 and c of equation (2)."""
APART_OF_OWN = 3.0
"""c where most people have a value of their own (benchmarks/results/one_off_values.md)."""
SMALLEST = 100
"""People below whom structures cannot be told apart."""
UNLIKE = 1.0  # unique rows at most, that the table has nobody like
HALF = 0.5  # sampled, from which on the table's uniques tell who stays unique
QUANTITIES = ("expected_uniques", "expected_uniques_in_table", "p_unique")
_DRAWS, _KNOTS = 4_000, 80
_WEIGHTS = 9  # knots of W, where people stand for different numbers


def drawn_chances(
    chances: NDArray[Any],
    run_out: NDArray[Any],
    stay: NDArray[Any] | None,
    factor: NDArray[Any],
    most: float = 1.0,
) -> NDArray[Any]:
    """What an estimate leaves open, of one table or of every subset: draws of its chances by knot.

    Axes: draw, knot, before them any others.  `chances` are those of drawn points of the layer's
    posterior, `factor` that of the structure, by draw; no chance is above `most`.  A third of the
    draws, `run_out`, takes rows of one share for alike likely, so that rare ones may have run out:
    of few attributes they have, and the layer's e keeps some.  Where most people have a value of
    their own on a column, another third, `stay`, says by draw what class sizes alone say, whose
    values never run out: such a table cannot tell.
    """
    drawn, third = chances.copy(), run_out.shape[-2]
    drawn[..., :third, :] = run_out
    if stay is not None:
        drawn[..., third : 2 * third, :] = stay
    drawn *= factor[..., None]
    return np.asarray(np.minimum(drawn, most, out=drawn))


def least_that_stay(table: FrequencyTable, population: float) -> float:
    """The least of the P(F = 1 | f = 1) of one attribute, whose values may have run out.

    Nobody below a half sampled; from there the table's own class sizes tell who stays.
    """
    return 0.0 if table.n < HALF * population else zayatz(table, int(population))


def within_reach(fit: Uniqueness, low: int, high: int) -> tuple[int, int]:
    """As many uniques as there can be: nobody outside the table changes more than one of them."""
    outside = int(np.ceil(fit.population - fit.n))
    return max(low, fit.uniques - outside, 0), min(high, fit.uniques + outside)


def with_ends(told: dict[str, Floats], low: Any, high: Any, f: Ints) -> dict[str, Floats]:
    """Each person's chances and where they lie: nobody of a larger class is unique."""
    q, alone = told["p_unique"], f == 1
    return {
        **told,
        "p_unique_low": np.where(alone, np.minimum(low, q), 0.0),
        "p_unique_high": np.where(alone, np.maximum(high, q), 0.0),
    }


@dataclass(frozen=True)
class StructuredParts:
    """What an estimate is made of: population uniques by structure, and the interval's parts."""

    forest: float
    latent_classes: float
    mixture: float
    calibrated: float
    apart: float
    """D: standard deviation of the four log answers."""
    disagreement: float
    """Largest over smallest answer, half a row of the table added to both; 1 where they agree."""
    layer: float
    """Standard deviation of the log estimate from the layer's parameters alone."""
    sampling: float
    structure: float

    @property
    def shares(self) -> tuple[float, float, float]:
        """Of the interval's log variance: layer, sampling, structure."""
        every = (self.layer**2, self.sampling**2, self.structure**2)
        layer, sampling, structure = (v / max(sum(every), 1e-300) for v in every)
        return layer, sampling, structure

    def __str__(self) -> str:
        layer, sampling, structure = self.shares
        return (
            f"forest of pairs {self.forest:,.0f}, latent classes {self.latent_classes:,.0f}, "
            f"their mixture {self.mixture:,.0f}, calibrated {self.calibrated:,.0f} population "
            f"uniques: structures disagree by a factor {self.disagreement:.2f}; of the interval's "
            f"log variance the layer has {layer:.0%}, sampling {sampling:.0%}, structure "
            f"{structure:.0%}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class StructuredFit(Uniqueness):
    """How attributes go together, calibrated on the table's singles, pairs and triples."""

    ids: Ints
    """Which distinct row each person has."""
    counts: Ints
    log_shares: tuple[Floats, Floats]
    """log H by the forest and by the latent classes, by distinct row."""
    layer: CalibratedLayer
    common: tuple[float, float, float]
    beside: Ints
    """Which of `BESIDE` each distinct row has: how few others hold its rarest value."""
    key: Nodes | None = None
    """Pitman's posterior of the classes, where most people have a value of their own on a column.
    """
    weights: tuple[Floats, Floats] | None = None
    """For how many people each distinct row's own people stand, and those alike (W), on average."""
    independent: Floats | None = None
    """Log shares by distinct row were columns independent, as even as may be; None: some go
    together."""
    seed: int = 0

    @property
    def model(self) -> str:
        return STRUCTURED

    @property
    def dropped(self) -> tuple[str, ...]:
        """Columns that are functions of others: they part nobody."""
        return self.sample.functions

    @property
    def status(self) -> str:
        return "calibrated" if self.uniques else "no uniques"

    # What stands for whom

    @cached_property
    def _sizes(self) -> Floats:
        """Knots of n W, the population were everybody like one row; or N."""
        if self.weights is None:
            return np.array([float(self.population)])
        beside = np.maximum(self.weights[1] - 1, UNSEEN / self.n)
        return np.asarray(self.n * (1 + np.geomspace(beside.min(), beside.max(), _WEIGHTS)))

    @cached_property
    def _between(self) -> tuple[Ints, Floats]:
        """The knot of W before each distinct row, and how far beyond it the row is."""
        if self.weights is None:
            return np.zeros(len(self.counts), dtype=np.int64), np.zeros(len(self.counts))
        steps = np.log(self._sizes - self.n)
        place = np.interp(np.log(np.maximum(self.n * (self.weights[1] - 1), UNSEEN)),
                          steps, np.arange(len(steps)))  # fmt: skip
        low = np.minimum(place.astype(np.int64), len(steps) - 2)
        return low, place - low

    @cached_property
    def _besides(self) -> Ints:
        """Those of `BESIDE` that occur."""
        return np.union1d(self.beside, [0])

    def _cells(self, told: Callable[[float, float], Floats]) -> Floats:
        """Something by grid point, and by one of `BESIDE`, knot of W and of x as one axis."""
        each = [told(float(N), BESIDE[k]) for k in self._besides for N in self._sizes]
        return np.concatenate(each, axis=1)

    def _read(self, cells: Floats, rows: Any = slice(None)) -> Floats:
        """Values of cells at distinct rows."""
        x, of = self._x[rows], self.beside[rows]
        out = np.empty(len(x))
        low, beyond = (part[rows] for part in self._between)
        tables = cells.reshape(len(self._besides), len(self._sizes), _KNOTS)
        for k, own in zip(self._besides, tables, strict=True):
            some = of == k
            each = np.stack([np.interp(x[some], self._knots, table) for table in own])
            if len(each) == 1:
                out[some] = each[0]
                continue
            knot, further, at = low[some], beyond[some], np.arange(some.sum())
            out[some] = each[knot, at] * (1 - further) + each[knot + 1, at] * further
        return out

    @cached_property
    def _worth(self) -> Floats:
        """How often each distinct row counts, in N/n."""
        if self.weights is None:
            return np.ones(len(self.counts))
        return np.asarray(self.weights[0] * self.sampling_fraction)

    # Per person

    @cached_property
    def _x(self) -> Floats:
        """log(nH) of both models together, by distinct row."""
        forest, classes = self.log_shares
        return np.asarray(together(forest, classes) + np.log(self.n))

    @cached_property
    def _knots(self) -> Floats:
        few = self._x[self.counts <= FEW]
        low, high = (few.min(), few.max()) if few.size else (0.0, 0.0)
        return np.linspace(low - 1e-6, high + 1e-6, _KNOTS)

    @cached_property
    def _by_point(self) -> Floats:
        """P(F = 1 | f = 1): axes grid point of the layer, cell."""
        return self._cells(partial(self.layer.p_unique, self._knots))

    @cached_property
    def _q(self) -> Floats:
        """P(F = 1 | f) by distinct row."""
        told = self._read(self.layer.weight @ self._by_point)
        return np.where(self.counts == 1, told, 0.0)

    @cached_property
    def _match(self) -> Floats:
        """E[1/F | f] by distinct row."""
        found = np.empty(len(self.counts))
        for f in range(1, FEW + 1):
            some = self.counts == f
            if some.any():
                told = self._cells(partial(self.layer.mean_inverse, f, self._knots))
                found[some] = self._read(self.layer.weight @ told, some)
        rest = self.counts > FEW
        if rest.any():
            of = self.population if self.weights is None else self.n * self.weights[1][rest]
            found[rest] = mean_inverse_common(
                self.counts[rest].astype(np.float64), self._x[rest], self.n, of, self.common
            )
        return np.minimum(found, 1 / self.counts)

    def _each(self) -> dict[str, Floats]:
        ends = np.quantile(self._rates(), [0.025, 0.975], axis=0)
        low, high = (self._read(end)[self.ids] for end in ends)
        if self._outdone:
            high = np.maximum(high, self._by_sizes.interval("p_unique", method="grid")[1])
        found = {"p_unique": self._q[self.ids], "mean_inverse": self._match[self.ids]}
        return with_ends(found, low, high, self.counts[self.ids])

    # Totals

    @property
    def p_unique(self) -> float:
        """Mean over the table's unique rows of P(F = 1 | f = 1)."""
        return float(self._q[self.counts == 1].mean()) if self.uniques else 0.0

    @property
    def expected_uniques(self) -> float:
        """The table's unique rows that stay unique, counted N/n times, or by their weights."""
        if self.weights is None:
            told = self.expected_uniques_in_table / self.sampling_fraction
            return min(told, float(self.uniques + self.population - self.n))
        told = float(self._q @ self._worth) / self.sampling_fraction
        return min(told, float(self.population))  # weights may sum to a little more

    def mean_inverse(self, class_sizes: int | Sequence[int] | NDArray[Any]) -> Any:
        """E[1/F | f] for `class_sizes` f of the table: the mean over its people in such classes."""
        asked = np.asarray(class_sizes)
        missing = np.setdiff1d(asked, self.counts)
        if missing.size:
            raise UsageError(
                f"no class of {missing[0]} in the table; this model speaks of its rows, and "
                "pitman of any class size"
            )
        told = np.bincount(self.counts, weights=self._match)
        held = np.bincount(self.counts)
        values = told[asked] / held[asked]
        return like(values)

    @cached_property
    def expected_match(self) -> float:
        """Mean over the table's people of E[1/F | f]: the journalist's chance of a right match."""
        return float(self.counts @ self._match) / self.n

    # Uncertainty

    def interval(
        self, quantity: str = "expected_uniques", *, level: float = 0.95
    ) -> tuple[float, float]:
        """Where an expectation lies: layer and structure, without the chance of sampling."""
        check_level(level)
        if quantity not in QUANTITIES:
            raise UsageError(f'no quantity "{quantity}"; {did_you_mean(quantity, QUANTITIES)}')
        if quantity == "expected_uniques":
            drawn = np.minimum(
                self._rates() @ self._counted / self.sampling_fraction, self.population
            )
        else:
            drawn = self._rates() @ self._held
            drawn = drawn / max(self.uniques, 1) if quantity == "p_unique" else drawn
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def prediction_interval(
        self, *, level: float = 0.95, spread: tuple[float, float] = SPREAD
    ) -> tuple[int, int]:
        """An interval for the number of population uniques there will turn out to be.

        `spread` are s0 and c of what structures add to it.
        """
        check_level(level)
        rng = np.random.default_rng([self.seed, 2])
        seen = self._realised(self._rates(spread), rng)
        low, high = ends_of(seen, self._unlike(rng, len(seen)), self, level)
        if self._outdone:
            high = max(high, self._by_sizes.prediction_interval(level=level)[1])
        return within_reach(self, low, high)

    # What class sizes say against it

    @property
    def _outdone(self) -> bool:
        """Whether a column alone leaves more people unique, by its class sizes, than are said."""
        many, said = self.sample.loudest[1], self.expected_uniques
        return contradicts(many, said, self.sampling_fraction, times=1.0)

    @cached_property
    def _by_sizes(self) -> PitmanFit:
        return fit_pitman(self.sample, model="pitman-bayes")

    @cached_property
    def _held(self) -> Floats:
        """Unique rows of the table near each cell."""
        return self._near(np.ones(len(self.counts)))

    @cached_property
    def _counted(self) -> Floats:
        """The same, as often as each counts."""
        return self._near(self._worth)

    def _near(self, worth: Floats, *, by_size: bool = True) -> Floats:
        """Sums over the unique rows near each cell, or near each on all knots of W together."""
        alone, step = self.counts == 1, self._knots[1] - self._knots[0]
        at = np.rint((self._x[alone] - self._knots[0]) / step).astype(np.int64)
        low, beyond = self._between
        sizes = len(self._sizes) if by_size else 1
        of = np.searchsorted(self._besides, self.beside) * sizes
        of += np.rint(low + beyond).astype(np.int64) if by_size else 0
        cells = _KNOTS * sizes * len(self._besides)
        return np.bincount(at + of[alone] * _KNOTS, worth[alone], cells).astype(np.float64)

    def _rates(
        self,
        spread: tuple[float, float] = SPREAD,
        *,
        draws: int = _DRAWS,
        own: np.random.Generator | None = None,
    ) -> Floats:
        """Drawn P(F = 1 | f = 1) by knot; structures err alike in strata of one table."""
        alike = np.random.default_rng(self.seed)
        own = np.random.default_rng([self.seed, 1]) if own is None else own
        factor = np.exp(self._structure(spread) * alike.standard_normal(draws))
        point = own.choice(len(self.layer.weight), size=draws, p=self.layer.weight)
        stay = None
        if self.key is not None:
            node = own.choice(len(self.key.weight), size=draws // 3, p=self.key.weight)
            theta, alpha = self.key.theta[node], self.key.alpha[node]
            stay = self._cells(
                lambda N, _: np.repeat(
                    stays_unique(self.n, N, theta=theta, alpha=alpha)[:, None], _KNOTS, axis=1
                )
            )
        run_out = self._cells(lambda N, _: self.layer.all_alike(self._knots, N))
        run_out = run_out[point[: draws // 3]]
        drawn = drawn_chances(self._by_point[point], run_out, stay, factor)
        if self.independent is not None:
            plain = are_plain(draws)
            drawn[plain] = self._plain
        return drawn

    @cached_property
    def _plain(self) -> Floats:
        """P(F = 1 | f = 1) were columns independent, by cell."""
        assert self.independent is not None  # noqa: S101 - the caller looked
        low, beyond = self._between
        found = []
        for k, N in enumerate(self._sizes):
            weight = near_knot(low + beyond, k)
            told = self._near(
                weight * np.exp(-(N - self.n) * np.exp(self.independent)), by_size=False
            )
            found.append(means(told, self._near(weight, by_size=False)).reshape(-1, _KNOTS))
        return np.stack(found, axis=1).ravel()

    def _realised(self, rates: Floats, rng: np.random.Generator) -> Floats:
        """Draws of the population's uniques of rows that the table has."""
        pi, held = self.sampling_fraction, self._held
        each = (self._counted / np.maximum(held, 1) - pi) / (1 - pi)  # outside, in (1 - pi)/pi
        rows = rng.gamma(np.broadcast_to(held, rates.shape))
        if self.weights is not None:
            rows *= np.maximum(each, 0.0)
        outside = rng.poisson((rows * rates).sum(axis=1) * (1 - pi) / pi)
        inside = rng.binomial(held.astype(np.int64), rates).sum(axis=1)
        return np.asarray(np.minimum(inside + outside, self.population), dtype=np.float64)

    def _drawn(self, rng: np.random.Generator, draws: int, *, realised: bool) -> Floats:
        rates = self._rates(draws=draws, own=rng)
        if realised:
            return self._realised(rates, rng)
        return np.minimum(rates @ self._counted / self.sampling_fraction, self.population)

    def _unlike(self, rng: np.random.Generator, draws: int, share: float = 1.0) -> Floats:
        pi = self.sampling_fraction
        return np.asarray(
            rng.poisson(rng.gamma(UNLIKE * share, size=draws) * (1 - pi) / pi), dtype=np.float64
        )

    @cached_property
    def _answers(self) -> Floats:
        """Population uniques by forest, latent classes, mixture, and the calibrated model."""
        alone = self.counts == 1
        each = [own[alone] for own in self.log_shares]
        each.append(self._x[alone] - np.log(self.n))
        outside = self.population - self.n
        if self.weights is not None:
            outside = self.n * (self.weights[1][alone] - 1)
        stay = [np.exp(outside * np.log1p(-np.exp(np.minimum(h, -1e-9)))) for h in each]
        told = [(self._worth[alone] * own).sum() for own in (*stay, self._q[alone])]
        return np.array(told) / self.sampling_fraction

    @cached_property
    def _apart(self) -> float:
        """D of equation (2); an answer of less than half a row is as good as one of half a row."""
        return float(np.std(np.log(self._answers + UNSEEN / self.sampling_fraction)))

    def _structure(self, spread: tuple[float, float] = SPREAD) -> float:
        """Equation (2)."""
        fixed, apart = spread
        if self.key is not None:
            apart = max(apart, APART_OF_OWN)
        left = 1 - self.sampling_fraction
        return float(np.sqrt(fixed**2 * left + (apart * self._apart) ** 2))

    @cached_property
    def parts(self) -> StructuredParts:
        """What the structures say, and where the interval's width comes from."""
        pi, q = self.sampling_fraction, self._q
        middle = self.expected_uniques + UNSEEN / pi
        by_point = self._by_point @ self._counted / pi
        mean = float(self.layer.weight @ by_point)
        layer = np.sqrt(float(self.layer.weight @ (by_point - mean) ** 2)) / middle
        w = self._worth
        taken = float((q**2 * w * (w - pi)).sum() / pi**2 + (q * (1 - q) * w).sum() / pi)
        chance = np.sqrt(max(taken, 0.0))
        ends = self._answers.max() + UNSEEN / pi, self._answers.min() + UNSEEN / pi
        told = (
            *self._answers,
            self._apart,
            ends[0] / ends[1],
            layer,
            chance / middle,
            self._structure(),
        )
        return StructuredParts(*(float(v) for v in told))

    def explain(self, person: Any = None, measure: str = "overall") -> str:
        """How the estimate comes about, in words; of a person or a measure it says nothing."""
        if person is not None:
            super().explain(person, measure)
        low, high = self.prediction_interval()
        a, b, s = self.layer.mean
        lines = [
            f"{self.uniques:,} of {self.n:,} people are unique in the table; "
            f"{self.expected_uniques_in_table:,.1f} of them are expected to be unique among the "
            f"{self.population:,} people of the population, which makes "
            f"{self.expected_uniques:,.0f} population uniques (95 % {low:,} to {high:,}).",
            f"What each structure says alone: {self.parts}.",
            f"Calibrated on the classes of one to three people: log(n p) = {a:.2f} + {b:.2f} "
            f"log(n H), give or take {s:.2f}.",
        ]
        few = int(((self.beside > 0) & (self.counts == 1)).sum())
        if few:
            lines.append(
                f"{counted(few, 'unique person')} {agree(few, 'has', 'have')} a value that one or "
                "two others of the table hold: how common it is those few say, and what is said of "
                "such a person is as much less sure."
            )
        return "\n".join([*lines, *self.warnings])

    def _of_weights(self) -> tuple[str, ...]:
        if self.weights is None:  # none, or all alike
            return self.sample.stands[1]
        return (*self.sample.stands[1], WEIGHTED)

    def _remarks(self) -> list[str]:
        found = []
        if self.dropped:
            found.append(of_functions(self.dropped))
        if self.independent is not None:
            told = float(self._plain @ self._counted) / self.sampling_fraction
            found.append(no_pair(min(told, self.population)))
        if self._outdone:
            found.append(
                f"{of_louder(*self.sample.loudest)}: the structures cannot tell, and the upper end "
                f"is that of class sizes (pitman-bayes says {self._by_sizes.expected_uniques:,.0f})"
            )
        if not self.uniques:
            found.append("nobody is unique in the table; that is no proof for the population")
        if self.sample.mostly_alone is not None:
            found.append(of_one_offs(self.sample.mostly_alone))
        return [*found, *of_width(*self.prediction_interval())]

    def to_dict(self) -> dict[str, Any]:
        return {
            **super().to_dict(),
            "prediction_interval": list(self.prediction_interval()),
            "parts": asdict(self.parts),
        }
