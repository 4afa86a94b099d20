"""How sure the numbers of an assessment are: priors of the parameters, fits of the population."""

from __future__ import annotations

from reidbn.attacks.assessment import OVERALL, Assessment
from reidbn.report.page import Shown
from reidbn.report.words import one_in
from reidbn.whatif.distributions import uncertainty

SAMPLES = 20_000
SURE = (
    "What the parameters leave open: every one is drawn from its prior, or evenly from its range.",
    "What the estimate of the population leaves open: the fits of all subsets move together over "
    "their posteriors. Whether the fitted model suits the table is not in that interval.",
)


def how_sure(result: Assessment) -> list[Shown]:
    """Two tables: what the parameters leave open, and what the estimate of the population does."""
    return [*_priors(result), *_population(result)]


def _priors(result: Assessment) -> list[Shown]:
    if not any(p.range[0] < p.range[1] for p in result.attack.parameters.values()):
        return []
    found = uncertainty(result, samples=SAMPLES)
    rows = [["mean", one_in(found.mean)]]
    rows += [[f"{100 * q:g} % of draws below", one_in(e.value)] for q, e in found.quantiles.items()]
    caption = "What the parameters leave open"
    return [Shown(caption, ("figure", "mean overall risk"), rows)]


def _population(result: Assessment) -> list[Shown]:
    if result.population is None or "p_unique" not in result.table.columns:
        return []
    found = result.population_uncertainty()
    rows = [[str(name).replace("_", " "), one_in(row["mean"]), f"{row.low:.3g} to {row.high:.3g}"]
            for name, row in found.table().iterrows()]  # fmt: skip
    caption = "What the estimate of the population leaves open"
    heads = ("measure", "mean", "95 % interval of the mean")
    return [Shown(caption, heads, rows or [[OVERALL, "-", "does not depend on the population"]])]
