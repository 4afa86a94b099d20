"""What every estimate of population uniqueness says, whatever its model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reidbn.errors import UsageError
from reidbn.population.sample import Sample
from reidbn.theory.class_law import ClassSizePosterior


@dataclass(frozen=True, eq=False, repr=False)
class Uniqueness(ABC):
    """Population uniqueness of one table on one set of attributes, under one model."""

    sample: Sample

    @property
    @abstractmethod
    def model(self) -> str:
        """The model's name, as given to `fit`."""

    @property
    @abstractmethod
    def status(self) -> str:
        """How the estimate stands: interior, boundary, not identifiable, no finite maximum, ..."""

    @property
    @abstractmethod
    def p_unique(self) -> float:
        """P(unique in the population | unique in the table)."""

    @property
    def expected_uniques(self) -> float:
        """Expected number of population uniques, given this table."""
        raise UsageError(f"{self.model} says nothing of people outside the table; ask p_unique")

    @property
    def n(self) -> int:
        """People in the table."""
        return self.sample.n

    @property
    def population(self) -> int:
        return self.sample.N

    @property
    def sampling_fraction(self) -> float:
        return self.sample.fraction

    @property
    def uniques(self) -> int:
        """Unique rows of the table, f_1."""
        return self.sample.table.uniques

    @property
    def classes(self) -> int:
        """Distinct rows of the table."""
        return self.sample.table.classes

    @property
    def expected_uniques_in_table(self) -> float:
        """Expected number of the table's unique rows that are unique in the population."""
        return self.uniques * self.p_unique

    @property
    def p_unique_ratio(self) -> float | None:
        """The ratio of [Xia21]: expected population uniques in the table over f_1.

        (n/N) x expected population uniques / f_1; unlike `p_unique` it is not conditional on this
        table and may exceed 1.  None when nobody is unique in the table.
        """
        if self.uniques == 0:
            return None
        return self.sampling_fraction * self._uniques_before_table / self.uniques

    @property
    def _uniques_before_table(self) -> float:
        return self.expected_uniques

    def class_size_posterior(self, class_size: int) -> ClassSizePosterior:
        """The distribution of the population size of a class of this size in the table."""
        raise UsageError(f'{self.model} has no such law; fit with model="pitman"')

    def interval(
        self, quantity: str = "expected_uniques", *, level: float = 0.95
    ) -> tuple[float, float]:
        """A confidence interval of an expectation or a parameter."""
        raise UsageError(f'{self.model} has no interval; fit with model="pitman"')

    def prediction_interval(self, *, level: float = 0.95) -> tuple[int, int]:
        """An interval for the number of population uniques there will turn out to be."""
        raise UsageError(f'{self.model} has no prediction interval; fit with model="pitman"')

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What to bear in mind about this estimate."""
        return (*self.sample.notes, *self._remarks())

    def _remarks(self) -> list[str]:
        return []

    def to_dict(self) -> dict[str, Any]:
        """The estimate as plain numbers and words."""
        return {
            "model": self.model,
            "status": self.status,
            "table": self.n,
            "population": self.population,
            "table_uniques": self.uniques,
            "classes": self.classes,
            "p_unique": number_or_none(self, "p_unique"),
            "expected_uniques": number_or_none(self, "expected_uniques"),
            "expected_uniques_in_table": number_or_none(self, "expected_uniques_in_table"),
            "warnings": list(self.warnings),
        }

    def __repr__(self) -> str:
        found = number_or_none(self, "expected_uniques")
        total = "" if found is None else f", {found:,.1f} population uniques expected"
        share = number_or_none(self, "p_unique")
        told = "no estimate" if share is None else f"p_unique={share:.4g}{total}"
        return f"<{self.model} ({self.status}): {told}>"


def number_or_none(fit: Uniqueness, name: str) -> float | None:
    """A quantity, or None where the model does not speak of it."""
    try:
        value = getattr(fit, name)
    except UsageError:
        return None
    return None if value is None else float(value)
