"""How sure the numbers of an assessment are: priors of the parameters, fits of the population."""

from __future__ import annotations

from typing import Any

import numpy as np

from reidbn.attacks.routes.assessment import OVERALL, Array, Assessment
from reidbn.attacks.routes.by_weight import BY_WEIGHTS
from reidbn.attacks.routes.readings import is_estimated, rests_on_the_population
from reidbn.attacks.routes.structured import StructuredPopulation
from reidbn.report.counting import NOT_TOLD
from reidbn.report.page import Shown
from reidbn.report.telling import Telling
from reidbn.report.words import one_in
from reidbn.whatif.boxes import TooWide
from reidbn.whatif.scattered import ScatteredPoints, asked_at
from reidbn.whatif.uncertainty import Uncertainty, uncertainty
from reidbn.whatif.varied import as_set, varied_of
from reidbn.written import counted, tiny

SAMPLES = 20_000
NEAR = 256  # draws among which those beside a quantile are looked for
SURE = (
    "What the parameters leave open: every one that is not set is drawn from its prior, or evenly "
    "from its range.",
    "What the estimate of the population leaves open: the fits of all subsets move together over "
    "their posteriors. Whether the fitted model suits the table is not in that interval.",
)
BY_ESTIMATE = (
    "kept by an estimate of the population: with what it leaves open (the upper end of its 95 % "
    "interval; survey weights have none) it is not sure to be kept"
)


def how_sure(result: Assessment, telling: Telling) -> list[Shown]:
    """Two tables: what the parameters leave open, and what the estimate of the population does."""
    return [*_priors(result, telling), *_population(result, telling)]


def _priors(result: Assessment, telling: Telling) -> list[Shown]:
    free = {n: p for n, p in result.attack.parameters.items() if n not in result.inputs.set}
    if not any(p.range[0] < p.range[1] for p in free.values()):
        return []
    if result.whatif_case().decides:  # the risk jumps along every parameter
        return _not_worked_out("the attacker decides anew at every setting")
    try:
        found = uncertainty(result, draws=SAMPLES)
    except TooWide:  # its words are for who asks for ranges
        return _not_worked_out(
            "the ranges of some parameters meet where no answer is; narrow them in the model"
        )
    told = {q: one_in(e.value) for q, e in found.quantiles.items()}
    rows = [["mean", one_in(found.mean)]]
    if not telling.custodian:
        told, rows = _told_draws(result, found, telling), []
    rows += [[f"{100 * q:g} % of draws below", said] for q, said in told.items()]
    caption = "What the parameters leave open"
    if held := as_set(result.attack.parameters, result.inputs.set):
        caption += f" (as set: {', '.join(held)})"
    return [Shown(caption, ("figure", "mean overall risk"), rows)]


def _not_worked_out(why: str) -> list[Shown]:
    rows = [["mean", f"not worked out: {why}"]]
    return [Shown("What the parameters leave open", ("figure", "mean overall risk"), rows)]


def _told_draws(result: Assessment, found: Uncertainty, telling: Telling) -> dict[float, str]:
    """Between what numbers each quantile lies: those told of a draw below it, and of one above.

    How many times the mean of the report it is would tell more than both ends of either: of all
    tables of 10 to 19 people beside a class of 90 that narrowed 353 of 1,126 marks, and these none.
    """
    case = result.whatif_case()
    varied = varied_of(case, None)
    if not any(map(case.matters, varied)):
        return dict.fromkeys(found.quantiles, telling.mean_in_words(result.risk()))
    points = ScatteredPoints([case], varied, draws=NEAR)
    at = {name: values[0] for name, values in points.at.items()}
    means, told = asked_at(case.as_mean(), at, points.count), {}

    def ends(i: int) -> tuple[float, float] | None:
        risk = case.each(case.answers({n: v[i : i + 1] for n, v in at.items()})[:, 0])
        return telling.mean_ends(np.broadcast_to(risk, len(result)))

    for q, e in found.quantiles.items():
        below = np.where(means <= e.value, means, -np.inf)
        above = np.where(means >= e.value, means, np.inf)
        low, high = ends(int(below.argmax())), ends(int(above.argmin()))
        if low is None or high is None:
            told[q] = NOT_TOLD
            continue
        least = low[0] if np.isfinite(below).any() else 0.0
        most = high[1] if np.isfinite(above).any() else 1.0
        told[q] = f"{least:.4g} to {most:.4g}"
    return told


def set_outside(result: Assessment) -> list[str]:
    """Parameters that are set to what their declared ranges do not hold."""
    found = []
    for name, value in result.inputs.set.items():
        parameter = result.attack.parameters.get(name)
        low, high = parameter.range if parameter else (value, value)
        if not low <= value <= high:
            found.append(f"{name} is set to {value:g}, outside its range of {low:g} to {high:g}")
    return found


def _population(result: Assessment, telling: Telling) -> list[Shown]:
    if not is_estimated(result):
        return []
    rows = [
        [name.replace("_", " "), row["mean"], f"{row['low']} to {row['high']}", row["fits"]]
        for name, row in sure_in_words(result, telling).items()
    ]  # fmt: skip
    caption = "What the estimate of the population leaves open"
    heads = ("measure", "mean", "95 % interval of the mean", "how the fits stand")
    if _by_weights(result):
        rows = [["all that rest on it", "-", "-", fit_status(result, telling)]]
    return [Shown(caption, heads, rows or [[OVERALL, "-", "does not depend on it", "-"]])]


def _by_weights(result: Assessment) -> bool:
    return result.population is not None and result.population.model == BY_WEIGHTS


def how_sure_of(result: Assessment, telling: Telling) -> dict[str, dict[str, Any]]:
    """Per measure that stands on the population: the interval of its mean.

    Outwards the least that the low end or the mean can be, and the most that they can.
    """
    return {name: _ends(parts, telling) for name, parts in _sure(result).items()}


def intervals(result: Assessment, telling: Telling) -> dict[str, tuple[float, float]]:
    """The same as both ends, by measure; of those whose mean can be told."""
    found = {} if result.is_part else how_sure_of(result, telling)
    return {name: (row["low"], row["high"]) for name, row in found.items()
            if row["low"] is not None}  # fmt: skip


def _ends(parts: dict[str, Array], telling: Telling) -> dict[str, float | None]:
    of = ("low", "high") if telling.custodian else ("low", "high", "mean")
    told = [ends for ends in (telling.mean_ends(parts[part]) for part in of) if ends is not None]
    if telling.kept_back or len(told) < len(of):
        return {"low": None, "high": None}
    return {"low": min(low for low, _ in told), "high": max(high for _, high in told)}


def sure_in_words(result: Assessment, telling: Telling) -> dict[str, dict[str, str]]:
    """The same in words, with how the fits stand."""
    status, found = fit_status(result, telling), {}
    for name, parts in _sure(result).items():
        ends = _ends(parts, telling)
        found[name] = {
            "mean": telling.mean_in_short(parts["mean"]),
            **{end: NOT_TOLD if (value := ends[end]) is None else tiny(value, ".3g")
               for end in ("low", "high")},
            "fits": status,
        }  # fmt: skip
    return found


def _sure(result: Assessment) -> dict[str, dict[str, Array]]:
    """Each measure that stands on the population, and both ends of it, for every person."""
    if result.is_simulated:  # its measures have the intervals of their draws
        return {}
    if not is_estimated(result) or _by_weights(result) or result.inputs.given:
        return {}
    kept = result.__dict__  # asked by each section of a page and by its JSON
    found = kept.get("_sure") or kept.setdefault("_sure", result.population_uncertainty())
    return {
        str(name): dict(zip(("mean", "low", "high"), (result.risk(name), *found.of_mean(name)),
                            strict=True))
        for name in found.low
    }  # fmt: skip


def highest_of_estimate(result: Assessment, measure: str = OVERALL) -> Array | None:
    """Everybody's risk at the upper end of what is estimated of the population, 1 where that has no
    interval, or one of a single policy of several; None where it does not stand on an estimate.
    """
    if not rests_on_the_population(result, measure):
        return None
    risk = result.risk(measure)
    if _by_weights(result) or measure in result.taken:
        return np.ones_like(risk)
    parts = _sure(result)
    high = parts[measure]["high"] if measure in parts else None
    if high is None:  # what is given is in no interval that is told, but a verdict may stand on it
        high = result.population_uncertainty().of_mean(measure)[1]
    return np.maximum(high, risk)


def fit_status(result: Assessment, telling: Telling) -> str:
    """How the fits of the population stand, in words; empty without one.

    Where a likelihood has its maximum hangs on the exact classes: that stays in the house.
    """
    if result.population is None or not is_estimated(result):
        return ""
    if _by_weights(result):
        return f"{BY_WEIGHTS}, from survey weights: no fit, and no interval"
    if isinstance(result.population, StructuredPopulation):
        return f"{result.inputs.population_model}: {result.population.structures}"
    if not telling.custodian:
        return (
            f"{result.inputs.population_model}; how its fits stand is in the custodian's own copy"
        )
    status = result.population.statuses.most_common()
    last = len(status) - 1
    told = ", ".join(
        f"{name} on {count:,}" if i < last else f"{name} on {counted(count, 'subset')}"
        for i, (name, count) in enumerate(status)
    )
    return f"{result.inputs.population_model}; Pitman's likelihood: {told}"
