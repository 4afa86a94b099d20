"""Fit one model to one table: the door to the room."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reidbn.errors import UsageError, did_you_mean
from reidbn.microdata.table import People
from reidbn.population.estimators import fit_dankar, fit_snb, fit_zayatz
from reidbn.population.matched import fit_loglinear, fit_survey, fit_truth
from reidbn.population.pitman import PITMAN_MODELS, fit_pitman
from reidbn.population.result import Uniqueness
from reidbn.population.sample import Sample, sample_of
from reidbn.population.strata import StratifiedFit

_OTHERS: Mapping[str, Callable[..., Uniqueness]] = {
    "zayatz": fit_zayatz,
    "snb": fit_snb,
    "dankar": fit_dankar,
    "benedetti-franconi": fit_survey,
    "log-linear": fit_loglinear,
    "truth": fit_truth,
}
MODELS = (*PITMAN_MODELS, *_OTHERS)
_OPTIONS = {"snb": ("classes",), "log-linear": ("variant", "interactions", "effects")}


def fit(
    people: People | None = None,
    columns: str | Sequence[str] | None = None,
    *,
    population: Any,
    sizes: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    model: str = "pitman",
    approximation: str | None = None,
    strata: str | None = None,
    **options: Any,
) -> Any:
    """Estimate population uniqueness from a table of people, or from frequencies of frequencies.

    `population` is the number of people the table was drawn from, or their own table (People),
    which "truth" needs; with `strata` (a column) it maps each stratum to its number of people.
    `columns` are the attributes the attacker knows, default the quasi-identifiers.
    `approximation` ("finest-common-level" or "drop") is needed where values match several others.
    Options: `classes` of "snb"; `variant`, `interactions`, `effects` of "log-linear".

    >>> fit(sizes=[1, 2, 3, 9], counts=[812, 150, 60, 9], population=100_000)
    <pitman (interior): p_unique=0.1085, 6,452.1 population uniques expected>
    """
    if strata is not None:
        return _by_stratum(people, columns, population, model, approximation, strata, options)
    sample = sample_of(
        people, columns, sizes=sizes, counts=counts, population=population,
        approximation=approximation,
    )  # fmt: skip
    return fit_sample(sample, model, **options)


def fit_sample(sample: Sample, model: str, **options: Any) -> Uniqueness:
    """Fit a model by name."""
    if model not in MODELS:
        raise UsageError(f'no model "{model}"; {did_you_mean(model, MODELS)}')
    known = _OPTIONS.get(model, ())
    for name in options:
        if name not in known:
            raise UsageError(f'model "{model}" has no option "{name}"; {did_you_mean(name, known)}')
    if model in PITMAN_MODELS:
        return fit_pitman(sample, model=model)
    return _OTHERS[model](sample, **options)


def _by_stratum(
    people: People | None,
    columns: str | Sequence[str] | None,
    population: Any,
    model: str,
    approximation: str | None,
    strata: str,
    options: Mapping[str, Any],
) -> StratifiedFit:
    if people is None or not isinstance(population, Mapping):
        raise UsageError("strata= needs a table of people and population={stratum: people, ...}")
    if people.share_kept < 1:
        raise UsageError(
            "people of this table were suppressed, and not equally many in every stratum; fit by "
            "strata before suppressing"
        )
    names = [name for name in people.names(columns) if name != strata]
    codes = people.codes([strata])[:, 0]
    labels = people.labels(strata).tolist()
    present = [code for code in range(len(labels)) if (codes == code).any()]
    missing = [code for code in present if labels[code] not in population]
    if missing:
        raise UsageError(
            f"population has no number for {len(missing)} of the {len(present)} strata in the "
            f"table; give one for every value of {strata}"
        )
    parts = {}
    for code in present:
        own = sample_of(
            people.take(np.flatnonzero(codes == code)), names, sizes=None, counts=None,
            population=population[labels[code]], approximation=approximation,
        )  # fmt: skip
        parts[labels[code]] = fit_sample(own, model, **options)
    whole = sample_of(
        people, [*names, strata], sizes=None, counts=None,
        population=int(sum(part.population for part in parts.values())),
        approximation=approximation,
    )  # fmt: skip
    return StratifiedFit(replace(whole, notes=()), strata, parts)
