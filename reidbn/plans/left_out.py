"""Who is left out by a plan, and what it costs to leave out nobody: the custodian's own.

A plan that leaves people out says that so many go; whether these are a few of everybody or nearly
all of one group is not in that number.
"""

from __future__ import annotations

from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.attacks.secrets.asked import has_secret
from reidbn.microdata.classes import Ints
from reidbn.microdata.coding import said_otherwise, taken_for_missing
from reidbn.microdata.generalise import climbed
from reidbn.plans.nodes import Looked
from reidbn.plans.ways import Node
from reidbn.population.subsets import fits_kept
from reidbn.release.counts import BASE
from reidbn.written import agree, counted

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.plans.plan import ReleasePlan

FEW = 2  # people, fewer of whom are no group
COARSER = 1.5  # times as much must a coarser group lose, to be named in place of a finer one
MOST_WHOLE = 5  # groups of which nobody is left, that are named
COLUMNS = ["column", "value", "left_out", "people", "expected"]


def left_out(plan: ReleasePlan) -> pd.DataFrame:
    """Of each column the groups that lose more people than falls on them, most first.

    One row each: how many of the group are left out, how many there are, and how many would be left
    out if it fell on everybody alike.  Groups are those of one level of the column's hierarchy, as
    fine as it stands, or coarser where one there loses much more beyond what falls on it.
    """
    import pandas as pd

    out = plan._found.left_out
    rows = [] if out is None or not out.any() else _rows(plan, out)
    found = pd.DataFrame(rows, columns=COLUMNS)
    beyond = found.left_out - found.expected
    order = np.lexsort((-beyond, -beyond.groupby(found.column).transform("max")))
    return found.iloc[order].reset_index(drop=True)


def about_secrets(plan: ReleasePlan) -> list[str]:
    """Of limits on secrets among whom they are counted, and who has no peers."""
    said: dict[str, None] = {}
    gone = plan.best.suppressed
    for t in plan.targets:
        if t.if_missing == "left-out":
            without = int((~has_secret(plan.people, t.measure)).sum())
            said[
                f"{counted(without, 'person')} of {len(plan.people):,} without a {t.measure} of "
                f"their own: nobody's peers, and no limit is about them"
            ] = None
        if not t.on_secret:
            continue
        same, words = said_otherwise(plan.people.labels(t.measure), t.measure)
        if same:
            said[
                f"{words}, and {agree(same, 'is', 'are')} counted as one secret with it, since "
                f"readers of a file take them so"
            ] = None
        if absent := taken_for_missing(plan.people.labels(t.measure)):
            every, typed = ", ".join(absent), quote(",".join(absent))
            said[
                f"{every} {agree(len(absent), 'is', 'are')} counted as a {t.measure}, and many "
                f"readers of a file (pandas, R) take it for a missing cell, and what is left for a "
                f"larger share: if it is none, say so when the table is read (missing_values=, "
                f"--missing-values {typed})"
            ] = None
        if gone:
            said[
                f"what people alike tell of {t.measure} is counted among those who are released: "
                f"the {gone:,} left out are not among them, and no limit is about them"
            ] = None
    return [*said]


def _rows(plan: ReleasePlan, out: Any) -> list[dict[str, Any]]:
    share, rows = float(out.sum()) / len(out), []
    for name, levels in _counts(plan, out).items():
        best: tuple[float, list[dict[str, Any]]] = (0.0, [])
        for said, every, gone, _ in levels:
            more = gone - share * every
            most = float(more.max())
            if most > COARSER * best[0] + 1e-9:
                best = most, [
                    {"column": name, "value": said[i],
                     "left_out": int(gone[i]),
                     "people": int(every[i]), "expected": float(share * every[i])}
                    for i in np.argsort(-more, kind="stable") if more[i] > 1e-9
                ]  # fmt: skip
        rows += best[1]
    return rows


def _counts(plan: ReleasePlan, out: Any) -> dict[str, list[tuple[list[str], Ints, Ints, Ints]]]:
    """Of each column level by level: the groups, how many each has and how many of them are left
    out, and the group of each person.
    """
    people = plan.people
    ladders = {option.name: option.ladder for option in plan._table.options}
    found: dict[str, list[tuple[list[str], Ints, Ints, Ints]]] = {}
    for name in (*people.quasi_identifiers, *people.sensitive):
        column, own = people.column(name), people.codes([name])[:, 0].astype(np.int64)
        ladder = ladders.get(name)
        for level in range(column.level, ladder.levels if ladder else column.level + 1):
            at, codes = column, own
            if ladder is not None and level > column.level:
                at, new = climbed(column, ladder, level, people.missing)
                codes = new[own].astype(np.int64)
            every = np.bincount(codes, minlength=len(at.labels))
            gone = np.bincount(codes[out], minlength=len(at.labels))
            said = ["missing" if v is None else str(v) for v in at.labels]
            found.setdefault(name, []).append((said, every, gone, codes))
    return found


def gone_whole(plan: ReleasePlan) -> list[tuple[str, str, int]]:
    """Groups of which nobody is left, largest first: column, group, people.  Of groups within one
    another the largest alone.
    """
    out, found = plan._found.left_out, list[tuple[str, str, int]]()
    if out is None or not out.any():
        return found
    for name, levels in _counts(plan, out).items():
        told = np.zeros(len(out), dtype=bool)
        for said, every, gone, codes in reversed(levels):
            whole = (every >= FEW) & (gone == every)
            whole[codes[told]] = False
            found += [(name, said[i], int(every[i])) for i in np.flatnonzero(whole)]
            told |= whole[codes]
    return sorted(found, key=lambda one: -one[2])


def in_words(plan: ReleasePlan) -> list[str]:
    """Of each column the group that loses most, where that is much more than falls on it, and the
    groups of which nobody is left.
    """
    found, said = plan.left_out, []
    much = (found.left_out >= FEW) & (found.left_out > found.expected + 2 * np.sqrt(found.expected))
    for row in found[much].drop_duplicates("column").itertuples():
        said.append(
            f"{row.column}: {row.left_out:,} of the {plan.best.suppressed:,} left out are "
            f"{row.value} (of {row.people:,}; {row.expected:.1f} if it fell on all alike)"
        )
    if whole := gone_whole(plan):
        named = [f"{column} {value} ({counted(n, 'person')})" for column, value, n in whole]
        more = f" and {counted(len(whole) - MOST_WHOLE, 'other group')}"
        said.append(
            f"nobody is left of {', '.join(named[:MOST_WHOLE])}"
            f"{more if len(whole) > MOST_WHOLE else ''}"
        )
    return said or ["no group of a column loses much more than falls on it"]


def rows_of(plan: ReleasePlan, most: int = 3) -> list[list[str]]:
    """Of each column so many groups: how many are left out, of how many, and the even share."""
    return [
        [
            str(row.column),
            str(row.value),
            f"{row.left_out:,}",
            f"{row.people:,}",
            f"{row.expected:.1f}",
        ]
        for _, rows in plan.left_out.groupby("column", sort=False)
        for row in rows.head(most).itertuples()
    ]


def with_everybody(plan: ReleasePlan) -> ReleasePlan | None:
    """The best way that leaves out nobody and empties no cell; None where none was found.

    It is searched for as the plan was, for as long; what was counted is not counted again.
    """
    before, people = plan._search, len(plan.people)
    ways: Any = before.ways
    ways = replace(ways, budget=0) if hasattr(ways, "budget") else ways
    table = replace(plan._table, ways=ways, budget=0, gone=None)

    def look(node: Node) -> Looked:
        one = before.seen.get(node)
        if one is None:
            return table.look(node)
        return one.of_everybody or replace(one, left_out=np.zeros(people, dtype=bool))

    search = type(before)(ways, look, table.falls, before.seconds, before.pareto)
    search.goes_on_from(before)
    with fits_kept():
        certificate, best = search.run(), search.best
    if best is None:
        return None
    best, results = table.looked_at_again(best)
    search.seen[best.node] = best
    return replace(plan, certificate=certificate, results=results, _table=table, _search=search,
                   _found=best, _emptied=())  # fmt: skip


def beside(plan: ReleasePlan) -> list[str]:
    """The way that leaves out nobody, and what two reports would tell of those who are."""
    gone, said = plan.best.suppressed, [_nobody(plan)]
    if gone >= BASE:
        said.append(
            f"A report of the table as it was and one of what is released tell, together, of the "
            f"{gone:,} between: give out one of them (a ledger takes tables {BASE} or more people "
            f"apart for two)."
        )
    return said


def _nobody(plan: ReleasePlan) -> str:
    other = plan.with_everybody
    if other is None:
        return "With nobody left out no way was found that keeps this."
    least = "" if other.certificate.is_proved else ", of those that were looked at"
    return (
        f"With nobody left out the least{least}: {other.best.changes}, loss {other.best.loss:.4g}."
    )
