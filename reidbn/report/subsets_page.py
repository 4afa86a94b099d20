"""The pages of minimal sample uniques and of candidates."""

from __future__ import annotations

import numpy as np

from reidbn.microdata.candidates import Candidates
from reidbn.microdata.suda import Suda
from reidbn.report.page import Section, Shown, bars
from reidbn.report.telling import Telling, in_words

SIZES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 99), (100, None))


def suda_sections(result: Suda, telling: Telling) -> list[Section]:
    """People by the size of their smallest minimal unique, and column by column."""
    n, number = result.score.size, result.counts.sum(axis=1)
    smallest = np.where(number > 0, (result.counts > 0).argmax(axis=1), 0)
    sizes = range(1, result.most + 1)
    single = int((number > 0).sum())
    verdict = [
        f"{telling.of(single, n)} are singled out by some set of at most {result.most} of the "
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
    order = sorted(range(len(has)), key=lambda j: -has[j])
    rows = [
        [result.columns[j], telling.counted(has[j]), telling.share(has[j], n)]
        + ([f"{list(result.column_contributions().values())[j]:.4g}"] if telling.custodian else [])
        for j in order
    ]
    heads = ["column", "people", "share"] + (["share of scores"] if telling.custodian else [])
    told = [telling.count(has[j]) for j in order]
    by_column = Shown(
        "People with a minimal unique that holds the column", heads, rows,
        bars([result.columns[j] for j in order], told, [in_words(c) for c in told], "people",
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
    shared = ", ".join(
        name if name == other else f"{name} ({other})" for name, other in result.columns.items()
    )
    verdict = [
        f"{telling.of(int((counts == 1).sum()), n)} fit exactly one of "
        f"{telling.counted(len(result.external))} named people; picking a candidate names the "
        f"owner of a record with probability {telling.mean_in_words(result.risk)} on average.",
        f"Compared on {shared}.",
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
    picture = bars(labels, told, texts, "people", caption)
    return Shown(caption, (head, "people"), rows, picture, f"{caption}.")
