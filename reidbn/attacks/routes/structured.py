"""The structured model of the population, person by person on every subset of groups.

Each person's numbers on all subsets are made to agree (population/coherence.py, `settle`): whoever
is alone in the population on some columns is alone on more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.routes.by_weight import class_weights
from reidbn.attacks.routes.counts import SubsetClasses, as_fitted, subset_classes
from reidbn.attacks.routes.population import (
    CELLS,
    EXACT,
    SIDE_BY_SIDE,
    SubsetPopulation,
)
from reidbn.attacks.routes.said import Said
from reidbn.errors import TooLarge
from reidbn.inference.network import as_probability
from reidbn.microdata.rows import DistinctRows, distinct_rows
from reidbn.microdata.table import People
from reidbn.population.cautious import LOG_LINEAR, POSTERIOR
from reidbn.population.coherence import settle
from reidbn.population.margins import alone_on, match_on
from reidbn.population.sample import in_one_order, of_functions, of_one_offs, one_offs
from reidbn.population.structured import SMALLEST, STRUCTURED
from reidbn.population.structured_subsets import (
    MOST_COLUMNS,
    StructuredSubsets,
    as_columns,
    fit_every_subset,
)
from reidbn.population.subsets import fit_tables
from reidbn.population.weights import WEIGHTED, are_alike, scale_of, stood_for_each
from reidbn.theory.functions_of import smallest
from reidbn.theory.layer import FEW
from reidbn.theory.survey import individual_risk
from reidbn.written import counted

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-6
MANY = 8  # times the rows asked about are all of them: they are walked together
ONE_COLUMN = (
    "where one attribute alone parts people, the larger is said of what class sizes and what "
    "survey weights (benedetti-franconi) say"
)
LEAVES_OUT = (
    ', which leaves the survey weights out, and population_model="benedetti-franconi", which goes '
    "by them alone and says too little, and take the larger"
)
STRUCTURES = ("forest", "latent_classes", "mixture", "calibrated")

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ByColumn:
    """The same model on every subset of single columns, where groups hold several.

    What is known decides what is said, and not how it was grouped: the worst case, which is one
    group, says what is said of all columns, made to agree with what their parts say.
    """

    population: StructuredPopulation
    kept: Ints
    """Each subset of groups, as a subset of columns."""
    rows: NDArray[np.intp]
    """Each distinct row, as a distinct row of the classes by column."""

    @cached_property
    def back(self) -> NDArray[np.intp]:
        """Each distinct row of the classes by column, as one of the classes by group."""
        return np.argsort(self.rows)


@dataclass(frozen=True, eq=False, repr=False)
class StructuredPopulation(SubsetPopulation):
    """How attributes go together in place of class sizes alone; the same questions are asked."""

    structured: StructuredSubsets = None  # type: ignore[assignment]
    row_of: Ints = None  # type: ignore[assignment]
    """Each distinct row asked about, as a row of the table that the model was fitted to."""
    by_column: ByColumn | None = None
    class_weights: Array | None = None
    """The survey weights of each row's class where structures say nothing: subset x row."""

    def _each(self, rows: Any, places: NDArray[Any]) -> tuple[Array, Array, Array]:
        """P(unique) before and after subsets agree, and E[1/F] after: subset x row.

        Zero where the person is not alone; `places` are as in said.py.
        """
        speaks = self.structured.speaks
        f = self._small.take(np.minimum(places, FEW) + self._first)
        unique, told = self.structured.told(self.row_of[rows], f)
        unique[~speaks] = self.said.p_unique[~speaks, None]
        if self.class_weights is not None:
            by_weight = 1 / np.maximum(self.class_weights[:, rows], 1)
            unique[~speaks] = np.maximum(unique[~speaks], by_weight)
        as_probability(unique)
        unique *= f == 1
        stands = self.structured.stands
        if stands is not None and stands.of_large:
            match, at = told, places[~speaks] + self.said.flat.start[~speaks, None]
            match[~speaks] = self._in_silence(rows, at, self.said.flat.match.take(at))
        else:
            match = self._match_of_many(rows, places).astype(np.float32)
            np.copyto(match, told, where=(f <= FEW) & speaks[:, None])
        before = unique.astype(np.float64)
        least = np.float32(1 / self.population)
        after = settle(unique).astype(np.float64)
        match = settle(np.maximum(match, least, out=match))
        matched = np.maximum(match.astype(np.float64), after)
        after[0], matched[0] = self.population == 1, 1 / self.population  # everybody fits
        return before, after, matched

    def _match_of_many(self, rows: Any, places: NDArray[Any]) -> Array:
        """E[1/F] where structures say nothing: of large classes survey weights do, if there are."""
        match, found = self.said.match(rows, places), self.structured
        if found.stands is None:
            return match
        at, silent = places + self.said.flat.start[:, None], ~found.speaks
        size = self.said.flat.size.take(at).astype(np.float64)
        alike = found.stands.alike(self.row_of[rows])[found.place]
        large = (size > FEW) & found.speaks[:, None]
        match[large] = individual_risk(size[large], (size * alike)[large])
        match[silent] = self._in_silence(rows, at[silent], match[silent])
        return match

    def _in_silence(self, rows: Any, at: NDArray[Any], match: Array) -> Array:
        """E[1/F] where structures say nothing: the larger of what sizes and weights say."""
        if self.class_weights is None:  # at the lower end: the larger of two is none
            return match
        size = self.said.flat.size.take(at).astype(np.float64)
        by_weight = individual_risk(size, np.maximum(self.class_weights[:, rows], size))
        return np.asarray(np.maximum(match, by_weight))

    @cached_property
    def _small(self) -> NDArray[np.int8]:
        """The class size at each of the first places of every subset, those above three as four."""
        found = np.full((self.classes.subsets, FEW + 1), FEW + 1, dtype=np.int8)
        for own, sizes in zip(found, self.classes.occurring, strict=True):
            some = sizes[: FEW + 1]
            own[: some.size] = np.minimum(some, FEW + 1)
        return found

    @cached_property
    def _first(self) -> NDArray[np.int32]:
        return (np.arange(self.classes.subsets, dtype=np.int32) * (FEW + 1))[:, None]

    def _walk(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        """All rows, some at a time, with the places of their class sizes."""
        step = max(SIDE_BY_SIDE, CELLS // self.classes.subsets)
        if self.classes.distinct is not None:
            for tile in self.classes.tiles():
                yield from tile.blocks(step)
            return
        for start in range(0, self.classes.rows, step):
            block = slice(start, min(start + step, self.classes.rows))
            yield block, self.said.places(self.classes.sizes[:, block])

    def _by_groups(self) -> tuple[Array, Array, Array]:
        subsets, rows = self.classes.subsets, self.classes.rows
        out = np.empty((rows, subsets), np.float64 if subsets * rows <= EXACT else np.float32)
        for block, _, after, _ in self._summed():
            out[block] = after.T
        return (out, *self._means)

    def expected(self, weights: Array, *, match: bool) -> tuple[Array, Array]:
        """As there."""
        rows = self.classes.rows
        unique, matched = np.zeros((len(weights), rows)), np.zeros(rows if match else 0)
        for block, _, after, found in self._summed():
            if len(weights):
                unique[:, block] = np.einsum("ks,sp->kp", weights, after)
            if match:
                matched[block] = np.einsum("s,sp->p", weights[0], found)
        return unique, matched

    def _summed(self) -> Iterator[tuple[Any, Array, Array, Array]]:
        """All rows, and on the way the means over the unique people of every subset."""
        people, subsets = self.classes.persons, self.classes.subsets
        sums, moved = np.zeros((3, subsets)), np.zeros(2)
        for block, alone, before, after, match in self._told_of_all():
            for total, values in zip(sums, (alone, before, after), strict=True):
                total += np.einsum("sp,p->s", values, people[block])
            off = np.abs(after - before)
            moved += np.einsum("sp,p->", off, people[block]), 0
            moved[1] = max(moved[1], float(off.max(initial=0.0)))
            yield block, before, after, match
        self._keep_means(sums)
        self.__dict__["_moved"] = moved[0] / max(float(sums[0].sum()), 1.0), moved[1]

    def _told_of_all(self) -> Iterator[tuple[Any, Any, Array, Array, Array]]:
        """All rows, some at a time: who is alone on each subset, and what `_each` says."""
        if self.by_column is not None:
            back, kept = self.by_column.back, self.by_column.kept
            for block, *each in self.by_column.population._told_of_all():
                alone, before, after, match = (values[kept] for values in each)
                yield back[block], alone, before, after, match
            return
        single = np.array([sizes[0] == 1 for sizes in self.classes.occurring])[:, None]
        for block, places in self._walk():
            told = self._each(np.arange(self.classes.rows)[block], places)
            yield (block, (places == 0) & single, *told)

    def _keep_means(self, sums: Array) -> None:
        some = np.maximum(sums[0], 1)
        before, after = (np.where(sums[0] > 0, s / some, self.said.p_unique) for s in sums[1:])
        self.__dict__["_told_means"] = (before, after)

    @property
    def can_sum(self) -> bool:
        return self.classes.distinct is not None

    def unique_of(self, rows: NDArray[np.intp]) -> Array:
        """As `unique`."""
        return np.asarray(self._some(rows, 1))

    def match(self, rows: NDArray[np.intp]) -> Array:
        """E[1/F] of distinct rows of the table: person x subset."""
        return np.asarray(self._some(rows, 2))

    def _some(self, rows: NDArray[np.intp], which: int, kept: Ints | None = None) -> Array:
        """What `_each` says of distinct rows on all subsets, or those kept: person x subset."""
        if self.by_column is not None:
            by = self.by_column
            return by.population._some(by.rows[rows], which, by.kept)
        subsets = np.arange(self.classes.subsets) if kept is None else kept
        if self.can_sum and MANY * len(rows) >= self.classes.rows:
            if len(subsets) * MANY > self.classes.subsets:
                return self._walked(which, subsets)[rows]
            walked: dict[tuple[int, bytes], Array] = self.__dict__.setdefault("_some_walked", {})
            key = which, subsets.tobytes()
            if key not in walked:
                walked[key] = self._walked(which, subsets)
            return walked[key][rows]
        out = np.empty((len(rows), len(subsets)))
        step = max(SIDE_BY_SIDE, CELLS // self.classes.subsets)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            places = self.said.places(self.classes.sizes_of(some))
            out[start : start + step] = self._each(some, places)[which][subsets].T
        return out

    def _walked(self, which: int, subsets: Ints) -> Array:
        every = np.empty((self.classes.rows, len(subsets)))
        for block, places in self._walk():
            told = self._each(np.arange(self.classes.rows)[block], places)
            every[block] = told[which][subsets].T
        return every

    @property
    def structures(self) -> str:
        """How far the structures are apart, in words."""
        apart = self.structured.disagreement[self.structured.speaks]
        if not len(apart):
            return "structures speak of no subset"
        return (
            f"structures disagree by a factor {np.median(apart):.2g} in the middle of "
            f"{counted(len(apart), 'subset')}, at most {apart.max():.2g}"
        )

    def table(self) -> pd.DataFrame:
        """As there; and what each structure says of a unique person, and by how much they differ.

        Empty where the model does not speak.
        """
        told, found = super().table(), self.structured
        of = np.where(found.speaks, found.place, 0)
        silent = ~found.speaks
        for name, values in zip(STRUCTURES, found.answers[of].T, strict=True):
            told[name] = np.where(silent, np.nan, values)
        told["disagreement"] = np.where(silent, np.nan, found.disagreement)
        return told

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What to bear in mind about these numbers."""
        _ = self._means
        mean, most = self.__dict__["_moved"]
        found = [
            *self.about,
            f"{self.structures}: forest of pairs, latent classes, both together, calibrated "
            f"(see .population.table())",
            *self.structured.remarks(self.classes.frequencies),
        ]
        if most > ROUNDING:
            found.append(
                f"whoever is unique on some attributes is unique on more: each person's chances on "
                f"all subsets were made to agree by the smallest largest change (mean change of "
                f"the chance of a unique person {mean:.2g}, at most {most:.2g})"
            )
        return tuple(found)


@dataclass(frozen=True, eq=False, repr=False)
class TurnedOut(StructuredPopulation):
    """A population as it may turn out: whoever is likelier than `level` to be unique is.

    Levels that are spread evenly over 0 to 1 give everybody the chances that were said, and on all
    subsets at once: whoever is unique on some attributes is unique on more.
    """

    level: float = 0.5

    @classmethod
    def of(cls, said: StructuredPopulation, level: float) -> TurnedOut:
        """What was said of everybody, as it may turn out."""
        own = {each.name: getattr(said, each.name) for each in fields(StructuredPopulation)}
        by = said.by_column
        if by is not None:
            own["by_column"] = replace(by, population=cls.of(by.population, level))
        return cls(**own, level=level)

    def _each(self, rows: Any, places: NDArray[Any]) -> tuple[Array, Array, Array]:
        before, after, match = super()._each(rows, places)
        return before, (after > self.level).astype(np.float64), match


def structured_population(
    people: People, classes: SubsetClasses, population: float, individuals: Ints | None
) -> tuple[StructuredPopulation | None, str]:
    """Ask the structured model about every subset; None, and why, where there is no structure."""
    if not people.is_columnwise:
        return None, "histories that change in several columns are no rows of values"
    every = in_one_order(c for group in classes.groups for c in group)
    columns = [(c,) for c in every]
    if len(columns) > MOST_COLUMNS:
        raise TooLarge(
            f"{len(columns)} columns have 2^{len(columns)} subsets; {STRUCTURED} takes up to "
            f'{MOST_COLUMNS} columns, known together or not. Ask population_model="{LOG_LINEAR}"'
            f"{'' if people.weights is None else LEAVES_OUT}, or leave attributes out with "
            f'without=["..."], which takes it that nobody knows them'
        )
    if classes.records < SMALLEST:
        return None, f"{classes.records} people are too few to tell structures apart"
    by = None
    told: tuple[str, ...] = ()
    if tuple(columns) != classes.groups:
        single = subset_classes(people, columns, individuals, counts=classes.counts)
        of, why = structured_population(people, single, population, individuals)
        if of is None:
            return None, why
        by = ByColumn(of, as_columns(classes.groups, every), single.of_person[classes.some])
        row_of = of.row_of[by.rows]
        found = of.structured.on(by.kept)
    else:
        rows, row_of = _rows(people, classes, individuals)
        stands, told = _standing(people, population)
        fitted = fit_every_subset(
            as_fitted(people),
            rows,
            classes.groups,
            classes.frequencies,
            population,
            stands,
            as_counted=classes.distinct is not None,
        )
        if fitted is None:
            return None, "one attribute alone parts people, so there is no structure"
        found = fitted
    N = int(population)
    fits = fit_tables(classes.frequencies, N, sizes=classes.occurring)
    each = np.cumsum([sizes.size for sizes in classes.occurring])[:-1]
    match = np.split(as_probability(np.concatenate(fits.match)), each)
    p_unique = as_probability(fits.p_unique.copy())
    for mask in np.flatnonzero(~found.speaks).tolist():
        values = classes.frequencies[mask]
        p_unique[mask] = alone_on(values, N)
        match[mask] = match_on(classes.occurring[mask], values, N)
    p_unique[0] = population == 1
    made = StructuredPopulation(
        model=STRUCTURED,
        population=float(population),
        classes=classes,
        said=Said(population - classes.records, p_unique, classes.occurring, match),
        theta=fits.theta,
        alpha=fits.alpha,
        status=fits.status,
        fallback=fits.fallback,
        by=tuple(STRUCTURED if own else POSTERIOR for own in found.speaks),
        structured=found,
        row_of=row_of,
        by_column=by,
        class_weights=class_weights(
            as_fitted(people), classes, population, individuals, np.flatnonzero(~found.speaks)
        )
        if found.stands is not None
        else None,
        about=_about(people, classes, told) if by is None else by.population.about,
    )
    return made, ""


def _about(people: People, classes: SubsetClasses, told: tuple[str, ...]) -> tuple[str, ...]:
    """Of single columns: what to bear in mind of those that say little or nothing of their own."""
    alone = one_offs((c, classes.on_column(people, c)[1]) for (c,) in classes.groups)
    kept = int(smallest(classes.frequencies)[-1])
    functions = [
        c for j, (c,) in enumerate(classes.groups)
        if not kept >> j & 1 and classes.frequencies[1 << j].classes > 1
    ]  # fmt: skip
    return (
        *told,
        *(() if alone is None else (of_one_offs(alone),)),
        *((of_functions(functions),) if functions else ()),
    )


def _standing(people: People, population: float) -> tuple[Array | None, tuple[str, ...]]:
    """For how many people each of the table stands, and notes; None where all stand for as many."""
    if people.weights is None:
        return None, ()
    scaling = scale_of(people.weights, population)
    stands, told = stood_for_each(people.weights, population, scaling)
    if are_alike(stands):
        return None, told
    return stands, (*told, WEIGHTED, ONE_COLUMN)


def _rows(
    people: People, classes: SubsetClasses, individuals: Ints | None
) -> tuple[DistinctRows, Ints]:
    """The distinct rows of the table as written, and which of them each row asked about is."""
    if classes.distinct is not None:
        followed = classes.followed
        return classes.distinct, np.arange(classes.rows) if followed is None else followed
    written = as_fitted(people)
    ids = [written.class_ids(list(group)) for group in classes.groups]
    codes = np.column_stack([own for own, _ in ids]).astype(np.int32)
    rows = distinct_rows(codes, [count for _, count in ids], classes.counts)
    asked = classes.some if individuals is None else individuals[classes.some]
    return rows, np.asarray(rows.of_record[asked])
