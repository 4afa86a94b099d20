"""Which population model speaks on each subset of groups, and what it says.

As `rb.population.fit` has it.  "log-linear", the default, tells people of one subset apart:
somebody with rare values is more likely to be unique.  So does "structured" (structured.py), from
how values go together.  Where only one column parts people there is nothing to multiply, and the
posterior of Pitman's model speaks.  The other models know class sizes alone and say one number per
subset (and class size).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.routes.by_weight import BY_WEIGHTS, larger_of, weighted_population
from reidbn.attacks.routes.counts import SubsetClasses, as_fitted, subset_classes
from reidbn.attacks.routes.population import EXACT, Finer, SubsetPopulation
from reidbn.attacks.routes.said import Said
from reidbn.attacks.routes.structured import structured_population
from reidbn.errors import UsageError, did_you_mean
from reidbn.inference.network import as_probability
from reidbn.microdata.classes import some_of, totals
from reidbn.microdata.table import People
from reidbn.population.cautious import LOG_LINEAR, POSTERIOR, is_uncompared, uncompared
from reidbn.population.fitting import MODELS, fit_sample
from reidbn.population.margins import alone_on, match_on, share_alike
from reidbn.population.pitman import PitmanFit
from reidbn.population.sample import Sample, of_functions
from reidbn.population.structured import STRUCTURED
from reidbn.population.structured_subsets import as_columns
from reidbn.population.subsets import SubsetFits, fit_tables
from reidbn.population.weights import WHOLE
from reidbn.progress import progress
from reidbn.theory.functions_of import columns_kept

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

DEFAULT_MODEL = LOG_LINEAR
"""The model of assessments of tables without survey weights (docs/population.md says why)."""
BY_CLASS_SIZE = ("pitman", POSTERIOR, "ewens", "zayatz", "snb", "dankar")
BOTH = (
    f"the larger is said of what class sizes ({POSTERIOR}) and what survey weights ({BY_WEIGHTS}) "
    f"say"
)
NOT_BY_COLUMN = (
    "columns that are known together are one: what the population model says of a part of them "
    "alone was not asked, since there are too many parts (the log-linear model needs none)"
)


def subset_population(
    people: People,
    classes: SubsetClasses,
    population: float,
    *,
    model: str = DEFAULT_MODEL,
    individuals: Ints | None = None,
    match: bool = True,
) -> SubsetPopulation:
    """Ask the model about every subset together; `individuals` are those in the classes.

    Without `match` models by class size are not asked for E[1/F], most of what they cost.
    """
    check_model(model)
    n, N = classes.records, int(population)
    if model == BY_WEIGHTS:
        return weighted_population(people, classes, population, individuals)
    if model == STRUCTURED and population > n:
        return _structured(people, classes, population, individuals)
    both = model == LOG_LINEAR and is_uncompared(n, population)
    by_size = both or model in ("pitman", POSTERIOR)
    fits = fit_tables(
        classes.frequencies, N,
        estimate="posterior" if both or model == POSTERIOR else "maximum likelihood",
        sizes=classes.occurring if by_size and match and n < population else None,
    )  # fmt: skip
    kept = np.zeros((0, len(fits)), dtype=bool)
    if population > n and model == LOG_LINEAR:
        kept = _columns_kept(people, classes)
    spread = kept.sum(axis=0) > 1
    instead = POSTERIOR if model == LOG_LINEAR else model
    by = tuple(LOG_LINEAR if own else instead for own in spread)
    about = list(_notes(people, classes, fits.fallback, spread))
    if model == STRUCTURED and people.weights is not None:
        about.append(WHOLE)
    if is_uncompared(n, population):
        about.append(_extrapolated(n, population, model))
    if population == n:  # the table is the population: nothing is left to estimate
        said = Said(0.0, np.ones(len(fits)), classes.occurring,
                    tuple(1.0 / sizes for sizes in classes.occurring))  # fmt: skip
    elif model == LOG_LINEAR:
        said = _log_linear(people, classes, population, kept, individuals)
        about += _of_functions(people, classes, kept)
        if both:
            other, _ = _by_class_size(classes, fits, POSTERIOR, match=match)
            said = replace(said, p_unique=other.p_unique, p_match=other.p_match,
                           bound=np.maximum, bounded=np.ones(len(fits), dtype=bool))  # fmt: skip
    else:
        said, told = _by_class_size(classes, fits, model, match=match)
        about += told
    # Where nothing is known everybody fits: 1/N, nobody is alone, and no fit knows better.
    everybody = np.full(len(classes.occurring[0]), 1 / population)
    alone = np.append(float(population == 1), said.p_unique[1:])
    said = replace(said, p_unique=alone, p_match=(everybody, *said.p_match[1:]))
    found = SubsetPopulation(
        model=model,
        population=float(population),
        classes=classes,
        said=said,
        theta=fits.theta,
        alpha=fits.alpha,
        status=fits.status,
        fallback=fits.fallback,
        by=by,
        about=tuple(about),
    )
    by_size = both or model != LOG_LINEAR
    if population == n or not by_size or max(map(len, classes.groups), default=0) < 2:
        return found
    columns = [c for group in classes.groups for c in group]
    if classes.rows << len(columns) > EXACT:
        return replace(found, about=(*found.about, NOT_BY_COLUMN))
    asked = (people, columns, classes, population, model, individuals)
    return replace(found, finer=_finer(*asked, match=match))


def _structured(
    people: People, classes: SubsetClasses, population: float, individuals: Ints | None
) -> SubsetPopulation:
    """The structured model on every subset; Pitman's posterior where there is no structure."""
    found, why = structured_population(people, classes, population, individuals)
    if found is None:
        instead = subset_population(
            people, classes, population, model=POSTERIOR, individuals=individuals
        )
        says = f"{POSTERIOR} speaks" if people.weights is None else BOTH
        instead = replace(instead, model=STRUCTURED, about=(f"{why}: {says}", *instead.about))
        if people.weights is None:
            return instead
        return larger_of(instead, people, population, individuals)
    about = [*found.about, *_notes(people, classes, found.fallback, found.structured.speaks)]
    if is_uncompared(classes.records, population):
        about.append(_extrapolated(classes.records, population, STRUCTURED))
    return replace(found, about=tuple(about))


def _extrapolated(n: int, population: float, model: str) -> str:
    return (
        f"{uncompared(n, population)}: below, {_below(model)} is an extrapolation, and the "
        f"interval of population_uncertainty() says more than the number"
    )


def _finer(
    people: People,
    columns: Sequence[str],
    classes: SubsetClasses,
    population: float,
    model: str,
    individuals: Ints | None,
    *,
    match: bool,
) -> Finer:
    """Ask the model about every subset of the groups' columns."""
    single = [(c,) for c in columns]
    by_column = subset_classes(people, single, individuals, counts=classes.counts)
    masks = as_columns(classes.groups)
    of = subset_population(
        people, by_column, population, model=model, individuals=individuals, match=match
    )
    return Finer(replace(of, kept=masks), by_column.of_person[classes.some])


def model_for(people: People, model: str | None) -> str:
    """The population model of an assessment; without a name, what goes by the survey weights."""
    if model is None:
        return DEFAULT_MODEL if people.weights is None else STRUCTURED
    check_model(model)
    if model == BY_WEIGHTS and people.weights is None:
        raise UsageError(
            f'population_model="{model}" needs survey weights: read_table(..., weights="column")'
        )
    return model


def check_model(model: str) -> None:
    """Refuse a model that an assessment cannot ask."""
    known = (LOG_LINEAR, STRUCTURED, *BY_CLASS_SIZE, BY_WEIGHTS)
    if not isinstance(model, str):
        raise UsageError(f"population_model is a {type(model).__name__}; name a model: {known[0]}")
    if model in known:
        return
    if model in MODELS:
        raise UsageError(
            f'population_model="{model}" needs more than the number of people in the population, '
            f"which is all that an assessment knows; choose one of {', '.join(known)}, or ask "
            f'rb.population.fit(..., model="{model}")'
        )
    raise UsageError(f'no population model "{model}"; {did_you_mean(model, known)}')


def _below(model: str) -> str:
    """Who speaks where no model was compared with the truth."""
    if model == LOG_LINEAR:
        return f"the larger of what {LOG_LINEAR} and {POSTERIOR} say"
    return model


def _columns_kept(people: People, classes: SubsetClasses) -> NDArray[np.bool_]:
    """The columns of each subset that part people and are no functions of others of it."""
    names, groups, start = [c for group in classes.groups for c in group], [], 0
    for group in classes.groups:
        groups.append(range(start, start + len(group)))
        start += len(group)
    codes, counts = np.zeros((1, 0), dtype=np.int64), np.ones(1)
    if len(names) > len(groups):
        written = as_fitted(people)
        ids, count = written.class_ids(names)
        some = written.codes(names)[some_of(ids, count)]
        codes = np.column_stack([np.unique(c, return_inverse=True)[1] for c in some.T])
        counts = totals(ids, classes.counts, count)
    return columns_kept(groups, codes, counts, classes.frequencies)


def _of_functions(people: People, classes: SubsetClasses, kept: NDArray[np.bool_]) -> Iterator[str]:
    """Columns that are left out where all are known."""
    names = [c for group in classes.groups for c in group]
    parting = (as_fitted(people).frequencies([c]).classes > 1 for c in names)
    found = [c for c, own, parts in zip(names, kept[:, -1], parting, strict=True)
             if parts and not own]  # fmt: skip
    if found:
        yield of_functions(found)


def _log_linear(
    people: People,
    classes: SubsetClasses,
    population: float,
    kept: NDArray[np.bool_],
    individuals: Ints | None,
) -> Said:
    """Main effects where several columns part people, Pitman's posterior elsewhere.

    `kept` says which columns of a subset are multiplied: functions of others part nobody.

    Columns that are learnt together are one group, and what one of them says alone, though no
    subset of the scenario knows it alone, is the least that the group says.
    """
    some = classes.some if individuals is None else individuals[classes.some]
    shape = (len(classes.groups), classes.rows)
    share, floor = np.ones(shape), (np.zeros(shape), np.zeros(shape))
    N, spread = int(population), kept.sum(axis=0) > 1
    masks, left_out = np.arange(len(spread)), []
    every = ((j, c) for j, group in enumerate(classes.groups) for c in group)
    for (j, column), says in zip(every, kept, strict=True):
        sizes, values = classes.on_column(people, column)
        alike = sizes[some]
        own = share_alike(alike, values, N)
        share[j] *= own
        without = (masks >> j & 1 > 0) & ~says
        if values.classes > 1 and without.any():
            left_out.append((own, without))
        if len(classes.groups[j]) > 1 and values.classes > 1:
            told = np.where(alike == 1, alone_on(values, N), 0.0)
            np.maximum(floor[0][j], told, out=floor[0][j])
            np.maximum(floor[1][j], match_on(alike, values, N), out=floor[1][j])
    p_unique = np.zeros(len(spread))
    p_match: list[Array] = [np.empty(0)] * len(spread)
    for mask in np.flatnonzero(~spread).tolist():
        values = classes.frequencies[mask]
        p_unique[mask] = alone_on(values, N)
        p_match[mask] = match_on(classes.occurring[mask], values, N)
    outside = population - classes.records
    return Said(outside, p_unique, classes.occurring, p_match, share, spread, floor,
                left_out=tuple(left_out))  # fmt: skip


def _by_class_size(
    classes: SubsetClasses, fits: SubsetFits, model: str, *, match: bool
) -> tuple[Said, Sequence[str]]:
    """One number per subset, and (with `match`) E[1/F] per class size."""
    told: list[str] = []
    matches: list[Array] = []
    p_unique, behind = fits.p_unique, fits
    if model not in ("pitman", POSTERIOR):
        p_unique, matches, told = _one_by_one(classes, fits.N, model)
    if not match:
        unasked = [np.empty(0)] * len(classes.occurring)
        outside = float(fits.N - classes.records)
        return Said(outside, as_probability(p_unique), classes.occurring, unasked), told
    if model not in ("pitman", POSTERIOR):
        behind = fit_tables(
            classes.frequencies, fits.N, estimate="posterior", sizes=classes.occurring
        )
        lawless = sum(not len(found) for found in matches[1:])  # where nothing is known it is 1/N
        if lawless:
            told.append(
                f"{model} has no law of class sizes on {lawless:,} of {len(matches):,} subsets: "
                f"there E[1/F] is that of {POSTERIOR}, and at least the chance to be unique"
            )
    each = [found.size for found in classes.occurring]
    found = as_probability(np.concatenate(behind.match))
    p_match = np.split(found, np.cumsum(each)[:-1])
    for mask, own in enumerate(matches):
        p_match[mask] = own if len(own) else p_match[mask]
    p_unique = as_probability(p_unique)
    for mask, sizes in enumerate(classes.occurring):
        p_match[mask] = np.where(sizes == 1, np.maximum(p_match[mask], p_unique[mask]),
                                 p_match[mask])  # fmt: skip
    return Said(float(fits.N - classes.records), p_unique, classes.occurring, p_match), told


def _one_by_one(classes: SubsetClasses, N: int, model: str) -> tuple[Array, list[Array], list[str]]:
    """P(unique) and, where the model has a law of class sizes, E[1/F] of every size, by subset.

    For a model without a way of fitting many tables at once; pitman-bayes where it has no answer.
    """
    p_unique, matches, without = np.empty(len(classes.frequencies)), [], 0
    for mask, found in enumerate(progress(classes.frequencies, f"{model} on every subset")):
        sample = Sample(found, N)
        try:
            fit = fit_sample(sample, model)
            p_unique[mask] = fit.p_unique
        except UsageError:
            without += 1
            fit = fit_sample(sample, POSTERIOR)
            p_unique[mask] = fit.p_unique
        law, sizes = fit.law, classes.occurring[mask]
        match = law.mean_inverse(sizes) if isinstance(law, PitmanFit) else ()
        matches.append(np.asarray(match, dtype=float))
    told = (
        f"{model} has no answer on {without:,} of {len(p_unique):,} subsets; {POSTERIOR} stands in"
    )
    return p_unique, matches, [told] if without else []


def _notes(
    people: People,
    classes: SubsetClasses,
    fallback: NDArray[np.bool_],
    spread: NDArray[np.bool_],
) -> Iterator[str]:
    if people.emptied:
        yield (
            "cells were emptied before the release: the population fits are of the table as it was "
            "before that"
        )
    elif not classes.is_partition:
        yield (
            "some values match several others, so people do not fall into classes; the population "
            "fits compare values as they are written (approximation as-written)"
        )
    open_ended = int((fallback & ~spread)[1:].sum())  # where nothing is known nothing is fitted
    if open_ended:
        yield (
            f"on {open_ended:,} of {fallback.size:,} subsets everybody or nobody in the table is "
            f"unique and the fit has no best point: the posterior mean, which leans on its prior, "
            f"stands in"
        )
