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
a share pi, so the population's other uniques are Poisson with mean sum Gamma_i q_i (1-pi)/pi, and
half a person more that the table has nobody like.  Structure: a log-normal factor with

    sd^2 = s0^2 (1-pi) + (c D)^2                                                             (2)

D the standard deviation of the log answers of both models, their mixture and the calibrated one:
where structures disagree, nobody knows.  s0 and c are fitted on real tables, each from the others
(benchmarks/results/real_populations.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError, did_you_mean
from reidbn.microdata.table import People
from reidbn.population.margins import posterior_of
from reidbn.population.pitman import PitmanFit, check_level, fit_pitman
from reidbn.population.result import Chosen, Uniqueness
from reidbn.population.sample import Sample, is_one_off, of_one_offs
from reidbn.theory.frequencies import FrequencyTable
from reidbn.theory.gamma import like
from reidbn.theory.layer import (
    FEW,
    CalibratedLayer,
    common_layer,
    fit_layer,
    how_far_apart,
    mean_inverse_common,
)
from reidbn.theory.pitman import stays_unique
from reidbn.theory.region import Nodes
from reidbn.theory.species import zayatz
from reidbn.theory.structure import Distinct, by_classes, by_forest, determined, together

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

STRUCTURED = "structured"
SPREAD = (0.015, 0.785)
"""s0 and c of equation (2)."""
APART_OF_OWN = 3.0
"""c where most people have a value of their own (benchmarks/results/one_off_values.md)."""
SMALLEST = 100
"""People below whom structures cannot be told apart."""
UNSEEN = 0.5  # unique rows that the table has nobody like
WIDE = 10.0
HALF = 0.5  # sampled, from which on the table's uniques tell who stays unique
QUANTITIES = ("expected_uniques", "expected_uniques_in_table", "p_unique")
_DRAWS, _KNOTS = 4_000, 80


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
        drawn[..., third : 2 * third, :] = stay[..., None]
    drawn *= factor[..., None]
    return np.asarray(np.minimum(drawn, most, out=drawn))


def least_that_stay(table: FrequencyTable, population: float) -> float:
    """The least of the P(F = 1 | f = 1) of one attribute, whose values may have run out.

    Nobody below a half sampled; from there the table's own class sizes tell who stays.
    """
    return 0.0 if table.n < HALF * population else zayatz(table, int(population))


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
    dropped: tuple[str, ...] = ()
    """Columns that are functions of others: they part nobody."""
    key: Nodes | None = None
    """Pitman's posterior of the classes, where most people have a value of their own on a column.
    """
    seed: int = 0

    @property
    def model(self) -> str:
        return STRUCTURED

    @property
    def status(self) -> str:
        return "calibrated" if self.uniques else "no uniques"

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
        """P(F = 1 | f = 1): axes grid point of the layer, knot."""
        return self.layer.p_unique(self._knots, self.population)

    @cached_property
    def _q(self) -> Floats:
        """P(F = 1 | f) by distinct row."""
        told = np.interp(self._x, self._knots, self.layer.weight @ self._by_point)
        return np.where(self.counts == 1, told, 0.0)

    @cached_property
    def _match(self) -> Floats:
        """E[1/F | f] by distinct row."""
        found = np.empty(len(self.counts))
        for f in range(1, FEW + 1):
            some = self.counts == f
            if some.any():
                told = self.layer.weight @ self.layer.mean_inverse(f, self._knots, self.population)
                found[some] = np.interp(self._x[some], self._knots, told)
        rest = self.counts > FEW
        if rest.any():
            found[rest] = mean_inverse_common(
                self.counts[rest].astype(np.float64), self._x[rest], self.n, self.population,
                self.common,
            )  # fmt: skip
        return np.minimum(found, 1 / self.counts)

    def _each(self) -> dict[str, Floats]:
        low, high = np.quantile(self._rates(), [0.025, 0.975], axis=0)
        alone = self.counts == 1
        ends = [np.where(alone, np.interp(self._x, self._knots, end), 0.0) for end in (low, high)]
        ends = [np.minimum(ends[0], self._q), np.maximum(ends[1], self._q)]
        return {
            "p_unique": self._q[self.ids],
            "mean_inverse": self._match[self.ids],
            "p_unique_low": ends[0][self.ids],
            "p_unique_high": ends[1][self.ids],
        }

    # Totals

    @property
    def p_unique(self) -> float:
        """Mean over the table's unique rows of P(F = 1 | f = 1)."""
        return float(self._q[self.counts == 1].mean()) if self.uniques else 0.0

    @property
    def expected_uniques(self) -> float:
        """The table's unique rows that stay unique, counted N/n times."""
        return self.expected_uniques_in_table / self.sampling_fraction

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
        drawn = self._rates() @ self._held
        if quantity == "expected_uniques":
            drawn = drawn / self.sampling_fraction
        elif quantity == "p_unique":
            drawn = drawn / max(self.uniques, 1)
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def prediction_interval(
        self, *, level: float = 0.95, spread: tuple[float, float] = SPREAD
    ) -> tuple[int, int]:
        """An interval for the number of population uniques there will turn out to be.

        `spread` are s0 and c of what structures add to it.
        """
        check_level(level)
        realised = self._realised(self._rates(spread))
        low, high = np.quantile(realised, [(1 - level) / 2, (1 + level) / 2])
        return int(np.floor(low)), int(np.ceil(high))

    @cached_property
    def _held(self) -> Floats:
        """Unique rows of the table near each knot."""
        step = self._knots[1] - self._knots[0]
        at = np.rint((self._x[self.counts == 1] - self._knots[0]) / step).astype(np.int64)
        return np.asarray(np.bincount(at, minlength=_KNOTS), dtype=np.float64)

    def _rates(self, spread: tuple[float, float] = SPREAD, *, draws: int = _DRAWS) -> Floats:
        """Drawn P(F = 1 | f = 1) by knot; structures err alike in strata of one table."""
        alike, own = np.random.default_rng(self.seed), np.random.default_rng([self.seed, 1])
        factor = np.exp(self._structure(spread) * alike.standard_normal(draws))
        point = own.choice(len(self.layer.weight), size=draws, p=self.layer.weight)
        stay = None
        if self.key is not None:
            node = own.choice(len(self.key.weight), size=draws // 3, p=self.key.weight)
            theta, alpha = self.key.theta[node], self.key.alpha[node]
            stay = stays_unique(self.n, self.population, theta=theta, alpha=alpha)
        run_out = self.layer.all_alike(self._knots, self.population)[point[: draws // 3]]
        return drawn_chances(self._by_point[point], run_out, stay, factor)

    def _realised(self, rates: Floats) -> Floats:
        """Draws of the population's uniques."""
        rng = np.random.default_rng([self.seed, 2])
        pi, held = self.sampling_fraction, self._held
        rows = rng.gamma(np.broadcast_to(held, rates.shape))
        beside = (rows * rates).sum(axis=1) + rng.gamma(UNSEEN, size=len(rates))
        outside = rng.poisson(beside * (1 - pi) / pi)
        inside = rng.binomial(held.astype(np.int64), rates).sum(axis=1)
        return np.asarray(np.minimum(inside + outside, self.population), dtype=np.float64)

    def _drawn(self, rng: np.random.Generator, draws: int, *, realised: bool) -> Floats:
        rates = self._rates(draws=draws)
        if realised:
            return self._realised(rates)
        return np.asarray(rates @ self._held / self.sampling_fraction)

    @cached_property
    def _answers(self) -> Floats:
        """Population uniques by forest, latent classes, mixture, and the calibrated model."""
        alone = self.counts == 1
        each = [own[alone] for own in self.log_shares]
        each.append(self._x[alone] - np.log(self.n))
        outside = self.population - self.n
        told = [np.exp(outside * np.log1p(-np.exp(np.minimum(h, -1e-9)))).sum() for h in each]
        return np.array([*told, self._q.sum()]) / self.sampling_fraction

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
        by_point = self._by_point @ self._held / pi
        mean = float(self.layer.weight @ by_point)
        layer = np.sqrt(float(self.layer.weight @ (by_point - mean) ** 2)) / middle
        chance = np.sqrt(float((q**2).sum() * (1 - pi) / pi**2 + (q * (1 - q)).sum() / pi))
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
        return "\n".join([*lines, *self.warnings])

    def _remarks(self) -> list[str]:
        found = []
        if self.dropped:
            found.append(
                f"{', '.join(self.dropped)}: in this table a function of the other columns, so it "
                "parts nobody and was left out"
            )
        if not self.uniques:
            found.append("nobody is unique in the table; that is no proof for the population")
        if self.sample.mostly_alone is not None:
            found.append(of_one_offs(self.sample.mostly_alone))
        low, high = self.prediction_interval()
        if high > WIDE * max(low, 1):
            found.append(
                f"the 95 % interval runs from {low:,} to {high:,} uniques: the table is too small "
                "for a point estimate to mean much"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        return {
            **super().to_dict(),
            "prediction_interval": list(self.prediction_interval()),
            "parts": asdict(self.parts),
        }


@dataclass(frozen=True, eq=False, repr=False)
class StructuredInstead(Chosen):
    """Another model in place of the structured one, and why."""

    why: str

    @property
    def model(self) -> str:
        return STRUCTURED

    def mean_inverse(self, class_sizes: int | Sequence[int] | NDArray[Any]) -> Any:
        """E[1/F | f] for one class size f in the table, or many: `class_sizes`."""
        return self._pitman.mean_inverse(class_sizes)

    @property
    def expected_match(self) -> float:
        """Mean over the table's people of E[1/F | f]: the journalist's chance of a right match."""
        return self._pitman.expected_match

    @property
    def _pitman(self) -> PitmanFit:
        assert isinstance(self.chosen, PitmanFit)  # noqa: S101 - the only one there is
        return self.chosen

    def explain(self, person: Any = None, measure: str = "overall") -> str:
        """Which model speaks, and why; of a person or a measure it says nothing."""
        if person is not None:
            super().explain(person, measure)
        return "\n".join([f"{self.chosen.model} speaks: {self.why}.", *self.warnings])

    def _remarks(self) -> list[str]:
        return [f"{self.why}: {self.chosen.model} speaks", *self.chosen._remarks()]


@dataclass(frozen=True, eq=False, repr=False)
class OneAttribute(StructuredInstead):
    """Where one attribute alone parts people, the upper end is all that class sizes can tell.

    Pitman's values never run out, those of an age or a state do: on real tables its interval was
    too high wherever it missed, by any factor.  The values that the table has not seen may not be
    there at all, and below a half sampled neither may one of those it has seen once.
    """

    def prediction_interval(self, *, level: float = 0.95) -> tuple[int, int]:
        """Up to Pitman's upper end; from nobody, or from those of the table's uniques who stay."""
        from scipy.stats import poisson

        low, high = self.chosen.prediction_interval(level=level)
        stay = least_that_stay(self.sample.table, self.population)
        stay *= self.uniques / self.sampling_fraction
        return min(low, int(poisson.ppf((1 - level) / 2, stay))), high

    def _remarks(self) -> list[str]:
        return [
            *super()._remarks(),
            "values of one attribute may have run out, which class sizes do not show: the estimate "
            "is on the high side, and the lower end of its prediction interval allows for it",
        ]


def fit_structured(sample: Sample) -> Uniqueness:
    """Fit forest, latent classes and layer; Pitman's posterior where there is no structure."""
    people = sample.people
    if people is None:
        raise UsageError("structured needs the table of people; sizes and counts alone will not do")
    if sample.is_complete:
        return _instead(sample, "the table is the whole population")
    if sample.n < SMALLEST and sample.parting > 1:
        return _instead(sample, f"{sample.n} people are too few to tell structures apart")
    ids, codes, counts = distinct_rows(people, sample.columns)
    parting = [j for j in range(codes.shape[1]) if codes[:, j].any()]
    found = determined(codes[:, parting], counts.astype(np.float64))
    dropped = tuple(sample.columns[parting[j]] for j in found)
    kept = [j for i, j in enumerate(parting) if i not in found]
    if len(kept) < 2:
        why = "one attribute alone parts people, so there is no structure"
        return OneAttribute(sample, fit_pitman(sample, model="pitman-bayes"), why)
    ordered = tuple(is_ordered(people, sample.columns[j]) for j in kept)
    rows = _with_key(codes[:, kept], counts, ordered, sample.N)
    forest, classes = by_forest(rows), by_classes(rows, np.random.default_rng(0))
    x, few = together(forest, classes) + np.log(rows.n), counts <= FEW
    apart = how_far_apart(forest[few], classes[few], counts[few])
    return StructuredFit(
        sample, ids, counts, (forest, classes),
        fit_layer(x, counts, rows.n, apart, rows.unsure(range(len(rows.values)))),
        common_layer(x, counts, rows.n), dropped,
        posterior_of(sample.table, sample.N) if rows.own else None,
    )  # fmt: skip


def _with_key(codes: Ints, counts: Ints, ordered: tuple[bool, ...], N: int) -> Distinct:
    """Rows in which the columns on which most people have a value of their own are one, the last.

    How such columns go together the table tells only by who is alike on all of them.
    """
    rows = Distinct(codes, counts.astype(np.float64), ordered)
    keys = own_columns(rows)
    if not keys:
        return rows
    rest = [j for j in range(codes.shape[1]) if j not in keys]
    key, people = rows.held(keys)
    return Distinct(
        np.column_stack([codes[:, rest], key]),
        rows.counts,
        (*(ordered[j] for j in rest), False),
        {(len(rest),): posterior_of(frequencies_of(people), N)},
    )


def own_columns(rows: Distinct) -> tuple[int, ...]:
    """The attributes on which most people have a value of their own."""
    return tuple(j for j, held in enumerate(rows.people) if is_one_off(frequencies_of(held)))


def frequencies_of(people: Floats) -> FrequencyTable:
    """How many values are held by how many people."""
    return FrequencyTable.of(*np.unique(people.astype(np.int64), return_counts=True))


def is_ordered(people: People, column: str) -> bool:
    """Whether a column has numbers in the order of its codes, a missing one apart."""
    known = [v for v in people.labels(column).tolist() if v is not None]
    if not all(isinstance(v, int | float) for v in known):
        return False
    return all(low < high for low, high in pairwise(known))


def _instead(sample: Sample, why: str) -> StructuredInstead:
    return StructuredInstead(sample, fit_pitman(sample, model="pitman-bayes"), why)


def distinct_rows(people: People, columns: Sequence[str]) -> tuple[Ints, Ints, Ints]:
    """Each person's distinct row; the rows' codes, all in use; and how many people each has.

    In the order of their codes, so that the order of people changes no answer.
    """
    ids, count = people.class_ids(list(columns))
    first = np.empty(count, dtype=np.int64)
    first[ids[::-1]] = np.arange(ids.size)[::-1]
    codes = people.codes(list(columns))[first]
    order = np.lexsort(codes.T[::-1])
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    compact = [np.unique(column[order], return_inverse=True)[1] for column in codes.T]
    ids = place[ids]
    return ids, np.column_stack(compact), np.bincount(ids, minlength=count)
