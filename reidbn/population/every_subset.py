"""One model on every subset of what may be known: Pitman's (subsets.py), or the structured one.

Of the latter, the numbers of all subsets are made to agree person by person (coherence.py,
`settle`); what is told of a subset is the mean over the table's people who are unique on it.
Groups of several columns are asked on every subset of the columns: what is known decides what is
said, and not how it was grouped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import typed
from reidbn.errors import TooLarge, UsageError, did_you_mean
from reidbn.microdata.groups import Groups
from reidbn.microdata.rows import DistinctRows, distinct_rows
from reidbn.microdata.slab import sizes_of_rows
from reidbn.microdata.subsets import frequencies_by_mask, frequencies_of_rows
from reidbn.microdata.table import People
from reidbn.population.cautious import POSTERIOR
from reidbn.population.coherence import settle
from reidbn.population.partition import as_partition
from reidbn.population.sample import (
    Sample,
    in_one_order,
    of_one_offs,
    one_offs,
    population_size,
    refuse_those_left,
    stood_for,
)
from reidbn.population.structured import STRUCTURED
from reidbn.population.structured_subsets import (
    BLOCK,
    MOST_COLUMNS,
    StructuredSubsets,
    as_columns,
    fit_every_subset,
)
from reidbn.population.subsets import ESTIMATES, SubsetFits, fit_tables
from reidbn.progress import progress
from reidbn.theory.frequencies import FrequencyTable
from reidbn.theory.layer import FEW

Floats: TypeAlias = NDArray[np.float64]

NO_WEIGHTS = (
    "the survey weights were not used: fits on every subset take people as a simple random "
    "sample; an assessment goes by them, and so does fit() on one subset"
)


@typed
def fit_subsets(
    people: People,
    groups: Groups | Sequence[str | Sequence[str]] | None = None,
    *,
    population: Any,
    model: str = "pitman",
    estimate: str = "maximum likelihood",
    approximation: str | None = None,
) -> SubsetFits | StructuredSubsetFits:
    """Fit a model on every union of groups (default: each quasi-identifier on its own).

    `people` is the table, `population` the number it was drawn from, `model` is "pitman" or
    "structured", `estimate` how Pitman's is fitted; `approximation` is as in `fit`.

    >>> people = People.from_codes([[0, 0], [0, 1], [1, 1], [1, 1]], ["sex", "race"])
    >>> fits = fit_subsets(people, population=100)
    >>> len(fits), fits.status[1], float(fits.p_unique[3].round(4))
    (4, 'boundary', 0.0658)
    """
    if model not in ("pitman", STRUCTURED):
        raise UsageError(f'no model "{model}"; {did_you_mean(model, ("pitman", STRUCTURED))}')
    if model == STRUCTURED and estimate != ESTIMATES[0]:
        raise UsageError(f'estimate= is how "pitman" is fitted; "{STRUCTURED}" has none')
    refuse_those_left(people)
    wanted = people.quasi_identifiers if groups is None else groups
    parts = {
        str(key): people.names(part)
        for key, part in (wanted.items() if isinstance(wanted, Mapping) else enumerate(wanted))
    }
    columns = [name for part in parts.values() for name in part]
    parted, notes = as_partition(people, columns, approximation)
    N, register = population_size(population)
    if register is None:
        N, told = stood_for(N, people)
        notes = (*notes, *told)
    Sample(FrequencyTable.of([len(parted)], [1]), N)  # refuses what cannot be a sample
    if parted.weights is not None and len(parted) < N:
        notes = (*notes, NO_WEIGHTS)
    if model == STRUCTURED:
        return structured_fits(parted, parts, N, notes)
    tables = frequencies_by_mask(parted, parts)
    return fit_tables(tables, N, estimate=estimate, notes=notes)


@dataclass(frozen=True, eq=False, repr=False)
class StructuredSubsetFits:
    """The structured model on every subset; arrays are indexed by the mask (bit j: group j known).

    `by[mask]` is the model that speaks: Pitman's posterior where one attribute alone parts people,
    where the table is small or where it is the population.
    """

    N: int
    tables: tuple[FrequencyTable, ...]
    by: tuple[str, ...]
    p_unique: Floats
    """P(unique in the population | unique in the table): the mean over the subset's uniques."""
    expected_uniques: Floats
    disagreement: Floats
    """Largest answer of a structure over the smallest; 1 where another model speaks."""
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.tables)

    @property
    def n(self) -> int:
        return self.tables[0].n

    @cached_property
    def models(self) -> Mapping[str, int]:
        """On how many subsets which model speaks."""
        return Counter(self.by)

    def __repr__(self) -> str:
        found = ", ".join(f"{model} on {count}" for model, count in self.models.items())
        return f"<structured fits on {len(self)} subsets, n={self.n}, N={self.N}: {found}>"


def structured_fits(
    people: People, parts: Mapping[str, Sequence[str]], N: int, notes: tuple[str, ...]
) -> StructuredSubsetFits:
    """Fit to every subset of the columns; tell every union of the parts."""
    columns = in_one_order(name for part in parts.values() for name in part)
    if len(columns) > MOST_COLUMNS:
        raise TooLarge(
            f"{len(columns)} columns have 2^{len(columns)} subsets; {STRUCTURED} takes up to "
            f"{MOST_COLUMNS} columns, known together or not. Leave some out, or ask model="
            '"pitman"'
        )
    ids = [people.class_ids([name]) for name in columns]
    codes = np.column_stack([own for own, _ in ids]).astype(np.int32)
    rows = distinct_rows(codes, [count for _, count in ids], None)
    tables = tuple(frequencies_of_rows(rows))
    pitman = fit_tables(tables, N, estimate="posterior")
    found = fit_every_subset(people, rows, [(c,) for c in columns], tables, N)
    kept = as_columns([*parts.values()], columns)
    if found is None:
        p_unique, speaks = pitman.p_unique, np.zeros(len(tables), dtype=bool)
        apart = np.ones(len(tables))
    else:
        p_unique, speaks = _means(found, rows, tables, pitman.p_unique, N), found.speaks
        apart = found.disagreement
        alone = one_offs((c, tables[1 << j]) for j, c in enumerate(columns))
        notes = notes if alone is None else (*notes, of_one_offs(alone))
        told = found.on(kept)
        notes = (*notes, *told.remarks([tables[mask] for mask in kept]))
    uniques = np.array([table.uniques for table in tables], dtype=float)
    total = np.where(speaks, p_unique * uniques * (N / rows.total), pitman.expected_uniques)
    return StructuredSubsetFits(
        N=N,
        tables=tuple(tables[mask] for mask in kept),
        by=tuple(STRUCTURED if speaks[mask] else POSTERIOR for mask in kept),
        p_unique=p_unique[kept],
        expected_uniques=total[kept],
        disagreement=apart[kept],
        notes=notes,
    )


def _means(
    found: StructuredSubsets,
    rows: DistinctRows,
    tables: Sequence[FrequencyTable],
    instead: Floats,
    N: int,
) -> Floats:
    """Mean over the uniques of every subset, after subsets were made to agree."""
    total = np.zeros(len(tables))
    step = max(1, BLOCK // len(tables))
    for start in progress(range(0, rows.rows, step), "who is unique in the population"):
        some = np.arange(start, min(start + step, rows.rows))
        f = np.minimum(sizes_of_rows(rows, some).T, FEW + 1).astype(np.int8)
        unique, _ = found.told(some, f)
        unique[~found.speaks] = instead[~found.speaks, None]
        np.clip(unique, 0.0, 1.0, out=unique)
        unique *= f == 1
        after = settle(unique)
        after[0] = N == 1
        total += np.einsum("sp,p->s", after.astype(np.float64), rows.people[some])
    return np.asarray(total / np.maximum([table.uniques for table in tables], 1))
