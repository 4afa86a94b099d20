"""The page of a leak: how likely a person is identified, and how many are how likely."""

from __future__ import annotations

import numpy as np

from reidbn.attacks.leak.result import Leak
from reidbn.attacks.routes.assessment import THRESHOLDS
from reidbn.report import assessment_figures as figures
from reidbn.report.counting import NOT_TOLD
from reidbn.report.page import Section, Shown
from reidbn.report.style import titled
from reidbn.report.summary import told_not
from reidbn.report.telling import FEWEST, Telling


def sections(result: Leak, telling: Telling) -> list[Section]:
    """One picture: the share of people above each risk."""
    risk, n = result.risk, len(result.table)
    leaks = f"{result.size_in_words} of {telling.counted(n)} people"
    if result._is_told:
        leaks += ", up to all of them,"
    mean, highest = telling.mean_in_words(risk), telling.all_but_a_few(risk)
    verdict = [
        f"When {leaks} leak, "
        + (
            f"{highest}; no mean of fewer than {FEWEST} people is told."
            if mean == NOT_TOLD
            else f"the average person is identified with probability {mean}, {highest}."
        ),
    ]
    if why := told_not(telling):
        verdict.append(f"{why}.")
    secret = "" if result.sensitive is None else f", and may know {result.sensitive}"
    whom = (
        f"An attacker who looks for one person, picks among the leaked people alike, and has "
        f"{result.knows}{secret}."
    )
    title = "The risk in a leak of part of the table"
    if why:
        return [Section(title, text=verdict, answers=[("To whom?", [whom])])]
    levels = (0.01, *THRESHOLDS, 0.5)
    above = [telling.above(risk, t) for t in levels]
    rows = [
        [f"above {t:g}", telling.counted(count), telling.share(count, n)]
        for t, count in zip(levels, above, strict=True)
    ]
    picture = figures.risk_curves({"risk": np.asarray(risk)}, (0.05, 0.09, 0.2, 0.33), telling)
    titled(picture.axes[0], f"Risk when {leaks} leak", pad=14)
    return [
        Section(
            title,
            text=verdict,
            answers=[("To whom?", [whom])],
            shown=[
                Shown(
                    "People by their risk in the leak",
                    ("risk", "people", "share"),
                    rows,
                    picture,
                    "The share of people whose risk is above each value.",
                )
            ],
        )
    ]
