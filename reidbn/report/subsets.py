"""Pictures of the table of subsets: uniqueness by number of attributes known, and the lattice.

Both show the share of people who are unique.  The lattice is a strip for every number of
attributes known, with one cell per subset, the least identifying on the left.

The pages of minimal sample uniques and of candidates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.errors import UsageError
from reidbn.microdata.candidates import Candidates
from reidbn.microdata.suda import Suda
from reidbn.release.counts import BASE, down
from reidbn.report.counting import in_words
from reidbn.report.page import Section, Shown, bars
from reidbn.report.style import BLUE, INK, blank, said_below, titled
from reidbn.report.telling import Telling

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def uniqueness_figure(subsets: pd.DataFrame) -> Figure:
    """Share of people unique by number of attributes known: the mean subset, and the range."""
    from matplotlib.ticker import MaxNLocator

    known, shares, names = _by_size(subsets)
    low, mean, high = (np.array([how(s) for s in shares]) for how in (np.min, np.mean, np.max))
    figure, (axes,) = blank(7.2, 4.0)
    axes.fill_between(known, low, high, color="#9ecae1", alpha=0.5, linewidth=0)
    axes.plot(known, mean, color=BLUE, marker="o")
    axes.plot(known, high, color=BLUE, linewidth=0.8)
    _name_the_worst(axes, known, high, names)
    axes.set_xlabel("attributes known")
    axes.set_ylabel("% of people unique")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(0, max(float(high.max()) * 1.12, 1))
    titled(axes, _title(subsets))
    said_below(axes, "dots: the mean over subsets; band: from the least to the most identifying")
    return figure


def lattice_figure(subsets: pd.DataFrame) -> Figure:
    """A strip for each number of attributes known, one cell per subset, darker: more unique."""
    from matplotlib.colors import Normalize

    known, shares, _ = _by_size(subsets)
    top = max(float(max(s.max() for s in shares)), 1e-9)
    figure, (axes,) = blank(7.2, 0.9 + 0.32 * len(known))
    colours = Normalize(0, top)
    image: Any = None
    for size, share in zip(known, shares, strict=True):
        edges = np.linspace(0, 1, share.size + 1)
        image = axes.pcolormesh(
            edges, [size - 0.42, size + 0.42], share[None, :], cmap="viridis_r", norm=colours,
            edgecolors="white" if share.size <= 80 else "none", linewidth=0.4, rasterized=True,
        )  # fmt: skip
    axes.set_yticks(known, [f"{k}" for k in known])
    axes.invert_yaxis()
    axes.set_ylabel("attributes known")
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 1], ["least identifying subset", "most identifying"])
    first, last = axes.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for size, share in zip(known, shares, strict=True):
        axes.annotate(f"{share.size:,}", (1.005, size), va="center", fontsize=8, color=INK,
                      xycoords=("axes fraction", "data"), annotation_clip=False)  # fmt: skip
    bar = figure.colorbar(image, ax=axes, pad=0.06, aspect=14)
    bar.set_label("% of people unique")
    bar.outline.set_visible(False)
    titled(axes, f"{_title(subsets)}; subsets at the right")
    return figure


def _by_size(subsets: pd.DataFrame) -> tuple[list[int], list[Any], list[tuple[str, ...]]]:
    """For each number of attributes: the sorted % unique of its subsets, and the worst subset."""
    if "subset" not in subsets or "records" not in subsets.attrs:
        raise UsageError("give the table that reidbn.subsets(people) makes")
    known, shares, names = [], [], []
    for size, part in subsets[subsets["size"] > 0].groupby("size"):
        share = part["uniques"].to_numpy() / subsets.attrs["records"] * 100
        known.append(int(str(size)))
        names.append(part["subset"].iloc[int(share.argmax())])
        shares.append(np.sort(share))
    return known, shares, names


def _name_the_worst(axes: Any, known: list[int], high: Any, names: list[tuple[str, ...]]) -> None:
    """The most identifying small subsets, while their names fit."""
    worth = [x for x in zip(known, high, names, strict=True) if x[1] >= 0.05 * high.max()]
    for size, share, subset in worth[:3]:
        text = ", ".join(subset)
        if 0 < len(text) <= 14 * size:
            axes.annotate(text, (size, share), xytext=(-5, 3), textcoords="offset points",
                          fontsize=8, color=INK, ha="right")  # fmt: skip


def _title(subsets: pd.DataFrame) -> str:
    number = f"{len(subsets):,} subsets" if len(subsets) > 1 else "1 subset"
    return f"{subsets.attrs['records']:,} people, {number} of what may be known"


# -- the pages of minimal sample uniques and of candidates -----------------------------------------


SIZES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 99), (100, None))


def suda_sections(result: Suda, telling: Telling) -> list[Section]:
    """People by the size of their smallest minimal unique, and column by column."""
    n, number = result.score.size, result.counts.sum(axis=1)
    smallest = np.where(number > 0, (result.counts > 0).argmax(axis=1), 0)
    sizes = range(1, result.most + 1)
    single = int((number > 0).sum())
    some = telling.of(single, n)
    verdict = [
        f"{some[:1].upper()}{some[1:]} are singled out by some set of at most {result.most} of the "
        f"{len(result.columns)} columns, {telling.of(int((smallest == 1).sum()), n)} by one alone.",
        "A minimal unique is a set of columns on which a person is alone, and on no part of it. "
        "The smaller it is, the less an attacker has to know.",
    ]
    labels = [*(f"{k} column{'s' if k > 1 else ''}" for k in sizes), "no such set"]
    counts = [int((smallest == k).sum()) for k in (*sizes, 0)]
    by_size = _banded("People by their smallest minimal unique", "smallest set", labels, counts,
                      telling)  # fmt: skip
    has = [len(np.unique(result.owners[(result.masks >> j) & 1 == 1]))
           for j in range(len(result.columns))]  # fmt: skip
    order = sorted(range(len(has)), key=lambda j: telling.rank(has[j]))
    rows = [
        [result.columns[j], telling.at_least(has[j]), telling.share_at_least(has[j], n)]
        + ([f"{list(result.column_contributions().values())[j]:.4g}"] if telling.custodian else [])
        for j in order
    ]
    heads = ["column", "people", "share"] + (["share of scores"] if telling.custodian else [])
    told = [has[j] if telling.custodian else down(has[j]) or None for j in order]
    texts = [telling.at_least(has[j]) for j in order]
    by_column = Shown(
        "People with a minimal unique that holds the column", heads, rows,
        bars([result.columns[j] for j in order], told, texts, "people",
             "Minimal uniques by column"),
        "How many people the column helps to single out.",
    )  # fmt: skip
    return [
        Section("Who is singled out by few attributes", text=verdict, shown=[by_size]),
        Section("Which columns single people out", shown=[by_column]),
    ]


def candidate_sections(result: Candidates, telling: Telling) -> list[Section]:
    """Records by the number of named people who fit them."""
    n, counts = len(result.release), result.counts
    verdict = [
        f"{telling.of(int((counts == 1).sum()), n)} fit exactly one of "
        f"{telling.counted(len(result.external))} named people; picking a candidate names the "
        f"owner of a record with probability {telling.mean_in_words(result.risk)} on average.",
    ]
    labels = [str(a) if a == b else f"{a} to {b}" if b else f"{a} or more" for a, b in SIZES]
    found = [int(((counts >= a) & (counts <= (b or counts.max() + a))).sum()) for a, b in SIZES]
    shown = _banded(
        "Released records by how many named people fit", "people who fit",
        [*labels, "nobody"], [*found, int((counts == 0).sum())], telling,
    )  # fmt: skip
    return [
        Section("Who of an outside list fits the released records", text=verdict, shown=[shown])
    ]


def _banded(
    caption: str, head: str, labels: list[str], counts: list[int], telling: Telling
) -> Shown:
    """A whole in bands, the riskiest first, as a picture and its table."""
    told = telling.bands(counts)
    texts = [in_words(count) for count in told]
    rows = [[label, text] for label, text in zip(labels, texts, strict=True)]
    few = None if telling.custodian else (0, BASE - 1)  # of what is marked
    ends = [few if count is None else count for count in told]
    picture = bars(labels, ends, texts, "people", caption)
    return Shown(caption, (head, "people"), rows, picture, f"{caption}.")
