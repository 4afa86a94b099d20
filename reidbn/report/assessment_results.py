"""The results of a report: the data, the risk by route, what moves it, tests and options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.acting import act_out
from reidbn.attacks.assessment import THRESHOLDS, Assessment
from reidbn.report import assessment_figures as figures
from reidbn.report.assessment_sure import SURE, how_sure
from reidbn.report.options import information_lost
from reidbn.report.page import Section, Shown, svg_of
from reidbn.report.summary import Summary
from reidbn.report.suppression import SMALLEST, share, shown, suppressed, suppressed_table
from reidbn.report.thresholds import Threshold
from reidbn.report.words import one_in, per_cent
from reidbn.whatif.bars import Bar

EDGES = (0.0, 0.01, 0.05, 0.09, 0.2, 0.33, 1.0)
BANDS = ("up to 0.01", "to 0.05", "to 0.09", "to 0.2", "to 0.33", "above 0.33")
SIZES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 99), (100, None))
MOST_VALUES = 12
MISSING = {
    "value": "a missing cell is a value of its own",
    "matches-anything": "a missing cell matches anything",
    "drop": "people with a missing cell were left out",
}


def data(result: Assessment) -> Section:
    """What the table holds, without a single value of a person."""
    people = result.inputs.people
    population = result.inputs.population
    used = {c for g in result.groups.columns for c in g}
    rows = [
        [name, "quasi-identifier" if name in people.quasi_identifiers else "sensitive",
         f"{people.cardinalities([name])[0]:,}", "yes" if name in used else "no"]
        for name in people.columns
    ]  # fmt: skip
    sizes = result.classes.sizes[-1][result.classes.of_person]
    counts = [int(((sizes >= low) & (sizes <= (high or 1 << 62))).sum()) for low, high in SIZES]
    names = [f"{low}" if low == high else f"{low} to {high}" if high else f"{low} or more"
             for low, high in SIZES]  # fmt: skip
    alike = [[n, shown(c)] for n, c in zip(names, suppressed(counts), strict=True)]
    text = [f"{len(people):,} people; {MISSING[people.missing]}."]
    if population:
        text.append(
            f"Drawn from a population of {population:,.0f}: a sampling fraction of "
            f"{per_cent(len(people) / population)}."
        )
    return Section(
        "Data",
        text=text,
        bullets=list(people.notes),
        shown=[
            Shown("Columns", ("column", "role", "values", "may be known"), rows),
            Shown("People by the number who are alike on everything that may be known",
                  ("people alike", "people"), alike),
        ],
    )  # fmt: skip


def results(result: Assessment, worst: Assessment, summary: Summary) -> Section:
    """Distribution by route, counts above thresholds, worst case beside scenario, subgroups."""
    routes = {m: result.risk(m) for m in result.measures if m != "journalist_match"}
    text = []
    parts = [_curves(routes), _bands(result)]
    if worst is not result:
        parts.append(_heat_map(result, worst))
        text.append(
            "The worst case, in which everything is known, is the initial risk; the scenario's is "
            "the residual one."
        )
    parts += [_attributes(summary), *_subgroups(result)]
    text.append(
        f"Counts below {SMALLEST} are suppressed, and a second one with a single one; curves are "
        f"drawn in steps of {SMALLEST} people."
    )
    return Section("Results", text=text, shown=parts)


def _curves(routes: dict[str, Any]) -> Shown:
    levels = (0.001, 0.01, *THRESHOLDS, 0.5)
    rows = [[f"{t:g}", *(share(int((v > t).sum()), len(v)) for v in routes.values())]
            for t in levels]  # fmt: skip
    figure = figures.risk_curves(routes, (0.05, 0.09, 0.2, 0.33))
    said = "; ".join(f"{m}: mean {one_in(float(v.mean()))}" for m, v in routes.items())
    return Shown(
        "How many people have how much risk, by route",
        ("people above", *(m.replace("_", " ") for m in routes)),
        rows,
        svg_of(figure, "Risk by route", f"Share of people above each risk. {said}."),
    )


def _band_of(risk: Any) -> NDArray[np.intp]:
    found = np.searchsorted(EDGES, risk, side="left") - 1
    return np.asarray(np.clip(found, 0, len(BANDS) - 1), dtype=np.intp)


def _bands(result: Assessment) -> Shown:
    counts = np.bincount(_band_of(result.risk()), minlength=len(BANDS)).tolist()
    rows = [[b, shown(c)] for b, c in zip(BANDS, suppressed(counts), strict=True)]
    return Shown("People by overall risk", ("overall risk", "people"), rows)


def _heat_map(result: Assessment, worst: Assessment) -> Shown:
    counts = np.zeros((len(BANDS), len(BANDS)), dtype=np.int64)
    np.add.at(counts, (_band_of(result.risk()), _band_of(worst.risk())), 1)
    table = suppressed_table(counts)
    rows = [[b, *(shown(c) for c in row)] for b, row in zip(BANDS, table, strict=True)]
    figure = figures.heat_map(table, BANDS, "worst-case", result.inputs.scenario.name)
    less = float((result.risk() < worst.risk()).mean())
    return Shown(
        "Worst case against scenario",
        (f"{result.inputs.scenario.name} / worst case", *BANDS),
        rows,
        svg_of(figure, "Worst case against scenario",
               f"People by overall risk in both; {per_cent(less)} have less risk in the scenario."),
    )  # fmt: skip


def _attributes(summary: Summary) -> Shown:
    table = summary.drivers.table()
    rows = [[str(r.group), f"{r.contribution:.4g}"] for r in table.itertuples()]
    method = summary.drivers.method
    figure = figures.attribute_bars(list(table["group"]), list(table["contribution"]), method)
    first = table["group"].iloc[0]
    return Shown(
        f"Most exposed attributes ({method})",
        ("attributes", "added to the mean risk"),
        rows,
        svg_of(figure, "Most exposed attributes", f"{first} adds most to the mean risk."),
    )


def _subgroups(result: Assessment) -> list[Shown]:
    """Mean risk by each column with few values; groups below the smallest cell are suppressed."""
    people, risk, out = result.inputs.people, result.risk(), []
    for name in people.quasi_identifiers:
        column = people.column(name)
        if column.relation is not None or not 2 <= column.cardinality <= MOST_VALUES:
            continue
        ids = people.codes([name])[:, 0]
        counts = np.bincount(ids, minlength=column.cardinality)
        means = np.bincount(ids, weights=risk, minlength=column.cardinality)
        rows = []
        for label, count, told, total in zip(
            people.labels(name), counts, suppressed(counts.tolist()), means, strict=True
        ):
            if count:
                mean = one_in(total / count) if told is not None else "suppressed"
                rows.append(["missing" if label is None else str(label), shown(told), mean])
        out.append(Shown(f"Risk by {name}", (name, "people", "mean overall risk"), rows))
    return out


def _crosses(bar: Bar) -> str:
    """Where the mean risk crosses the threshold; "never" only where that is proven."""
    if bar.crossings:
        return ", ".join(f"{c:.3g}" for c in bar.crossings)
    return "never" if bar.is_proven and not bar.undecided else "not seen"


def sensitivity(result: Assessment, threshold: float) -> Section:
    """Tornado of the mean risk, with the values at which the verdict flips."""
    from reidbn.report.whatif_figures import draw_tornado
    from reidbn.whatif.bars import tornado

    if not any(p.range[0] < p.range[1] for p in result.attack.parameters.values()):
        return Section("Sensitivity", text=["Every number of this attack is fixed."])
    bars = tornado(result, threshold=threshold)
    rows = [
        [b.parameter, f"{b.low:g} to {b.high:g}", f"{b.at_low:.4g} to {b.at_high:.4g}",
         _crosses(b), b.source]
        for b in bars
    ]  # fmt: skip
    flips = [
        f"The verdict on the mean flips where {b.parameter} reaches {b.crossings[0]:.3g}."
        for b in bars
        if b.crossings
    ]
    seen = "" if all(_crosses(b) == "never" for b in bars) else ", at the values looked at"
    figure = svg_of(
        draw_tornado(bars), "Tornado of the mean risk",
        f"If one assumption changes: the longest bar is {bars.bars[0].parameter}.",
    ) if len(bars) else ""  # fmt: skip
    return Section(
        "Sensitivity",
        text=["If one assumption changes over its whole range while the others stay, the mean "
              "risk moves from end to end of its bar; the ends are exact.", *SURE],
        bullets=flips or [f"No single assumption moves the mean risk across {threshold:g}{seen}."],
        shown=[Shown("If this assumption changes",
                     ("parameter", "range", "mean risk", f"crosses {threshold:g} at", "source"),
                     rows, figure), *how_sure(result)],
    )  # fmt: skip


def adversarial_test(result: Assessment) -> Section:
    """The attack acted out on the table, beside what the model predicts."""
    if not {"marketer", "prosecutor"} <= set(result.risks):
        return Section("Adversarial test", text=["This attack has no match that can be acted out."])
    acted = act_out(result)
    rows = [[c.what, one_in(c.exact), one_in(c.sampled or 0.0), c.verdict] for c in acted.cells]
    return Section(
        "Adversarial test",
        text=[
            f"{acted.attempts:,} attacks on people drawn at random were acted out on the table: "
            f"what is known was drawn from the scenario, the class was looked up by matching, and "
            f"a guess was made."
        ],
        shown=[Shown("Predicted and acted out", ("what", "predicted", "acted out", "verdict"),
                     rows)],
    )  # fmt: skip


def options_compared(options: Mapping[str, Assessment], threshold: Threshold) -> Section:
    """Each option's risk, and what it costs in information against the first one."""
    first = next(iter(options.values()))
    rows, names, risks, losses = [], [], [], []
    for name, option in options.items():
        risk = option.risk()
        count = int((risk > threshold.value).sum())
        loss = information_lost(first, option)
        lost = "-" if loss is None else per_cent(loss)
        mean, highest = one_in(float(risk.mean())), one_in(float(risk.max()))
        rows.append([name, mean, highest, share(count, len(risk)), lost])
        if loss is not None:
            names.append(name)
            risks.append(100 * float(figures.in_steps(count, len(risk))) / len(risk))
            losses.append(100 * loss)
    figure = ""
    if len(names) > 1:
        drawn = figures.options_figure(names, risks, losses)
        figure = svg_of(drawn, "Options", "People above the threshold against information lost.")
    caption = "Options" if len(options) > 1 else "No other option was given"
    heads = (
        "option",
        "mean risk",
        "highest",
        f"people above {threshold.value:g}",
        "information lost",
    )
    return Section("Options compared", shown=[Shown(caption, heads, rows, figure)])
