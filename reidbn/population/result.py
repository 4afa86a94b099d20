"""What every estimate of population uniqueness says, whatever its model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError
from reidbn.late import late
from reidbn.population.margins import contradicts
from reidbn.population.sample import Sample
from reidbn.population.weights import UNWEIGHTED
from reidbn.release.counts import BASE, told
from reidbn.result import Measure, Result, by_person, count_of, given, mean_of
from reidbn.theory.class_law import ClassSizePosterior

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.microdata.table import People

Array = NDArray[np.float64]
POPULATION = "people in the population"
TOLD = (
    "what this fit warns of hangs on single people of the table and is in the custodian's own "
    "copy; where few are unique in the table, that is no proof that nobody is in the population"
)


def nearly_all_alone(people: int, unique: int) -> bool:
    """Whether, as both are told, fewer than 20 people may be like somebody else.

    An estimate says which classes these are, then: it stays in the house.
    """
    return told(people).low - told(unique).low <= BASE


@dataclass(frozen=True, eq=False, repr=False)
class Uniqueness(Result, ABC):
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
        """N: the people of the population."""
        return self.sample.N

    @property
    def sampling_fraction(self) -> float:
        """The share of the population that is in the table."""
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
    def contradicted(self) -> tuple[str, float] | None:
        """A column that alone, by how many people share its values, leaves more than twice as many
        people unique, and how many: learning more lowers that for nobody.
        """
        column, many = self.sample.loudest
        against = contradicts(many, self.expected_uniques, self.sampling_fraction)
        return (column, many) if against else None

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

    @property
    def law(self) -> Uniqueness:
        """The estimate whose law of class sizes this one is: itself, unless it chose another."""
        return self

    def class_size_posterior(self, class_size: int) -> ClassSizePosterior:
        """The distribution of the population size of a class of this size in the table.

        `class_size` is that in the table.
        """
        raise UsageError(f'{self.model} has no such law; fit with model="pitman"')

    def interval(
        self, quantity: str = "expected_uniques", *, level: float = 0.95
    ) -> tuple[float, float]:
        """A confidence interval of an expectation or a parameter.

        `quantity` is a number of the estimate by name, `level` the chance to hold it.
        """
        raise UsageError(f'{self.model} has no interval; fit with model="pitman"')

    def prediction_interval(self, *, level: float = 0.95) -> tuple[int, int]:
        """An interval for the number of population uniques there will turn out to be.

        `level` is the chance to hold it.
        """
        raise UsageError(f'{self.model} has no prediction interval; fit with model="pitman"')

    def _drawn(self, rng: np.random.Generator, draws: int, *, realised: bool) -> Array:
        """Draws of the expected population uniques, or of how many there will turn out to be."""
        raise UsageError(f'{self.model} has no interval; fit with model="pitman"')

    def _unlike(self, rng: np.random.Generator, draws: int, share: float = 1.0) -> Array:
        """Draws of the most uniques beside `_drawn` of rows that the table has nobody like.

        `share` is the part of it that falls to this table.  A law of class sizes has them already.
        """
        return np.zeros(draws)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What to bear in mind about this estimate."""
        return (*self.sample.notes, *self._of_weights(), *self._remarks())

    def _of_weights(self) -> tuple[str, ...]:
        """What becomes of the table's survey weights: most models leave them out."""
        left_out = self.sample.is_weighted and not self.sample.is_complete
        return (UNWEIGHTED,) if left_out else ()

    def _remarks(self) -> list[str]:
        return []

    def to_dict(self) -> dict[str, Any]:
        """The estimate as plain numbers and words."""
        return {
            **super().to_dict(),
            "model": self.model,
            "status": self.status,
            "population": self.population,
            "table_uniques": self.uniques,
            "classes": self.classes,
            "p_unique": number_or_none(self, "p_unique"),
            "expected_uniques": number_or_none(self, "expected_uniques"),
            "expected_uniques_in_table": number_or_none(self, "expected_uniques_in_table"),
            "warnings": list(self.warnings),
        }

    # -- as a result -----------------------------------------------------------------------

    @property
    def question(self) -> str:
        """What is estimated, on which columns, by which model."""
        return self._asked_on(self.sample.columns)

    @property
    def asked(self) -> str:
        return self._asked_on(sorted(self.sample.columns))

    def _asked_on(self, columns: Sequence[str]) -> str:
        on = f"on {', '.join(columns)}" if columns else "by class sizes"
        return f"who is alone in the population {on}; model {self.model}"

    @property
    def table(self) -> People | None:
        """The people it was asked of; None where class sizes were given in place of them."""
        return self.sample.asked

    def _made_with(self) -> dict[str, Any]:
        return {**super()._made_with(), "population": self.population}

    def _settings(self) -> dict[str, Any]:
        return dict(self.sample.settings)

    def remarks(self) -> tuple[str, ...]:
        """The warnings."""
        return self.warnings

    def remarks_told(self) -> tuple[str, ...]:
        """One for every table: which warnings a fit has hangs on its exact classes."""
        return (TOLD,)

    @property
    def _most(self) -> float:
        """What nothing of the population is above, as it is told."""
        return float(told(self.n).high if self._is_nearly_all else self.population)

    @property
    def _is_nearly_all(self) -> bool:
        """Whether the population is told as the ten in which the number of people lies."""
        return told(self.population) == told(self.n)

    def _measures(self) -> dict[str, Measure]:
        up = self.population / self.n
        found = {
            "population": self._population_measure(),
            "people": count_of(self.n, "people in the table"),
            "classes": Measure(self.classes, unit="rows", words="distinct rows"),
            "uniques": count_of(self.uniques, "unique in the table"),
        }
        for name, words, scale in (
            ("expected_uniques", "unique in the population, expected", up),
            ("expected_uniques_in_table", "of them in the table, expected", 1.0),
        ):
            value = number_or_none(self, name)
            ends = self._ends(name)
            if value is not None:
                found[name] = Measure(
                    value, ends, "people", words=words, told="scaled", scale=scale,
                    most=self._most,
                )  # fmt: skip
        found["p_unique"] = self._share_unique()
        law = self._prediction()
        if law is not None:
            found["prediction"] = law
        match = self._matches()
        if match is not None:
            found["mean_inverse"] = match
        if nearly_all_alone(self.n, self.uniques):
            for name in found.keys() - {"population", "people", "uniques"}:
                found[name] = replace(found[name], told="withheld")
        return found

    def _population_measure(self) -> Measure:
        if self._is_nearly_all:  # as the people in the table are told
            return count_of(self.population, POPULATION)
        return given(self.population, POPULATION, unit="people")

    def _share_unique(self) -> Measure:
        value, stay = (
            number_or_none(self, "p_unique"),
            number_or_none(self, "expected_uniques_in_table"),
        )
        words = "P(unique in the population | unique in the table)"
        if value is None or stay is None:
            return Measure(None, words=words)
        both = np.array([stay, self.uniques], dtype=np.float64)
        ends = self._ends("p_unique")
        return Measure(value, ends, "probability", words=words, told="ratio", each=both)

    def _ends(self, name: str) -> tuple[float, float] | None:
        """The 95 % interval of a quantity, where the model has one."""
        try:
            return self.interval(name)
        except UsageError:
            return None

    def _prediction(self) -> Measure | None:
        try:
            low, high = self.prediction_interval()
        except UsageError:
            return None
        words = "unique in the population, as it will turn out"
        middle, up = number_or_none(self, "expected_uniques"), self.population / self.n
        ends = float(low), float(high)
        return Measure(
            middle, ends, "people", words=words, told="scaled", scale=up, most=self._most
        )

    def _matches(self) -> Measure | None:
        """E[1/F] over people; from class sizes alone where there are no persons."""
        words = "mean chance of a right match, E[1/F]"
        if self.sample.people is not None:
            each = self._each().get("mean_inverse")
            return None if each is None else mean_of(each, words, per_person=True)
        if not hasattr(self.law, "mean_inverse"):
            return None
        sizes, counts = self.sample.table.sizes, self.sample.table.counts
        each = np.repeat(np.asarray(self.law.mean_inverse(sizes)), sizes * counts)
        return mean_of(each, words, per_person=True)

    def _each(self) -> dict[str, Array]:
        """Per person of the sample: the chance to be unique in the population, and E[1/F]."""
        sizes = self.sample.class_sizes
        p = number_or_none(self, "p_unique")
        found = {"p_unique": np.where(sizes == 1, np.nan if p is None else p, 0.0)}
        if hasattr(self, "mean_inverse"):
            known, place = np.unique(sizes, return_inverse=True)
            found["mean_inverse"] = np.asarray(self.mean_inverse(known))[place]
        return found

    def _people(self) -> pd.DataFrame:
        """Class size in the table; the chance to be unique, and E[1/F], in the population.

        Whom an approximation left out has no number.
        """
        where = self.sample.rows_of_asked
        columns = {"class_size": self.sample.class_sizes.astype(np.float64), **self._each()}
        if len(where) < len(self.sample.asked or ()):
            for name, values in columns.items():
                columns[name] = np.full(len(self.sample.asked or ()), np.nan)
                columns[name][where] = values
        return by_person(columns, self.table)

    def explain(self, person: Any = None, measure: str = "overall") -> str:
        """What is estimated, how, and what to bear in mind; of a person or a measure nothing."""
        if person is not None:
            super().explain(person, measure)
        return "\n".join([*self._in_words(), *self.warnings])

    def _in_words(self) -> Iterator[str]:
        """The number, of which population, with its interval, by which model; and P(unique)."""
        by = f"{self.model} ({self.status})"
        total, found = number_or_none(self, "expected_uniques"), self._prediction()
        if total is None:
            yield f"{by} does not say how many of the {self.population:,} people are unique."
        else:
            ends = "without an interval"
            if found is not None and found.interval is not None:
                low, high = found.interval
                ends = f"95 % {low:,.0f} to {high:,.0f}"
            yield (
                f"{total:,.0f} of the {self.population:,} people of the population are expected to "
                f"be unique ({ends}), says {by}."
            )
        share = number_or_none(self, "p_unique")
        if share is not None and self.uniques:
            yield (
                f"{self.uniques:,} of the {self.n:,} people of the table are unique in it; in the "
                f"population each of them is with the chance {share:.2g} on average."
            )

    def check(self) -> Any:
        """The model on parts of the table, to predict the table itself; see `rehearse`."""
        if not hasattr(self, "rehearse"):
            raise UsageError(
                f"{self.model} has no rehearsal; compare the models: rb.population.compare(people, "
                "population=...)"
            )
        return self.rehearse()

    _sections = late("reidbn.report.population_figures:sections")

    def __repr__(self) -> str:
        found = number_or_none(self, "expected_uniques")
        total = "" if found is None else f", {found:,.1f} population uniques expected"
        share = number_or_none(self, "p_unique")
        told = "no estimate" if share is None else f"p_unique={share:.4g}{total}"
        return f"<{self.model} ({self.status}): {told}>"


@dataclass(frozen=True, eq=False, repr=False)
class Chosen(Uniqueness):
    """An estimate that another model was chosen to make."""

    chosen: Uniqueness

    @property
    def status(self) -> str:
        return f"{self.chosen.model}: {self.chosen.status}"

    @property
    def p_unique(self) -> float:
        return self.chosen.p_unique

    @property
    def expected_uniques(self) -> float:
        return self.chosen.expected_uniques

    @property
    def law(self) -> Uniqueness:
        return self.chosen

    def class_size_posterior(self, class_size: int) -> ClassSizePosterior:
        return self.chosen.class_size_posterior(class_size)

    def interval(
        self, quantity: str = "expected_uniques", *, level: float = 0.95
    ) -> tuple[float, float]:
        return self.chosen.interval(quantity, level=level)

    def prediction_interval(self, *, level: float = 0.95) -> tuple[int, int]:
        return self.chosen.prediction_interval(level=level)

    def _drawn(self, rng: np.random.Generator, draws: int, *, realised: bool) -> Array:
        return self.chosen._drawn(rng, draws, realised=realised)

    def _unlike(self, rng: np.random.Generator, draws: int, share: float = 1.0) -> Array:
        return self.chosen._unlike(rng, draws, share)

    def _each(self) -> dict[str, Array]:
        return self.chosen._each()

    def _remarks(self) -> list[str]:
        return self.chosen._remarks()


def ends_of(seen: Array, unlike: Array, fit: Uniqueness, level: float) -> tuple[int, int]:
    """A prediction interval from draws of the uniques, and of the most that no row tells of.

    Of the latter there may be none, which is the lower end.  The estimate lies in it.
    """
    low = np.quantile(seen, (1 - level) / 2)
    high = np.quantile(np.minimum(seen + unlike, fit.population), (1 + level) / 2)
    middle = fit.expected_uniques
    return int(np.floor(min(low, middle))), int(np.ceil(max(high, middle)))


def number_or_none(fit: Uniqueness, name: str) -> float | None:
    """A quantity, or None where the model does not speak of it."""
    try:
        value = getattr(fit, name)
    except UsageError:
        return None
    return None if value is None else float(value)
