"""Stratified populations: one fit per stratum with a population of its own, and their sums.

People of different strata are never alike, so that uniques add up and strata are independent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError
from reidbn.population.pitman import check_level
from reidbn.population.result import POPULATION, Uniqueness, ends_of
from reidbn.release.counts import WIDTH, told
from reidbn.result import Measure, ends_of_count
from reidbn.theory.class_law import ClassSizePosterior

Floats: TypeAlias = NDArray[np.float64]
_DRAWS = 20_000


@dataclass(frozen=True, eq=False, repr=False)
class StratifiedFit(Uniqueness):
    """Uniqueness of a table whose strata have populations of their own."""

    column: str
    parts: Mapping[Any, Uniqueness]
    seed: int = 0

    @property
    def model(self) -> str:
        return next(iter(self.parts.values())).model

    @property
    def status(self) -> str:
        found = sorted({part.status for part in self.parts.values()})
        counts = [sum(p.status == s for p in self.parts.values()) for s in found]
        return "; ".join(
            f"{s} in {k} {'stratum' if k == 1 else 'strata'}"
            for s, k in zip(found, counts, strict=True)
        )

    @cached_property
    def expected_uniques(self) -> float:
        return float(sum(part.expected_uniques for part in self.parts.values()))

    @property
    def _uniques_before_table(self) -> float:
        return float(sum(part._uniques_before_table for part in self.parts.values()))

    @cached_property
    def expected_uniques_in_table(self) -> float:
        return float(sum(part.expected_uniques_in_table for part in self.parts.values()))

    @property
    def p_unique(self) -> float:
        """Over all unique rows of the table."""
        return self.expected_uniques_in_table / self.uniques if self.uniques else 0.0

    def class_size_posterior(self, class_size: int, *, stratum: Any = None) -> ClassSizePosterior:
        """That of a class of `class_size` in one `stratum`, by its name."""
        if stratum not in self.parts:
            raise UsageError(f"name one of the {len(self.parts)} strata: stratum=...")
        return self.parts[stratum].class_size_posterior(class_size)

    def mean_inverse(self, class_sizes: Any) -> Any:
        """Refused: `class_sizes` are those of one stratum."""
        raise UsageError(
            f"E[1/F | f] is another in each of the {len(self.parts)} strata: ask one of them, "
            "fit.parts[stratum].mean_inverse(f), or see fit.people"
        )

    def interval(
        self, quantity: str = "expected_uniques", *, level: float = 0.95
    ) -> tuple[float, float]:
        """From draws of each stratum's posterior (a fixed seed), summed."""
        check_level(level)
        if quantity != "expected_uniques":
            raise UsageError("over strata only expected_uniques has an interval; ask the parts")
        totals = self._drawn(np.random.default_rng(self.seed), _DRAWS, realised=False)
        low, high = np.quantile(totals, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def prediction_interval(self, *, level: float = 0.95) -> tuple[int, int]:
        """From draws of each stratum's predictive law (a fixed seed), summed."""
        check_level(level)
        rng = np.random.default_rng(self.seed)
        seen = self._drawn(rng, _DRAWS, realised=True)
        return ends_of(seen, self._unlike(rng, _DRAWS), self, level)

    def _drawn(self, rng: np.random.Generator, draws: int, *, realised: bool) -> Floats:
        parts = [part._drawn(rng, draws, realised=realised) for part in self.parts.values()]
        return np.asarray(np.sum(parts, axis=0))

    def _unlike(self, rng: np.random.Generator, draws: int, share: float = 1.0) -> Floats:
        """One table was drawn: what none of its rows tells of is spread over its strata."""
        parts = [part._unlike(rng, draws, share * part.n / self.n) for part in self.parts.values()]
        return np.asarray(np.sum(parts, axis=0))

    def _each(self) -> dict[str, Floats]:
        """Each stratum's fit speaks of its own people."""
        people = self.sample.people
        if people is None or self.sample.asked is None:
            raise UsageError("strata are parts of a table of people")
        codes = self.sample.asked.codes([self.column])[self.sample.rows_of_asked, 0]
        labels = self.sample.asked.labels(self.column).tolist()
        found: dict[str, Floats] = {}
        for code, label in enumerate(labels):
            rows = np.flatnonzero(codes == code)
            if not rows.size:
                continue
            for name, values in self.parts[label]._each().items():
                values = np.clip(values, 0.0, 1.0)  # but for a hair
                found.setdefault(name, np.full(len(people), np.nan))[rows] = values
        return found

    def _of_weights(self) -> tuple[str, ...]:
        return ()  # the parts say it

    # -- a stratum of nearly all its people is told as the ten in which these lie ------------------

    @property
    def _nearly_all(self) -> list[Uniqueness]:
        return [part for part in self.parts.values() if part._is_nearly_all]

    @property
    def _least(self) -> int:
        return self.population - sum(p.population - told(p.n).low for p in self._nearly_all)

    @property
    def _most(self) -> int:
        return self._least + WIDTH * len(self._nearly_all)

    def _population_measure(self) -> Measure:
        if not self._nearly_all:
            return super()._population_measure()
        return ends_of_count(self.population, POPULATION, (self._least, self._most))

    def _population_told(self, telling: Any, said: float) -> float | None:
        if telling.custodian or not self._nearly_all:
            return super()._population_told(telling, said)
        return self._least or None

    def _tells_population(self, telling: Any) -> bool:
        return bool(telling.custodian or not self._nearly_all)

    def _remarks(self) -> list[str]:
        said: dict[str, list[str]] = {}
        for part in self.parts.values():
            for remark in part.warnings:
                said.setdefault(re.sub(r"[\d,.]+", "", remark), []).append(remark)
        total = len(self.parts)
        return [f"in {len(same)} of {total} strata, e.g.: {same[0]}" for same in said.values()]

    def to_dict(self) -> dict[str, Any]:
        parts = {str(label): part.to_dict() for label, part in self.parts.items()}
        return {**super().to_dict(), "strata": parts}
