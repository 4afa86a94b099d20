"""What a Pitman fit warns of, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reidbn.population.cautious import is_uncompared, uncompared
from reidbn.theory.pitman_fit import BOUNDARY, NO_MAXIMUM, NOT_IDENTIFIABLE

if TYPE_CHECKING:
    from reidbn.population.pitman import PitmanFit

CROWDED = ((0.01, 47, 72), (0.03, 33, 86), (0.1, 18, 97), (0.3, 9, 100))
"""By share of the value combinations in use, from: on real tables, % of prediction intervals that
held the truth and % of estimates that were too high (benchmarks/results/two_populations.md)."""
ROOM = 0.1
"""Share of the value combinations in use from which boundary fits were too high, not too low."""
EWENS = ((0.0, 97), (0.1, 89))
"""By share of the value combinations in use, from: % of Ewens's estimates that were too low."""
WIDE = 10.0
EDGE = "the likelihood is highest at alpha = 0 (Ewens's case) and would rise beyond it"


def pitman_remarks(fit: PitmanFit) -> list[str]:
    """Reasons for care but for the interval's width, most fundamental first."""
    if fit.sample.is_complete:
        return ["the table is the whole population: its uniques are counted, not estimated"]
    found = [_of_status(fit), _of_zero(fit), _of_record(fit)]
    return [remark for remark in found if remark]


def _of_status(fit: PitmanFit) -> str:
    if fit.status == NO_MAXIMUM:
        return (
            "no two people of the table are alike, so the likelihood has no finite maximum: the "
            "table gives a lower bound only; point values are means over the posterior, which "
            "leans on its prior"
        )
    if fit.status == NOT_IDENTIFIABLE:
        return (
            "everybody in the table is alike, so the parameters are not identifiable; point values "
            "are means over the posterior, which leans on its prior"
        )
    return ""


def _of_zero(fit: PitmanFit) -> str:
    if fit.uniques == 0:
        return "nobody is unique in the table; that is no proof that nobody is in the population"
    return ""


def _of_record(fit: PitmanFit) -> str:
    """What estimates like this one turned out to be on real tables: one direction, or none."""
    share = fit.sample.domain_share
    if is_uncompared(fit.sample.n, fit.sample.N):
        return _without_record(fit, share)
    if fit.model == "ewens":
        return _of_ewens(share)
    if fit.status != BOUNDARY:
        return _of_domain(share)
    edge = EDGE
    if share is not None and share >= ROOM:
        return f"{edge}; {_of_domain(share)}"
    if fit.model == "pitman":
        told = (
            "88 % of such fits on real tables were too low, the mean over parameters "
            '(model="pitman-bayes") 61 %'
        )
    else:
        told = "61 % of such estimates on real tables were too low"
    unless = " (with a tenth of all combinations of values in use: too high)"
    return f"{edge}; {told}{unless if share is None else ''}"


def _without_record(fit: PitmanFit, share: float | None) -> str:
    """What is so at any sampling fraction, where none as small was compared with the truth."""
    found = []
    if fit.status == BOUNDARY and fit.model != "ewens":
        found.append(EDGE)
    if share is not None and share >= CROWDED[0][0]:
        found.append(_running_out(share))
    return "; ".join([*found, uncompared(fit.sample.n, fit.sample.N)])


def _running_out(share: float) -> str:
    return (
        f"{share:.0%} of the possible combinations of values occur in the table: new classes run "
        f"out, which Pitman's model does not know"
    )


def _of_ewens(share: float | None) -> str:
    low = [low for start, low in EWENS if share is not None and share >= start]
    if not low or (share is not None and share >= CROWDED[-1][0]):
        return ""
    return f"{low[-1]} % of Ewens's estimates on real tables like this were too low"


def _of_domain(share: float | None) -> str:
    known = [row for row in CROWDED if share is not None and share >= row[0]]
    if not known:
        return ""
    _, held, high = known[-1]
    return (
        f"{_running_out(share or 0)}; of real tables like this {high} % had fewer uniques than "
        f"estimated, and {held} % of the prediction intervals held the truth"
    )


def of_width(low: float, high: float) -> list[str]:
    """What a 95 % prediction interval that is very wide means."""
    if high <= WIDE * max(low, 1):
        return []
    return [
        f"the 95 % prediction interval runs from {low:,} to {high:,} uniques: the table is too "
        "small for a point estimate to mean much"
    ]
