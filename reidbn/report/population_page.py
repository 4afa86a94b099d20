"""The page of a population estimate: how many of a table's unique people are so outside it."""

from __future__ import annotations

from reidbn.population.pitman import PitmanFit
from reidbn.population.result import Uniqueness
from reidbn.report.page import Section, Shown, bars
from reidbn.report.telling import NOT_TOLD, Telling


def sections(result: Uniqueness, telling: Telling) -> list[Section]:
    """The told numbers as bars; the custodian's copy has the curve by sampling fraction, too."""
    found = result.measures
    share, everybody = found["p_unique"], f"{result.population:,}"
    unique = telling.measure_in_words(found["uniques"])
    verdict = [
        f"Of {telling.measure_in_words(found['people'])} people in the table {unique} are unique "
        f"in it; a unique one is unique among all {everybody} with probability "
        f"{telling.measure_in_words(share)}"
        + (f", {between} at 95 %" if (between := telling.interval_in_words(share)) else "")
        + f" ({result.model}: {result.status})."
    ]
    names = ("uniques", "expected_uniques_in_table", "expected_uniques")
    shown = [name for name in names if name in found]
    told = [telling.measure_in_words(found[name]) for name in shown]
    labels = [found[name].words for name in shown]
    values = [telling.measure(found[name]) for name in shown]
    texts = [NOT_TOLD if value is None else f"{value:,.0f}" for value in values]
    title = f"Unique in the table and among {everybody} people"
    picture = bars(labels, values, texts, "people", title)
    ends = [telling.interval_in_words(found[name]) or "-" for name in shown]
    rows = [list(row) for row in zip(labels, told, ends, strict=True)]
    return [
        Section(
            "How many people are unique in the population",
            text=verdict,
            shown=[
                Shown("People who are unique", ("what", "people", "95 % interval"), rows, picture,
                      "Unique in the table, and of these and of all people in the population.")
            ],
        ),
        *([_by_fraction(result)] if telling.custodian and isinstance(result, PitmanFit) else []),
    ]  # fmt: skip


def _by_fraction(fit: PitmanFit) -> Section:
    """What the estimate would say of other populations, exactly."""
    from reidbn.population.curve import uniqueness_curve
    from reidbn.report.population_figures import uniqueness_figure

    curve = uniqueness_curve(fit)
    told = curve.iloc[:: max(1, len(curve) // 10)][["fraction", "p_unique", "low", "high"]]
    rows = [
        [f"{100 * sampled:.3g} %", f"{unique:.4g}", f"{low:.4g} to {high:.4g}"]
        for sampled, unique, low, high in told.to_numpy(dtype=float).tolist()
    ]
    return Section(
        "By sampling fraction",
        text=["The share of the table's unique rows that are unique in other populations."],
        shown=[
            Shown("Uniqueness by sampling fraction", ("sampled", "unique", "95 % interval"), rows,
                  uniqueness_figure(fit), "Less is unique where the population is larger.")
        ],
    )  # fmt: skip
