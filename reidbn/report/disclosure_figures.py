"""Figures of attribute disclosure, after Figures 1-4 of [Kroes21], and the numbers under them.

Dark red means disclosed: PPP at or below the threshold, and nothing else.  Few people are drawn one
by one, in one order for all rows (most disclosed first, ties in record order); of many, each row is
a strip of its own quantiles.  The same result gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reidbn.above import band_of as bands
from reidbn.above import is_above
from reidbn.attacks.secrets.ask import DisclosureAll
from reidbn.attacks.secrets.counts import Reading
from reidbn.attacks.secrets.generalise import Generalisation
from reidbn.attacks.secrets.joint import asked_about, side_by_side
from reidbn.attacks.secrets.result import Disclosure
from reidbn.errors import UsageError
from reidbn.report.counting import Counting
from reidbn.report.style import BLUE, INK, LINE, ORANGE, WIDE, blank, names_on_lines, save, titled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

DISCLOSED = "#7f0000"
BANDS = ("#ffffcc", "#c7e9b4", "#7fcdbb", "#41b6c4", "#225ea8")  # told apart by all readers
EXACT = Counting(custodian=True)
LEFT_OUT = "#d9d9d9"
"""Of whom the secret is missing, so that nothing was asked about it."""
ONE_BY_ONE = 400
"""Most people who get a column of their own."""


def edges(p: float) -> Floats:
    """Upper ends of the bands: disclosed up to p, then fifths of what is left.

    >>> edges(0.0).round(2).tolist()
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    return np.append(p, p + (1 - p) * np.arange(1, 6) / 5)


def band_of(ppp: Floats, p: float) -> NDArray[np.int64]:
    """0 where disclosed (PPP <= p), 1..5 above.

    >>> band_of(np.array([0.0, 0.01, 0.2, 0.21, 1.0]), p=0.0).tolist()
    [0, 1, 1, 2, 5]
    """
    return bands(ppp, edges(p))


def band_names(p: float) -> list[str]:
    ends = edges(p)
    return [f"{p:g} or less", *(f"to {high:.2g}" for high in ends[1:])]


def band_table(rows: Mapping[str, Floats], p: float) -> pd.DataFrame:
    """The share of people in each band, row by row: the numbers under a heat map."""
    import pandas as pd

    shares = [np.bincount(band_of(ppp, p), minlength=6) / ppp.size for ppp in rows.values()]
    table = pd.DataFrame(shares, columns=band_names(p), index=pd.Index(list(rows)))
    table["mean PPP"] = [float(ppp.mean()) for ppp in rows.values()]
    return table


def people_order(rows: Sequence[Floats], p: float) -> NDArray[np.int64]:
    """One order for all rows: most often disclosed first, then by mean PPP, then as recorded."""
    table = np.stack(rows)
    disclosed = (~is_above(table, p) & ~np.isnan(table)).sum(axis=0)
    return np.lexsort((np.arange(table.shape[1]), np.nanmean(table, axis=0), -disclosed))


def draw_map(
    rows: Mapping[str, Floats], p: float, title: str, path: str | Path | None = None
) -> Figure:
    """A heat map: one row per name, people (or quantiles) from left to right.

    All rows are of the same people in the same order; NaN where a row is not about somebody.
    """
    from matplotlib.colors import ListedColormap

    if not rows:
        raise UsageError("there is no row to draw")
    people = len(next(iter(rows.values())))
    many = people > ONE_BY_ONE
    about = [ppp[~np.isnan(ppp)] for ppp in rows.values()]
    if many:
        step = 2 * np.arange(ONE_BY_ONE) + 1
        at = (step * ppp.size // (2 * ONE_BY_ONE) for ppp in about)
        image = np.stack([band_of(np.sort(x)[i], p) for x, i in zip(about, at, strict=True)])
    else:
        order = people_order(list(rows.values()), p)
        image = np.stack([band_of(ppp[order], p) for ppp in rows.values()])  # NaN above all bands
    figure, (axes,) = blank(WIDE, 1.9 + 0.32 * len(rows))
    colours = ListedColormap([DISCLOSED, *BANDS, LEFT_OUT])
    axes.imshow(image, aspect="auto", interpolation="nearest", cmap=colours, vmin=0, vmax=6,
                extent=(0, people, len(rows) - 0.5, -0.5))  # fmt: skip
    axes.set_yticks(range(len(rows)), list(rows))
    for place, ppp in enumerate(about):
        share = f"{100 * float((~is_above(ppp, p)).mean()):.1f} %"
        axes.annotate(share, (1.01, place), xycoords=("axes fraction", "data"), va="center",
                      color=INK, fontsize=8)  # fmt: skip
    axes.hlines(np.arange(len(rows) - 1) + 0.5, 0, people, color="white", linewidth=1.5)
    axes.set_xlabel(
        "people, each row from its least protected person on"
        if many
        else "people, in one order for all rows"
    )
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    titled(axes, title)
    _legend(figure, p, left_out=bool((image > len(BANDS)).any()))
    return save(figure, path, of_people=True)


def _legend(figure: Figure, p: float, *, left_out: bool = False) -> None:
    """The ramp of the bands, named at its ends."""
    from matplotlib.patches import Patch

    ends = [f"PPP {'to ' if p else ''}{p:g}: disclosed  ", *[""] * (len(BANDS) - 1), "1: kept"]
    named = [*zip((DISCLOSED, *BANDS), ends, strict=True)]
    named += [(LEFT_OUT, "missing")] if left_out else []
    patches = [
        Patch(facecolor=colour, edgecolor=LINE, linewidth=0.4, label=name) for colour, name in named
    ]
    figure.legend(handles=patches, loc="outside lower center", ncols=7, frameon=False, fontsize=8,
                  handlelength=1.6, handletextpad=0.4, columnspacing=0.3)  # fmt: skip


# The paper's figures


def example_map(found: DisclosureAll, *, q: float = 0.0, path: str | Path | None = None) -> Figure:
    """PPP and PoAC of a small table with all else known, written into the cells (its Figure 1)."""
    from matplotlib.colors import ListedColormap

    people = len(asked_about(found)[0])
    if people > 30:
        raise UsageError(f"{people} people are too many for an example; at most 30, or heat_map")
    figure, places = blank(1.8 + 1.5 * len(found), 1.4 + 0.32 * people, columns=2)
    pairs = {name: (d.ppp_full, d.poac(q)[0]) for name, d in found.items()}
    known = ~np.isnan(side_by_side(found, {name: pair[0] for name, pair in pairs.items()}))
    for axes, which, title in zip(places, (0, 1), ("PPP", f"PoAC at q = {q:g}"), strict=True):
        columns = {
            name: np.full(pair[0].size, np.nan) if (one := pair[which]) is None else one
            for name, pair in pairs.items()
        }
        table = side_by_side(found, columns)
        shown = np.where(np.isnan(table), 1, band_of(np.nan_to_num(table), 0.0))
        axes.imshow(shown, aspect="auto", cmap=ListedColormap([DISCLOSED, *BANDS]), vmin=0, vmax=5)
        for (i, j), value in np.ndenumerate(table):
            text = f"{value:.3g}" if value == value else "undefined" if known[i, j] else "left out"
            dark = shown[i, j] in (0, 5)
            axes.text(j, i, text, ha="center", va="center", fontsize=8,
                      color="white" if dark else INK)  # fmt: skip
        axes.set_xticks(range(len(found)), list(found))
        axes.set_yticks(range(people), [str(i + 1) for i in range(people)])
        axes.hlines(np.arange(people - 1) + 0.5, -0.5, len(found) - 0.5, color="white", lw=1)
        axes.vlines(np.arange(len(found) - 1) + 0.5, -0.5, people - 0.5, color="white", lw=1)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        titled(axes, title)
    places[0].set_ylabel("person")
    return save(figure, path, of_people=True)


def map_rows(found: DisclosureAll, reading: str = "min") -> dict[str, Floats]:
    """PPP of each variable: least over all subsets (`min`), or with all else known (`full`)."""
    if reading not in ("min", "full"):
        raise UsageError(f'reading is "{reading}"; known: min, full')
    return {name: d.ppp_min if reading == "min" else d.ppp_full for name, d in found.items()}


def heat_map(
    found: DisclosureAll, *, reading: str = "min", p: float | None = None,
    path: str | Path | None = None,
) -> Figure:  # fmt: skip
    """Every variable in turn as the secret: least PPP over all subsets (the paper's Figure 2).

    Disclosed is PPP at or below p; without it, at the threshold that was asked with.
    """
    p = next(iter(found.values())).p if p is None else p
    what = "Least PPP over all subsets" if reading == "min" else "PPP with all else known"
    rows = dict(zip(found, side_by_side(found, map_rows(found, reading)).T, strict=True))
    return draw_map(rows, p, f"{what}, each variable as the secret", path)


def left_out_rows(d: Disclosure, reading: Reading = "full") -> dict[str, Floats]:
    """PPP of one secret with one auxiliary left out, and with none."""
    found = d.leave_one_out(reading)
    rows = {f"without {name}": ppp for name, ppp in zip(found.columns, found.ppp, strict=True)}
    return {"nothing left out": found.level, **rows}


def leave_one_out_map(
    d: Disclosure, *, reading: Reading = "full", p: float | None = None,
    path: str | Path | None = None,
) -> Figure:  # fmt: skip
    """PPP when one auxiliary stays unknown (the paper's Figure 3)."""
    rest = "all others known" if reading == "full" else "least over subsets of the others"
    title = f"PPP of {d.secret} with one auxiliary left out, {rest}"
    return draw_map(left_out_rows(d, reading), d.p if p is None else p, title, path)


def generalisation_curve(
    best: Generalisation, paper: Generalisation | None = None, *, path: str | Path | None = None
) -> Figure:
    """The share protected against the number of categories (the paper's Figure 4)."""
    figure, (axes,) = blank(WIDE, 3.4)
    lines = []
    if paper is not None:
        table = paper.table
        axes.fill_between(table["categories"], table["worst"], table["share"], color=ORANGE,
                          alpha=0.18, linewidth=0)  # fmt: skip
        axes.plot(table["categories"], table["share"], "o-", color=ORANGE, markersize=4,
                  linewidth=1)  # fmt: skip
        name = f"{paper.method}:\nbest, and range of start values"
        lines.append((name, table["categories"].to_numpy(), table["share"].to_numpy(), ORANGE))
    axes.plot(best.table["categories"], best.table["share"], "s-", color=BLUE, markersize=3.5,
              linewidth=1.2)  # fmt: skip
    own = best.table
    lines.append((best.method, own["categories"].to_numpy(), own["share"].to_numpy(), BLUE))
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(f"categories of {best.column}")
    axes.set_ylabel("share protected")
    names_on_lines(axes, lines)
    title = f"{best.sensitive} protected at p = {best.p:g} by making {best.column} coarse"
    titled(axes, title)
    return save(figure, path, of_people=True)


# One secret


def distribution(
    rows: Mapping[str, Floats], p: float, title: str, *, path: str | Path | None = None
) -> Figure:
    """How many people lie in each band of PPP: one stacked bar per row."""
    return draw_shares(band_table(rows, p).iloc[:, :6], p, title, path)


def draw_shares(
    shares: pd.DataFrame, p: float, title: str, path: str | Path | None = None
) -> Figure:
    """Stacked bars of the share of people in each band, one per row of the table."""
    rows, table = shares.index.tolist(), shares.to_numpy(dtype=np.float64)
    figure, (axes,) = blank(WIDE, 1.25 + 0.34 * len(rows))
    left = np.zeros(len(rows))
    for share, colour in zip(table.T, (DISCLOSED, *BANDS), strict=True):
        axes.barh(np.arange(len(rows)), share, left=left, color=colour, height=0.7,
                  edgecolor="white", linewidth=0.6)  # fmt: skip
        left += share
    axes.set_yticks(range(len(rows)), list(rows))
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of people")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    titled(axes, title)
    _legend(figure, p)
    return save(figure, path, of_people=True)


def by_value(d: Disclosure, said: Counting) -> pd.DataFrame:
    """Values by how many have them, as it is told; those told alike in the order of the values."""
    table = d.by_value()
    if said.custodian:
        return table
    place = {value: i for i, value in enumerate(d.value_labels)}
    rank = [said.rank(count) for count in table["people"].tolist()]
    return table.iloc[np.lexsort(([place[value] for value in table.index], rank))]


def worst_subsets(d: Disclosure, p: float | None = None, told: Counting = EXACT) -> pd.DataFrame:
    """For each number of known auxiliaries, the subset that breaks most people, as they are `told`.

    Which of two that are told alike breaks more would tell of both: it is that of earlier columns.
    """
    table, bit = d.breaks(p), {name: 1 << j for j, name in enumerate(d.known)}
    rank = [told.rank(count) for count in table["broken"].tolist()]
    masks = [sum(bit[name] for name in subset) for subset in table["subset"]]
    table = table.iloc[np.lexsort((masks, rank))].drop_duplicates("size")
    return table.sort_values("size", ignore_index=True)


def worst_subsets_bars(
    d: Disclosure, *, p: float | None = None, table: pd.DataFrame | None = None,
    told: Sequence[str] | None = None, path: str | Path | None = None,
) -> Figure:  # fmt: skip
    """The subset that breaks most people, for each number of auxiliaries known.

    `told` are its shares as they are written beside the bars.
    """
    table = worst_subsets(d, p) if table is None else table
    figure, (axes,) = blank(WIDE, 1.1 + 0.36 * len(table))
    axes.barh(np.arange(len(table)), table["share"], color=DISCLOSED, height=0.6)
    names = [subset_in_words(subset, d.known) for subset in table["subset"]]
    axes.set_yticks(range(len(table)), names, fontsize=8)
    for place, share in enumerate(table["share"]):
        text = f"{100 * share:.1f} %" if told is None else told[place]
        axes.annotate(text, (share, place), xytext=(4, 0), va="center",
                      textcoords="offset points", fontsize=8, color=INK)  # fmt: skip
    axes.invert_yaxis()
    axes.set_xlim(0, max(0.05, float(table["share"].max()) * 1.25))
    axes.set_xlabel("share of people broken when exactly this is known")
    axes.set_title(f"The subset that breaks most people's {d.secret}, by size", loc="left",
                   fontsize=10)  # fmt: skip
    return save(figure, path, of_people=True)


def subset_in_words(subset: Sequence[str], known: Sequence[str]) -> str:
    """A subset by its members, or by what is missing where that is shorter.

    >>> subset_in_words(("age", "sex", "job"), ["age", "sex", "job", "town"])
    'all but town'
    """
    rest = [name for name in known if name not in subset]
    if not rest:
        return f"all {len(subset)}" if len(subset) > 2 else " + ".join(subset)
    return f"all but {', '.join(rest)}" if len(rest) < len(subset) - 1 else " + ".join(subset)
