"""The page of a neighbourhood: how many records give relatives away, and which relatives."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from reidbn.attacks.family.kin import ROLES
from reidbn.attacks.family.neighbourhood import Neighbourhood
from reidbn.report.page import Section, Shown
from reidbn.report.style import SERIES, WIDE, blank
from reidbn.report.telling import Telling

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHAT = ("attackable", "named", "present")
HEADS = (
    "tell of illnesses that bear on it",
    "lead to somebody named",
    "tell that one is in the table",
)


def sections(result: Neighbourhood, telling: Telling) -> list[Section]:
    """One picture and its table: of each kind of relative the share of first records."""
    n = len(result.starts)
    counts = [[int(result.share_of(role, what).sum()) for what in WHAT] for role in ROLES]
    rows = [
        [role, *(telling.share(count, n) for count in row)]
        for role, row in zip(ROLES, counts, strict=True)
    ]
    some = int((result.people["named"] > 0).sum())
    verdict = [
        f"Of {telling.counted(n)} records, each taken as the first that is named, "
        f"{telling.share(some, n)} lead to somebody who is named as a relative, right or wrong.",
        "Where nothing told bears on a relative, nothing is attackable, which is not the same as "
        "no match.",
    ]
    return [
        Section(
            "Relatives whom one record gives away",
            text=verdict,
            shown=[
                Shown("Records that give relatives away in the first round", ["relative", *HEADS],
                      rows, _picture(counts, n, telling),
                      "Records that bear on, name, or place in the table, a relative."),
            ],
        )
    ]  # fmt: skip


def _picture(counts: list[list[int]], n: int, telling: Telling) -> Figure:
    drawn, panels = blank(WIDE, 3.2, len(HEADS))
    for k, (axes, head, colour) in enumerate(zip(panels, HEADS, SERIES, strict=False)):
        shares = [100 * telling.portion(row[k], n) for row in counts]
        axes.barh(range(len(ROLES)), shares, height=0.7, color=colour)
        axes.set_yticks(range(len(ROLES)), [] if k else ROLES)
        axes.invert_yaxis()
        axes.set(xlim=(0, 100), xticks=(0, 50, 100), xlabel="% of records")
        axes.set_title(fill(head, 13), loc="left", fontsize=8.5, color=colour)
    return drawn
