"""All models on the same table, side by side, and which to believe."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reidbn.calls import typed
from reidbn.errors import ReidbnError, ReidbnWarning, UsageError
from reidbn.population.cautious import LOG_LINEAR, POSTERIOR, is_uncompared, uncompared
from reidbn.population.fitting import MODELS, DankarFit, fit_sample
from reidbn.population.pitman import PitmanFit
from reidbn.population.remarks import CROWDED
from reidbn.population.result import Uniqueness, number_or_none
from reidbn.population.sample import Sample, sample_of
from reidbn.population.structured import STRUCTURED, StructuredFit

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.microdata.table import People

LARGE_FRACTION = 0.25
"""Sampling fractions from which Dankar's rule comes before the log-linear model: it was off by more
than a factor of two in 1 of 637 real cases, the log-linear model in 11
(benchmarks/results/two_populations.md)."""


@typed
def compare(
    people: People | None = None,
    columns: str | Sequence[str] | None = None,
    *,
    population: Any,
    sizes: Any = None,
    counts: Any = None,
    models: Sequence[str] | None = None,
    approximation: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """One row per model: what it says, its interval, and whether it is recommended, with why.

    Models that need what was not given (weights, the population's table, the table of people)
    are left out, unless named.  `lower` and `upper` are the prediction interval of the number of
    population uniques.  `.attrs["recommendation"]` holds the advice in words.

    `columns`, `sizes`, `counts` and `approximation` are as in `fit`; `models` are the names of
    those to compare, and `level` is that of the intervals.
    """
    import pandas as pd

    sample = sample_of(
        people, columns, sizes=sizes, counts=counts, population=population,
        approximation=approximation,
    )  # fmt: skip
    wanted = _applicable(sample) if models is None else list(models)
    rows, fits = [], {}
    for model in wanted:
        found = _try(sample, model, strict=models is not None)
        if isinstance(found, Uniqueness):
            fits[model] = found
            rows.append(_row(model, found, level))
        elif found:
            rows.append({"model": model, "status": "failed", "remarks": found})
    for note in sample.weighing[1]:  # a frame cuts long remarks off when it is printed
        if any(note in fit.warnings for fit in fits.values()):
            warnings.warn(note, ReidbnWarning, stacklevel=2)
    best, why = recommend(sample, fits)
    table = pd.DataFrame(rows, columns=_COLUMNS)
    table["recommended"] = table["model"] == best
    numbers = [c for c in _COLUMNS if c not in ("model", "status", "remarks")]
    table[numbers] = table[numbers].astype("Float64")
    table.attrs.update(
        recommendation=f"{best}: {why}",
        n=sample.n,
        population=sample.N,
        level=level,
        uniques=sample.table.uniques,
    )
    return table[["model", "recommended", *_COLUMNS[1:]]]


def recommend(sample: Sample, fits: dict[str, Uniqueness]) -> tuple[str, str]:
    """The model to believe, and why; from its record on real tables (docs/population.md)."""
    if not fits:
        raise UsageError("none of the models could be fitted to this table")
    if "truth" in fits:
        return "truth", "the population's table was given, so its uniques are counted"
    if sample.is_complete and "zayatz" in fits:
        return "zayatz", "the table is the whole population, so every estimate is the count"
    if _has_structure(sample, fits.get(STRUCTURED)):
        return STRUCTURED, _why_structured(sample)
    structured = fits.get(STRUCTURED)
    if isinstance(structured, StructuredFit) and structured.contradicted and POSTERIOR in fits:
        column, many = structured.contradicted
        return POSTERIOR, (
            f"{column} alone leaves about {many:,.0f} people unique by its own class sizes, which "
            f"learning more cannot lower, and structured says {structured.expected_uniques:,.0f} "
            "of all columns: class sizes speak"
            + (", which do not go by the survey weights" if sample.is_weighted else "")
        )
    dankar = fits.get("dankar")
    if isinstance(dankar, DankarFit) and sample.fraction >= LARGE_FRACTION and sample.table.uniques:
        return "dankar", (
            f"{sample.fraction:.0%} of the population is in the table; from {LARGE_FRACTION:.0%} "
            f"on the smaller of SNB and Zayatz (here {dankar.chosen.model}) was off by more than a "
            "factor of two in 1 of 637 cases on real tables"
        )
    if is_uncompared(sample.n, sample.N):
        return _cautious(sample, fits)
    if LOG_LINEAR in fits and sample.parting > 1:
        return LOG_LINEAR, _why_log_linear(sample)
    bayes = fits.get(POSTERIOR)
    if isinstance(bayes, PitmanFit):
        return POSTERIOR, _why_bayes(bayes)
    first = next(iter(fits))
    return first, "no other model was asked for that has a better record"


def _has_structure(sample: Sample, fit: Uniqueness | None) -> bool:
    """Whether the structured model speaks itself, where it has a record."""
    found = isinstance(fit, StructuredFit) and fit.uniques > 0 and fit.contradicted is None
    return found and not is_uncompared(sample.n, sample.N)


def _why_structured(sample: Sample) -> str:
    if sample.mostly_alone is not None:
        return (
            f"most people have a value of their own in {sample.mostly_alone}, and no real table of "
            "that kind was compared; on 700 made-up ones its 95 % interval held the truth in 91 % "
            "and was never too low; the estimate was 4 times too low at most, log-linear's, which "
            "has no interval, 5 times"
        )
    if sample.is_weighted:
        return (
            "it goes by the survey weights: on 16 samples of real tables with weights it was off "
            "by a factor of 1.8 at most, and its 95 % interval held the truth in all"
        )
    return (
        f"with {sample.fraction:.3g} of the population in the table, how attributes go together "
        "was off by more than a factor of two in 17 of 1,055 cases on real tables, log-linear in "
        "80, dankar in 166; its 95 % interval held the truth in 99 % of 1,464 cases, and in 98 % "
        "of 409 with under 50 true uniques"
    )


def _cautious(sample: Sample, fits: dict[str, Uniqueness]) -> tuple[str, str]:
    """The larger of two, which is what assessments say where nothing was compared."""
    said = {
        name: float(fits[name].p_unique)
        for name in (LOG_LINEAR, POSTERIOR)
        if name in fits and (name != LOG_LINEAR or sample.parting > 1)
    }
    if not said:
        return next(iter(fits)), f"{uncompared(sample.n, sample.N)}: no record speaks for any model"
    best = max(said, key=lambda name: said[name])
    why = f"{uncompared(sample.n, sample.N)}: below, no record says which model is nearer"
    if len(said) < 2:
        return best, f"{why}, and this one is an extrapolation"
    told = " and ".join(f"{name} {value:.3g}" for name, value in said.items())
    plain = " of a table without survey weights" if sample.is_weighted else ""
    return best, (
        f"{why}; the more cautious of two is taken, as in an assessment{plain} (P(unique): {told})"
    )


def _why_log_linear(sample: Sample) -> str:
    return (
        f"with {sample.fraction:.3g} of the population in the table, the attributes' shares "
        "multiplied were off by more than a factor of two in 52 of 724 cases on real tables, the "
        "next best model in 214; it has no interval: that of pitman-bayes tells how little class "
        "sizes alone say"
    )


def _why_bayes(fit: PitmanFit) -> str:
    base = (
        f"with {fit.sampling_fraction:.3g} of the population in the table and class sizes alone, "
        "integrating the parameters out was off by more than a factor of two in 214 of 724 cases "
        "on real tables, constrained maximum likelihood in 233"
    )
    if fit.status != "interior":
        return f"{base}; the likelihood's own maximum is {fit.status} here"
    share = fit.sample.domain_share
    if share is not None and share >= CROWDED[0][0]:
        return f"{base}; yet {share:.0%} of all combinations of values occur, so it is likely high"
    return base


_COLUMNS = ["model", "status", "expected_uniques", "lower", "upper", "expected_uniques_in_table",
            "p_unique", "p_unique_ratio", "expected_match", "remarks"]  # fmt: skip


def _row(model: str, fit: Uniqueness, level: float) -> dict[str, Any]:
    low = high = None
    if isinstance(fit, PitmanFit) or model == STRUCTURED:
        low, high = fit.prediction_interval(level=level)
    names = ("expected_uniques", "expected_uniques_in_table", "p_unique", "p_unique_ratio")
    words = fit.warnings
    if isinstance(fit, StructuredFit):
        words = (str(fit.parts), *words)
    return {
        "model": model,
        "status": fit.status,
        **{name: number_or_none(fit, name) for name in names},
        "lower": low,
        "upper": high,
        "expected_match": getattr(fit, "expected_match", None),
        "remarks": "; ".join(words),
    }


def _applicable(sample: Sample) -> list[str]:
    """Models that what was given is enough for."""
    able = ["pitman", "pitman-bayes", "ewens", "zayatz", "snb", "dankar"]
    if sample.people is not None:
        able += ["log-linear", STRUCTURED]
        if sample.is_weighted:
            able.append("benedetti-franconi")
        if sample.register is not None and not sample.notes:
            able.append("truth")
    return able


def _try(sample: Sample, model: str, *, strict: bool) -> Uniqueness | str:
    if model not in MODELS or strict:
        return fit_sample(sample, model)
    try:
        return fit_sample(sample, model)
    except ReidbnError as problem:
        return str(problem)
