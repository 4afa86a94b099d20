"""What would change an assessment: the table in one place, or one assumption over its range.

Outwards the mean at either end of a range lies between two numbers, as the mean of the report does,
and so do the values at which a limit is crossed: a crossing to three digits would tell the mean.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.routes.assessment import OVERALL, Assessment
from reidbn.attacks.routes.register import register
from reidbn.inference.asked import Asked
from reidbn.report.assessment_figures import Ends, told_bars
from reidbn.report.assessment_sure import SURE, how_sure, set_outside
from reidbn.report.counting import NOT_TOLD
from reidbn.report.page import Section, Shown
from reidbn.report.summary import Summary
from reidbn.report.telling import Telling
from reidbn.report.thresholds import Judged, changes, tells_changes, written_alike
from reidbn.whatif.curve import one_at_a_time
from reidbn.whatif.ranges import takes_whole_numbers
from reidbn.whatif.scan import worst_along
from reidbn.whatif.sensitivity import spans
from reidbn.whatif.tornado import Bar, Tornado, tornado

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
IF_CHANGED = "If this assumption changes"
CANNOT_BE = "what is given cannot happen"
NOWHERE = ("never", "not seen", NOT_TOLD)
STEPS = 20  # of a range, between which a crossing is told outwards
ONLY_THE_TABLE = (
    "The verdict counts who is alike, and takes an attempt as certain: no assumption about the "
    "attacker moves it, and only the table can."
)


def sensitivity(
    result: Assessment, summary: Summary, telling: Telling, options: Section
) -> Section:
    """What would flip this verdict, how far each assumption moves the risk, other options."""
    rule = summary.rule
    text, bullets = [], []
    shown = [_changes(result, summary, telling), *options.shown]
    details = list(options.details)
    if telling.kept_back:
        text.append("What each assumption moves is in the custodian's own copy.")
    elif not any(p.range[0] < p.range[1] for p in result.attack.parameters.values()):
        text.append("Every number of this attack is fixed.")
    if text:
        return Section("What would change this", [*text, *options.text], [], shown, details)
    statistic, limit, measure = "mean", None, OVERALL
    if not rule.on_classes:
        limit, measure = rule.limit.value, rule.limit.measure
        statistic = "max" if rule.is_public else "mean"
    if measure in result.questions:
        case = result.whatif_case(measure)
        case = worst_along(case, {n: case.parameter(n).range for n in spans(case, None)})
        bars, flips = _bars(_Moved(result, case, measure, statistic, telling), limit)
        shown.insert(1, bars)
        bullets += flips
    bullets += [
        f"{said}: the bars run over the range, and the mean of this report may stand outside of "
        f"them."
        for said in set_outside(result)
    ]
    what = f"the {statistic} of the {measure.replace('_', ' ')} risk"
    text += [
        f"If one assumption changes over its whole range while the others stay, {what} moves from "
        f"end to end of its bar."
        if telling.custodian
        else f"If one assumption changes over its whole range while the others stay, {what} goes "
        f"from the upper bar of a pair, where the range begins, to the lower one, where it ends: "
        f"somewhere between the two ends of a bar it lies."
    ]
    details += how_sure(result, telling)
    folded = [("How what is left open was worked out", SURE)]
    text += options.text
    return Section("What would change this", text, bullets, shown, details, folded)


def moves_most(section: Section, result: Assessment) -> str:
    """Which assumption moves the risk most, and what it is, out of the tornado of that section."""
    bars = next((s for s in section.shown if s.caption == IF_CHANGED), None)
    if bars is None or not bars.about or bars.rows[0][2] == bars.rows[0][3]:
        return ""
    name, span, low, high = bars.rows[0][:4]
    if CANNOT_BE in (low, high):
        return ""
    what = bars.heads[2].partition(" at ")[0]
    moved = result.attack.settable[name]
    story = moved.story or (moved.source if name in result.attack.numbers else "")
    said = f"The assumption that moves it most is {name}{f' ({story})' if story else ''}"
    first, last = span.partition(" (")[0].split(" to ")
    if " " not in low + high:
        return f"{said}: at {first} the {what} is {low}, at {last} it is {high}."
    return f"{said}: at {first} the {what} lies somewhere in {low}, at {last} in {high}."


def _changes(result: Assessment, summary: Summary, telling: Telling) -> Shown:
    """The table changed in one place, and whether the verdict flips.

    Outwards the verdicts alone: how many fail it in coarser classes would tell of those within.
    """
    rule, people = summary.rule, result.inputs.people
    on_table = rule if rule.on_classes else rule.other()
    now = summary.judged if rule.on_classes else summary.other
    rows = [["as it is", now.hangs_on(telling), now.word(telling), "-"]]
    for change in changes(people, on_table) if tells_changes(telling, people, on_table) else ():
        flips = "yes" if change.after.passes != now.passes else "no"
        told = change.after.hangs_on(telling) if telling.custodian else NOT_TOLD
        rows.append([change.what, told, change.after.word(telling), flips])
    if on_table.is_public and not now.passes:
        k = on_table.limit.k
        count = round(people.suppression_rate(k) * len(people))
        whole = now.told_beyond(telling) if count == int(now.beyond.sum()) else count
        left_out = f"{telling.of(whole, len(people))} left out"
        end = ["passes", "yes"] if count < len(people) else ["nobody is left", "-"]
        rows.append([f"leaving people out until {k} are alike", left_out, *end])
    if telling.custodian and not on_table.is_public and 0 < now.unique < len(people):
        after = Judged(on_table, written_alike(people.suppress(2)), None)
        flips = "yes" if after.passes != now.passes else "no"
        row = ["leaving out who is unique", after.hangs_on(telling), after.word(telling), flips]
        rows.append(row)
    asked = f"fewer than {on_table.limit.k} alike" if on_table.is_public else "mean and unique"
    return Shown(
        f"What would flip the verdict for {on_table.title}",
        ("change of the table", asked, "verdict", "flips"),
        rows,
    )


class _Moved(NamedTuple):
    """A measure over people, where one parameter takes other values."""

    result: Assessment
    case: Asked
    measure: str
    statistic: str
    telling: Telling

    def at(self, points: dict[str, Array]) -> dict[str, list[Array]]:
        """The risk of everybody where each parameter in turn takes its points."""
        case, n = self.case, len(self.result)
        return {
            name: [np.broadcast_to(case.each(found.probability[:, i]), n)
                   for i in range(len(points[name]))]
            for name, found in one_at_a_time(case, points).items()
        }  # fmt: skip

    def ends(self, values: Array) -> tuple[float, float] | None:
        """Between what numbers the mean or the highest lies; None where that is not told."""
        if np.isnan(values).any():  # what is given cannot happen there
            return None
        if self.statistic == "mean":
            return self.telling.mean_ends(values)
        return self.telling.highest_ends(values)

    def in_words(self, values: Array) -> str:
        """The same in words."""
        if np.isnan(values).any():
            return CANNOT_BE
        if self.statistic == "max" and self.telling.custodian:
            return self.telling.highest_in_short(values)
        ends = self.ends(values)
        if ends is None:
            return NOT_TOLD
        low, high = (f"{end:.4g}" for end in ends)
        return low if low == high else f"{low} to {high}"

    def crosses(self, bar: Bar, limit: float) -> str:
        """Where the limit is crossed; "never" only where that is proven.

        Outwards from the last step of the range at which all that is told is on one side of the
        limit, to the first on the other; where it is never on both, nothing is said of it.
        """
        proven = bar.is_proven and not bar.undecided and not bar.crossings
        never = "never" if proven else "not seen"
        if self.telling.custodian:
            return ", ".join(f"{c:.3g}" for c in bar.crossings) or never
        if self.statistic != "mean":
            return NOT_TOLD
        points = np.linspace(bar.low, bar.high, STEPS + 1)
        if takes_whole_numbers(self.case, bar.parameter):
            points = np.unique(np.rint(points))
        told = [self.ends(values) for values in self.at({bar.parameter: points})[bar.parameter]]
        side = [0 if e is None else int(e[0] > limit) - int(e[1] < limit) for e in told]
        sure = [(point, here) for point, here in zip(points, side, strict=True) if here]
        spans = [(a, b) for (a, here), (b, there) in pairwise(sure) if here != there]
        if not spans and all(side):
            return never
        return ", ".join(f"{low:.3g} to {high:.3g}" for low, high in spans) or NOT_TOLD


def _reach(told: Ends, bar: Bar) -> float:
    """How far the bar goes, as it is told."""
    ends = [end for both in told[bar.parameter] for end in both or ()]
    return max(ends, default=0.0) - min(ends, default=0.0)


def _in_order(found: Tornado, told: Ends, names: list[str]) -> Tornado:
    """The bars as they are told, longest first, and those told alike as the attack names them."""
    bars = sorted(found, key=lambda b: (-_reach(told, b), names.index(b.parameter)))
    return replace(found, bars=tuple(bars))


def _bars(moved: _Moved, limit: float | None) -> tuple[Shown, list[str]]:
    """The tornado, with the values at which a limit of the user's own is crossed."""
    from reidbn.report.whatif_figures import draw_tornado

    result, statistic, telling = moved.result, moved.statistic, moved.telling
    found = tornado(moved.case, threshold=limit, statistic=statistic)
    ends = moved.at({b.parameter: np.array([b.low, b.high]) for b in found})
    told = {n: (moved.ends(low), moved.ends(high)) for n, (low, high) in ends.items()}
    names = [*result.attack.parameters, *result.attack.numbers]
    bars = found if telling.custodian else _in_order(found, told, names)
    rows, flips = [], []
    sources = {entry.name: entry.source for entry in register(result)}
    for b in bars:
        span = f"{b.low:g} to {b.high:g}"
        span += "" if b.low <= b.value <= b.high else f" (set to {b.value:g}, outside of it)"
        row = [b.parameter, span, *map(moved.in_words, ends[b.parameter])]
        if limit is not None:
            row.append(moved.crosses(b, limit))
            flips += [f"The verdict flips where {b.parameter} reaches {row[-1]}."
                      ] if row[-1] not in NOWHERE else []  # fmt: skip
        rows.append([*row, sources.get(b.parameter, b.source)])
    if limit is not None and not flips:
        said = {row[4] for row in rows}
        seen = ", at the values looked at" if "not seen" in said else ""
        flips = [
            f"Whether a single assumption moves the {statistic} across {limit:g} is not told."
            if NOT_TOLD in said
            else f"No single assumption moves the {statistic} across {limit:g}{seen}."
        ]
    heads = ["parameter", "range", f"{statistic} at the low end", "at the high end", "source"]
    if limit is not None:
        heads.insert(4, f"crosses {limit:g} at")
    figure: Figure | str = ""
    if telling.custodian and any(b.swing > 0 for b in bars):
        figure = draw_tornado(bars)
    elif not telling.custodian:
        figure = told_bars(bars, told, moved.ends(result.risk(moved.measure))) or ""
    first, *others = (_reach(told, b) for b in bars)
    about = f"If one assumption changes: the longest bar is {bars.bars[0].parameter}."
    about = about if all(first > other for other in others) or telling.custodian else ""
    return Shown(IF_CHANGED, heads, rows, figure, about), flips
