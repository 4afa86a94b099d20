"""The page of a plan: what to do, what it keeps, what one level finer would break, what proves it.

What leaves the house says what was done and that the targets are kept; the numbers of the table as
it was, of ways that were not taken, and of who would break a target are the custodian's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import ceil, log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import reidbn
from reidbn.errors import a_dozen
from reidbn.microdata.generalise import bits
from reidbn.plans.front import level_names
from reidbn.plans.left_out import beside, in_words, rows_of
from reidbn.plans.losses import SEPARABLE
from reidbn.plans.released import apostrophes_in_words, untouched_in_words
from reidbn.plans.together import SECOND
from reidbn.release.counts import BASE, down
from reidbn.release.seal import sealed
from reidbn.release.writing import write_text
from reidbn.report.assessment_sure import BY_ESTIMATE
from reidbn.report.counting import OWN_COPY
from reidbn.report.page import (
    PLAIN,
    REPORTS,
    SAFE,
    Section,
    Sheet,
    Shown,
    aside,
    ending,
    html,
    markdown,
)
from reidbn.report.style import (
    BLUE,
    LINE,
    ORANGE,
    WIDE,
    blank,
    measured_in,
    said_below,
    titled,
)
from reidbn.report.telling import FEWEST, Telling
from reidbn.report.unseen import ONE_TABLE, not_looked_at
from reidbn.written import counted, tiny

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reidbn.plans.plan import ReleasePlan
    from reidbn.plans.targets import Target

MOST_DRAWN = 4  # targets with a picture of their own
SOME = 1e-9  # bits of a column of which no two values are told
LONGEST = 50  # per cent in a step of a loss that is told
NOT_HELD = (
    "This page is in no ledger: it is not held against reports of this table, or of one that "
    "differs by a few people."
)


def write_plan(
    plan: ReleasePlan,
    path: str | Path,
    *,
    custodian: bool,
    kind: str | None = None,
    command: list[str] | None = None,
) -> Path:
    """Write the page as .html, .md or .json; `command` makes it again."""
    kind = kind or ending(path, REPORTS)
    if kind == ".json":
        found = plan.to_dict() if custodian else told(plan)
        text = json.dumps(found, indent=1, default=float) + "\n"
    else:
        page = sheet(plan, custodian=custodian)
        text = html(page) if kind == ".html" else markdown(page)
    about: dict[str, Any] = {
        "result": "a plan of a release",
        "about": "; ".join(map(str, plan.targets)),
        "reidbn": reidbn.__version__,
    }
    if custodian:
        about["table_fingerprint"] = plan.people.fingerprint
    if command is not None:
        about["command"] = command
    return write_text(sealed(text, about), path, of_people=custodian)


def told(plan: ReleasePlan) -> dict[str, Any]:
    """What may leave the house, for programs."""
    found = plan.to_dict()
    telling = Telling()
    low, high = _loss_told(plan) or (None, None)
    return {
        **{name: found[name] for name in ("targets", "levels", "columns_dropped", "by_estimate")},
        "csv_apostrophes": {"names": found["csv_apostrophes"]["names"]},
        "who_may_be_above": {str(t): w for t in plan.targets if (w := t.who_may_be_above)},
        "suppressed": telling.count(plan.best.suppressed),
        "cells_emptied": plan.best.emptied > 0,
        "released": telling.count(len(plan.people) - plan.best.suppressed),
        "is_sample": plan.is_sample,
        "loss": {
            "name": plan.loss,
            "measured_by": plan.loss_told,
            "percent": None,
            "at_least": low,
            "at_most": high,
        },
        "proved": plan.certificate.is_proved,
        "not_looked_at": _not_looked_at(plan, telling),
        "not_promised": f"{ONE_TABLE} {SECOND}. {NOT_HELD}",
        "rounded": True,
    }


def _loss_told(plan: ReleasePlan) -> tuple[int, int] | None:
    """Between what per cent the loss lies, in steps of what ten people may hold of it at least.

    Only of losses of each cell: one of classes can tell how many there are, a function anything.
    Of a column's bits those of a rare value hold more than their share: up to log2(people) each;
    how many the column has at least is worked out from counts in tens.  All of those who are
    released: their number is that of the rows of the file, and another beside it would say how many
    were left out.
    """
    if plan.loss not in SEPARABLE:
        return None
    read = plan.apply().as_read
    n, share = len(read), 1.0
    if plan.loss == "entropy":
        held = [_least_bits(np.bincount(read.codes([name])[:, 0])) for name in plan.best.levels]
        share = log2(max(n, 2)) / max(min(held), SOME)
    step = ceil(100 * BASE * share / max(int(down(n)), BASE))
    if n < FEWEST or step > LONGEST:
        return None
    low = step * int(100 * float(plan.best.loss) / step + 1e-9)
    return low, min(low + step, 100)


def _least_bits(counts: NDArray[np.int64]) -> float:
    """The fewest bits that a column with these counts in tens can hold: nine more are alike."""
    tens = down(counts)
    tens[np.argmax(tens)] += BASE - 1
    return bits(tens)


def sheet(plan: ReleasePlan, *, custodian: bool) -> Sheet:
    """The page as sections."""
    telling, best = Telling(custodian=custodian), plan.best
    ends = _loss_told(plan)
    loss = f"{best.loss:.4g}" if custodian or ends is None else f"{ends[0]} to {ends[1]} %"
    lost = f"{loss} of what the table says is lost ({plan.loss_told})"
    if not (plan.is_share if custodian else ends):
        lost = f"by {plan.loss} {f'it loses {loss}' if custodian else 'the least that was found'}"
    proof = plan.certificate
    if custodian:
        sure = str(proof)
    elif proof.is_proved:
        sure = "No other way that was allowed loses less: proved."
    else:
        sure = "Whether another way loses less is not settled."
        sure += " Which single cells are emptied is chosen by a heuristic." * (
            proof.tried is not None
        )
    changed = [n for n, level in best.levels.items() if level or n in best.dropped]
    drawn = f", {telling.of(len(plan.people), plan.drawn_of)}" if custodian else ""
    drawn = f"A random sample of the table is released{drawn}; what follows is about those drawn."
    cells = ""
    if best.emptied:
        cells = f"{telling.counted(best.emptied) if custodian else 'some'} single cells emptied, "
    verdict = [
        *([drawn] if plan.is_sample else []),
        f"Released so, the table keeps {' and '.join(_promised(plan, custodian=custodian))}.",
        *(f"{target} is {BY_ESTIMATE}." for target in plan.by_estimate),
        *_of_no_other(plan),
        f"{counted(len(changed), 'column')} of {len(best.levels)} made coarser or dropped, "
        f"{cells}{_left_out(plan, telling)} left out; {lost}.",
        *([OWN_COPY] if custodian else []),
    ]
    sections = [Section("What to do", shown=[_what_to_do(plan, custodian=custodian)])]
    if custodian and best.suppressed:
        heads = ["column", "group", "left out", "of", "if it fell on all alike"]
        caption = "Of each column the groups that lose more than falls on them"
        shown = [Shown(caption, heads, rows_of(plan))]
        sections.append(Section("Who is left out", in_words(plan), beside(plan), shown))
    if custodian:
        sections += [_kept(plan), _finer(plan), *([_others(plan)] if plan.has_front else [])]
    text = [sure, plan.least_by, *([] if custodian else [ONE_TABLE]), f"{SECOND}."]
    text += [] if custodian else [NOT_HELD]
    sections.append(
        Section("What proves it", text=text, bullets=_allowed(plan, custodian=custodian))
    )
    sections.append(aside(_not_looked_at(plan, telling)))
    limits = " and ".join(map(str, plan.targets))
    title = f"The least change that keeps {limits}"
    if any(t.who_may_be_above for t in plan.targets):
        title = f"The least change that keeps a limit that some people may be above: {limits}"
    title += ", by the estimate alone" if plan.by_estimate else ""
    return Sheet(title, PLAIN if plan.by_estimate else SAFE, verdict, sections)


def _of_no_other(plan: ReleasePlan) -> list[str]:
    """That what is kept is kept on some columns, where the file has others."""
    limited = {*plan.limited} - {*plan.known_beside}
    if not (left := [name for name in plan.untouched if name not in limited]):
        return []
    kept = ", ".join([*plan.best.levels, *sorted(limited)])
    return [
        f"This is said of a file that holds only {kept}: written beside them as they were, unless "
        f"they name a person, are {a_dozen(left)}; whoever knows these knows more."
    ]


def _promised(plan: ReleasePlan, *, custodian: bool) -> Iterator[str]:
    """Each target, and of one that lets some people stay above it how many; outwards who may."""
    for t in plan.targets:
        more = plan.still_above(t) if custodian else f"; {t.who_may_be_above}".rstrip("; ")
        said = f"{t} ({more.removeprefix('; ')})" if more else str(t)
        yield f"{said}, by the estimate alone" if str(t) in plan.by_estimate else said


def _left_out(plan: ReleasePlan, telling: Telling) -> str:
    """So many of all people; outwards from the ten that is told to the nine above it.

    Of how many is not told there: the file says how many stayed.
    """
    count = plan.best.suppressed
    if telling.custodian:
        return telling.of(count, len(plan.people))
    if count < BASE:
        return f"under {BASE} people"
    low = int(down(count))
    return f"{low:,} to {low + BASE - 1:,} people (told in tens)"


def _not_looked_at(plan: ReleasePlan, telling: Telling) -> list[str]:
    """What none of the attacks behind the targets looked at."""
    limited = plan.limited
    others = ", ".join(name for name in plan.people.sensitive if name not in limited)
    found = dict.fromkeys(
        s for r in plan.results.values() for s in not_looked_at(r, telling, limited=limited)
    )
    if not found:
        targets = " and ".join(map(str, plan.targets))
        found[f"Attackers: no attack is asked about by {targets} (attack=, scenario=)."] = None
        if others:
            found[f"Secret columns, of which nothing is said here: {others}."] = None
    for name in limited:
        known = ", ".join(s for s in plan.people.sensitive if s != name)
        if known:
            found[
                f"Who guesses {name} and knows {known} besides the columns above: the limit is "
                f"about these columns alone (rb.disclosure takes other secrets as known, too)."
            ] = None
    return list(found)


def _what_to_do(plan: ReleasePlan, *, custodian: bool) -> Shown:
    """Levels; in the house each with the commonest value that it changes, of those written.

    Outwards there is none: which value is an example would tell how many have it, or the others.
    """
    rows, applied = [], plan.apply()
    released, read, emptied = applied.before_emptying, applied.as_read, applied.emptied
    for j, (name, level) in enumerate(plan.best.levels.items()):
        labels, was = released.column(name).labels, read.column(name).labels
        codes = np.stack([read.table[:, j], released.table[:, j]])
        codes = codes[:, ~emptied[name]] if name in emptied else codes
        pairs, held = np.unique(codes, axis=1, return_counts=True)
        changed = [(int(n), was[a], labels[b]) for (a, b), n in zip(pairs.T, held, strict=True)
                   if custodian and str(was[a]) != str(labels[b])]  # fmt: skip
        _, before, after = max(changed, key=lambda one: one[0], default=(0, "", ""))
        such = f", such as {before} -> {after}" if changed else ""
        done = f"level {level} of {plan.highest[name]}{such}" if level else "as it is"
        rows.append([name, "dropped" if name in plan.best.dropped else done])
    return Shown("Every column, as it is released", ["column", "released"], rows)


def _kept(plan: ReleasePlan) -> Section:
    before, after = plan.best.before, plan.best.after
    rows = [[t, tiny(before[t], ".4g"), tiny(after[t], ".4g")] for t in map(str, plan.targets)]
    shown = [Shown("Each target", ["target", "as it is", "then"], rows)]
    if plan.is_sample:
        rows = [
            [row.measure.replace("_", " "), row.under,
             *(tiny(v, ".4g") for v in (row.all_released, row.per_released, row.per_original))]
            for _, row in plan.sampled.iterrows()
        ]  # fmt: skip
        heads = [
            "mean of",
            "under",
            "all released",
            "per person released",
            "per person of the table",
        ]
        shown.append(Shown("What drawing a sample does", heads, rows))
    if not plan.measures.empty:
        told = [
            [f"{kind} {row.measure.replace('_', ' ')}", row.under,
             tiny(row[f"{kind}_before"], ".4g"), tiny(row[f"{kind}_after"], ".4g")]
            for _, row in plan.measures.iterrows() for kind in ("highest", "mean")
        ]  # fmt: skip
        heads = ["measure", "under", "as it is", "then"]
        shown.append(Shown("Every measure of the attacks that were named", heads, told))
    return Section(
        "What it keeps", shown=shown, text=[f"{n[:1].upper()}{n[1:]}." for n in plan.notes]
    )


def _finer(plan: ReleasePlan) -> Section:
    rows = [
        [str(r["column"]), str(r["level"]), str(r["target"]), tiny(float(r["value"]), ".4g"),
         f"{r['people']:,}"]
        for r in plan.binding.to_dict(orient="records") if r["breaks"]
    ]  # fmt: skip
    heads = ["column", "level", "target", "it would be", "people who break it"]
    said = Shown("One column one level finer, nobody else left out", heads, rows)
    none = ("No column alone could be a level finer at less loss." if len(plan.binding)
            else "Every column is released as it is.")  # fmt: skip
    return Section("What one level finer would break", shown=[said] if rows else [],
                   text=[] if rows else [none])  # fmt: skip


def _others(plan: ReleasePlan) -> Section:
    front, names = plan.front, [str(t) for t in plan.targets]
    rows = [
        [_levels(plan, row), f"{row['suppressed']:,}", *_cells(plan, row), f"{row['loss']:.4g}",
         *(_bound(row, t) + tiny(row[str(t)], ".4g") for t in plan.targets),
         "yes" if row["keeps"] else "no"]
        for row in front.to_dict(orient="records")
    ]  # fmt: skip
    emptied = ["emptied"] if plan.certificate.tried is not None else []
    heads = ["levels", "left out", *emptied, "loss", *names, "keeps all"]
    return Section(
        "Other ways",
        text=["Of the ways that were looked at, those of which none loses less and is safer."],
        shown=[Shown("Loss against what is kept", heads, rows, front_figure(plan),
                     "Each way by its loss and the number of each target.")],
    )  # fmt: skip


def _bound(row: Any, target: Target) -> str:
    """Of a way that was settled without an estimate of the population, what its numbers are."""
    if target.on_classes or not row["bound"]:
        return ""
    return "at most " if row["keeps"] else "at least "


def _cells(plan: ReleasePlan, row: Any) -> list[str]:
    """How many cells are emptied, where that was allowed."""
    return [f"{row['cells_emptied']:,}"] if plan.certificate.tried is not None else []


def _levels(plan: ReleasePlan, row: Any) -> str:
    return ", ".join(f"{name} {row[told]}" for name, told in level_names(plan).items())


def _allowed(plan: ReleasePlan, *, custodian: bool) -> list[str]:
    kept = [n for n in plan.best.levels if plan.highest[n] and not plan.best.levels[n]]
    found = [f"as they were: {', '.join(kept)}"] if kept else []
    found += untouched_in_words(plan)
    quoted = plan.csv_apostrophes
    said = apostrophes_in_words(quoted["texts_in"] if custodian else [], quoted["names"])
    return [*found, *([f"in a CSV file an apostrophe stands {said}"] if said else [])]


def front_figure(plan: ReleasePlan) -> Figure:
    """The ways that were looked at: what each loses, and the number of each target."""
    chosen, front, drawn_of = plan.best, plan.front, plan.targets[:MOST_DRAWN]
    drawn, every = blank(WIDE, 0.9 + 2.7 * len(drawn_of), rows=len(drawn_of))
    scale = "; 0 as it is, 1 nothing left" if plan.is_share else ""
    for target, axes in zip(drawn_of, every, strict=True):
        for keeps, colour in ((True, BLUE), (False, ORANGE)):
            some = front[front["keeps"] == keeps]
            if some.empty:  # a series of nothing would squeeze the picture
                continue
            axes.plot(some["loss"], some[str(target)], "o", color=colour, clip_on=False)
        at = (chosen.loss, chosen.after[str(target)])
        right = chosen.loss > front["loss"].max() / 2
        axes.annotate("the plan", at, xytext=(4 if right else -4, 9), fontsize=8,
                      ha="right" if right else "left", textcoords="offset points")  # fmt: skip
        axes.plot(*at, "o", color=BLUE, markersize=9, fillstyle="none", clip_on=False)
        axes.axhline(target.shown(target.limit), color=LINE, linewidth=0.7, linestyle=":")
        axes.set(xlim=(0, None), ylim=(0, None), ylabel=target.unit)
        measured_in(axes, f"what is lost ({plan.loss}{scale})")
        titled(axes, f"{target.axis[0].upper()}{target.axis[1:]}, against what is lost")
    more = len(plan.targets) - len(drawn_of)
    every_one = "every target" + (", also those of the other pictures" if len(every) > 1 else "")
    every_one += f" and {counted(more, 'other')} not drawn" if more else ""
    said_below(axes, f"blue: keeps {every_one}; orange: does not keep them all; dotted: the limit")
    return drawn
