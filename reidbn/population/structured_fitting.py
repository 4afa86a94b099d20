"""The structured estimator fitted to a table (structured.py), or another model in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError
from reidbn.microdata.table import People
from reidbn.population.margins import posterior_of
from reidbn.population.multiplied import (
    even_shares,
    none_go_together,
    of_the_table,
)
from reidbn.population.pitman import PitmanFit, fit_pitman
from reidbn.population.remarks import of_width, pitman_remarks
from reidbn.population.result import Chosen, Uniqueness
from reidbn.population.sample import Sample, in_one_order, is_one_off
from reidbn.population.structured import (
    SMALLEST,
    STRUCTURED,
    StructuredFit,
    StructuredParts,
    least_that_stay,
    with_ends,
    within_reach,
)
from reidbn.population.weights import are_alike, weight_alike
from reidbn.theory.frequencies import FrequencyTable
from reidbn.theory.layer import FEW, common_layer, fit_layer, how_far_apart, which_beside
from reidbn.theory.marginals import rarest
from reidbn.theory.structure import (
    Distinct,
    TwoTogether,
    by_classes,
    by_forest,
    pairs,
    spanning,
    together,
)

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class StructuredInstead(Chosen):
    """Another model in place of the structured one, and why."""

    why: str

    @property
    def model(self) -> str:
        return STRUCTURED

    @property
    def parts(self) -> StructuredParts | None:
        """None: no structure says anything."""
        return None

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
        """Which model speaks, and why; what it says; of a person or a measure nothing."""
        return f"{self.chosen.model} speaks: {self.why}.\n{super().explain(person, measure)}"

    def _each(self) -> dict[str, Floats]:
        low, high = self._pitman.interval("p_unique", method="grid")
        return with_ends(super()._each(), low, high, self.sample.class_sizes)

    def _remarks(self) -> list[str]:
        width = of_width(*self.prediction_interval())
        return [f"{self.why}: {self.chosen.model} speaks", *pitman_remarks(self._pitman), *width]

    def to_dict(self) -> dict[str, Any]:
        return {
            **super().to_dict(),
            "prediction_interval": list(self.prediction_interval()),
            "parts": self.parts,
        }


@dataclass(frozen=True, eq=False, repr=False)
class OneAttribute(StructuredInstead):
    """Where one attribute alone parts people, class sizes tell little.

    Pitman's values never run out, those of an age or a state do: on real tables its interval was
    too high wherever it missed, by any factor.  The values that the table has not seen may not be
    there at all, and below a half sampled neither may one of those it has seen once.  Or each of
    these stays alone, as what people write in beside a list does, and there are N/n as many.
    """

    def prediction_interval(self, *, level: float = 0.95) -> tuple[int, int]:
        """Up to Pitman's upper end; from nobody, or from those of the table's uniques who stay."""
        from scipy.stats import gamma, poisson

        low, high = self.chosen.prediction_interval(level=level)
        stay = self._least * self.uniques / self.sampling_fraction
        all_stay = gamma.ppf((1 + level) / 2, self.uniques + 1) / self.sampling_fraction
        low = min(low, int(poisson.ppf((1 - level) / 2, stay)))
        return within_reach(self, low, max(high, int(np.ceil(all_stay))))

    @property
    def _least(self) -> float:
        return least_that_stay(self.sample.table, self.population)

    def _each(self) -> dict[str, Floats]:
        told = super()._each()
        return with_ends(
            told,
            np.minimum(told["p_unique_low"], self._least),
            told["p_unique_high"],
            self.sample.class_sizes,
        )

    def _remarks(self) -> list[str]:
        return [
            *super()._remarks(),
            "values of one attribute may have run out, or each that one person has may be theirs "
            "alone, which class sizes do not show: the prediction interval allows for both",
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
    columns = in_one_order(sample.columns)
    ids, codes, counts = sample.rows
    kept = [j for j, c in enumerate(columns) if codes[:, j].any() and c not in sample.functions]
    if len(kept) < 2:
        why = "one attribute alone parts people, so there is no structure"
        if not kept:
            why = "no attribute parts people of the table, so there is no structure"
        return OneAttribute(sample, fit_pitman(sample, model="pitman-bayes"), why)
    ordered = tuple(is_ordered(people, columns[j]) for j in kept)
    rows = _with_key(codes[:, kept], counts, ordered, sample.N)
    every = pairs(rows)
    forest = by_forest(rows, spanning(every, range(len(rows.values))))
    classes = by_classes(rows, np.random.default_rng(0))
    x, few = together(forest, classes) + np.log(rows.n), counts <= FEW
    apart = how_far_apart(forest[few], classes[few], counts[few])
    beside = which_beside(rarest(rows)).astype(np.int64)
    return StructuredFit(
        sample, ids, counts, (forest, classes),
        fit_layer(x, counts, rows.n, apart, rows.unsure(range(len(rows.values))), beside),
        common_layer(x, counts, rows.n), beside,
        posterior_of(sample.table, sample.N) if rows.own else None,
        standing := _standing(sample, ids, codes[:, kept], counts),
        None if rows.own else _independent(rows, every, sample.N, standing),
    )  # fmt: skip


def _independent(
    rows: Distinct, every: list[TwoTogether], N: int, standing: tuple[Floats, Floats] | None
) -> Floats | None:
    """Log shares of rows, were columns independent; None where some go together."""
    if not none_go_together(rows, every)[0]:
        return None
    own, alike = (None, None) if standing is None else standing
    told = even_shares(rows, N, own).sum(axis=0)
    if own is not None and alike is not None:
        told += of_the_table(rows, own, alike)
    return np.asarray(told)


def _standing(sample: Sample, ids: Ints, codes: Ints, counts: Ints) -> tuple[Floats, Floats] | None:
    """For how many people rows stand; None where nothing says that some stand for more."""
    if sample.people is None or sample.people.weights is None:
        return None
    weights, _ = sample.stands
    if are_alike(weights):
        return None
    own = np.bincount(ids, weights) / counts
    return own, weight_alike(weights, ids, codes, counts)


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
