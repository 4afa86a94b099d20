"""The picture of a policy: what pays the attacker, and by how much."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reidbn.cpds.decides import holds_back
from reidbn.report.style import BLUE, INK, ORANGE, blank, save, titled
from reidbn.whatif.decide import Decision
from reidbn.whatif.done import RESULTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_decision(found: Decision, path: str | Path | None = None, *, most: int = 16) -> Figure:
    """By how much the option taken beats the next best, for what is seen most often.

    Orange bars to the right are attacks, blue bars to the left are where the attacker holds back.
    `found` is drawn to the file `path`, the `most` bars that are longest.
    Of people it is the custodian's own: it counts classes of them.
    """
    seen = found.policy.sort_values("happens", ascending=False, kind="stable")
    rows = seen.head(most).to_dict("records")
    decisions = found.case.attack.decisions
    figure, (axes,) = blank(7.6, 1.5 + 0.36 * len(rows))
    for y, row in enumerate(reversed(rows)):
        options = tuple(decisions[row.get("decision", next(iter(decisions)))].states)
        back = row["takes"] == options[holds_back(options)]
        width = -row["ahead"] if back else row["ahead"]
        axes.barh(y, width, height=0.66, color=BLUE if back else ORANGE)
        text = f"{row['takes']} ({row['happens']:.2g})"
        side = "right" if back else "left"
        axes.annotate(text, (width, y), xytext=(-4 if back else 4, 0), textcoords="offset points",
                      ha=side, va="center", fontsize=7.5, color=INK)  # fmt: skip
    axes.set_yticks(range(len(rows)), [_label(row) for row in reversed(rows)], fontsize=8)
    axes.axvline(0, color=INK, linewidth=1)
    axes.margins(x=0.22)
    axes.set_xlabel(f"by how many {found.unit} it pays to attack; left: to hold back (and P(seen))")
    titled(axes, f"{found.case.attack.name}: what the attacker does ({found.method})", pad=14)
    return save(figure, path, of_people=found.case.count > 1)


def _label(row: dict[Any, Any]) -> str:
    whose = f"class {row['class']} of {row['people']:,}: " if "class" in row else ""
    what = f"{row['decision']}: " if "decision" in row else ""
    seen = [f"{k}={v}" for k, v in row.items() if k not in RESULTS and isinstance(v, str)]
    return whose + what + (", ".join(seen) or "always")
