"""One page about what the neighbours' records give away: verdict, figures, numbers, limits.

The page is one file without any outside part, holds no person's values, and is the same bytes for
the same table and question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import reidbn
from reidbn.attacks.disclosure import DisclosureAll
from reidbn.attacks.disclosure_generalise import Generalisation
from reidbn.attacks.disclosure_result import Disclosure
from reidbn.errors import UsageError
from reidbn.report import disclosure_figures as figures
from reidbn.report.words import one_in, people, per_cent

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.report.picture import Picture

SAFE, UNSAFE = "#41b6c4", figures.DISCLOSED


@dataclass(frozen=True)
class Shown:
    """A figure (or none) and the table under it."""

    caption: str
    heads: list[str]
    rows: list[list[str]]
    svg: str = ""


@dataclass(frozen=True)
class Section:
    title: str
    text: list[str] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)


@dataclass(frozen=True)
class Page:
    title: str
    colour: str
    verdict: list[str]
    sections: list[Section]
    limits: list[str]
    origin: list[str]


def disclosure_page(
    d: Disclosure,
    path: str | Path | None = None,
    *,
    every: DisclosureAll | None = None,
    generalisations: Sequence[tuple[Generalisation, Generalisation | None]] = (),
) -> str:
    """The page as text, also written to `path`.

    `every` adds the map of all variables as secrets, `generalisations` a part for each variable
    that was made coarse (the best, and the paper's search or None).
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("reidbn.report"), autoescape=True, undefined=StrictUndefined
    )
    page = _page(d, every, generalisations)
    text: str = templates.get_template("disclosure.html").render(page=page)
    if path is not None:
        place = Path(path)
        try:
            place.write_text(text, encoding="utf-8")
        except OSError as problem:
            raise UsageError(f"{place.name} cannot be written: {problem.strerror}") from None
    return text


def verdict(d: Disclosure) -> list[str]:
    """What was found, in plain sentences."""
    if d.status == "constant":
        return [f"Everybody in the table has the same {d.secret}: it is known of all of them."]
    total, safe = len(d), int(d.upward().sum())
    worst = int((d.npp_full == 0).sum())
    sentences = [
        f"{people(safe, total)} keep their {d.secret} uncertain (PPP above {d.p:g}) whatever an "
        f"attacker knows of the {len(d.known)} auxiliaries.",
        f"Somebody who knows all of them is sure about {people(worst, total)}.",
        f"On average the true {d.secret} has probability {one_in(float(d.prior.mean()))} before "
        f"anything is known, and {one_in(float((1 - d.ppp_min).mean()))} to somebody who knows "
        f"what tells most about that person.",
    ]
    if d.rows is not None and d.weights is None:
        low, high = d.interval("upward")
        sentences.append(
            f"These are {total:,} of {len(d.people):,} people drawn at random; in the whole table "
            f"the protected share lies between {per_cent(low)} and {per_cent(high)} (at 95 %)."
        )
    return sentences


def _page(
    d: Disclosure,
    every: DisclosureAll | None,
    generalisations: Sequence[tuple[Generalisation, Generalisation | None]],
) -> Page:
    sections = [_measures(d), _spread(d)]
    if len(d.known) > 1:
        sections += [_left_out(d), _subsets(d)]
    if d.chances is not None:
        sections.append(_scenario(d))
    if every is not None:
        sections.append(_every(every, d.p))
    sections += [_generalised(best, paper) for best, paper in generalisations]
    return Page(
        title=f"What the neighbours' records give away about {d.secret}",
        colour=SAFE if d.share_upward() == 1 else UNSAFE,
        verdict=verdict(d),
        sections=sections,
        limits=_limits(d),
        origin=_origin(d),
    )


def _measures(d: Disclosure) -> Section:
    full, least = d.poac()
    readings = d.readings()
    rows = [
        ["people asked about", f"{len(d):,}"],
        ["values of the secret", f"{int(d.falsehoods.max()) + 1}"],
        [f"share with {d.p:g}-upward privacy", per_cent(d.share_upward())],
        [f"share with {d.q:g}-downward privacy", per_cent(d.share_downward())],
        ["mean PPP, all known", f"{float(d.ppp_full.mean()):.4f}"],
        ["mean PPP, least over subsets", f"{float(d.ppp_min.mean()):.4f}"],
        [f"mean PoAC at q = {d.q:g}, all known", _mean(full)],
        [f"mean PoAC at q = {d.q:g}, least over subsets", _mean(least)],
        ["k (smallest class, all known)", f"{readings.k}"],
        ["l (fewest values in a class)", f"{readings.l}"],
        ["entropy l", f"{readings.entropy_l:.3g}"],
        ["alpha (largest share of one value)", f"{readings.alpha:.3g}"],
        ["t (largest distance from the table)", f"{readings.t:.3g}"],
    ]
    text = [
        "PPP is the share of a person's peers (the people alike on what is known) who have another "
        f"{d.secret}: the attacker's probability of being wrong. PoAC is the share of false values "
        "that stay plausible."
    ]
    return Section("In numbers", text, [Shown("Measures of the table", ["measure", "value"], rows)])


def _mean(values: Any) -> str:
    return "undefined" if values is None else f"{float(np.mean(values)):.4f}"


def _spread(d: Disclosure) -> Section:
    rows = {"all known": d.ppp_full, "least over subsets": d.ppp_min}
    if d.chances is not None:
        rows["expected in the scenario"] = d.expected_ppp
    figure = figures.distribution(rows, d.p, f"PPP of {d.secret}")
    return Section("How certain an attacker can be", [], [_drawn(
        f"People by PPP of {d.secret}", figure, figures.band_table(rows, d.p), "knowledge"
    )])  # fmt: skip


def _left_out(d: Disclosure) -> Section:
    shown = []
    for reading, words in (("full", "all others known"), ("weakest", "least over subsets")):
        rows = figures.left_out_rows(d, reading)  # type: ignore[arg-type]
        figure = figures.leave_one_out_map(d, reading=reading)  # type: ignore[arg-type]
        caption = f"PPP of {d.secret} with one auxiliary unknown, {words}"
        shown.append(_drawn(caption, figure, figures.band_table(rows, d.p), "left out"))
    return Section(
        "Which auxiliary matters", ["What people keep if one value stays unknown."], shown
    )


def _subsets(d: Disclosure) -> Section:
    table = figures.worst_subsets(d)
    table.insert(0, "known", [figures.subset_in_words(s, d.known) for s in table["subset"]])
    table = table.drop(columns="subset").set_index("known")
    caption = "The subset that breaks most people, for each number of auxiliaries known"
    return Section(
        "Which knowledge breaks most people",
        [f"Broken means PPP at or below {d.p:g} when exactly these values are known."],
        [_drawn(caption, figures.worst_subsets_bars(d), table, "known")],
    )


def _scenario(d: Disclosure) -> Section:
    breach = d.breach_probability
    text = [
        f"In the scenario an attacker is wrong with probability {float(d.expected_ppp.mean()):.3f} "
        f"on average, and the chance that somebody's {d.secret} is broken (PPP at or below "
        f"{d.p:g}) is {one_in(float(breach.mean()))}.",
    ]
    cuts = [0.0, 0.05, 0.09, 0.2, 0.33, 0.5]
    rows = [[f"above {cut:g}", f"{int((breach > cut).sum()):,}"] for cut in cuts]
    return Section(
        "In the scenario",
        text,
        [Shown("People by their probability of a breach", ["probability", "people"], rows)],
    )


def _every(every: DisclosureAll, p: float) -> Section:
    rows = figures.map_rows(every)
    drawn = _drawn(
        "Least PPP of each variable as the secret, all others as auxiliaries",
        figures.heat_map(every, p=p),
        figures.band_table(rows, p),
        "secret",
    )
    return Section("Every variable as the secret", [], [drawn])


def _generalised(best: Generalisation, paper: Generalisation | None) -> Section:
    import pandas as pd

    table = best.table.set_index("categories")[["protected", "share"]]
    if paper is not None:
        own = paper.table.set_index("categories")[["share", "worst"]]
        own.columns = pd.Index(["equal width, best", "equal width, worst"])
        table = table.join(own)
    return Section(
        f"If {best.column} were coarser",
        [f"The best contiguous categories of {best.column}, for each number of categories."],
        [_drawn(f"Share protected by categories of {best.column}",
                figures.generalisation_curve(best, paper), table, "categories")],
    )  # fmt: skip


def _limits(d: Disclosure) -> list[str]:
    return [
        "A row is taken to be a person; several rows of one person count as several people.",
        "The attacker is taken to know that the person is in the table.",
        "Values count as different when they are written differently, numbers too, unless a "
        "range or a tolerance was given.",
        "A class of one is counted as certainty. A smoothed posterior may be a better forecast.",
        "Nothing here says whether anybody can be singled out in the population.",
        *(f"{note}." for note in d.notes),
    ]


def _origin(d: Disclosure) -> list[str]:
    return [
        f"reidbn {reidbn.__version__}; measures of Kroes et al. 2021, counted exactly over all "
        f"{2 ** len(d.known) - 1:,} non-empty subsets of {len(d.known)} auxiliaries.",
        f"Auxiliaries: {', '.join(d.known)}. Thresholds: p = {d.p:g}, q = {d.q:g}.",
        f"Table: {len(d.people):,} rows, SHA-256 {d.people.fingerprint}.",
    ]


def _drawn(caption: str, figure: Picture, table: pd.DataFrame, first: str) -> Shown:
    heads = [first, *(str(column) for column in table.columns)]
    rows = [
        [str(name), *(_cell(value) for value in row)]
        for name, row in zip(table.index, table.itertuples(index=False), strict=True)
    ]
    return Shown(caption, heads, rows, figure.svg(caption))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int | np.integer) else str(value)
